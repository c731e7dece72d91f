/* What the files of room `mesh` share; private to it. */
#ifndef EG_MESH_BUILD_H
#define EG_MESH_BUILD_H

#include "mesh/mesh.h"

#include <float.h>

/* --- mesh.c ----------------------------------------------------------------------------------- */

/* A mesh with zeroed arrays of the sizes that `sizes` says: its ctx, dim, counts and strides, order
 * and node_stride (an order above 1 has nodes), and whether it has groups. It has no names yet. */
eg_status eg_mesh_allocate(const eg_mesh *sizes, eg_mesh **out);
eg_status eg_mesh_copy_boundaries(eg_mesh *mesh, int count, const char *const *names);
eg_status eg_mesh_copy_groups(eg_mesh *mesh, int count, const char *const *names);
/* Gives a mesh that was allocated with another's sizes the names of its boundaries and groups. */
eg_status eg_mesh_copy_names(const eg_mesh *from, eg_mesh *mesh);

/* What eg_mesh_allocate takes for `sizes`. */
size_t eg_mesh_bytes(const eg_mesh *sizes);

/* The memory of this machine in bytes; INFINITY if it does not say. */
double eg_mesh_physical_memory(void);

/* The shapes of own elements, and the highest degree that a shape's mapping may have. */
void eg_mesh_shapes_present(const eg_mesh *mesh, bool present[EG_SHAPE_COUNT]);
int eg_mesh_order_max(eg_shape shape);

/* The mean of a face's vertices, and of an element's. */
void eg_mesh_face_centre(const eg_mesh *mesh, int32_t element, int face, double centre[3]);
void eg_mesh_element_centre(const eg_mesh *mesh, int32_t element, double centre[3]);

/* What coordinates are rounded to, as a part of the largest: a few steps of arithmetic. */
#define EG_ROUNDING (8.0 * DBL_EPSILON)

/* "(0.5, 0.25)", for messages. */
#define EG_PLACE_BYTES 96
const char *eg_mesh_place(int dim, const double *x, char text[EG_PLACE_BYTES]);

/* What messages add to the shape of an element: `, group "fluid"`, or nothing. */
#define EG_GROUP_BYTES 160
const char *eg_mesh_group_note(const eg_mesh *mesh, int32_t element, char text[EG_GROUP_BYTES]);

/* --- sort.c ----------------------------------------------------------------------------------- */

/* Sorts keys [count] in ascending order and `order` [count] with them, in linear time; equal keys
 * keep their order. */
eg_status eg_sort_keys(eg_context *ctx, size_t count, uint64_t *keys, int32_t *order);

/* --- order.c ---------------------------------------------------------------------------------- */

/* How far the centre of each own element lies along a Hilbert curve through the cube whose least
 * corner is `low` and whose side is `extent`: keys [element_count]. */
void eg_mesh_curve_keys(const eg_mesh *mesh, const double low[3], double extent, uint64_t *keys);

/* --- connect.c -------------------------------------------------------------------------------- */

/* The orientation o with eg_orientation_vertex(n, o, i) = match[i] for all i, -1 if there is none,
 * and the one by which the neighbour sees me. */
int eg_orientation_find(int face_vertices, const int *match);
int eg_orientation_inverse(int face_vertices, int orientation);

/* What eg_mesh_connect takes beside a mesh of that size, whose faces have `face_vertices`. */
size_t eg_mesh_connect_bytes(const eg_mesh *sizes, int face_vertices);

/* Makes two faces neighbours; match[i] is the vertex of the second that is vertex i of the first.
 * False if no orientation does that. */
bool eg_mesh_join_faces(eg_mesh *mesh, int32_t element_a, int face_a, int32_t element_b, int face_b,
                        const int *match);

/* --- corner.c --------------------------------------------------------------------------------- */

/* The edges along r, s, t at a corner of a straight element with vertices x: A[d] = 2 ∂x/∂r_d
 * there. Simplices have the same at all corners. */
void eg_mesh_corner(const eg_shape_info *info, int corner, const double (*x)[3], double A[3][3]);
double eg_mesh_determinant(int dim, const double (*A)[3]);
/* The determinant with all its signs positive. */
double eg_mesh_permanent(int dim, const double (*A)[3]);

/* What rounding may make of the determinant of a matrix whose entries are at most `most`. Each of
 * its terms is rounded by the part `arithmetic` of itself, however thin the element is; and each
 * entry of column c is known to entry[c] only. */
#define EG_ARITHMETIC 1e-14 /* of a determinant of given entries */
double eg_mesh_determinant_rounding(int dim, double arithmetic, const double (*most)[3],
                                    const double entry[3]);
/* How far the derivative of a mapping is known: coordinates up to `reach` are rounded themselves,
 * which differentiation amplifies. */
double eg_mesh_slope_rounding(int order, double reach);

/* --- curve.c ---------------------------------------------------------------------------------- */

/* How the nodes of a degree lie in straight elements of a shape. */
typedef struct eg_straight {
    eg_context *ctx; /* not owned */
    int np, vertices;
    double *r;      /* [dim][np] owned */
    double *weight; /* [np][vertices] owned */
} eg_straight;

eg_status eg_straight_create(eg_context *ctx, eg_shape shape, int order, eg_straight *straight);
void eg_straight_destroy(eg_straight *straight);
void eg_straight_nodes(const eg_straight *straight, const eg_mesh *mesh, int32_t element,
                       double *x);

/* Gives a straight mesh elements of degree `order` and moves their nodes and all vertices by the
 * map (NULL: none). */
eg_status eg_mesh_curve(eg_mesh *mesh, int order, eg_mesh_map *map, void *user);

/* How elements of one mesh give nodes to those of another. */
typedef struct eg_node_map {
    eg_shape shape;       /* of the elements that do */
    const uint8_t *kind;  /* [elements] those of kind `which` only; NULL: all */
    int which;            /* kind */
    int rows;             /* nodes that are given */
    const double *matrix; /* [rows][nodes of an element]; not owned */
    int children, child;  /* element e gives to e * children + child */
} eg_node_map;

eg_status eg_mesh_interpolate_nodes(const eg_mesh *from, const eg_node_map *map, eg_mesh *to);
/* The node of an element of degree `order` that is a vertex. */
int eg_mesh_vertex_node(eg_shape shape, int order, int vertex);
/* Moves the nodes at vertices to where the vertices are, so that all elements agree to the bit. */
void eg_mesh_snap_nodes(eg_mesh *mesh);

/* Given the determinants det [points] of an element's Jacobian, and what rounding may make of one
 * that is zero. */
typedef eg_status eg_jacobian_visitor(void *user, int32_t element, const double *det,
                                      double rounding);
/* Visits the own elements of a shape with their Jacobians at points r [dim][points]. */
eg_status eg_mesh_visit_jacobians(const eg_mesh *mesh, eg_shape shape, int points, const double *r,
                                  eg_jacobian_visitor *visit, void *user);

/* --- tangled.c -------------------------------------------------------------------------------- */

/* The first own element whose mapping is inside out or flat, a place [dim] where it is, and the
 * determinant of its Jacobian there, which is above 0 if the mapping is too near to one that is not
 * valid to be sure, and not above else; *element is -1 if there is none; *count is the number of
 * such elements. Every point of an element counts, not a sample. Elements that are set in `bad`
 * [element_count] are not looked at, and those that are found are set there (NULL: not wanted). */
eg_status eg_mesh_find_tangled(const eg_mesh *mesh, int32_t *element, double place[3],
                               double *determinant, int32_t *count, bool *bad);

/* Fails with what was found so. */
eg_status eg_mesh_refuse_tangled(const eg_mesh *mesh, int32_t element, const double place[3],
                                 double determinant, int32_t count);

/* Fails at an own element whose mapping is inside out or flat, with its number and a place. */
eg_status eg_mesh_check_mappings(const eg_mesh *mesh);

/* --- conform.c -------------------------------------------------------------------------------- */

/* Fails at neighbours whose nodes on their common face are not the same, up to a shift of periodic
 * faces. */
eg_status eg_mesh_check_faces(const eg_mesh *mesh);

/* --- partition.c ------------------------------------------------------------------------------ */

bool eg_mesh_has_metis(void);

/* --- distribute.c ----------------------------------------------------------------------------- */

/* What ranks compare to know that they have the same whole mesh, divided alike. */
typedef struct eg_mesh_digest {
    uint64_t mesh, part;
} eg_mesh_digest;

eg_mesh_digest eg_mesh_digest_of(const eg_mesh *whole, const int32_t *part);
/* Fails if the ranks' digests [size] are not the same. */
eg_status eg_mesh_compare_digests(eg_context *ctx, int size, const eg_mesh_digest *digests);

/* Rank `rank`'s part of a whole mesh that is divided into `size`. */
eg_status eg_mesh_cut(const eg_mesh *whole, int rank, int size, const int32_t *part, eg_mesh **out);

/* --- mesh_boundaries.c ------------------------------------------------------------------------ */

/* Gives parts of a mesh's boundary the names that sections [mesh.boundary.NAME] of the case say. */
eg_status eg_mesh_name_boundaries(const eg_case *cas, eg_mesh *mesh);

#endif
