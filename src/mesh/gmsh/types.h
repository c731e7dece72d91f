/* Gmsh's element types by their numbers; private to room `mesh`. */
#ifndef EG_GMSH_TYPES_H
#define EG_GMSH_TYPES_H

#include "mesh/gmsh/nodes.h"

#define EG_GMSH_POINT 15

typedef struct eg_gmsh_type_info {
    int type;
    int dim; /* 0: the point, which has no shape */
    eg_shape shape;
    int order, np;
} eg_gmsh_type_info;

/* False if it is none of those that are read: points, and complete elements of our shapes. */
bool eg_gmsh_find_type(int type, eg_gmsh_type_info *info);

/* What a type is that is not read ("a prism"), and what to do about it; NULL if Gmsh has none of
 * that number. */
const char *eg_gmsh_type_name(int type, const char **advice);

#endif
