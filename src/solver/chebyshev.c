/* Chebyshev smoothing: x gets better by a polynomial of B A, whose coefficients depend on
 * nothing but the largest eigenvalue.
 *
 * All kinds take the same steps, from r = b - A x and d = 0,
 *
 *     d = a d + c B r,  x += w d,  r -= A d
 *
 * The first kind is least on an interval [l, u] away from 0, with θ = (u + l)/2, δ = (u - l)/2,
 * σ = θ/δ and ρ = 1/(2σ - ρ_before) from 1/σ on: a = ρ ρ_before, c = 2ρ/δ, w = 1 [saad2003,
 * algorithm 12.1]. The fourth kind has a = (2i - 1)/(2i + 3), c = (8i + 4)/((2i + 3) u) in step
 * i from 0 on; with w = 1 its error p satisfies |√t p(t)| ≤ √u/(2k + 1) on (0, u], and the
 * optimal w make the largest value of t p²/(1 - p²) there, which bounds the convergence of a
 * V-cycle, least [lottes2023]. */
#include "solver/chebyshev.h"

#include <math.h>

/* Estimates of the largest eigenvalue are from below. */
#define SAFETY 1.1

/* Row k - 1: w of the optimal smoother of degree k; they have the defining property to 1e-14. */
static const double optimal[EG_CHEBYSHEV_OPTIMAL_MOST][EG_CHEBYSHEV_OPTIMAL_MOST] = {
    {1.12500000000000},
    {1.02387287570313, 1.26408905371085},
    {1.00842544782028, 1.08867839208730, 1.33753125909618},
    {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000},
    {1.00212930146164, 1.02173711549260, 1.07872433192603, 1.19810065292663, 1.41322542791682},
    {1.00128517255940, 1.01304293035233, 1.04678215124113, 1.11616489419675, 1.23829020218444,
     1.43524297106744}};

static void plan_first(const eg_chebyshev_options *o, eg_chebyshev_step *steps)
{
    const double upper = SAFETY * o->largest, lower = o->largest / o->ratio;
    const double theta = 0.5 * (upper + lower), delta = 0.5 * (upper - lower);
    double rho = delta / theta;
    steps[0] = (eg_chebyshev_step){.c = 1.0 / theta, .w = 1.0};
    for (int i = 1; i < o->degree; i++) {
        const double next = 1.0 / (2.0 * theta / delta - rho);
        steps[i] = (eg_chebyshev_step){.a = next * rho, .c = 2.0 * next / delta, .w = 1.0};
        rho = next;
    }
}

static void plan_fourth(const eg_chebyshev_options *o, eg_chebyshev_step *steps)
{
    const double upper = SAFETY * o->largest;
    for (int i = 0; i < o->degree; i++) {
        steps[i].a = i ? (2.0 * i - 1.0) / (2.0 * i + 3.0) : 0.0;
        steps[i].c = (8.0 * i + 4.0) / ((2.0 * i + 3.0) * upper);
        steps[i].w = o->kind == EG_CHEBYSHEV_OPTIMAL ? optimal[o->degree - 1][i] : 1.0;
    }
}

eg_status eg_chebyshev_plan(eg_context *ctx, eg_chebyshev_options *options,
                            eg_chebyshev_step *steps)
{
    const int most = options->kind == EG_CHEBYSHEV_OPTIMAL ? EG_CHEBYSHEV_OPTIMAL_MOST
                                                           : EG_CHEBYSHEV_DEGREE_MOST;
    if (options->degree == 0) options->degree = 2;
    if (options->ratio == 0.0)
        options->ratio = fmax(2.0, (double)options->degree * options->degree);
    if (options->degree < 1 || options->degree > most)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "a Chebyshev smoother of degree %d; 1 to %d are possible for this kind",
                       options->degree, most);
    if (!(options->largest > 0.0) || !isfinite(options->largest) || !(options->ratio > 1.0))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "a Chebyshev smoother for eigenvalues up to %g, and down to that by %g; the "
                       "first must be positive, the second above 1",
                       options->largest, options->ratio);
    if (options->kind == EG_CHEBYSHEV_FIRST)
        plan_first(options, steps);
    else
        plan_fourth(options, steps);
    return EG_OK;
}

struct eg_chebyshev {
    eg_context *ctx;     /* not owned */
    eg_vectors *vectors; /* not owned */
    eg_linear A, B;
    bool preconditioned;
    int degree;
    eg_chebyshev_step steps[EG_CHEBYSHEV_DEGREE_MOST];
    eg_buffer *r[2], *z, *d;
};

static eg_status create(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                        const eg_chebyshev_options *options, eg_chebyshev **out)
{
    eg_context *ctx = eg_device_context(vectors->device);
    eg_chebyshev_options o = *options;
    eg_chebyshev *chebyshev = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, 1, &chebyshev));
    *chebyshev =
        (eg_chebyshev){.ctx = ctx, .vectors = vectors, .A = A, .preconditioned = B != NULL};
    if (B) chebyshev->B = *B;
    EG_TRY(eg_chebyshev_plan(ctx, &o, chebyshev->steps));
    chebyshev->degree = o.degree;
    EG_TRY(eg_vectors_new(vectors, &chebyshev->r[0]));
    if (B && !B->smooth) EG_TRY(eg_vectors_new(vectors, &chebyshev->z));
    EG_TRY(eg_vectors_new(vectors, &chebyshev->d));
    EG_TRY(eg_vectors_new(vectors, &chebyshev->r[1]));
    *out = chebyshev;
    chebyshev = NULL;
done:
    eg_chebyshev_destroy(&chebyshev);
    return status;
}

eg_status eg_chebyshev_create(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                              const eg_chebyshev_options *options, eg_chebyshev **out)
{
    *out = NULL;
    eg_status status = create(vectors, A, B, options, out);
    if (vectors->comm) status = eg_comm_agree(vectors->comm, status);
    if (status != EG_OK) eg_chebyshev_destroy(out);
    return status;
}

void eg_chebyshev_destroy(eg_chebyshev **handle)
{
    if (!handle || !*handle) return;
    eg_chebyshev *chebyshev = *handle;
    eg_context *ctx = chebyshev->ctx;
    eg_buffer_destroy(&chebyshev->r[1]);
    eg_buffer_destroy(&chebyshev->d);
    eg_buffer_destroy(&chebyshev->z);
    eg_buffer_destroy(&chebyshev->r[0]);
    eg_release(ctx, handle);
}

/* d = a d + c B r, x = keep x + w d. */
static eg_status take_step(eg_chebyshev *chebyshev, const eg_chebyshev_step *step, double keep,
                           eg_buffer *r, eg_buffer *x)
{
    const eg_linear *B = &chebyshev->B;
    eg_buffer *z = r;
    eg_status status = EG_OK;
    if (B->smooth) return B->smooth(B->user, step->a, step->c, r, chebyshev->d, keep, step->w, x);
    if (chebyshev->preconditioned) {
        z = chebyshev->z;
        EG_TRY(B->apply(B->user, r, z));
    }
    EG_TRY(
        eg_vectors_smooth(chebyshev->vectors, step->a, step->c, z, chebyshev->d, keep, step->w, x));
done:
    return status;
}

eg_status eg_chebyshev_smooth(eg_chebyshev *chebyshev, eg_buffer *b, eg_buffer *x, bool zero)
{
    const eg_linear *A = &chebyshev->A;
    eg_buffer *r = b; /* from 0 */
    eg_status status = EG_OK;
    if (!zero) {
        r = chebyshev->r[0];
        EG_TRY(eg_linear_residual(chebyshev->vectors, A, b, x, r));
    }
    for (int i = 0; i < chebyshev->degree; i++) {
        EG_TRY(take_step(chebyshev, &chebyshev->steps[i], zero && i == 0 ? 0.0 : 1.0, r, x));
        if (i + 1 == chebyshev->degree) break;
        eg_buffer *next = r == chebyshev->r[0] ? chebyshev->r[1] : chebyshev->r[0];
        EG_TRY(eg_linear_residual(chebyshev->vectors, A, r, chebyshev->d, next));
        r = next;
    }
done:
    return status;
}

static eg_status apply(void *user, eg_buffer *x, eg_buffer *y)
{
    return eg_chebyshev_smooth(user, x, y, true);
}

eg_linear eg_chebyshev_linear(eg_chebyshev *chebyshev)
{
    return (eg_linear){.user = chebyshev, .apply = apply};
}
