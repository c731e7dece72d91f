/* `euler`: the second stage of SSP-RK3 for the Euler equations on a periodic box of squares, by every
 * scheme; the flux is Rusanov's.
 *
 *     euler-dg, euler-ndg, …   degrees 1 … 6; M = degree + 1 points a side
 *
 * Necessary bytes are 96 for a point, which has four unknowns: the solution, that of the step's
 * beginning, and what is written, and 4 for the number of the neighbour at each face. Traces that
 * schemes with Gauss points keep between stages are not necessary, and not counted.
 *
 * Necessary flops of an element, with I points of a line at which fluxes are taken (M; of `sd` M - 1;
 * `fv` has none):
 *     19 M²          1/ρ, pressure and both fluxes of a point
 *     16 M² I        derivatives along both directions
 *     32 M²          what the ends add
 *     24 M²          the update
 *     60 M           numerical fluxes of two faces; the other two are the neighbours'
 *
 * Stages follow each other as in a run: each reads what the one before has written. */
#include "bench/run.h"
#include "model/euler/operator.h"

#include <math.h>
#include <stdio.h>

enum { COMPONENTS = EG_EULER_COMPONENTS, DEGREES = 6 };

typedef struct problem {
    eg_euler_scheme scheme;
    int cells, degree;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_euler *op;
    eg_field *first, *u, *out;
    eg_stage stage;
} problem;

static eg_status body(void *user)
{
    problem *p = user;
    return eg_euler_stage(p->op, &p->stage, p->first, p->u, NULL, p->out);
}

/* A stage of a run: the next begins with what this one has written. */
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

/* A uniform flow whose density grows along x and y; `change` is its rate. */
static void state_at(double x, double y, double change, double q[COMPONENTS])
{
    const double u = 0.7, v = 0.4, p = 1, rho = 1 + 0.2 * x + 0.1 * y;
    const double rate = -(0.2 * u + 0.1 * v) * change;
    const double factor[COMPONENTS] = {1, u, v, 0.5 * (u * u + v * v)};
    for (int c = 0; c < COMPONENTS; c++)
        q[c] = factor[c] * (rho + rate);
    q[3] += p / 0.4;
}

/* The values of an element's points [4][np]; `change` as above. */
static void element_values(const problem *p, int32_t e, double change, double *values)
{
    double nodes[EG_MAX_VERTICES * 3], q[COMPONENTS];
    const eg_element *element = p->space->groups[0].element;
    const int np = element->np;
    eg_mesh_element_nodes(p->mesh, e, nodes);
    for (int i = 0; i < np; i++) {
        const double a = 0.5 * (1 + element->r[i]), b = 0.5 * (1 + element->r[np + i]);
        state_at(nodes[0] + a * (nodes[2] - nodes[0]), nodes[1] + b * (nodes[5] - nodes[1]), change,
                 q);
        for (int c = 0; c < COMPONENTS; c++)
            values[c * np + i] = q[c];
    }
}

static eg_status fill(eg_bench *bench, problem *p)
{
    eg_status status = EG_OK;
    double *values = NULL;
    const double nan = NAN;
    EG_TRY(eg_field_create(p->space, COMPONENTS, EG_F64, &p->first));
    EG_TRY(eg_field_create(p->space, COMPONENTS, EG_F64, &p->u));
    EG_TRY(eg_field_create(p->space, COMPONENTS, EG_F64, &p->out));
    const size_t count = eg_field_host_count(p->u);
    EG_TRY(eg_new(bench->ctx, count, &values));
    for (int32_t e = 0; e < p->mesh->element_count; e++)
        element_values(p, e, 0, values + (size_t)e * (count / (size_t)p->mesh->element_count));
    EG_TRY(eg_field_from_host(p->first, values));
    EG_TRY(eg_field_from_host(p->u, values));
    EG_TRY(eg_buffer_fill(p->out->data, 0, eg_buffer_count(p->out->data), &nan));
    EG_TRY(eg_euler_begin(p->op, p->u));
done:
    eg_release(bench->ctx, &values);
    return status;
}

static eg_status create(eg_bench *bench, problem *p)
{
    eg_status status = EG_OK;
    eg_stage stages[EG_STAGES_MAX];
    EG_TRY(eg_comm_self(bench->ctx, &p->comm));
    EG_TRY(eg_mesh_create_box(bench->ctx,
                              &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                .cells = {p->cells, p->cells},
                                                .periodic = {true, true}},
                              &p->mesh));
    EG_TRY(eg_space_create(bench->device, p->comm, p->mesh,
                           &(eg_space_options){.basis = eg_euler_basis(p->scheme),
                                               .degree = p->degree,
                                               .lanes = eg_euler_lanes(bench->device, p->degree)},
                           &p->space));
    EG_TRY(
        eg_euler_create(p->space, &(eg_euler_options){.scheme = p->scheme, .gamma = 1.4}, &p->op));
    eg_time_stages(EG_TIME_SSP_RK3, 0, 0.1 / (p->cells * (2 * p->degree + 1)), stages);
    p->stage = stages[1];
    EG_TRY(fill(bench, p));
done:
    return status;
}

static void destroy(problem *p)
{
    eg_field_destroy(&p->out);
    eg_field_destroy(&p->u);
    eg_field_destroy(&p->first);
    eg_euler_destroy(&p->op);
    eg_space_destroy(&p->space);
    eg_mesh_destroy(&p->mesh);
    eg_comm_destroy(&p->comm);
}

/* --- verification ----------------------------------------------------------------------------- */

/* Whether an element, or for schemes with wide stencils a neighbour of it, is next to the seam of the
 * periodic box, where the density jumps. */
static bool at_seam(const problem *p, int32_t e)
{
    double nodes[EG_MAX_VERTICES * 3];
    const double margin = 1.5 / p->cells;
    eg_mesh_element_nodes(p->mesh, e, nodes);
    return nodes[0] < margin || nodes[1] < margin || nodes[6] > 1 - margin || nodes[7] > 1 - margin;
}

/* Elements from all over the mesh against the exact rate: every scheme is exact for linear densities
 * in uniform flow. */
static eg_status verify(eg_bench *bench, problem *p)
{
    enum { SAMPLES = 60 };
    eg_status status = EG_OK;
    double *values = NULL, want[COMPONENTS * (DEGREES + 1) * (DEGREES + 1)];
    const size_t count = eg_field_host_count(p->u);
    const eg_group *group = &p->space->groups[0];
    EG_TRY(eg_new(bench->ctx, count, &values));
    EG_TRY(body(p));
    EG_TRY(eg_field_to_host(p->out, values));
    for (int i = 0; i <= SAMPLES; i++) {
        const int32_t e = (int32_t)((int64_t)(p->mesh->element_count - 1) * i / SAMPLES);
        if (at_seam(p, e)) continue;
        element_values(p, e, p->stage.c * p->stage.dt, want);
        EG_TRY(eg_bench_compare(bench, "euler",
                                (p->space->slot_of_element[e] - group->first_slot) / group->lanes,
                                values + (size_t)e * (count / (size_t)p->mesh->element_count), want,
                                (size_t)(COMPONENTS * group->element->np)));
    }
done:
    eg_release(bench->ctx, &values);
    return status;
}

/* --- points ----------------------------------------------------------------------------------- */

static eg_status measure(eg_bench *bench, const char *name, problem *p)
{
    eg_status status = EG_OK;
    eg_bench_roof roof = {0};
    char size[32];
    const double m = p->degree + 1, inner = eg_euler_inner(p->scheme, p->degree);
    snprintf(size, sizeof size, "P%d", p->degree);
    eg_bench_work work = {.name = name, .size = size};
    eg_bench_progress(bench, "%s %s", name, size);
    EG_TRY(create(bench, p));
    EG_TRY(verify(bench, p));
    p->stage.dt *= 1e-12; /* values stay as they are, however many stages are timed */
    work.flops = p->mesh->element_count * (m * m * (19 + 16 * inner + 32 + 24) + 60 * m);
    work.bytes = p->mesh->element_count * (96 * m * m + 16);
    EG_TRY(eg_bench_roof_create(bench, (size_t)(96 * p->space->dof), false, EG_F64, &roof));
    EG_TRY(eg_bench_roof_add(bench, &roof, step, p, 0, &work));
done:
    eg_bench_roof_destroy(&roof);
    destroy(p);
    return status;
}

static eg_status run(eg_bench *bench)
{
    static const struct {
        const char *name;
        eg_euler_scheme scheme;
    } series[] = {{"euler-dg", {.method = EG_EULER_DG}},
                  {"euler-ndg", {.method = EG_EULER_NDG}},
                  {"euler-cpr", {.method = EG_EULER_CPR, .chain = true}},
                  {"euler-sd", {.method = EG_EULER_SD}}};
    eg_status status = EG_OK;
    const int whole = bench->info->is_gpu ? 512 : 240;
    const int cells = bench->options->quick ? whole / 4 : whole;
    /* For the picture, at the size of degree 3; every point has its own. */
    EG_TRY(eg_bench_measure_ceilings(bench, (size_t)cells * (size_t)cells * 16 * 96));
    for (size_t i = 0; i < EG_COUNT(series); i++)
        for (int degree = 1; degree <= DEGREES; degree++)
            if (eg_bench_wants(bench, degree))
                EG_TRY(measure(
                    bench, series[i].name,
                    &(problem){.scheme = series[i].scheme, .cells = cells, .degree = degree}));
done:
    return status;
}

const eg_bench_driver eg_bench_euler = {
    .name = "euler",
    .summary = "a stage of the Euler equations on squares, by every scheme",
    .on_roofline = true,
    .most_degree = DEGREES,
    .run = run,
};
