/* Charts: well-formed, complete, nothing outside the picture, no label on another, the legend beside the
 * data, no peak lost where points are left out. */
#include "svg.h"

#include "report/report.h"

#include <math.h>
#ifdef EG_HAVE_PNG
#include <png.h>
#endif

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
                          .x = {.label = "mesh size h", .scale = EG_SCALE_LOG},
                          .y = {.label = "error of \xcf\x86", .scale = EG_SCALE_LOG},
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

/* The n-th path of a class, from 0; NULL: there is none. */
static const char *find_path(const char *svg, const char *class, int n)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, " %s\"", class);
    const char *at = strstr(svg, wanted);
    for (; at && n > 0; n--)
        at = strstr(at + 1, wanted);
    return at;
}

/* The points of a path of lines in tenths of pixels, whose ways are relative; a move is one, too. How
 * many there are; at most `most` are stored. */
static size_t read_path(const char *path, double (*points)[2], size_t most)
{
    const char *s = strstr(path, " d=\"") + 4;
    double at[2] = {0};
    size_t count = 0;
    while (*s == 'm' || *s == 'l') {
        char *end;
        for (int i = 0; i < 2; i++, s = end)
            at[i] += strtod(i ? s : s + 1, &end);
        if (count < most) memcpy(points[count], at, sizeof at);
        count++;
    }
    return count;
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
    assert_int_equal(count_of(text, "curve\""), LINES + LINES); /* and those of the legend */
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
    assert_null(strstr(text, "floor\""));
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
    double t[8][2], line[8][2];
    const char *path = find_path(eg_text_string(&svg), "slope", 0);
    assert_non_null(path);
    assert_non_null(strstr(path, ">3.00</text>"));
    assert_int_equal(read_path(path, t, 8), 4);
    assert_int_equal(read_path(find_path(eg_text_string(&svg), "curve", 0), line, 8), POINTS);
    /* It is right-angled and its hypotenuse as steep as the last piece of the line. */
    const double *a = line[POINTS - 2], *b = line[POINTS - 1];
    assert_true(t[2][0] == t[1][0] && t[2][1] == t[0][1]);
    assert_true(t[3][0] == t[0][0] && t[3][1] == t[0][1]);
    assert_true(fabs((t[1][1] - t[0][1]) / (t[1][0] - t[0][0]) - (b[1] - a[1]) / (b[0] - a[0])) <
                0.01);
    assert_true(t[0][0] > b[0] && t[1][0] < a[0]);
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
    assert_int_equal(count_of(eg_text_string(&svg), "floor\""), 1);
    assert_int_equal(count_of(eg_text_string(&svg), ">rounding</text>"), 1);
    eg_text_clear(&svg);
    s.chart.floor = 1e-7;
    draw(ctx, &s.chart, &svg);
    assert_null(strstr(eg_text_string(&svg), "floor\""));
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
    const double size = attribute(tag, "font-size");
    bool inside = false;
    for (const char *c = from; c < to; c++) {
        if (*c == '<') inside = true;
        if (!inside && ((unsigned char)*c & 0xc0) != 0x80) characters++;
        if (*c == '>') inside = false;
    }
    const double width = characters * 0.5 * size;
    const char *anchor = strstr(tag, "text-anchor=\"");
    const char kind = anchor && anchor < from ? anchor[strlen("text-anchor=\"")] : 's';
    const double left = kind == 's' ? x : kind == 'm' ? x - width / 2 : x - width;
    return (text_box){left, y - 0.75 * size, left + width, y + 0.25 * size};
}

static void assert_texts_are_apart(const char *svg)
{
    static text_box boxes[512];
    size_t count = 0;
    const double width = 10 * attribute(svg, "width"), height = 10 * attribute(svg, "height");
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
    s.chart.y.label = "error of a field with a name that is longer than the plot is high";
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

/* --- lines over time ---------------------------------------------------------------------------- */

enum { ROWS = 100000 };

/* The edges of the n-th plot, in tenths of pixels. */
typedef struct edges {
    double left, top, right, bottom;
} edges;

static edges plot_edges(const char *svg, int n)
{
    double p[8][2];
    assert_int_equal(read_path(find_path(svg, "frame", n), p, 8), 5);
    return (edges){p[0][0], p[0][1], p[2][0], p[2][1]};
}

/* A chart of one line between linear axes. */
static eg_chart line_chart(eg_chart_series *series, const double *x, const double *y, size_t count)
{
    *series =
        (eg_chart_series){.name = "u", .style = EG_CHART_LINE, .count = count, .x = x, .y = y};
    return (eg_chart){.title = "run.csv",
                      .x = {.label = "time [s]"},
                      .y = {.label = "u [m/s]"},
                      .series = series,
                      .count = 1};
}

/* Noise with peaks of one row each: in every column of pixels the line that is left reaches as high and
 * as low as all of it does. */
static void test_chart__many_rows_are_thinned_without_losing_a_peak(void **state)
{
    (void)state;
    enum { COLUMNS = 1000 };
    static double x[ROWS], y[ROWS], path[8 * COLUMNS][2];
    double high[COLUMNS], low[COLUMNS], path_high[COLUMNS], path_low[COLUMNS];
    uint64_t seed = 3;
    for (int i = 0; i < ROWS; i++) {
        x[i] = 1e-3 * i;
        y[i] = sin(0.3 * x[i]) + 0.1 * test_random(&seed) + (i % 7919 == 11 ? 3 : 0);
    }
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    eg_chart_series series;
    const eg_chart chart = line_chart(&series, x, y, ROWS);
    draw(ctx, &chart, &svg);
    assert_true(svg.length < 40000);
    const size_t count = read_path(find_path(eg_text_string(&svg), "curve", 0), path, 8 * COLUMNS);
    assert_in_range(count, 600, 8 * COLUMNS);
    for (int c = 0; c < COLUMNS; c++) {
        high[c] = path_high[c] = INFINITY; /* y is down */
        low[c] = path_low[c] = -INFINITY;
    }
    /* The first and the last point are always there, so they tell where all others are. */
    const double *first = path[0], *last = path[count - 1];
    const double x_scale = (last[0] - first[0]) / (x[ROWS - 1] - x[0]);
    double least = INFINITY, most = -INFINITY, top = INFINITY, bottom = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        top = fmin(top, path[i][1]);
        bottom = fmax(bottom, path[i][1]);
    }
    for (int i = 0; i < ROWS; i++) {
        least = fmin(least, y[i]);
        most = fmax(most, y[i]);
    }
    for (int i = 0; i < ROWS; i++) {
        const double pixel = (first[0] + x_scale * (x[i] - x[0])) / 10;
        const double at = top + (most - y[i]) / (most - least) * (bottom - top);
        const int c = (int)pixel;
        if (pixel - c < 0.06 || pixel - c > 0.94) continue; /* it may be in the next column */
        high[c] = fmin(high[c], at);
        low[c] = fmax(low[c], at);
    }
    for (size_t i = 0; i < count; i++) {
        const int c = (int)(path[i][0] / 10);
        path_high[c] = fmin(path_high[c], path[i][1]);
        path_low[c] = fmax(path_low[c], path[i][1]);
    }
    int compared = 0;
    for (int c = 1; c + 1 < COLUMNS; c++) {
        if (!isfinite(high[c])) continue;
        /* Points of the path are rounded, perhaps into the next column. */
        const double near_high = fmin(path_high[c - 1], fmin(path_high[c], path_high[c + 1]));
        const double near_low = fmax(path_low[c - 1], fmax(path_low[c], path_low[c + 1]));
        assert_true(near_high < high[c] + 1.5 && near_low > low[c] - 1.5);
        compared++;
    }
    assert_true(compared > 550);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

/* What has no place ends a piece of the line; a single point is a dot. */
static void test_chart__lines_have_gaps_where_values_are_missing(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const double y[] = {NAN, 1, 2, NAN, -1, NAN, INFINITY, 3, 4};
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    eg_chart_series series;
    eg_chart chart = line_chart(&series, x, y, EG_COUNT(y));
    draw(ctx, &chart, &svg);
    char path[256];
    const char *from = strstr(find_path(eg_text_string(&svg), "curve", 0), " d=\"") + 4;
    assert_in_range(strcspn(from, "\""), 1, sizeof path - 1);
    snprintf(path, sizeof path, "%.*s", (int)strcspn(from, "\""), from);
    assert_int_equal(count_of(path, "m"), 3);
    assert_int_equal(count_of(path, "l"), 3);
    assert_int_equal(count_of(path, "l0 0"), 1);
    eg_text_clear(&svg);
    /* On a logarithmic axis what is not positive is missing, too. */
    chart.y.scale = EG_SCALE_LOG;
    draw(ctx, &chart, &svg);
    double points[8][2];
    assert_int_equal(read_path(find_path(eg_text_string(&svg), "curve", 0), points, 8), 4);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

/* Lines stay in their plot, the legend outside of it. */
static void assert_all_in_place(const char *svg, size_t lines)
{
    static double p[64][2];
    const edges e = plot_edges(svg, 0);
    for (size_t k = 0; k < lines; k++) {
        const size_t count = read_path(find_path(svg, "curve", (int)k), p, EG_COUNT(p));
        assert_in_range(count, 1, EG_COUNT(p));
        for (size_t i = 0; i < count; i++)
            assert_true(p[i][0] >= e.left && p[i][0] <= e.right && p[i][1] >= e.top &&
                        p[i][1] <= e.bottom);
        /* Its sample in the legend. */
        read_path(find_path(svg, "curve", (int)(lines + k)), p, EG_COUNT(p));
        assert_true(p[0][0] > e.right);
    }
}

static void test_chart__any_data_stay_inside_and_the_legend_outside(void **state)
{
    (void)state;
    enum { COUNT = 30, SERIES = 3 };
    static const double sizes[] = {1e-280, 1e-9, 1, 1e6, 1e200}, spans[] = {0, 1e-12, 1e-3, 1};
    double x[COUNT], y[SERIES][COUNT];
    eg_chart_series series[SERIES];
    eg_context *ctx = test_context();
    uint64_t seed = 12;
    for (size_t n = 0; n < EG_COUNT(sizes) * EG_COUNT(spans); n++)
        for (int sign = -1; sign < 2; sign++) {
            const double size = sizes[n / EG_COUNT(spans)], span = spans[n % EG_COUNT(spans)];
            eg_text svg = eg_text_new(ctx);
            for (int i = 0; i < COUNT; i++) {
                x[i] = 3600.0 * i;
                for (int k = 0; k < SERIES; k++)
                    y[k][i] = size * (sign + span * test_random(&seed));
            }
            for (int k = 0; k < SERIES; k++)
                series[k] = (eg_chart_series){.name = "name",
                                              .style = k ? EG_CHART_LINE : EG_CHART_MARKED,
                                              .count = COUNT,
                                              .x = x,
                                              .y = y[k]};
            const eg_chart chart = {.title = "title",
                                    .x = {.label = "time [s]"},
                                    .y = {.label = "value"},
                                    .series = series,
                                    .count = SERIES};
            draw(ctx, &chart, &svg);
            assert_all_in_place(eg_text_string(&svg), SERIES);
            assert_texts_are_apart(eg_text_string(&svg));
            eg_text_free(&svg);
        }
    test_context_free(&ctx);
}

/* Slopes are those of powers: elsewhere they say nothing. */
static void test_chart__has_slopes_between_logarithmic_axes_only(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    eg_context *ctx = test_context();
    for (int scales = 0; scales < 3; scales++) {
        eg_text svg = eg_text_new(ctx);
        s.chart.x.scale = scales & 1 ? EG_SCALE_LOG : EG_SCALE_LINEAR;
        s.chart.y.scale = scales & 2 ? EG_SCALE_LOG : EG_SCALE_LINEAR;
        draw(ctx, &s.chart, &svg);
        assert_null(strstr(eg_text_string(&svg), ">order "));
        assert_null(find_path(eg_text_string(&svg), "slope", 0));
        eg_text_free(&svg);
    }
    test_context_free(&ctx);
}

static void test_chart__bars_stand_side_by_side_from_zero(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu:1", "cpu:2", "cuda:0"};
    static const double x[] = {0, 1, 2}, y[2][3] = {{1, 2, -1}, {4, NAN, 2}};
    const eg_chart_series series[] = {
        {.name = "a", .style = EG_CHART_BARS, .count = 3, .x = x, .y = y[0]},
        {.name = "b", .style = EG_CHART_BARS, .count = 3, .x = x, .y = y[1]}};
    const eg_chart chart = {.x = {.scale = EG_SCALE_NAMES, .names = names, .name_count = 3},
                            .y = {.label = "speed"},
                            .series = series,
                            .count = 2};
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    draw(ctx, &chart, &svg);
    const char *text = eg_text_string(&svg);
    assert_non_null(strstr(text, "<title>a: 2 at cpu:2</title>"));
    assert_non_null(strstr(text, ">cuda:0</text>"));
    double zero[2][2], bar[5][5][2];
    assert_int_equal(read_path(find_path(text, "zero", 0), zero, 2), 2);
    for (int n = 0; n < 5; n++)
        assert_int_equal(read_path(find_path(text, "bar", n), bar[n], 5), 5);
    /* Those of a are 1, 2 and -1 high, those of b 4 and 2. */
    static const double heights[] = {1, 2, -1, 4, 2};
    const double unit = bar[0][2][1] - bar[0][0][1];
    for (int n = 0; n < 5; n++) {
        const double top = bar[n][0][1], bottom = bar[n][2][1];
        assert_true(fabs(bottom - top - fabs(heights[n]) * unit) <= 2);
        assert_true(fabs((heights[n] > 0 ? bottom : top) - zero[0][1]) <= 1);
    }
    assert_true(bar[0][1][0] <= bar[3][0][0] && bar[3][1][0] < bar[1][0][0]);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

/* Each as wide as one alone would be, in the middle of its name, with a colour of its own. */
static void test_chart__bars_that_are_apart_are_as_wide_as_one_series(void **state)
{
    (void)state;
    static const char *const names[] = {"dg", "sd", "fv"};
    static const double x[] = {0, 1, 2}, y[] = {1, 2, 3};
    const eg_chart_series one = {.style = EG_CHART_BARS, .count = 3, .x = x, .y = y};
    eg_chart_series each[3];
    for (int i = 0; i < 3; i++)
        each[i] = (eg_chart_series){.style = EG_CHART_BARS, .count = 1, .x = &x[i], .y = &y[i]};
    eg_chart chart = {.x = {.scale = EG_SCALE_NAMES, .names = names, .name_count = 3},
                      .series = &one,
                      .count = 1};
    eg_context *ctx = test_context();
    eg_text svg[2] = {eg_text_new(ctx), eg_text_new(ctx)};
    draw(ctx, &chart, &svg[0]);
    chart.series = each;
    chart.count = 3;
    chart.apart = true;
    draw(ctx, &chart, &svg[1]);
    for (int n = 0; n < 3; n++) {
        double bar[2][5][2];
        for (int k = 0; k < 2; k++)
            assert_int_equal(read_path(find_path(eg_text_string(&svg[k]), "bar", n), bar[k], 5), 5);
        assert_memory_equal(bar[0], bar[1], sizeof bar[0]);
    }
    assert_null(strstr(eg_text_string(&svg[0]), "class=\"f9 bar\""));
    assert_non_null(strstr(eg_text_string(&svg[1]), "class=\"f9 bar\""));
    for (int k = 0; k < 2; k++)
        eg_text_free(&svg[k]);
    test_context_free(&ctx);
}

/* One below the other, over one x. */
static void test_chart__a_stack_shares_its_x(void **state)
{
    (void)state;
    static const double x[2][3] = {{0, 1, 10}, {4, 5, 7}}, y[] = {1e5, 2e5, 1.5e5}, z[] = {1, 2, 3};
    eg_chart_series series[2];
    eg_chart charts[2] = {line_chart(&series[0], x[0], y, 3), line_chart(&series[1], x[1], z, 3)};
    charts[0].x.label = "hidden";
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    TEST_OK(ctx, eg_chart_write_stack(ctx, charts, 2, &svg));
    const char *text = eg_text_string(&svg);
    assert_well_formed(text);
    assert_texts_are_apart(text);
    const edges upper = plot_edges(text, 0), lower = plot_edges(text, 1);
    assert_true(upper.left == lower.left && upper.right == lower.right);
    assert_true(upper.bottom < lower.top);
    assert_int_equal(count_of(text, ">10</text>"), 1);
    assert_int_equal(count_of(text, ">time [s]</text>"), 1);
    assert_int_equal(count_of(text, ">u [m/s]</text>"), 2);
    assert_null(strstr(text, "hidden"));
    double p[2][3][2];
    assert_int_equal(read_path(find_path(text, "curve", 0), p[0], 3), 3);
    assert_int_equal(read_path(find_path(text, "curve", 2), p[1], 3), 3);
    const double unit = p[0][1][0] - p[0][0][0];
    assert_true(p[0][0][0] > upper.left && p[0][2][0] < upper.right);
    assert_true(fabs(p[0][2][0] - p[0][0][0] - 10 * unit) < 12);
    assert_true(fabs(p[1][2][0] - p[0][0][0] - 7 * unit) < 12);
    assert_true(p[0][0][1] < upper.bottom && p[1][0][1] > lower.top);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

/* --- PNG ---------------------------------------------------------------------------------------- */

#ifdef EG_HAVE_PNG

/* A thick line through the middle, and what is around it. */
static void test_chart__a_png_shows_the_same(void **state)
{
    (void)state;
    static const double x[] = {0, 1}, y[] = {-1, 1};
    eg_context *ctx = test_context();
    eg_chart_series series;
    eg_chart chart = line_chart(&series, x, y, 2);
    eg_text svg = eg_text_new(ctx), file = eg_text_new(ctx);
    draw(ctx, &chart, &svg);
    chart.format = EG_PICTURE_PNG;
    for (int trial = 0; trial < 2; trial++) {
        chart.dark = trial == 1;
        chart.width = trial == 1 ? 1500 : 0;
        eg_text_clear(&file);
        TEST_OK(ctx, eg_chart_write(ctx, &chart, &file));
        png_image image = {.version = PNG_IMAGE_VERSION};
        assert_true(png_image_begin_read_from_memory(&image, file.data, file.length));
        assert_in_range(image.width,
                        trial ? 1500 : 2 * attribute(eg_text_string(&svg), "width") - 200,
                        trial ? 1500 : 2 * attribute(eg_text_string(&svg), "width"));
        image.format = PNG_FORMAT_RGB;
        uint8_t *pixels = test_reallocate(&test_memory, NULL, PNG_IMAGE_SIZE(image));
        assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
        const uint8_t *corner = pixels;
        assert_int_equal(corner[0], trial ? 0x0d : 0xff);
        /* Somewhere it has the colour of the first series. */
        size_t blue = 0;
        for (size_t i = 0; i < (size_t)image.width * image.height; i++)
            blue += !memcmp(&pixels[3 * i], trial ? "\x58\xa6\xff" : "\x0b\x62\xc4", 3);
        assert_true(blue > 200);
        test_release(&test_memory, pixels);
    }
    eg_text_free(&file);
    eg_text_free(&svg);
    test_context_free(&ctx);
}

#endif

/* --- memory ------------------------------------------------------------------------------------- */

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
        cmocka_unit_test(test_chart__many_rows_are_thinned_without_losing_a_peak),
        cmocka_unit_test(test_chart__lines_have_gaps_where_values_are_missing),
        cmocka_unit_test(test_chart__any_data_stay_inside_and_the_legend_outside),
        cmocka_unit_test(test_chart__has_slopes_between_logarithmic_axes_only),
        cmocka_unit_test(test_chart__bars_stand_side_by_side_from_zero),
        cmocka_unit_test(test_chart__bars_that_are_apart_are_as_wide_as_one_series),
        cmocka_unit_test(test_chart__a_stack_shares_its_x),
#ifdef EG_HAVE_PNG
        cmocka_unit_test(test_chart__a_png_shows_the_same),
#endif
        cmocka_unit_test(test_chart__survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
