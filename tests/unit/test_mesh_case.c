/* Meshes from [mesh] of a case: what it asks for is made, what it asks for wrongly is shown at its
 * key. */
#include "meshes.h"

static eg_status open_case(eg_context *ctx, const char *text, eg_case **out)
{
    const eg_key *const tables[] = {eg_mesh_keys};
    const eg_case_options options = {.tables = tables, .table_count = EG_COUNT(tables)};
    return eg_case_open_text(ctx, "box.toml", text, strlen(text), &options, out);
}

static eg_status make(eg_context *ctx, const char *text, eg_mesh **mesh)
{
    eg_status status = EG_OK;
    eg_case *cas = NULL;
    *mesh = NULL;
    EG_TRY(open_case(ctx, text, &cas));
    EG_TRY(eg_mesh_create(ctx, cas, mesh));
done:
    eg_case_close(&cas);
    return status;
}

static void test_mesh_case__the_shortest_case_is_a_unit_square_of_triangles(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    eg_mesh_summary summary;
    TEST_OK(ctx, make(ctx, "[mesh]\ncells = [3, 4]\n", &mesh));
    TEST_OK(ctx, eg_mesh_summarise(mesh, &summary));
    assert_int_equal(summary.elements[EG_SHAPE_TRI], 24);
    TEST_NEAR(summary.volume, 1.0, 1e-14);
    assert_int_equal(mesh->boundary_count, 4);
    eg_mesh_summary_free(ctx, &summary);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_mesh_case__every_key_does_what_it_says(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    eg_mesh_summary summary;
    static const char text[] = "[constants]\nbend = 0.05\n"
                               "[mesh]\ngenerator = 'box'\nshape = 'hexahedron'\ncells = 3\n"
                               "low = [-1, 0, 0]\nhigh = [1, 2.0, 1]\ngrading = [1, 3.0, 1]\n"
                               "periodic = ['z', 'x']\nperturb = 0.1\nseed = 5\norder = 3\n"
                               "map = ['x', 'y + bend*sin(pi*x)', '2*z']\npartition = 'hilbert'\n";
    TEST_OK(ctx, make(ctx, text, &mesh));
    TEST_OK(ctx, eg_mesh_summarise(mesh, &summary));
    assert_int_equal(summary.elements[EG_SHAPE_HEX], 27);
    assert_int_equal(mesh->order, 3);
    assert_int_equal(mesh->boundary_count, 2);
    assert_string_equal(mesh->boundary[0], "bottom");
    assert_string_equal(mesh->boundary[1], "top");
    /* Faces are bent along y alone, so that the volume is that of the straight box, doubled. */
    TEST_NEAR(summary.volume, 8.0, 1e-3);
    TEST_NEAR(summary.high[2], 2.0, 1e-14);
    eg_mesh_summary_free(ctx, &summary);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_mesh_case__choices_of_partition_are_those_of_the_library(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    static const struct {
        const char *text;
        eg_partitioner partitioner;
    } rows[] = {{"[mesh]\ncells=[1,1]\n", EG_PARTITION_DEFAULT},
                {"[mesh]\ncells=[1,1]\npartition='auto'\n", EG_PARTITION_DEFAULT},
                {"[mesh]\ncells=[1,1]\npartition='metis'\n", EG_PARTITION_METIS},
                {"[mesh]\ncells=[1,1]\npartition='hilbert'\n", EG_PARTITION_HILBERT}};
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        eg_case *cas = NULL;
        eg_mesh *mesh = NULL;
        TEST_OK(ctx, open_case(ctx, rows[i].text, &cas));
        assert_int_equal(eg_case_choice(cas, "mesh.partition"), rows[i].partitioner);
        if (rows[i].partitioner == EG_PARTITION_METIS && !eg_mesh_has_metis())
            TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "built without METIS",
                       eg_mesh_create(ctx, cas, &mesh));
        else
            TEST_OK(ctx, eg_mesh_create(ctx, cas, &mesh));
        eg_mesh_destroy(&mesh);
        eg_case_close(&cas);
    }
    test_context_free(&ctx);
}

static void test_mesh_case__wrong_meshes_are_shown_at_their_keys(void **state)
{
    (void)state;
    /* All but [mesh] and cells = [4, 4] of a case, the line of the caret, and part of the
     * message. */
    static const struct {
        const char *rest;
        const char *place;
        const char *part;
    } wrong[] = {
        {"shape = 'hexahedron'\n", "box.toml:2:", "has 3 axes: give 3 values or one, not 2"},
        {"low = [0, 0, 0]\n", "box.toml:3:", "has 2 axes"},
        {"high = [1, 2, 3]\n", "box.toml:3:", "has 2 axes"},
        {"grading = [1, 2, 3]\n", "box.toml:3:", "has 2 axes"},
        {"low = [2, 0]\n", "mesh.high", "must end above its low end 2, not at 1"},
        {"high = [1, -1]\n", "box.toml:3:12", "must end above its low end 0, not at -1"},
        {"high = 0\n", "box.toml:3:", "must end above its low end 0, not at 0"},
        {"high = [1, 0]\n", "box.toml:3:12", "must end above its low end 0, not at 0"},
        {"periodic = ['x', 'z']\n", "box.toml:3:18", "has no axis z"},
        {"order = 11\n", "box.toml:3:", "degree 1 to 10, not 11"},
        {"map = ['x', 'y', 'z']\n", "box.toml:3:", "has 2 expressions, not 3"},
        {"map = ['x', 'y + z']\n", "box.toml:3:13", "may not depend on z"},
        {"map = ['x*t', 'y']\n", "box.toml:3:8", "may not depend on t"},
        {"map = ['-x', 'y']\n", "box.toml:3:", "is inside out"},
        {"map = ['x/(y - y)', 'y']\n", "box.toml:3:", "not finite at the point (0"},
        {"periodic = 'x'\nmap = ['x + x*y', 'y']\n", "box.toml:4:", "breaks the period along x"},
        {"cells = 4\n", "box.toml:3:", "cells"},
        {"perturb = 0.5\n", "box.toml:3:", "0.45"},
        {"shape = 'prism'\n", "box.toml:3:", "prism"},
        {"periodic = 'w'\n", "box.toml:3:", "w"},
        {"file = 'disc.msh'\n", "box.toml:2:", "the mesh is read from a file"},
        {"join = ['a', 'b']\n", "box.toml:3:", "mesh.file is missing"},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        eg_mesh *mesh = NULL;
        char text[256];
        snprintf(text, sizeof text, "[mesh]\ncells = [4, 4]\n%s", wrong[i].rest);
        TEST_FAILS(ctx, EG_ERROR_INPUT, wrong[i].part, make(ctx, text, &mesh));
        if (!strstr(eg_context_error(ctx), wrong[i].place))
            fail_msg("%s: \"%s\" lacks \"%s\"", wrong[i].rest, eg_context_error(ctx),
                     wrong[i].place);
        assert_null(mesh);
    }
    eg_mesh *mesh = NULL;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "cells", make(ctx, "[mesh]\nshape = 'triangle'\n", &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "2e+10 elements with 3 faces each are more than one process can",
               make(ctx, "[mesh]\ncells = [100000, 100000]\n", &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "1.2e+09 elements with 4 faces each",
               make(ctx, "[mesh]\nshape = 'quadrilateral'\ncells = [60000, 20000]\n", &mesh));
    test_context_free(&ctx);
}

/* A case that reads a box of six by two squares from a file that was written before. */
static eg_status make_from_file(eg_context *ctx, const char *rest, eg_mesh **mesh)
{
    char directory[PATH_MAX], path[PATH_MAX + 16], text[PATH_MAX + 256];
    const eg_box_options options = {
        .shape = EG_SHAPE_QUAD, .cells = {6, 2}, .high = {3.0, 1.0, 0.0}};
    eg_mesh *box = test_box(ctx, &options);
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/box.msh", directory);
    TEST_OK(ctx, eg_mesh_write_gmsh(box, path, NULL));
    snprintf(text, sizeof text, "[mesh]\nfile = '%s'\n%s", path, rest);
    const eg_status status = make(ctx, text, mesh);
    test_directory_remove(directory);
    eg_mesh_destroy(&box);
    return status;
}

static void test_mesh_case__a_file_is_read_joined_raised_and_mapped(void **state)
{
    (void)state;
    static const double period[2] = {3.0, 1.0};
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    eg_mesh_summary summary;
    TEST_OK(ctx, make_from_file(ctx, "", &mesh));
    assert_int_equal(mesh->element_count, 12);
    assert_int_equal(mesh->order, 1);
    assert_int_equal(mesh->boundary_count, 4);
    eg_mesh_destroy(&mesh);
    TEST_OK(ctx, make_from_file(ctx, "join = ['left', 'right', 'bottom', 'top']\nmerge = true\n",
                                &mesh));
    assert_int_equal(mesh->boundary_count, 0);
    test_check_connected(mesh, period);
    eg_mesh_destroy(&mesh);
    TEST_OK(ctx, make_from_file(ctx, "order = 3\n", &mesh));
    assert_int_equal(mesh->order, 3);
    eg_mesh_destroy(&mesh);
    TEST_OK(ctx, make_from_file(
                     ctx, "order = 2\nmap = ['x', 'y + 0.1*x*(3 - x)']\njoin = ['left', 'right']\n",
                     &mesh));
    TEST_OK(ctx, eg_mesh_summarise(mesh, &summary));
    assert_int_equal(mesh->order, 2);
    TEST_NEAR(summary.volume, 3.0, 1e-14);
    TEST_NEAR(summary.high[1], 1.0 + 0.1 * 2.25, 1e-12);
    eg_mesh_summary_free(ctx, &summary);
    eg_mesh_destroy(&mesh);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "have different forms at the face that joins them",
               make_from_file(ctx, "map = ['x + x*y', 'y']\njoin = ['left', 'right']\n", &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               ":4:7: error: ", make_from_file(ctx, "order = 2\nmap = ['x', '-y']\n", &mesh));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "cannot be periodic",
               make_from_file(ctx, "join = ['left', 'top']\n", &mesh));
    test_context_free(&ctx);
}

static void test_mesh_case__refining_cuts_every_element_after_all_else(void **state)
{
    (void)state;
    static const char curved[] = "[mesh]\nshape = 'quadrilateral'\ncells = 2\norder = 3\n"
                                 "periodic = ['x']\nmap = ['x', 'y + 0.05*sin(2*pi*x)']\n";
    char text[256];
    eg_context *ctx = test_context();
    eg_mesh_summary before, after;
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, make(ctx, curved, &mesh));
    TEST_OK(ctx, eg_mesh_summarise(mesh, &before));
    eg_mesh_destroy(&mesh);
    snprintf(text, sizeof text, "%srefine = 2\n", curved);
    TEST_OK(ctx, make(ctx, text, &mesh));
    TEST_OK(ctx, eg_mesh_summarise(mesh, &after));
    assert_int_equal(before.elements[EG_SHAPE_QUAD], 4);
    assert_int_equal(after.elements[EG_SHAPE_QUAD], 64);
    assert_int_equal(before.periodic_faces, 4);
    assert_int_equal(after.periodic_faces, 16);
    assert_int_equal(mesh->order, 3);
    TEST_NEAR(after.volume, before.volume, 1e-13);
    TEST_NEAR(after.low[1], before.low[1], 1e-2);
    /* More than can be numbered or held is refused before it is made, at the key. */
    assert_int_equal(eg_mesh_check_refine(mesh, 1), EG_OK);
    assert_int_equal(eg_mesh_check_refine(mesh, 15), EG_ERROR_INPUT);
    eg_mesh_destroy(&mesh);
    snprintf(text, sizeof text, "%srefine = 20\n", curved);
    assert_int_equal(make(ctx, text, &mesh), EG_ERROR_INPUT);
    assert_null(mesh);
    assert_non_null(strstr(eg_context_error(ctx), "refine less often"));
    assert_non_null(strstr(eg_context_error(ctx), "box.toml:7:10"));
    eg_mesh_summary_free(ctx, &before);
    eg_mesh_summary_free(ctx, &after);
    test_context_free(&ctx);
}

/* How many faces of a boundary there are, and whether those of it alone lie where x > 1/6. */
static int count_faces(const eg_mesh *mesh, const char *name, double *least_x, double *most_x)
{
    const int b = eg_mesh_find_boundary(mesh, name);
    int count = 0;
    *least_x = INFINITY;
    *most_x = -INFINITY;
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int f = 0; f < mesh->face_stride; f++) {
            const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[e]);
            if (mesh->neighbour[e * mesh->face_stride + f] != -1 - b) continue;
            count++;
            for (int i = 0; i < info->face_vertices; i++) {
                const int32_t v = mesh->vertices[e * mesh->vertex_stride + info->face[f][i]];
                *least_x = fmin(*least_x, mesh->x[v * mesh->dim]);
                *most_x = fmax(*most_x, mesh->x[v * mesh->dim]);
            }
        }
    return count;
}

static void test_mesh_case__parts_of_the_boundary_are_named_by_where_they_lie(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    double least, most;
    TEST_OK(ctx, make(ctx,
                      "[mesh]\nshape = 'quadrilateral'\ncells = [12, 3]\nrefine = 1\n"
                      "[mesh.boundary.ramp]\nwhere = 'y < 1e-9 && x > 1/6'\n"
                      "[mesh.boundary.left]\nwhere = 'y < 1e-9 && x < 1/6'\n"
                      "[mesh.boundary.lid]\nwhere = 'y > 1 - 1e-9'\n",
                      &mesh));
    assert_int_equal(count_faces(mesh, "ramp", &least, &most), 20);
    TEST_NEAR(least, 1.0 / 6, 1e-14);
    TEST_NEAR(most, 1, 1e-14);
    assert_int_equal(count_faces(mesh, "left", &least, &most), 4 + 6);
    TEST_NEAR(most, 1.0 / 6, 1e-14);
    assert_int_equal(count_faces(mesh, "lid", &least, &most), 24);
    assert_int_equal(count_faces(mesh, "right", &least, &most), 6);
    /* Those without faces are gone. */
    assert_int_equal(mesh->boundary_count, 4);
    assert_int_equal(eg_mesh_find_boundary(mesh, "bottom"), -1);
    assert_int_equal(eg_mesh_find_boundary(mesh, "top"), -1);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_mesh_case__wrong_parts_of_the_boundary_are_shown(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"[mesh.boundary.a]\n", "it needs the key \"where\""},
        {"[mesh.boundary.a]\nwhere = 'x > 2'\n", "true at the centre of no face"},
        {"[mesh.boundary.a]\nwhere = 'x > 0 && y > z'\n", "may not depend on z"},
        {"[mesh.boundary.a]\nwhere = 'x + t > 0'\n", "may not depend on t"},
        {"[mesh.boundary.a]\nwhere = 'x < 0.1'\n[mesh.boundary.b]\nwhere = 'y < 0.1'\n",
         "belongs to boundary \"a\" as well"},
    };
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        char text[512];
        eg_mesh *mesh = NULL;
        snprintf(text, sizeof text, "[mesh]\ncells = [20, 20]\n%s", rows[i].text);
        TEST_FAILS(ctx, EG_ERROR_INPUT, rows[i].says, make(ctx, text, &mesh));
        assert_null(mesh);
    }
    test_context_free(&ctx);
}

static void test_mesh_case__a_box_that_memory_cannot_hold_is_named(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_case *cas = NULL;
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, open_case(ctx, "[mesh]\ncells = [20, 20]\n", &cas));
    test_allocator_arm(3, true);
    TEST_FAILS(ctx, EG_ERROR_MEMORY, "mesh.cells: the box takes 9.54e-05 GB",
               eg_mesh_create(ctx, cas, &mesh));
    assert_non_null(strstr(eg_context_error(ctx), "out of memory"));
    test_allocator_arm(0, false);
    eg_case_close(&cas);
    test_context_free(&ctx);
}

static eg_status make_and_destroy(eg_context *ctx, void *user)
{
    eg_mesh *mesh = NULL;
    eg_status status = make(ctx, user, &mesh);
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_mesh_case__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    char text[] = "[mesh]\ncells = [2, 2]\nperiodic = 'x'\nmap = ['x + 0.1*sin(2*pi*y)', 'y']\n"
                  "[mesh.boundary.lid]\nwhere = 'y > 0.9'\n";
    test_allocation_sweep(make_and_destroy, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mesh_case__the_shortest_case_is_a_unit_square_of_triangles),
        cmocka_unit_test(test_mesh_case__every_key_does_what_it_says),
        cmocka_unit_test(test_mesh_case__choices_of_partition_are_those_of_the_library),
        cmocka_unit_test(test_mesh_case__wrong_meshes_are_shown_at_their_keys),
        cmocka_unit_test(test_mesh_case__a_file_is_read_joined_raised_and_mapped),
        cmocka_unit_test(test_mesh_case__refining_cuts_every_element_after_all_else),
        cmocka_unit_test(test_mesh_case__parts_of_the_boundary_are_named_by_where_they_lie),
        cmocka_unit_test(test_mesh_case__wrong_parts_of_the_boundary_are_shown),
        cmocka_unit_test(test_mesh_case__a_box_that_memory_cannot_hold_is_named),
        cmocka_unit_test(test_mesh_case__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
