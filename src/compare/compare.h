/* The door of room `compare`: several schemes on the same case, at the largest CFL number that each
 * allows, and what each run has taken [zimmerman2018].
 *
 * A setting is a scheme, a degree and a mesh. For each the CFL number is given or found by the
 * rule of cfl.c; every run becomes a row, which is kept in a file, so that a comparison that was
 * interrupted goes on with the rows that are there. The room neither opens cases nor runs them:
 * the caller does, in a function of a setting and a CFL number. */
#ifndef EG_COMPARE_H
#define EG_COMPARE_H

#include "base/base.h"

/* --- the largest CFL number (cfl.c) ----------------------------------------------------------- */

typedef struct eg_compare_rule {
    double start;     /* the first that is tried */
    double tolerance; /* the relative change of the error that is allowed */
    int digits; /* significant ones to which the answer is refined; 0: it stays among the halves and
                   doubles of `start` */
} eg_compare_rule;

/* The error of a run with this CFL number; NaN or infinite: it is unstable. *stop ends the
 * search. */
typedef eg_status eg_compare_error_function(void *user, double cfl, double *error, bool *stop);

/* Finds the largest CFL number whose error differs from that of its half by less than the
 * tolerance, relatively. It is halved from the start until that holds; where it holds at the
 * start, it is doubled until it no longer does. Numbers between the answer and its double are
 * then searched by bisection, as if the rule held below some number and nowhere above. *cfl is 0
 * if the search was stopped; EG_ERROR_NUMERIC: it holds for none, or has no end upwards. */
eg_status eg_compare_find_cfl(eg_context *ctx, const eg_compare_rule *rule,
                              eg_compare_error_function *error, void *user, double *cfl);

/* --- rows (rows.c) ------------------------------------------------------------------------------ */

#define EG_COMPARE_NAME 24
#define EG_COMPARE_CELLS 40
#define EG_COMPARE_HASH 17 /* with the NUL */

typedef struct eg_compare_setting {
    char scheme[EG_COMPARE_NAME];
    int degree;
    char cells[EG_COMPARE_CELLS]; /* "20" or "20x10"; "": the mesh is read from a file */
} eg_compare_setting;

/* What one run has found. */
typedef struct eg_compare_row {
    eg_compare_setting of;
    double cfl;
    int repeat; /* of the same run, from 1 */
    bool stable;
    /* Of a stable run: */
    int64_t elements, points, steps; /* points: degrees of freedom of one field */
    double h;                        /* elements^(-1/dim) */
    double nodal_l2,
        l2;        /* errors of the first field, or its norms where there is no exact solution */
    double loop_s; /* the time loop */
    double ns_per_point_stage; /* NaN: the model does not tell */
    double reference_s;        /* the reference work in the same session */
} eg_compare_row;

typedef struct eg_compare_rows {
    eg_context *ctx;      /* not owned */
    eg_compare_row *list; /* [count] owned */
    size_t count, capacity;
} eg_compare_rows;

eg_compare_rows eg_compare_rows_new(eg_context *ctx);
void eg_compare_rows_free(eg_compare_rows *rows);
eg_status eg_compare_rows_add(eg_compare_rows *rows, const eg_compare_row *row);
/* Borrowed until the next row is added; NULL: there is none. */
const eg_compare_row *eg_compare_rows_find(const eg_compare_rows *rows,
                                           const eg_compare_setting *of, double cfl, int repeat);

/* What rows must agree in to belong to one comparison. Nothing is owned. */
typedef struct eg_compare_identity {
    char case_hash[EG_COMPARE_HASH]; /* of the case file and its mesh */
    const char *replacements;        /* of the command line */
    const char *device;
    const char *version;
    int ranks;
    bool exact; /* rows have errors, not norms */
} eg_compare_identity;

/* The hash of a text, for eg_compare_identity. */
void eg_compare_hash(const char *text, size_t length, char hash[EG_COMPARE_HASH]);

/* Rows of a file that were not taken. */
typedef struct eg_compare_left_out {
    size_t foreign;         /* of another comparison … */
    const char *difference; /* … and in what the first of them differs: "the case file" */
    bool cut;               /* the last line was not whole */
} eg_compare_left_out;

/* Adds all rows as a CSV file, with figures that follow from others. */
eg_status eg_compare_rows_put(const eg_compare_rows *rows, const eg_compare_identity *identity,
                              eg_text *out);
/* Adds those rows of a CSV file that belong to the comparison. `text` is cut into pieces; `name`
 * stands for the file in messages. A file that is something else is EG_ERROR_INPUT. */
eg_status eg_compare_rows_read(eg_compare_rows *rows, const eg_compare_identity *identity,
                               const char *name, char *text, size_t length,
                               eg_compare_left_out *left_out);

/* --- the comparison (compare.c) ----------------------------------------------------------------- */

/* Where a comparison is when a run begins. */
typedef struct eg_compare_progress {
    size_t index, count; /* of the setting */
    const eg_compare_setting *setting;
    double cfl;
    bool search; /* the run is one of the search for the CFL number, else one that is timed */
    int repeat;
    double left_s; /* foreseen for the rest; NaN: not yet known */
} eg_compare_progress;

typedef struct eg_compare_hooks {
    void *user; /* not owned */
    /* Before the first run that is made; may be NULL. */
    eg_status (*begin)(void *user);
    /* Runs a setting and fills the row from `stable` on. An unstable run is no failure. */
    eg_status (*run)(void *user, const eg_compare_setting *of, double cfl, eg_compare_row *row);
    eg_status (*keep)(void *user); /* after each new row; may be NULL */
    bool (*asked)(void *user);     /* before each run: whether to stop; may be NULL */
    void (*progress)(void *user, const eg_compare_progress *progress); /* may be NULL */
} eg_compare_hooks;

typedef struct eg_compare_plan {
    const eg_compare_setting *settings; /* [count] not owned */
    size_t count;
    const double *cfl;   /* [count] given; 0: by the rule; not owned */
    const double *start; /* [count] where the rule starts; not owned */
    double tolerance;
    int digits;
    int repeat; /* timed runs of each setting */
} eg_compare_plan;

typedef enum eg_compare_outcome {
    EG_COMPARE_PENDING, /* not reached */
    EG_COMPARE_DONE,
    EG_COMPARE_FAILED /* no CFL number is small enough, or the given one is unstable */
} eg_compare_outcome;

/* What is known of a setting. Times are medians over the repeated runs. */
typedef struct eg_compare_result {
    eg_compare_outcome outcome;
    double cfl;
    int64_t elements, points, steps;
    double h, nodal_l2, l2;
    double loop_s, step_s, ns_per_point_stage;
    double work, step_work; /* loop_s and step_s over the time of the reference work */
} eg_compare_result;

typedef struct eg_compare_done {
    size_t runs;   /* made */
    size_t taken;  /* rows that were there already */
    bool stopped;  /* by `asked` */
    size_t failed; /* settings without a result; the log has a warning for each */
} eg_compare_done;

/* Compares: results [count]. A setting that fails does not end it. On failure of anything else the
 * results so far are there. */
eg_status eg_compare(eg_context *ctx, const eg_compare_plan *plan, const eg_compare_hooks *hooks,
                     eg_compare_rows *rows, eg_compare_result *results, eg_compare_done *done);
/* Fills in results from rows anew, after the rows have changed. */
eg_status eg_compare_summarise(const eg_compare_plan *plan, const eg_compare_rows *rows,
                               eg_compare_result *results);

/* The observed order of nodal_l2 from the next coarser mesh of the same scheme and degree to
 * that of setting i; NaN: there is none. */
double eg_compare_order(const eg_compare_plan *plan, const eg_compare_result *results, size_t i);

double eg_compare_median(double *values, size_t count); /* sorts them */

#endif
