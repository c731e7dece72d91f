/* The door of room `mesh`: generators, connectivity, periodicity, ordering, partition.
 *
 * The way of a mesh: a generator (or a reader) makes a whole mesh, connected and in Hilbert order;
 * eg_mesh_partition says which rank owns what; eg_mesh_distribute cuts out this rank's part with
 * the elements of other ranks that touch its faces (ghosts). One rank uses the whole mesh as it
 * is. */
#ifndef EG_MESH_H
#define EG_MESH_H

#include "base/comm.h"
#include "case/case.h"
#include "element/element.h"

/* Which elements of this rank a neighbouring rank needs, and which of its own come back. */
typedef struct eg_mesh_link {
    int rank;
    int32_t send_count;
    int32_t *send;         /* [send_count] own elements, ascending by global number; owned */
    int32_t receive_first; /* element number of the first ghost that this rank sends */
    int32_t receive_count; /* ghosts of a link are consecutive, ascending by global number */
} eg_mesh_link;

/* A mesh of this rank. Own elements are [0, element_count), ghosts [element_count, element_count +
 * ghost_count). Of own elements the first interior_count touch no ghost; each of the two parts is
 * in Hilbert order. Arrays over elements have a constant stride, the largest of the shapes
 * present. */
typedef struct eg_mesh {
    eg_context *ctx; /* not owned */
    int dim;         /* 2 or 3 */

    int64_t vertex_count;
    double *x; /* [vertex_count][dim] */

    int32_t element_count, ghost_count, interior_count;
    int64_t global_count; /* elements on all ranks */
    int vertex_stride, face_stride;
    uint8_t *shape;          /* [elements + ghosts] eg_shape */
    int64_t *global;         /* [elements + ghosts] the number that generator or file gave it */
    int32_t *vertices;       /* [elements + ghosts][vertex_stride] in the shape's order */
    int32_t *neighbour;      /* [elements][face_stride] element or ghost; -1 - b: boundary b */
    uint8_t *neighbour_face; /* [elements][face_stride] its face | orientation << 3; boundary: 0 */

    int order;       /* degree of the elements' mapping */
    int node_stride; /* nodes of an element of that degree, the largest of the shapes present */
    double *nodes; /* [elements + ghosts][node_stride][dim] at the EG_BASIS_LOBATTO nodes of degree
                        `order`; NULL: straight, given by the vertices (order is 1) */
    double *reference[EG_SHAPE_COUNT]; /* [dim][nodes] those nodes in the reference element, of the
                                          shapes present; NULL: straight; owned */

    int boundary_count;
    char **boundary; /* [boundary_count] names */

    int group_count;   /* of elements, none of them empty in a whole mesh; 0: they have no groups */
    char **group;      /* [group_count] names */
    int32_t *group_of; /* [elements + ghosts] the group of each; NULL: they have none */

    int link_count;
    eg_mesh_link *links; /* ascending by rank */
} eg_mesh;

#define EG_FACE(byte) ((byte)&7)
#define EG_ORIENTATION(byte) ((byte) >> 3)
#define EG_FACE_BYTES 64 /* as many values a neighbour_face byte takes */

void eg_mesh_destroy(eg_mesh **mesh);

/* --- generators ------------------------------------------------------------------------------- */

/* Moves points: X [count][dim] → x [count][dim]. */
typedef eg_status eg_mesh_map(void *user, size_t count, const double *X, double *x);

/* A box of cells[0] × cells[1] (× cells[2]) quadrilaterals or hexahedra, or each of them cut into
 * two triangles or six tetrahedra. Zero means the default. */
typedef struct eg_box_options {
    eg_shape shape;
    int cells[3];
    double low[3], high[3]; /* both zero: [0, 1] */
    double grading[3];      /* size of the last cell over that of the first; 0: 1 */
    bool periodic[3];
    double perturb; /* interior vertices are moved at random by up to this part of a cell, < 0.5 */
    uint64_t seed;  /* of the perturbation: the same on every machine */
    int order;      /* degree of the elements' mapping; 0: 1 */
    eg_mesh_map *map; /* applied to every node of that degree; NULL: none */
    void *map_user;   /* not owned */
} eg_box_options;

/* Boundaries are called left, right (x), bottom, top (y), back, front (z); periodic ones are none.
 * Elements that the options make inside out are an error that names one and where it lies. */
eg_status eg_mesh_create_box(eg_context *ctx, const eg_box_options *options, eg_mesh **out);

/* Makes the mesh that a case's [mesh] asks for; eg_mesh_keys describes that section. The choices of
 * its key `partition` are those of eg_partitioner, in their order. */
eg_status eg_mesh_create(eg_context *ctx, const eg_case *cas, eg_mesh **out);
/* The same; what was done to a file is added to `report`, as eg_gmsh_options says. */
eg_status eg_mesh_create_report(eg_context *ctx, const eg_case *cas, eg_text *report,
                                eg_mesh **out);
extern const eg_key eg_mesh_keys[]; /* ended by a row without a name */
/* Fails at keys of [mesh] that do not go together. */
eg_status eg_mesh_check_case(const eg_case *cas);
/* The shape of a box's elements, before there is a mesh; nothing is known of those of mesh.file. */
eg_shape eg_mesh_case_shape(const eg_case *cas);

/* --- from mesh to mesh ------------------------------------------------------------------------ */

/* Cuts every element of a whole mesh into 4 (two dimensions) or 8 of its shape, curved ones without
 * a change of geometry. Boundaries, periods and groups stay; child k of the element with global
 * number g has g * 4 + k or g * 8 + k. The result is in Hilbert order. */
eg_status eg_mesh_refine(const eg_mesh *whole, eg_mesh **out);
/* Fails if a mesh that is refined so often has more elements than can be numbered, or does not fit
 * into this machine's memory. */
eg_status eg_mesh_check_refine(const eg_mesh *whole, int times);

/* The same elements with mappings of another degree: a higher one changes no geometry, a lower one
 * keeps it at the nodes of that degree and at all vertices. An element that becomes invalid by it
 * is an error. */
eg_status eg_mesh_set_order(const eg_mesh *whole, int order, eg_mesh **out);

/* --- steps of a generator or reader ----------------------------------------------------------- */
/* After a failure the mesh can only be destroyed. */

/* Fills neighbour and neighbour_face from the vertices, in linear time; faces without a neighbour
 * become boundary number 0 … as `face_boundary` [elements][face_stride] says (NULL: all 0). Three
 * elements at a face are an error. */
eg_status eg_mesh_connect(eg_mesh *mesh, const int32_t *face_boundary);

/* Joins the faces of boundary a to those of boundary b, which lie `shift` [dim] further; both
 * boundaries then have no faces (names stay until eg_mesh_drop_empty_boundaries). */
eg_status eg_mesh_join_periodic(eg_mesh *mesh, int a, int b, const double *shift);
eg_status eg_mesh_drop_empty_boundaries(eg_mesh *mesh);

/* Renumbers elements along a Hilbert curve through their centres, and vertices as elements use
 * them; vertices that no element uses are dropped. */
eg_status eg_mesh_order(eg_mesh *mesh);

/* --- parallel --------------------------------------------------------------------------------- */

typedef enum eg_partitioner {
    EG_PARTITION_DEFAULT, /* METIS where it is built in, else Hilbert */
    EG_PARTITION_METIS,   /* few cut faces, contiguous parts unless they are tiny */
    EG_PARTITION_HILBERT  /* equal pieces of the Hilbert curve */
} eg_partitioner;

/* part [element_count] of a whole mesh: 0 … parts - 1, none empty. The result depends on the mesh
 * alone. More parts than elements are an error. */
eg_status eg_mesh_partition(const eg_mesh *mesh, int parts, eg_partitioner partitioner,
                            int32_t *part);

/* This rank's part of a whole mesh that all ranks have. Every rank fails if they do not have the
 * same mesh, divided alike, to the last bit. */
eg_status eg_mesh_distribute(const eg_mesh *whole, eg_comm *comm, const int32_t *part,
                             eg_mesh **out);

/* --- files ------------------------------------------------------------------------------------ */

/* What a Gmsh file is like. Zero means the default. */
typedef struct eg_gmsh_format {
    int version;  /* 22 or 41; 0: 41 */
    bool binary;  /* else text, with so many digits that coordinates come back to the last bit */
    bool swapped; /* binary: as machines with the other order of bytes have it */
} eg_gmsh_format;

/* Writes a whole mesh as a Gmsh file, replacing what is there at once or not at all; format NULL:
 * 4.1, text. Physical groups are those of elements, or else "domain", the boundaries by their
 * names, and "periodic_1" with its copy "periodic_1_image" and so on, which $Periodic pairs; no
 * boundary may have such a name. The tag of an element is its global number + 1; elements stand in
 * that order, one group and in it one shape after the other, curved ones as Gmsh's elements of the
 * same order. */
eg_status eg_mesh_write_gmsh(const eg_mesh *mesh, const char *path, const eg_gmsh_format *format);

/* Two boundaries of a file that a case joins: the second lies a constant shift from the first. */
typedef struct eg_periodic_names {
    const char *first, *second; /* not owned */
} eg_periodic_names;

/* What is wrong with elements of a file that is read nevertheless. */
typedef struct eg_mesh_faults {
    char *why; /* the message that refuses the file; NULL: nothing is wrong; owned */
    bool *bad; /* [element_count] by global number: elements that are tangled or flat, inside out
                  among others, or upon another; NULL if nothing is wrong; owned */
} eg_mesh_faults;

void eg_mesh_faults_free(eg_context *ctx, eg_mesh_faults *faults);

/* How a file becomes a mesh. Zero means the default. */
typedef struct eg_gmsh_options {
    bool merge_nodes;              /* nodes at one place become one */
    const eg_periodic_names *join; /* [join_count] beside what the file's $Periodic says */
    size_t join_count;
    size_t *join_failed; /* set to the pair that could not be joined if that is the error; NULL: not
                            wanted */
    eg_text *report;     /* what was done to it is added, a line each: elements turned over, nodes
                        merged; NULL: the context's log has it, repairs as warnings */
    eg_mesh_faults *faults; /* elements that are not valid make no error but are told here, for
                               looking at the mesh alone; NULL: they are an error */
} eg_gmsh_options;

/* Reads a Gmsh file (MSH 2.2 or 4.1, text or binary): a whole mesh, connected and in Hilbert order,
 * or an error that names the element, where it lies and its group. Elements are numbered (`global`)
 * as their tags in the file ascend. */
eg_status eg_mesh_read_gmsh(eg_context *ctx, const char *path, const eg_gmsh_options *options,
                            eg_mesh **out);

/* --- questions -------------------------------------------------------------------------------- */

/* The number of a boundary, -1 if the mesh has none of that name. */
int eg_mesh_find_boundary(const eg_mesh *mesh, const char *name);

/* The coordinates of an element's nodes of degree max(order, 1) in the basis EG_BASIS_LOBATTO:
 * x [nodes][dim]; returns their number. Straight elements are mapped (multi)linearly. */
int eg_mesh_element_nodes(const eg_mesh *mesh, int32_t element, double *x);

/* True if the mapping of the element is affine to rounding: to a few 1e-13 of its least height, or a
 * few units in the last place of its coordinates. */
bool eg_mesh_is_affine(const eg_mesh *mesh, int32_t element);

/* The degree of the determinant of a Jacobian (tensor shapes: in each coordinate), for mappings of
 * degree `order`. */
int eg_mesh_jacobian_degree(eg_shape shape, int order);

typedef struct eg_mesh_summary {
    int64_t elements[EG_SHAPE_COUNT];         /* by shape, own ones */
    int64_t faces, boundary_faces, cut_faces; /* of own elements; a cut face counts on both ranks */
    int64_t periodic_faces;                   /* joined to one elsewhere; both sides count */
    int64_t *boundary_face_count;             /* [boundary_count] owned */
    int64_t *group_element_count;             /* [group_count] own ones; owned */
    double *group_volume;                     /* [group_count] owned */
    double low[3], high[3];
    double volume;
    double size_least, size_most;       /* of elements: volume^(1/dim) */
    double quality_least, quality_mean; /* 1: equilateral; mean ratio at the vertices, and at most
                                           the least Jacobian over the mean one */
    int64_t quality_histogram[10];
    int64_t bytes; /* of the mesh in memory */
} eg_mesh_summary;

eg_status eg_mesh_summarise(const eg_mesh *mesh, eg_mesh_summary *out);
void eg_mesh_summary_free(eg_context *ctx, eg_mesh_summary *summary);

#endif
