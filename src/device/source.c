/* From a kernel file to the complete source a compiler gets.
 *
 *     constants (#define)            sizes, layout of threads and shared memory
 *     dialect header                 device/dialect/{cpu,opencl,cuda}.k.h
 *     #line 1 "room/name.k.c"        the file, its includes put in place, its other kernels blanked
 *     entry                          CPU only: name(t0, t1, void **args)
 */
#include "device/source.h"

#include "device/embedded.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A level-2 operand of more registers than this per thread moves to shared memory. */
#define OPERAND_REGISTERS 96

eg_target eg_target_of(const eg_device *device)
{
    const char *backend = device->backend->name;
    return (eg_target){.kind = !strcmp(backend, "cpu")      ? EG_TARGET_CPU
                               : !strcmp(backend, "opencl") ? EG_TARGET_OPENCL
                                                            : EG_TARGET_CUDA,
                       .cuda_arch = device->cuda_arch,
                       .lanes = device->info.lanes,
                       .shared_bytes = device->info.shared_bytes,
                       .max_block_threads = device->info.max_block_threads};
}

bool eg_target_uses_mma(const eg_target *target, eg_type real)
{
    return target->kind == EG_TARGET_CUDA && target->cuda_arch >= 80 && real == EG_F64;
}

const char *const *eg_kernel_source_names(void)
{
    enum { MOST = 256 };
    static const char *names[MOST + 1];
    if (!names[0])
        for (size_t i = 0, n = 0; i < eg_embedded_source_count && n < MOST; i++) {
            size_t length = strlen(eg_embedded_sources[i].name);
            if (length > 4 && !strcmp(eg_embedded_sources[i].name + length - 4, ".k.c"))
                names[n++] = eg_embedded_sources[i].name;
        }
    return names;
}

/* Adds file `name` to `text`: from the kernel directory if one is set, else embedded. */
static eg_status add_file(eg_context *ctx, const char *name, eg_text *text)
{
    const char *dir = eg_context_kernel_dir(ctx);
    if (dir) {
        char path[1024], *data = NULL;
        size_t length = 0;
        if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
            return eg_fail(ctx, EG_ERROR_IO, "the kernel directory's name is too long");
        eg_status status = eg_file_read(ctx, path, &data, &length);
        if (status == EG_OK) status = eg_text_add(text, data, length);
        eg_release(ctx, &data);
        return status;
    }
    for (size_t i = 0; i < eg_embedded_source_count; i++)
        if (!strcmp(eg_embedded_sources[i].name, name))
            return eg_text_add(text, (const char *)eg_embedded_sources[i].data,
                               eg_embedded_sources[i].length);
    return eg_fail(ctx, EG_ERROR_ARGUMENT, "there is no kernel source '%s' in this library", name);
}

/* Adds `from` to `to` with every #include "…" replaced by its file (once each). */
static eg_status add_with_includes(eg_context *ctx, const char *name, const char *from, size_t length,
                                   eg_text *seen, int depth, eg_text *to)
{
    eg_status status = EG_OK;
    eg_text file = eg_text_new(ctx);
    int line = 0;

    if (depth > 8)
        return eg_fail(ctx, EG_ERROR_COMPILE, "%s: includes are nested too deeply", name);
    EG_TRY(eg_text_printf(to, "#line 1 \"%s\"\n", name));
    for (const char *c = from, *end = from + length; c < end;) {
        const char *eol = memchr(c, '\n', (size_t)(end - c));
        if (!eol) eol = end;
        char include[128], quoted[136];
        char start[160];
        size_t n = (size_t)(eol - c) < sizeof start - 1 ? (size_t)(eol - c) : sizeof start - 1;
        memcpy(start, c, n);
        start[n] = '\0';
        line++;
        if (sscanf(start, " # include \"%127[^\"]\"", include) == 1) {
            snprintf(quoted, sizeof quoted, "<%s>", include);
            if (!strstr(eg_text_string(seen), quoted)) {
                EG_TRY(eg_text_puts(seen, quoted));
                eg_text_clear(&file);
                EG_TRY(add_file(ctx, include, &file));
                EG_TRY(add_with_includes(ctx, include, eg_text_string(&file), file.length, seen,
                                         depth + 1, to));
            }
            EG_TRY(eg_text_printf(to, "#line %d \"%s\"\n", line + 1, name));
        } else {
            EG_TRY(eg_text_add(to, c, (size_t)(eol - c)));
            EG_TRY(eg_text_puts(to, "\n"));
        }
        c = eol + 1;
    }
done:
    eg_text_free(&file);
    return status;
}

static size_t array_bytes(const eg_shared_array *array, const eg_geometry *g, bool mma)
{
    if (array->operand) /* fragments of 32 threads, 4 values each, per warp; lanes otherwise */
        return mma ? (size_t)(array->elements * g->tz) * 32 * 4 * array->value_bytes : 0;
    return (size_t)(array->elements * g->tz * (g->lanes + 2)) * array->value_bytes;
}

static bool operand_in_shared(const eg_shared_array *array, const eg_macros *macros)
{
    int64_t limit = OPERAND_REGISTERS;
    if (eg_macros_find(macros, "K_OPERAND_REGISTERS", strlen("K_OPERAND_REGISTERS")) &&
        eg_constant_evaluate(macros, "K_OPERAND_REGISTERS", "K_OPERAND_REGISTERS",
                             strlen("K_OPERAND_REGISTERS"), &limit) != EG_OK)
        limit = OPERAND_REGISTERS;
    return array->operand && array->elements * 8 > limit;
}

static size_t shared_bytes(const eg_declaration *d, const eg_geometry *g, bool mma,
                           const eg_macros *macros)
{
    size_t bytes = 0;
    for (size_t i = 0; i < d->shared_count; i++)
        if (!d->shared[i].operand || (mma && operand_in_shared(&d->shared[i], macros)))
            bytes += (array_bytes(&d->shared[i], g, mma) + 15) / 16 * 16;
    return bytes;
}

/* Chooses how many threads and tiles make a block: 128 to 256 threads, whole warps per tile, and at
 * most half of the shared memory of a multiprocessor unless one tile needs more. */
static eg_status choose_geometry(eg_context *ctx, const eg_target *target,
                                 const eg_kernel_options *options, const eg_declaration *d,
                                 const eg_macros *macros, const char *name, eg_geometry *g)
{
    bool mma = eg_target_uses_mma(target, options->real);
    *g = (eg_geometry){.lanes = options->lanes ? options->lanes : target->lanes,
                       .ty = 1, .tz = 1, .groups_per_tile = 1};
    if (g->lanes < 1 || g->lanes > 64 || (g->lanes & (g->lanes - 1)))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: LANES = %d is not a power of two up to 64", name,
                       g->lanes);
    if (target->kind == EG_TARGET_CPU) {
        g->block[0] = g->block[1] = g->block[2] = 1;
        g->shared_bytes = shared_bytes(d, g, false, macros);
        return EG_OK;
    }
    if (mma && (d->warps ? g->lanes % 16 : g->lanes % 4))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "%s: LANES = %d; tensor cores need a multiple of %d", name, g->lanes,
                       d->warps ? 16 : 4);
    int threads = target->max_block_threads < 256 ? target->max_block_threads : 256;
    if (d->warps) {
        if (mma) g->groups_per_tile = g->lanes / 16;
        int group = mma ? 32 : g->lanes;
        g->tz = options->tiles_per_block ? options->tiles_per_block
                                         : (threads < 128 ? threads : 128) / group;
        if (g->tz < 1) g->tz = 1;
        g->block[0] = group;
    } else {
        int whole_warp = g->lanes < 32 ? 32 / g->lanes : 1;
        int wanted = d->most_rows == 0 ? 64 / g->lanes
                     : d->most_rows <= 4 ? 1
                     : d->most_rows <= 12 ? 2
                     : d->most_rows <= 40 ? 4
                                          : 8;
        g->ty = options->rows_per_block ? options->rows_per_block
                                        : (wanted > whole_warp ? wanted : whole_warp);
        while (g->ty > 1 && g->lanes * g->ty > threads) g->ty /= 2;
        g->tz = options->tiles_per_block ? options->tiles_per_block : threads / (g->lanes * g->ty);
        if (g->tz < 1) g->tz = 1;
        g->block[0] = g->lanes;
    }
    size_t soft = target->shared_bytes < 48 << 10 ? target->shared_bytes : 48 << 10;
    while (!options->tiles_per_block && g->tz > 1 && shared_bytes(d, g, mma, macros) > soft)
        g->tz = (g->tz + 1) / 2;
    g->block[1] = g->ty;
    g->block[2] = g->tz;
    g->shared_bytes = shared_bytes(d, g, mma, macros);
    if (g->shared_bytes > target->shared_bytes)
        return eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "%s: kernel '%s' needs %zu bytes of shared memory with LANES = %d and the "
                       "device has %zu; use fewer LANES",
                       name, options->entry, g->shared_bytes, g->lanes, target->shared_bytes);
    if (g->block[0] * g->block[1] * g->block[2] > target->max_block_threads)
        return eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "%s: a block of %d x %d x %d threads is more than the device's %d; use fewer "
                       "rows or tiles per block",
                       name, g->block[0], g->block[1], g->block[2], target->max_block_threads);
    return EG_OK;
}

static eg_status add_constants(const eg_target *target, const eg_kernel_options *options,
                               const eg_declaration *d, const eg_geometry *g,
                               const eg_macros *macros, eg_text *text)
{
    static const char *const kinds[] = {"K_CPU", "K_OPENCL", "K_CUDA"};
    bool mma = eg_target_uses_mma(target, options->real), streaming = false, scramble = false;
    bool chunk = false, any_shared = false;
    size_t offset = 0;
    eg_status status = EG_OK;

    EG_TRY(eg_text_printf(text, "#define %s 1\n", kinds[target->kind]));
    EG_TRY(eg_text_printf(text, "#define K_REAL %d\n", options->real == EG_F64 ? 64 : 32));
    EG_TRY(eg_text_printf(text, "#define K_LEVEL %d\n#define LANES %d\n#define K_TY %d\n"
                                "#define K_TZ %d\n",
                          d->warps ? 2 : 1, g->lanes, g->ty, g->tz));
    if (target->kind == EG_TARGET_CUDA)
        EG_TRY(eg_text_printf(text, "#define K_MMA %d\n#define K_THREADS %d\n", mma,
                              g->block[0] * g->block[1] * g->block[2]));
    for (size_t i = 0; i < d->shared_count && target->kind == EG_TARGET_CUDA; i++) {
        const eg_shared_array *array = &d->shared[i];
        bool shared = !array->operand || (mma && operand_in_shared(array, macros));
        EG_TRY(eg_text_printf(text, "#define K_OFFSET_%s %zu\n", array->name, shared ? offset : 0));
        if (array->operand)
            EG_TRY(eg_text_printf(text, "#define K_IN_SHARED_%s %d\n", array->name, shared));
        any_shared |= array->operand && shared;
        if (shared) offset += (array_bytes(array, g, mma) + 15) / 16 * 16;
    }
    for (size_t i = 0; i < options->define_count; i++) {
        const eg_define *define = &options->defines[i];
        EG_TRY(eg_text_printf(text, "#define %s %" PRId64 "\n", define->name, define->value));
        streaming |= !strcmp(define->name, "K_STREAMING");
        scramble |= !strcmp(define->name, "K_SCRAMBLE");
        chunk |= !strcmp(define->name, "K_FN");
    }
    if (!streaming) EG_TRY(eg_text_puts(text, "#define K_STREAMING 0\n"));
    if (!scramble) EG_TRY(eg_text_puts(text, "#define K_SCRAMBLE 0\n"));
    if (mma && d->warps && !chunk && any_shared) EG_TRY(eg_text_puts(text, "#define K_FN 16\n"));
done:
    return status;
}

/* The CPU's entry: takes every argument by address, as launches pass them. */
static eg_status add_cpu_entry(const eg_source *source, eg_text *text)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(text,
                          "#line 1 \"entry\"\nvoid eg_entry_%s(i64 k_t0, i64 k_t1, void **k_a)\n"
                          "{\n    %s(k_t0, k_t1",
                          source->entry, source->entry));
    for (size_t i = 0; i < source->parameter_count; i++) {
        const eg_parameter *p = &source->parameters[i];
        EG_TRY(eg_text_printf(text, ", *(%s%s*)k_a[%zu]", eg_type_name(p->type),
                              p->kind == EG_PARAMETER_VALUE ? " " : " *", i));
    }
    EG_TRY(eg_text_puts(text, ");\n    K_LEAVE();\n}\n"));
done:
    return status;
}

eg_status eg_source_build(eg_context *ctx, const eg_target *target, const eg_kernel_options *options,
                          eg_source *source)
{
    static const char *const dialects[] = {"device/dialect/cpu.k.h", "device/dialect/opencl.k.h",
                                           "device/dialect/cuda.k.h"};
    eg_status status = EG_OK;
    eg_text file = eg_text_new(ctx), body = eg_text_new(ctx), seen = eg_text_new(ctx);
    eg_text header = eg_text_new(ctx);
    eg_macros macros = eg_macros_new(ctx);
    eg_declaration *d = NULL;

    *source = (eg_source){.text = eg_text_new(ctx), .real = options->real};
    const char *name = options->source ? options->source : "kernel.k.c";
    if (!options->entry || strlen(options->entry) >= sizeof source->entry ||
        strlen(name) >= sizeof source->name || (!options->source && !options->text))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "a kernel needs a source and an entry with short names");
    if (options->real != EG_F64 && options->real != EG_F32)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: real is f64 or f32, not %s", name,
                       eg_type_name(options->real));
    strcpy(source->name, name);
    strcpy(source->entry, options->entry);

    EG_TRY(eg_new(ctx, 1, &d));
    if (options->text)
        EG_TRY(eg_text_puts(&file, options->text));
    else
        EG_TRY(add_file(ctx, name, &file));
    EG_TRY(add_with_includes(ctx, name, eg_text_string(&file), file.length, &seen, 0, &body));

    int lanes = options->lanes ? options->lanes : target->lanes;
    EG_TRY(eg_macros_define_integer(&macros, "LANES", lanes));
    for (size_t i = 0; i < options->define_count; i++)
        EG_TRY(eg_macros_define_integer(&macros, options->defines[i].name, options->defines[i].value));
    EG_TRY(eg_declaration_read(ctx, name, body.data, body.length, options->entry, options->real,
                               &macros, d));
    memcpy(source->parameters, d->parameters, sizeof source->parameters);
    source->parameter_count = d->parameter_count;
    EG_TRY(choose_geometry(ctx, target, options, d, &macros, name, &source->geometry));

    EG_TRY(add_constants(target, options, d, &source->geometry, &macros, &source->text));
    eg_text_clear(&seen);
    EG_TRY(add_file(ctx, dialects[target->kind], &header));
    EG_TRY(add_with_includes(ctx, dialects[target->kind], eg_text_string(&header), header.length,
                             &seen, 0, &source->text));
    EG_TRY(eg_text_add(&source->text, body.data, body.length));
    if (target->kind == EG_TARGET_CPU) EG_TRY(add_cpu_entry(source, &source->text));
done:
    eg_text_free(&file);
    eg_text_free(&body);
    eg_text_free(&seen);
    eg_text_free(&header);
    eg_macros_free(&macros);
    eg_release(ctx, &d);
    return status;
}

void eg_source_free(eg_source *source)
{
    eg_text_free(&source->text);
}
