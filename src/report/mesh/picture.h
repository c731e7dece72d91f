/* Pictures of meshes, with their boundaries coloured. */
#ifndef EG_MESH_PICTURE_H
#define EG_MESH_PICTURE_H

#include "mesh/mesh.h"
#include "report/draw/canvas.h"

enum { EG_PICTURE_WIDTH_LEAST = 240, EG_PICTURE_WIDTH_MOST = 4096 };

/* Zero means the default. */
typedef struct eg_mesh_picture_options {
    eg_picture_format format;
    int width;         /* in pixels; 0: 900 */
    const char *title; /* UTF-8, not owned; NULL: "mesh" */
    bool dark;         /* PNG: on black; an SVG follows the scheme of its reader */
    const bool
        *bad; /* [element_count] by global number: elements that are marked as not valid; NULL:
                          none; not owned */
} eg_mesh_picture_options;

/* Adds the picture of a whole mesh to `out`. In the plane every element is drawn, curved as its
 * mapping is, and every boundary in its colour, those that are small once more and larger; in space
 * the surface, seen from two opposite sides. Several groups of elements have tints; in space the
 * surface is seen once more in these. The legend names every boundary and says how many faces it
 * has, and every group and how many elements; faces that are joined with others by a period are
 * grey, elements that are bad red. Very fine meshes are shaded as fine as they are, and the picture
 * says so. EG_ERROR_UNSUPPORTED: PNG, but this eagre was built without libpng. */
eg_status eg_mesh_picture_write(const eg_mesh *mesh, const eg_mesh_picture_options *options,
                                eg_text *out);

#endif
