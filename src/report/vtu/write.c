/* Writes VTU: one <Piece> of Lagrange cells, all arrays in blocks of their own behind the XML,
 * compressed by zlib [vtkformats].
 *
 * Points stand as the cells have them, so that the connectivity is 0, 1, 2, …. Arrays are made block
 * by block: what is in memory beside the snapshot is the file itself, compressed.
 *
 * The pieces of several ranks are written beside their final names first. Only when all ranks have
 * succeeded are they renamed: a disk that fills up leaves what was there before. */
#define _POSIX_C_SOURCE 200809L
#include "report/vtu/vtu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/vtu/file.h"

#ifdef EG_HAVE_ZLIB

#include <zlib.h>

#define PIECE_NAME "_%04d.vtu" /* behind the base: of a rank */
#define BLOCK_BYTES ((size_t)1 << 20)
#define LEVEL 1 /* of compression: higher ones take much longer for little */

/* What is being written. */
typedef struct writer {
    const eg_snapshot *s;
    int rank;
    int64_t *node;         /* [node_count] the snapshot's node that is this point; owned */
    unsigned char *block;  /* [BLOCK_BYTES] owned */
    unsigned char *packed; /* [packed_most] owned */
    uLong packed_most;
    eg_text data;  /* the arrays */
    eg_text *head; /* what is in front of them, then the whole file; not owned */
} writer;

/* An array; `fill` puts its values [first, first + count) into `out`. */
typedef struct column column;
struct column {
    const char *type, *name;
    size_t bytes; /* of a value */
    int components;
    int64_t count; /* of values */
    void (*fill)(const writer *w, const column *c, int64_t first, int64_t count, void *out);
    const eg_snapshot_array *array; /* of a field */
};

/* --- values ---------------------------------------------------------------------------------- */

static void fill_time(const writer *w, const column *c, int64_t first, int64_t count, void *out)
{
    (void)c;
    (void)first;
    (void)count;
    memcpy(out, &w->s->time, sizeof w->s->time);
}

static void fill_step(const writer *w, const column *c, int64_t first, int64_t count, void *out)
{
    (void)c;
    (void)first;
    (void)count;
    memcpy(out, &w->s->step, sizeof w->s->step);
}

static void fill_field(const writer *w, const column *c, int64_t first, int64_t count, void *out)
{
    double *to = out;
    for (int64_t i = 0; i < count; i++)
        to[i] = c->array->values[w->node[first + i]];
}

/* Points have three coordinates in any case. */
static void fill_points(const writer *w, const column *c, int64_t first, int64_t count, void *out)
{
    (void)c;
    double *to = out;
    const int dim = w->s->dim;
    for (int64_t i = 0; i < count; i++) {
        const int64_t point = (first + i) / 3;
        const int d = (int)((first + i) % 3);
        to[i] = d < dim ? w->s->x[w->node[point] * dim + d] : 0;
    }
}

static void fill_connectivity(const writer *w, const column *c, int64_t first, int64_t count,
                              void *out)
{
    (void)w;
    (void)c;
    int64_t *to = out;
    for (int64_t i = 0; i < count; i++)
        to[i] = first + i;
}

static void fill_offsets(const writer *w, const column *c, int64_t first, int64_t count, void *out)
{
    (void)c;
    memcpy(out, w->s->first_node + first + 1, (size_t)count * sizeof(int64_t));
}

static void fill_types(const writer *w, const column *c, int64_t first, int64_t count, void *out)
{
    (void)c;
    unsigned char *to = out;
    for (int64_t i = 0; i < count; i++)
        to[i] = (unsigned char)eg_lagrange_cell((eg_shape)w->s->shape[first + i]);
}

static void fill_element(const writer *w, const column *c, int64_t first, int64_t count, void *out)
{
    (void)c;
    memcpy(out, w->s->global + first, (size_t)count * sizeof(int64_t));
}

static void fill_degree(const writer *w, const column *c, int64_t first, int64_t count, void *out)
{
    (void)c;
    int32_t *to = out;
    const uint8_t *degree = w->s->value_degree ? w->s->value_degree : w->s->degree;
    for (int64_t i = 0; i < count; i++)
        to[i] = degree[first + i];
}

static void fill_rank(const writer *w, const column *c, int64_t first, int64_t count, void *out)
{
    (void)c;
    (void)first;
    int32_t *to = out;
    for (int64_t i = 0; i < count; i++)
        to[i] = w->rank;
}

/* --- arrays ---------------------------------------------------------------------------------- */

static eg_status put_head(writer *w, const char *text)
{
    return eg_text_puts(w->head, text);
}

/* Compresses the block [bytes] behind the data; *packed is how long it became. */
static eg_status put_block(writer *w, size_t bytes, uint64_t *packed)
{
    uLong length = w->packed_most;
    const int result = compress2(w->packed, &length, w->block, (uLong)bytes, LEVEL);
    if (result != Z_OK)
        return eg_fail(w->s->ctx, EG_ERROR_MEMORY, "zlib cannot compress %zu bytes: error %d",
                       bytes, result);
    *packed = length;
    return eg_text_add(&w->data, (const char *)w->packed, length);
}

/* Adds an array's blocks, and in front of them their number and sizes. */
static eg_status put_data(writer *w, const column *c)
{
    const uint64_t total = (uint64_t)c->count * c->bytes;
    const uint64_t blocks = (total + BLOCK_BYTES - 1) / BLOCK_BYTES;
    const uint64_t sizes[3] = {blocks, BLOCK_BYTES, total % BLOCK_BYTES};
    const size_t table = w->data.length + sizeof sizes; /* where the sizes of packed blocks stand */
    const int64_t values = (int64_t)(BLOCK_BYTES / c->bytes);
    eg_status status = EG_OK;
    uint64_t packed = 0;
    EG_TRY(eg_text_add(&w->data, (const char *)sizes, sizeof sizes));
    for (uint64_t b = 0; b < blocks; b++)
        EG_TRY(eg_text_add(&w->data, (const char *)&packed, sizeof packed));
    for (uint64_t b = 0; b < blocks; b++) {
        const int64_t first = (int64_t)b * values, left = c->count - first;
        const int64_t count = left < values ? left : values;
        c->fill(w, c, first, count, w->block);
        EG_TRY(put_block(w, (size_t)count * c->bytes, &packed));
        memcpy(w->data.data + table + b * sizeof packed, &packed, sizeof packed);
    }
done:
    return status;
}

/* Ends the tag of an array, with its unit within. */
static eg_status put_unit(eg_text *out, const char *unit, const char *element)
{
    eg_status status = EG_OK;
    if (!unit) return eg_text_puts(out, "/>\n");
    EG_TRY(eg_text_puts(out, ">\n          <InformationKey name=\"UNITS_LABEL\" "
                             "location=\"vtkDataArray\">"));
    EG_TRY(eg_xml_put(out, unit));
    EG_TRY(eg_text_printf(out, "</InformationKey>\n        </%s>\n", element));
done:
    return status;
}

/* Adds an array: its values, and its element. */
static eg_status put_array(writer *w, const column *c)
{
    eg_status status = EG_OK;
    const char *unit = c->array ? c->array->unit : NULL;
    EG_TRY(eg_text_printf(w->head, "        <DataArray type=\"%s\" Name=\"", c->type));
    EG_TRY(eg_xml_put(w->head, c->name));
    EG_TRY(put_head(w, "\""));
    if (c->components == 0) EG_TRY(put_head(w, " NumberOfTuples=\"1\""));
    if (c->components > 1)
        EG_TRY(eg_text_printf(w->head, " NumberOfComponents=\"%d\"", c->components));
    EG_TRY(eg_text_printf(w->head, " format=\"appended\" offset=\"%zu\"", w->data.length));
    EG_TRY(put_unit(w->head, unit, "DataArray"));
    EG_TRY(put_data(w, c));
done:
    return status;
}

static eg_status put_arrays(writer *w, const char *element, const column *columns, size_t count)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(w->head, "      <%s>\n", element));
    for (size_t i = 0; i < count; i++)
        EG_TRY(put_array(w, &columns[i]));
    EG_TRY(eg_text_printf(w->head, "      </%s>\n", element));
done:
    return status;
}

static eg_status put_fields(writer *w, int64_t nodes)
{
    eg_status status = EG_OK;
    EG_TRY(put_head(w, "      <PointData>\n"));
    for (int i = 0; i < w->s->array_count; i++)
        EG_TRY(put_array(w, &(column){.type = "Float64",
                                      .name = w->s->arrays[i].name,
                                      .bytes = sizeof(double),
                                      .components = 1,
                                      .count = nodes,
                                      .fill = fill_field,
                                      .array = &w->s->arrays[i]}));
    EG_TRY(put_head(w, "      </PointData>\n"));
done:
    return status;
}

/* --- a file ---------------------------------------------------------------------------------- */

/* The first tag of a file. */
static eg_status put_first_tag(eg_text *out, const char *type)
{
    const uint16_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    return eg_text_printf(out,
                          "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"2.1\" "
                          "byte_order=\"%sEndian\" header_type=\"UInt64\" "
                          "compressor=\"vtkZLibDataCompressor\">\n  <%s%s>\n",
                          type, low ? "Little" : "Big", type,
                          type[0] == 'P' ? " GhostLevel=\"0\"" : "");
}

static eg_status put_piece(writer *w)
{
    eg_status status = EG_OK;
    const int64_t cells = w->s->element_count, nodes = w->s->first_node[cells];
    const column times[] = {{"Float64", "TimeValue", 8, 0, 1, fill_time, NULL},
                            {"Int64", "CYCLE", 8, 0, 1, fill_step, NULL}};
    const column numbers[] = {{"Int64", "element", 8, 1, cells, fill_element, NULL},
                              {"Int32", "degree", 4, 1, cells, fill_degree, NULL},
                              {"Int32", "rank", 4, 1, cells, fill_rank, NULL}};
    const column points[] = {{"Float64", "Points", 8, 3, 3 * nodes, fill_points, NULL}};
    const column topology[] = {{"Int64", "connectivity", 8, 1, nodes, fill_connectivity, NULL},
                               {"Int64", "offsets", 8, 1, cells, fill_offsets, NULL},
                               {"UInt8", "types", 1, 1, cells, fill_types, NULL}};
    EG_TRY(put_first_tag(w->head, "UnstructuredGrid"));
    EG_TRY(put_arrays(w, "FieldData", times, EG_COUNT(times)));
    EG_TRY(eg_text_printf(w->head, "    <Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
                          (long long)nodes, (long long)cells));
    EG_TRY(put_fields(w, nodes));
    EG_TRY(put_arrays(w, "CellData", numbers, EG_COUNT(numbers)));
    EG_TRY(put_arrays(w, "Points", points, EG_COUNT(points)));
    EG_TRY(put_arrays(w, "Cells", topology, EG_COUNT(topology)));
    EG_TRY(
        put_head(w, "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_"));
    EG_TRY(eg_text_add(w->head, eg_text_string(&w->data), w->data.length));
    EG_TRY(put_head(w, "\n  </AppendedData>\n</VTKFile>\n"));
done:
    return status;
}

/* Finds which node each point is. */
static eg_status order_points(writer *w)
{
    eg_status status = EG_OK;
    const eg_snapshot *s = w->s;
    eg_lagrange_orders orders = {.ctx = s->ctx, .version = EG_LAGRANGE_21};
    EG_TRY(eg_new(s->ctx, (size_t)s->first_node[s->element_count], &w->node));
    for (int32_t e = 0; e < s->element_count; e++) {
        const int *order;
        EG_TRY(eg_lagrange_find(&orders, (eg_shape)s->shape[e], s->degree[e], &order));
        for (int64_t i = s->first_node[e]; i < s->first_node[e + 1]; i++)
            w->node[i] = s->first_node[e] + order[i - s->first_node[e]];
    }
done:
    eg_lagrange_free(&orders);
    return status;
}

eg_status eg_vtu_put(const eg_snapshot *s, int rank, eg_text *out)
{
    eg_status status = EG_OK;
    writer w = {.s = s,
                .rank = rank,
                .packed_most = compressBound((uLong)BLOCK_BYTES),
                .data = eg_text_new(s->ctx),
                .head = out};
    EG_TRY(eg_new(s->ctx, BLOCK_BYTES, &w.block));
    EG_TRY(eg_new(s->ctx, w.packed_most, &w.packed));
    EG_TRY(order_points(&w));
    EG_TRY(put_piece(&w));
done:
    eg_text_free(&w.data);
    eg_release(s->ctx, &w.node);
    eg_release(s->ctx, &w.block);
    eg_release(s->ctx, &w.packed);
    return status;
}

static eg_status write_piece(const eg_snapshot *s, int rank, const char *path)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(s->ctx);
    EG_TRY(eg_vtu_put(s, rank, &text));
    EG_TRY(eg_file_write_atomic(s->ctx, path, text.data, text.length, 0666, false));
done:
    eg_text_free(&text);
    return status;
}

/* --- several files --------------------------------------------------------------------------- */

/* Writes the file that names the pieces of all ranks. */
static eg_status write_index(const eg_snapshot *s, int ranks, const char *base, const char *path)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(s->ctx);
    const char *slash = strrchr(base, '/');
    EG_TRY(put_first_tag(&text, "PUnstructuredGrid"));
    EG_TRY(eg_text_puts(&text, "      <PPointData>\n"));
    for (int i = 0; i < s->array_count; i++) {
        EG_TRY(eg_text_puts(&text, "        <PDataArray type=\"Float64\" Name=\""));
        EG_TRY(eg_xml_put(&text, s->arrays[i].name));
        EG_TRY(eg_text_puts(&text, "\""));
        EG_TRY(put_unit(&text, s->arrays[i].unit, "PDataArray"));
    }
    EG_TRY(eg_text_puts(&text, "      </PPointData>\n"
                               "      <PCellData>\n"
                               "        <PDataArray type=\"Int64\" Name=\"element\"/>\n"
                               "        <PDataArray type=\"Int32\" Name=\"degree\"/>\n"
                               "        <PDataArray type=\"Int32\" Name=\"rank\"/>\n"
                               "      </PCellData>\n"
                               "      <PPoints>\n"
                               "        <PDataArray type=\"Float64\" Name=\"Points\" "
                               "NumberOfComponents=\"3\"/>\n"
                               "      </PPoints>\n"));
    for (int rank = 0; rank < ranks; rank++) {
        EG_TRY(eg_text_puts(&text, "    <Piece Source=\""));
        EG_TRY(eg_xml_put(&text, slash ? slash + 1 : base));
        EG_TRY(eg_text_printf(&text, PIECE_NAME "\"/>\n", rank));
    }
    EG_TRY(eg_text_puts(&text, "  </PUnstructuredGrid>\n</VTKFile>\n"));
    EG_TRY(eg_file_write_atomic(s->ctx, path, text.data, text.length, 0666, false));
done:
    eg_text_free(&text);
    return status;
}

static eg_status rename_file(eg_context *ctx, const char *from, const char *to)
{
    if (rename(from, to) == 0) return EG_OK;
    return eg_fail(ctx, EG_ERROR_IO, "cannot rename the finished file to %s: %s", to,
                   strerror(errno));
}

/* Every rank comes to each agreement, whatever has failed before. */
static eg_status write_pieces(const eg_snapshot *s, eg_comm *comm, const char *base,
                              const char *path)
{
    const int rank = eg_comm_rank(comm);
    eg_text name = eg_text_new(s->ctx), new_name = eg_text_new(s->ctx);
    eg_status status = eg_text_printf(&name, "%s" PIECE_NAME, base, rank);
    bool written = false;
    if (status == EG_OK) status = eg_text_printf(&new_name, "%s.new", name.data);
    if (status == EG_OK) status = write_piece(s, rank, new_name.data);
    written = status == EG_OK;
    status = eg_comm_agree(comm, status);
    if (status == EG_OK) {
        status = rename_file(s->ctx, new_name.data, name.data);
        written = status != EG_OK;
        status = eg_comm_agree(comm, status);
    }
    if (written) unlink(new_name.data);
    if (status == EG_OK)
        status =
            eg_comm_agree(comm, rank == 0 ? write_index(s, eg_comm_size(comm), base, path) : EG_OK);
    eg_text_free(&name);
    eg_text_free(&new_name);
    return status;
}

eg_status eg_vtu_write(const eg_snapshot *snapshot, eg_comm *comm, const char *base, char **path)
{
    eg_status status = EG_OK;
    eg_text name = eg_text_new(snapshot->ctx);
    char *copy = NULL;
    const bool alone = eg_comm_size(comm) == 1;
    status = eg_text_printf(&name, "%s.%s", base, alone ? "vtu" : "pvtu");
    if (status == EG_OK && path) status = eg_copy_string(snapshot->ctx, name.data, &copy);
    EG_TRY(eg_comm_agree(comm, status));
    if (alone)
        EG_TRY(write_piece(snapshot, 0, name.data));
    else
        EG_TRY(write_pieces(snapshot, comm, base, name.data));
    if (path) *path = copy;
    copy = NULL;
done:
    eg_release(snapshot->ctx, &copy);
    eg_text_free(&name);
    return status;
}

#else

eg_status eg_vtu_put(const eg_snapshot *s, int rank, eg_text *out)
{
    (void)rank;
    (void)out;
    return eg_fail(s->ctx, EG_ERROR_UNSUPPORTED,
                   "this eagre was built without zlib, so it writes no VTU files; build it with "
                   "zlib1g-dev");
}

eg_status eg_vtu_write(const eg_snapshot *snapshot, eg_comm *comm, const char *base, char **path)
{
    (void)comm;
    (void)base;
    (void)path;
    return eg_vtu_put(snapshot, 0, NULL);
}

#endif
