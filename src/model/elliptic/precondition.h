/* The preconditioners of model `elliptic`, by name. */
#ifndef EG_ELLIPTIC_PRECONDITION_H
#define EG_ELLIPTIC_PRECONDITION_H

#include "model/elliptic/levels.h"

/* In the order of the choices of solver.preconditioner. */
typedef enum eg_precondition_kind {
    EG_PRECONDITION_NONE,
    EG_PRECONDITION_MASS,      /* the inverse of each element's mass matrix */
    EG_PRECONDITION_BLOCKS,    /* the inverse of each element's block of the operator */
    EG_PRECONDITION_AMG,       /* algebraic multigrid on the whole matrix */
    EG_PRECONDITION_PMG_AMG,   /* p-multigrid, below it AMG on degree 1 */
    EG_PRECONDITION_PMG_CG_AMG /* the same with continuous functions of degree 1 between */
} eg_precondition_kind;

typedef struct eg_precondition_options {
    eg_precondition_kind kind;
    eg_levels_options levels; /* p-multigrid; `real` and `amg` serve AMG alone, too */
} eg_precondition_options;

/* What a kind is best with. */
eg_precondition_options eg_precondition_defaults(eg_precondition_kind kind);
/* What section [solver] says; a key that has no meaning there is EG_ERROR_INPUT. */
eg_status eg_precondition_from_case(const eg_case *cas, eg_precondition_options *out);

typedef struct eg_precondition eg_precondition;

/* For an operator of EG_F64, which must outlive it, and vectors of its space. Collective. */
eg_status eg_precondition_create(eg_elliptic *op, eg_vectors *vectors,
                                 const eg_precondition_options *options, eg_precondition **out);
void eg_precondition_destroy(eg_precondition **precondition);

/* z = B r; NULL if the kind is none. Allocates nothing. */
const eg_linear *eg_precondition_linear(const eg_precondition *precondition);
/* Bytes that all its buffers have on this rank's device: matrices, factors, tables and vectors. */
size_t eg_precondition_bytes(const eg_precondition *precondition);

#endif
