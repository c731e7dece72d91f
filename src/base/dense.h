/* Small dense linear algebra in double precision, for matrices made at set-up: the only place where
 * LAPACK and BLAS are called.
 *
 * Matrices are row-major without padding: a has shape [rows][cols]. Inputs are not changed; outputs
 * may not overlap inputs. A matrix that is singular to working precision (its reciprocal condition
 * number is below the rounding unit, or it holds a NaN) is EG_ERROR_NUMERIC.
 */
#ifndef EG_DENSE_H
#define EG_DENSE_H

#include "base/base.h"

/* c [m][n] = a [m][k] b [k][n]; any of m, k, n may be 0. */
void eg_dense_multiply(int m, int k, int n, const double *a, const double *b, double *c);

/* at [cols][rows] = transpose of a [rows][cols]. */
void eg_dense_transpose(int rows, int cols, const double *a, double *at);

/* Solves a x = b by LU with partial pivoting; a [n][n], b and x [n][columns]. */
eg_status eg_dense_solve(eg_context *ctx, int n, int columns, const double *a, const double *b,
                         double *x);

/* The same by Cholesky; a is symmetric positive definite (only its lower triangle is read), else
 * EG_ERROR_NUMERIC. */
eg_status eg_dense_cholesky_solve(eg_context *ctx, int n, int columns, const double *a,
                                  const double *b, double *x);

/* inverse [n][n] of a [n][n]. */
eg_status eg_dense_inverse(eg_context *ctx, int n, const double *a, double *inverse);

/* An estimate (from below, rarely by more than a factor of 3) of the condition number of a [n][n]
 * in the 1-norm; infinity if a is singular, NaN if it holds a NaN or an infinity. */
eg_status eg_dense_condition(eg_context *ctx, int n, const double *a, double *condition);

/* Eigenvalues in ascending order, values [n], of symmetric a [n][n] (only its lower triangle is
 * read). vectors [n][n], when not NULL: row i is the eigenvector of values[i], of length 1. */
eg_status eg_dense_eigen_symmetric(eg_context *ctx, int n, const double *a, double *values,
                                   double *vectors);

#endif
