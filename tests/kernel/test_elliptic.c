/* The operator of model `elliptic`: against the bilinear form assembled on the host, symmetric
 * on stretched and bent meshes, positive, exact for polynomials, the same on every device.
 * Positive up to degree 6; of all degrees where EAGRE_TEST_LONG is set. */
#include "elliptic.h"
#include "kernel/devices.h"

#include "base/dense.h"
#include "model/elliptic/mass.h"

#define D EG_ELLIPTIC_DIRICHLET
#define N EG_ELLIPTIC_NEUMANN
#define R EG_ELLIPTIC_ROBIN

#define TRIANGLES .shape = EG_SHAPE_TRI, .cells = {3, 3}

static const elliptic_case straight = {"straight",     TRIANGLES,     .height = 1,
                                       .perturb = 0.3, .lambda = 0.7, .types = {D, N, D, N}};
static const elliptic_case pure = {"without a mass term", TRIANGLES, .height = 0.05, .perturb = 0.3,
                                   .types = {D, D, N, D}};
static const elliptic_case turned = {"turned and stretched", TRIANGLES,      .height = 0.05,
                                     .perturb = 0.3,         .turned = true, .lambda = 2};
static const elliptic_case periodic = {"periodic",     TRIANGLES,        .height = 1,
                                       .perturb = 0.2, .periodic = true, .types = {D, D}};
static const elliptic_case constant = {"a constant k",    TRIANGLES,     .height = 1,
                                       .perturb = 0.3,    .lambda = 0.7, .k = "2.5",
                                       .types = {D, N, D}};
static const elliptic_case by_points = {"by quadrature",
                                        TRIANGLES,
                                        .height = 1,
                                        .perturb = 0.3,
                                        .lambda = 0.7,
                                        .types = {D, N, D, N},
                                        .form = EG_ELLIPTIC_QUADRATURE};
static const elliptic_case chained = {"in chains",
                                      TRIANGLES,
                                      .height = 0.5,
                                      .perturb = 0.3,
                                      .turned = true,
                                      .lambda = 0.7,
                                      .form = EG_ELLIPTIC_CHAINS};
static const elliptic_case mirrored = {
    "in even and odd parts", TRIANGLES,  .height = 0.5,         .perturb = 0.3,
    .lambda = 0.7,           .k = "2.5", .types = {D, N, D, N}, .form = EG_ELLIPTIC_MIRRORED};
static const elliptic_case mirrored_pure = {
    "in even and odd parts, turned", TRIANGLES, .height = 0.05, .perturb = 0.3, .turned = true,
    .form = EG_ELLIPTIC_MIRRORED};
static const elliptic_case blocked = {
    "in blocks",   TRIANGLES,  .height = 0.5,         .perturb = 0.3,
    .lambda = 0.7, .k = "2.5", .types = {D, N, D, N}, .form = EG_ELLIPTIC_BLOCKS};
static const elliptic_case blocked_pure = {"in blocks, turned", TRIANGLES,
                                           .height = 0.05,      .perturb = 0.3,
                                           .turned = true,      .form = EG_ELLIPTIC_BLOCKS};
static const elliptic_case varying = {"k that varies",       TRIANGLES,       .height = 0.05,
                                      .perturb = 0.3,        .lambda = 0.7,   .k = "1 + x*x",
                                      .types = {D, N, R, D}, .robin = "2 + x"};
static const elliptic_case bent = {
    "bent", TRIANGLES, .order = 3, .height = 1, .lambda = 1, .types = {D, N, D, R}, .robin = "1"};
static const elliptic_case half_bent = {"bent in part", EG_SHAPE_TRI,         .cells = {4, 3},
                                        .order = 3,     .height = 1,          .in_part = true,
                                        .lambda = 0.3,  .types = {D, N, D, N}};
static const elliptic_case bent_varying = {"bent, with k that varies", TRIANGLES, .order = 2,
                                           .height = 0.1, .k = "2 + sin(x)*y"};
static const elliptic_case quadrilaterals = {
    "quadrilaterals", .shape = EG_SHAPE_QUAD, .cells = {3, 2}, .height = 1,
    .perturb = 0.2,   .lambda = 0.5,          .turned = true};
static const elliptic_case tetrahedra = {"tetrahedra",  .shape = EG_SHAPE_TET, .cells = {1, 1, 1},
                                         .height = 1,   .perturb = 0.2,        .lambda = 0.5,
                                         .turned = true};

/* --- against the form -------------------------------------------------------------------------- */

/* Fails unless b - A u is what it should be, given Au and the u it is of. */
static void check_residual(elliptic_problem *p, const double *u, const double *Au, double tolerance)
{
    eg_field *b = NULL;
    double *values = random_values(p->count, 9), *got = random_values(p->count, 0);
    TEST_OK(p->ctx, eg_field_create(p->space, 1, p->u->type, &b));
    TEST_OK(p->ctx, eg_field_from_host(b, values));
    TEST_OK(p->ctx, eg_field_from_host(p->u, u));
    TEST_OK(p->ctx, eg_elliptic_residual(p->A, b->data, p->u->data, p->y->data));
    TEST_OK(p->ctx, eg_field_to_host(p->y, got));
    for (size_t i = 0; i < p->count; i++)
        assert_near(got[i], values[i] - Au[i], tolerance, "b - A u", i);
    free(got);
    free(values);
    eg_field_destroy(&b);
}

/* Fails unless A u is what the form says, to `tolerance` of the largest value. */
static void compare_with_form(eg_device *device, const elliptic_case *c, int degree, eg_type real,
                              double tolerance)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    now_at(device, real, "%s, degree %d", c->name, degree);
    elliptic_problem p = elliptic_on(device, comm, elliptic_mesh(ctx, c), c, degree, real);
    if (c->in_part) assert_int_equal(p.space->group_count, 2);
    double *A = elliptic_form(&p), *u = random_values(p.count, 11);
    double *y = random_values(p.count, 0), most = 0;
    elliptic_multiply(&p, u, y);
    for (size_t i = 0; i < p.count; i++)
        most = fmax(most, fabs(dot_of(p.count, &A[i * p.count], u)));
    for (size_t i = 0; i < p.count; i++)
        assert_near(y[i], dot_of(p.count, &A[i * p.count], u), tolerance * most, "A u", i);
    check_residual(&p, u, y, tolerance * most);
    free(y);
    free(u);
    free(A);
    elliptic_free(&p);
    eg_comm_destroy(&comm);
}

static void forms_body(eg_device *device)
{
    static const elliptic_case *const cases[] = {&straight, &pure,      &turned,
                                                 &periodic, &constant,  &by_points,
                                                 &bent,     &half_bent, &quadrilaterals};
    for (size_t i = 0; i < EG_COUNT(cases); i++)
        for (int degree = 1; degree <= 4; degree += 1 + (i > 2))
            compare_with_form(device, cases[i], degree, EG_F64, 1e-12);
    /* k on faces is taken 1e-10 of the way inside. */
    compare_with_form(device, &varying, 3, EG_F64, 1e-9);
    compare_with_form(device, &bent_varying, 3, EG_F64, 1e-9);
    compare_with_form(device, &tetrahedra, 2, EG_F64, 1e-12);
}

static void test_elliptic__operator_is_the_bilinear_form(void **state)
{
    (void)state;
    on_one_core(forms_body);
}

static void devices_body(eg_device *device, eg_type real)
{
    static const elliptic_case *const cases[] = {&straight, &turned, &bent};
    set_pocl_optimises(false);
    for (size_t i = 0; i < EG_COUNT(cases); i++)
        compare_with_form(device, cases[i], 3, real, real == EG_F64 ? 1e-12 : 1e-5);
    compare_with_form(device, &turned, 1, real, real == EG_F64 ? 1e-12 : 1e-5);
    /* The forms for GPUs: faces with a point in the middle and without. */
    compare_with_form(device, &chained, 2, real, real == EG_F64 ? 1e-12 : 1e-5);
    compare_with_form(device, &mirrored, 4, real, real == EG_F64 ? 1e-12 : 1e-5);
    compare_with_form(device, &mirrored_pure, 3, real, real == EG_F64 ? 1e-12 : 1e-5);
    if (eg_device_get_info(device)->has_tensor_f64)
        for (int degree = 1; degree <= 10; degree++) {
            compare_with_form(device, &blocked, degree, real, real == EG_F64 ? 1e-12 : 1e-5);
            compare_with_form(device, &blocked_pure, degree, real, real == EG_F64 ? 1e-12 : 1e-5);
        }
    set_pocl_optimises(true);
}

static void test_elliptic__operator_is_the_same_on_every_device(void **state)
{
    (void)state;
    on_every_device(devices_body);
}

/* --- symmetry ---------------------------------------------------------------------------------- */

static void check_symmetry(eg_device *device, const elliptic_case *c, int degree)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    now_at(device, EG_F64, "%s, degree %d", c->name, degree);
    elliptic_problem p = elliptic_on(device, comm, elliptic_mesh(ctx, c), c, degree, EG_F64);
    double *u = random_values(p.count, 5), *v = random_values(p.count, 6);
    double *Au = random_values(p.count, 0), *Av = random_values(p.count, 0);
    elliptic_multiply(&p, u, Au);
    elliptic_multiply(&p, v, Av);
    const double difference = dot_of(p.count, v, Au) - dot_of(p.count, u, Av);
    const double scale = sqrt(dot_of(p.count, u, u) * dot_of(p.count, Av, Av));
    if (!(fabs(difference) <= 1e-13 * scale))
        fail_msg("<v, A u> and <u, A v> differ by %.3g of |u| |A v|", difference / scale);
    free(Av);
    free(Au);
    free(v);
    free(u);
    elliptic_free(&p);
    eg_comm_destroy(&comm);
}

static void symmetry_body(eg_device *device)
{
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree++) {
        check_symmetry(device, &turned, degree);
        check_symmetry(device, &bent_varying, degree);
        if (degree % 3 == 2) check_symmetry(device, &varying, degree);
        if (degree % 4 == 2 || getenv("EAGRE_TEST_LONG"))
            check_symmetry(device, &mirrored_pure, degree);
    }
}

static void test_elliptic__operator_is_symmetric_for_every_degree(void **state)
{
    (void)state;
    on_one_core(symmetry_body);
}

/* --- positive ---------------------------------------------------------------------------------- */

/* The least eigenvalue of the operator, as part of the largest, by its columns. */
static double least_eigenvalue(eg_device *device, const elliptic_case *c, int degree)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    now_at(device, EG_F64, "%s, degree %d", c->name, degree);
    elliptic_problem p = elliptic_on(device, comm, elliptic_mesh(ctx, c), c, degree, EG_F64);
    double *A = malloc(p.count * p.count * sizeof *A), *unit = calloc(p.count, sizeof *unit);
    double *values = malloc(p.count * sizeof *values);
    assert_true(A && unit && values);
    for (size_t i = 0; i < p.count; i++) {
        unit[i] = 1;
        elliptic_multiply(&p, unit, &A[i * p.count]);
        unit[i] = 0;
    }
    TEST_OK(ctx, eg_dense_eigen_symmetric(ctx, (int)p.count, A, values, NULL));
    const double least = values[0] / values[p.count - 1];
    free(values);
    free(unit);
    free(A);
    elliptic_free(&p);
    eg_comm_destroy(&comm);
    return least;
}

static void positive_body(eg_device *device)
{
    static const elliptic_case *const cases[] = {&pure, &bent_varying};
    static const elliptic_case closed = {"closed", TRIANGLES, .height = 1, .perturb = 0.3,
                                         .types = {N, N, N, N}};
    const int most = getenv("EAGRE_TEST_LONG") ? EG_DEGREE_MAX : 6;
    for (int degree = 1; degree <= most; degree++) {
        for (size_t i = 0; i < EG_COUNT(cases); i++)
            if (!(least_eigenvalue(device, cases[i], degree) > 1e-9))
                fail_msg("the least eigenvalue is not positive");
        if (!(fabs(least_eigenvalue(device, &closed, degree)) < 1e-13))
            fail_msg("constants are not in the null space, or the operator is not positive");
    }
}

static void test_elliptic__operator_is_positive_with_the_penalty(void **state)
{
    (void)state;
    on_one_core(positive_body);
}

/* --- loads ------------------------------------------------------------------------------------- */

/* A polynomial of some degree at most, with the data that make it the solution. */
typedef struct manufactured {
    const elliptic_case *c;
    const char *u, *source;
    const char *given[ELLIPTIC_BOUNDARIES]; /* left, right, bottom, top */
    int degree;
} manufactured;

/* Fails unless A u is the load. */
static void check_load(eg_device *device, const manufactured *m, int degree, double tolerance)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    eg_expression *list[2 + ELLIPTIC_BOUNDARIES] = {expression(ctx, m->u),
                                                    expression(ctx, m->source)};
    const eg_expression *given[ELLIPTIC_BOUNDARIES];
    eg_function *function = NULL;
    double most = 0;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    now_at(device, EG_F64, "%s, degree %d", m->c->name, degree);
    for (int b = 0; b < ELLIPTIC_BOUNDARIES; b++)
        given[b] = list[2 + b] = expression(ctx, m->given[b]);
    elliptic_problem p = elliptic_on(device, comm, elliptic_mesh(ctx, m->c), m->c, degree, EG_F64);
    double *b = random_values(p.count, 0), *y = random_values(p.count, 0);
    TEST_OK(ctx, eg_function_create(p.space, (const eg_expression *[]){list[0]}, 1, &function));
    TEST_OK(ctx, eg_function_interpolate(function, 0, p.u));
    TEST_OK(ctx, eg_elliptic_apply(p.A, p.u->data, p.y->data));
    TEST_OK(ctx, eg_field_to_host(p.y, y));
    TEST_OK(ctx, eg_elliptic_load(p.A, &(eg_elliptic_data){.source = list[1], .boundary = given}, 0,
                                  p.y->data));
    TEST_OK(ctx, eg_field_to_host(p.y, b));
    for (size_t i = 0; i < p.count; i++)
        most = fmax(most, fabs(b[i]));
    for (size_t i = 0; i < p.count; i++)
        assert_near(y[i], b[i], tolerance * most, "A u", i);
    free(y);
    free(b);
    eg_function_destroy(&function);
    elliptic_free(&p);
    for (size_t i = 0; i < EG_COUNT(list); i++)
        eg_expression_destroy(&list[i]);
    eg_comm_destroy(&comm);
}

static void loads_body(eg_device *device)
{
    /* u = (x + y/2)³: ∇u = 3 (x + y/2)² (1, 1/2), Δu = 15/2 (x + y/2); λ = 0.7. */
    static const char u[] = "(x + y/2)^3", f[] = "0.7*(x + y/2)^3 - 7.5*(x + y/2)";
    static const manufactured list[] = {
        {&straight, u, f, {u, "3*(x + y/2)^2", u, "1.5*(x + y/2)^2"}, 3},
        {&by_points, u, f, {u, "3*(x + y/2)^2", u, "1.5*(x + y/2)^2"}, 3},
        {&constant, u, "0.7*(x + y/2)^3 - 2.5*7.5*(x + y/2)", {u, "2.5*3*(x + y/2)^2", u, u}, 3},
    };
    for (size_t i = 0; i < EG_COUNT(list); i++)
        for (int degree = list[i].degree; degree <= 6; degree += 3)
            check_load(device, &list[i], degree, 1e-11);
    /* k = 1 + x²: ∇k·∇u = 6 x (x + y/2)²; below, Robin's condition with 2 + x, n = (0, -1). k on
     * faces is taken 1e-10 of the way inside. */
    check_load(device,
               &(manufactured){&varying,
                               u,
                               "0.7*(x + y/2)^3 - 7.5*(1 + x*x)*(x + y/2) - 6*x*(x + y/2)^2",
                               {u, "(1 + x*x)*3*(x + y/2)^2",
                                "(2 + x)*(x + y/2)^3 - (1 + x*x)*1.5*(x + y/2)^2", u},
                               3},
               4, 1e-9);
    /* Mappings of degree 3 and u linear: all is exact there, too, and on bent sides. */
    static const elliptic_case drum = {"bent, Dirichlet", TRIANGLES, .order = 3, .height = 1,
                                       .lambda = 1};
    static const char v[] = "x + y/2";
    check_load(device, &(manufactured){&drum, v, v, {v, v, v, v}, 1}, 3, 1e-11);
    check_load(device, &(manufactured){&bent, "3", "3", {"3", "0", "3", "3"}, 0}, 3, 1e-11);
}

static void test_elliptic__load_of_a_polynomial_is_what_the_operator_gives(void **state)
{
    (void)state;
    on_one_core(loads_body);
}

/* --- the inverse mass matrix ------------------------------------------------------------------- */

/* z = M⁻¹ r of a problem's space. */
static void divide(elliptic_problem *p, eg_mass *mass, const double *r, double *z)
{
    TEST_OK(p->ctx, eg_field_from_host(p->u, r));
    TEST_OK(p->ctx, eg_mass_apply(mass, p->u->data, p->y->data));
    TEST_OK(p->ctx, eg_field_to_host(p->y, z));
}

static void mass_body(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    eg_mass *mass = NULL;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));

    /* ∫ f φ of a polynomial f gives back its values. */
    elliptic_problem p =
        elliptic_on(device, comm, elliptic_mesh(ctx, &straight), &straight, 3, EG_F64);
    eg_expression *f = expression(ctx, "1 + x^3 - 2*x*y^2 + y");
    eg_function *function = NULL;
    double *want = random_values(p.count, 0), *got = random_values(p.count, 0);
    TEST_OK(ctx, eg_mass_create(p.space, EG_F64, &mass));
    TEST_OK(ctx, eg_function_create(p.space, (const eg_expression *[]){f}, 1, &function));
    TEST_OK(ctx, eg_function_interpolate(function, 0, p.u));
    TEST_OK(ctx, eg_field_to_host(p.u, want));
    TEST_OK(ctx, eg_elliptic_load(p.A, &(eg_elliptic_data){.source = f}, 0, p.u->data));
    TEST_OK(ctx, eg_mass_apply(mass, p.u->data, p.y->data));
    TEST_OK(ctx, eg_field_to_host(p.y, got));
    for (size_t i = 0; i < p.count; i++)
        assert_near(got[i], want[i], 1e-12, "f", i);
    free(got);
    free(want);
    eg_function_destroy(&function);
    eg_expression_destroy(&f);
    eg_mass_destroy(&mass);
    elliptic_free(&p);

    /* On curved elements it is symmetric and positive. */
    p = elliptic_on(device, comm, elliptic_mesh(ctx, &bent), &bent, 3, EG_F64);
    double *u = random_values(p.count, 5), *v = random_values(p.count, 6);
    double *Mu = random_values(p.count, 0), *Mv = random_values(p.count, 0);
    TEST_OK(ctx, eg_mass_create(p.space, EG_F64, &mass));
    divide(&p, mass, u, Mu);
    divide(&p, mass, v, Mv);
    const double scale = sqrt(dot_of(p.count, u, u) * dot_of(p.count, Mv, Mv));
    assert_near(dot_of(p.count, v, Mu), dot_of(p.count, u, Mv), 1e-13 * scale, "symmetry", 0);
    assert_true(dot_of(p.count, u, Mu) > 0);
    free(Mv);
    free(Mu);
    free(v);
    free(u);
    eg_mass_destroy(&mass);
    elliptic_free(&p);
    eg_comm_destroy(&comm);
}

static void test_elliptic__inverse_mass_gives_back_polynomials_and_is_symmetric(void **state)
{
    (void)state;
    on_one_core(mass_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_elliptic__operator_is_the_bilinear_form),
        KERNEL_TEST(test_elliptic__operator_is_the_same_on_every_device),
        KERNEL_TEST(test_elliptic__operator_is_symmetric_for_every_degree),
        KERNEL_TEST(test_elliptic__operator_is_positive_with_the_penalty),
        KERNEL_TEST(test_elliptic__load_of_a_polynomial_is_what_the_operator_gives),
        KERNEL_TEST(test_elliptic__inverse_mass_gives_back_polynomials_and_is_symmetric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
