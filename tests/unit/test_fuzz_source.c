/* Kernel files that were damaged in every way a deterministic generator finds: reading them never
 * crashes, never loses memory, and always ends with a status and, where it fails, a message. */
#include "test.h"

#include "device/source.h"

#define ROUNDS 12000
#define SECONDS 3.0

static uint64_t random_state;

static size_t below(size_t n)
{
    return n ? (size_t)((1.0 + test_random(&random_state)) * 0.5 * (double)n) : 0;
}

/* What damage is made of, besides pieces of the file itself. */
static const char *const tokens[] = {"K_KERNEL(",
                                     "K_KERNEL(k, K_OUT(real, y)) { K_TILES(t) { } }",
                                     "K_IN(real, x, ",
                                     "K_OP(a, ",
                                     "K_SHARED(real, s, ",
                                     "K_OPERAND(x, 4, ",
                                     "K_ACCUM(",
                                     "K_NODES(i, ",
                                     "K_WARPS(t)",
                                     "K_TILES(t)",
                                     "K_LOAD(",
                                     "(",
                                     ")",
                                     "{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     ";",
                                     "\"",
                                     "'",
                                     "\\",
                                     "/*",
                                     "*/",
                                     "//",
                                     "\n",
                                     "#define A A + A\n",
                                     "#define NP (NP * NP)\n",
                                     "#define NP 0\n",
                                     "#define",
                                     "#ifndef NP\n",
                                     "#if 1\n",
                                     "#endif\n",
                                     "#include \"",
                                     "#include \"device/reduce.k.c\"\n",
                                     "#line 7 \"x\"\n",
                                     "99999999999999999999",
                                     "-1",
                                     "0",
                                     "1 / 0",
                                     "NP % 0",
                                     "((((((((",
                                     "? 1 :",
                                     "&& ||",
                                     "LANES",
                                     "K_MAX(",
                                     "real",
                                     "f16",
                                     "\t",
                                     "\xc3\xa4",
                                     "a_name_that_is_very_very_very_very_very_long"};

/* Damages `text`, which has room for `capacity` bytes, in one place. */
static size_t damage(char *text, size_t length, size_t capacity)
{
    size_t at = below(length), n = 1 + below(below(2) ? 8 : 200);
    if (n > length - at) n = length - at;
    switch (below(5)) {
    case 0: /* leave a piece out */
        memmove(text + at, text + at + n, length - at - n);
        return length - n;
    case 1: /* say a piece twice */
        if (length + n > capacity) return length;
        memmove(text + at + n, text + at, length - at);
        return length + n;
    case 2: { /* put a token in */
        const char *token = tokens[below(EG_COUNT(tokens))];
        size_t bytes = strlen(token);
        if (length + bytes > capacity) return length;
        memmove(text + at + bytes, text + at, length - at);
        memcpy(text + at, token, bytes);
        return length + bytes;
    }
    case 3: /* change a byte; none becomes 0, which would end the text */
        if (length) text[at] = (char)(1 + below(255));
        return length;
    default: /* end early */
        return below(4) ? length : at;
    }
}

static const eg_target targets[] = {
    {.kind = EG_TARGET_CPU, .lanes = 16, .shared_bytes = 1 << 20, .max_block_threads = 1},
    {.kind = EG_TARGET_OPENCL, .lanes = 16, .shared_bytes = 64 << 10, .max_block_threads = 1024},
    {.kind = EG_TARGET_CUDA,
     .cuda_arch = 90,
     .lanes = 32,
     .shared_bytes = 227 << 10,
     .max_block_threads = 1024}};

static const struct {
    const char *file, *entry;
} seeds[] = {{"src/bench/chain.k.c", "chain"},        {"src/bench/gemm.k.c", "gemm"},
             {"src/bench/stream.k.c", "triad"},       {"src/bench/matvec.k.c", "matvec"},
             {"src/device/reduce.k.c", "reduce"},     {"tests/kernel/dialect.k.c", "tile"},
             {"tests/kernel/fragments.k.c", "joined"}};

static char *read_seed(const char *name, size_t *length)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", EG_TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t capacity = 0;
    if (!file) fail_msg("cannot read %s", path);
    ssize_t n = getdelim(&text, &capacity, '\0', file);
    assert_true(n > 0);
    fclose(file);
    *length = (size_t)n;
    return text;
}

static void check_outcome(eg_context *ctx, eg_status status, const eg_source *source)
{
    if (status == EG_OK) {
        assert_true(source->text.length > 0);
        assert_in_range(source->parameter_count, 1, EG_PARAMETERS_MAX);
        assert_true(source->geometry.lanes > 0 && source->geometry.ty > 0 &&
                    source->geometry.tz > 0);
        return;
    }
    if (status != EG_ERROR_COMPILE && status != EG_ERROR_ARGUMENT && status != EG_ERROR_UNSUPPORTED)
        fail_msg("%s: %s", eg_status_text(status), eg_context_error(ctx));
    assert_true(eg_context_error(ctx)[0]);
}

static void test_fuzz__damaged_kernels_are_read_or_refused(void **state)
{
    (void)state;
    enum { ROOM = 4096 };
    static const eg_define defines[] = {{"NP", 10},    {"NC", 12},    {"NQ", 6},     {"ROWS", 8},
                                        {"N", 9},      {"FIELDS", 2}, {"BLOCKS", 4}, {"KINDS", 1},
                                        {"KIND_0", 0}, {"KIND_1", 0}, {"KIND_2", 0}, {"KIND_3", 0}};
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    double start = eg_wall_seconds();
    int good = 0, refused = 0;
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    random_state = 2024;
    for (int round = 0; round < ROUNDS && eg_wall_seconds() - start < SECONDS; round++) {
        size_t seed = (size_t)round % EG_COUNT(seeds), length = 0;
        char *whole = read_seed(seeds[seed].file, &length);
        char *text = malloc(length + ROOM + 1);
        assert_non_null(text);
        memcpy(text, whole, length);
        size_t places = round < (int)EG_COUNT(seeds) ? 0 : 1 + below(4), capacity = length + ROOM;
        for (size_t k = 0; k < places; k++)
            length = damage(text, length, capacity);
        text[length] = '\0';
        eg_kernel_options options = {.size = sizeof options,
                                     .source = seeds[seed].file,
                                     .text = text,
                                     .entry = seeds[seed].entry,
                                     .real = below(2) ? EG_F64 : EG_F32,
                                     .defines = defines,
                                     .define_count = EG_COUNT(defines)};
        long live = test_memory.live;
        eg_status status =
            eg_source_build(ctx, &targets[below(EG_COUNT(targets))], &options, source);
        check_outcome(ctx, status, source);
        if (places == 0) TEST_OK(ctx, status);
        eg_source_free(source);
        assert_int_equal(test_memory.live, live);
        good += status == EG_OK;
        refused += status != EG_OK;
        free(text);
        free(whole);
    }
    /* Both happen, or the damage is no test of anything. */
    assert_true(good > 20 && refused > 20);
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

static void test_fuzz__random_expressions_have_a_value_or_a_reason(void **state)
{
    (void)state;
    static const char *const words[] = {
        "1",  "2",  "NP", "0", "(",      ")",      "+",  "-",  "*",
        "/",  "%",  "<",  ">", "<=",     ">=",     "==", "!=", "!",
        "&&", "||", "?",  ":", "K_MAX(", "K_MIN(", ",",  " ",  "4611686018427387904",
        "X",  "Y"};
    eg_context *ctx = test_context();
    eg_macros macros = eg_macros_new(ctx);
    int good = 0;
    TEST_OK(ctx, eg_macros_define_integer(&macros, "NP", 10));
    TEST_OK(ctx, eg_macros_define(&macros, "X", 1, "(Y - 1)", 7, false));
    TEST_OK(ctx, eg_macros_define(&macros, "Y", 1, "NP * X", 6, false));
    random_state = 77;
    for (int round = 0; round < 20000; round++) {
        char text[400] = "";
        size_t count = 1 + below(12);
        for (size_t k = 0; k < count; k++)
            strcat(text, words[below(EG_COUNT(words))]);
        int64_t value = 0;
        eg_status status = eg_constant_evaluate(&macros, "here", text, strlen(text), &value);
        if (status != EG_OK && status != EG_ERROR_COMPILE)
            fail_msg("%s: %s", text, eg_status_text(status));
        good += status == EG_OK;
    }
    assert_true(good > 200);
    eg_macros_free(&macros);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fuzz__damaged_kernels_are_read_or_refused),
        cmocka_unit_test(test_fuzz__random_expressions_have_a_value_or_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
