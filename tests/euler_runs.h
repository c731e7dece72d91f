/* Runs of model `euler` for tests: from a case file or a text, with what its results are. */
#ifndef EG_TEST_EULER_RUNS_H
#define EG_TEST_EULER_RUNS_H

#include "test.h"

#include "device/device.h"
#include "model/model.h"

/* What a run gives: of rho, mx, my, E where there are several. */
typedef struct euler_figures {
    double nodal_l2, linf[4];
    double start[4], end[4]; /* ∫ of each */
    double steps;
} euler_figures;

static inline double euler_fact(const eg_run_result *result, const char *section, const char *field,
                                const char *name)
{
    for (int i = 0; i < result->facts.count; i++) {
        const eg_fact *f = &result->facts.list[i];
        if (strcmp(f->section, section) == 0 && strcmp(f->name, name) == 0 &&
            (!field || strcmp(f->field, field) == 0))
            return f->value;
    }
    fail_msg("there is no fact %s.%s", section, name);
    return 0;
}

/* Runs the case that is open, closes it, and measures. */
static inline euler_figures euler_run(eg_device *device, const eg_model *model, eg_case **cas)
{
    static const char *const names[] = {"rho", "mx", "my", "E"};
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    eg_run_result result;
    euler_figures found = {0};
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx,
            eg_model_run(model, *cas, device, comm, &(eg_run_options){.quiet = true}, &result));
    if (result.error_count > 0) found.nodal_l2 = result.errors[0].norms.nodal_l2;
    for (int c = 0; c < 4; c++) {
        if (result.error_count > c) found.linf[c] = result.errors[c].norms.linf;
        found.start[c] = euler_fact(&result, "total", names[c], "start");
        found.end[c] = euler_fact(&result, "total", names[c], "end");
    }
    found.steps = euler_fact(&result, "loop", NULL, "steps");
    eg_case_close(cas);
    eg_comm_destroy(&comm);
    return found;
}

/* A file of cases/, with replacements. */
static inline euler_figures euler_run_file(eg_device *device, const char *file,
                                           const char *const *overrides, size_t count)
{
    eg_context *ctx = eg_device_context(device);
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/cases/%s", EG_TEST_SOURCE_DIR, file);
    TEST_OK(ctx, eg_model_open_case(ctx, path, overrides, count, &model, &cas));
    return euler_run(device, model, &cas);
}

/* A text. */
static inline euler_figures euler_run_text(eg_device *device, const char *text,
                                           const char *const *overrides, size_t count)
{
    eg_context *ctx = eg_device_context(device);
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    TEST_OK(ctx,
            eg_model_open_text(ctx, "case", text, strlen(text), overrides, count, &model, &cas));
    return euler_run(device, model, &cas);
}

#endif
