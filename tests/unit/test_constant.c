/* Constant expressions of kernel files, as the library evaluates them before any compiler does: they
 * mean what they mean in C, or are refused. */
#include "test.h"

#include "device/constant.h"

static eg_status evaluate(eg_context *ctx, const char *text, int64_t *value)
{
    eg_macros macros = eg_macros_new(ctx);
    eg_status status = EG_OK;
    static const struct {
        const char *name, *body;
        bool conditional;
    } known[] = {{"NP", "10", false},
                 {"TWICE", "(2 * NP)", false},
                 {"SUM", "NP + 1", false},
                 {"LOOP", "LOOP + 1", false},
                 {"PING", "PONG", false},
                 {"PONG", "PING", false},
                 {"REAL", "1.5", false},
                 {"EMPTY", "", false},
                 {"MAYBE", "3", true},
                 {"MINUS", "-4", false},
                 {"BIG", "4611686018427387904", false}};
    for (size_t i = 0; i < EG_COUNT(known); i++)
        EG_TRY(eg_macros_define(&macros, known[i].name, strlen(known[i].name), known[i].body,
                                strlen(known[i].body), known[i].conditional));
    status = eg_constant_evaluate(&macros, "here:1", text, strlen(text), value);
done:
    eg_macros_free(&macros);
    return status;
}

static void test_constant__expressions_mean_what_they_mean_in_c(void **state)
{
    (void)state;
    /* clang-format off */
#define CASE(expression) {#expression, (expression)}
#define NP 10
#define TWICE (2 * NP)
#define MINUS -4
#define K_MAX(a, b) ((a) > (b) ? (a) : (b))
#define K_MIN(a, b) ((a) < (b) ? (a) : (b))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
    /* As text and as C: the compiler says what is right. */
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        CASE(0), CASE(7), CASE(NP), CASE((NP)), CASE(1 + 2 * 3), CASE((1 + 2) * 3),
        CASE(NP * (NP + 1) / 2), CASE(20 - 5 - 3), CASE(100 / 10 / 5), CASE(17 % 5 * 2),
        CASE(-NP), CASE(- -NP), CASE(+NP), CASE(!NP), CASE(!0), CASE(!!NP), CASE(-2 * -3),
        CASE(2 - -3), CASE(-7 / 2), CASE(-7 % 3), CASE(7 / -1), CASE(7 % -1), CASE(1 < 2),
        CASE(2 < 1), CASE(NP <= 10), CASE(NP >= 11), CASE(NP == 10), CASE(NP != 10), CASE(3 > 2),
        CASE(1 + 1 == 2), CASE(3 == 2 < 3), CASE(5 != 1 > 0), CASE(1 && 0), CASE(1 || 0),
        CASE(0 || 0 || 2), CASE(1 || 0 && 0), CASE(0 && 0 || 1), CASE(0 && (0 || 1)),
        CASE(1 ? 2 : 3), CASE(0 ? 2 : 3), CASE(0 ? 1 : 0 ? 2 : 3), CASE(1 ? 0 ? 4 : 5 : 6),
        CASE(NP > 5 ? NP : 5), CASE(1 + (NP > 5 ? 1 : 0)), CASE(K_MAX(3, NP)),
        CASE(K_MIN(3, NP)), CASE(K_MAX(K_MIN(1, 2), K_MAX(0, -1)) + 1),
        CASE(K_MAX((1 + 2) * 3, 8)), CASE((((((((((NP)))))))))), CASE(9223372036854775799),
        CASE(TWICE), CASE(3 * TWICE % 7), CASE(MINUS - MINUS), CASE(TWICE / MINUS)};
#pragma GCC diagnostic pop
    /* clang-format on */
#undef CASE
#undef NP
#undef TWICE
#undef MINUS
#undef K_MAX
#undef K_MIN
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        int64_t value = INT64_MIN;
        TEST_OK(ctx, evaluate(ctx, cases[i].text, &value));
        if (value != cases[i].value)
            fail_msg("%s is %lld, not %lld", cases[i].text, (long long)cases[i].value,
                     (long long)value);
    }
    test_context_free(&ctx);
}

static void test_constant__nonsense_is_refused_with_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {{"", "ends too early"},
                 {"1 +", "ends too early"},
                 {"(1", ") expected"},
                 {"1)", "')' was not expected"},
                 {"1 2", "'2' was not expected"},
                 {"* 2", "'*' was not expected"},
                 {"1 ? 2", ": expected"},
                 {"K_MAX(1)", ", expected"},
                 {"K_MIN 1, 2", "( expected"},
                 {"K_MAX(1, 2", ") expected"},
                 {"1 / 0", "divides by zero"},
                 {"NP % (5 - 5)", "divides by zero"},
                 {"9223372036854775807", "too large"},
                 {"99999999999999999999", "too large"},
                 {"BIG + BIG", "overflows"},
                 {"0 - BIG - BIG - 1", "overflows"},
                 {"BIG * 2", "overflows"},
                 {"-(0 - BIG - BIG)", "overflows"},
                 {"(0 - BIG - BIG) / -1", "overflows"},
                 {"OTHER", "'OTHER' is not a known constant"},
                 {"MAYBE + 1", "under an #if"},
                 {"LOOP", "refers to itself"},
                 {"PING", "refers to itself"},
                 {"REAL", "is no integer"},
                 {"2 * SUM", "'SUM' needs brackets"},
                 {"SUM + 1", "'SUM' needs brackets"},
                 {"(SUM)", "'SUM' needs brackets"},
                 {"EMPTY", "ends too early"},
                 {"1 << 2", "was not expected"},
                 {"1.5", "was not expected"},
                 {"0x10", "octal and hexadecimal"},
                 {"0XaF", "octal and hexadecimal"},
                 {"010", "octal and hexadecimal"},
                 {"NP + 07", "octal and hexadecimal"},
                 {"sizeof(real)", "'sizeof' is not a known constant"},
                 {"'a'", "was not expected"}};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        int64_t value = 77;
        TEST_FAILS(ctx, EG_ERROR_COMPILE, cases[i].part, evaluate(ctx, cases[i].text, &value));
        TEST_FAILS(ctx, EG_ERROR_COMPILE, "here:1", evaluate(ctx, cases[i].text, &value));
        assert_int_equal(value, 77);
    }
    test_context_free(&ctx);
}

/* Neither deep nesting nor macros that multiply take the stack or the time. */
static void test_constant__depth_and_work_are_bounded(void **state)
{
    (void)state;
    enum { DEEP = 1000000, LEVELS = 30 };
    static const char *const repeated[] = {"(", "-", "1?", "1||", "K_MAX(", "!", "1+("};
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    eg_macros macros = eg_macros_new(ctx);
    int64_t value = 0;
    for (size_t i = 0; i < EG_COUNT(repeated); i++) {
        eg_text_clear(&text);
        for (int k = 0; k < DEEP; k++)
            TEST_OK(ctx, eg_text_puts(&text, repeated[i]));
        assert_int_equal(eg_constant_evaluate(&macros, "here", text.data, text.length, &value),
                         EG_ERROR_COMPILE);
    }
    /* D30 = (D29 + D29) and so on: a thousand million terms. */
    for (int k = 0; k <= LEVELS; k++) {
        char name[8], body[24] = "1";
        snprintf(name, sizeof name, "D%d", k);
        if (k > 0) snprintf(body, sizeof body, "(D%d + D%d)", k - 1, k - 1);
        TEST_OK(ctx, eg_macros_define(&macros, name, strlen(name), body, strlen(body), false));
    }
    TEST_OK(ctx, eg_constant_evaluate(&macros, "here", "D10", 3, &value));
    assert_int_equal(value, 1 << 10);
    double start = eg_cpu_seconds();
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "too long",
               eg_constant_evaluate(&macros, "here", "D30", 3, &value));
    assert_true(eg_cpu_seconds() - start < 1);
    eg_macros_free(&macros);
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_macros__a_name_too_long_is_refused_and_redefinition_replaces(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_macros macros = eg_macros_new(ctx);
    char name[65];
    int64_t value = 0;
    memset(name, 'A', sizeof name);
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "too long",
               eg_macros_define(&macros, name, 64, "1", 1, false));
    for (int k = 0; k < 100; k++) { /* past the first block of the list */
        char each[8];
        snprintf(each, sizeof each, "X%d", k);
        TEST_OK(ctx, eg_macros_define_integer(&macros, each, k));
    }
    TEST_OK(ctx, eg_macros_define_integer(&macros, "X7", -70));
    TEST_OK(ctx, eg_constant_evaluate(&macros, "here", "X99 - X7", 8, &value));
    assert_int_equal(value, 169);
    assert_null(eg_macros_find(&macros, "X", 1));
    eg_macros_free(&macros);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant__expressions_mean_what_they_mean_in_c),
        cmocka_unit_test(test_constant__nonsense_is_refused_with_its_reason),
        cmocka_unit_test(test_constant__depth_and_work_are_bounded),
        cmocka_unit_test(test_macros__a_name_too_long_is_refused_and_redefinition_replaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
