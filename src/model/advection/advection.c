/* The model `advection`: u_t + div(b u) = s with a given velocity b(x, t), on quadrilaterals and
 * hexahedra, by discontinuous Galerkin methods with orthonormal Legendre polynomials and the upwind
 * flux, which is Rusanov's with α = |b·n|. The degree may differ from element to element
 * [discacciati2017].
 *
 * The fields are those that [initial] names; all are carried by the same velocity. */
#include "model/advection/advection.h"

#include "model/advection/operator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The longest name of a field or boundary, and room for a key of both. */
enum { NAME_BYTES = 64, KEY_BYTES = 2 * NAME_BYTES + 32 };

enum { TYPE_OUTFLOW, TYPE_INFLOW };

static const char *const types[] = {"outflow", "inflow", NULL};

static const eg_key keys[] = {
    {.section = "advection",
     .name = "velocity",
     .type = EG_KEY_EXPRESSIONS,
     .required = true,
     .least_count = 2,
     .most_count = 3,
     .help = "The velocity: an expression of x, y, z, t for each direction. Where it is the same "
             "everywhere (it may change in time) steps are several times faster.",
     .example = "[\"-y\", \"x\"]"},
    {.section = "advection",
     .name = "degree",
     .type = EG_KEY_EXPRESSION,
     .help = "The degree of each element, an expression of its centre x, y, z: rounded to the "
             "nearest whole number and kept between 0 and space.degree, which all elements have "
             "without this.",
     .example = "\"x < 0.5 ? 1 : 4\""},
    {.section = "initial",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .required = true,
     .help = "A tracer and its values at the start. Any name makes a tracer; there may be several.",
     .example = "u = \"sin(2*pi*x)*sin(2*pi*y)\""},
    {.section = "exact",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .help = "What the tracer of this name should be at time t: its error is measured at the end.",
     .example = "u = \"sin(2*pi*(x - t))*sin(2*pi*(y - t))\""},
    {.section = "source",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .help = "What is added to the tracer of this name per time and volume, of x, y, z, t.",
     .example = "u = \"exp(-t)\""},
    {.section = "boundary.*",
     .name = "type",
     .type = EG_KEY_CHOICE,
     .fallback = "\"outflow\"",
     .choices = types,
     .help =
         "What is behind this boundary. Where the velocity points outwards tracers leave at any "
         "boundary; where it points inwards they come in with the values given here (type "
         "\"inflow\"), or with 0."},
    {.section = "boundary.*",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .help = "With type \"inflow\": the values with which the tracer of this name comes in.",
     .example = "u = \"sin(2*pi*(y - t))\""},
    {0}};

typedef struct advection {
    eg_context *ctx; /* not owned */
    int fields;
    const char *names[EG_MODEL_FIELDS_MAX]; /* the case's */
    const eg_expression *initial_of[EG_MODEL_FIELDS_MAX];
    const eg_expression *exact_of[EG_MODEL_FIELDS_MAX]; /* NULL: none */
    eg_time_options time;
    eg_space *space;
    eg_function *initial, *exact;
    eg_measure *measure;
    eg_advection *op;
    /* The solution, what it was at the beginning of the step, and what a stage writes; low-storage
     * schemes have the register k instead of the second. */
    eg_field *current, *first, *next, *k;
    eg_time_result result;
} advection;

static void destroy(void *state)
{
    advection *a = state;
    eg_field_destroy(&a->k);
    eg_field_destroy(&a->next);
    eg_field_destroy(&a->first);
    eg_field_destroy(&a->current);
    eg_advection_destroy(&a->op);
    eg_measure_destroy(&a->measure);
    eg_function_destroy(&a->exact);
    eg_function_destroy(&a->initial);
    eg_space_destroy(&a->space);
    eg_context *ctx = a->ctx;
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
        if (eg_case_choice(cas, key) == TYPE_OUTFLOW && eg_case_name_at(cas, section, 0))
            EG_TRY(eg_case_fail(cas, section, -1,
                                "values are given, but nothing comes in at a boundary of type "
                                "\"outflow\"; did you mean type = \"inflow\"?"));
    }
done:
    return status;
}

static eg_status check(eg_context *ctx, const eg_case *cas)
{
    advection a = {.ctx = ctx};
    eg_status status = EG_OK;
    EG_TRY(read_fields(&a, cas));
    EG_TRY(check_boundaries(&a, cas));
    EG_TRY(eg_time_options_from_case(cas, &a.time));
    if (eg_case_given(cas, "space.basis") && eg_case_choice(cas, "space.basis") != EG_BASIS_MODAL)
        EG_TRY(eg_case_fail(cas, "space.basis", -1,
                            "this model has a basis of its own, \"modal\": leave the key out"));
done:
    return status;
}

/* What only the mesh tells: shapes, order, directions, boundaries. */
static eg_status check_mesh(const eg_case *cas, const eg_mesh *mesh)
{
    eg_status status = EG_OK;
    for (int32_t e = 0; e < mesh->element_count; e++)
        if (mesh->shape[e] != EG_SHAPE_QUAD && mesh->shape[e] != EG_SHAPE_HEX)
            return eg_case_fail(cas, "mesh", -1,
                                "this model needs quadrilaterals or hexahedra, and the mesh has a "
                                "%s",
                                eg_shape_get_info((eg_shape)mesh->shape[e])->name);
    if (mesh->order > 1)
        return eg_case_fail(cas, "mesh", -1,
                            "this model needs straight elements, and those of the mesh have "
                            "order %d",
                            mesh->order);
    const size_t count = eg_case_count(cas, "advection.velocity");
    if (count != (size_t)mesh->dim)
        return eg_case_fail(cas, "advection.velocity", -1,
                            "the velocity has %zu components on a mesh in %d dimensions", count,
                            mesh->dim);
    EG_TRY(eg_case_check_names(cas, "boundary", "boundary", (const char *const *)mesh->boundary,
                               (size_t)mesh->boundary_count));
done:
    return status;
}

/* The degree of every element and ghost; NULL if it is the same everywhere. */
static eg_status find_degrees(const eg_case *cas, const eg_mesh *mesh, int most, uint8_t **out)
{
    eg_status status = EG_OK;
    double nodes[EG_MAX_VERTICES * 3];
    *out = NULL;
    if (!eg_case_given(cas, "advection.degree")) return EG_OK;
    const eg_expression *degree = eg_case_expression(cas, "advection.degree");
    const int32_t count = mesh->element_count + mesh->ghost_count;
    EG_TRY(eg_new(mesh->ctx, (size_t)count + 1, out));
    for (int32_t e = 0; e < count; e++) {
        double at[EG_VARIABLE_COUNT] = {0};
        const int corners = eg_mesh_element_nodes(mesh, e, nodes);
        for (int i = 0; i < corners; i++)
            for (int d = 0; d < mesh->dim; d++)
                at[d] += nodes[i * mesh->dim + d] / corners;
        const double value = eg_expression_evaluate(degree, at);
        if (isnan(value))
            EG_TRY(eg_case_fail(cas, "advection.degree", -1,
                                "it is not a number at (%g, %g, %g), the centre of an element",
                                at[0], at[1], at[2]));
        (*out)[e] = (uint8_t)fmin(fmax(floor(value + 0.5), 0), most);
    }
done:
    if (status != EG_OK) eg_release(mesh->ctx, out);
    return status;
}

/* --- creation -------------------------------------------------------------------------------------- */

/* Where J is not among an element's polynomials mass would be lost. */
static eg_status check_degrees(const eg_case *cas, const eg_space *space)
{
    for (int g = 0; g < space->group_count; g++) {
        const eg_group *group = &space->groups[g];
        if (group->shape == EG_SHAPE_HEX && group->curved && group->degree == 1)
            return eg_case_fail(cas, "space.degree", -1,
                                "degree 1 on hexahedra that are not parallelepipeds would lose "
                                "mass: there it is 0, or 2 and more");
    }
    return EG_OK;
}

static eg_status create_space(advection *a, const eg_problem *problem,
                              const eg_advection_options *op)
{
    eg_status status = EG_OK;
    eg_space_options options;
    uint8_t *degrees = NULL;
    EG_TRY(eg_space_options_from_case(problem->cas, problem->mesh, &options));
    EG_TRY(find_degrees(problem->cas, problem->mesh, options.degree, &degrees));
    options.basis = EG_BASIS_MODAL;
    options.degrees = degrees;
    options.lanes = eg_advection_lanes(problem->device, problem->mesh, op, options.degree);
done:
    /* Ranks whose elements are in order wait for none of the others. */
    status = eg_comm_agree(problem->comm, status);
    if (status == EG_OK)
        status =
            eg_space_create(problem->device, problem->comm, problem->mesh, &options, &a->space);
    if (status == EG_OK)
        status = eg_comm_agree(problem->comm, check_degrees(problem->cas, a->space));
    eg_release(a->ctx, &degrees);
    return status;
}

/* The space and the operator on it. */
static eg_status create_operator(advection *a, const eg_problem *problem)
{
    eg_status status = EG_OK;
    const eg_case *cas = problem->cas;
    const eg_mesh *mesh = problem->mesh;
    const eg_expression **boundary = NULL, *source[EG_MODEL_FIELDS_MAX] = {NULL};
    eg_advection_options options = {.components = a->fields,
                                    .low_storage = a->time.scheme == EG_TIME_LOW_RK4};
    char key[KEY_BYTES];
    for (int d = 0; d < mesh->dim; d++)
        options.velocity[d] = eg_case_expression_at(cas, "advection.velocity", (size_t)d);
    EG_TRY(eg_new(a->ctx, (size_t)(mesh->boundary_count * a->fields) + 1, &boundary));
    for (int i = 0; i < mesh->boundary_count * a->fields; i++) {
        snprintf(key, sizeof key, "boundary.%s.%s", mesh->boundary[i / a->fields],
                 a->names[i % a->fields]);
        if (eg_case_given(cas, key)) boundary[i] = eg_case_expression(cas, key);
    }
    for (int c = 0; c < a->fields; c++) {
        snprintf(key, sizeof key, "source.%s", a->names[c]);
        if (eg_case_given(cas, key)) source[c] = eg_case_expression(cas, key);
    }
    options.boundary = boundary;
    options.source = source;
    EG_TRY(create_space(a, problem, &options));
    EG_TRY(eg_advection_create(a->space, &options, &a->op));
done:
    eg_release(a->ctx, &boundary);
    return status;
}

static eg_status create_fields(advection *a)
{
    eg_status status = EG_OK;
    const eg_expression *compared[EG_MODEL_FIELDS_MAX];
    for (int i = 0; i < a->fields; i++)
        compared[i] = a->exact_of[i] ? a->exact_of[i] : a->initial_of[i];
    EG_TRY(eg_function_create(a->space, a->initial_of, a->fields, &a->initial));
    EG_TRY(eg_function_create(a->space, compared, a->fields, &a->exact));
    EG_TRY(eg_measure_create(a->space, a->fields, a->exact, &a->measure));
    EG_TRY(eg_field_create(a->space, a->fields, EG_F64, &a->current));
    EG_TRY(eg_field_create(a->space, a->fields, EG_F64, &a->next));
    EG_TRY(eg_field_create(a->space, a->fields, EG_F64,
                           a->time.scheme == EG_TIME_LOW_RK4 ? &a->k : &a->first));
done:
    return status;
}

static eg_status create(const eg_problem *problem, void **state)
{
    eg_status status = EG_OK;
    advection *a = NULL;
    EG_TRY(eg_new(problem->ctx, 1, &a));
    a->ctx = problem->ctx;
    EG_TRY(read_fields(a, problem->cas));
    EG_TRY(check_mesh(problem->cas, problem->mesh));
    EG_TRY(eg_time_options_from_case(problem->cas, &a->time));
    EG_TRY(create_operator(a, problem));
    EG_TRY(create_fields(a));
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

/* After a stage `current` is its result. A strong-stability scheme begins with `first` as the
 * solution, which the first stage reads from `current`; it is then kept where later stages find it. */
static eg_status stage(void *user, const eg_stage *s)
{
    advection *a = user;
    eg_status status = EG_OK;
    const eg_field *first = s->index == 0 ? a->current : a->first;
    EG_TRY(eg_advection_stage(a->op, s, first, a->current, a->k, a->next));
    swap(&a->current, &a->next);
    if (!s->low_storage && s->index == 0 && s->count > 1) swap(&a->first, &a->next);
done:
    return status;
}

static eg_status stable_dt(void *user, double t, double *dt)
{
    return eg_advection_stable_dt(((advection *)user)->op, t, dt);
}

static eg_status run(void *state)
{
    eg_status status = EG_OK;
    advection *a = state;
    const double zero = 0;
    const eg_time_system system = {.user = a, .stage = stage, .stable_dt = stable_dt};
    EG_TRY(eg_function_project(a->initial, a->time.start, a->current));
    if (a->k) EG_TRY(eg_buffer_fill(a->k->data, 0, eg_buffer_count(a->k->data), &zero));
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
    EG_TRY(eg_measure_norms(a->measure, a->time.end, a->current, norms));
    for (int i = 0; i < a->fields; i++)
        if (a->exact_of[i]) out[(*count)++] = (eg_field_error){a->names[i], norms[i]};
done:
    return status;
}

static const eg_space *space(void *state)
{
    return ((advection *)state)->space;
}

static int fields(void *state)
{
    return ((advection *)state)->fields;
}

const eg_model eg_model_advection = {
    .name = "advection",
    .summary = "carry tracers with a given velocity on quadrilaterals and hexahedra",
    .keys = keys,
    .check = check,
    .create = create,
    .run = run,
    .errors = errors,
    .space = space,
    .fields = fields,
    .destroy = destroy,
};
