/* Partitions: none empty, balanced, contiguous, with few cut faces, the same every time. */
#include "meshes.h"

typedef struct division {
    int32_t least, most; /* elements of a part */
    int pieces;          /* connected pieces of all parts */
    int64_t cut;
} division;

static division survey(const eg_mesh *mesh, int parts, const int32_t *part)
{
    division out = {.least = INT32_MAX, .cut = test_cut(mesh, part)};
    int32_t *size = calloc((size_t)parts, sizeof *size);
    int32_t *stack = calloc((size_t)mesh->element_count, sizeof *stack);
    char *seen = calloc((size_t)mesh->element_count, 1);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        assert_in_range(part[e], 0, parts - 1);
        size[part[e]]++;
        if (seen[e]) continue;
        int32_t height = 1;
        stack[0] = e;
        seen[e] = 1;
        out.pieces++;
        while (height > 0) {
            int32_t top = stack[--height];
            for (int f = 0; f < test_info(mesh, top)->faces; f++) {
                int32_t n = mesh->neighbour[top * mesh->face_stride + f];
                if (n < 0 || seen[n] || part[n] != part[e]) continue;
                seen[n] = 1;
                stack[height++] = n;
            }
        }
    }
    for (int p = 0; p < parts; p++) {
        if (size[p] < out.least) out.least = size[p];
        if (size[p] > out.most) out.most = size[p];
    }
    free(seen);
    free(stack);
    free(size);
    return out;
}

static void skip_without_metis(void)
{
    if (!eg_mesh_has_metis()) skip();
}

static void
test_partition__parts_are_balanced_contiguous_and_cut_fewer_faces_than_the_curve(void **state)
{
    (void)state;
    skip_without_metis();
    static const int part_counts[] = {2, 3, 4, 7, 16};
    static const int cells[][3] = {{40, 37, 10}, {90, 11, 12}};
    eg_context *ctx = test_context();
    int64_t cut = 0, curve_cut = 0;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (size_t k = 0; k < EG_COUNT(cells); k++) {
            eg_mesh *mesh = test_box(
                ctx, &(eg_box_options){.shape = test_shapes[s],
                                       .cells = {cells[k][0] / (s > 1 ? 4 : 1),
                                                 cells[k][1] / (s > 1 ? 4 : 1) + 1, cells[k][2]},
                                       .periodic = {k == 1, true}});
            int32_t *part = calloc((size_t)mesh->element_count, sizeof *part);
            for (size_t p = 0; p < EG_COUNT(part_counts); p++) {
                int parts = part_counts[p];
                TEST_OK(ctx, eg_mesh_partition(mesh, parts, EG_PARTITION_HILBERT, part));
                division curve = survey(mesh, parts, part);
                assert_true(curve.most - curve.least <= 1);
                TEST_OK(ctx, eg_mesh_partition(mesh, parts, EG_PARTITION_METIS, part));
                division d = survey(mesh, parts, part);
                assert_true(d.least > 0);
                assert_true(d.most <= 1.05 * mesh->element_count / parts + 1);
                assert_int_equal(d.pieces, parts);
                if (curve.pieces == parts) assert_true(d.cut <= curve.cut);
                cut += d.cut;
                curve_cut += curve.cut;
            }
            free(part);
            eg_mesh_destroy(&mesh);
        }
    }
    assert_true((double)cut < 0.85 * (double)curve_cut);
    test_context_free(&ctx);
}

static void test_partition__a_large_mesh_is_divided_well_too(void **state)
{
    (void)state;
    skip_without_metis();
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {180, 170}});
    int32_t *part = calloc((size_t)mesh->element_count, sizeof *part);
    TEST_OK(ctx, eg_mesh_partition(mesh, 6, EG_PARTITION_HILBERT, part));
    int64_t curve_cut = test_cut(mesh, part);
    TEST_OK(ctx, eg_mesh_partition(mesh, 6, EG_PARTITION_DEFAULT, part));
    division d = survey(mesh, 6, part);
    assert_true(mesh->element_count > 50000);
    assert_int_equal(d.pieces, 6);
    assert_true(d.most <= 1.05 * mesh->element_count / 6 + 1);
    assert_true(d.cut < curve_cut);
    free(part);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_partition__no_part_is_empty_up_to_one_element_each(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                        .cells = {4, 3, 2},
                                                        .periodic = {true, false, true}});
        int32_t part[144];
        assert_true(mesh->element_count <= 144);
        for (int step = 1, parts = 0; parts < mesh->element_count; step = 1 + parts / 8) {
            parts = parts + step < mesh->element_count ? parts + step : mesh->element_count;
            static const eg_partitioner all[] = {EG_PARTITION_DEFAULT, EG_PARTITION_HILBERT};
            for (size_t k = 0; k < EG_COUNT(all); k++) {
                TEST_OK(ctx, eg_mesh_partition(mesh, parts, all[k], part));
                division d = survey(mesh, parts, part);
                assert_true(d.least > 0);
                assert_true(d.most <= 1.05 * mesh->element_count / parts + 1);
            }
        }
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "at most as many ranks as elements",
                   eg_mesh_partition(mesh, mesh->element_count + 1, EG_PARTITION_DEFAULT, part));
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "into 0 parts",
                   eg_mesh_partition(mesh, 0, EG_PARTITION_DEFAULT, part));
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_partition__is_the_same_every_time(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TET, .cells = {6, 7, 5}});
    int32_t a[6 * 6 * 7 * 5], b[6 * 6 * 7 * 5];
    for (int parts = 2; parts < 9; parts++) {
        TEST_OK(ctx, eg_mesh_partition(mesh, parts, EG_PARTITION_DEFAULT, a));
        srand((unsigned)parts);
        TEST_OK(ctx, eg_mesh_partition(mesh, parts, EG_PARTITION_DEFAULT, b));
        assert_memory_equal(a, b, sizeof a);
    }
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* A row of cells without its middle: what METIS calls contiguous does not exist for two parts of
 * three. */
static void test_partition__a_mesh_in_two_pieces_is_divided_too(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {20, 3}});
    for (int32_t e = 0; e < mesh->element_count; e++) {
        for (int f = 0; f < 4; f++) {
            int32_t n = mesh->neighbour[4 * e + f];
            double here[3], there[3];
            if (n < 0) continue;
            eg_mesh_element_centre(mesh, e, here);
            eg_mesh_element_centre(mesh, n, there);
            if ((here[0] - 0.5) * (there[0] - 0.5) < 0.0) mesh->neighbour[4 * e + f] = -1;
        }
    }
    int32_t part[60];
    for (int parts = 2; parts <= 5; parts++) {
        TEST_OK(ctx, eg_mesh_partition(mesh, parts, EG_PARTITION_DEFAULT, part));
        division d = survey(mesh, parts, part);
        assert_true(d.least > 0);
        assert_true(d.most <= 1.05 * mesh->element_count / parts + 1);
        if (eg_mesh_has_metis()) assert_true(d.pieces <= parts + 1);
    }
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_partition__metis_that_is_not_built_in_is_refused(void **state)
{
    (void)state;
    if (eg_mesh_has_metis()) skip();
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {2, 2}});
    int32_t part[4];
    TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "built without METIS",
               eg_mesh_partition(mesh, 2, EG_PARTITION_METIS, part));
    TEST_OK(ctx, eg_mesh_partition(mesh, 2, EG_PARTITION_DEFAULT, part));
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static eg_status divide(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    int32_t part[18];
    EG_TRY(
        eg_mesh_create_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {3, 3}}, &mesh));
    EG_TRY(eg_mesh_partition(mesh, 3, EG_PARTITION_DEFAULT, part));
done:
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_partition__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    test_allocation_sweep(divide, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_partition__parts_are_balanced_contiguous_and_cut_fewer_faces_than_the_curve),
        cmocka_unit_test(test_partition__a_large_mesh_is_divided_well_too),
        cmocka_unit_test(test_partition__no_part_is_empty_up_to_one_element_each),
        cmocka_unit_test(test_partition__is_the_same_every_time),
        cmocka_unit_test(test_partition__a_mesh_in_two_pieces_is_divided_too),
        cmocka_unit_test(test_partition__metis_that_is_not_built_in_is_refused),
        cmocka_unit_test(test_partition__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
