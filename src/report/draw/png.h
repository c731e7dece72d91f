/* Pixels as PNG files. */
#ifndef EG_REPORT_PNG_H
#define EG_REPORT_PNG_H

#include "report/draw/raster.h"

/* Adds the file to `out`. EG_ERROR_UNSUPPORTED where eagre was built without libpng. */
eg_status eg_png_write(const eg_raster *raster, eg_text *out);

/* EG_OK, or that error before anything is drawn. */
eg_status eg_png_check(eg_context *ctx);

#endif
