/* What the library reads of a kernel file before any compiler does: the list of K_KERNEL, defaults,
 * the arrays it lays out; and the complete source that it makes of the file. */
#include "test.h"

#include "device/source.h"

/* --- sources ----------------------------------------------------------------------------------------- */

static const eg_target cpu = {
    .kind = EG_TARGET_CPU, .lanes = 16, .shared_bytes = 1 << 20, .max_block_threads = 1};
static const eg_target opencl = {
    .kind = EG_TARGET_OPENCL, .lanes = 16, .shared_bytes = 32 << 10, .max_block_threads = 256};
static const eg_target cuda = {.kind = EG_TARGET_CUDA,
                               .cuda_arch = 90,
                               .lanes = 32,
                               .shared_bytes = 227 << 10,
                               .max_block_threads = 1024};

static const eg_define defines[] = {{"NP", 10}};

static eg_kernel_options options_of(const char *text, const char *entry)
{
    return (eg_kernel_options){.size = sizeof(eg_kernel_options),
                               .source = "room/file.k.c",
                               .text = text,
                               .entry = entry,
                               .defines = defines,
                               .define_count = EG_COUNT(defines)};
}

static eg_status build(eg_context *ctx, const eg_target *target, const char *text,
                       const char *entry, eg_source *source)
{
    eg_kernel_options options = options_of(text, entry);
    return eg_source_build(ctx, target, &options, source);
}

#define BODY "{ K_TILES(t) { } }\n"

static void test_declaration__the_list_of_a_kernel_is_read(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    static const char text[] =
        "#define ROWS (NP + 2)\n"
        "K_KERNEL(first , K_IN( real,u , ROWS * LANES), K_OUT(u8, flags), /* , K_IN(x, */\n"
        "         K_INOUT(i64, count, K_MAX(1, NP)), K_VAL(f32, s), K_OP(a, NP, ROWS)) // )\n" BODY;
    static const struct {
        const char *name;
        eg_parameter_kind kind;
        eg_type type;
        int64_t extent;
        int rows, cols;
    } expected[] = {{"u", EG_PARAMETER_IN, EG_F64, 12 * 16, 0, 0},
                    {"flags", EG_PARAMETER_OUT, EG_U8, 0, 0, 0},
                    {"count", EG_PARAMETER_INOUT, EG_I64, 10, 0, 0},
                    {"s", EG_PARAMETER_VALUE, EG_F32, 0, 0, 0},
                    {"a", EG_PARAMETER_OPERATOR, EG_F64, 0, 10, 12}};
    TEST_OK(ctx, build(ctx, &cpu, text, "first", source));
    assert_int_equal(source->parameter_count, EG_COUNT(expected));
    for (size_t i = 0; i < EG_COUNT(expected); i++) {
        const eg_parameter *p = &source->parameters[i];
        assert_string_equal(p->name, expected[i].name);
        assert_int_equal(p->kind, expected[i].kind);
        assert_int_equal(p->type, expected[i].type);
        assert_int_equal(p->extent, expected[i].extent);
        assert_int_equal(p->rows, expected[i].rows);
        assert_int_equal(p->cols, expected[i].cols);
    }
    eg_source_free(source);
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

static void test_declaration__malformed_kernels_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "there is no kernel 'k'"},
        {"K_KERNEL", "room/file.k.c:1: unbalanced"},
        {"\n\nK_KERNEL(k", "room/file.k.c:3: unbalanced"},
        {"K_KERNEL(k, K_IN(real, u)", ":1: unbalanced"},
        {"K_KERNEL(k, K_IN(real, u))", "has no body"},
        {"K_KERNEL(k, K_IN(real, u));", "has no body"},
        {"K_KERNEL(k, K_IN(real, u)) { K_TILES(t) {", "has no body"},
        {"K_KERNEL(k) " BODY, "declares no arguments"},
        {"K_KERNEL() " BODY, "there is no kernel 'k'"},
        {"K_KERNEL(k, ) " BODY, "is none of K_IN"},
        {"K_KERNEL(k, int n) " BODY, "'int n' is none of K_IN"},
        {"K_KERNEL(k, K_INPUT(real, u)) " BODY, "is none of K_IN"},
        {"K_KERNEL(k, K_IN) " BODY, "unbalanced"},
        {"K_KERNEL(k, K_IN()) " BODY, "wrong number"},
        {"K_KERNEL(k, K_IN(real)) " BODY, "wrong number"},
        {"K_KERNEL(k, K_IN(real, u, 1, 2)) " BODY, "wrong number"},
        {"K_KERNEL(k, K_VAL(real, u, 1)) " BODY, "wrong number"},
        {"K_KERNEL(k, K_OP(a, 1)) " BODY, "wrong number"},
        {"K_KERNEL(k, K_IN(double, u)) " BODY, "unknown type 'double'"},
        {"K_KERNEL(k, K_IN(real, u v)) " BODY, "is no short identifier"},
        {"K_KERNEL(k, K_IN(real, )) " BODY, "is no short identifier"},
        {"K_KERNEL(k, K_IN(real, a_name_that_is_longer_than_any_kernel_should_need)) " BODY,
         "is no short identifier"},
        {"K_KERNEL(k, K_IN(real, u, 0)) " BODY, "'0' is out of range"},
        {"K_KERNEL(k, K_IN(real, u, -NP)) " BODY, "'-NP' is out of range"},
        {"K_KERNEL(k, K_IN(real, u, 4000000000)) " BODY, "is out of range"},
        {"K_KERNEL(k, K_IN(real, u, MQ)) " BODY, "'MQ' is not a known constant"},
        {"K_KERNEL(k, K_OP(a, NP, 0)) " BODY, "out of range"},
        {"K_KERNEL(k, K_OUT(real, u)) { }", "needs one loop"},
        {"K_KERNEL(k, K_OUT(real, u)) { K_TILES(t) { } K_WARPS(t) { } }", "needs one loop"},
        {"K_KERNEL(k, K_OUT(real, u)) { /* K_TILES(t) */ \"K_TILES\"; }", "needs one loop"},
        {"K_KERNEL(k, K_OUT(real, u))\n{\n    K_SHARED(real, s);\n K_TILES(t) { } }",
         "room/file.k.c:3: K_SHARED takes three"},
        {"K_KERNEL(k, K_OUT(real, u)) { K_SHARED(real, s, n); K_TILES(t) { } }",
         "'n' is not a known"},
        {"K_KERNEL(k, K_OUT(real, u)) { K_SHARED(real4, s, 1); K_TILES(t) { } }", "unknown type"},
        {"K_KERNEL(k, K_OUT(real, u)) { K_OPERAND(x, 2); K_WARPS(t) { } }", "takes three"},
        {"K_KERNEL(k, K_OUT(real, u)) { K_ACCUM(x, 0, 1); K_WARPS(t) { } }", "out of range"},
        {"K_KERNEL(k, K_OUT(real, u)) " BODY "\nK_KERNEL(k, K_OUT(real, u)) " BODY,
         "room/file.k.c:3: kernel 'k' is there twice"},
        {"K_KERNEL(k, K_OUT(real, u))\n{\n    K_WARPS(t)\n    { K_SYNC; } }",
         "room/file.k.c:4: K_SYNC belongs to kernels with K_TILES"},
        {"K_KERNEL(k, K_OUT(real, u))\n{\n    K_SHARED(real, s, 4);\n    K_WARPS(t) { } }",
         "room/file.k.c:3: K_SHARED belongs to kernels with K_TILES"},
        {"K_KERNEL(k, K_OUT(real, u))\n{ K_OPERAND(x, 1, 4);\n    K_TILES(t) { } }",
         "room/file.k.c:2: K_OPERAND belongs to kernels with K_WARPS"},
        {"/* K_KERNEL(k, K_OUT(real, u)) " BODY, "there is no kernel 'k'"},
        {"// K_KERNEL(k, K_OUT(real, u)) " BODY, "there is no kernel 'k'"},
        {"\"K_KERNEL(k, K_OUT(real, u)) " BODY, "there is no kernel 'k'"},
        {"#define MY_K_KERNEL(k, u)\n", "there is no kernel 'k'"},
        {"#include \"device/nothing.k.h\"\n", "no kernel source 'device/nothing.k.h'"},
    };
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        eg_status status = build(ctx, &cpu, cases[i].text, "k", source);
        if ((status != EG_ERROR_COMPILE && status != EG_ERROR_ARGUMENT) ||
            !strstr(eg_context_error(ctx), cases[i].part))
            fail_msg("%s\ngives \"%s: %s\", expected \"%s\"", cases[i].text, eg_status_text(status),
                     eg_context_error(ctx), cases[i].part);
        eg_source_free(source);
    }
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

/* As many arguments and arrays as there may be, and one more. */
static void test_declaration__lists_that_are_too_long_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    for (int more = 0; more < 2; more++) {
        eg_text_clear(&text);
        TEST_OK(ctx, eg_text_puts(&text, "K_KERNEL(k"));
        for (int i = 0; i < EG_PARAMETERS_MAX + more; i++)
            TEST_OK(ctx, eg_text_printf(&text, ", K_VAL(i32, a%d)", i));
        TEST_OK(ctx, eg_text_puts(&text, ")" BODY));
        if (more)
            TEST_FAILS(ctx, EG_ERROR_COMPILE, "too many arguments",
                       build(ctx, &cpu, text.data, "k", source));
        else
            TEST_OK(ctx, build(ctx, &cpu, text.data, "k", source));
        eg_source_free(source);

        eg_text_clear(&text);
        TEST_OK(ctx, eg_text_puts(&text, "K_KERNEL(k, K_VAL(i32, a)) {"));
        for (int i = 0; i < EG_SHARED_MAX + more; i++)
            TEST_OK(ctx, eg_text_printf(&text, "K_SHARED(real, s%d, 1);", i));
        TEST_OK(ctx, eg_text_puts(&text, "K_TILES(t) { } }"));
        if (more)
            TEST_FAILS(ctx, EG_ERROR_COMPILE, "too many shared arrays",
                       build(ctx, &cpu, text.data, "k", source));
        else
            TEST_OK(ctx, build(ctx, &cpu, text.data, "k", source));
        eg_source_free(source);
    }
    eg_text_free(&text);
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

/* The extent of the one argument of kernel k. */
static int64_t extent_of(eg_context *ctx, const char *text, const eg_define *given, size_t count)
{
    eg_source *source = NULL;
    eg_kernel_options options = options_of(text, "k");
    options.defines = given;
    options.define_count = count;
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    TEST_OK(ctx, eg_source_build(ctx, &cpu, &options, source));
    int64_t extent = source->parameters[0].extent;
    eg_source_free(source);
    eg_release(ctx, &source);
    return extent;
}

static void test_declaration__defaults_hold_unless_a_constant_is_given(void **state)
{
    (void)state;
    static const char text[] = "#ifndef SIZE\n"
                               "#define SIZE 5 /* a default */\n"
                               "#endif\n"
                               "#if SIZE > 3\n"
                               "#define HIDDEN 1\n"
                               "#endif\n"
                               "  #  define   PLUS   (SIZE + 1)   // and one more\n"
                               "#define FUNCTION(x) 99\n"
                               "K_KERNEL(k, K_IN(real, u, PLUS))" BODY;
    static const char hidden[] = "#if 1\n#define HIDDEN 1\n#endif\n"
                                 "K_KERNEL(k, K_IN(real, u, HIDDEN))" BODY;
    static const char other_guard[] = "#ifndef OTHER\n#define SIZE 7\n#endif\n"
                                      "K_KERNEL(k, K_IN(real, u, SIZE))" BODY;
    static const char other_way[] = "#ifndef SIZE\n#define SIZE 5\n"
                                    "#else\n#undef SIZE\n#define SIZE 7\n#endif\n"
                                    "K_KERNEL(k, K_IN(real, u, SIZE))" BODY;
    const eg_define nine[] = {{"SIZE", 9}};
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    assert_int_equal(extent_of(ctx, text, NULL, 0), 6);
    assert_int_equal(extent_of(ctx, text, nine, 1), 10);
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "under an #if", build(ctx, &cpu, hidden, "k", source));
    eg_source_free(source);
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "under an #if", build(ctx, &cpu, other_guard, "k", source));
    eg_source_free(source);
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "under an #if", build(ctx, &cpu, other_way, "k", source));
    eg_source_free(source);
    eg_kernel_options given = options_of(other_way, "k");
    given.defines = nine;
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "under an #if", eg_source_build(ctx, &cpu, &given, source));
    eg_source_free(source);
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

/* What no compiler looks at has to be neither C nor balanced. */
static void test_declaration__an_apostrophe_in_a_directive_hides_nothing(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    assert_int_equal(extent_of(ctx,
                               "#if 0\n#error don't\n#endif\n"
                               "K_KERNEL(k, K_IN(real, u, 3))" BODY,
                               NULL, 0),
                     3);
    assert_int_equal(extent_of(ctx,
                               "#if 0\n#error say \"no\n#endif\n"
                               "K_KERNEL(k, K_IN(real, u, 4))" BODY,
                               NULL, 0),
                     4);
    test_context_free(&ctx);
}

static void test_declaration__a_loop_of_run_time_length_is_no_failure(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    assert_int_equal(extent_of(ctx,
                               "K_KERNEL(k, K_OUT(real, y, LANES), K_VAL(i32, n))\n"
                               "{ K_TILES(t) { K_NODES(i, n) y[i * LANES + lane] = 0; } }\n",
                               NULL, 0),
                     16);
    assert_string_equal(eg_context_error(ctx), "");
    test_context_free(&ctx);
}

/* --- the complete source -------------------------------------------------------------------------------- */

/* The line of `file` in which `word` stands, by the #line directives; 0 if it is not there. */
static int line_of(const char *text, const char *word, char file[64])
{
    const char *at = strstr(text, word);
    int line = 0;
    if (!at) return 0;
    for (const char *c = text; c && c <= at; c = strchr(c, '\n') ? strchr(c, '\n') + 1 : NULL) {
        line++;
        if (sscanf(c, "#line %d \"%63[^\"]\"", &line, file) == 2) line--;
    }
    return line;
}

static void test_source__other_kernels_vanish_and_lines_keep_their_numbers(void **state)
{
    (void)state;
    static const char text[] = "/* one\n"                          /* 1 */
                               "   two */\n"                       /* 2 */
                               "K_KERNEL(other, K_OUT(real, y))\n" /* 3 */
                               "{\n"                               /* 4 */
                               "    K_TILES(t) { vanished(); }\n"  /* 5 */
                               "}\n"                               /* 6 */
                               "K_KERNEL(k, K_OUT(real, y),\n"     /* 7 */
                               "         K_VAL(i32, n))\n"         /* 8 */
                               "{\n"                               /* 9 */
                               "    K_TILES(t) { remains(); }\n"   /* 10 */
                               "}\n"                               /* 11 */
                               "K_KERNEL(last, K_OUT(real, y)) { K_TILES(t) { vanished(); } }\n"
                               "int behind;\n"; /* 13 */
    static const eg_target *const targets[] = {&cpu, &opencl, &cuda};
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    char file[64] = "";
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    for (size_t i = 0; i < EG_COUNT(targets); i++) {
        TEST_OK(ctx, build(ctx, targets[i], text, "k", source));
        const char *made = eg_text_string(&source->text);
        assert_null(strstr(made, "vanished"));
        assert_null(strstr(made, "K_KERNEL("));
        assert_int_equal(line_of(made, "K_BEGIN(k)", file), 7);
        assert_string_equal(file, "room/file.k.c");
        assert_int_equal(line_of(made, "remains", file), 10);
        assert_int_equal(line_of(made, "int behind", file), 13);
        assert_int_equal(strstr(made, "eg_entry_k") != NULL, targets[i] == &cpu);
        eg_source_free(source);
    }
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

/* A directory of kernel files that include each other. */
static void write_kernel_file(const char *directory, const char *name, const char *text)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_source__includes_are_put_in_place_once(void **state)
{
    (void)state;
    char directory[PATH_MAX], dialect[PATH_MAX + 32], file[64] = "";
    test_directory_create(directory);
    snprintf(dialect, sizeof dialect, "%s/device", directory);
    assert_int_equal(mkdir(dialect, 0700), 0);
    snprintf(dialect, sizeof dialect, "%s/device/dialect", directory);
    assert_int_equal(mkdir(dialect, 0700), 0);
    write_kernel_file(directory, "device/dialect/cpu.k.h", "int dialect;\n");
    write_kernel_file(directory, "a.k.h", "#include \"b.k.h\"\nint in_a;\n");
    write_kernel_file(directory, "b.k.h", "#include \"a.k.h\"\n#define WIDE 6\nint in_b;");
    write_kernel_file(directory, "k.k.c",
                      "#include \"b.k.h\"\n"
                      "  #  include \"a.k.h\" // again\n"
                      "int in_k;\n"
                      "K_KERNEL(k, K_IN(real, u, WIDE), K_OUT(oops, v))" BODY);
    write_kernel_file(directory, "deep0.k.h", "int bottom;\n");
    for (int i = 1; i < 12; i++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "deep%d.k.h", i);
        snprintf(text, sizeof text, "#include \"deep%d.k.h\"\n", i - 1);
        write_kernel_file(directory, name, text);
    }
    eg_context_options context_options = test_context_options();
    context_options.kernel_dir = directory;
    eg_context *ctx = test_context_with(&context_options);
    eg_source *source = NULL;
    eg_kernel_options options = options_of(NULL, "k");
    options.source = "k.k.c";
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "k.k.c:4: unknown type 'oops'",
               eg_source_build(ctx, &cpu, &options, source));
    eg_source_free(source);
    options.text = "#include \"b.k.h\"\nint in_k;\nK_KERNEL(k, K_IN(real, u, WIDE))" BODY;
    TEST_OK(ctx, eg_source_build(ctx, &cpu, &options, source));
    assert_int_equal(source->parameters[0].extent, 6);
    const char *made = eg_text_string(&source->text), *once = strstr(made, "int in_b");
    assert_non_null(strstr(made, "int dialect"));
    assert_true(once && !strstr(once + 1, "int in_b"));
    assert_int_equal(line_of(made, "int in_a", file), 2);
    assert_string_equal(file, "a.k.h");
    assert_int_equal(line_of(made, "int in_b", file), 3);
    assert_string_equal(file, "b.k.h");
    assert_int_equal(line_of(made, "int in_k", file), 2);
    assert_string_equal(file, "k.k.c");
    eg_source_free(source);
    options.text = "#include \"deep11.k.h\"\nK_KERNEL(k, K_IN(real, u))" BODY;
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "too deeply", eg_source_build(ctx, &cpu, &options, source));
    eg_source_free(source);
    eg_release(ctx, &source);
    test_context_free(&ctx);
    test_directory_remove(directory);
}

/* Names that the dialect's own code uses are free for a kernel's constants. */
static void test_source__a_kernels_constants_come_behind_the_dialect(void **state)
{
    (void)state;
    static const eg_define mine[] = {{"N", 4}, {"ROWS", 5}, {"K_FN", 8}, {"M", 6}};
    eg_kernel_options options = options_of("K_KERNEL(k, K_IN(real, u, N * ROWS))" BODY, "k");
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    options.defines = mine;
    options.define_count = EG_COUNT(mine);
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    TEST_OK(ctx, eg_source_build(ctx, &cuda, &options, source));
    const char *made = eg_text_string(&source->text);
    const char *dialect = strstr(made, "#line 1 \"device/dialect/cuda.k.h\"");
    assert_non_null(dialect);
    assert_true(strstr(made, "#define K_FN 8\n") < dialect);
    for (const char *const *name =
             (const char *const[]){"#define N 4\n", "#define ROWS 5\n", "#define M 6\n", NULL};
         *name; name++)
        assert_true(strstr(made, *name) > dialect);
    eg_source_free(source);
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

static void test_source__names_of_the_language_are_no_constants(void **state)
{
    (void)state;
    static const struct {
        const char *name, *part;
    } cases[] = {{"LANES", "LANES is set by eg_kernel_options.lanes"},
                 {"K_TY", "'K_TY' cannot be a constant"},
                 {"K_LEVEL", "'K_LEVEL' cannot be a constant"},
                 {"k_x", "'k_x' cannot be a constant"},
                 {"lane", "'lane' cannot be a constant"},
                 {"real", "'real' cannot be a constant"},
                 {"1x", "'1x' cannot be a constant"},
                 {"N P", "'N P' cannot be a constant"},
                 {"N\n#error", "it is no identifier"},
                 {"", "'' cannot be a constant"},
                 {NULL, "'(null)' cannot be a constant"}};
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        const eg_define given[] = {{"NP", 10}, {cases[i].name, 8}};
        eg_kernel_options options = options_of("K_KERNEL(k, K_IN(real, u, NP))" BODY, "k");
        options.defines = given;
        options.define_count = EG_COUNT(given);
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, cases[i].part,
                   eg_source_build(ctx, &cpu, &options, source));
        assert_non_null(strstr(eg_context_error(ctx), "room/file.k.c"));
        eg_source_free(source);
    }
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

/* --- blocks and shared memory ------------------------------------------------------------------------------ */

static void test_source__a_block_fits_the_device(void **state)
{
    (void)state;
    static const char text[] = "K_KERNEL(k, K_OUT(real, y)) { K_SHARED(real, s, ROWS); K_TILES(t) {"
                               " K_NODES(i, ROWS) s[i][lane] = 0; } }";
    static const eg_target *const targets[] = {&opencl, &cuda};
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    for (size_t k = 0; k < EG_COUNT(targets); k++)
        for (int lanes = 4; lanes <= 32; lanes *= 2)
            for (int rows = 1; rows <= 100; rows += 9) {
                const eg_define given[] = {{"ROWS", rows}};
                eg_kernel_options options = options_of(text, "k");
                options.lanes = lanes;
                options.defines = given;
                options.define_count = 1;
                TEST_OK(ctx, eg_source_build(ctx, targets[k], &options, source));
                const eg_geometry *g = &source->geometry;
                int threads = g->block[0] * g->block[1] * g->block[2];
                assert_int_equal(g->block[0], lanes);
                assert_int_equal(g->block[1], g->ty);
                assert_int_equal(g->block[2], g->tz);
                assert_true(threads >= 32 && threads <= 256 && threads % 32 == 0);
                assert_true(g->shared_bytes >= (size_t)(rows * lanes * g->tz) * 8);
                assert_true(g->shared_bytes <= targets[k]->shared_bytes);
                eg_source_free(source);
            }
    const eg_define huge[] = {{"ROWS", 1000}};
    eg_kernel_options options = options_of(text, "k");
    options.defines = huge;
    options.define_count = 1;
    TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "use fewer LANES",
               eg_source_build(ctx, &opencl, &options, source));
    eg_source_free(source);
    options = options_of(text, "k");
    options.defines = &(const eg_define){"ROWS", 1};
    options.define_count = 1;
    options.tiles_per_block = 100;
    TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "tiles per block",
               eg_source_build(ctx, &opencl, &options, source));
    eg_source_free(source);
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

static void test_source__chains_on_tensor_cores_need_sixteen_lanes(void **state)
{
    (void)state;
    static const char text[] =
        "K_KERNEL(k, K_IN(real, u, NP * LANES), K_OUT(real, y, NP * LANES)) {"
        " K_OPERAND(x, 1, NP); K_ACCUM(z, 1, NP);"
        " K_WARPS(t) { K_LOAD(x, 0, 1, NP, u, NP, 0); } }";
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    eg_kernel_options options = options_of(text, "k");
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    options.lanes = 8;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "multiple of 16",
               eg_source_build(ctx, &cuda, &options, source));
    eg_source_free(source);
    options.real = EG_F32;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "multiple of 16",
               eg_source_build(ctx, &cuda, &options, source));
    eg_source_free(source);
    options.real = EG_F64;
    options.lanes = 32;
    TEST_OK(ctx, eg_source_build(ctx, &cuda, &options, source));
    assert_int_equal(source->geometry.groups_per_tile, 2);
    assert_int_equal(source->geometry.block[0], 32);
    eg_source_free(source);
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

/* A block has sixteen barriers, one of them the whole block's: fifteen groups of two warps. */
static void test_source__groups_of_warps_that_have_no_barrier_are_refused(void **state)
{
    (void)state;
    static const char text[] =
        "K_KERNEL(k, K_IN(real, u, NP * LANES), K_OUT(real, y, NP * LANES)) {"
        " K_OPERAND(x, 1, NP); K_ACCUM(z, 1, NP);"
        " K_WARPS(t) { K_LOAD(x, 0, 1, NP, u, NP, 0); } }";
    static const struct {
        int64_t parts;
        int tiles;
        bool works;
    } cases[] = {{1, 0, true},   {2, 0, true},  {3, 0, false}, {4, 1, false}, {0, 0, false},
                 {-1, 0, false}, {1, 16, true}, {2, 15, true}, {2, 16, false}};
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        const eg_define given[] = {
            {"NP", 10}, {"K_OPERAND_REGISTERS", 0}, {"K_PARTS", cases[i].parts}};
        eg_kernel_options options = options_of(text, "k");
        options.tiles_per_block = cases[i].tiles;
        options.defines = given;
        options.define_count = EG_COUNT(given);
        if (cases[i].works) {
            TEST_OK(ctx, eg_source_build(ctx, &cuda, &options, source));
            assert_int_equal(source->geometry.block[2], source->geometry.tz * cases[i].parts);
        } else {
            TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "K_PARTS is 1 or 2, and with 2 at most 15",
                       eg_source_build(ctx, &cuda, &options, source));
        }
        eg_source_free(source);
    }
    /* Two warps share an operand of 36 KiB by themselves. */
    const eg_define large[] = {{"NP", 288}};
    eg_kernel_options options = options_of(text, "k");
    options.defines = large;
    options.tiles_per_block = 16;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "at most 15", eg_source_build(ctx, &cuda, &options, source));
    eg_source_free(source);
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

/* They lie on the stack of the CPU's threads. */
static void test_source__arrays_larger_than_the_cpus_stack_are_refused(void **state)
{
    (void)state;
    static const char *const declarations[] = {
        "K_SHARED(real, s, ROWS)", "K_PRIVATE(real, s, ROWS)", "K_SHARED(u8, s, 8 * ROWS)"};
    eg_context *ctx = test_context();
    eg_source *source = NULL;
    TEST_OK(ctx, eg_new(ctx, 1, &source));
    for (size_t i = 0; i < EG_COUNT(declarations); i++)
        for (int rows = 4000; rows <= 9000; rows += 5000) { /* of 128 or 144 bytes */
            const eg_define given[] = {{"ROWS", rows}};
            char text[256];
            snprintf(text, sizeof text, "K_KERNEL(k, K_OUT(real, y, LANES)) { %s; K_TILES(t) { } }",
                     declarations[i]);
            eg_kernel_options options = options_of(text, "k");
            options.defines = given;
            if (rows == 4000)
                TEST_OK(ctx, eg_source_build(ctx, &cpu, &options, source));
            else
                TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "the device has 1048576; use fewer LANES",
                           eg_source_build(ctx, &cpu, &options, source));
            eg_source_free(source);
        }
    eg_release(ctx, &source);
    test_context_free(&ctx);
}

static eg_status build_body(eg_context *ctx, void *user)
{
    eg_source *source = NULL;
    eg_status status = eg_new(ctx, 1, &source);
    if (status != EG_OK) return status;
    status = build(ctx, user,
                   "#ifndef EXTENT\n#define EXTENT (NP * LANES)\n#endif\n"
                   "K_KERNEL(k, K_IN(real, u, EXTENT), K_OP(a, NP, NP))\n" BODY,
                   "k", source);
    eg_source_free(source);
    eg_release(ctx, &source);
    return status;
}

static void test_source__every_allocation_may_fail(void **state)
{
    (void)state;
    test_allocation_sweep(build_body, (void *)(uintptr_t)&cpu);
    test_allocation_sweep(build_body, (void *)(uintptr_t)&cuda);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declaration__the_list_of_a_kernel_is_read),
        cmocka_unit_test(test_declaration__malformed_kernels_are_refused_with_their_line),
        cmocka_unit_test(test_declaration__lists_that_are_too_long_are_refused),
        cmocka_unit_test(test_declaration__defaults_hold_unless_a_constant_is_given),
        cmocka_unit_test(test_declaration__an_apostrophe_in_a_directive_hides_nothing),
        cmocka_unit_test(test_declaration__a_loop_of_run_time_length_is_no_failure),
        cmocka_unit_test(test_source__other_kernels_vanish_and_lines_keep_their_numbers),
        cmocka_unit_test(test_source__includes_are_put_in_place_once),
        cmocka_unit_test(test_source__a_kernels_constants_come_behind_the_dialect),
        cmocka_unit_test(test_source__names_of_the_language_are_no_constants),
        cmocka_unit_test(test_source__a_block_fits_the_device),
        cmocka_unit_test(test_source__chains_on_tensor_cores_need_sixteen_lanes),
        cmocka_unit_test(test_source__groups_of_warps_that_have_no_barrier_are_refused),
        cmocka_unit_test(test_source__arrays_larger_than_the_cpus_stack_are_refused),
        cmocka_unit_test(test_source__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
