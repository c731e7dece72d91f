/* NVRTC, NVIDIA's run-time compiler: finding it, saying which one it is, compiling with it.
 *
 * It is looked for by stat alone and loaded only when something must be compiled, for loading takes
 * a noticeable time and a kernel from the cache needs none of it. EAGRE_NVRTC, a file or a
 * directory, overrides the search; one loaded library serves the process and is never unloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device/backend.h"
#include "device/cuda_api.h"

/* Major versions to look for, newest first; nvrtcGetCUBIN came with 11. */
#define NEWEST_MAJOR 15
#define OLDEST_MAJOR 11

typedef struct nvrtc_program_object *nvrtcProgram;

enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6
};

/* X(result, field, symbol, parameters) */
#define NVRTC_FUNCTION_LIST(X)                                                                     \
    X(int, version, nvrtcVersion, (int *major, int *minor))                                        \
    X(const char *, error_string, nvrtcGetErrorString, (int result))                               \
    X(int, create, nvrtcCreateProgram,                                                             \
      (nvrtcProgram * program, const char *source, const char *name, int header_count,             \
       const char *const *headers, const char *const *header_names))                               \
    X(int, destroy, nvrtcDestroyProgram, (nvrtcProgram * program))                                 \
    X(int, compile, nvrtcCompileProgram,                                                           \
      (nvrtcProgram program, int option_count, const char *const *options))                        \
    X(int, log_size, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * bytes))               \
    X(int, log, nvrtcGetProgramLog, (nvrtcProgram program, char *log))                             \
    X(int, cubin_size, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes))                  \
    X(int, cubin, nvrtcGetCUBIN, (nvrtcProgram program, char *cubin))

typedef struct nvrtc_api {
#define X(result, field, symbol, parameters) result(*field) parameters;
    NVRTC_FUNCTION_LIST(X)
#undef X
} nvrtc_api;

/* A file that is the compiler; path "" if there is none. */
typedef struct found_file {
    char path[PATH_MAX]; /* real, without links */
    long long size, seconds, nanoseconds;
} found_file;

static pthread_mutex_t loaded_mutex = PTHREAD_MUTEX_INITIALIZER;
static char loaded_path[PATH_MAX]; /* of `loaded`; "" before the first compilation */
static nvrtc_api loaded;

/* The last one is replaced where products and sums are not to be contracted. */
static const char *const flags[] = {"--std=c++17", "-default-device", "--fmad=true"};
static const char no_contraction_flag[] = "--fmad=false";

/* --- finding ------------------------------------------------------------------------------------ */

static bool take_file(const char *path, found_file *found)
{
    struct stat info;
    if (!realpath(path, found->path) || stat(found->path, &info) != 0 || !S_ISREG(info.st_mode)) {
        found->path[0] = '\0';
        return false;
    }
    found->size = (long long)info.st_size;
    found->seconds = (long long)info.st_mtim.tv_sec;
    found->nanoseconds = (long long)info.st_mtim.tv_nsec;
    return true;
}

/* Calls `take` with every name the library may have, newest first, each behind `prefix`. */
static bool try_names(const char *prefix, bool (*take)(const char *, found_file *),
                      found_file *found)
{
    char path[PATH_MAX + 32];
    for (int major = NEWEST_MAJOR; major >= OLDEST_MAJOR; major--) {
        snprintf(path, sizeof path, "%slibnvrtc.so.%d", prefix, major);
        if (take(path, found)) return true;
    }
    snprintf(path, sizeof path, "%slibnvrtc.so.11.2", prefix); /* the name in all later 11.x */
    if (take(path, found)) return true;
    snprintf(path, sizeof path, "%slibnvrtc.so", prefix);
    return take(path, found);
}

static bool try_directory(const char *directory, size_t length, found_file *found)
{
    char prefix[PATH_MAX];
    if (length == 0 || length + 2 > sizeof prefix) return false;
    memcpy(prefix, directory, length);
    strcpy(prefix + length, "/");
    return try_names(prefix, take_file, found);
}

/* The directories of a CUDA installation that may hold it. */
static bool try_toolkit(const char *root, found_file *found)
{
    static const char *const parts[] = {"lib64", "targets/x86_64-linux/lib",
                                        "targets/sbsa-linux/lib", "lib"};
    for (size_t i = 0; i < EG_COUNT(parts); i++) {
        char directory[PATH_MAX];
        int length = snprintf(directory, sizeof directory, "%s/%s", root, parts[i]);
        if (length < 0 || (size_t)length >= sizeof directory) continue;
        if (try_directory(directory, (size_t)length, found)) return true;
    }
    return false;
}

/* The toolkit that the administrator chose by the plain link comes before the newest. */
static bool try_toolkits(found_file *found)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    for (size_t i = 0; i < EG_COUNT(variables); i++) {
        const char *root = getenv(variables[i]);
        if (root && root[0] && try_toolkit(root, found)) return true;
    }
    if (try_toolkit("/usr/local/cuda", found) || try_toolkit("/opt/cuda", found)) return true;
    glob_t roots = {0};
    bool taken = false;
    if (glob("/usr/local/cuda-*", 0, NULL, &roots) == 0)
        for (size_t i = roots.gl_pathc; i-- > 0 && !taken;)
            taken = try_toolkit(roots.gl_pathv[i], found);
    globfree(&roots);
    return taken;
}

/* Lets the dynamic linker look where only it knows; it must load the library for that. */
static bool take_soname(const char *name, found_file *found)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map = NULL;
    if (!library) return false;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map && take_file(map->l_name, found);
}

static bool find(found_file *found)
{
    static const char *const system_directories[] = {
        "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"};
    const char *wanted = getenv("EAGRE_NVRTC");
    memset(found, 0, sizeof *found);
    if (wanted && wanted[0])
        return take_file(wanted, found) || try_directory(wanted, strlen(wanted), found);
    const char *paths = getenv("LD_LIBRARY_PATH");
    while (paths && paths[0]) {
        size_t length = strcspn(paths, ":;");
        if (try_directory(paths, length, found)) return true;
        paths += length + (paths[length] != '\0');
    }
    if (try_toolkits(found)) return true;
    for (size_t i = 0; i < EG_COUNT(system_directories); i++)
        if (try_directory(system_directories[i], strlen(system_directories[i]), found)) return true;
    return try_names("", take_soname, found);
}

bool eg_cuda_compiler_present(eg_context *ctx)
{
    found_file found;
    bool present = find(&found);
    eg_log(ctx, EG_LOG_DEBUG, "nvrtc path=%s", present ? found.path : "absent");
    return present;
}

eg_status eg_nvrtc_identify(eg_text *key)
{
    eg_status status = EG_OK;
    found_file found;
    if (find(&found))
        EG_TRY(eg_text_printf(key, "nvrtc %s %lld %lld.%09lld\n", found.path, found.size,
                              found.seconds, found.nanoseconds));
    else
        EG_TRY(eg_text_puts(key, "nvrtc absent\n"));
    for (size_t i = 0; i < EG_COUNT(flags); i++)
        EG_TRY(eg_text_printf(key, "%s\n", flags[i]));
done:
    return status;
}

/* --- loading ------------------------------------------------------------------------------------ */

static eg_status load_library(eg_context *ctx, const found_file *found, nvrtc_api *api)
{
    eg_status status = EG_OK;
    pthread_mutex_lock(&loaded_mutex);
    if (strcmp(loaded_path, found->path) != 0) {
        const char *missing = NULL;
        void *symbol, *library = dlopen(found->path, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            const char *why = dlerror();
            status = eg_fail(ctx, EG_ERROR_NO_COMPILER,
                             "%s cannot be loaded: %s; name another NVRTC in EAGRE_NVRTC",
                             found->path, why ? why : "no reason given");
            goto done;
        }
#define X(result, field, name, parameters)                                                         \
    symbol = dlsym(library, #name);                                                                \
    if (!symbol) missing = #name;                                                                  \
    memcpy(&loaded.field, &symbol, sizeof symbol);
        loaded_path[0] = '\0';
        NVRTC_FUNCTION_LIST(X)
#undef X
        if (missing) {
            status = eg_fail(ctx, EG_ERROR_NO_COMPILER,
                             "%s has no %s: it is not NVRTC, or older than CUDA 11.1; name another "
                             "in EAGRE_NVRTC",
                             found->path, missing);
            goto done;
        }
        strcpy(loaded_path, found->path);
    }
    *api = loaded;
done:
    pthread_mutex_unlock(&loaded_mutex);
    return status;
}

static eg_status find_and_load(eg_context *ctx, found_file *found, nvrtc_api *api)
{
    const char *wanted = getenv("EAGRE_NVRTC");
    if (find(found)) return load_library(ctx, found, api);
    if (wanted && wanted[0])
        return eg_fail(ctx, EG_ERROR_NO_COMPILER,
                       "EAGRE_NVRTC is %s, which is neither a file nor a directory with "
                       "libnvrtc.so in it; correct it or unset it to have NVRTC searched for",
                       wanted);
    return eg_fail(ctx, EG_ERROR_NO_COMPILER,
                   "NVRTC, which compiles kernels for CUDA, was not found in LD_LIBRARY_PATH, "
                   "CUDA_HOME, /usr/local/cuda* or the system's directories; install it (CUDA "
                   "toolkit, package cuda-nvrtc) or name libnvrtc.so in EAGRE_NVRTC");
}

/* --- compiling ---------------------------------------------------------------------------------- */

/* The compiler's log, NUL-terminated; released by the caller. */
static eg_status take_log(eg_context *ctx, const nvrtc_api *api, nvrtcProgram program, char **log)
{
    eg_status status = EG_OK;
    size_t bytes = 0;
    if (api->log_size(program, &bytes) != NVRTC_SUCCESS) bytes = 0;
    EG_TRY(eg_new(ctx, bytes + 1, log));
    if (bytes > 0 && api->log(program, *log) != NVRTC_SUCCESS) (*log)[0] = '\0';
    for (size_t length = strlen(*log); length > 0 && (*log)[length - 1] == '\n';)
        (*log)[--length] = '\0';
done:
    return status;
}

eg_status eg_cuda_compile(eg_context *ctx, const char *arch, const char *name,
                          const eg_text *source, bool contract, eg_blob *out)
{
    eg_status status = EG_OK;
    found_file found;
    nvrtc_api api = {0};
    nvrtcProgram program = NULL;
    char architecture[64], compiler[48], *log = NULL, *data = NULL;
    const char *options[1 + EG_COUNT(flags)] = {architecture};
    int major = 0, minor = 0;
    size_t length = 0;

    EG_TRY(find_and_load(ctx, &found, &api));
    if (api.version(&major, &minor) != NVRTC_SUCCESS) major = minor = 0;
    snprintf(compiler, sizeof compiler, "NVRTC %d.%d for %.15s", major, minor, arch);
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%.15s", arch);
    memcpy(&options[1], flags, sizeof flags);
    if (!contract) options[EG_COUNT(flags)] = no_contraction_flag;

    int result = api.create(&program, eg_text_string(source), name, 0, NULL, NULL);
    if (result == NVRTC_SUCCESS) result = api.compile(program, (int)EG_COUNT(options), options);
    if (result == NVRTC_SUCCESS) result = api.cubin_size(program, &length);
    if (result == NVRTC_SUCCESS) {
        EG_TRY(eg_new(ctx, length + 1, &data));
        result = api.cubin(program, data);
    }
    if (result == NVRTC_SUCCESS) {
        out->data = data;
        out->length = length;
        data = NULL;
        goto done;
    }

    if (program) EG_TRY(take_log(ctx, &api, program, &log));
    if (result == NVRTC_ERROR_COMPILATION)
        status = eg_compile_failed(ctx, name, compiler, log, source);
    else if (result == NVRTC_ERROR_OUT_OF_MEMORY)
        status = eg_fail(ctx, EG_ERROR_MEMORY, "%s: %s ran out of memory", name, compiler);
    else if (result == NVRTC_ERROR_INVALID_OPTION)
        status = eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                         "NVRTC %d.%d (%s) does not compile for %s: %s; name one that does in "
                         "EAGRE_NVRTC (older GPUs need an older one, newer ones a newer one)",
                         major, minor, found.path, arch, log ? log : "");
    else
        status = eg_fail(ctx, EG_ERROR_NO_COMPILER,
                         "%s: %s (%s) failed: %s; %s; is libnvrtc-builtins beside it? Reinstall it "
                         "or name another in EAGRE_NVRTC",
                         name, compiler, found.path, api.error_string(result), log ? log : "");
done:
    if (program) api.destroy(&program);
    eg_release(ctx, &log);
    eg_release(ctx, &data);
    return status;
}
