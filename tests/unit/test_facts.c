/* What a run tells besides its errors is the same in JSON and in text. */
#include "test.h"

#include "model/facts.h"

#include <math.h>

static void fill(eg_facts *facts)
{
    const eg_time_result loop = {
        .steps = 200, .time = 2, .dt_least = 0.005, .dt_most = 0.01, .wall_s = 4};
    *facts = (eg_facts){0};
    eg_facts_loop(facts, &loop, 1000);
    eg_facts_section(facts, "range", "u");
    eg_facts_number(facts, "least", -0.5);
    eg_facts_number(facts, "most", 1);
    eg_facts_section(facts, "range", "v");
    eg_facts_number(facts, "least", NAN);
    eg_facts_number(facts, "most", 2);
    eg_facts_section(facts, "adapt", NULL);
    eg_facts_integer(facts, "adaptations", 9007199254740992);
    eg_facts_section(facts, "", NULL);
    eg_facts_number(facts, "ns", 0.5);
    eg_facts_section(facts, "mass", "u");
    eg_facts_number(facts, "end", 3);
}

static eg_status write_json(eg_context *ctx, void *user)
{
    eg_text *text = user;
    eg_json json = eg_json_new(text);
    eg_facts facts;
    (void)ctx;
    fill(&facts);
    eg_json_begin_object(&json);
    eg_facts_put_json(&facts, &json);
    eg_json_put_integer(&json, "last", 1);
    eg_json_close(&json);
    return eg_json_end(&json);
}

static void test_facts__are_an_object_for_each_section(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, write_json(ctx, &text));
    assert_string_equal(eg_text_string(&text),
                        "{\"loop\": {\"steps\": 200, \"time\": 2, \"dt_least\": 0.005, "
                        "\"dt_most\": 0.01, \"wall_s\": 4, \"steps_per_s\": 50, "
                        "\"dof_per_s\": 50000}, \"range\": {\"u\": {\"least\": -0.5, "
                        "\"most\": 1}, \"v\": {\"least\": null, \"most\": 2}}, "
                        "\"adapt\": {\"adaptations\": 9007199254740992}, \"ns\": 0.5, "
                        "\"mass\": {\"u\": {\"end\": 3}}, \"last\": 1}\n");
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_facts__are_found_by_section_and_name(void **state)
{
    (void)state;
    eg_facts facts;
    fill(&facts);
    assert_true(eg_facts_find(&facts, "loop", "steps") == 200);
    assert_true(eg_facts_find(&facts, "", "ns") == 0.5);
    assert_true(isnan(eg_facts_find(&facts, "", "steps")));
    /* Figures of a field are not those of the run. */
    assert_true(isnan(eg_facts_find(&facts, "range", "most")));
}

static eg_status write_text(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx), *kept = user;
    eg_facts facts;
    fill(&facts);
    EG_TRY(eg_facts_put_lines(&facts, &text));
    EG_TRY(eg_facts_put_tables(ctx, &facts, &text));
    if (kept) EG_TRY(eg_text_puts(kept, eg_text_string(&text)));
done:
    eg_text_free(&text);
    return status;
}

static void test_facts__are_lines_and_tables_of_fields(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, write_text(ctx, &text));
    assert_string_equal(eg_text_string(&text),
                        "loop    steps 200, time 2, dt_least 0.005, dt_most 0.01, wall_s 4, "
                        "steps_per_s 50, dof_per_s 5e+04\n"
                        "adapt   adaptations 9007199254740992\n"
                        "        ns 0.5\n"
                        "\n"
                        "range of          least          most\n"
                        "u         -5.000000e-01  1.000000e+00\n"
                        "v                   nan  2.000000e+00\n"
                        "\n"
                        "mass of           end\n"
                        "u        3.000000e+00\n");
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_facts__of_nothing_are_nothing(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    const eg_facts facts = {0};
    TEST_OK(ctx, eg_facts_put_lines(&facts, &text));
    TEST_OK(ctx, eg_facts_put_tables(ctx, &facts, &text));
    assert_string_equal(eg_text_string(&text), "");
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_facts__survive_every_allocation_that_fails(void **state)
{
    (void)state;
    test_allocation_sweep(write_text, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts__are_an_object_for_each_section),
        cmocka_unit_test(test_facts__are_found_by_section_and_name),
        cmocka_unit_test(test_facts__are_lines_and_tables_of_fields),
        cmocka_unit_test(test_facts__of_nothing_are_nothing),
        cmocka_unit_test(test_facts__survive_every_allocation_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
