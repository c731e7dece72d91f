/* A V-cycle on levels that the caller makes.
 *
 * Going down, each level smooths from 0 and hands on its residual; going up, it adds the correction and
 * smooths again with the same polynomial, so that the cycle is symmetric. */
#include "solver/multigrid.h"

/* b and x of the finest level are the caller's. */
typedef struct workspace {
    eg_buffer *b, *x, *r;
} workspace;

struct eg_multigrid {
    eg_context *ctx; /* not owned */
    int count;
    eg_multigrid_level *levels; /* [count] owned */
    workspace *work;            /* [count + 1] owned; the last: the coarsest level, without r */
    eg_linear solve;
};

static eg_status create(const eg_multigrid_level *levels, int count, eg_vectors *coarsest,
                        eg_linear solve, eg_multigrid **out)
{
    eg_context *ctx = eg_device_context(coarsest->device);
    eg_multigrid *multigrid = NULL;
    eg_status status = EG_OK;
    if (count < 0) return eg_fail(ctx, EG_ERROR_ARGUMENT, "multigrid on %d levels", count);
    EG_TRY(eg_new(ctx, 1, &multigrid));
    *multigrid = (eg_multigrid){.ctx = ctx, .count = count, .solve = solve};
    EG_TRY(eg_new(ctx, (size_t)count, &multigrid->levels));
    EG_TRY(eg_new(ctx, (size_t)count + 1, &multigrid->work));
    for (int i = 0; i <= count; i++) {
        eg_vectors *vectors = i < count ? levels[i].vectors : coarsest;
        workspace *w = &multigrid->work[i];
        if (i < count) {
            multigrid->levels[i] = levels[i];
            EG_TRY(eg_vectors_new(vectors, &w->r));
        }
        if (i == 0) continue;
        EG_TRY(eg_vectors_new(vectors, &w->b));
        EG_TRY(eg_vectors_new(vectors, &w->x));
    }
    *out = multigrid;
    multigrid = NULL;
done:
    eg_multigrid_destroy(&multigrid);
    return status;
}

eg_status eg_multigrid_create(const eg_multigrid_level *levels, int count, eg_vectors *coarsest,
                              eg_linear solve, eg_multigrid **out)
{
    eg_comm *comm = count > 0 ? levels[0].vectors->comm : coarsest->comm;
    *out = NULL;
    eg_status status = create(levels, count, coarsest, solve, out);
    if (comm) status = eg_comm_agree(comm, status);
    if (status != EG_OK) eg_multigrid_destroy(out);
    return status;
}

void eg_multigrid_destroy(eg_multigrid **handle)
{
    if (!handle || !*handle) return;
    eg_multigrid *multigrid = *handle;
    eg_context *ctx = multigrid->ctx;
    for (int i = multigrid->count; multigrid->work && i >= 0; i--) {
        eg_buffer_destroy(&multigrid->work[i].r);
        eg_buffer_destroy(&multigrid->work[i].x);
        eg_buffer_destroy(&multigrid->work[i].b);
    }
    eg_release(ctx, &multigrid->work);
    eg_release(ctx, &multigrid->levels);
    eg_release(ctx, handle);
}

static eg_status go_down(eg_multigrid *multigrid, int number, eg_buffer *b, eg_buffer *x)
{
    const eg_multigrid_level *l = &multigrid->levels[number];
    eg_buffer *r = multigrid->work[number].r;
    eg_status status = EG_OK;
    EG_TRY(eg_chebyshev_smooth(l->smoother, b, x, true));
    EG_TRY(eg_linear_residual(l->vectors, &l->A, b, x, r));
    EG_TRY(l->transfer.restrict_residual(l->transfer.user, r, multigrid->work[number + 1].b));
done:
    return status;
}

static eg_status go_up(eg_multigrid *multigrid, int number, eg_buffer *b, eg_buffer *x)
{
    const eg_multigrid_level *l = &multigrid->levels[number];
    eg_status status = EG_OK;
    EG_TRY(l->transfer.add_correction(l->transfer.user, multigrid->work[number + 1].x, x));
    EG_TRY(eg_chebyshev_smooth(l->smoother, b, x, false));
done:
    return status;
}

eg_status eg_multigrid_apply(eg_multigrid *multigrid, eg_buffer *b, eg_buffer *x)
{
    const int count = multigrid->count;
    workspace *work = multigrid->work;
    eg_status status = EG_OK;
    for (int i = 0; i < count; i++)
        EG_TRY(go_down(multigrid, i, i ? work[i].b : b, i ? work[i].x : x));
    EG_TRY(multigrid->solve.apply(multigrid->solve.user, count ? work[count].b : b,
                                  count ? work[count].x : x));
    for (int i = count - 1; i >= 0; i--)
        EG_TRY(go_up(multigrid, i, i ? work[i].b : b, i ? work[i].x : x));
done:
    return status;
}

static eg_status apply(void *user, eg_buffer *x, eg_buffer *y)
{
    return eg_multigrid_apply(user, x, y);
}

eg_linear eg_multigrid_linear(eg_multigrid *multigrid)
{
    return (eg_linear){.user = multigrid, .apply = apply};
}
