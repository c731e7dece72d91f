/* What the steps from a Gmsh file to a mesh share; private to room `mesh`.
 *
 * Until eg_mesh_order the mesh's elements stand in the order of the file, and their global numbers
 * are the file's tags, which messages then name. */
#ifndef EG_GMSH_ASSEMBLE_H
#define EG_GMSH_ASSEMBLE_H

#include "mesh/build.h"
#include "mesh/gmsh/file.h"

/* An element of the file that is a face of the mesh's elements. */
typedef struct eg_face_element {
    int32_t vertex[EG_MAX_FACE_VERTICES]; /* of the mesh, ascending; beyond the last: -1 */
    int32_t block, place;                 /* in the file's blocks */
    int32_t boundary, other;              /* its groups, -1: none */
    int32_t matches;                      /* faces of elements that it is */
    uint32_t slot;                        /* the last of them: element*face_stride + face */
} eg_face_element;

/* The physical groups of one dimension by their names: groups of one name are one. */
typedef struct eg_named_groups {
    eg_context *ctx; /* not owned */
    int most;        /* of the groups of an entity only the first ones count */
    int tag_count;
    int *tag;        /* [tag_count] ascending; owned */
    int32_t *number; /* [tag_count] of its name; owned */
    int count;
    char **name; /* [count] owned */
} eg_named_groups;

typedef struct eg_assembly {
    eg_context *ctx;          /* not owned */
    const eg_gmsh_file *file; /* not owned */
    eg_gmsh_options options;
    int dim, order; /* of the elements */

    double size, reach; /* diagonal of the box around the nodes in use, the largest coordinate */
    double axis[3][3];  /* the mesh's axes in the file's coordinates */
    int32_t *merged;    /* [node_count] the node that each became, NULL: itself; owned */
    int32_t *vertex;    /* [node_count] the mesh's vertex at each node, or one of these; owned */
#define EG_NODE_UNUSED (-1)
#define EG_NODE_USED (-2) /* by elements, but not as a vertex */

    eg_named_groups groups; /* of elements; none: they have no groups */
    int32_t no_group;       /* the number of those that are in none */

    eg_mesh *mesh; /* owned */
    bool *bad;     /* [element_count] elements that are not valid; NULL: they are refused; owned */

    int named;              /* boundaries 0 … named - 1 are groups; `named` is all other faces */
    int32_t face_count;     /* elements of the file that may be faces */
    eg_face_element *faces; /* [face_count] owned */
    int32_t *face_table;    /* [face_mask + 1] by their vertices, -1: none; owned */
    uint64_t face_mask;
} eg_assembly;

/* --- assemble.c ------------------------------------------------------------------------------- */

/* Tells the caller what was done to the file's mesh: a line of the report, or of the log. */
eg_status eg_assembly_say(const eg_assembly *a, eg_log_level level, const char *format, ...)
    EG_PRINTF(3, 4);

/* Fails with EG_ERROR_INPUT; the message starts with the element, its group and its centre. */
eg_status eg_assembly_refuse(const eg_assembly *a, int32_t element, const char *format, ...)
    EG_PRINTF(3, 4);

/* Takes the status of a check of elements, which has marked those it objects to in a->bad. Where
 * they are not to be refused it is EG_OK, and its message is kept if it is the first. */
eg_status eg_assembly_excuse(const eg_assembly *a, eg_status status);
/* Takes the status of another check: what it objects to may follow from such elements, if there are
 * some. */
eg_status eg_assembly_overlook(const eg_assembly *a, eg_status status);

static inline int32_t eg_assembly_node(const eg_assembly *a, int32_t node)
{
    return a->merged ? a->merged[node] : node;
}

/* Points within this distance are at one place. Those that are meant to be one differ by rounding,
 * some of it in transformations of the geometry. */
static inline double eg_assembly_same_place(const eg_assembly *a)
{
    return 1e-10 * a->size + EG_ROUNDING * a->reach;
}

/* True if a block holds elements of the mesh, or faces of them. */
static inline bool eg_assembly_fills(const eg_assembly *a, const eg_gmsh_block *block)
{
    return block->count > 0 && eg_shape_get_info(block->shape)->dim == a->dim;
}
static inline bool eg_assembly_bounds(const eg_assembly *a, const eg_gmsh_block *block)
{
    return block->count > 0 && eg_shape_get_info(block->shape)->dim == a->dim - 1;
}

/* --- assemble_place.c ------------------------------------------------------------------------- */

/* Finds size and axes, merges nodes if that is asked for, numbers vertices. */
eg_status eg_assembly_place(eg_assembly *a, int32_t *vertex_count);

/* A node in the mesh's coordinates: x [dim]. */
void eg_assembly_coordinates(const eg_assembly *a, int32_t node, double *x);

/* --- assemble_curved.c ------------------------------------------------------------------------ */

/* The nodes of elements of degree above 1. */
eg_status eg_assembly_curve(eg_assembly *a);

/* Turns elements over that are inside out; objects to those that are tangled or flat. */
eg_status eg_assembly_orient(eg_assembly *a);

/* --- assemble_groups.c ------------------------------------------------------------------------ */

/* Finds the groups of the blocks whose elements have a dimension; names ascend. Groups without a
 * name have one made of `kind` and their tag: "boundary_17". On failure they can be freed, too. */
eg_status eg_named_groups_create(const eg_assembly *a, int dim, int most, const char *kind,
                                 eg_named_groups *groups);
void eg_named_groups_free(eg_named_groups *groups);

/* The groups that a block's elements are in, each once: numbers [most]. Returns how many. */
int eg_named_groups_of(const eg_named_groups *groups, const eg_gmsh_file *file,
                       const eg_gmsh_block *block, int32_t *numbers);

/* Finds the groups of elements, and says what becomes of those in several and in none. */
eg_status eg_assembly_find_groups(eg_assembly *a);
/* The group of a block's elements, if they have groups. */
int32_t eg_assembly_group_of(const eg_assembly *a, const eg_gmsh_block *block);

/* --- assemble_faces.c ------------------------------------------------------------------------- */

/* One more name; there is room for those of the groups of faces and two for each period. */
#define EG_PERIODS_MAX 32
eg_status eg_assembly_add_boundary(eg_assembly *a, const char *name);

/* Finds the groups that bound the mesh and connects its elements. */
eg_status eg_assembly_connect(eg_assembly *a);

/* --- assemble_fold.c -------------------------------------------------------------------------- */

/* Objects to elements that lie on the same side of their common face. */
eg_status eg_assembly_check_sides(const eg_assembly *a);

/* --- assemble_periodic.c ---------------------------------------------------------------------- */

/* Joins what the file's $Periodic and the options' names say. */
eg_status eg_assembly_join(eg_assembly *a);

/* --- assemble_unnamed.c ----------------------------------------------------------------------- */

/* Objects to faces of the boundary that are in no group. Where the file has no such groups at all
 * they become one boundary. */
eg_status eg_assembly_check_unnamed(eg_assembly *a);

/* --- assemble_slits.c ------------------------------------------------------------------------- */

/* Says where faces of the boundary lie upon each other: a slit, or nodes that should be one. */
eg_status eg_assembly_find_slits(const eg_assembly *a);

#endif
