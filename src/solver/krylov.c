/* What PCG and GMRES share: the system, its null space, and the norms along the way. */
#include "solver/krylov_parts.h"

#include <float.h>
#include <math.h>

/* What a product with A may lose, in ε ‖A‖ ‖x‖: it grows slowly with the sums in a product, and is of order 1. */
#define ROUNDING_MOST 16.0

const char *eg_krylov_outcome_text(eg_krylov_outcome outcome)
{
    static const char *const texts[] = {
#define X(code, text) text,
        EG_KRYLOV_OUTCOMES(X)
#undef X
    };
    return (size_t)outcome < EG_COUNT(texts) ? texts[outcome] : "an unknown outcome";
}

eg_status eg_linear_residual(const eg_vectors *vectors, const eg_linear *A, eg_buffer *b,
                             eg_buffer *x, eg_buffer *y)
{
    if (A->residual) return A->residual(A->user, b, x, y);
    eg_status status = A->apply(A->user, x, y);
    return status == EG_OK ? eg_vectors_add(vectors, -1.0, y, 1, &(double){1.0}, &b) : status;
}

static eg_status check(eg_context *ctx, const eg_krylov_options *options)
{
    if (!(options->relative >= 0.0 && options->absolute >= 0.0))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "tolerances of %g and %g; they are not negative",
                       options->relative, options->absolute);
    if (options->iterations < 0 || options->restart < 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "%d iterations with %d directions; neither is negative", options->iterations,
                       options->restart);
    return EG_OK;
}

eg_status eg_krylov_prepare(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                            const eg_krylov_options *options, eg_krylov *out)
{
    eg_context *ctx = eg_device_context(vectors->device);
    eg_status status = EG_OK;
    *out = (eg_krylov){.ctx = ctx, .vectors = vectors, .A = A, .preconditioned = B != NULL};
    if (B) out->B = *B;
    if (options) out->options = *options;
    eg_krylov_options *o = &out->options;
    EG_TRY(check(ctx, o));
    if (o->relative == 0.0 && o->absolute == 0.0) o->relative = 1e-8;
    if (o->iterations == 0) o->iterations = 1000;
    if (o->restart == 0) o->restart = 30;
    if (o->restart > o->iterations) o->restart = o->iterations;
    if (!o->null_weights) o->null_weights = o->null_vector;
    EG_TRY(eg_new(ctx, (size_t)o->iterations + 1, &out->history));
done:
    return status;
}

eg_status eg_krylov_measure_null(eg_krylov *krylov)
{
    const eg_vector_pair pair = {krylov->options.null_vector, krylov->options.null_weights};
    if (!pair.x) return EG_OK;
    eg_status status = eg_vectors_dots(krylov->vectors, 1, &pair, &krylov->null_product);
    if (status == EG_OK && !(krylov->null_product > 0.0))
        status = eg_fail(krylov->ctx, EG_ERROR_ARGUMENT,
                         "the null vector times its weights is %g; it must be positive",
                         krylov->null_product);
    return status;
}

void eg_krylov_free(eg_krylov *krylov)
{
    if (krylov->ctx) eg_release(krylov->ctx, &krylov->history);
}

/* v -= along (across·v) / (n·w) */
static eg_status project(eg_krylov *krylov, eg_buffer *along, eg_buffer *across, eg_buffer *v)
{
    double sum;
    eg_status status = EG_OK;
    if (!krylov->options.null_vector) return EG_OK;
    EG_TRY(eg_vectors_dots(krylov->vectors, 1, &(eg_vector_pair){across, v}, &sum));
    EG_TRY(
        eg_vectors_add(krylov->vectors, 1.0, v, 1, &(double){-sum / krylov->null_product}, &along));
done:
    return status;
}

eg_status eg_krylov_project_residual(eg_krylov *krylov, eg_buffer *r)
{
    return project(krylov, krylov->options.null_weights, krylov->options.null_vector, r);
}

eg_status eg_krylov_project_solution(eg_krylov *krylov, eg_buffer *x)
{
    return project(krylov, krylov->options.null_vector, krylov->options.null_weights, x);
}

eg_status eg_krylov_precondition(eg_krylov *krylov, eg_buffer *r, eg_buffer *z)
{
    eg_status status = krylov->preconditioned ? krylov->B.apply(krylov->B.user, r, z)
                                              : eg_vectors_copy(krylov->vectors, r, z);
    return status == EG_OK ? eg_krylov_project_solution(krylov, z) : status;
}

eg_status eg_krylov_residual(eg_krylov *krylov, bool zero, eg_buffer *b, eg_buffer *x, eg_buffer *r,
                             double *norm)
{
    eg_status status = EG_OK;
    EG_TRY(zero ? eg_vectors_copy(krylov->vectors, b, r)
                : eg_linear_residual(krylov->vectors, &krylov->A, b, x, r));
    EG_TRY(eg_krylov_project_residual(krylov, r));
    EG_TRY(eg_vectors_norm(krylov->vectors, r, norm));
done:
    return status;
}

/* ‖A‖ is seen in what A makes of r: rounding has left something of all eigenvectors there. */
eg_status eg_krylov_judge(eg_krylov *krylov, eg_buffer *x, eg_buffer *r, eg_buffer *spare,
                          eg_krylov_result *result)
{
    const double epsilon = krylov->vectors->type == EG_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    double sums[3];
    eg_status status = EG_OK;
    EG_TRY(krylov->A.apply(krylov->A.user, r, spare));
    EG_TRY(eg_vectors_dots(krylov->vectors, 3, (eg_vector_pair[]){{r, r}, {spare, spare}, {x, x}},
                           sums));
    const double norm = sqrt(sums[1] / sums[0]);
    result->outcome = result->residual <= ROUNDING_MOST * epsilon * norm * sqrt(sums[2])
                          ? EG_KRYLOV_ROUNDING
                          : EG_KRYLOV_STAGNATED;
done:
    return status;
}

eg_status eg_krylov_begin(eg_krylov *krylov, eg_buffer *b, eg_buffer *x, eg_buffer *r,
                          eg_krylov_result *result)
{
    const eg_krylov_options *o = &krylov->options;
    const bool to_rhs = o->reference == EG_KRYLOV_TO_RHS && !o->zero_guess;
    double reference = 0.0;
    eg_status status = EG_OK;
    *result = (eg_krylov_result){.outcome = EG_KRYLOV_LIMIT, .history = krylov->history};
    if (o->zero_guess) EG_TRY(eg_vectors_fill(krylov->vectors, 0.0, x));
    if (to_rhs)
        EG_TRY(o->null_vector ? eg_krylov_residual(krylov, true, b, x, r, &reference)
                              : eg_vectors_norm(krylov->vectors, b, &reference));
    EG_TRY(eg_krylov_residual(krylov, o->zero_guess, b, x, r, &result->residual));
    if (!to_rhs) reference = result->residual;
    result->target = fmax(o->relative * reference, o->absolute);
    krylov->history[0] = result->residual;
    if (!isfinite(result->residual))
        result->outcome = EG_KRYLOV_NOT_FINITE;
    else if (result->residual <= result->target)
        result->outcome = EG_KRYLOV_CONVERGED;
done:
    return status;
}
