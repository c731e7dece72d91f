/* Expressions on the host: grammar, values, what is refused and where, limits, emitted text. */
#include "test.h"

#include "expressions.h"

#include <float.h>
#include <locale.h>

static eg_expression *compile(eg_context *ctx, const char *text)
{
    eg_expression *e = NULL;
    TEST_OK(ctx, eg_expression_create(ctx, text, formula_symbols, FORMULA_SYMBOLS, NULL, &e));
    return e;
}

/* The value at x = 2, y = 3, z = 5, t = 7. */
static double value_of(eg_context *ctx, const char *text)
{
    static const double variables[EG_VARIABLE_COUNT] = {2, 3, 5, 7};
    eg_expression *e = compile(ctx, text);
    double value = eg_expression_evaluate(e, variables);
    eg_expression_destroy(&e);
    return value;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

typedef struct value_row {
    const char *text;
    double value;
} value_row;

static void check_values(const value_row *rows, size_t count)
{
    eg_context *ctx = test_context();
    for (size_t i = 0; i < count; i++) {
        double value = value_of(ctx, rows[i].text);
        if (!same_bits(value, rows[i].value))
            fail_msg("%s is %.17g, expected %.17g", rows[i].text, value, rows[i].value);
    }
    test_context_free(&ctx);
}

static void test_expression__operators_bind_as_documented(void **state)
{
    (void)state;
    static const value_row rows[] = {
        {"1 + 2*3", 7},
        {"(1 + 2)*3", 9},
        {"10 - 4 - 3", 3},
        {"24/4/3", 2},
        {"-x^2", -4},
        {"(-x)^2", 4},
        {"2^3^2", 512},
        {"(2^3)^2", 64},
        {"2^-3", 0.125},
        {"2^-x^2", 0.0625},
        {"-2^-2", -0.25},
        {"--x", 2},
        {"-+-x", 2},
        {"!!x", 1},
        {"!x == 0", 1},
        {"!(x == 0)", 1},
        {"-x*y", -6},
        {"x*-y", -6},
        {"x - -y", 5},
        {"x+ +y", 5},
        {"!x + 1", 1},
        {"1 + x < y + 1", 1},
        {"(x < y) == 1", 1},
        {"x <= 2 && 2 >= x && x != 3", 1},
        {"1 || 0 && 0", 1},
        {"(1 || 0) && 0", 0},
        {"x < y && y < z", 1},
        {"0 ? 1 : 0 ? 2 : 3", 3},
        {"1 ? 0 ? 4 : 5 : 6", 5},
        {"x > y ? 1 : 2 + 3", 5},
        {"x == 3 || y == 3 ? z : t", 5},
        {"if(x < y, z, t)", 5},
        {"if(x > y, z, t)", 7},
    };
    check_values(rows, EG_COUNT(rows));
}

static void test_expression__numbers_names_and_blanks_are_read_as_written(void **state)
{
    (void)state;
    static const value_row rows[] = {
        {".5", 0.5},
        {"5.", 5},
        {"1e3", 1000},
        {"1.5E-1", 0.15},
        {"1e+2", 100},
        {"0.1", 0.1},
        {"123456789012345678", 123456789012345678.0},
        {"3.14159265358979323846264338327950288419716939937510", 3.14159265358979323846},
        {"1.7976931348623157e308", DBL_MAX},
        {"5e-324", 5e-324},
        {"1e-400", 0},
        {"pi", 3.14159265358979323846},
        {" \t x\r\n", 2},
        {"Mach", 0.3},
        {"(((x)))", 2},
    };
    check_values(rows, EG_COUNT(rows));
}

/* The host program's locale has nothing to say. */
static void test_expression__numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; i < EG_COUNT(commas) && !found; i++)
        found = setlocale(LC_NUMERIC, commas[i]);
    if (!found) skip();
    static const value_row rows[] = {{"0.5", 0.5}, {"1.25e1 + .5", 13}};
    static const char *const arguments[] = {"x", "y", "z", "t"};
    check_values(rows, EG_COUNT(rows));
    eg_context *ctx = test_context();
    eg_expression *e = compile(ctx, "0.5*x");
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, eg_expression_emit(e, "half", arguments, EG_COUNT(arguments), &text));
    assert_non_null(strstr(eg_text_string(&text), "K_R(0.5)"));
    eg_text_free(&text);
    eg_expression_destroy(&e);
    test_context_free(&ctx);
    setlocale(LC_NUMERIC, "C");
}

static void test_expression__functions_have_their_values_and_edges(void **state)
{
    (void)state;
    static const value_row rows[] = {
        {"step(-1e-300)", 0},
        {"step(0)", 1},
        {"step(-0)", 1},
        {"step(0/0)", 1},
        {"mod(7, 3)", 1},
        {"mod(-7, 3)", 2},
        {"mod(7, -3)", -2},
        {"mod(-x, 1.5)", 1},
        {"min(x, y)", 2},
        {"max(x, y)", 3},
        {"min(0/0, x)", NAN},
        {"min(x, 0/0)", 2},
        {"max(0/0, x)", NAN},
        {"max(x, 0/0)", 2},
        {"floor(-0.5)", -1},
        {"abs(-3)", 3},
        {"sqrt(-x)", NAN},
        {"log(0)", -INFINITY},
        {"log(-x)", NAN},
        {"log10(1000)", 3},
        {"atan2(0, -1)", 3.14159265358979323846},
        {"atan2(-0*x, -1)", -3.14159265358979323846},
        {"x/0", INFINITY},
        {"-x/0", -INFINITY},
        {"1/(1/0)", 0},
        {"exp(1000)", INFINITY},
        {"exp(-1000)", 0},
        {"(0/0)^0", 1},
        {"pow(0/0, 0)", 1},
        {"0^0", 1},
        {"pow(0, -1)", INFINITY},
        {"(-8)^(1/3)", NAN},
        {"2^0.5", 1.4142135623730951},
        {"2^1024", INFINITY},
        {"x^9", 512},
        {"x^-9", 1.0 / 512},
        {"0/0 ? 1 : 2", 1},
        {"0/0 == 0/0", 0},
        {"0/0 != 0/0", 1},
        {"!(0/0)", 0},
        {"0/0 && 1", 1},
        {"0 || 0/0", 1},
        {"-0 || 0", 0},
        {"x < 0/0", 0},
        {"x >= 0/0", 0},
        {"if(0, 1/0, 2)", 2},
    };
    check_values(rows, EG_COUNT(rows));
}

static void test_expression__whole_powers_are_products_in_a_fixed_order(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 11;
    for (int n = -8; n <= 8; n++) {
        char text[32];
        snprintf(text, sizeof text, n % 2 ? "x^%d" : "pow(x, %d)", n);
        eg_expression *e = compile(ctx, text);
        for (int k = 0; k < 100; k++) {
            const double x = 3 * test_random(&seed);
            volatile double p2 = x * x, p3 = p2 * x, p4 = p2 * p2, p5 = p4 * x, p6 = p3 * p3;
            volatile double p7 = p6 * x, p8 = p4 * p4;
            const double powers[] = {1, x, p2, p3, p4, p5, p6, p7, p8};
            const double expected = n < 0 ? 1 / powers[-n] : powers[n];
            double value = eg_expression_evaluate(e, &x);
            if (!same_bits(value, expected))
                fail_msg("%s at %.17g is %.17g, expected %.17g", text, x, value, expected);
        }
        eg_expression_destroy(&e);
    }
    test_context_free(&ctx);
}

static void test_expression__fifty_formulas_have_the_values_of_the_same_formulas_in_c(void **state)
{
    (void)state;
    enum { POINTS = 2000 };
    eg_context *ctx = test_context();
    assert_int_equal(FORMULA_COUNT, 50);
    for (size_t f = 0; f < FORMULA_COUNT; f++) {
        eg_expression *e = compile(ctx, formulas[f].text);
        uint64_t seed = 5;
        for (int k = 0; k < POINTS; k++) {
            const double v[] = {2 * test_random(&seed), 100 * test_random(&seed),
                                pow(10, 6 * test_random(&seed)), 5 + 5 * test_random(&seed)};
            if (formulas[f].jump && !(formulas[f].jump(v[0], v[1], v[2], v[3]) > 1e-12)) continue;
            double expected = formulas[f].value(v[0], v[1], v[2], v[3]);
            double value = eg_expression_evaluate(e, v);
            /* Compositions are written in another order, and saw takes a difference. */
            bool loose = formulas[f].kind == FORMULA_COMPOSITION;
            double bound = loose ? 1e-12 * (fabs(expected) + 1) : 0;
            bool near = same_bits(value, expected) || fabs(value - expected) <= bound;
            if (!near)
                fail_msg("%s at %.17g %.17g %.17g %.17g is %.17g, expected %.17g", formulas[f].text,
                         v[0], v[1], v[2], v[3], value, expected);
        }
        eg_expression_destroy(&e);
    }
    test_context_free(&ctx);
}

typedef struct wrong_row {
    const char *text, *message; /* part of it */
    size_t offset, length;
} wrong_row;

static void test_expression__what_is_wrong_is_named_with_its_place_and_a_suggestion(void **state)
{
    (void)state;
    static const wrong_row rows[] = {
        {"", "empty", 0, 0},
        {"  ", "empty", 2, 0},
        {"1 +", "ends where a value", 3, 0},
        {"* 2", "a value is expected here, not '*'", 0, 1},
        {"x + * y", "a value is expected here, not '*'", 4, 1},
        {"()", "a value is expected here, not ')'", 1, 1},
        {"2x", "a product is written 2*x", 1, 1},
        {"2.5e3sin(x)", "a product is written 2.5e3*sin", 5, 3},
        {"2 x", "before 'x'; a product is written with '*'", 2, 1},
        {"(x)(y)", "before '('; a product is written with '*'", 3, 1},
        {"(x) y", "before 'y'", 4, 1},
        {"x(y)", "'x' is no function; a product is written x*(", 0, 1},
        {"0x10", "a product is written 0*x10", 1, 3},
        {"sin x", "stand in brackets: sin(", 0, 3},
        {"sin", "stand in brackets: sin(", 0, 3},
        {"sin^2(x)", "stand in brackets: sin(", 0, 3},
        {"sinn(x)", "no function 'sinn'; did you mean 'sin'?", 0, 4},
        {"1 + sqr(x)", "did you mean 'sqrt'?", 4, 3},
        {"quux(x)", "those known are sin cos", 0, 4},
        {"quux(x)", " step if", 0, 4},
        {"ln(x)", "write log(x)", 0, 2},
        {"ceil(x)", "write -floor(-x)", 0, 4},
        {"x and y", "before 'and'", 2, 3},
        {"Mac*x", "no name 'Mac'; did you mean 'Mach'?", 0, 3},
        {"x + gama", "did you mean 'gamma'?", 4, 4},
        {"velocity", "no name 'velocity'; is it a constant", 0, 8},
        {"e^x", "write exp(1)", 0, 1},
        {"sin()", "sin takes 1 argument, not 0", 0, 5},
        {"sin(x, y)", "sin takes 1 argument, not 2", 0, 9},
        {"1 + atan2(x)", "atan2 takes 2 arguments, not 1", 4, 8},
        {"if(x, y)", "if takes 3 arguments, not 2", 0, 8},
        {"max(x, y, z)", "max takes 2 arguments, not 3", 0, 12},
        {"max(x,)", "a value is expected here, not ')'", 6, 1},
        {"max(,x)", "a value is expected here, not ','", 4, 1},
        {"(x + 1", "this bracket is never closed", 0, 1},
        {"2*(x + (y - 1)", "this bracket is never closed", 2, 1},
        {"sin(x + 1", "this bracket is never closed", 3, 1},
        {"x + 1)", "this bracket closes nothing", 5, 1},
        {"x, y", "decimals are written with a point", 1, 1},
        {"(1,5)", "decimals are written with a point", 2, 1},
        {"1 < x < 2", "write a < b && b < c", 6, 1},
        {"x == y != z", "cannot be chained", 7, 2},
        {"x = 2", "equality is written '=='", 2, 1},
        {"x =< 2", "written '<='", 2, 2},
        {"x => 2", "written '>='", 2, 2},
        {"x <> 2", "written '!='", 2, 2},
        {"x**2", "a power is written '^'", 1, 2},
        {"x & y", "'and' is written '&&'", 2, 1},
        {"|x|", "abs(x)", 0, 1},
        {"x % 2", "mod(x, y)", 2, 1},
        {"[x + 1]", "brackets are round", 0, 1},
        {"x!", "'!' stands before", 1, 1},
        {"x ? 1", "this choice has no ':'", 2, 1},
        {"max(x ? 1, 2)", "this choice has no ':'", 6, 1},
        {"(x ? 1)", "this choice has no ':'", 3, 1},
        {"x : 1", "no '?' that this ':' belongs to", 2, 1},
        {"1e400", "too large", 0, 5},
        {"x + 1e999*y", "too large", 4, 5},
        {"1.2.3", "one decimal point", 3, 1},
        {"1e", "exponent of this number has no digits", 0, 2},
        {"1e+", "exponent of this number has no digits", 0, 3},
        {"2*1e*x", "exponent of this number has no digits", 2, 2},
        {".", "'.' means nothing here", 0, 1},
        {"x\xc2\xb2", "written '^2'", 1, 2},
        {"2\xcf\x80", "write pi", 1, 2},
        {"x \xe2\x88\x92 1", "this is a dash", 2, 3},
        {"\xe2\x82\xac", "'\xe2\x82\xac' means nothing here", 0, 3},
        {"x\x01", "the byte 0x01 means nothing", 1, 1},
        {"\xff", "the byte 0xff means nothing", 0, 1},
        {"x $ y", "'$' means nothing here", 2, 1},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        const wrong_row *row = &rows[i];
        eg_expression_error error = {0};
        eg_expression *e = NULL;
        eg_status status =
            eg_expression_create(ctx, row->text, formula_symbols, FORMULA_SYMBOLS, &error, &e);
        if (status != EG_ERROR_INPUT) fail_msg("\"%s\" is accepted", row->text);
        assert_null(e);
        if (!strstr(error.message, row->message))
            fail_msg("\"%s\": \"%s\" lacks \"%s\"", row->text, error.message, row->message);
        if (error.offset != row->offset || error.length != row->length)
            fail_msg("\"%s\": %zu bytes at %zu, expected %zu at %zu", row->text, error.length,
                     error.offset, row->length, row->offset);
        /* The context's message has the text and the message, too. */
        assert_non_null(strstr(eg_context_error(ctx), error.message));
        assert_non_null(strstr(eg_context_error(ctx), row->text));
    }
    eg_expression *e = NULL;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "\"x\xc2\xb7y\", character 2: '\xc2\xb7' means nothing here",
               eg_expression_create(ctx, "x\xc2\xb7y", formula_symbols, FORMULA_SYMBOLS, NULL, &e));
    test_context_free(&ctx);
}

/* Adds `part` to `text` n times. */
static void repeat(eg_context *ctx, eg_text *text, const char *part, int n)
{
    for (int i = 0; i < n; i++)
        TEST_OK(ctx, eg_text_puts(text, part));
}

/* Compiles n times `open`, then x, then n times `close`. */
static eg_status compile_nested(eg_context *ctx, const char *open, const char *close, int n)
{
    eg_expression *e = NULL;
    eg_text text = eg_text_new(ctx);
    repeat(ctx, &text, open, n);
    repeat(ctx, &text, "x", 1);
    repeat(ctx, &text, close, n);
    eg_status status = eg_expression_create(ctx, eg_text_string(&text), formula_symbols,
                                            FORMULA_SYMBOLS, NULL, &e);
    eg_expression_destroy(&e);
    eg_text_free(&text);
    return status;
}

static void test_expression__deep_nesting_is_refused_and_thirty_levels_are_not(void **state)
{
    (void)state;
    static const char *const nests[][2] = {
        {"(", ")"},       {"-", ""},        {"!", ""},        {"2^", ""},
        {"sin(", ")"},    {"max(1, ", ")"}, {"1 ? 2 : ", ""}, {"if(x, y, ", ")"},
        {"(1 + 2*", ")"}, {"1 ? ", " : 2"}, {"mod(1, ", ")"}, {"(x || y && 1 < 1 + 2*3^", ")"},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(nests); i++) {
        int levels = strlen(nests[i][0]) > 12 ? 12 : 30;
        TEST_OK(ctx, compile_nested(ctx, nests[i][0], nests[i][1], levels));
        TEST_FAILS(ctx, EG_ERROR_INPUT, "nested too deeply",
                   compile_nested(ctx, nests[i][0], nests[i][1], 400));
    }
    TEST_FAILS(ctx, EG_ERROR_INPUT, "nested too deeply", compile_nested(ctx, "(", "", 16000));
    test_context_free(&ctx);
}

static void test_expression__long_texts_work_up_to_a_limit(void **state)
{
    (void)state;
    static const double variables[EG_VARIABLE_COUNT] = {2, 3, 5, 7};
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    eg_expression *e = NULL;
    repeat(ctx, &text, "x", 1);
    repeat(ctx, &text, "+x*1", 4000);
    e = compile(ctx, eg_text_string(&text));
    assert_true(eg_expression_evaluate(e, variables) == 8002);
    eg_expression_destroy(&e);
    repeat(ctx, &text, "+x*1", 1000);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "20001 characters; 16384 are the most",
               eg_expression_create(ctx, eg_text_string(&text), formula_symbols, FORMULA_SYMBOLS,
                                    NULL, &e));
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_expression__uses_tells_what_the_value_depends_on(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_expression *e = compile(ctx, "x^0 + sin(2*pi*y) + gamma*t");
    assert_false(eg_expression_uses(e, EG_VARIABLE_X));
    assert_true(eg_expression_uses(e, EG_VARIABLE_Y));
    assert_false(eg_expression_uses(e, EG_VARIABLE_Z));
    assert_true(eg_expression_uses(e, EG_VARIABLE_T));
    assert_string_equal(eg_expression_text(e), "x^0 + sin(2*pi*y) + gamma*t");
    eg_expression_destroy(&e);
    test_context_free(&ctx);
}

static void test_expression__emitted_functions_read_as_written_here(void **state)
{
    (void)state;
    static const char *const arguments[] = {"x", "y", "z", "t"};
    static const struct {
        const char *text, *emitted;
    } rows[] = {
        {"x", "    return x;\n"},
        {"-0", "    return K_R(-0.0);\n"},
        {"1/3", "    return K_R(0.33333333333333331);\n"},
        {"-1/0", "    return (-K_INFINITY);\n"},
        {"0/0", "    return K_NAN;\n"},
        {"1e300", "    return K_R(1.0000000000000001e+300);\n"},
        {"sin(2*pi*x)*y", "    const real k_2 = (K_R(6.2831853071795862) * x);\n"
                          "    const real k_3 = K_SIN(k_2);\n"
                          "    const real k_5 = (k_3 * y);\n"
                          "    return k_5;\n"},
        {"x < 1 ? y : z", "    const real k_2 = x < K_R(1.0) ? K_R(1) : K_R(0);\n"
                          "    const real k_5 = k_2 != K_R(0) ? y : z;\n"
                          "    return k_5;\n"},
        {"t^-3", "    const real k_1 = (t * t);\n"
                 "    const real k_2 = (k_1 * t);\n"
                 "    const real k_4 = K_R(1.0) / k_2;\n"
                 "    return k_4;\n"},
        {"mod(x, y)", "    const real k_2 = x / y;\n"
                      "    const real k_3 = K_FLOOR(k_2);\n"
                      "    const real k_4 = (y * k_3);\n"
                      "    const real k_5 = x - k_4;\n"
                      "    return k_5;\n"},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        eg_expression *e = compile(ctx, rows[i].text);
        eg_text text = eg_text_new(ctx), expected = eg_text_new(ctx);
        TEST_OK(ctx,
                eg_text_printf(&expected, "K_FUNC real f(real x, real y, real z, real t)\n{\n%s}\n",
                               rows[i].emitted));
        TEST_OK(ctx, eg_expression_emit(e, "f", arguments, EG_COUNT(arguments), &text));
        assert_string_equal(eg_text_string(&text), eg_text_string(&expected));
        eg_text_free(&text);
        eg_text_free(&expected);
        eg_expression_destroy(&e);
    }
    test_context_free(&ctx);
}

/* Also the error path that looks for the nearest name. */
static eg_status use(eg_context *ctx, void *user)
{
    static const char *const arguments[] = {"x", "y", "z", "t"};
    eg_status status = EG_OK;
    eg_expression *e = NULL;
    eg_text text = eg_text_new(ctx);
    (void)user;
    EG_TRY(eg_expression_create(ctx, "sin(x)*y^7 + mod(z, 2*t) - 1/3 + (x < y ? t : exp(-z))",
                                formula_symbols, FORMULA_SYMBOLS, NULL, &e));
    EG_TRY(eg_text_puts(&text, "before"));
    status = eg_expression_emit(e, "f", arguments, EG_COUNT(arguments), &text);
    if (status != EG_OK) assert_string_equal(eg_text_string(&text), "before");
    if (status != EG_OK) goto done;
    eg_expression_destroy(&e);
    status = eg_expression_create(ctx, "gama", formula_symbols, FORMULA_SYMBOLS, NULL, &e);
    assert_null(e);
    assert_int_not_equal(status, EG_OK);
    if (status == EG_ERROR_INPUT) status = EG_OK;
done:
    eg_text_free(&text);
    eg_expression_destroy(&e);
    return status;
}

static void test_expression__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    test_allocation_sweep(use, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expression__operators_bind_as_documented),
        cmocka_unit_test(test_expression__numbers_names_and_blanks_are_read_as_written),
        cmocka_unit_test(test_expression__numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(test_expression__functions_have_their_values_and_edges),
        cmocka_unit_test(test_expression__whole_powers_are_products_in_a_fixed_order),
        cmocka_unit_test(test_expression__fifty_formulas_have_the_values_of_the_same_formulas_in_c),
        cmocka_unit_test(test_expression__what_is_wrong_is_named_with_its_place_and_a_suggestion),
        cmocka_unit_test(test_expression__deep_nesting_is_refused_and_thirty_levels_are_not),
        cmocka_unit_test(test_expression__long_texts_work_up_to_a_limit),
        cmocka_unit_test(test_expression__uses_tells_what_the_value_depends_on),
        cmocka_unit_test(test_expression__emitted_functions_read_as_written_here),
        cmocka_unit_test(test_expression__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
