/* Numbers of the unknowns of a whole mesh, for matrices that every rank has. */
#ifndef EG_ELLIPTIC_UNKNOWNS_H
#define EG_ELLIPTIC_UNKNOWNS_H

#include "field/field.h"

/* The same for any number of ranks, near each other where elements are. */
typedef struct eg_unknowns {
    eg_context *ctx; /* not owned */
    int32_t count;   /* on all ranks */
    int np;          /* of an element */
    int32_t *number; /* [elements + ghosts][np] owned */
} eg_unknowns;

/* All elements of the space have one shape and degree. Each node of an element is an unknown of
 * its own, or, `continuous`, for degree 1 in the basis EG_BASIS_LOBATTO, one with the nodes of
 * other elements at the same vertex, also through periodic faces (and only through faces:
 * elements that touch in a point alone do not share it).
 *
 * jumps [elements][face_stride] of own elements tells where what is behind a face is far stiffer (1) or
 * far softer (-1) than what is before it, or neither (0); NULL: nowhere. Two bodies that are
 * stiffer than all around them do not share a vertex that they both touch, and what is softer there has its own,
 * for each body can move alone. Where there is one such body it shares its vertices with all around. Neighbours must
 * agree on jumps. Collective; ranks agree on whether it has worked. */
eg_status eg_unknowns_create(const eg_space *space, bool continuous, const int8_t *jumps,
                             eg_unknowns **out);
void eg_unknowns_destroy(eg_unknowns **unknowns);

/* Where a node of an element or ghost stands in the data of fields like this, of one component. */
size_t eg_node_place(const eg_field *like, int32_t element, int node);

#endif
