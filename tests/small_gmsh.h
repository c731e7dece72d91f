/* What tests of assembling meshes share: Gmsh files by their lines, and what is asked of their
 * meshes. */
#ifndef EG_TEST_SMALL_GMSH_H
#define EG_TEST_SMALL_GMSH_H

#include "meshes.h"

#include "mesh/gmsh/file.h"

/* A file by its lines: coordinates of nodes 1, 2, …; "TYPE GROUP ENTITY NODES" of elements 1, 2, …
 * */
typedef struct small_file {
    const char *names, *nodes, *elements, *rest;
} small_file;

static inline eg_status put_lines(eg_text *text, const char *section, const char *lines)
{
    eg_status status = EG_OK;
    int count = 0;
    for (const char *c = lines; *c; c++)
        count += *c == '\n';
    EG_TRY(eg_text_printf(text, "$%s\n%d\n", section, count));
    const bool numbered = strcmp(section, "PhysicalNames") != 0;
    const bool elements = strcmp(section, "Elements") == 0;
    for (int i = 1; *lines; i++) {
        const char *end = strchr(lines, '\n');
        int type = 0, used = 0;
        if (numbered) EG_TRY(eg_text_printf(text, "%d ", i));
        if (elements) {
            assert_int_equal(sscanf(lines, "%d%n", &type, &used), 1);
            EG_TRY(eg_text_printf(text, "%d 2", type));
        }
        EG_TRY(eg_text_add(text, lines + used, (size_t)(end + 1 - lines - used)));
        lines = end + 1;
    }
    EG_TRY(eg_text_printf(text, "$End%s\n", section));
done:
    return status;
}

static inline eg_status open_small(eg_context *ctx, const small_file *small, eg_gmsh_file **file)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    *file = NULL;
    EG_TRY(eg_text_puts(&text, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"));
    if (small->names) EG_TRY(put_lines(&text, "PhysicalNames", small->names));
    EG_TRY(put_lines(&text, "Nodes", small->nodes));
    EG_TRY(put_lines(&text, "Elements", small->elements));
    if (small->rest) EG_TRY(eg_text_puts(&text, small->rest));
    EG_TRY(eg_gmsh_open_bytes(ctx, "small.msh", eg_text_string(&text), text.length, file));
done:
    eg_text_free(&text);
    return status;
}

static inline eg_status read_small(eg_context *ctx, const small_file *small,
                                   const eg_gmsh_options *options, eg_mesh **mesh)
{
    eg_status status = EG_OK;
    eg_gmsh_file *file = NULL;
    *mesh = NULL;
    EG_TRY(open_small(ctx, small, &file));
    EG_TRY(eg_gmsh_assemble(file, options, mesh));
done:
    eg_gmsh_close(&file);
    return status;
}

/* The number of faces of a boundary, -1 if there is none of that name. */
static inline int64_t face_count(const eg_mesh *mesh, const char *name)
{
    const int b = eg_mesh_find_boundary(mesh, name);
    int64_t count = 0;
    if (b < 0) return -1;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        for (int f = 0; f < test_info(mesh, e)->faces; f++)
            count += mesh->neighbour[(int64_t)e * mesh->face_stride + f] == -1 - b;
    }
    return count;
}

static inline double volume_of(const eg_mesh *mesh)
{
    eg_mesh_summary summary;
    TEST_OK(mesh->ctx, eg_mesh_summarise(mesh, &summary));
    eg_mesh_summary_free(mesh->ctx, &summary);
    return summary.volume;
}

/* A unit square of a triangle, a triangle and, to its right, a square. */
#define NAMES "1 1 \"bottom\"\n1 2 \"right\"\n2 9 \"fluid\"\n"
#define NODES "0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n2 1 0\n"
#define LINES "1 1 1 1 2\n1 1 1 2 5\n1 2 2 5 6\n1 7 3 6 3\n1 7 3 3 4\n1 7 4 4 1\n"
#define TRIANGLES "2 9 1 1 2 3\n2 9 1 1 3 4\n"
#define SQUARE "3 9 2 2 5 6 3\n"
static const small_file square = {NAMES, NODES, LINES TRIANGLES SQUARE, NULL};

#endif
