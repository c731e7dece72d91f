/* Every kernel compiles for three architectures of NVIDIA's, the oldest or the newest among them, for one
 * in both precisions (where EAGRE_TEST_LONG is set, in all settings of the catalogue), wherever NVRTC is
 * found and without a GPU; and the catalogue is complete. */
#include "kernel/catalogue.h"

#include <dirent.h>

/* What an architecture offers to one block. */
typedef struct architecture {
    const char *name;
    int number;
    size_t shared_bytes;
    int share; /* 0: every kernel in each precision; else the first of every one, or of every second … */
    int which; /* … beginning here */
} architecture;

static const architecture architectures[] = {{"sm_75", 75, 65536, 2, 0},
                                             {"sm_80", 80, 166912, 1, 0},
                                             {"sm_90", 90, 232448, 0, 0},
                                             {"sm_100", 100, 232448, 2, 1}};

/* --- completeness ---------------------------------------------------------------------------- */

static bool is_listed(const char *source, const char *entry)
{
    for (size_t i = 0; i < EG_COUNT(catalogue); i++)
        if (!strcmp(catalogue[i].source, source) && !strcmp(catalogue[i].entry, entry)) return true;
    return false;
}

/* Fails unless every K_KERNEL of `text` has a row; returns how many there are. */
static size_t check_source(const char *source, const char *text)
{
    size_t count = 0;
    for (const char *c = text; (c = strstr(c, "K_KERNEL(")) != NULL; count++) {
        char entry[64];
        c += strlen("K_KERNEL(");
        assert_int_equal(sscanf(c, " %63[A-Za-z0-9_]", entry), 1);
        if (!is_listed(source, entry))
            fail_msg("kernel '%s' of %s is in no row of tests/kernel/catalogue.h", entry, source);
    }
    return count;
}

static void test_sources__every_kernel_of_the_library_is_in_the_catalogue(void **state)
{
    (void)state;
    size_t count = 0;
    for (const char *const *name = eg_kernel_source_names(); *name; name++) {
        char *text = catalogue_text(*name);
        count += check_source(*name, text);
        free(text);
    }
    assert_true(count >= 11);
}

static void test_sources__every_kernel_of_the_tests_is_in_the_catalogue(void **state)
{
    (void)state;
    size_t count = 0;
    DIR *directory = opendir(EG_TEST_SOURCE_DIR "/tests/kernel");
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        char source[300];
        if (length <= 4 || strcmp(entry->d_name + length - 4, ".k.c") != 0) continue;
        snprintf(source, sizeof source, "kernel/%s", entry->d_name);
        char *text = catalogue_text(source);
        count += check_source(source, text);
        free(text);
    }
    closedir(directory);
    assert_true(count >= 5);
}

/* --- NVRTC ----------------------------------------------------------------------------------- */

static void compile(eg_context *ctx, const architecture *arch, const catalogue_row *row)
{
    eg_target target = {.kind = EG_TARGET_CUDA,
                        .cuda_arch = arch->number,
                        .lanes = 32,
                        .shared_bytes = arch->shared_bytes,
                        .max_block_threads = 1024};
    char *text = catalogue_text(row->source);
    eg_kernel_options options = catalogue_options(row, text);
    eg_source *source = calloc(1, sizeof *source);
    eg_blob blob = {0};
    assert_non_null(source);
    snprintf(where, sizeof where, "%s ", arch->name);
    catalogue_label(row, where + strlen(where), sizeof where - strlen(where));
    TEST_OK(ctx, eg_source_build(ctx, &target, &options, source));
    TEST_OK(ctx, eg_cuda_compile(ctx, arch->name, source->name, &source->text, true, &blob));
    /* A cubin is an ELF file that has the kernel under its own name. */
    assert_true(blob.length > 4 && !memcmp(blob.data, "\177ELF", 4));
    assert_non_null(memmem(blob.data, blob.length, row->entry, strlen(row->entry)));
    eg_release(ctx, &blob.data);
    eg_source_free(source);
    free(source);
    free(text);
}

static void compile_all(const architecture *arch)
{
    eg_context *ctx = test_context();
    if (!eg_cuda_compiler_present(ctx)) {
        test_context_free(&ctx);
        skip();
    }
    int first = 0;
    for (size_t i = 0; i < EG_COUNT(catalogue); i++) {
        if (catalogue[i].only_on_cpu || catalogue[i].least_arch > arch->number) continue;
        if (!catalogue_is_first(i, !arch->share)) continue;
        if (arch->share && first++ % arch->share != arch->which) continue;
        compile(ctx, arch, &catalogue[i]);
    }
    where[0] = '\0';
    test_context_free(&ctx);
}

static void test_sources__nvrtc_compiles_every_second_kernel_for_sm_75(void **state)
{
    (void)state;
    compile_all(&architectures[0]);
}

static void test_sources__nvrtc_compiles_every_kernel_for_sm_80(void **state)
{
    (void)state;
    compile_all(&architectures[1]);
}

static void test_sources__nvrtc_compiles_every_kernel_for_sm_90(void **state)
{
    (void)state;
    compile_all(&architectures[2]);
}

static void test_sources__nvrtc_compiles_the_others_for_sm_100(void **state)
{
    (void)state;
    compile_all(&architectures[3]);
}

static void test_sources__nvrtc_names_the_line_of_a_mistake(void **state)
{
    (void)state;
    static const char text[] = "K_KERNEL(broken, K_OUT(real, y, LANES))\n"
                               "{\n"
                               "    K_TILES(t)\n"
                               "    {\n"
                               "        K_NODES(i, 1) y[lane] = undeclared;\n"
                               "    }\n"
                               "}\n";
    eg_context *ctx = test_context();
    if (!eg_cuda_compiler_present(ctx)) {
        test_context_free(&ctx);
        skip();
    }
    eg_target target = {EG_TARGET_CUDA, 90, 32, 232448, 1024};
    eg_kernel_options options = {
        .size = sizeof options, .source = "kernel/broken.k.c", .text = text, .entry = "broken"};
    eg_source *source = calloc(1, sizeof *source);
    eg_blob blob = {0};
    assert_non_null(source);
    TEST_OK(ctx, eg_source_build(ctx, &target, &options, source));
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "kernel/broken.k.c:5 |         K_NODES(i, 1) y[lane]",
               eg_cuda_compile(ctx, "sm_90", source->name, &source->text, true, &blob));
    assert_null(blob.data);
    eg_source_free(source);
    free(source);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources__every_kernel_of_the_library_is_in_the_catalogue),
        cmocka_unit_test(test_sources__every_kernel_of_the_tests_is_in_the_catalogue),
        KERNEL_TEST(test_sources__nvrtc_compiles_every_second_kernel_for_sm_75),
        KERNEL_TEST(test_sources__nvrtc_compiles_every_kernel_for_sm_80),
        KERNEL_TEST(test_sources__nvrtc_compiles_every_kernel_for_sm_90),
        KERNEL_TEST(test_sources__nvrtc_compiles_the_others_for_sm_100),
        cmocka_unit_test(test_sources__nvrtc_names_the_line_of_a_mistake),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    eg_context *ctx = NULL;
    if (failed || eg_context_create(NULL, &ctx) != EG_OK) return 1;
    bool skipped = !eg_cuda_compiler_present(ctx);
    eg_context_destroy(&ctx);
    return skipped ? 77 : 0;
}
