/* Pictures of meshes: every edge once and where the mapping has it, every boundary in the legend
 * and in its colour, hidden faces hidden, files that stay small. */
#include "meshes.h"
#include "svg.h"

#include "report/mesh_drawing.h"
#include "report/palette.h"

#ifdef EG_HAVE_PNG
#include <png.h>
#endif

static void write_picture(const eg_mesh *mesh, const eg_mesh_picture_options *options, eg_text *out)
{
    TEST_OK(mesh->ctx, eg_mesh_picture_write(mesh, options, out));
}

/* The SVG of a mesh, well-formed. */
static eg_text draw_svg(const eg_mesh *mesh, const char *title)
{
    eg_text svg = eg_text_new(mesh->ctx);
    write_picture(mesh, &(eg_mesh_picture_options){.title = title}, &svg);
    assert_well_formed(eg_text_string(&svg));
    assert_null(strstr(eg_text_string(&svg), "nan"));
    assert_null(strstr(eg_text_string(&svg), "inf\""));
    return svg;
}

/* --- paths ------------------------------------------------------------------------------------ */

/* A piece of a path: three numbers of control points, or a line as such a curve. In pixels. */
typedef struct piece {
    double p[4][2];
    bool line;
} piece;

enum { PIECES_MOST = 40000 };

/* The pieces of all paths of a class, in their order. */
static size_t read_paths(const char *svg, const char *class, piece *pieces)
{
    char wanted[64];
    size_t count = 0;
    const double unit = attribute(svg, "width") / strtod(strstr(svg, "viewBox=\"0 0 ") + 13, NULL);
    snprintf(wanted, sizeof wanted, " %s\"", class);
    for (const char *s = strstr(svg, "<path"); s; s = strstr(s + 1, "<path")) {
        const char *found = strstr(s, wanted), *d = strstr(s, " d=\"") + 4;
        if (!found || found > d) continue;
        double at[2] = {0};
        while (*d != '"') {
            const char letter = *d++;
            const int points = letter == 'c' ? 3 : 1;
            piece q = {.line = letter == 'l'};
            if (letter == 'z') continue;
            assert_true(letter == 'm' || letter == 'l' || letter == 'c');
            for (int i = 0; i <= points; i++)
                for (int k = 0; k < 2; k++)
                    q.p[i][k] = i == 0 ? at[k] : at[k] + unit * strtod(d, (char **)&d);
            memcpy(at, q.p[points], sizeof at);
            if (letter == 'm') continue;
            if (letter == 'l') {
                memcpy(q.p[3], q.p[1], sizeof at);
                for (int i = 1; i < 3; i++)
                    for (int k = 0; k < 2; k++)
                        q.p[i][k] = q.p[0][k] + i / 3.0 * (q.p[3][k] - q.p[0][k]);
            }
            assert_true(count < PIECES_MOST);
            pieces[count++] = q;
        }
    }
    return count;
}

static void piece_at(const piece *q, double t, double x[2])
{
    const double s = 1 - t;
    for (int k = 0; k < 2; k++)
        x[k] = s * s * s * q->p[0][k] + 3 * s * s * t * q->p[1][k] + 3 * s * t * t * q->p[2][k] +
               t * t * t * q->p[3][k];
}

static piece pieces[PIECES_MOST];

/* --- meshes ----------------------------------------------------------------------------------- */

static eg_status ring(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const double r = 1 + X[2 * i], angle = 1.5 * acos(-1) * X[2 * i + 1];
        x[2 * i] = r * cos(angle);
        x[2 * i + 1] = r * sin(angle);
    }
    return EG_OK;
}

static eg_status bend(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const double r = 1 + X[3 * i], angle = 1.2 * X[3 * i + 1];
        x[3 * i] = r * cos(angle);
        x[3 * i + 1] = r * sin(angle);
        x[3 * i + 2] = X[3 * i + 2];
    }
    return EG_OK;
}

/* A row of quadrilaterals below a row of pairs of triangles. */
static eg_mesh *mixed_mesh(eg_context *ctx, int n)
{
    static const char *const names[] = {"wall & <floor>", "lid"};
    const int count = 3 * n;
    int32_t boundary[4 * 3 * 8] = {0};
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_allocate(&(eg_mesh){.ctx = ctx,
                                             .dim = 2,
                                             .vertex_count = 3 * (n + 1),
                                             .element_count = count,
                                             .interior_count = count,
                                             .global_count = count,
                                             .vertex_stride = 4,
                                             .face_stride = 4,
                                             .order = 1,
                                             .node_stride = 4},
                                  &mesh));
    for (int v = 0; v < 3 * (n + 1); v++) {
        mesh->x[2 * v] = v % (n + 1);
        mesh->x[2 * v + 1] = v / (n + 1);
    }
    for (int i = 0; i < n; i++) {
        const int v = i, w = n + 1 + i, u = 2 * n + 2 + i;
        const int corners[3][4] = {{v, v + 1, w + 1, w}, {w, w + 1, u + 1}, {w, u + 1, u}};
        for (int k = 0; k < 3; k++) {
            const int e = 3 * i + k;
            mesh->shape[e] = k == 0 ? EG_SHAPE_QUAD : EG_SHAPE_TRI;
            mesh->global[e] = e;
            for (int c = 0; c < 4; c++)
                mesh->vertices[4 * e + c] = corners[k][c];
            for (int f = 0; f < 4; f++)
                boundary[4 * e + f] = k == 2 && f == 1;
        }
    }
    TEST_OK(ctx, eg_mesh_copy_boundaries(mesh, 2, names));
    TEST_OK(ctx, eg_mesh_connect(mesh, boundary));
    return mesh;
}

/* 3 × 3 × 3 cubes without the one in the middle, whose faces are a boundary of their own. */
static eg_mesh *hollow_mesh(eg_context *ctx)
{
    static const char *const names[] = {"hull", "void"};
    int32_t boundary[6 * 26] = {0};
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_allocate(&(eg_mesh){.ctx = ctx,
                                             .dim = 3,
                                             .vertex_count = 64,
                                             .element_count = 26,
                                             .interior_count = 26,
                                             .global_count = 26,
                                             .vertex_stride = 8,
                                             .face_stride = 6,
                                             .order = 1,
                                             .node_stride = 8},
                                  &mesh));
    for (int v = 0; v < 64; v++)
        for (int d = 0; d < 3; d++)
            mesh->x[3 * v + d] = v >> 2 * d & 3;
    for (int cube = 0, e = 0; cube < 27; cube++) {
        const int at[3] = {cube % 3, cube / 3 % 3, cube / 9};
        if (cube == 13) continue;
        for (int c = 0; c < 8; c++) {
            const double *r = eg_shape_get_info(EG_SHAPE_HEX)->r[c];
            mesh->vertices[8 * e + c] =
                at[0] + (r[0] > 0) + 4 * (at[1] + (r[1] > 0)) + 16 * (at[2] + (r[2] > 0));
        }
        mesh->shape[e] = EG_SHAPE_HEX;
        mesh->global[e] = e;
        for (int f = 0; f < 6; f++) {
            double centre[3];
            eg_mesh_face_centre(mesh, e, f, centre);
            boundary[6 * e + f] =
                fabs(centre[0] - 1.5) < 1 && fabs(centre[1] - 1.5) < 1 && fabs(centre[2] - 1.5) < 1;
        }
        e++;
    }
    TEST_OK(ctx, eg_mesh_copy_boundaries(mesh, 2, names));
    TEST_OK(ctx, eg_mesh_connect(mesh, boundary));
    return mesh;
}

/* --- in the plane ----------------------------------------------------------------------------- */

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
        eg_release(ctx, &summary.boundary_face_count);
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

/* --- in space --------------------------------------------------------------------------------- */

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
} sweep;

static eg_status draw_box(eg_context *ctx, void *user)
{
    const sweep *s = user;
    const test_allocator armed = test_memory;
    test_allocator_arm(0, false);
    eg_mesh *mesh = test_box(ctx, &s->box);
    test_allocator_arm(armed.fail_at, armed.persist);
    eg_text out = eg_text_new(ctx);
    const eg_mesh_picture_options options = {.format = s->format, .width = 240};
    const eg_status status = eg_mesh_picture_write(mesh, &options, &out);
    eg_text_free(&out);
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_picture__survives_every_failing_allocation(void **state)
{
    (void)state;
    sweep rows[] = {
        {EG_PICTURE_SVG, {.shape = EG_SHAPE_TRI, .cells = {2, 2}, .order = 4, .map = ring}},
        {EG_PICTURE_SVG, {.shape = EG_SHAPE_HEX, .cells = {1, 1, 1}, .order = 2, .map = bend}},
#ifdef EG_HAVE_PNG
        {EG_PICTURE_PNG, {.shape = EG_SHAPE_TET, .cells = {1, 1, 1}}},
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
        cmocka_unit_test(test_picture__texts_stay_inside_whatever_the_width),
        cmocka_unit_test(test_picture__a_fine_mesh_is_a_small_file_that_says_so),
        cmocka_unit_test(test_picture__a_small_boundary_is_shown_once_more_and_larger),
        cmocka_unit_test(test_picture__what_would_not_become_5_times_larger_is_not_shown_again),
        cmocka_unit_test(test_picture__each_axis_of_a_thin_mesh_has_two_numbers),
        cmocka_unit_test(test_picture__a_surface_shows_each_face_of_a_convex_mesh_once),
        cmocka_unit_test(test_picture__near_faces_are_drawn_after_far_ones),
        cmocka_unit_test(test_picture__what_the_hull_hides_is_left_out_and_named),
        cmocka_unit_test(test_picture__a_fine_surface_is_a_small_file_that_says_so),
#ifdef EG_HAVE_PNG
        cmocka_unit_test(test_picture__pixels_of_boundaries_lie_where_the_boundaries_are),
        cmocka_unit_test(test_picture__each_side_of_a_box_is_seen_from_one_side),
#else
        cmocka_unit_test(test_picture__a_build_without_libpng_says_so),
#endif
        cmocka_unit_test(test_picture__refuses_widths_and_parts_of_meshes),
        cmocka_unit_test(test_picture__survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
