/* The profile of a device: every launch, copy and fill is in it, by kernel, also when there are more than its
 * events; and nothing but what was queued between its start and its stop. */
#include "kernel/devices.h"

#define LANES TEXT_LANES
#define SOURCE "kernel/profiled.k.c"

enum { TILES = 64, MANY = 5000, FEW = 7 };

static const char two_texts[] =
    "K_KERNEL(often, K_INOUT(real, x, 4 * LANES))\n"
    "{\n"
    "    K_TILES(t) { K_NODES(i, 4) K_TILE(x, t, 4)[i * LANES + lane] += 1; }\n"
    "}\n"
    "K_KERNEL(seldom, K_INOUT(real, x, 4 * LANES))\n"
    "{\n"
    "    K_TILES(t)\n"
    "    {\n"
    "        for (int k = 0; k < 20000; k++)\n"
    "            K_NODES(i, 4) K_TILE(x, t, 4)[i * LANES + lane] =\n"
    "                K_R(0.5) * K_TILE(x, t, 4)[i * LANES + lane] + 2;\n"
    "    }\n"
    "}\n";

static const eg_profile_row *find(const eg_profile *profile, const char *entry)
{
    for (size_t i = 0; i < profile->count; i++)
        if (!strcmp(profile->rows[i].entry, entry)) return &profile->rows[i];
    fail_msg("the profile has no \"%s\"", entry);
    return NULL;
}

static eg_kernel *create(eg_device *device, eg_type real, const char *entry)
{
    const eg_kernel_options options = text_options(SOURCE, two_texts, entry, real);
    eg_kernel *kernel = NULL;
    TEST_OK(eg_device_context(device), eg_kernel_create(device, &options, &kernel));
    return kernel;
}

static void launch(eg_kernel *kernel, eg_buffer *x, int times)
{
    for (int i = 0; i < times; i++)
        assert_int_equal(eg_launch(kernel, TILES, EG_BUFFER("x", x)), EG_OK);
}

static void profile(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_kernel *often = create(device, real, "often"), *seldom = create(device, real, "seldom");
    const size_t count = TILES * 4 * LANES;
    eg_buffer *x = NULL, *y = NULL;
    eg_profile found = {0};
    const double zero = 0;
    double sum = 0;
    TEST_OK(ctx, eg_buffer_create(device, real, count, &x));
    TEST_OK(ctx, eg_buffer_create(device, real, count, &y));
    launch(often, x, FEW); /* too early */
    TEST_OK(ctx, eg_profile_start(device));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "profiled already", eg_profile_start(device));
    TEST_OK(ctx, eg_buffer_fill(x, 0, count, &zero));
    launch(often, x, MANY);
    launch(seldom, x, FEW);
    TEST_OK(ctx, eg_buffer_copy(y, 0, x, 0, count));
    TEST_OK(ctx, eg_profile_stop(device, &found));
    launch(seldom, x, FEW); /* too late */

    assert_int_equal(found.count, 4);
    assert_int_equal(find(&found, "often")->launches, MANY);
    assert_string_equal(find(&found, "often")->source, SOURCE);
    assert_int_equal(find(&found, "seldom")->launches, FEW);
    assert_int_equal(find(&found, "copy")->launches, 1);
    assert_string_equal(find(&found, "copy")->source, "");
    assert_int_equal(find(&found, "fill")->launches, 1);
    for (size_t i = 0; i < found.count; i++) {
        assert_true(found.rows[i].seconds >= 0);
        assert_true(i == 0 || found.rows[i].seconds <= found.rows[i - 1].seconds);
        sum += found.rows[i].seconds;
    }
    assert_near(found.seconds, sum, 1e-12 * (1 + sum), "seconds", 0);
    /* Which works for long: thousands of times as long as a fill. */
    assert_true(find(&found, "seldom")->seconds > find(&found, "fill")->seconds);
    eg_profile_free(ctx, &found);
    assert_null(found.rows);

    /* What was not started has nothing to tell. */
    TEST_OK(ctx, eg_profile_stop(device, &found));
    assert_int_equal(found.count, 0);
    eg_buffer_destroy(&y);
    eg_buffer_destroy(&x);
    eg_kernel_destroy(&seldom);
    eg_kernel_destroy(&often);
}

static void test_profile__has_all_that_was_queued_between_start_and_stop(void **state)
{
    (void)state;
    on_every_device(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_profile__has_all_that_was_queued_between_start_and_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
