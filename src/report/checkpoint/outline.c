/* What a manifest says of the run, and how long it will be. */
#define _GNU_SOURCE
#include "report/checkpoint/outline.h"

#include <inttypes.h>
#include <time.h>

#include "field/space.h"

/* The most that the sequence, the mesh and degrees add to what is known of a manifest. */
#define BYTES_MORE 4096

/* What the run was started with. */
static eg_status copy_case(const eg_case *cas, eg_outline *out)
{
    eg_checkpoint_info *info = &out->manifest.info;
    eg_status status = EG_OK;
    info->case_path = "";
    if (cas) {
        const eg_case_source source = eg_case_get_source(cas);
        EG_TRY(eg_text_add(&out->case_text, source.text, source.length));
        info->case_path = source.path;
        info->replacements = source.overrides;
        info->replacement_count = source.override_count;
    }
    info->case_text = eg_text_string(&out->case_text);
done:
    return status;
}

eg_status eg_outline_open(const eg_checkpoint_options *options, const eg_state *state, int ranks,
                          eg_outline *out)
{
    const eg_mesh *mesh = state->fields[0].field->space->mesh;
    const time_t now = time(NULL);
    struct tm utc;
    *out = (eg_outline){.manifest.info = {.model = options->model,
                                          .version = options->version,
                                          .device = options->device,
                                          .written = out->written,
                                          .step = state->step,
                                          .time = state->time,
                                          .dt = state->dt,
                                          .ranks = ranks,
                                          .dim = mesh->dim,
                                          .fields = out->fields,
                                          .field_count = state->field_count,
                                          .number_names = out->number_names,
                                          .numbers = out->numbers,
                                          .number_count = state->number_count},
                        .case_text = eg_text_new(mesh->ctx)};
    for (int f = 0; f < state->field_count; f++) {
        const eg_state_field *from = &state->fields[f];
        out->fields[f] = (eg_checkpoint_field){.name = from->name,
                                               .basis = from->field->space->basis,
                                               .components = from->field->components,
                                               .names = from->names,
                                               .units = from->units,
                                               .kept_only = from->kept_only};
    }
    for (int i = 0; i < state->number_count; i++) {
        out->number_names[i] = state->numbers[i].name;
        out->numbers[i] = *state->numbers[i].value;
    }
    gmtime_r(&now, &utc);
    strftime(out->written, sizeof out->written, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return copy_case(options->cas, out);
}

void eg_outline_close(eg_outline *outline)
{
    eg_text_free(&outline->case_text);
}

eg_status eg_outline_check(const eg_outline *outline, int64_t blocks)
{
    eg_context *ctx = outline->case_text.ctx;
    eg_status status = EG_OK;
    eg_manifest manifest = outline->manifest;
    eg_text text = eg_text_new(ctx);
    manifest.info.blocks = &(eg_checkpoint_block){.file = "", .sha256 = ""};
    manifest.info.block_count = 1;
    EG_TRY(eg_manifest_write(&manifest, &text));
    const int64_t length = (int64_t)text.length + BYTES_MORE + blocks * EG_MANIFEST_BLOCK_BYTES;
    if (length > EG_MANIFEST_BYTES)
        status = eg_fail(ctx, EG_ERROR_INPUT,
                         "no checkpoint can be written: with %" PRId64
                         " blocks its manifest may have %" PRId64 " bytes, and only %" PRId64
                         " can be read; a larger output.checkpoint.block_mib makes fewer blocks",
                         blocks, length, EG_MANIFEST_BYTES);
done:
    eg_text_free(&text);
    return status;
}
