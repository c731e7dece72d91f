/* What tests share that run on any number of ranks, alone and with mpirun where MPI was built in:
 *
 *     ranks_start(&argc, &argv);                                       // in main
 *     return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
 *
 * communicators, meshes in parts, directories, and how the failure of one rank shows on the others. */
#ifndef EG_TEST_RANKS_H
#define EG_TEST_RANKS_H

#include "test.h"

#include "base/comm.h"
#include "device/device.h"
#include "mesh/mesh.h"

#ifdef EG_HAVE_MPI
#include "eagre/mpi.h"
#endif

static inline void ranks_start(int *argc, char ***argv)
{
#ifdef EG_HAVE_MPI
    MPI_Init(argc, argv);
#else
    (void)argc;
    (void)argv;
#endif
}

/* Ends all ranks; returns the exit status for so many tests that failed. */
static inline int ranks_end(int failures)
{
#ifdef EG_HAVE_MPI
    /* A rank that failed may have left the others waiting. */
    if (failures) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
#endif
    return failures;
}

/* How many there are, and which one this is. */
static inline int ranks_count(int *rank)
{
    int size = 1;
    *rank = 0;
#ifdef EG_HAVE_MPI
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
    return size;
}

static inline void ranks_wait(void)
{
#ifdef EG_HAVE_MPI
    MPI_Barrier(MPI_COMM_WORLD);
#endif
}

/* The communicator of all ranks. */
static inline eg_comm *ranks_world(eg_context *ctx)
{
    eg_comm *comm = NULL;
#ifdef EG_HAVE_MPI
    TEST_OK(ctx, eg_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm));
#else
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
#endif
    return comm;
}

/* One directory of all ranks, which rank 0 makes. */
static inline void ranks_directory_create(char path[PATH_MAX])
{
    int rank;
    ranks_count(&rank);
    memset(path, 0, PATH_MAX);
    if (rank == 0) test_directory_create(path);
#ifdef EG_HAVE_MPI
    MPI_Bcast(path, PATH_MAX, MPI_CHAR, 0, MPI_COMM_WORLD);
#endif
}

/* When all have come so far. */
static inline void ranks_directory_remove(const char *path)
{
    int rank;
    ranks_count(&rank);
    ranks_wait();
    if (rank == 0) test_directory_remove(path);
}

/* This rank's part of a mesh that every rank has. */
static inline eg_mesh *ranks_part(const eg_mesh *whole, eg_comm *comm, eg_partitioner partitioner)
{
    eg_mesh *part = NULL;
    int32_t *owner = calloc((size_t)whole->element_count, sizeof *owner);
    assert_non_null(owner);
    TEST_OK(whole->ctx, eg_mesh_partition(whole, eg_comm_size(comm), partitioner, owner));
    TEST_OK(whole->ctx, eg_mesh_distribute(whole, comm, owner, &part));
    free(owner);
    return part;
}

/* A whole mesh and this rank's part of it, for what all ranks do together and each does alone. */
typedef struct divided {
    eg_context *ctx;
    eg_comm *world, *self;
    eg_device *device;
    eg_mesh *whole, *mine;
} divided;

static inline divided divided_new(const eg_box_options *options)
{
    divided d = {.ctx = test_context()};
    d.world = ranks_world(d.ctx);
    TEST_OK(d.ctx, eg_comm_self(d.ctx, &d.self));
    TEST_OK(d.ctx, eg_device_open(d.ctx, "cpu:1", &d.device));
    TEST_OK(d.ctx, eg_mesh_create_box(d.ctx, options, &d.whole));
    d.mine = ranks_part(d.whole, d.world, EG_PARTITION_DEFAULT);
    return d;
}

static inline void divided_free(divided *d)
{
    eg_mesh_destroy(&d->mine);
    eg_mesh_destroy(&d->whole);
    eg_device_close(&d->device);
    eg_comm_destroy(&d->self);
    eg_comm_destroy(&d->world);
    test_context_free(&d->ctx);
}

static inline bool ranks_is_last(const eg_comm *comm)
{
    return eg_comm_rank(comm) == eg_comm_size(comm) - 1;
}

/* What a call returned on each rank while memory of the last may have run out: that one names its
 * memory, or did without the block where it `may_succeed`; the others know whether it failed. */
static inline void assert_failure_of_last(eg_context *ctx, eg_comm *comm, eg_status status,
                                          bool may_succeed)
{
    const bool last = ranks_is_last(comm);
    double failed = last && status != EG_OK;
    TEST_OK(ctx, eg_comm_sum(comm, 1, &failed));
    if (last)
        assert_true(status == EG_ERROR_MEMORY || status == EG_ERROR_DEVICE_MEMORY ||
                    (status == EG_OK && may_succeed));
    else
        assert_int_equal(status, failed > 0 ? EG_ERROR_COMM : EG_OK);
}

#endif
