/* What the files of measures share. */
#ifndef EG_REPORT_MEASURES_PARTS_H
#define EG_REPORT_MEASURES_PARTS_H

#include "field/locate.h"
#include "report/measures.h"
#include "report/series.h"
#include "report/titles.h"

typedef struct integral {
    eg_measure_kind kind;
    int domain;                /* of eg_measures.domains */
    eg_expression *expression; /* owned; NULL: it is that of integral `same` */
    double factor;             /* what is found is multiplied with it */
    int same;
} integral;

/* What integrals are taken over: those over the same share a kernel. */
typedef struct domain {
    int *boundaries, *groups; /* of elements; neither: the domain; owned */
    int boundary_count, group_count;
    eg_quantity *quantity;       /* NULL: not made yet */
    eg_quantity_result *results; /* [integral_count] of its own integrals, in their order; owned */
} domain;

typedef struct probe {
    char name[EG_MEASURE_NAME + 1];
    bool line;
    int first, points;           /* of eg_measures.x */
    eg_expression **expressions; /* [expression_count] owned */
    char **labels;               /* [expression_count] owned */
    int expression_count;
} probe;

struct eg_measures {
    eg_context *ctx;       /* not owned */
    eg_comm *comm;         /* not owned */
    const eg_case *cas;    /* not owned */
    const eg_mesh *mesh;   /* not owned */
    const eg_known *known; /* not owned; NULL: the model knows none */
    char *lines;           /* the directory of lines */
    int name_count;        /* components of all fields */
    eg_measure_symbols symbols;
    eg_titles titles;
    integral *integrals; /* those of the case, then those that the model knows */
    int integral_count;
    domain *domains; /* [domain_count] */
    int domain_count;
    probe *probes;
    int probe_count;
    int point_count;
    double *x;         /* [point_count][dim] */
    double *values;    /* [point_count][name_count] */
    double *read;      /* [point_count][components] of one field */
    eg_probe *locate;  /* NULL: not made yet */
    eg_series *series; /* rank 0 */
    double *row;       /* [titles.count] */
};

/* measures_case.c: fills in integrals, domains, probes and their points. */
eg_status eg_measures_read_case(eg_measures *measures);
void eg_measures_free_case(eg_measures *measures);

#endif
