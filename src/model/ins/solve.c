/* Implicit steps of model `ins`: an operator, a preconditioner and conjugate gradients. */
#include "model/ins/solve.h"

#include <math.h>

struct eg_ins_solve {
    eg_space *space;     /* not owned */
    eg_vectors *vectors; /* not owned */
    eg_ins_solve_options options;
    eg_elliptic *op;
    eg_precondition *preconditioner;
    eg_buffer *constants, *weights; /* of a singular problem: 1, and its integral with φ */
    eg_pcg *pcg;
};

void eg_ins_solve_destroy(eg_ins_solve **handle)
{
    eg_ins_solve *s = *handle;
    if (!s) return;
    eg_pcg_destroy(&s->pcg);
    eg_buffer_destroy(&s->weights);
    eg_buffer_destroy(&s->constants);
    eg_precondition_destroy(&s->preconditioner);
    eg_elliptic_destroy(&s->op);
    eg_release(s->space->ctx, handle);
}

static eg_status make(eg_ins_solve *s)
{
    const eg_ins_solve_options *o = &s->options;
    const eg_elliptic_options how = {.lambda = o->lambda, .penalty = o->penalty, .types = o->types};
    eg_krylov_options options = {
        .relative = o->tolerance, .reference = EG_KRYLOV_TO_RHS, .iterations = o->iterations};
    eg_status status = EG_OK;
    EG_TRY(eg_elliptic_create(s->space, EG_F64, &how, &s->op));
    EG_TRY(eg_precondition_create(s->op, s->vectors, &o->preconditioner, &s->preconditioner));
    if (eg_elliptic_is_singular(s->op)) {
        EG_TRY(eg_elliptic_constants(s->op, s->vectors, &s->constants, &s->weights));
        options.null_vector = s->constants;
        options.null_weights = s->weights;
    }
    EG_TRY(eg_pcg_create(s->vectors, eg_elliptic_linear(s->op),
                         eg_precondition_linear(s->preconditioner), &options, &s->pcg));
done:
    return status;
}

eg_status eg_ins_solve_create(eg_space *space, eg_vectors *vectors,
                              const eg_ins_solve_options *options, eg_ins_solve **out)
{
    eg_ins_solve *s = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &s));
    *s = (eg_ins_solve){.space = space, .vectors = vectors, .options = *options};
    EG_TRY(make(s));
    *out = s;
    s = NULL;
done:
    eg_ins_solve_destroy(&s);
    return status;
}

double eg_ins_solve_lambda(const eg_ins_solve *s)
{
    return s->options.lambda;
}

double eg_ins_solve_penalty(const eg_ins_solve *s)
{
    return eg_elliptic_penalty(s->op);
}

eg_status eg_ins_solve_residual(eg_ins_solve *s, eg_buffer *b, eg_buffer *x, eg_buffer *y)
{
    return eg_elliptic_residual(s->op, b, x, y);
}

eg_status eg_ins_solve_run(eg_ins_solve *s, eg_guess *guess, eg_buffer *b, eg_buffer *x,
                           int *iterations)
{
    eg_krylov_result result;
    eg_status status = EG_OK;
    if (guess) EG_TRY(eg_guess_make(guess, b, x));
    EG_TRY(eg_pcg_solve(s->pcg, b, x, &result));
    *iterations = result.iterations;
    if (result.outcome == EG_KRYLOV_NOT_FINITE || !isfinite(result.target))
        EG_TRY(eg_fail(s->space->ctx, EG_ERROR_NUMERIC,
                       "the solve for %s has no finite data: the flow has grown without bound. "
                       "Steps may be too large for advection: try half of time.dt or time.cfl, or "
                       "more time.subcycles",
                       s->options.name));
    if (result.outcome != EG_KRYLOV_CONVERGED && result.outcome != EG_KRYLOV_ROUNDING)
        EG_TRY(eg_fail(s->space->ctx, EG_ERROR_NUMERIC,
                       "the solve for %s has not converged in %d iterations: %s. The residual is "
                       "%.3g, %.3g was asked for; look at solver.tolerance, solver.iterations, "
                       "solver.preconditioner (of the pressure) and solver.velocity",
                       s->options.name, result.iterations, eg_krylov_outcome_text(result.outcome),
                       result.residual, result.target));
    if (guess && result.iterations > 0) EG_TRY(eg_guess_learn(guess, s->pcg, x));
done:
    return status;
}
