/* What kernel tests share: every device present in both precisions, arrays with a host copy, random
 * inputs, poisoned outputs, and comparison within rounding.
 *
 *     static void body(eg_device *device, eg_type real) { … }
 *     static void test_x__does_y(void **state) { (void)state; on_every_device(body); }
 *     … KERNEL_TEST(test_x__does_y) in the table: a failure then says where it happened.
 */
#ifndef EG_TEST_DEVICES_H
#define EG_TEST_DEVICES_H

#include "test.h"

#include "device/source.h"

#include <float.h>
#include <math.h>

/* --- every device ------------------------------------------------------------------------------- */

typedef void device_test(eg_device *device, eg_type real);

/* What is being tested now, told if it fails. */
static char where[160];

static inline int tell_where(void **state)
{
    (void)state;
    if (where[0]) {
        print_error("    it failed with %s\n", where);
        test_memory.live = 0; /* what it left behind is no fault of the next test */
    }
    where[0] = '\0';
    return 0;
}

#define KERNEL_TEST(test) cmocka_unit_test_teardown(test, tell_where)

/* Adds to what is told of a failure, behind the device and the precision. */
static inline void now_at(const eg_device *device, eg_type real, const char *format, ...)
    EG_PRINTF(3, 4);
static inline void now_at(const eg_device *device, eg_type real, const char *format, ...)
{
    va_list arguments;
    int n = snprintf(where, sizeof where, "%s %s ", eg_device_get_info(device)->spec,
                     eg_type_name(real));
    va_start(arguments, format);
    vsnprintf(where + n, sizeof where - (size_t)n, format, arguments);
    va_end(arguments);
}

static inline void on_device(eg_context *ctx, const char *spec, device_test *test)
{
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, spec, &device));
    for (int real = EG_F64; real <= EG_F32; real++) {
        if (real == EG_F64 && !eg_device_get_info(device)->has_f64) continue;
        now_at(device, (eg_type)real, "%s", "");
        test(device, (eg_type)real);
    }
    eg_device_close(&device);
}

/* One and two threads of the CPU, and every device of the other backends; in check mode or not. */
static inline void on_every_device_with(const eg_context_options *options, device_test *test)
{
    eg_context *ctx = test_context_with(options);
    eg_device_info *list = NULL;
    size_t count = 0;
    TEST_OK(ctx, eg_device_list(ctx, &list, &count));
    on_device(ctx, "cpu:1", test);
    on_device(ctx, "cpu:2", test);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].backend, "cpu") != 0) on_device(ctx, list[i].spec, test);
    eg_device_list_free(ctx, &list);
    test_context_free(&ctx);
    where[0] = '\0';
}

/* In check mode: writes and most reads outside of a buffer show. */
static inline void on_every_device(device_test *test)
{
    eg_context_options options = test_context_options();
    options.check = EG_CHECK_ON;
    on_every_device_with(&options, test);
}

/* In double precision on one core, in check mode, for what needs no other device. */
static inline void on_one_core(void (*body)(eg_device *device))
{
    eg_context_options options = test_context_options();
    options.check = EG_CHECK_ON;
    eg_context *ctx = test_context_with(&options);
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    now_at(device, EG_F64, "%s", "");
    body(device);
    eg_device_close(&device);
    test_context_free(&ctx);
    where[0] = '\0';
}

/* True where K_GEMM and the chains run on tensor cores. */
static inline bool uses_mma(const eg_device *device)
{
    eg_target target = eg_target_of(device);
    return eg_target_uses_mma(&target);
}

/* PoCL takes seconds to optimise a kernel of many products: tests of many sizes optimise but one of
 * them. Not optimised it stays right for every size; what optimising might break shows in the one. */
static inline void set_pocl_optimises(bool optimises)
{
    if (optimises)
        unsetenv("POCL_EXTRA_BUILD_FLAGS");
    else
        setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 1);
}

/* A kernel of the text given, called `source` in messages. */
#define TEXT_LANES 16
static inline eg_kernel_options text_options(const char *source, const char *text,
                                             const char *entry, eg_type real)
{
    return (eg_kernel_options){.size = sizeof(eg_kernel_options),
                               .source = source,
                               .text = text,
                               .entry = entry,
                               .real = real,
                               .lanes = TEXT_LANES};
}

static inline eg_kernel *text_kernel(eg_device *device, const char *source, const char *text,
                                     const char *entry, eg_type real)
{
    eg_kernel_options options = text_options(source, text, entry, real);
    eg_kernel *kernel = NULL;
    TEST_OK(eg_device_context(device), eg_kernel_create(device, &options, &kernel));
    return kernel;
}

/* The text of tests/kernel/NAME; release with free(). */
static inline char *read_test_source(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/tests/kernel/%s", EG_TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot read %s", path);
    char *text = NULL;
    size_t capacity = 0;
    if (getdelim(&text, &capacity, '\0', file) < 0) fail_msg("%s is empty", path);
    fclose(file);
    return text;
}

/* --- arrays ------------------------------------------------------------------------------------- */

/* A buffer and its values as doubles, which hold every value the tests use exactly. */
typedef struct array {
    eg_buffer *buffer;
    double *v;
    size_t count;
    eg_type type;
} array;

static inline eg_context *array_context(const array *a)
{
    return eg_device_context(a->buffer->device);
}

static inline double *new_values(size_t count)
{
    double *v = malloc((count ? count : 1) * sizeof *v);
    assert_non_null(v);
    return v;
}

static inline array array_new(eg_device *device, eg_type type, size_t count)
{
    array a = {.v = new_values(count), .count = count, .type = type};
    TEST_OK(eg_device_context(device), eg_buffer_create(device, type, count, &a.buffer));
    return a;
}

static inline void array_free(array *a)
{
    eg_buffer_destroy(&a->buffer);
    free(a->v);
    *a = (array){0};
}

/* The value as the type holds it. */
static inline double rounded(eg_type type, double value)
{
    switch (type) {
    case EG_F64:
        return value;
    case EG_F32:
        return (double)(float)value;
    case EG_I64:
    case EG_I32:
        return floor(value);
    default:
        return floor(fabs(value));
    }
}

static inline void array_upload(array *a)
{
    void *raw = calloc(a->count ? a->count : 1, eg_type_size(a->type));
    assert_non_null(raw);
    for (size_t i = 0; i < a->count; i++) {
        a->v[i] = rounded(a->type, a->v[i]);
        switch (a->type) {
        case EG_F64:
            ((double *)raw)[i] = a->v[i];
            break;
        case EG_F32:
            ((float *)raw)[i] = (float)a->v[i];
            break;
        case EG_I64:
            ((int64_t *)raw)[i] = (int64_t)a->v[i];
            break;
        case EG_I32:
            ((int32_t *)raw)[i] = (int32_t)a->v[i];
            break;
        case EG_U32:
            ((uint32_t *)raw)[i] = (uint32_t)a->v[i];
            break;
        case EG_U8:
            ((uint8_t *)raw)[i] = (uint8_t)a->v[i];
            break;
        }
    }
    TEST_OK(array_context(a), eg_buffer_upload(a->buffer, 0, a->count, raw));
    free(raw);
}

static inline double raw_value(eg_type type, const void *raw, size_t i)
{
    switch (type) {
    case EG_F64:
        return ((const double *)raw)[i];
    case EG_F32:
        return (double)((const float *)raw)[i];
    case EG_I64:
        return (double)((const int64_t *)raw)[i];
    case EG_I32:
        return ((const int32_t *)raw)[i];
    case EG_U32:
        return ((const uint32_t *)raw)[i];
    default:
        return ((const uint8_t *)raw)[i];
    }
}

/* Fresh values in [least, most) on host and device. */
static inline array array_random(eg_device *device, eg_type type, size_t count, double least,
                                 double most, uint64_t *seed)
{
    array a = array_new(device, type, count);
    for (size_t i = 0; i < count; i++)
        a.v[i] = least + (most - least) * 0.5 * (1.0 + test_random(seed));
    array_upload(&a);
    return a;
}

/* NaN everywhere (integers: all bits set). */
static inline void array_poison(array *a)
{
    static const uint64_t ones = UINT64_MAX;
    TEST_OK(array_context(a), eg_buffer_fill(a->buffer, 0, a->count, &ones));
}

static inline array array_poisoned(eg_device *device, eg_type type, size_t count)
{
    array a = array_new(device, type, count);
    array_poison(&a);
    return a;
}

static inline void array_download(array *a)
{
    void *raw = malloc((a->count ? a->count : 1) * eg_type_size(a->type));
    assert_non_null(raw);
    TEST_OK(array_context(a), eg_buffer_download(a->buffer, 0, a->count, raw));
    for (size_t i = 0; i < a->count; i++)
        a->v[i] = raw_value(a->type, raw, i);
    free(raw);
}

/* Fails unless every byte outside values [first, first + count) is still poison. */
static inline void assert_untouched_outside(const array *a, size_t first, size_t count)
{
    size_t size = eg_type_size(a->type);
    unsigned char *raw = malloc(a->count * size);
    assert_non_null(raw);
    TEST_OK(array_context(a), eg_buffer_download(a->buffer, 0, a->count, raw));
    for (size_t i = 0; i < a->count * size; i++)
        if ((i < first * size || i >= (first + count) * size) && raw[i] != 0xff)
            fail_msg("value %zu was written, outside of [%zu, %zu)", i / size, first,
                     first + count);
    free(raw);
}

/* --- comparing ---------------------------------------------------------------------------------- */

static inline double epsilon(eg_type type)
{
    return type == EG_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
}

/* Fails unless the value is within `bound` of what is expected; NaN is never within. */
static inline void assert_near(double value, double expected, double bound, const char *what,
                               size_t at)
{
    if (!(fabs(value - expected) <= bound))
        fail_msg("%s[%zu] is %.17g, expected %.17g within %.3g", what, at, value, expected, bound);
}

/* --- small operators ---------------------------------------------------------------------------- */

/* An operator and its values as the device's precision holds them, a[rows][cols]. */
typedef struct matrix {
    eg_operator *op;
    double *a;
    int rows, cols;
} matrix;

/* Random values in [least, most). */
static inline matrix matrix_random(eg_device *device, eg_type type, int rows, int cols,
                                   double least, double most, uint64_t *seed)
{
    matrix m = {.a = new_values((size_t)(rows * cols)), .rows = rows, .cols = cols};
    for (int i = 0; i < rows * cols; i++)
        m.a[i] = rounded(type, least + (most - least) * 0.5 * (1.0 + test_random(seed)));
    TEST_OK(eg_device_context(device), eg_operator_create(device, type, rows, cols, m.a, &m.op));
    return m;
}

static inline void matrix_free(matrix *m)
{
    eg_operator_destroy(&m->op);
    free(m->a);
    *m = (matrix){0};
}

#endif
