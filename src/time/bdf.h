/* Backward differentiation and extrapolation on steps of any lengths. */
#ifndef EG_TIME_BDF_H
#define EG_TIME_BDF_H

#define EG_BDF_ORDER_MAX 3

/* The weights of values at times [count] in the polynomial through them at t. */
void eg_lagrange_weights(int count, const double *times, double t, double *weights);

/* At t, with values U_i at times [order], the last first, and dt = t - times[0]:
 *     dt dU/dt(t) = gamma U(t) - Σ beta_i U_i,    f(t) ≈ Σ alpha_i f(times[i]),
 * both of this order. With equal steps: 1; 1; 1 — 3/2; 2, -1/2; 2, -1 — 11/6; 3, -3/2, 1/3; 3, -3, 1. */
typedef struct eg_bdf {
    double gamma, beta[EG_BDF_ORDER_MAX], alpha[EG_BDF_ORDER_MAX];
} eg_bdf;
eg_bdf eg_bdf_at(int order, const double *times, double t);

#endif
