/* Reductions with a fixed order: two launches, nothing allocated, the result stays on the device. */
#include "device/kernel.h"

struct eg_reducer {
    eg_device *device; /* not owned */
    eg_type type;
    size_t count; /* of kinds */
    eg_reduction_kind kinds[EG_REDUCTIONS_MAX];
    int blocks; /* at most; a constant of the device: not of threads, not of timing */
    eg_kernel *reduce, *finish;
    eg_buffer *partial; /* [kind][block] */
};

static eg_status create_kernel(eg_reducer *reducer, const char *entry, eg_kernel **out)
{
    const eg_device_info *info = &reducer->device->info;
    int64_t kinds[EG_REDUCTIONS_MAX] = {0};
    for (size_t k = 0; k < reducer->count; k++)
        kinds[k] = reducer->kinds[k];
    const eg_define defines[] = {
        {"ROWS", 8},          {"BLOCKS", reducer->blocks}, {"KINDS", (int64_t)reducer->count},
        {"KIND_0", kinds[0]}, {"KIND_1", kinds[1]},        {"KIND_2", kinds[2]},
        {"KIND_3", kinds[3]}};
    return eg_kernel_create(reducer->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "device/reduce.k.c",
                                                 .entry = entry,
                                                 .real = reducer->type,
                                                 .rows_per_block = info->is_gpu ? 8 : 0,
                                                 .tiles_per_block = 1,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

eg_status eg_reducer_create(eg_device *device, eg_type type, const eg_reduction_kind *kinds,
                            size_t kind_count, eg_reducer **out)
{
    eg_context *ctx = device->ctx;
    eg_reducer *reducer = NULL;
    eg_status status = EG_OK;

    *out = NULL;
    if (kind_count < 1 || kind_count > EG_REDUCTIONS_MAX)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "%zu reductions at once; 1 to %d are possible",
                       kind_count, EG_REDUCTIONS_MAX);
    if (type != EG_F64 && type != EG_F32)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "reductions are of f64 or f32, not %s",
                       eg_type_name(type));
    if (!device->info.has_f64)
        return eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "reductions add in double precision, which %s (%s) does not have",
                       device->info.spec, device->info.name);
    EG_TRY(eg_new(ctx, 1, &reducer));
    *reducer = (eg_reducer){.device = device, .type = type, .count = kind_count};
    for (size_t k = 0; k < kind_count; k++) {
        if (kinds[k] > EG_REDUCE_MAX_ABS) {
            status = eg_fail(ctx, EG_ERROR_ARGUMENT, "reduction %zu is of no known kind", k);
            goto done;
        }
        reducer->kinds[k] = kinds[k];
    }
    /* On a CPU the blocks must outnumber any sensible number of threads, whatever it is. */
    reducer->blocks = device->info.is_gpu ? 8 * device->info.compute_units : 256;
    EG_TRY(create_kernel(reducer, "reduce", &reducer->reduce));
    EG_TRY(create_kernel(reducer, "finish", &reducer->finish));
    EG_TRY(
        eg_buffer_create(device, EG_F64, kind_count * (size_t)reducer->blocks, &reducer->partial));
    *out = reducer;
    reducer = NULL;
done:
    eg_reducer_destroy(&reducer);
    return status;
}

void eg_reducer_destroy(eg_reducer **reducer)
{
    if (!reducer || !*reducer) return;
    eg_context *ctx = (*reducer)->device->ctx;
    eg_buffer_destroy(&(*reducer)->partial);
    eg_kernel_destroy(&(*reducer)->finish);
    eg_kernel_destroy(&(*reducer)->reduce);
    eg_release(ctx, reducer);
}

/* Says why a reduction cannot be done, or EG_OK. */
static eg_status check(const eg_reducer *reducer, size_t k, size_t count, const eg_reduction *r)
{
    eg_context *ctx = reducer->device->ctx;
    eg_reduction_kind kind = reducer->kinds[k];
    if (r->kind != kind)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "reduction %zu is of another kind than its reducer's", k);
    const eg_buffer *needed[] = {
        r->x, kind == EG_REDUCE_DOT || kind == EG_REDUCE_WEIGHTED_DOT ? r->y : r->x,
        kind == EG_REDUCE_WEIGHTED_DOT ? r->w : r->x};
    for (size_t i = 0; i < EG_COUNT(needed); i++) {
        if (!needed[i])
            return eg_fail(ctx, EG_ERROR_ARGUMENT, "reduction %zu lacks its '%c'", k, "xyw"[i]);
        if (needed[i]->count < count)
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "reduction %zu over %zu values, but its '%c' has only %zu", k, count,
                           "xyw"[i], needed[i] -> count);
    }
    return EG_OK;
}

eg_status eg_reduce(eg_reducer *reducer, size_t count, const eg_reduction *reductions,
                    eg_buffer *result)
{
    static const char *const names[EG_REDUCTIONS_MAX][3] = {
        {"x0", "y0", "w0"}, {"x1", "y1", "w1"}, {"x2", "y2", "w2"}, {"x3", "y3", "w3"}};
    eg_argument arguments[3 + 3 * EG_REDUCTIONS_MAX];
    size_t n = 0;
    eg_status status = EG_OK;

    /* Chunks are multiples of a cache line's worth of rows, so that blocks stream aligned data. */
    size_t blocks = (size_t)reducer->blocks, unit = 8 * 64;
    size_t chunk = ((count + blocks - 1) / blocks + unit - 1) / unit * unit;
    /* Blocks without values are left out, but for one that says that there are none. */
    int64_t used = count > 0 ? (int64_t)((count + chunk - 1) / chunk) : 1;
    arguments[n++] = EG_INTEGER("count", (int64_t)count);
    arguments[n++] = EG_INTEGER("chunk", (int64_t)chunk);
    for (size_t k = 0; k < EG_REDUCTIONS_MAX; k++) {
        /* Arguments that a kind does not read are bound to some valid buffer. */
        const eg_reduction *r = &reductions[k < reducer->count ? k : 0];
        if (k < reducer->count) EG_TRY(check(reducer, k, count, r));
        eg_buffer *buffers[3] = {r->x, r->y ? r->y : r->x, r->w ? r->w : r->x};
        for (size_t i = 0; i < 3; i++)
            arguments[n++] = EG_BUFFER(names[k][i], buffers[i]);
    }
    arguments[n++] = EG_BUFFER("partial", reducer->partial);
    if (!result || result->count < reducer->count)
        return eg_fail(reducer->device->ctx, EG_ERROR_ARGUMENT,
                       "the result of %zu reductions needs as many values", reducer->count);
    EG_TRY(eg_launch_tiles(reducer->reduce, 0, used, arguments, n));
    EG_TRY(eg_launch(reducer->finish, (int64_t)reducer->count, EG_INTEGER("blocks", used),
                     EG_BUFFER("partial", reducer->partial), EG_BUFFER("result", result)));
done:
    return status;
}
