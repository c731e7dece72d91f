/* The table of all models, and what every case shares whatever its model. */
#include "model/model.h"

#include "model/advection/advection.h"
#include "model/elliptic/elliptic.h"
#include "model/euler/euler.h"
#include "model/ins/ins.h"
#include "model/project/project.h"
#include "time/time.h"

#include <stdio.h>
#include <string.h>

const eg_model *const eg_models[] = {&eg_model_advection, &eg_model_elliptic, &eg_model_euler,
                                     &eg_model_ins,       &eg_model_project,  NULL};

const eg_model *eg_model_find(const char *name)
{
    for (const eg_model *const *m = eg_models; *m; m++)
        if (strcmp((*m)->name, name) == 0) return *m;
    return NULL;
}

static const eg_key device_keys[] = {
    {.section = "device",
     .name = "name",
     .type = EG_KEY_STRING,
     .fallback = "\"auto\"",
     .help = "What to compute on: \"cpu\", \"cpu:2\" (two threads), \"cuda:0\", \"opencl:0\", or "
             "\"auto\" for the first GPU or else the CPU. The option --device goes before it.",
     .example = "\"cpu:2\""},
    {0}};

/* The device may be another machine's: only its name is judged. */
static eg_status check_device_name(const eg_case *cas)
{
    static const char *const kinds[] = {"auto", "cpu", "cuda", "opencl"};
    const char *name = eg_case_string(cas, "device.name");
    for (size_t i = 0; i < EG_COUNT(kinds); i++) {
        const size_t length = strlen(kinds[i]);
        if (strncmp(name, kinds[i], length) != 0) continue;
        const char *rest = name + length;
        const char *digits = *rest == ':' ? rest + 1 : rest;
        if (*rest == '\0') return EG_OK;
        if (i > 0 && digits > rest && *digits && digits[strspn(digits, "0123456789")] == '\0')
            return EG_OK;
    }
    return eg_case_fail(cas, "device.name", -1,
                        "a device is called \"auto\", \"cpu\", \"cpu:THREADS\", \"cuda:NUMBER\" or "
                        "\"opencl:NUMBER\"");
}

size_t eg_model_shared_tables(bool in_time, const eg_key *tables[EG_TABLES_MAX])
{
    size_t count = 0;
    tables[count++] = eg_case_keys;
    tables[count++] = eg_mesh_keys;
    tables[count++] = eg_space_keys;
    tables[count++] = device_keys;
    if (in_time) tables[count++] = eg_time_keys;
    if (in_time) tables[count++] = eg_watch_keys;
    tables[count++] = eg_output_keys;
    if (in_time) tables[count++] = eg_output_time_keys;
    if (in_time) tables[count++] = eg_average_keys;
    return count;
}

size_t eg_model_tables(const eg_model *model, const eg_key *tables[EG_TABLES_MAX])
{
    size_t count = eg_model_shared_tables(model->in_time, tables);
    tables[count++] = model->keys;
    return count;
}

bool eg_model_has_exact(const eg_model *model, const eg_case *cas)
{
    for (const eg_key *key = model->keys; key->name; key++) {
        char name[64];
        if (strcmp(key->section, "exact") != 0 || strcmp(key->name, "*") == 0) continue;
        snprintf(name, sizeof name, "exact.%s", key->name);
        if (eg_case_given(cas, name)) return true;
    }
    return eg_case_name_at(cas, "exact", 0) != NULL;
}

int eg_model_initial_names(const eg_case *cas, const char *names[EG_MODEL_FIELDS_MAX])
{
    const char *name;
    int count = 0;
    while (count < EG_MODEL_FIELDS_MAX &&
           (name = eg_case_name_at(cas, "initial", (size_t)count)) != NULL)
        names[count++] = name;
    return count;
}

eg_status eg_model_check_shapes(const eg_case *cas, const eg_mesh *mesh,
                                eg_model_shape_check *check)
{
    eg_status status = EG_OK;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        if (e == 0 || mesh->shape[e] != mesh->shape[e - 1])
            EG_TRY(check(cas, (eg_shape)mesh->shape[e], mesh->order));
    }
done:
    return status;
}

eg_status eg_model_check_boundaries(const eg_case *cas, const eg_mesh *mesh)
{
    eg_status status = EG_OK;
    EG_TRY(eg_case_check_names(cas, "boundary", "boundary", (const char *const *)mesh->boundary,
                               (size_t)mesh->boundary_count));
    for (int b = 0; b < mesh->boundary_count; b++) {
        bool found = false;
        const char *name;
        for (size_t i = 0; (name = eg_case_name_at(cas, "boundary", i)) && !found; i++)
            found = strcmp(name, mesh->boundary[b]) == 0;
        if (!found)
            EG_TRY(eg_case_fail(cas, "mesh", -1,
                                "nothing is said of boundary \"%s\": add a section [boundary.%s] "
                                "with its type, or make the mesh periodic there",
                                mesh->boundary[b], mesh->boundary[b]));
    }
done:
    return status;
}

eg_status eg_model_open_case(eg_context *ctx, const char *path, const char *const *overrides,
                             size_t override_count, const eg_model **model, eg_case **cas)
{
    eg_status status = EG_OK;
    char *text = NULL;
    size_t length = 0;
    *cas = NULL;
    EG_TRY(eg_case_read_file(ctx, path, &text, &length));
    EG_TRY(eg_model_open_text(ctx, path, text, length, overrides, override_count, model, cas));
done:
    eg_release(ctx, &text);
    return status;
}

/* What formulas and columns of the case may name: what the model shows, and averages of it. */
static eg_status check_output(eg_context *ctx, const eg_model *model, const eg_case *cas)
{
    eg_status status = EG_OK;
    const char *names[EG_STATE_COMPONENTS_MAX];
    int count = model->names(cas, names);
    eg_known known = eg_known_new(ctx);
    eg_average_plan plan = {.ctx = ctx};
    if (model->columns) EG_TRY(model->columns(cas, &known));
    if (model->in_time) EG_TRY(eg_average_plan_read(ctx, cas, names, count, &plan));
    for (int i = 0; i < plan.total; i++)
        names[count++] = plan.names[i];
    EG_TRY(eg_output_check_case(ctx, cas, model->in_time, names, count, &known));
done:
    eg_average_plan_free(&plan);
    eg_known_free(&known);
    return status;
}

eg_status eg_model_open_text(eg_context *ctx, const char *path, const char *text, size_t length,
                             const char *const *overrides, size_t override_count,
                             const eg_model **model, eg_case **cas)
{
    eg_status status = EG_OK;
    const char *names[EG_TABLES_MAX + 1] = {0};
    const eg_key *tables[EG_TABLES_MAX];
    char *name = NULL;
    eg_case_options options = {.overrides = overrides, .override_count = override_count};
    for (size_t i = 0; eg_models[i]; i++)
        names[i] = eg_models[i]->name;
    *cas = NULL;
    EG_TRY(eg_case_read_model(ctx, path, text, length, &options, names, &name));
    *model = eg_model_find(name);
    if (!*model) {
        status = eg_fail(ctx, EG_ERROR_INPUT, "there is no model \"%s\"", name);
        goto done;
    }
    options.tables = tables;
    options.table_count = eg_model_tables(*model, tables);
    EG_TRY(eg_case_open_text(ctx, path, text, length, &options, cas));
    EG_TRY(check_device_name(*cas));
    EG_TRY(eg_mesh_check_case(*cas));
    EG_TRY((*model)->check(ctx, *cas));
    EG_TRY(check_output(ctx, *model, *cas));
done:
    if (status != EG_OK) eg_case_close(cas);
    eg_release(ctx, &name);
    return status;
}
