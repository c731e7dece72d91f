/* Products of the first level, K_GEMM and its relatives, on every device against the sums that
 * define them: every form, sizes on both sides of every block, lines in every direction. */
#include "kernel/devices.h"

#define TILES 7

/* How a kernel is compiled besides its sizes. */
typedef struct instance {
    int lanes;
    int ty, tz;       /* rows and tiles per block, 0: as the library chooses */
    int64_t scramble; /* K_SCRAMBLE */
    int64_t small;    /* K_GEMM_SMALL on tensor cores, -1: its default */
} instance;

static eg_kernel *create(eg_device *device, eg_type real, const char *entry, instance in,
                         const eg_define *sizes, size_t size_count)
{
    eg_define defines[48];
    size_t count = 0;
    char *text = read_test_source("gemm.k.c");
    eg_kernel *kernel = NULL;
    assert_true(size_count + 2 <= EG_COUNT(defines));
    for (size_t i = 0; i < size_count; i++)
        defines[count++] = sizes[i];
    if (in.scramble) defines[count++] = (eg_define){"K_SCRAMBLE", 1};
    if (in.small >= 0) defines[count++] = (eg_define){"K_GEMM_SMALL", in.small};
    TEST_OK(eg_device_context(device),
            eg_kernel_create(device,
                             &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                  .source = "kernel/gemm.k.c",
                                                  .text = text,
                                                  .entry = entry,
                                                  .real = real,
                                                  .lanes = in.lanes,
                                                  .rows_per_block = in.ty,
                                                  .tiles_per_block = in.tz,
                                                  .defines = defines,
                                                  .define_count = count},
                             &kernel));
    free(text);
    return kernel;
}

/* Tensor cores have two ways to multiply; elsewhere one run tells all. */
static int ways(const eg_device *device)
{
    return uses_mma(device) ? 2 : 1;
}

static int64_t small_of(const eg_device *device, int way)
{
    return !uses_mma(device) ? -1 : way == 0 ? 0 : 1000000;
}

/* Row m of A times the rows of x that stand `stride` values apart; the sum of magnitudes in *size. */
static double product(const matrix *a, int m, const double *x, size_t stride, double *size)
{
    double sum = 0;
    *size = 0;
    for (int k = 0; k < a->cols; k++) {
        double term = a->a[m * a->cols + k] * x[(size_t)k * stride];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* --- forms --------------------------------------------------------------------------------------- */

static void run_forms(eg_device *device, eg_type real, int rows, int cols, instance in)
{
    const eg_define sizes[] = {{"MR", rows}, {"KC", cols}};
    now_at(device, real, "forms %d x %d lanes %d block %d x %d scramble %d", rows, cols, in.lanes,
           in.ty, in.tz, (int)in.scramble);
    eg_kernel *kernel = create(device, real, "forms", in, sizes, EG_COUNT(sizes));
    uint64_t seed = 5;
    size_t lanes = (size_t)in.lanes, m = (size_t)rows, k = (size_t)cols;
    array x = array_random(device, real, TILES * k * lanes, -1, 1, &seed);
    array stored = array_poisoned(device, real, TILES * 4 * m * lanes);
    array added = array_random(device, real, TILES * 4 * m * lanes, -1, 1, &seed);
    matrix a = matrix_random(device, real, rows, cols, -1, 1, &seed);
    double *before = new_values(added.count);
    memcpy(before, added.v, added.count * sizeof *before);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("x", x.buffer), EG_OPERATOR("a", a.op),
                      EG_BUFFER("stored", stored.buffer), EG_BUFFER("added", added.buffer)));
    array_download(&stored);
    array_download(&added);
    for (size_t i = 0; i < stored.count; i++) {
        size_t t = i / (4 * m * lanes), row = i / lanes % m, lane = i % lanes;
        double size, sum = product(&a, (int)row, x.v + t * k * lanes + lane, lanes, &size);
        double bound = (cols + 2) * epsilon(real) * (size + 1);
        assert_near(stored.v[i], sum, bound, "stored", i);
        assert_near(added.v[i], before[i] + sum, bound, "added", i);
    }
    free(before);
    matrix_free(&a);
    array_free(&x);
    array_free(&stored);
    array_free(&added);
    eg_kernel_destroy(&kernel);
}

static void forms(eg_device *device, eg_type real)
{
    static const struct {
        int rows, cols;
        instance in;
    } cases[] = {{5, 3, {4, 0, 0, 0, 0}},
                 {15, 21, {16, 0, 0, 1, 0}},
                 {66, 45, {32, 0, 0, 1, 0}},
                 {28, 66, {8, 3, 3, 0, 0}}};
    for (size_t c = 0; c < EG_COUNT(cases); c++)
        for (int way = 0; way < ways(device); way++) {
            instance in = cases[c].in;
            /* In registers a large product is thousands of instructions in a row. */
            if (way == 1 && cases[c].rows * cases[c].cols > 500) continue;
            in.small = small_of(device, way);
            set_pocl_optimises(c == 1 && real == EG_F64);
            run_forms(device, real, cases[c].rows, cases[c].cols, in);
        }
}

static void test_gemm__every_form_multiplies(void **state)
{
    (void)state;
    on_every_device(forms);
}

/* --- vectors ------------------------------------------------------------------------------------- */

static void run_vectors(eg_device *device, eg_type real, int rows, int cols, int lanes_of)
{
    const eg_define sizes[] = {{"MR", rows}, {"KC", cols}};
    const instance in = {.lanes = lanes_of, .small = -1};
    now_at(device, real, "vectors %d x %d lanes %d", rows, cols, lanes_of);
    eg_kernel *kernel = create(device, real, "vectors", in, sizes, EG_COUNT(sizes));
    uint64_t seed = 17;
    const size_t lanes = (size_t)lanes_of, m = (size_t)rows, k = (size_t)cols;
    array x = array_random(device, real, TILES * k * lanes, -1, 1, &seed);
    array stored = array_poisoned(device, real, TILES * m * lanes);
    array added = array_poisoned(device, real, TILES * m * lanes);
    matrix a = matrix_random(device, real, rows, cols, -1, 1, &seed);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("x", x.buffer), EG_OPERATOR("a", a.op),
                      EG_BUFFER("stored", stored.buffer), EG_BUFFER("added", added.buffer)));
    array_download(&stored);
    array_download(&added);
    for (size_t i = 0; i < stored.count; i++) {
        const size_t t = i / (m * lanes), row = i / lanes % m, lane = i % lanes;
        const double *column = x.v + t * k * lanes + lane;
        double size, sum = product(&a, (int)row, column, lanes, &size);
        double bound = (cols + 2) * epsilon(real) * (size + 1);
        assert_near(stored.v[i], sum, bound, "stored", i);
        assert_near(added.v[i], column[row % k * lanes] + sum, bound, "added", i);
    }
    matrix_free(&a);
    array_free(&x);
    array_free(&stored);
    array_free(&added);
    eg_kernel_destroy(&kernel);
}

/* Small ones with one and with two sums for a row, large ones of one block of rows and of several. */
static void vectors(eg_device *device, eg_type real)
{
    static const int cases[][3] = {{1, 1, 16},  {4, 15, 8},  {3, 6, 1},   {2, 5, 2},
                                   {5, 21, 16}, {13, 24, 4}, {25, 40, 8}, {36, 97, 32}};
    for (size_t c = 0; c < EG_COUNT(cases); c++)
        run_vectors(device, real, cases[c][0], cases[c][1], cases[c][2]);
}

static void test_gemm__vectors_multiply_without_a_tile(void **state)
{
    (void)state;
    on_every_device(vectors);
}

/* --- sizes --------------------------------------------------------------------------------------- */

#define PRODUCTS 10

/* Ten products: rows first, first + 2, … and columns that run through all of 1 to 20 meanwhile. */
static void run_sizes(eg_device *device, eg_type real, int first, instance in)
{
    static char names[3 * PRODUCTS][4];
    eg_define sizes[3 * PRODUCTS + 2];
    matrix a[PRODUCTS];
    eg_argument arguments[PRODUCTS + 2];
    char operators[PRODUCTS][4];
    int rows[PRODUCTS], cols[PRODUCTS], most = 20, sum = 0;
    uint64_t seed = 11;
    for (int j = 0; j < PRODUCTS; j++) {
        rows[j] = first + 2 * j;
        cols[j] = (7 * rows[j] + 3 * in.lanes) % 20 + 1;
        snprintf(names[3 * j], sizeof names[0], "M%d", j);
        snprintf(names[3 * j + 1], sizeof names[0], "K%d", j);
        snprintf(names[3 * j + 2], sizeof names[0], "O%d", j);
        sizes[3 * j] = (eg_define){names[3 * j], rows[j]};
        sizes[3 * j + 1] = (eg_define){names[3 * j + 1], cols[j]};
        sizes[3 * j + 2] = (eg_define){names[3 * j + 2], sum};
        sum += rows[j];
        a[j] = matrix_random(device, real, rows[j], cols[j], -1, 1, &seed);
        snprintf(operators[j], sizeof operators[0], "a%d", j);
        arguments[j] = EG_OPERATOR(operators[j], a[j].op);
    }
    sizes[3 * PRODUCTS] = (eg_define){"KMOST", most};
    sizes[3 * PRODUCTS + 1] = (eg_define){"MSUM", sum};
    now_at(device, real, "sizes from %d lanes %d", first, in.lanes);
    eg_kernel *kernel = create(device, real, "sizes", in, sizes, EG_COUNT(sizes));
    size_t lanes = (size_t)in.lanes;
    array x = array_random(device, real, TILES * (size_t)most * lanes, -1, 1, &seed);
    array y = array_poisoned(device, real, TILES * (size_t)sum * lanes);
    arguments[PRODUCTS] = EG_BUFFER("x", x.buffer);
    arguments[PRODUCTS + 1] = EG_BUFFER("y", y.buffer);
    TEST_OK(eg_device_context(device),
            eg_launch_tiles(kernel, 0, TILES, arguments, EG_COUNT(arguments)));
    array_download(&y);
    size_t at = 0;
    for (size_t t = 0; t < TILES; t++)
        for (int j = 0; j < PRODUCTS; j++)
            for (int m = 0; m < rows[j]; m++)
                for (size_t lane = 0; lane < lanes; lane++, at++) {
                    double size, expected = product(&a[j], m, x.v + t * (size_t)most * lanes + lane,
                                                    lanes, &size);
                    assert_near(y.v[at], expected, (cols[j] + 2) * epsilon(real) * size,
                                operators[j], at);
                }
    for (int j = 0; j < PRODUCTS; j++)
        matrix_free(&a[j]);
    array_free(&x);
    array_free(&y);
    eg_kernel_destroy(&kernel);
}

static void sizes_on(eg_device *device, eg_type real)
{
    static const struct {
        int first;
        instance in;
    } cases[] = {
        {1, {8, 0, 0, 0, 0}}, {2, {32, 0, 0, 1, 0}}, {1, {16, 0, 0, 0, 0}}, {2, {4, 0, 0, 0, 0}}};
    /* The second precision takes every other set of sizes. */
    for (size_t c = real == EG_F64 ? 0 : 1; c < EG_COUNT(cases); c += real == EG_F64 ? 1 : 2)
        for (int way = 0; way < ways(device); way++) {
            instance in = cases[c].in;
            in.small = small_of(device, way);
            set_pocl_optimises(c == 1 && real == EG_F64);
            run_sizes(device, real, cases[c].first, in);
        }
}

static void test_gemm__sizes_from_1_to_20_multiply(void **state)
{
    (void)state;
    on_every_device(sizes_on);
}

/* --- lines --------------------------------------------------------------------------------------- */

typedef struct direction {
    size_t stride, lines; /* S and L of K_GEMM_LINES */
} direction;

/* Checks rows (o*MR + m)*S + s of y, of which tile t begins at value `base`. */
static void check_lines(const matrix *a, direction d, const double *x, const double *before,
                        const array *y, size_t base, size_t lanes, const char *what)
{
    size_t m_count = (size_t)a->rows, k_count = (size_t)a->cols;
    for (size_t o = 0; o < d.lines; o++)
        for (size_t m = 0; m < m_count; m++)
            for (size_t s = 0; s < d.stride; s++)
                for (size_t lane = 0; lane < lanes; lane++) {
                    size_t row = (o * m_count + m) * d.stride + s, at = row * lanes + lane;
                    const double *line = x + (o * k_count * d.stride + s) * lanes + lane;
                    double size, sum = product(a, (int)m, line, d.stride * lanes, &size);
                    if (before) sum += before[at], size += fabs(before[at]);
                    assert_near(y->v[base + at], sum, (a->cols + 2) * epsilon(y->type) * size, what,
                                base + at);
                }
}

static void run_lines(eg_device *device, eg_type real, int rows, int cols, int fields, instance in)
{
    const eg_define sizes[] = {{"MR", rows}, {"KC", cols}, {"FIELDS", fields}};
    now_at(device, real, "lines %d x %d fields %d lanes %d", rows, cols, fields, in.lanes);
    eg_kernel *kernel = create(device, real, "lines", in, sizes, EG_COUNT(sizes));
    uint64_t seed = 17;
    size_t lanes = (size_t)in.lanes, m = (size_t)rows, k = (size_t)cols, f = (size_t)fields;
    size_t cube = k * k * k * lanes, slab = m * k * k * lanes;
    array u = array_random(device, real, TILES * f * k * lanes, -1, 1, &seed);
    array x = array_random(device, real, TILES * cube, -1, 1, &seed);
    array of = array_poisoned(device, real, TILES * f * m * lanes);
    array y = array_poisoned(device, real, TILES * 3 * slab);
    array added = array_random(device, real, TILES * 2 * slab, -1, 1, &seed);
    matrix a = matrix_random(device, real, rows, cols, -1, 1, &seed);
    double *before = new_values(added.count);
    memcpy(before, added.v, added.count * sizeof *before);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("u", u.buffer), EG_BUFFER("x", x.buffer),
                      EG_OPERATOR("a", a.op), EG_BUFFER("fields", of.buffer),
                      EG_BUFFER("y", y.buffer), EG_BUFFER("added", added.buffer)));
    array_download(&of);
    array_download(&y);
    array_download(&added);
    const direction directions[] = {{1, k * k}, {k, k}, {k * k, 1}};
    for (size_t t = 0; t < TILES; t++) {
        check_lines(&a, (direction){1, f}, u.v + t * f * k * lanes, NULL, &of, t * f * m * lanes,
                    lanes, "fields");
        for (size_t d = 0; d < 3; d++)
            check_lines(&a, directions[d], x.v + t * cube, NULL, &y, (3 * t + d) * slab, lanes,
                        "y");
        for (size_t d = 0; d < 2; d++)
            check_lines(&a, directions[d + 1], x.v + t * cube, before + (2 * t + d) * slab, &added,
                        (2 * t + d) * slab, lanes, "added");
    }
    free(before);
    matrix_free(&a);
    array_free(&u);
    array_free(&x);
    array_free(&of);
    array_free(&y);
    array_free(&added);
    eg_kernel_destroy(&kernel);
}

static void lines(eg_device *device, eg_type real)
{
    static const struct {
        int rows, cols, fields;
        instance in;
    } cases[] = {
        {5, 4, 3, {8, 0, 0, 0, 0}}, {3, 6, 5, {16, 0, 0, 1, 0}}, {1, 2, 1, {4, 0, 0, 0, 0}}};
    for (size_t c = real == EG_F64 ? 0 : 1; c < EG_COUNT(cases); c += real == EG_F64 ? 1 : 2)
        for (int way = 0; way < ways(device); way++) {
            instance in = cases[c].in;
            in.small = small_of(device, way);
            set_pocl_optimises(c == 1 && real == EG_F64);
            run_lines(device, real, cases[c].rows, cases[c].cols, cases[c].fields, in);
        }
}

static void test_gemm__lines_multiply_fields_and_each_direction_of_a_cube(void **state)
{
    (void)state;
    on_every_device(lines);
}

/* --- what a CPU does with the width of a tile ----------------------------------------------------- */

/* Tiles narrower than a register, as wide as eight of them, and stores that go past the cache. */
static void widths(eg_device *device, eg_type real)
{
    if (strcmp(eg_device_get_info(device)->spec, "cpu:1") != 0) return;
    for (int lanes = 1; lanes <= 64; lanes *= 4)
        run_forms(device, real, 14, 9, (instance){lanes, 0, 0, 0, -1});
}

static void test_gemm__every_width_of_tile_multiplies_on_the_cpu(void **state)
{
    (void)state;
    on_every_device(widths);
}

/* --- the detector of missing barriers -------------------------------------------------------------- */

/* A kernel that lacks a K_SYNC is right by luck where a thread reads what it wrote itself. With
 * K_SCRAMBLE it is wrong on a device that runs threads one after the other, as PoCL does. */
static void hasty(eg_device *device, eg_type real)
{
    const eg_device_info *info = eg_device_get_info(device);
    enum { ROWS = 24 };
    if (strcmp(info->backend, "opencl") != 0 || info->is_gpu || real != EG_F32) return;
    const eg_define sizes[] = {{"ROWS", ROWS}};
    uint64_t seed = 23;
    instance in = {.lanes = 16, .ty = 4, .scramble = 1, .small = -1};
    eg_kernel *kernel = create(device, real, "hasty", in, sizes, EG_COUNT(sizes));
    size_t count = TILES * ROWS * 16, wrong = 0;
    array x = array_random(device, real, count, -1, 1, &seed);
    array y = array_poisoned(device, real, count);
    matrix a = matrix_random(device, real, ROWS, ROWS, -1, 1, &seed);
    TEST_OK(eg_device_context(device), eg_launch(kernel, TILES, EG_BUFFER("x", x.buffer),
                                                 EG_OPERATOR("a", a.op), EG_BUFFER("y", y.buffer)));
    array_download(&y);
    for (size_t i = 0; i < count; i++) {
        size_t t = i / (ROWS * 16), row = i / 16 % ROWS;
        double size, sum = product(&a, (int)row, x.v + t * ROWS * 16 + i % 16, 16, &size);
        wrong += !(fabs(y.v[i] - sum) <= 30 * epsilon(real) * size);
    }
    assert_true(wrong > count / 4);
    matrix_free(&a);
    array_free(&x);
    array_free(&y);
    eg_kernel_destroy(&kernel);
}

static void test_gemm__a_missing_barrier_shows_when_scrambled(void **state)
{
    (void)state;
    on_every_device(hasty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_gemm__every_form_multiplies),
        KERNEL_TEST(test_gemm__vectors_multiply_without_a_tile),
        KERNEL_TEST(test_gemm__sizes_from_1_to_20_multiply),
        KERNEL_TEST(test_gemm__lines_multiply_fields_and_each_direction_of_a_cube),
        KERNEL_TEST(test_gemm__every_width_of_tile_multiplies_on_the_cpu),
        KERNEL_TEST(test_gemm__a_missing_barrier_shows_when_scrambled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
