/* Tables of text: alignment by characters, Markdown, and failure at every allocation. */
#include "test.h"

#include "base/table.h"

static const eg_column columns[] = {{"name", true}, {"time", false}, {"by", true}};

static eg_status render(eg_context *ctx, eg_table_style style, eg_text *out)
{
    eg_table table = eg_table_new(ctx, columns, EG_COUNT(columns));
    eg_table_cell(&table, "%s", "gemm");
    eg_table_cell(&table, "%d µs", 7);
    eg_table_cell(&table, "%s", "memory");
    eg_table_cell(&table, "%s", "gemm-cache");
    eg_table_cell(&table, "%d ms", 123);
    eg_table_cell(&table, "%s", "–");
    eg_status status = eg_table_render(&table, style, out);
    eg_table_free(&table);
    return status;
}

static void expect(eg_table_style style, const char *expected)
{
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, render(ctx, style, &text));
    assert_string_equal(eg_text_string(&text), expected);
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_table__columns_line_up_by_characters_and_lines_end_without_blanks(void **state)
{
    (void)state;
    expect(EG_TABLE_PLAIN, "name          time  by\n"
                           "gemm          7 µs  memory\n"
                           "gemm-cache  123 ms  –\n");
}

static void test_table__markdown_has_a_rule_that_says_the_alignment(void **state)
{
    (void)state;
    expect(EG_TABLE_MARKDOWN, "| name       |   time | by     |\n"
                              "|------------|-------:|--------|\n"
                              "| gemm       |   7 µs | memory |\n"
                              "| gemm-cache | 123 ms | –      |\n");
}

static eg_status render_both(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    EG_TRY(render(ctx, EG_TABLE_PLAIN, &text));
    EG_TRY(render(ctx, EG_TABLE_MARKDOWN, &text));
done:
    eg_text_free(&text);
    return status;
}

static void test_table__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    test_allocation_sweep(render_both, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table__columns_line_up_by_characters_and_lines_end_without_blanks),
        cmocka_unit_test(test_table__markdown_has_a_rule_that_says_the_alignment),
        cmocka_unit_test(test_table__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
