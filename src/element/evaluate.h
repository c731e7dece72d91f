/* A basis at points, before all matrices of its element exist. */
#ifndef EG_ELEMENT_EVALUATE_H
#define EG_ELEMENT_EVALUATE_H

#include "element/element.h"

/* The element that holds the one-dimensional factors of a tensor element: its line or itself. */
const eg_element *eg_element_factor(const eg_element *element);

/* Orthonormal modes at points [dim][count]: values [count][np], gradient [dim][count][np] (may be
 * NULL). */
void eg_element_modes(const eg_element *element, int count, const double *points, double *values,
                      double *gradient);

/* The dual basis at points: out [np][count] = V Ψᵀ with modes Ψ [count][np], so that ∫ φ_i out_j =
 * φ_i at point j. Needs V. */
eg_status eg_element_dual(const eg_element *element, int count, const double *points, double *out);

#endif
