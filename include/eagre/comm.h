/* The communicator: which processes work together. */
#ifndef EAGRE_COMM_H
#define EAGRE_COMM_H

#include "eagre/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A group of processes (ranks) that call the same functions together. eagre/mpi.h makes one of an
 * MPI communicator. */
typedef struct eg_comm eg_comm;

/* The communicator of this process alone; works without MPI. */
EG_API eg_status eg_comm_self(eg_context *ctx, eg_comm **out);
/* Destroys it and nulls the handle; NULL is accepted. Before MPI_Finalize, and on all ranks. */
EG_API void eg_comm_destroy(eg_comm **comm);

EG_API int eg_comm_rank(const eg_comm *comm); /* 0 … size - 1 */
EG_API int eg_comm_size(const eg_comm *comm);

#ifdef __cplusplus
}
#endif

#endif
