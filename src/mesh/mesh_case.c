/* The section [mesh] of a case, and the mesh it asks for. */
#include "mesh/box.h"

#include <stdio.h>

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
     .help = "How the mesh is made. A box is a rectangle or a cuboid of equal or graded cells."},
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
     .required = true,
     .least = 1,
     .most = 1e9,
     .least_count = 1,
     .most_count = 3,
     .help = "The number of cells along each axis; one number is that of all axes.",
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
     .help = "The degree of the elements' mapping: 1 to 10, for quadrilaterals to 15. A map bends "
             "elements only if it is above 1.",
     .example = "3"},
    {.section = "mesh",
     .name = "map",
     .type = EG_KEY_EXPRESSIONS,
     .least_count = 2,
     .most_count = 3,
     .help =
         "Where the point (x, y, z) of the straight box goes, one expression for each coordinate. "
         "Sides that are periodic must stay a constant shift apart.",
     .example = "[\"x + 0.1*sin(pi*y)\", \"y\"]"},
    {.section = "mesh",
     .name = "partition",
     .type = EG_KEY_CHOICE,
     .fallback = "\"auto\"",
     .choices = partitioners,
     .help =
         "How elements are divided among ranks: \"metis\" has few faces between ranks, \"hilbert\" "
         "takes equal pieces of a curve through all elements; \"auto\" is METIS where it is built "
         "in."},
    {0},
};

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

static eg_status read_map(const eg_case *cas, eg_box_options *o, case_map *map)
{
    eg_status status = EG_OK;
    const eg_shape_info *info = eg_shape_get_info(o->shape);
    size_t count = eg_case_count(cas, "mesh.map");
    map->dim = info->dim;
    if (count != (size_t)info->dim)
        EG_TRY(eg_case_fail(cas, "mesh.map", -1,
                            "a map of a box of shape \"%s\" has %d expressions, not %zu",
                            info->name, info->dim, count));
    for (int d = 0; d < info->dim; d++) {
        map->expression[d] = eg_case_expression_at(cas, "mesh.map", (size_t)d);
        for (int v = info->dim; v < EG_VARIABLE_COUNT; v++) {
            if (!eg_expression_uses(map->expression[d], EG_VARIABLE_X + v)) continue;
            EG_TRY(eg_case_fail(cas, "mesh.map", d, "the map of this box may not depend on %c",
                                "xyzt"[v]));
        }
    }
    o->map = evaluate_map;
    o->map_user = map;
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

eg_status eg_mesh_create(eg_context *ctx, const eg_case *cas, eg_mesh **out)
{
    eg_status status = EG_OK;
    case_map map;
    eg_box_error error;
    eg_box_options resolved;
    *out = NULL;
    eg_box_options o = {.shape = eg_mesh_case_shape(cas),
                        .perturb = eg_case_real(cas, "mesh.perturb"),
                        .seed = (uint64_t)eg_case_integer(cas, "mesh.seed"),
                        .order = (int)eg_case_integer(cas, "mesh.order")};
    if (eg_case_choice(cas, "mesh.partition") == EG_PARTITION_METIS && !eg_mesh_has_metis())
        EG_TRY(eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "mesh.partition = \"metis\", but this eagre was built without METIS; use "
                       "\"hilbert\" or \"auto\""));
    EG_TRY(read_axes(cas, &o));
    if (eg_case_has(cas, "mesh.map")) EG_TRY(read_map(cas, &o, &map));
    if (!eg_box_resolve(&o, &resolved, &error)) EG_TRY(point_at(cas, &error));
    status = eg_mesh_create_box(ctx, &resolved, out);
    char message[512];
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
