/* Kernels that use the macros of the first level; test_dialect.c has the same in plain C. */

#define EXTENT (ROWS * LANES)
#define HALF ((ROWS + 1) / 2)

/* Every kind and type of argument. */
K_KERNEL(arguments, K_IN(real, in_real, EXTENT), K_IN(f64, in_f64, ROWS *LANES),
         K_IN(f32, in_f32, (ROWS)*LANES), K_IN(i64, in_i64, K_MAX(ROWS, 1) * LANES),
         K_IN(i32, in_i32, EXTENT), K_IN(u32, in_u32, EXTENT), K_IN(u8, in_u8, EXTENT),
         K_OUT(real, out_real, EXTENT), K_OUT(f64, out_f64, EXTENT), K_OUT(f32, out_f32, EXTENT),
         K_OUT(i64, out_i64, EXTENT), K_OUT(i32, out_i32, EXTENT), K_OUT(u32, out_u32, EXTENT),
         K_OUT(u8, out_u8, EXTENT), K_INOUT(real, io_real, EXTENT), K_INOUT(f64, io_f64, EXTENT),
         K_INOUT(f32, io_f32, EXTENT), K_INOUT(i64, io_i64, EXTENT), K_INOUT(i32, io_i32, EXTENT),
         K_INOUT(u32, io_u32, EXTENT), K_INOUT(u8, io_u8, EXTENT), K_VAL(real, val_real),
         K_VAL(f64, val_f64), K_VAL(f32, val_f32), K_VAL(i64, val_i64), K_VAL(i32, val_i32),
         K_VAL(u32, val_u32), K_VAL(u8, val_u8))
{
    K_TILES(t)
    {
        K_NODES(i, ROWS)
        {
            const i64 j = ((i64)t * ROWS + i) * LANES + lane;
            out_real[j] = in_real[j] + val_real;
            out_f64[j] = in_f64[j] + val_f64;
            out_f32[j] = in_f32[j] + val_f32;
            out_i64[j] = in_i64[j] + val_i64;
            out_i32[j] = in_i32[j] + val_i32;
            out_u32[j] = in_u32[j] + val_u32;
            out_u8[j] = (u8)(in_u8[j] + val_u8);
            io_real[j] = io_real[j] - in_real[j];
            io_f64[j] = io_f64[j] - in_f64[j];
            io_f32[j] = io_f32[j] - in_f32[j];
            io_i64[j] = io_i64[j] - in_i64[j];
            io_i32[j] = io_i32[j] - in_i32[j];
            io_u32[j] = io_u32[j] - in_u32[j];
            io_u8[j] = (u8)(io_u8[j] - in_u8[j]);
        }
    }
}

/* Loops, shared and private arrays: values pass from thread to thread through three barriers. */
K_KERNEL(tile, K_IN(real, x, EXTENT), K_OUT(real, mirrored, EXTENT), K_OUT(i32, numbers, EXTENT),
         K_OUT(real, sums, HALF *LANES), K_OUT(real, put, EXTENT), K_OUT(real, passed, EXTENT),
         K_OUT(u8, bytes, 3 * LANES))
{
    K_SHARED(real, s, ROWS);
    K_SHARED(i32, whole, ROWS + 1);
    K_SHARED(u8, flags, 3);
    K_SHARED(f64, wide, HALF);
    K_PRIVATE(real, twice, ROWS);
    K_PRIVATE(i32, number, ROWS);
    K_TILES(t)
    {
        K_NODES(i, ROWS)
        {
            const real v = K_TILE(x, t, ROWS)[i * LANES + lane];
            s[i][lane] = v;
            K_P(twice) = 2 * v;
            K_P(number) = i * LANES + lane;
        }
        K_NODES(i, ROWS + 1) whole[i][lane] = 1000 * i + lane;
        K_NODES(i, 3) flags[i][lane] = (u8)(100 * i + lane);
        K_NODES(i, HALF) wide[i][lane] = 0.25 * i + lane;
        K_SYNC;
        K_NODES(i, ROWS)
        {
            K_TILE(mirrored, t, ROWS)[i * LANES + lane] = s[ROWS - 1 - i][LANES - 1 - lane];
            K_TILE(numbers, t, ROWS)[i * LANES + lane] =
                K_P(number) + whole[ROWS - i][LANES - 1 - lane];
        }
        K_NODES(i, 3) K_TILE(bytes, t, 3)[i * LANES + lane] = flags[2 - i][LANES - 1 - lane];
        K_SYNC;
        K_NODES(i, ROWS) s[i][lane] = K_P(twice) + K_R(0.5);
        K_SYNC;
        K_PUT(ROWS, K_S(s), K_TILE(put, t, ROWS));
        K_PUT(ROWS, K_G(K_TILE(x, t, ROWS)), K_TILE(passed, t, ROWS));
        K_ROWS(i, HALF)
        {
            K_GLOBAL const real *row = K_TILE(x, t, ROWS) + i * LANES;
            K_LOCAL const f64 *mine = wide[HALF - 1 - i];
            K_LANEVAR(real, sum);
            K_LANE K_L(sum) = row[LANES - 1 - lane];
            for (int j = 0; j < ROWS; j++)
                K_LANE K_L(sum) += s[j][lane] * K_R(i + 1);
            K_LANE K_TILE(sums, t, HALF)[i * LANES + lane] = K_L(sum) + (real)mine[lane];
        }
    }
}

typedef struct state {
    real density, along, across;
} state;

typedef struct flux {
    state f;
    real speed;
} flux;

K_FUNC state scaled(state u, real by)
{
    state v = {u.density * by, u.along * by, u.across * by};
    return v;
}

K_FUNC flux flux_of(state u)
{
    const real velocity = u.along / u.density;
    flux result;
    result.f = scaled(u, velocity);
    result.speed = K_MAX(velocity, -velocity) + K_R(0.1);
    return result;
}

/* A Rusanov flux between each node and the next row's, floored: structs by value, no pointers. */
K_FUNC state rusanov(state a, state b)
{
    const flux fa = flux_of(a), fb = flux_of(b);
    const real speed = K_MAX(fa.speed, fb.speed);
    state r;
    r.density = K_R(0.5) * (fa.f.density + fb.f.density - speed * (b.density - a.density));
    r.along = K_R(0.5) * (fa.f.along + fb.f.along - speed * (b.along - a.along));
    r.across = K_MIN(K_R(0.5) * (fa.f.across + fb.f.across), K_R(0.05));
    return r;
}

K_KERNEL(pointwise, K_IN(real, u, 3 * EXTENT), K_OUT(real, f, 3 * EXTENT))
{
    K_TILES(t)
    {
        K_NODES(i, ROWS)
        {
            K_GLOBAL const real *p = K_TILE(u, t, 3 * ROWS) + lane;
            K_GLOBAL real *q = K_TILE(f, t, 3 * ROWS) + lane;
            const int next = (i + 1) % ROWS;
            const state a = {p[i * LANES], p[(ROWS + i) * LANES], p[(2 * ROWS + i) * LANES]};
            const state b = {p[next * LANES], p[(ROWS + next) * LANES],
                             p[(2 * ROWS + next) * LANES]};
            const state r = rusanov(a, b);
            q[i * LANES] = r.density;
            q[(ROWS + i) * LANES] = r.along;
            q[(2 * ROWS + i) * LANES] = r.across;
        }
    }
}

/* Two tiles of the same block in turn: without the barrier at the end of K_TILES the second would
 * overwrite what the first still reads. */
K_KERNEL(turn, K_IN(i32, x, LANES), K_OUT(i32, y, LANES))
{
    K_SHARED(i32, s, 1);
    K_TILES(t)
    {
        K_NODES(i, 1) s[i][lane] = K_TILE(x, t, 1)[lane];
        K_SYNC;
        K_NODES(i, 1) K_TILE(y, t, 1)[lane] = s[i][(lane + LANES / 2 + 1) % LANES];
    }
}

/* Values of any tile, less those of this one. */
K_KERNEL(gathered, K_IN(real, x, EXTENT), K_IN(i64, at, EXTENT), K_OUT(real, y, EXTENT))
{
    K_TILES(t)
    {
        K_VECTORS(i, ROWS)
        {
            const vreal there = K_GATHER(x, K_TILE(at, t, ROWS) + i * LANES);
            K_SET(K_TILE(y, t, ROWS) + i * LANES, there - K_GET(K_TILE(x, t, ROWS) + i * LANES));
        }
    }
}

/* The greater of two vectors, and what they are without their signs. */
K_KERNEL(sizes, K_IN(real, x, ROWS *LANES), K_IN(real, y, ROWS *LANES),
         K_OUT(real, greater, ROWS *LANES), K_OUT(real, size, ROWS *LANES))
{
    K_TILES(t)
    {
        K_VECTORS(i, ROWS)
        {
            const vreal a = K_GET(K_TILE(x, t, ROWS) + i * LANES);
            const vreal b = K_GET(K_TILE(y, t, ROWS) + i * LANES);
            K_SET(K_TILE(greater, t, ROWS) + i * LANES, K_VMAX(a, b));
            K_SET(K_TILE(size, t, ROWS) + i * LANES, K_VABS(a));
        }
    }
}

/* Rows as they stand, lane after lane, FOURS_PITCH values apart; and four values in a row for each lane. */
#define FOURS_PITCH 5
K_KERNEL(fours, K_IN(real, x, 4 *LANES), K_IN(i32, at, LANES), K_OUT(real, spread, FOURS_PITCH *LANES),
         K_OUT(real, gathered, 4 *LANES))
{
    K_TILES(t)
    {
        K_VECTORS(i, 1)
        {
            vreal v[4];
            for (int j = 0; j < 4; j++) v[j] = K_GET(K_TILE(x, t, 4) + j * LANES);
            K_SPREAD4(K_TILE(spread, t, FOURS_PITCH) + i, FOURS_PITCH, v);
            K_GATHER4(x, K_TILE(at, t, 1), v);
            for (int j = 0; j < 4; j++) K_SET(K_TILE(gathered, t, 4) + j * LANES, v[j]);
        }
    }
}

#if TABLES
/* Sums of x by the rows of a table, which is the program's own; in a loop that stays one. */
K_FUNC real row_of(int i, real x)
{
    return table[2 * i] + table[2 * i + 1] * x;
}

K_KERNEL(tabled, K_IN(real, x, ROWS *LANES), K_OUT(real, y, ROWS *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, ROWS)
        {
            const real here = K_TILE(x, t, ROWS)[i * LANES + lane];
            real sum = 0;
            K_SOON(K_TILE(y, t, ROWS) + i * LANES + lane);
            K_ROLLED for (int k = 0; k < 3; k++) sum += row_of(k, here);
            K_TILE(y, t, ROWS)[i * LANES + lane] = sum;
        }
    }
}
#endif
