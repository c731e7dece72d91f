/* What model `ins` measures over time by short names: energy and its like of the whole flow, and
 * the forces on boundaries. */
#ifndef EG_INS_COLUMNS_H
#define EG_INS_COLUMNS_H

#include "case/case.h"
#include "report/report.h"

/* The choices of output.series.columns, ended by NULL. */
extern const char *const eg_ins_series[];

/* Fails at keys of [output.force.NAME] that do not go together. */
eg_status eg_ins_columns(const eg_case *cas, eg_known *out);

#endif
