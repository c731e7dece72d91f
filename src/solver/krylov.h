/* Krylov methods: conjugate gradients and GMRES, both preconditioned and both flexible: the
 * preconditioner may be another one in every iteration.
 *
 *     eg_pcg_create(vectors, A, B, &(eg_krylov_options){.relative = 1e-8}, &pcg);
 *     eg_pcg_solve(pcg, b, x, &result);        // x: the initial guess, then the solution
 *     if (result.outcome != EG_KRYLOV_CONVERGED) … eg_krylov_outcome_text(result.outcome) …
 */
#ifndef EG_SOLVER_KRYLOV_H
#define EG_SOLVER_KRYLOV_H

#include "solver/vectors.h"

/* y = A x. It may fill the ghosts of x but changes nothing else of it; x and y are not the same. */
typedef struct eg_linear {
    void *user; /* not owned */
    eg_status (*apply)(void *user, eg_buffer *x, eg_buffer *y);
    /* y = b - A x, for who can do that in one pass; NULL: it is made of `apply`. y is neither. */
    eg_status (*residual)(void *user, eg_buffer *b, eg_buffer *x, eg_buffer *y);
    /* A step of smoothing, d = a d + c A r and x = keep x + w d, for who can do that in one pass;
     * NULL: it is made of `apply`. Where a or keep is 0 it does not matter what d or x held. */
    eg_status (*smooth)(void *user, double a, double c, eg_buffer *r, eg_buffer *d, double keep,
                        double w, eg_buffer *x);
} eg_linear;

/* y = b - A x, one way or the other. */
eg_status eg_linear_residual(const eg_vectors *vectors, const eg_linear *A, eg_buffer *b,
                             eg_buffer *x, eg_buffer *y);

typedef enum eg_krylov_reference {
    EG_KRYLOV_TO_INITIAL, /* `relative` is to the norm of the initial residual … */
    EG_KRYLOV_TO_RHS      /* … or of the right-hand side */
} eg_krylov_reference;

/* Norms are Euclidean ones of the residual b - A x. It has converged when that is at most
 * max(relative * reference, absolute), computed from x and not by recursion. */
typedef struct eg_krylov_options {
    double relative; /* 0 with absolute = 0: 1e-8 */
    double absolute;
    eg_krylov_reference reference;
    int iterations;  /* at most; 0: 1000 */
    int restart;     /* GMRES: directions kept; 0: 30 */
    bool zero_guess; /* x is 0 to begin with, whatever it holds */
    /* A singular A with A n = 0: n, else NULL. Right-hand sides then lose what A cannot reach,
     * and solutions satisfy w·x = 0. With n the constants and w their mass vector that means a
     * mean of 0. Neither is owned. */
    eg_buffer *null_vector;
    eg_buffer *null_weights; /* w; NULL: n itself */
} eg_krylov_options;

#define EG_KRYLOV_OUTCOMES(X)                                                                      \
    X(EG_KRYLOV_CONVERGED, "converged")                                                            \
    X(EG_KRYLOV_LIMIT, "the iteration limit was reached")                                          \
    X(EG_KRYLOV_ROUNDING, "the residual is as small as rounding lets it be")                       \
    X(EG_KRYLOV_STAGNATED, "the residual does not fall any further")                               \
    X(EG_KRYLOV_INDEFINITE, "the matrix is not positive definite: it has negative curvature")      \
    X(EG_KRYLOV_INDEFINITE_PRECONDITIONER, "the preconditioner is not positive definite")          \
    X(EG_KRYLOV_NOT_FINITE, "the residual is infinite or not a number")

typedef enum eg_krylov_outcome {
#define X(code, text) code,
    EG_KRYLOV_OUTCOMES(X)
#undef X
} eg_krylov_outcome;

/* Never NULL. */
const char *eg_krylov_outcome_text(eg_krylov_outcome outcome);

typedef struct eg_krylov_result {
    eg_krylov_outcome outcome;
    int iterations;        /* applications of the preconditioner in search directions */
    double target;         /* the norm that was asked for */
    double residual;       /* the norm of b - A x in the end */
    double curvature;      /* p·A p, or r·B r, that was not positive, in these outcomes; else 0 */
    const double *history; /* [iterations + 1] norms; the solver's, until the next solve */
} eg_krylov_result;

/* Conjugate gradients for symmetric positive (semi)definite A and B, by the formula of Polak and
 * Ribière [notay2000].
 *
 * The norm that the recursion says to be small is checked against b - A x. If that is not, the
 * search starts again from there, and ends if the residual is then not even half of what it was at
 * the check before. Slow progress is no stagnation: the iteration limit ends it.
 *
 * A residual that falls no further, here and in GMRES, is due to rounding if it is a small multiple
 * of ε ‖A‖ ‖x‖: no x of this precision is much better. Else something is wrong with A or B. */
typedef struct eg_pcg eg_pcg;

/* B: NULL for none. The linear maps' users are not owned. */
eg_status eg_pcg_create(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                        const eg_krylov_options *options, eg_pcg **out);
void eg_pcg_destroy(eg_pcg **pcg);
eg_status eg_pcg_solve(eg_pcg *pcg, eg_buffer *b, eg_buffer *x, eg_krylov_result *result);

/* GMRES, restarted, preconditioned from the right [saad1993], for any A. Keeps 2*restart + 1
 * vectors. It has stagnated when a whole cycle has lowered the residual by less than a millionth:
 * the next would do the same. */
typedef struct eg_gmres eg_gmres;

eg_status eg_gmres_create(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                          const eg_krylov_options *options, eg_gmres **out);
void eg_gmres_destroy(eg_gmres **gmres);
eg_status eg_gmres_solve(eg_gmres *gmres, eg_buffer *b, eg_buffer *x, eg_krylov_result *result);

#endif
