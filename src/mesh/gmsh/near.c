/* Points by place: a hash table of the cells of a grid. A cell is a few tolerances wide, so that it
 * holds few points that are more than the tolerance apart, and a search looks into few cells. */
#include "mesh/gmsh/near.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TOLERANCES 4.0 /* in the width of a cell */

uint64_t eg_cell_hash(int dim, const int64_t *cell, uint64_t mask)
{
    uint64_t hash = 0;
    for (int d = 0; d < dim; d++) {
        hash = (hash ^ (uint64_t)cell[d]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash & mask;
}

eg_status eg_near_create(eg_context *ctx, int dim, int32_t count, const double *x,
                         const double *low, double tolerance, eg_near *near)
{
    eg_status status = EG_OK;
    *near = (eg_near){.ctx = ctx, .dim = dim, .x = x, .tolerance = tolerance, .mask = 15};
    memcpy(near->low, low, (size_t)dim * sizeof *low);
    near->width = fmax(TOLERANCES * tolerance, DBL_MIN);
    while (near->mask < (uint64_t)count)
        near->mask = 2 * near->mask + 1;
    EG_TRY(eg_new(ctx, (size_t)near->mask + 1, &near->table));
    EG_TRY(eg_new(ctx, (size_t)count, &near->next));
    memset(near->table, 0xff, ((size_t)near->mask + 1) * sizeof *near->table);
done:
    return status;
}

void eg_near_free(eg_near *near)
{
    if (!near->ctx) return;
    eg_release(near->ctx, &near->next);
    eg_release(near->ctx, &near->table);
}

/* The number of the cell that holds coordinate d of a point that is moved by `shift`. */
static int64_t cell_of(const eg_near *near, int32_t i, int d, double shift)
{
    double x = near->x[(int64_t)i * near->dim + d];
    return (int64_t)fmax(fmin(floor((x - near->low[d] + shift) / near->width), 0x1p62), -0x1p62);
}

void eg_near_add(eg_near *near, int32_t i)
{
    int64_t cell[3];
    for (int d = 0; d < near->dim; d++)
        cell[d] = cell_of(near, i, d, 0.0);
    uint64_t place = eg_cell_hash(near->dim, cell, near->mask);
    near->next[i] = near->table[place];
    near->table[place] = i;
}

static bool is_near(const eg_near *near, int32_t i, int32_t j)
{
    double sum = 0.0;
    for (int d = 0; d < near->dim; d++) {
        double difference =
            near->x[(int64_t)i * near->dim + d] - near->x[(int64_t)j * near->dim + d];
        sum = hypot(sum, difference);
    }
    return sum <= near->tolerance;
}

int32_t eg_near_find(const eg_near *near, int32_t i)
{
    int64_t first[3] = {0}, last[3] = {0}, cell[3];
    for (int d = 0; d < near->dim; d++) {
        first[d] = cell_of(near, i, d, -near->tolerance);
        last[d] = cell_of(near, i, d, near->tolerance);
    }
    for (cell[2] = first[2]; cell[2] <= last[2]; cell[2]++) {
        for (cell[1] = first[1]; cell[1] <= last[1]; cell[1]++) {
            for (cell[0] = first[0]; cell[0] <= last[0]; cell[0]++) {
                int32_t j = near->table[eg_cell_hash(near->dim, cell, near->mask)];
                while (j >= 0 && !is_near(near, i, j))
                    j = near->next[j];
                if (j >= 0) return j;
            }
        }
    }
    return -1;
}
