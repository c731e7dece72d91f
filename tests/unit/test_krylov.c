/* PCG and GMRES against dense solves, at the number of iterations that theory knows, and what
 * they say when they cannot do it. */
#include "solver.h"

static double *spd(int n, double least, double most, uint64_t seed)
{
    double *values = host_values((size_t)n);
    for (int i = 0; i < n; i++)
        values[i] = least * pow(most / least, n > 1 ? (double)i / (n - 1) : 0.0);
    double *a = symmetric_with(n, values, seed);
    free(values);
    return a;
}

typedef struct solved {
    eg_krylov_result result;
    double *x; /* release with free() */
} solved;

enum method { PCG, GMRES };

/* Solves a x = b from `guess` (NULL: zeros). */
static solved solve(plain *p, enum method method, dense_map *a, const eg_linear *B,
                    const eg_krylov_options *options, const double *b, const double *guess)
{
    solved s = {.x = host_values((size_t)p->n)};
    eg_buffer *rhs = plain_vector(p, b), *x = plain_vector(p, guess);
    if (method == PCG) {
        eg_pcg *pcg = NULL;
        TEST_OK(p->ctx, eg_pcg_create(p->vectors, dense_linear(a), B, options, &pcg));
        TEST_OK(p->ctx, eg_pcg_solve(pcg, rhs, x, &s.result));
        s.result.history = NULL;
        eg_pcg_destroy(&pcg);
    } else {
        eg_gmres *gmres = NULL;
        TEST_OK(p->ctx, eg_gmres_create(p->vectors, dense_linear(a), B, options, &gmres));
        TEST_OK(p->ctx, eg_gmres_solve(gmres, rhs, x, &s.result));
        s.result.history = NULL;
        eg_gmres_destroy(&gmres);
    }
    get_values(x, (size_t)p->n, s.x);
    return s;
}

/* ‖b - A x‖ on the host. */
static double residual_of(int n, const double *a, const double *b, const double *x)
{
    double *ax = host_values((size_t)n);
    eg_dense_multiply(n, n, 1, a, x, ax);
    const double norm = distance(n, ax, b);
    free(ax);
    return norm;
}

static void test_pcg__solves_what_a_dense_solver_solves(void **state)
{
    (void)state;
    static const int sizes[] = {1, 7, 33, 130};
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        const int n = sizes[k];
        plain p = plain_new("cpu:1", n);
        double *a = spd(n, 0.01, 10.0, 3), *b = random_values((size_t)n, 4);
        double *guess = random_values((size_t)n, 5), *exact = host_values((size_t)n);
        dense_map map = dense_map_new(n, a);
        const eg_krylov_options options = {.relative = 1e-12};
        TEST_OK(p.ctx, eg_dense_cholesky_solve(p.ctx, n, 1, a, b, exact));
        for (int guessed = 0; guessed < 2; guessed++) {
            solved s = solve(&p, PCG, &map, NULL, &options, b, guessed ? guess : NULL);
            assert_int_equal(s.result.outcome, EG_KRYLOV_CONVERGED);
            assert_true(distance(n, s.x, exact) < 1e-9 * length_of(n, exact));
            /* The residual that it tells is the one of its solution. */
            const double true_norm = residual_of(n, a, b, s.x);
            assert_true(fabs(s.result.residual - true_norm) < 1e-14 * length_of(n, b) * n);
            free(s.x);
        }
        dense_map_free(&map);
        free(exact);
        free(guess);
        free(b);
        free(a);
        plain_free(&p);
    }
}

/* CG is done after as many steps as there are different eigenvalues. */
static void test_pcg__k_eigenvalues_take_k_iterations(void **state)
{
    (void)state;
    enum { N = 60 };
    static const double distinct[] = {1.0, 3.0, 7.0, 12.0};
    for (int k = 1; k <= 4; k++) {
        plain p = plain_new("cpu:1", N);
        double values[N], *b = random_values(N, 9);
        for (int i = 0; i < N; i++)
            values[i] = distinct[i % k];
        double *a = symmetric_with(N, values, 6);
        dense_map map = dense_map_new(N, a);
        solved s = solve(&p, PCG, &map, NULL, &(eg_krylov_options){.relative = 1e-10}, b, NULL);
        assert_int_equal(s.result.outcome, EG_KRYLOV_CONVERGED);
        assert_int_equal(s.result.iterations, k);
        /* One for each iteration, one for the initial residual, one to check. */
        assert_int_equal(map.applied, k + 2);
        free(s.x);
        dense_map_free(&map);
        free(a);
        free(b);
        plain_free(&p);
    }
}

/* Both measure against what they are told to. */
static void test_krylov__tolerances_are_relative_to_what_was_chosen(void **state)
{
    (void)state;
    enum { N = 50 };
    plain p = plain_new("cpu:1", N);
    double *a = spd(N, 0.1, 100.0, 2), *b = random_values(N, 8), *exact = host_values(N);
    double guess[N];
    dense_map map = dense_map_new(N, a);
    TEST_OK(p.ctx, eg_dense_cholesky_solve(p.ctx, N, 1, a, b, exact));
    for (int i = 0; i < N; i++)
        guess[i] = exact[i] * (1.0 + 1e-4 * (i % 3));
    const double rhs = length_of(N, b), initial = residual_of(N, a, b, guess);
    for (int method = PCG; method <= GMRES; method++) {
        eg_krylov_options o = {.relative = 1e-5};
        solved s = solve(&p, (enum method)method, &map, NULL, &o, b, guess);
        assert_true(fabs(s.result.target - 1e-5 * initial) < 1e-12 * rhs);
        free(s.x);
        o.reference = EG_KRYLOV_TO_RHS;
        s = solve(&p, (enum method)method, &map, NULL, &o, b, guess);
        assert_true(fabs(s.result.target - 1e-5 * rhs) < 1e-12 * rhs);
        free(s.x);
        o.absolute = 0.9 * initial;
        s = solve(&p, (enum method)method, &map, NULL, &o, b, guess);
        assert_true(s.result.target == o.absolute && s.result.residual <= o.absolute);
        free(s.x);
        /* A guess that is not looked at, whatever it holds. */
        o = (eg_krylov_options){.relative = 1e-5, .zero_guess = true};
        guess[3] = NAN;
        s = solve(&p, (enum method)method, &map, NULL, &o, b, guess);
        assert_int_equal(s.result.outcome, EG_KRYLOV_CONVERGED);
        assert_true(fabs(s.result.target - 1e-5 * rhs) < 1e-12 * rhs);
        guess[3] = exact[3];
        free(s.x);

        while (p.buffer_count)
            eg_buffer_destroy(&p.buffers[--p.buffer_count]);
    }
    dense_map_free(&map);
    free(exact);
    free(b);
    free(a);
    plain_free(&p);
}

/* The norms along the way, the last of which is that of the solution. */
static void test_pcg__keeps_the_history_and_stops_at_the_limit(void **state)
{
    (void)state;
    enum { N = 80, LIMIT = 12 };
    plain p = plain_new("cpu:1", N);
    double *a = spd(N, 1e-4, 1.0, 2), *b = random_values(N, 8), *x = host_values(N);
    double first[LIMIT + 1];
    dense_map map = dense_map_new(N, a);
    eg_buffer *rhs = plain_vector(&p, b), *u = plain_vector(&p, NULL);
    for (int limit = 1; limit <= LIMIT; limit++) {
        eg_pcg *pcg = NULL;
        eg_krylov_result r;
        TEST_OK(p.ctx,
                eg_pcg_create(p.vectors, dense_linear(&map), NULL,
                              &(eg_krylov_options){
                                  .relative = 1e-14, .iterations = limit, .zero_guess = true},
                              &pcg));
        TEST_OK(p.ctx, eg_pcg_solve(pcg, rhs, u, &r));
        assert_int_equal(r.outcome, EG_KRYLOV_LIMIT);
        assert_int_equal(r.iterations, limit);
        get_values(u, N, x);
        first[limit] = residual_of(N, a, b, x);
        first[0] = length_of(N, b);
        for (int i = 0; i <= limit; i++)
            assert_true(fabs(r.history[i] - first[i]) < 1e-12 * first[0]);
        assert_true(r.residual == r.history[limit]);
        eg_pcg_destroy(&pcg);
    }
    dense_map_free(&map);
    free(x);
    free(b);
    free(a);
    plain_free(&p);
}

/* The preconditioner takes the matrix's own scaling away. */
static void test_pcg__a_diagonal_preconditioner_undoes_scaling(void **state)
{
    (void)state;
    enum { N = 100 };
    plain p = plain_new("cpu:1", N);
    double *plain_a = spd(N, 1.0, 5.0, 12), *a = host_values(N * N), *b = random_values(N, 8);
    double d[N], inverse[N];
    for (int i = 0; i < N; i++)
        d[i] = pow(10.0, 6.0 * i / N - 3.0), inverse[i] = 1.0 / (d[i] * d[i]);
    for (int i = 0; i < N * N; i++)
        a[i] = d[i / N] * plain_a[i] * d[i % N];
    dense_map map = dense_map_new(N, a);
    diagonal_map diagonal = {p.vectors, plain_vector(&p, inverse)};
    const eg_linear B = diagonal_linear(&diagonal);
    const eg_krylov_options options = {.relative = 1e-8, .iterations = 200};
    solved with = solve(&p, PCG, &map, &B, &options, b, NULL);
    solved without = solve(&p, PCG, &map, NULL, &options, b, NULL);
    solved gmres = solve(&p, GMRES, &map, &B, &options, b, NULL);
    assert_int_equal(with.result.outcome, EG_KRYLOV_CONVERGED);
    assert_int_equal(gmres.result.outcome, EG_KRYLOV_CONVERGED);
    /* κ ≤ 5: the error of the energy norm falls by 0.38 each time; norms differ by 10⁶. */
    assert_in_range(with.result.iterations, 5, 33);
    assert_in_range(gmres.result.iterations, 5, 33);
    assert_int_equal(without.result.outcome, EG_KRYLOV_LIMIT);
    free(with.x);
    free(without.x);
    free(gmres.x);
    dense_map_free(&map);
    free(b);
    free(a);
    free(plain_a);
    plain_free(&p);
}

/* A preconditioner that is another one in every iteration. */
typedef struct changing {
    diagonal_map a, b;
    int calls;
} changing;

static eg_status apply_changing(void *user, eg_buffer *x, eg_buffer *y)
{
    changing *c = user;
    return diagonal_apply(c->calls++ % 2 ? &c->a : &c->b, x, y);
}

static void test_krylov__the_preconditioner_may_change(void **state)
{
    (void)state;
    enum { N = 90 };
    plain p = plain_new("cpu:1", N);
    double *a = spd(N, 1.0, 30.0, 12), *b = random_values(N, 8), even[N], odd[N];
    for (int i = 0; i < N; i++)
        even[i] = 1.0 + 0.1 * (i % 2), odd[i] = 1.1 - 0.1 * (i % 2);
    dense_map map = dense_map_new(N, a);
    changing c = {.a = {p.vectors, plain_vector(&p, even)},
                  .b = {p.vectors, plain_vector(&p, odd)}};
    const eg_linear B = {.user = &c, .apply = apply_changing};
    for (int method = PCG; method <= GMRES; method++) {
        solved s = solve(&p, (enum method)method, &map, &B, &(eg_krylov_options){.relative = 1e-10},
                         b, NULL);
        assert_int_equal(s.result.outcome, EG_KRYLOV_CONVERGED);
        assert_in_range(s.result.iterations, 10, 70);
        assert_true(residual_of(N, a, b, s.x) <= 1.01e-10 * length_of(N, b));
        free(s.x);
    }
    dense_map_free(&map);
    free(b);
    free(a);
    plain_free(&p);
}

/* --- what cannot be solved
 * ----------------------------------------------------------------------- */

static void test_pcg__names_negative_curvature(void **state)
{
    (void)state;
    enum { N = 20 };
    plain p = plain_new("cpu:1", N);
    double values[N], *b = random_values(N, 8);
    for (int i = 0; i < N; i++)
        values[i] = i == 4 ? -50.0 : 1.0 + i;
    double *a = symmetric_with(N, values, 3);
    dense_map map = dense_map_new(N, a);
    solved s = solve(&p, PCG, &map, NULL, NULL, b, NULL);
    assert_int_equal(s.result.outcome, EG_KRYLOV_INDEFINITE);
    assert_true(s.result.curvature < 0.0);
    assert_non_null(strstr(eg_krylov_outcome_text(s.result.outcome), "negative curvature"));
    free(s.x);
    free(a);
    dense_map_free(&map);

    for (int i = 0; i < N; i++)
        values[i] = 1.0 + i;
    a = symmetric_with(N, values, 3);
    map = dense_map_new(N, a);
    for (int i = 0; i < N; i++)
        values[i] = -1.0;
    diagonal_map negative = {p.vectors, plain_vector(&p, values)};
    const eg_linear B = diagonal_linear(&negative);
    s = solve(&p, PCG, &map, &B, NULL, b, NULL);
    assert_int_equal(s.result.outcome, EG_KRYLOV_INDEFINITE_PRECONDITIONER);
    assert_true(s.result.curvature < 0.0);
    free(s.x);
    b[7] = NAN;
    for (int method = PCG; method <= GMRES; method++) {
        s = solve(&p, (enum method)method, &map, NULL, NULL, b, NULL);
        assert_int_equal(s.result.outcome, EG_KRYLOV_NOT_FINITE);
        free(s.x);
    }
    dense_map_free(&map);
    free(a);
    free(b);
    plain_free(&p);
}

/* Asked for more than rounding allows; slow progress alone is not stagnation. */
static void test_krylov__tells_stagnation_from_slowness(void **state)
{
    (void)state;
    enum { N = 60 };
    plain p = plain_new("cpu:1", N);
    double *a = spd(N, 1e-4, 1.0, 2), *slow = spd(N, 1e-8, 1.0, 2), *b = random_values(N, 8);
    dense_map map = dense_map_new(N, a), slow_map = dense_map_new(N, slow);
    for (int method = PCG; method <= GMRES; method++) {
        const eg_krylov_options o = {.relative = 1e-17, .iterations = 5000, .restart = 70};
        solved s = solve(&p, (enum method)method, &map, NULL, &o, b, NULL);
        assert_int_equal(s.result.outcome, EG_KRYLOV_ROUNDING);
        assert_true(s.result.residual < 1e-11 * length_of(N, b)); /* ε‖A‖‖x‖ */
        free(s.x);
    }
    /* 1e-3 is within reach, but only after many iterations that bring next to nothing. */
    solved s = solve(&p, PCG, &slow_map, NULL,
                     &(eg_krylov_options){.relative = 1e-3, .iterations = 5000}, b, NULL);
    assert_int_equal(s.result.outcome, EG_KRYLOV_CONVERGED);
    assert_in_range(s.result.iterations, 2 * N, 5000);
    free(s.x);
    dense_map_free(&slow_map);
    dense_map_free(&map);
    free(b);
    free(slow);
    free(a);
    plain_free(&p);
}

/* Products that are wrong by more than rounding. */
static void test_pcg__a_careless_matrix_is_stagnation(void **state)
{
    (void)state;
    enum { N = 40 };
    plain p = plain_new("cpu:1", N);
    double *a = spd(N, 1e-2, 1.0, 2), *b = random_values(N, 8);
    dense_map map = dense_map_new(N, a);
    map.noise = 1e-9;
    solved s = solve(&p, PCG, &map, NULL, &(eg_krylov_options){.relative = 1e-12}, b, NULL);
    assert_int_equal(s.result.outcome, EG_KRYLOV_STAGNATED);
    free(s.x);
    dense_map_free(&map);
    free(b);
    free(a);
    plain_free(&p);
}

/* A cyclic shift: GMRES makes no progress at all before its last step. */
static void test_gmres__a_cycle_without_progress_is_stagnation(void **state)
{
    (void)state;
    enum { N = 40 };
    plain p = plain_new("cpu:1", N);
    double *a = host_values(N * N), b[N] = {1.0};
    for (int i = 0; i < N; i++)
        a[i * N + (i + 1) % N] = 1.0;
    dense_map map = dense_map_new(N, a);
    solved s = solve(&p, GMRES, &map, NULL, &(eg_krylov_options){.restart = 30}, b, NULL);
    assert_int_equal(s.result.outcome, EG_KRYLOV_STAGNATED);
    assert_int_equal(s.result.iterations, 30);
    free(s.x);
    s = solve(&p, GMRES, &map, NULL, &(eg_krylov_options){.restart = N}, b, NULL);
    assert_int_equal(s.result.outcome, EG_KRYLOV_CONVERGED);
    assert_int_equal(s.result.iterations, N);
    free(s.x);
    dense_map_free(&map);
    free(a);
    plain_free(&p);
}

static void test_gmres__solves_what_a_dense_solver_solves(void **state)
{
    (void)state;
    static const int sizes[] = {1, 6, 33, 90};
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        const int n = sizes[k];
        plain p = plain_new("cpu:1", n);
        double *a = random_values((size_t)(n * n), 3), *b = random_values((size_t)n, 4);
        double *exact = host_values((size_t)n);
        for (int i = 0; i < n; i++)
            a[i * n + i] += 0.8 * sqrt(n); /* nonsymmetric, eigenvalues around a disc */
        TEST_OK(p.ctx, eg_dense_solve(p.ctx, n, 1, a, b, exact));
        dense_map map = dense_map_new(n, a);
        for (int restart = 20; restart <= 100; restart += 80) {
            const eg_krylov_options o = {.relative = 1e-11, .restart = restart, .iterations = 3000};
            solved s = solve(&p, GMRES, &map, NULL, &o, b, NULL);
            assert_int_equal(s.result.outcome, EG_KRYLOV_CONVERGED);
            assert_true(distance(n, s.x, exact) < 1e-8 * length_of(n, exact));
            if (restart >= n) assert_in_range(s.result.iterations, 1, n);
            free(s.x);
        }
        dense_map_free(&map);
        free(exact);
        free(b);
        free(a);
        plain_free(&p);
    }
}

/* --- null spaces
 * ----------------------------------------------------------------------------------- */

/* The matrix of a ring with springs: constants are its null space. */
static void test_krylov__constants_are_projected_out(void **state)
{
    (void)state;
    enum { N = 64 };
    plain p = plain_new("cpu:1", N);
    double *a = host_values(N * N), *b = random_values(N, 8), w[N], ones[N], sum = 0, weight = 0;
    for (int i = 0; i < N; i++) {
        const double spring = 1.0 + 0.5 * (i % 3);
        const int j = (i + 1) % N;
        a[i * N + i] += spring, a[j * N + j] += spring;
        a[i * N + j] -= spring, a[j * N + i] -= spring;
        ones[i] = 1.0, w[i] = 1.0 + i % 4;
    }
    for (int i = 0; i < N; i++)
        sum += b[i], weight += w[i];
    dense_map map = dense_map_new(N, a);
    eg_buffer *n = plain_vector(&p, ones), *weights = plain_vector(&p, w);
    for (int method = PCG; method <= GMRES; method++)
        for (int weighted = 0; weighted < 2; weighted++) {
            solved s = solve(&p, (enum method)method, &map, NULL,
                             &(eg_krylov_options){.relative = 1e-10,
                                                  .restart = 70,
                                                  .null_vector = n,
                                                  .null_weights = weighted ? weights : NULL},
                             b, NULL);
            double mean = 0.0, reachable[N];
            assert_int_equal(s.result.outcome, EG_KRYLOV_CONVERGED);
            for (int i = 0; i < N; i++) {
                mean += (weighted ? w[i] : 1.0) * s.x[i];
                reachable[i] = b[i] - (weighted ? w[i] / weight : 1.0 / N) * sum;
            }
            assert_true(fabs(mean) < 1e-10 * length_of(N, s.x));
            assert_true(residual_of(N, a, reachable, s.x) < 1.1e-10 * length_of(N, reachable));
            free(s.x);
        }
    dense_map_free(&map);
    free(b);
    free(a);
    plain_free(&p);
}

static void test_krylov__a_zero_right_hand_side_needs_no_iteration(void **state)
{
    (void)state;
    plain p = plain_new("cpu:1", 5);
    double *a = spd(5, 1.0, 2.0, 1), zero[5] = {0};
    dense_map map = dense_map_new(5, a);
    for (int method = PCG; method <= GMRES; method++) {
        solved s = solve(&p, (enum method)method, &map, NULL, NULL, zero, NULL);
        assert_int_equal(s.result.outcome, EG_KRYLOV_CONVERGED);
        assert_int_equal(s.result.iterations, 0);
        assert_true(length_of(5, s.x) == 0.0);
        free(s.x);
    }
    dense_map_free(&map);
    free(a);
    plain_free(&p);
}

static void test_krylov__wrong_options_are_refused(void **state)
{
    (void)state;
    plain p = plain_new("cpu:1", 5);
    dense_map map = dense_map_new(5, NULL);
    eg_pcg *pcg = NULL;
    eg_gmres *gmres = NULL;
    TEST_FAILS(p.ctx, EG_ERROR_ARGUMENT, "-1",
               eg_pcg_create(p.vectors, dense_linear(&map), NULL,
                             &(eg_krylov_options){.relative = -1.0}, &pcg));
    TEST_FAILS(p.ctx, EG_ERROR_ARGUMENT, "-3",
               eg_gmres_create(p.vectors, dense_linear(&map), NULL,
                               &(eg_krylov_options){.restart = -3}, &gmres));
    TEST_FAILS(p.ctx, EG_ERROR_ARGUMENT, "null vector",
               eg_pcg_create(p.vectors, dense_linear(&map), NULL,
                             &(eg_krylov_options){.null_vector = plain_vector(&p, NULL)}, &pcg));
    assert_true(!pcg && !gmres);
    dense_map_free(&map);
    plain_free(&p);
}

/* --- the same bits, and memory
 * --------------------------------------------------------------------- */

static void test_pcg__gives_the_same_bits_for_every_number_of_threads(void **state)
{
    (void)state;
    enum { N = 3001 };
    static const char *const specs[] = {"cpu:1", "cpu:2", "cpu:3"};
    double *x[EG_COUNT(specs)], residual[EG_COUNT(specs)];
    double *d = host_values(N), *b = random_values(N, 8);
    for (int i = 0; i < N; i++)
        d[i] = 1.0 + (i * 37 % 100);
    for (size_t k = 0; k < EG_COUNT(specs); k++) {
        plain p = plain_new(specs[k], N);
        diagonal_map diagonal = {p.vectors, plain_vector(&p, d)};
        eg_buffer *rhs = plain_vector(&p, b), *u = plain_vector(&p, NULL);
        eg_krylov_result r;
        eg_pcg *pcg = NULL;
        TEST_OK(p.ctx, eg_pcg_create(p.vectors, diagonal_linear(&diagonal), NULL, NULL, &pcg));
        TEST_OK(p.ctx, eg_pcg_solve(pcg, rhs, u, &r));
        assert_int_equal(r.outcome, EG_KRYLOV_CONVERGED);
        residual[k] = r.residual;
        x[k] = host_values(N);
        get_values(u, N, x[k]);
        eg_pcg_destroy(&pcg);
        plain_free(&p);
    }
    for (size_t k = 1; k < EG_COUNT(specs); k++) {
        assert_memory_equal(x[0], x[k], N * sizeof *x[0]);
        assert_true(residual[0] == residual[k]);
    }
    for (size_t k = 0; k < EG_COUNT(specs); k++)
        free(x[k]);
    free(b);
    free(d);
}

static eg_status create_and_solve(eg_device *device)
{
    eg_vectors *vectors = NULL;
    eg_buffer *b = NULL, *x = NULL;
    eg_pcg *pcg = NULL;
    eg_gmres *gmres = NULL;
    eg_krylov_result result;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_create_plain(device, NULL, EG_F64, 9, &vectors));
    EG_TRY(eg_vectors_new(vectors, &b));
    EG_TRY(eg_vectors_new(vectors, &x));
    EG_TRY(eg_vectors_fill_random(vectors, 3, b));
    diagonal_map diagonal = {vectors, b};
    const eg_linear A = diagonal_linear(&diagonal);
    EG_TRY(eg_pcg_create(vectors, A, NULL, NULL, &pcg));
    EG_TRY(eg_gmres_create(vectors, A, NULL, &(eg_krylov_options){.restart = 2}, &gmres));
    const long before = test_memory.calls;
    EG_TRY(eg_pcg_solve(pcg, b, x, &result));
    EG_TRY(eg_gmres_solve(gmres, b, x, &result));
    assert_int_equal(test_memory.calls, before); /* solving allocates nothing */
done:
    eg_gmres_destroy(&gmres);
    eg_pcg_destroy(&pcg);
    eg_buffer_destroy(&x);
    eg_buffer_destroy(&b);
    eg_vectors_destroy(&vectors);
    return status;
}

static void test_krylov__failed_allocations_lose_nothing(void **state)
{
    (void)state;
    device_allocation_sweep(create_and_solve, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pcg__solves_what_a_dense_solver_solves),
        cmocka_unit_test(test_pcg__k_eigenvalues_take_k_iterations),
        cmocka_unit_test(test_krylov__tolerances_are_relative_to_what_was_chosen),
        cmocka_unit_test(test_pcg__keeps_the_history_and_stops_at_the_limit),
        cmocka_unit_test(test_pcg__a_diagonal_preconditioner_undoes_scaling),
        cmocka_unit_test(test_krylov__the_preconditioner_may_change),
        cmocka_unit_test(test_pcg__names_negative_curvature),
        cmocka_unit_test(test_krylov__tells_stagnation_from_slowness),
        cmocka_unit_test(test_pcg__a_careless_matrix_is_stagnation),
        cmocka_unit_test(test_gmres__a_cycle_without_progress_is_stagnation),
        cmocka_unit_test(test_gmres__solves_what_a_dense_solver_solves),
        cmocka_unit_test(test_krylov__constants_are_projected_out),
        cmocka_unit_test(test_krylov__a_zero_right_hand_side_needs_no_iteration),
        cmocka_unit_test(test_krylov__wrong_options_are_refused),
        cmocka_unit_test(test_pcg__gives_the_same_bits_for_every_number_of_threads),
        cmocka_unit_test(test_krylov__failed_allocations_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
