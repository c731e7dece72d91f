/* What is known of a mesh before it is drawn: which faces are what, the colours of groups, counts
 * and extents. */
#include "report/mesh_drawing.h"

#include "report/palette.h"

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

int eg_mesh_group_ink(int group)
{
    return group < 0 ? EG_MESH_INK_PERIODIC : EG_MESH_INK_BOUNDARY + group % EG_MESH_COLOURS;
}

double eg_mesh_line_width(double gap)
{
    return gap < EG_MESH_GAP ? 0.9 * pow(gap / EG_MESH_GAP, 0.6) : 0.9;
}

/* Boundaries have the colours of the palette, then lighter and then darker ones. */
void eg_mesh_make_inks(eg_ink inks[EG_MESH_INKS])
{
    static const char *const fixed[EG_MESH_INK_BOUNDARY][2] = {
        [EG_MESH_INK_BACK] = {EG_LIGHT_BACK, EG_DARK_BACK},
        [EG_MESH_INK_PLOT] = {EG_LIGHT_PLOT, EG_DARK_PLOT},
        [EG_MESH_INK_FRAME] = {EG_LIGHT_FRAME, EG_DARK_FRAME},
        [EG_MESH_INK_TEXT] = {EG_LIGHT_TEXT, EG_DARK_TEXT},
        [EG_MESH_INK_SUBTITLE] = {EG_LIGHT_SUBTITLE, EG_DARK_SUBTITLE},
        [EG_MESH_INK_TICK] = {EG_LIGHT_TICK, EG_DARK_TICK},
        [EG_MESH_INK_EDGE] = {"48515c", "aab4bf"},
        [EG_MESH_INK_CREASE] = {"10141c", "10141c"},
        [EG_MESH_INK_PERIODIC] = {"a9b1ba", "626b75"},
        [EG_MESH_INK_TINT] = {"fdf3dd", "2a2416"},
        [EG_MESH_INK_TINT + 1] = {"e3effc", "14243a"},
    };
    static const char *const light[EG_PALETTE_COUNT] = {EG_LIGHT_SERIES};
    static const char *const dark[EG_PALETTE_COUNT] = {EG_DARK_SERIES};
    /* Grey is what periodic faces are, so the last of the palette is left out. */
    enum { HUES = EG_PALETTE_COUNT - 1 };
    const eg_rgb white = {255, 255, 255}, black = {0, 0, 0};
    for (int i = 0; i < EG_MESH_INK_BOUNDARY; i++)
        inks[i] = (eg_ink){eg_rgb_parse(fixed[i][0]), eg_rgb_parse(fixed[i][1])};
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

static void add_face(eg_mesh_drawing *d, int32_t element, int face)
{
    const eg_mesh *mesh = d->mesh;
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    const int group = eg_mesh_face_group(mesh, element, face);
    if (group == EG_FACE_PERIODIC) d->faces[mesh->boundary_count]++;
    if (group < 0) return;
    d->faces[group]++;
    for (int i = 0; mesh->dim == 2 && i < 2; i++)
        extend(2, 1, eg_mesh_vertex(mesh, element, info->face[face][i]), d->box[group],
               d->box[group] + 2);
}

eg_status eg_mesh_survey(eg_mesh_drawing *d)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = d->mesh;
    const size_t groups = (size_t)mesh->boundary_count + 1;
    EG_TRY(eg_new(mesh->ctx, groups, &d->faces));
    EG_TRY(eg_new(mesh->ctx, groups, &d->shown));
    EG_TRY(eg_new(mesh->ctx, groups, &d->box));
    for (int i = 0; i < 3; i++) {
        d->low[i] = i < mesh->dim ? INFINITY : 0;
        d->high[i] = i < mesh->dim ? -INFINITY : 0;
    }
    for (int b = 0; b < mesh->boundary_count; b++)
        for (int i = 0; i < 4; i++)
            d->box[b][i] = i < 2 ? INFINITY : -INFINITY;
    extend(mesh->dim, mesh->vertex_count, mesh->x, d->low, d->high);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_shape shape = (eg_shape)mesh->shape[e];
        d->shapes[shape]++;
        for (int f = 0; f < eg_shape_get_info(shape)->faces; f++)
            add_face(d, e, f);
        if (mesh->nodes)
            extend(mesh->dim, eg_mode_count(shape, mesh->order),
                   &mesh->nodes[(int64_t)e * mesh->node_stride * mesh->dim], d->low, d->high);
    }
done:
    return status;
}
