/* Traces: what a kernel gathers from neighbours is what they have at the points of the face, for
 * every shape, orientation and pair of degrees, on every device. */
#include "kernel/devices.h"

#include "field.h"

/* --- the tables ------------------------------------------------------------------------------- */

/* Values of the vertices' own functions, linear or bilinear, at point s of a face. */
static void vertex_values(eg_shape face, const double *s, double *value)
{
    if (face == EG_SHAPE_LINE) {
        value[0] = (1 - s[0]) / 2;
        value[1] = (1 + s[0]) / 2;
    } else if (face == EG_SHAPE_TRI) {
        value[0] = -(s[0] + s[1]) / 2;
        value[1] = (1 + s[0]) / 2;
        value[2] = (1 + s[1]) / 2;
    } else {
        value[0] = (1 - s[0]) * (1 - s[1]) / 4;
        value[1] = (1 + s[0]) * (1 - s[1]) / 4;
        value[2] = (1 + s[0]) * (1 + s[1]) / 4;
        value[3] = (1 - s[0]) * (1 + s[1]) / 4;
    }
}

/* What a table makes of the reference coordinates themselves must be where the point lies: `vertex`
 * says which of the face's vertices mine are. */
static void check_side(const eg_element *element, int face, const int *vertex, int count,
                       const double *points, int terms, const int32_t *node, const double *weight)
{
    const eg_shape_info *info = eg_shape_get_info(element->shape);
    const int dim = element->dim;
    for (int i = 0; i < count; i++) {
        double s[2] = {points[i], dim > 2 ? points[count + i] : 0.0}, value[4];
        vertex_values(info->face_shape, s, value);
        for (int d = 0; d < dim; d++) {
            double expected = 0.0, found = 0.0;
            for (int v = 0; v < info->face_vertices; v++)
                expected += value[v] * info->r[info->face[face][vertex[v]]][d];
            for (int k = 0; k < terms; k++) {
                int n = node[i * terms + k];
                assert_in_range(n, 0, element->np - 1);
                found += (weight ? weight[i * terms + k] : 1.0) * element->r[d * element->np + n];
            }
            assert_near(found, expected, 2e-12, "coordinate of point", (size_t)i);
        }
    }
}

/* Downloads a table of the trace. */
static void fetch(eg_context *ctx, const eg_trace_table *table, int32_t **node, double **weight)
{
    size_t n = eg_buffer_count(table->node);
    *node = malloc(n * sizeof **node);
    *weight = table->weight ? malloc(n * sizeof **weight) : NULL;
    assert_non_null(*node);
    TEST_OK(ctx, eg_buffer_download(table->node, 0, n, *node));
    if (table->weight) {
        assert_int_equal(eg_buffer_count(table->weight), n);
        TEST_OK(ctx, eg_buffer_download(table->weight, 0, n, *weight));
    }
}

typedef struct pair {
    eg_shape shape;
    eg_basis basis;
    int degree;
} pair;

/* Checks all tables of a pair; `terms` are the terms that each point of the neighbour must have. */
static void check_tables(eg_device *device, pair mine, pair other, int terms)
{
    eg_context *ctx = eg_device_context(device);
    eg_element *a = NULL, *b = NULL;
    eg_trace trace;
    int32_t *node = NULL;
    double *weight = NULL;
    TEST_OK(ctx, eg_element_create(ctx, mine.shape, mine.degree, mine.basis, &a));
    TEST_OK(ctx, eg_element_create(ctx, other.shape, other.degree, other.basis, &b));
    TEST_OK(ctx, eg_trace_create(device, a, b, &trace));
    const eg_element *finer = mine.degree >= other.degree ? a : b;
    const eg_shape face = eg_shape_get_info(mine.shape)->face_shape;
    const int n = eg_shape_get_info(mine.shape)->face_vertices, ways = eg_orientation_count(face);
    assert_int_equal(trace.count, finer->face_np);
    assert_int_equal(trace.other.terms, terms);

    fetch(ctx, &trace.other, &node, &weight);
    const int size = trace.count * trace.other.terms;
    assert_int_equal(eg_buffer_count(trace.other.node), b->faces * ways * size);
    for (int f = 0; f < b->faces; f++)
        for (int o = 0; o < ways; o++) {
            int vertex[EG_MAX_FACE_VERTICES], at = (f * ways + o) * size;
            for (int v = 0; v < n; v++)
                vertex[v] = eg_orientation_vertex(n, o, v);
            check_side(b, f, vertex, trace.count, finer->face_r, trace.other.terms, node + at,
                       weight ? weight + at : NULL);
        }
    free(node);
    free(weight);

    fetch(ctx, &trace.own, &node, &weight);
    for (int f = 0; f < a->faces; f++) {
        static const int vertex[EG_MAX_FACE_VERTICES] = {0, 1, 2, 3};
        int at = f * trace.count * trace.own.terms;
        check_side(a, f, vertex, trace.count, finer->face_r, trace.own.terms, node + at,
                   weight ? weight + at : NULL);
    }
    free(node);
    free(weight);
    eg_trace_free(&trace);
    assert_null(trace.other.node);
    eg_element_destroy(&b);
    eg_element_destroy(&a);
}

static void with_cpu(void (*test)(eg_device *device))
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    test(device);
    eg_device_close(&device);
    test_context_free(&ctx);
}

static const eg_shape shapes[] = {EG_SHAPE_TRI, EG_SHAPE_QUAD, EG_SHAPE_TET, EG_SHAPE_HEX};

static void tables_of_one_degree(eg_device *device)
{
    for (size_t i = 0; i < EG_COUNT(shapes); i++)
        for (int degree = 1; degree <= EG_DEGREE_MAX; degree++) {
            pair p = {shapes[i], EG_BASIS_LOBATTO, degree};
            now_at(device, EG_F64, "shape %d degree %d", (int)shapes[i], degree);
            check_tables(device, p, p, 1);
        }
    where[0] = '\0';
}

static void test_trace__points_of_the_same_degree_are_nodes_in_every_orientation(void **state)
{
    (void)state;
    with_cpu(tables_of_one_degree);
}

static void tables_of_pairs(eg_device *device)
{
    /* A point of the finer side is a node; of the coarser one it is made of all nodes of its
     * face. */
    for (size_t i = 0; i < EG_COUNT(shapes); i++) {
        const eg_shape shape = shapes[i];
        const int face_np = shape == EG_SHAPE_TET ? 6 : shape == EG_SHAPE_HEX ? 9 : 3;
        now_at(device, EG_F64, "shape %d", (int)shape);
        pair low = {shape, EG_BASIS_LOBATTO, 2}, high = {shape, EG_BASIS_LOBATTO, 5};
        check_tables(device, high, low, face_np);
        check_tables(device, low, high, 1);
    }
    /* Different shapes with lines between them. */
    pair triangle = {EG_SHAPE_TRI, EG_BASIS_LOBATTO, 3},
         square = {EG_SHAPE_QUAD, EG_BASIS_LOBATTO, 3};
    check_tables(device, triangle, square, 1);
    check_tables(device, square, triangle, 1);
    square.degree = 4;
    check_tables(device, square, triangle, 4);
    check_tables(device, triangle, square, 1);
    /* Gauss nodes: the line of nodes behind the point, with other degrees all of them. */
    pair gauss = {EG_SHAPE_QUAD, EG_BASIS_GAUSS, 4}, coarse = {EG_SHAPE_QUAD, EG_BASIS_GAUSS, 3};
    check_tables(device, gauss, gauss, 5);
    check_tables(device, gauss, coarse, 16);
    pair box_gauss = {EG_SHAPE_HEX, EG_BASIS_GAUSS, 3};
    check_tables(device, box_gauss, box_gauss, 4);
    where[0] = '\0';
}

static void test_trace__pairs_of_degrees_shapes_and_bases_meet_at_the_same_points(void **state)
{
    (void)state;
    with_cpu(tables_of_pairs);
}

static void faces_that_differ(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    eg_element *a = NULL, *b = NULL;
    eg_trace trace;
    TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_TET, 2, EG_BASIS_LOBATTO, &a));
    TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_HEX, 2, EG_BASIS_LOBATTO, &b));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "a tetrahedron and a hexahedron",
               eg_trace_create(device, a, b, &trace));
    assert_null(trace.other.node);
    eg_element_destroy(&b);
    eg_element_destroy(&a);
}

static void test_trace__faces_of_different_shape_are_refused(void **state)
{
    (void)state;
    with_cpu(faces_that_differ);
}

static eg_status create_tables(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_device *device = NULL;
    eg_element *a = NULL, *b = NULL;
    eg_trace trace = {0};
    EG_TRY(eg_device_open(ctx, "cpu:1", &device));
    EG_TRY(eg_element_create(ctx, EG_SHAPE_TRI, 2, EG_BASIS_LOBATTO, &a));
    EG_TRY(eg_element_create(ctx, EG_SHAPE_TRI, 1, EG_BASIS_LOBATTO, &b));
    EG_TRY(eg_trace_create(device, a, b, &trace));
done:
    eg_trace_free(&trace);
    eg_element_destroy(&b);
    eg_element_destroy(&a);
    eg_device_close(&device);
    return status == EG_ERROR_DEVICE_MEMORY ? EG_ERROR_MEMORY : status;
}

static void test_trace__survives_any_failed_allocation(void **state)
{
    (void)state;
    test_allocation_sweep(create_tables, NULL);
}

/* --- the kernels ------------------------------------------------------------------------------ */

static eg_kernel *trace_kernel(const eg_space *space, const eg_group *g, const char *entry,
                               eg_type real, int count, const eg_trace_table *table)
{
    const eg_shape face = eg_shape_get_info(g->shape)->face_shape;
    const eg_define defines[] = {
        {"FACES", g->element->faces},    {"ORIENTATIONS", eg_orientation_count(face)},
        {"NP", g->element->np},          {"COUNT", count},
        {"TERMS", table->terms},         {"WEIGHTED", table->weight != NULL},
        {"COMPONENTS", space->mesh->dim}};
    eg_kernel *kernel = NULL;
    TEST_OK(space->ctx, eg_kernel_create(space->device,
                                         &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                              .source = "field/trace.k.c",
                                                              .entry = entry,
                                                              .real = real,
                                                              .lanes = g->lanes,
                                                              .defines = defines,
                                                              .define_count = EG_COUNT(defines)},
                                         &kernel));
    return kernel;
}

/* Both sides of a group's faces next to elements of kind `other`, gathered on the device. */
static void gather(const eg_field *field, int group, const eg_element *other, const eg_trace *trace,
                   array *own, array *there)
{
    const eg_space *space = field->space;
    eg_group *g = &space->groups[group];
    const size_t groups = (size_t)space->group_count;
    array takes_part = array_new(space->device, EG_I32, groups);
    for (size_t i = 0; i < groups; i++)
        takes_part.v[i] = space->groups[i].element == other;
    array_upload(&takes_part);
    eg_kernel *kernel =
        trace_kernel(space, g, "neighbour_trace", field->type, trace->count, &trace->other);
    TEST_OK(space->ctx,
            eg_launch(
                kernel, g->own_tiles, EG_BUFFER("u", field->data),
                EG_BUFFER("layout", field->layout), EG_BUFFER("block_groups", space->block_groups),
                EG_BUFFER("takes_part", takes_part.buffer), EG_BUFFER("neighbour", g->neighbour),
                EG_BUFFER("neighbour_face", g->neighbour_face),
                EG_BUFFER("node", trace->other.node),
                EG_BUFFER("weight", trace->other.weight ? trace->other.weight : g->weight),
                EG_BUFFER("trace", there->buffer)));
    eg_kernel_destroy(&kernel);
    kernel = trace_kernel(space, g, "own_trace", field->type, trace->count, &trace->own);
    TEST_OK(space->ctx,
            eg_launch(kernel, g->own_tiles, EG_BUFFER_AT("u", field->data, field->offset[group]),
                      EG_BUFFER("node", trace->own.node),
                      EG_BUFFER("weight", trace->own.weight ? trace->own.weight : g->weight),
                      EG_BUFFER("trace", own->buffer)));
    eg_kernel_destroy(&kernel);
    array_free(&takes_part);
}

/* The coordinates of an element at the points of all its faces: out [dim][faces][count]. */
static void expected_trace(const eg_space *space, const eg_group *g, int32_t element, int count,
                           const double *points, double *out)
{
    const int dim = space->mesh->dim, faces = g->element->faces, n = g->geometry->np;
    double *r = new_values((size_t)(dim * count)), *basis = new_values((size_t)(count * n));
    double *nodes = new_values((size_t)(n * dim));
    eg_mesh_element_nodes(space->mesh, element, nodes);
    for (int f = 0; f < faces; f++) {
        eg_shape_face_points(g->shape, f, count, points, r);
        TEST_OK(space->ctx, eg_element_evaluate(g->geometry, count, r, basis));
        for (int d = 0; d < dim; d++)
            for (int i = 0; i < count; i++) {
                double *value = &out[(d * faces + f) * count + i];
                *value = 0.0;
                for (int j = 0; j < n; j++)
                    *value += basis[i * n + j] * nodes[j * dim + d];
            }
    }
    free(nodes);
    free(basis);
    free(r);
}

/* Checks one pair; marks the orientations that were met. */
static void check_pair(const eg_field *field, int group, const eg_element *other, bool periodic,
                       unsigned *met)
{
    const eg_space *space = field->space;
    const eg_mesh *mesh = space->mesh;
    const eg_group *g = &space->groups[group];
    const int dim = mesh->dim, faces = g->element->faces;
    const double bound = field->type == EG_F64 ? 1e-12 : 1e-5;
    eg_trace trace;
    TEST_OK(space->ctx, eg_trace_create(space->device, g->element, other, &trace));
    const double *points = (g->element->degree >= other->degree ? g->element : other)->face_r;
    const size_t tile = (size_t)(dim * faces * trace.count * g->lanes);
    array own = array_poisoned(space->device, field->type, (size_t)g->own_tiles * tile);
    array there = array_poisoned(space->device, field->type, (size_t)g->own_tiles * tile);
    gather(field, group, other, &trace, &own, &there);
    array_download(&own);
    array_download(&there);
    double *expected = new_values((size_t)(dim * faces * trace.count));
    for (int64_t s = 0; s < g->own_tiles * g->lanes; s++) {
        int32_t e = g->element_of_slot[s];
        expected_trace(space, g, e, trace.count, points, expected);
        for (int k = 0; k < dim * faces * trace.count; k++) {
            size_t at = (size_t)(s / g->lanes) * tile + (size_t)(k * g->lanes + s % g->lanes);
            size_t face = (size_t)e * (size_t)mesh->face_stride + (size_t)(k / trace.count % faces);
            int32_t n = mesh->neighbour[face];
            assert_near(own.v[at], expected[k], bound, "own", at);
            if (n < 0 || eg_space_group_of(space, n)->element != other) {
                assert_true(isnan(there.v[at]));
                continue;
            }
            *met |= 1U << EG_ORIENTATION(mesh->neighbour_face[face]);
            double jump = there.v[at] - expected[k];
            if (periodic) jump -= round(jump); /* the box has sides of length 1 */
            assert_near(jump, 0.0, bound, "jump", at);
        }
    }
    free(expected);
    array_free(&there);
    array_free(&own);
    eg_trace_free(&trace);
}

typedef struct trace_case {
    eg_shape shape;
    int cells[3];
    int low, high; /* degrees */
    eg_basis basis;
    double perturb;
    bool periodic, turned;
    int orientations; /* that must be met */
} trace_case;

static void check_case(eg_device *device, eg_type real, const trace_case *c)
{
    eg_context *ctx = eg_device_context(device);
    now_at(device, real, "shape %d degrees %d %d basis %d", (int)c->shape, c->low, c->high,
           (int)c->basis);
    eg_mesh *mesh =
        box(ctx, c->shape, c->cells[0], c->cells[1], c->cells[2], c->perturb, c->periodic);
    if (c->turned) turn_elements(mesh, 77);
    uint8_t *degrees = mixed_degrees(mesh, c->low, c->high);
    eg_comm *comm = NULL;
    eg_space *space = NULL;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx,
            eg_space_create(device, comm, mesh,
                            &(eg_space_options){.basis = c->basis, .degrees = degrees}, &space));
    eg_field *field = coordinates_field(space, real);
    unsigned met = 0;
    int count = 0;
    for (int g = 0; g < space->group_count; g++)
        for (int k = 0; k < space->element_kinds; k++) {
            bool present = false; /* is it of values, not only of geometry? */
            for (int h = 0; h < space->group_count; h++)
                present = present || space->groups[h].element == space->elements[k];
            if (present) check_pair(field, g, space->elements[k], c->periodic, &met);
        }
    for (; met; met &= met - 1)
        count++;
    assert_int_equal(count, c->orientations);
    eg_field_destroy(&field);
    eg_space_destroy(&space);
    eg_comm_destroy(&comm);
    free(degrees);
    eg_mesh_destroy(&mesh);
}

#define LOBATTO EG_BASIS_LOBATTO

/* Two elements on the two sides of a face see it in opposite senses: 1 of 2, 3 of 6 and 4 of 8
 * orientations exist in a mesh. */
static const trace_case doubles[] = {
    {EG_SHAPE_TRI, {4, 3, 0}, 1, 1, LOBATTO, 0.2, false, true, 1},
    {EG_SHAPE_TRI, {3, 3, 0}, 5, 5, LOBATTO, 0.0, true, false, 1},
    {EG_SHAPE_QUAD, {4, 3, 0}, 5, 5, LOBATTO, 0.2, false, true, 1},
    {EG_SHAPE_TET, {2, 2, 2}, 1, 1, LOBATTO, 0.1, false, true, 3},
    {EG_SHAPE_TET, {2, 2, 2}, 5, 5, LOBATTO, 0.1, false, true, 3},
    {EG_SHAPE_HEX, {3, 3, 2}, 1, 1, LOBATTO, 0.2, false, true, 4},
    {EG_SHAPE_HEX, {2, 2, 3}, 5, 5, LOBATTO, 0.0, false, true, 4},
    {EG_SHAPE_QUAD, {3, 3, 0}, 3, 3, EG_BASIS_GAUSS, 0.2, false, true, 1},
    {EG_SHAPE_TRI, {3, 2, 0}, 2, 2, EG_BASIS_MODAL, 0.2, false, true, 1},
};

static const trace_case both[] = {
    {EG_SHAPE_TRI, {4, 3, 0}, 2, 4, LOBATTO, 0.2, false, true, 1},
    {EG_SHAPE_QUAD, {3, 3, 0}, 2, 4, LOBATTO, 0.2, true, false, 1},
    {EG_SHAPE_TET, {2, 2, 1}, 2, 4, LOBATTO, 0.0, false, true, 3},
    {EG_SHAPE_HEX, {3, 3, 2}, 2, 2, LOBATTO, 0.2, false, true, 4},
    {EG_SHAPE_HEX, {3, 3, 2}, 2, 4, LOBATTO, 0.0, false, true, 4},
};

static void neighbours(eg_device *device, eg_type real)
{
    set_pocl_optimises(false);
    for (size_t i = 0; real == EG_F64 && i < EG_COUNT(doubles); i++)
        check_case(device, real, &doubles[i]);
    for (size_t i = 0; i < EG_COUNT(both); i++)
        check_case(device, real, &both[i]);
}

static void test_trace__neighbours_agree_on_coordinates_for_every_shape_and_degree(void **state)
{
    (void)state;
    on_every_device(neighbours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_trace__points_of_the_same_degree_are_nodes_in_every_orientation),
        KERNEL_TEST(test_trace__pairs_of_degrees_shapes_and_bases_meet_at_the_same_points),
        KERNEL_TEST(test_trace__faces_of_different_shape_are_refused),
        KERNEL_TEST(test_trace__survives_any_failed_allocation),
        KERNEL_TEST(test_trace__neighbours_agree_on_coordinates_for_every_shape_and_degree),
    };
    set_pocl_optimises(false); /* others do, see devices.h */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
