/* The section [mesh] of a case, and the mesh it asks for. */
#include "mesh/box.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_BYTES 2048

static const char *const generators[] = {"box", NULL};
static const char *const shapes[] = {"triangle", "quadrilateral", "tetrahedron", "hexahedron",
                                     NULL};
static const char *const axes[] = {"x", "y", "z", NULL};
static const char *const partitioners[] = {"auto", "metis", "hilbert", NULL};

const eg_key eg_mesh_keys[] = {
    {.section = "mesh",
     .name = "generator",
     .type = EG_KEY_CHOICE,
     .fallback = "\"box\"",
     .choices = generators,
     .help = "How the mesh is made if it is not read from a file. A box is a rectangle or a cuboid "
             "of equal or graded cells."},
    {.section = "mesh",
     .name = "file",
     .type = EG_KEY_STRING,
     .help = "A Gmsh file to read instead: MSH 2.2 or 4.1, text or binary. Its physical groups of "
             "curves, in three dimensions of surfaces, are the boundaries. A path is seen from the "
             "directory of the case file.",
     .example = "\"cylinder.msh\""},
    {.section = "mesh",
     .name = "join",
     .type = EG_KEY_STRINGS,
     .fallback = "[]",
     .help = "Boundaries of the file that are periodic, in pairs: the second of each lies a "
             "constant shift from the first. They are joined beside what the file itself says.",
     .example = "[\"left\", \"right\"]"},
    {.section = "mesh",
     .name = "merge",
     .type = EG_KEY_BOOLEAN,
     .fallback = "false",
     .help = "Nodes of the file that lie at one place become one."},
    {.section = "mesh",
     .name = "shape",
     .type = EG_KEY_CHOICE,
     .fallback = "\"triangle\"",
     .choices = shapes,
     .help =
         "The shape of the elements. Triangles are halves of rectangular cells, tetrahedra sixths "
         "of cuboids."},
    {.section = "mesh",
     .name = "cells",
     .type = EG_KEY_INTEGERS,
     .least = 1,
     .most = 1e9,
     .least_count = 1,
     .most_count = 3,
     .help =
         "The number of cells of a box along each axis, which it must have; one number is that of "
         "all axes.",
     .example = "[16, 16]"},
    {.section = "mesh",
     .name = "low",
     .type = EG_KEY_REALS,
     .fallback = "0.0",
     .least = -1e100,
     .most = 1e100,
     .least_count = 1,
     .most_count = 3,
     .help = "The low corner of the box; one number is the coordinate along all axes.",
     .example = "[-1.0, -1.0]"},
    {.section = "mesh",
     .name = "high",
     .type = EG_KEY_REALS,
     .fallback = "1.0",
     .least = -1e100,
     .most = 1e100,
     .least_count = 1,
     .most_count = 3,
     .help = "The high corner of the box; one number is the coordinate along all axes.",
     .example = "[2.0, 1.0]"},
    {.section = "mesh",
     .name = "grading",
     .type = EG_KEY_REALS,
     .fallback = "1.0",
     .least = 1e-9,
     .most = 1e9,
     .least_count = 1,
     .most_count = 3,
     .help = "The size of the last cell over that of the first along each axis; cells between them "
             "grow by a constant factor.",
     .example = "[1.0, 8.0]"},
    {.section = "mesh",
     .name = "periodic",
     .type = EG_KEY_CHOICES,
     .fallback = "[]",
     .choices = axes,
     .help = "The axes along which the box is joined to itself; it has no boundaries there.",
     .example = "[\"x\", \"y\"]"},
    {.section = "mesh",
     .name = "perturb",
     .type = EG_KEY_REAL,
     .fallback = "0.0",
     .least = 0.0,
     .most = 0.45,
     .help =
         "Inner vertices are moved at random by up to this part of a cell along each axis, less "
         "where an element would become invalid. It is done before the map.",
     .example = "0.2"},
    {.section = "mesh",
     .name = "seed",
     .type = EG_KEY_INTEGER,
     .fallback = "0",
     .least = 0.0,
     .most = 4294967295.0,
     .help =
         "Chooses the random displacements of `perturb`: the same number gives the same mesh on "
         "every machine."},
    {.section = "mesh",
     .name = "order",
     .type = EG_KEY_INTEGER,
     .fallback = "1",
     .least = 1,
     .most = EG_DEGREE_MAX_QUAD,
     .help =
         "The degree of the elements' mapping: 1 to 10, for quadrilaterals to 15; for a file, "
         "where it is not given, that of its elements. A map bends elements only if it is above "
         "1.",
     .example = "3"},
    {.section = "mesh",
     .name = "map",
     .type = EG_KEY_EXPRESSIONS,
     .least_count = 2,
     .most_count = 3,
     .help =
         "Where the point (x, y, z) of the straight mesh goes, one expression for each coordinate. "
         "Sides that are periodic must stay a constant shift apart.",
     .example = "[\"x + 0.1*sin(pi*y)\", \"y\"]"},
    {.section = "mesh",
     .name = "refine",
     .type = EG_KEY_INTEGER,
     .fallback = "0",
     .least = 0,
     .most = 20,
     .help =
         "How often every element is cut into 4 of its shape, in three dimensions into 8, after "
         "all else is done. Curved elements keep their geometry.",
     .example = "1"},
    {.section = "mesh",
     .name = "partition",
     .type = EG_KEY_CHOICE,
     .fallback = "\"auto\"",
     .choices = partitioners,
     .help =
         "How elements are divided among ranks: \"metis\" has few faces between ranks, \"hilbert\" "
         "takes equal pieces of a curve through all elements; \"auto\" is METIS where it is built "
         "in."},
    {.section = "mesh.boundary.*",
     .name = "where",
     .type = EG_KEY_EXPRESSION,
     .help =
         "A part of the boundary with a name of its own, or more of one that has it: the faces at "
         "whose centre, the mean of its corners, this expression of x, y, z is true. The mesh is "
         "complete by then, mapped and refined.",
     .example = "\"y < 1e-9 && x > 1/6\""},
    {0},
};

/* --- keys that go together -------------------------------------------------------------------- */

eg_status eg_mesh_check_case(const eg_case *cas)
{
    static const char *const of_boxes[] = {"generator", "shape",    "cells",   "low", "high",
                                           "grading",   "periodic", "perturb", "seed"};
    static const char *const of_files[] = {"join", "merge"};
    const bool file = eg_case_given(cas, "mesh.file");
    const char *const *others = file ? of_boxes : of_files;
    const size_t count = file ? EG_COUNT(of_boxes) : EG_COUNT(of_files);
    for (size_t i = 0; i < count; i++) {
        char key[64];
        snprintf(key, sizeof key, "mesh.%s", others[i]);
        if (eg_case_given(cas, key))
            return eg_case_fail(cas, key, -1,
                                file ? "the mesh is read from a file: \"%s\" is for boxes"
                                     : "\"%s\" is for meshes from a file, and mesh.file is missing",
                                others[i]);
    }
    if (!file && !eg_case_given(cas, "mesh.cells"))
        return eg_case_fail(
            cas, "mesh", -1,
            "the key \"cells\" is missing in [mesh], the number of cells of a box, for "
            "example cells = [16, 16]; or \"file\", a Gmsh file to read");
    const size_t joined = eg_case_count(cas, "mesh.join");
    const char *last = joined % 2 ? eg_case_string_at(cas, "mesh.join", joined - 1) : NULL;
    if (joined % 2)
        return eg_case_fail(
            cas, "mesh.join", -1, "boundaries are joined in pairs, and these are %zu%s", joined,
            strchr(last, ',') ? ": put brackets around them, as in [left,right]" : "");
    return EG_OK;
}

/* --- boxes ------------------------------------------------------------------------------------ */

/* An array with one value, or one for each axis. */
static eg_status check_count(const eg_case *cas, const char *key, const eg_shape_info *info)
{
    size_t count = eg_case_count(cas, key);
    if (count == 1 || count == (size_t)info->dim) return EG_OK;
    return eg_case_fail(cas, key, -1,
                        "a box of shape \"%s\" has %d axes: give %d values or one, not %zu",
                        info->name, info->dim, info->dim, count);
}

static double real_along(const eg_case *cas, const char *key, int d)
{
    return eg_case_real_at(cas, key, eg_case_count(cas, key) == 1 ? 0 : (size_t)d);
}

static eg_status read_axes(const eg_case *cas, eg_box_options *o)
{
    eg_status status = EG_OK;
    const eg_shape_info *info = eg_shape_get_info(o->shape);
    const char *const keys[] = {"mesh.cells", "mesh.low", "mesh.high", "mesh.grading"};
    for (size_t k = 0; k < EG_COUNT(keys); k++)
        EG_TRY(check_count(cas, keys[k], info));
    for (int d = 0; d < info->dim; d++) {
        size_t i = eg_case_count(cas, "mesh.cells") == 1 ? 0 : (size_t)d;
        o->cells[d] = (int)eg_case_integer_at(cas, "mesh.cells", i);
        o->low[d] = real_along(cas, "mesh.low", d);
        o->high[d] = real_along(cas, "mesh.high", d);
        o->grading[d] = real_along(cas, "mesh.grading", d);
        /* Zeros, which mean the default in the options, mean themselves here. */
        if (o->low[d] == 0.0 && o->high[d] == 0.0) {
            EG_TRY(eg_case_fail(cas, eg_case_given(cas, "mesh.high") ? "mesh.high" : "mesh.low",
                                eg_case_count(cas, "mesh.high") == 1 ? -1 : d,
                                "the box must end above its low end 0, not at 0"));
        }
    }
    size_t periods = eg_case_count(cas, "mesh.periodic");
    for (size_t i = 0; i < periods; i++) {
        int d = eg_case_choice_at(cas, "mesh.periodic", i);
        if (d >= info->dim)
            EG_TRY(eg_case_fail(cas, "mesh.periodic", (int)i,
                                "a box of shape \"%s\" has no axis %s", info->name, axes[d]));
        o->periodic[d] = true;
    }
done:
    return status;
}

/* The map of a case: one expression a coordinate. */
typedef struct case_map {
    int dim;
    const eg_expression *expression[3]; /* the case's */
} case_map;

static eg_status evaluate_map(void *user, size_t count, const double *X, double *x)
{
    const case_map *map = user;
    size_t dim = (size_t)map->dim;
    for (size_t i = 0; i < count; i++) {
        double variables[EG_VARIABLE_COUNT] = {0};
        for (size_t d = 0; d < dim; d++)
            variables[EG_VARIABLE_X + d] = X[i * dim + d];
        for (size_t d = 0; d < dim; d++)
            x[i * dim + d] = eg_expression_evaluate(map->expression[d], variables);
    }
    return EG_OK;
}

static eg_status read_map(const eg_case *cas, int dim, case_map *map)
{
    eg_status status = EG_OK;
    size_t count = eg_case_count(cas, "mesh.map");
    map->dim = dim;
    if (count != (size_t)dim)
        EG_TRY(eg_case_fail(cas, "mesh.map", -1,
                            "a map of a mesh in %d dimensions has %d expressions, not %zu", dim,
                            dim, count));
    for (int d = 0; d < dim; d++) {
        map->expression[d] = eg_case_expression_at(cas, "mesh.map", (size_t)d);
        for (int v = dim; v < EG_VARIABLE_COUNT; v++) {
            if (!eg_expression_uses(map->expression[d], EG_VARIABLE_X + v)) continue;
            EG_TRY(eg_case_fail(cas, "mesh.map", d, "the map of this mesh may not depend on %c",
                                "xyzt"[v]));
        }
    }
done:
    return status;
}

/* Shows an error of the box's options at the key they came from. */
static eg_status point_at(const eg_case *cas, const eg_box_error *error)
{
    char key[64];
    snprintf(key, sizeof key, "mesh.%s", error->member);
    bool array = error->direction >= 0 && eg_case_count(cas, key) > 1;
    return eg_case_fail(cas, key, array ? error->direction : -1, "%s", error->message);
}

eg_shape eg_mesh_case_shape(const eg_case *cas)
{
    return (eg_shape)(EG_SHAPE_TRI + eg_case_choice(cas, "mesh.shape"));
}

static eg_status create_box(eg_context *ctx, const eg_case *cas, eg_mesh **out)
{
    eg_status status = EG_OK;
    case_map map;
    eg_box_error error;
    eg_box_options resolved;
    eg_box_options o = {.shape = eg_mesh_case_shape(cas),
                        .perturb = eg_case_real(cas, "mesh.perturb"),
                        .seed = (uint64_t)eg_case_integer(cas, "mesh.seed"),
                        .order = (int)eg_case_integer(cas, "mesh.order")};
    EG_TRY(read_axes(cas, &o));
    if (eg_case_has(cas, "mesh.map")) {
        EG_TRY(read_map(cas, eg_shape_get_info(o.shape)->dim, &map));
        o.map = evaluate_map;
        o.map_user = &map;
    }
    if (!eg_box_resolve(&o, &resolved, &error)) EG_TRY(point_at(cas, &error));
    status = eg_mesh_create_box(ctx, &resolved, out);
    char message[MESSAGE_BYTES];
    snprintf(message, sizeof message, "%s", eg_context_error(ctx));
    if (status == EG_ERROR_INPUT && (o.map || o.perturb > 0.0))
        status = eg_case_fail(cas, o.map ? "mesh.map" : "mesh.perturb", -1, "%s", message);
    else if (status == EG_ERROR_MEMORY)
        status = eg_fail(ctx, EG_ERROR_MEMORY,
                         "mesh.cells: the box takes %.3g GB of memory to be made: %s",
                         1e-9 * eg_box_bytes(&resolved), message);
done:
    return status;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Shows a failure at a value of the key that it comes from; what is wrong with a file is wrong with
 * the case. */
static eg_status blame(eg_context *ctx, const eg_case *cas, const char *key, int i,
                       eg_status status)
{
    char message[MESSAGE_BYTES];
    snprintf(message, sizeof message, "%s", eg_context_error(ctx));
    if (status == EG_ERROR_MEMORY) return eg_fail(ctx, status, "%s: %s", key, message);
    return status == EG_OK ? status : eg_case_fail(cas, key, i, "%s", message);
}

static eg_status read_file(eg_context *ctx, const eg_case *cas, eg_text *report, eg_mesh **out)
{
    eg_status status = EG_OK;
    const size_t joined = eg_case_count(cas, "mesh.join") / 2;
    size_t failed = joined;
    eg_periodic_names *join = NULL;
    char *path = NULL;
    EG_TRY(eg_case_path(cas, "mesh.file", &path));
    EG_TRY(eg_new(ctx, joined, &join));
    for (size_t i = 0; i < joined; i++) {
        join[i].first = eg_case_string_at(cas, "mesh.join", 2 * i);
        join[i].second = eg_case_string_at(cas, "mesh.join", 2 * i + 1);
    }
    status = eg_mesh_read_gmsh(ctx, path,
                               &(eg_gmsh_options){.merge_nodes = eg_case_boolean(cas, "mesh.merge"),
                                                  .join = join,
                                                  .join_count = joined,
                                                  .join_failed = &failed,
                                                  .report = report},
                               out);
    EG_TRY(failed < joined ? blame(ctx, cas, "mesh.join", (int)(2 * failed), status)
                           : blame(ctx, cas, "mesh.file", -1, status));
done:
    eg_release(ctx, &join);
    eg_release(ctx, &path);
    return status;
}

/* Maps a mesh of straight elements; afterwards they are of the order that the case says. */
static eg_status map_mesh(const eg_case *cas, eg_mesh *mesh)
{
    eg_status status = EG_OK;
    case_map map;
    EG_TRY(read_map(cas, mesh->dim, &map));
    if (mesh->order > 1)
        EG_TRY(eg_case_fail(cas, "mesh.map", -1,
                            "the file's elements are of order %d; only straight ones can be mapped",
                            mesh->order));
    status = eg_mesh_curve(mesh, (int)eg_case_integer(cas, "mesh.order"), evaluate_map, &map);
    if (status == EG_OK) status = eg_mesh_check_faces(mesh);
    if (status == EG_OK) status = eg_mesh_check_mappings(mesh);
    EG_TRY(blame(mesh->ctx, cas, "mesh.map", -1, status));
done:
    return status;
}

static eg_status create_from_file(eg_context *ctx, const eg_case *cas, eg_text *report,
                                  eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL, *raised = NULL;
    const int order = (int)eg_case_integer(cas, "mesh.order");
    EG_TRY(read_file(ctx, cas, report, &mesh));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_shape shape = (eg_shape)mesh->shape[e];
        if (order > eg_mesh_order_max(shape))
            EG_TRY(eg_case_fail(cas, "mesh.order", -1, "elements of shape %s have order 1 to %d",
                                eg_shape_get_info(shape)->name, eg_mesh_order_max(shape)));
    }
    if (eg_case_has(cas, "mesh.map")) {
        EG_TRY(map_mesh(cas, mesh));
    } else if (eg_case_given(cas, "mesh.order") && order != mesh->order) {
        EG_TRY(blame(ctx, cas, "mesh.order", -1, eg_mesh_set_order(mesh, order, &raised)));
        eg_mesh_destroy(&mesh);
        mesh = raised;
    }
    *out = mesh;
    mesh = NULL;
done:
    eg_mesh_destroy(&mesh);
    return status;
}

/* Refines a mesh as often as the case says. */
static eg_status refine_mesh(const eg_case *cas, eg_mesh **mesh)
{
    eg_status status = EG_OK;
    eg_context *ctx = (*mesh)->ctx;
    eg_mesh *fine = NULL;
    const int times = (int)eg_case_integer(cas, "mesh.refine");
    EG_TRY(blame(ctx, cas, "mesh.refine", -1, eg_mesh_check_refine(*mesh, times)));
    for (int i = 0; i < times; i++) {
        EG_TRY(blame(ctx, cas, "mesh.refine", -1, eg_mesh_refine(*mesh, &fine)));
        eg_mesh_destroy(mesh);
        *mesh = fine;
    }
done:
    return status;
}

eg_status eg_mesh_create(eg_context *ctx, const eg_case *cas, eg_mesh **out)
{
    return eg_mesh_create_report(ctx, cas, NULL, out);
}

eg_status eg_mesh_create_report(eg_context *ctx, const eg_case *cas, eg_text *report, eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    *out = NULL;
    EG_TRY(eg_mesh_check_case(cas));
    if (eg_case_choice(cas, "mesh.partition") == EG_PARTITION_METIS && !eg_mesh_has_metis())
        EG_TRY(eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "mesh.partition = \"metis\", but this eagre was built without METIS; use "
                       "\"hilbert\" or \"auto\""));
    EG_TRY(eg_case_given(cas, "mesh.file") ? create_from_file(ctx, cas, report, &mesh)
                                           : create_box(ctx, cas, &mesh));
    EG_TRY(refine_mesh(cas, &mesh));
    EG_TRY(eg_mesh_name_boundaries(cas, mesh));
    *out = mesh;
    mesh = NULL;
done:
    eg_mesh_destroy(&mesh);
    return status;
}
