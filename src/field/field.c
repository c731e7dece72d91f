/* Fields: values of polynomials on a space, and their way from and to the host.
 *
 * The host's order is element by element in the order of the mesh, the device's is tile by tile.
 * A slack of EG_OFFSET_BLOCK values lies before the first group and behind the last one, as kernels
 * read vectors that begin or end a few lanes outside a row of elements and drop those lanes.
 * Conversion is a plain loop on the host over pieces of tiles, one transfer each: it costs a pass
 * over the field on one core, which set-up and output can bear and a time loop cannot. */
#include "field/space.h"

/* Elements have less than 2¹¹ values and tiles at most 2⁶ lanes: with this limit the values of a
 * tile can be counted by int, on the device, too, and as slots are below 2³¹ no size overflows. */
#define COMPONENTS_MOST 4096
_Static_assert((int64_t)(EG_DEGREE_MAX + 1) * (EG_DEGREE_MAX + 1) * (EG_DEGREE_MAX + 1) *
                       EG_SLOT_BLOCK * COMPONENTS_MOST <=
                   INT32_MAX,
               "the values of a tile of hexahedra, the largest, are counted by int");

/* About as many values are staged on the host at a time. */
#define STAGE_VALUES (1 << 19)

void eg_space_offsets(const eg_space *space, int components, size_t *offset)
{
    offset[0] = EG_OFFSET_BLOCK;
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        size_t end = offset[i] + (size_t)g->tiles * eg_group_tile_values(g, components);
        offset[i + 1] = (end + EG_OFFSET_BLOCK - 1) / EG_OFFSET_BLOCK * EG_OFFSET_BLOCK;
    }
}

/* Uploads the table that tells kernels where groups lie. */
static eg_status make_layout(eg_field *field)
{
    const eg_space *space = field->space;
    eg_status status = EG_OK;
    int64_t(*row)[4] = NULL;
    size_t values = 4 * (size_t)space->group_count;
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &row));
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        row[i][0] = g->first_slot;
        row[i][1] = (int64_t)field->offset[i];
        row[i][2] = g->element->np;
        row[i][3] = g->lanes;
    }
    EG_TRY(eg_buffer_create(space->device, EG_I64, values, &field->layout));
    EG_TRY(eg_buffer_upload(field->layout, 0, values, row));
done:
    eg_release(space->ctx, &row);
    return status;
}

/* Sets what lies between groups and the slack at both ends, which are never written again, to zero:
 * what works on whole buffers, or reads beyond a row, meets no garbage there. Padding and ghosts
 * are values like any other. */
static eg_status clear_gaps(eg_field *field)
{
    const double zero = 0.0; /* the same bytes as a float's */
    eg_status status = EG_OK;
    size_t end = 0; /* of the group before */
    for (int i = 0; i < field->space->group_count; i++) {
        const eg_group *g = &field->space->groups[i];
        EG_TRY(eg_buffer_fill(field->data, end, field->offset[i] - end, &zero));
        end = field->offset[i] + (size_t)g->tiles * eg_group_tile_values(g, field->components);
    }
    EG_TRY(eg_buffer_fill(field->data, end, eg_buffer_count(field->data) - end, &zero));
done:
    return status;
}

/* All that needs no other rank. */
static eg_status create(eg_space *space, int components, eg_type type, eg_field **out)
{
    eg_status status = EG_OK;
    eg_field *field = NULL;
    *out = NULL;
    if (components < 1 || components > COMPONENTS_MOST)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                       "a field of %d components; 1 to %d are possible", components,
                       COMPONENTS_MOST);
    if (type != EG_F64 && type != EG_F32)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT, "fields hold f64 or f32, not %s",
                       eg_type_name(type));
    EG_TRY(eg_new(space->ctx, 1, &field));
    *field = (eg_field){.space = space, .type = type, .components = components};
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count + 1, &field->offset));
    eg_space_offsets(space, components, field->offset);
    EG_TRY(eg_buffer_create(space->device, type,
                            field->offset[space->group_count] + EG_OFFSET_BLOCK, &field->data));
    EG_TRY(clear_gaps(field));
    EG_TRY(make_layout(field));
    *out = field;
    field = NULL;
done:
    eg_field_destroy(&field);
    return status;
}

eg_status eg_field_create(eg_space *space, int components, eg_type type, eg_field **out)
{
    eg_status status = eg_comm_agree(space->comm, create(space, components, type, out));
    if (status != EG_OK) eg_field_destroy(out);
    return status;
}

void eg_field_destroy(eg_field **field)
{
    if (!field || !*field) return;
    eg_context *ctx = (*field)->space->ctx;
    eg_buffer_destroy(&(*field)->layout);
    eg_buffer_destroy(&(*field)->data);
    eg_release(ctx, &(*field)->offset);
    eg_release(ctx, field);
}

/* --- the host's order ------------------------------------------------------------------------- */

size_t eg_field_host_count(const eg_field *field)
{
    size_t count = 0;
    for (int i = 0; i < field->space->group_count; i++) {
        const eg_group *g = &field->space->groups[i];
        count += (size_t)g->element_count * (size_t)(g->element->np * field->components);
    }
    return count;
}

/* Where each of the own elements [first, first + count) begins in the host's order of them. */
static eg_status host_places(const eg_field *field, int32_t first, int32_t count, size_t **out)
{
    const eg_space *space = field->space;
    eg_status status = eg_new(space->ctx, (size_t)count, out);
    size_t place = 0;
    for (int32_t i = 0; status == EG_OK && i < count; i++) {
        const eg_group *g = eg_space_group_of(space, first + i);
        (*out)[i] = place;
        place += (size_t)(g->element->np * field->components);
    }
    return status;
}

/* Copies `count` values of an element from or to a tile, where they lie `lanes` apart. */
static void load_element(eg_type type, const void *tile, int lanes, int count, double *values)
{
    for (int i = 0; i < count; i++)
        values[i] = type == EG_F64 ? ((const double *)tile)[i * lanes]
                                   : (double)((const float *)tile)[i * lanes];
}

static void store_element(eg_type type, void *tile, int lanes, int count, const double *values)
{
    for (int i = 0; i < count; i++)
        if (type == EG_F64)
            ((double *)tile)[i * lanes] = values[i];
        else
            ((float *)tile)[i * lanes] = (float)values[i];
}

/* How many tiles from `tile` on, at most `most`, hold elements of [first, first + count) each. */
static int64_t tiles_with(const eg_group *g, int64_t tile, int64_t most, int32_t first,
                          int32_t count)
{
    for (int64_t n = 0; n < most; n++) {
        const int32_t *element = g->element_of_slot + (tile + n) * g->lanes;
        int lane = 0;
        while (lane < g->lanes && (element[lane] < first || element[lane] - first >= count))
            lane++;
        if (lane == g->lanes) return n;
    }
    return most;
}

/* Moves own elements [first, first + count) of a field to the host's order (`to`), or all of them
 * from it (`from`). */
static eg_status convert(const eg_field *field, int32_t first, int32_t count, double *to,
                         const double *from)
{
    const eg_space *space = field->space;
    const size_t size = eg_type_size(field->type);
    eg_status status = EG_OK;
    size_t *place = NULL;
    char *stage = NULL;
    EG_TRY(host_places(field, first, count, &place));
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        const int np = g->element->np * field->components;
        const size_t values = eg_group_tile_values(g, field->components);
        int64_t piece = values < STAGE_VALUES ? (int64_t)(STAGE_VALUES / values) : 1;
        if (piece > g->own_tiles) piece = g->own_tiles;
        EG_TRY(eg_allocate(space->ctx, (size_t)piece * values * size, (void **)&stage));
        for (int64_t tile = 0, tiles = 1; tile < g->own_tiles; tile += tiles) {
            int64_t most = g->own_tiles - tile < piece ? g->own_tiles - tile : piece;
            tiles = tiles_with(g, tile, most, first, count);
            if (tiles == 0) {
                tiles = 1;
                continue;
            }
            size_t at = field->offset[i] + (size_t)tile * values;
            if (to) EG_TRY(eg_buffer_download(field->data, at, (size_t)tiles * values, stage));
            for (int64_t k = 0; k < tiles * g->lanes; k++) {
                int32_t element = g->element_of_slot[tile * g->lanes + k];
                if (element < first || element - first >= count) continue;
                /* What fills a tile up is a copy to rounding only, once there were steps. */
                if (to && space->slot_of_element[element] != g->first_slot + tile * g->lanes + k)
                    continue;
                char *lane =
                    stage + ((size_t)(k / g->lanes) * values + (size_t)(k % g->lanes)) * size;
                if (to)
                    load_element(field->type, lane, g->lanes, np, to + place[element - first]);
                else
                    store_element(field->type, lane, g->lanes, np, from + place[element - first]);
            }
            if (from) EG_TRY(eg_buffer_upload(field->data, at, (size_t)tiles * values, stage));
        }
        eg_release(space->ctx, &stage);
    }
done:
    eg_release(space->ctx, &stage);
    eg_release(space->ctx, &place);
    return status;
}

eg_status eg_field_to_host(const eg_field *field, double *values)
{
    return convert(field, 0, field->space->mesh->element_count, values, NULL);
}

eg_status eg_field_to_host_part(const eg_field *field, int32_t first, int32_t count, double *values)
{
    return convert(field, first, count, values, NULL);
}

eg_status eg_field_from_host(eg_field *field, const double *values)
{
    eg_status status = eg_comm_agree(
        field->space->comm, convert(field, 0, field->space->mesh->element_count, NULL, values));
    return status == EG_OK ? eg_field_fill_ghosts(field) : status;
}

static eg_status exchange(eg_halo *halo, eg_field *field)
{
    eg_status status = eg_halo_start(halo, field);
    return status == EG_OK ? eg_halo_wait(halo, field) : status;
}

eg_status eg_field_fill_ghosts(eg_field *field)
{
    eg_status status = EG_OK;
    eg_halo *halo = NULL;
    EG_TRY(eg_halo_create(field->space, field->components, field->type, EG_HALO_ELEMENTS, &halo));
    EG_TRY(eg_comm_agree(field->space->comm, exchange(halo, field)));
done:
    eg_halo_destroy(&halo);
    return status;
}
