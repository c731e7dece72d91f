/* Measured orders of model `elliptic` on triangles, straight and curved: N + 1 in L2, N of the
 * gradient.
 *
 * Degrees 1 … 6; 7 and 8, too, where EAGRE_TEST_LONG is set. */
#include "elliptic.h"

#include "model/elliptic/mass.h"
#include "solver/solver.h"

/* u = sin(w (3x + 2y)) with w above 1 for degrees whose errors would else be those of the
 * solver; λ = 1/2. */
typedef struct wave {
    double w;
    char exact[64], source[160];
} wave;

/* k = 1 + x y/2, ∇k·∇u = w (3 y/2 + x) cos, or k = 1. */
static wave wave_of(int degree, bool varying)
{
    wave v = {.w = degree < 7 ? 1 : degree - 5};
    snprintf(v.exact, sizeof v.exact, "sin(%g*(3*x + 2*y))", v.w);
    snprintf(v.source, sizeof v.source,
             varying ? "(0.5 + %g*(1 + x*y/2))*%s - %g*(1.5*y + x)*cos(%g*(3*x + 2*y))"
                     : "(0.5 + %g)*%s + 0*%g*%g",
             13 * v.w * v.w, v.exact, v.w, v.w);
    return v;
}

typedef struct measured {
    double value, gradient; /* L2 norms of the errors */
} measured;

static eg_status multiply(void *user, eg_buffer *x, eg_buffer *y)
{
    return eg_elliptic_apply(user, x, y);
}

static eg_status precondition(void *user, eg_buffer *x, eg_buffer *y)
{
    return eg_mass_apply(user, x, y);
}

/* Solves A u = b into p->u. */
static void solve(elliptic_problem *p, const wave *v)
{
    eg_expression *f = expression(p->ctx, v->source), *g = expression(p->ctx, v->exact);
    const eg_expression *given[ELLIPTIC_BOUNDARIES] = {g, g, g, g};
    eg_vectors *vectors = NULL;
    eg_mass *mass = NULL;
    eg_pcg *pcg = NULL;
    eg_krylov_result result;
    TEST_OK(p->ctx, eg_vectors_create(p->space, 1, EG_F64, &vectors));
    TEST_OK(p->ctx, eg_mass_create(p->space, EG_F64, &mass));
    TEST_OK(p->ctx, eg_pcg_create(vectors, (eg_linear){.user = p->A, .apply = multiply},
                                  &(eg_linear){.user = mass, .apply = precondition},
                                  &(eg_krylov_options){
                                      .relative = 1e-12, .iterations = 20000, .zero_guess = true},
                                  &pcg));
    TEST_OK(p->ctx, eg_elliptic_load(p->A, &(eg_elliptic_data){.source = f, .boundary = given}, 0,
                                     p->y->data));
    TEST_OK(p->ctx, eg_pcg_solve(pcg, p->y->data, p->u->data, &result));
    assert_int_equal(result.outcome, EG_KRYLOV_CONVERGED);
    eg_pcg_destroy(&pcg);
    eg_mass_destroy(&mass);
    eg_vectors_destroy(&vectors);
    eg_expression_destroy(&g);
    eg_expression_destroy(&f);
}

/* Adds the squares of an element's errors. */
static void add_errors(const elliptic_problem *p, const test_mapping *mapping,
                       const eg_cubature *rule, int32_t e, double w, const double *u,
                       form_point *at, measured *sum)
{
    const eg_element *element = p->space->groups[0].element;
    for (int q = 0; q < rule->count; q++) {
        const double r[2] = {rule->r[q], rule->r[rule->count + q]};
        form_at(mapping, element, e, -1, r, at);
        const double phase = w * (3 * at->x[0] + 2 * at->x[1]), weight = rule->w[q] * at->det;
        double value = -sin(phase), gx = -3 * w * cos(phase), gy = -2 * w * cos(phase);
        for (int i = 0; i < element->np; i++) {
            value += u[i] * at->value[i];
            gx += u[i] * at->gradient[i][0];
            gy += u[i] * at->gradient[i][1];
        }
        sum->value += weight * value * value;
        sum->gradient += weight * (gx * gx + gy * gy);
    }
}

static measured measure(eg_device *device, const elliptic_case *c, int degree)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    eg_cubature *rule = NULL;
    const wave v = wave_of(degree, c->k != NULL);
    measured out = {0};
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    elliptic_problem p = elliptic_on(device, comm, elliptic_mesh(ctx, c), c, degree, EG_F64);
    test_mapping mapping = test_mapping_new(p.mesh);
    double *u = random_values(p.count, 0);
    form_point *at = malloc(sizeof *at);
    assert_non_null(at);
    solve(&p, &v);
    TEST_OK(ctx, eg_field_to_host(p.u, u));
    TEST_OK(ctx, eg_cubature_create(ctx, c->shape, 2 * degree + 4, EG_CUBATURE_BEST, &rule));
    for (int32_t e = 0; e < p.mesh->element_count; e++)
        add_errors(&p, &mapping, rule, e, v.w,
                   u + (size_t)e * (p.count / (size_t)p.mesh->element_count), at, &out);
    free(at);
    free(u);
    test_mapping_free(&mapping);
    eg_cubature_destroy(&rule);
    elliptic_free(&p);
    eg_comm_destroy(&comm);
    return (measured){sqrt(out.value), sqrt(out.gradient)};
}

/* Orders between two meshes, the second twice as fine. */
static void check_orders(elliptic_case c)
{
    const int most = getenv("EAGRE_TEST_LONG") ? 8 : 6;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (int degree = 1; degree <= most; degree++) {
        const int cells = degree < 3 ? 16 : degree < 5 || c.order > 1 ? 6 : 3;
        c.cells[0] = c.cells[1] = cells;
        const measured coarse = measure(device, &c, degree);
        c.cells[0] = c.cells[1] = 2 * cells;
        const measured fine = measure(device, &c, degree);
        const double order = log2(coarse.value / fine.value);
        const double of_gradient = log2(coarse.gradient / fine.gradient);
        if (!(fabs(order - (degree + 1)) <= 0.2) || !(fabs(of_gradient - degree) <= 0.2))
            fail_msg("degree %d, %s: errors %.3e and %.3e have order %.2f, those of the gradient, "
                     "%.3e and %.3e, %.2f",
                     degree, c.name, coarse.value, fine.value, order, coarse.gradient,
                     fine.gradient, of_gradient);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

static void test_elliptic_order__straight_triangles(void **state)
{
    (void)state;
    check_orders((elliptic_case){"straight", EG_SHAPE_TRI, .height = 1, .lambda = 0.5});
}

static void test_elliptic_order__curved_triangles(void **state)
{
    (void)state;
    check_orders((elliptic_case){"curved", EG_SHAPE_TRI, .order = 3, .height = 1, .lambda = 0.5});
}

static void test_elliptic_order__curved_triangles_with_a_coefficient(void **state)
{
    (void)state;
    check_orders((elliptic_case){"curved, with k that varies", EG_SHAPE_TRI, .order = 3,
                                 .height = 1, .lambda = 0.5, .k = "1 + x*y/2"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elliptic_order__straight_triangles),
        cmocka_unit_test(test_elliptic_order__curved_triangles),
        cmocka_unit_test(test_elliptic_order__curved_triangles_with_a_coefficient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
