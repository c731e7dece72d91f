/* The model `elliptic`: -∇·(k ∇u) + λ u = f by the symmetric interior penalty method
 * [karakus2018] on triangles, quadrilaterals, tetrahedra or hexahedra, straight or curved,
 * solved by conjugate gradients. */
#include "model/elliptic/elliptic.h"

#include "model/elliptic/gradient.h"
#include "model/elliptic/keys.h"
#include "model/elliptic/precondition.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The longest name of a boundary, and room for a key of it. */
enum { NAME_BYTES = 64, KEY_BYTES = NAME_BYTES + 32 };

static const char *const names[] = {"u"};
static const char *const slope_names[3] = {"ux", "uy", "uz"};
static const char *const slope_keys[3] = {"exact.ux", "exact.uy", "exact.uz"};

/* A case of `eagre new` has a wave on a periodic square. */
static const char *const sample[] = {"mesh.shape=\"triangle\"", "mesh.cells=[16, 16]",
                                     "mesh.periodic=[\"x\", \"y\"]",
                                     "exact.u=\"sin(2*pi*x)*sin(2*pi*y)\"", NULL};

typedef struct elliptic {
    eg_problem problem;           /* nothing of it is owned */
    eg_elliptic_boundary *types;  /* [boundaries] owned */
    const eg_expression **values; /* [boundaries] owned, the expressions are the case's … */
    const eg_expression **robin;  /* … as here */
    eg_space *space;
    eg_function *exact; /* NULL: there is none */
    eg_measure *measure;
    eg_elliptic *op;
    eg_vectors *vectors;
    eg_precondition *precondition;
    eg_pcg *pcg;
    eg_field *u;
    eg_buffer *load;
    eg_buffer *constants, *weights; /* of a singular problem: 1, and its integral with φ */
    double imbalance;               /* of a singular problem: see balance */
    double setup_s, solve_s;
    eg_krylov_result result;
} elliptic;

static void destroy(void *state)
{
    elliptic *e = state;
    eg_context *ctx = e->problem.ctx;
    eg_pcg_destroy(&e->pcg);
    eg_buffer_destroy(&e->weights);
    eg_buffer_destroy(&e->constants);
    eg_buffer_destroy(&e->load);
    eg_field_destroy(&e->u);
    eg_precondition_destroy(&e->precondition);
    eg_vectors_destroy(&e->vectors);
    eg_elliptic_destroy(&e->op);
    eg_measure_destroy(&e->measure);
    eg_function_destroy(&e->exact);
    eg_space_destroy(&e->space);
    eg_release(ctx, &e->robin);
    eg_release(ctx, &e->values);
    eg_release(ctx, &e->types);
    eg_release(ctx, &e);
}

/* --- what the case says ----------------------------------------------------------------------- */

static eg_status check_boundaries(const eg_case *cas)
{
    const char *name;
    for (size_t i = 0; (name = eg_case_name_at(cas, "boundary", i)); i++) {
        char section[KEY_BYTES], type[KEY_BYTES + 16], coefficient[KEY_BYTES + 16];
        if (strlen(name) > NAME_BYTES)
            return eg_case_fail(cas, "boundary", -1, "names of boundaries have at most %d bytes",
                                NAME_BYTES);
        snprintf(section, sizeof section, "boundary.%s", name);
        snprintf(type, sizeof type, "%s.type", section);
        snprintf(coefficient, sizeof coefficient, "%s.coefficient", section);
        if (!eg_case_given(cas, type))
            return eg_case_fail(cas, section, -1,
                                "it has no type: \"dirichlet\", \"neumann\" or \"robin\"");
        const bool robin = eg_case_choice(cas, type) == EG_ELLIPTIC_ROBIN;
        if (robin && !eg_case_given(cas, coefficient))
            return eg_case_fail(cas, section, -1,
                                "a boundary of type \"robin\" needs a coefficient: k du/dn + "
                                "coefficient u = value");
        if (!robin && eg_case_given(cas, coefficient))
            return eg_case_fail(cas, coefficient, -1,
                                "a boundary of type \"%s\" has no coefficient; did you mean "
                                "\"robin\"?",
                                eg_case_string(cas, type));
    }
    return EG_OK;
}

static eg_status check_space(const eg_case *cas)
{
    if (eg_case_integer(cas, "space.degree") < 1)
        return eg_case_fail(cas, "space.degree", -1, "this model has degrees from 1 on");
    if (eg_case_given(cas, "space.basis") && strcmp(eg_case_string(cas, "space.basis"), "lobatto"))
        return eg_case_fail(
            cas, "space.basis", -1,
            "this model has values at the nodes of faces: \"lobatto\", or leave the "
            "key out");
    return EG_OK;
}

/* What does not depend on the place is judged before there is a mesh. */
static eg_status check_coefficients(const eg_case *cas)
{
    static const char *const keys[] = {"elliptic.k", "elliptic.source"};
    for (size_t i = 0; i < EG_COUNT(keys); i++) {
        const eg_expression *expression = eg_case_expression(cas, keys[i]);
        const double value = eg_expression_evaluate(expression, (double[EG_VARIABLE_COUNT]){0});
        if (eg_expression_uses(expression, EG_VARIABLE_T))
            return eg_case_fail(cas, keys[i], -1, "there is no time in this model");
        if (eg_expression_varies(expression)) continue;
        if (!isfinite(value)) return eg_case_fail(cas, keys[i], -1, "its value is %g", value);
        if (i == 0 && !(value > 0))
            return eg_case_fail(cas, keys[i], -1, "the diffusivity must be positive");
    }
    return EG_OK;
}

static eg_status check(eg_context *ctx, const eg_case *cas)
{
    eg_precondition_options options;
    eg_status status = EG_OK;
    (void)ctx;
    EG_TRY(eg_precondition_from_case(cas, &options));
    EG_TRY(check_space(cas));
    EG_TRY(check_coefficients(cas));
    EG_TRY(check_boundaries(cas));
done:
    return status;
}

/* Derivatives of the exact solution: as many as there are directions, or none. */
static eg_status check_slopes(const eg_case *cas, const eg_mesh *mesh)
{
    int count = 0, missing = -1;
    for (int d = 0; d < 3; d++) {
        const bool given = eg_case_given(cas, slope_keys[d]);
        if (given && d >= mesh->dim)
            return eg_case_fail(cas, slope_keys[d], -1, "the mesh has no third direction");
        count += given;
        if (!given && d < mesh->dim) missing = d;
    }
    if (count > 0 && missing >= 0)
        return eg_case_fail(cas, "exact", -1,
                            "the derivatives of u belong together; %s is not given",
                            slope_names[missing]);
    return EG_OK;
}

static eg_status check_mesh(const eg_case *cas, const eg_mesh *mesh)
{
    eg_status status = EG_OK;
    for (int32_t i = 1; i < mesh->element_count; i++)
        if (mesh->shape[i] != mesh->shape[0])
            EG_TRY(eg_case_fail(cas, "mesh", -1,
                                "this model needs elements of one shape; there are %ss and %ss",
                                eg_shape_get_info((eg_shape)mesh->shape[0])->name,
                                eg_shape_get_info((eg_shape)mesh->shape[i])->name));
    EG_TRY(check_slopes(cas, mesh));
    EG_TRY(eg_model_check_boundaries(cas, mesh));
done:
    return status;
}

static int field_names(const eg_case *cas, const char *out[EG_MODEL_FIELDS_MAX])
{
    (void)cas;
    out[0] = names[0];
    return 1;
}

/* --- creation --------------------------------------------------------------------------------- */

static eg_status read_boundaries(elliptic *e)
{
    const eg_case *cas = e->problem.cas;
    const eg_mesh *mesh = e->problem.mesh;
    const size_t count = (size_t)mesh->boundary_count;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->problem.ctx, count + 1, &e->types));
    EG_TRY(eg_new(e->problem.ctx, count + 1, &e->values));
    EG_TRY(eg_new(e->problem.ctx, count + 1, &e->robin));
    for (size_t b = 0; b < count; b++) {
        char key[KEY_BYTES + 16];
        snprintf(key, sizeof key, "boundary.%s.type", mesh->boundary[b]);
        e->types[b] = (eg_elliptic_boundary)eg_case_choice(cas, key);
        snprintf(key, sizeof key, "boundary.%s.value", mesh->boundary[b]);
        e->values[b] = eg_case_expression(cas, key);
        snprintf(key, sizeof key, "boundary.%s.coefficient", mesh->boundary[b]);
        if (e->types[b] == EG_ELLIPTIC_ROBIN) e->robin[b] = eg_case_expression(cas, key);
    }
done:
    return status;
}

/* Fails where an expression that varies is not finite, or where it must be positive and is not. */
static eg_status check_values(const elliptic *e, const char *key, bool positive)
{
    const eg_expression *expression = eg_case_expression(e->problem.cas, key);
    eg_function *function = NULL;
    double least, most;
    eg_status status = EG_OK;
    if (!eg_expression_varies(expression)) return EG_OK; /* judged by `check` */
    EG_TRY(eg_function_create(e->space, &expression, 1, &function));
    EG_TRY(eg_function_range(function, 0, &least, &most));
    if (!isfinite(least) || !isfinite(most) || (positive && !(least > 0)))
        EG_TRY(eg_case_fail(e->problem.cas, key, -1, "it goes from %g to %g%s", least, most,
                            positive ? "; it must be positive everywhere"
                                     : ": look for divisions by zero"));
done:
    eg_function_destroy(&function);
    return status;
}

/* The space, the operator and the fields on it. */
static eg_status make_operator(elliptic *e)
{
    const eg_problem *p = &e->problem;
    const eg_elliptic_options how = {.lambda = eg_case_real(p->cas, "elliptic.lambda"),
                                     .k = eg_case_expression(p->cas, "elliptic.k"),
                                     .penalty = eg_case_real(p->cas, "elliptic.penalty"),
                                     .types = e->types,
                                     .robin = e->robin};
    eg_space_options options = {.basis = EG_BASIS_LOBATTO,
                                .degree = (int)eg_case_integer(p->cas, "space.degree")};
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(p->comm,
                         eg_elliptic_lanes(p->device, p->mesh, options.degree, &options.lanes)));
    EG_TRY(eg_space_create(p->device, p->comm, p->mesh, &options, &e->space));
    EG_TRY(check_values(e, "elliptic.k", true));
    EG_TRY(check_values(e, "elliptic.source", false));
    EG_TRY(eg_elliptic_create(e->space, EG_F64, &how, &e->op));
    EG_TRY(eg_vectors_create(e->space, 1, EG_F64, &e->vectors));
    EG_TRY(eg_field_create(e->space, 1, EG_F64, &e->u));
    EG_TRY(eg_vectors_fill(e->vectors, 0, e->u->data));
    EG_TRY(eg_vectors_new(e->vectors, &e->load));
done:
    return status;
}

static eg_status make_preconditioner(elliptic *e)
{
    eg_precondition_options options;
    eg_status status = EG_OK;
    EG_TRY(eg_precondition_from_case(e->problem.cas, &options));
    EG_TRY(eg_precondition_create(e->op, e->vectors, &options, &e->precondition));
done:
    return status;
}

static eg_status make_solver(elliptic *e)
{
    const eg_case *cas = e->problem.cas;
    eg_krylov_options options = {.relative = eg_case_real(cas, "solver.tolerance"),
                                 .reference = EG_KRYLOV_TO_RHS,
                                 .iterations = (int)eg_case_integer(cas, "solver.iterations"),
                                 .zero_guess = true};
    eg_status status = EG_OK;
    const double begun = eg_wall_seconds();
    EG_TRY(make_preconditioner(e));
    EG_TRY(eg_device_sync(e->problem.device));
    e->setup_s = eg_wall_seconds() - begun;
    if (eg_elliptic_is_singular(e->op)) {
        EG_TRY(eg_elliptic_constants(e->op, e->vectors, &e->constants, &e->weights));
        options.null_vector = e->constants;
        options.null_weights = e->weights;
    }
    EG_TRY(eg_pcg_create(e->vectors, eg_elliptic_linear(e->op),
                         eg_precondition_linear(e->precondition), &options, &e->pcg));
done:
    return status;
}

static eg_status create_all(elliptic *e)
{
    const eg_case *cas = e->problem.cas;
    eg_status status = EG_OK;
    EG_TRY(read_boundaries(e));
    EG_TRY(make_operator(e));
    EG_TRY(make_solver(e));
    if (eg_case_given(cas, "exact.u")) {
        const eg_expression *exact = eg_case_expression(cas, "exact.u");
        EG_TRY(eg_function_create(e->space, &exact, 1, &e->exact));
        EG_TRY(eg_measure_create(e->space, 1, e->exact, &e->measure));
    }
done:
    return status;
}

static eg_status create(const eg_problem *problem, void **state)
{
    elliptic *e = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(problem->ctx, 1, &e));
    e->problem = *problem;
    EG_TRY(create_all(e));
    *state = e;
    e = NULL;
done:
    if (e) destroy(e);
    return status;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Takes the mean out of the data of a singular problem, which has no solution else, and tells
 * how much of them that was. */
static eg_status balance(elliptic *e)
{
    double sums[3], all = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_norm(e->vectors, e->load, &all));
    EG_TRY(eg_vectors_dots(e->vectors, 3,
                           (eg_vector_pair[]){{e->constants, e->load},
                                              {e->constants, e->weights},
                                              {e->weights, e->weights}},
                           sums));
    const double mean = sums[0] / sums[1], minus = -mean;
    EG_TRY(eg_vectors_add(e->vectors, 1, e->load, 1, &minus, &e->weights));
    e->imbalance = all > 0 ? fabs(mean) * sqrt(sums[2]) / all : 0;
done:
    return status;
}

static eg_status run(void *state, eg_watch *watch)
{
    elliptic *e = state;
    const eg_case *cas = e->problem.cas;
    const eg_elliptic_data data = {.source = eg_case_expression(cas, "elliptic.source"),
                                   .boundary = e->values};
    eg_status status = EG_OK;
    (void)watch;
    EG_TRY(eg_comm_agree(e->problem.comm, eg_elliptic_load(e->op, &data, 0, e->load)));
    if (e->constants) EG_TRY(balance(e));
    EG_TRY(eg_device_sync(e->problem.device));
    const double begun = eg_wall_seconds();
    EG_TRY(eg_pcg_solve(e->pcg, e->load, e->u->data, &e->result));
    EG_TRY(eg_device_sync(e->problem.device));
    e->solve_s = eg_wall_seconds() - begun;
    if (e->result.outcome != EG_KRYLOV_CONVERGED && e->result.outcome != EG_KRYLOV_ROUNDING)
        EG_TRY(eg_fail(
            e->problem.ctx, EG_ERROR_NUMERIC,
            "conjugate gradients have not converged in %d iterations: %s. The residual is %.3g, "
            "%.3g was asked for; look at solver.tolerance, solver.iterations, "
            "solver.preconditioner and elliptic.penalty",
            e->result.iterations, eg_krylov_outcome_text(e->result.outcome), e->result.residual,
            e->result.target));
done:
    return status;
}

/* --- results ---------------------------------------------------------------------------------- */

static void show(void *state, eg_state *out)
{
    elliptic *e = state;
    out->fields[out->field_count++] =
        (eg_state_field){.name = "solution", .field = e->u, .names = names};
}

/* The errors of the gradient: out [dim]. */
static eg_status measure_gradient(elliptic *e, eg_field_error *out)
{
    const int dim = e->problem.mesh->dim;
    const eg_expression *exact[3] = {NULL};
    eg_norms norms[3];
    eg_field *gradient = NULL;
    eg_gradient *slopes = NULL;
    eg_function *function = NULL;
    eg_measure *measure = NULL;
    eg_status status = EG_OK;
    assert(dim <= 3);
    for (int d = 0; d < dim; d++)
        exact[d] = eg_case_expression(e->problem.cas, slope_keys[d]);
    EG_TRY(eg_field_create(e->space, dim, EG_F64, &gradient));
    EG_TRY(eg_comm_agree(e->problem.comm, eg_gradient_create(e->space, &slopes)));
    EG_TRY(eg_comm_agree(e->problem.comm, eg_gradient_apply(slopes, e->u, gradient)));
    EG_TRY(eg_function_create(e->space, exact, dim, &function));
    EG_TRY(eg_measure_create(e->space, dim, function, &measure));
    EG_TRY(eg_measure_norms(measure, 0, gradient, norms));
    for (int d = 0; d < dim; d++)
        out[d] = (eg_field_error){slope_names[d], norms[d]};
done:
    eg_measure_destroy(&measure);
    eg_function_destroy(&function);
    eg_gradient_destroy(&slopes);
    eg_field_destroy(&gradient);
    return status;
}

static eg_status errors(void *state, eg_field_error *out, int *count)
{
    elliptic *e = state;
    eg_status status = EG_OK;
    *count = 0;
    if (e->exact) {
        EG_TRY(eg_measure_norms(e->measure, 0, e->u, &out[0].norms));
        out[(*count)++].name = names[0];
    }
    if (eg_case_given(e->problem.cas, slope_keys[0])) {
        EG_TRY(measure_gradient(e, out + *count));
        *count += e->problem.mesh->dim;
    }
done:
    return status;
}

static eg_status details(void *state, eg_facts *facts)
{
    elliptic *e = state;
    double bytes = (double)eg_precondition_bytes(e->precondition);
    eg_status status = EG_OK;
    EG_TRY(eg_comm_sum(e->problem.comm, 1, &bytes));
    eg_facts_section(facts, "", NULL);
    eg_facts_integer(facts, "iterations", e->result.iterations);
    eg_facts_number(facts, "residual", e->result.residual);
    eg_facts_number(facts, "target", e->result.target);
    eg_facts_number(facts, "preconditioner_s", e->setup_s);
    eg_facts_number(facts, "solve_s", e->solve_s);
    eg_facts_number(facts, "dof_per_s", e->solve_s > 0 ? (double)e->space->dof / e->solve_s : 0);
    eg_facts_number(facts, "preconditioner_bytes_per_element",
                    bytes / (double)e->problem.mesh->global_count);
    if (e->constants) eg_facts_number(facts, "imbalance", e->imbalance);
done:
    return status;
}

static const eg_space *space(void *state)
{
    return ((elliptic *)state)->space;
}

static int fields(void *state)
{
    (void)state;
    return 1;
}

const eg_model eg_model_elliptic = {
    .name = "elliptic",
    .summary = "balance diffusion and reaction with a source: Poisson's equation and its kin",
    .keys = eg_elliptic_keys,
    .sample = sample,
    .check = check,
    .check_mesh = check_mesh,
    .names = field_names,
    .create = create,
    .show = show,
    .run = run,
    .errors = errors,
    .details = details,
    .space = space,
    .fields = fields,
    .destroy = destroy,
};
