/* What the files that draw meshes share; private to them. */
#ifndef EG_REPORT_MESH_DRAWING_H
#define EG_REPORT_MESH_DRAWING_H

#include "report/mesh/picture.h"

enum {
    EG_MESH_INK_BACK,
    EG_MESH_INK_PLOT,
    EG_MESH_INK_FRAME,
    EG_MESH_INK_TEXT,
    EG_MESH_INK_SUBTITLE,
    EG_MESH_INK_TICK,
    EG_MESH_INK_EDGE,
    EG_MESH_INK_CREASE, /* edges of surfaces */
    EG_MESH_INK_PERIODIC,
    EG_MESH_INK_BAD,
    EG_MESH_INK_TINT,   /* of elements */
    EG_MESH_TINTS = 16, /* before the first comes back */
    EG_MESH_INK_BOUNDARY = EG_MESH_INK_TINT + EG_MESH_TINTS,
    EG_MESH_COLOURS = 24, /* of boundaries, likewise */
    EG_MESH_INKS = EG_MESH_INK_BOUNDARY + EG_MESH_COLOURS
};

/* What a face of an element is; a boundary is its number ≥ 0. */
enum {
    EG_FACE_INNER = -1,   /* it is drawn with this element */
    EG_FACE_SEEN = -2,    /* and this is the other side of one */
    EG_FACE_PERIODIC = -3 /* it is joined to a face elsewhere */
};

/* Elements have tints by their groups if there are several (`by_group`), else in the plane by their
 * shapes if those differ. What has a colour of its own is a paint: first the boundaries; then
 * periodic faces, the tints, and elements that are bad. */
typedef struct eg_mesh_drawing {
    const eg_mesh *mesh; /* not owned */
    const bool *bad;     /* [element_count] by global number; NULL: none; not owned */
    eg_canvas canvas;
    int64_t shapes[EG_SHAPE_COUNT]; /* elements of each shape */
    bool by_group;
    int tints, paints; /* how many there are */
    int64_t *count;    /* [paints] faces of boundaries and periodic ones, else elements; owned */
    bool *shown;       /* [paints] in space: something of it can be seen; owned */
    double (*box)[4];  /* [paints] low and high of x, y of these in the plane; owned */
    double low[3], high[3]; /* of vertices and nodes */
    bool fine;              /* elements are too small to be drawn one by one */
    bool untinted;          /* areas have too many corners to be drawn */
} eg_mesh_drawing;

static inline int eg_mesh_periodic_paint(const eg_mesh_drawing *d)
{
    return d->mesh->boundary_count;
}
static inline int eg_mesh_tint_paint(const eg_mesh_drawing *d, int tint)
{
    return d->mesh->boundary_count + 1 + tint;
}
static inline int eg_mesh_bad_paint(const eg_mesh_drawing *d)
{
    return d->mesh->boundary_count + 1 + d->tints;
}

/* Fills all from shapes to high and allocates what is owned. Free it also after a failure. */
eg_status eg_mesh_survey(eg_mesh_drawing *d);
void eg_mesh_survey_free(eg_mesh_drawing *d);

/* A colour so many times as far from another, as far as there are colours. */
eg_rgb eg_mesh_stronger(eg_rgb colour, eg_rgb from, double times);

void eg_mesh_make_inks(eg_ink inks[EG_MESH_INKS]);

int eg_mesh_face_group(const eg_mesh *mesh, int32_t element, int face);

/* The tint of an element, 0 if there are none; whether it is bad. */
int eg_mesh_tint_of(const eg_mesh_drawing *d, int32_t element);
bool eg_mesh_is_bad(const eg_mesh_drawing *d, int32_t element);

const char *eg_mesh_paint_name(const eg_mesh_drawing *d, int paint);
int eg_mesh_paint_ink(const eg_mesh_drawing *d, int paint);

#define EG_MESH_EDGE 20.0 /* pixels, around everything */

#define EG_MESH_TEXT_BYTES 256 /* of names and other texts, as far as they fit */

/* "triangles" */
const char *eg_mesh_plural(eg_shape shape);

/* The coordinates of a vertex of an element. */
const double *eg_mesh_vertex(const eg_mesh *mesh, int32_t element, int vertex);

/* The width that lines have between elements whose size is `gap` pixels: thinner where elements are
 * small, so that they become grey and not black. */
double eg_mesh_line_width(double gap);
#define EG_MESH_GAP 6.0 /* pixels: from there on lines have their full width */

/* --- mesh_plane.c ----------------------------------------------------------------------------- */

/* Where a point of the plane lies on the canvas: (x + scale X, y - scale Y). */
typedef struct eg_plane_view {
    double x, y, scale;
    double left, top, width, height; /* the part of the canvas that holds it */
} eg_plane_view;

eg_status eg_mesh_draw_plane(eg_mesh_drawing *d, const eg_plane_view *view);

/* --- mesh_cells.c, mesh_surface.c ------------------------------------------------------------- */

/* How space is seen, without perspective. */
typedef struct eg_space_view {
    double right[3], up[3], eye[3]; /* unit vectors; the last points to who looks */
    double x, y, scale;             /* of the point (0, 0, 0) on the canvas; pixels per length */
    double left, top, width, height;
} eg_space_view;

/* Of a view the vectors, from the front or from behind. */
eg_space_view eg_space_view_new(bool behind);
/* (x, y) on the canvas, and how near it is. */
void eg_space_project(const eg_space_view *view, const double *x, double out[3]);

/* The colour that a paint has in space, in full light. */
eg_rgb eg_mesh_surface_colour(const eg_mesh_drawing *d, int paint);

/* Draws the boundary, each part in its own colour or in that of its elements' groups. */
eg_status eg_mesh_draw_surface(eg_mesh_drawing *d, const eg_space_view *view, bool by_group);

#endif
