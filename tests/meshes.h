/* What tests of meshes share: boxes, and the laws that every connected mesh obeys. */
#ifndef EG_TEST_MESHES_H
#define EG_TEST_MESHES_H

#include "test.h"

#include <math.h>

#include "mesh/build.h"

/* Two numbers differ by at most `tolerance`. */
#define TEST_NEAR(a, b, tolerance)                                                                 \
    do {                                                                                           \
        double test_a_ = (a), test_b_ = (b);                                                       \
        if (!(fabs(test_a_ - test_b_) <= (tolerance)))                                             \
            fail_msg("%s = %.17g, %s = %.17g: they differ by %.3g", #a, test_a_, #b, test_b_,      \
                     test_a_ - test_b_);                                                           \
    } while (0)

static const eg_shape test_shapes[] = {EG_SHAPE_TRI, EG_SHAPE_QUAD, EG_SHAPE_TET, EG_SHAPE_HEX};

static inline eg_mesh *test_box(eg_context *ctx, const eg_box_options *options)
{
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_create_box(ctx, options, &mesh));
    return mesh;
}

/* Free it with eg_mesh_summary_free. */
static inline eg_mesh_summary test_summarise(const eg_mesh *mesh)
{
    eg_mesh_summary summary;
    TEST_OK(mesh->ctx, eg_mesh_summarise(mesh, &summary));
    return summary;
}

static inline const eg_shape_info *test_info(const eg_mesh *mesh, int32_t element)
{
    return eg_shape_get_info((eg_shape)mesh->shape[element]);
}

/* Vertex i of a face. */
static inline const double *test_face_vertex(const eg_mesh *mesh, int32_t element, int face, int i)
{
    int v = test_info(mesh, element)->face[face][i];
    return &mesh->x[(int64_t)mesh->vertices[(int64_t)element * mesh->vertex_stride + v] *
                    mesh->dim];
}

/* The neighbour of my neighbour is me, orientations are inverse to each other, and the vertices of
 * a face coincide up to one shift of the whole face, which is a period along one axis or
 * nothing. */
static inline void test_check_connected(const eg_mesh *mesh, const double *period)
{
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_shape_info *info = test_info(mesh, e);
        for (int f = 0; f < info->faces; f++) {
            int64_t slot = (int64_t)e * mesh->face_stride + f;
            int32_t n = mesh->neighbour[slot];
            if (n < 0) {
                assert_in_range(-1 - n, 0, mesh->boundary_count - 1);
                assert_int_equal(mesh->neighbour_face[slot], 0);
                continue;
            }
            int face = EG_FACE(mesh->neighbour_face[slot]);
            int o = EG_ORIENTATION(mesh->neighbour_face[slot]);
            assert_in_range(n, 0, mesh->element_count - 1);
            assert_in_range(face, 0, test_info(mesh, n)->faces - 1);
            assert_in_range(o, 0, eg_orientation_count(info->face_shape) - 1);
            int64_t back = (int64_t)n * mesh->face_stride + face;
            assert_int_equal(mesh->neighbour[back], e);
            assert_int_equal(EG_FACE(mesh->neighbour_face[back]), f);

            double shift[3] = {0};
            int back_o = EG_ORIENTATION(mesh->neighbour_face[back]);
            for (int i = 0; i < info->face_vertices; i++) {
                int j = eg_orientation_vertex(info->face_vertices, o, i);
                assert_int_equal(eg_orientation_vertex(info->face_vertices, back_o, j), i);
                const double *a = test_face_vertex(mesh, e, f, i);
                const double *b = test_face_vertex(mesh, n, face, j);
                for (int d = 0; d < mesh->dim; d++) {
                    if (i == 0) shift[d] = b[d] - a[d];
                    TEST_NEAR(b[d] - a[d], shift[d], 1e-14);
                }
            }
            int moved = 0;
            for (int d = 0; d < mesh->dim; d++) {
                if (fabs(shift[d]) <= 1e-14) continue;
                moved++;
                assert_non_null(period);
                TEST_NEAR(fabs(shift[d]), period[d], 1e-14);
            }
            assert_true(moved <= 1);
        }
    }
}

/* The number of pairs of elements in different parts that share a face. */
static inline int64_t test_cut(const eg_mesh *mesh, const int32_t *part)
{
    int64_t cut = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        for (int f = 0; f < test_info(mesh, e)->faces; f++) {
            int32_t n = mesh->neighbour[(int64_t)e * mesh->face_stride + f];
            cut += n >= 0 && part[n] > part[e];
        }
    }
    return cut;
}

#endif
