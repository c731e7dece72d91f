/* What series.csv tells of a run: integrals and probes, as [output.integral.NAME] and
 * [output.probe.NAME] ask for them, and what a model knows by name (known.h). */
#ifndef EG_REPORT_MEASURES_H
#define EG_REPORT_MEASURES_H

#include "base/comm.h"
#include "case/case.h"
#include "report/known.h"
#include "report/state.h"

extern const char *const eg_measure_kinds[]; /* "integral", …, ended by NULL */

/* The names that expressions may use, with the variables of eg_quantity: the derivatives NAME_x,
 * NAME_y, NAME_z of components, x, y, z, t, the components (their names are borrowed), and the
 * normals. */
enum { EG_MEASURE_NORMALS = 3 };
typedef struct eg_measure_symbols {
    eg_context *ctx; /* not owned */
    eg_symbol *list; /* [count] owned */
    int count, slope_count;
    char *text; /* the names of derivatives; owned */
} eg_measure_symbols;

eg_status eg_measure_symbols_make(eg_context *ctx, const char *const *names, int name_count,
                                  eg_measure_symbols *out);
void eg_measure_symbols_free(eg_measure_symbols *symbols);

/* Where an expression is evaluated: derivatives are for integrals, normals for those over
 * boundaries. */
typedef enum eg_measure_place {
    EG_MEASURE_AT_POINTS,
    EG_MEASURE_IN_DOMAIN,
    EG_MEASURE_ON_BOUNDARIES
} eg_measure_place;

/* eg_case_formula of the names that there are at a place; one that could mean two things is an
 * error. */
eg_status eg_measure_formula(const eg_measure_symbols *symbols, const eg_case *cas, const char *key,
                             int i, eg_measure_place place, eg_expression **out);

/* The same of a formula that a model knows: of the symbols alone, without the case's constants. */
eg_status eg_measure_known_formula(const eg_measure_symbols *symbols, const char *formula,
                                   eg_measure_place place, eg_expression **out);

typedef struct eg_measures eg_measures;

typedef struct eg_measures_options {
    eg_comm *comm;
    const eg_case *cas;
    const eg_mesh *mesh;
    const char *const *names; /* [name_count] components of all fields */
    int name_count;
    const eg_known *known; /* not owned, lives as long as the measures; NULL: none */
} eg_measures_options;

/* What is wrong with an expression or a boundary's name fails at its place in the case, and so
 * does a point that is not in the mesh. Collective. */
eg_status eg_measures_create(eg_context *ctx, const eg_measures_options *options,
                             eg_measures **out);
/* Opens series.csv; `lines` is the directory of lines, made when the first is written.
 * `keep_until` as of eg_series_open. */
eg_status eg_measures_open(eg_measures *measures, const char *path, const char *lines,
                           const int64_t *keep_until);
/* Makes what lives on the fields' space, if it is not there. Collective. */
eg_status eg_measures_settle(eg_measures *measures, const eg_state *state);
/* Adds a row for the state as it is, and writes the lines. Collective. */
eg_status eg_measures_write(eg_measures *measures, const eg_state *state);
/* Lets go of the fields' space, before it is destroyed. */
void eg_measures_forget(eg_measures *measures);
eg_status eg_measures_close(eg_measures **measures);

#endif
