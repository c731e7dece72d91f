/* The largest of a value that each element has, of which kernels write one for each slot: a rate, from
 * which a step's length follows. */
#ifndef EG_FIELD_RATES_H
#define EG_FIELD_RATES_H

#include "field/field.h"

typedef struct eg_rates {
    const eg_space *space; /* not owned */
    eg_buffer
        *of_slot; /* f64 [slot_count], 0 where there is no element; owned, as all that follows */
    eg_buffer *largest;
    eg_reducer *reducer;
} eg_rates;

eg_status eg_rates_create(const eg_space *space, eg_rates **out);
void eg_rates_destroy(eg_rates **rates);
/* The largest of this rank's; NaN if one is. */
eg_status eg_rates_find_largest(eg_rates *rates, double *largest);

#endif
