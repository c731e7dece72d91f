/* Algebraic multigrid for one sparse symmetric positive (semi)definite matrix, as a preconditioner.
 *
 *     eg_amg_create(device, host_matrix, &(eg_amg_options){.kind = EG_AMG_SMOOTHED}, &amg);
 *     eg_pcg_create(vectors, eg_sparse_linear(a), &(eg_linear){…eg_amg_linear(amg)…}, …);
 */
#ifndef EG_SOLVER_AMG_H
#define EG_SOLVER_AMG_H

#include "solver/chebyshev.h"
#include "solver/sparse.h"

typedef enum eg_amg_kind {
    EG_AMG_SMOOTHED,  /* smoothed aggregation [vanek1996], V-cycles unless told otherwise */
    EG_AMG_UNSMOOTHED /* plain aggregation, K-cycles on the finest levels [notay2010, karakus2018] */
} eg_amg_kind;

typedef struct eg_amg_options {
    eg_amg_kind kind;
    eg_type type; /* of all levels: EG_F64 or EG_F32 */
    /* Smoothing; `largest` is found by eg_amg_create. Default: the first kind, of degree 2. */
    eg_chebyshev_options smoother;
    /* i and j are strongly connected if |a_ij| ≥ strength √(a_ii a_jj), which is halved from level
     * to level, and a_ij has the sign that makes the near-null vector small; 0: 0.08. */
    double strength;
    int k_levels; /* how many of the finest levels have their coarse problems solved by two
                     iterations instead of one; 0: 2 if unsmoothed, else none; -1: none */
    int coarsest; /* a level with at most so many rows is solved directly; 0: 256 */
    const double *near_null; /* [rows] what the matrix makes small; NULL: ones; not kept */
    /* Several ranks, each of which has the whole matrix: right-hand sides are then what each
     * rank adds to it, and every rank computes the whole solution. NULL: this rank alone. Not
     * owned. */
    eg_comm *comm;
} eg_amg_options;

enum { EG_AMG_LEVELS_MOST = 24 };

typedef struct eg_amg_info {
    int levels;
    int32_t rows[EG_AMG_LEVELS_MOST];
    int64_t entries[EG_AMG_LEVELS_MOST];
    double complexity; /* entries of all levels over those of the first */
    size_t bytes;      /* on the device */
    bool direct;       /* the last level is solved directly, and not only smoothed */
} eg_amg_info;

typedef struct eg_amg eg_amg;

/* The matrix is not kept. A diagonal entry that is not positive is EG_ERROR_NUMERIC. Collective if
 * options->comm is not NULL. */
eg_status eg_amg_create(eg_device *device, const eg_csr *matrix, const eg_amg_options *options,
                        eg_amg **out);
void eg_amg_destroy(eg_amg **amg);
const eg_amg_info *eg_amg_get_info(const eg_amg *amg);

/* x = B b: one cycle from 0, on plain vectors of the levels' type. Allocates nothing and reads
 * nothing back from the device, but for what travels between ranks. A symmetric preconditioner
 * in V-cycles, one that varies with b in K-cycles. */
eg_status eg_amg_apply(eg_amg *amg, eg_buffer *b, eg_buffer *x);
eg_linear eg_amg_linear(eg_amg *amg);

/* A linear map of single precision inside of a solver of double precision. */
typedef struct eg_single eg_single;

/* vectors: the solver's, f64. `inner` takes f32 vectors of the same layout. */
eg_status eg_single_create(eg_vectors *vectors, eg_linear inner, eg_single **out);
void eg_single_destroy(eg_single **single);
eg_linear eg_single_linear(eg_single *single);

#endif
