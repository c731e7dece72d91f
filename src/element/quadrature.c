/* Jacobi polynomials and the Gauss rules in one dimension.
 *
 * Nodes are found in long double by Newton's method, kept in a bracket that Sturm's theorem gives,
 * and are right to the last digit of a double. Gauss weights are the reciprocals of Σ p_k(x)², a
 * sum of positive terms; those of Lobatto and Radau follow from the Legendre polynomial [davis1984,
 * chapter 2]. */
#include "element/element.h"

#include <assert.h>
#include <math.h>

/* The orthonormal Jacobi polynomials by their three-term recurrence
 *     a_{k+1} p_{k+1} = (x - b_k) p_k - a_k p_{k-1}
 * and the derivative of that: p_n and p_n' at x, Σ p_k² over k < n, and the number of roots of p_n
 * that are greater than x, which is that of changes of sign along p_0 … p_n. */
typedef struct jacobi_values {
    long double p, derivative, sum_of_squares;
    int roots_above;
} jacobi_values;

static long double coefficient_a(int k, long double alpha, long double beta)
{
    long double ab = alpha + beta;
    if (k == 1) /* n + alpha + beta cancels; both may be 0 */
        return 2 / (2 + ab) * sqrtl((1 + alpha) * (1 + beta) / (3 + ab));
    return 2 / (2 * k + ab) *
           sqrtl(k * (k + ab) * (k + alpha) * (k + beta) / ((2 * k + ab - 1) * (2 * k + ab + 1)));
}

static long double coefficient_b(int k, long double alpha, long double beta)
{
    long double ab = alpha + beta;
    if (k == 0) return (beta - alpha) / (ab + 2);
    return (beta - alpha) * ab / ((2 * k + ab) * (2 * k + ab + 2));
}

static jacobi_values jacobi(int n, long double alpha, long double beta, long double x)
{
    /* log of the integral of the weight function */
    long double measure = (alpha + beta + 1) * logl(2.0L) + lgammal(alpha + 1) + lgammal(beta + 1) -
                          lgammal(alpha + beta + 2);
    long double before = 0, before_derivative = 0, a = 0, sum = 0;
    long double p = expl(-measure / 2), derivative = 0;
    int roots_above = 0;
    bool negative = false;
    for (int k = 0; k < n; k++) {
        long double next_a = coefficient_a(k + 1, alpha, beta), b = coefficient_b(k, alpha, beta);
        long double next = ((x - b) * p - a * before) / next_a;
        long double next_derivative = (p + (x - b) * derivative - a * before_derivative) / next_a;
        sum += p * p;
        if (next != 0 && (next < 0) != negative) {
            roots_above++;
            negative = !negative;
        }
        before = p;
        before_derivative = derivative;
        p = next;
        derivative = next_derivative;
        a = next_a;
    }
    return (jacobi_values){p, derivative, sum, roots_above};
}

double eg_jacobi(int n, double alpha, double beta, double x)
{
    assert(n >= 0 && alpha > -1 && beta > -1);
    return (double)jacobi(n, alpha, beta, x).p;
}

double eg_jacobi_derivative(int n, double alpha, double beta, double x)
{
    assert(n >= 0 && alpha > -1 && beta > -1);
    return (double)jacobi(n, alpha, beta, x).derivative;
}

/* Root k of p_n, counted from 0 upwards: bisection by the number of roots on either side until the
 * root is alone in its bracket, then Newton's method, which may not leave it, and two last
 * steps. */
static bool find_root(int n, int k, long double alpha, long double beta, long double guess,
                      long double *root)
{
    const int most_steps = 300, last_steps = 3;
    long double low = -1, high = 1, x = guess;
    int below_low = 0, below_high = n, last = 0;
    for (int step = 0; step < most_steps && last < last_steps; step++) {
        jacobi_values at = jacobi(n, alpha, beta, x);
        long double change = at.p / at.derivative, next = x - change;
        if (last > 0) {
            x = next;
            last++;
            continue;
        }
        int below = n - at.roots_above;
        if (below <= k) {
            low = x;
            below_low = below;
        } else {
            high = x;
            below_high = below;
        }
        bool alone = below_low == k && below_high == k + 1;
        bool close = alone && fabsl(change) < 1e-9L;
        if (close) last = 1;
        x = close || (alone && next >= low && next <= high) ? next : (low + high) / 2;
    }
    *root = x;
    return last == last_steps && x > -1 && x < 1;
}

/* The roots of p_n in ascending order, exactly antisymmetric where the weight is symmetric. */
static eg_status find_roots(eg_context *ctx, int n, double alpha, double beta, long double *roots)
{
    const long double pi = acosl(-1.0L);
    bool symmetric = alpha == beta;
    int wanted = symmetric ? n / 2 : n;
    for (int k = 0; k < wanted; k++) {
        long double guess =
            -cosl((k + beta / 2.0L + 0.75L) * pi / (n + (alpha + beta + 1.0L) / 2.0L));
        bool ok = find_root(n, k, alpha, beta, guess, &roots[k]);
        if (!ok || (k > 0 && roots[k] <= roots[k - 1]))
            return eg_fail(ctx, EG_ERROR_NUMERIC,
                           "root %d of the Jacobi polynomial of degree %d with exponents %g and %g "
                           "was not found",
                           k, n, alpha, beta);
    }
    for (int k = wanted; k < n; k++)
        roots[k] = 2 * k + 1 == n ? 0 : -roots[n - 1 - k];
    return EG_OK;
}

static eg_status check_count(eg_context *ctx, const char *rule, int n, int least)
{
    if (n >= least) return EG_OK;
    return eg_fail(ctx, EG_ERROR_ARGUMENT, "a %s rule needs at least %d point%s, not %d", rule,
                   least, least == 1 ? "" : "s", n);
}

eg_status eg_gauss_jacobi(eg_context *ctx, int n, double alpha, double beta, double *x, double *w)
{
    eg_status status = EG_OK;
    long double *roots = NULL;
    EG_TRY(check_count(ctx, "Gauss-Jacobi", n, 1));
    if (!(alpha > -1 && beta > -1 && isfinite(alpha) && isfinite(beta))) {
        status = eg_fail(ctx, EG_ERROR_ARGUMENT,
                         "exponents of a Gauss-Jacobi rule are greater than -1, not %g and %g",
                         alpha, beta);
        goto done;
    }
    EG_TRY(eg_new(ctx, (size_t)n, &roots));
    EG_TRY(find_roots(ctx, n, alpha, beta, roots));
    for (int i = 0; i < n; i++) {
        x[i] = (double)roots[i];
        if (w) w[i] = (double)(1 / jacobi(n, alpha, beta, roots[i]).sum_of_squares);
    }
done:
    eg_release(ctx, &roots);
    return status;
}

eg_status eg_gauss_legendre(eg_context *ctx, int n, double *x, double *w)
{
    return eg_gauss_jacobi(ctx, n, 0.0, 0.0, x, w);
}

/* The square of the Legendre polynomial that is 1 at 1. */
static long double legendre_squared(int n, long double x)
{
    long double p = jacobi(n, 0, 0, x).p;
    return p * p * 2 / (2 * n + 1);
}

eg_status eg_gauss_lobatto(eg_context *ctx, int n, double *x, double *w)
{
    eg_status status = EG_OK;
    long double *nodes = NULL;
    EG_TRY(check_count(ctx, "Gauss-Lobatto", n, 2));
    EG_TRY(eg_new(ctx, (size_t)n, &nodes));
    nodes[0] = -1;
    nodes[n - 1] = 1;
    EG_TRY(find_roots(ctx, n - 2, 1.0, 1.0, nodes + 1));
    for (int i = 0; i < n; i++) {
        x[i] = (double)nodes[i];
        if (w) w[i] = (double)(2 / ((long double)n * (n - 1) * legendre_squared(n - 1, nodes[i])));
    }
done:
    eg_release(ctx, &nodes);
    return status;
}

eg_status eg_gauss_radau(eg_context *ctx, int n, double *x, double *w)
{
    eg_status status = EG_OK;
    long double *nodes = NULL;
    EG_TRY(check_count(ctx, "Gauss-Radau", n, 1));
    EG_TRY(eg_new(ctx, (size_t)n, &nodes));
    nodes[0] = -1;
    EG_TRY(find_roots(ctx, n - 1, 0.0, 1.0, nodes + 1));
    for (int i = 0; i < n; i++) {
        x[i] = (double)nodes[i];
        if (w)
            w[i] =
                (double)((1 - nodes[i]) / ((long double)n * n * legendre_squared(n - 1, nodes[i])));
    }
done:
    eg_release(ctx, &nodes);
    return status;
}

eg_status eg_chebyshev_lobatto(eg_context *ctx, int n, double *x, double *w)
{
    eg_status status = check_count(ctx, "Chebyshev-Lobatto", n, 2);
    if (status != EG_OK) return status;
    const long double pi = acosl(-1.0L);
    const int last = n - 1;
    for (int i = 0; i < n; i++) {
        x[i] = (double)sinl(pi * (2 * i - last) / (2 * last)); /* -cos(pi i/last), antisymmetric */
        if (!w) continue;
        /* The integral of the interpolant, a sum of cosines [clenshaw1960]. */
        long double sum = 1;
        for (int k = 1; 2 * k <= last; k++) {
            long double term = cosl(2 * pi * k * i / last) / (4.0L * k * k - 1);
            sum -= 2 * k == last ? term : 2 * term;
        }
        w[i] = (double)((i == 0 || i == last ? 1 : 2) * sum / last);
    }
    return EG_OK;
}
