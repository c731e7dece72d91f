/* What tests of snapshots and of the files that hold them share: fields with random values on the
 * host, and what they are at a point. */
#ifndef EG_TEST_SNAPSHOTS_H
#define EG_TEST_SNAPSHOTS_H

#include "curved.h"

#include "report/snapshot.h"

#define TEST_ELEMENT_NODES 512 /* at most */

/* A field on the host with random values, its degree changing from element to element. */
typedef struct test_source {
    uint8_t *degree;
    double *values;
    size_t *first; /* [element] where its values start */
    eg_snapshot_values view;
} test_source;

static const char *const test_pair_names[] = {"density", "momentum"};
static const char *const test_pair_units[] = {"kg/m³", NULL};
static const char *const test_one_name[] = {"pressure"};

/* One component, or two: odd elements have the first degree. */
static inline test_source test_source_new(const eg_mesh *mesh, eg_basis basis, int odd, int even,
                                          int components, uint64_t *seed)
{
    const size_t elements = (size_t)mesh->element_count;
    test_source s = {.degree = malloc(elements + 1),
                     .first = calloc(elements + 1, sizeof *s.first)};
    assert_true(s.degree && s.first);
    for (size_t e = 0; e < elements; e++) {
        s.degree[e] = (uint8_t)(mesh->global[e] % 2 ? odd : even);
        s.first[e + 1] = s.first[e] + (size_t)(components * eg_mode_count((eg_shape)mesh->shape[e],
                                                                          s.degree[e]));
    }
    s.values = malloc((s.first[elements] + 1) * sizeof *s.values);
    assert_non_null(s.values);
    for (size_t i = 0; i < s.first[elements]; i++)
        s.values[i] = test_random(seed);
    s.view = (eg_snapshot_values){.components = components,
                                  .names = components > 1 ? test_pair_names : test_one_name,
                                  .units = components > 1 ? test_pair_units : NULL,
                                  .basis = basis,
                                  .degree = s.degree,
                                  .values = s.values};
    return s;
}

static inline void test_source_free(test_source *s)
{
    free(s->degree);
    free(s->first);
    free(s->values);
}

/* A point in the reference element. */
static inline void test_random_point(eg_shape shape, uint64_t *seed, double r[3])
{
    const int dim = eg_shape_get_info(shape)->dim;
    double sum;
    do {
        sum = 0;
        for (int d = 0; d < dim; d++)
            sum += r[d] = test_random(seed);
    } while (!eg_shape_get_info(shape)->tensor && sum > 2 - dim);
}

/* Elements, each made when it is first needed. */
typedef struct test_elements {
    eg_context *ctx;
    eg_element *at[EG_SHAPE_COUNT][EG_DEGREE_MAX_QUAD + 1][EG_BASIS_COUNT];
} test_elements;

static inline void test_elements_free(test_elements *elements)
{
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        for (int degree = 0; degree <= EG_DEGREE_MAX_QUAD; degree++)
            for (int b = 0; b < EG_BASIS_COUNT; b++)
                eg_element_destroy(&elements->at[s][degree][b]);
}

/* What values, `stride` apart, of a basis are at r. */
static inline double test_evaluate(test_elements *elements, eg_shape shape, int degree,
                                   eg_basis basis, int stride, const double *values,
                                   const double *r)
{
    eg_element **element = &elements->at[shape][degree][basis];
    double weights[TEST_ELEMENT_NODES], sum = 0;
    if (!*element)
        TEST_OK(elements->ctx,
                eg_element_create_bare(elements->ctx, shape, degree, basis, element));
    assert_true((*element)->np <= TEST_ELEMENT_NODES);
    TEST_OK(elements->ctx, eg_element_evaluate(*element, 1, r, weights));
    for (int i = 0; i < (*element)->np; i++)
        sum += weights[i] * values[i * stride];
    return sum;
}

/* A coordinate, or a component of a field, of an element of the mesh at r. */
static inline double test_coordinate_at(test_elements *elements, const eg_mesh *mesh, int32_t e,
                                        int d, const double *r)
{
    double nodes[3 * TEST_ELEMENT_NODES];
    eg_mesh_element_nodes(mesh, e, nodes);
    return test_evaluate(elements, (eg_shape)mesh->shape[e], mesh->order, EG_BASIS_LOBATTO,
                         mesh->dim, nodes + d, r);
}

static inline double test_source_at(test_elements *elements, const eg_mesh *mesh,
                                    const test_source *field, int32_t e, int c, const double *r)
{
    const eg_shape shape = (eg_shape)mesh->shape[e];
    const int degree = field->degree[e];
    return test_evaluate(elements, shape, degree, field->view.basis, 1,
                         field->values + field->first[e] + c * eg_mode_count(shape, degree), r);
}

/* Equal to the last bit. */
static inline void test_same_snapshot(const eg_snapshot *a, const eg_snapshot *b)
{
    const size_t elements = (size_t)a->element_count;
    assert_int_equal(a->element_count, b->element_count);
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(a->step, b->step);
    assert_memory_equal(&a->time, &b->time, sizeof a->time);
    assert_memory_equal(a->shape, b->shape, elements);
    assert_memory_equal(a->degree, b->degree, elements);
    assert_int_equal(!a->value_degree, !b->value_degree);
    if (a->value_degree) assert_memory_equal(a->value_degree, b->value_degree, elements);
    assert_memory_equal(a->global, b->global, elements * sizeof *a->global);
    assert_memory_equal(a->first_node, b->first_node, (elements + 1) * sizeof *a->first_node);
    const size_t nodes = (size_t)a->first_node[elements];
    assert_memory_equal(a->x, b->x, nodes * (size_t)a->dim * sizeof *a->x);
    assert_int_equal(a->array_count, b->array_count);
    for (int i = 0; i < a->array_count; i++) {
        assert_string_equal(a->arrays[i].name, b->arrays[i].name);
        assert_int_equal(!a->arrays[i].unit, !b->arrays[i].unit);
        if (a->arrays[i].unit) assert_string_equal(a->arrays[i].unit, b->arrays[i].unit);
        assert_memory_equal(a->arrays[i].values, b->arrays[i].values, nodes * sizeof(double));
    }
}

#endif
