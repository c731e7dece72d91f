/* Writes checkpoints.
 *
 *     rank 0   makes sure that a manifest can name all blocks, makes the directory, chooses the sequence
 *     all      write their blocks, one at a time; agree
 *     rank 0   writes the manifest: now the checkpoint exists; agree
 *     rank 0   removes the oldest checkpoints and what dead writers have left
 *
 * Blocks have names that no manifest has named before, so that a checkpoint of the same step stays whole
 * until the new manifest takes the place of the old one. Where anything fails before that, every rank
 * removes what it has written. */
#define _GNU_SOURCE
#include "report/checkpoint/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "field/space.h"
#include "report/checkpoint/image.h"
#include "report/checkpoint/outline.h"
#include "report/checkpoint/ring.h"

#define KEEP_DEFAULT 2
#define BLOCK_BYTES_DEFAULT ((size_t)64 << 20)
#define FILE_MODE 0644

/* What ranks tell each other of a block. */
typedef struct record {
    int64_t bytes, elements, first, last;
    char sha256[EG_SHA256_HEX];
} record;

typedef struct writer {
    eg_context *ctx;                      /* not owned, as are the next four */
    const eg_checkpoint_options *options; /* as given */
    eg_comm *comm;
    const eg_state *state;
    const eg_mesh *mesh;
    char *path; /* of the checkpoint; owned */
    int64_t sequence;
    record *records; /* [record_count] of this rank's blocks; owned */
    int record_count;
    bool finished; /* the manifest is in its place */
} writer;

/* --- before anything is written --------------------------------------------------------------- */

static eg_status check_number(eg_context *ctx, const char *name, double value)
{
    if (!isnan(value)) return EG_OK;
    return eg_fail(ctx, EG_ERROR_NUMERIC, "no checkpoint can be written: %s is NaN", name);
}

static eg_status check_state(const writer *w)
{
    const eg_state *state = w->state;
    eg_status status = EG_OK;
    EG_TRY(eg_image_supported(w->ctx));
    assert(state->step >= 0);
    EG_TRY(check_number(w->ctx, "time", state->time));
    EG_TRY(check_number(w->ctx, "dt", state->dt));
    for (int i = 0; i < state->number_count; i++)
        EG_TRY(check_number(w->ctx, state->numbers[i].name, *state->numbers[i].value));
    for (int f = 0; f < state->field_count; f++) {
        assert(state->fields[f].field->space->mesh == w->mesh);
        EG_TRY(eg_manifest_check_name(w->ctx, state->fields[f].name));
    }
done:
    return status;
}

/* Makes a directory unless it is there, and lets its parent survive a power failure with it. */
static eg_status make_directory(eg_context *ctx, const char *path)
{
    eg_status status = EG_OK;
    eg_text parent = eg_text_new(ctx);
    struct stat what;
    if (mkdir(path, 0777) != 0) {
        if (errno == EEXIST && stat(path, &what) == 0 && S_ISDIR(what.st_mode)) goto done;
        status = eg_fail(ctx, EG_ERROR_IO, "cannot make the directory %s: %s", path,
                         errno == EEXIST ? "a file has this name" : strerror(errno));
        goto done;
    }
    EG_TRY(eg_text_printf(&parent, "%s/..", path));
    EG_TRY(eg_ring_sync(ctx, parent.data));
done:
    eg_text_free(&parent);
    return status;
}

/* What rank 0 does first. */
static eg_status prepare_directory(writer *w, int64_t blocks)
{
    eg_status status = EG_OK;
    eg_ring ring = {0};
    eg_outline outline;
    EG_TRY(eg_outline_open(w->options, w->state, eg_comm_size(w->comm), &outline));
    EG_TRY(eg_outline_check(&outline, blocks));
    EG_TRY(make_directory(w->ctx, w->options->directory));
    EG_TRY(eg_ring_open(w->ctx, w->options->directory, &ring));
    w->sequence = eg_ring_next(&ring);
    EG_TRY(make_directory(w->ctx, w->path));
done:
    eg_outline_close(&outline);
    eg_ring_close(&ring);
    return status;
}

static eg_status prepare(writer *w)
{
    eg_status status = EG_OK;
    EG_TRY(check_state(w));
    EG_TRY(eg_ring_step_path(w->ctx, w->options->directory, w->state->step, &w->path));
done:
    return status;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Values of an element in a field. */
static size_t element_values(const eg_field *field, int32_t element)
{
    const eg_group *group = eg_space_group_of(field->space, element);
    return (size_t)group->element->np * (size_t)field->components;
}

/* How many elements from `first` on make a block: one at least. */
static int32_t block_elements(const writer *w, int32_t first)
{
    const size_t most = w->options->block_bytes ? w->options->block_bytes : BLOCK_BYTES_DEFAULT;
    size_t bytes = 0;
    int32_t count = 0;
    for (; first + count < w->mesh->element_count; count++) {
        for (int f = 0; f < w->state->field_count; f++)
            bytes += element_values(w->state->fields[f].field, first + count) * sizeof(double);
        if (count > 0 && bytes > most) break;
    }
    return count;
}

/* Adds degrees and values of the elements of a block. */
static eg_status put_field(writer *w, eg_image *image, const eg_state_field *from, int32_t first,
                           int32_t count)
{
    const eg_field *field = from->field;
    eg_status status = EG_OK;
    eg_text path = eg_text_new(w->ctx);
    uint8_t *degrees = NULL;
    double *values = NULL;
    size_t value_count = 0;
    EG_TRY(eg_new(w->ctx, (size_t)count, &degrees));
    for (int32_t i = 0; i < count; i++) {
        degrees[i] = (uint8_t)eg_space_group_of(field->space, first + i)->degree;
        value_count += element_values(field, first + i);
    }
    EG_TRY(eg_text_printf(&path, "fields/%s/degrees", from->name));
    EG_TRY(eg_image_put(image, path.data, EG_U8, (size_t)count, degrees));
    EG_TRY(eg_new(w->ctx, value_count, &values));
    EG_TRY(eg_field_to_host_part(field, first, count, values));
    eg_text_clear(&path);
    EG_TRY(eg_text_printf(&path, "fields/%s/values", from->name));
    EG_TRY(eg_image_put(image, path.data, EG_F64, value_count, values));
done:
    eg_release(w->ctx, &values);
    eg_release(w->ctx, &degrees);
    eg_text_free(&path);
    return status;
}

/* The bytes of the block of elements [first, first + count). */
static eg_status make_block(writer *w, int32_t first, int32_t count, void **bytes, size_t *length)
{
    eg_status status = EG_OK;
    eg_image *image = NULL;
    EG_TRY(eg_image_create(w->ctx, &image));
    EG_TRY(eg_image_put(image, "elements", EG_I64, (size_t)count, w->mesh->global + first));
    EG_TRY(eg_image_put(image, "shapes", EG_U8, (size_t)count, w->mesh->shape + first));
    for (int f = 0; f < w->state->field_count; f++)
        EG_TRY(put_field(w, image, &w->state->fields[f], first, count));
    EG_TRY(eg_image_finish(image, bytes, length));
done:
    eg_image_close(&image);
    return status;
}

static eg_status block_path(const writer *w, int block, eg_text *out)
{
    char name[EG_BLOCK_NAME_BYTES];
    eg_block_name(name, w->sequence, eg_comm_rank(w->comm), block);
    return eg_text_printf(out, "%s/%s", w->path, name);
}

static eg_status write_block(writer *w, int32_t first, int32_t count)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(w->ctx);
    record made = {
        .elements = count, .first = w->mesh->global[first], .last = w->mesh->global[first]};
    void *bytes = NULL;
    size_t length = 0;
    for (int32_t e = first; e < first + count; e++) {
        if (w->mesh->global[e] < made.first) made.first = w->mesh->global[e];
        if (w->mesh->global[e] > made.last) made.last = w->mesh->global[e];
    }
    EG_TRY(make_block(w, first, count, &bytes, &length));
    made.bytes = (int64_t)length;
    eg_manifest_sum(bytes, length, made.sha256);
    EG_TRY(
        eg_reallocate(w->ctx, (size_t)(w->record_count + 1) * sizeof made, (void **)&w->records));
    EG_TRY(block_path(w, w->record_count, &path));
    w->records[w->record_count++] = made;
    EG_TRY(eg_file_write_atomic(w->ctx, path.data, bytes, length, FILE_MODE, true));
done:
    eg_release(w->ctx, &bytes);
    eg_text_free(&path);
    return status;
}

/* How many blocks this rank has. */
static int64_t count_blocks(const writer *w)
{
    int64_t count = 0;
    for (int32_t first = 0; first < w->mesh->element_count; first += block_elements(w, first))
        count++;
    return count;
}

static eg_status write_blocks(writer *w)
{
    eg_status status = EG_OK;
    for (int32_t first = 0, count; first < w->mesh->element_count; first += count) {
        count = block_elements(w, first);
        EG_TRY(write_block(w, first, count));
    }
done:
    return status;
}

/* Removes what this rank has written; the last rank takes the directory with it, if that is empty. */
static void remove_blocks(const writer *w)
{
    for (int block = 0; block < w->record_count; block++) {
        eg_text path = eg_text_new(w->ctx);
        if (block_path(w, block, &path) == EG_OK) unlink(path.data);
        eg_text_free(&path);
    }
    rmdir(w->path);
}

/* --- the manifest ----------------------------------------------------------------------------- */

/* What a rank tells the others of itself. */
typedef struct summary {
    int record_count;
    int64_t dof;
    int degree_least[EG_STATE_FIELDS_MAX], degree_most[EG_STATE_FIELDS_MAX];
} summary;

/* What all ranks have told each other. */
typedef struct collection {
    summary *ranks;  /* [size] owned */
    int most;        /* blocks of a rank */
    record *records; /* [size][most] those of rank r are the first ranks[r].record_count; owned */
} collection;

static summary summarise(const writer *w)
{
    summary mine = {.record_count = w->record_count};
    for (int f = 0; f < w->state->field_count; f++) {
        const eg_state_field *from = &w->state->fields[f];
        const eg_space *space = from->field->space;
        mine.degree_least[f] = EG_DEGREE_MAX_QUAD;
        for (int g = 0; g < space->group_count; g++) {
            const int degree = space->groups[g].degree;
            if (space->groups[g].element_count == 0) continue;
            if (degree < mine.degree_least[f]) mine.degree_least[f] = degree;
            if (degree > mine.degree_most[f]) mine.degree_most[f] = degree;
        }
        if (!from->kept_only) mine.dof += (int64_t)eg_field_host_count(from->field);
    }
    return mine;
}

/* Collective. What is allocated is agreed on before anybody waits for it. */
static eg_status collect(writer *w, collection *out)
{
    const size_t size = (size_t)eg_comm_size(w->comm);
    const summary mine = summarise(w);
    eg_status status = EG_OK;
    record *records = NULL;
    EG_TRY(eg_comm_new(w->comm, w->ctx, size, &out->ranks));
    EG_TRY(eg_comm_allgather(w->comm, sizeof mine, &mine, out->ranks));
    for (size_t r = 0; r < size; r++)
        if (out->ranks[r].record_count > out->most) out->most = out->ranks[r].record_count;
    status = eg_new(w->ctx, (size_t)out->most, &records);
    if (status == EG_OK) status = eg_new(w->ctx, (size_t)out->most * size, &out->records);
    EG_TRY(eg_comm_agree(w->comm, status));
    if (w->record_count > 0) memcpy(records, w->records, (size_t)w->record_count * sizeof *records);
    EG_TRY(eg_comm_allgather(w->comm, (size_t)out->most * sizeof *records, records, out->records));
done:
    eg_release(w->ctx, &records);
    return status;
}

/* What the manifest says of the degrees of fields, and of how many values they have together. */
static void describe_degrees(const writer *w, const collection *all, eg_outline *out)
{
    for (int f = 0; f < w->state->field_count; f++) {
        eg_checkpoint_field *field = &out->fields[f];
        field->degree_least = EG_DEGREE_MAX_QUAD;
        for (int r = 0; r < eg_comm_size(w->comm); r++) {
            const summary *rank = &all->ranks[r];
            if (rank->degree_least[f] < field->degree_least)
                field->degree_least = rank->degree_least[f];
            if (rank->degree_most[f] > field->degree_most)
                field->degree_most = rank->degree_most[f];
        }
    }
    for (int r = 0; r < eg_comm_size(w->comm); r++)
        out->manifest.info.dof += all->ranks[r].dof;
}

/* Fills in the blocks; their names stay in `names`. */
static void name_blocks(const writer *w, const collection *all, char (*names)[EG_BLOCK_NAME_BYTES],
                        eg_checkpoint_block *blocks)
{
    size_t n = 0;
    for (int rank = 0; rank < eg_comm_size(w->comm); rank++)
        for (int i = 0; i < all->ranks[rank].record_count; i++, n++) {
            const record *from = &all->records[(size_t)rank * (size_t)all->most + (size_t)i];
            eg_block_name(names[n], w->sequence, rank, i);
            blocks[n] = (eg_checkpoint_block){.file = names[n],
                                              .sha256 = from->sha256,
                                              .rank = rank,
                                              .bytes = from->bytes,
                                              .elements = from->elements,
                                              .first = from->first,
                                              .last = from->last};
        }
}

/* Writes the manifest to its place; on rank 0. */
static eg_status place_manifest(writer *w, const eg_manifest *manifest)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(w->ctx), text = eg_text_new(w->ctx), message = eg_text_new(w->ctx);
    char *there = NULL;
    size_t length = 0;
    EG_TRY(eg_text_printf(&path, "%s/" EG_MANIFEST_NAME, w->path));
    EG_TRY(eg_manifest_write(manifest, &text));
    status = eg_file_write_atomic(w->ctx, path.data, text.data, text.length, FILE_MODE, true);
    w->finished = status == EG_OK;
    if (status == EG_OK) goto done;
    /* It may have failed behind the renaming: then the checkpoint exists and must stay whole. */
    eg_text_puts(&message, eg_context_error(w->ctx));
    w->finished = eg_file_read(w->ctx, path.data, &there, &length) == EG_OK &&
                  length == text.length && memcmp(there, text.data, length) == 0;
    eg_fail(w->ctx, status, "%s", eg_text_string(&message));
done:
    eg_release(w->ctx, &there);
    eg_text_free(&message);
    eg_text_free(&text);
    eg_text_free(&path);
    return status;
}

/* Completes a manifest by its blocks, and writes it. */
static eg_status write_manifest(writer *w, eg_outline *out, const collection *all)
{
    eg_status status = EG_OK;
    eg_checkpoint_block *blocks = NULL;
    char(*names)[EG_BLOCK_NAME_BYTES] = NULL;
    size_t count = 0;
    for (int r = 0; r < eg_comm_size(w->comm); r++)
        count += (size_t)all->ranks[r].record_count;
    EG_TRY(eg_new(w->ctx, count, &blocks));
    EG_TRY(eg_new(w->ctx, count, &names));
    name_blocks(w, all, names, blocks);
    out->manifest.info.blocks = blocks;
    out->manifest.info.block_count = (int)count;
    EG_TRY(place_manifest(w, &out->manifest));
done:
    eg_release(w->ctx, &names);
    eg_release(w->ctx, &blocks);
    return status;
}

/* What rank 0 does with all that was gathered. */
static eg_status conclude(writer *w, const collection *all, const eg_mesh_identity *mesh)
{
    eg_status status = EG_OK;
    eg_outline out;
    EG_TRY(eg_outline_open(w->options, w->state, eg_comm_size(w->comm), &out));
    out.manifest.info.sequence = w->sequence;
    out.manifest.mesh = *mesh;
    describe_degrees(w, all, &out);
    EG_TRY(write_manifest(w, &out, all));
done:
    eg_outline_close(&out);
    return status;
}

/* Gathers what the manifest says, and lets rank 0 write it. Collective. */
static eg_status finish(writer *w)
{
    eg_status status = EG_OK;
    collection all = {0};
    eg_mesh_identity mesh;
    EG_TRY(collect(w, &all));
    EG_TRY(eg_mesh_identify(w->mesh, w->comm, &mesh));
    if (eg_comm_rank(w->comm) == 0) status = conclude(w, &all, &mesh);
    const eg_status told = eg_comm_broadcast(w->comm, 0, sizeof w->finished, &w->finished);
    EG_TRY(eg_comm_agree(w->comm, status != EG_OK ? status : told));
done:
    eg_release(w->ctx, &all.records);
    eg_release(w->ctx, &all.ranks);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void trim(const writer *w)
{
    eg_ring ring = {0};
    if (eg_ring_open(w->ctx, w->options->directory, &ring) != EG_OK)
        eg_log(w->ctx, EG_LOG_WARNING, "old checkpoints are not removed: %s",
               eg_context_error(w->ctx));
    eg_ring_trim(&ring, w->options->keep > 0 ? w->options->keep : KEEP_DEFAULT);
    eg_ring_close(&ring);
}

eg_status eg_checkpoint_write(const eg_checkpoint_options *options, eg_comm *comm,
                              const eg_state *state, char **path)
{
    assert(state->field_count > 0 && state->field_count <= EG_STATE_FIELDS_MAX);
    const eg_space *space = state->fields[0].field->space;
    const bool first = eg_comm_rank(comm) == 0;
    writer w = {
        .ctx = space->ctx, .options = options, .comm = comm, .state = state, .mesh = space->mesh};
    eg_status status = EG_OK;
    double blocks = (double)count_blocks(&w);
    if (path) *path = NULL;
    EG_TRY(eg_comm_agree(comm, prepare(&w)));
    EG_TRY(eg_comm_sum(comm, 1, &blocks));
    EG_TRY(eg_comm_agree(comm, first ? prepare_directory(&w, (int64_t)blocks) : EG_OK));
    EG_TRY(eg_comm_broadcast(comm, 0, sizeof w.sequence, &w.sequence));
    EG_TRY(eg_comm_agree(comm, write_blocks(&w)));
    EG_TRY(finish(&w));
    if (first) trim(&w);
    if (path) {
        *path = w.path;
        w.path = NULL;
    }
done:
    if (status != EG_OK && !w.finished && w.path) remove_blocks(&w);
    eg_release(w.ctx, &w.records);
    eg_release(w.ctx, &w.path);
    return status;
}
