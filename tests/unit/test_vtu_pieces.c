/* VTU in pieces of several ranks: what is read again is what all ranks have, and what fails on one of
 * them fails on all and leaves what was there. Run it on one rank or several (mpirun). */
#ifdef EG_HAVE_ZLIB

#include "ranks.h"
#include "snapshots.h"

#include "report/vtu/vtu.h"

/* This rank's share of a box, with x + time of each node as its field; the last of several has none. */
static eg_snapshot *share(eg_context *ctx, eg_comm *comm, double time)
{
    const int rank = eg_comm_rank(comm), size = eg_comm_size(comm), parts = size > 1 ? size - 1 : 1;
    eg_snapshot *all = NULL, *s = NULL;
    double *values;
    eg_mesh *mesh = test_bent_box(ctx, EG_SHAPE_TRI, 2, 4, false);
    TEST_OK(ctx, eg_snapshot_create_values(mesh, 5, time, NULL, 0, &all));
    const int32_t count = all->element_count;
    const int32_t first = rank < parts ? count * rank / parts : count;
    const int32_t end = rank < parts ? count * (rank + 1) / parts : count;
    TEST_OK(ctx, eg_snapshot_allocate(ctx, 2, end - first, &s));
    s->step = 5;
    s->time = time;
    for (int32_t e = first; e < end; e++) {
        s->shape[e - first] = all->shape[e];
        s->degree[e - first] = all->degree[e];
        s->global[e - first] = all->global[e];
    }
    TEST_OK(ctx, eg_snapshot_place_nodes(s));
    const int64_t nodes = s->first_node[s->element_count];
    memcpy(s->x, all->x + 2 * all->first_node[first], 2 * (size_t)nodes * sizeof *s->x);
    TEST_OK(ctx, eg_snapshot_append(s, "u", "m", &values));
    for (int64_t i = 0; i < nodes; i++)
        values[i] = s->x[2 * i] + time;
    eg_snapshot_destroy(&all);
    eg_mesh_destroy(&mesh);
    return s;
}

/* The file has all elements in their order, and the field of this time. */
static void check_file(eg_context *ctx, const char *path, double time)
{
    eg_snapshot *s = NULL;
    TEST_OK(ctx, eg_vtu_read(ctx, path, &s));
    assert_int_equal(s->element_count, 32);
    assert_int_equal(s->step, 5);
    assert_true(s->time == time && s->array_count == 1);
    assert_string_equal(s->arrays[0].unit, "m");
    for (int32_t e = 0; e < 32; e++)
        assert_int_equal(s->global[e], e);
    for (int64_t i = 0; i < s->first_node[32]; i++)
        assert_true(s->arrays[0].values[i] == s->x[2 * i] + time);
    eg_snapshot_destroy(&s);
}

static void test_vtu__pieces_of_ranks_become_one(void **state)
{
    (void)state;
    char folder[PATH_MAX], base[PATH_MAX + 8], *path = NULL, **files = NULL;
    eg_context *ctx = test_context();
    eg_comm *comm = ranks_world(ctx);
    const int size = eg_comm_size(comm);
    size_t count;
    ranks_directory_create(folder);
    snprintf(base, sizeof base, "%s/a b", folder);
    eg_snapshot *s = share(ctx, comm, 0.5);
    TEST_OK(ctx, eg_vtu_write(s, comm, base, &path));
    check_file(ctx, path, 0.5); /* every rank sees all of it */
    assert_string_equal(strrchr(path, '.'), size > 1 ? ".pvtu" : ".vtu");
    TEST_OK(ctx, eg_vtu_pieces(ctx, path, &count, &files));
    assert_int_equal(count, size);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(access(files[i], R_OK), 0);
        eg_release(ctx, &files[i]);
    }
    eg_release(ctx, &files);
    TEST_OK(ctx, eg_comm_barrier(comm));
    eg_release(ctx, &path);
    eg_snapshot_destroy(&s);
    if (eg_comm_rank(comm) == 0) test_directory_remove(folder);
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

/* A folder stands where the last rank wants to write. */
static void test_vtu__what_fails_on_one_rank_fails_on_all_and_changes_nothing(void **state)
{
    (void)state;
    char folder[PATH_MAX], base[PATH_MAX + 8], path[PATH_MAX + 32];
    eg_context *ctx = test_context();
    eg_comm *comm = ranks_world(ctx);
    const int rank = eg_comm_rank(comm), last = eg_comm_size(comm) - 1;
    ranks_directory_create(folder);
    snprintf(base, sizeof base, "%s/a", folder);
    eg_snapshot *s = share(ctx, comm, 0.5), *later = share(ctx, comm, 1);
    if (last > 0) {
        TEST_OK(ctx, eg_vtu_write(s, comm, base, NULL));
        snprintf(path, sizeof path, "%s_%04d.vtu.new", base, last);
        if (rank == last) assert_int_equal(mkdir(path, 0700), 0);
        const eg_status status = eg_vtu_write(later, comm, base, NULL);
        assert_int_equal(status, rank == last ? EG_ERROR_IO : EG_ERROR_COMM);
        if (rank == last) assert_int_equal(rmdir(path), 0);
        TEST_OK(ctx, eg_comm_barrier(comm));
        snprintf(path, sizeof path, "%s.pvtu", base);
        check_file(ctx, path, 0.5);
        snprintf(path, sizeof path, "%s_%04d.vtu.new", base, rank);
        assert_int_not_equal(access(path, F_OK), 0);
        TEST_OK(ctx, eg_comm_barrier(comm));
    }
    eg_snapshot_destroy(&s);
    eg_snapshot_destroy(&later);
    if (rank == 0) test_directory_remove(folder);
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

static void test_vtu__pieces_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const char index[] = "<VTKFile type=\"PUnstructuredGrid\"><PUnstructuredGrid>"
                                "%s</PUnstructuredGrid></VTKFile>";
    static const struct {
        const char *pieces, *message;
    } damages[] = {{"", "<PUnstructuredGrid> has no <Piece>"},
                   {"<Piece/>", "<Piece> has no attribute Source"},
                   {"<Piece Source=\"b.vtu\"/><Piece Source=\"none.vtu\"/>", "/none.vtu"},
                   {"<Piece Source=\"a.pvtu\"/>", "a piece must be of type \"UnstructuredGrid\""},
                   {"<Piece Source=\"b.vtu\"/><Piece Source=\"c.vtu\"/>",
                    "a.pvtu: error: piece 1 has no array \"u\""}};
    char folder[PATH_MAX], path[PATH_MAX + 32];
    eg_context *ctx = test_context();
    eg_comm *self = NULL;
    eg_snapshot *none = NULL;
    test_directory_create(folder);
    TEST_OK(ctx, eg_comm_self(ctx, &self));
    eg_snapshot *s = share(ctx, self, 0);
    snprintf(path, sizeof path, "%s/b", folder);
    TEST_OK(ctx, eg_vtu_write(s, self, path, NULL));
    s->arrays[0].name[0] = 'v';
    snprintf(path, sizeof path, "%s/c", folder);
    TEST_OK(ctx, eg_vtu_write(s, self, path, NULL));
    snprintf(path, sizeof path, "%s/a.pvtu", folder);
    for (size_t i = 0; i < EG_COUNT(damages); i++) {
        char text[512];
        snprintf(text, sizeof text, index, damages[i].pieces);
        TEST_OK(ctx, eg_file_write_atomic(ctx, path, text, strlen(text), 0600, false));
        TEST_FAILS(ctx, EG_ERROR_INPUT, damages[i].message, eg_vtu_read(ctx, path, &none));
        assert_null(none);
    }
    eg_snapshot_destroy(&s);
    eg_comm_destroy(&self);
    test_directory_remove(folder);
    test_context_free(&ctx);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vtu__pieces_of_ranks_become_one),
        cmocka_unit_test(test_vtu__what_fails_on_one_rank_fails_on_all_and_changes_nothing),
        cmocka_unit_test(test_vtu__pieces_that_do_not_fit_are_refused),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}

#else

int main(void)
{
    return 77; /* skipped */
}

#endif
