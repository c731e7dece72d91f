/* The section [adapt] of a case. */
#include "model/advection/adapt.h"

eg_status eg_adapt_options_from_case(const eg_case *cas, eg_adapt_options *out)
{
    static const char *const others[] = {"adapt.every", "adapt.least", "adapt.raise",
                                         "adapt.lower"};
    *out = (eg_adapt_options){.on = eg_case_boolean(cas, "adapt.enabled"),
                              .least = (int)eg_case_integer(cas, "adapt.least"),
                              .most = (int)eg_case_integer(cas, "space.degree"),
                              .raise = eg_case_real(cas, "adapt.raise"),
                              .lower = eg_case_real(cas, "adapt.lower")};
    if (eg_case_given(cas, "adapt.every")) out->every = eg_case_integer(cas, "adapt.every");
    for (size_t i = 0; !eg_case_given(cas, "adapt.enabled") && i < EG_COUNT(others); i++)
        if (eg_case_given(cas, others[i]))
            return eg_case_fail(cas, others[i], -1,
                                "degrees are not adapted without adapt.enabled = true");
    if (out->on && out->least > out->most)
        return eg_case_fail(cas, "adapt.least", -1,
                            "the least degree, %d, is above the highest, space.degree = %d",
                            out->least, out->most);
    if (out->on && out->lower >= out->raise)
        return eg_case_fail(cas, "adapt.lower", -1,
                            "it is %g, and must be less than adapt.raise = %g, else degrees would "
                            "go up and down without end",
                            out->lower, out->raise);
    return EG_OK;
}

eg_status eg_adapt_check_mesh(const eg_case *cas, const eg_mesh *mesh)
{
    if (!eg_case_boolean(cas, "adapt.enabled") || eg_case_integer(cas, "adapt.least") >= 2)
        return EG_OK;
    for (int32_t e = 0; e < mesh->element_count; e++)
        if (mesh->shape[e] == EG_SHAPE_HEX && !eg_mesh_is_affine(mesh, e))
            return eg_case_fail(cas, "adapt.least", -1,
                                "degree 1 on hexahedra that are not parallelepipeds would lose "
                                "mass: with this mesh write adapt.least = 2");
    return EG_OK;
}
