/* The keys of model `euler`. */
#ifndef EG_EULER_KEYS_H
#define EG_EULER_KEYS_H

#include "case/case.h"

extern const eg_key eg_euler_keys[]; /* ended by a row without a name */

/* The names of what a case gives of a state: density, velocity, pressure. */
extern const char *const eg_euler_given_names[4];

#endif
