/* Every lane loop of every kernel is a vector loop on the CPU: compiles the catalogue with gcc, in both
 * precisions (where EAGRE_TEST_LONG is set, in all settings), and clang, in one setting of each kernel,
 * with the flags of kernels, and reads their own reports.
 *
 * A kernel is preprocessed first. In the result each lane loop follows its pragma; it is given a
 * file name of its own, "loop-7", by which the report then speaks of it, even where several loops
 * come from one line or one macro. Copies and zeros must stay loops here, else they become calls of
 * memcpy and memset, which no report calls vectors. */
#include "kernel/catalogue.h"

#include "device/compiler.h"
#include "device/process.h"

#include <ctype.h>

enum { LOOPS_MOST = 64, FLAGS_MOST = 40 };

typedef struct lane_loop {
    char file[100];
    int line;
    bool vectorised;
    char reason[240]; /* why not, as the compiler says */
} lane_loop;

typedef struct report {
    lane_loop loops[LOOPS_MOST];
    size_t count;
    size_t single; /* loops that work on lane 0 alone, left out: nothing in them is parallel */
} report;

typedef struct toolchain {
    bool is_clang;
    char path[PATH_MAX];
    char flags[1024];
    const char *words[FLAGS_MOST]; /* of `flags` */
    size_t word_count;
    char directory[PATH_MAX]; /* to work in */
} toolchain;

static bool has_avx512(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

/* Finds a compiler and the flags that kernels are compiled with; false if it is not there. */
static bool toolchain_open(eg_context *ctx, const char *name, toolchain *tools)
{
    memset(tools, 0, sizeof *tools);
    tools->is_clang = !strcmp(name, "clang");
    if (!eg_process_find(name, tools->path, sizeof tools->path)) return false;
    eg_compiler compiler = {.words = {tools->path}, .count = 1};
    eg_text key = eg_text_new(ctx);
    TEST_OK(ctx, eg_compiler_identify(&compiler, has_avx512(), &key));
    /* The flags are the last line of what identifies a compiler. */
    char *text = key.data;
    while (key.length > 0 && isspace((unsigned char)text[key.length - 1]))
        text[--key.length] = '\0';
    const char *line = strrchr(text, '\n');
    assert_non_null(line);
    snprintf(tools->flags, sizeof tools->flags, "%s", line + 1);
    eg_text_free(&key);
    char *rest = NULL;
    for (char *word = strtok_r(tools->flags, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(tools->word_count < FLAGS_MOST);
        tools->words[tools->word_count++] = word;
    }
    assert_true(tools->word_count > 4);
    test_directory_create(tools->directory);
    return true;
}

static char *in_directory(const toolchain *tools, const char *name)
{
    char *path = NULL;
    assert_true(asprintf(&path, "%s/%s", tools->directory, name) > 0);
    return path;
}

static void write_file(const toolchain *tools, const char *name, const char *text, size_t length)
{
    char *path = in_directory(tools, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    free(path);
}

static char *read_file(const toolchain *tools, const char *name)
{
    char *path = in_directory(tools, name), *text = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    if (getdelim(&text, &capacity, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(file);
    free(path);
    assert_non_null(text);
    return text;
}

/* Runs the compiler on `input` in its directory; `extra` ends with NULL. Returns what it said. */
static char *run(eg_context *ctx, const toolchain *tools, const char *input, const char *output,
                 const char *const *extra)
{
    const char *argv[FLAGS_MOST + 24];
    size_t n = 0;
    char *from = in_directory(tools, input), *to = in_directory(tools, output);
    char *log_path = in_directory(tools, "log");
    argv[n++] = tools->path;
    for (size_t i = 0; i < tools->word_count; i++)
        argv[n++] = tools->words[i];
    while (*extra)
        argv[n++] = *extra++;
    argv[n++] = from;
    argv[n++] = "-o";
    argv[n++] = to;
    argv[n] = NULL;
    int code = 0;
    TEST_OK(ctx, eg_process_run(ctx, argv, log_path, &code));
    char *log = read_file(tools, "log");
    if (code != 0) fail_msg("%s ended with code %d: %.2000s", tools->path, code, log);
    free(from);
    free(to);
    free(log_path);
    return log;
}

/* --- marking the loops ----------------------------------------------------------------------- */

/* The next of the code: past blanks and whole lines of directives. */
static const char *skip_blanks(const char *c)
{
    for (;;) {
        while (isspace((unsigned char)*c))
            c++;
        if (*c != '#') return c;
        c += strcspn(c, "\n");
    }
}

/* Behind the bracket that closes the one at `c`. */
static const char *behind_brackets(const char *c)
{
    int depth = 0;
    for (; *c; c++) {
        depth += strchr("([{", *c) ? 1 : strchr(")]}", *c) ? -1 : 0;
        if (depth == 0) return c + 1;
    }
    fail_msg("unbalanced brackets in preprocessed source");
    return c;
}

static bool starts_with_word(const char *c, const char *word)
{
    size_t n = strlen(word);
    return !strncmp(c, word, n) && !isalnum((unsigned char)c[n]) && c[n] != '_';
}

/* Behind the statement at `c`. */
static const char *behind_statement(const char *c)
{
    c = skip_blanks(c);
    if (*c == '{') return behind_brackets(c);
    bool is_if = starts_with_word(c, "if");
    if (is_if || starts_with_word(c, "for") || starts_with_word(c, "while")) {
        c = behind_statement(behind_brackets(skip_blanks(c + strcspn(c, "("))));
        const char *next = skip_blanks(c);
        return is_if && starts_with_word(next, "else") ? behind_statement(next + 4) : c;
    }
    while (*c && *c != ';')
        c = strchr("([{", *c) ? behind_brackets(c) : c + 1;
    return *c ? c + 1 : c;
}

/* A place in preprocessed text. */
typedef struct place {
    char file[100];
    int line;
} place;

/* Reads a line `# 12 "file"`; false if it is none. */
static bool read_marker(const char *line, place *at)
{
    place read;
    if (sscanf(line, "# %d \"%99[^\"]\"", &read.line, read.file) != 2) return false;
    *at = read;
    at->line--; /* the newline that ends the marker counts it up */
    return true;
}

static bool is_lane_pragma(const char *line)
{
    return !strncmp(line, "#pragma omp simd", 16) ||
           !strncmp(line, "#pragma clang loop vectorize", 28);
}

/* True if the loop at `c` does something for lane 0 only. */
static bool is_single(const char *c)
{
    const char *body = skip_blanks(behind_brackets(skip_blanks(c + strcspn(c, "("))));
    return !strncmp(body, "if (lane == 0)", 14);
}

/* Copies [from, end) to `out` under the file name "KIND-NUMBER"; `at` goes along. */
static void copy_renamed(FILE *out, const char *from, const char *end, const char *kind,
                         size_t number, place *at)
{
    fprintf(out, "\n# %d \"%s-%zu\"\n", at->line, kind, number);
    for (const char *c = from; c < end;) {
        const char *stop = memchr(c, '\n', (size_t)(end - c));
        if (is_lane_pragma(c)) fail_msg("%s:%d: lanes within lanes", at->file, at->line);
        if (*c == '#' && read_marker(c, at))
            fprintf(out, "# %d \"%s-%zu\"", at->line + 1, kind, number);
        else
            fprintf(out, "%.*s", (int)((stop ? stop : end) - c), c);
        if (!stop) break;
        fputc('\n', out);
        at->line++;
        c = stop + 1;
    }
}

/* Copies `text` to `out`, with a file name of its own for every lane loop. clang speaks of a loop
 * where it begins; gcc may do so anywhere in it. */
static void mark_loops(const char *text, bool for_clang, FILE *out, report *r)
{
    place at = {"", 0};
    for (const char *c = text; *c;) {
        const char *eol = c + strcspn(c, "\n");
        bool pragma = is_lane_pragma(c);
        if (*c == '#') read_marker(c, &at);
        fprintf(out, "%.*s\n", (int)(eol - c), c);
        at.line++;
        c = *eol ? eol + 1 : eol;
        if (!pragma) continue;
        while (*c == '#' && read_marker(c, &at)) {
            c += strcspn(c, "\n") + 1;
            at.line++;
        }
        const char *end = behind_statement(c);
        size_t number = r->count;
        if (is_single(c)) {
            r->single++;
            number = LOOPS_MOST;
        } else {
            assert_true(r->count < LOOPS_MOST);
            lane_loop *loop = &r->loops[r->count++];
            memcpy(loop->file, at.file, sizeof loop->file);
            loop->line = at.line;
        }
        const char *body = behind_brackets(skip_blanks(c + strcspn(c, "(")));
        copy_renamed(out, c, body, "loop", number, &at);
        copy_renamed(out, body, end, for_clang ? "body" : "loop", number, &at);
        c = end;
        fprintf(out, "\n# %d \"%s\"\n", at.line, at.file);
    }
}

/* --- reading the reports --------------------------------------------------------------------- */

static lane_loop *find_loop(report *r, unsigned number)
{
    return number < r->count ? &r->loops[number] : NULL;
}

/* Lines "loop-7:12:5: optimized: loop vectorized using 64 byte vectors" and "…: missed: …". */
static void read_gcc_report(char *log, report *r)
{
    char *rest = NULL;
    for (char *line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        unsigned number = 0;
        int begin = 0;
        if (sscanf(line, "loop-%u:%*d:%*d: %n", &number, &begin) != 1 || begin == 0) continue;
        lane_loop *loop = find_loop(r, number);
        const char *said = line + begin;
        if (!loop) continue;
        if (!strncmp(said, "optimized: loop vectorized", 26)) loop->vectorised = true;
        /* The first reason, or the first that is given in so many words. */
        bool plain = !loop->reason[0] || !strcmp(loop->reason, "couldn't vectorize loop");
        bool better = strstr(said, "not vectorized:") && !strstr(loop->reason, "not vectorized:");
        if (!strncmp(said, "missed: ", 8) && (plain || better))
            snprintf(loop->reason, sizeof loop->reason, "%s", said + 8);
    }
}

/* The number behind "name: '" in a record, 0 if it is not there. */
static int number_of(const char *record, const char *end, const char *name)
{
    const char *at = strstr(record, name);
    return at && at < end ? atoi(at + strlen(name) + strspn(at + strlen(name), ": '")) : 0;
}

/* Joins what a record says in words. */
static void read_words(const char *record, const char *end, lane_loop *loop)
{
    static const char key[] = "- String:";
    size_t n = 0;
    for (const char *c = record; (c = strstr(c, key)) && c < end;) {
        c += strlen(key);
        c += strspn(c, " '\"");
        size_t length = strcspn(c, "\n'\"");
        if (n + length + 1 >= sizeof loop->reason) break;
        memcpy(loop->reason + n, c, length);
        n += length;
    }
    loop->reason[n] = '\0';
}

/* Records "--- !Passed", Pass: loop-vectorize, Name: Vectorized, DebugLoc: { File: 'loop-7', … };
 * `rounds` is how many lanes a loop has: a vector loop of longer steps is never entered. */
static void read_clang_report(const char *records, int rounds, report *r)
{
    for (const char *c = records; (c = strstr(c, "--- !")) != NULL;) {
        const char *end = strstr(c + 5, "--- !");
        if (!end) end = c + strlen(c);
        const char *pass = strstr(c, "Pass:"), *file = strstr(c, "File: ");
        const char *name = strstr(c, "Name:");
        if (pass && pass < end && file && file < end && name && name < end &&
            !strncmp(pass + 5 + strspn(pass + 5, " "), "loop-vectorize", 14)) {
            unsigned number = LOOPS_MOST;
            file += 6 + strspn(file + 6, "'\"");
            bool begins = sscanf(file, "loop-%u", &number) == 1;
            lane_loop *loop =
                begins || sscanf(file, "body-%u", &number) == 1 ? find_loop(r, number) : NULL;
            if (loop && begins && !strncmp(name + 5 + strspn(name + 5, " "), "Vectorized", 10)) {
                int step =
                    number_of(c, end, "VectorizationFactor") * number_of(c, end, "InterleaveCount");
                if (step >= 1 && step <= rounds)
                    loop->vectorised = true;
                else
                    snprintf(loop->reason, sizeof loop->reason,
                             "vectorised in steps of %d, but it has %d rounds", step, rounds);
            } else if (loop && (!strncmp(c, "--- !Analysis", 13) || !loop->reason[0])) {
                read_words(c, end, loop);
            }
        }
        c = end;
    }
}

/* Lanes of a loop: all at level 1, one register of them at level 2. */
static int lanes_of_a_loop(const eg_source *source)
{
    int lanes = source->geometry.lanes, most = lanes;
    if (strstr(eg_text_string(&source->text), "#define K_LEVEL 2\n"))
        most = (has_avx512() ? 64 : 32) / (int)eg_type_size(source->real);
    return lanes < most ? lanes : most;
}

/* Compiles one kernel and says for each of its lane loops what became of it. */
static void examine(eg_context *ctx, const toolchain *tools, const eg_kernel_options *options,
                    report *r)
{
    static const char *const preprocess[] = {"-E", NULL};
    static const char *const gcc_options[] = {"-c",
                                              "-x",
                                              "cpp-output",
                                              "-fno-tree-loop-distribute-patterns",
                                              "-fopt-info-vec-optimized-missed",
                                              NULL};
    char *record_path = in_directory(tools, "records"), *record_option = NULL;
    assert_true(asprintf(&record_option, "-foptimization-record-file=%s", record_path) > 0);
    const char *const clang_options[] = {"-c",
                                         "-x",
                                         "cpp-output",
                                         "-fno-builtin-memset",
                                         "-fno-builtin-memcpy",
                                         "-fsave-optimization-record",
                                         record_option,
                                         NULL};
    eg_target target = {.kind = EG_TARGET_CPU,
                        .lanes = has_avx512() ? 16 : 8,
                        .shared_bytes = 1 << 20,
                        .max_block_threads = 1};
    eg_source *source = calloc(1, sizeof *source);
    assert_non_null(source);
    memset(r, 0, sizeof *r);
    TEST_OK(ctx, eg_source_build(ctx, &target, options, source));

    write_file(tools, "kernel.c", eg_text_string(&source->text), source->text.length);
    free(run(ctx, tools, "kernel.c", "kernel.i", preprocess));
    char *plain = read_file(tools, "kernel.i"), *marked = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&marked, &length);
    assert_non_null(out);
    mark_loops(plain, tools->is_clang, out, r);
    assert_int_equal(fclose(out), 0);
    write_file(tools, "marked.i", marked, length);
    free(plain);
    free(marked);

    char *log =
        run(ctx, tools, "marked.i", "kernel.o", tools->is_clang ? clang_options : gcc_options);
    if (tools->is_clang) {
        char *records = read_file(tools, "records");
        read_clang_report(records, lanes_of_a_loop(source), r);
        free(records);
    } else {
        read_gcc_report(log, r);
    }
    free(log);
    free(record_option);
    free(record_path);
    eg_source_free(source);
    free(source);
}

/* --- the tests ------------------------------------------------------------------------------- */

/* In each precision, or in the first setting of a kernel alone. */
static void examine_catalogue(const char *compiler, bool of_each)
{
    eg_context *ctx = test_context();
    toolchain *tools = malloc(sizeof *tools);
    report *r = malloc(sizeof *r);
    char told[4000] = "";
    size_t loops = 0, bad = 0;
    assert_true(tools && r);
    bool present = toolchain_open(ctx, compiler, tools);
    for (size_t i = 0; present && i < EG_COUNT(catalogue); i++) {
        const catalogue_row *row = &catalogue[i];
        if (row->not_on_cpu || !catalogue_is_first(i, of_each)) continue;
        char *text = catalogue_text(row->source), label[sizeof where];
        eg_kernel_options options = catalogue_options(row, text);
        catalogue_label(row, label, sizeof label);
        memcpy(where, label, sizeof where);
        examine(ctx, tools, &options, r);
        for (size_t k = 0; k < r->count; k++) {
            const lane_loop *loop = &r->loops[k];
            size_t n = strlen(told);
            loops++;
            if (loop->vectorised) continue;
            bad++;
            snprintf(told + n, sizeof told - n, "\n%s:%d: the lane loop is not vectorised (%s): %s",
                     loop->file, loop->line, label,
                     loop->reason[0] ? loop->reason : "the report does not mention it");
        }
        free(text);
    }
    where[0] = '\0';
    if (present) test_directory_remove(tools->directory);
    free(tools);
    free(r);
    test_context_free(&ctx);
    if (!present) skip();
    if (bad) fail_msg("%zu of %zu lane loops with %s:%s", bad, loops, compiler, told);
    assert_true(loops > 100);
}

static void test_vectors__gcc_vectorises_every_lane_loop(void **state)
{
    (void)state;
    examine_catalogue("gcc", true);
}

static void test_vectors__clang_vectorises_every_lane_loop(void **state)
{
    (void)state;
    examine_catalogue("clang", false);
}

/* Two loops that cannot be vectorised, on lines 8 and 12, between three that can. */
static const char scalar_text[] =
    "#define TWICE(i) K_NODES(i, NP) y[i * LANES + lane] *= 2;\n"
    "__attribute__((noinline)) static real opaque(real x) { __asm__ volatile(\"\"); return x + 1; "
    "}\n"
    "K_KERNEL(scalar, K_IN(real, x, NP *LANES), K_OUT(real, y, NP *LANES))\n"
    "{\n"
    "    K_TILES(t)\n"
    "    {\n"
    "        TWICE(i)\n"
    "        K_NODES(i, NP) y[i * LANES + lane] += opaque(x[i * LANES + lane]);\n"
    "        K_NODES(i, NP)\n"
    "        {\n"
    "            real sum = 0;\n"
    "            for (int j = 0; j < (int)x[lane]; j++) sum += x[j] * sum;\n"
    "            y[i * LANES + lane] += sum;\n"
    "        }\n"
    "        TWICE(i) TWICE(j)\n"
    "    }\n"
    "}\n";

static void examine_scalar(const char *compiler)
{
    static const int lines[] = {7, 8, 9, 15, 15};
    static const bool expected[] = {true, false, false, true, true};
    eg_context *ctx = test_context();
    toolchain *tools = malloc(sizeof *tools);
    report *r = malloc(sizeof *r);
    const eg_define defines[] = {{"NP", 15}};
    eg_kernel_options options = {.size = sizeof options,
                                 .source = "kernel/scalar.k.c",
                                 .text = scalar_text,
                                 .entry = "scalar",
                                 .defines = defines,
                                 .define_count = EG_COUNT(defines)};
    assert_true(tools && r);
    bool present = toolchain_open(ctx, compiler, tools);
    if (present) {
        examine(ctx, tools, &options, r);
        assert_int_equal(r->count, EG_COUNT(lines));
        for (size_t i = 0; i < r->count; i++) {
            assert_string_equal(r->loops[i].file, "kernel/scalar.k.c");
            assert_int_equal(r->loops[i].line, lines[i]);
            assert_int_equal(r->loops[i].vectorised, expected[i]);
            if (!expected[i]) assert_true(strlen(r->loops[i].reason) > 10);
        }
        test_directory_remove(tools->directory);
    }
    free(tools);
    free(r);
    test_context_free(&ctx);
    if (!present) skip();
}

static void test_vectors__a_scalar_lane_loop_shows_with_gcc(void **state)
{
    (void)state;
    examine_scalar("gcc");
}

static void test_vectors__a_scalar_lane_loop_shows_with_clang(void **state)
{
    (void)state;
    examine_scalar("clang");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors__a_scalar_lane_loop_shows_with_gcc),
        cmocka_unit_test(test_vectors__a_scalar_lane_loop_shows_with_clang),
        KERNEL_TEST(test_vectors__gcc_vectorises_every_lane_loop),
        KERNEL_TEST(test_vectors__clang_vectorises_every_lane_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
