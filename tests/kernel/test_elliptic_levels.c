/* p-multigrid of model `elliptic`: the way between degrees, inverses of diagonal blocks, cycles that
 * are symmetric and positive, and how many iterations the preconditioners take. */
#include "elliptic.h"
#include "kernel/devices.h"

#include "model/elliptic/blocks.h"
#include "model/elliptic/degrees.h"
#include "model/elliptic/precondition.h"

#define D EG_ELLIPTIC_DIRICHLET
#define N EG_ELLIPTIC_NEUMANN
#define R EG_ELLIPTIC_ROBIN

static const elliptic_case small = {
    "small",        EG_SHAPE_TRI,  .cells = {3, 3},      .height = 1,
    .perturb = 0.3, .lambda = 0.7, .types = {D, N, D, N}};
static const elliptic_case half_bent = {"bent in part", EG_SHAPE_TRI,          .cells = {4, 3},
                                        .order = 3,     .height = 1,           .in_part = true,
                                        .lambda = 0.3,  .types = {D, N, R, N}, .robin = "1"};

/* A problem and a vector of its space besides. */
typedef struct setting {
    eg_comm *comm;
    elliptic_problem p;
    eg_vectors *vectors;
} setting;

static setting setting_new(eg_device *device, const elliptic_case *c, int degree, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    setting s = {0};
    TEST_OK(ctx, eg_comm_self(ctx, &s.comm));
    now_at(device, real, "%s, degree %d", c->name, degree);
    s.p = elliptic_on(device, s.comm, elliptic_mesh(ctx, c), c, degree, real);
    TEST_OK(ctx, eg_vectors_create(s.p.space, 1, real, &s.vectors));
    return s;
}

static void setting_free(setting *s)
{
    eg_vectors_destroy(&s->vectors);
    elliptic_free(&s->p);
    eg_comm_destroy(&s->comm);
}

/* out = B in. */
static void multiply(elliptic_problem *p, const eg_linear *B, const double *in, double *out)
{
    TEST_OK(p->ctx, eg_field_from_host(p->u, in));
    TEST_OK(p->ctx, B->apply(B->user, p->u->data, p->y->data));
    TEST_OK(p->ctx, eg_field_to_host(p->y, out));
}

/* --- between degrees --------------------------------------------------------------------------- */

/* The values of a polynomial on a space. */
static void interpolate(eg_field *field, const char *text)
{
    eg_context *ctx = field->space->ctx;
    eg_expression *f = expression(ctx, text);
    eg_function *function = NULL;
    TEST_OK(ctx, eg_function_create(field->space, (const eg_expression *[]){f}, 1, &function));
    TEST_OK(ctx, eg_function_interpolate(function, 0, field));
    eg_function_destroy(&function);
    eg_expression_destroy(&f);
}

static void check_transfer(eg_device *device, const elliptic_case *c, int high, int low,
                           eg_type real)
{
    const double tolerance = 20 * epsilon(real);
    setting s = setting_new(device, c, high, real);
    eg_context *ctx = s.p.ctx;
    eg_space *lower = NULL;
    eg_field *coarse = NULL;
    eg_degrees *degrees = NULL;
    TEST_OK(ctx, eg_space_create(device, s.comm, s.p.mesh,
                                 &(eg_space_options){.basis = EG_BASIS_LOBATTO,
                                                     .degree = low,
                                                     .lanes = s.p.space->groups[0].lanes},
                                 &lower));
    TEST_OK(ctx, eg_field_create(lower, 1, real, &coarse));
    TEST_OK(ctx, eg_degrees_create(s.p.space, lower, real, &degrees));
    const eg_transfer transfer = eg_degrees_transfer(degrees);
    const size_t few = eg_field_host_count(coarse);
    double *f = random_values(s.p.count, 3), *got = random_values(s.p.count, 0);
    double *want = random_values(s.p.count, 0), *v = random_values(few, 4);
    double *w = random_values(few, 0);

    /* A polynomial of the lower degree, added to what is there. */
    interpolate(coarse, low == 1 ? "1 + 2*x - y" : "1 + x*y - y*y");
    interpolate(s.p.y, low == 1 ? "1 + 2*x - y" : "1 + x*y - y*y");
    TEST_OK(ctx, eg_field_to_host(s.p.y, want));
    TEST_OK(ctx, eg_field_from_host(s.p.u, f));
    TEST_OK(ctx, transfer.add_correction(transfer.user, coarse->data, s.p.u->data));
    TEST_OK(ctx, eg_field_to_host(s.p.u, got));
    if (!c->in_part) /* bent elements have no such polynomials */
        for (size_t i = 0; i < s.p.count; i++)
            assert_near(got[i], f[i] + want[i], 4 * tolerance, "sum", i);

    /* f·(P v) = (Pᵀ f)·v */
    TEST_OK(ctx, eg_field_from_host(coarse, v));
    TEST_OK(ctx, eg_vectors_fill(s.vectors, 0, s.p.y->data));
    TEST_OK(ctx, transfer.add_correction(transfer.user, coarse->data, s.p.y->data));
    TEST_OK(ctx, eg_field_to_host(s.p.y, got));
    TEST_OK(ctx, eg_field_from_host(s.p.u, f));
    TEST_OK(ctx, transfer.restrict_residual(transfer.user, s.p.u->data, coarse->data));
    TEST_OK(ctx, eg_field_to_host(coarse, w));
    const double scale = sqrt(dot_of(s.p.count, f, f) * dot_of(s.p.count, got, got));
    assert_near(dot_of(few, w, v), dot_of(s.p.count, f, got), tolerance * scale, "transpose", 0);
    assert_true(scale > 1);

    free(w);
    free(v);
    free(want);
    free(got);
    free(f);
    eg_degrees_destroy(&degrees);
    eg_field_destroy(&coarse);
    eg_space_destroy(&lower);
    setting_free(&s);
}

static void transfers_body(eg_device *device, eg_type real)
{
    set_pocl_optimises(false);
    check_transfer(device, &small, 4, 2, real);
    if (!eg_device_get_info(device)->is_gpu) {
        check_transfer(device, &small, 3, 1, real);
        check_transfer(device, &half_bent, 2, 1, real);
    }
    set_pocl_optimises(true);
}

static void test_levels__degrees_interpolate_and_back_is_the_transpose(void **state)
{
    (void)state;
    on_every_device(transfers_body);
}

/* --- diagonal blocks --------------------------------------------------------------------------- */

/* A step of smoothing is what its parts say. */
static void check_smoothing(setting *s, const eg_linear *B, const double *Br, double tolerance)
{
    const double a = 0.25, c = 1.5, keep = 1, w = 0.75;
    elliptic_problem *p = &s->p;
    double *r = random_values(p->count, 21), *d = random_values(p->count, 22);
    double *x = random_values(p->count, 23), *got_d = random_values(p->count, 0);
    double *got_x = random_values(p->count, 0);
    eg_field *other = NULL;
    TEST_OK(p->ctx, eg_field_create(p->space, 1, p->u->type, &other));
    for (int fresh = 0; fresh < 2; fresh++) {
        TEST_OK(p->ctx, eg_field_from_host(other, r));
        TEST_OK(p->ctx, eg_field_from_host(p->u, d));
        TEST_OK(p->ctx, eg_field_from_host(p->y, x));
        if (fresh) TEST_OK(p->ctx, eg_vectors_fill(s->vectors, NAN, p->u->data));
        if (fresh) TEST_OK(p->ctx, eg_vectors_fill(s->vectors, NAN, p->y->data));
        TEST_OK(p->ctx, B->smooth(B->user, fresh ? 0 : a, c, other->data, p->u->data,
                                  fresh ? 0 : keep, w, p->y->data));
        TEST_OK(p->ctx, eg_field_to_host(p->u, got_d));
        TEST_OK(p->ctx, eg_field_to_host(p->y, got_x));
        for (size_t i = 0; i < p->count; i++) {
            const double step = (fresh ? 0 : a * d[i]) + c * Br[i];
            assert_near(got_d[i], step, tolerance, "d", i);
            assert_near(got_x[i], (fresh ? 0 : keep * x[i]) + w * step, tolerance, "x", i);
        }
    }
    eg_field_destroy(&other);
    free(got_x);
    free(got_d);
    free(x);
    free(d);
    free(r);
}

/* The blocks of the form, times what B gives, are what B was given. */
static void check_blocks(eg_device *device, const elliptic_case *c, int degree, eg_type real)
{
    setting s = setting_new(device, c, degree, real);
    elliptic_problem *p = &s.p;
    const size_t np = (size_t)p->space->groups[0].element->np;
    double *A = elliptic_form(p), *r = random_values(p->count, 21);
    double *z = random_values(p->count, 0);
    eg_blocks *blocks = NULL;
    TEST_OK(p->ctx, eg_blocks_create(p->A, s.vectors, EG_BLOCKS_WHOLE, &blocks));
    const eg_linear B = eg_blocks_linear(blocks);
    multiply(p, &B, r, z);
    for (size_t i = 0; i < p->count; i++) {
        const size_t first = i / np * np;
        assert_near(dot_of(np, &A[i * p->count + first], &z[first]), r[i],
                    real == EG_F64 ? 1e-10 : 2e-3, "A B r", i);
    }
    check_smoothing(&s, &B, z, 100 * epsilon(real));
    eg_blocks_destroy(&blocks);
    free(z);
    free(r);
    free(A);
    setting_free(&s);
}

/* The diagonal of the form, times what B gives, is what B was given. */
static void check_diagonal(eg_device *device, const elliptic_case *c, int degree, eg_type real)
{
    setting s = setting_new(device, c, degree, real);
    elliptic_problem *p = &s.p;
    double *A = elliptic_form(p), *r = random_values(p->count, 21);
    double *z = random_values(p->count, 0), most = 0;
    eg_blocks *blocks = NULL;
    TEST_OK(p->ctx, eg_blocks_create(p->A, s.vectors, EG_BLOCKS_DIAGONAL, &blocks));
    const eg_linear B = eg_blocks_linear(blocks);
    multiply(p, &B, r, z);
    for (size_t i = 0; i < p->count; i++) {
        assert_near(A[i * p->count + i] * z[i], r[i], real == EG_F64 ? 1e-12 : 1e-4, "A B r", i);
        most = fmax(most, fabs(z[i]));
    }
    check_smoothing(&s, &B, z, 100 * epsilon(real) * fmax(1, most));
    eg_blocks_destroy(&blocks);
    free(z);
    free(r);
    free(A);
    setting_free(&s);
}

static void diagonal_body(eg_device *device, eg_type real)
{
    set_pocl_optimises(false);
    check_diagonal(device, &small, 3, real);
    if (!eg_device_get_info(device)->is_gpu) check_diagonal(device, &half_bent, 2, real);
    set_pocl_optimises(true);
}

static void test_levels__the_diagonal_is_that_of_the_form(void **state)
{
    (void)state;
    on_every_device(diagonal_body);
}

static void blocks_body(eg_device *device, eg_type real)
{
    set_pocl_optimises(false);
    check_blocks(device, &small, 3, real);
    if (!eg_device_get_info(device)->is_gpu) check_blocks(device, &half_bent, 2, real);
    set_pocl_optimises(true);
}

static void test_levels__blocks_are_inverses_of_those_of_the_form(void **state)
{
    (void)state;
    on_every_device(blocks_body);
}

/* --- cycles ------------------------------------------------------------------------------------ */

static const elliptic_case square = {"square", EG_SHAPE_TRI, .cells = {8, 8}, .height = 1,
                                     .perturb = 0.3};
static const elliptic_case quads = {"quadrilaterals", EG_SHAPE_QUAD,  .cells = {6, 6},
                                    .height = 1,      .perturb = 0.2, .types = {D, N, D, N}};
static const elliptic_case bent = {"bent",      EG_SHAPE_TRI, .cells = {5, 5},       .order = 2,
                                   .height = 1, .lambda = 1,  .types = {D, N, D, R}, .robin = "1"};

/* u·B v = v·B u, and u·B u > 0, to what single precision has. */
static void check_symmetry(eg_device *device, const elliptic_case *c, int degree,
                           eg_precondition_kind kind)
{
    setting s = setting_new(device, c, degree, EG_F64);
    eg_precondition_options options = eg_precondition_defaults(kind);
    eg_precondition *precondition = NULL;
    options.levels.amg.kind = EG_AMG_SMOOTHED; /* cycles that do not depend on what they get */
    TEST_OK(s.p.ctx, eg_precondition_create(s.p.A, s.vectors, &options, &precondition));
    const eg_linear *B = eg_precondition_linear(precondition);
    double *u = random_values(s.p.count, 5), *v = random_values(s.p.count, 6);
    double *Bu = random_values(s.p.count, 0), *Bv = random_values(s.p.count, 0);
    multiply(&s.p, B, u, Bu);
    multiply(&s.p, B, v, Bv);
    const double scale = sqrt(dot_of(s.p.count, u, u) * dot_of(s.p.count, Bv, Bv));
    assert_near(dot_of(s.p.count, v, Bu), dot_of(s.p.count, u, Bv), 1e-5 * scale, "symmetry", 0);
    assert_true(dot_of(s.p.count, u, Bu) > 0);
    free(Bv);
    free(Bu);
    free(v);
    free(u);
    eg_precondition_destroy(&precondition);
    setting_free(&s);
}

static void symmetry_body(eg_device *device)
{
    check_symmetry(device, &square, 4, EG_PRECONDITION_PMG_CG_AMG);
    check_symmetry(device, &square, 3, EG_PRECONDITION_PMG_AMG);
    check_symmetry(device, &bent, 2, EG_PRECONDITION_PMG_CG_AMG);
    check_symmetry(device, &square, 4, EG_PRECONDITION_BLOCKS);
    check_symmetry(device, &bent, 2, EG_PRECONDITION_BLOCKS);
}

static void test_levels__cycle_is_symmetric_and_positive(void **state)
{
    (void)state;
    on_one_core(symmetry_body);
}

/* Of conjugate gradients to 1e-8, for a smooth source. */
static int count_iterations(setting *s, const eg_precondition_options *options)
{
    eg_context *ctx = s->p.ctx;
    eg_expression *f = expression(ctx, "1 + x*y - 2*x*x");
    eg_precondition *precondition = NULL;
    eg_pcg *pcg = NULL;
    eg_krylov_result result;
    TEST_OK(ctx, eg_precondition_create(s->p.A, s->vectors, options, &precondition));
    TEST_OK(ctx, eg_pcg_create(s->vectors, eg_elliptic_linear(s->p.A),
                               eg_precondition_linear(precondition),
                               &(eg_krylov_options){.relative = 1e-8, .zero_guess = true}, &pcg));
    TEST_OK(ctx, eg_elliptic_load(s->p.A, &(eg_elliptic_data){.source = f}, 0, s->p.y->data));
    TEST_OK(ctx, eg_pcg_solve(pcg, s->p.y->data, s->p.u->data, &result));
    assert_true(result.outcome == EG_KRYLOV_CONVERGED || result.outcome == EG_KRYLOV_ROUNDING);
    eg_pcg_destroy(&pcg);
    eg_precondition_destroy(&precondition);
    eg_expression_destroy(&f);
    return result.iterations;
}

static void expect_iterations(eg_device *device, const elliptic_case *c, int degree,
                              eg_precondition_kind kind, int most)
{
    setting s = setting_new(device, c, degree, EG_F64);
    eg_precondition_options options = eg_precondition_defaults(kind);
    assert_in_range(count_iterations(&s, &options), 1, most);
    setting_free(&s);
}

/* Where λ is large as in an implicit step, on elements of different sizes: blocks know both. */
static void screened_body(eg_device *device)
{
    static const elliptic_case screened = {"screened",    EG_SHAPE_TRI,    .cells = {12, 12},
                                           .height = 0.3, .perturb = 0.35, .lambda = 3000};
    int iterations[2];
    for (int i = 0; i < 2; i++) {
        setting s = setting_new(device, &screened, 4, EG_F64);
        const eg_precondition_options options =
            eg_precondition_defaults(i == 0 ? EG_PRECONDITION_MASS : EG_PRECONDITION_BLOCKS);
        iterations[i] = count_iterations(&s, &options);
        setting_free(&s);
    }
    assert_in_range(3 * iterations[1], 1, 2 * iterations[0]);
}

static void
test_elliptic_levels__blocks_need_two_thirds_of_the_iterations_of_mass_at_most(void **state)
{
    (void)state;
    on_one_core(screened_body);
}

static void counts_body(eg_device *device)
{
    /* Bodies that meet in their corners alone. */
    static const elliptic_case jumps = {"k that jumps", EG_SHAPE_TRI, .cells = {24, 24},
                                        .height = 1, .k = "sin(4*pi*x)*sin(4*pi*y) > 0 ? 1e6 : 1"};
    /* Bodies that meet nothing. */
    static const elliptic_case bodies = {"isolated bodies", EG_SHAPE_TRI, .cells = {64, 64},
                                         .height = 1,
                                         .k = "cos(4*pi*x) < 0 && cos(4*pi*y) < 0 ? 1e6 : 1"};
    static const elliptic_case even = {"even", EG_SHAPE_TRI, .cells = {8, 8}, .height = 1,
                                       .perturb = 0.1};
    static const elliptic_case flat = {"stretched", EG_SHAPE_TRI, .cells = {8, 8}, .height = 0.05,
                                       .perturb = 0.2};
    for (int degree = 1; degree <= 4; degree *= 2)
        expect_iterations(device, &square, degree, EG_PRECONDITION_PMG_CG_AMG, 18);
    expect_iterations(device, &jumps, 2, EG_PRECONDITION_PMG_CG_AMG, 22);
    expect_iterations(device, &bodies, 1, EG_PRECONDITION_PMG_CG_AMG, 16);
    expect_iterations(device, &flat, 2, EG_PRECONDITION_PMG_CG_AMG, 36);
    expect_iterations(device, &quads, 2, EG_PRECONDITION_PMG_CG_AMG, 20);
    expect_iterations(device, &bent, 2, EG_PRECONDITION_PMG_CG_AMG, 14);
    expect_iterations(device, &even, 4, EG_PRECONDITION_PMG_AMG, 32);
    expect_iterations(device, &square, 6, EG_PRECONDITION_PMG_AMG, 48);
    expect_iterations(device, &jumps, 2, EG_PRECONDITION_PMG_AMG, 44);
    expect_iterations(device, &bent, 3, EG_PRECONDITION_PMG_AMG, 32);
    expect_iterations(device, &even, 2, EG_PRECONDITION_AMG, 40);
}

static void test_levels__iterations_stay_few(void **state)
{
    (void)state;
    on_one_core(counts_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_elliptic_levels__blocks_need_two_thirds_of_the_iterations_of_mass_at_most),
        KERNEL_TEST(test_levels__degrees_interpolate_and_back_is_the_transpose),
        KERNEL_TEST(test_levels__blocks_are_inverses_of_those_of_the_form),
        KERNEL_TEST(test_levels__the_diagonal_is_that_of_the_form),
        KERNEL_TEST(test_levels__cycle_is_symmetric_and_positive),
        KERNEL_TEST(test_levels__iterations_stay_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
