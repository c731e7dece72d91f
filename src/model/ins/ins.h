/* The model `ins`: incompressible flow with viscosity. */
#ifndef EG_INS_H
#define EG_INS_H

#include "model/model.h"

extern const eg_model eg_model_ins;

#endif
