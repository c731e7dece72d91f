/* Fields at one time in the memory of the host, free of device, ranks and case: what is written as
 * VTU, read from it or from a checkpoint, and drawn.
 *
 * Each element has nodes of its own: those of the basis EG_BASIS_EQUIDISTANT of its degree in this
 * library's order, at which both its coordinates and its values stand. The degree is the larger of
 * that of the mapping and that of the values, so that both polynomials are exactly what they were. An
 * element of the mesh where a field consists of cells (EG_BASIS_CELLS) becomes as many elements, on
 * each of which that field is the constant it is. */
#ifndef EG_REPORT_SNAPSHOT_H
#define EG_REPORT_SNAPSHOT_H

#include "case/expression.h"
#include "report/state.h"

typedef struct eg_snapshot_array {
    char *name;     /* owned */
    char *unit;     /* owned; NULL: none */
    double *values; /* [node_count] owned */
} eg_snapshot_array;

typedef struct eg_snapshot {
    eg_context *ctx; /* not owned */
    int dim;         /* 2 or 3 */
    int64_t step;
    double time;
    int32_t element_count;
    uint8_t *shape;        /* [element_count] eg_shape; owned */
    uint8_t *degree;       /* [element_count] of the nodes, ≥ 1; owned */
    uint8_t *value_degree; /* [element_count] the largest of the values, ≤ degree; owned; NULL: not
                              known */
    int64_t *global;       /* [element_count] number in the mesh, the same for all cells of an
                              element; ascending but where pieces of several ranks were read;
                              owned */
    int64_t *first_node;   /* [element_count + 1] owned */
    double *x;             /* [node_count][dim] owned */
    int array_count;
    eg_snapshot_array *arrays; /* [array_count] owned */
} eg_snapshot;

void eg_snapshot_destroy(eg_snapshot **snapshot);

/* A quantity that is computed from fields: an expression whose variables are x, y, z, t and then the
 * components of all fields of the state that are not kept_only, in their order. */
typedef struct eg_snapshot_extra {
    const char *name; /* not owned */
    const eg_expression *expression;
} eg_snapshot_extra;

/* This rank's own elements: all components of the state's fields that are not kept_only, and the
 * extras by their values at the nodes. */
eg_status eg_snapshot_create(const eg_state *state, const eg_snapshot_extra *extras,
                             int extra_count, eg_snapshot **out);

/* Adds an array that is computed from those there; variables as above, with the arrays in their order. */
eg_status eg_snapshot_add(eg_snapshot *snapshot, const eg_snapshot_extra *extra);

/* The array of this name, -1 if there is none. */
int eg_snapshot_find(const eg_snapshot *snapshot, const char *name);

/* --- for who reads files --------------------------------------------------------------------- */

/* A field's values in the memory of the host; nothing is owned. */
typedef struct eg_snapshot_values {
    eg_basis basis;
    int components;
    const char *const *names; /* [components] */
    const char *const *units; /* [components] each may be NULL; NULL: no component has one */
    const uint8_t *degree;    /* [element_count] of the mesh's own elements */
    const double *values;     /* [element][component][np] in the order of the mesh */
} eg_snapshot_values;

/* The mesh's own elements with these fields. On an element fields have equally many cells, if any:
 * others are EG_ERROR_UNSUPPORTED. */
eg_status eg_snapshot_create_values(const eg_mesh *mesh, int64_t step, double time,
                                    const eg_snapshot_values *fields, int count, eg_snapshot **out);

/* By hand: allocate; fill shape, degree and global; place the nodes, which fills first_node and
 * allocates x; append arrays, whose values are zero at first. Two arrays of one name are
 * EG_ERROR_INPUT. */
eg_status eg_snapshot_allocate(eg_context *ctx, int dim, int32_t element_count, eg_snapshot **out);
eg_status eg_snapshot_place_nodes(eg_snapshot *snapshot);
eg_status eg_snapshot_append(eg_snapshot *snapshot, const char *name, const char *unit,
                             double **values);

#endif
