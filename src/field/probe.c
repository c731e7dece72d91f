/* Probes: values of fields at points.
 *
 * Points are found once (locate.c). Each rank keeps those that lie in its own elements, sorted
 * by group, and for each of them the values of its element's basis: reading is a launch for each
 * group, a lane for each point, and a sum over ranks to which all but one add zero. */
#include "field/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "field/locate.h"
#include "field/points.h"
#include "field/space.h"

/* Where a point lies on this rank. */
typedef struct place {
    int32_t element; /* -1: on another rank, or lost */
    double r[3];
} place;

/* The points in one group. */
typedef struct group_probe {
    int64_t count, tiles;
    int *points;          /* [count] their numbers; owned */
    eg_buffer *table;     /* [tiles][np][lanes] the basis there; NULL: no points */
    eg_buffer *slot;      /* i64 [tiles][lanes] of the group */
    eg_kernel *kernel[2]; /* for fields of f64 and f32, made when first needed */
} group_probe;

struct eg_probe {
    eg_space *space; /* not owned */
    int count;
    place *places;       /* [count] */
    bool *lost;          /* [count] */
    group_probe *groups; /* [group_count] */
    eg_buffer *values;   /* of all groups, for so many components as were last asked for */
    double *host;        /* the same */
    size_t capacity;     /* of both */
};

/* A reduction over ranks, eg_comm_max or eg_comm_sum, which takes memory for the values of all
 * of them: of so many at a time. */
#define REDUCE_MOST ((size_t)4096)

static eg_status reduce(eg_comm *comm, eg_status (*operation)(eg_comm *, size_t, double *),
                        size_t count, double *values)
{
    eg_status status = EG_OK;
    for (size_t i = 0; i < count && status == EG_OK; i += REDUCE_MOST)
        status = operation(comm, count - i < REDUCE_MOST ? count - i : REDUCE_MOST, values + i);
    return status;
}

/* --- finding points --------------------------------------------------------------------------- */

static void write_point(int dim, const double *x, size_t size, char *text)
{
    if (dim == 2)
        snprintf(text, size, "(%.9g, %.9g)", x[0], x[1]);
    else
        snprintf(text, size, "(%.9g, %.9g, %.9g)", x[0], x[1], x[2]);
}

static bool is_finite(int dim, const double *x)
{
    bool finite = true;
    for (int d = 0; d < dim; d++)
        finite = finite && isfinite(x[d]);
    return finite;
}

/* Finds points among the elements of this rank: key [count] is minus the global number, or
 * -INFINITY. */
static eg_status find_own(eg_probe *probe, const double *x, eg_locator **locator, double **key)
{
    const eg_mesh *mesh = probe->space->mesh;
    eg_status status = EG_OK;
    EG_TRY(eg_locator_create(probe->space->mesh, locator));
    EG_TRY(eg_new(probe->space->ctx, (size_t)probe->count, key));
    for (int i = 0; i < probe->count; i++) {
        place *p = &probe->places[i];
        p->element = eg_locator_find(*locator, x + (size_t)i * (size_t)mesh->dim, p->r);
        (*key)[i] = p->element < 0 ? -INFINITY : -(double)mesh->global[p->element];
    }
done:
    return status;
}

/* Fails with the first point that is lost, of `lost` ones. Collective. */
static eg_status complain(const eg_probe *probe, const eg_locator *locator, const double *x,
                          int lost)
{
    eg_context *ctx = probe->space->ctx;
    const int dim = probe->space->mesh->dim;
    char text[120], more[40] = "";
    int first = 0;
    eg_status status = EG_OK;
    while (!probe->lost[first])
        first++;
    x += (size_t)first * (size_t)dim;
    write_point(dim, x, sizeof text, text);
    if (lost > 1) snprintf(more, sizeof more, " (%d more are lost, too)", lost - 1);
    if (!is_finite(dim, x))
        return eg_fail(ctx, EG_ERROR_INPUT, "point %d, %s, is not finite%s", first + 1, text, more);
    double distance = -eg_locator_distance(locator, x);
    EG_TRY(eg_comm_max(probe->space->comm, 1, &distance));
    status =
        eg_fail(ctx, EG_ERROR_INPUT, "point %d, %s, lies in no element: the domain is %.3g away%s",
                first + 1, text, -distance, more);
done:
    return status;
}

/* Finds where all points lie, and which are lost. Collective. */
static eg_status find_points(eg_probe *probe, const double *x, bool *lost)
{
    const eg_space *space = probe->space;
    eg_locator *locator = NULL;
    double *key = NULL;
    int lost_count = 0;
    eg_status status = EG_OK;

    EG_TRY(eg_comm_agree(space->comm, find_own(probe, x, &locator, &key)));
    EG_TRY(reduce(space->comm, eg_comm_max, (size_t)probe->count, key));
    for (int i = 0; i < probe->count; i++) {
        place *p = &probe->places[i];
        if (p->element >= 0 && -(double)space->mesh->global[p->element] != key[i]) p->element = -1;
        probe->lost[i] = key[i] == -INFINITY;
        lost_count += probe->lost[i];
        if (lost) lost[i] = probe->lost[i];
    }
    if (lost_count > 0 && !lost) EG_TRY(complain(probe, locator, x, lost_count));
done:
    eg_release(space->ctx, &key);
    eg_locator_destroy(&locator);
    return status;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* The basis at the points of tile `tile` of a group: table [np][lanes]; slot [lanes]; 0 where
 * there is no point. `scratch` has room for [lanes][np]. */
static eg_status fill_tile(const eg_probe *probe, int group, int64_t tile, double *scratch,
                           double *table, int64_t *slot)
{
    const eg_group *g = &probe->space->groups[group];
    const group_probe *m = &probe->groups[group];
    const int np = g->element->np, dim = g->element->dim, lanes = g->lanes;
    const int64_t first = tile * lanes, rest = m->count - first;
    const int count = rest < lanes ? (int)rest : lanes;
    double r[3 * EG_SLOT_BLOCK];
    eg_status status = EG_OK;
    for (int i = 0; i < count; i++) {
        const place *p = &probe->places[m->points[first + i]];
        slot[i] = probe->space->slot_of_element[p->element] - g->first_slot;
        for (int d = 0; d < dim; d++)
            r[d * count + i] = p->r[d];
    }
    EG_TRY(eg_element_evaluate(g->element, count, r, scratch));
    for (int j = 0; j < np; j++)
        for (int i = 0; i < count; i++)
            table[j * lanes + i] = scratch[i * np + j];
done:
    return status;
}

/* Makes the tables of a group whose points are known. */
static eg_status create_tables(eg_probe *probe, int group)
{
    const eg_space *space = probe->space;
    const eg_group *g = &space->groups[group];
    group_probe *m = &probe->groups[group];
    const size_t lanes = (size_t)g->lanes, tile_values = lanes * (size_t)g->element->np;
    const size_t tiles = (size_t)m->tiles;
    double *table = NULL, *scratch = NULL;
    int64_t *slot = NULL;
    eg_status status = EG_OK;
    if (m->count == 0) return EG_OK;
    EG_TRY(eg_new(space->ctx, tiles * tile_values, &table));
    EG_TRY(eg_new(space->ctx, tiles * lanes, &slot));
    EG_TRY(eg_new(space->ctx, tile_values, &scratch));
    for (size_t tile = 0; tile < tiles; tile++)
        EG_TRY(fill_tile(probe, group, (int64_t)tile, scratch, table + tile * tile_values,
                         slot + tile * lanes));
    EG_TRY(eg_space_upload(space, EG_F64, tiles * tile_values, table, &m->table));
    EG_TRY(eg_buffer_create(space->device, EG_I64, tiles * lanes, &m->slot));
    EG_TRY(eg_buffer_upload(m->slot, 0, tiles * lanes, slot));
done:
    eg_release(space->ctx, &scratch);
    eg_release(space->ctx, &slot);
    eg_release(space->ctx, &table);
    return status;
}

/* Sorts points by group and makes what reading them needs. */
static eg_status prepare(eg_probe *probe)
{
    const eg_space *space = probe->space;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &probe->groups));
    for (int pass = 0; pass < 2; pass++) { /* counts, then numbers */
        for (int i = 0; i < probe->count; i++) {
            if (probe->places[i].element < 0) continue;
            const eg_group *g = eg_space_group_of(space, probe->places[i].element);
            group_probe *m = &probe->groups[g - space->groups];
            if (m->points) m->points[m->count] = i;
            m->count++;
        }
        for (int group = 0; group < space->group_count && pass == 0; group++) {
            group_probe *m = &probe->groups[group];
            const int lanes = space->groups[group].lanes;
            m->tiles = (m->count + lanes - 1) / lanes;
            EG_TRY(eg_new(space->ctx, (size_t)m->count, &m->points));
            m->count = 0;
        }
    }
    for (int group = 0; group < space->group_count; group++)
        EG_TRY(create_tables(probe, group));
done:
    return status;
}

/* --- life ------------------------------------------------------------------------------------- */

static eg_status create(eg_space *space, int count, eg_probe **out)
{
    eg_probe *probe = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    if (count < 0) return eg_fail(space->ctx, EG_ERROR_ARGUMENT, "a probe of %d points", count);
    EG_TRY(eg_new(space->ctx, 1, &probe));
    probe->space = space;
    probe->count = count;
    EG_TRY(eg_new(space->ctx, (size_t)count, &probe->places));
    EG_TRY(eg_new(space->ctx, (size_t)count, &probe->lost));
    *out = probe;
    probe = NULL;
done:
    eg_probe_destroy(&probe);
    return status;
}

eg_status eg_probe_create(eg_space *space, int count, const double *x, bool *lost, eg_probe **out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(space->comm, create(space, count, out)));
    EG_TRY(find_points(*out, x, lost));
    EG_TRY(eg_comm_agree(space->comm, prepare(*out)));
done:
    if (status != EG_OK) eg_probe_destroy(out);
    return status;
}

void eg_probe_destroy(eg_probe **handle)
{
    eg_probe *probe = *handle;
    if (!probe) return;
    eg_context *ctx = probe->space->ctx;
    eg_release(ctx, &probe->host);
    eg_buffer_destroy(&probe->values);
    for (int group = 0; probe->groups && group < probe->space->group_count; group++) {
        group_probe *m = &probe->groups[group];
        eg_kernel_destroy(&m->kernel[1]);
        eg_kernel_destroy(&m->kernel[0]);
        eg_buffer_destroy(&m->slot);
        eg_buffer_destroy(&m->table);
        eg_release(ctx, &m->points);
    }
    eg_release(ctx, &probe->groups);
    eg_release(ctx, &probe->lost);
    eg_release(ctx, &probe->places);
    eg_release(ctx, handle);
}

bool eg_probe_place(const eg_probe *probe, int point, int64_t *global, double r[3])
{
    const place *p = &probe->places[point];
    if (p->element < 0) return false;
    *global = probe->space->mesh->global[p->element];
    memcpy(r, p->r, sizeof p->r);
    return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Values of a group's points, in whole slots: groups then begin at multiples of their lanes. */
static size_t group_values(const eg_probe *probe, int group, int components)
{
    const size_t lanes = (size_t)probe->space->groups[group].lanes;
    const size_t count = (size_t)probe->groups[group].tiles * (size_t)components * lanes;
    return (count + EG_SLOT_BLOCK - 1) / EG_SLOT_BLOCK * EG_SLOT_BLOCK;
}

/* Makes room for the values of so many components. */
static eg_status make_room(eg_probe *probe, int components)
{
    eg_context *ctx = probe->space->ctx;
    size_t needed = 0;
    eg_status status = EG_OK;
    for (int group = 0; group < probe->space->group_count; group++)
        needed += group_values(probe, group, components);
    if (needed <= probe->capacity) return EG_OK;
    probe->capacity = 0;
    eg_release(ctx, &probe->host);
    eg_buffer_destroy(&probe->values);
    EG_TRY(eg_buffer_create(probe->space->device, EG_F64, needed, &probe->values));
    EG_TRY(eg_new(ctx, needed, &probe->host));
    probe->capacity = needed;
done:
    return status;
}

static eg_status find_kernel(const eg_probe *probe, int group, eg_type type, eg_kernel **kernel)
{
    const eg_define define = {"ROWS", EG_KERNEL_ROWS};
    if (*kernel) return EG_OK;
    return eg_kernel_create(probe->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "field/probe.k.c",
                                                 .entry = "probe",
                                                 .real = type,
                                                 .lanes = probe->space->groups[group].lanes,
                                                 .defines = &define,
                                                 .define_count = 1},
                            kernel);
}

/* Reads the points of a group to values from `first` on. */
static eg_status read_group(eg_probe *probe, const eg_field *field, int group, size_t first)
{
    const eg_group *g = &probe->space->groups[group];
    group_probe *m = &probe->groups[group];
    eg_kernel **kernel = &m->kernel[field->type == EG_F32];
    const int64_t rows = m->tiles * field->components;
    eg_status status = EG_OK;
    EG_TRY(find_kernel(probe, group, field->type, kernel));
    EG_TRY(eg_launch(*kernel, eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("components", field->components), EG_INTEGER("np", g->element->np),
                     EG_INTEGER("first", (int64_t)field->offset[group]),
                     EG_BUFFER("field", field->data), EG_BUFFER("table", m->table),
                     EG_BUFFER("slot", m->slot), EG_INTEGER("to", (int64_t)first / g->lanes),
                     EG_BUFFER("values", probe->values)));
done:
    return status;
}

/* Sorts what was read of a group, `from` [tiles][components][lanes], to the points. */
static void sort_group(const eg_probe *probe, int group, int components, const double *from,
                       double *values)
{
    const group_probe *m = &probe->groups[group];
    const size_t lanes = (size_t)probe->space->groups[group].lanes, fields = (size_t)components;
    for (size_t i = 0; i < (size_t)m->count; i++)
        for (size_t c = 0; c < fields; c++)
            values[(size_t)m->points[i] * fields + c] =
                from[(i / lanes * fields + c) * lanes + i % lanes];
}

/* Reads the points of this rank; all others become 0. */
static eg_status read_own(eg_probe *probe, const eg_field *field, double *values)
{
    const eg_space *space = probe->space;
    const int components = field->components;
    size_t first = 0;
    eg_status status = EG_OK;
    if (field->space != space)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT, "the field lives on another space");
    for (size_t i = 0; i < (size_t)probe->count * (size_t)components; i++)
        values[i] = 0;
    EG_TRY(make_room(probe, components));
    for (int group = 0; group < space->group_count; group++) {
        if (probe->groups[group].count > 0) EG_TRY(read_group(probe, field, group, first));
        first += group_values(probe, group, components);
    }
    if (first > 0) EG_TRY(eg_buffer_download(probe->values, 0, first, probe->host));
    first = 0;
    for (int group = 0; group < space->group_count; group++) {
        if (probe->groups[group].count > 0)
            sort_group(probe, group, components, probe->host + first, values);
        first += group_values(probe, group, components);
    }
done:
    return status;
}

eg_status eg_probe_read(eg_probe *probe, const eg_field *field, double *values)
{
    const size_t fields = (size_t)field->components;
    eg_comm *comm = probe->space->comm;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(comm, read_own(probe, field, values)));
    EG_TRY(reduce(comm, eg_comm_sum, (size_t)probe->count * fields, values));
    for (size_t i = 0; i < (size_t)probe->count * fields; i++)
        if (probe->lost[i / fields]) values[i] = NAN;
done:
    return status;
}
