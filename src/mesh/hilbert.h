/* Hilbert curves through a square or a cube of 2^bits cells a side. */
#ifndef EG_HILBERT_H
#define EG_HILBERT_H

#include <stdint.h>

/* Cells a side are 2^EG_HILBERT_BITS(dim) at most, so that keys fit into 63 bits. */
#define EG_HILBERT_BITS(dim) ((dim) == 2 ? 31 : 21)

/* The curve as a machine: in a state, the half that a cell lies in along each axis (bit d: axis d)
 * says which piece of the curve passes through it, and the state that this piece is in. */
typedef struct eg_hilbert {
    int dim;
    uint8_t piece[24][8], next[24][8];
} eg_hilbert;

eg_hilbert eg_hilbert_new(int dim); /* 2 or 3 */

/* How far along the curve cell [dim] lies: 0 … 2^(dim bits) - 1. Consecutive cells share a side. */
uint64_t eg_hilbert_key(const eg_hilbert *curve, int bits, const uint32_t *cell);

#endif
