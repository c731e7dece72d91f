/* Checkpoints written and read, on any number of ranks: run alone, and with mpirun where MPI was built
 * in. */
#include "checkpoint.h"

#define BLOCK_BYTES 3000

static const checkpoint_case cases[] = {
    {EG_SHAPE_TRI, {5, 4, 0}, EG_BASIS_LOBATTO, EG_BASIS_MODAL, 3, 3, false},
    {EG_SHAPE_QUAD, {5, 5, 0}, EG_BASIS_GAUSS, EG_BASIS_LOBATTO, 2, 5, true},
    {EG_SHAPE_TET, {2, 2, 2}, EG_BASIS_MODAL, EG_BASIS_LOBATTO, 1, 3, true},
    {EG_SHAPE_HEX, {3, 2, 3}, EG_BASIS_LOBATTO, EG_BASIS_RADAU, 2, 0, false},
};

/* The ranks below `size` of all, as a communicator; NULL on the others. */
static eg_comm *first_ranks(eg_context *ctx, int size)
{
    eg_comm *comm = NULL;
#ifdef EG_HAVE_MPI
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &some);
    if (some != MPI_COMM_NULL) {
        TEST_OK(ctx, eg_comm_from_mpi(ctx, some, &comm));
        MPI_Comm_free(&some);
    }
#else
    (void)size;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
#endif
    return comm;
}

/* Writes a checkpoint of a case on so many ranks, in blocks that are small. */
static void write_case(const checkpoint_case *c, int ranks, const char *directory)
{
    eg_context *ctx = test_context();
    eg_comm *comm = first_ranks(ctx, ranks);
    if (comm) {
        eg_device *device = NULL;
        checkpoint_setting s;
        char *path = NULL;
        TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
        checkpoint_setting_open(ctx, comm, device, c, EG_PARTITION_DEFAULT, &s);
        TEST_OK(ctx, eg_checkpoint_write(&(eg_checkpoint_options){.directory = directory,
                                                                  .block_bytes = BLOCK_BYTES,
                                                                  .model = "test",
                                                                  .device = "a device",
                                                                  .version = "0.1 dirty"},
                                         comm, &s.state, &path));
        assert_non_null(strstr(path, "/00000120"));
        eg_release(ctx, &path);
        checkpoint_setting_close(&s);
        eg_device_close(&device);
    }
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
    ranks_wait();
}

static void check_info(const eg_checkpoint *checkpoint, const checkpoint_setting *s,
                       const checkpoint_case *c, int ranks)
{
    const eg_checkpoint_info *info = eg_checkpoint_get_info(checkpoint);
    double dof = (double)eg_field_host_count(s->solution);
    TEST_OK(s->ctx, eg_comm_sum(s->comm, 1, &dof));
    assert_string_equal(info->model, "test");
    assert_string_equal(info->device, "a device");
    assert_string_equal(info->version, "0.1 dirty");
    assert_string_equal(info->case_text, "");
    assert_int_equal(strlen(info->written), strlen("2026-11-16T09:00:00Z"));
    assert_true(info->step == 120 && info->time == 0.1 && info->dt == 1e-3);
    assert_true(info->sequence == 1 && info->ranks == ranks && info->dim == s->mesh->dim);
    assert_int_equal(info->elements, s->mesh->global_count);
    assert_int_equal(info->dof, (int64_t)dof);
    assert_int_equal(info->field_count, 2);
    const eg_checkpoint_field *first = &info->fields[0], *second = &info->fields[1];
    assert_string_equal(first->name, "solution");
    assert_string_equal(first->names[1], "v");
    assert_string_equal(first->units[0], "m/s");
    assert_null(first->units[1]);
    assert_int_equal(first->basis, c->basis);
    assert_int_equal(first->degree_least, c->low < c->high ? c->low : c->high);
    assert_int_equal(first->degree_most, c->low < c->high ? c->high : c->low);
    assert_false(first->kept_only);
    assert_string_equal(second->names[0], "w");
    assert_null(second->units[0]);
    assert_true(second->kept_only && second->components == 1 && second->basis == c->other);
    assert_true(eg_checkpoint_number(checkpoint, "last dt", 7) == 0.1);
    assert_true(eg_checkpoint_number(checkpoint, "none", 7) == 7);
    /* No element of these cases has less than 144 bytes of values. */
    for (int b = 0; b < info->block_count; b++)
        assert_true(info->blocks[b].elements <= BLOCK_BYTES / 144);
}

static void check_degrees(eg_checkpoint *checkpoint, const checkpoint_setting *s)
{
    const int32_t count = s->mesh->element_count + s->mesh->ghost_count;
    uint8_t *degrees = calloc((size_t)count, 1);
    assert_non_null(degrees);
    TEST_OK(s->ctx, eg_checkpoint_read_degrees(checkpoint, "solution", s->mesh, degrees));
    for (int32_t e = 0; e < count; e++)
        assert_int_equal(degrees[e], eg_space_group_of(s->space, e)->degree);
    free(degrees);
}

/* Ghosts and padding are what from_host makes of the same values. */
static void check_whole_buffer(eg_field *field, int64_t salt)
{
    const size_t count = eg_buffer_count(field->data);
    double *read = malloc(2 * count * sizeof *read);
    assert_non_null(read);
    TEST_OK(field->space->ctx, eg_buffer_download(field->data, 0, count, read));
    checkpoint_fill(field, salt);
    TEST_OK(field->space->ctx, eg_buffer_download(field->data, 0, count, read + count));
    assert_memory_equal(read, read + count, count * sizeof *read);
    free(read);
}

/* Reads what write_case wrote, on so many ranks. */
static void read_case(const checkpoint_case *c, int written_on, int ranks, const char *directory)
{
    eg_context *ctx = test_context();
    eg_comm *comm = first_ranks(ctx, ranks);
    if (comm) {
        eg_device *device = NULL;
        eg_checkpoint *checkpoint = NULL;
        checkpoint_setting s;
        TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
        checkpoint_setting_open(ctx, comm, device, c, EG_PARTITION_HILBERT, &s);
        checkpoint_fill(s.solution, 3);
        checkpoint_fill(s.earlier, 4);
        TEST_OK(ctx, eg_checkpoint_open(ctx, comm, directory, &checkpoint));
        check_info(checkpoint, &s, c, written_on);
        TEST_OK(ctx, eg_checkpoint_check_mesh(checkpoint, comm, s.mesh));
        check_degrees(checkpoint, &s);
        TEST_OK(ctx, eg_checkpoint_read_field(checkpoint, "solution", NULL, s.solution));
        TEST_OK(ctx, eg_checkpoint_read_field(checkpoint, "earlier", NULL, s.earlier));
        assert_true(checkpoint_distance(s.solution, 1) == 0.0);
        assert_true(checkpoint_distance(s.earlier, 2) == 0.0);
        check_whole_buffer(s.solution, 1);
        check_whole_buffer(s.earlier, 2);
        eg_checkpoint_close(&checkpoint);
        checkpoint_setting_close(&s);
        eg_device_close(&device);
    }
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
    ranks_wait();
}

static void test_checkpoint__any_number_of_ranks_reads_what_any_number_wrote(void **state)
{
    (void)state;
    int rank;
    const int size = ranks_count(&rank);
    for (size_t i = 0; i < EG_COUNT(cases); i++)
        for (int writers = 1; writers <= size; writers++) {
            char directory[PATH_MAX];
            ranks_directory_create(directory);
            write_case(&cases[i], writers, directory);
            for (int readers = 1; readers <= size; readers++)
                read_case(&cases[i], writers, readers, directory);
            ranks_directory_remove(directory);
        }
}

/* --- other degrees and bases ------------------------------------------------------------------ */

/* A state of one field of this degree and basis. */
static void one_field(checkpoint_setting *s, eg_device *device, int degree, eg_basis basis)
{
    eg_field_destroy(&s->solution);
    eg_space_destroy(&s->space);
    TEST_OK(s->ctx,
            eg_space_create(device, s->comm, s->mesh,
                            &(eg_space_options){.basis = basis, .degree = degree}, &s->space));
    TEST_OK(s->ctx, eg_field_create(s->space, 2, EG_F64, &s->solution));
    s->state.fields[0].field = s->solution;
}

static void write_and_reread(checkpoint_setting *s, eg_device *device, const char *directory,
                             int degree, eg_basis basis)
{
    eg_checkpoint *checkpoint = NULL;
    TEST_OK(s->ctx, checkpoint_write(s, directory, s->state.step + 1, 1));
    TEST_OK(s->ctx, eg_checkpoint_open(s->ctx, s->comm, directory, &checkpoint));
    one_field(s, device, degree, basis);
    TEST_OK(s->ctx, eg_checkpoint_read_field(checkpoint, "solution", NULL, s->solution));
    eg_checkpoint_close(&checkpoint);
}

static void test_checkpoint__a_higher_degree_and_another_basis_lose_nothing(void **state)
{
    (void)state;
    int rank;
    const int size = ranks_count(&rank);
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        const bool tensor = eg_shape_get_info(cases[i].shape)->tensor;
        const int high = cases[i].shape == EG_SHAPE_HEX ? 5 : 6;
        char directory[PATH_MAX];
        eg_context *ctx = test_context();
        eg_comm *comm = first_ranks(ctx, size);
        eg_device *device = NULL;
        checkpoint_setting s;
        ranks_directory_create(directory);
        TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
        checkpoint_setting_open(ctx, comm, device, &cases[i], EG_PARTITION_DEFAULT, &s);
        one_field(&s, device, 4, EG_BASIS_LOBATTO);
        checkpoint_fill(s.solution, 1);
        write_and_reread(&s, device, directory, high, EG_BASIS_LOBATTO);
        write_and_reread(&s, device, directory, high, tensor ? EG_BASIS_GAUSS : EG_BASIS_MODAL);
        write_and_reread(&s, device, directory, 4, EG_BASIS_MODAL);
        assert_true(checkpoint_distance(s.solution, 1) > 0.1);
        write_and_reread(&s, device, directory, 4, EG_BASIS_LOBATTO);
        assert_true(checkpoint_distance(s.solution, 1) < 1e-13);
        /* Without a change it is the same to the last bit. */
        checkpoint_fill(s.solution, 5);
        write_and_reread(&s, device, directory, 4, EG_BASIS_LOBATTO);
        assert_true(checkpoint_distance(s.solution, 5) == 0.0);
        checkpoint_setting_close(&s);
        eg_device_close(&device);
        eg_comm_destroy(&comm);
        test_context_free(&ctx);
        ranks_directory_remove(directory);
    }
}

/* --- components ------------------------------------------------------------------------------- */

/* The components of a field with so many are those of the state with these numbers. */
static void check_components(const eg_field *field, const int *sources)
{
    const eg_space *space = field->space;
    double *values = calloc(eg_field_host_count(field) + 1, sizeof *values), *at = values;
    assert_non_null(values);
    TEST_OK(space->ctx, eg_field_to_host(field, values));
    for (int32_t e = 0; e < space->mesh->element_count; e++) {
        const int np = eg_space_group_of(space, e)->element->np;
        for (int k = 0; k < field->components * np; k++)
            assert_true(*at++ ==
                        checkpoint_value(space->mesh->global[e], sources[k / np], k % np, 1));
    }
    free(values);
}

static void test_checkpoint__components_are_found_by_their_names(void **state)
{
    (void)state;
    static const char *const swapped[] = {"v", "u"}, *const unknown[] = {"v", "uu"};
    int rank;
    const int size = ranks_count(&rank);
    char directory[PATH_MAX];
    eg_context *ctx = test_context();
    eg_comm *comm = first_ranks(ctx, size);
    eg_device *device = NULL;
    eg_checkpoint *checkpoint = NULL;
    eg_field *one = NULL;
    checkpoint_setting s;
    ranks_directory_create(directory);
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    checkpoint_setting_open(ctx, comm, device, &cases[1], EG_PARTITION_DEFAULT, &s);
    TEST_OK(ctx, checkpoint_write(&s, directory, 1, 1));
    TEST_OK(ctx, eg_checkpoint_open(ctx, comm, directory, &checkpoint));
    TEST_OK(ctx, eg_checkpoint_read_field(checkpoint, "solution", swapped, s.solution));
    check_components(s.solution, (const int[]){1, 0});
    TEST_OK(ctx,
            eg_checkpoint_read_field(checkpoint, "solution", s.state.fields[0].names, s.solution));
    check_components(s.solution, (const int[]){0, 1});
    /* What is not asked for is left out; what is not there is not made up. */
    TEST_OK(ctx, eg_field_create(s.space, 1, EG_F64, &one));
    TEST_OK(ctx, eg_checkpoint_read_field(checkpoint, "solution", swapped, one));
    check_components(one, (const int[]){1});
    TEST_FAILS(ctx, EG_ERROR_INPUT, "has no \"uu\", only \"u\", \"v\"",
               eg_checkpoint_read_field(checkpoint, "solution", unknown, s.solution));
    assert_non_null(strstr(eg_context_error(ctx), "did you mean \"u\"?"));
    check_components(s.solution, (const int[]){0, 1});
    eg_field_destroy(&one);
    eg_checkpoint_close(&checkpoint);
    checkpoint_setting_close(&s);
    eg_device_close(&device);
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
    ranks_directory_remove(directory);
}

/* --- the mesh --------------------------------------------------------------------------------- */

static void test_checkpoint__another_mesh_is_refused_and_rounding_is_not(void **state)
{
    (void)state;
    int rank;
    const int size = ranks_count(&rank);
    char directory[PATH_MAX];
    eg_context *ctx = test_context();
    eg_comm *comm = first_ranks(ctx, size);
    eg_device *device = NULL;
    eg_checkpoint *checkpoint = NULL;
    checkpoint_setting s;
    ranks_directory_create(directory);
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    checkpoint_setting_open(ctx, comm, device, &cases[0], EG_PARTITION_DEFAULT, &s);
    TEST_OK(ctx, checkpoint_write(&s, directory, 1, 1));
    TEST_OK(ctx, eg_checkpoint_open(ctx, comm, directory, &checkpoint));

    for (int64_t i = 0; i < s.mesh->vertex_count * 2; i++)
        s.mesh->x[i] = nextafter(s.mesh->x[i], i % 3 ? 10.0 : -10.0);
    TEST_OK(ctx, eg_checkpoint_check_mesh(checkpoint, comm, s.mesh));
    if (rank == 0) s.mesh->x[2 * s.mesh->vertices[0]] += 1e-7;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "lie elsewhere",
               eg_checkpoint_check_mesh(checkpoint, comm, s.mesh));
    if (rank == 0) s.mesh->x[2 * s.mesh->vertices[0]] -= 1e-7;
    TEST_OK(ctx, eg_checkpoint_check_mesh(checkpoint, comm, s.mesh));
    int64_t first = s.mesh->global[0];
    s.mesh->global[0] = s.mesh->global[1];
    s.mesh->global[1] = first;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "lie elsewhere",
               eg_checkpoint_check_mesh(checkpoint, comm, s.mesh));
    s.mesh->global[1] = 1000 + rank;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "other numbers or shapes",
               eg_checkpoint_check_mesh(checkpoint, comm, s.mesh));
    checkpoint_setting_close(&s);

    checkpoint_case finer = cases[0];
    finer.cells[0]++;
    checkpoint_setting_open(ctx, comm, device, &finer, EG_PARTITION_DEFAULT, &s);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "another number of elements",
               eg_checkpoint_check_mesh(checkpoint, comm, s.mesh));
    /* Whoever reads all the same is told which element there is none of. */
    eg_status status = eg_checkpoint_read_field(checkpoint, "solution", NULL, s.solution);
    assert_true(status == EG_ERROR_INPUT || (size > 1 && status == EG_ERROR_COMM));
    checkpoint_setting_close(&s);
    checkpoint_setting_open(ctx, comm, device, &cases[3], EG_PARTITION_DEFAULT, &s);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "another dimension",
               eg_checkpoint_check_mesh(checkpoint, comm, s.mesh));
    checkpoint_setting_close(&s);
    eg_checkpoint_close(&checkpoint);
    eg_device_close(&device);
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
    ranks_directory_remove(directory);
}

/* --- failures --------------------------------------------------------------------------------- */

static void test_checkpoint__what_fails_on_one_rank_fails_on_all(void **state)
{
    (void)state;
    int rank;
    const int size = ranks_count(&rank);
    char directory[PATH_MAX];
    eg_context *ctx = test_context();
    eg_comm *comm = first_ranks(ctx, size);
    eg_device *device = NULL;
    checkpoint_setting s;
    ranks_directory_create(directory);
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    checkpoint_setting_open(ctx, comm, device, &cases[0], EG_PARTITION_DEFAULT, &s);
    TEST_OK(ctx, checkpoint_write(&s, directory, 1, 2));
    for (long n = 1;; n += 3) { /* the last rank has no memory for its n-th block */
        if (rank == size - 1) test_allocator_arm(n, false);
        eg_status status = checkpoint_write(&s, directory, 2, 2);
        test_allocator_arm(0, false);
        if (rank == 0 && status != EG_OK)
            assert_int_equal(status, size > 1 ? EG_ERROR_COMM : EG_ERROR_MEMORY);
        ranks_wait();
        if (status == EG_OK) break;
        assert_int_equal(checkpoint_entries(directory), 1);
    }
    assert_int_equal(checkpoint_entries(directory), 2);
    eg_checkpoint *checkpoint = NULL;
    TEST_OK(ctx, eg_checkpoint_open(ctx, comm, directory, &checkpoint));
    assert_int_equal(eg_checkpoint_get_info(checkpoint)->step, 2);
    eg_checkpoint_close(&checkpoint);
    ranks_wait();

    /* A block that only one rank verifies: all refuse. */
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/00000002/000002-%04d-000.h5", directory, size - 1);
    if (rank == 0) assert_int_equal(truncate(path, 100), 0);
    ranks_wait();
    eg_status status = eg_checkpoint_open(ctx, comm, directory, &checkpoint);
    assert_int_equal(status, rank == size - 1 ? EG_ERROR_INPUT : EG_ERROR_COMM);
    assert_null(checkpoint);
    checkpoint_setting_close(&s);
    eg_device_close(&device);
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
    ranks_directory_remove(directory);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoint__any_number_of_ranks_reads_what_any_number_wrote),
        cmocka_unit_test(test_checkpoint__a_higher_degree_and_another_basis_lose_nothing),
        cmocka_unit_test(test_checkpoint__components_are_found_by_their_names),
        cmocka_unit_test(test_checkpoint__another_mesh_is_refused_and_rounding_is_not),
        cmocka_unit_test(test_checkpoint__what_fails_on_one_rank_fails_on_all),
    };
    ranks_start(&argc, &argv);
    /* Nothing here depends on a disk, which would make it slow. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
#ifdef EG_HAVE_HDF5
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
#else
    (void)tests;
    ranks_end(0);
    return 77; /* skipped */
#endif
}
