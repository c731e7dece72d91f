/* -∇·(k ∇u) + λ u on a space by the symmetric interior penalty method, matrix-free: the product
 * A u, and the load of a source and of boundary data.
 *
 * All elements have one shape and degree and the basis EG_BASIS_LOBATTO. Affine triangles with a
 * constant k and no Robin boundary have kernels of their own (affine.k.c); all else is done by
 * quadrature (general.k.c). */
#ifndef EG_ELLIPTIC_OPERATOR_H
#define EG_ELLIPTIC_OPERATOR_H

#include "field/field.h"

/* The choices of boundary.*.type, as in factors.k.c. */
typedef enum eg_elliptic_boundary {
    EG_ELLIPTIC_DIRICHLET, /* u = g */
    EG_ELLIPTIC_NEUMANN,   /* k ∂u/∂n = g */
    EG_ELLIPTIC_ROBIN      /* k ∂u/∂n + α u = g */
} eg_elliptic_boundary;

/* How products are computed. */
typedef enum eg_elliptic_form {
    EG_ELLIPTIC_FASTEST,
    EG_ELLIPTIC_QUADRATURE, /* even where the kernels of affine triangles would do */
    /* Of affine triangles, where it is not the fastest, for tests; elsewhere by quadrature: */
    EG_ELLIPTIC_TILES,    /* affine.k.c */
    EG_ELLIPTIC_CHAINS,   /* affine_chain.k.c */
    EG_ELLIPTIC_MIRRORED, /* affine_mirror.k.c */
    EG_ELLIPTIC_BLOCKS    /* affine_block.k.c, on tensor cores with 32 lanes; else the fastest */
} eg_elliptic_form;

/* Expressions live as long as the operator. */
typedef struct eg_elliptic_options {
    double lambda;                     /* ≥ 0 */
    const eg_expression *k;            /* > 0 everywhere; NULL: 1 */
    double penalty;                    /* times that of [karakus2018] eq. (14); 0: 1 */
    const eg_elliptic_boundary *types; /* [boundaries of the mesh]; NULL: all Dirichlet */
    const eg_expression *const *robin; /* [boundaries] α ≥ 0; NULL: 0 */
    eg_elliptic_form form;
} eg_elliptic_options;

typedef struct eg_elliptic eg_elliptic;

/* The lanes of a space on which a tile fits into the shared memory of a GPU. */
eg_status eg_elliptic_lanes(const eg_device *device, const eg_mesh *mesh, int degree, int *lanes);

/* For fields of this precision. Collective. */
eg_status eg_elliptic_create(eg_space *space, eg_type real, const eg_elliptic_options *options,
                             eg_elliptic **out);
void eg_elliptic_destroy(eg_elliptic **elliptic);

/* y = A u, both the data of a field with one component; ghosts of u are filled, those of y are not.
 * Allocates nothing. */
eg_status eg_elliptic_apply(eg_elliptic *elliptic, eg_buffer *u, eg_buffer *y);
/* The same with y = b - A u, in one pass; y is neither. */
eg_status eg_elliptic_residual(eg_elliptic *elliptic, eg_buffer *b, eg_buffer *u, eg_buffer *y);

/* What the problem is given; NULL: 0. */
typedef struct eg_elliptic_data {
    const eg_expression *source;          /* f */
    const eg_expression *const *boundary; /* [boundaries] g, NULL ones 0; or NULL */
} eg_elliptic_data;

/* b such that A u = b. Ghosts are not filled. Makes and drops what it needs. */
eg_status eg_elliptic_load(eg_elliptic *elliptic, const eg_elliptic_data *data, double time,
                           eg_buffer *b);

/* At a Dirichlet boundary of affine elements with k = 1 the penalty of jumps is this times sJ/J. */
double eg_elliptic_penalty(const eg_elliptic *elliptic);

/* Whether constants are in the null space: λ = 0, and Neumann everywhere. The same on all ranks. */
bool eg_elliptic_is_singular(const eg_elliptic *elliptic);

#endif
