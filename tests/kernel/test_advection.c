/* The operator of model `advection` on every device against plain loops: each stage of every kind, on
 * straight, graded, turned and perturbed elements, with degrees that change from element to element,
 * with boundaries, sources and velocities that vary; and that it keeps mass. */
#include "kernel/devices.h"

#include "field.h"
#include "model/advection/operator.h"

#define COMPONENTS 2
#define TIME 0.3
#define POINTS_MOST 729

/* What is computed, and where. */
typedef struct setting {
    const char *name;
    eg_shape shape;
    double grading, perturb;
    bool periodic, turned;
    int degree_a, degree_b; /* of elements in turn */
    const char *velocity[3];
    const char *source, *inflow; /* of tracer 1; NULL: none */
    int flags;
} setting;

/* The scheme is a low-storage one; run on every device, not on one thread of the CPU alone; rows of
 * elements are longer than a tile; three rows of a degree follow each other. */
enum { LOW_STORAGE = 1, EVERYWHERE = 2, LONG = 4, BANDS = 8 };

static const setting settings[] = {
    {"uniform", EG_SHAPE_QUAD, 1, 0, true, false, 3, 3, {"1", "0.5"}, NULL, NULL, 0},
    {"backwards", EG_SHAPE_QUAD, 1, 0, true, false, 2, 2, {"-1", "0.5"}, NULL, NULL, LOW_STORAGE},
    {"constants", EG_SHAPE_QUAD, 1, 0, true, false, 0, 1, {"1", "-0.5"}, NULL, NULL, 0},
    {"graded", EG_SHAPE_QUAD, 2, 0, true, false, 2, 4, {"1 - t", "-0.5"}, NULL, NULL, 0},
    {"turned",
     EG_SHAPE_QUAD,
     2,
     0,
     false,
     true,
     3,
     1,
     {"0.7", "-0.5"},
     NULL,
     "x + t*y",
     LOW_STORAGE | EVERYWHERE},
    {"vortex", EG_SHAPE_QUAD, 2, 0, false, true, 3, 3, {"-y", "x"}, "x*y + t", "x - t*y", 0},
    {"perturbed", EG_SHAPE_QUAD, 1, 0.2, true, false, 3, 1, {"1", "0.3"}, NULL, NULL, LOW_STORAGE},
    {"all", EG_SHAPE_QUAD, 2, 0.2, false, true, 1, 2, {"1 + x*y", "-x"}, "y", "x", EVERYWHERE},
    {"pieces", EG_SHAPE_QUAD, 1, 0.2, false, false, 0, 0, {"1", "0.3"}, NULL, "2", 0},
    {"uniform", EG_SHAPE_HEX, 1, 0, true, false, 2, 2, {"1", "0.5", "-2"}, NULL, NULL, EVERYWHERE},
    {"turned",
     EG_SHAPE_HEX,
     2,
     0,
     false,
     true,
     1,
     3,
     {"-1", "0.5", "2"},
     NULL,
     "x + y*z",
     LOW_STORAGE},
    {"all", EG_SHAPE_HEX, 2, 0.15, false, true, 2, 3, {"y", "-x*z", "1"}, "y*z", "x*t", 0},
    {"pieces",
     EG_SHAPE_HEX,
     1,
     0.1,
     true,
     false,
     0,
     2,
     {"1", "0.5", "-2"},
     NULL,
     NULL,
     LOW_STORAGE},
    {"rows", EG_SHAPE_QUAD, 1, 0, true, false, 3, 3, {"1", "0.5"}, NULL, NULL, LONG},
    {"backward rows", EG_SHAPE_QUAD, 1, 0, true, false, 2, 2, {"-1", "-0.5"}, NULL, NULL, LONG},
    {"crossing rows", EG_SHAPE_QUAD, 1, 0, true, false, 1, 1, {"1", "-0.5"}, NULL, NULL, LONG},
    {"bands",
     EG_SHAPE_QUAD,
     1,
     0,
     true,
     false,
     1,
     3,
     {"1", "0.5"},
     NULL,
     NULL,
     LONG | BANDS | EVERYWHERE},
    {"bounded bands",
     EG_SHAPE_QUAD,
     2,
     0,
     false,
     false,
     4,
     2,
     {"1", "0.5"},
     NULL,
     "x + t*y",
     LONG | BANDS | LOW_STORAGE},
    {"large bands",
     EG_SHAPE_QUAD,
     1,
     0,
     true,
     false,
     7,
     6,
     {"-1", "0.5"},
     NULL,
     NULL,
     LONG | BANDS},
    {"patches", EG_SHAPE_QUAD, 1, 0, false, false, 3, 1, {"1", "0.5"}, NULL, "x", LONG},
    {"rows", EG_SHAPE_HEX, 1, 0, true, false, 2, 2, {"1", "0.5", "2"}, NULL, NULL, LONG},
    {"bands",
     EG_SHAPE_HEX,
     2,
     0,
     false,
     false,
     1,
     2,
     {"1", "0.5", "2"},
     NULL,
     "x + y*z",
     LONG | BANDS},
};

/* --- a setting on a device ------------------------------------------------------------------------ */

typedef struct bench {
    const setting *s;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *velocity[3], *source, *inflow;
    eg_advection *op;
} bench;

static bench bench_new(eg_device *device, const setting *s, int cells)
{
    eg_context *ctx = eg_device_context(device);
    bench b = {.s = s};
    const bool solid = s->shape == EG_SHAPE_HEX;
    const int dim = solid ? 3 : 2;
    const int width = s->flags & LONG ? (solid ? 19 : 37) : cells;
    const int height = s->flags & LONG ? (solid ? 4 : 9) : cells - 1;
    TEST_OK(ctx, eg_comm_self(ctx, &b.comm));
    b.mesh = box_with(ctx, &(eg_box_options){.shape = s->shape,
                                             .cells = {width, height, solid ? 3 : 0},
                                             .grading = {s->grading, s->grading, s->grading},
                                             .perturb = s->perturb,
                                             .seed = 5,
                                             .periodic = {s->periodic, s->periodic, s->periodic}});
    if (s->turned) turn_elements(b.mesh, 11);
    for (int d = 0; d < dim; d++)
        b.velocity[d] = expression(ctx, s->velocity[d]);
    b.source = expression(ctx, s->source);
    b.inflow = expression(ctx, s->inflow);
    const eg_expression *sources[COMPONENTS] = {NULL, b.source};
    const eg_expression *boundary[6 * COMPONENTS] = {NULL};
    assert_true(b.mesh->boundary_count <= 6);
    for (int i = 0; i < b.mesh->boundary_count; i++)
        boundary[i * COMPONENTS + 1] = b.inflow;
    const eg_advection_options options = {.components = COMPONENTS,
                                          .velocity = {b.velocity[0], b.velocity[1], b.velocity[2]},
                                          .source = sources,
                                          .boundary = boundary,
                                          .low_storage = s->flags & LOW_STORAGE};
    const int most = s->degree_a > s->degree_b ? s->degree_a : s->degree_b;
    uint8_t *degrees = mixed_degrees(b.mesh, s->degree_a, s->degree_b);
    for (int32_t e = 0; e < b.mesh->element_count && s->flags & BANDS; e++)
        degrees[e] = (uint8_t)(b.mesh->global[e] / (3 * width) % 2 ? s->degree_a : s->degree_b);
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){
                                     .basis = EG_BASIS_MODAL,
                                     .degrees = degrees,
                                     .lanes = eg_advection_lanes(device, b.mesh, &options, most)},
                                 &b.space));
    free(degrees);
    TEST_OK(ctx, eg_advection_create(b.space, &options, &b.op));
    return b;
}

static void bench_free(bench *b)
{
    eg_advection_destroy(&b->op);
    for (int d = 0; d < 3; d++)
        eg_expression_destroy(&b->velocity[d]);
    eg_expression_destroy(&b->source);
    eg_expression_destroy(&b->inflow);
    eg_space_destroy(&b->space);
    eg_mesh_destroy(&b->mesh);
    eg_comm_destroy(&b->comm);
}

/* A field of random values, and the values on the host. */
static eg_field *random_field(eg_space *space, uint64_t seed, double **values)
{
    eg_field *field = NULL;
    TEST_OK(space->ctx, eg_field_create(space, COMPONENTS, EG_F64, &field));
    const size_t count = eg_field_host_count(field);
    *values = new_values(count);
    for (size_t i = 0; i < count; i++)
        (*values)[i] = test_random(&seed);
    TEST_OK(space->ctx, eg_field_from_host(field, *values));
    return field;
}

/* --- plain loops ---------------------------------------------------------------------------------- */

static double value_of(const eg_expression *e, const double *x)
{
    const double variables[EG_VARIABLE_COUNT] = {x[0], x[1], x[2], TIME};
    return e ? eg_expression_evaluate(e, variables) : 0.0;
}

static const eg_element *element_of(const bench *b, int32_t e)
{
    return eg_space_group_of(b->space, e)->element;
}

/* Where an element's values of a component stand on the host. */
static const double *values_of(const bench *b, const double *values, int32_t e, int c)
{
    size_t at = 0;
    for (int32_t i = 0; i < e; i++)
        at += (size_t)(COMPONENTS * element_of(b, i)->np);
    return values + at + (size_t)(c * element_of(b, e)->np);
}

/* J ∇r_d, J and the place at a point of a straight element. */
static double map_at(const eg_mesh *mesh, int32_t e, const double *r, double area[3][3], double *x)
{
    const int dim = mesh->dim;
    double nodes[EG_MAX_VERTICES * 3], a[3][3] = {{0}}, det = 0;
    eg_mesh_element_nodes(mesh, e, nodes);
    x[0] = x[1] = x[2] = 0;
    if (dim == 2) a[2][2] = 1;
    for (int i = 0; i < 1 << dim; i++)
        for (int k = -1; k < dim; k++) { /* the place, then the slope along each direction */
            double part = 1;
            for (int d = 0; d < dim; d++) {
                const double sign = i >> d & 1 ? 1 : -1;
                part *= d == k ? sign / 2 : (1 + sign * r[d]) / 2;
            }
            for (int y = 0; y < dim; y++)
                *(k < 0 ? &x[y] : &a[y][k]) += part * nodes[i * dim + y];
        }
    for (int d = 0; d < 3; d++)
        for (int y = 0; y < 3; y++)
            area[d][y] = a[(y + 1) % 3][(d + 1) % 3] * a[(y + 2) % 3][(d + 2) % 3] -
                         a[(y + 1) % 3][(d + 2) % 3] * a[(y + 2) % 3][(d + 1) % 3];
    for (int y = 0; y < 3; y++)
        det += a[y][0] * area[0][y];
    return det;
}

/* b·area at a place. */
static double flow_through(const bench *b, const double *area, const double *x)
{
    double sum = 0;
    for (int d = 0; d < b->mesh->dim; d++)
        sum += area[d] * value_of(b->velocity[d], x);
    return sum;
}

/* Gauss points [dim][count] and weights with n a side; returns their number. */
static int tensor_points(eg_context *ctx, int dim, int n, double *r, double *w)
{
    double x1[16], w1[16];
    int count = 1;
    TEST_OK(ctx, eg_gauss_legendre(ctx, n, x1, w1));
    for (int d = 0; d < dim; d++)
        count *= n;
    for (int q = 0; q < count; q++) {
        w[q] = 1;
        for (int d = 0, rest = q; d < dim; d++, rest /= n) {
            r[d * count + q] = x1[rest % n];
            w[q] *= w1[rest % n];
        }
    }
    return count;
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Adds ∫ b u·∇φ + s φ of the element. */
static void add_volume(const bench *b, int32_t e, int c, const double *u, double *rate)
{
    const eg_element *element = element_of(b, e);
    const int dim = element->dim, np = element->np;
    static double r[3 * POINTS_MOST], w[POINTS_MOST], phi[POINTS_MOST * 343];
    static double slope[3 * POINTS_MOST * 343];
    const int count = tensor_points(b->mesh->ctx, dim, element->degree + 2, r, w);
    TEST_OK(b->mesh->ctx, eg_element_evaluate(element, count, r, phi));
    TEST_OK(b->mesh->ctx, eg_element_differentiate(element, count, r, slope));
    for (int q = 0; q < count; q++) {
        double at[3] = {0}, area[3][3], x[3];
        for (int d = 0; d < dim; d++)
            at[d] = r[d * count + q];
        const double jacobian = map_at(b->mesh, e, at, area, x);
        const double value = dot(phi + q * np, u, np);
        const double source = c == 1 ? value_of(b->source, x) : 0;
        for (int i = 0; i < np; i++) {
            rate[i] += w[q] * jacobian * source * phi[q * np + i];
            for (int d = 0; d < dim; d++)
                rate[i] +=
                    w[q] * flow_through(b, area[d], x) * value * slope[(d * count + q) * np + i];
        }
    }
}

/* Takes away ∫ (b·n) u φ over a face, u from where it flows. */
static void add_face(const bench *b, int32_t e, int f, int c, const double *values, double *rate)
{
    const eg_mesh *mesh = b->mesh;
    const eg_element *mine = element_of(b, e);
    const eg_shape_info *info = eg_shape_get_info(mine->shape);
    const size_t at = (size_t)e * (size_t)mesh->face_stride + (size_t)f;
    const int32_t neighbour = mesh->neighbour[at];
    const eg_element *other = neighbour < 0 ? mine : element_of(b, neighbour);
    const int degree = mine->degree > other->degree ? mine->degree : other->degree;
    double s[2 * 64], other_s[2 * 64], w[64], r[3 * 64], other_r[3 * 64];
    static double phi[64 * 343], other_phi[64 * 343];
    const int count = tensor_points(mesh->ctx, mine->dim - 1, degree + 2, s, w);
    eg_shape_face_points(mine->shape, f, count, s, r);
    TEST_OK(mesh->ctx, eg_element_evaluate(mine, count, r, phi));
    if (neighbour >= 0) {
        const uint8_t byte = mesh->neighbour_face[at];
        eg_orientation_points(info->face_shape, EG_ORIENTATION(byte), count, s, other_s);
        eg_shape_face_points(other->shape, EG_FACE(byte), count, other_s, other_r);
        TEST_OK(mesh->ctx, eg_element_evaluate(other, count, other_r, other_phi));
    }
    for (int q = 0; q < count; q++) {
        double point[3] = {0}, area[3][3], x[3], out = 0;
        for (int d = 0; d < mine->dim; d++)
            point[d] = r[d * count + q];
        map_at(mesh, e, point, area, x);
        for (int d = 0; d < mine->dim; d++) /* the direction in which the point is at an end */
            if (fabs(fabs(point[d]) - 1) < 1e-12) out = point[d] * flow_through(b, area[d], x);
        const double here = dot(phi + q * mine->np, values_of(b, values, e, c), mine->np);
        const double there = neighbour < 0 ? (c == 1 ? value_of(b->inflow, x) : 0)
                                           : dot(other_phi + q * other->np,
                                                 values_of(b, values, neighbour, c), other->np);
        for (int i = 0; i < mine->np; i++)
            rate[i] -= w[q] * out * (out > 0 ? here : there) * phi[q * mine->np + i];
    }
}

/* Divides by the mass: by J, by its mean, or weight-adjusted. */
static void divide_by_mass(const bench *b, int32_t e, double *rate)
{
    const eg_element *element = element_of(b, e);
    const int np = element->np, dim = element->dim;
    static double r[3 * POINTS_MOST], w[POINTS_MOST], phi[POINTS_MOST * 343], result[343];
    double mean = 0, area[3][3], x[3];
    const int count = tensor_points(b->mesh->ctx, dim, element->degree + 2, r, w);
    TEST_OK(b->mesh->ctx, eg_element_evaluate(element, count, r, phi));
    memset(result, 0, sizeof result);
    for (int q = 0; q < count; q++) {
        double at[3] = {0};
        for (int d = 0; d < dim; d++)
            at[d] = r[d * count + q];
        const double jacobian = map_at(b->mesh, e, at, area, x);
        const double value = dot(phi + q * np, rate, np);
        mean += w[q] * jacobian / (1 << dim);
        for (int i = 0; i < np; i++)
            result[i] += w[q] * value / jacobian * phi[q * np + i];
    }
    for (int i = 0; i < np; i++)
        rate[i] = np == 1 ? rate[i] / mean : result[i];
}

/* --- tests ---------------------------------------------------------------------------------------- */

static void check_setting(eg_device *device, const setting *s)
{
    bench b = bench_new(device, s, 4);
    const bool low_storage = s->flags & LOW_STORAGE;
    eg_context *ctx = b.space->ctx;
    const eg_stage stage = {.time = TIME,
                            .dt = 0.01,
                            .low_storage = s->flags & LOW_STORAGE,
                            .a = 0.75,
                            .b = 0.5,
                            .c = 0.25,
                            .A = -0.5,
                            .B = 0.375};
    double *first, *current, *k, *poison;
    eg_field *first_field = random_field(b.space, 1, &first);
    eg_field *current_field = random_field(b.space, 2, &current);
    eg_field *k_field = random_field(b.space, 3, &k);
    eg_field *out_field = random_field(b.space, 4, &poison);
    const double nan = NAN;
    TEST_OK(ctx, eg_buffer_fill(out_field->data, 0, eg_buffer_count(out_field->data), &nan));
    TEST_OK(ctx, eg_advection_stage(b.op, &stage, first_field, current_field, k_field, out_field));
    const size_t count = eg_field_host_count(out_field);
    double *out = new_values(count), *k_out = new_values(count);
    TEST_OK(ctx, eg_field_to_host(out_field, out));
    TEST_OK(ctx, eg_field_to_host(k_field, k_out));
    for (int32_t e = 0; e < b.mesh->element_count; e += 1 + e % 3)
        for (int c = 0; c < COMPONENTS; c++) {
            const int np = element_of(&b, e)->np;
            const double *u = values_of(&b, current, e, c);
            const size_t at = (size_t)(u - current);
            double rate[343] = {0};
            add_volume(&b, e, c, u, rate);
            for (int f = 0; f < element_of(&b, e)->faces; f++)
                add_face(&b, e, f, c, current, rate);
            divide_by_mass(&b, e, rate);
            for (int i = 0; i < np; i++) {
                const double next = stage.A * k[at + (size_t)i] + stage.dt * rate[i];
                const double expected = low_storage
                                            ? u[i] + stage.B * next
                                            : stage.a * first[at + (size_t)i] + stage.b * u[i] +
                                                  stage.c * stage.dt * rate[i];
                assert_near(out[at + (size_t)i], expected, 2e-13, "mode", (size_t)i);
                if (low_storage) assert_near(k_out[at + (size_t)i], next, 5e-13, "k", (size_t)i);
            }
        }
    free(k_out);
    free(out);
    free(poison);
    free(k);
    free(current);
    free(first);
    eg_field_destroy(&out_field);
    eg_field_destroy(&k_field);
    eg_field_destroy(&current_field);
    eg_field_destroy(&first_field);
    bench_free(&b);
}

static void stage_body(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    for (size_t i = 0; i < EG_COUNT(settings); i++) {
        const setting *s = &settings[i];
        if (eg_device_get_info(device)->threads != 1 && !(s->flags & EVERYWHERE)) continue;
        now_at(device, real, "%s %s", s->name, eg_shape_get_info(s->shape)->name);
        check_setting(device, s);
    }
}

static void test_advection__stages_are_those_of_plain_loops(void **state)
{
    (void)state;
    on_every_device(stage_body);
}

/* A thousand steps of explicit Euler on a checkerboard of degrees. */
static void check_mass(eg_device *device, const setting *s)
{
    bench b = bench_new(device, s, 6);
    eg_context *ctx = b.space->ctx;
    double *values, *ignored, dt, before[COMPONENTS], after[COMPONENTS];
    eg_field *u = random_field(b.space, 1, &values), *next = random_field(b.space, 2, &ignored);
    eg_measure *measure = NULL;
    const size_t count = eg_field_host_count(u);
    for (size_t i = 0; i < count; i++)
        values[i] = 1 + 0.01 * values[i];
    TEST_OK(ctx, eg_field_from_host(u, values));
    TEST_OK(ctx, eg_measure_create(b.space, COMPONENTS, NULL, &measure));
    TEST_OK(ctx, eg_measure_integrals(measure, u, before));
    TEST_OK(ctx, eg_advection_stable_dt(b.op, 0, &dt));
    for (int step = 0; step < 1000; step++) {
        const eg_stage stage = {.dt = 0.05 * dt, .b = 1, .c = 1};
        eg_field *swap = u;
        TEST_OK(ctx, eg_advection_stage(b.op, &stage, u, u, NULL, next));
        u = next;
        next = swap;
    }
    TEST_OK(ctx, eg_measure_integrals(measure, u, after));
    for (int c = 0; c < COMPONENTS; c++) {
        assert_true(fabs(before[c]) > 0.1);
        assert_near(after[c] / before[c], 1, 1e-13, "mass", (size_t)c);
    }
    /* Something has happened. */
    TEST_OK(ctx, eg_field_to_host(u, ignored));
    double moved = 0;
    for (size_t i = 0; i < count; i++)
        moved = fmax(moved, fabs(ignored[i] - values[i]));
    assert_true(moved > 0.01 && moved < 10);
    eg_measure_destroy(&measure);
    free(ignored);
    free(values);
    eg_field_destroy(&next);
    eg_field_destroy(&u);
    bench_free(&b);
}

static void test_advection__keeps_mass_on_a_checkerboard_of_degrees(void **state)
{
    (void)state;
    static const setting conserving[] = {
        {"straight", EG_SHAPE_QUAD, 1, 0, true, false, 1, 4, {"1", "0.5"}, NULL, NULL, 0},
        {"graded", EG_SHAPE_QUAD, 3, 0, true, false, 2, 3, {"1", "0.5"}, NULL, NULL, 0},
        {"perturbed", EG_SHAPE_QUAD, 1, 0.2, true, false, 1, 3, {"1", "0.5"}, NULL, NULL, 0},
        {"perturbed", EG_SHAPE_HEX, 1, 0.1, true, false, 2, 3, {"1", "0.5", "1"}, NULL, NULL, 0},
    };
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(conserving); i++) {
        now_at(device, EG_F64, "%s", conserving[i].name);
        check_mass(device, &conserving[i]);
    }
    where[0] = '\0';
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* On squares of size h a step of 1/((2N + 1)(|bx| + |by|)/h). */
static void test_advection__stable_step_is_that_of_squares(void **state)
{
    (void)state;
    static const setting s = {"square", EG_SHAPE_QUAD,   1,    0,    true, false, 3,
                              3,        {"2 - t", "-x"}, NULL, NULL, 0};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    double dt;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    bench b = bench_new(device, &s, 6); /* of 1/6 by 1/5 */
    TEST_OK(ctx, eg_advection_stable_dt(b.op, 0, &dt));
    assert_near(dt, 1 / (7 * (2 * 6 + 1 * 5.0)), 1e-12, "dt", 0);
    TEST_OK(ctx, eg_advection_stable_dt(b.op, 1, &dt));
    assert_near(dt, 1 / (7 * (1 * 6 + 1 * 5.0)), 1e-12, "dt", 1);
    bench_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

static double stable_dt_of(eg_device *device, const setting *s, int cells)
{
    bench b = bench_new(device, s, cells);
    double dt;
    TEST_OK(b.space->ctx, eg_advection_stable_dt(b.op, 0, &dt));
    bench_free(&b);
    return dt;
}

/* Velocities that vanish at corners and centres, and are up to 1 between them. */
static void velocity_body(eg_device *device, eg_type real)
{
    static const setting plane = {"waves", EG_SHAPE_QUAD,        1,    0,    true, false, 5,
                                  5,       {"sin(4*pi*x)", "0"}, NULL, NULL, 0};
    static const setting solid = {
        "waves", EG_SHAPE_HEX, 1, 0, true, false, 2, 2, {"0", "0", "-sin(4*pi*y)"}, NULL, NULL, 0};
    if (real != EG_F64) return;
    now_at(device, real, "waves");
    assert_near(22 * stable_dt_of(device, &plane, 2), 1, 0.15, "dt", 0); /* 2 by 1 */
    assert_near(15 * stable_dt_of(device, &solid, 3), 1, 0.2, "dt", 1);  /* 3 by 2 by 3 */
}

static void test_advection__stable_step_sees_the_velocity_inside_elements(void **state)
{
    (void)state;
    on_every_device(velocity_body);
}

static void test_advection__velocities_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const setting wrong[] = {
        {"root", EG_SHAPE_QUAD, 1, 0, true, false, 2, 2, {"sqrt(x - 0.5)", "1"}, NULL, NULL, 0},
        {"pole", EG_SHAPE_QUAD, 1, 0, true, false, 2, 2, {"1/t", "1"}, NULL, NULL, 0},
        {"none", EG_SHAPE_QUAD, 1, 0, true, false, 2, 2, {"1", "log(t - 1)"}, NULL, NULL, 0},
    };
    /* Nothing is integrated where this one is infinite. */
    static const setting right = {"corner", EG_SHAPE_QUAD,      1,    0,    true, false, 2,
                                  2,        {"1", "1/(x + y)"}, NULL, NULL, 0};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        bench b = bench_new(device, &wrong[i], 4);
        double dt;
        now_at(device, EG_F64, "%s", wrong[i].name);
        TEST_FAILS(ctx, EG_ERROR_NUMERIC, "advection.velocity is not finite",
                   eg_advection_stable_dt(b.op, 0, &dt));
        bench_free(&b);
    }
    assert_true(stable_dt_of(device, &right, 4) > 0);
    where[0] = '\0';
    eg_device_close(&device);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_advection__stages_are_those_of_plain_loops),
        KERNEL_TEST(test_advection__keeps_mass_on_a_checkerboard_of_degrees),
        KERNEL_TEST(test_advection__stable_step_is_that_of_squares),
        KERNEL_TEST(test_advection__stable_step_sees_the_velocity_inside_elements),
        KERNEL_TEST(test_advection__velocities_that_are_not_finite_are_refused),
    };
    set_pocl_optimises(false); /* cli/advection.sh does, see devices.h */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
