/* Devices by name: listing, choosing, opening; and the types of values.
 *
 * Drivers are asked only when they are needed, because loading one costs start-up time: "cpu" asks
 * none, "auto" asks OpenCL only where CUDA has no device.
 */
#include "device/backend.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 32 /* of one backend */

#define ACCEPTED "cpu, cpu:THREADS, opencl:N, cuda:N or auto"

typedef struct kind {
    const eg_backend *backend;
    const char *looked_for;
} kind;

/* In the order they are listed in. */
static const kind kinds[] = {
    {&eg_backend_cpu, "a processor"},
    {&eg_backend_opencl, "libOpenCL.so.1 and the platforms it knows"},
    {&eg_backend_cuda, "libcuda.so.1, libnvrtc.so (also in EAGRE_NVRTC) and an NVIDIA GPU"},
};

static const struct {
    size_t size;
    const char *name;
} types[EG_TYPE_COUNT] = {
    [EG_F64] = {8, "f64"}, [EG_F32] = {4, "f32"}, [EG_I64] = {8, "i64"},
    [EG_I32] = {4, "i32"}, [EG_U32] = {4, "u32"}, [EG_U8] = {1, "u8"},
};

size_t eg_type_size(eg_type type)
{
    return (unsigned)type < EG_TYPE_COUNT ? types[type].size : 0;
}

const char *eg_type_name(eg_type type)
{
    return (unsigned)type < EG_TYPE_COUNT ? types[type].name : "?";
}

/* --- listing ---------------------------------------------------------------------------------- */

static int list_backend(eg_context *ctx, const eg_backend *backend, eg_device_info *list)
{
    int count = backend->list(ctx, list, MAX_DEVICES);
    return count < 0 ? 0 : count > MAX_DEVICES ? MAX_DEVICES : count;
}

eg_status eg_device_list(eg_context *ctx, eg_device_info **out, size_t *count)
{
    eg_status status = EG_OK;
    eg_device_info *list = NULL;
    *out = NULL;
    *count = 0;
    EG_TRY(eg_new(ctx, EG_COUNT(kinds) * MAX_DEVICES, &list));
    for (size_t k = 0; k < EG_COUNT(kinds); k++)
        *count += (size_t)list_backend(ctx, kinds[k].backend, list + *count);
    *out = list;
done:
    return status;
}

void eg_device_list_free(eg_context *ctx, eg_device_info **list)
{
    eg_release(ctx, list);
}

/* --- choosing --------------------------------------------------------------------------------- */

/* What a specification asks for: a kind and its device (cpu: how many threads, 0 for all). */
typedef struct choice {
    const kind *kind;
    int index;
} choice;

static eg_status parse_spec(eg_context *ctx, const char *spec, choice *out)
{
    for (size_t k = 0; spec && k < EG_COUNT(kinds); k++) {
        const char *name = kinds[k].backend->name;
        size_t length = strlen(name);
        if (strncmp(spec, name, length) != 0) continue;
        const char *rest = spec + length;
        bool is_cpu = kinds[k].backend == &eg_backend_cpu;
        long index = 0;
        if (*rest == ':') {
            char *end = NULL;
            if (!isdigit((unsigned char)rest[1])) break;
            index = strtol(rest + 1, &end, 10);
            if (*end || index > 1000000 || (is_cpu && index == 0)) break;
        } else if (*rest) {
            break;
        }
        *out = (choice){.kind = &kinds[k], .index = (int)index};
        return EG_OK;
    }
    return eg_fail(ctx, EG_ERROR_ARGUMENT,
                   "\"%s\" names no device; write " ACCEPTED
                   ", where THREADS is at least 1 and N counts from 0",
                   spec ? spec : "(null)");
}

static eg_status choose_auto(eg_context *ctx, choice *out)
{
    eg_status status = EG_OK;
    eg_device_info *list = NULL;
    *out = (choice){.kind = &kinds[0]};
    EG_TRY(eg_new(ctx, MAX_DEVICES, &list));
    for (size_t k = EG_COUNT(kinds) - 1; k > 0; k--) {
        int count = list_backend(ctx, kinds[k].backend, list);
        for (int i = 0; i < count; i++)
            if (list[i].is_gpu) {
                *out = (choice){.kind = &kinds[k], .index = i};
                goto done;
            }
    }
done:
    eg_release(ctx, &list);
    return status;
}

/* Fails with a list of what there is, unless the device that was chosen is there. */
static eg_status require_present(eg_context *ctx, const choice *chosen)
{
    if (chosen->kind->backend == &eg_backend_cpu) return EG_OK;
    eg_status status = EG_OK;
    const char *name = chosen->kind->backend->name;
    eg_device_info *list = NULL;
    eg_text there = eg_text_new(ctx);
    size_t count = 0;
    EG_TRY(eg_new(ctx, MAX_DEVICES, &list));
    int present = list_backend(ctx, chosen->kind->backend, list);
    if (chosen->index < present) goto done;

    eg_release(ctx, &list);
    EG_TRY(eg_device_list(ctx, &list, &count));
    for (size_t i = 0; i < count; i++)
        EG_TRY(eg_text_printf(&there, "%s%s (%s)", i > 0 ? ", " : "", list[i].spec, list[i].name));
    if (present == 0)
        status = eg_fail(ctx, EG_ERROR_NO_DEVICE,
                         "no %s device was found (looked for %s); the devices here are %s", name,
                         chosen->kind->looked_for, eg_text_string(&there));
    else
        status = eg_fail(ctx, EG_ERROR_NO_DEVICE,
                         "there is no device %s:%d, the last one is %s:%d; the devices here are %s",
                         name, chosen->index, name, present - 1, eg_text_string(&there));
done:
    eg_text_free(&there);
    eg_release(ctx, &list);
    return status;
}

/* --- opening ---------------------------------------------------------------------------------- */

eg_status eg_device_open(eg_context *ctx, const char *spec, eg_device **out)
{
    eg_status status = EG_OK;
    eg_device *device = NULL;
    choice chosen = {0};
    *out = NULL;
    if (spec && strcmp(spec, "auto") == 0) {
        EG_TRY(choose_auto(ctx, &chosen));
    } else {
        EG_TRY(parse_spec(ctx, spec, &chosen));
        EG_TRY(require_present(ctx, &chosen));
    }
    EG_TRY(eg_new(ctx, 1, &device));
    device->ctx = ctx;
    device->backend = chosen.kind->backend;
    EG_TRY(device->backend->open(device, chosen.index));

    eg_device_info *info = &device->info;
    snprintf(info->backend, sizeof info->backend, "%s", device->backend->name);
    if (device->backend == &eg_backend_cpu && chosen.index == 0)
        snprintf(info->spec, sizeof info->spec, "cpu");
    else
        snprintf(info->spec, sizeof info->spec, "%s:%d", device->backend->name, chosen.index);
    eg_log(ctx, EG_LOG_DEBUG, "device = %s name = \"%s\" features = %s threads = %d", info->spec,
           info->name, info->features, info->threads);
    *out = device;
    device = NULL;
done:
    eg_release(ctx, &device);
    return status;
}

void eg_device_close(eg_device **device)
{
    if (!device || !*device) return;
    eg_device *d = *device;
    assert(d->live_objects == 0 && "buffers, kernels and events go before their device");
    assert(d->keepers == 0 && "who has asked for kernels to be kept says when it is over");
    assert(!d->profiler && "who profiles a device stops before it is closed");
    d->backend->close(d);
    eg_release(d->ctx, device);
}

const eg_device_info *eg_device_get_info(const eg_device *device)
{
    return &device->info;
}

eg_context *eg_device_context(const eg_device *device)
{
    return device->ctx;
}

eg_status eg_device_sync(eg_device *device)
{
    return device->backend->sync(device);
}
