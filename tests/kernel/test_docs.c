/* The complete kernels of docs/explanation/kernel-dialect.md, taken from the page and run on every
 * device. */
#include "kernel/devices.h"

#define TILES 11
#define NP 10
#define NC 19

static char *page; /* owned */

/* The n-th block of the page that is fenced as C, as a string of its own; release with free(). */
static char *block_of_page(int n)
{
    const char *at = page;
    for (int i = 0; i <= n; i++) {
        at = strstr(at, "\n```c\n");
        if (!at) fail_msg("the page has no block %d", n);
        at += strlen("\n```c\n");
    }
    const char *end = strstr(at, "\n```\n");
    assert_non_null(end);
    char *block = strndup(at, (size_t)(end - at) + 1);
    assert_non_null(block);
    return block;
}

static int read_page(void **state)
{
    (void)state;
    FILE *file = fopen(EG_TEST_SOURCE_DIR "/docs/explanation/kernel-dialect.md", "r");
    size_t capacity = 0;
    if (!file) return -1;
    ssize_t n = getdelim(&page, &capacity, '\0', file);
    fclose(file);
    return n > 0 ? 0 : -1;
}

static int free_page(void **state)
{
    (void)state;
    free(page);
    return 0;
}

static eg_kernel *create(eg_device *device, eg_type real, int block, const char *entry)
{
    static const eg_define defines[] = {{"NP", NP}, {"NC", NC}};
    char *text = block_of_page(block);
    eg_kernel *kernel = NULL;
    TEST_OK(eg_device_context(device),
            eg_kernel_create(device,
                             &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                  .source = "docs/kernel-dialect.k.c",
                                                  .text = text,
                                                  .entry = entry,
                                                  .real = real,
                                                  .defines = defines,
                                                  .define_count = EG_COUNT(defines)},
                             &kernel));
    free(text);
    return kernel;
}

static void slope(eg_device *device, eg_type real)
{
    uint64_t seed = 51;
    eg_kernel *kernel = create(device, real, 0, "slope");
    size_t lanes = (size_t)eg_kernel_lanes(kernel);
    array u = array_random(device, real, TILES * NP * lanes, -1, 1, &seed);
    array g = array_random(device, real, TILES * 2 * lanes, -1, 1, &seed);
    array ux = array_poisoned(device, real, TILES * NP * lanes);
    matrix dr = matrix_random(device, real, NP, NP, -1, 1, &seed);
    matrix ds = matrix_random(device, real, NP, NP, -1, 1, &seed);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("u", u.buffer), EG_BUFFER("g", g.buffer),
                      EG_OPERATOR("Dr", dr.op), EG_OPERATOR("Ds", ds.op),
                      EG_BUFFER("ux", ux.buffer)));
    array_download(&ux);
    for (size_t i = 0; i < ux.count; i++) {
        size_t t = i / (NP * lanes), row = i / lanes % NP, lane = i % lanes;
        double rx = g.v[2 * t * lanes + lane], sx = g.v[(2 * t + 1) * lanes + lane], sum = 0;
        for (size_t j = 0; j < NP; j++)
            sum += (rx * dr.a[row * NP + j] + sx * ds.a[row * NP + j]) *
                   u.v[(t * NP + j) * lanes + lane];
        assert_near(ux.v[i], sum, 4 * NP * epsilon(real), "ux", i);
    }
    matrix_free(&dr);
    matrix_free(&ds);
    array_free(&u);
    array_free(&g);
    array_free(&ux);
    eg_kernel_destroy(&kernel);
}

static void test_docs__the_kernel_of_the_first_level_differentiates(void **state)
{
    (void)state;
    on_every_device(slope);
}

static void square(eg_device *device, eg_type real)
{
    uint64_t seed = 53;
    eg_kernel *kernel = create(device, real, 1, "square");
    size_t lanes = (size_t)eg_kernel_lanes(kernel);
    array u = array_random(device, real, TILES * NP * lanes, -1, 1, &seed);
    array jacobian = array_random(device, real, TILES * lanes, 0.5, 2, &seed);
    array out = array_poisoned(device, real, TILES * NP * lanes);
    matrix interp = matrix_random(device, real, NC, NP, -1, 1, &seed);
    matrix project = matrix_random(device, real, NP, NC, -1, 1, &seed);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("u", u.buffer),
                      EG_BUFFER("jacobian", jacobian.buffer), EG_OPERATOR("interp", interp.op),
                      EG_OPERATOR("project", project.op), EG_BUFFER("out", out.buffer)));
    array_download(&out);
    for (size_t t = 0; t < TILES; t++)
        for (size_t lane = 0; lane < lanes; lane++) {
            double at_points[NC], most = 0;
            for (size_t q = 0; q < NC; q++) {
                double c = 0;
                for (size_t j = 0; j < NP; j++)
                    c += interp.a[q * NP + j] * u.v[(t * NP + j) * lanes + lane];
                at_points[q] = 0.5 * jacobian.v[t * lanes + lane] * c * c;
                most = fmax(most, at_points[q]);
            }
            for (size_t m = 0; m < NP; m++) {
                size_t at = (t * NP + m) * lanes + lane;
                double sum = 0;
                for (size_t q = 0; q < NC; q++)
                    sum += project.a[m * NC + q] * at_points[q];
                assert_near(out.v[at], sum, 8 * NC * NP * epsilon(real) * (most + 1), "out", at);
            }
        }
    matrix_free(&interp);
    matrix_free(&project);
    array_free(&u);
    array_free(&jacobian);
    array_free(&out);
    eg_kernel_destroy(&kernel);
}

static void test_docs__the_kernel_of_the_second_level_projects_a_square(void **state)
{
    (void)state;
    on_every_device(square);
}

/* The page speaks of every macro that a kernel may use. */
static void test_docs__every_macro_of_the_language_is_on_the_page(void **state)
{
    (void)state;
    static const char *const macros[] = {"K_KERNEL",     "K_IN",
                                         "K_OUT",        "K_INOUT",
                                         "K_VAL",        "K_OP",
                                         "K_TILES",      "K_NODES",
                                         "K_ROWS",       "K_LANE",
                                         "K_LANEVAR",    "K_L",
                                         "K_SHARED",     "K_PRIVATE",
                                         "K_P",          "K_SYNC",
                                         "K_PUT",        "K_TILE",
                                         "K_GEMM",       "K_GEMM_ADD",
                                         "K_GEMM_LINES", "K_GEMM_LINES_ADD",
                                         "K_S",          "K_G",
                                         "K_FUNC",       "K_R",
                                         "K_MAX",        "K_MIN",
                                         "K_GLOBAL",     "K_LOCAL",
                                         "K_UNROLL",     "K_FETCH",
                                         "K_WARPS",      "K_OPERAND",
                                         "K_ACCUM",      "K_POINTS",
                                         "K_LOAD",       "K_LANELOAD",
                                         "K_ZERO",       "K_CHUNKS",
                                         "K_MUL",        "K_EACH",
                                         "K_Y",          "K_POINT",
                                         "K_MULADD",     "K_STORE",
                                         "K_SUMLOAD",    "K_POINTLOAD",
                                         "K_POINTSTORE", "K_POINTROWS",
                                         "K_QUARTERVAR", "K_QUARTERS",
                                         "K_LOADPAIRS",  "K_SUMPAIRS",
                                         "K_POINTPAIRS", "K_STOREPAIRS",
                                         "K_FOLD",       "K_POINTPUT",
                                         "K_TAKE",       "K_GIVE",
                                         "K_V",          "K_UNROLL_CHUNKS",
                                         "K_STREAMING",  "K_FN",
                                         "K_PARTS",      "K_OPERAND_REGISTERS",
                                         "K_MIN_BLOCKS", "K_GEMM_SMALL",
                                         "K_SCRAMBLE",   "K_HOLD"};
    for (size_t i = 0; i < EG_COUNT(macros); i++) {
        char quoted[48];
        snprintf(quoted, sizeof quoted, "`%s", macros[i]);
        size_t length = strlen(quoted);
        const char *at = strstr(page, quoted);
        while (at && !strchr("`(; ", at[length]))
            at = strstr(at + 1, quoted);
        if (!at) fail_msg("%s is not explained", macros[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_docs__the_kernel_of_the_first_level_differentiates),
        KERNEL_TEST(test_docs__the_kernel_of_the_second_level_projects_a_square),
        KERNEL_TEST(test_docs__every_macro_of_the_language_is_on_the_page),
    };
    return cmocka_run_group_tests(tests, read_page, free_page);
}
