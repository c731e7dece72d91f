/* Spaces: every element has its place, padding and ghosts have none, and the device's tables say
 * what the mesh says. */
#include "field.h"

#include "device/backend.h"

typedef struct setting {
    eg_context *ctx;
    eg_device *device;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
} setting;

static setting setting_new(void)
{
    setting s = {.ctx = test_context()};
    TEST_OK(s.ctx, eg_device_open(s.ctx, "cpu:1", &s.device));
    TEST_OK(s.ctx, eg_comm_self(s.ctx, &s.comm));
    return s;
}

static void create(setting *s, const eg_space_options *options)
{
    TEST_OK(s->ctx, eg_space_create(s->device, s->comm, s->mesh, options, &s->space));
}

static void setting_free(setting *s)
{
    eg_space_destroy(&s->space);
    assert_null(s->space);
    eg_space_destroy(&s->space);
    eg_mesh_destroy(&s->mesh);
    eg_comm_destroy(&s->comm);
    eg_device_close(&s->device);
    test_context_free(&s->ctx);
}

/* All values of a buffer; release with free(). */
static void *fetch(eg_context *ctx, eg_buffer *buffer)
{
    size_t count = eg_buffer_count(buffer);
    void *values = malloc(count * eg_type_size(eg_buffer_type(buffer)) + 1);
    assert_non_null(values);
    TEST_OK(ctx, eg_buffer_download(buffer, 0, count, values));
    return values;
}

/* --- places ----------------------------------------------------------------------------------- */

/* True if the slot behind that of a quadrilateral in a row of less than 512 is that of the element
 * in the east, unless this one has an earlier slot or may not stand there. */
static bool row_goes_on(const setting *s, int32_t element)
{
    const int east = 1, west = 3;
    const size_t at = (size_t)element * (size_t)s->mesh->face_stride + (size_t)east;
    const int32_t next = s->mesh->neighbour[at], *slot = s->space->slot_of_element;
    return next < 0 || EG_FACE(s->mesh->neighbour_face[at]) != west ||
           eg_space_group_of(s->space, next) != eg_space_group_of(s->space, element) ||
           slot[next] <= slot[element] + 1;
}

/* Every element has one slot, of its own key's group, with weight 1, and rows go on where they can;
 * all other slots weigh 0 and repeat the element before them. */
static void check_places(const setting *s)
{
    const eg_space *space = s->space;
    int32_t elements = 0;
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        double *weight = fetch(s->ctx, g->weight), sum = 0.0;
        assert_int_equal(g->first_slot % EG_SLOT_BLOCK, 0);
        assert_int_equal(g->tiles, (g->element_count + g->lanes - 1) / g->lanes);
        assert_int_equal(g->own_tiles, g->tiles);
        assert_int_equal(g->interior_tiles, g->tiles);
        int32_t last = -1;
        for (int64_t k = 0; k < g->tiles * g->lanes; k++) {
            int32_t e = g->element_of_slot[k];
            int64_t slot = g->first_slot + k;
            bool is_copy = k >= g->element_count;
            assert_true(is_copy ? e == last : row_goes_on(s, e));
            assert_int_equal(space->slot_of_element[e] == slot, !is_copy);
            assert_int_equal(space->group_of_block[slot / EG_SLOT_BLOCK], i);
            assert_true(weight[k] == (is_copy ? 0.0 : 1.0));
            assert_int_equal(s->mesh->shape[e], g->shape);
            assert_int_equal(eg_mesh_is_affine(s->mesh, e), !g->curved);
            sum += weight[k];
            last = e;
        }
        assert_true(sum == g->element_count);
        elements += g->element_count;
        free(weight);
    }
    assert_int_equal(elements, s->mesh->element_count);
    int32_t *groups = fetch(s->ctx, space->block_groups);
    for (int64_t b = 0; b < space->slot_count / EG_SLOT_BLOCK; b++)
        assert_int_equal(groups[b], space->group_of_block[b]);
    free(groups);
}

static void test_space__1_7_and_33_elements_fill_tiles_with_copies_that_weigh_nothing(void **state)
{
    (void)state;
    static const int counts[] = {1, 7, 33};
    for (size_t i = 0; i < EG_COUNT(counts); i++)
        for (int lanes = 4; lanes <= 64; lanes *= 2) {
            setting s = setting_new();
            s.mesh = box(s.ctx, EG_SHAPE_QUAD, counts[i], 1, 0, 0.0, false);
            create(&s, &(eg_space_options){.degree = 3, .lanes = lanes});
            assert_int_equal(s.space->group_count, 1);
            assert_int_equal(s.space->groups[0].lanes, lanes);
            assert_int_equal(s.space->dof, counts[i] * 16);
            check_places(&s);
            setting_free(&s);
        }
}

/* The right half of the box grows towards the right: its elements become trapezoids. */
static eg_status widen(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        x[2 * i] = X[2 * i];
        x[2 * i + 1] = X[2 * i + 1] * (X[2 * i] > 0.5 ? 0.5 + X[2 * i] : 1.0);
    }
    return EG_OK;
}

static void test_space__shape_degree_and_geometry_make_a_group(void **state)
{
    (void)state;
    setting s = setting_new();
    s.mesh = box_with(
        s.ctx,
        &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {8, 9}, .map = widen, .order = 2});
    uint8_t *degrees = mixed_degrees(s.mesh, 2, 5);
    create(&s, &(eg_space_options){.degrees = degrees});
    check_places(&s);
    int64_t dof = 0;
    for (int32_t e = 0; e < s.mesh->element_count; e++) {
        const eg_group *g = eg_space_group_of(s.space, e);
        assert_int_equal(g->degree, degrees[e]);
        assert_int_equal(g->element->degree, degrees[e]);
        assert_int_equal(g->geometry->degree, 2);
        dof += g->element->np;
    }
    assert_int_equal(s.space->group_count, 4);
    for (int i = 0; i < 4; i++) {
        const eg_group *g = &s.space->groups[i];
        assert_int_equal(g->degree, i < 2 ? 2 : 5);
        assert_int_equal(g->curved, i % 2);
        assert_int_equal(g->volume_factors != NULL, !g->curved);
        assert_true(g->element == s.space->groups[i ^ 1].element); /* of one kind */
    }
    assert_int_equal(s.space->element_kinds, 2); /* the geometry is of degree 2, too */
    assert_int_equal(s.space->dof, dof);
    free(degrees);
    setting_free(&s);
}

static void test_space__gpu_tiles_that_outgrow_shared_memory_have_fewer_lanes(void **state)
{
    (void)state;
    /* A tile of 32 hexahedra of degree 2 has 27 * 32 * 8 = 6912 bytes; 4 lanes are the least. */
    static const struct {
        int shared_bytes, lanes;
    } rows[] = {{49152, 32}, {6912, 32}, {6911, 16}, {3455, 8}, {1727, 4}, {100, 4}};
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        setting s = setting_new();
        s.device->info.is_gpu = true;
        s.device->info.lanes = 32;
        s.device->info.shared_bytes = (uint64_t)rows[i].shared_bytes;
        s.mesh = box(s.ctx, EG_SHAPE_HEX, 2, 1, 1, 0.0, false);
        create(&s, &(eg_space_options){.degree = 2});
        assert_int_equal(s.space->groups[0].lanes, rows[i].lanes);
        s.device->info.is_gpu = false;
        setting_free(&s);
    }
}

/* --- tables ----------------------------------------------------------------------------------- */

static void check_tables(const setting *s)
{
    const eg_mesh *mesh = s->mesh;
    double *x = malloc((size_t)(mesh->dim * 1331) * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < s->space->group_count; i++) {
        const eg_group *g = &s->space->groups[i];
        const int faces = g->element->faces, lanes = g->lanes, np = g->geometry->np;
        int32_t *neighbour = fetch(s->ctx, g->neighbour);
        uint8_t *face = fetch(s->ctx, g->neighbour_face);
        double *nodes = fetch(s->ctx, g->nodes);
        for (int64_t tile = 0; tile < g->tiles; tile++)
            for (int lane = 0; lane < lanes; lane++) {
                int32_t e = g->element_of_slot[tile * lanes + lane];
                for (int f = 0; f < faces; f++) {
                    size_t at = (size_t)((tile * faces + f) * lanes + lane);
                    size_t there = (size_t)e * (size_t)mesh->face_stride + (size_t)f;
                    int32_t n = mesh->neighbour[there];
                    assert_int_equal(neighbour[at], n < 0 ? n : s->space->slot_of_element[n]);
                    assert_int_equal(face[at], mesh->neighbour_face[there]);
                }
                assert_int_equal(eg_mesh_element_nodes(mesh, e, x), np);
                for (int d = 0; d < mesh->dim; d++)
                    for (int k = 0; k < np; k++)
                        assert_true(nodes[((tile * mesh->dim + d) * np + k) * lanes + lane] ==
                                    x[k * mesh->dim + d]);
            }
        free(nodes);
        free(face);
        free(neighbour);
    }
    free(x);
}

static void test_space__tables_on_the_device_are_the_mesh_s_in_tiles(void **state)
{
    (void)state;
    static const eg_shape shapes[] = {EG_SHAPE_TRI, EG_SHAPE_QUAD, EG_SHAPE_TET, EG_SHAPE_HEX};
    for (size_t i = 0; i < EG_COUNT(shapes); i++) {
        setting s = setting_new();
        s.mesh = box(s.ctx, shapes[i], 4, 3, 3, 0.2, i % 2);
        uint8_t *degrees = mixed_degrees(s.mesh, 1, 2);
        create(&s, &(eg_space_options){.degrees = degrees});
        check_tables(&s);
        free(degrees);
        setting_free(&s);
    }
    setting s = setting_new();
    s.mesh = box_with(
        s.ctx,
        &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {8, 9}, .map = widen, .order = 4});
    create(&s, &(eg_space_options){.degree = 1});
    check_tables(&s);
    setting_free(&s);
}

/* Nodes are staged in pieces of a few MiB: this mesh needs several. */
static void test_space__a_triangle_s_neighbours_take_15_bytes(void **state)
{
    (void)state;
    setting s = setting_new();
    s.mesh = box_with(s.ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {256, 256}});
    create(&s, &(eg_space_options){.degree = 1, .lanes = 16});
    const eg_group *g = &s.space->groups[0];
    assert_int_equal(eg_buffer_bytes(g->neighbour) + eg_buffer_bytes(g->neighbour_face),
                     15 * (size_t)s.mesh->element_count);
    check_tables(&s);
    assert_true(fabs(s.space->volume - 1.0) < 1e-13);
    setting_free(&s);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void test_space__what_does_not_exist_is_refused(void **state)
{
    (void)state;
    setting s = setting_new();
    s.mesh = box(s.ctx, EG_SHAPE_TRI, 2, 2, 0, 0.0, false);
    static const int lanes[] = {-4, 1, 2, 3, 24, 128};
    for (size_t i = 0; i < EG_COUNT(lanes); i++) {
        eg_space_options options = {.degree = 1, .lanes = lanes[i]};
        TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "powers of two",
                   eg_space_create(s.device, s.comm, s.mesh, &options, &s.space));
        assert_null(s.space);
    }
    eg_space_options options = {.degree = 16};
    TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "degree 16",
               eg_space_create(s.device, s.comm, s.mesh, &options, &s.space));
    options.degree = -1;
    TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "degree -1",
               eg_space_create(s.device, s.comm, s.mesh, &options, &s.space));
    options = (eg_space_options){.degree = 1, .basis = EG_BASIS_GAUSS};
    TEST_FAILS(s.ctx, EG_ERROR_INPUT, "triangle",
               eg_space_create(s.device, s.comm, s.mesh, &options, &s.space));
    assert_null(s.space);
    setting_free(&s);
}

/* A space and fields on it, with a transfer to another space. */
static eg_status use_all(const setting *s)
{
    eg_status status = EG_OK;
    eg_space *space = NULL;
    eg_field *field = NULL, *other = NULL;
    double values[8 * 3] = {0};
    EG_TRY(eg_space_create(s->device, s->comm, s->mesh, &(eg_space_options){.degree = 1}, &space));
    EG_TRY(eg_field_create(space, 1, EG_F64, &field));
    EG_TRY(eg_field_create(s->space, 1, EG_F64, &other));
    EG_TRY(eg_field_from_host(field, values));
    EG_TRY(eg_field_transfer(field, other));
    EG_TRY(eg_field_to_host(other, values));
done:
    eg_field_destroy(&other);
    eg_field_destroy(&field);
    eg_space_destroy(&space);
    return status;
}

/* One allocation fails, and once more all from there on; what other rooms have made is made but
 * once. With sanitizers, where creating a kernel takes long, ever fewer are tried. */
static void test_space__survives_any_failed_allocation(void **state)
{
    (void)state;
    setting s = setting_new();
    s.mesh = box(s.ctx, EG_SHAPE_TRI, 2, 2, 0, 0.0, false);
    create(&s, &(eg_space_options){.degree = 0});
    TEST_OK(s.ctx, use_all(&s)); /* the kernels are in the cache from now on */
    for (int persist = 0; persist < 2; persist++) {
        bool failed = true;
#ifdef __SANITIZE_ADDRESS__
        for (long n = 1; failed; n += 1 + n / 8) {
#else
        for (long n = 1; failed; n++) {
#endif
            const long live = test_memory.live;
            test_allocator_arm(n, persist != 0);
            eg_status status = use_all(&s);
            failed = test_memory.calls >= n;
            test_allocator_arm(0, false);
            assert_int_equal(test_memory.live, live);
            assert_true(status == EG_ERROR_MEMORY || status == EG_ERROR_DEVICE_MEMORY ||
                        status == EG_OK);
            if (!failed) assert_int_equal(status, EG_OK);
        }
    }
    setting_free(&s);
}

/* --- cases ------------------------------------------------------------------------------------ */

static eg_status options_of(eg_context *ctx, const eg_mesh *mesh, const char *text,
                            eg_space_options *options)
{
    const eg_key *tables[] = {eg_space_keys};
    eg_case *cas = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_case_open_text(ctx, "test.toml", text, strlen(text),
                             &(eg_case_options){.tables = tables, .table_count = 1}, &cas));
    EG_TRY(eg_space_options_from_case(cas, mesh, options));
done:
    eg_case_close(&cas);
    return status;
}

static void test_space__a_case_says_degree_and_basis(void **state)
{
    (void)state;
    setting s = setting_new();
    eg_space_options options;
    s.mesh = box(s.ctx, EG_SHAPE_QUAD, 2, 2, 0, 0.0, false);
    TEST_OK(s.ctx, options_of(s.ctx, s.mesh, "[space]\ndegree = 15\n", &options));
    assert_int_equal(options.degree, 15);
    assert_int_equal(options.basis, EG_BASIS_LOBATTO);
    for (int basis = 0; basis < EG_BASIS_COUNT; basis++) {
        char text[80];
        snprintf(text, sizeof text, "[space]\ndegree = 3\nbasis = \"%s\"\n",
                 eg_basis_name((eg_basis)basis));
        TEST_OK(s.ctx, options_of(s.ctx, s.mesh, text, &options));
        assert_int_equal(options.basis, basis);
    }
    TEST_FAILS(s.ctx, EG_ERROR_INPUT, "degree",
               options_of(s.ctx, s.mesh, "[space]\ndegree = 16\n", &options));
    TEST_FAILS(s.ctx, EG_ERROR_INPUT, "degree", options_of(s.ctx, s.mesh, "[space]\n", &options));
    eg_mesh_destroy(&s.mesh);
    s.mesh = box(s.ctx, EG_SHAPE_TRI, 2, 2, 0, 0.0, false);
    TEST_FAILS(s.ctx, EG_ERROR_INPUT,
               "test.toml:2:", options_of(s.ctx, s.mesh, "[space]\ndegree = 11\n", &options));
    TEST_FAILS(s.ctx, EG_ERROR_INPUT, "at most 10",
               options_of(s.ctx, s.mesh, "[space]\ndegree = 11\n", &options));
    TEST_FAILS(s.ctx, EG_ERROR_INPUT, "does not exist on a triangle",
               options_of(s.ctx, s.mesh, "[space]\ndegree = 1\nbasis = \"radau\"\n", &options));
    setting_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_space__1_7_and_33_elements_fill_tiles_with_copies_that_weigh_nothing),
        cmocka_unit_test(test_space__shape_degree_and_geometry_make_a_group),
        cmocka_unit_test(test_space__gpu_tiles_that_outgrow_shared_memory_have_fewer_lanes),
        cmocka_unit_test(test_space__tables_on_the_device_are_the_mesh_s_in_tiles),
        cmocka_unit_test(test_space__a_triangle_s_neighbours_take_15_bytes),
        cmocka_unit_test(test_space__what_does_not_exist_is_refused),
        cmocka_unit_test(test_space__survives_any_failed_allocation),
        cmocka_unit_test(test_space__a_case_says_degree_and_basis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
