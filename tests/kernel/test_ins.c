/* The operators of model `ins`: against their weak forms on the host, on random fields with jumps and
 * boundaries of every kind, and on polynomials, for which they are exact. */
#include "ins.h"
#include "kernel/devices.h"

#include "model/ins/speed.h"

#define TIME 0.7

static const ins_case every = {"every kind", .cells = {3, 3},
                               .kinds = {EG_INS_GIVEN, EG_INS_OUTFLOW, EG_INS_SLIP, EG_INS_GIVEN},
                               .backflow = 0.7};
static const ins_case turned = {"turned", .cells = {3, 2}, .turned = true,
                                .kinds = {EG_INS_OUTFLOW}};
static const ins_case by_faces = {
    "every kind, by faces", .cells = {3, 3},
    .kinds = {EG_INS_GIVEN, EG_INS_OUTFLOW, EG_INS_SLIP, EG_INS_GIVEN}, .backflow = 0.7,
    .by_faces = true};
static const ins_case turned_by_faces = {"turned, by faces", .cells = {3, 2}, .turned = true,
                                         .kinds = {EG_INS_OUTFLOW}, .by_faces = true};
static const ins_case periodic = {"periodic", .cells = {3, 2}, .periodic = true,
                                  .kinds = {EG_INS_SLIP, EG_INS_GIVEN}};

/* Several tiles, not all at a boundary. */
static const ins_case large = {"large", .cells = {11, 13},
                               .kinds = {EG_INS_GIVEN, EG_INS_OUTFLOW, EG_INS_SLIP, EG_INS_OUTFLOW},
                               .backflow = 0.3};
static const ins_case large_turned = {"large and turned", .cells = {12, 11}, .turned = true,
                                      .kinds = {EG_INS_SLIP}};

/* Fails unless fields are what is expected, to `tolerance` of the largest. */
static void compare(const ins_problem *p, const eg_field *field, const double *expected,
                    double tolerance, const char *what)
{
    double *values = random_values(p->count, 0), most = 0;
    TEST_OK(p->ctx, eg_field_to_host(field, values));
    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < p->count; i++)
        assert_near(values[i], expected[i], tolerance * most, what, i);
    free(values);
}

static void poison(eg_field *const list[2])
{
    for (int c = 0; c < 2; c++) {
        const double nan = NAN;
        eg_field *f = list[c];
        TEST_OK(f->space->ctx,
                eg_buffer_fill(f->data, f->offset[0], f->offset[1] - f->offset[0], &nan));
    }
}

/* Stages of a Runge-Kutta scheme, the first of which does not look at what k holds. */
static void check_stages(ins_problem *p, int degree, const double *const fields[4],
                         const eg_ins_inflow *inflow)
{
    static const double A[2] = {0, -0.4}, dt = 0.3, B = 0.7;
    eg_context *ctx = p->ctx;
    eg_field *k[2], *next[2];
    double *before = random_values(p->count, 31), *rate = random_values(p->count, 0);
    double *expected = random_values(p->count, 0);
    for (int c = 0; c < 2; c++) {
        TEST_OK(ctx, eg_field_create(p->space, 1, EG_F64, &k[c]));
        TEST_OK(ctx, eg_field_create(p->space, 1, EG_F64, &next[c]));
    }
    for (int stage = 0; stage < 2; stage++) {
        poison(p->out);
        poison(next);
        poison(k);
        for (int c = 0; c < 2 && stage > 0; c++)
            TEST_OK(ctx, eg_field_from_host(k[c], before));
        TEST_OK(ctx, eg_ins_carry_stage(p->op, p->a, p->velocity_data, p->w, inflow,
                                        &(eg_ins_stage){A[stage], dt, B, k, next}, p->out));
        for (int c = 0; c < 2; c++) {
            ins_reference(p, INS_ADVECTION, c, 1, TIME, 3 * degree, fields, rate);
            for (size_t i = 0; i < p->count; i++)
                rate[i] = (stage > 0 ? A[stage] * before[i] : 0) - dt * rate[i];
            compare(p, k[c], rate, 1e-12, "k of a stage");
            for (size_t i = 0; i < p->count; i++)
                expected[i] = fields[2 + c][i] + B * rate[i];
            compare(p, next[c], expected, 1e-12, "w of a stage");
        }
    }
    for (int c = 0; c < 2; c++) {
        eg_field_destroy(&next[c]);
        eg_field_destroy(&k[c]);
    }
    free(expected);
    free(rate);
    free(before);
}

/* All operators on random fields. */
static void compare_with_forms(eg_device *device, const ins_case *c, int degree)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    now_at(device, EG_F64, "%s, degree %d", c->name, degree);
    ins_problem p = ins_on(device, comm, ins_mesh(ctx, c), c, degree, false, TIME);
    double *values[4], *expected = random_values(p.count, 0);
    for (int k = 0; k < 4; k++) {
        values[k] = random_values(p.count, 17 + (uint64_t)k);
        TEST_OK(ctx, eg_field_from_host(k < 2 ? p.a[k] : p.w[k - 2], values[k]));
    }
    const double *const fields[4] = {values[0], values[1], values[2], values[3]};
    const double *const alone[4] = {values[2], values[3], values[2], values[3]};
    eg_buffer *data = eg_ins_data_values(p.velocity_data);

    poison(p.out);
    p.share = 1.25; /* of what is carried in: 1 + since */
    p.carried = true;
    TEST_OK(ctx, eg_ins_carry(p.op, p.a, p.velocity_data, p.w, &(eg_ins_inflow){data, data, 0.25},
                              p.out));
    for (int k = 0; k < 2; k++) {
        ins_reference(&p, INS_ADVECTION, k, 1, TIME, 3 * degree, fields, expected);
        compare(&p, p.out[k], expected, 1e-12, "carried");
    }
    if (eg_ins_has_stages(p.op))
        check_stages(&p, degree, fields, &(eg_ins_inflow){data, data, 0.25});
    p.share = 1;
    p.carried = false;
    poison(p.out);
    TEST_OK(ctx, eg_ins_advect(p.op, p.w, p.velocity_data, p.out));
    for (int k = 0; k < 2; k++) {
        ins_reference(&p, INS_ADVECTION, k, 2, TIME, 3 * degree, alone, expected);
        compare(&p, p.out[k], expected, 1e-12, "advected");
    }
    poison(p.out);
    TEST_OK(ctx, eg_ins_gradient(p.op, p.w[0], p.pressure_data, 0, 1, p.out));
    for (int k = 0; k < 2; k++) {
        ins_reference(&p, INS_GRADIENT, k, 0, TIME, 2 * degree, fields, expected);
        compare(&p, p.out[k], expected, 1e-12, "gradient");
    }
    /* … -2 of it is added to twice the gradient: nothing is left. */
    TEST_OK(ctx, eg_ins_gradient(p.op, p.w[0], p.pressure_data, 2, -2, p.out));
    for (int k = 0; k < 2; k++) {
        double *left = random_values(p.count, 0);
        TEST_OK(ctx, eg_field_to_host(p.out[k], left));
        for (size_t i = 0; i < p.count; i++)
            assert_near(left[i], 0, 1e-9, "gradient that is kept", i);
        free(left);
    }
    poison(p.out);
    TEST_OK(ctx, eg_ins_divergence(p.op, p.w, p.velocity_data, p.out[0]));
    ins_reference(&p, INS_DIVERGENCE, 0, 0, TIME, 2 * degree, fields, expected);
    compare(&p, p.out[0], expected, 1e-12, "divergence");
    TEST_OK(ctx, eg_ins_vorticity(p.op, p.w, p.velocity_data, p.out[0]));
    ins_reference(&p, INS_VORTICITY, 0, 0, TIME, 2 * degree, fields, expected);
    compare(&p, p.out[0], expected, 1e-12, "vorticity");
    free(expected);
    for (int k = 0; k < 4; k++)
        free(values[k]);
    ins_free(&p);
    eg_comm_destroy(&comm);
}

static void forms_body(eg_device *device)
{
    for (int degree = 1; degree <= 5; degree++)
        compare_with_forms(device, &every, degree);
    compare_with_forms(device, &turned, 2);
    compare_with_forms(device, &by_faces, 5);
    compare_with_forms(device, &turned_by_faces, 3);
    compare_with_forms(device, &periodic, 3);
    compare_with_forms(device, &large, 2);
    compare_with_forms(device, &large_turned, 3);
}

static void test_ins__operators_are_their_weak_forms(void **state)
{
    (void)state;
    on_one_core(forms_body);
}

static void devices_body(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    set_pocl_optimises(false);
    compare_with_forms(device, &every, 3);
    compare_with_forms(device, &large, 1);
    compare_with_forms(device, &by_faces, 2);
    set_pocl_optimises(true);
}

static void test_ins__operators_are_the_same_on_every_device(void **state)
{
    (void)state;
    on_every_device(devices_body);
}

/* --- polynomials -------------------------------------------------------------------------------- */

/* Fills fields with expressions. */
static void fill(const ins_problem *p, const char *const text[2], eg_field *const fields[2])
{
    for (int c = 0; c < 2; c++) {
        eg_expression *e = expression(p->ctx, text[c]);
        eg_function *function = NULL;
        TEST_OK(p->ctx, eg_function_create(p->space, (const eg_expression *[]){e}, 1, &function));
        TEST_OK(p->ctx, eg_function_interpolate(function, TIME, fields[c]));
        eg_function_destroy(&function);
        eg_expression_destroy(&e);
    }
}

static void compare_with(const ins_problem *p, const char *const text[2])
{
    double *expected = random_values(p->count, 0);
    fill(p, text, p->a);
    for (int c = 0; c < 2; c++) {
        TEST_OK(p->ctx, eg_field_to_host(p->a[c], expected));
        compare(p, p->out[c], expected, 1e-11, text[c]);
    }
    free(expected);
}

/* With the velocity that is given on boundaries in all of the domain, of which the flux has degree 2:
 * w·∇w = ∇·(w⊗w) - w ∇·w, ∇·w = 3/2. Collocated, too: fluxes are polynomials of the space. */
static void polynomials_body(eg_device *device)
{
    static const ins_case given = {
        "given", .cells = {2, 3},
        .kinds = {EG_INS_GIVEN, EG_INS_OUTFLOW, EG_INS_GIVEN, EG_INS_GIVEN}};
    static const char *const advected[2] = {"(1 + x/2 - y*t)*(0.5 + 1.5) - t*(y - x/3 + t)",
                                            "-(1 + x/2 - y*t)/3 + (y - x/3 + t)*(1 + 1.5)"};
    static const char *const slopes[2] = {"-1 + 0*x", "t + 0*y"};
    eg_context *ctx = eg_device_context(device);
    for (int collocated = 0; collocated < 2; collocated++) {
        eg_comm *comm = NULL;
        TEST_OK(ctx, eg_comm_self(ctx, &comm));
        now_at(device, EG_F64, "polynomials, collocated: %d", collocated);
        ins_problem p = ins_on(device, comm, ins_mesh(ctx, &given), &given, 2, collocated, TIME);
        fill(&p, ins_velocity, p.w);
        TEST_OK(ctx, eg_ins_advect(p.op, p.w, p.velocity_data, p.out));
        compare_with(&p, advected);
        fill(&p, (const char *const[]){ins_pressure, ins_pressure}, p.w);
        TEST_OK(ctx, eg_ins_gradient(p.op, p.w[0], p.pressure_data, 0, 1, p.out));
        compare_with(&p, slopes);
        ins_free(&p);
        eg_comm_destroy(&comm);
    }
}

static void test_ins__advection_and_gradient_of_polynomials_are_exact(void **state)
{
    (void)state;
    on_one_core(polynomials_body);
}

/* Whether two arrays of boundary faces are the same, the second times `share`, or another share where
 * it flows out. */
static void compare_faces(const ins_problem *p, eg_buffer *found, eg_buffer *expected, double share,
                          double outflow_share, const char *what)
{
    const size_t count = eg_buffer_count(found), lanes = (size_t)p->faces->lanes;
    const size_t rows = 2 * (size_t)p->faces->nodes;
    double *a = random_values(count, 0), *b = random_values(count, 0);
    TEST_OK(p->ctx, eg_buffer_download(found, 0, count, a));
    TEST_OK(p->ctx, eg_buffer_download(expected, 0, count, b));
    for (size_t i = 0; i < count; i++) {
        const size_t face = i / (rows * lanes) * lanes + i % lanes;
        if (face >= (size_t)p->faces->count) continue;
        const bool outflow = p->c->kinds[p->faces->boundary[face]] == EG_INS_OUTFLOW;
        assert_near(a[i], (outflow ? outflow_share : share) * b[i], 1e-11, what, i);
    }
    free(b);
    free(a);
}

/* The velocity of the polynomials above, and w·∇w: without w ∇·w. */
static void inflow_body(eg_device *device, eg_type real)
{
    static const char *const steep[2] = {"(1 + x/2 - y*t)*0.5 - t*(y - x/3 + t)",
                                         "-(1 + x/2 - y*t)/3 + (y - x/3 + t)"};
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    if (real != EG_F64) return;
    set_pocl_optimises(false);
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    ins_problem p = ins_on(device, comm, ins_mesh(ctx, &every), &every, 3, false, TIME);
    eg_ins_data *expected = NULL;
    eg_buffer *values = NULL, *found = NULL, *cut = NULL;
    const eg_expression *list[2 * INS_BOUNDARIES];
    eg_expression *of[2] = {expression(ctx, steep[0]), expression(ctx, steep[1])};
    for (int i = 0; i < 2 * INS_BOUNDARIES; i++)
        list[i] = of[i % 2];
    TEST_OK(ctx, eg_ins_data_create(p.faces, 2, list, &expected));
    TEST_OK(ctx, eg_ins_data_set(expected, 1, &(double){TIME}, &(double){1}));
    const size_t count = eg_buffer_count(eg_ins_data_values(expected));
    TEST_OK(ctx, eg_buffer_create(device, EG_F64, count, &values));
    TEST_OK(ctx, eg_buffer_create(device, EG_F64, count, &found));
    TEST_OK(ctx, eg_buffer_create(device, EG_F64, count, &cut));
    fill(&p, ins_velocity, p.w);
    TEST_OK(ctx, eg_ins_find_inflow(p.op, p.w, p.velocity_data, 0, values, found));
    compare_faces(&p, found, eg_ins_data_values(expected), 1, 1, "w·∇w");
    compare_faces(&p, values, eg_ins_data_values(p.velocity_data), 1, 1, "w");
    /* What is given is taken, but at an outflow; slopes of long steps are in proportion to 1/dt. */
    TEST_OK(ctx, eg_ins_data_set(p.velocity_data, 1, &(double){TIME}, &(double){2}));
    TEST_OK(ctx, eg_ins_find_inflow(p.op, p.w, p.velocity_data, 1e6, values, found));
    compare_faces(&p, values, eg_ins_data_values(p.velocity_data), 1, 0.5, "w given twice");
    TEST_OK(ctx, eg_ins_find_inflow(p.op, p.w, p.velocity_data, 1e4, values, cut));
    compare_faces(&p, found, cut, 0.01, 0.01, "w·∇w that is cut");
    eg_buffer_destroy(&cut);
    eg_buffer_destroy(&found);
    eg_buffer_destroy(&values);
    eg_ins_data_destroy(&expected);
    eg_expression_destroy(&of[1]);
    eg_expression_destroy(&of[0]);
    ins_free(&p);
    eg_comm_destroy(&comm);
    set_pocl_optimises(true);
}

static void test_ins__inflow_is_that_of_polynomials(void **state)
{
    (void)state;
    on_every_device(inflow_body);
}

/* --- how fast it goes --------------------------------------------------------------------------- */

/* The largest of |n·w|/height at nodes of an element, and on its given faces. */
static double rate_on_host(const ins_problem *p, const double *const w[2])
{
    const eg_element *element = p->space->groups[0].element;
    const test_mapping mapping = test_mapping_new(p->mesh);
    form_point *at = malloc(sizeof *at);
    double most = 0;
    assert_non_null(at);
    for (int32_t e = 0; e < p->mesh->element_count; e++) {
        double normal[3][2], rate[3];
        for (int f = 0; f < 3;
             f++) { /* a face's size is half of its length, det half of the area */
            double r[2];
            eg_shape_face_points(EG_SHAPE_TRI, f, 1, (double[1]){0.3}, r);
            form_at(&mapping, element, e, f, r, at);
            memcpy(normal[f], at->normal, sizeof normal[f]);
            rate[f] = 0.5 * at->size / at->det;
        }
        for (int i = 0; i < element->np + 3 * element->face_np; i++) {
            const int on = i - element->np, face = on < 0 ? 0 : on / element->face_np;
            const int32_t n = p->mesh->neighbour[e * p->mesh->face_stride + face];
            double velocity[2] = {w[0][e * element->np + i % element->np],
                                  w[1][e * element->np + i % element->np]};
            if (on >= 0) {
                double r[2];
                if (n >= 0 || p->c->kinds[-1 - n] != EG_INS_GIVEN) continue;
                eg_shape_face_points(EG_SHAPE_TRI, face, 1,
                                     &element->face->r[on % element->face_np], r);
                form_at(&mapping, element, e, face, r, at);
                for (int c = 0; c < 2; c++)
                    velocity[c] = ins_at(p->velocity[c], at->x, TIME);
            }
            for (int f = 0; f < 3; f++)
                most = fmax(most, rate[f] * fabs(dot_of(2, normal[f], velocity)));
        }
    }
    free(at);
    test_mapping_free((test_mapping *)&mapping);
    return most;
}

static void rates_body(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    eg_ins_speed *speed = NULL;
    double rate = 0, *values[2];
    if (real != EG_F64) return;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    ins_problem p = ins_on(device, comm, ins_mesh(ctx, &every), &every, 3, false, TIME);
    for (int c = 0; c < 2; c++)
        values[c] = random_values(p.count, 41 + (uint64_t)c);
    const double *const w[2] = {values[0], values[1]};
    TEST_OK(ctx, eg_ins_speed_create(p.space, p.faces, &speed));
    for (int k = 0; k < 3; k++) { /* the fastest is inside, at a boundary, or none */
        for (int c = 0; c < 2; c++) {
            for (size_t i = 0; i < p.count; i++)
                values[c][i] *= k == 0 ? 9 : 0.01;
            if (k == 2) values[c][7] = NAN;
            TEST_OK(ctx, eg_field_from_host(p.w[c], values[c]));
        }
        TEST_OK(ctx, eg_ins_speed_find(speed, p.w, p.velocity_data, &rate));
        if (k == 2)
            assert_true(isnan(rate));
        else
            assert_near(rate, rate_on_host(&p, w), 1e-12 * rate, "rate", (size_t)k);
    }
    eg_ins_speed_destroy(&speed);
    for (int c = 0; c < 2; c++)
        free(values[c]);
    ins_free(&p);
    eg_comm_destroy(&comm);
}

static void test_ins__rate_is_that_of_the_fastest_node(void **state)
{
    (void)state;
    on_every_device(rates_body);
}

/* --- loads -------------------------------------------------------------------------------------- */

/* u = (x + y/2)³ of degree 3: the operator of model `elliptic` gives back the load of its data,
 * those of fluxes being twice half of them. */
static void load_body(eg_device *device, eg_type real)
{
    static const eg_elliptic_boundary types[] = {EG_ELLIPTIC_DIRICHLET, EG_ELLIPTIC_NEUMANN,
                                                 EG_ELLIPTIC_DIRICHLET, EG_ELLIPTIC_NEUMANN};
    static const char u[] = "(x + y/2)^3", slope_x[] = "3*(x + y/2)^2*t/0.7",
                      slope_y[] = "1.5*(x + y/2)^2*t/0.7";
    const char *const of_component_1[2] = {"3.5 - x", u};
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    eg_elliptic *A = NULL;
    eg_ins_data *fixed = NULL, *flux = NULL;
    eg_buffer *face_types = NULL;
    const double lambda = 0.7, scale = 0.3;
    if (real != EG_F64) return;
    set_pocl_optimises(false);
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    ins_problem p = ins_on(device, comm, ins_mesh(ctx, &every), &every, 3, false, TIME);
    eg_expression *e[4] = {expression(ctx, of_component_1[0]), expression(ctx, u),
                           expression(ctx, slope_x), expression(ctx, slope_y)};
    const eg_expression *values[2 * INS_BOUNDARIES], *slopes[INS_BOUNDARIES];
    for (int b = 0; b < INS_BOUNDARIES; b++) {
        values[2 * b] = e[0];
        values[2 * b + 1] = e[1];
        slopes[b] = e[b < 2 ? 2 : 3];
    }
    TEST_OK(ctx, eg_ins_data_create(p.faces, 2, values, &fixed));
    TEST_OK(ctx, eg_ins_data_create(p.faces, 1, slopes, &flux));
    TEST_OK(ctx, eg_ins_data_set(fixed, 2, (double[]){1, 2}, (double[]){0.75, 0.25}));
    TEST_OK(ctx, eg_ins_data_set(flux, 2, (double[]){TIME, 3 * TIME}, (double[]){-0.25, 0.25}));
    TEST_OK(ctx, eg_elliptic_create(
                     p.space, EG_F64,
                     &(eg_elliptic_options){.lambda = lambda, .types = types, .penalty = 1.7}, &A));
    TEST_OK(ctx, eg_ins_faces_spread(p.faces, (const int32_t[]){0, 1, 0, 1}, &face_types));
    fill(&p, (const char *const[]){u, "(0.7*(x + y/2)^3 - 7.5*(x + y/2))/0.3"}, p.w);
    TEST_OK(ctx, eg_elliptic_apply(A, p.w[0]->data, p.out[0]->data));
    TEST_OK(ctx, eg_ins_make_load(p.op,
                                  &(eg_ins_load){.f = p.w[1],
                                                 .scale = scale,
                                                 .tau = eg_elliptic_penalty(A),
                                                 .types = face_types,
                                                 .fixed = fixed,
                                                 .fixed_component = 1,
                                                 .flux = flux,
                                                 .flux_scale = 2},
                                  p.out[1]->data));
    double *b = random_values(p.count, 0);
    TEST_OK(ctx, eg_field_to_host(p.out[0], b));
    compare(&p, p.out[1], b, 1e-11, "load");
    free(b);
    eg_buffer_destroy(&face_types);
    eg_elliptic_destroy(&A);
    eg_ins_data_destroy(&flux);
    eg_ins_data_destroy(&fixed);
    for (size_t i = 0; i < EG_COUNT(e); i++)
        eg_expression_destroy(&e[i]);
    ins_free(&p);
    eg_comm_destroy(&comm);
    set_pocl_optimises(true);
}

static void test_ins__load_of_a_polynomial_is_what_the_operator_gives(void **state)
{
    (void)state;
    on_every_device(load_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_ins__operators_are_their_weak_forms),
        KERNEL_TEST(test_ins__operators_are_the_same_on_every_device),
        KERNEL_TEST(test_ins__advection_and_gradient_of_polynomials_are_exact),
        KERNEL_TEST(test_ins__inflow_is_that_of_polynomials),
        KERNEL_TEST(test_ins__rate_is_that_of_the_fastest_node),
        KERNEL_TEST(test_ins__load_of_a_polynomial_is_what_the_operator_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
