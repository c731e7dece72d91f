/* From a kernel file to the complete source a compiler gets: what it declares, how its threads are
 * laid out, where its shared memory lies. Works without the device, for tests and tools. */
#ifndef EG_SOURCE_H
#define EG_SOURCE_H

#include "device/backend.h"
#include "device/constant.h"

typedef enum eg_target_kind { EG_TARGET_CPU, EG_TARGET_OPENCL, EG_TARGET_CUDA } eg_target_kind;

/* What the source must know of the device it is compiled for. */
typedef struct eg_target {
    eg_target_kind kind;
    int cuda_arch;       /* 90 for sm_90 */
    int lanes;           /* preferred LANES */
    size_t shared_bytes; /* most K_SHARED memory of a block */
    int max_block_threads;
} eg_target;

eg_target eg_target_of(const eg_device *device);

/* Matrix instructions serve K_GEMM and the chains. Operators are packed accordingly. */
bool eg_target_uses_mma(const eg_target *target);

typedef enum eg_parameter_kind {
    EG_PARAMETER_IN,
    EG_PARAMETER_OUT,
    EG_PARAMETER_INOUT,
    EG_PARAMETER_VALUE,
    EG_PARAMETER_OPERATOR
} eg_parameter_kind;

/* One argument as K_KERNEL declares it. */
typedef struct eg_parameter {
    eg_parameter_kind kind;
    char name[40];
    eg_type type;
    int64_t
        extent; /* buffers: values per tile, 0 where not declared; may be read beyond the tile */
    int rows, cols; /* operators */
} eg_parameter;

#define EG_PARAMETERS_MAX 40

typedef struct eg_source {
    eg_text text; /* complete, ready to compile */
    char name[96];
    char entry[64];
    eg_parameter parameters[EG_PARAMETERS_MAX];
    size_t parameter_count;
    eg_geometry geometry;
    eg_type real;
    bool contract; /* a * b + c may be one rounding */
} eg_source;

/* Builds the complete source of one kernel. The caller frees it with eg_source_free, also on
 * failure. */
eg_status eg_source_build(eg_context *ctx, const eg_target *target,
                          const eg_kernel_options *options, eg_source *source);
void eg_source_free(eg_source *source);

/* --- declare.c: reading what a kernel file declares ---------------------------------------------- */

typedef enum eg_array_kind {
    EG_ARRAY_SHARED,  /* K_SHARED: rows of a tile */
    EG_ARRAY_PRIVATE, /* K_PRIVATE */
    EG_ARRAY_OPERAND, /* K_OPERAND: a chain's input */
    EG_ARRAY_ACCUM    /* K_ACCUM: its sums */
} eg_array_kind;

typedef struct eg_shared_array {
    char name[40];
    eg_array_kind kind;
    int64_t fields; /* 1 for K_SHARED and K_PRIVATE */
    int64_t rows;
    size_t value_bytes;
} eg_shared_array;

#define EG_SHARED_MAX 16

typedef struct eg_declaration {
    eg_parameter parameters[EG_PARAMETERS_MAX];
    size_t parameter_count;
    eg_shared_array shared[EG_SHARED_MAX];
    size_t shared_count;
    bool warps;                /* level 2: its loop is K_WARPS */
    int64_t most_rows;         /* the largest K_NODES or K_ROWS, 0 if there is none */
    size_t header, header_end; /* where K_KERNEL(…) stands in the text */
    eg_text
        agreed; /* declarations that compile only if the compiler, too, finds the sizes that were
                       read here (a macro may be redefined, or hidden by an #if) */
} eg_declaration;

void eg_declaration_free(eg_declaration *declaration);

/* Reads kernel `entry` of `text` and blanks out the text's other kernels (newlines stay, so that
 * line numbers hold). `macros` holds the -D constants; the text's own #defines are added. The caller
 * frees *out, also on failure. */
eg_status eg_declaration_read(eg_context *ctx, const char *name, char *text, size_t length,
                              const char *entry, eg_type real, eg_macros *macros,
                              eg_declaration *out);

#endif
