/* Quantities: integrals, norms and extremes of expressions of fields.
 *
 * A batch's values at points (quantity_sampler.h) are added up element by element, in an order of
 * points that never changes, to sums that are kept for every slot of a batch: the first elements of
 * all batches share one, the second ones the next, and so on. These are reduced in a fixed order,
 * then over the ranks: the same bits on every run, and only the order of sums depends on how
 * elements are distributed. Values at points are f64 also for fields of f32. */
#include "field/quantity.h"

#include "field/quantity_sampler.h"

#include <math.h>

/* What is kept of each quantity: integrals of q, |q| and q², then the largest -q and q. */
enum { SUM, SUM_1, SUM_2, BELOW, ABOVE, TALLIES };
enum { SUMS = BELOW, EXTREMES = TALLIES - BELOW };
static const eg_reduction_kind kinds[TALLIES] = {EG_REDUCE_SUM, EG_REDUCE_SUM, EG_REDUCE_SUM,
                                                 EG_REDUCE_MAX, EG_REDUCE_MAX};

struct eg_quantity {
    eg_sampler sampler;
    eg_kernel **accumulate; /* [group_count], where a group has a part */
    eg_buffer **tallies;    /* [quantities][TALLIES] of sampler.slots values */
    eg_reducer *sum_reducer, *extreme_reducer;
    eg_buffer *result; /* of a reducer */
    double *reduced;   /* [SUMS][quantities], then [EXTREMES][quantities], on the host */
    double measure;
};

/* --- adding up -------------------------------------------------------------------------------- */

/* Sums and extremes of nothing. */
static eg_status clear(const eg_quantity *quantity)
{
    const double zero = 0, least = -INFINITY;
    eg_status status = EG_OK;
    for (int i = 0; i < quantity->sampler.quantities * TALLIES; i++)
        EG_TRY(eg_buffer_fill(quantity->tallies[i], 0, quantity->sampler.slots,
                              i % TALLIES < SUMS ? &zero : &least));
done:
    return status;
}

/* Adds one of the sampler's values at some points of a batch. */
static eg_status add(const eg_quantity *quantity, const eg_sample_batch *batch,
                     const eg_part_points *set, int number)
{
    const eg_sampler *sampler = &quantity->sampler;
    const eg_sample_measure measure = eg_sampler_measure(sampler, batch, set);
    eg_buffer *const *tallies = quantity->tallies + number * TALLIES;
    return eg_launch(
        quantity->accumulate[sampler->parts[batch->part].group], eg_row_launches(batch->tiles),
        EG_INTEGER("rows", batch->tiles), EG_INTEGER("active", batch->elements),
        EG_INTEGER("quantities", sampler->quantities), EG_INTEGER("quantity", number),
        EG_INTEGER("count", set->points->count), EG_BUFFER("weights", set->points->weights),
        EG_BUFFER("factor", measure.buffer), EG_INTEGER("factor_row", measure.row),
        EG_INTEGER("factor_rows", measure.rows), EG_INTEGER("factor_points", measure.points),
        EG_BUFFER("values", sampler->buffers[EG_SAMPLE_VALUES]), EG_BUFFER("sum", tallies[SUM]),
        EG_BUFFER("sum_1", tallies[SUM_1]), EG_BUFFER("sum_2", tallies[SUM_2]),
        EG_BUFFER("below", tallies[BELOW]), EG_BUFFER("above", tallies[ABOVE]));
}

/* Reduces what is kept of one quantity to quantity->reduced. */
static eg_status reduce(eg_quantity *quantity, int number)
{
    const size_t count = (size_t)quantity->sampler.quantities, at = (size_t)number;
    eg_reduction list[TALLIES] = {{0}};
    double found[TALLIES];
    eg_status status = EG_OK;
    for (size_t i = 0; i < TALLIES; i++)
        list[i] = (eg_reduction){.kind = kinds[i], .x = quantity->tallies[at * TALLIES + i]};
    EG_TRY(eg_reduce(quantity->sum_reducer, quantity->sampler.slots, list, quantity->result));
    EG_TRY(eg_buffer_download(quantity->result, 0, SUMS, found));
    EG_TRY(eg_reduce(quantity->extreme_reducer, quantity->sampler.slots, list + SUMS,
                     quantity->result));
    EG_TRY(eg_buffer_download(quantity->result, 0, EXTREMES, found + SUMS));
    for (size_t i = 0; i < TALLIES; i++)
        quantity->reduced[i * count + at] = found[i];
done:
    return status;
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* The measure of this rank's part: the integral of 1, which stands for the first quantity. */
static eg_status find_measure(eg_quantity *quantity)
{
    eg_sampler *sampler = &quantity->sampler;
    eg_buffer *values = sampler->buffers[EG_SAMPLE_VALUES];
    const double one = 1;
    eg_status status = EG_OK;
    EG_TRY(clear(quantity));
    EG_TRY(eg_buffer_fill(values, 0, eg_buffer_count(values), &one));
    for (eg_sample_batch batch = {0}; eg_sampler_next(sampler, &batch);) {
        const eg_part_points *set = &sampler->parts[batch.part].cubature;
        EG_TRY(eg_sampler_load_geometry(sampler, &batch));
        EG_TRY(eg_sampler_find_geometry(sampler, &batch, set));
        EG_TRY(add(quantity, &batch, set, 0));
    }
    EG_TRY(reduce(quantity, 0));
    quantity->measure = quantity->reduced[0];
done:
    return status;
}

static eg_status create_tallies(eg_quantity *quantity)
{
    const eg_space *space = quantity->sampler.space;
    const size_t tallies = (size_t)quantity->sampler.quantities * TALLIES;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, tallies, &quantity->tallies));
    for (size_t i = 0; i < tallies; i++)
        EG_TRY(eg_buffer_create(space->device, EG_F64, quantity->sampler.slots,
                                &quantity->tallies[i]));
    EG_TRY(eg_reducer_create(space->device, EG_F64, kinds, SUMS, &quantity->sum_reducer));
    EG_TRY(eg_reducer_create(space->device, EG_F64, kinds + SUMS, EXTREMES,
                             &quantity->extreme_reducer));
    EG_TRY(eg_buffer_create(space->device, EG_F64, TALLIES, &quantity->result));
    EG_TRY(eg_new(space->ctx, tallies, &quantity->reduced));
done:
    return status;
}

static eg_status create_kernels(eg_quantity *quantity)
{
    const eg_space *space = quantity->sampler.space;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &quantity->accumulate));
    for (int i = 0; i < quantity->sampler.part_count; i++) {
        const int group = quantity->sampler.parts[i].group;
        if (!quantity->accumulate[group])
            EG_TRY(eg_group_kernel(space, &space->groups[group], "field/quantity.k.c", "accumulate",
                                   &quantity->accumulate[group]));
    }
done:
    return status;
}

/* All that needs no other rank. */
static eg_status create(const eg_quantity_options *options, eg_quantity **out)
{
    eg_context *ctx = options->fields[0]->space->ctx;
    eg_quantity *quantity = NULL;
    eg_status status = EG_OK;

    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &quantity));
    status = eg_sampler_create(options, &quantity->sampler);
    if (status != EG_OK) {
        eg_release(ctx, &quantity); /* it does not know its space */
        return status;
    }
    EG_TRY(create_kernels(quantity));
    EG_TRY(create_tallies(quantity));
    EG_TRY(find_measure(quantity));
    *out = quantity;
    quantity = NULL;
done:
    eg_quantity_destroy(&quantity);
    return status;
}

eg_status eg_quantity_create(const eg_quantity_options *options, eg_quantity **out)
{
    eg_comm *comm = options->fields[0]->space->comm;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(comm, create(options, out)));
    EG_TRY(eg_comm_sum(comm, 1, &(*out)->measure));
done:
    if (status != EG_OK) eg_quantity_destroy(out);
    return status;
}

void eg_quantity_destroy(eg_quantity **handle)
{
    eg_quantity *quantity = *handle;
    if (!quantity) return;
    const eg_space *space = quantity->sampler.space;
    eg_context *ctx = space->ctx;
    eg_release(ctx, &quantity->reduced);
    eg_buffer_destroy(&quantity->result);
    eg_reducer_destroy(&quantity->extreme_reducer);
    eg_reducer_destroy(&quantity->sum_reducer);
    for (int i = 0; quantity->tallies && i < quantity->sampler.quantities * TALLIES; i++)
        eg_buffer_destroy(&quantity->tallies[i]);
    eg_release(ctx, &quantity->tallies);
    for (int group = 0; quantity->accumulate && group < space->group_count; group++)
        eg_kernel_destroy(&quantity->accumulate[group]);
    eg_release(ctx, &quantity->accumulate);
    eg_sampler_free(&quantity->sampler);
    eg_release(ctx, handle);
}

/* --- measuring -------------------------------------------------------------------------------- */

/* Adds up all quantities over some points of a batch. */
static eg_status add_points(eg_quantity *quantity, const eg_sample_batch *batch,
                            const eg_part_points *set, double t)
{
    eg_sampler *sampler = &quantity->sampler;
    eg_status status = EG_OK;
    EG_TRY(eg_sampler_find_geometry(sampler, batch, set));
    EG_TRY(eg_sampler_evaluate(sampler, batch, set, t));
    for (int i = 0; i < sampler->quantities; i++)
        EG_TRY(add(quantity, batch, set, i));
done:
    return status;
}

/* All that needs no other rank. */
static eg_status measure(eg_quantity *quantity, double t, const eg_field *const *fields)
{
    eg_sampler *sampler = &quantity->sampler;
    eg_status status = EG_OK;
    EG_TRY(eg_sampler_check(sampler, fields));
    EG_TRY(clear(quantity));
    for (eg_sample_batch batch = {0}; eg_sampler_next(sampler, &batch);) {
        const eg_part *part = &sampler->parts[batch.part];
        EG_TRY(eg_sampler_load_geometry(sampler, &batch));
        EG_TRY(eg_sampler_load_fields(sampler, &batch, fields));
        EG_TRY(add_points(quantity, &batch, &part->cubature, t));
        if (part->nodes.points) EG_TRY(add_points(quantity, &batch, &part->nodes, t));
    }
    for (int i = 0; i < sampler->quantities; i++)
        EG_TRY(reduce(quantity, i));
done:
    return status;
}

eg_status eg_quantity_measure(eg_quantity *quantity, double t, const eg_field *const *fields,
                              eg_quantity_result *out)
{
    eg_comm *comm = quantity->sampler.space->comm;
    const size_t n = (size_t)quantity->sampler.quantities;
    double *sums = quantity->reduced, *extremes = sums + SUMS * n;
    eg_status status = EG_OK;

    EG_TRY(eg_comm_agree(comm, measure(quantity, t, fields)));
    EG_TRY(eg_comm_sum(comm, SUMS * n, sums));
    EG_TRY(eg_comm_max(comm, EXTREMES * n, extremes));
    for (size_t i = 0; i < n; i++) {
        out[i] = (eg_quantity_result){.integral = sums[i],
                                      .l1 = sums[n + i],
                                      .l2 = sqrt(sums[2 * n + i]),
                                      .least = -extremes[i],
                                      .most = extremes[n + i],
                                      .measure = quantity->measure};
        /* Nodes count for the extremes alone. */
        if (isnan(out[i].least) || isnan(out[i].most))
            out[i].integral = out[i].l1 = out[i].l2 = out[i].least = out[i].most = NAN;
    }
done:
    return status;
}
