/* Communicators: what is the same with and without MPI.
 *
 * Sums gather every rank's values and add them in the order of ranks, because the order inside
 * MPI_Allreduce is the implementation's own. Reduced values are few; the gather costs what a
 * reduction does at the sizes where latency rules.
 */
#include "base/comm_transport.h"

#include <assert.h>
#include <math.h>
#include <string.h>

eg_status eg_comm_self(eg_context *ctx, eg_comm **out)
{
    eg_status status = eg_new(ctx, 1, out);
    if (status != EG_OK) return status;
    (*out)->ctx = ctx;
    (*out)->size = 1;
    return EG_OK;
}

void eg_comm_destroy(eg_comm **handle)
{
    eg_comm *comm = *handle;
    if (!comm) return;
    assert(comm->live_exchanges == 0);
    if (comm->transport) comm->transport->close(comm);
    eg_context *ctx = comm->ctx;
    eg_release(ctx, &comm->gathered);
    eg_release(ctx, handle);
}

int eg_comm_rank(const eg_comm *comm)
{
    return comm->rank;
}

int eg_comm_size(const eg_comm *comm)
{
    return comm->size;
}

eg_status eg_comm_barrier(eg_comm *comm)
{
    return comm->transport ? comm->transport->barrier(comm) : EG_OK;
}

eg_status eg_comm_broadcast(eg_comm *comm, int root, size_t bytes, void *data)
{
    assert(root >= 0 && root < comm->size);
    return comm->transport ? comm->transport->broadcast(comm, root, bytes, data) : EG_OK;
}

eg_status eg_comm_allgather(eg_comm *comm, size_t bytes, const void *mine, void *all)
{
    if (comm->transport) return comm->transport->allgather(comm, bytes, mine, all);
    if (bytes) memcpy(all, mine, bytes);
    return EG_OK;
}

/* Gathers values of all ranks into comm->gathered, [size][count]. */
static eg_status gather(eg_comm *comm, size_t count, const double *values)
{
    if (count > comm->gathered_count) {
        double *larger = NULL;
        eg_status status = eg_new(comm->ctx, count * (size_t)comm->size, &larger);
        if (status != EG_OK) return status;
        eg_release(comm->ctx, &comm->gathered);
        comm->gathered = larger;
        comm->gathered_count = count;
    }
    return eg_comm_allgather(comm, count * sizeof *values, values, comm->gathered);
}

eg_status eg_comm_sum(eg_comm *comm, size_t count, double *values)
{
    if (!comm->transport || count == 0) return EG_OK;
    eg_status status = gather(comm, count, values);
    if (status != EG_OK) return status;
    for (size_t i = 0; i < count; i++) {
        double sum = comm->gathered[i];
        for (size_t r = 1; r < (size_t)comm->size; r++)
            sum += comm->gathered[r * count + i];
        values[i] = sum;
    }
    return EG_OK;
}

eg_status eg_comm_max(eg_comm *comm, size_t count, double *values)
{
    if (!comm->transport || count == 0) return EG_OK;
    eg_status status = gather(comm, count, values);
    if (status != EG_OK) return status;
    for (size_t i = 0; i < count; i++) {
        double max = comm->gathered[i];
        for (size_t r = 1; r < (size_t)comm->size; r++) {
            double x = comm->gathered[r * count + i];
            if (x > max || isnan(x)) max = x;
        }
        values[i] = max;
    }
    return EG_OK;
}

eg_status eg_comm_check_others(eg_comm *comm, eg_status mine)
{
    /* The first rank that failed has the largest number. */
    double first = mine == EG_OK ? 0.0 : (double)(comm->size - comm->rank);
    eg_status status = eg_comm_max(comm, 1, &first);
    /* The message of a rank's own failure stays. */
    if (mine != EG_OK || status != EG_OK || first == 0.0) return mine != EG_OK ? mine : status;
    return eg_fail(comm->ctx, EG_ERROR_COMM, "rank %d failed", comm->size - (int)first);
}

eg_status eg_exchange_create(eg_comm *comm, const eg_message *messages, size_t count,
                             eg_exchange **out)
{
    eg_status status = EG_OK;
    eg_context *ctx = comm->ctx;
    eg_exchange *exchange = NULL;
    *out = NULL;
    /* Counted even if this fails, so that tags stay the same on all ranks. */
    int tag = comm->exchange_count++;

    for (size_t i = 0; i < count; i++) {
        const eg_message *m = &messages[i];
        if (m->rank < 0 || m->rank >= comm->size)
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "message %zu of an exchange names rank %d; there are ranks 0 to %d", i,
                           m->rank, comm->size - 1);
        if (m->rank == comm->rank && m->send_bytes != m->receive_bytes)
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "message %zu of an exchange sends %zu bytes to its own rank and expects "
                           "%zu",
                           i, m->send_bytes, m->receive_bytes);
    }
    EG_TRY(eg_new(ctx, 1, &exchange));
    exchange->comm = comm;
    exchange->tag = tag;
    comm->live_exchanges++;
    EG_TRY(eg_new(ctx, count, &exchange->messages));
    if (count) memcpy(exchange->messages, messages, count * sizeof *messages);
    exchange->count = count;
    if (comm->transport) EG_TRY(comm->transport->exchange_create(exchange));
    *out = exchange;
    exchange = NULL;
done:
    eg_exchange_destroy(&exchange);
    return status;
}

void eg_exchange_destroy(eg_exchange **handle)
{
    eg_exchange *exchange = *handle;
    if (!exchange) return;
    assert(!exchange->started);
    eg_comm *comm = exchange->comm;
    if (comm->transport) comm->transport->exchange_destroy(exchange);
    comm->live_exchanges--;
    eg_release(comm->ctx, &exchange->messages);
    eg_release(comm->ctx, handle);
}

eg_status eg_exchange_start(eg_exchange *exchange)
{
    eg_comm *comm = exchange->comm;
    assert(!exchange->started);
    if (comm->transport) {
        eg_status status = comm->transport->exchange_start(exchange);
        if (status != EG_OK) return status;
    }
    exchange->started = true;
    for (size_t i = 0; i < exchange->count; i++) {
        const eg_message *m = &exchange->messages[i];
        if (m->rank == comm->rank && m->send_bytes) memcpy(m->receive, m->send, m->send_bytes);
    }
    return EG_OK;
}

eg_status eg_exchange_wait(eg_exchange *exchange)
{
    assert(exchange->started);
    exchange->started = false;
    const eg_transport *transport = exchange->comm->transport;
    return transport ? transport->exchange_wait(exchange) : EG_OK;
}
