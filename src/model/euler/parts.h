/* What the files of the operator share: the operator, and its part for each group. */
#ifndef EG_EULER_PARTS_H
#define EG_EULER_PARTS_H

#include "model/euler/operator.h"

/* As in stage.k.c. */
enum { KIND_OUTER = 1, KIND_MIXED = 2 };

/* What one group needs. */
typedef struct eg_euler_part {
    eg_kernel *stage, *speeds, *totals;
    eg_kernel *traces;        /* with Gauss points alone */
    eg_kernel *means, *limit; /* NULL: there is no limiter */
    eg_kernel *slopes;        /* of finite volumes with two points per face; else NULL */
    eg_kernel *indicator;     /* NULL: nothing is blended */
    bool cartesian;           /* all elements are the same rectangle along x and y … */
    double sides[2];          /* … with these sides */
    bool curved;              /* they are, and have a `metric`, as shape.k.h says */
    bool outer;               /* one of its elements is at a boundary */
    bool sweeps;              /* its stages are those of sweep.k.c */
    int ring;                 /* of so many tiles fluxes are kept there */
    eg_buffer *rows;          /* i32 [own_tiles][4][4], of sweep.k.c alone */
    eg_buffer *kinds;         /* i32 [own_tiles] */
    eg_buffer *runs;          /* i32 [own_tiles][4][5] */
    eg_buffer *nearness;      /* f64 [own_tiles][lanes] 1 / Δx */
    eg_buffer *metric;        /* f64 [own_tiles][rows][lanes]; else NULL */
} eg_euler_part;

/* What totals need. */
typedef struct eg_euler_sums {
    eg_buffer *line;                         /* f64 [2][M] nodes and weights of a line */
    eg_buffer *of_slot[EG_EULER_COMPONENTS]; /* f64 [slot_count] of each element */
    eg_buffer *all;                          /* f64 [4] */
    eg_reducer *reducer;
} eg_euler_sums;

/* Steps by wave.c. */
enum { EG_EULER_WAVE_STAGES_MOST = 3 };
typedef struct eg_euler_wave {
    int threads, stages, calls; /* calls: the stages, and one more where speeds are found, too */
    eg_piece *pieces;           /* owned: of all lists */
    eg_pieces *lists;           /* [stages][threads] owned */
    eg_kernel *stage, *last;    /* `sweep` from window to window, and back into the solution */
    /* What stage s reads: i32 [tiles] where in f64 window [.][4 np][lanes] a tile is; that of the first
     * is the solution. */
    eg_buffer *homes[EG_EULER_WAVE_STAGES_MOST], *window[EG_EULER_WAVE_STAGES_MOST];
} eg_euler_wave;

struct eg_euler {
    eg_space *space; /* not owned */
    eg_euler_scheme scheme;
    int flux, degree;
    double gamma;
    bool low_storage, gauss;
    bool traced; /* stages read `traces`, and leave those of what they find */
    eg_halo *halo;
    eg_element *line;                  /* an element in 1D: nodes, weights and modes of lines */
    eg_buffer *faces, *starts, *table; /* see stage.k.c */
    eg_buffer *traces, *next_traces;   /* [slot_count / lanes][16 M][lanes]; else of one value */
    eg_buffer *no_register;            /* stands for k where there is none */
    eg_field *slopes;                  /* of slopes.k.c, [2][4] components, or NULL … */
    eg_halo *slopes_halo;              /* … and with it */
    eg_rates *rates;
    eg_euler_sums sums;
    eg_euler_limiter *limiter; /* NULL: there is none */
    eg_euler_blend *blend;     /* NULL: nothing is blended */
    eg_euler_wave *wave;       /* NULL: a step is made stage by stage */
    const eg_field *rated;     /* whose rates are in `rates`; not owned; NULL: nobody's */
    eg_euler_part *parts;      /* [group_count] */
};

/* A stage under way: what eg_euler_stage was given. */
typedef struct eg_euler_work {
    const eg_stage *stage;
    const eg_field *first, *current;
    eg_field *k, *out;
} eg_euler_work;

/* operator.c: the arguments that all kernels of a stage have, on a group; returns their number. */
enum { EG_EULER_ARGUMENTS_MAX = 32 };
size_t eg_euler_stage_arguments(const eg_euler *euler, int group, const eg_euler_work *work,
                                eg_argument out[EG_EULER_ARGUMENTS_MAX]);
/* operator.c: … that sweep.k.c has, and the kernel of speeds. */
size_t eg_euler_sweep_arguments(const eg_euler *euler, int group, const eg_euler_work *work,
                                eg_argument out[EG_EULER_ARGUMENTS_MAX]);
size_t eg_euler_speed_arguments(const eg_euler *euler, int group, const eg_field *current,
                                eg_argument out[EG_EULER_ARGUMENTS_MAX]);
/* operator.c: what a stage weighs rates with, `wl` of kernels. */
double eg_euler_rate_weight(const eg_stage *stage);

/* kernels.c: the kernels of a group, with what the case says of boundaries. */
eg_status eg_euler_compile(eg_euler *euler, int group, const eg_euler_options *options);

/* cells.c: finite volumes. What they need beside the rest; collective. */
eg_status eg_euler_create_cells(eg_euler *euler);
/* cells.c: the kernels of a group; `boundaries` are what boundary.k.h wants. */
eg_status eg_euler_compile_cells(eg_euler *euler, int group, const char *boundaries);
/* cells.c: a stage on tiles [from, to) of a group, once the slopes it needs are there. */
eg_status eg_euler_launch_cells(eg_euler *euler, int group, int64_t from, int64_t to,
                                const eg_euler_work *work);
/* cells.c: the slopes of interior tiles, or of the others, if there are any to be found. */
eg_status eg_euler_find_slopes(eg_euler *euler, bool interior, double time,
                               const eg_field *current);

/* kernels.c: entry NAME of model/euler/NAME.k.c for a group, behind the text `before`; `options` has
 * defines and what else is chosen. */
eg_status eg_euler_make_kernel(const eg_euler *euler, int group, const char *before,
                               const char *name, eg_kernel_options options, eg_kernel **out);

/* sweep.c: whether a thread of a device takes its tiles in their order, as kernels for CPUs alone want. */
bool eg_euler_sweeps_on(const eg_device *device);
/* sweep.c: whether a group is for `sweep`, and what that must know of it: `sweeps`, `rows`, `ring`; how
 * much `sweep` keeps at most. */
eg_status eg_euler_find_rows(eg_euler *euler, int group, const eg_euler_options *options);
int eg_euler_ring_most(const eg_euler *euler, int group);

/* wave.c: makes `wave`, but for its kernels, if steps are better made so. */
eg_status eg_euler_plan_wave(eg_euler *euler, const eg_euler_options *options);
void eg_euler_wave_destroy(eg_euler *euler);
/* wave.c: eg_euler_step. */
eg_status eg_euler_run_wave(eg_euler *euler, const eg_stage *stages, eg_field *current);

/* shape.c: the place in its group of the neighbour of an element behind the end (0, 1: of direction 0) of
 * it, if it is of the same group and not turned; else -1. */
int64_t eg_euler_neighbour_place(const eg_euler *euler, int group, int32_t element, int end);
/* shape.c: what elements and their faces are like: `faces`, `starts`. */
eg_status eg_euler_share_tables(eg_euler *euler);
/* shape.c: … `cartesian`, `sides`, `curved`, `outer`, `kinds`, `runs`, `nearness`, `metric` of a
 * group. */
eg_status eg_euler_classify(eg_euler *euler, int group);

/* metric.c: the rows of `metric`, 1 if a group is not curved, and the metric itself, with what
 * `nearness` [own slots] is. */
int eg_euler_metric_rows(const eg_euler *euler, const eg_euler_part *part);
eg_status eg_euler_make_metric(eg_euler *euler, int group, double *nearness);

/* operator.c: values of `traces` before the first of a group. */
size_t eg_euler_traces_before(const eg_euler *euler, const eg_group *group);

/* limiter.c: makes `limiter`, if the options ask for one. Collective. */
eg_status eg_euler_limiter_create(eg_euler *euler, const eg_euler_options *options);
void eg_euler_limiter_destroy(eg_euler *euler);

/* blend.c: makes `blend`, if the options ask for it. */
eg_status eg_euler_blend_create(eg_euler *euler, const eg_euler_options *options);
void eg_euler_blend_destroy(eg_euler *euler);
/* blend.c: finds the shares of finite volumes in own elements, or in ghosts, and changes their traces
 * accordingly. */
eg_status eg_euler_find_shares(eg_euler *euler, bool ghosts, const eg_field *current);
/* blend.c: the argument of `stage`; any that is only read if nothing is blended. */
eg_argument eg_euler_shares(const eg_euler *euler, const eg_group *group);

/* totals.c: `sums`. */
eg_status eg_euler_create_totals(eg_euler *euler);
void eg_euler_destroy_totals(eg_euler *euler);

#endif
