/* The surface of a mesh in space, cut into small cells as they are seen; private to the files that
 * draw meshes. */
#ifndef EG_REPORT_MESH_CELLS_H
#define EG_REPORT_MESH_CELLS_H

#include "report/mesh/drawing.h"

/* A triangle or quadrilateral on the canvas. */
typedef struct eg_cell {
    double p[4][3];   /* x, y, how near; around it */
    double light[4];  /* 0 to 1 at the corners */
    double gap;       /* pixels, how large its face is */
    double near;      /* of its centre */
    double face_near; /* the mean of all cells of its face */
    int32_t face;     /* a number of its own */
    int paint;
    uint8_t corners;
    uint8_t edges;      /* bit i: the side from corner i to the next is an edge of the face */
    bool sampled, seen; /* for those who draw it */
} eg_cell;

/* Finds the cells that look at who looks, in the paints of boundaries, or of their elements'
 * groups. The caller releases *cells [count] with eg_release, also after a failure. */
eg_status eg_mesh_find_cells(const eg_mesh_drawing *d, const eg_space_view *view, bool by_group,
                             eg_cell **cells, size_t *count);

#endif
