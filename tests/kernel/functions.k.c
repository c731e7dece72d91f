/* The functions of the kernel language, choices as expressions emit them, and contraction;
 * test_functions.c has the same in plain C. */

/* Each function in a row of its own, in the order of test_functions.c. */
K_KERNEL(functions, K_IN(real, x, LANES), K_IN(real, y, LANES), K_OUT(real, f, 19 * LANES))
{
    K_TILES(t)
    {
        K_NODES(i, 1)
        {
            const real a = K_TILE(x, t, 1)[lane], b = K_TILE(y, t, 1)[lane];
            K_GLOBAL real *row = K_TILE(f, t, 19) + lane;
            row[0 * LANES] = K_ABS(a);
            row[1 * LANES] = K_FLOOR(a);
            row[2 * LANES] = K_SQRT(a);
            row[3 * LANES] = K_SIN(a);
            row[4 * LANES] = K_COS(a);
            row[5 * LANES] = K_TAN(a);
            row[6 * LANES] = K_ASIN(a);
            row[7 * LANES] = K_ACOS(a);
            row[8 * LANES] = K_ATAN(a);
            row[9 * LANES] = K_ATAN2(a, b);
            row[10 * LANES] = K_SINH(a);
            row[11 * LANES] = K_COSH(a);
            row[12 * LANES] = K_TANH(a);
            row[13 * LANES] = K_EXP(a);
            row[14 * LANES] = K_LOG(a);
            row[15 * LANES] = K_LOG10(a);
            row[16 * LANES] = K_POW(a, b);
            row[17 * LANES] = a < K_R(0) ? -K_INFINITY : K_INFINITY;
            row[18 * LANES] = K_NAN;
        }
    }
}

/* x < y && !(y < 0) || x == 0 ? floor(|x| / 2) : sqrt(y^2), as an expression is emitted. */
K_FUNC real chosen(real x, real y)
{
    const real k_0 = x < y ? K_R(1) : K_R(0);
    const real k_1 = y < K_R(0.0) ? K_R(1) : K_R(0);
    const real k_2 = k_1 == K_R(0) ? K_R(1) : K_R(0);
    const real k_3 = ((k_0 != K_R(0)) & (k_2 != K_R(0))) ? K_R(1) : K_R(0);
    const real k_4 = x == K_R(0.0) ? K_R(1) : K_R(0);
    const real k_5 = ((k_3 != K_R(0)) | (k_4 != K_R(0))) ? K_R(1) : K_R(0);
    const real k_6 = K_ABS(x);
    const real k_7 = k_6 / K_R(2.0);
    const real k_8 = K_FLOOR(k_7);
    const real k_9 = (y * y);
    const real k_10 = K_SQRT(k_9);
    const real k_11 = k_5 != K_R(0) ? k_8 : k_10;
    return k_11;
}

K_KERNEL(choices, K_IN(real, x, LANES), K_IN(real, y, LANES), K_OUT(real, f, LANES))
{
    K_TILES(t)
    {
        K_NODES(i, 1)
        {
            const real a = K_TILE(x, t, 1)[lane], b = K_TILE(y, t, 1)[lane];
            K_TILE(f, t, 1)[lane] = chosen(a, b);
        }
    }
}

/* a b - c: contracted, the product is not rounded. */
K_KERNEL(difference, K_IN(real, a, LANES), K_IN(real, b, LANES), K_IN(real, c, LANES),
         K_OUT(real, d, LANES))
{
    K_TILES(t)
    {
        K_NODES(i, 1)
        {
            const real p = K_TILE(a, t, 1)[lane], q = K_TILE(b, t, 1)[lane];
            K_TILE(d, t, 1)[lane] = p * q - K_TILE(c, t, 1)[lane];
        }
    }
}
