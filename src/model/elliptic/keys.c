/* The keys of model `elliptic`: its sections in a case file. */
#include "model/elliptic/keys.h"

#include <float.h>
#include <math.h>

/* In the order of eg_elliptic_boundary. */
static const char *const types[] = {"dirichlet", "neumann", "robin", NULL};

const eg_key eg_elliptic_keys[] = {
    {.section = "elliptic",
     .name = "source",
     .type = EG_KEY_EXPRESSION,
     .required = true,
     .help = "f in -div(k grad u) + lambda u = f, an expression of x, y, z.",
     .example = "\"8*pi^2*sin(2*pi*x)*sin(2*pi*y)\""},
    {.section = "elliptic",
     .name = "k",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"1\"",
     .help =
         "The diffusivity, positive everywhere. It may jump from one element to the next; where "
         "it is constant the operator is fastest.",
     .example = "\"x < 0.5 ? 1 : 1e6\""},
    {.section = "elliptic",
     .name = "lambda",
     .type = EG_KEY_REAL,
     .fallback = "0.0",
     .least = 0,
     .most = INFINITY,
     .help = "The coefficient of reaction. With 0 and boundaries that are all of type \"neumann\", "
             "or none, u is known up to a constant: it gets the mean 0, and of the data what has "
             "a mean is dropped."},
    {.section = "elliptic",
     .name = "penalty",
     .type = EG_KEY_REAL,
     .fallback = "1.0",
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "Times the least penalty of jumps between elements that theory suggests. More makes "
             "the problem harder to solve; less may make it unsolvable."},
    {.section = "exact",
     .name = "u",
     .type = EG_KEY_EXPRESSION,
     .help = "What u should be: its error is measured.",
     .example = "\"sin(2*pi*x)*sin(2*pi*y)\""},
    {.section = "exact",
     .name = "ux",
     .type = EG_KEY_EXPRESSION,
     .help = "What the derivative of u along x should be: with it, uy and in space uz the errors "
             "of the gradient are measured, too; give all of them or none.",
     .example = "\"2*pi*cos(2*pi*x)*sin(2*pi*y)\""},
    {.section = "exact",
     .name = "uy",
     .type = EG_KEY_EXPRESSION,
     .help = "What the derivative of u along y should be.",
     .example = "\"2*pi*sin(2*pi*x)*cos(2*pi*y)\""},
    {.section = "exact",
     .name = "uz",
     .type = EG_KEY_EXPRESSION,
     .help = "What the derivative of u along z should be.",
     .example = "0.0"},
    {.section = "boundary.*",
     .name = "type",
     .type = EG_KEY_CHOICE,
     .choices = types,
     .help =
         "What holds at this boundary; every boundary of the mesh needs one. \"dirichlet\": u = "
         "value; \"neumann\": k du/dn = value, n pointing outwards; \"robin\": k du/dn + "
         "coefficient u = value. The boundaries of a box are left, right (x), bottom, top (y), "
         "back and front (z).",
     .example = "\"dirichlet\""},
    {.section = "boundary.*",
     .name = "value",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "What is given there, an expression of x, y, z.",
     .example = "\"sin(pi*x)\""},
    {.section = "boundary.*",
     .name = "coefficient",
     .type = EG_KEY_EXPRESSION,
     .help = "Of type \"robin\" alone: not negative, an expression of x, y, z.",
     .example = "\"2 + x\""},
#include "model/elliptic/solver_rows.h"
    {0}};
