/* `elliptic-solve`: -Δu = f with a smooth source on perturbed triangles of a square, u = 0 at its sides, solved by
 * conjugate gradients to 1e-8 of the right-hand side with each preconditioner that does not need hundreds of
 * iterations: the time of a solve after set-up, its iterations, unknowns a second, and what the
 * preconditioner takes of the device's memory, an element. Degrees 1 … 10. A solve is long: times are medians
 * of five, after one that does not count. */
#include "bench/run.h"
#include "model/elliptic/operator.h"
#include "model/elliptic/precondition.h"
#include "solver/solver.h"

#include <math.h>
#include <stdio.h>

enum { SAMPLES = 5 };

typedef struct problem {
    eg_bench_triangles on;
    eg_elliptic *op;
    eg_expression *source;
    eg_vectors *vectors;
    eg_buffer *load, *u;
    eg_precondition *precondition;
    eg_pcg *pcg;
    eg_krylov_result result;
} problem;

static const struct {
    const char *name;
    eg_precondition_kind kind;
} kinds[] = {{"pmg-cg-amg", EG_PRECONDITION_PMG_CG_AMG},
             {"pmg-amg", EG_PRECONDITION_PMG_AMG},
             {"amg", EG_PRECONDITION_AMG}};

static void destroy(problem *p)
{
    eg_pcg_destroy(&p->pcg);
    eg_precondition_destroy(&p->precondition);
    eg_buffer_destroy(&p->u);
    eg_buffer_destroy(&p->load);
    eg_vectors_destroy(&p->vectors);
    eg_expression_destroy(&p->source);
    eg_elliptic_destroy(&p->op);
    eg_bench_triangles_destroy(&p->on);
}

static eg_status create(eg_bench *bench, int cells, int degree, problem *p)
{
    static const eg_symbol symbols[] = {{.name = "x", .variable = EG_VARIABLE_X},
                                        {.name = "y", .variable = EG_VARIABLE_Y}};
    eg_status status = EG_OK;
    EG_TRY(eg_bench_triangles_create(bench, cells, degree, eg_elliptic_lanes, &p->on));
    EG_TRY(eg_elliptic_create(p->on.space, EG_F64, &(eg_elliptic_options){0}, &p->op));
    EG_TRY(eg_vectors_create(p->on.space, 1, EG_F64, &p->vectors));
    EG_TRY(eg_vectors_new(p->vectors, &p->load));
    EG_TRY(eg_vectors_new(p->vectors, &p->u));
    EG_TRY(eg_expression_create(bench->ctx, "sin(3*x + 1)*exp(y) + x*y", symbols, EG_COUNT(symbols),
                                NULL, &p->source));
    EG_TRY(eg_elliptic_load(p->op, &(eg_elliptic_data){.source = p->source}, 0, p->load));
done:
    return status;
}

static eg_status solve(problem *p)
{
    eg_status status = EG_OK;
    EG_TRY(eg_pcg_solve(p->pcg, p->load, p->u, &p->result));
    if (p->result.outcome != EG_KRYLOV_CONVERGED && p->result.outcome != EG_KRYLOV_ROUNDING)
        return eg_fail(p->on.space->ctx, EG_ERROR_NUMERIC, "not solved in %d iterations: %s",
                       p->result.iterations, eg_krylov_outcome_text(p->result.outcome));
done:
    return status;
}

static eg_status time_solves(eg_bench *bench, problem *p, double *seconds)
{
    eg_event *begin = NULL, *end = NULL;
    double samples[SAMPLES];
    eg_status status = EG_OK;
    EG_TRY(eg_event_create(bench->device, &begin));
    EG_TRY(eg_event_create(bench->device, &end));
    EG_TRY(solve(p));
    for (int i = 0; i < SAMPLES; i++) {
        EG_TRY(eg_event_record(begin));
        EG_TRY(solve(p));
        EG_TRY(eg_event_record(end));
        EG_TRY(eg_event_elapsed(begin, end, &samples[i]));
    }
    *seconds = eg_bench_median(samples, SAMPLES);
done:
    eg_event_destroy(&end);
    eg_event_destroy(&begin);
    return status;
}

static eg_status measure(eg_bench *bench, size_t kind, int degree, problem *p)
{
    const eg_precondition_options options = eg_precondition_defaults(kinds[kind].kind);
    char size[32];
    eg_status status = EG_OK;
    snprintf(size, sizeof size, "N=%d", degree);
    eg_bench_progress(bench, "%s %s", kinds[kind].name, size);
    eg_bench_work work = {.name = kinds[kind].name, .size = size};
    EG_TRY(eg_precondition_create(p->op, p->vectors, &options, &p->precondition));
    EG_TRY(eg_pcg_create(p->vectors, eg_elliptic_linear(p->op),
                         eg_precondition_linear(p->precondition),
                         &(eg_krylov_options){.relative = 1e-8,
                                              .reference = EG_KRYLOV_TO_RHS,
                                              .iterations = 1000,
                                              .zero_guess = true},
                         &p->pcg));
    EG_TRY(time_solves(bench, p, &work.time_s));
    work.iterations = p->result.iterations;
    work.dof_per_s = (double)p->on.space->dof / work.time_s;
    work.bytes_per_element =
        (double)eg_precondition_bytes(p->precondition) / p->on.mesh->element_count;
    EG_TRY(eg_bench_add(bench, &work));
done:
    eg_pcg_destroy(&p->pcg);
    eg_precondition_destroy(&p->precondition);
    return status;
}

static eg_status run(eg_bench *bench)
{
    const double dof = (bench->info->is_gpu ? 1e7 : 1e5) / (bench->options->quick ? 16 : 1);
    eg_status status = EG_OK;
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree++) {
        const double nodes = 0.5 * (degree + 1) * (degree + 2);
        problem p = {0};
        if (!eg_bench_wants(bench, degree)) continue;
        status = create(bench, (int)ceil(sqrt(dof / (2 * nodes))), degree, &p);
        for (size_t k = 0; status == EG_OK && k < EG_COUNT(kinds); k++)
            status = measure(bench, k, degree, &p);
        destroy(&p);
        EG_TRY(status);
    }
done:
    return status;
}

const eg_bench_driver eg_bench_elliptic_solve = {
    .name = "elliptic-solve",
    .summary = "Poisson's equation on triangles by each preconditioner, by degree",
    .most_degree = EG_DEGREE_MAX,
    .run = run,
};
