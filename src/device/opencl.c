/* The OpenCL backend: every device of every platform that has a compiler, through OpenCL 1.2.
 *
 * libOpenCL.so.1 is loaded on first use and never unloaded. A device has a context of its own and
 * one in-order queue with profiling, so that queued work needs no events between its parts. */
#define _GNU_SOURCE
#include "device/opencl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device/backend.h"

#define PLATFORMS_MAX 16
#define DEVICES_MAX 32 /* of one platform */
#define SLOTS_MAX 64   /* arguments of a kernel */

/* Blocks of a launch per compute unit; kernels stride over the rest of the tiles. */
#define BLOCKS_PER_UNIT 64

/* No fast-math and no mad: NaN checks and agreement between devices depend on it. */
static const char build_options[] = "-cl-std=CL1.2";

typedef struct device_state {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    size_t alignment;        /* bytes that a sub-buffer's origin must be a multiple of */
    uint64_t max_allocation; /* bytes of one buffer at most */
} device_state;

typedef struct loaded_kernel {
    cl_program program;
    cl_kernel kernel;
} loaded_kernel;

typedef struct recorded_event {
    cl_event event; /* NULL before it is recorded */
} recorded_event;

static opencl_api cl;
static bool cl_present;
static pthread_once_t cl_once = PTHREAD_ONCE_INIT;

static void load_library(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    void *symbol;
#define X(result, name, parameters)                                                                \
    symbol = dlsym(library, "cl" #name);                                                           \
    if (!symbol) return;                                                                           \
    memcpy(&cl.name, &symbol, sizeof symbol);
    CL_FUNCTION_LIST(X)
#undef X
    cl_present = true;
}

/* --- errors ------------------------------------------------------------------------------------- */

static const char *result_name(cl_int result)
{
    switch (result) {
#define X(name, value)                                                                             \
    case name:                                                                                     \
        return #name;
        CL_RESULT_LIST(X)
#undef X
    default:
        return "an OpenCL error";
    }
}

/* Turns a failed call into a status; `doing` completes "while …". */
static eg_status failed(eg_device *device, cl_int result, const char *doing)
{
    const char *spec = device->info.spec, *name = device->info.name;
    switch (result) {
    case CL_SUCCESS:
        return EG_OK;
    case CL_OUT_OF_HOST_MEMORY:
        return eg_fail(device->ctx, EG_ERROR_MEMORY,
                       "%s (%s): the host ran out of memory while %s; close other programs or use "
                       "a smaller mesh",
                       spec, name, doing);
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        return eg_fail(device->ctx, EG_ERROR_DEVICE_MEMORY,
                       "%s (%s) ran out of its %.2f GB of memory while %s; use a smaller mesh or "
                       "degree, single precision or more devices",
                       spec, name, (double)device->info.memory_bytes * 1e-9, doing);
    default:
        return eg_fail(device->ctx, EG_ERROR_DEVICE_LOST,
                       "%s (%s): %s (%d) while %s; it may stem from a kernel queued before: run "
                       "with EAGRE_CHECK=1 to find bad accesses, and restart, for the device's "
                       "memory is lost",
                       spec, name, result_name(result), (int)result, doing);
    }
}

/* --- finding devices ---------------------------------------------------------------------------- */

/* Copies a text of the platform or (platform NULL) the device, cut to fit; "?" if there is none. */
static void query_text(cl_platform_id platform, cl_device_id device, cl_uint query, char *text,
                       size_t bytes)
{
    char whole[1024]; /* a query fails where the text does not fit */
    cl_int result = platform ? cl.GetPlatformInfo(platform, query, sizeof whole, whole, NULL)
                             : cl.GetDeviceInfo(device, query, sizeof whole, whole, NULL);
    if (result != CL_SUCCESS) strcpy(whole, "?");
    whole[sizeof whole - 1] = '\0';
    const char *start = whole + strspn(whole, " ");
    size_t length = strlen(start);
    if (length >= bytes) length = bytes - 1;
    memcpy(text, start, length);
    text[length] = '\0';
}

/* A number of 4 or 8 bytes; 0 if the device does not know the query. */
static uint64_t query_number(cl_device_id device, cl_uint query)
{
    uint64_t wide = 0;
    size_t bytes = 0;
    if (cl.GetDeviceInfo(device, query, sizeof wide, &wide, &bytes) != CL_SUCCESS) return 0;
    if (bytes == sizeof wide) return wide;
    uint32_t narrow = 0;
    memcpy(&narrow, &wide, sizeof narrow);
    return narrow;
}

static bool is_usable(cl_device_id device)
{
    char version[64];
    int major = 0, minor = 0;
    query_text(NULL, device, CL_DEVICE_VERSION, version, sizeof version);
    return query_number(device, CL_DEVICE_AVAILABLE) &&
           query_number(device, CL_DEVICE_COMPILER_AVAILABLE) &&
           sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 && major * 10 + minor >= 12;
}

static void describe(cl_platform_id platform, cl_device_id device, int index, eg_device_info *info)
{
    char driver[40], platform_name[60], version[32];
    int major = 0, minor = 0;
    memset(info, 0, sizeof *info);
    snprintf(info->spec, sizeof info->spec, "opencl:%d", index);
    strcpy(info->backend, "opencl");
    query_text(NULL, device, CL_DEVICE_NAME, info->name, sizeof info->name);
    query_text(platform, NULL, CL_PLATFORM_NAME, platform_name, sizeof platform_name);
    query_text(NULL, device, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(info->version, sizeof info->version, "%s, driver %s", platform_name, driver);
    query_text(NULL, device, CL_DEVICE_VERSION, version, sizeof version);
    sscanf(version, "OpenCL %d.%d", &major, &minor);
    snprintf(info->features, sizeof info->features, "OpenCL %d.%d", major, minor);
    info->memory_bytes = query_number(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->compute_units = (int)query_number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->shared_bytes = query_number(device, CL_DEVICE_LOCAL_MEM_SIZE);
    info->max_block_threads = (int)query_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info->is_gpu = (query_number(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0;
    info->lanes = info->is_gpu ? 32 : 16;
    info->has_f64 = query_number(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->max_tiles_in_flight = info->compute_units * 8;
}

/* Walks over all usable devices, describes the first `capacity` of them in `list` (may be NULL) and
 * returns how many there are. `wanted` (may be NULL) receives the device at place `index`. */
static int walk(eg_device_info *list, int capacity, int index, cl_device_id *wanted,
                eg_device_info *wanted_info)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint platform_count = 0;
    int found = 0;
    pthread_once(&cl_once, load_library);
    if (!cl_present) return 0;
    if (cl.GetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count) != CL_SUCCESS) return 0;
    if (platform_count > PLATFORMS_MAX) platform_count = PLATFORMS_MAX;
    for (cl_uint p = 0; p < platform_count; p++) {
        cl_device_id devices[DEVICES_MAX];
        cl_uint count = 0;
        if (cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count) !=
            CL_SUCCESS)
            continue;
        if (count > DEVICES_MAX) count = DEVICES_MAX;
        for (cl_uint d = 0; d < count; d++) {
            if (!is_usable(devices[d])) continue;
            if (found < capacity) describe(platforms[p], devices[d], found, &list[found]);
            if (wanted && found == index) {
                *wanted = devices[d];
                describe(platforms[p], devices[d], found, wanted_info);
            }
            found++;
        }
    }
    return found;
}

static int list_devices(eg_context *ctx, eg_device_info *list, int capacity)
{
    int count = walk(list, capacity, -1, NULL, NULL);
    eg_log(ctx, EG_LOG_DEBUG, "opencl library=%s devices=%d", cl_present ? "found" : "absent",
           count);
    return count;
}

/* --- opening ------------------------------------------------------------------------------------ */

static void close_device(eg_device *device)
{
    device_state *state = device->state;
    if (!state) return;
    if (state->queue) {
        cl.Finish(state->queue);
        cl.ReleaseCommandQueue(state->queue);
    }
    if (state->context) cl.ReleaseContext(state->context);
    eg_release(device->ctx, &device->state);
}

static eg_status open_device(eg_device *device, int index)
{
    eg_status status = EG_OK;
    device_state *state = NULL;
    cl_device_id found = NULL;
    cl_int result = CL_SUCCESS;
    int count = walk(NULL, 0, index, &found, &device->info);
    if (!cl_present)
        return eg_fail(device->ctx, EG_ERROR_NO_DEVICE,
                       "opencl:%d: libOpenCL.so.1 was not found or is older than OpenCL 1.2; "
                       "install an OpenCL loader (Debian: ocl-icd-libopencl1) and a driver",
                       index);
    if (!found)
        return eg_fail(device->ctx, EG_ERROR_NO_DEVICE,
                       "opencl:%d: there are %d OpenCL devices with a compiler%s", index, count,
                       count ? ", numbered from 0; `eagre devices` lists them"
                             : "; install a driver (Debian: pocl-opencl-icd runs on the CPU)");

    EG_TRY(eg_new(device->ctx, 1, &state));
    device->state = state;
    state->device = found;
    state->alignment = (size_t)query_number(found, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    if (state->alignment == 0) state->alignment = 1;
    state->max_allocation = query_number(found, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    state->context = cl.CreateContext(NULL, 1, &found, NULL, NULL, &result);
    EG_TRY(failed(device, result, "creating its context"));
    state->queue = cl.CreateCommandQueue(state->context, found, CL_QUEUE_PROFILING_ENABLE, &result);
    EG_TRY(failed(device, result, "creating its queue"));
done:
    if (status != EG_OK) close_device(device);
    return status;
}

static eg_status sync_device(eg_device *device)
{
    const device_state *state = device->state;
    return failed(device, cl.Finish(state->queue), "waiting for queued work");
}

/* --- memory ------------------------------------------------------------------------------------- */

static eg_status allocate_memory(eg_device *device, size_t bytes, eg_memory *out)
{
    const device_state *state = device->state;
    cl_int result = CL_SUCCESS;
    out->pointer = NULL;
    cl_mem memory =
        cl.CreateBuffer(state->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &result);
    /* Drivers may put the allocation off to the first use; migrating makes a shortage show here. */
    if (result == CL_SUCCESS)
        result = cl.EnqueueMigrateMemObjects(
            state->queue, 1, &memory, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, NULL);
    if (result == CL_SUCCESS) {
        out->pointer = memory;
        return EG_OK;
    }
    if (memory) cl.ReleaseMemObject(memory);
    if (result == CL_INVALID_BUFFER_SIZE || result == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
        result == CL_OUT_OF_RESOURCES)
        return eg_fail(device->ctx, EG_ERROR_DEVICE_MEMORY,
                       "%s (%s) cannot allocate %zu bytes (%s): it has %llu bytes in all and gives "
                       "at most %llu at once; use a smaller mesh or degree, single precision or "
                       "more devices",
                       device->info.spec, device->info.name, bytes, result_name(result),
                       (unsigned long long)device->info.memory_bytes,
                       (unsigned long long)state->max_allocation);
    return failed(device, result, "allocating memory");
}

static void release_memory(eg_device *device, eg_memory memory)
{
    (void)device;
    /* Queued commands hold their own references. */
    if (memory.pointer) cl.ReleaseMemObject(memory.pointer);
}

static eg_status upload(eg_device *device, eg_memory to, size_t offset, size_t bytes,
                        const void *from)
{
    const device_state *state = device->state;
    if (bytes == 0) return EG_OK;
    return failed(
        device,
        cl.EnqueueWriteBuffer(state->queue, to.pointer, 1, offset, bytes, from, 0, NULL, NULL),
        "uploading");
}

static eg_status download(eg_device *device, eg_memory from, size_t offset, size_t bytes, void *to)
{
    const device_state *state = device->state;
    if (bytes == 0) return EG_OK;
    return failed(
        device,
        cl.EnqueueReadBuffer(state->queue, from.pointer, 1, offset, bytes, to, 0, NULL, NULL),
        "downloading");
}

static eg_status copy(eg_device *device, eg_memory to, size_t to_offset, eg_memory from,
                      size_t from_offset, size_t bytes)
{
    const device_state *state = device->state;
    if (bytes == 0) return EG_OK;
    cl_int result = cl.EnqueueCopyBuffer(state->queue, from.pointer, to.pointer, from_offset,
                                         to_offset, bytes, 0, NULL, NULL);
    if (result == CL_MEM_COPY_OVERLAP)
        return eg_fail(device->ctx, EG_ERROR_ARGUMENT,
                       "%s: a copy of %zu bytes from offset %zu to offset %zu of one buffer "
                       "overlaps itself; copy through another buffer",
                       device->info.spec, bytes, from_offset, to_offset);
    return failed(device, result, "copying on the device");
}

static eg_status fill(eg_device *device, eg_memory to, size_t offset, size_t bytes,
                      const void *pattern, size_t pattern_bytes)
{
    const device_state *state = device->state;
    if (bytes == 0) return EG_OK;
    return failed(device,
                  cl.EnqueueFillBuffer(state->queue, to.pointer, pattern, pattern_bytes, offset,
                                       bytes, 0, NULL, NULL),
                  "filling");
}

/* --- kernels ------------------------------------------------------------------------------------ */

static eg_status identify(eg_device *device, eg_text *key)
{
    const device_state *state = device->state;
    char version[256];
    query_text(NULL, state->device, CL_DEVICE_VERSION, version, sizeof version);
    return eg_text_printf(key, "opencl\n%s\n%s\n%s\n%s\n", device->info.name, device->info.version,
                          version, build_options);
}

static eg_status report_build(eg_device *device, cl_program program, const char *name,
                              const eg_text *source)
{
    const device_state *state = device->state;
    eg_status status = EG_OK;
    char *log = NULL;
    size_t bytes = 0;
    if (cl.GetProgramBuildInfo(program, state->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) !=
        CL_SUCCESS)
        bytes = 0;
    EG_TRY(eg_new(device->ctx, bytes + 1, &log));
    if (bytes > 0 && cl.GetProgramBuildInfo(program, state->device, CL_PROGRAM_BUILD_LOG, bytes,
                                            log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    status = eg_compile_failed(device->ctx, name, device->info.version, log, source);
done:
    eg_release(device->ctx, &log);
    return status;
}

/* The log calls lines NAME:LINE because a #line directive goes before the source. Contraction is the
 * source's own matter, by a pragma of the dialect. */
static eg_status compile(eg_device *device, const char *name, const eg_text *source, bool contract,
                         eg_blob *out)
{
    (void)contract;
    const device_state *state = device->state;
    eg_status status = EG_OK;
    cl_int result = CL_SUCCESS;
    cl_program program = NULL;
    eg_text named = eg_text_new(device->ctx);
    char *data = NULL;
    size_t length = 0;

    EG_TRY(eg_text_printf(&named, "#line 1 \"%s\"\n", name));
    EG_TRY(eg_text_add(&named, eg_text_string(source), source->length));
    program = cl.CreateProgramWithSource(
        state->context, 1, (const char *[]){eg_text_string(&named)}, &named.length, &result);
    EG_TRY(failed(device, result, "creating a program"));
    result = cl.BuildProgram(program, 1, &state->device, build_options, NULL, NULL);
    if (result == CL_BUILD_PROGRAM_FAILURE) EG_TRY(report_build(device, program, name, &named));
    EG_TRY(failed(device, result, "compiling a kernel"));
    result = cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof length, &length, NULL);
    EG_TRY(failed(device, result, "asking for the size of a binary"));
    EG_TRY(eg_new(device->ctx, length + 1, &data));
    result = cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, NULL);
    EG_TRY(failed(device, result, "taking a binary"));
    out->data = data;
    out->length = length;
    data = NULL;
done:
    eg_release(device->ctx, &data);
    if (program) cl.ReleaseProgram(program);
    eg_text_free(&named);
    return status;
}

static void unload(eg_device *device, void *function)
{
    loaded_kernel *loaded = function;
    if (!loaded) return;
    if (loaded->kernel) cl.ReleaseKernel(loaded->kernel);
    if (loaded->program) cl.ReleaseProgram(loaded->program);
    eg_release(device->ctx, &loaded);
}

static eg_status load(eg_device *device, const eg_blob *blob, const char *path, const char *entry,
                      const eg_geometry *geometry, void **function)
{
    const device_state *state = device->state;
    eg_status status = EG_OK;
    loaded_kernel *loaded = NULL;
    cl_int result = CL_SUCCESS, binary_result = CL_SUCCESS;
    size_t threads =
        (size_t)geometry->block[0] * (size_t)geometry->block[1] * (size_t)geometry->block[2];
    size_t threads_max = 0;
    (void)path;
    *function = NULL;
    if (geometry->shared_bytes > device->info.shared_bytes)
        return eg_fail(device->ctx, EG_ERROR_UNSUPPORTED,
                       "kernel %s needs %zu bytes of K_SHARED memory a block and %s (%s) has %llu; "
                       "use fewer LANES (now %d)",
                       entry, geometry->shared_bytes, device->info.spec, device->info.name,
                       (unsigned long long)device->info.shared_bytes, geometry->lanes);

    EG_TRY(eg_new(device->ctx, 1, &loaded));
    loaded->program = cl.CreateProgramWithBinary(
        state->context, 1, &state->device, &blob->length,
        (const unsigned char *[]){(const unsigned char *)blob->data}, &binary_result, &result);
    if (result == CL_SUCCESS)
        result = cl.BuildProgram(loaded->program, 1, &state->device, build_options, NULL, NULL);
    if (result == CL_INVALID_BINARY || result == CL_BUILD_PROGRAM_FAILURE) {
        status = eg_fail(device->ctx, EG_ERROR_UNSUPPORTED,
                         "%s (%s) does not take the binary of kernel %s (%s); remove it from the "
                         "kernel cache",
                         device->info.spec, device->info.name, entry, result_name(result));
        goto done;
    }
    EG_TRY(failed(device, result, "loading a kernel"));
    loaded->kernel = cl.CreateKernel(loaded->program, entry, &result);
    if (result == CL_INVALID_KERNEL_NAME) {
        status =
            eg_fail(device->ctx, EG_ERROR_ARGUMENT,
                    "there is no kernel %s in the program; is its K_KERNEL spelled so?", entry);
        goto done;
    }
    EG_TRY(failed(device, result, "finding a kernel"));
    result = cl.GetKernelWorkGroupInfo(loaded->kernel, state->device, CL_KERNEL_WORK_GROUP_SIZE,
                                       sizeof threads_max, &threads_max, NULL);
    EG_TRY(failed(device, result, "asking for a kernel's limits"));
    if (threads > threads_max) {
        status = eg_fail(device->ctx, EG_ERROR_UNSUPPORTED,
                         "kernel %s is laid out for blocks of %zu threads and %s (%s) runs it with "
                         "at most %zu; use fewer LANES (now %d)",
                         entry, threads, device->info.spec, device->info.name, threads_max,
                         geometry->lanes);
        goto done;
    }
    *function = loaded;
    loaded = NULL;
done:
    unload(device, loaded);
    return status;
}

/* A kernel takes whole buffers, so an offset makes a sub-buffer of all that lies behind it. */
static eg_status make_part(eg_device *device, const eg_slot *slot, size_t place, cl_mem *part)
{
    const device_state *state = device->state;
    cl_buffer_region region = {.origin = slot->offset};
    cl_int result = CL_SUCCESS;
    if (slot->offset % state->alignment != 0)
        return eg_fail(device->ctx, EG_ERROR_LAUNCH,
                       "argument %zu of a launch starts %zu bytes into its buffer, but %s (%s) "
                       "takes multiples of %zu bytes only; start elsewhere or copy",
                       place, slot->offset, device->info.spec, device->info.name, state->alignment);
    result = cl.GetMemObjectInfo(slot->memory.pointer, CL_MEM_SIZE, sizeof region.size,
                                 &region.size, NULL);
    if (result == CL_SUCCESS && region.size <= slot->offset)
        return eg_fail(device->ctx, EG_ERROR_LAUNCH,
                       "argument %zu of a launch starts %zu bytes into a buffer of %zu bytes",
                       place, slot->offset, region.size);
    if (result == CL_SUCCESS) {
        region.size -= slot->offset;
        *part = cl.CreateSubBuffer(slot->memory.pointer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                   &result);
    }
    return failed(device, result, "taking part of a buffer");
}

/* What a launch itself can be blamed for; anything else comes from the device. */
static eg_status launch_failed(eg_device *device, cl_int result, const char *doing)
{
    switch (result) {
    case CL_INVALID_ARG_INDEX:
    case CL_INVALID_ARG_VALUE:
    case CL_INVALID_ARG_SIZE:
    case CL_INVALID_KERNEL_ARGS:
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
        return eg_fail(device->ctx, EG_ERROR_LAUNCH,
                       "%s (%s): %s while %s; compare the launch with the kernel's K_KERNEL line",
                       device->info.spec, device->info.name, result_name(result), doing);
    default:
        return failed(device, result, doing);
    }
}

static eg_status launch(eg_device *device, void *function, const eg_geometry *geometry,
                        int64_t first, int64_t count, const eg_slot *slots, size_t slot_count)
{
    const device_state *state = device->state;
    const loaded_kernel *loaded = function;
    eg_status status = EG_OK;
    cl_mem parts[SLOTS_MAX];
    size_t part_count = 0;
    if (count == 0) return EG_OK;
    if (slot_count > SLOTS_MAX || first < 0 || count < 0 || first > INT32_MAX - count)
        return eg_fail(device->ctx, EG_ERROR_LAUNCH,
                       "a launch of %lld tiles from %lld with %zu arguments is out of range: tiles "
                       "end below 2^31 and a kernel has at most %d arguments",
                       (long long)count, (long long)first, slot_count, SLOTS_MAX);

    const int32_t range[2] = {(int32_t)first, (int32_t)(first + count)};
    for (cl_uint i = 0; i < 2; i++)
        EG_TRY(launch_failed(device, cl.SetKernelArg(loaded->kernel, i, sizeof range[i], &range[i]),
                             "passing the range of tiles"));
    for (size_t i = 0; i < slot_count; i++) {
        cl_mem memory = slots[i].memory.pointer;
        if (slots[i].is_memory && slots[i].offset != 0) {
            EG_TRY(make_part(device, &slots[i], i, &memory));
            parts[part_count++] = memory;
        }
        EG_TRY(launch_failed(device,
                             cl.SetKernelArg(loaded->kernel, (cl_uint)i + 2,
                                             slots[i].is_memory ? sizeof memory : slots[i].size,
                                             slots[i].is_memory ? &memory : slots[i].data),
                             "passing an argument"));
    }

    int64_t blocks = eg_geometry_blocks(geometry, count);
    int64_t most = (int64_t)device->info.compute_units * BLOCKS_PER_UNIT;
    if (blocks > most) blocks = most;
    const size_t local[3] = {(size_t)geometry->block[0], (size_t)geometry->block[1],
                             (size_t)geometry->block[2]};
    const size_t global[3] = {(size_t)blocks * local[0], local[1], local[2]};
    EG_TRY(launch_failed(device,
                         cl.EnqueueNDRangeKernel(state->queue, loaded->kernel, 3, NULL, global,
                                                 local, 0, NULL, NULL),
                         "launching a kernel"));
done:
    /* A queued launch holds its own references to the parts. */
    while (part_count > 0)
        cl.ReleaseMemObject(parts[--part_count]);
    return status;
}

/* --- timing ------------------------------------------------------------------------------------- */

static eg_status event_create(eg_device *device, void **event)
{
    recorded_event *created = NULL;
    eg_status status = eg_new(device->ctx, 1, &created);
    *event = created;
    return status;
}

static void event_destroy(eg_device *device, void *event)
{
    recorded_event *recorded = event;
    if (!recorded) return;
    if (recorded->event) cl.ReleaseEvent(recorded->event);
    eg_release(device->ctx, &recorded);
}

static eg_status event_record(eg_device *device, void *event)
{
    const device_state *state = device->state;
    recorded_event *recorded = event;
    cl_event marker = NULL;
    cl_int result = cl.EnqueueMarkerWithWaitList(state->queue, 0, NULL, &marker);
    if (result != CL_SUCCESS) return failed(device, result, "recording an event");
    if (recorded->event) cl.ReleaseEvent(recorded->event);
    recorded->event = marker;
    return EG_OK;
}

static eg_status event_elapsed(eg_device *device, void *start, void *stop, double *seconds)
{
    const cl_event events[2] = {((recorded_event *)start)->event, ((recorded_event *)stop)->event};
    cl_ulong at[2] = {0, 0};
    if (!events[0] || !events[1])
        return eg_fail(device->ctx, EG_ERROR_ARGUMENT,
                       "an elapsed time was asked for between events that were not both recorded");
    cl_int result = cl.WaitForEvents(2, events);
    for (int i = 0; i < 2 && result == CL_SUCCESS; i++)
        result = cl.GetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof at[i], &at[i],
                                          NULL);
    if (result != CL_SUCCESS) return failed(device, result, "reading an event's time");
    *seconds = (double)(int64_t)(at[1] - at[0]) * 1e-9;
    return EG_OK;
}

const eg_backend eg_backend_opencl = {
    .name = "opencl",
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
