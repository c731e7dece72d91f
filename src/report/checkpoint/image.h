/* HDF5 files in memory: arrays with paths, made and read without HDF5 ever touching a file.
 *
 *     eg_image_create(ctx, &image);                       eg_image_open(ctx, name, bytes, length, &image);
 *     eg_image_put(image, "fields/u/values", …);          eg_image_get(image, "fields/u/values", …);
 *     eg_image_finish(image, &bytes, &length);
 *     eg_image_close(&image);                             eg_image_close(&image);
 *
 * Arrays have one dimension and are stored as they are, little-endian, in one piece; the same arrays give
 * the same bytes. HDF5 trusts what it reads: bytes that may be damaged must be checked before they are
 * opened. Without HDF5 everything here fails with EG_ERROR_UNSUPPORTED. */
#ifndef EG_REPORT_IMAGE_H
#define EG_REPORT_IMAGE_H

#include "device/device.h"

typedef struct eg_image eg_image;

/* EG_OK if eagre was built with HDF5. */
eg_status eg_image_supported(eg_context *ctx);

/* An empty file in memory. */
eg_status eg_image_create(eg_context *ctx, eg_image **out);
/* Adds an array of EG_F64, EG_I64 or EG_U8; groups on the path ("fields/u") are made. */
eg_status eg_image_put(eg_image *image, const char *path, eg_type type, size_t count,
                       const void *values);
/* The bytes of the file; release with eg_release. */
eg_status eg_image_finish(eg_image *image, void **bytes, size_t *length);

/* Opens a file of these bytes, which are copied; `name` stands in messages and is copied, too. */
eg_status eg_image_open(eg_context *ctx, const char *name, const void *bytes, size_t length,
                        eg_image **out);
/* Reads an array that must have this type and count: anything else is EG_ERROR_INPUT. */
eg_status eg_image_get(eg_image *image, const char *path, eg_type type, size_t count, void *values);

void eg_image_close(eg_image **image);

#endif
