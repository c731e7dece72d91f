/* Launching kernels on every device: what does not match a kernel's list is refused by name, and check
 * mode finds what a kernel does outside its buffers. */
#include "kernel/devices.h"

#include "device/kernel.h"

#define TILES 5
#define LANES TEXT_LANES
#define SOURCE "kernel/launch.k.c"

/* y = s x + n and, so that an operator is there too, the first value of a. */
static const char axpy_text[] =
    "K_KERNEL(axpy, K_IN(real, x, LANES), K_OP(a, 3, 2), K_VAL(real, s), K_VAL(i32, n),\n"
    "         K_VAL(u32, u), K_VAL(u8, b), K_OUT(real, y, LANES))\n"
    "{\n"
    "    K_TILES(t)\n"
    "    {\n"
    "        K_NODES(i, 1) K_TILE(y, t, 1)[lane] =\n"
    "            s * K_TILE(x, t, 1)[lane] + K_R(n) + K_R(u) + K_R(b) + K_R(0) * a[0];\n"
    "    }\n"
    "}\n";

/* --- what a launch is checked for ------------------------------------------------------------------ */

enum { X, A, S, N, U, B, Y, ARGUMENTS };

/* The launch with argument `place` replaced; EG_ERROR_LAUNCH and the part of a message. */
static void refuse(eg_kernel *kernel, const eg_argument *good, size_t place, eg_argument bad,
                   const char *part)
{
    eg_argument arguments[ARGUMENTS];
    memcpy(arguments, good, sizeof arguments);
    arguments[place] = bad;
    TEST_FAILS(eg_device_context(kernel->device), EG_ERROR_LAUNCH, part,
               eg_launch_tiles(kernel, 0, TILES, arguments, ARGUMENTS));
}

static void mismatches(eg_device *device, eg_type real)
{
    static const double values[6] = {1, 2, 3, 4, 5, 6};
    eg_context *ctx = eg_device_context(device);
    eg_type other_type = real == EG_F64 ? EG_F32 : EG_F64;
    uint64_t seed = 1;
    eg_kernel *kernel = text_kernel(device, SOURCE, axpy_text, "axpy", real);
    array x = array_random(device, real, TILES * LANES, -1, 1, &seed);
    array y = array_poisoned(device, real, TILES * LANES);
    array short_y = array_poisoned(device, real, TILES * LANES - 1);
    array whole = array_poisoned(device, EG_I32, TILES * LANES);
    eg_operator *op = NULL, *wide = NULL, *other = NULL, *elsewhere_op = NULL;
    eg_device *elsewhere = NULL;
    TEST_OK(ctx, eg_operator_create(device, real, 3, 2, values, &op));
    TEST_OK(ctx, eg_operator_create(device, real, 2, 3, values, &wide));
    TEST_OK(ctx, eg_operator_create(device, other_type, 3, 2, values, &other));
    TEST_OK(ctx, eg_device_open(ctx, "cpu:3", &elsewhere));
    TEST_OK(ctx, eg_operator_create(elsewhere, real, 3, 2, values, &elsewhere_op));
    array away = array_poisoned(elsewhere, real, TILES * LANES);

    const eg_argument good[ARGUMENTS] = {
        [X] = EG_BUFFER("x", x.buffer), [A] = EG_OPERATOR("a", op), [S] = EG_REAL("s", 2.0),
        [N] = EG_INTEGER("n", 3),       [U] = EG_INTEGER("u", 4),   [B] = EG_INTEGER("b", 5),
        [Y] = EG_BUFFER("y", y.buffer)};
    eg_argument more[ARGUMENTS + 1];
    memcpy(more, good, sizeof good);

    /* Which arguments there are. */
    for (size_t missing = 0; missing < ARGUMENTS; missing++) {
        char part[40];
        eg_argument fewer[ARGUMENTS];
        memcpy(fewer, good, sizeof fewer);
        fewer[missing] = good[ARGUMENTS - 1];
        snprintf(part, sizeof part, "'%s' is missing", good[missing].name);
        TEST_FAILS(ctx, EG_ERROR_LAUNCH, part,
                   eg_launch_tiles(kernel, 0, TILES, fewer, ARGUMENTS - 1));
    }
    more[ARGUMENTS] = EG_INTEGER("m", 1);
    TEST_FAILS(ctx, EG_ERROR_LAUNCH, "no argument 'm'",
               eg_launch_tiles(kernel, 0, TILES, more, ARGUMENTS + 1));
    more[ARGUMENTS] = EG_BUFFER("y", short_y.buffer);
    TEST_FAILS(ctx, EG_ERROR_LAUNCH, "'y' is given twice",
               eg_launch_tiles(kernel, 0, TILES, more, ARGUMENTS + 1));

    /* Their kinds. */
    refuse(kernel, good, X, EG_OPERATOR("x", op), "'x' takes a buffer");
    refuse(kernel, good, Y, EG_REAL("y", 1.0), "'y' takes a buffer");
    refuse(kernel, good, A, EG_BUFFER("a", x.buffer), "'a' takes an operator");
    refuse(kernel, good, A, EG_INTEGER("a", 1), "'a' takes an operator");
    refuse(kernel, good, S, EG_BUFFER("s", x.buffer), "'s' takes a value");
    refuse(kernel, good, S, EG_INTEGER("s", 2), "'s' takes a real number");
    refuse(kernel, good, N, EG_REAL("n", 3.0), "'n' takes an integer");
    refuse(kernel, good, N, EG_OPERATOR("n", op), "'n' takes a value");

    /* Their types and sizes. */
    refuse(kernel, good, Y, EG_BUFFER("y", whole.buffer), "but holds i32");
    refuse(kernel, good, Y, EG_BUFFER("y", short_y.buffer),
           "'y' has 79 values, but 5 tiles of 16 values are launched");
    refuse(kernel, good, X, EG_BUFFER_AT("x", x.buffer, LANES), "'x' has 64 values");
    refuse(kernel, good, X, EG_BUFFER_AT("x", x.buffer, TILES * LANES + 1), "behind");
    refuse(kernel, good, A, EG_OPERATOR("a", wide), "declared 3 x 2");
    refuse(kernel, good, A, EG_OPERATOR("a", other), eg_type_name(other_type));
    refuse(kernel, good, X, EG_BUFFER("x", NULL), "NULL buffer");
    refuse(kernel, good, A, EG_OPERATOR("a", NULL), "NULL operator");

    /* Values out of range. */
    refuse(kernel, good, N, EG_INTEGER("n", INT64_C(1) << 31), "2147483648 does not fit");
    refuse(kernel, good, N, EG_INTEGER("n", -(INT64_C(1) << 31) - 1), "'n' of type i32");
    refuse(kernel, good, U, EG_INTEGER("u", -1), "-1 does not fit");
    refuse(kernel, good, U, EG_INTEGER("u", INT64_C(1) << 32), "'u' of type u32");
    refuse(kernel, good, B, EG_INTEGER("b", 256), "256 does not fit");
    refuse(kernel, good, B, EG_INTEGER("b", -1), "'b' of type u8");

    /* Things of another device. */
    refuse(kernel, good, X, EG_BUFFER("x", away.buffer), "'x' lives on another device");
    refuse(kernel, good, A, EG_OPERATOR("a", elsewhere_op), "'a' lives on another device");

    /* Ranges of tiles. */
    static const int64_t ranges[][2] = {
        {-1, 2}, {0, -1}, {0, INT64_MAX}, {INT64_MAX, 1}, {INT64_MIN, INT64_MIN}, {1 << 30, 1}};
    for (size_t r = 0; r < EG_COUNT(ranges); r++)
        TEST_FAILS(ctx, EG_ERROR_LAUNCH, "out of range",
                   eg_launch_tiles(kernel, ranges[r][0], ranges[r][1], good, ARGUMENTS));
    TEST_FAILS(ctx, EG_ERROR_LAUNCH, "but 6 tiles",
               eg_launch_tiles(kernel, TILES, 1, good, ARGUMENTS));

    /* None of this was run; what is right is. */
    assert_untouched_outside(&y, 0, 0);
    TEST_OK(ctx, eg_launch_tiles(kernel, 0, TILES, good, ARGUMENTS));
    array_download(&y);
    for (size_t i = 0; i < y.count; i++)
        assert_near(y.v[i], 2 * x.v[i] + 12, 32 * epsilon(real), "y", i);

    array *const arrays[] = {&x, &y, &short_y, &whole, &away};
    for (size_t i = 0; i < EG_COUNT(arrays); i++)
        array_free(arrays[i]);
    eg_operator_destroy(&op);
    eg_operator_destroy(&wide);
    eg_operator_destroy(&other);
    eg_operator_destroy(&elsewhere_op);
    eg_kernel_destroy(&kernel);
    eg_device_close(&elsewhere);
}

static void test_launch__arguments_that_do_not_match_are_refused_by_name(void **state)
{
    (void)state;
    eg_context_options options = test_context_options();
    options.check = EG_CHECK_OFF;
    on_every_device_with(&options, mismatches);
}

/* y = x + w, and z, which may be any part of the array that it is in. */
static const char add_text[] =
    "K_KERNEL(add, K_IN(real, x, ROWS * LANES), K_IN(real, w, ROWS * LANES), K_IN(real, z),\n"
    "         K_OUT(real, y, ROWS * LANES))\n"
    "{\n"
    "    K_TILES(t)\n"
    "    {\n"
    "        K_NODES(i, ROWS) K_TILE(y, t, ROWS)[i * LANES + lane] =\n"
    "            K_TILE(x, t, ROWS)[i * LANES + lane] + K_TILE(w, t, ROWS)[i * LANES + lane] + "
    "z[0];\n"
    "    }\n"
    "}\n";

static void overlaps(eg_device *device, eg_type real)
{
    enum { ROWS = 4, TILE = ROWS * LANES, MANY = 8, HALF = MANY * TILE };
    static const eg_define defines[] = {{"ROWS", ROWS}};
    eg_context *ctx = eg_device_context(device);
    eg_kernel_options options = text_options(SOURCE, add_text, "add", real);
    eg_kernel *kernel = NULL;
    uint64_t seed = 4;
    options.defines = defines;
    options.define_count = EG_COUNT(defines);
    TEST_OK(ctx, eg_kernel_create(device, &options, &kernel));
    array both = array_random(device, real, 2 * HALF, -1, 1, &seed);
    array other = array_random(device, real, HALF, -1, 1, &seed);
    double *before = new_values(2 * HALF);
    memcpy(before, both.v, 2 * HALF * sizeof *before);
    eg_buffer *b = both.buffer, *o = other.buffer;

    TEST_FAILS(ctx, EG_ERROR_LAUNCH, "'y' is written and overlaps 'x'",
               eg_launch(kernel, MANY, EG_BUFFER("x", b), EG_BUFFER("w", o), EG_BUFFER("z", o),
                         EG_BUFFER("y", b)));
    TEST_FAILS(ctx, EG_ERROR_LAUNCH, "'y' is written and overlaps 'w'",
               eg_launch(kernel, MANY, EG_BUFFER("x", o), EG_BUFFER_AT("w", b, HALF - TILE),
                         EG_BUFFER("z", o), EG_BUFFER("y", b)));
    TEST_FAILS(ctx, EG_ERROR_LAUNCH, "'y' is written and overlaps 'x'",
               eg_launch(kernel, MANY, EG_BUFFER("x", b), EG_BUFFER("w", o), EG_BUFFER("z", o),
                         EG_BUFFER_AT("y", b, HALF - TILE)));
    /* Without an extent an array reaches to the end of its buffer. */
    TEST_FAILS(ctx, EG_ERROR_LAUNCH, "'y' is written and overlaps 'z'",
               eg_launch(kernel, MANY, EG_BUFFER("x", o), EG_BUFFER("w", o), EG_BUFFER("z", b),
                         EG_BUFFER_AT("y", b, HALF)));
    array_download(&both);
    assert_memory_equal(both.v, before, 2 * HALF * sizeof *before);

    /* Two that are read may be the same, and written is what lies apart. */
    TEST_OK(ctx, eg_launch(kernel, MANY, EG_BUFFER("x", b), EG_BUFFER("w", b), EG_BUFFER("z", o),
                           EG_BUFFER_AT("y", b, HALF)));
    array_download(&both);
    for (size_t i = 0; i < HALF; i++) {
        assert_true(both.v[i] == before[i]);
        assert_near(both.v[HALF + i], 2 * before[i] + other.v[0], 8 * epsilon(real), "y", i);
    }
    TEST_OK(ctx, eg_launch(kernel, MANY, EG_BUFFER("x", o), EG_BUFFER("w", o),
                           EG_BUFFER_AT("z", b, HALF), EG_BUFFER("y", b)));
    free(before);
    array_free(&both);
    array_free(&other);
    eg_kernel_destroy(&kernel);
}

static void test_launch__arrays_that_are_written_must_lie_apart(void **state)
{
    (void)state;
    on_every_device(overlaps);
}

/* --- check mode ------------------------------------------------------------------------------------- */

static const char stray_text[] = "K_KERNEL(stray, K_OUT(real, y, LANES), K_VAL(i64, at))\n"
                                 "{\n"
                                 "    K_TILES(t) { K_NODES(i, 1) if (lane == 0) y[at] = K_R(1); }\n"
                                 "}\n";

static void strays(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = text_kernel(device, SOURCE, stray_text, "stray", real);
    array y = array_poisoned(device, real, LANES);
    TEST_OK(ctx, eg_launch(kernel, 1, EG_BUFFER("y", y.buffer), EG_INTEGER("at", LANES - 1)));
    TEST_FAILS(ctx, EG_ERROR_CHECK, "behind its last value",
               eg_launch(kernel, 1, EG_BUFFER("y", y.buffer), EG_INTEGER("at", LANES)));
    array_free(&y);
    y = array_poisoned(device, real, LANES);
    TEST_FAILS(ctx, EG_ERROR_CHECK, "before its first value",
               eg_launch(kernel, 1, EG_BUFFER("y", y.buffer), EG_INTEGER("at", -1)));
    array_free(&y);
    eg_kernel_destroy(&kernel);
}

static void test_check__one_value_written_outside_a_buffer_is_found(void **state)
{
    (void)state;
    on_every_device(strays);
}

static const char copy_text[] =
    "K_KERNEL(copy, K_IN(real, x, 4 * LANES), K_OUT(real, y, 4 * LANES))\n"
    "{\n"
    "    K_TILES(t) { K_PUT(4, K_G(K_TILE(x, t, 4)), K_TILE(y, t, 4)); }\n"
    "}\n";

static void misaligned(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = text_kernel(device, SOURCE, copy_text, "copy", real);
    uint64_t seed = 2;
    enum { TILE = 4 * LANES };
    array x = array_random(device, real, 5 * TILE, -1, 1, &seed);
    array y = array_poisoned(device, real, TILE);
    for (size_t first = 1; first * eg_type_size(real) < 64; first *= 2)
        TEST_FAILS(
            ctx, EG_ERROR_LAUNCH, "not aligned",
            eg_launch(kernel, 1, EG_BUFFER_AT("x", x.buffer, first), EG_BUFFER("y", y.buffer)));
    assert_untouched_outside(&y, 0, 0);
    TEST_OK(ctx,
            eg_launch(kernel, 1, EG_BUFFER_AT("x", x.buffer, 2 * TILE), EG_BUFFER("y", y.buffer)));
    array_download(&y);
    assert_memory_equal(y.v, x.v + 2 * TILE, TILE * sizeof(double));
    array_free(&x);
    array_free(&y);
    eg_kernel_destroy(&kernel);
}

static void test_launch__a_buffer_that_starts_misaligned_is_refused(void **state)
{
    (void)state;
    on_every_device(misaligned);
}

static void fresh(eg_device *device, eg_type real)
{
    eg_kernel *kernel = text_kernel(device, SOURCE, copy_text, "copy", real);
    array x = array_new(device, real, 4 * LANES), y = array_new(device, real, 4 * LANES);
    for (size_t i = 0; i < y.count; i++)
        y.v[i] = 0;
    array_upload(&y);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, 1, EG_BUFFER("x", x.buffer), EG_BUFFER("y", y.buffer)));
    array_download(&y);
    for (size_t i = 0; i < y.count; i++)
        assert_true(isnan(y.v[i]));
    array_free(&x);
    array_free(&y);
    eg_kernel_destroy(&kernel);
}

static void test_check__kernels_read_nan_from_fresh_buffers(void **state)
{
    (void)state;
    on_every_device(fresh);
}

/* y says whether the same threads had the tile before. Every third tile is left out. */
static const char turns_text[] =
    "K_KERNEL(turns, K_OUT(real, y, LANES))\n"
    "{\n"
    "    i64 last = -2;\n"
    "    K_TILES(t)\n"
    "    {\n"
    "        const int handed = last == t - 1;\n"
    "        last = t;\n"
    "        K_LEAVE_OUT(t % 3 == 2)\n"
    "        K_NODES(i, 1) K_TILE(y, t, 1)[lane] = handed ? K_R(1) : K_R(0);\n"
    "    }\n"
    "}\n";

static void in_turn(eg_device *device, eg_type real)
{
    enum { FROM = 2, COUNT = 41, TURN = 4 };
    eg_context *ctx = eg_device_context(device);
    const bool cpu = !strcmp(eg_device_get_info(device)->backend, "cpu");
    eg_kernel *kernel = NULL;
    array y = array_poisoned(device, real, (FROM + COUNT) * LANES);
    eg_kernel_options options = text_options(SOURCE, turns_text, "turns", real);
    options.tiles_in_turn = TURN;
    TEST_OK(ctx, eg_kernel_create(device, &options, &kernel));
    const eg_argument argument = EG_BUFFER("y", y.buffer);
    TEST_OK(ctx, eg_launch_tiles(kernel, FROM, COUNT, &argument, 1));
    array_download(&y);
    for (size_t i = 0; i < y.count; i++) {
        const size_t tile = i / LANES;
        if (tile < FROM || tile % 3 == 2)
            assert_true(isnan(y.v[i]));
        else if ((tile - FROM) % TURN != 0 && !cpu)
            assert_true(y.v[i] == 1);
        else
            assert_true(y.v[i] == 0 || y.v[i] == 1);
    }
    eg_kernel_destroy(&kernel);
    array_free(&y);
}

static void test_launch__the_same_threads_take_tiles_in_turn(void **state)
{
    (void)state;
    on_every_device(in_turn);
}

/* --- pieces ----------------------------------------------------------------------------------------- */

static const char change_text[] =
    "K_KERNEL(change, K_VAL(real, s), K_VAL(real, n), K_INOUT(real, y, LANES))\n"
    "{\n"
    "    K_TILES(t) { K_NODES(i, 1) K_TILE(y, t, 1)[lane] = s * K_TILE(y, t, 1)[lane] + n; }\n"
    "}\n";

/* What pieces of a list do depends on their order, which is kept; lists are on tiles of their own. */
static void pieces(eg_device *device, eg_type real)
{
    enum { ALL = 7, DOUBLE = 0, ADD = 1 };
    static const eg_piece first[] = {{DOUBLE, 0, 2}, {ADD, 0, 1}, {ADD, 1, 2}, {DOUBLE, 2, 1}};
    static const eg_piece second[] = {{ADD, 3, 2}, {ADD, 5, 0}, {DOUBLE, 3, 2}};
    static const eg_piece third[] = {{ADD, 6, 1}};
    static const eg_pieces lists[] = {
        {first, EG_COUNT(first)}, {second, EG_COUNT(second)}, {NULL, 0}, {third, EG_COUNT(third)}};
    static const double want[ALL] = {7, 7, 8, 8, 8, 3, 4}; /* of 3 */
    static const eg_piece wrong[] = {
        {2, 0, 1}, {-1, 0, 1}, {ADD, 6, 2}, {ADD, -1, 1}, {ADD, 0, -1}};
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = text_kernel(device, SOURCE, change_text, "change", real);
    array y = array_new(device, real, ALL * LANES);
    for (size_t i = 0; i < y.count; i++)
        y.v[i] = 3;
    array_upload(&y);
    const eg_argument doubled[] = {EG_REAL("s", 2), EG_REAL("n", 0), EG_BUFFER("y", y.buffer)};
    const eg_argument added[] = {EG_REAL("s", 1), EG_REAL("n", 1), EG_BUFFER("y", y.buffer)};
    const eg_call calls[] = {[DOUBLE] = {kernel, ALL, doubled, EG_COUNT(doubled)},
                             [ADD] = {kernel, ALL, added, EG_COUNT(added)}};
    const eg_call long_one = {kernel, ALL + 1, added, EG_COUNT(added)};
    for (size_t i = 0; i < EG_COUNT(wrong); i++)
        TEST_FAILS(ctx, EG_ERROR_LAUNCH, "is not one of",
                   eg_launch_pieces(calls, EG_COUNT(calls), &(eg_pieces){&wrong[i], 1}, 1));
    TEST_FAILS(ctx, EG_ERROR_LAUNCH, "but 8 tiles of 16 values are launched",
               eg_launch_pieces(&long_one, 1, lists, 0));
    TEST_OK(ctx, eg_launch_pieces(calls, EG_COUNT(calls), lists, EG_COUNT(lists)));
    array_download(&y);
    for (size_t i = 0; i < y.count; i++)
        assert_true(y.v[i] == want[i / LANES]);
    array_free(&y);
    eg_kernel_destroy(&kernel);
}

static void test_launch__pieces_of_a_list_are_run_in_order(void **state)
{
    (void)state;
    on_every_device(pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_launch__arguments_that_do_not_match_are_refused_by_name),
        KERNEL_TEST(test_launch__arrays_that_are_written_must_lie_apart),
        KERNEL_TEST(test_check__one_value_written_outside_a_buffer_is_found),
        KERNEL_TEST(test_launch__a_buffer_that_starts_misaligned_is_refused),
        KERNEL_TEST(test_check__kernels_read_nan_from_fresh_buffers),
        KERNEL_TEST(test_launch__the_same_threads_take_tiles_in_turn),
        KERNEL_TEST(test_launch__pieces_of_a_list_are_run_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
