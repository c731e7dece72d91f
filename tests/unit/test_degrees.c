/* Degrees from a case: the order of a file's list, what it may hold besides, and what it may not. */
#include "test.h"

#include "model/advection/degrees.h"
#include "model/model.h"

#define MOST 4

/* A case in a directory of its own, its mesh, and a list beside it. */
typedef struct bench {
    eg_context *ctx;
    char directory[PATH_MAX];
    eg_case *cas;
    eg_mesh *mesh;
    uint8_t *degrees;
} bench;

static void write_file(const char *directory, const char *name, const void *data, size_t length)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* `line` says where degrees come from; a mesh of 3 x 2 elements. */
static bench bench_new(const char *line)
{
    bench b = {.ctx = test_context()};
    char text[1024], path[PATH_MAX + 64];
    const eg_model *model = NULL;
    test_directory_create(b.directory);
    snprintf(text, sizeof text,
             "model = \"advection\"\n[mesh]\nshape = \"quadrilateral\"\ncells = [3, 2]\n"
             "[space]\ndegree = %d\n[advection]\nvelocity = [1, 1]\n%s\n[initial]\nu = \"x\"\n"
             "[time]\ndt = 0.1\nend = 1.0\n",
             MOST, line);
    write_file(b.directory, "case.toml", text, strlen(text));
    snprintf(path, sizeof path, "%s/case.toml", b.directory);
    TEST_OK(b.ctx, eg_model_open_case(b.ctx, path, NULL, 0, &model, &b.cas));
    TEST_OK(b.ctx, eg_mesh_create(b.ctx, b.cas, &b.mesh));
    return b;
}

/* Leaves the directory. */
static void bench_close(bench *b)
{
    eg_release(b->ctx, &b->degrees);
    eg_mesh_destroy(&b->mesh);
    eg_case_close(&b->cas);
    test_context_free(&b->ctx);
}

static void bench_free(bench *b)
{
    bench_close(b);
    test_directory_remove(b->directory);
}

static eg_status read_list(bench *b, const char *list, size_t length)
{
    eg_release(b->ctx, &b->degrees);
    write_file(b->directory, "list.txt", list, length);
    return eg_degrees_from_case(b->cas, b->mesh, MOST, &b->degrees);
}

static const char by_file[] = "degree_file = \"list.txt\"";

static void test_degrees__without_a_key_there_are_none(void **state)
{
    (void)state;
    bench b = bench_new("");
    TEST_OK(b.ctx, eg_degrees_from_case(b.cas, b.mesh, MOST, &b.degrees));
    assert_null(b.degrees);
    bench_free(&b);
}

/* By the centre, rounded, and kept between 0 and the highest. */
static void test_degrees__an_expression_is_taken_at_the_centre(void **state)
{
    (void)state;
    static const uint8_t expected[6] = {0, 2, 4, 0, 2, 4};
    bench b = bench_new("degree = \"6*x - 1.4\"");
    TEST_OK(b.ctx, eg_degrees_from_case(b.cas, b.mesh, MOST, &b.degrees));
    for (int e = 0; e < 6; e++)
        assert_int_equal(b.degrees[e], expected[b.mesh->global[e]]);
    bench_free(&b);
}

/* The mesh is not in the order of the list, on purpose. */
static void test_degrees__a_list_is_in_the_order_of_global_numbers(void **state)
{
    (void)state;
    static const char *const lists[] = {"0 1 2 3 4 0", "0\n1\n2\n3\n4\n0\n",
                                        "# all\r\n0\t1 2# three\r\n\r\n3\r\n  4 0 # end",
                                        "#\n000 1 2 3#4 4 4\n4\v0\f#"};
    bench b = bench_new(by_file);
    bool moved = false;
    for (int e = 0; e < 6; e++)
        moved = moved || b.mesh->global[e] != e;
    assert_true(moved);
    for (size_t i = 0; i < EG_COUNT(lists); i++) {
        TEST_OK(b.ctx, read_list(&b, lists[i], strlen(lists[i])));
        for (int e = 0; e < 6; e++)
            assert_int_equal(b.degrees[e], b.mesh->global[e] % 5);
    }
    bench_free(&b);
}

static void test_degrees__a_wrong_list_is_refused_at_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *list, *told;
    } wrong[] = {
        {"", "has 0 degrees, and the mesh has 6 elements"},
        {"# 1 2 3 4 1 1", "has 0 degrees"},
        {"1 2 3 4 1", "list.txt has 5 degrees"},
        {"1 2 3 4 1\n\n1\n1", "list.txt:4: \"1\" is one degree too many"},
        {"1 2 # 3\n5 4 1 1", "list.txt:2: \"5\" is no degree for element 2: write a whole number "
                             "from 0 to space.degree = 4"},
        {"1 -2 3 4 1 1", ":1: \"-2\""},
        {"1 2.0 3 4 1 1", ":1: \"2.0\""},
        {"1\n\n2,3 4 1 1", ":3: \"2,3\""},
        {"1 0x2 3 4 1 1", ":1: \"0x2\""},
        {"1 99999999999999999999999999 3 4 1 1", ":1: \"9999999999999999…\""},
        {"\x7f\x45LF\x01", ":1: \"?ELF?\""},
    };
    bench b = bench_new(by_file);
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        TEST_FAILS(b.ctx, EG_ERROR_INPUT, wrong[i].told,
                   read_list(&b, wrong[i].list, strlen(wrong[i].list)));
        assert_null(b.degrees);
    }
    TEST_FAILS(b.ctx, EG_ERROR_INPUT, ":1: \"?\"", read_list(&b, "\0", 1));
    bench_free(&b);
}

/* A word that lies across two reads of the file, and lines behind a long comment. */
static void test_degrees__a_long_file_is_no_problem(void **state)
{
    (void)state;
    enum { LONG = 300000 };
    char *list = malloc(LONG + 64);
    assert_non_null(list);
    bench b = bench_new(by_file);
    for (int gap = 65530; gap < 65540; gap++) {
        memset(list, ' ', LONG);
        memset(list, '#', 100);
        list[100] = '\n';
        memcpy(list + gap, "003", 3);
        memcpy(list + LONG, "1 2 3 4 0", 10);
        TEST_OK(b.ctx, read_list(&b, list, LONG + 9));
        for (int e = 0; e < 6; e++)
            assert_int_equal(b.degrees[e], "312340"[b.mesh->global[e]] - '0');
    }
    memset(list, 'x', LONG);
    TEST_FAILS(b.ctx, EG_ERROR_INPUT, "\"xxxxxxxxxxxxxxxx…\"", read_list(&b, list, LONG));
    free(list);
    bench_free(&b);
}

static void test_degrees__what_is_no_file_is_refused(void **state)
{
    (void)state;
    char path[PATH_MAX + 64];
    bench b = bench_new(by_file);
    TEST_FAILS(b.ctx, EG_ERROR_INPUT, "cannot open ",
               eg_degrees_from_case(b.cas, b.mesh, MOST, &b.degrees));
    snprintf(path, sizeof path, "%s/list.txt", b.directory);
    assert_int_equal(mkdir(path, 0700), 0);
    TEST_FAILS(b.ctx, EG_ERROR_INPUT, "not a regular file",
               eg_degrees_from_case(b.cas, b.mesh, MOST, &b.degrees));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    TEST_FAILS(b.ctx, EG_ERROR_INPUT, "not a regular file",
               eg_degrees_from_case(b.cas, b.mesh, MOST, &b.degrees));
    bench_free(&b);
}

static eg_status sweep_body(eg_context *ctx, void *user)
{
    const bench *b = user;
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    eg_mesh *mesh = NULL;
    uint8_t *degrees = NULL;
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/case.toml", b->directory);
    eg_status status = eg_model_open_case(ctx, path, NULL, 0, &model, &cas);
    if (status == EG_OK) status = eg_mesh_create(ctx, cas, &mesh);
    if (status == EG_OK) status = eg_degrees_from_case(cas, mesh, MOST, &degrees);
    eg_release(ctx, &degrees);
    eg_mesh_destroy(&mesh);
    eg_case_close(&cas);
    return status;
}

static void test_degrees__every_allocation_may_fail(void **state)
{
    (void)state;
    bench b = bench_new(by_file);
    TEST_OK(b.ctx, read_list(&b, "1 2 3 4 0 1", 11));
    bench_close(&b);
    test_allocation_sweep(sweep_body, &b);
    test_directory_remove(b.directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_degrees__without_a_key_there_are_none),
        cmocka_unit_test(test_degrees__an_expression_is_taken_at_the_centre),
        cmocka_unit_test(test_degrees__a_list_is_in_the_order_of_global_numbers),
        cmocka_unit_test(test_degrees__a_wrong_list_is_refused_at_its_place),
        cmocka_unit_test(test_degrees__a_long_file_is_no_problem),
        cmocka_unit_test(test_degrees__what_is_no_file_is_refused),
        cmocka_unit_test(test_degrees__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
