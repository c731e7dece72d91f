/* What `speeds` (speeds.k.c) finds, for CPUs, but 0 in tiles where nothing can be faster than in those that
 * a thread has seen before: the largest of all is the same.
 *
 * That is seen without divisions and roots: for any w > 0
 *     (|u| + c)² ≤ (1 + w) |u|² + (1 + 1/w) c²,
 * and the nearer w is to c / |u| the less is given away; it is taken from the fastest node so far. */
#include "model/euler/speeds.k.h"

/* Rounding does not make a bound so much too small. */
#define CAUTION K_R(1e-13)

/* ρ² times how far a node's (|u| + c)² is below `limit` at least; c² ρ² / (γ (γ - 1)), if that is less, so
 * that both are not negative where nothing is faster; NaN where a state is. */
K_FUNC real margin(state q, real limit, real of_flow, real of_sound)
{
    const real flow = q.mx * q.mx + q.my * q.my, sound = q.rho * q.E - K_R(0.5) * flow;
    const real below = limit * (q.rho * q.rho) - of_flow * flow - of_sound * sound;
    return below < sound || below != below ? below : sound;
}

K_KERNEL(fastest, K_IN(real, u, 4 *M *M *LANES), K_IN(f64, nearness, LANES), K_OUT(real, rate, LANES))
{
    real most = 0, ratio = 1; /* the largest rate so far, and c / |u| there */
    K_TILES(t)
    {
        const real of_flow = K_R(1) + ratio;
        const real of_sound = (K_R(1) + K_R(1) / ratio) * (GAMMA * (GAMMA - K_R(1)));
        int slower = 1;
        K_LANEVAR(real, limit);
        K_LANEVAR(real, least);
        K_LANE
        {
            const real speed = most / K_TILE(nearness, t, 1)[lane];
            K_L(limit) = (K_R(1) - CAUTION) * speed * speed;
            K_L(least) = K_INFINITY;
            K_TILE(rate, t, 1)[lane] = 0;
        }
        for (int i = 0; i < NP; i++) K_LANE
        {
            const real m = margin(STATE, K_L(limit), of_flow, of_sound);
            K_L(least) = m < K_L(least) || m != m ? m : K_L(least);
        }
        for (int lane = 0; lane < LANES; lane++) slower &= K_L(least) > 0;
        K_LEAVE_OUT(slower)

        K_LANEVAR(real, square);
        K_LANEVAR(real, flow);
        K_LANEVAR(real, sound);
        K_LANE K_L(square) = K_L(flow) = K_L(sound) = 0;
        for (int i = 0; i < NP; i++) K_LANE
        {
            const squares s = squares_of(STATE);
            const real next = larger(K_L(square), speed_squared(s));
            K_L(flow) = next == K_L(square) ? K_L(flow) : s.flow;
            K_L(sound) = next == K_L(square) ? K_L(sound) : s.sound;
            K_L(square) = next;
        }
        K_LANE K_TILE(rate, t, 1)[lane] = K_SQRT(K_L(square)) * K_TILE(nearness, t, 1)[lane];
        for (int lane = 0; lane < LANES; lane++) {
            const real found = K_TILE(rate, t, 1)[lane];
            if (found <= most) continue;
            most = found;
            ratio = K_SQRT((K_L(sound) + STILL) / (K_L(flow) + STILL));
        }
    }
}
