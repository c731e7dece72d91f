/* What the files that read Gmsh's sections share; private to room `mesh`. */
#ifndef EG_GMSH_READER_H
#define EG_GMSH_READER_H

#include "mesh/gmsh/file.h"
#include "mesh/gmsh/stream.h"
#include "mesh/gmsh/tags.h"
#include "mesh/gmsh/types.h"

#define EG_GMSH_DIM_MAX 3

/* Sections, for `seen`. */
enum {
    EG_GMSH_FORMAT = 1,
    EG_GMSH_NAMES = 2,
    EG_GMSH_ENTITIES = 4,
    EG_GMSH_PARTITIONED = 8,
    EG_GMSH_NODES = 16,
    EG_GMSH_ELEMENTS = 32,
    EG_GMSH_PERIODIC = 64
};

/* An element of which nothing but its tag is kept: a point, or one that was read before. */
typedef struct eg_gmsh_dropped {
    int64_t tag, place;
} eg_gmsh_dropped;

typedef struct eg_gmsh_reader {
    eg_gmsh_stream in;
    eg_gmsh_file *file;   /* what is read; owned until all is */
    eg_gmsh_index nodes;  /* by tag, once $Nodes is read */
    eg_gmsh_table names;  /* by dimension and tag */
    eg_gmsh_table blocks; /* 2.2: by entity and type */
    /* By dimension, tag and whether it is partitioned; 2.2: by dimension, elementary and physical
     * tag, or by 4 + entity and one more physical tag. */
    eg_gmsh_table entities;
    eg_gmsh_dropped *dropped; /* [dropped_count] owned */
    int dropped_count;
    int name_capacity, entity_capacity, block_capacity, link_capacity, dropped_capacity;
    char link_name[EG_GMSH_OBJECT_BYTES]; /* "curve 2 and its master curve", for messages */
    unsigned seen;                        /* sections, a bit each */
    int64_t section_place;                /* where the section begins that is read */
} eg_gmsh_reader;

/* --- reader.c: values, and tables that grow --------------------------------------------------- */

/* "point", "curve", … */
const char *eg_gmsh_entity_name(int dim);

/* A dimension of 0 to 3, and a tag > 0 of a node or an element. `what` names it. */
eg_status eg_gmsh_read_dim(eg_gmsh_reader *r, const char *what, int *dim);
eg_status eg_gmsh_read_tag(eg_gmsh_reader *r, const char *what, int64_t *tag);
/* The numbers of the next `count` nodes, of which all must be there. */
eg_status eg_gmsh_read_nodes(eg_gmsh_reader *r, int count, int32_t *numbers);
/* The type of elements; fails at those that are not read, with what to do. */
eg_status eg_gmsh_read_type(eg_gmsh_reader *r, eg_gmsh_type_info *info);

/* Room for that many nodes, of at least so many bytes each, and what follows when all are read. */
eg_status eg_gmsh_begin_nodes(eg_gmsh_reader *r, int64_t count, int64_t least_bytes);
eg_status eg_gmsh_end_nodes(eg_gmsh_reader *r);
/* The coordinates of node number `node`. */
eg_status eg_gmsh_read_point(eg_gmsh_reader *r, int32_t node);

/* Fails if so many elements cannot follow, and if a tag was given twice. */
eg_status eg_gmsh_begin_elements(eg_gmsh_reader *r, int64_t count, int64_t least_bytes);
eg_status eg_gmsh_end_elements(eg_gmsh_reader *r);

/* Remembers an element that is not kept. */
eg_status eg_gmsh_drop_element(eg_gmsh_reader *r, int64_t tag, int64_t place);

/* New rows of the file's tables, zeroed but for what is given. */
eg_status eg_gmsh_add_name(eg_gmsh_reader *r, int dim, int tag, const char *name);
eg_status eg_gmsh_add_entity(eg_gmsh_reader *r, int dim, int tag, eg_gmsh_key3 key, int *entity);
eg_status eg_gmsh_add_block(eg_gmsh_reader *r, int entity, const eg_gmsh_type_info *info,
                            eg_gmsh_block **block);
/* Adds a group to an entity; the sign of a tag, which tells the orientation, is dropped. */
eg_status eg_gmsh_add_physical(eg_gmsh_reader *r, int entity, int tag);
eg_status eg_gmsh_copy_groups(eg_gmsh_reader *r, int from, int to);

/* Makes room for one more row of a table. */
eg_status eg_gmsh_grow(eg_context *ctx, int count, int *capacity, size_t size, void **rows);

/* --- open_22.c, open_41.c, links.c: sections, without their first and last line --------------- */

eg_status eg_gmsh_read_nodes_22(eg_gmsh_reader *r);
eg_status eg_gmsh_read_parametric_nodes_22(eg_gmsh_reader *r);
eg_status eg_gmsh_read_elements_22(eg_gmsh_reader *r);

eg_status eg_gmsh_read_entities_41(eg_gmsh_reader *r);
eg_status eg_gmsh_read_partitioned_entities_41(eg_gmsh_reader *r);
eg_status eg_gmsh_read_nodes_41(eg_gmsh_reader *r);
eg_status eg_gmsh_read_elements_41(eg_gmsh_reader *r);

eg_status eg_gmsh_read_periodic(eg_gmsh_reader *r);

#endif
