/* The mapping's Jacobian and normals at points, from the coordinates of the geometry's nodes.
 *
 * DIM is 2 or 3; all other sizes are arguments. `nodes` is [tiles][DIM][n][LANES]; `table` holds
 * the derivatives of the n geometry functions at the points. They add up to zero at every point, so
 * coordinates are taken relative to the first node: far from the origin nothing is lost. A launch
 * has a tile for every ROWS rows of the result. */

/* Coordinate d of node j, and the same relative to the first node. */
#define NODE(d, j) (nodes[((tile * DIM + (d)) * n + (j)) * LANES + lane])
#define OFFSET(d, j) (NODE(d, j) - NODE(d, 0))

#if DIM == 2
#define DECLARE_TANGENT(v)                                                                         \
    K_LANEVAR(f64, v##x);                                                                          \
    K_LANEVAR(f64, v##y)
#define ZERO_TANGENT(v) K_L(v##x) = 0, K_L(v##y) = 0
#define ADD_TANGENT(v, a) K_L(v##x) += (a)*dx, K_L(v##y) += (a)*dy
#define DECLARE_OFFSETS(j) const f64 dx = OFFSET(0, j), dy = OFFSET(1, j)
#define DECLARE_TANGENTS                                                                           \
    DECLARE_TANGENT(r);                                                                            \
    DECLARE_TANGENT(s)
#define ZERO_TANGENTS ZERO_TANGENT(r), ZERO_TANGENT(s)
#define ADD_TANGENTS                                                                               \
    ADD_TANGENT(r, table[(i64)q * n + j]), ADD_TANGENT(s, table[((i64)count + q) * n + j])
#else
#define DECLARE_TANGENT(v)                                                                         \
    K_LANEVAR(f64, v##x);                                                                          \
    K_LANEVAR(f64, v##y);                                                                          \
    K_LANEVAR(f64, v##z)
#define ZERO_TANGENT(v) K_L(v##x) = 0, K_L(v##y) = 0, K_L(v##z) = 0
#define ADD_TANGENT(v, a) K_L(v##x) += (a)*dx, K_L(v##y) += (a)*dy, K_L(v##z) += (a)*dz
#define DECLARE_OFFSETS(j) const f64 dx = OFFSET(0, j), dy = OFFSET(1, j), dz = OFFSET(2, j)
#define DECLARE_TANGENTS                                                                           \
    DECLARE_TANGENT(r);                                                                            \
    DECLARE_TANGENT(s);                                                                            \
    DECLARE_TANGENT(t)
#define ZERO_TANGENTS ZERO_TANGENT(r), ZERO_TANGENT(s), ZERO_TANGENT(t)
#define ADD_TANGENTS                                                                               \
    ADD_TANGENT(r, table[(i64)q * n + j]), ADD_TANGENT(s, table[((i64)count + q) * n + j]),        \
        ADD_TANGENT(t, table[((i64)2 * count + q) * n + j])
#endif

/* The columns ∂x/∂r, ∂x/∂s, … of the mapping's derivative at point q of the tile: rx = ∂x/∂r and so
 * on; table is [DIM][count][n]. */
#define TANGENTS                                                                                   \
    DECLARE_TANGENTS;                                                                              \
    K_LANE ZERO_TANGENTS;                                                                          \
    for (int j = 1; j < n; j++)                                                                    \
        K_LANE                                                                                     \
        {                                                                                          \
            DECLARE_OFFSETS(j);                                                                    \
            ADD_TANGENTS;                                                                          \
        }

/* The components of r × s and so on, and the determinant of the three. */
#define CROSS_X(a, b) (K_L(a##y) * K_L(b##z) - K_L(a##z) * K_L(b##y))
#define CROSS_Y(a, b) (K_L(a##z) * K_L(b##x) - K_L(a##x) * K_L(b##z))
#define CROSS_Z(a, b) (K_L(a##x) * K_L(b##y) - K_L(a##y) * K_L(b##x))
#if DIM == 2
#define DETERMINANT CROSS_Z(r, s)
#else
#define DETERMINANT (K_L(rx) * CROSS_X(s, t) + K_L(ry) * CROSS_Y(s, t) + K_L(rz) * CROSS_Z(s, t))
#endif

/* J alone, of tiles from `first` on: jacobian [tiles][count]. */
K_KERNEL(jacobians, K_VAL(i64, rows), K_VAL(i64, first), K_VAL(i32, count), K_VAL(i32, n),
         K_IN(f64, table), K_IN(f64, nodes), K_OUT(f64, jacobian))
{
    K_TILES(k)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)k * ROWS + i;
            if (row < rows) {
                const i64 tile = first + row / count, q = row % count;
                TANGENTS
                K_LANE jacobian[row * LANES + lane] = DETERMINANT;
            }
        }
    }
}

/* J and its inverse matrix: factors [tiles][1 + DIM*DIM][count], rows J, ∂r/∂x, ∂r/∂y, …. */
#define FACTOR(i) factors[((tile * (1 + DIM * DIM) + (i)) * count + q) * LANES + lane]
K_KERNEL(volume_metric, K_VAL(i64, rows), K_VAL(i32, count), K_VAL(i32, n), K_IN(f64, table),
         K_IN(f64, nodes), K_OUT(f64, factors))
{
    K_TILES(k)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)k * ROWS + i;
            if (row < rows) {
                const i64 tile = row / count, q = row % count;
                TANGENTS
                K_LANE
                {
                    const f64 det = DETERMINANT, f = 1 / det;
                    FACTOR(0) = det;
#if DIM == 2
                    FACTOR(1) = f * K_L(sy), FACTOR(2) = -f * K_L(sx);
                    FACTOR(3) = -f * K_L(ry), FACTOR(4) = f * K_L(rx);
#else
                    FACTOR(1) = f * CROSS_X(s, t), FACTOR(2) = f * CROSS_Y(s, t);
                    FACTOR(3) = f * CROSS_Z(s, t);
                    FACTOR(4) = f * CROSS_X(t, r), FACTOR(5) = f * CROSS_Y(t, r);
                    FACTOR(6) = f * CROSS_Z(t, r);
                    FACTOR(7) = f * CROSS_X(r, s), FACTOR(8) = f * CROSS_Y(r, s);
                    FACTOR(9) = f * CROSS_Z(r, s);
#endif
                }
            }
        }
    }
}

/* The outward unit normal and the measure against the face's reference element: factors
 * [tiles][faces][DIM + 1][count]; table [faces][DIM - 1][count][n] along the face's coordinates.
 * They run counter-clockwise seen from outside: the normal lies to the right of an edge, and along
 * the first coordinate × the second. */
#define FACE_FACTOR(d) factors[((face * (DIM + 1) + (d)) * count + q) * LANES + lane]
K_KERNEL(face_metric, K_VAL(i64, rows), K_VAL(i32, faces), K_VAL(i32, count), K_VAL(i32, n),
         K_IN(f64, table), K_IN(f64, nodes), K_OUT(f64, factors))
{
    K_TILES(k)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)k * ROWS + i;
            if (row < rows) {
                const i64 face = row / count, q = row % count, tile = face / faces;
                const i64 along = (face % faces * (DIM - 1) * count + q) * n;
                DECLARE_TANGENT(r);
                K_LANE ZERO_TANGENT(r);
#if DIM == 2
                for (int j = 1; j < n; j++)
                    K_LANE
                    {
                        DECLARE_OFFSETS(j);
                        ADD_TANGENT(r, table[along + j]);
                    }
                K_LANE
                {
                    const f64 nx = K_L(ry), ny = -K_L(rx), length = sqrt(nx * nx + ny * ny);
                    FACE_FACTOR(0) = nx / length, FACE_FACTOR(1) = ny / length;
                    FACE_FACTOR(2) = length;
                }
#else
                DECLARE_TANGENT(s);
                K_LANE ZERO_TANGENT(s);
                for (int j = 1; j < n; j++)
                    K_LANE
                    {
                        DECLARE_OFFSETS(j);
                        ADD_TANGENT(r, table[along + j]);
                        ADD_TANGENT(s, table[along + (i64)count * n + j]);
                    }
                K_LANE
                {
                    const f64 nx = CROSS_X(r, s), ny = CROSS_Y(r, s), nz = CROSS_Z(r, s);
                    const f64 area = sqrt(nx * nx + ny * ny + nz * nz);
                    FACE_FACTOR(0) = nx / area, FACE_FACTOR(1) = ny / area;
                    FACE_FACTOR(2) = nz / area, FACE_FACTOR(3) = area;
                }
#endif
            }
        }
    }
}

/* Coordinates of face points: x [tiles][faces][DIM][count]; table [faces][count][n] of values. */
K_KERNEL(face_coordinates, K_VAL(i64, rows), K_VAL(i32, faces), K_VAL(i32, count), K_VAL(i32, n),
         K_IN(f64, table), K_IN(f64, nodes), K_OUT(f64, x))
{
    K_TILES(k)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)k * ROWS + i;
            if (row < rows) {
                const i64 q = row % count, d = row / count % DIM, face = row / count / DIM;
                const i64 tile = face / faces, at = (face % faces * count + q) * n;
                K_LANEVAR(f64, sum);
                K_LANE K_L(sum) = 0;
                for (int j = 0; j < n; j++)
                    K_LANE K_L(sum) += table[at + j] * NODE(d, j);
                K_LANE x[row * LANES + lane] = K_L(sum);
            }
        }
    }
}

/* What J is over an element's points: least, most (NaN if one is NaN) and Σ w J, its volume. The J
 * of a tile are the first `count` of its `stride` rows; summary [tiles][3]. */
K_KERNEL(summarise, K_VAL(i64, rows), K_VAL(i32, count), K_VAL(i64, stride), K_IN(f64, weights),
         K_IN(f64, jacobian), K_OUT(f64, summary))
{
    K_TILES(k)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)k * ROWS + i, from = row * stride;
            if (row < rows) {
                K_LANEVAR(f64, least);
                K_LANEVAR(f64, most);
                K_LANEVAR(f64, sum);
                K_LANE
                {
                    K_L(least) = K_L(most) = jacobian[from * LANES + lane];
                    K_L(sum) = 0;
                }
                for (int q = 0; q < count; q++)
                    K_LANE
                    {
                        const f64 j = jacobian[(from + q) * LANES + lane];
                        K_L(least) = j < K_L(least) || j != j ? j : K_L(least);
                        K_L(most) = j > K_L(most) || j != j ? j : K_L(most);
                        K_L(sum) += weights[q] * j;
                    }
                K_LANE
                {
                    summary[row * 3 * LANES + lane] = K_L(least);
                    summary[(row * 3 + 1) * LANES + lane] = K_L(most);
                    summary[(row * 3 + 2) * LANES + lane] = K_L(sum);
                }
            }
        }
    }
}
