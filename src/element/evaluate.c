/* Values and derivatives of an element's basis at points, projection from points, and transfer
 * between elements.
 *
 * On tensor shapes all of it is made of one-dimensional factors, which stay accurate at high
 * degree; on simplices of the orthonormal modes, φ = V⁻ᵀ ψ. As the modes are orthonormal, the L2
 * projection onto a lower degree leaves out the modes above it. */
#include "element/evaluate.h"

#include <assert.h>
#include <string.h>

#include "base/dense.h"
#include "element/basis.h"
#include "element/cells.h"

const eg_element *eg_element_factor(const eg_element *element)
{
    return element->line ? element->line : element;
}

/* One-dimensional functions at a point: values [n], and derivatives where asked for. */
typedef void factor_function(const eg_element *factor, double x, double *values,
                             double *derivatives);

static void modal_factor(const eg_element *factor, double x, double *values, double *derivatives)
{
    eg_line_modes(factor->degree, x, values, derivatives);
}

static void basis_factor(const eg_element *factor, double x, double *values, double *derivatives)
{
    if (factor->basis == EG_BASIS_MODAL)
        eg_line_modes(factor->degree, x, values, derivatives);
    else if (factor->basis == EG_BASIS_CELLS)
        eg_cells_at(factor->np, x, values, derivatives);
    else
        eg_lagrange(factor->np, factor->r, x, values, derivatives);
}

/* V times the modes, which is mass⁻¹ times the basis; there is no derivative of it. */
static void dual_factor(const eg_element *factor, double x, double *values, double *derivatives)
{
    double modes[EG_LINE_NP_MAX];
    assert(!derivatives);
    (void)derivatives;
    if (factor->basis == EG_BASIS_CELLS) {
        eg_cells_at(factor->np, x, values, NULL);
        for (int i = 0; i < factor->np; i++)
            values[i] *= factor->mass_inverse[i * factor->np + i];
        return;
    }
    eg_line_modes(factor->degree, x, modes, NULL);
    eg_dense_multiply(factor->np, factor->np, 1, factor->V, modes, values);
}

/* out [np] = products of f [dim][n], r fastest. */
static void multiply_out(int dim, int n, double f[3][EG_LINE_NP_MAX], double *out)
{
    int np = 1;
    out[0] = 1.0;
    for (int d = 0; d < dim; d++, np *= n)
        for (int i = n - 1; i >= 0; i--) /* from the end: out [np] itself is the source */
            for (int j = 0; j < np; j++)
                out[i * np + j] = f[d][i] * out[j];
}

/* Tensor functions at points: values [count][np] and gradient [dim][count][np], each if not
 * NULL. */
static void tensor_at(const eg_element *e, factor_function *function, int count,
                      const double *points, double *values, double *gradient)
{
    const eg_element *factor = eg_element_factor(e);
    const int n = factor->np;
    const size_t np = (size_t)e->np;
    for (size_t q = 0; q < (size_t)count; q++) {
        double value[3][EG_LINE_NP_MAX], derivative[3][EG_LINE_NP_MAX], mixed[3][EG_LINE_NP_MAX];
        for (int d = 0; d < e->dim; d++)
            function(factor, points[(size_t)d * (size_t)count + q], value[d],
                     gradient ? derivative[d] : NULL);
        if (values) multiply_out(e->dim, n, value, values + q * np);
        for (int d = 0; gradient && d < e->dim; d++) {
            memcpy(mixed, value, sizeof mixed);
            memcpy(mixed[d], derivative[d], sizeof mixed[d]);
            multiply_out(e->dim, n, mixed, gradient + ((size_t)d * (size_t)count + q) * np);
        }
    }
}

void eg_element_modes(const eg_element *e, int count, const double *points, double *values,
                      double *gradient)
{
    if (eg_shape_get_info(e->shape)->tensor) {
        tensor_at(e, modal_factor, count, points, values, gradient);
        return;
    }
    const size_t np = (size_t)e->np, n = (size_t)count;
    for (size_t q = 0; q < n; q++) {
        double r[3] = {0}, g[3 * EG_SIMPLEX_NP_MAX];
        for (size_t d = 0; d < (size_t)e->dim; d++)
            r[d] = points[d * n + q];
        eg_simplex_modes(e->shape, e->degree, r, values + q * np, gradient ? g : NULL);
        for (size_t d = 0; gradient && d < (size_t)e->dim; d++)
            memcpy(gradient + (d * n + q) * np, g + d * np, np * sizeof *g);
    }
}

/* a [rows][np] of modes → of the basis, in place. */
static eg_status modes_to_basis(const eg_element *e, int rows, double *a)
{
    if (e->basis == EG_BASIS_MODAL) return EG_OK;
    eg_status status = EG_OK;
    double *modes = NULL;
    const size_t size = (size_t)rows * (size_t)e->np;
    EG_TRY(eg_new(e->ctx, size, &modes));
    memcpy(modes, a, size * sizeof *a);
    eg_dense_multiply(rows, e->np, e->np, modes, e->V_inverse, a);
done:
    eg_release(e->ctx, &modes);
    return status;
}

eg_status eg_element_evaluate(const eg_element *element, int count, const double *points,
                              double *out)
{
    if (eg_shape_get_info(element->shape)->tensor) {
        tensor_at(element, basis_factor, count, points, out, NULL);
        return EG_OK;
    }
    eg_element_modes(element, count, points, out, NULL);
    return modes_to_basis(element, count, out);
}

eg_status eg_element_differentiate(const eg_element *element, int count, const double *points,
                                   double *out)
{
    if (eg_shape_get_info(element->shape)->tensor) {
        tensor_at(element, basis_factor, count, points, NULL, out);
        return EG_OK;
    }
    eg_status status = EG_OK;
    double *values = NULL; /* come with the gradient */
    EG_TRY(eg_new(element->ctx, (size_t)count * (size_t)element->np, &values));
    eg_element_modes(element, count, points, values, out);
    EG_TRY(modes_to_basis(element, element->dim * count, out));
done:
    eg_release(element->ctx, &values);
    return status;
}

void eg_element_at(const eg_element *element, const double *r, double *values, double *gradient)
{
    if (eg_shape_get_info(element->shape)->tensor) {
        tensor_at(element, basis_factor, 1, r, values, gradient);
        return;
    }
    const size_t np = (size_t)element->np, dim = (size_t)element->dim;
    double modes[4][EG_SIMPLEX_NP_MAX]; /* values, then derivatives */
    eg_simplex_modes(element->shape, element->degree, r, values, gradient);
    if (element->basis == EG_BASIS_MODAL) return;
    memcpy(modes[0], values, np * sizeof *values);
    for (size_t d = 0; d < dim; d++)
        memcpy(modes[1 + d], gradient + d * np, np * sizeof *gradient);
    for (size_t row = 0; row <= dim; row++) {
        double *out = row == 0 ? values : gradient + (row - 1) * np;
        memset(out, 0, np * sizeof *out);
        for (size_t k = 0; k < np; k++)
            for (size_t i = 0; i < np; i++)
                out[i] += modes[row][k] * element->V_inverse[k * np + i];
    }
}

eg_status eg_element_dual(const eg_element *element, int count, const double *points, double *out)
{
    eg_status status = EG_OK;
    double *rows = NULL, *modes = NULL; /* [count][np], [np][count] */
    const size_t size = (size_t)count * (size_t)element->np;
    EG_TRY(eg_new(element->ctx, size, &rows));
    if (eg_shape_get_info(element->shape)->tensor) {
        tensor_at(element, dual_factor, count, points, rows, NULL);
        eg_dense_transpose(count, element->np, rows, out);
    } else {
        EG_TRY(eg_new(element->ctx, size, &modes));
        eg_element_modes(element, count, points, rows, NULL);
        eg_dense_transpose(count, element->np, rows, modes);
        eg_dense_multiply(element->np, element->np, count, element->V, modes, out);
    }
done:
    eg_release(element->ctx, &modes);
    eg_release(element->ctx, &rows);
    return status;
}

eg_status eg_element_project(const eg_element *element, const eg_cubature *cubature, double *out)
{
    if (cubature->shape != element->shape)
        return eg_fail(
            element->ctx, EG_ERROR_ARGUMENT, "a cubature of a %s cannot project onto a %s",
            eg_shape_get_info(cubature->shape)->name, eg_shape_get_info(element->shape)->name);
    eg_status status = eg_element_dual(element, cubature->count, cubature->r, out);
    if (status != EG_OK) return status;
    for (int i = 0; i < element->np; i++)
        for (int q = 0; q < cubature->count; q++)
            out[(size_t)i * (size_t)cubature->count + (size_t)q] *= cubature->w[q];
    return EG_OK;
}

/* out [to np][from np] = V of `to`, its first `common` modes, V⁻¹ of `from`; lines and
 * simplices. */
static eg_status transfer_modes(const eg_element *from, const eg_element *to, double *out)
{
    eg_status status = EG_OK;
    double *kept = NULL; /* [to np][common] columns of V */
    const int common = from->np < to->np ? from->np : to->np;
    EG_TRY(eg_new(to->ctx, (size_t)to->np * (size_t)common, &kept));
    for (int i = 0; i < to->np; i++)
        memcpy(kept + (size_t)i * (size_t)common, to->V + (size_t)i * (size_t)to->np,
               (size_t)common * sizeof *kept);
    eg_dense_multiply(to->np, common, from->np, kept, from->V_inverse, out);
done:
    eg_release(to->ctx, &kept);
    return status;
}

/* The same of lines in any basis. */
static eg_status transfer_line(const eg_element *from, const eg_element *to, double *out)
{
    const bool from_cells = from->basis == EG_BASIS_CELLS, to_cells = to->basis == EG_BASIS_CELLS;
    const int n = to->np, m = from->np;
    double means[EG_LINE_NP_MAX * EG_LINE_NP_MAX], modes[EG_LINE_NP_MAX * EG_LINE_NP_MAX];
    if (from_cells && to_cells) {
        eg_cells_overlap(m, n, out);
    } else if (to_cells) {
        eg_cells_means(n, from->degree, means);
        eg_dense_multiply(n, m, m, means, from->V_inverse, out);
    } else if (from_cells) {
        eg_cells_means(m, to->degree, means);
        eg_dense_transpose(m, n, means, modes);
        eg_dense_multiply(n, n, m, to->V, modes, out);
        for (int i = 0; i < n * m; i++)
            out[i] *= 2.0 / m;
    } else {
        return transfer_modes(from, to, out);
    }
    return EG_OK;
}

eg_status eg_element_transfer(const eg_element *from, const eg_element *to, double *out)
{
    if (from->shape != to->shape)
        return eg_fail(to->ctx, EG_ERROR_ARGUMENT, "values of a %s cannot go to a %s",
                       eg_shape_get_info(from->shape)->name, eg_shape_get_info(to->shape)->name);
    if (!to->line)
        return to->dim == 1 ? transfer_line(from, to, out) : transfer_modes(from, to, out);

    double factor[EG_LINE_NP_MAX * EG_LINE_NP_MAX];
    const int n = to->line->np, m = from->line->np;
    eg_status status = transfer_line(from->line, to->line, factor);
    if (status != EG_OK) return status;
    for (int i = 0; i < to->np; i++) {
        double rows[3][EG_LINE_NP_MAX];
        for (int d = 0, rest = i; d < to->dim; d++, rest /= n)
            memcpy(rows[d], factor + (rest % n) * m, (size_t)m * sizeof *factor);
        multiply_out(to->dim, m, rows, out + (size_t)i * (size_t)from->np);
    }
    return EG_OK;
}
