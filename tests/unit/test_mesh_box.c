/* Boxes: counts, boundaries, volumes, grading, perturbation, curved elements, refusals. */
#include "meshes.h"

#include <malloc.h>
#include <string.h>

#include "mesh/box.h"

static eg_mesh_summary summarise(eg_context *ctx, const eg_mesh *mesh)
{
    eg_mesh_summary summary;
    TEST_OK(ctx, eg_mesh_summarise(mesh, &summary));
    return summary;
}

/* --- counts ----------------------------------------------------------------------------------- */

/* Faces of a box with n cells along each axis; 2D: n[2] = 0. */
static int64_t faces_of_box(eg_shape shape, const int *n)
{
    int64_t x = n[0], y = n[1], z = n[2];
    int64_t sides =
        x * y * (z + 1) + x * (y + 1) * z + (x + 1) * y * z; /* squares of the lattice */
    switch (shape) {
    case EG_SHAPE_TRI:
        return x * (y + 1) + y * (x + 1) + x * y;
    case EG_SHAPE_QUAD:
        return x * (y + 1) + y * (x + 1);
    case EG_SHAPE_TET:
        return 2 * sides + 6 * x * y * z; /* each cube has six triangles inside */
    default:
        return sides;
    }
}

static void test_box__vertices_elements_and_faces_are_as_many_as_closed_forms_say(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {7, 1, 4}, {4, 6, 3}};
    static const int per_cell[EG_SHAPE_COUNT] = {0, 2, 1, 6, 1};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        const eg_shape_info *info = eg_shape_get_info(test_shapes[s]);
        for (size_t k = 0; k < EG_COUNT(sizes); k++) {
            int n[3] = {sizes[k][0], sizes[k][1], info->dim == 3 ? sizes[k][2] : 0};
            eg_mesh *mesh = test_box(
                ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {n[0], n[1], n[2]}});
            eg_mesh_summary summary = summarise(ctx, mesh);
            int cells = n[0] * n[1] * (info->dim == 3 ? n[2] : 1);
            assert_int_equal(mesh->element_count, per_cell[test_shapes[s]] * cells);
            assert_int_equal(mesh->interior_count, mesh->element_count);
            assert_int_equal(mesh->global_count, mesh->element_count);
            assert_int_equal(mesh->vertex_count, (n[0] + 1) * (n[1] + 1) * (n[2] + 1));
            assert_int_equal(summary.faces, faces_of_box(test_shapes[s], n));
            assert_int_equal(summary.cut_faces, 0);
            assert_int_equal(summary.elements[test_shapes[s]], mesh->element_count);
            test_check_connected(mesh, NULL);
            eg_release(ctx, &summary.boundary_face_count);
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

static void test_box__boundaries_are_named_and_lie_where_their_names_say(void **state)
{
    (void)state;
    static const char *const names[] = {"left", "right", "bottom", "top", "back", "front"};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                        .cells = {2, 3, 4},
                                                        .low = {-1, 2, 5},
                                                        .high = {1, 3, 7}});
        const double ends[] = {-1, 1, 2, 3, 5, 7};
        assert_int_equal(mesh->boundary_count, 2 * mesh->dim);
        for (int b = 0; b < mesh->boundary_count; b++)
            assert_int_equal(eg_mesh_find_boundary(mesh, names[b]), b);
        assert_int_equal(eg_mesh_find_boundary(mesh, "inlet"), -1);
        int found = 0;
        for (int32_t e = 0; e < mesh->element_count; e++) {
            const eg_shape_info *info = test_info(mesh, e);
            for (int f = 0; f < info->faces; f++) {
                int32_t n = mesh->neighbour[e * mesh->face_stride + f];
                if (n >= 0) continue;
                found++;
                for (int i = 0; i < info->face_vertices; i++) {
                    double x = test_face_vertex(mesh, e, f, i)[(-1 - n) / 2];
                    assert_true(x == ends[-1 - n]);
                }
            }
        }
        eg_mesh_summary summary = summarise(ctx, mesh);
        assert_int_equal(summary.boundary_faces, found);
        const int64_t squares[] = {12, 8, 6}; /* of the sides across x, y, z in 3D */
        for (int b = 0; b < mesh->boundary_count; b++) {
            int64_t expected = mesh->dim == 2                   ? (b < 2 ? 3 : 2)
                               : test_shapes[s] == EG_SHAPE_TET ? 2 * squares[b / 2]
                                                                : squares[b / 2];
            assert_int_equal(summary.boundary_face_count[b], expected);
        }
        eg_release(ctx, &summary.boundary_face_count);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_box__periodic_axes_have_no_boundary_even_with_one_cell(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 1, 1}, {2, 1, 2}, {2, 2, 2}, {3, 4, 5}};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (size_t k = 0; k < EG_COUNT(sizes); k++) {
            for (unsigned axes = 1; axes < 8; axes++) {
                eg_box_options o = {.shape = test_shapes[s], .low = {-1, 0, 2}, .high = {1, 3, 3}};
                int dim = eg_shape_get_info(o.shape)->dim, open = 0;
                if (dim == 2 && axes > 3) break;
                for (int d = 0; d < 3; d++) {
                    o.cells[d] = sizes[k][d];
                    o.periodic[d] = axes >> d & 1u;
                    open += d < dim && !o.periodic[d];
                }
                eg_mesh *mesh = test_box(ctx, &o);
                eg_mesh_summary summary = summarise(ctx, mesh);
                assert_int_equal(mesh->boundary_count, 2 * open);
                test_check_connected(mesh, (double[]){2, 3, 1});
                if (open == 0) {
                    int faces = eg_shape_get_info(o.shape)->faces;
                    assert_int_equal(2 * summary.faces, faces * mesh->element_count);
                    assert_int_equal(summary.boundary_faces, 0);
                }
                eg_release(ctx, &summary.boundary_face_count);
                eg_mesh_destroy(&mesh);
            }
        }
    }
    test_context_free(&ctx);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static void test_box__volume_is_exact_with_grading_perturbation_and_order(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (int order = 1; order <= 3; order++) {
            eg_box_options o = {.shape = test_shapes[s],
                                .cells = {5, 4, 3},
                                .low = {-1, 0, 2},
                                .high = {2, 1, 2.5},
                                .grading = {4, 0.25, 1},
                                .perturb = 0.2,
                                .seed = 7,
                                .order = order};
            eg_mesh *mesh = test_box(ctx, &o);
            eg_mesh_summary summary = summarise(ctx, mesh);
            double exact = mesh->dim == 2 ? 3.0 : 1.5;
            TEST_NEAR(summary.volume, exact, 4e-15 * mesh->element_count);
            for (int d = 0; d < mesh->dim; d++) {
                TEST_NEAR(summary.low[d], o.low[d], 1e-15);
                TEST_NEAR(summary.high[d], o.high[d], 1e-15);
            }
            assert_true(summary.size_least > 0.0 && summary.size_least < summary.size_most);
            assert_true(summary.quality_least > 0.0);
            assert_true(summary.quality_least < summary.quality_mean && summary.quality_mean < 1.0);
            int64_t counted = 0;
            for (int i = 0; i < 10; i++)
                counted += summary.quality_histogram[i];
            assert_int_equal(counted, mesh->element_count);
            eg_release(ctx, &summary.boundary_face_count);
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

/* Rounding of the sum alone would add up to a few 1e-13. */
static void test_box__volume_of_many_elements_is_summed_without_loss(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {150, 150}});
    eg_mesh_summary summary = summarise(ctx, mesh);
    TEST_NEAR(summary.volume, 1.0, 2e-14);
    eg_release(ctx, &summary.boundary_face_count);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_box__quality_is_one_for_ideal_shapes_and_known_for_halves_of_squares(void **state)
{
    (void)state;
    /* Right isosceles triangle: 4√3 (1/2) / 4; a Kuhn tetrahedron: 12 (1/2)^(2/3) / 10. */
    const double known[] = {sqrt(3.0) / 2.0, 1.0, 1.2 * cbrt(0.25), 1.0};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh =
            test_box(ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {2, 2, 2}});
        eg_mesh_summary summary = summarise(ctx, mesh);
        TEST_NEAR(summary.quality_least, known[s], 1e-14);
        TEST_NEAR(summary.quality_mean, known[s], 1e-14);
        double volume = 1.0 / mesh->element_count;
        TEST_NEAR(summary.size_most, pow(volume, 1.0 / mesh->dim), 1e-14);
        eg_release(ctx, &summary.boundary_face_count);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_box__grading_is_the_last_cell_over_the_first_with_constant_growth(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                    .cells = {6, 1},
                                                    .low = {-2, 0},
                                                    .high = {3, 1},
                                                    .grading = {8, 1}});
    double x[7];
    int count = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        if (mesh->x[2 * v + 1] == 0.0) x[count++] = mesh->x[2 * v];
    }
    assert_int_equal(count, 7);
    qsort(x, 7, sizeof *x, compare_doubles);
    TEST_NEAR((x[6] - x[5]) / (x[1] - x[0]), 8.0, 1e-13);
    for (int i = 1; i < 6; i++)
        TEST_NEAR((x[i + 1] - x[i]) / (x[i] - x[i - 1]), pow(8.0, 0.2), 1e-13);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* --- perturbation ----------------------------------------------------------------------------- */

static void test_box__perturbation_moves_inner_vertices_alone_and_not_too_far(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_box_options o = {.shape = test_shapes[s], .cells = {6, 5, 4}};
        eg_mesh *straight = test_box(ctx, &o);
        o.perturb = 0.15;
        o.seed = 3;
        eg_mesh *moved = test_box(ctx, &o);
        eg_mesh *again = test_box(ctx, &o);
        o.seed = 4;
        eg_mesh *other = test_box(ctx, &o);
        size_t bytes = (size_t)(moved->vertex_count * moved->dim) * sizeof *moved->x;
        assert_memory_equal(moved->x, again->x, bytes);
        assert_memory_not_equal(moved->x, other->x, bytes);

        /* Elements by their numbers in the box, vertices by their place in them. */
        double largest = 0.0;
        for (int32_t a = 0; a < straight->element_count; a++) {
            int32_t b = 0;
            while (moved->global[b] != straight->global[a])
                b++;
            for (int i = 0; i < straight->vertex_stride; i++) {
                const double *x =
                    &straight
                         ->x[straight->vertices[a * straight->vertex_stride + i] * straight->dim];
                const double *y =
                    &moved->x[moved->vertices[b * moved->vertex_stride + i] * moved->dim];
                bool inner = true;
                for (int d = 0; d < straight->dim; d++)
                    inner = inner && x[d] > 1e-12 && x[d] < 1.0 - 1e-12;
                for (int d = 0; d < straight->dim; d++) {
                    double part = fabs(y[d] - x[d]) * o.cells[d];
                    if (!inner) assert_true(part == 0.0);
                    assert_true(part <= 0.15 + 1e-14);
                    largest = fmax(largest, part);
                }
            }
        }
        assert_true(largest > 0.1);
        eg_mesh_destroy(&other);
        eg_mesh_destroy(&again);
        eg_mesh_destroy(&moved);
        eg_mesh_destroy(&straight);
    }
    test_context_free(&ctx);
}

static void test_box__the_largest_perturbation_still_makes_valid_elements(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                            .cells = {14, 13, 8},
                                                            .grading = {1, 5, 1},
                                                            .perturb = 0.45,
                                                            .seed = seed,
                                                            .periodic = {true}});
            eg_mesh_summary summary = summarise(ctx, mesh);
            TEST_NEAR(summary.volume, 1.0, 1e-13);
            assert_true(summary.quality_least > 0.01);
            eg_release(ctx, &summary.boundary_face_count);
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

/* Figures of this generator, so that a change of machine or code that moves vertices is noticed. */
static void test_box__perturbation_is_the_same_on_every_machine(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(
        ctx,
        &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {2, 2}, .perturb = 0.25, .seed = 2024});
    bool found = false;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = &mesh->x[2 * v];
        if (x[0] <= 0.0 || x[0] >= 1.0 || x[1] <= 0.0 || x[1] >= 1.0) continue;
        found = true;
        TEST_NEAR(x[0], 0.3798714778615267, 0.0);
        TEST_NEAR(x[1], 0.5027647800267832, 0.0);
    }
    assert_true(found);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

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
                eg_mesh_summary summary = summarise(ctx, mesh);
                error[level] = fabs(summary.volume - 1.5); /* half of 2² - 1² */
                assert_int_equal(mesh->order, order);
                assert_true((mesh->nodes != NULL) == (order > 1));
                eg_release(ctx, &summary.boundary_face_count);
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
            eg_mesh_summary summary = summarise(ctx, mesh);
            TEST_NEAR(summary.volume * (dim == 2 ? 1e9 : 1e18), 1.0, 1e-13);
            eg_release(ctx, &summary.boundary_face_count);
            eg_mesh_destroy(&mesh);

            mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                   .cells = {2, 12, 12},
                                                   .grading = {1.0, 1e9, 1e-9},
                                                   .order = order});
            summary = summarise(ctx, mesh);
            TEST_NEAR(summary.volume, 1.0, 1e-13);
            eg_release(ctx, &summary.boundary_face_count);
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

static void test_box__options_that_make_no_box_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *part;
        eg_box_options options;
    } wrong[] = {
        {"shape of a box", {.shape = EG_SHAPE_LINE, .cells = {1, 1}}},
        {"shape of a box", {.shape = (eg_shape)17, .cells = {1, 1}}},
        {"cells of a box", {.shape = EG_SHAPE_TRI, .cells = {3, 0}}},
        {"cells of a box", {.shape = EG_SHAPE_HEX, .cells = {3, 3}}},
        {"cells of a box", {.shape = EG_SHAPE_TRI, .cells = {100000, 100000}}},
        {"high of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .low = {1}, .high = {1}}},
        {"high of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .high = {INFINITY}}},
        {"high of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .low = {NAN}}},
        {"cells of a box",
         {.shape = EG_SHAPE_TRI, .cells = {1000, 1}, .low = {1e15}, .high = {1e15 + 1}}},
        {"grading of a box", {.shape = EG_SHAPE_TRI, .cells = {4, 1}, .grading = {-2}}},
        {"grading of a box", {.shape = EG_SHAPE_TRI, .cells = {4, 1}, .grading = {1e300}}},
        {"perturb of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .perturb = 0.5}},
        {"perturb of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .perturb = NAN}},
        {"order of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .order = 11}},
        {"order of a box", {.shape = EG_SHAPE_QUAD, .cells = {1, 1}, .order = 16}},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        eg_mesh *mesh = NULL;
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, wrong[i].part,
                   eg_mesh_create_box(ctx, &wrong[i].options, &mesh));
        assert_null(mesh);
    }
    test_context_free(&ctx);
}

static eg_status make_and_summarise(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    eg_mesh_summary summary = {0};
    EG_TRY(eg_mesh_create_box(ctx, user, &mesh));
    EG_TRY(eg_mesh_summarise(mesh, &summary));
done:
    eg_release(ctx, &summary.boundary_face_count);
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
        cmocka_unit_test(test_box__vertices_elements_and_faces_are_as_many_as_closed_forms_say),
        cmocka_unit_test(test_box__boundaries_are_named_and_lie_where_their_names_say),
        cmocka_unit_test(test_box__periodic_axes_have_no_boundary_even_with_one_cell),
        cmocka_unit_test(test_box__volume_is_exact_with_grading_perturbation_and_order),
        cmocka_unit_test(test_box__volume_of_many_elements_is_summed_without_loss),
        cmocka_unit_test(test_box__quality_is_one_for_ideal_shapes_and_known_for_halves_of_squares),
        cmocka_unit_test(test_box__grading_is_the_last_cell_over_the_first_with_constant_growth),
        cmocka_unit_test(test_box__perturbation_moves_inner_vertices_alone_and_not_too_far),
        cmocka_unit_test(test_box__the_largest_perturbation_still_makes_valid_elements),
        cmocka_unit_test(test_box__perturbation_is_the_same_on_every_machine),
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
        cmocka_unit_test(test_box__options_that_make_no_box_are_refused_by_name),
        cmocka_unit_test(test_box__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
