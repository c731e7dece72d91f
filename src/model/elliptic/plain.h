/* Between values at the nodes of elements, in tiles, and those at the unknowns of a matrix. */
#ifndef EG_ELLIPTIC_PLAIN_H
#define EG_ELLIPTIC_PLAIN_H

#include "model/elliptic/unknowns.h"

/* P gives each node the value of its unknown, Pᵀ each unknown the sum of its nodes on this rank. */
typedef struct eg_plain eg_plain;

/* Fields of the space are of type `real`, plain vectors (eg_vectors_create_plain, of as many values as
 * there are unknowns) of type `plain`: EG_F64 or EG_F32 each. Unknowns are not kept. Collective;
 * ranks agree on whether it has worked. */
eg_status eg_plain_create(eg_space *space, eg_type real, const eg_unknowns *unknowns, eg_type plain,
                          eg_plain **out);
void eg_plain_destroy(eg_plain **plain);

/* to = Pᵀ b; x = P from; x += P from. b and x are data of fields with one component, of which
 * x has own elements changed and no ghosts. Allocate nothing. */
eg_status eg_plain_gather(eg_plain *plain, eg_buffer *b, eg_buffer *to);
eg_status eg_plain_scatter(eg_plain *plain, eg_buffer *from, eg_buffer *x);
eg_status eg_plain_add(eg_plain *plain, eg_buffer *from, eg_buffer *x);

#endif
