/* The keys of model `euler`: its sections in a case file. */
#include "model/euler/keys.h"

#include <float.h>
#include <math.h>

const char *const eg_euler_given_names[4] = {"rho", "u", "v", "p"};

/* In the order of eg_euler_method, of FLUX_… in gas.k.h, of eg_euler_boundary, …, and of
 * eg_euler_limiting. */
static const char *const methods[] = {"dg", "ndg", "cpr", "sd", "fv", NULL};
static const char *const fluxes[] = {"rusanov", "hllc", "roe", NULL};
static const char *const types[] = {"wall", "outflow", "inflow", "farfield", "state", NULL};
static const char *const derivatives[] = {"conservative", "chain", NULL};
static const char *const limiters[] = {"none", "minmod", "blend", NULL};
static const char *const starts[] = {"values", "means", NULL};

const eg_key eg_euler_keys[] = {
    {.section = "gas",
     .name = "gamma",
     .type = EG_KEY_REAL,
     .fallback = "1.4",
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "The ratio of specific heats of the ideal gas, more than 1: p = (gamma - 1) times "
             "the inner energy per volume."},
    {.section = "scheme",
     .name = "method",
     .type = EG_KEY_CHOICE,
     .fallback = "\"dg\"",
     .choices = methods,
     .help = "How space is discretised. \"dg\": discontinuous Galerkin in the weak form on Gauss "
             "points; \"ndg\": nodal discontinuous Galerkin in the strong form on Gauss-Lobatto "
             "points with the exact mass matrix; \"cpr\": correction procedure via reconstruction "
             "on Gauss-Lobatto points with the Radau correction; \"sd\": spectral differences, "
             "with Gauss solution points and Chebyshev-Gauss-Lobatto flux points; \"fv\": finite "
             "volumes, (degree + 1)^2 equal cells in each element."},
    {.section = "scheme",
     .name = "flux",
     .type = EG_KEY_CHOICE,
     .fallback = "\"rusanov\"",
     .choices = fluxes,
     .help = "The numerical flux between elements: Rusanov's, the most robust; HLLC, which keeps "
             "contacts sharp; or Roe's with an entropy fix."},
    {.section = "scheme",
     .name = "derivative",
     .type = EG_KEY_CHOICE,
     .fallback = "\"chain\"",
     .choices = derivatives,
     .help = "With method \"cpr\": how the flux is differentiated. \"chain\": its Jacobian times "
             "the derivative of the solution, which is more accurate but conserves only mass; "
             "\"conservative\": the derivative of the polynomial through its values, which is "
             "method \"ndg\"."},
    {.section = "scheme",
     .name = "order",
     .type = EG_KEY_INTEGER,
     .fallback = "2",
     .least = 2,
     .most = 3,
     .help =
         "With method \"fv\": the order of the reconstruction from means of cells along a line. "
         "2: linear (kappa = 0); 3: quadratic (kappa = 1/3), which is of third order with "
         "face_points = 2 and of second with less error otherwise."},
    {.section = "scheme",
     .name = "face_points",
     .type = EG_KEY_INTEGER,
     .fallback = "1",
     .least = 1,
     .most = 2,
     .help = "With method \"fv\": the Gauss points on each face at which fluxes are taken."},
    {.section = "limiter",
     .name = "method",
     .type = EG_KEY_CHOICE,
     .fallback = "\"none\"",
     .choices = limiters,
     .help =
         "What is done about shocks. \"minmod\": after every stage, elements whose values on "
         "faces differ from what the means of the neighbours allow by more than the threshold "
         "become linear, with the smaller slope to the neighbours; with method \"fv\" slopes "
         "between cells are limited so that no state is beyond a neighbour's. \"blend\", not with "
         "\"fv\": where the highest modes of an element are large, its rate is blended with that "
         "of finite volumes on subcells."},
    {.section = "limiter",
     .name = "threshold",
     .type = EG_KEY_REAL,
     .fallback = "1e-3",
     .least = 0,
     .most = INFINITY,
     .help = "With method \"minmod\": the difference, in density, momentum or energy per volume, "
             "beyond which an element is limited."},
    {.section = "limiter",
     .name = "positivity",
     .type = EG_KEY_BOOLEAN,
     .fallback = "false",
     .help = "Whether the solution is scaled towards the mean of its element where density or "
             "pressure of a node, or on a face, would not be positive."},
    {.section = "initial",
     .name = "rho",
     .type = EG_KEY_EXPRESSION,
     .required = true,
     .help = "The density at the start, an expression of x, y.",
     .example = "\"1 + 0.2*sin(2*pi*(x + y))\""},
    {.section = "initial",
     .name = "u",
     .type = EG_KEY_EXPRESSION,
     .required = true,
     .help = "The velocity along x at the start.",
     .example = "1.0"},
    {.section = "initial",
     .name = "v",
     .type = EG_KEY_EXPRESSION,
     .required = true,
     .help = "The velocity along y at the start.",
     .example = "1.0"},
    {.section = "initial",
     .name = "p",
     .type = EG_KEY_EXPRESSION,
     .required = true,
     .help = "The pressure at the start.",
     .example = "1.0"},
    {.section = "initial",
     .name = "by",
     .type = EG_KEY_CHOICE,
     .fallback = "\"values\"",
     .choices = starts,
     .help =
         "What the solution begins with. \"values\": those at the solution points; \"means\": the "
         "same, moved so that density, momenta and energy have their mean in each element, and "
         "not beyond the values: for jumps that are not along faces, whose place values know to "
         "the distance of two points only. Method \"fv\" begins with means of cells in any "
         "case."},
    {.section = "exact",
     .name = "rho",
     .type = EG_KEY_EXPRESSION,
     .help = "What the density should be at time t. With this, u, v and p the errors of density, "
             "momenta and energy are measured at the end; give all four or none.",
     .example = "\"1 + 0.2*sin(2*pi*(x + y - 2*t))\""},
    {.section = "exact",
     .name = "u",
     .type = EG_KEY_EXPRESSION,
     .help = "What the velocity along x should be at time t.",
     .example = "1.0"},
    {.section = "exact",
     .name = "v",
     .type = EG_KEY_EXPRESSION,
     .help = "What the velocity along y should be at time t.",
     .example = "1.0"},
    {.section = "exact",
     .name = "p",
     .type = EG_KEY_EXPRESSION,
     .help = "What the pressure should be at time t.",
     .example = "1.0"},
    {.section = "boundary.*",
     .name = "type",
     .type = EG_KEY_CHOICE,
     .choices = types,
     .help = "What is at this boundary; every boundary of the mesh needs one. \"wall\": nothing "
             "goes through it, and the gas slips along it; \"outflow\": everything leaves, faster "
             "than sound; \"inflow\": the state given by rho, u, v and p comes in, faster than "
             "sound; \"farfield\": waves that come in are those of the given state, all others "
             "leave; \"state\": the given state is behind the boundary, and the numerical flux "
             "decides. The boundaries of a box are left, right (x), bottom and top (y).",
     .example = "\"wall\""},
    {.section = "boundary.*",
     .name = "rho",
     .type = EG_KEY_EXPRESSION,
     .help = "The density of the given state, an expression of x, y, t.",
     .example = "1.4"},
    {.section = "boundary.*",
     .name = "u",
     .type = EG_KEY_EXPRESSION,
     .help = "The velocity along x of the given state.",
     .example = "3.0"},
    {.section = "boundary.*",
     .name = "v",
     .type = EG_KEY_EXPRESSION,
     .help = "The velocity along y of the given state.",
     .example = "0.0"},
    {.section = "boundary.*",
     .name = "p",
     .type = EG_KEY_EXPRESSION,
     .help = "The pressure of the given state.",
     .example = "1.0"},
    {0}};
