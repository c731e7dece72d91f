/* The first level of the kernel language, macro by macro, on every device against plain C: arguments,
 * tiles, nodes, rows, shared and private arrays, pointwise functions, gathered vectors. test_gemm.c has
 * its products, test_fragments.c the second level. */
#include "kernel/devices.h"

#include <math.h>

/* How a kernel is compiled: the numbers that change what its macros mean. */
typedef struct instance {
    int rows, lanes;
    int ty, tz; /* rows and tiles per block, 0: as the library chooses */
} instance;

/* Numbers that decimal digits would cut off. */
static const double table_values[6] = {0.1, -1.0 / 3, 3.0, 1e-30, -0.7, 2.0 / 7};

static eg_kernel *create(eg_device *device, eg_type real, const char *entry, instance in)
{
    char *text = read_test_source("dialect.k.c");
    const eg_define defines[] = {{"ROWS", in.rows}, {"TABLES", 1}};
    const eg_kernel_table table = {"table", table_values, EG_COUNT(table_values)};
    eg_kernel *kernel = NULL;
    now_at(device, real, "%s rows %d lanes %d block %d x %d", entry, in.rows, in.lanes, in.ty,
           in.tz);
    TEST_OK(eg_device_context(device),
            eg_kernel_create(device,
                             &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                  .source = "kernel/dialect.k.c",
                                                  .text = text,
                                                  .entry = entry,
                                                  .real = real,
                                                  .lanes = in.lanes,
                                                  .rows_per_block = in.ty,
                                                  .tiles_per_block = in.tz,
                                                  .defines = defines,
                                                  .define_count = EG_COUNT(defines),
                                                  .tables = &table,
                                                  .table_count = 1},
                             &kernel));
    free(text);
    assert_int_equal(eg_kernel_lanes(kernel), in.lanes);
    return kernel;
}

/* Ranges of tiles: none, one, fewer and more than a block holds, and some that do not begin at 0. */
typedef struct range {
    int64_t first, count;
} range;

#define TILES 36
static const range ranges[] = {{0, 0}, {0, 1}, {0, 2}, {0, 7}, {0, 33}, {3, 4}, {35, 1}, {1, 30}};

/* --- arguments ---------------------------------------------------------------------------------- */

static const char *const type_names[] = {"real", "f64", "f32", "i64", "i32", "u32", "u8"};
#define KINDS EG_COUNT(type_names)

/* Small enough that no sum leaves its type. */
static const double offsets[KINDS] = {0.375, -1.25, 2.5, 40.0, -7.0, 9.0, 3.0};

static void arguments_arrive(eg_device *device, eg_type real)
{
    enum { ROWS = 3, LANES = 8, COUNT = TILES * ROWS * LANES };
    static const eg_type types[] = {EG_F64, EG_F64, EG_F32, EG_I64, EG_I32, EG_U32, EG_U8};
    if (!eg_device_get_info(device)->has_f64) return;
    eg_kernel *kernel = create(device, real, "arguments", (instance){ROWS, LANES, 0, 0});
    array in[KINDS], out[KINDS], io[KINDS], io_before[KINDS];
    eg_argument arguments[4 * KINDS];
    char names[4 * KINDS][16];
    uint64_t seed = 1;
    for (size_t k = 0; k < KINDS; k++) {
        eg_type type = k == 0 ? real : types[k];
        bool whole = type != EG_F64 && type != EG_F32;
        in[k] = array_random(device, type, COUNT, 0, whole ? 100 : 1, &seed);
        io[k] = array_random(device, type, COUNT, whole ? 100 : 1, whole ? 200 : 2, &seed);
        io_before[k] = (array){.v = new_values(COUNT)};
        memcpy(io_before[k].v, io[k].v, COUNT * sizeof(double));
        out[k] = array_poisoned(device, type, COUNT);
        static const char *const prefixes[] = {"in", "out", "io", "val"};
        for (size_t p = 0; p < 4; p++)
            snprintf(names[4 * k + p], sizeof names[0], "%s_%s", prefixes[p], type_names[k]);
        /* Any order will do: arguments are found by name. */
        arguments[4 * k] = EG_BUFFER(names[4 * k + 2], io[k].buffer);
        arguments[4 * k + 1] = whole ? EG_INTEGER(names[4 * k + 3], (int64_t)offsets[k])
                                     : EG_REAL(names[4 * k + 3], offsets[k]);
        arguments[4 * k + 2] = EG_BUFFER(names[4 * k + 1], out[k].buffer);
        arguments[4 * k + 3] = EG_BUFFER(names[4 * k], in[k].buffer);
    }
    TEST_OK(eg_device_context(device),
            eg_launch_tiles(kernel, 0, TILES, arguments, EG_COUNT(arguments)));
    for (size_t k = 0; k < KINDS; k++) {
        array_download(&out[k]);
        array_download(&io[k]);
        for (size_t i = 0; i < COUNT; i++) {
            double bound = 4 * epsilon(out[k].type);
            assert_near(out[k].v[i], in[k].v[i] + offsets[k], bound, names[4 * k + 1], i);
            assert_near(io[k].v[i], io_before[k].v[i] - in[k].v[i], bound, names[4 * k + 2], i);
        }
        array_free(&in[k]);
        array_free(&out[k]);
        array_free(&io[k]);
        free(io_before[k].v);
    }
    eg_kernel_destroy(&kernel);
}

static void test_dialect__every_kind_and_type_of_argument_arrives(void **state)
{
    (void)state;
    on_every_device(arguments_arrive);
}

/* The ends of each type's range pass through a value unchanged. */
static void extremes_arrive(eg_device *device, eg_type real)
{
    static const char text[] =
        "K_KERNEL(show, K_VAL(i64, a), K_VAL(i32, b), K_VAL(u32, c), K_VAL(u8, d), K_VAL(f32, e),\n"
        "         K_VAL(real, f), K_OUT(i64, whole), K_OUT(real, broken))\n"
        "{\n"
        "    K_TILES(t)\n"
        "    {\n"
        "        K_NODES(i, 1)\n"
        "        {\n"
        "            if (lane == 0) whole[0] = a;\n"
        "            if (lane == 1) whole[1] = b;\n"
        "            if (lane == 2) whole[2] = c;\n"
        "            if (lane == 3) whole[3] = d;\n"
        "            if (lane == 0) broken[0] = e;\n"
        "            if (lane == 1) broken[1] = f;\n"
        "        }\n"
        "    }\n"
        "}\n";
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = NULL;
    TEST_OK(ctx, eg_kernel_create(device,
                                  &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                       .text = text,
                                                       .entry = "show",
                                                       .real = real,
                                                       .lanes = 4},
                                  &kernel));
    static const int64_t whole[][4] = {{INT64_MAX, INT32_MAX, UINT32_MAX, UINT8_MAX},
                                       {INT64_MIN, INT32_MIN, 0, 0}};
    static const double broken[][2] = {{0x1.fffffep127, -0.0}, {-INFINITY, NAN}};
    for (size_t k = 0; k < EG_COUNT(whole); k++) {
        array w = array_poisoned(device, EG_I64, 4), b = array_poisoned(device, real, 2);
        int64_t got[4];
        TEST_OK(ctx,
                eg_launch(kernel, 1, EG_INTEGER("a", whole[k][0]), EG_INTEGER("b", whole[k][1]),
                          EG_INTEGER("c", whole[k][2]), EG_INTEGER("d", whole[k][3]),
                          EG_REAL("e", broken[k][0]), EG_REAL("f", broken[k][1]),
                          EG_BUFFER("whole", w.buffer), EG_BUFFER("broken", b.buffer)));
        TEST_OK(ctx, eg_buffer_download(w.buffer, 0, 4, got));
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(got[i], whole[k][i]);
        array_download(&b);
        assert_true(b.v[0] == broken[k][0]);
        assert_true(isnan(broken[k][1]) ? isnan(b.v[1]) : b.v[1] == 0.0 && signbit(b.v[1]));
        array_free(&w);
        array_free(&b);
    }
    eg_kernel_destroy(&kernel);
}

static void test_dialect__values_at_the_ends_of_their_types_arrive(void **state)
{
    (void)state;
    on_every_device(extremes_arrive);
}

/* --- tiles, nodes, rows, lanes, shared and private arrays ---------------------------------------- */

typedef struct tile_outputs {
    array mirrored, numbers, sums, put, passed, bytes;
} tile_outputs;

/* What kernel `tile` must leave in tile t. */
static void check_tile(const instance *in, const array *x, const tile_outputs *o, size_t t,
                       eg_type real)
{
    int rows = in->rows, lanes = in->lanes, half = (rows + 1) / 2;
    size_t extent = (size_t)(rows * lanes);
    const double *u = x->v + t * extent;
    for (int i = 0; i < rows; i++)
        for (int lane = 0; lane < lanes; lane++) {
            size_t at = t * extent + (size_t)(i * lanes + lane);
            double twice = rounded(real, 2 * u[i * lanes + lane] + 0.5);
            assert_near(o->mirrored.v[at], u[(rows - 1 - i) * lanes + lanes - 1 - lane], 0,
                        "mirrored", at);
            assert_near(o->numbers.v[at], i * lanes + lane + 1000 * (rows - i) + lanes - 1 - lane,
                        0, "numbers", at);
            assert_near(o->put.v[at], twice, epsilon(real) * 4, "put", at);
            assert_near(o->passed.v[at], u[i * lanes + lane], 0, "passed", at);
        }
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < lanes; lane++) {
            size_t at = t * (size_t)(3 * lanes) + (size_t)(i * lanes + lane);
            assert_near(o->bytes.v[at], 100 * (2 - i) + lanes - 1 - lane, 0, "bytes", at);
        }
    for (int i = 0; i < half; i++)
        for (int lane = 0; lane < lanes; lane++) {
            size_t at = t * (size_t)(half * lanes) + (size_t)(i * lanes + lane);
            double sum = u[i * lanes + lanes - 1 - lane], size = fabs(sum);
            for (int j = 0; j < rows; j++) {
                double term = (2 * u[j * lanes + lane] + 0.5) * (i + 1);
                sum += term;
                size += fabs(term);
            }
            sum += 0.25 * (half - 1 - i) + lane;
            size += 0.25 * half + lane;
            assert_near(o->sums.v[at], sum, (rows + 4) * epsilon(real) * size, "sums", at);
        }
}

static void run_tile(eg_device *device, eg_type real, const instance *in)
{
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = create(device, real, "tile", *in);
    uint64_t seed = 7;
    size_t lanes = (size_t)in->lanes, extent = (size_t)in->rows * lanes;
    size_t half = (size_t)(in->rows + 1) / 2 * lanes;
    array x = array_random(device, real, TILES * extent, -1, 1, &seed);
    tile_outputs o = {.mirrored = array_poisoned(device, real, TILES * extent),
                      .numbers = array_poisoned(device, EG_I32, TILES * extent),
                      .sums = array_poisoned(device, real, TILES * half),
                      .put = array_poisoned(device, real, TILES * extent),
                      .passed = array_poisoned(device, real, TILES * extent),
                      .bytes = array_poisoned(device, EG_U8, TILES * 3 * lanes)};
    array *const outputs[] = {&o.mirrored, &o.numbers, &o.sums, &o.put, &o.passed, &o.bytes};
    for (size_t r = 0; r < EG_COUNT(ranges); r++) {
        size_t first = (size_t)ranges[r].first, count = (size_t)ranges[r].count;
        const eg_argument arguments[] = {
            EG_BUFFER("x", x.buffer),
            EG_BUFFER("mirrored", o.mirrored.buffer),
            EG_BUFFER("numbers", o.numbers.buffer),
            EG_BUFFER("sums", o.sums.buffer),
            EG_BUFFER("put", o.put.buffer),
            EG_BUFFER("passed", o.passed.buffer),
            EG_BUFFER("bytes", o.bytes.buffer),
        };
        for (size_t k = 0; k < EG_COUNT(outputs); k++)
            array_poison(outputs[k]);
        TEST_OK(ctx, eg_launch_tiles(kernel, ranges[r].first, ranges[r].count, arguments,
                                     EG_COUNT(arguments)));
        for (size_t k = 0; k < EG_COUNT(outputs); k++) {
            size_t per_tile = outputs[k]->count / TILES;
            assert_untouched_outside(outputs[k], first * per_tile, count * per_tile);
            array_download(outputs[k]);
        }
        for (size_t t = first; t < first + count; t++)
            check_tile(in, &x, &o, t, real);
    }
    for (size_t k = 0; k < EG_COUNT(outputs); k++)
        array_free(outputs[k]);
    array_free(&x);
    eg_kernel_destroy(&kernel);
}

static void tiles_and_nodes(eg_device *device, eg_type real)
{
    static const instance instances[] = {{1, 4, 0, 0},   {3, 8, 0, 0},   {8, 16, 0, 0},
                                         {13, 32, 0, 0}, {41, 16, 8, 2}, {5, 16, 3, 3}};
    /* Precision changes nothing but types: a part of the instances will do for the second. */
    for (size_t i = 0; i < EG_COUNT(instances); i += real == EG_F64 ? 1 : 3) {
        set_pocl_optimises(real == EG_F64 && i >= 3);
        run_tile(device, real, &instances[i]);
    }
}

static void test_dialect__loops_visit_every_node_once_and_arrays_survive_barriers(void **state)
{
    (void)state;
    on_every_device(tiles_and_nodes);
}

/* More tiles than a grid has blocks: blocks take several in turn. */
static void many_tiles(eg_device *device, eg_type real)
{
    if (real != EG_F32) return; /* the kernel has no real */
    enum { LANES = 32 };
    size_t tiles = eg_device_get_info(device)->is_gpu ? 700001 : 5003, count = tiles * LANES;
    eg_kernel *kernel = create(device, real, "turn", (instance){1, LANES, 0, 0});
    array x = array_new(device, EG_I32, count), y = array_poisoned(device, EG_I32, count);
    for (size_t i = 0; i < count; i++)
        x.v[i] = (double)i;
    array_upload(&x);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, (int64_t)tiles, EG_BUFFER("x", x.buffer), EG_BUFFER("y", y.buffer)));
    array_download(&y);
    for (size_t i = 0; i < count; i++)
        assert_near(y.v[i], x.v[i / LANES * LANES + (i + LANES / 2 + 1) % LANES], 0, "y", i);
    array_free(&x);
    array_free(&y);
    eg_kernel_destroy(&kernel);
}

static void test_dialect__more_tiles_than_blocks_are_all_done(void **state)
{
    (void)state;
    on_every_device(many_tiles);
}

/* --- pointwise functions ------------------------------------------------------------------------- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void pointwise(eg_device *device, eg_type real)
{
    const instance in = {6, 8, 0, 0};
    size_t extent = (size_t)(in.rows * in.lanes), count = 3 * TILES * extent;
    eg_kernel *kernel = create(device, real, "pointwise", in);
    uint64_t seed = 3;
    array u = array_random(device, real, count, 0.5, 1.5, &seed);
    array f = array_poisoned(device, real, count);
    for (size_t i = 0; i < count; i++) /* momenta of both signs */
        if (i / extent % 3) u.v[i] -= 1.0;
    array_upload(&u);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("u", u.buffer), EG_BUFFER("f", f.buffer)));
    array_download(&f);
    size_t capped = 0;
    for (size_t i = 0; i < TILES * extent; i++) {
        size_t row = i % extent / (size_t)in.lanes, base = i / extent * 3 * extent;
        size_t a = base + i % extent;
        size_t b = base + (row + 1) % (size_t)in.rows * (size_t)in.lanes + i % (size_t)in.lanes;
        double va = u.v[a + extent] / u.v[a], vb = u.v[b + extent] / u.v[b];
        double speed = larger(fabs(va), fabs(vb)) + 0.1;
        for (size_t k = 0; k < 3; k++) {
            double ua = u.v[a + k * extent], ub = u.v[b + k * extent];
            double mean = 0.5 * (ua * va + ub * vb), jump = 0.5 * speed * (ub - ua);
            double expected = k < 2 ? mean - jump : mean < 0.05 ? mean : 0.05;
            capped += k == 2 && mean >= 0.05;
            assert_near(f.v[a + k * extent], expected, 32 * epsilon(real), "f", a + k * extent);
        }
    }
    assert_true(capped > 0 && capped < TILES * extent);
    array_free(&u);
    array_free(&f);
    eg_kernel_destroy(&kernel);
}

static void test_dialect__functions_take_and_return_structs_by_value(void **state)
{
    (void)state;
    on_every_device(pointwise);
}

/* --- vectors ------------------------------------------------------------------------------------- */

static void gather(eg_device *device, eg_type real)
{
    static const instance instances[] = {{5, 2, 0, 0}, {3, 4, 0, 0}, {6, 8, 0, 0}, {4, 32, 0, 0}};
    for (size_t k = 0; k < EG_COUNT(instances); k++) {
        const size_t count = TILES * (size_t)(instances[k].rows * instances[k].lanes);
        eg_kernel *kernel = create(device, real, "gathered", instances[k]);
        uint64_t seed = 5;
        array x = array_random(device, real, count, -1, 1, &seed);
        array at = array_random(device, EG_I64, count, 0, 1, &seed);
        array y = array_poisoned(device, real, count);
        for (size_t i = 0; i < count; i++)
            at.v[i] = (double)((i * 7919 + 5) % count);
        array_upload(&at);
        TEST_OK(eg_device_context(device),
                eg_launch(kernel, TILES, EG_BUFFER("x", x.buffer), EG_BUFFER("at", at.buffer),
                          EG_BUFFER("y", y.buffer)));
        array_download(&y);
        for (size_t i = 0; i < count; i++)
            assert_near(y.v[i], x.v[(size_t)at.v[i]] - x.v[i], 2 * epsilon(real), "y", i);
        array_free(&y);
        array_free(&at);
        array_free(&x);
        eg_kernel_destroy(&kernel);
    }
}

static void test_dialect__vectors_gather_values_of_any_tile(void **state)
{
    (void)state;
    on_every_device(gather);
}

static void spread(eg_device *device, eg_type real)
{
    static const instance instances[] = {
        {1, 2, 0, 0}, {1, 4, 0, 0}, {1, 8, 0, 0}, {1, 16, 0, 0}, {1, 32, 0, 0}};
    enum { PITCH = 5 };
    for (size_t k = 0; k < EG_COUNT(instances); k++) {
        const size_t lanes = (size_t)instances[k].lanes, count = TILES * lanes;
        eg_kernel *kernel = create(device, real, "fours", instances[k]);
        uint64_t seed = 5;
        array x = array_random(device, real, 4 * count, -1, 1, &seed);
        array at = array_random(device, EG_I32, count, 0, 1, &seed);
        array rows = array_poisoned(device, real, PITCH * count);
        array fours = array_poisoned(device, real, 4 * count);
        for (size_t i = 0; i < count; i++)
            at.v[i] = (double)((i * 7919 + 5) % (4 * count - 3));
        array_upload(&at);
        TEST_OK(eg_device_context(device),
                eg_launch(kernel, TILES, EG_BUFFER("x", x.buffer), EG_BUFFER("at", at.buffer),
                          EG_BUFFER("spread", rows.buffer), EG_BUFFER("gathered", fours.buffer)));
        array_download(&rows);
        array_download(&fours);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < 4; j++) {
                const size_t here = (i / lanes * 4 + j) * lanes + i % lanes;
                assert_near(rows.v[PITCH * i + j], x.v[here], 0, "spread", i);
                assert_near(fours.v[here], x.v[(size_t)at.v[i] + j], 0, "gathered", here);
            }
        for (size_t i = 0; i < count; i++) /* what is between stays as it was */
            assert_true(isnan(rows.v[PITCH * i + 4]));
        array_free(&fours);
        array_free(&rows);
        array_free(&at);
        array_free(&x);
        eg_kernel_destroy(&kernel);
    }
}

static void test_dialect__vectors_are_spread_and_gathered_by_fours(void **state)
{
    (void)state;
    on_every_device(spread);
}

static void use_table(eg_device *device, eg_type real)
{
    const instance in = {5, 8, 0, 0};
    const size_t count = TILES * (size_t)(in.rows * in.lanes);
    const double *t = table_values;
    const double tolerance = real == EG_F64 ? 1e-15 : 1e-6;
    eg_kernel *kernel = create(device, real, "tabled", in);
    uint64_t seed = 3;
    array x = array_random(device, real, count, -1, 1, &seed);
    array y = array_poisoned(device, real, count);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("x", x.buffer), EG_BUFFER("y", y.buffer)));
    array_download(&y);
    for (size_t i = 0; i < count; i++)
        assert_near(y.v[i], t[0] + t[2] + t[4] + (t[1] + t[3] + t[5]) * x.v[i], 4 * tolerance,
                    "tabled", i);
    array_free(&y);
    array_free(&x);
    eg_kernel_destroy(&kernel);
}

static void test_dialect__tables_are_in_the_program(void **state)
{
    (void)state;
    on_every_device(use_table);
}

static void refuse_tables(eg_device *device, eg_type real)
{
    static const double good[] = {1, 2}, bad[] = {1, NAN};
    static const struct {
        eg_kernel_table table;
        const char *why;
    } wrong[] = {{{"K_TILES", good, 2}, "cannot be a table"},
                 {{"LANES", good, 2}, "cannot be a table"},
                 {{"a b", good, 2}, "cannot be a table"},
                 {{NULL, good, 2}, "cannot be a table"},
                 {{"table", good, 0}, "has no values"},
                 {{"table", bad, 2}, "value 1 of table 'table' is"}};
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        eg_kernel *kernel = NULL;
        TEST_FAILS(eg_device_context(device), EG_ERROR_ARGUMENT, wrong[i].why,
                   eg_kernel_create(device,
                                    &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                         .source = "device/reduce.k.c",
                                                         .entry = "reduce",
                                                         .real = real,
                                                         .tables = &wrong[i].table,
                                                         .table_count = 1},
                                    &kernel));
    }
}

static void test_dialect__tables_without_sense_are_refused(void **state)
{
    (void)state;
    on_every_device(refuse_tables);
}

static void compare_sizes(eg_device *device, eg_type real)
{
    static const instance instances[] = {{5, 2, 0, 0}, {3, 4, 0, 0}, {6, 8, 0, 0}, {4, 32, 0, 0}};
    for (size_t k = 0; k < EG_COUNT(instances); k++) {
        const size_t count = TILES * (size_t)(instances[k].rows * instances[k].lanes);
        eg_kernel *kernel = create(device, real, "sizes", instances[k]);
        uint64_t seed = 5;
        array x = array_random(device, real, count, -1, 1, &seed);
        array y = array_random(device, real, count, -1, 1, &seed);
        array greater = array_poisoned(device, real, count);
        array size = array_poisoned(device, real, count);
        x.v[0] = -0.0;
        x.v[1] = -INFINITY;
        array_upload(&x);
        TEST_OK(eg_device_context(device),
                eg_launch(kernel, TILES, EG_BUFFER("x", x.buffer), EG_BUFFER("y", y.buffer),
                          EG_BUFFER("greater", greater.buffer), EG_BUFFER("size", size.buffer)));
        array_download(&greater);
        array_download(&size);
        for (size_t i = 0; i < count; i++) {
            assert_true(greater.v[i] == fmax(x.v[i], y.v[i]));
            assert_true(size.v[i] == fabs(x.v[i]) && !signbit(size.v[i]));
        }
        array_free(&size);
        array_free(&greater);
        array_free(&y);
        array_free(&x);
        eg_kernel_destroy(&kernel);
    }
}

static void test_dialect__vectors_have_sizes_and_a_greater_one(void **state)
{
    (void)state;
    on_every_device(compare_sizes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_dialect__every_kind_and_type_of_argument_arrives),
        KERNEL_TEST(test_dialect__values_at_the_ends_of_their_types_arrive),
        KERNEL_TEST(test_dialect__loops_visit_every_node_once_and_arrays_survive_barriers),
        KERNEL_TEST(test_dialect__more_tiles_than_blocks_are_all_done),
        KERNEL_TEST(test_dialect__functions_take_and_return_structs_by_value),
        KERNEL_TEST(test_dialect__vectors_gather_values_of_any_tile),
        KERNEL_TEST(test_dialect__vectors_are_spread_and_gathered_by_fours),
        KERNEL_TEST(test_dialect__tables_are_in_the_program),
        KERNEL_TEST(test_dialect__tables_without_sense_are_refused),
        KERNEL_TEST(test_dialect__vectors_have_sizes_and_a_greater_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
