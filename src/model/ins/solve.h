/* An implicit step of model `ins`: -Δu + λu = b by conjugate gradients, with the operator and the
 * preconditioners of model `elliptic`. */
#ifndef EG_INS_SOLVE_H
#define EG_INS_SOLVE_H

#include "model/elliptic/precondition.h"
#include "solver/solver.h"

typedef struct eg_ins_solve_options {
    const char *name;                  /* what is solved for, in messages; a literal */
    double lambda;                     /* ≥ 0 */
    double penalty;                    /* as that of eg_elliptic_options */
    const eg_elliptic_boundary *types; /* [boundaries] must outlive it */
    eg_precondition_options preconditioner;
    double tolerance; /* of the residual, as part of the right-hand side */
    int iterations;   /* at most */
} eg_ins_solve_options;

typedef struct eg_ins_solve eg_ins_solve;

/* `vectors` of the space with one component must outlive it. Collective. */
eg_status eg_ins_solve_create(eg_space *space, eg_vectors *vectors,
                              const eg_ins_solve_options *options, eg_ins_solve **out);
void eg_ins_solve_destroy(eg_ins_solve **solve);

double eg_ins_solve_lambda(const eg_ins_solve *solve);
/* eg_elliptic_penalty of its operator. */
double eg_ins_solve_penalty(const eg_ins_solve *solve);

/* y = b - A x; y is neither. */
eg_status eg_ins_solve_residual(eg_ins_solve *solve, eg_buffer *b, eg_buffer *x, eg_buffer *y);

/* x: the initial guess, then the solution; a singular problem's has the mean 0. `guess` (NULL: none) makes
 * a better one where it can, and learns from the solution. A solve that does not converge is
 * EG_ERROR_NUMERIC. Allocates nothing. */
eg_status eg_ins_solve_run(eg_ins_solve *solve, eg_guess *guess, eg_buffer *b, eg_buffer *x,
                           int *iterations);

#endif
