/* Aggregation: the host's part of setting AMG up.
 *
 * Roots of aggregates are a maximal independent set of rows in the graph of strong connections,
 * no two within distance 2, found in the order of rows; an aggregate is its root and the root's
 * neighbours. Rows that are left join the aggregate they are most strongly connected to
 * [vanek1996]. */
#include "solver/amg_parts.h"

#include "base/dense.h"

#include <math.h>
#include <string.h>

/* A row is dominated by its diagonal if its other entries add up to no more than this part of it … */
#define DOMINATED 0.5
/* … and else connections are strong, whatever the limit, from this part of a row's strongest on. */
#define WEAKER 0.3
/* What is left of a diagonal without weak connections counts as at least this part of it. */
#define LEFT 0.5

static double diagonal_entry(const eg_csr *a, int32_t i)
{
    for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++)
        if (a->column[k] == i) return a->value[k];
    return 0.0;
}

eg_status eg_amg_invert_diagonal(const eg_csr *a, double *out)
{
    for (int32_t i = 0; i < a->rows; i++) {
        const double d = diagonal_entry(a, i);
        if (!(d > 0.0) || !isfinite(d))
            return eg_fail(
                a->ctx, EG_ERROR_NUMERIC,
                "the diagonal entry of row %d of %d is %g; a positive definite matrix has "
                "positive ones",
                i, a->rows, d);
        out[i] = 1.0 / d;
    }
    return EG_OK;
}

/* Which connections are strong. */
typedef struct graph {
    const eg_csr *a;         /* not owned */
    const double *near_null; /* [rows] not owned */
    double *inverse;         /* [rows] 1 / a_ii */
    double *limit;           /* [rows] how strong a row's connections must be */
    bool *dominated;         /* [rows] by its diagonal */
} graph;

static void free_graph(graph *g)
{
    eg_release(g->a->ctx, &g->dominated);
    eg_release(g->a->ctx, &g->limit);
    eg_release(g->a->ctx, &g->inverse);
}

/* |a_ij| / √(a_ii a_jj) of entry k of row i; 0 on the diagonal, and where a_ij makes i and j differ from
 * each other as the near-null vector does not, like positive entries do for constants: those of
 * flat elements in the direction in which they are long. */
static double connection(const graph *g, int32_t i, int64_t k)
{
    const int32_t j = g->a->column[k];
    if (j == i || g->a->value[k] * g->near_null[i] * g->near_null[j] >= 0.0) return 0.0;
    return fabs(g->a->value[k]) * sqrt(g->inverse[i] * g->inverse[j]);
}

/* For both of its ends: what is held by two bodies, next to nothing to either, does not join them. */
static bool is_strong(const graph *g, int32_t i, int64_t k)
{
    const double size = connection(g, i, k);
    return size > 0.0 && size >= g->limit[i] && size >= g->limit[g->a->column[k]];
}

/* Rows whose diagonal does not dominate have strong connections, however many weak ones they have:
 * those not much weaker than the strongest. */
static eg_status make_graph(const eg_csr *a, double strength, const double *near_null, graph *g)
{
    eg_status status = EG_OK;
    *g = (graph){.a = a, .near_null = near_null};
    EG_TRY(eg_new(a->ctx, (size_t)a->rows, &g->inverse));
    EG_TRY(eg_new(a->ctx, (size_t)a->rows, &g->limit));
    EG_TRY(eg_new(a->ctx, (size_t)a->rows, &g->dominated));
    EG_TRY(eg_amg_invert_diagonal(a, g->inverse));
    for (int32_t i = 0; i < a->rows; i++) {
        double strongest = 0.0, sum = 0.0;
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++) {
            strongest = fmax(strongest, connection(g, i, k));
            if (a->column[k] != i) sum += fabs(a->value[k]) * g->inverse[i];
        }
        g->dominated[i] = sum <= DOMINATED;
        g->limit[i] = g->dominated[i] ? strength : fmin(strength, WEAKER * strongest);
    }
done:
    return status;
}

/* Rows whose neighbours are all free become roots. One without strong connections is left to smoothing
 * if its diagonal dominates, and else an aggregate by itself: a body in a soft medium, held by many
 * connections none of which counts. */
static int32_t find_roots(const graph *g, int32_t *aggregate)
{
    const eg_csr *a = g->a;
    int32_t count = 0;
    for (int32_t i = 0; i < a->rows; i++) {
        bool free = aggregate[i] < 0, alone = true;
        for (int64_t k = a->offset[i]; free && k < a->offset[i + 1]; k++)
            if (is_strong(g, i, k)) {
                alone = false;
                free = aggregate[a->column[k]] < 0;
            }
        if (!free || (alone && g->dominated[i])) continue;
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++)
            if (is_strong(g, i, k)) aggregate[a->column[k]] = count;
        aggregate[i] = count++;
    }
    return count;
}

/* Rows that are left join their strongest neighbour's aggregate; joined [rows]. */
static void join_rest(const graph *g, const int32_t *aggregate, int32_t *joined)
{
    const eg_csr *a = g->a;
    for (int32_t i = 0; i < a->rows; i++) {
        double strongest = 0.0;
        joined[i] = aggregate[i];
        for (int64_t k = a->offset[i]; aggregate[i] < 0 && k < a->offset[i + 1]; k++) {
            if (!is_strong(g, i, k) || aggregate[a->column[k]] < 0) continue;
            const double size = connection(g, i, k);
            if (size > strongest) {
                strongest = size;
                joined[i] = aggregate[a->column[k]];
            }
        }
    }
}

eg_status eg_amg_aggregate(const eg_csr *a, double strength, const double *near_null,
                           int32_t *aggregate, int32_t *count)
{
    graph g;
    int32_t *joined = NULL;
    eg_status status = EG_OK;
    EG_TRY(make_graph(a, strength, near_null, &g));
    EG_TRY(eg_new(a->ctx, (size_t)a->rows, &joined));
    for (int32_t i = 0; i < a->rows; i++)
        aggregate[i] = -1;
    *count = find_roots(&g, aggregate);
    /* A row that is no root has a neighbour in an aggregate, for it would be one else. */
    join_rest(&g, aggregate, joined);
    memcpy(aggregate, joined, (size_t)a->rows * sizeof *joined);
done:
    eg_release(a->ctx, &joined);
    free_graph(&g);
    return status;
}

eg_status eg_amg_tentative(const eg_csr *a, const int32_t *aggregate, int32_t count,
                           const double *near_null, double *coarse, eg_csr **out)
{
    eg_csr *t = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_csr_create(a->ctx, a->rows, count, a->rows, &t));
    for (int32_t i = 0; i < count; i++)
        coarse[i] = 0.0;
    for (int32_t i = 0; i < a->rows; i++)
        if (aggregate[i] >= 0) coarse[aggregate[i]] += near_null[i] * near_null[i];
    for (int32_t i = 0; i < count; i++)
        coarse[i] = sqrt(coarse[i]);
    for (int32_t i = 0; i < a->rows; i++) {
        int64_t at = t->offset[i];
        if (aggregate[i] >= 0 && coarse[aggregate[i]] > 0.0) {
            t->column[at] = aggregate[i];
            t->value[at++] = near_null[i] / coarse[aggregate[i]];
        }
        t->offset[i + 1] = at;
    }
    *out = t;
done:
    return status;
}

/* a without its weak connections, which are added to the diagonal so that it makes the same of the
 * near-null vector. */
static eg_status filter(const eg_csr *a, double strength, const double *near_null, eg_csr **out)
{
    graph g;
    eg_csr *f = NULL;
    eg_status status = EG_OK;
    EG_TRY(make_graph(a, strength, near_null, &g));
    EG_TRY(eg_csr_create(a->ctx, a->rows, a->columns, a->offset[a->rows], &f));
    for (int32_t i = 0; i < a->rows; i++) {
        int64_t at = f->offset[i], diagonal = at;
        double weak = 0.0;
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++) {
            if (a->column[k] == i) {
                diagonal = at;
            } else if (!is_strong(&g, i, k)) {
                if (near_null[i] != 0.0)
                    weak += a->value[k] * near_null[a->column[k]] / near_null[i];
                continue;
            }
            f->column[at] = a->column[k];
            f->value[at++] = a->value[k];
        }
        f->value[diagonal] += weak;
        f->offset[i + 1] = at;
    }
    *out = f;
    f = NULL;
done:
    eg_csr_destroy(&f);
    free_graph(&g);
    return status;
}

eg_status eg_amg_smooth_prolongation(const eg_csr *a, double strength, const double *near_null,
                                     double omega, const eg_csr *tentative, eg_csr **out)
{
    eg_csr *f = NULL, *p = NULL;
    eg_status status = EG_OK;
    EG_TRY(filter(a, strength, near_null, &f));
    EG_TRY(eg_csr_multiply(f, tentative, &p));
    for (int32_t i = 0; i < p->rows; i++) {
        const int64_t own = tentative->offset[i];
        /* What is left of a diagonal may be next to nothing. */
        const double factor = -omega / fmax(diagonal_entry(f, i), LEFT * diagonal_entry(a, i));
        for (int64_t k = p->offset[i]; k < p->offset[i + 1]; k++) {
            p->value[k] *= factor;
            if (own < tentative->offset[i + 1] && p->column[k] == tentative->column[own])
                p->value[k] += tentative->value[own];
        }
    }
    *out = p;
done:
    eg_csr_destroy(&f);
    return status;
}

/* Scaled to a diagonal of ones, so that coefficients of very different size do not pass for a
 * null space; what is below that (the constants of a problem without Dirichlet conditions) is
 * left out. */
eg_status eg_amg_invert(const eg_csr *a, eg_csr **out)
{
    const int n = a->rows;
    double *dense = NULL, *values = NULL, *vectors = NULL, *scale = NULL;
    eg_csr *inverse = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->ctx, (size_t)n * (size_t)n, &dense));
    EG_TRY(eg_new(a->ctx, (size_t)n * (size_t)n, &vectors));
    EG_TRY(eg_new(a->ctx, (size_t)n, &values));
    EG_TRY(eg_new(a->ctx, (size_t)n, &scale));
    EG_TRY(eg_amg_invert_diagonal(a, scale));
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++)
            dense[i * n + a->column[k]] = a->value[k] * sqrt(scale[i] * scale[a->column[k]]);
    EG_TRY(eg_dense_eigen_symmetric(a->ctx, n, dense, values, vectors));
    EG_TRY(eg_csr_create(a->ctx, n, n, (int64_t)n * n, &inverse));
    memset(dense, 0, (size_t)n * (size_t)n * sizeof *dense);
    for (int m = 0; m < n; m++) { /* row m of `dense`: vector m over its value */
        const bool counts = values[m] > 1e-12 * values[n - 1];
        for (int j = 0; j < n; j++)
            dense[m * n + j] = counts ? vectors[m * n + j] / values[m] : 0.0;
    }
    double *transposed = inverse->value; /* for a moment */
    eg_dense_transpose(n, n, vectors, transposed);
    memcpy(vectors, transposed, (size_t)n * (size_t)n * sizeof *vectors);
    eg_dense_multiply(n, n, n, vectors, dense, inverse->value);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            inverse->column[i * n + j] = j;
            inverse->value[i * n + j] *= sqrt(scale[i] * scale[j]);
        }
        inverse->offset[i + 1] = (int64_t)(i + 1) * n;
    }
    *out = inverse;
    inverse = NULL;
done:
    eg_csr_destroy(&inverse);
    eg_release(a->ctx, &scale);
    eg_release(a->ctx, &values);
    eg_release(a->ctx, &vectors);
    eg_release(a->ctx, &dense);
    return status;
}
