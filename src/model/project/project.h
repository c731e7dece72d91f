/* The model `project`: the functions of [initial] in the polynomials of a mesh. */
#ifndef EG_PROJECT_H
#define EG_PROJECT_H

#include "model/model.h"

extern const eg_model eg_model_project;

#endif
