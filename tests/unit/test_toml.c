/* The TOML parser: what it reads, what it refuses and where it says so, and its limits.
 *
 *     test_toml --json FILE...
 *
 * prints each file as one line of JSON, or "! " and the message's first line; tests/cli/toml.sh
 * compares that with Python's parser. */
#include "comma.h"

#include "case/case.h"
#include "case/toml.h"

#include <locale.h>

static void expect_json(const char *toml, const char *json)
{
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, eg_toml_to_json(ctx, "t", toml, strlen(toml), &text));
    assert_string_equal(eg_text_string(&text), json);
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_toml__every_type_is_read(void **state)
{
    (void)state;
    static const char toml[] = "a.b = [1, -2.5, true, 'x', {y = inf}]\n"
                               "[[t]]\n[t.u]\nv = \"\"\"\nw\\u0000\"\"\"\n[[t]]\n"
                               "[a-]\nz = 1e3\nlong = 0x7fff_ffff_ffff_ffff\nn = [[], {}]\n";
    expect_json(toml, "{\"a\": {\"b\": [1, -2.5, true, \"x\", {\"y\": \"inf\"}]}, "
                      "\"t\": [{\"u\": {\"v\": \"w\\u0000\"}}, {}], "
                      "\"a-\": {\"z\": 1000.0, \"long\": 9223372036854775807, \"n\": [[], {}]}}\n");
}

static void test_toml__a_byte_order_mark_is_skipped_and_takes_no_column(void **state)
{
    (void)state;
    expect_json("\xef\xbb\xbf"
                "a = 1",
                "{\"a\": 1}\n");
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "t:1:5: error",
               eg_toml_to_json(ctx, "t",
                               "\xef\xbb\xbf"
                               "a = x",
                               8, &text));
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_toml__numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    char folder[PATH_MAX];
    test_directory_create(folder);
    bool set = set_comma_locale(folder);
    if (set) {
        assert_int_equal(localeconv()->decimal_point[0], ',');
        expect_json("a = 1.25\nb = 1_0e-1", "{\"a\": 1.25, \"b\": 1.0}\n");
    }
    setlocale(LC_NUMERIC, "C");
    test_directory_remove(folder);
    if (!set) skip();
}

static const struct {
    const char *toml, *where, *message;
} wrong[] = {
    {"a = 1\nb = 2\n a = 3", "t:3:2", "\"a\" is given twice; the first is in line 1, column 1"},
    {"[a]\n[b]\n[ a ]", "t:3:3", "\"a\" has two headers; the first is in line 1, column 2"},
    {"a.b = 1\n[a]", "t:2:2", "made by dotted keys"},
    {"a = {b = 1}\na.c = 2", "t:2:1", "is an inline table"},
    {"[a.b]\n[a]\nb.c = 1", "t:3:1", "with a header of its own"},
    {"a = []\n[[a]]", "t:2:3", "is an array, to which nothing can be added"},
    {"[[a]]\n[a]", "t:2:2", "is an array of tables"},
    {"a = 1\n[a.b]", "t:2:2", "has a value already"},
    {"[a.b]\n[a]\nb = 1", "t:3:1", "is given as a key and as a table"},
    {"a = 1979-05-27", "t:1:5", "dates and times are not supported"},
    {"a = 1979-05-27T07:32:00Z", "t:1:5", "dates and times are not supported"},
    {"a = 07:32:00", "t:1:5", "dates and times are not supported"},
    {"a = 9223372036854775808", "t:1:5", "beyond the range of 64-bit integers"},
    {"a = -9223372036854775809", "t:1:5", "beyond the range of 64-bit integers"},
    {"a = 0x8000000000000000", "t:1:5", "beyond the range of 64-bit integers"},
    {"a = 1e400", "t:1:5", "beyond the range of double precision"},
    {"a = 007", "t:1:5", "begins with a superfluous 0"},
    {"a = 1.", "t:1:5", "write a digit behind the point"},
    {"a = .5", "t:1:5", "write a digit before the point"},
    {"a = 1__0", "t:1:5", "an underscore stands between two digits"},
    {"a = 0b12", "t:1:5", "behind 0b stand the digits 0 and 1"},
    {"a = True", "t:1:5", "did you mean true?"},
    {"a = gauss", "t:1:5", "strings stand in quotes: \"gauss\""},
    {"a =", "t:1:4", "a value is missing here"},
    {"a = [1,, 2]", "t:1:8", "a value is missing here"},
    {"a = \"x\ny", "t:1:5", "not closed by \" on its line"},
    {"a = '''x\ny", "t:1:5", "not closed by '''"},
    {"a = \"\\q\"", "t:1:6", "unknown escape"},
    {"a = \"\\u00g0\"", "t:1:6", "\\u needs 4 hexadecimal digits"},
    {"a = \"\\ud812\"", "t:1:6", "U+D812 is no character"},
    {"a = [1,\n2\n", "t:1:5", "the array that begins here is not closed by \"]\""},
    {"a = [1 2]", "t:1:8", "expected \",\" or \"]\""},
    {"a = {b = 1,\nc = 2}", "t:1:5", "does not end on its line"},
    {"a = {b = 1,}", "t:1:12", "no comma behind its last value"},
    {"a = {b = 1", "t:1:5", "the inline table that begins here is not closed"},
    {"[a", "t:1:3", "expected \"]\" at the end of the header"},
    {"[[a]", "t:1:4", "expected \"]]\" at the end of the header"},
    {"[a] x", "t:1:5", "expected the end of the line behind the header"},
    {"a = 1 b = 2", "t:1:7", "expected the end of the line behind the value"},
    {"a 1", "t:1:3", "expected \"=\" behind the key \"a\""},
    {"\xc3\xa9 = 1", "t:1:1", "other letters than A to Z stand in quotes"},
    {"= 1", "t:1:1", "expected a key"},
    {"\"\"\"a\"\"\" = 1", "t:1:1", "a key cannot be a string of several lines"},
    {"# \xe4\xb8\x96\xe7\x95\x8c\xff", "t:1:5", "the byte 0xff is not UTF-8"},
    {"a = '\x1b[31m'", "t:1:6", "the control character U+001B"},
    {"a = 1\rb = 2", "t:1:6", "a carriage return without a line feed"},
};

static void test_toml__what_is_wrong_is_said_where_it_stands(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        eg_status status = eg_toml_to_json(ctx, "t", wrong[i].toml, strlen(wrong[i].toml), &text);
        const char *message = eg_context_error(ctx);
        char where[32];
        snprintf(where, sizeof where, "%s: error: ", wrong[i].where);
        if (status != EG_ERROR_INPUT || strncmp(message, where, strlen(where)) != 0 ||
            !strstr(message, wrong[i].message))
            fail_msg("%s\nshould fail at %s with \"%s\", but: %s", wrong[i].toml, wrong[i].where,
                     wrong[i].message, status == EG_OK ? "nothing" : message);
        assert_int_equal(text.length, 0);
    }
    eg_text_free(&text);
    test_context_free(&ctx);
}

/* "[[[…]]]", {a = {a = …}}, a.a.a…, [a.a.a…], [[a.a.a…]] of some depth. */
static eg_status parse_nested(eg_context *ctx, int kind, int depth)
{
    eg_status status = EG_OK;
    eg_text toml = eg_text_new(ctx), json = eg_text_new(ctx);
    static const char *const first[] = {"a = ", "a = ", "a", "[a", "[[a"};
    static const char *const open[] = {"[", "{a = ", ".a", ".a", ".a"};
    static const char *const middle[] = {"", "1", "= 1", "]", "]]"};
    static const char *const close[] = {"]", "}", "", "", ""};
    EG_TRY(eg_text_puts(&toml, first[kind]));
    for (int i = 0; i < depth; i++)
        EG_TRY(eg_text_puts(&toml, open[kind]));
    EG_TRY(eg_text_puts(&toml, middle[kind]));
    for (int i = 0; i < depth; i++)
        EG_TRY(eg_text_puts(&toml, close[kind]));
    EG_TRY(eg_toml_to_json(ctx, "t", eg_text_string(&toml), toml.length, &json));
done:
    eg_text_free(&json);
    eg_text_free(&toml);
    return status;
}

static void test_toml__nesting_ends_at_its_limit_with_a_message(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int kind = 0; kind < 5; kind++) {
        int most = EG_TOML_DEPTH - (kind < 4 ? 1 : 2);
        TEST_OK(ctx, parse_nested(ctx, kind, most));
        TEST_FAILS(ctx, EG_ERROR_INPUT, "nested too deeply; the limit is 100",
                   parse_nested(ctx, kind, most + 1));
        TEST_FAILS(ctx, EG_ERROR_INPUT, "nested too deeply; the limit is 100",
                   parse_nested(ctx, kind, 200000));
    }
    test_context_free(&ctx);
}

static void test_toml__files_too_large_are_refused_and_large_ones_take_linear_time(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text toml = eg_text_new(ctx), json = eg_text_new(ctx);
    for (int i = 0; i < 50000; i++)
        TEST_OK(ctx, eg_text_printf(&toml, "[table.k%d]\nk%d = [1, 2]\n", i, i));
    double begin = eg_cpu_seconds();
    TEST_OK(ctx, eg_toml_to_json(ctx, "t", eg_text_string(&toml), toml.length, &json));
    assert_true(eg_cpu_seconds() - begin < 5.0); /* 0.1 s; quadratic would be minutes */
    while (toml.length <= EG_TOML_BYTES)
        TEST_OK(ctx,
                eg_text_puts(&toml, "# a comment of some length, again and again and again\n"));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "is it a file of another kind?",
               eg_toml_to_json(ctx, "t", eg_text_string(&toml), toml.length, &json));
    eg_text_free(&json);
    eg_text_free(&toml);
    test_context_free(&ctx);
}

static eg_status parse_some(eg_context *ctx, void *user)
{
    (void)user;
    static const char toml[] = "a.b = [1.5, {c = 'd'}]\n[[e]]\nf = \"g\"\n[h]\ni = true\n";
    eg_text json = eg_text_new(ctx);
    eg_status status = eg_toml_to_json(ctx, "t", toml, strlen(toml), &json);
    eg_text_free(&json);
    return status;
}

static void test_toml__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    test_allocation_sweep(parse_some, NULL);
}

static int print_json(int count, char **paths)
{
    eg_context *ctx = NULL;
    if (eg_context_create(NULL, &ctx) != EG_OK) return 1;
    for (int i = 0; i < count; i++) {
        char *data = NULL;
        size_t length = 0;
        eg_text json = eg_text_new(ctx);
        eg_status status = eg_file_read(ctx, paths[i], &data, &length);
        if (status == EG_OK) status = eg_toml_to_json(ctx, paths[i], data, length, &json);
        if (status == EG_OK)
            printf("%s", eg_text_string(&json));
        else
            printf("! %.*s\n", (int)strcspn(eg_context_error(ctx), "\n"), eg_context_error(ctx));
        eg_text_free(&json);
        eg_release(ctx, &data);
    }
    eg_context_destroy(&ctx);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--json") == 0) return print_json(argc - 2, argv + 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toml__every_type_is_read),
        cmocka_unit_test(test_toml__a_byte_order_mark_is_skipped_and_takes_no_column),
        cmocka_unit_test(test_toml__numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(test_toml__what_is_wrong_is_said_where_it_stands),
        cmocka_unit_test(test_toml__nesting_ends_at_its_limit_with_a_message),
        cmocka_unit_test(test_toml__files_too_large_are_refused_and_large_ones_take_linear_time),
        cmocka_unit_test(test_toml__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
