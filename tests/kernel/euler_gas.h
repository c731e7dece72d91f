/* An ideal gas in plain C for the tests of model `euler`: numerical fluxes, what is behind boundaries, and
 * random states. */
#ifndef EG_TEST_EULER_GAS_H
#define EG_TEST_EULER_GAS_H

#include "field.h"
#include "model/euler/operator.h"

#include <math.h>

#define GAMMA 1.3
#define TIME 0.3
enum { RUSANOV, HLLC, ROE };

/* Behind boundaries; turned meshes have but the first. */
static const eg_euler_boundary types[] = {EG_EULER_FARFIELD, EG_EULER_WALL, EG_EULER_STATE,
                                          EG_EULER_INFLOW};
static const char *const given_texts[4] = {"1 + 0.1*x", "0.4 - 0.1*y", "0.2*t", "0.9 + 0.1*x*y"};

typedef struct gas {
    double rho, u, v, p, c, E, H;
} gas;

static inline gas gas_of(const double *q)
{
    gas g = {.rho = q[0], .u = q[1] / q[0], .v = q[2] / q[0], .E = q[3]};
    g.p = (GAMMA - 1) * (g.E - 0.5 * g.rho * (g.u * g.u + g.v * g.v));
    g.c = sqrt(GAMMA * g.p / g.rho);
    g.H = (g.E + g.p) / g.rho;
    return g;
}

static inline void conserved_of(double rho, double u, double v, double p, double *q)
{
    q[0] = rho;
    q[1] = rho * u;
    q[2] = rho * v;
    q[3] = p / (GAMMA - 1) + 0.5 * rho * (u * u + v * v);
}

static inline void flux_through(const double *q, const double *n, double *f)
{
    const gas g = gas_of(q);
    const double speed = g.u * n[0] + g.v * n[1];
    f[0] = q[0] * speed;
    f[1] = q[1] * speed + g.p * n[0];
    f[2] = q[2] * speed + g.p * n[1];
    f[3] = (q[3] + g.p) * speed;
}

/* Along x, from l to r. */
static inline void rusanov_flux(const double *l, const double *r, double *f)
{
    const double x[2] = {1, 0};
    const gas a = gas_of(l), b = gas_of(r);
    const double speed = fmax(fabs(a.u), fabs(b.u)) + fmax(a.c, b.c);
    double fl[4], fr[4];
    flux_through(l, x, fl);
    flux_through(r, x, fr);
    for (int c = 0; c < 4; c++)
        f[c] = 0.5 * (fl[c] + fr[c]) - 0.5 * speed * (r[c] - l[c]);
}

static inline double roe_mean(const gas *a, const gas *b, double of_a, double of_b)
{
    return (sqrt(a->rho) * of_a + sqrt(b->rho) * of_b) / (sqrt(a->rho) + sqrt(b->rho));
}

static inline void hllc_flux(const double *l, const double *r, double *f)
{
    const double x[2] = {1, 0};
    const gas a = gas_of(l), b = gas_of(r);
    const double u = roe_mean(&a, &b, a.u, b.u), v = roe_mean(&a, &b, a.v, b.v);
    const double H = roe_mean(&a, &b, a.H, b.H),
                 c = sqrt((GAMMA - 1) * (H - 0.5 * (u * u + v * v)));
    const double sl = fmin(a.u - a.c, u - c), sr = fmax(b.u + b.c, u + c);
    const double middle = (b.p - a.p + a.rho * a.u * (sl - a.u) - b.rho * b.u * (sr - b.u)) /
                          (a.rho * (sl - a.u) - b.rho * (sr - b.u));
    const bool left = middle >= 0;
    const gas *k = left ? &a : &b;
    const double *q = left ? l : r, s = left ? sl : sr;
    flux_through(q, x, f);
    if (left ? sl >= 0 : sr <= 0) return;
    const double rho = k->rho * (s - k->u) / (s - middle);
    const double star[4] = {
        rho, rho * middle, rho * k->v,
        rho * (k->E / k->rho + (middle - k->u) * (middle + k->p / (k->rho * (s - k->u))))};
    for (int i = 0; i < 4; i++)
        f[i] += s * (star[i] - q[i]);
}

/* By the strengths of waves as Toro gives them. */
static inline void roe_flux(const double *l, const double *r, double *f)
{
    const double x[2] = {1, 0};
    const gas a = gas_of(l), b = gas_of(r);
    const double u = roe_mean(&a, &b, a.u, b.u), v = roe_mean(&a, &b, a.v, b.v);
    const double H = roe_mean(&a, &b, a.H, b.H),
                 c = sqrt((GAMMA - 1) * (H - 0.5 * (u * u + v * v)));
    double jump[4], fl[4], fr[4];
    for (int i = 0; i < 4; i++)
        jump[i] = r[i] - l[i];
    const double shear = jump[2] - v * jump[0], heat = jump[3] - shear * v;
    const double entropy = (GAMMA - 1) / (c * c) * (jump[0] * (H - u * u) + u * jump[1] - heat);
    const double back = (jump[0] * (u + c) - jump[1] - c * entropy) / (2 * c);
    const double forth = jump[0] - back - entropy;
    const double fan_back = fmax(0, fmax(u - c - (a.u - a.c), b.u - b.c - (u - c)));
    const double fan_forth = fmax(0, fmax(u + c - (a.u + a.c), b.u + b.c - (u + c)));
    const double w[4] = {fmax(fabs(u - c), fan_back) * back, fabs(u) * entropy, fabs(u) * shear,
                         fmax(fabs(u + c), fan_forth) * forth};
    const double vectors[4][4] = {{1, u - c, v, H - u * c},
                                  {1, u, v, 0.5 * (u * u + v * v)},
                                  {0, 0, 1, v},
                                  {1, u + c, v, H + u * c}};
    flux_through(l, x, fl);
    flux_through(r, x, fr);
    for (int i = 0; i < 4; i++) {
        f[i] = 0.5 * (fl[i] + fr[i]);
        for (int k = 0; k < 4; k++)
            f[i] -= 0.5 * w[k] * vectors[k][i];
    }
}

/* Turns momentum into the frame of a unit normal (sign 1), or back (-1). */
static inline void turn(const double *q, const double *n, double sign, double *out)
{
    out[0] = q[0];
    out[1] = q[1] * n[0] + sign * q[2] * n[1];
    out[2] = q[2] * n[0] - sign * q[1] * n[1];
    out[3] = q[3];
}

/* Through an outward normal n of any length, from `in` to `out`. */
static inline void numerical_flux(int kind, const double *in, const double *out, const double *n,
                                  double *f)
{
    const double size = hypot(n[0], n[1]), unit[2] = {n[0] / size, n[1] / size};
    double l[4], r[4], turned[4];
    turn(in, unit, 1, l);
    turn(out, unit, 1, r);
    (kind == RUSANOV ? rusanov_flux : kind == HLLC ? hllc_flux : roe_flux)(l, r, turned);
    turn(turned, unit, -1, f);
    for (int c = 0; c < 4; c++)
        f[c] *= size;
}

/* What is behind boundary b at a place x, with the outward unit normal n, where `in` is inside; `in` is
 * what the flux is from. */
static inline void behind_boundary(int b, const double *x, const double *n, double *in, double *out)
{
    const double given[4] = {1 + 0.1 * x[0], 0.4 - 0.1 * x[1], 0.2 * TIME, 0.9 + 0.1 * x[0] * x[1]};
    double far[4];
    conserved_of(given[0], given[1], given[2], given[3], far);
    const gas i = gas_of(in), o = gas_of(far);
    const double normal = i.u * n[0] + i.v * n[1], far_normal = o.u * n[0] + o.v * n[1];
    memcpy(out, types[b] == EG_EULER_WALL ? in : far, 4 * sizeof *out);
    if (types[b] == EG_EULER_INFLOW) memcpy(in, far, sizeof far);
    if (types[b] == EG_EULER_WALL) {
        out[1] -= 2 * i.rho * normal * n[0];
        out[2] -= 2 * i.rho * normal * n[1];
    }
    if (types[b] != EG_EULER_FARFIELD) return;
    assert_true(fabs(normal) < i.c && fabs(far_normal) < o.c); /* both invariants count */
    const double forth = normal + 2 * i.c / (GAMMA - 1), back = far_normal - 2 * o.c / (GAMMA - 1);
    const double u = (forth + back) / 2, c = (GAMMA - 1) * (forth - back) / 4;
    const gas *from = u > 0 ? &i : &o;
    const double across = from->v * n[0] - from->u * n[1];
    const double rho = pow(c * c * pow(from->rho, GAMMA) / (GAMMA * from->p), 1 / (GAMMA - 1));
    conserved_of(rho, u * n[0] - across * n[1], u * n[1] + across * n[0], rho * c * c / GAMMA, out);
}

/* A field of random states. */
static inline eg_field *random_states(eg_space *space, uint64_t seed, double **values)
{
    eg_field *field = NULL;
    const int np = space->groups[0].element->np;
    TEST_OK(space->ctx, eg_field_create(space, 4, EG_F64, &field));
    const size_t count = eg_field_host_count(field);
    *values = new_values(count);
    for (size_t i = 0; i < count / 4; i++) {
        const size_t first = i / (size_t)np * 4 * (size_t)np + i % (size_t)np;
        double q[4];
        conserved_of(1 + 0.05 * test_random(&seed), 0.3 + 0.05 * test_random(&seed),
                     -0.2 + 0.05 * test_random(&seed), 0.9 + 0.05 * test_random(&seed), q);
        for (size_t c = 0; c < 4; c++)
            (*values)[first + c * (size_t)np] = q[c];
    }
    TEST_OK(space->ctx, eg_field_from_host(field, *values));
    return field;
}

#endif
