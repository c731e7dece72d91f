/* The largest of a value that each element has. */
#include "field/rates.h"

eg_status eg_rates_create(const eg_space *space, eg_rates **out)
{
    const size_t slots = (size_t)space->slot_count + EG_SLOT_BLOCK;
    const eg_reduction_kind kind = EG_REDUCE_MAX;
    const double nothing = 0;
    eg_rates *rates = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(space->ctx, 1, &rates));
    rates->space = space;
    EG_TRY(eg_buffer_create(space->device, EG_F64, slots, &rates->of_slot));
    EG_TRY(eg_buffer_fill(rates->of_slot, 0, slots, &nothing));
    EG_TRY(eg_buffer_create(space->device, EG_F64, 1, &rates->largest));
    EG_TRY(eg_reducer_create(space->device, EG_F64, &kind, 1, &rates->reducer));
    *out = rates;
    rates = NULL;
done:
    eg_rates_destroy(&rates);
    return status;
}

void eg_rates_destroy(eg_rates **handle)
{
    eg_rates *rates = *handle;
    if (!rates) return;
    eg_reducer_destroy(&rates->reducer);
    eg_buffer_destroy(&rates->largest);
    eg_buffer_destroy(&rates->of_slot);
    eg_context *ctx = rates->space->ctx;
    eg_release(ctx, handle);
}

eg_status eg_rates_find_largest(eg_rates *rates, double *largest)
{
    const eg_reduction reduction = {.kind = EG_REDUCE_MAX, .x = rates->of_slot};
    eg_status status = EG_OK;
    EG_TRY(eg_reduce(rates->reducer, (size_t)rates->space->slot_count, &reduction, rates->largest));
    EG_TRY(eg_buffer_download(rates->largest, 0, 1, largest));
done:
    return status;
}
