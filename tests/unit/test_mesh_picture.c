/* Pictures of meshes in the plane: every edge once and where the mapping has it, every boundary in
 * the legend, elements in their tints, files that stay small. */
#include "mesh_pictures.h"

static void test_picture__every_edge_is_drawn_once(void **state)
{
    (void)state;
    static const eg_box_options boxes[] = {
        {.shape = EG_SHAPE_TRI, .cells = {9, 5}, .grading = {300, 1}},
        {.shape = EG_SHAPE_QUAD, .cells = {4, 7}, .perturb = 0.3},
        {.shape = EG_SHAPE_TRI, .cells = {3, 12}, .order = 3, .map = ring},
        {.shape = EG_SHAPE_QUAD, .cells = {3, 9}, .order = 2, .map = ring},
        {.shape = EG_SHAPE_TRI, .cells = {3, 4}, .periodic = {true, false}},
        {.shape = EG_SHAPE_QUAD, .cells = {1, 1}, .periodic = {true, true}},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i <= EG_COUNT(boxes); i++) {
        const bool mixed = i == EG_COUNT(boxes);
        eg_mesh *mesh = mixed ? mixed_mesh(ctx, 5) : test_box(ctx, &boxes[i]);
        const int joined = mixed ? 0
                                 : boxes[i].periodic[0] * boxes[i].cells[1] +
                                       boxes[i].periodic[1] * boxes[i].cells[0];
        eg_text svg = draw_svg(mesh, NULL);
        eg_mesh_summary summary;
        TEST_OK(ctx, eg_mesh_summarise(mesh, &summary));
        const size_t boundary = read_paths(eg_text_string(&svg), "boundary", pieces);
        const size_t periodic = read_paths(eg_text_string(&svg), "periodic", pieces);
        const size_t inner = read_paths(eg_text_string(&svg), "edges", pieces);
        assert_int_equal(boundary, summary.boundary_faces);
        assert_int_equal(periodic, 2 * joined);
        char faces[32];
        snprintf(faces, sizeof faces, ">%d faces</text>", 2 * joined);
        assert_int_equal(count_of(eg_text_string(&svg), ">periodic</text>"), joined > 0);
        assert_true(joined == 0 || strstr(eg_text_string(&svg), faces));
        assert_int_equal(inner, summary.faces - summary.boundary_faces - joined);
        /* Thin lines are thin where elements are small. */
        assert_true(count_of(eg_text_string(&svg), " edges\"") >= (i == 0 ? 4 : inner > 0));
        eg_mesh_summary_free(ctx, &summary);
        eg_text_free(&svg);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Where a point lies in a picture: (x + scale X, y - scale Y). */
typedef struct placing {
    double x, y, scale;
} placing;

/* Points of the mapping along the edges of a boundary, [edges][samples][2]. */
static size_t boundary_points(const eg_mesh *mesh, int boundary, int samples, double (*out)[2])
{
    size_t count = 0;
    eg_element *el = NULL;
    TEST_OK(mesh->ctx, eg_element_create(mesh->ctx, (eg_shape)mesh->shape[0], mesh->order,
                                         EG_BASIS_LOBATTO, &el));
    double s[64], r[2 * 64], *values = NULL, nodes[2 * 256];
    for (int i = 0; i < samples; i++)
        s[i] = -1 + 2.0 * i / (samples - 1);
    TEST_OK(mesh->ctx, eg_new(mesh->ctx, (size_t)(samples * el->np), &values));
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int f = 0; f < el->faces; f++) {
            if (mesh->neighbour[e * mesh->face_stride + f] != -1 - boundary) continue;
            eg_shape_face_points(el->shape, f, samples, s, r);
            TEST_OK(mesh->ctx, eg_element_evaluate(el, samples, r, values));
            eg_mesh_element_nodes(mesh, e, nodes);
            for (int i = 0; i < samples; i++, count++)
                for (int d = 0; d < 2; d++) {
                    out[count][d] = 0;
                    for (int k = 0; k < el->np; k++)
                        out[count][d] += values[i * el->np + k] * nodes[2 * k + d];
                }
        }
    eg_release(mesh->ctx, &values);
    eg_element_destroy(&el);
    return count;
}

/* The lower end of the ring goes from (1, 0) to (2, 0), the only level lines there are. */
static placing place_of(size_t count)
{
    double from = INFINITY, to = -INFINITY, level = NAN;
    for (size_t i = 0; i < count; i++) {
        if (!pieces[i].line || pieces[i].p[0][1] != pieces[i].p[3][1]) continue;
        from = fmin(from, fmin(pieces[i].p[0][0], pieces[i].p[3][0]));
        to = fmax(to, fmax(pieces[i].p[0][0], pieces[i].p[3][0]));
        level = pieces[i].p[0][1];
    }
    assert_true(to > from);
    return (placing){.scale = to - from, .x = from - (to - from), .y = level};
}

/* The curve that starts at a point. */
static const piece *find_piece(size_t count, double x, double y)
{
    for (size_t i = 0; i < count; i++)
        if (!pieces[i].line && hypot(pieces[i].p[0][0] - x, pieces[i].p[0][1] - y) < 0.03)
            return &pieces[i];
    fail_msg("no curve starts at (%g, %g)", x, y);
    return NULL;
}

static void test_picture__curves_up_to_order_3_are_the_mapping(void **state)
{
    (void)state;
    enum { SAMPLES = 9 };
    static double points[1000][2];
    eg_context *ctx = test_context();
    for (int order = 2; order <= 3; order++) {
        eg_mesh *mesh = test_box(
            ctx,
            &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {2, 7}, .order = order, .map = ring});
        eg_text svg = draw_svg(mesh, NULL);
        size_t count = boundary_points(mesh, 0, SAMPLES, points);
        count += boundary_points(mesh, 1, SAMPLES, points + count);
        assert_int_equal(count, 2 * 7 * SAMPLES);
        const size_t drawn = read_paths(eg_text_string(&svg), "boundary", pieces);
        const placing at = place_of(drawn);
        for (size_t i = 0; i < count; i++) {
            const double *from = points[i - i % SAMPLES];
            const piece *q =
                find_piece(drawn, at.x + at.scale * from[0], at.y - at.scale * from[1]);
            double x[2];
            piece_at(q, (double)(i % SAMPLES) / (SAMPLES - 1), x);
            TEST_NEAR(x[0], at.x + at.scale * points[i][0], 0.03);
            TEST_NEAR(x[1], at.y - at.scale * points[i][1], 0.03);
        }
        /* Each of the four boundaries is one line without a break. */
        assert_int_equal(count_of(eg_text_string(&svg), " boundary\""), 4);
        size_t breaks = 0;
        for (size_t i = 1; i < drawn; i++)
            breaks += pieces[i].p[0][0] != pieces[i - 1].p[3][0] ||
                      pieces[i].p[0][1] != pieces[i - 1].p[3][1];
        assert_true(breaks <= 3);
        eg_text_free(&svg);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* The distance of a point from the curves that are drawn. */
static double distance_from(const double *x, size_t count)
{
    enum { PARTS = 64 };
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < PARTS; k++) {
            double a[2], b[2];
            piece_at(&pieces[i], (double)k / PARTS, a);
            piece_at(&pieces[i], (k + 1.0) / PARTS, b);
            const double dx = b[0] - a[0], dy = b[1] - a[1];
            const double t = ((x[0] - a[0]) * dx + (x[1] - a[1]) * dy) / (dx * dx + dy * dy);
            const double s = fmin(fmax(t, 0), 1);
            least = fmin(least, hypot(a[0] + s * dx - x[0], a[1] + s * dy - x[1]));
        }
    return least;
}

static void test_picture__curves_of_any_order_follow_the_mapping_to_a_part_of_a_pixel(void **state)
{
    (void)state;
    enum { SAMPLES = 17 };
    static double points[1000][2];
    static const struct {
        eg_shape shape;
        int order;
    } rows[] = {{EG_SHAPE_TRI, 5}, {EG_SHAPE_TRI, 10}, {EG_SHAPE_QUAD, 8}, {EG_SHAPE_QUAD, 15}};
    eg_context *ctx = test_context();
    for (size_t k = 0; k < EG_COUNT(rows); k++) {
        /* An element goes three eighths of the way round. */
        eg_mesh *mesh = test_box(
            ctx, &(eg_box_options){
                     .shape = rows[k].shape, .cells = {1, 2}, .order = rows[k].order, .map = ring});
        eg_text svg = draw_svg(mesh, NULL);
        const size_t count = boundary_points(mesh, 1, SAMPLES, points);
        const size_t drawn = read_paths(eg_text_string(&svg), "boundary", pieces);
        assert_true(drawn > 6); /* as many as there are edges would be too coarse */
        const placing at = place_of(drawn);
        for (size_t i = 0; i < count; i++) {
            const double x[2] = {at.x + at.scale * points[i][0], at.y - at.scale * points[i][1]};
            assert_true(distance_from(x, drawn) < 0.12);
        }
        eg_text_free(&svg);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_picture__the_legend_names_every_boundary_with_its_faces(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = mixed_mesh(ctx, 6);
    eg_text svg = draw_svg(mesh, "Two & <one>");
    const char *text = eg_text_string(&svg);
    static const char *const parts[] = {
        ">Two &amp; &lt;one&gt;</title>",
        ">Two &amp; &lt;one&gt;</text>",
        ">wall &amp; &lt;floor&gt;</text>",
        ">10 faces</text>",
        ">lid</text>",
        ">6 faces</text>",
        ">12 triangles and 6 quadrilaterals of order 1, 16 faces on the boundary</text>",
        ">triangles</text>",
        ">quadrilaterals</text>",
        ">1.0</text>"};
    for (size_t i = 0; i < EG_COUNT(parts); i++)
        if (count_of(text, parts[i]) < 1) fail_msg("the picture lacks %s", parts[i]);
    assert_int_equal(count_of(text, " area\""), 2);
    assert_int_equal(count_of(text, " boundary\""), 2);
    assert_non_null(strstr(text, "prefers-color-scheme: dark"));
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* What the paths of a class enclose, in square pixels; clockwise on the screen is negative. */
static double enclosed(const char *svg, const char *class)
{
    const size_t count = read_paths(svg, class, pieces);
    double area = 0;
    for (size_t i = 0; i < count; i++)
        area +=
            0.5 * (pieces[i].p[3][0] * pieces[i].p[0][1] - pieces[i].p[0][0] * pieces[i].p[3][1]);
    return area;
}

static void test_picture__tints_cover_the_elements_of_their_shape(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int n = 1; n <= 6; n += 5) {
        eg_mesh *mesh = mixed_mesh(ctx, n);
        eg_text svg = draw_svg(mesh, NULL);
        const size_t count = read_paths(eg_text_string(&svg), "boundary", pieces);
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            low = fmin(low, pieces[i].p[0][0]);
            high = fmax(high, pieces[i].p[0][0]);
        }
        const double cell = (high - low) / n;
        TEST_NEAR(enclosed(eg_text_string(&svg), "area") / (2 * n * cell * cell), 1, 1e-4);
        /* Around each of the two rows once. */
        assert_int_equal(read_paths(eg_text_string(&svg), "area", pieces), 2 * (2 * n + 2));
        eg_text_free(&svg);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Two groups, each an area: around the left half and around the right one. */
static void test_picture__tints_cover_the_elements_of_their_group(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {4, 2}});
    eg_text plain = draw_svg(mesh, NULL);
    assert_int_equal(count_of(eg_text_string(&plain), " area\""), 1);
    divide_mesh(mesh);
    eg_text svg = draw_svg(mesh, NULL);
    assert_int_equal(count_of(eg_text_string(&svg), " area\""), 2);
    assert_int_equal(count_of(eg_text_string(&svg), ">left half</text>"), 1);
    assert_int_equal(count_of(eg_text_string(&svg), ">right half</text>"), 1);
    assert_int_equal(count_of(eg_text_string(&svg), ">4 elements</text>"), 2);
    assert_int_equal(read_paths(eg_text_string(&svg), "area", pieces), 2 * 8);
    const double both = enclosed(eg_text_string(&svg), "area");
    TEST_NEAR(both / enclosed(eg_text_string(&plain), "area"), 1, 1e-6);
    eg_text_free(&plain);
    eg_text_free(&svg);

    /* One group alone has no tint. */
    memset(mesh->group_of, 0, (size_t)mesh->element_count * sizeof *mesh->group_of);
    eg_release(ctx, &mesh->group[1]);
    mesh->group_count = 1;
    svg = draw_svg(mesh, NULL);
    assert_int_equal(count_of(eg_text_string(&svg), " area\""), 1);
    assert_null(strstr(eg_text_string(&svg), "left half"));
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* A hundred groups have a hundred areas, in colours that come back, and a legend of some of them. */
static void test_picture__more_groups_than_a_legend_is_of_use_for_are_counted(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {10, 10}});
    char names[100][8];
    const char *list[100];
    for (int g = 0; g < 100; g++) {
        snprintf(names[g], sizeof names[g], "g%d", g);
        list[g] = names[g];
    }
    TEST_OK(ctx, eg_new(ctx, 100, &mesh->group_of));
    TEST_OK(ctx, eg_mesh_copy_groups(mesh, 100, list));
    for (int32_t e = 0; e < 100; e++)
        mesh->group_of[e] = e;
    eg_text svg = draw_svg(mesh, NULL);
    assert_int_equal(count_of(eg_text_string(&svg), " area\""), 100);
    assert_int_equal(count_of(eg_text_string(&svg), ">1 element</text>"), 48);
    assert_int_equal(count_of(eg_text_string(&svg), ">g47</text>"), 1);
    assert_int_equal(count_of(eg_text_string(&svg), ">g48</text>"), 0);
    assert_int_equal(count_of(eg_text_string(&svg), ">Groups that are not named: 52.</text>"), 1);
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_picture__elements_that_are_bad_are_marked_and_shown_larger(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int n = 5; n <= 60; n += 55) {
        const eg_box_options o = {.shape = EG_SHAPE_QUAD, .cells = {n, n}};
        eg_mesh *mesh = test_box(ctx, &o);
        bool *bad = calloc((size_t)mesh->element_count, sizeof *bad);
        assert_non_null(bad);
        bad[n + 1] = bad[n + 2] = true; /* beside each other */
        eg_text svg = eg_text_new(ctx), plain = draw_svg(mesh, NULL);
        write_picture(mesh, &(eg_mesh_picture_options){.bad = bad}, &svg);
        const char *text = eg_text_string(&svg);
        const int views = n == 60 ? 2 : 1;
        assert_int_equal(count_of(text, "the part in the frame"), views - 1);
        assert_null(strstr(eg_text_string(&plain), "the part in the frame"));
        assert_int_equal(count_of(text, ">not valid</text>"), 1);
        assert_int_equal(count_of(text, ">2 elements</text>"), 1);
        assert_int_equal(read_paths(text, "bad", pieces), views * 6);
        assert_int_equal(read_paths(text, "bad-area", pieces), views * 6);
        if (views == 1)
            TEST_NEAR(enclosed(text, "bad-area") / enclosed(text, "area"), 2.0 / (n * n), 1e-4);
        assert_null(strstr(eg_text_string(&plain), "not valid"));
        eg_text_free(&plain);
        eg_text_free(&svg);
        free(bad);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Names that are longer than the picture is wide are cut, and nothing stands outside. */
static void test_picture__texts_stay_inside_whatever_the_width(void **state)
{
    (void)state;
    static const int widths[] = {EG_PICTURE_WIDTH_LEAST, 500, EG_PICTURE_WIDTH_MOST};
    static const char *const names[] = {
        "a boundary with a name that is longer than any narrow picture can be wide, by far, really",
        "b"};
    eg_context *ctx = test_context();
    eg_mesh *mesh = mixed_mesh(ctx, 4);
    for (int b = 0; b < 2; b++) {
        eg_release(ctx, &mesh->boundary[b]);
        TEST_OK(ctx, eg_copy_string(ctx, names[b], &mesh->boundary[b]));
    }
    for (size_t i = 0; i < EG_COUNT(widths); i++) {
        eg_text svg = eg_text_new(ctx);
        write_picture(mesh, &(eg_mesh_picture_options){.width = widths[i], .title = names[0]},
                      &svg);
        const char *text = eg_text_string(&svg);
        assert_true(attribute(text, "width") == widths[i]);
        const double height = attribute(text, "height");
        for (const char *t = strstr(text, "<text "); t; t = strstr(t + 1, "<text ")) {
            const char *from = strchr(t, '>') + 1, *to = strchr(from, '<');
            const double width = 0.005 * attribute(t, "font-size") * (double)(to - from);
            const double x = 0.01 * attribute(t, "x"), y = 0.01 * attribute(t, "y");
            const bool end = strstr(t, "\"end\"") && strstr(t, "\"end\"") < from;
            assert_true(y > 10 && y < height - 4);
            assert_true(end ? x - width > -1 : x + 0.8 * width < widths[i] + 1);
        }
        assert_int_equal(count_of(text, "...</text>") > 0, widths[i] < 1000);
        eg_text_free(&svg);
    }
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_picture__a_fine_mesh_is_a_small_file_that_says_so(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {170, 170}});
    eg_text svg = draw_svg(mesh, NULL);
    assert_true(svg.length < 400000);
    assert_int_equal(read_paths(eg_text_string(&svg), "edges", pieces), 0);
    assert_true(read_paths(eg_text_string(&svg), "squares", pieces) > 200);
    assert_int_equal(read_paths(eg_text_string(&svg), "boundary", pieces), 4 * 170);
    assert_non_null(strstr(eg_text_string(&svg), "the darker, the finer"));
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    /* One that has few edges is drawn edge by edge, and says nothing. */
    mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {80, 80}});
    svg = draw_svg(mesh, NULL);
    assert_true(svg.length < 400000);
    assert_int_equal(read_paths(eg_text_string(&svg), "edges", pieces), 3 * 80 * 80 - 160);
    assert_null(strstr(eg_text_string(&svg), "the darker, the finer"));
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* Makes the first boundary face that is found one of a new boundary. */
static void add_probe(eg_mesh *mesh)
{
    TEST_OK(mesh->ctx,
            eg_reallocate(mesh->ctx, 5 * sizeof *mesh->boundary, (void **)&mesh->boundary));
    TEST_OK(mesh->ctx, eg_copy_string(mesh->ctx, "probe", &mesh->boundary[4]));
    mesh->boundary_count = 5;
    for (int64_t i = 0; i < (int64_t)mesh->element_count * mesh->face_stride; i++)
        if (mesh->neighbour[i] < 0) {
            mesh->neighbour[i] = -1 - 4;
            return;
        }
}

static void test_picture__a_small_boundary_is_shown_once_more_and_larger(void **state)
{
    (void)state;
    enum { CELLS = 30, EDGES = 2 * CELLS * (CELLS - 1) };
    eg_context *ctx = test_context();
    eg_mesh *mesh =
        test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {CELLS, CELLS}});
    eg_text svg = draw_svg(mesh, NULL);
    assert_null(strstr(eg_text_string(&svg), "times larger"));
    eg_text_free(&svg);
    add_probe(mesh);
    svg = draw_svg(mesh, NULL);
    assert_non_null(strstr(eg_text_string(&svg), "the part in the frame, 1"));
    assert_int_equal(count_of(eg_text_string(&svg), "<clipPath"), 2);
    /* The second plot has what is in it and not the whole mesh once more. */
    const size_t inner = read_paths(eg_text_string(&svg), "edges", pieces);
    assert_in_range(inner, EDGES + 2, EDGES + 12);
    const size_t boundary = read_paths(eg_text_string(&svg), "boundary", pieces);
    assert_in_range(boundary, 4 * CELLS + 2, 4 * CELLS + 6);
    /* The last one is the new one, half as wide as the plot. */
    const piece *last = &pieces[boundary - 1];
    const double size = hypot(last->p[3][0] - last->p[0][0], last->p[3][1] - last->p[0][1]);
    assert_in_range(size, 150, 450);
    /* The frame is dashed, unlike every line of the mesh. */
    const size_t dashes = read_paths(eg_text_string(&svg), "detail", pieces);
    assert_in_range(dashes, 12, 100);
    for (size_t i = 0; i < dashes; i++)
        assert_true(hypot(pieces[i].p[3][0] - pieces[i].p[0][0],
                          pieces[i].p[3][1] - pieces[i].p[0][1]) < 8);
    eg_text_free(&svg);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_picture__what_would_not_become_5_times_larger_is_not_shown_again(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int cells = 9; cells <= 11; cells += 2) {
        eg_mesh *mesh =
            test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {cells, cells}});
        add_probe(mesh);
        eg_text svg = draw_svg(mesh, NULL);
        const char *found = strstr(eg_text_string(&svg), "the part in the frame, ");
        if (cells == 9)
            assert_null(found);
        else
            assert_true(found && strtod(found + strlen("the part in the frame, "), NULL) >= 5);
        eg_text_free(&svg);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_picture__each_axis_of_a_thin_mesh_has_two_numbers(void **state)
{
    (void)state;
    static const double heights[] = {1e-3, 0.2, 0.7, 1, 3};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(heights); i++)
        for (int low = 0; low < 2; low++) {
            const double y = low * 7.3;
            eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                            .cells = {50, 1},
                                                            .low = {0, y},
                                                            .high = {50, y + heights[i]}});
            eg_text svg = draw_svg(mesh, NULL);
            assert_in_range(count_of(eg_text_string(&svg), "text-anchor=\"end\""), 2, 5);
            assert_in_range(count_of(eg_text_string(&svg), "text-anchor=\"middle\""), 2, 12);
            /* Where there is room they tell how high it is. */
            if (heights[i] == 1 && !low)
                assert_non_null(strstr(eg_text_string(&svg), "text-anchor=\"end\">1<"));
            eg_text_free(&svg);
            eg_mesh_destroy(&mesh);
        }
    test_context_free(&ctx);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void test_picture__refuses_widths_and_parts_of_meshes(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {2, 2}});
    eg_text out = eg_text_new(ctx);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "240 to 4096 pixels wide, not 100",
               eg_mesh_picture_write(mesh, &(eg_mesh_picture_options){.width = 100}, &out));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "not -3",
               eg_mesh_picture_write(mesh, &(eg_mesh_picture_options){.width = -3}, &out));
    mesh->global_count = 5;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "only a whole mesh",
               eg_mesh_picture_write(mesh, &(eg_mesh_picture_options){0}, &out));
    assert_int_equal(out.length, 0);
    eg_text_free(&out);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* Draws a mesh that is made while no allocation fails. */
typedef struct sweep {
    eg_picture_format format;
    eg_box_options box;
    bool divided; /* into groups, and one element is bad */
} sweep;

static eg_status draw_box(eg_context *ctx, void *user)
{
    const sweep *s = user;
    const test_allocator armed = test_memory;
    test_allocator_arm(0, false);
    eg_mesh *mesh = test_box(ctx, &s->box);
    const bool bad[16] = {true};
    assert_in_range(mesh->element_count, 1, EG_COUNT(bad));
    if (s->divided) divide_mesh(mesh);
    test_allocator_arm(armed.fail_at, armed.persist);
    eg_text out = eg_text_new(ctx);
    const eg_mesh_picture_options options = {
        .format = s->format, .width = 240, .bad = s->divided ? bad : NULL};
    const eg_status status = eg_mesh_picture_write(mesh, &options, &out);
    eg_text_free(&out);
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_picture__survives_every_failing_allocation(void **state)
{
    (void)state;
    sweep rows[] = {
        {EG_PICTURE_SVG, {.shape = EG_SHAPE_TRI, .cells = {2, 2}, .order = 4, .map = ring}, true},
        {EG_PICTURE_SVG,
         {.shape = EG_SHAPE_HEX, .cells = {1, 1, 1}, .order = 2, .map = bend},
         false},
        {EG_PICTURE_SVG, {.shape = EG_SHAPE_TET, .cells = {1, 1, 1}}, true},
#ifdef EG_HAVE_PNG
        {EG_PICTURE_PNG, {.shape = EG_SHAPE_TET, .cells = {1, 1, 1}}, false},
#endif
    };
    for (size_t i = 0; i < EG_COUNT(rows); i++)
        test_allocation_sweep(draw_box, &rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picture__every_edge_is_drawn_once),
        cmocka_unit_test(test_picture__curves_up_to_order_3_are_the_mapping),
        cmocka_unit_test(test_picture__curves_of_any_order_follow_the_mapping_to_a_part_of_a_pixel),
        cmocka_unit_test(test_picture__the_legend_names_every_boundary_with_its_faces),
        cmocka_unit_test(test_picture__tints_cover_the_elements_of_their_shape),
        cmocka_unit_test(test_picture__tints_cover_the_elements_of_their_group),
        cmocka_unit_test(test_picture__more_groups_than_a_legend_is_of_use_for_are_counted),
        cmocka_unit_test(test_picture__elements_that_are_bad_are_marked_and_shown_larger),
        cmocka_unit_test(test_picture__texts_stay_inside_whatever_the_width),
        cmocka_unit_test(test_picture__a_fine_mesh_is_a_small_file_that_says_so),
        cmocka_unit_test(test_picture__a_small_boundary_is_shown_once_more_and_larger),
        cmocka_unit_test(test_picture__what_would_not_become_5_times_larger_is_not_shown_again),
        cmocka_unit_test(test_picture__each_axis_of_a_thin_mesh_has_two_numbers),
        cmocka_unit_test(test_picture__refuses_widths_and_parts_of_meshes),
        cmocka_unit_test(test_picture__survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
