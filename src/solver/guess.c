/* First guesses by projection on the last solutions [fischer1998], of which the oldest is let go
 * [austin2021].
 *
 * The basis v_0, v_1, … is orthonormal in the scalar product of A, and v_0 … v_k span the k + 1 last
 * solutions: what the oldest alone has is in the last vector. The best guess for A x = b is
 *
 *     x_0 = Σ c_k v_k,   c_k = v_k·b
 *
 * The solution x = x_0 + e has in e the parts d_k = v_k·Ae of the basis, which are what the solver has left
 * undone, and one of length β = √(e·Ae - Σ d_k²) in a new direction u. With the coordinates a_k = c_k + d_k
 * of x, t_k = Σ_{l>k} a_l v_l + β u, its length s_k, and t_{-1} = x, the basis w of Gram and Schmidt for
 * x, v_0, v_1, … is
 *
 *     w_0 = x / s_{-1},   w_{k+1} = (s_k v_k - (a_k / s_k) t_k) / s_{k-1}
 *
 * which is one pass over the vectors. The last w does not count where there is no more room.
 *
 * Solutions that come steadily differ by ever smaller parts. As c_0 is large and others are not, v_k·A v_0
 * must be 0 as exactly as guesses are to be: so e, however small, is multiplied with A itself. The
 * difference of two residuals would be Ae, too, but for the rounding of what is larger by far, and so would
 * the scalar products of solutions that are kept as they are. */
#include "solver/guess.h"

#include "solver/krylov_parts.h"

#include <math.h>

enum { ROWS = 8 }; /* rows of a block, see vectors.k.c */

/* A new direction of a solution that is not more than this part of it, squared, is rounding. */
#define NOTHING 1e-26

typedef struct guess_part {
    size_t offset; /* in the basis */
    eg_kernel *combine, *project, *renew;
} guess_part;

struct eg_guess {
    eg_vectors *vectors; /* not owned */
    int most, count;
    bool fresh;         /* c is of a guess that nothing has been learned from */
    guess_part *parts;  /* [vectors->part_count] owned */
    eg_buffer *basis;   /* [most vectors] */
    eg_buffer *own;     /* the same, if it is owned */
    eg_buffer *partial; /* f64 [most + 1][part_count][blocks] */
    eg_buffer *sums;    /* f64 [most + 1] */
    eg_buffer *numbers; /* f64 [4][EG_GUESS_MOST]: c; or d, a, and the factors of v and t in w */
    double c[EG_GUESS_MOST]; /* of the last guess */
};

/* --- creation --------------------------------------------------------------------------------- */

static eg_status create_kernel(const eg_guess *g, const eg_vector_part *part, const char *entry,
                               eg_kernel **out)
{
    const eg_device *device = g->vectors->device;
    const eg_define defines[] = {
        {"MOST", g->most}, {"ROWS", ROWS}, {"WEIGHTED", part->weight != NULL}};
    return eg_kernel_create(
        g->vectors->device,
        &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                             .source = "solver/guess.k.c",
                             .entry = entry,
                             .real = g->vectors->type,
                             .lanes = part->lanes,
                             .rows_per_block = eg_device_get_info(device)->is_gpu ? ROWS : 0,
                             .tiles_per_block = 1,
                             .defines = defines,
                             .define_count = EG_COUNT(defines)},
        out);
}

/* Where parts stand in a basis of its own, which ends at the place that is returned. */
static size_t place_parts(eg_guess *g)
{
    size_t end = EG_OFFSET_BLOCK;
    for (int i = 0; i < g->vectors->part_count; i++) {
        const eg_vector_part *part = &g->vectors->parts[i];
        const size_t rows = (size_t)part->tiles * (size_t)(part->rows * part->lanes);
        g->parts[i].offset = end;
        end += (rows * (size_t)g->most + EG_OFFSET_BLOCK - 1) / EG_OFFSET_BLOCK * EG_OFFSET_BLOCK;
    }
    return end + EG_OFFSET_BLOCK;
}

static eg_status create_basis(eg_guess *g)
{
    const double zero = 0; /* the same bytes as a float's */
    const size_t count = place_parts(g);
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(g->vectors->device, g->vectors->type, count, &g->own));
    EG_TRY(eg_buffer_fill(g->own, 0, count, &zero));
    g->basis = g->own;
done:
    return status;
}

static eg_status make(eg_guess *g, eg_buffer *basis, const size_t *offset)
{
    const eg_vectors *v = g->vectors;
    const size_t sums = (size_t)g->most + 1;
    eg_status status = EG_OK;
    EG_TRY(eg_new(eg_device_context(v->device), (size_t)v->part_count, &g->parts));
    if (!basis) EG_TRY(create_basis(g));
    for (int i = 0; i < v->part_count; i++) {
        guess_part *part = &g->parts[i];
        if (basis) part->offset = offset[i];
        EG_TRY(create_kernel(g, &v->parts[i], "combine", &part->combine));
        EG_TRY(create_kernel(g, &v->parts[i], "project", &part->project));
        EG_TRY(create_kernel(g, &v->parts[i], "renew", &part->renew));
    }
    if (basis) g->basis = basis;
    EG_TRY(eg_buffer_create(v->device, EG_F64, sums * (size_t)(v->part_count * v->blocks),
                            &g->partial));
    EG_TRY(eg_buffer_create(v->device, EG_F64, sums, &g->sums));
    EG_TRY(eg_buffer_create(v->device, EG_F64, 4 * EG_GUESS_MOST, &g->numbers));
done:
    return status;
}

static eg_status create(eg_vectors *vectors, int most, eg_buffer *basis, const size_t *offset,
                        eg_guess **out)
{
    eg_context *ctx = eg_device_context(vectors->device);
    eg_status status = EG_OK;
    if (most < 1 || most > EG_GUESS_MOST)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "guesses from %d solutions; 1 to %d are possible",
                       most, EG_GUESS_MOST);
    EG_TRY(eg_new(ctx, 1, out));
    **out = (eg_guess){.vectors = vectors, .most = most};
    EG_TRY(make(*out, basis, offset));
done:
    return status;
}

eg_status eg_guess_create(eg_vectors *vectors, int most, eg_buffer *basis, const size_t *offset,
                          eg_guess **out)
{
    *out = NULL;
    eg_status status = create(vectors, most, basis, offset, out);
    if (vectors->comm) status = eg_comm_agree(vectors->comm, status);
    if (status != EG_OK) eg_guess_destroy(out);
    return status;
}

void eg_guess_destroy(eg_guess **handle)
{
    if (!handle || !*handle) return;
    eg_guess *g = *handle;
    eg_context *ctx = eg_device_context(g->vectors->device);
    eg_buffer_destroy(&g->numbers);
    eg_buffer_destroy(&g->sums);
    eg_buffer_destroy(&g->partial);
    eg_buffer_destroy(&g->own);
    for (int i = 0; g->parts && i < g->vectors->part_count; i++) {
        eg_kernel_destroy(&g->parts[i].renew);
        eg_kernel_destroy(&g->parts[i].project);
        eg_kernel_destroy(&g->parts[i].combine);
    }
    eg_release(ctx, &g->parts);
    eg_release(ctx, handle);
}

int eg_guess_count(const eg_guess *g)
{
    return g->count;
}

void eg_guess_resume(eg_guess *g, int count)
{
    g->count = count < 0 ? 0 : count < g->most ? count : g->most;
    g->fresh = false;
}

/* --- use -------------------------------------------------------------------------------------- */

static int64_t row_tiles(const eg_vector_part *part)
{
    return (part->tiles * part->rows + ROWS - 1) / ROWS;
}

/* sums [most + 1]: v_k·y, and last x·y. */
static eg_status project(eg_guess *g, eg_buffer *x, eg_buffer *y, double *sums)
{
    eg_vectors *v = g->vectors;
    const int64_t stride = (int64_t)v->part_count * v->blocks;
    eg_status status = EG_OK;
    for (int i = 0; i < v->part_count; i++) {
        const eg_vector_part *part = &v->parts[i];
        const size_t at = part->offset;
        EG_TRY(eg_launch(g->parts[i].project, v->blocks, EG_INTEGER("tiles", part->tiles),
                         EG_INTEGER("chunk", (part->tiles + v->blocks - 1) / v->blocks),
                         EG_INTEGER("rows", part->rows), EG_INTEGER("count", g->count),
                         EG_INTEGER("to", (int64_t)i * v->blocks), EG_INTEGER("stride", stride),
                         EG_BUFFER("weight", part->weight ? part->weight : g->sums),
                         EG_BUFFER_AT("basis", g->basis, g->parts[i].offset),
                         EG_BUFFER_AT("x", x, at), EG_BUFFER_AT("y", y, at),
                         EG_BUFFER("partial", g->partial)));
    }
    EG_TRY(eg_launch(v->finish, g->most + 1, EG_INTEGER("count", stride), EG_INTEGER("first", 0),
                     EG_BUFFER("partial", g->partial), EG_BUFFER("result", g->sums)));
    EG_TRY(eg_buffer_download(g->sums, 0, (size_t)g->most + 1, sums));
    if (v->comm) EG_TRY(eg_comm_sum(v->comm, (size_t)g->most + 1, sums));
done:
    return status;
}

/* y = Σ c_k v_k, with the c that are on the device; or y = x - that, if x is not NULL. */
static eg_status combine(eg_guess *g, eg_buffer *x, eg_buffer *y)
{
    eg_status status = EG_OK;
    for (int i = 0; i < g->vectors->part_count; i++) {
        const eg_vector_part *part = &g->vectors->parts[i];
        EG_TRY(eg_launch(g->parts[i].combine, row_tiles(part), EG_INTEGER("tiles", part->tiles),
                         EG_INTEGER("rows", part->rows), EG_INTEGER("count", g->count),
                         EG_INTEGER("from", x != NULL), EG_REAL("sign", x ? -1 : 1),
                         EG_BUFFER("c", g->numbers),
                         EG_BUFFER_AT("basis", g->basis, g->parts[i].offset),
                         EG_BUFFER_AT("x", x ? x : g->basis, x ? part->offset : 0),
                         EG_BUFFER_AT("y", y, part->offset)));
    }
done:
    return status;
}

eg_status eg_guess_make(eg_guess *g, eg_buffer *b, eg_buffer *x)
{
    double sums[EG_GUESS_MOST + 1];
    eg_status status = EG_OK;
    g->fresh = true;
    if (g->count == 0) return EG_OK;
    EG_TRY(project(g, b, b, sums));
    for (int k = 0; k < g->count; k++)
        g->c[k] = sums[k];
    EG_TRY(eg_buffer_upload(g->numbers, 0, (size_t)g->count, g->c));
    EG_TRY(combine(g, NULL, x));
done:
    return status;
}

/* The new basis, from what e has of the old one, d [count], and of a new direction. */
static eg_status renew(eg_guess *g, const double *d, double beta, eg_buffer *e)
{
    enum { D, A, KEEP, TAKE, NUMBERS };
    double numbers[NUMBERS][EG_GUESS_MOST] = {{0}}, rest = beta; /* s_k */
    eg_status status = EG_OK;
    for (int k = g->count - 1; k >= 0; k--) {
        const double a = g->c[k] + d[k], all = hypot(a, rest);
        numbers[D][k] = d[k];
        numbers[A][k] = a;
        numbers[KEEP][k] = rest / all;
        numbers[TAKE][k] = a / rest / all;
        rest = all;
    }
    EG_TRY(eg_buffer_upload(g->numbers, 0, NUMBERS * EG_GUESS_MOST, numbers));
    for (int i = 0; i < g->vectors->part_count; i++) {
        const eg_vector_part *part = &g->vectors->parts[i];
        EG_TRY(eg_launch(g->parts[i].renew, row_tiles(part), EG_INTEGER("tiles", part->tiles),
                         EG_INTEGER("rows", part->rows), EG_INTEGER("count", g->count),
                         EG_REAL("norm", 1 / rest), EG_BUFFER("part", g->numbers),
                         EG_BUFFER_AT("a", g->numbers, A * EG_GUESS_MOST),
                         EG_BUFFER_AT("keep", g->numbers, KEEP * EG_GUESS_MOST),
                         EG_BUFFER_AT("take", g->numbers, TAKE * EG_GUESS_MOST),
                         EG_BUFFER_AT("e", e, part->offset),
                         EG_BUFFER_AT("basis", g->basis, g->parts[i].offset)));
    }
    if (g->count < g->most) g->count++;
done:
    return status;
}

eg_status eg_guess_learn(eg_guess *g, eg_pcg *pcg, eg_buffer *x)
{
    double sums[EG_GUESS_MOST + 1], square, all = 0;
    eg_linear A;
    eg_buffer *vectors[2], *e = x;
    eg_status status = EG_OK;
    if (!g->fresh) return EG_OK;
    g->fresh = false;
    eg_pcg_lend(pcg, &A, vectors);
    if (g->count > 0) EG_TRY(combine(g, x, e = vectors[0]));
    EG_TRY(A.apply(A.user, e, vectors[1]));
    EG_TRY(project(g, e, vectors[1], sums));
    square = sums[g->most];
    for (int k = 0; k < g->count; k++) {
        square -= sums[k] * sums[k];
        all += g->c[k] * g->c[k];
    }
    /* Nothing new, but for what rounding makes of it. */
    if (!(square > NOTHING * all) || !isfinite(square)) return EG_OK;
    EG_TRY(renew(g, sums, sqrt(square), e));
done:
    return status;
}
