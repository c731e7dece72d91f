/* The section [space] of a case: which polynomials approximate the solution. */
#include "field/field.h"

/* In the order of eg_basis. */
static const char *const bases[] = {"lobatto",     "gauss", "radau", "chebyshev",
                                    "equidistant", "modal", "cells", NULL};
_Static_assert(EG_COUNT(bases) == EG_BASIS_COUNT + 1, "every basis has a name");

const eg_key eg_space_keys[] = {
    {.section = "space",
     .name = "degree",
     .type = EG_KEY_INTEGER,
     .required = true,
     .least = 0,
     .most = EG_DEGREE_MAX_QUAD,
     .help = "Degree N of the polynomials on each element; a smooth solution converges at order "
             "N + 1. At most 10, on quadrilaterals 15.",
     .example = "4"},
    {.section = "space",
     .name = "basis",
     .type = EG_KEY_CHOICE,
     .fallback = "\"lobatto\"",
     .choices = bases,
     .help = "What the values of an element are: values at Gauss-Lobatto nodes (on triangles and "
             "tetrahedra: warp & blend), at equidistant nodes, or coefficients of orthonormal "
             "polynomials (modal); on quadrilaterals and hexahedra also values at Gauss, "
             "Gauss-Radau or Chebyshev-Lobatto nodes, or means of (N + 1)^dim equal cells."},
    {.name = NULL}};

/* True for what only lines, quadrilaterals and hexahedra have. */
static bool is_tensor_basis(eg_basis basis)
{
    return basis == EG_BASIS_GAUSS || basis == EG_BASIS_RADAU || basis == EG_BASIS_CHEBYSHEV ||
           basis == EG_BASIS_CELLS;
}

eg_status eg_space_options_from_case(const eg_case *cas, const eg_mesh *mesh, eg_space_options *out)
{
    *out = (eg_space_options){.basis = (eg_basis)eg_case_choice(cas, "space.basis"),
                              .degree = (int)eg_case_integer(cas, "space.degree")};
    for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++) {
        eg_shape shape = (eg_shape)mesh->shape[e];
        const eg_shape_info *info = eg_shape_get_info(shape);
        int most = shape == EG_SHAPE_QUAD ? EG_DEGREE_MAX_QUAD : EG_DEGREE_MAX;
        if (out->degree > most)
            return eg_case_fail(cas, "space.degree", -1,
                                "degree %d is too high for a mesh with %s elements: at most %d",
                                out->degree, info->name, most);
        if (is_tensor_basis(out->basis) && !info->tensor)
            return eg_case_fail(cas, "space.basis", -1,
                                "basis \"%s\" does not exist on a %s; \"lobatto\", \"equidistant\" "
                                "and \"modal\" do",
                                bases[out->basis], info->name);
    }
    return EG_OK;
}
