/* `eagre info` of a checkpoint: what it holds, in which files, and which others lie beside it. */
#include "base/json.h"
#include "cli/cli.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A checkpoint beside the one that was asked for. */
typedef struct other {
    char *path; /* owned */
    bool whole;
    int64_t step;
    double time;
} other;

typedef struct others {
    size_t count;
    other *at; /* [count] owned, newest first */
} others;

static void others_free(eg_context *ctx, others *list)
{
    for (size_t i = 0; i < list->count; i++)
        eg_release(ctx, &list->at[i].path);
    eg_release(ctx, &list->at);
}

/* The directory that holds a path. */
static eg_status put_parent(eg_text *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return eg_text_puts(out, ".");
    return eg_text_add(out, path, slash == path ? 1 : (size_t)(slash - path));
}

static bool same_name(const char *a, const char *b)
{
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
    return strcmp(x ? x + 1 : a, y ? y + 1 : b) == 0;
}

/* Opens the other checkpoints of a directory to see whether they are whole. */
static eg_status find_others(eg_context *ctx, const char *path, others *list)
{
    eg_status status = EG_OK;
    eg_text parent = eg_text_new(ctx);
    char **paths = NULL;
    size_t count = 0;
    EG_TRY(put_parent(&parent, path));
    EG_TRY(eg_checkpoint_list(ctx, parent.data, &count, &paths));
    EG_TRY(eg_new(ctx, count, &list->at));
    for (size_t i = 0; i < count; i++) {
        eg_checkpoint *checkpoint = NULL;
        if (same_name(paths[i], path)) continue;
        other *found = &list->at[list->count++];
        found->path = paths[i];
        paths[i] = NULL;
        found->whole = eg_checkpoint_open(ctx, NULL, found->path, &checkpoint) == EG_OK;
        if (!found->whole) continue;
        found->step = eg_checkpoint_get_info(checkpoint)->step;
        found->time = eg_checkpoint_get_info(checkpoint)->time;
        eg_checkpoint_close(&checkpoint);
    }
done:
    for (size_t i = 0; i < count; i++)
        eg_release(ctx, &paths[i]);
    eg_release(ctx, &paths);
    eg_text_free(&parent);
    return status;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void fields_json(eg_json *json, const eg_checkpoint_info *info)
{
    eg_json_key(json, "fields");
    eg_json_begin_array(json);
    for (int f = 0; f < info->field_count; f++) {
        const eg_checkpoint_field *field = &info->fields[f];
        eg_json_begin_object(json);
        eg_json_put_string(json, "name", field->name);
        eg_json_key(json, "components");
        eg_json_begin_array(json);
        for (int c = 0; c < field->components; c++) {
            eg_json_begin_object(json);
            eg_json_put_string(json, "name", field->names[c]);
            if (field->units[c]) eg_json_put_string(json, "unit", field->units[c]);
            eg_json_close(json);
        }
        eg_json_close(json);
        eg_json_put_string(json, "basis", eg_basis_name(field->basis));
        eg_json_put_integer(json, "degree_least", field->degree_least);
        eg_json_put_integer(json, "degree_most", field->degree_most);
        eg_json_put_bool(json, "kept_only", field->kept_only);
        eg_json_close(json);
    }
    eg_json_close(json);
}

static void case_json(eg_json *json, const eg_checkpoint_info *info)
{
    eg_json_key(json, "case");
    eg_json_begin_object(json);
    eg_json_put_string(json, "path", info->case_path);
    eg_json_key(json, "replacements");
    eg_json_begin_array(json);
    for (size_t i = 0; i < info->replacement_count; i++)
        eg_json_string(json, info->replacements[i]);
    eg_json_close(json);
    eg_json_put_string(json, "text", info->case_text);
    eg_json_close(json);
}

static void files_json(eg_json *json, const eg_checkpoint_info *info, const others *list)
{
    eg_json_key(json, "blocks");
    eg_json_begin_array(json);
    for (int i = 0; i < info->block_count; i++) {
        const eg_checkpoint_block *block = &info->blocks[i];
        eg_json_begin_object(json);
        eg_json_put_string(json, "file", block->file);
        eg_json_put_integer(json, "rank", block->rank);
        eg_json_put_integer(json, "elements", block->elements);
        eg_json_put_integer(json, "bytes", block->bytes);
        eg_json_put_string(json, "sha256", block->sha256);
        eg_json_close(json);
    }
    eg_json_close(json);
    eg_json_key(json, "others");
    eg_json_begin_array(json);
    for (size_t i = 0; i < list->count; i++) {
        eg_json_begin_object(json);
        eg_json_put_string(json, "path", list->at[i].path);
        eg_json_put_bool(json, "whole", list->at[i].whole);
        if (list->at[i].whole) {
            eg_json_put_integer(json, "step", list->at[i].step);
            eg_json_put_number(json, "time", list->at[i].time);
        }
        eg_json_close(json);
    }
    eg_json_close(json);
}

static void info_json(eg_json *json, const eg_checkpoint_info *info, const others *list)
{
    eg_json_begin_object(json);
    eg_json_put_string(json, "kind", "checkpoint");
    eg_json_put_string(json, "path", info->path);
    eg_json_put_string(json, "model", info->model);
    eg_json_put_integer(json, "step", info->step);
    eg_json_put_number(json, "time", info->time);
    eg_json_put_number(json, "dt", info->dt);
    eg_json_put_string(json, "written", info->written);
    eg_json_put_string(json, "version", info->version);
    eg_json_put_string(json, "device", info->device);
    eg_json_put_integer(json, "ranks", info->ranks);
    eg_json_put_integer(json, "dim", info->dim);
    eg_json_put_integer(json, "elements", info->elements);
    eg_json_put_integer(json, "dof", info->dof);
    eg_json_put_integer(json, "bytes", info->bytes);
    fields_json(json, info);
    eg_json_key(json, "numbers");
    eg_json_begin_object(json);
    for (int i = 0; i < info->number_count; i++)
        eg_json_put_number(json, info->number_names[i], info->numbers[i]);
    eg_json_close(json);
    case_json(json, info);
    files_json(json, info, list);
    eg_json_close(json);
}

/* --- text ------------------------------------------------------------------------------------- */

#define LABEL "%-13s" /* the first column */

/* "u [m/s], v; degrees 2 to 5, basis gauss" */
static eg_status put_field(eg_text *out, const eg_checkpoint_field *field)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "  %-11s", field->name));
    for (int c = 0; c < field->components; c++) {
        const char *unit = field->units[c];
        EG_TRY(eg_text_printf(out, "%s%s%s%s%s", c > 0 ? ", " : "", field->names[c],
                              unit ? " [" : "", unit ? unit : "", unit ? "]" : ""));
    }
    if (field->degree_least == field->degree_most)
        EG_TRY(eg_text_printf(out, "; degree %d", field->degree_least));
    else
        EG_TRY(eg_text_printf(out, "; degrees %d to %d", field->degree_least, field->degree_most));
    EG_TRY(eg_text_printf(out, ", basis %s%s\n", eg_basis_name(field->basis),
                          field->kept_only ? "; of an earlier step" : ""));
done:
    return status;
}

static eg_status put_contents(eg_text *out, const eg_checkpoint_info *info)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, LABEL "%" PRId64 " in %d dimensions\n", "elements", info->elements,
                          info->dim));
    EG_TRY(eg_text_printf(out, LABEL "%" PRId64 "\n", "unknowns", info->dof));
    EG_TRY(eg_text_puts(out, "fields\n"));
    for (int f = 0; f < info->field_count; f++)
        EG_TRY(put_field(out, &info->fields[f]));
    if (info->number_count > 0) EG_TRY(eg_text_puts(out, "numbers\n"));
    for (int i = 0; i < info->number_count; i++)
        EG_TRY(eg_text_printf(out, "  %-20s %.15g\n", info->number_names[i], info->numbers[i]));
done:
    return status;
}

static eg_status info_text(eg_text *out, const eg_checkpoint_info *info, const others *list)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, LABEL "%s, whole\n", "checkpoint", info->path));
    EG_TRY(eg_text_printf(out, LABEL "%s\n", "model", info->model));
    EG_TRY(eg_text_printf(out, LABEL "%" PRId64 "\n", "step", info->step));
    EG_TRY(eg_text_printf(out, LABEL "%.12g, dt %.6g\n", "time", info->time, info->dt));
    EG_TRY(eg_text_printf(out, LABEL "%s by eagre %s\n", "written", info->written, info->version));
    EG_TRY(eg_text_printf(out, LABEL "%s, %d rank%s\n", "device", info->device, info->ranks,
                          info->ranks == 1 ? "" : "s"));
    if (info->case_path[0]) EG_TRY(eg_text_printf(out, LABEL "%s\n", "case", info->case_path));
    for (size_t i = 0; i < info->replacement_count; i++)
        EG_TRY(eg_text_printf(out, LABEL "%s\n", i == 0 ? "replaced" : "", info->replacements[i]));
    EG_TRY(put_contents(out, info));
    EG_TRY(eg_text_printf(out, LABEL "%d block%s and a manifest, %" PRId64 " bytes\n", "files",
                          info->block_count, info->block_count == 1 ? "" : "s", info->bytes));
    for (size_t i = 0; i < list->count; i++) {
        const other *o = &list->at[i];
        EG_TRY(eg_text_printf(out, LABEL "%s, ", i == 0 ? "others" : "", o->path));
        if (o->whole)
            EG_TRY(eg_text_printf(out, "whole, step %" PRId64 ", time %.12g\n", o->step, o->time));
        else
            EG_TRY(eg_text_puts(out, "damaged, or cannot be read\n"));
    }
done:
    return status;
}

eg_status cli_info_checkpoint(eg_context *ctx, const cli_options *options, const char *path)
{
    eg_status status = EG_OK;
    eg_checkpoint *checkpoint = NULL;
    others list = {0};
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    EG_TRY(eg_checkpoint_open(ctx, options->comm, path, &checkpoint));
    const eg_checkpoint_info *info = eg_checkpoint_get_info(checkpoint);
    EG_TRY(find_others(ctx, info->path, &list));
    if (options->json) {
        info_json(&json, info, &list);
        EG_TRY(eg_json_end(&json));
    } else {
        EG_TRY(info_text(&text, info, &list));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    others_free(ctx, &list);
    eg_checkpoint_close(&checkpoint);
    return status;
}
