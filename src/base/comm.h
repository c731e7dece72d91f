/* Collective operations and messages between the ranks of a communicator.
 *
 * Every rank calls the collective functions in the same order with the same counts. A failure is
 * EG_ERROR_COMM; the communicator can then only be destroyed.
 */
#ifndef EG_COMM_H
#define EG_COMM_H

#include "base/base.h"
#include "eagre/comm.h"

eg_status eg_comm_barrier(eg_comm *comm);

/* Replaces values[0 … count) by their sums over the ranks, added in the order of ranks: every rank
 * gets the same bits, every time. Allocates only when `count` is larger than ever before. */
eg_status eg_comm_sum(eg_comm *comm, size_t count, double *values);
/* The same with the maximum; NaN if any rank's value is NaN. */
eg_status eg_comm_max(eg_comm *comm, size_t count, double *values);

/* EG_OK if `mine` is that on every rank, else a failure: half of eg_comm_agree. */
eg_status eg_comm_check_others(eg_comm *comm, eg_status mine);

/* Ranks agree on whether what each of them did alone has worked: a rank's own failure is returned to
 * it with its message; the others fail with EG_ERROR_COMM, which names the first rank that failed. */
static inline eg_status eg_comm_agree(eg_comm *comm, eg_status mine)
{
    eg_status others = eg_comm_check_others(comm, mine);
    return mine != EG_OK ? mine : others;
}

/* eg_new on every rank or, where one has no memory for it, on none: what is destroyed after a failure has its members
 * set, or is NULL. */
#define eg_comm_new(comm, ctx, count, address)                                                     \
    eg_comm_keep((comm), (ctx), eg_new((ctx), (count), (address)), (address))

/* Of what each rank has made, nothing is left if one of them has failed: the other half of eg_comm_new. */
static inline eg_status eg_comm_keep(eg_comm *comm, eg_context *ctx, eg_status mine,
                                     void *block_address)
{
    eg_status status = eg_comm_agree(comm, mine);
    if (status != EG_OK) eg_release(ctx, block_address);
    return status;
}

/* Copies `bytes` bytes of rank `root` to all others. */
eg_status eg_comm_broadcast(eg_comm *comm, int root, size_t bytes, void *data);

/* Collects `bytes` bytes of every rank: all [size][bytes]; may not overlap `mine`. */
eg_status eg_comm_allgather(eg_comm *comm, size_t bytes, const void *mine, void *all);

/* One message to and one from a rank (this one, too). Either may be empty. Sizes agree with what
 * the other side says; several messages to one rank arrive in the order of the list. */
typedef struct eg_message {
    int rank;
    size_t send_bytes;
    const void *send; /* not owned, unchanged until the exchange was waited for */
    size_t receive_bytes;
    void *receive; /* not owned, undefined until the exchange was waited for */
} eg_message;

/* A repeatable exchange with neighbours: start, work, wait. Exchanges of one communicator may be
 * under way at the same time. */
typedef struct eg_exchange eg_exchange;

/* Copies the list. Collective: every rank creates its exchanges in the same order. */
eg_status eg_exchange_create(eg_comm *comm, const eg_message *messages, size_t count,
                             eg_exchange **out);
/* Destroys it and nulls the handle; NULL is accepted. It must have been waited for. */
void eg_exchange_destroy(eg_exchange **exchange);

/* Starts all messages and returns at once; allocates nothing. */
eg_status eg_exchange_start(eg_exchange *exchange);
/* Waits until all have arrived and all sent memory may be reused. */
eg_status eg_exchange_wait(eg_exchange *exchange);

#endif
