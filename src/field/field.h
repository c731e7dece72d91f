/* The door of room `field`: values of polynomials on the elements of a mesh, on a device.
 *
 * A space groups the elements of this rank by shape, degree and geometry, orders them, and lays
 * each group out in tiles of `lanes` elements; a field holds values of `components` fields on it:
 *
 *     group g:  a[offset[g] + ((tile*components + c)*np + i)*lanes + lane]
 *
 * offset[0] is EG_OFFSET_BLOCK, and as many values lie behind the last group: a slack of zeros, as
 * kernels read vectors that begin or end a few lanes outside a row and drop those lanes.
 *
 * Slots number the places of all groups, padding and ghosts included: slot = first_slot +
 * tile*lanes + lane. In each part of a group quadrilaterals and hexahedra stand in rows, each the
 * neighbour of the one before through its first direction, and rows next to rows (rows.c); all else
 * stands in the order of the mesh. A group's tiles are: [0, interior_tiles) touch no other rank;
 * [interior_tiles, own_tiles) do; [own_tiles, tiles) hold ghosts. Interior and boundary elements do
 * not share a tile unless there is one rank only; what is left of a last tile is filled with copies
 * of its last element, which weigh 0.
 *
 * Collective, called by every rank in the same order, are eg_space_create, eg_field_create,
 * eg_field_from_host, eg_halo_create, eg_function_create, _interpolate, _project and _range,
 * eg_measure_create, _norms and _integrals. In all of these ranks agree on whether it has worked:
 * what fails on one rank fails on all, with EG_ERROR_COMM on those where nothing is wrong, and
 * nobody waits in vain. eg_halo_start and eg_halo_wait belong to the time loop: collective, too,
 * but a rank may fail there alone, and then the others must be ended. Everything else is a rank's
 * own affair. */
#ifndef EG_FIELD_H
#define EG_FIELD_H

#include "base/comm.h"
#include "case/case.h"
#include "device/device.h"
#include "element/element.h"
#include "mesh/mesh.h"

/* --- spaces ----------------------------------------------------------------------------------- */

/* Groups start at slots, and in fields at values, that are multiples of these; the second is also
 * the slack at both ends of a field. */
#define EG_SLOT_BLOCK 64
#define EG_OFFSET_BLOCK 128

typedef struct eg_group {
    eg_shape shape;
    int degree;
    bool curved; /* the mapping varies within an element: geometry at points, not per element */
    int lanes;
    const eg_element *element;  /* of shape, degree and the space's basis; the space's */
    const eg_element *geometry; /* EG_BASIS_LOBATTO of the mesh's order; the space's */

    int32_t element_count, ghost_count;
    int64_t interior_tiles, own_tiles, tiles;
    int64_t first_slot;
    int32_t *element_of_slot; /* [tiles*lanes] element of the mesh; padding repeats; owned */

    /* On the device, in tiles. Ghosts have `weight` 0, too. */
    eg_buffer *weight;         /* f64 [tiles][lanes]: 1, padding and ghosts 0 */
    eg_buffer *neighbour;      /* i32 [own_tiles][faces][lanes]: slot; -1 - b: boundary b */
    eg_buffer *neighbour_face; /* u8  [own_tiles][faces][lanes]: its face | orientation << 3 */
    eg_buffer *nodes;          /* f64 [tiles][dim][geometry->np][lanes]: coordinates */
    /* Affine groups; NULL for curved ones, for which eg_metric computes at points. */
    eg_buffer *volume_factors; /* f64 [tiles][1 + dim*dim][lanes]: J, ∂r/∂x ∂r/∂y … ∂s/∂x … */
    eg_buffer *face_factors; /* f64 [own_tiles][faces][dim + 1][lanes]: outward unit normal, sJ =
                                  face measure over that of the face's reference element */
} eg_group;

typedef struct eg_space {
    eg_context *ctx;     /* not owned */
    eg_device *device;   /* not owned */
    eg_comm *comm;       /* not owned */
    const eg_mesh *mesh; /* not owned */
    eg_basis basis;
    int group_count;
    eg_group *groups;         /* owned */
    int64_t slot_count;       /* of all groups, multiple of EG_SLOT_BLOCK */
    int32_t *slot_of_element; /* [elements + ghosts] owned */
    uint8_t *group_of_block;  /* [slot_count / EG_SLOT_BLOCK] owned */
    eg_buffer *block_groups;  /* i32: the same on the device, where bytes cannot be gathered */
    int64_t dof;              /* Σ np over own elements of all ranks */
    double volume;            /* of the domain, by quadrature exact for the mapping */
    eg_element **elements;    /* owned: what groups refer to */
    int element_kinds;
} eg_space;

typedef struct eg_space_options {
    eg_basis basis;
    int degree;             /* of all elements … */
    const uint8_t *degrees; /* … or [elements + ghosts] each its own; not kept */
    int lanes; /* 0: the device's, fewer where a tile of 1 field outgrows shared memory */
    /* Another space on the mesh, from which what the mesh alone determines is taken; NULL: none. */
    const eg_space *like;
} eg_space_options;

eg_status eg_space_create(eg_device *device, eg_comm *comm, const eg_mesh *mesh,
                          const eg_space_options *options, eg_space **out);
void eg_space_destroy(eg_space **space);

/* For who writes kernels on a space. */

/* A buffer on its device with these values. */
eg_status eg_space_upload(const eg_space *space, eg_type type, size_t count, const void *values,
                          eg_buffer **out);
/* The table of pairs that K_LOADPAIRS and its kin want. */
eg_status eg_space_pairs(const eg_space *space, const eg_mirror *mirror, eg_buffer **out);
/* A kernel in f64 for a group: `options` has all but its size, type and lanes. */
eg_status eg_space_kernel(const eg_space *space, const eg_group *group, eg_kernel_options options,
                          eg_kernel **out);
/* The most lanes with which so many rows of K_SHARED fit into a block of the device. */
int eg_device_fit_lanes(const eg_device *device, int64_t rows);

/* Whether fields with so many components in all, those of a stage, are too large to be found in caches by the
 * next, so that it is faster to store past them: stores into them read first what they overwrite. Caches
 * are shared, with other fields and other processes. */
bool eg_space_passes_caches(const eg_space *space, int components);

/* In how many pieces the neighbours of a tile's elements may stand, each in a row of its own within a
 * tile, and what tells so: the lanes in which the second and the third begin (where there is none: the
 * number of lanes), and the place of the first element of each. */
enum { EG_PIECES_MOST = 3, EG_PIECE_VALUES = 2 * EG_PIECES_MOST - 1 };
/* Of neighbours at these places [lanes] of a group; a place < 0 is none. False if they do not stand so. */
bool eg_find_pieces(int lanes, const int64_t *place, int32_t out[EG_PIECE_VALUES]);

/* What a space of a degree on a whole mesh will take, but for what fills up tiles. */
typedef struct eg_space_memory {
    int64_t values; /* of a field with one component */
    int64_t space;  /* bytes of the space, on the host and on the device */
    int64_t field;  /* bytes of such a field of type EG_F64 */
} eg_space_memory;

eg_space_memory eg_space_estimate(const eg_mesh *mesh, int degree);

/* The section [space]: degree and basis ("lobatto", "gauss", …). */
extern const eg_key eg_space_keys[];
eg_status eg_space_options_from_case(const eg_case *cas, const eg_mesh *mesh,
                                     eg_space_options *out);

/* --- geometry at points ----------------------------------------------------------------------- */

/* What the mapping is at points of the reference element, for one group, on the device. Affine
 * groups have everything but coordinates once per element: `points` is 1 for them. Entries that
 * were not asked for are NULL. */
typedef struct eg_metric {
    int points;
    eg_buffer *x; /* [tiles][dim][count][lanes] coordinates (count: as asked, also affine) */
    eg_buffer *factors; /* [tiles][1 + dim*dim][points][lanes] J, ∂r/∂x, ∂r/∂y, …, ∂s/∂x, … */
} eg_metric;

typedef struct eg_face_metric {
    int points;         /* on each face */
    eg_buffer *x;       /* [own_tiles][faces][dim][count][lanes] */
    eg_buffer *factors; /* [own_tiles][faces][dim + 1][points][lanes] outward unit normal, sJ */
} eg_face_metric;

typedef enum eg_metric_parts { EG_METRIC_X = 1, EG_METRIC_FACTORS = 2 } eg_metric_parts;

/* points [dim][count]; face points [dim-1][count] in face coordinates, the same on all faces. A
 * mapping with J ≤ 0 at a point is EG_ERROR_INPUT that names element and place. */
eg_status eg_metric_create(const eg_space *space, int group, int count, const double *points,
                           int parts, eg_metric *out);
void eg_metric_free(eg_metric *metric);
eg_status eg_face_metric_create(const eg_space *space, int group, int count, const double *points,
                                int parts, eg_face_metric *out);
void eg_face_metric_free(eg_face_metric *metric);

/* --- fields ----------------------------------------------------------------------------------- */

typedef struct eg_field {
    eg_space *space; /* not owned */
    eg_type type;    /* EG_F64 or EG_F32 */
    int components;
    size_t *offset;  /* [group_count + 1] where each group starts in `data`; the last: where the
                        slack at the end does; owned */
    eg_buffer *data; /* EG_OFFSET_BLOCK zeros at both ends, and zeros between groups */
    /* i64 [group_count][4]: first_slot, offset, np, lanes; what a kernel needs to find a
     * neighbour. */
    eg_buffer *layout;
} eg_field;

/* eg_field.offset of fields with so many components: [group_count + 1]; the slack before the first
 * group is counted, that behind the last is not. */
void eg_space_offsets(const eg_space *space, int components, size_t *offset);

/* At most 4096 components. */
eg_status eg_field_create(eg_space *space, int components, eg_type type, eg_field **out);
void eg_field_destroy(eg_field **field);

/* Element by element on the host, in the order of the mesh: [own element][component][np]. */
size_t eg_field_host_count(const eg_field *field); /* values of all own elements */
eg_status eg_field_to_host(const eg_field *field, double *values);
/* The same of own elements [first, first + count) alone. */
eg_status eg_field_to_host_part(const eg_field *field, int32_t first, int32_t count,
                                double *values);
/* Fills padding and ghosts, too (ghosts by an exchange). */
eg_status eg_field_from_host(eg_field *field, const double *values);

/* L2 projection onto another space on the same mesh (another degree or basis), on the device: that
 * of the reference element, so on curved elements not weighted by J; exact where the degree does
 * not fall. Ghosts become what those of `from` are. */
eg_status eg_field_transfer(const eg_field *from, eg_field *to);

/* --- traces ----------------------------------------------------------------------------------- */

/* Each value at a point of a face is a sum of `terms` values of an element,
 * weight[k] * value[node[k]]; rows with fewer are filled up with weights of zero. */
typedef struct eg_trace_table {
    int terms;
    eg_buffer *node;   /* i32 [sides][count][terms] which of the element's values */
    eg_buffer *weight; /* f64, the same shape; NULL: every point is a node (one term, weight 1) */
} eg_trace_table;

/* Values on both sides of a face at the same points, for one pair of elements: the points are those
 * of `mine`'s faces if its degree is at least `other`'s, else of the other's. They are numbered in
 * my face's coordinates. What a table reads of an element is on the face in question where its
 * basis has nodes there, so that EG_HALO_TRACES provides it. */
typedef struct eg_trace {
    int count;            /* points per face */
    eg_trace_table other; /* sides: [its faces][orientations], as neighbour_face has them */
    eg_trace_table own;   /* sides: [my faces] */
} eg_trace;

/* The two may differ in shape and degree; their faces have one shape. trace.k.h helps kernels to
 * use the tables. */
eg_status eg_trace_create(eg_device *device, const eg_element *mine, const eg_element *other,
                          eg_trace *out);
void eg_trace_free(eg_trace *trace);

/* --- halo exchange ---------------------------------------------------------------------------- */

typedef enum eg_halo_kind {
    EG_HALO_ELEMENTS, /* all values of the ghosts */
    EG_HALO_TRACES    /* only nodes on the shared faces (bases that have them; else all) */
} eg_halo_kind;

typedef struct eg_halo eg_halo;

/* For fields of this space, number of components and type. */
eg_status eg_halo_create(eg_space *space, int components, eg_type type, eg_halo_kind kind,
                         eg_halo **out);
/* An exchange that is under way is waited for. */
void eg_halo_destroy(eg_halo **halo);

/* Start packs and sends; interior tiles may be worked on meanwhile; wait fills the ghosts. Allocate
 * nothing; on one rank they do nothing. */
eg_status eg_halo_start(eg_halo *halo, const eg_field *field);
eg_status eg_halo_wait(eg_halo *halo, eg_field *field);

/* --- expressions, projection, norms ----------------------------------------------------------- */

/* An expression for each component of a field, compiled for a space's device, at the points it
 * needs: made once, used at any time t. Evaluation is compiled without contraction. */
typedef struct eg_function eg_function;

eg_status eg_function_create(eg_space *space, const eg_expression *const *expressions,
                             int components, eg_function **out);
void eg_function_destroy(eg_function **function);

/* Values at the nodes (modal bases: L2 projection; cells: means, which is the same). Fills ghosts and
 * padding. */
eg_status eg_function_interpolate(eg_function *function, double t, eg_field *field);
/* The L2 projection, exact to rounding for the cubature used (degree 2N + 4 or what there is), also
 * on curved elements. Fills ghosts and padding. */
eg_status eg_function_project(eg_function *function, double t, eg_field *field);
/* The range of each component over the points of that cubature and over nodes that include the corners of
 * elements: least, most [components], the same on all ranks. The mean of the L2 projection on an element
 * is never out of it. */
eg_status eg_function_range(eg_function *function, double t, double *least, double *most);

typedef struct eg_norms {
    double l1, l2, linf; /* by quadrature, exact for the square of a field also on curved elements;
                            linf: over its points and the nodes */
    double nodal_l2; /* sqrt(Σ w_i e_i² / |Ω|): quadrature of the field's own nodes; simplices,
                            equidistant nodes and modal bases: cubature of degree 2N; cells: e_i is the
                            difference of means */
} eg_norms;

/* Norms of field - function (NULL: of the field itself) for each component: out [components]. The
 * same on all ranks. Keeps what it needs for the next call. */
typedef struct eg_measure eg_measure;
eg_status eg_measure_create(eg_space *space, int components, eg_function *function,
                            eg_measure **out);
void eg_measure_destroy(eg_measure **measure);
eg_status eg_measure_norms(eg_measure *measure, double t, const eg_field *field, eg_norms *out);
/* ∫ of each component over the domain: out [components]. */
eg_status eg_measure_integrals(eg_measure *measure, const eg_field *field, double *out);

/* --- what is computed from fields --------------------------------------------------------------- */

#include "field/average.h"  /* means over time */
#include "field/guard.h"    /* solutions that are lost */
#include "field/probe.h"    /* values at points */
#include "field/quantity.h" /* integrals, norms and extremes of expressions */
#include "field/rates.h"    /* the largest of a value that each element has */

#endif
