/* The keys of model `advection`. */
#ifndef EG_ADVECTION_KEYS_H
#define EG_ADVECTION_KEYS_H

#include "case/case.h"

extern const eg_key eg_advection_keys[]; /* ended by a row without a name */

/* The choices of boundary.*.type. */
enum { EG_BOUNDARY_OUTFLOW, EG_BOUNDARY_INFLOW };

#endif
