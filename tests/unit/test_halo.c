/* The halo exchange with any number of ranks: run alone, and with mpirun where MPI was built in. */
#include "field.h"
#include "ranks.h"

#define COMPONENTS 2

/* A value that no other place has, with all digits in use. */
static double value_of(int64_t global, int component, int node)
{
    uint64_t seed = ((uint64_t)global * 97 + (uint64_t)component) * 4099 + (uint64_t)node;
    return test_random(&seed);
}

typedef struct halo_case {
    eg_shape shape;
    int cells[3];
    eg_basis basis;
    int low, high; /* degrees */
    bool periodic;
} halo_case;

static const halo_case cases[] = {
    {EG_SHAPE_TRI, {5, 4, 0}, EG_BASIS_LOBATTO, 3, 3, false},
    {EG_SHAPE_TRI, {4, 4, 0}, EG_BASIS_LOBATTO, 2, 4, true},
    {EG_SHAPE_QUAD, {7, 5, 0}, EG_BASIS_LOBATTO, 5, 5, true},
    {EG_SHAPE_QUAD, {5, 5, 0}, EG_BASIS_GAUSS, 3, 2, false},
    {EG_SHAPE_TET, {2, 3, 2}, EG_BASIS_LOBATTO, 1, 3, false},
    {EG_SHAPE_TET, {3, 3, 3}, EG_BASIS_MODAL, 2, 2, true},
    {EG_SHAPE_HEX, {3, 3, 3}, EG_BASIS_LOBATTO, 2, 0, true},
};

/* This rank's part of a box, and a space on it. */
typedef struct setting {
    eg_context *ctx;
    eg_comm *comm;
    eg_device *device;
    eg_mesh *mesh;
    eg_space *space;
} setting;

static setting setting_new(const halo_case *c)
{
    setting s = {.ctx = test_context()};
    s.comm = ranks_world(s.ctx);
    TEST_OK(s.ctx, eg_device_open(s.ctx, "cpu:1", &s.device));
    eg_mesh *whole = box(s.ctx, c->shape, c->cells[0], c->cells[1], c->cells[2], 0.1, c->periodic);
    s.mesh = ranks_part(whole, s.comm, EG_PARTITION_HILBERT);
    eg_mesh_destroy(&whole);
    uint8_t *degrees = mixed_degrees(s.mesh, c->low, c->high);
    TEST_OK(s.ctx,
            eg_space_create(s.device, s.comm, s.mesh,
                            &(eg_space_options){.basis = c->basis, .degrees = degrees}, &s.space));
    free(degrees);
    return s;
}

static void setting_free(setting *s)
{
    eg_space_destroy(&s->space);
    eg_mesh_destroy(&s->mesh);
    eg_device_close(&s->device);
    eg_comm_destroy(&s->comm);
    test_context_free(&s->ctx);
}

static double value_at(eg_type type, const void *raw, size_t i)
{
    return type == EG_F64 ? ((const double *)raw)[i] : (double)((const float *)raw)[i];
}

static double as_held(eg_type type, double value)
{
    return type == EG_F64 ? value : (double)(float)value;
}

/* A field with every own value set, padding included, and ghosts poisoned. */
static eg_field *field_new(eg_space *space, eg_type type, int64_t salt)
{
    static const uint64_t ones = UINT64_MAX; /* a NaN */
    eg_field *field = NULL;
    TEST_OK(space->ctx, eg_field_create(space, COMPONENTS, type, &field));
    double *values = calloc(eg_field_host_count(field) + 1, sizeof *values), *at = values;
    assert_non_null(values);
    for (int32_t e = 0; e < space->mesh->element_count; e++) {
        int np = eg_space_group_of(space, e)->element->np;
        for (int k = 0; k < COMPONENTS * np; k++)
            *at++ = value_of(space->mesh->global[e] + salt, k / np, k % np);
    }
    TEST_OK(space->ctx, eg_field_from_host(field, values));
    free(values);
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        size_t tile = eg_group_tile_values(g, COMPONENTS);
        TEST_OK(space->ctx,
                eg_buffer_fill(field->data, field->offset[i] + (size_t)g->own_tiles * tile,
                               (size_t)(g->tiles - g->own_tiles) * tile, &ones));
    }
    return field;
}

/* True if a face of an own element has this node of a ghost. */
static bool is_needed(const eg_space *space, int32_t ghost, int node)
{
    const eg_mesh *mesh = space->mesh;
    const eg_element *element = eg_space_group_of(space, ghost)->element;
    if (!element->face_node) return true;
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int f = 0; f < eg_shape_get_info((eg_shape)mesh->shape[e])->faces; f++) {
            size_t at = (size_t)e * (size_t)mesh->face_stride + (size_t)f;
            if (mesh->neighbour[at] != ghost) continue;
            const int *nodes =
                element->face_node + EG_FACE(mesh->neighbour_face[at]) * element->face_np;
            for (int j = 0; j < element->face_np; j++)
                if (nodes[j] == node) return true;
        }
    return false;
}

/* Ghosts hold what their owners have, to the last bit; with traces what nobody needs is untouched,
 * and own values are unchanged. */
static void check_field(const eg_field *field, int64_t salt, eg_halo_kind kind)
{
    const eg_space *space = field->space;
    const eg_mesh *mesh = space->mesh;
    size_t count = eg_buffer_count(field->data);
    void *raw = malloc(count * eg_type_size(field->type));
    assert_non_null(raw);
    TEST_OK(space->ctx, eg_buffer_download(field->data, 0, count, raw));
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        const int np = g->element->np;
        for (int64_t s = 0; s < g->tiles * g->lanes; s++) {
            int32_t e = g->element_of_slot[s];
            bool ghost = s >= g->own_tiles * g->lanes;
            assert_int_equal(ghost, e >= mesh->element_count);
            for (int k = 0; k < COMPONENTS * np; k++) {
                double value = value_at(field->type, raw,
                                        field->offset[i] + eg_group_place(g, COMPONENTS, s) +
                                            (size_t)(k * g->lanes));
                double expected =
                    as_held(field->type, value_of(mesh->global[e] + salt, k / np, k % np));
                if (!ghost || kind == EG_HALO_ELEMENTS || is_needed(space, e, k % np))
                    assert_true(value == expected);
                else
                    assert_true(isnan(value));
            }
        }
    }
    free(raw);
}

static void exchange(const halo_case *c, eg_type type, eg_halo_kind kind)
{
    setting s = setting_new(c);
    eg_halo *halo = NULL;
    TEST_OK(s.ctx, eg_halo_create(s.space, COMPONENTS, type, kind, &halo));
    /* A halo serves any field of its kind, again and again, and allocates nothing. */
    for (int64_t round = 0; round < 3; round++) {
        eg_field *field = field_new(s.space, type, 1000 * round);
        long calls = test_memory.calls;
        TEST_OK(s.ctx, eg_halo_start(halo, field));
        TEST_OK(s.ctx, eg_halo_wait(halo, field));
        assert_int_equal(test_memory.calls, calls);
        check_field(field, 1000 * round, kind);
        eg_field_destroy(&field);
    }
    eg_halo_destroy(&halo);
    setting_free(&s);
}

static void test_halo__ghosts_have_the_bits_of_their_owners(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        exchange(&cases[i], EG_F64, EG_HALO_ELEMENTS);
        exchange(&cases[i], EG_F32, EG_HALO_ELEMENTS);
    }
}

static void test_halo__traces_fill_the_nodes_of_shared_faces_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        exchange(&cases[i], EG_F64, EG_HALO_TRACES);
        exchange(&cases[i], EG_F32, EG_HALO_TRACES);
    }
}

static void test_halo__two_may_be_under_way_at_the_same_time(void **state)
{
    (void)state;
    setting s = setting_new(&cases[1]);
    eg_halo *halo[2] = {NULL, NULL};
    eg_field *field[2] = {field_new(s.space, EG_F64, 0), field_new(s.space, EG_F64, 7000)};
    TEST_OK(s.ctx, eg_halo_create(s.space, COMPONENTS, EG_F64, EG_HALO_ELEMENTS, &halo[0]));
    TEST_OK(s.ctx, eg_halo_create(s.space, COMPONENTS, EG_F64, EG_HALO_TRACES, &halo[1]));
    TEST_OK(s.ctx, eg_halo_start(halo[0], field[0]));
    TEST_OK(s.ctx, eg_halo_start(halo[1], field[1]));
    TEST_OK(s.ctx, eg_halo_wait(halo[1], field[1]));
    TEST_OK(s.ctx, eg_halo_wait(halo[0], field[0]));
    check_field(field[0], 0, EG_HALO_ELEMENTS);
    check_field(field[1], 7000, EG_HALO_TRACES);
    for (int i = 0; i < 2; i++) {
        eg_halo_destroy(&halo[i]);
        eg_field_destroy(&field[i]);
    }
    setting_free(&s);
}

/* Whoever fails between start and wait cleans up: nothing may be written to memory that is gone,
 * and later exchanges are not disturbed. */
static void test_halo__destroyed_under_way_it_is_waited_for(void **state)
{
    (void)state;
    setting s = setting_new(&cases[1]);
    eg_field *field = field_new(s.space, EG_F64, 0);
    eg_halo *halo = NULL;
    for (int round = 0; round < 3; round++) {
        TEST_OK(s.ctx, eg_halo_create(s.space, COMPONENTS, EG_F64, EG_HALO_ELEMENTS, &halo));
        TEST_OK(s.ctx, eg_halo_start(halo, field));
        eg_halo_destroy(&halo);
        assert_null(halo);
    }
    TEST_OK(s.ctx, eg_halo_create(s.space, COMPONENTS, EG_F64, EG_HALO_ELEMENTS, &halo));
    TEST_OK(s.ctx, eg_halo_start(halo, field));
    TEST_OK(s.ctx, eg_halo_wait(halo, field));
    check_field(field, 0, EG_HALO_ELEMENTS);
    eg_halo_destroy(&halo);
    eg_field_destroy(&field);
    setting_free(&s);
}

static void test_field__from_host_fills_ghosts_and_their_padding(void **state)
{
    (void)state;
    setting s = setting_new(&cases[4]);
    eg_field *field = field_new(s.space, EG_F64, 0);
    double *values = calloc(eg_field_host_count(field) + 1, sizeof *values);
    assert_non_null(values);
    TEST_OK(s.ctx, eg_field_to_host(field, values));
    TEST_OK(s.ctx, eg_field_from_host(field, values));
    check_field(field, 0, EG_HALO_ELEMENTS);
    free(values);
    eg_field_destroy(&field);
    setting_free(&s);
}

/* Interior tiles see no other rank, boundary tiles do; both, and ghosts, keep to themselves. */
static void test_space__tiles_next_to_other_ranks_come_last(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        setting s = setting_new(&cases[i]);
        double own = 0.0, dof = 0.0;
        assert_int_equal(s.mesh->ghost_count > 0, eg_comm_size(s.comm) > 1);
        for (int j = 0; j < s.space->group_count; j++) {
            const eg_group *g = &s.space->groups[j];
            for (int64_t k = 0; k < g->tiles * g->lanes; k++) {
                int32_t e = g->element_of_slot[k];
                bool interior = k < g->interior_tiles * g->lanes;
                bool ghost = k >= g->own_tiles * g->lanes;
                assert_int_equal(ghost, e >= s.mesh->element_count);
                assert_int_equal(interior, e < s.mesh->interior_count);
            }
            own += g->element_count;
            dof += (double)g->element_count * g->element->np;
        }
        TEST_OK(s.ctx, eg_comm_sum(s.comm, 1, &own));
        TEST_OK(s.ctx, eg_comm_sum(s.comm, 1, &dof));
        assert_true(own == (double)s.mesh->global_count);
        assert_true(dof == (double)s.space->dof);
        setting_free(&s);
    }
}

/* One rank is given a degree that does not exist: all ranks fail, none waits for ever. */
static void test_space__what_fails_on_one_rank_fails_on_all(void **state)
{
    (void)state;
    setting s = setting_new(&cases[0]);
    bool mine = eg_comm_rank(s.comm) == eg_comm_size(s.comm) - 1;
    eg_space *space = NULL;
    eg_space_options options = {.degree = mine ? 16 : 1};
    char message[40];
    snprintf(message, sizeof message, "rank %d failed", eg_comm_size(s.comm) - 1);
    TEST_FAILS(s.ctx, mine ? EG_ERROR_ARGUMENT : EG_ERROR_COMM, mine ? "has degree 16" : message,
               eg_space_create(s.device, s.comm, s.mesh, &options, &space));
    assert_null(space);
    options = (eg_space_options){.degree = 1, .lanes = mine ? 3 : 0};
    TEST_FAILS(s.ctx, mine ? EG_ERROR_ARGUMENT : EG_ERROR_COMM, mine ? "powers of two" : message,
               eg_space_create(s.device, s.comm, s.mesh, &options, &space));
    assert_null(space);
    setting_free(&s);
}

static void test_halo__what_does_not_fit_is_refused(void **state)
{
    (void)state;
    setting s = setting_new(&cases[0]);
    eg_halo *halo = NULL;
    eg_field *field = field_new(s.space, EG_F32, 0);
    TEST_OK(s.ctx, eg_halo_create(s.space, COMPONENTS, EG_F64, EG_HALO_ELEMENTS, &halo));
    TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "of f64 was given a field of 2 of f32",
               eg_halo_start(halo, field));
    eg_field_destroy(&field);
    field = field_new(s.space, EG_F64, 0);
    TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "not started", eg_halo_wait(halo, field));
    TEST_OK(s.ctx, eg_halo_start(halo, field));
    TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "before", eg_halo_start(halo, field));
    TEST_OK(s.ctx, eg_halo_wait(halo, field));
    eg_field_destroy(&field);
    eg_halo_destroy(&halo);
    setting_free(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halo__ghosts_have_the_bits_of_their_owners),
        cmocka_unit_test(test_halo__traces_fill_the_nodes_of_shared_faces_and_nothing_else),
        cmocka_unit_test(test_halo__two_may_be_under_way_at_the_same_time),
        cmocka_unit_test(test_halo__destroyed_under_way_it_is_waited_for),
        cmocka_unit_test(test_field__from_host_fills_ghosts_and_their_padding),
        cmocka_unit_test(test_space__tiles_next_to_other_ranks_come_last),
        cmocka_unit_test(test_space__what_fails_on_one_rank_fails_on_all),
        cmocka_unit_test(test_halo__what_does_not_fit_is_refused),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
