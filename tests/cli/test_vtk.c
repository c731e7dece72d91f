/* VTK reads what eagre writes, and eagre what VTK writes of it: files of all shapes, degrees 1 to 6,
 * straight and curved, of mixed degrees and shapes, in pieces of several ranks and in a series. At
 * random points VTK finds the coordinates and values that the fields have there, to 1e-12.
 *
 *     test_vtk                 writes the files and lets vtk.py read them
 *     test_vtk pieces FOLDER   on several ranks: writes a file in pieces */
#ifdef EG_HAVE_ZLIB

#include "snapshots.h"

#include "report/vtu/vtu.h"

#ifdef EG_HAVE_MPI
#include "eagre/mpi.h"
#endif

enum { SKIPPED = 77, DEGREE_MOST = 6, POINTS = 3 };

/* Debian's own Python has VTK's package. */
#define PYTHON "/usr/bin/python3"

/* Writes a mesh with two fields, and what they are at random points of its elements. */
static void write_one(eg_comm *comm, const eg_mesh *mesh, const char *folder, const char *name,
                      test_source *fields, double time)
{
    const eg_snapshot_values views[] = {fields[0].view, fields[1].view};
    char path[PATH_MAX + 96];
    eg_snapshot *s = NULL;
    test_elements elements = {.ctx = mesh->ctx};
    uint64_t seed = 11 + (uint64_t)eg_comm_rank(comm);
    TEST_OK(mesh->ctx, eg_snapshot_create_values(mesh, 4, time, views, 2, &s));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    TEST_OK(mesh->ctx, eg_vtu_write(s, comm, path, NULL));
    snprintf(path, sizeof path, "%s/%s.%d.samples", folder, name, eg_comm_rank(comm));
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int k = 0; k < POINTS; k++) {
            double r[3] = {-1, -1, -1};
            test_random_point((eg_shape)mesh->shape[e], &seed, r);
            fprintf(out, "%lld %d", (long long)mesh->global[e],
                    fields[0].degree[e] > fields[1].degree[e] ? fields[0].degree[e]
                                                              : fields[1].degree[e]);
            for (int d = 0; d < 3; d++)
                fprintf(out, " %.17g", (r[d] + 1) / 2); /* VTK's elements begin at 0 */
            for (int d = 0; d < 3; d++)
                fprintf(out, " %.17g",
                        d < mesh->dim ? test_coordinate_at(&elements, mesh, e, d, r) : 0.0);
            fprintf(out, " %.17g %.17g %.17g\n",
                    test_source_at(&elements, mesh, &fields[0], e, 0, r),
                    test_source_at(&elements, mesh, &fields[0], e, 1, r),
                    test_source_at(&elements, mesh, &fields[1], e, 0, r));
        }
    assert_int_equal(fclose(out), 0);
    test_elements_free(&elements);
    eg_snapshot_destroy(&s);
}

/* Fields of two degrees each. */
static void write_fields(eg_comm *comm, const eg_mesh *mesh, const char *folder, const char *name,
                         const int degree[4], double time)
{
    uint64_t seed = 21;
    test_source fields[] = {test_source_new(mesh, EG_BASIS_LOBATTO, degree[0], degree[1], 2, &seed),
                            test_source_new(mesh, EG_BASIS_MODAL, degree[2], degree[3], 1, &seed)};
    write_one(comm, mesh, folder, name, fields, time);
    test_source_free(&fields[0]);
    test_source_free(&fields[1]);
}

static void write_all_shapes(eg_context *ctx, eg_comm *comm, const char *folder)
{
    for (size_t i = 0; i < EG_COUNT(test_shapes); i++)
        for (int degree = 1; degree <= DEGREE_MOST; degree++)
            for (int curved = 0; curved < 2; curved++) {
                /* The mapping has the degree of the values, one less or one more. */
                const int order = curved ? 1 + (degree + (int)i) % 3 + degree / 3 : 1;
                char name[64];
                snprintf(name, sizeof name, "%s-%d-%s", eg_shape_get_info(test_shapes[i])->name,
                         degree, curved ? "curved" : "straight");
                eg_mesh *mesh = test_bent_box(ctx, test_shapes[i], order, 2, false);
                write_fields(comm, mesh, folder, name, (int[]){degree, degree, degree, degree}, 0);
                eg_mesh_destroy(&mesh);
            }
}

/* Several degrees and shapes in one file, and a series of three times. */
static void write_mixed(eg_context *ctx, eg_comm *comm, const char *folder)
{
    char path[PATH_MAX + 32];
    eg_pvd *pvd = NULL;
    snprintf(path, sizeof path, "%s/series.pvd", folder);
    TEST_OK(ctx, eg_pvd_open(ctx, path, NULL, &pvd));
    for (int i = 0; i < 3; i++) {
        char name[64];
        eg_mesh *mesh = i == 2 ? test_mixed_mesh(ctx, 2)
                               : test_bent_box(ctx, i ? EG_SHAPE_TET : EG_SHAPE_HEX, 3, 2, false);
        snprintf(name, sizeof name, "mixed-%d", i);
        write_fields(comm, mesh, folder, name, (int[]){2, 5, 0, 1}, 0.1 * i);
        snprintf(name, sizeof name, "mixed-%d.vtu", i);
        TEST_OK(ctx, eg_pvd_add(pvd, 0.1 * i, name));
        eg_mesh_destroy(&mesh);
    }
    eg_pvd_close(&pvd);
}

#ifdef EG_HAVE_MPI
/* Rank 0's neighbours have the rest; the last rank has nothing. */
static void write_pieces(eg_comm *comm, const char *folder)
{
    eg_context *ctx = test_context();
    eg_mesh *whole = test_bent_box(ctx, EG_SHAPE_QUAD, 2, 3, false);
    const int rank = eg_comm_rank(comm), parts = eg_comm_size(comm) - 1;
    eg_mesh mine = *whole;
    mine.element_count = 0;
    for (int32_t e = 0; e < whole->element_count; e++) /* those of this rank move to the front */
        if (e * parts / whole->element_count == rank) {
            const int32_t to = mine.element_count++;
            const size_t row = (size_t)whole->node_stride * (size_t)whole->dim;
            mine.shape[to] = whole->shape[e];
            mine.global[to] = whole->global[e];
            memmove(mine.nodes + (size_t)to * row, whole->nodes + (size_t)e * row,
                    row * sizeof *mine.nodes);
        }
    write_fields(comm, &mine, folder, "pieces", (int[]){3, 4, 2, 2}, 0.5);
    eg_mesh_destroy(&whole);
    test_context_free(&ctx);
}
#endif

static bool run(const char *format, const char *a, const char *b)
{
    char command[4 * PATH_MAX];
    snprintf(command, sizeof command, format, a, b);
    return system(command) == 0;
}

static char program[PATH_MAX];

enum { FORMS = 16, TEXT_FORMS = 4 }; /* in which vtk.py has written a file; text is rounded */

/* What VTK has written of a file is that file. */
static void check_written_by_vtk(eg_context *ctx, const char *folder, const char *name)
{
    for (int form = 0; form < FORMS; form++) {
        char path[PATH_MAX + 96];
        eg_snapshot *ours = NULL, *theirs = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        TEST_OK(ctx, eg_vtu_read(ctx, path, &ours));
        snprintf(path, sizeof path, "%s/%s.%d", folder, name, form);
        TEST_OK(ctx, eg_vtu_read(ctx, path, &theirs));
        assert_int_equal(theirs->array_count, ours->array_count);
        const int64_t nodes = ours->first_node[ours->element_count];
        assert_int_equal(theirs->first_node[theirs->element_count], nodes);
        for (int a = 0; a < ours->array_count && form < TEXT_FORMS; a++)
            for (int64_t i = 0; i < nodes; i++) {
                TEST_NEAR(theirs->arrays[a].values[i], ours->arrays[a].values[i], 1e-10);
                theirs->arrays[a].values[i] = ours->arrays[a].values[i];
            }
        for (int64_t i = 0; i < nodes * ours->dim && form < TEXT_FORMS; i++) {
            TEST_NEAR(theirs->x[i], ours->x[i], 1e-10);
            theirs->x[i] = ours->x[i];
        }
        test_same_snapshot(ours, theirs);
        eg_snapshot_destroy(&ours);
        eg_snapshot_destroy(&theirs);
    }
}

static void test_vtk__finds_the_polynomials_and_writes_them_again(void **state)
{
    (void)state;
    const char *mpiexec = getenv("EAGRE_TEST_MPIEXEC");
    char folder[PATH_MAX];
    eg_context *ctx = test_context();
    eg_comm *comm = NULL;
    test_directory_create(folder);
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    write_all_shapes(ctx, comm, folder);
    write_mixed(ctx, comm, folder);
    if (mpiexec && mpiexec[0]) {
        char command[3 * PATH_MAX];
        snprintf(command, sizeof command,
                 "ASAN_OPTIONS=detect_leaks=0 '%s' --oversubscribe -n 4 '%s' pieces '%s'", mpiexec,
                 program, folder);
        assert_int_equal(system(command), 0);
    }
    assert_true(run(PYTHON " '%s/tests/cli/vtk.py' '%s'", EG_TEST_SOURCE_DIR, folder));
    check_written_by_vtk(ctx, folder, "mixed-0.vtu");
    check_written_by_vtk(ctx, folder, "mixed-1.vtu");
    check_written_by_vtk(ctx, folder, "mixed-2.vtu");
    check_written_by_vtk(ctx, folder, "hexahedron-3-straight.vtu");
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
    test_directory_remove(folder);
}

#ifdef EG_HAVE_MPI
static int run_rank(int argc, char **argv)
{
    eg_context *ctx = NULL;
    eg_comm *comm = NULL;
    MPI_Init(&argc, &argv);
    if (eg_context_create(NULL, &ctx) != EG_OK ||
        eg_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm) != EG_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    write_pieces(comm, argv[2]); /* what fails here ends the program, and MPI the other ranks */
    eg_comm_destroy(&comm);
    eg_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vtk__finds_the_polynomials_and_writes_them_again),
    };
#ifdef EG_HAVE_MPI
    if (argc == 3) return run_rank(argc, argv);
#endif
    (void)argc;
    if (!run(PYTHON " -c 'import vtkmodules.vtkIOXML'%s%s", " 2>/dev/null", "")) return SKIPPED;
    if (!realpath(argv[0], program)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77; /* skipped */
}

#endif
