/* The model `advection`: u_t + div(b u) = s with a given velocity b(x, t), on quadrilaterals and
 * hexahedra, by discontinuous Galerkin methods with orthonormal Legendre polynomials and the upwind
 * flux, which is Rusanov's with α = |b·n|. The degree may differ from element to element
 * [discacciati2017].
 *
 * The fields are those that [initial] names; all are carried by the same velocity. */
#include "model/advection/advection.h"

#include "model/advection/adapt.h"
#include "model/advection/degrees.h"
#include "model/advection/keys.h"
#include "model/advection/limiter.h"
#include "model/advection/operator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The longest name of a field or boundary, and room for a key of both. */
enum { NAME_BYTES = 64, KEY_BYTES = 2 * NAME_BYTES + 32 };

/* Times that a step is shortened for the sake of bounds; two suffice for a velocity that grows. */
enum { SHORTEN_TRIES = 8 };

/* A case of `eagre new` carries a wave through a periodic square. */
static const char *const sample[] = {"mesh.shape=\"quadrilateral\"",
                                     "mesh.periodic=[\"x\", \"y\"]",
                                     "advection.velocity=[\"1\", \"1\"]",
                                     "exact.u=\"sin(2*pi*(x - t))*sin(2*pi*(y - t))\"",
                                     "time.cfl=0.5",
                                     NULL};

/* What lives on a space, and is made anew when degrees change. Functions, the measure and the limiter are
 * made when they are needed. */
typedef struct on_space {
    eg_space *space;
    eg_function *initial, *exact;
    eg_measure *measure;
    eg_advection *op;
    eg_advection_limiter *limiter; /* also finds ranges where nothing is limited */
    /* The solution, what it was at the beginning of the step, and what a stage writes; low-storage
     * schemes have the register k instead of the second. */
    eg_field *current, *first, *next, *k;
} on_space;

typedef struct advection {
    eg_context *ctx; /* not owned */
    int fields;
    const char *names[EG_MODEL_FIELDS_MAX]; /* the case's */
    const eg_expression *initial_of[EG_MODEL_FIELDS_MAX];
    const eg_expression *exact_of[EG_MODEL_FIELDS_MAX]; /* NULL: none */
    eg_time_options time;
    eg_adapt_options adapting;
    eg_problem problem;           /* nothing of it is owned */
    eg_advection_options options; /* of operators */
    eg_advection_quadrature quadrature;
    const eg_expression **boundary,
        *source[EG_MODEL_FIELDS_MAX]; /* of options; the first is owned */
    eg_space_options space_options;
    bool limited;
    eg_advection_range bounds[EG_MODEL_FIELDS_MAX];
    eg_adapt *adapt; /* NULL: degrees stay as they are */
    int64_t decisions, adaptations;
    int degree_least, degree_most;    /* that elements of this rank have had */
    double mass[EG_MODEL_FIELDS_MAX]; /* ∫ of each tracer at the start */
    double dof_time;                  /* ∫ of the degrees of freedom over time */
    double adapt_s;                   /* seconds spent on decisions and adaptations */
    on_space on;
    eg_time_result result;
} advection;

static void destroy_on_space(on_space *on)
{
    eg_field_destroy(&on->k);
    eg_field_destroy(&on->next);
    eg_field_destroy(&on->first);
    eg_field_destroy(&on->current);
    eg_advection_limiter_destroy(&on->limiter);
    eg_advection_destroy(&on->op);
    eg_measure_destroy(&on->measure);
    eg_function_destroy(&on->exact);
    eg_function_destroy(&on->initial);
    eg_space_destroy(&on->space);
}

static void destroy(void *state)
{
    advection *a = state;
    eg_context *ctx = a->ctx;
    destroy_on_space(&a->on);
    if (a->adapt) eg_device_keep_kernels(a->problem.device, false);
    eg_adapt_destroy(&a->adapt);
    eg_release(ctx, &a->boundary);
    eg_release(ctx, &a);
}

/* --- what the case says --------------------------------------------------------------------------- */

/* Finds the tracers and their functions. */
static eg_status read_fields(advection *a, const eg_case *cas)
{
    eg_status status = EG_OK;
    const char *name;
    while ((name = eg_case_name_at(cas, "initial", (size_t)a->fields))) {
        char key[KEY_BYTES];
        if (strlen(name) > NAME_BYTES)
            return eg_case_fail(cas, "initial", -1, "names of tracers have at most %d bytes",
                                NAME_BYTES);
        if (strcmp(name, "type") == 0)
            return eg_case_fail(cas, "initial.type", -1,
                                "no tracer can be called \"type\": boundaries have a key of that "
                                "name");
        if (a->fields == EG_MODEL_FIELDS_MAX)
            return eg_case_fail(cas, "initial", -1, "there are more than %d tracers",
                                EG_MODEL_FIELDS_MAX);
        snprintf(key, sizeof key, "initial.%s", name);
        a->initial_of[a->fields] = eg_case_expression(cas, key);
        snprintf(key, sizeof key, "exact.%s", name);
        if (eg_case_given(cas, key)) a->exact_of[a->fields] = eg_case_expression(cas, key);
        a->names[a->fields++] = name;
    }
    EG_TRY(eg_case_check_names(cas, "exact", "tracer", a->names, (size_t)a->fields));
    EG_TRY(eg_case_check_names(cas, "source", "tracer", a->names, (size_t)a->fields));
done:
    return status;
}

/* Values come with inflow alone, and for tracers that exist. */
static eg_status check_boundaries(const advection *a, const eg_case *cas)
{
    eg_status status = EG_OK;
    const char *name;
    for (size_t i = 0; (name = eg_case_name_at(cas, "boundary", i)); i++) {
        char section[KEY_BYTES], key[KEY_BYTES + 8];
        if (strlen(name) > NAME_BYTES)
            return eg_case_fail(cas, "boundary", -1, "names of boundaries have at most %d bytes",
                                NAME_BYTES);
        snprintf(section, sizeof section, "boundary.%s", name);
        snprintf(key, sizeof key, "%s.type", section);
        EG_TRY(eg_case_check_names(cas, section, "tracer", a->names, (size_t)a->fields));
        if (eg_case_choice(cas, key) == EG_BOUNDARY_OUTFLOW && eg_case_name_at(cas, section, 0))
            EG_TRY(eg_case_fail(cas, section, -1,
                                "values are given, but nothing comes in at a boundary of type "
                                "\"outflow\"; did you mean type = \"inflow\"?"));
    }
done:
    return status;
}

/* The elements that there are kernels for, and a component of the velocity for each direction. */
static eg_status check_elements(const eg_case *cas)
{
    const eg_shape shape = eg_mesh_case_shape(cas);
    const int dim = eg_shape_get_info(shape)->dim;
    const size_t count = eg_case_count(cas, "advection.velocity");
    if (shape != EG_SHAPE_QUAD && shape != EG_SHAPE_HEX)
        return eg_case_fail(cas, "mesh.shape", -1,
                            "this model needs \"quadrilateral\" or \"hexahedron\", not \"%s\"",
                            eg_case_string(cas, "mesh.shape"));
    if (eg_case_integer(cas, "mesh.order") > 1)
        return eg_case_fail(cas, "mesh.order", -1,
                            "this model needs straight elements, of order 1");
    if (count != (size_t)dim)
        return eg_case_fail(cas, "advection.velocity", -1,
                            "the velocity has %zu components on a mesh in %d dimensions", count,
                            dim);
    for (size_t d = 0; d < count && dim == 2; d++)
        if (eg_expression_uses(eg_case_expression_at(cas, "advection.velocity", d), EG_VARIABLE_Z))
            return eg_case_fail(cas, "advection.velocity", (int)d,
                                "it uses z on a mesh in 2 dimensions");
    return EG_OK;
}

static eg_status check(eg_context *ctx, const eg_case *cas)
{
    advection a = {.ctx = ctx};
    eg_status status = EG_OK;
    EG_TRY(read_fields(&a, cas));
    EG_TRY(check_elements(cas));
    EG_TRY(check_boundaries(&a, cas));
    EG_TRY(eg_time_options_from_case(cas, &a.time));
    EG_TRY(eg_degrees_check(cas));
    EG_TRY(eg_adapt_options_from_case(cas, &a.adapting));
    EG_TRY(eg_advection_quadrature_from_case(cas, &(eg_advection_quadrature){0}, &(bool){0}));
    EG_TRY(eg_limiter_check(cas, &a.time, a.fields));
    if (eg_case_given(cas, "space.basis") && eg_case_choice(cas, "space.basis") != EG_BASIS_MODAL)
        EG_TRY(eg_case_fail(cas, "space.basis", -1,
                            "this model has a basis of its own, \"modal\": leave the key out"));
done:
    return status;
}

static eg_status check_mesh(const eg_case *cas, const eg_mesh *mesh)
{
    eg_status status = EG_OK;
    EG_TRY(eg_case_check_names(cas, "boundary", "boundary", (const char *const *)mesh->boundary,
                               (size_t)mesh->boundary_count));
    EG_TRY(eg_degrees_check_mesh(cas, mesh));
    EG_TRY(eg_adapt_check_mesh(cas, mesh));
done:
    return status;
}

/* --- creation -------------------------------------------------------------------------------------- */

/* What operators need of the case. */
static eg_status read_options(advection *a)
{
    eg_status status = EG_OK;
    const eg_case *cas = a->problem.cas;
    const eg_mesh *mesh = a->problem.mesh;
    eg_advection_options *options = &a->options;
    bool quadrature_chosen;
    char key[KEY_BYTES];
    *options = (eg_advection_options){.components = a->fields,
                                      .low_storage = a->time.scheme == EG_TIME_LOW_RK4,
                                      .one_stage = a->time.scheme == EG_TIME_EULER,
                                      .degree_most = a->adapting.on ? a->adapting.most : 0};
    EG_TRY(eg_advection_quadrature_from_case(cas, &a->quadrature, &quadrature_chosen));
    if (quadrature_chosen) options->quadrature = &a->quadrature;
    for (int d = 0; d < mesh->dim; d++)
        options->velocity[d] = eg_case_expression_at(cas, "advection.velocity", (size_t)d);
    EG_TRY(eg_new(a->ctx, (size_t)(mesh->boundary_count * a->fields) + 1, &a->boundary));
    for (int i = 0; i < mesh->boundary_count * a->fields; i++) {
        snprintf(key, sizeof key, "boundary.%s.%s", mesh->boundary[i / a->fields],
                 a->names[i % a->fields]);
        if (eg_case_given(cas, key)) a->boundary[i] = eg_case_expression(cas, key);
    }
    for (int c = 0; c < a->fields; c++) {
        snprintf(key, sizeof key, "source.%s", a->names[c]);
        if (eg_case_given(cas, key)) a->source[c] = eg_case_expression(cas, key);
    }
    options->boundary = a->adapting.boundary = a->boundary;
    options->source = a->adapting.source = a->source;
done:
    return status;
}

/* The degrees at the start, NULL if they are all the same, and what else spaces need. */
static eg_status read_space_options(advection *a, uint8_t **degrees)
{
    eg_status status = EG_OK;
    const eg_problem *p = &a->problem;
    eg_space_options *o = &a->space_options;
    EG_TRY(eg_space_options_from_case(p->cas, p->mesh, o));
    EG_TRY(eg_degrees_from_case(p->cas, p->mesh, o->degree, degrees));
    o->basis = EG_BASIS_MODAL;
    o->lanes = eg_advection_lanes(p->device, p->mesh, &a->options, o->degree);
done:
    return status;
}

/* The space with these degrees (NULL: the same everywhere), the operator and fields on it; `like` is
 * another space on the mesh, if there is one. */
static eg_status create_on_space(advection *a, const uint8_t *degrees, const eg_space *like)
{
    eg_status status = EG_OK;
    const eg_problem *p = &a->problem;
    const double zero = 0;
    eg_space_options options = a->space_options;
    options.degrees = degrees;
    options.like = like;
    EG_TRY(eg_space_create(p->device, p->comm, p->mesh, &options, &a->on.space));
    EG_TRY(eg_advection_create(a->on.space, &a->options, &a->on.op));
    EG_TRY(eg_field_create(a->on.space, a->fields, EG_F64, &a->on.current));
    EG_TRY(eg_field_create(a->on.space, a->fields, EG_F64, &a->on.next));
    EG_TRY(eg_field_create(a->on.space, a->fields, EG_F64,
                           a->time.scheme == EG_TIME_LOW_RK4 ? &a->on.k : &a->on.first));
    if (a->on.k) EG_TRY(eg_buffer_fill(a->on.k->data, 0, eg_buffer_count(a->on.k->data), &zero));
done:
    return status;
}

static eg_status create_measure(advection *a)
{
    eg_status status = EG_OK;
    const eg_expression *compared[EG_MODEL_FIELDS_MAX];
    if (a->on.measure) return EG_OK;
    for (int i = 0; i < a->fields; i++)
        compared[i] = a->exact_of[i] ? a->exact_of[i] : a->initial_of[i];
    EG_TRY(eg_function_create(a->on.space, compared, a->fields, &a->on.exact));
    EG_TRY(eg_measure_create(a->on.space, a->fields, a->on.exact, &a->on.measure));
done:
    return status;
}

static eg_status create_limiter(advection *a)
{
    return a->on.limiter ? EG_OK : eg_advection_limiter_create(a->on.op, a->bounds, &a->on.limiter);
}

/* The largest step that keeps bounds if all elements have the highest degree. */
static eg_status find_highest_dt(const advection *a, double *dt)
{
    const eg_problem *p = &a->problem;
    eg_space_options options = a->space_options;
    eg_space *space = NULL;
    eg_advection *op = NULL;
    eg_advection_limiter *limiter = NULL;
    eg_status status = EG_OK;
    options.degree = a->adapting.most;
    EG_TRY(eg_space_create(p->device, p->comm, p->mesh, &options, &space));
    EG_TRY(eg_advection_create(space, &a->options, &op));
    EG_TRY(eg_advection_limiter_create(op, a->bounds, &limiter));
    EG_TRY(eg_advection_bounds_dt(limiter, a->time.start, dt));
done:
    eg_advection_limiter_destroy(&limiter);
    eg_advection_destroy(&op);
    eg_space_destroy(&space);
    return status;
}

/* The bounds of tracers, and whether the steps of the case are short enough to keep them. */
static eg_status read_bounds(advection *a)
{
    eg_status status = EG_OK;
    const eg_case *cas = a->problem.cas;
    double dt;
    a->limited = eg_limiter_kind_of(cas) != EG_LIMITER_NONE;
    EG_TRY(eg_limiter_bounds(cas, a->on.initial, a->time.start, a->fields, a->names, a->bounds));
    if (a->limited)
        EG_TRY(eg_comm_agree(a->problem.comm,
                             eg_limiter_check_inflow(cas, a->on.op, &a->options, a->time.start,
                                                     a->names, a->bounds)));
    if (!a->limited || a->time.dt == 0) return EG_OK;
    if (a->adapting.on) {
        EG_TRY(find_highest_dt(a, &dt));
    } else {
        EG_TRY(create_limiter(a));
        EG_TRY(eg_advection_bounds_dt(a->on.limiter, a->time.start, &dt));
    }
    if (!eg_advection_keeps_bounds(a->time.dt, dt))
        EG_TRY(eg_case_fail(
            cas, "time.dt", -1, "the limiter keeps bounds in steps of %.9g at most%s, not of %.9g",
            dt, a->adapting.on ? " on elements of degree space.degree" : "", a->time.dt));
done:
    return status;
}

/* Everything, at the start. */
static eg_status create_all(advection *a)
{
    const eg_problem *p = &a->problem;
    uint8_t *degrees = NULL;
    eg_status status = EG_OK;
    EG_TRY(read_options(a));
    /* Ranks whose elements are in order wait for none of the others. */
    EG_TRY(eg_comm_agree(p->comm, read_space_options(a, &degrees)));
    if (a->adapting.on) {
        EG_TRY(eg_adapt_create(p->device, p->comm, p->mesh, a->fields, &a->adapting, &a->adapt));
        eg_device_keep_kernels(p->device, true);
        if (degrees) EG_TRY(eg_adapt_even_out(a->adapt, degrees));
    }
    EG_TRY(create_on_space(a, degrees, NULL));
    EG_TRY(create_measure(a));
    EG_TRY(eg_function_create(a->on.space, a->initial_of, a->fields, &a->on.initial));
    EG_TRY(read_bounds(a));
done:
    eg_release(a->ctx, &degrees);
    return status;
}

static eg_status create(const eg_problem *problem, void **state)
{
    eg_status status = EG_OK;
    advection *a = NULL;
    EG_TRY(eg_new(problem->ctx, 1, &a));
    a->ctx = problem->ctx;
    a->problem = *problem;
    EG_TRY(read_fields(a, problem->cas));
    EG_TRY(eg_time_options_from_case(problem->cas, &a->time));
    EG_TRY(eg_adapt_options_from_case(problem->cas, &a->adapting));
    a->time.progress = problem->options.progress;
    a->time.progress_user = problem->options.progress_user;
    EG_TRY(create_all(a));
    *state = a;
    a = NULL;
done:
    if (a) destroy(a);
    return status;
}

/* --- running --------------------------------------------------------------------------------------- */

static void swap(eg_field **a, eg_field **b)
{
    eg_field *c = *a;
    *a = *b;
    *b = c;
}

/* Takes a field into the bounds, if there are any. */
static eg_status limit(advection *a, eg_field *field)
{
    eg_status status = EG_OK;
    if (!a->limited) return EG_OK;
    EG_TRY(create_limiter(a));
    EG_TRY(eg_advection_limit(a->on.limiter, field));
done:
    return status;
}

/* The largest step may have changed since the beginning, with the velocity or with degrees. */
static eg_status check_dt(advection *a, const eg_stage *s)
{
    eg_status status = EG_OK;
    double dt;
    if (!a->limited) return EG_OK;
    EG_TRY(create_limiter(a));
    EG_TRY(eg_advection_bounds_dt(a->on.limiter, s->time, &dt));
    if (!eg_advection_keeps_bounds(s->dt, dt))
        EG_TRY(
            eg_fail(a->ctx, EG_ERROR_NUMERIC,
                    "at time %.9g the step is %.9g, but the limiter keeps bounds in steps of %.9g "
                    "at most: lower time.%s",
                    s->time, s->dt, dt, a->time.dt > 0 ? "dt" : "cfl"));
done:
    return status;
}

/* After a stage `current` is its result. A strong-stability scheme begins with `first` as the
 * solution, which the first stage reads from `current`; it is then kept where later stages find it. */
static eg_status stage(void *user, const eg_stage *s)
{
    advection *a = user;
    eg_status status = EG_OK;
    const eg_field *first = s->index == 0 ? a->on.current : a->on.first;
    EG_TRY(check_dt(a, s));
    EG_TRY(eg_advection_stage(a->on.op, s, first, a->on.current, a->on.k, a->on.next));
    EG_TRY(limit(a, a->on.next));
    swap(&a->on.current, &a->on.next);
    if (!s->low_storage && s->index == 0 && s->count > 1) swap(&a->on.first, &a->on.next);
done:
    return status;
}

/* Shortens a step from t until all its stages keep bounds, with the velocity that they have. One that
 * changes too fast for that is left to check_dt. */
static eg_status shorten(advection *a, double t, double *dt)
{
    eg_status status = EG_OK;
    bool fits = false;
    for (int tries = 0; tries < SHORTEN_TRIES && !fits; tries++) {
        eg_stage stages[EG_STAGES_MAX];
        const int count = eg_time_stages(a->time.scheme, t, a->time.cfl * *dt, stages);
        fits = true;
        for (int i = 0; i < count; i++) {
            double most;
            EG_TRY(eg_advection_bounds_dt(a->on.limiter, stages[i].time, &most));
            if (most >= *dt) continue;
            *dt = most;
            fits = false;
        }
    }
done:
    return status;
}

static eg_status stable_dt(void *user, double t, double *dt)
{
    eg_status status = EG_OK;
    advection *a = user;
    EG_TRY(eg_advection_stable_dt(a->on.op, t, dt));
    if (!a->limited || !isfinite(*dt)) return EG_OK;
    EG_TRY(create_limiter(a));
    EG_TRY(shorten(a, t, dt));
done:
    return status;
}

/* An integral is not finite where a value is not. */
static eg_status find_lost(void *user, const char **lost)
{
    eg_status status = EG_OK;
    advection *a = user;
    double integrals[EG_MODEL_FIELDS_MAX];
    EG_TRY(create_measure(a));
    EG_TRY(eg_measure_integrals(a->on.measure, a->on.current, integrals));
    *lost = NULL;
    for (int i = 0; i < a->fields && !*lost; i++)
        if (!isfinite(integrals[i])) *lost = a->names[i];
done:
    return status;
}

/* --- adapting -------------------------------------------------------------------------------------- */

/* Widens the range of degrees that there were. */
static void note_degrees(advection *a)
{
    for (int g = 0; g < a->on.space->group_count; g++) {
        const eg_group *group = &a->on.space->groups[g];
        if (group->element_count == 0) continue;
        if (group->degree < a->degree_least) a->degree_least = group->degree;
        if (group->degree > a->degree_most) a->degree_most = group->degree;
    }
}

/* Decides on the degrees for what follows time t and, if they are others than before, makes a new space
 * with all that lives on it, and moves the solution there; *changed says so. */
static eg_status adapt(advection *a, double t, bool *changed)
{
    const double begin = eg_wall_seconds();
    eg_adapt_decision decision;
    on_space old = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_adapt_decide(a->adapt, a->on.op, t, a->on.current, &decision));
    a->decisions++;
    *changed = decision.changed;
    if (!*changed) goto done;
    old = a->on;
    a->on = (on_space){0};
    EG_TRY(create_on_space(a, decision.degrees, old.space));
    EG_TRY(eg_comm_agree(a->problem.comm, eg_adapt_move(old.current, a->on.current)));
    EG_TRY(limit(a, a->on.current));
    a->adaptations++;
done:
    destroy_on_space(&old);
    a->adapt_s += eg_wall_seconds() - begin;
    return status;
}

static eg_status step_done(void *user, int64_t step, double t, double dt)
{
    advection *a = user;
    bool due = false, changed;
    eg_status status = EG_OK;
    a->dof_time += dt * (double)a->on.space->dof;
    if (!a->adapt || t >= a->time.end) return EG_OK;
    EG_TRY(eg_adapt_step(a->adapt, a->on.op, step, t, dt, &due));
    if (!due) return EG_OK;
    EG_TRY(adapt(a, t, &changed));
    note_degrees(a);
done:
    return status;
}

/* Projects the initial values, on degrees that suffice for them. */
static eg_status start(advection *a)
{
    eg_status status = EG_OK;
    bool changed = a->adapt != NULL;
    EG_TRY(eg_function_project(a->on.initial, a->time.start, a->on.current));
    for (int i = 0; changed && i < a->adapting.most; i++) {
        EG_TRY(adapt(a, a->time.start, &changed));
        if (!changed) break;
        EG_TRY(eg_function_create(a->on.space, a->initial_of, a->fields, &a->on.initial));
        EG_TRY(eg_function_project(a->on.initial, a->time.start, a->on.current));
    }
    EG_TRY(limit(a, a->on.current));
    eg_function_destroy(&a->on.initial);
    EG_TRY(create_measure(a));
    EG_TRY(eg_measure_integrals(a->on.measure, a->on.current, a->mass));
    /* What is told is of the loop that follows. */
    a->decisions = a->adaptations = 0;
    a->adapt_s = 0;
    a->degree_least = EG_DEGREE_MAX_QUAD;
    note_degrees(a);
done:
    return status;
}

static eg_status run(void *state)
{
    eg_status status = EG_OK;
    advection *a = state;
    const eg_time_system system = {.user = a,
                                   .stage = stage,
                                   .stable_dt = stable_dt,
                                   .step_done = step_done,
                                   .find_lost = find_lost};
    EG_TRY(start(a));
    EG_TRY(eg_time_run(a->ctx, &a->time, &system, &a->result));
done:
    return status;
}

static eg_status errors(void *state, eg_field_error *out, int *count)
{
    eg_status status = EG_OK;
    advection *a = state;
    eg_norms norms[EG_MODEL_FIELDS_MAX];
    *count = 0;
    EG_TRY(create_measure(a));
    EG_TRY(eg_measure_norms(a->on.measure, a->time.end, a->on.current, norms));
    for (int i = 0; i < a->fields; i++)
        if (a->exact_of[i]) out[(*count)++] = (eg_field_error){a->names[i], norms[i]};
done:
    return status;
}

static eg_status details(void *state, eg_facts *facts)
{
    advection *a = state;
    const double length = a->result.time - a->time.start;
    const double dof = (length > 0 ? a->dof_time / length : (double)a->on.space->dof) * a->fields;
    double range[] = {-a->degree_least, a->degree_most};
    eg_advection_range ranges[EG_MODEL_FIELDS_MAX];
    double mass[EG_MODEL_FIELDS_MAX];
    eg_status status = EG_OK;
    eg_facts_loop(facts, &a->result, dof);
    EG_TRY(create_limiter(a));
    EG_TRY(eg_advection_range_of(a->on.limiter, a->on.current, ranges));
    for (int i = 0; i < a->fields; i++) {
        eg_facts_section(facts, "range", a->names[i]);
        eg_facts_number(facts, "least", ranges[i].least);
        eg_facts_number(facts, "most", ranges[i].most);
    }
    EG_TRY(create_measure(a));
    EG_TRY(eg_measure_integrals(a->on.measure, a->on.current, mass));
    for (int i = 0; i < a->fields; i++) {
        eg_facts_section(facts, "mass", a->names[i]);
        eg_facts_number(facts, "start", a->mass[i]);
        eg_facts_number(facts, "end", mass[i]);
    }
    if (!a->adapt) return EG_OK;
    EG_TRY(eg_comm_max(a->problem.comm, EG_COUNT(range), range));
    eg_facts_section(facts, "adapt", NULL);
    eg_facts_integer(facts, "decisions", a->decisions);
    eg_facts_integer(facts, "adaptations", a->adaptations);
    eg_facts_number(facts, "dof_average", dof);
    eg_facts_integer(facts, "degree_least", -(int)range[0]);
    eg_facts_integer(facts, "degree_most", (int)range[1]);
    eg_facts_number(facts, "wall_s", a->adapt_s);
done:
    return status;
}

static const eg_space *space(void *state)
{
    return ((advection *)state)->on.space;
}

static int fields(void *state)
{
    return ((advection *)state)->fields;
}

const eg_model eg_model_advection = {
    .name = "advection",
    .summary = "carry tracers with a given velocity on quadrilaterals and hexahedra",
    .keys = eg_advection_keys,
    .in_time = true,
    .sample = sample,
    .check = check,
    .check_mesh = check_mesh,
    .create = create,
    .run = run,
    .errors = errors,
    .details = details,
    .space = space,
    .fields = fields,
    .destroy = destroy,
};
