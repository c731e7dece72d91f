/* Values of fields at points, found once and read on the device. */
#ifndef EG_FIELD_PROBE_H
#define EG_FIELD_PROBE_H

#include "field/field.h"

typedef struct eg_probe eg_probe;

/* Finds the elements of points x [count][dim]: on this rank and, collectively, on all. A point
 * on a face belongs to the element with the lower global number. `lost` [count] (NULL: not
 * wanted) says which lie in no element; without it such a point is EG_ERROR_INPUT that names it
 * and how far the domain is. Points that are out of the domain by rounding (1e-10 of an element)
 * are taken into it. */
eg_status eg_probe_create(eg_space *space, int count, const double *x, bool *lost, eg_probe **out);
void eg_probe_destroy(eg_probe **probe);

/* values [count][components], the same on all ranks; those of lost points are NaN. Any field of the
 * space. */
eg_status eg_probe_read(eg_probe *probe, const eg_field *field, double *values);

/* Where a point lies: global number of its element and coordinates in its reference element;
 * false if it is on another rank or lost. */
bool eg_probe_place(const eg_probe *probe, int point, int64_t *global, double r[3]);

/* --- on the host -------------------------------------------------------------------------------- */

/* The reference coordinates r of a point x in an element whose nodes nodes [np][dim] are those
 * of `geometry` (any Lagrange basis): by Newton's method from the element's centre and, where
 * that fails, from others. True if it converged; r may then lie outside of the element. */
bool eg_map_invert(const eg_element *geometry, const double *nodes, const double *x, double *r);
/* By how much r lies out of the reference element: ≤ 0 inside. */
double eg_shape_outside(eg_shape shape, const double *r);

#endif
