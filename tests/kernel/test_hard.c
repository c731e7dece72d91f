/* The dialect's hardest users on every device, against plain C on random data with poisoned
 * outputs: a fused chain, and the kernels of hard.h. */
#include "kernel/hard.h"

/* --- the fused chain ------------------------------------------------------------------------- */

#define MAX_DEGREE 10

/* Cubature points of the benchmark's chains. */
static const int cubature[MAX_DEGREE + 1] = {0, 6, 12, 19, 33, 49, 67, 87, 112, 141, 171};

typedef struct chain {
    int np, nc, lanes;
    matrix interp, pr, ps;
    array u, g, out;
} chain;

/* What one element gets, at lane `lane` of tile `t`: want[2][np], and the sum of magnitudes. */
static void plain_chain(const chain *c, size_t t, size_t lane, double *want, double *size)
{
    size_t np = (size_t)c->np, nc = (size_t)c->nc, lanes = (size_t)c->lanes;
    const double *u = c->u.v + t * 4 * np * lanes + lane, *g = c->g.v + t * 4 * lanes + lane;
    for (size_t i = 0; i < 2 * np; i++)
        want[i] = size[i] = 0;
    for (size_t q = 0; q < nc; q++) {
        double at[4] = {0}, most[4] = {0};
        for (size_t f = 0; f < 4; f++)
            for (size_t j = 0; j < np; j++) {
                double term = c->interp.a[q * np + j] * u[(f * np + j) * lanes];
                at[f] += term;
                most[f] += fabs(term);
            }
        for (size_t w = 0; w < 2; w++) {
            double r = (g[0] * at[0] + g[2 * lanes] * at[1]) * at[2 + w];
            double s = (g[lanes] * at[0] + g[3 * lanes] * at[1]) * at[2 + w];
            double bound = (most[0] + most[1]) * most[2 + w];
            for (size_t i = 0; i < np; i++) {
                double pr = c->pr.a[i * nc + q], ps = c->ps.a[i * nc + q];
                want[w * np + i] += pr * r + ps * s;
                size[w * np + i] += (fabs(pr) + fabs(ps)) * bound;
            }
        }
    }
}

static void check_tile(const chain *c, eg_type real, size_t t, double *scratch)
{
    size_t np = (size_t)c->np, lanes = (size_t)c->lanes;
    double *want = scratch, *size = scratch + 2 * np;
    for (size_t lane = 0; lane < lanes; lane++) {
        plain_chain(c, t, lane, want, size);
        for (size_t i = 0; i < 2 * np; i++) {
            size_t at = (t * 2 * np + i) * lanes + lane;
            assert_near(c->out.v[at], want[i], 8 * epsilon(real) * (1 + size[i]), "out", at);
        }
    }
}

/* One degree at 1, 7 and 33 tiles and at more than the device works on at once. */
static void run_chain(eg_device *device, eg_type real, int degree, int lanes)
{
    enum { CHECKED_MOST = 33 };
    const eg_device_info *info = eg_device_get_info(device);
    eg_context *ctx = eg_device_context(device);
    uint64_t seed = (uint64_t)degree;
    chain c = {.np = (degree + 1) * (degree + 2) / 2, .nc = cubature[degree]};
    const eg_define defines[] = {{"NP", c.np}, {"NC", c.nc}};
    const size_t counts[] = {1, 7, 33, 2 * (size_t)info->max_tiles_in_flight + 5};
    size_t most = counts[3] > counts[2] ? counts[3] : counts[2];
    eg_kernel *kernel = NULL;
    now_at(device, real, "degree %d LANES %d", degree, lanes);
    TEST_OK(ctx, eg_kernel_create(device,
                                  &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                       .source = "bench/chain.k.c",
                                                       .entry = "chain",
                                                       .real = real,
                                                       .lanes = lanes,
                                                       .defines = defines,
                                                       .define_count = EG_COUNT(defines)},
                                  &kernel));
    c.lanes = eg_kernel_lanes(kernel);
    size_t values = (size_t)c.np * (size_t)c.lanes;
    c.interp = matrix_random(device, real, c.nc, c.np, -1, 1, &seed);
    c.pr = matrix_random(device, real, c.np, c.nc, -1, 1, &seed);
    c.ps = matrix_random(device, real, c.np, c.nc, -1, 1, &seed);
    c.u = array_random(device, real, most * 4 * values, -1, 1, &seed);
    c.g = array_random(device, real, most * 4 * (size_t)c.lanes, -1, 1, &seed);
    c.out = array_poisoned(device, real, most * 2 * values);
    double *scratch = new_values(4 * (size_t)c.np);
    for (size_t k = 0; k < EG_COUNT(counts); k++) {
        size_t tiles = counts[k], step = tiles / CHECKED_MOST + 1;
        array_poison(&c.out);
        TEST_OK(ctx, eg_launch(kernel, (int64_t)tiles, EG_BUFFER("u", c.u.buffer),
                               EG_BUFFER("g", c.g.buffer), EG_OPERATOR("interp", c.interp.op),
                               EG_OPERATOR("pr", c.pr.op), EG_OPERATOR("ps", c.ps.op),
                               EG_BUFFER("out", c.out.buffer)));
        array_download(&c.out);
        for (size_t t = 0; t < tiles; t += step)
            check_tile(&c, real, t, scratch);
        check_tile(&c, real, tiles - 1, scratch);
        for (size_t i = 0; i < most * 2 * values; i++)
            if (isnan(c.out.v[i]) != (i >= tiles * 2 * values))
                fail_msg("%zu tiles: value %zu is %g", tiles, i, c.out.v[i]);
    }
    free(scratch);
    eg_kernel_destroy(&kernel);
    matrix_free(&c.interp);
    matrix_free(&c.pr);
    matrix_free(&c.ps);
    array_free(&c.u);
    array_free(&c.g);
    array_free(&c.out);
}

static void chains(eg_device *device, eg_type real)
{
    bool is_gpu = eg_device_get_info(device)->is_gpu;
    /* Single precision runs other code than double on tensor cores alone: a few degrees will do. */
    bool is_double = real == EG_F64;
    for (int degree = 1; degree <= (is_double ? MAX_DEGREE : 7); degree += is_double ? 1 : 3) {
        set_pocl_optimises(degree == 4); /* see devices.h */
        run_chain(device, real, degree, 0);
    }
    set_pocl_optimises(true);
    run_chain(device, real, 4, is_gpu ? 16 : 8);
}

static void test_hard__fused_chains_of_degree_1_to_10_agree_with_plain_c(void **state)
{
    (void)state;
    on_every_device(chains);
}

/* --- the surface term ------------------------------------------------------------------------ */

static const variant as_it_is = {0};

static void assert_right(double error)
{
    if (!(error <= 1)) fail_msg("the worst error is %g times what rounding allows", error);
}

static void surfaces(eg_device *device, eg_type real)
{
    static const int elements[][GROUPS] = {{1, 1}, {7, 33}, {33, 7}, {700, 500}};
    for (size_t i = 0; i < EG_COUNT(elements); i++) {
        now_at(device, real, "%d and %d elements", elements[i][0], elements[i][1]);
        assert_right(surface_error(device, real, &as_it_is, elements[i]));
    }
}

static void test_hard__a_surface_between_groups_of_other_degree_and_lanes_agrees(void **state)
{
    (void)state;
    on_every_device(surfaces);
}

/* --- hexahedra of degree 9 ------------------------------------------------------------------- */

/* The widest LANES up to the device's own with which `rows` shared rows fit. */
static int lanes_that_fit(const eg_device *device, eg_type real, size_t rows)
{
    const eg_device_info *info = eg_device_get_info(device);
    int lanes = info->lanes;
    while (lanes > 1 && rows * ((size_t)lanes + 2) * eg_type_size(real) > info->shared_bytes)
        lanes /= 2;
    return lanes;
}

static void hexahedra(eg_device *device, eg_type real)
{
    enum { SIDE = 10, NODES = SIDE * SIDE * SIDE };
    static const int counts[] = {1, 7, 33};
    bool on_cpu = !strcmp(eg_device_get_info(device)->backend, "cpu");
    int lanes = on_cpu ? 16 : lanes_that_fit(device, real, NODES);
    for (size_t i = 0; i < EG_COUNT(counts); i++) {
        now_at(device, real, "LANES %d, %d tiles", lanes, counts[i]);
        assert_right(gradient_error(device, real, &as_it_is, SIDE, lanes, counts[i]));
    }
}

static void test_hard__the_gradient_on_hexahedra_of_degree_9_agrees_with_plain_c(void **state)
{
    (void)state;
    on_every_device(hexahedra);
}

static void too_large_tiles(eg_device *device, eg_type real)
{
    enum { LANES = 64 };
    const eg_device_info *info = eg_device_get_info(device);
    if (!strcmp(info->backend, "cpu")) return; /* there shared memory is ordinary memory */
    int side = 10;
    while ((size_t)(side * side * side) * (LANES + 2) * eg_type_size(real) <= info->shared_bytes)
        side++;
    char *text = read_test_source("hexahedron.k.c");
    const eg_define defines[] = {{"SIDE", side}};
    eg_kernel *kernel = NULL;
    now_at(device, real, "SIDE %d", side);
    TEST_FAILS(eg_device_context(device), EG_ERROR_UNSUPPORTED, "use fewer LANES",
               eg_kernel_create(device,
                                &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                     .source = "kernel/hexahedron.k.c",
                                                     .text = text,
                                                     .entry = "gradient",
                                                     .real = real,
                                                     .lanes = LANES,
                                                     .defines = defines,
                                                     .define_count = EG_COUNT(defines)},
                                &kernel));
    assert_null(kernel);
    free(text);
}

static void test_hard__a_tile_larger_than_shared_memory_is_refused_with_advice(void **state)
{
    (void)state;
    on_every_device(too_large_tiles);
}

/* --- single precision inside double precision ------------------------------------------------ */

static void mixed(eg_device *device, eg_type real)
{
    static const int counts[] = {1, 7, 33};
    if (real != EG_F64) return; /* it has both */
    for (size_t i = 0; i < EG_COUNT(counts); i++) {
        now_at(device, real, "%d tiles", counts[i]);
        assert_right(mixed_error(device, &as_it_is, i ? 15 : 6, counts[i]));
    }
}

static void test_hard__a_float_smoother_between_double_kernels_shares_their_maps(void **state)
{
    (void)state;
    on_every_device(mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_hard__fused_chains_of_degree_1_to_10_agree_with_plain_c),
        KERNEL_TEST(test_hard__a_surface_between_groups_of_other_degree_and_lanes_agrees),
        KERNEL_TEST(test_hard__the_gradient_on_hexahedra_of_degree_9_agrees_with_plain_c),
        KERNEL_TEST(test_hard__a_tile_larger_than_shared_memory_is_refused_with_advice),
        KERNEL_TEST(test_hard__a_float_smoother_between_double_kernels_shares_their_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
