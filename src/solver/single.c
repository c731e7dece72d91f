/* A linear map of single precision inside of a solver of double precision. */
#include "solver/amg.h"

#include <math.h>

struct eg_single {
    eg_vectors *vectors; /* not owned */
    eg_linear inner;
    eg_buffer *x, *y; /* f32 */
};

static eg_status create(eg_vectors *vectors, eg_linear inner, eg_single **out)
{
    const float zero = 0.0f;
    eg_context *ctx = eg_device_context(vectors->device);
    eg_single *single = NULL;
    eg_status status = EG_OK;
    if (vectors->type != EG_F64)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "a map of single precision belongs into a solver of double precision");
    EG_TRY(eg_new(ctx, 1, &single));
    *single = (eg_single){.vectors = vectors, .inner = inner};
    EG_TRY(eg_buffer_create(vectors->device, EG_F32, vectors->count, &single->x));
    EG_TRY(eg_buffer_create(vectors->device, EG_F32, vectors->count, &single->y));
    EG_TRY(eg_buffer_fill(single->y, 0, vectors->count, &zero));
    *out = single;
    single = NULL;
done:
    eg_single_destroy(&single);
    return status;
}

eg_status eg_single_create(eg_vectors *vectors, eg_linear inner, eg_single **out)
{
    *out = NULL;
    eg_status status = create(vectors, inner, out);
    if (vectors->comm) status = eg_comm_agree(vectors->comm, status);
    if (status != EG_OK) eg_single_destroy(out);
    return status;
}

void eg_single_destroy(eg_single **single)
{
    if (!single || !*single) return;
    eg_context *ctx = eg_device_context((*single)->vectors->device);
    eg_buffer_destroy(&(*single)->y);
    eg_buffer_destroy(&(*single)->x);
    eg_release(ctx, single);
}

/* Norms for which squares of what is a millionth of them, or a million times as large, are numbers of
 * single precision. */
#define LEAST 1e-12
#define MOST 1e12

/* x that is too small or too large for single precision goes there at a norm of about 1. */
static eg_status apply(void *user, eg_buffer *x, eg_buffer *y)
{
    eg_single *single = user;
    double norm, scale = 1.0;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_norm(single->vectors, x, &norm));
    if (norm > 0.0 && isfinite(norm) && !(norm > LEAST && norm < MOST))
        scale = ldexp(1.0, ilogb(norm));
    if (scale != 1.0) {
        EG_TRY(eg_vectors_copy(single->vectors, x, y));
        EG_TRY(eg_vectors_scale(single->vectors, 1.0 / scale, y));
    }
    EG_TRY(eg_vectors_convert(single->vectors, scale != 1.0 ? y : x, single->x));
    EG_TRY(single->inner.apply(single->inner.user, single->x, single->y));
    EG_TRY(eg_vectors_convert(single->vectors, single->y, y));
    if (scale != 1.0) EG_TRY(eg_vectors_scale(single->vectors, scale, y));
done:
    return status;
}

eg_linear eg_single_linear(eg_single *single)
{
    return (eg_linear){.user = single, .apply = apply};
}
