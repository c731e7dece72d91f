/* The operator of model `euler` on every device against plain loops: a stage of every method, numerical
 * flux and boundary, on equal, graded, turned, perturbed and curved elements; that uniform flow stays as
 * it is, that what is conserved stays for a thousand steps, and which steps are stable. */
#include "euler_runs.h"
#include "kernel/devices.h"

#include "kernel/euler_gas.h"
#include "mesh/build.h"

enum { SIDE_MAX = EG_EULER_DEGREE_MAX + 1, NP_MAX = SIDE_MAX * SIDE_MAX };

/* What is computed, and where. */
typedef struct setting {
    const char *name;
    eg_euler_method method;
    bool chain;
    int flux, degree;
    double grading, perturb;
    bool periodic, turned, low_storage;
    bool everywhere;  /* on every device, not on one thread of the CPU alone */
    int order;        /* of the mapping */
    eg_mesh_map *map; /* NULL: straight */
} setting;

/* All elements are bent; opposite sides stay apart as they were. */
static eg_status bend_all(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 2, x += 2) {
        x[0] = X[0] + 0.04 * sin(6.283185307179586 * (X[0] + X[1]));
        x[1] = X[1] + 0.05 * sin(6.283185307179586 * X[0]);
    }
    return EG_OK;
}

/* Those of the left half stay squares. */
static eg_status bend_half(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 2, x += 2) {
        const double beyond = fmax(0, X[0] - 3.0 / 7);
        x[0] = X[0] + beyond * beyond * X[1];
        x[1] = X[1] - beyond * sin(3 * X[0]) * 0.5;
    }
    return EG_OK;
}

static const setting settings[] = {
    {"squares", EG_EULER_DG, false, RUSANOV, 2, 1, 0, true, false, false, true, 1, NULL},
    {"squares", EG_EULER_CPR, true, ROE, 1, 1, 0, true, false, true, true, 1, NULL},
    {"bounded squares", EG_EULER_SD, false, RUSANOV, 1, 1, 0, false, false, false, false, 1, NULL},
    {"bounded squares", EG_EULER_NDG, false, HLLC, 2, 1, 0, false, false, true, false, 1, NULL},
    {"graded", EG_EULER_CPR, false, RUSANOV, 4, 2, 0, false, false, false, false, 1, NULL},
    {"turned", EG_EULER_NDG, false, ROE, 2, 2, 0, false, true, false, true, 1, NULL},
    {"turned", EG_EULER_DG, false, HLLC, 3, 1, 0, false, true, false, false, 1, NULL},
    {"perturbed", EG_EULER_DG, false, ROE, 2, 1, 0.2, false, false, true, false, 1, NULL},
    {"perturbed", EG_EULER_SD, false, HLLC, 4, 1, 0.2, false, true, false, true, 1, NULL},
    {"perturbed", EG_EULER_CPR, true, HLLC, 3, 2, 0.2, false, true, false, false, 1, NULL},
    {"perturbed", EG_EULER_NDG, false, RUSANOV, 8, 1, 0.2, false, false, false, false, 1, NULL},
    {"curved", EG_EULER_DG, false, HLLC, 3, 1, 0, true, false, false, false, 3, bend_all},
    {"curved", EG_EULER_NDG, false, ROE, 2, 1, 0, true, false, true, false, 2, bend_all},
    {"curved, turned", EG_EULER_NDG, false, RUSANOV, 3, 1, 0.1, false, true, false, true, 2,
     bend_all},
    {"curved beyond the degree", EG_EULER_DG, false, ROE, 2, 1, 0, false, true, true, false, 4,
     bend_all},
    {"curved in part", EG_EULER_NDG, false, RUSANOV, 2, 1, 0, false, false, false, false, 2,
     bend_half},
    {"curved", EG_EULER_CPR, true, ROE, 2, 1, 0, false, false, false, false, 2, bend_all},
    {"curved", EG_EULER_SD, false, HLLC, 3, 1, 0, false, true, false, false, 3, bend_all},
};

/* The elements of a mesh along x and y. */
typedef struct extent {
    int cells[2];
} extent;
static const extent usual = {{7, 6}};

/* Where fluxes are handed on: equal rectangles, in rows that are shorter than
 * the lanes of a tile, as long or longer, in tiles that are full or not. */
static const setting swept[] = {
    {"swept", EG_EULER_NDG, false, RUSANOV, 1, 1, 0, true, false, false, false, 1, NULL},
    {"swept", EG_EULER_NDG, false, RUSANOV, 2, 1, 0, false, false, true, false, 1, NULL},
    {"swept", EG_EULER_NDG, false, HLLC, 3, 1, 0, true, false, true, false, 1, NULL},
    {"swept", EG_EULER_NDG, false, ROE, 4, 1, 0, false, false, false, false, 1, NULL},
    {"swept", EG_EULER_CPR, true, RUSANOV, 3, 1, 0, false, false, false, false, 1, NULL},
    {"swept", EG_EULER_CPR, true, HLLC, 1, 1, 0, false, false, true, false, 1, NULL},
    {"swept", EG_EULER_CPR, true, ROE, 2, 1, 0, true, false, false, false, 1, NULL},
    {"swept", EG_EULER_NDG, false, RUSANOV, 5, 1, 0, true, false, false, false, 1, NULL},
    {"swept", EG_EULER_DG, false, RUSANOV, 1, 1, 0, true, false, false, false, 1, NULL},
    {"swept", EG_EULER_DG, false, HLLC, 2, 1, 0, false, false, true, false, 1, NULL},
    {"swept", EG_EULER_DG, false, ROE, 3, 1, 0, false, false, false, false, 1, NULL},
};
static const extent swept_sizes[] = {{{35, 9}}, {{16, 7}}, {{3, 14}}, {{1, 18}},
                                     {{21, 5}}, {{40, 4}}, {{32, 4}}, {{18, 2}},
                                     {{35, 9}}, {{18, 5}}, {{3, 14}}};

/* Blended with finite volumes. */
static const setting blended[] = {
    {"blended", EG_EULER_DG, false, RUSANOV, 3, 1, 0, true, false, false, false, 1, NULL},
    {"blended", EG_EULER_NDG, false, HLLC, 1, 1, 0, false, false, false, false, 1, NULL},
    {"blended", EG_EULER_NDG, false, ROE, 2, 2, 0, false, true, true, true, 1, NULL},
    {"blended", EG_EULER_SD, false, HLLC, 2, 1, 0.2, false, true, false, true, 1, NULL},
    {"blended", EG_EULER_DG, false, ROE, 1, 1, 0.2, false, false, false, false, 1, NULL},
    {"blended", EG_EULER_CPR, true, RUSANOV, 4, 1, 0.2, true, false, false, false, 1, NULL},
};

/* --- a stage in plain C ----------------------------------------------------------------------------- */

typedef struct bench {
    const setting *s;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *given[4];
    eg_euler *op;
    const double *values; /* [element][4][np] */
    double *shares;       /* [element] of finite volumes; NULL: there are none */
    /* The mapping as the scheme has it: of at most its degree. */
    eg_element *mapping;
} bench;

static bench bench_new(eg_device *device, const setting *s, extent along, bool blends)
{
    eg_context *ctx = eg_device_context(device);
    const eg_euler_scheme scheme = {.method = s->method, .chain = s->chain};
    const eg_expression *given[EG_COUNT(types) * 4];
    bench b = {.s = s};
    TEST_OK(ctx, eg_comm_self(ctx, &b.comm));
    b.mesh = box_with(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                             .cells = {along.cells[0], along.cells[1]},
                                             .grading = {s->grading, s->grading},
                                             .perturb = s->perturb,
                                             .seed = 5,
                                             .periodic = {s->periodic, s->periodic}});
    if (s->turned) turn_elements(b.mesh, 11);
    if (s->map) TEST_OK(ctx, eg_mesh_curve(b.mesh, s->order, s->map, NULL));
    TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_QUAD,
                                   b.mesh->order < s->degree ? b.mesh->order : s->degree,
                                   EG_BASIS_LOBATTO, &b.mapping));
    for (int i = 0; i < 4; i++)
        b.given[i] = expression(ctx, given_texts[i]);
    for (size_t i = 0; i < EG_COUNT(given); i++)
        given[i] = types[i / 4] == EG_EULER_WALL ? NULL : b.given[i % 4];
    assert_true(b.mesh->boundary_count <= (int)EG_COUNT(types));
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){.basis = eg_euler_basis(scheme),
                                                     .degree = s->degree,
                                                     .lanes = eg_euler_lanes(device, s->degree)},
                                 &b.space));
    TEST_OK(ctx,
            eg_euler_create(b.space,
                            &(eg_euler_options){
                                .scheme = scheme,
                                .flux = s->flux,
                                .gamma = GAMMA,
                                .low_storage = s->low_storage,
                                .limits = {.method = blends ? EG_EULER_BLEND : EG_EULER_UNLIMITED},
                                .types = types,
                                .given = given},
                            &b.op));
    return b;
}

static void bench_free(bench *b)
{
    free(b->shares);
    eg_euler_destroy(&b->op);
    for (int i = 0; i < 4; i++)
        eg_expression_destroy(&b->given[i]);
    eg_space_destroy(&b->space);
    eg_element_destroy(&b->mapping);
    eg_mesh_destroy(&b->mesh);
    eg_comm_destroy(&b->comm);
}

static const eg_element *element_of(const bench *b)
{
    return b->space->groups[0].element;
}

/* The state of an element at a point. */
static void state_at(const bench *b, int32_t e, const double *r, double *q)
{
    const eg_element *element = element_of(b);
    double phi[NP_MAX];
    TEST_OK(b->space->ctx, eg_element_evaluate(element, 1, r, phi));
    for (int c = 0; c < 4; c++) {
        q[c] = 0;
        for (int i = 0; i < element->np; i++)
            q[c] += phi[i] * b->values[(e * 4 + c) * element->np + i];
    }
}

/* Where the nodes of the scheme's mapping are: [node][2]. */
static void mapping_nodes(const bench *b, int32_t e, double *x)
{
    const eg_element *geometry = b->space->groups[0].geometry;
    const int n = geometry->np;
    double nodes[2 * NP_MAX], values[NP_MAX * NP_MAX];
    assert_int_equal(eg_mesh_element_nodes(b->mesh, e, nodes), n);
    TEST_OK(b->space->ctx, eg_element_evaluate(geometry, b->mapping->np, b->mapping->r, values));
    for (int i = 0; i < 2 * b->mapping->np; i++) {
        x[i] = 0;
        for (int k = 0; k < n; k++)
            x[i] += values[i / 2 * n + k] * nodes[2 * k + i % 2];
    }
}

/* J∇r_d of an element at a point; returns J, and the place x. */
static double normal_at(const bench *b, int32_t e, const double *r, int d, double *n, double *x)
{
    const int np = b->mapping->np;
    double nodes[2 * NP_MAX], values[NP_MAX], gradient[2 * NP_MAX];
    double slope[2][2] = {{0}}; /* [k][axis] */
    mapping_nodes(b, e, nodes);
    eg_element_at(b->mapping, r, values, gradient);
    x[0] = x[1] = 0;
    for (int i = 0; i < np; i++)
        for (int axis = 0; axis < 2; axis++) {
            x[axis] += values[i] * nodes[2 * i + axis];
            slope[0][axis] += gradient[i] * nodes[2 * i + axis];
            slope[1][axis] += gradient[np + i] * nodes[2 * i + axis];
        }
    n[0] = d == 0 ? slope[1][1] : -slope[0][1];
    n[1] = d == 0 ? -slope[1][0] : slope[0][0];
    return slope[0][0] * slope[1][1] - slope[0][1] * slope[1][0];
}

/* The trace of an element at a point of its face at an end of d: with a share of finite volumes, of the node
 * next to it, too. */
static void trace_at(const bench *b, int32_t e, const double *r, int d, double *q)
{
    const eg_element *line = element_of(b)->line;
    double near[2] = {r[0], r[1]}, node[4];
    state_at(b, e, r, q);
    if (!b->shares) return;
    near[d] = line->r[r[d] > 0 ? line->np - 1 : 0];
    state_at(b, e, near, node);
    for (int c = 0; c < 4; c++)
        q[c] += b->shares[e] * (node[c] - q[c]);
}

/* The states on both sides of the point r of an element, which is at its end (-1 or 1) of d, with the outward
 * normal n. */
static void states_at_end(const bench *b, int32_t e, const double *r, int d, const double *n,
                          double *in, double *out)
{
    const int face = eg_shape_face_at(EG_SHAPE_QUAD, d, r[d] > 0);
    const size_t at = (size_t)e * (size_t)b->mesh->face_stride + (size_t)face;
    const int32_t neighbour = b->mesh->neighbour[at];
    double point[2], normal[2], x[2], s = r[1 - d], other_s;
    bool high = false;
    trace_at(b, e, r, d, in);
    if (neighbour >= 0) {
        const int other = EG_FACE(b->mesh->neighbour_face[at]);
        eg_shape_face_points(EG_SHAPE_QUAD, face, 1, &s, point);
        if (fabs(point[1 - d] - r[1 - d]) > 1e-12) s = -s;
        eg_orientation_points(EG_SHAPE_LINE, EG_ORIENTATION(b->mesh->neighbour_face[at]), 1, &s,
                              &other_s);
        eg_shape_face_points(EG_SHAPE_QUAD, other, 1, &other_s, point);
        trace_at(b, neighbour, point, eg_shape_face_direction(EG_SHAPE_QUAD, other, &high), out);
    } else {
        const double size = hypot(n[0], n[1]), unit[2] = {n[0] / size, n[1] / size};
        normal_at(b, e, r, d, normal, x);
        behind_boundary(-1 - neighbour, x, unit, in, out);
    }
}

/* The numerical flux along J∇r_d at the point r of an element, which is at its end (-1 or 1) of d. */
static void flux_at_end(const bench *b, int32_t e, const double *r, int d, double *f)
{
    const bool high = r[d] > 0;
    double in[4], out[4], n[2], x[2];
    normal_at(b, e, r, d, n, x);
    for (int axis = 0; axis < 2; axis++)
        n[axis] *= high ? 1 : -1; /* outwards */
    states_at_end(b, e, r, d, n, in, out);
    numerical_flux(b->s->flux, in, out, n, f);
    for (int c = 0; c < 4; c++)
        f[c] *= high ? 1 : -1;
}

/* The flux along J∇r_d inside. */
static void flux_inside(const bench *b, int32_t e, const double *r, int d, double *f)
{
    double q[4], n[2], x[2];
    state_at(b, e, r, q);
    normal_at(b, e, r, d, n, x);
    flux_through(q, n, f);
}

/* The derivative at x of the Lagrange polynomial k of n points. */
static double lagrange_slope(const double *points, int n, int k, double x)
{
    double sum = 0;
    for (int m = 0; m < n; m++) {
        double product = m == k ? 0 : 1 / (points[k] - points[m]);
        for (int i = 0; i < n; i++)
            if (i != k && i != m) product *= (x - points[i]) / (points[k] - points[i]);
        sum += product;
    }
    return sum;
}

/* What the flux Jacobian along J∇r_d at node i makes of the slope of the solution there, by differences. */
static void chained_slope(const bench *b, int32_t e, const double *r, int d, int i, double *out)
{
    const eg_element *line = element_of(b)->line;
    const double step = 1e-4;
    double slope[4] = {0}, at[2] = {r[0], r[1]}, q[4], n[2], x[2];
    for (int k = 0; k < line->np; k++) {
        at[d] = line->r[k];
        state_at(b, e, at, q);
        for (int c = 0; c < 4; c++)
            slope[c] += line->D[i * line->np + k] * q[c];
    }
    at[d] = line->r[i];
    state_at(b, e, at, q);
    normal_at(b, e, at, d, n, x);
    for (int c = 0; c < 4; c++)
        out[c] = 0;
    for (int way = -1; way <= 1; way += 2) {
        double moved[4], f[4];
        for (int c = 0; c < 4; c++)
            moved[c] = q[c] + way * step * slope[c];
        flux_through(moved, n, f);
        for (int c = 0; c < 4; c++)
            out[c] += way * f[c] / (2 * step);
    }
}

/* Takes away the derivative of the flux along direction d at node i of the line through r. */
static void add_line(const bench *b, int32_t e, const double *r, int d, int i, double *rate)
{
    const eg_element *line = element_of(b)->line;
    const int n = line->np;
    double low[4], high[4], f[4], end[2] = {r[0], r[1]}, at[2] = {r[0], r[1]}, ends[2][SIDE_MAX];
    end[d] = -1;
    flux_at_end(b, e, end, d, low);
    TEST_OK(b->space->ctx, eg_element_evaluate(line, 1, &end[d], ends[0]));
    end[d] = 1;
    flux_at_end(b, e, end, d, high);
    TEST_OK(b->space->ctx, eg_element_evaluate(line, 1, &end[d], ends[1]));
    if (b->s->method == EG_EULER_SD) {
        double points[SIDE_MAX + 1];
        for (int k = 0; k <= n; k++) {
            points[k] = -cos(acos(-1) * k / n);
        }
        for (int k = 0; k <= n; k++) {
            at[d] = points[k];
            if (k > 0 && k < n) flux_inside(b, e, at, d, f);
            const double *of = k == 0 ? low : k == n ? high : f;
            for (int c = 0; c < 4; c++)
                rate[c] -= lagrange_slope(points, n + 1, k, line->r[i]) * of[c];
        }
        return;
    }
    const bool chain = b->s->chain && !(b->shares && b->shares[e] > 0);
    if (chain) {
        chained_slope(b, e, r, d, i, f);
        for (int c = 0; c < 4; c++)
            rate[c] -= f[c];
    }
    for (int k = 0; k < n; k++) {
        at[d] = line->r[k];
        flux_inside(b, e, at, d, f);
        for (int c = 0; c < 4; c++) {
            if (b->s->method == EG_EULER_DG)
                rate[c] += line->weights[k] * line->D[k * n + i] / line->weights[i] * f[c];
            else if (!chain)
                rate[c] -= line->D[i * n + k] * f[c];
            /* What the ends change: with Gauss-Lobatto points, against the fluxes that are there. */
            if (b->s->method == EG_EULER_DG && k == 0)
                rate[c] -= (ends[1][i] * high[c] - ends[0][i] * low[c]) / line->weights[i];
            else if (b->s->method != EG_EULER_DG && k == 0)
                rate[c] += line->mass_inverse[i * n] * (low[c] - f[c]);
            if (b->s->method != EG_EULER_DG && k == n - 1)
                rate[c] -= line->mass_inverse[i * n + n - 1] * (high[c] - f[c]);
        }
    }
}

/* --- finite volumes on subcells ------------------------------------------------------------------- */

/* The share of finite volumes of an element, from the modes of ρp. */
static double share_of(const bench *b, int32_t e)
{
    const eg_element *element = element_of(b);
    const int n = element->line->np, np = element->np;
    double energy[3] = {0}; /* all, without the highest modes, without the two highest */
    for (int m = 0; m < np; m++) {
        double mode = 0;
        for (int i = 0; i < np; i++) {
            double q[4];
            for (int c = 0; c < 4; c++)
                q[c] = b->values[(e * 4 + c) * np + i];
            mode += element->line->V_inverse[m % n * n + i % n] *
                    element->line->V_inverse[m / n * n + i / n] * q[0] * gas_of(q).p;
        }
        for (int k = 0; k < 3; k++)
            if (m % n < n - k && m / n < n - k) energy[k] += mode * mode;
    }
    const double top = (energy[0] - energy[1]) / energy[0];
    const double next = n > 2 ? (energy[1] - energy[2]) / energy[1] : 0;
    const double half = (n == 2 ? 3 : 1) * 0.5 * pow(10, -1.8 * pow(n, 0.25));
    const double share = 1 / (1 + exp(log(9999) * (1 - fmax(top, next) / half)));
    assert_true(fabs(share - 0.001) > 1e-8); /* else rounding decides */
    return share < 0.001 ? 0 : share;
}

static double least_of(double a, double b)
{
    return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b;
}

/* Density, velocity and pressure of subcell k of the line along d through r, or beyond its ends. */
static void subcell(const bench *b, int32_t e, const double *r, int d, int k, double *w)
{
    const eg_element *line = element_of(b)->line;
    double at[2] = {r[0], r[1]}, q[4], in[4], n[2], x[2];
    at[d] = k < 0 ? -1 : k < line->np ? line->r[k] : 1;
    if (k >= 0 && k < line->np) {
        state_at(b, e, at, q);
    } else {
        normal_at(b, e, at, d, n, x);
        for (int axis = 0; axis < 2; axis++)
            n[axis] *= at[d];
        states_at_end(b, e, at, d, n, in, q);
    }
    const gas g = gas_of(q);
    w[0] = g.rho;
    w[1] = g.u;
    w[2] = g.v;
    w[3] = g.p;
}

/* The state at the low (way = -1) or high end of subcell k. */
static void subcell_end(const bench *b, int32_t e, const double *r, int d, int k, int way,
                        double *q)
{
    const eg_element *line = element_of(b)->line;
    const double *width = line->weights;
    double low[4], at[4], high[4], end[4];
    subcell(b, e, r, d, k - 1, low);
    subcell(b, e, r, d, k, at);
    subcell(b, e, r, d, k + 1, high);
    const double below = k > 0 ? width[k - 1] : width[k];
    const double above = k < line->np - 1 ? width[k + 1] : width[k];
    for (int c = 0; c < 4; c++)
        end[c] = at[c] + way * width[k] *
                             least_of((at[c] - low[c]) / (below + width[k]),
                                      (high[c] - at[c]) / (above + width[k]));
    conserved_of(end[0], end[1], end[2], end[3], q);
}

/* The flux along J∇r_d at the low end of subcell k. */
static void subcell_flux(const bench *b, int32_t e, const double *r, int d, int k, double *f)
{
    const eg_element *line = element_of(b)->line;
    double at[2] = {r[0], r[1]}, left[4], right[4], n[2], x[2];
    at[d] = -1;
    for (int i = 0; i < k; i++)
        at[d] += line->weights[i];
    if (k == 0 || k == line->np) {
        at[d] = k == 0 ? -1 : 1;
        flux_at_end(b, e, at, d, f);
        return;
    }
    normal_at(b, e, at, d, n, x);
    subcell_end(b, e, r, d, k - 1, 1, left);
    subcell_end(b, e, r, d, k, -1, right);
    numerical_flux(b->s->flux, left, right, n, f);
}

/* What add_line does, blended with finite volumes. */
static void add_blended(const bench *b, int32_t e, const double *r, int d, int i, double *rate)
{
    const double share = b->shares ? fmin(b->shares[e], 0.5) : 0;
    double high_order[4] = {0}, low[4], high[4];
    add_line(b, e, r, d, i, high_order);
    for (int c = 0; c < 4; c++)
        rate[c] += (1 - share) * high_order[c];
    if (!b->shares) return;
    subcell_flux(b, e, r, d, i, low);
    subcell_flux(b, e, r, d, i + 1, high);
    for (int c = 0; c < 4; c++)
        rate[c] -= share * (high[c] - low[c]) / element_of(b)->line->weights[i];
}

/* --- tests ---------------------------------------------------------------------------------------- */

/* Random states of which some elements have smoother ones than others. */
static void make_uneven(const bench *b, double *values, eg_field *field)
{
    const int np = element_of(b)->np;
    uint64_t seed = 5;
    for (int k = 0; k < b->mesh->element_count * np; k++) {
        const int e = k / np;
        const double size = 0.03 * (1 + e % 9);
        double q[4];
        conserved_of(1 + size * test_random(&seed), 0.3 + size * test_random(&seed),
                     -0.2 + size * test_random(&seed), 0.9 + size * test_random(&seed), q);
        for (int c = 0; c < 4; c++)
            values[(e * 4 + c) * np + k % np] = q[c];
    }
    TEST_OK(b->space->ctx, eg_field_from_host(field, values));
}

/* The shares of all elements: some have none, some nearly all, and some are between. */
static double *find_shares(const bench *b)
{
    double *shares = new_values((size_t)b->mesh->element_count);
    int count[3] = {0};
    for (int32_t e = 0; e < b->mesh->element_count; e++) {
        shares[e] = share_of(b, e);
        count[shares[e] == 0 ? 0 : shares[e] > 0.9 ? 2 : 1]++;
    }
    if (count[0] == 0 || count[1] == 0 || count[2] == 0)
        fail_msg("%d shares are 0, %d between, %d near 1", count[0], count[1], count[2]);
    return shares;
}

/* Returns the values after the stage. */
static double *check_stage(eg_device *device, const setting *s, extent along, bool blends)
{
    bench b = bench_new(device, s, along, blends);
    eg_context *ctx = b.space->ctx;
    const eg_stage stage = {.time = TIME,
                            .dt = 0.01,
                            .low_storage = s->low_storage,
                            .a = 0.75,
                            .b = 0.5,
                            .c = 0.25,
                            .A = -0.5,
                            .B = 0.375};
    const double wl = s->low_storage ? stage.dt : stage.c * stage.dt;
    const int n = s->degree + 1, np = n * n;
    double *first, *current, *k, *poison;
    const double nan = NAN, bound = s->chain ? (blends ? 1e-6 : 1e-8) : 1e-12 * n * n;
    eg_field *first_field = random_states(b.space, 1, &first);
    eg_field *current_field = random_states(b.space, 2, &current);
    eg_field *k_field = random_states(b.space, 3, &k);
    eg_field *out_field = random_states(b.space, 4, &poison);
    b.values = current;
    if (blends) {
        make_uneven(&b, current, current_field);
        b.shares = find_shares(&b);
    }
    TEST_OK(ctx, eg_buffer_fill(out_field->data, 0, eg_buffer_count(out_field->data), &nan));
    TEST_OK(ctx, eg_euler_begin(b.op, current_field));
    TEST_OK(ctx, eg_euler_stage(b.op, &stage, first_field, current_field, k_field, out_field));
    double *out = new_values(eg_field_host_count(out_field));
    TEST_OK(ctx, eg_field_to_host(out_field, out));
    for (int32_t e = 0; e < b.mesh->element_count; e++)
        for (int i = e % 3; i<np; i += np> 16 ? 5 : 3) {
            const double r[2] = {element_of(&b)->line->r[i % n], element_of(&b)->line->r[i / n]};
            double rate[4] = {0}, normal[2], x[2];
            add_blended(&b, e, r, 0, i % n, rate);
            add_blended(&b, e, r, 1, i / n, rate);
            const double jacobian = normal_at(&b, e, r, 0, normal, x);
            for (int c = 0; c < 4; c++) {
                const size_t at = (size_t)((e * 4 + c) * np + i);
                const double change = wl * rate[c] / jacobian;
                const double expected = s->low_storage
                                            ? current[at] + stage.B * (stage.A * k[at] + change)
                                            : stage.a * first[at] + stage.b * current[at] + change;
                assert_near(out[at], expected, bound, s->name, at);
            }
        }
    free(poison);
    free(k);
    free(current);
    free(first);
    eg_field_destroy(&out_field);
    eg_field_destroy(&k_field);
    eg_field_destroy(&current_field);
    eg_field_destroy(&first_field);
    bench_free(&b);
    return out;
}

static double *check_setting(eg_device *device, const setting *s, extent along)
{
    return check_stage(device, s, along, false);
}

static void check_everywhere(eg_device *device, eg_type real)
{
    if (real != EG_F64) return;
    for (size_t i = 0; i < EG_COUNT(settings); i++) {
        if (!settings[i].everywhere) continue;
        set_pocl_optimises(&settings[i] == settings); /* but one */
        now_at(device, real, "%s, setting %zu", settings[i].name, i);
        free(check_setting(device, &settings[i], usual));
    }
}

static void test_euler__stages_on_every_device(void **state)
{
    (void)state;
    on_every_device(check_everywhere);
}

static void check_on_cpu(eg_device *device)
{
    for (size_t i = 0; i < EG_COUNT(settings); i++) {
        if (settings[i].everywhere) continue;
        now_at(device, EG_F64, "%s, setting %zu", settings[i].name, i);
        free(check_setting(device, &settings[i], usual));
    }
}

static void test_euler__stages_on_a_cpu(void **state)
{
    (void)state;
    on_one_core(check_on_cpu);
}

/* A thread has nothing handed on to it where it begins: what it computes instead is the same to the bit. */
static void test_euler__sweeps_with_any_number_of_threads(void **state)
{
    static const char *const names[] = {"cpu:1", "cpu:2", "cpu:3"};
    eg_context *ctx = test_context();
    double *values[EG_COUNT(swept)] = {NULL};
    (void)state;
    for (size_t n = 0; n < EG_COUNT(names); n++) {
        eg_device *device = NULL;
        TEST_OK(ctx, eg_device_open(ctx, names[n], &device));
        for (size_t i = 0; i < EG_COUNT(swept); i++) {
            const setting *s = &swept[i];
            const int *cells = swept_sizes[i].cells, side = s->degree + 1;
            const size_t count = (size_t)(cells[0] * cells[1] * 4 * side * side);
            now_at(device, EG_F64, "%s, setting %zu", s->name, i);
            double *found = check_setting(device, s, swept_sizes[i]);
            if (values[i]) assert_memory_equal(found, values[i], count * sizeof *found);
            free(values[i]);
            values[i] = found;
        }
        eg_device_close(&device);
    }
    for (size_t i = 0; i < EG_COUNT(swept); i++)
        free(values[i]);
    where[0] = '\0';
    test_context_free(&ctx);
}

/* The largest stable step of values on 35 by 9 rectangles, of which element `odd` has a state of its own. */
static double stable_dt_of(eg_device *device, int odd, const double *state)
{
    bench b = bench_new(device, &swept[0], swept_sizes[0], false);
    const int np = element_of(&b)->np;
    double *values, dt = 0;
    eg_field *field = random_states(b.space, 3, &values);
    for (int c = 0; c < 4; c++)
        values[(odd * 4 + c) * np + 2] = state[c];
    TEST_OK(b.space->ctx, eg_field_from_host(field, values));
    TEST_OK(b.space->ctx, eg_euler_stable_dt(b.op, field, &dt));
    double fastest = 0;
    for (int k = 0; k < b.mesh->element_count * np; k++) {
        const double *q = &values[k / np * 4 * np + k % np];
        const double u = sqrt(q[np] * q[np] + q[2 * np] * q[2 * np]) / q[0];
        const double p = (GAMMA - 1) * (q[3 * np] - 0.5 * q[0] * u * u);
        fastest = fmax(fastest, u + sqrt(GAMMA * p / q[0]));
    }
    if (isfinite(dt)) assert_near(dt * fastest * 35, 1, 1e-14, "dt", (size_t)odd);
    free(values);
    eg_field_destroy(&field);
    bench_free(&b);
    return dt;
}

/* Wherever the fastest state is, and whatever a thread has passed over before it. */
static void test_euler__steps_are_stable_with_any_number_of_threads(void **state)
{
    static const char *const names[] = {"cpu:1", "cpu:2", "cpu:3"};
    static const double usual_state[4] = {1, 0.1, 0, 3}, calm[4] = {1, 0, 0, 60};
    static const double swift[4] = {1, -6, 3, 25}, empty[4] = {1, 0, 0, -1e-9}, lost[4] = {NAN};
    static const int places[] = {0, 160, 314};
    eg_context *ctx = test_context();
    double before = 0;
    (void)state;
    for (size_t n = 0; n < EG_COUNT(names); n++) {
        eg_device *device = NULL;
        TEST_OK(ctx, eg_device_open(ctx, names[n], &device));
        const double dt = stable_dt_of(device, 0, usual_state);
        if (n > 0) assert_memory_equal(&dt, &before, sizeof dt);
        before = dt;
        for (size_t i = 0; i < EG_COUNT(places); i++) {
            assert_true(stable_dt_of(device, places[i], calm) < 0.5 * dt);
            assert_true(stable_dt_of(device, places[i], swift) < 0.5 * dt);
            assert_true(isnan(stable_dt_of(device, places[i], empty)));
            assert_true(isnan(stable_dt_of(device, places[i], lost)));
        }
        eg_device_close(&device);
    }
    test_context_free(&ctx);
}

/* One component of one element: values v, moved to the mean of others, are not beyond v or the mean. */
static void check_start(const bench *b, int32_t e, const double *others, const double *v,
                        const double *found)
{
    const eg_element *line = element_of(b)->line;
    const int n = line->np, np = n * n;
    double all = 0, mean = 0, other = 0, least = v[0], most = v[0], part = 1;
    for (int i = 0; i < np; i++) {
        const double r[2] = {line->r[i % n], line->r[i / n]};
        double normal[2], x[2];
        const double share =
            line->weights[i % n] * line->weights[i / n] * normal_at(b, e, r, 0, normal, x);
        all += share;
        mean += share * v[i];
        other += share * others[i];
        least = fmin(least, v[i]);
        most = fmax(most, v[i]);
    }
    mean /= all;
    other /= all;
    if (other + most - mean > most) part = fmin(part, fmax(most - other, 0) / (most - mean));
    if (other + least - mean < least) part = fmin(part, fmax(other - least, 0) / (mean - least));
    for (int i = 0; i < np; i++)
        assert_near(found[i], other + part * (v[i] - mean), 1e-13, b->s->name, (size_t)i);
}

static void check_starts(eg_device *device, eg_type real)
{
    /* DG on squares, NDG turned and perturbed, DG curved */
    static const int chosen[] = {0, 5, 7, 11};
    for (size_t k = 0; real == EG_F64 && k < EG_COUNT(chosen); k++) {
        bench b = bench_new(device, &settings[chosen[k]], usual, false);
        const int np = element_of(&b)->np;
        double *others, *values;
        eg_field *projected = random_states(b.space, 1, &others);
        eg_field *field = random_states(b.space, 2, &values);
        double *found = new_values(eg_field_host_count(field));
        now_at(device, real, "%s, setting %d", b.s->name, chosen[k]);
        TEST_OK(b.space->ctx, eg_euler_start(b.op, projected, field));
        TEST_OK(b.space->ctx, eg_field_to_host(field, found));
        for (int i = 0; i < b.mesh->element_count * 4; i++)
            check_start(&b, i / 4, &others[i * np], &values[i * np], &found[i * np]);
        free(found);
        free(values);
        free(others);
        eg_field_destroy(&field);
        eg_field_destroy(&projected);
        bench_free(&b);
    }
}

static void test_euler__starts_with_means_and_not_beyond_values(void **state)
{
    eg_context *ctx = test_context();
    (void)state;
    on_device(ctx, "cpu:1", check_starts);
    where[0] = '\0';
    test_context_free(&ctx);
}

static void check_blends(eg_device *device, eg_type real)
{
    for (size_t i = 0; i < EG_COUNT(blended); i++) {
        if (real != EG_F64 || !blended[i].everywhere) continue;
        set_pocl_optimises(&blended[i] == blended); /* but one */
        now_at(device, real, "setting %zu of those that are blended", i);
        free(check_stage(device, &blended[i], usual, true));
    }
}

static void test_euler__blends_on_every_device(void **state)
{
    (void)state;
    on_every_device(check_blends);
}

static void check_blends_on_cpu(eg_device *device)
{
    for (size_t i = 0; i < EG_COUNT(blended); i++) {
        if (blended[i].everywhere) continue;
        now_at(device, EG_F64, "setting %zu of those that are blended", i);
        free(check_stage(device, &blended[i], usual, true));
    }
}

static void test_euler__blends_on_a_cpu(void **state)
{
    (void)state;
    on_one_core(check_blends_on_cpu);
}

static const char uniform[] =
    "model = \"euler\"\n"
    "[mesh]\nshape = \"quadrilateral\"\ncells = [9, 7]\nperturb = 0.25\nperiodic = [\"x\", \"y\"]\n"
    "[space]\ndegree = 1\n"
    "[initial]\nrho = 1.3\nu = 0.7\nv = -0.4\np = 0.9\n"
    "[exact]\nrho = 1.3\nu = 0.7\nv = -0.4\np = 0.9\n"
    "[time]\ncfl = 0.05\nend = 0.1\n";

static void test_euler__uniform_flow_stays_on_perturbed_meshes(void **state)
{
    static const char *const methods[] = {"scheme.method=dg", "scheme.method=ndg",
                                          "scheme.method=cpr", "scheme.method=sd"};
    static const char *const degrees[] = {"space.degree=1", "space.degree=2", "space.degree=5"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(methods) * EG_COUNT(degrees); i++) {
        const char *const overrides[] = {methods[i % 4], degrees[i / 4]};
        const euler_figures found = euler_run_text(device, uniform, overrides, 2);
        assert_true(found.steps > 10);
        for (int c = 0; c < 4; c++)
            if (!(found.linf[c] < 1e-12))
                fail_msg("%s %s: component %d is off by %g", methods[i % 4], degrees[i / 4], c,
                         found.linf[c]);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* Fails unless a run of `uniform` with these replacements leaves everything as it was. */
static void check_uniform(eg_device *device, const char *const *overrides, size_t count)
{
    const euler_figures found = euler_run_text(device, uniform, overrides, count);
    assert_true(found.steps > 10);
    for (int c = 0; c < 4; c++)
        if (!(found.linf[c] < 1e-13))
            fail_msg("%s %s %s: component %d is off by %g", overrides[0], overrides[1],
                     overrides[2], c, found.linf[c]);
}

#define BENT                                                                                       \
    "mesh.map=[\"x + 0.06*sin(2*pi*x)*sin(4*pi*y) + 0.03*sin(4*pi*y)\", "                          \
    "\"y + 0.05*sin(2*pi*(x + y))\"]"

static void test_euler__uniform_flow_stays_on_curved_meshes(void **state)
{
    static const char *const methods[] = {"dg", "ndg", "cpr", "sd"};
    const bool all = getenv("EAGRE_TEST_LONG") != NULL;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (int order = 2; order <= 4; order++)
        for (int degree = 1; degree <= 6; degree++)
            for (size_t i = 0; i < EG_COUNT(methods); i++) {
                if (i > 1 && (order != 3 || degree > 2)) continue;
                if (!all && (degree > 3 ? degree != 6 || order != 4 : order != 3 && degree != 2))
                    continue;
                char method[32], of_order[32], of_degree[32];
                const char *const overrides[] = {method, of_order,           of_degree,
                                                 BENT,   "mesh.perturb=0.0", "time.end=0.05"};
                snprintf(method, sizeof method, "scheme.method=%s", methods[i]);
                snprintf(of_order, sizeof of_order, "mesh.order=%d", order);
                snprintf(of_degree, sizeof of_degree, "space.degree=%d", degree);
                check_uniform(device, overrides, EG_COUNT(overrides));
            }
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* CPR by the chain rule conserves mass alone. */
static void test_euler__conserves_for_a_thousand_steps(void **state)
{
    static const char *const methods[] = {"scheme.method=dg", "scheme.method=ndg",
                                          "scheme.method=sd", "scheme.method=cpr"};
    static const char *const meshes[] = {
        "mesh.perturb=0", "mesh.perturb=0.15",
        "mesh.map=[\"x + 0.4*sin(pi*(x + y)/5)\", \"y + 0.5*sin(pi*x/5)\"]"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(methods) * EG_COUNT(meshes); i++) {
        const bool chain = i % 4 == 3;
        const char *const overrides[] = {
            methods[i % 4],         meshes[i / 4],
            "space.degree=3",       "mesh.cells=[6,5]",
            "time.dt=0.01",         "time.end=10",
            "scheme.flux=\"hllc\"", i / 4 < 2 ? "mesh.order=1" : "mesh.order=4"};
        const euler_figures found =
            euler_run_file(device, "euler-vortex.toml", overrides, EG_COUNT(overrides));
        assert_true(found.steps == 1000);
        for (int c = 0; c < (chain ? 1 : 4); c++) /* relative to what there is of mass or energy */
            if (!(fabs(found.end[c] - found.start[c]) < 1e-12 * (c == 3 ? 295 : 98)))
                fail_msg("%s %s: component %d changes from %.17g to %.17g", methods[i % 4],
                         meshes[i / 4], c, found.start[c], found.end[c]);
        if (chain) assert_true(fabs(found.end[3] - found.start[3]) > 1e-9);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_euler__stages_on_every_device),
        KERNEL_TEST(test_euler__stages_on_a_cpu),
        KERNEL_TEST(test_euler__blends_on_every_device),
        KERNEL_TEST(test_euler__blends_on_a_cpu),
        KERNEL_TEST(test_euler__sweeps_with_any_number_of_threads),
        cmocka_unit_test(test_euler__steps_are_stable_with_any_number_of_threads),
        cmocka_unit_test(test_euler__starts_with_means_and_not_beyond_values),
        cmocka_unit_test(test_euler__uniform_flow_stays_on_perturbed_meshes),
        cmocka_unit_test(test_euler__uniform_flow_stays_on_curved_meshes),
        cmocka_unit_test(test_euler__conserves_for_a_thousand_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
