/* Sparse matrices by rows, on the host: sorting, transposing, products.
 *
 * Products go row by row with a dense row of sums [gustavson1978]; every sum is taken in the
 * order of its terms in the first factor, so the bits depend on the matrices alone. */
#include "solver/sparse.h"

#include <stdlib.h>
#include <string.h>

eg_status eg_csr_create(eg_context *ctx, int32_t rows, int32_t columns, int64_t entries,
                        eg_csr **out)
{
    eg_csr *csr = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    if (rows < 0 || columns < 0 || entries < 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "a matrix of %d x %d with %lld entries", rows,
                       columns, (long long)entries);
    EG_TRY(eg_new(ctx, 1, &csr));
    *csr = (eg_csr){.ctx = ctx, .rows = rows, .columns = columns};
    EG_TRY(eg_new(ctx, (size_t)rows + 1, &csr->offset));
    EG_TRY(eg_new(ctx, (size_t)entries, &csr->column));
    EG_TRY(eg_new(ctx, (size_t)entries, &csr->value));
    *out = csr;
    csr = NULL;
done:
    eg_csr_destroy(&csr);
    return status;
}

void eg_csr_destroy(eg_csr **csr)
{
    if (!csr || !*csr) return;
    eg_context *ctx = (*csr)->ctx;
    eg_release(ctx, &(*csr)->value);
    eg_release(ctx, &(*csr)->column);
    eg_release(ctx, &(*csr)->offset);
    eg_release(ctx, csr);
}

/* Turns offset[i + 1] = number of entries of row i into offsets. */
static void add_up(eg_csr *csr)
{
    for (int32_t i = 0; i < csr->rows; i++)
        csr->offset[i + 1] += csr->offset[i];
}

/* Filling rows has moved offset[i] to the end of row i: moves them back. */
static void move_back(eg_csr *csr)
{
    for (int32_t i = csr->rows; i > 0; i--)
        csr->offset[i] = csr->offset[i - 1];
    csr->offset[0] = 0;
}

eg_status eg_csr_from_entries(eg_context *ctx, int32_t rows, int32_t columns, int64_t count,
                              const int32_t *row, const int32_t *column, const double *value,
                              eg_csr **out)
{
    eg_csr *csr = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_csr_create(ctx, rows, columns, count, &csr));
    for (int64_t k = 0; k < count; k++) {
        if (row[k] < 0 || row[k] >= rows || column[k] < 0 || column[k] >= columns)
            EG_TRY(eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "entry %lld is at row %d, column %d of a matrix of %d x %d",
                           (long long)k, row[k], column[k], rows, columns));
        csr->offset[row[k] + 1]++;
    }
    add_up(csr);
    for (int64_t k = 0; k < count; k++) {
        const int64_t at = csr->offset[row[k]]++;
        csr->column[at] = column[k];
        csr->value[at] = value[k];
    }
    move_back(csr);
    EG_TRY(eg_csr_sort(csr));
    *out = csr;
    csr = NULL;
done:
    eg_csr_destroy(&csr);
    return status;
}

typedef struct entry {
    int32_t column;
    int32_t place; /* within the row: the order of entries of one column */
    double value;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

eg_status eg_csr_sort(eg_csr *csr)
{
    int64_t longest = 0, to = 0;
    entry *row = NULL;
    eg_status status = EG_OK;
    for (int32_t i = 0; i < csr->rows; i++) {
        const int64_t length = csr->offset[i + 1] - csr->offset[i];
        if (length > longest) longest = length;
    }
    EG_TRY(eg_new(csr->ctx, (size_t)longest, &row));
    for (int32_t i = 0; i < csr->rows; i++) {
        const int64_t from = csr->offset[i], length = csr->offset[i + 1] - from;
        bool sorted = true;
        for (int64_t k = 0; k < length; k++) {
            row[k] = (entry){csr->column[from + k], (int32_t)k, csr->value[from + k]};
            sorted = sorted && (k == 0 || row[k - 1].column < row[k].column);
        }
        if (!sorted) qsort(row, (size_t)length, sizeof *row, compare_entries);
        csr->offset[i] = to;
        for (int64_t k = 0; k < length; k++) {
            if (k && row[k].column == row[k - 1].column) {
                csr->value[to - 1] += row[k].value;
            } else {
                csr->column[to] = row[k].column;
                csr->value[to++] = row[k].value;
            }
        }
    }
    csr->offset[csr->rows] = to;
done:
    eg_release(csr->ctx, &row);
    return status;
}

eg_status eg_csr_transpose(const eg_csr *a, eg_csr **out)
{
    eg_csr *t = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_csr_create(a->ctx, a->columns, a->rows, a->offset[a->rows], &t));
    for (int64_t k = 0; k < a->offset[a->rows]; k++)
        t->offset[a->column[k] + 1]++;
    add_up(t);
    for (int32_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++) {
            const int64_t at = t->offset[a->column[k]]++;
            t->column[at] = i;
            t->value[at] = a->value[k];
        }
    move_back(t);
    *out = t;
done:
    return status;
}

/* How many entries each row of a b has, in offset[row + 1]; `seen` [columns of b] is -1. */
static void count_product(const eg_csr *a, const eg_csr *b, int32_t *seen, int64_t *offset)
{
    for (int32_t i = 0; i < a->rows; i++) {
        int64_t count = 0;
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++)
            for (int64_t l = b->offset[a->column[k]]; l < b->offset[a->column[k] + 1]; l++)
                if (seen[b->column[l]] != i) {
                    seen[b->column[l]] = i;
                    count++;
                }
        offset[i + 1] = offset[i] + count;
    }
}

static void fill_product(const eg_csr *a, const eg_csr *b, int32_t *seen, double *sum, eg_csr *c)
{
    for (int32_t i = 0; i < a->rows; i++) {
        int64_t at = c->offset[i];
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++)
            for (int64_t l = b->offset[a->column[k]]; l < b->offset[a->column[k] + 1]; l++) {
                const int32_t j = b->column[l];
                if (seen[j] != i) {
                    seen[j] = i;
                    sum[j] = 0.0;
                    c->column[at++] = j;
                }
                sum[j] += a->value[k] * b->value[l];
            }
        for (int64_t k = c->offset[i]; k < at; k++)
            c->value[k] = sum[c->column[k]];
    }
}

eg_status eg_csr_multiply(const eg_csr *a, const eg_csr *b, eg_csr **out)
{
    eg_context *ctx = a->ctx;
    eg_csr *c = NULL;
    int32_t *seen = NULL;
    int64_t *offset = NULL;
    double *sum = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    if (a->columns != b->rows)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "a product of %d x %d and %d x %d matrices", a->rows,
                       a->columns, b->rows, b->columns);
    EG_TRY(eg_new(ctx, (size_t)b->columns, &seen));
    EG_TRY(eg_new(ctx, (size_t)b->columns, &sum));
    EG_TRY(eg_new(ctx, (size_t)a->rows + 1, &offset));
    memset(seen, 0xff, (size_t)b->columns * sizeof *seen);
    count_product(a, b, seen, offset);
    EG_TRY(eg_csr_create(ctx, a->rows, b->columns, offset[a->rows], &c));
    memcpy(c->offset, offset, ((size_t)a->rows + 1) * sizeof *offset);
    memset(seen, 0xff, (size_t)b->columns * sizeof *seen);
    fill_product(a, b, seen, sum, c);
    EG_TRY(eg_csr_sort(c));
    *out = c;
    c = NULL;
done:
    eg_csr_destroy(&c);
    eg_release(ctx, &offset);
    eg_release(ctx, &sum);
    eg_release(ctx, &seen);
    return status;
}

eg_status eg_csr_galerkin(const eg_csr *a, const eg_csr *p, const eg_csr *pt, eg_csr **out)
{
    eg_csr *ap = NULL, *own = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_csr_multiply(a, p, &ap));
    if (!pt) EG_TRY(eg_csr_transpose(p, &own));
    EG_TRY(eg_csr_multiply(pt ? pt : own, ap, out));
done:
    eg_csr_destroy(&own);
    eg_csr_destroy(&ap);
    return status;
}

void eg_csr_apply(const eg_csr *a, const double *x, double *y)
{
    for (int32_t i = 0; i < a->rows; i++) {
        double sum = 0.0;
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++)
            sum += a->value[k] * x[a->column[k]];
        y[i] = sum;
    }
}

/* --- over ranks ------------------------------------------------------------------------------- */

/* One rank's entries, as they travel. */
typedef struct message_entry {
    int32_t row, column;
    double value;
} message_entry;

/* All ranks' entries, [size][most], made into one matrix; `counts` are the ranks'. */
static eg_status join(const eg_csr *mine, int size, const int64_t *counts, size_t most,
                      const message_entry *all, eg_csr **out)
{
    eg_context *ctx = mine->ctx;
    int32_t *row = NULL, *column = NULL;
    double *value = NULL;
    int64_t total = 0, k = 0;
    eg_status status = EG_OK;
    for (int r = 0; r < size; r++)
        total += counts[r];
    EG_TRY(eg_new(ctx, (size_t)total, &row));
    EG_TRY(eg_new(ctx, (size_t)total, &column));
    EG_TRY(eg_new(ctx, (size_t)total, &value));
    for (int r = 0; r < size; r++)
        for (int64_t i = 0; i < counts[r]; i++, k++) {
            const message_entry *e = &all[(size_t)r * most + (size_t)i];
            row[k] = e->row;
            column[k] = e->column;
            value[k] = e->value;
        }
    EG_TRY(eg_csr_from_entries(ctx, mine->rows, mine->columns, total, row, column, value, out));
done:
    eg_release(ctx, &value);
    eg_release(ctx, &column);
    eg_release(ctx, &row);
    return status;
}

/* This rank's entries, and room for those of all. */
static eg_status prepare(const eg_csr *mine, int size, size_t most, message_entry **own,
                         message_entry **all)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(mine->ctx, most, own));
    EG_TRY(eg_new(mine->ctx, most * (size_t)size, all));
    for (int32_t i = 0; i < mine->rows; i++)
        for (int64_t k = mine->offset[i]; k < mine->offset[i + 1]; k++)
            (*own)[k] = (message_entry){i, mine->column[k], mine->value[k]};
done:
    return status;
}

eg_status eg_csr_sum_over_ranks(eg_comm *comm, const eg_csr *mine, eg_csr **out)
{
    eg_context *ctx = mine->ctx;
    const int size = eg_comm_size(comm);
    const int64_t count = mine->offset[mine->rows];
    int64_t *counts = NULL;
    message_entry *own = NULL, *all = NULL;
    size_t most = 0;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(comm, ctx, (size_t)size, &counts));
    EG_TRY(eg_comm_allgather(comm, sizeof count, &count, counts));
    for (int r = 0; r < size; r++)
        if ((size_t)counts[r] > most) most = (size_t)counts[r];
    EG_TRY(eg_comm_agree(comm, prepare(mine, size, most, &own, &all)));
    EG_TRY(eg_comm_allgather(comm, most * sizeof *own, own, all));
    EG_TRY(eg_comm_agree(comm, join(mine, size, counts, most, all, out)));
done:
    if (status != EG_OK) eg_csr_destroy(out);
    eg_release(ctx, &all);
    eg_release(ctx, &own);
    eg_release(ctx, &counts);
    return status;
}
