/* Flexible preconditioned conjugate gradients.
 *
 *     z = B r
 *     β = z·(r - r_before) / (z_before·r_before),  r - r_before = -α q      [notay2000]
 *     p = z + β p,  q = A p
 *     α = z·r / p·q
 *     x += α p,  r -= α q
 *
 * One pass over the vectors serves z·r and z·q, one p·q, one the step and the norm of r, and one p:
 * 14 vectors are read or written in an iteration, besides what A and B do. */
#include "solver/krylov_parts.h"

#include <math.h>

struct eg_pcg {
    eg_krylov krylov;
    eg_buffer *r, *z, *p, *q;
};

static eg_status create(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                        const eg_krylov_options *options, eg_pcg **out)
{
    eg_context *ctx = eg_device_context(vectors->device);
    eg_pcg *pcg = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, 1, &pcg));
    EG_TRY(eg_krylov_prepare(vectors, A, B, options, &pcg->krylov));
    EG_TRY(eg_vectors_new(vectors, &pcg->r));
    EG_TRY(eg_vectors_new(vectors, &pcg->z));
    EG_TRY(eg_vectors_new(vectors, &pcg->p));
    EG_TRY(eg_vectors_new(vectors, &pcg->q));
    *out = pcg;
    return EG_OK;
done:
    if (pcg) pcg->krylov.ctx = ctx;
    eg_pcg_destroy(&pcg);
    return status;
}

eg_status eg_pcg_create(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                        const eg_krylov_options *options, eg_pcg **out)
{
    *out = NULL;
    eg_status status = create(vectors, A, B, options, out);
    if (vectors->comm) status = eg_comm_agree(vectors->comm, status);
    if (status == EG_OK) status = eg_krylov_measure_null(&(*out)->krylov);
    if (status != EG_OK) eg_pcg_destroy(out);
    return status;
}

void eg_pcg_destroy(eg_pcg **handle)
{
    if (!handle || !*handle) return;
    eg_pcg *pcg = *handle;
    eg_context *ctx = pcg->krylov.ctx;
    eg_buffer_destroy(&pcg->q);
    eg_buffer_destroy(&pcg->p);
    eg_buffer_destroy(&pcg->z);
    eg_buffer_destroy(&pcg->r);
    eg_krylov_free(&pcg->krylov);
    eg_release(ctx, handle);
}

void eg_pcg_lend(const eg_pcg *pcg, eg_linear *A, eg_buffer *vectors[2])
{
    *A = pcg->krylov.A;
    vectors[0] = pcg->p;
    vectors[1] = pcg->q;
}

/* What one iteration hands to the next. */
typedef struct search {
    double rho;   /* z·r of the direction at hand */
    double alpha; /* of the step before */
    bool fresh;   /* there is no step before */
} search;

/* Makes p the next direction. False in *go if the preconditioner cannot tell. */
static eg_status find_direction(eg_pcg *pcg, search *s, eg_krylov_result *result, bool *go)
{
    eg_vectors *vectors = pcg->krylov.vectors;
    double sums[2] = {0.0, 0.0};
    eg_status status = EG_OK;
    EG_TRY(eg_krylov_precondition(&pcg->krylov, pcg->r, pcg->z));
    const eg_vector_pair pairs[] = {{pcg->z, pcg->r}, {pcg->z, pcg->q}};
    EG_TRY(eg_vectors_dots(vectors, s->fresh ? 1 : 2, pairs, sums));
    const double beta = s->fresh ? 0.0 : -s->alpha * sums[1] / s->rho;
    s->rho = sums[0];
    *go = s->rho > 0.0;
    if (!*go) {
        result->outcome =
            isfinite(s->rho) ? EG_KRYLOV_INDEFINITE_PRECONDITIONER : EG_KRYLOV_NOT_FINITE;
        result->curvature = s->rho;
        goto done;
    }
    EG_TRY(eg_vectors_add(vectors, beta, pcg->p, 1, &(double){1.0}, &pcg->z));
done:
    return status;
}

/* Goes along p as far as it pays. False in *go if it never ends. */
static eg_status take_step(eg_pcg *pcg, search *s, eg_buffer *x, eg_krylov_result *result, bool *go)
{
    eg_krylov *krylov = &pcg->krylov;
    double curvature, square;
    eg_status status = EG_OK;
    EG_TRY(krylov->A.apply(krylov->A.user, pcg->p, pcg->q));
    EG_TRY(eg_vectors_dots(krylov->vectors, 1, &(eg_vector_pair){pcg->p, pcg->q}, &curvature));
    *go = curvature > 0.0;
    if (!*go) {
        result->outcome = isfinite(curvature) ? EG_KRYLOV_INDEFINITE : EG_KRYLOV_NOT_FINITE;
        result->curvature = curvature;
        goto done;
    }
    s->alpha = s->rho / curvature;
    s->fresh = false;
    EG_TRY(eg_vectors_advance(krylov->vectors, s->alpha, pcg->p, pcg->q, x, pcg->r, &square));
    result->residual = krylov->history[++result->iterations] = sqrt(square);
    if (!isfinite(square)) {
        result->outcome = EG_KRYLOV_NOT_FINITE;
        *go = false;
    }
done:
    return status;
}

/* The recursion says that it has converged: does the solution, too? *last is the norm found by the
 * check before. */
static eg_status verify(eg_pcg *pcg, search *s, eg_buffer *b, eg_buffer *x, double *last,
                        eg_krylov_result *result)
{
    eg_status status = EG_OK;
    EG_TRY(eg_krylov_residual(&pcg->krylov, false, b, x, pcg->r, &result->residual));
    pcg->krylov.history[result->iterations] = result->residual;
    if (!isfinite(result->residual))
        result->outcome = EG_KRYLOV_NOT_FINITE;
    else if (result->residual <= result->target)
        result->outcome = EG_KRYLOV_CONVERGED;
    else if (result->residual > 0.5 * *last)
        EG_TRY(eg_krylov_judge(&pcg->krylov, x, pcg->r, pcg->q, result));
    *last = result->residual;
    s->fresh = true;
done:
    return status;
}

eg_status eg_pcg_solve(eg_pcg *pcg, eg_buffer *b, eg_buffer *x, eg_krylov_result *result)
{
    eg_krylov *krylov = &pcg->krylov;
    search s = {.fresh = true};
    double last = INFINITY;
    bool go = true;
    eg_status status = EG_OK;
    EG_TRY(eg_krylov_begin(krylov, b, x, pcg->r, result));
    while (result->outcome == EG_KRYLOV_LIMIT && result->iterations < krylov->options.iterations) {
        EG_TRY(find_direction(pcg, &s, result, &go));
        if (go) EG_TRY(take_step(pcg, &s, x, result, &go));
        if (!go) break;
        if (result->residual <= result->target) EG_TRY(verify(pcg, &s, b, x, &last, result));
    }
    EG_TRY(eg_krylov_project_solution(krylov, x));
done:
    return status;
}
