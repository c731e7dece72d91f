/* Reductions on every device against sums in long double: the right value for every count, the same
 * bits whatever the number of threads and however often they are repeated, and NaN kept. */
#include "kernel/devices.h"

#define MOST 1000003

static const size_t counts[] = {0, 1, 7, 33, 1000, MOST};

/* Two sets hold every kind: four at once, and one alone. */
static const eg_reduction_kind four[] = {EG_REDUCE_WEIGHTED_DOT, EG_REDUCE_MAX, EG_REDUCE_SUM,
                                         EG_REDUCE_DOT};
static const eg_reduction_kind alone[] = {EG_REDUCE_MAX_ABS};
static const eg_reduction_kind *const sets[] = {four, alone};
static const size_t set_counts[] = {EG_COUNT(four), EG_COUNT(alone)};

static eg_reducer *create(eg_device *device, eg_type type, const eg_reduction_kind *kinds,
                          size_t count)
{
    set_pocl_optimises(type == EG_F64);
    eg_reducer *reducer = NULL;
    TEST_OK(eg_device_context(device), eg_reducer_create(device, type, kinds, count, &reducer));
    return reducer;
}

/* What a reduction over the first `count` values must give; the sum of magnitudes in *size. */
static double expected(eg_reduction_kind kind, size_t count, const array *x, const array *y,
                       const array *w, double *size)
{
    long double sum = 0, magnitude = 0, most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        long double term = x->v[i];
        if (kind == EG_REDUCE_DOT || kind == EG_REDUCE_WEIGHTED_DOT) term *= y->v[i];
        if (kind == EG_REDUCE_WEIGHTED_DOT) term *= w->v[i];
        if (kind == EG_REDUCE_MAX_ABS) term = fabsl(term);
        sum += term;
        magnitude += fabsl(term);
        if (term > most) most = term;
    }
    bool is_max = kind == EG_REDUCE_MAX || kind == EG_REDUCE_MAX_ABS;
    *size = is_max ? 0 : (double)magnitude;
    return (double)(is_max ? most : sum);
}

typedef struct vectors {
    array x, y, w, result;
} vectors;

/* Values of one sign mostly, so that a lost part shows. */
static vectors vectors_new(eg_device *device, eg_type type, size_t count)
{
    uint64_t seed = 41;
    return (vectors){.x = array_random(device, type, count, -1, 3, &seed),
                     .y = array_random(device, type, count, -1, 3, &seed),
                     .w = array_random(device, type, count, 0, 1, &seed),
                     .result = array_poisoned(device, EG_F64, EG_REDUCTIONS_MAX + 1)};
}

static void vectors_free(vectors *v)
{
    array_free(&v->x);
    array_free(&v->y);
    array_free(&v->w);
    array_free(&v->result);
}

static void reduce(eg_reducer *reducer, const vectors *v, size_t count,
                   const eg_reduction_kind *kinds, size_t kind_count)
{
    eg_reduction reductions[EG_REDUCTIONS_MAX];
    for (size_t k = 0; k < kind_count; k++) {
        bool two = kinds[k] == EG_REDUCE_DOT || kinds[k] == EG_REDUCE_WEIGHTED_DOT;
        reductions[k] =
            (eg_reduction){.kind = kinds[k],
                           .x = v->x.buffer,
                           .y = two ? v->y.buffer : NULL,
                           .w = kinds[k] == EG_REDUCE_WEIGHTED_DOT ? v->w.buffer : NULL};
    }
    TEST_OK(array_context(&v->x), eg_reduce(reducer, count, reductions, v->result.buffer));
}

/* Rounding of a product of three and of a few thousand additions in a row, in double always. */
static double bound(size_t count, double size)
{
    double longest = 64 + (double)count / 1000;
    return longest * DBL_EPSILON * size;
}

/* --- values -------------------------------------------------------------------------------------- */

static void values(eg_device *device, eg_type type)
{
    vectors v = vectors_new(device, type, MOST);
    for (size_t s = 0; s < EG_COUNT(sets); s++) {
        eg_reducer *reducer = create(device, type, sets[s], set_counts[s]);
        for (size_t c = 0; c < EG_COUNT(counts); c++) {
            now_at(device, type, "%zu reductions of %zu values", set_counts[s], counts[c]);
            array_poison(&v.result);
            reduce(reducer, &v, counts[c], sets[s], set_counts[s]);
            assert_untouched_outside(&v.result, 0, set_counts[s]);
            array_download(&v.result);
            for (size_t k = 0; k < set_counts[s]; k++) {
                double size, value = expected(sets[s][k], counts[c], &v.x, &v.y, &v.w, &size);
                if (counts[c] == 0) /* nothing: the sum is 0, a maximum is less than any value */
                    assert_true(v.result.v[k] == (sets[s][k] < EG_REDUCE_MAX ? 0 : -INFINITY));
                else
                    assert_near(v.result.v[k], value, bound(counts[c], size), "result", k);
            }
        }
        eg_reducer_destroy(&reducer);
    }
    vectors_free(&v);
}

static void test_reduce__every_kind_and_count_agrees_with_long_double(void **state)
{
    (void)state;
    on_every_device(values);
}

/* Values next to those that are reduced do not count, though they are in the same cache line. */
static void neighbours(eg_device *device, eg_type type)
{
    if (type != EG_F64) return;
    vectors v = vectors_new(device, type, 1000);
    eg_reducer *reducer = create(device, type, four, 4);
    v.x.v[500] = NAN;
    array_upload(&v.x);
    reduce(reducer, &v, 500, four, 4);
    array_download(&v.result);
    for (size_t k = 0; k < 4; k++)
        assert_true(isfinite(v.result.v[k]));
    eg_reducer_destroy(&reducer);
    vectors_free(&v);
}

static void test_reduce__values_behind_the_last_do_not_count(void **state)
{
    (void)state;
    on_every_device(neighbours);
}

/* --- the same bits ----------------------------------------------------------------------------------- */

static void bits(eg_device *device, eg_type type)
{
    vectors v = vectors_new(device, type, MOST);
    eg_reducer *reducer = create(device, type, four, 4);
    double first[4], again[4];
    reduce(reducer, &v, MOST, four, 4);
    TEST_OK(eg_device_context(device), eg_buffer_download(v.result.buffer, 0, 4, first));
    for (int repeat = 0; repeat < 5; repeat++) {
        array_poison(&v.result);
        reduce(reducer, &v, MOST, four, 4);
        TEST_OK(eg_device_context(device), eg_buffer_download(v.result.buffer, 0, 4, again));
        assert_memory_equal(first, again, sizeof first);
    }
    eg_reducer_destroy(&reducer);
    vectors_free(&v);
}

static void test_reduce__repeated_it_gives_the_same_bits(void **state)
{
    (void)state;
    on_every_device(bits);
}

static void test_reduce__gives_the_same_bits_for_every_number_of_threads(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu:1", "cpu:2", "cpu:3"};
    double results[EG_COUNT(specs)][4];
    eg_context *ctx = test_context();
    for (int type = EG_F64; type <= EG_F32; type++) {
        for (size_t i = 0; i < EG_COUNT(specs); i++) {
            eg_device *device = NULL;
            TEST_OK(ctx, eg_device_open(ctx, specs[i], &device));
            vectors v = vectors_new(device, (eg_type)type, MOST);
            eg_reducer *reducer = create(device, (eg_type)type, four, 4);
            reduce(reducer, &v, MOST, four, 4);
            TEST_OK(ctx, eg_buffer_download(v.result.buffer, 0, 4, results[i]));
            eg_reducer_destroy(&reducer);
            vectors_free(&v);
            eg_device_close(&device);
        }
        assert_memory_equal(results[0], results[1], sizeof results[0]);
        assert_memory_equal(results[0], results[2], sizeof results[0]);
    }
    test_context_free(&ctx);
}

/* --- NaN --------------------------------------------------------------------------------------------- */

static void keeps_nan(eg_device *device, eg_type type)
{
    static const size_t places[] = {0, 1, 511, 700, 8191, 99999};
    enum { COUNT = 100000 };
    vectors v = vectors_new(device, type, COUNT);
    for (size_t s = 0; s < EG_COUNT(sets); s++) {
        eg_reducer *reducer = create(device, type, sets[s], set_counts[s]);
        for (size_t p = 0; p <= EG_COUNT(places); p++) {
            bool last = p == EG_COUNT(places); /* none in it: none comes out */
            double before = last ? 0 : v.x.v[places[p]];
            if (!last) v.x.v[places[p]] = NAN;
            array_upload(&v.x);
            reduce(reducer, &v, COUNT, sets[s], set_counts[s]);
            array_download(&v.result);
            for (size_t k = 0; k < set_counts[s]; k++)
                assert_true(last ? isfinite(v.result.v[k]) : isnan(v.result.v[k]));
            if (!last) v.x.v[places[p]] = before;
        }
        eg_reducer_destroy(&reducer);
    }
    vectors_free(&v);
}

static void test_reduce__a_nan_anywhere_is_kept(void **state)
{
    (void)state;
    on_every_device(keeps_nan);
}

/* Maxima of what is all negative, or infinite, are not 0. */
static void negative(eg_device *device, eg_type type)
{
    vectors v = vectors_new(device, type, 33);
    for (int round = 0; round < 2; round++) {
        double sum = round ? -INFINITY : -594.0, most = round ? INFINITY : 34.0;
        for (size_t i = 0; i < 33; i++)
            v.x.v[i] = round && i == 20 ? -INFINITY : -2.0 - (double)i;
        array_upload(&v.x);
        eg_reducer *reducer = create(device, type, four, 4);
        reduce(reducer, &v, 33, four, 4);
        array_download(&v.result);
        assert_true(v.result.v[1] == -2.0 && v.result.v[2] == sum);
        eg_reducer_destroy(&reducer);
        reducer = create(device, type, alone, 1);
        reduce(reducer, &v, 33, alone, 1);
        array_download(&v.result);
        assert_true(v.result.v[0] == most);
        eg_reducer_destroy(&reducer);
    }
    vectors_free(&v);
}

static void test_reduce__maxima_of_negative_and_infinite_values_are_right(void **state)
{
    (void)state;
    on_every_device(negative);
}

/* --- what is refused ------------------------------------------------------------------------------------ */

static void refused(eg_device *device, eg_type type)
{
    eg_context *ctx = eg_device_context(device);
    eg_type other_type = type == EG_F64 ? EG_F32 : EG_F64;
    eg_reducer *reducer = NULL;
    static const eg_reduction_kind kinds[5] = {EG_REDUCE_WEIGHTED_DOT};
    eg_reduction_kind unknown = (eg_reduction_kind)(EG_REDUCE_MAX_ABS + 1);
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "1 to 4",
               eg_reducer_create(device, type, kinds, 0, &reducer));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "1 to 4",
               eg_reducer_create(device, type, kinds, 5, &reducer));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "i64",
               eg_reducer_create(device, EG_I64, kinds, 1, &reducer));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "no known kind",
               eg_reducer_create(device, type, &unknown, 1, &reducer));
    assert_null(reducer);

    vectors v = vectors_new(device, type, 100);
    array few = array_poisoned(device, type, 99), three = array_poisoned(device, EG_F64, 3);
    array other = array_poisoned(device, other_type, 100);
    array whole = array_poisoned(device, EG_I64, 4);
    reducer = create(device, type, four, 4);
    const eg_reduction sum = {.kind = EG_REDUCE_SUM, .x = v.x.buffer};
    const eg_reduction dot = {
        .kind = EG_REDUCE_WEIGHTED_DOT, .x = v.x.buffer, .y = v.y.buffer, .w = v.w.buffer};
    const eg_reduction most = {.kind = EG_REDUCE_MAX, .x = v.x.buffer};
    eg_reduction r[4] = {dot, most, sum, {.kind = EG_REDUCE_DOT, .x = v.x.buffer, .y = v.y.buffer}};
    eg_buffer *result = v.result.buffer;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "lacks its 'w'",
               (r[0].w = NULL, eg_reduce(reducer, 100, r, result)));
    r[0] = dot;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "lacks its 'y'",
               (r[0].y = NULL, eg_reduce(reducer, 100, r, result)));
    r[0] = dot;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "reduction 2 lacks its 'x'",
               (r[2].x = NULL, eg_reduce(reducer, 100, r, result)));
    r[2] = dot;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "another kind", eg_reduce(reducer, 100, r, result));
    r[2] = sum;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "'y' has only 99",
               (r[0].y = few.buffer, eg_reduce(reducer, 100, r, result)));
    TEST_OK(ctx, eg_reduce(reducer, 99, r, result));
    r[0] = dot;
    TEST_FAILS(ctx, EG_ERROR_LAUNCH, eg_type_name(other_type),
               (r[0].w = other.buffer, eg_reduce(reducer, 100, r, result)));
    r[0] = dot;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "result", eg_reduce(reducer, 100, r, three.buffer));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "result", eg_reduce(reducer, 100, r, NULL));
    TEST_FAILS(ctx, EG_ERROR_LAUNCH, "i64", eg_reduce(reducer, 100, r, whole.buffer));
    TEST_OK(ctx, eg_reduce(reducer, 100, r, result));
    eg_reducer_destroy(&reducer);
    array *const arrays[] = {&few, &three, &other, &whole};
    for (size_t i = 0; i < EG_COUNT(arrays); i++)
        array_free(arrays[i]);
    vectors_free(&v);
}

static void test_reduce__what_does_not_fit_is_refused(void **state)
{
    (void)state;
    on_every_device(refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_reduce__every_kind_and_count_agrees_with_long_double),
        KERNEL_TEST(test_reduce__values_behind_the_last_do_not_count),
        KERNEL_TEST(test_reduce__repeated_it_gives_the_same_bits),
        KERNEL_TEST(test_reduce__gives_the_same_bits_for_every_number_of_threads),
        KERNEL_TEST(test_reduce__a_nan_anywhere_is_kept),
        KERNEL_TEST(test_reduce__maxima_of_negative_and_infinite_values_are_right),
        KERNEL_TEST(test_reduce__what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
