/* Log-log charts: well-formed, complete, round numbers on the axes, nothing outside the picture, no
 * label on another. */
#include "svg.h"

#include "report/axis.h"
#include "report/linear.h"
#include "report/report.h"

#include <math.h>

enum { LINES = 6, POINTS = 4 };

typedef struct sample {
    double x[POINTS], y[LINES][POINTS];
    eg_chart_series series[LINES];
    char names[LINES][32];
    eg_chart chart;
} sample;

/* Lines of slopes 1, 2, …, that start at the same height. */
static void make_sample(sample *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < POINTS; i++)
        s->x[i] = 0.125 * pow(0.5, i);
    for (int k = 0; k < LINES; k++) {
        snprintf(s->names[k], sizeof s->names[k], "degree %d", k);
        for (int i = 0; i < POINTS; i++)
            s->y[k][i] = 0.3 * pow(s->x[i] / s->x[0], k + 1);
        s->series[k] = (eg_chart_series){
            .name = s->names[k], .count = POINTS, .x = s->x, .y = s->y[k], .slope = POINTS - 1};
    }
    s->chart = (eg_chart){.title = "sine & <cosine>",
                          .subtitle = "model project",
                          .x_label = "mesh size h",
                          .y_label = "error of \xcf\x86",
                          .slope_name = "order",
                          .series = s->series,
                          .count = LINES};
}

/* Draws a chart, checks that it is well-formed and has no NaN. */
static void draw(eg_context *ctx, const eg_chart *chart, eg_text *svg)
{
    TEST_OK(ctx, eg_chart_write(ctx, chart, svg));
    assert_well_formed(eg_text_string(svg));
    assert_null(strstr(eg_text_string(svg), "nan"));
    assert_null(strstr(eg_text_string(svg), "inf"));
}

static void test_chart__has_every_point_name_and_slope(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &s.chart, &svg);
    const char *text = eg_text_string(&svg);
    assert_non_null(strstr(text, "sine &amp; &lt;cosine&gt;</title>"));
    assert_non_null(strstr(text, "error of \xcf\x86</text>"));
    assert_int_equal(count_of(text, "<polyline"), LINES);
    for (int k = 0; k < LINES; k++) {
        char part[64];
        snprintf(part, sizeof part, "<title>degree %d: ", k);
        assert_int_equal(count_of(text, part), POINTS);
        snprintf(part, sizeof part, ">degree %d</text>", k);
        assert_int_equal(count_of(text, part), 1);
        snprintf(part, sizeof part, ">order %d.00</text>", k + 1);
        assert_int_equal(count_of(text, part), 1);
    }
    assert_non_null(strstr(text, "prefers-color-scheme: dark"));
    assert_null(strstr(text, "class=\"floor\""));
    eg_text_free(&svg);
    test_context_free(&ctx);
}

/* Where there is room, as here below the lowest line. */
static void test_chart__a_triangle_shows_the_slope_beside_its_line(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    s.chart.series = &s.series[2];
    s.chart.count = 1;
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &s.chart, &svg);
    const char *path = strstr(eg_text_string(&svg), "<path class=\"slope");
    assert_non_null(path);
    assert_non_null(strstr(path, ">3.00</text>"));
    double p[2], q[2], corner[2], x[2], y[2];
    assert_int_equal(sscanf(strstr(path, " d=\""), " d=\"M%lf %lfL%lf %lfL%lf %lfz", &p[0], &p[1],
                            &q[0], &q[1], &corner[0], &corner[1]),
                     6);
    /* It is right-angled and its hypotenuse as steep as the last piece of the line. */
    assert_true(corner[0] == q[0] && corner[1] == p[1]);
    const char *points = strstr(eg_text_string(&svg), "points=\"");
    assert_int_equal(
        sscanf(points, "points=\"%*f,%*f %*f,%*f %lf,%lf %lf,%lf", &x[0], &y[0], &x[1], &y[1]), 4);
    assert_true(fabs((q[1] - p[1]) / (q[0] - p[0]) - (y[1] - y[0]) / (x[1] - x[0])) < 0.01);
    assert_true(p[0] > x[1] && q[0] < x[0]);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static void test_chart__points_that_are_not_positive_are_left_out(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    s.chart.count = 1;
    s.y[0][1] = 0;
    s.y[0][3] = NAN;
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &s.chart, &svg);
    assert_int_equal(count_of(eg_text_string(&svg), "<title>degree 0: "), 2);
    assert_true(isnan(eg_chart_slope(&s.series[0])));
    assert_null(strstr(eg_text_string(&svg), ">order "));
    eg_text_clear(&svg);
    /* Nothing is left: an empty frame. */
    for (int i = 0; i < POINTS; i++)
        s.y[0][i] = 0;
    draw(ctx, &s.chart, &svg);
    assert_int_equal(count_of(eg_text_string(&svg), "<title>degree 0: "), 0);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static void test_chart__the_floor_is_marked_where_values_reach_it(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    s.chart.floor = 1e-4;
    s.chart.floor_label = "rounding";
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &s.chart, &svg);
    assert_int_equal(count_of(eg_text_string(&svg), "class=\"floor\""), 1);
    assert_int_equal(count_of(eg_text_string(&svg), ">rounding</text>"), 1);
    eg_text_clear(&svg);
    s.chart.floor = 1e-7;
    draw(ctx, &s.chart, &svg);
    assert_null(strstr(eg_text_string(&svg), "class=\"floor\""));
    eg_text_free(&svg);
    test_context_free(&ctx);
}

/* The box that a text takes, with the width that its characters have at most. */
typedef struct text_box {
    double left, top, right, bottom;
} text_box;

static text_box box_of(const char *tag)
{
    const char *from = strchr(tag, '>') + 1, *to = strstr(from, "</text>");
    double characters = 0, x = attribute(tag, "x"), y = attribute(tag, "y");
    bool inside = false;
    for (const char *c = from; c < to; c++) {
        if (*c == '<') inside = true;
        if (!inside && ((unsigned char)*c & 0xc0) != 0x80) characters++;
        if (*c == '>') inside = false;
    }
    const double width = characters * (strstr(tag, "class=\"title") == tag + 6 ? 10.0 : 6.6);
    const char *anchor = strstr(tag, "text-anchor=\"") + strlen("text-anchor=\"");
    const double left = *anchor == 's' ? x : *anchor == 'm' ? x - width / 2 : x - width;
    return (text_box){left, y - 10, left + width, y + 3};
}

static void assert_texts_are_apart(const char *svg)
{
    static text_box boxes[512];
    size_t count = 0;
    const double width = attribute(svg, "width"), height = attribute(svg, "height");
    for (const char *t = strstr(svg, "<text "); t; t = strstr(t + 1, "<text ")) {
        if (strstr(t, "transform") && strstr(t, "transform") < strchr(t, '>')) continue;
        const text_box b = box_of(t);
        assert_true(count < EG_COUNT(boxes));
        assert_true(b.left > 0 && b.right < width && b.top > 0 && b.bottom < height);
        for (size_t i = 0; i < count; i++)
            if (b.left < boxes[i].right && b.right > boxes[i].left && b.top < boxes[i].bottom &&
                b.bottom > boxes[i].top)
                fail_msg("a text overlaps another: %.120s", t);
        boxes[count++] = b;
    }
    assert_true(count > 8);
}

static void test_chart__texts_neither_overlap_nor_leave_the_picture(void **state)
{
    (void)state;
    static const double least[] = {1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.28};
    sample s;
    make_sample(&s);
    eg_context *ctx = test_context();
    s.chart.title =
        "a title that is much longer than the picture would be wide without it, which is what "
        "people write who have much to say and want to say it all";
    s.chart.y_label = "error of a field with a name that is longer than the plot is high";
    snprintf(s.names[1], sizeof s.names[1], "a name that has 31 characters..");
    s.chart.floor = 1e-4;
    s.chart.floor_label = "rounding";
    for (size_t r = 0; r < EG_COUNT(least); r++)
        for (double step = 0.05; step < 0.95; step += 0.15) {
            eg_text svg = eg_text_new(ctx);
            for (int i = 0; i < POINTS; i++) {
                s.x[i] = 0.7 * pow(step, i);
                for (int k = 0; k < LINES; k++)
                    s.y[k][i] = 0.3 * pow(least[r] / 0.3, (k + 1.0) * i / LINES / (POINTS - 1));
            }
            draw(ctx, &s.chart, &svg);
            assert_texts_are_apart(eg_text_string(&svg));
            eg_text_free(&svg);
        }
    test_context_free(&ctx);
}

/* One with so many lines that the legend is longer than the plot was. */
static void test_chart__a_long_legend_makes_the_picture_longer(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    eg_chart_series many[40];
    for (size_t k = 0; k < EG_COUNT(many); k++)
        many[k] = s.series[k % LINES];
    s.chart.series = many;
    s.chart.count = EG_COUNT(many);
    draw(ctx, &s.chart, &svg);
    assert_texts_are_apart(eg_text_string(&svg));
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static void test_axis__has_at_least_two_labels_whatever_its_range(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int trial = 0; trial < 2000; trial++) {
        const double least = 12 * test_random(&seed), span = pow(10, 1.3 * test_random(&seed));
        const bool horizontal = trial % 2;
        const eg_axis axis = eg_axis_new(least, least + span, horizontal ? 90 : 500,
                                         horizontal ? 700 : 80, horizontal);
        assert_true(axis.low < least && axis.high > least + span);
        eg_tick tick = eg_axis_first(&axis);
        int labels = 0;
        while (eg_axis_next(&axis, &tick)) {
            assert_true(fabs(tick.at - eg_axis_pixel(&axis, tick.digit * pow(10, tick.decade))) <
                        1e-6);
            assert_in_range(tick.at, 80, 700);
            labels += tick.label[0] != '\0';
        }
        assert_in_range(labels, 2, 24);
    }
}

static void test_axis__writes_small_and_large_numbers_as_powers(void **state)
{
    (void)state;
    const eg_axis plain = eg_axis_new(-1.9, -0.1, 0, 600, true);
    const eg_axis powers = eg_axis_new(-8.5, 0.0, 400, 0, false);
    eg_tick tick = eg_axis_first(&plain);
    bool found = false;
    while (eg_axis_next(&plain, &tick))
        found = found || (strcmp(tick.label, "0.05") == 0 && tick.digit == 5 && tick.decade == -2);
    assert_true(found);
    tick = eg_axis_first(&powers);
    assert_true(eg_axis_next(&powers, &tick));
    while (tick.digit != 1)
        assert_true(eg_axis_next(&powers, &tick));
    assert_int_equal(tick.decade, -9);
    assert_string_equal(tick.label, "10<tspan class=\"power\" dy=\"-5\">\xe2\x88\x92"
                                    "9</tspan>");
}

static void test_linear__steps_are_round_and_labels_have_the_digits_it_takes(void **state)
{
    (void)state;
    static const struct {
        double least, step;
    } steps[] = {{1, 1}, {1.01, 2}, {2, 2}, {2.5, 5}, {7, 10}, {0.0003, 0.0005}, {0.1 + 0.2, 0.5}};
    static const struct {
        double value, step;
        const char *label;
    } labels[] = {{0, 0.2, "0"},         {-0.4, 0.2, "-0.4"},       {3 * 0.1, 0.1, "0.3"},
                  {1, 0.5, "1.0"},       {1500, 500, "1500"},       {4000020, 10, "4000020"},
                  {2e-7, 1e-7, "2e-07"}, {1.25e8, 5e6, "1.25e+08"}, {0.00015, 5e-5, "0.00015"}};
    for (size_t i = 0; i < EG_COUNT(steps); i++)
        assert_true(fabs(eg_round_up(steps[i].least) / steps[i].step - 1) < 1e-12);
    for (size_t i = 0; i < EG_COUNT(labels); i++) {
        char text[32];
        eg_tick_label(labels[i].value, labels[i].step, text);
        assert_string_equal(text, labels[i].label);
    }
    assert_int_equal(eg_first_tick(-0.35, 0.1), -3);
    assert_int_equal(eg_first_tick(4, 2), 2);
}

static eg_status draw_sample(eg_context *ctx, void *user)
{
    const sample *s = user;
    eg_text svg = eg_text_new(ctx);
    const eg_status status = eg_chart_write(ctx, &s->chart, &svg);
    eg_text_free(&svg);
    return status;
}

static void test_chart__survives_every_failing_allocation(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    test_allocation_sweep(draw_sample, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chart__has_every_point_name_and_slope),
        cmocka_unit_test(test_chart__a_triangle_shows_the_slope_beside_its_line),
        cmocka_unit_test(test_chart__points_that_are_not_positive_are_left_out),
        cmocka_unit_test(test_chart__the_floor_is_marked_where_values_reach_it),
        cmocka_unit_test(test_chart__texts_neither_overlap_nor_leave_the_picture),
        cmocka_unit_test(test_chart__a_long_legend_makes_the_picture_longer),
        cmocka_unit_test(test_axis__has_at_least_two_labels_whatever_its_range),
        cmocka_unit_test(test_axis__writes_small_and_large_numbers_as_powers),
        cmocka_unit_test(test_linear__steps_are_round_and_labels_have_the_digits_it_takes),
        cmocka_unit_test(test_chart__survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
