/* The model `elliptic`: diffusion and reaction in balance with a source. */
#ifndef EG_ELLIPTIC_H
#define EG_ELLIPTIC_H

#include "model/model.h"

extern const eg_model eg_model_elliptic;

#endif
