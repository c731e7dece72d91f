/* The schemes of model `euler` as matrices along a line [zimmerman2018]: the rate at node i is
 *     - Σ_k diff_ik f_k - low_i f*_- - high_i f*_+
 * of fluxes f at inner points and numerical fluxes f* at the ends; l_i is the Lagrange basis at the
 * nodes x_i, w_i their weights, M the mass matrix.
 *
 *     DG    the weak form with Gauss points: diff_ik = -w_k l_i'(x_k) / w_i,
 *           low_i = -l_i(-1) / w_i, high_i = l_i(1) / w_i
 *     NDG   the strong form with Gauss-Lobatto points: low = -M⁻¹ e_-, high = M⁻¹ e_+,
 *           diff = D - low e_-ᵀ - high e_+ᵀ
 *     CPR   D alone, of the solution, and the correction of NDG, which is that of the Radau
 *           polynomials [huynh2007]; with the conservative derivative it is NDG
 *     SD    Gauss solution points, Chebyshev-Gauss-Lobatto flux points z_0 … z_{N+1} with their
 *           Lagrange basis h: diff_ik = h_k'(x_i), low_i = h_0'(x_i), high_i = h_{N+1}'(x_i) */
#include "model/euler/lines.h"

#include <string.h>

enum { SIDE_MAX = EG_EULER_DEGREE_MAX + 1 };

/* The parts of a table of M nodes. */
typedef struct parts {
    double *diff, *low, *high, *ends, *interpolate, *nodes, *points, *weights;
    int count;
} parts;

static parts parts_of(double *table, int side, int inner)
{
    parts p;
    p.diff = table;
    p.low = p.diff + side * inner;
    p.high = p.low + side;
    p.ends = p.high + side;
    p.interpolate = p.ends + 2 * side;
    p.nodes = p.interpolate + inner * side;
    p.points = p.nodes + side;
    p.weights = p.points + inner;
    p.count = 2 * side * inner + 6 * side + inner;
    return p;
}

eg_basis eg_euler_basis(eg_euler_scheme scheme)
{
    const bool gauss = scheme.method == EG_EULER_DG || scheme.method == EG_EULER_SD;
    if (scheme.method == EG_EULER_FV) return EG_BASIS_CELLS;
    return gauss ? EG_BASIS_GAUSS : EG_BASIS_LOBATTO;
}

eg_euler_form eg_euler_form_of(eg_euler_scheme scheme)
{
    if (scheme.method == EG_EULER_SD) return EG_EULER_STAGGER;
    return scheme.method == EG_EULER_CPR && scheme.chain ? EG_EULER_CHAIN : EG_EULER_FLUXES;
}

int eg_euler_inner(eg_euler_scheme scheme, int degree)
{
    return scheme.method == EG_EULER_SD ? degree : degree + 1;
}

eg_status eg_euler_inner_points(eg_euler_scheme scheme, const eg_element *line, double *out)
{
    const int n = line->np;
    double points[SIDE_MAX + 1];
    eg_status status = EG_OK;
    memcpy(out, line->r, (size_t)eg_euler_inner(scheme, line->degree) * sizeof *out);
    if (scheme.method != EG_EULER_SD) return EG_OK;
    EG_TRY(eg_chebyshev_lobatto(line->ctx, n + 1, points, NULL));
    memcpy(out, points + 1, (size_t)(n - 1) * sizeof *out);
done:
    return status;
}

int eg_euler_ends_at(eg_euler_scheme scheme, int degree)
{
    return (degree + 1) * (eg_euler_inner(scheme, degree) + 2);
}

static void make_weak(const eg_element *line, parts *p)
{
    const int n = line->np;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            p->diff[i * n + k] = -line->weights[k] * line->D[k * n + i] / line->weights[i];
        p->low[i] = -p->ends[i] / line->weights[i];
        p->high[i] = p->ends[n + i] / line->weights[i];
    }
}

static void make_strong(const eg_element *line, bool folded, parts *p)
{
    const int n = line->np;
    memcpy(p->diff, line->D, (size_t)(n * n) * sizeof *p->diff);
    for (int i = 0; i < n; i++) {
        p->low[i] = -line->mass_inverse[i * n];
        p->high[i] = line->mass_inverse[i * n + n - 1];
        if (!folded) continue;
        p->diff[i * n] -= p->low[i];
        p->diff[i * n + n - 1] -= p->high[i];
    }
}

static eg_status make_staggered(const eg_element *line, parts *p)
{
    eg_status status = EG_OK;
    const int n = line->np, inner = n - 1;
    double slopes[SIDE_MAX * (SIDE_MAX + 1)];
    eg_element *flux = NULL;
    EG_TRY(eg_element_create_bare(line->ctx, EG_SHAPE_LINE, n, EG_BASIS_CHEBYSHEV, &flux));
    EG_TRY(eg_element_differentiate(flux, n, line->r, slopes));
    EG_TRY(eg_element_evaluate(line, inner, flux->r + 1, p->interpolate));
    for (int i = 0; i < n; i++) {
        const double *row = &slopes[i * (n + 1)];
        p->low[i] = row[0];
        p->high[i] = row[n];
        memcpy(&p->diff[i * inner], row + 1, (size_t)inner * sizeof *row);
    }
done:
    eg_element_destroy(&flux);
    return status;
}

eg_status eg_euler_make_table(eg_euler_scheme scheme, const eg_element *line,
                              double table[EG_EULER_TABLE_MAX], int *count)
{
    eg_status status = EG_OK;
    const int n = line->np;
    const double ends[] = {-1, 1};
    parts p = parts_of(table, n, eg_euler_inner(scheme, line->degree));
    memset(table, 0, EG_EULER_TABLE_MAX * sizeof *table);
    EG_TRY(eg_element_evaluate(line, 2, ends, p.ends));
    memcpy(p.nodes, line->r, (size_t)n * sizeof *p.nodes);
    memcpy(p.weights, line->weights, (size_t)n * sizeof *p.weights);
    EG_TRY(eg_euler_inner_points(scheme, line, p.points));
    if (scheme.method == EG_EULER_SD) {
        EG_TRY(make_staggered(line, &p));
    } else {
        for (int i = 0; i < n; i++)
            p.interpolate[i * n + i] = 1;
        if (scheme.method == EG_EULER_DG)
            make_weak(line, &p);
        else
            make_strong(line, eg_euler_form_of(scheme) == EG_EULER_FLUXES, &p);
    }
    *count = p.count;
done:
    return status;
}
