/* Meshes from the tables of Gmsh files: groups become boundaries, what can be repaired is repaired
 * and said, and everything that is no mesh is refused by name. */
#include "small_gmsh.h"

#include "mesh/gmsh/near.h"

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
    for (int32_t e = 0; e < 3; e++) /* as their tags ascend */
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
         {"element 3 (tetrahedron, group \"group_9\")", "inside out: 1 of 4"}},
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
    TEST_FAILS(ctx, EG_ERROR_INPUT, "element 1 (quadrilateral, group \"group_9\")",
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

/* Elements that are not valid, told with the file's message: those of each kind of fault. */
static void test_assemble__a_mesh_is_read_with_its_faults_to_look_at(void **state)
{
    (void)state;
    static const struct {
        small_file file;
        const char *bad; /* "x" for each element that is, "." for others, by number */
    } files[] = {
        {{NAMES, NODES, LINES TRIANGLES "3 9 2 2 5 3 6\n", NULL}, "..x"}, /* tangled */
        {{NULL, "0 0 0\n1 0 0\n2 0 0\n1 1 0\n", "2 9 1 1 2 3\n2 9 1 1 3 4\n", NULL},
         "x."}, /* flat */
        /* Folded: the vertex in the middle lies beyond the lower side. */
        {{NULL, "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 -0.2 0\n",
          "2 9 1 1 2 5\n2 9 1 2 3 5\n2 9 1 3 4 5\n2 9 1 4 1 5\n", NULL},
         "x..."},
        {{NULL, "0 0 0\n1 0 0\n1 1 0\n0.9 0.8 0\n", "2 9 1 1 2 3\n2 9 1 1 4 3\n", NULL},
         "xx"}, /* upon each other */
        /* Curved: inside out in the middle only. */
        {{NULL,
          "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 0 0\n1 0.5 0\n0.5 1 0\n0 0.5 0\n1.3 0.5 0\n"
          "2 0 0\n2 1 0\n1.5 0 0\n2 0.5 0\n1.5 1 0\n1.5 0.5 0\n",
          "10 9 1 2 10 11 3 12 13 14 6 15\n10 9 1 1 2 3 4 5 6 7 8 9\n", NULL},
         ".x"},
        {{NAMES, NODES, LINES TRIANGLES SQUARE, NULL}, NULL},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(files); i++) {
        eg_mesh *mesh = NULL;
        eg_mesh_faults faults = {0};
        const eg_gmsh_options look = {.faults = &faults};
        TEST_OK(ctx, read_small(ctx, &files[i].file, &look, &mesh));
        assert_int_equal(faults.why != NULL, files[i].bad != NULL);
        assert_int_equal(faults.bad != NULL, files[i].bad != NULL);
        for (int32_t e = 0; files[i].bad && e < mesh->element_count; e++)
            assert_int_equal(faults.bad[e], files[i].bad[e] == 'x');
        eg_mesh_destroy(&mesh);
        if (files[i].bad)
            TEST_FAILS(ctx, EG_ERROR_INPUT, faults.why,
                       read_small(ctx, &files[i].file, NULL, &mesh));
        eg_mesh_faults_free(ctx, &faults);
    }
    /* What cannot be connected is refused, for the first reason; other faults are errors. */
    const small_file wrong[] = {
        {NAMES, NODES, TRIANGLES "2 9 1 1 3 6\n3 9 2 2 5 3 6\n", NULL},
        {NAMES, NODES, "1 1 1 1 2\n" TRIANGLES SQUARE, NULL},
    };
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        eg_mesh *mesh = NULL;
        eg_mesh_faults faults = {0};
        TEST_FAILS(ctx, EG_ERROR_INPUT, i == 0 ? "is tangled" : "there are 5 such faces",
                   read_small(ctx, &wrong[i], &(eg_gmsh_options){.faults = &faults}, &mesh));
        eg_mesh_faults_free(ctx, &faults);
    }
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

static eg_status read_with_faults(eg_context *ctx, void *user)
{
    eg_mesh *mesh = NULL;
    eg_mesh_faults faults = {0};
    eg_status status = read_small(ctx, user, &(eg_gmsh_options){.faults = &faults}, &mesh);
    eg_mesh_faults_free(ctx, &faults);
    eg_mesh_destroy(&mesh);
    return status;
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
    test_allocation_sweep(read_with_faults, &fold);
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
        cmocka_unit_test(test_assemble__a_mesh_is_read_with_its_faults_to_look_at),
        cmocka_unit_test(test_near__points_are_found_within_the_tolerance_and_only_there),
        cmocka_unit_test(test_assemble__nodes_at_one_place_are_merged_on_request_only),
        cmocka_unit_test(test_assemble__faces_that_lie_upon_each_other_are_told_and_accepted),
        cmocka_unit_test(test_assemble__a_failed_allocation_is_reported_and_nothing_is_lost),
        cmocka_unit_test(test_assemble__slits_and_folds_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
