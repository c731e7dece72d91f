/* First guesses from earlier solutions: exact for what the basis spans, on every device, orthonormal however
 * little solutions differ, and worth their while. */
#include "kernel/boxes.h"

#include "solver.h"

/* A diagonal matrix on a device, guesses and a solver for it. */
typedef struct system_of {
    eg_context *ctx;
    eg_vectors *vectors;
    eg_buffer *diagonal, *b, *x;
    diagonal_map map;
    eg_guess *guess;
    eg_pcg *pcg;
    size_t n;
} system_of;

static void system_make(system_of *s, eg_device *device, eg_type real, size_t n, double condition,
                        int most, double tolerance)
{
    double *d = host_values(n);
    *s = (system_of){.ctx = eg_device_context(device), .n = n};
    TEST_OK(s->ctx, eg_vectors_create_plain(device, NULL, real, n, &s->vectors));
    TEST_OK(s->ctx, eg_vectors_new(s->vectors, &s->diagonal));
    TEST_OK(s->ctx, eg_vectors_new(s->vectors, &s->b));
    TEST_OK(s->ctx, eg_vectors_new(s->vectors, &s->x));
    for (size_t i = 0; i < n; i++)
        d[i] = pow(condition, n > 1 ? (double)i / (double)(n - 1) : 0.0);
    put_values(s->diagonal, n, d);
    s->map = (diagonal_map){s->vectors, s->diagonal};
    TEST_OK(s->ctx, eg_guess_create(s->vectors, most, NULL, NULL, &s->guess));
    const eg_krylov_options options = {.relative = tolerance, .reference = EG_KRYLOV_TO_RHS};
    TEST_OK(s->ctx, eg_pcg_create(s->vectors, diagonal_linear(&s->map), NULL, &options, &s->pcg));
    free(d);
}

static void system_free(system_of *s)
{
    eg_pcg_destroy(&s->pcg);
    eg_guess_destroy(&s->guess);
    eg_buffer_destroy(&s->x);
    eg_buffer_destroy(&s->b);
    eg_buffer_destroy(&s->diagonal);
    eg_vectors_destroy(&s->vectors);
}

/* Iterations of a solve for b [n]. */
static int solve(system_of *s, const double *b, bool learn)
{
    eg_krylov_result result;
    put_values(s->b, s->n, b);
    TEST_OK(s->ctx, eg_vectors_fill(s->vectors, 0, s->x));
    TEST_OK(s->ctx, eg_guess_make(s->guess, s->b, s->x));
    TEST_OK(s->ctx, eg_pcg_solve(s->pcg, s->b, s->x, &result));
    assert_true(result.outcome == EG_KRYLOV_CONVERGED || result.outcome == EG_KRYLOV_ROUNDING);
    if (learn) TEST_OK(s->ctx, eg_guess_learn(s->guess, s->pcg, s->x));
    return result.iterations;
}

/* What has been solved needs no iterations, nor does a combination; what was solved longer ago than the
 * basis remembers does. */
static void check_memory(eg_device *device, eg_type real)
{
    enum { COUNT = 6, MOST = 3 };
    static const size_t sizes[] = {1, 40, 1001};
    const bool twice = real == EG_F64;
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        const size_t n = sizes[k];
        system_of s;
        system_make(&s, device, real, n, 30, MOST, twice ? 1e-9 : 1e-4);
        double *b[COUNT], *sum = host_values(n);
        now_at(device, real, "n = %zu", n);
        for (int i = 0; i < COUNT; i++) {
            const int iterations = solve(&s, b[i] = random_values(n, 11 + (uint64_t)i), true);
            assert_true(iterations > 0 || n == 1);
        }
        assert_int_equal(eg_guess_count(s.guess), n == 1 ? 1 : MOST);
        for (size_t v = 0; v < n; v++)
            for (int i = 0; i < MOST; i++)
                sum[v] += (1.5 - 0.7 * i) * b[COUNT - 1 - i][v];
        const eg_krylov_options loose = {.relative = twice ? 1e-7 : 2e-3,
                                         .reference = EG_KRYLOV_TO_RHS};
        eg_pcg_destroy(&s.pcg);
        TEST_OK(s.ctx, eg_pcg_create(s.vectors, diagonal_linear(&s.map), NULL, &loose, &s.pcg));
        assert_int_equal(solve(&s, sum, false), 0);
        for (int i = 0; i < COUNT && n > 1; i++)
            assert_true((solve(&s, b[i], false) == 0) == (i >= COUNT - MOST));
        eg_guess_resume(s.guess, 0);
        assert_true(solve(&s, sum, false) > 0);
        for (int i = 0; i < COUNT; i++)
            free(b[i]);
        free(sum);
        system_free(&s);
    }
}

static void test_guess__spans_the_last_solutions_and_no_others(void **state)
{
    (void)state;
    on_every_device(check_memory);
}

/* Right-hand sides that change smoothly with time. */
static void make_smooth(size_t n, double t, double *b)
{
    for (size_t i = 0; i < n; i++)
        b[i] = sin(0.01 * (double)i + t) + 0.3 * cos(0.003 * (double)i - 2 * t);
}

/* Iterations in all of steps 10 to 19 with guesses from so many solutions; 0: none. */
static int count_iterations(eg_device *device, int most, double dt)
{
    enum { N = 300 };
    system_of s;
    system_make(&s, device, EG_F64, N, 3e2, most ? most : 1, 1e-8);
    double b[N];
    int all = 0;
    for (int step = 0; step < 20; step++) {
        make_smooth(N, dt * step, b);
        const int iterations = solve(&s, b, most > 0);
        if (step >= 10) all += iterations;
    }
    system_free(&s);
    return all;
}

static void check_gain(eg_device *device)
{
    const int none = count_iterations(device, 0, 0.01), one = count_iterations(device, 1, 0.01);
    const int two = count_iterations(device, 2, 0.01), eight = count_iterations(device, 8, 0.01);
    /* The data are of a space of dimension 4. */
    assert_true(one < 0.9 * none && two < 0.9 * one && eight < 0.5 * two);
}

static void test_guess__iterations_fall_with_what_is_remembered(void **state)
{
    (void)state;
    on_one_core(check_gain);
}

/* The basis of guesses as vectors of its own: out [most][n]. */
static void get_basis(eg_buffer *basis, size_t offset, const eg_vector_part *part, int most,
                      size_t n, double *out)
{
    const size_t lanes = (size_t)part->lanes, all = eg_buffer_count(basis);
    double *host = host_values(all);
    get_values(basis, all, host);
    for (size_t k = 0; k < (size_t)most; k++)
        for (size_t i = 0; i < n; i++)
            out[k * n + i] = host[offset + (i / lanes * (size_t)most + k) * lanes + i % lanes];
    free(host);
}

/* Solutions that approach a limit, so that what is new of them soon is little more than what the solver
 * leaves undone: that must not spoil what the basis knows of the large part. */
static void check_steady(eg_device *device)
{
    enum { N = 200, MOST = 6, STEPS = 40 };
    system_of s;
    system_make(&s, device, EG_F64, N, 1e3, MOST, 1e-10);
    const eg_vector_part *part = &s.vectors->parts[0];
    const size_t offset = EG_OFFSET_BLOCK, values = s.vectors->count * MOST + 2 * offset;
    double b[N], x[N], v[MOST * N], d[N];
    eg_buffer *basis = NULL;
    eg_guess_destroy(&s.guess);
    TEST_OK(s.ctx, eg_buffer_create(device, EG_F64, values, &basis));
    TEST_OK(s.ctx, eg_buffer_fill(basis, 0, values, &(double){0}));
    TEST_OK(s.ctx, eg_guess_create(s.vectors, MOST, basis, &offset, &s.guess));
    int first = 0, last = 0;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N; i++) {
            b[i] = 0;
            for (int j = 0; j < 10; j++)
                b[i] += pow(1 - 0.08 * j, step) * cos((0.2 + 0.1 * j) * i);
        }
        last = solve(&s, b, true);
        if (last > 0) get_values(s.x, N, x);
        if (step == 0) first = last;
    }
    assert_true(last < first / 2);
    get_basis(basis, offset, part, MOST, N, v);
    get_values(s.diagonal, N, d);
    for (int k = 0; k < MOST; k++)
        for (int l = 0; l <= k; l++) {
            double product = 0;
            for (int i = 0; i < N; i++)
                product += v[k * N + i] * d[i] * v[l * N + i];
            assert_near(product, k == l, 1e-9, "v_k·A v_l", (size_t)(k * MOST + l));
        }
    /* The first is the last solution that was not known before. */
    double scale = 0, size = 0;
    for (int i = 0; i < N; i++) {
        scale += x[i] * v[i];
        size += v[i] * v[i];
    }
    for (int i = 0; i < N; i++)
        assert_near(v[i] * scale / size, x[i], 1e-11 * sqrt(size) * scale / size, "x", (size_t)i);
    system_free(&s);
    eg_buffer_destroy(&basis);
}

static void test_guess__the_basis_stays_orthonormal_where_solutions_hardly_differ(void **state)
{
    (void)state;
    on_one_core(check_steady);
}

/* A chain of springs with free ends: constants are its null space. */
static eg_csr *make_chain(eg_context *ctx, int32_t n)
{
    int32_t *row = calloc((size_t)n * 4, sizeof *row), *column = calloc((size_t)n * 4, sizeof *row);
    double *value = host_values((size_t)n * 4);
    int64_t count = 0;
    eg_csr *a = NULL;
    assert_non_null(row);
    assert_non_null(column);
    for (int32_t i = 0; i + 1 < n; i++)
        for (int k = 0; k < 4; k++) {
            row[count] = i + k / 2, column[count] = i + k % 2;
            value[count++] = k == 0 || k == 3 ? 1 : -1;
        }
    TEST_OK(ctx, eg_csr_from_entries(ctx, n, n, count, row, column, value, &a));
    free(value);
    free(column);
    free(row);
    return a;
}

static void check_singular(eg_device *device)
{
    enum { N = 60 };
    eg_context *ctx = eg_device_context(device);
    eg_vectors *vectors = NULL;
    eg_csr *chain = make_chain(ctx, N);
    eg_sparse *a = NULL;
    eg_buffer *ones = NULL, *b = NULL, *x = NULL;
    eg_guess *guess = NULL;
    eg_pcg *pcg = NULL;
    TEST_OK(ctx, eg_vectors_create_plain(device, NULL, EG_F64, N, &vectors));
    TEST_OK(ctx, eg_sparse_create(device, EG_F64, chain, &a));
    TEST_OK(ctx, eg_vectors_new(vectors, &ones));
    TEST_OK(ctx, eg_vectors_fill(vectors, 1, ones));
    TEST_OK(ctx, eg_vectors_new(vectors, &b));
    TEST_OK(ctx, eg_vectors_new(vectors, &x));
    TEST_OK(ctx, eg_guess_create(vectors, 3, NULL, NULL, &guess));
    const eg_krylov_options options = {
        .relative = 1e-10, .reference = EG_KRYLOV_TO_RHS, .null_vector = ones};
    TEST_OK(ctx, eg_pcg_create(vectors, eg_sparse_linear(a), NULL, &options, &pcg));
    int iterations[4];
    for (int step = 0; step < 4; step++) {
        eg_krylov_result result;
        double values[N], sum = 0, found[N], back[N];
        for (int i = 0; i < N; i++)
            sum += values[i] = sin(0.2 * i + (step % 2)) + 0.5; /* with what A cannot reach */
        put_values(b, N, values);
        TEST_OK(ctx, eg_guess_make(guess, b, x));
        TEST_OK(ctx, eg_pcg_solve(pcg, b, x, &result));
        assert_int_equal(result.outcome, EG_KRYLOV_CONVERGED);
        iterations[step] = result.iterations;
        if (result.iterations > 0) TEST_OK(ctx, eg_guess_learn(guess, pcg, x));
        get_values(x, N, found);
        eg_csr_apply(chain, found, back);
        double mean = 0;
        for (int i = 0; i < N; i++) {
            assert_near(back[i], values[i] - sum / N, 1e-8, "A x", (size_t)i);
            mean += found[i] / N;
        }
        assert_near(mean, 0, 1e-8, "the mean", (size_t)step);
    }
    assert_true(iterations[0] > 10 && iterations[1] > 10);
    assert_true(iterations[2] <= 2 && iterations[3] <= 2); /* the data of steps 0 and 1 */
    eg_pcg_destroy(&pcg);
    eg_guess_destroy(&guess);
    eg_buffer_destroy(&x);
    eg_buffer_destroy(&b);
    eg_buffer_destroy(&ones);
    eg_sparse_destroy(&a);
    eg_csr_destroy(&chain);
    eg_vectors_destroy(&vectors);
}

static void test_guess__constants_that_count_for_nothing_do_no_harm(void **state)
{
    (void)state;
    on_one_core(check_singular);
}

/* What x·b of some solves is. */
static void make_solutions(const char *spec, double *sums)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, spec, &device));
    system_of s;
    system_make(&s, device, EG_F64, 7001, 1e2, 4, 1e-8);
    double *b = host_values(s.n);
    for (int step = 0; step < 8; step++) {
        make_smooth(s.n, 0.1 * step, b);
        (void)solve(&s, b, true);
        TEST_OK(ctx, eg_vectors_dots(s.vectors, 1, &(eg_vector_pair){s.x, s.b}, &sums[step]));
    }
    free(b);
    system_free(&s);
    eg_device_close(&device);
    test_context_free(&ctx);
}

static void test_guess__the_same_bits_for_every_number_of_threads(void **state)
{
    double one[8], three[8];
    (void)state;
    make_solutions("cpu:1", one);
    make_solutions("cpu:3", three);
    assert_memory_equal(one, three, sizeof one);
}

static void check_arguments(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    eg_vectors *vectors = NULL;
    eg_guess *guess = NULL;
    TEST_OK(ctx, eg_vectors_create_plain(device, NULL, EG_F64, 5, &vectors));
    static const int wrong[] = {-1, 0, EG_GUESS_MOST + 1};
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        assert_int_equal(eg_guess_create(vectors, wrong[i], NULL, NULL, &guess), EG_ERROR_ARGUMENT);
        assert_null(guess);
    }
    TEST_OK(ctx, eg_guess_create(vectors, 2, NULL, NULL, &guess));
    eg_guess_resume(guess, 7);
    assert_int_equal(eg_guess_count(guess), 2);
    eg_guess_resume(guess, -3);
    assert_int_equal(eg_guess_count(guess), 0);
    eg_guess_destroy(&guess);
    eg_guess_destroy(&guess);
    eg_guess_destroy(NULL);
    eg_vectors_destroy(&vectors);
}

static void test_guess__wrong_counts_are_refused(void **state)
{
    (void)state;
    on_one_core(check_arguments);
}

static eg_status create_and_use(eg_device *device)
{
    eg_vectors *vectors = NULL;
    eg_buffer *b = NULL, *x = NULL;
    eg_guess *guess = NULL;
    eg_pcg *pcg = NULL;
    eg_krylov_result result;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_create_plain(device, NULL, EG_F64, 9, &vectors));
    EG_TRY(eg_vectors_new(vectors, &b));
    EG_TRY(eg_vectors_new(vectors, &x));
    EG_TRY(eg_vectors_fill(vectors, 3, b));
    diagonal_map diagonal = {vectors, b};
    EG_TRY(eg_pcg_create(vectors, diagonal_linear(&diagonal), NULL, NULL, &pcg));
    EG_TRY(eg_guess_create(vectors, 2, NULL, NULL, &guess));
    const long before = test_memory.calls;
    for (int i = 0; i < 2; i++) {
        EG_TRY(eg_guess_make(guess, b, x));
        EG_TRY(eg_pcg_solve(pcg, b, x, &result));
        EG_TRY(eg_guess_learn(guess, pcg, x));
    }
    assert_int_equal(test_memory.calls, before); /* nothing is allocated in use */
done:
    eg_guess_destroy(&guess);
    eg_pcg_destroy(&pcg);
    eg_buffer_destroy(&x);
    eg_buffer_destroy(&b);
    eg_vectors_destroy(&vectors);
    return status;
}

static void test_guess__failed_allocations_lose_nothing(void **state)
{
    (void)state;
    device_allocation_sweep(create_and_use, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_guess__spans_the_last_solutions_and_no_others),
        KERNEL_TEST(test_guess__iterations_fall_with_what_is_remembered),
        KERNEL_TEST(test_guess__the_basis_stays_orthonormal_where_solutions_hardly_differ),
        KERNEL_TEST(test_guess__constants_that_count_for_nothing_do_no_harm),
        cmocka_unit_test(test_guess__the_same_bits_for_every_number_of_threads),
        KERNEL_TEST(test_guess__wrong_counts_are_refused),
        cmocka_unit_test(test_guess__failed_allocations_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
