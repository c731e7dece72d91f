/* Chebyshev smoothers against the polynomials that define them, and Lanczos' estimates against
 * eigenvalues. */
#include "solver.h"

enum { N = 400 };

/* Chebyshev's polynomials of the first and of the fourth kind, the second by its definition
 * sin((k + 1/2) θ) / sin(θ / 2). */
static double first_kind(int k, double x)
{
    return fabs(x) <= 1.0 ? cos(k * acos(x))
                          : (x < 0.0 && k % 2 ? -1.0 : 1.0) * cosh(k * acosh(fabs(x)));
}

static double fourth_kind(int k, double x)
{
    const double theta = acos(x);
    return sin(0.5 * theta) > 1e-12 ? sin((k + 0.5) * theta) / sin(0.5 * theta) : 2.0 * k + 1.0;
}

/* What is left of an error of 1 at eigenvalue t, for eigenvalues up to `largest`. */
static double expected(eg_chebyshev_kind kind, int k, double largest, double ratio, double t)
{
    const double upper = 1.1 * largest, lower = largest / ratio;
    if (kind == EG_CHEBYSHEV_FOURTH) return fourth_kind(k, 1.0 - 2.0 * t / upper) / (2.0 * k + 1.0);
    const double center = (upper + lower) / (upper - lower);
    return first_kind(k, center - 2.0 * t / (upper - lower)) / first_kind(k, center);
}

/* The error of a smoother at eigenvalues t: out [N], by smoothing with the diagonal matrix of t.
 * B, if any, is 2: eigenvalues are then twice as large. */
static void measure(const eg_chebyshev_options *o, const double *t, bool preconditioned, bool zero,
                    double *out)
{
    plain p = plain_new("cpu:1", N);
    double ones[N], twos[N], guess[N], b[N];
    for (int i = 0; i < N; i++) {
        ones[i] = 1.0, twos[i] = 2.0;
        guess[i] = zero ? NAN : 1.0 + cos(i); /* not looked at */
        b[i] = zero ? -t[i] : 0.0;            /* the solution is -1, or 0 */
    }
    diagonal_map A = {p.vectors, plain_vector(&p, t)}, B = {p.vectors, plain_vector(&p, twos)};
    const eg_linear two = diagonal_linear(&B);
    eg_buffer *rhs = plain_vector(&p, b), *x = plain_vector(&p, guess);
    eg_chebyshev *smoother = NULL;
    TEST_OK(p.ctx, eg_chebyshev_create(p.vectors, diagonal_linear(&A), preconditioned ? &two : NULL,
                                       o, &smoother));
    TEST_OK(p.ctx, eg_chebyshev_smooth(smoother, rhs, x, zero));
    get_values(x, N, out);
    for (int i = 0; i < N; i++)
        out[i] = zero ? out[i] + 1.0 : out[i] / guess[i];
    if (zero) { /* the same as a linear map */
        double again[N];
        eg_buffer *y = plain_vector(&p, ones);
        const eg_linear map = eg_chebyshev_linear(smoother);
        TEST_OK(p.ctx, map.apply(map.user, rhs, y));
        get_values(y, N, again);
        for (int i = 0; i < N; i++)
            assert_true(again[i] + 1.0 == out[i]);
    }
    eg_chebyshev_destroy(&smoother);
    plain_free(&p);
}

static void test_chebyshev__errors_are_the_polynomials_that_define_them(void **state)
{
    (void)state;
    double t[N], error[N];
    for (int i = 0; i < N; i++)
        t[i] = 3.3 * (i + 1) / N;
    for (int kind = EG_CHEBYSHEV_FIRST; kind <= EG_CHEBYSHEV_FOURTH; kind++)
        for (int degree = 1; degree <= 8; degree++)
            for (int form = 0; form < 4; form++) {
                const bool preconditioned = form % 2, zero = form / 2;
                const eg_chebyshev_options o = {.kind = (eg_chebyshev_kind)kind,
                                                .degree = degree,
                                                .largest = preconditioned ? 6.0 : 3.0,
                                                .ratio = 7.0};
                measure(&o, t, preconditioned, zero, error);
                for (int i = 0; i < N; i++) {
                    const double e = expected((eg_chebyshev_kind)kind, degree, 3.0, 7.0, t[i]);
                    if (!(fabs(error[i] - e) < 1e-12))
                        fail_msg("kind %d, degree %d at %g: %.15g, expected %.15g", kind, degree,
                                 t[i], error[i], e);
                }
            }
}

/* A map that can compute b - A x itself is asked to, and gives the same. */
static void test_chebyshev__residuals_in_one_pass_give_the_same(void **state)
{
    (void)state;
    plain p = plain_new("cpu:1", N);
    eg_csr *csr = NULL;
    eg_sparse *a = NULL;
    double *b = random_values(N, 4), *guess = random_values(N, 5), x[2][N];
    TEST_OK(p.ctx, eg_csr_create(p.ctx, N, N, 3 * N, &csr));
    for (int32_t i = 0; i < N; i++) {
        int64_t at = csr->offset[i];
        for (int32_t j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < N) csr->column[at] = j, csr->value[at++] = j == i ? 2.0 : -1.0;
        csr->offset[i + 1] = at;
    }
    TEST_OK(p.ctx, eg_sparse_create(p.device, EG_F64, csr, &a));
    for (int zero = 0; zero < 2; zero++) {
        for (int which = 0; which < 2; which++) {
            eg_linear A = eg_sparse_linear(a);
            eg_chebyshev *smoother = NULL;
            eg_buffer *rhs = plain_vector(&p, b), *u = plain_vector(&p, guess);
            assert_non_null(A.residual);
            if (which) A.residual = NULL;
            TEST_OK(p.ctx, eg_chebyshev_create(p.vectors, A, NULL,
                                               &(eg_chebyshev_options){.degree = 4, .largest = 4.0},
                                               &smoother));
            TEST_OK(p.ctx, eg_chebyshev_smooth(smoother, rhs, u, zero != 0));
            get_values(u, N, x[which]);
            eg_chebyshev_destroy(&smoother);
        }
        assert_true(distance(N, x[0], x[1]) < 1e-14 * length_of(N, x[0]));
        assert_true(length_of(N, x[0]) > 0.1);
    }
    eg_sparse_destroy(&a);
    eg_csr_destroy(&csr);
    free(guess);
    free(b);
    plain_free(&p);
}

/* The optimal weights: t p² / (1 - p²) on (0, upper] has its limit at 0, all its maxima and its
 * last value on one level, which is lower than that of the fourth kind. */
static void test_chebyshev__optimal_weights_level_the_bound_of_the_v_cycle(void **state)
{
    (void)state;
    for (int degree = 1; degree <= EG_CHEBYSHEV_OPTIMAL_MOST; degree++) {
        eg_chebyshev_step steps[EG_CHEBYSHEV_DEGREE_MOST];
        double levels[2] = {0.0, 0.0};
        int maxima = 0;
        eg_context *ctx = test_context();
        for (int kind = EG_CHEBYSHEV_FOURTH; kind <= EG_CHEBYSHEV_OPTIMAL; kind++) {
            eg_chebyshev_options o = {
                .kind = (eg_chebyshev_kind)kind, .degree = degree, .largest = 1.0 / 1.1};
            double before = 0.0, last = 0.0;
            enum { POINTS = 200000 };
            TEST_OK(ctx, eg_chebyshev_plan(ctx, &o, steps));
            for (int i = 1; i <= POINTS; i++) {
                const double t = (double)i / POINTS;
                double x = 0.0, d = 0.0, r = 1.0; /* A = t, b = 1 */
                for (int k = 0; k < degree; k++) {
                    d = steps[k].a * d + steps[k].c * r;
                    x += steps[k].w * d;
                    r -= t * d;
                }
                const double square = (1.0 - t * x) * (1.0 - t * x);
                const double value = t * square / (1.0 - square);
                if (value > levels[kind - 1]) levels[kind - 1] = value;
                if (kind == EG_CHEBYSHEV_OPTIMAL && i > 2 && last > before && last > value) {
                    maxima++;
                    assert_true(fabs(last - levels[1]) < 1e-6 * last);
                }
                if (kind == EG_CHEBYSHEV_OPTIMAL && i == POINTS)
                    assert_true(fabs(value - levels[1]) < 1e-6 * value);
                before = last;
                last = value;
            }
        }
        assert_true(levels[1] < levels[0]);
        assert_int_equal(maxima, degree - 1);
        test_context_free(&ctx);
    }
}

static void test_chebyshev__wrong_options_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_chebyshev_step steps[EG_CHEBYSHEV_DEGREE_MOST];
    eg_chebyshev_options o = {.kind = EG_CHEBYSHEV_OPTIMAL, .degree = 7, .largest = 1.0};
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "1 to 6", eg_chebyshev_plan(ctx, &o, steps));
    o.kind = EG_CHEBYSHEV_FIRST;
    TEST_OK(ctx, eg_chebyshev_plan(ctx, &o, steps));
    o.degree = 17;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "1 to 16", eg_chebyshev_plan(ctx, &o, steps));
    o.degree = 2;
    o.largest = 0.0;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "positive", eg_chebyshev_plan(ctx, &o, steps));
    o.largest = 1.0;
    o.ratio = 0.5;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "above 1", eg_chebyshev_plan(ctx, &o, steps));
    test_context_free(&ctx);
}

/* --- Lanczos
 * ---------------------------------------------------------------------------------------- */

/* B^1/2 A B^1/2 has the eigenvalues of B A. */
static void test_lanczos__finds_extreme_eigenvalues(void **state)
{
    (void)state;
    enum { M = 60 };
    plain p = plain_new("cpu:1", M);
    double given[M], d[M], values[M], *scaled = host_values(M * M);
    for (int i = 0; i < M; i++) {
        given[i] = 0.5 + 0.3 * i;
        d[i] = 1.0 + 0.5 * sin(i);
    }
    double *a = symmetric_with(M, given, 9);
    for (int i = 0; i < M * M; i++)
        scaled[i] = a[i] * sqrt(d[i / M] * d[i % M]);
    TEST_OK(p.ctx, eg_dense_eigen_symmetric(p.ctx, M, scaled, values, NULL));
    dense_map map = dense_map_new(M, a);
    diagonal_map diagonal = {p.vectors, plain_vector(&p, d)};
    const eg_linear B = diagonal_linear(&diagonal);
    eg_spectrum s;
    TEST_OK(p.ctx, eg_lanczos(p.vectors, dense_linear(&map), NULL, M, &s));
    assert_true(fabs(s.largest - given[M - 1]) < 1e-9 && fabs(s.least - given[0]) < 1e-6);
    TEST_OK(p.ctx, eg_lanczos(p.vectors, dense_linear(&map), &B, M, &s));
    assert_true(fabs(s.largest - values[M - 1]) < 1e-9 * values[M - 1]);
    assert_true(fabs(s.least - values[0]) < 1e-6 * values[M - 1]);
    /* A few steps are enough for a smoother, and they are from inside. */
    TEST_OK(p.ctx, eg_lanczos(p.vectors, dense_linear(&map), &B, 12, &s));
    assert_true(s.largest < values[M - 1] * (1.0 + 1e-12) && s.largest > 0.93 * values[M - 1]);
    assert_true(s.least > values[0]);
    dense_map_free(&map);
    free(a);
    free(scaled);
    plain_free(&p);
}

/* A null space does not count, few eigenvalues end it early, and negative ones are named. */
static void test_lanczos__singular_and_indefinite_matrices_are_told_apart(void **state)
{
    (void)state;
    enum { M = 30 };
    plain p = plain_new("cpu:1", M);
    double values[M];
    eg_spectrum s;
    for (int i = 0; i < M; i++)
        values[i] = i % 3 == 0 ? 0.0 : i % 3 == 1 ? 2.0 : 5.0;
    double *a = symmetric_with(M, values, 9);
    dense_map map = dense_map_new(M, a);
    TEST_OK(p.ctx, eg_lanczos(p.vectors, dense_linear(&map), NULL, 10, &s));
    assert_true(fabs(s.least - 2.0) < 1e-10 && fabs(s.largest - 5.0) < 1e-10);
    dense_map_free(&map);
    free(a);
    values[4] = -9.0;
    a = symmetric_with(M, values, 9);
    map = dense_map_new(M, a);
    TEST_FAILS(p.ctx, EG_ERROR_NUMERIC, "positive definite",
               eg_lanczos(p.vectors, dense_linear(&map), NULL, 10, &s));
    TEST_FAILS(p.ctx, EG_ERROR_ARGUMENT, "0 steps",
               eg_lanczos(p.vectors, dense_linear(&map), NULL, 0, &s));
    memset(a, 0, M * M * sizeof *a);
    TEST_FAILS(p.ctx, EG_ERROR_NUMERIC, "zero",
               eg_lanczos(p.vectors, dense_linear(&map), NULL, 10, &s));
    dense_map_free(&map);
    free(a);
    plain_free(&p);
}

static eg_status estimate_and_smooth(eg_device *device)
{
    eg_vectors *vectors = NULL;
    eg_buffer *d = NULL, *x = NULL;
    eg_chebyshev *smoother = NULL;
    eg_spectrum spectrum;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_create_plain(device, NULL, EG_F64, 20, &vectors));
    EG_TRY(eg_vectors_new(vectors, &d));
    EG_TRY(eg_vectors_new(vectors, &x));
    EG_TRY(eg_vectors_fill(vectors, 2.0, d));
    diagonal_map map = {vectors, d};
    const eg_linear A = diagonal_linear(&map);
    EG_TRY(eg_lanczos(vectors, A, &A, 3, &spectrum));
    EG_TRY(eg_chebyshev_create(vectors, A, &A, &(eg_chebyshev_options){.largest = spectrum.largest},
                               &smoother));
    const long before = test_memory.calls;
    EG_TRY(eg_chebyshev_smooth(smoother, d, x, true));
    assert_int_equal(test_memory.calls, before);
done:
    eg_chebyshev_destroy(&smoother);
    eg_buffer_destroy(&x);
    eg_buffer_destroy(&d);
    eg_vectors_destroy(&vectors);
    return status;
}

static void test_chebyshev__failed_allocations_lose_nothing(void **state)
{
    (void)state;
    device_allocation_sweep(estimate_and_smooth, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chebyshev__errors_are_the_polynomials_that_define_them),
        cmocka_unit_test(test_chebyshev__residuals_in_one_pass_give_the_same),
        cmocka_unit_test(test_chebyshev__optimal_weights_level_the_bound_of_the_v_cycle),
        cmocka_unit_test(test_chebyshev__wrong_options_are_refused),
        cmocka_unit_test(test_lanczos__finds_extreme_eigenvalues),
        cmocka_unit_test(test_lanczos__singular_and_indefinite_matrices_are_told_apart),
        cmocka_unit_test(test_chebyshev__failed_allocations_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
