/* The part of the OpenCL 1.2 interface that opencl.c uses, declared here so that building needs no
 * OpenCL kit; the functions are found at run time in libOpenCL.so.1. Private to opencl.c. */
#ifndef EG_OPENCL_API_H
#define EG_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint; /* also cl_bool, and every enumeration that names a query */
typedef uint64_t cl_ulong;
typedef uint64_t cl_bitfield;

typedef struct cl_platform_object *cl_platform_id;
typedef struct cl_device_object *cl_device_id;
typedef struct cl_context_object *cl_context;
typedef struct cl_queue_object *cl_command_queue;
typedef struct cl_memory_object *cl_mem;
typedef struct cl_program_object *cl_program;
typedef struct cl_kernel_object *cl_kernel;
typedef struct cl_event_object *cl_event;

typedef struct cl_buffer_region {
    size_t origin, size;
} cl_buffer_region;

/* Results that opencl.c tells apart, with what they mean. */
#define CL_RESULT_LIST(X)                                                                          \
    X(CL_SUCCESS, 0)                                                                               \
    X(CL_DEVICE_NOT_FOUND, -1)                                                                     \
    X(CL_DEVICE_NOT_AVAILABLE, -2)                                                                 \
    X(CL_COMPILER_NOT_AVAILABLE, -3)                                                               \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                        \
    X(CL_OUT_OF_RESOURCES, -5)                                                                     \
    X(CL_OUT_OF_HOST_MEMORY, -6)                                                                   \
    X(CL_PROFILING_INFO_NOT_AVAILABLE, -7)                                                         \
    X(CL_MEM_COPY_OVERLAP, -8)                                                                     \
    X(CL_BUILD_PROGRAM_FAILURE, -11)                                                               \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET, -13)                                                        \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14)                                           \
    X(CL_INVALID_VALUE, -30)                                                                       \
    X(CL_INVALID_CONTEXT, -34)                                                                     \
    X(CL_INVALID_COMMAND_QUEUE, -36)                                                               \
    X(CL_INVALID_MEM_OBJECT, -38)                                                                  \
    X(CL_INVALID_BINARY, -42)                                                                      \
    X(CL_INVALID_PROGRAM_EXECUTABLE, -45)                                                          \
    X(CL_INVALID_KERNEL_NAME, -46)                                                                 \
    X(CL_INVALID_ARG_INDEX, -49)                                                                   \
    X(CL_INVALID_ARG_VALUE, -50)                                                                   \
    X(CL_INVALID_ARG_SIZE, -51)                                                                    \
    X(CL_INVALID_KERNEL_ARGS, -52)                                                                 \
    X(CL_INVALID_WORK_GROUP_SIZE, -54)                                                             \
    X(CL_INVALID_WORK_ITEM_SIZE, -55)                                                              \
    X(CL_INVALID_BUFFER_SIZE, -61)

enum {
#define X(name, value) name = (value),
    CL_RESULT_LIST(X)
#undef X
};

enum {
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,

    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, /* in bits */
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,

    CL_MEM_SIZE = 0x1102,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_BUFFER_CREATE_TYPE_REGION = 0x1220,
    CL_PROFILING_COMMAND_END = 0x1283
};

#define CL_DEVICE_TYPE_GPU ((cl_bitfield)1 << 2)
#define CL_DEVICE_TYPE_ALL ((cl_bitfield)0xFFFFFFFF)
#define CL_QUEUE_PROFILING_ENABLE ((cl_bitfield)1 << 1)
#define CL_MEM_READ_WRITE ((cl_bitfield)1 << 0)
#define CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED ((cl_bitfield)1 << 1)

/* X(result, name, parameters); the table's field is the name without "cl". */
#define CL_FUNCTION_LIST(X)                                                                        \
    X(cl_int, GetPlatformIDs, (cl_uint capacity, cl_platform_id * list, cl_uint * count))          \
    X(cl_int, GetPlatformInfo,                                                                     \
      (cl_platform_id platform, cl_uint query, size_t bytes, void *value, size_t *needed))         \
    X(cl_int, GetDeviceIDs,                                                                        \
      (cl_platform_id platform, cl_bitfield type, cl_uint capacity, cl_device_id * list,           \
       cl_uint * count))                                                                           \
    X(cl_int, GetDeviceInfo,                                                                       \
      (cl_device_id device, cl_uint query, size_t bytes, void *value, size_t *needed))             \
    X(cl_context, CreateContext,                                                                   \
      (const intptr_t *properties, cl_uint count, const cl_device_id *devices,                     \
       void (*notify)(const char *, const void *, size_t, void *), void *user, cl_int *result))    \
    X(cl_int, ReleaseContext, (cl_context context))                                                \
    X(cl_command_queue, CreateCommandQueue,                                                        \
      (cl_context context, cl_device_id device, cl_bitfield properties, cl_int * result))          \
    X(cl_int, ReleaseCommandQueue, (cl_command_queue queue))                                       \
    X(cl_int, Finish, (cl_command_queue queue))                                                    \
    X(cl_mem, CreateBuffer,                                                                        \
      (cl_context context, cl_bitfield flags, size_t bytes, void *host, cl_int *result))           \
    X(cl_mem, CreateSubBuffer,                                                                     \
      (cl_mem parent, cl_bitfield flags, cl_uint type, const void *region, cl_int *result))        \
    X(cl_int, ReleaseMemObject, (cl_mem memory))                                                   \
    X(cl_int, GetMemObjectInfo,                                                                    \
      (cl_mem memory, cl_uint query, size_t bytes, void *value, size_t *needed))                   \
    X(cl_int, EnqueueMigrateMemObjects,                                                            \
      (cl_command_queue queue, cl_uint count, const cl_mem *objects, cl_bitfield flags,            \
       cl_uint wait_count, const cl_event *waits, cl_event *event))                                \
    X(cl_int, EnqueueWriteBuffer,                                                                  \
      (cl_command_queue queue, cl_mem to, cl_uint blocking, size_t offset, size_t bytes,           \
       const void *from, cl_uint wait_count, const cl_event *waits, cl_event *event))              \
    X(cl_int, EnqueueReadBuffer,                                                                   \
      (cl_command_queue queue, cl_mem from, cl_uint blocking, size_t offset, size_t bytes,         \
       void *to, cl_uint wait_count, const cl_event *waits, cl_event *event))                      \
    X(cl_int, EnqueueCopyBuffer,                                                                   \
      (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,       \
       size_t bytes, cl_uint wait_count, const cl_event *waits, cl_event *event))                  \
    X(cl_int, EnqueueFillBuffer,                                                                   \
      (cl_command_queue queue, cl_mem to, const void *pattern, size_t pattern_bytes,               \
       size_t offset, size_t bytes, cl_uint wait_count, const cl_event *waits, cl_event *event))   \
    X(cl_program, CreateProgramWithSource,                                                         \
      (cl_context context, cl_uint count, const char **strings, const size_t *lengths,             \
       cl_int *result))                                                                            \
    X(cl_program, CreateProgramWithBinary,                                                         \
      (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,      \
       const unsigned char **binaries, cl_int *binary_results, cl_int *result))                    \
    X(cl_int, BuildProgram,                                                                        \
      (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,        \
       void (*notify)(cl_program, void *), void *user))                                            \
    X(cl_int, GetProgramInfo,                                                                      \
      (cl_program program, cl_uint query, size_t bytes, void *value, size_t *needed))              \
    X(cl_int, GetProgramBuildInfo,                                                                 \
      (cl_program program, cl_device_id device, cl_uint query, size_t bytes, void *value,          \
       size_t *needed))                                                                            \
    X(cl_int, ReleaseProgram, (cl_program program))                                                \
    X(cl_kernel, CreateKernel, (cl_program program, const char *name, cl_int *result))             \
    X(cl_int, GetKernelWorkGroupInfo,                                                              \
      (cl_kernel kernel, cl_device_id device, cl_uint query, size_t bytes, void *value,            \
       size_t *needed))                                                                            \
    X(cl_int, ReleaseKernel, (cl_kernel kernel))                                                   \
    X(cl_int, SetKernelArg, (cl_kernel kernel, cl_uint index, size_t bytes, const void *value))    \
    X(cl_int, EnqueueNDRangeKernel,                                                                \
      (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,         \
       const size_t *global, const size_t *local, cl_uint wait_count, const cl_event *waits,       \
       cl_event *event))                                                                           \
    X(cl_int, EnqueueMarkerWithWaitList,                                                           \
      (cl_command_queue queue, cl_uint wait_count, const cl_event *waits, cl_event *event))        \
    X(cl_int, WaitForEvents, (cl_uint count, const cl_event *events))                              \
    X(cl_int, GetEventProfilingInfo,                                                               \
      (cl_event event, cl_uint query, size_t bytes, void *value, size_t *needed))                  \
    X(cl_int, ReleaseEvent, (cl_event event))

typedef struct opencl_api {
#define X(result, name, parameters) result(*name) parameters;
    CL_FUNCTION_LIST(X)
#undef X
} opencl_api;

#endif
