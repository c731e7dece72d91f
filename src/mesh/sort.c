/* Sorts 64-bit keys by their digits, the least significant first: linear time, stable. Digits that
 * are the same in all keys cost one look. */
#include "mesh/build.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS ((64 + DIGIT_BITS - 1) / DIGIT_BITS)
#define RADIX ((size_t)1 << DIGIT_BITS)

static size_t digit_of(uint64_t key, int digit)
{
    return (size_t)(key >> (digit * DIGIT_BITS)) & (RADIX - 1);
}

eg_status eg_sort_keys(eg_context *ctx, size_t count, uint64_t *keys, int32_t *order)
{
    eg_status status = EG_OK;
    size_t *counts = NULL; /* [DIGITS][RADIX] keys with each digit, then where the next one goes */
    uint64_t *other_keys = NULL;
    int32_t *other_order = NULL;
    EG_TRY(eg_new(ctx, DIGITS * RADIX, &counts));
    EG_TRY(eg_new(ctx, count, &other_keys));
    EG_TRY(eg_new(ctx, count, &other_order));
    for (size_t i = 0; i < count; i++) {
        for (int d = 0; d < DIGITS; d++)
            counts[(size_t)d * RADIX + digit_of(keys[i], d)]++;
    }

    uint64_t *from_keys = keys, *to_keys = other_keys;
    int32_t *from_order = order, *to_order = other_order;
    for (int d = 0; d < DIGITS; d++) {
        size_t *next = counts + (size_t)d * RADIX;
        if (count == 0 || next[digit_of(from_keys[0], d)] == count) continue;
        size_t sum = 0;
        for (size_t r = 0; r < RADIX; r++) {
            size_t here = next[r];
            next[r] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++) {
            size_t place = next[digit_of(from_keys[i], d)]++;
            to_keys[place] = from_keys[i];
            to_order[place] = from_order[i];
        }
        uint64_t *swap_keys = from_keys;
        int32_t *swap_order = from_order;
        from_keys = to_keys;
        from_order = to_order;
        to_keys = swap_keys;
        to_order = swap_order;
    }
    if (from_keys != keys) {
        memcpy(keys, from_keys, count * sizeof *keys);
        memcpy(order, from_order, count * sizeof *order);
    }
done:
    eg_release(ctx, &other_order);
    eg_release(ctx, &other_keys);
    eg_release(ctx, &counts);
    return status;
}
