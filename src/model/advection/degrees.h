/* The degree of each element as a case gives it. */
#ifndef EG_ADVECTION_DEGREES_H
#define EG_ADVECTION_DEGREES_H

#include "case/case.h"
#include "mesh/mesh.h"

/* Judges what needs no mesh: that degrees are given in one way only. */
eg_status eg_degrees_check(const eg_case *cas);

/* Judges what only the mesh tells: the list itself, and degrees with which mass would be lost. `mesh` may
 * be a part. */
eg_status eg_degrees_check_mesh(const eg_case *cas, const eg_mesh *mesh);

/* The degree of every element and ghost [elements + ghosts], from advection.degree or
 * advection.degree_file, none above `most`. NULL if neither is given. The caller's, released by
 * eg_release. */
eg_status eg_degrees_from_case(const eg_case *cas, const eg_mesh *mesh, int most, uint8_t **out);

#endif
