/* Quantities do not depend on how many ranks share a mesh. Every rank also does the whole of it
 * alone and compares. Run it on one rank or several (mpirun). */
#include "kernel/quantities.h"
#include "ranks.h"

enum { QUANTITIES = 3, PLACES = 3 };

/* In the domain, on the boundary "right", which not every rank has, and on two others; twice, and
 * the same both times. Degrees change from element to element. */
static void measure(const divided *d, eg_comm *comm, const eg_mesh *mesh,
                    eg_quantity_result out[PLACES][QUANTITIES])
{
    static const char *const field_texts[] = {"sin(7 * x - 2 * y + z)", "exp(x) * y * (1 - z)"};
    static const char *const texts[QUANTITIES] = {"a * b - t", "a * nx + b * ny + x * b_y - a_z",
                                                  "abs(a_x) + y"};
    const int right = eg_mesh_find_boundary(mesh, "right");
    const int two[] = {eg_mesh_find_boundary(mesh, "left"), eg_mesh_find_boundary(mesh, "top")};
    uint8_t *degrees = malloc((size_t)(mesh->element_count + mesh->ghost_count));
    eg_space *space = NULL;
    assert_non_null(degrees);
    for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++)
        degrees[e] = (uint8_t)(2 + mesh->global[e] % 2);
    TEST_OK(d->ctx, eg_space_create(d->device, comm, mesh, &(eg_space_options){.degrees = degrees},
                                    &space));
    eg_field *field = field_new(space, EG_F64, 2, field_texts);
    const eg_field *const fields[] = {field};
    for (int place = 0; place < PLACES; place++) {
        eg_quantity_options options = {.fields = fields, .field_count = 1};
        eg_quantity_result again[QUANTITIES];
        options.boundaries = place == 0 ? NULL : place == 1 ? &right : two;
        options.boundary_count = place;
        eg_quantity *quantity = quantity_new(options, QUANTITIES, texts);
        TEST_OK(d->ctx, eg_quantity_measure(quantity, 0.3, fields, out[place]));
        const long calls = test_memory.calls;
        TEST_OK(d->ctx, eg_quantity_measure(quantity, 0.3, fields, again));
        assert_memory_equal(again, out[place], sizeof again);
        assert_int_equal(test_memory.calls, calls);
        eg_quantity_destroy(&quantity);
    }
    eg_field_destroy(&field);
    eg_space_destroy(&space);
    free(degrees);
}

static void check(eg_shape shape, int order)
{
    eg_box_options o = box_options(shape, 4, 3, 2, order);
    divided d = divided_new(&o);
    eg_quantity_result together[PLACES][QUANTITIES], alone[PLACES][QUANTITIES];
    measure(&d, d.world, d.mine, together);
    measure(&d, d.self, d.whole, alone);
    for (int place = 0; place < PLACES; place++)
        for (size_t i = 0; i < QUANTITIES; i++) {
            const eg_quantity_result *r = &together[place][i], *expected = &alone[place][i];
            const double most = fmax(fabs(expected->least), fabs(expected->most));
            assert_near(r->integral, expected->integral, 1e-13 * expected->l1, "integral", i);
            assert_near(r->l1, expected->l1, 1e-13 * expected->l1, "l1", i);
            assert_near(r->l2, expected->l2, 1e-13 * expected->l2, "l2", i);
            assert_near(r->least, expected->least, 1e-12 * most, "least", i);
            assert_near(r->most, expected->most, 1e-12 * most, "most", i);
            assert_near(r->measure, expected->measure, 1e-13 * expected->measure, "measure", i);
        }
    /* Every rank has the same bits. */
    eg_quantity_result first[PLACES][QUANTITIES];
    memcpy(first, together, sizeof first);
    TEST_OK(d.ctx, eg_comm_broadcast(d.world, 0, sizeof first, first));
    assert_memory_equal(first, together, sizeof first);
    divided_free(&d);
}

static void test_quantity__is_the_same_on_any_number_of_ranks(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        check(all_shapes[s], 0);
        check(all_shapes[s], 2);
    }
}

/* A NaN of one rank reaches all. */
static void test_quantity__nan_of_one_rank_shows_on_all(void **state)
{
    (void)state;
    static const char *const field_texts[] = {"x", "y"}, *const texts[] = {"a", "b"};
    eg_box_options o = box_options(EG_SHAPE_TRI, 4, 3, 1, 0);
    divided d = divided_new(&o);
    eg_space *space = NULL;
    const double nan = NAN;
    TEST_OK(d.ctx,
            eg_space_create(d.device, d.world, d.mine, &(eg_space_options){.degree = 1}, &space));
    eg_field *field = field_new(space, EG_F64, 2, field_texts);
    const eg_field *const fields[] = {field};
    eg_quantity_options options = {.fields = fields, .field_count = 1};
    eg_quantity_result r[2];
    if (ranks_is_last(d.world))
        TEST_OK(d.ctx, eg_buffer_fill(field->data, field->offset[0], 1, &nan)); /* of a */
    measure_once(&options, 0, 2, texts, r);
    assert_true(isnan(r[0].integral) && isnan(r[0].l1) && isnan(r[0].l2) && isnan(r[0].least) &&
                isnan(r[0].most));
    assert_near(r[1].integral, 0.5, 1e-14, "integral", 1);
    assert_near(r[1].most, 1, 1e-14, "most", 1);
    eg_field_destroy(&field);
    eg_space_destroy(&space);
    divided_free(&d);
}

/* Makes a quantity and uses it; the last rank is short of memory in allocation `fail_at` of step
 * `step` (0: nowhere). */
static eg_status attempt(const eg_field *field, const eg_expression *e, const int *boundary,
                         int step, long fail_at)
{
    const eg_field *const fields[] = {field};
    eg_quantity *quantity = NULL;
    eg_quantity_result r;
    eg_status status = EG_OK;
    test_allocator_arm(step == 0 ? fail_at : 0, false);
    EG_TRY(eg_quantity_create(&(eg_quantity_options){.fields = fields,
                                                     .field_count = 1,
                                                     .expressions = &e,
                                                     .count = 1,
                                                     .boundaries = boundary,
                                                     .boundary_count = boundary != NULL},
                              &quantity));
    test_allocator_arm(step == 1 ? fail_at : 0, false);
    EG_TRY(eg_quantity_measure(quantity, 0, fields, &r));
done:
    test_allocator_arm(0, false);
    eg_quantity_destroy(&quantity);
    return status;
}

static void test_quantity__what_fails_on_one_rank_fails_on_all(void **state)
{
    (void)state;
    static const char *const field_texts[] = {"x"};
    eg_box_options o = box_options(EG_SHAPE_TRI, 4, 3, 1, 2);
    divided d = divided_new(&o);
    eg_space *space = NULL;
    TEST_OK(d.ctx,
            eg_space_create(d.device, d.world, d.mine, &(eg_space_options){.degree = 1}, &space));
    eg_field *field = field_new(space, EG_F32, 1, field_texts);
    eg_expression *e = quantity_expression(d.ctx, 1, "a_x + x * nx");
    const bool last = ranks_is_last(d.world);
    for (int boundary = -1; boundary < 1; boundary++)
        for (int step = 0; step < 2; step++)
            for (long n = 1; n <= 80; n += 1 + n / 2) {
                const long live = test_memory.live;
                const eg_status status =
                    attempt(field, e, boundary < 0 ? NULL : &boundary, step, last ? n : 0);
                assert_int_equal(test_memory.live, live);
                assert_failure_of_last(d.ctx, d.world, status, (n > 1 || step > 0));
            }
    eg_expression_destroy(&e);
    eg_field_destroy(&field);
    eg_space_destroy(&space);
    divided_free(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantity__is_the_same_on_any_number_of_ranks),
        cmocka_unit_test(test_quantity__nan_of_one_rank_shows_on_all),
        cmocka_unit_test(test_quantity__what_fails_on_one_rank_fails_on_all),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
