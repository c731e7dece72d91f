/* Charts of the columns of a CSV file: which columns share a plot, and what they are called. */
#include "svg.h"

#include "report/chart/columns.h"

#include <math.h>

enum { ROWS = 50, COLUMNS = 7 };

typedef struct sample {
    double values[COLUMNS][ROWS], *columns[COLUMNS];
    char *names[COLUMNS], *units[COLUMNS];
    int y[COLUMNS - 1];
    eg_series_data data;
    eg_chart_columns wanted;
} sample;

/* Two velocities that are alike, one far smaller, a mass, and two constants without units. */
static void make_sample(sample *s)
{
    static char *const names[COLUMNS] = {"time", "inlet", "outlet", "wake", "mass", "one", "two"};
    static char *const units[COLUMNS] = {"s", "m/s", "m/s", "m/s", "kg", NULL, NULL};
    memset(s, 0, sizeof *s);
    for (int i = 0; i < ROWS; i++) {
        const double row[COLUMNS] = {0.1 * i,     sin(i), 3 + cos(i), 1e-3 * sin(i),
                                     5 + 0.1 * i, 1,      500};
        for (int k = 0; k < COLUMNS; k++)
            s->values[k][i] = row[k];
    }
    for (int k = 0; k < COLUMNS; k++) {
        s->columns[k] = s->values[k];
        s->names[k] = names[k];
        s->units[k] = units[k];
        if (k > 0) s->y[k - 1] = k;
    }
    s->data = (eg_series_data){.count = COLUMNS,
                               .rows = ROWS,
                               .names = s->names,
                               .units = s->units,
                               .columns = s->columns};
    s->wanted = (eg_chart_columns){.y = s->y, .count = COLUMNS - 1, .title = "run.csv"};
}

static void draw(eg_context *ctx, const sample *s, eg_text *svg)
{
    eg_text_clear(svg);
    TEST_OK(ctx, eg_chart_columns_write(ctx, &s->data, &s->wanted, svg));
    assert_well_formed(eg_text_string(svg));
}

static size_t plots_of(const eg_text *svg)
{
    return count_of(eg_text_string(svg), " frame\"");
}

static void test_columns__those_of_one_unit_and_alike_share_a_plot(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &s, &svg);
    const char *text = eg_text_string(&svg);
    assert_int_equal(plots_of(&svg), 5);
    /* The plot of two has its unit on the axis and their names in the legend. */
    assert_int_equal(count_of(text, ">[m/s]</text>"), 1);
    assert_int_equal(count_of(text, ">inlet</text>"), 1);
    assert_int_equal(count_of(text, ">outlet</text>"), 1);
    /* The others have one name each, on the axis. */
    assert_int_equal(count_of(text, ">wake [m/s]</text>"), 1);
    assert_int_equal(count_of(text, ">mass [kg]</text>"), 1);
    assert_int_equal(count_of(text, ">two</text>"), 1);
    assert_int_equal(count_of(text, ">time [s]</text>"), 1);
    assert_int_equal(count_of(text, ">run.csv</text>"), 1);
    /* Constants that are alike share one, too. */
    for (int i = 0; i < ROWS; i++)
        s.values[6][i] = 5;
    draw(ctx, &s, &svg);
    assert_int_equal(plots_of(&svg), 4);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static void test_columns__all_are_in_one_plot_on_demand(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    s.wanted.together = true;
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &s, &svg);
    assert_int_equal(plots_of(&svg), 1);
    assert_int_equal(count_of(eg_text_string(&svg), ">inlet [m/s]</text>"), 1);
    assert_int_equal(count_of(eg_text_string(&svg), ">one</text>"), 1);
    /* Of one unit: it moves to the axis. */
    s.wanted.count = 3;
    draw(ctx, &s, &svg);
    assert_int_equal(count_of(eg_text_string(&svg), ">[m/s]</text>"), 1);
    assert_int_equal(count_of(eg_text_string(&svg), ">inlet</text>"), 1);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

/* A logarithmic axis has room for small and large. */
static void test_columns__share_a_logarithmic_axis_by_units(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    s.wanted.y_scale = EG_SCALE_LOG;
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &s, &svg);
    assert_int_equal(plots_of(&svg), 3);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

/* More kinds of columns than plots: the last plot takes them all. */
static void test_columns__of_many_units_are_all_drawn(void **state)
{
    (void)state;
    enum { MANY = 12 };
    double x[3] = {0, 1, 2}, *columns[MANY];
    char *names[MANY], *units[MANY], texts[MANY][16];
    int y[MANY - 1];
    for (int k = 0; k < MANY; k++) {
        snprintf(texts[k], sizeof texts[k], "u%d", k);
        columns[k] = x;
        names[k] = units[k] = texts[k];
        if (k > 0) y[k - 1] = k;
    }
    const sample s = {
        .data = {.count = MANY, .rows = 3, .names = names, .units = units, .columns = columns},
        .wanted = {.y = y, .count = MANY - 1}};
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &s, &svg);
    assert_int_equal(plots_of(&svg), 8);
    assert_int_equal(count_of(eg_text_string(&svg), ">u11 [u11]</text>"), 1);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

/* Few rows have markers, and slopes between two logarithmic axes. */
static void test_columns__of_few_rows_have_markers_and_slopes(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    s.wanted.count = 1;
    for (int i = 0; i < ROWS; i++) {
        s.values[0][i] = i + 1;
        s.values[1][i] = 1 / s.values[0][i] / s.values[0][i];
    }
    s.wanted.x_scale = s.wanted.y_scale = EG_SCALE_LOG;
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &s, &svg);
    assert_int_equal(count_of(eg_text_string(&svg), " mark\""), 0);
    assert_null(strstr(eg_text_string(&svg), ">-2.00</text>"));
    s.data.rows = 5;
    draw(ctx, &s, &svg);
    assert_int_equal(count_of(eg_text_string(&svg), " mark\""), 5);
    assert_non_null(strstr(eg_text_string(&svg), ">-2.00</text>"));
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static eg_status draw_sample(eg_context *ctx, void *user)
{
    const sample *s = user;
    eg_text svg = eg_text_new(ctx);
    const eg_status status = eg_chart_columns_write(ctx, &s->data, &s->wanted, &svg);
    eg_text_free(&svg);
    return status;
}

static void test_columns__survive_every_failing_allocation(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    test_allocation_sweep(draw_sample, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns__those_of_one_unit_and_alike_share_a_plot),
        cmocka_unit_test(test_columns__all_are_in_one_plot_on_demand),
        cmocka_unit_test(test_columns__share_a_logarithmic_axis_by_units),
        cmocka_unit_test(test_columns__of_many_units_are_all_drawn),
        cmocka_unit_test(test_columns__of_few_rows_have_markers_and_slopes),
        cmocka_unit_test(test_columns__survive_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
