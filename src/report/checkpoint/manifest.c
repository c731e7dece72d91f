/* Writes a manifest: plain TOML, a line of its own for each thing that people look for.
 *
 * What belongs to one field, number or block stands at the same place of several lists. */
#include "report/checkpoint/manifest.h"

#include <inttypes.h>
#include <string.h>

static eg_status put_string(eg_text *out, const char *key, const char *value)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "%s = ", key));
    EG_TRY(eg_toml_put_string(out, value ? value : "", value ? strlen(value) : 0, false));
    EG_TRY(eg_text_puts(out, "\n"));
done:
    return status;
}

static eg_status put_real(eg_text *out, const char *key, double value)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "%s = ", key));
    EG_TRY(eg_toml_put_real(out, value));
    EG_TRY(eg_text_puts(out, "\n"));
done:
    return status;
}

/* Part of an array of structures as a list: item i stands `stride` bytes behind item i - 1. */
typedef struct column {
    enum { COLUMN_STRING, COLUMN_REAL, COLUMN_LONG, COLUMN_INT, COLUMN_BOOLEAN, COLUMN_BASIS } kind;
    const void *first; /* not owned */
    size_t count, stride;
} column;

static eg_status put_item(eg_text *out, const column *list, size_t i)
{
    const void *item = (const char *)list->first + i * list->stride;
    const char *text = NULL;
    switch (list->kind) {
    case COLUMN_REAL:
        return eg_toml_put_real(out, *(const double *)item);
    case COLUMN_LONG:
        return eg_text_printf(out, "%" PRId64, *(const int64_t *)item);
    case COLUMN_INT:
        return eg_text_printf(out, "%d", *(const int *)item);
    case COLUMN_BOOLEAN:
        return eg_text_puts(out, *(const bool *)item ? "true" : "false");
    case COLUMN_BASIS:
        text = eg_basis_name(*(const eg_basis *)item);
        break;
    case COLUMN_STRING:
        text = *(const char *const *)item;
        break;
    }
    return eg_toml_put_string(out, text ? text : "", text ? strlen(text) : 0, false);
}

/* A list, an item a line. */
static eg_status put_list(eg_text *out, const char *key, column list)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "%s = [", key));
    for (size_t i = 0; i < list.count; i++) {
        EG_TRY(eg_text_puts(out, "\n    "));
        EG_TRY(put_item(out, &list, i));
        EG_TRY(eg_text_puts(out, ","));
    }
    EG_TRY(eg_text_puts(out, list.count > 0 ? "\n]\n" : "]\n"));
done:
    return status;
}

/* --- sections --------------------------------------------------------------------------------- */

static eg_status put_run(eg_text *out, const eg_checkpoint_info *info)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "format = %d\nsequence = %" PRId64 "\n", EG_MANIFEST_FORMAT,
                          info->sequence));
    EG_TRY(put_string(out, "model", info->model));
    EG_TRY(eg_text_printf(out, "step = %" PRId64 "\n", info->step));
    EG_TRY(put_real(out, "time", info->time));
    EG_TRY(put_real(out, "dt", info->dt));
    EG_TRY(put_string(out, "written", info->written));
    EG_TRY(put_string(out, "version", info->version));
    EG_TRY(put_string(out, "device", info->device));
    EG_TRY(eg_text_printf(out, "ranks = %d\ndof = %" PRId64 "\n", info->ranks, info->dof));
done:
    return status;
}

static eg_status put_mesh(eg_text *out, const eg_manifest *manifest)
{
    const eg_mesh_identity *mesh = &manifest->mesh;
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "\n[mesh]\ndim = %d\nelements = %" PRId64 "\norder = %d\n",
                          manifest->info.dim, mesh->elements, mesh->order));
    EG_TRY(eg_text_printf(out, "numbers = \"%016" PRIx64 "\"\n", mesh->numbers));
    EG_TRY(put_real(out, "place_1", mesh->places[0]));
    EG_TRY(put_real(out, "place_2", mesh->places[1]));
    EG_TRY(put_real(out, "scale", mesh->scale));
done:
    return status;
}

/* The names or units of the components of all fields. */
static eg_status put_labels(eg_text *out, const char *key, const eg_checkpoint_info *info,
                            bool units)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "%s = [", key));
    for (int f = 0; f < info->field_count; f++) {
        const eg_checkpoint_field *field = &info->fields[f];
        const char *const *labels = units ? field->units : field->names;
        EG_TRY(eg_text_puts(out, "\n    "));
        for (int c = 0; c < field->components; c++) {
            const char *label = labels && labels[c] ? labels[c] : "";
            EG_TRY(eg_toml_put_string(out, label, strlen(label), false));
            EG_TRY(eg_text_puts(out, c + 1 < field->components ? ", " : ","));
        }
    }
    EG_TRY(eg_text_puts(out, "\n]\n"));
done:
    return status;
}

#define FIELDS(kind, member)                                                                       \
    ((column){kind, &info->fields[0].member, (size_t)info->field_count, sizeof *info->fields})
#define BLOCKS(kind, member)                                                                       \
    ((column){kind, &info->blocks[0].member, (size_t)info->block_count, sizeof *info->blocks})

static eg_status put_fields(eg_text *out, const eg_checkpoint_info *info)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(out, "\n[fields]\n"));
    EG_TRY(put_list(out, "names", FIELDS(COLUMN_STRING, name)));
    EG_TRY(put_list(out, "bases", FIELDS(COLUMN_BASIS, basis)));
    EG_TRY(put_list(out, "components", FIELDS(COLUMN_INT, components)));
    EG_TRY(put_labels(out, "component_names", info, false));
    EG_TRY(put_labels(out, "component_units", info, true));
    EG_TRY(put_list(out, "kept_only", FIELDS(COLUMN_BOOLEAN, kept_only)));
    EG_TRY(put_list(out, "degree_least", FIELDS(COLUMN_INT, degree_least)));
    EG_TRY(put_list(out, "degree_most", FIELDS(COLUMN_INT, degree_most)));
done:
    return status;
}

static eg_status put_blocks(eg_text *out, const eg_checkpoint_info *info)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(out, "\n[blocks]\n"));
    EG_TRY(put_list(out, "files", BLOCKS(COLUMN_STRING, file)));
    EG_TRY(put_list(out, "sha256", BLOCKS(COLUMN_STRING, sha256)));
    EG_TRY(put_list(out, "bytes", BLOCKS(COLUMN_LONG, bytes)));
    EG_TRY(put_list(out, "elements", BLOCKS(COLUMN_LONG, elements)));
    EG_TRY(put_list(out, "first", BLOCKS(COLUMN_LONG, first)));
    EG_TRY(put_list(out, "last", BLOCKS(COLUMN_LONG, last)));
done:
    return status;
}

static eg_status put_numbers(eg_text *out, const eg_checkpoint_info *info)
{
    const size_t count = (size_t)info->number_count;
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(out, "\n[numbers]\n"));
    EG_TRY(
        put_list(out, "names",
                 (column){COLUMN_STRING, info->number_names, count, sizeof *info->number_names}));
    EG_TRY(put_list(out, "values",
                    (column){COLUMN_REAL, info->numbers, count, sizeof *info->numbers}));
done:
    return status;
}

static eg_status put_case(eg_text *out, const eg_checkpoint_info *info)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(out, "\n[case]\n"));
    EG_TRY(put_string(out, "path", info->case_path));
    EG_TRY(put_list(out, "replacements",
                    (column){COLUMN_STRING, info->replacements, info->replacement_count,
                             sizeof *info->replacements}));
    EG_TRY(eg_text_puts(out, "text = "));
    EG_TRY(eg_toml_put_string(out, info->case_text, strlen(info->case_text), true));
    EG_TRY(eg_text_puts(out, "\n"));
done:
    return status;
}

eg_status eg_manifest_write(const eg_manifest *manifest, eg_text *out)
{
    const eg_checkpoint_info *info = &manifest->info;
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(out, "# A checkpoint of eagre: what it holds, in which files of this "
                             "directory.\n# The last line is the SHA-256 of all before it.\n\n"));
    EG_TRY(put_run(out, info));
    EG_TRY(put_mesh(out, manifest));
    EG_TRY(put_fields(out, info));
    EG_TRY(put_numbers(out, info));
    EG_TRY(put_case(out, info));
    EG_TRY(put_blocks(out, info));
    EG_TRY(eg_manifest_seal(out));
done:
    return status;
}
