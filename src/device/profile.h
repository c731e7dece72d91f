/* What launches, copies and fills tell who profiles the device: see device.h. */
#ifndef EG_PROFILE_H
#define EG_PROFILE_H

#include "device/device.h"

/* Between both something is queued. Nothing is done where nobody asked. */
eg_status eg_profile_before(eg_device *device);
eg_status eg_profile_after(eg_device *device, const char *entry, const char *source);

#endif
