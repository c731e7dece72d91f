/* `eagre devices`: what there is to compute on. */
#include "base/json.h"
#include "base/table.h"
#include "cli/cli.h"
#include "device/device.h"

static const cli_option options_list[] = {CLI_COMMON_OPTIONS, {0}};

static eg_status put_json(eg_context *ctx, const eg_device_info *list, size_t count)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    eg_json_begin_object(&json);
    eg_json_key(&json, "devices");
    eg_json_begin_array(&json);
    for (size_t i = 0; i < count; i++) {
        const eg_device_info *d = &list[i];
        eg_json_begin_object(&json);
        eg_json_put_string(&json, "spec", d->spec);
        eg_json_put_string(&json, "backend", d->backend);
        eg_json_put_string(&json, "name", d->name);
        eg_json_put_string(&json, "version", d->version);
        eg_json_put_string(&json, "features", d->features);
        eg_json_put_integer(&json, "memory_bytes", (int64_t)d->memory_bytes);
        eg_json_put_integer(&json, "compute_units", d->compute_units);
        eg_json_put_integer(&json, "threads", d->threads);
        eg_json_put_integer(&json, "shared_bytes", (int64_t)d->shared_bytes);
        eg_json_put_integer(&json, "max_block_threads", d->max_block_threads);
        eg_json_put_integer(&json, "lanes", d->lanes);
        eg_json_put_bool(&json, "is_gpu", d->is_gpu);
        eg_json_put_bool(&json, "has_f64", d->has_f64);
        eg_json_put_bool(&json, "has_tensor_f64", d->has_tensor_f64);
        eg_json_put_integer(&json, "max_tiles_in_flight", d->max_tiles_in_flight);
        eg_json_close(&json);
    }
    eg_json_close(&json);
    eg_json_close(&json);
    EG_TRY(eg_json_end(&json));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status put_table(eg_context *ctx, const eg_device_info *list, size_t count)
{
    static const eg_column columns[] = {{"device", true},   {"name", true},    {"units", false},
                                        {"memory", false},  {"shared", false}, {"lanes", false},
                                        {"features", true}, {"driver", true}};
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    eg_table table = eg_table_new(ctx, columns, EG_COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        const eg_device_info *d = &list[i];
        eg_table_cell(&table, "%s", d->spec);
        eg_table_cell(&table, "%s", d->name);
        eg_table_cell(&table, "%d", d->compute_units);
        eg_table_cell(&table, "%.1f GiB", (double)d->memory_bytes / 1073741824.0);
        eg_table_cell(&table, "%.0f KiB", (double)d->shared_bytes / 1024.0);
        eg_table_cell(&table, "%d", d->lanes);
        eg_table_cell(&table, "%s%s%s", d->features, d->has_f64 ? "" : " no-f64",
                      d->has_tensor_f64 ? " f64-tensor" : "");
        eg_table_cell(&table, "%s", d->version);
    }
    EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, &text));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_table_free(&table);
    eg_text_free(&text);
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    eg_device *device = NULL;
    eg_device_info *list = NULL;
    const eg_device_info *shown = NULL;
    size_t count = 0;
    if (options->name_count > 0) {
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "\"%s\" is one word too many; to see one device use --device %s",
                       options->names[0], options->names[0]);
    }
    if (options->device) {
        EG_TRY(eg_device_open(ctx, options->device, &device));
        shown = eg_device_get_info(device);
        count = 1;
    } else {
        EG_TRY(eg_device_list(ctx, &list, &count));
        shown = list;
    }
    EG_TRY(options->json ? put_json(ctx, shown, count) : put_table(ctx, shown, count));
done:
    eg_device_list_free(ctx, &list);
    eg_device_close(&device);
    return status;
}

const cli_command cli_command_devices = {
    .name = "devices",
    .summary = "list the devices eagre can compute on",
    .usage = "[--device D] [--json]",
    .about =
        "Lists every CPU, CUDA and OpenCL device that can be opened, with what --device takes\n"
        "in the first column. With --device only that one, as it would be used.\n",
    .example = "  eagre devices\n  eagre devices --json\n",
    .options = options_list,
    .run = run,
};
