/* The parts of `eagre compare`: what is compared, and how it is shown. */
#ifndef EG_CLI_COMPARE_H
#define EG_CLI_COMPARE_H

#include "cli/list.h"
#include "compare/compare.h"
#include "report/report.h"

#define COMPARE_FINITE_VOLUMES "fv"

/* A comparison of the command line. Settings are [degree][mesh][scheme], so that what is
 * compared is measured side by side. */
typedef struct compare_study {
    eg_context *ctx;            /* not owned */
    const cli_options *options; /* not owned */
    const eg_model *model;
    eg_case *cas; /* the case as it is given; owned */
    cli_list schemes, degrees;
    cli_list cells; /* of a mesh from a file: one, "" */
    bool has_exact; /* the case tells the solution: rows have its errors, else norms */
    int fields;     /* of the model */
    eg_compare_plan plan;
    eg_compare_setting *settings; /* [plan.count] owned, as the next two */
    double *cfl, *start;
    eg_compare_result *results; /* [plan.count] owned */
    eg_compare_rows rows;
    eg_compare_done done;
    eg_compare_identity identity;
    eg_text replacements, device_name, directory; /* what the identity refers to; where files go */
    eg_device *device;                            /* owned */
    const char *field;                            /* whose norms are taken; the model's */
    double *references;                           /* seconds of the reference work; owned */
    size_t reference_count;
    double reference_s; /* their median; 0: not measured */
    double drift;       /* by how much it has changed from the beginning to the end, relatively */
    size_t first_row;   /* of this session */
    double wall_s;
} compare_study;

/* compare_plan.c: reads the options and the case into the plan, and checks all settings. */
eg_status compare_make_plan(compare_study *study);

/* compare_case.c: the case as it is given, without what is for one scheme alone. */
eg_status compare_open_own(compare_study *study);
/* The case of a setting. */
eg_status compare_open_case(const compare_study *study, const eg_compare_setting *of, double cfl,
                            eg_case **out);

/* A replacement as a scheme has it: "fv:scheme.order=2" is one of fv alone, without what is before the
 * colon; NULL: this scheme does not have it. With scheme NULL that of any. */
const char *compare_word(const char *word, const char *scheme);
/* A key of the model's own; NULL: it has none of this name. */
const eg_key *compare_find_key(const eg_model *model, const char *section, const char *name);
/* "dg degree 2 cells 20"; returns `text`. */
#define COMPARE_NAME_BYTES 128
const char *compare_name(const eg_compare_setting *of, char text[COMPARE_NAME_BYTES]);

/* The setting of a degree, a mesh and a scheme, by their numbers in the lists. */
static inline size_t compare_index(const compare_study *s, size_t degree, size_t mesh,
                                   size_t scheme)
{
    return (degree * s->cells.count + mesh) * s->schemes.count + scheme;
}

/* compare_output.c: everything as text, as one JSON object, and the tables of a paper as
 * Markdown. */
eg_status compare_put_text(const compare_study *study, eg_text *out);
eg_status compare_put_json(const compare_study *study, eg_text *out);
eg_status compare_put_markdown(const compare_study *study, eg_text *out);

/* compare_chart.c: one chart of a degree. */
typedef enum compare_chart {
    COMPARE_ERROR_OVER_WORK,
    COMPARE_WORK_OVER_POINTS,
    COMPARE_STEP_OVER_POINTS,
    COMPARE_BARS,
    COMPARE_CHARTS
} compare_chart;
extern const char
    *const compare_chart_names[COMPARE_CHARTS]; /* of files, without degree and ending */
/* *drawn is false if there is nothing to draw. */
eg_status compare_put_chart(const compare_study *study, compare_chart kind, size_t degree,
                            bool *drawn, eg_text *out);

#endif
