/* The section [output] of a case. */
#include "report/output.h"

#include "report/measures.h"
#include "report/schedule.h"
#include "report/titles.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const eg_key eg_output_keys[] = {
    {.section = "output",
     .name = "directory",
     .type = EG_KEY_STRING,
     .help = "Where results are written; the name of the case with \".out\" if it is not given. "
             "Results that are there are moved aside to a directory of the same name with \".1\" "
             "and so on, unless the run goes on from a checkpoint.",
     .example = "\"results\""},
    {.section = "output.fields",
     .name = "end",
     .type = EG_KEY_BOOLEAN,
     .fallback = "false",
     .help = "Whether the fields are written at the end of the run: a VTU file for ParaView and "
             "`eagre plot`."},
    {.section = "output.quantities",
     .name = "*",
     .type = EG_KEY_STRING,
     .help = "A quantity that is written beside the fields: an expression of them and of x, y, z, "
             "t, computed at the nodes.",
     .example = "energy = \"0.5*u^2\""},
    {0}};

#define EVERY(section_name, what, and_when)                                                        \
    {.section = section_name,                                                                      \
     .name = "steps",                                                                              \
     .type = EG_KEY_INTEGER,                                                                       \
     .least = 1,                                                                                   \
     .most = 1e15,                                                                                 \
     .help = what " every so many steps, and " and_when ".",                                       \
     .example = "100"},                                                                            \
    {                                                                                              \
        .section = section_name, .name = "time", .type = EG_KEY_REAL, .least = DBL_MIN,            \
        .most = INFINITY,                                                                          \
        .help = what " every so much time, counted from time.start, and " and_when                 \
                     ". Steps of time.cfl end there exactly; of time.dt it is the first that "     \
                     "gets there.",                                                                \
        .example = "0.1"                                                                           \
    }

const eg_key eg_output_time_keys[] = {
    EVERY("output.fields", "Fields are written", "at the start and the end"),
    EVERY("output.series", "A row of series.csv is written", "at the start and the end"),
    {.section = "output.integral.*",
     .name = "of",
     .type = EG_KEY_STRING,
     .required = true,
     .help = "What is measured for the column of this name in series.csv: an expression of the "
             "fields, of their derivatives (u_x, u_y, u_z of u), of x, y, z, t and, on "
             "boundaries, of the outward normal nx, ny, nz.",
     .example = "\"0.5*u^2\""},
    {.section = "output.integral.*",
     .name = "kind",
     .type = EG_KEY_CHOICE,
     .choices = eg_measure_kinds,
     .fallback = "\"integral\"",
     .help = "What of it: its integral, its mean, a norm (\"l1\", \"l2\", \"linf\"), its least or "
             "its largest value."},
    {.section = "output.integral.*",
     .name = "over",
     .type = EG_KEY_STRINGS,
     .fallback = "[\"domain\"]",
     .help = "Over the domain, over boundaries, or over groups of elements of a mesh from a file, "
             "by their names.",
     .example = "[\"left\", \"right\"]"},
    {.section = "output.integral.*",
     .name = "unit",
     .type = EG_KEY_STRING,
     .help = "The unit that the header of series.csv gives.",
     .example = "\"kg\""},
    {.section = "output.probe.*",
     .name = "at",
     .type = EG_KEY_REALS,
     .least_count = 2,
     .most_count = 3,
     .help = "A point; what is there becomes columns of series.csv.",
     .example = "[0.5, 0.25]"},
    {.section = "output.probe.*",
     .name = "from",
     .type = EG_KEY_REALS,
     .least_count = 2,
     .most_count = 3,
     .help = "The first point of a line; what is along it is written to a file of its own in "
             "lines/ whenever a row of series.csv is.",
     .example = "[0.0, 0.5]"},
    {.section = "output.probe.*",
     .name = "to",
     .type = EG_KEY_REALS,
     .least_count = 2,
     .most_count = 3,
     .help = "The last point of a line.",
     .example = "[1.0, 0.5]"},
    {.section = "output.probe.*",
     .name = "points",
     .type = EG_KEY_INTEGER,
     .least = 2,
     .most = 1e6,
     .fallback = "101",
     .help = "How many points a line has, at equal distances."},
    {.section = "output.probe.*",
     .name = "of",
     .type = EG_KEY_STRINGS,
     .help = "What is read: expressions of the fields, x, y, z and t. All fields if it is not "
             "given.",
     .example = "[\"u\", \"u^2\"]"},
    {.section = "output.signal.*",
     .name = "of",
     .type = EG_KEY_STRING,
     .required = true,
     .help = "A column of series.csv that repeats itself: its mean, amplitude and frequency are "
             "told at the end of the run.",
     .example = "\"body.lift\""},
    {.section = "output.signal.*",
     .name = "from",
     .type = EG_KEY_REAL,
     .help = "What is before this time is left out.",
     .example = "50.0"},
    {.section = "output.signal.*",
     .name = "periods",
     .type = EG_KEY_INTEGER,
     .least = 1,
     .most = 1e9,
     .help = "Only the last so many periods are measured.",
     .example = "10"},
    {.section = "output.signal.*",
     .name = "spread",
     .type = EG_KEY_REAL,
     .fallback = "0.01",
     .least = 0,
     .most = 1,
     .help =
         "The signal has settled where amplitudes of periods differ by no more, over their mean."},
    {.section = "output.signal.*",
     .name = "length",
     .type = EG_KEY_REAL,
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "A length L for the Strouhal number, frequency L/U; `speed` is U.",
     .example = "1.0"},
    {.section = "output.signal.*",
     .name = "speed",
     .type = EG_KEY_REAL,
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "The speed U for the Strouhal number.",
     .example = "1.0"},
    EVERY("output.checkpoint", "A checkpoint is written", "at the end"),
    {.section = "output.checkpoint",
     .name = "wall_s",
     .type = EG_KEY_REAL,
     .least = DBL_MIN,
     .most = INFINITY,
     .unit = "s",
     .help = "A checkpoint is written every so many seconds of the clock.",
     .example = "600"},
    {.section = "output.checkpoint",
     .name = "keep",
     .type = EG_KEY_INTEGER,
     .least = 1,
     .most = 1000,
     .fallback = "2",
     .help = "How many checkpoints are kept; older ones are removed."},
    {.section = "output.checkpoint",
     .name = "block_mib",
     .type = EG_KEY_INTEGER,
     .least = 1,
     .most = 4096,
     .fallback = "64",
     .unit = "MiB",
     .help = "How much of a checkpoint is in memory at once on each rank."},
    {0}};

/* A probe is a point or a line. */
static eg_status check_probe(const eg_case *cas, const char *name)
{
    char at[EG_MEASURE_KEY], from[EG_MEASURE_KEY], to[EG_MEASURE_KEY], section[EG_MEASURE_KEY];
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    snprintf(section, sizeof section, "output.probe.%s", name);
    if (name[strspn(name, allowed)] != '\0')
        return eg_case_fail(cas, section, -1,
                            "files are named after a probe: its name is of letters, digits, \"_\" "
                            "and \"-\"");
    snprintf(at, sizeof at, "output.probe.%s.at", name);
    snprintf(from, sizeof from, "output.probe.%s.from", name);
    snprintf(to, sizeof to, "output.probe.%s.to", name);
    const bool point = eg_case_given(cas, at);
    const bool line = eg_case_given(cas, from) || eg_case_given(cas, to);
    if (point && line)
        return eg_case_fail(cas, at, -1, "a probe is a point (at) or a line (from, to), not both");
    if (!point && !(eg_case_given(cas, from) && eg_case_given(cas, to)))
        return eg_case_fail(cas, section, -1,
                            "where is it? Give `at`, a point, or `from` and `to`, a line");
    return EG_OK;
}

/* Compiles a formula for the sake of its errors. */
static eg_status check_formula(const eg_case *cas, const char *key, int i,
                               const eg_measure_symbols *symbols, eg_measure_place place)
{
    eg_expression *expression = NULL;
    const eg_status status = eg_measure_formula(symbols, cas, key, i, place, &expression);
    eg_expression_destroy(&expression);
    return status;
}

/* Where an integral is taken, as far as that can be said without a mesh: what is not the domain
 * may be boundaries. */
static eg_measure_place place_of(const eg_case *cas, const char *name)
{
    char key[EG_MEASURE_KEY];
    snprintf(key, sizeof key, "output.integral.%s.over", name);
    const bool domain =
        eg_case_count(cas, key) == 1 && strcmp(eg_case_string_at(cas, key, 0), "domain") == 0;
    return domain ? EG_MEASURE_IN_DOMAIN : EG_MEASURE_ON_BOUNDARIES;
}

/* The formulas of an integral, a probe or a quantity. */
static eg_status check_formulas(const eg_case *cas, const char *section, const char *name,
                                const eg_measure_symbols *symbols)
{
    eg_status status = EG_OK;
    char key[EG_MEASURE_KEY];
    snprintf(key, sizeof key, "%s.%s%s", section, name,
             strcmp(section, "output.quantities") == 0 ? "" : ".of");
    if (!eg_case_given(cas, key)) return EG_OK;
    if (strcmp(section, "output.integral") == 0)
        return check_formula(cas, key, -1, symbols, place_of(cas, name));
    if (strcmp(section, "output.quantities") == 0)
        return check_formula(cas, key, -1, symbols, EG_MEASURE_AT_POINTS);
    for (size_t i = 0; i < eg_case_count(cas, key); i++)
        EG_TRY(check_formula(cas, key, (int)i, symbols, EG_MEASURE_AT_POINTS));
done:
    return status;
}

/* What a probe reads must be different things: each is a column. */
static eg_status check_titles(const eg_case *cas, const char *probe)
{
    char key[EG_MEASURE_KEY];
    snprintf(key, sizeof key, "output.probe.%s.of", probe);
    for (size_t i = 1; i < eg_case_count(cas, key); i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(eg_case_string_at(cas, key, i), eg_case_string_at(cas, key, k)) == 0)
                return eg_case_fail(cas, key, (int)i,
                                    "\"%s\" is read already, and would be a second column of the "
                                    "same name",
                                    eg_case_string_at(cas, key, k));
    return EG_OK;
}

static eg_status check_intervals(const eg_case *cas)
{
    static const char *const keys[] = {"output.fields.time", "output.series.time",
                                       "output.checkpoint.time"};
    const double start = eg_case_real(cas, "time.start"), end = eg_case_real(cas, "time.end");
    for (size_t i = 0; i < EG_COUNT(keys); i++)
        if (eg_case_given(cas, keys[i]) &&
            !eg_schedule_tells_apart(start, end, eg_case_real(cas, keys[i])))
            return eg_case_fail(
                cas, keys[i], -1,
                "times from %.9g to %.9g are rounded by about as much: give a longer "
                "interval",
                start, end);
    return EG_OK;
}

static eg_status check_name_length(const eg_case *cas, const char *section, const char *name)
{
    if (strlen(name) <= EG_MEASURE_NAME) return EG_OK;
    return eg_case_fail(cas, section, -1, "names have at most %d bytes", EG_MEASURE_NAME);
}

static eg_status check_quantities(const eg_case *cas, const char *const *names, int name_count,
                                  const eg_measure_symbols *symbols)
{
    static const char section[] = "output.quantities";
    eg_status status = EG_OK;
    const char *name;
    for (size_t i = 0; (name = eg_case_name_at(cas, section, i)); i++) {
        EG_TRY(check_name_length(cas, section, name));
        for (int k = 0; k < name_count; k++)
            if (strcmp(names[k], name) == 0)
                EG_TRY(eg_case_fail(cas, section, -1, "\"%s\" is a field, which is written anyway",
                                    name));
        EG_TRY(check_formulas(cas, section, name, symbols));
    }
done:
    return status;
}

/* Columns are of use only if rows are written. */
static eg_status check_when(const eg_case *cas, const char *section)
{
    if (eg_case_given(cas, "output.series.steps") || eg_case_given(cas, "output.series.time"))
        return EG_OK;
    return eg_case_fail(cas, section, -1, "when? Give output.series.steps or output.series.time");
}

/* What series.csv is made of. */
static eg_status check_measures(const eg_case *cas, const eg_measure_symbols *symbols,
                                const eg_known *known)
{
    static const char *const sections[] = {"output.probe", "output.integral"};
    eg_status status = EG_OK;
    const char *name;
    for (size_t k = 0; k < EG_COUNT(sections); k++) {
        for (size_t i = 0; (name = eg_case_name_at(cas, sections[k], i)); i++) {
            EG_TRY(check_name_length(cas, sections[k], name));
            if (k == 0) EG_TRY(check_probe(cas, name));
            EG_TRY(check_formulas(cas, sections[k], name, symbols));
            if (k == 0) EG_TRY(check_titles(cas, name));
        }
        if (eg_case_name_at(cas, sections[k], 0)) EG_TRY(check_when(cas, sections[k]));
    }
    if (known && known->count > 0) EG_TRY(check_when(cas, known->list[0].section));
done:
    return status;
}

/* Signals are columns. */
static eg_status check_signals(eg_context *ctx, const eg_case *cas, const eg_titles *titles)
{
    static const char section[] = "output.signal";
    const char **names = NULL, *name;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, (size_t)titles->count, &names));
    for (int i = 0; i < titles->count; i++)
        names[i] = titles->list[i].name;
    for (size_t i = 0; (name = eg_case_name_at(cas, section, i)); i++) {
        char of[EG_MEASURE_KEY], speed[EG_MEASURE_KEY], length[EG_MEASURE_KEY];
        EG_TRY(check_name_length(cas, section, name));
        EG_TRY(check_when(cas, section));
        snprintf(of, sizeof of, "%s.%s.of", section, name);
        snprintf(speed, sizeof speed, "%s.%s.speed", section, name);
        snprintf(length, sizeof length, "%s.%s.length", section, name);
        const char *column = eg_case_string(cas, of);
        if (eg_titles_find(titles, column) < 0) {
            const char *near = eg_nearest(column, names, (size_t)titles->count);
            EG_TRY(eg_case_fail(cas, of, -1, "series.csv has no column \"%s\"%s%s%s", column,
                                near ? "; did you mean \"" : "", near ? near : "",
                                near ? "\"?" : ""));
        }
        if (eg_case_given(cas, speed) != eg_case_given(cas, length))
            EG_TRY(eg_case_fail(cas, eg_case_given(cas, speed) ? speed : length, -1,
                                "a Strouhal number needs a length and a speed"));
    }
done:
    eg_release(ctx, &names);
    return status;
}

eg_status eg_output_check_case(eg_context *ctx, const eg_case *cas, bool in_time,
                               const char *const *names, int name_count, const eg_known *known)
{
    eg_measure_symbols symbols;
    eg_titles titles = {.ctx = ctx};
    eg_status status = eg_measure_symbols_make(ctx, names, name_count, &symbols);
    if (status != EG_OK) return status;
    EG_TRY(check_quantities(cas, names, name_count, &symbols));
    if (in_time) {
        EG_TRY(check_measures(cas, &symbols, known));
        EG_TRY(eg_titles_make(ctx, cas, names, name_count, known, &titles));
        EG_TRY(eg_titles_check(&titles, cas));
        EG_TRY(check_signals(ctx, cas, &titles));
        EG_TRY(check_intervals(cas));
    }
done:
    eg_titles_free(&titles);
    eg_measure_symbols_free(&symbols);
    return status;
}
