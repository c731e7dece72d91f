/* Several ranks: MPI is started where a launcher such as mpirun has started this process as one of
 * several (it leaves its mark in the environment); alone, the command never touches MPI. Rank 0
 * prints results. Of ranks that fail one prints why, for all. */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include "device/device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef EG_HAVE_MPI
#include "eagre/mpi.h"
#endif

static int this_rank, rank_count = 1; /* of the world */
static int node_rank, node_count = 1; /* of those that share this machine */

#ifdef EG_HAVE_MPI
/* How long a rank that failed waits for the others to finish or fail, too. */
#define PATIENCE_S 3.0

static bool started; /* MPI */
static bool alone;   /* the other ranks are stuck: they must be ended */

static bool launched(void)
{
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                        "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < EG_COUNT(marks); i++)
        if (getenv(marks[i])) return true;
    return false;
}

bool cli_parallel_start(int *argc, char ***argv)
{
    int level = 0;
    MPI_Comm node;
    if (!launched()) return true;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        fprintf(stderr, "eagre: MPI could not be started\n");
        return false;
    }
    started = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &this_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) ==
        MPI_SUCCESS) {
        MPI_Comm_rank(node, &node_rank);
        MPI_Comm_size(node, &node_count);
        MPI_Comm_free(&node);
    }
    return true;
}

void cli_parallel_end(int code)
{
    if (!started) return;
    if (alone)
        MPI_Abort(MPI_COMM_WORLD, code);
    else
        MPI_Finalize();
}

/* True when all ranks come here within the time, a negative one for ever. */
static bool meet(double seconds)
{
    MPI_Request request;
    int here = 0;
    const double start = eg_wall_seconds();
    if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) return false;
    for (;;) {
        if (MPI_Test(&request, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
        if (here) return true;
        if (seconds >= 0 && eg_wall_seconds() - start > seconds) return false;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

bool cli_parallel_speaks(eg_status status, int *code)
{
    /* The first rank that failed on its own; one that only heard of it if there is none. */
    enum { NOBODY = INT_MAX };
    int mine = status == EG_OK           ? NOBODY
               : status == EG_ERROR_COMM ? rank_count + this_rank
                                         : this_rank;
    int first = NOBODY;
    if (!started) return status != EG_OK;
    if (!meet(status == EG_OK ? -1.0 : PATIENCE_S)) {
        /* Some rank waits for this one in the midst of its work. */
        nanosleep(&(struct timespec){.tv_nsec = 1000000L * (this_rank % 900)}, NULL);
        alone = true;
        return true;
    }
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == NOBODY) return false;
    MPI_Bcast(code, 1, MPI_INT, first % rank_count, MPI_COMM_WORLD);
    return mine == first;
}

eg_status cli_parallel_comm(eg_context *ctx, eg_comm **out)
{
    return started ? eg_comm_from_mpi(ctx, MPI_COMM_WORLD, out) : eg_comm_self(ctx, out);
}
#else
bool cli_parallel_start(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return true;
}

void cli_parallel_end(int code)
{
    (void)code;
}

bool cli_parallel_speaks(eg_status status, int *code)
{
    (void)code;
    return status != EG_OK;
}

eg_status cli_parallel_comm(eg_context *ctx, eg_comm **out)
{
    return eg_comm_self(ctx, out);
}
#endif

int cli_rank(void)
{
    return this_rank;
}

int cli_rank_count(void)
{
    return rank_count;
}

/* The GPUs of a machine are dealt out to its ranks, its cores divided among them; a device that is
 * named to the number is taken as it is. */
eg_status cli_open_device(eg_context *ctx, const char *spec, eg_device **out)
{
    eg_status status = EG_OK;
    eg_device_info *list = NULL;
    size_t count = 0;
    char chosen[32];
    const bool any = strcmp(spec, "auto") == 0;
    if (node_count == 1 || strchr(spec, ':')) return eg_device_open(ctx, spec, out);
    if (strcmp(spec, "cpu") != 0) {
        const eg_device_info *mine = NULL;
        int gpus = 0, index = 0;
        EG_TRY(eg_device_list(ctx, &list, &count));
        for (size_t i = 0; i < count; i++)
            gpus += list[i].is_gpu && strcmp(list[i].backend, any ? "cuda" : spec) == 0;
        for (size_t i = 0; i < count && gpus > 0; i++)
            if (list[i].is_gpu && strcmp(list[i].backend, any ? "cuda" : spec) == 0 &&
                index++ == node_rank % gpus)
                mine = &list[i];
        if (mine || !any) {
            EG_TRY(eg_device_open(ctx, mine ? mine->spec : spec, out));
            goto done;
        }
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN) / node_count;
    snprintf(chosen, sizeof chosen, "cpu:%ld", cores > 1 ? cores : 1);
    EG_TRY(eg_device_open(ctx, chosen, out));
done:
    eg_device_list_free(ctx, &list);
    return status;
}
