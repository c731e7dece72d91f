/* Colours of elements, such that one product of the operator tells the columns of all elements of a
 * colour. */
#ifndef EG_ELLIPTIC_COLOURS_H
#define EG_ELLIPTIC_COLOURS_H

#include "mesh/mesh.h"

/* Elements that are at most `distance` (1 or 2) faces apart get different colours 0 … *count - 1:
 * colour [elements + ghosts]. With distance 1 the elements of a colour do not touch, and a product
 * with values on them gives their diagonal blocks; with distance 2 no element touches two of
 * them, and it gives their columns. The same colours for any number of ranks. Collective; ranks
 * agree on whether it has worked. */
eg_status eg_colour_elements(const eg_mesh *mesh, eg_comm *comm, int distance, uint8_t *colour,
                             int *count);

#endif
