/* Reads a manifest: first its checksum, then its TOML against a schema, then what no schema can say.
 *
 * Strings are those of the parsed document, which stays open with what was read. */
#define _GNU_SOURCE
#include "report/checkpoint/manifest.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/checkpoint/ring.h"

#define COMPONENTS_MOST 4096
#define WHOLE 9007199254740992.0 /* 2^53: a schema's range is one of doubles */

static const char *const basis_names[EG_BASIS_COUNT + 1] = {[EG_BASIS_LOBATTO] = "lobatto",
                                                            [EG_BASIS_GAUSS] = "gauss",
                                                            [EG_BASIS_RADAU] = "radau",
                                                            [EG_BASIS_CHEBYSHEV] = "chebyshev",
                                                            [EG_BASIS_EQUIDISTANT] = "equidistant",
                                                            [EG_BASIS_MODAL] = "modal",
                                                            [EG_BASIS_CELLS] = "cells"};

#define KEY(section_, name_, type_)                                                                \
    .section = section_, .name = name_, .type = type_, .required = true
#define FIELDS_COUNT .least_count = 1, .most_count = EG_STATE_FIELDS_MAX
static const eg_key keys[] = {
    {KEY("", "format", EG_KEY_INTEGER)},
    {KEY("", "sequence", EG_KEY_INTEGER), .least = 1, .most = WHOLE},
    {KEY("", "model", EG_KEY_STRING)},
    {KEY("", "step", EG_KEY_INTEGER), .most = WHOLE},
    {KEY("", "time", EG_KEY_REAL)},
    {KEY("", "dt", EG_KEY_REAL)},
    {KEY("", "written", EG_KEY_STRING)},
    {KEY("", "version", EG_KEY_STRING)},
    {KEY("", "device", EG_KEY_STRING)},
    {KEY("", "ranks", EG_KEY_INTEGER), .least = 1, .most = INT32_MAX},
    {KEY("", "dof", EG_KEY_INTEGER), .most = WHOLE},
    {KEY("mesh", "dim", EG_KEY_INTEGER), .least = 2, .most = 3},
    {KEY("mesh", "elements", EG_KEY_INTEGER), .least = 1, .most = WHOLE},
    {KEY("mesh", "order", EG_KEY_INTEGER), .least = 1, .most = 255},
    {KEY("mesh", "numbers", EG_KEY_STRING)},
    {KEY("mesh", "place_1", EG_KEY_REAL)},
    {KEY("mesh", "place_2", EG_KEY_REAL)},
    {KEY("mesh", "scale", EG_KEY_REAL)},
    {KEY("fields", "names", EG_KEY_STRINGS), FIELDS_COUNT},
    {KEY("fields", "bases", EG_KEY_CHOICES), FIELDS_COUNT, .choices = basis_names},
    {KEY("fields", "components", EG_KEY_INTEGERS), FIELDS_COUNT, .least = 1,
     .most = COMPONENTS_MOST},
    {KEY("fields", "component_names", EG_KEY_STRINGS)},
    {KEY("fields", "component_units", EG_KEY_STRINGS)},
    {KEY("fields", "kept_only", EG_KEY_BOOLEANS), FIELDS_COUNT},
    {KEY("fields", "degree_least", EG_KEY_INTEGERS), FIELDS_COUNT, .most = EG_DEGREE_MAX_QUAD},
    {KEY("fields", "degree_most", EG_KEY_INTEGERS), FIELDS_COUNT, .most = EG_DEGREE_MAX_QUAD},
    {KEY("numbers", "names", EG_KEY_STRINGS), .most_count = EG_STATE_NUMBERS_MAX},
    {KEY("numbers", "values", EG_KEY_REALS), .most_count = EG_STATE_NUMBERS_MAX},
    {KEY("case", "path", EG_KEY_STRING)},
    {KEY("case", "replacements", EG_KEY_STRINGS)},
    {KEY("case", "text", EG_KEY_STRING)},
    {KEY("blocks", "files", EG_KEY_STRINGS), .least_count = 1},
    {KEY("blocks", "sha256", EG_KEY_STRINGS), .least_count = 1},
    {KEY("blocks", "bytes", EG_KEY_INTEGERS), .least = 1, .most = WHOLE},
    {KEY("blocks", "elements", EG_KEY_INTEGERS), .least = 1, .most = INT32_MAX},
    {KEY("blocks", "first", EG_KEY_INTEGERS), .most = WHOLE},
    {KEY("blocks", "last", EG_KEY_INTEGERS), .most = WHOLE},
    {0}};

struct eg_manifest_file {
    eg_context *ctx; /* not owned */
    eg_manifest manifest;
    eg_case *doc; /* owned; strings are its own */
    eg_checkpoint_field fields[EG_STATE_FIELDS_MAX];
    const char *number_names[EG_STATE_NUMBERS_MAX];
    double numbers[EG_STATE_NUMBERS_MAX];
    const char **labels;         /* [2][components of all fields] names, then units; owned */
    const char **replacements;   /* owned */
    eg_checkpoint_block *blocks; /* owned */
};

eg_manifest *eg_manifest_get(eg_manifest_file *file)
{
    return &file->manifest;
}

void eg_manifest_close(eg_manifest_file **handle)
{
    eg_manifest_file *file = *handle;
    if (!file) return;
    eg_release(file->ctx, &file->labels);
    eg_release(file->ctx, &file->replacements);
    eg_release(file->ctx, &file->blocks);
    eg_case_close(&file->doc);
    eg_release(file->ctx, handle);
}

/* Fails unless two lists have one length. */
static eg_status check_length(const eg_case *doc, const char *key, size_t count)
{
    if (eg_case_count(doc, key) == count) return EG_OK;
    return eg_case_fail(doc, key, -1, "%s has %zu items, must have %zu", key,
                        eg_case_count(doc, key), count);
}

static void take_run(eg_manifest_file *file)
{
    const eg_case *doc = file->doc;
    eg_checkpoint_info *info = &file->manifest.info;
    info->sequence = eg_case_integer(doc, "sequence");
    info->model = eg_case_string(doc, "model");
    info->step = eg_case_integer(doc, "step");
    info->time = eg_case_real(doc, "time");
    info->dt = eg_case_real(doc, "dt");
    info->written = eg_case_string(doc, "written");
    info->version = eg_case_string(doc, "version");
    info->device = eg_case_string(doc, "device");
    info->ranks = (int)eg_case_integer(doc, "ranks");
    info->dof = eg_case_integer(doc, "dof");
    info->case_path = eg_case_string(doc, "case.path");
    info->case_text = eg_case_string(doc, "case.text");
}

static eg_status take_mesh(eg_manifest_file *file)
{
    const eg_case *doc = file->doc;
    const char *numbers = eg_case_string(doc, "mesh.numbers");
    if (strlen(numbers) != 16 || strspn(numbers, "0123456789abcdef") != 16)
        return eg_case_fail(doc, "mesh.numbers", -1, "numbers must be 16 hexadecimal digits");
    file->manifest.mesh = (eg_mesh_identity){
        .elements = eg_case_integer(doc, "mesh.elements"),
        .order = (int)eg_case_integer(doc, "mesh.order"),
        .numbers = strtoull(numbers, NULL, 16),
        .places = {eg_case_real(doc, "mesh.place_1"), eg_case_real(doc, "mesh.place_2")},
        .scale = eg_case_real(doc, "mesh.scale"),
    };
    file->manifest.info.dim = (int)eg_case_integer(doc, "mesh.dim");
    file->manifest.info.elements = file->manifest.mesh.elements;
    return EG_OK;
}

eg_status eg_manifest_check_name(eg_context *ctx, const char *name)
{
    if (name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) <= 200) return EG_OK;
    return eg_fail(
        ctx, EG_ERROR_ARGUMENT,
        "a field cannot be called \"%.200s\": names have 1 to 200 bytes, no slash, and do "
        "not begin with a dot",
        name);
}

/* Fails unless a field's name is possible and none has it before. */
static eg_status check_field_name(const eg_manifest_file *file, size_t i)
{
    const char *name = eg_case_string_at(file->doc, "fields.names", i);
    if (eg_manifest_check_name(file->ctx, name) != EG_OK)
        return eg_case_fail(file->doc, "fields.names", (int)i, "no name of a field");
    for (size_t k = 0; k < i; k++)
        if (strcmp(file->fields[k].name, name) == 0)
            return eg_case_fail(file->doc, "fields.names", (int)i, "a second field of this name");
    return EG_OK;
}

/* The names and units of all components. */
static eg_status take_labels(eg_manifest_file *file, size_t components)
{
    const eg_case *doc = file->doc;
    eg_status status = EG_OK;
    EG_TRY(check_length(doc, "fields.component_names", components));
    EG_TRY(check_length(doc, "fields.component_units", components));
    EG_TRY(eg_new(file->ctx, 2 * components, &file->labels));
    for (size_t c = 0; c < components; c++) {
        const char *unit = eg_case_string_at(doc, "fields.component_units", c);
        file->labels[c] = eg_case_string_at(doc, "fields.component_names", c);
        file->labels[components + c] = unit[0] ? unit : NULL;
    }
    for (size_t f = 0, c = 0; f < (size_t)file->manifest.info.field_count; f++) {
        file->fields[f].names = file->labels + c;
        file->fields[f].units = file->labels + components + c;
        c += (size_t)file->fields[f].components;
    }
done:
    return status;
}

static eg_status take_fields(eg_manifest_file *file)
{
    static const char *const lists[] = {"fields.bases", "fields.components", "fields.kept_only",
                                        "fields.degree_least", "fields.degree_most"};
    const eg_case *doc = file->doc;
    const size_t count = eg_case_count(doc, "fields.names");
    size_t components = 0;
    eg_status status = EG_OK;
    for (size_t i = 0; i < EG_COUNT(lists); i++)
        EG_TRY(check_length(doc, lists[i], count));
    for (size_t i = 0; i < count; i++) {
        eg_checkpoint_field *field = &file->fields[i];
        EG_TRY(check_field_name(file, i));
        *field = (eg_checkpoint_field){
            .name = eg_case_string_at(doc, "fields.names", i),
            .basis = (eg_basis)eg_case_choice_at(doc, "fields.bases", i),
            .components = (int)eg_case_integer_at(doc, "fields.components", i),
            .kept_only = eg_case_boolean_at(doc, "fields.kept_only", i),
            .degree_least = (int)eg_case_integer_at(doc, "fields.degree_least", i),
            .degree_most = (int)eg_case_integer_at(doc, "fields.degree_most", i)};
        if (field->degree_least > field->degree_most)
            return eg_case_fail(doc, "fields.degree_least", (int)i, "more than degree_most");
        components += (size_t)field->components;
    }
    file->manifest.info.fields = file->fields;
    file->manifest.info.field_count = (int)count;
    EG_TRY(take_labels(file, components));
done:
    return status;
}

static eg_status take_numbers(eg_manifest_file *file)
{
    const eg_case *doc = file->doc;
    const size_t count = eg_case_count(doc, "numbers.names");
    const eg_status status = check_length(doc, "numbers.values", count);
    if (status != EG_OK) return status;
    for (size_t i = 0; i < count; i++) {
        file->number_names[i] = eg_case_string_at(doc, "numbers.names", i);
        file->numbers[i] = eg_case_real_at(doc, "numbers.values", i);
    }
    file->manifest.info.number_count = (int)count;
    file->manifest.info.number_names = file->number_names;
    file->manifest.info.numbers = file->numbers;
    return EG_OK;
}

static eg_status take_replacements(eg_manifest_file *file)
{
    const size_t count = eg_case_count(file->doc, "case.replacements");
    eg_status status = EG_OK;
    EG_TRY(eg_new(file->ctx, count, &file->replacements));
    for (size_t i = 0; i < count; i++)
        file->replacements[i] = eg_case_string_at(file->doc, "case.replacements", i);
    file->manifest.info.replacements = file->replacements;
    file->manifest.info.replacement_count = count;
done:
    return status;
}

/* Fails unless a block is one that this checkpoint can have, and behind the last one, of which `parts`
 * has the name. */
static eg_status check_block(const eg_manifest_file *file, size_t i, int64_t parts[3])
{
    const eg_checkpoint_block *block = &file->blocks[i];
    const int64_t before[2] = {parts[1], parts[2]};
    if (!eg_block_name_read(block->file, parts) || parts[0] != file->manifest.info.sequence ||
        parts[1] >= file->manifest.info.ranks)
        return eg_case_fail(file->doc, "blocks.files", (int)i, "no block of this checkpoint");
    if (parts[1] < before[0] || (parts[1] == before[0] && parts[2] <= before[1]))
        return eg_case_fail(file->doc, "blocks.files", (int)i, "blocks must be in order");
    if (strlen(block->sha256) != EG_SHA256_HEX - 1 ||
        strspn(block->sha256, "0123456789abcdef") != EG_SHA256_HEX - 1)
        return eg_case_fail(file->doc, "blocks.sha256", (int)i, "must be 64 hexadecimal digits");
    if (block->last - block->first < block->elements - 1)
        return eg_case_fail(file->doc, "blocks.elements", (int)i,
                            "more elements than numbers from %lld to %lld", (long long)block->first,
                            (long long)block->last);
    return EG_OK;
}

static eg_status take_blocks(eg_manifest_file *file)
{
    static const char *const lists[] = {"blocks.sha256", "blocks.bytes", "blocks.elements",
                                        "blocks.first", "blocks.last"};
    const eg_case *doc = file->doc;
    const size_t count = eg_case_count(doc, "blocks.files");
    int64_t elements = 0, parts[3] = {0, -1, -1};
    eg_status status = EG_OK;
    for (size_t i = 0; i < EG_COUNT(lists); i++)
        EG_TRY(check_length(doc, lists[i], count));
    EG_TRY(eg_new(file->ctx, count, &file->blocks));
    for (size_t i = 0; i < count; i++) {
        file->blocks[i] =
            (eg_checkpoint_block){.file = eg_case_string_at(doc, "blocks.files", i),
                                  .sha256 = eg_case_string_at(doc, "blocks.sha256", i),
                                  .bytes = eg_case_integer_at(doc, "blocks.bytes", i),
                                  .elements = eg_case_integer_at(doc, "blocks.elements", i),
                                  .first = eg_case_integer_at(doc, "blocks.first", i),
                                  .last = eg_case_integer_at(doc, "blocks.last", i)};
        EG_TRY(check_block(file, i, parts));
        file->blocks[i].rank = (int)parts[1];
        elements += file->blocks[i].elements;
        file->manifest.info.bytes += file->blocks[i].bytes;
    }
    if (elements != file->manifest.info.elements)
        return eg_case_fail(doc, "blocks.elements", -1,
                            "the blocks have %lld elements, the mesh has %lld", (long long)elements,
                            (long long)file->manifest.info.elements);
    file->manifest.info.block_count = (int)count;
    file->manifest.info.blocks = file->blocks;
done:
    return status;
}

/* --- the file --------------------------------------------------------------------------------- */

static eg_status parse(eg_manifest_file *file, const char *name, const char *text, size_t length)
{
    static const eg_key *const tables[] = {keys};
    eg_status status = EG_OK;
    EG_TRY(eg_case_open_text(file->ctx, name, text, length,
                             &(eg_case_options){.tables = tables, .table_count = 1}, &file->doc));
    if (eg_case_integer(file->doc, "format") != EG_MANIFEST_FORMAT)
        return eg_case_fail(file->doc, "format", -1,
                            "this version of eagre reads checkpoints of format %d",
                            EG_MANIFEST_FORMAT);
    take_run(file);
    EG_TRY(take_mesh(file));
    EG_TRY(take_fields(file));
    EG_TRY(take_numbers(file));
    EG_TRY(take_replacements(file));
    EG_TRY(take_blocks(file));
    file->manifest.info.bytes += (int64_t)length;
done:
    return status;
}

eg_status eg_manifest_read(eg_context *ctx, const char *name, const char *text, size_t length,
                           eg_manifest_file **out)
{
    eg_manifest_file *file = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_manifest_check_seal(ctx, name, text, length));
    if (eg_manifest_format(text, length) > EG_MANIFEST_FORMAT)
        EG_TRY(eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "%s has format %lld, and this version of eagre reads format %d", name,
                       (long long)eg_manifest_format(text, length), EG_MANIFEST_FORMAT));
    EG_TRY(eg_new(ctx, 1, &file));
    file->ctx = ctx;
    EG_TRY(parse(file, name, text, length));
    *out = file;
    file = NULL;
done:
    eg_manifest_close(&file);
    return status;
}

/* What is wrong with opening a file, as an errno; 0: nothing. */
static int try_open(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int error = file < 0 ? errno : 0;
    if (file >= 0) close(file);
    return error;
}

eg_status eg_manifest_load(eg_context *ctx, const char *directory, char **text, size_t *length)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(ctx);
    struct stat what;
    *text = NULL;
    EG_TRY(eg_text_printf(&path, "%s/" EG_MANIFEST_NAME, directory));
    if (stat(path.data, &what) == 0 && what.st_size > EG_MANIFEST_BYTES)
        status = eg_fail(ctx, EG_ERROR_INPUT, "%s has %lld bytes: that is no manifest", path.data,
                         (long long)what.st_size);
    else
        status = eg_file_read(ctx, path.data, text, length);
    if (status == EG_ERROR_IO && eg_manifest_lost(try_open(path.data))) status = EG_ERROR_INPUT;
done:
    eg_text_free(&path);
    return status;
}

eg_status eg_manifest_open(eg_context *ctx, const char *directory, eg_manifest_file **out)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(ctx);
    char *text = NULL;
    size_t length = 0;
    *out = NULL;
    EG_TRY(eg_text_printf(&path, "%s/" EG_MANIFEST_NAME, directory));
    EG_TRY(eg_manifest_load(ctx, directory, &text, &length));
    EG_TRY(eg_manifest_read(ctx, path.data, text, length, out));
done:
    eg_release(ctx, &text);
    eg_text_free(&path);
    return status;
}
