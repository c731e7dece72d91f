/* Chebyshev smoothing with a preconditioner, and estimates of the eigenvalues it needs.
 *
 *     eg_lanczos(vectors, A, &B, 15, &spectrum);
 *     eg_chebyshev_create(vectors, A, &B,
 *                         &(eg_chebyshev_options){.kind = EG_CHEBYSHEV_OPTIMAL, .degree = 3,
 *                                                 .largest = spectrum.largest}, &smoother);
 *     eg_chebyshev_smooth(smoother, b, x, false);
 */
#ifndef EG_SOLVER_CHEBYSHEV_H
#define EG_SOLVER_CHEBYSHEV_H

#include "solver/krylov.h"

/* Estimates from inside of the extreme eigenvalues of B A, which for a singular A are those but for
 * zero. */
typedef struct eg_spectrum {
    double least, largest;
} eg_spectrum;

/* By up to `steps` steps of Lanczos' method [lanczos1950], in the form of conjugate gradients,
 * from a random start, the same on every run. A and B (NULL: none) are symmetric;
 * EG_ERROR_NUMERIC if one turns out not to be positive (semi)definite. Allocates and drops what
 * it needs: for set-up. */
eg_status eg_lanczos(eg_vectors *vectors, eg_linear A, const eg_linear *B, int steps,
                     eg_spectrum *out);

typedef enum eg_chebyshev_kind {
    EG_CHEBYSHEV_FIRST,  /* least error on [largest / ratio, 1.1 largest] [adams2003] */
    EG_CHEBYSHEV_FOURTH, /* on (0, 1.1 largest], weighted as a V-cycle does [lottes2023] */
    EG_CHEBYSHEV_OPTIMAL /* the same with the weights that make the V-cycle's bound least */
} eg_chebyshev_kind;

/* Degrees, which are applications of B for one of smoothing. */
enum { EG_CHEBYSHEV_DEGREE_MOST = 16, EG_CHEBYSHEV_OPTIMAL_MOST = 6 };

typedef struct eg_chebyshev_options {
    eg_chebyshev_kind kind;
    int degree;     /* 0: 2 */
    double largest; /* estimate of the largest eigenvalue of B A */
    double ratio;   /* first kind: of the interval's ends; 0: the degree squared, at least 2 */
} eg_chebyshev_options;

/* Step i of a smoothing: d = a d + c B r, x += w d, then r -= A d. */
typedef struct eg_chebyshev_step {
    double a, c, w;
} eg_chebyshev_step;

/* steps [degree]; EG_ERROR_ARGUMENT if the options make no sense. Fills in their defaults. */
eg_status eg_chebyshev_plan(eg_context *ctx, eg_chebyshev_options *options,
                            eg_chebyshev_step *steps);

typedef struct eg_chebyshev eg_chebyshev;

/* B: NULL for none. The linear maps' users are not owned. */
eg_status eg_chebyshev_create(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                              const eg_chebyshev_options *options, eg_chebyshev **out);
void eg_chebyshev_destroy(eg_chebyshev **chebyshev);
/* Makes x a better solution of A x = b; with `zero` x is 0 before, whatever it holds. Not
 * collective but for what A and B do. */
eg_status eg_chebyshev_smooth(eg_chebyshev *chebyshev, eg_buffer *b, eg_buffer *x, bool zero);
/* b ↦ x from x = 0: a symmetric positive definite preconditioner where 1.1 `largest` is no less
 * than the largest eigenvalue. */
eg_linear eg_chebyshev_linear(eg_chebyshev *chebyshev);

#endif
