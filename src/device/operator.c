/* Operators: small dense matrices in the order K_GEMM and the fragment chains read them.
 *
 * Rows and columns are padded to multiples of 8. Padding rows repeat the last row, so that padded
 * points of a chain are copies of a valid one and pointwise physics never meets a made-up state;
 * padding columns are zero. */
#include "device/kernel.h"

#include <string.h>

/* Tensor cores: [rows/8][cols/8][32 threads][2], in single precision [… 32 threads][high, low][2], see
 * dialect/cuda.k.h. */
static size_t place_mma(int m, int k, int padded_cols)
{
    int block = m / 8 * (padded_cols / 8) + k / 8, thread = m % 8 * 4 + k % 8 / 2;
    return ((size_t)block * 32 + (size_t)thread) * 2 + (size_t)(k % 2);
}

/* A value as tensor cores take it in single precision: 11 significant bits, and the rest. */
static void put_parts(float value, size_t place, float *packed)
{
    uint32_t bits = 0;
    float high = 0;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x1000u) & 0xffffe000u;
    memcpy(&high, &bits, sizeof high);
    place += place / 2 * 2;
    packed[place] = high;
    packed[place + 2] = value - high;
}

/* Elsewhere: [rows/4][cols][4], see dialect/common.k.h. */
static size_t place_rows(int m, int k, int padded_cols)
{
    return ((size_t)(m / 4) * (size_t)padded_cols + (size_t)k) * 4 + (size_t)(m % 4);
}

eg_status eg_operator_create(eg_device *device, eg_type type, int rows, int cols, const double *a,
                             eg_operator **out)
{
    eg_context *ctx = device->ctx;
    eg_target target = eg_target_of(device);
    bool mma = eg_target_uses_mma(&target);
    eg_operator *op = NULL;
    void *packed = NULL;
    eg_status status = EG_OK;

    *out = NULL;
    if (rows < 1 || cols < 1 || rows > 65536 || cols > 65536)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "an operator of %d x %d values", rows, cols);
    if (type != EG_F64 && type != EG_F32)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "an operator's type is f64 or f32, not %s",
                       eg_type_name(type));
    int padded_rows = (rows + 7) / 8 * 8, padded_cols = (cols + 7) / 8 * 8;
    const bool parts = mma && type == EG_F32;
    size_t count = (size_t)padded_rows * (size_t)padded_cols * (parts ? 2 : 1);
    EG_TRY(eg_allocate_array(ctx, count, eg_type_size(type), &packed));
    for (int m = 0; m < padded_rows; m++)
        for (int k = 0; k < cols; k++) {
            int row = m < rows ? m : rows - 1;
            double value = a[(size_t)row * (size_t)cols + (size_t)k];
            size_t place = mma ? place_mma(m, k, padded_cols) : place_rows(m, k, padded_cols);
            if (type == EG_F64)
                ((double *)packed)[place] = value;
            else if (parts)
                put_parts((float)value, place, packed);
            else
                ((float *)packed)[place] = (float)value;
        }
    EG_TRY(eg_new(ctx, 1, &op));
    *op = (eg_operator){.rows = rows, .cols = cols, .type = type};
    EG_TRY(eg_buffer_create(device, type, count, &op->packed));
    EG_TRY(eg_buffer_upload(op->packed, 0, count, packed));
    *out = op;
    op = NULL;
done:
    if (op) eg_buffer_destroy(&op->packed);
    eg_release(ctx, &op);
    eg_release(ctx, &packed);
    return status;
}

void eg_operator_destroy(eg_operator **op)
{
    if (!op || !*op) return;
    eg_context *ctx = (*op)->packed->device->ctx;
    eg_buffer_destroy(&(*op)->packed);
    eg_release(ctx, op);
}
