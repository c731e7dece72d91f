/* The matrices that kernels of model `ins` multiply with, of a reference triangle. */
#ifndef EG_INS_MATRICES_H
#define EG_INS_MATRICES_H

#include "field/field.h"

/* Owned, as advect.k.c, advect_mirror.k.c, surface.k.c, advect_faces.k.c, slopes.k.c and load.k.c describe them. */
typedef struct eg_ins_matrices {
    int inner, face; /* points of advection: of the element, of a face */
    bool mirrored;   /* the volume term is that of advect_mirror.k.c */
    int even, odd;   /* nodes in parts */
    eg_buffer *node_pairs;
    eg_operator *interp, *project_r, *project_s;
    int pairs; /* if it is: of points of the element */
    eg_operator *interp_even, *interp_odd, *project_even, *project_odd;
    eg_buffer *part_interp; /* surface.k.c … */
    eg_operator *even_lift, *odd_lift;
    eg_operator *face_lift;                  /* … and advect_faces.k.c */
    double *face_table;                      /* [face][nfp] values at points, on the host */
    eg_operator *slopes, *lift, *divergence; /* slopes.k.c */
    eg_operator *load;                       /* load.k.c */
} eg_ins_matrices;

eg_status eg_ins_matrices_create(const eg_space *space, const eg_element *element, bool collocated,
                                 eg_ins_matrices *out);
void eg_ins_matrices_free(eg_context *ctx, eg_ins_matrices *matrices);

/* Points of advection by quadrature. */
eg_status eg_ins_count_points(const eg_element *element, bool collocated, int *inner, int *face);

#endif
