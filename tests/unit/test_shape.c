/* Shapes: faces look outwards, orientations form a group, and points move as vertices do. */
#include "test.h"

#include <math.h>

#include "element/element.h"

static const double *face_vertex(const eg_shape_info *info, int face, int i)
{
    return info->r[info->face[face][i]];
}

/* Outward normal whose length is the face's measure in the element over that in its own coordinates. */
static void face_normal(const eg_shape_info *info, int face, double n[3])
{
    const double *a = face_vertex(info, face, 0);
    n[0] = n[1] = n[2] = 0.0;
    if (info->dim == 1) {
        n[0] = a[0];
    } else if (info->dim == 2) {
        const double *b = face_vertex(info, face, 1);
        n[0] = (b[1] - a[1]) / 2;
        n[1] = -(b[0] - a[0]) / 2;
    } else {
        const double *b = face_vertex(info, face, 1);
        const double *c = face_vertex(info, face, info->face_vertices - 1);
        for (int d = 0; d < 3; d++) {
            int e = (d + 1) % 3, f = (d + 2) % 3;
            n[d] = ((b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e])) / 4;
        }
    }
}

static void test_faces__look_outwards_and_enclose_the_volume(void **state)
{
    (void)state;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)s);
        double centre[3] = {0}, closed[3] = {0}, volume = 0.0;
        for (int v = 0; v < info->vertices; v++)
            for (int d = 0; d < info->dim; d++)
                centre[d] += info->r[v][d] / info->vertices;
        double face_measure = info->dim > 1 ? eg_shape_get_info(info->face_shape)->volume : 1.0;
        for (int f = 0; f < info->faces; f++) {
            double n[3] = {0}, flux = 0.0;
            face_normal(info, f, n);
            for (int i = 0; i < info->face_vertices; i++) {
                double outwards = 0.0;
                for (int d = 0; d < info->dim; d++)
                    outwards += n[d] * (face_vertex(info, f, i)[d] - centre[d]);
                assert_true(outwards > 0.0);
                flux += outwards / info->face_vertices;
            }
            volume += flux * face_measure / info->dim; /* ∮ (x - centre)·n = dim · volume */
            for (int d = 0; d < 3; d++)
                closed[d] += n[d] * face_measure;
        }
        assert_true(fabs(volume - info->volume) < 1e-15 * 8);
        for (int d = 0; d < 3; d++)
            assert_true(closed[d] == 0.0);
    }
}

static void test_faces__each_vertex_lies_on_as_many_as_there_are_dimensions(void **state)
{
    (void)state;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)s);
        int uses[EG_MAX_VERTICES] = {0};
        for (int f = 0; f < info->faces; f++)
            for (int i = 0; i < info->face_vertices; i++)
                uses[info->face[f][i]]++;
        for (int v = 0; v < info->vertices; v++)
            assert_int_equal(uses[v], info->dim);
    }
}

static void test_face_points__vertices_go_to_vertices_and_centres_to_centres(void **state)
{
    (void)state;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)s);
        const eg_shape_info *own = eg_shape_get_info(info->face_shape);
        const int n = info->face_vertices;
        for (int f = 0; f < info->faces; f++) {
            /* the face's vertices and, last, their mean */
            double points[2 * 5] = {0}, r[3 * 5], mean[3] = {0};
            for (int d = 0; d < info->dim - 1; d++)
                for (int i = 0; i < n; i++) {
                    points[d * (n + 1) + i] = own->r[i][d];
                    points[d * (n + 1) + n] += own->r[i][d] / n;
                }
            eg_shape_face_points((eg_shape)s, f, n + 1, points, r);
            for (int d = 0; d < info->dim; d++) {
                for (int i = 0; i < n; i++) {
                    assert_true(r[d * (n + 1) + i] == face_vertex(info, f, i)[d]);
                    mean[d] += face_vertex(info, f, i)[d] / n;
                }
                assert_true(fabs(r[d * (n + 1) + n] - mean[d]) < 1e-15);
            }
        }
    }
}

static const eg_shape face_shapes[] = {EG_SHAPE_LINE, EG_SHAPE_TRI, EG_SHAPE_QUAD};

/* The orientation that does as `vertex` [n] says, -1 if there is none. */
static int find_orientation(eg_shape shape, const int *vertex)
{
    int n = eg_shape_get_info(shape)->vertices;
    for (int o = 0; o < eg_orientation_count(shape); o++) {
        int same = 0;
        for (int i = 0; i < n; i++)
            same += eg_orientation_vertex(n, o, i) == vertex[i];
        if (same == n) return o;
    }
    return -1;
}

static void test_orientations__are_the_symmetry_group_of_the_face(void **state)
{
    (void)state;
    const int counts[] = {2, 6, 8};
    for (size_t k = 0; k < EG_COUNT(face_shapes); k++) {
        eg_shape shape = face_shapes[k];
        int n = eg_shape_get_info(shape)->vertices, count = eg_orientation_count(shape);
        assert_int_equal(count, counts[k]);
        for (int a = 0; a < count; a++) {
            bool has_inverse = false;
            int own[4] = {0};
            for (int i = 0; i < n; i++)
                own[i] = eg_orientation_vertex(n, a, i);
            assert_int_equal(find_orientation(shape, own), a); /* no two are the same */
            for (int b = 0; b < count; b++) {
                int both[4] = {0};
                for (int i = 0; i < n; i++)
                    both[i] = eg_orientation_vertex(n, b, own[i]);
                int product = find_orientation(shape, both);
                assert_true(product >= 0);
                has_inverse |= product == 0;
            }
            assert_true(has_inverse);
        }
    }
}

static void test_orientations__turn_first_and_reflect_then(void **state)
{
    (void)state;
    assert_int_equal(eg_orientation_vertex(2, 1, 0), 1);
    assert_int_equal(eg_orientation_vertex(2, 1, 1), 0);
    const int reflected[3] = {1, 0, 2}; /* (4 - 3 - i) mod 3 */
    const int turned[4] = {3, 0, 1, 2};
    for (int i = 0; i < 3; i++)
        assert_int_equal(eg_orientation_vertex(3, 4, i), reflected[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(eg_orientation_vertex(4, 3, i), turned[i]);
}

static void test_orientation_points__move_as_vertices_do(void **state)
{
    (void)state;
    for (size_t k = 0; k < EG_COUNT(face_shapes); k++) {
        eg_shape shape = face_shapes[k];
        const eg_shape_info *info = eg_shape_get_info(shape);
        const int n = info->vertices;
        for (int o = 0; o < eg_orientation_count(shape); o++) {
            double s[2 * 4], t[2 * 4];
            for (int d = 0; d < info->dim; d++)
                for (int i = 0; i < n; i++)
                    s[d * n + i] = info->r[i][d];
            eg_orientation_points(shape, o, n, s, t);
            for (int d = 0; d < info->dim; d++)
                for (int i = 0; i < n; i++)
                    assert_true(t[d * n + i] == info->r[eg_orientation_vertex(n, o, i)][d]);
        }
    }
}

/* Two tetrahedra or hexahedra that share a face see a point of it at the same place. */
static void test_orientation_points__two_elements_see_the_same_point(void **state)
{
    (void)state;
    const eg_shape shapes[] = {EG_SHAPE_TRI, EG_SHAPE_TET, EG_SHAPE_HEX};
    for (size_t k = 0; k < EG_COUNT(shapes); k++) {
        const eg_shape_info *info = eg_shape_get_info(shapes[k]);
        const int n = info->face_vertices, faces = info->faces;
        for (int a = 0; a < faces; a++)
            for (int o = 0; o < eg_orientation_count(info->face_shape); o++) {
                const double s[2] = {-0.3, -0.55};
                double t[2], x[3], y[3];
                eg_shape_face_points(shapes[k], a, 1, s, x);
                /* A neighbour whose face b has my vertex i as its vertex σ(i): it is an element that
                 * was renumbered, so its points are combinations of the same vertices. */
                eg_orientation_points(info->face_shape, o, 1, s, t);
                double weight[4];
                if (n == 2) {
                    weight[0] = (1 - t[0]) / 2;
                    weight[1] = (1 + t[0]) / 2;
                } else if (n == 3) {
                    weight[0] = -(t[0] + t[1]) / 2;
                    weight[1] = (1 + t[0]) / 2;
                    weight[2] = (1 + t[1]) / 2;
                } else {
                    for (int i = 0; i < 4; i++) {
                        const double *v = eg_shape_get_info(EG_SHAPE_QUAD)->r[i];
                        weight[i] = (1 + v[0] * t[0]) * (1 + v[1] * t[1]) / 4;
                    }
                }
                for (int d = 0; d < info->dim; d++) {
                    y[d] = 0.0;
                    for (int i = 0; i < n; i++)
                        y[d] += weight[eg_orientation_vertex(n, o, i)] * face_vertex(info, a, i)[d];
                    assert_true(fabs(x[d] - y[d]) < 1e-15);
                }
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faces__look_outwards_and_enclose_the_volume),
        cmocka_unit_test(test_faces__each_vertex_lies_on_as_many_as_there_are_dimensions),
        cmocka_unit_test(test_face_points__vertices_go_to_vertices_and_centres_to_centres),
        cmocka_unit_test(test_orientations__are_the_symmetry_group_of_the_face),
        cmocka_unit_test(test_orientations__turn_first_and_reflect_then),
        cmocka_unit_test(test_orientation_points__move_as_vertices_do),
        cmocka_unit_test(test_orientation_points__two_elements_see_the_same_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
