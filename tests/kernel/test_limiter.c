/* The limiter of model `advection` on every device against plain loops; that it keeps bounds after every
 * stage of rotating bells, mass over a thousand steps, and the bits of what is within its bounds. */
#include "kernel/devices.h"

#include "field.h"
#include "model/advection/limiter.h"

#define COMPONENTS 2
#define POINTS_MOST 4096
#define LINE_MOST 32

/* What is limited, and where. */
typedef struct setting {
    const char *name;
    eg_shape shape;
    double perturb;
    int degree_a, degree_b; /* of elements in turn */
    const char *velocity[3];
    bool by_points; /* the velocity varies */
    bool lobatto;   /* Gauss-Lobatto points are chosen */
    bool everywhere;
} setting;

static const setting settings[] = {
    {"straight", EG_SHAPE_QUAD, 0, 3, 3, {"1", "0.5"}, false, false, true},
    {"mixed", EG_SHAPE_QUAD, 0, 1, 4, {"1", "-0.5"}, false, false, false},
    {"vortex", EG_SHAPE_QUAD, 0, 2, 3, {"0.5 - y", "x - 0.5"}, true, false, true},
    {"lobatto", EG_SHAPE_QUAD, 0.2, 2, 4, {"1", "0.5"}, true, true, false},
    {"straight", EG_SHAPE_HEX, 0, 2, 2, {"1", "0.5", "-2"}, false, false, false},
    {"perturbed", EG_SHAPE_HEX, 0.1, 2, 3, {"1", "0.5", "1"}, true, false, false},
};

/* --- a setting on a device ------------------------------------------------------------------------ */

typedef struct bench {
    const setting *s;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *velocity[3];
    eg_advection *op;
    eg_advection_limiter *limiter;
} bench;

static bench bench_new(eg_device *device, const setting *s, int cells,
                       const eg_advection_range *bounds)
{
    eg_context *ctx = eg_device_context(device);
    bench b = {.s = s};
    const bool solid = s->shape == EG_SHAPE_HEX;
    const eg_advection_quadrature quadrature = eg_advection_default_quadrature(true);
    TEST_OK(ctx, eg_comm_self(ctx, &b.comm));
    b.mesh = box_with(ctx, &(eg_box_options){.shape = s->shape,
                                             .cells = {cells, cells, solid ? 4 : 0},
                                             .perturb = s->perturb,
                                             .seed = 5,
                                             .periodic = {true, true, true}});
    for (int d = 0; d < b.mesh->dim; d++)
        b.velocity[d] = expression(ctx, s->velocity[d]);
    const eg_advection_options options = {.components = COMPONENTS,
                                          .velocity = {b.velocity[0], b.velocity[1], b.velocity[2]},
                                          .quadrature = s->lobatto ? &quadrature : NULL};
    const int most = s->degree_a > s->degree_b ? s->degree_a : s->degree_b;
    uint8_t *degrees = mixed_degrees(b.mesh, s->degree_a, s->degree_b);
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){
                                     .basis = EG_BASIS_MODAL,
                                     .degrees = degrees,
                                     .lanes = eg_advection_lanes(device, b.mesh, &options, most)},
                                 &b.space));
    free(degrees);
    TEST_OK(ctx, eg_advection_create(b.space, &options, &b.op));
    TEST_OK(ctx, eg_advection_limiter_create(b.op, bounds, &b.limiter));
    return b;
}

static void bench_free(bench *b)
{
    eg_advection_limiter_destroy(&b->limiter);
    eg_advection_destroy(&b->op);
    for (int d = 0; d < 3; d++)
        eg_expression_destroy(&b->velocity[d]);
    eg_space_destroy(&b->space);
    eg_mesh_destroy(&b->mesh);
    eg_comm_destroy(&b->comm);
}

static eg_field *field_new(eg_space *space)
{
    eg_field *field = NULL;
    TEST_OK(space->ctx, eg_field_create(space, COMPONENTS, EG_F64, &field));
    return field;
}

/* Random modes, the higher the smaller, about a mean of `centre`. */
static double *random_modes(const bench *b, uint64_t seed, double centre)
{
    size_t count = 0, at = 0;
    for (int32_t e = 0; e < b->mesh->element_count; e++)
        count += (size_t)(COMPONENTS * eg_space_group_of(b->space, e)->element->np);
    double *values = new_values(count);
    for (int32_t e = 0; e < b->mesh->element_count; e++)
        for (int c = 0; c < COMPONENTS; c++) {
            const eg_element *element = eg_space_group_of(b->space, e)->element;
            const double size = e % 3 == 0 ? 0.01 : 0.4; /* some are within the bounds */
            for (int i = 0; i < element->np; i++)
                values[at++] =
                    i == 0 ? centre * sqrt((double)(1 << element->dim)) + size * test_random(&seed)
                           : size * test_random(&seed) / sqrt(i);
        }
    return values;
}

/* --- plain loops ---------------------------------------------------------------------------------- */

/* Points of a rule for so many modes a side. */
static int rule_points(const bench *b, int side, double *x, double *w)
{
    eg_context *ctx = b->mesh->ctx;
    if (b->s->lobatto) {
        TEST_OK(ctx, eg_gauss_lobatto(ctx, side + 2, x, w));
        return side + 2;
    }
    TEST_OK(ctx, eg_gauss_legendre(ctx, side + 1, x, w));
    return side + 1;
}

/* Adds the tensor product of n[d] points x[d] to r [count][3]; returns the new count. */
static int add_points(int dim, const int *n, double x[3][LINE_MOST], double (*r)[3], int count)
{
    for (int k = 0; k < (dim == 3 ? n[2] : 1); k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++) {
                assert_true(count < POINTS_MOST);
                r[count][0] = x[0][i];
                r[count][1] = x[1][j];
                r[count++][2] = dim == 3 ? x[2][k] : 0;
            }
    return count;
}

/* All points at which an element is looked at; faces have the points of the own rule and, where there are
 * points, of a higher neighbour's. */
static int points_of(const bench *b, const eg_group *g, double (*r)[3])
{
    const int dim = b->mesh->dim, side = g->degree + 1;
    const int higher = (b->s->degree_a > b->s->degree_b ? b->s->degree_a : b->s->degree_b) + 1;
    const bool by_points = b->s->by_points || g->curved;
    double x[3][LINE_MOST], w[LINE_MOST];
    int n[3], count = 0;
    for (int along = 0; along < dim; along++) {
        for (int d = 0; d < dim; d++) {
            n[d] = side; /* where fluxes are exact without points */
            if (!by_points) TEST_OK(b->mesh->ctx, eg_gauss_legendre(b->mesh->ctx, side, x[d], w));
            if (by_points) n[d] = rule_points(b, side, x[d], w);
            if (by_points && higher > side) n[d] += rule_points(b, higher, x[d] + n[d], w);
            if (d != along) continue;
            n[d] = 2; /* as many as are exact for J u */
            while (2 * n[d] - 3 < g->degree + (g->curved ? dim - 1 : 0))
                n[d]++;
            TEST_OK(b->mesh->ctx, eg_gauss_lobatto(b->mesh->ctx, n[d], x[d], w));
        }
        count = add_points(dim, n, x, r, count);
    }
    for (int d = 0; d < dim; d++)
        n[d] = rule_points(b, side, x[d], w);
    return by_points ? add_points(dim, n, x, r, count) : count;
}

/* Values of an element's polynomial at points. */
static void evaluate(const eg_element *element, int count, double (*r)[3], const double *u,
                     double *out)
{
    double *points = new_values((size_t)(3 * count));
    double *phi = new_values((size_t)(count * element->np));
    for (int q = 0; q < count; q++)
        for (int d = 0; d < element->dim; d++)
            points[d * count + q] = r[q][d];
    TEST_OK(element->ctx, eg_element_evaluate(element, count, points, phi));
    for (int q = 0; q < count; q++) {
        out[q] = 0;
        for (int i = 0; i < element->np; i++)
            out[q] += phi[q * element->np + i] * u[i];
    }
    free(phi);
    free(points);
}

/* det ∂x/∂r of a straight element. */
static double jacobian_at(const eg_mesh *mesh, int32_t e, const double *r)
{
    const int dim = mesh->dim;
    double nodes[EG_MAX_VERTICES * 3], a[3][3] = {{0}, {0}, {0, 0, 1}};
    eg_mesh_element_nodes(mesh, e, nodes);
    if (dim == 3) a[2][2] = 0;
    for (int i = 0; i < 1 << dim; i++)
        for (int k = 0; k < dim; k++) {
            double part = 1;
            for (int d = 0; d < dim; d++) {
                const double sign = i >> d & 1 ? 1 : -1;
                part *= d == k ? sign / 2 : (1 + sign * r[d]) / 2;
            }
            for (int y = 0; y < dim; y++)
                a[y][k] += part * nodes[i * dim + y];
        }
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
           a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

/* ∫ J u / ∫ J. */
static double mean_of(const bench *b, int32_t e, const eg_element *element, const double *u)
{
    static double r[POINTS_MOST][3], values[POINTS_MOST];
    double x[3][LINE_MOST], w[LINE_MOST], mass = 0, volume = 0;
    int n[3] = {element->degree + 3, element->degree + 3, element->degree + 3};
    for (int d = 0; d < 3; d++)
        TEST_OK(b->mesh->ctx, eg_gauss_legendre(b->mesh->ctx, n[d], x[d], w));
    const int count = add_points(element->dim, n, x, r, 0);
    evaluate(element, count, r, u, values);
    for (int q = 0; q < count; q++) {
        const double weight = w[q % n[0]] * w[q / n[0] % n[0]] *
                              (element->dim == 3 ? w[q / (n[0] * n[0])] : 1) *
                              jacobian_at(b->mesh, e, r[q]);
        mass += weight * values[q];
        volume += weight;
    }
    return mass / volume;
}

static eg_advection_range range_at(const double *values, int count)
{
    eg_advection_range range = {INFINITY, -INFINITY};
    for (int q = 0; q < count; q++) {
        range.least = fmin(range.least, values[q]);
        range.most = fmax(range.most, values[q]);
    }
    return range;
}

/* --- against plain loops -------------------------------------------------------------------------- */

static const eg_advection_range narrow[COMPONENTS] = {{-0.3, 0.5}, {-INFINITY, 0.2}};

static void check_setting(eg_device *device, const setting *s)
{
    static double r[POINTS_MOST][3], values[POINTS_MOST];
    bench b = bench_new(device, s, 4, narrow);
    eg_context *ctx = b.space->ctx;
    double *before = random_modes(&b, 3, 0.05), *after;
    eg_field *u = field_new(b.space);
    eg_advection_range all[COMPONENTS],
        expected[COMPONENTS] = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    size_t at = 0, limited = 0, kept = 0;
    TEST_OK(ctx, eg_field_from_host(u, before));
    TEST_OK(ctx, eg_advection_range_of(b.limiter, u, all));
    TEST_OK(ctx, eg_advection_limit(b.limiter, u));
    after = new_values(eg_field_host_count(u));
    TEST_OK(ctx, eg_field_to_host(u, after));
    for (int32_t e = 0; e < b.mesh->element_count; e++)
        for (int c = 0; c < COMPONENTS; c++) {
            const eg_group *g = eg_space_group_of(b.space, e);
            const eg_element *element = g->element;
            const int count = points_of(&b, g, r);
            evaluate(element, count, r, before + at, values);
            const eg_advection_range range = range_at(values, count);
            const double mean = mean_of(&b, e, element, before + at);
            const double constant = mean * sqrt((double)(1 << element->dim));
            double scale = 1;
            if (range.most > narrow[c].most)
                scale = fmin(scale, (narrow[c].most - mean) / (range.most - mean));
            if (range.least < narrow[c].least)
                scale = fmin(scale, (mean - narrow[c].least) / (mean - range.least));
            scale = element->degree == 0 ? 1 : fmax(scale, 0);
            expected[c].least = fmin(expected[c].least, range.least);
            expected[c].most = fmax(expected[c].most, range.most);
            for (int i = 0; i < element->np; i++) {
                const double u0 = before[at + (size_t)i], middle = i == 0 ? constant : 0;
                if (scale == 1)
                    assert_true(after[at + (size_t)i] == u0);
                else
                    assert_near(after[at + (size_t)i], middle + scale * (u0 - middle), 1e-13,
                                "mode", (size_t)i);
            }
            limited += scale < 1;
            kept += scale == 1;
            assert_near(mean_of(&b, e, element, after + at), mean, 1e-14, "mean", (size_t)e);
            at += (size_t)element->np;
        }
    assert_true(limited > 3 && kept > 3);
    for (int c = 0; c < COMPONENTS; c++) {
        assert_near(all[c].least, expected[c].least, 1e-13, "least", (size_t)c);
        assert_near(all[c].most, expected[c].most, 1e-13, "most", (size_t)c);
    }
    free(after);
    free(before);
    eg_field_destroy(&u);
    bench_free(&b);
}

static void limit_body(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    for (size_t i = 0; i < EG_COUNT(settings); i++) {
        const setting *s = &settings[i];
        if (eg_device_get_info(device)->threads != 1 && !s->everywhere) continue;
        now_at(device, real, "%s %s", s->name, eg_shape_get_info(s->shape)->name);
        check_setting(device, s);
    }
}

static void test_limiter__is_that_of_plain_loops(void **state)
{
    (void)state;
    on_every_device(limit_body);
}

/* --- steps ---------------------------------------------------------------------------------------- */

static const eg_advection_range bell_bounds[COMPONENTS] = {{0, 2}, {-1, 1}};

/* Two bells that touch their bounds: of height 2 above 0, and of both signs. */
static eg_field *bells(const bench *b)
{
    static const char *const texts[COMPONENTS] = {
        "1 + cos(3.14159265358979*min(1, sqrt((x - 0.4)^2 + (y - 0.3)^2)/0.2))",
        "sin(6.28318530717959*x) > 0 ? 1 : -1"};
    eg_field *u = field_new(b->space);
    eg_function *function = NULL;
    eg_expression *list[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++)
        list[c] = expression(b->mesh->ctx, texts[c]);
    TEST_OK(b->mesh->ctx, eg_function_create(b->space, (const eg_expression *const *)list,
                                             COMPONENTS, &function));
    TEST_OK(b->mesh->ctx, eg_function_project(function, 0, u));
    eg_function_destroy(&function);
    for (int c = 0; c < COMPONENTS; c++)
        eg_expression_destroy(&list[c]);
    return u;
}

/* The registers of a scheme. */
typedef struct registers {
    eg_field *current, *first, *next;
} registers;

static void swap(eg_field **a, eg_field **b)
{
    eg_field *c = *a;
    *a = *b;
    *b = c;
}

/* A limited step; with `watch` values are looked at after each stage. */
static void take_step(const bench *b, registers *r, eg_time_scheme scheme, double t, double dt,
                      bool watch)
{
    eg_context *ctx = b->space->ctx;
    eg_stage stages[EG_STAGES_MAX];
    const int count = eg_time_stages(scheme, t, dt, stages);
    for (int i = 0; i < count; i++) {
        eg_advection_range range[COMPONENTS];
        const eg_field *first = i == 0 ? r->current : r->first;
        TEST_OK(ctx, eg_advection_stage(b->op, &stages[i], first, r->current, NULL, r->next));
        TEST_OK(ctx, eg_advection_limit(b->limiter, r->next));
        swap(&r->current, &r->next);
        if (i == 0 && count > 1) swap(&r->first, &r->next);
        if (!watch) continue;
        TEST_OK(ctx, eg_advection_range_of(b->limiter, r->current, range));
        for (int c = 0; c < COMPONENTS; c++)
            if (!(range[c].least >= bell_bounds[c].least - 1e-12 &&
                  range[c].most <= bell_bounds[c].most + 1e-12))
                fail_msg("tracer %d is from %.17g to %.17g after stage %d at t = %g", c,
                         range[c].least, range[c].most, i, t);
    }
}

/* Takes steps as long as bounds allow, and checks bounds and mass. */
static void check_steps(eg_device *device, const setting *s, int cells, eg_time_scheme scheme,
                        int steps, bool watch)
{
    bench b = bench_new(device, s, cells, bell_bounds);
    eg_context *ctx = b.space->ctx;
    eg_measure *measure = NULL;
    double dt, before[COMPONENTS], after[COMPONENTS];
    eg_norms norms[COMPONENTS];
    registers r = {bells(&b), field_new(b.space), field_new(b.space)};
    TEST_OK(ctx, eg_advection_limit(b.limiter, r.current));
    TEST_OK(ctx, eg_measure_create(b.space, COMPONENTS, NULL, &measure));
    TEST_OK(ctx, eg_measure_integrals(measure, r.current, before));
    TEST_OK(ctx, eg_measure_norms(measure, 0, r.current, norms));
    TEST_OK(ctx, eg_advection_bounds_dt(b.limiter, 0, &dt));
    for (int i = 0; i < steps; i++)
        take_step(&b, &r, scheme, i * dt, dt, watch);
    TEST_OK(ctx, eg_measure_integrals(measure, r.current, after));
    for (int c = 0; c < COMPONENTS; c++)
        assert_near((after[c] - before[c]) / norms[c].l1, 0, 1e-13, "mass", (size_t)c);
    eg_measure_destroy(&measure);
    eg_field_destroy(&r.next);
    eg_field_destroy(&r.first);
    eg_field_destroy(&r.current);
    bench_free(&b);
}

static const setting bell_settings[] = {
    {"degree 1", EG_SHAPE_QUAD, 0, 1, 1, {"1", "1"}, false, false, false},
    {"degree 2 turning", EG_SHAPE_QUAD, 0, 2, 2, {"0.5 - y", "x - 0.5"}, true, false, false},
    {"degree 3", EG_SHAPE_QUAD, 0.2, 3, 3, {"1", "-0.5"}, true, false, false},
    {"mixed", EG_SHAPE_QUAD, 0, 1, 4, {"1", "1"}, false, false, true},
    {"mixed turning", EG_SHAPE_QUAD, 0.2, 1, 3, {"0.5 - y", "x - 0.5"}, true, false, true},
    {"constants", EG_SHAPE_QUAD, 0.2, 0, 2, {"0.5 - y", "x - 0.5"}, true, false, false},
    {"mixed", EG_SHAPE_HEX, 0.1, 2, 3, {"0.5 - y", "x - 0.5", "0.5"}, true, false, false},
};

static void bell_body(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    for (size_t i = 0; i < EG_COUNT(bell_settings); i++) {
        const setting *s = &bell_settings[i];
        if (eg_device_get_info(device)->threads != 1 && !s->everywhere) continue;
        now_at(device, real, "%s %s", s->name, eg_shape_get_info(s->shape)->name);
        const bool solid = s->shape == EG_SHAPE_HEX;
        check_steps(device, s, solid ? 4 : 8, (eg_time_scheme)(i % 3), solid ? 3 : 20, true);
    }
}

static void test_limiter__keeps_bounds_after_every_stage(void **state)
{
    (void)state;
    on_every_device(bell_body);
}

static void test_limiter__keeps_mass_over_a_thousand_steps(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 3; i < 5; i++) {
        now_at(device, EG_F64, "%s", bell_settings[i].name);
        check_steps(device, &bell_settings[i], 8, EG_TIME_EULER, 1000, false);
    }
    where[0] = '\0';
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* --- the largest step ----------------------------------------------------------------------------- */

/* On squares of size h it is h ω/(2 (|bx| + |by|)), with the weight ω of an end of Gauss-Lobatto points
 * that are exact for degree N; the largest degree has the smallest. */
static void test_limiter__step_is_that_of_squares(void **state)
{
    (void)state;
    static const double weights[] = {1, 1, 1.0 / 3, 1.0 / 3, 1.0 / 6, 1.0 / 6, 0.1};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (int degree = 0; degree < (int)EG_COUNT(weights); degree++) {
        const setting s = {"squares",       EG_SHAPE_QUAD, 0,     degree, 0,
                           {"2 - t", "-1"}, true,          false, false};
        double dt;
        bench b = bench_new(device, &s, 5, narrow);
        for (int t = 0; t < 2; t++) {
            TEST_OK(ctx, eg_advection_bounds_dt(b.limiter, t, &dt));
            assert_near(dt, weights[degree] / 10 / (2 - t + 1), 1e-12, "dt", (size_t)degree);
        }
        bench_free(&b);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* --- the range of functions ----------------------------------------------------------------------- */

static void range_body(eg_device *device, eg_type real)
{
    static const setting s = {"box", EG_SHAPE_QUAD, 0.2, 1, 3, {"1", "1"}, false, false, true};
    if (real != EG_F64) return;
    bench b = bench_new(device, &s, 4, narrow);
    eg_context *ctx = b.space->ctx;
    eg_expression *list[COMPONENTS] = {expression(ctx, "x + 10*y - t"), expression(ctx, "0*x - 3")};
    eg_function *function = NULL;
    double least[COMPONENTS], most[COMPONENTS];
    TEST_OK(ctx,
            eg_function_create(b.space, (const eg_expression *const *)list, COMPONENTS, &function));
    TEST_OK(ctx, eg_function_range(function, 0.5, least, most));
    assert_near(least[0], -0.5, 1e-14, "least", 0);
    assert_near(most[0], 10.5, 1e-14, "most", 0);
    assert_true(least[1] == -3 && most[1] == -3);
    eg_function_destroy(&function);
    for (int c = 0; c < COMPONENTS; c++)
        eg_expression_destroy(&list[c]);
    bench_free(&b);
}

/* Corners count. */
static void test_function__range_is_that_of_the_expression(void **state)
{
    (void)state;
    on_every_device(range_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_limiter__is_that_of_plain_loops),
        KERNEL_TEST(test_limiter__keeps_bounds_after_every_stage),
        KERNEL_TEST(test_limiter__keeps_mass_over_a_thousand_steps),
        KERNEL_TEST(test_limiter__step_is_that_of_squares),
        KERNEL_TEST(test_function__range_is_that_of_the_expression),
    };
    set_pocl_optimises(false); /* others do, see devices.h */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
