/* Kernels: source, cache, compiler, load. */
#include "device/kernel.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int compilations;

int eg_kernel_compilations(void)
{
    return atomic_load(&compilations);
}

/* Hashes all a binary depends on; the source also says whether it may be contracted. */
static eg_status make_key(eg_device *device, const eg_source *source, char key[EG_SHA256_HEX])
{
    eg_context *ctx = device->ctx;
    eg_text identity = eg_text_new(ctx);
    unsigned char digest[EG_SHA256_BYTES];
    eg_sha256 hash;
    eg_status status = EG_OK;

    EG_TRY(eg_text_printf(&identity, "eagre %s %s\n%s\n", eg_version(), device->backend->name,
                          source->entry));
    EG_TRY(device->backend->identify(device, &identity));
    eg_sha256_init(&hash);
    eg_sha256_add(&hash, eg_text_string(&identity), identity.length + 1);
    eg_sha256_add(&hash, eg_text_string(&source->text), source->text.length);
    eg_sha256_end(&hash, digest);
    eg_sha256_hex(digest, key);
done:
    eg_text_free(&identity);
    return status;
}

/* Compiles, stores and loads. */
static eg_status compile_and_load(eg_kernel *kernel, const eg_source *source, const char *key)
{
    eg_device *device = kernel->device;
    eg_context *ctx = device->ctx;
    eg_blob blob = {0};
    char *path = NULL;
    bool temporary = false;
    eg_status status = EG_OK;
    double start = eg_wall_seconds();

    EG_TRY(device->backend->compile(device, source->name, &source->text, source->contract, &blob));
    atomic_fetch_add(&compilations, 1);
    eg_log(ctx, EG_LOG_INFO, "compiled kernel=%s file=%s device=%s seconds=%.3f", kernel->entry,
           source->name, device->info.spec, eg_wall_seconds() - start);
    EG_TRY(eg_cache_put(ctx, key, &blob, &path, &temporary));
    EG_TRY(device->backend->load(device, &blob, path, kernel->entry, &kernel->geometry,
                                 &kernel->function));
done:
    if (temporary && path) unlink(path);
    eg_release(ctx, &path);
    eg_release(ctx, &blob.data);
    return status;
}

/* Loads from the cache; *loaded says whether that worked. A binary that passes its checksum but
 * that the driver refuses (another driver, say) counts as absent. */
static eg_status load_cached(eg_kernel *kernel, const char *key, bool *loaded)
{
    eg_device *device = kernel->device;
    eg_context *ctx = device->ctx;
    eg_blob blob = {0};
    char *path = NULL;
    eg_status status = EG_OK;
    bool found = false;

    *loaded = false;
    EG_TRY(eg_cache_get(ctx, key, &blob, &path, &found));
    if (!found) goto done;
    status = device->backend->load(device, &blob, path, kernel->entry, &kernel->geometry,
                                   &kernel->function);
    if (status == EG_ERROR_MEMORY) goto done;
    *loaded = status == EG_OK;
    if (*loaded)
        eg_log(ctx, EG_LOG_DEBUG, "cached kernel=%s file=%s device=%s", kernel->entry, kernel->name,
               device->info.spec);
    else
        eg_log(ctx, EG_LOG_WARNING, "a cached binary was refused and is rebuilt: %s",
               eg_context_error(ctx));
    status = EG_OK;
done:
    eg_release(ctx, &path);
    eg_release(ctx, &blob.data);
    return status;
}

/* --- kernels that are kept loaded --------------------------------------------------------------- */

/* Hashes the options: their strings with the NUL, then their numbers. */
static void hash_options(const eg_kernel_options *o, char hex[EG_SHA256_HEX])
{
    const char *const strings[] = {o->source ? o->source : "", o->text ? o->text : "", o->entry};
    const int64_t numbers[] = {o->real,           o->lanes,
                               o->rows_per_block, o->tiles_per_block,
                               o->tiles_in_turn,  o->no_contraction};
    unsigned char digest[EG_SHA256_BYTES];
    eg_sha256 hash;
    eg_sha256_init(&hash);
    for (size_t i = 0; i < EG_COUNT(strings); i++)
        eg_sha256_add(&hash, strings[i], strlen(strings[i]) + 1);
    eg_sha256_add(&hash, numbers, sizeof numbers);
    for (size_t i = 0; i < o->define_count; i++) {
        eg_sha256_add(&hash, o->defines[i].name, strlen(o->defines[i].name) + 1);
        eg_sha256_add(&hash, &o->defines[i].value, sizeof o->defines[i].value);
    }
    for (size_t i = 0; i < o->table_count; i++) {
        const eg_kernel_table *table = &o->tables[i];
        eg_sha256_add(&hash, table->name, strlen(table->name) + 1);
        eg_sha256_add(&hash, table->values, table->count * sizeof *table->values);
    }
    eg_sha256_end(&hash, digest);
    eg_sha256_hex(digest, hex);
}

/* Takes a kernel of these options out of the list; NULL if there is none. */
static eg_kernel *take_kept(eg_device *device, const char *kept_as)
{
    for (eg_kernel **at = &device->kept; *at; at = &(*at)->next) {
        eg_kernel *kernel = *at;
        if (strcmp(kernel->kept_as, kept_as) != 0) continue;
        *at = kernel->next;
        kernel->next = NULL;
        kernel->was_cached = true;
        return kernel;
    }
    return NULL;
}

static void unload(eg_kernel *kernel)
{
    eg_device *device = kernel->device;
    device->backend->unload(device, kernel->function);
    eg_release(device->ctx, &kernel);
}

void eg_device_keep_kernels(eg_device *device, bool keep)
{
    device->keepers += keep ? 1 : -1;
    assert(device->keepers >= 0);
    while (device->keepers == 0 && device->kept) {
        eg_kernel *next = device->kept->next;
        unload(device->kept);
        device->kept = next;
    }
}

/* --- creation ------------------------------------------------------------------------------------- */

eg_status eg_kernel_create(eg_device *device, const eg_kernel_options *given, eg_kernel **out)
{
    eg_kernel_options full = {0}, *const options = &full;
    eg_context *ctx = device->ctx;
    eg_target target = eg_target_of(device);
    eg_source *source = NULL;
    eg_kernel *kernel = NULL;
    char key[EG_SHA256_HEX], kept_as[EG_SHA256_HEX] = "";
    eg_status status = EG_OK;

    *out = NULL;
    if (given->size < sizeof given->size || given->size > 16 * sizeof full)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "eg_kernel_options.size is %zu; set it to sizeof(eg_kernel_options)",
                       given->size);
    /* A caller built against an older header has a shorter struct: the rest keeps its defaults. */
    memcpy(&full, given, given->size < sizeof full ? given->size : sizeof full);
    if (options->real == EG_F64 && !device->info.has_f64)
        return eg_fail(ctx, EG_ERROR_UNSUPPORTED, "%s (%s) has no double precision; use single",
                       device->info.spec, device->info.name);
    if (device->keepers > 0 && options->entry) {
        hash_options(options, kept_as);
        *out = take_kept(device, kept_as);
        if (*out) {
            device->live_objects++;
            return EG_OK;
        }
    }
    EG_TRY(eg_new(ctx, 1, &source));
    EG_TRY(eg_source_build(ctx, &target, options, source));
    EG_TRY(eg_new(ctx, 1, &kernel));
    kernel->device = device;
    kernel->parameter_count = source->parameter_count;
    kernel->geometry = source->geometry;
    kernel->real = options->real;
    memcpy(kernel->parameters, source->parameters, sizeof kernel->parameters);
    memcpy(kernel->name, source->name, sizeof kernel->name);
    memcpy(kernel->entry, source->entry, sizeof kernel->entry);
    memcpy(kernel->kept_as, kept_as, sizeof kernel->kept_as);
    EG_TRY(make_key(device, source, key));
    EG_TRY(load_cached(kernel, key, &kernel->was_cached));
    if (!kernel->was_cached) EG_TRY(compile_and_load(kernel, source, key));
    device->live_objects++;
    *out = kernel;
    kernel = NULL;
done:
    if (source) eg_source_free(source);
    eg_release(ctx, &source);
    eg_release(ctx, &kernel);
    return status;
}

void eg_kernel_destroy(eg_kernel **kernel)
{
    if (!kernel || !*kernel) return;
    eg_device *device = (*kernel)->device;
    device->live_objects--;
    if (device->keepers > 0 && (*kernel)->kept_as[0]) {
        (*kernel)->next = device->kept;
        device->kept = *kernel;
    } else {
        unload(*kernel);
    }
    *kernel = NULL;
}

int eg_kernel_lanes(const eg_kernel *kernel)
{
    return kernel->geometry.lanes;
}

bool eg_kernel_was_cached(const eg_kernel *kernel)
{
    return kernel->was_cached;
}

/* Walks a source with #line directives to line `wanted` of `file`, or to its absolute line `wanted` if
 * `file` is NULL; says which file and line that is. NULL if it is not there. */
static const char *find_line(const char *text, const char *file, int wanted, char here[128],
                             int *line, int *length)
{
    int absolute = 0;
    here[0] = '\0';
    *line = 0;
    for (const char *c = text; *c;) {
        const char *eol = strchr(c, '\n');
        int n = (int)(eol ? eol - c : (ptrdiff_t)strlen(c)), number = 0;
        absolute++;
        if (sscanf(c, "#line %d \"%127[^\"]\"", &number, here) == 2) {
            *line = number;
        } else {
            if (file ? *line == wanted && !strcmp(here, file) : absolute == wanted) {
                *length = n;
                return c;
            }
            ++*line;
        }
        if (!eol) break;
        c = eol + 1;
    }
    return NULL;
}

/* Compilers that ignore #line name lines of the whole source as "<kernel>:LINE". Adds the log to `out`
 * with those translated. */
static eg_status translate_lines(const char *log, const eg_text *source, eg_text *out)
{
    static const char anonymous[] = "<kernel>:";
    eg_status status = EG_OK;
    for (const char *c = log, *next; *c; c = next) {
        char here[128], *end = NULL;
        int line = 0, length = 0;
        next = strstr(c, anonymous);
        if (!next) {
            EG_TRY(eg_text_puts(out, c));
            break;
        }
        EG_TRY(eg_text_add(out, c, (size_t)(next - c)));
        long wanted = strtol(next + strlen(anonymous), &end, 10);
        next += strlen(anonymous);
        if (wanted > 0 && wanted < INT_MAX &&
            find_line(eg_text_string(source), NULL, (int)wanted, here, &line, &length) && here[0]) {
            EG_TRY(eg_text_printf(out, "%s:%d", here, line));
            next = end;
        } else {
            EG_TRY(eg_text_puts(out, anonymous));
        }
    }
done:
    return status;
}

/* Adds the source lines that a compiler's log names as FILE:LINE or FILE(LINE). */
static eg_status quote_lines(const char *log, const eg_text *source, eg_text *out)
{
    enum { QUOTES = 6 };
    char last_file[128] = "", here[128];
    int last = 0, quotes = 0;
    eg_status status = EG_OK;
    for (const char *c = log; *c && quotes < QUOTES; c++) {
        if ((*c != ':' && *c != '(') || !isdigit((unsigned char)c[1])) continue;
        const char *from = c;
        while (from > log && !isspace((unsigned char)from[-1]) && from[-1] != '"')
            from--;
        char file[128];
        size_t n = (size_t)(c - from);
        if (n == 0 || n >= sizeof file) continue;
        memcpy(file, from, n);
        file[n] = '\0';
        int line = atoi(c + 1), length = 0, found = 0;
        if (line == last && !strcmp(file, last_file)) continue;
        const char *text = find_line(eg_text_string(source), file, line, here, &found, &length);
        if (!text) continue;
        EG_TRY(eg_text_printf(out, "%s%s:%d | %.*s\n", quotes ? "" : "the lines it names:\n", file,
                              line, length, text));
        strcpy(last_file, file);
        last = line;
        quotes++;
    }
done:
    return status;
}

eg_status eg_compile_failed(eg_context *ctx, const char *name, const char *compiler,
                            const char *log, const eg_text *source)
{
    enum { LOG_MOST = 8000 };
    eg_text quoted = eg_text_new(ctx), told = eg_text_new(ctx);
    eg_status status = translate_lines(log, source, &told);
    if (status == EG_OK) status = quote_lines(eg_text_string(&told), source, &quoted);
    if (status == EG_OK)
        status = eg_fail(ctx, EG_ERROR_COMPILE, "%s did not compile with %s:\n%.*s%s%s", name,
                         compiler, LOG_MOST, eg_text_string(&told),
                         told.length > LOG_MOST ? "\n[…]\n" : "\n", eg_text_string(&quoted));
    eg_text_free(&told);
    eg_text_free(&quoted);
    return status;
}
