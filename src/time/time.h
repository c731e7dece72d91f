/* The door of room `time`: explicit Runge-Kutta schemes and the loop over steps, for every model.
 *
 * A model computes one stage in one go, from registers that it owns:
 *     strong-stability schemes   out = a·first + b·current + c·dt·L(current, time)
 *     low-storage schemes        k = A·k + dt·L(current, time),  out = current + B·k
 * so that a fused kernel reads and writes each value once. `first` is the solution at the beginning of
 * the step, `current` the result of the stage before (of the first stage: `first` itself).
 *
 * The first stage of every scheme has a = 0 or A = 0: there `first` and `k` need not be read. A kernel
 * that reads and multiplies them all the same needs finite values in `k` when the loop starts. */
#ifndef EG_TIME_H
#define EG_TIME_H

#include "base/comm.h"
#include "case/case.h"

typedef enum eg_time_scheme {
    EG_TIME_EULER,   /* explicit Euler, order 1 */
    EG_TIME_SSP_RK2, /* [gottlieb2001], order 2, two stages */
    EG_TIME_SSP_RK3, /* [gottlieb2001], order 3, three stages */
    EG_TIME_LOW_RK4  /* [carpenter1994], order 4, five stages, two registers */
} eg_time_scheme;

typedef struct eg_stage {
    int index, count; /* this stage, stages of a step */
    double time;      /* at which L is evaluated */
    double dt;
    bool low_storage;
    double a, b, c; /* strong-stability form */
    double A, B;    /* low-storage form */
} eg_stage;

/* The stages of a scheme for a step from t by dt: out [EG_STAGES_MAX]; returns their number. */
#define EG_STAGES_MAX 8
int eg_time_stages(eg_time_scheme scheme, double t, double dt, eg_stage *out);
int eg_time_order(eg_time_scheme scheme);
const char *eg_time_scheme_name(eg_time_scheme scheme); /* "euler", "ssp-rk2", "ssp-rk3", "rk4" */

/* Where a loop is: all that it needs to go on from there. */
typedef struct eg_time_point {
    int64_t step;             /* so many have been made */
    double time, behind;      /* by how much the time is below the sum of the steps, by rounding */
    double dt;                /* of the last step */
    double dt_least, dt_most; /* of all steps; 0 before the first */
} eg_time_point;

/* What is thought of a solution between two steps. */
typedef struct eg_time_verdict {
    bool stop;          /* the loop ends here */
    const char *lost;   /* what is wrong with it, "u is NaN in element 7"; NULL: nothing */
    const char *advice; /* a sentence that is added to the failure; NULL: none */
} eg_time_verdict;

/* What is advanced. All functions are called on all ranks. */
typedef struct eg_time_system {
    void *user; /* not owned */
    eg_status (*stage)(void *user, const eg_stage *stage);
    /* All stages of a step. NULL: one after the other. */
    eg_status (*step)(void *user, const eg_stage *stages, int count);
    /* The largest stable step for a CFL number of 1, the same on all ranks; infinite where nothing
     * moves. NULL: dt must be given. */
    eg_status (*stable_dt)(void *user, double t, double *dt);
    /* Steps from a CFL number up to the next stop are equally long, while stable_dt stays as it is. Else only the
     * last two are. */
    bool even;
    /* After each step, which are counted from 1: it ended at t and was dt long. May be NULL. */
    eg_status (*step_done)(void *user, int64_t step, double t, double dt);
    /* At the start and after each step: `point` is where the loop is. The same verdict on all ranks;
     * a solution that is lost is EG_ERROR_NUMERIC. NULL: nobody looks. */
    eg_status (*watch)(void *user, const eg_time_point *point, eg_time_verdict *verdict);
    /* The first time behind t at which a step must end, if steps come from a CFL number; INFINITY:
     * none. NULL: none ever. */
    double (*next_stop)(void *user, double t);
} eg_time_system;

/* Where a run is; for drawing progress. */
typedef struct eg_progress {
    int64_t step, steps; /* steps: foreseen in all, 0 if not known */
    double time, end, dt;
    double wall_s;
    double rate;   /* steps a second since the loop was entered */
    double left_s; /* seconds that the rest will take at this rate */
} eg_progress;
typedef void eg_progress_function(void *user, const eg_progress *progress);

typedef struct eg_time_options {
    eg_time_scheme scheme;
    double start, end;
    double dt;                      /* fixed; 0: from cfl */
    double cfl;                     /* dt = cfl · stable_dt */
    int64_t steps_max;              /* 0: no limit; reaching it is EG_ERROR_NUMERIC */
    const eg_time_point *resume;    /* goes on from there; not owned; NULL: begins at `start` */
    eg_progress_function *progress; /* called about twice a second at most; NULL: none */
    void *progress_user;            /* not owned */
} eg_time_options;

typedef struct eg_time_result {
    int64_t steps;        /* of all, with those before a run was resumed … */
    int64_t steps_before; /* … which are these */
    double time, dt_least, dt_most;
    double wall_s; /* of the loop */
    bool stopped;  /* by a verdict, before the end */
} eg_time_result;

/* Steps from start to end, which is met exactly. Allocates nothing.
 *
 * With a fixed dt, (end - start)/dt that is whole to 1e-9 is taken as whole: all steps then have the
 * same bits; else the last is shorter. With a CFL number the last two steps before the end or another
 * stop share what is left, so that the last is no sliver. A loop that goes on from a point makes the
 * same steps, to the last bit, as one that was never interrupted. On failure *out tells how far the
 * loop has come. */
eg_status eg_time_run(eg_context *ctx, const eg_time_options *options, const eg_time_system *system,
                      eg_time_result *out);

/* The number of steps of a fixed dt; false if they are too small to be told from rounding. */
bool eg_time_count_steps(const eg_time_options *options, int64_t *steps);

/* The section [time]: scheme, end, dt, cfl, max_steps. */
extern const eg_key eg_time_keys[];
eg_status eg_time_options_from_case(const eg_case *cas, eg_time_options *out);

#endif
