/* The MPI transport: a private duplicate of the caller's communicator that returns its errors. */
#include "base/comm_transport.h"

#ifdef EG_HAVE_MPI

#include "eagre/mpi.h"

#include <limits.h>
#include <string.h>

/* What every MPI offers as tags is 0 … 32767. Older exchanges than this are not under way. */
#define TAGS 32768

typedef struct requests {
    MPI_Request *request; /* [2 * count]: of message i receive at 2i, send at 2i + 1 */
    MPI_Status *status;   /* [2 * count] */
} requests;

static MPI_Comm mpi_of(const eg_comm *comm)
{
    return *(const MPI_Comm *)comm->state;
}

/* Turns the code of an MPI call into a status. */
static eg_status checked(eg_context *ctx, const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return EG_OK;
    MPI_Error_string(code, text, &length);
    return eg_fail(ctx, EG_ERROR_COMM, "%s failed: %s", call, text);
}

/* MPI counts in int. */
static eg_status check_size(eg_comm *comm, const char *what, size_t bytes)
{
    if (bytes <= INT_MAX) return EG_OK;
    return eg_fail(comm->ctx, EG_ERROR_UNSUPPORTED,
                   "%s of %zu bytes on rank %d is more than MPI takes at once (%d); use more ranks",
                   what, bytes, comm->rank, INT_MAX);
}

static void mpi_close(eg_comm *comm)
{
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Comm_free(comm->state);
    eg_release(comm->ctx, &comm->state);
}

static eg_status mpi_barrier(eg_comm *comm)
{
    return checked(comm->ctx, "MPI_Barrier", MPI_Barrier(mpi_of(comm)));
}

static eg_status mpi_broadcast(eg_comm *comm, int root, size_t bytes, void *data)
{
    eg_status status = EG_OK;
    for (size_t first = 0; first < bytes && status == EG_OK; first += INT_MAX) {
        int count = bytes - first < INT_MAX ? (int)(bytes - first) : INT_MAX;
        status = checked(comm->ctx, "MPI_Bcast",
                         MPI_Bcast((char *)data + first, count, MPI_BYTE, root, mpi_of(comm)));
    }
    return status;
}

static eg_status mpi_allgather(eg_comm *comm, size_t bytes, const void *mine, void *all)
{
    eg_status status = check_size(comm, "gathering", bytes);
    if (status != EG_OK) return status;
    return checked(
        comm->ctx, "MPI_Allgather",
        MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, mpi_of(comm)));
}

static void mpi_exchange_destroy(eg_exchange *exchange)
{
    requests *r = exchange->state;
    if (!r) return;
    eg_release(exchange->comm->ctx, &r->request);
    eg_release(exchange->comm->ctx, &r->status);
    eg_release(exchange->comm->ctx, &exchange->state);
}

static eg_status mpi_exchange_create(eg_exchange *exchange)
{
    eg_status status = EG_OK;
    eg_comm *comm = exchange->comm;
    for (size_t i = 0; i < exchange->count; i++) {
        EG_TRY(check_size(comm, "a message", exchange->messages[i].send_bytes));
        EG_TRY(check_size(comm, "a message", exchange->messages[i].receive_bytes));
    }
    EG_TRY(check_size(comm, "a list of messages", 2 * exchange->count));

    EG_TRY(eg_allocate(comm->ctx, sizeof(requests), &exchange->state));
    requests *r = exchange->state;
    EG_TRY(eg_new(comm->ctx, 2 * exchange->count, &r->request));
    EG_TRY(eg_new(comm->ctx, 2 * exchange->count, &r->status));
    for (size_t i = 0; i < 2 * exchange->count; i++)
        r->request[i] = MPI_REQUEST_NULL;
done:
    return status; /* the caller destroys the exchange if this failed */
}

/* After a failure: lets go of what is still under way. */
static void abandon(eg_exchange *exchange)
{
    requests *r = exchange->state;
    for (size_t i = 0; i < 2 * exchange->count; i++) {
        if (r->request[i] == MPI_REQUEST_NULL) continue;
        if (i % 2 == 0) MPI_Cancel(&r->request[i]);
        MPI_Request_free(&r->request[i]);
    }
}

static eg_status mpi_exchange_start(eg_exchange *exchange)
{
    eg_status status = EG_OK;
    eg_comm *comm = exchange->comm;
    requests *r = exchange->state;
    int tag = exchange->tag % TAGS;

    /* Receives first, so that no message arrives unexpected. */
    for (size_t i = 0; i < exchange->count; i++) {
        const eg_message *m = &exchange->messages[i];
        if (m->rank != comm->rank && m->receive_bytes)
            EG_TRY(checked(comm->ctx, "MPI_Irecv",
                           MPI_Irecv(m->receive, (int)m->receive_bytes, MPI_BYTE, m->rank, tag,
                                     mpi_of(comm), &r->request[2 * i])));
    }
    for (size_t i = 0; i < exchange->count; i++) {
        const eg_message *m = &exchange->messages[i];
        if (m->rank != comm->rank && m->send_bytes)
            EG_TRY(checked(comm->ctx, "MPI_Isend",
                           MPI_Isend(m->send, (int)m->send_bytes, MPI_BYTE, m->rank, tag,
                                     mpi_of(comm), &r->request[2 * i + 1])));
    }
done:
    if (status != EG_OK) abandon(exchange);
    return status;
}

static eg_status mpi_exchange_wait(eg_exchange *exchange)
{
    eg_status status = EG_OK;
    eg_comm *comm = exchange->comm;
    requests *r = exchange->state;
    int code = MPI_Waitall((int)(2 * exchange->count), r->request, r->status);
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
        EG_TRY(checked(comm->ctx, "MPI_Waitall", code));

    for (size_t i = 0; i < 2 * exchange->count; i++) {
        const eg_message *m = &exchange->messages[i / 2];
        /* MPI sets the error of each status only if it says so. */
        int error = code == MPI_ERR_IN_STATUS ? r->status[i].MPI_ERROR : MPI_SUCCESS;
        if (error != MPI_SUCCESS && error != MPI_ERR_PENDING)
            EG_TRY(checked(comm->ctx, i % 2 ? "a send" : "a receive", error));
        if (i % 2 == 1 || m->rank == comm->rank || !m->receive_bytes) continue;
        int got = 0;
        EG_TRY(checked(comm->ctx, "MPI_Get_count", MPI_Get_count(&r->status[i], MPI_BYTE, &got)));
        if ((size_t)got != m->receive_bytes) {
            status = eg_fail(comm->ctx, EG_ERROR_COMM,
                             "rank %d expected %zu bytes of rank %d and received %d", comm->rank,
                             m->receive_bytes, m->rank, got);
            goto done;
        }
    }
done:
    if (status != EG_OK) abandon(exchange);
    return status;
}

static const eg_transport mpi_transport = {
    .close = mpi_close,
    .barrier = mpi_barrier,
    .broadcast = mpi_broadcast,
    .allgather = mpi_allgather,
    .exchange_create = mpi_exchange_create,
    .exchange_destroy = mpi_exchange_destroy,
    .exchange_start = mpi_exchange_start,
    .exchange_wait = mpi_exchange_wait,
};

eg_status eg_comm_from_mpi(eg_context *ctx, MPI_Comm mpi_comm, eg_comm **out)
{
    eg_status status = EG_OK;
    eg_comm *comm = NULL;
    int initialized = 0, finalized = 0;
    *out = NULL;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!initialized || finalized)
        return eg_fail(ctx, EG_ERROR_COMM,
                       "MPI %s: a communicator is made between MPI_Init and "
                       "MPI_Finalize",
                       finalized ? "was finalized" : "is not initialized");

    /* A rank without memory must not leave the others waiting: all go on, or none. */
    status = eg_comm_self(ctx, &comm);
    if (status == EG_OK) status = eg_allocate(ctx, sizeof(MPI_Comm), &comm->state);
    int ready = status == EG_OK, all_ready = 0;
    int code = MPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, mpi_comm);
    if (status != EG_OK) goto done;
    EG_TRY(checked(ctx, "MPI_Allreduce", code));
    if (!all_ready) {
        status = eg_fail(ctx, EG_ERROR_COMM, "another rank is out of memory");
        goto done;
    }
    EG_TRY(checked(ctx, "MPI_Comm_dup", MPI_Comm_dup(mpi_comm, comm->state)));
    comm->transport = &mpi_transport; /* from here on closing frees the duplicate */
    EG_TRY(checked(ctx, "MPI_Comm_set_errhandler",
                   MPI_Comm_set_errhandler(mpi_of(comm), MPI_ERRORS_RETURN)));
    EG_TRY(checked(ctx, "MPI_Comm_rank", MPI_Comm_rank(mpi_of(comm), &comm->rank)));
    EG_TRY(checked(ctx, "MPI_Comm_size", MPI_Comm_size(mpi_of(comm), &comm->size)));
    *out = comm;
    comm = NULL;
done:
    if (comm && !comm->transport) eg_release(ctx, &comm->state);
    eg_comm_destroy(&comm);
    return status;
}

#endif
