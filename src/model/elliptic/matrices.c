/* The matrices of the reference element that the kernels multiply with. */
#include "model/elliptic/parts.h"

#include "base/dense.h"

#include <math.h>
#include <string.h>

/* --- affine triangles ------------------------------------------------------------------------- */

/* Scratch and results, [rows][cols] row by row. Parts of them for nodes and points of faces are np and
 * 3 nfp long, or as affine_chain.k.c wants them. */
typedef struct triangle {
    int np, nfp;
    bool chain;
    int nodes, faces, columns; /* of a part of `sum`, of another, and of all */
    int points;                /* of all faces */
    double *normal;            /* [2][points][np] ∂/∂n̂ and ∂/∂t */
    double *sum;               /* [np][columns] */
    double *one, *two;
} triangle;

static int padded(int n, bool pad)
{
    return pad ? (n + 7) / 8 * 8 : n;
}

static eg_status triangle_new(const eg_elliptic *a, triangle *m)
{
    const eg_element *e = a->element;
    const bool chain = a->form == EG_ELLIPTIC_CHAINS;
    eg_status status = EG_OK;
    *m = (triangle){.np = e->np, .nfp = e->face_np, .chain = chain};
    m->nodes = padded(m->np, chain);
    m->points = 3 * m->nfp;
    m->faces = chain ? (m->nfp + 1) / 2 * 8 : 3 * m->nfp;
    m->columns = (3 + a->mass) * m->nodes + 3 * m->faces;
    const size_t square = (size_t)m->np * (size_t)m->np;
    EG_TRY(eg_new(e->ctx, (size_t)(2 * m->points * m->np), &m->normal));
    EG_TRY(eg_new(e->ctx, (size_t)(m->np * m->columns), &m->sum));
    EG_TRY(eg_new(e->ctx, square, &m->one));
    EG_TRY(eg_new(e->ctx, square, &m->two));
done:
    return status;
}

static void triangle_free(eg_context *ctx, triangle *m)
{
    eg_release(ctx, &m->two);
    eg_release(ctx, &m->one);
    eg_release(ctx, &m->sum);
    eg_release(ctx, &m->normal);
}

/* Adds D_aᵀ M D_b to columns [first, first + np) of sum. */
static void add_stiffness(const eg_element *e, int d, int b, int first, triangle *m)
{
    const int np = m->np;
    eg_dense_multiply(np, np, np, e->mass, e->D + b * np * np, m->one);
    for (int i = 0; i < np; i++)
        for (int j = 0; j < np; j++) {
            double value = 0;
            for (int k = 0; k < np; k++)
                value += e->D[(d * np + k) * np + i] * m->one[k * np + j];
            m->sum[i * m->columns + first + j] += value;
        }
}

/* The columns of `sum` that the element gives. */
static void fill_nodes(const eg_elliptic *a, triangle *m)
{
    const eg_element *e = a->element;
    add_stiffness(e, 0, 0, 0, m);
    add_stiffness(e, 0, 1, m->nodes, m);
    add_stiffness(e, 1, 0, m->nodes, m);
    add_stiffness(e, 1, 1, 2 * m->nodes, m);
    for (int i = 0; a->mass && i < m->np; i++)
        memcpy(m->sum + i * m->columns + 3 * m->nodes, e->mass + i * m->np,
               (size_t)m->np * sizeof *e->mass);
}

/* ∂/∂n̂ and ∂/∂t at the points of faces. */
static void fill_derivatives(const eg_elliptic *a, triangle *m)
{
    const eg_element *e = a->element;
    const int np = m->np, nfp = m->nfp;
    for (int f = 0; f < 3; f++)
        for (int p = 0; p < nfp; p++) {
            const int node = e->face_node[f * nfp + p];
            double *normal = m->normal + (f * nfp + p) * np, *along = normal + m->points * np;
            for (int i = 0; i < np; i++)
                normal[i] = a->rules.normals[f][0] * e->D[node * np + i] +
                            a->rules.normals[f][1] * e->D[(np + node) * np + i];
            for (int j = 0; j < nfp; j++)
                along[e->face_node[f * nfp + j]] = e->face->D[p * nfp + j];
        }
}

/* Where point q of face f stands among the columns of faces. */
static int column_of(const triangle *m, int f, int q)
{
    return m->chain ? q / 2 * 8 + f * 2 + q % 2 : f * m->nfp + q;
}

/* The columns of `sum` that faces give: Eᵀ M, normalᵀ M and alongᵀ M. */
static void fill_faces(const eg_elliptic *a, triangle *m)
{
    const eg_element *e = a->element;
    const int np = m->np, nfp = m->nfp, first = (3 + a->mass) * m->nodes;
    for (int f = 0; f < 3; f++)
        for (int p = 0; p < nfp; p++)
            for (int q = 0; q < nfp; q++) {
                const double mass = e->face->mass[p * nfp + q];
                double *column = m->sum + first + column_of(m, f, q);
                column[e->face_node[f * nfp + p] * m->columns] += mass;
                for (int d = 0; d < 2; d++)
                    for (int i = 0; i < np; i++)
                        column[i * m->columns + (1 + d) * m->faces] +=
                            m->normal[(d * m->points + f * nfp + p) * np + i] * mass;
            }
}

static eg_status triangle_create(const eg_elliptic *a, triangle *m)
{
    eg_status status = EG_OK;
    EG_TRY(triangle_new(a, m));
    fill_nodes(a, m);
    fill_derivatives(a, m);
    fill_faces(a, m);
done:
    return status;
}

/* ∂/∂n̂ and ∂/∂t at the first `face_points` points of each face. */
static eg_status make_slopes(eg_elliptic *a, const triangle *m)
{
    const int rows = padded(3 * a->face_points, true);
    const size_t row_bytes = (size_t)m->np * sizeof(double);
    double *D = NULL; /* [2][rows][np] */
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->element->ctx, (size_t)(2 * rows * m->np), &D));
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 3 * a->face_points; i++) {
            const int point = i / a->face_points * m->nfp + i % a->face_points;
            memcpy(D + (d * rows + i) * m->np, m->normal + (d * m->points + point) * m->np,
                   row_bytes);
        }
    EG_TRY(eg_operator_create(a->space->device, a->real, 2 * rows, m->np, D, &a->slopes));
done:
    eg_release(a->element->ctx, &D);
    return status;
}

eg_status eg_elliptic_make_chain_matrices(eg_elliptic *a)
{
    triangle m;
    eg_status status = EG_OK;
    EG_TRY(triangle_create(a, &m));
    EG_TRY(make_slopes(a, &m));
    EG_TRY(eg_operator_create(a->space->device, a->real, m.np, m.columns, m.sum, &a->sum));
done:
    triangle_free(a->element->ctx, &m);
    return status;
}

/* --- the same, in even and odd parts ----------------------------------------------------------- */

/* Pairs of points of faces in the order of affine_mirror.k.c. */
static eg_status pair_face_points(eg_context *ctx, int nfp, eg_mirror *out)
{
    const int rows = (nfp + 3) / 4 * 8;
    eg_status status = EG_OK;
    EG_TRY(eg_mirror_new(ctx, rows, rows, out));
    for (int i = 0; i < rows; i++) {
        const int side = i / 2 % 4;
        const int p = side == 1 ? i / 8 * 2 + i % 2 : i / 8 * 4 + (side & 2) + i % 2;
        const bool counts = side != 3 && p < (side == 1 ? (nfp + 1) / 2 : nfp);
        const int place = side < 2 ? p : nfp - 1 - p;
        out->pair[i][0] = counts ? side * nfp + place : -1;
        out->pair[i][1] = counts ? (3 - side) * nfp - 1 - place : -1;
    }
done:
    return status;
}

/* The parts of ∂/∂n̂ and ∂/∂t at points of faces, of even or odd u. */
static eg_status make_part_slopes(const eg_elliptic *a, const triangle *m, const eg_mirror *nodes,
                                  const eg_mirror *points, bool odd, eg_operator **out)
{
    const int columns = odd ? nodes->odd : nodes->even, rows = points->even;
    double *D = NULL; /* [2][rows][columns] */
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->element->ctx, (size_t)(2 * rows * columns), &D));
    for (int d = 0; d < 2; d++) /* ∂/∂t changes parts */
        eg_mirror_fold(&(eg_mirror_block){points, nodes, d == 1 ? !odd : odd, odd},
                       m->normal + d * m->points * m->np, m->np, columns, D + d * rows * columns);
    EG_TRY(eg_operator_create(a->space->device, a->real, 2 * rows, columns, D, out));
done:
    eg_release(a->element->ctx, &D);
    return status;
}

/* What gives even, or odd, parts of y; parts of columns are filled up to chunks, or not (`pad`). What faces give is
 * parts [first, last) of values, ∂/∂n̂ and ∂/∂t. */
typedef struct part_sum {
    const eg_mirror *nodes, *points;
    bool odd, pad;
    int first, last;
} part_sum;

static eg_status make_part_sum(const eg_elliptic *a, const triangle *m, const part_sum *p,
                               eg_operator **out)
{
    const eg_mirror *nodes = p->nodes;
    const bool odd = p->odd;
    const int np = m->np, rows = odd ? nodes->odd : nodes->even, total = m->columns;
    const int same = padded(rows, p->pad);
    const int other = padded(odd ? nodes->even : nodes->odd, p->pad);
    const int on_faces = odd ? p->points->odd : p->points->even;
    const int columns = (2 + a->mass) * same + other + (p->last - p->first) * on_faces;
    double *sum = NULL, *both = NULL, *at;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->element->ctx, (size_t)(rows * columns) + 1, &sum));
    EG_TRY(eg_new(a->element->ctx, (size_t)(2 * np * np), &both));
    for (int i = 0; i < np; i++)
        for (int j = 0; j < np; j++) {
            const double rr = m->sum[i * total + j], ss = m->sum[i * total + 2 * m->nodes + j];
            both[i * np + j] = rr + ss;
            both[(np + i) * np + j] = rr - ss;
        }
    at = sum;
    eg_mirror_fold(&(eg_mirror_block){nodes, nodes, odd, odd}, both, np, columns, at);
    at += same;
    eg_mirror_fold(&(eg_mirror_block){nodes, nodes, odd, odd}, m->sum + m->nodes, total, columns,
                   at);
    at += same;
    eg_mirror_fold(&(eg_mirror_block){nodes, nodes, odd, !odd}, both + np * np, np, columns, at);
    at += other;
    if (a->mass) {
        eg_mirror_fold(&(eg_mirror_block){nodes, nodes, odd, odd}, m->sum + 3 * m->nodes, total,
                       columns, at);
        at += same;
    }
    for (int d = p->first; d < p->last; d++, at += on_faces) /* ∂/∂t changes parts */
        eg_mirror_fold(&(eg_mirror_block){nodes, p->points, odd, d == 2 ? !odd : odd},
                       m->sum + (3 + a->mass) * m->nodes + d * m->faces, total, columns, at);
    EG_TRY(eg_operator_create(a->space->device, a->real, rows, columns, sum, out));
done:
    eg_release(a->element->ctx, &both);
    eg_release(a->element->ctx, &sum);
    return status;
}

eg_status eg_elliptic_make_mirrored_matrices(eg_elliptic *a)
{
    const eg_element *e = a->element;
    eg_mirror nodes = {0}, points = {0};
    triangle m = {0};
    eg_status status = EG_OK;
    EG_TRY(triangle_create(a, &m));
    EG_TRY(eg_mirror_create(e->ctx, e->np, e->r, &nodes));
    EG_TRY(pair_face_points(e->ctx, m.nfp, &points));
    EG_TRY(eg_space_pairs(a->space, &nodes, &a->pairs));
    EG_TRY(make_part_slopes(a, &m, &nodes, &points, false, &a->slopes));
    EG_TRY(make_part_slopes(a, &m, &nodes, &points, true, &a->odd_slopes));
    EG_TRY(make_part_sum(a, &m, &(part_sum){&nodes, &points, false, true, 0, 3}, &a->sum));
    EG_TRY(make_part_sum(a, &m, &(part_sum){&nodes, &points, true, true, 0, 3}, &a->odd_sum));
    a->even = nodes.even;
    a->odd = nodes.odd;
done:
    eg_mirror_free(e->ctx, &points);
    eg_mirror_free(e->ctx, &nodes);
    triangle_free(e->ctx, &m);
    return status;
}

/* --- for affine.k.c --------------------------------------------------------------------------- */

/* Its pairs of points of faces. */
static eg_status pair_points_plainly(eg_context *ctx, int nfp, eg_mirror *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_mirror_new(ctx, nfp + (nfp + 1) / 2, nfp + nfp / 2, out));
    for (int i = 0; i < out->even; i++) {
        out->pair[i][0] = i;
        out->pair[i][1] = 3 * nfp - 1 - i;
    }
done:
    return status;
}

/* Adds to the stiffness what an element's own Q gives, -(B + Bᵀ)/2 with B = Eᵀ M Q, Q in parts times G:
 *
 *     face 0: G_ss ∂/∂n̂ - G_rs ∂/∂t,   2: G_rr ∂/∂n̂ + G_rs ∂/∂t,
 *     1: (G_rr (∂/∂n̂ - ∂/∂t) + G_ss (∂/∂n̂ + ∂/∂t))/2 + G_rs ∂/∂n̂ */
static void add_own_slopes(const eg_elliptic *a, triangle *m)
{
    static const double share[3][3][2] = {/* of G_rr, G_rs, G_ss: ∂/∂n̂, ∂/∂t */
                                          {{0, 0}, {0, -1}, {1, 0}},
                                          {{0.5, -0.5}, {1, 0}, {0.5, 0.5}},
                                          {{1, 0}, {0, 1}, {0, 0}}};
    const int tested = (3 + a->mass) * m->nodes + m->faces; /* normalᵀ M, then alongᵀ M */
    for (int point = 0; point < 3 * m->nfp; point++) {
        const int f = point / m->nfp, node = a->element->face_node[point];
        for (int g = 0; g < 3; g++)
            for (int d = 0; d < 2; d++)
                for (int i = 0; i < m->np; i++) {
                    const double half = -0.5 * share[f][g][d] *
                                        m->sum[i * m->columns + tested + d * m->faces + point];
                    m->sum[i * m->columns + g * m->nodes + node] += half;
                    m->sum[node * m->columns + g * m->nodes + i] += half;
                }
    }
}

/* M/2 ∂/∂n̂, from even to even or odd to odd parts, given (∂/∂n̂)ᵀ M/2 at these columns of `sum`. */
static eg_status make_part_normal(const eg_elliptic *a, const triangle *m, const eg_mirror *nodes,
                                  const eg_mirror *points, bool odd, eg_operator **out)
{
    const int from = (3 + a->mass) * m->nodes + m->faces;
    const int rows = odd ? points->odd : points->even, columns = odd ? nodes->odd : nodes->even;
    double *normal = NULL, *part = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->element->ctx, (size_t)(m->points * m->np), &normal));
    EG_TRY(eg_new(a->element->ctx, (size_t)(rows * columns), &part));
    for (int i = 0; i < m->points; i++)
        for (int j = 0; j < m->np; j++)
            normal[i * m->np + j] = m->sum[j * m->columns + from + i];
    eg_mirror_fold(&(eg_mirror_block){points, nodes, odd, odd}, normal, m->np, columns, part);
    EG_TRY(eg_operator_create(a->space->device, a->real, rows, columns, part, out));
done:
    eg_release(a->element->ctx, &part);
    eg_release(a->element->ctx, &normal);
    return status;
}

/* Along a face: M/2 D, and [M | Dᵀ M/2]. */
static eg_status make_lines(eg_elliptic *a)
{
    const eg_element *face = a->element->face;
    const int n = a->element->face_np;
    double *along = NULL, *lines = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->element->ctx, (size_t)(n * n), &along));
    EG_TRY(eg_new(a->element->ctx, (size_t)(2 * n * n), &lines));
    eg_dense_multiply(n, n, n, face->mass, face->D, along);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            along[i * n + j] *= 0.5;
            lines[i * 2 * n + j] = face->mass[i * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            lines[i * 2 * n + n + j] = along[j * n + i];
    EG_TRY(eg_operator_create(a->space->device, a->real, n, n, along, &a->along));
    EG_TRY(eg_operator_create(a->space->device, a->real, n, 2 * n, lines, &a->lines));
done:
    eg_release(a->element->ctx, &lines);
    eg_release(a->element->ctx, &along);
    return status;
}

eg_status eg_elliptic_make_affine_matrices(eg_elliptic *a)
{
    const eg_element *e = a->element;
    eg_mirror nodes = {0}, points = {0};
    triangle m = {0};
    eg_status status = EG_OK;
    EG_TRY(triangle_create(a, &m));
    add_own_slopes(a, &m);
    for (int i = 0; i < m.np; i++)
        for (int p = 0; p < m.points; p++)
            m.sum[i * m.columns + (3 + a->mass) * m.nodes + m.faces + p] *= 0.5;
    EG_TRY(eg_mirror_create(e->ctx, e->np, e->r, &nodes));
    EG_TRY(pair_points_plainly(e->ctx, m.nfp, &points));
    EG_TRY(make_part_normal(a, &m, &nodes, &points, false, &a->slopes));
    EG_TRY(make_part_normal(a, &m, &nodes, &points, true, &a->odd_slopes));
    EG_TRY(make_part_sum(a, &m, &(part_sum){&nodes, &points, false, false, 1, 2}, &a->sum));
    EG_TRY(make_part_sum(a, &m, &(part_sum){&nodes, &points, true, false, 1, 2}, &a->odd_sum));
    EG_TRY(make_lines(a));
    a->even = nodes.even;
    a->odd = nodes.odd;
done:
    eg_mirror_free(e->ctx, &points);
    eg_mirror_free(e->ctx, &nodes);
    triangle_free(e->ctx, &m);
    return status;
}

/* --- for affine_block.k.c --------------------------------------------------------------------- */

/* The pairs of nodes in the order of affine_block.k.c, given them in another. */
static eg_status order_pairs(const eg_element *e, const eg_mirror *nodes, eg_mirror *out)
{
    const int m = e->face_np;
    int count = 0, own = nodes->odd;
    bool *taken = NULL; /* [np] */
    eg_status status = EG_OK;
    EG_TRY(eg_mirror_new(e->ctx, nodes->even, nodes->odd, out));
    EG_TRY(eg_new(e->ctx, (size_t)e->np, &taken));
    for (int i = 1; i < m + m / 2; i++) { /* point i of all faces, and its image */
        if (i == m) continue;             /* the last of face 0 */
        const int a = e->face_node[i], b = e->face_node[3 * m - 1 - i];
        out->pair[count][0] = a;
        out->pair[count++][1] = b;
        taken[a] = taken[b] = true;
    }
    const int single[2] = {e->face_node[0], e->face_node[m + m / 2]};
    for (int i = 0; i < 1 + m % 2; i++) {
        out->pair[own][0] = out->pair[own][1] = single[i];
        own++;
        taken[single[i]] = true;
    }
    for (int i = 0; i < nodes->even; i++) {
        if (taken[nodes->pair[i][0]]) continue;
        memcpy(out->pair[i < nodes->odd ? count++ : own++], nodes->pair[i], sizeof *out->pair);
    }
done:
    eg_release(e->ctx, &taken);
    return status;
}

/* M/2 ∂/∂n̂ of even, or odd, u to the same part, and M/2 ∂/∂t to the other one, by rows filled up to eights. */
static eg_status make_block_slopes(const eg_elliptic *a, const triangle *m, const eg_mirror *nodes,
                                   const eg_mirror *points, bool odd, eg_operator **out)
{
    const int from = (3 + a->mass) * m->nodes + m->faces, np = m->np;
    const int columns = odd ? nodes->odd : nodes->even;
    const int first = padded(odd ? points->odd : points->even, true);
    const int rows = first + padded(odd ? points->even : points->odd, true);
    double *tested = NULL, *parts = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->element->ctx, (size_t)(2 * m->points * np), &tested));
    EG_TRY(eg_new(a->element->ctx, (size_t)(rows * columns), &parts));
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < m->points; i++)
            for (int j = 0; j < np; j++)
                tested[(d * m->points + i) * np + j] =
                    0.5 * m->sum[j * m->columns + from + d * m->faces + i];
    eg_mirror_fold(&(eg_mirror_block){points, nodes, odd, odd}, tested, np, columns, parts);
    eg_mirror_fold(&(eg_mirror_block){points, nodes, !odd, odd}, tested + m->points * np, np,
                   columns, parts + first * columns);
    EG_TRY(eg_operator_create(a->space->device, a->real, rows, columns, parts, out));
done:
    eg_release(a->element->ctx, &parts);
    eg_release(a->element->ctx, &tested);
    return status;
}

/* M and Dᵀ M/2 between even and odd values along a face. */
static eg_status make_line_parts(eg_elliptic *a)
{
    const eg_element *face = a->element->face;
    const int n = a->element->face_np, half = (n + 1) / 2;
    const size_t count = 4 * (size_t)half * (size_t)half;
    double *along = NULL, *parts = NULL;
    float *single = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->element->ctx, (size_t)(n * n), &along));
    EG_TRY(eg_new(a->element->ctx, count, &parts));
    EG_TRY(eg_new(a->element->ctx, count, &single));
    eg_dense_multiply(n, n, n, face->mass, face->D, along);
    for (int i = 0; i < half; i++)
        for (int j = 0; j < half; j++) {
            const int k = n - 1 - j;
            const double here = face->mass[i * n + j], there = face->mass[i * n + k];
            const double from = 0.5 * along[j * n + i], back = 0.5 * along[k * n + i];
            double *to = parts + 4 * (i * half + j);
            to[0] = 0.5 * (here + there);
            to[1] = 0.5 * (from - back);
            to[2] = 0.5 * (here - there);
            to[3] = 0.5 * (from + back);
        }
    for (size_t i = 0; i < count; i++)
        single[i] = (float)parts[i];
    EG_TRY(eg_space_upload(a->space, a->real, count,
                           a->real == EG_F64 ? (const void *)parts : single, &a->line_parts));
done:
    eg_release(a->element->ctx, &single);
    eg_release(a->element->ctx, &parts);
    eg_release(a->element->ctx, &along);
    return status;
}

eg_status eg_elliptic_make_block_matrices(eg_elliptic *a)
{
    const eg_element *e = a->element;
    eg_mirror plain = {0}, nodes = {0}, points = {0};
    triangle m = {0};
    eg_status status = EG_OK;
    EG_TRY(triangle_create(a, &m));
    EG_TRY(eg_mirror_create(e->ctx, e->np, e->r, &plain));
    EG_TRY(order_pairs(e, &plain, &nodes));
    EG_TRY(pair_points_plainly(e->ctx, m.nfp, &points));
    EG_TRY(eg_space_pairs(a->space, &nodes, &a->pairs));
    EG_TRY(make_block_slopes(a, &m, &nodes, &points, false, &a->slopes));
    EG_TRY(make_block_slopes(a, &m, &nodes, &points, true, &a->odd_slopes));
    add_own_slopes(a, &m);
    for (int i = 0; i < m.np; i++)
        for (int p = 0; p < m.points; p++)
            m.sum[i * m.columns + (3 + a->mass) * m.nodes + m.faces + p] *= 0.5;
    EG_TRY(make_part_sum(a, &m, &(part_sum){&nodes, &points, false, true, 1, 2}, &a->sum));
    EG_TRY(make_part_sum(a, &m, &(part_sum){&nodes, &points, true, true, 1, 2}, &a->odd_sum));
    EG_TRY(make_line_parts(a));
    a->even = nodes.even;
    a->odd = nodes.odd;
done:
    eg_mirror_free(e->ctx, &points);
    eg_mirror_free(e->ctx, &nodes);
    eg_mirror_free(e->ctx, &plain);
    triangle_free(e->ctx, &m);
    return status;
}

/* --- quadrature ------------------------------------------------------------------------------- */

/* Values and derivatives at the points of the rules. */
typedef struct tables {
    int np, nc, fq;
    double *inner;  /* [dim + 1][nc][np] derivatives, then values */
    double *slopes; /* [dim][fq][np] */
    double *interp; /* [face points][face np] */
    double *sum;    /* [np][(dim + 1) (nc + fq)] */
} tables;

static void tables_free(eg_context *ctx, tables *m)
{
    eg_release(ctx, &m->sum);
    eg_release(ctx, &m->interp);
    eg_release(ctx, &m->slopes);
    eg_release(ctx, &m->inner);
}

static eg_status tables_new(const eg_elliptic *a, tables *m)
{
    const eg_element *e = a->element;
    const eg_cubature *face = a->rules.face, *inner = a->rules.inner;
    const size_t dim = (size_t)e->dim, np = (size_t)e->np;
    eg_status status = EG_OK;
    *m = (tables){.np = e->np, .nc = inner->count, .fq = e->faces * face->count};
    const size_t nc = (size_t)m->nc, fq = (size_t)m->fq;
    EG_TRY(eg_new(e->ctx, (dim + 1) * nc * np, &m->inner));
    EG_TRY(eg_new(e->ctx, dim * fq * np, &m->slopes));
    EG_TRY(eg_new(e->ctx, (size_t)(face->count * e->face_np), &m->interp));
    EG_TRY(eg_new(e->ctx, np * (dim + 1) * (nc + fq), &m->sum));
    EG_TRY(eg_element_differentiate(e, m->nc, inner->r, m->inner));
    EG_TRY(eg_element_evaluate(e, m->nc, inner->r, m->inner + dim * nc * np));
    EG_TRY(eg_element_differentiate(e, m->fq, a->rules.r, m->slopes));
    EG_TRY(eg_element_evaluate(e->face, face->count, face->r, m->interp));
done:
    return status;
}

/* Puts `rows` rows [rows][np] into `sum` as columns from `first` on, of `columns` columns. */
static void put_columns(const double *matrix, int rows, int first, int columns, tables *m)
{
    for (int q = 0; q < rows; q++)
        for (int i = 0; i < m->np; i++)
            m->sum[i * columns + first + q] = matrix[q * m->np + i];
}

/* The columns of faces from `first` on: values there, and slopes. */
static void put_faces(const eg_elliptic *a, int first, int columns, tables *m)
{
    const eg_element *e = a->element;
    const int n = a->rules.face->count;
    for (int f = 0; f < e->faces; f++)
        for (int q = 0; q < n; q++)
            for (int j = 0; j < e->face_np; j++)
                m->sum[e->face_node[f * e->face_np + j] * columns + first + f * n + q] =
                    m->interp[q * e->face_np + j];
    put_columns(m->slopes, e->dim * m->fq, first + m->fq, columns, m);
}

/* Which of the neighbour's points mine are, for every orientation: [ways][count]. */
static eg_status pair_points(eg_elliptic *a)
{
    const eg_cubature *face = a->rules.face;
    const int n = face->count, dim = a->dim - 1;
    eg_context *ctx = a->space->ctx;
    double *seen = NULL; /* [dim - 1][n] */
    int32_t *pair = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, (size_t)(dim * n), &seen));
    EG_TRY(eg_new(ctx, (size_t)(a->ways * n), &pair));
    for (int o = 0; o < a->ways; o++) {
        eg_orientation_points(face->shape, o, n, face->r, seen);
        for (int q = 0; q < n; q++) {
            double least = INFINITY;
            for (int p = 0; p < n; p++) {
                double distance = 0;
                for (int d = 0; d < dim; d++)
                    distance = fmax(distance, fabs(face->r[d * n + p] - seen[d * n + q]));
                if (distance >= least) continue;
                least = distance;
                pair[o * n + q] = p;
            }
            if (least > 1e-9) {
                status =
                    eg_fail(ctx, EG_ERROR_NUMERIC,
                            "the cubature of a face of degree %d is not symmetric", face->degree);
                goto done;
            }
        }
    }
    EG_TRY(eg_space_upload(a->space, EG_I32, (size_t)(a->ways * n), pair, &a->other_point));
done:
    eg_release(ctx, &pair);
    eg_release(ctx, &seen);
    return status;
}

/* The weights of a face's points in the operator's precision. */
static eg_status upload_weights(eg_elliptic *a)
{
    const eg_cubature *face = a->rules.face;
    const size_t n = (size_t)face->count;
    float *single = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->space->ctx, n, &single));
    for (size_t i = 0; i < n; i++)
        single[i] = (float)face->w[i];
    EG_TRY(eg_space_upload(a->space, a->real, n, a->real == EG_F64 ? (const void *)face->w : single,
                           &a->weights));
done:
    eg_release(a->space->ctx, &single);
    return status;
}

eg_status eg_elliptic_make_matrices(eg_elliptic *a)
{
    const eg_element *e = a->element;
    eg_device *device = a->space->device;
    tables m;
    eg_status status = EG_OK;
    EG_TRY(tables_new(a, &m));
    const int inner = (e->dim + a->mass) * m.nc, columns = inner + (1 + e->dim) * m.fq;
    put_columns(m.inner, inner, 0, columns, &m);
    put_faces(a, inner, columns, &m);
    EG_TRY(eg_operator_create(device, a->real, e->dim * m.fq, m.np, m.slopes, &a->slopes));
    EG_TRY(eg_operator_create(device, a->real, inner, m.np, m.inner, &a->inner));
    EG_TRY(eg_operator_create(device, a->real, a->rules.face->count, e->face_np, m.interp,
                              &a->interp));
    EG_TRY(eg_operator_create(device, a->real, m.np, columns, m.sum, &a->sum));
    EG_TRY(upload_weights(a));
    EG_TRY(pair_points(a));
done:
    tables_free(e->ctx, &m);
    return status;
}

eg_status eg_elliptic_make_tests(const eg_elliptic *a, eg_operator **out)
{
    const eg_element *e = a->element;
    tables m;
    eg_status status = EG_OK;
    EG_TRY(tables_new(a, &m));
    const int columns = m.nc + (1 + e->dim) * m.fq;
    put_columns(m.inner + e->dim * m.nc * m.np, m.nc, 0, columns, &m);
    put_faces(a, m.nc, columns, &m);
    EG_TRY(eg_operator_create(a->space->device, a->real, m.np, columns, m.sum, out));
done:
    tables_free(e->ctx, &m);
    return status;
}
