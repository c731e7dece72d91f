/* Gmsh's element types and the order of their nodes; private to room `mesh`. */
#ifndef EG_GMSH_NODES_H
#define EG_GMSH_NODES_H

#include "element/element.h"

#define EG_GMSH_ORDER_MAX 10
#define EG_GMSH_NODES_MAX 1000 /* of one element: the hexahedron of order 9 */

/* Gmsh's number of the shape's complete Lagrange element of an order, 0 if Gmsh has none. */
int eg_gmsh_type(eg_shape shape, int order);

/* Where the nodes of that element lie, in Gmsh's order: node k at r = -1 + 2 lattice[k][0] /
 * order and so on, with unused coordinates zero. Returns their number. Our vertices are numbered
 * as Gmsh's. The order is one for which there is a type. */
int eg_gmsh_nodes(eg_shape shape, int order, int8_t lattice[][3]);

#endif
