/* The second level of the kernel language, fused chains of fragments, on every device against plain
 * C: sizes that fill fragments and sizes that do not, one to five fields, several operands, loads
 * and stores of parts, and padded points, which must never make a NaN. */
#include "kernel/devices.h"

/* Sizes of a chain and how it is compiled. */
typedef struct instance {
    int fields, np, nc, nq, lanes;
    int64_t fn;        /* K_FN, 0: its default */
    int64_t registers; /* K_OPERAND_REGISTERS on tensor cores, -1: its default */
    int64_t streaming; /* K_STREAMING */
} instance;

static eg_kernel *create(eg_device *device, eg_type real, const char *entry, const instance *in)
{
    char *text = read_test_source("fragments.k.c");
    eg_define defines[8] = {{"FIELDS", in->fields}, {"NP", in->np}, {"NC", in->nc}, {"NQ", in->nq}};
    size_t count = 4;
    eg_kernel *kernel = NULL;
    now_at(device, real, "%s fields %d np %d nc %d nq %d lanes %d fn %d registers %d", entry,
           in->fields, in->np, in->nc, in->nq, in->lanes, (int)in->fn, (int)in->registers);
    if (in->fn) defines[count++] = (eg_define){"K_FN", in->fn};
    if (in->registers >= 0) defines[count++] = (eg_define){"K_OPERAND_REGISTERS", in->registers};
    if (in->streaming) defines[count++] = (eg_define){"K_STREAMING", 1};
    TEST_OK(eg_device_context(device),
            eg_kernel_create(device,
                             &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                  .source = "kernel/fragments.k.c",
                                                  .text = text,
                                                  .entry = entry,
                                                  .real = real,
                                                  .lanes = in->lanes,
                                                  .defines = defines,
                                                  .define_count = count},
                             &kernel));
    free(text);
    return kernel;
}

/* A value and the sum of the magnitudes that were added to make it. */
typedef struct sum {
    double value, size;
} sum;

/* Row m of A times values that stand `stride` apart. */
static sum product(const matrix *a, int m, const sum *x)
{
    sum s = {0, 0};
    for (int k = 0; k < a->cols; k++) {
        s.value += a->a[m * a->cols + k] * x[k].value;
        s.size += fabs(a->a[m * a->cols + k]) * x[k].size;
    }
    return s;
}

/* Column `lane` of rows [first, first + count) of a tile. */
static void column(const double *tile, int first, int count, int lanes, int lane, sum *out)
{
    for (int i = 0; i < count; i++) {
        double v = tile[(first + i) * lanes + lane];
        out[i] = (sum){v, fabs(v)};
    }
}

static void assert_sum(double value, sum expected, int terms, eg_type real, const char *what,
                       size_t at)
{
    assert_near(value, expected.value, terms * epsilon(real) * expected.size, what, at);
}

#define POINTS_MOST 72

/* --- the chain ------------------------------------------------------------------------------------ */

typedef struct chain {
    instance in;
    eg_type real;
    array u, g, w, first, others, lanes;
    matrix interp, pr, ps;
} chain;

/* The field-th field that tile t, lane `lane` must have after the chain. */
static void check_chain(const chain *c, size_t t, int lane)
{
    const instance *in = &c->in;
    int lanes = in->lanes, terms = in->np + 2 * in->nc + 16;
    const double *u = c->u.v + t * (size_t)(in->fields * in->np * lanes);
    const double *g = c->g.v + t * (size_t)(3 * lanes);
    sum at_points[5][POINTS_MOST], x[POINTS_MOST], a[POINTS_MOST], b[POINTS_MOST];
    double along = g[lanes + lane] + lane;
    for (int f = 0; f < in->fields; f++) {
        column(u, f * in->np, in->np, lanes, lane, x);
        for (int q = 0; q < in->nc; q++)
            at_points[f][q] = product(&c->interp, q, x);
    }
    for (int f = 0; f < in->fields; f++) {
        for (int q = 0; q < in->nc; q++) {
            double value = at_points[f][q].value;
            double scale = g[lane] * c->w.v[q] / at_points[in->fields - 1][q].value;
            a[q] = (sum){scale * (value + 0.75), fabs(scale) * (value + 0.75)};
            b[q] = (sum){along * value, fabs(along) * value};
        }
        for (int m = 0; m < in->nq; m++) {
            sum s = product(&c->pr, m, a), r = product(&c->ps, m, b);
            s = (sum){s.value + r.value, s.size + r.size};
            size_t row = (size_t)(f == 0 ? m : 2 + (f - 1) * in->nq + m);
            size_t rows = (size_t)(f == 0 ? in->nq : (in->fields - 1) * in->nq + 2);
            size_t at = (t * rows + row) * (size_t)lanes + (size_t)lane;
            assert_sum((f == 0 ? c->first.v : c->others.v)[at], s, terms, c->real,
                       f == 0 ? "first" : "others", at);
        }
    }
    size_t at = t * (size_t)lanes + (size_t)lane;
    assert_near(c->lanes.v[at], along * g[2 * lanes + lane], 4 * epsilon(c->real) * (lanes + 2),
                "lanes", at);
}

static void run_chain(eg_device *device, eg_type real, const instance *in, size_t tiles)
{
    static const struct {
        size_t first, count;
    } ranges[] = {{0, 0}, {0, 1}, {3, 4}, {1, 0}};
    uint64_t seed = 29;
    eg_kernel *kernel = create(device, real, "chain", in);
    size_t lanes = (size_t)in->lanes, fields = (size_t)in->fields;
    size_t np = (size_t)in->np, nq = (size_t)in->nq;
    size_t other_rows = (fields - 1) * nq + 2;
    chain c = {.in = *in, .real = real};
    c.u = array_random(device, real, tiles * fields * np * lanes, 0.5, 1.5, &seed);
    c.g = array_random(device, real, tiles * 3 * lanes, -1, 1, &seed);
    c.w = array_random(device, real, (size_t)in->nc, 0.5, 1, &seed);
    c.interp = matrix_random(device, real, in->nc, in->np, 0.1, 1, &seed);
    c.pr = matrix_random(device, real, in->nq, in->nc, -1, 1, &seed);
    c.ps = matrix_random(device, real, in->nq, in->nc, -1, 1, &seed);
    c.first = array_poisoned(device, real, tiles * nq * lanes);
    c.others = array_poisoned(device, real, tiles * other_rows * lanes);
    c.lanes = array_poisoned(device, real, tiles * lanes);
    array *const outputs[] = {&c.first, &c.others, &c.lanes};
    for (size_t r = 0; r < EG_COUNT(ranges); r++) {
        size_t first = ranges[r].first, count = r == 3 ? tiles - first : ranges[r].count;
        const eg_argument arguments[] = {
            EG_BUFFER("u", c.u.buffer),         EG_BUFFER("g", c.g.buffer),
            EG_BUFFER("w", c.w.buffer),         EG_OPERATOR("interp", c.interp.op),
            EG_OPERATOR("pr", c.pr.op),         EG_OPERATOR("ps", c.ps.op),
            EG_BUFFER("first", c.first.buffer), EG_BUFFER("others", c.others.buffer),
            EG_BUFFER("lanes", c.lanes.buffer),
        };
        for (size_t k = 0; k < EG_COUNT(outputs); k++)
            array_poison(outputs[k]);
        TEST_OK(eg_device_context(device), eg_launch_tiles(kernel, (int64_t)first, (int64_t)count,
                                                           arguments, EG_COUNT(arguments)));
        for (size_t k = 0; k < EG_COUNT(outputs); k++) {
            size_t per_tile = outputs[k]->count / tiles;
            assert_untouched_outside(outputs[k], first * per_tile, count * per_tile);
            array_download(outputs[k]);
        }
        for (size_t t = first; t < first + count; t++)
            for (int lane = 0; lane < in->lanes; lane++)
                check_chain(&c, t, lane);
    }
    array *const all[] = {&c.u, &c.g, &c.w, &c.first, &c.others, &c.lanes};
    for (size_t k = 0; k < EG_COUNT(all); k++)
        array_free(all[k]);
    matrix_free(&c.interp);
    matrix_free(&c.pr);
    matrix_free(&c.ps);
    eg_kernel_destroy(&kernel);
}

/* The instance as the device can run it; tensor cores take 16 lanes at a time. */
static instance fitted(const eg_device *device, instance in)
{
    if (uses_mma(device)) {
        if (in.lanes % 16) in.lanes = 16;
        if (in.fn && in.fn < 8) in.fn = 8;
    } else {
        in.registers = -1;
    }
    return in;
}

static void chains(eg_device *device, eg_type real)
{
    static const instance instances[] = {
        {1, 1, 1, 1, 4, 0, -1, 0},   {2, 3, 4, 3, 16, 0, -1, 0},    {3, 6, 6, 5, 32, 0, 0, 1},
        {4, 10, 16, 8, 8, 4, -1, 0}, {5, 15, 19, 16, 16, 0, -1, 1}, {2, 16, 25, 24, 32, 0, 0, 0},
        {1, 21, 33, 9, 16, 0, 8, 0}, {4, 33, 12, 33, 16, 0, -1, 0}, {3, 8, 8, 8, 16, 8, 1000, 0}};
    for (size_t i = 0; i < EG_COUNT(instances); i++) {
        instance in = fitted(device, instances[i]);
        set_pocl_optimises(i == 2 && real == EG_F64);
        run_chain(device, real, &in, 33);
    }
}

static void test_fragments__chains_of_every_size_agree_with_their_sums(void **state)
{
    (void)state;
    on_every_device(chains);
}

/* Warps go on to further tiles, and fetch them ahead. */
static void waves(eg_device *device, eg_type real)
{
    static const instance instances[] = {{2, 3, 4, 3, 16, 0, -1, 0}, {3, 6, 6, 5, 32, 0, 0, 1}};
    set_pocl_optimises(false);
    for (size_t i = 0; i < EG_COUNT(instances); i++) {
        instance in = fitted(device, instances[i]);
        run_chain(device, real, &in, eg_device_get_info(device)->is_gpu ? 20011 : 2003);
    }
}

static void test_fragments__more_tiles_than_one_wave_are_all_done(void **state)
{
    (void)state;
    on_every_device(waves);
}

/* --- two operands and two sums ---------------------------------------------------------------------- */

static void run_joined(eg_device *device, eg_type real, const instance *in)
{
    enum { TILES = 9 };
    uint64_t seed = 31;
    eg_kernel *kernel = create(device, real, "joined", in);
    size_t lanes = (size_t)in->lanes, np = (size_t)in->np, nq = (size_t)in->nq;
    array u = array_random(device, real, TILES * (np + 3) * lanes, 0.5, 1.5, &seed);
    array v = array_random(device, real, TILES * np * lanes, -1, 1, &seed);
    array s = array_random(device, real, TILES * nq * lanes, 0.5, 1.5, &seed);
    matrix inp = matrix_random(device, real, in->nc, in->np, 0.1, 1, &seed);
    matrix inq = matrix_random(device, real, in->nc, in->nq, 0.1, 1, &seed);
    matrix pq = matrix_random(device, real, in->nq, in->nc, -1, 1, &seed);
    matrix pp = matrix_random(device, real, in->np, in->nc, -1, 1, &seed);
    array z = array_poisoned(device, real, TILES * 2 * nq * lanes);
    array y = array_poisoned(device, real, TILES * np * lanes);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("u", u.buffer), EG_BUFFER("v", v.buffer),
                      EG_BUFFER("s", s.buffer), EG_OPERATOR("inp", inp.op),
                      EG_OPERATOR("inq", inq.op), EG_OPERATOR("pq", pq.op),
                      EG_OPERATOR("pp", pp.op), EG_BUFFER("z_out", z.buffer),
                      EG_BUFFER("y_out", y.buffer)));
    array_download(&z);
    array_download(&y);
    int terms = in->np + in->nq + in->nc + 16;
    for (size_t t = 0; t < TILES; t++)
        for (int lane = 0; lane < in->lanes; lane++) {
            sum x[3][POINTS_MOST], c0[POINTS_MOST], c1[POINTS_MOST], ratio[POINTS_MOST];
            column(u.v + t * (np + 3) * lanes, 1, in->np, in->lanes, lane, x[0]);
            column(v.v + t * np * lanes, 0, in->np, in->lanes, lane, x[1]);
            column(s.v + t * nq * lanes, 0, in->nq, in->lanes, lane, x[2]);
            for (int q = 0; q < in->nc; q++) {
                sum a = product(&inp, q, x[0]), b = product(&inp, q, x[1]);
                sum d = product(&inq, q, x[2]);
                c0[q] = (sum){a.value * d.value, a.size * d.size};
                c1[q] = (sum){b.value * d.value, b.size * d.size};
                ratio[q] = (sum){a.value / d.value, a.value / d.value};
            }
            for (int m = 0; m < in->nq; m++) {
                size_t at = (t * 2 * nq + (size_t)m) * lanes + (size_t)lane;
                assert_sum(z.v[at], product(&pq, m, c0), terms, real, "z", at);
                at += nq * lanes;
                assert_sum(z.v[at], product(&pq, m, c1), terms, real, "z", at);
            }
            for (int m = 0; m < in->np; m++) {
                size_t at = (t * np + (size_t)m) * lanes + (size_t)lane;
                assert_sum(y.v[at], product(&pp, m, ratio), terms, real, "y", at);
            }
        }
    array *const arrays[] = {&u, &v, &s, &z, &y};
    for (size_t k = 0; k < EG_COUNT(arrays); k++)
        array_free(arrays[k]);
    matrix *const matrices[] = {&inp, &inq, &pq, &pp};
    for (size_t k = 0; k < EG_COUNT(matrices); k++)
        matrix_free(matrices[k]);
    eg_kernel_destroy(&kernel);
}

static void joined(eg_device *device, eg_type real)
{
    static const instance instances[] = {
        {0, 6, 9, 10, 16, 0, -1, 0}, {0, 15, 28, 4, 32, 0, 16, 0}, {0, 10, 12, 3, 8, 0, 0, 1}};
    for (size_t i = 0; i < EG_COUNT(instances); i++) {
        instance in = fitted(device, instances[i]);
        set_pocl_optimises(i == 0 && real == EG_F32);
        run_joined(device, real, &in);
    }
}

static void
test_fragments__operands_of_two_sizes_from_several_arrays_meet_at_the_points(void **state)
{
    (void)state;
    on_every_device(joined);
}

/* --- sums that are stored twice ------------------------------------------------------------------------ */

static void run_twice(eg_device *device, eg_type real, const instance *in)
{
    enum { TILES = 9 };
    uint64_t seed = 37;
    eg_kernel *kernel = create(device, real, "twice", in);
    size_t lanes = (size_t)in->lanes, fields = (size_t)in->fields;
    size_t np = (size_t)in->np, rows = fields * (size_t)in->nq, nq = (size_t)in->nq;
    array u = array_random(device, real, TILES * fields * np * lanes, -1, 1, &seed);
    matrix interp = matrix_random(device, real, in->nc, in->np, -1, 1, &seed);
    matrix project = matrix_random(device, real, in->nq, in->nc, -1, 1, &seed);
    array once = array_poisoned(device, real, TILES * rows * lanes);
    array again = array_poisoned(device, real, TILES * (rows + 1) * lanes);
    array last = array_poisoned(device, real, TILES * nq * lanes);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("u", u.buffer), EG_OPERATOR("interp", interp.op),
                      EG_OPERATOR("project", project.op), EG_BUFFER("once", once.buffer),
                      EG_BUFFER("again", again.buffer), EG_BUFFER("last", last.buffer)));
    array_download(&once);
    array_download(&again);
    array_download(&last);
    for (size_t t = 0; t < TILES; t++)
        for (int lane = 0; lane < in->lanes; lane++)
            for (size_t f = 0; f < fields; f++) {
                sum x[POINTS_MOST], c[POINTS_MOST];
                column(u.v + (t * fields + f) * np * lanes, 0, in->np, in->lanes, lane, x);
                for (int q = 0; q < in->nc; q++)
                    c[q] = product(&interp, q, x);
                for (size_t m = 0; m < nq; m++) {
                    size_t row = f * nq + m, at = (t * rows + row) * lanes + (size_t)lane;
                    assert_sum(once.v[at], product(&project, (int)m, c), in->np + in->nc + 16, real,
                               "once", at);
                    size_t there = (t * (rows + 1) + row + 1) * lanes + (size_t)lane;
                    assert_near(again.v[there], once.v[at], 0, "again", there);
                    there = (t * nq + m) * lanes + (size_t)lane;
                    if (f == fields - 1) assert_near(last.v[there], once.v[at], 0, "last", there);
                }
            }
    array *const arrays[] = {&u, &once, &again, &last};
    for (size_t k = 0; k < EG_COUNT(arrays); k++)
        array_free(arrays[k]);
    matrix_free(&interp);
    matrix_free(&project);
    eg_kernel_destroy(&kernel);
}

/* Two warps of tensor cores share the 36 fragments of the first, and exchange their sums. */
static void twice(eg_device *device, eg_type real)
{
    static const instance instances[] = {{4, 66, 25, 17, 16, 0, -1, 0},
                                         {2, 10, 12, 9, 32, 0, 0, 1}};
    set_pocl_optimises(false);
    for (size_t i = 0; i < EG_COUNT(instances); i++) {
        instance in = fitted(device, instances[i]);
        run_twice(device, real, &in);
    }
}

static void test_fragments__sums_may_be_stored_again(void **state)
{
    (void)state;
    on_every_device(twice);
}

/* --- points and sums from memory ------------------------------------------------------------------------ */

static void run_loaded(eg_device *device, eg_type real, const instance *in)
{
    enum { TILES = 5 };
    uint64_t seed = 41;
    eg_kernel *kernel = create(device, real, "loaded", in);
    const size_t lanes = (size_t)in->lanes, np = (size_t)in->np, nq = (size_t)in->nq;
    array u = array_random(device, real, TILES * (np + 2) * lanes, -1, 1, &seed);
    array v = array_random(device, real, TILES * 2 * np * lanes, -1, 1, &seed);
    array first = array_random(device, real, TILES * (nq + 1) * lanes, -1, 1, &seed);
    matrix project = matrix_random(device, real, in->nq, in->np, -1, 1, &seed);
    array points = array_random(device, real, TILES * (np + 1) * lanes, 7, 8, &seed);
    array z = array_poisoned(device, real, TILES * nq * lanes);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("u", u.buffer), EG_BUFFER("v", v.buffer),
                      EG_BUFFER("first", first.buffer), EG_OPERATOR("project", project.op),
                      EG_BUFFER("points", points.buffer), EG_BUFFER("z_out", z.buffer)));
    array_download(&points);
    array_download(&z);
    for (size_t t = 0; t < TILES; t++)
        for (size_t lane = 0; lane < lanes; lane++) {
            sum c[POINTS_MOST];
            for (size_t i = 0; i < np; i++) {
                const size_t there = (t * (np + 1) + i + 1) * lanes + lane;
                const double scale = 1 + (double)(i / 2 % 4) * u.v[t * (np + 2) * lanes + lane];
                const double other = v.v[(t * 2 * np + 2 * np - 1 - i) * lanes + lane];
                c[i] = (sum){u.v[(t * (np + 2) + i + 1) * lanes + lane] + scale * other, 6};
                assert_sum(points.v[there], c[i], 4, real, "points", there);
            }
            assert_in_range((int)points.v[t * (np + 1) * lanes + lane], 7, 8);
            for (size_t m = 0; m < nq; m++) {
                const size_t at = (t * nq + m) * lanes + lane;
                sum want = product(&project, (int)m, c);
                want.value += first.v[(t * (nq + 1) + m + 1) * lanes + lane];
                want.size += 1;
                assert_sum(z.v[at], want, in->np + 16, real, "z", at);
            }
        }
    array *const arrays[] = {&u, &v, &first, &points, &z};
    for (size_t k = 0; k < EG_COUNT(arrays); k++)
        array_free(arrays[k]);
    matrix_free(&project);
    eg_kernel_destroy(&kernel);
}

static void loaded(eg_device *device, eg_type real)
{
    static const instance instances[] = {{1, 66, 1, 17, 16, 8, -1, 0}, {1, 11, 1, 8, 32, 8, -1, 1}};
    set_pocl_optimises(false);
    for (size_t i = 0; i < EG_COUNT(instances); i++) {
        instance in = fitted(device, instances[i]);
        run_loaded(device, real, &in);
    }
}

static void test_fragments__points_and_sums_come_from_memory(void **state)
{
    (void)state;
    on_every_device(loaded);
}

/* --- rows that are mirror images -------------------------------------------------------------------- */

enum { PAIRS_TILES = 5, PAIRS_MOST = 36 };

/* Row i of u or v in even (0) or odd parts. */
static sum part_of(const double *rows, const int32_t *pair, size_t lanes, int odd)
{
    const double a = rows[(size_t)pair[0] * lanes], b = rows[(size_t)pair[1] * lanes];
    return (sum){odd ? a - b : a + b, fabs(a) + fabs(b)};
}

/* A (A x) + start. */
static sum twice_product(const matrix *A, int m, const sum *x, sum start)
{
    sum y[PAIRS_MOST], z;
    for (int i = 0; i < A->rows; i++)
        y[i] = product(A, i, x);
    z = product(A, m, y);
    return (sum){z.value + start.value, z.size + start.size};
}

/* `mates` pairs of rows, then `alone` rows that are their own images, all in a mixed order. */
static void run_pairs(eg_device *device, eg_type real, int mates, int alone, int64_t registers)
{
    const int np = 2 * mates + alone, n = mates + alone;
    const size_t lanes = 16, padded = (size_t)(n + 7) / 8 * 8;
    const instance in = {
        .np = np, .nc = n, .nq = mates, .lanes = 16, .fn = 8, .registers = registers};
    const eg_define defines[] = {
        {"FIELDS", 1}, {"NP", np},       {"NC", 1},   {"NQ", 1},
        {"PAIRS", n},  {"MATES", mates}, {"K_FN", 8}, {"K_OPERAND_REGISTERS", registers}};
    uint64_t seed = 43;
    char *text = read_test_source("fragments.k.c");
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = NULL;
    eg_buffer *table = NULL;
    int32_t pair[PAIRS_MOST + 8][2];
    now_at(device, real, "%d pairs, %d alone, registers %d", mates, alone, (int)registers);
    for (int i = 0; i < (int)padded; i++) {
        const int k = i < n ? i : n - 1;
        pair[i][0] = k < mates ? np - 1 - k : k - mates;
        pair[i][1] = k < mates ? alone + k : k - mates;
    }
    TEST_OK(ctx, eg_kernel_create(device,
                                  &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                       .source = "kernel/fragments.k.c",
                                                       .text = text,
                                                       .entry = "pairs_of_rows",
                                                       .real = real,
                                                       .lanes = in.lanes,
                                                       .defines = defines,
                                                       .define_count = EG_COUNT(defines)},
                                  &kernel));
    TEST_OK(ctx, eg_buffer_create(device, EG_I32, 2 * padded, &table));
    TEST_OK(ctx, eg_buffer_upload(table, 0, 2 * padded, pair));
    array u = array_random(device, real, PAIRS_TILES * (size_t)(np + 1) * lanes, -1, 1, &seed);
    array v = array_random(device, real, PAIRS_TILES * (size_t)np * lanes, -1, 1, &seed);
    matrix even = matrix_random(device, real, n, n, -1, 1, &seed);
    matrix odd = matrix_random(device, real, mates, mates, -1, 1, &seed);
    array out = array_random(device, real, PAIRS_TILES * (size_t)(np + 1) * lanes, 7, 8, &seed);
    array folds = array_random(device, real, PAIRS_TILES * 2 * padded * lanes, 7, 8, &seed);
    TEST_OK(ctx, eg_launch(kernel, PAIRS_TILES, EG_BUFFER("u", u.buffer), EG_BUFFER("v", v.buffer),
                           EG_BUFFER("pairs", table), EG_OPERATOR("even", even.op),
                           EG_OPERATOR("odd", odd.op), EG_BUFFER("out", out.buffer),
                           EG_BUFFER("folds", folds.buffer)));
    array_download(&out);
    array_download(&folds);
    for (size_t t = 0; t < PAIRS_TILES; t++)
        for (size_t lane = 0; lane < lanes; lane++) {
            const double *mine = u.v + (t * (size_t)(np + 1) + 1) * lanes + lane;
            const double *start = v.v + t * (size_t)np * lanes + lane;
            const double *got = out.v + (t * (size_t)(np + 1) + 1) * lanes + lane;
            const double *fold = folds.v + t * 2 * padded * lanes + lane;
            sum xe[PAIRS_MOST + 8] = {{0, 0}}, xo[PAIRS_MOST + 8] = {{0, 0}};
            for (int i = 0; i < n; i++) {
                xe[i] = part_of(mine, pair[i], lanes, 0);
                xo[i] = part_of(mine, pair[i], lanes, 1);
            }
            for (int i = 0; i < n; i++) {
                sum e = part_of(start, pair[i], lanes, 0), o = part_of(start, pair[i], lanes, 1);
                e.value *= 0.5, o.value *= 0.5;
                e = twice_product(&even, i, xe, e);
                o = i < mates ? twice_product(&odd, i, xo, o) : (sum){0, 0};
                const sum a = {e.value + o.value, e.size + o.size};
                const sum b = {e.value - o.value, e.size + o.size};
                const size_t first = (size_t)pair[i][0] * lanes, other = (size_t)pair[i][1] * lanes;
                assert_sum(got[first], a, 2 * np + 16, real, "the first of a pair", first);
                assert_sum(got[other], b, 2 * np + 16, real, "the other of a pair", other);
            }
            for (size_t i = 0; i < padded; i++) { /* sides 0 and 2 are each other's images */
                const size_t side = i / 2 % 4, image = side % 2 ? i : i ^ 4;
                const double x = xe[i].value, y = xo[image].value;
                if (side == 3) {
                    assert_in_range((int)fold[2 * i * lanes], 7, 8);
                    continue;
                }
                assert_near(fold[2 * i * lanes], x + y, 4 * epsilon(real), "a sum", i);
                assert_near(fold[(2 * i + 1) * lanes], x - y, 4 * epsilon(real), "a difference", i);
            }
            assert_in_range((int)out.v[t * (size_t)(np + 1) * lanes + lane], 7, 8);
        }
    array *const arrays[] = {&u, &v, &out, &folds};
    for (size_t k = 0; k < EG_COUNT(arrays); k++)
        array_free(arrays[k]);
    matrix_free(&odd);
    matrix_free(&even);
    eg_buffer_destroy(&table);
    eg_kernel_destroy(&kernel);
    free(text);
}

/* With operands in registers, and in shared memory. */
static void pairs(eg_device *device, eg_type real)
{
    set_pocl_optimises(false);
    run_pairs(device, real, 16, 4, 1024);
    run_pairs(device, real, 3, 1, 0);
    if (uses_mma(device)) run_pairs(device, real, 30, 6, 0);
}

static void test_fragments__rows_that_are_mirror_images_have_even_and_odd_parts(void **state)
{
    (void)state;
    on_every_device(pairs);
}

/* --- sums that are worked on ------------------------------------------------------------------------- */

static void run_worked_on(eg_device *device, eg_type real, int np, int nq)
{
    enum { TILES = 3, LANES = 16 };
    const eg_define defines[] = {{"FIELDS", 1}, {"NC", 1},   {"NP", np},
                                 {"NQ", nq},    {"K_FN", 8}, {"K_UNROLL_CHUNKS", 1}};
    uint64_t seed = 47;
    char *text = read_test_source("fragments.k.c");
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = NULL;
    now_at(device, real, "np %d, nq %d", np, nq);
    TEST_OK(ctx, eg_kernel_create(device,
                                  &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                       .source = "kernel/fragments.k.c",
                                                       .text = text,
                                                       .entry = "worked_on",
                                                       .real = real,
                                                       .lanes = LANES,
                                                       .defines = defines,
                                                       .define_count = EG_COUNT(defines)},
                                  &kernel));
    array u = array_random(device, real, TILES * (size_t)np * LANES, -1, 1, &seed);
    matrix A = matrix_random(device, real, nq, np, -1, 1, &seed);
    matrix B = matrix_random(device, real, np, nq, -1, 1, &seed);
    array out = array_poisoned(device, real, TILES * (size_t)np * LANES);
    TEST_OK(ctx, eg_launch(kernel, TILES, EG_BUFFER("u", u.buffer), EG_OPERATOR("A", A.op),
                           EG_OPERATOR("B", B.op), EG_BUFFER("out", out.buffer)));
    array_download(&out);
    for (size_t t = 0; t < TILES; t++)
        for (int lane = 0; lane < LANES; lane++) {
            const double *tile = u.v + t * (size_t)np * LANES;
            sum x[POINTS_MOST], w[POINTS_MOST];
            column(tile, 0, np, LANES, lane, x);
            for (int i = 0; i < nq; i++) {
                w[i] = product(&A, i, x);
                w[i].value *= 1 + x[1].value;
                w[i].size *= 1 + x[1].size;
            }
            for (int i = 0; i < np; i++) {
                const size_t at = (t * (size_t)np + (size_t)i) * LANES + (size_t)lane;
                assert_sum(out.v[at], product(&B, i, w), np + nq + 16, real, "out", at);
            }
        }
    array_free(&out);
    array_free(&u);
    matrix_free(&B);
    matrix_free(&A);
    eg_kernel_destroy(&kernel);
    free(text);
}

static void worked_on(eg_device *device, eg_type real)
{
    set_pocl_optimises(false);
    run_worked_on(device, real, 10, 5);
    run_worked_on(device, real, 21, 11);
}

static void test_fragments__sums_may_be_worked_on_and_multiplied_again(void **state)
{
    (void)state;
    on_every_device(worked_on);
}

/* --- chunks ------------------------------------------------------------------------------------------ */

/* A chunk that the packing of operators has no room for would read behind them. */
static void odd_chunks(eg_device *device, eg_type real)
{
    static const int64_t sizes[] = {2, 6, 16};
    char *text = read_test_source("fragments.k.c");
    set_pocl_optimises(true);
    for (size_t i = 0; i < EG_COUNT(sizes) && !uses_mma(device); i++) {
        const eg_define defines[] = {
            {"FIELDS", 1}, {"NP", 3}, {"NC", 4}, {"NQ", 3}, {"K_FN", sizes[i]}};
        eg_kernel *kernel = NULL;
        TEST_FAILS(eg_device_context(device), EG_ERROR_COMPILE, "K_FN is 4 or 8",
                   eg_kernel_create(device,
                                    &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                         .source = "kernel/fragments.k.c",
                                                         .text = text,
                                                         .entry = "chain",
                                                         .real = real,
                                                         .lanes = 16,
                                                         .defines = defines,
                                                         .define_count = EG_COUNT(defines)},
                                    &kernel));
    }
    free(text);
}

static void test_fragments__a_chunk_that_does_not_fit_the_packing_is_refused(void **state)
{
    (void)state;
    on_every_device(odd_chunks);
}

/* For an architecture with tensor cores; NULL: it compiles, else what the compiler says. */
static void compile_for_tensor_cores(eg_context *ctx, const char *entry, const eg_define *defines,
                                     size_t count, const char *complaint)
{
    const eg_target target = {EG_TARGET_CUDA, 90, 32, 232448, 1024};
    char *text = read_test_source("fragments.k.c");
    const eg_kernel_options options = {.size = sizeof options,
                                       .source = "kernel/fragments.k.c",
                                       .text = text,
                                       .entry = entry,
                                       .defines = defines,
                                       .define_count = count};
    eg_source *source = NULL;
    eg_blob blob = {0};
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    TEST_OK(ctx, eg_source_build(ctx, &target, &options, source));
    if (complaint)
        TEST_FAILS(ctx, EG_ERROR_COMPILE, complaint,
                   eg_cuda_compile(ctx, "sm_90", source->name, &source->text, true, &blob));
    else
        TEST_OK(ctx, eg_cuda_compile(ctx, "sm_90", source->name, &source->text, true, &blob));
    eg_release(ctx, &blob.data);
    eg_source_free(source);
    eg_release(ctx, &source);
    free(text);
}

/* Tensor cores work on eight points at a time; seen without one wherever NVRTC is. */
static void test_fragments__a_chunk_of_less_than_a_fragment_is_refused(void **state)
{
    (void)state;
    static const int64_t sizes[] = {4, 8, 12, 16};
    eg_context *ctx = test_context();
    bool present = eg_cuda_compiler_present(ctx);
    for (size_t i = 0; i < EG_COUNT(sizes) && present; i++) {
        const eg_define defines[] = {
            {"FIELDS", 1}, {"NP", 3}, {"NC", 20}, {"NQ", 3}, {"K_FN", sizes[i]}};
        compile_for_tensor_cores(ctx, "chain", defines, EG_COUNT(defines),
                                 sizes[i] % 8 ? "K_FN is 8 or 16 on tensor cores" : NULL);
    }
    test_context_free(&ctx);
    if (!present) skip();
}

/* Folding knows where the sides of a chunk of 8 points are: of 4 it would read points that are not there, of 16 it
 * would leave out half. */
static void folds_of_other_chunks(eg_device *device, eg_type real)
{
    const eg_define defines[] = {
        {"NP", 10}, {"PAIRS", 6}, {"MATES", 4}, {"K_FN", uses_mma(device) ? 16 : 4}};
    char *text = read_test_source("fragments.k.c");
    eg_kernel *kernel = NULL;
    set_pocl_optimises(true);
    TEST_FAILS(eg_device_context(device), EG_ERROR_COMPILE, "array", /* of a size below zero */
               eg_kernel_create(device,
                                &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                     .source = "kernel/fragments.k.c",
                                                     .text = text,
                                                     .entry = "pairs_of_rows",
                                                     .real = real,
                                                     .lanes = 16,
                                                     .defines = defines,
                                                     .define_count = EG_COUNT(defines)},
                                &kernel));
    free(text);
}

static void test_fragments__folds_of_other_chunks_than_of_8_points_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const bool present = eg_cuda_compiler_present(ctx);
    for (int64_t size = 8; size <= 16 && present; size += 8) {
        const eg_define defines[] = {{"NP", 10}, {"PAIRS", 6}, {"MATES", 4}, {"K_FN", size}};
        compile_for_tensor_cores(ctx, "pairs_of_rows", defines, EG_COUNT(defines),
                                 size == 8 ? NULL : "array");
    }
    test_context_free(&ctx);
    on_every_device(folds_of_other_chunks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_fragments__chains_of_every_size_agree_with_their_sums),
        KERNEL_TEST(test_fragments__more_tiles_than_one_wave_are_all_done),
        KERNEL_TEST(test_fragments__operands_of_two_sizes_from_several_arrays_meet_at_the_points),
        KERNEL_TEST(test_fragments__sums_may_be_stored_again),
        KERNEL_TEST(test_fragments__points_and_sums_come_from_memory),
        KERNEL_TEST(test_fragments__rows_that_are_mirror_images_have_even_and_odd_parts),
        KERNEL_TEST(test_fragments__sums_may_be_worked_on_and_multiplied_again),
        KERNEL_TEST(test_fragments__a_chunk_that_does_not_fit_the_packing_is_refused),
        cmocka_unit_test(test_fragments__a_chunk_of_less_than_a_fragment_is_refused),
        KERNEL_TEST(test_fragments__folds_of_other_chunks_than_of_8_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
