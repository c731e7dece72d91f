/* How much mass, momentum and energy there is, by the quadrature of the solution points: on each
 * element Σ w_i w_j J_ij q_ij. Its rate telescopes, so this is what the schemes conserve to
 * rounding; on elements that are no parallelograms the exact integral of the polynomials is
 * another. */
#include "model/euler/parts.h"

eg_status eg_euler_create_totals(eg_euler *a)
{
    const eg_space *space = a->space;
    const size_t slots = (size_t)space->slot_count + EG_SLOT_BLOCK;
    const eg_reduction_kind kinds[EG_EULER_COMPONENTS] = {EG_REDUCE_SUM, EG_REDUCE_SUM,
                                                          EG_REDUCE_SUM, EG_REDUCE_SUM};
    const double nothing = 0;
    double values[2 * (EG_EULER_DEGREE_MAX + 1)];
    eg_euler_sums *sums = &a->sums;
    const eg_element *line = a->line;
    eg_status status = EG_OK;
    for (int i = 0; i < line->np; i++) {
        values[i] = line->r[i];
        values[line->np + i] = line->weights[i];
    }
    EG_TRY(eg_space_upload(space, EG_F64, 2 * (size_t)line->np, values, &sums->line));
    for (int c = 0; c < EG_EULER_COMPONENTS; c++) {
        EG_TRY(eg_buffer_create(space->device, EG_F64, slots, &sums->of_slot[c]));
        EG_TRY(eg_buffer_fill(sums->of_slot[c], 0, slots, &nothing));
    }
    EG_TRY(eg_buffer_create(space->device, EG_F64, EG_EULER_COMPONENTS, &sums->all));
    EG_TRY(eg_reducer_create(space->device, EG_F64, kinds, EG_COUNT(kinds), &sums->reducer));
done:
    return status;
}

void eg_euler_destroy_totals(eg_euler *a)
{
    eg_reducer_destroy(&a->sums.reducer);
    eg_buffer_destroy(&a->sums.all);
    for (int c = 0; c < EG_EULER_COMPONENTS; c++)
        eg_buffer_destroy(&a->sums.of_slot[c]);
    eg_buffer_destroy(&a->sums.line);
}

/* Of this rank's elements. */
static eg_status add_own(eg_euler *a, const eg_field *current, double *out)
{
    const eg_space *space = a->space;
    eg_euler_sums *sums = &a->sums;
    eg_reduction list[EG_EULER_COMPONENTS];
    eg_status status = EG_OK;
    for (int c = 0; c < EG_EULER_COMPONENTS; c++) {
        list[c] = (eg_reduction){.kind = EG_REDUCE_SUM, .x = sums->of_slot[c]};
        for (int i = 0; i < space->group_count; i++) {
            const eg_group *g = &space->groups[i];
            const eg_euler_part *p = &a->parts[i];
            if (g->own_tiles == 0) continue;
            EG_TRY(eg_launch(
                p->totals, g->own_tiles, EG_BUFFER_AT("u", current->data, current->offset[i]),
                EG_BUFFER("active", g->weight), EG_BUFFER("nodes", g->nodes),
                EG_BUFFER("metric", p->curved ? p->metric : g->nodes),
                EG_BUFFER("line", sums->line),
                EG_REAL("jacobian", p->cartesian ? 0.25 * p->sides[0] * p->sides[1] : 1),
                EG_INTEGER("component", c),
                EG_BUFFER_AT("sum", sums->of_slot[c], (size_t)g->first_slot)));
        }
    }
    EG_TRY(eg_reduce(sums->reducer, (size_t)space->slot_count, list, sums->all));
    EG_TRY(eg_buffer_download(sums->all, 0, EG_EULER_COMPONENTS, out));
done:
    return status;
}

eg_status eg_euler_totals(eg_euler *a, const eg_field *current, double *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(a->space->comm, add_own(a, current, out)));
    EG_TRY(eg_comm_sum(a->space->comm, EG_EULER_COMPONENTS, out));
done:
    return status;
}
