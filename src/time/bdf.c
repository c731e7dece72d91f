/* Coefficients of backward differentiation and extrapolation, by Lagrange's polynomials. */
#include "time/bdf.h"

#include <assert.h>

void eg_lagrange_weights(int count, const double *times, double t, double *weights)
{
    for (int i = 0; i < count; i++) {
        weights[i] = 1;
        for (int j = 0; j < count; j++)
            if (j != i) weights[i] *= (t - times[j]) / (times[i] - times[j]);
    }
}

eg_bdf eg_bdf_at(int order, const double *times, double t)
{
    const double dt = t - times[0];
    eg_bdf b = {0};
    assert(order >= 1 && order <= EG_BDF_ORDER_MAX);
    eg_lagrange_weights(order, times, t, b.alpha);
    /* The polynomial through U(t), too: that of value i vanishes at t, so that its slope there is
     * what is left when the factor t - t is taken out. */
    for (int i = 0; i < order; i++) {
        b.gamma += dt / (t - times[i]);
        b.beta[i] = -dt / (times[i] - t) * b.alpha[i];
    }
    return b;
}
