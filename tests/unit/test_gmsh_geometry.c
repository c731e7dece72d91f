/* Meshes from Gmsh files that are not straight in the plane: in a plane somewhere in space, of
 * curved elements, of several orders, and periodic ones. */
#include "small_gmsh.h"

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
        eg_mesh_summary_free(ctx, &summary);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assemble__flat_meshes_in_space_lie_in_their_own_plane),
        cmocka_unit_test(test_assemble__a_mesh_comes_back_from_a_file_node_by_node),
        cmocka_unit_test(test_assemble__curved_elements_are_turned_over_with_their_nodes),
        cmocka_unit_test(test_assemble__lower_orders_are_raised_where_sides_agree),
        cmocka_unit_test(
            test_assemble__curved_elements_that_fold_over_are_refused_with_their_group),
        cmocka_unit_test(test_assemble__periodic_boxes_come_back_periodic),
        cmocka_unit_test(test_assemble__links_that_are_no_translations_are_refused),
        cmocka_unit_test(test_assemble__boundaries_are_joined_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
