/* One stage of u_t + div(b u) = 0 on affine elements with a velocity that does not vary in space, fused:
 * neighbours' traces, rates, update. No quadrature is needed: with a = b·∇r along a
 * direction, T the own trace where it flows out and N the neighbour's where it flows in, both as modes of
 * the face, the rate of mode i of a line is
 *
 *     a Σ_{k<i, i-k odd} sqrt((2i+1)(2k+1)) u_k  +  { |a| (N - T) p_i(1)   i even
 *                                                   {  -a (N + T) p_i(1)   i odd
 *
 * which is ∫ a u p_i' - [a û p_i] with the upwind û, exact. Modes that a neighbour of lower degree
 * lacks are zero, those that it has beyond mine do not reach my modes: as with the points of the
 * higher degree. Only faces where it flows in need a neighbour, DIM of 2 DIM.
 *
 *     v0 v1 v2   UNIFORM: a along each direction, the same in all elements; else the velocity
 *     faces      [DIM][2] the faces at -1 and 1 of each direction
 *     sides      [groups] M of each group
 *     rule       points [POINTS], then weight * p_j [POINTS][M] of a line, for boundary values */
#include "model/advection/advection.k.h"

K_KERNEL(modal, K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups), K_IN(i32, sides),
         K_IN(i32, neighbour, FACES *LANES), K_IN(u8, neighbour_face, FACES *LANES),
         K_IN(i32, kinds, 1), K_IN(i32, faces), K_IN(i32, turns),
         K_IN(f64, factors, FACTORS *LANES), K_IN(f64, nodes, DIM *CORNERS *LANES),
         K_IN(real, legendre), K_IN(real, rule), K_VAL(i64, begin), K_VAL(i32, first_slot),
         K_VAL(f64, v0), K_VAL(f64, v1), K_VAL(f64, v2), K_VAL(f64, time), K_VAL(f64, wf),
         K_VAL(f64, wc), K_VAL(f64, wl), K_IN(real, first, COMPONENTS *NP *LANES), K_INOUT(real, k),
         K_OUT(real, out, COMPONENTS *NP *LANES))
{
    K_SHARED(real, speed, DIM);
    K_SHARED(i64, where, DIM); /* the first value of the neighbour where it flows in */
    K_SHARED(i32, turn, DIM);  /* … how it is turned */
    K_SHARED(i32, side, DIM);  /* … its modes a side; 0: none, it is boundary -1 - beyond */
    K_SHARED(i32, pitch, DIM); /* … its LANES */
    K_SHARED(i32, beyond, DIM);
    K_SHARED(real, inflow, DIM * LINES);
    K_SHARED(real, v, NP);
    K_SHARED(real, rate, NP);
    K_TILES(t)
    {
        const i32 kind = kinds[t];
        K_GLOBAL const real *own = K_TILE(u + begin, t, ROWS);
        K_ROWS(d, DIM)
        {
            const int low = faces[2 * d] * LANES, high = faces[2 * d + 1] * LANES;
            K_GLOBAL const i32 *slots = K_TILE(neighbour, t, FACES);
            K_GLOBAL const u8 *bytes = K_TILE(neighbour_face, t, FACES);
            K_LANEVAR(i32, from_low);
            K_LANEVAR(i32, from_high);
#if UNIFORM
            const real a = d == 0 ? v0 : d == 1 ? v1 : v2;
            K_LANE speed[d][lane] = a;
#else
            K_GLOBAL const f64 *row = K_TILE(factors, t, FACTORS) + (1 + d * DIM) * LANES;
            K_LANE speed[d][lane] = v0 * row[lane] + v1 * row[LANES + lane] +
                                    (DIM == 3 ? v2 * row[(DIM - 1) * LANES + lane] : 0);
#endif
            if (kind & KIND_MIXED) {
                K_LANE K_L(from_low) = turns[low / LANES * 64 + bytes[low + lane]];
                K_LANE K_L(from_high) = turns[high / LANES * 64 + bytes[high + lane]];
                K_LANE
                {
                    const i32 slot = speed[d][lane] < 0 ? slots[high + lane] : slots[low + lane];
                    const i32 inside = K_MAX(slot, 0), group = SLOT_GROUP(block_groups, inside);
                    const i32 modes = sides[group];
                    where[d][lane] = FIRST_VALUE(layout, group, inside, COMPONENTS);
                    turn[d][lane] = speed[d][lane] < 0 ? K_L(from_high) : K_L(from_low);
                    side[d][lane] = slot < 0 ? 0 : modes;
                    pitch[d][lane] = GROUP_LANES(layout, group);
                    beyond[d][lane] = slot;
                }
            } else {
                K_LANE
                {
                    const i32 slot = speed[d][lane] < 0 ? slots[high + lane] : slots[low + lane];
                    const i32 place = K_MAX(slot - first_slot, 0);
                    where[d][lane] = first_value(place, begin, ROWS, LANES);
                    beyond[d][lane] = slot;
                }
            }
        }
        K_SYNC;
        for (int c = 0; c < COMPONENTS; c++) {
            K_NODES(i, NP) v[i][lane] = own[(c * NP + i) * LANES + lane];
            if (kind & KIND_MIXED) {
                K_ROWS(i, DIM * LINES)
                {
                    const int d = i / LINES, j1 = i % LINES % M, j2 = i % LINES / M;
                    K_LANEVAR(i64, at);
                    K_LANEVAR(i32, step);
                    K_LANEVAR(i32, count);
                    K_LANEVAR(real, sign);
                    K_LANEVAR(real, sum);
                    K_LANE
                    {
                        const i32 m = side[d][lane], how = turn[d][lane], lanes = pitch[d][lane];
                        const i32 to_first = STRIDE(TURN_FIRST(how), m);
                        const i32 to_second = DIM == 3 ? STRIDE(TURN_SECOND(how), m) : 0;
                        const i32 has = (j1 < m) & (j2 < K_MAX(m, 1)),
                                  np = DIM == 3 ? m * m * m : m * m;
                        const i32 back =
                            (TURN_FIRST_BACK(how) & j1) ^ (TURN_SECOND_BACK(how) & j2 & 1);
                        K_L(count) = has ? m : 0;
                        K_L(at) =
                            where[d][lane] +
                            (has ? (i64)(c * np + j1 * to_first + j2 * to_second) * lanes : 0);
                        K_L(step) = STRIDE(TURN_ACROSS(how), m) * lanes;
                        K_L(sign) = back & 1 ? -ROOT_HALF : ROOT_HALF;
                        K_L(sum) = 0;
                    }
                    for (int n = 0; n < MOST; n++) {
                        const real weight = legendre[n];
                        K_LANE
                        {
                            const i32 has = n < K_L(count);
                            const real w = has ? weight : K_R(0);
                            const real odd = (n & TURN_LOW(turn[d][lane])) ? -w : w;
                            K_L(sum) += odd * u[K_L(at) + (has ? n * K_L(step) : 0)];
                        }
                    }
                    K_LANE inflow[i][lane] = K_L(sign) * K_L(sum);
                }
            } else {
                K_ROWS(i, DIM * LINES)
                {
                    const int d = i / LINES, j = i % LINES;
                    const int start = (c * NP + LINE_START(d, j)) * LANES;
                    const int step = STRIDE(d, M) * LANES;
                    K_LANEVAR(real, sum);
                    K_LANE K_L(sum) = u[where[d][lane] + start];
                    for (int n = 1; n < M; n++) {
                        const real w = legendre[n];
                        const int next = start + n * step;
                        K_LANE
                        {
                            const real odd = (n & 1) & (speed[d][lane] < 0) ? -w : w;
                            K_L(sum) += odd * u[where[d][lane] + next];
                        }
                    }
                    K_LANE inflow[i][lane] = ROOT_HALF * K_L(sum);
                }
            }
#if BOUNDARIES
            if (kind & KIND_OUTER) {
                K_ROWS(i, DIM * LINES)
                {
                    const int d = i / LINES, j1 = i % LINES % M, j2 = i % LINES / M;
                    K_LANEVAR(real, sum);
                    K_LANE K_L(sum) = 0;
                    for (int q = 0; q < (DIM == 3 ? POINTS * POINTS : POINTS); q++) {
                        const real s1 = rule[q % POINTS], s2 = rule[q / POINTS];
                        const real w = rule[POINTS + q % POINTS * M + j1] *
                                       (DIM == 3 ? rule[POINTS + q / POINTS * M + j2] : K_R(1));
                        K_LANE
                        {
                            const real end = speed[d][lane] < 0 ? K_R(1) : K_R(-1);
                            const real r0 = d == 0 ? end : s1, r1 = d == 0 ? s1 : d == 1 ? end : s2;
                            const real r2 = d == 2 ? end : s2;
                            const real x = PLACE(0, r0, r1, r2), y = PLACE(1, r0, r1, r2);
                            const real z = DIM == 3 ? PLACE(DIM - 1, r0, r1, r2) : 0;
                            const i32 b = -1 - K_MIN(beyond[d][lane], -1);
                            K_L(sum) += w * BOUNDARY_VALUE(b, c, x, y, z, time);
                        }
                    }
                    K_LANE inflow[i][lane] = beyond[d][lane] < 0 ? K_L(sum) : inflow[i][lane];
                }
            }
#endif
            K_SYNC;
            for (int d = 0; d < DIM; d++) {
                K_ROWS(j, LINES)
                {
                    const int start = LINE_START(d, j), step = STRIDE(d, M);
                    K_LANEVAR(real, trace);
                    K_LANEVAR(real, for_even);
                    K_LANEVAR(real, for_odd);
                    K_LANEVAR(real, same);     /* Σ of the modes below, of the same parity … */
                    K_LANEVAR(real, opposite); /* … and of the opposite */
                    K_LANE K_L(trace) = v[start][lane];
                    for (int n = 1; n < M; n++) {
                        const real w = legendre[n];
                        K_LANE
                        {
                            const real odd = (n & 1) & (speed[d][lane] < 0) ? -w : w;
                            K_L(trace) += odd * v[start + n * step][lane];
                        }
                    }
                    K_LANE
                    {
                        const real a = speed[d][lane], in = inflow[d * LINES + j][lane];
                        const real out = ROOT_HALF * K_L(trace);
                        K_L(for_even) = ROOT_HALF * K_ABS(a) * (in - out);
                        K_L(for_odd) = -ROOT_HALF * a * (in + out);
                        K_L(same) = K_L(opposite) = 0;
                    }
                    for (int n = 0; n < M; n++) {
                        const real w = legendre[n];
                        const int i = start + n * step;
                        K_LANE
                        {
                            const real next = K_L(same) + w * v[i][lane];
                            const real face = n & 1 ? K_L(for_odd) : K_L(for_even);
                            const real part = w * (speed[d][lane] * K_L(opposite) + face);
                            rate[i][lane] = d == 0 ? part : rate[i][lane] + part;
                            K_L(same) = K_L(opposite);
                            K_L(opposite) = next;
                        }
                    }
                }
                K_SYNC;
            }
            K_NODES(i, NP)
            {
                const int at = (c * NP + i) * LANES + lane;
                FINISH(at, rate[i][lane])
            }
            K_SYNC;
        }
    }
}
