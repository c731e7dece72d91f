/* Launches: arguments bound by name, checked against the kernel's declaration. */
#include "device/kernel.h"

#include <inttypes.h>
#include <stdint.h>
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

eg_status eg_launch_tiles(eg_kernel *kernel, int64_t first, int64_t count,
                          const eg_argument *arguments, size_t argument_count)
{
    eg_device *device = kernel->device;
    eg_context *ctx = device->ctx;
    eg_slot slots[EG_PARAMETERS_MAX];
    value values[EG_PARAMETERS_MAX];
    const eg_argument *bound[EG_PARAMETERS_MAX];
    const size_t parameter_count = kernel->parameter_count;
    size_t next = 0; /* behind the last argument that was found */
    eg_status status = EG_OK;

    if (first < 0 || count < 0 || first > INT32_MAX / 4 || count > INT32_MAX / 4 - first)
        return eg_fail(ctx, EG_ERROR_LAUNCH,
                       "%s (%s): %" PRId64 " tiles from %" PRId64 " on are out of range",
                       kernel->entry, kernel->name, count, first);
    for (size_t i = 0; i < parameter_count; i++) {
        const eg_parameter *p = &kernel->parameters[i];
        const eg_argument *a = bound[i] = find_argument(arguments, argument_count, next, p->name);
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
            EG_TRY(bind_buffer(kernel, p, a, first + count, &slots[i]));
        else if (p->kind == EG_PARAMETER_OPERATOR)
            EG_TRY(bind_operator(kernel, p, a, &slots[i]));
        else
            EG_TRY(bind_value(kernel, p, a, &values[i], &slots[i]));
    }
    if (argument_count != parameter_count)
        return complain_of_extra(kernel, arguments, argument_count);
    EG_TRY(check_overlap(kernel, bound, slots, first + count));
    if (count == 0) return EG_OK;
    EG_TRY(device->backend->launch(device, kernel->function, &kernel->geometry, first, count, slots,
                                   parameter_count));
    if (eg_context_check(ctx)) {
        EG_TRY(eg_device_sync(device));
        for (size_t i = 0; i < parameter_count; i++)
            if (kernel->parameters[i].kind <= EG_PARAMETER_INOUT)
                EG_TRY(eg_buffer_check_canaries(bound[i]->value.buffer));
    }
done:
    return status;
}
