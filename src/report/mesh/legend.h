/* The legend of a picture of a mesh; private to the files that draw meshes. */
#ifndef EG_REPORT_MESH_LEGEND_H
#define EG_REPORT_MESH_LEGEND_H

#include "report/mesh/drawing.h"

enum { EG_LEGEND_TINTS = 3 * EG_MESH_TINTS };

typedef struct eg_legend_entry {
    char name[EG_MESH_TEXT_BYTES], count[64];
    int paint;
    double x, y; /* of its sample */
} eg_legend_entry;

typedef struct eg_legend {
    eg_legend_entry *entries; /* [count] owned */
    int count;
    int left_out;  /* tints, beyond those of which a legend is of use */
    double bottom; /* on the canvas */
} eg_legend;

/* Makes an entry for everything that a survey has counted, up to EG_LEGEND_TINTS tints, and places them in rows, from `left` on
 * and below `top`. Free it also after a failure. */
eg_status eg_legend_create(const eg_mesh_drawing *d, double left, double top, eg_legend *legend);
void eg_legend_free(eg_context *ctx, eg_legend *legend);

eg_status eg_legend_draw(eg_mesh_drawing *d, const eg_legend *legend);

#endif
