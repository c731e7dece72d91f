/* The determinant of a mapping's Jacobian, bounded in all of an element.
 *
 * It is positive if the derivatives of the mapping vary little around their mean: times the inverse
 * of that they are nearly the identity, and the terms of the determinant, each with the least or
 * greatest magnitude of its factors, bound it. Magnitudes are those of coefficients in Bernstein
 * form; those at corners are values. Where the bound is not positive but the values are, the element
 * is halved until one of the two decides, as in [johnen2013]; halving derivatives is far cheaper
 * than halving their determinant, which has 27 times the coefficients of one in three dimensions.
 *
 * How far the least determinant is below the mean asks for a bound that is near: the coefficients of
 * the determinant itself, found by products of those of derivatives. */
#include "mesh/jacobian_tables.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* An element is halved up to EG_JACOBIAN_DEPTH times in a row, and as often as half a second of
 * work allows: MOST_PIECES, which together have at most MOST_NUMBERS. Elements that are undecided
 * then have a least determinant of less than a millionth of what surrounds it. */
#define MOST_PIECES 20000
#define MOST_NUMBERS 20000000

/* Of two numbers, neither NaN; fmax costs a call. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* --- coefficients ----------------------------------------------------------------------------- */

/* values [np] → coefficients [np], in place. */
static void convert(const eg_jacobian *j, double *values)
{
    int np = j->np, n = j->order + 1;
    if (j->order == 1) return;
    if (!j->info->tensor) {
        memcpy(j->turned, values, (size_t)np * sizeof *values);
        for (int i = 0; i < np; i++) {
            const double *row = &j->convert[i * np];
            double sum = 0.0;
            for (int k = 0; k < np; k++)
                sum += row[k] * j->turned[k];
            values[i] = sum;
        }
        return;
    }
    for (int d = 0, stride = 1; d < j->info->dim; d++, stride *= n) {
        memcpy(j->turned, values, (size_t)np * sizeof *values);
        for (int i = 0; i < np; i++) {
            int place = i / stride % n;
            const double *row = &j->convert[place * n], *from = &j->turned[i - place * stride];
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += row[k] * from[k * stride];
            values[i] = sum;
        }
    }
}

/* The slopes of a coordinate along a direction, in slopes [slope_count]. */
static double *part(const eg_jacobian *j, double *slopes, int along, int coordinate)
{
    for (int d = 0; d < along; d++)
        slopes += j->info->dim * j->derivative[d].count;
    return slopes + coordinate * j->derivative[along].count;
}

static double *slopes_of(const eg_jacobian *j, int number)
{
    return &j->slopes[(size_t)number * (size_t)j->slope_count];
}

/* How far the slopes of each coordinate are known. */
static void find_entry(const eg_jacobian *j, const double *nodes, double entry[3])
{
    int dim = j->info->dim;
    double reach = 0.0;
    for (int c = 0; c < dim; c++) {
        entry[c] = 0.0;
        for (int i = 0; i < j->np; i++) {
            reach = larger(reach, fabs(nodes[i * dim + c]));
            entry[c] = larger(entry[c], fabs(j->net[c * j->np + i]));
        }
    }
    for (int c = 0; c < dim; c++)
        entry[c] = j->conversion * entry[c] + eg_mesh_slope_rounding(j->order, reach);
}

/* Fills net and the slopes of the element, and how far these are known. False if a node is not
 * finite. */
static bool differentiate(eg_jacobian *j, const double *nodes, double entry[3])
{
    int dim = j->info->dim, np = j->np;
    for (int i = 0; i < np * dim; i++) {
        if (!isfinite(nodes[i])) return false;
    }
    for (int c = 0; c < dim; c++) {
        /* Distances from a node round by a part of the element's size, not of its coordinates. */
        for (int i = 0; i < np; i++)
            j->net[c * np + i] = nodes[i * dim + c] - nodes[c];
        convert(j, &j->net[c * np]);
    }
    for (int d = 0; d < dim; d++) {
        int count = j->derivative[d].count;
        for (int c = 0; c < dim; c++) {
            const double *net = &j->net[c * np];
            double *slope = part(j, j->slopes, d, c);
            for (int i = 0; i < count; i++)
                slope[i] = 0.5 * j->order * (net[j->high[d][i]] - net[j->low[d][i]]);
        }
    }
    find_entry(j, nodes, entry);
    return true;
}

/* --- bounds of a piece ------------------------------------------------------------------------ */

/* The slopes of a piece times a matrix that makes them nearly the identity. */
typedef struct view {
    double slope[3][3]; /* magnitudes of slopes */
    double rounding;    /* what may be made of a determinant that is zero */
    double matrix[3][3];
    double scale;      /* one over its determinant */
    double most[3][3]; /* magnitudes of the product */
    double left;       /* a bound of the product's determinant from below */
} view;

/* The matrix is the inverse of the mean of the slopes, if that is not too near to a flat one. */
static void choose_matrix(const eg_jacobian *j, double *slopes, const double entry[3], view *v)
{
    int dim = j->info->dim;
    double mean[3][3] = {{0}}, most[3][3] = {{0}};
    for (int d = 0; d < dim; d++) {
        int count = j->derivative[d].count;
        for (int c = 0; c < dim; c++) {
            const double *slope = part(j, slopes, d, c);
            for (int i = 0; i < count; i++) {
                mean[d][c] += slope[i];
                most[d][c] = larger(most[d][c], fabs(slope[i]));
            }
            mean[d][c] /= count;
        }
    }
    *v = (view){.matrix = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .scale = 1.0};
    memcpy(v->slope, most, sizeof most);
    v->rounding = eg_mesh_determinant_rounding(dim, EG_ARITHMETIC, (const double(*)[3])most, entry);
    double det = eg_mesh_determinant(dim, (const double(*)[3])mean);
    if (!(det > 10.0 * v->rounding)) return; /* else it is known to better than a tenth */
    v->scale = det;
    if (dim == 2) {
        v->matrix[0][0] = mean[1][1] / det;
        v->matrix[0][1] = -mean[0][1] / det;
        v->matrix[1][0] = -mean[1][0] / det;
        v->matrix[1][1] = mean[0][0] / det;
    }
    for (int r = 0; dim == 3 && r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            v->matrix[c][r] = (mean[r1][c1] * mean[r2][c2] - mean[r1][c2] * mean[r2][c1]) / det;
        }
    }
}

/* Looks at slopes that are known to entry [dim]: fills `seen` and bounds their determinant, which is
 * at least v->left times v->scale. */
static void look(eg_jacobian *j, double *slopes, const double entry[3], view *v)
{
    int dim = j->info->dim;
    double least = 1.0, most = 1.0; /* products of the diagonal */
    choose_matrix(j, slopes, entry, v);
    for (int d = 0; d < dim; d++) {
        int count = j->derivative[d].count;
        for (int c = 0; c < dim; c++) {
            double *seen = part(j, j->seen, d, c), error = 0.0, low = INFINITY, high = -INFINITY;
            memset(seen, 0, (size_t)count * sizeof *seen);
            for (int k = 0; k < dim; k++) {
                const double *slope = part(j, slopes, d, k);
                double factor = v->matrix[k][c];
                for (int i = 0; i < count; i++)
                    seen[i] += factor * slope[i];
                error += 4.0 * DBL_EPSILON * fabs(factor) * v->slope[d][k];
            }
            for (int i = 0; i < count; i++) {
                low = seen[i] < low ? seen[i] : low;
                high = seen[i] > high ? seen[i] : high;
            }
            v->most[d][c] = larger(fabs(low), fabs(high)) + error;
            if (c != d) continue;
            least *= larger(0.0, low - error);
            most *= v->most[d][d];
        }
    }
    v->left = least - (eg_mesh_permanent(dim, (const double(*)[3])v->most) - most);
}

/* What a change of the entry [d][c] of a matrix is multiplied with in the permanent. */
static double minor_permanent(int dim, const double A[3][3], int d, int c)
{
    if (dim == 2) return A[1 - d][1 - c];
    int d1 = (d + 1) % 3, d2 = (d + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
    return A[d1][c1] * A[d2][c2] + A[d1][c2] * A[d2][c1];
}

/* The direction along which what was seen varies most, by what that does to the bound. */
static int choose_direction(const eg_jacobian *j, const view *v)
{
    int dim = j->info->dim, best = 0;
    double most = -1.0;
    for (int k = 0; k < j->direction_count; k++) {
        double sum = 0.0;
        for (int d = 0; d < dim; d++) {
            for (int c = 0; c < dim; c++)
                sum += minor_permanent(dim, v->most, d, c) *
                       eg_bernstein_variation(&j->slope_direction[d][k], part(j, j->seen, d, c));
        }
        if (!(sum > most)) continue;
        most = sum;
        best = k;
    }
    return best;
}

/* --- the determinant's coefficients ----------------------------------------------------------- */

/* The coefficients of the determinant of all the element. */
static void multiply_out(eg_jacobian *j)
{
    int dim = j->info->dim;
    const eg_bernstein *D = j->derivative, *minor = &j->minor, *whole = &j->determinant;
    double *det = j->coefficients, *slope[3][3];
    for (int d = 0; d < dim; d++) {
        for (int c = 0; c < dim; c++) {
            slope[d][c] = part(j, j->slopes, d, c);
            for (int i = 0; i < D[d].count; i++)
                slope[d][c][i] *= D[d].weight[i];
        }
    }
    memset(det, 0, (size_t)whole->count * sizeof *det);
    if (dim == 2) {
        eg_bernstein_multiply(&D[0], slope[0][0], &D[1], slope[1][1], 1.0, whole, det);
        eg_bernstein_multiply(&D[0], slope[0][1], &D[1], slope[1][0], -1.0, whole, det);
    }
    for (int c = 0; dim == 3 && c < 3; c++) {
        int next = (c + 1) % 3, last = (c + 2) % 3;
        memset(j->cofactor, 0, (size_t)minor->count * sizeof *j->cofactor);
        eg_bernstein_multiply(&D[1], slope[1][next], &D[2], slope[2][last], 1.0, minor,
                              j->cofactor);
        eg_bernstein_multiply(&D[1], slope[1][last], &D[2], slope[2][next], -1.0, minor,
                              j->cofactor);
        eg_bernstein_multiply(&D[0], slope[0][c], minor, j->cofactor, 1.0, whole, det);
    }
    for (int i = 0; i < whole->count; i++)
        det[i] /= whole->weight[i];
}

/* --- halving ---------------------------------------------------------------------------------- */

/* A search for the least determinant. */
typedef struct search {
    double found; /* the least value at a corner */
    double r[3];  /* where */
    bool refused; /* one that rounding cannot tell from zero, or less */
    int pieces;   /* so far */
} search;

static void find_corner(search *s, double value, const double r[3])
{
    if (!(value < s->found)) return;
    s->found = value;
    memcpy(s->r, r, sizeof s->r);
}

/* Makes piece `number` the whole element. */
static void begin(eg_jacobian *j, int number, const double entry[3])
{
    j->pieces[number] = (eg_jacobian_piece){.entry = {entry[0], entry[1], entry[2]}};
    memcpy(j->pieces[number].corner, j->info->r, sizeof j->info->r);
}

/* Gives the corners of a piece to its halves, which are `number` and `number` + 1. */
static void halve_corners(eg_jacobian *j, int number, const eg_bernstein_direction *direction)
{
    eg_jacobian_piece *a = &j->pieces[number], *b = a + 1;
    a->halvings++;
    *b = *a;
    for (int k = 0; k < direction->pair_count; k++) {
        int from = direction->pair[k][0], to = direction->pair[k][1];
        for (int d = 0; d < j->info->dim; d++) {
            double middle = 0.5 * (a->corner[from][d] + a->corner[to][d]);
            a->corner[to][d] = middle;
            b->corner[from][d] = middle;
        }
    }
}

/* Puts the half with the lower bound last, given their numbers [count] one after the other. */
static void order_halves(eg_jacobian *j, int number, size_t count, double *low)
{
    eg_jacobian_piece *a = &j->pieces[number], *b = a + 1, other = *a;
    if (b->least <= a->least) return;
    *a = *b;
    *b = other;
    for (size_t i = 0; i < count; i++) {
        double value = low[i];
        low[i] = low[count + i];
        low[count + i] = value;
    }
}

static bool may_halve(search *s, int count)
{
    int most = MOST_NUMBERS / count < MOST_PIECES ? MOST_NUMBERS / count : MOST_PIECES;
    return s->pieces++ < most;
}

/* --- is it positive? -------------------------------------------------------------------------- */

/* True if a bound shows that determinants are positive, beyond rounding. */
static bool is_shown(const view *v)
{
    return 0.9 * v->left * v->scale > v->rounding;
}

static void look_at_corners(const eg_jacobian *j, int number, search *s)
{
    int dim = j->info->dim;
    const eg_jacobian_piece *p = &j->pieces[number];
    for (int corner = 0; corner < j->info->vertices; corner++) {
        double A[3][3], size[3][3];
        for (int d = 0; d < dim; d++) {
            for (int c = 0; c < dim; c++) {
                A[d][c] = part(j, slopes_of(j, number), d, c)[j->slope_corner[d][corner]];
                size[d][c] = fabs(A[d][c]);
            }
        }
        double value = eg_mesh_determinant(dim, (const double(*)[3])A);
        double rounding =
            eg_mesh_determinant_rounding(dim, EG_ARITHMETIC, (const double(*)[3])size, p->entry);
        s->refused = s->refused || !(value > rounding);
        find_corner(s, value, p->corner[corner]);
    }
}

/* Bounds a piece: its least is positive if it is. Prepares its halving, in which all numbers of a
 * line are rounded as often as the line is long. */
static void measure_slopes(eg_jacobian *j, int number, search *s)
{
    eg_jacobian_piece *p = &j->pieces[number];
    view v;
    look_at_corners(j, number, s);
    look(j, slopes_of(j, number), p->entry, &v);
    p->least = is_shown(&v) ? v.left * v.scale : fmin(v.left * v.scale, 0.0);
    if (p->least > 0.0) return;
    p->direction = choose_direction(j, &v);
    for (int d = 0; d < j->info->dim; d++) {
        for (int c = 0; c < j->info->dim; c++)
            p->entry[c] += (j->order + 1) * DBL_EPSILON * v.slope[d][c];
    }
}

static void halve_slopes(eg_jacobian *j, int number, search *s)
{
    int k = j->pieces[number].direction;
    double *low = slopes_of(j, number), *high = slopes_of(j, number + 1);
    for (int d = 0; d < j->info->dim; d++) {
        for (int c = 0; c < j->info->dim; c++)
            eg_bernstein_halve(&j->slope_direction[d][k], part(j, low, d, c), part(j, high, d, c),
                               j->line);
    }
    halve_corners(j, number, &j->slope_direction[0][k]);
    measure_slopes(j, number, s);
    measure_slopes(j, number + 1, s);
    order_halves(j, number, (size_t)j->slope_count, low);
}

/* Halves the element up to `depth` times in a row; true if all pieces are positive. Goes on after a
 * corner that is not if `all` are asked for. */
static bool search_slopes(eg_jacobian *j, const double entry[3], int depth, bool all, search *s)
{
    bool positive = true;
    int last = 1;
    memcpy(slopes_of(j, last), slopes_of(j, 0), (size_t)j->slope_count * sizeof *j->slopes);
    begin(j, last, entry);
    measure_slopes(j, last, s);
    while (last > 0 && (all || !s->refused)) {
        const eg_jacobian_piece *p = &j->pieces[last];
        if (p->least > 0.0 || p->halvings == depth) {
            positive = positive && p->least > 0.0;
            last--;
            continue;
        }
        if (!may_halve(s, j->slope_count)) return false;
        halve_slopes(j, last++, s);
    }
    return positive && !s->refused;
}

bool eg_jacobian_is_positive(eg_jacobian *j, const double *nodes, double r[3], double *det)
{
    search s = {.found = INFINITY};
    double entry[3];
    view v;
    memcpy(r, j->info->r[0], sizeof s.r);
    *det = NAN;
    if (!differentiate(j, nodes, entry)) return false;
    look(j, j->slopes, entry, &v);
    if (is_shown(&v)) return true;
    /* Some pieces are hard, and determinants may be negative elsewhere: looking everywhere a little
     * before looking anywhere closely finds these first. */
    int first = 2 * j->info->dim;
    bool positive = search_slopes(j, entry, 0, true, &s);
    for (int depth = first; !positive && !s.refused && depth <= EG_JACOBIAN_DEPTH; depth *= 2)
        positive = search_slopes(j, entry, depth, depth == first, &s);
    memcpy(r, s.r, sizeof s.r);
    *det = s.refused ? fmin(s.found, 0.0) : s.found;
    return positive;
}

/* --- how positive is it? ---------------------------------------------------------------------- */

/* Looks at the coefficients of a piece. */
static void measure(eg_jacobian *j, int number, search *s)
{
    eg_jacobian_piece *p = &j->pieces[number];
    const double *coefficient = &j->coefficients[(size_t)number * (size_t)j->determinant.count];
    p->least = INFINITY;
    for (int i = 0; i < j->determinant.count; i++)
        p->least = coefficient[i] < p->least ? coefficient[i] : p->least;
    for (int v = 0; v < j->info->vertices; v++)
        find_corner(s, coefficient[j->corner[v]], p->corner[v]);
}

static void halve(eg_jacobian *j, int number, search *s)
{
    size_t count = (size_t)j->determinant.count;
    double *low = &j->coefficients[(size_t)number * count];
    const eg_bernstein_direction *direction = &j->direction[0];
    double bend = -1.0;
    for (int i = 0; i < j->direction_count; i++) {
        double other = eg_bernstein_bend(&j->direction[i], low);
        if (!(other > bend)) continue;
        bend = other;
        direction = &j->direction[i];
    }
    eg_bernstein_halve(direction, low, low + count, j->line);
    halve_corners(j, number, direction);
    measure(j, number, s);
    measure(j, number + 1, s);
    order_halves(j, number, count, low);
}

double eg_jacobian_least_over_mean(eg_jacobian *j, const double *nodes)
{
    double mean = 0.0, entry[3];
    search s = {.found = INFINITY};
    view v;
    if (!differentiate(j, nodes, entry)) return NAN;
    look(j, j->slopes, entry, &v);
    if (v.left > 0.995) return v.left; /* and the mean is below 1.005 times the scale */
    multiply_out(j);
    begin(j, 0, entry);
    measure(j, 0, &s);
    /* All Bernstein polynomials of a space have the same integral. */
    for (int i = 0; i < j->determinant.count; i++)
        mean += j->coefficients[i] / j->determinant.count;
    int last = 0;
    while (last >= 0) {
        if (j->pieces[last].least > s.found - 0.01 * fabs(mean)) {
            last--;
            continue;
        }
        if (last == EG_JACOBIAN_DEPTH || !may_halve(&s, j->determinant.count)) break;
        halve(j, last++, &s);
    }
    return s.found / mean;
}
