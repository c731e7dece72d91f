/* The functions of the kernel language against the host's library on every device, in both precisions
 * and at the edges of their domains; choices; and contraction, which an option forbids. */
#include "kernel/devices.h"

enum { LANES = 16, TILES = 40, POINTS = LANES * TILES };

static eg_kernel *create(eg_device *device, eg_type real, const char *entry, bool no_contraction)
{
    char *text = read_test_source("functions.k.c");
    eg_kernel_options options = text_options("kernel/functions.k.c", text, entry, real);
    eg_kernel *kernel = NULL;
    options.lanes = LANES;
    options.no_contraction = no_contraction;
    TEST_OK(eg_device_context(device), eg_kernel_create(device, &options, &kernel));
    free(text);
    return kernel;
}

/* --- functions ------------------------------------------------------------------------------------ */

static double atan2_of(double x, double y)
{
    return atan2(x, y);
}

static const struct {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    double ulps; /* what OpenCL asks for, in both precisions; 0: exact */
} functions[] = {
    {"K_ABS", fabs, NULL, 0},       {"K_FLOOR", floor, NULL, 0}, {"K_SQRT", sqrt, NULL, 3},
    {"K_SIN", sin, NULL, 4},        {"K_COS", cos, NULL, 4},     {"K_TAN", tan, NULL, 5},
    {"K_ASIN", asin, NULL, 4},      {"K_ACOS", acos, NULL, 4},   {"K_ATAN", atan, NULL, 5},
    {"K_ATAN2", NULL, atan2_of, 6}, {"K_SINH", sinh, NULL, 4},   {"K_COSH", cosh, NULL, 4},
    {"K_TANH", tanh, NULL, 5},      {"K_EXP", exp, NULL, 3},     {"K_LOG", log, NULL, 3},
    {"K_LOG10", log10, NULL, 3},    {"K_POW", NULL, pow, 16},
};
enum { ROWS = EG_COUNT(functions) + 2 }; /* and K_INFINITY, K_NAN */

/* Values at the edges of domains, each against each, then random ones. */
static void fill_points(array *x, array *y)
{
    static const double edges[] = {0.0,       -0.0, 1,     -1,     0.5, 2,  -2, INFINITY,
                                   -INFINITY, NAN,  1e-30, -1e-30, 3,   -3, 20, -20};
    uint64_t seed = 17;
    for (size_t i = 0; i < POINTS; i++) {
        bool edge = i < EG_COUNT(edges) * EG_COUNT(edges);
        x->v[i] = edge ? edges[i / EG_COUNT(edges)] : 10 * test_random(&seed);
        y->v[i] = edge ? edges[i % EG_COUNT(edges)] : 3 * test_random(&seed);
    }
    array_upload(x);
    array_upload(y);
}

/* Within `ulps` units of the precision, NaN for NaN, an infinity for the same. */
static void check(const char *name, eg_type real, double x, double y, double value, double expected,
                  double ulps)
{
    double most = real == EG_F32 ? (double)FLT_MAX : DBL_MAX;
    double least = real == EG_F32 ? (double)FLT_MIN : DBL_MIN;
    if (isnan(expected) && isnan(value)) return;
    if (value == expected) {
        bool zeros = expected == 0 && ulps == 0;
        if (!zeros || signbit(value) == signbit(expected)) return;
    }
    /* The host's value overflows later or rounds to zero in single precision. */
    if (fabs(expected) > most * (1 - 1e-6) && fabs(value) >= most * (1 - 1e-6) &&
        signbit(expected) == signbit(value))
        return;
    if (fabs(expected) < least && fabs(value) <= 2 * least) return;
    if (!(fabs(value - expected) <= (ulps + 1) * epsilon(real) * fabs(expected)))
        fail_msg("%s at %.17g, %.17g is %.17g, expected %.17g", name, x, y, value, expected);
}

static void functions_agree(eg_device *device, eg_type real)
{
    eg_kernel *kernel = create(device, real, "functions", false);
    array x = array_new(device, real, POINTS), y = array_new(device, real, POINTS);
    array f = array_poisoned(device, real, ROWS * POINTS);
    fill_points(&x, &y);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("x", x.buffer), EG_BUFFER("y", y.buffer),
                      EG_BUFFER("f", f.buffer)));
    array_download(&f);
    for (size_t i = 0; i < POINTS; i++) {
        const double *rows = f.v + i / LANES * ROWS * LANES + i % LANES;
        double a = x.v[i], b = y.v[i];
        for (size_t k = 0; k < EG_COUNT(functions); k++)
            check(functions[k].name, real, a, b, rows[k * LANES],
                  functions[k].one ? functions[k].one(a) : functions[k].two(a, b),
                  functions[k].ulps);
        assert_true(rows[17 * LANES] == (a < 0 ? -INFINITY : INFINITY));
        assert_true(isnan(rows[18 * LANES]));
    }
    array_free(&x);
    array_free(&y);
    array_free(&f);
    eg_kernel_destroy(&kernel);
}

static void test_functions__have_the_values_of_the_hosts_library(void **state)
{
    (void)state;
    on_every_device(functions_agree);
}

static void choices_agree(eg_device *device, eg_type real)
{
    eg_kernel *kernel = create(device, real, "choices", true);
    array x = array_new(device, real, POINTS), y = array_new(device, real, POINTS);
    array f = array_poisoned(device, real, POINTS);
    fill_points(&x, &y);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("x", x.buffer), EG_BUFFER("y", y.buffer),
                      EG_BUFFER("f", f.buffer)));
    array_download(&f);
    for (size_t i = 0; i < POINTS; i++) {
        double a = x.v[i], b = y.v[i];
        double root = real == EG_F32 ? (double)sqrtf((float)b * (float)b) : sqrt(b * b);
        double expected = (a < b && !(b < 0)) || a == 0 ? floor(fabs(a) / 2) : root;
        check("the choice", real, a, b, f.v[i], expected, real == EG_F32 ? 3 : 0);
    }
    array_free(&x);
    array_free(&y);
    array_free(&f);
    eg_kernel_destroy(&kernel);
}

static void test_functions__choices_by_ternaries_are_those_of_c(void **state)
{
    (void)state;
    on_every_device(choices_agree);
}

/* --- contraction ---------------------------------------------------------------------------------- */

/* True where the compiler is known to contract unless it is told not to. */
static bool contracts(const eg_device *device)
{
    const char *backend = eg_device_get_info(device)->backend;
#if defined(__x86_64__)
    if (!strcmp(backend, "cpu")) return __builtin_cpu_supports("fma");
#endif
    return !strcmp(backend, "cuda");
}

/* The number of points where a b - c is not 0, with c the rounded product. */
static size_t count_differences(eg_device *device, eg_type real, bool no_contraction)
{
    eg_kernel *kernel = create(device, real, "difference", no_contraction);
    uint64_t seed = 23;
    array a = array_random(device, real, POINTS, 1, 2, &seed);
    array b = array_random(device, real, POINTS, 1, 2, &seed);
    array c = array_new(device, real, POINTS), d = array_poisoned(device, real, POINTS);
    size_t count = 0;
    for (size_t i = 0; i < POINTS; i++)
        c.v[i] = a.v[i] * b.v[i]; /* rounded to single by the upload */
    array_upload(&c);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, TILES, EG_BUFFER("a", a.buffer), EG_BUFFER("b", b.buffer),
                      EG_BUFFER("c", c.buffer), EG_BUFFER("d", d.buffer)));
    array_download(&d);
    for (size_t i = 0; i < POINTS; i++)
        count += d.v[i] != 0;
    array_free(&a);
    array_free(&b);
    array_free(&c);
    array_free(&d);
    eg_kernel_destroy(&kernel);
    return count;
}

/* In either order, so that neither takes the other's binary from the cache. */
static void contraction_is_forbidden(eg_device *device, eg_type real)
{
    assert_int_equal(count_differences(device, real, true), 0);
    size_t differences = count_differences(device, real, false);
    assert_true(differences > POINTS / 2 || !contracts(device));
    assert_int_equal(count_differences(device, real, true), 0);
}

static void test_functions__no_contraction_rounds_every_product(void **state)
{
    (void)state;
    on_every_device(contraction_is_forbidden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_functions__have_the_values_of_the_hosts_library),
        KERNEL_TEST(test_functions__choices_by_ternaries_are_those_of_c),
        KERNEL_TEST(test_functions__no_contraction_rounds_every_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
