/* The operator as solvers see it. */
#include "model/elliptic/linear.h"

#include "model/elliptic/parts.h"

static eg_status multiply(void *user, eg_buffer *x, eg_buffer *y)
{
    return eg_elliptic_apply(user, x, y);
}

static eg_status subtract(void *user, eg_buffer *b, eg_buffer *x, eg_buffer *y)
{
    return eg_elliptic_residual(user, b, x, y);
}

eg_linear eg_elliptic_linear(eg_elliptic *op)
{
    return (eg_linear){.user = op, .apply = multiply, .residual = subtract};
}

static eg_status make(eg_elliptic *op, eg_vectors *vectors, eg_buffer **constants,
                      eg_buffer **weights)
{
    eg_expression *one = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_expression_create(op->space->ctx, "1", NULL, 0, NULL, &one));
    EG_TRY(eg_vectors_new(vectors, constants));
    EG_TRY(eg_vectors_fill(vectors, 1, *constants));
    EG_TRY(eg_vectors_new(vectors, weights));
    EG_TRY(eg_elliptic_load(op, &(eg_elliptic_data){.source = one}, 0, *weights));
done:
    eg_expression_destroy(&one);
    return status;
}

eg_status eg_elliptic_constants(eg_elliptic *op, eg_vectors *vectors, eg_buffer **constants,
                                eg_buffer **weights)
{
    return eg_comm_agree(op->space->comm, make(op, vectors, constants, weights));
}
