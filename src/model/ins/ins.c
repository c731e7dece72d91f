/* The model `ins`: the incompressible Navier-Stokes equations in the plane, by discontinuous
 * Galerkin on straight triangles, split into advection, viscosity and pressure in time
 * [karakus2018]. */
#include "model/ins/ins.h"

#include "model/ins/columns.h"
#include "model/ins/flow.h"
#include "model/ins/keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COMPONENTS = 3, DERIVED = 2 };

/* The longest name of a boundary, and room for a key of it. */
enum { NAME_BYTES = 64, KEY_BYTES = NAME_BYTES + 32 };

static const char *const names[COMPONENTS] = {"u", "v", "p"};
static const char *const derived_names[DERIVED] = {"vorticity", "divergence"};
/* In checkpoints: earlier states, and what else a restart needs. */
static const char *const earlier_names[EG_BDF_ORDER_MAX - 1][COMPONENTS] = {{"u_1", "v_1", "p_1"},
                                                                            {"u_2", "v_2", "p_2"}};
static const char *const time_names[EG_BDF_ORDER_MAX] = {"flow.time", "flow.time_1", "flow.time_2"};
static const char *const basis_names[COMPONENTS] = {"guess_u", "guess_v", "guess_p"};
static const char *const guess_names[EG_GUESS_MOST] = {
    "guess_1", "guess_2",  "guess_3",  "guess_4",  "guess_5",  "guess_6",  "guess_7",  "guess_8",
    "guess_9", "guess_10", "guess_11", "guess_12", "guess_13", "guess_14", "guess_15", "guess_16"};
static const char *const count_names[COMPONENTS] = {"flow.guesses_u", "flow.guesses_v",
                                                    "flow.guesses_p"};
static const char *const system_names[COMPONENTS] = {"flow.system_u", "flow.system_v",
                                                     "flow.system_p"};
static const char *const exact_keys[COMPONENTS] = {"exact.u", "exact.v", "exact.p"};
static const char *const initial_keys[COMPONENTS] = {"initial.u", "initial.v", "initial.p"};
static const char *const part_names[EG_INS_PARTS] = {
    [EG_INS_ADVECTION] = "advection",   [EG_INS_VELOCITY] = "velocity",
    [EG_INS_PRESSURE] = "pressure",     [EG_INS_UPDATE] = "update",
    [EG_INS_CONTINUITY] = "divergence", [EG_INS_PREPARATION] = "preparation"};

/* A case of `eagre new` has vortices that decay in a periodic square. */
static const char *const sample[] = {"mesh.shape=\"triangle\"",
                                     "mesh.cells=[8, 8]",
                                     "mesh.periodic=[\"x\", \"y\"]",
                                     "initial.u=\"-cos(2*pi*x)*sin(2*pi*y)\"",
                                     "initial.v=\"sin(2*pi*x)*cos(2*pi*y)\"",
                                     "initial.p=\"-(cos(4*pi*x) + cos(4*pi*y))/4\"",
                                     "exact.u=\"-cos(2*pi*x)*sin(2*pi*y)*exp(-0.08*pi^2*t)\"",
                                     "exact.v=\"sin(2*pi*x)*cos(2*pi*y)*exp(-0.08*pi^2*t)\"",
                                     "exact.p=\"-(cos(4*pi*x) + cos(4*pi*y))/4*exp(-0.16*pi^2*t)\"",
                                     "time.dt=0.01",
                                     NULL};

typedef struct ins {
    eg_problem problem; /* nothing of it is owned */
    eg_time_options time;
    eg_ins_boundary *types; /* [boundaries] owned */
    eg_ins_given *given;    /* [boundaries] owned, the expressions are the case's */
    eg_space *space;
    eg_ins_flow *flow;
    eg_function *exact[COMPONENTS]; /* NULL: there is none */
    eg_measure *measure[COMPONENTS];
    eg_field *derived[DERIVED];
    eg_ins_memory memory; /* of the flow, in checkpoints */
    double dt;            /* that steps from a CFL number keep to; 0: not yet known */
    double dt_cfl;        /* the CFL number it is from */
    eg_time_result result;
} ins;

static void destroy(void *state)
{
    ins *s = state;
    eg_context *ctx = s->problem.ctx;
    for (int c = 0; c < COMPONENTS; c++) {
        eg_measure_destroy(&s->measure[c]);
        eg_function_destroy(&s->exact[c]);
    }
    for (int i = 0; i < DERIVED; i++)
        eg_field_destroy(&s->derived[i]);
    eg_ins_flow_destroy(&s->flow);
    eg_space_destroy(&s->space);
    eg_release(ctx, &s->given);
    eg_release(ctx, &s->types);
    eg_release(ctx, &s);
}

/* --- what the case says ----------------------------------------------------------------------- */

/* The data that a type of boundary has. */
static bool takes(eg_ins_boundary type, const char *data)
{
    const bool velocity = !strcmp(data, "u") || !strcmp(data, "v");
    return type == EG_INS_INFLOW ? velocity : type == EG_INS_OPEN && !velocity;
}

static eg_status check_boundaries(const eg_case *cas)
{
    static const char *const data[] = {"u", "v", "pressure", "traction_x", "traction_y"};
    const char *name;
    for (size_t i = 0; (name = eg_case_name_at(cas, "boundary", i)); i++) {
        char section[KEY_BYTES], key[KEY_BYTES + 16];
        if (strlen(name) > NAME_BYTES)
            return eg_case_fail(cas, "boundary", -1, "names of boundaries have at most %d bytes",
                                NAME_BYTES);
        snprintf(section, sizeof section, "boundary.%s", name);
        snprintf(key, sizeof key, "%s.type", section);
        if (!eg_case_given(cas, key))
            return eg_case_fail(cas, section, -1,
                                "it has no type: \"inflow\", \"wall\", \"outflow\" or \"slip\"");
        const eg_ins_boundary type = (eg_ins_boundary)eg_case_choice(cas, key);
        const char *called = eg_case_string(cas, key);
        for (size_t d = 0; d < EG_COUNT(data); d++) {
            snprintf(key, sizeof key, "%s.%s", section, data[d]);
            if (eg_case_given(cas, key) && !takes(type, data[d]))
                return eg_case_fail(cas, key, -1,
                                    "a boundary of type \"%s\" has no such data; did you mean "
                                    "\"%s\"?",
                                    called, d < 2 ? "inflow" : "outflow");
        }
    }
    return EG_OK;
}

static eg_status check_exact(const eg_case *cas)
{
    int count = 0, missing = 0;
    for (int c = 0; c < COMPONENTS; c++) {
        const bool given = eg_case_given(cas, exact_keys[c]);
        count += given;
        if (!given) missing = c;
    }
    if (count > 0 && count < COMPONENTS)
        return eg_case_fail(cas, "exact", -1, "u, v and p belong together; %s is not given",
                            names[missing]);
    if (count == 0 && eg_case_choice(cas, "ins.start") == EG_INS_EXACT)
        return eg_case_fail(cas, "ins.start", -1, "there is no section [exact] to start from");
    return EG_OK;
}

/* The elements that there are kernels for. */
static eg_status check_elements(const eg_case *cas, eg_shape shape, int order)
{
    const bool file = eg_case_given(cas, "mesh.file");
    if (shape != EG_SHAPE_TRI)
        return eg_case_fail(cas, file ? "mesh.file" : "mesh.shape", -1,
                            "this model needs \"triangle\", not \"%s\"",
                            eg_shape_get_info(shape)->name);
    if (order > 1)
        return eg_case_fail(cas, eg_case_given(cas, "mesh.order") ? "mesh.order" : "mesh.file", -1,
                            "this model needs straight elements, of order 1, not %d; mesh.order = "
                            "1 makes them straight",
                            order);
    return EG_OK;
}

static eg_status check(eg_context *ctx, const eg_case *cas)
{
    eg_time_options time;
    eg_precondition_options preconditioner;
    eg_status status = EG_OK;
    (void)ctx;
    if (!eg_case_given(cas, "mesh.file"))
        EG_TRY(
            check_elements(cas, eg_mesh_case_shape(cas), (int)eg_case_integer(cas, "mesh.order")));
    if (eg_case_integer(cas, "space.degree") < 1)
        EG_TRY(eg_case_fail(cas, "space.degree", -1, "this model has degrees from 1 on"));
    if (eg_case_given(cas, "space.basis") && strcmp(eg_case_string(cas, "space.basis"), "lobatto"))
        EG_TRY(eg_case_fail(cas, "space.basis", -1,
                            "this model has values at the nodes of faces: \"lobatto\", or leave "
                            "the key out"));
    if (eg_case_given(cas, "time.scheme"))
        EG_TRY(eg_case_fail(cas, "time.scheme", -1,
                            "this model steps by backward differentiation: time.order says of "
                            "which order"));
    EG_TRY(check_boundaries(cas));
    EG_TRY(check_exact(cas));
    EG_TRY(eg_precondition_from_case(cas, &preconditioner));
    EG_TRY(eg_time_options_from_case(cas, &time));
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
    for (int i = 0; i < DERIVED; i++)
        out[COMPONENTS + i] = derived_names[i];
    return COMPONENTS + DERIVED;
}

/* --- creation --------------------------------------------------------------------------------- */

static const eg_expression *given_at(const eg_case *cas, const char *boundary, const char *name)
{
    char key[KEY_BYTES + 16];
    snprintf(key, sizeof key, "boundary.%s.%s", boundary, name);
    return eg_case_expression(cas, key);
}

static eg_status read_boundaries(ins *s)
{
    const eg_case *cas = s->problem.cas;
    const eg_mesh *mesh = s->problem.mesh;
    const size_t count = (size_t)mesh->boundary_count;
    eg_status status = EG_OK;
    EG_TRY(eg_new(s->problem.ctx, count + 1, &s->types));
    EG_TRY(eg_new(s->problem.ctx, count + 1, &s->given));
    for (size_t b = 0; b < count; b++) {
        const char *name = mesh->boundary[b];
        char key[KEY_BYTES + 16];
        snprintf(key, sizeof key, "boundary.%s.type", name);
        s->types[b] = (eg_ins_boundary)eg_case_choice(cas, key);
        s->given[b] = (eg_ins_given){
            .velocity = {given_at(cas, name, "u"), given_at(cas, name, "v")},
            .pressure = given_at(cas, name, "pressure"),
            .traction = {given_at(cas, name, "traction_x"), given_at(cas, name, "traction_y")}};
    }
done:
    return status;
}

/* NULL if the force is nothing. */
static const eg_expression *force_of(const eg_case *cas, const char *key)
{
    const eg_expression *force = eg_case_expression(cas, key);
    const bool varies = eg_expression_varies(force) || eg_expression_uses(force, EG_VARIABLE_T);
    if (!varies && eg_expression_evaluate(force, (double[EG_VARIABLE_COUNT]){0}) == 0) return NULL;
    return force;
}

static eg_status read_options(const ins *s, eg_ins_options *out)
{
    const eg_case *cas = s->problem.cas;
    const int order = (int)eg_case_integer(cas, "time.order");
    const bool given = eg_case_given(cas, "ins.pressure_order");
    /* Blocks need fewer iterations, but are dear to make: for steps of one length. */
    const bool blocks = eg_case_given(cas, "solver.velocity")
                            ? eg_case_choice(cas, "solver.velocity") == EG_INS_VELOCITY_BLOCKS
                            : s->time.dt > 0;
    *out = (eg_ins_options){
        .velocity = blocks ? EG_PRECONDITION_BLOCKS : EG_PRECONDITION_MASS,
        .viscosity = eg_case_real(cas, "ins.viscosity"),
        .order = order,
        .pressure_order = given       ? (int)eg_case_integer(cas, "ins.pressure_order")
                          : order > 2 ? order - 1
                                      : 1,
        .subcycles = (int)eg_case_integer(cas, "time.subcycles"),
        .advection = {.collocated = eg_case_choice(cas, "ins.advection") == EG_INS_COLLOCATION,
                      .backflow = eg_case_real(cas, "ins.backflow")},
        .penalty = eg_case_real(cas, "ins.penalty"),
        .continuity = eg_case_real(cas, "ins.divergence_penalty"),
        .boundary = s->types,
        .given = s->given,
        .force = {force_of(cas, "ins.force_x"), force_of(cas, "ins.force_y")},
        .tolerance = eg_case_real(cas, "solver.tolerance"),
        .iterations = (int)eg_case_integer(cas, "solver.iterations"),
        .guesses = (int)eg_case_integer(cas, "solver.guesses")};
    return eg_precondition_from_case(cas, &out->preconditioner);
}

static eg_status create_all(ins *s)
{
    const eg_problem *p = &s->problem;
    eg_space_options space = {.basis = EG_BASIS_LOBATTO,
                              .degree = (int)eg_case_integer(p->cas, "space.degree")};
    eg_ins_options options;
    eg_status status = EG_OK;
    EG_TRY(eg_time_options_from_case(p->cas, &s->time));
    s->time.scheme = EG_TIME_EULER; /* one call for each step */
    EG_TRY(read_boundaries(s));
    EG_TRY(read_options(s, &options));
    EG_TRY(eg_comm_agree(p->comm, eg_ins_lanes(p->device, p->mesh, space.degree, &space.lanes)));
    EG_TRY(eg_space_create(p->device, p->comm, p->mesh, &space, &s->space));
    EG_TRY(eg_ins_flow_create(s->space, &options, &s->flow));
    for (int i = 0; i < DERIVED; i++)
        EG_TRY(eg_field_create(s->space, 1, EG_F64, &s->derived[i]));
    for (int c = 0; c < COMPONENTS && eg_case_given(p->cas, exact_keys[c]); c++) {
        const eg_expression *exact = eg_case_expression(p->cas, exact_keys[c]);
        EG_TRY(eg_function_create(s->space, &exact, 1, &s->exact[c]));
        EG_TRY(eg_measure_create(s->space, 1, s->exact[c], &s->measure[c]));
    }
done:
    return status;
}

static eg_status create(const eg_problem *problem, void **state)
{
    ins *s = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(problem->ctx, 1, &s));
    s->problem = *problem;
    EG_TRY(create_all(s));
    *state = s;
    s = NULL;
done:
    if (s) destroy(s);
    return status;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Steps from a CFL number keep their length while advection allows between that and LARGER times as much, so that
 * the solves for the velocity, which depend on it, are seldom made anew. A new length is SHARE of what is
 * allowed. Whatever cut the step before short, the next is no more than GROWTH times as long: of variable
 * steps backward differentiation stands ratios to 1.53 (order 3) and 2.41 (order 2). */
#define SHARE 0.85
#define LARGER 1.5
#define GROWTH 1.4

static eg_status stable_dt(void *user, double t, double *dt)
{
    ins *s = user;
    const double cfl = s->time.cfl;
    eg_status status = EG_OK;
    (void)t;
    EG_TRY(eg_ins_flow_stable_dt(s->flow, dt));
    const double allowed = cfl * *dt;
    const bool moves = isfinite(allowed);
    if (cfl == 0 || isnan(allowed) || (s->dt == 0 && !moves)) goto done;
    if (moves && (s->dt == 0 || s->dt_cfl != cfl || allowed < s->dt || allowed > LARGER * s->dt))
        s->dt = SHARE * allowed;
    s->dt_cfl = cfl;
    *dt = fmin(s->dt, GROWTH * eg_ins_flow_last_dt(s->flow)) / cfl;
done:
    return status;
}

/* A state at time t: what [exact] or, NULL, [initial] says. */
static eg_status begin_at(ins *s, double t, eg_function *const *exact)
{
    eg_function *initial = NULL;
    eg_status status = EG_OK;
    eg_ins_flow_begin(s->flow, t);
    for (int c = 0; c < COMPONENTS; c++) {
        const eg_expression *of = eg_case_expression(s->problem.cas, initial_keys[c]);
        if (!exact) EG_TRY(eg_function_create(s->space, &of, 1, &initial));
        EG_TRY(eg_function_interpolate(exact ? exact[c] : initial, t,
                                       eg_ins_flow_field(s->flow, 0, c)));
        eg_function_destroy(&initial);
    }
done:
    eg_function_destroy(&initial);
    return status;
}

/* The state at the start, behind those that [exact] tells of the times before. */
static eg_status begin(ins *s)
{
    const bool exact = eg_case_choice(s->problem.cas, "ins.start") == EG_INS_EXACT;
    double dt = s->time.dt;
    eg_status status = EG_OK;
    EG_TRY(begin_at(s, s->time.start, exact ? s->exact : NULL));
    if (!exact || eg_ins_flow_history(s->flow) == 1) goto done;
    if (dt == 0) {
        EG_TRY(stable_dt(s, s->time.start, &dt));
        dt *= s->time.cfl;
        /* The time loop refuses such a step, and says why. */
        if (!isfinite(dt) || dt <= 0) goto done;
    }
    eg_ins_flow_resume(s->flow, &(eg_ins_memory){0});
    for (int i = eg_ins_flow_history(s->flow) - 1; i >= 0; i--)
        EG_TRY(begin_at(s, s->time.start - i * dt, s->exact));
done:
    return status;
}

static const char *const *names_of(int state)
{
    return state == 0 ? names : earlier_names[state - 1];
}

/* What guesses are made of, where the checkpoint has as much of it and the systems are the same. */
static eg_status resume_guesses(ins *s, eg_checkpoint *from, const eg_ins_memory *memory)
{
    const eg_checkpoint_info *info = eg_checkpoint_get_info(from);
    eg_status status = EG_OK;
    for (int i = 0; i < info->field_count; i++)
        for (int c = 0; c < COMPONENTS; c++) {
            eg_field *basis = eg_ins_flow_basis(s->flow, c);
            if (strcmp(info->fields[i].name, basis_names[c]) != 0 ||
                !eg_ins_flow_wants_basis(s->flow, memory, c) ||
                info->fields[i].components < basis->components)
                continue;
            EG_TRY(eg_checkpoint_read_field(from, basis_names[c], guess_names, basis));
            eg_ins_flow_resume_basis(s->flow, memory, c);
        }
done:
    return status;
}

/* What a checkpoint has. */
static eg_status resume(ins *s, eg_checkpoint *from)
{
    eg_ins_memory memory = {.states = eg_checkpoint_number(from, "flow.states", 1),
                            .lambda = eg_checkpoint_number(from, "flow.lambda", 0)};
    eg_status status = EG_OK;
    for (int i = 0; i < EG_BDF_ORDER_MAX; i++)
        memory.times[i] =
            eg_checkpoint_number(from, time_names[i], eg_checkpoint_get_info(from)->time);
    for (int c = 0; c < COMPONENTS; c++) {
        memory.guesses[c] = eg_checkpoint_number(from, count_names[c], 0);
        memory.systems[c] = eg_checkpoint_number(from, system_names[c], 0);
    }
    s->dt = eg_checkpoint_number(from, "flow.dt", 0);
    s->dt_cfl = eg_checkpoint_number(from, "flow.cfl", 0);
    const int states = eg_ins_flow_resume(s->flow, &memory);
    for (int i = 0; i < states; i++)
        for (int c = 0; c < COMPONENTS; c++)
            EG_TRY(eg_checkpoint_read_field(from, names_of(i)[c], &names_of(i)[c],
                                            eg_ins_flow_field(s->flow, i, c)));
    EG_TRY(resume_guesses(s, from, &memory));
done:
    return status;
}

static eg_status stage(void *user, const eg_stage *stage)
{
    ins *s = user;
    return eg_ins_flow_step(s->flow, stage->dt);
}

static eg_status run(void *state, eg_watch *watch)
{
    ins *s = state;
    const eg_time_system system = {.user = s, .stage = stage, .stable_dt = stable_dt, .even = true};
    eg_status status = EG_OK;
    EG_TRY(s->problem.restart ? resume(s, s->problem.restart) : begin(s));
    EG_TRY(eg_watch_run(watch, &s->time, &system, &s->result));
done:
    return status;
}

/* --- results ---------------------------------------------------------------------------------- */

static void add_number(eg_state *out, const char *name, double *value)
{
    out->numbers[out->number_count++] = (eg_state_number){name, value};
}

static void show(void *state, eg_state *out)
{
    ins *s = state;
    for (int i = 0; i < eg_ins_flow_history(s->flow); i++)
        for (int c = 0; c < COMPONENTS; c++)
            out->fields[out->field_count++] =
                (eg_state_field){.name = names_of(i)[c],
                                 .field = eg_ins_flow_field(s->flow, i, c),
                                 .names = &names_of(i)[c],
                                 .kept_only = i > 0};
    for (int c = 0; c < COMPONENTS && eg_ins_flow_basis(s->flow, c); c++)
        out->fields[out->field_count++] = (eg_state_field){.name = basis_names[c],
                                                           .field = eg_ins_flow_basis(s->flow, c),
                                                           .names = guess_names,
                                                           .kept_only = true};
    for (int i = 0; i < DERIVED; i++)
        out->fields[out->field_count++] = (eg_state_field){.name = derived_names[i],
                                                           .field = s->derived[i],
                                                           .names = &derived_names[i],
                                                           .derived = true};
    s->memory = eg_ins_flow_remember(s->flow);
    add_number(out, "flow.states", &s->memory.states);
    add_number(out, "flow.lambda", &s->memory.lambda);
    add_number(out, "flow.dt", &s->dt);
    add_number(out, "flow.cfl", &s->dt_cfl);
    for (int i = 0; i < EG_BDF_ORDER_MAX; i++)
        add_number(out, time_names[i], &s->memory.times[i]);
    for (int c = 0; c < COMPONENTS; c++) {
        add_number(out, count_names[c], &s->memory.guesses[c]);
        add_number(out, system_names[c], &s->memory.systems[c]);
    }
}

static eg_status derive(void *state)
{
    ins *s = state;
    return eg_ins_flow_derive(s->flow, s->derived[0], s->derived[1]);
}

static eg_status errors(void *state, eg_field_error *out, int *count)
{
    ins *s = state;
    eg_status status = EG_OK;
    *count = 0;
    for (int c = 0; c < COMPONENTS && s->exact[c]; c++) {
        out[c].name = names[c];
        EG_TRY(eg_measure_norms(s->measure[c], s->result.time, eg_ins_flow_field(s->flow, 0, c),
                                &out[c].norms));
        *count = c + 1;
    }
done:
    return status;
}

static eg_status details(void *state, eg_facts *facts)
{
    ins *s = state;
    const eg_ins_counts *counts = eg_ins_flow_counts(s->flow);
    const double steps = counts->steps > 0 ? (double)counts->steps : 1;
    double all = 0;
    eg_facts_loop(facts, &s->result, (double)s->space->dof * COMPONENTS);
    eg_facts_section(facts, "iterations", NULL);
    eg_facts_number(facts, "velocity", (double)counts->velocity_iterations / (2 * steps));
    eg_facts_number(facts, "pressure", (double)counts->pressure_iterations / steps);
    eg_facts_number(facts, "divergence", (double)counts->continuity_iterations / steps);
    for (int i = 0; i < EG_INS_PARTS; i++)
        all += counts->seconds[i];
    eg_facts_section(facts, "time_fraction", NULL);
    for (int i = 0; i < EG_INS_PARTS; i++)
        eg_facts_number(facts, part_names[i], all > 0 ? counts->seconds[i] / all : 0);
    return EG_OK;
}

static const eg_space *space(void *state)
{
    return ((ins *)state)->space;
}

static int fields(void *state)
{
    (void)state;
    return COMPONENTS;
}

const eg_model eg_model_ins = {
    .name = "ins",
    .summary = "incompressible flow with viscosity, in the plane, on triangles",
    .keys = eg_ins_keys,
    .in_time = true,
    .sample = sample,
    .check = check,
    .check_mesh = check_mesh,
    .names = field_names,
    .columns = eg_ins_columns,
    .create = create,
    .show = show,
    .derive = derive,
    .run = run,
    .errors = errors,
    .details = details,
    .space = space,
    .fields = fields,
    .destroy = destroy,
};
