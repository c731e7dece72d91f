/* The model `euler`: the Euler equations of an ideal gas in the plane, on
 * quadrilaterals, straight or curved, by five schemes on the same mesh, physics and time
 * stepping [zimmerman2018].
 *
 * The unknowns are density, momenta and energy per volume, at the solution points of the scheme;
 * cases give density, velocity and pressure. */
#include "model/euler/euler.h"

#include "model/euler/keys.h"
#include "model/euler/operator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COMPONENTS = EG_EULER_COMPONENTS };

/* The longest name of a boundary, and room for a key of it. */
enum { NAME_BYTES = 64, KEY_BYTES = NAME_BYTES + 32 };

static const char *const names[COMPONENTS] = {"rho", "mx", "my", "E"};
/* Names of what a restart needs: ∫ of each at the start. */
static const char *const total_names[COMPONENTS] = {"total.rho", "total.mx", "total.my", "total.E"};

/* A case of `eagre new` carries a wave of density through a periodic square. */
static const char *const sample[] = {"mesh.shape=\"quadrilateral\"",
                                     "mesh.cells=[16, 16]",
                                     "mesh.periodic=[\"x\", \"y\"]",
                                     "exact.rho=\"1 + 0.2*sin(2*pi*(x + y - 2*t))\"",
                                     "exact.u=1.0",
                                     "exact.v=1.0",
                                     "exact.p=1.0",
                                     "time.cfl=0.05",
                                     NULL};

typedef struct euler {
    eg_problem problem; /* nothing of it is owned */
    eg_time_options time;
    double gamma;
    eg_euler_boundary *types;    /* [boundaries] owned */
    const eg_expression **given; /* [boundaries][4] owned, the expressions are the case's */
    eg_expression *initial_of[COMPONENTS], *exact_of[COMPONENTS]; /* NULL: there are none */
    eg_expression *positive[2];
    eg_space *space;
    eg_function *initial, *exact;
    eg_measure *measure;
    eg_euler *op;
    /* The solution, what it was at the beginning of the step, and what a stage writes;
     * low-storage schemes have the register k instead of the second. */
    eg_field *current, *first, *next, *k;
    double total[COMPONENTS]; /* ∫ of each at the start */
    double begun, stages_s;   /* when the first stage began, and for how long there
                             were stages */
    eg_time_result result;
} euler;

static void destroy(void *state)
{
    euler *e = state;
    eg_context *ctx = e->problem.ctx;
    eg_field_destroy(&e->k);
    eg_field_destroy(&e->next);
    eg_field_destroy(&e->first);
    eg_field_destroy(&e->current);
    eg_euler_destroy(&e->op);
    eg_measure_destroy(&e->measure);
    eg_function_destroy(&e->exact);
    eg_function_destroy(&e->initial);
    eg_space_destroy(&e->space);
    for (int c = 0; c < COMPONENTS; c++) {
        eg_expression_destroy(&e->initial_of[c]);
        eg_expression_destroy(&e->exact_of[c]);
    }
    for (size_t i = 0; i < EG_COUNT(e->positive); i++)
        eg_expression_destroy(&e->positive[i]);
    eg_release(ctx, &e->given);
    eg_release(ctx, &e->types);
    eg_release(ctx, &e);
}

/* --- what the case says ----------------------------------------------------------------------- */

static eg_euler_scheme scheme_of(const eg_case *cas)
{
    return (eg_euler_scheme){.method = (eg_euler_method)eg_case_choice(cas, "scheme.method"),
                             .chain = eg_case_choice(cas, "scheme.derivative") == 1,
                             .order = (int)eg_case_integer(cas, "scheme.order"),
                             .face_points = (int)eg_case_integer(cas, "scheme.face_points"),
                             .limited = eg_case_choice(cas, "limiter.method") == EG_EULER_MINMOD};
}

/* How many of density, velocity and pressure a section gives; *missing: the first that is not. */
static int count_given(const eg_case *cas, const char *section, const char **missing)
{
    int count = 0;
    *missing = NULL;
    for (int i = 0; i < COMPONENTS; i++) {
        char key[KEY_BYTES + 8];
        snprintf(key, sizeof key, "%s.%s", section, eg_euler_given_names[i]);
        if (eg_case_given(cas, key))
            count++;
        else if (!*missing)
            *missing = eg_euler_given_names[i];
    }
    return count;
}

static bool needs_state(eg_euler_boundary type)
{
    return type != EG_EULER_WALL && type != EG_EULER_OUTFLOW;
}

static eg_status check_boundaries(const eg_case *cas)
{
    const char *name, *missing;
    for (size_t i = 0; (name = eg_case_name_at(cas, "boundary", i)); i++) {
        char section[KEY_BYTES], key[KEY_BYTES + 8];
        if (strlen(name) > NAME_BYTES)
            return eg_case_fail(cas, "boundary", -1, "names of boundaries have at most %d bytes",
                                NAME_BYTES);
        snprintf(section, sizeof section, "boundary.%s", name);
        snprintf(key, sizeof key, "%s.type", section);
        if (!eg_case_given(cas, key))
            return eg_case_fail(cas, section, -1,
                                "it has no type: \"wall\", \"outflow\", "
                                "\"inflow\", \"farfield\" or \"state\"");
        const int count = count_given(cas, section, &missing);
        const bool needs = needs_state((eg_euler_boundary)eg_case_choice(cas, key));
        if (needs && missing)
            return eg_case_fail(
                cas, section, -1,
                "a boundary of type \"%s\" needs the state behind it: rho, u, v and "
                "p; %s is not given",
                eg_case_string(cas, key), missing);
        if (!needs && count > 0)
            return eg_case_fail(cas, section, -1,
                                "a state is given, but a boundary of type \"%s\" has none; did you "
                                "mean \"farfield\" or \"state\"?",
                                eg_case_string(cas, key));
    }
    return EG_OK;
}

/* The elements that there are kernels for. */
static eg_status check_elements(const eg_case *cas, eg_shape shape, int order)
{
    const eg_euler_limits limits = eg_euler_limits_of(cas);
    const bool file = eg_case_given(cas, "mesh.file");
    if (shape != EG_SHAPE_QUAD)
        return eg_case_fail(cas, file ? "mesh.file" : "mesh.shape", -1,
                            "this model needs \"quadrilateral\", not \"%s\"",
                            eg_shape_get_info(shape)->name);
    const char *straight = scheme_of(cas).method == EG_EULER_FV ? "method \"fv\" needs"
                           : limits.method != EG_EULER_UNLIMITED || limits.positivity
                               ? "limiters need"
                               : NULL;
    if (order > 1 && straight)
        return eg_case_fail(cas, eg_case_given(cas, "mesh.order") ? "mesh.order" : "mesh.file", -1,
                            "%s straight elements, of order 1, not %d; mesh.order = 1 makes them "
                            "straight",
                            straight, order);
    return EG_OK;
}

/* What belongs to finite volumes, and what does not. */
static eg_status check_volumes(const eg_case *cas)
{
    static const char *const own[] = {"scheme.order", "scheme.face_points"};
    const bool volumes = scheme_of(cas).method == EG_EULER_FV;
    for (size_t i = 0; i < EG_COUNT(own); i++)
        if (eg_case_given(cas, own[i]) && !volumes)
            return eg_case_fail(cas, own[i], -1, "it is for method \"fv\", not for \"%s\"",
                                eg_case_string(cas, "scheme.method"));
    if (!volumes) return EG_OK;
    if (eg_case_choice(cas, "limiter.method") == EG_EULER_BLEND)
        return eg_case_fail(cas, "limiter.method", -1,
                            "\"blend\" is for methods of high order, which it blends with finite "
                            "volumes: with \"fv\" choose \"minmod\"");
    if (eg_case_given(cas, "limiter.threshold"))
        return eg_case_fail(cas, "limiter.threshold", -1,
                            "it is for methods of high order: with \"fv\" all slopes are limited");
    if (eg_case_boolean(cas, "limiter.positivity") && !scheme_of(cas).limited)
        return eg_case_fail(
            cas, "limiter.positivity", -1,
            "with method \"fv\" it is limiter.method = \"minmod\" that keeps density "
            "and pressure positive");
    return EG_OK;
}

static eg_status check_scheme(const eg_case *cas)
{
    const int64_t degree = eg_case_integer(cas, "space.degree");
    if (degree < 1 || degree > EG_EULER_DEGREE_MAX)
        return eg_case_fail(cas, "space.degree", -1, "this model has degrees from 1 to %d",
                            EG_EULER_DEGREE_MAX);
    if (eg_case_given(cas, "space.basis"))
        return eg_case_fail(cas, "space.basis", -1,
                            "scheme.method says which points this model has: leave the key out");
    if (eg_case_given(cas, "scheme.derivative") && scheme_of(cas).method != EG_EULER_CPR)
        return eg_case_fail(cas, "scheme.derivative", -1,
                            "it is for method \"cpr\"; \"%s\" has a derivative of its own",
                            eg_case_string(cas, "scheme.method"));
    if (!(eg_case_real(cas, "gas.gamma") > 1))
        return eg_case_fail(cas, "gas.gamma", -1, "it must be more than 1");
    return EG_OK;
}

static eg_status check(eg_context *ctx, const eg_case *cas)
{
    eg_time_options time;
    const char *missing;
    eg_status status = EG_OK;
    (void)ctx;
    if (!eg_case_given(cas, "mesh.file"))
        EG_TRY(
            check_elements(cas, eg_mesh_case_shape(cas), (int)eg_case_integer(cas, "mesh.order")));
    EG_TRY(check_scheme(cas));
    EG_TRY(check_volumes(cas));
    EG_TRY(check_boundaries(cas));
    if (count_given(cas, "exact", &missing) > 0 && missing)
        EG_TRY(eg_case_fail(cas, "exact", -1, "rho, u, v and p belong together; %s is not given",
                            missing));
    EG_TRY(eg_time_options_from_case(cas, &time));
    EG_TRY(eg_euler_check_limits(cas, &time));
done:
    return status;
}

static eg_status check_mesh(const eg_case *cas, const eg_mesh *mesh)
{
    eg_status status = EG_OK;
    EG_TRY(eg_model_check_shapes(cas, mesh, check_elements));
    EG_TRY(eg_model_check_boundaries(cas, mesh));
done:
    return status;
}

static int field_names(const eg_case *cas, const char *out[EG_MODEL_FIELDS_MAX])
{
    (void)cas;
    for (int c = 0; c < COMPONENTS; c++)
        out[c] = names[c];
    return COMPONENTS;
}

/* --- creation --------------------------------------------------------------------------------- */

/* The conserved quantities of the state that a section gives. */
static eg_status compose(const euler *e, const char *section, eg_expression **out)
{
    const eg_case *cas = e->problem.cas;
    const char *of[COMPONENTS];
    eg_text text = eg_text_new(e->problem.ctx);
    eg_status status = EG_OK;
    for (int i = 0; i < COMPONENTS; i++) {
        char key[KEY_BYTES];
        snprintf(key, sizeof key, "%s.%s", section, eg_euler_given_names[i]);
        of[i] = eg_expression_text(eg_case_expression(cas, key));
    }
    for (int c = 0; c < COMPONENTS; c++) {
        eg_text_clear(&text);
        if (c == 0)
            EG_TRY(eg_text_puts(&text, of[0]));
        else if (c < 3)
            EG_TRY(eg_text_printf(&text, "(%s)*(%s)", of[0], of[c]));
        else
            EG_TRY(eg_text_printf(&text, "(%s)/%.17g + 0.5*(%s)*((%s)^2 + (%s)^2)", of[3],
                                  e->gamma - 1, of[0], of[1], of[2]));
        EG_TRY(eg_case_compose(cas, eg_text_string(&text), &out[c]));
    }
done:
    eg_text_free(&text);
    return status;
}

/* What must be positive: density and pressure. */
static eg_status make_positive(euler *e)
{
    eg_symbol symbols[COMPONENTS];
    eg_text pressure = eg_text_new(e->problem.ctx);
    eg_status status = EG_OK;
    for (int c = 0; c < COMPONENTS; c++)
        symbols[c] = (eg_symbol){.name = names[c], .variable = EG_VARIABLE_COUNT + c};
    EG_TRY(eg_text_printf(&pressure, "%.17g*(E - 0.5*(mx*mx + my*my)/rho)", e->gamma - 1));
    EG_TRY(eg_expression_create(e->problem.ctx, "rho", symbols, COMPONENTS, NULL, &e->positive[0]));
    EG_TRY(eg_expression_create(e->problem.ctx, eg_text_string(&pressure), symbols, COMPONENTS,
                                NULL, &e->positive[1]));
done:
    eg_text_free(&pressure);
    return status;
}

static eg_status read_boundaries(euler *e)
{
    eg_status status = EG_OK;
    const eg_case *cas = e->problem.cas;
    const eg_mesh *mesh = e->problem.mesh;
    const size_t count = (size_t)mesh->boundary_count;
    EG_TRY(eg_new(e->problem.ctx, count + 1, &e->types));
    EG_TRY(eg_new(e->problem.ctx, COMPONENTS * count + 1, &e->given));
    for (size_t b = 0; b < count; b++) {
        char key[KEY_BYTES + 8];
        snprintf(key, sizeof key, "boundary.%s.type", mesh->boundary[b]);
        e->types[b] = (eg_euler_boundary)eg_case_choice(cas, key);
        for (size_t c = 0; c < COMPONENTS && needs_state(e->types[b]); c++) {
            snprintf(key, sizeof key, "boundary.%s.%s", mesh->boundary[b], eg_euler_given_names[c]);
            e->given[COMPONENTS * b + c] = eg_case_expression(cas, key);
        }
    }
done:
    return status;
}

/* The space, the operator and the fields on it. */
static eg_status make_fields(euler *e)
{
    eg_status status = EG_OK;
    const eg_problem *p = &e->problem;
    const bool low_storage = e->time.scheme == EG_TIME_LOW_RK4;
    const double zero = 0;
    eg_stage stages[EG_STAGES_MAX];
    eg_space_options options = {.degree = (int)eg_case_integer(p->cas, "space.degree")};
    const eg_euler_options how = {.scheme = scheme_of(p->cas),
                                  .flux = eg_case_choice(p->cas, "scheme.flux"),
                                  .gamma = e->gamma,
                                  .low_storage = low_storage,
                                  .stages = eg_time_stages(e->time.scheme, 0, 1, stages),
                                  .rates = e->time.cfl > 0,
                                  .limits = eg_euler_limits_of(p->cas),
                                  .types = e->types,
                                  .given = e->given};
    options.basis = eg_euler_basis(how.scheme);
    options.lanes = eg_euler_lanes(p->device, options.degree);
    EG_TRY(eg_space_create(p->device, p->comm, p->mesh, &options, &e->space));
    EG_TRY(eg_euler_create(e->space, &how, &e->op));
    EG_TRY(eg_field_create(e->space, COMPONENTS, EG_F64, &e->current));
    if (eg_euler_has_steps(e->op)) return EG_OK;
    EG_TRY(eg_field_create(e->space, COMPONENTS, EG_F64, &e->next));
    EG_TRY(eg_field_create(e->space, COMPONENTS, EG_F64, low_storage ? &e->k : &e->first));
    if (e->k) EG_TRY(eg_buffer_fill(e->k->data, 0, eg_buffer_count(e->k->data), &zero));
done:
    return status;
}

/* Everything. */
static eg_status create_all(euler *e)
{
    eg_status status = EG_OK;
    const eg_case *cas = e->problem.cas;
    EG_TRY(eg_time_options_from_case(cas, &e->time));
    e->gamma = eg_case_real(cas, "gas.gamma");
    EG_TRY(read_boundaries(e));
    EG_TRY(compose(e, "initial", e->initial_of));
    if (eg_case_given(cas, "exact.rho")) EG_TRY(compose(e, "exact", e->exact_of));
    EG_TRY(make_positive(e));
    EG_TRY(make_fields(e));
    EG_TRY(eg_function_create(e->space, (const eg_expression *const *)e->initial_of, COMPONENTS,
                              &e->initial));
    if (e->exact_of[0])
        EG_TRY(eg_function_create(e->space, (const eg_expression *const *)e->exact_of, COMPONENTS,
                                  &e->exact));
    EG_TRY(eg_measure_create(e->space, COMPONENTS, e->exact, &e->measure));
done:
    return status;
}

static eg_status create(const eg_problem *problem, void **state)
{
    eg_status status = EG_OK;
    euler *e = NULL;
    EG_TRY(eg_new(problem->ctx, 1, &e));
    e->problem = *problem;
    EG_TRY(create_all(e));
    *state = e;
    e = NULL;
done:
    if (e) destroy(e);
    return status;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void swap(eg_field **a, eg_field **b)
{
    eg_field *c = *a;
    *a = *b;
    *b = c;
}

/* After a stage `current` is its result. A strong-stability scheme begins with `first` as the
 * solution, which the first stage reads from `current`; it is then kept where later stages find
 * it. */
static eg_status stage(void *user, const eg_stage *s)
{
    euler *e = user;
    eg_status status = EG_OK;
    const eg_field *first = s->index == 0 ? e->current : e->first;
    if (e->begun == 0) e->begun = eg_wall_seconds();
    EG_TRY(eg_euler_stage(e->op, s, first, e->current, e->k, e->next));
    EG_TRY(eg_euler_limit(e->op, s->time, e->next));
    swap(&e->current, &e->next);
    if (!s->low_storage && s->index == 0 && s->count > 1) swap(&e->first, &e->next);
done:
    return status;
}

static eg_status step(void *user, const eg_stage *stages, int count)
{
    euler *e = user;
    if (e->begun == 0) e->begun = eg_wall_seconds();
    return eg_euler_step(e->op, stages, count, e->current);
}

static eg_status stable_dt(void *user, double t, double *dt)
{
    euler *e = user;
    eg_status status = EG_OK;
    EG_TRY(eg_euler_stable_dt(e->op, e->current, dt));
    if (!isfinite(*dt))
        EG_TRY(
            eg_fail(e->problem.ctx, EG_ERROR_NUMERIC,
                    "at time %.9g there is a state without a speed of sound: density or pressure "
                    "is not positive, or not finite. %s; guard.steps = 1 tells where it begins",
                    t,
                    t > e->time.start ? "Steps may be too large: try half of time.cfl"
                                      : "Look at the case's [initial]"));
done:
    return status;
}

/* What [initial] says. */
static eg_status begin(euler *e)
{
    const eg_case *cas = e->problem.cas;
    const bool means = eg_case_choice(cas, "initial.by") == 1;
    eg_status status = EG_OK;
    eg_field *projected = NULL;
    EG_TRY(eg_function_interpolate(e->initial, e->time.start, e->current));
    if (means && scheme_of(cas).method != EG_EULER_FV) {
        EG_TRY(eg_field_create(e->space, COMPONENTS, EG_F64, &projected));
        EG_TRY(eg_function_project(e->initial, e->time.start, projected));
        EG_TRY(eg_euler_start(e->op, projected, e->current));
    }
done:
    eg_field_destroy(&projected);
    return status;
}

static eg_status run(void *state, eg_watch *watch)
{
    euler *e = state;
    eg_status status = EG_OK;
    eg_checkpoint *restart = e->problem.restart;
    const eg_time_system system = {.user = e,
                                   .stage = stage,
                                   .step = eg_euler_has_steps(e->op) ? step : NULL,
                                   .stable_dt = stable_dt};
    if (restart)
        EG_TRY(eg_checkpoint_read_field(restart, "solution", names, e->current));
    else
        EG_TRY(begin(e));
    eg_function_destroy(&e->initial);
    EG_TRY(eg_euler_begin(e->op, e->current));
    if (!restart) EG_TRY(eg_euler_limit(e->op, e->time.start, e->current));
    EG_TRY(eg_euler_totals(e->op, e->current, e->total));
    EG_TRY(eg_watch_run(watch, &e->time, &system, &e->result));
    if (e->begun > 0) e->stages_s = eg_wall_seconds() - e->begun;
done:
    return status;
}

/* --- results ---------------------------------------------------------------------------------- */

static void show(void *state, eg_state *out)
{
    euler *e = state;
    out->fields[out->field_count++] =
        (eg_state_field){.name = "solution", .field = e->current, .names = names};
    for (int c = 0; c < COMPONENTS; c++)
        out->numbers[out->number_count++] = (eg_state_number){total_names[c], &e->total[c]};
}

static int guarded(void *state, eg_guarded out[EG_GUARDED_MAX])
{
    const euler *e = state;
    out[0] = (eg_guarded){"the density", e->positive[0]};
    out[1] = (eg_guarded){"the pressure", e->positive[1]};
    return 2;
}

static eg_status errors(void *state, eg_field_error *out, int *count)
{
    eg_status status = EG_OK;
    euler *e = state;
    eg_norms norms[COMPONENTS];
    *count = 0;
    if (!e->exact) return EG_OK;
    EG_TRY(eg_measure_norms(e->measure, e->result.time, e->current, norms));
    for (int c = 0; c < COMPONENTS; c++)
        out[(*count)++] = (eg_field_error){names[c], norms[c]};
done:
    return status;
}

static eg_status details(void *state, eg_facts *facts)
{
    eg_status status = EG_OK;
    euler *e = state;
    eg_stage stages[EG_STAGES_MAX];
    double total[COMPONENTS];
    const double points = (double)e->space->dof;
    const double steps = (double)(e->result.steps - e->result.steps_before);
    const double computed = steps * eg_time_stages(e->time.scheme, 0, 1, stages) * points;
    eg_facts_loop(facts, &e->result, points * COMPONENTS);
    eg_facts_section(facts, "", NULL);
    eg_facts_number(facts, "ns_per_point_stage", computed > 0 ? 1e9 * e->stages_s / computed : 0);
    EG_TRY(eg_euler_totals(e->op, e->current, total));
    for (int c = 0; c < COMPONENTS; c++) {
        eg_facts_section(facts, "total", names[c]);
        eg_facts_number(facts, "start", e->total[c]);
        eg_facts_number(facts, "end", total[c]);
    }
done:
    return status;
}

static const eg_space *space(void *state)
{
    return ((euler *)state)->space;
}

static int fields(void *state)
{
    (void)state;
    return COMPONENTS;
}

const eg_model eg_model_euler = {
    .name = "euler",
    .summary = "flow of an ideal gas without viscosity, in the plane, on "
               "quadrilaterals",
    .keys = eg_euler_keys,
    .in_time = true,
    .sample = sample,
    .check = check,
    .check_mesh = check_mesh,
    .names = field_names,
    .create = create,
    .show = show,
    .guarded = guarded,
    .run = run,
    .errors = errors,
    .details = details,
    .space = space,
    .fields = fields,
    .destroy = destroy,
};
