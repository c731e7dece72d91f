/* The keys of model `elliptic`. */
#ifndef EG_ELLIPTIC_KEYS_H
#define EG_ELLIPTIC_KEYS_H

#include "case/case.h"

extern const eg_key eg_elliptic_keys[]; /* ended by a row without a name */

/* The choices of solver.preconditioner, in their order. */
typedef enum eg_elliptic_preconditioner {
    EG_ELLIPTIC_NONE,
    EG_ELLIPTIC_MASS
} eg_elliptic_preconditioner;

#endif
