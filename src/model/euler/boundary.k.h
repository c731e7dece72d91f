/* What is behind a boundary of model `euler`.
 *
 * The host puts before this file
 *     BOUNDARY_TYPE(b)           one of those below, of boundary b
 *     GIVEN(b, c, x, y, z, t)    density, velocity (2) and pressure that the case gives there */
#define BOUNDARY_WALL 0     /* a slip wall: the mirrored state */
#define BOUNDARY_OUTFLOW 1  /* everything leaves: the state inside */
#define BOUNDARY_INFLOW 2   /* everything comes in: the given state, on both sides */
#define BOUNDARY_FARFIELD 3 /* waves that come in are those of the given state */
#define BOUNDARY_STATE 4    /* the given state */

#ifndef BOUNDARY_TYPE
#define BOUNDARY_TYPE(b) BOUNDARY_WALL
#define GIVEN(b, c, x, y, z, t) K_R(1)
#endif

K_FUNC state given_state(int b, real x, real y, real t)
{
    return conserved(GIVEN(b, 0, x, y, 0, t), GIVEN(b, 1, x, y, 0, t), GIVEN(b, 2, x, y, 0, t),
                     GIVEN(b, 3, x, y, 0, t));
}

/* The state at a boundary between `in`, inside, and `out`, far away, in the frame of the outward
 * normal: the Riemann invariant of sound that goes out comes from inside, that of sound that comes in
 * from far away, and entropy and the velocity along the face from where it flows from. */
K_FUNC state farfield(state in, state out)
{
    const real vi = K_R(1) / in.rho, vo = K_R(1) / out.rho, g = GAMMA - K_R(1);
    const real pi = pressure_of(in, vi), po = pressure_of(out, vo);
    const real ci = sound_of(pi, vi), co = sound_of(po, vo), ui = in.mx * vi, uo = out.mx * vo;
    /* Where the flow is faster than sound both come from one side. */
    const real forth = uo <= -co ? uo + K_R(2) * co / g : ui + K_R(2) * ci / g;
    const real back = ui >= ci ? ui - K_R(2) * ci / g : uo - K_R(2) * co / g;
    const real u = K_R(0.5) * (forth + back), c = K_R(0.25) * g * (forth - back);
    const int leaves = u > 0;
    const real volume = leaves ? vi : vo, p = leaves ? pi : po;
    const real w = leaves ? in.my * vi : out.my * vo;
    const real rho = K_POW(c * c / (GAMMA * p * volume), K_R(1) / g) / volume;
    return conserved(rho, u, w, rho * c * c / GAMMA);
}

/* The state behind a boundary of this type, in the frame of the outward normal, where `in` is inside
 * and `given` what the case gives. */
K_FUNC state state_behind(int type, state in, state given)
{
    const state far = farfield(in, type == BOUNDARY_FARFIELD ? given : in);
    const int mirrors = type == BOUNDARY_WALL, open = type == BOUNDARY_WALL || type == BOUNDARY_OUTFLOW;
    const int is_far = type == BOUNDARY_FARFIELD;
    return state_of(open     ? in.rho
                    : is_far ? far.rho
                             : given.rho,
                    mirrors  ? -in.mx
                    : open   ? in.mx
                    : is_far ? far.mx
                             : given.mx,
                    open     ? in.my
                    : is_far ? far.my
                             : given.my,
                    open     ? in.E
                    : is_far ? far.E
                             : given.E);
}
