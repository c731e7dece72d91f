/* Series of files in time: valid after every addition, cut back where a run goes on, read again. */
#include "test.h"

#include "comma.h"
#include "report/vtu/vtu.h"

typedef struct fixture {
    eg_context *ctx;
    char folder[PATH_MAX];
    char path[PATH_MAX + 32];
} fixture;

static fixture *fixture_new(void)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->ctx = test_context();
    test_directory_create(f->folder);
    snprintf(f->path, sizeof f->path, "%s/run.pvd", f->folder);
    return f;
}

static void fixture_free(fixture *f)
{
    test_context_free(&f->ctx);
    test_directory_remove(f->folder);
    free(f);
}

/* The series has these entries, seen from here. */
static void check_series(fixture *f, size_t count, const char *const *files, const double *times)
{
    char **there = NULL;
    double *when = NULL;
    size_t found = 0;
    TEST_OK(f->ctx, eg_pvd_read(f->ctx, f->path, &found, &there, &when));
    assert_int_equal(found, count);
    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s/%s", f->folder, files[i]);
        assert_string_equal(there[i], files[i][0] == '/' ? files[i] : path);
        assert_memory_equal(&when[i], &times[i], sizeof times[i]);
        eg_release(f->ctx, &there[i]);
    }
    eg_release(f->ctx, &there);
    eg_release(f->ctx, &when);
}

static const char *const files[] = {"a_0.vtu", "b & \"c\".vtu", "/absolute.vtu", "a_3.pvtu"};
static const double times[] = {0, 0.1, 1.0 / 3, 1e300};

static void test_pvd__is_valid_after_every_addition(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    eg_pvd *pvd = NULL;
    TEST_OK(f->ctx, eg_pvd_open(f->ctx, f->path, NULL, &pvd));
    for (size_t i = 0; i < EG_COUNT(files); i++) {
        TEST_OK(f->ctx, eg_pvd_add(pvd, times[i], files[i]));
        check_series(f, i + 1, files, times);
    }
    eg_pvd_close(&pvd);
    TEST_OK(f->ctx, eg_pvd_open(f->ctx, f->path, NULL, &pvd)); /* begins anew */
    TEST_OK(f->ctx, eg_pvd_add(pvd, times[0], files[0]));
    check_series(f, 1, files, times);
    eg_pvd_close(&pvd);
    fixture_free(f);
}

static void test_pvd__keeps_what_is_not_later_than_the_restart(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    eg_pvd *pvd = NULL;
    const double until = times[1];
    TEST_OK(f->ctx, eg_pvd_open(f->ctx, f->path, &until, &pvd)); /* there is none yet */
    for (size_t i = 0; i < EG_COUNT(files); i++)
        TEST_OK(f->ctx, eg_pvd_add(pvd, times[i], files[i]));
    eg_pvd_close(&pvd);
    TEST_OK(f->ctx, eg_pvd_open(f->ctx, f->path, &until, &pvd));
    check_series(f, 2, files, times); /* what is later is cut off at once */
    TEST_OK(f->ctx, eg_pvd_add(pvd, times[2], files[2]));
    check_series(f, 3, files, times);
    TEST_OK(f->ctx, eg_pvd_add(pvd, times[1], files[1])); /* the same file once more */
    check_series(f, 3, files, times);
    eg_pvd_close(&pvd);
    fixture_free(f);
}

static void test_pvd__has_points_in_numbers_whatever_the_locale(void **state)
{
    (void)state;
    fixture *f = fixture_new();
    eg_pvd *pvd = NULL;
    if (set_comma_locale(f->folder)) {
        TEST_OK(f->ctx, eg_pvd_open(f->ctx, f->path, NULL, &pvd));
        TEST_OK(f->ctx, eg_pvd_add(pvd, times[2], files[0]));
        check_series(f, 1, files, &times[2]);
        eg_pvd_close(&pvd);
        setlocale(LC_NUMERIC, "C");
    }
    fixture_free(f);
}

static void test_pvd__damage_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } damages[] = {
        {"", "run.pvd:1: error: there is no <VTKFile>"},
        {"<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid/></VTKFile>", "it is no series"},
        {"<VTKFile type=\"Collection\"/>", "<VTKFile> holds no <Collection>"},
        {"<VTKFile type=\"Collection\"><Collection>\n<DataSet timestep=\"1\"/>"
         "</Collection></VTKFile>",
         "run.pvd:2: error: <DataSet> has no attribute file"},
        {"<VTKFile type=\"Collection\"><Collection><DataSet file=\"a\"/></Collection></VTKFile>",
         "<DataSet> has no attribute timestep"},
        {"<VTKFile type=\"Collection\"><Collection><DataSet timestep=\"1,5\" file=\"a\"/>"
         "</Collection></VTKFile>",
         "timestep=\"1,5\" is no number"},
    };
    fixture *f = fixture_new();
    for (size_t i = 0; i < EG_COUNT(damages); i++) {
        char **there = NULL;
        double *when = NULL;
        size_t count;
        eg_pvd *pvd = NULL;
        TEST_OK(f->ctx, eg_file_write_atomic(f->ctx, f->path, damages[i].text,
                                             strlen(damages[i].text), 0600, false));
        TEST_FAILS(f->ctx, EG_ERROR_INPUT, damages[i].message,
                   eg_pvd_read(f->ctx, f->path, &count, &there, &when));
        TEST_FAILS(f->ctx, EG_ERROR_INPUT, damages[i].message,
                   eg_pvd_open(f->ctx, f->path, &times[0], &pvd));
        assert_true(!there && !when && !pvd);
    }
    fixture_free(f);
}

static eg_status add_and_read(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_pvd *pvd = NULL;
    char **there = NULL;
    double *when = NULL;
    size_t count = 0;
    EG_TRY(eg_pvd_open(ctx, user, NULL, &pvd));
    EG_TRY(eg_pvd_add(pvd, 1, "a.vtu"));
    EG_TRY(eg_pvd_add(pvd, 2, "b.vtu"));
    eg_pvd_close(&pvd);
    EG_TRY(eg_pvd_open(ctx, user, &(double){1}, &pvd));
    EG_TRY(eg_pvd_read(ctx, user, &count, &there, &when));
done:
    eg_pvd_close(&pvd);
    for (size_t i = 0; i < count; i++)
        eg_release(ctx, &there[i]);
    eg_release(ctx, &there);
    eg_release(ctx, &when);
    return status;
}

static void test_pvd__survives_every_failing_allocation(void **state)
{
    (void)state;
    char folder[PATH_MAX], path[PATH_MAX + 8];
    test_directory_create(folder);
    snprintf(path, sizeof path, "%s/a.pvd", folder);
    test_allocation_sweep(add_and_read, path);
    test_directory_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pvd__is_valid_after_every_addition),
        cmocka_unit_test(test_pvd__keeps_what_is_not_later_than_the_restart),
        cmocka_unit_test(test_pvd__has_points_in_numbers_whatever_the_locale),
        cmocka_unit_test(test_pvd__damage_is_named),
        cmocka_unit_test(test_pvd__survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
