/* Which element of this rank a point lies in. */
#ifndef EG_FIELD_LOCATE_H
#define EG_FIELD_LOCATE_H

#include "field/field.h"

/* eg_map_invert from a guess (NULL: the centre) first; `thorough`: a root outside of the element
 * counts only if many more starts find none inside. */
bool eg_map_search(const eg_element *geometry, const double *nodes, const double *x,
                   const double *guess, bool thorough, double *r);

typedef struct eg_locator eg_locator;

/* For the own elements of a mesh, which must outlive it. */
eg_status eg_locator_create(const eg_mesh *mesh, eg_locator **out);
void eg_locator_destroy(eg_locator **locator);

/* The element that holds x [dim], of several the one with the lowest global number, and its
 * place r [dim] in the reference element, which may be out of it by rounding; -1: there is none.
 * Allocates nothing. */
int32_t eg_locator_find(const eg_locator *locator, const double *x, double *r);

/* How far x [dim] is from the nearest element: to a few digits, for messages. */
double eg_locator_distance(const eg_locator *locator, const double *x);

#endif
