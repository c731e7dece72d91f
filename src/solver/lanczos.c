/* Estimates of extreme eigenvalues by Lanczos' method in the form of conjugate gradients: their
 * step lengths are the entries of the tridiagonal matrix [saad2003, section 6.7.3], whose
 * eigenvalues lie among those of B A. The start is A times a random vector, so that a null space
 * of A does not count. */
#include "solver/chebyshev.h"

#include "base/dense.h"

#include <math.h>

/* A residual below this part of the first is rounding. */
static double rounding(eg_type type)
{
    return type == EG_F64 ? 1e-12 : 1e-5;
}

typedef struct search {
    eg_context *ctx;     /* not owned */
    eg_vectors *vectors; /* not owned */
    eg_linear A;
    const eg_linear *B;
    eg_buffer *r, *z, *p, *q;
    double rho;               /* z·r */
    double *matrix, *values;  /* [steps][steps], [steps] */
    double before[2], norm_0; /* α and β of the step before; ‖r‖ at the beginning */
} search;

static eg_status not_positive(eg_context *ctx, const char *what, double value)
{
    return eg_fail(ctx, EG_ERROR_NUMERIC,
                   "the %s is not symmetric positive definite: a product with a vector on both "
                   "sides is %g",
                   what, value);
}

/* z = B r and z·r; *more is false if nothing is left. */
static eg_status precondition(search *s, bool *more)
{
    double sums[2];
    eg_status status = EG_OK;
    EG_TRY(s->B ? s->B->apply(s->B->user, s->r, s->z) : eg_vectors_copy(s->vectors, s->r, s->z));
    EG_TRY(eg_vectors_dots(s->vectors, 2, (eg_vector_pair[]){{s->z, s->r}, {s->r, s->r}}, sums));
    const double norm = sqrt(sums[1]);
    if (s->norm_0 == 0.0) s->norm_0 = norm;
    s->rho = sums[0];
    *more = norm > rounding(s->vectors->type) * s->norm_0;
    if (*more && !(s->rho > 0.0)) EG_TRY(not_positive(s->ctx, "preconditioner", s->rho));
done:
    return status;
}

/* Row and column j of the matrix of `steps` rows, and the way on. */
static eg_status extend(search *s, int steps, int j, bool *more)
{
    const double rho = s->rho;
    double curvature, square;
    eg_status status = EG_OK;
    EG_TRY(s->A.apply(s->A.user, s->p, s->q));
    EG_TRY(eg_vectors_dots(s->vectors, 1, &(eg_vector_pair){s->p, s->q}, &curvature));
    if (!(curvature > 0.0)) EG_TRY(not_positive(s->ctx, "matrix", curvature));
    const double alpha = rho / curvature;
    s->matrix[j * steps + j] = 1.0 / alpha + (j ? s->before[1] / s->before[0] : 0.0);
    if (j) {
        const double side = sqrt(s->before[1]) / s->before[0];
        s->matrix[j * steps + j - 1] = s->matrix[(j - 1) * steps + j] = side;
    }
    /* z is made anew next: it takes what would be the solution. */
    EG_TRY(eg_vectors_advance(s->vectors, alpha, s->p, s->q, s->z, s->r, &square));
    EG_TRY(precondition(s, more));
    s->before[0] = alpha;
    s->before[1] = s->rho / rho;
    EG_TRY(eg_vectors_add(s->vectors, s->before[1], s->p, 1, &(double){1.0}, &s->z));
done:
    return status;
}

/* The extreme eigenvalues of the first n rows and columns. */
static eg_status find_extremes(search *s, int steps, int n, eg_spectrum *out)
{
    eg_status status = EG_OK;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s->matrix[i * n + j] = s->matrix[i * steps + j]; /* never behind what is read */
    EG_TRY(eg_dense_eigen_symmetric(s->ctx, n, s->matrix, s->values, NULL));
    *out = (eg_spectrum){.least = s->values[0], .largest = s->values[n - 1]};
done:
    return status;
}

static eg_status prepare(search *s, int steps)
{
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_new(s->vectors, &s->r));
    EG_TRY(eg_vectors_new(s->vectors, &s->z));
    EG_TRY(eg_vectors_new(s->vectors, &s->p));
    EG_TRY(eg_vectors_new(s->vectors, &s->q));
    EG_TRY(eg_new(s->ctx, (size_t)steps * (size_t)steps, &s->matrix));
    EG_TRY(eg_new(s->ctx, (size_t)steps, &s->values));
    const uint64_t rank = s->vectors->comm ? (uint64_t)eg_comm_rank(s->vectors->comm) : 0;
    EG_TRY(eg_vectors_fill_random(s->vectors, 1 + (rank << 32), s->p));
done:
    return status;
}

eg_status eg_lanczos(eg_vectors *vectors, eg_linear A, const eg_linear *B, int steps,
                     eg_spectrum *out)
{
    search s = {.ctx = eg_device_context(vectors->device), .vectors = vectors, .A = A, .B = B};
    bool more = true;
    int n = 0;
    eg_status status = EG_OK;
    if (steps < 1)
        return eg_fail(s.ctx, EG_ERROR_ARGUMENT, "%d steps of Lanczos' method; 1 is the least",
                       steps);
    status = prepare(&s, steps);
    if (vectors->comm) status = eg_comm_agree(vectors->comm, status);
    if (status != EG_OK) goto done;
    EG_TRY(A.apply(A.user, s.p, s.r));
    EG_TRY(precondition(&s, &more));
    EG_TRY(eg_vectors_copy(vectors, s.z, s.p));
    while (more && n < steps)
        EG_TRY(extend(&s, steps, n++, &more));
    if (n == 0)
        EG_TRY(eg_fail(s.ctx, EG_ERROR_NUMERIC,
                       "the matrix times a random vector is zero: it has no eigenvalues but 0"));
    EG_TRY(find_extremes(&s, steps, n, out));
done:
    eg_release(s.ctx, &s.values);
    eg_release(s.ctx, &s.matrix);
    eg_buffer_destroy(&s.q);
    eg_buffer_destroy(&s.p);
    eg_buffer_destroy(&s.z);
    eg_buffer_destroy(&s.r);
    return status;
}
