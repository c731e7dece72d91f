/* The keys of model `ins`. */
#ifndef EG_INS_KEYS_H
#define EG_INS_KEYS_H

#include "case/case.h"

extern const eg_key eg_ins_keys[]; /* ended by a row without a name */

/* The choices of ins.advection and of ins.start, in their order. */
typedef enum eg_ins_advection { EG_INS_CUBATURE, EG_INS_COLLOCATION } eg_ins_advection;
typedef enum eg_ins_start { EG_INS_LOWER, EG_INS_EXACT } eg_ins_start;
typedef enum eg_ins_velocity { EG_INS_VELOCITY_MASS, EG_INS_VELOCITY_BLOCKS } eg_ins_velocity;

#endif
