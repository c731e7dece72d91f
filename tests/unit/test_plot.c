/* Pictures of fields: colours are those of the values, contour lines run where they should, jumps
 * are jumps, nothing is cut off. */
#include "plots.h"

#include "report/draw/canvas.h"
#include "report/plot/contour.h"
#include "report/plot/layout.h"
#include "report/plot/plot.h"

#ifdef EG_HAVE_PNG
#include <png.h>
#endif

/* --- fields ----------------------------------------------------------------------------------- */

static void test_field__names_what_there_is(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 10;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_QUAD, TEST_STRAIGHT, 1, 2);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 1, &seed);
    eg_plot_field field;
    TEST_OK(ctx, eg_plot_field_open(snapshot, NULL, &field));
    assert_string_equal(field.label, "u [m/s]");
    eg_plot_field_close(&field);
    TEST_OK(ctx, eg_plot_field_open(snapshot, "p", &field));
    assert_string_equal(field.label, "p");
    assert_null(field.expression);
    eg_plot_field_close(&field);
    TEST_OK(ctx, eg_plot_field_open(snapshot, "2*u", &field));
    assert_string_equal(field.label, "2*u");
    assert_int_equal(field.array_count, 1);
    eg_plot_field_close(&field);
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "there is no field \"q\" (did you mean \"u\"?); the fields are u, p",
               eg_plot_field_open(snapshot, "q", &field));
    eg_plot_field_close(&field);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "the fields are u, p",
               eg_plot_field_open(snapshot, "2*(u + q)", &field));
    eg_plot_field_close(&field);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* --- contour lines ---------------------------------------------------------------------------- */

static double distance_to_middle(double x, double y)
{
    return hypot(x - 0.5, y - 0.5);
}

static void test_contour__runs_where_the_value_is(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 11;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_QUAD, TEST_STRAIGHT, 1, 2);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 1, &seed);
    const eg_plot_view view = {
        .up = 1, .normal = -1, .left = 0, .top = 1, .pixel = 0.01, .width = 100, .height = 100};
    const double levels[] = {0.1, 0.303, 2};
    float *far = NULL;
    eg_plot_image *image = test_plot_image(snapshot, "sqrt((x - 0.5)^2 + (y - 0.5)^2)", &view, 0);
    TEST_OK(ctx, eg_plot_contour(image, 3, levels, 3, &far));
    for (int i = 0; i < 10000; i++) {
        double x[3];
        eg_plot_view_point(&view, i % 100, i / 100, x);
        const double r = distance_to_middle(x[0], x[1]);
        const double expected = 100 * fmin(fabs(r - 0.1), fabs(r - 0.303));
        TEST_NEAR(far[i], fmin(expected, 3), 0.04); /* a piece is as long as a pixel */
    }
    eg_release(ctx, &far);
    eg_plot_image_destroy(&image);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* Two lines in a square, which part where the middle is above the level and join where it is
 * below. */
static void test_contour__at_a_saddle_follows_the_middle(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    int32_t element[4] = {0};
    float beyond[4] = {0};
    double values[4] = {1, 0, 0, 1}; /* of two rows */
    const eg_plot_image image = {
        .ctx = ctx, .width = 2, .height = 2, .element = element, .beyond = beyond, .value = values};
    float *far = NULL;
    for (int above = 0; above < 2; above++) {
        const double level = above ? 0.4 : 0.6; /* the middle has 0.5 */
        TEST_OK(ctx, eg_plot_contour(&image, 1, &level, 9, &far));
        /* Lines cut off the corners on the other side of the level than the middle. */
        const double cut = level < 0.5 ? level : 1 - level;
        TEST_NEAR(far[above ? 1 : 0], cut / sqrt(2), 1e-6);
        TEST_NEAR(far[above ? 0 : 1], 1 - cut, 1e-6);
        eg_release(ctx, &far);
    }
    test_context_free(&ctx);
}

/* --- pictures --------------------------------------------------------------------------------- */

static void test_plot__refuses_what_makes_no_picture(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 12;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_QUAD, TEST_STRAIGHT, 1, 2);
    eg_mesh *cube = test_plot_mesh(ctx, EG_SHAPE_HEX, TEST_STRAIGHT, 1, 2);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 1, &seed),
                *space = test_plot_snapshot(cube, 1, &seed);
    eg_plot_field field, in_space;
    eg_plot_result result;
    const double falling[] = {1, 0};
    TEST_OK(ctx, eg_plot_field_open(snapshot, NULL, &field));
    TEST_OK(ctx, eg_plot_field_open(space, NULL, &in_space));
    static const struct {
        eg_plot_options options;
        bool space;
        const char *message;
    } wrong[] = {
        {{.width = 100}, false, "240 to 16384 pixels wide, not 100"},
        {{.height = 20000}, false, "pixels high, not 20000"},
        {{.has_range = true, .range = {1, 1}}, false, "the range from 1 to 1 is empty"},
        {{.has_range = true, .range = {0, NAN}}, false, "is empty"},
        {{.has_zoom = true, .zoom = {0, 1, 1, 0}}, false, "is empty"},
        {{.has_zoom = true, .zoom = {1, 1 + 1e-12, 0, 1}}, false, "there is nothing between x ="},
        {{.has_zoom = true, .zoom = {0, 1, 0, 1e-4}}, false, "too thin for a picture"},
        {{.slice = 3}, false, "no slices"},
        {{.slice = 3, .slice_at = 1.5},
         true,
         "z = 1.5 is outside of the domain, whose z is 0 to 1"},
        {{.contours = 1000}, false, "at most 200 contour lines"},
        {{.width = 4000, .height = 300}, false, "no room"},
    };
    for (size_t i = 0; i < EG_COUNT(wrong); i++)
        TEST_FAILS(
            ctx, EG_ERROR_INPUT, wrong[i].message,
            eg_plot_measure(wrong[i].space ? &in_space : &field, &wrong[i].options, &result));
    TEST_FAILS(
        ctx, EG_ERROR_INPUT, "0 follows 1",
        eg_plot_measure(&field, &(eg_plot_options){.levels = falling, .level_count = 2}, &result));
    for (int64_t i = 0; i < space->first_node[space->element_count]; i++)
        if (space->x[3 * i + 2] == 0.5) space->x[3 * i + 2] += i % 8 < 4 ? 0.01 : -0.01;
    TEST_FAILS(
        ctx, EG_ERROR_INPUT, "z = 0.5 cuts no element",
        eg_plot_measure(&in_space, &(eg_plot_options){.slice = 3, .slice_at = 0.5}, &result));
    eg_plot_field_close(&in_space);
    eg_plot_field_close(&field);
    eg_snapshot_destroy(&space);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&cube);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_plot__chooses_range_and_plane(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 13;
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_HEX,
                                                    .cells = {2, 2, 2},
                                                    .low = {0, -1, 0},
                                                    .high = {3, 1, 2.5}});
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 1, &seed);
    eg_plot_field field;
    eg_plot_result r;
    TEST_OK(ctx, eg_plot_field_open(snapshot, "x - 1", &field));
    TEST_OK(ctx, eg_plot_measure(&field, &(eg_plot_options){0}, &r));
    assert_int_equal(r.slice, 2); /* y is the shortest */
    TEST_NEAR(r.slice_at, 0, 0);
    TEST_NEAR(r.range[0], -1, 0.01);
    TEST_NEAR(r.range[1], 2, 0.01);
    assert_int_equal(r.elements, 4);
    TEST_OK(ctx, eg_plot_measure(&field, &(eg_plot_options){.map = EG_COLOURS_BALANCE}, &r));
    TEST_NEAR(r.range[0], -r.range[1], 0);
    TEST_NEAR(r.range[1], 2, 0.01);
    TEST_OK(ctx, eg_plot_measure(&field,
                                 &(eg_plot_options){.slice = 1, .slice_at = 2, .width = 500}, &r));
    TEST_NEAR(r.low, 1, 0);
    TEST_NEAR(r.range[0], 0.9, 1e-12); /* a constant is drawn with some room */
    TEST_NEAR(r.range[1], 1.1, 1e-12);
    assert_int_equal(r.width, 500);
    TEST_OK(ctx,
            eg_plot_measure(&field, &(eg_plot_options){.has_range = true, .range = {0, 5}}, &r));
    assert_true(r.range[0] == 0 && r.range[1] == 5 && r.high < 2);
    eg_plot_field_close(&field);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

#ifdef EG_HAVE_PNG

/* A picture, read back. */
typedef struct pixels {
    int width, height;
    uint8_t *rgb;
} pixels;

static pixels draw(const eg_snapshot *s, const char *text, const eg_plot_options *options)
{
    eg_plot_field field;
    eg_plot_result result;
    eg_text png = eg_text_new(s->ctx);
    TEST_OK(s->ctx, eg_plot_field_open(s, text, &field));
    TEST_OK(s->ctx, eg_plot_write(&field, options, &png, &result));
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, png.data, png.length));
    image.format = PNG_FORMAT_RGB;
    pixels p = {.width = (int)image.width, .height = (int)image.height};
    assert_int_equal(p.width, result.width);
    assert_int_equal(p.height, result.height);
    p.rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(p.rgb);
    assert_true(png_image_finish_read(&image, NULL, p.rgb, 0, NULL));
    eg_plot_field_close(&field);
    eg_text_free(&png);
    return p;
}

static const uint8_t *pixel_at(const pixels *p, int x, int y)
{
    return &p->rgb[3 * (y * p->width + x)];
}

/* Nothing reaches the edge of the picture, where it would be cut off. */
static void check_margin(const pixels *p, const char *what)
{
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const int near = (int)fmin(fmin(x, p->width - 1 - x), fmin(y, p->height - 1 - y));
            if (near < 6 && memcmp(pixel_at(p, x, y), p->rgb, 3) != 0)
                fail_msg("%s: there is something at (%d, %d) of %d by %d", what, x, y, p->width,
                         p->height);
        }
}

static void test_plot__keeps_everything_inside_the_picture(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 14;
    static const struct {
        double high[2];
        const char *field;
        eg_plot_options options;
    } cases[] = {
        {{1, 1}, "u", {.title = "usual"}},
        {{1, 1}, "u", {.title = "dark", .dark = true, .mesh = true, .contours = 5}},
        {{9, 1}, "u", {.title = "flat"}},
        {{1, 9}, "u", {.title = "tall"}},
        {{1, 9}, "u", {.title = "tall and wide", .width = 800, .height = 500}},
        {{1, 1}, "100000 + 1e-3*u", {.title = "values that hardly differ"}},
        {{1, 1}, "-1.23456e-9*u", {.title = "small values"}},
        {{1, 1}, "-1.23456e19*u", {.title = "large values"}},
        {{9, 1}, "-1.23456e19*u", {.title = "large values below"}},
        {{1e-5, 1e-5}, "u", {.title = "a small domain"}},
        {{1, 1}, "u", {.title = "beyond", .has_range = true, .range = {-0.1, 0.1}}},
        {{9, 1}, "u", {.title = "beyond, below", .has_range = true, .range = {-0.1, 0.1}}},
        {{1, 1}, "log(u)", {.title = "undefined"}},
        {{1, 1},
         "u + p + u + p + u + p + u + p + u + p + u + p + u + p + u + p + u + p + u + p + u + p",
         {.title = "a title that is much too long for the picture and must be cut somewhere, or it "
                   "would reach beyond the edge",
          .width = 300}},
        {{1, 1}, "u", {.title = "large", .width = 2000, .height = 1100}},
        {{1, 1}, "u", {.title = "part", .has_zoom = true, .zoom = {0.1, 0.2, 0.3, 0.33}}},
    };
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        eg_mesh *mesh =
            test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                            .cells = {3, 3},
                                            .high = {cases[i].high[0], cases[i].high[1]}});
        eg_snapshot *snapshot = test_plot_snapshot(mesh, 2, &seed);
        pixels p = draw(snapshot, cases[i].field, &cases[i].options);
        if (cases[i].options.width) assert_int_equal(p.width, cases[i].options.width);
        if (cases[i].options.height) assert_int_equal(p.height, cases[i].options.height);
        check_margin(&p, cases[i].options.title);
        free(p.rgb);
        eg_snapshot_destroy(&snapshot);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Every pixel of the plot has the colour of its value, and the bar the colours of its numbers. */
static void test_plot__has_the_colours_of_the_values(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 15;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_TRI, TEST_STRAIGHT, 1, 4);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 2, &seed);
    test_fill_field(snapshot, test_first_coordinate);
    const eg_plot_options options = {
        .has_range = true, .range = {0, 1}, .map = EG_COLOURS_FIRE, .width = 400};
    eg_plot_layout at;
    TEST_OK(ctx, eg_plot_layout_look(snapshot, &options, &at));
    TEST_OK(ctx, eg_plot_layout_place(ctx, &options, &at));
    pixels p = draw(snapshot, "u", &options);
    assert_int_equal(p.width, at.width);
    assert_int_equal(p.height, at.height);
    eg_rgb colours[1024];
    TEST_OK(ctx, eg_colour_map_fill(ctx, EG_COLOURS_FIRE, 1024, colours));
    for (int row = 0; row < at.plot.height; row++)
        for (int column = 0; column < at.plot.width; column++) {
            const uint8_t *rgb = pixel_at(&p, at.plot.left + column, at.plot.top + row);
            double x[3];
            eg_plot_view_point(&at.view, column, row, x);
            if (x[0] < 0 || x[0] > 1 || x[1] < 0 || x[1] > 1) continue;
            const eg_rgb expected = colours[(int)(1023 * x[0] + 0.5)];
            assert_true(abs(rgb[0] - expected.r) <= 1 && abs(rgb[1] - expected.g) <= 1 &&
                        abs(rgb[2] - expected.b) <= 1);
        }
    /* The domain is in the middle, and the axes tell where. */
    TEST_NEAR(at.view.left + 0.5 * at.view.pixel * at.plot.width, 0.5, 1e-12);
    TEST_NEAR(at.view.top - 0.5 * at.view.pixel * at.plot.height, 0.5, 1e-12);
    const eg_axis across = eg_plot_layout_axis(&at, true), up = eg_plot_layout_axis(&at, false);
    TEST_NEAR(eg_axis_pixel(&across, 0.5), at.plot.left + 0.5 * at.plot.width, 1e-4);
    TEST_NEAR(eg_axis_pixel(&across, 1) - eg_axis_pixel(&across, 0), 1 / at.view.pixel, 1e-4);
    TEST_NEAR(eg_axis_pixel(&up, 0.5), at.plot.top + 0.5 * at.plot.height, 1e-4);
    TEST_NEAR(eg_axis_pixel(&up, 0) - eg_axis_pixel(&up, 1), 1 / at.view.pixel, 1e-4);
    const eg_axis axis = eg_plot_layout_bar_axis(&at, 0, 1);
    for (int i = 1; i < 10; i++) {
        const int row = (int)eg_axis_pixel(&axis, 0.1 * i);
        const uint8_t *rgb = pixel_at(&p, at.bar.left + at.bar.width / 2, row);
        const eg_rgb expected = colours[(int)(102.3 * i + 0.5)];
        assert_true(abs(rgb[0] - expected.r) < 8 && abs(rgb[1] - expected.g) < 8 &&
                    abs(rgb[2] - expected.b) < 8);
    }
    free(p.rgb);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* Values that jump from element to element are drawn as jumps. */
static void test_plot__shows_jumps_as_jumps(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 16;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_QUAD, TEST_STRAIGHT, 1, 2);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 2, &seed);
    for (int32_t e = 0; e < 4; e++)
        for (int64_t i = snapshot->first_node[e]; i < snapshot->first_node[e + 1]; i++)
            snapshot->arrays[0].values[i] = e;
    const eg_plot_options options = {.map = EG_COLOURS_GREY, .width = 400};
    eg_plot_layout at;
    TEST_OK(ctx, eg_plot_layout_look(snapshot, &options, &at));
    TEST_OK(ctx, eg_plot_layout_place(ctx, &options, &at));
    pixels p = draw(snapshot, "u", &options);
    eg_rgb colours[1024];
    int seen[4] = {0};
    TEST_OK(ctx, eg_colour_map_fill(ctx, EG_COLOURS_GREY, 1024, colours));
    for (int row = 0; row < at.plot.height; row++)
        for (int column = 0; column < at.plot.width; column++) {
            const uint8_t *rgb = pixel_at(&p, at.plot.left + column, at.plot.top + row);
            double x[3];
            int found = -1;
            eg_plot_view_point(&at.view, column, row, x);
            if (x[0] < 0 || x[0] > 1 || x[1] < 0 || x[1] > 1) continue;
            for (int e = 0; e < 4; e++)
                if (abs(rgb[0] - colours[341 * e].r) <= 1) found = e;
            assert_true(found >= 0);
            seen[found]++;
        }
    for (int e = 0; e < 4; e++)
        TEST_NEAR(seen[e], 0.25 / pow(at.view.pixel, 2), 4 / at.view.pixel);
    free(p.rgb);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static eg_status draw_body(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_snapshot copy = *(const eg_snapshot *)user;
    eg_plot_field field = {0};
    eg_plot_result result;
    eg_text png = eg_text_new(ctx);
    copy.ctx = ctx;
    EG_TRY(eg_plot_field_open(&copy, "u + p", &field));
    EG_TRY(eg_plot_write(
        &field, &(eg_plot_options){.title = "t", .mesh = true, .contours = 3, .width = 240}, &png,
        &result));
done:
    eg_text_free(&png);
    eg_plot_field_close(&field);
    return status;
}

static void test_plot__without_memory_fails_cleanly(void **state)
{
    (void)state;
    eg_context *ctx = NULL; /* of memory that is not counted */
    uint64_t seed = 17;
    assert_int_equal(eg_context_create(NULL, &ctx), EG_OK);
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_TRI, TEST_BENT, 2, 2);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 2, &seed);
    test_allocation_sweep(draw_body, snapshot);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    eg_context_destroy(&ctx);
}

#else

static void test_plot__without_libpng_says_so(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 18;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_QUAD, TEST_STRAIGHT, 1, 2);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 1, &seed);
    eg_plot_field field;
    eg_plot_result result;
    eg_text png = eg_text_new(ctx);
    TEST_OK(ctx, eg_plot_field_open(snapshot, NULL, &field));
    TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "without libpng",
               eg_plot_write(&field, &(eg_plot_options){0}, &png, &result));
    eg_plot_field_close(&field);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field__names_what_there_is),
        cmocka_unit_test(test_contour__runs_where_the_value_is),
        cmocka_unit_test(test_contour__at_a_saddle_follows_the_middle),
        cmocka_unit_test(test_plot__refuses_what_makes_no_picture),
        cmocka_unit_test(test_plot__chooses_range_and_plane),
#ifdef EG_HAVE_PNG
        cmocka_unit_test(test_plot__keeps_everything_inside_the_picture),
        cmocka_unit_test(test_plot__has_the_colours_of_the_values),
        cmocka_unit_test(test_plot__shows_jumps_as_jumps),
        cmocka_unit_test(test_plot__without_memory_fails_cleanly),
#else
        cmocka_unit_test(test_plot__without_libpng_says_so),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
