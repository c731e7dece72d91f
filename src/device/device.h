/* The door of room `device`: the public interface and what only other rooms and the tests use. */
#ifndef EG_DEVICE_H
#define EG_DEVICE_H

#include "base/base.h"
#include "eagre/device.h"

/* The names of all embedded kernel sources, "room/name.k.c", sorted; NULL-terminated. */
const char *const *eg_kernel_source_names(void);

/* How many kernels this process has compiled (rather than taken from the cache). */
int eg_kernel_compilations(void);

/* From here on kernels that are destroyed stay loaded, and serve those who next create one with the same
 * options: who makes the same kernels again and again asks for it (true), and says when it is over
 * (false). The last to do so unloads them; all do before the device is closed. */
void eg_device_keep_kernels(eg_device *device, bool keep);

/* The lanes of a space whose kernels are chains on a GPU are a multiple of this: tensor cores need it. */
#define EG_CHAIN_LANES 16

/* Copies bytes device to device with the vendor's own routine, for the ceilings of `bench`. */
size_t eg_buffer_bytes(const eg_buffer *buffer);

/* Of all buffers of a device that there are at the moment. */
size_t eg_device_buffer_bytes(const eg_device *device);

#endif
