/* An ideal gas in the plane: what all schemes of model `euler` share at a point.
 *
 * A state is density, momentum and energy per volume. It is looked at in one of two frames: that of
 * space, or that of a face, whose first direction is the normal; `turned` goes from the first to the
 * second. What has no normal among its arguments works along the first direction of its state's
 * frame. Everything is without branches, so that lanes of a CPU are vectors.
 *
 * The host may put before this file GAMMA, the ratio of specific heats. */
#ifndef GAMMA
#define GAMMA K_R(1.4)
#endif

/* Numerical fluxes: the choices of scheme.flux. */
#define FLUX_RUSANOV 0
#define FLUX_HLLC 1
#define FLUX_ROE 2

typedef struct state {
    real rho, mx, my, E;
} state;

K_FUNC state state_of(real rho, real mx, real my, real E)
{
    state q;
    q.rho = rho;
    q.mx = mx;
    q.my = my;
    q.E = E;
    return q;
}

/* a p + b q */
K_FUNC state combined(real a, state p, real b, state q)
{
    return state_of(a * p.rho + b * q.rho, a * p.mx + b * q.mx, a * p.my + b * q.my,
                    a * p.E + b * q.E);
}

K_FUNC state scaled(real a, state q)
{
    return state_of(a * q.rho, a * q.mx, a * q.my, a * q.E);
}

/* From density, velocity and pressure. */
K_FUNC state conserved(real rho, real u, real v, real p)
{
    return state_of(rho, rho * u, rho * v,
                    p * (K_R(1) / (GAMMA - K_R(1))) + K_R(0.5) * rho * (u * u + v * v));
}

/* A state in the frame of a face with the unit normal (nx, ny), and back. */
K_FUNC state turned(state q, real nx, real ny)
{
    return state_of(q.rho, q.mx * nx + q.my * ny, q.my * nx - q.mx * ny, q.E);
}

K_FUNC state turned_back(state q, real nx, real ny)
{
    return state_of(q.rho, q.mx * nx - q.my * ny, q.my * nx + q.mx * ny, q.E);
}

/* The pressure; `volume` is 1 / rho. */
K_FUNC real pressure_of(state q, real volume)
{
    return (GAMMA - K_R(1)) * (q.E - K_R(0.5) * volume * (q.mx * q.mx + q.my * q.my));
}

/* The speed of sound. */
K_FUNC real sound_of(real pressure, real volume)
{
    return K_SQRT(GAMMA * pressure * volume);
}

/* The flux through (nx, ny), which need not have length 1. */
K_FUNC state flux_along(state q, real nx, real ny)
{
    const real volume = K_R(1) / q.rho, p = pressure_of(q, volume);
    const real flow = q.mx * nx + q.my * ny, u = flow * volume;
    return state_of(flow, q.mx * u + p * nx, q.my * u + p * ny, (q.E + p) * u);
}

/* The flux along the first direction, of a state whose 1 / rho and pressure are known, … */
K_FUNC state flux_with(state q, real volume, real p)
{
    const real u = q.mx * volume;
    return state_of(q.mx, q.mx * u + p, q.my * u, (q.E + p) * u);
}

/* … or not. */
K_FUNC state flux_of(state q)
{
    const real volume = K_R(1) / q.rho;
    return flux_with(q, volume, pressure_of(q, volume));
}

/* How the flux through (nx, ny) changes with the state: the flux Jacobian times dq. */
K_FUNC state flux_change(state q, state dq, real nx, real ny)
{
    const real volume = K_R(1) / q.rho, u = q.mx * volume, v = q.my * volume;
    const real p = pressure_of(q, volume);
    const real dp = (GAMMA - K_R(1)) *
                    (dq.E - u * dq.mx - v * dq.my + K_R(0.5) * (u * u + v * v) * dq.rho);
    const real speed = u * nx + v * ny, flow = dq.mx * nx + dq.my * ny;
    return state_of(flow, u * flow + speed * (dq.mx - u * dq.rho) + nx * dp,
                    v * flow + speed * (dq.my - v * dq.rho) + ny * dp,
                    (dq.E + dp) * speed + (q.E + p) * volume * (flow - speed * dq.rho));
}

/* --- numerical fluxes: from the state on the left to that on the right ----------------------------- */

/* A state beside a face, and what it takes a division to know. */
typedef struct side {
    state q;
    real volume, p;
} side;

K_FUNC side side_with(state q, real volume, real p)
{
    side s;
    s.q = q;
    s.volume = volume;
    s.p = p;
    return s;
}

/* [rusanov1961]: both sides' mean, and half the jump times the speed of the fastest wave, of which the
 * faster flow and the faster sound are taken. */
K_FUNC state rusanov(side left_side, side right_side)
{
    const state l = left_side.q, r = right_side.q;
    const real vl = left_side.volume, vr = right_side.volume, pl = left_side.p, pr = right_side.p;
    const real ul = K_ABS(l.mx * vl), ur = K_ABS(r.mx * vr), hl = pl * vl, hr = pr * vr;
    const real fastest = K_MAX(ul, ur) + sound_of(K_MAX(hl, hr), K_R(1));
    const state mean = combined(K_R(0.5), flux_with(l, vl, pl), K_R(0.5), flux_with(r, vr, pr));
    return combined(K_R(1), mean, K_R(0.5) * fastest, combined(K_R(1), l, K_R(-1), r));
}

/* Roe's means of two states: velocity, enthalpy, speed of sound. */
typedef struct means {
    real u, v, H, c;
} means;

K_FUNC means roe_means(state l, state r, real pl, real pr)
{
    means m;
    const real a = K_SQRT(l.rho), b = K_SQRT(r.rho), share = K_R(1) / (a + b);
    const real al = share / a, br = share / b; /* of quantities per volume */
    m.u = al * l.mx + br * r.mx;
    m.v = al * l.my + br * r.my;
    m.H = al * (l.E + pl) + br * (r.E + pr);
    m.c = K_SQRT((GAMMA - K_R(1)) * (m.H - K_R(0.5) * (m.u * m.u + m.v * m.v)));
    return m;
}

/* HLLC [toro1994] with the wave speeds of Einfeldt. */
K_FUNC state hllc(side left_side, side right_side)
{
    const state l = left_side.q, r = right_side.q;
    const real vl = left_side.volume, vr = right_side.volume, pl = left_side.p, pr = right_side.p;
    const real ul = l.mx * vl, ur = r.mx * vr;
    const means m = roe_means(l, r, pl, pr);
    const real sl = K_MIN(ul - sound_of(pl, vl), m.u - m.c);
    const real sr = K_MAX(ur + sound_of(pr, vr), m.u + m.c);
    const real fl = l.rho * (sl - ul), fr = r.rho * (sr - ur);
    const real middle = (pr - pl + fl * ul - fr * ur) / (fl - fr);
    const int left = middle >= 0;
    const state q = state_of(left ? l.rho : r.rho, left ? l.mx : r.mx, left ? l.my : r.my,
                             left ? l.E : r.E);
    const real volume = left ? vl : vr, p = left ? pl : pr, u = left ? ul : ur;
    const real s = left ? sl : sr, reach = left ? K_MIN(sl, K_R(0)) : K_MAX(sr, K_R(0));
    const real denser = q.rho * (s - u) / (s - middle);
    const state star =
        state_of(denser, denser * middle, denser * q.my * volume,
                 denser * (q.E * volume + (middle - u) * (middle + p / (q.rho * (s - u)))));
    return combined(K_R(1), flux_with(q, volume, p), reach, combined(K_R(1), star, K_R(-1), q));
}

/* Roe's flux [roe1981]. A sound wave that opens a fan is as fast as the ends of the fan are away from it,
 * at least [harten1983]. */
K_FUNC state roe(side left_side, side right_side)
{
    const state l = left_side.q, r = right_side.q;
    const real vl = left_side.volume, vr = right_side.volume, pl = left_side.p, pr = right_side.p;
    const real ul = l.mx * vl, ur = r.mx * vr, cl = sound_of(pl, vl), cr = sound_of(pr, vr);
    const means m = roe_means(l, r, pl, pr);
    const real rho = K_SQRT(l.rho * r.rho), jump_u = ur - ul, jump_p = pr - pl;
    const real back = m.u - m.c, forth = m.u + m.c;
    const real fan_back = K_MAX(back - ul + cl, ur - cr - back);
    const real fan_forth = K_MAX(forth - ul - cl, ur + cr - forth);
    const real size_back = K_ABS(back), size_forth = K_ABS(forth);
    const real scale = K_R(0.5) / (m.c * m.c);
    const real a = K_MAX(size_back, fan_back) * scale * (jump_p - rho * m.c * jump_u);
    const real b = K_MAX(size_forth, fan_forth) * scale * (jump_p + rho * m.c * jump_u);
    const real slow = K_ABS(m.u);
    const real e = slow * (r.rho - l.rho - K_R(2) * scale * jump_p);
    const real shear = slow * rho * (r.my * vr - l.my * vl);
    const state waves = state_of(
        a + b + e, a * back + b * forth + e * m.u, (a + b + e) * m.v + shear,
        a * (m.H - m.u * m.c) + b * (m.H + m.u * m.c) +
            e * K_R(0.5) * (m.u * m.u + m.v * m.v) + shear * m.v);
    const state mean = combined(K_R(0.5), flux_with(l, vl, pl), K_R(0.5), flux_with(r, vr, pr));
    return combined(K_R(1), mean, K_R(-0.5), waves);
}

/* The one that the case has chosen, … */
K_FUNC state flux_between(side l, side r)
{
#if FLUX == FLUX_HLLC
    return hllc(l, r);
#elif FLUX == FLUX_ROE
    return roe(l, r);
#else
    return rusanov(l, r);
#endif
}

/* … with one division for both sides. */
K_FUNC state numerical_flux(state l, state r)
{
    const real both = K_R(1) / (l.rho * r.rho), vl = both * r.rho, vr = both * l.rho;
    return flux_between(side_with(l, vl, pressure_of(l, vl)), side_with(r, vr, pressure_of(r, vr)));
}

/* The numerical flux through (x, y), which need not have length 1, of states in the frame of space. */
K_FUNC state flux_through(state l, state r, real x, real y)
{
    const real size = K_SQRT(x * x + y * y), ux = x / size, uy = y / size;
    return scaled(size, turned_back(numerical_flux(turned(l, ux, uy), turned(r, ux, uy)), ux, uy));
}

/* --- reconstruction --------------------------------------------------------------------------------- */

/* The one of least size if both have the same sign, else 0. */
K_FUNC real minmod(real a, real b)
{
    const real least = K_ABS(a) < K_ABS(b) ? a : b;
    return a * b > 0 ? least : K_R(0);
}

/* Density, velocity and pressure, as a state. */
K_FUNC state primitive(state q)
{
    const real volume = K_R(1) / q.rho;
    return state_of(q.rho, q.mx * volume, q.my * volume, pressure_of(q, volume));
}
