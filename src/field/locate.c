/* Points in elements, by a tree of boxes.
 *
 * Elements stand in the order of a Hilbert curve, so those with neighbouring numbers lie close
 * together: the tree is a binary one over that order, kept as a heap, and needs no sorting. A
 * box holds its element for certain: that of the straight element through its vertices, wider by
 * what the mapping can deviate from it between nodes, which the Lebesgue constant of the nodes
 * bounds. An element whose box holds a point is looked at in coordinates of its own, in which it
 * is all but straight, by the same kind of box; only then its mapping is inverted.
 *
 * A point is in an element up to 1e-10 of that, or as far as coordinates are rounded. One that
 * is well inside cannot be in another element. */
#include "field/locate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "field/probe.h"
#include "field/space.h"

#define TOLERANCE 1e-10            /* of the reference element */
#define WELL_INSIDE 1e-6           /* of it */
#define ROUNDING (8 * DBL_EPSILON) /* of coordinates */
#define LEBESGUE_SAFETY 1.3
#define DEPTH_MOST 64
#define SEARCH_LEAST                                                                               \
    1e-5 /* step in the reference element at which a search for the nearest point ends */

/* What elements with one kind of mapping have in common. */
typedef struct kind {
    eg_element *geometry; /* NULL: the shape is not there; owned */
    int vertices;
    int vertex[EG_MAX_VERTICES]; /* nodes that are vertices */
    double *linear;              /* [np][vertices] the straight element at the nodes; owned */
    double centre;               /* all its coordinates in the reference element */
    double *value, *gradient;    /* [np], [dim][np] there; owned */
    double lebesgue;
} kind;

struct eg_locator {
    const eg_mesh *mesh; /* not owned */
    int dim;
    kind kinds[EG_SHAPE_COUNT];
    size_t leaves; /* a power of two, at least as many as there are elements */
    /* [2 * leaves][2][dim] low, high; owned. Box 1 is the root, 2i and 2i + 1 are the children of
     * box i, leaves + e is that of element e. */
    double *boxes;
};

/* --- boxes ------------------------------------------------------------------------------------ */

/* The box low [n], high [n] around an element with coordinates y [np][n] at its nodes. */
static void find_box(const kind *k, int n, const double *y, double *low, double *high)
{
    for (int d = 0; d < n; d++) {
        double most = 0; /* deviation */
        low[d] = INFINITY;
        high[d] = -INFINITY;
        for (int v = 0; v < k->vertices; v++) {
            low[d] = fmin(low[d], y[k->vertex[v] * n + d]);
            high[d] = fmax(high[d], y[k->vertex[v] * n + d]);
        }
        for (int i = 0; i < k->geometry->np && k->geometry->degree > 1; i++) {
            double straight = 0;
            for (int v = 0; v < k->vertices; v++)
                straight += k->linear[i * k->vertices + v] * y[k->vertex[v] * n + d];
            most = fmax(most, fabs(y[i * n + d] - straight));
        }
        const double size = high[d] - low[d], largest = fmax(fabs(low[d]), fabs(high[d]));
        const double margin = k->lebesgue * most + 10 * (TOLERANCE * size + ROUNDING * largest);
        low[d] -= margin;
        high[d] += margin;
    }
}

static double *box_of(const eg_locator *l, size_t i)
{
    return l->boxes + 2 * (size_t)l->dim * i;
}

static bool box_holds(const eg_locator *l, size_t i, const double *x)
{
    const double *low = box_of(l, i), *high = low + l->dim;
    for (int d = 0; d < l->dim; d++)
        if (!(x[d] >= low[d] && x[d] <= high[d])) return false;
    return true;
}

static double box_distance(const eg_locator *l, size_t i, const double *x)
{
    const double *low = box_of(l, i), *high = low + l->dim;
    double sum = 0;
    for (int d = 0; d < l->dim; d++) {
        const double out = fmax(0, fmax(low[d] - x[d], x[d] - high[d]));
        sum += out * out;
    }
    return sqrt(sum);
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* The most that the nodes' polynomials add up to, on a fine lattice of points. */
static double measure_lebesgue(const eg_element *g)
{
    const int side = 2 * g->degree + 1, count = side * side * (g->dim == 3 ? side : 1);
    double value[EG_NP_MAX], gradient[3 * EG_NP_MAX], most = 1;
    for (int q = 0; q < count; q++) {
        const int index[3] = {q % side, q / side % side, q / side / side};
        double r[3], sum = 0;
        for (int d = 0; d < 3; d++)
            r[d] = 2.0 * index[d] / (side - 1) - 1;
        if (eg_shape_outside(g->shape, r) > 0) continue;
        eg_element_at(g, r, value, gradient);
        for (int i = 0; i < g->np; i++)
            sum += fabs(value[i]);
        most = fmax(most, sum);
    }
    return LEBESGUE_SAFETY * most;
}

static eg_status prepare_kind(eg_context *ctx, eg_shape shape, int order, kind *k)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    eg_element *straight = NULL;
    eg_status status = EG_OK;

    if (k->geometry) return EG_OK;
    EG_TRY(eg_element_create_bare(ctx, shape, order, EG_BASIS_LOBATTO, &k->geometry));
    const eg_element *geometry = k->geometry;
    const size_t np = (size_t)geometry->np, dim = (size_t)geometry->dim;
    k->vertices = info->vertices;
    k->centre = info->tensor ? 0 : 2.0 / (info->dim + 1) - 1;
    EG_TRY(eg_new(ctx, np * (size_t)k->vertices, &k->linear));
    EG_TRY(eg_new(ctx, np, &k->value));
    EG_TRY(eg_new(ctx, np * dim, &k->gradient));
    EG_TRY(eg_element_create_bare(ctx, shape, 1, EG_BASIS_LOBATTO, &straight));
    EG_TRY(eg_element_evaluate(straight, geometry->np, geometry->r, k->linear));
    for (int i = 0; i < geometry->np; i++)
        for (int v = 0; v < k->vertices; v++)
            if (k->linear[i * k->vertices + v] > 1 - 1e-12) k->vertex[v] = i;
    eg_element_at(geometry, (const double[]){k->centre, k->centre, k->centre}, k->value,
                  k->gradient);
    if (geometry->degree > 1) k->lebesgue = measure_lebesgue(geometry);
done:
    eg_element_destroy(&straight);
    return status;
}

static void fill_tree(eg_locator *l)
{
    const eg_mesh *mesh = l->mesh;
    const int dim = l->dim;
    double nodes[3 * EG_NP_MAX];
    for (size_t e = 0; e < l->leaves; e++) {
        double *low = box_of(l, l->leaves + e), *high = low + dim;
        if (e < (size_t)mesh->element_count) {
            eg_mesh_element_nodes(mesh, (int32_t)e, nodes);
            find_box(&l->kinds[mesh->shape[e]], dim, nodes, low, high);
            continue;
        }
        for (int d = 0; d < dim; d++) { /* there is no such element */
            low[d] = INFINITY;
            high[d] = -INFINITY;
        }
    }
    for (size_t i = l->leaves - 1; i > 0; i--)
        for (int d = 0; d < dim; d++) {
            const double *a = box_of(l, 2 * i), *b = box_of(l, 2 * i + 1);
            box_of(l, i)[d] = fmin(a[d], b[d]);
            box_of(l, i)[dim + d] = fmax(a[dim + d], b[dim + d]);
        }
}

eg_status eg_locator_create(const eg_mesh *mesh, eg_locator **out)
{
    eg_locator *l = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(mesh->ctx, 1, &l));
    l->mesh = mesh;
    l->dim = mesh->dim;
    for (int32_t e = 0; e < mesh->element_count; e++)
        EG_TRY(prepare_kind(mesh->ctx, mesh->shape[e], mesh->order, &l->kinds[mesh->shape[e]]));
    for (l->leaves = 1; l->leaves < (size_t)mesh->element_count;)
        l->leaves *= 2;
    EG_TRY(eg_new(mesh->ctx, 4 * l->leaves * (size_t)l->dim, &l->boxes));
    fill_tree(l);
    *out = l;
    l = NULL;
done:
    eg_locator_destroy(&l);
    return status;
}

void eg_locator_destroy(eg_locator **handle)
{
    eg_locator *l = *handle;
    if (!l) return;
    eg_context *ctx = l->mesh->ctx;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        eg_element_destroy(&l->kinds[s].geometry);
        eg_release(ctx, &l->kinds[s].gradient);
        eg_release(ctx, &l->kinds[s].value);
        eg_release(ctx, &l->kinds[s].linear);
    }
    eg_release(ctx, &l->boxes);
    eg_release(ctx, handle);
}

/* --- one element ------------------------------------------------------------------------------ */

/* J [dim][dim] = ∂x/∂r at the centre, and the centre c. */
static void look_at_centre(const kind *k, const double *nodes, double J[3][3], double c[3])
{
    const int dim = k->geometry->dim, np = k->geometry->np;
    memset(J, 0, 9 * sizeof J[0][0]);
    memset(c, 0, 3 * sizeof *c);
    for (int i = 0; i < np; i++)
        for (int a = 0; a < dim; a++) {
            c[a] += k->value[i] * nodes[i * dim + a];
            for (int b = 0; b < dim; b++)
                J[a][b] += k->gradient[b * np + i] * nodes[i * dim + a];
        }
}

/* The inverse of J. */
static void invert(int dim, double J[3][3], double A[3][3])
{
    double det = 0;
    if (dim == 2) {
        A[0][0] = J[1][1];
        A[0][1] = -J[0][1];
        A[1][0] = -J[1][0];
        A[1][1] = J[0][0];
    }
    for (int i = 0; i < 3 && dim != 2; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, p = (i + 1) % 3, q = (i + 2) % 3;
            A[i][j] = J[a][p] * J[b][q] - J[a][q] * J[b][p];
        }
    for (int i = 0; i < dim; i++)
        det += J[0][i] * A[i][0];
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
            A[i][j] /= det;
}

/* False if x is certainly outside of the element: by its box in coordinates that are those of
 * the reference element at the centre; simplices have a last one, along which their slanted face
 * is at an end. `guess` is where x is if the element is straight, `slack` what rounded
 * coordinates of x may amount to there. */
static bool may_hold(const kind *k, const double *nodes, const double *x, double guess[3],
                     double *slack)
{
    const eg_element *g = k->geometry;
    const int dim = g->dim, n = eg_shape_get_info(g->shape)->tensor ? dim : dim + 1;
    double J[3][3], A[3][3], c[3], y[4 * (EG_NP_MAX + 1)], low[4], high[4];
    look_at_centre(k, nodes, J, c);
    invert(dim, J, A);
    for (int i = 0; i <= g->np; i++) { /* the last one is x */
        const double *from = i < g->np ? nodes + i * dim : x;
        double sum = 0;
        for (int a = 0; a < dim; a++) {
            double value = k->centre;
            for (int b = 0; b < dim; b++)
                value += A[a][b] * (from[b] - c[b]);
            y[i * n + a] = value;
            sum += value;
        }
        if (n > dim) y[i * n + dim] = sum;
    }
    *slack = 0;
    for (int a = 0; a < dim; a++)
        for (int b = 0; b < dim; b++)
            *slack += ROUNDING * fabs(A[a][b] * x[b]);
    find_box(k, n, y, low, high);
    const double *at = y + g->np * n;
    memcpy(guess, at, (size_t)dim * sizeof *guess);
    for (int d = 0; d < n; d++)
        if (!(at[d] >= low[d] - 2 * *slack && at[d] <= high[d] + 2 * *slack)) return false;
    return true;
}

/* By how much x is out of an element whose box holds it, in the reference element, and where it
 * is, r; INFINITY: by more than rounding. */
static double look_into(const eg_locator *l, int32_t element, const double *x, bool thorough,
                        double *r)
{
    const kind *k = &l->kinds[l->mesh->shape[element]];
    const eg_element *g = k->geometry;
    double nodes[3 * EG_NP_MAX], guess[3], slack;
    eg_mesh_element_nodes(l->mesh, element, nodes);
    if (!may_hold(k, nodes, x, guess, &slack)) return INFINITY;
    if (!eg_map_search(g, nodes, x, guess, thorough, r)) return INFINITY;
    const double outside = eg_shape_outside(g->shape, r);
    return outside <= TOLERANCE + slack ? outside : INFINITY;
}

/* Goes through all elements whose boxes hold x. */
static int32_t find(const eg_locator *l, const double *x, bool thorough, double *r)
{
    const int64_t *global = l->mesh->global;
    size_t stack[DEPTH_MOST], height = 0;
    int32_t best = -1;
    stack[height++] = 1;
    while (height > 0) {
        const size_t box = stack[--height];
        if (!box_holds(l, box, x)) continue;
        if (box < l->leaves) {
            stack[height++] = 2 * box + 1;
            stack[height++] = 2 * box;
            continue;
        }
        const int32_t element = (int32_t)(box - l->leaves);
        double place[3];
        if (best >= 0 && global[element] > global[best]) continue;
        const double outside = look_into(l, element, x, thorough, place);
        if (outside == INFINITY) continue;
        best = element;
        memcpy(r, place, (size_t)l->dim * sizeof *r);
        if (outside < -WELL_INSIDE) break;
    }
    return best;
}

int32_t eg_locator_find(const eg_locator *locator, const double *x, double *r)
{
    const int32_t element = find(locator, x, false, r);
    return element >= 0 ? element : find(locator, x, true, r);
}

/* --- distances -------------------------------------------------------------------------------- */

/* Moves r into the reference element. */
static void pull_inside(eg_shape shape, double *r)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    double sum = 0;
    for (int d = 0; d < info->dim; d++) {
        r[d] = fmax(-1, info->tensor ? fmin(1, r[d]) : r[d]);
        sum += r[d] + 1;
    }
    for (int d = 0; d < info->dim && !info->tensor && sum > 2; d++)
        r[d] = (r[d] + 1) * 2 / sum - 1;
}

/* The distance of x from the place r of an element. */
static double distance_at(const eg_element *g, const double *nodes, const double *r,
                          const double *x)
{
    double value[EG_NP_MAX], gradient[3 * EG_NP_MAX], sum = 0;
    eg_element_at(g, r, value, gradient);
    for (int d = 0; d < g->dim; d++) {
        double out = 0;
        for (int i = 0; i < g->np; i++)
            out += value[i] * (nodes[i * g->dim + d] - x[d]);
        sum += out * out;
    }
    return sqrt(sum);
}

/* Tries the places a step away from r, along the axes and the edges of simplices; true if one is
 * nearer. */
static bool step_nearer(const eg_element *g, const double *nodes, const double *x, double step,
                        double *r, double *distance)
{
    const int dim = g->dim;
    for (int i = 0; i < 2 * dim * dim; i++) {
        const int a = i / 2 % dim, b = i / 2 / dim;
        const double sign = i % 2 ? -1 : 1;
        double to[3] = {0};
        memcpy(to, r, (size_t)dim * sizeof *r);
        to[a] += sign * step;
        if (b != a) to[b] -= sign * step;
        pull_inside(g->shape, to);
        const double now = distance_at(g, nodes, to, x);
        if (now < *distance) {
            *distance = now;
            memcpy(r, to, (size_t)dim * sizeof *r);
            return true;
        }
    }
    return false;
}

/* The distance of x from an element: from its nearest node on, in steps that become smaller. */
static double element_distance(const eg_locator *l, int32_t element, const double *x)
{
    const eg_element *g = l->kinds[l->mesh->shape[element]].geometry;
    double nodes[3 * EG_NP_MAX], r[3] = {0}, distance = INFINITY;
    eg_mesh_element_nodes(l->mesh, element, nodes);
    for (int i = 0; i < g->np; i++) {
        double at[3] = {0};
        for (int d = 0; d < g->dim; d++)
            at[d] = g->r[d * g->np + i];
        const double now = distance_at(g, nodes, at, x);
        if (now < distance) {
            distance = now;
            memcpy(r, at, sizeof r);
        }
    }
    for (double step = 0.5; step > SEARCH_LEAST;)
        if (!step_nearer(g, nodes, x, step, r, &distance)) step /= 2;
    return distance;
}

double eg_locator_distance(const eg_locator *l, const double *x)
{
    size_t stack[DEPTH_MOST], height = 0;
    double least = INFINITY;
    stack[height++] = 1;
    while (height > 0) {
        const size_t box = stack[--height];
        if (!(box_distance(l, box, x) < least)) continue;
        if (box >= l->leaves) {
            least = fmin(least, element_distance(l, (int32_t)(box - l->leaves), x));
            continue;
        }
        /* The nearer one first. */
        const bool second = box_distance(l, 2 * box + 1, x) < box_distance(l, 2 * box, x);
        stack[height++] = 2 * box + !second;
        stack[height++] = 2 * box + second;
    }
    return least;
}
