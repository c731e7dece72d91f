/* Faces that are in no group: which vertices hang on them, straight, curved and thin ones; flat
 * meshes in every oblique plane; and what is said of periodic faces that have no partners. */
#include "meshes.h"

#include "mesh/gmsh/file.h"

/* A file of version 2.2 without groups: lines of nodes 1, 2, …, and of elements. */
static eg_status read_bare(eg_context *ctx, const char *nodes, const char *elements,
                           const char *rest, eg_text *report, eg_mesh **mesh)
{
    eg_status status = EG_OK;
    const char *const lines[2] = {nodes, elements}, *const section[2] = {"Nodes", "Elements"};
    eg_gmsh_file *file = NULL;
    eg_text text = eg_text_new(ctx);
    *mesh = NULL;
    EG_TRY(eg_text_puts(&text, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"));
    for (int s = 0; s < 2; s++) {
        int count = 0, number = 0;
        for (const char *c = lines[s]; *c; c++)
            count += *c == '\n';
        EG_TRY(eg_text_printf(&text, "$%s\n%d\n", section[s], count));
        for (const char *at = lines[s]; *at; at = strchr(at, '\n') + 1)
            EG_TRY(eg_text_printf(&text, "%d %.*s\n", ++number, (int)strcspn(at, "\n"), at));
        EG_TRY(eg_text_printf(&text, "$End%s\n", section[s]));
    }
    EG_TRY(eg_text_puts(&text, rest));
    EG_TRY(eg_gmsh_open_bytes(ctx, "bare.msh", eg_text_string(&text), text.length, &file));
    EG_TRY(eg_gmsh_assemble(file, &(eg_gmsh_options){.report = report}, mesh));
done:
    eg_gmsh_close(&file);
    eg_text_free(&text);
    return status;
}

typedef struct bare {
    const char *nodes, *elements;
    const char *part; /* of the message; NULL: it is a mesh */
} bare;

static void expect(size_t count, const bare *cases)
{
    eg_context *ctx = test_context();
    for (size_t i = 0; i < count; i++) {
        eg_mesh *mesh = NULL;
        eg_text report = eg_text_new(ctx);
        eg_status status = read_bare(ctx, cases[i].nodes, cases[i].elements, "", &report, &mesh);
        const char *message = eg_context_error(ctx);
        if (cases[i].part ? status != EG_ERROR_INPUT || !strstr(message, cases[i].part)
                          : status != EG_OK)
            fail_msg("case %zu: %s: %s", i, eg_status_text(status),
                     status == EG_OK ? "it is taken for a mesh" : message);
        eg_mesh_destroy(&mesh);
        eg_text_free(&report);
    }
    test_context_free(&ctx);
}

/* --- hanging nodes ---------------------------------------------------------------------------- */

/* A square whose right side is bent to x = 1 + 0.4 y (1 - y), beside two squares of half its height
 * that follow it, or leave a gap. */
#define BENT "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 0 0\n1.1 0.5 0\n0.5 1 0\n0 0.5 0\n0.55 0.5 0\n"
#define BESIDE(x, y)                                                                               \
    "2 0 0\n2 0.5 0\n1.5 0 0\n2 0.25 0\n1.55 0.5 0\n" y " 0.25 0\n1.5375 0.25 0\n2 1 0\n"          \
    "2 0.75 0\n1.5 1 0\n" y " 0.75 0\n1.5375 0.75 0\n" x " 0.5 0\n1.01 0 0\n1.01 1 0\n"
#define ONE_BENT "10 0 1 2 3 4 5 6 7 8 9\n"

static void test_faces__a_vertex_hangs_on_a_curved_face_if_it_lies_on_the_curve(void **state)
{
    (void)state;
    static const bare cases[] = {
        {BENT BESIDE("1.1", "1.075"),
         ONE_BENT "10 0 2 10 11 22 12 13 14 15 16\n10 0 22 11 17 3 14 18 19 20 21\n",
         "element 1 (quadrilateral) with its centre at (0.5, 0.5) has a hanging node: "
         "the vertex "
         "of "
         "element 2 at (1.1, 0.5) lies on its face at (1, 0.5)"},
        {BENT BESIDE("1.13", "1.09"),
         ONE_BENT "10 0 23 10 11 22 12 13 14 15 16\n10 0 22 11 17 24 14 18 19 20 21\n", NULL},
        /* a tetrahedron below z = x²/4 + y²/4, and one whose top lies there, or a little lower */
        {"0 0 0\n1 0 0.25\n0 1 0.25\n0 0 1\n0.5 0 0.0625\n0.5 0.5 0.125\n0 0.5 0.0625\n0 0 0.5\n"
         "0 0.5 0.625\n0.5 0 0.625\n0.2 0.4 0.05\n0 0 -2\n1 0 -2\n0 1 -2\n"
         "0.1 0.2 -0.975\n0.5 0 -2\n0.6 0.2 -0.975\n0 0.5 -2\n0.5 0.5 -2\n0.1 0.7 -0.975\n",
         "11 0 1 2 3 4 5 6 7 8 9 10\n11 0 11 12 13 14 15 16 17 20 19 18\n",
         "the vertex of element 2 at (0.2, 0.4, 0.05) lies on its face"},
        {"0 0 0\n1 0 0.25\n0 1 0.25\n0 0 1\n0.5 0 0.0625\n0.5 0.5 0.125\n0 0.5 0.0625\n0 0 0.5\n"
         "0 0.5 0.625\n0.5 0 0.625\n0.2 0.4 0.049\n0 0 -2\n1 0 -2\n0 1 -2\n"
         "0.1 0.2 -0.975\n0.5 0 -2\n0.6 0.2 -0.975\n0 0.5 -2\n0.5 0.5 -2\n0.1 0.7 -0.975\n",
         "11 0 1 2 3 4 5 6 7 8 9 10\n11 0 11 12 13 14 15 16 17 20 19 18\n", NULL},
    };
    expect(EG_COUNT(cases), cases);
}

/* The lower side of the first hexahedron is z = -x y/5, which is neither of two triangles. */
#define WARPED                                                                                     \
    "0 0 0\n1 0 0\n1 1 -0.2\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"                                  \
    "0.5 0.5 -2\n1.5 0.5 -2\n1.5 1.5 -2\n0.5 1.5 -2\n1.5 0.5 -1\n1.5 1.5 -1\n0.5 1.5 -1\n"
#define TWO_HEXAHEDRA "5 0 1 2 3 4 5 6 7 8\n5 0 9 10 11 12 16 13 14 15\n"

static void test_faces__a_vertex_hangs_on_the_side_of_a_hexahedron_if_it_lies_on_it(void **state)
{
    (void)state;
    static const bare cases[] = {
        {WARPED "0.5 0.5 -0.05\n", TWO_HEXAHEDRA,
         "the vertex of element 2 at (0.5, 0.5, -0.05) lies on its face"},
        {WARPED "0.5 0.5 -0.1\n", TWO_HEXAHEDRA, NULL},
    };
    expect(EG_COUNT(cases), cases);
}

static void test_faces__thin_elements_hang_on_nothing_but_what_they_hang_on(void **state)
{
    (void)state;
#define STACK "0 0 0\n1 0 0\n0 1e-9 0\n1 1e-9 0\n0 2e-9 0\n1 2e-9 0\n"
#define PLATES                                                                                     \
    "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1e-9\n1 0 1e-9\n1 1 1e-9\n0 1 1e-9\n"                         \
    "0 0 2e-9\n1 0 2e-9\n1 1 2e-9\n0 1 2e-9\n"
    static const bare cases[] = {
        {"0 0 0\n1 0 0\n1 1e-9 0\n0 1e-9 0\n", "3 0 1 2 3 4\n", NULL},
        {"0 0 0\n1 0 0\n0.4 1e-9 0\n", "2 0 1 2 3\n", NULL},
        {STACK, "3 0 1 2 4 3\n3 0 3 4 6 5\n", NULL},
        {STACK, "2 0 1 2 3\n2 0 2 4 3\n2 0 3 4 6\n2 0 3 6 5\n", NULL},
        {PLATES, "5 0 1 2 3 4 5 6 7 8\n5 0 5 6 7 8 9 10 11 12\n", NULL},
        {STACK "0.5 0 0\n0 -1e-9 0\n0.5 -1e-9 0\n1 -1e-9 0\n",
         "3 0 1 2 4 3\n3 0 8 9 7 1\n3 0 9 10 2 7\n",
         "element 1 (quadrilateral) with its centre at (0.5, 5e-10) has a hanging node: "
         "the vertex "
         "of element 2 at (0.5, 0) lies on its face at (0.5, 0)"},
        {STACK "2 0 0\n2 1e-9 0\n1 5e-10 0\n2 5e-10 0\n",
         "3 0 1 2 4 3\n3 0 2 7 10 9\n3 0 9 10 8 4\n",
         "the vertex of element 2 at (1, 5e-10) lies on its face"},
    };
    expect(EG_COUNT(cases), cases);
}

/* --- planes ----------------------------------------------------------------------------------- */

/* How far two vertices of the first element are apart. */
static double separation(const eg_mesh *mesh, int v, int w)
{
    const double *x = &mesh->x[2 * mesh->vertices[v]], *y = &mesh->x[2 * mesh->vertices[w]];
    return hypot(x[0] - y[0], x[1] - y[1]);
}

/* The corners of a rectangle in the plane with that normal; seen from its end they run
 * counter-clockwise. */
static void put_rectangle(const double normal[3], double corner[4][3])
{
    const double across = hypot(normal[0], normal[1]);
    const double u[3] = {-normal[1] / across, normal[0] / across, 0.0};
    for (int d = 0; d < 3; d++) {
        const double v =
            normal[(d + 1) % 3] * u[(d + 2) % 3] - normal[(d + 2) % 3] * u[(d + 1) % 3];
        corner[0][d] = 1.0 + d;
        corner[1][d] = corner[0][d] + 3.0 * u[d];
        corner[2][d] = corner[1][d] + 2.0 * v;
        corner[3][d] = corner[0][d] + 2.0 * v;
    }
}

static void test_faces__flat_meshes_lie_in_any_oblique_plane_and_keep_their_side(void **state)
{
    (void)state;
    static const double part[3] = {2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0};
    static const int axis[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    eg_context *ctx = test_context();
    for (int i = 0; i < 48; i++) {
        double normal[3], corner[4][3];
        eg_mesh *mesh = NULL;
        eg_text report = eg_text_new(ctx), nodes = eg_text_new(ctx);
        for (int d = 0; d < 3; d++)
            normal[axis[i / 8][d]] = (i >> d & 1 ? -1.0 : 1.0) * part[d];
        put_rectangle(normal, corner);
        for (int v = 0; v < 4; v++)
            TEST_OK(ctx, eg_text_printf(&nodes, "%.17g %.17g %.17g\n", corner[v][0], corner[v][1],
                                        corner[v][2]));
        TEST_OK(ctx, read_bare(ctx, eg_text_string(&nodes), "3 0 1 2 3 4\n", "", &report, &mesh));
        assert_non_null(strstr(eg_text_string(&report), "oblique plane"));
        assert_int_equal(mesh->dim, 2);
        /* The mesh is seen from where the normal's largest part is positive. */
        assert_int_equal(strstr(eg_text_string(&report), "turned over") != NULL, i >> 2 & 1);
        TEST_NEAR(separation(mesh, 0, 2), sqrt(13.0), 1e-14);
        TEST_NEAR(separation(mesh, 1, 3), sqrt(13.0), 1e-14);
        TEST_NEAR(separation(mesh, 0, 1) * separation(mesh, 1, 2), 6.0, 1e-14);
        eg_mesh_destroy(&mesh);
        eg_text_free(&nodes);
        eg_text_free(&report);
    }
    test_context_free(&ctx);
}

/* --- periods ---------------------------------------------------------------------------------- */

static void test_faces__periods_without_partners_are_named_by_their_entities(void **state)
{
    (void)state;
    static const char nodes[] = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
    static const char elements[] = "1 2 1 1 1 2\n1 2 2 2 2 3\n1 2 3 3 3 4\n1 2 4 4 4 1\n"
                                   "3 2 9 1 1 2 3 4\n";
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    eg_text report = eg_text_new(ctx);
    TEST_FAILS(
        ctx, EG_ERROR_INPUT,
        "\"curve 77, master of curve 2\" has 0 faces and \"curve 2, copy of curve 77\" has 1",
        read_bare(ctx, nodes, elements, "$Periodic\n1\n1 2 77\n2\n2 1\n3 4\n$EndPeriodic\n",
                  &report, &mesh));
    eg_text_free(&report);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faces__a_vertex_hangs_on_a_curved_face_if_it_lies_on_the_curve),
        cmocka_unit_test(test_faces__a_vertex_hangs_on_the_side_of_a_hexahedron_if_it_lies_on_it),
        cmocka_unit_test(test_faces__thin_elements_hang_on_nothing_but_what_they_hang_on),
        cmocka_unit_test(test_faces__flat_meshes_lie_in_any_oblique_plane_and_keep_their_side),
        cmocka_unit_test(test_faces__periods_without_partners_are_named_by_their_entities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
