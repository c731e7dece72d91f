/* Groups of elements: a file's physical groups become them, and they stay with their elements
 * through ordering, refining, other orders, cutting, writing and reading. */
#include "small_gmsh.h"

#include "mesh_file.h"

/* --- from files ------------------------------------------------------------------------------- */

static int32_t find_element(const eg_mesh *mesh, int64_t global)
{
    int32_t e = 0;
    while (e < mesh->element_count && mesh->global[e] != global)
        e++;
    assert_true(e < mesh->element_count);
    return e;
}

/* The group of the element with a global number. */
static const char *group_name(const eg_mesh *mesh, int64_t global)
{
    const int32_t group = mesh->group_of[find_element(mesh, global)];
    assert_in_range(group, 0, mesh->group_count - 1);
    return mesh->group[group];
}

/* Four squares in a row, each its own entity. */
#define ROW_NODES "0 0 0\n1 0 0\n2 0 0\n3 0 0\n4 0 0\n0 1 0\n1 1 0\n2 1 0\n3 1 0\n4 1 0\n"

static eg_mesh *read_row(eg_context *ctx, const char *names, const char *elements, eg_text *report)
{
    eg_mesh *mesh = NULL;
    const small_file file = {names, ROW_NODES, elements, NULL};
    TEST_OK(ctx, read_small(ctx, &file, &(eg_gmsh_options){.report = report}, &mesh));
    return mesh;
}

static void test_groups__physical_groups_of_elements_are_kept_by_name(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text report = eg_text_new(ctx);
    /* Two groups of one name, and one without; 3 names something else. */
    eg_mesh *mesh = read_row(
        ctx, "2 8 \"solid\"\n2 2 \"fluid\"\n2 4 \"solid\"\n1 3 \"wall\"\n2 77 \"nothing\"\n",
        "3 8 1 1 2 7 6\n3 2 2 2 3 8 7\n3 4 3 3 4 9 8\n3 3 4 4 5 10 9\n", &report);
    assert_int_equal(mesh->group_count, 3);
    assert_string_equal(mesh->group[0], "fluid");
    assert_string_equal(mesh->group[1], "group_3");
    assert_string_equal(mesh->group[2], "solid");
    assert_string_equal(group_name(mesh, 0), "solid");
    assert_string_equal(group_name(mesh, 1), "fluid");
    assert_string_equal(group_name(mesh, 2), "solid");
    assert_string_equal(group_name(mesh, 3), "group_3");
    assert_null(strstr(eg_text_string(&report), "from here on"));
    eg_mesh_destroy(&mesh);

    mesh = read_row(ctx, NULL, "3 0 1 1 2 7 6\n3 0 2 2 3 8 7\n", &report);
    assert_int_equal(mesh->group_count, 0);
    assert_null(mesh->group_of);
    eg_mesh_destroy(&mesh);
    eg_text_free(&report);
    test_context_free(&ctx);
}

static void test_groups__elements_in_several_are_in_the_first_and_it_is_said(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text report = eg_text_new(ctx);
    eg_mesh *mesh =
        read_row(ctx, "2 1 \"all\"\n2 2 \"left\"\n2 3 \"wet\"\n2 4 \"all\"\n",
                 "3 2 1 1 2 7 6\n3 1 1 1 2 7 6\n3 1 2 2 3 8 7\n3 3 2 2 3 8 7\n3 2 2 2 3 8 7\n"
                 "3 1 3 3 4 9 8\n3 1 4 4 5 10 9\n3 4 4 4 5 10 9\n",
                 &report);
    assert_int_equal(mesh->element_count, 4);
    assert_int_equal(mesh->group_count, 2); /* nothing is left of "wet" */
    assert_string_equal(group_name(mesh, 0), "left");
    assert_string_equal(group_name(mesh, 1), "all");
    assert_string_equal(group_name(mesh, 2), "all");
    assert_string_equal(group_name(mesh, 3), "all");
    assert_non_null(strstr(eg_text_string(&report),
                           "elements in several groups, which are in the first of them from here "
                           "on: 2. Groups that lose some: \"all\", \"left\", \"wet\"\n"));
    eg_mesh_destroy(&mesh);
    eg_text_free(&report);
    test_context_free(&ctx);
}

static void test_groups__elements_in_none_among_others_are_one_more(void **state)
{
    (void)state;
    static const struct {
        const char *names;
        int groups;
    } files[] = {{"2 1 \"solid\"\n2 2 \"fluid\"\n", 3}, {"2 1 \"solid\"\n2 2 \"no_group\"\n", 2}};
    for (size_t i = 0; i < EG_COUNT(files); i++) {
        eg_context *ctx = test_context();
        eg_text report = eg_text_new(ctx);
        eg_mesh *mesh =
            read_row(ctx, files[i].names,
                     "3 0 1 1 2 7 6\n3 1 2 2 3 8 7\n3 0 3 3 4 9 8\n3 2 4 4 5 10 9\n", &report);
        assert_int_equal(mesh->group_count, files[i].groups);
        assert_string_equal(group_name(mesh, 0), "no_group");
        assert_string_equal(group_name(mesh, 1), "solid");
        assert_string_equal(group_name(mesh, 2), "no_group");
        assert_string_equal(group_name(mesh, 3), i == 0 ? "fluid" : "no_group");
        assert_non_null(strstr(eg_text_string(&report),
                               "elements in no group, though others are, which are the group "
                               "\"no_group\" from here on: 2\n"));
        eg_mesh_destroy(&mesh);
        eg_text_free(&report);
        test_context_free(&ctx);
    }
}

/* Types that take turns, as Gmsh's own files of version 2.2 have them; and tags in any order. */
static void test_groups__elements_are_numbered_as_their_tags_ascend(void **state)
{
    (void)state;
    static const char mixed[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n7\n1 0 0 0\n2 1 0 0\n"
        "3 2 0 0\n4 3 0 0\n5 0 1 0\n6 1 1 0\n7 2 1 0\n$EndNodes\n"
        "$Elements\n4\n%s 2 2 1 1 1 2 5\n%s 3 2 2 2 2 3 7 6\n"
        "%s 2 2 1 1 2 6 5\n%s 2 2 3 3 3 4 7\n$EndElements\n";
    static const struct {
        const char *tag[4];
        int64_t number[4]; /* of the elements as they stand in the file */
    } files[] = {{{"1", "2", "3", "4"}, {0, 1, 2, 3}}, {{"70", "9", "8", "1000"}, {2, 1, 0, 3}}};
    static const double x[4] = {1.0 / 3, 1.5, 2.0 / 3, 7.0 / 3};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(files); i++) {
        char text[512];
        eg_gmsh_file *file = NULL;
        eg_mesh *mesh = NULL;
        const char *const *tag = files[i].tag;
        snprintf(text, sizeof text, mixed, tag[0], tag[1], tag[2], tag[3]);
        TEST_OK(ctx, eg_gmsh_open_bytes(ctx, "mixed.msh", text, strlen(text), &file));
        TEST_OK(ctx, eg_gmsh_assemble(file, NULL, &mesh));
        for (int k = 0; k < 4; k++) {
            double centre[3];
            eg_mesh_element_centre(mesh, find_element(mesh, files[i].number[k]), centre);
            TEST_NEAR(centre[0], x[k], 1e-15);
        }
        eg_gmsh_close(&file);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* --- groups stay with their elements ---------------------------------------------------------- */

static const char *const thirds[] = {"cold", "hot", "warm"};

static eg_mesh *grouped_box(eg_context *ctx, const eg_box_options *options)
{
    eg_mesh *mesh = test_box(ctx, options);
    TEST_OK(ctx, eg_new(ctx, (size_t)mesh->element_count, &mesh->group_of));
    TEST_OK(ctx, eg_mesh_copy_groups(mesh, 3, thirds));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double centre[3];
        eg_mesh_element_centre(mesh, e, centre);
        mesh->group_of[e] = (int32_t)(3.0 * centre[0]);
    }
    return mesh;
}

/* The thirds of a box along x, and of what was made of it, are the three groups. */
static void check_thirds(const eg_mesh *mesh)
{
    assert_int_equal(mesh->group_count, 3);
    for (int g = 0; g < 3; g++)
        assert_string_equal(mesh->group[g], thirds[g]);
    for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++) {
        double centre[3];
        eg_mesh_element_centre(mesh, e, centre);
        assert_int_equal(mesh->group_of[e], (int)(3.0 * centre[0]));
    }
}

static void test_groups__stay_when_meshes_are_ordered_refined_raised_and_cut(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        const eg_box_options o = {.shape = test_shapes[s], .cells = {6, 3, 2}, .order = 2};
        eg_mesh *mesh = grouped_box(ctx, &o), *changed = NULL;
        eg_mesh_summary summary;
        check_thirds(mesh);
        TEST_OK(ctx, eg_mesh_refine(mesh, &changed));
        check_thirds(changed);
        TEST_OK(ctx, eg_mesh_summarise(changed, &summary));
        for (int g = 0; g < 3; g++) {
            assert_int_equal(summary.group_element_count[g], changed->element_count / 3);
            TEST_NEAR(summary.group_volume[g], 1.0 / 3.0, 1e-15);
        }
        eg_mesh_summary_free(ctx, &summary);
        eg_mesh_destroy(&changed);
        for (int order = 1; order <= 3; order++) {
            TEST_OK(ctx, eg_mesh_set_order(mesh, order, &changed));
            check_thirds(changed);
            eg_mesh_destroy(&changed);
        }
        int32_t *part = NULL;
        TEST_OK(ctx, eg_new(ctx, (size_t)mesh->element_count, &part));
        TEST_OK(ctx, eg_mesh_partition(mesh, 4, EG_PARTITION_HILBERT, part));
        for (int rank = 0; rank < 4; rank++) {
            TEST_OK(ctx, eg_mesh_cut(mesh, rank, 4, part, &changed));
            assert_true(changed->ghost_count > 0);
            check_thirds(changed);
            eg_mesh_destroy(&changed);
        }
        eg_release(ctx, &part);
        /* Along x, against the order of a box: all elements change places. */
        for (int64_t v = 0; v < mesh->vertex_count; v++)
            mesh->x[v * mesh->dim + 1] *= 1e-3;
        TEST_OK(ctx, eg_mesh_order(mesh));
        check_thirds(mesh);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_groups__ranks_with_other_groups_have_other_meshes(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = grouped_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {3, 3}});
    const int32_t part[18] = {0};
    const uint64_t same = eg_mesh_digest_of(mesh, part).mesh;
    assert_true(eg_mesh_digest_of(mesh, part).mesh == same);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        mesh->group_of[e] ^= 1;
        assert_true(eg_mesh_digest_of(mesh, part).mesh != same);
        mesh->group_of[e] ^= 1;
    }
    char *const names[] = {mesh->group[0], mesh->group[2], mesh->boundary[0], mesh->boundary[3]};
    for (size_t i = 0; i < EG_COUNT(names); i++) {
        names[i][0] ^= 1;
        assert_true(eg_mesh_digest_of(mesh, part).mesh != same);
        names[i][0] ^= 1;
    }
    assert_true(eg_mesh_digest_of(mesh, part).mesh == same);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* --- files that are written ------------------------------------------------------------------- */

static const eg_gmsh_format formats[] = {
    {.version = 41},
    {.version = 41, .binary = true},
    {.version = 41, .binary = true, .swapped = true},
    {.version = 22},
    {.version = 22, .binary = true},
    {.version = 22, .binary = true, .swapped = true},
};

static void test_groups__come_back_from_files_with_their_elements(void **state)
{
    (void)state;
    fixture f = begin();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (size_t i = 0; i < EG_COUNT(formats); i++) {
            const eg_box_options o = {.shape = test_shapes[s],
                                      .cells = {6, 3, 2},
                                      .order = 1 + (int)i % 3,
                                      .periodic = {false, i % 2 == 0}};
            eg_mesh *mesh = grouped_box(f.ctx, &o), *read = NULL;
            TEST_OK(f.ctx, eg_mesh_write_gmsh(mesh, f.path, &formats[i]));
            TEST_OK(f.ctx, eg_mesh_read_gmsh(f.ctx, f.path, NULL, &read));
            check_thirds(read);
            assert_int_equal(read->boundary_count, mesh->boundary_count);
            for (int32_t e = 0; e < mesh->element_count; e++) {
                double here[3], there[3];
                eg_mesh_element_centre(mesh, e, here);
                eg_mesh_element_centre(read, find_element(read, mesh->global[e]), there);
                for (int d = 0; d < mesh->dim; d++)
                    TEST_NEAR(here[d], there[d], 1e-14);
            }
            assert_null(strstr(test_log, "from here on"));
            eg_mesh_destroy(&read);
            eg_mesh_destroy(&mesh);
        }
    }
    end(&f);
}

/* Elements take turns along a row of four; the last of its names has no elements. */
static eg_mesh *alternating_row(eg_context *ctx)
{
    static const char *const names[] = {"even", "odd", "unused"};
    eg_mesh *mesh = test_box(
        ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {3, 1}, .high = {3.0, 1.0}});
    TEST_OK(ctx, eg_new(ctx, (size_t)mesh->element_count, &mesh->group_of));
    TEST_OK(ctx, eg_mesh_copy_groups(mesh, 3, names));
    for (int32_t e = 0; e < mesh->element_count; e++)
        mesh->group_of[e] = (int32_t)mesh->global[e] % 2;
    return mesh;
}

static void test_groups__are_entities_with_what_bounds_them(void **state)
{
    (void)state;
    fixture f = begin();
    eg_mesh *mesh = alternating_row(f.ctx);
    char *bytes = NULL;
    size_t length;
    TEST_OK(f.ctx, eg_mesh_write_gmsh(mesh, f.path, NULL));
    TEST_OK(f.ctx, eg_file_read(f.ctx, f.path, &bytes, &length));
    assert_string_equal(
        bytes,
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
        "$PhysicalNames\n7\n1 4 \"left\"\n1 5 \"right\"\n1 6 \"bottom\"\n1 7 \"top\"\n"
        "2 1 \"even\"\n2 2 \"odd\"\n2 3 \"unused\"\n$EndPhysicalNames\n"
        "$Entities\n0 4 3 0\n"
        "4 0 0 0 0 1 0 1 4 0\n5 3 0 0 3 1 0 1 5 0\n6 0 0 0 3 0 0 1 6 0\n7 0 1 0 3 1 0 1 7 0\n"
        "1 0 0 0 3 1 0 1 1 4 4 5 6 7\n2 1 0 0 2 1 0 1 2 2 6 7\n3 0 0 0 0 0 0 1 3 0\n"
        "$EndEntities\n"
        "$Nodes\n4 8 1 8\n1 4 0 2\n1\n4\n0 0 0\n0 1 0\n1 5 0 2\n7\n8\n3 0 0\n3 1 0\n"
        "1 6 0 2\n2\n5\n1 0 0\n2 0 0\n1 7 0 2\n3\n6\n1 1 0\n2 1 0\n$EndNodes\n"
        "$Elements\n6 11 1 11\n2 1 3 2\n1 1 2 3 4\n3 5 7 8 6\n2 2 3 1\n2 2 5 6 3\n"
        "1 4 1 1\n4 4 1\n1 5 1 1\n5 7 8\n1 6 1 3\n6 1 2\n7 2 5\n8 5 7\n1 7 1 3\n9 3 4\n10 6 3\n"
        "11 8 6\n$EndElements\n");
    eg_release(f.ctx, &bytes);
    mesh->group[1][1] = '"';
    TEST_FAILS(f.ctx, EG_ERROR_INPUT, "the group name \"o\"d\" cannot stand in a Gmsh file",
               eg_mesh_write_gmsh(mesh, f.path, NULL));
    eg_mesh_destroy(&mesh);
    end(&f);
}

/* Nodes between groups, which no boundary has, belong to the first of the two. */
static void test_groups__share_nodes_of_which_the_first_is_the_owner(void **state)
{
    (void)state;
    fixture f = begin();
    eg_mesh *mesh = grouped_box(
        f.ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {3, 3}, .high = {1.0, 3.0}});
    char *bytes = NULL;
    size_t length;
    TEST_OK(f.ctx, eg_mesh_write_gmsh(mesh, f.path, NULL));
    TEST_OK(f.ctx, eg_file_read(f.ctx, f.path, &bytes, &length));
    const char *nodes = strstr(bytes, "$Nodes\n");
    assert_non_null(nodes);
    nodes = strstr(nodes, "\n6 16 1 16\n"); /* two groups and the four boundaries */
    assert_non_null(nodes);
    assert_memory_equal(nodes + strlen("\n6 16 1 16\n"), "2 1 0 2\n", 8); /* at x = 1/3 */
    assert_non_null(strstr(nodes, "\n2 2 0 2\n"));                        /* at x = 2/3 */
    assert_null(strstr(nodes, "\n2 3 0 "));
    eg_release(f.ctx, &bytes);
    eg_mesh_destroy(&mesh);
    end(&f);
}

/* --- words and memory ------------------------------------------------------------------------- */

/* Half a ring, whose ends are on one line with the vertices between them. */
static eg_status half_ring(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        x[2 * i] = -(1.0 + X[2 * i + 1]) * cos(M_PI * X[2 * i]);
        x[2 * i + 1] = (1.0 + X[2 * i + 1]) * sin(M_PI * X[2 * i]);
    }
    return EG_OK;
}

static void test_groups__are_named_in_messages_also_when_they_are_long(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const char *const names[] = {"arch", name};
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                    .cells = {1, 1},
                                                    .high = {1, 0.5},
                                                    .order = 4,
                                                    .map = half_ring});
    eg_mesh *changed = NULL;
    TEST_OK(ctx, eg_new(ctx, 1, &mesh->group_of));
    TEST_OK(ctx, eg_mesh_copy_groups(mesh, 2, names));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "element 0 (quadrilateral, group \"arch\") of order 4 is",
               eg_mesh_set_order(mesh, 1, &changed));
    mesh->group_of[0] = 1;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "xxxx\") of order 4 is inside out or flat",
               eg_mesh_set_order(mesh, 1, &changed));
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static eg_status change_and_write(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    const small_file file = {
        "2 1 \"solid\"\n2 2 \"fluid\"\n1 3 \"wall\"\n", ROW_NODES,
        "3 1 1 1 2 7 6\n3 2 1 1 2 7 6\n3 0 2 2 3 8 7\n2 2 3 3 4 9\n2 2 3 3 9 8\n3 1 4 4 5 10 9\n",
        NULL};
    eg_mesh *mesh = NULL, *fine = NULL, *raised = NULL, *part = NULL;
    eg_mesh_summary summary = {0};
    int32_t parts[20] = {0};
    EG_TRY(read_small(ctx, &file, NULL, &mesh));
    EG_TRY(eg_mesh_refine(mesh, &fine));
    EG_TRY(eg_mesh_set_order(fine, 2, &raised));
    EG_TRY(eg_mesh_write_gmsh(raised, user, NULL));
    EG_TRY(eg_mesh_summarise(raised, &summary));
    parts[3] = 1;
    EG_TRY(eg_mesh_cut(raised, 1, 2, parts, &part));
done:
    eg_mesh_summary_free(ctx, &summary);
    eg_mesh_destroy(&part);
    eg_mesh_destroy(&raised);
    eg_mesh_destroy(&fine);
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_groups__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX + 16];
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/mesh.msh", directory);
    test_allocation_sweep(change_and_write, path);
    test_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups__physical_groups_of_elements_are_kept_by_name),
        cmocka_unit_test(test_groups__elements_in_several_are_in_the_first_and_it_is_said),
        cmocka_unit_test(test_groups__elements_in_none_among_others_are_one_more),
        cmocka_unit_test(test_groups__elements_are_numbered_as_their_tags_ascend),
        cmocka_unit_test(test_groups__stay_when_meshes_are_ordered_refined_raised_and_cut),
        cmocka_unit_test(test_groups__ranks_with_other_groups_have_other_meshes),
        cmocka_unit_test(test_groups__come_back_from_files_with_their_elements),
        cmocka_unit_test(test_groups__are_entities_with_what_bounds_them),
        cmocka_unit_test(test_groups__share_nodes_of_which_the_first_is_the_owner),
        cmocka_unit_test(test_groups__are_named_in_messages_also_when_they_are_long),
        cmocka_unit_test(test_groups__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
