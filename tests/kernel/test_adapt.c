/* Adaptation of degrees on every device: modes move as a plain loop moves them, decisions are those of
 * plain loops, follow the flow, are no matter of rounding, and keep mass over a thousand steps. */
#include "kernel/devices.h"

#include "field.h"
#include "model/advection/adapt.h"

#include <math.h>

#define COMPONENTS 2
#define LEAST 1
#define MOST 4
#define DEGREES 16
#define RAISE 0.2
#define LOWER 0.05

/* A mesh with a space on it, an operator, and what adapts. */
typedef struct bench {
    eg_context *ctx;
    eg_device *device;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *velocity[3];
    eg_advection *op;
    eg_adapt *adapt;
    int components, lanes;
} bench;

static eg_expression *expression(eg_context *ctx, const char *text)
{
    static const eg_symbol symbols[] = {{"x", EG_VARIABLE_X, 0},
                                        {"y", EG_VARIABLE_Y, 0},
                                        {"z", EG_VARIABLE_Z, 0},
                                        {"t", EG_VARIABLE_T, 0}};
    eg_expression *e = NULL;
    TEST_OK(ctx, eg_expression_create(ctx, text, symbols, EG_COUNT(symbols), NULL, &e));
    return e;
}

static eg_space *space_with(const bench *b, const uint8_t *degrees)
{
    eg_space *space = NULL;
    TEST_OK(b->ctx, eg_space_create(b->device, b->comm, b->mesh,
                                    &(eg_space_options){.basis = EG_BASIS_MODAL,
                                                        .degrees = degrees,
                                                        .lanes = b->lanes,
                                                        .like = b->space},
                                    &space));
    return space;
}

static eg_advection_options operator_options(const bench *b)
{
    return (eg_advection_options){.components = b->components,
                                  .velocity = {b->velocity[0], b->velocity[1], b->velocity[2]},
                                  .degree_most = MOST};
}

static eg_advection *operator_on(const bench *b, eg_space *space)
{
    eg_advection *op = NULL;
    const eg_advection_options options = operator_options(b);
    TEST_OK(b->ctx, eg_advection_create(space, &options, &op));
    return op;
}

/* Degrees from LEAST to MOST that change from element to element, by global number. */
static void mix(const bench *b, int64_t by, uint8_t *degrees)
{
    for (int32_t e = 0; e < b->mesh->element_count; e++)
        degrees[e] = (uint8_t)(LEAST + b->mesh->global[e] * by % (MOST - LEAST + 1));
}

static bench bench_new(eg_device *device, const eg_box_options *o, int components, const char *x,
                       const char *y, const char *z, const eg_expression *const *boundary)
{
    bench b = {.ctx = eg_device_context(device), .device = device, .components = components};
    const eg_adapt_options options = {.on = true,
                                      .least =
                                          o->perturb > 0 && o->shape == EG_SHAPE_HEX ? 2 : LEAST,
                                      .most = MOST,
                                      .raise = RAISE,
                                      .lower = LOWER,
                                      .boundary = boundary};
    TEST_OK(b.ctx, eg_comm_self(b.ctx, &b.comm));
    b.mesh = box_with(b.ctx, o);
    b.velocity[0] = expression(b.ctx, x);
    b.velocity[1] = expression(b.ctx, y);
    b.velocity[2] = expression(b.ctx, z);
    const eg_advection_options of_operators = operator_options(&b);
    b.lanes = eg_advection_lanes(device, b.mesh, &of_operators, MOST);
    TEST_OK(b.ctx, eg_space_create(device, b.comm, b.mesh,
                                   &(eg_space_options){
                                       .basis = EG_BASIS_MODAL, .degree = MOST, .lanes = b.lanes},
                                   &b.space));
    b.op = operator_on(&b, b.space);
    TEST_OK(b.ctx, eg_adapt_create(device, b.comm, b.mesh, components, &options, &b.adapt));
    return b;
}

static void bench_free(bench *b)
{
    eg_adapt_destroy(&b->adapt);
    eg_advection_destroy(&b->op);
    eg_space_destroy(&b->space);
    for (int d = 0; d < 3; d++)
        eg_expression_destroy(&b->velocity[d]);
    eg_mesh_destroy(&b->mesh);
    eg_comm_destroy(&b->comm);
}

static eg_field *field_on(eg_space *space, int components, const double *values)
{
    eg_field *field = NULL;
    TEST_OK(space->ctx, eg_field_create(space, components, EG_F64, &field));
    if (values) TEST_OK(space->ctx, eg_field_from_host(field, values));
    return field;
}

static int power(int base, int exponent)
{
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/* The degree of mode i of an element with m modes a side. */
static int degree_of_mode(int i, int m, int dim)
{
    int most = 0;
    for (int d = 0; d < dim; d++, i /= m)
        if (i % m > most) most = i % m;
    return most;
}

/* Values of a bump, as modes; what they are exactly does not matter. */
static eg_field *bump_on(eg_space *space)
{
    eg_context *ctx = space->ctx;
    eg_function *function = NULL;
    eg_expression *bump = expression(ctx, "1 + exp(-200*((x - 0.4)^2 + (y - 0.5)^2))");
    const eg_expression *const list[] = {bump};
    eg_field *field = field_on(space, 1, NULL);
    TEST_OK(ctx, eg_function_create(space, list, 1, &function));
    TEST_OK(ctx, eg_function_project(function, 0.0, field));
    eg_function_destroy(&function);
    eg_expression_destroy(&bump);
    return field;
}

static const eg_box_options square = {
    .shape = EG_SHAPE_QUAD, .cells = {9, 7}, .periodic = {true, true}};
static const eg_box_options cube = {
    .shape = EG_SHAPE_HEX, .cells = {4, 3, 3}, .periodic = {true, true, true}};

/* Opens a CPU for what does not depend on the device. */
static eg_device *open_cpu(void)
{
    eg_device *device = NULL;
    eg_context *ctx = test_context();
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    return device;
}

static void close_cpu(eg_device **device)
{
    eg_context *ctx = eg_device_context(*device);
    eg_device_close(device);
    test_context_free(&ctx);
}

/* --- a space like another ---------------------------------------------------------------------------- */

static void test_adapt__a_space_like_another_is_the_one_made_alone(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    eg_box_options skewed = square;
    skewed.perturb = 0.2;
    bench b = bench_new(device, &skewed, 1, "1", "1", "0", NULL);
    uint8_t degrees[64];
    eg_space *alone = NULL;
    mix(&b, 3, degrees);
    eg_space *like = space_with(&b, degrees);
    TEST_OK(b.ctx,
            eg_space_create(
                device, b.comm, b.mesh,
                &(eg_space_options){.basis = EG_BASIS_MODAL, .degrees = degrees, .lanes = b.lanes},
                &alone));
    assert_int_equal(like->group_count, alone->group_count);
    assert_true(like->volume == alone->volume && like->dof == alone->dof);
    for (int g = 0; g < alone->group_count; g++) {
        assert_int_equal(like->groups[g].curved, alone->groups[g].curved);
        assert_int_equal(like->groups[g].degree, alone->groups[g].degree);
    }
    for (int32_t e = 0; e < b.mesh->element_count; e++)
        assert_int_equal(like->slot_of_element[e], alone->slot_of_element[e]);
    eg_space_destroy(&alone);
    eg_space_destroy(&like);
    bench_free(&b);
    close_cpu(&device);
}

/* --- moving ------------------------------------------------------------------------------------------- */

static void move_body(eg_device *device, const eg_box_options *o)
{
    bench b = bench_new(device, o, COMPONENTS, "1", "1", "1", NULL);
    const int dim = b.mesh->dim;
    uint8_t before[64], after[64];
    uint64_t seed = 3;
    assert_true(b.mesh->element_count <= 64);
    mix(&b, 1, before);
    mix(&b, 7, after);
    eg_space *from_space = space_with(&b, before), *to_space = space_with(&b, after);
    eg_field *from = field_on(from_space, COMPONENTS, NULL);
    eg_field *to = field_on(to_space, COMPONENTS, NULL);
    const size_t count = eg_field_host_count(from), to_count = eg_field_host_count(to);
    double *u = new_values(count), *v = new_values(to_count), *at = u, *to_at = v;
    for (size_t i = 0; i < count; i++)
        u[i] = test_random(&seed);
    TEST_OK(b.ctx, eg_field_from_host(from, u));
    TEST_OK(b.ctx, eg_adapt_move(from, to));
    TEST_OK(b.ctx, eg_field_to_host(to, v));
    for (int32_t e = 0; e < b.mesh->element_count; e++) {
        const int m = before[e] + 1, n = after[e] + 1;
        for (int c = 0; c < COMPONENTS; c++)
            for (int i = 0; i < power(n, dim); i++) {
                int place = 0, rest = i, there = 1;
                bool has = true;
                for (int d = 0; d < dim; d++, rest /= n, there *= m) {
                    place += rest % n * there;
                    has = has && rest % n < m;
                }
                assert_true(to_at[c * power(n, dim) + i] ==
                            (has ? at[c * power(m, dim) + place] : 0.0));
            }
        at += COMPONENTS * power(m, dim);
        to_at += COMPONENTS * power(n, dim);
    }
    free(v);
    free(u);
    eg_field_destroy(&to);
    eg_field_destroy(&from);
    eg_space_destroy(&to_space);
    eg_space_destroy(&from_space);
    bench_free(&b);
}

static void move_on(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    move_body(device, &square);
    move_body(device, &cube);
}

static void test_adapt__modes_move_as_a_plain_loop_moves_them(void **state)
{
    (void)state;
    on_every_device(move_on);
}

/* --- decisions ------------------------------------------------------------------------------------------ */

/* What adapt.c says, once more: degrees [elements] from values on the host. */
static void decide_plainly(const bench *b, const uint8_t *degree, const double *u, double jacobian,
                           uint8_t *wanted)
{
    const int dim = b->mesh->dim, n = b->mesh->element_count;
    double(*energy)[COMPONENTS][DEGREES] = calloc((size_t)n, sizeof *energy);
    double sum[COMPONENTS] = {0}, mean[64][COMPONENTS];
    assert_non_null(energy);
    for (int e = 0; e < n; e++)
        for (int c = 0; c < COMPONENTS; c++) {
            const int side = degree[e] + 1;
            mean[e][c] = sqrt(jacobian) * *u;
            for (int i = 0; i < power(side, dim); i++, u++)
                energy[e][c][degree_of_mode(i, side, dim)] += jacobian * *u * *u;
            sum[c] += energy[e][c][degree[e]];
            if (degree[e] > 1) sum[c] += 0.01 * energy[e][c][degree[e] - 1];
        }
    for (int e = 0; e < n; e++) {
        wanted[e] = LEAST;
        for (int c = 0; c < COMPONENTS; c++) {
            const double *E = energy[e][c], share = sum[c] / n;
            const int N = degree[e];
            double highest = E[N] + (N > 1 ? 0.01 * E[N - 1] : 0), lost = 0;
            int one = N;
            if (highest > RAISE * RAISE * share && N < MOST)
                one = N + 1;
            else
                for (int k = N - 1; k >= LEAST; k--) {
                    lost += E[k + 1];
                    if (lost + 0.01 * E[k] > LOWER * LOWER * share) break;
                    if (E[k] + (k > 1 ? 0.01 * E[k - 1] : 0) > RAISE * RAISE * share) break;
                    one = k;
                }
            if (one > wanted[e]) wanted[e] = (uint8_t)one;
            for (int f = 0; f < 2 * dim; f++) {
                const int32_t o = b->mesh->neighbour[e * b->mesh->face_stride + f];
                double mine = 0, its = 0;
                for (int k = 1; k <= MOST; k++) {
                    mine += E[k];
                    its += energy[o][c][k];
                }
                const double jump =
                    fabs(mean[e][c] - mean[o][c]) - sqrt(12 * mine) - sqrt(12 * its);
                if (jump > RAISE * sqrt(share)) wanted[e] = MOST;
            }
        }
    }
    for (bool again = true; again;) {
        again = false;
        for (int e = 0; e < n; e++)
            for (int f = 0; f < 2 * dim; f++) {
                const int32_t o = b->mesh->neighbour[e * b->mesh->face_stride + f];
                if (o < 0 || wanted[e] >= wanted[o] - 1) continue;
                wanted[e] = (uint8_t)(wanted[o] - 1);
                again = true;
            }
    }
    free(energy);
}

/* Random modes that fall off faster in some elements than in others. Without a velocity nothing is
 * carried along. */
static void decide_body(eg_device *device, const eg_box_options *o)
{
    bench b = bench_new(device, o, COMPONENTS, "0", "0", "0", NULL);
    const int dim = b.mesh->dim;
    const double cells = (double)b.mesh->element_count;
    uint8_t degrees[64], expected[64];
    uint64_t seed = 8;
    int seen[DEGREES] = {0};
    for (int round = 0; round < 4; round++) {
        mix(&b, 2 * round + 1, degrees);
        eg_space *space = space_with(&b, degrees);
        eg_field *field = field_on(space, COMPONENTS, NULL);
        eg_adapt_decision decision;
        double *u = new_values(eg_field_host_count(field)), *at = u;
        for (int32_t e = 0; e < b.mesh->element_count; e++) {
            const int side = degrees[e] + 1;
            for (int c = 0; c < COMPONENTS; c++) {
                const double fall = e % 9 == 3 ? 0.5 : 0.02 + 0.02 * (e % 3);
                const double size = pow(10.0, -round * (test_random(&seed) + 1));
                const double mean = round == 0 && e == 7 ? 3 : 0.05 * size;
                for (int i = 0; i < power(side, dim); i++)
                    *at++ = i == 0 ? mean
                                   : size * (1 + 0.5 * test_random(&seed)) *
                                         pow(fall, degree_of_mode(i, side, dim));
            }
        }
        TEST_OK(b.ctx, eg_field_from_host(field, u));
        decide_plainly(&b, degrees, u, power(1, dim) / (cells * power(2, dim)), expected);
        TEST_OK(b.ctx, eg_adapt_decide(b.adapt, b.op, 0.0, field, &decision));
        for (int32_t e = 0; e < b.mesh->element_count; e++) {
            assert_int_equal(decision.degrees[e], expected[e]);
            seen[expected[e]]++;
        }
        assert_true(decision.changed);
        free(u);
        eg_field_destroy(&field);
        eg_space_destroy(&space);
    }
    for (int n = LEAST; n <= MOST; n++)
        assert_true(seen[n] > 0);
    bench_free(&b);
}

static void decide_on(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    decide_body(device, &square);
    decide_body(device, &cube);
}

static void test_adapt__decisions_are_those_of_plain_loops(void **state)
{
    (void)state;
    on_every_device(decide_on);
}

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

static void test_adapt__more_tracers_than_there_may_be_are_refused(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    bench b = bench_new(device, &square, 1, "0", "0", "0", NULL);
    eg_adapt *adapt = NULL;
    assert_int_equal(eg_adapt_create(device, b.comm, b.mesh, EG_ADAPT_COMPONENTS_MAX + 1,
                                     &(eg_adapt_options){.least = LEAST, .most = MOST}, &adapt),
                     EG_ERROR_ARGUMENT);
    assert_null(adapt);
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

/* --- a thousand steps ------------------------------------------------------------------------------------- */

static double mass_of(eg_space *space, const eg_field *field)
{
    eg_measure *measure = NULL;
    double mass;
    TEST_OK(space->ctx, eg_measure_create(space, 1, NULL, &measure));
    TEST_OK(space->ctx, eg_measure_integrals(measure, field, &mass));
    eg_measure_destroy(&measure);
    return mass;
}

/* 1000 steps of explicit Euler, with a decision before each fourth. */
static void keeps_mass(eg_device *device, const eg_box_options *o, const char *x, const char *y,
                       const char *z, int steps)
{
    bench b = bench_new(device, o, 1, x, y, z, NULL);
    eg_space *space = b.space;
    eg_advection *op = b.op;
    eg_field *u = bump_on(space), *next = field_on(space, 1, NULL);
    const double mass = mass_of(space, u);
    double dt;
    int adaptations = 0;
    TEST_OK(b.ctx, eg_advection_stable_dt(op, 0.0, &dt));
    eg_device_keep_kernels(device, true);
    for (int step = 0; step < steps; step++) {
        const eg_stage stage = {.count = 1, .dt = 0.05 * dt, .b = 1, .c = 1};
        eg_adapt_decision decision = {.changed = false};
        if (step % 4 == 0) TEST_OK(b.ctx, eg_adapt_decide(b.adapt, op, 0.0, u, &decision));
        if (decision.changed) {
            eg_space *old_space = space;
            eg_field *old = u;
            space = space_with(&b, decision.degrees);
            u = field_on(space, 1, NULL);
            TEST_OK(b.ctx, eg_adapt_move(old, u));
            eg_field_destroy(&next);
            eg_field_destroy(&old);
            if (op != b.op) eg_advection_destroy(&op);
            if (old_space != b.space) eg_space_destroy(&old_space);
            op = operator_on(&b, space);
            next = field_on(space, 1, NULL);
            adaptations++;
        }
        TEST_OK(b.ctx, eg_advection_stage(op, &stage, u, u, NULL, next));
        eg_field *swap = u;
        u = next;
        next = swap;
    }
    print_message("  %d adaptations, %lld of %lld degrees of freedom\n", adaptations,
                  (long long)space->dof, (long long)b.space->dof);
    assert_true(adaptations > 1);
    assert_true(space->dof < b.space->dof);
    assert_near(mass_of(space, u) / mass, 1.0, 1e-13, "mass", (size_t)adaptations);
    eg_field_destroy(&next);
    eg_field_destroy(&u);
    if (op != b.op) eg_advection_destroy(&op);
    if (space != b.space) eg_space_destroy(&space);
    eg_device_keep_kernels(device, false);
    bench_free(&b);
}

static void test_adapt__mass_is_kept_over_a_thousand_steps(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    eg_box_options straight = square, perturbed;
    straight.cells[0] = 16;
    straight.cells[1] = 12;
    perturbed = straight;
    perturbed.perturb = 0.2;
    keeps_mass(device, &straight, "1", "0.7", "0", 1000);
    keeps_mass(device, &perturbed, "1", "0.7", "0", 1000);
    keeps_mass(device, &perturbed, "sin(2*pi*y)", "sin(2*pi*x)", "0", 1000);
    close_cpu(&device);
}

static void test_adapt__mass_is_kept_on_hexahedra(void **state)
{
    (void)state;
    eg_device *device = open_cpu();
    eg_box_options straight = cube, perturbed;
    straight.cells[0] = 10;
    straight.cells[1] = 8;
    perturbed = straight;
    perturbed.perturb = 0.15;
    keeps_mass(device, &straight, "1", "0.7", "0", 100);
    keeps_mass(device, &perturbed, "1", "0.7", "0", 100);
    close_cpu(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_adapt__a_space_like_another_is_the_one_made_alone),
        KERNEL_TEST(test_adapt__modes_move_as_a_plain_loop_moves_them),
        KERNEL_TEST(test_adapt__decisions_are_those_of_plain_loops),
        KERNEL_TEST(test_adapt__degrees_are_there_before_the_flow),
        KERNEL_TEST(test_adapt__degrees_are_there_where_something_comes_in),
        KERNEL_TEST(test_adapt__decisions_are_due_before_an_element_is_crossed),
        KERNEL_TEST(test_adapt__degrees_are_there_where_sources_are),
        KERNEL_TEST(test_adapt__degrees_of_what_stands_still_settle),
        KERNEL_TEST(test_adapt__the_size_of_values_decides_nothing),
        KERNEL_TEST(test_adapt__more_tracers_than_there_may_be_are_refused),
        KERNEL_TEST(test_adapt__even_functions_deceive_nobody),
        KERNEL_TEST(test_adapt__jumps_between_constants_are_seen),
        KERNEL_TEST(test_adapt__what_is_lost_is_counted_together),
        KERNEL_TEST(test_adapt__rounding_decides_nothing),
        KERNEL_TEST(test_adapt__given_degrees_are_evened_out),
        KERNEL_TEST(test_adapt__mass_is_kept_over_a_thousand_steps),
        KERNEL_TEST(test_adapt__mass_is_kept_on_hexahedra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
