/* The model `advection`: u_t + div(b u) = s with a given velocity b(x, t), on quadrilaterals and
 * hexahedra, by discontinuous Galerkin methods with orthonormal Legendre polynomials and the upwind
 * flux, which is Rusanov's with α = |b·n|. The degree may differ from element to element
 * [discacciati2017].
 *
 * The fields are those that [initial] names; all are carried by the same velocity. */
#include "model/advection/advection.h"

#include "model/advection/degrees.h"
#include "model/advection/keys.h"
#include "model/advection/tracers.h"

#include <stdio.h>
#include <string.h>

/* The longest name of a field or boundary, and room for a key of both. */
enum { NAME_BYTES = EG_TRACER_NAME, KEY_BYTES = 2 * NAME_BYTES + 32 };

/* A case of `eagre new` carries a wave through a periodic square. */
static const char *const sample[] = {"mesh.shape=\"quadrilateral\"",
                                     "mesh.cells=[16, 16]",
                                     "mesh.periodic=[\"x\", \"y\"]",
                                     "advection.velocity=[\"1\", \"1\"]",
                                     "exact.u=\"sin(2*pi*(x - t))*sin(2*pi*(y - t))\"",
                                     "time.cfl=0.5",
                                     NULL};

static void destroy(void *state)
{
    eg_tracers *a = state;
    eg_context *ctx = a->ctx;
    eg_tracers_space_destroy(&a->on);
    if (a->adapt) eg_device_keep_kernels(a->problem.device, false);
    eg_adapt_destroy(&a->adapt);
    eg_release(ctx, &a->boundary);
    eg_release(ctx, &a);
}

/* --- what the case says --------------------------------------------------------------------------- */

/* Finds the tracers and their functions. */
static eg_status read_fields(eg_tracers *a, const eg_case *cas)
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
        snprintf(a->mass_names[a->fields], sizeof *a->mass_names, "mass.%s", name);
        snprintf(a->least_names[a->fields], sizeof *a->least_names, "least.%s", name);
        snprintf(a->most_names[a->fields], sizeof *a->most_names, "most.%s", name);
        a->names[a->fields++] = name;
    }
    EG_TRY(eg_case_check_names(cas, "exact", "tracer", a->names, (size_t)a->fields));
    EG_TRY(eg_case_check_names(cas, "source", "tracer", a->names, (size_t)a->fields));
done:
    return status;
}

/* Values come with inflow alone, and for tracers that exist. */
static eg_status check_boundaries(const eg_tracers *a, const eg_case *cas)
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
static eg_status check_elements(const eg_case *cas, eg_shape shape, int order)
{
    const bool file = eg_case_given(cas, "mesh.file");
    const int dim = eg_shape_get_info(shape)->dim;
    const size_t count = eg_case_count(cas, "advection.velocity");
    if (shape != EG_SHAPE_QUAD && shape != EG_SHAPE_HEX)
        return eg_case_fail(cas, file ? "mesh.file" : "mesh.shape", -1,
                            "this model needs \"quadrilateral\" or \"hexahedron\", not \"%s\"",
                            eg_shape_get_info(shape)->name);
    if (order > 1)
        return eg_case_fail(cas, eg_case_given(cas, "mesh.order") ? "mesh.order" : "mesh.file", -1,
                            "this model needs straight elements, of order 1, not %d; "
                            "mesh.order = 1 makes them straight",
                            order);
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
    eg_tracers a = {.ctx = ctx};
    eg_status status = EG_OK;
    EG_TRY(read_fields(&a, cas));
    if (!eg_case_given(cas, "mesh.file"))
        EG_TRY(
            check_elements(cas, eg_mesh_case_shape(cas), (int)eg_case_integer(cas, "mesh.order")));
    EG_TRY(check_boundaries(&a, cas));
    EG_TRY(eg_time_options_from_case(cas, &a.time));
    EG_TRY(eg_degrees_check(cas));
    EG_TRY(eg_adapt_options_from_case(cas, &a.adapting));
    if (a.adapting.on && eg_case_given(cas, "output.average.from"))
        EG_TRY(eg_case_fail(cas, "output.average.from", -1,
                            "averages need elements that keep their degrees: adapt.enabled = "
                            "false"));
    if (eg_case_count(cas, "output.average.covariances") > 0)
        EG_TRY(eg_case_fail(cas, "output.average.covariances", -1,
                            "products are computed at nodes, and the polynomials of this model "
                            "have none (space.basis = \"modal\"): leave the key out"));
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
    EG_TRY(eg_model_check_shapes(cas, mesh, check_elements));
    EG_TRY(eg_case_check_names(cas, "boundary", "boundary", (const char *const *)mesh->boundary,
                               (size_t)mesh->boundary_count));
    EG_TRY(eg_degrees_check_mesh(cas, mesh));
    EG_TRY(eg_adapt_check_mesh(cas, mesh));
done:
    return status;
}

/* --- creation -------------------------------------------------------------------------------------- */

/* What operators need of the case. */
static eg_status read_options(eg_tracers *a)
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
static eg_status read_space_options(eg_tracers *a, uint8_t **degrees)
{
    eg_status status = EG_OK;
    const eg_problem *p = &a->problem;
    eg_space_options *o = &a->space_options;
    EG_TRY(eg_space_options_from_case(p->cas, p->mesh, o));
    if (p->restart && a->adapting.on)
        EG_TRY(eg_tracers_restart_degrees(a, degrees));
    else
        EG_TRY(eg_degrees_from_case(p->cas, p->mesh, o->degree, degrees));
    o->basis = EG_BASIS_MODAL;
    o->lanes = eg_advection_lanes(p->device, p->mesh, &a->options, o->degree);
done:
    return status;
}

/* The largest step that keeps bounds if all elements have the highest degree. */
static eg_status find_highest_dt(const eg_tracers *a, double *dt)
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
static eg_status read_bounds(eg_tracers *a)
{
    eg_status status = EG_OK;
    const eg_case *cas = a->problem.cas;
    double dt;
    a->limited = eg_limiter_kind_of(cas) != EG_LIMITER_NONE;
    EG_TRY(eg_limiter_bounds(cas, a->on.initial, a->time.start, a->fields, a->names, a->bounds));
    eg_tracers_restart_bounds(a);
    if (a->limited)
        EG_TRY(eg_comm_agree(a->problem.comm,
                             eg_limiter_check_inflow(cas, a->on.op, &a->options, a->time.start,
                                                     a->names, a->bounds)));
    if (!a->limited || a->time.dt == 0) return EG_OK;
    if (a->adapting.on) {
        EG_TRY(find_highest_dt(a, &dt));
    } else {
        EG_TRY(eg_tracers_make_limiter(a));
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
static eg_status create_all(eg_tracers *a)
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
        if (degrees && !p->restart) EG_TRY(eg_adapt_even_out(a->adapt, degrees));
    }
    EG_TRY(eg_tracers_make_space(a, degrees, NULL));
    EG_TRY(eg_tracers_make_measure(a));
    EG_TRY(eg_function_create(a->on.space, a->initial_of, a->fields, &a->on.initial));
    EG_TRY(read_bounds(a));
done:
    eg_release(a->ctx, &degrees);
    return status;
}

static eg_status create(const eg_problem *problem, void **state)
{
    eg_status status = EG_OK;
    eg_tracers *a = NULL;
    EG_TRY(eg_new(problem->ctx, 1, &a));
    a->ctx = problem->ctx;
    a->problem = *problem;
    EG_TRY(read_fields(a, problem->cas));
    EG_TRY(eg_time_options_from_case(problem->cas, &a->time));
    EG_TRY(eg_adapt_options_from_case(problem->cas, &a->adapting));
    EG_TRY(create_all(a));
    *state = a;
    a = NULL;
done:
    if (a) destroy(a);
    return status;
}

static eg_status run(void *state, eg_watch *watch)
{
    return eg_tracers_run(state, watch);
}

/* --- results -------------------------------------------------------------------------------------- */

static eg_status errors(void *state, eg_field_error *out, int *count)
{
    eg_status status = EG_OK;
    eg_tracers *a = state;
    eg_norms norms[EG_MODEL_FIELDS_MAX];
    *count = 0;
    EG_TRY(eg_tracers_make_measure(a));
    EG_TRY(eg_measure_norms(a->on.measure, a->result.time, a->on.current, norms));
    for (int i = 0; i < a->fields; i++)
        if (a->exact_of[i]) out[(*count)++] = (eg_field_error){a->names[i], norms[i]};
done:
    return status;
}

static eg_status details(void *state, eg_facts *facts)
{
    eg_tracers *a = state;
    const double length = a->result.time - a->time.start;
    const double dof = (length > 0 ? a->dof_time / length : (double)a->on.space->dof) * a->fields;
    eg_advection_range ranges[EG_MODEL_FIELDS_MAX];
    double mass[EG_MODEL_FIELDS_MAX];
    eg_status status = EG_OK;
    eg_facts_loop(facts, &a->result, dof);
    EG_TRY(eg_tracers_make_limiter(a));
    EG_TRY(eg_advection_range_of(a->on.limiter, a->on.current, ranges));
    for (int i = 0; i < a->fields; i++) {
        eg_facts_section(facts, "range", a->names[i]);
        eg_facts_number(facts, "least", ranges[i].least);
        eg_facts_number(facts, "most", ranges[i].most);
    }
    EG_TRY(eg_tracers_make_measure(a));
    EG_TRY(eg_measure_integrals(a->on.measure, a->on.current, mass));
    for (int i = 0; i < a->fields; i++) {
        eg_facts_section(facts, "mass", a->names[i]);
        eg_facts_number(facts, "start", a->mass[i]);
        eg_facts_number(facts, "end", mass[i]);
    }
    if (!a->adapt) return EG_OK;
    eg_facts_section(facts, "adapt", NULL);
    eg_facts_integer(facts, "decisions", (int64_t)a->decisions);
    eg_facts_integer(facts, "adaptations", (int64_t)a->adaptations);
    eg_facts_number(facts, "dof_average", dof);
    eg_facts_integer(facts, "degree_least", (int)a->degree_least);
    eg_facts_integer(facts, "degree_most", (int)a->degree_most);
    eg_facts_number(facts, "wall_s", a->adapt_s);
done:
    return status;
}

static const eg_space *space(void *state)
{
    return ((eg_tracers *)state)->on.space;
}

static int fields(void *state)
{
    return ((eg_tracers *)state)->fields;
}

const eg_model eg_model_advection = {
    .name = "advection",
    .summary = "carry tracers with a given velocity on quadrilaterals and hexahedra",
    .keys = eg_advection_keys,
    .in_time = true,
    .sample = sample,
    .check = check,
    .check_mesh = check_mesh,
    .names = eg_model_initial_names,
    .create = create,
    .show = eg_tracers_show,
    .run = run,
    .errors = errors,
    .details = details,
    .space = space,
    .fields = fields,
    .destroy = destroy,
};
