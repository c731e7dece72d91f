/* `elliptic`: the product A u of the symmetric interior penalty method on affine triangles with
 * k = 1 and λ = 0, in double and in single precision, and the gradient of u at the nodes.
 *
 *     elliptic, elliptic-f32   degrees 1 … 10; n = (N + 1)(N + 2)/2 nodes, m = N + 1 on a face
 *     elliptic-blocks          where there are tensor cores: by affine_block.k.c, beside what is in use
 *     gradient                 the same
 *
 * Necessary bytes of an element are those that two passes move where Q goes through memory
 * (model/elliptic/affine_chain.k.c), what is read from neighbours not counted again: 3 n + 6 m + 9
 * values (of degree 1, where one value of Q will do for a face, 3 n + 6 + 9), and 15 bytes that name
 * the neighbours; of the gradient 3 n + 4 values. Necessary flops: 2·3m·(n + m) in the first pass, 2 n (3 n + 6 m) + 6 m² in the second, and
 * 3·3m + 3 n + 10·3m beside these products; of the gradient 4 n² + 6 n. */
#include "bench/run.h"
#include "model/elliptic/gradient.h"
#include "model/elliptic/operator.h"

#include <math.h>
#include <stdio.h>

typedef struct problem {
    eg_bench_triangles on;
    eg_elliptic *op;
    eg_field *u, *y;
    eg_gradient *slopes;
    eg_field *gradient;
} problem;

static eg_status body(void *user)
{
    problem *p = user;
    return eg_elliptic_apply(p->op, p->u->data, p->y->data);
}

static eg_status differentiate(void *user)
{
    problem *p = user;
    return eg_gradient_apply(p->slopes, p->u, p->gradient);
}

static void destroy(problem *p)
{
    eg_field_destroy(&p->gradient);
    eg_gradient_destroy(&p->slopes);
    eg_field_destroy(&p->y);
    eg_field_destroy(&p->u);
    eg_elliptic_destroy(&p->op);
    eg_bench_triangles_destroy(&p->on);
}

/* Random values on a square of 2 cells² triangles with Dirichlet sides. */
static eg_status create(eg_bench *bench, int cells, int degree, eg_type real, eg_elliptic_form form,
                        problem *p)
{
    double *values = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_bench_triangles_create(bench, cells, degree, eg_elliptic_lanes, &p->on));
    EG_TRY(eg_elliptic_create(p->on.space, real, &(eg_elliptic_options){.form = form}, &p->op));
    EG_TRY(eg_field_create(p->on.space, 1, real, &p->u));
    EG_TRY(eg_field_create(p->on.space, 1, real, &p->y));
    EG_TRY(eg_gradient_create(p->on.space, &p->slopes));
    EG_TRY(eg_field_create(p->on.space, 2, EG_F64, &p->gradient));
    EG_TRY(eg_new(bench->ctx, eg_field_host_count(p->u), &values));
    eg_bench_random(7, eg_field_host_count(p->u), values);
    EG_TRY(eg_field_from_host(p->u, values));
done:
    eg_release(bench->ctx, &values);
    return status;
}

/* The same product by quadrature on a small mesh, whose kernels are those that are timed. */
static eg_status verify(eg_bench *bench, int degree, eg_elliptic_form form)
{
    problem fast = {0}, plain = {0};
    double *got = NULL, *want = NULL;
    eg_status status = EG_OK;
    EG_TRY(create(bench, 6, degree, EG_F64, form, &fast));
    EG_TRY(create(bench, 6, degree, EG_F64, EG_ELLIPTIC_QUADRATURE, &plain));
    const size_t count = eg_field_host_count(fast.u);
    EG_TRY(eg_new(bench->ctx, count, &got));
    EG_TRY(eg_new(bench->ctx, count, &want));
    EG_TRY(body(&fast));
    EG_TRY(body(&plain));
    EG_TRY(eg_field_to_host(fast.y, got));
    EG_TRY(eg_field_to_host(plain.y, want));
    EG_TRY(eg_bench_compare(bench, "elliptic", 0, got, want, count));
done:
    eg_release(bench->ctx, &want);
    eg_release(bench->ctx, &got);
    destroy(&plain);
    destroy(&fast);
    return status;
}

/* The slopes of (x + 2 y)^N on a small mesh. */
static eg_status verify_gradient(eg_bench *bench, int degree)
{
    static const eg_symbol symbols[] = {{.name = "x", .variable = EG_VARIABLE_X},
                                        {.name = "y", .variable = EG_VARIABLE_Y}};
    problem p = {0};
    eg_expression *list[3] = {NULL};
    eg_function *power = NULL, *slopes = NULL;
    eg_field *exact = NULL;
    double *got = NULL, *want = NULL;
    char text[3][64];
    eg_status status = EG_OK;
    snprintf(text[0], sizeof text[0], "(x + 2*y)^%d", degree);
    snprintf(text[1], sizeof text[1], "%d*(x + 2*y)^%d", degree, degree - 1);
    snprintf(text[2], sizeof text[2], "%d*(x + 2*y)^%d", 2 * degree, degree - 1);
    EG_TRY(create(bench, 6, degree, EG_F64, EG_ELLIPTIC_FASTEST, &p));
    for (int i = 0; i < 3; i++)
        EG_TRY(
            eg_expression_create(bench->ctx, text[i], symbols, EG_COUNT(symbols), NULL, &list[i]));
    EG_TRY(eg_function_create(p.on.space, (const eg_expression *[]){list[0]}, 1, &power));
    EG_TRY(eg_function_create(p.on.space, (const eg_expression *[]){list[1], list[2]}, 2, &slopes));
    EG_TRY(eg_field_create(p.on.space, 2, EG_F64, &exact));
    EG_TRY(eg_function_interpolate(power, 0, p.u));
    EG_TRY(eg_function_interpolate(slopes, 0, exact));
    EG_TRY(differentiate(&p));
    const size_t count = eg_field_host_count(exact);
    EG_TRY(eg_new(bench->ctx, count, &got));
    EG_TRY(eg_new(bench->ctx, count, &want));
    EG_TRY(eg_field_to_host(p.gradient, got));
    EG_TRY(eg_field_to_host(exact, want));
    EG_TRY(eg_bench_compare(bench, "gradient", 0, got, want, count));
done:
    eg_release(bench->ctx, &want);
    eg_release(bench->ctx, &got);
    eg_field_destroy(&exact);
    eg_function_destroy(&slopes);
    eg_function_destroy(&power);
    for (int i = 0; i < 3; i++)
        eg_expression_destroy(&list[i]);
    destroy(&p);
    return status;
}

static double padded(double n)
{
    return ceil(n / 8) * 8;
}

static eg_status measure(eg_bench *bench, const char *name, int degree, eg_type real,
                         eg_elliptic_form form)
{
    const double n = 0.5 * (degree + 1) * (degree + 2), m = degree + 1;
    const double value = (double)eg_type_size(real), on_face = degree == 1 ? 1 : m;
    const double dof = (bench->info->is_gpu ? 1.2e7 : 2e6) / (bench->options->quick ? 8 : 1);
    const int cells = (int)ceil(sqrt(dof / (2 * n)));
    const double beside = 3 * 3 * m + 3 * n + 10 * 3 * m;
    problem p = {0};
    eg_bench_roof roof = {0};
    char size[32];
    eg_status status = EG_OK;
    snprintf(size, sizeof size, "N=%d", degree);
    eg_bench_work work = {.name = name, .size = size, .in_paper = real == EG_F64};
    eg_bench_progress(bench, "%s %s", name, size);
    if (real == EG_F64) EG_TRY(verify(bench, degree, form));
    EG_TRY(create(bench, cells, degree, real, form, &p));
    const double elements = p.on.mesh->element_count;
    work.bytes = elements * (value * (3 * n + 6 * on_face + 9) + 15);
    work.flops = elements * (2 * 3 * m * (n + m) + 2 * n * (3 * n + 6 * m) + 6 * m * m + beside);
    const double all = elements * (2 * padded(3 * m) * padded(n) + 12 * padded(m) * padded(m) +
                                   2 * padded(n) * padded(3 * n + 6 * m) + beside);
    EG_TRY(
        eg_bench_roof_create(bench, (size_t)work.bytes, bench->info->has_tensor_f64, real, &roof));
    EG_TRY(eg_bench_roof_add(bench, &roof, body, &p, all, &work));
done:
    eg_bench_roof_destroy(&roof);
    destroy(&p);
    return status;
}

static eg_status measure_gradient(eg_bench *bench, int degree)
{
    const double n = 0.5 * (degree + 1) * (degree + 2);
    const double dof = (bench->info->is_gpu ? 2e7 : 2e6) / (bench->options->quick ? 8 : 1);
    problem p = {0};
    eg_bench_roof roof = {0};
    char size[32];
    eg_status status = EG_OK;
    snprintf(size, sizeof size, "N=%d", degree);
    eg_bench_work work = {.name = "gradient", .size = size, .in_paper = true};
    eg_bench_progress(bench, "gradient %s", size);
    EG_TRY(verify_gradient(bench, degree));
    EG_TRY(create(bench, (int)ceil(sqrt(dof / (2 * n))), degree, EG_F64, EG_ELLIPTIC_FASTEST, &p));
    const double elements = p.on.mesh->element_count;
    work.bytes = elements * 8 * (3 * n + 4);
    work.flops = elements * (4 * n * n + 6 * n);
    EG_TRY(eg_bench_roof_create(bench, (size_t)work.bytes, bench->info->has_tensor_f64, EG_F64,
                                &roof));
    EG_TRY(eg_bench_roof_add(bench, &roof, differentiate, &p,
                             elements * (4 * padded(n) * padded(n) + 6 * n), &work));
done:
    eg_bench_roof_destroy(&roof);
    destroy(&p);
    return status;
}

static eg_status run(eg_bench *bench)
{
    eg_status status = EG_OK;
    /* For the picture, at the size of degree 4; every point has its own. */
    EG_TRY(eg_bench_measure_ceilings(bench, bench->info->is_gpu ? (size_t)5e8 : (size_t)8e7));
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree++)
        if (eg_bench_wants(bench, degree))
            EG_TRY(measure(bench, "elliptic", degree, EG_F64, EG_ELLIPTIC_FASTEST));
    for (int degree = 1; degree <= EG_DEGREE_MAX && bench->info->has_tensor_f64; degree++)
        if (eg_bench_wants(bench, degree))
            EG_TRY(measure(bench, "elliptic-blocks", degree, EG_F64, EG_ELLIPTIC_BLOCKS));
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree++)
        if (eg_bench_wants(bench, degree))
            EG_TRY(measure(bench, "elliptic-f32", degree, EG_F32, EG_ELLIPTIC_FASTEST));
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree++)
        if (eg_bench_wants(bench, degree)) EG_TRY(measure_gradient(bench, degree));
done:
    return status;
}

const eg_bench_driver eg_bench_elliptic = {
    .name = "elliptic",
    .summary = "the interior penalty operator and the gradient on triangles, by degree",
    .on_roofline = true,
    .most_degree = EG_DEGREE_MAX,
    .run = run,
};
