/* What a Gmsh file says, read and resolved but not yet a mesh; private to room `mesh`.
 *
 * The way of a file: eg_gmsh_open reads its bytes into the tables below and objects to everything
 * that no Gmsh file may say; eg_gmsh_assemble makes a mesh of them and objects to everything that
 * no mesh may be. */
#ifndef EG_GMSH_FILE_H
#define EG_GMSH_FILE_H

#include "mesh/gmsh/nodes.h"
#include "mesh/mesh.h"

/* A physical group that has a name. */
typedef struct eg_gmsh_name {
    int dim, tag;
    char *name; /* owned */
} eg_gmsh_name;

/* A geometric entity. In files of version 2.2 an elementary tag with a set of groups is one. The
 * groups of a part of a partitioned entity are those of its parent; where two parts touch there are
 * entities without groups whose parent has a higher dimension. */
#define EG_GMSH_GROUPS_MAX 64
typedef struct eg_gmsh_entity {
    int dim, tag;
    int parent; /* entity that a partitioned one is part of, -1: none */
    int physical_count;
    int *physical; /* tags of its groups, above 0, none twice, which may have no name; owned */
} eg_gmsh_entity;

/* Elements of one type in one entity, as they stand in the file; in files of version 2.2 all of
 * them, wherever they stand. */
typedef struct eg_gmsh_block {
    int entity; /* -1: of none */
    eg_shape shape;
    int order, np;
    int64_t count;
    int64_t *tag;   /* [count] the file's; owned */
    int32_t *nodes; /* [count][np] numbers of nodes, in Gmsh's order; owned */
    int64_t place;  /* of the first: its line, or its byte in a binary file */
} eg_gmsh_block;

/* A periodic pair of entities of one dimension. Gmsh also writes links of what it has not saved: of
 * these some pairs, or all, are missing. */
typedef struct eg_gmsh_link {
    int dim, entity_tag, master_tag;
    double *affine; /* [16] by rows: master → copy; NULL: not given; owned */
    int64_t count;
    int32_t *pair; /* [count][2] copy's node, master's node; owned */
} eg_gmsh_link;

typedef struct eg_gmsh_file {
    eg_context *ctx; /* not owned */
    char *path;      /* as given, for messages; owned */
    int version;     /* 22 or 41 */
    bool binary, swapped;

    int32_t node_count;
    double *x;         /* [node_count][3]; owned */
    int64_t *node_tag; /* [node_count] the file's, ascending or not, none twice; owned */

    int name_count, entity_count, block_count, link_count;
    eg_gmsh_name *names;
    eg_gmsh_entity *entities;
    eg_gmsh_block *blocks; /* of points nothing is kept */
    eg_gmsh_link *links;
} eg_gmsh_file;

/* Reads a file. Memory is bounded by the file's size, whatever its counts say. Errors name the
 * file, the line (text) or byte (binary), the section and the object. */
eg_status eg_gmsh_open(eg_context *ctx, const char *path, eg_gmsh_file **out);
/* The same of bytes in memory that `name` names. */
eg_status eg_gmsh_open_bytes(eg_context *ctx, const char *name, const char *bytes, size_t length,
                             eg_gmsh_file **out);
void eg_gmsh_close(eg_gmsh_file **file);

/* Makes a whole mesh, connected and in Hilbert order, of what a file says. */
eg_status eg_gmsh_assemble(const eg_gmsh_file *file, const eg_gmsh_options *options, eg_mesh **out);

#endif
