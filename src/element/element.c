/* Reference elements: the matrices of a basis.
 *
 * All follow from the Vandermonde matrix V of orthonormal modes at the nodes [hesthaven2008,
 * section 3.2 and 6.1]: mass = V⁻ᵀ V⁻¹, mass⁻¹ = V Vᵀ, lift = V Ψᵀ M_face with modes Ψ at the face
 * points. On quadrilaterals and hexahedra they are Kronecker products of those of the line. */
#include "element/element.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "element/basis.h"
#include "element/cells.h"
#include "element/evaluate.h"
#include "element/nodes.h"

const char *eg_basis_name(eg_basis basis)
{
    static const char *const names[EG_BASIS_COUNT] = {[EG_BASIS_LOBATTO] = "lobatto",
                                                      [EG_BASIS_GAUSS] = "gauss",
                                                      [EG_BASIS_RADAU] = "radau",
                                                      [EG_BASIS_CHEBYSHEV] = "chebyshev",
                                                      [EG_BASIS_EQUIDISTANT] = "equidistant",
                                                      [EG_BASIS_MODAL] = "modal",
                                                      [EG_BASIS_CELLS] = "cells"};
    assert((unsigned)basis < EG_BASIS_COUNT);
    return names[basis];
}

static eg_status check(eg_context *ctx, eg_shape shape, int degree, eg_basis basis)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    int most =
        shape == EG_SHAPE_LINE || shape == EG_SHAPE_QUAD ? EG_DEGREE_MAX_QUAD : EG_DEGREE_MAX;
    if (degree < 0 || degree > most)
        return eg_fail(ctx, EG_ERROR_INPUT, "a %s has degrees 0 to %d, not %d", info->name, most,
                       degree);
    bool everywhere =
        basis == EG_BASIS_LOBATTO || basis == EG_BASIS_EQUIDISTANT || basis == EG_BASIS_MODAL;
    if (!info->tensor && !everywhere)
        return eg_fail(ctx, EG_ERROR_INPUT,
                       "the basis \"%s\" does not exist on a %s, which has \"lobatto\", "
                       "\"equidistant\" and \"modal\"",
                       eg_basis_name(basis), info->name);
    return EG_OK;
}

/* a [np][np] = the product of f[d] [n][n] for each coordinate, the first for r; NULL: identity. */
static void multiply_factors(int dim, int n, const double *const f[3], double *a)
{
    size_t np = 1;
    for (int d = 0; d < dim; d++)
        np *= (size_t)n;
    for (size_t i = 0; i < np; i++) {
        double *row = a + i * np;
        row[0] = 1.0;
        /* The first coordinates' products, copied times each number of the next one's row. */
        for (size_t d = 0, size = 1; d < (size_t)dim; d++, size *= (size_t)n) {
            size_t r = i / size % (size_t)n;
            for (size_t c = (size_t)n; c-- > 0;) {
                double factor = f[d] ? f[d][r * (size_t)n + c] : (double)(r == c);
                for (size_t k = 0; k < size; k++)
                    row[c * size + k] = row[k] * factor;
            }
        }
    }
}

static void set_identity(int n, double *a)
{
    memset(a, 0, (size_t)n * (size_t)n * sizeof *a);
    for (size_t i = 0; i < (size_t)n; i++)
        a[i * (size_t)n + i] = 1.0;
}

/* ∫ ψ_i ∂ψ_j: the derivative of an orthonormal mode in modes, all of lower degree. */
static eg_status fill_modal_derivative(eg_element *e)
{
    eg_status status = EG_OK;
    eg_cubature *c = NULL;
    double *values = NULL, *gradient = NULL, *weighted = NULL;
    const bool line = e->shape == EG_SHAPE_LINE;
    const size_t np = (size_t)e->np;
    EG_TRY(eg_cubature_create(e->ctx, e->shape, 2 * e->degree,
                              line ? EG_CUBATURE_BEST : EG_CUBATURE_COLLAPSED, &c));
    const size_t size = np * (size_t)c->count;
    EG_TRY(eg_new(e->ctx, size, &values));
    EG_TRY(eg_new(e->ctx, size * (size_t)e->dim, &gradient));
    EG_TRY(eg_new(e->ctx, size, &weighted));
    eg_element_modes(e, c->count, c->r, values, gradient);
    eg_dense_transpose(c->count, e->np, values, weighted);
    for (size_t i = 0; i < np; i++)
        for (size_t q = 0; q < (size_t)c->count; q++)
            weighted[i * (size_t)c->count + q] *= c->w[q];
    for (size_t d = 0; d < (size_t)e->dim; d++)
        eg_dense_multiply(e->np, c->count, e->np, weighted, gradient + d * size,
                          e->D + d * np * np);
    for (int i = 0; i < e->np; i++)
        for (int j = 0; j < e->np; j++) {
            int rise =
                line ? i - j
                     : eg_simplex_mode_degree(e->shape, i) - eg_simplex_mode_degree(e->shape, j);
            for (size_t d = 0; d < (size_t)e->dim && rise >= 0; d++)
                e->D[(d * np + (size_t)i) * np + (size_t)j] = 0.0;
        }
done:
    eg_release(e->ctx, &weighted);
    eg_release(e->ctx, &gradient);
    eg_release(e->ctx, &values);
    eg_cubature_destroy(&c);
    return status;
}

/* D at the nodes. The diagonal makes rows sum to 0, so that constants have no derivative. */
static eg_status fill_nodal_derivative(eg_element *e)
{
    eg_status status = eg_element_differentiate(e, e->np, e->r, e->D);
    if (status != EG_OK) return status;
    const size_t np = (size_t)e->np;
    for (size_t row = 0; row < (size_t)e->dim * np; row++) {
        double *d = e->D + row * np, sum = 0.0;
        for (size_t j = 0; j < np; j++)
            if (j != row % np) sum += d[j];
        d[row % np] = -sum;
    }
    return EG_OK;
}

/* V, its inverse, mass, its inverse of a line of cells; D stays 0. */
static eg_status fill_cells(eg_element *e)
{
    eg_cells_means(e->np, e->degree, e->V);
    for (size_t i = 0, n = (size_t)e->np; i < n; i++) {
        e->mass[i * n + i] = 2.0 / e->np;
        e->mass_inverse[i * n + i] = 0.5 * e->np;
    }
    return eg_dense_inverse(e->ctx, e->np, e->V, e->V_inverse);
}

/* V, its inverse, mass, its inverse, D of a line, triangle or tetrahedron. */
static eg_status fill_matrices(eg_element *e)
{
    eg_status status = EG_OK;
    double *transposed = NULL;
    if (e->basis == EG_BASIS_CELLS) return fill_cells(e);
    EG_TRY(eg_new(e->ctx, (size_t)e->np * (size_t)e->np, &transposed));
    if (e->basis == EG_BASIS_MODAL) {
        set_identity(e->np, e->V);
        set_identity(e->np, e->V_inverse);
    } else {
        eg_element_modes(e, e->np, e->r, e->V, NULL);
        EG_TRY(eg_dense_inverse(e->ctx, e->np, e->V, e->V_inverse));
    }
    eg_dense_transpose(e->np, e->np, e->V_inverse, transposed);
    eg_dense_multiply(e->np, e->np, e->np, transposed, e->V_inverse, e->mass);
    eg_dense_transpose(e->np, e->np, e->V, transposed);
    eg_dense_multiply(e->np, e->np, e->np, e->V, transposed, e->mass_inverse);
    EG_TRY(e->basis == EG_BASIS_MODAL ? fill_modal_derivative(e) : fill_nodal_derivative(e));
done:
    eg_release(e->ctx, &transposed);
    return status;
}

/* The same of a quadrilateral or hexahedron. */
static void multiply_matrices(eg_element *e)
{
    const eg_element *line = e->line;
    const size_t size = (size_t)e->np * (size_t)e->np;
    multiply_factors(e->dim, line->np, (const double *[3]){line->V, line->V, line->V}, e->V);
    multiply_factors(e->dim, line->np,
                     (const double *[3]){line->V_inverse, line->V_inverse, line->V_inverse},
                     e->V_inverse);
    multiply_factors(e->dim, line->np, (const double *[3]){line->mass, line->mass, line->mass},
                     e->mass);
    multiply_factors(
        e->dim, line->np,
        (const double *[3]){line->mass_inverse, line->mass_inverse, line->mass_inverse},
        e->mass_inverse);
    for (int d = 0; d < e->dim; d++) {
        const double *f[3] = {NULL};
        f[d] = line->D;
        multiply_factors(e->dim, line->np, f, e->D + (size_t)d * size);
    }
}

/* Which node a point is, -1 if none. */
static int find_node(const eg_element *e, const double point[3])
{
    for (int i = 0; i < e->np; i++) {
        double distance = 0.0;
        for (int d = 0; d < e->dim; d++)
            distance = fmax(distance, fabs(e->r[d * e->np + i] - point[d]));
        if (distance < 1e-10) return i;
    }
    return -1;
}

/* face_node, if all points are nodes. */
static eg_status find_face_nodes(eg_element *e, const double *points)
{
    if (e->basis == EG_BASIS_MODAL) return EG_OK;
    eg_status status = EG_OK;
    int *node = NULL;
    const int count = e->faces * e->face_np;
    EG_TRY(eg_new(e->ctx, (size_t)count, &node));
    for (int i = 0; i < count; i++) {
        double point[3] = {0};
        for (int d = 0; d < e->dim; d++)
            point[d] = points[d * count + i];
        node[i] = find_node(e, point);
        if (node[i] < 0) goto done;
    }
    e->face_node = node;
    node = NULL;
done:
    eg_release(e->ctx, &node);
    return status;
}

/* All points of all faces: points [dim][faces][face_np]. */
static eg_status place_face_points(const eg_element *e, double *points)
{
    eg_status status = EG_OK;
    double *one = NULL; /* [dim][face_np] */
    const size_t n = (size_t)e->face_np;
    EG_TRY(eg_new(e->ctx, (size_t)e->dim * n, &one));
    for (size_t f = 0; f < (size_t)e->faces; f++) {
        eg_shape_face_points(e->shape, (int)f, e->face_np, e->face_r, one);
        for (size_t d = 0; d < (size_t)e->dim; d++)
            memcpy(points + (d * (size_t)e->faces + f) * n, one + d * n, n * sizeof *one);
    }
done:
    eg_release(e->ctx, &one);
    return status;
}

static eg_status fill_faces(eg_element *e, bool bare)
{
    eg_status status = EG_OK;
    double *points = NULL, *dual = NULL; /* dual [np][faces][face_np] */
    const int count = e->faces * e->face_np;
    const size_t size = (size_t)count * (size_t)e->np;

    EG_TRY(eg_new(e->ctx, (size_t)e->dim * (size_t)count, &points));
    EG_TRY(place_face_points(e, points));
    EG_TRY(find_face_nodes(e, points));
    if (bare) goto done;

    EG_TRY(eg_new(e->ctx, size, &e->face_interp));
    if (e->face_node)
        for (size_t i = 0; i < (size_t)count; i++)
            e->face_interp[i * (size_t)e->np + (size_t)e->face_node[i]] = 1.0;
    else
        EG_TRY(eg_element_evaluate(e, count, points, e->face_interp));

    /* ∫_face φ_i l_j = Σ_k φ_i(point k) M_kj, and mass⁻¹ φ(point) is the dual basis there. */
    EG_TRY(eg_new(e->ctx, size, &e->lift));
    EG_TRY(eg_new(e->ctx, size, &dual));
    EG_TRY(eg_element_dual(e, count, points, dual));
    if (e->face)
        eg_dense_multiply(e->np * e->faces, e->face_np, e->face_np, dual, e->face->mass, e->lift);
    else
        memcpy(e->lift, dual, size * sizeof *dual);
done:
    eg_release(e->ctx, &dual);
    eg_release(e->ctx, &points);
    return status;
}

static eg_basis face_basis(const eg_element *e)
{
    if (e->basis == EG_BASIS_RADAU) return EG_BASIS_LOBATTO;
    if (e->basis != EG_BASIS_MODAL) return e->basis;
    return e->shape == EG_SHAPE_TET ? EG_BASIS_LOBATTO : EG_BASIS_GAUSS;
}

/* V, its inverse, mass, its inverse, D and the weights. */
static eg_status create_matrices(eg_element *e)
{
    eg_status status = EG_OK;
    const size_t np = (size_t)e->np;
    EG_TRY(eg_new(e->ctx, np * np, &e->V));
    EG_TRY(eg_new(e->ctx, np * np, &e->V_inverse));
    EG_TRY(eg_new(e->ctx, np * np, &e->mass));
    EG_TRY(eg_new(e->ctx, np * np, &e->mass_inverse));
    EG_TRY(eg_new(e->ctx, np * np * (size_t)e->dim, &e->D));
    EG_TRY(eg_new(e->ctx, np, &e->weights));
    if (e->line)
        multiply_matrices(e);
    else
        EG_TRY(fill_matrices(e));
    /* Mode 0 is constant and all others have mean 0. Cells are equal. */
    const double volume = eg_shape_get_info(e->shape)->volume;
    for (size_t i = 0; i < np; i++)
        e->weights[i] =
            e->basis == EG_BASIS_CELLS ? volume / e->np : sqrt(volume) * e->V_inverse[i];
done:
    return status;
}

/* `bare`: without the matrices that products of lines can do without. */
static eg_status create(eg_context *ctx, eg_shape shape, eg_shape host, int degree, eg_basis basis,
                        bool bare, eg_element **out)
{
    eg_status status = EG_OK;
    const eg_shape_info *info = eg_shape_get_info(shape);
    eg_element *e = NULL;
    EG_TRY(eg_new(ctx, 1, &e));
    *e = (eg_element){.ctx = ctx,
                      .shape = shape,
                      .basis = basis,
                      .dim = info->dim,
                      .degree = degree,
                      .np = eg_mode_count(shape, degree),
                      .faces = info->faces,
                      .face_np = 1};
    if (basis != EG_BASIS_MODAL) {
        EG_TRY(eg_new(ctx, (size_t)e->dim * (size_t)e->np, &e->r));
        EG_TRY(eg_nodes_place(ctx, shape, host, degree, basis, e->r));
    }
    if (info->tensor && e->dim > 1)
        EG_TRY(create(ctx, EG_SHAPE_LINE, EG_SHAPE_LINE, degree, basis, false, &e->line));
    bare = bare && e->line;
    if (!bare) EG_TRY(create_matrices(e));
    if (e->dim > 1) {
        eg_shape face_host = basis == EG_BASIS_MODAL ? info->face_shape : shape;
        EG_TRY(create(ctx, info->face_shape, face_host, degree, face_basis(e), bare, &e->face));
        e->face_np = e->face->np;
        EG_TRY(eg_new(ctx, (size_t)(e->dim - 1) * (size_t)e->face_np, &e->face_r));
        memcpy(e->face_r, e->face->r, (size_t)(e->dim - 1) * (size_t)e->face_np * sizeof *e->r);
    }
    EG_TRY(fill_faces(e, bare));
    *out = e;
    e = NULL;
done:
    eg_element_destroy(&e);
    return status;
}

eg_status eg_element_create(eg_context *ctx, eg_shape shape, int degree, eg_basis basis,
                            eg_element **out)
{
    *out = NULL;
    eg_status status = check(ctx, shape, degree, basis);
    if (status != EG_OK) return status;
    return create(ctx, shape, shape, degree, basis, false, out);
}

eg_status eg_element_create_bare(eg_context *ctx, eg_shape shape, int degree, eg_basis basis,
                                 eg_element **out)
{
    *out = NULL;
    eg_status status = check(ctx, shape, degree, basis);
    if (status != EG_OK) return status;
    return create(ctx, shape, shape, degree, basis, true, out);
}

void eg_element_destroy(eg_element **element)
{
    eg_element *e = *element;
    if (!e) return;
    eg_context *ctx = e->ctx;
    eg_element_destroy(&e->face);
    eg_element_destroy(&e->line);
    eg_release(ctx, &e->r);
    eg_release(ctx, &e->V);
    eg_release(ctx, &e->V_inverse);
    eg_release(ctx, &e->mass);
    eg_release(ctx, &e->mass_inverse);
    eg_release(ctx, &e->D);
    eg_release(ctx, &e->weights);
    eg_release(ctx, &e->face_r);
    eg_release(ctx, &e->face_node);
    eg_release(ctx, &e->face_interp);
    eg_release(ctx, &e->lift);
    eg_release(ctx, element);
}
