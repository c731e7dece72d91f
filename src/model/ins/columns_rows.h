/* The rows of what columns.c measures, to be included inside the table of keys of model `ins`. */
/* clang-format off */
    {.section = "output.series",
     .name = "columns",
     .type = EG_KEY_CHOICES,
     .choices = eg_ins_series,
     .help = "Columns of series.csv for the whole flow. \"energy\": the integral of (u^2 + v^2)/2; "
             "\"enstrophy\": that of (v_x - u_y)^2/2; \"dissipation\": the rate at which viscosity "
             "takes energy, the integral of viscosity (2 u_x^2 + 2 v_y^2 + (u_y + v_x)^2); "
             "\"divergence\": the l2 norm of u_x + v_y; \"speed\": the largest there is.",
     .example = "[\"energy\", \"enstrophy\"]"},
    {.section = "output.force.*",
     .name = "over",
     .type = EG_KEY_STRINGS,
     .required = true,
     .help = "The boundaries of a body; the force of the flow on it, over density and depth, "
             "becomes columns of series.csv: NAME.drag along the flow, NAME.lift a quarter turn to "
             "the left of it, and NAME.drag_pressure, what the pressure alone has in the drag.",
     .example = "[\"cylinder\"]"},
    {.section = "output.force.*",
     .name = "direction",
     .type = EG_KEY_REALS,
     .least_count = 2,
     .most_count = 2,
     .fallback = "[1.0, 0.0]",
     .help = "Where the flow goes, of any length."},
    {.section = "output.force.*",
     .name = "speed",
     .type = EG_KEY_REAL,
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "The speed U of the flow for coefficients, with `length` L: the columns NAME.cd, "
             "NAME.cl and NAME.cd_pressure are forces over U^2 L/2.",
     .example = "1.0"},
    {.section = "output.force.*",
     .name = "length",
     .type = EG_KEY_REAL,
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "The length L of the body for coefficients.",
     .example = "1.0"},
    {.section = "output.force.*",
     .name = "about",
     .type = EG_KEY_REALS,
     .least_count = 2,
     .most_count = 2,
     .help = "A point: the column NAME.moment is the moment about it, to the left, and NAME.cm the "
             "moment over U^2 L^2/2.",
     .example = "[0.0, 0.0]"},
    /* clang-format on */
