/* Writes pixels as PNG files, by libpng's simplified interface. */
#include "report/draw/png.h"

#ifdef EG_HAVE_PNG

#include <png.h>

eg_status eg_png_check(eg_context *ctx)
{
    (void)ctx;
    return EG_OK;
}

eg_status eg_png_write(const eg_raster *raster, eg_text *out)
{
    eg_status status = EG_OK;
    eg_context *ctx = raster->ctx;
    char *file = NULL;
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)raster->width,
                       .height = (png_uint_32)raster->height,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t length = PNG_IMAGE_PNG_SIZE_MAX(image);
    EG_TRY(eg_new(ctx, length, &file));
    if (!png_image_write_to_memory(&image, file, &length, 0, raster->rgb, 0, NULL)) {
        status =
            eg_fail(ctx, EG_ERROR_MEMORY, "libpng cannot write a picture of %d by %d pixels: %s",
                    raster->width, raster->height, image.message);
        goto done;
    }
    EG_TRY(eg_text_add(out, file, length));
done:
    png_image_free(&image);
    eg_release(ctx, &file);
    return status;
}

#else

eg_status eg_png_check(eg_context *ctx)
{
    return eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                   "this eagre was built without libpng, so it draws no PNG; take SVG, or build it "
                   "with libpng-dev");
}

eg_status eg_png_write(const eg_raster *raster, eg_text *out)
{
    (void)out;
    return eg_png_check(raster->ctx);
}

#endif
