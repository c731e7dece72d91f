/* Shapes in pixels: areas, widths and seams; letters; PNG files, read by libpng; drawings as
 * SVG. */
#include "test.h"

#include "report/draw/canvas.h"
#include "report/draw/font.h"
#include "report/draw/png.h"
#include "report/draw/svg.h"

#include <math.h>

#ifdef EG_HAVE_PNG
#include <png.h>
#endif

static const eg_rgb black = {0, 0, 0}, white = {255, 255, 255};

static eg_raster *make_raster(eg_context *ctx, int width, int height)
{
    eg_raster *raster = NULL;
    TEST_OK(ctx, eg_raster_create(ctx, width, height, black, &raster));
    return raster;
}

/* The area that is white. */
static double painted(const eg_raster *raster)
{
    double sum = 0;
    for (int i = 0; i < raster->width * raster->height; i++)
        sum += raster->rgb[3 * i] / 255.0;
    return sum;
}

static double area_of(int count, const double (*p)[2])
{
    double area = 0;
    for (int i = 0, j = count - 1; i < count; j = i++)
        area += 0.5 * (p[j][0] * p[i][1] - p[i][0] * p[j][1]);
    return fabs(area);
}

static void test_raster__a_polygon_paints_its_area(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 7;
    for (int trial = 0; trial < 60; trial++) {
        enum { POINTS = 7 };
        eg_raster *raster = make_raster(ctx, 200, 160);
        double p[POINTS][2]; /* a star around the middle, in either direction */
        for (int i = 0; i < POINTS; i++) {
            const double angle = (trial % 2 ? -2 : 2) * acos(-1) * i / POINTS;
            const double r = 50 + 28 * test_random(&seed);
            p[i][0] = 100 + r * cos(angle);
            p[i][1] = 80 + r * sin(angle);
        }
        eg_raster_polygon(raster, POINTS, (const double(*)[2])p);
        eg_raster_paint(raster, white, 1);
        const double area = area_of(POINTS, (const double(*)[2])p);
        assert_true(fabs(painted(raster) / area - 1) < 1e-3);
        eg_raster_destroy(&raster);
    }
    test_context_free(&ctx);
}

static void test_raster__what_is_outside_is_cut_off(void **state)
{
    (void)state;
    static const struct {
        double p[4][2], area; /* what of it is within 40 × 30 pixels */
    } rows[] = {
        {{{-1000, -1000}, {1000, -1000}, {1000, 1000}, {-1000, 1000}}, 1200},
        {{{-20, 5}, {20, 5}, {20, 15}, {-20, 15}}, 200},
        {{{30, 5}, {70, 5}, {70, 15}, {30, 15}}, 100},
        {{{10, -30}, {20, -30}, {20, 60}, {10, 60}}, 300},
        {{{-10, 0}, {10, 20}, {-10, 40}, {-30, 20}}, 100}, /* a corner of a square */
        {{{40, -10}, {60, 10}, {40, 30}, {20, 10}}, 350},
        {{{50, 0}, {60, 0}, {60, 10}, {50, 10}}, 0},
        {{{-50, 0}, {-60, 0}, {-60, 10}, {-50, 10}}, 0},
        {{{0, 40}, {10, 40}, {10, 50}, {0, 50}}, 0},
        {{{-40, -30}, {80, 60}, {80, 1e7}, {-1e7, 60}}, 600},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        eg_raster *raster = make_raster(ctx, 40, 30);
        eg_raster_polygon(raster, 4, rows[i].p);
        eg_raster_paint(raster, white, 1);
        if (!(fabs(painted(raster) - rows[i].area) < 0.5))
            fail_msg("row %zu: %g painted, %g expected", i, painted(raster), rows[i].area);
        eg_raster_destroy(&raster);
    }
    test_context_free(&ctx);
}

static void test_raster__polygons_that_share_an_edge_leave_no_seam(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_raster *raster = make_raster(ctx, 60, 60);
    const double a[3][2] = {{3, 3}, {57, 3}, {20.3, 57}}, b[3][2] = {{57, 3}, {57, 57}, {20.3, 57}};
    const double c[3][2] = {{3, 3}, {20.3, 57}, {3, 57}};
    eg_raster_polygon(raster, 3, a);
    eg_raster_polygon(raster, 3, b);
    eg_raster_polygon(raster, 3, c);
    eg_raster_paint(raster, white, 1);
    for (int j = 0; j < 60; j++)
        for (int i = 0; i < 60; i++) {
            const bool inside = i >= 3 && i < 57 && j >= 3 && j < 57;
            assert_int_equal(eg_raster_get(raster, i, j).r, inside ? 255 : 0);
        }
    eg_raster_destroy(&raster);
    test_context_free(&ctx);
}

static void test_raster__lines_are_as_wide_as_they_should_be(void **state)
{
    (void)state;
    static const double widths[] = {0.2, 0.9, 1, 2.5, 7};
    eg_context *ctx = test_context();
    for (size_t w = 0; w < EG_COUNT(widths); w++)
        for (int k = 0; k < 12; k++) {
            eg_raster *raster = make_raster(ctx, 200, 200);
            const double angle = k * acos(-1) / 12 + 0.01, dx = 80 * cos(angle),
                         dy = 80 * sin(angle);
            const double p[2][2] = {{100.3 - dx, 99.8 - dy}, {100.3 + dx, 99.8 + dy}};
            eg_raster_stroke(raster, 2, p, widths[w], false);
            eg_raster_paint(raster, white, 1);
            assert_true(fabs(painted(raster) / (160 * widths[w]) - 1) < 0.02);
            eg_raster_destroy(&raster);
        }
    test_context_free(&ctx);
}

static void test_raster__round_ends_and_joints_add_half_discs(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_raster *raster = make_raster(ctx, 120, 120);
    const double p[3][2] = {{20, 60}, {60, 60}, {60, 100}};
    eg_raster_stroke(raster, 3, p, 10, true);
    eg_raster_paint(raster, white, 1);
    /* Two ends of half a disc, and at the corner a quarter of one beside the overlap. */
    const double disc = 25 * acos(-1), lines = 400 + 400 - 25;
    assert_true(fabs(painted(raster) - (lines + disc + disc / 4)) < 2);
    eg_raster_destroy(&raster);
    test_context_free(&ctx);
}

static void test_raster__what_is_painted_together_is_painted_once(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_raster *raster = make_raster(ctx, 30, 30);
    const double a[4][2] = {{0, 0}, {20, 0}, {20, 20}, {0, 20}};
    const double b[4][2] = {{10, 30}, {30, 30}, {30, 10}, {10, 10}}; /* the other way round */
    eg_raster_polygon(raster, 4, a);
    eg_raster_polygon(raster, 4, b);
    eg_raster_paint(raster, white, 0.5);
    assert_int_equal(eg_raster_get(raster, 5, 5).r, 128);
    assert_int_equal(eg_raster_get(raster, 15, 15).r, 128);
    assert_int_equal(eg_raster_get(raster, 25, 5).r, 0);
    /* And then it is forgotten. */
    eg_raster_paint(raster, white, 1);
    assert_int_equal(eg_raster_get(raster, 5, 5).r, 128);
    eg_raster_destroy(&raster);
    test_context_free(&ctx);
}

static void test_raster__a_clip_keeps_what_is_outside_as_it_is(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_raster *raster = make_raster(ctx, 30, 20);
    const double all[4][2] = {{-5, -5}, {35, -5}, {35, 25}, {-5, 25}};
    eg_raster_clip(raster, (const int[]){4, 6, 10, 99});
    eg_raster_polygon(raster, 4, all);
    eg_raster_paint(raster, white, 1);
    for (int j = 0; j < 20; j++)
        for (int i = 0; i < 30; i++)
            assert_int_equal(eg_raster_get(raster, i, j).r, i >= 4 && i < 10 && j >= 6 ? 255 : 0);
    eg_raster_clip(raster, NULL);
    eg_raster_paint(raster, white, 1); /* nothing is left */
    assert_int_equal(eg_raster_get(raster, 0, 0).r, 0);
    eg_raster_polygon(raster, 4, all);
    eg_raster_paint(raster, white, 1);
    assert_true(painted(raster) == 600);
    eg_raster_destroy(&raster);
    test_context_free(&ctx);
}

/* --- letters ---------------------------------------------------------------------------------- */

static void test_font__letters_differ_and_stay_in_their_boxes(void **state)
{
    (void)state;
    enum { FIRST = 33, LETTERS = 127 - FIRST, SIZE = 40 };
    eg_context *ctx = test_context();
    eg_raster *letters[LETTERS];
    for (int k = 0; k < LETTERS; k++) {
        const char text[2] = {(char)(FIRST + k), '\0'};
        const double right = 10 + eg_font_width(text, SIZE);
        letters[k] = make_raster(ctx, 60, 60);
        eg_font_draw(letters[k], 10, 42, SIZE, false, text);
        eg_raster_paint(letters[k], white, 1);
        assert_in_range(painted(letters[k]), 5, 700);
        for (int j = 0; j < 60; j++)
            for (int i = 0; i < 60; i++)
                if (eg_raster_get(letters[k], i, j).r > 0 &&
                    (i < 7 || i > right + 3 || j < 6 || j > 54))
                    fail_msg("the letter %s leaves its box at (%d, %d)", text, i, j);
        for (int i = 0; i < k; i++)
            if (!memcmp(letters[i]->rgb, letters[k]->rgb, (size_t)(3 * 60 * 60)))
                fail_msg("the letters %c and %s look the same", FIRST + i, text);
    }
    for (int k = 0; k < LETTERS; k++)
        eg_raster_destroy(&letters[k]);
    test_context_free(&ctx);
}

static void test_font__widths_add_up_and_unknown_characters_have_boxes(void **state)
{
    (void)state;
    assert_true(eg_font_width("", 14) == 0);
    const double apart = eg_font_advance("in", 14) + eg_font_advance("flow 1", 14);
    assert_true(fabs(eg_font_advance("inflow 1", 14) - apart) < 1e-9);
    assert_true(eg_font_width("inflow", 28) == 2 * eg_font_width("inflow", 14));
    assert_true(eg_font_width("\xc3\xa9", 14) == eg_font_width("\xe6\xb3\xa2", 14));
    assert_true(eg_font_width("\xc3\xa9", 14) > 2);
    assert_false(eg_font_has(0xe9) || eg_font_has(0x6ce2));
}

static void test_font__knows_greek_signs_and_raised_digits(void **state)
{
    (void)state;
    static const uint32_t codes[] = {'a',   '~',  0x3b1, 0x3c6, 0x3c9,
                                     0x3a9, 0xb0, 0xb7,  0xb2,  0x2212};
    for (size_t i = 0; i < EG_COUNT(codes); i++)
        assert_true(eg_font_has(codes[i]));
    /* Raised ones are smaller, and above the middle of their like on the line. */
    static const char *const twos[] = {"2", "\xc2\xb2"};
    double middle[2];
    eg_context *ctx = test_context();
    for (int k = 0; k < 2; k++) {
        eg_raster *raster = make_raster(ctx, 60, 60);
        double sum = 0;
        eg_font_draw(raster, 10, 42, 40, false, twos[k]);
        eg_raster_paint(raster, white, 1);
        for (int j = 0; j < 60; j++)
            for (int i = 0; i < 60; i++)
                sum += j * (eg_raster_get(raster, i, j).r / 255.0);
        middle[k] = sum / painted(raster);
        eg_raster_destroy(&raster);
    }
    assert_true(middle[1] < middle[0] - 5);
    assert_true(eg_font_advance(twos[1], 40) < 0.8 * eg_font_advance(twos[0], 40));
    test_context_free(&ctx);
}

/* Turned to the left: what was right is up, what was up is left. */
static void test_font__texts_that_go_upwards_are_turned(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_raster *level = make_raster(ctx, 80, 80), *turned = make_raster(ctx, 80, 80);
    eg_font_draw(level, 10, 61, 30, true, "Fr\xc2\xb2");
    eg_font_draw_upwards(turned, 61, 70, 30, true, "Fr\xc2\xb2");
    eg_raster_paint(level, white, 1);
    eg_raster_paint(turned, white, 1);
    assert_true(painted(level) > 100);
    for (int j = 0; j < 80; j++)
        for (int i = 0; i < 80; i++)
            assert_true(abs(eg_raster_get(level, i, j).r - eg_raster_get(turned, j, 79 - i).r) < 3);
    eg_raster_destroy(&turned);
    eg_raster_destroy(&level);
    test_context_free(&ctx);
}

static void test_svg__text_that_is_not_utf8_becomes_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *given, *written;
    } rows[] = {
        {"a<b>&\"c\"", "a&lt;b&gt;&amp;\"c\""},
        {"\xc3\xa9\xe2\x88\x92\xf0\x9f\x8c\x8a", "\xc3\xa9\xe2\x88\x92\xf0\x9f\x8c\x8a"},
        {"\x01x\x1f\x7f\xc2\x85y", "xy"},
        {"\xe9t\xe9", "\xef\xbf\xbdt\xef\xbf\xbd"},               /* Latin-1 */
        {"\xc3", "\xef\xbf\xbd"},                                 /* cut off */
        {"\xe2\x88", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* cut off */
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* too long */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* half of a pair */
        {"\xf5\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xef\xbf\xbf", ""}, /* no character of XML */
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        eg_text text = eg_text_new(ctx);
        TEST_OK(ctx, eg_svg_put_escaped(&text, rows[i].given));
        assert_string_equal(eg_text_string(&text), rows[i].written);
        eg_text_free(&text);
    }
    assert_true(eg_svg_characters("\xc3\xa9\xe2\x88\x92z") == 3);
    test_context_free(&ctx);
}

/* --- drawings --------------------------------------------------------------------------------- */

static const eg_ink inks[] = {{{255, 255, 255}, {0, 0, 0}}, {{10, 20, 30}, {40, 50, 60}}};

/* Two areas and a line with a curve, in pixels from the corner of the canvas. */
static void draw_shapes(eg_canvas *c)
{
    static const double to[3][2] = {{20, 16}, {24, 20}, {24, 24}};
    TEST_OK(c->ctx, eg_canvas_begin(c, &(eg_pen){.ink = 1}));
    for (int i = 0; i < 2; i++) {
        TEST_OK(c->ctx, eg_canvas_move(c, 1 + 4 * i, 1 + 4 * i));
        TEST_OK(c->ctx, eg_canvas_line(c, 3 + 4 * i, 1 + 4 * i));
        TEST_OK(c->ctx, eg_canvas_line(c, 3 + 4 * i, 4 + 4 * i));
        TEST_OK(c->ctx, eg_canvas_line(c, 1 + 4 * i, 4 + 4 * i));
    }
    TEST_OK(c->ctx, eg_canvas_end(c));
    TEST_OK(c->ctx, eg_canvas_begin(c, &(eg_pen){.ink = 1, .width = 2, .class = "way"}));
    TEST_OK(c->ctx, eg_canvas_move(c, 10, 16));
    TEST_OK(c->ctx, eg_canvas_line(c, 16, 16));
    TEST_OK(c->ctx, eg_canvas_curve(c, to));
    TEST_OK(c->ctx, eg_canvas_end(c));
}

static void test_canvas__paths_are_whole_numbers_relative_to_the_point_before(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_canvas canvas = {
        .ctx = ctx, .width = 40, .height = 30, .inks = inks, .ink_count = 2, .unit = 0.1};
    TEST_OK(ctx, eg_canvas_open(&canvas, "a & b"));
    draw_shapes(&canvas);
    eg_text svg = eg_text_new(ctx);
    TEST_OK(ctx, eg_canvas_write(&canvas, &svg));
    static const char *const parts[] = {
        "viewBox=\"0 0 400 300\" width=\"40\" height=\"30\"",
        "<title>a &amp; b</title>",
        ".f1{fill:#0a141e}.t1{stroke:#0a141e}",
        ".f1{fill:#28323c}.t1{stroke:#28323c}",
        " d=\"m10 10l20 0l0 30l-20 0zm40 40l20 0l0 30l-20 0z\"/>",
        " stroke-width=\"20\" d=\"m100 160l60 0c40 0 80 40 80 80\"/>",
    };
    for (size_t i = 0; i < EG_COUNT(parts); i++)
        if (!strstr(eg_text_string(&svg), parts[i])) fail_msg("the file lacks %s", parts[i]);
    eg_text_free(&svg);
    eg_canvas_close(&canvas);
    test_context_free(&ctx);
}

static void test_canvas__pixels_show_the_same(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int dark = 0; dark < 2; dark++) {
        eg_canvas canvas = {.ctx = ctx,
                            .format = EG_PICTURE_PNG,
                            .dark = dark,
                            .width = 40,
                            .height = 30,
                            .inks = inks,
                            .ink_count = 2};
        TEST_OK(ctx, eg_canvas_open(&canvas, ""));
        draw_shapes(&canvas);
        const int ink = dark ? 40 : 10, back = dark ? 0 : 255;
        static const int inked[][2] = {{1, 1},   {2, 3},   {5, 5},  {6, 7},
                                       {10, 15}, {15, 16}, {23, 23}};
        static const int blank[][2] = {{0, 0}, {3, 3}, {4, 4}, {7, 7}, {9, 15}, {17, 18}, {25, 23}};
        for (size_t i = 0; i < EG_COUNT(inked); i++)
            assert_int_equal(eg_raster_get(canvas.raster, inked[i][0], inked[i][1]).r, ink);
        for (size_t i = 0; i < EG_COUNT(blank); i++)
            assert_int_equal(eg_raster_get(canvas.raster, blank[i][0], blank[i][1]).r, back);
        eg_canvas_close(&canvas);
    }
    test_context_free(&ctx);
}

/* Raised letters, a text upwards, dashes, a tip, all in a picture twice as large. */
static void draw_texts(eg_canvas *c)
{
    const eg_pen dashes = {.ink = 1, .width = 2, .dash = 4, .tip = "a < b"};
    const eg_font font = {.ink = 1, .size = 10}, up = {.ink = 1, .size = 10, .upwards = true};
    TEST_OK(c->ctx, eg_canvas_text(c, &font, 2, 29, "m\xc2\xb2 s\xe2\x81\xbb\xc2\xb9 x"));
    TEST_OK(c->ctx, eg_canvas_text(c, &up, 38, 28, "up"));
    TEST_OK(c->ctx, eg_canvas_begin(c, &dashes));
    TEST_OK(c->ctx, eg_canvas_move(c, 2, 4));
    TEST_OK(c->ctx, eg_canvas_line(c, 20, 4));
    TEST_OK(c->ctx, eg_canvas_line(c, 30, 4));
    TEST_OK(c->ctx, eg_canvas_end(c));
}

static void test_canvas__texts_may_be_raised_or_turned_and_lines_dashed(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_canvas canvas = {.ctx = ctx,
                        .width = 40,
                        .height = 30,
                        .scale = 2,
                        .inks = inks,
                        .ink_count = 2,
                        .unit = 0.1};
    TEST_OK(ctx, eg_canvas_open(&canvas, "texts"));
    draw_texts(&canvas);
    eg_text svg = eg_text_new(ctx);
    TEST_OK(ctx, eg_canvas_write(&canvas, &svg));
    static const char *const parts[] = {
        "viewBox=\"0 0 400 300\" width=\"80\" height=\"60\"",
        ">m<tspan font-size=\"77\" dy=\"-38\">2</tspan><tspan dy=\"38\"> s</tspan>"
        "<tspan font-size=\"77\" dy=\"-38\">\xe2\x88\x92"
        "1</tspan><tspan dy=\"38\"> x</tspan></text>",
        " transform=\"translate(380 280) rotate(-90)\" font-size=\"100\">up</text>",
        " stroke-dasharray=\"40\" d=\"m20 40l180 0l100 0\"><title>a &lt; b</title></path>",
        "@media screen and (prefers-color-scheme: dark)",
    };
    for (size_t i = 0; i < EG_COUNT(parts); i++)
        if (!strstr(eg_text_string(&svg), parts[i])) fail_msg("the file lacks %s", parts[i]);
    eg_text_free(&svg);
    eg_canvas_close(&canvas);
    canvas = (eg_canvas){.ctx = ctx,
                         .format = EG_PICTURE_PNG,
                         .width = 40,
                         .height = 30,
                         .scale = 2,
                         .inks = inks,
                         .ink_count = 2};
    TEST_OK(ctx, eg_canvas_open(&canvas, ""));
    draw_texts(&canvas);
    assert_int_equal(canvas.raster->width, 80);
    /* Dashes and gaps of 8 pixels from 4 on, across the point in the middle. */
    for (int i = 4; i < 60; i++)
        assert_int_equal(eg_raster_get(canvas.raster, i, 8).r, (i - 4) / 8 % 2 ? 255 : 10);
    eg_canvas_close(&canvas);
    test_context_free(&ctx);
}

/* --- PNG -------------------------------------------------------------------------------------- */

#ifdef EG_HAVE_PNG

static void test_png__another_reader_finds_the_same_pixels(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_raster *raster = make_raster(ctx, 61, 47);
    uint64_t seed = 5;
    for (int i = 0; i < 3 * 61 * 47; i++)
        raster->rgb[i] = (uint8_t)(127.5 + 127.5 * test_random(&seed));
    eg_text file = eg_text_new(ctx);
    TEST_OK(ctx, eg_text_puts(&file, "before"));
    TEST_OK(ctx, eg_png_write(raster, &file));
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, file.data + 6, file.length - 6));
    assert_int_equal(image.width, 61);
    assert_int_equal(image.height, 47);
    uint8_t pixels[3 * 61 * 47];
    image.format = PNG_FORMAT_RGB;
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    assert_memory_equal(pixels, raster->rgb, sizeof pixels);
    eg_text_free(&file);
    eg_raster_destroy(&raster);
    test_context_free(&ctx);
}

#else

static void test_png__a_build_without_libpng_says_so(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_raster *raster = make_raster(ctx, 4, 4);
    eg_text file = eg_text_new(ctx);
    TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "libpng", eg_png_write(raster, &file));
    eg_text_free(&file);
    eg_raster_destroy(&raster);
    test_context_free(&ctx);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raster__a_polygon_paints_its_area),
        cmocka_unit_test(test_raster__what_is_outside_is_cut_off),
        cmocka_unit_test(test_raster__polygons_that_share_an_edge_leave_no_seam),
        cmocka_unit_test(test_raster__lines_are_as_wide_as_they_should_be),
        cmocka_unit_test(test_raster__round_ends_and_joints_add_half_discs),
        cmocka_unit_test(test_raster__what_is_painted_together_is_painted_once),
        cmocka_unit_test(test_raster__a_clip_keeps_what_is_outside_as_it_is),
        cmocka_unit_test(test_font__letters_differ_and_stay_in_their_boxes),
        cmocka_unit_test(test_font__widths_add_up_and_unknown_characters_have_boxes),
        cmocka_unit_test(test_font__knows_greek_signs_and_raised_digits),
        cmocka_unit_test(test_font__texts_that_go_upwards_are_turned),
        cmocka_unit_test(test_svg__text_that_is_not_utf8_becomes_utf8),
        cmocka_unit_test(test_canvas__paths_are_whole_numbers_relative_to_the_point_before),
        cmocka_unit_test(test_canvas__pixels_show_the_same),
        cmocka_unit_test(test_canvas__texts_may_be_raised_or_turned_and_lines_dashed),
#ifdef EG_HAVE_PNG
        cmocka_unit_test(test_png__another_reader_finds_the_same_pixels),
#else
        cmocka_unit_test(test_png__a_build_without_libpng_says_so),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
