/* Meshes from the tables of Gmsh files: groups become boundaries, curved elements keep their form,
 * what can be repaired is repaired and said, and everything that is no mesh is refused by name. */
#include "meshes.h"

#include "mesh/gmsh/file.h"
#include "mesh/gmsh/near.h"

/* --- small files ------------------------------------------------------------------------------ */

/* A file by its lines: coordinates of nodes 1, 2, …; "TYPE GROUP ENTITY NODES" of elements 1, 2, …
 * */
typedef struct small_file {
    const char *names, *nodes, *elements, *rest;
} small_file;

static eg_status put_lines(eg_text *text, const char *section, const char *lines)
{
    eg_status status = EG_OK;
    int count = 0;
    for (const char *c = lines; *c; c++)
        count += *c == '\n';
    EG_TRY(eg_text_printf(text, "$%s\n%d\n", section, count));
    const bool numbered = strcmp(section, "PhysicalNames") != 0;
    const bool elements = strcmp(section, "Elements") == 0;
    for (int i = 1; *lines; i++) {
        const char *end = strchr(lines, '\n');
        int type = 0, used = 0;
        if (numbered) EG_TRY(eg_text_printf(text, "%d ", i));
        if (elements) {
            assert_int_equal(sscanf(lines, "%d%n", &type, &used), 1);
            EG_TRY(eg_text_printf(text, "%d 2", type));
        }
        EG_TRY(eg_text_add(text, lines + used, (size_t)(end + 1 - lines - used)));
        lines = end + 1;
    }
    EG_TRY(eg_text_printf(text, "$End%s\n", section));
done:
    return status;
}

static eg_status open_small(eg_context *ctx, const small_file *small, eg_gmsh_file **file)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    *file = NULL;
    EG_TRY(eg_text_puts(&text, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"));
    if (small->names) EG_TRY(put_lines(&text, "PhysicalNames", small->names));
    EG_TRY(put_lines(&text, "Nodes", small->nodes));
    EG_TRY(put_lines(&text, "Elements", small->elements));
    if (small->rest) EG_TRY(eg_text_puts(&text, small->rest));
    EG_TRY(eg_gmsh_open_bytes(ctx, "small.msh", eg_text_string(&text), text.length, file));
done:
    eg_text_free(&text);
    return status;
}

static eg_status read_small(eg_context *ctx, const small_file *small,
                            const eg_gmsh_options *options, eg_mesh **mesh)
{
    eg_status status = EG_OK;
    eg_gmsh_file *file = NULL;
    *mesh = NULL;
    EG_TRY(open_small(ctx, small, &file));
    EG_TRY(eg_gmsh_assemble(file, options, mesh));
done:
    eg_gmsh_close(&file);
    return status;
}

/* The number of faces of a boundary, -1 if there is none of that name. */
static int64_t face_count(const eg_mesh *mesh, const char *name)
{
    const int b = eg_mesh_find_boundary(mesh, name);
    int64_t count = 0;
    if (b < 0) return -1;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        for (int f = 0; f < test_info(mesh, e)->faces; f++)
            count += mesh->neighbour[(int64_t)e * mesh->face_stride + f] == -1 - b;
    }
    return count;
}

static double volume_of(const eg_mesh *mesh)
{
    eg_mesh_summary summary;
    TEST_OK(mesh->ctx, eg_mesh_summarise(mesh, &summary));
    eg_release(mesh->ctx, &summary.boundary_face_count);
    return summary.volume;
}

/* A unit square of a triangle, a triangle and, to its right, a square. */
#define NAMES "1 1 \"bottom\"\n1 2 \"right\"\n2 9 \"fluid\"\n"
#define NODES "0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n2 1 0\n"
#define LINES "1 1 1 1 2\n1 1 1 2 5\n1 2 2 5 6\n1 7 3 6 3\n1 7 3 3 4\n1 7 4 4 1\n"
#define TRIANGLES "2 9 1 1 2 3\n2 9 1 1 3 4\n"
#define SQUARE "3 9 2 2 5 6 3\n"
static const small_file square = {NAMES, NODES, LINES TRIANGLES SQUARE, NULL};

static void test_assemble__groups_of_lines_are_boundaries(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, read_small(ctx, &square, NULL, &mesh));
    assert_int_equal(mesh->dim, 2);
    assert_int_equal(mesh->order, 1);
    assert_null(mesh->nodes);
    assert_int_equal(mesh->element_count, 3);
    assert_int_equal(mesh->global_count, 3);
    assert_int_equal(mesh->vertex_count, 6);
    assert_int_equal(mesh->boundary_count, 3);
    assert_int_equal(face_count(mesh, "bottom"), 2);
    assert_int_equal(face_count(mesh, "right"), 1);
    assert_int_equal(face_count(mesh, "boundary_7"), 3);
    for (int32_t e = 0; e < 3; e++) /* places in the file */
        assert_int_equal(mesh->shape[e], mesh->global[e] < 2 ? EG_SHAPE_TRI : EG_SHAPE_QUAD);
    TEST_NEAR(volume_of(mesh), 2.0, 1e-15);
    test_check_connected(mesh, NULL);
    assert_string_equal(test_log, "");
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_assemble__without_groups_there_is_one_boundary_and_it_is_said(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    eg_text report = eg_text_new(ctx);
    const small_file file = {NULL, NODES, TRIANGLES SQUARE, NULL};
    TEST_OK(ctx, read_small(ctx, &file, &(eg_gmsh_options){.report = &report}, &mesh));
    assert_int_equal(mesh->boundary_count, 1);
    assert_int_equal(face_count(mesh, "boundary"), 6);
    assert_non_null(strstr(eg_text_string(&report), "the 6 faces of the boundary are called"));
    eg_text_free(&report);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_assemble__faces_inside_bound_nothing_and_groups_of_one_name_are_one(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    const small_file file = {"1 1 \"wall\"\n1 2 \"wall\"\n1 7 \"seam\"\n2 9 \"fluid\"\n", NODES,
                             "1 1 1 1 2\n1 1 1 2 5\n1 2 2 5 6\n1 2 3 6 3\n1 2 3 3 4\n1 2 4 4 1\n"
                             "1 7 8 2 3\n1 7 9 3 1\n" TRIANGLES SQUARE,
                             NULL};
    TEST_OK(ctx, read_small(ctx, &file, NULL, &mesh));
    assert_int_equal(mesh->boundary_count, 1);
    assert_int_equal(face_count(mesh, "wall"), 6);
    assert_non_null(strstr(test_log, "small.msh: faces of the group \"seam\" that lie inside the "
                                     "mesh, bound nothing and were ignored: 2\n"));
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_assemble__elements_that_are_inside_out_are_turned_over_and_counted(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    const small_file file = {NAMES, NODES, LINES "2 9 1 1 3 2\n2 9 1 1 3 4\n3 9 2 2 3 6 5\n", NULL};
    TEST_OK(ctx, read_small(ctx, &file, NULL, &mesh));
    TEST_NEAR(volume_of(mesh), 2.0, 1e-15);
    test_check_connected(mesh, NULL);
    assert_int_equal(face_count(mesh, "right"), 1);
    assert_string_equal(test_log, "small.msh: 2 of 3 elements were inside out and turned over\n");
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void test_assemble__what_is_no_mesh_is_refused_by_name_place_and_group(void **state)
{
    (void)state;
    static const struct {
        const char *nodes, *elements;
        const char *parts[5];
    } wrong[] = {
        {NODES, "1 1 1 1 2\n", {"no triangles", "only lines"}},
        {NODES, "15 1 1 1\n", {"no triangles"}},
        {NODES,
         LINES "2 9 1 1 2 3\n2 9 1 1 3 3\n" SQUARE,
         {"element 8 (triangle, group \"fluid\")", "has the vertex at (1, 1) twice"}},
        {NODES,
         LINES "2 9 1 1 2 3\n2 9 1 1 3 4\n3 9 2 2 6 5 3\n",
         {"element 9 (quadrilateral, group \"fluid\")", "centre at (1.5, 0.5)", "is tangled",
          "Elements that are tangled or flat: 1"}},
        {"0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n2 1 0\n5 5 0\n6 6 0\n7 7 0\n",
         "3 9 2 2 6 5 3\n2 9 1 1 2 3\n2 9 1 7 8 9\n",
         {"element 1 (quadrilateral", "is tangled", "tangled or flat: 2"}},
        {"0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n2 1 0\n5 5 0\n6 6 0\n7 7 0\n",
         "2 9 1 7 8 9\n3 9 2 2 6 5 3\n2 9 1 1 2 3\n",
         {"element 1 (triangle", "is flat", "flat or tangled: 2"}},
        {"0 0 0\n1 0 0\n1 1 0\n0 1 0\n1.2 0.1 0\n2 1 0\n",
         LINES TRIANGLES "3 9 2 2 6 3 5\n",
         {"element 9 (quadrilateral", "is tangled", "-0.", "at its vertex (1.2, 0.1)"}},
        {"0 0 0\n1 0 0\n2 0 0\n0 1 0\n2 0 0\n2 1 0\n",
         LINES "2 9 1 1 2 3\n2 9 1 1 3 4\n" SQUARE,
         {"element 7 (triangle", "is flat"}},
        {NODES,
         LINES TRIANGLES "2 9 1 2 3 1\n" SQUARE,
         {"elements 7 and 9 (triangle, group \"fluid\") have the same vertices"}},
        {NODES,
         "2 9 1 1 2 3\n2 9 1 2 3 1\n",
         {"elements 1 and 2 (triangle, group \"fluid\") have the same vertices"}},
        {NODES "1 0.4 0\n",
         LINES TRIANGLES "2 9 1 1 3 7\n" SQUARE,
         {"elements 7, 8 and 9 share one face", "(0.5, 0.5), group \"fluid\""}},
        {NODES "0.9 0.8 0\n",
         "2 9 1 1 2 3\n2 9 1 1 7 3\n",
         {"element 1 (triangle, group \"fluid\")", "overlaps element 2", "at (0.5, 0.5)"}},
        {NODES,
         LINES "1 1 1 1 6\n" TRIANGLES SQUARE,
         {"element 7 (line, group \"bottom\")", "(1, 0.5, 0)", "is no face"}},
        {NODES "3 3 0\n",
         LINES "1 1 1 6 7\n" TRIANGLES SQUARE,
         {"element 7 (line, group \"bottom\")", "no vertex of the mesh's elements",
          "was a surface left out of the Physical Surfaces?"}},
        {"0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n",
         "2 1 1 2 3 5\n4 9 1 1 2 3 4\n",
         {"element 1 (triangle", "was a volume left out of the Physical Volumes?"}},
        {NODES,
         LINES "1 2 1 1 2\n" TRIANGLES SQUARE,
         {"element 1 (line", "belongs to the groups \"bottom\" and \"right\""}},
        {NODES,
         "1 1 1 1 2\n1 1 1 2 5\n1 2 2 5 6\n1 7 3 6 3\n" TRIANGLES SQUARE,
         {"element 6 (triangle, group \"fluid\")", "at (0.5, 1)", "there are 2 such faces",
          "into a Physical Curve; if they are to be periodic", "with mesh.join"}},
        {"0 0 0\n1 0 0\n1 1 0.3\n0 1 0\n2 0 0\n2 1 0\n",
         LINES TRIANGLES SQUARE,
         {"the mesh is not flat: node 3 at (1, 1, 0.3)", "off the mean plane",
          "Mesh it with \"gmsh -3\" and give it a Physical Volume"}},
        {"0 0 0\n1 0 0\n1 1 0\n0 1 0\n2e200 0 0\n2 1 0\n",
         LINES TRIANGLES SQUARE,
         {"coordinate x of node 5 is 2e+200"}},
        {"0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 0\n1 0 1\n1 1 1\n0 1 1\n",
         "4 9 1 1 2 3 4\n5 9 1 1 2 5 3 4 6 7 8\n",
         {"tetrahedra and hexahedra"}},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        const small_file file = {NAMES, wrong[i].nodes, wrong[i].elements, NULL};
        eg_mesh *mesh = NULL;
        for (size_t k = 0; k < EG_COUNT(wrong[i].parts) && wrong[i].parts[k]; k++)
            TEST_FAILS(ctx, EG_ERROR_INPUT, wrong[i].parts[k], read_small(ctx, &file, NULL, &mesh));
        assert_int_equal(strncmp(eg_context_error(ctx), "small.msh: ", 11), 0);
        assert_null(mesh);
    }
    test_context_free(&ctx);
}

static void test_assemble__meshes_are_folded_where_few_elements_are_inside_out(void **state)
{
    (void)state;
    static const char nodes[] = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 -0.2 0\n5 5 0\n6 5 0\n5 6 0\n";
    static const char tetrahedra[] = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n0.2 0.2 0.5\n";
    static const char thin[] = "0 0 0\n1 0 0\n1 1 0\n0.9 0.8 0\n";
    static const struct {
        const char *nodes, *elements, *parts[2];
    } folded[] = {
        /* Triangles around a vertex that lies outside of them: in one order, in the other, and in
         * both. One of another part may be turned over. */
        {nodes,
         "2 9 1 1 2 5\n2 9 1 2 3 5\n2 9 1 3 4 5\n2 9 1 4 1 5\n",
         {"element 1 (triangle, group \"fluid\") with its centre at (0.5, -0.0666667) is inside "
          "out, but elements beside it are not",
          "inside out: 1 of 4"}},
        {nodes,
         "2 9 1 2 5 3\n2 9 1 1 5 2\n2 9 1 3 5 4\n2 9 1 4 5 1\n",
         {"element 2 (triangle, group \"fluid\")", "inside out: 1 of 4"}},
        {nodes,
         "2 9 1 6 8 7\n2 9 1 4 5 1\n2 9 1 3 5 4\n2 9 1 2 3 5\n2 9 1 1 2 5\n",
         {"element 5 (triangle, group \"fluid\")", "inside out: 1 of 5"}},
        /* Of as many, those that are; the first is not the first to be met. */
        {"0 0 0\n1 0 0\n1 1 0\n0 1 0\n1.2 -0.2 0\n",
         "2 9 1 3 4 5\n2 9 1 1 2 5\n2 9 1 2 3 5\n2 9 1 4 1 5\n",
         {"element 2 (triangle", "inside out: 2 of 4"}},
        {thin, "2 9 1 1 2 3\n2 9 1 1 3 4\n", {"element 2 (triangle", "inside out: 1 of 2"}},
        {thin, "2 9 1 1 3 4\n2 9 1 1 2 3\n", {"element 1 (triangle", "inside out: 1 of 2"}},
        {"0 0 0\n1 0 0\n0 1 0\n0 0 1\n0.3 0.3 -0.2\n",
         "4 9 1 1 4 2 5\n4 9 1 1 3 4 5\n4 9 1 1 2 3 5\n4 9 1 2 4 3 5\n",
         {"element 3 (tetrahedron, group 9)", "inside out: 1 of 4"}},
        /* Tetrahedra see their face turned in three ways. */
        {tetrahedra, "4 9 1 1 2 3 4\n4 9 1 1 3 2 5\n", {"element 2 (tetra", "out: 1 of 2"}},
        {tetrahedra, "4 9 1 1 2 3 4\n4 9 1 3 2 1 5\n", {"element 2 (tetra", "out: 1 of 2"}},
        {tetrahedra, "4 9 1 1 2 3 4\n4 9 1 2 1 3 5\n", {"element 2 (tetra", "out: 1 of 2"}},
        {"0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 -0.2 0\n0.5 0 0\n1 0.5 0\n0.5 1 0\n0 0.5 0\n"
         "0.25 -0.1 0\n0.75 -0.1 0\n0.75 0.4 0\n0.25 0.4 0\n",
         "9 9 1 2 3 5 7 12 11\n9 9 1 1 2 5 6 11 10\n9 9 1 3 4 5 8 13 12\n9 9 1 4 1 5 9 10 13\n",
         {"element 2 (triangle, group \"fluid\")", "1 of 4. \"gmsh -optimize_ho\" may mend"}},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(folded); i++) {
        const small_file file = {NAMES, folded[i].nodes, folded[i].elements, NULL};
        eg_mesh *mesh = NULL;
        for (size_t k = 0; k < EG_COUNT(folded[i].parts); k++)
            TEST_FAILS(ctx, EG_ERROR_INPUT, folded[i].parts[k],
                       read_small(ctx, &file, NULL, &mesh));
    }
    test_context_free(&ctx);
}

static void test_assemble__only_files_without_periods_are_told_of_joins(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    small_file file = {NAMES, NODES, "1 1 1 1 2\n" TRIANGLES SQUARE, NULL};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "the file has no $Periodic",
               read_small(ctx, &file, NULL, &mesh));
    file.rest = "$Periodic\n1\n0 1 2\n1\n1 2\n$EndPeriodic\n";
    TEST_FAILS(ctx, EG_ERROR_INPUT, "into a Physical Curve", read_small(ctx, &file, NULL, &mesh));
    assert_null(strstr(eg_context_error(ctx), "mesh.join"));
    test_context_free(&ctx);
}

static void test_assemble__hanging_nodes_are_found_with_and_without_groups(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    /* A square beside two of half its height, and far smaller ones beside those. */
    static const char nodes[] = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n1 0.5 0\n2 0 0\n2 0.5 0\n2 1 0\n";
    static const char cells[] = "3 9 1 1 2 3 4\n3 9 1 2 6 7 5\n3 9 1 5 7 8 3\n";
    static const char lines[] = "1 1 1 1 2\n1 1 1 2 6\n1 1 1 6 7\n1 1 1 7 8\n1 1 1 8 3\n1 1 1 3 4\n"
                                "1 1 1 4 1\n3 9 1 1 2 3 4\n3 9 1 2 6 7 5\n3 9 1 5 7 8 3\n";
    const small_file bare = {NULL, nodes, cells, NULL}, grouped = {NAMES, nodes, lines, NULL};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "element 1 (quadrilateral, group 9)",
               read_small(ctx, &bare, NULL, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "has a hanging node: the vertex of element 2 at (1, 0.5) lies on its face at (1, "
               "0.5)",
               read_small(ctx, &bare, NULL, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "element 8 (quadrilateral, group \"fluid\")",
               read_small(ctx, &grouped, NULL, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "has a hanging node", read_small(ctx, &grouped, NULL, &mesh));
    /* In space: a vertex inside the diagonal face of a tetrahedron, and not at its corner. */
    const small_file space = {NULL,
                              "0 0 0\n1 0 0\n0 1 0\n0 0 1\n0.25 0.25 0\n0.25 0.3 -1\n"
                              "0.3 0.25 -1\n0.3 0.3 -1.2\n",
                              "4 9 1 1 2 3 4\n4 9 1 5 6 7 8\n", NULL};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "the vertex of element 2 at (0.25, 0.25, 0) lies on its face",
               read_small(ctx, &space, NULL, &mesh));
    /* On the half of a hexahedron's side that the diagonal leaves out. */
    const small_file side = {NULL,
                             "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
                             "0.7 0.2 0\n0.7 0.2 -1\n1.7 0.2 -1\n1.7 1.2 -1\n0.7 1.2 -1\n"
                             "1.7 0.2 -0.1\n1.7 1.2 -0.1\n0.7 1.2 -0.1\n",
                             "5 9 1 1 2 3 4 5 6 7 8\n5 9 1 10 11 12 13 9 14 15 16\n", NULL};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "the vertex of element 2 at (0.7, 0.2, 0) lies on its face",
               read_small(ctx, &side, NULL, &mesh));
    test_context_free(&ctx);
}

/* --- nodes at one place ----------------------------------------------------------------------- */

/* Points lie at the centres of a lattice, so that none is near another; each is looked for from all
 * sides, at just less and just more than the tolerance. */
static void test_near__points_are_found_within_the_tolerance_and_only_there(void **state)
{
    (void)state;
    enum { POINTS = 200, DIRECTIONS = 8 };
    static double x[POINTS * (1 + 2 * DIRECTIONS)][3];
    static const double low[3] = {-1.0, -1.0, -1.0};
    const double tolerance = 1e-3;
    const int32_t count = POINTS * (1 + 2 * DIRECTIONS);
    eg_context *ctx = test_context();
    eg_near near = {0};
    uint64_t random = 1;
    for (int32_t i = 0; i < POINTS; i++) {
        for (int d = 0; d < 3; d++) /* 0.16 apart */
            x[i][d] = -0.9 +
                      0.32 * ((i / (d == 0   ? 1
                                    : d == 1 ? 6
                                             : 36)) %
                              6) +
                      0.05 * test_random(&random);
        for (int32_t k = 0; k < 2 * DIRECTIONS; k++) {
            double *at = x[POINTS + i * 2 * DIRECTIONS + k], way[3], length = 0.0;
            for (int d = 0; d < 3; d++)
                length = hypot(length, way[d] = test_random(&random));
            for (int d = 0; d < 3; d++)
                at[d] = x[i][d] + (k < DIRECTIONS ? 0.99 : 1.01) * tolerance * way[d] / length;
        }
    }
    TEST_OK(ctx, eg_near_create(ctx, 3, count, &x[0][0], low, tolerance, &near));
    for (int32_t i = 0; i < POINTS; i++) {
        assert_int_equal(eg_near_find(&near, i), -1);
        eg_near_add(&near, i);
    }
    for (int32_t j = POINTS; j < count; j++) {
        const int32_t i = (j - POINTS) / (2 * DIRECTIONS), k = (j - POINTS) % (2 * DIRECTIONS);
        assert_int_equal(eg_near_find(&near, j), k < DIRECTIONS ? i : -1);
    }
    eg_near_free(&near);
    test_context_free(&ctx);
}

static void test_assemble__nodes_at_one_place_are_merged_on_request_only(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    eg_text report = eg_text_new(ctx);
    /* The square's own nodes differ from the triangles' by rounding; the line at the right has its
     * own, too. */
    const small_file file = {
        NAMES,
        NODES "1.00000000000001 0 0\n1 0.99999999999999 0\n2 0 0\n2 1 0\n"
              "9 9 9\n",
        "1 1 1 1 2\n1 1 1 7 5\n1 2 2 9 10\n1 7 3 6 8\n1 7 3 3 4\n1 7 4 4 1\n" TRIANGLES
        "3 9 2 7 5 6 8\n",
        NULL};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "no vertex of the mesh's elements",
               read_small(ctx, &file, NULL, &mesh));
    TEST_OK(ctx, read_small(ctx, &file, &(eg_gmsh_options){.merge_nodes = true, .report = &report},
                            &mesh));
    assert_int_equal(mesh->vertex_count, 6);
    assert_int_equal(face_count(mesh, "right"), 1);
    TEST_NEAR(volume_of(mesh), 2.0, 1e-13);
    assert_non_null(
        strstr(eg_text_string(&report), "nodes that were merged with others within 2.24e-10: 4\n"));
    assert_non_null(
        strstr(eg_text_string(&report), "nodes that belong to no element and were dropped: 1"));
    eg_mesh_destroy(&mesh);

    const small_file apart = {
        NAMES, NODES "1 0 0\n1 1 0\n",
        "1 1 1 1 2\n1 1 1 7 5\n1 2 2 5 6\n1 7 3 6 8\n1 7 3 3 4\n1 7 4 4 1\n" TRIANGLES
        "3 9 2 7 5 6 8\n",
        NULL};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "different nodes at one place. Read the file with its nodes",
               read_small(ctx, &apart, NULL, &mesh));
    TEST_OK(ctx, read_small(ctx, &apart, &(eg_gmsh_options){.merge_nodes = true}, &mesh));
    test_check_connected(mesh, NULL);
    eg_mesh_destroy(&mesh);

    const small_file thin = {NAMES, "0 0 0\n1 0 0\n1 1e-12 0\n0 1 0\n",
                             "2 9 1 1 2 3\n2 9 1 1 3 4\n", NULL};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "element 1 (triangle, group \"fluid\")",
               read_small(ctx, &thin, &(eg_gmsh_options){.merge_nodes = true}, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "twice (nodes near each other were merged)",
               read_small(ctx, &thin, &(eg_gmsh_options){.merge_nodes = true}, &mesh));
    eg_text_free(&report);
    test_context_free(&ctx);
}

/* What is said of a file that is read. */
static const char *report_of(eg_context *ctx, const small_file *file, bool merge, eg_text *report)
{
    eg_mesh *mesh = NULL;
    eg_text_free(report);
    *report = eg_text_new(ctx);
    TEST_OK(ctx, read_small(ctx, file, &(eg_gmsh_options){.merge_nodes = merge, .report = report},
                            &mesh));
    eg_mesh_destroy(&mesh);
    return eg_text_string(report);
}

/* The square with its own nodes beside the triangles; the slit's sides are in groups A and B. */
#define SLIT_NODES NODES "1 0 0\n1 1 0\n"
#define SLIT(A, B)                                                                                 \
    "1 1 1 1 2\n1 1 1 7 5\n1 2 2 5 6\n1 7 3 6 8\n1 7 3 3 4\n1 7 4 4 1\n1 " A " 5 2 3\n1 " B        \
    " 6 7 8\n" TRIANGLES "3 9 2 7 5 6 8\n"

/* Two curved triangles; the side of the second that lies at the first's bulges to that height. */
#define CURVED_NODES(HEIGHT)                                                                       \
    "0 0 0\n1 0 0\n0.5 1 0\n0.5 0.1 0\n0.75 0.5 0\n0.25 0.5 0\n0 0 0\n1 0 0\n0.5 -1 "              \
    "0\n0.5 " HEIGHT " 0\n0.75 -0.5 0\n0.25 -0.5 0\n"
#define CURVED_SLIT                                                                                \
    "9 9 1 1 2 3 4 5 6\n9 9 1 8 7 9 10 12 11\n8 1 1 1 2 4\n8 1 1 2 3 5\n8 1 1 3 1 6\n"             \
    "8 1 1 7 8 10\n8 1 1 8 9 11\n8 1 1 7 9 12\n"

static void test_assemble__faces_that_lie_upon_each_other_are_told_and_accepted(void **state)
{
    (void)state;
    eg_context_options options = test_context_options();
    options.log_level = EG_LOG_WARNING;
    eg_context *ctx = test_context_with(&options);
    eg_text report = eg_text_new(ctx);
    eg_mesh *mesh = NULL;
    const small_file one_group = {NAMES, SLIT_NODES, SLIT("7", "7"), NULL};
    const small_file two_groups = {NAMES, SLIT_NODES, SLIT("7", "2"), NULL};
    TEST_OK(ctx, read_small(ctx, &one_group, NULL, &mesh));
    assert_string_equal(
        test_log, "small.msh: pairs of faces of the boundary that lie upon each other: 1, the "
                  "first at (1, 0.5) (\"boundary_7\" of element 9 and \"boundary_7\" of "
                  "element 11). If there is to be no slit, read the file with its nodes "
                  "merged (--merge, mesh.merge = true)\n");
    assert_int_equal(face_count(mesh, "boundary_7"), 5);
    eg_mesh_destroy(&mesh);
    assert_null(strstr(report_of(ctx, &one_group, true, &report), "upon each other"));
    /* Between two groups it is a note, no warning. */
    test_log[0] = '\0';
    TEST_OK(ctx, read_small(ctx, &two_groups, NULL, &mesh));
    assert_string_equal(test_log, "");
    eg_mesh_destroy(&mesh);
    assert_non_null(strstr(report_of(ctx, &two_groups, false, &report),
                           "(\"boundary_7\" of element 9 and \"right\" of element 11)"));

    static const struct {
        const char *nodes, *elements;
        int pairs;
    } slits[] = {
        /* A crack between two triangles that ends at a vertex inside. */
        {"0 0 0\n1 -1 0\n1 1 0\n-1 0 0\n1 0 0\n1 0 0\n",
         "2 9 1 1 4 2\n2 9 1 1 2 5\n2 9 1 1 6 3\n2 9 1 1 3 4\n1 1 1 4 2\n1 1 1 2 5\n1 1 1 6 3\n"
         "1 1 1 3 4\n1 1 1 1 5\n1 1 1 1 6\n",
         1},
        /* Triangles that touch at a vertex. */
        {"0 0 0\n1 0 0\n0 1 0\n0 0 0\n-1 0 0\n0 -1 0\n",
         "2 9 1 1 2 3\n2 9 1 4 5 6\n1 1 1 1 2\n1 1 1 2 3\n1 1 1 3 1\n1 1 1 4 5\n1 1 1 5 6\n"
         "1 1 1 6 4\n",
         0},
        /* Sides of curved triangles with a lens between them, and with none. */
        {CURVED_NODES("-0.1"), CURVED_SLIT, 0},
        {CURVED_NODES("0.1"), CURVED_SLIT, 1},
        /* Tetrahedra. */
        {"0 0 0\n1 0 0\n0 1 0\n0 0 1\n0 0 0\n1 0 0\n0 1 0\n0 0 -1\n",
         "4 9 1 1 2 3 4\n4 9 1 5 7 6 8\n2 1 1 1 2 3\n2 1 1 1 2 4\n2 1 1 2 3 4\n2 1 1 1 3 4\n"
         "2 1 1 5 6 7\n2 1 1 5 6 8\n2 1 1 6 7 8\n2 1 1 5 7 8\n",
         1},
    };
    for (size_t i = 0; i < EG_COUNT(slits); i++) {
        const small_file file = {NULL, slits[i].nodes, slits[i].elements, NULL};
        const char *said = strstr(report_of(ctx, &file, false, &report), "upon each other: ");
        assert_int_equal(said ? atoi(said + strlen("upon each other: ")) : 0, slits[i].pairs);
    }
    eg_text_free(&report);
    test_context_free(&ctx);
}

/* --- planes ----------------------------------------------------------------------------------- */

/* Puts a file's nodes where the rows of A say. */
static void move_nodes(eg_gmsh_file *file, const double A[3][3], const double *shift)
{
    for (int32_t n = 0; n < file->node_count; n++) {
        double x[3];
        memcpy(x, &file->x[3 * n], sizeof x);
        for (int d = 0; d < 3; d++)
            file->x[3 * n + d] = A[d][0] * x[0] + A[d][1] * x[1] + A[d][2] * x[2] + shift[d];
    }
}

static void test_assemble__flat_meshes_in_space_lie_in_their_own_plane(void **state)
{
    (void)state;
    static const struct {
        double A[3][3];
        const char *said;
        double low[2]; /* of the mesh; NaN: any */
    } planes[] = {
        {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, "", {5, 6}},
        {{{1, 0, 0}, {0, 0, 1}, {0, 1, 0}},
         "a plane of constant y: its coordinates x and y are the "
         "file's x and z",
         {5, 7}},
        {{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
         "a plane of constant x: its coordinates x and y are the "
         "file's y and z",
         {6, 7}},
        {{{2.0 / 3, -2.0 / 3, 1.0 / 3}, {1.0 / 3, 2.0 / 3, 2.0 / 3}, {-2.0 / 3, -1.0 / 3, 2.0 / 3}},
         "an oblique plane",
         {NAN, NAN}},
        {{{1, 0, 0}, {0, 0.8, -0.6}, {0, 0.6, 0.8}},
         "its coordinates x and y are along (1, 0, 0) and (0, 0.8, 0.6) of the file's",
         {5, NAN}},
    };
    static const double shift[3] = {5, 6, 7};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(planes); i++) {
        eg_gmsh_file *file = NULL;
        eg_mesh *mesh = NULL;
        eg_mesh_summary summary;
        eg_text report = eg_text_new(ctx);
        TEST_OK(ctx, open_small(ctx, &square, &file));
        move_nodes(file, planes[i].A, shift);
        TEST_OK(ctx, eg_gmsh_assemble(file, &(eg_gmsh_options){.report = &report}, &mesh));
        TEST_OK(ctx, eg_mesh_summarise(mesh, &summary));
        TEST_NEAR(summary.volume, 2.0, 1e-14);
        assert_non_null(strstr(eg_text_string(&report), planes[i].said));
        for (int d = 0; d < 2 && !isnan(planes[i].low[d]); d++)
            assert_true(summary.low[d] == planes[i].low[d]);
        test_check_connected(mesh, NULL);
        /* Rounding leaves no plane, a thousandth does. */
        file->x[3 * 3 + 2] += 1e-9;
        file->x[3 * 3 + 0] -= 1e-9;
        eg_mesh_destroy(&mesh);
        TEST_OK(ctx, eg_gmsh_assemble(file, &(eg_gmsh_options){.report = &report}, &mesh));
        for (int d = 0; d < 3; d++)
            file->x[3 * 3 + d] += 1e-3 * planes[i].A[d][2];
        eg_mesh_destroy(&mesh);
        TEST_FAILS(ctx, EG_ERROR_INPUT, "off the mean plane",
                   eg_gmsh_assemble(file, &(eg_gmsh_options){.report = &report}, &mesh));
        assert_null(strstr(eg_context_error(ctx), "gmsh -3"));
        eg_release(ctx, &summary.boundary_face_count);
        eg_text_free(&report);
        eg_gmsh_close(&file);
    }
    test_context_free(&ctx);
}

/* --- curved elements -------------------------------------------------------------------------- */

static eg_status bend(void *user, size_t count, const double *X, double *x)
{
    const int dim = *(const int *)user;
    for (size_t i = 0; i < count; i++) {
        const double *p = &X[i * (size_t)dim];
        double *q = &x[i * (size_t)dim];
        const double z = dim == 3 ? p[2] : 0.25;
        q[0] = p[0] + 0.05 * sin(6.0 * p[1]) + 0.03 * z * z;
        q[1] = p[1] + 0.04 * p[0] * p[0];
        if (dim == 3) q[2] = p[2] + 0.05 * p[0] * p[1];
    }
    return EG_OK;
}

/* The element of a mesh with a global number. */
static int32_t find_global(const eg_mesh *mesh, int64_t global)
{
    int32_t e = 0;
    while (e < mesh->element_count && mesh->global[e] != global)
        e++;
    assert_true(e < mesh->element_count);
    return e;
}

static void write_and_open(eg_context *ctx, const eg_mesh *mesh, eg_gmsh_file **file)
{
    char directory[PATH_MAX], path[PATH_MAX + 16];
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/mesh.msh", directory);
    TEST_OK(ctx, eg_mesh_write_gmsh(mesh, path, NULL));
    TEST_OK(ctx, eg_gmsh_open(ctx, path, file));
    test_directory_remove(directory);
}

static void test_assemble__a_mesh_comes_back_from_a_file_node_by_node(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        int dim = eg_shape_get_info(test_shapes[s])->dim;
        for (int order = 1; order <= (dim == 2 ? 10 : 4); order++) {
            const eg_box_options o = {.shape = test_shapes[s],
                                      .cells = {2, 3, 2},
                                      .order = order,
                                      .map = bend,
                                      .map_user = &dim};
            eg_mesh *box = test_box(ctx, &o), *mesh = NULL;
            eg_gmsh_file *file = NULL;
            double x[EG_GMSH_NODES_MAX * 3], y[EG_GMSH_NODES_MAX * 3];
            write_and_open(ctx, box, &file);
            TEST_OK(ctx, eg_gmsh_assemble(file, NULL, &mesh));
            assert_int_equal(mesh->element_count, box->element_count);
            assert_int_equal(mesh->vertex_count, box->vertex_count);
            assert_int_equal(mesh->order, order);
            assert_int_equal(mesh->boundary_count, 2 * dim);
            for (int b = 0; b < box->boundary_count; b++)
                assert_int_equal(face_count(mesh, box->boundary[b]),
                                 face_count(box, box->boundary[b]));
            for (int32_t e = 0; e < box->element_count; e++) {
                int32_t there = find_global(mesh, box->global[e]);
                int np = eg_mesh_element_nodes(box, e, x);
                assert_int_equal(eg_mesh_element_nodes(mesh, there, y), np);
                for (int i = 0; i < np * dim; i++)
                    TEST_NEAR(x[i], y[i], 1e-13);
            }
            assert_string_equal(test_log, "");
            eg_gmsh_close(&file);
            eg_mesh_destroy(&mesh);
            eg_mesh_destroy(&box);
        }
    }
    test_context_free(&ctx);
}

static void test_assemble__curved_elements_are_turned_over_with_their_nodes(void **state)
{
    (void)state;
    static const double mirror[3][3] = {{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, shift[3] = {0};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        int dim = eg_shape_get_info(test_shapes[s])->dim;
        const eg_box_options o = {
            .shape = test_shapes[s], .cells = {2, 2, 2}, .order = 3, .map = bend, .map_user = &dim};
        eg_mesh *box = test_box(ctx, &o), *mesh = NULL;
        eg_gmsh_file *file = NULL;
        eg_text report = eg_text_new(ctx);
        char said[64];
        write_and_open(ctx, box, &file);
        move_nodes(file, mirror, shift);
        TEST_OK(ctx, eg_gmsh_assemble(file, &(eg_gmsh_options){.report = &report}, &mesh));
        snprintf(said, sizeof said, "%d of %d elements were inside out", box->element_count,
                 box->element_count);
        assert_non_null(strstr(eg_text_string(&report), said));
        TEST_NEAR(volume_of(mesh), volume_of(box), 1e-13);
        eg_text_free(&report);
        eg_gmsh_close(&file);
        eg_mesh_destroy(&mesh);
        eg_mesh_destroy(&box);
    }
    test_context_free(&ctx);
}

/* A triangle of order 2 beside a straight square; `middle` is the node between them. */
static eg_status read_two_orders(eg_context *ctx, const char *middle, eg_text *report,
                                 eg_mesh **mesh)
{
    char nodes[256];
    snprintf(nodes, sizeof nodes, "0 0 0\n1 0 0\n1 1 0\n0 1 0\n-1 1 0\n%s\n-0.5 1 0\n-0.5 0.4 0\n",
             middle);
    const small_file file = {NULL, nodes, "3 9 1 1 2 3 4\n9 9 2 4 5 1 7 8 6\n", NULL};
    return read_small(ctx, &file, &(eg_gmsh_options){.report = report}, mesh);
}

static void test_assemble__lower_orders_are_raised_where_sides_agree(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    eg_text report = eg_text_new(ctx);
    TEST_OK(ctx, read_two_orders(ctx, "0 0.5 0", &report, &mesh));
    assert_int_equal(mesh->order, 2);
    assert_int_equal(mesh->node_stride, 9);
    /* The parabola through the side's middle, 0.1 √2/2 below the chord: 2/3 of chord times height.
     * */
    TEST_NEAR(volume_of(mesh), 1.5 + 2.0 / 3.0 * 0.1, 1e-14);
    assert_non_null(strstr(eg_text_string(&report), "raised to order 2"));
    eg_mesh_destroy(&mesh);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "have different forms at the face that joins them",
               read_two_orders(ctx, "0.01 0.5 0", &report, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "at (0, 0.5) they are 0.01 apart",
               read_two_orders(ctx, "0.01 0.5 0", &report, &mesh));
    eg_text_free(&report);
    test_context_free(&ctx);
}

static void test_assemble__curved_elements_that_fold_over_are_refused_with_their_group(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    /* At a vertex, and only inside, where the middle node is pulled out of its element. */
    const small_file folded = {NAMES, "0 0 0\n1 0 0\n0 1 0\n0.5 0 0\n0.05 0.05 0\n0 0.5 0\n",
                               "9 9 1 1 2 3 4 5 6\n", NULL};
    const small_file pulled = {NAMES,
                               "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 0 0\n1 0.5 0\n0.5 1 0\n"
                               "0 0.5 0\n1.3 0.5 0\n",
                               "10 9 1 1 2 3 4 5 6 7 8 9\n", NULL};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "element 1 (triangle, group \"fluid\") with its centre",
               read_small(ctx, &folded, NULL, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "its curved sides fold it over, which \"gmsh -optimize_ho\" may mend. Elements that "
               "are tangled or flat: 1",
               read_small(ctx, &folded, NULL, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "element 1 (quadrilateral, group \"fluid\") is inside out or flat",
               read_small(ctx, &pulled, NULL, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "Such elements: 1 of 1", read_small(ctx, &pulled, NULL, &mesh));
    test_context_free(&ctx);
}

/* --- periods ---------------------------------------------------------------------------------- */

static void test_assemble__periodic_boxes_come_back_periodic(void **state)
{
    (void)state;
    static const double period[3] = {1, 1, 1};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (int order = 1; order <= 2; order++) {
            const eg_box_options o = {.shape = test_shapes[s],
                                      .cells = {3, 2, 2},
                                      .order = order,
                                      .periodic = {true, true, false}};
            const int dim = eg_shape_get_info(o.shape)->dim;
            eg_mesh *box = test_box(ctx, &o), *mesh = NULL;
            eg_gmsh_file *file = NULL;
            write_and_open(ctx, box, &file);
            assert_int_equal(file->link_count, 2);
            /* By the nodes; by the map alone; and by nodes alone, without elements on the sides. */
            for (int way = 0; way < 3; way++) {
                for (int l = 0; l < 2; l++) {
                    eg_gmsh_link *link = &file->links[l];
                    if (way == 1) {
                        const int32_t *pair = link->pair;
                        if (!link->affine) TEST_OK(ctx, eg_new(ctx, 16, &link->affine));
                        memset(link->affine, 0, 16 * sizeof *link->affine);
                        for (int d = 0; d < 4; d++)
                            link->affine[5 * d] = 1.0;
                        for (int d = 0; d < 3; d++)
                            link->affine[4 * d + 3] =
                                file->x[3 * pair[0] + d] - file->x[3 * pair[1] + d];
                    }
                }
                int64_t counts[2] = {file->links[0].count, file->links[1].count};
                for (int l = 0; l < 2 && way == 1; l++)
                    file->links[l].count = 0;
                for (int b = 0; b < file->block_count && way == 2; b++) {
                    const eg_gmsh_entity *entity = &file->entities[file->blocks[b].entity];
                    for (int l = 0; l < 2; l++)
                        if (entity->dim == dim - 1 && (entity->tag == file->links[l].entity_tag ||
                                                       entity->tag == file->links[l].master_tag))
                            file->blocks[b].count = 0;
                }
                TEST_OK(ctx, eg_gmsh_assemble(file, NULL, &mesh));
                test_check_connected(mesh, period);
                assert_int_equal(mesh->boundary_count, dim == 2 ? 0 : 2);
                eg_mesh_destroy(&mesh);
                for (int l = 0; l < 2; l++)
                    file->links[l].count = counts[l];
            }
            eg_gmsh_close(&file);
            eg_mesh_destroy(&box);
        }
    }
    test_context_free(&ctx);
}

static void test_assemble__links_that_are_no_translations_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    small_file file = {NAMES, NODES, LINES TRIANGLES SQUARE,
                       "$Periodic\n1\n1 2 4\n2\n5 4\n6 1\n$EndPeriodic\n"};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "$Periodic joins curve 2 to curve 4, but not by a translation",
               read_small(ctx, &file, NULL, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "node 6 lies (2, 1) from node 1, others lie (2, -1)",
               read_small(ctx, &file, NULL, &mesh));
    file.rest = "$Periodic\n1\n1 2 4\nAffine 0 -1 0 2 1 0 0 0 0 0 1 0 0 0 0 1\n0\n$EndPeriodic\n";
    TEST_FAILS(ctx, EG_ERROR_INPUT, "rotations are not supported",
               read_small(ctx, &file, NULL, &mesh));
    file.rest = "$Periodic\n1\n1 2 1\nAffine 1 0 0 2 0 1 0 0 0 0 1 0 0 0 0 1\n0\n$EndPeriodic\n";
    TEST_FAILS(ctx, EG_ERROR_INPUT, "they cannot be periodic", read_small(ctx, &file, NULL, &mesh));
    file.rest = "$Periodic\n1\n1 2 4\nAffine 1 0 0 2.1 0 1 0 0 0 0 1 0 0 0 0 1\n0\n$EndPeriodic\n";
    TEST_FAILS(ctx, EG_ERROR_INPUT, "of element 8 (triangle, group \"fluid\")",
               read_small(ctx, &file, NULL, &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "has no partner at (2.1, 0.5)",
               read_small(ctx, &file, NULL, &mesh));
    test_context_free(&ctx);
}

static void test_assemble__boundaries_are_joined_by_name(void **state)
{
    (void)state;
    static const double period[3] = {2, 1, 0};
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    small_file file = {
        "1 1 \"left\"\n1 2 \"right\"\n1 3 \"low\"\n1 4 \"top\"\n2 9 \"fluid\"\n", NODES,
        "1 3 1 1 2\n1 3 1 2 5\n1 2 2 5 6\n1 4 3 6 3\n1 4 3 3 4\n1 1 4 4 1\n" TRIANGLES SQUARE,
        NULL};
    const eg_periodic_names right[] = {{"left", "right"}, {"top", "low"}};
    TEST_OK(ctx, read_small(ctx, &file, &(eg_gmsh_options){.join = right, .join_count = 2}, &mesh));
    assert_int_equal(mesh->boundary_count, 0);
    test_check_connected(mesh, period);
    eg_mesh_destroy(&mesh);
    TEST_OK(ctx, read_small(ctx, &file, &(eg_gmsh_options){.join = right, .join_count = 1}, &mesh));
    assert_int_equal(mesh->boundary_count, 2);
    assert_int_equal(face_count(mesh, "low"), 2);
    eg_mesh_destroy(&mesh);

    static const struct {
        eg_periodic_names pair[2];
        const char *part;
        size_t which;
    } wrong[] = {
        {{{"left", "right"}, {"lwo", "top"}}, "has \"left\", \"low\", \"right\", \"top\"", 1},
        {{{"left", "right"}, {"lwo", "top"}}, "Did you mean \"low\"?", 1},
        {{{"left", "right"}, {"right", "left"}}, "\"right\" cannot be joined: all its faces", 1},
        {{{"left", "left"}}, "cannot be joined to itself", 0},
        {{{"left", "low"}}, "has 1 faces and \"low\" has 2", 0},
        {{{"left", "low"}},
         "cannot be periodic. Both sides must be meshed alike, for which Gmsh has Periodic Curve",
         0},
    };
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        size_t failed = 9;
        TEST_FAILS(ctx, EG_ERROR_INPUT, wrong[i].part,
                   read_small(ctx, &file,
                              &(eg_gmsh_options){.join = wrong[i].pair,
                                                 .join_count = wrong[i].pair[1].first ? 2 : 1,
                                                 .join_failed = &failed},
                              &mesh));
        assert_int_equal(failed, wrong[i].which);
    }
    file.nodes = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n2 1.2 0\n";
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "The shift that was tried is (2, 0.1), from the mean of the centres of the faces of "
               "\"left\" to that of \"right\". Both sides must be meshed alike",
               read_small(ctx, &file, &(eg_gmsh_options){.join = right, .join_count = 1}, &mesh));
    test_context_free(&ctx);
}

/* --- memory ----------------------------------------------------------------------------------- */

static eg_status read_and_destroy(eg_context *ctx, void *user)
{
    const eg_periodic_names join = {"left", "right"};
    eg_mesh *mesh = NULL;
    eg_text report = eg_text_new(ctx);
    eg_status status = read_small(
        ctx, user,
        &(eg_gmsh_options){.merge_nodes = true, .join = &join, .join_count = 1, .report = &report},
        &mesh);
    eg_mesh_destroy(&mesh);
    eg_text_free(&report);
    return status;
}

static void test_assemble__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    /* Two curved triangles: one turned over, joined left to right by name, low to top by links. */
    small_file file = {"1 1 \"left\"\n1 2 \"right\"\n",
                       "0 0 1\n1 0 1\n1 1 1\n0 1 1\n0.5 0 1\n1 0.5 1\n0.5 0.55 1\n0.5 1 1\n"
                       "0 0.5 1\n7 7 7\n",
                       "1 1 4 1 4\n1 2 2 2 3\n9 9 1 1 2 3 5 6 7\n9 9 1 1 4 3 9 8 7\n",
                       "$Periodic\n1\n1 3 1\n2\n4 1\n3 2\n$EndPeriodic\n"};
    test_allocation_sweep(read_and_destroy, &file);
}

/* Without merging and joining. What is refused is as good as what is read. */
static eg_status read_or_refuse(eg_context *ctx, void *user)
{
    eg_mesh *mesh = NULL;
    eg_status status = read_small(ctx, user, NULL, &mesh);
    eg_mesh_destroy(&mesh);
    return status == EG_ERROR_INPUT ? EG_OK : status;
}

static void test_assemble__slits_and_folds_may_run_out_of_memory(void **state)
{
    (void)state;
    small_file slit = {NULL, CURVED_NODES("0.1"), CURVED_SLIT, NULL};
    small_file fold = {NULL, "0 0 0\n1 0 0\n1 1 0\n0.9 0.8 0\n", "2 9 1 1 2 3\n2 9 1 1 3 4\n",
                       NULL};
    test_allocation_sweep(read_or_refuse, &slit);
    assert_non_null(strstr(test_log, "upon each other"));
    test_allocation_sweep(read_or_refuse, &fold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assemble__groups_of_lines_are_boundaries),
        cmocka_unit_test(test_assemble__without_groups_there_is_one_boundary_and_it_is_said),
        cmocka_unit_test(test_assemble__faces_inside_bound_nothing_and_groups_of_one_name_are_one),
        cmocka_unit_test(test_assemble__elements_that_are_inside_out_are_turned_over_and_counted),
        cmocka_unit_test(test_assemble__what_is_no_mesh_is_refused_by_name_place_and_group),
        cmocka_unit_test(test_assemble__meshes_are_folded_where_few_elements_are_inside_out),
        cmocka_unit_test(test_assemble__only_files_without_periods_are_told_of_joins),
        cmocka_unit_test(test_assemble__hanging_nodes_are_found_with_and_without_groups),
        cmocka_unit_test(test_near__points_are_found_within_the_tolerance_and_only_there),
        cmocka_unit_test(test_assemble__nodes_at_one_place_are_merged_on_request_only),
        cmocka_unit_test(test_assemble__faces_that_lie_upon_each_other_are_told_and_accepted),
        cmocka_unit_test(test_assemble__flat_meshes_in_space_lie_in_their_own_plane),
        cmocka_unit_test(test_assemble__a_mesh_comes_back_from_a_file_node_by_node),
        cmocka_unit_test(test_assemble__curved_elements_are_turned_over_with_their_nodes),
        cmocka_unit_test(test_assemble__lower_orders_are_raised_where_sides_agree),
        cmocka_unit_test(
            test_assemble__curved_elements_that_fold_over_are_refused_with_their_group),
        cmocka_unit_test(test_assemble__periodic_boxes_come_back_periodic),
        cmocka_unit_test(test_assemble__links_that_are_no_translations_are_refused),
        cmocka_unit_test(test_assemble__boundaries_are_joined_by_name),
        cmocka_unit_test(test_assemble__a_failed_allocation_is_reported_and_nothing_is_lost),
        cmocka_unit_test(test_assemble__slits_and_folds_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
