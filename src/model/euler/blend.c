/* Blending with finite volumes on subcells, for shocks [hennemann2021, ruedaramirez2021, sonntag2017].
 *
 * The rate of an element is (1 - α) times that of the scheme and α times that of finite volumes on as
 * many subcells as there are nodes. Along a line their ends are x_0 = -1, x_{i+1} = x_i + w_i with
 * the weights w of the nodes, and the rate is -(F_{i+1} - F_i) / w_i: inside, F is the numerical flux
 * through J∇r_d at x_i, between states that are linear in each subcell (minmod of density, velocity and
 * pressure; beyond the ends are the neighbour's traces), and at both ends of the line it is that of the
 * scheme. Both rates have the same sum with the weights, and a blend conserves what the scheme does;
 * J∇r_d is linear along lines of straight elements, so that a uniform flow stays as it is.
 *
 * With Gauss points the traces of an element are blended, too, with the values of the outermost nodes:
 * what a polynomial through a shock is at its ends is no state to compute with.
 *
 * α is found before every stage by indicator.k.c: with the part E of the energy of ρp that is in the highest
 * modes (of all, or in the second highest of those without the highest, whichever is more),
 *
 *     α = 1 / (1 + exp(s (1 - E / T))),    T = 0.5 · 10^(-1.8 (N + 1)^(1/4)),    s = ln 9999
 *
 * and 0 where that is less than 0.001 [hennemann2021]; of degree 1, whose highest modes are its slopes, three
 * times that T. Rates take at most half of finite volumes, traces up to the whole. */
#include "model/euler/parts.h"

#include <math.h>

struct eg_euler_blend {
    eg_buffer *shares; /* [slot_count / lanes][2][lanes], see blend.k.h */
    eg_buffer *modes;  /* see indicator.k.c */
    double middle;     /* T */
};

eg_status eg_euler_blend_create(eg_euler *a, const eg_euler_options *options)
{
    const eg_space *space = a->space;
    const eg_element *line = a->line;
    const double nothing = 0;
    const size_t slots = (size_t)space->slot_count;
    eg_status status = EG_OK;
    if (options->limits.method != EG_EULER_BLEND) return EG_OK;
    EG_TRY(eg_new(space->ctx, 1, &a->blend));
    EG_TRY(eg_space_upload(space, EG_F64, (size_t)(line->np * line->np), line->V_inverse,
                           &a->blend->modes));
    EG_TRY(eg_buffer_create(space->device, EG_F64, 2 * slots, &a->blend->shares));
    EG_TRY(eg_buffer_fill(a->blend->shares, 0, 2 * slots, &nothing));
    a->blend->middle = (a->degree == 1 ? 1.5 : 0.5) * pow(10, -1.8 * pow(a->degree + 1, 0.25));
done:
    return status;
}

void eg_euler_blend_destroy(eg_euler *a)
{
    if (!a->blend) return;
    eg_buffer_destroy(&a->blend->modes);
    eg_buffer_destroy(&a->blend->shares);
    eg_release(a->space->ctx, &a->blend);
}

eg_argument eg_euler_shares(const eg_euler *a, const eg_group *g)
{
    return a->blend ? EG_BUFFER_AT("shares", a->blend->shares, (size_t)g->first_slot * 2)
                    : EG_BUFFER("shares", a->table);
}

eg_status eg_euler_find_shares(eg_euler *a, bool ghosts, const eg_field *current)
{
    eg_status status = EG_OK;
    for (int i = 0; a->blend && i < a->space->group_count; i++) {
        const eg_group *g = &a->space->groups[i];
        const int64_t from = ghosts ? g->own_tiles : 0, to = ghosts ? g->tiles : g->own_tiles;
        const eg_argument arguments[] = {
            EG_BUFFER_AT("u", current->data, current->offset[i]),
            EG_BUFFER("modes", a->blend->modes),
            EG_REAL("middle", a->blend->middle),
            eg_euler_shares(a, g),
            EG_BUFFER_AT("traces", a->traces, eg_euler_traces_before(a, g)),
        };
        if (from == to) continue;
        EG_TRY(eg_launch_tiles(a->parts[i].indicator, from, to - from, arguments,
                               EG_COUNT(arguments)));
    }
done:
    return status;
}
