/* The kernel language in OpenCL C 1.2. */
#if K_REAL == 64 || defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double f64;
#endif
typedef float f32;
typedef long i64;
typedef int i32;
typedef uint u32;
typedef uchar u8;

#if !K_CONTRACT
#pragma OPENCL FP_CONTRACT OFF
#endif
#define K_INFINITY K_R(INFINITY)
#define K_NAN K_R(NAN)

#include "device/dialect/common.k.h"

#define K_MMA 0
#define K_GLOBAL __global
#define K_LOCAL __local
#define K_CONSTANT __constant
#define K_FUNC static inline
#define K_LANE_ID ((int)get_local_id(0))
#define K_ROW ((int)get_local_id(1))
#define K_SLOT ((int)get_local_id(2))
#define K_BLOCK ((int)get_group_id(0))
#define K_BLOCKS ((int)get_num_groups(0))
#ifdef POCL_DEVICE_ADDRESS_BITS
/* PoCL takes a branch that stands right behind a barrier to be the same for the whole group. */
static inline void k_sync(void)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    volatile int apart = 0;
    (void)apart;
}
#define K_SYNC k_sync()
#else
#define K_SYNC barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

#include "device/dialect/gpu.k.h"

#define K_BEGIN(name) \
    __kernel __attribute__((reqd_work_group_size(LANES, K_TY, K_TZ))) void name( \
        const int k_t0, const int k_t1
#define K_END )
#define K_ARG_IN(type, x) , __global const type *restrict x
#define K_ARG_OUT(type, x) , __global type *restrict x
#define K_ARG_INOUT(type, x) , __global type *restrict x
#define K_ARG_VAL(type, x) , const type x
#define K_ARG_OP(type, x) , __global const type *restrict x

#define K_SHARED(type, x, n) \
    __local type x##_slots[K_TZ * (n)][K_LD]; \
    __local type(*x)[K_LD] = x##_slots + K_SLOT * (n)
#define K_GEMM_BLOCK K_GEMM_PORTABLE
