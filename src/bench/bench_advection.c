/* `advection`: one stage of explicit Euler for u_t + div(b u) = 0, M modes a direction.
 *
 *     advection-quad      a periodic box of squares, b = (1, 1), M = 2 … 6
 *     advection-hex       200×200×1 hexahedra, periodic, b = (1, 1, 1), M = 2 … 5
 *     advection-degrees   degrees 4, 3, 2, 1 in four bands of equal width by distance from the
 *                         line y = 50 of [0, 100]², degree 4 throughout, and one against the other
 *     advection-points    perturbed quadrilaterals in a rotating flow: the kernel with quadrature
 *
 * Necessary bytes are 8 read and 8 written for a degree of freedom, and 4 for the number of the
 * neighbour at each face where it flows in (DIM of them; boxes of equal elements need no geometry).
 * Perturbed elements also read four corners, and the neighbours at all faces.
 *
 * Necessary flops of a line of M modes along one direction, with s_n = sqrt(2n + 1) u_n, as
 * modal.k.c has it:
 *     M - 1    products s_n, that of n = 0 being u_0
 *     M - 2    sums of s_n over even and over odd n, up to each n: the volume term
 *     1        the trace where it flows out, which is both sums; the other element uses it, too
 *     4        half the difference and half the sum of the traces N and T
 *     M - 1    volume term plus face term of mode i; i = 0 has no volume term
 *     2 M      times a constant, added to the value
 * 5 M + 1 in all, DIM M^(DIM - 1) lines an element. With quadrature they are those of the five
 * products between modes and Q = M + 1 points a side, sum-factorised; what happens at the points is
 * not counted.
 *
 * Steps follow each other as in a run: each reads what the one before has written. */
#include "bench/run.h"
#include "model/advection/operator.h"

#include <math.h>
#include <stdio.h>

#define MOST 8 /* modes a side, at least those of any series */

typedef struct problem {
    eg_shape shape;
    int cells[3];
    double length; /* of the box's sides */
    int degree;    /* the highest */
    bool banded;
    bool general; /* perturbed, rotating */
    eg_comm *comm;
    eg_mesh *mesh;
    uint8_t *degrees; /* [elements] */
    eg_space *space;
    eg_expression *velocity[3];
    eg_advection *op;
    eg_field *u, *out;
    eg_stage stage;
} problem;

static eg_status body(void *user)
{
    problem *p = user;
    return eg_advection_stage(p->op, &p->stage, p->u, p->u, NULL, p->out);
}

/* A step of a run: the next begins with what this one has written. */
static eg_status step(void *user)
{
    problem *p = user;
    eg_field *out = p->out;
    eg_status status = body(p);
    p->out = p->u;
    p->u = out;
    return status;
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* The degree of an element of the bands: 4 where the distance of its centre from the middle is less
 * than an eighth of the box, and so on. */
static int band_degree(const problem *p, int32_t e)
{
    double nodes[EG_MAX_VERTICES * 3], y = 0;
    eg_mesh_element_nodes(p->mesh, e, nodes);
    for (int i = 0; i < 4; i++)
        y += nodes[i * 2 + 1] / 4;
    return p->degree - (int)(fabs(y / p->length - 0.5) * 8 + 1e-9);
}

static eg_status create_space(eg_bench *bench, const eg_advection_options *options, problem *p)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(bench->ctx, (size_t)p->mesh->element_count, &p->degrees));
    for (int32_t e = 0; e < p->mesh->element_count; e++)
        p->degrees[e] = (uint8_t)(p->banded ? band_degree(p, e) : p->degree);
    EG_TRY(eg_space_create(bench->device, p->comm, p->mesh,
                           &(eg_space_options){.basis = EG_BASIS_MODAL,
                                               .degrees = p->degrees,
                                               .lanes = eg_advection_lanes(bench->device, p->mesh,
                                                                           options, p->degree)},
                           &p->space));
done:
    return status;
}

/* Where the values of an element start on the host. */
static size_t first_value(const problem *p, int32_t e)
{
    size_t at = 0;
    for (int32_t i = 0; i < e; i++) {
        const size_t m = p->degrees[i] + 1u;
        at += p->mesh->dim == 3 ? m * m * m : m * m;
    }
    return at;
}

/* The modes of x_d on a quadrilateral whose degree is at least 1. */
static void coordinate_modes(const problem *p, int32_t e, int d, double *modes)
{
    double nodes[EG_MAX_VERTICES * 3];
    eg_mesh_element_nodes(p->mesh, e, nodes);
    const double a = nodes[d], b = nodes[2 + d], c = nodes[4 + d], g = nodes[6 + d];
    const int m = p->degree + 1;
    for (int i = 0; i < m * m; i++)
        modes[i] = 0;
    modes[0] = (a + b + c + g) / 2;
    modes[1] = (b - a + g - c) / (2 * sqrt(3.0));
    modes[m] = (c - a + g - b) / (2 * sqrt(3.0));
    modes[m + 1] = (a - b - c + g) / 6;
}

/* Random modes; on perturbed elements u = x, of which the result is known. */
static eg_status fill(eg_bench *bench, problem *p)
{
    eg_status status = EG_OK;
    double *values = NULL;
    const double nan = NAN;
    EG_TRY(eg_field_create(p->space, 1, EG_F64, &p->u));
    EG_TRY(eg_field_create(p->space, 1, EG_F64, &p->out));
    const size_t count = eg_field_host_count(p->u);
    EG_TRY(eg_new(bench->ctx, count, &values));
    eg_bench_random(20, count, values);
    for (int32_t e = 0; e < p->mesh->element_count && p->general; e++)
        coordinate_modes(p, e, 0, values + (size_t)e * (count / (size_t)p->mesh->element_count));
    EG_TRY(eg_field_from_host(p->u, values));
    EG_TRY(eg_buffer_fill(p->out->data, 0, eg_buffer_count(p->out->data), &nan));
done:
    eg_release(bench->ctx, &values);
    return status;
}

static eg_status create(eg_bench *bench, problem *p)
{
    static const eg_symbol symbols[] = {{"x", EG_VARIABLE_X, 0}, {"y", EG_VARIABLE_Y, 0}};
    static const char *const constant[] = {"1", "1", "1"}, *const rotating[] = {"0.5 - y",
                                                                                "x - 0.5"};
    eg_status status = EG_OK;
    eg_context *ctx = bench->ctx;
    const int dim = p->shape == EG_SHAPE_HEX ? 3 : 2;
    const double side = p->length;
    double dt = 0;
    EG_TRY(eg_comm_self(ctx, &p->comm));
    EG_TRY(eg_mesh_create_box(ctx,
                              &(eg_box_options){.shape = p->shape,
                                                .cells = {p->cells[0], p->cells[1], p->cells[2]},
                                                .high = {side, side, dim == 3 ? side : 0},
                                                .periodic = {!p->general, !p->general, dim == 3},
                                                .perturb = p->general ? 0.2 : 0,
                                                .seed = 1},
                              &p->mesh));
    eg_advection_options options = {.components = 1, .one_stage = true};
    for (int d = 0; d < dim; d++) {
        EG_TRY(eg_expression_create(ctx, (p->general ? rotating : constant)[d], symbols,
                                    EG_COUNT(symbols), NULL, &p->velocity[d]));
        options.velocity[d] = p->velocity[d];
    }
    EG_TRY(create_space(bench, &options, p));
    EG_TRY(eg_advection_create(p->space, &options, &p->op));
    EG_TRY(eg_advection_stable_dt(p->op, 0, &dt));
    eg_time_stages(EG_TIME_EULER, 0, dt, &p->stage);
    EG_TRY(fill(bench, p));
done:
    return status;
}

static void destroy(eg_bench *bench, problem *p)
{
    eg_field_destroy(&p->out);
    eg_field_destroy(&p->u);
    eg_advection_destroy(&p->op);
    for (int d = 0; d < 3; d++)
        eg_expression_destroy(&p->velocity[d]);
    eg_space_destroy(&p->space);
    eg_release(bench->ctx, &p->degrees);
    eg_mesh_destroy(&p->mesh);
    eg_comm_destroy(&p->comm);
}

/* --- verification ----------------------------------------------------------------------------- */

/* What an element does along one direction: own [i][k] acts on its modes, other [i][k] on those of
 * the neighbour before it; by quadrature. */
typedef struct line_operator {
    double own[MOST][MOST], other[MOST][MOST];
} line_operator;

static eg_status create_line(eg_context *ctx, line_operator *line)
{
    eg_status status = EG_OK;
    double x[MOST], w[MOST];
    EG_TRY(eg_gauss_legendre(ctx, MOST, x, w));
    for (int i = 0; i < MOST; i++) {
        for (int k = 0; k < MOST; k++) {
            line->own[i][k] = -eg_jacobi(i, 0, 0, 1) * eg_jacobi(k, 0, 0, 1);
            line->other[i][k] = eg_jacobi(i, 0, 0, -1) * eg_jacobi(k, 0, 0, 1);
            for (int q = 0; q < MOST; q++)
                line->own[i][k] +=
                    w[q] * eg_jacobi_derivative(i, 0, 0, x[q]) * eg_jacobi(k, 0, 0, x[q]);
        }
    }
done:
    return status;
}

/* The values of an element after the stage in a box of equal elements. */
static void expected_in_box(const problem *p, const line_operator *line, int32_t e,
                            const double *values, double *want)
{
    const eg_shape_info *info = eg_shape_get_info(p->shape);
    const int dim = info->dim, m = p->degrees[e] + 1, np = dim == 3 ? m * m * m : m * m;
    const double *own = values + first_value(p, e);
    for (int i = 0; i < np; i++)
        want[i] = own[i];
    for (int d = 0; d < dim; d++) {
        const int face = eg_shape_face_at(p->shape, d, false);
        const int32_t before = p->mesh->neighbour[(int64_t)e * p->mesh->face_stride + face];
        const double *other = values + first_value(p, before);
        const int n = p->degrees[before] + 1;
        const double scale = p->stage.dt * 2 * p->cells[d] / p->length;
        for (int i = 0; i < np; i++) {
            const int at[3] = {i % m, i / m % m, i / m / m};
            for (int k = 0; k < MOST; k++) {
                int j[3] = {at[0], at[1], at[2]};
                j[d] = k;
                if (k < m)
                    want[i] += scale * line->own[at[d]][k] * own[j[0] + m * (j[1] + m * j[2])];
                if (j[0] < n && j[1] < n && j[2] < n)
                    want[i] += scale * line->other[at[d]][k] * other[j[0] + n * (j[1] + n * j[2])];
            }
        }
    }
}

/* Of u = x in the flow (1/2 - y, x - 1/2): x + dt (y - 1/2), which is exact for M > 2: the Jacobian
 * times that has degree 2. False next to the boundary, where 0 flows in. */
static bool expected_rotating(const problem *p, int32_t e, double *want)
{
    double y[MOST * MOST];
    const int m = p->degree + 1;
    for (int f = 0; f < 4; f++)
        if (p->mesh->neighbour[(int64_t)e * p->mesh->face_stride + f] < 0) return false;
    coordinate_modes(p, e, 0, want);
    coordinate_modes(p, e, 1, y);
    y[0] -= 1; /* 1/2 has mode 1 */
    for (int i = 0; i < m * m; i++)
        want[i] += p->stage.dt * y[i];
    return true;
}

/* Elements from all over the mesh against the host. */
static eg_status verify(eg_bench *bench, problem *p)
{
    enum { SAMPLES = 40 };
    eg_status status = EG_OK;
    double *values = NULL, want[MOST * MOST * MOST];
    line_operator line;
    const size_t count = eg_field_host_count(p->u);
    EG_TRY(eg_new(bench->ctx, 2 * count, &values));
    EG_TRY(body(p));
    EG_TRY(eg_field_to_host(p->u, values));
    EG_TRY(eg_field_to_host(p->out, values + count));
    EG_TRY(create_line(bench->ctx, &line));
    for (int i = 0; i <= SAMPLES; i++) {
        const int32_t e = (int32_t)((int64_t)(p->mesh->element_count - 1) * i / SAMPLES);
        const int32_t slot = p->space->slot_of_element[e];
        const eg_group *group = &p->space->groups[p->space->group_of_block[slot / EG_SLOT_BLOCK]];
        if (!p->general)
            expected_in_box(p, &line, e, values, want);
        else if (!expected_rotating(p, e, want))
            continue;
        EG_TRY(eg_bench_compare(bench, "advection", (slot - group->first_slot) / group->lanes,
                                values + count + first_value(p, e), want,
                                (size_t)group->element->np));
    }
done:
    eg_release(bench->ctx, &values);
    return status;
}

/* --- points ----------------------------------------------------------------------------------- */

/* Necessary work of a stage. */
static void count_work(const problem *p, eg_bench_work *work)
{
    const int dim = p->mesh->dim;
    work->flops = work->bytes = 0;
    for (int32_t e = 0; e < p->mesh->element_count; e++) {
        const double m = p->degrees[e] + 1, q = m + 1, lines = dim == 3 ? m * m : m;
        work->flops += p->general ? 5 * 2 * m * q * (m + q) : dim * lines * (5 * m + 1);
        work->bytes += 16 * lines * m + (p->general ? 4 * 16 + 4 * 4 : 4 * dim);
    }
}

/* Verifies and measures a problem that is set up, against ceilings at its own size. */
static eg_status add_stage(eg_bench *bench, const char *name, const char *size, problem *p)
{
    eg_status status = EG_OK;
    eg_bench_roof roof = {0};
    eg_bench_work work = {.name = name, .size = size};
    eg_bench_progress(bench, "%s %s", name, size);
    EG_TRY(verify(bench, p));
    p->stage.dt *= 1e-12; /* values stay as they are, however many steps are timed */
    count_work(p, &work);
    EG_TRY(eg_bench_roof_create(bench, (size_t)(16 * p->space->dof), false, EG_F64, &roof));
    EG_TRY(eg_bench_roof_add(bench, &roof, step, p, 0, &work));
done:
    eg_bench_roof_destroy(&roof);
    return status;
}

static eg_status measure(eg_bench *bench, const char *name, problem *p)
{
    eg_status status = EG_OK;
    char size[32];
    snprintf(size, sizeof size, "M=%d", p->degree + 1);
    EG_TRY(create(bench, p));
    EG_TRY(add_stage(bench, name, size, p));
done:
    destroy(bench, p);
    return status;
}

/* Cells a side of a square box: so many on a CPU, more on a GPU, fewer for a quick look. */
static int cells_of(const eg_bench *bench, int on_cpu, int on_gpu)
{
    const int cells = bench->info->is_gpu ? on_gpu : on_cpu;
    return bench->options->quick ? cells / 4 : cells;
}

/* Bands of degrees against the highest throughout: the bound is the latter's time, by the degrees
 * of freedom that are left. */
static eg_status measure_degrees(eg_bench *bench)
{
    eg_status status = EG_OK;
    char size[32];
    const int cells = cells_of(bench, 100, 2000);
    problem bands = {.shape = EG_SHAPE_QUAD,
                     .cells = {cells, cells},
                     .length = 100,
                     .degree = 4,
                     .banded = true};
    problem constant = bands;
    constant.banded = false;
    EG_TRY(create(bench, &constant));
    EG_TRY(create(bench, &bands));
    EG_TRY(add_stage(bench, "advection-degrees", "N=4", &constant));
    EG_TRY(add_stage(bench, "advection-degrees", "N=4,3,2,1", &bands));
    eg_bench_timed timed[] = {{.body = step, .user = &bands}, {.body = step, .user = &constant}};
    EG_TRY(eg_bench_time_together(bench, timed, EG_COUNT(timed)));
    const double dof = (double)bands.space->dof / (double)constant.space->dof;
    const double time = timed[0].seconds / timed[1].seconds;
    snprintf(size, sizeof size, "dof %.3f, time %.3f: %.2f", dof, time, time / dof);
    EG_TRY(eg_bench_add(bench, &(eg_bench_work){.name = "advection-degrees",
                                                .size = size,
                                                .time_s = timed[0].seconds,
                                                .bound_s = dof * timed[1].seconds,
                                                .bound_by = "dof"}));
done:
    destroy(bench, &bands);
    destroy(bench, &constant);
    return status;
}

static eg_status run(eg_bench *bench)
{
    eg_status status = EG_OK;
    const int cells = cells_of(bench, 200, 1000), layer = cells_of(bench, 200, 200);
    /* For the picture, at the size of squares with M = 4; every point has its own. */
    EG_TRY(eg_bench_measure_ceilings(bench, (size_t)cells * (size_t)cells * 16 * 16));
    for (int m = 2; m <= 6; m++)
        EG_TRY(measure(
            bench, "advection-quad",
            &(problem){
                .shape = EG_SHAPE_QUAD, .cells = {cells, cells}, .length = 1, .degree = m - 1}));
    for (int m = 2; m <= 5; m++)
        EG_TRY(measure(
            bench, "advection-hex",
            &(problem){
                .shape = EG_SHAPE_HEX, .cells = {layer, layer, 1}, .length = 1, .degree = m - 1}));
    EG_TRY(measure_degrees(bench));
    for (int m = 3; m <= 6; m++)
        EG_TRY(measure(bench, "advection-points",
                       &(problem){.shape = EG_SHAPE_QUAD,
                                  .cells = {cells, cells},
                                  .length = 1,
                                  .degree = m - 1,
                                  .general = true}));
done:
    return status;
}

const eg_bench_driver eg_bench_advection = {
    .name = "advection",
    .summary = "a stage of advection: squares, hexahedra, bands of degrees",
    .on_roofline = true,
    .run = run,
};
