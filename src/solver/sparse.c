/* Sparse matrices on a device, in slices of as many rows as the device has lanes. */
#include "solver/sparse.h"

static int64_t longest_row(const eg_csr *csr, int32_t first, int lanes)
{
    int64_t longest = 0;
    for (int32_t i = first; i < csr->rows && i < first + lanes; i++)
        if (csr->offset[i + 1] - csr->offset[i] > longest)
            longest = csr->offset[i + 1] - csr->offset[i];
    return longest;
}

/* start [slices + 1] */
static void find_slices(const eg_csr *csr, int lanes, int64_t slices, int64_t *start)
{
    start[0] = 0;
    for (int64_t s = 0; s < slices; s++)
        start[s + 1] = start[s] + longest_row(csr, (int32_t)(s * lanes), lanes) * lanes;
}

static void put_value(eg_type type, void *values, int64_t at, double value)
{
    if (type == EG_F64)
        ((double *)values)[at] = value;
    else
        ((float *)values)[at] = (float)value;
}

/* All entries in slices: column and values, of which those that fill up are zero already. */
static void fill_slices(const eg_csr *csr, eg_type type, int lanes, const int64_t *start,
                        int32_t *column, void *values)
{
    for (int32_t i = 0; i < csr->rows; i++) {
        int64_t at = start[i / lanes] + i % lanes, last = 0;
        for (int64_t k = csr->offset[i]; k < csr->offset[i + 1]; k++, at += lanes) {
            column[at] = csr->column[k];
            put_value(type, values, at, csr->value[k]);
            last = csr->column[k];
        }
        for (; at < start[i / lanes + 1]; at += lanes)
            column[at] = (int32_t)last; /* a place that is in cache */
    }
}

static eg_status upload(eg_sparse *sparse, eg_type type, int64_t count, const void *host,
                        eg_buffer **out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(sparse->device, type, (size_t)count, out));
    EG_TRY(eg_buffer_upload(*out, 0, (size_t)count, host));
done:
    return status;
}

static eg_status create_kernel(const eg_sparse *sparse, const char *entry, eg_kernel **out)
{
    return eg_kernel_create(
        sparse->device,
        &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                             .source = "solver/sparse.k.c",
                             .entry = entry,
                             .rows_per_block = eg_device_get_info(sparse->device)->is_gpu ? 1 : 0,
                             .real = sparse->type},
        out);
}

static eg_status create_buffers(eg_sparse *sparse, const eg_csr *csr)
{
    eg_context *ctx = csr->ctx;
    const int lanes = eg_device_get_info(sparse->device)->lanes;
    int64_t *start = NULL;
    int32_t *column = NULL;
    char *values = NULL;
    eg_status status = EG_OK;
    sparse->slices = ((int64_t)csr->rows + lanes - 1) / lanes;
    EG_TRY(eg_new(ctx, (size_t)sparse->slices + 1, &start));
    find_slices(csr, lanes, sparse->slices, start);
    sparse->entries = start[sparse->slices];
    EG_TRY(eg_new(ctx, (size_t)sparse->entries, &column));
    EG_TRY(eg_allocate_array(ctx, (size_t)sparse->entries, eg_type_size(sparse->type),
                             (void **)&values));
    fill_slices(csr, sparse->type, lanes, start, column, values);
    EG_TRY(upload(sparse, EG_I64, sparse->slices + 1, start, &sparse->start));
    EG_TRY(upload(sparse, EG_I32, sparse->entries, column, &sparse->column));
    EG_TRY(upload(sparse, sparse->type, sparse->entries, values, &sparse->value));
done:
    eg_release(ctx, &values);
    eg_release(ctx, &column);
    eg_release(ctx, &start);
    return status;
}

static eg_status create_kernels(eg_sparse *sparse)
{
    eg_status status = EG_OK;
    EG_TRY(create_kernel(sparse, "product", &sparse->product));
    EG_TRY(create_kernel(sparse, "residual", &sparse->residual));
    EG_TRY(create_kernel(sparse, "add_product", &sparse->add_product));
done:
    return status;
}

/* like: NULL, or whose kernels to borrow. */
static eg_status create(eg_device *device, eg_type type, const eg_csr *csr, const eg_sparse *like,
                        eg_sparse **out)
{
    eg_context *ctx = eg_device_context(device);
    eg_sparse *sparse = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    if (type != EG_F64 && type != EG_F32)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "sparse matrices hold f64 or f32, not %s",
                       eg_type_name(type));
    EG_TRY(eg_new(ctx, 1, &sparse));
    *sparse = (eg_sparse){.device = device,
                          .type = type,
                          .rows = csr->rows,
                          .columns = csr->columns,
                          .borrows = like != NULL};
    EG_TRY(create_buffers(sparse, csr));
    if (like) {
        sparse->product = like->product;
        sparse->residual = like->residual;
        sparse->add_product = like->add_product;
    } else {
        EG_TRY(create_kernels(sparse));
    }
    *out = sparse;
    sparse = NULL;
done:
    eg_sparse_destroy(&sparse);
    return status;
}

eg_status eg_sparse_create(eg_device *device, eg_type type, const eg_csr *csr, eg_sparse **out)
{
    return create(device, type, csr, NULL, out);
}

eg_status eg_sparse_create_like(const eg_sparse *like, const eg_csr *csr, eg_sparse **out)
{
    return create(like->device, like->type, csr, like, out);
}

void eg_sparse_destroy(eg_sparse **handle)
{
    if (!handle || !*handle) return;
    eg_sparse *sparse = *handle;
    eg_context *ctx = eg_device_context(sparse->device);
    if (!sparse->borrows) {
        eg_kernel_destroy(&sparse->add_product);
        eg_kernel_destroy(&sparse->residual);
        eg_kernel_destroy(&sparse->product);
    }
    eg_buffer_destroy(&sparse->value);
    eg_buffer_destroy(&sparse->column);
    eg_buffer_destroy(&sparse->start);
    eg_release(ctx, handle);
}

size_t eg_sparse_bytes(const eg_sparse *sparse)
{
    return (size_t)sparse->entries * (4 + eg_type_size(sparse->type)) +
           ((size_t)sparse->slices + 1) * 8;
}

eg_status eg_sparse_apply(eg_sparse *sparse, eg_buffer *x, eg_buffer *y)
{
    return eg_launch(sparse->product, sparse->slices, EG_BUFFER("start", sparse->start),
                     EG_BUFFER("column", sparse->column), EG_BUFFER("value", sparse->value),
                     EG_BUFFER("x", x), EG_BUFFER("y", y));
}

eg_status eg_sparse_residual(eg_sparse *sparse, eg_buffer *b, eg_buffer *x, eg_buffer *y)
{
    return eg_launch(sparse->residual, sparse->slices, EG_BUFFER("start", sparse->start),
                     EG_BUFFER("column", sparse->column), EG_BUFFER("value", sparse->value),
                     EG_BUFFER("b", b), EG_BUFFER("x", x), EG_BUFFER("y", y));
}

eg_status eg_sparse_add(eg_sparse *sparse, eg_buffer *x, eg_buffer *y)
{
    return eg_launch(sparse->add_product, sparse->slices, EG_BUFFER("start", sparse->start),
                     EG_BUFFER("column", sparse->column), EG_BUFFER("value", sparse->value),
                     EG_BUFFER("x", x), EG_BUFFER("y", y));
}

static eg_status apply(void *user, eg_buffer *x, eg_buffer *y)
{
    return eg_sparse_apply(user, x, y);
}

static eg_status residual(void *user, eg_buffer *b, eg_buffer *x, eg_buffer *y)
{
    return eg_sparse_residual(user, b, x, y);
}

eg_linear eg_sparse_linear(eg_sparse *sparse)
{
    return (eg_linear){.user = sparse, .apply = apply, .residual = residual};
}
