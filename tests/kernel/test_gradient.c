/* The gradient at nodes is exact for polynomials of an element's degree, on straight triangles of every degree, and on
 * the other shapes and curved elements as far as their mapping lets it be. */
#include "elliptic.h"
#include "kernel/devices.h"

#include "model/elliptic/gradient.h"

static const elliptic_case straight = {"triangles",   EG_SHAPE_TRI,   .cells = {4, 3},
                                       .height = 0.6, .perturb = 0.3, .turned = true};
static const elliptic_case tetrahedra = {"tetrahedra", EG_SHAPE_TET, .cells = {2, 2, 2},
                                         .height = 0.8, .perturb = 0.2};

/* (x + 2 y - z)^N and its slopes. */
static void check(eg_device *device, const elliptic_case *c, int degree)
{
    static const eg_symbol symbols[] = {{.name = "x", .variable = EG_VARIABLE_X},
                                        {.name = "y", .variable = EG_VARIABLE_Y},
                                        {.name = "z", .variable = EG_VARIABLE_Z}};
    static const int factor[3] = {1, 2, -1};
    eg_context *ctx = eg_device_context(device);
    const int dim = eg_shape_get_info(c->shape)->dim;
    const eg_expression *list[4];
    eg_expression *owned[4] = {NULL};
    eg_function *power = NULL, *slopes = NULL;
    eg_gradient *gradient = NULL;
    eg_field *got = NULL, *want = NULL;
    eg_comm *comm = NULL;
    char text[64];
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    now_at(device, EG_F64, "%s, degree %d", c->name, degree);
    elliptic_problem p = elliptic_on(device, comm, elliptic_mesh(ctx, c), c, degree, EG_F64);
    for (int i = 0; i <= dim; i++) {
        const char *of = dim == 3 ? "x + 2*y - z" : "x + 2*y";
        if (i == 0)
            snprintf(text, sizeof text, "(%s)^%d", of, degree);
        else
            snprintf(text, sizeof text, "%d*(%s)^%d", factor[i - 1] * degree, of, degree - 1);
        TEST_OK(ctx, eg_expression_create(ctx, text, symbols, EG_COUNT(symbols), NULL, &owned[i]));
        list[i] = owned[i];
    }
    TEST_OK(ctx, eg_function_create(p.space, list, 1, &power));
    TEST_OK(ctx, eg_function_create(p.space, list + 1, dim, &slopes));
    TEST_OK(ctx, eg_field_create(p.space, dim, EG_F64, &got));
    TEST_OK(ctx, eg_field_create(p.space, dim, EG_F64, &want));
    TEST_OK(ctx, eg_function_interpolate(power, 0, p.u));
    TEST_OK(ctx, eg_function_interpolate(slopes, 0, want));
    TEST_OK(ctx, eg_buffer_fill(got->data, got->offset[0], got->offset[1] - got->offset[0],
                                &(const double){NAN}));
    TEST_OK(ctx, eg_gradient_create(p.space, &gradient));
    TEST_OK(ctx, eg_gradient_apply(gradient, p.u, got));

    const size_t count = eg_field_host_count(got);
    double *values = random_values(count, 0), *exact = random_values(count, 0), most = 0;
    TEST_OK(ctx, eg_field_to_host(got, values));
    TEST_OK(ctx, eg_field_to_host(want, exact));
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(exact[i]));
    for (size_t i = 0; i < count; i++)
        assert_near(values[i], exact[i], 1e-12 * degree * degree * most, "slope", i);
    free(exact);
    free(values);
    eg_gradient_destroy(&gradient);
    eg_field_destroy(&want);
    eg_field_destroy(&got);
    eg_function_destroy(&slopes);
    eg_function_destroy(&power);
    for (int i = 0; i <= dim; i++)
        eg_expression_destroy(&owned[i]);
    elliptic_free(&p);
    eg_comm_destroy(&comm);
}

static void polynomials(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree++)
        check(device, &straight, degree);
    check(device, &tetrahedra, 2);
}

static void test_gradient__is_exact_for_polynomials(void **state)
{
    (void)state;
    on_every_device(polynomials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {KERNEL_TEST(test_gradient__is_exact_for_polynomials)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
