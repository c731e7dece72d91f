/* Penalties on divergence and normal jumps: the operator against its bilinear form on the host, on random
 * fields with boundaries of every kind, and what it makes of a velocity. */
#include "ins.h"
#include "kernel/devices.h"

#include "model/ins/continuity.h"

#define TIME 0.7
#define STRENGTH 1.5
#define DT 0.2

static const ins_case every = {"every kind", .cells = {3, 3},
                               .kinds = {EG_INS_GIVEN, EG_INS_OUTFLOW, EG_INS_SLIP, EG_INS_GIVEN}};
static const ins_case turned = {"turned", .cells = {3, 2}, .turned = true, .kinds = {EG_INS_GIVEN}};
static const ins_case periodic = {"periodic", .cells = {3, 2}, .periodic = true,
                                  .kinds = {EG_INS_SLIP, EG_INS_GIVEN}};

/* What it is made of on the host. */
typedef struct host {
    const ins_problem *p;
    test_mapping mapping;
    eg_cubature *inner, *face;
    double *strength; /* [elements] STRENGTH DT sqrt(∫|w|²/|element|) */
    double *size;     /* [elements] sqrt(|element|) */
    form_point *at;   /* [2] */
} host;

static double sum_of(const host *h, int side, int32_t e, const double *values)
{
    const int np = h->p->space->groups[0].element->np;
    return dot_of((size_t)np, h->at[side].value, values + (size_t)(e * np));
}

/* w [2]: what strengths are taken from. */
static host host_new(const ins_problem *p, const double *const w[2])
{
    const eg_element *element = p->space->groups[0].element;
    const size_t count = (size_t)p->mesh->element_count;
    host h = {.p = p, .mapping = test_mapping_new(p->mesh)};
    h.strength = malloc(count * sizeof *h.strength);
    h.size = malloc(count * sizeof *h.size);
    h.at = malloc(2 * sizeof *h.at);
    assert_true(h.strength && h.size && h.at);
    TEST_OK(p->ctx, eg_cubature_create(p->ctx, EG_SHAPE_TRI, 2 * element->degree, EG_CUBATURE_BEST,
                                       &h.inner));
    TEST_OK(p->ctx, eg_cubature_create(p->ctx, EG_SHAPE_LINE, 2 * element->degree, EG_CUBATURE_BEST,
                                       &h.face));
    for (int32_t e = 0; e < p->mesh->element_count; e++) {
        double square = 0, area = 0;
        for (int q = 0; q < h.inner->count; q++) {
            const double r[2] = {h.inner->r[q], h.inner->r[h.inner->count + q]};
            form_at(&h.mapping, element, e, -1, r, &h.at[0]);
            const double u = sum_of(&h, 0, e, w[0]), v = sum_of(&h, 0, e, w[1]);
            square += h.inner->w[q] * h.at[0].det * (u * u + v * v);
            area += h.inner->w[q] * h.at[0].det;
        }
        h.strength[e] = STRENGTH * DT * sqrt(square / area);
        h.size[e] = sqrt(area);
    }
    return h;
}

static void host_free(host *h)
{
    eg_cubature_destroy(&h->face);
    eg_cubature_destroy(&h->inner);
    test_mapping_free(&h->mapping);
    free(h->at);
    free(h->size);
    free(h->strength);
}

/* Adds what inside of element e is tested with φ_i in component c; penalty: 0 for the mass matrix alone. */
static void add_inside(const host *h, int32_t e, double penalty, const double *const x[2],
                       double *y[2])
{
    const eg_element *element = h->p->space->groups[0].element;
    const int np = element->np;
    for (int q = 0; q < h->inner->count; q++) {
        const double r[2] = {h->inner->r[q], h->inner->r[h->inner->count + q]};
        double divergence = 0;
        form_at(&h->mapping, element, e, -1, r, &h->at[0]);
        for (int i = 0; i < np; i++)
            for (int c = 0; c < 2; c++)
                divergence += h->at[0].gradient[i][c] * x[c][e * np + i];
        for (int c = 0; c < 2; c++)
            for (int i = 0; i < np; i++)
                y[c][e * np + i] += h->inner->w[q] * h->at[0].det *
                                    (h->at[0].value[i] * sum_of(h, 0, e, x[c]) +
                                     penalty * h->strength[e] * h->size[e] / (element->degree + 1) *
                                         h->at[0].gradient[i][c] * divergence);
    }
}

/* Adds faces of element e; `given`: the share of the velocity that is given at boundaries. */
static void add_faces(const host *h, int32_t e, double given, const double *const x[2],
                      double *y[2])
{
    const eg_mesh *mesh = h->p->mesh;
    const eg_element *element = h->p->space->groups[0].element;
    for (int f = 0; f < 3; f++)
        for (int q = 0; q < h->face->count; q++) {
            const int32_t slot = e * mesh->face_stride + f, n = mesh->neighbour[slot];
            double r[2], s[1] = {h->face->r[q]}, other[1], jump = 0, strength = h->strength[e];
            eg_shape_face_points(EG_SHAPE_TRI, f, 1, s, r);
            form_at(&h->mapping, element, e, f, r, &h->at[0]);
            const double *normal = h->at[0].normal;
            if (n >= 0) {
                eg_orientation_points(EG_SHAPE_LINE, EG_ORIENTATION(mesh->neighbour_face[slot]), 1,
                                      s, other);
                eg_shape_face_points(EG_SHAPE_TRI, EG_FACE(mesh->neighbour_face[slot]), 1, other,
                                     r);
                form_at(&h->mapping, element, n, EG_FACE(mesh->neighbour_face[slot]), r, &h->at[1]);
                strength = 0.5 * (h->strength[e] + h->strength[n]);
            } else if (h->p->c->kinds[-1 - n] == EG_INS_OUTFLOW) {
                continue;
            }
            for (int c = 0; c < 2; c++) {
                jump += normal[c] * sum_of(h, 0, e, x[c]);
                if (n >= 0)
                    jump -= normal[c] * sum_of(h, 1, n, x[c]);
                else if (h->p->c->kinds[-1 - n] == EG_INS_GIVEN)
                    jump -= given * normal[c] * ins_at(h->p->velocity[c], h->at[0].x, TIME);
            }
            for (int c = 0; c < 2; c++)
                for (int i = 0; i < element->np; i++)
                    y[c][e * element->np + i] += h->face->w[q] * h->at[0].size * strength *
                                                 normal[c] * h->at[0].value[i] * jump;
        }
}

/* y [2] = A x - given data; with penalty 0 the mass matrix alone. */
static void apply_on_host(const host *h, double penalty, double given, const double *const x[2],
                          double *y[2])
{
    for (int c = 0; c < 2; c++)
        memset(y[c], 0, h->p->count * sizeof *y[c]);
    for (int32_t e = 0; e < h->p->mesh->element_count; e++) {
        add_inside(h, e, penalty, x, y);
        if (penalty > 0) add_faces(h, e, given, x, y);
    }
}

static void compare(const ins_problem *p, const double *found, const double *expected,
                    double tolerance, const char *what)
{
    double most = 0;
    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < p->count; i++)
        assert_near(found[i], expected[i], tolerance * most, what, i);
}

/* A field's host values are [elements][components][nodes]. */
static void join(const ins_problem *p, const double *const parts[2], double *both)
{
    const size_t np = (size_t)p->space->groups[0].element->np;
    for (size_t i = 0; i < p->count; i++)
        for (size_t c = 0; c < 2; c++)
            both[(i / np * 2 + c) * np + i % np] = parts[c][i];
}

static void compare_with_form(eg_device *device, const ins_case *c, int degree)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    eg_ins_continuity *continuity = NULL;
    eg_field *x = NULL, *y = NULL;
    const eg_ins_continuity_options options = {STRENGTH, 1e-13, 1000};
    const double nan = NAN;
    int iterations = 0;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    now_at(device, EG_F64, "%s, degree %d", c->name, degree);
    ins_problem p = ins_on(device, comm, ins_mesh(ctx, c), c, degree, false, TIME);
    double *values[4], *result[2], *wide[2];
    for (int k = 0; k < 4; k++)
        values[k] = random_values(p.count, 29 + (uint64_t)k);
    for (int k = 0; k < 2; k++) {
        result[k] = random_values(p.count, 0);
        wide[k] = random_values(2 * p.count, 0);
        TEST_OK(ctx, eg_field_from_host(p.w[k], values[k]));
    }
    const double *const w[2] = {values[0], values[1]}, *const in[2] = {values[2], values[3]};
    const double *const out[2] = {result[0], result[1]};
    host h = host_new(&p, w);
    TEST_OK(ctx, eg_ins_continuity_create(p.space, p.faces, &options, &continuity));

    TEST_OK(ctx, eg_field_create(p.space, 2, EG_F64, &x));
    TEST_OK(ctx, eg_field_create(p.space, 2, EG_F64, &y));
    join(&p, in, wide[0]);
    TEST_OK(ctx, eg_field_from_host(x, wide[0]));
    TEST_OK(ctx, eg_buffer_fill(y->data, y->offset[0], y->offset[1] - y->offset[0], &nan));
    TEST_OK(ctx, eg_ins_continuity_prepare(continuity, p.w, DT));
    TEST_OK(ctx, eg_ins_continuity_apply(continuity, x->data, y->data));
    TEST_OK(ctx, eg_field_to_host(y, wide[0]));
    apply_on_host(&h, 1, 0, in, result);
    join(&p, out, wide[1]);
    compare(&p, wide[0], wide[1], 1e-12, "the operator");
    compare(&p, wide[0] + p.count, wide[1] + p.count, 1e-12, "the operator");

    /* The solution: A w is what ŵ and the boundaries give. */
    TEST_OK(ctx, eg_ins_continuity_run(continuity, p.velocity_data, DT, p.w, &iterations));
    assert_true(iterations > 0);
    for (int k = 0; k < 2; k++)
        TEST_OK(ctx, eg_field_to_host(p.w[k], values[2 + k]));
    apply_on_host(&h, 1, 1, in, result);
    join(&p, out, wide[0]);
    apply_on_host(&h, 0, 0, w, result);
    join(&p, out, wide[1]);
    compare(&p, wide[0], wide[1], 1e-10, "the solution");
    compare(&p, wide[0] + p.count, wide[1] + p.count, 1e-10, "the solution");

    eg_field_destroy(&y);
    eg_field_destroy(&x);
    eg_ins_continuity_destroy(&continuity);
    host_free(&h);
    for (int k = 0; k < 2; k++) {
        free(wide[k]);
        free(result[k]);
    }
    for (int k = 0; k < 4; k++)
        free(values[k]);
    ins_free(&p);
    eg_comm_destroy(&comm);
}

static void forms_body(eg_device *device)
{
    for (int degree = 1; degree <= 4; degree++)
        compare_with_form(device, &every, degree);
    compare_with_form(device, &turned, 3);
    compare_with_form(device, &periodic, 2);
}

static void test_ins_continuity__operator_and_solution_are_those_of_the_form(void **state)
{
    (void)state;
    on_one_core(forms_body);
}

static void devices_body(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    set_pocl_optimises(false);
    compare_with_form(device, &every, 3);
    set_pocl_optimises(true);
}

static void test_ins_continuity__is_the_same_on_every_device(void **state)
{
    (void)state;
    on_every_device(devices_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_ins_continuity__operator_and_solution_are_those_of_the_form),
        KERNEL_TEST(test_ins_continuity__is_the_same_on_every_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
