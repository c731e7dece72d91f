/* Several ranks: MPI is started where a launcher such as mpirun has started this process as one of
 * several (it leaves its mark in the environment); alone, the command never touches MPI. Rank 0
 * prints; what another rank alone has to complain of is printed with its number. */
#include "cli/cli.h"

#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef EG_HAVE_MPI
#include "eagre/mpi.h"
#endif

static bool started;                  /* MPI */
static int this_rank, rank_count = 1; /* of the world */
static int node_rank, node_count = 1; /* of those that share this machine */

#ifdef EG_HAVE_MPI
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

void cli_parallel_end(void)
{
    if (started) MPI_Finalize();
    started = false;
}

void cli_parallel_abort(int code)
{
    if (started && rank_count > 1) MPI_Abort(MPI_COMM_WORLD, code);
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

void cli_parallel_end(void)
{
    started = false;
}

void cli_parallel_abort(int code)
{
    (void)code;
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
