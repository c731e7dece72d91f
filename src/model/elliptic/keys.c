/* The keys of model `elliptic`: its sections in a case file. */
#include "model/elliptic/keys.h"

#include <float.h>
#include <math.h>

/* In the order of eg_elliptic_boundary, eg_precondition_kind, eg_levels_smoother, eg_chebyshev_kind,
 * eg_levels_coarsening, eg_levels_penalty and eg_amg_kind. */
static const char *const types[] = {"dirichlet", "neumann", "robin", NULL};
static const char *const preconditioners[] = {"none", "mass", "amg", "pmg-amg", "pmg-cg-amg", NULL};
static const char *const smoothers[] = {"mass", "blocks", NULL};
static const char *const polynomials[] = {"first", "fourth", "optimal", NULL};
static const char *const coarsenings[] = {"halve", "step", NULL};
static const char *const penalties[] = {"mean", "fine", "own", NULL};
static const char *const amgs[] = {"smoothed", "unsmoothed", NULL};
static const char *const precisions[] = {"single", "double", NULL};
static const char *const methods[] = {"cg", NULL};

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
    {.section = "solver",
     .name = "method",
     .type = EG_KEY_CHOICE,
     .fallback = "\"cg\"",
     .choices = methods,
     .help = "\"cg\": preconditioned conjugate gradients."},
    {.section = "solver",
     .name = "preconditioner",
     .type = EG_KEY_CHOICE,
     .fallback = "\"pmg-cg-amg\"",
     .choices = preconditioners,
     .help = "\"mass\": the inverse mass matrix of every element, good where lambda is large. "
             "\"amg\": algebraic multigrid on the whole matrix, which takes much memory at high "
             "degrees. \"pmg-amg\": multigrid over degrees down to 1, with AMG below. "
             "\"pmg-cg-amg\": the same with continuous functions of degree 1 between the two and "
             "stronger smoothing, the fastest where lambda is not large. \"none\"."},
    {.section = "solver",
     .name = "smoother",
     .type = EG_KEY_CHOICE,
     .choices = smoothers,
     .help =
         "Of multigrid over degrees: what Chebyshev's method is applied with. \"mass\": the "
         "inverse mass matrix of every element (default of pmg-amg); \"blocks\": the inverse of "
         "its block of the operator, which is stored (default of pmg-cg-amg)."},
    {.section = "solver",
     .name = "chebyshev",
     .type = EG_KEY_CHOICE,
     .choices = polynomials,
     .help =
         "Of multigrid over degrees: the polynomial of smoothing, of the \"first\" kind (default "
         "of pmg-amg), of the \"fourth\", or of the fourth with \"optimal\" weights (default of "
         "pmg-cg-amg)."},
    {.section = "solver",
     .name = "smoother_degree",
     .type = EG_KEY_INTEGER,
     .least = 1,
     .most = 16,
     .help = "Of multigrid over degrees: the degree of that polynomial, at most 6 if it is "
             "\"optimal\". More makes for fewer, dearer iterations. Default: 2 of pmg-amg; 3 of "
             "pmg-cg-amg, and half the ratio of length to height where elements are stretched.",
     .example = "4"},
    {.section = "solver",
     .name = "coarsening",
     .type = EG_KEY_CHOICE,
     .fallback = "\"halve\"",
     .choices = coarsenings,
     .help = "Of multigrid over degrees: to \"halve\" the degree from level to level, or to take "
             "every one (\"step\")."},
    {.section = "solver",
     .name = "coarse_penalty",
     .type = EG_KEY_CHOICE,
     .choices = penalties,
     .help = "Of multigrid over degrees: whether lower degrees have the penalty of the highest "
             "(\"fine\"), their \"own\" (default of pmg-amg), or the geometric \"mean\" of the two "
             "(default of pmg-cg-amg)."},
    {.section = "solver",
     .name = "amg",
     .type = EG_KEY_CHOICE,
     .choices = amgs,
     .help = "The aggregation of algebraic multigrid: \"smoothed\", in V-cycles (default of "
             "pmg-cg-amg), or \"unsmoothed\", in K-cycles (default of amg and pmg-amg)."},
    {.section = "solver",
     .name = "precision",
     .type = EG_KEY_CHOICE,
     .fallback = "\"single\"",
     .choices = precisions,
     .help =
         "Of multigrid and AMG inside of conjugate gradients of double precision; the solution is "
         "the same."},
    {.section = "solver",
     .name = "tolerance",
     .type = EG_KEY_REAL,
     .fallback = "1e-8",
     .least = DBL_MIN,
     .most = 1,
     .help = "The norm of the residual at which to stop, as part of that of the right-hand side."},
    {.section = "solver",
     .name = "iterations",
     .type = EG_KEY_INTEGER,
     .fallback = "10000",
     .least = 1,
     .most = 1e9,
     .help = "At most so many. If they do not suffice the run fails."},
    {0}};
