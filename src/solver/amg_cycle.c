/* AMG: one cycle, all of it queued on the device.
 *
 * A cycle smooths from 0, corrects by the next level, and smooths again, so that it is
 * symmetric. Each smoothing of degree k is k launches: products with the matrix, the diagonal
 * and all updates of vectors are one. The next level is solved by a cycle (V), or by two steps
 * of conjugate gradients with a cycle as their preconditioner (K). */
#include "solver/amg_parts.h"

static eg_status cycle(eg_amg *amg, int number, eg_buffer *b, eg_buffer *x);

/* Steps of smoothing from number `first` on, from r and d[0]; x is updated. */
static eg_status smooth_on(eg_amg *amg, eg_amg_level *l, int first, eg_buffer *r, eg_buffer *x)
{
    int at = 0; /* which of d is the last step; r[1 - at] is to be written */
    eg_status status = EG_OK;
    for (int i = first; i < l->degree; i++, at = 1 - at) {
        const eg_chebyshev_step *s = &l->steps[i];
        eg_buffer *next = r == l->r[0] ? l->r[1] : l->r[0];
        EG_TRY(eg_launch(amg->smooth_next, l->a->slices, EG_REAL("a", s->a), EG_REAL("c", s->c),
                         EG_REAL("w", s->w), EG_BUFFER("start", l->a->start),
                         EG_BUFFER("column", l->a->column), EG_BUFFER("value", l->a->value),
                         EG_BUFFER("inverse", l->diagonal), EG_BUFFER("r", r),
                         EG_BUFFER("d", l->d[at]), EG_BUFFER("next_r", next),
                         EG_BUFFER("next_d", l->d[1 - at]), EG_BUFFER("x", x)));
        r = next;
    }
done:
    return status;
}

/* x from nothing. */
static eg_status smooth_zero(eg_amg *amg, eg_amg_level *l, eg_buffer *b, eg_buffer *x)
{
    eg_status status = EG_OK;
    EG_TRY(eg_launch(amg->smooth_zero, l->a->slices, EG_REAL("c", l->steps[0].c),
                     EG_REAL("w", l->steps[0].w), EG_BUFFER("inverse", l->diagonal),
                     EG_BUFFER("b", b), EG_BUFFER("d", l->d[0]), EG_BUFFER("x", x)));
    EG_TRY(smooth_on(amg, l, 1, b, x));
done:
    return status;
}

/* x from `before`. */
static eg_status smooth(eg_amg *amg, eg_amg_level *l, eg_buffer *b, eg_buffer *before, eg_buffer *x)
{
    eg_status status = EG_OK;
    EG_TRY(eg_launch(amg->smooth_first, l->a->slices, EG_REAL("c", l->steps[0].c),
                     EG_REAL("w", l->steps[0].w), EG_BUFFER("start", l->a->start),
                     EG_BUFFER("column", l->a->column), EG_BUFFER("value", l->a->value),
                     EG_BUFFER("inverse", l->diagonal), EG_BUFFER("b", b), EG_BUFFER("x", before),
                     EG_BUFFER("r", l->r[0]), EG_BUFFER("d", l->d[0]), EG_BUFFER("better", x)));
    EG_TRY(smooth_on(amg, l, 1, l->r[0], x));
done:
    return status;
}

/* l->x solves for l->b, by two iterations. */
static eg_status iterate_twice(eg_amg *amg, int number)
{
    eg_amg_level *l = &amg->levels[number];
    const eg_vector_pair first[] = {{l->c, l->ac}, {l->c, l->b}};
    const eg_vector_pair second[] = {{l->e, l->ac}, {l->e, l->ae}, {l->e, l->rest}};
    eg_status status = EG_OK;
    EG_TRY(cycle(amg, number, l->b, l->c));
    EG_TRY(eg_sparse_apply(l->a, l->c, l->ac));
    EG_TRY(eg_vectors_dots_queued(l->vectors, 2, first, l->sums, 0));
    EG_TRY(eg_launch(amg->k_rest, l->a->slices, EG_BUFFER("sums", l->sums), EG_BUFFER("b", l->b),
                     EG_BUFFER("ac", l->ac), EG_BUFFER("rest", l->rest)));
    EG_TRY(cycle(amg, number, l->rest, l->e));
    EG_TRY(eg_sparse_apply(l->a, l->e, l->ae));
    EG_TRY(eg_vectors_dots_queued(l->vectors, 3, second, l->sums, 2));
    EG_TRY(eg_launch(amg->k_combine, l->a->slices, EG_BUFFER("sums", l->sums), EG_BUFFER("c", l->c),
                     EG_BUFFER("e", l->e), EG_BUFFER("x", l->x)));
done:
    return status;
}

static eg_status cycle(eg_amg *amg, int number, eg_buffer *b, eg_buffer *x)
{
    eg_amg_level *l = &amg->levels[number], *next = l + 1;
    eg_status status = EG_OK;
    if (l->inverse) return eg_sparse_apply(l->inverse, b, x);
    if (!l->prolongation) return smooth_zero(amg, l, b, x);
    EG_TRY(smooth_zero(amg, l, b, l->before));
    EG_TRY(eg_sparse_residual(l->a, b, l->before, l->r[0]));
    EG_TRY(eg_sparse_apply(l->restriction, l->r[0], next->b));
    EG_TRY(next->c ? iterate_twice(amg, number + 1) : cycle(amg, number + 1, next->b, next->x));
    EG_TRY(eg_sparse_add(l->prolongation, next->x, l->before));
    EG_TRY(smooth(amg, l, b, l->before, x));
done:
    return status;
}

/* amg->whole = the sum of what the ranks have in b. */
static eg_status add_over_ranks(eg_amg *amg, eg_buffer *b)
{
    const size_t n = (size_t)amg->info.rows[0];
    const bool single = amg->options.type == EG_F32;
    void *raw = single ? (void *)amg->stage_single : (void *)amg->stage;
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_download(b, 0, n, raw));
    for (size_t i = 0; single && i < n; i++)
        amg->stage[i] = (double)amg->stage_single[i];
    EG_TRY(eg_comm_sum(amg->options.comm, n, amg->stage));
    for (size_t i = 0; single && i < n; i++)
        amg->stage_single[i] = (float)amg->stage[i];
    EG_TRY(eg_buffer_upload(amg->whole, 0, n, raw));
done:
    return status;
}

eg_status eg_amg_apply(eg_amg *amg, eg_buffer *b, eg_buffer *x)
{
    if (!amg->whole) return cycle(amg, 0, b, x);
    eg_status status = add_over_ranks(amg, b);
    return status == EG_OK ? cycle(amg, 0, amg->whole, x) : status;
}

static eg_status apply(void *user, eg_buffer *x, eg_buffer *y)
{
    return eg_amg_apply(user, x, y);
}

eg_linear eg_amg_linear(eg_amg *amg)
{
    return (eg_linear){.user = amg, .apply = apply};
}
