/* `ins`: the kernels of incompressible flow on affine triangles, with values at random.
 *
 *     sav         advection in subcycles, what the inside of elements gives ([karakus2018] algorithm 3)
 *     sas         … and what their faces do (algorithm 4)
 *     advect      a velocity that carries itself: both in turn
 *     gradient    of the pressure, added to a velocity
 *     divergence  of a velocity
 *
 * at degrees 1 … 10; n = (N + 1)(N + 2)/2 nodes, m = N + 1 on a face, c and q points of the element
 * and of a face for integrals of degree 3 N.
 *
 * Necessary values of an element, each of the 3 N nodes on faces counted once, and in memory as a
 * node of its own element only, 14 that describe it and its faces (4 in sav), and 15 bytes that name
 * the neighbours (none in sav):
 *
 *     sav         6 n         two velocities at all nodes, one result
 *     sas         12 N + 4 n  two velocities on faces, a result that is read and written
 *     advect      4 n
 *     gradient    5 n
 *     divergence  3 n
 *
 * Necessary flops, those of products alone: sav 16 c n, sas 36 q m + 12 q n, advect 12 c n + the same,
 * gradient 4 n² + 12 m n, divergence 4 n² + 6 m n. */
#include "bench/run.h"
#include "model/ins/operator.h"

#include <math.h>
#include <stdio.h>

enum { BOUNDARIES = 4 };

typedef struct problem {
    eg_bench_triangles on;
    eg_ins_faces *faces;
    eg_expression *expression[4];   /* of a and w */
    eg_ins_data *carrier, *carried; /* a and w at boundaries */
    eg_ins_operator *op;
    eg_field *a[2], *w[2], *out[2];
} problem;

static eg_status inside(void *user)
{
    problem *p = user;
    return eg_ins_carry_inside(p->op, p->a, p->w, p->out);
}

static eg_status on_faces(void *user)
{
    problem *p = user;
    eg_buffer *values = eg_ins_data_values(p->carried);
    return eg_ins_carry_faces(p->op, p->a, p->carrier, p->w, &(eg_ins_inflow){values, values, 0},
                              p->out);
}

static eg_status carry(void *user)
{
    eg_status status = inside(user);
    return status == EG_OK ? on_faces(user) : status;
}

static eg_status advect(void *user)
{
    problem *p = user;
    return eg_ins_advect(p->op, p->a, p->carrier, p->out);
}

static eg_status gradient(void *user)
{
    problem *p = user;
    return eg_ins_gradient(p->op, p->w[0], p->carried, 1, 1e-9, p->out);
}

static eg_status divergence(void *user)
{
    problem *p = user;
    return eg_ins_divergence(p->op, p->w, p->carried, p->out[0]);
}

/* --- set-up ----------------------------------------------------------------------------------- */

static void destroy(problem *p)
{
    for (int i = 0; i < 2; i++) {
        eg_field_destroy(&p->out[i]);
        eg_field_destroy(&p->w[i]);
        eg_field_destroy(&p->a[i]);
    }
    eg_ins_operator_destroy(&p->op);
    eg_ins_data_destroy(&p->carried);
    eg_ins_data_destroy(&p->carrier);
    for (int i = 0; i < 4; i++)
        eg_expression_destroy(&p->expression[i]);
    eg_ins_faces_destroy(&p->faces);
    eg_bench_triangles_destroy(&p->on);
}

static eg_status parse(eg_bench *bench, const char *text, eg_expression **out)
{
    static const eg_symbol symbols[] = {{.name = "x", .variable = EG_VARIABLE_X},
                                        {.name = "y", .variable = EG_VARIABLE_Y}};
    return eg_expression_create(bench->ctx, text, symbols, EG_COUNT(symbols), NULL, out);
}

/* a = (1 + x/2 - y, x + y/3), w = ((x + 2y)^N, (2x + y)^N) */
static eg_status make_data(eg_bench *bench, int degree, problem *p)
{
    const eg_expression *list[2][2 * BOUNDARIES];
    char text[4][64] = {"1 + x/2 - y", "x + y/3"};
    eg_status status = EG_OK;
    snprintf(text[2], sizeof text[2], "(x + 2*y)^%d", degree);
    snprintf(text[3], sizeof text[3], "(2*x + y)^%d", degree);
    for (int i = 0; i < 4; i++) {
        EG_TRY(parse(bench, text[i], &p->expression[i]));
        for (int b = 0; b < BOUNDARIES; b++)
            list[i / 2][2 * b + i % 2] = p->expression[i];
    }
    EG_TRY(eg_ins_data_create(p->faces, 2, list[0], &p->carrier));
    EG_TRY(eg_ins_data_create(p->faces, 2, list[1], &p->carried));
    EG_TRY(eg_ins_data_set(p->carrier, 1, &(double){0}, &(double){1}));
    EG_TRY(eg_ins_data_set(p->carried, 1, &(double){0}, &(double){1}));
done:
    return status;
}

/* On a square of 2 cells² triangles at whose sides the velocity is given. */
static eg_status create(eg_bench *bench, int cells, int degree, problem *p)
{
    static const eg_ins_kind kinds[BOUNDARIES] = {EG_INS_GIVEN, EG_INS_GIVEN, EG_INS_GIVEN,
                                                  EG_INS_GIVEN};
    eg_status status = EG_OK;
    EG_TRY(eg_bench_triangles_create(bench, cells, degree, eg_ins_lanes, &p->on));
    EG_TRY(eg_ins_faces_create(p->on.space, kinds, &p->faces));
    EG_TRY(make_data(bench, degree, p));
    EG_TRY(eg_ins_operator_create(p->on.space, p->faces, &(eg_ins_advection_options){0}, &p->op));
    for (int i = 0; i < 2; i++) {
        EG_TRY(eg_field_create(p->on.space, 1, EG_F64, &p->a[i]));
        EG_TRY(eg_field_create(p->on.space, 1, EG_F64, &p->w[i]));
        EG_TRY(eg_field_create(p->on.space, 1, EG_F64, &p->out[i]));
    }
done:
    return status;
}

static eg_status fill(eg_bench *bench, problem *p)
{
    eg_field *const fields[] = {p->a[0], p->a[1], p->w[0], p->w[1], p->out[0], p->out[1]};
    const size_t begin = p->a[0]->offset[0], count = p->a[0]->offset[1] - begin;
    eg_buffer *values = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_bench_random_buffer(bench, 7, count, &values));
    for (size_t i = 0; i < EG_COUNT(fields); i++)
        EG_TRY(eg_buffer_copy(fields[i]->data, begin, values, 0, count));
done:
    eg_buffer_destroy(&values);
    return status;
}

/* --- verification ----------------------------------------------------------------------------- */

/* Results against expressions; NULL: there is no second. A derivative multiplies rounding by some N². */
static eg_status compare(eg_bench *bench, const problem *p, const char *what, const char *first,
                         const char *second)
{
    const int degree = p->on.space->groups[0].degree;
    const char *const texts[] = {first, second};
    const size_t count = eg_field_host_count(p->out[0]);
    eg_expression *e = NULL;
    eg_function *function = NULL;
    double *got = NULL, *want = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(bench->ctx, count, &got));
    EG_TRY(eg_new(bench->ctx, count, &want));
    for (int c = 0; c < 2 && texts[c]; c++) {
        EG_TRY(eg_field_to_host(p->out[c], got));
        EG_TRY(parse(bench, texts[c], &e));
        EG_TRY(eg_function_create(p->on.space, (const eg_expression *[]){e}, 1, &function));
        EG_TRY(eg_function_interpolate(function, 0, p->out[c]));
        EG_TRY(eg_field_to_host(p->out[c], want));
        EG_TRY(eg_bench_compare_within(bench, what, 0, 1e-12 * degree * degree, got, want, count));
        eg_function_destroy(&function);
        eg_expression_destroy(&e);
    }
done:
    eg_function_destroy(&function);
    eg_expression_destroy(&e);
    eg_release(bench->ctx, &want);
    eg_release(bench->ctx, &got);
    return status;
}

/* Polynomials for which all of them are exact, on a small mesh, whose kernels are those that are timed:
 * ∇·(a⊗w) = a·∇w + 5/6 w, as ∇·a = 5/6. */
static eg_status verify(eg_bench *bench, int degree)
{
    eg_field *fields[4];
    problem p = {0};
    char u[192], v[192];
    eg_function *function = NULL;
    eg_status status = EG_OK;
    EG_TRY(create(bench, 6, degree, &p));
    for (int i = 0; i < 4; i++) {
        fields[i] = i < 2 ? p.a[i] : p.w[i - 2];
        EG_TRY(eg_function_create(p.on.space, (const eg_expression *[]){p.expression[i]}, 1,
                                  &function));
        EG_TRY(eg_function_interpolate(function, 0, fields[i]));
        eg_function_destroy(&function);
    }
    EG_TRY(carry(&p));
    snprintf(u, sizeof u, "%d*(x + 2*y)^%d*(1 + x/2 - y + 2*(x + y/3)) + 5*(x + 2*y)^%d/6", degree,
             degree - 1, degree);
    snprintf(v, sizeof v, "%d*(2*x + y)^%d*(2*(1 + x/2 - y) + x + y/3) + 5*(2*x + y)^%d/6", degree,
             degree - 1, degree);
    EG_TRY(compare(bench, &p, "sav and sas", u, v));
    EG_TRY(advect(&p));
    EG_TRY(
        compare(bench, &p, "advect", "(1 + x/2 - y)*4/3 - x - y/3", "1 + x/2 - y + (x + y/3)*7/6"));
    EG_TRY(divergence(&p));
    snprintf(u, sizeof u, "%d*(x + 2*y)^%d + %d*(2*x + y)^%d", degree, degree - 1, degree,
             degree - 1);
    EG_TRY(compare(bench, &p, "divergence", u, NULL));
    EG_TRY(eg_ins_gradient(p.op, p.w[0], p.carried, 0, 1, p.out));
    snprintf(u, sizeof u, "%d*(x + 2*y)^%d", degree, degree - 1);
    snprintf(v, sizeof v, "%d*(x + 2*y)^%d", 2 * degree, degree - 1);
    EG_TRY(compare(bench, &p, "gradient", u, v));
    /* … and of what is added to what was there: -1 + 2. */
    EG_TRY(eg_ins_gradient(p.op, p.w[0], p.carried, 0, -1, p.out));
    EG_TRY(eg_ins_gradient(p.op, p.w[0], p.carried, 1, 2, p.out));
    EG_TRY(compare(bench, &p, "gradient that is added", u, v));
done:
    eg_function_destroy(&function);
    destroy(&p);
    return status;
}

/* --- points ----------------------------------------------------------------------------------- */

static double padded(double n)
{
    return ceil(n / 8) * 8;
}

static eg_status measure(eg_bench *bench, int degree)
{
    const double n = 0.5 * (degree + 1) * (degree + 2), m = degree + 1;
    const double values = (bench->info->is_gpu ? 4e7 : 2e6) / (bench->options->quick ? 8 : 1);
    problem p = {0};
    eg_bench_roof roof = {0};
    char size[32];
    int inner = 0, face = 0;
    eg_status status = EG_OK;
    snprintf(size, sizeof size, "N=%d", degree);
    eg_bench_progress(bench, "%s", size);
    EG_TRY(verify(bench, degree));
    EG_TRY(create(bench, (int)ceil(sqrt(values / (2 * n))), degree, &p));
    EG_TRY(fill(bench, &p));
    eg_ins_points(p.op, &inner, &face);
    const double c = inner, q = face, k = p.on.mesh->element_count;
    const double sides = 36 * q * m + 12 * q * n;
    const double padded_sides = 36 * padded(q) * padded(m) + 4 * padded(3 * q) * padded(n);
    const double named = 8 * 14 + 15; /* bytes that describe an element and its neighbours */
    const struct {
        const char *name;
        eg_bench_body *body;
        double bytes, flops, padded_flops;
    } rows[] = {
        {"sav", inside, 8 * (6 * n + 4), 16 * c * n, 16 * padded(c) * padded(n)},
        {"sas", on_faces, 8 * (12 * degree + 4 * n) + named, sides, padded_sides},
        {"advect", advect, 8 * 4 * n + named, 12 * c * n + sides,
         12 * padded(c) * padded(n) + padded_sides},
        {"gradient", gradient, 8 * 5 * n + named, 4 * n * n + 12 * m * n,
         2 * padded(2 * n) * padded(n) + 4 * padded(3 * m) * padded(n)},
        {"divergence", divergence, 8 * 3 * n + named, 4 * n * n + 6 * m * n,
         2 * padded(2 * n + 3 * m) * padded(n)},
    };
    EG_TRY(eg_bench_roof_create(bench, (size_t)(k * 8 * 6 * n), bench->info->has_tensor_f64, EG_F64,
                                &roof));
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        eg_bench_work work = {.name = rows[i].name,
                              .size = size,
                              .bytes = k * rows[i].bytes,
                              .flops = k * rows[i].flops,
                              .in_paper = i < 2};
        EG_TRY(eg_bench_roof_add(bench, &roof, rows[i].body, &p, k * rows[i].padded_flops, &work));
    }
done:
    eg_bench_roof_destroy(&roof);
    destroy(&p);
    return status;
}

static eg_status run(eg_bench *bench)
{
    eg_status status = EG_OK;
    /* For the picture; every degree has its own. */
    EG_TRY(eg_bench_measure_ceilings(bench, bench->info->is_gpu ? (size_t)1.9e9 : (size_t)1e8));
    for (int degree = 1; degree <= EG_BENCH_MAX_DEGREE; degree++)
        if (eg_bench_wants(bench, degree)) EG_TRY(measure(bench, degree));
done:
    return status;
}

const eg_bench_driver eg_bench_ins = {
    .name = "ins",
    .summary = "advection, gradient and divergence of incompressible flow on triangles, by degree",
    .on_roofline = true,
    .most_degree = EG_BENCH_MAX_DEGREE,
    .run = run,
};
