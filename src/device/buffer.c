/* Buffers and events on top of a backend's table.
 *
 * In check mode a buffer lies between two canaries, and its fresh contents are NaN, as they are in
 * debug builds: byte 0xFF throughout. The canaries are another NaN, so that a value read from there
 * shows too, and any write into them is told from poison.
 */
#include "device/backend.h"
#include "device/profile.h"

#define POISON 0xFF

/* 0xFFFFA5A5 in memory order: a NaN as f32, and twice as f64. */
static const unsigned char canary[4] = {0xA5, 0xA5, 0xFF, 0xFF};

/* A backend may refuse blocks of no bytes. */
#define SMALLEST_BLOCK 64

#ifdef NDEBUG
static const bool always_poison = false;
#else
static const bool always_poison = true;
#endif

size_t eg_buffer_bytes(const eg_buffer *buffer)
{
    return buffer->count * eg_type_size(buffer->type);
}

size_t eg_device_buffer_bytes(const eg_device *device)
{
    return device->buffer_bytes;
}

size_t eg_buffer_count(const eg_buffer *buffer)
{
    return buffer->count;
}

eg_type eg_buffer_type(const eg_buffer *buffer)
{
    return buffer->type;
}

/* --- creating --------------------------------------------------------------------------------- */

static void canary_pattern(unsigned char bytes[EG_CANARY_BYTES])
{
    for (size_t i = 0; i < EG_CANARY_BYTES; i++)
        bytes[i] = canary[i % sizeof canary];
}

static eg_status write_canaries(eg_buffer *buffer)
{
    const eg_backend *backend = buffer->device->backend;
    unsigned char bytes[EG_CANARY_BYTES];
    canary_pattern(bytes);
    eg_status status = backend->upload(buffer->device, buffer->memory, 0, sizeof bytes, bytes);
    if (status != EG_OK) return status;
    return backend->upload(buffer->device, buffer->memory, buffer->base + eg_buffer_bytes(buffer),
                           sizeof bytes, bytes);
}

eg_status eg_buffer_create(eg_device *device, eg_type type, size_t count, eg_buffer **out)
{
    eg_status status = EG_OK;
    eg_buffer *buffer = NULL;
    bool allocated = false;
    bool check = eg_context_check(device->ctx);
    size_t guard = check ? EG_CANARY_BYTES : 0;
    size_t size = eg_type_size(type);
    *out = NULL;
    if (size == 0)
        return eg_fail(device->ctx, EG_ERROR_ARGUMENT, "%d is no type of values", (int)type);
    if (count > (SIZE_MAX / 2 - 2 * guard) / size)
        return eg_fail(device->ctx, EG_ERROR_DEVICE_MEMORY,
                       "a buffer of %zu values of type %s is more than can be addressed", count,
                       eg_type_name(type));
    EG_TRY(eg_new(device->ctx, 1, &buffer));
    *buffer = (eg_buffer){.device = device, .base = guard, .type = type, .count = count};
    size_t bytes = count * size, block = bytes + 2 * guard;
    EG_TRY(device->backend->allocate(device, block > SMALLEST_BLOCK ? block : SMALLEST_BLOCK,
                                     &buffer->memory));
    allocated = true;
    if (check) EG_TRY(write_canaries(buffer));
    if ((check || always_poison) && bytes > 0)
        EG_TRY(device->backend->fill(device, buffer->memory, buffer->base, bytes,
                                     &(const unsigned char){POISON}, 1));
    device->live_objects++;
    device->buffer_bytes += bytes;
    *out = buffer;
    buffer = NULL;
done:
    if (buffer && allocated) device->backend->release(device, buffer->memory);
    eg_release(device->ctx, &buffer);
    return status;
}

void eg_buffer_destroy(eg_buffer **buffer)
{
    if (!buffer || !*buffer) return;
    eg_device *device = (*buffer)->device;
    device->backend->release(device, (*buffer)->memory);
    device->live_objects--;
    device->buffer_bytes -= eg_buffer_bytes(*buffer);
    eg_release(device->ctx, buffer);
}

/* --- moving values ---------------------------------------------------------------------------- */

static eg_status check_range(const eg_buffer *buffer, const char *action, size_t first,
                             size_t count)
{
    if (first <= buffer->count && count <= buffer->count - first) return EG_OK;
    return eg_fail(buffer->device->ctx, EG_ERROR_ARGUMENT,
                   "%s %zu values from index %zu on, but the buffer has %zu values of type %s",
                   action, count, first, buffer->count, eg_type_name(buffer->type));
}

static eg_status check_host(const eg_buffer *buffer, const char *action, const void *host)
{
    if (host) return EG_OK;
    return eg_fail(buffer->device->ctx, EG_ERROR_ARGUMENT,
                   "%s a buffer: the host's address is NULL", action);
}

static size_t offset_of(const eg_buffer *buffer, size_t index)
{
    return buffer->base + index * eg_type_size(buffer->type);
}

eg_status eg_buffer_upload(eg_buffer *buffer, size_t first, size_t count, const void *host)
{
    eg_status status = EG_OK;
    EG_TRY(check_range(buffer, "cannot upload", first, count));
    if (count == 0) goto done;
    EG_TRY(check_host(buffer, "cannot upload to", host));
    EG_TRY(buffer->device->backend->upload(buffer->device, buffer->memory, offset_of(buffer, first),
                                           count * eg_type_size(buffer->type), host));
done:
    return status;
}

eg_status eg_buffer_download(eg_buffer *buffer, size_t first, size_t count, void *host)
{
    eg_status status = EG_OK;
    EG_TRY(check_range(buffer, "cannot download", first, count));
    if (count == 0) goto done;
    EG_TRY(check_host(buffer, "cannot download from", host));
    EG_TRY(buffer->device->backend->download(buffer->device, buffer->memory,
                                             offset_of(buffer, first),
                                             count * eg_type_size(buffer->type), host));
done:
    return status;
}

eg_status eg_buffer_copy(eg_buffer *to, size_t to_first, eg_buffer *from, size_t from_first,
                         size_t count)
{
    eg_status status = EG_OK;
    eg_context *ctx = to->device->ctx;
    EG_TRY(check_range(from, "cannot copy", from_first, count));
    EG_TRY(check_range(to, "cannot write a copy of", to_first, count));
    if (to->type != from->type)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "cannot copy values of type %s to a buffer of type %s",
                       eg_type_name(from->type), eg_type_name(to->type));
    if (to->device != from->device)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "cannot copy from device %s to device %s; download and upload instead",
                       from->device->info.spec, to->device->info.spec);
    size_t distance = to_first > from_first ? to_first - from_first : from_first - to_first;
    if (to == from && distance < count)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "cannot copy %zu values from index %zu to index %zu of the same buffer: the "
                       "ranges overlap; go through a second buffer",
                       count, from_first, to_first);
    if (count == 0) goto done;
    EG_TRY(eg_profile_before(to->device));
    EG_TRY(to->device->backend->copy(to->device, to->memory, offset_of(to, to_first), from->memory,
                                     offset_of(from, from_first), count * eg_type_size(to->type)));
    EG_TRY(eg_profile_after(to->device, "copy", ""));
done:
    return status;
}

eg_status eg_buffer_fill(eg_buffer *buffer, size_t first, size_t count, const void *value)
{
    eg_status status = EG_OK;
    size_t size = eg_type_size(buffer->type);
    EG_TRY(check_range(buffer, "cannot fill", first, count));
    if (count == 0) goto done;
    EG_TRY(check_host(buffer, "cannot fill", value));
    EG_TRY(eg_profile_before(buffer->device));
    EG_TRY(buffer->device->backend->fill(buffer->device, buffer->memory, offset_of(buffer, first),
                                         count * size, value, size));
    EG_TRY(eg_profile_after(buffer->device, "fill", ""));
done:
    return status;
}

/* --- canaries --------------------------------------------------------------------------------- */

static eg_status canary_damaged(const eg_buffer *buffer, size_t distance, const char *side,
                                unsigned char byte)
{
    return eg_fail(buffer->device->ctx, EG_ERROR_CHECK,
                   "something was written outside a buffer of %zu values of type %s: the nearest "
                   "damaged byte lies %zu bytes %s and holds 0x%02x",
                   buffer->count, eg_type_name(buffer->type), distance, side, byte);
}

eg_status eg_buffer_check_canaries(eg_buffer *buffer)
{
    eg_status status = EG_OK;
    unsigned char expected[EG_CANARY_BYTES], bytes[EG_CANARY_BYTES];
    const eg_backend *backend = buffer->device->backend;
    if (buffer->base == 0) return EG_OK;
    canary_pattern(expected);

    EG_TRY(backend->download(buffer->device, buffer->memory, 0, sizeof bytes, bytes));
    for (size_t i = EG_CANARY_BYTES; i-- > 0;)
        if (bytes[i] != expected[i])
            return canary_damaged(buffer, EG_CANARY_BYTES - i, "before its first value", bytes[i]);

    EG_TRY(backend->download(buffer->device, buffer->memory, buffer->base + eg_buffer_bytes(buffer),
                             sizeof bytes, bytes));
    for (size_t i = 0; i < EG_CANARY_BYTES; i++)
        if (bytes[i] != expected[i])
            return canary_damaged(buffer, i + 1, "behind its last value", bytes[i]);
done:
    return status;
}

/* --- events ----------------------------------------------------------------------------------- */

struct eg_event {
    eg_device *device; /* not owned */
    void *handle;      /* the backend's, owned */
    bool recorded;
};

eg_status eg_event_create(eg_device *device, eg_event **out)
{
    eg_status status = EG_OK;
    eg_event *event = NULL;
    *out = NULL;
    EG_TRY(eg_new(device->ctx, 1, &event));
    event->device = device;
    EG_TRY(device->backend->event_create(device, &event->handle));
    device->live_objects++;
    *out = event;
    event = NULL;
done:
    eg_release(device->ctx, &event);
    return status;
}

void eg_event_destroy(eg_event **event)
{
    if (!event || !*event) return;
    eg_device *device = (*event)->device;
    device->backend->event_destroy(device, (*event)->handle);
    device->live_objects--;
    eg_release(device->ctx, event);
}

eg_status eg_event_record(eg_event *event)
{
    eg_status status = event->device->backend->event_record(event->device, event->handle);
    event->recorded = status == EG_OK;
    return status;
}

eg_status eg_event_elapsed(eg_event *start, eg_event *stop, double *seconds)
{
    *seconds = 0;
    if (!start->recorded || !stop->recorded)
        return eg_fail(start->device->ctx, EG_ERROR_ARGUMENT,
                       "the time between two events was asked for, but the %s one was never "
                       "recorded; call eg_event_record",
                       start->recorded ? "second" : "first");
    if (start->device != stop->device)
        return eg_fail(start->device->ctx, EG_ERROR_ARGUMENT,
                       "the time between an event on %s and one on %s is not defined",
                       start->device->info.spec, stop->device->info.spec);
    return start->device->backend->event_elapsed(start->device, start->handle, stop->handle,
                                                 seconds);
}
