/* Launches the kernels of continuity.k.c, and solves: conjugate gradients, with the inverse mass matrix as
 * preconditioner. With steps that advection allows the penalties are not much larger than the mass matrix. */
#include "model/ins/continuity.h"

#include "base/dense.h"

#include <math.h>
#include <string.h>

struct eg_ins_continuity {
    eg_space *space;           /* not owned */
    const eg_ins_faces *faces; /* not owned */
    eg_ins_continuity_options options;
    eg_trace trace;
    eg_halo *halo, *speed_halo;
    eg_kernel *speeds, *strengths, *join, *apply, *invert, *split;
    eg_operator *mass, *inverse, *across, *sum;
    eg_field *speed,
        *like; /* `like`: where groups lie in fields of two components; without values */
    eg_buffer *coefficients;
    eg_vectors *vectors;
    eg_buffer *x, *b;
    eg_pcg *pcg;
};

int eg_ins_continuity_rows(int np, int face_np)
{
    return 4 * np + 6 * face_np + 12;
}

void eg_ins_continuity_destroy(eg_ins_continuity **handle)
{
    eg_ins_continuity *c = *handle;
    if (!c) return;
    eg_pcg_destroy(&c->pcg);
    eg_buffer_destroy(&c->b);
    eg_buffer_destroy(&c->x);
    eg_vectors_destroy(&c->vectors);
    eg_buffer_destroy(&c->coefficients);
    eg_field_destroy(&c->like);
    eg_field_destroy(&c->speed);
    eg_operator_destroy(&c->sum);
    eg_operator_destroy(&c->across);
    eg_operator_destroy(&c->inverse);
    eg_operator_destroy(&c->mass);
    eg_kernel_destroy(&c->split);
    eg_kernel_destroy(&c->invert);
    eg_kernel_destroy(&c->apply);
    eg_kernel_destroy(&c->join);
    eg_kernel_destroy(&c->strengths);
    eg_kernel_destroy(&c->speeds);
    eg_halo_destroy(&c->speed_halo);
    eg_halo_destroy(&c->halo);
    eg_trace_free(&c->trace);
    eg_release(c->space->ctx, handle);
}

/* --- creation --------------------------------------------------------------------------------- */

/* [Dr | Ds]. */
static eg_status make_across(eg_device *device, const eg_element *e, eg_operator **out)
{
    const int np = e->np;
    double *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, 2 * (size_t)(np * np), &matrix));
    for (int i = 0; i < np; i++)
        for (int d = 0; d < 2; d++)
            memcpy(matrix + (2 * i + d) * np, e->D + (d * np + i) * np,
                   (size_t)np * sizeof *matrix);
    EG_TRY(eg_operator_create(device, EG_F64, np, 2 * np, matrix, out));
done:
    eg_release(e->ctx, &matrix);
    return status;
}

/* [M | Drᵀ M | Dsᵀ M | Eᵀ M_face]. */
static eg_status make_sum(eg_device *device, const eg_element *e, eg_operator **out)
{
    const int np = e->np, nfp = e->face_np, columns = 3 * np + 3 * nfp;
    double *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(np * columns), &matrix));
    for (int i = 0; i < np; i++)
        for (int j = 0; j < np; j++) {
            double *at = matrix + i * columns + j;
            at[0] = e->mass[i * np + j];
            for (int d = 0; d < 2; d++)
                for (int k = 0; k < np; k++)
                    at[(1 + d) * np] += e->D[(d * np + k) * np + i] * e->mass[k * np + j];
        }
    for (int i = 0; i < 3 * nfp; i++) /* node of a face, and function q of it */
        for (int q = 0; q < nfp; q++)
            matrix[e->face_node[i] * columns + 3 * np + i / nfp * nfp + q] +=
                e->face->mass[(i % nfp) * nfp + q];
    EG_TRY(eg_operator_create(device, EG_F64, np, columns, matrix, out));
done:
    eg_release(e->ctx, &matrix);
    return status;
}

static eg_status compile(const eg_ins_continuity *c, const char *entry, eg_kernel **out)
{
    const eg_element *e = c->space->groups[0].element;
    const eg_define sizes[] = {{"NP", e->np}, {"NFP", e->face_np}};
    return eg_space_kernel(c->space, &c->space->groups[0],
                           (eg_kernel_options){.source = "model/ins/continuity.k.c",
                                               .entry = entry,
                                               .defines = sizes,
                                               .define_count = EG_COUNT(sizes)},
                           out);
}

/* What is this rank's own affair. */
static eg_status create_own(eg_ins_continuity *c)
{
    const eg_space *space = c->space;
    const eg_group *g = &space->groups[0];
    const eg_element *e = g->element;
    eg_status status = EG_OK;
    EG_TRY(eg_trace_create(space->device, e, e, &c->trace));
    EG_TRY(compile(c, "speeds", &c->speeds));
    EG_TRY(compile(c, "strengths", &c->strengths));
    EG_TRY(compile(c, "join", &c->join));
    EG_TRY(compile(c, "continuity", &c->apply));
    EG_TRY(compile(c, "invert", &c->invert));
    EG_TRY(compile(c, "split", &c->split));
    EG_TRY(eg_operator_create(space->device, EG_F64, e->np, e->np, e->mass, &c->mass));
    EG_TRY(eg_operator_create(space->device, EG_F64, e->np, e->np, e->mass_inverse, &c->inverse));
    EG_TRY(make_across(space->device, e, &c->across));
    EG_TRY(make_sum(space->device, e, &c->sum));
    EG_TRY(eg_buffer_create(space->device, EG_F64, (size_t)(g->own_tiles * 4 * g->lanes),
                            &c->coefficients));
done:
    return status;
}

static eg_status apply(void *user, eg_buffer *x, eg_buffer *y)
{
    return eg_ins_continuity_apply(user, x, y);
}

static eg_status invert(void *user, eg_buffer *r, eg_buffer *z)
{
    const eg_ins_continuity *c = user;
    const eg_group *g = &c->space->groups[0];
    const size_t begin = c->like->offset[0];
    return eg_launch(c->invert, g->own_tiles, EG_BUFFER_AT("r", r, begin),
                     EG_BUFFER("geometry", g->volume_factors), EG_OPERATOR("inverse", c->inverse),
                     EG_BUFFER_AT("z", z, begin));
}

/* What all ranks make together. */
static eg_status create_shared(eg_ins_continuity *c)
{
    eg_space *space = c->space;
    const eg_linear A = {.user = c, .apply = apply}, B = {.user = c, .apply = invert};
    const eg_krylov_options options = {.relative = c->options.tolerance,
                                       .reference = EG_KRYLOV_TO_RHS,
                                       .iterations = c->options.iterations};
    eg_status status = EG_OK;
    EG_TRY(eg_halo_create(space, 2, EG_F64, EG_HALO_TRACES, &c->halo));
    EG_TRY(eg_halo_create(space, 1, EG_F64, EG_HALO_TRACES, &c->speed_halo));
    EG_TRY(eg_field_create(space, 1, EG_F64, &c->speed));
    EG_TRY(eg_field_create(space, 2, EG_F64, &c->like));
    eg_buffer_destroy(&c->like->data);
    EG_TRY(eg_vectors_create(space, 2, EG_F64, &c->vectors));
    EG_TRY(eg_vectors_new(c->vectors, &c->x));
    EG_TRY(eg_vectors_new(c->vectors, &c->b));
    EG_TRY(eg_pcg_create(c->vectors, A, &B, &options, &c->pcg));
done:
    return status;
}

eg_status eg_ins_continuity_create(eg_space *space, const eg_ins_faces *faces,
                                   const eg_ins_continuity_options *options,
                                   eg_ins_continuity **out)
{
    eg_ins_continuity *c = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &c));
    *c = (eg_ins_continuity){.space = space, .faces = faces, .options = *options};
    EG_TRY(eg_comm_agree(space->comm, create_own(c)));
    EG_TRY(create_shared(c));
    *out = c;
    c = NULL;
done:
    eg_ins_continuity_destroy(&c);
    return status;
}

/* --- products and solves ---------------------------------------------------------------------- */

eg_status eg_ins_continuity_prepare(eg_ins_continuity *c, eg_field *const w[2], double dt)
{
    const eg_group *g = &c->space->groups[0];
    const size_t begin = c->speed->offset[0];
    eg_status status = EG_OK;
    EG_TRY(eg_launch(c->speeds, g->own_tiles, EG_BUFFER_AT("u", w[0]->data, begin),
                     EG_BUFFER_AT("v", w[1]->data, begin), EG_OPERATOR("mass", c->mass),
                     EG_BUFFER_AT("speed", c->speed->data, begin)));
    EG_TRY(eg_halo_start(c->speed_halo, c->speed));
    EG_TRY(eg_halo_wait(c->speed_halo, c->speed));
    EG_TRY(eg_launch(
        c->strengths, g->own_tiles, EG_BUFFER("speed", c->speed->data),
        EG_INTEGER("begin", (int64_t)begin), EG_BUFFER("beyond", c->faces->beyond),
        EG_BUFFER("neighbour_face", g->neighbour_face), EG_BUFFER("geometry", g->volume_factors),
        EG_BUFFER("kinds", c->faces->kinds), EG_BUFFER("other_node", c->trace.other.node),
        EG_REAL("scale", c->options.strength * dt), EG_BUFFER("strengths", c->coefficients)));
done:
    return status;
}

static eg_status launch(eg_ins_continuity *c, int64_t from, int64_t to, eg_buffer *x, eg_buffer *y)
{
    const eg_group *g = &c->space->groups[0];
    const size_t begin = c->like->offset[0];
    const eg_argument arguments[] = {EG_BUFFER("x", x),
                                     EG_INTEGER("begin", (int64_t)begin),
                                     EG_BUFFER("beyond", c->faces->beyond),
                                     EG_BUFFER("neighbour_face", g->neighbour_face),
                                     EG_BUFFER("geometry", g->volume_factors),
                                     EG_BUFFER("faces", g->face_factors),
                                     EG_BUFFER("kinds", c->faces->kinds),
                                     EG_BUFFER("strengths", c->coefficients),
                                     EG_BUFFER("own_node", c->trace.own.node),
                                     EG_BUFFER("other_node", c->trace.other.node),
                                     EG_OPERATOR("across", c->across),
                                     EG_OPERATOR("sum", c->sum),
                                     EG_BUFFER_AT("y", y, begin)};
    if (from == to) return EG_OK;
    return eg_launch_tiles(c->apply, from, to - from, arguments, EG_COUNT(arguments));
}

eg_status eg_ins_continuity_apply(eg_ins_continuity *c, eg_buffer *x, eg_buffer *y)
{
    const eg_group *g = &c->space->groups[0];
    eg_field field = *c->like;
    eg_status status = EG_OK;
    field.data = x;
    EG_TRY(eg_halo_start(c->halo, &field));
    EG_TRY(launch(c, 0, g->interior_tiles, x, y));
    EG_TRY(eg_halo_wait(c->halo, &field));
    EG_TRY(launch(c, g->interior_tiles, g->own_tiles, x, y));
done:
    return status;
}

eg_status eg_ins_continuity_run(eg_ins_continuity *c, const eg_ins_data *given, double dt,
                                eg_field *const w[2], int *iterations)
{
    const eg_group *g = &c->space->groups[0];
    const size_t one = c->speed->offset[0], two = c->like->offset[0];
    eg_krylov_result result;
    eg_status status = EG_OK;
    EG_TRY(eg_ins_continuity_prepare(c, w, dt));
    EG_TRY(eg_launch(c->join, g->own_tiles, EG_BUFFER_AT("u", w[0]->data, one),
                     EG_BUFFER_AT("v", w[1]->data, one), EG_BUFFER("beyond", c->faces->beyond),
                     EG_BUFFER("geometry", g->volume_factors), EG_BUFFER("faces", g->face_factors),
                     EG_BUFFER("kinds", c->faces->kinds),
                     EG_BUFFER("given", eg_ins_data_values(given)),
                     EG_BUFFER("strengths", c->coefficients), EG_OPERATOR("sum", c->sum),
                     EG_BUFFER_AT("x", c->x, two), EG_BUFFER_AT("b", c->b, two)));
    EG_TRY(eg_pcg_solve(c->pcg, c->b, c->x, &result));
    *iterations = result.iterations;
    if (result.outcome != EG_KRYLOV_CONVERGED && result.outcome != EG_KRYLOV_ROUNDING)
        EG_TRY(eg_fail(c->space->ctx, EG_ERROR_NUMERIC,
                       "the solve with ins.divergence_penalty = %g has not converged in %d "
                       "iterations: %s. The residual is %.3g, %.3g was asked for. If the flow has "
                       "grown without bound, steps are too large for advection: try half of "
                       "time.dt or time.cfl, or more time.subcycles; else look at "
                       "solver.tolerance and solver.iterations",
                       c->options.strength, result.iterations,
                       eg_krylov_outcome_text(result.outcome), result.residual, result.target));
    EG_TRY(eg_launch(c->split, g->own_tiles, EG_BUFFER_AT("x", c->x, two),
                     EG_BUFFER_AT("u", w[0]->data, one), EG_BUFFER_AT("v", w[1]->data, one)));
done:
    return status;
}
