/* The CUDA backend: every GPU the driver shows, through the driver interface.
 *
 * libcuda.so.1 is loaded on first use and never unloaded. A device uses its primary context, which
 * every entry makes current, and one stream of its own, on which all work is queued in order.
 * Kernels are compiled by nvrtc.c for the real architecture of the device. */
#define _GNU_SOURCE
#include "device/cuda_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device/backend.h"

#define SLOTS_MAX 64 /* arguments of a kernel */

/* Values of 8 bytes that a fill sets one by one before it doubles them by copies. */
#define FILL_SEED_VALUES 512

typedef struct device_state {
    CUdevice device;
    CUcontext context; /* the primary one, retained; NULL if not */
    CUstream stream;
} device_state;

typedef struct loaded_kernel {
    CUmodule module;
    CUfunction function;
    int64_t max_blocks; /* of a grid */
} loaded_kernel;

static cuda_api cu;
static int cu_device_count;  /* 0 without a driver or where it does not start */
static char cu_absence[192]; /* why */
static pthread_once_t cu_once = PTHREAD_ONCE_INIT;

static const char *result_text(CUresult result, bool name)
{
    const char *text = NULL;
    CUresult known = name ? cu.error_name(result, &text) : cu.error_string(result, &text);
    return known == CUDA_SUCCESS && text ? text : "an unknown CUDA error";
}

static void load_driver(void)
{
    void *symbol, *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        strcpy(cu_absence, "libcuda.so.1 was not found; install the NVIDIA driver");
        return;
    }
#define X(field, name, parameters)                                                                 \
    symbol = dlsym(library, #name);                                                                \
    if (!symbol) {                                                                                 \
        strcpy(cu_absence, "libcuda.so.1 has no " #name "; install a newer NVIDIA driver");        \
        return;                                                                                    \
    }                                                                                              \
    memcpy(&cu.field, &symbol, sizeof symbol);
    CUDA_FUNCTION_LIST(X)
#undef X
    CUresult result = cu.init(0);
    if (result == CUDA_SUCCESS) result = cu.device_count(&cu_device_count);
    if (result != CUDA_SUCCESS) {
        cu_device_count = 0;
        snprintf(cu_absence, sizeof cu_absence, "the driver does not start: %.50s (%.90s)",
                 result_text(result, true), result_text(result, false));
    }
}

/* Turns a failed call into a status; `doing` completes "while …". */
static eg_status failed(eg_device *device, CUresult result, const char *doing)
{
    if (result == CUDA_SUCCESS) return EG_OK;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return eg_fail(device->ctx, EG_ERROR_DEVICE_MEMORY,
                       "%s (%s) ran out of its %.2f GB of memory while %s; use a smaller mesh or "
                       "degree, single precision or more devices",
                       device->info.spec, device->info.name,
                       (double)device->info.memory_bytes * 1e-9, doing);
    return eg_fail(
        device->ctx, EG_ERROR_DEVICE_LOST,
        "%s (%s): %s (%s) while %s; it may stem from a kernel queued before: run with "
        "EAGRE_CHECK=1 to find bad accesses, and restart, for the device's memory is lost",
        device->info.spec, device->info.name, result_text(result, true), result_text(result, false),
        doing);
}

/* The state, with its context current on this thread. */
static eg_status enter(eg_device *device, device_state **state)
{
    *state = device->state;
    return failed(device, cu.context_set((*state)->context), "making its context current");
}

/* --- devices ------------------------------------------------------------------------------------ */

static int attribute(CUdevice device, int which)
{
    int value = 0;
    return cu.device_attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

/* Fills `info` and returns the architecture, 90 for sm_90; 0 if the device does not answer. */
static int describe(int index, eg_device_info *info, CUdevice *device)
{
    int driver = 0;
    size_t bytes = 0;
    memset(info, 0, sizeof *info);
    snprintf(info->spec, sizeof info->spec, "cuda:%d", index);
    strcpy(info->backend, "cuda");
    if (cu.device_get(device, index) != CUDA_SUCCESS ||
        cu.device_name(info->name, (int)sizeof info->name, *device) != CUDA_SUCCESS ||
        cu.device_memory(&bytes, *device) != CUDA_SUCCESS ||
        cu.driver_version(&driver) != CUDA_SUCCESS)
        return 0;
    int arch = attribute(*device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
               attribute(*device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    snprintf(info->version, sizeof info->version, "CUDA driver %d.%d", driver / 1000,
             driver % 1000 / 10);
    snprintf(info->features, sizeof info->features, "sm_%d", arch);
    info->memory_bytes = bytes;
    info->compute_units = attribute(*device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->shared_bytes =
        (uint64_t)attribute(*device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    info->max_block_threads = attribute(*device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->lanes = 32;
    info->is_gpu = true;
    info->has_f64 = true;
    info->has_tensor_f64 = arch >= 80;
    info->max_tiles_in_flight = info->compute_units * 16;
    return arch;
}

static int list_devices(eg_context *ctx, eg_device_info *list, int capacity)
{
    CUdevice unused;
    pthread_once(&cu_once, load_driver);
    eg_log(ctx, EG_LOG_DEBUG, "cuda devices=%d %s", cu_device_count, cu_absence);
    for (int i = 0; i < cu_device_count && i < capacity; i++)
        describe(i, &list[i], &unused);
    return cu_device_count;
}

static void close_device(eg_device *device)
{
    device_state *state = device->state;
    if (!state) return;
    if (state->context) {
        /* Nothing can be done about a failure here; whatever went wrong showed at the last sync. */
        cu.context_set(state->context);
        if (state->stream) {
            cu.stream_sync(state->stream);
            cu.stream_destroy(state->stream);
        }
        cu.context_set(NULL);
        cu.context_release(state->device);
    }
    eg_release(device->ctx, &device->state);
}

static eg_status open_device(eg_device *device, int index)
{
    eg_status status = EG_OK;
    device_state *state = NULL;
    pthread_once(&cu_once, load_driver);
    if (index < 0 || index >= cu_device_count)
        return eg_fail(device->ctx, EG_ERROR_NO_DEVICE, "cuda:%d: there are %d CUDA devices%s%s",
                       index, cu_device_count,
                       cu_device_count ? ", numbered from 0; `eagre devices` lists them" : ": ",
                       cu_absence[0] || cu_device_count ? cu_absence : "the driver shows none");

    EG_TRY(eg_new(device->ctx, 1, &state));
    device->state = state;
    device->cuda_arch = describe(index, &device->info, &state->device);
    if (device->cuda_arch == 0) {
        status = eg_fail(device->ctx, EG_ERROR_DEVICE_LOST,
                         "cuda:%d does not answer; `nvidia-smi` may say why", index);
        goto done;
    }
    EG_TRY(
        failed(device, cu.context_retain(&state->context, state->device), "starting its context"));
    EG_TRY(enter(device, &state));
    EG_TRY(failed(device, cu.stream_create(&state->stream, CU_STREAM_NON_BLOCKING),
                  "creating its stream"));
done:
    if (status != EG_OK) close_device(device);
    return status;
}

static eg_status sync_device(eg_device *device)
{
    eg_status status = EG_OK;
    device_state *state;
    EG_TRY(enter(device, &state));
    EG_TRY(failed(device, cu.stream_sync(state->stream), "waiting for queued work"));
done:
    return status;
}

/* --- memory ------------------------------------------------------------------------------------- */

static eg_status allocate_memory(eg_device *device, size_t bytes, eg_memory *out)
{
    eg_status status = EG_OK;
    device_state *state;
    out->address = 0;
    EG_TRY(enter(device, &state));
    CUresult result = cu.memory_allocate(&out->address, bytes ? bytes : 1);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        size_t available = 0, total = 0;
        out->address = 0;
        if (cu.memory_info(&available, &total) != CUDA_SUCCESS) total = 0;
        return eg_fail(device->ctx, EG_ERROR_DEVICE_MEMORY,
                       "%s (%s) cannot allocate %zu bytes: %zu of %zu are free; use a smaller mesh "
                       "or degree, single precision or more devices, or end what else uses the "
                       "device",
                       device->info.spec, device->info.name, bytes, available, total);
    }
    EG_TRY(failed(device, result, "allocating memory"));
done:
    return status;
}

static void release_memory(eg_device *device, eg_memory memory)
{
    device_state *state = device->state;
    if (!memory.address) return;
    /* Work that still uses it may be queued. A failure was or will be reported by a sync. */
    if (cu.context_set(state->context) == CUDA_SUCCESS) {
        cu.stream_sync(state->stream);
        cu.memory_free(memory.address);
    }
}

static eg_status upload(eg_device *device, eg_memory to, size_t offset, size_t bytes,
                        const void *from)
{
    eg_status status = EG_OK;
    device_state *state;
    if (bytes == 0) return EG_OK;
    EG_TRY(enter(device, &state));
    EG_TRY(failed(device, cu.copy_to_device(to.address + offset, from, bytes, state->stream),
                  "uploading"));
    /* From pinned memory the copy would still run when the caller reuses it. */
    EG_TRY(failed(device, cu.stream_sync(state->stream), "uploading"));
done:
    return status;
}

static eg_status download(eg_device *device, eg_memory from, size_t offset, size_t bytes, void *to)
{
    eg_status status = EG_OK;
    device_state *state;
    if (bytes == 0) return EG_OK;
    EG_TRY(enter(device, &state));
    EG_TRY(failed(device, cu.copy_to_host(to, from.address + offset, bytes, state->stream),
                  "downloading"));
    EG_TRY(failed(device, cu.stream_sync(state->stream), "downloading"));
done:
    return status;
}

static eg_status copy(eg_device *device, eg_memory to, size_t to_offset, eg_memory from,
                      size_t from_offset, size_t bytes)
{
    eg_status status = EG_OK;
    device_state *state;
    if (bytes == 0) return EG_OK;
    EG_TRY(enter(device, &state));
    EG_TRY(failed(
        device,
        cu.copy_on_device(to.address + to_offset, from.address + from_offset, bytes, state->stream),
        "copying on the device"));
done:
    return status;
}

/* A pattern of two unlike words: a seed by two strided fills, then copies that double it. */
static CUresult fill_pairs(const device_state *state, CUdeviceptr to, size_t bytes,
                           const uint32_t words[2])
{
    size_t values = bytes / 8 < FILL_SEED_VALUES ? bytes / 8 : FILL_SEED_VALUES;
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < 2 && result == CUDA_SUCCESS; i++)
        result = cu.fill_32_strided(to + 4 * i, 8, words[i], 1, values, state->stream);
    for (size_t done = values * 8; done < bytes && result == CUDA_SUCCESS;) {
        size_t part = bytes - done < done ? bytes - done : done;
        result = cu.copy_on_device(to + done, to, part, state->stream);
        done += part;
    }
    return result;
}

static eg_status fill(eg_device *device, eg_memory to, size_t offset, size_t bytes,
                      const void *pattern, size_t pattern_bytes)
{
    eg_status status = EG_OK;
    device_state *state;
    CUdeviceptr start = to.address + offset;
    uint32_t words[2] = {0, 0};
    CUresult result;
    if (bytes == 0) return EG_OK;
    EG_TRY(enter(device, &state));
    memcpy(words, pattern, pattern_bytes);
    if (pattern_bytes == 1)
        result = cu.fill_8(start, *(const unsigned char *)pattern, bytes, state->stream);
    else if (pattern_bytes == 4 || words[0] == words[1])
        result = cu.fill_32(start, words[0], bytes / 4, state->stream);
    else
        result = fill_pairs(state, start, bytes, words);
    EG_TRY(failed(device, result, "filling"));
done:
    return status;
}

/* --- kernels ------------------------------------------------------------------------------------ */

static eg_status identify(eg_device *device, eg_text *key)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(key, "cuda\nsm_%d\n", device->cuda_arch));
    EG_TRY(eg_nvrtc_identify(key));
done:
    return status;
}

static eg_status compile(eg_device *device, const char *name, const eg_text *source, bool contract,
                         eg_blob *out)
{
    char arch[16];
    snprintf(arch, sizeof arch, "sm_%d", device->cuda_arch);
    return eg_cuda_compile(device->ctx, arch, name, source, contract, out);
}

static void unload(eg_device *device, void *function)
{
    device_state *state = device->state;
    loaded_kernel *loaded = function;
    if (!loaded) return;
    if (loaded->module && cu.context_set(state->context) == CUDA_SUCCESS) {
        cu.stream_sync(state->stream);
        cu.module_unload(loaded->module);
    }
    eg_release(device->ctx, &loaded);
}

/* Loads the module; its refusals have causes and cures of their own. */
static eg_status load_module(eg_device *device, const eg_blob *blob, const char *entry,
                             loaded_kernel *loaded)
{
    CUresult result = cu.module_load(&loaded->module, blob->data);
    if (result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
        result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
        loaded->module = NULL;
        return eg_fail(device->ctx, EG_ERROR_UNSUPPORTED,
                       "%s (%s, %s) does not take the binary of kernel %s: %s; NVRTC may be newer "
                       "than the driver: update the driver or name an older one in EAGRE_NVRTC",
                       device->info.spec, device->info.name, device->info.version, entry,
                       result_text(result, true));
    }
    if (result == CUDA_SUCCESS)
        result = cu.module_function(&loaded->function, loaded->module, entry);
    else
        loaded->module = NULL;
    if (result == CUDA_ERROR_NOT_FOUND)
        return eg_fail(device->ctx, EG_ERROR_ARGUMENT,
                       "there is no kernel %s in the program; is its K_KERNEL spelled so?", entry);
    return failed(device, result, "loading a kernel");
}

static eg_status load(eg_device *device, const eg_blob *blob, const char *path, const char *entry,
                      const eg_geometry *geometry, void **function)
{
    eg_status status = EG_OK;
    device_state *state;
    loaded_kernel *loaded = NULL;
    int threads = geometry->block[0] * geometry->block[1] * geometry->block[2];
    int threads_max = 0, resident = 0;
    (void)path;
    *function = NULL;
    if (geometry->shared_bytes > device->info.shared_bytes)
        return eg_fail(device->ctx, EG_ERROR_UNSUPPORTED,
                       "kernel %s needs %zu bytes of K_SHARED memory a block and %s (%s) has %llu; "
                       "use fewer LANES (now %d)",
                       entry, geometry->shared_bytes, device->info.spec, device->info.name,
                       (unsigned long long)device->info.shared_bytes, geometry->lanes);

    EG_TRY(enter(device, &state));
    EG_TRY(eg_new(device->ctx, 1, &loaded));
    EG_TRY(load_module(device, blob, entry, loaded));
    if (geometry->shared_bytes > 0)
        EG_TRY(failed(device,
                      cu.function_set(loaded->function,
                                      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      (int)geometry->shared_bytes),
                      "reserving a kernel's shared memory"));
    EG_TRY(failed(
        device,
        cu.function_get(&threads_max, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, loaded->function),
        "asking for a kernel's limits"));
    if (threads <= threads_max)
        EG_TRY(failed(
            device,
            cu.function_occupancy(&resident, loaded->function, threads, geometry->shared_bytes),
            "asking for a kernel's occupancy"));
    if (resident < 1) {
        status =
            eg_fail(device->ctx, EG_ERROR_UNSUPPORTED,
                    "kernel %s is laid out for blocks of %d threads with %zu bytes of K_SHARED "
                    "memory and %s (%s) runs it with at most %d threads; use fewer LANES "
                    "(now %d)",
                    entry, threads, geometry->shared_bytes, device->info.spec, device->info.name,
                    threads_max, geometry->lanes);
        goto done;
    }
    loaded->max_blocks = geometry->waves
                             ? (int64_t)device->info.compute_units * resident * geometry->waves
                             : INT32_MAX;
    *function = loaded;
    loaded = NULL;
done:
    unload(device, loaded);
    return status;
}

static eg_status launch(eg_device *device, void *function, const eg_geometry *geometry,
                        int64_t first, int64_t count, const eg_slot *slots, size_t slot_count)
{
    eg_status status = EG_OK;
    device_state *state;
    const loaded_kernel *loaded = function;
    CUdeviceptr addresses[SLOTS_MAX];
    void *parameters[SLOTS_MAX + 2];
    if (count == 0) return EG_OK;
    if (slot_count > SLOTS_MAX || first < 0 || count < 0 || first > INT32_MAX - count)
        return eg_fail(device->ctx, EG_ERROR_LAUNCH,
                       "a launch of %lld tiles from %lld with %zu arguments is out of range: tiles "
                       "end below 2^31 and a kernel has at most %d arguments",
                       (long long)count, (long long)first, slot_count, SLOTS_MAX);

    EG_TRY(enter(device, &state));
    int32_t range[2] = {(int32_t)first, (int32_t)(first + count)};
    parameters[0] = &range[0];
    parameters[1] = &range[1];
    for (size_t i = 0; i < slot_count; i++) {
        addresses[i] = slots[i].memory.address + slots[i].offset;
        /* The driver only reads the values. */
        parameters[i + 2] = slots[i].is_memory ? (void *)&addresses[i] : (void *)slots[i].data;
    }
    int64_t blocks = eg_geometry_blocks(geometry, count);
    if (blocks > loaded->max_blocks) blocks = loaded->max_blocks;
    CUresult result =
        cu.launch(loaded->function, (unsigned)blocks, 1, 1, (unsigned)geometry->block[0],
                  (unsigned)geometry->block[1], (unsigned)geometry->block[2],
                  (unsigned)geometry->shared_bytes, state->stream, parameters, NULL);
    if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        return eg_fail(device->ctx, EG_ERROR_LAUNCH,
                       "%s (%s): %s for a launch of %lld blocks of %d x %d x %d threads with %zu "
                       "bytes of K_SHARED memory; use fewer LANES (now %d)",
                       device->info.spec, device->info.name, result_text(result, true),
                       (long long)blocks, geometry->block[0], geometry->block[1],
                       geometry->block[2], geometry->shared_bytes, geometry->lanes);
    EG_TRY(failed(device, result, "launching a kernel"));
done:
    return status;
}

/* --- timing: the opaque event is the CUevent itself ---------------------------------------------- */

static eg_status event_create(eg_device *device, void **event)
{
    eg_status status = EG_OK;
    device_state *state;
    CUevent created = NULL;
    *event = NULL;
    EG_TRY(enter(device, &state));
    EG_TRY(failed(device, cu.event_create(&created, CU_EVENT_DEFAULT), "creating an event"));
    *event = created;
done:
    return status;
}

static void event_destroy(eg_device *device, void *event)
{
    device_state *state = device->state;
    if (event && cu.context_set(state->context) == CUDA_SUCCESS) cu.event_destroy(event);
}

static eg_status event_record(eg_device *device, void *event)
{
    eg_status status = EG_OK;
    device_state *state;
    EG_TRY(enter(device, &state));
    EG_TRY(failed(device, cu.event_record(event, state->stream), "recording an event"));
done:
    return status;
}

static eg_status event_elapsed(eg_device *device, void *start, void *stop, double *seconds)
{
    eg_status status = EG_OK;
    device_state *state;
    float milliseconds = 0;
    EG_TRY(enter(device, &state));
    EG_TRY(failed(device, cu.event_sync(start), "waiting for an event"));
    EG_TRY(failed(device, cu.event_sync(stop), "waiting for an event"));
    CUresult result = cu.event_elapsed(&milliseconds, start, stop);
    if (result == CUDA_ERROR_INVALID_HANDLE)
        return eg_fail(device->ctx, EG_ERROR_ARGUMENT,
                       "an elapsed time was asked for between events that were not both recorded");
    EG_TRY(failed(device, result, "reading an event's time"));
    *seconds = (double)milliseconds * 1e-3;
done:
    return status;
}

const eg_backend eg_backend_cuda = {
    .name = "cuda",
    .list = list_devices,
    .open = open_device,
    .close = close_device,
    .sync = sync_device,
    .allocate = allocate_memory,
    .release = release_memory,
    .upload = upload,
    .download = download,
    .copy = copy,
    .fill = fill,
    .identify = identify,
    .compile = compile,
    .load = load,
    .unload = unload,
    .launch = launch,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_elapsed = event_elapsed,
    .has_threads = true,
};
