/* What the files of the operator share: the operator, and its part for each group. */
#ifndef EG_ELLIPTIC_PARTS_H
#define EG_ELLIPTIC_PARTS_H

#include "field/strips.h"
#include "model/elliptic/operator.h"

/* The points on which integrals are taken, in the reference element. */
typedef struct eg_elliptic_rules {
    int columns;        /* rows of K_SHARED that the largest kernel needs */
    eg_cubature *inner; /* of the element */
    eg_cubature *face;  /* of a face */
    double *r;          /* [dim][faces][face->count] the points of all faces */
    double normals[EG_MAX_FACES][3];
} eg_elliptic_rules;

/* What one group needs; arrays as affine.k.c and general.k.c describe them. */
typedef struct eg_elliptic_part {
    eg_kernel *flux, *apply;
    eg_buffer *factors;                           /* affine.k.c */
    eg_buffer *metric, *volume, *penalty, *share; /* general.k.c */
} eg_elliptic_part;

struct eg_elliptic {
    eg_space *space; /* not owned */
    eg_type real;
    eg_elliptic_options options; /* with `types` and `robin` of its own */
    bool affine;                 /* the kernels of affine triangles serve … */
    eg_elliptic_form form;       /* … these; else EG_ELLIPTIC_QUADRATURE */
    bool singular;
    double k; /* where it is constant */
    const eg_element *element;
    int dim, faces, ways, mass;
    int face_points; /* of `flux` on a face: nodes, the first of them, or points of rules.face */
    eg_elliptic_rules rules;
    eg_elliptic_boundary *types; /* [boundaries + 1] owned */
    const eg_expression **robin; /* the same */
    eg_trace trace;              /* which nodes are on faces */
    eg_buffer *types_there, *weights, *other_point;
    eg_operator *along, *lines; /* affine.k.c, and … */
    eg_buffer *at_node;
    eg_strips *strips;
    eg_buffer *image;
    eg_operator *inner, *interp; /* general.k.c */
    eg_operator *slopes, *sum;
    eg_operator *odd_slopes, *odd_sum; /* … affine_mirror.k.c, as what follows */
    eg_buffer *pairs;
    int even, odd;   /* nodes in parts */
    eg_buffer *flux; /* real [slot_count / lanes][faces * face_points][lanes]; or strips */
    eg_halo *halo;
    eg_field *like; /* of the fields that are multiplied: where groups lie; without values */
    eg_elliptic_part *parts; /* [group_count] */
};

/* rules.c: quadrature for elements of a mesh. */
eg_status eg_elliptic_rules_create(const eg_mesh *mesh, const eg_element *element,
                                   eg_elliptic_rules *out);
void eg_elliptic_rules_free(eg_context *ctx, eg_elliptic_rules *rules);

/* matrices.c: the operators of affine.k.c, of affine_chain.k.c, of affine_mirror.k.c, or of general.k.c
 * with what tells points apart. */
eg_status eg_elliptic_make_affine_matrices(eg_elliptic *a);
eg_status eg_elliptic_make_chain_matrices(eg_elliptic *a);
eg_status eg_elliptic_make_mirrored_matrices(eg_elliptic *a);
eg_status eg_elliptic_make_matrices(eg_elliptic *a);
/* [values at inner points | … at points of faces | slopes there]ᵀ: np x (inner + (1 + dim) faces
 * points). */
eg_status eg_elliptic_make_tests(const eg_elliptic *a, eg_operator **out);

/* strips.c: of affine.k.c. What it needs; y = A u, or b - A u. */
eg_status eg_elliptic_make_strips(eg_elliptic *a);
eg_status eg_elliptic_multiply_strips(eg_elliptic *a, eg_buffer *b, eg_buffer *u, eg_buffer *y);

/* values.c: an expression at points of the reference element r [dim][count], values
 * [tiles][count][lanes] f64; NULL: 1. Or those of boundaries, on own tiles, r being points of
 * faces; NULL ones 0. */
eg_status eg_elliptic_evaluate(const eg_elliptic *a, int group, const eg_expression *expression,
                               double time, int count, const double *r, eg_buffer **values);
eg_status eg_elliptic_evaluate_boundaries(const eg_elliptic *a, int group,
                                          const eg_expression *const *expressions, double time,
                                          int count, const double *r, eg_buffer **values);

/* factors.c: what is known of a group's faces at the points of rules.face. */
typedef struct eg_elliptic_faces {
    eg_buffer *k, *sizes;       /* f64 [tiles][faces points][lanes] k, sJ */
    eg_buffer *metric;          /* as general.k.c has it */
    eg_buffer *penalty, *share; /* … of own tiles */
} eg_elliptic_faces;

void eg_elliptic_faces_free(eg_elliptic_faces *faces);
/* Of all groups: faces [group_count], zero before. */
eg_status eg_elliptic_make_faces(const eg_elliptic *a, eg_elliptic_faces *faces);
/* A kernel for a group, in the operator's precision; `at`: the points of eg_metric, where it
 * matters. */
typedef enum eg_elliptic_kernel_file {
    EG_ELLIPTIC_AFFINE,
    EG_ELLIPTIC_AFFINE_CHAIN,
    EG_ELLIPTIC_AFFINE_MIRROR,
    EG_ELLIPTIC_AFFINE_FACTORS,
    EG_ELLIPTIC_GENERAL,
    EG_ELLIPTIC_FACTORS,
    EG_ELLIPTIC_LOAD
} eg_elliptic_kernel_file;
enum { EG_ELLIPTIC_DEFINES = 10 };
eg_status eg_elliptic_kernel(const eg_elliptic *a, int group, eg_elliptic_kernel_file file,
                             const char *entry, int at, eg_kernel **out);
/* The factors of affine triangles, or those of quadrature, of all groups. */
eg_status eg_elliptic_make_affine_factors(eg_elliptic *a);
eg_status eg_elliptic_make_factors(eg_elliptic *a);

#endif
