/* The keys of model `advection`: its sections in a case file. */
#include "model/advection/keys.h"

#include "element/element.h"
#include "model/advection/operator.h"

#include <float.h>
#include <math.h>

static const char *const types[] = {"outflow", "inflow", NULL};
static const char *const rules[] = {"gauss", "lobatto", NULL};
static const char *const bounds[] = {"none", "initial", "given", NULL};

const eg_key eg_advection_keys[] = {
    {.section = "advection",
     .name = "velocity",
     .type = EG_KEY_EXPRESSIONS,
     .required = true,
     .least_count = 2,
     .most_count = 3,
     .help = "The velocity b of u_t + div(b u) = source: an expression of x, y, z, t for each "
             "direction. Steps are many times faster where it is the same everywhere; it may "
             "still change in time.",
     .example = "[\"-y\", \"x\"]"},
    {.section = "advection",
     .name = "degree",
     .type = EG_KEY_EXPRESSION,
     .help = "The degree of each element, an expression of its centre x, y, z. It is rounded to "
             "the nearest whole number and kept between 0 and space.degree. Without this and "
             "`degree_file` all elements have space.degree.",
     .example = "\"x < 0.5 ? 1 : 4\""},
    {.section = "advection",
     .name = "degree_file",
     .type = EG_KEY_STRING,
     .help = "A text file with the degree of each element. It has whole numbers from 0 to "
             "space.degree in the order in which `eagre mesh generate` writes the elements, with "
             "spaces or line ends between them; what follows a # on a line is a comment.",
     .example = "\"degrees.txt\""},
    {.section = "advection",
     .name = "quadrature",
     .type = EG_KEY_CHOICE,
     .fallback = "\"gauss\"",
     .choices = rules,
     .help = "The points at which b u is integrated: Gauss or Gauss-Lobatto points. Where the "
             "velocity is the same everywhere, parallelograms and parallelepipeds need no points; "
             "giving this or `extra_points` uses points there too, and steps are slower."},
    {.section = "advection",
     .name = "extra_points",
     .type = EG_KEY_INTEGER,
     .least = 0,
     .most = EG_ADVECTION_EXTRA_MOST,
     .help = "How many points a side an element of degree N has beyond N + 1. The default, 1 with "
             "Gauss and 2 with Gauss-Lobatto points, is exact for velocities up to cubic in space "
             "on parallelograms and parallelepipeds, up to quadratic on other elements. One less "
             "is exact for linear velocities on the former, constant ones on the latter.",
     .example = "1"},
    {.section = "adapt",
     .name = "enabled",
     .type = EG_KEY_BOOLEAN,
     .fallback = "false",
     .help =
         "Whether degrees are raised and lowered during the run, between adapt.least and "
         "space.degree, as the solution needs it. The initial values choose those at the start."},
    {.section = "adapt",
     .name = "every",
     .type = EG_KEY_INTEGER,
     .least = 1,
     .most = INFINITY,
     .help = "Steps between two decisions. Without this a decision is due before anything has "
             "crossed an element since the last one; longer intervals lose accuracy.",
     .example = "10"},
    {.section = "adapt",
     .name = "least",
     .type = EG_KEY_INTEGER,
     .fallback = "1",
     .least = 1,
     .most = EG_DEGREE_MAX_QUAD,
     .help = "The lowest degree that an element may get. Hexahedra that are not parallelepipeds "
             "need 2, so that no mass is lost."},
    {.section = "adapt",
     .name = "raise",
     .type = EG_KEY_REAL,
     .fallback = "0.2",
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "The degree of an element is raised if its highest modes are larger than this times "
             "the root mean square of the highest modes of all elements. Lower values give more "
             "elements high degrees, and an error nearer to that of space.degree everywhere."},
    {.section = "adapt",
     .name = "lower",
     .type = EG_KEY_REAL,
     .fallback = "0.05",
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "The degree of an element is lowered as far as the modes that it loses are smaller "
             "than this times the root mean square of adapt.raise. It must be less than "
             "adapt.raise: between the two, degrees stay as they are."},
    {.section = "initial",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .required = true,
     .help = "A tracer and its values at the start. Any name makes a tracer; there may be several.",
     .example = "u = \"sin(2*pi*x)*sin(2*pi*y)\""},
    {.section = "exact",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .help = "What the tracer of this name should be at time t: its error is measured at the end.",
     .example = "u = \"sin(2*pi*(x - t))*sin(2*pi*(y - t))\""},
    {.section = "source",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .help = "What is added to the tracer of this name per time and volume: an expression of x, y, "
             "z, t.",
     .example = "u = \"exp(-t)\""},
    {.section = "limiter",
     .name = "bounds",
     .type = EG_KEY_CHOICE,
     .fallback = "\"none\"",
     .choices = bounds,
     .help = "Keeps tracers within bounds, at all points that the method uses, and their mass as "
             "it is. \"initial\": the least and the largest value of the tracer in [initial], as "
             "it is sampled in each element; \"given\": `low` and `high`. For velocities without "
             "divergence and without [source]; what comes in at boundaries (0 where nothing is "
             "given) must be within the bounds. Needs scheme \"euler\", \"ssp-rk2\" or "
             "\"ssp-rk3\", and may need shorter steps."},
    {.section = "limiter",
     .name = "low",
     .type = EG_KEY_REALS,
     .help = "The least that tracers may be, with bounds = \"given\". One value for all, or one "
             "for each in the order of [initial]; without this there is no lower bound.",
     .example = "0.0"},
    {.section = "limiter",
     .name = "high",
     .type = EG_KEY_REALS,
     .help = "The most that tracers may be, with bounds = \"given\". One value for all, or one for "
             "each in the order of [initial]; without this there is no upper bound.",
     .example = "1.0"},
    {.section = "boundary.*",
     .name = "type",
     .type = EG_KEY_CHOICE,
     .fallback = "\"outflow\"",
     .choices = types,
     .help =
         "What comes in at this boundary where the velocity points inwards: the values given here "
         "(\"inflow\"), or 0 (\"outflow\"). Where it points outwards tracers leave, whatever the "
         "type. The boundaries of a box are left, right (x), bottom, top (y), back and front (z)."},
    {.section = "boundary.*",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .help = "With type \"inflow\": the values with which the tracer of this name comes in, an "
             "expression of x, y, z, t; 0 if it is not given.",
     .example = "u = \"sin(2*pi*(y - t))\""},
    {0}};
