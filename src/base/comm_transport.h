/* How bytes travel between ranks; private to comm.c and the transports. */
#ifndef EG_COMM_TRANSPORT_H
#define EG_COMM_TRANSPORT_H

#include "base/comm.h"

/* One const table per transport. The communicator of one process has none: comm.c does its work. */
typedef struct eg_transport {
    void (*close)(eg_comm *comm);
    eg_status (*barrier)(eg_comm *comm);
    eg_status (*broadcast)(eg_comm *comm, int root, size_t bytes, void *data);
    eg_status (*allgather)(eg_comm *comm, size_t bytes, const void *mine, void *all);
    /* Messages between different ranks only. `exchange->state` is the transport's. */
    eg_status (*exchange_create)(eg_exchange *exchange);
    void (*exchange_destroy)(eg_exchange *exchange);
    eg_status (*exchange_start)(eg_exchange *exchange);
    eg_status (*exchange_wait)(eg_exchange *exchange);
} eg_transport;

struct eg_comm {
    eg_context *ctx;               /* not owned */
    const eg_transport *transport; /* NULL: one rank */
    void *state;                   /* the transport's own, owned by it */
    int rank, size;
    int exchange_count; /* created so far: the tag of the next */
    int live_exchanges; /* asserted 0 at destruction */
    double *gathered;   /* [size][gathered_count], owned */
    size_t gathered_count;
};

struct eg_exchange {
    eg_comm *comm;        /* not owned */
    eg_message *messages; /* [count], owned */
    size_t count;
    int tag;
    void *state;  /* the transport's own, owned by it */
    bool started; /* and not yet waited for */
};

#endif
