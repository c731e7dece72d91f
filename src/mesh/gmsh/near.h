/* Points by place: which of them lie where, in constant time; private to room `mesh`. */
#ifndef EG_GMSH_NEAR_H
#define EG_GMSH_NEAR_H

#include "base/base.h"

/* A hash table of cells a few tolerances wide. Points that were added lie more than the tolerance
 * apart, or a search takes longer than it should. */
typedef struct eg_near {
    eg_context *ctx; /* not owned */
    int dim;
    const double *x; /* [points][dim]; not owned */
    double low[3], tolerance, width;
    int32_t *table; /* [mask + 1] the last point that was added to each place, -1: none; owned */
    int32_t *next;  /* [count] the one before it in the same place; owned */
    uint64_t mask;
} eg_near;

/* No points of x [count][dim] are in it yet; `low` is near those that will be. */
eg_status eg_near_create(eg_context *ctx, int dim, int32_t count, const double *x,
                         const double *low, double tolerance, eg_near *near);
void eg_near_free(eg_near *near);

/* A point within the tolerance of point i that was added, -1 if there is none. */
int32_t eg_near_find(const eg_near *near, int32_t i);
void eg_near_add(eg_near *near, int32_t i);

/* A number in [0, mask] for the cell of a grid. */
uint64_t eg_cell_hash(int dim, const int64_t *cell, uint64_t mask);

#endif
