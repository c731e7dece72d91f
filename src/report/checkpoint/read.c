/* Reads fields of checkpoints: elements are found by their global numbers, whatever rank and block they
 * are in, and projected where degree or basis is another.
 *
 * Blocks are taken in turn, those of this rank's number first: where the mesh is divided as it was, these
 * have all own elements, and no other is loaded. */
#include <inttypes.h>
#include <string.h>

#include "field/space.h"
#include "mesh/build.h"
#include "report/checkpoint/open.h"
#include "report/checkpoint/transfer.h"

/* --- finding elements ------------------------------------------------------------------------- */

/* Elements of a mesh by their global numbers, and which of them have been found. */
typedef struct finder {
    const eg_mesh *mesh; /* not owned */
    int32_t count;       /* of elements that are looked for: the first ones of the mesh */
    uint64_t *global;    /* [count] ascending; owned */
    int32_t *element;    /* [count] whose these are; owned */
    bool *found;         /* [count] by element; owned */
    int32_t found_count;
} finder;

static eg_status finder_open(const eg_mesh *mesh, bool ghosts, finder *f)
{
    eg_status status = EG_OK;
    *f = (finder){.mesh = mesh, .count = mesh->element_count + (ghosts ? mesh->ghost_count : 0)};
    EG_TRY(eg_new(mesh->ctx, (size_t)f->count, &f->global));
    EG_TRY(eg_new(mesh->ctx, (size_t)f->count, &f->element));
    EG_TRY(eg_new(mesh->ctx, (size_t)f->count, &f->found));
    for (int32_t e = 0; e < f->count; e++) {
        f->global[e] = (uint64_t)mesh->global[e];
        f->element[e] = e;
    }
    EG_TRY(eg_sort_keys(mesh->ctx, (size_t)f->count, f->global, f->element));
done:
    return status;
}

static void finder_close(finder *f)
{
    eg_release(f->mesh->ctx, &f->global);
    eg_release(f->mesh->ctx, &f->element);
    eg_release(f->mesh->ctx, &f->found);
}

/* The place of the first number that is not less than this one. */
static int32_t lower_bound(const finder *f, uint64_t global)
{
    int32_t low = 0, high = f->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (f->global[middle] < global)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The element with a number; -1: it is not looked for. */
static int32_t find(const finder *f, int64_t global)
{
    const int32_t at = lower_bound(f, (uint64_t)global);
    return at < f->count && f->global[at] == (uint64_t)global ? f->element[at] : -1;
}

/* Marks an element of a block as found; one of another shape, or a second one, is wrong. */
static eg_status take(finder *f, const eg_checkpoint *c, int64_t i, int32_t element)
{
    if (c->loaded.shape[i] != f->mesh->shape[element] || f->found[element])
        return eg_fail(c->ctx, EG_ERROR_INPUT, "%s/%s: element %" PRId64 " %s", c->path,
                       c->manifest->info.blocks[c->loaded.block].file, c->loaded.global[i],
                       f->found[element] ? "is stored twice"
                                         : "has another shape than in the mesh");
    f->found[element] = true;
    f->found_count++;
    return EG_OK;
}

static bool may_hold(const finder *f, const eg_checkpoint_block *block)
{
    const int32_t at = lower_bound(f, (uint64_t)block->first);
    return at < f->count && f->global[at] <= (uint64_t)block->last;
}

/* What is done with a block once it is loaded. */
typedef eg_status visit(eg_checkpoint *c, finder *f, const eg_checkpoint_field *field, void *user);

/* Visits the blocks of one rank (`own`), or of all others, until every element is found. */
static eg_status visit_some(eg_checkpoint *c, finder *f, const eg_checkpoint_field *field, int rank,
                            bool own, visit *call, void *user)
{
    const eg_checkpoint_info *info = &c->manifest->info;
    eg_status status = EG_OK;
    for (int b = 0; b < info->block_count && f->found_count < f->count; b++) {
        if ((info->blocks[b].rank == rank) != own || !may_hold(f, &info->blocks[b])) continue;
        EG_TRY(eg_checkpoint_load(c, b));
        EG_TRY(call(c, f, field, user));
    }
done:
    return status;
}

static eg_status visit_blocks(eg_checkpoint *c, finder *f, const eg_checkpoint_field *field,
                              int rank, visit *call, void *user)
{
    eg_status status = EG_OK;
    EG_TRY(visit_some(c, f, field, rank, true, call, user));
    EG_TRY(visit_some(c, f, field, rank, false, call, user));
    for (int32_t e = 0; e < f->count && f->found_count < f->count; e++)
        if (!f->found[e])
            return eg_fail(c->ctx, EG_ERROR_INPUT,
                           "the checkpoint %s does not have element %" PRId64 " of the mesh",
                           c->path, f->mesh->global[e]);
done:
    return status;
}

/* --- fields ----------------------------------------------------------------------------------- */

static eg_status find_field(const eg_checkpoint *c, const char *name,
                            const eg_checkpoint_field **out)
{
    const eg_checkpoint_info *info = &c->manifest->info;
    for (int i = 0; i < info->field_count; i++) {
        *out = &info->fields[i];
        if (strcmp(info->fields[i].name, name) == 0) return EG_OK;
    }
    return eg_fail(c->ctx, EG_ERROR_INPUT,
                   "the checkpoint %s has no field \"%s\"; its first is \"%s\"", c->path, name,
                   info->fields[0].name);
}

/* An array of a field in the block that is loaded. */
static eg_status get_array(eg_checkpoint *c, const eg_checkpoint_field *field, const char *name,
                           eg_type type, size_t count, void *out)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(c->ctx);
    EG_TRY(eg_text_printf(&path, "fields/%s/%s", field->name, name));
    EG_TRY(eg_image_get(c->loaded.image, path.data, type, count, out));
done:
    eg_text_free(&path);
    return status;
}

/* The degrees of a field in the block that is loaded: degrees [elements], released by the caller. */
static eg_status get_degrees(eg_checkpoint *c, const eg_checkpoint_field *field, uint8_t **degrees)
{
    const eg_checkpoint_block *block = &c->manifest->info.blocks[c->loaded.block];
    eg_status status = EG_OK;
    EG_TRY(eg_new(c->ctx, (size_t)block->elements, degrees));
    EG_TRY(get_array(c, field, "degrees", EG_U8, (size_t)block->elements, *degrees));
    for (int64_t i = 0; i < block->elements; i++) {
        const int most = c->loaded.shape[i] == EG_SHAPE_QUAD ? EG_DEGREE_MAX_QUAD : EG_DEGREE_MAX;
        if ((*degrees)[i] >= field->degree_least && (*degrees)[i] <= field->degree_most &&
            (*degrees)[i] <= most)
            continue;
        status = eg_fail(c->ctx, EG_ERROR_INPUT,
                         "%s/%s: degree %d of element %" PRId64 " cannot be one of \"%s\"", c->path,
                         block->file, (*degrees)[i], c->loaded.global[i], field->name);
        goto done;
    }
done:
    return status;
}

static eg_status visit_degrees(eg_checkpoint *c, finder *f, const eg_checkpoint_field *field,
                               void *user)
{
    uint8_t *out = user, *degrees = NULL;
    eg_status status = EG_OK;
    EG_TRY(get_degrees(c, field, &degrees));
    for (int64_t i = 0; i < c->manifest->info.blocks[c->loaded.block].elements; i++) {
        const int32_t element = find(f, c->loaded.global[i]);
        if (element < 0) continue;
        EG_TRY(take(f, c, i, element));
        out[element] = degrees[i];
    }
done:
    eg_release(c->ctx, &degrees);
    return status;
}

eg_status eg_checkpoint_read_degrees(eg_checkpoint *c, const char *name, const eg_mesh *mesh,
                                     uint8_t *degrees)
{
    eg_status status = EG_OK;
    const eg_checkpoint_field *field;
    finder f = {.mesh = mesh};
    EG_TRY(find_field(c, name, &field));
    if (field->degree_least == field->degree_most) { /* nothing to look up */
        memset(degrees, field->degree_least,
               (size_t)mesh->element_count + (size_t)mesh->ghost_count);
        return EG_OK;
    }
    EG_TRY(finder_open(mesh, true, &f));
    EG_TRY(visit_blocks(c, &f, field, 0, visit_degrees, degrees));
done:
    finder_close(&f);
    return status;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Where values go to: an element's stand at values + place[element], [components][np]. */
typedef struct target {
    const uint8_t *degree; /* [elements] not owned */
    const size_t *place;   /* [elements] not owned */
    double *values;        /* not owned */
    int components;
    const int
        *sources; /* [components] which ones they are in the block; NULL: the same; not owned */
    eg_projections projections;
} target;

/* The values of a field in the block that is loaded: released by the caller. */
static eg_status get_values(eg_checkpoint *c, const eg_checkpoint_field *field,
                            const uint8_t *degrees, double **values)
{
    const eg_checkpoint_block *block = &c->manifest->info.blocks[c->loaded.block];
    eg_status status = EG_OK;
    size_t count = 0;
    for (int64_t i = 0; i < block->elements; i++)
        count += (size_t)eg_mode_count((eg_shape)c->loaded.shape[i], degrees[i]) *
                 (size_t)field->components;
    if (count > (size_t)block->bytes / sizeof **values)
        return eg_fail(c->ctx, EG_ERROR_INPUT, "%s/%s is too short for the values of \"%s\"",
                       c->path, block->file, field->name);
    EG_TRY(eg_new(c->ctx, count, values));
    EG_TRY(get_array(c, field, "values", EG_F64, count, *values));
done:
    return status;
}

static eg_status visit_values(eg_checkpoint *c, finder *f, const eg_checkpoint_field *field,
                              void *user)
{
    target *t = user;
    eg_status status = EG_OK;
    uint8_t *degrees = NULL;
    double *values = NULL;
    EG_TRY(get_degrees(c, field, &degrees));
    EG_TRY(get_values(c, field, degrees, &values));
    const double *at = values;
    for (int64_t i = 0; i < c->manifest->info.blocks[c->loaded.block].elements; i++) {
        const eg_shape shape = (eg_shape)c->loaded.shape[i];
        const int np = eg_mode_count(shape, degrees[i]);
        const int32_t element = find(f, c->loaded.global[i]);
        if (element >= 0) {
            const int np_out = eg_mode_count(shape, t->degree[element]);
            EG_TRY(take(f, c, i, element));
            for (int k = 0; k < t->components; k++)
                EG_TRY(eg_projections_apply(
                    &t->projections, shape, degrees[i], t->degree[element],
                    at + (size_t)(t->sources ? t->sources[k] : k) * (size_t)np,
                    t->values + t->place[element] + (size_t)k * (size_t)np_out));
        }
        at += (size_t)np * (size_t)field->components;
    }
done:
    eg_release(c->ctx, &values);
    eg_release(c->ctx, &degrees);
    return status;
}

/* Reads a field on the own elements of a mesh, element by element in the order of the mesh, to a target
 * that has its degrees, components and bases: *values are the caller's. */
static eg_status read_values(eg_checkpoint *c, const eg_checkpoint_field *field, int rank,
                             const eg_mesh *mesh, target t, double **values)
{
    eg_status status = EG_OK;
    finder f = {.mesh = mesh};
    size_t *place = NULL, count = 0;
    EG_TRY(eg_new(c->ctx, (size_t)mesh->element_count, &place));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        place[e] = count;
        count +=
            (size_t)eg_mode_count((eg_shape)mesh->shape[e], t.degree[e]) * (size_t)t.components;
    }
    EG_TRY(eg_new(c->ctx, count, values));
    t.place = place;
    t.values = *values;
    EG_TRY(finder_open(mesh, false, &f));
    EG_TRY(visit_blocks(c, &f, field, rank, visit_values, &t));
done:
    eg_projections_free(&t.projections);
    finder_close(&f);
    eg_release(c->ctx, &place);
    return status;
}

/* Says of a component that is not there which ones are. */
static eg_status lacks_component(const eg_checkpoint *c, const eg_checkpoint_field *field,
                                 const char *name)
{
    const char *nearest = eg_nearest(name, field->names, (size_t)field->components);
    eg_status status = EG_OK;
    eg_text list = eg_text_new(c->ctx);
    for (int k = 0; k < field->components; k++)
        EG_TRY(eg_text_printf(&list, "%s\"%s\"", k > 0 ? ", " : "", field->names[k]));
    status = eg_fail(c->ctx, EG_ERROR_INPUT,
                     "the checkpoint %s has no \"%s\", only %s: a run can go on with what was in it"
                     "%s%s%s",
                     c->path, name, list.data, nearest ? "; did you mean \"" : "",
                     nearest ? nearest : "", nearest ? "\"?" : "");
done:
    eg_text_free(&list);
    return status;
}

/* Finds the components of a field of a run by their names in the checkpoint: sources [count]. */
static eg_status find_components(const eg_checkpoint *c, const eg_checkpoint_field *field,
                                 const char *const *names, int count, int *sources)
{
    for (int k = 0; k < count; k++) {
        int at = 0;
        while (at < field->components && strcmp(field->names[at], names[k]) != 0)
            at++;
        if (at == field->components) return lacks_component(c, field, names[k]);
        sources[k] = at;
    }
    return EG_OK;
}

/* What a rank does alone: *values are the caller's. */
static eg_status read_part(eg_checkpoint *c, const char *name, const char *const *names,
                           const eg_field *field, double **values)
{
    const eg_mesh *mesh = field->space->mesh;
    eg_status status = EG_OK;
    const eg_checkpoint_field *from;
    uint8_t *degree = NULL;
    int *sources = NULL;
    EG_TRY(find_field(c, name, &from));
    if (names) {
        EG_TRY(eg_new(c->ctx, (size_t)field->components, &sources));
        EG_TRY(find_components(c, from, names, field->components, sources));
    } else if (from->components != field->components) {
        status = eg_fail(c->ctx, EG_ERROR_INPUT,
                         "\"%s\" has %d components in the checkpoint %s, and %d in this run", name,
                         from->components, c->path, field->components);
        goto done;
    }
    EG_TRY(eg_new(c->ctx, (size_t)mesh->element_count, &degree));
    for (int32_t e = 0; e < mesh->element_count; e++)
        degree[e] = (uint8_t)eg_space_group_of(field->space, e)->degree;
    const target to = {
        .degree = degree,
        .components = field->components,
        .sources = sources,
        .projections = {.ctx = c->ctx, .from = from->basis, .to = field->space->basis}};
    EG_TRY(read_values(c, from, eg_comm_rank(field->space->comm), mesh, to, values));
done:
    eg_release(c->ctx, &sources);
    eg_release(c->ctx, &degree);
    return status;
}

eg_status eg_checkpoint_read_field(eg_checkpoint *c, const char *name, const char *const *names,
                                   eg_field *field)
{
    eg_status status = EG_OK;
    double *values = NULL;
    EG_TRY(eg_comm_agree(field->space->comm, read_part(c, name, names, field, &values)));
    EG_TRY(eg_field_from_host(field, values));
done:
    eg_release(c->ctx, &values);
    return status;
}

/* --- the mesh, and all fields on it ----------------------------------------------------------- */

eg_status eg_checkpoint_check_mesh(eg_checkpoint *c, eg_comm *comm, const eg_mesh *mesh)
{
    eg_mesh_identity identity;
    const eg_status status = eg_mesh_identify(mesh, comm, &identity);
    if (status != EG_OK) return status;
    const char *difference = mesh->dim != c->manifest->info.dim
                                 ? "it has another dimension"
                                 : eg_mesh_difference(&c->manifest->mesh, &identity);
    if (!difference) return EG_OK;
    return eg_fail(c->ctx, EG_ERROR_INPUT,
                   "the checkpoint %s was written on another mesh than this one (%" PRId64
                   " elements there, %" PRId64 " here): %s",
                   c->path, c->manifest->mesh.elements, identity.elements, difference);
}

eg_status eg_checkpoint_snapshot(eg_checkpoint *c, const eg_mesh *whole, eg_snapshot **out)
{
    const eg_checkpoint_info *info = &c->manifest->info;
    eg_snapshot_values fields[EG_STATE_FIELDS_MAX];
    uint8_t *degree[EG_STATE_FIELDS_MAX] = {0};
    double *values[EG_STATE_FIELDS_MAX] = {0};
    eg_status status = EG_OK;
    int count = 0;
    *out = NULL;
    for (int i = 0; i < info->field_count; i++) {
        const eg_checkpoint_field *from = &info->fields[i];
        if (from->kept_only) continue;
        EG_TRY(eg_new(c->ctx, (size_t)whole->element_count + (size_t)whole->ghost_count,
                      &degree[count]));
        EG_TRY(eg_checkpoint_read_degrees(c, from->name, whole, degree[count]));
        const target to = {.degree = degree[count],
                           .components = from->components,
                           .projections = {.ctx = c->ctx, .from = from->basis, .to = from->basis}};
        EG_TRY(read_values(c, from, 0, whole, to, &values[count]));
        fields[count] = (eg_snapshot_values){.components = from->components,
                                             .names = from->names,
                                             .units = from->units,
                                             .basis = from->basis,
                                             .degree = degree[count],
                                             .values = values[count]};
        count++;
    }
    EG_TRY(eg_snapshot_create_values(whole, info->step, info->time, fields, count, out));
done:
    for (int i = 0; i < EG_STATE_FIELDS_MAX; i++) {
        eg_release(c->ctx, &degree[i]);
        eg_release(c->ctx, &values[i]);
    }
    return status;
}
