/* Jacobi: the inverses of the operator's diagonal blocks, or of its diagonal alone, as a preconditioner
 * and for smoothing. */
#ifndef EG_ELLIPTIC_BLOCKS_H
#define EG_ELLIPTIC_BLOCKS_H

#include "model/elliptic/operator.h"
#include "solver/solver.h"

typedef enum eg_blocks_kind {
    EG_BLOCKS_WHOLE,   /* a block for each element, n (n + 1)/2 values of n nodes */
    EG_BLOCKS_DIAGONAL /* one for each node, n values */
} eg_blocks_kind;

typedef struct eg_blocks eg_blocks;

/* Of the operator's precision; the operator is asked for its blocks and not kept. vectors: of its
 * space, one component. EG_ERROR_NUMERIC if a block is not positive definite. Needs twice as much
 * memory meanwhile, and more in single precision. Collective. */
eg_status eg_blocks_create(eg_elliptic *op, eg_vectors *vectors, eg_blocks_kind kind,
                           eg_blocks **out);
void eg_blocks_destroy(eg_blocks **blocks);

/* z = B r, and steps of smoothing in one pass. On own elements. Allocates nothing. */
eg_linear eg_blocks_linear(eg_blocks *blocks);

/* Of whole blocks: z = B r for vectors of EG_F64, whatever the blocks are of: their numbers are read as they stand. Collective. */
eg_status eg_blocks_widen(eg_blocks *blocks, eg_linear *out);

#endif
