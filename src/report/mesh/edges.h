/* The edges of a mesh in the plane as lines and Bézier curves; private to the files that draw
 * meshes. */
#ifndef EG_REPORT_MESH_EDGES_H
#define EG_REPORT_MESH_EDGES_H

#include "report/mesh/drawing.h"

typedef struct eg_edge_basis {
    int count;         /* nodes of an edge */
    double *value;     /* [samples][count] points of an edge, by its nodes; owned */
    double *slope;     /* [samples][count] derivatives by its coordinate in [-1, 1]; owned */
    eg_element *shape; /* owned; NULL: the mesh is straight */
} eg_edge_basis;

/* What it takes to find the edges of a mesh. */
typedef struct eg_edges {
    const eg_mesh *mesh; /* not owned */
    eg_edge_basis basis[EG_SHAPE_COUNT];
    double *nodes; /* [node_stride][2] of one element; owned */
} eg_edges;

/* Free it also after a failure. */
eg_status eg_edges_create(const eg_mesh *mesh, eg_edges *edges);
void eg_edges_free(eg_edges *edges);

/* Draws an edge from its first vertex to its second, from where the pen is or (`move`) from
 * there. */
eg_status eg_edges_draw(const eg_edges *edges, eg_canvas *canvas, const eg_plane_view *view,
                        int32_t element, int face, bool move);

/* False of an edge that lies outside of the view, however curved. */
bool eg_edges_in_view(const eg_edges *edges, const eg_plane_view *view, int32_t element, int face);

#endif
