/* The splitting of a step into advection, an implicit step of the velocity, and a pressure that makes
 * it divergence-free. */
#include "model/ins/flow_parts.h"

#include <math.h>
#include <string.h>

/* Parts of a step that differ by less are equal: rounding of times. */
#define SAME 1e-9

/* --- creation --------------------------------------------------------------------------------- */

void eg_ins_flow_destroy(eg_ins_flow **handle)
{
    eg_ins_flow *f = *handle;
    if (!f) return;
    eg_context *ctx = f->space->ctx;
    if (f->solve[1] == f->solve[0]) f->solve[1] = NULL;
    for (int i = 0; i < 3; i++) {
        eg_ins_solve_destroy(&f->solve[i]);
        eg_buffer_destroy(&f->face_types[i]);
    }
    eg_ins_speed_destroy(&f->speed);
    eg_ins_continuity_destroy(&f->continuity);
    eg_buffer_destroy(&f->load);
    eg_field_destroy(&f->scalar);
    eg_field_destroy(&f->change);
    eg_field_destroy(&f->guess);
    for (int c = 0; c < 2; c++) {
        eg_field_destroy(&f->next[c]);
        eg_field_destroy(&f->hat[c]);
        eg_function_destroy(&f->force[c]);
    }
    for (int i = 0; i < STATES; i++) {
        eg_field_destroy(&f->p[i]);
        for (int c = 0; c < 2; c++) {
            eg_field_destroy(&f->n[i][c]);
            eg_field_destroy(&f->w[i][c]);
        }
    }
    eg_ins_cycles_destroy(f);
    eg_ins_guesses_destroy(f);
    eg_vectors_destroy(&f->vectors);
    eg_ins_operator_destroy(&f->op);
    eg_ins_data_destroy(&f->traction);
    eg_ins_data_destroy(&f->pressure);
    eg_ins_data_destroy(&f->velocity);
    eg_ins_faces_destroy(&f->faces);
    for (int i = 0; i < 3; i++)
        eg_release(ctx, &f->types[i]);
    eg_release(ctx, handle);
}

static eg_status make_faces(eg_ins_flow *f)
{
    static const eg_ins_kind kinds[] = {[EG_INS_INFLOW] = EG_INS_GIVEN,
                                        [EG_INS_WALL] = EG_INS_GIVEN,
                                        [EG_INS_OPEN] = EG_INS_OUTFLOW,
                                        [EG_INS_FREE] = EG_INS_SLIP};
    const size_t count = (size_t)f->space->mesh->boundary_count;
    eg_ins_kind *list = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(f->space->ctx, count + 1, &list));
    for (size_t b = 0; b < count; b++)
        list[b] = kinds[f->options.boundary[b]];
    EG_TRY(eg_ins_faces_create(f->space, list, &f->faces));
done:
    eg_release(f->space->ctx, &list);
    return status;
}

/* across [boundaries][2]: how far normals are from being along x, along y; on all ranks. */
static eg_status find_directions(const eg_ins_flow *f, double *across)
{
    const eg_ins_faces *faces = f->faces;
    for (int32_t i = 0; i < faces->count; i++) {
        double *of = across + 2 * faces->boundary[i];
        of[0] = fmax(of[0], fabs(faces->normal[2 * i + 1]));
        of[1] = fmax(of[1], fabs(faces->normal[2 * i]));
    }
    return eg_comm_max(f->space->comm, 2 * (size_t)f->space->mesh->boundary_count, across);
}

/* What holds for u, v and p at each boundary. */
static eg_status make_types(eg_ins_flow *f)
{
    const eg_mesh *mesh = f->space->mesh;
    const size_t count = (size_t)mesh->boundary_count;
    double *across = NULL;
    int32_t *list = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_new(f->space->comm, f->space->ctx, 2 * count + 1, &across));
    if (count > 0) EG_TRY(find_directions(f, across));
    EG_TRY(eg_new(f->space->ctx, count + 1, &list));
    for (int i = 0; i < 3; i++) {
        EG_TRY(eg_new(f->space->ctx, count + 1, &f->types[i]));
        for (size_t b = 0; b < count; b++) {
            const eg_ins_boundary what = f->options.boundary[b];
            bool fixed = what == EG_INS_OPEN ? i == 2 : i < 2;
            if (what == EG_INS_FREE && fmin(across[2 * b], across[2 * b + 1]) > SAME)
                EG_TRY(eg_fail(f->space->ctx, EG_ERROR_UNSUPPORTED,
                               "boundary \"%s\" is not along x or y, and a wall without friction "
                               "must be so far; did you mean a wall?",
                               mesh->boundary[b]));
            if (what == EG_INS_FREE) fixed = i < 2 && across[2 * b + (size_t)i] <= SAME;
            f->types[i][b] = fixed ? EG_ELLIPTIC_DIRICHLET : EG_ELLIPTIC_NEUMANN;
            list[b] = (int32_t)f->types[i][b];
        }
        EG_TRY(eg_ins_faces_spread(f->faces, list, &f->face_types[i]));
    }
done:
    eg_release(f->space->ctx, &list);
    eg_release(f->space->ctx, &across);
    return status;
}

static eg_status make_data(eg_ins_flow *f)
{
    const size_t count = (size_t)f->space->mesh->boundary_count;
    const eg_expression **list = NULL; /* [3][boundaries][2] */
    eg_status status = EG_OK;
    EG_TRY(eg_new(f->space->ctx, 6 * count + 1, &list));
    for (size_t b = 0; b < count; b++) {
        const eg_ins_given *given = &f->options.given[b];
        const eg_ins_boundary what = f->options.boundary[b];
        for (size_t c = 0; c < 2; c++) {
            if (what == EG_INS_INFLOW) list[2 * b + c] = given->velocity[c];
            if (what == EG_INS_OPEN) list[2 * count + 2 * b + c] = given->traction[c];
        }
        if (what == EG_INS_OPEN) list[4 * count + b] = given->pressure;
    }
    EG_TRY(eg_ins_data_create(f->faces, 2, list, &f->velocity));
    EG_TRY(eg_ins_data_create(f->faces, 2, list + 2 * count, &f->traction));
    EG_TRY(eg_ins_data_create(f->faces, 1, list + 4 * count, &f->pressure));
done:
    eg_release(f->space->ctx, &list);
    return status;
}

eg_status eg_ins_new_field(eg_ins_flow *f, eg_field **out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_field_create(f->space, 1, EG_F64, out));
    EG_TRY(eg_vectors_fill(f->vectors, 0, (*out)->data));
done:
    return status;
}

static eg_status make_fields(eg_ins_flow *f)
{
    const int states = eg_ins_flow_history(f);
    const bool cycles = f->options.subcycles > 0;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_create(f->space, 1, EG_F64, &f->vectors));
    for (int i = 0; i < states; i++) {
        EG_TRY(eg_ins_new_field(f, &f->p[i]));
        for (int c = 0; c < 2; c++) {
            EG_TRY(eg_ins_new_field(f, &f->w[i][c]));
            if (!cycles) EG_TRY(eg_ins_new_field(f, &f->n[i][c]));
        }
    }
    for (int c = 0; c < 2; c++) {
        const eg_expression *force = f->options.force[c];
        EG_TRY(eg_ins_new_field(f, &f->hat[c]));
        EG_TRY(eg_ins_new_field(f, &f->next[c]));
        if (force) EG_TRY(eg_function_create(f->space, &force, 1, &f->force[c]));
    }
    EG_TRY(eg_ins_new_field(f, &f->guess));
    EG_TRY(eg_ins_new_field(f, &f->change));
    EG_TRY(eg_ins_new_field(f, &f->scalar));
    EG_TRY(eg_vectors_new(f->vectors, &f->load));
    if (cycles) EG_TRY(eg_ins_cycles_create(f));
    if (f->options.guesses > 0) EG_TRY(eg_ins_guesses_create(f));
done:
    return status;
}

static eg_status make_pressure_solve(eg_ins_flow *f)
{
    const eg_ins_options *o = &f->options;
    return eg_ins_solve_create(f->space, f->vectors,
                               &(eg_ins_solve_options){.name = "the pressure",
                                                       .penalty = o->penalty,
                                                       .types = f->types[2],
                                                       .preconditioner = o->preconditioner,
                                                       .tolerance = o->tolerance,
                                                       .iterations = o->iterations},
                               &f->solve[2]);
}

eg_status eg_ins_flow_create(eg_space *space, const eg_ins_options *options, eg_ins_flow **out)
{
    eg_ins_flow *f = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &f));
    *f = (eg_ins_flow){.space = space, .options = *options};
    EG_TRY(eg_comm_agree(space->comm, make_faces(f)));
    EG_TRY(eg_comm_agree(space->comm, make_types(f)));
    EG_TRY(eg_comm_agree(space->comm, make_data(f)));
    EG_TRY(eg_ins_operator_create(space, f->faces, &options->advection, &f->op));
    EG_TRY(make_fields(f));
    EG_TRY(make_pressure_solve(f));
    if (options->continuity > 0)
        EG_TRY(eg_ins_continuity_create(
            space, f->faces,
            &(eg_ins_continuity_options){.strength = options->continuity,
                                         .tolerance = options->tolerance,
                                         .iterations = options->iterations},
            &f->continuity));
    f->options.boundary = NULL; /* the caller's */
    f->options.given = NULL;
    *out = f;
    f = NULL;
done:
    eg_ins_flow_destroy(&f);
    return status;
}

/* --- states ----------------------------------------------------------------------------------- */

int eg_ins_flow_history(const eg_ins_flow *f)
{
    const int order = f->options.order, pressures = f->options.pressure_order;
    return order > pressures ? order : pressures;
}

eg_field *eg_ins_flow_field(const eg_ins_flow *f, int state, int component)
{
    return component == 2 ? f->p[state] : f->w[state][component];
}

/* The last becomes the first. */
static void turn(int count, eg_field **list, ptrdiff_t stride)
{
    eg_field *last = list[(count - 1) * stride];
    for (int i = count - 1; i > 0; i--)
        list[i * stride] = list[(i - 1) * stride];
    list[0] = last;
}

void eg_ins_flow_begin(eg_ins_flow *f, double t)
{
    const int count = eg_ins_flow_history(f);
    turn(count, f->p, 1);
    for (int c = 0; c < 2; c++) {
        turn(count, &f->w[0][c], 2);
        turn(count, &f->n[0][c], 2);
    }
    for (int i = count - 1; i > 0; i--) {
        f->times[i] = f->times[i - 1];
        f->advected[i] = f->advected[i - 1];
    }
    f->times[0] = t;
    f->advected[0] = false;
    if (f->states < count) f->states++;
}

const eg_ins_counts *eg_ins_flow_counts(const eg_ins_flow *f)
{
    return &f->counts;
}

/* --- a step ----------------------------------------------------------------------------------- */

/* Adds the time since the mark before to a part. */
static eg_status mark(eg_ins_flow *f, eg_ins_part part)
{
    eg_status status = EG_OK;
    EG_TRY(eg_device_sync(f->space->device));
    const double now = eg_wall_seconds();
    f->counts.seconds[part] += now - f->marked_s;
    f->marked_s = now;
done:
    return status;
}

static eg_status set_data(eg_ins_data *data, double time)
{
    return eg_ins_data_set(data, 1, &time, &(double){1});
}

eg_status eg_ins_flow_derive(eg_ins_flow *f, eg_field *vorticity, eg_field *divergence)
{
    eg_status status = EG_OK;
    EG_TRY(set_data(f->velocity, f->times[0]));
    EG_TRY(eg_ins_vorticity(f->op, f->w[0], f->velocity, vorticity));
    EG_TRY(eg_ins_divergence(f->op, f->w[0], f->velocity, divergence));
done:
    return status;
}

/* hat += Σ weights[i] list[i][c], or without what it held. */
static eg_status add_states(eg_ins_flow *f, bool keep, int count, const double *weights, int c,
                            eg_field *(*list)[2], eg_field *to)
{
    eg_buffer *all[STATES];
    for (int i = 0; i < count; i++)
        all[i] = list[i][c]->data;
    return eg_vectors_add(f->vectors, keep, to->data, count, weights, all);
}

/* (17a): Σ beta w - dt Σ alpha N(w). */
static eg_status extrapolate(eg_ins_flow *f, int order, const eg_bdf *bdf, double dt)
{
    double weights[STATES];
    eg_status status = EG_OK;
    for (int i = 0; i < order; i++) {
        weights[i] = -dt * bdf->alpha[i];
        if (f->advected[i]) continue;
        EG_TRY(set_data(f->velocity, f->times[i]));
        EG_TRY(eg_ins_advect(f->op, f->w[i], f->velocity, f->n[i]));
        f->advected[i] = true;
    }
    for (int c = 0; c < 2; c++) {
        EG_TRY(add_states(f, false, order, bdf->beta, c, f->w, f->hat[c]));
        EG_TRY(add_states(f, true, order, weights, c, f->n, f->hat[c]));
    }
done:
    return status;
}

static eg_status add_force(eg_ins_flow *f, double t, double dt)
{
    eg_status status = EG_OK;
    for (int c = 0; c < 2; c++)
        if (f->force[c]) {
            EG_TRY(eg_function_interpolate(f->force[c], t, f->scalar));
            EG_TRY(eg_vectors_add(f->vectors, 1, f->hat[c]->data, 1, &dt, &f->scalar->data));
        }
done:
    return status;
}

/* guess = σP, the pressure at t extrapolated from `count` earlier ones; weights [count]. */
static eg_status guess_pressure(eg_ins_flow *f, int count, double t, double *weights)
{
    eg_buffer *all[STATES];
    eg_status status = EG_OK;
    eg_lagrange_weights(count, f->times, t, weights);
    for (int i = 0; i < count; i++)
        all[i] = f->p[i]->data;
    if (count > 0)
        EG_TRY(eg_vectors_add(f->vectors, 0, f->guess->data, count, weights, all));
    else
        EG_TRY(eg_vectors_fill(f->vectors, 0, f->guess->data));
done:
    return status;
}

/* The solves for u and v with this λ; made anew where it is another. */
static eg_status prepare_velocity(eg_ins_flow *f, double lambda)
{
    const eg_ins_options *o = &f->options;
    const size_t bytes = (size_t)f->space->mesh->boundary_count * sizeof **f->types;
    eg_ins_solve_options how = {.name = "the velocity",
                                .lambda = lambda,
                                .penalty = o->penalty,
                                .preconditioner = eg_precondition_defaults(o->velocity),
                                .tolerance = o->tolerance,
                                .iterations = o->iterations};
    how.preconditioner.levels.real = o->preconditioner.levels.real;
    eg_status status = EG_OK;
    if (f->solve[0] && fabs(eg_ins_solve_lambda(f->solve[0]) - lambda) <= SAME * lambda)
        return EG_OK;
    const bool first = !f->solve[0], known = first && fabs(f->lambda - lambda) <= SAME * lambda;
    if (known) how.lambda = f->lambda; /* as a run has it that was not interrupted */
    if (f->solve[1] == f->solve[0]) f->solve[1] = NULL;
    for (int c = 0; c < 2; c++) {
        if (f->guesses[c] && !known) eg_guess_resume(f->guesses[c], 0);
        eg_ins_solve_destroy(&f->solve[c]);
        how.types = f->types[c];
        if (c == 1 && !memcmp(f->types[0], f->types[1], bytes))
            f->solve[1] = f->solve[0];
        else
            EG_TRY(eg_ins_solve_create(f->space, f->vectors, &how, &f->solve[c]));
    }
done:
    return status;
}

/* (17b): next from hat; the guess is extrapolated. */
static eg_status step_velocity(eg_ins_flow *f, int order, const eg_bdf *bdf, double t, double dt)
{
    const double nu = f->options.viscosity;
    eg_status status = EG_OK;
    EG_TRY(set_data(f->velocity, t));
    EG_TRY(set_data(f->traction, t));
    for (int c = 0; c < 2; c++) {
        int iterations;
        const eg_ins_load load = {.f = f->hat[c],
                                  .scale = 1 / (nu * dt),
                                  .tau = eg_ins_solve_penalty(f->solve[c]),
                                  .types = f->face_types[c],
                                  .fixed = f->velocity,
                                  .fixed_component = c,
                                  .flux = f->traction,
                                  .flux_component = c,
                                  .flux_scale = 1 / nu};
        EG_TRY(eg_ins_make_load(f->op, &load, f->load));
        EG_TRY(add_states(f, false, order, bdf->alpha, c, f->w, f->next[c]));
        EG_TRY(
            eg_ins_solve_run(f->solve[c], f->guesses[c], f->load, f->next[c]->data, &iterations));
        f->counts.velocity_iterations += iterations;
    }
done:
    return status;
}

/* (17c): the guess becomes the pressure, which makes the velocity divergence-free that steps had without a
 * pressure, next + (dt/γ) G σ. What is solved for is the change. */
static eg_status step_pressure(eg_ins_flow *f, int count, const double *weights, double gamma,
                               double t, double dt)
{
    eg_buffer *rest = f->hat[0]->data;
    int iterations;
    eg_status status = EG_OK;
    if (count > 0) {
        EG_TRY(eg_ins_data_set(f->pressure, count, f->times, weights));
        EG_TRY(eg_ins_gradient(f->op, f->guess, f->pressure, 1, dt / gamma, f->next));
    }
    EG_TRY(eg_ins_divergence(f->op, f->next, f->velocity, f->scalar));
    EG_TRY(set_data(f->pressure, t));
    const eg_ins_load load = {.f = f->scalar,
                              .scale = -gamma / dt,
                              .tau = eg_ins_solve_penalty(f->solve[2]),
                              .types = f->face_types[2],
                              .fixed = f->pressure,
                              .flux = f->pressure, /* of the pressure's slope nothing is given */
                              .flux_scale = 0};
    EG_TRY(eg_ins_make_load(f->op, &load, f->load));
    EG_TRY(eg_ins_solve_residual(f->solve[2], f->load, f->guess->data, rest));
    EG_TRY(eg_vectors_fill(f->vectors, 0, f->change->data));
    EG_TRY(eg_ins_solve_run(f->solve[2], f->guesses[2], rest, f->change->data, &iterations));
    EG_TRY(eg_vectors_add(f->vectors, 1, f->guess->data, 1, &(double){1}, &f->change->data));
    f->counts.pressure_iterations += iterations;
done:
    return status;
}

/* (17d): the new state. */
static eg_status finish(eg_ins_flow *f, double gamma, double t, double dt)
{
    eg_status status = EG_OK;
    EG_TRY(eg_ins_gradient(f->op, f->guess, f->pressure, 1, -dt / gamma, f->next));
    if (f->continuity) {
        int iterations;
        EG_TRY(mark(f, EG_INS_UPDATE));
        EG_TRY(eg_ins_continuity_run(f->continuity, f->velocity, dt / gamma, f->next, &iterations));
        EG_TRY(mark(f, EG_INS_CONTINUITY));
        f->counts.continuity_iterations += iterations;
    }
    eg_ins_flow_begin(f, t);
    for (int c = 0; c < 2; c++) {
        eg_field *old = f->w[0][c];
        f->w[0][c] = f->next[c];
        f->next[c] = old;
    }
    eg_field *old = f->p[0];
    f->p[0] = f->guess;
    f->guess = old;
    f->counts.steps++;
done:
    return status;
}

eg_status eg_ins_flow_stable_dt(eg_ins_flow *f, double *dt)
{
    const eg_ins_options *o = &f->options;
    const double part =
        eg_ins_stable_part(f->space->groups[0].degree, o->subcycles > 0 ? 0 : o->order);
    double rate;
    eg_status status = EG_OK;
    if (!f->speed) EG_TRY(eg_ins_speed_create(f->space, f->faces, &f->speed));
    EG_TRY(set_data(f->velocity, f->times[0]));
    EG_TRY(eg_ins_speed_find(f->speed, f->w[0], f->velocity, &rate));
    *dt = part * (o->subcycles > 0 ? o->subcycles : 1) / rate;
done:
    return status;
}

double eg_ins_flow_last_dt(const eg_ins_flow *f)
{
    return f->states > 1 ? f->times[0] - f->times[1] : INFINITY;
}

eg_status eg_ins_flow_step(eg_ins_flow *f, double dt)
{
    const eg_ins_options *o = &f->options;
    const double t = f->times[0] + dt;
    const int order = o->order < f->states ? o->order : f->states;
    const int pressures = o->pressure_order < f->states ? o->pressure_order : f->states;
    const eg_bdf bdf = eg_bdf_at(order, f->times, t);
    double weights[STATES];
    eg_status status = EG_OK;
    f->marked_s = eg_wall_seconds();
    EG_TRY(prepare_velocity(f, bdf.gamma / (o->viscosity * dt)));
    EG_TRY(mark(f, EG_INS_PREPARATION));
    EG_TRY(o->subcycles > 0 ? eg_ins_subcycle(f, order, bdf.beta, t)
                            : extrapolate(f, order, &bdf, dt));
    EG_TRY(mark(f, EG_INS_ADVECTION));
    EG_TRY(add_force(f, t, dt));
    EG_TRY(guess_pressure(f, pressures, t, weights));
    if (pressures > 0) {
        EG_TRY(eg_ins_data_set(f->pressure, pressures, f->times, weights));
        EG_TRY(eg_ins_gradient(f->op, f->guess, f->pressure, 1, -dt, f->hat));
    }
    EG_TRY(mark(f, EG_INS_UPDATE));
    EG_TRY(step_velocity(f, order, &bdf, t, dt));
    EG_TRY(mark(f, EG_INS_VELOCITY));
    EG_TRY(step_pressure(f, pressures, weights, bdf.gamma, t, dt));
    EG_TRY(mark(f, EG_INS_PRESSURE));
    EG_TRY(finish(f, bdf.gamma, t, dt));
    EG_TRY(mark(f, EG_INS_UPDATE));
done:
    return status;
}
