/* Averages over time of what a model shows. */
#include "model/average.h"

#include "field/field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* By which part of a step `from` may be missed: times are rounded. */
#define NEAR 1e-9

const eg_key eg_average_keys[] = {
    {.section = "output.average",
     .name = "from",
     .type = EG_KEY_REAL,
     .help = "Averages over time are taken from this time on, and written as fields beside the "
             "others: mean_u of u "
             "and so on. Checkpoints keep them.",
     .example = "50.0"},
    {.section = "output.average",
     .name = "of",
     .type = EG_KEY_STRINGS,
     .help = "Which fields are averaged; all if it is not given.",
     .example = "[\"u\", \"v\", \"p\"]"},
    {.section = "output.average",
     .name = "covariances",
     .type = EG_KEY_STRINGS,
     .help =
         "Of which of these there are covariances, too: of u and v cov_u_u, cov_u_v and cov_v_v, "
         "the mean of the "
         "product of what they are above their means (Reynolds stresses), computed at the nodes.",
     .example = "[\"u\", \"v\"]"},
    {0}};

static const char of_key[] = "output.average.of", covariance_key[] = "output.average.covariances";

/* --- the plan --------------------------------------------------------------------------------- */

void eg_average_plan_free(eg_average_plan *plan)
{
    for (int i = 0; plan->names && i < plan->total; i++)
        eg_release(plan->ctx, &plan->names[i]);
    eg_release(plan->ctx, &plan->names);
    eg_release(plan->ctx, &plan->component);
    *plan = (eg_average_plan){0};
}

static int find_name(const char *name, const char *const *names, int count)
{
    int i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i < count ? i : -1;
}

/* The component that element i of a key names. */
static eg_status find_component(const eg_case *cas, const char *key, int i,
                                const char *const *names, int name_count, int *out)
{
    const char *name = eg_case_string_at(cas, key, (size_t)i);
    *out = find_name(name, names, name_count);
    if (*out >= 0) return EG_OK;
    const char *near = eg_nearest(name, names, (size_t)name_count);
    return eg_case_fail(cas, key, i, "there is no field \"%s\"%s%s%s", name,
                        near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* Adds a component unless it is there; *place is where. */
static void add_component(eg_average_plan *plan, int component, int *place)
{
    for (*place = 0; *place < plan->count; (*place)++)
        if (plan->component[*place] == component) return;
    plan->component[plan->count++] = component;
}

/* Those with covariances go first: they number the rest of the list. */
static eg_status read_components(eg_average_plan *plan, const eg_case *cas,
                                 const char *const *names, int name_count)
{
    const int wanted = (int)eg_case_count(cas, of_key);
    const int varied = (int)eg_case_count(cas, covariance_key);
    eg_status status = EG_OK;
    int component, place;
    EG_TRY(eg_new(plan->ctx, (size_t)name_count + 1, &plan->component));
    for (int i = 0; i < varied; i++) {
        bool averaged = wanted == 0;
        EG_TRY(find_component(cas, covariance_key, i, names, name_count, &component));
        for (int k = 0; k < wanted; k++)
            averaged = averaged ||
                       strcmp(eg_case_string_at(cas, of_key, (size_t)k), names[component]) == 0;
        if (!averaged)
            EG_TRY(eg_case_fail(cas, covariance_key, i, "\"%s\" is not among those averaged",
                                names[component]));
        add_component(plan, component, &place);
        if (place < i) EG_TRY(eg_case_fail(cas, covariance_key, i, "it is there already"));
    }
    plan->varied = varied;
    for (int i = 0; i < (wanted > 0 ? wanted : name_count); i++) {
        if (wanted > 0)
            EG_TRY(find_component(cas, of_key, i, names, name_count, &component));
        else
            component = i;
        add_component(plan, component, &place);
        for (int k = 0; k < i && wanted > 0; k++)
            if (strcmp(eg_case_string_at(cas, of_key, (size_t)k), names[component]) == 0)
                EG_TRY(eg_case_fail(cas, of_key, i, "it is there already"));
    }
    if (plan->count > EG_AVERAGE_MOST)
        EG_TRY(eg_case_fail(cas, eg_case_given(cas, of_key) ? of_key : "output.average.from", -1,
                            "no more than %d fields are averaged: name them in output.average.of",
                            EG_AVERAGE_MOST));
done:
    return status;
}

static eg_status add_name(eg_average_plan *plan, const eg_case *cas, const char *const *names,
                          int name_count, const char *text)
{
    if (find_name(text, names, name_count) >= 0)
        return eg_case_fail(cas, "output.average.from", -1,
                            "there is a field \"%s\" already, which is what an average would be "
                            "called",
                            text);
    return eg_copy_string(plan->ctx, text, &plan->names[plan->total++]);
}

static eg_status make_names(eg_average_plan *plan, const eg_case *cas, const char *const *names,
                            int name_count)
{
    const int all = eg_average_components(plan->count, plan->varied);
    eg_status status = EG_OK;
    eg_text text = eg_text_new(plan->ctx);
    if (name_count + all > EG_STATE_COMPONENTS_MAX)
        EG_TRY(eg_case_fail(cas, covariance_key, -1,
                            "with means and covariances there are %d fields, more than %d",
                            name_count + all, EG_STATE_COMPONENTS_MAX));
    EG_TRY(eg_new(plan->ctx, (size_t)all + 1, &plan->names));
    for (int i = 0; i < plan->count; i++) {
        eg_text_clear(&text);
        EG_TRY(eg_text_printf(&text, "mean_%s", names[plan->component[i]]));
        EG_TRY(add_name(plan, cas, names, name_count, eg_text_string(&text)));
    }
    for (int i = 0; i < plan->varied; i++)
        for (int k = i; k < plan->varied; k++) {
            eg_text_clear(&text);
            EG_TRY(eg_text_printf(&text, "cov_%s_%s", names[plan->component[i]],
                                  names[plan->component[k]]));
            EG_TRY(add_name(plan, cas, names, name_count, eg_text_string(&text)));
        }
done:
    eg_text_free(&text);
    return status;
}

eg_status eg_average_plan_read(eg_context *ctx, const eg_case *cas, const char *const *names,
                               int name_count, eg_average_plan *out)
{
    eg_status status = EG_OK;
    *out = (eg_average_plan){.ctx = ctx};
    if (!eg_case_given(cas, "output.average.from")) {
        const char *given = eg_case_given(cas, of_key)           ? of_key
                            : eg_case_given(cas, covariance_key) ? covariance_key
                                                                 : NULL;
        return given ? eg_case_fail(cas, given, -1, "from when on? Give output.average.from")
                     : EG_OK;
    }
    out->from = eg_case_real(cas, "output.average.from");
    EG_TRY(read_components(out, cas, names, name_count));
    EG_TRY(make_names(out, cas, names, name_count));
done:
    if (status != EG_OK) eg_average_plan_free(out);
    return status;
}

/* --- creation --------------------------------------------------------------------------------- */

struct eg_averages {
    eg_context *ctx; /* not owned */
    eg_average_plan plan;
    eg_average *average;
    bool derived; /* one of them is */
    /* What checkpoints keep besides the field. */
    double states; /* that were counted; 0: averages have not begun */
    double begin;  /* when the first of them was */
    double weight; /* the time that what is kept covers */
    double half;   /* half of the last step, for which the state now counts at least */
};

void eg_averages_destroy(eg_averages **handle)
{
    eg_averages *a = *handle;
    if (!a) return;
    eg_context *ctx = a->ctx;
    eg_average_destroy(&a->average);
    eg_average_plan_free(&a->plan);
    eg_release(ctx, handle);
}

/* Where component `which` of those shown is; its field in *field. */
static eg_average_source find_source(const eg_state *state, int which, const eg_state_field **field)
{
    for (int i = 0; i < state->field_count; i++) {
        *field = &state->fields[i];
        if ((*field)->kept_only) continue;
        if (which < (*field)->field->components) return (eg_average_source){(*field)->field, which};
        which -= (*field)->field->components;
    }
    return (eg_average_source){NULL, 0};
}

/* sources [EG_AVERAGE_MOST] */
static void find_sources(const eg_averages *a, const eg_state *state, eg_average_source *sources)
{
    const eg_state_field *field;
    for (int i = 0; i < a->plan.count; i++)
        sources[i] = find_source(state, a->plan.component[i], &field);
}

eg_status eg_averages_create(const eg_case *cas, const eg_state *shown, eg_average_plan *plan,
                             eg_averages **out)
{
    eg_context *ctx = plan->ctx;
    const eg_state_field *field;
    eg_space *space = find_source(shown, plan->component[0], &field).field->space;
    eg_averages *a = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    if (plan->varied > 0 && space->basis == EG_BASIS_MODAL)
        return eg_case_fail(cas, covariance_key, -1,
                            "products are computed at nodes, and space.basis = \"modal\" has none");
    EG_TRY(eg_comm_new(space->comm, ctx, 1, &a));
    a->ctx = ctx;
    for (int i = 0; i < plan->count; i++) {
        const eg_average_source source = find_source(shown, plan->component[i], &field);
        a->derived = a->derived || field->derived;
        if (source.field->space != space)
            EG_TRY(eg_case_fail(cas, "output.average.from", -1,
                                "fields that live on different elements cannot be averaged "
                                "together: output.average.of chooses"));
    }
    EG_TRY(eg_average_create(space, plan->count, plan->varied, &a->average));
    a->plan = *plan;
    *plan = (eg_average_plan){0};
    *out = a;
    a = NULL;
done:
    eg_averages_destroy(&a);
    return status;
}

const char *const *eg_averages_names(const eg_averages *a)
{
    return (const char *const *)a->plan.names;
}

bool eg_averages_need_derived(const eg_averages *a)
{
    return a->derived;
}

/* --- in time ---------------------------------------------------------------------------------- */

static void add_number(eg_state *state, const char *name, double *value)
{
    state->numbers[state->number_count++] = (eg_state_number){name, value};
}

void eg_averages_show(eg_averages *a, eg_state *state)
{
    const char *const *names = eg_averages_names(a);
    state->fields[state->field_count++] = (eg_state_field){
        .name = "average", .field = eg_average_shown(a->average), .names = names, .derived = true};
    state->fields[state->field_count++] = (eg_state_field){.name = "average_kept",
                                                           .field = eg_average_kept(a->average),
                                                           .names = names,
                                                           .kept_only = true};
    add_number(state, "average.states", &a->states);
    add_number(state, "average.begin", &a->begin);
    add_number(state, "average.weight", &a->weight);
    add_number(state, "average.half", &a->half);
}

/* The share that the state now has of a time that it closes with half a step more. */
static double share_of(const eg_averages *a, double more)
{
    const double own = a->half + more;
    return a->states > 0 && own < a->weight + own ? own / (a->weight + own) : 1;
}

eg_status eg_averages_step(eg_averages *a, const eg_state *state, double dt)
{
    eg_average_source sources[EG_AVERAGE_MOST];
    eg_status status = EG_OK;
    if (state->time < a->plan.from - NEAR * dt) return EG_OK;
    find_sources(a, state, sources);
    EG_TRY(eg_average_add(a->average, sources, share_of(a, dt / 2)));
    if (a->states++ == 0) a->begin = state->time;
    a->weight += a->half + dt / 2;
    a->half = dt / 2;
done:
    return status;
}

eg_status eg_averages_update(eg_averages *a, const eg_state *state)
{
    eg_average_source sources[EG_AVERAGE_MOST];
    find_sources(a, state, sources);
    return eg_average_show(a->average, sources, share_of(a, 0));
}

eg_status eg_averages_resume(eg_averages *a, eg_checkpoint *from)
{
    if (a->plan.from > eg_checkpoint_get_info(from)->time) a->states = a->weight = a->half = 0;
    if (!(a->states > 0)) return EG_OK;
    return eg_checkpoint_read_field(from, "average_kept", eg_averages_names(a),
                                    eg_average_kept(a->average));
}

double eg_averages_next_stop(const eg_averages *a, double t)
{
    return t < a->plan.from ? a->plan.from : INFINITY;
}

double eg_averages_begin(const eg_averages *a)
{
    return a->states > 0 ? a->begin : NAN;
}
