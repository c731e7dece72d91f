/* Mappings of elements, backwards: the reference coordinates of a point in space.
 *
 * Newton's method with steps that are halved until the distance falls. Coordinates are taken
 * from the point itself, so that what is lost to rounding is a part of the element's size and
 * not of its distance from the origin. A mapping that is not affine may lead to a root outside
 * of the element though there is one inside, so a root outside counts only if a start close to
 * the point finds none; of a hundred thousand points in badly bent hexahedra one or two need
 * more starts. */
#include "field/probe.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "field/locate.h"

#define STEPS_MOST 40
#define HALVINGS_MOST 12
#define STEP_LONGEST 1.0 /* in the reference element, whose size is 2 */
#define STEP_DONE 1e-11  /* after such a step the next is below rounding */
#define INSIDE 1e-10     /* of the reference element */
#define ROUNDING (256 * DBL_EPSILON)

double eg_shape_outside(eg_shape shape, const double *r)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    double most = -INFINITY, sum = 0;
    for (int d = 0; d < info->dim; d++) {
        most = fmax(most, info->tensor ? fabs(r[d]) - 1 : -1 - r[d]);
        sum += r[d];
    }
    return info->tensor ? most : fmax(most, sum + info->dim - 2);
}

/* An element's mapping seen from a point: where that point is. */
typedef struct mapping {
    const eg_element *geometry; /* not owned */
    const double *nodes, *x;    /* not owned */
    double size;                /* the largest distance of a node */
    int nearest;                /* node */
} mapping;

/* What the mapping is at r, less the point, and its derivatives J [component][direction];
 * returns the distance. */
static double look(const mapping *m, const double *r, double f[3], double J[3][3])
{
    const int dim = m->geometry->dim, np = m->geometry->np;
    double value[EG_NP_MAX], gradient[3 * EG_NP_MAX];
    eg_element_at(m->geometry, r, value, gradient);
    for (int c = 0; c < dim; c++) {
        f[c] = 0;
        for (int d = 0; d < dim; d++)
            J[c][d] = 0;
        for (int i = 0; i < np; i++) {
            const double y = m->nodes[i * dim + c] - m->x[c];
            f[c] += value[i] * y;
            for (int d = 0; d < dim; d++)
                J[c][d] += gradient[d * np + i] * y;
        }
    }
    return dim == 3 ? hypot(hypot(f[0], f[1]), f[2]) : hypot(f[0], f[1]);
}

/* Solves J d = -f; false if J is singular. */
static bool solve(int dim, double J[3][3], const double *f, double *d)
{
    if (dim == 2) {
        const double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
        d[0] = (J[0][1] * f[1] - J[1][1] * f[0]) / det;
        d[1] = (J[1][0] * f[0] - J[0][0] * f[1]) / det;
        return isfinite(d[0]) && isfinite(d[1]);
    }
    double adjugate[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, p = (i + 1) % 3, q = (i + 2) % 3;
            adjugate[i][j] = J[a][p] * J[b][q] - J[a][q] * J[b][p];
        }
    const double det =
        J[0][0] * adjugate[0][0] + J[0][1] * adjugate[1][0] + J[0][2] * adjugate[2][0];
    for (int i = 0; i < 3; i++)
        d[i] = -(adjugate[i][0] * f[0] + adjugate[i][1] * f[1] + adjugate[i][2] * f[2]) / det;
    return isfinite(d[0]) && isfinite(d[1]) && isfinite(d[2]);
}

static double longest(int dim, const double *d)
{
    double most = 0;
    for (int i = 0; i < dim; i++)
        most = fmax(most, fabs(d[i]));
    return most;
}

/* Goes from r along d, by as large a part of it as brings the point nearer; false if none does. */
static bool step_along(const mapping *m, const double *d, double part, double *distance, double *r,
                       double f[3], double J[3][3])
{
    const int dim = m->geometry->dim;
    for (int halving = 0; halving <= HALVINGS_MOST; halving++, part /= 2) {
        double to[3] = {0};
        for (int i = 0; i < dim; i++)
            to[i] = r[i] + part * d[i];
        const double now = look(m, to, f, J);
        if (now < *distance) {
            *distance = now;
            memcpy(r, to, (size_t)dim * sizeof *r);
            return true;
        }
    }
    return false;
}

/* Newton's method from r; true if it converged. */
static bool search(const mapping *m, double *r)
{
    const int dim = m->geometry->dim;
    double f[3] = {0}, J[3][3] = {{0}}, d[3] = {0};
    double distance = look(m, r, f, J);
    for (int step = 0; step < STEPS_MOST; step++) {
        if (!solve(dim, J, f, d)) return false;
        const double length = longest(dim, d);
        if (length <= STEP_DONE) {
            for (int i = 0; i < dim; i++)
                r[i] += d[i];
            return true;
        }
        const double part = length > STEP_LONGEST ? STEP_LONGEST / length : 1;
        if (!step_along(m, d, part, &distance, r, f, J)) return distance <= ROUNDING * m->size;
    }
    return false;
}

/* Part of the way from the centre of a shape to a point, r. */
static void go_from_centre(eg_shape shape, double part, double *r)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    const double centre = info->tensor ? 0 : 2.0 / (info->dim + 1) - 1;
    for (int d = 0; d < info->dim; d++)
        r[d] = centre + part * (r[d] - centre);
}

/* Where to start: first at the centre, then close to the node that is nearest to the point, and
 * then, if there is need of more, close to all vertices and half way to them. */
static bool start_at(const mapping *m, int k, bool more, double *r)
{
    const eg_element *g = m->geometry;
    const eg_shape_info *info = eg_shape_get_info(g->shape);
    const int vertex = (k - 2) % info->vertices;
    if (k >= (more ? 2 + 2 * info->vertices : 2)) return false;
    for (int d = 0; d < g->dim; d++)
        r[d] = k < 2 ? g->r[d * g->np + m->nearest] : info->r[vertex][d];
    go_from_centre(g->shape, k == 0 ? 0 : k < 2 + info->vertices ? 0.95 : 0.5, r);
    return true;
}

/* Finds the node that is nearest to the point. */
static void find_nearest(mapping *m)
{
    const int dim = m->geometry->dim;
    double least = INFINITY;
    for (int i = 0; i < m->geometry->np; i++) {
        double square = 0;
        for (int c = 0; c < dim; c++) {
            const double y = m->nodes[i * dim + c] - m->x[c];
            square += y * y;
        }
        m->size = fmax(m->size, sqrt(square));
        if (square < least) m->nearest = i;
        least = fmin(least, square);
    }
}

bool eg_map_search(const eg_element *geometry, const double *nodes, const double *x,
                   const double *guess, bool thorough, double *r)
{
    const bool affine = geometry->degree == 1 && !eg_shape_get_info(geometry->shape)->tensor;
    mapping m = {.geometry = geometry, .nodes = nodes, .x = x};
    double at[3] = {0}, least = INFINITY;
    assert(geometry->np <= EG_NP_MAX && geometry->basis != EG_BASIS_MODAL);
    find_nearest(&m);
    for (int k = 0; least > INSIDE && start_at(&m, k, thorough || least == INFINITY, at); k++) {
        if (k == 0 && guess) memcpy(at, guess, (size_t)geometry->dim * sizeof *at);
        if (search(&m, at)) {
            const double outside = eg_shape_outside(geometry->shape, at);
            if (outside < least) memcpy(r, at, (size_t)geometry->dim * sizeof *r);
            least = fmin(least, outside);
        }
        if (affine) break;
    }
    return least < INFINITY;
}

bool eg_map_invert(const eg_element *geometry, const double *nodes, const double *x, double *r)
{
    return eg_map_search(geometry, nodes, x, NULL, false, r);
}
