/* Where the nodes of Lagrange bases lie. */
#ifndef EG_ELEMENT_NODES_H
#define EG_ELEMENT_NODES_H

#include "element/element.h"

/* The nodes r [dim][np] of a nodal basis, or the centres of cells. `host` is the shape whose element asks: the shape itself,
 * or EG_SHAPE_TET for a triangle that is the face of one, where warp & blend has another
 * parameter. */
eg_status eg_nodes_place(eg_context *ctx, eg_shape shape, eg_shape host, int degree, eg_basis basis,
                         double *r);

#endif
