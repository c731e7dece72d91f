/* The CPU as a device: memory on the host, kernels compiled by the system's C compiler and loaded
 * with dlopen, tiles shared out over a pool of threads in contiguous ranges.
 *
 * Every call is complete when it returns, so the queue is in order by construction. The threads
 * belong to the library, not to an OpenMP runtime: kernel files hold no parallel region, and the
 * range of tiles that a thread works on is the same in every launch, so its caches stay warm.
 */
#define _GNU_SOURCE
#include "base/threads.h"
#include "device/backend.h"
#include "device/compiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_THREADS 1024
#define MAX_SLOTS 64

#define ALIGNMENT 64
/* Large blocks lie on huge pages, so that streaming through them rarely misses the TLB. */
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_BLOCK ((size_t)4 << 20)

#define SHARED_BYTES ((uint64_t)1 << 20) /* K_SHARED lies on the stack of each thread */

typedef struct cpu_state {
    eg_threads *threads; /* owned */
    bool avx512;
    char identity[EG_SHA256_HEX]; /* of the processor's model and features */
} cpu_state;

typedef void cpu_entry(int64_t t0, int64_t t1, void **args);

typedef struct cpu_function {
    void *library; /* of dlopen, owned */
    cpu_entry *entry;
} cpu_function;

typedef struct cpu_event {
    double seconds;
} cpu_event;

/* --- the processor ---------------------------------------------------------------------------- */

typedef struct processor {
    char name[128];
    const char *features; /* widest vector extension */
    int lanes;
    bool avx512;
    char text[16384]; /* the head of /proc/cpuinfo: at least the first processor */
} processor;

/* The value of the first line "key : value" of `text`; its length in *length, 0 if there is none.
 */
static const char *cpuinfo_value(const char *text, const char *key, size_t *length)
{
    size_t key_length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, key, key_length) != 0) continue;
        const char *value = line + key_length + strspn(line + key_length, " \t");
        if (*value != ':') continue;
        value += 1 + strspn(value + 1, " \t");
        *length = strcspn(value, "\n");
        return value;
    }
    *length = 0;
    return "";
}

static void read_cpuinfo(char *text, size_t size)
{
    size_t length = 0;
    int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && length < size - 1) {
        ssize_t n = read(fd, text + length, size - 1 - length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        length += (size_t)n;
    }
    if (fd >= 0) close(fd);
    text[length] = '\0';
}

static void processor_describe(processor *p)
{
    read_cpuinfo(p->text, sizeof p->text);
    size_t length;
    const char *name = cpuinfo_value(p->text, "model name", &length);
    if (length == 0) {
        name = "CPU";
        length = strlen(name);
    }
    snprintf(p->name, sizeof p->name, "%.*s", (int)length, name);

    p->avx512 = false;
    p->lanes = 4;
#if defined(__x86_64__) || defined(__i386__)
    p->features = "sse2";
    if (__builtin_cpu_supports("avx512f")) {
        p->avx512 = true;
        p->features = "avx512";
        p->lanes = 16;
    } else if (__builtin_cpu_supports("avx2")) {
        p->features = "avx2";
        p->lanes = 8;
    } else if (__builtin_cpu_supports("avx")) {
        p->features = "avx";
    }
#elif defined(__aarch64__)
    p->features = "neon";
#else
    p->features = "scalar";
#endif
}

/* What -march=native looks at, as a hash. */
static void processor_identity(const processor *p, char hex[EG_SHA256_HEX])
{
    static const char *const keys[] = {"vendor_id", "cpu family", "model",    "model name",
                                       "stepping",  "flags",      "Features", "CPU part"};
    unsigned char digest[EG_SHA256_BYTES];
    eg_sha256 hash;
    eg_sha256_init(&hash);
    for (size_t i = 0; i < EG_COUNT(keys); i++) {
        size_t length;
        const char *value = cpuinfo_value(p->text, keys[i], &length);
        eg_sha256_add(&hash, value, length);
        eg_sha256_add(&hash, "\n", 1);
    }
    eg_sha256_end(&hash, digest);
    eg_sha256_hex(digest, hex);
}

/* --- the compiler ----------------------------------------------------------------------------- */

static eg_status cpu_identify(eg_device *device, eg_text *key)
{
    const cpu_state *state = device->state;
    eg_compiler compiler;
    eg_status status = eg_text_printf(key, "cpu %s\n", state->identity);
    if (status != EG_OK) return status;
    eg_compiler_find(&compiler);
    return eg_compiler_identify(&compiler, state->avx512, key);
}

static eg_status cpu_compile(eg_device *device, const char *name, const eg_text *source,
                             bool contract, eg_blob *out)
{
    const cpu_state *state = device->state;
    eg_compiler compiler;
    eg_compiler_find(&compiler);
    return eg_compiler_run(device->ctx, &compiler, state->avx512, contract, name, source, out);
}

/* --- the device ------------------------------------------------------------------------------- */

/* The largest cache of the first core, as Linux says: the C library may add up those of all cores. 0
 * elsewhere. */
static uint64_t cache_bytes(void)
{
    uint64_t most = 0;
    for (int i = 0; i < 8; i++) {
        char path[96], unit = '\0';
        unsigned long size = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        FILE *file = fopen(path, "r");
        if (!file) break;
        const int found = fscanf(file, "%lu%c", &size, &unit);
        fclose(file);
        if (found < 1) continue;
        const uint64_t bytes = (uint64_t)size << (unit == 'M' ? 20 : unit == 'K' ? 10 : 0);
        if (bytes > most) most = bytes;
    }
    return most;
}

static void cpu_describe(const processor *p, int threads, eg_device_info *info)
{
    eg_compiler compiler;
    eg_compiler_find(&compiler);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    *info = (eg_device_info){
        .spec = "cpu",
        .backend = "cpu",
        .memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0,
        .compute_units = eg_threads_cpus(),
        .shared_bytes = SHARED_BYTES,
        .max_block_threads = 1,
        .lanes = p->lanes,
        .has_f64 = true,
        .cache_bytes = cache_bytes(),
    };
    info->threads = threads > 0 ? threads : info->compute_units;
    info->max_tiles_in_flight = info->threads;
    snprintf(info->name, sizeof info->name, "%s", p->name);
    snprintf(info->features, sizeof info->features, "%s", p->features);
    snprintf(info->version, sizeof info->version, "kernel compiler: %.*s",
             (int)(sizeof info->version - sizeof "kernel compiler: "),
             compiler.count > 0 ? compiler.path : "none found");
}

static int cpu_list(eg_context *ctx, eg_device_info *list, int capacity)
{
    (void)ctx;
    processor p;
    if (capacity < 1) return 1;
    processor_describe(&p);
    cpu_describe(&p, 0, &list[0]);
    return 1;
}

static void cpu_close(eg_device *device)
{
    cpu_state *state = device->state;
    if (!state) return;
    eg_threads_destroy(device->ctx, &state->threads);
    eg_release(device->ctx, &device->state);
}

static eg_status cpu_open(eg_device *device, int index)
{
    eg_status status = EG_OK;
    cpu_state *state = NULL;
    processor p;
    if (index < 0 || index > MAX_THREADS)
        return eg_fail(device->ctx, EG_ERROR_ARGUMENT,
                       "a CPU device cannot have %d threads; ask for 1 to %d, as in cpu:2", index,
                       MAX_THREADS);
    processor_describe(&p);
    cpu_describe(&p, index, &device->info);
    if (device->info.threads > MAX_THREADS)
        device->info.threads = device->info.max_tiles_in_flight = MAX_THREADS;
    EG_TRY(eg_new(device->ctx, 1, &state));
    device->state = state;
    state->avx512 = p.avx512;
    processor_identity(&p, state->identity);
    EG_TRY(eg_threads_create(device->ctx, device->info.threads, &state->threads));
done:
    if (status != EG_OK) cpu_close(device);
    return status;
}

static eg_status cpu_sync(eg_device *device)
{
    (void)device;
    return EG_OK;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* The block of the allocator is kept in the word before the aligned address. */
static eg_status cpu_allocate(eg_device *device, size_t bytes, eg_memory *out)
{
    size_t alignment = bytes >= HUGE_BLOCK ? HUGE_PAGE : ALIGNMENT;
    uint64_t limit = device->info.memory_bytes ? device->info.memory_bytes : SIZE_MAX / 2;
    void *block = NULL;
    out->pointer = NULL;
    /* Linux would promise more than the machine has, and kill the process when it is touched. */
    if (bytes > limit ||
        eg_reallocate(device->ctx, bytes + alignment + sizeof(void *), &block) != EG_OK)
        return eg_fail(device->ctx, EG_ERROR_DEVICE_MEMORY,
                       "the CPU device could not allocate %zu bytes (%.2f GiB; the machine has "
                       "%.2f GiB in all); free buffers, make the problem smaller, use single "
                       "precision or spread it over more machines",
                       bytes, (double)bytes / 0x1p30, (double)device->info.memory_bytes / 0x1p30);
    uintptr_t start = (uintptr_t)block + sizeof(void *);
    char *aligned = (char *)block + sizeof(void *) + (-start & (alignment - 1));
    memcpy(aligned - sizeof(void *), &block, sizeof block);
    if (alignment == HUGE_PAGE) {
        /* Only advice: without huge pages the memory is as good, and slower. Whole ones only, so
         * that nothing outside the block is spoken for. */
        (void)madvise(aligned, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
    }
    out->pointer = aligned;
    return EG_OK;
}

static void cpu_release(eg_device *device, eg_memory memory)
{
    void *block = NULL;
    if (!memory.pointer) return;
    memcpy(&block, (char *)memory.pointer - sizeof(void *), sizeof block);
    eg_release(device->ctx, &block);
}

static eg_status cpu_upload(eg_device *device, eg_memory to, size_t offset, size_t bytes,
                            const void *from)
{
    (void)device;
    memcpy((char *)to.pointer + offset, from, bytes);
    return EG_OK;
}

static eg_status cpu_download(eg_device *device, eg_memory from, size_t offset, size_t bytes,
                              void *to)
{
    (void)device;
    memcpy(to, (const char *)from.pointer + offset, bytes);
    return EG_OK;
}

static eg_status cpu_copy(eg_device *device, eg_memory to, size_t to_offset, eg_memory from,
                          size_t from_offset, size_t bytes)
{
    (void)device;
    memmove((char *)to.pointer + to_offset, (const char *)from.pointer + from_offset, bytes);
    return EG_OK;
}

static eg_status cpu_fill(eg_device *device, eg_memory to, size_t offset, size_t bytes,
                          const void *pattern, size_t pattern_bytes)
{
    (void)device;
    char *start = (char *)to.pointer + offset;
    if (pattern_bytes == 1) {
        memset(start, *(const unsigned char *)pattern, bytes);
        return EG_OK;
    }
    /* Doubles what is there, up to a piece that stays in cache, and repeats that. */
    size_t filled = bytes < pattern_bytes ? bytes : pattern_bytes;
    memcpy(start, pattern, filled);
    while (filled < bytes) {
        size_t piece = filled < 16384 ? filled : 16384 - 16384 % pattern_bytes;
        if (piece > bytes - filled) piece = bytes - filled;
        memcpy(start + filled, start, piece);
        filled += piece;
    }
    return EG_OK;
}

/* --- kernels ---------------------------------------------------------------------------------- */

static void cpu_unload(eg_device *device, void *function)
{
    cpu_function *f = function;
    if (!f) return;
    if (f->library) dlclose(f->library);
    eg_release(device->ctx, &f);
}

static eg_status cpu_load(eg_device *device, const eg_blob *blob, const char *path,
                          const char *entry, const eg_geometry *geometry, void **function)
{
    (void)blob;
    (void)geometry;
    eg_status status = EG_OK;
    cpu_function *f = NULL;
    char symbol[256];
    *function = NULL;
    EG_TRY(eg_new(device->ctx, 1, &f));
    f->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!f->library) {
        const char *why = dlerror();
        status = eg_fail(device->ctx, EG_ERROR_IO,
                         "the compiled kernel \"%s\" could not be loaded: %s; if its file system "
                         "forbids running programs (noexec), set EAGRE_CACHE_DIR to a directory "
                         "that allows it",
                         entry, why ? why : path);
        goto done;
    }
    snprintf(symbol, sizeof symbol, "eg_entry_%s", entry);
    void *address = dlsym(f->library, symbol);
    if (!address) {
        status = eg_fail(device->ctx, EG_ERROR_COMPILE,
                         "the compiled kernel has no entry \"%s\" (looked for the symbol %s in "
                         "%s); write it as K_KERNEL(%s, ...)",
                         entry, symbol, path, entry);
        goto done;
    }
    memcpy(&f->entry, &address, sizeof f->entry);
    *function = f;
done:
    if (status != EG_OK) cpu_unload(device, f);
    return status;
}

/* A launch as the compiled entry wants it. */
typedef struct cpu_call {
    cpu_entry *entry;
    void *addresses[MAX_SLOTS]; /* of memory arguments: what the kernel sees as its pointer */
    void *args[MAX_SLOTS];      /* where each argument's value lies */
} cpu_call;

static eg_status prepare(eg_device *device, void *function, const eg_slot *slots, size_t count,
                         cpu_call *out)
{
    const cpu_function *f = function;
    if (count > MAX_SLOTS)
        return eg_fail(device->ctx, EG_ERROR_LAUNCH,
                       "a kernel on the CPU takes at most %d arguments, this one has %zu",
                       MAX_SLOTS, count);
    out->entry = f->entry;
    for (size_t i = 0; i < count; i++) {
        if (slots[i].is_memory) {
            out->addresses[i] = (char *)slots[i].memory.pointer + slots[i].offset;
            out->args[i] = &out->addresses[i];
        } else {
            out->args[i] = (void *)(uintptr_t)slots[i].data; /* entries only read values */
        }
    }
    return EG_OK;
}

typedef struct cpu_work {
    cpu_call call;
    int64_t first, count;
} cpu_work;

static void run_part(void *user, int part, int parts)
{
    cpu_work *work = user;
    int64_t share = work->count / parts, rest = work->count % parts;
    int64_t t0 = work->first + part * share + (part < rest ? part : rest);
    int64_t t1 = t0 + share + (part < rest ? 1 : 0);
    if (t0 < t1) work->call.entry(t0, t1, work->call.args);
}

static eg_status cpu_launch(eg_device *device, void *function, const eg_geometry *geometry,
                            int64_t first, int64_t count, const eg_slot *slots, size_t slot_count)
{
    (void)geometry;
    const cpu_state *state = device->state;
    cpu_work work = {.first = first, .count = count};
    eg_status status = EG_OK;
    EG_TRY(prepare(device, function, slots, slot_count, &work.call));
    if (count <= 1)
        run_part(&work, 0, 1);
    else
        eg_threads_run(state->threads, run_part, &work);
done:
    return status;
}

typedef struct cpu_lists {
    cpu_call calls[EG_CALLS_MAX];
    const eg_pieces *lists;
    size_t count;
} cpu_lists;

/* List `part`, and every `parts`th behind it. */
static void run_lists(void *user, int part, int parts)
{
    cpu_lists *work = user;
    for (size_t l = (size_t)part; l < work->count; l += (size_t)parts)
        for (size_t i = 0; i < work->lists[l].count; i++) {
            const eg_piece *p = &work->lists[l].pieces[i];
            cpu_call *call = &work->calls[p->call];
            if (p->count > 0) call->entry(p->first, p->first + p->count, call->args);
        }
}

static eg_status cpu_launch_pieces(eg_device *device, const eg_prepared *calls, size_t call_count,
                                   const eg_pieces *lists, size_t list_count)
{
    const cpu_state *state = device->state;
    cpu_lists work = {.lists = lists, .count = list_count};
    eg_status status = EG_OK;
    for (size_t i = 0; i < call_count; i++)
        EG_TRY(prepare(device, calls[i].function, calls[i].slots, calls[i].slot_count,
                       &work.calls[i]));
    eg_threads_run(state->threads, run_lists, &work);
done:
    return status;
}

/* --- events ----------------------------------------------------------------------------------- */

static eg_status cpu_event_create(eg_device *device, void **event)
{
    return eg_allocate(device->ctx, sizeof(cpu_event), event);
}

static void cpu_event_destroy(eg_device *device, void *event)
{
    eg_release(device->ctx, &event);
}

/* One thread is measured by CPU time, because machines are shared; CPU time of several would add
 * up. */
static eg_status cpu_event_record(eg_device *device, void *event)
{
    cpu_event *e = event;
    e->seconds = device->info.threads == 1 ? eg_cpu_seconds() : eg_wall_seconds();
    return EG_OK;
}

static eg_status cpu_event_elapsed(eg_device *device, void *start, void *stop, double *seconds)
{
    (void)device;
    *seconds = ((const cpu_event *)stop)->seconds - ((const cpu_event *)start)->seconds;
    return EG_OK;
}

const eg_backend eg_backend_cpu = {
    .name = "cpu",
    .list = cpu_list,
    .open = cpu_open,
    .close = cpu_close,
    .sync = cpu_sync,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .upload = cpu_upload,
    .download = cpu_download,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .identify = cpu_identify,
    .compile = cpu_compile,
    .load = cpu_load,
    .unload = cpu_unload,
    .launch = cpu_launch,
    .launch_pieces = cpu_launch_pieces,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .event_elapsed = cpu_event_elapsed,
};
