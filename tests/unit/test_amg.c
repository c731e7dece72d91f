/* Algebraic multigrid: iterations of PCG that do not grow with the size, on problems that are
 * made to be hard, in both precisions; its parts against what defines them. */
#include "solver.h"

/* --- problems
 * --------------------------------------------------------------------------------------- */

/* -∇·(k ∇u) on n x n points by five-point differences: `across` is k in y over k in x, `jump`
 * what k is in a checkerboard of blocks (1 elsewhere). Dirichlet conditions around, or none
 * (`neumann`). */
typedef struct problem {
    int n;
    double across, jump;
    bool neumann;
} problem;

static double coefficient(const problem *p, int i, int j)
{
    const int block = p->n / 4 > 0 ? p->n / 4 : 1;
    return (i / block + j / block) % 2 ? p->jump : 1.0;
}

static double harmonic(double a, double b)
{
    return 2.0 * a * b / (a + b);
}

static eg_csr *assemble(eg_context *ctx, const problem *p)
{
    static const int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    const int n = p->n;
    const int64_t most = 8 * (int64_t)n * n;
    int32_t *row = calloc((size_t)most, sizeof *row), *column = calloc((size_t)most, sizeof *row);
    double *value = host_values((size_t)most);
    int64_t count = 0;
    eg_csr *a = NULL;
    assert_true(row && column);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int s = 0; s < 4; s++) {
                const int k = i + step[s][0], l = j + step[s][1];
                const bool inside = k >= 0 && k < n && l >= 0 && l < n;
                if (!inside && p->neumann) continue;
                double weight = step[s][1] ? p->across : 1.0;
                weight *= inside ? harmonic(coefficient(p, i, j), coefficient(p, k, l))
                                 : coefficient(p, i, j);
                row[count] = column[count] = i * n + j;
                value[count++] = weight;
                if (!inside) continue;
                row[count] = i * n + j, column[count] = k * n + l;
                value[count++] = -weight;
            }
    TEST_OK(ctx, eg_csr_from_entries(ctx, n * n, n * n, count, row, column, value, &a));
    free(value);
    free(column);
    free(row);
    return a;
}

typedef struct figures {
    eg_krylov_result result;
    eg_amg_info info;
    double error; /* ‖x - exact‖ / ‖exact‖ */
} figures;

/* Solves a x = a u for a random u by PCG with AMG, to 1e-8. */
static figures solve_with(eg_device *device, const eg_csr *a, const eg_amg_options *options,
                          bool singular)
{
    eg_context *ctx = eg_device_context(device);
    figures f;
    eg_vectors *vectors = NULL;
    eg_sparse *matrix = NULL;
    eg_amg *amg = NULL;
    eg_single *single = NULL;
    eg_pcg *pcg = NULL;
    eg_buffer *u = NULL, *b = NULL, *x = NULL, *ones = NULL;
    TEST_OK(ctx, eg_vectors_create_plain(device, NULL, EG_F64, (size_t)a->rows, &vectors));
    TEST_OK(ctx, eg_sparse_create(device, EG_F64, a, &matrix));
    TEST_OK(ctx, eg_amg_create(device, a, options, &amg));
    TEST_OK(ctx, eg_vectors_new(vectors, &u));
    TEST_OK(ctx, eg_vectors_new(vectors, &b));
    TEST_OK(ctx, eg_vectors_new(vectors, &x));
    TEST_OK(ctx, eg_vectors_new(vectors, &ones));
    TEST_OK(ctx, eg_vectors_fill(vectors, 1.0, ones));
    TEST_OK(ctx, eg_vectors_fill_random(vectors, 3, u));
    TEST_OK(ctx, eg_sparse_apply(matrix, u, b));
    eg_linear B = eg_amg_linear(amg);
    if (options->type == EG_F32) {
        TEST_OK(ctx, eg_single_create(vectors, B, &single));
        B = eg_single_linear(single);
    }
    TEST_OK(ctx, eg_pcg_create(vectors, eg_sparse_linear(matrix), &B,
                               &(eg_krylov_options){.relative = 1e-8,
                                                    .iterations = 200,
                                                    .null_vector = singular ? ones : NULL},
                               &pcg));
    const long before = test_memory.calls;
    TEST_OK(ctx, eg_pcg_solve(pcg, b, x, &f.result));
    assert_int_equal(test_memory.calls, before);
    double sums[2], size;
    TEST_OK(ctx, eg_vectors_norm(vectors, u, &size));
    TEST_OK(ctx, eg_vectors_add(vectors, 1.0, x, 1, &(double){-1.0}, &u));
    if (singular) {
        TEST_OK(ctx, eg_vectors_dots(vectors, 1, &(eg_vector_pair){x, ones}, sums));
        TEST_OK(ctx, eg_vectors_add(vectors, 1.0, x, 1, &(double){-sums[0] / a->rows}, &ones));
    }
    TEST_OK(ctx, eg_vectors_norm(vectors, x, &f.error));
    f.error /= size;
    f.info = *eg_amg_get_info(amg);
    if (getenv("EAGRE_TEST_TELL"))
        print_message(
            "%d rows, kind %d, %s: %d iterations, %d levels, complexity %.2f, error %.1e\n",
            a->rows, (int)options->kind, eg_type_name(options->type), f.result.iterations,
            f.info.levels, f.info.complexity, f.error);
    eg_pcg_destroy(&pcg);
    eg_single_destroy(&single);
    eg_amg_destroy(&amg);
    eg_buffer_destroy(&ones);
    eg_buffer_destroy(&x);
    eg_buffer_destroy(&b);
    eg_buffer_destroy(&u);
    eg_sparse_destroy(&matrix);
    eg_vectors_destroy(&vectors);
    return f;
}

static figures solve(const char *spec, const problem *p, const eg_amg_options *options)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, spec, &device));
    eg_csr *a = assemble(ctx, p);
    figures f = solve_with(device, a, options, p->neumann);
    f.result.history = NULL;
    eg_csr_destroy(&a);
    eg_device_close(&device);
    test_context_free(&ctx);
    return f;
}

static void test_amg__iterations_do_not_grow_with_the_size(void **state)
{
    (void)state;
    static const int sizes[] = {32, 100, 256, 512};
    const size_t count = EG_COUNT(sizes) - (getenv("EAGRE_TEST_LONG") ? 0 : 1);
    static const int bound[] = {[EG_AMG_SMOOTHED] = 8, [EG_AMG_UNSMOOTHED] = 17};
    for (int kind = EG_AMG_SMOOTHED; kind <= EG_AMG_UNSMOOTHED; kind++)
        for (size_t k = 0; k < count; k++) {
            const problem p = {sizes[k], 1.0, 1.0, false};
            figures f = solve("cpu:1", &p, &(eg_amg_options){.kind = (eg_amg_kind)kind});
            assert_int_equal(f.result.outcome, EG_KRYLOV_CONVERGED);
            assert_in_range(f.result.iterations, 4, bound[kind]);
            assert_true(f.error < 1e-4 && f.info.direct && f.info.complexity < 1.8);
        }
}

/* Different coefficients in x and y, a checkerboard of coefficients, and no Dirichlet
 * conditions. */
static void test_amg__hard_coefficients_and_null_spaces_converge(void **state)
{
    (void)state;
    static const struct {
        problem p;
        int most[2];
    } rows[] = {{{100, 1e-3, 1.0, false}, {16, 18}},
                {{100, 1.0, 1e6, false}, {18, 24}},
                {{100, 1.0, 1.0, true}, {12, 18}},
                {{60, 1e2, 1e6, true}, {36, 36}}};
    for (size_t k = 0; k < EG_COUNT(rows); k++)
        for (int kind = EG_AMG_SMOOTHED; kind <= EG_AMG_UNSMOOTHED; kind++) {
            figures f = solve("cpu:1", &rows[k].p, &(eg_amg_options){.kind = (eg_amg_kind)kind});
            assert_int_equal(f.result.outcome, EG_KRYLOV_CONVERGED);
            assert_in_range(f.result.iterations, 4, rows[k].most[kind]);
        }
}

/* -u'' on n elements by interior penalty with discontinuous linear functions: k [2n][2n], and their mass
 * matrix m; Dirichlet conditions at both ends. */
static void assemble_line(int n, double *k, double *m)
{
    const int size = 2 * n;
    const double h = 1.0 / n, penalty = 4.0 / h;
    for (int e = 0; e < n; e++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                k[(2 * e + i) * size + 2 * e + j] += (i == j ? 1.0 : -1.0) / h;
                m[(2 * e + i) * size + 2 * e + j] += (i == j ? 2.0 : 1.0) * h / 6.0;
            }
    for (int face = 0; face <= n; face++) {
        const double half = face > 0 && face < n ? 0.5 : 1.0;
        /* The functions of the element on the left and on the right: their jump and mean slope. */
        const double jump[4] = {0.0, 1.0, -1.0, 0.0};
        const double slope[4] = {-half / h, half / h, -half / h, half / h};
        for (int i = face > 0 ? 0 : 2; i < (face < n ? 4 : 2); i++)
            for (int j = face > 0 ? 0 : 2; j < (face < n ? 4 : 2); j++)
                k[(2 * face - 2 + i) * size + 2 * face - 2 + j] +=
                    penalty * jump[i] * jump[j] - jump[i] * slope[j] - slope[i] * jump[j];
    }
}

/* The same on a square, with bilinear functions. */
static eg_csr *assemble_discontinuous(eg_context *ctx, int n)
{
    const int size = 2 * n;
    const int64_t most = 49 * (int64_t)size * size;
    double *k = host_values((size_t)(size * size)), *m = host_values((size_t)(size * size));
    double *value = host_values((size_t)most);
    int32_t *row = calloc((size_t)most, sizeof *row), *column = calloc((size_t)most, sizeof *row);
    int64_t count = 0;
    eg_csr *a = NULL;
    assert_true(row && column);
    assemble_line(n, k, m);
    for (int i = 0; i < size * size; i++) {
        const int x = i / size, y = i % size;
        for (int u = x > 3 ? x - 3 : 0; u <= x + 3 && u < size; u++)
            for (int v = y > 3 ? y - 3 : 0; v <= y + 3 && v < size; v++) {
                const double entry =
                    k[x * size + u] * m[y * size + v] + m[x * size + u] * k[y * size + v];
                if (entry == 0.0) continue;
                row[count] = i, column[count] = u * size + v;
                value[count++] = entry;
            }
    }
    TEST_OK(ctx, eg_csr_from_entries(ctx, size * size, size * size, count, row, column, value, &a));
    free(column);
    free(row);
    free(value);
    free(m);
    free(k);
    return a;
}

/* Also with a limit of strength above which no connection is: rows are not left alone for that. */
static void test_amg__discontinuous_elements_converge(void **state)
{
    (void)state;
    static const int bound[] = {[EG_AMG_SMOOTHED] = 15, [EG_AMG_UNSMOOTHED] = 20};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_csr *a = assemble_discontinuous(ctx, 96);
    for (int kind = EG_AMG_SMOOTHED; kind <= EG_AMG_UNSMOOTHED; kind++)
        for (int high = 0; high < 2; high++) {
            const eg_amg_options o = {.kind = (eg_amg_kind)kind, .strength = high ? 0.9 : 0.0};
            const figures f = solve_with(device, a, &o, false);
            assert_int_equal(f.result.outcome, EG_KRYLOV_CONVERGED);
            assert_in_range(f.result.iterations, 6, bound[kind]);
            assert_true(f.info.direct);
        }
    eg_csr_destroy(&a);
    eg_device_close(&device);
    test_context_free(&ctx);
}

static void test_amg__single_precision_takes_as_many_iterations(void **state)
{
    (void)state;
    static const problem problems[] = {{128, 1.0, 1.0, false}, {100, 1.0, 1e6, false}};
    for (size_t k = 0; k < EG_COUNT(problems); k++)
        for (int kind = EG_AMG_SMOOTHED; kind <= EG_AMG_UNSMOOTHED; kind++) {
            eg_amg_options o = {.kind = (eg_amg_kind)kind};
            figures f64 = solve("cpu:1", &problems[k], &o);
            o.type = EG_F32;
            figures f32 = solve("cpu:1", &problems[k], &o);
            assert_int_equal(f32.result.outcome, EG_KRYLOV_CONVERGED);
            assert_in_range(f32.result.iterations, f64.result.iterations - 1,
                            f64.result.iterations + 1);
            assert_true((double)f32.info.bytes < 0.75 * (double)f64.info.bytes);
        }
}

/* Every smoother, and levels that are smoothed only. */
static void test_amg__smoothers_can_be_chosen(void **state)
{
    (void)state;
    const problem p = {100, 1.0, 1.0, false};
    int before = 100;
    for (int degree = 1; degree <= 4; degree++) {
        int count[3];
        for (int kind = EG_CHEBYSHEV_FIRST; kind <= EG_CHEBYSHEV_OPTIMAL; kind++) {
            const eg_amg_options o = {
                .smoother = {.kind = (eg_chebyshev_kind)kind, .degree = degree}};
            figures f = solve("cpu:1", &p, &o);
            assert_int_equal(f.result.outcome, EG_KRYLOV_CONVERGED);
            count[kind] = f.result.iterations;
        }
        assert_in_range(count[1], 3, before - 1 + (degree > 3));
        assert_in_range(count[0], count[1] - 2, count[1] + 2);
        assert_in_range(count[2], count[1] - 2, count[1] + 2);
        before = count[1];
    }
}

static void test_amg__runs_on_opencl(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device_info *list = NULL;
    size_t count = 0;
    int devices = 0;
    const problem p = {40, 1.0, 1.0, false};
    TEST_OK(ctx, eg_device_list(ctx, &list, &count));
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(list[i].backend, "cpu") || !list[i].has_f64) continue;
        for (int kind = EG_AMG_SMOOTHED; kind <= EG_AMG_UNSMOOTHED; kind++)
            for (int type = EG_F64; type <= EG_F32; type++) {
                const eg_amg_options o = {
                    .kind = (eg_amg_kind)kind, .type = (eg_type)type, .coarsest = 20};
                eg_device *device = NULL;
                TEST_OK(ctx, eg_device_open(ctx, list[i].spec, &device));
                eg_csr *a = assemble(ctx, &p);
                const figures there = solve_with(device, a, &o, false);
                eg_csr_destroy(&a);
                eg_device_close(&device);
                eg_device *cpu = NULL;
                TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &cpu));
                a = assemble(ctx, &p);
                const figures here = solve_with(cpu, a, &o, false);
                eg_csr_destroy(&a);
                eg_device_close(&cpu);
                assert_in_range(there.result.iterations, here.result.iterations - 1,
                                here.result.iterations + 1);
                assert_int_equal(there.info.levels, here.info.levels);
                devices++;
            }
    }
    eg_device_list_free(ctx, &list);
    test_context_free(&ctx);
    if (!devices) skip();
}

/* --- its parts
 * --------------------------------------------------------------------------------------- */

/* x·B y = y·B x and x·B x > 0 on every device with V-cycles. */
static void test_amg__a_v_cycle_is_symmetric_and_positive(void **state)
{
    (void)state;
    for (int kind = EG_AMG_SMOOTHED; kind <= EG_AMG_UNSMOOTHED; kind++) {
        plain p = plain_new("cpu:1", 30 * 30);
        eg_csr *a = assemble(p.ctx, &(problem){30, 0.2, 100.0, false});
        eg_amg *amg = NULL;
        const eg_amg_options o = {.kind = (eg_amg_kind)kind, .k_levels = -1, .coarsest = 20};
        eg_buffer *x = plain_vector(&p, NULL), *y = plain_vector(&p, NULL);
        eg_buffer *bx = plain_vector(&p, NULL), *by = plain_vector(&p, NULL);
        double sums[3];
        TEST_OK(p.ctx, eg_amg_create(p.device, a, &o, &amg));
        assert_true(eg_amg_get_info(amg)->levels >= 3);
        TEST_OK(p.ctx, eg_vectors_fill_random(p.vectors, 5, x));
        TEST_OK(p.ctx, eg_vectors_fill_random(p.vectors, 6, y));
        TEST_OK(p.ctx, eg_amg_apply(amg, x, bx));
        TEST_OK(p.ctx, eg_amg_apply(amg, y, by));
        TEST_OK(p.ctx,
                eg_vectors_dots(p.vectors, 3, (eg_vector_pair[]){{x, by}, {y, bx}, {x, bx}}, sums));
        assert_true(fabs(sums[0] - sums[1]) < 1e-12 * fabs(sums[2]) && sums[2] > 0.0);
        eg_amg_destroy(&amg);
        eg_csr_destroy(&a);
        plain_free(&p);
    }
}

/* A near-null vector that is not constant: the scaled matrix is as easy as the plain one. */
static void test_amg__a_given_near_null_vector_is_used(void **state)
{
    (void)state;
    enum { N = 64 };
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    double *near_null = host_values(N * N);
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_csr *a = assemble(ctx, &(problem){N, 1.0, 1.0, false});
    const int plain_count = solve_with(device, a, &(eg_amg_options){0}, false).result.iterations;
    for (int32_t i = 0; i < a->rows; i++)
        near_null[i] = (i % 2 ? -1.0 : 1.0) * (1.0 + i % 7);
    for (int32_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++)
            a->value[k] /= near_null[i] * near_null[a->column[k]];
    const eg_amg_options with = {.near_null = near_null};
    const int given = solve_with(device, a, &with, false).result.iterations;
    const int ones = solve_with(device, a, &(eg_amg_options){0}, false).result.iterations;
    assert_in_range(given, plain_count - 2, plain_count + 4);
    assert_in_range(ones, 3 * given, 1000);
    eg_csr_destroy(&a);
    free(near_null);
    eg_device_close(&device);
    test_context_free(&ctx);
}

static void test_amg__unconnected_and_tiny_matrices_are_solved(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 5000};
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        plain p = plain_new("cpu:1", sizes[k]);
        eg_csr *a = NULL;
        TEST_OK(p.ctx, eg_csr_create(p.ctx, sizes[k], sizes[k], sizes[k], &a));
        for (int32_t i = 0; i < sizes[k]; i++) {
            a->offset[i + 1] = i + 1;
            a->column[i] = i;
            a->value[i] = 1.0 + i % 5;
        }
        const figures f = solve_with(p.device, a, &(eg_amg_options){0}, false);
        assert_int_equal(f.result.outcome, EG_KRYLOV_CONVERGED);
        assert_int_equal(f.info.levels, 1);
        assert_true(f.info.direct == (sizes[k] < 2000));
        assert_in_range(f.result.iterations, 1, 2);
        eg_csr_destroy(&a);
        plain_free(&p);
    }
}

static void test_amg__matrices_that_are_not_positive_are_refused(void **state)
{
    (void)state;
    plain p = plain_new("cpu:1", 100);
    eg_amg *amg = NULL;
    eg_csr *a = assemble(p.ctx, &(problem){10, 1.0, 1.0, false}), *wide = NULL;
    for (int64_t k = a->offset[37]; k < a->offset[38]; k++)
        if (a->column[k] == 37) a->value[k] = -4.0;
    TEST_FAILS(p.ctx, EG_ERROR_NUMERIC, "row 37",
               eg_amg_create(p.device, a, &(eg_amg_options){0}, &amg));
    TEST_OK(p.ctx, eg_csr_create(p.ctx, 3, 4, 0, &wide));
    TEST_FAILS(p.ctx, EG_ERROR_ARGUMENT, "3 x 4",
               eg_amg_create(p.device, wide, &(eg_amg_options){0}, &amg));
    assert_null(amg);
    eg_csr_destroy(&wide);
    eg_csr_destroy(&a);
    plain_free(&p);
}

/* --- bits and memory
 * --------------------------------------------------------------------------------- */

static void test_amg__gives_the_same_bits_for_every_number_of_threads(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu:1", "cpu:2", "cpu:3"};
    enum { N = 50 };
    double *x[EG_COUNT(specs)];
    for (size_t k = 0; k < EG_COUNT(specs); k++) {
        plain p = plain_new(specs[k], N * N);
        eg_csr *a = assemble(p.ctx, &(problem){N, 1.0, 10.0, false});
        eg_amg *amg = NULL;
        eg_buffer *b = plain_vector(&p, NULL), *z = plain_vector(&p, NULL);
        TEST_OK(p.ctx,
                eg_amg_create(p.device, a,
                              &(eg_amg_options){.kind = EG_AMG_UNSMOOTHED, .coarsest = 20}, &amg));
        TEST_OK(p.ctx, eg_vectors_fill_random(p.vectors, 5, b));
        TEST_OK(p.ctx, eg_amg_apply(amg, b, z));
        x[k] = host_values(N * N);
        get_values(z, N * N, x[k]);
        eg_amg_destroy(&amg);
        eg_csr_destroy(&a);
        plain_free(&p);
    }
    assert_memory_equal(x[0], x[1], N * N * sizeof *x[0]);
    assert_memory_equal(x[0], x[2], N * N * sizeof *x[0]);
    for (size_t k = 0; k < EG_COUNT(specs); k++)
        free(x[k]);
}

static eg_status create_both(eg_device *device)
{
    const int n = 8;
    eg_context *ctx = eg_device_context(device);
    eg_csr *a = NULL;
    eg_amg *amg = NULL;
    eg_vectors *vectors = NULL;
    eg_single *single = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_csr_create(ctx, n, n, 3 * n, &a));
    for (int32_t i = 0; i < n; i++) {
        int64_t at = a->offset[i];
        for (int32_t j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < n) a->column[at] = j, a->value[at++] = j == i ? 2.0 : -1.0;
        a->offset[i + 1] = at;
    }
    for (int kind = EG_AMG_SMOOTHED; kind <= EG_AMG_UNSMOOTHED; kind++) {
        const eg_amg_options o = {.kind = (eg_amg_kind)kind, .type = EG_F32, .coarsest = 2};
        EG_TRY(eg_amg_create(device, a, &o, &amg));
        if (kind == EG_AMG_UNSMOOTHED) {
            EG_TRY(eg_vectors_create_plain(device, NULL, EG_F64, (size_t)n, &vectors));
            EG_TRY(eg_single_create(vectors, eg_amg_linear(amg), &single));
        }
        eg_single_destroy(&single);
        eg_amg_destroy(&amg);
    }
done:
    eg_single_destroy(&single);
    eg_amg_destroy(&amg);
    eg_vectors_destroy(&vectors);
    eg_csr_destroy(&a);
    return status;
}

static void test_amg__failed_allocations_lose_nothing(void **state)
{
    (void)state;
    device_allocation_sweep(create_both, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amg__iterations_do_not_grow_with_the_size),
        cmocka_unit_test(test_amg__hard_coefficients_and_null_spaces_converge),
        cmocka_unit_test(test_amg__discontinuous_elements_converge),
        cmocka_unit_test(test_amg__single_precision_takes_as_many_iterations),
        cmocka_unit_test(test_amg__smoothers_can_be_chosen),
        cmocka_unit_test(test_amg__runs_on_opencl),
        cmocka_unit_test(test_amg__a_v_cycle_is_symmetric_and_positive),
        cmocka_unit_test(test_amg__a_given_near_null_vector_is_used),
        cmocka_unit_test(test_amg__unconnected_and_tiny_matrices_are_solved),
        cmocka_unit_test(test_amg__matrices_that_are_not_positive_are_refused),
        cmocka_unit_test(test_amg__gives_the_same_bits_for_every_number_of_threads),
        cmocka_unit_test(test_amg__failed_allocations_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
