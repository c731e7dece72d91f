/* Polynomials in Bernstein form: products, values, and the halving of their domain by the algorithm
 * of de Casteljau [farin2002]. */
#include "mesh/bernstein.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The number of exponents a of the row (·, b, c); none if there is no such row. */
static int row_length(const eg_bernstein *space, int b, int c)
{
    bool tensor = eg_shape_get_info(space->shape)->tensor;
    return tensor ? space->degree[0] + 1 : space->degree[0] + 1 - b - c;
}

static int row_number(const eg_bernstein *space, int b, int c)
{
    return c * (space->degree[1] + 1) + b;
}

int eg_bernstein_index(const eg_bernstein *space, const int e[3])
{
    assert(eg_bernstein_has(space, e));
    return space->row[row_number(space, e[1], e[2])] + e[0];
}

bool eg_bernstein_has(const eg_bernstein *space, const int e[3])
{
    for (int d = 0; d < 3; d++) {
        if (e[d] < 0 || e[d] > space->degree[d]) return false;
    }
    return e[0] < row_length(space, e[1], e[2]);
}

int eg_bernstein_corner(const eg_bernstein *space, int vertex)
{
    const eg_shape_info *info = eg_shape_get_info(space->shape);
    int e[3] = {0};
    for (int d = 0; d < space->dim; d++) {
        if (info->r[vertex][d] > 0.0) e[d] = space->degree[d];
    }
    return eg_bernstein_index(space, e);
}

static double binomial(int n, int k)
{
    double value = 1.0;
    for (int i = 1; i <= k; i++)
        value = value * (n - k + i) / i; /* a whole number every time */
    return value;
}

/* How often the powers of exponents e occur in the product of the sums of coordinates. */
static double weight_of(const eg_bernstein *space, const int e[3])
{
    const eg_shape_info *info = eg_shape_get_info(space->shape);
    double weight = 1.0;
    int left = space->degree[0];
    for (int d = 0; d < space->dim; d++) {
        weight *= binomial(info->tensor ? space->degree[d] : left, e[d]);
        left -= e[d];
    }
    return weight;
}

eg_status eg_bernstein_create(eg_context *ctx, eg_shape shape, const int degree[3],
                              eg_bernstein *space)
{
    eg_status status = EG_OK;
    *space = (eg_bernstein){.ctx = ctx, .shape = shape, .dim = eg_shape_get_info(shape)->dim};
    for (int d = 0; d < space->dim; d++)
        space->degree[d] = degree[d];
    EG_TRY(
        eg_new(ctx, (size_t)(space->degree[1] + 1) * (size_t)(space->degree[2] + 1), &space->row));
    for (int c = 0; c <= space->degree[2]; c++) {
        for (int b = 0; b <= space->degree[1]; b++) {
            int length = row_length(space, b, c);
            space->row[row_number(space, b, c)] = space->count;
            if (length > 0) space->count += length;
        }
    }
    EG_TRY(eg_new(ctx, (size_t)space->count, &space->weight));
    double *weight = space->weight;
    int e[3] = {0};
    for (e[2] = 0; e[2] <= space->degree[2]; e[2]++) {
        for (e[1] = 0; e[1] <= space->degree[1]; e[1]++) {
            for (e[0] = 0; e[0] < row_length(space, e[1], e[2]); e[0]++)
                *weight++ = weight_of(space, e);
        }
    }
done:
    return status;
}

void eg_bernstein_destroy(eg_bernstein *space)
{
    if (!space->ctx) return;
    eg_release(space->ctx, &space->weight);
    eg_release(space->ctx, &space->row);
}

void eg_bernstein_evaluate(const eg_bernstein *space, const double *r, double *values)
{
    bool tensor = eg_shape_get_info(space->shape)->tensor;
    double first = 1.0; /* the barycentric coordinate of vertex 0 */
    for (int d = 0; d < space->dim; d++)
        first -= 0.5 * (1.0 + r[d]);
    int e[3];
    for (e[2] = 0; e[2] <= space->degree[2]; e[2]++) {
        for (e[1] = 0; e[1] <= space->degree[1]; e[1]++) {
            for (e[0] = 0; e[0] < row_length(space, e[1], e[2]); e[0]++) {
                double value = 1.0;
                int left = space->degree[0];
                for (int d = 0; d < space->dim; d++) {
                    value *= pow(0.5 * (1.0 + r[d]), e[d]);
                    if (tensor) value *= pow(0.5 * (1.0 - r[d]), space->degree[d] - e[d]);
                    left -= e[d];
                }
                if (!tensor) value *= pow(first, left);
                int i = eg_bernstein_index(space, e);
                values[i] = space->weight[i] * value;
            }
        }
    }
}

void eg_bernstein_multiply(const eg_bernstein *space_a, const double *a,
                           const eg_bernstein *space_b, const double *b, double sign,
                           const eg_bernstein *space_c, double *c)
{
    for (int ac = 0; ac <= space_a->degree[2]; ac++) {
        for (int ab = 0; ab <= space_a->degree[1]; ab++) {
            const double *row_a = &a[space_a->row[row_number(space_a, ab, ac)]];
            int length_a = row_length(space_a, ab, ac);
            for (int bc = 0; bc <= space_b->degree[2]; bc++) {
                for (int bb = 0; bb <= space_b->degree[1]; bb++) {
                    const double *row_b = &b[space_b->row[row_number(space_b, bb, bc)]];
                    int length_b = row_length(space_b, bb, bc);
                    if (length_a <= 0 || length_b <= 0) continue;
                    double *row_c = &c[space_c->row[row_number(space_c, ab + bb, ac + bc)]];
                    for (int i = 0; i < length_a; i++) {
                        for (int j = 0; j < length_b; j++)
                            row_c[i + j] += sign * row_a[i] * row_b[j];
                    }
                }
            }
        }
    }
}

/* --- halving ---------------------------------------------------------------------------------- */

/* The line that starts at the exponents `start` and goes from one corner's exponent to the other's:
 * writes its coefficients and says how many they are. */
static int follow_line(const eg_bernstein *space, const int start[3], int low, int high, int *index)
{
    int e[3] = {start[0], start[1], start[2]}, length = 0;
    /* Simplices: the exponent of vertex v > 0 is e[v - 1]. Tensor shapes: high is axis + 1. */
    for (; eg_bernstein_has(space, e); length++) {
        index[length] = eg_bernstein_index(space, e);
        e[high - 1]++;
        if (low > 0) e[low - 1]--;
    }
    return length;
}

/* Fills the lines of a direction, which lead from vertex `low` of a simplex to vertex `high`, or
 * along axis high - 1 of a tensor shape (low is 0). */
static eg_status fill_lines(const eg_bernstein *space, int low, int high,
                            eg_bernstein_direction *direction)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)space->count, &direction->index));
    EG_TRY(eg_new(space->ctx, (size_t)space->count, &direction->length));
    int *index = direction->index, e[3];
    for (e[2] = 0; e[2] <= space->degree[2]; e[2]++) {
        for (e[1] = 0; e[1] <= space->degree[1]; e[1]++) {
            for (e[0] = 0; e[0] < row_length(space, e[1], e[2]); e[0]++) {
                if (e[high - 1] > 0) continue;
                int length = follow_line(space, e, low, high, index);
                direction->length[direction->line_count++] = length;
                index += length;
            }
        }
    }
    assert(index == direction->index + space->count);
done:
    return status;
}

/* The pairs of corners along an axis of a tensor shape. */
static void find_pairs(const eg_shape_info *info, int axis, eg_bernstein_direction *direction)
{
    for (int v = 0; v < info->vertices; v++) {
        for (int w = 0; w < info->vertices; w++) {
            bool along = info->r[v][axis] < info->r[w][axis];
            for (int d = 0; d < info->dim; d++)
                along = along && (d == axis || info->r[v][d] == info->r[w][d]);
            if (!along) continue;
            int *pair = direction->pair[direction->pair_count++];
            pair[0] = v;
            pair[1] = w;
        }
    }
}

eg_status eg_bernstein_find_directions(const eg_bernstein *space,
                                       eg_bernstein_direction *directions, int *count)
{
    eg_status status = EG_OK;
    const eg_shape_info *info = eg_shape_get_info(space->shape);
    *count = 0;
    for (int high = 1; high <= space->dim; high++) {
        for (int low = 0; low < (info->tensor ? 1 : high); low++) {
            eg_bernstein_direction *direction = &directions[(*count)++];
            *direction = (eg_bernstein_direction){0};
            if (info->tensor) {
                find_pairs(info, high - 1, direction);
            } else {
                direction->pair_count = 1;
                direction->pair[0][0] = low;
                direction->pair[0][1] = high;
            }
            EG_TRY(fill_lines(space, low, high, direction));
        }
    }
done:
    return status;
}

void eg_bernstein_free_directions(eg_context *ctx, eg_bernstein_direction *directions)
{
    for (int i = 0; i < EG_BERNSTEIN_DIRECTIONS; i++) {
        eg_release(ctx, &directions[i].index);
        eg_release(ctx, &directions[i].length);
    }
}

double eg_bernstein_bend(const eg_bernstein_direction *direction, const double *coefficients)
{
    double most = 0.0;
    const int *index = direction->index;
    for (int l = 0; l < direction->line_count; l++) {
        for (int i = 1; i + 1 < direction->length[l]; i++) {
            double bend = coefficients[index[i - 1]] - 2.0 * coefficients[index[i]] +
                          coefficients[index[i + 1]];
            most = fmax(most, fabs(bend));
        }
        index += direction->length[l];
    }
    return most;
}

double eg_bernstein_variation(const eg_bernstein_direction *direction, const double *coefficients)
{
    double most = 0.0;
    const int *index = direction->index;
    for (int l = 0; l < direction->line_count; l++) {
        double low = coefficients[index[0]], high = low;
        for (int i = 1; i < direction->length[l]; i++) {
            double value = coefficients[index[i]];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        most = high - low > most ? high - low : most;
        index += direction->length[l];
    }
    return most;
}

void eg_bernstein_halve(const eg_bernstein_direction *direction, double *coefficients, double *high,
                        double *line)
{
    const int *index = direction->index;
    for (int l = 0; l < direction->line_count; l++) {
        int length = direction->length[l];
        for (int i = 0; i < length; i++)
            line[i] = coefficients[index[i]];
        for (int step = 0; step < length; step++) {
            coefficients[index[step]] = line[0];
            high[index[length - 1 - step]] = line[length - 1 - step];
            for (int i = 0; i + 1 < length - step; i++)
                line[i] = 0.5 * (line[i] + line[i + 1]);
        }
        index += length;
    }
}
