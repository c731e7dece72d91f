/* The door of room `report`: what is written for people to look at. */
#ifndef EG_REPORT_H
#define EG_REPORT_H

#include "report/chart.h"
#include "report/mesh_picture.h"
#include "report/palette.h"

#endif
