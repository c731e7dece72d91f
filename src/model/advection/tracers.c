/* The steps of model `advection`: stages with the limiter behind each, the longest step that keeps
 * bounds, and adaptation of degrees between steps, which makes all that lives on the space anew. */
#include "model/advection/tracers.h"

#include <math.h>

/* Times that a step is shortened for the sake of bounds; two suffice for a velocity that grows. */
enum { SHORTEN_TRIES = 8 };

/* --- on a space ------------------------------------------------------------------------------------ */

void eg_tracers_space_destroy(eg_tracers_space *on)
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

eg_status eg_tracers_make_space(eg_tracers *a, const uint8_t *degrees, const eg_space *like)
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

eg_status eg_tracers_make_measure(eg_tracers *a)
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

eg_status eg_tracers_make_limiter(eg_tracers *a)
{
    return a->on.limiter ? EG_OK : eg_advection_limiter_create(a->on.op, a->bounds, &a->on.limiter);
}

/* --- stages ---------------------------------------------------------------------------------------- */

static void swap(eg_field **a, eg_field **b)
{
    eg_field *c = *a;
    *a = *b;
    *b = c;
}

/* Takes a field into the bounds, if there are any. */
static eg_status limit(eg_tracers *a, eg_field *field)
{
    eg_status status = EG_OK;
    if (!a->limited) return EG_OK;
    EG_TRY(eg_tracers_make_limiter(a));
    EG_TRY(eg_advection_limit(a->on.limiter, field));
done:
    return status;
}

/* The largest step may have changed since the beginning, with the velocity or with degrees. */
static eg_status check_dt(eg_tracers *a, const eg_stage *s)
{
    eg_status status = EG_OK;
    double dt;
    if (!a->limited) return EG_OK;
    EG_TRY(eg_tracers_make_limiter(a));
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
    eg_tracers *a = user;
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
static eg_status shorten(eg_tracers *a, double t, double *dt)
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
    eg_tracers *a = user;
    EG_TRY(eg_advection_stable_dt(a->on.op, t, dt));
    if (!a->limited || !isfinite(*dt)) return EG_OK;
    EG_TRY(eg_tracers_make_limiter(a));
    EG_TRY(shorten(a, t, dt));
done:
    return status;
}

/* --- adapting -------------------------------------------------------------------------------------- */

/* Widens the range of degrees that there were. */
static eg_status note_degrees(eg_tracers *a)
{
    double range[] = {-a->degree_least, a->degree_most};
    for (int g = 0; g < a->on.space->group_count; g++) {
        const eg_group *group = &a->on.space->groups[g];
        if (group->element_count == 0) continue;
        range[0] = fmax(range[0], -group->degree);
        range[1] = fmax(range[1], group->degree);
    }
    const eg_status status = eg_comm_max(a->problem.comm, EG_COUNT(range), range);
    a->degree_least = -range[0];
    a->degree_most = range[1];
    return status;
}

/* Decides on the degrees for what follows time t and, if they are others than before, makes a new space
 * with all that lives on it, and moves the solution there; *changed says so. */
static eg_status adapt(eg_tracers *a, double t, bool *changed)
{
    const double begin = eg_wall_seconds();
    eg_adapt_decision decision;
    eg_tracers_space old = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_adapt_decide(a->adapt, a->on.op, t, a->on.current, &decision));
    a->decisions++;
    *changed = decision.changed;
    if (!*changed) goto done;
    eg_watch_forget(a->watch);
    old = a->on;
    a->on = (eg_tracers_space){0};
    EG_TRY(eg_tracers_make_space(a, decision.degrees, old.space));
    EG_TRY(eg_comm_agree(a->problem.comm, eg_adapt_move(old.current, a->on.current)));
    EG_TRY(limit(a, a->on.current));
    a->adaptations++;
done:
    eg_tracers_space_destroy(&old);
    a->adapt_s += eg_wall_seconds() - begin;
    return status;
}

static eg_status step_done(void *user, int64_t step, double t, double dt)
{
    eg_tracers *a = user;
    bool due = false, changed;
    eg_status status = EG_OK;
    a->dof_time += dt * (double)a->on.space->dof;
    if (!a->adapt || t >= a->time.end) return EG_OK;
    EG_TRY(eg_adapt_step(a->adapt, a->on.op, step, t, dt, &due));
    if (!due) return EG_OK;
    EG_TRY(adapt(a, t, &changed));
    EG_TRY(note_degrees(a));
done:
    return status;
}

/* Projects the initial values, on degrees that suffice for them. */
static eg_status project(eg_tracers *a)
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
done:
    return status;
}

/* Whether elements of this rank have other degrees than in the checkpoint. */
static eg_status find_moved(const eg_tracers *a, bool *moved)
{
    eg_status status = EG_OK;
    const eg_space *space = a->on.space;
    uint8_t *degrees = NULL;
    *moved = false;
    EG_TRY(eg_new(a->ctx, (size_t)space->mesh->element_count + (size_t)space->mesh->ghost_count + 1,
                  &degrees));
    EG_TRY(eg_checkpoint_read_degrees(a->problem.restart, "solution", space->mesh, degrees));
    for (int32_t e = 0; e < space->mesh->element_count; e++) {
        const int group = space->group_of_block[space->slot_of_element[e] / EG_SLOT_BLOCK];
        *moved = *moved || degrees[e] != space->groups[group].degree;
    }
done:
    eg_release(a->ctx, &degrees);
    return status;
}

/* Reads the tracers of the checkpoint; those of other degrees than there are brought into bounds. */
static eg_status resume(eg_tracers *a)
{
    eg_status status = EG_OK;
    bool moved;
    EG_TRY(eg_checkpoint_read_field(a->problem.restart, "solution", a->names, a->on.current));
    EG_TRY(eg_comm_agree(a->problem.comm, find_moved(a, &moved)));
    double any = moved;
    EG_TRY(eg_comm_max(a->problem.comm, 1, &any));
    if (any > 0) EG_TRY(limit(a, a->on.current));
done:
    return status;
}

/* The tracers at the start, or where the checkpoint has them. */
static eg_status start(eg_tracers *a)
{
    eg_status status = EG_OK;
    EG_TRY(a->problem.restart ? resume(a) : project(a));
    eg_function_destroy(&a->on.initial);
    EG_TRY(eg_tracers_make_measure(a));
    EG_TRY(eg_measure_integrals(a->on.measure, a->on.current, a->mass));
    /* What is told is of the loop that follows. */
    a->decisions = a->adaptations = 0;
    a->adapt_s = 0;
    a->degree_least = EG_DEGREE_MAX_QUAD;
    EG_TRY(note_degrees(a));
done:
    return status;
}

void eg_tracers_show(void *tracers, eg_state *out)
{
    eg_tracers *a = tracers;
    out->fields[out->field_count++] =
        (eg_state_field){.name = "solution", .field = a->on.current, .names = a->names};
    for (int i = 0; i < a->fields; i++)
        out->numbers[out->number_count++] = (eg_state_number){a->mass_names[i], &a->mass[i]};
    for (int i = 0; i < a->fields && a->limited; i++) {
        const double *least = &a->bounds[i].least, *most = &a->bounds[i].most;
        if (isfinite(*least))
            out->numbers[out->number_count++] =
                (eg_state_number){a->least_names[i], &a->bounds[i].least};
        if (isfinite(*most))
            out->numbers[out->number_count++] =
                (eg_state_number){a->most_names[i], &a->bounds[i].most};
    }
    const eg_state_number numbers[] = {
        {"adapt.decisions", &a->decisions},
        {"adapt.adaptations", &a->adaptations},
        {"adapt.degree_least", &a->degree_least},
        {"adapt.degree_most", &a->degree_most},
        {"dof_time", &a->dof_time},
    };
    for (size_t i = 0; i < EG_COUNT(numbers); i++)
        out->numbers[out->number_count++] = numbers[i];
    if (a->adapt) eg_adapt_show(a->adapt, out);
}

void eg_tracers_restart_bounds(eg_tracers *a)
{
    const eg_checkpoint *restart = a->problem.restart;
    for (int i = 0; i < a->fields && restart && a->limited; i++) {
        eg_advection_range *b = &a->bounds[i];
        b->least = eg_checkpoint_number(restart, a->least_names[i], b->least);
        b->most = eg_checkpoint_number(restart, a->most_names[i], b->most);
    }
}

eg_status eg_tracers_restart_degrees(eg_tracers *a, uint8_t **degrees)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = a->problem.mesh;
    const size_t count = (size_t)mesh->element_count + (size_t)mesh->ghost_count;
    EG_TRY(eg_new(a->ctx, count + 1, degrees));
    EG_TRY(eg_checkpoint_read_degrees(a->problem.restart, "solution", mesh, *degrees));
    for (size_t i = 0; i < count; i++) {
        if ((*degrees)[i] > a->adapting.most) (*degrees)[i] = (uint8_t)a->adapting.most;
        if ((*degrees)[i] < a->adapting.least) (*degrees)[i] = (uint8_t)a->adapting.least;
    }
done:
    return status;
}

eg_status eg_tracers_run(eg_tracers *a, eg_watch *watch)
{
    eg_status status = EG_OK;
    const eg_time_system system = {
        .user = a, .stage = stage, .stable_dt = stable_dt, .step_done = step_done};
    a->watch = watch;
    EG_TRY(start(a));
    EG_TRY(eg_watch_run(watch, &a->time, &system, &a->result));
done:
    return status;
}
