/* What is known of a mesh before it is drawn: which faces are what, the colours of groups, counts
 * and extents. */
#include "report/mesh/drawing.h"

#include "report/draw/palette.h"

#include <math.h>

const double *eg_mesh_vertex(const eg_mesh *mesh, int32_t element, int vertex)
{
    const int64_t at = (int64_t)element * mesh->vertex_stride + vertex;
    return &mesh->x[(int64_t)mesh->vertices[at] * mesh->dim];
}

int eg_mesh_face_group(const eg_mesh *mesh, int32_t element, int face)
{
    const int64_t slot = (int64_t)element * mesh->face_stride + face;
    const int32_t other = mesh->neighbour[slot];
    if (other < 0) return -1 - other;
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    const eg_shape_info *beside = eg_shape_get_info((eg_shape)mesh->shape[other]);
    const int other_face = EG_FACE(mesh->neighbour_face[slot]);
    const int orientation = EG_ORIENTATION(mesh->neighbour_face[slot]);
    for (int i = 0; i < info->face_vertices; i++) {
        const int j = eg_orientation_vertex(info->face_vertices, orientation, i);
        if (mesh->vertices[(int64_t)element * mesh->vertex_stride + info->face[face][i]] !=
            mesh->vertices[(int64_t)other * mesh->vertex_stride + beside->face[other_face][j]])
            return EG_FACE_PERIODIC;
    }
    return other > element ? EG_FACE_INNER : EG_FACE_SEEN;
}

/* --- paints ----------------------------------------------------------------------------------- */

int eg_mesh_tint_of(const eg_mesh_drawing *d, int32_t element)
{
    if (d->by_group) return d->mesh->group_of[element];
    return d->tints > 0 ? d->mesh->shape[element] - EG_SHAPE_TRI : 0;
}

bool eg_mesh_is_bad(const eg_mesh_drawing *d, int32_t element)
{
    return d->bad && d->bad[d->mesh->global[element]];
}

const char *eg_mesh_plural(eg_shape shape)
{
    static const char *const names[EG_SHAPE_COUNT] = {"lines", "triangles", "quadrilaterals",
                                                      "tetrahedra", "hexahedra"};
    return names[shape];
}

const char *eg_mesh_paint_name(const eg_mesh_drawing *d, int paint)
{
    const int tint = paint - eg_mesh_tint_paint(d, 0);
    if (paint < d->mesh->boundary_count) return d->mesh->boundary[paint];
    if (paint == eg_mesh_periodic_paint(d)) return "periodic";
    if (paint == eg_mesh_bad_paint(d)) return "not valid";
    return d->by_group ? d->mesh->group[tint] : eg_mesh_plural((eg_shape)(EG_SHAPE_TRI + tint));
}

int eg_mesh_paint_ink(const eg_mesh_drawing *d, int paint)
{
    if (paint < d->mesh->boundary_count) return EG_MESH_INK_BOUNDARY + paint % EG_MESH_COLOURS;
    if (paint == eg_mesh_periodic_paint(d)) return EG_MESH_INK_PERIODIC;
    if (paint == eg_mesh_bad_paint(d)) return EG_MESH_INK_BAD;
    return EG_MESH_INK_TINT + (paint - eg_mesh_tint_paint(d, 0)) % EG_MESH_TINTS;
}

double eg_mesh_line_width(double gap)
{
    return gap < EG_MESH_GAP ? 0.9 * pow(gap / EG_MESH_GAP, 0.6) : 0.9;
}

/* --- inks ------------------------------------------------------------------------------------- */

eg_rgb eg_mesh_stronger(eg_rgb c, eg_rgb from, double times)
{
    const double value[3] = {from.r + times * (c.r - from.r), from.g + times * (c.g - from.g),
                             from.b + times * (c.b - from.b)};
    uint8_t out[3];
    for (int i = 0; i < 3; i++)
        out[i] = (uint8_t)fmin(fmax(value[i], 0), 255);
    return (eg_rgb){out[0], out[1], out[2]};
}

/* Boundaries have the colours of the palette, then lighter and then darker ones; elements have
 * tints, then stronger ones. */
void eg_mesh_make_inks(eg_ink inks[EG_MESH_INKS])
{
    enum { TINTS = EG_MESH_TINTS / 2 };
    static const char *const fixed[EG_MESH_INK_TINT + TINTS][2] = {
        [EG_MESH_INK_BACK] = {EG_LIGHT_BACK, EG_DARK_BACK},
        [EG_MESH_INK_PLOT] = {EG_LIGHT_PLOT, EG_DARK_PLOT},
        [EG_MESH_INK_FRAME] = {EG_LIGHT_FRAME, EG_DARK_FRAME},
        [EG_MESH_INK_TEXT] = {EG_LIGHT_TEXT, EG_DARK_TEXT},
        [EG_MESH_INK_SUBTITLE] = {EG_LIGHT_SUBTITLE, EG_DARK_SUBTITLE},
        [EG_MESH_INK_TICK] = {EG_LIGHT_TICK, EG_DARK_TICK},
        [EG_MESH_INK_EDGE] = {"48515c", "aab4bf"},
        [EG_MESH_INK_CREASE] = {"10141c", "10141c"},
        [EG_MESH_INK_PERIODIC] = {"a9b1ba", "626b75"},
        [EG_MESH_INK_BAD] = {"e5484d", "e5484d"},
        [EG_MESH_INK_TINT] = {"fdf3dd", "2a2416"},
        [EG_MESH_INK_TINT + 1] = {"e3effc", "14243a"},
        [EG_MESH_INK_TINT + 2] = {"e3f6e6", "14301c"},
        [EG_MESH_INK_TINT + 3] = {"fbe6f0", "351a2a"},
        [EG_MESH_INK_TINT + 4] = {"ebe6fb", "241d40"},
        [EG_MESH_INK_TINT + 5] = {"dcf4f4", "0f2e31"},
        [EG_MESH_INK_TINT + 6] = {"fde7d9", "38210f"},
        [EG_MESH_INK_TINT + 7] = {"eef3d8", "272c12"},
    };
    static const char *const light[EG_PALETTE_COUNT] = {EG_LIGHT_SERIES};
    static const char *const dark[EG_PALETTE_COUNT] = {EG_DARK_SERIES};
    /* Grey is what periodic faces are, so the last of the palette is left out. */
    enum { HUES = EG_PALETTE_COUNT - 1 };
    const eg_rgb white = {255, 255, 255}, black = {0, 0, 0};
    for (int i = 0; i < EG_MESH_INK_TINT + TINTS; i++)
        inks[i] = (eg_ink){eg_rgb_parse(fixed[i][0]), eg_rgb_parse(fixed[i][1])};
    for (int i = EG_MESH_INK_TINT + TINTS; i < EG_MESH_INK_BOUNDARY; i++)
        inks[i] = (eg_ink){eg_mesh_stronger(inks[i - TINTS].light, white, 2),
                           eg_mesh_stronger(inks[i - TINTS].dark, black, 1.7)};
    for (int b = 0; b < EG_MESH_COLOURS; b++) {
        const double part = b < HUES ? 0 : b < 2 * HUES ? 0.45 : 0.4;
        const eg_rgb to = b < 2 * HUES ? white : black;
        inks[EG_MESH_INK_BOUNDARY + b] =
            (eg_ink){eg_rgb_mix(eg_rgb_parse(light[b % HUES]), to, part),
                     eg_rgb_mix(eg_rgb_parse(dark[b % HUES]), to, part)};
    }
}

static void extend(int dim, int64_t count, const double *x, double *low, double *high)
{
    for (int64_t i = 0; i < count * dim; i++) {
        low[i % dim] = fmin(low[i % dim], x[i]);
        high[i % dim] = fmax(high[i % dim], x[i]);
    }
}

/* --- the survey ------------------------------------------------------------------------------- */

/* Counts a face or an element; its box grows by the element's vertices that are given. */
static void add(eg_mesh_drawing *d, int paint, int32_t element, int count, const int8_t *vertices)
{
    d->count[paint]++;
    for (int i = 0; d->mesh->dim == 2 && i < count; i++)
        extend(2, 1, eg_mesh_vertex(d->mesh, element, vertices ? vertices[i] : i), d->box[paint],
               d->box[paint] + 2);
}

static void add_element(eg_mesh_drawing *d, int32_t element)
{
    const eg_mesh *mesh = d->mesh;
    const eg_shape shape = (eg_shape)mesh->shape[element];
    const eg_shape_info *info = eg_shape_get_info(shape);
    for (int f = 0; f < info->faces; f++) {
        const int group = eg_mesh_face_group(mesh, element, f);
        if (group >= 0 || group == EG_FACE_PERIODIC)
            add(d, group < 0 ? eg_mesh_periodic_paint(d) : group, element, info->face_vertices,
                info->face[f]);
    }
    if (d->tints > 0)
        add(d, eg_mesh_tint_paint(d, eg_mesh_tint_of(d, element)), element, info->vertices, NULL);
    if (eg_mesh_is_bad(d, element)) add(d, eg_mesh_bad_paint(d), element, info->vertices, NULL);
    if (mesh->nodes)
        extend(mesh->dim, eg_mode_count(shape, mesh->order),
               &mesh->nodes[(int64_t)element * mesh->node_stride * mesh->dim], d->low, d->high);
}

eg_status eg_mesh_survey(eg_mesh_drawing *d)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = d->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++)
        d->shapes[mesh->shape[e]]++;
    d->by_group = mesh->group_count > 1;
    d->tints = d->by_group                                                   ? mesh->group_count
               : d->shapes[EG_SHAPE_TRI] > 0 && d->shapes[EG_SHAPE_QUAD] > 0 ? 2
                                                                             : 0;
    d->paints = eg_mesh_bad_paint(d) + 1;
    EG_TRY(eg_new(mesh->ctx, (size_t)d->paints, &d->count));
    EG_TRY(eg_new(mesh->ctx, (size_t)d->paints, &d->shown));
    EG_TRY(eg_new(mesh->ctx, (size_t)d->paints, &d->box));
    for (int i = 0; i < 3; i++) {
        d->low[i] = i < mesh->dim ? INFINITY : 0;
        d->high[i] = i < mesh->dim ? -INFINITY : 0;
    }
    for (int p = 0; p < d->paints; p++)
        for (int i = 0; i < 4; i++)
            d->box[p][i] = i < 2 ? INFINITY : -INFINITY;
    extend(mesh->dim, mesh->vertex_count, mesh->x, d->low, d->high);
    for (int32_t e = 0; e < mesh->element_count; e++)
        add_element(d, e);
done:
    return status;
}

void eg_mesh_survey_free(eg_mesh_drawing *d)
{
    eg_release(d->mesh->ctx, &d->box);
    eg_release(d->mesh->ctx, &d->shown);
    eg_release(d->mesh->ctx, &d->count);
}
