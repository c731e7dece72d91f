/* The limiter: scaling about the mean of each element [zhang2010], on elements of any degree.
 *
 * Let a = ± J b·∇r_d be the flow outwards at a point of a face across direction d. The mean ū = ∫Ju / ∫J
 * of an element after a step of explicit Euler is
 *
 *     ∫J ū' = ∫J u - dt Σ_faces Σ_q w_q a_q û_q,    û the own value where a > 0, else the neighbour's.
 *
 * Now ∫J u = Σ_k Σ_q ω_k w_q (J u)_kq for each d, with n Gauss-Lobatto points k along d and the points q
 * of the face across it, as many as are exact. If a part λ_d of the integral is written so, Σ λ_d = 1, the
 * own value at point q of a face has the coefficient λ_d ω w_q J_q - dt w_q max(a_q, 0), ω = 2/(n (n - 1))
 * being the weight of an end. None is negative if dt R_d ≤ λ_d, R_d = max_q a_q / (ω J_q): with the best
 * λ_d if
 *
 *     dt Σ_d R_d ≤ 1.
 *
 * All coefficients, the neighbours' too, add up to ∫J - dt Σ w a, which is ∫J if div b = 0 and b·n is
 * integrated exactly. Then ū' is an average of values at these points. Faces of one direction that have
 * different points, because neighbours differ in degree, each need a part: R_d is the sum of both.
 * (Where `modal` integrates exactly, flows are constant and N + 1 Gauss points of each side do.)
 *
 * So u ← ū + θ (u - ū), with the largest θ ≤ 1 that takes the values at all these points, and at those of
 * the volume where `points` evaluates there, into the bounds: it keeps the mean and, where u is smooth, the
 * order. Schemes made of such steps (time.h: strong-stability schemes) keep the bounds as they do. */
#include "model/advection/limiter.h"

#include "model/advection/parts.h"

#include <math.h>
#include <string.h>

/* Modes a side, from 1 on. */
#define SIDES (EG_DEGREE_MAX_QUAD + 1)
/* Points of a line: of one rule, and of all rules together. */
#define LINE_MOST (SIDES + EG_ADVECTION_EXTRA_MOST)
#define ACROSS_MOST ((SIDES + 1) * LINE_MOST)

/* The part of a bound by which steps may be longer. */
#define DT_TOLERANCE 1e-8

/* Rows of threads that look at points together on a GPU. */
enum { PARTS = 8 };

typedef struct limiter_part {
    int along_count, across_count, pair_count, inside_count; /* NL, T, PAIRS, Q of the kernels */
    int rules;                                               /* that faces of its elements have */
    eg_operator *lobatto, *across, *interp;
    eg_buffer *pairs, *rule, *places;
    eg_kernel *limit, *range, *rates; /* made when first needed */
} limiter_part;

struct eg_advection_limiter {
    eg_advection *op;    /* not owned */
    limiter_part *parts; /* [group_count] */
    eg_buffer *bounds;
    eg_buffer *below,
        *above;          /* f64 [slot_count] of each element; -inf for those that are no one's */
    eg_buffer *extremes; /* f64 [2] of all of them */
    eg_reducer *reducer;
    double bounds_dt; /* once known, if the velocity does not change; 0: not yet */
};

/* --- points --------------------------------------------------------------------------------------- */

/* Gauss-Lobatto points that are exact for J u along a line. */
static int along_count(int dim, int degree, bool curved)
{
    const int jacobian = curved ? dim - 1 : 0;
    return (degree + jacobian + 4) / 2;
}

/* Which rules faces have, over all ranks: met[curved][side of the element][side of the rule]; 0: fluxes
 * are exact without points. */
static eg_status find_rules(const eg_advection *a, double met[2][SIDES + 1][SIDES + 1])
{
    const eg_space *space = a->space;
    const eg_mesh *mesh = space->mesh;
    eg_status status = EG_OK;
    memset(met, 0, 2 * sizeof *met);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int group = space->group_of_block[space->slot_of_element[e] / EG_SLOT_BLOCK];
        const eg_group *g = &space->groups[group];
        double *rules = met[g->curved][g->degree + 1];
        const int faces = eg_shape_get_info(g->shape)->faces;
        for (int f = 0; f < faces; f++) {
            const int32_t next = mesh->neighbour[(size_t)e * (size_t)mesh->face_stride + (size_t)f];
            const int other =
                next < 0 ? group
                         : space->group_of_block[space->slot_of_element[next] / EG_SLOT_BLOCK];
            const int degree = space->groups[other].degree;
            const bool exact = a->parts[group].modal && a->parts[other].modal;
            rules[exact ? 0 : 1 + (degree > g->degree ? degree : g->degree)] = 1;
        }
    }
    EG_TRY(eg_comm_max(space->comm, 2 * (SIDES + 1) * (SIDES + 1), &met[0][0][0]));
done:
    return status;
}

/* p_j, j < side, at points x [n]: out [n][side]. */
static void tabulate(int n, const double *x, int side, double *out)
{
    for (int q = 0; q < n; q++)
        for (int j = 0; j < side; j++)
            out[q * side + j] = eg_jacobi(j, 0, 0, x[q]);
}

static eg_status make_operator(eg_device *device, int n, const double *x, int side,
                               eg_operator **out)
{
    double table[ACROSS_MOST * SIDES];
    tabulate(n, x, side, table);
    return eg_operator_create(device, EG_F64, n, side, table, out);
}

/* The points of faces: those of all rules, or Gauss points where fluxes are exact without points. */
static eg_status make_across(eg_advection_limiter *l, int group, const double *met)
{
    const eg_advection *a = l->op;
    limiter_part *p = &l->parts[group];
    const int side = a->space->groups[group].degree + 1;
    double x[ACROSS_MOST], w[ACROSS_MOST], pairs[ACROSS_MOST], table[ACROSS_MOST * SIDES];
    eg_status status = EG_OK;
    for (int rule = 0; rule <= SIDES; rule++) {
        const int n = rule == 0 ? side : eg_advection_point_count(a, rule);
        if (met[rule] == 0) continue;
        EG_TRY(rule == 0 ? eg_gauss_legendre(a->space->ctx, n, x + p->across_count, w)
                         : eg_advection_line_rule(a, rule, x + p->across_count, w));
        for (int q = n / 2; q < n; q++)
            pairs[p->pair_count++] = x[p->across_count + q];
        p->across_count += n;
        p->rules++;
    }
    tabulate(p->pair_count, pairs, side, table);
    EG_TRY(eg_space_upload(a->space, EG_F64, (size_t)(p->pair_count * side), table, &p->pairs));
    EG_TRY(eg_space_upload(a->space, EG_F64, (size_t)p->across_count, x, &p->places));
    EG_TRY(make_operator(a->space->device, p->across_count, x, side, &p->across));
done:
    return status;
}

static eg_status make_part(eg_advection_limiter *l, int group, double met[2][SIDES + 1][SIDES + 1])
{
    const eg_advection *a = l->op;
    const eg_group *g = &a->space->groups[group];
    limiter_part *p = &l->parts[group];
    const int side = g->degree + 1, n = eg_advection_point_count(a, side);
    double x[2 * LINE_MOST];
    eg_status status = EG_OK;
    p->along_count = along_count(a->dim, g->degree, g->curved);
    EG_TRY(eg_gauss_lobatto(a->space->ctx, p->along_count, x, NULL));
    EG_TRY(make_operator(a->space->device, p->along_count, x, side, &p->lobatto));
    EG_TRY(make_across(l, group, met[g->curved][side]));
    p->inside_count = n;
    EG_TRY(eg_advection_line_rule(a, side, x, x + n));
    EG_TRY(make_operator(a->space->device, n, x, side, &p->interp));
    EG_TRY(eg_space_upload(a->space, EG_F64, 2 * (size_t)n, x, &p->rule));
done:
    return status;
}

int64_t eg_advection_limiter_rows(int dim, int side, int extra, bool modal)
{
    const int64_t m = side, q = side + extra, n = along_count(dim, side - 1, !modal);
    const int64_t t = modal ? m : q, inside = modal ? 0 : q;
    const int64_t work = inside > n ? inside : n;
    const int64_t rows =
        dim == 3 ? work * (modal ? m * m : q * q) + work * t * m : work * m + inside * q;
    return rows + 4 * PARTS + 2;
}

/* --- creation ------------------------------------------------------------------------------------- */

static eg_status make_buffers(eg_advection_limiter *l, const eg_advection_range *bounds)
{
    const eg_space *space = l->op->space;
    const size_t slots = (size_t)space->slot_count + EG_SLOT_BLOCK;
    const eg_reduction_kind kinds[] = {EG_REDUCE_MAX, EG_REDUCE_MAX};
    const double nothing = -INFINITY;
    eg_status status = EG_OK;
    EG_TRY(eg_space_upload(space, EG_F64, 2 * (size_t)l->op->components, bounds, &l->bounds));
    EG_TRY(eg_buffer_create(space->device, EG_F64, slots, &l->below));
    EG_TRY(eg_buffer_create(space->device, EG_F64, slots, &l->above));
    EG_TRY(eg_buffer_fill(l->below, 0, slots, &nothing));
    EG_TRY(eg_buffer_fill(l->above, 0, slots, &nothing));
    EG_TRY(eg_buffer_create(space->device, EG_F64, EG_COUNT(kinds), &l->extremes));
    EG_TRY(eg_reducer_create(space->device, EG_F64, kinds, EG_COUNT(kinds), &l->reducer));
done:
    return status;
}

/* All that needs no other rank. */
static eg_status create(eg_advection *a, const eg_advection_range *bounds,
                        double met[2][SIDES + 1][SIDES + 1], eg_advection_limiter **out)
{
    eg_context *ctx = a->space->ctx;
    eg_advection_limiter *l = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, 1, &l));
    l->op = a;
    EG_TRY(eg_new(ctx, (size_t)a->space->group_count, &l->parts));
    for (int g = 0; g < a->space->group_count; g++)
        EG_TRY(make_part(l, g, met));
    EG_TRY(make_buffers(l, bounds));
    *out = l;
    l = NULL;
done:
    eg_advection_limiter_destroy(&l);
    return status;
}

eg_status eg_advection_limiter_create(eg_advection *a, const eg_advection_range *bounds,
                                      eg_advection_limiter **out)
{
    double met[2][SIDES + 1][SIDES + 1];
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(find_rules(a, met));
    EG_TRY(eg_comm_agree(a->space->comm, create(a, bounds, met, out)));
done:
    if (status != EG_OK) eg_advection_limiter_destroy(out);
    return status;
}

void eg_advection_limiter_destroy(eg_advection_limiter **handle)
{
    eg_advection_limiter *l = *handle;
    if (!l) return;
    eg_context *ctx = l->op->space->ctx;
    for (int g = 0; l->parts && g < l->op->space->group_count; g++) {
        limiter_part *p = &l->parts[g];
        eg_kernel_destroy(&p->rates);
        eg_kernel_destroy(&p->range);
        eg_kernel_destroy(&p->limit);
        eg_buffer_destroy(&p->places);
        eg_buffer_destroy(&p->rule);
        eg_buffer_destroy(&p->pairs);
        eg_operator_destroy(&p->interp);
        eg_operator_destroy(&p->across);
        eg_operator_destroy(&p->lobatto);
    }
    eg_reducer_destroy(&l->reducer);
    eg_buffer_destroy(&l->extremes);
    eg_buffer_destroy(&l->above);
    eg_buffer_destroy(&l->below);
    eg_buffer_destroy(&l->bounds);
    eg_release(ctx, &l->parts);
    eg_release(ctx, handle);
}

/* Makes a kernel for a group, if it is not there yet. */
static eg_status need(eg_advection_limiter *l, int group, const char *file, const char *entry,
                      eg_kernel **kernel)
{
    const eg_advection *a = l->op;
    const eg_group *g = &a->space->groups[group];
    limiter_part *p = &l->parts[group];
    const int side = g->degree + 1, lines = a->dim == 3 ? side * side : side;
    eg_text functions = eg_text_new(a->space->ctx);
    eg_status status = EG_OK;
    const eg_define defines[] = {
        {"DIM", a->dim},
        {"M", side},
        {"LINES", lines},
        {"NP", lines * side},
        {"FACES", 2 * a->dim},
        {"CORNERS", 1 << a->dim},
        {"COMPONENTS", a->components},
        {"CURVED", g->curved},
        {"VOLUME", !a->parts[group].modal},
        {"NL", p->along_count},
        {"T", p->across_count},
        {"PAIRS", p->pair_count},
        {"Q", p->inside_count},
        {"PARTS", eg_device_get_info(a->space->device)->is_gpu ? PARTS : 1},
        {"RULES", p->rules}};
    if (*kernel) return EG_OK;
    if (kernel == &p->rates) EG_TRY(eg_advection_write_velocity(a, &functions));
    EG_TRY(eg_advection_make_kernel(
        a, group, eg_text_string(&functions), file, entry,
        (eg_kernel_options){.defines = defines, .define_count = EG_COUNT(defines)}, kernel));
done:
    eg_text_free(&functions);
    return status;
}

/* --- use ------------------------------------------------------------------------------------------ */

eg_status eg_advection_limit(eg_advection_limiter *l, eg_field *field)
{
    const eg_space *space = l->op->space;
    eg_status status = EG_OK;
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        limiter_part *p = &l->parts[i];
        if (g->own_tiles == 0 || g->degree == 0) continue;
        EG_TRY(need(l, i, "limit", "limit", &p->limit));
        EG_TRY(eg_launch(p->limit, g->own_tiles, EG_OPERATOR("lobatto", p->lobatto),
                         EG_OPERATOR("across", p->across), EG_BUFFER("pairs", p->pairs),
                         EG_OPERATOR("interp", p->interp), EG_BUFFER("rule", p->rule),
                         EG_BUFFER("nodes", g->nodes), EG_BUFFER("bounds", l->bounds),
                         EG_BUFFER_AT("u", field->data, field->offset[i])));
    }
done:
    return status;
}

/* The largest of `below` and of `above` over all elements of all ranks. */
static eg_status find_extremes(eg_advection_limiter *l, double *below, double *above)
{
    const eg_space *space = l->op->space;
    const eg_reduction reductions[] = {{.kind = EG_REDUCE_MAX, .x = l->below},
                                       {.kind = EG_REDUCE_MAX, .x = l->above}};
    double extremes[2];
    eg_status status = EG_OK;
    EG_TRY(eg_reduce(l->reducer, (size_t)space->slot_count, reductions, l->extremes));
    EG_TRY(eg_buffer_download(l->extremes, 0, 2, extremes));
    EG_TRY(eg_comm_max(space->comm, 2, extremes));
    *below = extremes[0];
    *above = extremes[1];
done:
    return status;
}

eg_status eg_advection_range_of(eg_advection_limiter *l, const eg_field *field,
                                eg_advection_range *out)
{
    const eg_space *space = l->op->space;
    double below, above;
    eg_status status = EG_OK;
    for (int c = 0; c < l->op->components; c++) {
        for (int i = 0; i < space->group_count; i++) {
            const eg_group *g = &space->groups[i];
            limiter_part *p = &l->parts[i];
            if (g->own_tiles == 0) continue;
            EG_TRY(need(l, i, "limit", "range", &p->range));
            EG_TRY(eg_launch(p->range, g->own_tiles, EG_OPERATOR("lobatto", p->lobatto),
                             EG_OPERATOR("across", p->across), EG_BUFFER("pairs", p->pairs),
                             EG_OPERATOR("interp", p->interp), EG_INTEGER("c", c),
                             EG_BUFFER_AT("u", field->data, field->offset[i]),
                             EG_BUFFER_AT("below", l->below, (size_t)g->first_slot),
                             EG_BUFFER_AT("above", l->above, (size_t)g->first_slot)));
        }
        EG_TRY(find_extremes(l, &below, &above));
        out[c] = (eg_advection_range){-below, above};
    }
done:
    return status;
}

eg_status eg_advection_bounds_dt(eg_advection_limiter *l, double t, double *dt)
{
    const eg_space *space = l->op->space;
    double below, fastest;
    eg_status status = EG_OK;
    *dt = l->bounds_dt;
    if (l->bounds_dt > 0) return EG_OK;
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        limiter_part *p = &l->parts[i];
        if (g->own_tiles == 0) continue;
        EG_TRY(need(l, i, "rates", "rates", &p->rates));
        EG_TRY(eg_launch(p->rates, g->own_tiles, EG_BUFFER("nodes", g->nodes),
                         EG_BUFFER("places", p->places), EG_REAL("time", t),
                         EG_BUFFER_AT("rate", l->above, (size_t)g->first_slot)));
    }
    EG_TRY(find_extremes(l, &below, &fastest));
    *dt = fastest > 0 ? 1 / fastest : INFINITY;
    if (!l->op->changes) l->bounds_dt = *dt;
done:
    return status;
}

bool eg_advection_keeps_bounds(double dt, double bounds_dt)
{
    return dt <= bounds_dt * (1 + DT_TOLERANCE);
}
