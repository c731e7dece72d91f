/* One number for every node of a mesh that is written for Gmsh; private to room `mesh`. */
#ifndef EG_GMSH_NUMBER_H
#define EG_GMSH_NUMBER_H

#include "mesh/gmsh/nodes.h"
#include "mesh/mesh.h"

/* A node by the nodes at the vertices that hold it: it lies at the sum of weight × vertex over
 * the sum of the weights. At most the four vertices of a face hold a node that elements share. */
typedef struct eg_gmsh_key {
    int32_t vertex[EG_MAX_FACE_VERTICES]; /* ascending; after the last: -1 */
    uint16_t weight[EG_MAX_FACE_VERTICES];
} eg_gmsh_key;

typedef struct eg_gmsh_slot {
    eg_gmsh_key key;
    int64_t node; /* 1 + its number; 0: free */
} eg_gmsh_slot;

typedef struct eg_gmsh_layout eg_gmsh_layout;

/* The equidistant nodes of a whole mesh. Those on vertices, edges and faces belong to all
 * elements there. Nodes at vertices come first, in the order of the vertices. Where joined faces
 * lie upon each other, as at the seam of a ring, they have the same nodes. */
typedef struct eg_gmsh_numbering {
    const eg_mesh *mesh; /* not owned */
    int order;
    int64_t count;
    int32_t *vertex; /* [vertex_count] its node; owned */
    double *x;       /* [count][dim]; owned */
    int stride;      /* nodes of an element, the largest of the shapes present */
    int64_t *nodes;  /* [elements][stride] in Gmsh's order; owned */
    eg_gmsh_layout *layouts[EG_SHAPE_COUNT]; /* of the shapes present and of their faces; owned */
    eg_gmsh_slot *slots; /* [slot_mask + 1] of shared nodes but vertices; owned */
    uint64_t slot_mask, slots_used;
} eg_gmsh_numbering;

/* Numbers the nodes in the order of `elements` [element_count]. On failure *numbering holds
 * nothing. */
eg_status eg_gmsh_number(const eg_mesh *mesh, const int32_t *elements,
                         eg_gmsh_numbering *numbering);
void eg_gmsh_numbering_free(eg_gmsh_numbering *numbering);

/* The nodes of an element in Gmsh's order; borrowed. */
const int64_t *eg_gmsh_element_nodes(const eg_gmsh_numbering *numbering, int32_t element,
                                     int *count);

typedef struct eg_gmsh_face {
    int32_t element;
    int face;
} eg_gmsh_face;

/* The nodes at a face's vertices, and at those of the face that it is joined to in the same order:
 * [EG_MAX_FACE_VERTICES]. They differ where the two faces lie apart. Returns how many there are. */
int eg_gmsh_face_vertices(const eg_gmsh_numbering *numbering, const eg_gmsh_face *face,
                          int32_t *vertices);
int eg_gmsh_joined_vertices(const eg_gmsh_numbering *numbering, const eg_gmsh_face *face,
                            int32_t *vertices);

/* All nodes of the face with these nodes at its vertices, in Gmsh's order for the face's own shape:
 * [EG_GMSH_FACE_NODES_MAX]. Returns how many there are. */
#define EG_GMSH_FACE_NODES_MAX 121 /* of the quadrilateral of order 10 */
int eg_gmsh_face_nodes(const eg_gmsh_numbering *numbering, eg_shape face_shape,
                       const int32_t *vertices, int64_t *nodes);

#endif
