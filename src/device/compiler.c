/* Finding, identifying and running the C compiler of kernels.
 *
 * Sources are compiled in a private temporary directory that is removed afterwards in any case. The
 * kernel's #line directives make the compiler speak of lines as NAME:LINE.
 */
#define _GNU_SOURCE
#include "device/compiler.h"
#include "device/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"cc", "gcc", "clang"};

static const char *const flags[] = {
    "-std=gnu17",         "-O3",           "-march=native", "-fno-math-errno", "-fno-trapping-math",
    "-ffp-contract=fast", "-fopenmp-simd", "-fPIC",         "-shared",         "-w",
};

/* Stands behind the flags above where they are not to contract. */
static const char no_contraction_flag[] = "-ffp-contract=off";

/* For many processors gcc and clang would by themselves use half of each register. */
static const char avx512_flag[] = "-mprefer-vector-width=512";

static const char *setting(void)
{
    const char *cc = getenv("CC");
    return cc && cc[strspn(cc, " \t")] ? cc : NULL;
}

void eg_compiler_find(eg_compiler *compiler)
{
    const char *cc = setting();
    compiler->count = 0;
    compiler->words[0] = compiler->path;
    if (!cc) {
        for (size_t i = 0; i < EG_COUNT(names) && compiler->count == 0; i++)
            if (eg_process_find(names[i], compiler->path, sizeof compiler->path))
                compiler->count = 1;
        return;
    }
    int length = snprintf(compiler->text, sizeof compiler->text, "%s", cc);
    if (length < 0 || (size_t)length >= sizeof compiler->text) return;
    char *rest = NULL;
    char *word = strtok_r(compiler->text, " \t", &rest);
    if (!eg_process_find(word, compiler->path, sizeof compiler->path)) return;
    int count = 1;
    while ((word = strtok_r(NULL, " \t", &rest)) != NULL) {
        if (count == EG_COMPILER_WORDS) return;
        compiler->words[count++] = word;
    }
    compiler->count = count;
}

static eg_status missing(eg_context *ctx)
{
    const char *cc = setting();
    if (cc)
        return eg_fail(
            ctx, EG_ERROR_NO_COMPILER,
            "there is no C compiler to compile kernels with: CC is \"%s\", and that does "
            "not start with the name of a program on the PATH; correct CC, or unset it "
            "to use cc, gcc or clang",
            cc);
    return eg_fail(
        ctx, EG_ERROR_NO_COMPILER,
        "there is no C compiler to compile kernels with: none of cc, gcc and clang is on "
        "the PATH; install one (on Debian: apt install gcc libc6-dev) or set CC to one");
}

eg_status eg_compiler_identify(const eg_compiler *compiler, bool avx512, eg_text *key)
{
    eg_status status = EG_OK;
    /* Every word: the second of "ccache gcc" is the one that matters. */
    for (int i = 0; i < compiler->count; i++) {
        char found[PATH_MAX], real[PATH_MAX];
        struct stat s;
        EG_TRY(eg_text_printf(key, "%s\n", compiler->words[i]));
        if (eg_process_find(compiler->words[i], found, sizeof found) && realpath(found, real) &&
            stat(real, &s) == 0)
            EG_TRY(eg_text_printf(key, "%s %lld %lld.%09ld\n", real, (long long)s.st_size,
                                  (long long)s.st_mtim.tv_sec, (long)s.st_mtim.tv_nsec));
    }
    for (size_t i = 0; i < EG_COUNT(flags); i++)
        EG_TRY(eg_text_printf(key, "%s ", flags[i]));
    EG_TRY(eg_text_printf(key, "%s\n", avx512 ? avx512_flag : ""));
done:
    return status;
}

/* The paths of one compilation, all in its private directory. */
typedef struct workplace {
    char directory[PATH_MAX];
    char source[PATH_MAX + 256];
    char log[PATH_MAX + 16];
    char library[PATH_MAX + 16];
} workplace;

static eg_status workplace_create(eg_context *ctx, const char *name, workplace *w)
{
    eg_status status = eg_process_make_directory(ctx, w->directory, sizeof w->directory);
    if (status != EG_OK) return status;
    const char *slash = strrchr(name, '/');
    snprintf(w->source, sizeof w->source, "%s/%.200s", w->directory, slash ? slash + 1 : name);
    snprintf(w->log, sizeof w->log, "%s/compiler.log", w->directory);
    snprintf(w->library, sizeof w->library, "%s/kernel.so", w->directory);
    return EG_OK;
}

static void workplace_remove(const workplace *w)
{
    unlink(w->source);
    unlink(w->log);
    unlink(w->library);
    rmdir(w->directory);
}

static eg_status failed(eg_context *ctx, const eg_compiler *compiler, const workplace *w, int code,
                        const char *name, const eg_text *source)
{
    eg_status status = EG_OK;
    char *log = NULL;
    size_t length = 0;
    EG_TRY(eg_file_read(ctx, w->log, &log, &length));
    char ending[64];
    if (code > 128)
        snprintf(ending, sizeof ending, "it was ended by signal %d", code - 128);
    else
        snprintf(ending, sizeof ending, "it said nothing and ended with code %d", code);
    status = eg_compile_failed(ctx, name, compiler->path, length > 0 ? log : ending, source);
done:
    eg_release(ctx, &log);
    return status;
}

eg_status eg_compiler_run(eg_context *ctx, const eg_compiler *compiler, bool avx512, bool contract,
                          const char *name, const eg_text *source, eg_blob *out)
{
    eg_status status = EG_OK;
    workplace w;
    *out = (eg_blob){0};
    if (compiler->count == 0) return missing(ctx);
    status = workplace_create(ctx, name, &w);
    if (status != EG_OK) return status;

    const char *argv[EG_COMPILER_WORDS + EG_COUNT(flags) + 9];
    size_t n = 0;
    for (int i = 0; i < compiler->count; i++)
        argv[n++] = compiler->words[i];
    for (size_t i = 0; i < EG_COUNT(flags); i++)
        argv[n++] = flags[i];
    if (avx512) argv[n++] = avx512_flag;
    if (!contract) argv[n++] = no_contraction_flag;
    argv[n++] = "-o";
    argv[n++] = w.library;
    argv[n++] = "-x";
    argv[n++] = "c";
    argv[n++] = w.source;
    argv[n++] = "-lm";
    argv[n] = NULL;

    int code = 0;
    EG_TRY(
        eg_file_write_atomic(ctx, w.source, eg_text_string(source), source->length, 0600, false));
    EG_TRY(eg_process_run(ctx, argv, w.log, &code));
    if (code == EG_PROCESS_UNKNOWN) /* its output may be half of one: nothing to load */
        status =
            eg_fail(ctx, EG_ERROR_COMPILE,
                    "the compiler %s ended, but not its exit code was to be had, because the "
                    "program ignores SIGCHLD or waits for all its children; let SIGCHLD be as it "
                    "is by default while kernels are created",
                    compiler->words[0]);
    else if (code != 0)
        status = failed(ctx, compiler, &w, code, name, source);
    else
        EG_TRY(eg_file_read(ctx, w.library, &out->data, &out->length));
done:
    workplace_remove(&w);
    return status;
}
