/* Projections between degrees and bases: L2 on the reference element, exact where the degree does not
 * fall. On tensor shapes basis and projection are products, so that the matrix of a line does. */
#include "report/checkpoint/transfer.h"

#include <string.h>

/* The values of the largest element: a hexahedron. */
#define VALUES_MAX ((EG_DEGREE_MAX + 1) * (EG_DEGREE_MAX + 1) * (EG_DEGREE_MAX + 1))
_Static_assert((EG_DEGREE_MAX_QUAD + 1) * (EG_DEGREE_MAX_QUAD + 1) <= VALUES_MAX,
               "no quadrilateral has more values than a hexahedron");

void eg_projections_free(eg_projections *list)
{
    for (int i = 0; i < list->count; i++)
        eg_release(list->ctx, &list->at[i].matrix);
    eg_release(list->ctx, &list->at);
    eg_release(list->ctx, &list->scratch);
    list->count = 0;
}

static eg_status fill(const eg_projections *list, eg_projection *p)
{
    const eg_shape_info *info = eg_shape_get_info(p->shape);
    const eg_shape factor = info->tensor ? EG_SHAPE_LINE : p->shape;
    eg_status status = EG_OK;
    eg_element *from = NULL, *to = NULL;
    EG_TRY(eg_element_create(list->ctx, factor, p->from, list->from, &from));
    EG_TRY(eg_element_create(list->ctx, factor, p->to, list->to, &to));
    p->rows = to->np;
    p->cols = from->np;
    p->directions = info->tensor ? info->dim : 1;
    EG_TRY(eg_new(list->ctx, (size_t)p->rows * (size_t)p->cols, &p->matrix));
    EG_TRY(eg_element_transfer(from, to, p->matrix));
done:
    eg_element_destroy(&to);
    eg_element_destroy(&from);
    return status;
}

static eg_status find(eg_projections *list, eg_shape shape, int from, int to,
                      const eg_projection **out)
{
    eg_status status = EG_OK;
    eg_projection made = {.shape = shape, .from = from, .to = to};
    for (int i = 0; i < list->count; i++) {
        *out = &list->at[i];
        if ((*out)->shape == shape && (*out)->from == from && (*out)->to == to) return EG_OK;
    }
    if (!list->scratch) EG_TRY(eg_new(list->ctx, 2 * VALUES_MAX, &list->scratch));
    EG_TRY(
        eg_reallocate(list->ctx, (size_t)(list->count + 1) * sizeof *list->at, (void **)&list->at));
    EG_TRY(fill(list, &made));
    list->at[list->count] = made;
    *out = &list->at[list->count++];
    return EG_OK;
done:
    eg_release(list->ctx, &made.matrix);
    return status;
}

/* x [outer][cols][inner] → y [outer][rows][inner] */
static void multiply(const eg_projection *p, int outer, int inner, const double *x, double *y)
{
    for (int o = 0; o < outer; o++)
        for (int row = 0; row < p->rows; row++)
            for (int i = 0; i < inner; i++) {
                double sum = 0;
                for (int col = 0; col < p->cols; col++)
                    sum += p->matrix[row * p->cols + col] * x[(o * p->cols + col) * inner + i];
                y[(o * p->rows + row) * inner + i] = sum;
            }
}

eg_status eg_projections_apply(eg_projections *list, eg_shape shape, int from, int to,
                               const double *values, double *out)
{
    const double *x = values;
    const eg_projection *p = NULL;
    int count = eg_mode_count(shape, from), inner = 1;
    if (list->from == list->to && from == to) {
        memcpy(out, values, (size_t)count * sizeof *out);
        return EG_OK;
    }
    const eg_status status = find(list, shape, from, to, &p);
    if (status != EG_OK) return status;
    double *const a = list->scratch, *const b = a + VALUES_MAX, *y = a;
    for (int d = 0; d < p->directions; d++) {
        multiply(p, count / (inner * p->cols), inner, x, y);
        count = count / p->cols * p->rows;
        inner *= p->rows;
        x = y;
        y = y == a ? b : a;
    }
    memcpy(out, x, (size_t)count * sizeof *x);
    return EG_OK;
}
