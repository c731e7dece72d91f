/* Adaptation of degrees: modes move and decisions are made as plain loops do it, on every device; mass is
 * kept over a thousand steps. */
#include "kernel/adapt.h"

#define COMPONENTS 2
#define DEGREES 16

static const eg_box_options cube = {
    .shape = EG_SHAPE_HEX, .cells = {4, 3, 3}, .periodic = {true, true, true}};

/* Degrees from LEAST to MOST that change from element to element, by global number. */
static void mix(const bench *b, int64_t by, uint8_t *degrees)
{
    for (int32_t e = 0; e < b->mesh->element_count; e++)
        degrees[e] = (uint8_t)(LEAST + b->mesh->global[e] * by % (MOST - LEAST + 1));
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
        KERNEL_TEST(test_adapt__more_tracers_than_there_may_be_are_refused),
        KERNEL_TEST(test_adapt__mass_is_kept_over_a_thousand_steps),
        KERNEL_TEST(test_adapt__mass_is_kept_on_hexahedra),
    };
    set_pocl_optimises(false); /* others do, see devices.h */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
