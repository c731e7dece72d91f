/* The model `project`: puts the functions of [initial] into the polynomials of a mesh, by L2
 * projection or by interpolation, and measures what that loses. You can use this as a starting point
 * for a model of your own: it has everything but a time loop.
 *
 * The fields are those that [initial] names. Their errors are taken against [exact] where it names
 * them, else against [initial] itself. */
#include "model/project/project.h"

#include <stdio.h>
#include <string.h>

/* The longest name of a field, and room for its key. */
enum { NAME_BYTES = 64, KEY_BYTES = NAME_BYTES + 16 };

enum { METHOD_PROJECT, METHOD_INTERPOLATE };

static const char *const sample[] = {"mesh.cells=[16, 16]", NULL};

static const char *const methods[] = {"project", "interpolate", NULL};

static const eg_key keys[] = {
    {.section = "initial",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .required = true,
     .help = "A field and its function of x, y, z. Any name makes a field; there may be several.",
     .example = "u = \"sin(2*pi*x)*sin(2*pi*y)\""},
    {.section = "exact",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .help = "What the field of this name is compared with. Fields that are not named here are "
             "compared with their own function in [initial].",
     .example = "u = \"sin(2*pi*x)*sin(2*pi*y)\""},
    {.section = "project",
     .name = "method",
     .type = EG_KEY_CHOICE,
     .fallback = "\"project\"",
     .choices = methods,
     .help =
         "\"project\": the polynomial nearest to the function in L2. \"interpolate\": its values "
         "at the nodes."},
    {0}};

typedef struct project {
    eg_context *ctx; /* not owned */
    int fields;
    const char *names[EG_MODEL_FIELDS_MAX]; /* the case's */
    int method;
    eg_space *space;
    eg_field *u;
    eg_function *initial, *exact;
    eg_measure *measure;
} project;

static void destroy(void *state)
{
    project *p = state;
    eg_measure_destroy(&p->measure);
    eg_function_destroy(&p->exact);
    eg_function_destroy(&p->initial);
    eg_field_destroy(&p->u);
    eg_space_destroy(&p->space);
    eg_context *ctx = p->ctx;
    eg_release(ctx, &p);
}

/* Finds the fields and their functions. */
static eg_status read_functions(project *p, const eg_case *cas,
                                const eg_expression *initial[EG_MODEL_FIELDS_MAX],
                                const eg_expression *exact[EG_MODEL_FIELDS_MAX])
{
    eg_status status = EG_OK;
    const char *name;
    while ((name = eg_case_name_at(cas, "initial", (size_t)p->fields))) {
        char key[KEY_BYTES];
        if (strlen(name) > NAME_BYTES)
            return eg_case_fail(cas, "initial", -1, "names of fields have at most %d bytes",
                                NAME_BYTES);
        if (p->fields == EG_MODEL_FIELDS_MAX)
            return eg_case_fail(cas, "initial", -1, "there are more than %d fields",
                                EG_MODEL_FIELDS_MAX);
        snprintf(key, sizeof key, "initial.%s", name);
        initial[p->fields] = exact[p->fields] = eg_case_expression(cas, key);
        snprintf(key, sizeof key, "exact.%s", name);
        if (eg_case_given(cas, key)) exact[p->fields] = eg_case_expression(cas, key);
        p->names[p->fields++] = name;
    }
    EG_TRY(eg_case_check_names(cas, "exact", "field", p->names, (size_t)p->fields));
done:
    return status;
}

static eg_status check(eg_context *ctx, const eg_case *cas)
{
    project p = {.ctx = ctx};
    const eg_expression *initial[EG_MODEL_FIELDS_MAX], *exact[EG_MODEL_FIELDS_MAX];
    return read_functions(&p, cas, initial, exact);
}

static eg_status create(const eg_problem *problem, void **state)
{
    eg_status status = EG_OK;
    project *p = NULL;
    eg_space_options options;
    const eg_expression *initial[EG_MODEL_FIELDS_MAX], *exact[EG_MODEL_FIELDS_MAX];
    EG_TRY(eg_new(problem->ctx, 1, &p));
    p->ctx = problem->ctx;
    p->method = eg_case_choice(problem->cas, "project.method");
    EG_TRY(read_functions(p, problem->cas, initial, exact));
    EG_TRY(eg_space_options_from_case(problem->cas, problem->mesh, &options));
    EG_TRY(eg_space_create(problem->device, problem->comm, problem->mesh, &options, &p->space));
    EG_TRY(eg_field_create(p->space, p->fields, EG_F64, &p->u));
    EG_TRY(eg_function_create(p->space, initial, p->fields, &p->initial));
    EG_TRY(eg_function_create(p->space, exact, p->fields, &p->exact));
    EG_TRY(eg_measure_create(p->space, p->fields, p->exact, &p->measure));
    *state = p;
    p = NULL;
done:
    if (p) destroy(p);
    return status;
}

static void show(void *state, eg_state *out)
{
    project *p = state;
    out->fields[out->field_count++] =
        (eg_state_field){.name = "solution", .field = p->u, .names = p->names};
}

static eg_status run(void *state, eg_watch *watch)
{
    project *p = state;
    (void)watch;
    return p->method == METHOD_PROJECT ? eg_function_project(p->initial, 0.0, p->u)
                                       : eg_function_interpolate(p->initial, 0.0, p->u);
}

static eg_status errors(void *state, eg_field_error *out, int *count)
{
    eg_status status = EG_OK;
    project *p = state;
    eg_norms norms[EG_MODEL_FIELDS_MAX];
    EG_TRY(eg_measure_norms(p->measure, 0.0, p->u, norms));
    for (int i = 0; i < p->fields; i++)
        out[i] = (eg_field_error){p->names[i], norms[i]};
    *count = p->fields;
done:
    return status;
}

static const eg_space *space(void *state)
{
    return ((project *)state)->space;
}

static int fields(void *state)
{
    return ((project *)state)->fields;
}

const eg_model eg_model_project = {
    .name = "project",
    .summary = "put given functions into the polynomials of a mesh and measure the error",
    .keys = keys,
    .sample = sample,
    .check = check,
    .names = eg_model_initial_names,
    .create = create,
    .show = show,
    .run = run,
    .errors = errors,
    .space = space,
    .fields = fields,
    .destroy = destroy,
};
