/* The points at which the operator integrates, and its tables there.
 *
 * A rule must integrate products of two polynomials of an element exactly, degree 2N. With fewer points
 * the weight-adjusted inverse of the mass matrix [chan2017] is none even where J is constant, and the
 * volume term and the faces scale the highest modes, so that what is carried there has another speed.
 * N + 1 Gauss points a side do, N + 2 Gauss-Lobatto points: exact for velocities that are linear on
 * parallelograms and parallelepipeds, constant on other straight elements. With one more, the default,
 * they may be cubic and quadratic. */
#include "model/advection/parts.h"

enum { POINTS_MOST = EG_DEGREE_MAX_QUAD + 1 + EG_ADVECTION_EXTRA_MOST };

int eg_advection_least_extra(bool lobatto)
{
    return lobatto ? 1 : 0;
}

eg_advection_quadrature eg_advection_default_quadrature(bool lobatto)
{
    return (eg_advection_quadrature){.lobatto = lobatto,
                                     .extra = eg_advection_least_extra(lobatto) + 1};
}

eg_status eg_advection_quadrature_from_case(const eg_case *cas, eg_advection_quadrature *out,
                                            bool *chosen)
{
    const bool lobatto = eg_case_choice(cas, "advection.quadrature") == 1;
    const int least = eg_advection_least_extra(lobatto);
    *out = eg_advection_default_quadrature(lobatto);
    *chosen = eg_case_given(cas, "advection.quadrature");
    if (!eg_case_given(cas, "advection.extra_points")) return EG_OK;
    *chosen = true;
    out->extra = (int)eg_case_integer(cas, "advection.extra_points");
    if (out->extra < least)
        return eg_case_fail(
            cas, "advection.extra_points", -1,
            "elements of degree N need at least N + %d Gauss-Lobatto points a side, "
            "which is extra_points = %d: with fewer the mass matrix is not inverted",
            least + 1, least);
    return EG_OK;
}

int eg_advection_point_count(const eg_advection *a, int side)
{
    return side + a->quadrature.extra;
}

eg_status eg_advection_line_rule(const eg_advection *a, int side, double *x, double *w)
{
    const int n = eg_advection_point_count(a, side);
    return (a->quadrature.lobatto ? eg_gauss_lobatto : eg_gauss_legendre)(a->space->ctx, n, x, w);
}

eg_status eg_advection_make_rule(eg_advection *a, int group)
{
    const int side = a->space->groups[group].degree + 1, n = eg_advection_point_count(a, side);
    double x[POINTS_MOST], w[POINTS_MOST], table[POINTS_MOST * (EG_DEGREE_MAX_QUAD + 2)];
    eg_status status = EG_OK;
    EG_TRY(eg_advection_line_rule(a, side, x, w));
    for (int q = 0; q < n; q++) {
        table[q] = x[q];
        for (int j = 0; j < side; j++)
            table[n + q * side + j] = w[q] * eg_jacobi(j, 0, 0, x[q]);
    }
    EG_TRY(
        eg_space_upload(a->space, EG_F64, (size_t)(n * (side + 1)), table, &a->parts[group].rule));
done:
    return status;
}

/* Points, weights and p_j there for each degree from the group's to the highest of a neighbour. */
static eg_status make_face_rules(eg_advection *a, int group)
{
    eg_advection_part *p = &a->parts[group];
    const int m = a->space->groups[group].degree + 1;
    const size_t row = 2 + (size_t)p->most, rule = (size_t)p->face_points * row;
    double x[POINTS_MOST], w[POINTS_MOST], *rules = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->space->ctx, (size_t)(p->most - m + 1) * rule, &rules));
    for (int higher = m; higher <= p->most; higher++) {
        EG_TRY(eg_advection_line_rule(a, higher, x, w));
        for (int q = 0; q < eg_advection_point_count(a, higher); q++) {
            double *at = rules + (size_t)(higher - m) * rule + (size_t)q * row;
            at[0] = x[q];
            at[1] = w[q];
            for (int j = 0; j < p->most; j++)
                at[2 + j] = eg_jacobi(j, 0, 0, x[q]);
        }
    }
    EG_TRY(
        eg_space_upload(a->space, EG_F64, (size_t)(p->most - m + 1) * rule, rules, &p->face_rules));
done:
    eg_release(a->space->ctx, &rules);
    return status;
}

eg_status eg_advection_make_points(eg_advection *a, int group)
{
    eg_device *device = a->space->device;
    eg_advection_part *p = &a->parts[group];
    const int m = a->space->groups[group].degree + 1, n = eg_advection_point_count(a, m);
    enum { TABLE = POINTS_MOST * (EG_DEGREE_MAX_QUAD + 1) };
    double x[POINTS_MOST], w[POINTS_MOST], interp[TABLE], test[TABLE], slopes[TABLE];
    eg_status status = EG_OK;
    EG_TRY(eg_advection_line_rule(a, m, x, w));
    for (int q = 0; q < n; q++)
        for (int i = 0; i < m; i++) {
            interp[q * m + i] = eg_jacobi(i, 0, 0, x[q]);
            test[i * n + q] = w[q] * interp[q * m + i];
            slopes[i * n + q] = w[q] * eg_jacobi_derivative(i, 0, 0, x[q]);
        }
    EG_TRY(eg_space_upload(a->space, EG_F64, (size_t)n, x, &p->points_of));
    EG_TRY(eg_operator_create(device, EG_F64, n, m, interp, &p->interp));
    EG_TRY(eg_operator_create(device, EG_F64, m, n, test, &p->test));
    EG_TRY(eg_operator_create(device, EG_F64, m, n, slopes, &p->slopes));
    p->points = n;
    p->face_points = eg_advection_point_count(a, p->most);
    EG_TRY(make_face_rules(a, group));
done:
    return status;
}
