/* Hilbert curves of two and three dimensions by Gray codes [hamilton2006], as a table of states.
 *
 * The curve enters a cube at corner e and leaves along axis d; in cube number w of its 2^n halves
 * it is the same curve with e and d turned. A state is the pair (e, d). */
#include "mesh/hilbert.h"

#include <assert.h>

static unsigned gray(unsigned i)
{
    return i ^ i >> 1;
}

static unsigned rotate_left(unsigned bits, unsigned by, unsigned n)
{
    by %= n;
    return (bits << by | bits >> (n - by)) & ((1u << n) - 1u);
}

static unsigned trailing_ones(unsigned i)
{
    unsigned count = 0;
    for (; i & 1u; i >>= 1)
        count++;
    return count;
}

/* The corner at which half w is entered, and the axis along which it is left, in the cube's
 * frame. */
static unsigned entry(unsigned w)
{
    return w == 0 ? 0 : gray(2 * ((w - 1) / 2));
}

static unsigned direction(unsigned w, unsigned n)
{
    if (w == 0) return 0;
    return (w % 2 ? trailing_ones(w) : trailing_ones(w - 1)) % n;
}

eg_hilbert eg_hilbert_new(int dim)
{
    assert(dim == 2 || dim == 3);
    eg_hilbert curve = {.dim = dim};
    unsigned n = (unsigned)dim, corners = 1u << n;
    for (unsigned d = 0; d < n; d++) {
        for (unsigned e = 0; e < corners; e++) {
            for (unsigned w = 0; w < corners; w++) {
                unsigned half = rotate_left(gray(w), d + 1, n) ^ e;
                unsigned next_e = e ^ rotate_left(entry(w), d + 1, n);
                unsigned next_d = (d + direction(w, n) + 1) % n;
                curve.piece[d * corners + e][half] = (uint8_t)w;
                curve.next[d * corners + e][half] = (uint8_t)(next_d * corners + next_e);
            }
        }
    }
    return curve;
}

uint64_t eg_hilbert_key(const eg_hilbert *curve, int bits, const uint32_t *cell)
{
    assert(bits >= 0 && bits <= EG_HILBERT_BITS(curve->dim));
    uint64_t key = 0;
    unsigned state = 0;
    for (int level = bits - 1; level >= 0; level--) {
        unsigned half = 0;
        for (int d = 0; d < curve->dim; d++)
            half |= (cell[d] >> level & 1u) << d;
        key = key << curve->dim | curve->piece[state][half];
        state = curve->next[state][half];
    }
    return key;
}
