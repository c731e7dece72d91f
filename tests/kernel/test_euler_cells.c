/* Finite volumes of model `euler` on every device against plain loops that walk from cell to cell: a
 * stage of each order, number of points and limiter, on equal, graded, turned and perturbed elements;
 * that uniform flow stays as it is, that what is conserved stays for a thousand steps, and that limited
 * shocks make no new extrema. */
#include "euler_runs.h"
#include "kernel/devices.h"
#include "kernel/euler_gas.h"

typedef struct setting {
    const char *name;
    int order, points;
    bool limited;
    int flux, degree;
    double grading, perturb;
    bool periodic, turned, low_storage;
    bool everywhere; /* on every device, not on one thread of the CPU alone */
} setting;

static const setting settings[] = {
    {"squares", 2, 1, false, RUSANOV, 1, 1, 0, true, false, false, true},
    {"squares", 3, 2, false, ROE, 2, 1, 0, true, false, false, false},
    {"bounded squares", 2, 1, true, RUSANOV, 2, 1, 0, false, false, false, true},
    {"bounded squares", 3, 2, true, HLLC, 1, 1, 0, false, false, false, false},
    {"graded", 3, 1, false, ROE, 4, 2, 0, false, false, true, false},
    {"turned", 2, 1, false, HLLC, 1, 2, 0, false, true, false, false},
    {"turned", 3, 2, false, RUSANOV, 2, 1, 0, false, true, false, true},
    {"perturbed", 2, 1, true, ROE, 3, 1, 0.2, false, false, false, false},
    {"perturbed", 3, 2, false, HLLC, 2, 1, 0.2, false, true, false, false},
    {"perturbed", 3, 2, true, RUSANOV, 1, 2, 0.2, false, true, true, true},
};

typedef struct bench {
    const setting *s;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *given[4];
    eg_euler *op;
    const double *values; /* [element][4][cell] */
} bench;

static bench bench_new(eg_device *device, const setting *s)
{
    eg_context *ctx = eg_device_context(device);
    const eg_euler_scheme scheme = {
        .method = EG_EULER_FV, .order = s->order, .face_points = s->points, .limited = s->limited};
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
        given[i] = types[i / 4] == EG_EULER_WALL ? NULL : b.given[i % 4];
    assert_true(b.mesh->boundary_count <= (int)EG_COUNT(types));
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){.basis = EG_BASIS_CELLS,
                                                     .degree = s->degree,
                                                     .lanes = eg_euler_lanes(device, s->degree)},
                                 &b.space));
    TEST_OK(ctx, eg_euler_create(b.space,
                                 &(eg_euler_options){.scheme = scheme,
                                                     .flux = s->flux,
                                                     .gamma = GAMMA,
                                                     .low_storage = s->low_storage,
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

/* --- walking ---------------------------------------------------------------------------------- */

/* A cell of an element, and two directions there: on, and across to it. */
typedef struct place {
    int32_t element; /* -1 - b: behind boundary b */
    int at[2];       /* along r and s */
    int on, on_sign, across, across_sign;
} place;

static place turned_back(place p)
{
    p.on_sign = -p.on_sign;
    return p;
}

/* With `on` and `across` changed for each other. */
static place sideways(place p)
{
    return (place){p.element, {p.at[0], p.at[1]}, p.across, p.across_sign, p.on, p.on_sign};
}

/* Where a point of my face, at coordinate s across, is in the neighbour. */
static void cross_face(const bench *b, place p, int face, double s, double other[2])
{
    const size_t at = (size_t)p.element * (size_t)b->mesh->face_stride + (size_t)face;
    double point[2], on_face = s, there;
    eg_shape_face_points(EG_SHAPE_QUAD, face, 1, &on_face, point);
    if (fabs(point[1 - p.on] - s) > 1e-12) on_face = -on_face;
    eg_orientation_points(EG_SHAPE_LINE, EG_ORIENTATION(b->mesh->neighbour_face[at]), 1, &on_face,
                          &there);
    eg_shape_face_points(EG_SHAPE_QUAD, EG_FACE(b->mesh->neighbour_face[at]), 1, &there, other);
}

/* The next cell, and the same directions there. */
static place next_cell(const bench *b, place p)
{
    const int n = b->s->degree + 1;
    p.at[p.on] += p.on_sign;
    if (p.at[p.on] >= 0 && p.at[p.on] < n) return p;
    const int face = eg_shape_face_at(EG_SHAPE_QUAD, p.on, p.on_sign > 0);
    const size_t at = (size_t)p.element * (size_t)b->mesh->face_stride + (size_t)face;
    place q = {.element = b->mesh->neighbour[at]};
    if (q.element < 0) return q;
    const double s = (2.0 * p.at[1 - p.on] + 1 - n) / n;
    double here[2], further[2];
    bool high;
    cross_face(b, p, face, s, here);
    cross_face(b, p, face, s + 0.1 * p.across_sign, further);
    q.on = eg_shape_face_direction(EG_SHAPE_QUAD, EG_FACE(b->mesh->neighbour_face[at]), &high);
    q.on_sign = high ? -1 : 1;
    q.across = 1 - q.on;
    q.across_sign = further[q.across] > here[q.across] ? 1 : -1;
    q.at[q.on] = high ? n - 1 : 0;
    q.at[q.across] = (int)floor((here[q.across] + 1) / 2 * n);
    return q;
}

/* --- the scheme ------------------------------------------------------------------------------- */

/* Coordinates of a point of an element. */
static void point_at(const bench *b, int32_t e, const double *r, double *x)
{
    double nodes[8];
    eg_mesh_element_nodes(b->mesh, e, nodes);
    x[0] = x[1] = 0;
    for (int i = 0; i < 8; i++)
        x[i % 2] += 0.25 * (1 + (i & 2 ? 1 : -1) * r[0]) * (1 + (i & 4 ? 1 : -1) * r[1]) * nodes[i];
}

/* The two ends of the face that is on from a cell, in the direction of `across`. */
static void face_ends(const bench *b, place p, double ends[2][2])
{
    const int n = b->s->degree + 1;
    for (int i = 0; i < 2; i++) {
        double r[2];
        r[p.on] = (2.0 * p.at[p.on] + 1 - n + p.on_sign) / n;
        r[p.across] = (2.0 * p.at[p.across] + 1 - n + (i ? 1 : -1) * p.across_sign) / n;
        point_at(b, p.element, r, ends[i]);
    }
}

/* The vector through that face, outwards, as long as it is. */
static void face_normal(const bench *b, place p, double *normal)
{
    double ends[2][2], centre[2], r[2];
    const int n = b->s->degree + 1;
    face_ends(b, p, ends);
    for (int d = 0; d < 2; d++)
        r[d] = (2.0 * p.at[d] + 1 - n) / n;
    point_at(b, p.element, r, centre);
    normal[0] = ends[1][1] - ends[0][1];
    normal[1] = ends[0][0] - ends[1][0];
    const double out = normal[0] * (ends[0][0] - centre[0]) + normal[1] * (ends[0][1] - centre[1]);
    for (int d = 0; d < 2; d++)
        normal[d] *= out > 0 ? 1 : -1;
}

/* The area of a cell. */
static double area_of(const bench *b, place p)
{
    double low[2][2], high[2][2];
    face_ends(b, p, high);
    face_ends(b, turned_back(p), low);
    return 0.5 * fabs((high[1][0] - low[0][0]) * (high[0][1] - low[1][1]) -
                      (high[1][1] - low[0][1]) * (high[0][0] - low[1][0]));
}

/* What is behind the boundary on from a cell, at `aside` of half a face from its middle; `in` is what
 * the flux is from. */
static void behind(const bench *b, place p, int boundary, double aside, double *in, double *out)
{
    double ends[2][2], x[2], n[2];
    face_ends(b, p, ends);
    face_normal(b, p, n);
    const double size = hypot(n[0], n[1]), unit[2] = {n[0] / size, n[1] / size};
    for (int d = 0; d < 2; d++)
        x[d] = 0.5 * ((1 - aside) * ends[0][d] + (1 + aside) * ends[1][d]);
    behind_boundary(boundary, x, unit, in, out);
}

static double smaller(double a, double b)
{
    if (a * b <= 0) return 0;
    return fabs(a) < fabs(b) ? a : b;
}

static void mean_beside(const bench *b, place p, double aside, double *q);

/* The same of the cell on from it, or of what stands for it behind a boundary. */
static void next_mean(const bench *b, place p, double aside, double *q)
{
    const place next = next_cell(b, p);
    if (next.element >= 0) {
        mean_beside(b, next, aside, q);
        return;
    }
    double in[4], from[4];
    mean_beside(b, p, aside, in);
    memcpy(from, in, sizeof from);
    behind(b, p, -1 - next.element, aside, from, q);
    for (int c = 0; c < 4 && types[-1 - next.element] != EG_EULER_WALL; c++)
        q[c] = 2 * q[c] - in[c];
}

/* The mean of a cell along `on`, at `aside` of half a cell across. */
static void mean_beside(const bench *b, place p, double aside, double *q)
{
    const int n = b->s->degree + 1, np = n * n;
    double more[4], less[4];
    for (int c = 0; c < 4; c++)
        q[c] = b->values[(p.element * 4 + c) * np + p.at[1] * n + p.at[0]];
    if (aside == 0) return;
    next_mean(b, sideways(p), 0, more);
    next_mean(b, turned_back(sideways(p)), 0, less);
    for (int c = 0; c < 4; c++)
        q[c] +=
            0.5 * aside *
            (b->s->limited ? smaller(more[c] - q[c], q[c] - less[c]) : 0.5 * (more[c] - less[c]));
}

/* Density, velocity and pressure instead of conserved quantities, and back. */
static void primitive_of(double *q)
{
    const gas g = gas_of(q);
    const double w[4] = {g.rho, g.u, g.v, g.p};
    memcpy(q, w, sizeof w);
}

/* The state of a cell at the face that is on from it. */
static void state_at_face(const bench *b, place p, double aside, double *q)
{
    const double kappa = b->s->order == 3 ? 1.0 / 3 : 0, most = (3 - kappa) / (1 - kappa);
    double back[4], ahead[4], w[4];
    mean_beside(b, p, aside, w);
    next_mean(b, p, aside, ahead);
    next_mean(b, turned_back(p), aside, back);
    if (b->s->limited) {
        primitive_of(w);
        primitive_of(back);
        primitive_of(ahead);
    }
    for (int c = 0; c < 4; c++) {
        const double a = w[c] - back[c], f = ahead[c] - w[c];
        w[c] +=
            b->s->limited
                ? 0.25 * ((1 - kappa) * smaller(a, most * f) + (1 + kappa) * smaller(f, most * a))
                : 0.25 * ((1 - kappa) * a + (1 + kappa) * f);
    }
    memcpy(q, w, sizeof w);
    if (b->s->limited) conserved_of(w[0], w[1], w[2], w[3], q);
}

/* Takes away what flows out through the face that is on from a cell. */
static void add_face(const bench *b, place p, double area, double *rate)
{
    const double gauss = sqrt(1.0 / 3);
    double normal[2], in[4], out[4], f[4];
    face_normal(b, p, normal);
    const place next = next_cell(b, p);
    for (int k = 0; k < b->s->points; k++) {
        const double aside = b->s->points == 1 ? 0 : k ? gauss : -gauss;
        state_at_face(b, p, aside, in);
        if (next.element >= 0)
            state_at_face(b, turned_back(next), aside, out);
        else
            behind(b, p, -1 - next.element, aside, in, out);
        numerical_flux(b->s->flux, in, out, normal, f);
        for (int c = 0; c < 4; c++)
            rate[c] -= f[c] / (area * b->s->points);
    }
}

/* --- tests ------------------------------------------------------------------------------------ */

static void rate_of(const bench *b, int32_t e, int i, double *rate)
{
    const int n = b->s->degree + 1;
    for (int side = 0; side < 4; side++) {
        const place p = {e, {i % n, i / n}, side / 2, side % 2 ? 1 : -1, 1 - side / 2, 1};
        add_face(b, p, area_of(b, p), rate);
    }
}

static void check_setting(eg_device *device, const setting *s)
{
    bench b = bench_new(device, s);
    eg_context *ctx = b.space->ctx;
    const eg_stage stage = {.time = TIME,
                            .dt = 0.01,
                            .low_storage = s->low_storage,
                            .a = 0.75,
                            .b = 0.5,
                            .c = 0.25,
                            .A = -0.5,
                            .B = 0.375};
    const double wl = s->low_storage ? stage.dt : stage.c * stage.dt, nan = NAN;
    const int np = (s->degree + 1) * (s->degree + 1);
    double *first, *current, *k, *poison;
    eg_field *first_field = random_states(b.space, 1, &first);
    eg_field *current_field = random_states(b.space, 2, &current);
    eg_field *k_field = random_states(b.space, 3, &k);
    eg_field *out_field = random_states(b.space, 4, &poison);
    b.values = current;
    TEST_OK(ctx, eg_buffer_fill(out_field->data, 0, eg_buffer_count(out_field->data), &nan));
    TEST_OK(ctx, eg_euler_begin(b.op, current_field));
    TEST_OK(ctx, eg_euler_stage(b.op, &stage, first_field, current_field, k_field, out_field));
    double *out = new_values(eg_field_host_count(out_field));
    TEST_OK(ctx, eg_field_to_host(out_field, out));
    for (int32_t e = 0; e < b.mesh->element_count; e++)
        for (int i = np > 16 ? e % 5 : 0; i<np; i += np> 16 ? 5 : 1) {
            double rate[4] = {0};
            rate_of(&b, e, i, rate);
            for (int c = 0; c < 4; c++) {
                const size_t at = (size_t)((e * 4 + c) * np + i);
                const double expected =
                    s->low_storage ? current[at] + stage.B * (stage.A * k[at] + wl * rate[c])
                                   : stage.a * first[at] + stage.b * current[at] + wl * rate[c];
                assert_near(out[at], expected, 1e-12, s->name, at);
            }
        }
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

static void check_everywhere(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    for (size_t i = 0; i < EG_COUNT(settings); i++) {
        if (!settings[i].everywhere) continue;
        set_pocl_optimises(&settings[i] == settings); /* but one */
        now_at(device, real, "%s, setting %zu", settings[i].name, i);
        check_setting(device, &settings[i]);
    }
}

static void test_euler_cells__stages_on_every_device(void **state)
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

static void test_euler_cells__stages_on_a_cpu(void **state)
{
    (void)state;
    on_one_core(check_on_cpu);
}

/* What the schemes differ in. */
static const char *const variants[][3] = {
    {"scheme.order=2", "scheme.face_points=1", "limiter.method=none"},
    {"scheme.order=2", "scheme.face_points=2", "limiter.method=minmod"},
    {"scheme.order=3", "scheme.face_points=1", "limiter.method=minmod"},
    {"scheme.order=3", "scheme.face_points=2", "limiter.method=none"}};

static const char uniform[] =
    "model = \"euler\"\n"
    "[mesh]\nshape = \"quadrilateral\"\ncells = [9, 7]\nperturb = 0.25\nperiodic = [\"x\", \"y\"]\n"
    "[space]\ndegree = 1\n[scheme]\nmethod = \"fv\"\n"
    "[initial]\nrho = 1.3\nu = 0.7\nv = -0.4\np = 0.9\n"
    "[exact]\nrho = 1.3\nu = 0.7\nv = -0.4\np = 0.9\n"
    "[time]\ncfl = 0.2\nend = 0.2\n";

static void test_euler_cells__uniform_flow_stays_on_perturbed_meshes(void **state)
{
    static const char *const degrees[] = {"space.degree=1", "space.degree=2"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(variants); i++) {
        const char *const *v = variants[i];
        const char *const overrides[] = {v[0], v[1], v[2], degrees[i % 2]};
        const euler_figures found = euler_run_text(device, uniform, overrides, 4);
        assert_true(found.steps > 10);
        for (int c = 0; c < 4; c++)
            if (!(found.linf[c] < 1e-12))
                fail_msg("%s %s %s: component %d is off by %g", v[0], v[1], v[2], c, found.linf[c]);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

static void test_euler_cells__conserve_for_a_thousand_steps(void **state)
{
    static const char *const meshes[] = {"mesh.perturb=0", "mesh.perturb=0.15"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(variants); i++) {
        const char *const *v = variants[i];
        const char *const overrides[] = {v[0],
                                         v[1],
                                         v[2],
                                         "scheme.method=fv",
                                         meshes[i % 2],
                                         "time.dt=0.01",
                                         "time.end=10",
                                         "scheme.flux=\"hllc\"",
                                         "mesh.cells=[6,5]"};
        const euler_figures found =
            euler_run_file(device, "euler-vortex.toml", overrides, EG_COUNT(overrides));
        assert_true(found.steps == 1000);
        for (int c = 0; c < 4; c++) /* relative to what there is of mass or energy */
            if (!(fabs(found.end[c] - found.start[c]) < 1e-12 * (c == 3 ? 295 : 98)))
                fail_msg("%s %s %s: component %d changes from %.17g to %.17g", v[0], v[1], v[2], c,
                         found.start[c], found.end[c]);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

static const char blast[] =
    "model = \"euler\"\n"
    "[mesh]\nshape = \"quadrilateral\"\ncells = [20, 20]\nperturb = 0.1\n"
    "[space]\ndegree = 1\n[scheme]\nmethod = \"fv\"\nflux = \"hllc\"\n"
    "[initial]\nrho = \"x^2 + y^2 < 0.25 ? 1 : 0.125\"\nu = 0.0\nv = 0.0\n"
    "p = \"x^2 + y^2 < 0.25 ? 1 : 0.1\"\n"
    "[boundary.left]\ntype = \"wall\"\n[boundary.bottom]\ntype = \"wall\"\n"
    "[boundary.right]\ntype = \"outflow\"\n[boundary.top]\ntype = \"outflow\"\n"
    "[time]\ncfl = 0.4\nend = 0.15\n";

/* The range of density at the end, seen by `look`, which stands for the `details` of the model. */
static struct {
    const eg_model *model;
    double least, most;
} seen;

static eg_status look(void *state, eg_facts *facts)
{
    eg_state shown = {0};
    seen.model->show(state, &shown);
    const eg_field *field = shown.fields[0].field;
    const size_t count = eg_field_host_count(field);
    const size_t np = (size_t)field->space->groups[0].element->np;
    double *values = new_values(count);
    TEST_OK(field->space->ctx, eg_field_to_host(field, values));
    seen.least = INFINITY;
    seen.most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (i / np % 4 != 0) continue;
        seen.least = fmin(seen.least, values[i]);
        seen.most = fmax(seen.most, values[i]);
    }
    free(values);
    return seen.model->details(state, facts);
}

static void explode(eg_device *device, const char *const *overrides, size_t count)
{
    eg_context *ctx = eg_device_context(device);
    eg_case *cas = NULL;
    TEST_OK(ctx, eg_model_open_text(ctx, "case", blast, strlen(blast), overrides, count,
                                    &seen.model, &cas));
    eg_model watched = *seen.model;
    watched.details = look;
    euler_run(device, &watched, &cas);
}

/* Along a line of equal cells a scalar would make none at all; a gas on these does, below a millionth. */
static void test_euler_cells__limited_shocks_make_no_new_extrema(void **state)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(variants); i++) {
        const char *const overrides[] = {variants[i][0], variants[i][1], "limiter.method=minmod"};
        explode(device, overrides, EG_COUNT(overrides));
        if (!(seen.least >= 0.125 - 1e-5 && seen.most <= 1 + 1e-5))
            fail_msg("%s %s: density is from %.15g to %.15g", overrides[0], overrides[1],
                     seen.least, seen.most);
    }
    /* It takes a limiter: without one even a small jump makes some. */
    static const char *const small[] = {"limiter.method=none",
                                        "initial.rho=x^2 + y^2 < 0.25 ? 1 : 0.8",
                                        "initial.p=x^2 + y^2 < 0.25 ? 1 : 0.8"};
    explode(device, small, EG_COUNT(small));
    assert_true(seen.least < 0.8 - 1e-3);
    eg_device_close(&device);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_euler_cells__stages_on_every_device),
        KERNEL_TEST(test_euler_cells__stages_on_a_cpu),
        cmocka_unit_test(test_euler_cells__uniform_flow_stays_on_perturbed_meshes),
        cmocka_unit_test(test_euler_cells__conserve_for_a_thousand_steps),
        cmocka_unit_test(test_euler_cells__limited_shocks_make_no_new_extrema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
