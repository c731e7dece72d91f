/* What tests of fields share: box meshes with elements turned at random, coordinates as fields,
 * expressions. */
#ifndef EG_TEST_FIELD_H
#define EG_TEST_FIELD_H

#include "expression.h"
#include "test.h"

#include <math.h>

#include "case/expression.h"
#include "field/space.h"

/* --- meshes ----------------------------------------------------------------------------------- */

static inline eg_mesh *box_with(eg_context *ctx, const eg_box_options *options)
{
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_create_box(ctx, options, &mesh));
    return mesh;
}

static inline eg_mesh *box(eg_context *ctx, eg_shape shape, int nx, int ny, int nz, double perturb,
                           bool periodic)
{
    return box_with(ctx, &(eg_box_options){.shape = shape,
                                           .cells = {nx, ny, nz},
                                           .perturb = perturb,
                                           .seed = 5,
                                           .periodic = {periodic, periodic, periodic}});
}

/* Any turn of a shape into itself that is no mirror image: vertex i goes where turn[i] was. */
static inline void random_turn(eg_shape shape, uint64_t *seed, int turn[EG_MAX_VERTICES])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    const int n = info->tensor ? info->dim : info->vertices;
    int order[4], odd = 0;
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)floor((test_random(seed) + 1.0) / 2.0 * (i + 1)), other = order[j];
        odd ^= i != j;
        order[j] = order[i];
        order[i] = other;
    }
    if (!info->tensor) { /* an even permutation of the vertices */
        if (odd) {
            int first = order[0];
            order[0] = order[1];
            order[1] = first;
        }
        for (int i = 0; i < n; i++)
            turn[i] = order[i];
        return;
    }
    /* Axes permuted and flipped, with determinant 1. */
    double sign[3];
    for (int d = 0; d < n; d++) {
        sign[d] = d + 1 < n && test_random(seed) < 0.0 ? -1.0 : 1.0;
        odd ^= sign[d] < 0.0;
    }
    if (odd) sign[n - 1] = -1.0;
    for (int i = 0; i < info->vertices; i++)
        for (int j = 0; j < info->vertices; j++) {
            bool same = true;
            for (int d = 0; d < n; d++)
                same = same && info->r[j][d] == sign[d] * info->r[i][order[d]];
            if (same) turn[i] = j;
        }
}

/* Turns every element of a straight, whole mesh at random and connects it again: faces then meet in
 * every way they can. All boundary faces become boundary 0. */
static inline void turn_elements(eg_mesh *mesh, uint64_t seed)
{
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int turn[EG_MAX_VERTICES], n = eg_shape_get_info((eg_shape)mesh->shape[e])->vertices;
        int32_t *v = mesh->vertices + (size_t)e * (size_t)mesh->vertex_stride;
        int32_t old[EG_MAX_VERTICES];
        random_turn((eg_shape)mesh->shape[e], &seed, turn);
        memcpy(old, v, (size_t)n * sizeof *v);
        for (int i = 0; i < n; i++)
            v[i] = old[turn[i]];
    }
    TEST_OK(mesh->ctx, eg_mesh_connect(mesh, NULL));
}

/* Degrees that change from element to element, by global number. */
static inline uint8_t *mixed_degrees(const eg_mesh *mesh, int a, int b)
{
    int32_t count = mesh->element_count + mesh->ghost_count;
    uint8_t *degrees = malloc((size_t)count + 1);
    assert_non_null(degrees);
    for (int32_t e = 0; e < count; e++)
        degrees[e] = (uint8_t)(mesh->global[e] % 2 ? a : b);
    return degrees;
}

/* --- fields ----------------------------------------------------------------------------------- */

/* The coordinates as a field's values of one element: out [dim][np]. */
static inline void element_coordinates(const eg_space *space, int32_t element, double *out)
{
    const eg_group *g = eg_space_group_of(space, element);
    const int dim = space->mesh->dim, n = g->geometry->np, np = g->element->np;
    double *transfer = malloc((size_t)(np * n) * sizeof *transfer);
    double *nodes = malloc((size_t)(n * dim) * sizeof *nodes);
    assert_true(transfer && nodes);
    TEST_OK(space->ctx, eg_element_transfer(g->geometry, g->element, transfer));
    assert_int_equal(eg_mesh_element_nodes(space->mesh, element, nodes), n);
    for (int d = 0; d < dim; d++)
        for (int i = 0; i < np; i++) {
            out[d * np + i] = 0.0;
            for (int j = 0; j < n; j++)
                out[d * np + i] += transfer[i * n + j] * nodes[j * dim + d];
        }
    free(nodes);
    free(transfer);
}

/* A field of the coordinates, exact where the degree is at least the mapping's. */
static inline eg_field *coordinates_field(eg_space *space, eg_type type)
{
    eg_field *field = NULL;
    TEST_OK(space->ctx, eg_field_create(space, space->mesh->dim, type, &field));
    double *values = malloc((eg_field_host_count(field) + 1) * sizeof *values), *at = values;
    assert_non_null(values);
    for (int32_t e = 0; e < space->mesh->element_count; e++) {
        element_coordinates(space, e, at);
        at += space->mesh->dim * eg_space_group_of(space, e)->element->np;
    }
    TEST_OK(space->ctx, eg_field_from_host(field, values));
    free(values);
    return field;
}

#endif
