/* Room `compare`: the rule for the largest CFL number, rows in a file, and a comparison that
 * goes on. */
#include "test.h"

#include "compare/compare.h"

#include <math.h>

/* To the last bit. */
#define assert_same(a, b) assert_true((a) == (b))

/* --- the rule ----------------------------------------------------------------------------------- */

/* A scheme in numbers: its error is 1 + change·cfl, and it is unstable above `limit`. */
typedef struct scheme {
    double limit, change;
    int runs;
    double tried[64];
    int stop_at; /* the run that is not made; 0: all are */
} scheme;

static eg_status error_of(void *user, double cfl, double *error, bool *stop)
{
    scheme *s = user;
    if (s->stop_at && s->runs + 1 == s->stop_at) {
        *stop = true;
        return EG_OK;
    }
    if (s->runs < 64) s->tried[s->runs] = cfl;
    s->runs++;
    *error = cfl > s->limit ? NAN : 1 + s->change * cfl;
    return EG_OK;
}

static double find(eg_context *ctx, scheme *s, double start, int digits)
{
    const eg_compare_rule rule = {.start = start, .tolerance = 1e-3, .digits = digits};
    double cfl = -1;
    TEST_OK(ctx, eg_compare_find_cfl(ctx, &rule, error_of, s, &cfl));
    return cfl;
}

static void test_cfl__halving_ends_at_the_first_number_whose_half_has_the_same_error(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    scheme unstable = {.limit = 0.3};
    assert_same(find(ctx, &unstable, 0.8, 0), 0.2);
    static const double tried[] = {0.8, 0.4, 0.2, 0.1};
    assert_int_equal(unstable.runs, 4);
    for (int i = 0; i < 4; i++)
        assert_same(unstable.tried[i], tried[i]);
    /* The error changes by 0.011·cfl/2 of about 1: by less than 0.1 % below 0.182. */
    scheme smooth = {.limit = 10, .change = 0.011};
    assert_same(find(ctx, &smooth, 0.8, 0), 0.1);
    scheme looser = {.limit = 10, .change = 0.011};
    const eg_compare_rule rule = {.start = 0.8, .tolerance = 2.5e-3};
    double cfl = 0;
    TEST_OK(ctx, eg_compare_find_cfl(ctx, &rule, error_of, &looser, &cfl));
    assert_same(cfl, 0.4);
    test_context_free(&ctx);
}

static void test_cfl__a_start_that_is_small_enough_is_doubled(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    scheme s = {.limit = 0.9};
    assert_same(find(ctx, &s, 0.1, 0), 0.8);
    test_context_free(&ctx);
}

static void test_cfl__digits_are_those_of_the_limit(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    static const struct {
        double limit;
        int digits;
        double expected;
    } cases[] = {{0.2471, 1, 0.2},   {0.2471, 2, 0.24},     {0.2471, 3, 0.247}, {0.0312, 2, 0.031},
                 {0.0988, 2, 0.098}, {0.4, 2, 0.4},         {0.79, 1, 0.7},     {3.14159, 3, 3.14},
                 {0.1666, 2, 0.16},  {0.123456, 5, 0.12345}};
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        scheme s = {.limit = cases[i].limit};
        assert_same(find(ctx, &s, 0.4, cases[i].digits), cases[i].expected);
        assert_in_range(s.runs, 3, 2 * (12 + 17));
    }
    /* With the rule rather than stability as the limit, below 0.182. */
    scheme smooth = {.limit = 10, .change = 0.011};
    assert_same(find(ctx, &smooth, 0.8, 2), 0.18);
    test_context_free(&ctx);
}

static void test_cfl__what_never_settles_is_a_failure_that_says_why(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_compare_rule rule = {.start = 0.4, .tolerance = 1e-3, .digits = 2};
    double cfl = -1;
    scheme never = {.limit = 0};
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "unstable at all CFL numbers between 0.4 and 0.000195",
               eg_compare_find_cfl(ctx, &rule, error_of, &never, &cfl));
    assert_same(cfl, 0);
    assert_int_equal(never.runs, 12);
    scheme changing = {.limit = 10, .change = 1e6};
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "changes the error by less than 0.1 %",
               eg_compare_find_cfl(ctx, &rule, error_of, &changing, &cfl));
    scheme always = {.limit = INFINITY};
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "every CFL number from 0.4",
               eg_compare_find_cfl(ctx, &rule, error_of, &always, &cfl));
    test_context_free(&ctx);
}

static void test_cfl__a_search_can_be_stopped_at_every_run(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    scheme whole = {.limit = 0.2471};
    find(ctx, &whole, 0.4, 2);
    for (int at = 1; at <= whole.runs; at++) {
        scheme s = {.limit = 0.2471, .stop_at = at};
        assert_same(find(ctx, &s, 0.4, 2), 0);
        assert_int_equal(s.runs, at - 1);
    }
    test_context_free(&ctx);
}

/* --- rows --------------------------------------------------------------------------------------- */

static eg_compare_identity identity_of(const char *text)
{
    eg_compare_identity identity = {.replacements = "time.end=2, \"quoted\"",
                                    .device = "cpu:1 (a, b)",
                                    .version = "0.1.0",
                                    .ranks = 1,
                                    .exact = true};
    eg_compare_hash(text, strlen(text), identity.case_hash);
    return identity;
}

static const eg_compare_row some_rows[] = {
    {{"dg", 1, "20"}, 0.4, 1, .stable = false},
    {{"dg", 1, "20"}, 0.1, 1, true, 400, 1600, 30, 0.05, 3.2e-3, 3.2e-2, 0.0114, 21.5, 0.059},
    {{"dg", 1, "20"}, 0.1, 2, true, 400, 1600, 30, 0.05, 3.2e-3, 3.2e-2, 1.0 / 3, NAN, 0.059},
    {{"sd", 8, "20x10"}, 1.0 / 3, 1, true, 200, 16200, 7, 0.0707, 1e-300, 1e-17, 1e-6, 1, 2}};

static void add_rows(eg_compare_rows *rows)
{
    for (size_t i = 0; i < EG_COUNT(some_rows); i++)
        TEST_OK(rows->ctx, eg_compare_rows_add(rows, &some_rows[i]));
}

static void assert_same_row(const eg_compare_row *a, const eg_compare_row *b)
{
    assert_string_equal(a->of.scheme, b->of.scheme);
    assert_string_equal(a->of.cells, b->of.cells);
    assert_int_equal(a->of.degree, b->of.degree);
    assert_true(a->cfl == b->cfl && a->repeat == b->repeat && a->stable == b->stable);
    if (!a->stable) return;
    assert_true(a->elements == b->elements && a->points == b->points && a->steps == b->steps);
    assert_true(a->h == b->h && a->nodal_l2 == b->nodal_l2 && a->l2 == b->l2);
    assert_true(a->loop_s == b->loop_s && a->reference_s == b->reference_s);
    assert_true(a->ns_per_point_stage == b->ns_per_point_stage ||
                (isnan(a->ns_per_point_stage) && isnan(b->ns_per_point_stage)));
}

static void test_rows__come_back_to_the_last_bit(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_compare_rows rows = eg_compare_rows_new(ctx), back = eg_compare_rows_new(ctx);
    const eg_compare_identity identity = identity_of("case");
    eg_compare_left_out left_out;
    eg_text text = eg_text_new(ctx);
    add_rows(&rows);
    TEST_OK(ctx, eg_compare_rows_put(&rows, &identity, &text));
    TEST_OK(ctx, eg_compare_rows_read(&back, &identity, "results.csv", text.data, text.length,
                                      &left_out));
    assert_int_equal(back.count, rows.count);
    assert_true(left_out.foreign == 0 && !left_out.cut);
    for (size_t i = 0; i < rows.count; i++)
        assert_same_row(&back.list[i], &rows.list[i]);
    assert_ptr_equal(eg_compare_rows_find(&back, &some_rows[3].of, 1.0 / 3, 1), &back.list[3]);
    assert_null(eg_compare_rows_find(&back, &some_rows[3].of, 1.0 / 3, 2));
    assert_null(eg_compare_rows_find(&back, &some_rows[3].of, 0.333, 1));
    eg_text_free(&text);
    eg_compare_rows_free(&back);
    eg_compare_rows_free(&rows);
    test_context_free(&ctx);
}

/* Cut anywhere, what is whole is taken, and nothing that is half a number. */
static void test_rows__of_a_file_that_was_cut_the_whole_lines_are_taken(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_compare_rows rows = eg_compare_rows_new(ctx);
    const eg_compare_identity identity = identity_of("case");
    eg_text text = eg_text_new(ctx);
    add_rows(&rows);
    TEST_OK(ctx, eg_compare_rows_put(&rows, &identity, &text));
    for (size_t length = 0; length <= text.length; length++) {
        eg_compare_rows back = eg_compare_rows_new(ctx);
        eg_compare_left_out left_out;
        char *copy = NULL;
        size_t lines = 0;
        TEST_OK(ctx, eg_new(ctx, length + 1, &copy));
        memcpy(copy, text.data, length);
        for (size_t i = 0; i < length; i++)
            lines += copy[i] == '\n';
        TEST_OK(ctx,
                eg_compare_rows_read(&back, &identity, "results.csv", copy, length, &left_out));
        assert_int_equal(back.count, lines > 0 ? lines - 1 : 0);
        assert_int_equal(left_out.cut, length > 0 && text.data[length - 1] != '\n');
        eg_release(ctx, &copy);
        eg_compare_rows_free(&back);
    }
    eg_text_free(&text);
    eg_compare_rows_free(&rows);
    test_context_free(&ctx);
}

static void test_rows__of_another_comparison_are_left_out_with_what_differs(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_compare_rows rows = eg_compare_rows_new(ctx);
    const eg_compare_identity identity = identity_of("case");
    eg_text text = eg_text_new(ctx);
    add_rows(&rows);
    eg_compare_identity others[6];
    for (size_t i = 0; i < EG_COUNT(others); i++)
        others[i] = identity;
    eg_compare_hash("Case", 4, others[0].case_hash);
    others[1].replacements = "time.end=3";
    others[2].device = "cuda:0 (H)";
    others[3].ranks = 2;
    others[4].version = "0.2.0";
    others[5].exact = false;
    static const char *const differences[] = {
        "the case or its mesh", "the replacements on the command line",
        "the device",           "the number of ranks",
        "the version of eagre", "what norms are of"};
    for (size_t i = 0; i < EG_COUNT(others); i++) {
        eg_compare_rows back = eg_compare_rows_new(ctx);
        eg_compare_left_out left_out;
        eg_text_clear(&text);
        TEST_OK(ctx, eg_compare_rows_put(&rows, &identity, &text));
        TEST_OK(ctx, eg_compare_rows_read(&back, &others[i], "results.csv", text.data, text.length,
                                          &left_out));
        assert_int_equal(back.count, 0);
        assert_int_equal(left_out.foreign, rows.count);
        assert_string_equal(left_out.difference, differences[i]);
        eg_compare_rows_free(&back);
    }
    eg_text_free(&text);
    eg_compare_rows_free(&rows);
    test_context_free(&ctx);
}

static void refuse(eg_context *ctx, const char *text, const char *part)
{
    eg_compare_rows rows = eg_compare_rows_new(ctx);
    const eg_compare_identity identity = identity_of("case");
    eg_compare_left_out left_out;
    char *copy = NULL;
    TEST_OK(ctx, eg_copy_string(ctx, text, &copy));
    TEST_FAILS(
        ctx, EG_ERROR_INPUT, part,
        eg_compare_rows_read(&rows, &identity, "results.csv", copy, strlen(copy), &left_out));
    eg_release(ctx, &copy);
    eg_compare_rows_free(&rows);
}

static void test_rows__a_file_of_something_else_is_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_compare_rows none = eg_compare_rows_new(ctx);
    const eg_compare_identity identity = identity_of("case");
    eg_text text = eg_text_new(ctx);
    refuse(ctx, "field,degree\nu,1\n", "other columns");
    refuse(ctx, "\n\n", "other columns");
    TEST_OK(ctx, eg_compare_rows_put(&none, &identity, &text));
    TEST_OK(ctx, eg_text_puts(&text, "dg,1,20\n"));
    refuse(ctx, eg_text_string(&text), "line 2 of results.csv is no row");
    eg_text_clear(&text);
    TEST_OK(ctx, eg_compare_rows_put(&none, &identity, &text));
    TEST_OK(ctx, eg_text_puts(&text, "dg,1,20,0.2,1,done,,,,,,,,,,,,,error,,cpu,1,0.1.0,00\n"));
    refuse(ctx, eg_text_string(&text), "line 2 of results.csv is no row");
    eg_text_free(&text);
    test_context_free(&ctx);
}

/* --- comparisons -------------------------------------------------------------------------------- */

/* Runs of schemes in numbers: sd is stable to twice what dg is, bad nowhere. */
typedef struct machine {
    eg_compare_rows *rows;
    int begun, runs, kept;
    int stop_at; /* runs before it is asked to stop; 0: never */
    size_t told; /* progress */
    int fail_at; /* the run that fails; 0: none */
} machine;

static eg_status begin(void *user)
{
    machine *m = user;
    m->begun++;
    return EG_OK;
}

static eg_status run(void *user, const eg_compare_setting *of, double cfl, eg_compare_row *row)
{
    machine *m = user;
    const double limit = strcmp(of->scheme, "sd") == 0   ? 0.5
                         : strcmp(of->scheme, "dg") == 0 ? 0.25
                                                         : 0;
    const int cells = atoi(of->cells);
    m->runs++;
    if (m->runs == m->fail_at)
        return eg_fail(m->rows->ctx, EG_ERROR_DEVICE_LOST, "the device has gone");
    row->stable = cfl <= limit;
    row->elements = cells * cells;
    row->points = row->elements * (of->degree + 1) * (of->degree + 1);
    row->h = 1.0 / cells;
    row->steps = (int64_t)(cells / cfl);
    row->nodal_l2 = row->l2 = pow(row->h, of->degree + 1);
    row->loop_s = 3 - row->repeat; /* 2, 1, 0 */
    row->ns_per_point_stage = 10 * row->repeat;
    row->reference_s = 0.5;
    return EG_OK;
}

static eg_status keep(void *user)
{
    machine *m = user;
    m->kept++;
    return EG_OK;
}

static bool asked(void *user)
{
    const machine *m = user;
    return m->stop_at && m->runs >= m->stop_at;
}

static void progress(void *user, const eg_compare_progress *p)
{
    machine *m = user;
    assert_true(p->index < p->count && p->cfl > 0 && p->repeat >= 1);
    assert_true(p->index == 0 ? isnan(p->left_s) : true);
    m->told++;
}

enum { SETTINGS = 5 };
static const eg_compare_setting settings[SETTINGS] = {
    {"dg", 2, "10"}, {"sd", 2, "10"}, {"bad", 2, "10"}, {"dg", 2, "20"}, {"sd", 2, "20"}};
static const double no_cfl[SETTINGS], starts[SETTINGS] = {0.8, 0.8, 0.8, 0.8, 0.8};
static const eg_compare_plan plan = {.settings = settings,
                                     .count = SETTINGS,
                                     .cfl = no_cfl,
                                     .start = starts,
                                     .tolerance = 1e-3,
                                     .digits = 2,
                                     .repeat = 3};

static eg_status compare(eg_context *ctx, const eg_compare_plan *p, machine *m,
                         eg_compare_rows *rows, eg_compare_result *results, eg_compare_done *done)
{
    m->rows = rows;
    const eg_compare_hooks hooks = {
        .user = m, .begin = begin, .run = run, .keep = keep, .asked = asked, .progress = progress};
    return eg_compare(ctx, p, &hooks, rows, results, done);
}

static void test_compare__every_setting_has_its_cfl_medians_and_orders(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_compare_rows rows = eg_compare_rows_new(ctx);
    eg_compare_result results[SETTINGS];
    eg_compare_done done;
    machine m = {0};
    TEST_OK(ctx, compare(ctx, &plan, &m, &rows, results, &done));
    assert_int_equal(m.begun, 1);
    assert_int_equal(done.runs, m.runs);
    assert_int_equal(done.runs, rows.count);
    assert_int_equal(m.kept, m.runs);
    assert_int_equal(m.told, m.runs);
    assert_true(done.taken == 0 && !done.stopped && done.failed == 1);
    static const double cfl[SETTINGS] = {0.25, 0.5, 0, 0.25, 0.5};
    for (size_t i = 0; i < SETTINGS; i++) {
        const eg_compare_result *r = &results[i];
        assert_int_equal(r->outcome, i == 2 ? EG_COMPARE_FAILED : EG_COMPARE_DONE);
        if (i == 2) continue;
        assert_same(r->cfl, cfl[i]);
        assert_same(r->loop_s, 1);
        assert_same(r->ns_per_point_stage, 20);
        assert_same(r->work, 2);
        assert_same(r->step_s, 1.0 / (double)r->steps);
        assert_same(r->step_work, 2.0 / (double)r->steps);
        assert_int_equal(r->points, i < 2 ? 900 : 3600);
    }
    assert_true(isnan(eg_compare_order(&plan, results, 0)));
    assert_true(isnan(eg_compare_order(&plan, results, 2)));
    assert_true(fabs(eg_compare_order(&plan, results, 4) - 3) < 1e-12);
    assert_non_null(strstr(test_log, "bad degree 2 cells 10: runs are unstable at all"));
    eg_compare_rows_free(&rows);
    test_context_free(&ctx);
}

/* Stopped after any number of runs, and gone on with, it makes each run once. */
static void test_compare__goes_on_where_it_was_stopped(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_compare_result whole[SETTINGS], results[SETTINGS];
    eg_compare_done done;
    eg_compare_rows rows = eg_compare_rows_new(ctx);
    machine all = {0};
    TEST_OK(ctx, compare(ctx, &plan, &all, &rows, whole, &done));
    for (int at = 1; at < all.runs; at += 5) {
        eg_compare_rows some = eg_compare_rows_new(ctx);
        machine first = {.stop_at = at}, second = {0}, third = {0};
        TEST_OK(ctx, compare(ctx, &plan, &first, &some, results, &done));
        assert_true(done.stopped);
        assert_int_equal(first.runs, at);
        assert_int_equal(results[SETTINGS - 1].outcome, EG_COMPARE_PENDING);
        TEST_OK(ctx, compare(ctx, &plan, &second, &some, results, &done));
        assert_false(done.stopped);
        assert_int_equal(second.runs, all.runs - at);
        for (size_t i = 0; i < SETTINGS; i++)
            assert_true(results[i].outcome == whole[i].outcome && results[i].cfl == whole[i].cfl);
        TEST_OK(ctx, compare(ctx, &plan, &third, &some, results, &done));
        assert_true(third.runs == 0 && third.begun == 0 && done.taken > 0);
        eg_compare_rows_free(&some);
    }
    eg_compare_rows_free(&rows);
    test_context_free(&ctx);
}

static void test_compare__a_given_cfl_is_taken_and_fails_where_it_is_unstable(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_compare_rows rows = eg_compare_rows_new(ctx);
    static const double given[SETTINGS] = {0.1, 0.3, 0.1, 0.3, 0.3};
    eg_compare_plan fixed = plan;
    eg_compare_result results[SETTINGS];
    eg_compare_done done;
    machine m = {0};
    fixed.cfl = given;
    TEST_OK(ctx, compare(ctx, &fixed, &m, &rows, results, &done));
    assert_int_equal(m.runs, 3 + 3 + 1 + 1 + 3);
    assert_int_equal(done.failed, 2);
    assert_same(results[0].cfl, 0.1);
    assert_int_equal(results[3].outcome, EG_COMPARE_FAILED);
    assert_non_null(
        strstr(test_log, "dg degree 2 cells 20: it is unstable at a CFL number of 0.3"));
    eg_compare_rows_free(&rows);
    test_context_free(&ctx);
}

static void test_compare__what_is_no_instability_ends_it_with_its_message(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_compare_rows rows = eg_compare_rows_new(ctx);
    eg_compare_result results[SETTINGS];
    eg_compare_done done;
    machine m = {.fail_at = 7};
    TEST_FAILS(ctx, EG_ERROR_DEVICE_LOST, "the device has gone",
               compare(ctx, &plan, &m, &rows, results, &done));
    assert_int_equal(rows.count, 6);
    eg_compare_rows_free(&rows);
    test_context_free(&ctx);
}

static void test_compare__the_median_of_an_even_number_is_between_two(void **state)
{
    (void)state;
    assert_same(eg_compare_median((double[]){4, 1, 3, 2}, 4), 2.5);
    assert_same(eg_compare_median((double[]){9, 1, 3}, 3), 3);
    assert_true(isnan(eg_compare_median(NULL, 0)));
}

static eg_status whole_way(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_compare_rows rows = eg_compare_rows_new(ctx), back = eg_compare_rows_new(ctx);
    eg_compare_result results[SETTINGS];
    eg_compare_done done;
    const eg_compare_identity identity = identity_of("case");
    eg_compare_left_out left_out;
    eg_text text = eg_text_new(ctx);
    machine m = {0};
    (void)user;
    EG_TRY(compare(ctx, &plan, &m, &rows, results, &done));
    EG_TRY(eg_compare_rows_put(&rows, &identity, &text));
    EG_TRY(
        eg_compare_rows_read(&back, &identity, "results.csv", text.data, text.length, &left_out));
done:
    eg_text_free(&text);
    eg_compare_rows_free(&back);
    eg_compare_rows_free(&rows);
    return status;
}

static void test_compare__survives_every_failing_allocation(void **state)
{
    (void)state;
    test_allocation_sweep(whole_way, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cfl__halving_ends_at_the_first_number_whose_half_has_the_same_error),
        cmocka_unit_test(test_cfl__a_start_that_is_small_enough_is_doubled),
        cmocka_unit_test(test_cfl__digits_are_those_of_the_limit),
        cmocka_unit_test(test_cfl__what_never_settles_is_a_failure_that_says_why),
        cmocka_unit_test(test_cfl__a_search_can_be_stopped_at_every_run),
        cmocka_unit_test(test_rows__come_back_to_the_last_bit),
        cmocka_unit_test(test_rows__of_a_file_that_was_cut_the_whole_lines_are_taken),
        cmocka_unit_test(test_rows__of_another_comparison_are_left_out_with_what_differs),
        cmocka_unit_test(test_rows__a_file_of_something_else_is_refused),
        cmocka_unit_test(test_compare__every_setting_has_its_cfl_medians_and_orders),
        cmocka_unit_test(test_compare__goes_on_where_it_was_stopped),
        cmocka_unit_test(test_compare__a_given_cfl_is_taken_and_fails_where_it_is_unstable),
        cmocka_unit_test(test_compare__what_is_no_instability_ends_it_with_its_message),
        cmocka_unit_test(test_compare__the_median_of_an_even_number_is_between_two),
        cmocka_unit_test(test_compare__survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
