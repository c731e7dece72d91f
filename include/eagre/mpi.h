/* Communicators from MPI: the only header of eagre that needs mpi.h. Present where the library was
 * built with MPI. */
#ifndef EAGRE_MPI_H
#define EAGRE_MPI_H

#include <mpi.h>

#include "eagre/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a communicator of the ranks of `mpi_comm`, which is duplicated: messages of eagre and of
 * the caller do not meet. Collective. The caller has called MPI_Init, with at least
 * MPI_THREAD_FUNNELED if it has threads; the library calls neither MPI_Init nor MPI_Finalize. */
EG_API eg_status eg_comm_from_mpi(eg_context *ctx, MPI_Comm mpi_comm, eg_comm **out);

#ifdef __cplusplus
}
#endif

#endif
