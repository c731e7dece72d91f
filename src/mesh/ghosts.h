/* Values of ghosts: those that their owners have, for arrays on the host. (Fields have their halo,
 * field/field.h.) */
#ifndef EG_MESH_GHOSTS_H
#define EG_MESH_GHOSTS_H

#include "mesh/mesh.h"

typedef struct eg_mesh_ghosts eg_mesh_ghosts;

/* For values [elements + ghosts], each of so many bytes; the mesh and the values must outlive it.
 * Collective. */
eg_status eg_mesh_ghosts_create(const eg_mesh *mesh, eg_comm *comm, size_t bytes, void *values,
                                eg_mesh_ghosts **out);
void eg_mesh_ghosts_destroy(eg_mesh_ghosts **ghosts);

/* The values of ghosts become those of the elements on the ranks that own them. Collective. */
eg_status eg_mesh_ghosts_fill(eg_mesh_ghosts *ghosts);

#endif
