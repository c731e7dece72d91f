/* eagre: high-order discontinuous Galerkin flow simulation on CPUs and GPUs. */
#ifndef EAGRE_EAGRE_H
#define EAGRE_EAGRE_H

#include "eagre/base.h"
#include "eagre/device.h"

#endif
