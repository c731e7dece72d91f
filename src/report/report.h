/* The door of room `report`: what a run leaves behind, and what is drawn for people to look at. */
#ifndef EG_REPORT_H
#define EG_REPORT_H

#include "report/chart/chart.h"
#include "report/checkpoint/checkpoint.h"
#include "report/csv.h"
#include "report/draw/palette.h"
#include "report/draw/png.h"
#include "report/known.h"
#include "report/mesh/picture.h"
#include "report/outcome.h"
#include "report/output.h"
#include "report/plot/plot.h"
#include "report/series.h"
#include "report/snapshot.h"
#include "report/state.h"
#include "report/vtu/vtu.h"

#endif
