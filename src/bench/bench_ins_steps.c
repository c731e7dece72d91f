/* `ins-steps`: where the time of a step of incompressible flow goes, and what subcycles gain: the flow
 * past a square cylinder at Re = 100 of [karakus2018] section 4.2, figures 5 and 6.
 *
 *     advection, velocity, pressure, update   the parts of a step, in order
 *     step                                    all of them
 *     in kernels                              the device's part of it: its kernels, copies and fills
 *
 * at degrees 1 … 6, with N_s = 0, 4, 8, 16 subcycles, by two preconditioners of the pressure: the
 * paper's pmg-amg, and pmg-cg-amg; the velocity has "blocks". Second order in time, from rest but for what flows in; residuals
 * are reduced by 1e-8 from an initial guess of 0. With subcycles a step is N_s times as long as that
 * without, dt = COURANT h / (N + 1)² for the least height h of an element: nearly what the flow around
 * the square's corners lets extrapolated advection of degree 1 do, and some way below it for others.
 *
 * The speed-up is N_s times the time of a step without subcycles over that of a step with them. Times are
 * medians over steps, by the clock; the length of steps is new in the first of them, which do not count. */
#include "bench/run.h"
#include "model/ins/flow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WARM = 4, STEPS = 11, DEGREES = 6, PARTS = 4, BOUNDARIES = 3 };

#define COURANT 0.18
#define VISCOSITY 0.01 /* of a unit square in a unit flow */

static const char *const names[BOUNDARIES] = {"inflow", "outflow", "cylinder"};
static const eg_ins_boundary types[BOUNDARIES] = {EG_INS_INFLOW, EG_INS_OPEN, EG_INS_WALL};
static const struct {
    eg_ins_part part;
    const char *name;
} parts[PARTS] = {{EG_INS_ADVECTION, "advection"},
                  {EG_INS_VELOCITY, "velocity"},
                  {EG_INS_PRESSURE, "pressure"},
                  {EG_INS_UPDATE, "update"}};

typedef struct series {
    const char *name;
    eg_precondition_kind kind;
} series;

/* A mesh and what holds at its boundaries. */
typedef struct channel {
    eg_mesh *mesh;
    eg_comm *comm;
    eg_expression *unit;
    eg_ins_boundary boundary[BOUNDARIES];
    eg_ins_given given[BOUNDARIES];
    double height; /* the least of its elements */
} channel;

/* What one degree and N_s take. */
typedef struct taken {
    double seconds[PARTS];
    double velocity, pressure; /* iterations of a solve */
    double kernels; /* seconds of a step that the device is inside of kernels, copies and fills */
} taken;

static void close_channel(channel *c)
{
    eg_expression_destroy(&c->unit);
    eg_comm_destroy(&c->comm);
    eg_mesh_destroy(&c->mesh);
}

/* Twice the area of a triangle over its longest side. */
static double least_height(const eg_mesh *mesh)
{
    double least = INFINITY;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double x[3 * 2],
            longest = 0; /* [corner][x, y]: these are all nodes of a straight triangle */
        eg_mesh_element_nodes(mesh, e, x);
        const double area = (x[2] - x[0]) * (x[5] - x[1]) - (x[3] - x[1]) * (x[4] - x[0]);
        for (int i = 0; i < 3; i++) {
            const double *a = x + 2 * i, *b = x + 2 * ((i + 1) % 3);
            longest = fmax(longest, hypot(b[0] - a[0], b[1] - a[1]));
        }
        least = fmin(least, fabs(area) / longest);
    }
    return least;
}

static eg_status check_elements(eg_bench *bench, const eg_mesh *mesh)
{
    bool straight = mesh->order == 1;
    for (int32_t e = 0; e < mesh->element_count; e++)
        straight = straight && mesh->shape[e] == EG_SHAPE_TRI;
    if (!straight)
        return eg_fail(bench->ctx, EG_ERROR_INPUT,
                       "\"%s\" must have straight triangles, of order 1, and no other elements, as "
                       "cases/geo/square-cylinder.msh has",
                       bench->options->mesh);
    return EG_OK;
}

static eg_status open_channel(eg_bench *bench, channel *c)
{
    const eg_bench_options *o = bench->options;
    eg_mesh *finer = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_self(bench->ctx, &c->comm));
    EG_TRY(eg_mesh_read_gmsh(bench->ctx, o->mesh, NULL, &c->mesh));
    EG_TRY(check_elements(bench, c->mesh));
    for (int i = 0; i < BOUNDARIES; i++) {
        const int b = eg_mesh_find_boundary(c->mesh, names[i]);
        if (b < 0 || c->mesh->boundary_count != BOUNDARIES)
            return eg_fail(bench->ctx, EG_ERROR_INPUT,
                           "\"%s\" must have the boundaries inflow, outflow and cylinder and no "
                           "others, as cases/geo/square-cylinder.msh has",
                           o->mesh);
        c->boundary[b] = types[i];
        if (types[i] == EG_INS_INFLOW) {
            EG_TRY(eg_expression_create(bench->ctx, "1", NULL, 0, NULL, &c->unit));
            c->given[b].velocity[0] = c->unit;
        }
    }
    EG_TRY(eg_mesh_check_refine(c->mesh, o->refine));
    for (int i = 0; i < o->refine; i++) {
        EG_TRY(eg_mesh_refine(c->mesh, &finer));
        eg_mesh_destroy(&c->mesh);
        c->mesh = finer;
        finer = NULL;
    }
    c->height = least_height(c->mesh);
done:
    return status;
}

/* What kernels take of some more steps. Events make these longer, but not their kernels. */
static eg_status time_kernels(eg_bench *bench, eg_ins_flow *flow, double dt, int steps, double *out)
{
    eg_profile profile = {0};
    eg_status status = eg_profile_start(bench->device);
    for (int i = 0; i < steps && status == EG_OK; i++)
        status = eg_ins_flow_step(flow, dt);
    const eg_status stopped = eg_profile_stop(bench->device, &profile);
    if (status == EG_OK) status = stopped;
    *out = profile.seconds / steps;
    eg_profile_free(bench->ctx, &profile);
    return status;
}

/* Steps of a flow from rest. */
static eg_status time_steps(eg_bench *bench, eg_ins_flow *flow, double dt, taken *out)
{
    const eg_ins_counts *counts = eg_ins_flow_counts(flow);
    const int warm = bench->options->quick ? 2 : WARM, steps = bench->options->quick ? 3 : STEPS;
    double seconds[PARTS][STEPS];
    eg_status status = EG_OK;
    eg_ins_flow_begin(flow, 0);
    for (int i = 0; i < warm; i++)
        EG_TRY(eg_ins_flow_step(flow, dt));
    const eg_ins_counts first = *counts;
    for (int i = 0; i < steps; i++) {
        const eg_ins_counts before = *counts;
        EG_TRY(eg_ins_flow_step(flow, dt));
        for (int k = 0; k < PARTS; k++)
            seconds[k][i] = counts->seconds[parts[k].part] - before.seconds[parts[k].part];
    }
    for (int k = 0; k < PARTS; k++)
        out->seconds[k] = eg_bench_median(seconds[k], (size_t)steps);
    out->velocity = (double)(counts->velocity_iterations - first.velocity_iterations) / (2 * steps);
    out->pressure = (double)(counts->pressure_iterations - first.pressure_iterations) / steps;
    EG_TRY(time_kernels(bench, flow, dt, bench->options->quick ? 1 : 3, &out->kernels));
done:
    return status;
}

static eg_status run_flow(eg_bench *bench, const channel *c, const series *s, int degree,
                          int subcycles, taken *out)
{
    const double dt =
        COURANT * c->height / ((degree + 1) * (degree + 1)) * (subcycles > 0 ? subcycles : 1);
    eg_ins_options options = {.viscosity = VISCOSITY,
                              .order = 2,
                              .pressure_order = 1,
                              .subcycles = subcycles,
                              .penalty = 1,
                              .boundary = c->boundary,
                              .given = c->given,
                              .preconditioner = eg_precondition_defaults(s->kind),
                              .velocity = EG_PRECONDITION_BLOCKS,
                              .tolerance = 1e-8,
                              .iterations = 10000};
    eg_space *space = NULL;
    eg_ins_flow *flow = NULL;
    int lanes = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_ins_lanes(bench->device, c->mesh, degree, &lanes));
    EG_TRY(eg_space_create(
        bench->device, c->comm, c->mesh,
        &(eg_space_options){.basis = EG_BASIS_LOBATTO, .degree = degree, .lanes = lanes}, &space));
    EG_TRY(eg_ins_flow_create(space, &options, &flow));
    EG_TRY(time_steps(bench, flow, dt, out));
done:
    eg_ins_flow_destroy(&flow);
    eg_space_destroy(&space);
    return status;
}

static double sum(const taken *t)
{
    double all = 0;
    for (int k = 0; k < PARTS; k++)
        all += t->seconds[k];
    return all;
}

static eg_status report(eg_bench *bench, const series *s, int degree, int subcycles,
                        const taken *got, double speed_up)
{
    const double all = sum(got);
    char size[32], name[64];
    eg_status status = EG_OK;
    snprintf(size, sizeof size, "N=%d Ns=%d", degree, subcycles);
    for (int k = 0; k <= PARTS; k++) {
        const bool whole = k == PARTS;
        snprintf(name, sizeof name, "%s %s", s->name, whole ? "step" : parts[k].name);
        eg_bench_work work = {.name = name,
                              .size = size,
                              .time_s = whole ? all : got->seconds[k],
                              .share = whole ? 1 : got->seconds[k] / all,
                              .speed_up = whole ? speed_up : 0};
        if (!whole && parts[k].part == EG_INS_VELOCITY) work.iterations = got->velocity;
        if (!whole && parts[k].part == EG_INS_PRESSURE) work.iterations = got->pressure;
        EG_TRY(eg_bench_add(bench, &work));
    }
    snprintf(name, sizeof name, "%s in kernels", s->name);
    EG_TRY(eg_bench_add(bench, &(eg_bench_work){.name = name,
                                                .size = size,
                                                .time_s = got->kernels,
                                                .share = got->kernels / all}));
done:
    return status;
}

static eg_status run(eg_bench *bench)
{
    static const series list[] = {{"pmg-amg", EG_PRECONDITION_PMG_AMG},
                                  {"pmg-cg-amg", EG_PRECONDITION_PMG_CG_AMG}};
    static const int subcycles[] = {0, 4, 8, 16};
    channel c = {0};
    eg_status status = EG_OK;
    EG_TRY(open_channel(bench, &c));
    for (size_t s = 0; s < EG_COUNT(list); s++)
        for (int degree = 1; degree <= DEGREES; degree++) {
            taken without = {0}, got;
            if (!eg_bench_wants(bench, degree)) continue;
            for (size_t i = 0; i < EG_COUNT(subcycles); i++) {
                eg_bench_progress(bench, "%s N=%d Ns=%d", list[s].name, degree, subcycles[i]);
                EG_TRY(run_flow(bench, &c, &list[s], degree, subcycles[i], &got));
                if (i == 0) without = got;
                EG_TRY(report(bench, &list[s], degree, subcycles[i], &got,
                              i == 0 ? 1 : subcycles[i] * sum(&without) / sum(&got)));
            }
        }
done:
    close_channel(&c);
    return status;
}

const eg_bench_driver eg_bench_ins_steps = {
    .name = "ins-steps",
    .summary = "the parts of a step of flow past a square cylinder, with and without subcycles",
    .most_degree = DEGREES,
    .on_mesh = true,
    .run = run,
};
