/* `eagre mesh check`: whether a mesh is one, and what was repaired or left out. */
#include "cli/mesh.h"

#include <inttypes.h>
#include <string.h>

static eg_status put_json(eg_text *out, const char *name, const eg_mesh *mesh,
                          const eg_text *report)
{
    eg_json json = eg_json_new(out);
    eg_json_begin_object(&json);
    eg_json_put_string(&json, "mesh", name);
    eg_json_put_bool(&json, "valid", true);
    eg_json_put_integer(&json, "elements", mesh->global_count);
    cli_mesh_json_notes(&json, report);
    eg_json_close(&json);
    return eg_json_end(&json);
}

/* "triangles", "tetrahedra" */
static eg_status put_plural(eg_text *out, const char *name)
{
    const size_t length = strlen(name), ending = strlen("on");
    const bool greek = length > ending && strcmp(name + length - ending, "on") == 0;
    return greek ? eg_text_printf(out, "%.*sa", (int)(length - ending), name)
                 : eg_text_printf(out, "%ss", name);
}

/* "12 triangles and 4 quadrilaterals of order 2" */
static eg_status put_elements(eg_text *out, const eg_mesh *mesh)
{
    eg_status status = EG_OK;
    int64_t counts[EG_SHAPE_COUNT] = {0};
    const char *between = "";
    for (int32_t e = 0; e < mesh->element_count; e++)
        counts[mesh->shape[e]]++;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        const char *name = eg_shape_get_info((eg_shape)s)->name;
        if (counts[s] == 0) continue;
        EG_TRY(eg_text_printf(out, "%s%" PRId64 " ", between, counts[s]));
        EG_TRY(counts[s] == 1 ? eg_text_puts(out, name) : put_plural(out, name));
        between = " and ";
    }
    EG_TRY(eg_text_printf(out, " of order %d", mesh->order));
done:
    return status;
}

static eg_status put_text(eg_text *out, const char *name, const eg_mesh *mesh,
                          const eg_text *report)
{
    eg_status status = EG_OK;
    EG_TRY(cli_mesh_put_notes(out, report));
    EG_TRY(eg_text_printf(out, "%s is a valid mesh: ", name));
    EG_TRY(put_elements(out, mesh));
    if (mesh->group_count > 1) EG_TRY(eg_text_printf(out, " in %d groups", mesh->group_count));
    EG_TRY(eg_text_printf(out, ", %d %s\n", mesh->boundary_count,
                          mesh->boundary_count == 1 ? "boundary" : "boundaries"));
done:
    return status;
}

eg_status cli_mesh_check(eg_context *ctx, const cli_options *options, const cli_mesh_words *words)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    eg_text text = eg_text_new(ctx), report = eg_text_new(ctx);
    const char *name = words->input ? words->input : "this";
    EG_TRY(cli_mesh_open(ctx, options, words, &report, NULL, &mesh));
    EG_TRY((options->json ? put_json : put_text)(&text, name, mesh, &report));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&report);
    eg_text_free(&text);
    eg_mesh_destroy(&mesh);
    return status;
}
