/* The boundary faces of a space of affine triangles, numbered and laid out in tiles of their own, and
 * what a case gives there: values at the nodes of these faces, that of any time. */
#ifndef EG_INS_FACES_H
#define EG_INS_FACES_H

#include "model/elliptic/operator.h"

/* What holds for the velocity at a boundary, as in sides.k.h. */
typedef enum eg_ins_kind {
    EG_INS_GIVEN,   /* it is given */
    EG_INS_OUTFLOW, /* pressure and viscous traction are given */
    EG_INS_SLIP     /* nothing passes, and there is no friction */
} eg_ins_kind;

/* Arrays as sides.k.h and given.k.h describe them. */
typedef struct eg_ins_faces {
    eg_space *space;   /* not owned */
    int32_t count;     /* of this rank */
    int64_t tiles;     /* that they fill; at least 1 */
    int lanes, nodes;  /* of the space; of a face */
    int points;        /* of a face, at which expressions are evaluated */
    int32_t *boundary; /* [tiles*lanes] of the mesh, padding repeats; owned */
    double *normal;    /* [count][2] outward unit normals; owned */
    eg_buffer *beyond; /* owned, as all that follows */
    eg_buffer *kinds;
    eg_buffer *slots, *sides; /* inflow.k.c */
    eg_buffer *x, *boundaries;
    eg_operator *project; /* from points to nodes */
} eg_ins_faces;

/* kinds [boundaries of the mesh]. */
eg_status eg_ins_faces_create(eg_space *space, const eg_ins_kind *kinds, eg_ins_faces **out);
void eg_ins_faces_destroy(eg_ins_faces **faces);

/* A number for each boundary [boundaries] as one for each face: -1, then those of faces. */
eg_status eg_ins_faces_spread(const eg_ins_faces *faces, const int32_t *of_boundary,
                              eg_buffer **out);

/* Values on boundary faces, with `components` components. */
typedef struct eg_ins_data eg_ins_data;

/* expressions [boundaries][components]; NULL ones are 0. They must outlive the data. */
eg_status eg_ins_data_create(const eg_ins_faces *faces, int components,
                             const eg_expression *const *expressions, eg_ins_data **out);
void eg_ins_data_destroy(eg_ins_data **data);

/* Becomes Σ share[k] g(time[k]) of up to EG_INS_TIMES times; asked for the same again it does
 * nothing. Allocates nothing. */
#define EG_INS_TIMES 4
eg_status eg_ins_data_set(eg_ins_data *data, int count, const double *time, const double *share);
/* [tiles][components][nodes][lanes]; borrowed. */
eg_buffer *eg_ins_data_values(const eg_ins_data *data);
int eg_ins_data_rows(const eg_ins_data *data); /* components * nodes */

#endif
