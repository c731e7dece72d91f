/* A missing K_SYNC shows: OpenCL on a CPU runs the threads of a block one after another from
 * barrier to barrier, and K_SCRAMBLE gives the work of K_GEMM to other threads than K_NODES does,
 * so that without a barrier some thread reads what another has yet to write. With all its barriers
 * every kernel is right; with any single one of them blanked out it is wrong. */
#include "kernel/hard.h"

/* A kernel file and how it is run. */
typedef struct sync_case {
    const char *file;
    double (*error)(eg_device *device, eg_type real, const variant *v);
    bool has_both; /* precisions, in one run */
} sync_case;

static double surface_case(eg_device *device, eg_type real, const variant *v)
{
    static const int elements[GROUPS] = {70, 33};
    return surface_error(device, real, v, elements);
}

static double gradient_case(eg_device *device, eg_type real, const variant *v)
{
    return gradient_error(device, real, v, 4, 16, 9);
}

static double mixed_case(eg_device *device, eg_type real, const variant *v)
{
    (void)real;
    return mixed_error(device, v, 15, 9);
}

static const sync_case cases[] = {{"surface.k.c", surface_case, false},
                                  {"hexahedron.k.c", gradient_case, false},
                                  {"mixed.k.c", mixed_case, true}};

/* Runs a case as it is and then without each of its barriers; returns how many there are. */
static size_t leave_out_each(eg_device *device, eg_type real, const sync_case *c)
{
    static const char sync[] = "K_SYNC;";
    /* Fresh data each time: what an earlier run left in shared memory must never be right. */
    variant v = {.scramble = 1, .ty = 2, .tz = 1, .seed = 100};
    now_at(device, real, "%s", c->file);
    double error = c->error(device, real, &v);
    if (!(error <= 1)) fail_msg("with all its barriers the worst error is %g of rounding's", error);
    char *text = read_test_source(c->file);
    size_t count = 0, line = 1;
    for (char *at = text; *at; at++) {
        line += *at == '\n';
        if (strncmp(at, sync, strlen(sync)) != 0) continue;
        memset(at, ' ', strlen(sync));
        v.text = text;
        v.seed += 100;
        now_at(device, real, "%s without the K_SYNC of line %zu", c->file, line);
        error = c->error(device, real, &v);
        if (error <= 1000)
            fail_msg("nothing wrong shows: the worst error is %g of rounding's", error);
        memcpy(at, sync, strlen(sync));
        count++;
    }
    free(text);
    return count;
}

static size_t devices_tested;

/* The CPUs behind OpenCL; the threads of a GPU may run in step and hide what is missing. */
static void on_opencl_cpus(eg_type real)
{
    eg_context *ctx = test_context();
    eg_device_info *list = NULL;
    size_t count = 0, tested = 0;
    TEST_OK(ctx, eg_device_list(ctx, &list, &count));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].backend, "opencl") != 0 || list[i].is_gpu || !list[i].has_f64) continue;
        eg_device *device = NULL;
        size_t barriers = 0;
        TEST_OK(ctx, eg_device_open(ctx, list[i].spec, &device));
        for (size_t k = 0; k < EG_COUNT(cases); k++)
            if (real == EG_F64 || !cases[k].has_both)
                barriers += leave_out_each(device, real, &cases[k]);
        assert_int_equal(barriers, real == EG_F64 ? 6 : 3);
        eg_device_close(&device);
        tested++;
    }
    eg_device_list_free(ctx, &list);
    test_context_free(&ctx);
    where[0] = '\0';
    devices_tested += tested;
    if (tested == 0) skip();
}

static void test_sync__any_missing_barrier_shows_in_double_precision(void **state)
{
    (void)state;
    on_opencl_cpus(EG_F64);
}

static void test_sync__any_missing_barrier_shows_in_single_precision(void **state)
{
    (void)state;
    on_opencl_cpus(EG_F32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_sync__any_missing_barrier_shows_in_double_precision),
        KERNEL_TEST(test_sync__any_missing_barrier_shows_in_single_precision),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? 1 : devices_tested ? 0 : 77;
}
