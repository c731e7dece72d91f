/* Fifty formulas as expressions and, independently, as C: for tests of expressions on the host and on
 * every device. */
#ifndef EG_TEST_EXPRESSIONS_H
#define EG_TEST_EXPRESSIONS_H

#include <math.h>

#include "case/expression.h"

/* What an expression on a device owes to the one on the host. */
typedef enum formula_kind {
    FORMULA_EXACT,      /* sums, products, quotients, square roots, choices: the same bits */
    FORMULA_FUNCTION,   /* one function: 4 ulp */
    FORMULA_POWER,      /* one power: 16 ulp */
    FORMULA_COMPOSITION /* 8 eps times its condition */
} formula_kind;

typedef struct formula {
    formula_kind kind;
    const char *text;
    double (*value)(double x, double y, double z, double t);
    double (*jump)(double x, double y, double z,
                   double t); /* distance to the next jump; NULL: none */
} formula;

/* FORMULA(name, C) and JUMP(name, C) are functions of x, y, z, t. */
#define FORMULA(name, c)                                                                           \
    static inline double formula_##name(double x, double y, double z, double t)                    \
    {                                                                                              \
        (void)x, (void)y, (void)z, (void)t;                                                        \
        return c;                                                                                  \
    }
#define JUMP(name, c) FORMULA(jump_##name, c)

static const double math_pi = 3.14159265358979323846;

static inline double from_floor(double v)
{
    return fmin(v - floor(v), ceil(v) - v);
}

/* Host code may not contract either: each product is rounded before it is used. */
static inline double product(double a, double b)
{
    volatile double p = a * b;
    return p;
}

FORMULA(sum, x + y - z + t)
FORMULA(multiply_add, product(x, y) + z)
FORMULA(determinant, product(x, t) - product(y, z))
FORMULA(quotient, (x - y) / (z + t))
FORMULA(constant_quotient, x / 3 - 1.0 / 7 + y / 0.1)
FORMULA(horner, product(product(product(0.25, x) - 1.5, x) + 0.75, x) - 2)
FORMULA(root, sqrt(product(x, x) + product(y, y) + product(z, z)))
FORMULA(root_of_sign, sqrt(x))
FORMULA(signs, -(x *x) - -y)
FORMULA(whole_powers, product(x *x, x) + product(y * y, y *y) - product(product(t * t, t *t), t))
FORMULA(sixth, product(product(product(x, x), x), product(product(x, x), x)))
FORMULA(seventh, product(product(product(product(y, y), y), product(product(y, y), y)), y))
FORMULA(eighth,
        product(product(product(x, x), product(x, x)), product(product(x, x), product(x, x))))
FORMULA(inverse_powers, 1 / x + 1 / product(product(y, y), y) - 1 / (t * t))
FORMULA(limits, (y < x ? y : x) + ((t < z ? z : t) < 1 ? (t < z ? z : t) : 1))
FORMULA(absolute, fabs(x - y) * fabs(z))
FORMULA(piecewise, x < -1 ? -1 : x <= 0.5 ? y : product(z, t))
FORMULA(piecewise_if, x > y ? product(x, y) : x + y)
FORMULA(logic, (x < 0 && y > 0) || !(z >= t) ? 2 : 3)
FORMULA(relations, (double)(x == y) + 2 * (x != y) + 4 * (x < y) + 8 * (x >= t))
FORMULA(jump, (x - 0.25 < 0 ? 0 : 1) + (y < 0 ? 0.0 : 1.0) * 2)
FORMULA(fraction, product(t, 3) - floor(product(t, 3)))
FORMULA(modulus, x - product(0.3, floor(x / 0.3)))
FORMULA(modulus_of_both, y - product(z, floor(y / z)))
FORMULA(user_constants, product(1.4, product(0.3, 0.3)) * x / (1.4 - 1))

FORMULA(sin, sin(z))
FORMULA(cos, cos(y))
FORMULA(tan, tan(y))
FORMULA(asin, asin(x))
FORMULA(acos, acos(x))
FORMULA(atan, atan(z))
FORMULA(atan2, atan2(x, y))
FORMULA(sinh, sinh(y))
FORMULA(cosh, cosh(y))
FORMULA(tanh, tanh(x))
FORMULA(exp, exp(y))
FORMULA(log, log(z))
FORMULA(log10, log10(z))
FORMULA(power, pow(t, y))
FORMULA(power_of_two, pow(2, x))
FORMULA(cube_root, pow(t, 1.0 / 3))

FORMULA(standing_wave, sin(2 * math_pi * x) * cos(2 * math_pi * y) * exp(-0.1 * t))
FORMULA(gaussian, exp(-50 * ((x - 0.5) * (x - 0.5) + (y / 50) * (y / 50))))
FORMULA(vortex, pow(1 - (1.4 - 1) * 25 / (8 * 1.4 * math_pi * math_pi) * exp(1 - x * x - t * t),
                    1 / (1.4 - 1)))
FORMULA(shock_tube, x < 0.5 ? 1 : 0.125 + 0.2 * sin(5 * x))
FORMULA(steep, tanh(20 * (x - 0.5)) / (1 + y * y))
FORMULA(wave_packet, cos(40 * x - 3 * t) * exp(-x * x) + log(1 + t))
FORMULA(polar, sqrt(x *x + t * t) * cos(3 * atan2(t, x)))
FORMULA(saw, (x + 0.3 * t - floor(x + 0.3 * t)) * sinh(x) - acos(x / 2))
FORMULA(mach_area, pow((1 + 0.2 * (0.3 * t) * (0.3 * t)) / 1.2, 3) / (0.3 * t + 1e-3))

JUMP(piecewise, fmin(fabs(x + 1), fabs(x - 0.5)))
JUMP(piecewise_if, fabs(x - y))
JUMP(logic, fmin(fabs(x), fmin(fabs(y), fabs(z - t))))
JUMP(relations, fmin(fabs(x - y), fabs(x - t)))
JUMP(jump, fmin(fabs(x - 0.25), fabs(y)))
JUMP(fraction, from_floor(3 * t))
JUMP(modulus, from_floor(x / 0.3))
JUMP(modulus_of_both, from_floor(y / z))
JUMP(shock_tube, fabs(x - 0.5))
JUMP(saw, from_floor(x + 0.3 * t))

#define WITH_JUMP(kind, text, name)                                                                \
    {                                                                                              \
        kind, text, formula_##name, formula_jump_##name                                            \
    }
static const formula formulas[] = {
    {FORMULA_EXACT, "x + y - z + t", formula_sum, NULL},
    {FORMULA_EXACT, "x*y + z", formula_multiply_add, NULL},
    {FORMULA_EXACT, "x*t - y*z", formula_determinant, NULL},
    {FORMULA_EXACT, "(x - y)/(z + t)", formula_quotient, NULL},
    {FORMULA_EXACT, "x/3 - 1/7 + y/0.1", formula_constant_quotient, NULL},
    {FORMULA_EXACT, "((0.25*x - 1.5)*x + .75)*x - 2.", formula_horner, NULL},
    {FORMULA_EXACT, "sqrt(x*x + y^2 + pow(z, 2))", formula_root, NULL},
    {FORMULA_EXACT, "sqrt(x)", formula_root_of_sign, NULL},
    {FORMULA_EXACT, "-x^2 - -y", formula_signs, NULL},
    {FORMULA_EXACT, "x^3 + y^4 - t^5", formula_whole_powers, NULL},
    {FORMULA_EXACT, "x^6", formula_sixth, NULL},
    {FORMULA_EXACT, "y^7", formula_seventh, NULL},
    {FORMULA_EXACT, "x^8", formula_eighth, NULL},
    {FORMULA_EXACT, "x^-1 + y^-3 - t^-2", formula_inverse_powers, NULL},
    {FORMULA_EXACT, "min(x, y) + min(max(t, z), 1)", formula_limits, NULL},
    {FORMULA_EXACT, "abs(x - y)*abs(z)", formula_absolute, NULL},
    WITH_JUMP(FORMULA_EXACT, "x < -1 ? -1 : x <= 0.5 ? y : z*t", piecewise),
    WITH_JUMP(FORMULA_EXACT, "if(x > y, x*y, x + y)", piecewise_if),
    WITH_JUMP(FORMULA_EXACT, "x < 0 && y > 0 || !(z >= t) ? 2 : 3", logic),
    WITH_JUMP(FORMULA_EXACT, "(x == y) + 2*(x != y) + 4*(x < y) + 8*(x >= t)", relations),
    WITH_JUMP(FORMULA_EXACT, "step(x - 0.25) + step(y)*2", jump),
    WITH_JUMP(FORMULA_EXACT, "3*t - floor(3*t)", fraction),
    WITH_JUMP(FORMULA_EXACT, "mod(x, 0.3)", modulus),
    WITH_JUMP(FORMULA_EXACT, "mod(y, z)", modulus_of_both),
    {FORMULA_EXACT, "gamma*Mach^2*x/(gamma - 1)", formula_user_constants, NULL},

    {FORMULA_FUNCTION, "sin(z)", formula_sin, NULL},
    {FORMULA_FUNCTION, "cos(y)", formula_cos, NULL},
    {FORMULA_FUNCTION, "tan(y)", formula_tan, NULL},
    {FORMULA_FUNCTION, "asin(x)", formula_asin, NULL},
    {FORMULA_FUNCTION, "acos(x)", formula_acos, NULL},
    {FORMULA_FUNCTION, "atan(z)", formula_atan, NULL},
    {FORMULA_FUNCTION, "atan2(x, y)", formula_atan2, NULL},
    {FORMULA_FUNCTION, "sinh(y)", formula_sinh, NULL},
    {FORMULA_FUNCTION, "cosh(y)", formula_cosh, NULL},
    {FORMULA_FUNCTION, "tanh(x)", formula_tanh, NULL},
    {FORMULA_FUNCTION, "exp(y)", formula_exp, NULL},
    {FORMULA_FUNCTION, "log(z)", formula_log, NULL},
    {FORMULA_FUNCTION, "log10(z)", formula_log10, NULL},
    {FORMULA_POWER, "t^y", formula_power, NULL},
    {FORMULA_POWER, "2^x", formula_power_of_two, NULL},
    {FORMULA_POWER, "pow(t, 1/3)", formula_cube_root, NULL},

    {FORMULA_COMPOSITION, "sin(2*pi*x)*cos(2*pi*y)*exp(-0.1*t)", formula_standing_wave, NULL},
    {FORMULA_COMPOSITION, "exp(-50*((x - 0.5)^2 + (y/50)^2))", formula_gaussian, NULL},
    {FORMULA_COMPOSITION, "(1 - (gamma - 1)*25/(8*gamma*pi^2)*exp(1 - x^2 - t^2))^(1/(gamma - 1))",
     formula_vortex, NULL},
    WITH_JUMP(FORMULA_COMPOSITION, "x < 0.5 ? 1 : 0.125 + 0.2*sin(5*x)", shock_tube),
    {FORMULA_COMPOSITION, "tanh(20*(x - 0.5))/(1 + y^2)", formula_steep, NULL},
    {FORMULA_COMPOSITION, "cos(40*x - 3*t)*exp(-x^2) + log(1 + t)", formula_wave_packet, NULL},
    {FORMULA_COMPOSITION, "sqrt(x^2 + t^2)*cos(3*atan2(t, x))", formula_polar, NULL},
    WITH_JUMP(FORMULA_COMPOSITION, "mod(x + 0.3*t, 1)*sinh(x) - acos(x/2)", saw),
    {FORMULA_COMPOSITION, "((1 + 0.2*(Mach*t)^2)/1.2)^3/(Mach*t + 1e-3)", formula_mach_area, NULL},
};
#define FORMULA_COUNT (sizeof formulas / sizeof formulas[0])

/* What they are written in: the variables of a case and two constants of its user. */
static const eg_symbol formula_symbols[] = {
    {"x", EG_VARIABLE_X, 0}, {"y", EG_VARIABLE_Y, 0}, {"z", EG_VARIABLE_Z, 0},
    {"t", EG_VARIABLE_T, 0}, {"Mach", -1, 0.3},       {"gamma", -1, 1.4},
};
#define FORMULA_SYMBOLS (sizeof formula_symbols / sizeof formula_symbols[0])

#endif
