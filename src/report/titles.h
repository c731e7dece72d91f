/* The columns that series.csv has of a case, in their order: step, time, dt, integrals, what the
 * model knows by name, probes at points. */
#ifndef EG_REPORT_TITLES_H
#define EG_REPORT_TITLES_H

#include "case/case.h"
#include "report/known.h"

/* In front of those asked for. */
enum { EG_TITLE_STEP, EG_TITLE_TIME, EG_TITLE_DT, EG_TITLES_BEFORE };

typedef struct eg_title {
    char *name;       /* of the column; owned */
    const char *unit; /* the case's; NULL: none */
    char *section;    /* of the case that asks for it; owned; NULL: every series has it */
} eg_title;

typedef struct eg_titles {
    eg_context *ctx; /* not owned */
    eg_title *list;  /* [count] owned */
    int count;
} eg_titles;

/* `names` [name_count] are the components of all fields; `known` may be NULL. */
eg_status eg_titles_make(eg_context *ctx, const eg_case *cas, const char *const *names,
                         int name_count, const eg_known *known, eg_titles *out);
void eg_titles_free(eg_titles *titles);

/* The column of this name, -1 if there is none. */
int eg_titles_find(const eg_titles *titles, const char *name);
/* Two columns of one name fail at what asks for one of them. */
eg_status eg_titles_check(const eg_titles *titles, const eg_case *cas);

#endif
