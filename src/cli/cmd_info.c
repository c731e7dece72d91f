/* `eagre info`: what a file holds that a run has left behind. */
#define _POSIX_C_SOURCE 200809L
#include "base/json.h"
#include "cli/cli.h"
#include "report/vtu/vtu.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DEGREES (EG_DEGREE_MAX_QUAD + 1)
#define UNKNOWN DEGREES /* in place of the degree of values */

/* A field of a VTU file. */
typedef struct field {
    char *name, *unit;  /* owned; the unit may be NULL */
    double least, most; /* of the finite values at nodes; NaN if there are none */
    int64_t not_finite; /* so many are not */
} field;

/* What a VTU file with all its pieces is like. */
typedef struct contents {
    eg_context *ctx;
    const char *path;
    int dim;
    int64_t step;
    double time;
    int64_t elements[EG_SHAPE_COUNT][DEGREES][DEGREES + 1]; /* by degrees of nodes and of values */
    int64_t element_count, nodes;
    double low[3], high[3];
    int field_count;
    field *fields; /* owned */
    size_t pieces;
    int64_t bytes; /* of all files */
} contents;

static void contents_free(contents *c)
{
    for (int i = 0; i < c->field_count; i++) {
        eg_release(c->ctx, &c->fields[i].name);
        eg_release(c->ctx, &c->fields[i].unit);
    }
    eg_release(c->ctx, &c->fields);
}

/* Bytes of a file; 0 if it is not there. */
static int64_t file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
}

/* --- a file ---------------------------------------------------------------------------------- */

/* Adds values to a field's range. */
static void widen(field *f, const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        f->least = fmin(f->least, isfinite(values[i]) ? values[i] : (double)NAN);
        f->most = fmax(f->most, isfinite(values[i]) ? values[i] : (double)NAN);
        f->not_finite += !isfinite(values[i]);
    }
}

static eg_status add_array(contents *c, const eg_snapshot_array *array, int64_t nodes)
{
    eg_status status = EG_OK;
    int i = 0;
    while (i < c->field_count && strcmp(c->fields[i].name, array->name) != 0)
        i++;
    if (i == c->field_count) {
        EG_TRY(eg_reallocate(c->ctx, (size_t)(i + 1) * sizeof *c->fields, (void **)&c->fields));
        c->fields[i] = (field){.least = (double)NAN, .most = (double)NAN};
        EG_TRY(eg_copy_string(c->ctx, array->name, &c->fields[i].name));
        c->field_count++;
        if (array->unit) EG_TRY(eg_copy_string(c->ctx, array->unit, &c->fields[i].unit));
    }
    widen(&c->fields[i], array->values, nodes);
done:
    return status;
}

static eg_status add_piece(contents *c, const eg_snapshot *s)
{
    eg_status status = EG_OK;
    const int64_t nodes = s->first_node[s->element_count];
    c->step = s->step;
    c->time = s->time;
    if (s->element_count > 0) c->dim = s->dim;
    for (int32_t e = 0; e < s->element_count; e++)
        c->elements[s->shape[e]][s->degree[e]][s->value_degree ? s->value_degree[e] : UNKNOWN]++;
    c->element_count += s->element_count;
    for (int64_t i = 0; i < nodes; i++)
        for (int d = 0; d < s->dim; d++) {
            const double x = s->x[i * s->dim + d];
            const bool first = c->nodes == 0 && i == 0;
            c->low[d] = first ? x : fmin(c->low[d], x);
            c->high[d] = first ? x : fmax(c->high[d], x);
        }
    c->nodes += nodes;
    for (int a = 0; a < s->array_count; a++)
        EG_TRY(add_array(c, &s->arrays[a], nodes));
done:
    return status;
}

/* Reads one piece after the other, so that one at a time is in memory. */
static eg_status open_contents(eg_context *ctx, const char *path, contents *c)
{
    eg_status status = EG_OK;
    char **files = NULL;
    eg_snapshot *piece = NULL;
    size_t count = 0;
    *c = (contents){.ctx = ctx, .path = path};
    EG_TRY(eg_vtu_pieces(ctx, path, &count, &files));
    for (size_t i = 0; i < count; i++) {
        EG_TRY(eg_vtu_read(ctx, files[i], &piece));
        EG_TRY(add_piece(c, piece));
        eg_snapshot_destroy(&piece);
        if (strcmp(files[i], path) != 0) c->bytes += file_size(files[i]);
    }
    c->bytes += file_size(path);
    c->pieces = count;
done:
    for (size_t i = 0; i < count; i++)
        eg_release(ctx, &files[i]);
    eg_release(ctx, &files);
    eg_snapshot_destroy(&piece);
    return status;
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void put_elements_json(eg_json *json, const contents *c)
{
    eg_json_key(json, "elements");
    eg_json_begin_array(json);
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        for (int d = 0; d < DEGREES; d++)
            for (int v = 0; v <= UNKNOWN; v++) {
                if (c->elements[s][d][v] == 0) continue;
                eg_json_begin_object(json);
                eg_json_put_string(json, "shape", eg_shape_get_info((eg_shape)s)->name);
                eg_json_put_integer(json, "degree", d);
                if (v < UNKNOWN) eg_json_put_integer(json, "value_degree", v);
                eg_json_put_integer(json, "count", c->elements[s][d][v]);
                eg_json_close(json);
            }
    eg_json_close(json);
}

static void put_point_json(eg_json *json, const char *key, int dim, const double *x)
{
    eg_json_key(json, key);
    eg_json_begin_array(json);
    for (int d = 0; d < dim; d++)
        eg_json_number(json, x[d]);
    eg_json_close(json);
}

static void put_contents_json(eg_json *json, const contents *c)
{
    eg_json_begin_object(json);
    eg_json_put_string(json, "kind", "vtu");
    eg_json_put_string(json, "path", c->path);
    eg_json_put_number(json, "time", c->time);
    eg_json_put_integer(json, "step", c->step);
    eg_json_put_integer(json, "dim", c->dim);
    put_elements_json(json, c);
    eg_json_put_integer(json, "nodes", c->nodes);
    put_point_json(json, "low", c->dim, c->low);
    put_point_json(json, "high", c->dim, c->high);
    eg_json_key(json, "fields");
    eg_json_begin_array(json);
    for (int i = 0; i < c->field_count; i++) {
        const field *f = &c->fields[i];
        eg_json_begin_object(json);
        eg_json_put_string(json, "name", f->name);
        if (f->unit) eg_json_put_string(json, "unit", f->unit);
        eg_json_put_number(json, "least", f->least);
        eg_json_put_number(json, "most", f->most);
        eg_json_put_integer(json, "not_finite", f->not_finite);
        eg_json_close(json);
    }
    eg_json_close(json);
    eg_json_put_integer(json, "pieces", (int64_t)c->pieces);
    eg_json_put_integer(json, "bytes", c->bytes);
    eg_json_close(json);
}

/* --- text ------------------------------------------------------------------------------------ */

#define LABEL "%-13s" /* the first column */

static eg_status put_elements(eg_text *out, const contents *c)
{
    eg_status status = EG_OK;
    const char *label = "elements";
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        for (int d = 0; d < DEGREES; d++)
            for (int v = 0; v <= UNKNOWN; v++) {
                if (c->elements[s][d][v] == 0) continue;
                EG_TRY(eg_text_printf(out, LABEL "%" PRId64 ", each a %s of degree %d", label,
                                      c->elements[s][d][v], eg_shape_get_info((eg_shape)s)->name,
                                      d));
                if (v < UNKNOWN && v != d) EG_TRY(eg_text_printf(out, ", values of degree %d", v));
                EG_TRY(eg_text_puts(out, "\n"));
                label = "";
            }
    if (c->element_count == 0) EG_TRY(eg_text_printf(out, LABEL "none\n", label));
done:
    return status;
}

static eg_status put_point(eg_text *out, const char *label, int dim, const double *x)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, LABEL, label));
    for (int d = 0; d < dim; d++)
        EG_TRY(eg_text_printf(out, "%s%.6g", d ? ", " : "(", x[d]));
    EG_TRY(eg_text_puts(out, ")\n"));
done:
    return status;
}

static eg_status put_field(eg_text *out, const field *f)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "  %-10s ", f->name));
    if (isnan(f->least))
        EG_TRY(eg_text_puts(out, "no finite value"));
    else
        EG_TRY(eg_text_printf(out, "%.6g to %.6g", f->least, f->most));
    if (f->unit) EG_TRY(eg_text_printf(out, " %s", f->unit));
    if (f->not_finite > 0)
        EG_TRY(eg_text_printf(out, "; %" PRId64 " values are not finite", f->not_finite));
    EG_TRY(eg_text_puts(out, "\n"));
done:
    return status;
}

static eg_status put_contents(eg_text *out, const contents *c)
{
    eg_status status = EG_OK;
    char size[32];
    EG_TRY(eg_text_printf(out, LABEL "%s\n", "file", c->path));
    EG_TRY(eg_text_printf(out, LABEL "%.12g, step %" PRId64 "\n", "time", c->time, c->step));
    EG_TRY(put_elements(out, c));
    EG_TRY(eg_text_printf(out, LABEL "%" PRId64 "\n", "nodes", c->nodes));
    if (c->nodes > 0) {
        EG_TRY(put_point(out, "from", c->dim, c->low));
        EG_TRY(put_point(out, "to", c->dim, c->high));
    }
    if (c->field_count > 0) EG_TRY(eg_text_puts(out, "fields\n"));
    for (int i = 0; i < c->field_count; i++)
        EG_TRY(put_field(out, &c->fields[i]));
    if (c->pieces > 1) EG_TRY(eg_text_printf(out, LABEL "%zu\n", "pieces", c->pieces));
    EG_TRY(eg_text_printf(out, LABEL "%s\n", "size", cli_memory_text(c->bytes, size)));
done:
    return status;
}

/* --- the command ----------------------------------------------------------------------------- */

/* A series, and what its last file is like. */
typedef struct series {
    const char *path;
    size_t count;
    char **files;  /* [count] owned */
    double *times; /* [count] owned */
    contents last; /* if count > 0 */
} series;

static void put_series_json(eg_json *json, const series *s)
{
    eg_json_begin_object(json);
    eg_json_put_string(json, "kind", "series");
    eg_json_put_string(json, "path", s->path);
    eg_json_key(json, "files");
    eg_json_begin_array(json);
    for (size_t i = 0; i < s->count; i++) {
        eg_json_begin_object(json);
        eg_json_put_string(json, "path", s->files[i]);
        eg_json_put_number(json, "time", s->times[i]);
        eg_json_close(json);
    }
    eg_json_close(json);
    if (s->count > 0) {
        eg_json_key(json, "last");
        put_contents_json(json, &s->last);
    }
    eg_json_close(json);
}

static eg_status put_series(eg_text *out, const series *s)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, LABEL "%s\n", "series", s->path));
    if (s->count == 0) return eg_text_printf(out, LABEL "none\n", "files");
    EG_TRY(eg_text_printf(out, LABEL "%zu, times %.12g to %.12g; the last of them:\n", "files",
                          s->count, s->times[0], s->times[s->count - 1]));
    EG_TRY(put_contents(out, &s->last));
done:
    return status;
}

static eg_status info_series(eg_context *ctx, const cli_options *options, const char *path)
{
    eg_status status = EG_OK;
    series s = {.path = path, .last = {.ctx = ctx}};
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    EG_TRY(eg_pvd_read(ctx, path, &s.count, &s.files, &s.times));
    if (s.count > 0) EG_TRY(open_contents(ctx, s.files[s.count - 1], &s.last));
    if (options->json) {
        put_series_json(&json, &s);
        EG_TRY(eg_json_end(&json));
    } else {
        EG_TRY(put_series(&text, &s));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    for (size_t i = 0; i < s.count; i++)
        eg_release(ctx, &s.files[i]);
    eg_release(ctx, &s.files);
    eg_release(ctx, &s.times);
    contents_free(&s.last);
    eg_text_free(&text);
    return status;
}

static eg_status info_vtu(eg_context *ctx, const cli_options *options, const char *path)
{
    eg_status status = EG_OK;
    contents c = {.ctx = ctx};
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    EG_TRY(open_contents(ctx, path, &c));
    if (options->json) {
        put_contents_json(&json, &c);
        EG_TRY(eg_json_end(&json));
    } else {
        EG_TRY(put_contents(&text, &c));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    contents_free(&c);
    eg_text_free(&text);
    return status;
}

/* Directories hold checkpoints, and so do their manifests. */
static bool is_checkpoint(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return true;
    return strcmp(slash ? slash + 1 : path, "manifest.toml") == 0;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    if (options->name_count != 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "name one file: eagre info FILE");
    const char *path = options->names[0];
    struct stat info;
    if (stat(path, &info) != 0)
        return eg_fail(ctx, EG_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    if (is_checkpoint(path)) return cli_info_checkpoint(ctx, options, path);
    if (cli_ends_with(path, ".pvd")) return info_series(ctx, options, path);
    if (cli_ends_with(path, ".vtu") || cli_ends_with(path, ".pvtu"))
        return info_vtu(ctx, options, path);
    return eg_fail(ctx, EG_ERROR_ARGUMENT,
                   "cannot tell what %s is: checkpoints are directories, fields are .vtu, .pvtu or "
                   ".pvd files%s",
                   path,
                   cli_is_gmsh_file(path)         ? "; for meshes there is \"eagre mesh info\""
                   : cli_ends_with(path, ".toml") ? "; for cases there is \"eagre check\""
                                                  : "");
}

static eg_status complete(eg_context *ctx, int count, char *const *words, eg_text *out)
{
    (void)ctx;
    (void)words;
    return count == 0 ? eg_text_puts(out, "FILES\n") : EG_OK;
}

static const cli_option options_list[] = {CLI_COMMON_OPTIONS, {0}};

const cli_command cli_command_info = {
    .name = "info",
    .summary = "what a file of fields or a checkpoint holds",
    .usage = "FILE [--json]",
    .about =
        "FILE is a file of fields (.vtu, .pvtu; .pvd: a series of them), or a checkpoint: its\n"
        "directory or manifest, or a directory of checkpoints, of which the newest is taken.\n"
        "\n"
        "Of fields it prints time, elements by shape and degree, the box they lie in, and each\n"
        "field's range over the nodes; other programs' VTU files are read, too. Of checkpoints\n"
        "it verifies all checksums and prints what was kept of the run.\n",
    .example = "  eagre info fields.pvd\n  eagre info checkpoints --json\n",
    .options = options_list,
    .run = run,
    .complete = complete,
};
