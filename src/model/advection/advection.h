/* The model `advection`: tracers carried by a given velocity, the degree chosen per element. */
#ifndef EG_ADVECTION_H
#define EG_ADVECTION_H

#include "model/model.h"

extern const eg_model eg_model_advection;

#endif
