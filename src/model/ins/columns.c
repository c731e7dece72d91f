/* Columns of series.csv that the model knows by name.
 *
 * Forces are those of the fluid on a body, per density and depth: with n the normal that points out
 * of the flow, into the body, and the stress σ = -p + ν(∇u + ∇uᵀ), a piece of its surface feels
 *
 *     f = -σ·n = p n - ν(∇u + ∇uᵀ)·n.
 *
 * Along a direction e = (a, b) that is
 *
 *     f·e = p (a nx + b ny) - ν (2 a u_x nx + (u_y + v_x) (a ny + b nx) + 2 b v_y ny)
 *
 * with derivatives of the polynomials of the elements there. Drag is along the flow, lift a quarter
 * turn to the left of it, and the moment about a point turns to the left, too. */
#include "model/ins/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In the order of eg_ins_series. */
enum { ENERGY, ENSTROPHY, DISSIPATION, DIVERGENCE, SPEED };
const char *const eg_ins_series[] = {"energy",     "enstrophy", "dissipation",
                                     "divergence", "speed",     NULL};

/* --- of the whole flow ------------------------------------------------------------------------ */

static eg_status add_series(const eg_case *cas, eg_known *out)
{
    static const struct {
        const char *of;
        eg_measure_kind kind;
    } list[] = {[ENERGY] = {"(u^2 + v^2)/2", EG_MEASURE_INTEGRAL},
                [ENSTROPHY] = {"(v_x - u_y)^2/2", EG_MEASURE_INTEGRAL},
                [DISSIPATION] = {"2*u_x^2 + 2*v_y^2 + (u_y + v_x)^2", EG_MEASURE_INTEGRAL},
                [DIVERGENCE] = {"u_x + v_y", EG_MEASURE_L2},
                [SPEED] = {"sqrt(u^2 + v^2)", EG_MEASURE_MOST}};
    static const char key[] = "output.series.columns";
    eg_status status = EG_OK;
    for (size_t i = 0; i < eg_case_count(cas, key); i++) {
        const int which = eg_case_choice_at(cas, key, i);
        EG_TRY(eg_known_add(
            out, &(eg_known_column){
                     .name = eg_ins_series[which],
                     .section = key,
                     .of = list[which].of,
                     .kind = list[which].kind,
                     .factor = which == DISSIPATION ? eg_case_real(cas, "ins.viscosity") : 1}));
    }
done:
    return status;
}

/* --- forces ----------------------------------------------------------------------------------- */

enum { KEY_BYTES = EG_MEASURE_KEY };

typedef struct force {
    const eg_case *cas; /* not owned */
    const char *name;   /* not owned */
    eg_known *out;      /* not owned */
    double viscosity;
    double e[2];                   /* the direction of the flow, of length 1 */
    double scale, scale_of_moment; /* 1/(U² L/2), 1/(U² L²/2); 0: there are no coefficients */
    bool turns;                    /* a moment is asked for, … */
    double x[2];                   /* … about this point */
} force;

static void key_of(const force *f, const char *name, char key[KEY_BYTES])
{
    snprintf(key, KEY_BYTES, "output.force.%s%s%s", f->name, name ? "." : "", name ? name : "");
}

/* Adds the column NAME.what of this formula, or (of NULL) a multiple of another; *number is its
 * own. */
static eg_status add(const force *f, const char *what, const char *of, int same, double factor,
                     int *number)
{
    char section[KEY_BYTES], over[KEY_BYTES];
    eg_text name = eg_text_new(f->out->ctx);
    eg_status status = EG_OK;
    key_of(f, NULL, section);
    key_of(f, "over", over);
    if (number) *number = f->out->count;
    EG_TRY(eg_text_printf(&name, "%s.%s", f->name, what));
    EG_TRY(eg_known_add(f->out, &(eg_known_column){.name = name.data,
                                                   .section = section,
                                                   .of = of,
                                                   .over = of ? over : NULL,
                                                   .kind = EG_MEASURE_INTEGRAL,
                                                   .factor = factor,
                                                   .same = same}));
done:
    eg_text_free(&name);
    return status;
}

/* Adds "(number)": a sign may stand before anything then. */
static eg_status put(eg_text *text, double number)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(text, "("));
    EG_TRY(eg_toml_put_real(text, number));
    EG_TRY(eg_text_puts(text, ")"));
done:
    return status;
}

static eg_status put_pressure(eg_text *text, double a, double b)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(text, "p*("));
    EG_TRY(put(text, a));
    EG_TRY(eg_text_puts(text, "*nx + "));
    EG_TRY(put(text, b));
    EG_TRY(eg_text_puts(text, "*ny)"));
done:
    return status;
}

/* f·(a, b). */
static eg_status put_traction(const force *f, eg_text *text, double a, double b)
{
    eg_status status = EG_OK;
    EG_TRY(put_pressure(text, a, b));
    EG_TRY(eg_text_puts(text, " - "));
    EG_TRY(put(text, f->viscosity));
    EG_TRY(eg_text_puts(text, "*("));
    EG_TRY(put(text, 2 * a));
    EG_TRY(eg_text_puts(text, "*u_x*nx + (u_y + v_x)*("));
    EG_TRY(put(text, a));
    EG_TRY(eg_text_puts(text, "*ny + "));
    EG_TRY(put(text, b));
    EG_TRY(eg_text_puts(text, "*nx) + "));
    EG_TRY(put(text, 2 * b));
    EG_TRY(eg_text_puts(text, "*v_y*ny)"));
done:
    return status;
}

/* (x - x0) f_y - (y - y0) f_x. */
static eg_status put_moment(const force *f, eg_text *text)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(text, "(x - "));
    EG_TRY(put(text, f->x[0]));
    EG_TRY(eg_text_puts(text, ")*("));
    EG_TRY(put_traction(f, text, 0, 1));
    EG_TRY(eg_text_puts(text, ") - (y - "));
    EG_TRY(put(text, f->x[1]));
    EG_TRY(eg_text_puts(text, ")*("));
    EG_TRY(put_traction(f, text, 1, 0));
    EG_TRY(eg_text_puts(text, ")"));
done:
    return status;
}

static eg_status add_columns(const force *f)
{
    int drag, lift, pressure, moment = -1;
    eg_text of = eg_text_new(f->out->ctx);
    eg_status status = EG_OK;
    EG_TRY(put_traction(f, &of, f->e[0], f->e[1]));
    EG_TRY(add(f, "drag", of.data, 0, 1, &drag));
    eg_text_clear(&of);
    EG_TRY(put_traction(f, &of, -f->e[1], f->e[0]));
    EG_TRY(add(f, "lift", of.data, 0, 1, &lift));
    eg_text_clear(&of);
    EG_TRY(put_pressure(&of, f->e[0], f->e[1]));
    EG_TRY(add(f, "drag_pressure", of.data, 0, 1, &pressure));
    if (f->turns) {
        eg_text_clear(&of);
        EG_TRY(put_moment(f, &of));
        EG_TRY(add(f, "moment", of.data, 0, 1, &moment));
    }
    if (f->scale == 0) goto done;
    EG_TRY(add(f, "cd", NULL, drag, f->scale, NULL));
    EG_TRY(add(f, "cl", NULL, lift, f->scale, NULL));
    EG_TRY(add(f, "cd_pressure", NULL, pressure, f->scale, NULL));
    if (f->turns) EG_TRY(add(f, "cm", NULL, moment, f->scale_of_moment, NULL));
done:
    eg_text_free(&of);
    return status;
}

static eg_status read_direction(force *f)
{
    char key[KEY_BYTES];
    key_of(f, "direction", key);
    for (size_t d = 0; d < 2; d++)
        f->e[d] = eg_case_real_at(f->cas, key, d);
    const double size = hypot(f->e[0], f->e[1]);
    if (!(size > 0 && isfinite(size))) return eg_case_fail(f->cas, key, -1, "that is no direction");
    for (size_t d = 0; d < 2; d++)
        f->e[d] /= size;
    return EG_OK;
}

static eg_status read_about(force *f)
{
    char key[KEY_BYTES];
    key_of(f, "about", key);
    f->turns = eg_case_given(f->cas, key);
    for (size_t d = 0; d < 2 && f->turns; d++) {
        f->x[d] = eg_case_real_at(f->cas, key, d);
        if (!isfinite(f->x[d]))
            return eg_case_fail(f->cas, key, (int)d,
                                "moments are about a point: give finite coordinates");
    }
    return EG_OK;
}

/* What may overflow or vanish although speed and length do not. */
static eg_status invert(const force *f, const char *key, const char *what, const char *by,
                        double divisor, double *out)
{
    *out = 1 / divisor;
    if (*out > 0 && isfinite(*out)) return EG_OK;
    return eg_case_fail(f->cas, key, -1,
                        "coefficients are %s over %s = %g: give speed and length in the units of "
                        "the case",
                        what, by, divisor);
}

static eg_status read_scale(force *f)
{
    eg_status status = EG_OK;
    const char *const names[] = {"speed", "length"};
    char keys[2][KEY_BYTES];
    double of[2];
    for (size_t i = 0; i < 2; i++)
        key_of(f, names[i], keys[i]);
    const bool given = eg_case_given(f->cas, keys[0]);
    if (given != eg_case_given(f->cas, keys[1]))
        return eg_case_fail(f->cas, keys[given ? 0 : 1], -1,
                            "coefficients need a speed and a length, or leave both out");
    if (!given) return EG_OK;
    for (size_t i = 0; i < 2; i++) {
        of[i] = eg_case_real(f->cas, keys[i]);
        if (!isfinite(of[i]))
            return eg_case_fail(f->cas, keys[i], -1, "coefficients need a %s that is finite",
                                names[i]);
    }
    /* The place is that of the value which is further off. */
    const char *key = keys[fabs(log(of[0])) < fabs(log(of[1]))];
    EG_TRY(invert(f, key, "forces", "U^2 L/2", of[0] * of[0] * of[1] / 2, &f->scale));
    if (f->turns)
        EG_TRY(invert(f, key, "moments", "U^2 L^2/2", of[0] * of[0] * of[1] / 2 * of[1],
                      &f->scale_of_moment));
done:
    return status;
}

static eg_status add_force(const eg_case *cas, const char *name, eg_known *out)
{
    force f = {
        .cas = cas, .name = name, .out = out, .viscosity = eg_case_real(cas, "ins.viscosity")};
    char key[KEY_BYTES];
    eg_status status = EG_OK;
    if (strlen(name) > EG_MEASURE_NAME)
        return eg_case_fail(cas, "output.force", -1, "names have at most %d bytes",
                            EG_MEASURE_NAME);
    key_of(&f, "over", key);
    if (eg_case_count(cas, key) == 0) return eg_case_fail(cas, key, -1, "it names nothing");
    EG_TRY(read_direction(&f));
    EG_TRY(read_about(&f));
    EG_TRY(read_scale(&f));
    EG_TRY(add_columns(&f));
done:
    return status;
}

eg_status eg_ins_columns(const eg_case *cas, eg_known *out)
{
    eg_status status = EG_OK;
    const char *name;
    EG_TRY(add_series(cas, out));
    for (size_t i = 0; (name = eg_case_name_at(cas, "output.force", i)); i++)
        EG_TRY(add_force(cas, name, out));
done:
    return status;
}
