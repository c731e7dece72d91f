/* Vectors of a linear system: their layout, sums of fixed order, and linear combinations.
 *
 * What is done value by value is done to whole buffers in one launch: what lies between parts is
 * zero and stays so, and padding and ghosts are values like any other. Sums are one launch for each
 * part, one to finish, and a download where the host wants them. */
#include "solver/vectors.h"

#include <math.h>

/* Rows of a launch's tile; also the rows of threads that add. */
enum { ROWS = 8 };

static eg_status create_kernel(const eg_vectors *vectors, const char *entry, int lanes,
                               bool weighted, int terms, eg_kernel **out)
{
    const eg_device_info *info = eg_device_get_info(vectors->device);
    const eg_define defines[] = {{"ROWS", ROWS}, {"WEIGHTED", weighted}, {"TERMS", terms}};
    return eg_kernel_create(vectors->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "solver/vectors.k.c",
                                                 .entry = entry,
                                                 .real = vectors->type,
                                                 .lanes = lanes,
                                                 .rows_per_block = info->is_gpu ? ROWS : 0,
                                                 .tiles_per_block = 1,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

/* Into how many blocks sums are divided. On a CPU they must outnumber any sensible number of threads, whatever it is,
 * but for vectors that are too short to be shared: of those each block costs more than its values. */
static int count_blocks(const eg_vectors *vectors)
{
    enum { MOST = 256, ROWS_AT_LEAST = 64 };
    const eg_device_info *info = eg_device_get_info(vectors->device);
    int64_t rows = 0;
    if (info->is_gpu) return 8 * info->compute_units;
    for (int i = 0; i < vectors->part_count; i++) {
        const int64_t own = vectors->parts[i].tiles * vectors->parts[i].rows;
        rows = own > rows ? own : rows;
    }
    const int64_t blocks = (rows + ROWS_AT_LEAST - 1) / ROWS_AT_LEAST;
    return blocks < 1 ? 1 : blocks < MOST ? (int)blocks : MOST;
}

/* What sums need, once the parts are known. */
static eg_status create_buffers(eg_vectors *vectors)
{
    eg_status status = EG_OK;
    vectors->blocks = count_blocks(vectors);
    const size_t partial =
        (size_t)EG_VECTOR_TERMS * (size_t)(vectors->part_count * vectors->blocks);
    EG_TRY(eg_buffer_create(vectors->device, EG_F64, partial, &vectors->partial));
    EG_TRY(eg_buffer_create(vectors->device, EG_F64, EG_VECTOR_TERMS, &vectors->sums));
done:
    return status;
}

static eg_status create_kernels(eg_vectors *vectors)
{
    eg_status status = EG_OK;
    for (int i = 0; i < vectors->part_count; i++) {
        eg_vector_part *part = &vectors->parts[i];
        const bool weighted = part->weight != NULL;
        EG_TRY(create_kernel(vectors, "dots", part->lanes, weighted, 1, &part->dots));
        EG_TRY(create_kernel(vectors, "advance", part->lanes, weighted, 1, &part->advance));
    }
    EG_TRY(create_kernel(vectors, "finish", 0, false, 1, &vectors->finish));
    EG_TRY(create_kernel(vectors, "multiply", 0, false, 1, &vectors->multiply));
    EG_TRY(create_kernel(vectors, "narrow", 0, false, 1, &vectors->narrow));
    EG_TRY(create_kernel(vectors, "widen", 0, false, 1, &vectors->widen));
    EG_TRY(create_kernel(vectors, "scale", 0, false, 1, &vectors->scale));
    EG_TRY(create_kernel(vectors, "smooth", 0, false, 1, &vectors->smooth));
    for (int i = 0; i < EG_VECTOR_TERMS; i++)
        EG_TRY(create_kernel(vectors, "add", 0, false, i + 1, &vectors->add[i]));
done:
    return status;
}

static void borrow_kernels(eg_vectors *vectors, const eg_vectors *like)
{
    vectors->borrows = true;
    vectors->parts[0].dots = like->parts[0].dots;
    vectors->parts[0].advance = like->parts[0].advance;
    vectors->finish = like->finish;
    vectors->multiply = like->multiply;
    vectors->narrow = like->narrow;
    vectors->widen = like->widen;
    vectors->scale = like->scale;
    vectors->smooth = like->smooth;
    for (int i = 0; i < EG_VECTOR_TERMS; i++)
        vectors->add[i] = like->add[i];
}

static eg_status allocate(eg_device *device, eg_comm *comm, eg_type type, int parts,
                          eg_vectors **out)
{
    eg_context *ctx = eg_device_context(device);
    eg_vectors *vectors = NULL;
    eg_status status = EG_OK;
    if (type != EG_F64 && type != EG_F32)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "vectors hold f64 or f32, not %s",
                       eg_type_name(type));
    if (!eg_device_get_info(device)->has_f64)
        return eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "sums of vectors are taken in double precision, which %s (%s) does not have",
                       eg_device_get_info(device)->spec, eg_device_get_info(device)->name);
    EG_TRY(eg_new(ctx, 1, &vectors));
    *vectors = (eg_vectors){.device = device, .comm = comm, .type = type, .part_count = parts};
    EG_TRY(eg_new(ctx, (size_t)parts, &vectors->parts));
    *out = vectors;
    vectors = NULL;
done:
    eg_vectors_destroy(&vectors);
    return status;
}

/* All that needs no other rank. */
static eg_status create_of_space(const eg_space *space, int components, eg_type type,
                                 eg_vectors **out)
{
    eg_vectors *vectors = NULL;
    size_t *offset = NULL;
    eg_status status = EG_OK;
    EG_TRY(allocate(space->device, space->comm, type, space->group_count, &vectors));
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count + 1, &offset));
    eg_space_offsets(space, components, offset);
    vectors->count = offset[space->group_count] + EG_OFFSET_BLOCK;
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        const int rows = components * g->element->np;
        vectors->parts[i] =
            (eg_vector_part){.offset = offset[i],
                             .tiles = g->own_tiles,
                             .rows = rows,
                             .lanes = g->lanes,
                             .weight = g->weight,
                             .values = (size_t)g->tiles * (size_t)(rows * g->lanes)};
    }
    EG_TRY(create_buffers(vectors));
    EG_TRY(create_kernels(vectors));
    *out = vectors;
    vectors = NULL;
done:
    eg_release(space->ctx, &offset);
    eg_vectors_destroy(&vectors);
    return status;
}

eg_status eg_vectors_create(const eg_space *space, int components, eg_type type, eg_vectors **out)
{
    *out = NULL;
    eg_status status = eg_comm_agree(space->comm, create_of_space(space, components, type, out));
    if (status != EG_OK) eg_vectors_destroy(out);
    return status;
}

/* like: NULL, or whose kernels to borrow. */
static eg_status create_plain(eg_device *device, eg_comm *comm, eg_type type, size_t count,
                              const eg_vectors *like, eg_vectors **out)
{
    const int lanes = eg_device_get_info(device)->lanes;
    eg_vectors *vectors = NULL;
    eg_status status = EG_OK;
    EG_TRY(allocate(device, comm, type, 1, &vectors));
    const size_t blocks = (count + EG_OFFSET_BLOCK - 1) / EG_OFFSET_BLOCK;
    vectors->count = (blocks ? blocks : 1) * EG_OFFSET_BLOCK;
    vectors->parts[0] = (eg_vector_part){.tiles = (int64_t)(vectors->count / (size_t)lanes),
                                         .rows = 1,
                                         .lanes = lanes,
                                         .values = count};
    EG_TRY(create_buffers(vectors));
    if (like)
        borrow_kernels(vectors, like);
    else
        EG_TRY(create_kernels(vectors));
    *out = vectors;
    vectors = NULL;
done:
    eg_vectors_destroy(&vectors);
    return status;
}

eg_status eg_vectors_create_plain(eg_device *device, eg_comm *comm, eg_type type, size_t count,
                                  eg_vectors **out)
{
    *out = NULL;
    eg_status status = create_plain(device, comm, type, count, NULL, out);
    if (comm) status = eg_comm_agree(comm, status);
    if (status != EG_OK) eg_vectors_destroy(out);
    return status;
}

eg_status eg_vectors_create_like(const eg_vectors *like, size_t count, eg_vectors **out)
{
    *out = NULL;
    return create_plain(like->device, NULL, like->type, count, like, out);
}

static void destroy_kernels(eg_vectors *vectors)
{
    for (int i = 0; i < EG_VECTOR_TERMS; i++)
        eg_kernel_destroy(&vectors->add[i]);
    eg_kernel_destroy(&vectors->smooth);
    eg_kernel_destroy(&vectors->scale);
    eg_kernel_destroy(&vectors->widen);
    eg_kernel_destroy(&vectors->narrow);
    eg_kernel_destroy(&vectors->multiply);
    eg_kernel_destroy(&vectors->finish);
    for (int i = 0; vectors->parts && i < vectors->part_count; i++) {
        eg_kernel_destroy(&vectors->parts[i].advance);
        eg_kernel_destroy(&vectors->parts[i].dots);
    }
}

void eg_vectors_destroy(eg_vectors **handle)
{
    if (!handle || !*handle) return;
    eg_vectors *vectors = *handle;
    eg_context *ctx = eg_device_context(vectors->device);
    eg_buffer_destroy(&vectors->sums);
    eg_buffer_destroy(&vectors->partial);
    if (!vectors->borrows) destroy_kernels(vectors);
    eg_release(ctx, &vectors->parts);
    eg_release(ctx, handle);
}

eg_status eg_vectors_new(const eg_vectors *vectors, eg_buffer **out)
{
    const double zero = 0.0; /* the same bytes as a float's */
    eg_status status = eg_buffer_create(vectors->device, vectors->type, vectors->count, out);
    return status == EG_OK ? eg_buffer_fill(*out, 0, vectors->count, &zero) : status;
}

/* --- sums ------------------------------------------------------------------------------------- */

static int64_t chunk_of(const eg_vectors *vectors, const eg_vector_part *part)
{
    return (part->tiles + vectors->blocks - 1) / vectors->blocks;
}

static eg_status finish(eg_vectors *vectors, int count, eg_buffer *result, size_t first)
{
    return eg_launch(vectors->finish, count,
                     EG_INTEGER("count", vectors->part_count * vectors->blocks),
                     EG_INTEGER("first", (int64_t)first), EG_BUFFER("partial", vectors->partial),
                     EG_BUFFER("result", result));
}

/* Brings the first `count` of `sums` to the host and adds them over the ranks. */
static eg_status fetch(eg_vectors *vectors, int count, double *sums)
{
    eg_status status = eg_buffer_download(vectors->sums, 0, (size_t)count, sums);
    if (status == EG_OK && vectors->comm) status = eg_comm_sum(vectors->comm, (size_t)count, sums);
    return status;
}

eg_status eg_vectors_dots_queued(eg_vectors *vectors, int count, const eg_vector_pair *pairs,
                                 eg_buffer *result, size_t first)
{
    static const char *const names[EG_VECTOR_TERMS][2] = {
        {"x0", "y0"}, {"x1", "y1"}, {"x2", "y2"}, {"x3", "y3"}};
    eg_status status = EG_OK;
    if (count < 1 || count > EG_VECTOR_TERMS)
        return eg_fail(eg_device_context(vectors->device), EG_ERROR_ARGUMENT,
                       "%d dot products at once; 1 to %d are possible", count, EG_VECTOR_TERMS);
    for (int i = 0; i < vectors->part_count; i++) {
        const eg_vector_part *part = &vectors->parts[i];
        eg_argument arguments[8 + 2 * EG_VECTOR_TERMS] = {
            EG_INTEGER("tiles", part->tiles),
            EG_INTEGER("chunk", chunk_of(vectors, part)),
            EG_INTEGER("rows", part->rows),
            EG_INTEGER("count", count),
            EG_INTEGER("to", (int64_t)i * vectors->blocks),
            EG_INTEGER("stride", (int64_t)vectors->part_count * vectors->blocks),
            EG_BUFFER("weight", part->weight ? part->weight : vectors->sums)};
        size_t n = 7;
        for (int k = 0; k < EG_VECTOR_TERMS; k++) {
            const eg_vector_pair *pair = &pairs[k < count ? k : 0]; /* unused ones: any */
            arguments[n++] = EG_BUFFER_AT(names[k][0], pair->x, part->offset);
            arguments[n++] = EG_BUFFER_AT(names[k][1], pair->y, part->offset);
        }
        arguments[n++] = EG_BUFFER("partial", vectors->partial);
        EG_TRY(eg_launch_tiles(part->dots, 0, vectors->blocks, arguments, n));
    }
    EG_TRY(finish(vectors, count, result, first));
done:
    return status;
}

eg_status eg_vectors_dots(eg_vectors *vectors, int count, const eg_vector_pair *pairs, double *sums)
{
    eg_status status = eg_vectors_dots_queued(vectors, count, pairs, vectors->sums, 0);
    return status == EG_OK ? fetch(vectors, count, sums) : status;
}

eg_status eg_vectors_norm(eg_vectors *vectors, eg_buffer *x, double *norm)
{
    eg_status status = eg_vectors_dots(vectors, 1, &(eg_vector_pair){x, x}, norm);
    *norm = sqrt(*norm);
    return status;
}

eg_status eg_vectors_advance(eg_vectors *vectors, double a, eg_buffer *p, eg_buffer *q,
                             eg_buffer *x, eg_buffer *r, double *square)
{
    eg_status status = EG_OK;
    for (int i = 0; i < vectors->part_count; i++) {
        const eg_vector_part *part = &vectors->parts[i];
        const size_t at = part->offset;
        EG_TRY(
            eg_launch(part->advance, vectors->blocks, EG_INTEGER("tiles", part->tiles),
                      EG_INTEGER("chunk", chunk_of(vectors, part)), EG_INTEGER("rows", part->rows),
                      EG_INTEGER("to", (int64_t)i * vectors->blocks), EG_REAL("a", a),
                      EG_BUFFER("weight", part->weight ? part->weight : vectors->sums),
                      EG_BUFFER_AT("p", p, at), EG_BUFFER_AT("q", q, at), EG_BUFFER_AT("x", x, at),
                      EG_BUFFER_AT("r", r, at), EG_BUFFER("partial", vectors->partial)));
    }
    EG_TRY(finish(vectors, 1, vectors->sums, 0));
    EG_TRY(fetch(vectors, 1, square));
done:
    return status;
}

/* --- value by value --------------------------------------------------------------------------- */

static int64_t row_count(const eg_vectors *vectors, const eg_kernel *kernel)
{
    return (int64_t)vectors->count / eg_kernel_lanes(kernel);
}

static int64_t launch_tiles(int64_t rows)
{
    return (rows + ROWS - 1) / ROWS;
}

static eg_status add_few(const eg_vectors *vectors, double b, eg_buffer *y, int count,
                         const double *a, eg_buffer *const *x)
{
    static const char *const names[EG_VECTOR_TERMS][2] = {
        {"a0", "x0"}, {"a1", "x1"}, {"a2", "x2"}, {"a3", "x3"}};
    eg_kernel *kernel = vectors->add[count - 1];
    const int64_t rows = row_count(vectors, kernel);
    eg_argument arguments[3 + 2 * EG_VECTOR_TERMS] = {EG_INTEGER("rows", rows), EG_REAL("b", b)};
    size_t n = 2;
    for (int k = 0; k < EG_VECTOR_TERMS; k++)
        arguments[n++] = EG_REAL(names[k][0], k < count ? a[k] : 0.0);
    for (int k = 0; k < EG_VECTOR_TERMS; k++)
        arguments[n++] = EG_BUFFER(names[k][1], x[k < count ? k : 0]);
    arguments[n++] = EG_BUFFER("y", y);
    return eg_launch_tiles(kernel, 0, launch_tiles(rows), arguments, n);
}

eg_status eg_vectors_add(const eg_vectors *vectors, double b, eg_buffer *y, int count,
                         const double *a, eg_buffer *const *x)
{
    eg_status status = EG_OK;
    for (int k = 0; k < count; k += EG_VECTOR_TERMS) {
        const int few = count - k < EG_VECTOR_TERMS ? count - k : EG_VECTOR_TERMS;
        EG_TRY(add_few(vectors, k ? 1.0 : b, y, few, a + k, x + k));
    }
done:
    return status;
}

eg_status eg_vectors_scale(const eg_vectors *vectors, double b, eg_buffer *y)
{
    const int64_t rows = row_count(vectors, vectors->scale);
    return eg_launch(vectors->scale, launch_tiles(rows), EG_INTEGER("rows", rows), EG_REAL("b", b),
                     EG_BUFFER("y", y));
}

eg_status eg_vectors_smooth(const eg_vectors *vectors, double a, double c, eg_buffer *z,
                            eg_buffer *d, double keep, double w, eg_buffer *x)
{
    const int64_t rows = row_count(vectors, vectors->smooth);
    return eg_launch(vectors->smooth, launch_tiles(rows), EG_INTEGER("rows", rows), EG_REAL("a", a),
                     EG_REAL("c", c), EG_REAL("keep", keep), EG_REAL("w", w), EG_BUFFER("z", z),
                     EG_BUFFER("d", d), EG_BUFFER("x", x));
}

eg_status eg_vectors_multiply(const eg_vectors *vectors, eg_buffer *a, eg_buffer *x, eg_buffer *y)
{
    const int64_t rows = row_count(vectors, vectors->multiply);
    return eg_launch(vectors->multiply, launch_tiles(rows), EG_INTEGER("rows", rows),
                     EG_BUFFER("a", a), EG_BUFFER("x", x), EG_BUFFER("y", y));
}

eg_status eg_vectors_copy(const eg_vectors *vectors, eg_buffer *x, eg_buffer *y)
{
    return eg_buffer_copy(y, 0, x, 0, vectors->count);
}

eg_status eg_vectors_fill(const eg_vectors *vectors, double value, eg_buffer *x)
{
    const float single = (float)value;
    const void *bytes = vectors->type == EG_F64 ? (const void *)&value : (const void *)&single;
    eg_status status = EG_OK;
    for (int i = 0; i < vectors->part_count; i++)
        EG_TRY(eg_buffer_fill(x, vectors->parts[i].offset, vectors->parts[i].values, bytes));
done:
    return status;
}

eg_status eg_vectors_fill_random(const eg_vectors *vectors, uint64_t seed, eg_buffer *x)
{
    eg_context *ctx = eg_device_context(vectors->device);
    char *host = NULL;
    eg_status status = EG_OK;
    for (int i = 0; i < vectors->part_count; i++) {
        const eg_vector_part *part = &vectors->parts[i];
        EG_TRY(eg_allocate(ctx, part->values * eg_type_size(vectors->type), (void **)&host));
        for (size_t k = 0; k < part->values; k++) {
            uint64_t z = seed += 0x9e3779b97f4a7c15u; /* splitmix64 */
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
            z = (z ^ z >> 27) * 0x94d049bb133111ebu;
            const double value = (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1.0;
            if (vectors->type == EG_F64)
                ((double *)host)[k] = value;
            else
                ((float *)host)[k] = (float)value;
        }
        EG_TRY(eg_buffer_upload(x, part->offset, part->values, host));
        eg_release(ctx, &host);
    }
done:
    eg_release(ctx, &host);
    return status;
}

eg_status eg_vectors_convert(const eg_vectors *vectors, eg_buffer *from, eg_buffer *to)
{
    eg_kernel *kernel = eg_buffer_type(from) == EG_F64 ? vectors->narrow : vectors->widen;
    const int64_t rows = row_count(vectors, kernel);
    return eg_launch(kernel, launch_tiles(rows), EG_INTEGER("rows", rows), EG_BUFFER("x", from),
                     EG_BUFFER("y", to));
}
