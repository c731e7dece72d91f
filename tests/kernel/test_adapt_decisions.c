/* The degrees that adaptation decides on: they are there where the flow takes what needs them, where
 * something comes in and where sources are, settle, and are no matter of rounding or of size. */
#include "kernel/adapt.h"

/* The element whose centre is nearest to a place. */
static int32_t element_at(const bench *b, double x, double y)
{
    int32_t found = 0;
    double least = INFINITY;
    for (int32_t e = 0; e < b->mesh->element_count; e++) {
        double nodes[EG_MAX_VERTICES * 3], d[2] = {-x, -y};
        eg_mesh_element_nodes(b->mesh, e, nodes);
        for (int i = 0; i < 8; i++)
            d[i % 2] += nodes[i] / 4;
        if (hypot(d[0], d[1]) >= least) continue;
        least = hypot(d[0], d[1]);
        found = e;
    }
    return found;
}

/* Decides for a field that is zero but for one mode of one element. */
static void decide_for_mode(const bench *b, int32_t element, int mode, double value,
                            eg_adapt_decision *decision)
{
    eg_field *field = field_on(b->space, 1, NULL);
    const int np = (MOST + 1) * (MOST + 1);
    double *u = calloc(eg_field_host_count(field), sizeof *u);
    assert_non_null(u);
    u[element * np + mode] = value;
    TEST_OK(b->ctx, eg_field_from_host(field, u));
    TEST_OK(b->ctx, eg_adapt_decide(b->adapt, b->op, 0.0, field, decision));
    free(u);
    eg_field_destroy(&field);
}

/* Cell (i, j) of a box of 9 x 7, counted from the middle one, and what is there at (4, 3). */
static int degree_at(const bench *b, const eg_adapt_decision *decision, int i, int j)
{
    return decision->degrees[element_at(b, (4.5 + i) / 9, (3.5 + j) / 7)];
}

static void test_adapt__degrees_are_there_before_the_flow(void **state)
{
    (void)state;
    static const struct {
        const char *x, *y;
        int dx, dy;
    } flows[] = {{"1", "0", 1, 0}, {"1", "1", 1, 1}, {"-1", "2", -1, 1}, {"-y", "-1", -1, -1}};
    eg_device *device = open_cpu();
    for (size_t k = 0; k < EG_COUNT(flows); k++) {
        bench b = bench_new(device, &square, 1, flows[k].x, flows[k].y, "0", NULL);
        eg_adapt_decision decision;
        decide_for_mode(&b, element_at(&b, 0.5, 0.5), MOST, 1, &decision);
        for (int i = -1; i <= 1; i++)
            for (int j = -1; j <= 1; j++) {
                const bool ahead = (i == 0 || i == flows[k].dx) && (j == 0 || j == flows[k].dy);
                const int found = degree_at(&b, &decision, i, j);
                assert_true(ahead ? found == MOST : found < MOST && found >= MOST - 2);
            }
        assert_int_equal(degree_at(&b, &decision, -4 * flows[k].dx, -3 * flows[k].dy), LEAST);
        bench_free(&b);
    }
    close_cpu(&device);
}

/* What flows in is the same as what is there, another constant, or changes; at the top it would be, but it
 * flows out there. */
static void test_adapt__degrees_are_there_where_something_comes_in(void **state)
{
    (void)state;
    static const struct {
        const char *left;
        int found;
    } values[] = {{"0", LEAST}, {"0.001", MOST}, {"t", MOST}};
    eg_device *device = open_cpu();
    eg_context *ctx = eg_device_context(device);
    const eg_box_options open = {.shape = EG_SHAPE_QUAD, .cells = {9, 7}};
    eg_mesh *mesh = box_with(ctx, &open);
    const int left = eg_mesh_find_boundary(mesh, "left"), top = eg_mesh_find_boundary(mesh, "top");
    eg_mesh_destroy(&mesh);
    for (size_t k = 0; k < EG_COUNT(values); k++) {
        eg_expression *value = expression(ctx, values[k].left), *changes = expression(ctx, "x + t");
        const eg_expression *boundary[4] = {NULL};
        boundary[left] = value;
        boundary[top] = changes;
        bench b = bench_new(device, &open, 1, "1", "1", "0", boundary);
        eg_adapt_decision decision;
        decide_for_mode(&b, element_at(&b, 0.5, 0.5), 0, 0, &decision);
        for (int j = -3; j <= 3; j++) {
            assert_int_equal(degree_at(&b, &decision, -4, j), values[k].found);
            assert_int_equal(degree_at(&b, &decision, -1, j),
                             values[k].found > LEAST ? values[k].found - 1 : LEAST);
            assert_int_equal(degree_at(&b, &decision, 4, j), LEAST);
        }
        bench_free(&b);
        eg_expression_destroy(&changes);
        eg_expression_destroy(&value);
    }
    close_cpu(&device);
}

/* Steps after a decision at time 0 until another is due; 0: never. */
static int steps_until_due(eg_device *device, const char *x, double dt)
{
    bench b = bench_new(device, &square, 1, x, "0", "0", NULL);
    eg_adapt_decision decision;
    bool due = false;
    int step = 0;
    decide_for_mode(&b, 0, MOST, 1, &decision);
    while (!due && step < 1000) {
        step++;
        TEST_OK(b.ctx, eg_adapt_step(b.adapt, b.op, step, step * dt, dt, &due));
    }
    bench_free(&b);
    return due ? step : 0;
}

/* An element is 1/9 wide: at speed 1 it is crossed in 11.1 steps of 0.01, and 11 leave no room for another.
 * What begins to move, or turns, is looked at again soon; what stands still never is. */
static void test_adapt__decisions_are_due_before_an_element_is_crossed(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    assert_int_equal(steps_until_due(device, "1", 0.01), 11);
    assert_int_equal(steps_until_due(device, "0", 0.01), 0);
    assert_int_equal(steps_until_due(device, "8*t*t", 0.001), 16);
    /* After k steps, at most 9 · 0.01 · Σ k of an element, and 9 · 0.01 · k in one more: 0.81, 1.26. */
    assert_int_equal(steps_until_due(device, "100*t", 0.01), 4);
    close_cpu(&device);
}

/* A source in one element, of a tracer that is 0; one that is 0 now but will not be; one that adds to means
 * alone. */
static void test_adapt__degrees_are_there_where_sources_are(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    eg_context *ctx = eg_device_context(device);
    static const struct {
        const char *text;
        int middle, corner;
    } sources[] = {{"exp(-1000*((x - 0.5)^2 + (y - 0.5)^2))", MOST, LEAST},
                   {"x*sin(t)", MOST, MOST},
                   {"1 + t", LEAST, LEAST}};
    for (size_t k = 0; k < EG_COUNT(sources); k++) {
        bench b = bench_new(device, &square, 1, "0", "0", "0", NULL);
        eg_expression *text = expression(ctx, sources[k].text);
        const eg_expression *const source[] = {text};
        eg_adapt_decision decision;
        eg_adapt_destroy(&b.adapt);
        TEST_OK(
            ctx,
            eg_adapt_create(
                device, b.comm, b.mesh, 1,
                &(eg_adapt_options){
                    .least = LEAST, .most = MOST, .raise = RAISE, .lower = LOWER, .source = source},
                &b.adapt));
        decide_for_mode(&b, 0, 0, 0, &decision);
        assert_int_equal(degree_at(&b, &decision, 0, 0), sources[k].middle);
        assert_int_equal(degree_at(&b, &decision, 4, 3), sources[k].corner);
        bench_free(&b);
        eg_expression_destroy(&text);
    }
    close_cpu(&device);
}

/* A raised element, whose new modes are 0, is not lowered again: degrees of a function that does not change
 * settle. */
static void test_adapt__degrees_of_what_stands_still_settle(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    bench b = bench_new(device, &square, 1, "0", "0", "0", NULL);
    eg_space *space = b.space;
    eg_field *u = bump_on(space);
    eg_adapt_decision decision = {.changed = true};
    int adaptations = 0;
    while (decision.changed && adaptations < 2 * MOST) {
        TEST_OK(b.ctx, eg_adapt_decide(b.adapt, b.op, 0.0, u, &decision));
        if (!decision.changed) break;
        eg_space *old_space = space;
        eg_field *old = u;
        space = space_with(&b, decision.degrees);
        u = field_on(space, 1, NULL);
        TEST_OK(b.ctx, eg_adapt_move(old, u));
        eg_field_destroy(&old);
        if (old_space != b.space) eg_space_destroy(&old_space);
        adaptations++;
    }
    assert_true(adaptations > 0 && adaptations <= MOST && space->dof < b.space->dof);
    eg_field_destroy(&u);
    eg_space_destroy(&space);
    bench_free(&b);
    close_cpu(&device);
}

/* Squares of such values are no numbers. */
static void test_adapt__the_size_of_values_decides_nothing(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    bench b = bench_new(device, &square, 1, "0", "0", "0", NULL);
    static const double sizes[] = {1, 1e170, 1e-170};
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        eg_adapt_decision decision;
        decide_for_mode(&b, element_at(&b, 0.5, 0.5), MOST, sizes[k], &decision);
        assert_int_equal(degree_at(&b, &decision, 0, 0), MOST);
        assert_int_equal(degree_at(&b, &decision, 4, 3), LEAST);
        decide_for_mode(&b, element_at(&b, 0.5, 0.5), 0, sizes[k], &decision); /* a jump */
        assert_int_equal(degree_at(&b, &decision, 0, 1), MOST);
        assert_int_equal(degree_at(&b, &decision, 4, 3), LEAST);
    }
    bench_free(&b);
    close_cpu(&device);
}

/* An element whose highest modes vanish, as those of even functions do, keeps its degree because of
 * those below; so does one with its energy in a mode that is high in one direction alone. */
static void test_adapt__even_functions_deceive_nobody(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    bench b = bench_new(device, &square, 1, "0", "0", "0", NULL);
    static const int modes[] = {MOST, MOST * (MOST + 1), MOST - 1, (MOST - 1) * (MOST + 1) + 1};
    for (size_t k = 0; k < EG_COUNT(modes); k++) {
        eg_adapt_decision decision;
        decide_for_mode(&b, element_at(&b, 0.5, 0.5), modes[k], 1, &decision);
        assert_int_equal(degree_at(&b, &decision, 0, 0), MOST);
        assert_int_equal(degree_at(&b, &decision, 0, 1), MOST - 1);
        assert_int_equal(degree_at(&b, &decision, 2, 0), MOST - 2);
        assert_int_equal(degree_at(&b, &decision, 3, 3), LEAST);
    }
    bench_free(&b);
    close_cpu(&device);
}

/* A constant in one element, another in all the rest: no modes tell of the jump. Both sides have the highest
 * degree, and where the jump goes. Of a linear function the means differ, too, but that explains it. */
static void test_adapt__jumps_between_constants_are_seen(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    bench b = bench_new(device, &square, 1, "1", "0", "0", NULL);
    eg_adapt_decision decision;
    decide_for_mode(&b, element_at(&b, 0.5, 0.5), 0, -2, &decision);
    for (int i = -2; i <= 3; i++)
        assert_int_equal(degree_at(&b, &decision, i, 0), i < -1 ? MOST - 1 : MOST);
    assert_int_equal(degree_at(&b, &decision, 0, 1), MOST);
    assert_int_equal(degree_at(&b, &decision, 0, 2), MOST - 1);
    eg_field *field = field_on(b.space, 1, NULL);
    const int np = (MOST + 1) * (MOST + 1);
    double *u = calloc(eg_field_host_count(field), sizeof *u);
    assert_non_null(u);
    for (int j = 0; j < 7; j++) /* up and down again along y, by 1 from element to element */
        for (int i = 0; i < 9; i++) {
            double *at = u + element_at(&b, (i + 0.5) / 9, (j + 0.5) / 7) * np;
            at[0] = abs(j - 3);
            at[MOST + 1] = (j < 3 ? -1 : 1) / sqrt(12.0);
        }
    TEST_OK(b.ctx, eg_field_from_host(field, u));
    TEST_OK(b.ctx, eg_adapt_decide(b.adapt, b.op, 0.0, field, &decision));
    for (int32_t e = 0; e < b.mesh->element_count; e++)
        assert_int_equal(decision.degrees[e], LEAST + 2); /* the least that is not raised again */
    free(u);
    eg_field_destroy(&field);
    bench_free(&b);
    close_cpu(&device);
}

/* Far from an element with all the size there is lies one whose modes of the two highest degrees are each
 * below the bound and together above: it loses one of the two. */
static void test_adapt__what_is_lost_is_counted_together(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    bench b = bench_new(device, &square, 1, "0", "0", "0", NULL);
    eg_field *field = field_on(b.space, 1, NULL);
    const int np = (MOST + 1) * (MOST + 1);
    double *u = calloc(eg_field_host_count(field), sizeof *u);
    const double bound = LOWER / sqrt(b.mesh->element_count);
    eg_adapt_decision decision;
    assert_non_null(u);
    u[element_at(&b, 0.5, 0.5) * np + MOST] = 1;
    double *far = u + element_at(&b, 0.5 / 9, 0.5 / 7) * np;
    far[MOST] = far[MOST - 1] = 0.8 * bound;
    TEST_OK(b.ctx, eg_field_from_host(field, u));
    TEST_OK(b.ctx, eg_adapt_decide(b.adapt, b.op, 0.0, field, &decision));
    assert_int_equal(degree_at(&b, &decision, -4, -3), MOST - 1);
    far[MOST - 1] = 0.5 * bound;
    TEST_OK(b.ctx, eg_field_from_host(field, u));
    TEST_OK(b.ctx, eg_adapt_decide(b.adapt, b.op, 0.0, field, &decision));
    assert_int_equal(degree_at(&b, &decision, -4, -3), LEAST);
    free(u);
    eg_field_destroy(&field);
    bench_free(&b);
    close_cpu(&device);
}

/* A constant with noise of the size of rounding in all its modes. */
static void test_adapt__rounding_decides_nothing(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    bench b = bench_new(device, &square, 1, "1", "1", "0", NULL);
    eg_field *field = field_on(b.space, 1, NULL);
    const size_t count = eg_field_host_count(field);
    double *u = new_values(count);
    uint64_t seed = 1;
    eg_adapt_decision decision;
    for (size_t i = 0; i < count; i++)
        u[i] = (i % 25 == 0 ? 2 : 0) + 1e-15 * test_random(&seed);
    TEST_OK(b.ctx, eg_field_from_host(field, u));
    TEST_OK(b.ctx, eg_adapt_decide(b.adapt, b.op, 0.0, field, &decision));
    for (int32_t e = 0; e < b.mesh->element_count; e++)
        assert_int_equal(decision.degrees[e], LEAST);
    free(u);
    eg_field_destroy(&field);
    bench_free(&b);
    close_cpu(&device);
}

static void test_adapt__given_degrees_are_evened_out(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    bench b = bench_new(device, &square, 1, "1", "1", "0", NULL);
    uint8_t degrees[64] = {0};
    degrees[element_at(&b, 0.5, 0.5)] = 9;
    TEST_OK(b.ctx, eg_adapt_even_out(b.adapt, degrees));
    for (int i = -4; i <= 4; i++)
        for (int j = -3; j <= 3; j++) {
            const int far = abs(i) + abs(j), expected = MOST - far;
            assert_int_equal(degrees[element_at(&b, (4.5 + i) / 9, (3.5 + j) / 7)],
                             expected < LEAST ? LEAST : expected);
        }
    bench_free(&b);
    close_cpu(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_adapt__degrees_are_there_before_the_flow),
        KERNEL_TEST(test_adapt__degrees_are_there_where_something_comes_in),
        KERNEL_TEST(test_adapt__decisions_are_due_before_an_element_is_crossed),
        KERNEL_TEST(test_adapt__degrees_are_there_where_sources_are),
        KERNEL_TEST(test_adapt__degrees_of_what_stands_still_settle),
        KERNEL_TEST(test_adapt__the_size_of_values_decides_nothing),
        KERNEL_TEST(test_adapt__even_functions_deceive_nobody),
        KERNEL_TEST(test_adapt__jumps_between_constants_are_seen),
        KERNEL_TEST(test_adapt__what_is_lost_is_counted_together),
        KERNEL_TEST(test_adapt__rounding_decides_nothing),
        KERNEL_TEST(test_adapt__given_degrees_are_evened_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
