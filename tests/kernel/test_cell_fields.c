/* Fields of cells on every device: their values are means of functions, and norms, integrals and
 * quantities are those of constants. */
#include "kernel/boxes.h"
#include "kernel/devices.h"
#include "kernel/quantities.h"

#include <math.h>

enum { DEGREE = 2, CELLS = DEGREE + 1, NP = CELLS * CELLS, RULE = 6 };
static const char *const text[] = {"sin(3 * x) * exp(y - 0.5 * t) + x * y"};

static double value_at(const eg_expression *f, const double *x, double t)
{
    const double at[EG_VARIABLE_COUNT] = {
        [EG_VARIABLE_X] = x[0], [EG_VARIABLE_X + 1] = x[1], [EG_VARIABLE_T] = t};
    return eg_expression_evaluate(f, at);
}

/* The area of a cell and ∫ of a function over it, by 6 x 6 Gauss points. */
static double integrate(const box *b, int32_t e, int cell, const eg_expression *f, double t,
                        double *area)
{
    const eg_element *geometry = b->space->groups[0].geometry;
    double r[RULE], w[RULE], sum = 0;
    TEST_OK(b->space->ctx, eg_gauss_legendre(b->space->ctx, RULE, r, w));
    *area = 0;
    for (int q = 0; q < RULE * RULE; q++) {
        const double at[3] = {(2 * (cell % CELLS) + 1 - CELLS + r[q % RULE]) / CELLS,
                              (2 * (cell / CELLS) + 1 - CELLS + r[q / RULE]) / CELLS};
        double x[3] = {0}, a[3][3] = {{0}};
        map_point(b->mesh, geometry, e, at, a, x);
        const double weight = w[q % RULE] * w[q / RULE] / (CELLS * CELLS) * determinant(2, a);
        *area += weight;
        sum += weight * value_at(f, x, t);
    }
    return sum;
}

/* Squares, general quadrilaterals and bent ones. */
static eg_box_options options_of(int kind)
{
    eg_box_options o = box_options(EG_SHAPE_QUAD, 4, 3, 1, kind == 2 ? 2 : 0);
    o.perturb = kind == 1 ? 0.2 : 0;
    o.seed = 3;
    return o;
}

static void means_body(eg_device *device, eg_type real)
{
    if (is_second_thread(device) || real != EG_F64) return;
    for (int kind = 0; kind < 3; kind++) {
        const eg_box_options o = options_of(kind);
        now_at(device, real, "kind %d", kind);
        box b = box_new(device, &o, EG_BASIS_CELLS, DEGREE);
        eg_context *ctx = b.space->ctx;
        eg_function *function = function_new(b.space, 1, text);
        eg_measure *measure = NULL;
        eg_field *field = NULL;
        eg_norms norms;
        double integral, shift = 0, sum = 0, volume = 0;
        eg_expression *f = expression(ctx, text[0]);
        TEST_OK(ctx, eg_field_create(b.space, 1, EG_F64, &field));
        TEST_OK(ctx, eg_function_interpolate(function, 0.3, field));
        double *values = new_values(eg_field_host_count(field));
        TEST_OK(ctx, eg_field_to_host(field, values));
        for (int32_t i = 0; i < b.mesh->element_count * NP; i++) {
            double area;
            const double whole = integrate(&b, i / NP, i % NP, f, 0.3, &area);
            assert_near(values[i], whole / area, 1e-9, "mean", (size_t)i);
            values[i] += i % 5 - 2;
            sum += area * values[i];
            volume += area;
            shift += area * (i % 5 - 2) * (i % 5 - 2);
        }
        /* Means that are off by as much as they are now. */
        TEST_OK(ctx, eg_field_from_host(field, values));
        TEST_OK(ctx, eg_measure_create(b.space, 1, function, &measure));
        TEST_OK(ctx, eg_measure_norms(measure, 0.3, field, &norms));
        TEST_OK(ctx, eg_measure_integrals(measure, field, &integral));
        assert_near(norms.nodal_l2, sqrt(shift / volume), kind == 2 ? 1e-3 : 1e-12, "nodal_l2", 0);
        assert_near(integral, sum, 1e-12, "integral", 0);
        eg_measure_destroy(&measure);
        free(values);
        eg_field_destroy(&field);
        eg_expression_destroy(&f);
        eg_function_destroy(&function);
        box_free(&b);
    }
}

static void test_cell_fields__are_means_of_functions(void **state)
{
    (void)state;
    on_every_device(means_body);
}

/* Of a field that jumps from cell to cell. */
static void quantity_body(eg_device *device, eg_type real)
{
    static const char *const squared[] = {"a * a"};
    if (is_second_thread(device) || real != EG_F64) return;
    const eg_box_options o = options_of(1);
    box b = box_new(device, &o, EG_BASIS_CELLS, DEGREE);
    eg_context *ctx = b.space->ctx;
    eg_expression *one = expression(ctx, "1");
    eg_field *field = NULL;
    eg_quantity_result found;
    uint64_t seed = 5;
    double sum = 0, least = INFINITY, most = 0;
    now_at(device, real, "quantity");
    TEST_OK(ctx, eg_field_create(b.space, 1, EG_F64, &field));
    double *values = new_values(eg_field_host_count(field));
    for (int32_t i = 0; i < b.mesh->element_count * NP; i++) {
        double area;
        values[i] = test_random(&seed);
        integrate(&b, i / NP, i % NP, one, 0, &area);
        sum += area * values[i] * values[i];
        least = fmin(least, values[i] * values[i]);
        most = fmax(most, values[i] * values[i]);
    }
    TEST_OK(ctx, eg_field_from_host(field, values));
    const eg_field *const fields[] = {field};
    measure_once(&(eg_quantity_options){.fields = fields, .field_count = 1}, 0, 1, squared, &found);
    assert_near(found.integral, sum, 1e-13, "integral", 0);
    assert_near(found.least, least, 0, "least", 0);
    assert_near(found.most, most, 0, "most", 0);
    free(values);
    eg_field_destroy(&field);
    eg_expression_destroy(&one);
    box_free(&b);
}

static void test_cell_fields__have_integrals_of_constants(void **state)
{
    (void)state;
    on_every_device(quantity_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_cell_fields__are_means_of_functions),
        KERNEL_TEST(test_cell_fields__have_integrals_of_constants),
    };
    set_pocl_optimises(false); /* others do, see devices.h */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
