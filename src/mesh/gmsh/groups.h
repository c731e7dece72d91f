/* The entities of a mesh that is written for Gmsh; private to room `mesh`. */
#ifndef EG_GMSH_GROUPS_H
#define EG_GMSH_GROUPS_H

#include "mesh/gmsh/number.h"

#define EG_GMSH_LINKS_MAX 8

typedef struct eg_gmsh_group {
    int64_t first, count;           /* of `elements`, or of `faces` */
    int64_t node_first, node_count; /* of `nodes` */
    double low[3], high[3];         /* of all nodes there, not only those that it owns */
} eg_gmsh_group;

/* A face group and an element group that it bounds. */
typedef struct eg_gmsh_bound {
    int elements, faces;
} eg_gmsh_bound;

/* The first groups are those of the mesh's elements, or one, the domain, if it has none; then come
 * the boundaries, and then the two sides of each periodic link: the master, then its image. */
typedef struct eg_gmsh_groups {
    const eg_mesh *mesh; /* not owned */
    int element_groups;  /* how many groups hold elements */
    int group_count;
    eg_gmsh_group *groups; /* [group_count]; owned */
    int32_t *elements;     /* [element_count] by group, then ascending by global number; owned */
    int64_t face_count;
    eg_gmsh_face *faces; /* [face_count] by group, then as their elements come; owned */
    int64_t bound_count;
    eg_gmsh_bound *bounds; /* [bound_count] by element group, then by face group; owned */
    int64_t *nodes; /* [nodes of the numbering] by the group that owns them, ascending; owned */
    int link_count;
    double shift[EG_GMSH_LINKS_MAX][3]; /* from master to image */
} eg_gmsh_groups;

#define EG_GMSH_MASTER(groups, link)                                                               \
    ((groups)->element_groups + (groups)->mesh->boundary_count + 2 * (link))

/* Finds the groups of a mesh, its elements taken in the order of `by_global`. Faces that are
 * joined by anything but one of a few translations are of no group, and a warning says so. On
 * failure *groups holds nothing. */
eg_status eg_gmsh_find_groups(const eg_gmsh_numbering *numbering, const int32_t *by_global,
                              eg_gmsh_groups *groups);
void eg_gmsh_groups_free(eg_gmsh_groups *groups);

/* The nodes of a face in Gmsh's order, and of the face that it is joined to in the same order
 * (may be NULL): [EG_GMSH_FACE_NODES_MAX]. Returns how many there are. */
int eg_gmsh_group_face_nodes(const eg_gmsh_numbering *numbering, const eg_gmsh_face *face,
                             int64_t *nodes, int64_t *joined);

#endif
