/* What a run tells at its end. */
#include "base/table.h"
#include "model/model.h"

#include <inttypes.h>

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
done:
    eg_table_free(&table);
    return status;
}
