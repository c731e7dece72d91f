/* Launches: arguments bound by name, checked against the kernel's declaration. */
#include "device/kernel.h"
#include "device/profile.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The most a buffer's first value must be aligned to, in bytes. */
#define ALIGNMENT_MOST 64

/* A value argument in the kernel's type. */
typedef union value {
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    uint32_t u32;
    uint8_t u8;
} value;

static eg_status fail(const eg_kernel *k, const eg_parameter *p, const char *what)
{
    return eg_fail(k->device->ctx, EG_ERROR_LAUNCH, "%s (%s): argument '%s' %s", k->entry, k->name,
                   p->name, what);
}

static eg_status bind_buffer(const eg_kernel *k, const eg_parameter *p, const eg_argument *a,
                             int64_t end, eg_slot *slot)
{
    eg_context *ctx = k->device->ctx;
    const eg_buffer *buffer = a->value.buffer;
    if (!buffer) return fail(k, p, "is a NULL buffer");
    if (buffer->device != k->device) return fail(k, p, "lives on another device");
    if (buffer->type != p->type)
        return eg_fail(ctx, EG_ERROR_LAUNCH, "%s (%s): argument '%s' is declared %s but holds %s",
                       k->entry, k->name, p->name, eg_type_name(p->type),
                       eg_type_name(buffer->type));
    if (a->first > buffer->count) return fail(k, p, "starts behind its buffer's end");
    size_t left = buffer->count - a->first;
    if (p->extent && (uint64_t)end * (uint64_t)p->extent > left)
        return eg_fail(ctx, EG_ERROR_LAUNCH,
                       "%s (%s): argument '%s' has %zu values, but %" PRId64 " tiles of %" PRId64
                       " values are launched",
                       k->entry, k->name, p->name, left, end, p->extent);
    size_t offset = buffer->base + a->first * eg_type_size(buffer->type);
    /* Kernels read tiles in whole vectors: a row of lanes, up to a cache line. */
    size_t row = (size_t)k->geometry.lanes * eg_type_size(buffer->type);
    size_t alignment = row < ALIGNMENT_MOST ? row : ALIGNMENT_MOST;
    if (offset % alignment)
        return eg_fail(ctx, EG_ERROR_LAUNCH,
                       "%s (%s): argument '%s' starts at value %zu, which is not aligned to %zu "
                       "bytes; start at a multiple of LANES",
                       k->entry, k->name, p->name, a->first, alignment);
    *slot = (eg_slot){.is_memory = true, .memory = buffer->memory, .offset = offset};
    return EG_OK;
}

static eg_status bind_operator(const eg_kernel *k, const eg_parameter *p, const eg_argument *a,
                               eg_slot *slot)
{
    const eg_operator *op = a->value.op;
    if (!op) return fail(k, p, "is a NULL operator");
    if (op->packed->device != k->device) return fail(k, p, "lives on another device");
    if (op->rows != p->rows || op->cols != p->cols || op->type != p->type)
        return eg_fail(k->device->ctx, EG_ERROR_LAUNCH,
                       "%s (%s): operator '%s' is declared %d x %d of %s but is %d x %d of %s",
                       k->entry, k->name, p->name, p->rows, p->cols, eg_type_name(p->type),
                       op->rows, op->cols, eg_type_name(op->type));
    *slot = (eg_slot){.is_memory = true, .memory = op->packed->memory, .offset = op->packed->base};
    return EG_OK;
}

static eg_status bind_value(const eg_kernel *k, const eg_parameter *p, const eg_argument *a,
                            value *v, eg_slot *slot)
{
    bool integer = p->type != EG_F64 && p->type != EG_F32;
    int64_t i = a->value.integer;
    if (integer != (a->kind == EG_ARGUMENT_INTEGER))
        return fail(k, p, integer ? "takes an integer" : "takes a real number");
    if (integer && ((p->type == EG_I32 && (i < INT32_MIN || i > INT32_MAX)) ||
                    (p->type == EG_U32 && (i < 0 || i > UINT32_MAX)) ||
                    (p->type == EG_U8 && (i < 0 || i > UINT8_MAX))))
        return eg_fail(k->device->ctx, EG_ERROR_LAUNCH,
                       "%s (%s): %" PRId64 " does not fit into argument '%s' of type %s", k->entry,
                       k->name, i, p->name, eg_type_name(p->type));
    switch (p->type) {
    case EG_F64:
        v->f64 = a->value.real;
        break;
    case EG_F32:
        v->f32 = (float)a->value.real;
        break;
    case EG_I64:
        v->i64 = i;
        break;
    case EG_I32:
        v->i32 = (int32_t)i;
        break;
    case EG_U32:
        v->u32 = (uint32_t)i;
        break;
    case EG_U8:
        v->u8 = (uint8_t)i;
        break;
    }
    *slot = (eg_slot){.data = v, .size = eg_type_size(p->type)};
    return EG_OK;
}

/* Looks from argument `from` on, then at those before it. Launches are many, and mostly the next argument
 * is the one. */
static const eg_argument *find_argument(const eg_argument *arguments, size_t count, size_t from,
                                        const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const eg_argument *a = &arguments[from + i < count ? from + i : from + i - count];
        if (a->name[0] == name[0] && !strcmp(a->name, name)) return a;
    }
    return NULL;
}

/* Bytes [from, to) of its memory that an argument may touch. */
static void touched(const eg_parameter *p, const eg_slot *slot, const eg_buffer *buffer,
                    int64_t end, size_t *from, size_t *to)
{
    size_t size = eg_type_size(buffer->type);
    *from = slot->offset;
    *to = p->extent ? slot->offset + (size_t)(end * p->extent) * size
                    : buffer->base + buffer->count * size;
}

/* Kernels are compiled on the promise that what is written overlaps nothing else. */
static eg_status check_overlap(const eg_kernel *k, const eg_argument *const *bound,
                               const eg_slot *slots, int64_t end)
{
    for (size_t i = 0; i < k->parameter_count; i++) {
        const eg_parameter *p = &k->parameters[i];
        if (p->kind != EG_PARAMETER_OUT && p->kind != EG_PARAMETER_INOUT) continue;
        for (size_t j = 0; j < k->parameter_count; j++) {
            const eg_parameter *q = &k->parameters[j];
            if (j == i || q->kind > EG_PARAMETER_INOUT ||
                bound[i]->value.buffer != bound[j]->value.buffer)
                continue;
            size_t a0, a1, b0, b1;
            touched(p, &slots[i], bound[i]->value.buffer, end, &a0, &a1);
            touched(q, &slots[j], bound[j]->value.buffer, end, &b0, &b1);
            if (a0 < b1 && b0 < a1)
                return eg_fail(
                    k->device->ctx, EG_ERROR_LAUNCH,
                    "%s (%s): '%s' is written and overlaps '%s'; give it a buffer of its "
                    "own, or declare one K_INOUT",
                    k->entry, k->name, p->name, q->name);
        }
    }
    return EG_OK;
}

/* Says which of the given arguments the kernel does not have, or has twice. */
static eg_status complain_of_extra(const eg_kernel *k, const eg_argument *arguments, size_t count)
{
    eg_context *ctx = k->device->ctx;
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t p = 0; p < k->parameter_count; p++)
            known |= !strcmp(k->parameters[p].name, arguments[i].name);
        if (!known)
            return eg_fail(ctx, EG_ERROR_LAUNCH, "%s (%s) has no argument '%s'", k->entry, k->name,
                           arguments[i].name);
        if (find_argument(arguments, i, 0, arguments[i].name))
            return eg_fail(ctx, EG_ERROR_LAUNCH, "%s (%s): argument '%s' is given twice", k->entry,
                           k->name, arguments[i].name);
    }
    return EG_OK;
}

/* A launch whose arguments are bound to what the kernel declares. */
typedef struct binding {
    eg_kernel *kernel;                           /* not owned */
    const eg_argument *given[EG_PARAMETERS_MAX]; /* in the order of the declaration, as are … */
    eg_slot slots[EG_PARAMETERS_MAX];
    value values[EG_PARAMETERS_MAX];
} binding;

/* To tiles up to `end`. */
static eg_status bind(eg_kernel *kernel, int64_t end, const eg_argument *arguments, size_t count,
                      binding *out)
{
    size_t next = 0; /* behind the last argument that was found */
    eg_status status = EG_OK;
    out->kernel = kernel;
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const eg_parameter *p = &kernel->parameters[i];
        const eg_argument *a = out->given[i] = find_argument(arguments, count, next, p->name);
        if (!a) return fail(kernel, p, "is missing");
        next = (size_t)(a - arguments) + 1;
        bool is_buffer = p->kind <= EG_PARAMETER_INOUT;
        if (is_buffer != (a->kind == EG_ARGUMENT_BUFFER) ||
            (p->kind == EG_PARAMETER_OPERATOR) != (a->kind == EG_ARGUMENT_OPERATOR))
            return fail(kernel, p,
                        is_buffer                       ? "takes a buffer"
                        : p->kind == EG_PARAMETER_VALUE ? "takes a value"
                                                        : "takes an operator");
        if (is_buffer)
            EG_TRY(bind_buffer(kernel, p, a, end, &out->slots[i]));
        else if (p->kind == EG_PARAMETER_OPERATOR)
            EG_TRY(bind_operator(kernel, p, a, &out->slots[i]));
        else
            EG_TRY(bind_value(kernel, p, a, &out->values[i], &out->slots[i]));
    }
    if (count != kernel->parameter_count) return complain_of_extra(kernel, arguments, count);
    EG_TRY(check_overlap(kernel, out->given, out->slots, end));
done:
    return status;
}

static eg_status check_range(const eg_kernel *kernel, int64_t first, int64_t count)
{
    if (first < 0 || count < 0 || first > INT32_MAX / 4 || count > INT32_MAX / 4 - first)
        return eg_fail(kernel->device->ctx, EG_ERROR_LAUNCH,
                       "%s (%s): %" PRId64 " tiles from %" PRId64 " on are out of range",
                       kernel->entry, kernel->name, count, first);
    return EG_OK;
}

static eg_status queue(const binding *b, int64_t first, int64_t count)
{
    const eg_kernel *k = b->kernel;
    eg_status status = EG_OK;
    if (count == 0) return EG_OK;
    EG_TRY(eg_profile_before(k->device));
    EG_TRY(k->device->backend->launch(k->device, k->function, &k->geometry, first, count, b->slots,
                                      k->parameter_count));
    EG_TRY(eg_profile_after(k->device, k->entry, k->name));
done:
    return status;
}

/* In check mode: that nothing was written beside the buffers. */
static eg_status check_after(const binding *b)
{
    const eg_kernel *k = b->kernel;
    eg_status status = EG_OK;
    if (!eg_context_check(k->device->ctx)) return EG_OK;
    EG_TRY(eg_device_sync(k->device));
    for (size_t i = 0; i < k->parameter_count; i++)
        if (k->parameters[i].kind <= EG_PARAMETER_INOUT)
            EG_TRY(eg_buffer_check_canaries(b->given[i]->value.buffer));
done:
    return status;
}

eg_status eg_launch_tiles(eg_kernel *kernel, int64_t first, int64_t count,
                          const eg_argument *arguments, size_t argument_count)
{
    binding b;
    eg_status status = EG_OK;
    EG_TRY(check_range(kernel, first, count));
    EG_TRY(bind(kernel, first + count, arguments, argument_count, &b));
    if (count == 0) return EG_OK;
    EG_TRY(queue(&b, first, count));
    EG_TRY(check_after(&b));
done:
    return status;
}

/* Whether a piece is of one of the launches, and of tiles that it has. */
static eg_status check_piece(eg_context *ctx, const eg_call *calls, size_t call_count,
                             const eg_piece *p)
{
    if (p->call >= 0 && (size_t)p->call < call_count && p->first >= 0 && p->count >= 0 &&
        p->first <= calls[p->call].tiles - p->count)
        return EG_OK;
    return eg_fail(ctx, EG_ERROR_LAUNCH,
                   "a piece of %" PRId64 " tiles from %" PRId64
                   " on is not one of call %d of %zu, or of its tiles",
                   p->count, p->first, p->call, call_count);
}

eg_status eg_launch_pieces(const eg_call *calls, size_t call_count, const eg_pieces *lists,
                           size_t list_count)
{
    eg_device *device = calls[0].kernel->device;
    binding bound[EG_CALLS_MAX];
    eg_prepared prepared[EG_CALLS_MAX] = {{0}};
    eg_status status = EG_OK;
    if (call_count > EG_CALLS_MAX)
        return eg_fail(device->ctx, EG_ERROR_LAUNCH, "%zu launches by pieces are more than %d",
                       call_count, EG_CALLS_MAX);
    for (size_t i = 0; i < call_count; i++) {
        eg_kernel *k = calls[i].kernel;
        EG_TRY(check_range(k, 0, calls[i].tiles));
        EG_TRY(bind(k, calls[i].tiles, calls[i].arguments, calls[i].argument_count, &bound[i]));
        prepared[i] = (eg_prepared){k->function, &k->geometry, bound[i].slots, k->parameter_count};
    }
    for (size_t l = 0; l < list_count; l++)
        for (size_t i = 0; i < lists[l].count; i++)
            EG_TRY(check_piece(device->ctx, calls, call_count, &lists[l].pieces[i]));
    if (device->backend->launch_pieces) {
        char joined[136]; /* what goes on at once is told as one */
        snprintf(joined, sizeof joined, "%s%s%s", calls[0].kernel->entry,
                 call_count > 1 ? " + " : "", call_count > 1 ? calls[1].kernel->entry : "");
        EG_TRY(eg_profile_before(device));
        EG_TRY(device->backend->launch_pieces(device, prepared, call_count, lists, list_count));
        EG_TRY(eg_profile_after(device, joined, calls[0].kernel->name));
    } else
        for (size_t l = 0; l < list_count; l++)
            for (size_t i = 0; i < lists[l].count; i++) {
                const eg_piece *p = &lists[l].pieces[i];
                EG_TRY(queue(&bound[p->call], p->first, p->count));
            }
    for (size_t i = 0; i < call_count; i++)
        EG_TRY(check_after(&bound[i]));
done:
    return status;
}
