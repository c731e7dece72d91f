/* Pictures of meshes in space, where hidden faces are hidden and groups are seen apart, and the
 * pixels of all pictures. */
#include "mesh_pictures.h"

#include "report/draw/palette.h"

#ifdef EG_HAVE_PNG
#include <png.h>
#endif

static void test_picture__a_surface_shows_each_face_of_a_convex_mesh_once(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t i = 2; i < EG_COUNT(test_shapes); i++) {
        eg_mesh *mesh =
            test_box(ctx, &(eg_box_options){.shape = test_shapes[i], .cells = {3, 4, 5}});
        eg_text svg = draw_svg(mesh, NULL);
        const int faces = (test_shapes[i] == EG_SHAPE_TET ? 4 : 2) * (3 * 4 + 4 * 5 + 5 * 3);
        assert_int_equal(count_of(eg_text_string(&svg), " face\""), faces);
        assert_null(strstr(eg_text_string(&svg), "Hidden"));
        for (int b = 0; b < mesh->boundary_count; b++) {
            char part[64];
            snprintf(part, sizeof part, ">%s</text>", mesh->boundary[b]);
            assert_int_equal(count_of(eg_text_string(&svg), part), 1);
        }
        eg_text_free(&svg);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* A face as it is seen at scale 1: its centre, and how near it is. */
static int by_nearness(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return p[2] < q[2] ? -1 : p[2] > q[2];
}

static void test_picture__near_faces_are_drawn_after_far_ones(void **state)
{
    (void)state;
    enum { FACES = 3 * 4 + 4 * 5 + 5 * 3 };
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_HEX,
                                                    .cells = {3, 4, 5},
                                                    .high = {1, 1.37, 1.71},
                                                    .grading = {1.3, 1.7, 2.1}});
    eg_text svg = draw_svg(mesh, NULL);
    assert_int_equal(read_paths(eg_text_string(&svg), "face", pieces), 2 * 3 * FACES);
    for (int behind = 0; behind < 2; behind++) {
        const eg_space_view view = eg_space_view_new(behind);
        double seen[FACES][3];
        int count = 0;
        for (int32_t e = 0; e < mesh->element_count; e++)
            for (int f = 0; f < 6; f++) {
                double face[3], centre[3];
                if (mesh->neighbour[6 * e + f] >= 0) continue;
                eg_mesh_face_centre(mesh, e, f, face);
                eg_mesh_element_centre(mesh, e, centre);
                double towards = 0;
                for (int d = 0; d < 3; d++)
                    towards += (face[d] - centre[d]) * view.eye[d];
                if (towards > 0) eg_space_project(&view, face, seen[count++]);
            }
        assert_int_equal(count, FACES);
        qsort(seen, FACES, sizeof seen[0], by_nearness);
        /* The centre of a drawn face is the mean of two opposite corners. */
        double drawn[FACES][2];
        for (int i = 0; i < FACES; i++)
            for (int k = 0; k < 2; k++) {
                const piece *first = &pieces[3 * (behind * FACES + i)];
                drawn[i][k] = 0.5 * (first->p[0][k] + first[1].p[3][k]);
            }
        const double scale =
            (drawn[FACES - 1][1] - drawn[0][1]) / (seen[FACES - 1][1] - seen[0][1]);
        for (int i = 0; i < FACES; i++)
            for (int k = 0; k < 2; k++)
                TEST_NEAR(drawn[i][k] - drawn[0][k], scale * (seen[i][k] - seen[0][k]), 0.1);
    }
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_picture__what_the_hull_hides_is_left_out_and_named(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = hollow_mesh(ctx);
    eg_text svg = draw_svg(mesh, NULL);
    assert_int_equal(count_of(eg_text_string(&svg), " face\""), 54);
    assert_non_null(strstr(eg_text_string(&svg), ">Hidden: void</text>"));
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_picture__a_fine_surface_is_a_small_file_that_says_so(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TET, .cells = {90, 90, 1}});
    eg_text svg = draw_svg(mesh, NULL);
    assert_true(svg.length < 200000);
    assert_true(count_of(eg_text_string(&svg), "squares\"") >= 6);
    assert_non_null(strstr(eg_text_string(&svg), "too small to show their edges"));
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_picture__groups_in_space_have_views_of_their_own(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_HEX, .cells = {4, 2, 2}});
    const int faces = 2 * (4 * 2 + 2 * 2 + 2 * 4);
    eg_text svg = draw_svg(mesh, NULL);
    assert_int_equal(count_of(eg_text_string(&svg), " face\""), faces);
    assert_null(strstr(eg_text_string(&svg), "groups"));
    const double height = attribute(eg_text_string(&svg), "height");
    eg_text_free(&svg);
    divide_mesh(mesh);
    svg = draw_svg(mesh, NULL);
    assert_int_equal(count_of(eg_text_string(&svg), " face\""), 2 * faces);
    assert_int_equal(count_of(eg_text_string(&svg), ": groups of elements</text>"), 2);
    assert_int_equal(count_of(eg_text_string(&svg), ">right half</text>"), 1);
    assert_int_equal(count_of(eg_text_string(&svg), ">8 elements</text>"), 2);
    assert_true(attribute(eg_text_string(&svg), "height") > 1.5 * height);
    assert_null(strstr(eg_text_string(&svg), "Hidden"));
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);

    /* A group inside, and an element inside that is bad. */
    mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_HEX, .cells = {3, 3, 3}});
    divide_mesh(mesh);
    bool bad[27] = {false};
    bad[13] = true;
    for (int32_t e = 0; e < 27; e++)
        mesh->group_of[e] = mesh->global[e] == 13;
    svg = eg_text_new(ctx);
    write_picture(mesh, &(eg_mesh_picture_options){.bad = bad}, &svg);
    assert_non_null(strstr(eg_text_string(&svg), ">Hidden: right half, not valid</text>"));
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_picture__captions_and_names_stay_in_narrow_views(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TET, .cells = {2, 1, 1}});
    divide_mesh(mesh);
    for (int width = EG_PICTURE_WIDTH_LEAST; width <= 960; width += 240) {
        eg_text svg = eg_text_new(ctx);
        write_picture(mesh, &(eg_mesh_picture_options){.width = width}, &svg);
        const char *text = eg_text_string(&svg), *t = strstr(text, ">from ");
        assert_int_equal(count_of(text, ">from "), 4);
        for (; t; t = strstr(t + 1, ">from ")) {
            while (*t != '<')
                t--;
            const char *from = strchr(t, '>') + 1, *to = strchr(from, '<');
            const double length = 0.0045 * attribute(t, "font-size") * (double)(to - from);
            const double x = 0.01 * attribute(t, "x");
            assert_true(x + length < (x < 0.5 * width ? 0.5 * width : width - 20));
            t = from - 1;
        }
        assert_int_equal(count_of(text, "...</text>") > 0, width < 900);
        eg_text_free(&svg);
    }
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* --- pixels ----------------------------------------------------------------------------------- */

#ifdef EG_HAVE_PNG

typedef struct pixels {
    int width, height;
    eg_rgb *at; /* [height][width] */
} pixels;

static pixels draw_png(const eg_mesh *mesh, int width, bool dark)
{
    eg_text file = eg_text_new(mesh->ctx);
    write_picture(mesh,
                  &(eg_mesh_picture_options){
                      .format = EG_PICTURE_PNG, .width = width, .title = "pixels", .dark = dark},
                  &file);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, file.data, file.length));
    image.format = PNG_FORMAT_RGB;
    pixels p = {.width = (int)image.width, .height = (int)image.height};
    p.at = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(p.at);
    assert_true(png_image_finish_read(&image, NULL, p.at, 0, NULL));
    eg_text_free(&file);
    return p;
}

static bool same(eg_rgb a, eg_rgb b, int tolerance)
{
    return abs(a.r - b.r) <= tolerance && abs(a.g - b.g) <= tolerance &&
           abs(a.b - b.b) <= tolerance;
}

/* The box around all pixels of a colour above row `bottom`. */
typedef struct spot {
    int left, right, top, bottom, count;
} spot;

static spot find_colour(const pixels *p, eg_rgb colour, int bottom)
{
    spot s = {.left = p->width, .top = p->height};
    for (int y = 0; y < bottom; y++)
        for (int x = 0; x < p->width; x++) {
            if (!same(p->at[y * p->width + x], colour, 0)) continue;
            s.count++;
            s.left = x < s.left ? x : s.left;
            s.right = x > s.right ? x : s.right;
            s.top = y < s.top ? y : s.top;
            s.bottom = y > s.bottom ? y : s.bottom;
        }
    return s;
}

static void test_picture__pixels_of_boundaries_lie_where_the_boundaries_are(void **state)
{
    (void)state;
    static const char *const light[] = {EG_LIGHT_SERIES}, *const dark[] = {EG_DARK_SERIES};
    eg_context *ctx = test_context();
    eg_mesh *mesh =
        test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {12, 6}, .high = {2, 1}});
    for (int is_dark = 0; is_dark < 2; is_dark++) {
        const pixels p = draw_png(mesh, 640, is_dark);
        assert_int_equal(p.width, 640);
        assert_in_range(p.height, 380, 500);
        assert_true(
            same(p.at[0], is_dark ? eg_rgb_parse(EG_DARK_BACK) : (eg_rgb){255, 255, 255}, 0));
        spot s[4]; /* left, right, bottom, top; the legend lies below */
        for (int b = 0; b < 4; b++) {
            s[b] = find_colour(&p, eg_rgb_parse((is_dark ? dark : light)[b]), p.height - 90);
            assert_true(s[b].count > (b < 2 ? 250 : 500));
        }
        assert_true(s[0].right - s[0].left < 5 && s[1].right - s[1].left < 5);
        assert_true(s[2].bottom - s[2].top < 5 && s[3].bottom - s[3].top < 5);
        assert_true(s[0].right < s[1].left && s[3].bottom < s[2].top);
        /* One scale for both axes. */
        const double across = s[1].left - s[0].left, down = s[2].top - s[3].top;
        assert_true(fabs(across / down - 2) < 0.02);
        /* And in the legend each colour is there once more, under the plot. */
        for (int b = 0; b < 4; b++) {
            const spot all = find_colour(&p, eg_rgb_parse((is_dark ? dark : light)[b]), p.height);
            assert_true(all.bottom > p.height - 90 && all.count > s[b].count + 20);
        }
        free(p.at);
    }
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* How many pixels of a part of the picture have a boundary's colour in some light. */
static int count_lit(const pixels *p, int boundary, int from, int to)
{
    static const char *const light[] = {EG_LIGHT_SERIES};
    const eg_rgb base = eg_rgb_mix(eg_rgb_parse(light[boundary]), (eg_rgb){255, 255, 255}, 0.3);
    int count = 0;
    for (int y = 100; y < p->height - 90; y++)
        for (int x = from; x < to; x++) {
            const eg_rgb at = p->at[y * p->width + x];
            const double red = (at.r - 16.0) / (base.r - 16), green = (at.g - 20.0) / (base.g - 20);
            const double blue = (at.b - 28.0) / (base.b - 28), mean = (red + green + blue) / 3;
            count += mean > 0.6 && mean < 1.01 && fabs(red - mean) < 0.03 &&
                     fabs(green - mean) < 0.03 && fabs(blue - mean) < 0.03;
        }
    return count;
}

static void test_picture__each_side_of_a_box_is_seen_from_one_side(void **state)
{
    (void)state;
    /* left, right, bottom, top, back, front: who looks has x > 0, y < 0, z > 0 first. */
    static const bool in_front[] = {false, true, true, false, false, true};
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_HEX, .cells = {3, 3, 3}});
    const pixels p = draw_png(mesh, 900, false);
    for (int b = 0; b < 6; b++) {
        const int first = count_lit(&p, b, 21, 440), second = count_lit(&p, b, 460, 878);
        if (!((in_front[b] ? first : second) > 8000 && (in_front[b] ? second : first) < 200))
            fail_msg("boundary %s: %d pixels in front, %d behind", mesh->boundary[b], first,
                     second);
    }
    free(p.at);
    eg_mesh_destroy(&mesh);
    mesh = hollow_mesh(ctx);
    const pixels hollow = draw_png(mesh, 900, false);
    assert_true(count_lit(&hollow, 0, 21, 440) > 30000);
    assert_true(count_lit(&hollow, 1, 21, 878) == 0);
    free(hollow.at);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* The left half of a square has one tint, the right half another. */
static void test_picture__pixels_of_groups_lie_where_their_elements_are(void **state)
{
    (void)state;
    eg_ink inks[EG_MESH_INKS];
    eg_mesh_make_inks(inks);
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {2, 2}});
    divide_mesh(mesh);
    for (int is_dark = 0; is_dark < 2; is_dark++) {
        const pixels p = draw_png(mesh, 500, is_dark);
        spot s[2];
        for (int g = 0; g < 2; g++) {
            const eg_ink ink = inks[EG_MESH_INK_TINT + g];
            s[g] = find_colour(&p, is_dark ? ink.dark : ink.light, p.height - 90);
            assert_true(s[g].count > 60000);
        }
        assert_true(s[0].right < s[1].left && s[1].left - s[0].right < 5);
        assert_int_equal(s[0].top, s[1].top);
        free(p.at);
    }
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

#else

static void test_picture__a_build_without_libpng_says_so(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {1, 1}});
    eg_text out = eg_text_new(ctx);
    TEST_FAILS(
        ctx, EG_ERROR_UNSUPPORTED, "libpng",
        eg_mesh_picture_write(mesh, &(eg_mesh_picture_options){.format = EG_PICTURE_PNG}, &out));
    assert_int_equal(out.length, 0);
    eg_text_free(&out);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picture__a_surface_shows_each_face_of_a_convex_mesh_once),
        cmocka_unit_test(test_picture__near_faces_are_drawn_after_far_ones),
        cmocka_unit_test(test_picture__what_the_hull_hides_is_left_out_and_named),
        cmocka_unit_test(test_picture__a_fine_surface_is_a_small_file_that_says_so),
        cmocka_unit_test(test_picture__groups_in_space_have_views_of_their_own),
        cmocka_unit_test(test_picture__captions_and_names_stay_in_narrow_views),
#ifdef EG_HAVE_PNG
        cmocka_unit_test(test_picture__pixels_of_boundaries_lie_where_the_boundaries_are),
        cmocka_unit_test(test_picture__each_side_of_a_box_is_seen_from_one_side),
        cmocka_unit_test(test_picture__pixels_of_groups_lie_where_their_elements_are),
#else
        cmocka_unit_test(test_picture__a_build_without_libpng_says_so),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
