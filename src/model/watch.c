/* Watches a run: between two steps it is asked whether something is due to be written, whether the
 * solution is lost, whether somebody wants the run to stop. Ranks must decide alike: what only one of
 * them knows (a signal, the clock, a file) they tell each other now and then, about five times a
 * second. */
#define _POSIX_C_SOURCE 200809L
#include "model/watch.h"

#include <assert.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seconds between two times that ranks tell each other what they know, and the most steps. */
#define AGREE_S 0.2
enum { AGREE_STEPS_MOST = 1024 };

/* What is no size at all, and what is none beside something else: rounding. */
#define NOTHING 1e-30
#define NOTHING_BESIDE 1e-10

/* The components of all fields together, at most, and the bytes of a number's name and of what is said
 * of a lost solution. */
enum { COMPONENTS_MOST = EG_STATE_COMPONENTS_MAX, NAME_BYTES = 96, TEXT_BYTES = 1024 };

const eg_key eg_watch_keys[] = {
    {.section = "guard",
     .name = "steps",
     .type = EG_KEY_INTEGER,
     .least = 1,
     .most = 1e15,
     .fallback = "256",
     .help = "After so many steps it is looked whether the solution is lost: not finite, grown "
             "beyond reason, or in a state that nature does not have. It is also looked before "
             "anything is written."},
    {.section = "guard",
     .name = "growth",
     .type = EG_KEY_REAL,
     .least = 1,
     .most = INFINITY,
     .fallback = "1e6",
     .help =
         "A field that is so many times larger than it was at the start is lost. inf: none is."},
    {0}};

struct eg_watch {
    eg_context *ctx;          /* not owned */
    eg_watch_options options; /* nothing of it is owned */
    eg_output *output;
    eg_averages *averages; /* NULL: none are asked for */
    void *model;           /* not owned */
    eg_show_function *show;
    eg_guarded guarded[EG_GUARDED_MAX];
    int guarded_count;
    const eg_time_system *system; /* the model's, while it runs; not owned */
    eg_time_point point;          /* where the run is, or goes on from */
    /* guard */
    int64_t guard_steps;
    double growth;
    eg_guard *guards[EG_STATE_FIELDS_MAX]; /* of the fields that are shown */
    bool most_known;
    double most[COMPONENTS_MOST]; /* |values| of all components at the start */
    char most_names[COMPONENTS_MOST][NAME_BYTES];
    int component_count; /* of fields that are guarded */
    char lost[TEXT_BYTES], advice[TEXT_BYTES];
    /* stopping */
    double start_s, told_s; /* on the clock: when the run was started, when ranks last told */
    int64_t told_step,
        told_after; /* the step at which they did, and after how many they do again */
    double wall_s;  /* since the start, as all ranks have it */
    int signal;     /* that has asked to stop; 0: none */
    bool stop_file_seen;
    const char *stopped_by;
};

/* --- what there is to see --------------------------------------------------------------------- */

static void add_number(eg_state *state, const char *name, double *value)
{
    if (state->number_count == EG_STATE_NUMBERS_MAX) return;
    state->numbers[state->number_count++] = (eg_state_number){name, value};
}

static eg_state see(eg_watch *w)
{
    eg_state state = {.step = w->point.step, .time = w->point.time, .dt = w->point.dt};
    w->show(w->model, &state);
    if (w->averages) eg_averages_show(w->averages, &state);
    add_number(&state, "loop.behind", &w->point.behind);
    add_number(&state, "loop.dt_least", &w->point.dt_least);
    add_number(&state, "loop.dt_most", &w->point.dt_most);
    for (int i = 0; i < w->component_count && w->most_known; i++)
        add_number(&state, w->most_names[i], &w->most[i]);
    return state;
}

/* Takes the numbers of a checkpoint; what it does not have stays. */
static void restore(eg_watch *w)
{
    const eg_checkpoint *from = w->options.restart;
    const eg_checkpoint_info *info = eg_checkpoint_get_info(from);
    w->point.step = info->step;
    w->point.time = info->time;
    w->point.dt = info->dt;
    w->most_known = true;
    for (int i = 0; i < w->component_count; i++) {
        w->most[i] = eg_checkpoint_number(from, w->most_names[i], -1);
        w->most_known = w->most_known && w->most[i] >= 0;
    }
    const eg_state state = see(w);
    for (int i = 0; i < state.number_count; i++)
        *state.numbers[i].value =
            eg_checkpoint_number(from, state.numbers[i].name, *state.numbers[i].value);
}

/* What is derived from the fields, as they are now. */
static eg_status derive(const eg_watch *w)
{
    return w->options.derive ? w->options.derive(w->model) : EG_OK;
}

/* The state with everything that is computed from it, to be written; the averages are shown anew. */
static eg_status see_all(eg_watch *w, eg_state *state)
{
    eg_status status = EG_OK;
    EG_TRY(derive(w));
    *state = see(w);
    if (w->averages) EG_TRY(eg_averages_update(w->averages, state));
done:
    return status;
}

/* --- the guard -------------------------------------------------------------------------------- */

static void forget_guards(eg_watch *w)
{
    for (int i = 0; i < EG_STATE_FIELDS_MAX; i++)
        eg_guard_destroy(&w->guards[i]);
}

/* Makes the guards of the fields as they are now. What must be positive is of the first. */
static eg_status settle_guards(eg_watch *w, const eg_state *state)
{
    eg_status status = EG_OK;
    const eg_expression *positive[EG_GUARDED_MAX];
    for (int i = 0; i < w->guarded_count; i++)
        positive[i] = w->guarded[i].expression;
    for (int i = 0; i < state->field_count; i++) {
        const eg_field *field = state->fields[i].field;
        if (state->fields[i].kept_only || state->fields[i].derived || w->guards[i]) continue;
        EG_TRY(eg_guard_create(field->space, field->components, field->type, positive,
                               i == 0 ? w->guarded_count : 0, &w->guards[i]));
    }
done:
    return status;
}

/* How large a component was at the start; one that was next to nothing is measured by the others. 0: all
 * were nothing. */
static double scale_of(const eg_watch *w, int component)
{
    double largest = 0;
    for (int i = 0; i < w->component_count; i++)
        largest = fmax(largest, w->most[i]);
    if (largest < NOTHING) return 0;
    return w->most[component] > NOTHING_BESIDE * largest ? w->most[component] : largest;
}

/* How large the fields are at the start. */
static eg_status find_most(eg_watch *w, const eg_state *state)
{
    eg_status status = EG_OK;
    double *most = w->most;
    for (int i = 0; i < state->field_count; i++) {
        if (!w->guards[i]) continue;
        EG_TRY(eg_guard_most(w->guards[i], state->fields[i].field, most));
        most += state->fields[i].field->components;
    }
    /* A start from nothing tells nothing: the next look does. */
    w->most_known = w->component_count > 0 && scale_of(w, 0) > 0;
done:
    return status;
}

/* The largest |value| that is not growth beyond reason. */
static double limit_of(const eg_watch *w, int component)
{
    const double scale = w->most_known ? scale_of(w, component) : 0;
    return scale > 0 ? w->growth * scale : INFINITY;
}

static void describe_finding(eg_watch *w, const eg_state_field *field, int first,
                             const eg_guard_finding *found)
{
    const int dim = w->options.mesh->dim;
    char depth[32] = "", place[160];
    if (dim == 3) snprintf(depth, sizeof depth, ", %.6g", found->x[2]);
    snprintf(place, sizeof place, "in element %lld at (%.6g, %.6g%s)", (long long)found->global,
             found->x[0], found->x[1], depth);
    const char *name = found->kind == EG_GUARD_UNPHYSICAL ? w->guarded[found->which].name
                                                          : field->names[found->which];
    switch (found->kind) {
    case EG_GUARD_NOT_FINITE:
        snprintf(w->lost, sizeof w->lost, "%s is %s %s", name,
                 isnan(found->value) ? "not a number" : "infinite", place);
        break;
    case EG_GUARD_UNPHYSICAL:
        snprintf(w->lost, sizeof w->lost, "%s is %.6g %s, but must be positive", name, found->value,
                 place);
        break;
    default:
        snprintf(w->lost, sizeof w->lost,
                 "%s is %.6g %s, more than guard.growth = %g times what it was at the start (%.6g)",
                 name, found->value, place, w->growth, scale_of(w, first + found->which));
    }
}

static void describe_checkpoint(eg_watch *w)
{
    const char *path = eg_output_checkpoint(w->output);
    if (path)
        snprintf(w->advice, sizeof w->advice, "The last good checkpoint is %s", path);
    else if (!w->options.quiet && w->options.in_time)
        snprintf(w->advice, sizeof w->advice, "No checkpoint has been written%s",
                 eg_output_keeps(w->output) ? " yet" : ": [output.checkpoint] asks for them");
}

/* Looks whether the solution is lost; the first finding is told. */
static eg_status guard(eg_watch *w, const eg_state *state, eg_time_verdict *verdict)
{
    eg_status status = EG_OK;
    int first = 0;
    EG_TRY(settle_guards(w, state));
    for (int i = 0; i < state->field_count && !verdict->lost; i++) {
        const eg_state_field *field = &state->fields[i];
        double limit[COMPONENTS_MOST];
        eg_guard_finding found;
        if (!w->guards[i]) continue;
        for (int c = 0; c < field->field->components; c++)
            limit[c] = limit_of(w, first + c);
        EG_TRY(eg_guard_look(w->guards[i], state->time, field->field, limit, &found));
        if (found.kind != EG_GUARD_FINE) {
            describe_finding(w, field, first, &found);
            describe_checkpoint(w);
            verdict->lost = w->lost;
            verdict->advice = w->advice[0] ? w->advice : NULL;
        }
        first += field->field->components;
    }
    if (!verdict->lost && !w->most_known) EG_TRY(find_most(w, state));
done:
    return status;
}

/* --- stopping --------------------------------------------------------------------------------- */

/* Ranks tell each other of signals, the clock and the stop file. */
static eg_status tell(eg_watch *w, int64_t step)
{
    eg_status status = EG_OK;
    const bool alone = eg_comm_size(w->options.comm) == 1;
    const double now = eg_wall_seconds();
    if (alone) {
        w->wall_s = now - w->start_s;
        if (w->options.asked) w->signal = w->options.asked(w->options.asked_user);
        if (now - w->told_s < AGREE_S) return EG_OK;
    } else if (step - w->told_step < w->told_after) {
        return EG_OK;
    }
    const double steps = fmax(1, (double)(step - w->told_step));
    double values[] = {w->options.asked ? w->options.asked(w->options.asked_user) : 0,
                       eg_comm_rank(w->options.comm) == 0 && !w->options.quiet &&
                           access(eg_output_stop_file(w->output), F_OK) == 0,
                       now - w->start_s, (now - w->told_s) / steps};
    EG_TRY(eg_comm_max(w->options.comm, EG_COUNT(values), values));
    w->signal = (int)values[0];
    w->stop_file_seen = values[1] > 0;
    w->wall_s = values[2];
    /* How long a step takes is not known before the first. */
    w->told_after = step == w->told_step
                        ? 1
                        : (int64_t)fmin(AGREE_STEPS_MOST, fmax(1, AGREE_S / fmax(values[3], 1e-9)));
    w->told_s = now;
    w->told_step = step;
done:
    return status;
}

/* Who has asked the run to stop; NULL: nobody. */
static const char *who_asked(const eg_watch *w)
{
    if (w->signal == SIGINT) return "SIGINT";
    if (w->signal == SIGTERM) return "SIGTERM";
    if (w->signal != 0) return "a signal";
    return w->stop_file_seen ? eg_output_stop_file(w->output) : NULL;
}

/* --- between two steps ------------------------------------------------------------------------ */

static eg_status look(void *user, const eg_time_point *point, eg_time_verdict *verdict)
{
    eg_watch *w = user;
    eg_status status = EG_OK;
    const bool last = point->time >= w->options.end;
    w->point = *point;
    EG_TRY(tell(w, point->step));
    const char *asked = who_asked(w);
    int due = eg_output_due(w->output, point->step, point->time, w->wall_s);
    if (asked && !last && !w->options.quiet) due |= EG_OUTPUT_CHECKPOINT;
    if (due == 0 && point->step % w->guard_steps != 0 && !last) return EG_OK;
    eg_state state = see(w);
    EG_TRY(guard(w, &state, verdict));
    if (verdict->lost) return EG_OK;
    EG_TRY(see_all(w, &state)); /* the guard may know more now, too */
    EG_TRY(eg_output_write(w->output, &state, due));
    if (!asked || last) return EG_OK;
    verdict->stop = true;
    w->stopped_by = asked;
    if (w->stop_file_seen && eg_comm_rank(w->options.comm) == 0)
        (void)unlink(eg_output_stop_file(w->output));
done:
    return status;
}

static double next_stop(void *user, double t)
{
    const eg_watch *w = user;
    const double stop = eg_output_next_stop(w->output, t);
    return w->averages ? fmin(stop, eg_averages_next_stop(w->averages, t)) : stop;
}

/* The state before a step counts for the averages. */
static eg_status before_step(eg_watch *w, double dt)
{
    eg_status status = EG_OK;
    if (!w->averages) return EG_OK;
    if (eg_averages_need_derived(w->averages)) EG_TRY(derive(w));
    const eg_state state = see(w);
    EG_TRY(eg_averages_step(w->averages, &state, dt));
done:
    return status;
}

static eg_status stage(void *user, const eg_stage *s)
{
    eg_watch *w = user;
    eg_status status = EG_OK;
    if (s->index == 0) EG_TRY(before_step(w, s->dt));
    EG_TRY(w->system->stage(w->system->user, s));
done:
    return status;
}

static eg_status step(void *user, const eg_stage *stages, int count)
{
    eg_watch *w = user;
    eg_status status = EG_OK;
    EG_TRY(before_step(w, stages[0].dt));
    EG_TRY(w->system->step(w->system->user, stages, count));
done:
    return status;
}

static eg_status stable_dt(void *user, double t, double *dt)
{
    const eg_time_system *system = ((eg_watch *)user)->system;
    return system->stable_dt(system->user, t, dt);
}

static eg_status step_done(void *user, int64_t step, double t, double dt)
{
    const eg_time_system *system = ((eg_watch *)user)->system;
    return system->step_done ? system->step_done(system->user, step, t, dt) : EG_OK;
}

eg_status eg_watch_run(eg_watch *w, const eg_time_options *options, const eg_time_system *system,
                       eg_time_result *out)
{
    const eg_time_system outer = {.user = w,
                                  .stage = stage,
                                  .step = system->step ? step : NULL,
                                  .stable_dt = system->stable_dt ? stable_dt : NULL,
                                  .even = system->even,
                                  .step_done = step_done,
                                  .watch = look,
                                  .next_stop = next_stop};
    eg_status status = EG_OK;
    eg_time_options watched = *options;
    eg_time_point resume;
    watched.progress = w->options.progress;
    watched.progress_user = w->options.progress_user;
    if (w->options.restart) {
        restore(w);
        resume = w->point;
        watched.resume = &resume;
        if (w->averages) EG_TRY(eg_averages_resume(w->averages, w->options.restart));
    }
    const eg_state state = see(w);
    EG_TRY(settle_guards(w, &state)); /* kernels are compiled before the loop's time is taken */
    EG_TRY(eg_output_settle(w->output, &state));
    w->system = system;
    w->start_s = w->told_s = eg_wall_seconds();
    w->told_step = w->point.step;
    status = eg_time_run(w->ctx, &watched, &outer, out);
    w->system = NULL;
done:
    return status;
}

void eg_watch_forget(eg_watch *w)
{
    assert(!w->averages); /* of fields that move there are none */
    forget_guards(w);
    eg_output_forget(w->output);
}

eg_status eg_watch_end(eg_watch *w)
{
    eg_status status = EG_OK;
    eg_time_verdict verdict = {0};
    const int due = eg_output_due(w->output, 0, w->options.end, 0);
    eg_state state;
    if (due == 0) return EG_OK;
    w->growth = INFINITY;
    EG_TRY(see_all(w, &state));
    EG_TRY(guard(w, &state, &verdict));
    if (verdict.lost)
        EG_TRY(eg_fail(w->ctx, EG_ERROR_NUMERIC,
                       "%s: look for divisions by zero, overflow, and roots and logarithms of "
                       "negative numbers in the case's expressions",
                       verdict.lost));
    EG_TRY(eg_output_write(w->output, &state, due));
done:
    return status;
}

/* --- making and questions --------------------------------------------------------------------- */

/* A checkpoint of this mesh, before the end. */
static eg_status check_restart(const eg_watch *w)
{
    const eg_checkpoint_info *info = eg_checkpoint_get_info(w->options.restart);
    if (strcmp(info->model, w->options.model) != 0)
        return eg_fail(w->ctx, EG_ERROR_INPUT,
                       "%s is a checkpoint of the model \"%s\", but the case is of \"%s\"",
                       info->path, info->model, w->options.model);
    if (info->time > w->options.end)
        return eg_case_fail(w->options.cas, "time.end", -1,
                            "the run is to go on from time %.9g, which is behind its end, %.9g",
                            info->time, w->options.end);
    return EG_OK;
}

/* Makes the averages that the case asks for and adds their names. */
static eg_status make_averages(eg_watch *w, const eg_state *shown, const char **names, int *count)
{
    eg_status status = EG_OK;
    eg_average_plan plan = {.ctx = w->ctx};
    if (!w->options.in_time || w->options.quiet) return EG_OK;
    EG_TRY(eg_comm_agree(w->options.comm,
                         eg_average_plan_read(w->ctx, w->options.cas, names, *count, &plan)));
    if (plan.count == 0) goto done;
    EG_TRY(eg_averages_create(w->options.cas, shown, &plan, &w->averages));
    const char *const *own = eg_averages_names(w->averages);
    for (int i = 0; own[i]; i++)
        names[(*count)++] = own[i];
done:
    eg_average_plan_free(&plan);
    return status;
}

static eg_status make(eg_watch *w)
{
    eg_status status = EG_OK;
    const char *names[COMPONENTS_MOST];
    int name_count = 0;
    eg_state state = {0};
    w->show(w->model, &state);
    for (int i = 0; i < state.field_count; i++) {
        const eg_state_field *field = &state.fields[i];
        for (int c = 0; c < field->field->components && !field->kept_only; c++) {
            if (name_count == COMPONENTS_MOST)
                EG_TRY(eg_fail(w->ctx, EG_ERROR_UNSUPPORTED,
                               "a model shows more than %d components", COMPONENTS_MOST));
            names[name_count++] = field->names[c];
            if (!field->derived)
                snprintf(w->most_names[w->component_count++], NAME_BYTES, "guard.most.%s",
                         field->names[c]);
        }
    }
    if (w->options.restart) EG_TRY(check_restart(w));
    EG_TRY(make_averages(w, &state, names, &name_count));
    const eg_output_options options = {
        .comm = w->options.comm,
        .cas = w->options.cas,
        .mesh = w->options.mesh,
        .model = w->options.model,
        .device = w->options.device,
        .resumed = w->options.restart ? eg_checkpoint_get_info(w->options.restart) : NULL,
        .in_time = w->options.in_time,
        .start = w->options.start,
        .end = w->options.end,
        .names = names,
        .name_count = name_count,
        .known = w->options.known,
        .directory_given = w->options.directory_given,
        .quiet = w->options.quiet};
    EG_TRY(eg_output_create(w->ctx, &options, &w->output));
    if (!w->options.in_time) return EG_OK;
    w->guard_steps = eg_case_integer(w->options.cas, "guard.steps");
    w->growth = eg_case_real(w->options.cas, "guard.growth");
done:
    return status;
}

eg_status eg_watch_create(eg_context *ctx, const eg_watch_options *options, void *model,
                          eg_show_function *show, const eg_guarded *guarded, int guarded_count,
                          eg_watch **out)
{
    eg_status status = EG_OK;
    eg_watch *w = NULL;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &w));
    w->ctx = ctx;
    w->options = *options;
    w->model = model;
    w->show = show;
    w->guarded_count = guarded_count;
    for (int i = 0; i < guarded_count; i++)
        w->guarded[i] = guarded[i];
    EG_TRY(make(w));
    *out = w;
    w = NULL;
done:
    if (w) (void)eg_watch_close(&w);
    return status;
}

eg_status eg_watch_close(eg_watch **watch)
{
    eg_watch *w = *watch;
    if (!w) return EG_OK;
    eg_context *ctx = w->ctx;
    forget_guards(w);
    eg_averages_destroy(&w->averages);
    const eg_status status = eg_output_close(&w->output);
    eg_release(ctx, watch);
    return status;
}

const char *eg_watch_stopped_by(const eg_watch *w)
{
    return w->stopped_by;
}

const char *eg_watch_directory(const eg_watch *w)
{
    return eg_output_directory(w->output);
}

const char *eg_watch_checkpoint(const eg_watch *w)
{
    return eg_output_checkpoint(w->output);
}

void eg_watch_put_facts(const eg_watch *w, eg_facts *facts)
{
    if (!w->averages || isnan(eg_averages_begin(w->averages))) return;
    eg_facts_section(facts, "average", NULL);
    eg_facts_number(facts, "begin", eg_averages_begin(w->averages));
    eg_facts_number(facts, "end", w->point.time);
}

void eg_watch_outcome(const eg_watch *w, eg_outcome *out)
{
    eg_output_outcome(w->output, out);
}

eg_status eg_watch_write_file(eg_watch *w, const char *name, const eg_text *text)
{
    return eg_output_write_file(w->output, name, text);
}
