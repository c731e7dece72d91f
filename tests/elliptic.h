/* What tests of model `elliptic` share: problems on boxes, fields of random values, and the
 * matrix of the bilinear form assembled on the host, straight from its definition. */
#ifndef EG_TEST_ELLIPTIC_H
#define EG_TEST_ELLIPTIC_H

#include "curved.h"
#include "expression.h"
#include "field.h"

#include "model/elliptic/operator.h"

#define ELLIPTIC_BOUNDARIES 6

/* What is solved, and on what mesh. */
typedef struct elliptic_case {
    const char *name;
    eg_shape shape;
    int cells[3], order;
    double height;  /* of the box along y, its width is 1 */
    double perturb; /* of its vertices */
    bool periodic;  /* along x */
    bool turned;    /* elements at random: one boundary */
    bool in_part;   /* bent where x > 1/2 alone */
    double lambda;
    const char *k; /* NULL: 1 */
    eg_elliptic_boundary types[ELLIPTIC_BOUNDARIES];
    const char *robin; /* at boundaries of that type */
    eg_elliptic_form form;
} elliptic_case;

/* Bends a box, its sides, too. */
static inline eg_status elliptic_bend(void *user, size_t count, const double *X, double *x)
{
    const elliptic_case *c = user;
    const size_t dim = (size_t)eg_shape_get_info(c->shape)->dim;
    for (size_t i = 0; i < count; i++, X += dim, x += dim) {
        const double px = X[0], py = X[1] / c->height;
        const double much = !c->in_part ? 1 : px > 0.5 ? 4 * (px - 0.5) * (px - 0.5) : 0;
        x[0] = px + much * 0.06 * sin(3 * py) * sin(M_PI * px);
        x[1] = c->height * (py + much * 0.05 * sin(M_PI * 2 * px));
        if (dim == 3) x[2] = X[2] + much * 0.04 * sin(2 * px + py);
    }
    return EG_OK;
}

/* An operator with all that it stands on. */
typedef struct elliptic_problem {
    eg_context *ctx;
    const elliptic_case *c;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *k, *robin;
    eg_elliptic *A;
    eg_field *u, *y;
    size_t count; /* of values on this rank */
} elliptic_problem;

static inline eg_mesh *elliptic_mesh(eg_context *ctx, const elliptic_case *c)
{
    eg_mesh *mesh = NULL;
    TEST_OK(ctx,
            eg_mesh_create_box(ctx,
                               &(eg_box_options){.shape = c->shape,
                                                 .cells = {c->cells[0], c->cells[1], c->cells[2]},
                                                 .high = {1, c->height, c->cells[2] > 0 ? 1 : 0},
                                                 .periodic = {c->periodic},
                                                 .perturb = c->perturb,
                                                 .seed = 7,
                                                 .order = c->order,
                                                 .map = c->order > 1 ? elliptic_bend : NULL,
                                                 .map_user = (void *)(uintptr_t)c},
                               &mesh));
    if (c->turned) turn_elements(mesh, 3);
    return mesh;
}

/* On a mesh (of this rank) that the problem takes over. */
static inline elliptic_problem elliptic_on(eg_device *device, eg_comm *comm, eg_mesh *mesh,
                                           const elliptic_case *c, int degree, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    elliptic_problem p = {.ctx = ctx, .c = c, .mesh = mesh};
    const eg_expression *robin[ELLIPTIC_BOUNDARIES] = {NULL};
    int lanes = 0;
    TEST_OK(ctx, eg_elliptic_lanes(device, mesh, degree, &lanes));
    TEST_OK(ctx, eg_space_create(device, comm, mesh,
                                 &(eg_space_options){
                                     .basis = EG_BASIS_LOBATTO, .degree = degree, .lanes = lanes},
                                 &p.space));
    p.k = expression(ctx, c->k);
    p.robin = expression(ctx, c->robin);
    for (int b = 0; b < ELLIPTIC_BOUNDARIES; b++)
        if (c->types[b] == EG_ELLIPTIC_ROBIN) robin[b] = p.robin;
    TEST_OK(
        ctx,
        eg_elliptic_create(
            p.space, real,
            &(eg_elliptic_options){
                .lambda = c->lambda, .k = p.k, .types = c->types, .robin = robin, .form = c->form},
            &p.A));
    TEST_OK(ctx, eg_field_create(p.space, 1, real, &p.u));
    TEST_OK(ctx, eg_field_create(p.space, 1, real, &p.y));
    p.count = eg_field_host_count(p.u);
    return p;
}

static inline void elliptic_free(elliptic_problem *p)
{
    eg_field_destroy(&p->y);
    eg_field_destroy(&p->u);
    eg_elliptic_destroy(&p->A);
    eg_expression_destroy(&p->robin);
    eg_expression_destroy(&p->k);
    eg_space_destroy(&p->space);
    eg_mesh_destroy(&p->mesh);
}

/* out = A in, by the operator. */
static inline void elliptic_multiply(elliptic_problem *p, const double *in, double *out)
{
    TEST_OK(p->ctx, eg_field_from_host(p->u, in));
    TEST_OK(p->ctx, eg_elliptic_apply(p->A, p->u->data, p->y->data));
    TEST_OK(p->ctx, eg_field_to_host(p->y, out));
}

static inline double *random_values(size_t count, uint64_t seed)
{
    double *v = malloc((count + 1) * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < count; i++)
        v[i] = test_random(&seed);
    return v;
}

static inline double dot_of(size_t count, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* --- the form, from its definition ------------------------------------------------------------- */

/* Values and gradients of an element's functions at a point, and the geometry there. */
typedef struct form_point {
    double value[EG_NP_MAX], gradient[EG_NP_MAX][3];
    double x[3], det, normal[3],
        size; /* of faces: outward unit normal, |face| over its reference's */
} form_point;

static inline double form_value(const eg_expression *e, const double *x, double otherwise)
{
    return e ? eg_expression_evaluate(e, (double[]){x[0], x[1], x[2], 0}) : otherwise;
}

/* At r; `face` < 0: inside. */
static inline void form_at(const test_mapping *mapping, const eg_element *element, int32_t e,
                           int face, const double *r, form_point *out)
{
    const eg_shape_info *info = eg_shape_get_info(element->shape);
    const int np = element->np, dim = element->dim;
    double J[3][3] = {{0}}, inverse[3][3], slopes[3 * EG_NP_MAX];
    test_map(mapping, e, r, out->x, J);
    if (dim == 2) out->x[2] = 0, J[2][0] = J[2][1] = J[0][2] = J[1][2] = 0, J[2][2] = 1;
    out->det = eg_mesh_determinant(3, (const double(*)[3])J);
    for (int a = 0; a < 3;
         a++) /* inverse[a] = ∇r_a, by cross products of tangents J[d] = ∂x/∂r_d */
        for (int c = 0; c < 3; c++)
            inverse[a][c] = (J[(a + 1) % 3][(c + 1) % 3] * J[(a + 2) % 3][(c + 2) % 3] -
                             J[(a + 1) % 3][(c + 2) % 3] * J[(a + 2) % 3][(c + 1) % 3]) /
                            out->det;
    eg_element_at(element, r, out->value, slopes);
    for (int i = 0; i < np; i++)
        for (int c = 0; c < 3; c++) {
            out->gradient[i][c] = 0;
            for (int a = 0; a < dim; a++)
                out->gradient[i][c] += inverse[a][c] * slopes[a * np + i];
        }
    if (face < 0) return;
    /* The face is where some linear function of r is largest: its gradient, scaled. */
    double t[2][3] = {{0}}, n[3], length = 0;
    const int8_t *v = info->face[face];
    for (int d = 0; d < dim; d++)
        for (int c = 0; c < 3; c++) {
            const int last = info->face_vertices - 1;
            t[0][c] += 0.5 * (info->r[v[1]][d] - info->r[v[0]][d]) * J[d][c];
            t[1][c] += 0.5 * (info->r[v[last]][d] - info->r[v[0]][d]) * J[d][c];
        }
    if (dim == 2) t[1][0] = t[1][1] = 0, t[1][2] = 1;
    for (int c = 0; c < 3; c++) {
        n[c] = t[0][(c + 1) % 3] * t[1][(c + 2) % 3] - t[0][(c + 2) % 3] * t[1][(c + 1) % 3];
        length += n[c] * n[c];
    }
    out->size = sqrt(length);
    for (int c = 0; c < 3; c++)
        out->normal[c] = n[c] / out->size;
}

/* The largest |face|/|element| density and k on a face, over the points of its quadrature. */
static inline void form_side(const elliptic_problem *p, const test_mapping *mapping,
                             const eg_element *element, int32_t e, int face,
                             const eg_cubature *rule, double *steep, double *k)
{
    const eg_shape_info *info = eg_shape_get_info(element->shape);
    double r[3], s[3];
    form_point *at = malloc(sizeof *at);
    assert_non_null(at);
    *steep = *k = 0;
    for (int q = 0; q < rule->count; q++) {
        for (int d = 0; d < element->dim - 1; d++)
            s[d] = rule->r[d * rule->count + q];
        eg_shape_face_points(element->shape, face, 1, s, r);
        form_at(mapping, element, e, face, r, at);
        *steep = fmax(*steep, at->size / at->det * eg_shape_get_info(info->face_shape)->volume /
                                  info->volume);
        *k = fmax(*k, form_value(p->k, at->x, 1));
    }
    free(at);
}

/* Adds weight * (form of both sides of a face at one point) to A [count][count], sides 0 and 1
 * beginning at rows first[0], first[1]; share: c of each side. */
static inline void form_add_face(double *A, size_t count, int np, int sides,
                                 const form_point *const at[2], const size_t first[2],
                                 const double k[2], const double share[2], double tau,
                                 double weight)
{
    for (int a = 0; a < sides; a++)
        for (int b = 0; b < sides; b++)
            for (int i = 0; i < np; i++)
                for (int j = 0; j < np; j++) {
                    double slope_i = 0, slope_j = 0; /* along the own outward normal */
                    for (int c = 0; c < 3; c++) {
                        slope_i += k[a] * at[a]->normal[c] * at[a]->gradient[i][c];
                        slope_j += k[b] * at[b]->normal[c] * at[b]->gradient[j][c];
                    }
                    /* {k ∂v/∂n} with the normal of side 0: the sign of each side. */
                    const double sign_a = a ? -1 : 1, sign_b = b ? -1 : 1;
                    const double jump_i = sign_a * at[a]->value[i],
                                 jump_j = sign_b * at[b]->value[j];
                    A[(first[a] + (size_t)i) * count + first[b] + (size_t)j] +=
                        weight * (tau * jump_i * jump_j - jump_i * share[b] * sign_b * slope_j -
                                  jump_j * share[a] * sign_a * slope_i);
                }
}

/* The matrix [count][count] of a whole mesh, in the order of fields on the host. */
static inline double *elliptic_form(const elliptic_problem *p)
{
    const eg_mesh *mesh = p->mesh;
    const eg_element *element = p->space->groups[0].element;
    const eg_shape_info *info = eg_shape_get_info(element->shape);
    const int np = element->np, dim = element->dim, N = element->degree;
    const size_t count = p->count;
    const int degree = 2 * N + 4 + eg_mesh_jacobian_degree(element->shape, mesh->order);
    const double constant = info->tensor ? (N + 1.0) * (N + 1.0) : (N + 1.0) * (N + dim) / dim;
    double *A = calloc(count * count, sizeof *A), r[3], s[3];
    eg_cubature *inner = NULL, *face = NULL;
    form_point *at = malloc(2 * sizeof *at);
    test_mapping mapping = test_mapping_new(mesh);
    assert_true(A && at);
    TEST_OK(p->ctx, eg_cubature_create(p->ctx, element->shape, degree, EG_CUBATURE_BEST, &inner));
    TEST_OK(p->ctx, eg_cubature_create(p->ctx, info->face_shape, degree, EG_CUBATURE_BEST, &face));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const size_t first = (size_t)e * (size_t)np;
        for (int q = 0; q < inner->count; q++) {
            for (int d = 0; d < dim; d++)
                r[d] = inner->r[d * inner->count + q];
            form_at(&mapping, element, e, -1, r, at);
            const double w = inner->w[q] * at->det, k = form_value(p->k, at->x, 1);
            for (int i = 0; i < np; i++)
                for (int j = 0; j < np; j++)
                    A[(first + (size_t)i) * count + first + (size_t)j] +=
                        w * (k * dot_of(3, at->gradient[i], at->gradient[j]) +
                             p->c->lambda * at->value[i] * at->value[j]);
        }
        for (int f = 0; f < info->faces; f++) {
            const size_t slot = (size_t)e * (size_t)mesh->face_stride + (size_t)f;
            const int32_t n = mesh->neighbour[slot];
            const int of = EG_FACE(mesh->neighbour_face[slot]);
            if (n >= 0 && (n < e || (n == e && of < f))) continue; /* once */
            double steep[2] = {0}, most[2] = {0};
            form_side(p, &mapping, element, e, f, face, &steep[0], &most[0]);
            if (n >= 0) form_side(p, &mapping, element, n, of, face, &steep[1], &most[1]);
            const eg_elliptic_boundary type = n >= 0 ? EG_ELLIPTIC_DIRICHLET : p->c->types[-1 - n];
            for (int q = 0; q < face->count; q++) {
                double other[3], k[2] = {0}, share[2], tau;
                for (int d = 0; d < dim - 1; d++)
                    s[d] = face->r[d * face->count + q];
                eg_shape_face_points(element->shape, f, 1, s, r);
                form_at(&mapping, element, e, f, r, &at[0]);
                k[0] = form_value(p->k, at[0].x, 1);
                if (n >= 0) {
                    eg_orientation_points(info->face_shape,
                                          EG_ORIENTATION(mesh->neighbour_face[slot]), 1, s, other);
                    eg_shape_face_points(element->shape, of, 1, other, r);
                    form_at(&mapping, element, n, of, r, &at[1]);
                    k[1] = form_value(p->k, at[1].x, 1);
                    share[0] = most[1] / (most[0] + most[1]);
                    share[1] = most[0] / (most[0] + most[1]);
                    tau = constant * fmax(steep[0], steep[1]) * 2 * most[0] * most[1] /
                          (most[0] + most[1]);
                } else {
                    share[0] = type == EG_ELLIPTIC_DIRICHLET ? 1 : 0;
                    tau = type == EG_ELLIPTIC_DIRICHLET ? 2 * constant * steep[0] * most[0]
                          : type == EG_ELLIPTIC_ROBIN   ? form_value(p->robin, at[0].x, 0)
                                                        : 0;
                }
                form_add_face(A, count, np, n >= 0 ? 2 : 1, (const form_point *[]){&at[0], &at[1]},
                              (size_t[]){first, (size_t)(n >= 0 ? n : 0) * (size_t)np}, k, share,
                              tau, face->w[q] * at[0].size);
            }
        }
    }
    test_mapping_free(&mapping);
    eg_cubature_destroy(&face);
    eg_cubature_destroy(&inner);
    free(at);
    return A;
}

#endif
