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

/* Where the time of a device goes: a table of its kernels, from an event before and after each launch.
 *
 *     eg_profile_start(device);
 *     …
 *     eg_profile_stop(device, &profile);
 *
 * Nothing is waited for until the events run out, and then once for thousands of launches: kernels run as they do
 * otherwise, some 2 µs further apart. What two events in a row have between them is taken from each time. */
typedef struct eg_profile_row {
    char entry[136], source[96]; /* of the kernel, or "one + other"; or "copy", "fill" and "" */
    int64_t launches;
    double seconds;
} eg_profile_row;

typedef struct eg_profile {
    eg_profile_row *rows; /* owned; those that took longest first */
    size_t count;
    double seconds; /* of all */
} eg_profile;

/* One at a time. */
eg_status eg_profile_start(eg_device *device);
/* Waits for the device. After a failure, too: then *out is what is known. */
eg_status eg_profile_stop(eg_device *device, eg_profile *out);
void eg_profile_free(eg_context *ctx, eg_profile *profile);

#endif
