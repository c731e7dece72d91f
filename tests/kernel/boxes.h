/* Spaces on boxes for the tests of room `field`: straight, perturbed or curved, with closed forms
 * of their volumes; and points at which elements are looked at on the host. */
#ifndef EG_TEST_BOXES_H
#define EG_TEST_BOXES_H

#include "expression.h"
#include "kernel/devices.h"

#include "field/field.h"

static const eg_shape all_shapes[] = {EG_SHAPE_TRI, EG_SHAPE_QUAD, EG_SHAPE_TET, EG_SHAPE_HEX};

#define PI 3.14159265358979323846
#define WAVE 0.2

/* x = X, y = Y (1 + a sin πX), z = Z (1 + a sin πX sin πY): a box whose far sides are waves. */
static inline eg_status wave_map_2d(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 2, x += 2) {
        x[0] = X[0];
        x[1] = X[1] * (1 + WAVE * sin(PI * X[0]));
    }
    return EG_OK;
}

static inline eg_status wave_map_3d(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 3, x += 3) {
        x[0] = X[0];
        x[1] = X[1] * (1 + WAVE * sin(PI * X[0]));
        x[2] = X[2] * (1 + WAVE * sin(PI * X[0]) * sin(PI * X[1]));
    }
    return EG_OK;
}

/* Its volume: ∫ (1 + a sin πX) and ∫∫ (1 + a sin πX)(1 + a sin πX sin πY). */
static inline double wave_volume(int dim)
{
    const double a = WAVE;
    return dim == 2 ? 1 + 2 * a / PI : 1 + 2 * a / PI + 4 * a / (PI * PI) + a * a / PI;
}

/* A unit box of this shape; order 0: straight. */
static inline eg_box_options box_options(eg_shape shape, int nx, int ny, int nz, int order)
{
    const bool solid = eg_shape_get_info(shape)->dim == 3;
    return (eg_box_options){.shape = shape,
                            .cells = {nx, ny, solid ? nz : 0},
                            .order = order,
                            .map = order == 0 ? NULL
                                   : solid    ? wave_map_3d
                                              : wave_map_2d};
}

/* A mesh of one rank with a space on it. */
typedef struct box {
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
} box;

static inline box box_new(eg_device *device, const eg_box_options *options, eg_basis basis,
                          int degree)
{
    eg_context *ctx = eg_device_context(device);
    box b = {0};
    TEST_OK(ctx, eg_comm_self(ctx, &b.comm));
    TEST_OK(ctx, eg_mesh_create_box(ctx, options, &b.mesh));
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){.basis = basis, .degree = degree}, &b.space));
    return b;
}

static inline void box_free(box *b)
{
    eg_space_destroy(&b->space);
    eg_mesh_destroy(&b->mesh);
    eg_comm_destroy(&b->comm);
}

/* What a sweep runs on a space: creates, uses and releases everything it needs. */
typedef eg_status box_body(eg_space *space, void *user);

/* The allocation that fails after number n. Without sanitizers every one does; with them, where
 * creating a kernel takes long, ever fewer. */
static inline long next_failure(long n)
{
#ifdef __SANITIZE_ADDRESS__
    return n + 1 + n / 8;
#else
    return n + 1;
#endif
}

/* The same as test_allocation_sweep for what is made on a space: that itself is made but once. */
static inline void box_allocation_sweep(const eg_box_options *options, box_body *body, void *user)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    box b = box_new(device, options, EG_BASIS_LOBATTO, 1);
    TEST_OK(ctx, body(b.space, user)); /* the kernels are in the cache from now on */
    for (int persist = 0; persist < 2; persist++) {
        bool failed = true;
        for (long n = 1; failed; n = next_failure(n)) {
            const long live = test_memory.live;
            test_allocator_arm(n, persist != 0);
            eg_status status = body(b.space, user);
            failed = test_memory.calls >= n;
            test_allocator_arm(0, false);
            if (test_memory.live != live)
                fail_msg("allocation %ld failed and %ld blocks were lost", n,
                         test_memory.live - live);
            if (status != EG_OK && status != EG_ERROR_MEMORY && status != EG_ERROR_DEVICE_MEMORY)
                fail_msg("allocation %ld failed and the status was \"%s\": %s", n,
                         eg_status_text(status), eg_context_error(ctx));
            if (!failed) assert_int_equal(status, EG_OK);
        }
    }
    box_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* Plain loops on the host are slow: they look at every third slot, and at the last, which is
 * padding. */
static inline bool is_looked_at(const eg_group *group, int64_t slot)
{
    return slot % 3 == 0 || slot == group->tiles * group->lanes - 1;
}

/* Hexahedra are made of the same lines as quadrilaterals: not all bases need both. Fields of cells are no
 * polynomials: test_cell_fields.c has them. */
static inline bool is_tried(eg_shape shape, eg_basis basis)
{
    if (basis == EG_BASIS_CELLS) return false;
    const bool on_lines = basis >= EG_BASIS_GAUSS && basis <= EG_BASIS_CHEBYSHEV;
    if (shape == EG_SHAPE_HEX) return !on_lines || basis == EG_BASIS_GAUSS;
    return shape == EG_SHAPE_QUAD || !on_lines;
}

/* How threads share tiles is the device's affair and tested there. */
static inline bool is_second_thread(const eg_device *device)
{
    return eg_device_get_info(device)->threads > 1;
}

/* The values of a buffer of f64; release with free(). */
static inline double *downloaded(const eg_space *space, eg_buffer *buffer)
{
    double *v = new_values(eg_buffer_count(buffer));
    TEST_OK(space->ctx, eg_buffer_download(buffer, 0, eg_buffer_count(buffer), v));
    return v;
}

/* A function of up to four components. */
static inline eg_function *function_new(eg_space *space, int components, const char *const *texts)
{
    eg_expression *list[4];
    eg_function *function = NULL;
    for (int c = 0; c < components; c++)
        list[c] = expression(space->ctx, texts[c]);
    TEST_OK(space->ctx,
            eg_function_create(space, (const eg_expression *const *)list, components, &function));
    for (int c = 0; c < components; c++)
        eg_expression_destroy(&list[c]);
    return function;
}

/* --- the mapping on the host ------------------------------------------------------------------ */

/* Columns a[d][k] = ∂x_d/∂r_k of an element's mapping at a point r [dim], and the place x [dim]. */
static inline void map_point(const eg_mesh *mesh, const eg_element *geometry, int32_t element,
                             const double *r, double a[3][3], double *x)
{
    const int dim = geometry->dim, np = geometry->np;
    double *nodes = new_values((size_t)(np * dim)), *values = new_values((size_t)np);
    double *slopes = new_values((size_t)(dim * np));
    assert_int_equal(eg_mesh_element_nodes(mesh, element, nodes), np);
    TEST_OK(mesh->ctx, eg_element_evaluate(geometry, 1, r, values));
    TEST_OK(mesh->ctx, eg_element_differentiate(geometry, 1, r, slopes));
    for (int d = 0; d < dim; d++) {
        x[d] = 0;
        for (int k = 0; k < dim; k++)
            a[d][k] = 0;
        for (int i = 0; i < np; i++) {
            x[d] += values[i] * nodes[i * dim + d];
            for (int k = 0; k < dim; k++)
                a[d][k] += slopes[k * np + i] * nodes[i * dim + d];
        }
    }
    free(slopes);
    free(values);
    free(nodes);
}

static inline double determinant(int dim, double a[3][3])
{
    if (dim == 2) return a[0][0] * a[1][1] - a[0][1] * a[1][0];
    double det = 0;
    for (int k = 0; k < 3; k++)
        det += a[0][k] *
               (a[1][(k + 1) % 3] * a[2][(k + 2) % 3] - a[1][(k + 2) % 3] * a[2][(k + 1) % 3]);
    return det;
}

#endif
