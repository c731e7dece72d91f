/* The surface term between groups of elements of different degree and LANES.
 *
 * A field is one buffer. Group g of it begins at value BEGIN and has the layout
 * [tile][FIELDS][NP nodes][lane] with its own NP and LANES: this kernel is compiled for one group,
 * whose sizes are constants, and reads those of its neighbours from the table `groups`,
 * [group][COLUMNS]. A face knows its neighbour's group, element, and face with orientation
 * (2 * face + turned), each an array [tile][FACES][lane].
 *
 *     nodes   [group][2 * FACES][MOST]: the neighbour's nodes on that face, in this side's order
 *     trace   [group][NFP][MOST]: from the neighbour's nodes to this side's points of a face
 *     normal  [tile][FACES][lane]: points from this element to the neighbour; only its sign and
 *             size along one direction matter here
 *     rhs -= lift * (numerical flux - own flux) on all faces.
 *
 * Rows of `nodes` and `trace` are filled up to MOST with weights of zero: every lane then runs the
 * same loop, whatever its neighbour is. Bytes are widened in a loop of their own: beside them gcc
 * would use an eighth of each register for real values, or none of it. */
#define FACES 3
#define FIELDS 2
#define POINTS (FACES * NFP)

#define BEGIN 0 /* columns of `groups`: first value */
#define NODES 1 /* NP */
#define SHIFT 2 /* LANES = 1 << SHIFT */
#define COLUMNS 3

typedef struct state {
    real depth, flow;
} state;

/* The flux of the shallow water equations along the normal, and the fastest wave (about). */
K_FUNC state flux(state u, real normal)
{
    state f;
    f.depth = u.flow * normal;
    f.flow = (u.flow * u.flow / u.depth + K_R(0.5) * u.depth * u.depth) * normal;
    return f;
}

K_FUNC real speed(state u, real normal)
{
    const real v = u.flow / u.depth * normal;
    return K_MAX(v, -v) + K_R(0.5) * (K_R(1) + u.depth) * K_MAX(normal, -normal);
}

/* Rusanov's flux minus the own flux. */
K_FUNC state jump(state own, state other, real normal)
{
    const state f = flux(own, normal), g = flux(other, normal);
    const real a = speed(own, normal), b = speed(other, normal), fastest = K_MAX(a, b);
    state d;
    d.depth = K_R(0.5) * (g.depth - f.depth - fastest * (other.depth - own.depth));
    d.flow = K_R(0.5) * (g.flow - f.flow - fastest * (other.flow - own.flow));
    return d;
}

K_KERNEL(surface, K_IN(real, u), K_IN(i64, groups), K_IN(u8, other_group, FACES *LANES),
         K_IN(i32, other_element, FACES *LANES), K_IN(u8, other_face, FACES *LANES),
         K_IN(i32, own_nodes), K_IN(i32, nodes), K_IN(real, trace),
         K_IN(real, normal, FACES *LANES), K_VAL(i64, begin), K_OP(lift, NP, POINTS),
         K_INOUT(real, rhs))
{
    K_SHARED(real, d, FIELDS *POINTS);
    K_SHARED(real, sum, FIELDS *NP);
    K_TILES(t)
    {
        K_GLOBAL const real *own = K_TILE(u + begin, t, FIELDS * NP);
        K_GLOBAL real *result = K_TILE(rhs + begin, t, FIELDS * NP);
        K_ROWS(i, POINTS)
        {
            const int f = i / NFP, point = i % NFP;
            K_LANEVAR(i32, group);
            K_LANEVAR(i32, side); /* row of `nodes` */
            K_LANE
            {
                K_L(group) = K_TILE(other_group, t, FACES)[f * LANES + lane];
                K_L(side) = K_TILE(other_face, t, FACES)[f * LANES + lane];
            }
            K_LANE
            {
                const int g = K_L(group), e = K_TILE(other_element, t, FACES)[f * LANES + lane];
                const int np = (int)groups[g * COLUMNS + NODES];
                const int shift = (int)groups[g * COLUMNS + SHIFT];
                const i64 first = groups[g * COLUMNS + BEGIN] +
                                  ((i64)((e >> shift) * (FIELDS * np)) << shift) +
                                  (e & ((1 << shift) - 1));
                state here, there;
                there.depth = there.flow = 0;
                for (int j = 0; j < MOST; j++) {
                    const int node = nodes[(g * 2 * FACES + K_L(side)) * MOST + j];
                    const real weight = trace[(g * NFP + point) * MOST + j];
                    there.depth += weight * u[first + ((i64)node << shift)];
                    there.flow += weight * u[first + ((i64)(np + node) << shift)];
                }
                here.depth = own[own_nodes[i] * LANES + lane];
                here.flow = own[(NP + own_nodes[i]) * LANES + lane];
                const state difference =
                    jump(here, there, K_TILE(normal, t, FACES)[f * LANES + lane]);
                d[i][lane] = -difference.depth;
                d[POINTS + i][lane] = -difference.flow;
            }
        }
        K_NODES(i, FIELDS * NP) sum[i][lane] = result[i * LANES + lane];
        K_SYNC;
        K_GEMM_LINES_ADD(NP, POINTS, 1, FIELDS, lift, K_S(d), K_S(sum));
        K_SYNC;
        K_PUT(FIELDS * NP, K_S(sum), result);
    }
}
