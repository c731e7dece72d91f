/* Boxes that a map has bent: their nodes, which elements are affine, maps that are refused, memory. */
#include "meshes.h"

#include <malloc.h>
#include <string.h>

#include "mesh/box.h"

/* --- curved elements -------------------------------------------------------------------------- */

static eg_status annulus(void *user, size_t count, const double *X, double *x)
{
    int dim = *(int *)user;
    for (size_t i = 0; i < count; i++) {
        const double *from = &X[i * (size_t)dim];
        double *to = &x[i * (size_t)dim];
        double radius = 1.0 + from[0], angle = from[1];
        if (dim == 3) to[2] = from[2] + 0.2 * sin(from[0] + from[1]);
        to[0] = radius * cos(angle);
        to[1] = radius * sin(angle);
    }
    return EG_OK;
}

static void test_box__volume_of_a_curved_box_converges_faster_than_the_order(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        int dim = eg_shape_get_info(test_shapes[s])->dim;
        for (int order = 1; order <= 4; order++) {
            double error[2];
            for (int level = 0; level < 2; level++) {
                int n = (dim == 2 ? 4 : 2) << level;
                eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                                .cells = {n, n, n},
                                                                .order = order,
                                                                .map = annulus,
                                                                .map_user = &dim});
                eg_mesh_summary summary = test_summarise(mesh);
                error[level] = fabs(summary.volume - 1.5); /* half of 2² - 1² */
                assert_int_equal(mesh->order, order);
                assert_true((mesh->nodes != NULL) == (order > 1));
                eg_mesh_summary_free(ctx, &summary);
                eg_mesh_destroy(&mesh);
            }
            double rate = log2(error[0] / error[1]);
            if (error[1] > 1e-12 && !(rate > order + 0.8))
                fail_msg("%s, order %d: errors %.3g, %.3g", eg_shape_get_info(test_shapes[s])->name,
                         order, error[0], error[1]);
        }
    }
    test_context_free(&ctx);
}

/* Points of a face's own reference shape in the element's nodes: both sides agree. */
static void check_shared_nodes(eg_context *ctx, const eg_mesh *mesh, eg_shape shape)
{
    eg_element *element = NULL;
    TEST_OK(ctx, eg_element_create(ctx, shape, mesh->order, EG_BASIS_LOBATTO, &element));
    const eg_shape_info *info = eg_shape_get_info(shape);
    int count = element->face_np;
    double points[3 * 121], other[3 * 121];
    double *a = calloc((size_t)(element->np * 3), sizeof *a);
    double *b = calloc((size_t)(element->np * 3), sizeof *b);
    assert_true(count <= 121);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        assert_int_equal(eg_mesh_element_nodes(mesh, e, a), element->np);
        for (int f = 0; f < info->faces; f++) {
            int64_t slot = (int64_t)e * mesh->face_stride + f;
            int32_t n = mesh->neighbour[slot];
            if (n < 0) continue;
            int face = EG_FACE(mesh->neighbour_face[slot]);
            memcpy(points, element->face_r, (size_t)((info->dim - 1) * count) * sizeof *points);
            eg_orientation_points(info->face_shape, EG_ORIENTATION(mesh->neighbour_face[slot]),
                                  count, points, other);
            eg_mesh_element_nodes(mesh, n, b);
            for (int i = 0; i < count; i++) {
                int j = 0;
                for (; j < count; j++) {
                    double distance = 0.0;
                    for (int d = 0; d < info->dim - 1; d++)
                        distance =
                            fmax(distance, fabs(other[d * count + i] - points[d * count + j]));
                    if (distance < 1e-10) break;
                }
                assert_true(j < count);
                const double *mine = &a[element->face_node[f * count + i] * info->dim];
                const double *its = &b[element->face_node[face * count + j] * info->dim];
                for (int d = 0; d < info->dim; d++)
                    TEST_NEAR(mine[d], its[d], 3e-15);
            }
        }
    }
    free(b);
    free(a);
    eg_element_destroy(&element);
}

static void test_box__both_elements_at_a_face_have_the_same_nodes_there(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        int dim = eg_shape_get_info(test_shapes[s])->dim;
        for (int order = 1; order <= 4; order++) {
            eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                            .cells = {3, 2, 2},
                                                            .perturb = 0.1,
                                                            .order = order,
                                                            .map = annulus,
                                                            .map_user = &dim});
            check_shared_nodes(ctx, mesh, test_shapes[s]);
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

static void test_box__nodes_lie_where_the_map_takes_the_straight_nodes(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        int dim = eg_shape_get_info(test_shapes[s])->dim;
        for (int order = 1; order <= 5; order += 2) {
            eg_box_options o = {.shape = test_shapes[s], .cells = {1, 1, 1}, .order = order};
            eg_mesh *straight = test_box(ctx, &o);
            o.map = annulus;
            o.map_user = &dim;
            eg_mesh *bent = test_box(ctx, &o);
            eg_element *element = NULL;
            TEST_OK(ctx, eg_element_create(ctx, o.shape, order, EG_BASIS_LOBATTO, &element));
            double *x = calloc((size_t)(element->np * dim), sizeof *x);
            double *y = calloc((size_t)(element->np * dim), sizeof *y);
            double *z = calloc((size_t)(element->np * dim), sizeof *z);
            for (int32_t e = 0; e < bent->element_count; e++) {
                assert_int_equal(eg_mesh_element_nodes(straight, e, x), element->np);
                assert_int_equal(eg_mesh_element_nodes(bent, e, y), element->np);
                /* Tensor elements of one cell: x = (1 + r)/2. */
                for (int i = 0; eg_shape_get_info(o.shape)->tensor && i < element->np * dim; i++) {
                    double r = element->r[i % dim * element->np + i / dim];
                    TEST_NEAR(x[i], 0.5 * (1.0 + r), 1e-15);
                }
                TEST_OK(ctx, annulus(&dim, (size_t)element->np, x, z));
                for (int i = 0; i < element->np * dim; i++)
                    TEST_NEAR(y[i], z[i], 1e-15);
            }
            free(z);
            free(y);
            free(x);
            eg_element_destroy(&element);
            eg_mesh_destroy(&bent);
            eg_mesh_destroy(&straight);
        }
    }
    test_context_free(&ctx);
}

static eg_status shear(void *user, size_t count, const double *X, double *x)
{
    int dim = *(int *)user;
    for (size_t i = 0; i < count; i++) {
        const double *from = &X[i * (size_t)dim];
        double *to = &x[i * (size_t)dim];
        to[0] = 3.0 + 2.0 * from[0] + 0.3 * from[1];
        to[1] = -1.0 + 0.2 * from[0] + from[1];
        if (dim == 3) to[2] = from[2] - 0.4 * from[0];
    }
    return EG_OK;
}

static void test_box__elements_are_affine_where_their_mapping_is(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        const eg_shape_info *info = eg_shape_get_info(test_shapes[s]);
        int dim = info->dim;
        for (int order = 1; order <= 4; order += 3) {
            for (int kind = 0; kind < 4; kind++) {
                eg_box_options o = {.shape = test_shapes[s], .cells = {3, 3, 3}, .order = order};
                if (kind == 1) o.map = shear;
                if (kind == 2) o.map = annulus;
                if (kind == 3) o.perturb = 0.2;
                o.map_user = &dim;
                bool affine = kind < 2 || (!info->tensor && (kind == 3 || order == 1));
                eg_mesh *mesh = test_box(ctx, &o);
                for (int32_t e = 0; e < mesh->element_count; e++)
                    assert_int_equal(eg_mesh_is_affine(mesh, e), affine);
                eg_mesh_destroy(&mesh);
            }
        }
    }
    test_context_free(&ctx);
}

/* The height of the box grows by the part `bend` from left to right. */
static eg_status bend_slightly(void *user, size_t count, const double *X, double *x)
{
    double bend = *(double *)user;
    for (size_t i = 0; i < count; i++) {
        x[2 * i] = X[2 * i];
        x[2 * i + 1] = X[2 * i + 1] * (1.0 + bend * X[2 * i]);
    }
    return EG_OK;
}

static void test_box__thin_elements_that_bend_by_a_part_of_their_height_are_not_affine(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    static const double heights[] = {1.0, 1e-3, 1e-6, 1e-9};
    for (size_t h = 0; h < EG_COUNT(heights); h++) {
        for (int order = 1; order <= 3; order++) {
            for (int bent = 0; bent < 2; bent++) {
                double bend = bent ? 2e-4 : 0.0;
                eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                                .cells = {1, 1},
                                                                .high = {1.0, heights[h]},
                                                                .order = order,
                                                                .map = bend_slightly,
                                                                .map_user = &bend});
                assert_int_equal(eg_mesh_is_affine(mesh, 0), !bent);
                eg_mesh_destroy(&mesh);
            }
        }
    }
    test_context_free(&ctx);
}

/* Rounding alone, of coordinates that are large beside the cells, bends no element. */
static void test_box__small_cells_far_from_the_origin_are_affine(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (int order = 1; order <= 4; order++) {
            eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                            .cells = {5, 3, 3},
                                                            .low = {1.0, 3.0, -7.0},
                                                            .high = {2.0, 3.0 + 1e-10, -6.9999},
                                                            .grading = {30.0, 2.0, 1e-3},
                                                            .order = order});
            for (int32_t e = 0; e < mesh->element_count; e++)
                assert_true(eg_mesh_is_affine(mesh, e));
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

static void test_box__stretched_elements_are_valid_whatever_their_aspect(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (int order = 1; order <= 3; order += 2) {
            int dim = eg_shape_get_info(test_shapes[s])->dim;
            eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                            .cells = {1, 1, 1},
                                                            .high = {1.0, 1e-9, 1e-9},
                                                            .order = order});
            eg_mesh_summary summary = test_summarise(mesh);
            TEST_NEAR(summary.volume * (dim == 2 ? 1e9 : 1e18), 1.0, 1e-13);
            eg_mesh_summary_free(ctx, &summary);
            eg_mesh_destroy(&mesh);

            mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                   .cells = {2, 12, 12},
                                                   .grading = {1.0, 1e9, 1e-9},
                                                   .order = order});
            summary = test_summarise(mesh);
            TEST_NEAR(summary.volume, 1.0, 1e-13);
            eg_mesh_summary_free(ctx, &summary);
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

/* --- refusals --------------------------------------------------------------------------------- */

static eg_status fold(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        x[2 * i] = X[2 * i] * (1.6 - X[2 * i]); /* turns back at 0.8 */
        x[2 * i + 1] = X[2 * i + 1];
    }
    return EG_OK;
}

/* Squeezes the box to a plane, but for rounding. */
static eg_status flatten(void *user, size_t count, const double *X, double *x)
{
    int dim = *(int *)user;
    for (size_t i = 0; i < count; i++) {
        const double *from = &X[i * (size_t)dim];
        double *to = &x[i * (size_t)dim];
        double across = from[dim - 1];
        for (int d = 0; d < dim; d++)
            to[d] = from[d] + 1.1 * (0.3 - from[d]) + 0.7 * across;
        to[dim - 1] = 0.3 * to[0];
    }
    return EG_OK;
}

/* One side of the box has no width: x = 0 there for all points, to rounding. */
static eg_status close_up(void *user, size_t count, const double *X, double *x)
{
    int dim = *(int *)user;
    for (size_t i = 0; i < count; i++) {
        const double *from = &X[i * (size_t)dim];
        double *to = &x[i * (size_t)dim];
        for (int d = 0; d < dim; d++)
            to[d] = from[d];
        to[0] = from[0] * (from[1] + 1e-17);
    }
    return EG_OK;
}

/* Shears the box until its determinant has two digits left. */
static eg_status shear_off(void *user, size_t count, const double *X, double *x)
{
    int dim = *(int *)user;
    for (size_t i = 0; i < count; i++) {
        const double *from = &X[i * (size_t)dim];
        double *to = &x[i * (size_t)dim];
        for (int d = 0; d < dim; d++)
            to[d] = from[d];
        to[0] = from[0] + from[1] - 1.0;
        to[1] = from[0] + from[1] * (1.0 + 1e-14) - 1.0;
    }
    return EG_OK;
}

static void test_box__elements_that_are_flat_but_for_rounding_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh_map *const maps[] = {flatten, close_up, shear_off};
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        int dim = eg_shape_get_info(test_shapes[s])->dim;
        for (size_t m = 0; m < EG_COUNT(maps); m++) {
            for (int order = 1; order <= 3; order += 2) {
                eg_mesh *mesh = NULL;
                eg_box_options o = {.shape = test_shapes[s],
                                    .cells = {2, 2, 2},
                                    .order = order,
                                    .map = maps[m],
                                    .map_user = &dim};
                TEST_FAILS(ctx, EG_ERROR_INPUT, "is inside out or flat",
                           eg_mesh_create_box(ctx, &o, &mesh));
            }
        }
    }
    test_context_free(&ctx);
}

static eg_status explode(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < 2 * count; i++)
        x[i] = 1.0 / (X[i] - 0.5);
    return EG_OK;
}

static eg_status bulge(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        x[2 * i] = X[2 * i] + 0.1 * X[2 * i] * sin(3.0 * X[2 * i + 1]);
        x[2 * i + 1] = X[2 * i + 1];
    }
    return EG_OK;
}

static eg_status give_up(void *user, size_t count, const double *X, double *x)
{
    (void)count, (void)X, (void)x;
    return eg_fail(user, EG_ERROR_NUMERIC, "no such point");
}

static void test_box__maps_that_do_harm_are_refused_with_the_place(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = NULL;
    for (int order = 1; order <= 3; order++) {
        for (int s = 0; s < 2; s++) {
            eg_box_options o = {
                .shape = test_shapes[s], .cells = {4, 4}, .order = order, .map = fold};
            TEST_FAILS(ctx, EG_ERROR_INPUT,
                       "is inside out or flat: the Jacobian of its mapping is -",
                       eg_mesh_create_box(ctx, &o, &mesh));
            int number = -1;
            double x, y;
            assert_int_equal(sscanf(eg_context_error(ctx), "element %d", &number), 1);
            assert_in_range(number, 0, 31);
            const char *place = strstr(eg_context_error(ctx), " at (");
            assert_non_null(place);
            assert_int_equal(sscanf(place, " at (%lf, %lf)", &x, &y), 2);
            assert_true(x >= 0.59 && x <= 0.65 && y >= 0.0 && y <= 1.0);
            assert_null(mesh);
        }
    }
    eg_box_options o = {.shape = EG_SHAPE_QUAD, .cells = {2, 2}, .order = 2, .map = explode};
    TEST_FAILS(ctx, EG_ERROR_INPUT, "not finite at the point (",
               eg_mesh_create_box(ctx, &o, &mesh));
    o.map = bulge;
    o.periodic[0] = true;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "breaks the period along x",
               eg_mesh_create_box(ctx, &o, &mesh));
    o.periodic[0] = false;
    o.periodic[1] = true;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "breaks the period along y",
               eg_mesh_create_box(ctx, &o, &mesh));
    o.map = give_up;
    o.map_user = ctx;
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "no such point", eg_mesh_create_box(ctx, &o, &mesh));
    test_context_free(&ctx);
}

static void test_box__a_map_may_stretch_and_bend_periodic_sides_alike(void **state)
{
    (void)state;
    int dim = 2;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI,
                                                    .cells = {3, 3},
                                                    .periodic = {true, true},
                                                    .order = 3,
                                                    .map = shear,
                                                    .map_user = &dim});
    assert_int_equal(mesh->boundary_count, 0);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Blocks in use, and the most there ever were, in bytes. */
typedef struct meter {
    size_t used, most;
} meter;

static void *metered_reallocate(void *user, void *block, size_t bytes)
{
    meter *m = user;
    m->used -= block ? malloc_usable_size(block) : 0;
    block = realloc(block, bytes);
    assert_non_null(block);
    m->used += malloc_usable_size(block);
    if (m->used > m->most) m->most = m->used;
    return block;
}

static void metered_release(void *user, void *block)
{
    meter *m = user;
    m->used -= malloc_usable_size(block);
    free(block);
}

static void test_box__memory_is_foretold_and_a_box_that_exceeds_it_is_refused(void **state)
{
    (void)state;
    meter m = {0};
    eg_context_options options = eg_context_defaults();
    options.allocator = (eg_allocator){metered_reallocate, metered_release, &m};
    eg_context *ctx = NULL;
    assert_int_equal(eg_context_create(&options, &ctx), EG_OK);
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        int dim = eg_shape_get_info(test_shapes[s])->dim, n = dim == 2 ? 100 : 16;
        for (int order = 1; order <= 3; order += 2) {
            eg_box_options resolved;
            eg_box_error error;
            eg_box_options o = {.shape = test_shapes[s],
                                .cells = {n, n, n},
                                .order = order,
                                .map =
                                    dim == 2 ? shear : NULL, /* in 3D its check has large tables */
                                .map_user = &dim};
            assert_true(eg_box_resolve(&o, &resolved, &error));
            m.most = m.used;
            size_t before = m.used;
            eg_mesh *mesh = test_box(ctx, &o);
            double taken = (double)(m.most - before), foretold = eg_box_bytes(&resolved);
            if (!(foretold > 0.9 * taken && foretold < 1.1 * taken))
                fail_msg("%s, order %d: %.4g bytes were foretold, %.4g were taken",
                         eg_shape_get_info(test_shapes[s])->name, order, foretold, taken);
            eg_mesh_destroy(&mesh);

            assert_true(eg_box_fits(&resolved, foretold, &error));
            assert_false(eg_box_fits(&resolved, 0.99 * foretold, &error));
            assert_string_equal(error.member, "cells");
        }
    }
    eg_context_destroy(&ctx);

    eg_box_options large;
    eg_box_error error;
    eg_box_options o = {.shape = EG_SHAPE_QUAD, .cells = {1, 1}};
    assert_true(eg_box_resolve(&o, &large, &error));
    large.cells[0] = large.cells[1] = 20000;
    assert_false(eg_box_fits(&large, 8e9, &error));
    assert_string_equal(
        error.message, "400000000 elements take 64.4 GB of memory to be made, and this machine has "
                       "8 GB; use fewer cells");
}

static eg_status make_and_summarise(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    eg_mesh_summary summary = {0};
    EG_TRY(eg_mesh_create_box(ctx, user, &mesh));
    EG_TRY(eg_mesh_summarise(mesh, &summary));
done:
    eg_mesh_summary_free(ctx, &summary);
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_box__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    int dim = 2;
    eg_box_options o = {.shape = EG_SHAPE_TRI,
                        .cells = {2, 2},
                        .perturb = 0.4,
                        .periodic = {true},
                        .order = 2,
                        .map = shear,
                        .map_user = &dim};
    test_allocation_sweep(make_and_summarise, &o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box__volume_of_a_curved_box_converges_faster_than_the_order),
        cmocka_unit_test(test_box__both_elements_at_a_face_have_the_same_nodes_there),
        cmocka_unit_test(test_box__nodes_lie_where_the_map_takes_the_straight_nodes),
        cmocka_unit_test(test_box__elements_are_affine_where_their_mapping_is),
        cmocka_unit_test(
            test_box__thin_elements_that_bend_by_a_part_of_their_height_are_not_affine),
        cmocka_unit_test(test_box__small_cells_far_from_the_origin_are_affine),
        cmocka_unit_test(test_box__stretched_elements_are_valid_whatever_their_aspect),
        cmocka_unit_test(test_box__elements_that_are_flat_but_for_rounding_are_refused),
        cmocka_unit_test(test_box__maps_that_do_harm_are_refused_with_the_place),
        cmocka_unit_test(test_box__a_map_may_stretch_and_bend_periodic_sides_alike),
        cmocka_unit_test(test_box__memory_is_foretold_and_a_box_that_exceeds_it_is_refused),
        cmocka_unit_test(test_box__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
