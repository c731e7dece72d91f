/* Series of numbers as CSV: what is written comes back, at once and to the last bit; files are
 * cut back to where a run goes on; and what a disk may do to them. */
#include "comma.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "report/series.h"

static const eg_series_column columns[] = {{"step", NULL, true},
                                           {"time", "s", false},
                                           {"drag, \"total\"", "N/m", false},
                                           {"cells", NULL, true}};
enum { COLUMNS = EG_COUNT(columns) };
static const char header[] = "step,time [s],\"drag, \"\"total\"\" [N/m]\",cells\n";

/* A directory with a path in it. */
typedef struct place {
    eg_context *ctx;
    char directory[PATH_MAX], path[PATH_MAX + 16];
} place;

static place place_new(void)
{
    place p = {.ctx = test_context()};
    test_directory_create(p.directory);
    snprintf(p.path, sizeof p.path, "%s/series.csv", p.directory);
    return p;
}

static void place_free(place *p)
{
    test_directory_remove(p->directory);
    test_context_free(&p->ctx);
}

static void expect_file(const place *p, const char *expected)
{
    char *data = NULL;
    size_t length = 0;
    TEST_OK(p->ctx, eg_file_read(p->ctx, p->path, &data, &length));
    assert_string_equal(data, expected);
    assert_int_equal(length, strlen(expected));
    eg_release(p->ctx, &data);
}

static void write_file(const place *p, const char *text, size_t length)
{
    TEST_OK(p->ctx, eg_file_write_atomic(p->ctx, p->path, text, length, 0600, false));
}

static eg_series *series_new(const place *p, const int64_t *keep_until)
{
    eg_series *series = NULL;
    TEST_OK(p->ctx, eg_series_open(p->ctx, p->path, columns, COLUMNS, keep_until, &series));
    return series;
}

/* --- writing and reading ---------------------------------------------------------------------- */

static void test_series__a_row_is_in_the_file_as_soon_as_it_is_added(void **state)
{
    (void)state;
    place p = place_new();
    write_file(&p, "old\n", 4);
    eg_series *series = series_new(&p, NULL);
    char expected[512];
    expect_file(&p, header);
    TEST_OK(p.ctx, eg_series_add(series, (const double[]){0, 0.1, -1e-300, 9007199254740992}));
    snprintf(expected, sizeof expected, "%s0,0.1,-1e-300,9007199254740992\n", header);
    expect_file(&p, expected);
    TEST_OK(p.ctx, eg_series_add(series, (const double[]){10, 1.0 / 3, -NAN, -7}));
    TEST_OK(p.ctx, eg_series_add(series, (const double[]){20, -INFINITY, INFINITY, NAN}));
    strcat(expected, "10,0.3333333333333333,nan,-7\n20,-inf,inf,nan\n");
    expect_file(&p, expected);
    TEST_OK(p.ctx, eg_series_close(&series));
    assert_null(series);
    expect_file(&p, expected);
    TEST_OK(p.ctx, eg_series_close(&series));
    place_free(&p);
}

static double random_bits(uint64_t *seed)
{
    double value;
    do {
        test_random(seed); /* *seed itself is no random number */
        const uint64_t bits = *seed ^ *seed >> 29 ^ *seed << 17;
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

static void check_comes_back(void)
{
    place p = place_new();
    eg_series *series = series_new(&p, NULL);
    eg_series_data data;
    enum { ROWS = 1000 };
    uint64_t seed = 11, again = seed;
    for (int i = 0; i < ROWS; i++) {
        const double time = random_bits(&seed), drag = random_bits(&seed);
        TEST_OK(p.ctx, eg_series_add(series, (const double[]){i, time, drag, -i}));
    }
    TEST_OK(p.ctx, eg_series_close(&series));
    TEST_OK(p.ctx, eg_series_read(p.ctx, p.path, &data));
    assert_int_equal(data.count, COLUMNS);
    assert_int_equal(data.rows, ROWS);
    for (int i = 0; i < COLUMNS; i++) {
        assert_string_equal(data.names[i], columns[i].name);
        if (columns[i].unit)
            assert_string_equal(data.units[i], columns[i].unit);
        else
            assert_null(data.units[i]);
    }
    for (int i = 0; i < ROWS; i++) {
        const double time = random_bits(&again), drag = random_bits(&again);
        assert_memory_equal(&data.columns[1][i], &time, sizeof time);
        assert_memory_equal(&data.columns[2][i], &drag, sizeof drag);
        assert_true(data.columns[0][i] == i && data.columns[3][i] == -i);
    }
    eg_series_data_free(&data);
    place_free(&p);
}

static void test_series__values_come_back_to_the_last_bit(void **state)
{
    (void)state;
    check_comes_back();
}

static void test_series__a_decimal_comma_of_the_locale_changes_nothing(void **state)
{
    (void)state;
    char folder[PATH_MAX];
    test_directory_create(folder);
    const bool set = set_comma_locale(folder);
    if (set) {
        check_comes_back();
        setlocale(LC_NUMERIC, "C");
    }
    test_directory_remove(folder);
    if (!set) skip();
}

static void test_series__the_first_column_is_the_step(void **state)
{
    (void)state;
    place p = place_new();
    eg_series *series = NULL;
    TEST_FAILS(p.ctx, EG_ERROR_ARGUMENT, "step",
               eg_series_open(p.ctx, p.path, &columns[1], 1, NULL, &series));
    assert_null(series);
    place_free(&p);
}

/* --- going on --------------------------------------------------------------------------------- */

/* Opens a file that holds `before` for what follows `step` and adds a row. */
static void check_cut(const char *before, size_t length, int64_t step, const char *kept)
{
    place p = place_new();
    char expected[512];
    if (length > 0) write_file(&p, before, length);
    eg_series *series = series_new(&p, &step);
    snprintf(expected, sizeof expected, "%s%s", header, kept);
    expect_file(&p, expected);
    TEST_OK(p.ctx, eg_series_add(series, (const double[]){100, 1, 2, 3}));
    TEST_OK(p.ctx, eg_series_close(&series));
    strcat(expected, "100,1,2,3\n");
    expect_file(&p, expected);
    place_free(&p);
}

#define HEADER "step,time [s],\"drag, \"\"total\"\" [N/m]\",cells\n"
#define ROWS HEADER "0,0,1,1\n10,0.5,1,1\n20,1,1,1\n"

static void test_series__is_cut_back_to_a_step(void **state)
{
    (void)state;
    check_cut(ROWS, strlen(ROWS), 10, "0,0,1,1\n10,0.5,1,1\n");
    check_cut(ROWS, strlen(ROWS), 19, "0,0,1,1\n10,0.5,1,1\n");
    check_cut(ROWS, strlen(ROWS), 20, "0,0,1,1\n10,0.5,1,1\n20,1,1,1\n");
    check_cut(ROWS, strlen(ROWS), INT64_MAX, "0,0,1,1\n10,0.5,1,1\n20,1,1,1\n");
    check_cut(ROWS, strlen(ROWS), -1, "");
    check_cut("", 0, 10, ""); /* there is no file */
}

static void test_series__loses_what_a_killed_run_left_behind_the_last_row(void **state)
{
    (void)state;
    static const char half[] = ROWS "30,1.5,1,";
    static const char no_newline[] = ROWS "30,1.5,1,1";
    static const char zeros[] = ROWS "30,1.5\0\0\0\0\0\0\n\0\0";
    const char *const all = "0,0,1,1\n10,0.5,1,1\n20,1,1,1\n";
    check_cut(half, sizeof half - 1, 30, all);
    check_cut(no_newline, sizeof no_newline - 1, 30, all);
    check_cut(zeros, sizeof zeros - 1, 30, all);
    for (size_t length = 0; length < strlen(HEADER); length++)
        check_cut(HEADER, length, 30, "");
}

static void test_series__refuses_a_file_that_is_not_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"step,time [s],lift,cells\n0,1,2,3\n", "\"step,time [s],lift,cells\" instead of"},
        {"step,time [s]\n", "has other columns"},
        {"no line at all", "has other columns"},
        {HEADER "0,0,1,1\n5,0\n10,0.5,1,1\n", "line 3 of"},
        {HEADER "0,0,1,1\nx,0,1,1\n10,0.5,1,1\n", "line 3 of"},
        {HEADER "99999999999999999999,0,1,1\n10,0.5,1,1\n", "line 2 of"},
    };
    const int64_t step = 10;
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        place p = place_new();
        eg_series *series = NULL;
        write_file(&p, cases[i].text, strlen(cases[i].text));
        TEST_FAILS(p.ctx, EG_ERROR_INPUT, cases[i].message,
                   eg_series_open(p.ctx, p.path, columns, COLUMNS, &step, &series));
        assert_non_null(strstr(eg_context_error(p.ctx), p.path));
        assert_null(series);
        expect_file(&p, cases[i].text);
        place_free(&p);
    }
}

/* --- disks ------------------------------------------------------------------------------------ */

/* A limit on the size of files ends a write as a full disk does: after a part of it. */
static void test_series__a_row_that_finds_no_room_leaves_no_part_of_itself(void **state)
{
    (void)state;
    place p = place_new();
    eg_series *series = series_new(&p, NULL);
    const double row[COLUMNS] = {1, 0.25, 0.5, 1};
    char expected[512];
    struct rlimit before, now;
    snprintf(expected, sizeof expected, "%s1,0.25,0.5,1\n", header);
    TEST_OK(p.ctx, eg_series_add(series, row));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    now = before;
    now.rlim_cur = strlen(expected) + 5;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
    const eg_status status = eg_series_add(series, row);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, EG_ERROR_IO);
    assert_non_null(strstr(eg_context_error(p.ctx), p.path));
    assert_non_null(strstr(eg_context_error(p.ctx), strerror(EFBIG)));
    expect_file(&p, expected);
    TEST_OK(p.ctx, eg_series_add(series, row)); /* once there is room again */
    strcat(expected, "1,0.25,0.5,1\n");
    expect_file(&p, expected);
    TEST_OK(p.ctx, eg_series_close(&series));
    place_free(&p);
}

static void test_series__a_directory_removed_in_mid_run_is_noticed(void **state)
{
    (void)state;
    place p = place_new();
    eg_series *series = series_new(&p, NULL);
    test_directory_remove(p.directory);
    TEST_FAILS(p.ctx, EG_ERROR_IO, p.path,
               eg_series_add(series, (const double[COLUMNS]){1, 2, 3, 4}));
    TEST_FAILS(p.ctx, EG_ERROR_IO, "removed", eg_series_close(&series));
    assert_null(series);
    TEST_FAILS(p.ctx, EG_ERROR_IO, strerror(ENOENT),
               eg_series_open(p.ctx, p.path, columns, COLUMNS, NULL, &series));
    assert_non_null(strstr(eg_context_error(p.ctx), p.path));
    assert_null(series);
    test_context_free(&p.ctx);
}

static void test_series__only_regular_files_are_written(void **state)
{
    (void)state;
    const int64_t step = 10;
    eg_context *ctx = test_context();
    eg_series *series = NULL;
    TEST_FAILS(ctx, EG_ERROR_IO, "/dev/null: it is not a regular file",
               eg_series_open(ctx, "/dev/null", columns, COLUMNS, NULL, &series));
    TEST_FAILS(ctx, EG_ERROR_IO, "/dev/null: it is not a regular file",
               eg_series_open(ctx, "/dev/null", columns, COLUMNS, &step, &series));
    test_context_free(&ctx);
}

/* --- files of others -------------------------------------------------------------------------- */

static void test_series__reads_what_others_write(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf"
                               "t , \"speed, [m/s]\",\"x \"\"y\"\" [m]\",note [a] b\r\n"
                               "\r\n"
                               "1e-3, 2.5 ,\"3\",\"two\nlines\"\r\n"
                               "\n"
                               ",-inf,0x10,1.5.2\r\n"
                               "4,5,6,";
    place p = place_new();
    eg_series_data data;
    write_file(&p, text, sizeof text - 1);
    TEST_OK(p.ctx, eg_series_read(p.ctx, p.path, &data));
    assert_int_equal(data.count, 4);
    assert_int_equal(data.rows, 3);
    assert_string_equal(data.names[0], "t");
    assert_string_equal(data.names[1], "speed,");
    assert_string_equal(data.units[1], "m/s");
    assert_string_equal(data.names[2], "x \"y\"");
    assert_string_equal(data.units[2], "m");
    assert_string_equal(data.names[3], "note [a] b");
    assert_null(data.units[3]);
    assert_true(data.columns[0][0] == 1e-3 && data.columns[1][0] == 2.5);
    assert_true(data.columns[2][0] == 3 && isnan(data.columns[3][0]));
    assert_true(isnan(data.columns[0][1]) && data.columns[1][1] == -INFINITY);
    assert_true(data.columns[2][1] == 16 && isnan(data.columns[3][1]));
    assert_true(data.columns[0][2] == 4 && data.columns[2][2] == 6 && isnan(data.columns[3][2]));
    eg_series_data_free(&data);
    place_free(&p);
}

static void test_series__names_the_line_that_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "is empty"},
        {"\n\n", "is empty"},
        {"a,b\n1,2\n3\n", "line 3 of"},
        {"a,b\n1,2\n\n3,4,5\n", "has 3 fields where the header has 2"},
        {"a,b\n\"1\n\",2\n3\n", "line 4 of"},
        {"a,b\n1,\"2\n", "line 2 of"},
        {"a,b\n\"1\"2,3\n", "does not end"},
        {"\"a\rb\n", "line 1 of"},
    };
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        place p = place_new();
        eg_series_data data;
        write_file(&p, cases[i].text, strlen(cases[i].text));
        TEST_FAILS(p.ctx, EG_ERROR_INPUT, cases[i].message, eg_series_read(p.ctx, p.path, &data));
        assert_non_null(strstr(eg_context_error(p.ctx), p.path));
        place_free(&p);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

static eg_status use_all(eg_context *ctx, void *user)
{
    const int64_t step = 1;
    eg_series *series = NULL;
    eg_series_data data = {0};
    eg_status status = EG_OK;
    for (int round = 0; round < 2; round++) {
        EG_TRY(eg_series_open(ctx, user, columns, COLUMNS, round ? &step : NULL, &series));
        EG_TRY(eg_series_add(series, (const double[COLUMNS]){1, 2, 3, 4}));
        EG_TRY(eg_series_close(&series));
    }
    EG_TRY(eg_series_read(ctx, user, &data));
done:
    (void)eg_series_close(&series);
    if (data.ctx) eg_series_data_free(&data);
    return status;
}

static void test_series__no_allocation_is_taken_for_granted(void **state)
{
    (void)state;
    place p = place_new();
    test_context_free(&p.ctx);
    test_allocation_sweep(use_all, p.path);
    p.ctx = test_context();
    place_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_series__a_row_is_in_the_file_as_soon_as_it_is_added),
        cmocka_unit_test(test_series__values_come_back_to_the_last_bit),
        cmocka_unit_test(test_series__a_decimal_comma_of_the_locale_changes_nothing),
        cmocka_unit_test(test_series__the_first_column_is_the_step),
        cmocka_unit_test(test_series__is_cut_back_to_a_step),
        cmocka_unit_test(test_series__loses_what_a_killed_run_left_behind_the_last_row),
        cmocka_unit_test(test_series__refuses_a_file_that_is_not_its_own),
        cmocka_unit_test(test_series__a_row_that_finds_no_room_leaves_no_part_of_itself),
        cmocka_unit_test(test_series__a_directory_removed_in_mid_run_is_noticed),
        cmocka_unit_test(test_series__only_regular_files_are_written),
        cmocka_unit_test(test_series__reads_what_others_write),
        cmocka_unit_test(test_series__names_the_line_that_is_wrong),
        cmocka_unit_test(test_series__no_allocation_is_taken_for_granted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
