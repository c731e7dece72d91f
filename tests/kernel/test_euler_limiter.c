/* The limiters of model `euler` on every device against plain loops: which elements are troubled and what
 * becomes of them, on equal, graded, turned and perturbed elements with boundaries; that means are kept,
 * linear solutions stay, and that density and pressure become positive. */
#include "kernel/devices.h"

#include "field.h"
#include "model/euler/operator.h"

#include <math.h>

#define GAMMA 1.3
#define TIME 0.3
#define THRESHOLD 1e-3
#define LEAST 1e-6
enum { SIDE_MAX = EG_EULER_DEGREE_MAX + 1, NP_MAX = SIDE_MAX * SIDE_MAX };

typedef struct setting {
    const char *name;
    eg_euler_method method;
    int degree;
    double grading, perturb;
    bool periodic, turned;
    eg_euler_limits limits;
    bool everywhere; /* on every device, not on one thread of the CPU alone */
} setting;

#define SLOPES                                                                                     \
    {                                                                                              \
        EG_EULER_MINMOD, THRESHOLD, false                                                          \
    }
#define BOTH                                                                                       \
    {                                                                                              \
        EG_EULER_MINMOD, THRESHOLD, true                                                           \
    }
#define POSITIVE                                                                                   \
    {                                                                                              \
        EG_EULER_UNLIMITED, 0, true                                                                \
    }

static const setting settings[] = {
    {"squares", EG_EULER_DG, 2, 1, 0, true, false, SLOPES, true},
    {"squares", EG_EULER_NDG, 1, 1, 0, true, false, SLOPES, false},
    {"squares", EG_EULER_SD, 3, 1, 0, true, false, BOTH, false},
    {"squares", EG_EULER_CPR, 2, 1, 0, true, false, POSITIVE, true},
    {"bounded squares", EG_EULER_CPR, 2, 1, 0, false, false, SLOPES, true},
    {"graded", EG_EULER_DG, 1, 2, 0, false, false, SLOPES, false},
    {"turned", EG_EULER_NDG, 3, 2, 0, false, true, SLOPES, false},
    {"perturbed", EG_EULER_NDG, 1, 1, 0.2, false, true, BOTH, true},
    {"perturbed", EG_EULER_DG, 4, 1, 0.2, false, true, BOTH, true},
    {"perturbed", EG_EULER_SD, 2, 1, 0.2, true, false, POSITIVE, false},
    {"perturbed", EG_EULER_CPR, 5, 1, 0.2, false, false, BOTH, false},
};

/* Behind boundaries; turned meshes have but the first. */
static const eg_euler_boundary types[] = {EG_EULER_WALL, EG_EULER_STATE, EG_EULER_OUTFLOW,
                                          EG_EULER_INFLOW};
static const char *const given_texts[4] = {"1 + 0.1*x", "0.4 - 0.1*y", "0.2*t", "0.9 + 0.1*x*y"};

typedef struct bench {
    const setting *s;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *given[4];
    eg_euler *op;
} bench;

static bench bench_new(eg_device *device, const setting *s)
{
    eg_context *ctx = eg_device_context(device);
    const eg_euler_scheme scheme = {.method = s->method};
    const eg_expression *given[EG_COUNT(types) * 4];
    bench b = {.s = s};
    TEST_OK(ctx, eg_comm_self(ctx, &b.comm));
    b.mesh = box_with(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                             .cells = {7, 6},
                                             .grading = {s->grading, s->grading},
                                             .perturb = s->perturb,
                                             .seed = 5,
                                             .periodic = {s->periodic, s->periodic}});
    if (s->turned) turn_elements(b.mesh, 11);
    for (int i = 0; i < 4; i++)
        b.given[i] = expression(ctx, given_texts[i]);
    for (size_t i = 0; i < EG_COUNT(given); i++)
        given[i] = types[i / 4] == EG_EULER_WALL || types[i / 4] == EG_EULER_OUTFLOW
                       ? NULL
                       : b.given[i % 4];
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){.basis = eg_euler_basis(scheme),
                                                     .degree = s->degree,
                                                     .lanes = eg_euler_lanes(device, s->degree)},
                                 &b.space));
    TEST_OK(ctx, eg_euler_create(b.space,
                                 &(eg_euler_options){.scheme = scheme,
                                                     .gamma = GAMMA,
                                                     .limits = s->limits,
                                                     .types = types,
                                                     .given = given},
                                 &b.op));
    return b;
}

static void bench_free(bench *b)
{
    eg_euler_destroy(&b->op);
    for (int i = 0; i < 4; i++)
        eg_expression_destroy(&b->given[i]);
    eg_space_destroy(&b->space);
    eg_mesh_destroy(&b->mesh);
    eg_comm_destroy(&b->comm);
}

/* --- plain loops ------------------------------------------------------------------------------------ */

static double pressure(const double *q)
{
    return (GAMMA - 1) * (q[3] - 0.5 * (q[1] * q[1] + q[2] * q[2]) / q[0]);
}

static void conserved_of(double rho, double u, double v, double p, double *q)
{
    q[0] = rho;
    q[1] = rho * u;
    q[2] = rho * v;
    q[3] = p / (GAMMA - 1) + 0.5 * rho * (u * u + v * v);
}

/* The place of a point of an element; returns J. */
static double place_of(const bench *b, int32_t e, const double *r, double *x)
{
    double nodes[8], slope[2][2] = {{0}};
    eg_mesh_element_nodes(b->mesh, e, nodes);
    x[0] = x[1] = 0;
    for (int i = 0; i < 4; i++) {
        const double sr = i & 1 ? 1 : -1, ss = i & 2 ? 1 : -1;
        for (int axis = 0; axis < 2; axis++) {
            x[axis] += 0.25 * (1 + sr * r[0]) * (1 + ss * r[1]) * nodes[2 * i + axis];
            slope[0][axis] += 0.25 * sr * (1 + ss * r[1]) * nodes[2 * i + axis];
            slope[1][axis] += 0.25 * ss * (1 + sr * r[0]) * nodes[2 * i + axis];
        }
    }
    return slope[0][0] * slope[1][1] - slope[0][1] * slope[1][0];
}

/* Σ w J f / Σ w J over the nodes of an element, where f is r_0 (which = 0), r_1 (1) or values. */
static double mean_of(const bench *b, int32_t e, int which, const double *values)
{
    const eg_element *line = b->space->groups[0].element->line;
    const int n = line->np;
    double sum = 0, all = 0;
    for (int i = 0; i < n * n; i++) {
        const double r[2] = {line->r[i % n], line->r[i / n]};
        double x[2];
        const double w = line->weights[i % n] * line->weights[i / n] * place_of(b, e, r, x);
        sum += w * (values ? values[i] : r[which]);
        all += w;
    }
    return sum / all;
}

static void means_of(const bench *b, const double *values, int32_t e, double *mean)
{
    const int np = b->space->groups[0].element->np;
    for (int c = 0; c < 4; c++)
        mean[c] = mean_of(b, e, 0, &values[(e * 4 + c) * np]);
}

/* The middle of the face at an end of d. */
static void middle_of(int d, int high, double *r)
{
    r[0] = r[1] = 0;
    r[d] = high ? 1 : -1;
}

static double half_length(const bench *b, int32_t e, int d, int high)
{
    const double centre[2] = {0, 0};
    double r[2], x[2], from[2];
    middle_of(d, high, r);
    place_of(b, e, r, x);
    place_of(b, e, centre, from);
    return hypot(x[0] - from[0], x[1] - from[1]);
}

/* The mean behind an end of an element; returns how far it is away, in half lengths of the element. */
static double behind_of(const bench *b, const double *values, int32_t e, int d, int high,
                        double *behind)
{
    const int face = eg_shape_face_at(EG_SHAPE_QUAD, d, high);
    const size_t at = (size_t)e * (size_t)b->mesh->face_stride + (size_t)face;
    const int32_t other = b->mesh->neighbour[at];
    const double mine = half_length(b, e, d, high);
    double mean[4], r[2], low[2], top[2], x[2], n[2];
    if (other >= 0) {
        bool other_high = false;
        const int other_d = eg_shape_face_direction(
            EG_SHAPE_QUAD, EG_FACE(b->mesh->neighbour_face[at]), &other_high);
        means_of(b, values, other, behind);
        return 1 + half_length(b, other, other_d, other_high) / mine;
    }
    means_of(b, values, e, mean);
    middle_of(d, high, r);
    place_of(b, e, r, x);
    r[1 - d] = -1;
    place_of(b, e, r, low);
    r[1 - d] = 1;
    place_of(b, e, r, top);
    const double size = hypot(top[0] - low[0], top[1] - low[1]);
    n[0] = (top[1] - low[1]) / size; /* across the face: the sign does not matter */
    n[1] = -(top[0] - low[0]) / size;
    const double across = mean[1] * n[0] + mean[2] * n[1];
    memcpy(behind, mean, sizeof mean);
    switch (types[-1 - other]) {
    case EG_EULER_WALL:
        behind[1] -= 2 * across * n[0];
        behind[2] -= 2 * across * n[1];
        return 2;
    case EG_EULER_OUTFLOW:
        return 2;
    default:
        conserved_of(1 + 0.1 * x[0], 0.4 - 0.1 * x[1], 0.2 * TIME, 0.9 + 0.1 * x[0] * x[1], behind);
        return 1;
    }
}

static double minmod(double a, double b)
{
    if (a > 0 && b > 0) return fmin(a, b);
    return a < 0 && b < 0 ? fmax(a, b) : 0;
}

/* Component c of an element at a point. */
static double value_at(const bench *b, const double *values, int32_t e, int c, const double *r)
{
    const eg_element *element = b->space->groups[0].element;
    double phi[NP_MAX], sum = 0;
    TEST_OK(b->space->ctx, eg_element_evaluate(element, 1, r, phi));
    for (int i = 0; i < element->np; i++)
        sum += phi[i] * values[(e * 4 + c) * element->np + i];
    return sum;
}

/* Point k of face points of an element, all four faces one after another. */
static void face_point(const bench *b, int k, double *r)
{
    const eg_element *line = b->space->groups[0].element->line;
    const int d = k / (2 * line->np);
    r[d] = k / line->np % 2 ? 1 : -1;
    r[1 - d] = line->r[k % line->np];
}

/* What slope limiting makes of an element: out [4][np]; true if it was troubled. */
static bool expect_slopes(const bench *b, const double *values, int32_t e, double *out)
{
    const eg_element *line = b->space->groups[0].element->line;
    const int n = line->np, np = n * n;
    double mean[4], behind[4][4], away[4];
    bool troubled = false;
    means_of(b, values, e, mean);
    for (int end = 0; end < 4; end++)
        away[end] = behind_of(b, values, e, end / 2, end % 2, behind[end]);
    memcpy(out, &values[e * 4 * np], (size_t)(4 * np) * sizeof *out);
    for (int k = 0; k < 4 * n; k++)
        for (int c = 0; c < 4; c++) {
            const int end = k / n, opposite = end ^ 1;
            double r[2];
            face_point(b, k, r);
            const double own = value_at(b, values, e, c, r) - mean[c];
            const double edge =
                minmod(own, minmod(behind[end][c] - mean[c], mean[c] - behind[opposite][c]));
            assert_true(fabs(fabs(own - edge) - THRESHOLD) > 1e-11); /* else rounding decides */
            troubled = troubled || fabs(own - edge) > THRESHOLD;
        }
    if (!troubled) return false;
    for (int c = 0; c < 4; c++) {
        double slope[2];
        for (int d = 0; d < 2; d++)
            slope[d] = minmod((behind[2 * d + 1][c] - mean[c]) / away[2 * d + 1],
                              (mean[c] - behind[2 * d][c]) / away[2 * d]);
        for (int i = 0; i < np; i++)
            out[c * np + i] = mean[c] + (line->r[i % n] - mean_of(b, e, 0, NULL)) * slope[0] +
                              (line->r[i / n] - mean_of(b, e, 1, NULL)) * slope[1];
    }
    return true;
}

/* A state of an element [4][np]: node k, or behind them face point k - np. */
static void state_of(const bench *b, const double *of, int k, double *q)
{
    const int np = b->space->groups[0].element->np;
    double r[2];
    for (int c = 0; c < 4; c++) {
        if (k >= np) face_point(b, k - np, r);
        q[c] = k < np ? of[c * np + k] : value_at(b, of, 0, c, r);
    }
}

static double scale_to(double mean, double lowest)
{
    return lowest < LEAST * mean ? mean * (1 - LEAST) / (mean - lowest) : 1;
}

/* What becomes of an element [4][np] so that it is positive; true if it was not. */
static bool expect_positive(const bench *b, const double *mean, double *of)
{
    const int n = b->space->groups[0].element->line->np, np = n * n, points = np + 4 * n;
    double lowest = INFINITY, q[4];
    for (int k = 0; k < points; k++) {
        state_of(b, of, k, q);
        lowest = fmin(lowest, q[0]);
    }
    const double density = scale_to(mean[0], lowest);
    for (int i = 0; i < np; i++)
        of[i] = mean[0] + density * (of[i] - mean[0]);
    lowest = INFINITY;
    for (int k = 0; k < points; k++) {
        state_of(b, of, k, q);
        lowest = fmin(lowest, pressure(q));
    }
    const double all = scale_to(pressure(mean), lowest);
    for (int i = 0; i < 4 * np; i++)
        of[i] = mean[i / np] + all * (of[i] - mean[i / np]);
    return density < 1 || all < 1;
}

/* --- tests ------------------------------------------------------------------------------------------ */

/* Most elements are nearly uniform, some are rough; to be made positive, so that some of their densities
 * and pressures are not. */
static double *rough_values(const bench *b)
{
    const int np = b->space->groups[0].element->np;
    const double wild = b->s->limits.positivity ? 1.1 : 0.05;
    uint64_t seed = 3;
    double *values = new_values((size_t)b->mesh->element_count * 4 * (size_t)np);
    for (int32_t e = 0; e < b->mesh->element_count; e++) {
        const double rough = e % 4 == 1 ? wild : 1e-5;
        for (int i = 0; i < np; i++) {
            double q[4];
            conserved_of(1 + rough * test_random(&seed), 0.3 + 0.1 * rough * test_random(&seed),
                         -0.2 + 0.1 * rough * test_random(&seed), 0.95 + rough * test_random(&seed),
                         q);
            for (int c = 0; c < 4; c++)
                values[(e * 4 + c) * np + i] = q[c];
        }
    }
    return values;
}

static void check_traces(const bench *b, eg_field *limited)
{
    eg_context *ctx = b->space->ctx;
    const eg_stage stage = {.time = TIME, .dt = 0.01, .a = 0.75, .b = 0.5, .c = 0.25};
    const size_t count = eg_field_host_count(limited);
    double *kept = new_values(count), *fresh = new_values(count);
    eg_field *out = NULL;
    TEST_OK(ctx, eg_field_create(b->space, 4, EG_F64, &out));
    TEST_OK(ctx, eg_euler_stage(b->op, &stage, limited, limited, NULL, out));
    TEST_OK(ctx, eg_field_to_host(out, kept));
    TEST_OK(ctx, eg_euler_begin(b->op, limited));
    TEST_OK(ctx, eg_euler_stage(b->op, &stage, limited, limited, NULL, out));
    TEST_OK(ctx, eg_field_to_host(out, fresh));
    for (size_t i = 0; i < count; i++)
        assert_near(kept[i], fresh[i], 1e-10 * (1 + fabs(fresh[i])), "traces", i);
    eg_field_destroy(&out);
    free(fresh);
    free(kept);
}

static void check_setting(eg_device *device, const setting *s)
{
    bench b = bench_new(device, s);
    eg_context *ctx = b.space->ctx;
    const int np = b.space->groups[0].element->np;
    int troubled = 0, scaled = 0;
    double *values = rough_values(&b),
           *found = new_values((size_t)(b.mesh->element_count * 4 * np));
    eg_field *field = NULL;
    TEST_OK(ctx, eg_field_create(b.space, 4, EG_F64, &field));
    TEST_OK(ctx, eg_field_from_host(field, values));
    TEST_OK(ctx, eg_euler_begin(b.op, field));
    TEST_OK(ctx, eg_euler_limit(b.op, TIME, field));
    TEST_OK(ctx, eg_field_to_host(field, found));
    for (int32_t e = 0; e < b.mesh->element_count; e++) {
        double expected[4 * NP_MAX], before[4], after[4];
        bool touched = false, positive = false;
        means_of(&b, values, e, before);
        means_of(&b, found, e, after);
        memcpy(expected, &values[e * 4 * np], (size_t)(4 * np) * sizeof *expected);
        if (s->limits.method == EG_EULER_MINMOD) touched = expect_slopes(&b, values, e, expected);
        assert_true(before[0] > 0 && pressure(before) > 0);
        if (s->limits.positivity) positive = expect_positive(&b, before, expected);
        troubled += touched;
        scaled += positive;
        for (int c = 0; c < 4; c++)
            assert_near(after[c], before[c], 1e-14 * (1 + fabs(before[c])), "a mean", (size_t)e);
        for (int i = 0; i < 4 * np; i++) {
            const double value = found[e * 4 * np + i];
            if (!touched && !positive)
                assert_true(value == values[e * 4 * np + i]); /* to the bit */
            else
                assert_near(value, expected[i], 1e-11, s->name, (size_t)(e * 4 * np + i));
        }
        for (int k = 0; s->limits.positivity && k < np + 4 * (s->degree + 1); k++) {
            double q[4];
            state_of(&b, &found[e * 4 * np], k, q);
            assert_true(q[0] > 0 && pressure(q) > 0);
        }
    }
    if (s->limits.method == EG_EULER_MINMOD)
        assert_true(troubled > 3 && troubled < b.mesh->element_count - 3);
    else
        assert_true(scaled > 3 && scaled < b.mesh->element_count - 3);
    check_traces(&b, field);
    eg_field_destroy(&field);
    free(found);
    free(values);
    bench_free(&b);
}

static void check_everywhere(eg_device *device, eg_type real)
{
    for (size_t i = 0; i < EG_COUNT(settings); i++) {
        if (real != EG_F64 || !settings[i].everywhere) continue;
        set_pocl_optimises(&settings[i] == settings); /* but one */
        now_at(device, real, "%s, setting %zu", settings[i].name, i);
        check_setting(device, &settings[i]);
    }
}

static void test_euler_limiter__limits_on_every_device(void **state)
{
    (void)state;
    on_every_device(check_everywhere);
}

static void check_on_cpu(eg_device *device)
{
    for (size_t i = 0; i < EG_COUNT(settings); i++) {
        if (settings[i].everywhere) continue;
        now_at(device, EG_F64, "%s, setting %zu", settings[i].name, i);
        check_setting(device, &settings[i]);
    }
}

static void test_euler_limiter__limits_on_a_cpu(void **state)
{
    (void)state;
    on_one_core(check_on_cpu);
}

/* Along x and y on rectangles, whatever is marked: away from boundaries, of which nothing is known. */
static void check_linear(eg_device *device)
{
    static const setting linear = {
        "graded", EG_EULER_SD, 3, 2, 0, false, false, {EG_EULER_MINMOD, 0, false}, false};
    bench b = bench_new(device, &linear);
    eg_context *ctx = b.space->ctx;
    const eg_element *element = b.space->groups[0].element;
    const int n = element->line->np, np = n * n;
    const size_t count = (size_t)(b.mesh->element_count * 4 * np);
    double *values = new_values(count), *found = new_values(count);
    eg_field *field = NULL;
    for (int32_t e = 0; e < b.mesh->element_count; e++)
        for (int i = 0; i < np; i++) {
            const double r[2] = {element->line->r[i % n], element->line->r[i / n]};
            double x[2];
            place_of(&b, e, r, x);
            for (int c = 0; c < 4; c++)
                values[(e * 4 + c) * np + i] = 2 + c + (1 + 0.1 * c) * x[0] - 0.7 * x[1];
        }
    TEST_OK(ctx, eg_field_create(b.space, 4, EG_F64, &field));
    TEST_OK(ctx, eg_field_from_host(field, values));
    TEST_OK(ctx, eg_euler_begin(b.op, field));
    TEST_OK(ctx, eg_euler_limit(b.op, TIME, field));
    TEST_OK(ctx, eg_field_to_host(field, found));
    for (int32_t e = 0; e < b.mesh->element_count; e++) {
        bool inside = true;
        for (int f = 0; f < 4; f++)
            inside = inside && b.mesh->neighbour[e * b.mesh->face_stride + f] >= 0;
        for (int i = 0; inside && i < 4 * np; i++)
            assert_near(found[e * 4 * np + i], values[e * 4 * np + i], 1e-13, "linear", (size_t)i);
    }
    eg_field_destroy(&field);
    free(found);
    free(values);
    bench_free(&b);
}

static void test_euler_limiter__linear_solutions_stay(void **state)
{
    (void)state;
    on_one_core(check_linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_euler_limiter__limits_on_every_device),
        KERNEL_TEST(test_euler_limiter__limits_on_a_cpu),
        KERNEL_TEST(test_euler_limiter__linear_solutions_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
