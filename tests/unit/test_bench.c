/* How times become points, how results are checked, and a whole benchmark with failing memory. */
#include "test.h"

#include "bench/run.h"

#include <math.h>

/* A benchmark that only collects points. */
typedef struct fixture {
    eg_context *ctx;
    eg_device_info info;
    eg_bench_options options;
    eg_bench_result result;
    eg_bench bench;
} fixture;

static void begin(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->ctx = test_context();
    f->bench = (eg_bench){.ctx = f->ctx,
                          .info = &f->info,
                          .options = &f->options,
                          .result = &f->result,
                          .cpu_shares = 1};
}

static void end(fixture *f)
{
    eg_bench_result_free(f->ctx, &f->result);
    test_context_free(&f->ctx);
}

static eg_bench_point add(fixture *f, eg_bench_work work)
{
    TEST_OK(f->ctx, eg_bench_add(&f->bench, &work));
    return f->result.points[f->result.count - 1];
}

static void test_bench__the_larger_of_memory_and_arithmetic_is_the_bound(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    eg_bench_work work = {.name = "gemm",
                          .size = "N=1",
                          .time_s = 0.5,
                          .flops = 2e9,
                          .bytes = 4e9,
                          .ceiling_gbs = 16,
                          .ceiling_gflops = 20,
                          .unit = "fma"};
    eg_bench_point p = add(&f, work);
    assert_true(p.bound_s == 0.25 && p.fraction == 0.5);
    assert_string_equal(p.bound_by, "memory");
    assert_true(p.gflops == 4 && p.gbs == 8);

    work.ceiling_gflops = 5;
    p = add(&f, work);
    assert_true(fabs(p.bound_s - 0.4) < 1e-15 && fabs(p.fraction - 0.8) < 1e-15);
    assert_string_equal(p.bound_by, "fma");
    end(&f);
}

static void test_bench__padding_raises_the_bound_and_the_unpadded_one_is_kept(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    eg_bench_point p = add(&f, (eg_bench_work){.name = "gemm",
                                               .size = "N=1",
                                               .time_s = 1,
                                               .flops = 2e9,
                                               .padded_flops = 4e9,
                                               .bytes = 1e9,
                                               .ceiling_gbs = 8,
                                               .ceiling_gflops = 8,
                                               .unit = "tensor"});
    assert_true(p.bound_s == 0.5 && p.unpadded_bound_s == 0.25);
    assert_string_equal(p.bound_by, "tensor");
    end(&f);
}

static void test_bench__a_driver_can_give_a_bound_of_its_own(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    eg_bench_work work = {.name = "advection-degrees",
                          .size = "M=5",
                          .time_s = 1,
                          .bound_s = 0.75,
                          .bound_by = "dof"};
    eg_bench_point p = add(&f, work);
    assert_true(p.bound_s == 0.75 && p.fraction == 0.75 && p.unpadded_bound_s == 0.75);
    assert_string_equal(p.bound_by, "dof");

    work.bytes = 8e9;
    work.ceiling_gbs = 10;
    p = add(&f, work);
    assert_true(fabs(p.bound_s - 0.8) < 1e-15);
    assert_string_equal(p.bound_by, "memory");
    end(&f);
}

static void test_bench__the_papers_roof_is_the_lower_of_copying_and_shared_memory(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    eg_bench_work work = {
        .name = "sav", .size = "N=1", .time_s = 1, .flops = 3e9, .bytes = 2e9, .ceiling_gbs = 10};
    f.result.ceilings.shared_gbs = 100;
    eg_bench_point p = add(&f, work);
    assert_true(isnan(p.paper_gflops));
    work.in_paper = true;
    p = add(&f, work);
    assert_true(fabs(p.paper_gflops - 15) < 1e-12);
    f.result.ceilings.shared_gbs = 40;
    p = add(&f, work);
    assert_true(fabs(p.paper_gflops - 10) < 1e-12);
    end(&f);
}

static void test_bench__degrees_are_chosen_by_bits(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_true(eg_bench_wants(&f.bench, 1) && eg_bench_wants(&f.bench, 10));
    f.options.degrees = 1u << 4;
    assert_true(!eg_bench_wants(&f.bench, 3) && eg_bench_wants(&f.bench, 4));
    end(&f);
}

static void test_bench__without_ceilings_there_is_no_fraction(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    eg_bench_point p =
        add(&f, (eg_bench_work){.name = "launch", .size = "in a row", .time_s = 1e-6});
    assert_true(isnan(p.fraction) && isnan(p.bound_s) && isnan(p.unpadded_bound_s));
    assert_string_equal(p.bound_by, "");
    end(&f);
}

static void test_bench__a_wrong_or_missing_value_is_found(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    double want[3] = {1, -100, 3}, got[3] = {1, -100, 3};
    TEST_OK(f.ctx, eg_bench_compare(&f.bench, "gemm", 0, got, want, 3));
    got[0] = 1 + 0.5e-10; /* within 1e-12 of the largest */
    TEST_OK(f.ctx, eg_bench_compare(&f.bench, "gemm", 0, got, want, 3));
    got[0] = 1 + 2e-10;
    TEST_FAILS(f.ctx, EG_ERROR_NUMERIC, "value 0 of tile 7",
               eg_bench_compare(&f.bench, "gemm", 7, got, want, 3));
    got[0] = 1;
    got[2] = NAN;
    TEST_FAILS(f.ctx, EG_ERROR_NUMERIC, "value 2",
               eg_bench_compare(&f.bench, "gemm", 0, got, want, 3));
    end(&f);
}

static void test_bench__tiles_are_shared_evenly_among_threads(void **state)
{
    (void)state;
    eg_bench bench = {.cpu_shares = 3};
    assert_int_equal(eg_bench_tiles(&bench, 1000, 10), 99);
    assert_int_equal(eg_bench_tiles(&bench, 5, 10), 3);
}

static eg_status run_launch(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_device *device = NULL;
    eg_bench_result result = {0};
    EG_TRY(eg_device_open(ctx, "cpu:1", &device));
    EG_TRY(eg_bench_run(ctx, device, "launch", &(eg_bench_options){.quick = true}, &result));
    assert_int_equal(result.count, 2);
    assert_true(result.points[0].time_s > 0);
done:
    eg_bench_result_free(ctx, &result);
    eg_device_close(&device);
    /* The memory of this device is the host's. */
    return status == EG_ERROR_DEVICE_MEMORY ? EG_ERROR_MEMORY : status;
}

static void test_bench__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    test_allocation_sweep(run_launch, NULL);
}

static void test_bench__an_unknown_name_is_an_error(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_bench_result result;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "\"lunch\"",
               eg_bench_run(ctx, device, "lunch", NULL, &result));
    eg_bench_result_free(ctx, &result);
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* No core does 2^30 operations in less than 2 ms, nor moves 240 MiB. */
static void test_bench__degrees_that_are_not_measured_are_an_error(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_bench_result result;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < eg_bench_count(); i++) {
        const int most = eg_bench_most_degree(i);
        const uint32_t possible = (1u << (most + 1)) - 2;
        if (most == 0) { /* it does not look at them */
            TEST_OK(ctx, eg_bench_check_degrees(ctx, i, 1u << 8));
            continue;
        }
        TEST_OK(ctx, eg_bench_check_degrees(ctx, i, 0));
        TEST_OK(ctx, eg_bench_check_degrees(ctx, i, possible));
        const uint32_t wrong[] = {1u << (most + 1), possible | 1u << (most + 1), 1u};
        for (size_t k = 0; k < EG_COUNT(wrong); k++) {
            TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "measures degrees 1 to",
                       eg_bench_check_degrees(ctx, i, wrong[k]));
            TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "measures degrees 1 to",
                       eg_bench_run(ctx, device, eg_bench_name(i),
                                    &(eg_bench_options){.degrees = wrong[k], .mesh = "none.msh"},
                                    &result));
            eg_bench_result_free(ctx, &result);
        }
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

static void test_bench__the_reference_work_takes_its_time(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double seconds[EG_BENCH_REFERENCE_SAMPLES] = {0};
    TEST_OK(ctx, eg_bench_reference(ctx, seconds));
    for (int i = 0; i < EG_BENCH_REFERENCE_SAMPLES; i++)
        assert_true(seconds[i] > 2e-3 && seconds[i] < 60);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench__the_larger_of_memory_and_arithmetic_is_the_bound),
        cmocka_unit_test(test_bench__padding_raises_the_bound_and_the_unpadded_one_is_kept),
        cmocka_unit_test(test_bench__a_driver_can_give_a_bound_of_its_own),
        cmocka_unit_test(test_bench__the_papers_roof_is_the_lower_of_copying_and_shared_memory),
        cmocka_unit_test(test_bench__degrees_are_chosen_by_bits),
        cmocka_unit_test(test_bench__without_ceilings_there_is_no_fraction),
        cmocka_unit_test(test_bench__a_wrong_or_missing_value_is_found),
        cmocka_unit_test(test_bench__tiles_are_shared_evenly_among_threads),
        cmocka_unit_test(test_bench__a_failed_allocation_is_reported_and_nothing_is_lost),
        cmocka_unit_test(test_bench__an_unknown_name_is_an_error),
        cmocka_unit_test(test_bench__degrees_that_are_not_measured_are_an_error),
        cmocka_unit_test(test_bench__the_reference_work_takes_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
