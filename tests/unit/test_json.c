/* The JSON writer: structure, escapes, numbers, and failure at every allocation. */
#include "test.h"

#include "base/json.h"

#include <math.h>

typedef void writer(eg_json *json);

static void expect(writer *write, const char *expected)
{
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    write(&json);
    TEST_OK(ctx, eg_json_end(&json));
    assert_string_equal(eg_text_string(&text), expected);
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void write_nested(eg_json *json)
{
    eg_json_begin_object(json);
    eg_json_put_string(json, "a", "x");
    eg_json_key(json, "b");
    eg_json_begin_array(json);
    eg_json_integer(json, 1);
    eg_json_begin_object(json);
    eg_json_close(json);
    eg_json_begin_array(json);
    eg_json_close(json);
    eg_json_bool(json, true);
    eg_json_close(json);
    eg_json_put_bool(json, "c", false);
    eg_json_put_integer(json, "d", INT64_MIN);
    eg_json_close(json);
}

static void test_json__commas_stand_between_members_at_every_depth(void **state)
{
    (void)state;
    expect(write_nested, "{\"a\": \"x\", \"b\": [1, {}, [], true], \"c\": false, "
                         "\"d\": -9223372036854775808}\n");
}

static void write_escapes(eg_json *json)
{
    eg_json_string(json, "a\"b\\c\n\t\x01\x7f µ");
}

static void test_json__quotes_backslashes_and_controls_are_escaped(void **state)
{
    (void)state;
    expect(write_escapes, "\"a\\\"b\\\\c\\u000a\\u0009\\u0001\\u007f µ\"\n");
}

static void write_bad_utf8(eg_json *json)
{
    eg_json_begin_array(json);
    eg_json_string(json, "Xeon\xae");         /* Latin-1 */
    eg_json_string(json, "\xc0\xaf");         /* overlong */
    eg_json_string(json, "\xed\xa0\x80");     /* a surrogate */
    eg_json_string(json, "\xf4\x90\x80\x80"); /* beyond U+10FFFF */
    eg_json_string(json, "\xe2\x82");         /* cut off */
    eg_json_string(json, "\xf0\x9f\x8c\x8a"); /* good */
    eg_json_close(json);
}

static void test_json__bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    expect(write_bad_utf8, "[\"Xeon\ufffd\", \"\ufffd\ufffd\", \"\ufffd\ufffd\ufffd\", "
                           "\"\ufffd\ufffd\ufffd\ufffd\", \"\ufffd\ufffd\", \"\U0001f30a\"]\n");
}

static void write_not_finite(eg_json *json)
{
    eg_json_begin_array(json);
    eg_json_number(json, NAN);
    eg_json_number(json, INFINITY);
    eg_json_number(json, -INFINITY);
    eg_json_number(json, 0.1);
    eg_json_number(json, 1e300);
    eg_json_number(json, -2);
    eg_json_close(json);
}

static void test_json__numbers_are_short_and_what_is_not_finite_is_null(void **state)
{
    (void)state;
    expect(write_not_finite, "[null, null, null, 0.1, 1e+300, -2]\n");
}

static void test_json__every_double_reads_back_exactly(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 7;
    for (int i = 0; i < 2000; i++) {
        double value = test_random(&seed) * pow(10, floor(300 * test_random(&seed)));
        eg_text text = eg_text_new(ctx);
        eg_json json = eg_json_new(&text);
        eg_json_number(&json, value);
        TEST_OK(ctx, eg_json_end(&json));
        assert_true(strtod(eg_text_string(&text), NULL) == value);
        eg_text_free(&text);
    }
    test_context_free(&ctx);
}

static eg_status write_with(eg_context *ctx, void *user)
{
    (void)user;
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    write_nested(&json);
    eg_status status = eg_json_end(&json);
    eg_text_free(&text);
    return status;
}

static void test_json__a_failed_allocation_is_reported_at_the_end(void **state)
{
    (void)state;
    test_allocation_sweep(write_with, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__commas_stand_between_members_at_every_depth),
        cmocka_unit_test(test_json__quotes_backslashes_and_controls_are_escaped),
        cmocka_unit_test(test_json__bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(test_json__numbers_are_short_and_what_is_not_finite_is_null),
        cmocka_unit_test(test_json__every_double_reads_back_exactly),
        cmocka_unit_test(test_json__a_failed_allocation_is_reported_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
