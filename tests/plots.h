/* What tests of pictures of fields share: snapshots on straight, moved and bent meshes, and images
 * of them. */
#ifndef EG_TEST_PLOTS_H
#define EG_TEST_PLOTS_H

#include "curved.h"

#include "report/plot/image.h"

typedef struct test_bending {
    size_t dim;
    double most;
} test_bending;

/* Bends the inside of the unit square or cube, whose sides stay where they are. */
static inline eg_status test_bend_inside(void *user, size_t count, const double *X, double *x)
{
    const test_bending *by = user;
    const size_t dim = by->dim;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < dim; d++) {
            const double other = X[i * dim + (d + 1) % dim], mine = X[i * dim + d];
            const double third = dim > 2 ? X[i * dim + (d + 2) % dim] : 0;
            x[i * dim + d] =
                mine + by->most * sin(M_PI * mine) * sin(2 * M_PI * other) * cos(2 * M_PI * third);
        }
    return EG_OK;
}

typedef enum test_kind {
    TEST_STRAIGHT,
    TEST_MOVED,
    TEST_BENT,
    TEST_HARDLY_BENT,
    TEST_KINDS
} test_kind;

static inline eg_mesh *test_plot_mesh(eg_context *ctx, eg_shape shape, test_kind what, int order,
                                      int cells)
{
    test_bending by = {(size_t)eg_shape_get_info(shape)->dim, what == TEST_BENT ? 0.07 : 1e-6};
    return test_box(ctx, &(eg_box_options){.shape = shape,
                                           .cells = {cells, cells, cells},
                                           .perturb = what == TEST_MOVED ? 0.2 : 0,
                                           .order = what >= TEST_BENT ? order : 1,
                                           .map = what >= TEST_BENT ? test_bend_inside : NULL,
                                           .map_user = &by});
}

/* The elements of a mesh with two random fields, u and p, of a degree. */
static inline eg_snapshot *test_plot_snapshot(const eg_mesh *mesh, int degree, uint64_t *seed)
{
    static const char *const names[] = {"u", "p"};
    static const char *const units[] = {"m/s", NULL};
    const size_t elements = (size_t)mesh->element_count;
    size_t count = 0;
    uint8_t *degrees = malloc(elements);
    assert_non_null(degrees);
    for (size_t e = 0; e < elements; e++) {
        degrees[e] = (uint8_t)degree;
        count += 2 * (size_t)eg_mode_count((eg_shape)mesh->shape[e], degree);
    }
    double *values = malloc((count + 1) * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = test_random(seed);
    eg_snapshot *snapshot = NULL;
    const eg_snapshot_values fields = {.components = 2,
                                       .names = names,
                                       .units = units,
                                       .basis = EG_BASIS_EQUIDISTANT,
                                       .degree = degrees,
                                       .values = values};
    TEST_OK(mesh->ctx, eg_snapshot_create_values(mesh, 3, 0.25, &fields, 1, &snapshot));
    free(values);
    free(degrees);
    return snapshot;
}

/* Fills u with a function of the place. */
static inline void test_fill_field(eg_snapshot *s, double (*f)(double x, double y))
{
    for (int64_t i = 0; i < s->first_node[s->element_count]; i++)
        s->arrays[0].values[i] = f(s->x[i * s->dim], s->x[i * s->dim + 1]);
}

static inline eg_plot_image *test_plot_image(const eg_snapshot *s, const char *text,
                                             const eg_plot_view *view, double line)
{
    eg_plot_field field;
    eg_plot_image *image = NULL;
    TEST_OK(s->ctx, eg_plot_field_open(s, text, &field));
    TEST_OK(s->ctx, eg_plot_image_create(&field, view, line, &image));
    eg_plot_field_close(&field);
    return image;
}

/* The unit square, or the middle of the unit cube, with some air. */
static inline eg_plot_view test_plot_view(int dim, int pixels)
{
    return (eg_plot_view){.across = 0,
                          .up = 1,
                          .normal = dim == 3 ? 2 : -1,
                          .at = dim == 3 ? 0.43 : 0,
                          .left = -0.051,
                          .top = 1.052,
                          .pixel = 1.1 / pixels,
                          .width = pixels,
                          .height = pixels};
}

static inline double test_first_coordinate(double x, double y)
{
    (void)y;
    return x;
}

#endif
