/* The section [time] of a case: what it says is done, what it says wrongly is shown at its key. */
#include "test.h"

#include "time/time.h"

/* Reads a text with a replacement; NULL: none. */
static eg_status read_replaced(eg_context *ctx, const char *text, const char *replacement,
                               eg_time_options *out)
{
    eg_status status = EG_OK;
    const eg_key *const tables[] = {eg_time_keys};
    const eg_case_options options = {.tables = tables,
                                     .table_count = EG_COUNT(tables),
                                     .overrides = &replacement,
                                     .override_count = replacement ? 1 : 0};
    eg_case *cas = NULL;
    EG_TRY(eg_case_open_text(ctx, "wave.toml", text, strlen(text), &options, &cas));
    EG_TRY(eg_time_options_from_case(cas, out));
done:
    eg_case_close(&cas);
    return status;
}

static eg_status read_case(eg_context *ctx, const char *text, eg_time_options *out)
{
    return read_replaced(ctx, text, NULL, out);
}

static void test_time_case__every_key_does_what_it_says(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_time_options o;
    TEST_OK(ctx, read_case(ctx, "[time]\nend = 2\ndt = 0.001\n", &o));
    assert_int_equal(o.scheme, EG_TIME_LOW_RK4);
    assert_true(o.start == 0.0 && o.end == 2.0 && o.dt == 0.001 && o.cfl == 0.0);
    assert_int_equal(o.steps_max, 0);
    assert_null(o.progress);
    TEST_OK(ctx, read_case(ctx,
                           "[time]\nscheme = 'ssp-rk3'\nstart = -1.5\nend = -1\ncfl = 0.25\n"
                           "max_steps = 7000000000\n",
                           &o));
    assert_int_equal(o.scheme, EG_TIME_SSP_RK3);
    assert_true(o.start == -1.5 && o.end == -1.0 && o.dt == 0.0 && o.cfl == 0.25);
    assert_int_equal(o.steps_max, 7000000000);
    test_context_free(&ctx);
}

static void test_time_case__every_scheme_is_found_by_its_name(void **state)
{
    (void)state;
    static const char *const names[] = {[EG_TIME_EULER] = "euler",
                                        [EG_TIME_SSP_RK2] = "ssp-rk2",
                                        [EG_TIME_SSP_RK3] = "ssp-rk3",
                                        [EG_TIME_LOW_RK4] = "rk4"};
    eg_context *ctx = test_context();
    for (int i = 0; i < (int)EG_COUNT(names); i++) {
        char text[64];
        eg_time_options o;
        assert_string_equal(eg_time_scheme_name((eg_time_scheme)i), names[i]);
        snprintf(text, sizeof text, "[time]\nend = 1\ndt = 0.1\nscheme = '%s'\n", names[i]);
        TEST_OK(ctx, read_case(ctx, text, &o));
        assert_int_equal(o.scheme, i);
    }
    test_context_free(&ctx);
}

static void test_time_case__wrong_times_are_shown_at_their_keys(void **state)
{
    (void)state;
    /* What stands below [time], the place of the caret, and part of the message. */
    static const struct {
        const char *rest, *place, *part;
    } wrong[] = {
        {"end = 1\ndt = 0.1\ncfl = 0.5\n", "wave.toml:4:7", "time.cfl = 0.5 and by time.dt = 0.1"},
        {"end = 1\n", "wave.toml:1:", "Give time.dt, the length of a step, or time.cfl"},
        {"dt = 0.1\n", "wave.toml", "end"},
        {"end = 0\ndt = 0.1\n", "wave.toml:2:7", "end after its start at 0, not at 0"},
        {"end = -2\ndt = 0.1\n", "wave.toml:2:7", "end after its start at 0, not at -2"},
        {"start = 3\nend = 1\ndt = 0.1\n", "wave.toml:3:7", "end after its start at 3, not at 1"},
        {"end = inf\ndt = 0.1\n", "wave.toml:2:7", "must be finite"},
        {"start = -inf\nend = 1\ndt = 0.1\n", "wave.toml:2:9", "must be finite"},
        {"start = -1.5e308\nend = 1.5e308\ndt = 1e307\n", "wave.toml:3:7", "too long"},
        {"end = nan\ndt = 0.1\n", "wave.toml:2:7", "nan"},
        {"end = 1\ndt = inf\n", "wave.toml:3:6", "must be finite"},
        {"end = 1\ncfl = inf\n", "wave.toml:3:7", "must be finite"},
        {"end = 1\ndt = 0\n", "wave.toml:3:6", "greater than 0"},
        {"end = 1\ndt = -0.1\n", "wave.toml:3:6", "greater than 0"},
        {"end = 1\ncfl = 0.0\n", "wave.toml:3:7", "greater than 0"},
        {"end = 1\ndt = '0.1'\n", "wave.toml:3:6", "without quotes"},
        {"end = 1\ndt = 0.1\nmax_steps = 0\n", "wave.toml:4:13", "max_steps"},
        {"end = 1\ndt = 0.1\nmax_steps = 9\n", "wave.toml:3:6", "there are 10 steps of 0.1"},
        {"end = 1\ndt = 1e-300\n", "wave.toml:3:6", "too small to be told from rounding"},
        {"start = 1e9\nend = 2e9\ndt = 1e-7\n", "wave.toml:4:6", "told from rounding"},
        {"end = 1\ndt = 0.1\nscheme = 'rk5'\n", "wave.toml:4:10", "did you mean \"rk4\"?"},
        {"end = 1\ndtt = 0.1\n", "wave.toml:3:1", "did you mean \"dt\"?"},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        char text[256];
        eg_time_options o;
        snprintf(text, sizeof text, "[time]\n%s", wrong[i].rest);
        TEST_FAILS(ctx, EG_ERROR_INPUT, wrong[i].part, read_case(ctx, text, &o));
        if (!strstr(eg_context_error(ctx), wrong[i].place))
            fail_msg("%s: \"%s\" lacks \"%s\"", wrong[i].rest, eg_context_error(ctx),
                     wrong[i].place);
    }
    test_context_free(&ctx);
}

static void test_time_case__a_replacement_goes_before_the_other_key_of_the_file(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_time_options o;
    TEST_OK(ctx, read_replaced(ctx, "[time]\nend = 1\ndt = 0.1\n", "time.cfl=0.5", &o));
    assert_true(o.dt == 0.0 && o.cfl == 0.5);
    TEST_OK(ctx, read_replaced(ctx, "[time]\nend = 1\ncfl = 0.5\n", "time.dt=0.1", &o));
    assert_true(o.dt == 0.1 && o.cfl == 0.0);
    test_context_free(&ctx);
}

static void test_time_case__examples_are_valid(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (const eg_key *row = eg_time_keys; row->name; row++) {
        const bool end = strcmp(row->name, "end") == 0;
        const bool length = strcmp(row->name, "dt") == 0 || strcmp(row->name, "cfl") == 0;
        char text[128];
        eg_time_options o;
        snprintf(text, sizeof text, "[time]\n%s%s%s = %s\n", end ? "" : "end = 1\n",
                 length ? "" : "dt = 0.1\n", row->name,
                 row->example ? row->example : row->fallback);
        TEST_OK(ctx, read_case(ctx, text, &o));
        assert_non_null(row->help);
    }
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_case__every_key_does_what_it_says),
        cmocka_unit_test(test_time_case__every_scheme_is_found_by_its_name),
        cmocka_unit_test(test_time_case__wrong_times_are_shown_at_their_keys),
        cmocka_unit_test(test_time_case__a_replacement_goes_before_the_other_key_of_the_file),
        cmocka_unit_test(test_time_case__examples_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
