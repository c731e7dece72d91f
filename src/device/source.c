/* From a kernel file to the complete source a compiler gets.
 *
 *     the dialect's constants        precision, layout of threads and shared memory
 *     dialect header                 device/dialect/{cpu,opencl,cuda}.k.h
 *     the kernel's constants         NP, NC, …
 *     #line 1 "room/name.k.c"        the file: includes put in place, other kernels blanked, and
 *                                    K_KERNEL(…) replaced by the backend's own kind of header
 *     entry                          CPU only: name(t0, t1, void **args)
 */
#include "device/source.h"

#include "device/embedded.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A level-2 operand of more registers than this per thread moves to shared memory. */
#define OPERAND_REGISTERS 128

/* An operand in shared memory of more bytes than this is shared by two warps, which divide its
 * points among them: with one each, too few warps would fit on a multiprocessor. */
#define OPERAND_BYTES_PER_WARP (24 << 10)

/* Barriers that a block has for groups of two warps. */
#define BARRIERS_MOST 15

/* Most blocks of a grid, in multiples of what is resident; kernels stride over the rest. */
#define WAVES 32

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

bool eg_target_uses_mma(const eg_target *target)
{
    return target->kind == EG_TARGET_CUDA && target->cuda_arch >= 80;
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
static eg_status add_with_includes(eg_context *ctx, const char *name, const char *from,
                                   size_t length, eg_text *seen, int depth, eg_text *to)
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

/* An integer constant of the options, or `otherwise`. */
static int64_t define_value(const eg_kernel_options *options, const char *name, int64_t otherwise)
{
    for (size_t i = 0; i < options->define_count; i++)
        if (!strcmp(options->defines[i].name, name)) return options->defines[i].value;
    return otherwise;
}

/* Shared memory of a kernel, array by array. On tensor cores (`mma`) an operand that is too large for
 * registers lies there as fragments of 8 rows, 1 KiB each. */
typedef struct layout {
    size_t offset[EG_SHARED_MAX];
    int64_t stays[EG_SHARED_MAX]; /* operands that stay: fragments a group; 0 for the others */
    int64_t operands;             /* fragments of all operands */
    int parts;                    /* warps that work on a group together */
    size_t bytes;                 /* of a block */
} layout;

static layout lay_out(const eg_declaration *d, const eg_geometry *g, bool cpu, bool mma,
                      const eg_kernel_options *options)
{
    layout l = {.parts = 1};
    int64_t limit = define_value(options, "K_OPERAND_REGISTERS", OPERAND_REGISTERS);
    bool any = false;
    int64_t exchange =
        0; /* fragments that two warps of a group exchange, in the first operand's place */
    for (size_t i = 0; i < d->shared_count; i++) {
        const eg_shared_array *array = &d->shared[i];
        int64_t fragments = array->fields * ((array->rows + 7) / 8);
        if (array->kind == EG_ARRAY_ACCUM) exchange += fragments;
        if (array->kind == EG_ARRAY_OPERAND) l.operands += fragments;
        if (mma && array->kind == EG_ARRAY_OPERAND && fragments * 8 > limit) {
            l.stays[i] = fragments;
            any = true;
            if (fragments * 1024 > OPERAND_BYTES_PER_WARP) l.parts = 2;
        }
    }
    if (any) l.parts = (int)define_value(options, "K_PARTS", l.parts);
    for (size_t i = 0; i < d->shared_count; i++) {
        const eg_shared_array *array = &d->shared[i];
        int64_t values = 0;
        if (l.stays[i]) {
            if (l.stays[i] < exchange) l.stays[i] = exchange;
            exchange = 0;
        }
        if (array->kind == EG_ARRAY_SHARED)
            values = array->rows * (g->lanes + 2);
        else if (cpu) /* everything lies on the stack */
            values = array->fields * ((array->rows + 7) / 8 * 8) * g->lanes;
        else if (l.stays[i])
            values = l.stays[i] * 32 * 4;
        l.offset[i] = l.bytes;
        l.bytes += ((size_t)(values * g->tz) * array->value_bytes + 15) / 16 * 16;
    }
    return l;
}

static eg_status check_shared(eg_context *ctx, const eg_target *target,
                              const eg_kernel_options *options, const char *name,
                              const eg_geometry *g)
{
    if (g->shared_bytes <= target->shared_bytes) return EG_OK;
    return eg_fail(
        ctx, EG_ERROR_UNSUPPORTED,
        "%s: kernel '%s' needs %zu bytes of shared memory with LANES = %d and the device "
        "has %zu; use fewer LANES",
        name, options->entry, g->shared_bytes, g->lanes, target->shared_bytes);
}

/* Chooses how many threads and tiles make a block: 128 to 256 threads, whole warps per tile, and at
 * most 48 KiB of shared memory unless one tile needs more. */
static eg_status choose_geometry(eg_context *ctx, const eg_target *target,
                                 const eg_kernel_options *options, const eg_declaration *d,
                                 const char *name, eg_geometry *g)
{
    bool mma = eg_target_uses_mma(target);
    *g = (eg_geometry){.lanes = options->lanes ? options->lanes : target->lanes,
                       .ty = 1,
                       .tz = 1,
                       .in_turn = options->tiles_in_turn && !d->warps ? options->tiles_in_turn : 1,
                       .groups_per_tile = 1,
                       .waves = WAVES};
    if (g->lanes < 1 || g->lanes > 64 || (g->lanes & (g->lanes - 1)))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: LANES = %d is not a power of two up to 64",
                       name, g->lanes);
    if (target->kind == EG_TARGET_CPU) {
        g->block[0] = g->block[1] = g->block[2] = 1;
        g->shared_bytes = lay_out(d, g, true, false, options).bytes;
        return check_shared(ctx, target, options, name, g);
    }
    if (mma && (d->warps ? g->lanes % 16 : g->lanes % 4))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: LANES = %d; tensor cores need a multiple of %d",
                       name, g->lanes, d->warps ? 16 : 4);
    int threads = target->max_block_threads < 256 ? target->max_block_threads : 256;
    if (d->warps) {
        /* Small blocks: warps need nothing of each other, and a block ends with its last. */
        g->tz = options->tiles_per_block                           ? options->tiles_per_block
                : !mma                                             ? 128 / g->lanes
                : lay_out(d, g, false, mma, options).operands <= 4 ? 2
                                                                   : 1;
        if (g->tz < 1) g->tz = 1;
        g->block[0] = mma ? 32 : g->lanes;
        if (mma) {
            g->groups_per_tile = g->lanes / 16;
            g->waves = 0; /* one group a warp: the next block's loads hide behind its work */
        }
    } else {
        int whole_warp = g->lanes < 32 ? 32 / g->lanes : 1;
        int wanted = d->most_rows == 0    ? 64 / g->lanes
                     : d->most_rows <= 4  ? 1
                     : d->most_rows <= 12 ? 2
                     : d->most_rows <= 40 ? 4
                                          : 8;
        g->ty = options->rows_per_block ? options->rows_per_block
                                        : (wanted > whole_warp ? wanted : whole_warp);
        while (g->ty > 1 && g->lanes * g->ty > threads)
            g->ty /= 2;
        if (d->most_rows == 0) threads = threads < 128 ? threads : 128;
        g->tz = options->tiles_per_block ? options->tiles_per_block : threads / (g->lanes * g->ty);
        if (g->tz < 1) g->tz = 1;
        g->block[0] = g->lanes;
    }
    size_t soft = target->shared_bytes < 48 << 10 ? target->shared_bytes : 48 << 10;
    while (!options->tiles_per_block && g->tz > 1 &&
           lay_out(d, g, false, mma, options).bytes > soft)
        g->tz = (g->tz + 1) / 2;
    g->block[1] = g->ty;
    layout l = lay_out(d, g, false, mma, options);
    g->block[2] = g->tz * l.parts;
    g->shared_bytes = l.bytes;
    if (l.parts != 1 && (l.parts != 2 || g->tz > BARRIERS_MOST))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "%s: K_PARTS is 1 or 2, and with 2 at most %d tiles share a block", name,
                       BARRIERS_MOST);
    if (g->block[0] * g->block[1] * g->block[2] > target->max_block_threads)
        return eg_fail(
            ctx, EG_ERROR_UNSUPPORTED,
            "%s: a block of %d x %d x %d threads is more than the device's %d; use fewer "
            "rows or tiles per block",
            name, g->block[0], g->block[1], g->block[2], target->max_block_threads);
    return check_shared(ctx, target, options, name, g);
}

/* The options' constants: those of the dialect itself (K_…), or the kernel's own, which stand behind
 * the dialect's header so that a constant N or ROWS cannot touch it. */
static eg_status add_defines(const eg_kernel_options *options, bool dialect, eg_text *text)
{
    eg_status status = EG_OK;
    for (size_t i = 0; i < options->define_count; i++)
        if (!strncmp(options->defines[i].name, "K_", 2) == dialect &&
            strcmp(options->defines[i].name, "K_PARTS") != 0) /* lay_out has the last word */
            EG_TRY(eg_text_printf(text, "#define %s %" PRId64 "\n", options->defines[i].name,
                                  options->defines[i].value));
done:
    return status;
}

/* Exactly, as hexadecimal literals: whole numbers times powers of 2, which no locale writes with a comma. */
static eg_status add_number(double value, bool single, eg_text *text)
{
    int exponent;
    const double fraction = frexp(single ? (double)(float)value : value, &exponent);
    const int64_t whole = (int64_t)ldexp(fabs(fraction), 53);
    return eg_text_printf(text, "%s0x%" PRIx64 "p%d%s", signbit(fraction) ? "-" : "", whole,
                          whole ? exponent - 53 : 0, single ? "f" : "");
}

static eg_status add_tables(const eg_kernel_options *options, eg_text *text)
{
    eg_status status = EG_OK;
    for (size_t i = 0; i < options->table_count; i++) {
        const eg_kernel_table *table = &options->tables[i];
        EG_TRY(eg_text_printf(text, "K_CONSTANT real %s[%zu] = {", table->name, table->count));
        for (size_t k = 0; k < table->count; k++) {
            if (k > 0) EG_TRY(eg_text_puts(text, ", "));
            EG_TRY(add_number(table->values[k], options->real == EG_F32, text));
        }
        EG_TRY(eg_text_puts(text, "};\n"));
    }
done:
    return status;
}

/* Whether it can name something of a kernel's own. */
static bool is_identifier(const char *name)
{
    bool good = name && (isalpha((unsigned char)*name) || *name == '_') &&
                strncmp(name, "K_", 2) != 0 && strncmp(name, "k_", 2) != 0;
    for (const char *c = name; good && *c; c++)
        good = isalnum((unsigned char)*c) || *c == '_';
    return good && strcmp(name, "lane") != 0 && strcmp(name, "real") != 0;
}

static eg_status check_tables(eg_context *ctx, const eg_kernel_options *options, const char *source)
{
    for (size_t i = 0; i < options->table_count; i++) {
        const eg_kernel_table *table = &options->tables[i];
        if (!is_identifier(table->name) || !strcmp(table->name, "LANES"))
            return eg_fail(
                ctx, EG_ERROR_ARGUMENT,
                "%s: '%s' cannot be a table of a kernel: it is no identifier, or belongs "
                "to the kernel language",
                source, table->name ? table->name : "(null)");
        if (table->count == 0)
            return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: table '%s' has no values", source,
                           table->name);
        for (size_t k = 0; k < table->count; k++)
            if (!isfinite(table->values[k]))
                return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: value %zu of table '%s' is %g", source,
                               k, table->name, table->values[k]);
    }
    return EG_OK;
}

/* Refuses constants that the library sets itself or that would change the language. */
static eg_status check_defines(eg_context *ctx, const eg_kernel_options *options,
                               const char *source)
{
    static const char *const tuning[] = {"K_STREAMING",  "K_SCRAMBLE",     "K_FN",
                                         "K_PARTS",      "K_MIN_BLOCKS",   "K_OPERAND_REGISTERS",
                                         "K_GEMM_SMALL", "K_UNROLL_CHUNKS"};
    for (size_t i = 0; i < options->define_count; i++) {
        const char *name = options->defines[i].name;
        bool known = is_identifier(name);
        for (size_t k = 0; name && k < EG_COUNT(tuning); k++)
            known |= !strcmp(name, tuning[k]);
        if (!name || !known)
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "%s: '%s' cannot be a constant of a kernel: it is no identifier, or "
                           "belongs to the kernel language",
                           source, name ? name : "(null)");
        if (!strcmp(name, "LANES"))
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "%s: LANES is set by eg_kernel_options.lanes, not by a constant",
                           source);
    }
    return EG_OK;
}

static eg_status add_constants(const eg_target *target, const eg_kernel_options *options,
                               const eg_declaration *d, const eg_geometry *g, eg_text *text)
{
    static const char *const kinds[] = {"K_CPU", "K_OPENCL", "K_CUDA"};
    bool mma = eg_target_uses_mma(target);
    layout l = lay_out(d, g, target->kind == EG_TARGET_CPU, mma, options);
    eg_status status = EG_OK;

    EG_TRY(eg_text_printf(text, "#line 1 \"constants\"\n#define %s 1\n", kinds[target->kind]));
    EG_TRY(eg_text_printf(text, "#define K_REAL %d\n#define K_CONTRACT %d\n",
                          options->real == EG_F64 ? 64 : 32, !options->no_contraction));
    EG_TRY(eg_text_printf(text,
                          "#define K_LEVEL %d\n#define LANES %d\n#define K_TY %d\n"
                          "#define K_TZ %d\n#define K_IN_TURN %d\n",
                          d->warps ? 2 : 1, g->lanes, g->ty, g->tz, g->in_turn));
    if (target->kind == EG_TARGET_CUDA)
        EG_TRY(eg_text_printf(text, "#define K_MMA %d\n#define K_THREADS %d\n", mma,
                              g->block[0] * g->block[1] * g->block[2]));
    for (size_t i = 0; i < d->shared_count && target->kind == EG_TARGET_CUDA; i++)
        EG_TRY(eg_text_printf(text, "#define K_OFFSET_%s %zu\n#define K_IN_SHARED_%s %" PRId64 "\n",
                              d->shared[i].name, l.offset[i], d->shared[i].name, l.stays[i]));
    for (size_t i = 0; i < d->shared_count; i++)
        if (l.stays[i]) {
            EG_TRY(eg_text_printf(text,
                                  "#define K_EXCHANGE %zu\n#define K_EXCHANGE_STRIDE %" PRId64 "\n",
                                  l.offset[i], l.stays[i]));
            break;
        }
    EG_TRY(add_defines(options, true, text));
    const eg_define defaults[] = {
        {"K_STREAMING", 0}, {"K_SCRAMBLE", 0}, {"K_PARTS", l.parts}, {"K_FN", mma ? 8 : 4}};
    for (size_t i = 0; i < EG_COUNT(defaults); i++)
        EG_TRY(eg_text_printf(text, "#ifndef %s\n#define %s %" PRId64 "\n#endif\n",
                              defaults[i].name, defaults[i].name, defaults[i].value));
done:
    return status;
}

/* The kernel's header in the terms of the dialect's header: K_BEGIN(name) K_ARG_IN(real, u) … K_END.
 * (OpenCL compilers refuse variadic macros, so K_KERNEL itself cannot be one.) */
static eg_status add_header(const eg_source *source, const char *written, size_t length,
                            eg_text *text)
{
    static const char *const macros[] = {"K_ARG_IN", "K_ARG_OUT", "K_ARG_INOUT", "K_ARG_VAL",
                                         "K_ARG_OP"};
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(text, "K_BEGIN(%s)", source->entry));
    for (size_t i = 0; i < source->parameter_count; i++) {
        const eg_parameter *p = &source->parameters[i];
        EG_TRY(
            eg_text_printf(text, " %s(%s, %s)", macros[p->kind], eg_type_name(p->type), p->name));
    }
    EG_TRY(eg_text_puts(text, " K_END"));
    for (size_t i = 0; i < length; i++) /* line numbers hold */
        if (written[i] == '\n') EG_TRY(eg_text_puts(text, "\n"));
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

eg_status eg_source_build(eg_context *ctx, const eg_target *target,
                          const eg_kernel_options *options, eg_source *source)
{
    static const char *const dialects[] = {"device/dialect/cpu.k.h", "device/dialect/opencl.k.h",
                                           "device/dialect/cuda.k.h"};
    eg_status status = EG_OK;
    eg_text file = eg_text_new(ctx), body = eg_text_new(ctx), seen = eg_text_new(ctx);
    eg_text header = eg_text_new(ctx);
    eg_macros macros = eg_macros_new(ctx);
    eg_declaration *d = NULL;

    *source = (eg_source){
        .text = eg_text_new(ctx), .real = options->real, .contract = !options->no_contraction};
    const char *name = options->source ? options->source : "kernel.k.c";
    if (!options->entry || strlen(options->entry) >= sizeof source->entry ||
        strlen(name) >= sizeof source->name || (!options->source && !options->text))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "a kernel needs a source and an entry with short names");
    if (options->real != EG_F64 && options->real != EG_F32)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: real is f64 or f32, not %s", name,
                       eg_type_name(options->real));
    if (options->lanes < 0 || options->rows_per_block < 0 || options->tiles_per_block < 0 ||
        options->tiles_in_turn < 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "%s: lanes, rows_per_block, tiles_per_block and tiles_in_turn are positive, "
                       "or 0 to be chosen; they are %d, %d, %d and %d",
                       name, options->lanes, options->rows_per_block, options->tiles_per_block,
                       options->tiles_in_turn);
    strcpy(source->name, name);
    strcpy(source->entry, options->entry);

    EG_TRY(check_defines(ctx, options, name));
    EG_TRY(check_tables(ctx, options, name));
    EG_TRY(eg_new(ctx, 1, &d));
    if (options->text)
        EG_TRY(eg_text_puts(&file, options->text));
    else
        EG_TRY(add_file(ctx, name, &file));
    EG_TRY(add_with_includes(ctx, name, eg_text_string(&file), file.length, &seen, 0, &body));

    int lanes = options->lanes ? options->lanes : target->lanes;
    EG_TRY(eg_macros_define_integer(&macros, "LANES", lanes));
    for (size_t i = 0; i < options->define_count; i++)
        EG_TRY(
            eg_macros_define_integer(&macros, options->defines[i].name, options->defines[i].value));
    EG_TRY(eg_declaration_read(ctx, name, body.data, body.length, options->entry, options->real,
                               &macros, d));
    memcpy(source->parameters, d->parameters, sizeof source->parameters);
    source->parameter_count = d->parameter_count;
    EG_TRY(choose_geometry(ctx, target, options, d, name, &source->geometry));

    EG_TRY(add_constants(target, options, d, &source->geometry, &source->text));
    eg_text_clear(&seen);
    EG_TRY(add_file(ctx, dialects[target->kind], &header));
    EG_TRY(add_with_includes(ctx, dialects[target->kind], eg_text_string(&header), header.length,
                             &seen, 0, &source->text));
    EG_TRY(add_defines(options, false, &source->text));
    EG_TRY(add_tables(options, &source->text));
    EG_TRY(eg_text_add(&source->text, body.data, d->header));
    EG_TRY(eg_text_puts(&source->text, eg_text_string(&d->agreed)));
    EG_TRY(add_header(source, body.data + d->header, d->header_end - d->header, &source->text));
    EG_TRY(eg_text_add(&source->text, body.data + d->header_end, body.length - d->header_end));
    if (target->kind == EG_TARGET_CPU) EG_TRY(add_cpu_entry(source, &source->text));
done:
    eg_text_free(&file);
    eg_text_free(&body);
    eg_text_free(&seen);
    eg_text_free(&header);
    eg_macros_free(&macros);
    if (d) eg_declaration_free(d);
    eg_release(ctx, &d);
    return status;
}

void eg_source_free(eg_source *source)
{
    eg_text_free(&source->text);
}
