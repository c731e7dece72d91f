/* Snapshots: fields of one time as values at equidistant nodes, gathered from a state. */
#include "report/snapshot.h"

#include <assert.h>
#include <string.h>

#include "field/space.h"
#include "mesh/build.h"
#include "report/snapshot_nodes.h"

void eg_snapshot_destroy(eg_snapshot **handle)
{
    eg_snapshot *s = *handle;
    if (!s) return;
    for (int i = 0; i < s->array_count; i++) {
        eg_release(s->ctx, &s->arrays[i].name);
        eg_release(s->ctx, &s->arrays[i].unit);
        eg_release(s->ctx, &s->arrays[i].values);
    }
    eg_release(s->ctx, &s->arrays);
    eg_release(s->ctx, &s->x);
    eg_release(s->ctx, &s->first_node);
    eg_release(s->ctx, &s->global);
    eg_release(s->ctx, &s->value_degree);
    eg_release(s->ctx, &s->degree);
    eg_release(s->ctx, &s->shape);
    eg_release(s->ctx, handle);
}

int eg_snapshot_find(const eg_snapshot *snapshot, const char *name)
{
    for (int i = 0; i < snapshot->array_count; i++)
        if (strcmp(snapshot->arrays[i].name, name) == 0) return i;
    return -1;
}

eg_status eg_snapshot_allocate(eg_context *ctx, int dim, int32_t element_count, eg_snapshot **out)
{
    const size_t elements = (size_t)element_count;
    eg_snapshot *s = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &s));
    s->ctx = ctx;
    s->dim = dim;
    s->element_count = element_count;
    EG_TRY(eg_new(ctx, elements, &s->shape));
    EG_TRY(eg_new(ctx, elements, &s->degree));
    EG_TRY(eg_new(ctx, elements, &s->global));
    EG_TRY(eg_new(ctx, elements + 1, &s->first_node));
    *out = s;
    return EG_OK;
done:
    eg_snapshot_destroy(&s);
    return status;
}

eg_status eg_snapshot_place_nodes(eg_snapshot *s)
{
    for (int32_t e = 0; e < s->element_count; e++)
        s->first_node[e + 1] =
            s->first_node[e] + eg_mode_count((eg_shape)s->shape[e], s->degree[e]);
    return eg_new(s->ctx, (size_t)s->first_node[s->element_count] * (size_t)s->dim, &s->x);
}

eg_status eg_snapshot_append(eg_snapshot *s, const char *name, const char *unit, double **values)
{
    eg_snapshot_array array = {0};
    eg_status status = EG_OK;
    if (eg_snapshot_find(s, name) >= 0)
        return eg_fail(s->ctx, EG_ERROR_INPUT, "there are two fields called \"%s\"; rename one",
                       name);
    EG_TRY(eg_reallocate(s->ctx, (size_t)(s->array_count + 1) * sizeof *s->arrays,
                         (void **)&s->arrays));
    EG_TRY(eg_copy_string(s->ctx, name, &array.name));
    if (unit) EG_TRY(eg_copy_string(s->ctx, unit, &array.unit));
    EG_TRY(eg_new(s->ctx, (size_t)s->first_node[s->element_count], &array.values));
    s->arrays[s->array_count++] = array;
    *values = array.values;
    return EG_OK;
done:
    eg_release(s->ctx, &array.name);
    eg_release(s->ctx, &array.unit);
    return status;
}

/* --- from values on the host ----------------------------------------------------------------- */

/* The elements of a mesh by ascending global number: order [element_count]. */
static eg_status order_elements(const eg_mesh *mesh, int32_t *order)
{
    eg_status status = EG_OK;
    uint64_t *keys = NULL;
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->element_count, &keys));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        keys[e] = (uint64_t)mesh->global[e];
        order[e] = e;
    }
    EG_TRY(eg_sort_keys(mesh->ctx, (size_t)mesh->element_count, keys, order));
done:
    eg_release(mesh->ctx, &keys);
    return status;
}

/* The elements of a snapshot as parts of those of a mesh. */
typedef struct origin {
    int32_t element;
    int16_t split; /* cells of that element along each direction, 1 where there are none … */
    int16_t part;  /* … and which of them it is, r fastest */
} origin;

/* Cells of an element along each direction; 1 if no field has any. */
static eg_status find_split(const eg_mesh *mesh, int32_t e, const eg_snapshot_values *fields,
                            int count, int *split)
{
    *split = 1;
    for (int f = 0; f < count; f++) {
        const int cells = fields[f].degree[e] + 1;
        if (fields[f].basis != EG_BASIS_CELLS || cells == 1) continue;
        if (*split > 1 && *split != cells)
            return eg_fail(mesh->ctx, EG_ERROR_UNSUPPORTED,
                           "fields with %d and with %d cells along the sides of an element cannot "
                           "be shown together",
                           *split, cells);
        *split = cells;
    }
    return EG_OK;
}

/* Finds the parts of all elements, by ascending global number: *origins is to be released. */
static eg_status find_origins(const eg_mesh *mesh, const eg_snapshot_values *fields, int count,
                              origin **origins, int32_t *found)
{
    eg_status status = EG_OK;
    int32_t *order = NULL;
    int64_t parts = 0;
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        for (int32_t i = 0; i < mesh->element_count; i++) {
            const int32_t e = pass ? order[i] : i;
            int split, n = 1;
            EG_TRY(find_split(mesh, e, fields, count, &split));
            for (int d = 0; d < mesh->dim; d++)
                n *= split;
            for (int part = 0; pass && part < n; part++)
                (*origins)[at + part] = (origin){e, (int16_t)split, (int16_t)part};
            at += n;
        }
        if (pass) break;
        parts = at;
        if (parts > INT32_MAX)
            EG_TRY(eg_fail(mesh->ctx, EG_ERROR_UNSUPPORTED, "%lld cells are too many for one file",
                           (long long)parts));
        EG_TRY(eg_new(mesh->ctx, (size_t)mesh->element_count, &order));
        EG_TRY(order_elements(mesh, order));
        EG_TRY(eg_new(mesh->ctx, (size_t)parts, origins));
    }
    *found = (int32_t)parts;
done:
    eg_release(mesh->ctx, &order);
    return status;
}

static void describe_elements(eg_snapshot *s, const eg_mesh *mesh, const origin *origins,
                              const eg_snapshot_values *fields, int count)
{
    for (int32_t i = 0; i < s->element_count; i++) {
        const int32_t e = origins[i].element;
        s->shape[i] = mesh->shape[e];
        s->global[i] = mesh->global[e];
        s->degree[i] = (uint8_t)(mesh->order > 1 ? mesh->order : 1);
        for (int f = 0; f < count; f++)
            if (fields[f].basis != EG_BASIS_CELLS && fields[f].degree[e] > s->value_degree[i])
                s->value_degree[i] = fields[f].degree[e];
        if (s->value_degree[i] > s->degree[i]) s->degree[i] = s->value_degree[i];
    }
}

static eg_status place_coordinates(eg_snapshot *s, const eg_mesh *mesh, const origin *origins,
                                   eg_to_nodes_list *maps)
{
    eg_status status = EG_OK;
    double *nodes = NULL;
    EG_TRY(eg_new(s->ctx, (size_t)mesh->node_stride * (size_t)mesh->dim, &nodes));
    for (int32_t i = 0; i < s->element_count; i++) {
        const eg_to_nodes *map;
        EG_TRY(eg_to_nodes_find(maps, (eg_shape)s->shape[i], EG_BASIS_LOBATTO, mesh->order,
                                s->degree[i], origins[i].split, &map));
        eg_mesh_element_nodes(mesh, origins[i].element, nodes);
        for (int d = 0; d < s->dim; d++)
            eg_to_nodes_apply(map, origins[i].part, s->dim, nodes + d,
                              s->x + s->first_node[i] * s->dim + d);
    }
done:
    eg_release(s->ctx, &nodes);
    return status;
}

/* Adds the components of a field. */
static eg_status add_field(eg_snapshot *s, const eg_mesh *mesh, const origin *origins,
                           const eg_snapshot_values *field, eg_to_nodes_list *maps)
{
    eg_status status = EG_OK;
    size_t *first = NULL; /* [element] where its values start */
    const int array = s->array_count;
    double *values;
    EG_TRY(eg_new(s->ctx, (size_t)mesh->element_count + 1, &first));
    for (int32_t e = 0; e < mesh->element_count; e++)
        first[e + 1] =
            first[e] + (size_t)field->components *
                           (size_t)eg_mode_count((eg_shape)mesh->shape[e], field->degree[e]);
    for (int c = 0; c < field->components; c++)
        EG_TRY(
            eg_snapshot_append(s, field->names[c], field->units ? field->units[c] : NULL, &values));
    for (int32_t i = 0; i < s->element_count; i++) {
        const int32_t e = origins[i].element;
        const int np = eg_mode_count((eg_shape)s->shape[i], field->degree[e]);
        const eg_to_nodes *map;
        EG_TRY(eg_to_nodes_find(maps, (eg_shape)s->shape[i], field->basis, field->degree[e],
                                s->degree[i], origins[i].split, &map));
        for (int c = 0; c < field->components; c++)
            eg_to_nodes_apply(map, origins[i].part, 1, field->values + first[e] + (size_t)(c * np),
                              s->arrays[array + c].values + s->first_node[i]);
    }
done:
    eg_release(s->ctx, &first);
    return status;
}

eg_status eg_snapshot_create_values(const eg_mesh *mesh, int64_t step, double time,
                                    const eg_snapshot_values *fields, int count, eg_snapshot **out)
{
    eg_context *ctx = mesh->ctx;
    eg_snapshot *s = NULL;
    origin *origins = NULL;
    int32_t elements = 0;
    eg_to_nodes_list maps = {.ctx = ctx};
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(find_origins(mesh, fields, count, &origins, &elements));
    EG_TRY(eg_snapshot_allocate(ctx, mesh->dim, elements, &s));
    s->step = step;
    s->time = time;
    EG_TRY(eg_new(ctx, (size_t)elements, &s->value_degree));
    describe_elements(s, mesh, origins, fields, count);
    EG_TRY(eg_snapshot_place_nodes(s));
    EG_TRY(place_coordinates(s, mesh, origins, &maps));
    for (int f = 0; f < count; f++)
        EG_TRY(add_field(s, mesh, origins, &fields[f], &maps));
    *out = s;
    s = NULL;
done:
    eg_to_nodes_free(&maps);
    eg_release(ctx, &origins);
    eg_snapshot_destroy(&s);
    return status;
}

/* --- from a state ---------------------------------------------------------------------------- */

/* What fetch_field has allocated. */
typedef struct fetched {
    uint8_t *degree;
    double *values;
} fetched;

static eg_status fetch_field(const eg_state_field *from, fetched *owned, eg_snapshot_values *out)
{
    eg_status status = EG_OK;
    const eg_space *space = from->field->space;
    const int32_t elements = space->mesh->element_count;
    EG_TRY(eg_new(space->ctx, (size_t)elements, &owned->degree));
    EG_TRY(eg_new(space->ctx, eg_field_host_count(from->field), &owned->values));
    for (int32_t e = 0; e < elements; e++)
        owned->degree[e] = (uint8_t)eg_space_group_of(space, e)->degree;
    EG_TRY(eg_field_to_host(from->field, owned->values));
    *out = (eg_snapshot_values){.components = from->field->components,
                                .names = from->names,
                                .units = from->units,
                                .basis = space->basis,
                                .degree = owned->degree,
                                .values = owned->values};
done:
    return status;
}

eg_status eg_snapshot_create(const eg_state *state, const eg_snapshot_extra *extras,
                             int extra_count, eg_snapshot **out)
{
    assert(state->field_count > 0 && state->field_count <= EG_STATE_FIELDS_MAX);
    const eg_mesh *mesh = state->fields[0].field->space->mesh;
    eg_snapshot_values fields[EG_STATE_FIELDS_MAX];
    fetched owned[EG_STATE_FIELDS_MAX] = {{0}};
    eg_snapshot *s = NULL;
    eg_status status = EG_OK;
    int count = 0;
    *out = NULL;
    for (int f = 0; f < state->field_count; f++) {
        assert(state->fields[f].field->space->mesh == mesh);
        if (state->fields[f].kept_only) continue;
        EG_TRY(fetch_field(&state->fields[f], &owned[count], &fields[count]));
        count++;
    }
    EG_TRY(eg_snapshot_create_values(mesh, state->step, state->time, fields, count, &s));
    for (int i = 0; i < extra_count; i++)
        EG_TRY(eg_snapshot_add(s, &extras[i]));
    *out = s;
    s = NULL;
done:
    for (int f = 0; f < EG_STATE_FIELDS_MAX; f++) {
        eg_release(mesh->ctx, &owned[f].degree);
        eg_release(mesh->ctx, &owned[f].values);
    }
    eg_snapshot_destroy(&s);
    return status;
}

eg_status eg_snapshot_add(eg_snapshot *s, const eg_snapshot_extra *extra)
{
    eg_status status = EG_OK;
    const int known = s->array_count;
    double *variables = NULL, *values;
    EG_TRY(eg_new(s->ctx, (size_t)(EG_VARIABLE_COUNT + known), &variables));
    EG_TRY(eg_snapshot_append(s, extra->name, NULL, &values));
    variables[EG_VARIABLE_T] = s->time;
    for (int64_t i = 0; i < s->first_node[s->element_count]; i++) {
        for (int d = 0; d < s->dim; d++)
            variables[EG_VARIABLE_X + d] = s->x[i * s->dim + d];
        for (int a = 0; a < known; a++)
            variables[EG_VARIABLE_COUNT + a] = s->arrays[a].values[i];
        values[i] = eg_expression_evaluate(extra->expression, variables);
    }
done:
    eg_release(s->ctx, &variables);
    return status;
}
