/* Gmsh's element types by their numbers, those of its manual [geuzaine2009]. */
#include "mesh/gmsh/types.h"

bool eg_gmsh_find_type(int type, eg_gmsh_type_info *info)
{
    if (type == EG_GMSH_POINT) {
        *info = (eg_gmsh_type_info){.type = type, .np = 1};
        return true;
    }
    for (int s = 0; s < EG_SHAPE_COUNT && type > 0; s++) {
        const eg_shape shape = (eg_shape)s;
        for (int order = 1; order <= EG_GMSH_ORDER_MAX; order++) {
            if (eg_gmsh_type(shape, order) != type) continue;
            *info = (eg_gmsh_type_info){.type = type,
                                        .dim = eg_shape_get_info(shape)->dim,
                                        .shape = shape,
                                        .order = order,
                                        .np = eg_mode_count(shape, order)};
            return true;
        }
    }
    return false;
}

static const char no_mixed[] =
    "make a mesh of tetrahedra or of hexahedra alone (without Recombine, or with all of it)";
static const char complete[] = "make the mesh with Mesh.SecondOrderIncomplete = 0";
static const char plain[] = "make a mesh of lines, triangles, quadrilaterals, tetrahedra and "
                            "hexahedra of orders 1 to 10";

static const struct {
    int first, last;
    const char *name, *advice;
} others[] = {
    {6, 6, "a prism", no_mixed},
    {7, 7, "a pyramid", no_mixed},
    {13, 13, "a prism", no_mixed},
    {14, 14, "a pyramid", no_mixed},
    {16, 16, "an incomplete (serendipity) quadrilateral", complete},
    {17, 17, "an incomplete (serendipity) hexahedron", complete},
    {18, 18, "a prism", no_mixed},
    {19, 19, "a pyramid", no_mixed},
    {20, 20, "an incomplete triangle", complete},
    {22, 22, "an incomplete triangle", complete},
    {24, 24, "an incomplete triangle", complete},
    {32, 33, "an incomplete tetrahedron", complete},
    {34, 34, "a polygon", plain},
    {35, 35, "a polyhedron", plain},
    {39, 41, "an incomplete (serendipity) quadrilateral", complete},
    {52, 56, "an incomplete triangle", complete},
    {57, 61, "an incomplete (serendipity) quadrilateral", complete},
    {67, 70, "a part of a cut element", plain},
    {79, 83, "an incomplete tetrahedron", complete},
    {84, 88, "an element of order 0", plain},
    {89, 91, "a prism", no_mixed},
    {99, 105, "an incomplete (serendipity) hexahedron", complete},
    {106, 117, "a prism", no_mixed},
    {118, 132, "a pyramid", no_mixed},
    {133, 136, "a sub-element", plain},
    {137, 137, "an incomplete tetrahedron", complete},
    {138, 139, "an element with a bubble", plain},
    {140, 140, "a trihedron", plain},
};

const char *eg_gmsh_type_name(int type, const char **advice)
{
    *advice = plain;
    for (size_t i = 0; i < EG_COUNT(others); i++) {
        if (type < others[i].first || type > others[i].last) continue;
        *advice = others[i].advice;
        return others[i].name;
    }
    return NULL;
}
