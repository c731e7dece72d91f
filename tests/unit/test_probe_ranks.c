/* Probes and guards find the same on any number of ranks. Every rank also does the whole of it
 * alone and compares. Run it on one rank or several (mpirun). */
#include "kernel/boxes.h"
#include "ranks.h"

#include "field/guard.h"
#include "field/probe.h"
#include "field/space.h"

/* Spaces on a mesh on all ranks together, and on each alone. */
typedef struct scene {
    divided d;
    eg_space *together, *alone;
} scene;

static scene scene_new(eg_shape shape, int order, int degree)
{
    eg_box_options o = box_options(shape, 4, 3, 2, order);
    const eg_space_options options = {.degree = degree};
    scene s = {.d = divided_new(&o)};
    TEST_OK(s.d.ctx, eg_space_create(s.d.device, s.d.world, s.d.mine, &options, &s.together));
    TEST_OK(s.d.ctx, eg_space_create(s.d.device, s.d.self, s.d.whole, &options, &s.alone));
    return s;
}

static void scene_free(scene *s)
{
    eg_space_destroy(&s->alone);
    eg_space_destroy(&s->together);
    divided_free(&s->d);
}

/* Fails unless all ranks have the same bytes. */
static void assert_same_everywhere(const scene *s, const void *data, size_t bytes)
{
    char *all = calloc((size_t)eg_comm_size(s->d.world), bytes);
    assert_non_null(all);
    TEST_OK(s->d.ctx, eg_comm_allgather(s->d.world, bytes, data, all));
    for (int rank = 0; rank < eg_comm_size(s->d.world); rank++)
        assert_memory_equal(all + (size_t)rank * bytes, data, bytes);
    free(all);
}

/* --- probes ----------------------------------------------------------------------------------- */

enum { COMPONENTS = 2, POINTS = 200 };

static eg_field *field_new(eg_space *space)
{
    static const char *const texts[COMPONENTS] = {"sin(7 * x - 2 * y + z)", "exp(x) * (y + 1)"};
    eg_field *field = NULL;
    eg_function *function = function_new(space, COMPONENTS, texts);
    TEST_OK(space->ctx, eg_field_create(space, COMPONENTS, EG_F64, &field));
    TEST_OK(space->ctx, eg_function_interpolate(function, 0, field));
    eg_function_destroy(&function);
    return field;
}

/* Points in the box, some of them on faces and vertices, and some out of it. */
static void fill_points(int dim, double *x)
{
    uint64_t seed = 3;
    for (int i = 0; i < POINTS; i++)
        for (int d = 0; d < dim; d++) {
            const double at = 0.52 * (1 + test_random(&seed));
            x[i * dim + d] = i % 4 == 0 ? floor(12 * at) / 12 : at;
        }
}

static void check_probe(eg_shape shape, int order)
{
    scene s = scene_new(shape, order, 3);
    const int dim = s.d.whole->dim;
    double x[POINTS * 3], values[POINTS * COMPONENTS], expected[POINTS * COMPONENTS];
    double owners[POINTS] = {0}, lost_count = 0;
    bool lost[POINTS], lost_alone[POINTS];
    eg_field *field = field_new(s.together), *whole = field_new(s.alone);
    eg_probe *probe = NULL, *alone = NULL;
    fill_points(dim, x);
    TEST_OK(s.d.ctx, eg_probe_create(s.together, POINTS, x, lost, &probe));
    TEST_OK(s.d.ctx, eg_probe_create(s.alone, POINTS, x, lost_alone, &alone));
    TEST_OK(s.d.ctx, eg_probe_read(probe, field, values));
    TEST_OK(s.d.ctx, eg_probe_read(alone, whole, expected));
    assert_same_everywhere(&s, values, sizeof values);
    assert_memory_equal(lost, lost_alone, sizeof lost);
    for (int i = 0; i < POINTS; i++) {
        int64_t global = -1, global_alone = -1;
        double r[3], r_alone[3];
        lost_count += lost[i];
        assert_int_equal(eg_probe_place(alone, i, &global_alone, r_alone), !lost[i]);
        if (eg_probe_place(probe, i, &global, r)) {
            owners[i] = 1;
            assert_int_equal(global, global_alone);
            assert_memory_equal(r, r_alone, (size_t)dim * sizeof *r);
        }
        for (int c = 0; c < COMPONENTS; c++)
            if (lost[i])
                assert_true(isnan(values[i * COMPONENTS + c]));
            else
                assert_near(values[i * COMPONENTS + c], expected[i * COMPONENTS + c], 1e-13,
                            "value", (size_t)i);
    }
    TEST_OK(s.d.ctx, eg_comm_sum(s.d.world, POINTS, owners));
    for (int i = 0; i < POINTS; i++)
        assert_true(owners[i] == (lost[i] ? 0 : 1));
    assert_true(lost_count > 0 && lost_count < POINTS / 2);
    eg_probe_destroy(&alone);
    eg_probe_destroy(&probe);
    eg_field_destroy(&whole);
    eg_field_destroy(&field);
    scene_free(&s);
}

static void test_probe__values_and_places_are_the_same_on_any_number_of_ranks(void **state)
{
    (void)state;
    for (size_t k = 0; k < EG_COUNT(all_shapes); k++) {
        check_probe(all_shapes[k], 0);
        check_probe(all_shapes[k], 3);
    }
}

static void test_probe__all_ranks_name_the_point_that_is_lost(void **state)
{
    (void)state;
    static const double x[] = {0.5, 0.5, 1.5, 1.25, -3, 0};
    scene s = scene_new(EG_SHAPE_QUAD, 0, 2);
    eg_probe *probe = NULL;
    TEST_FAILS(s.d.ctx, EG_ERROR_INPUT,
               "point 2, (1.5, 1.25), lies in no element: the domain is 0.559 away (1 more are "
               "lost, too)",
               eg_probe_create(s.together, 3, x, NULL, &probe));
    assert_null(probe);
    scene_free(&s);
}

/* --- guards ----------------------------------------------------------------------------------- */

static eg_guard *guard_new(eg_space *space)
{
    static const eg_symbol u = {"u", EG_VARIABLE_COUNT, 0};
    eg_expression *positive = NULL;
    eg_guard *guard = NULL;
    TEST_OK(space->ctx, eg_expression_create(space->ctx, "u + 2", &u, 1, NULL, &positive));
    TEST_OK(space->ctx, eg_guard_create(space, COMPONENTS, EG_F64,
                                        (const eg_expression *const *)&positive, 1, &guard));
    eg_expression_destroy(&positive);
    return guard;
}

/* Sets component 0 of an element, if it is here, at its node 1 (ghosts: everywhere, if asked
 * to). */
static void spoil(eg_field *field, int64_t global, bool ghosts, double value)
{
    const eg_space *space = field->space;
    const eg_mesh *mesh = space->mesh;
    for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++) {
        const eg_group *g = eg_space_group_of(space, e);
        const size_t group = (size_t)(g - space->groups), lanes = (size_t)g->lanes;
        const size_t at = field->offset[group] +
                          eg_group_place(g, COMPONENTS, space->slot_of_element[e] - g->first_slot);
        if (e >= mesh->element_count) {
            for (size_t i = 0; ghosts && i < (size_t)g->element->np; i++)
                TEST_OK(space->ctx, eg_buffer_upload(field->data, at + i * lanes, 1, &value));
        } else if (mesh->global[e] == global) {
            TEST_OK(space->ctx, eg_buffer_upload(field->data, at + lanes, 1, &value));
        }
    }
}

static void check_guard(eg_shape shape, int order)
{
    static const double limit[COMPONENTS] = {100, 100};
    static const struct {
        double value;
        eg_guard_kind kind;
    } cases[] = {{1, EG_GUARD_FINE},
                 {NAN, EG_GUARD_NOT_FINITE},
                 {-5, EG_GUARD_UNPHYSICAL},
                 {200, EG_GUARD_GROWTH}};
    scene s = scene_new(shape, order, 2);
    eg_field *field = field_new(s.together), *whole = field_new(s.alone);
    eg_guard *guard = guard_new(s.together), *alone = guard_new(s.alone);
    double most[COMPONENTS], most_alone[COMPONENTS];
    TEST_OK(s.d.ctx, eg_guard_most(guard, field, most));
    TEST_OK(s.d.ctx, eg_guard_most(alone, whole, most_alone));
    assert_memory_equal(most, most_alone, sizeof most);
    spoil(field, -1, true, NAN); /* ghosts are the affair of those who own them */
    for (size_t i = 0; i < EG_COUNT(cases); i++)
        for (int64_t global = 0; global < s.d.whole->element_count; global += 5) {
            eg_guard_finding found, expected;
            spoil(field, global, false, cases[i].value);
            spoil(whole, global, false, cases[i].value);
            TEST_OK(s.d.ctx, eg_guard_look(guard, 0, field, limit, &found));
            TEST_OK(s.d.ctx, eg_guard_look(alone, 0, whole, limit, &expected));
            assert_int_equal(found.kind, cases[i].kind);
            assert_int_equal(found.kind, expected.kind);
            assert_int_equal(found.which, expected.which);
            assert_int_equal(found.global, expected.global);
            if (found.kind != EG_GUARD_FINE) assert_int_equal(found.global, global);
            assert_memory_equal(&found.value, &expected.value, sizeof found.value);
            assert_memory_equal(found.x, expected.x, sizeof found.x);
            assert_same_everywhere(&s, &found.value, sizeof found.value);
            assert_same_everywhere(&s, found.x, sizeof found.x);
            spoil(field, global, false, 1);
            spoil(whole, global, false, 1);
        }
    eg_guard_destroy(&alone);
    eg_guard_destroy(&guard);
    eg_field_destroy(&whole);
    eg_field_destroy(&field);
    scene_free(&s);
}

static void test_guard__finds_the_same_on_any_number_of_ranks(void **state)
{
    (void)state;
    for (size_t k = 0; k < EG_COUNT(all_shapes); k++)
        check_guard(all_shapes[k], k % 2 ? 2 : 0);
}

/* Equally bad everywhere: the lowest global number, whoever owns it. */
static void test_guard__ranks_agree_between_equals(void **state)
{
    (void)state;
    static const double limit[COMPONENTS] = {1, 1};
    scene s = scene_new(EG_SHAPE_TRI, 0, 2);
    eg_field *field = field_new(s.together);
    eg_guard *guard = guard_new(s.together);
    eg_guard_finding found;
    for (int k = 0; k < 3; k++) {
        const double value = k == 0 ? NAN : k == 1 ? -7 : 5;
        TEST_OK(s.d.ctx, eg_buffer_fill(field->data, 0, eg_buffer_count(field->data), &value));
        TEST_OK(s.d.ctx, eg_guard_look(guard, 0, field, limit, &found));
        assert_int_equal(found.kind, k == 0   ? EG_GUARD_NOT_FINITE
                                     : k == 1 ? EG_GUARD_UNPHYSICAL
                                              : EG_GUARD_GROWTH);
        assert_int_equal(found.global, 0);
    }
    eg_guard_destroy(&guard);
    eg_field_destroy(&field);
    scene_free(&s);
}

/* --- what fails ------------------------------------------------------------------------------- */

enum { STEPS = 5 };

/* Goes through all functions that ranks call together; memory is short in allocation `fail_at`
 * of one. */
static eg_status use_all(const scene *s, const eg_field *field, int short_step, long fail_at)
{
    enum { CELLS = 12 };
    double x[CELLS * 2], values[CELLS * COMPONENTS]; /* a point in each cell: all ranks have some */
    eg_space *space = s->together;
    eg_guard *guard = NULL;
    eg_probe *probe = NULL;
    eg_guard_finding found;
    int step = 0;
    eg_status status = EG_OK;
    for (int i = 0; i < CELLS; i++) {
        x[2 * i] = (i % 4 + 0.3) / 4;
        x[2 * i + 1] = (i / 4 + 0.4) / 3.0;
    }
#define STEP(call)                                                                                 \
    test_allocator_arm(step++ == short_step ? fail_at : 0, false);                                 \
    EG_TRY(call)
    STEP(eg_guard_create(space, COMPONENTS, EG_F64, NULL, 0, &guard));
    STEP(eg_guard_look(guard, 0, field, (const double[]){0, 0}, &found));
    STEP(eg_guard_most(guard, field, values));
    STEP(eg_probe_create(space, CELLS, x, NULL, &probe));
    STEP(eg_probe_read(probe, field, values));
    assert_int_equal(step, STEPS);
done:
    test_allocator_arm(0, false);
    eg_probe_destroy(&probe);
    eg_guard_destroy(&guard);
    return status;
}

/* The last rank runs out of memory: none of the others waits for it, or believes that it has
 * worked. */
static void test_probe__what_fails_on_one_rank_fails_on_all(void **state)
{
    (void)state;
    scene s = scene_new(EG_SHAPE_TRI, 2, 2);
    eg_field *field = field_new(s.together);
    const bool last = ranks_is_last(s.d.world);
    TEST_OK(s.d.ctx, use_all(&s, field, 0, 0)); /* the kernels are in the cache from now on */
    for (int step = 0; step < STEPS; step++)
        for (long n = 1; n <= 13; n += 3) {
            const long live = test_memory.live;
            const eg_status status = use_all(&s, field, step, last ? n : 0);
            assert_int_equal(test_memory.live, live);
            assert_failure_of_last(s.d.ctx, s.d.world, status, n > 1);
        }
    eg_field_destroy(&field);
    scene_free(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe__values_and_places_are_the_same_on_any_number_of_ranks),
        cmocka_unit_test(test_probe__all_ranks_name_the_point_that_is_lost),
        cmocka_unit_test(test_guard__finds_the_same_on_any_number_of_ranks),
        cmocka_unit_test(test_guard__ranks_agree_between_equals),
        cmocka_unit_test(test_probe__what_fails_on_one_rank_fails_on_all),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
