/* The runs of `eagre converge`, their errors and orders, and how they are shown. */
#ifndef EG_CLI_CONVERGE_H
#define EG_CLI_CONVERGE_H

#include "cli/list.h"
#include "device/device.h"
#include "model/model.h"

/* What is varied, in the order of the loops: the first is the outermost. */
enum { VARY_DEGREE, VARY_DT, VARY_MESH, VARY_COUNT };

/* What the column, or the key, of the meshes is called. */
#define CONVERGE_MESH_NAME(sweep) ((sweep)->refined ? "refined" : "cells")

#define LIST_MOST CLI_LIST_MOST
#define ENTRY_BYTES CLI_ENTRY_BYTES

/* The values of one quantity: those of an option, or the case's own as the only one. */
typedef struct converge_list {
    bool given; /* by its option */
    size_t count;
    char text[LIST_MOST][ENTRY_BYTES]; /* as on the command line; "": the case has no such thing */
    char replacement[LIST_MOST][2 * ENTRY_BYTES]; /* "mesh.cells=[8,4]"; only if given */
} converge_list;

enum { NORM_L1, NORM_L2, NORM_LINF, NORM_NODAL_L2, NORM_COUNT };
extern const char *const converge_norms[NORM_COUNT + 1]; /* their names, ended by NULL */

typedef struct converge_run {
    int64_t elements, dof;
    double size; /* what orders are taken by: elements^(-1/dim) or dt */
    double wall_s;
    double error[EG_MODEL_FIELDS_MAX][NORM_COUNT];
} converge_run;

/* A sweep is a block of runs [degrees][dts][meshes]. Orders are taken along one quantity; the runs
 * that differ in it alone are a group, and stand one after another. */
typedef struct converge_sweep {
    const eg_model *model;
    const char *title;            /* the case's; NULL: none */
    const eg_device_info *device; /* of this rank */
    int ranks;
    int norm; /* of the table and the chart */
    converge_list lists[VARY_COUNT];
    bool refined; /* the meshes are one that is refined so often, rather than boxes of cells */
    int along; /* VARY_MESH if there are several, else VARY_DT, else VARY_DEGREE: then no orders */
    size_t run_count, done_count;
    converge_run *runs;                /* [run_count] owned; the first done_count are there */
    char *fields[EG_MODEL_FIELDS_MAX]; /* [field_count] owned, from the first run on */
    int field_count;
    double wall_s;
} converge_sweep;

/* Orders count between errors above this: what is below has rounding in it. */
#define CONVERGE_FLOOR 1e-9

/* The value of a quantity in a run, as text. */
const char *converge_text(const converge_sweep *sweep, size_t run, int quantity);
size_t converge_group_size(const converge_sweep *sweep);

/* The order from the next coarser run of its group to a run; NaN if there is none or if an error is
 * not above CONVERGE_FLOOR. */
double converge_order(const converge_sweep *sweep, size_t run, int field, int norm);
/* The order of a group: between the two finest runs whose errors are above CONVERGE_FLOOR. */
double converge_quoted_order(const converge_sweep *sweep, size_t group, int field, int norm);

/* The results so far as a table for each field, as one JSON object, as CSV and as a chart. */
typedef eg_status converge_writer(const converge_sweep *sweep, eg_text *out);
converge_writer converge_put_table, converge_put_json, converge_put_csv, converge_put_chart;

#endif
