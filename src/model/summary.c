/* What a run tells at its end. */
#include "base/table.h"
#include "model/model.h"

#include <inttypes.h>

static double share_of(const eg_run_result *r, double seconds)
{
    return r->run_s > 0 ? seconds / r->run_s : 0;
}

static void put_kernels_json(const eg_run_result *r, eg_json *json)
{
    eg_json_put_number(json, "kernels_s", r->profile.seconds);
    eg_json_put_number(json, "kernels_share", share_of(r, r->profile.seconds));
    eg_json_key(json, "kernels");
    eg_json_begin_array(json);
    for (size_t i = 0; i < r->profile.count; i++) {
        const eg_profile_row *row = &r->profile.rows[i];
        eg_json_begin_object(json);
        eg_json_put_string(json, "kernel", row->entry);
        eg_json_put_string(json, "source", row->source);
        eg_json_put_integer(json, "launches", row->launches);
        eg_json_put_number(json, "seconds", row->seconds);
        eg_json_close(json);
    }
    eg_json_close(json);
}

static eg_status put_kernels_text(eg_context *ctx, const eg_run_result *r, eg_text *out)
{
    static const eg_column columns[] = {{"kernel", true}, {"source", true},  {"launches", false},
                                        {"each", false},  {"in all", false}, {"share", false}};
    eg_status status = EG_OK;
    eg_table table = eg_table_new(ctx, columns, EG_COUNT(columns));
    EG_TRY(eg_text_printf(out, "\nkernels ran for %.3g s of %.3g s after set-up, %.0f %%\n\n",
                          r->profile.seconds, r->run_s, 100 * share_of(r, r->profile.seconds)));
    for (size_t i = 0; i < r->profile.count; i++) {
        const eg_profile_row *row = &r->profile.rows[i];
        eg_table_cell(&table, "%s", row->entry);
        eg_table_cell(&table, "%s", row->source[0] ? row->source : "-");
        eg_table_cell(&table, "%" PRId64, row->launches);
        eg_table_cell(&table, "%.1f us", 1e6 * row->seconds / (double)row->launches);
        eg_table_cell(&table, "%.3g s", row->seconds);
        eg_table_cell(&table, "%.1f %%", 100 * share_of(r, row->seconds));
    }
    EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, out));
done:
    eg_table_free(&table);
    return status;
}

eg_status eg_run_put_json(const eg_run_result *r, const eg_device_info *device, eg_text *out)
{
    eg_json json = eg_json_new(out);
    eg_json_begin_object(&json);
    eg_json_put_string(&json, "model", r->model->name);
    eg_json_put_string(&json, "device", device->spec);
    eg_json_put_string(&json, "device_name", device->name);
    eg_json_put_integer(&json, "ranks", r->ranks);
    eg_json_put_integer(&json, "elements", r->elements);
    eg_json_put_integer(&json, "dof", r->dof);
    eg_json_key(&json, "error");
    eg_json_begin_object(&json);
    for (int i = 0; i < r->error_count; i++) {
        const eg_norms *e = &r->errors[i].norms;
        eg_json_key(&json, r->errors[i].name);
        eg_json_begin_object(&json);
        eg_json_put_number(&json, "l1", e->l1);
        eg_json_put_number(&json, "l2", e->l2);
        eg_json_put_number(&json, "linf", e->linf);
        eg_json_put_number(&json, "nodal_l2", e->nodal_l2);
        eg_json_close(&json);
    }
    eg_json_close(&json);
    eg_facts_put_json(&r->facts, &json);
    eg_outcome_put_json(&r->outcome, &json);
    eg_json_put_integer(&json, "kernels_compiled", r->kernels_compiled);
    eg_json_put_number(&json, "setup_s", r->setup_s);
    eg_json_put_number(&json, "wall_s", r->wall_s);
    if (r->restart_step > 0) {
        eg_json_put_integer(&json, "restart_step", r->restart_step);
        eg_json_put_number(&json, "restart_time", r->restart_time);
    }
    if (r->profile.count > 0) put_kernels_json(r, &json);
    if (r->stopped_by) eg_json_put_string(&json, "stopped_by", r->stopped_by);
    if (r->directory) eg_json_put_string(&json, "directory", r->directory);
    if (r->checkpoint) eg_json_put_string(&json, "checkpoint", r->checkpoint);
    eg_json_close(&json);
    return eg_json_end(&json);
}

eg_status eg_run_put_text(eg_context *ctx, const eg_run_result *r, const eg_device_info *device,
                          eg_text *out)
{
    static const eg_column columns[] = {
        {"error of", true}, {"l1", false}, {"l2", false}, {"linf", false}, {"nodal_l2", false}};
    eg_status status = EG_OK;
    eg_table table = eg_table_new(ctx, columns, EG_COUNT(columns));
    EG_TRY(eg_text_printf(out, "%s on %" PRId64 " elements, %" PRId64 " degrees of freedom\n",
                          r->model->name, r->elements, r->dof));
    EG_TRY(eg_text_printf(out, "device  %s (%s)%s\n", device->spec, device->name,
                          r->ranks > 1 ? " on rank 0" : ""));
    if (r->ranks > 1) EG_TRY(eg_text_printf(out, "ranks   %d\n", r->ranks));
    EG_TRY(eg_text_printf(out, "time    %.3g s, of which set-up %.3g s", r->wall_s, r->setup_s));
    if (r->kernels_compiled > 0)
        EG_TRY(eg_text_printf(out, " (%d kernel%s compiled)", r->kernels_compiled,
                              r->kernels_compiled == 1 ? "" : "s"));
    EG_TRY(eg_text_puts(out, "\n"));
    if (r->directory) EG_TRY(eg_text_printf(out, "results %s\n", r->directory));
    if (r->restart_step > 0)
        EG_TRY(eg_text_printf(out, "restart from step %" PRId64 ", time %.9g\n", r->restart_step,
                              r->restart_time));
    if (r->stopped_by)
        EG_TRY(eg_text_printf(out,
                              "stopped by %s before its end; go on with: eagre run --restart %s\n",
                              r->stopped_by, r->checkpoint));
    EG_TRY(eg_facts_put_lines(&r->facts, out));
    for (int i = 0; i < r->error_count; i++) {
        const eg_norms *e = &r->errors[i].norms;
        eg_table_cell(&table, "%s", r->errors[i].name);
        eg_table_cell(&table, "%.6e", e->l1);
        eg_table_cell(&table, "%.6e", e->l2);
        eg_table_cell(&table, "%.6e", e->linf);
        eg_table_cell(&table, "%.6e", e->nodal_l2);
    }
    if (r->error_count > 0) {
        EG_TRY(eg_text_puts(out, "\n"));
        EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, out));
    }
    EG_TRY(eg_facts_put_tables(ctx, &r->facts, out));
    EG_TRY(eg_outcome_put_text(&r->outcome, out));
    if (r->profile.count > 0) EG_TRY(put_kernels_text(ctx, r, out));
done:
    eg_table_free(&table);
    return status;
}
