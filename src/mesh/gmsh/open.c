/* Reads Gmsh files, versions 2.2 and 4.1, text and binary [geuzaine2009]: the order of their
 * sections, the format and the names; the other sections are in open_22.c, open_41.c and links.c.
 *
 * A file is a sequence of sections "$Name … $EndName". Those that say nothing of a mesh ($Comments,
 * $NodeData, …) are skipped. */
#include "mesh/gmsh/reader.h"

#include <math.h>
#include <string.h>

#define NAME_BYTES 512 /* of a physical group, with quotes and the NUL */

/* --- format ----------------------------------------------------------------------------------- */

/* The integer 1 as the machine wrote it that wrote the file. */
static eg_status read_endianness(eg_gmsh_reader *r)
{
    int one = 0;
    r->in.raw = true;
    eg_status status = eg_gmsh_int(&r->in, "the integer 1 of a binary file", &one);
    if (status != EG_OK || one == 1) return status;
    r->in.swapped = true;
    if (one == 1 << 24) return EG_OK;
    return eg_gmsh_fail(&r->in, "the integer 1 of a binary file does not follow: the file is not "
                                "binary, or it is damaged");
}

/* Binary files have the integer 1 where files of text go on with a line. */
static eg_status check_text(eg_gmsh_reader *r)
{
    static const char *const ones[] = {"\1\0\0", "\0\0\0\1"};
    for (size_t i = 0; i < EG_COUNT(ones); i++) {
        bool found = false;
        eg_status status = eg_gmsh_peek(&r->in, ones[i], sizeof(int32_t), &found);
        if (status != EG_OK) return status;
        if (found)
            return eg_gmsh_fail(&r->in, "the file looks binary, but its header says that it is "
                                        "text: the second number there should be 1");
    }
    return EG_OK;
}

static eg_status check_version(eg_gmsh_reader *r, double version)
{
    if (fabs(version - 2.2) < 1e-6)
        r->file->version = 22;
    else if (fabs(version - 4.1) < 1e-6)
        r->file->version = 41;
    else
        return eg_gmsh_fail(&r->in,
                            "the file has version %.3g of the format, but 2.2 and 4.1 are read: "
                            "convert it with \"gmsh %s -save -format msh41 -o new.msh\"",
                            version, r->in.name);
    return EG_OK;
}

static eg_status read_format(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    double version = 0.0;
    int binary = 0, data_bytes = 0;
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_real(&r->in, "the version of the format", &version));
    EG_TRY(check_version(r, version));
    EG_TRY(eg_gmsh_int(&r->in, "whether the file is binary", &binary));
    if (binary != 0 && binary != 1)
        return eg_gmsh_fail(&r->in, "whether the file is binary is %d: it is 0 or 1", binary);
    EG_TRY(eg_gmsh_int(&r->in, "the size of the data", &data_bytes));
    if (data_bytes != 8 && (data_bytes != 4 || r->file->version == 22))
        return eg_gmsh_fail(&r->in, "the size of the data is %d: it is 8%s", data_bytes,
                            r->file->version == 22 ? "" : " or 4");
    EG_TRY(eg_gmsh_end_record(&r->in));
    r->file->binary = r->in.binary = binary == 1;
    r->in.size_bytes = data_bytes;
    EG_TRY(binary ? read_endianness(r) : check_text(r));
    r->file->swapped = r->in.swapped;
done:
    return status;
}

/* --- names ------------------------------------------------------------------------------------ */

/* A name in quotes, the last on its line; the quotes are cut off. */
static eg_status read_quoted(eg_gmsh_reader *r, char text[NAME_BYTES], const char **name)
{
    const int64_t place = eg_gmsh_place(&r->in);
    eg_status status = eg_gmsh_rest_of_line(&r->in, text, NAME_BYTES);
    if (status != EG_OK) return status;
    const size_t length = strlen(text);
    if (length < 2 || text[0] != '"' || strchr(text + 1, '"') != text + length - 1)
        return eg_gmsh_fail_at(&r->in, place, "a name in quotes is expected, not %s",
                               length ? text : "the end of the line");
    if (length == 2) return eg_gmsh_fail_at(&r->in, place, "the name is empty");
    text[length - 1] = '\0';
    *name = text + 1;
    return EG_OK;
}

static eg_status read_names(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    int64_t count = 0;
    r->in.raw = false;
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_size(&r->in, "the number of names", &count));
    EG_TRY(eg_gmsh_end_record(&r->in));
    for (int64_t i = 0; i < count; i++) {
        char text[NAME_BYTES];
        const char *name = NULL;
        int dim, tag;
        r->in.object = "name";
        r->in.tag = i + 1;
        EG_TRY(eg_gmsh_begin_record(&r->in));
        EG_TRY(eg_gmsh_read_dim(r, "the dimension of a physical group", &dim));
        EG_TRY(eg_gmsh_int(&r->in, "the tag of a physical group", &tag));
        r->in.object = "physical group";
        r->in.tag = tag;
        if (tag <= 0) return eg_gmsh_fail(&r->in, "the tag is not positive");
        if (eg_gmsh_table_find(&r->names, (eg_gmsh_key3){{dim, tag, 0}}) >= 0)
            return eg_gmsh_fail(&r->in, "the group of dimension %d has two names", dim);
        EG_TRY(read_quoted(r, text, &name));
        EG_TRY(eg_gmsh_add_name(r, dim, tag, name));
    }
done:
    return status;
}

/* --- sections --------------------------------------------------------------------------------- */

typedef struct section {
    const char *name;
    int version;                 /* 0: any */
    unsigned bit, after, before; /* which sections must come earlier, and which must not */
    eg_status (*read)(eg_gmsh_reader *r);
} section;

static const section sections[] = {
    {"$MeshFormat", 0, EG_GMSH_FORMAT, 0, 0, read_format},
    {"$PhysicalNames", 0, EG_GMSH_NAMES, EG_GMSH_FORMAT, 0, read_names},
    {"$Entities", 41, EG_GMSH_ENTITIES, EG_GMSH_FORMAT, EG_GMSH_ELEMENTS, eg_gmsh_read_entities_41},
    {"$PartitionedEntities", 41, EG_GMSH_PARTITIONED, EG_GMSH_ENTITIES, EG_GMSH_ELEMENTS,
     eg_gmsh_read_partitioned_entities_41},
    {"$Nodes", 41, EG_GMSH_NODES, EG_GMSH_FORMAT, 0, eg_gmsh_read_nodes_41},
    {"$Nodes", 22, EG_GMSH_NODES, EG_GMSH_FORMAT, 0, eg_gmsh_read_nodes_22},
    {"$ParametricNodes", 22, EG_GMSH_NODES, EG_GMSH_FORMAT, 0, eg_gmsh_read_parametric_nodes_22},
    {"$Elements", 41, EG_GMSH_ELEMENTS, EG_GMSH_NODES, 0, eg_gmsh_read_elements_41},
    {"$Elements", 22, EG_GMSH_ELEMENTS, EG_GMSH_NODES, 0, eg_gmsh_read_elements_22},
    {"$Periodic", 0, EG_GMSH_PERIODIC, EG_GMSH_NODES, 0, eg_gmsh_read_periodic},
};

/* The name of the first section of a set. */
static const char *section_name(unsigned set)
{
    for (size_t i = 0; i < EG_COUNT(sections); i++)
        if (sections[i].bit & set) return sections[i].name;
    return "";
}

/* NULL: none that is read in this version. Before the version is known all are. */
static const section *find_section(const eg_gmsh_reader *r, const char *name)
{
    for (size_t i = 0; i < EG_COUNT(sections); i++)
        if (strcmp(sections[i].name, name) == 0 &&
            (sections[i].version == 0 || r->file->version == 0 ||
             sections[i].version == r->file->version))
            return &sections[i];
    return NULL;
}

static eg_status skip_section(eg_gmsh_reader *r, const char *name, int64_t place)
{
    bool ended = false;
    eg_status status = eg_gmsh_skip_section(&r->in, name, &ended);
    if (status != EG_OK || ended) return status;
    return eg_gmsh_fail_at(&r->in, place, "no line $End%s follows", name + 1);
}

static eg_status read_section(eg_gmsh_reader *r, const char *name, int64_t place)
{
    eg_status status = EG_OK;
    const section *known = find_section(r, name);
    if (strncmp(name, "$End", 4) == 0)
        return eg_gmsh_fail_at(&r->in, place, "%s ends a section that was not begun", name);
    if (strcmp(name, "$NOD") == 0) return check_version(r, 1.0);
    r->in.section = name;
    if (!known) return skip_section(r, name, place);
    if (r->seen & known->bit) return eg_gmsh_fail_at(&r->in, place, "the section is there twice");
    if (known->after & ~r->seen)
        return eg_gmsh_fail_at(&r->in, place, "the section stands before %s, not behind it",
                               section_name(known->after & ~r->seen));
    if (known->before & r->seen)
        return eg_gmsh_fail_at(&r->in, place, "the section stands behind %s, not before it",
                               section_name(known->before & r->seen));
    r->seen |= known->bit;
    r->section_place = place;
    r->in.raw = r->in.binary;
    EG_TRY(known->read(r));
    EG_TRY(eg_gmsh_end_section(&r->in, name));
done:
    return status;
}

/* Editors put marks of how text is encoded before the first section. */
static eg_status refuse_marks(eg_gmsh_reader *r)
{
    static const struct {
        const char *bytes, *encoding;
    } marks[] = {{"\xef\xbb\xbf", "UTF-8"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"}};
    for (size_t i = 0; i < EG_COUNT(marks); i++) {
        bool found = false;
        eg_status status = eg_gmsh_peek(&r->in, marks[i].bytes, strlen(marks[i].bytes), &found);
        if (status != EG_OK) return status;
        if (found)
            return eg_gmsh_fail(&r->in,
                                "the file begins with the byte-order mark of %s: save it as plain "
                                "text, without one",
                                marks[i].encoding);
    }
    return EG_OK;
}

static eg_status read_all(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    EG_TRY(refuse_marks(r));
    static const unsigned wanted = EG_GMSH_FORMAT | EG_GMSH_NODES | EG_GMSH_ELEMENTS;
    for (;;) {
        char name[EG_GMSH_SECTION_BYTES];
        int64_t place = 0;
        EG_TRY(eg_gmsh_next_section(&r->in, name, &place));
        if (!name[0]) break;
        status = read_section(r, name, place);
        r->in.section = NULL; /* the name is gone */
        if (status != EG_OK) goto done;
    }
    if (wanted & ~r->seen)
        return eg_gmsh_fail(&r->in, "the file ends without a section %s",
                            section_name(wanted & ~r->seen));
done:
    return status;
}

/* Reads what r->in holds, and closes it. */
static eg_status read_file(eg_gmsh_reader *r, eg_gmsh_file **out)
{
    eg_status status = EG_OK;
    eg_context *ctx = r->in.ctx;
    EG_TRY(eg_new(ctx, 1, &r->file));
    r->file->ctx = ctx;
    EG_TRY(eg_copy_string(ctx, r->in.name, &r->file->path));
    EG_TRY(read_all(r));
    *out = r->file;
    r->file = NULL;
done:
    eg_gmsh_close(&r->file);
    eg_gmsh_index_free(ctx, &r->nodes);
    eg_gmsh_table_free(ctx, &r->names);
    eg_gmsh_table_free(ctx, &r->entities);
    eg_gmsh_table_free(ctx, &r->blocks);
    eg_release(ctx, &r->dropped);
    eg_gmsh_stream_close(&r->in);
    return status;
}

eg_status eg_gmsh_open(eg_context *ctx, const char *path, eg_gmsh_file **out)
{
    eg_gmsh_reader r = {0};
    const char *ending = strrchr(path, '.');
    *out = NULL;
    if (ending && strcmp(ending, ".geo") == 0)
        return eg_fail(
            ctx, EG_ERROR_INPUT,
            "%s is a geometry: mesh it first with \"gmsh -2 %s -o mesh.msh\" (-3 in three "
            "dimensions)",
            path, path);
    eg_status status = eg_gmsh_stream_open(ctx, path, &r.in);
    return status == EG_OK ? read_file(&r, out) : status;
}

eg_status eg_gmsh_open_bytes(eg_context *ctx, const char *name, const char *bytes, size_t length,
                             eg_gmsh_file **out)
{
    eg_gmsh_reader r = {0};
    *out = NULL;
    eg_gmsh_stream_of_bytes(ctx, name, bytes, length, &r.in);
    return read_file(&r, out);
}

void eg_gmsh_close(eg_gmsh_file **handle)
{
    eg_gmsh_file *file = *handle;
    if (!file) return;
    eg_context *ctx = file->ctx;
    for (int i = 0; i < file->name_count; i++)
        eg_release(ctx, &file->names[i].name);
    for (int i = 0; i < file->entity_count; i++)
        eg_release(ctx, &file->entities[i].physical);
    for (int i = 0; i < file->block_count; i++) {
        eg_release(ctx, &file->blocks[i].tag);
        eg_release(ctx, &file->blocks[i].nodes);
    }
    for (int i = 0; i < file->link_count; i++) {
        eg_release(ctx, &file->links[i].affine);
        eg_release(ctx, &file->links[i].pair);
    }
    eg_release(ctx, &file->names);
    eg_release(ctx, &file->entities);
    eg_release(ctx, &file->blocks);
    eg_release(ctx, &file->links);
    eg_release(ctx, &file->x);
    eg_release(ctx, &file->node_tag);
    eg_release(ctx, &file->path);
    eg_release(ctx, handle);
}
