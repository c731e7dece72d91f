/* The model `euler`: flow of an ideal gas without viscosity, in the plane. */
#ifndef EG_EULER_H
#define EG_EULER_H

#include "model/model.h"

extern const eg_model eg_model_euler;

#endif
