/* What the files of the operator share: the operator, its part for each group, and its steps of creation. */
#ifndef EG_ADVECTION_PARTS_H
#define EG_ADVECTION_PARTS_H

#include "model/advection/operator.h"

/* As in advection.k.h. */
enum { KIND_OUTER = 1, KIND_MIXED = 2, KIND_CLIMBS = 4 };

/* What one group needs. */
typedef struct eg_advection_part {
    eg_kernel *kernel;
    eg_kernel *gathers; /* of `modal`, for tiles of KIND_MIXED; made where there are any */
    eg_buffer *mixed;   /* i32 [mixed_tiles] which they are, ascending */
    int64_t mixed_interior, mixed_tiles;
    bool modal;           /* served by `modal` or `sweep`, else by `points` */
    bool sweep;           /* … by `sweep` */
    bool uniform;         /* affine, and ∂r/∂x is the same in all elements … */
    double factors[3][3]; /* … namely this: [d][e] ∂r_d/∂x_e */
    bool
        parallel; /* affine, and they are multiples of these in all elements, direction by direction */
    int most;     /* modes a side, the most among its elements and their neighbours */
    int kinds_present;   /* all bits of kinds together */
    eg_buffer *kinds;    /* i32 [own_tiles] */
    eg_buffer *runs;     /* i32 [own_tiles][dim][2][5]; of `sweep`: i64 [dim][2][own_tiles] */
    int ring, ring_most; /* of `sweep` */
    /* See modal.k.c and points.k.c. */
    eg_buffer *rule;         /* of `modal` */
    int points, face_points; /* of `points`: a side, in elements and on faces */
    eg_buffer *points_of, *face_rules;
    eg_operator *interp, *test, *slopes;
    eg_kernel *speeds; /* speed.c; made when first needed, if the velocity varies */
} eg_advection_part;

struct eg_advection {
    eg_space *space; /* not owned */
    int dim, components;
    const eg_expression *velocity[3]; /* the caller's */
    bool varies;                      /* the velocity does, in space */
    bool changes;                     /* … in time */
    bool low_storage, one_stage, has_source;
    eg_advection_quadrature quadrature;
    double stable_dt; /* once known, if the velocity does not change; 0: not yet */
    eg_rates *rates;  /* speed.c, when first needed, if the velocity varies */
    eg_halo *halo;
    eg_buffer *faces, *turns, *sides, *legendre;
    eg_buffer *no_register;   /* stands for k where there is none */
    eg_advection_part *parts; /* [group_count] */
};

/* faces.c: tables that all groups share; turns [faces * EG_FACE_BYTES] is filled in for the host, too. */
eg_status eg_advection_share_tables(eg_advection *advection, int *turns);
/* faces.c: what the neighbours of a group's tiles are: `kinds`, `kinds_present` and `most`. */
eg_status eg_advection_classify(eg_advection *advection, int group, const int *turns);

/* faces.c: the neighbour of a group's element: its group and its place there; or boundary -1 - place. */
typedef struct eg_neighbour {
    int group; /* or one of these: */
    int64_t place;
} eg_neighbour;
enum { EG_OUTSIDE = -1, /* a boundary */ EG_TURNED = -2 /* it is turned, or has other lanes */ };
/* … by the place of the element and the number of the face at -1 or 1 of a direction. */
eg_neighbour eg_advection_neighbour(const eg_space *space, const eg_group *group, int64_t place,
                                    int end, const int *turns);
/* sweep.c: … in which rows they stand: `runs` and `ring`, for `sweep`. */
eg_status eg_advection_find_runs(eg_advection *advection, int group, const int *turns);

/* speed.c: ∂r_d/∂x_e of a straight element with these corners at a point r [dim], and the place x [3]
 * (z is 0 in the plane); returns J. */
double eg_advection_factors(const eg_mesh *mesh, const double *nodes, const double *r,
                            double factors[3][3], double *x);
/* speed.c: whether all elements of an affine group have the same factors: `uniform`, `parallel`, `factors`. */
void eg_advection_find_uniform(eg_advection *advection, int group);
/* speed.c: the velocity at a place x [3]: b [3], unused components are 0. */
void eg_advection_velocity(const eg_advection *advection, const double *x, double t, double *b);

/* quadrature.c: points a side of elements and faces with so many modes a side … */
int eg_advection_point_count(const eg_advection *advection, int side);
/* … the points x and weights w of a line … */
eg_status eg_advection_line_rule(const eg_advection *advection, int side, double *x, double *w);
/* … and what `modal` and `points` need of them: `rule`; all below it. */
eg_status eg_advection_make_rule(eg_advection *advection, int group);
eg_status eg_advection_make_points(eg_advection *advection, int group);

/* kernels.c: adds what the case's expressions say, as advection.k.h wants it. */
eg_status eg_advection_write_functions(const eg_advection *advection,
                                       const eg_advection_options *options, eg_text *source);
/* kernels.c: … only the velocity. */
eg_status eg_advection_write_velocity(const eg_advection *advection, eg_text *source);
/* kernels.c: the kernel of a group, behind these functions. */
eg_status eg_advection_compile(eg_advection *advection, int group, const char *functions);

/* kernels.c: an entry of model/advection/FILE.k.c for a group, behind `functions`; `options` has
 * defines and what else is chosen. */
eg_status eg_advection_make_kernel(const eg_advection *advection, int group, const char *functions,
                                   const char *file, const char *entry, eg_kernel_options options,
                                   eg_kernel **out);

#endif
