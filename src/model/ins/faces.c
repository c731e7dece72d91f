/* Numbers the boundary faces of a space: where they are, and what is beyond each face of an element. */
#include "model/ins/faces.h"

#include <math.h>

/* Points of a face beyond the nodes, for expressions that are no polynomials. */
#define MORE_POINTS 2

void eg_ins_faces_destroy(eg_ins_faces **handle)
{
    eg_ins_faces *f = *handle;
    if (!f) return;
    eg_context *ctx = f->space->ctx;
    eg_operator_destroy(&f->project);
    eg_buffer_destroy(&f->boundaries);
    eg_buffer_destroy(&f->x);
    eg_buffer_destroy(&f->sides);
    eg_buffer_destroy(&f->slots);
    eg_buffer_destroy(&f->kinds);
    eg_buffer_destroy(&f->beyond);
    eg_release(ctx, &f->normal);
    eg_release(ctx, &f->boundary);
    eg_release(ctx, handle);
}

/* numbers [elements][3]: of boundary faces from 0 on, else -1; returns how many there are. */
static int32_t number_faces(const eg_mesh *mesh, int32_t *numbers)
{
    int32_t count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int face = 0; face < 3; face++)
            numbers[3 * e + face] =
                mesh->neighbour[e * mesh->face_stride + face] < 0 ? count++ : -1;
    return count;
}

static eg_status make_beyond(eg_ins_faces *f, const int32_t *numbers)
{
    const eg_space *space = f->space;
    const eg_group *g = &space->groups[0];
    const size_t all = (size_t)(g->own_tiles * 3 * g->lanes);
    int32_t *beyond = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, all, &beyond));
    for (int64_t slot = 0; slot < g->own_tiles * g->lanes; slot++) {
        const int32_t e = g->element_of_slot[slot];
        const int64_t tile = slot / g->lanes, lane = slot % g->lanes;
        for (int face = 0; face < 3; face++) {
            const int32_t n = space->mesh->neighbour[e * space->mesh->face_stride + face];
            beyond[(tile * 3 + face) * g->lanes + lane] =
                n >= 0 ? space->slot_of_element[n] : -1 - numbers[3 * e + face];
        }
    }
    EG_TRY(eg_space_upload(space, EG_I32, all, beyond, &f->beyond));
done:
    eg_release(space->ctx, &beyond);
    return status;
}

/* Points of face `number`, which is `face` of element e: s [points] in the face's coordinate. */
static void place(eg_ins_faces *f, int32_t number, int32_t e, int face, const double *s, double *x)
{
    const eg_mesh *mesh = f->space->mesh;
    const eg_shape_info *info = eg_shape_get_info(EG_SHAPE_TRI);
    const int32_t *vertices = mesh->vertices + e * mesh->vertex_stride;
    const double *a = mesh->x + 2 * (int64_t)vertices[info->face[face][0]];
    const double *b = mesh->x + 2 * (int64_t)vertices[info->face[face][1]];
    const int64_t tile = number / f->lanes, lane = number % f->lanes;
    const double length = hypot(b[0] - a[0], b[1] - a[1]);
    f->boundary[number] = -1 - mesh->neighbour[e * mesh->face_stride + face];
    /* The element lies to the left of its edges. */
    f->normal[2 * number] = (b[1] - a[1]) / length;
    f->normal[2 * number + 1] = (a[0] - b[0]) / length;
    for (int d = 0; d < 2; d++)
        for (int q = 0; q < f->points; q++)
            x[((tile * 2 + d) * f->points + q) * f->lanes + lane] =
                0.5 * ((1 - s[q]) * a[d] + (1 + s[q]) * b[d]);
}

static eg_status make_places(eg_ins_faces *f, const int32_t *numbers, const double *s)
{
    const eg_space *space = f->space;
    const size_t slots = (size_t)(f->tiles * f->lanes);
    const size_t values = 2 * (size_t)f->points * slots;
    double *x = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, values, &x));
    EG_TRY(eg_new(space->ctx, slots, &f->boundary));
    EG_TRY(eg_new(space->ctx, 2 * (size_t)f->count + 1, &f->normal));
    for (int32_t e = 0; e < space->mesh->element_count; e++)
        for (int face = 0; face < 3; face++)
            if (numbers[3 * e + face] >= 0) place(f, numbers[3 * e + face], e, face, s, x);
    for (int32_t i = f->count; f->count > 0 && (size_t)i < slots; i++)
        f->boundary[i] = f->boundary[f->count - 1];
    EG_TRY(eg_space_upload(space, EG_F64, values, x, &f->x));
    EG_TRY(eg_space_upload(space, EG_I32, slots, f->boundary, &f->boundaries));
done:
    eg_release(space->ctx, &x);
    return status;
}

/* The element of each face. */
static eg_status make_owners(eg_ins_faces *f, const int32_t *numbers)
{
    const eg_space *space = f->space;
    const size_t slots = (size_t)(f->tiles * f->lanes);
    int32_t *owner = NULL, *side = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, slots, &owner));
    EG_TRY(eg_new(space->ctx, slots, &side));
    for (int32_t i = 0; i < 3 * space->mesh->element_count; i++)
        if (numbers[i] >= 0) {
            owner[numbers[i]] = space->slot_of_element[i / 3];
            side[numbers[i]] = i % 3;
        }
    EG_TRY(eg_space_upload(space, EG_I32, slots, owner, &f->slots));
    EG_TRY(eg_space_upload(space, EG_I32, slots, side, &f->sides));
done:
    eg_release(space->ctx, &side);
    eg_release(space->ctx, &owner);
    return status;
}

static eg_status make_all(eg_ins_faces *f, const eg_ins_kind *kinds)
{
    const eg_space *space = f->space;
    const eg_mesh *mesh = space->mesh;
    const eg_element *face = space->groups[0].element->face;
    eg_cubature *rule = NULL;
    int32_t *numbers = NULL, *all = NULL;
    double *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, 3 * (size_t)mesh->element_count + 1, &numbers));
    EG_TRY(eg_new(space->ctx, (size_t)mesh->boundary_count + 1, &all));
    f->count = number_faces(mesh, numbers);
    f->lanes = space->groups[0].lanes;
    f->tiles = f->count > 0 ? (f->count + f->lanes - 1) / f->lanes : 1;
    f->nodes = face->np;
    f->points = face->np + MORE_POINTS;
    EG_TRY(
        eg_cubature_create(space->ctx, EG_SHAPE_LINE, 2 * f->points - 1, EG_CUBATURE_BEST, &rule));
    EG_TRY(eg_new(space->ctx, (size_t)(f->nodes * f->points), &matrix));
    EG_TRY(eg_element_project(face, rule, matrix));
    EG_TRY(eg_operator_create(space->device, EG_F64, f->nodes, f->points, matrix, &f->project));
    EG_TRY(make_beyond(f, numbers));
    EG_TRY(make_owners(f, numbers));
    EG_TRY(make_places(f, numbers, rule->r));
    for (int b = 0; b < mesh->boundary_count; b++)
        all[b] = (int32_t)kinds[b];
    EG_TRY(eg_ins_faces_spread(f, all, &f->kinds));
done:
    eg_release(space->ctx, &matrix);
    eg_release(space->ctx, &all);
    eg_release(space->ctx, &numbers);
    eg_cubature_destroy(&rule);
    return status;
}

eg_status eg_ins_faces_create(eg_space *space, const eg_ins_kind *kinds, eg_ins_faces **out)
{
    eg_ins_faces *f = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(space->ctx, 1, &f));
    f->space = space;
    EG_TRY(make_all(f, kinds));
    *out = f;
    f = NULL;
done:
    eg_ins_faces_destroy(&f);
    return status;
}

eg_status eg_ins_faces_spread(const eg_ins_faces *f, const int32_t *of_boundary, eg_buffer **out)
{
    const size_t slots = (size_t)(f->tiles * f->lanes);
    int32_t *values = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(f->space->ctx, 1 + slots, &values));
    values[0] = -1;
    for (size_t i = 0; f->count > 0 && i < slots; i++)
        values[1 + i] = of_boundary[f->boundary[i]];
    EG_TRY(eg_space_upload(f->space, EG_I32, 1 + slots, values, out));
done:
    eg_release(f->space->ctx, &values);
    return status;
}
