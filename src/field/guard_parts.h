/* What creating a guard and looking with it share. */
#ifndef EG_FIELD_GUARD_PARTS_H
#define EG_FIELD_GUARD_PARTS_H

#include "field/function.h"
#include "field/guard.h"

/* Tiles whose details are looked at together. */
#define EG_GUARD_DETAIL_TILES 128

/* What a guard has for each group. */
typedef struct eg_guard_group {
    eg_kernel *look;
    eg_kernel *largest, *detail, *load; /* made when first needed */
    eg_points *nodes;                   /* modal bases, or coordinates are needed; else NULL */
    eg_product interpolation;           /* modal bases: to the nodes */
    int parts;                          /* of the nodes of an element, for `look` and `largest` */
    int64_t batch;                      /* tiles */
    int64_t first_row;                  /* of its scores among those of all groups */
} eg_guard_group;

/* What one rank has found. */
typedef struct eg_guard_candidate {
    double which; /* -1: nothing */
    double value, grown, x[3];
    int64_t global;
} eg_guard_candidate;

struct eg_guard {
    eg_space *space; /* not owned */
    int components;
    eg_type type;
    bool modal, needs_x;
    eg_text source;         /* of its kernels */
    eg_guard_group *groups; /* [group_count] */
    size_t scores;
    eg_buffer *score, *result, *limit, *found;
    eg_buffer *x, *values, *scratch[2], *u; /* of a batch; u: coefficients of f32 as f64 */
    eg_reducer *reducer;
    double *limits;            /* [2][components] as the kernels have them */
    double *host;              /* found [EG_GUARD_DETAIL_TILES][3][lanes] */
    eg_guard_candidate *ranks; /* [ranks] */
};

/* Makes a kernel of guard.k.c for a group if it is not there yet. */
eg_status eg_guard_find_kernel(const eg_guard *guard, int group, const char *entry,
                               eg_kernel **out);

#endif
