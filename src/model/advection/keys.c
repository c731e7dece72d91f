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
     .help = "The velocity: an expression of x, y, z, t for each direction. Where it is the same "
             "everywhere (it may change in time) steps are several times faster.",
     .example = "[\"-y\", \"x\"]"},
    {.section = "advection",
     .name = "degree",
     .type = EG_KEY_EXPRESSION,
     .help = "The degree of each element, an expression of its centre x, y, z: rounded to the "
             "nearest whole number and kept between 0 and space.degree, which all elements have "
             "without this.",
     .example = "\"x < 0.5 ? 1 : 4\""},
    {.section = "advection",
     .name = "degree_file",
     .type = EG_KEY_STRING,
     .help =
         "The same from a text file: a whole number from 0 to space.degree for each element, in "
         "the order in which `eagre mesh generate` writes the elements, with spaces or line ends "
         "between them; what follows a # on a line is a comment.",
     .example = "\"degrees.txt\""},
    {.section = "advection",
     .name = "quadrature",
     .type = EG_KEY_CHOICE,
     .fallback = "\"gauss\"",
     .choices = rules,
     .help =
         "The points at which b u is integrated: Gauss or Gauss-Lobatto points. Giving this or "
         "`extra_points` makes steps slower where the velocity is the same everywhere: without, "
         "elements that are parallelograms or parallelepipeds then need no points."},
    {.section = "advection",
     .name = "extra_points",
     .type = EG_KEY_INTEGER,
     .least = 0,
     .most = EG_ADVECTION_EXTRA_MOST,
     .help =
         "Points a side of an element of degree N beyond N + 1. The default, 1 with Gauss and 2 "
         "with Gauss-Lobatto points, is exact for velocities that are cubic in space on "
         "parallelograms and parallelepipeds, quadratic on other elements; one less for linear "
         "and constant ones.",
     .example = "1"},
    {.section = "adapt",
     .name = "enabled",
     .type = EG_KEY_BOOLEAN,
     .fallback = "false",
     .help = "Whether degrees are raised and lowered during the run, between adapt.least and "
             "space.degree, as the solution needs it. They start as the initial values need it."},
    {.section = "adapt",
     .name = "every",
     .type = EG_KEY_INTEGER,
     .least = 1,
     .most = INFINITY,
     .help =
         "Steps between two decisions. Without this a decision is due before anything has crossed "
         "an element since the last; longer intervals lose accuracy.",
     .example = "10"},
    {.section = "adapt",
     .name = "least",
     .type = EG_KEY_INTEGER,
     .fallback = "1",
     .least = 1,
     .most = EG_DEGREE_MAX_QUAD,
     .help =
         "The least degree of an element. Hexahedra that are not parallelepipeds need 2, so that "
         "no mass is lost."},
    {.section = "adapt",
     .name = "raise",
     .type = EG_KEY_REAL,
     .fallback = "0.2",
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "An element's degree is raised where the size of its highest modes is more than this "
             "times the root mean square of that of all elements. What is below it everywhere else "
             "adds little to the error of the run."},
    {.section = "adapt",
     .name = "lower",
     .type = EG_KEY_REAL,
     .fallback = "0.05",
     .least = DBL_MIN,
     .most = INFINITY,
     .help =
         "It is lowered as far as the modes that it loses are less than this times the same; less "
         "than adapt.raise, so that degrees do not go up and down."},
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
     .help = "What is added to the tracer of this name per time and volume, of x, y, z, t.",
     .example = "u = \"exp(-t)\""},
    {.section = "limiter",
     .name = "bounds",
     .type = EG_KEY_CHOICE,
     .fallback = "\"none\"",
     .choices = bounds,
     .help = "Keeps every tracer within bounds, at all points that the method uses, and its mass: "
             "those of its expression in [initial] as it is sampled in each element (\"initial\"), "
             "or `low` and `high` (\"given\"). For velocities without divergence; what comes in at "
             "boundaries must be within the bounds. Needs \"euler\" or an \"ssp\" scheme, and may "
             "need shorter steps."},
    {.section = "limiter",
     .name = "low",
     .type = EG_KEY_REALS,
     .help = "With bounds = \"given\": what tracers are at least, one value for all or one for "
             "each. Without it there is no such bound.",
     .example = "0.0"},
    {.section = "limiter",
     .name = "high",
     .type = EG_KEY_REALS,
     .help = "With bounds = \"given\": what tracers are at most, one value for all or one for "
             "each. Without it there is no such bound.",
     .example = "1.0"},
    {.section = "boundary.*",
     .name = "type",
     .type = EG_KEY_CHOICE,
     .fallback = "\"outflow\"",
     .choices = types,
     .help =
         "What is behind this boundary. Where the velocity points outwards tracers leave at any "
         "boundary; where it points inwards they come in with the values given here (type "
         "\"inflow\"), or with 0."},
    {.section = "boundary.*",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .help = "With type \"inflow\": the values with which the tracer of this name comes in.",
     .example = "u = \"sin(2*pi*(y - t))\""},
    {0}};
