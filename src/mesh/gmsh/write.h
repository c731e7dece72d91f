/* What the writers of Gmsh files share; private to room `mesh`. */
#ifndef EG_GMSH_WRITE_H
#define EG_GMSH_WRITE_H

#include "mesh/gmsh/groups.h"
#include "mesh/gmsh/put.h"

/* Elements or faces of a group that have one shape. */
typedef struct eg_gmsh_members {
    int group;
    eg_shape shape;
    int64_t count;
} eg_gmsh_members;

/* A mesh on its way into a file. */
typedef struct eg_gmsh_writer {
    const eg_mesh *mesh; /* not owned */
    int32_t *by_global;  /* [element_count] elements in the order of their numbers; owned */
    eg_gmsh_numbering nodes;
    eg_gmsh_groups groups;
    int block_count;
    eg_gmsh_members *blocks; /* [block_count] by group, then by shape; owned */
    eg_gmsh_output out;
} eg_gmsh_writer;

/* The dimension of a group's entity. Entity and physical group of group g have the tag g + 1. */
int eg_gmsh_group_dim(const eg_gmsh_writer *w, int group);

/* Three coordinates; z is zero in the plane. */
void eg_gmsh_put_point(eg_gmsh_output *out, int dim, const double *x);

/* Passes over the members of a block, in the order of their tags: the next one's tag and nodes in
 * Gmsh's order. */
typedef struct eg_gmsh_cursor {
    int64_t next; /* in the group; begin with 0 */
    int64_t tag;
    int node_count;
    const int64_t *nodes; /* [node_count] counted from 0; borrowed until the next call */
    int64_t face[EG_GMSH_FACE_NODES_MAX];
} eg_gmsh_cursor;

bool eg_gmsh_next(const eg_gmsh_writer *w, const eg_gmsh_members *block, eg_gmsh_cursor *cursor);

/* The sections between $PhysicalNames and $Periodic, in each of the versions. */
void eg_gmsh_write_22(eg_gmsh_writer *w);
void eg_gmsh_write_41(eg_gmsh_writer *w);

#endif
