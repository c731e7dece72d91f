/* The keys of model `elliptic`. */
#ifndef EG_ELLIPTIC_KEYS_H
#define EG_ELLIPTIC_KEYS_H

#include "case/case.h"

extern const eg_key eg_elliptic_keys[]; /* ended by a row without a name */

#endif
