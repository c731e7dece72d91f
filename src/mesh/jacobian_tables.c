/* Makes the tables by which determinants are bounded: the spaces of a mapping, of its derivatives
 * and of their determinant, how values at nodes become coefficients in Bernstein form and what
 * rounding does to them. */
#include "mesh/jacobian_tables.h"

#include "base/dense.h"

#include <float.h>
#include <math.h>

/* The greatest sum of magnitudes of a row of a [n][n]. */
static double row_norm(int n, const double *a)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < n; j++)
            sum += fabs(a[i * n + j]);
        most = fmax(most, sum);
    }
    return most;
}

/* The inverse of the matrix of Bernstein polynomials at the nodes of a shape, and how far from one
 * it is. */
static eg_status invert(eg_context *ctx, eg_shape shape, int order, double **inverse,
                        double *residual)
{
    eg_status status = EG_OK;
    eg_element *element = NULL;
    eg_bernstein space = {0};
    double *values = NULL, *product = NULL;
    EG_TRY(eg_element_create(ctx, shape, order, EG_BASIS_LOBATTO, &element));
    EG_TRY(eg_bernstein_create(ctx, shape, (int[]){order, order, order}, &space));
    size_t np = (size_t)element->np, size = np * np;
    EG_TRY(eg_new(ctx, size, &values));
    EG_TRY(eg_new(ctx, size, &product));
    EG_TRY(eg_new(ctx, size, inverse));
    for (size_t i = 0; i < np; i++) {
        double r[3] = {0};
        for (size_t d = 0; d < (size_t)element->dim; d++)
            r[d] = element->r[d * np + i];
        eg_bernstein_evaluate(&space, r, &values[i * np]);
    }
    EG_TRY(eg_dense_inverse(ctx, element->np, values, *inverse));
    eg_dense_multiply(element->np, element->np, element->np, values, *inverse, product);
    for (size_t i = 0; i < np; i++)
        product[i * np + i] -= 1.0;
    *residual = row_norm(element->np, product);
done:
    eg_release(ctx, &product);
    eg_release(ctx, &values);
    eg_bernstein_destroy(&space);
    eg_element_destroy(&element);
    return status;
}

/* The spaces of the mapping and its derivatives, and which coefficients are subtracted. */
static eg_status create_derivatives(eg_jacobian *j, eg_shape shape)
{
    eg_status status = EG_OK;
    int order = j->order;
    EG_TRY(eg_bernstein_create(j->ctx, shape, (int[]){order, order, order}, &j->mapping));
    j->np = j->mapping.count;
    for (int d = 0; d < j->info->dim; d++) {
        eg_bernstein *space = &j->derivative[d];
        int degree[3], e[3];
        for (int c = 0; c < 3; c++)
            degree[c] = j->info->tensor && c != d ? order : order - 1;
        EG_TRY(eg_bernstein_create(j->ctx, shape, degree, space));
        EG_TRY(eg_new(j->ctx, (size_t)space->count, &j->low[d]));
        EG_TRY(eg_new(j->ctx, (size_t)space->count, &j->high[d]));
        for (e[2] = 0; e[2] <= space->degree[2]; e[2]++) {
            for (e[1] = 0; e[1] <= space->degree[1]; e[1]++) {
                for (e[0] = 0; eg_bernstein_has(space, e); e[0]++) {
                    int i = eg_bernstein_index(space, e), above[3] = {e[0], e[1], e[2]};
                    above[d]++;
                    j->low[d][i] = eg_bernstein_index(&j->mapping, e);
                    j->high[d][i] = eg_bernstein_index(&j->mapping, above);
                }
            }
        }
    }
done:
    return status;
}

/* Room for the slopes of an element and its pieces, and how they are halved. */
static eg_status create_slopes(eg_jacobian *j)
{
    eg_status status = EG_OK;
    int count;
    for (int d = 0; d < j->info->dim; d++) {
        EG_TRY(eg_bernstein_find_directions(&j->derivative[d], j->slope_direction[d], &count));
        for (int v = 0; v < j->info->vertices; v++)
            j->slope_corner[d][v] = eg_bernstein_corner(&j->derivative[d], v);
        j->slope_count += j->info->dim * j->derivative[d].count;
    }
    EG_TRY(eg_new(j->ctx, (EG_JACOBIAN_DEPTH + 2) * (size_t)j->slope_count, &j->slopes));
    EG_TRY(eg_new(j->ctx, (size_t)j->slope_count, &j->seen));
done:
    return status;
}

/* How nodes become coefficients, and what rounding does to the polynomial they are of: its values,
 * as coefficients may differ by more. */
static eg_status create_conversion(eg_jacobian *j, eg_shape shape)
{
    eg_status status = EG_OK;
    bool tensor = j->info->tensor;
    int n = tensor ? j->order + 1 : j->np, passes = tensor ? j->info->dim : 1;
    double residual = 0.0;
    EG_TRY(invert(j->ctx, tensor ? EG_SHAPE_LINE : shape, j->order, &j->convert, &residual));
    residual += 0.5 * DBL_EPSILON * n * row_norm(n, j->convert);
    j->conversion = 2.0 * j->order * j->order * passes * residual;
done:
    return status;
}

static eg_status create_determinant(eg_jacobian *j, eg_shape shape)
{
    eg_status status = EG_OK;
    int dim = j->info->dim, degree[3] = {0}, longest = 0;
    for (int c = 0; c < dim; c++) {
        for (int d = dim - 1; d >= 0; d--) {
            degree[c] += j->derivative[d].degree[c];
            longest = degree[c] + 1 > longest ? degree[c] + 1 : longest;
        }
    }
    EG_TRY(eg_bernstein_create(j->ctx, shape, degree, &j->determinant));
    if (dim == 3) {
        for (int c = 0; c < dim; c++)
            degree[c] -= j->derivative[0].degree[c];
        EG_TRY(eg_bernstein_create(j->ctx, shape, degree, &j->minor));
        EG_TRY(eg_new(j->ctx, (size_t)j->minor.count, &j->cofactor));
    }
    EG_TRY(eg_bernstein_find_directions(&j->determinant, j->direction, &j->direction_count));
    for (int v = 0; v < j->info->vertices; v++)
        j->corner[v] = eg_bernstein_corner(&j->determinant, v);
    EG_TRY(
        eg_new(j->ctx, (EG_JACOBIAN_DEPTH + 1) * (size_t)j->determinant.count, &j->coefficients));
    EG_TRY(eg_new(j->ctx, (size_t)longest, &j->line));
done:
    return status;
}

eg_status eg_jacobian_create(eg_context *ctx, eg_shape shape, int order, eg_jacobian **out)
{
    eg_status status = EG_OK;
    eg_jacobian *j = NULL;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &j));
    j->ctx = ctx;
    j->info = eg_shape_get_info(shape);
    j->order = order;
    EG_TRY(create_derivatives(j, shape));
    EG_TRY(create_slopes(j));
    EG_TRY(create_conversion(j, shape));
    EG_TRY(create_determinant(j, shape));
    EG_TRY(eg_new(ctx, (size_t)(j->np * j->info->dim), &j->net));
    EG_TRY(eg_new(ctx, (size_t)j->np, &j->turned));
    *out = j;
    j = NULL;
done:
    eg_jacobian_destroy(&j);
    return status;
}

void eg_jacobian_destroy(eg_jacobian **handle)
{
    eg_jacobian *j = *handle;
    if (!j) return;
    eg_context *ctx = j->ctx;
    eg_release(ctx, &j->line);
    eg_release(ctx, &j->coefficients);
    eg_bernstein_free_directions(ctx, j->direction);
    eg_release(ctx, &j->cofactor);
    eg_release(ctx, &j->slopes);
    eg_release(ctx, &j->seen);
    for (int d = 0; d < 3; d++) {
        eg_bernstein_free_directions(ctx, j->slope_direction[d]);
        eg_release(ctx, &j->low[d]);
        eg_release(ctx, &j->high[d]);
        eg_bernstein_destroy(&j->derivative[d]);
    }
    eg_bernstein_destroy(&j->determinant);
    eg_bernstein_destroy(&j->minor);
    eg_bernstein_destroy(&j->mapping);
    eg_release(ctx, &j->turned);
    eg_release(ctx, &j->net);
    eg_release(ctx, &j->convert);
    eg_release(ctx, handle);
}
