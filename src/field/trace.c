/* Tables that turn values of elements into values at the points of their faces, for any pair of
 * shapes and degrees and every way in which two faces can meet. */
#include "field/field.h"

#include <math.h>
#include <string.h>

/* Weights below this are rounding of what is zero: of the values at other nodes than the one that a
 * point is, and of those at nodes that are not on the face or, with tensor bases, not in line with
 * the point. */
#define NEGLIGIBLE 1e-12

/* A table before it is packed: what each point is made of, dense. */
typedef struct dense_table {
    int sides, count, np;
    double *weight; /* [sides][count][np] owned */
} dense_table;

/* The values of an element's basis at points of one of its faces: out [count][np]. `scratch` has
 * room for [count][np] values. Where the face has nodes, all other values count for nothing
 * there. */
static eg_status evaluate_on_face(const eg_element *element, int face, int count, const double *s,
                                  double *scratch, double *out)
{
    const int np = element->np, face_np = element->face_np;
    eg_status status = EG_OK;
    if (element->face_node) {
        EG_TRY(eg_element_evaluate(element->face, count, s, scratch));
        memset(out, 0, (size_t)count * (size_t)np * sizeof *out);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < face_np; j++)
                out[i * np + element->face_node[face * face_np + j]] = scratch[i * face_np + j];
    } else {
        eg_shape_face_points(element->shape, face, count, s, scratch);
        EG_TRY(eg_element_evaluate(element, count, scratch, out));
    }
done:
    return status;
}

/* Fills all sides: [faces][ways], way w seeing the points at s [ways][dim-1][count]. */
static eg_status evaluate_sides(const eg_element *element, int ways, int count, const double *s,
                                dense_table *out)
{
    eg_context *ctx = element->ctx;
    eg_status status = EG_OK;
    double *scratch = NULL;
    const size_t side = (size_t)count * (size_t)element->np;
    const size_t room = (size_t)(element->np > element->dim ? element->np : element->dim);
    *out = (dense_table){.sides = element->faces * ways, .count = count, .np = element->np};
    EG_TRY(eg_new(ctx, (size_t)out->sides * side, &out->weight));
    EG_TRY(eg_new(ctx, (size_t)count * room, &scratch));
    for (int f = 0; f < element->faces; f++)
        for (int w = 0; w < ways; w++)
            EG_TRY(evaluate_on_face(element, f, count, s + w * (element->dim - 1) * count, scratch,
                                    out->weight + (size_t)(f * ways + w) * side));
done:
    eg_release(ctx, &scratch);
    return status;
}

/* The largest number of weights in a row that matter, at least 1; *ones tells whether all rows are
 * one weight of 1. */
static int count_terms(const dense_table *dense, bool *ones)
{
    int terms = 1;
    *ones = true;
    for (size_t row = 0; row < (size_t)dense->sides * (size_t)dense->count; row++) {
        const double *weight = dense->weight + row * (size_t)dense->np;
        int here = 0;
        for (int j = 0; j < dense->np; j++)
            if (fabs(weight[j]) > NEGLIGIBLE) {
                here++;
                *ones = *ones && fabs(weight[j] - 1.0) <= NEGLIGIBLE;
            }
        *ones = *ones && here == 1;
        if (here > terms) terms = here;
    }
    return terms;
}

/* Packs the weights that matter and uploads them. Rows with fewer repeat their last node. */
static eg_status pack(eg_device *device, const dense_table *dense, eg_trace_table *out)
{
    eg_context *ctx = eg_device_context(device);
    eg_status status = EG_OK;
    bool ones = false;
    int32_t *node = NULL;
    double *weight = NULL;
    const size_t rows = (size_t)dense->sides * (size_t)dense->count;
    out->terms = count_terms(dense, &ones);
    const size_t terms = (size_t)out->terms;
    EG_TRY(eg_new(ctx, rows * terms, &node));
    EG_TRY(eg_new(ctx, rows * terms, &weight));
    for (size_t row = 0; row < rows; row++) {
        const double *from = dense->weight + row * (size_t)dense->np;
        size_t k = row * terms;
        for (int j = 0; j < dense->np; j++)
            if (fabs(from[j]) > NEGLIGIBLE) {
                node[k] = j;
                weight[k++] = from[j];
            }
        for (; k < (row + 1) * terms; k++)
            node[k] = k > row * terms ? node[k - 1] : 0;
    }
    EG_TRY(eg_buffer_create(device, EG_I32, rows * terms, &out->node));
    EG_TRY(eg_buffer_upload(out->node, 0, rows * terms, node));
    if (!ones) {
        EG_TRY(eg_buffer_create(device, EG_F64, rows * terms, &out->weight));
        EG_TRY(eg_buffer_upload(out->weight, 0, rows * terms, weight));
    }
done:
    eg_release(ctx, &weight);
    eg_release(ctx, &node);
    return status;
}

static eg_status make_table(eg_device *device, const eg_element *element, int ways, int count,
                            const double *s, eg_trace_table *out)
{
    dense_table dense = {0};
    eg_status status = EG_OK;
    EG_TRY(evaluate_sides(element, ways, count, s, &dense));
    EG_TRY(pack(device, &dense, out));
done:
    eg_release(element->ctx, &dense.weight);
    return status;
}

eg_status eg_trace_create(eg_device *device, const eg_element *mine, const eg_element *other,
                          eg_trace *out)
{
    eg_context *ctx = eg_device_context(device);
    const eg_shape_info *info = eg_shape_get_info(mine->shape);
    const eg_shape_info *other_info = eg_shape_get_info(other->shape);
    eg_status status = EG_OK;
    double *s = NULL;
    *out = (eg_trace){0};
    if (mine->dim < 2 || mine->dim != other->dim || info->face_shape != other_info->face_shape)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "a %s and a %s have no faces of the same shape",
                       info->name, other_info->name);
    const eg_element *finer = mine->degree >= other->degree ? mine : other;
    const int ways = eg_orientation_count(info->face_shape), count = finer->face_np;
    EG_TRY(eg_new(ctx, (size_t)(ways * (mine->dim - 1) * count), &s));
    for (int o = 0; o < ways; o++)
        eg_orientation_points(info->face_shape, o, count, finer->face_r,
                              s + o * (mine->dim - 1) * count);
    out->count = count;
    EG_TRY(make_table(device, other, ways, count, s, &out->other));
    EG_TRY(make_table(device, mine, 1, count, finer->face_r, &out->own));
done:
    if (status != EG_OK) eg_trace_free(out);
    eg_release(ctx, &s);
    return status;
}

void eg_trace_free(eg_trace *trace)
{
    eg_buffer_destroy(&trace->own.weight);
    eg_buffer_destroy(&trace->own.node);
    eg_buffer_destroy(&trace->other.weight);
    eg_buffer_destroy(&trace->other.node);
    *trace = (eg_trace){0};
}
