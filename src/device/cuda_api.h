/* The part of the CUDA driver interface that cuda.c uses, declared here so that building needs no
 * CUDA kit; the functions are found at run time in libcuda.so.1. Private to cuda.c and nvrtc.c. */
#ifndef EG_CUDA_API_H
#define EG_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct cuda_context_object *CUcontext;
typedef struct cuda_stream_object *CUstream;
typedef struct cuda_event_object *CUevent;
typedef struct cuda_module_object *CUmodule;
typedef struct cuda_function_object *CUfunction;

/* Results that cuda.c tells apart; the driver names the others itself. */
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701
};

enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,

    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,

    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DEFAULT = 0
};

/* X(field, symbol, parameters): symbols carry the version whose signature is written here. */
#define CUDA_FUNCTION_LIST(X)                                                                      \
    X(init, cuInit, (unsigned flags))                                                              \
    X(driver_version, cuDriverGetVersion, (int *version))                                          \
    X(error_name, cuGetErrorName, (CUresult result, const char **text))                            \
    X(error_string, cuGetErrorString, (CUresult result, const char **text))                        \
    X(device_count, cuDeviceGetCount, (int *count))                                                \
    X(device_get, cuDeviceGet, (CUdevice * device, int index))                                     \
    X(device_name, cuDeviceGetName, (char *name, int bytes, CUdevice device))                      \
    X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                       \
    X(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))        \
    X(context_retain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))            \
    X(context_release, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                            \
    X(context_set, cuCtxSetCurrent, (CUcontext context))                                           \
    X(stream_create, cuStreamCreate, (CUstream * stream, unsigned flags))                          \
    X(stream_destroy, cuStreamDestroy_v2, (CUstream stream))                                       \
    X(stream_sync, cuStreamSynchronize, (CUstream stream))                                         \
    X(memory_info, cuMemGetInfo_v2, (size_t * available, size_t * total))                          \
    X(memory_allocate, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                       \
    X(memory_free, cuMemFree_v2, (CUdeviceptr address))                                            \
    X(copy_to_device, cuMemcpyHtoDAsync_v2,                                                        \
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                           \
    X(copy_to_host, cuMemcpyDtoHAsync_v2,                                                          \
      (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                                 \
    X(copy_on_device, cuMemcpyDtoDAsync_v2,                                                        \
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                           \
    X(fill_8, cuMemsetD8Async,                                                                     \
      (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                        \
    X(fill_32, cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t count, CUstream stream))  \
    X(fill_32_strided, cuMemsetD2D32Async,                                                         \
      (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,                  \
       CUstream stream))                                                                           \
    X(module_load, cuModuleLoadData, (CUmodule * module, const void *image))                       \
    X(module_unload, cuModuleUnload, (CUmodule module))                                            \
    X(module_function, cuModuleGetFunction,                                                        \
      (CUfunction * function, CUmodule module, const char *name))                                  \
    X(function_set, cuFuncSetAttribute, (CUfunction function, int attribute, int value))           \
    X(function_get, cuFuncGetAttribute, (int *value, int attribute, CUfunction function))          \
    X(function_occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                             \
      (int *blocks, CUfunction function, int threads, size_t shared_bytes))                        \
    X(launch, cuLaunchKernel,                                                                      \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                 \
       void **parameters, void **extra))                                                           \
    X(event_create, cuEventCreate, (CUevent * event, unsigned flags))                              \
    X(event_destroy, cuEventDestroy_v2, (CUevent event))                                           \
    X(event_record, cuEventRecord, (CUevent event, CUstream stream))                               \
    X(event_sync, cuEventSynchronize, (CUevent event))                                             \
    X(event_elapsed, cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent stop))

typedef struct cuda_api {
#define X(field, symbol, parameters) CUresult(*field) parameters;
    CUDA_FUNCTION_LIST(X)
#undef X
} cuda_api;

/* nvrtc.c: adds to `key` which compiler and flags eg_cuda_compile would use. */
eg_status eg_nvrtc_identify(eg_text *key);

#endif
