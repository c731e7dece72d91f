/* Restarted GMRES, preconditioned from the right, flexible [saad1993].
 *
 * A cycle builds an orthonormal basis v₀, v₁, … with A z_j = Σ h_ij v_i and z_j = B v_j, and
 * takes the combination of the z that makes the residual least: a small least-squares problem,
 * kept triangular by rotations. Vectors are made orthogonal by the classical process of Gram and
 * Schmidt, done twice: as good as can be, and four sums at a time. */
#include "solver/krylov_parts.h"

#include <math.h>

struct eg_gmres {
    eg_krylov krylov;
    int m;              /* directions of a cycle */
    eg_buffer **v, **z; /* [m + 1], [m] */
    double *h;          /* [m][m + 1]: column j of the triangle, before rotations of the basis */
    double *c, *s, *g;  /* [m], [m] rotations; [m + 1] the right-hand side, rotated */
    double *y;          /* [m + 1] sums, coefficients */
};

static eg_status create_vectors(eg_vectors *vectors, eg_context *ctx, int count, eg_buffer ***out)
{
    eg_status status = eg_new(ctx, (size_t)count, out);
    for (int i = 0; status == EG_OK && i < count; i++)
        status = eg_vectors_new(vectors, &(*out)[i]);
    return status;
}

static eg_status create(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                        const eg_krylov_options *options, eg_gmres **out)
{
    eg_context *ctx = eg_device_context(vectors->device);
    eg_gmres *gmres = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, 1, &gmres));
    EG_TRY(eg_krylov_prepare(vectors, A, B, options, &gmres->krylov));
    gmres->m = gmres->krylov.options.restart;
    const size_t m = (size_t)gmres->m;
    EG_TRY(create_vectors(vectors, ctx, gmres->m + 1, &gmres->v));
    EG_TRY(create_vectors(vectors, ctx, gmres->m, &gmres->z));
    EG_TRY(eg_new(ctx, m * (m + 1), &gmres->h));
    EG_TRY(eg_new(ctx, m, &gmres->c));
    EG_TRY(eg_new(ctx, m, &gmres->s));
    EG_TRY(eg_new(ctx, m + 1, &gmres->g));
    EG_TRY(eg_new(ctx, m + 1, &gmres->y));
    *out = gmres;
    return EG_OK;
done:
    if (gmres) gmres->krylov.ctx = ctx;
    eg_gmres_destroy(&gmres);
    return status;
}

eg_status eg_gmres_create(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                          const eg_krylov_options *options, eg_gmres **out)
{
    *out = NULL;
    eg_status status = create(vectors, A, B, options, out);
    if (vectors->comm) status = eg_comm_agree(vectors->comm, status);
    if (status == EG_OK) status = eg_krylov_measure_null(&(*out)->krylov);
    if (status != EG_OK) eg_gmres_destroy(out);
    return status;
}

void eg_gmres_destroy(eg_gmres **handle)
{
    if (!handle || !*handle) return;
    eg_gmres *gmres = *handle;
    eg_context *ctx = gmres->krylov.ctx;
    for (int i = 0; gmres->z && i < gmres->m; i++)
        eg_buffer_destroy(&gmres->z[i]);
    for (int i = 0; gmres->v && i <= gmres->m; i++)
        eg_buffer_destroy(&gmres->v[i]);
    double **const arrays[] = {&gmres->y, &gmres->g, &gmres->s, &gmres->c, &gmres->h};
    for (size_t i = 0; i < EG_COUNT(arrays); i++)
        eg_release(ctx, arrays[i]);
    eg_release(ctx, &gmres->z);
    eg_release(ctx, &gmres->v);
    eg_krylov_free(&gmres->krylov);
    eg_release(ctx, handle);
}

/* w -= Σ (v_i·w) v_i for i < count; adds the coefficients to h. */
static eg_status orthogonalise(eg_gmres *gmres, int count, eg_buffer *w, double *h)
{
    eg_vectors *vectors = gmres->krylov.vectors;
    eg_status status = EG_OK;
    for (int i = 0; i < count; i += EG_VECTOR_TERMS) {
        eg_vector_pair pairs[EG_VECTOR_TERMS];
        const int few = count - i < EG_VECTOR_TERMS ? count - i : EG_VECTOR_TERMS;
        for (int k = 0; k < few; k++)
            pairs[k] = (eg_vector_pair){gmres->v[i + k], w};
        EG_TRY(eg_vectors_dots(vectors, few, pairs, gmres->y + i));
    }
    for (int i = 0; i < count; i++) {
        h[i] += gmres->y[i];
        gmres->y[i] = -gmres->y[i];
    }
    EG_TRY(eg_vectors_add(vectors, 1.0, w, count, gmres->y, gmres->v));
done:
    return status;
}

/* Turns column j of h by the rotations so far and finds the one that makes it triangular. */
static void rotate(eg_gmres *gmres, int j, double *h)
{
    for (int i = 0; i < j; i++) {
        const double above = gmres->c[i] * h[i] + gmres->s[i] * h[i + 1];
        h[i + 1] = gmres->c[i] * h[i + 1] - gmres->s[i] * h[i];
        h[i] = above;
    }
    const double length = hypot(h[j], h[j + 1]);
    gmres->c[j] = length > 0.0 ? h[j] / length : 1.0;
    gmres->s[j] = length > 0.0 ? h[j + 1] / length : 0.0;
    h[j] = length;
    gmres->g[j + 1] = -gmres->s[j] * gmres->g[j];
    gmres->g[j] *= gmres->c[j];
}

/* Direction j: extends the basis. *more is false if A and B lead nowhere new. */
static eg_status extend(eg_gmres *gmres, int j, bool *more)
{
    eg_krylov *krylov = &gmres->krylov;
    eg_vectors *vectors = krylov->vectors;
    eg_buffer *w = gmres->v[j + 1];
    double *h = gmres->h + (size_t)j * (size_t)(gmres->m + 1);
    double before, after;
    eg_status status = EG_OK;
    for (int i = 0; i <= j + 1; i++)
        h[i] = 0.0;
    EG_TRY(eg_krylov_precondition(krylov, gmres->v[j], gmres->z[j]));
    EG_TRY(krylov->A.apply(krylov->A.user, gmres->z[j], w));
    EG_TRY(eg_krylov_project_residual(krylov, w));
    EG_TRY(eg_vectors_norm(vectors, w, &before));
    for (int twice = 0; twice < 2; twice++)
        EG_TRY(orthogonalise(gmres, j + 1, w, h));
    EG_TRY(eg_vectors_norm(vectors, w, &after));
    *more = after > 1e-14 * before;
    h[j + 1] = *more || !isfinite(after) ? after : 0.0;
    if (*more) EG_TRY(eg_vectors_scale(vectors, 1.0 / after, w));
    rotate(gmres, j, h);
done:
    return status;
}

/* x += Σ y_i z_i with the y that make the residual least, of n directions. */
static eg_status correct(eg_gmres *gmres, int n, eg_buffer *x)
{
    for (int i = n - 1; i >= 0; i--) {
        double sum = gmres->g[i];
        for (int j = i + 1; j < n; j++)
            sum -= gmres->h[(size_t)j * (size_t)(gmres->m + 1) + (size_t)i] * gmres->y[j];
        const double diagonal = gmres->h[(size_t)i * (size_t)(gmres->m + 1) + (size_t)i];
        gmres->y[i] = diagonal != 0.0 ? sum / diagonal : 0.0;
    }
    return eg_vectors_add(gmres->krylov.vectors, 1.0, x, n, gmres->y, gmres->z);
}

/* One cycle, from the residual in v[0] to a better x and its residual in v[0]. */
static eg_status run_cycle(eg_gmres *gmres, eg_buffer *b, eg_buffer *x, eg_krylov_result *result)
{
    eg_krylov *krylov = &gmres->krylov;
    const double before = result->residual;
    bool more = true;
    int n = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_scale(krylov->vectors, 1.0 / before, gmres->v[0]));
    gmres->g[0] = before;
    while (more && n < gmres->m && result->iterations < krylov->options.iterations) {
        EG_TRY(extend(gmres, n++, &more));
        const double norm = fabs(gmres->g[n]);
        krylov->history[++result->iterations] = norm;
        more = more && norm > result->target;
    }
    EG_TRY(correct(gmres, n, x));
    EG_TRY(eg_krylov_residual(krylov, false, b, x, gmres->v[0], &result->residual));
    krylov->history[result->iterations] = result->residual;
    if (!isfinite(result->residual))
        result->outcome = EG_KRYLOV_NOT_FINITE;
    else if (result->residual <= result->target)
        result->outcome = EG_KRYLOV_CONVERGED;
    else if (result->residual > (1.0 - 1e-6) * before && (n == gmres->m || !more))
        EG_TRY(eg_krylov_judge(krylov, x, gmres->v[0], gmres->v[1], result));
done:
    return status;
}

eg_status eg_gmres_solve(eg_gmres *gmres, eg_buffer *b, eg_buffer *x, eg_krylov_result *result)
{
    eg_krylov *krylov = &gmres->krylov;
    eg_status status = EG_OK;
    EG_TRY(eg_krylov_begin(krylov, b, x, gmres->v[0], result));
    while (result->outcome == EG_KRYLOV_LIMIT && result->iterations < krylov->options.iterations)
        EG_TRY(run_cycle(gmres, b, x, result));
    EG_TRY(eg_krylov_project_solution(krylov, x));
done:
    return status;
}
