/* Small dense linear algebra on LAPACK.
 *
 * LAPACK is column-major: it sees the transpose of what we hand it. The transpose's factorisation
 * solves our system just as well, its inverse is our inverse transposed back, and a symmetric
 * matrix is its own transpose, so only right-hand sides are ever moved. The *_work interfaces take their
 * work space from us: LAPACKE's others call malloc behind the context's back.
 */
#include "base/dense.h"

#include <assert.h>
#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

static size_t area(int rows, int cols)
{
    assert(rows >= 0 && cols >= 0);
    return (size_t)rows * (size_t)cols;
}

void eg_dense_multiply(int m, int k, int n, const double *a, const double *b, double *c)
{
    if (area(m, n) == 0) return;
    if (k == 0) {
        memset(c, 0, area(m, n) * sizeof *c);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, a, k, b, n, 0.0, c, n);
}

void eg_dense_transpose(int rows, int cols, const double *a, double *at)
{
    for (size_t i = 0; i < (size_t)rows; i++)
        for (size_t j = 0; j < (size_t)cols; j++)
            at[j * (size_t)rows + i] = a[i * (size_t)cols + j];
}

/* Largest sum of absolute values in a column of a [n][n]; NaN if a holds one. */
static double norm_1(int n, const double *a)
{
    double norm = 0.0;
    for (size_t j = 0; j < (size_t)n; j++) {
        double sum = 0.0;
        for (size_t i = 0; i < (size_t)n; i++)
            sum += fabs(a[i * (size_t)n + j]);
        if (!(sum <= norm)) norm = sum;
        if (isnan(norm)) return norm;
    }
    return norm;
}

/* LAPACK refuses an argument only by our own mistake. */
static eg_status bad_argument(eg_context *ctx, const char *routine, int info)
{
    return eg_fail(ctx, EG_ERROR_NUMERIC, "LAPACK's %s refuses its argument %d", routine, -info);
}

static eg_status singular(eg_context *ctx, int n, double reciprocal_condition)
{
    return eg_fail(
        ctx, EG_ERROR_NUMERIC,
        "a %d by %d matrix is singular to working precision (reciprocal condition number "
        "%.2g)",
        n, n, reciprocal_condition);
}

/* The LU factors of a's transpose, and the reciprocal of a's condition number: 0 if it is singular,
 * NaN if it holds a NaN or an infinity. */
typedef struct factors {
    double *lu;     /* [n][n] */
    lapack_int *at; /* [n], pivots */
    double reciprocal_condition;
} factors;

static void release_factors(eg_context *ctx, factors *f)
{
    eg_release(ctx, &f->lu);
    eg_release(ctx, &f->at);
}

static eg_status factorise(eg_context *ctx, int n, const double *a, factors *f)
{
    eg_status status = EG_OK;
    double *work = NULL;
    lapack_int *integer_work = NULL;

    EG_TRY(eg_new(ctx, area(n, n), &f->lu));
    EG_TRY(eg_new(ctx, (size_t)n, &f->at));
    EG_TRY(eg_new(ctx, 4 * (size_t)n, &work));
    EG_TRY(eg_new(ctx, (size_t)n, &integer_work));

    double norm = norm_1(n, a);
    if (!isfinite(norm)) {
        f->reciprocal_condition = NAN;
        goto done;
    }
    memcpy(f->lu, a, area(n, n) * sizeof *a);
    lapack_int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, f->lu, n, f->at);
    if (info < 0) {
        status = bad_argument(ctx, "dgetrf", info);
        goto done;
    }
    if (info > 0) goto done; /* a pivot is exactly 0 */

    /* Our 1-norm is the infinity norm of the transpose. */
    info = LAPACKE_dgecon_work(LAPACK_COL_MAJOR, 'I', n, f->lu, n, norm, &f->reciprocal_condition,
                               work, integer_work);
    if (info != 0) status = bad_argument(ctx, "dgecon", info);
done:
    eg_release(ctx, &integer_work);
    eg_release(ctx, &work);
    return status;
}

static bool is_singular(double reciprocal_condition)
{
    return !(reciprocal_condition >= 0.5 * DBL_EPSILON);
}

eg_status eg_dense_solve(eg_context *ctx, int n, int columns, const double *a, const double *b,
                         double *x)
{
    eg_status status = EG_OK;
    factors f = {0};
    double *xt = NULL; /* [columns][n], LAPACK's right-hand sides */
    if (area(n, columns) == 0) return EG_OK;

    EG_TRY(factorise(ctx, n, a, &f));
    if (is_singular(f.reciprocal_condition)) {
        status = singular(ctx, n, f.reciprocal_condition);
        goto done;
    }
    EG_TRY(eg_new(ctx, area(n, columns), &xt));
    eg_dense_transpose(n, columns, b, xt);
    lapack_int info = LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', n, columns, f.lu, n, f.at, xt, n);
    if (info != 0) {
        status = bad_argument(ctx, "dgetrs", info);
        goto done;
    }
    eg_dense_transpose(columns, n, xt, x);
done:
    eg_release(ctx, &xt);
    release_factors(ctx, &f);
    return status;
}

eg_status eg_dense_cholesky_solve(eg_context *ctx, int n, int columns, const double *a,
                                  const double *b, double *x)
{
    eg_status status = EG_OK;
    double *l = NULL, *xt = NULL; /* [n][n], [columns][n] */
    if (area(n, columns) == 0) return EG_OK;

    EG_TRY(eg_new(ctx, area(n, n), &l));
    EG_TRY(eg_new(ctx, area(n, columns), &xt));
    memcpy(l, a, area(n, n) * sizeof *a);
    eg_dense_transpose(n, columns, b, xt);

    /* Our lower triangle is the upper one of the transpose. */
    lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, l, n);
    /* A NaN passes some dpotrf; it then stands in the pivot of its row. */
    for (int i = 0; i < n && info == 0; i++)
        if (!isfinite(l[area(n + 1, i)])) info = i + 1;
    if (info > 0) {
        status = eg_fail(ctx, EG_ERROR_NUMERIC,
                         "a %d by %d matrix is not positive definite: its leading minor of order "
                         "%d is not positive",
                         n, n, info);
        goto done;
    }
    if (info == 0) info = LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', n, columns, l, n, xt, n);
    if (info != 0) {
        status = bad_argument(ctx, "dpotrf or dpotrs", info);
        goto done;
    }
    eg_dense_transpose(columns, n, xt, x);
done:
    eg_release(ctx, &xt);
    eg_release(ctx, &l);
    return status;
}

eg_status eg_dense_inverse(eg_context *ctx, int n, const double *a, double *inverse)
{
    eg_status status = EG_OK;
    factors f = {0};
    double *work = NULL;
    if (n == 0) return EG_OK;

    EG_TRY(factorise(ctx, n, a, &f));
    if (is_singular(f.reciprocal_condition)) {
        status = singular(ctx, n, f.reciprocal_condition);
        goto done;
    }
    double wanted = 0.0;
    lapack_int info = LAPACKE_dgetri_work(LAPACK_COL_MAJOR, n, f.lu, n, f.at, &wanted, -1);
    lapack_int size = wanted > n ? (lapack_int)wanted : n;
    EG_TRY(eg_new(ctx, (size_t)size, &work));
    if (info == 0) info = LAPACKE_dgetri_work(LAPACK_COL_MAJOR, n, f.lu, n, f.at, work, size);
    if (info != 0) {
        status = bad_argument(ctx, "dgetri", info);
        goto done;
    }
    memcpy(inverse, f.lu, area(n, n) * sizeof *inverse);
done:
    eg_release(ctx, &work);
    release_factors(ctx, &f);
    return status;
}

eg_status eg_dense_condition(eg_context *ctx, int n, const double *a, double *condition)
{
    factors f = {0};
    *condition = 1.0;
    if (n == 0) return EG_OK;
    eg_status status = factorise(ctx, n, a, &f);
    if (status == EG_OK) *condition = 1.0 / f.reciprocal_condition;
    release_factors(ctx, &f);
    return status;
}

eg_status eg_dense_eigen_symmetric(eg_context *ctx, int n, const double *a, double *values,
                                   double *vectors)
{
    eg_status status = EG_OK;
    double *q = NULL, *work = NULL; /* [n][n]; work space */
    if (n == 0) return EG_OK;

    char job = vectors ? 'V' : 'N';
    EG_TRY(eg_new(ctx, area(n, n), &q));
    memcpy(q, a, area(n, n) * sizeof *a);
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t j = 0; j <= i; j++)
            if (!isfinite(q[i * (size_t)n + j])) {
                status = eg_fail(ctx, EG_ERROR_NUMERIC,
                                 "entry (%zu, %zu) of a matrix whose eigenvalues are wanted is %g",
                                 i, j, q[i * (size_t)n + j]);
                goto done;
            }

    double wanted = 0.0;
    lapack_int info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, job, 'U', n, q, n, values, &wanted, -1);
    lapack_int size = wanted > 3 * n ? (lapack_int)wanted : 3 * n;
    EG_TRY(eg_new(ctx, (size_t)size, &work));
    if (info == 0)
        info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, job, 'U', n, q, n, values, work, size);
    if (info > 0)
        status = eg_fail(ctx, EG_ERROR_NUMERIC,
                         "the eigenvalues of a %d by %d matrix did not converge", n, n);
    else if (info < 0)
        status = bad_argument(ctx, "dsyev", info);
    else if (vectors)
        memcpy(vectors, q, area(n, n) * sizeof *q);
done:
    eg_release(ctx, &work);
    eg_release(ctx, &q);
    return status;
}
