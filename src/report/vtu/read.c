/* Reads VTU: the pieces of a file, and of a .pvtu the files of its pieces, as one snapshot. */
#include "report/vtu/vtu.h"

#include <assert.h>
#include <string.h>

#include "case/case.h"
#include "report/vtu/file.h"

/* Snapshots that become one. */
typedef struct parts {
    eg_context *ctx;
    const char *file; /* that they are parts of, for messages */
    int count;
    eg_snapshot **at; /* [count] owned */
} parts;

static void parts_free(parts *list)
{
    for (int i = 0; i < list->count; i++)
        eg_snapshot_destroy(&list->at[i]);
    eg_release(list->ctx, &list->at);
}

static eg_status make_room(parts *list)
{
    return eg_reallocate(list->ctx, (size_t)(list->count + 1) * sizeof *list->at,
                         (void **)&list->at);
}

/* The first part that has elements: it says which arrays there are. */
static const eg_snapshot *first_part(const parts *list)
{
    for (int i = 0; i < list->count; i++)
        if (list->at[i]->element_count > 0) return list->at[i];
    return list->at[0];
}

/* Appends the arrays of the first part, with the values of all. */
static eg_status join_arrays(const parts *list, eg_snapshot *s)
{
    eg_status status = EG_OK;
    const eg_snapshot *first = first_part(list);
    char quote[EG_QUOTE_BYTES];
    for (int a = 0; a < first->array_count; a++) {
        const char *name = first->arrays[a].name;
        double *to;
        EG_TRY(eg_snapshot_append(s, name, first->arrays[a].unit, &to));
        for (int i = 0; i < list->count; i++) {
            const eg_snapshot *part = list->at[i];
            const size_t nodes = (size_t)part->first_node[part->element_count];
            const int from = eg_snapshot_find(part, name);
            if (nodes == 0) continue;
            if (from < 0)
                return eg_fail(list->ctx, EG_ERROR_INPUT,
                               "%s: error: piece %d has no array \"%s\", which another has",
                               list->file, i, eg_quote(quote, name, strlen(name)));
            memcpy(to, part->arrays[from].values, nodes * sizeof *to);
            to += nodes;
        }
    }
done:
    return status;
}

static void join_elements(const parts *list, eg_snapshot *s)
{
    int32_t e = 0;
    for (int i = 0; i < list->count; i++) {
        const eg_snapshot *part = list->at[i];
        for (int32_t k = 0; k < part->element_count; k++, e++) {
            s->shape[e] = part->shape[k];
            s->degree[e] = part->degree[k];
            s->global[e] = part->global[k];
            if (s->value_degree && part->value_degree) s->value_degree[e] = part->value_degree[k];
        }
    }
}

/* Numbers that every part counts from 0 on are no numbers of the whole. */
static void renumber(const parts *list, eg_snapshot *s)
{
    bool places = true;
    for (int i = 0; i < list->count; i++)
        for (int32_t k = 0; k < list->at[i]->element_count; k++)
            places = places && list->at[i]->global[k] == k;
    for (int32_t e = 0; places && e < s->element_count; e++)
        s->global[e] = e;
}

static eg_status join(parts *list, eg_snapshot **out)
{
    eg_status status = EG_OK;
    const eg_snapshot *first = first_part(list);
    eg_snapshot *s = NULL;
    int64_t elements = 0, node = 0;
    bool degrees = true;
    for (int i = 0; i < list->count; i++) {
        const eg_snapshot *part = list->at[i];
        elements += part->element_count;
        degrees = degrees && (part->value_degree || part->element_count == 0);
        if (part->element_count > 0 && part->dim != first->dim)
            return eg_fail(list->ctx, EG_ERROR_INPUT,
                           "%s: error: its pieces have elements of two and of three dimensions",
                           list->file);
    }
    if (elements > INT32_MAX)
        return eg_fail(list->ctx, EG_ERROR_INPUT, "%s: error: %lld elements are too many",
                       list->file, (long long)elements);
    EG_TRY(eg_snapshot_allocate(list->ctx, first->dim, (int32_t)elements, &s));
    if (degrees) EG_TRY(eg_new(list->ctx, (size_t)elements, &s->value_degree));
    join_elements(list, s);
    renumber(list, s);
    EG_TRY(eg_snapshot_place_nodes(s));
    for (int i = 0; i < list->count; i++) {
        const int64_t nodes = list->at[i]->first_node[list->at[i]->element_count];
        if (nodes > 0)
            memcpy(s->x + node * s->dim, list->at[i]->x, (size_t)(nodes * s->dim) * sizeof *s->x);
        node += nodes;
    }
    EG_TRY(join_arrays(list, s));
    s->step = list->at[0]->step;
    s->time = list->at[0]->time;
    *out = s;
    s = NULL;
done:
    eg_snapshot_destroy(&s);
    return status;
}

/* One of them as it is, several as one. */
static eg_status finish(parts *list, eg_snapshot **out)
{
    assert(list->count > 0);
    if (list->count > 1) return join(list, out);
    *out = list->at[0];
    list->count = 0;
    return EG_OK;
}

/* TimeValue and CYCLE, where <FieldData> has them. */
static eg_status take_time(eg_vtu_file *file, eg_snapshot *s)
{
    eg_status status = EG_OK;
    const eg_xml *xml = &file->xml;
    const int data = eg_xml_child(xml, file->grid, -1, "FieldData");
    const int time = data < 0 ? -1 : eg_vtu_find_array(xml, data, "TimeValue");
    const int step = data < 0 ? -1 : eg_vtu_find_array(xml, data, "CYCLE");
    double *reals = NULL;
    int64_t *integers = NULL;
    if (time >= 0) {
        EG_TRY(eg_vtu_take_reals(file, time, 1, &reals));
        s->time = reals[0];
    }
    if (step >= 0) {
        EG_TRY(eg_vtu_take_integers(file, step, 1, &integers));
        s->step = integers[0];
    }
done:
    eg_release(xml->ctx, &reals);
    eg_release(xml->ctx, &integers);
    return status;
}

eg_status eg_vtu_read_grid(eg_vtu_file *file, eg_snapshot **out)
{
    eg_status status = EG_OK;
    const eg_xml *xml = &file->xml;
    parts list = {.ctx = xml->ctx, .file = xml->file};
    int node = eg_xml_child(xml, file->grid, -1, "Piece");
    *out = NULL;
    if (node < 0) return eg_xml_fail(xml, file->grid, "<UnstructuredGrid> has no <Piece>");
    for (; node >= 0; node = eg_xml_child(xml, file->grid, node, "Piece")) {
        EG_TRY(make_room(&list));
        EG_TRY(eg_vtu_read_piece(file, node, &list.at[list.count]));
        list.count++;
    }
    EG_TRY(take_time(file, list.at[0]));
    EG_TRY(finish(&list, out));
done:
    parts_free(&list);
    return status;
}

/* --- files ----------------------------------------------------------------------------------- */

/* A file and its bytes. */
typedef struct opened {
    char *data; /* owned */
    eg_vtu_file file;
} opened;

static eg_status open_file(eg_context *ctx, const char *path, opened *out)
{
    eg_status status = EG_OK;
    size_t length;
    *out = (opened){0};
    EG_TRY(eg_case_read_file(ctx, path, &out->data, &length));
    EG_TRY(eg_vtu_open(ctx, path, out->data, length, &out->file));
    if (out->file.type == EG_VTU_SERIES)
        status = eg_xml_fail(&out->file.xml, 0, "it is a series of files; name one of these");
done:
    return status;
}

static void close_file(eg_context *ctx, opened *o)
{
    eg_vtu_close(&o->file);
    eg_release(ctx, &o->data);
}

static void release_paths(eg_context *ctx, size_t count, char ***paths)
{
    for (size_t i = 0; *paths && i < count; i++)
        eg_release(ctx, &(*paths)[i]);
    eg_release(ctx, paths);
}

/* The files that the pieces of a .pvtu name. */
static eg_status list_pieces(const eg_vtu_file *file, const char *path, size_t *count,
                             char ***files)
{
    eg_status status = EG_OK;
    const eg_xml *xml = &file->xml;
    *count = 0;
    EG_TRY(eg_new(xml->ctx, (size_t)(xml->nodes[file->grid].end - file->grid), files));
    int node = eg_xml_child(xml, file->grid, -1, "Piece");
    if (node < 0) status = eg_xml_fail(xml, file->grid, "<PUnstructuredGrid> has no <Piece>");
    for (; node >= 0; node = eg_xml_child(xml, file->grid, node, "Piece")) {
        const char *source;
        EG_TRY(eg_xml_need(xml, node, "Source", &source));
        EG_TRY(eg_xml_beside(xml->ctx, path, source, &(*files)[*count]));
        ++*count;
    }
done:
    if (status != EG_OK) release_paths(xml->ctx, *count, files);
    return status;
}

eg_status eg_vtu_pieces(eg_context *ctx, const char *path, size_t *count, char ***files)
{
    eg_status status = EG_OK;
    opened o;
    *count = 0;
    *files = NULL;
    EG_TRY(open_file(ctx, path, &o));
    if (o.file.type == EG_VTU_PIECES) {
        EG_TRY(list_pieces(&o.file, path, count, files));
    } else {
        EG_TRY(eg_new(ctx, 1, files));
        EG_TRY(eg_copy_string(ctx, path, &(*files)[0]));
        *count = 1;
    }
done:
    if (status != EG_OK) release_paths(ctx, *count, files);
    close_file(ctx, &o);
    return status;
}

static eg_status read_piece_file(eg_context *ctx, const char *path, eg_snapshot **out)
{
    eg_status status = EG_OK;
    opened o;
    EG_TRY(open_file(ctx, path, &o));
    if (o.file.type != EG_VTU_GRID)
        status = eg_xml_fail(&o.file.xml, 0, "a piece must be of type \"UnstructuredGrid\"");
    else
        status = eg_vtu_read_grid(&o.file, out);
done:
    close_file(ctx, &o);
    return status;
}

static eg_status read_pieces(const eg_vtu_file *file, const char *path, eg_snapshot **out)
{
    eg_status status = EG_OK;
    eg_context *ctx = file->xml.ctx;
    parts list = {.ctx = ctx, .file = path};
    char **files = NULL;
    size_t count = 0;
    EG_TRY(list_pieces(file, path, &count, &files));
    for (size_t i = 0; i < count; i++) {
        EG_TRY(make_room(&list));
        EG_TRY(read_piece_file(ctx, files[i], &list.at[list.count]));
        list.count++;
    }
    EG_TRY(finish(&list, out));
done:
    release_paths(ctx, count, &files);
    parts_free(&list);
    return status;
}

eg_status eg_vtu_read(eg_context *ctx, const char *path, eg_snapshot **out)
{
    eg_status status = EG_OK;
    opened o;
    *out = NULL;
    EG_TRY(open_file(ctx, path, &o));
    status = o.file.type == EG_VTU_PIECES ? read_pieces(&o.file, path, out)
                                          : eg_vtu_read_grid(&o.file, out);
done:
    close_file(ctx, &o);
    return status;
}
