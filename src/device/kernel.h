/* A loaded kernel, as launches see it. */
#ifndef EG_KERNEL_H
#define EG_KERNEL_H

#include "device/source.h"

struct eg_kernel {
    eg_device *device; /* not owned */
    char name[96];     /* of the source file */
    char entry[64];
    eg_parameter parameters[EG_PARAMETERS_MAX];
    size_t parameter_count;
    eg_geometry geometry;
    eg_type real;
    void *function; /* the backend's, owned */
    bool was_cached;
    char kept_as[EG_SHA256_HEX]; /* of its options; "": was not created while kernels are kept */
    eg_kernel *next;             /* in the list of those kept */
};

struct eg_operator {
    eg_buffer *packed; /* owned */
    int rows, cols;
    eg_type type;
};

#endif
