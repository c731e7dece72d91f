/* The matrix of the operator, found by asking it.
 *
 * A product with a vector that is 1 at node j of all elements of one colour, and 0 elsewhere, has in
 * the rows of any element a column of one element alone, itself or a neighbour, as colours differ
 * up to distance 2 [curtis1974]. That is as many products as colours times nodes, 7 to 9 colours for
 * triangles, and there is no second discretisation to keep right. */
#include "model/elliptic/matrix.h"

#include "model/elliptic/colours.h"
#include "model/elliptic/parts.h"

#include <math.h>

/* Entries below this part of √(a_ii a_jj) are rounding. */
#define ROUNDING 1e-12

/* An element and its neighbours: those that its rows have columns of. */
typedef struct surroundings {
    int count;
    int32_t element[EG_MAX_FACES + 1]; /* in the order of their first unknowns, each once */
} surroundings;

static surroundings look_around(const eg_mesh *mesh, const eg_unknowns *u, int32_t e)
{
    surroundings s = {1, {e}};
    const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
    for (int f = 0; f < faces; f++) {
        const int32_t other = mesh->neighbour[e * (int64_t)mesh->face_stride + f];
        int at = s.count;
        bool there = other < 0;
        for (int i = 0; i < s.count; i++)
            there = there || s.element[i] == other;
        if (there) continue;
        for (; at > 0 &&
               u->number[s.element[at - 1] * (int64_t)u->np] > u->number[other * (int64_t)u->np];
             at--)
            s.element[at] = s.element[at - 1];
        s.element[at] = other;
        s.count++;
    }
    return s;
}

/* --- where entries are ------------------------------------------------------------------------ */

/* The own elements that have each unknown: [start[i], start[i + 1]) of `element`. */
typedef struct owners {
    int64_t *start;   /* [unknowns + 1] */
    int32_t *element; /* [elements * np] */
    int32_t *seen;    /* [unknowns] the row that has this column */
} owners;

static eg_status find_owners(const eg_mesh *mesh, const eg_unknowns *u, owners *o)
{
    const int64_t nodes = mesh->element_count * (int64_t)u->np;
    eg_status status = EG_OK;
    EG_TRY(eg_new(u->ctx, (size_t)u->count + 1, &o->start));
    EG_TRY(eg_new(u->ctx, (size_t)nodes, &o->element));
    EG_TRY(eg_new(u->ctx, (size_t)u->count, &o->seen));
    for (int64_t i = 0; i < nodes; i++)
        o->start[u->number[i]]++;
    for (int32_t i = 0; i < u->count; i++) /* start[i]: behind the last of i … */
        o->start[i + 1] += o->start[i];
    for (int64_t i = nodes - 1; i >= 0; i--) /* … and then its first */
        o->element[--o->start[u->number[i]]] = (int32_t)(i / u->np);
done:
    return status;
}

static void free_owners(eg_context *ctx, owners *o)
{
    eg_release(ctx, &o->seen);
    eg_release(ctx, &o->element);
    eg_release(ctx, &o->start);
}

/* How many columns a row has; they are written if column is not NULL. */
static int64_t row_columns(const eg_mesh *mesh, const eg_unknowns *u, owners *o, int32_t row,
                           int32_t *column)
{
    int64_t count = 0;
    for (int64_t k = o->start[row]; k < o->start[row + 1]; k++) {
        const surroundings s = look_around(mesh, u, o->element[k]);
        for (int n = 0; n < s.count; n++)
            for (int i = 0; i < u->np; i++) {
                const int32_t j = u->number[s.element[n] * (int64_t)u->np + i];
                if (o->seen[j] == row) continue;
                o->seen[j] = row;
                if (column) column[count] = j;
                count++;
            }
    }
    return count;
}

static void see_nothing(const eg_unknowns *u, owners *o)
{
    for (int32_t i = 0; i < u->count; i++)
        o->seen[i] = -1;
}

/* A matrix of zeros wherever rows of own elements have entries. */
static eg_status make_pattern(const eg_mesh *mesh, const eg_unknowns *u, eg_csr **out)
{
    owners o = {0};
    int64_t entries = 0;
    eg_status status = EG_OK;
    EG_TRY(find_owners(mesh, u, &o));
    see_nothing(u, &o);
    for (int32_t i = 0; i < u->count; i++)
        entries += row_columns(mesh, u, &o, i, NULL);
    EG_TRY(eg_csr_create(u->ctx, u->count, u->count, entries, out));
    see_nothing(u, &o);
    for (int32_t i = 0; i < u->count; i++)
        (*out)->offset[i + 1] =
            (*out)->offset[i] + row_columns(mesh, u, &o, i, &(*out)->column[(*out)->offset[i]]);
    EG_TRY(eg_csr_sort(*out));
done:
    free_owners(u->ctx, &o);
    return status;
}

/* --- questions -------------------------------------------------------------------------------- */

/* The operator in double precision, and the vectors for questions. */
typedef struct inquiry {
    eg_elliptic *asked; /* not owned, or `own` */
    eg_elliptic *own;   /* if the one that was given is of single precision */
    eg_field *u, *y;
    double *values;  /* [of a field] */
    uint8_t *colour; /* [elements + ghosts] */
    int colours;
} inquiry;

static void free_inquiry(eg_context *ctx, inquiry *q)
{
    eg_release(ctx, &q->colour);
    eg_release(ctx, &q->values);
    eg_field_destroy(&q->y);
    eg_field_destroy(&q->u);
    eg_elliptic_destroy(&q->own);
}

static eg_status allocate(const eg_space *space, inquiry *q)
{
    const size_t elements = (size_t)space->mesh->element_count + (size_t)space->mesh->ghost_count;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, eg_buffer_count(q->u->data), &q->values));
    EG_TRY(eg_new(space->ctx, elements, &q->colour));
done:
    return status;
}

static eg_status prepare(eg_elliptic *a, inquiry *q)
{
    eg_space *space = a->space;
    eg_status status = EG_OK;
    q->asked = a;
    if (a->real != EG_F64) {
        EG_TRY(eg_elliptic_create(space, EG_F64, &a->options, &q->own));
        q->asked = q->own;
    }
    EG_TRY(eg_field_create(space, 1, EG_F64, &q->u));
    EG_TRY(eg_field_create(space, 1, EG_F64, &q->y));
    EG_TRY(eg_comm_agree(space->comm, allocate(space, q)));
    EG_TRY(eg_colour_elements(space->mesh, space->comm, 2, q->colour, &q->colours));
done:
    return status;
}

/* y = A of what is 1 at a node of all elements of a colour; q->values gets it. */
static eg_status ask(inquiry *q, int colour, int node)
{
    const eg_mesh *mesh = q->u->space->mesh;
    const size_t count = eg_buffer_count(q->u->data);
    eg_status status = EG_OK;
    for (size_t i = 0; i < count; i++)
        q->values[i] = 0;
    for (int32_t e = 0; e < mesh->element_count; e++)
        if (q->colour[e] == colour) q->values[eg_node_place(q->u, e, node)] = 1;
    EG_TRY(eg_buffer_upload(q->u->data, 0, count, q->values));
    EG_TRY(eg_elliptic_apply(q->asked, q->u->data, q->y->data));
    EG_TRY(eg_buffer_download(q->y->data, 0, count, q->values));
done:
    return status;
}

/* Where an entry stands that is there. */
static int64_t find_entry(const eg_csr *a, int32_t row, int32_t column)
{
    int64_t low = a->offset[row], high = a->offset[row + 1];
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (a->column[middle] <= column)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The element of a colour among an element and its neighbours; -1 if there is none. */
static int32_t find_coloured(const inquiry *q, int32_t e, int colour)
{
    const eg_mesh *mesh = q->u->space->mesh;
    const int faces = q->asked->faces;
    if (q->colour[e] == colour) return e;
    for (int f = 0; f < faces; f++) {
        const int32_t other = mesh->neighbour[e * (int64_t)mesh->face_stride + f];
        if (other >= 0 && q->colour[other] == colour) return other;
    }
    return -1;
}

/* Adds the answer to the matrix. */
static void add_answer(const inquiry *q, const eg_unknowns *u, int colour, int node, eg_csr *a)
{
    for (int32_t e = 0; e < q->u->space->mesh->element_count; e++) {
        const int32_t other = find_coloured(q, e, colour);
        if (other < 0) continue;
        const int32_t column = u->number[other * (int64_t)u->np + node];
        for (int i = 0; i < u->np; i++)
            a->value[find_entry(a, u->number[e * (int64_t)u->np + i], column)] +=
                q->values[eg_node_place(q->y, e, i)];
    }
}

/* Leaves out what is rounding. */
static eg_status drop_rounding(eg_csr *a)
{
    double *size = NULL;
    int64_t to = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->ctx, (size_t)a->rows, &size));
    for (int32_t i = 0; i < a->rows; i++)
        size[i] = sqrt(fabs(a->value[find_entry(a, i, i)]));
    for (int32_t i = 0; i < a->rows; i++) {
        const int64_t from = a->offset[i];
        a->offset[i] = to;
        for (int64_t k = from; k < a->offset[i + 1]; k++) {
            const int32_t j = a->column[k];
            if (j != i && fabs(a->value[k]) <= ROUNDING * size[i] * size[j]) continue;
            a->column[to] = j;
            a->value[to++] = a->value[k];
        }
    }
    a->offset[a->rows] = to;
done:
    eg_release(a->ctx, &size);
    return status;
}

eg_status eg_elliptic_matrix(eg_elliptic *elliptic, const eg_unknowns *unknowns, eg_csr **out)
{
    const eg_space *space = elliptic->space;
    inquiry q = {0};
    eg_csr *mine = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(prepare(elliptic, &q));
    EG_TRY(eg_comm_agree(space->comm, make_pattern(space->mesh, unknowns, &mine)));
    for (int colour = 0; colour < q.colours; colour++)
        for (int node = 0; node < unknowns->np; node++) {
            EG_TRY(eg_comm_agree(space->comm, ask(&q, colour, node)));
            add_answer(&q, unknowns, colour, node, mine);
        }
    if (eg_comm_size(space->comm) > 1) {
        eg_csr *sum = NULL;
        EG_TRY(eg_csr_sum_over_ranks(space->comm, mine, &sum));
        eg_csr_destroy(&mine);
        mine = sum;
    }
    EG_TRY(eg_comm_agree(space->comm, drop_rounding(mine)));
    *out = mine;
    mine = NULL;
done:
    eg_csr_destroy(&mine);
    free_inquiry(space->ctx, &q);
    return status;
}
