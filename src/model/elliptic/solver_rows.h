/* The rows of section [solver], to be included inside the table of keys of a model that solves with
 * preconditioners of precondition.h. Choices are in the order of eg_precondition_kind,
 * eg_levels_smoother, eg_chebyshev_kind, eg_levels_coarsening, eg_levels_penalty and eg_amg_kind. */
/* clang-format off */
    {.section = "solver",
     .name = "method",
     .type = EG_KEY_CHOICE,
     .fallback = "\"cg\"",
     .choices = (const char *const[]){"cg", NULL},
     .help = "\"cg\": preconditioned conjugate gradients."},
    {.section = "solver",
     .name = "preconditioner",
     .type = EG_KEY_CHOICE,
     .fallback = "\"pmg-cg-amg\"",
     .choices = (const char *const[]){"none", "mass", "blocks", "amg", "pmg-amg", "pmg-cg-amg",
                                          NULL},
     .help = "\"mass\": the inverse mass matrix of every element, good where lambda is large. "
             "\"blocks\": the inverse of its block of the operator, good there, too, and where "
             "elements differ in size. "
             "\"amg\": algebraic multigrid on the whole matrix, which takes much memory at high "
             "degrees. \"pmg-amg\": multigrid over degrees down to 1, with AMG below. "
             "\"pmg-cg-amg\": the same with continuous functions of degree 1 between the two and "
             "stronger smoothing, the fastest where lambda is not large. \"none\"."},
    {.section = "solver",
     .name = "smoother",
     .type = EG_KEY_CHOICE,
     .choices = (const char *const[]){"diagonal", "blocks", NULL},
     .help =
         "Of multigrid over degrees: what Chebyshev's method is applied with. \"diagonal\": the "
         "inverse of the operator's diagonal (default of pmg-amg); \"blocks\": the inverse of "
         "every element's block of the operator, which is stored (default of pmg-cg-amg)."},
    {.section = "solver",
     .name = "chebyshev",
     .type = EG_KEY_CHOICE,
     .choices = (const char *const[]){"first", "fourth", "optimal", NULL},
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
     .choices = (const char *const[]){"halve", "step", NULL},
     .help = "Of multigrid over degrees: to \"halve\" the degree from level to level, or to take "
             "every one (\"step\")."},
    {.section = "solver",
     .name = "coarse_penalty",
     .type = EG_KEY_CHOICE,
     .choices = (const char *const[]){"mean", "fine", "own", NULL},
     .help = "Of multigrid over degrees: whether lower degrees have the penalty of the highest "
             "(\"fine\"), their \"own\" (default of pmg-amg), or the geometric \"mean\" of the two "
             "(default of pmg-cg-amg)."},
    {.section = "solver",
     .name = "amg",
     .type = EG_KEY_CHOICE,
     .choices = (const char *const[]){"smoothed", "unsmoothed", NULL},
     .help = "The aggregation of algebraic multigrid: \"smoothed\" (default of pmg-cg-amg), or "
             "\"unsmoothed\" (default of amg and pmg-amg)."},
    {.section = "solver",
     .name = "precision",
     .type = EG_KEY_CHOICE,
     .fallback = "\"single\"",
     .choices = (const char *const[]){"single", "double", NULL},
     .help =
         "Of blocks, multigrid and AMG inside of conjugate gradients of double precision; the solution is "
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
