/* Points of a group's reference element and what is computed there, a batch of tiles at a time.
 *
 * Values at points are f64 whatever the field's precision: [tiles][fields][count][lanes], tile 0
 * being the batch's first. A batch is bounded by EG_BATCH_BYTES, so that measuring or projecting a
 * field needs little memory beside it, however many points an element has. */
#ifndef EG_FIELD_POINTS_H
#define EG_FIELD_POINTS_H

#include "field/field.h"

#define EG_BATCH_BYTES ((size_t)32 << 20)

/* Tiles of a batch, each of `rows` rows of f64 in all its buffers together; at least 1. */
int64_t eg_batch_tiles(const eg_group *group, int64_t tiles, size_t rows);

/* Rows of their result that this room's kernels compute in a tile: ROWS in them. */
#define EG_KERNEL_ROWS 4
/* How many tiles a launch with so many rows has. */
int64_t eg_row_launches(int64_t rows);

/* A table [rows][cols] applied to values, on the device; of tensor elements its factor in 1D. */
typedef struct eg_product {
    int rows, cols;
    int directions;   /* how often the table is a factor; 1: it is dense */
    eg_buffer *table; /* owned */
} eg_product;

void eg_product_free(eg_product *product);
/* Rows that each of the two scratch buffers of a product needs for one field; 0: none. */
size_t eg_product_scratch(const eg_product *product);

/* Points of one group. */
typedef struct eg_points {
    const eg_space *space; /* not owned */
    const eg_group *group; /* the space's */
    int count;
    bool tensor;         /* they are products of the points of `rule`, then one of the line */
    eg_cubature rule;    /* points and weights (0 where none were given); owned */
    double *r;           /* [dim][count] all of them; owned */
    eg_buffer *weights;  /* [count] */
    eg_buffer *mapping;  /* [count][geometry np] */
    eg_buffer *gradient; /* [dim][count][geometry np] */
    eg_kernel *product, *jacobians, *summarise; /* made when first needed */
} eg_points;

/* Points r [dim][count], weights w [count] (NULL: 0). */
eg_status eg_points_create(const eg_space *space, int group, int count, const double *r,
                           const double *w, eg_points **out);
/* The tensor product of points r [n] and weights w [n] on a line, for tensor shapes. */
eg_status eg_points_create_tensor(const eg_space *space, int group, int n, const double *r,
                                  const double *w, eg_points **out);
/* The points of a cubature of this degree, as tensor products where the shape is one. */
eg_status eg_points_create_cubature(const eg_space *space, int group, int degree, eg_points **out);
/* The same for integrals of fields, which may jump between the cells of EG_BASIS_CELLS: there the
 * points of a cubature in each cell. */
eg_status eg_points_create_for_fields(const eg_space *space, int group, int degree,
                                      eg_points **out);
void eg_points_destroy(eg_points **points);

/* From the group's values to values at the points, and for points with weights back, by
 * mass⁻¹ Iᵀ W. */
eg_status eg_points_interpolation(const eg_points *points, eg_product *out);
eg_status eg_points_projection(const eg_points *points, eg_product *out);

/* y = the product of x, from row x_first on, for `fields` fields of all tiles together. The scratch
 * buffers are as eg_product_scratch says. */
eg_status eg_points_multiply(eg_points *points, const eg_product *product, int64_t fields,
                             eg_buffer *x, int64_t x_first, eg_buffer *const scratch[2],
                             eg_buffer *y);

/* Of tiles [first, first + tiles): coordinates x [tiles][dim][count][lanes];
 * J [tiles][count][lanes]. */
eg_status eg_points_coordinates(eg_points *points, int64_t first, int64_t tiles, eg_buffer *x);
eg_status eg_points_jacobians(eg_points *points, int64_t first, int64_t tiles, eg_buffer *jacobian);

/* What J is over elements. */
typedef struct eg_mapping_summary {
    double ratio;         /* the largest ratio of most to least J within an element, at least 1 */
    double volume, carry; /* Σ w J of own elements, and what rounding has left of it */
} eg_mapping_summary;

/* Adds tiles [first, first + tiles) to *summary (zero at first). J at the points are the first rows
 * of the `stride` rows that a tile has in `jacobian`, which begins with tile `first`. J ≤ 0 or NaN
 * is EG_ERROR_INPUT that names element and place. */
eg_status eg_points_summarise(eg_points *points, int64_t first, int64_t tiles, int64_t stride,
                              eg_buffer *jacobian, eg_mapping_summary *summary);

/* The degree of J as a polynomial of the reference coordinates, on tensor shapes in each of them; 0
 * on affine elements. */
int eg_group_jacobian_degree(const eg_group *group);
/* Derivatives of the geometry's functions along the coordinates of a face, at points [dim-1][count]
 * there: slopes [dim-1][count][geometry np]. */
eg_status eg_group_face_slopes(const eg_group *group, int face, int count, const double *points,
                               double *slopes);

/* A kernel of this room for a group, in f64: DIM and ROWS are defined. */
eg_status eg_group_kernel(const eg_space *space, const eg_group *group, const char *source,
                          const char *entry, eg_kernel **out);

/* --- between a field and f64 ------------------------------------------------------------------ */

/* The kernels `load` and `store` of points.k.c for a group and a field's precision. */
eg_status eg_group_copy_kernel(const eg_space *space, const eg_group *group, const char *entry,
                               eg_type type, eg_kernel **out);
/* The row at which a tile of a field's group starts. */
int64_t eg_field_row(const eg_field *field, int group, int64_t tile);
/* Launches such a kernel between tiles [first, first + tiles) of a field's group and values
 * [tiles][components][np][lanes]. */
eg_status eg_field_copy(eg_kernel *kernel, const eg_field *field, int group, int64_t first,
                        int64_t tiles, eg_buffer *values);

#endif
