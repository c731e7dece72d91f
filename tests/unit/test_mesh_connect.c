/* Connectivity and periodicity of meshes whose elements are numbered in any order and turned in any
 * way, and of meshes that are wrong. */
#include "meshes.h"

/* A mesh of elements of one shape, not connected, with the given boundaries. */
static eg_mesh *make(eg_context *ctx, eg_shape shape, int64_t vertices, const double *x,
                     int32_t elements, const int32_t *element_vertices, int boundaries,
                     const char *const *names)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    eg_mesh *mesh = NULL;
    eg_mesh sizes = {.ctx = ctx,
                     .dim = info->dim,
                     .vertex_count = vertices,
                     .element_count = elements,
                     .interior_count = elements,
                     .global_count = elements,
                     .vertex_stride = info->vertices,
                     .face_stride = info->faces,
                     .order = 1,
                     .node_stride = info->vertices};
    TEST_OK(ctx, eg_mesh_allocate(&sizes, &mesh));
    TEST_OK(ctx, eg_mesh_copy_boundaries(mesh, boundaries, names));
    memcpy(mesh->x, x, (size_t)(vertices * info->dim) * sizeof *x);
    memcpy(mesh->vertices, element_vertices,
           (size_t)(elements * info->vertices) * sizeof *element_vertices);
    for (int32_t e = 0; e < elements; e++) {
        mesh->shape[e] = (uint8_t)shape;
        mesh->global[e] = 100 + e;
    }
    return mesh;
}

static const char *const wall[] = {"wall"};

static void test_orientation__found_and_inverted_for_every_way_to_see_a_face(void **state)
{
    (void)state;
    static const eg_shape faces[] = {EG_SHAPE_LINE, EG_SHAPE_TRI, EG_SHAPE_QUAD};
    for (size_t s = 0; s < EG_COUNT(faces); s++) {
        int n = eg_shape_get_info(faces[s])->vertices;
        for (int o = 0; o < eg_orientation_count(faces[s]); o++) {
            int match[EG_MAX_FACE_VERTICES];
            for (int i = 0; i < n; i++)
                match[i] = eg_orientation_vertex(n, o, i);
            assert_int_equal(eg_orientation_find(n, match), o);
            int inverse = eg_orientation_inverse(n, o);
            for (int i = 0; i < n; i++)
                assert_int_equal(eg_orientation_vertex(n, inverse, match[i]), i);
        }
    }
    assert_int_equal(eg_orientation_find(4, (int[]){0, 2, 1, 3}), -1);
}

/* --- turned elements -------------------------------------------------------------------------- */

/* Renumbers the vertices of an element by a rotation of its shape that is chosen by `random`: v[i]
 * is the vertex that a rotation takes to i. */
static void turn(eg_shape shape, unsigned random, int32_t *v)
{
    /* Generators of the rotations. */
    static const int tri[][3] = {{1, 2, 0}};
    static const int quad[][4] = {{1, 2, 3, 0}};
    static const int tet[][4] = {{1, 2, 0, 3}, {0, 2, 3, 1}};
    static const int hex[][8] = {{1, 2, 3, 0, 5, 6, 7, 4}, {4, 0, 3, 7, 5, 1, 2, 6}};
    int n = eg_shape_get_info(shape)->vertices;
    for (int step = 0; step < 8; step++, random >>= 1) {
        const int *by = shape == EG_SHAPE_TRI    ? tri[0]
                        : shape == EG_SHAPE_QUAD ? quad[0]
                        : shape == EG_SHAPE_TET  ? tet[random & 1u]
                                                 : hex[random & 1u];
        if (shape <= EG_SHAPE_QUAD && !(random & 1u)) continue;
        int32_t old[EG_MAX_VERTICES];
        memcpy(old, v, (size_t)n * sizeof *v);
        for (int i = 0; i < n; i++)
            v[i] = old[by[i]];
    }
}

/* Turns every element of a box and shuffles them, connects it anew and joins it along all axes. */
static void test_connect__turned_and_shuffled_elements_find_their_neighbours(void **state)
{
    (void)state;
    static const char *const names[] = {"left", "right", "bottom", "top", "back", "front"};
    eg_context *ctx = test_context();
    unsigned orientations = 0;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *box = test_box(
            ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {3, 2, 4}, .perturb = 0.1});
        const eg_shape_info *info = eg_shape_get_info(test_shapes[s]);
        int32_t count = box->element_count;
        int32_t *v = calloc((size_t)(count * info->vertices), sizeof *v);
        uint64_t random = 5;
        for (int32_t e = 0; e < count; e++) {
            int32_t from = (int32_t)(((int64_t)e * 7919 + 13) % count); /* a prime: a permutation */
            memcpy(&v[e * info->vertices], &box->vertices[from * info->vertices],
                   (size_t)info->vertices * sizeof *v);
            turn(test_shapes[s], (unsigned)(128.0 * (1.0 + test_random(&random))),
                 &v[e * info->vertices]);
        }
        eg_mesh *mesh =
            make(ctx, test_shapes[s], box->vertex_count, box->x, count, v, 2 * info->dim, names);
        int32_t *boundary = calloc((size_t)(count * info->faces), sizeof *boundary);
        int outside = 0, found = 0;
        for (int32_t e = 0; e < count; e++) {
            for (int f = 0; f < info->faces; f++) {
                int32_t *b = &boundary[e * info->faces + f];
                double centre[3];
                eg_mesh_face_centre(mesh, e, f, centre);
                *b = -1;
                for (int d = 0; d < info->dim; d++) {
                    if (centre[d] < 1e-12) *b = 2 * d;
                    if (centre[d] > 1.0 - 1e-12) *b = 2 * d + 1;
                }
                outside += *b >= 0;
            }
        }
        TEST_OK(ctx, eg_mesh_connect(mesh, boundary));
        test_check_connected(mesh, NULL);
        for (int32_t i = 0; i < count * info->faces; i++)
            found += mesh->neighbour[i] < 0;
        assert_int_equal(found, outside);
        for (int d = 0; d < info->dim; d++) {
            double shift[3] = {0};
            shift[d] = 1.0;
            TEST_OK(ctx, eg_mesh_join_periodic(mesh, 2 * d, 2 * d + 1, shift));
        }
        test_check_connected(mesh, (double[]){1, 1, 1});
        for (int32_t i = 0; i < count * info->faces; i++) {
            assert_true(mesh->neighbour[i] >= 0);
            if (test_shapes[s] == EG_SHAPE_HEX)
                orientations |= 1u << EG_ORIENTATION(mesh->neighbour_face[i]);
        }
        assert_int_equal(mesh->boundary_count, 2 * info->dim);
        TEST_OK(ctx, eg_mesh_drop_empty_boundaries(mesh));
        assert_int_equal(mesh->boundary_count, 0);
        free(boundary);
        free(v);
        eg_mesh_destroy(&mesh);
        eg_mesh_destroy(&box);
    }
    assert_int_equal(orientations, 0xf0); /* neighbours see a face from the other side, in 4 ways */
    test_context_free(&ctx);
}

static void test_connect__faces_without_a_list_belong_to_the_first_boundary(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const double x[] = {0, 0, 1, 0, 1, 1, 0, 1};
    eg_mesh *mesh = make(ctx, EG_SHAPE_TRI, 4, x, 2, (int32_t[]){0, 1, 2, 0, 2, 3}, 1, wall);
    TEST_OK(ctx, eg_mesh_connect(mesh, NULL));
    const int32_t expected[] = {-1, -1, 1, 0, -1, -1};
    assert_memory_equal(mesh->neighbour, expected, sizeof expected);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* Half a million elements at one vertex take quadratic time if faces are compared one with
 * another. */
static void test_connect__time_does_not_depend_on_elements_at_a_vertex(void **state)
{
    (void)state;
    enum { COUNT = 500000 };
    eg_context *ctx = test_context();
    double *x = calloc(2 * (COUNT + 1), sizeof *x);
    int32_t *v = calloc(3 * COUNT, sizeof *v);
    for (int32_t i = 0; i < COUNT; i++) {
        double angle = 6.283185307179586 * i / COUNT;
        x[2 * i + 2] = cos(angle);
        x[2 * i + 3] = sin(angle);
        v[3 * i + 1] = i + 1;
        v[3 * i + 2] = (i + 1) % COUNT + 1;
    }
    eg_mesh *mesh = make(ctx, EG_SHAPE_TRI, COUNT + 1, x, COUNT, v, 1, wall);
    TEST_OK(ctx, eg_mesh_connect(mesh, NULL));
    for (int32_t e = 0; e < COUNT; e++) {
        assert_int_equal(mesh->neighbour[3 * e], (e + COUNT - 1) % COUNT);
        assert_int_equal(mesh->neighbour[3 * e + 1], -1);
        assert_int_equal(mesh->neighbour[3 * e + 2], (e + 1) % COUNT);
    }
    eg_mesh_destroy(&mesh);
    free(v);
    free(x);
    test_context_free(&ctx);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void test_connect__three_elements_at_a_face_are_refused_with_numbers_and_place(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const double x[] = {0, 0, 2, 0, 1, 1, 1, -1, 1, 2};
    eg_mesh *mesh =
        make(ctx, EG_SHAPE_TRI, 5, x, 3, (int32_t[]){0, 1, 2, 1, 0, 3, 0, 1, 4}, 1, wall);
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "elements 100, 101 and 102 share one face, with its centre at (1, 0)",
               eg_mesh_connect(mesh, NULL));
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_connect__elements_with_wrong_vertices_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const double x[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1,
                        1, 1, 1, 0, 1, 1, 0, 0, 2, 1, 0, 2, 1, 1, 2, 0, 1, 2};
    eg_mesh *mesh = make(ctx, EG_SHAPE_TET, 4, x, 1, (int32_t[]){0, 1, 2, 4}, 1, wall);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "element 100 (tetrahedron) has a vertex 4",
               eg_mesh_connect(mesh, NULL));
    mesh->vertices[3] = -1;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "has a vertex -1", eg_mesh_connect(mesh, NULL));
    mesh->vertices[3] = 1;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "has twice the vertex 1", eg_mesh_connect(mesh, NULL));
    eg_mesh_destroy(&mesh);

    /* Two cubes that agree on the vertices between them, but not on their order. */
    mesh = make(ctx, EG_SHAPE_HEX, 12, x, 2,
                (int32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 4, 6, 5, 7, 8, 9, 10, 11}, 1, wall);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "not in the same order around it", eg_mesh_connect(mesh, NULL));
    eg_mesh_destroy(&mesh);

    mesh = make(ctx, EG_SHAPE_TET, 4, x, 1, (int32_t[]){0, 1, 2, 3}, 1, wall);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "belongs to none of the 1 boundaries",
               eg_mesh_connect(mesh, (int32_t[]){0, 0, 1, 0}));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "belongs to none of the 1 boundaries",
               eg_mesh_connect(mesh, (int32_t[]){0, 0, 0, -1}));
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_periodic__sides_that_do_not_fit_are_refused_with_names_and_place(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        const double along_x[] = {1, 0, 0}, wrong[] = {1, 0.1, 0};
        eg_mesh *mesh =
            test_box(ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {2, 3, 3}});
        TEST_FAILS(ctx, EG_ERROR_INPUT, "boundary \"left\" is not periodic with \"right\"",
                   eg_mesh_join_periodic(mesh, 0, 1, wrong));
        TEST_FAILS(ctx, EG_ERROR_INPUT, "they cannot be periodic",
                   eg_mesh_join_periodic(mesh, 0, 2, along_x));
        eg_mesh_destroy(&mesh);

        /* A vertex of the right side that is out of place. */
        mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {2, 3, 3}});
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            double *x = &mesh->x[v * mesh->dim];
            if (x[0] == 1.0 && x[1] == 0.0 && (mesh->dim == 2 || x[2] == 0.0)) x[0] = 1.01;
        }
        TEST_FAILS(ctx, EG_ERROR_INPUT, "has no partner at (1, ",
                   eg_mesh_join_periodic(mesh, 0, 1, along_x));
        eg_mesh_destroy(&mesh);
    }

    /* Squares across x whose partners are cut along the other diagonal. */
    const double x[] = {0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1,   1,   1,  0,
                        0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 0.5, 0.5, 0.5};
    const int32_t tets[] = {0, 1, 3, 8, 0, 3, 2, 8, 4, 8, 5, 6, 5, 8, 7, 6};
    static const char *const names[] = {"left", "right", "rest"};
    eg_mesh *mesh = make(ctx, EG_SHAPE_TET, 9, x, 4, tets, 3, names);
    int32_t boundary[16];
    for (int i = 0; i < 16; i++) {
        double centre[3];
        eg_mesh_face_centre(mesh, i / 4, i % 4, centre);
        boundary[i] = centre[0] == 0.0 ? 0 : centre[0] == 1.0 ? 1 : 2;
    }
    TEST_OK(ctx, eg_mesh_connect(mesh, boundary));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "has no partner",
               eg_mesh_join_periodic(mesh, 0, 1, (double[]){1, 0, 0}));
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* Faces so thin that coordinates are rounded by more than 1e-6 of their width, and that many lie within
 * 1e-6 of their length. */
static void test_periodic__sides_that_differ_by_rounding_alone_are_joined(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                        .cells = {4, 300, 1},
                                                        .low = {-0.7, 0.1, 0.3},
                                                        .high = {0.9, 1.3, 0.3 + 1e-11},
                                                        .grading = {1.0, 1e9, 1.0},
                                                        .periodic = {true, false, true}});
        assert_int_equal(mesh->boundary_count, 2);
        test_check_connected(mesh, (double[]){1.6, 1.2, 1e-11});
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static eg_status connect_and_join(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    EG_TRY(
        eg_mesh_create_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {2, 2}}, &mesh));
    EG_TRY(eg_mesh_join_periodic(mesh, 0, 1, (double[]){1, 0}));
    EG_TRY(eg_mesh_drop_empty_boundaries(mesh));
    assert_int_equal(mesh->boundary_count, 2);
    assert_string_equal(mesh->boundary[0], "bottom");
    EG_TRY(eg_mesh_connect(mesh, NULL));
done:
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_connect__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    test_allocation_sweep(connect_and_join, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orientation__found_and_inverted_for_every_way_to_see_a_face),
        cmocka_unit_test(test_connect__turned_and_shuffled_elements_find_their_neighbours),
        cmocka_unit_test(test_connect__faces_without_a_list_belong_to_the_first_boundary),
        cmocka_unit_test(test_connect__time_does_not_depend_on_elements_at_a_vertex),
        cmocka_unit_test(test_connect__three_elements_at_a_face_are_refused_with_numbers_and_place),
        cmocka_unit_test(test_connect__elements_with_wrong_vertices_are_refused),
        cmocka_unit_test(test_periodic__sides_that_do_not_fit_are_refused_with_names_and_place),
        cmocka_unit_test(test_periodic__sides_that_differ_by_rounding_alone_are_joined),
        cmocka_unit_test(test_connect__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
