/* The keys of model `ins`. */
#include "model/ins/keys.h"

#include "model/ins/columns.h"
#include "solver/guess.h"

#include <float.h>
#include <math.h>

/* In the order of eg_ins_boundary, eg_ins_advection, eg_ins_start and eg_ins_velocity. */
static const char *const types[] = {"inflow", "wall", "outflow", "slip", NULL};
static const char *const advections[] = {"cubature", "collocation", NULL};
static const char *const starts[] = {"lower", "exact", NULL};
static const char *const velocities[] = {"mass", "blocks", NULL};

const eg_key eg_ins_keys[] = {
    {.section = "ins",
     .name = "viscosity",
     .type = EG_KEY_REAL,
     .required = true,
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "The kinematic viscosity: du/dt + (u.grad) u = -grad p + viscosity lap u + force.",
     .example = "0.01"},
    {.section = "ins",
     .name = "force_x",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "The force along x, per mass, an expression of x, y, t.",
     .example = "\"sin(y)*cos(t)\""},
    {.section = "ins",
     .name = "force_y",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "The force along y."},
    {.section = "ins",
     .name = "advection",
     .type = EG_KEY_CHOICE,
     .fallback = "\"cubature\"",
     .choices = advections,
     .help = "How advection is integrated: \"cubature\", exactly, by rules of degree 3N, or "
             "\"collocation\", by its values at the nodes, which is cheaper and less robust where "
             "the flow is not resolved."},
    {.section = "ins",
     .name = "backflow",
     .type = EG_KEY_REAL,
     .fallback = "0.0",
     .least = 0,
     .most = 1,
     .help =
         "Where the flow turns back at a boundary of type \"outflow\": the part of its momentum "
         "that is not let in. 0: all is; with 0.5 or more no energy comes in, and vortices that "
         "leave do not make the flow grow without bound.",
     .example = "0.5"},
    {.section = "ins",
     .name = "pressure_order",
     .type = EG_KEY_INTEGER,
     .least = 0,
     .most = 2,
     .help = "From how many earlier pressures that of the new time is extrapolated when the "
             "velocity is predicted; 0: none. By default time.order - 1, but at least 1.",
     .example = "1"},
    {.section = "ins",
     .name = "penalty",
     .type = EG_KEY_REAL,
     .fallback = "1.0",
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "Times the least penalty of jumps between elements that theory suggests, in the "
             "Laplacians of velocity and pressure."},
    {.section = "ins",
     .name = "divergence_penalty",
     .type = EG_KEY_REAL,
     .fallback = "0.0",
     .least = 0,
     .most = INFINITY,
     .help = "How strongly, after each step, the divergence within elements and jumps of the "
             "normal velocity between them are penalised; 0: not at all. Flows that the mesh does "
             "not resolve need it, about 1, to stay stable.",
     .example = "1.0"},
    {.section = "ins",
     .name = "start",
     .type = EG_KEY_CHOICE,
     .fallback = "\"lower\"",
     .choices = starts,
     .help = "What the first steps of a higher time.order are made with: \"lower\", a lower "
             "order, or \"exact\", what [exact] says of times before the start."},
    {.section = "time",
     .name = "order",
     .type = EG_KEY_INTEGER,
     .fallback = "2",
     .least = 1,
     .most = 3,
     .help = "The order of backward differentiation, and of extrapolation in time."},
    {.section = "time",
     .name = "subcycles",
     .type = EG_KEY_INTEGER,
     .fallback = "0",
     .least = 0,
     .most = 1000,
     .help = "So many steps of advection alone, by a Runge-Kutta scheme of order 4, in every step "
             "of dt: advection then bounds dt/subcycles instead of dt. 0: advection is "
             "extrapolated."},
    {.section = "initial",
     .name = "u",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "The velocity along x at the start.",
     .example = "\"-sin(2*pi*y)\""},
    {.section = "initial",
     .name = "v",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "The velocity along y at the start."},
    {.section = "initial",
     .name = "p",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "The pressure, over the density, at the start; the first steps are more accurate if "
             "it is that of the velocity."},
    {.section = "exact",
     .name = "u",
     .type = EG_KEY_EXPRESSION,
     .help = "What the velocity along x should be at the end: its error is measured. Give u, v "
             "and p, or none of them.",
     .example = "\"-sin(2*pi*y)*exp(-t)\""},
    {.section = "exact",
     .name = "v",
     .type = EG_KEY_EXPRESSION,
     .help = "What the velocity along y should be."},
    {.section = "exact",
     .name = "p",
     .type = EG_KEY_EXPRESSION,
     .help = "What the pressure should be. Where no boundary is of type \"outflow\" its mean must "
             "be 0, which is what the computed one has."},
    {.section = "boundary.*",
     .name = "type",
     .type = EG_KEY_CHOICE,
     .choices = types,
     .help = "What holds at this boundary; every boundary of the mesh needs one. \"inflow\": the "
             "velocity is u, v, inwards or outwards; \"wall\": it is 0; \"outflow\": the pressure "
             "is `pressure` and viscosity du/dn is traction_x, traction_y, n pointing outwards; "
             "\"slip\": a wall without friction, or a symmetry, along x or y.",
     .example = "\"wall\""},
    {.section = "boundary.*",
     .name = "u",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "Of type \"inflow\": the velocity along x, an expression of x, y, t.",
     .example = "\"1 - y^2\""},
    {.section = "boundary.*",
     .name = "v",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "Of type \"inflow\": the velocity along y."},
    {.section = "boundary.*",
     .name = "pressure",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "Of type \"outflow\": the pressure, an expression of x, y, t."},
    {.section = "boundary.*",
     .name = "traction_x",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "Of type \"outflow\": viscosity du/dn."},
    {.section = "boundary.*",
     .name = "traction_y",
     .type = EG_KEY_EXPRESSION,
     .fallback = "\"0\"",
     .help = "Of type \"outflow\": viscosity dv/dn."},
    {.section = "solver",
     .name = "guesses",
     .type = EG_KEY_INTEGER,
     .fallback = "4",
     .least = 0,
     .most = EG_GUESS_MOST,
     .help =
         "From how many earlier solutions of each system, for u, v and p, the first guess of "
         "the next is made: the best combination of them. As many fields of each are kept, in "
         "checkpoints, too. 0: none; solves for the velocity then start from its extrapolation, "
         "those for the change of the pressure from 0.",
     .example = "0"},
    {.section = "solver",
     .name = "velocity",
     .type = EG_KEY_CHOICE,
     .choices = velocities,
     .help =
         "The preconditioner of the velocity: \"mass\", the inverse mass matrix of every element, "
         "or \"blocks\", the inverse of its block of the operator, which needs half the iterations "
         "or less, is stored in solver.precision, and is made anew whenever the length of steps "
         "changes. By default \"blocks\" with time.dt and \"mass\" with time.cfl."},
#include "model/elliptic/solver_rows.h"
#include "model/ins/columns_rows.h"
    {0}};
