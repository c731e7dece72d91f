/* Pairs of points of the reference triangle, and matrices between even and odd parts. */
#include "element/mirror.h"

#include <math.h>

#define NEAR 1e-10 /* of points that are the same */

eg_status eg_mirror_new(eg_context *ctx, int even, int odd, eg_mirror *out)
{
    *out = (eg_mirror){.even = even, .odd = odd};
    return eg_new(ctx, (size_t)even, &out->pair);
}

void eg_mirror_free(eg_context *ctx, eg_mirror *mirror)
{
    eg_release(ctx, &mirror->pair);
}

/* The point that lies where point i is seen in the mirror; -1: none. */
static int image_of(int i, int count, const double *r)
{
    for (int j = 0; j < count; j++)
        if (fabs(r[j] - r[count + i]) < NEAR && fabs(r[count + j] - r[i]) < NEAR) return j;
    return -1;
}

eg_status eg_mirror_create(eg_context *ctx, int count, const double *r, eg_mirror *out)
{
    int pairs = 0, own = 0;
    eg_status status = EG_OK;
    *out = (eg_mirror){0};
    for (int i = 0; i < count; i++) {
        const int j = image_of(i, count, r);
        if (j < 0)
            EG_TRY(eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "point %d at (%g, %g) of a triangle has no mirror image", i, r[i],
                           r[count + i]));
        pairs += i < j;
        own += i == j;
    }
    EG_TRY(eg_mirror_new(ctx, pairs + own, pairs, out));
    pairs = own = 0;
    for (int i = 0; i < count; i++) {
        const int j = image_of(i, count, r), at = i < j ? pairs++ : out->odd + own;
        if (i > j) continue;
        own += i == j;
        out->pair[at][0] = i;
        out->pair[at][1] = j;
    }
done:
    return status;
}

/* Of row `a` of A and row `b` of it, which is added with this sign: half the entry of column k of a part. */
static double entry(const eg_mirror_block *block, const double *A, int pitch, int row, int k)
{
    const int *pair = block->columns->pair[k];
    if (row < 0 || pair[0] < 0) return 0;
    const double a = A[row * pitch + pair[0]], b = A[row * pitch + pair[1]];
    if (pair[0] == pair[1]) return block->odd_columns ? 0 : 0.5 * a; /* as e is 2 x_a */
    return 0.5 * (block->odd_columns ? a - b : a + b);
}

void eg_mirror_fold(const eg_mirror_block *block, const double *A, int pitch, int out_pitch,
                    double *out)
{
    const int rows = block->odd_rows ? block->rows->odd : block->rows->even;
    const int columns = block->odd_columns ? block->columns->odd : block->columns->even;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) {
            const int *pair = block->rows->pair[i];
            const double a = entry(block, A, pitch, pair[0], k);
            const double b = entry(block, A, pitch, pair[1], k);
            out[i * out_pitch + k] = 0.5 * (block->odd_rows ? a - b : a + b);
        }
}
