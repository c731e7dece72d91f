/* What tests of model `ins` share: operators on boxes with boundaries of every kind, and advection,
 * gradient and divergence by quadrature on the host, straight from their weak forms. */
#ifndef EG_TEST_INS_H
#define EG_TEST_INS_H

#include "elliptic.h"

#include "model/ins/operator.h"

enum { INS_BOUNDARIES = 4 };

typedef struct ins_case {
    const char *name;
    int cells[2];
    bool periodic;                     /* along x */
    bool turned;                       /* elements at random: one boundary */
    eg_ins_kind kinds[INS_BOUNDARIES]; /* left, right, bottom, top */
    double backflow;                   /* not let in at an outflow */
    bool by_faces;                     /* the surface term has the kernel for GPUs */
} ins_case;

/* What is given at boundaries, polynomials of degree 1, so that faces hold them. */
static const char *const ins_velocity[2] = {"1 + x/2 - y*t", "y - x/3 + t"};
static const char *const ins_pressure = "2 - x + y*t";

typedef struct ins_problem {
    eg_context *ctx;
    const ins_case *c;
    eg_mesh *mesh;
    eg_space *space;
    eg_ins_faces *faces;
    eg_expression *velocity[2], *pressure;
    eg_ins_data *velocity_data, *pressure_data;
    eg_ins_operator *op;
    eg_field *a[2], *w[2], *out[2];
    size_t count; /* of values of a field */
    double share; /* of the velocity at boundaries, that w has */
    bool carried; /* w is carried by another: at an outflow, too, it has that */
} ins_problem;

static inline eg_mesh *ins_mesh(eg_context *ctx, const ins_case *c)
{
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_create_box(ctx,
                                    &(eg_box_options){.shape = EG_SHAPE_TRI,
                                                      .cells = {c->cells[0], c->cells[1]},
                                                      .high = {1, 1.3},
                                                      .periodic = {c->periodic},
                                                      .perturb = 0.2,
                                                      .seed = 5},
                                    &mesh));
    if (c->turned) turn_elements(mesh, 9);
    return mesh;
}

/* On a mesh (of this rank) that the problem takes over, with data of time t. */
static inline ins_problem ins_on(eg_device *device, eg_comm *comm, eg_mesh *mesh, const ins_case *c,
                                 int degree, bool collocated, double t)
{
    eg_context *ctx = eg_device_context(device);
    ins_problem p = {.ctx = ctx, .c = c, .mesh = mesh, .share = 1};
    const eg_expression *velocity[2 * INS_BOUNDARIES], *pressure[INS_BOUNDARIES];
    int lanes = 0;
    TEST_OK(ctx, eg_ins_lanes(device, mesh, degree, &lanes));
    TEST_OK(ctx, eg_space_create(device, comm, mesh,
                                 &(eg_space_options){
                                     .basis = EG_BASIS_LOBATTO, .degree = degree, .lanes = lanes},
                                 &p.space));
    p.pressure = expression(ctx, ins_pressure);
    for (int i = 0; i < 2; i++)
        p.velocity[i] = expression(ctx, ins_velocity[i]);
    for (int b = 0; b < INS_BOUNDARIES; b++) {
        velocity[2 * b] = p.velocity[0];
        velocity[2 * b + 1] = p.velocity[1];
        pressure[b] = p.pressure;
    }
    TEST_OK(ctx, eg_ins_faces_create(p.space, c->kinds, &p.faces));
    TEST_OK(ctx, eg_ins_data_create(p.faces, 2, velocity, &p.velocity_data));
    TEST_OK(ctx, eg_ins_data_create(p.faces, 1, pressure, &p.pressure_data));
    TEST_OK(ctx, eg_ins_data_set(p.velocity_data, 1, &t, &(double){1}));
    TEST_OK(ctx, eg_ins_data_set(p.pressure_data, 1, &t, &(double){1}));
    TEST_OK(ctx, eg_ins_operator_create(p.space, p.faces,
                                        &(eg_ins_advection_options){.collocated = collocated,
                                                                    .backflow = c->backflow,
                                                                    .by_faces = c->by_faces},
                                        &p.op));
    for (int i = 0; i < 2; i++) {
        TEST_OK(ctx, eg_field_create(p.space, 1, EG_F64, &p.a[i]));
        TEST_OK(ctx, eg_field_create(p.space, 1, EG_F64, &p.w[i]));
        TEST_OK(ctx, eg_field_create(p.space, 1, EG_F64, &p.out[i]));
    }
    p.count = eg_field_host_count(p.w[0]);
    return p;
}

static inline void ins_free(ins_problem *p)
{
    for (int i = 0; i < 2; i++) {
        eg_field_destroy(&p->out[i]);
        eg_field_destroy(&p->w[i]);
        eg_field_destroy(&p->a[i]);
        eg_expression_destroy(&p->velocity[i]);
    }
    eg_expression_destroy(&p->pressure);
    eg_ins_operator_destroy(&p->op);
    eg_ins_data_destroy(&p->pressure_data);
    eg_ins_data_destroy(&p->velocity_data);
    eg_ins_faces_destroy(&p->faces);
    eg_space_destroy(&p->space);
    eg_mesh_destroy(&p->mesh);
}

/* --- weak forms on the host -------------------------------------------------------------------- */

typedef enum ins_form { INS_ADVECTION, INS_GRADIENT, INS_DIVERGENCE, INS_VORTICITY } ins_form;

/* On one side of a face, or inside: a and w (w[0] is p in a gradient), and derivatives of w. */
typedef struct ins_state {
    double a[2], w[2], slope[2][2]; /* slope[i][d] = ∂w_i/∂x_d */
} ins_state;

static inline double ins_at(const eg_expression *e, const double *x, double t)
{
    return eg_expression_evaluate(e, (double[EG_VARIABLE_COUNT]){x[0], x[1], 0, t});
}

/* fields: a, then w; each [count]. */
static inline ins_state ins_state_at(int np, const form_point *at, size_t first,
                                     const double *const fields[4])
{
    ins_state s = {{0}, {0}, {{0}}};
    for (int i = 0; i < np; i++)
        for (int k = 0; k < 2; k++) {
            s.a[k] += at->value[i] * fields[k][first + (size_t)i];
            s.w[k] += at->value[i] * fields[2 + k][first + (size_t)i];
            for (int d = 0; d < 2; d++)
                s.slope[k][d] += at->gradient[i][d] * fields[2 + k][first + (size_t)i];
        }
    return s;
}

/* What is behind a face of boundary b, for this form. */
static inline ins_state ins_beyond(const ins_problem *p, ins_form form, int b, const form_point *at,
                                   double t, const ins_state *in)
{
    ins_state out = *in;
    const eg_ins_kind kind = p->c->kinds[b];
    const double *n = at->normal;
    for (int k = 0; k < 2; k++) {
        if (form == INS_GRADIENT) {
            if (kind == EG_INS_OUTFLOW) out.w[k] = ins_at(p->pressure, at->x, t);
        } else if (kind == EG_INS_GIVEN) {
            out.a[k] = ins_at(p->velocity[k], at->x, t);
            out.w[k] = p->share * out.a[k];
        } else if (kind == EG_INS_OUTFLOW && p->carried && form == INS_ADVECTION) {
            out.w[k] = p->share * ins_at(p->velocity[k], at->x, t);
        } else if (kind == EG_INS_SLIP && form != INS_VORTICITY) {
            out.a[k] -= 2 * (in->a[0] * n[0] + in->a[1] * n[1]) * n[k];
            out.w[k] -= 2 * (in->w[0] * n[0] + in->w[1] * n[1]) * n[k];
        }
    }
    return out;
}

/* What a face gives, times φ: of output c. `both`: values of both sides count the same. */
static inline double ins_face_term(ins_form form, int c, double waves, const double *n,
                                   const ins_state *in, const ins_state *out, double both)
{
    const double a = n[0] * in->a[0] + n[1] * in->a[1], b = n[0] * out->a[0] + n[1] * out->a[1];
    switch (form) {
    case INS_ADVECTION:
        return 0.5 * (a * in->w[c] + b * out->w[c]) +
               0.5 * waves * fmax(fabs(a), fabs(b)) * (in->w[c] - out->w[c]);
    case INS_GRADIENT:
        return both * n[c] * (out->w[0] - in->w[0]);
    case INS_VORTICITY:
        return both * (n[0] * (out->w[1] - in->w[1]) - n[1] * (out->w[0] - in->w[0]));
    default:
        return both * (n[0] * (out->w[0] - in->w[0]) + n[1] * (out->w[1] - in->w[1]));
    }
}

/* Adds an element's faces to sum [np]: of output c. */
static inline void ins_add_faces(const ins_problem *p, const test_mapping *mapping, ins_form form,
                                 int c, double waves, double t, int32_t e, const eg_cubature *rule,
                                 const double *const fields[4], double *sum)
{
    const eg_mesh *mesh = p->mesh;
    const eg_element *element = p->space->groups[0].element;
    const size_t np = (size_t)element->np;
    form_point *at = malloc(2 * sizeof *at);
    assert_non_null(at);
    for (int f = 0; f < 3; f++)
        for (int q = 0; q < rule->count; q++) {
            const int32_t slot = e * mesh->face_stride + f, n = mesh->neighbour[slot];
            double r[2], s[1] = {rule->r[q]}, other[1];
            ins_state out;
            double both = 0.5;
            eg_shape_face_points(EG_SHAPE_TRI, f, 1, s, r);
            form_at(mapping, element, e, f, r, &at[0]);
            const ins_state in = ins_state_at((int)np, &at[0], (size_t)e * np, fields);
            if (n >= 0) {
                eg_orientation_points(EG_SHAPE_LINE, EG_ORIENTATION(mesh->neighbour_face[slot]), 1,
                                      s, other);
                eg_shape_face_points(EG_SHAPE_TRI, EG_FACE(mesh->neighbour_face[slot]), 1, other,
                                     r);
                form_at(mapping, element, n, EG_FACE(mesh->neighbour_face[slot]), r, &at[1]);
                out = ins_state_at((int)np, &at[1], (size_t)n * np, fields);
            } else {
                out = ins_beyond(p, form, -1 - n, &at[0], t, &in);
                if (p->c->kinds[-1 - n] != EG_INS_SLIP) both = 1;
            }
            double term = ins_face_term(form, c, waves, at[0].normal, &in, &out, both);
            if (n < 0 && p->c->kinds[-1 - n] == EG_INS_OUTFLOW && form == INS_ADVECTION)
                term -= p->c->backflow * fmin(dot_of(2, at[0].normal, in.a), 0) * in.w[c];
            for (size_t i = 0; i < np; i++)
                sum[i] += rule->w[q] * at[0].size * term * at[0].value[i];
        }
    free(at);
}

/* Adds what the inside of an element gives. */
static inline void ins_add_inside(const ins_problem *p, const test_mapping *mapping, ins_form form,
                                  int c, int32_t e, const eg_cubature *rule,
                                  const double *const fields[4], double *sum)
{
    const eg_element *element = p->space->groups[0].element;
    form_point *at = malloc(sizeof *at);
    assert_non_null(at);
    for (int q = 0; q < rule->count; q++) {
        const double r[2] = {rule->r[q], rule->r[rule->count + q]};
        form_at(mapping, element, e, -1, r, at);
        const ins_state s = ins_state_at(element->np, at, (size_t)e * (size_t)element->np, fields);
        const double weight = rule->w[q] * at->det;
        const double slope = form == INS_GRADIENT    ? s.slope[0][c]
                             : form == INS_VORTICITY ? s.slope[1][0] - s.slope[0][1]
                                                     : s.slope[0][0] + s.slope[1][1];
        for (int i = 0; i < element->np; i++)
            sum[i] += weight * (form == INS_ADVECTION ? -s.w[c] * (at->gradient[i][0] * s.a[0] +
                                                                   at->gradient[i][1] * s.a[1])
                                                      : at->value[i] * slope);
    }
    free(at);
}

/* Output c of an operator on the whole mesh, out [count], by rules of this degree. */
static inline void ins_reference(const ins_problem *p, ins_form form, int c, double waves, double t,
                                 int degree, const double *const fields[4], double *out)
{
    const eg_element *element = p->space->groups[0].element;
    const int np = element->np;
    eg_cubature *inner = NULL, *face = NULL;
    test_mapping mapping = test_mapping_new(p->mesh);
    form_point *at = malloc(sizeof *at);
    assert_non_null(at);
    TEST_OK(p->ctx, eg_cubature_create(p->ctx, EG_SHAPE_TRI, degree, EG_CUBATURE_BEST, &inner));
    TEST_OK(p->ctx, eg_cubature_create(p->ctx, EG_SHAPE_LINE, degree, EG_CUBATURE_BEST, &face));
    for (int32_t e = 0; e < p->mesh->element_count; e++) {
        double sum[EG_NP_MAX] = {0};
        ins_add_inside(p, &mapping, form, c, e, inner, fields, sum);
        ins_add_faces(p, &mapping, form, c, waves, t, e, face, fields, sum);
        form_at(&mapping, element, e, -1, (double[2]){-1. / 3, -1. / 3}, at);
        for (int i = 0; i < np; i++)
            out[(size_t)(e * np + i)] =
                dot_of((size_t)np, &element->mass_inverse[i * np], sum) / at->det;
    }
    free(at);
    test_mapping_free(&mapping);
    eg_cubature_destroy(&face);
    eg_cubature_destroy(&inner);
}

#endif
