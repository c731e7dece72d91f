/* Chains of fragments; test_fragments.c has the same in plain C. */

typedef struct quotient {
    real low, high;
} quotient;

K_FUNC quotient divide(real a, real by)
{
    quotient q;
    q.low = K_MIN(a, K_R(0.75)) / by;
    q.high = K_MAX(a, K_R(0.75)) / by;
    return q;
}

/* interpolate FIELDS fields, divide by the last, weigh, project in two ways:
 *     c = interp u,   a_f = w g_0 c_f / c_last,   b_f = (g_1 + lane) c_f,   out = pr a + ps b,
 * the first field to `first`, the others behind two rows of `others`. `lanes` shows K_LANE. */
K_KERNEL(chain, K_IN(real, u, FIELDS *NP *LANES), K_IN(real, g, 3 * LANES), K_IN(real, w),
         K_OP(interp, NC, NP), K_OP(pr, NQ, NC), K_OP(ps, NQ, NC), K_OUT(real, first, NQ *LANES),
         K_OUT(real, others, ((FIELDS - 1) * NQ + 2) * LANES), K_OUT(real, lanes, LANES))
{
    K_OPERAND(x, FIELDS, NP);
    K_ACCUM(z, FIELDS, NQ);
    K_POINTS(c, FIELDS);
    K_POINTS(a, FIELDS);
    K_POINTS(b, FIELDS);
    K_LANEVAR(real, g0);
    K_LANEVAR(real, g1);
    K_LANEVAR(real, g2);
    K_WARPS(t)
    {
        K_LOAD(x, 0, FIELDS, NP, u, FIELDS * NP, 0);
        K_LANELOAD(g0, g, 3, 0);
        K_LANELOAD(g1, g, 3, 1);
        K_LANELOAD(g2, g, 3, 2);
        K_LANE K_L(g1) += K_R(lane);
        K_ZERO(z, FIELDS, NQ);
        K_CHUNKS(q, NC)
        {
            K_MUL(c, FIELDS, interp, NC, NP, q, x);
            K_EACH
            {
                const real weight = K_L(g0) * w[K_POINT(q, NC)], last = K_Y(c, FIELDS - 1);
                K_UNROLL for (int f = 0; f < FIELDS; f++)
                {
                    const quotient d = divide(K_Y(c, f), last);
                    K_Y(a, f) = weight * (d.low + d.high);
                    K_Y(b, f) = K_L(g1) * K_Y(c, f);
                }
            }
            K_MULADD(z, FIELDS, pr, NQ, NC, q, a);
            K_MULADD(z, FIELDS, ps, NQ, NC, q, b);
        }
        K_STORE(z, 0, 1, NQ, first, NQ, 0);
#if FIELDS > 1
        K_STORE(z, 1, FIELDS - 1, NQ, others, (FIELDS - 1) * NQ + 2, 2);
#endif
        K_LANE K_TILE(lanes, t, 1)[lane] = K_L(g1) * K_L(g2);
    }
}

/* Two operands of different sizes, one of them from two arrays, and two sums:
 *     c = (inp u, inp v) with u in rows 1 … NP of its tile,   d = inq s,
 *     z = pq (c_0 d, c_1 d),   y = pp (c_0 / d). */
K_KERNEL(joined, K_IN(real, u, (NP + 3) * LANES), K_IN(real, v, NP *LANES), K_IN(real, s, NQ *LANES),
         K_OP(inp, NC, NP), K_OP(inq, NC, NQ), K_OP(pq, NQ, NC), K_OP(pp, NP, NC),
         K_OUT(real, z_out, 2 * NQ *LANES), K_OUT(real, y_out, NP *LANES))
{
    K_OPERAND(x, 2, NP);
    K_OPERAND(e, 1, NQ);
    K_ACCUM(z, 2, NQ);
    K_ACCUM(y, 1, NP);
    K_POINTS(c, 2);
    K_POINTS(d, 1);
    K_POINTS(products, 2);
    K_POINTS(ratio, 1);
    K_WARPS(t)
    {
        K_LOAD(x, 0, 1, NP, u, NP + 3, 1);
        K_LOAD(x, 1, 1, NP, v, NP, 0);
        K_LOAD(e, 0, 1, NQ, s, NQ, 0);
        K_ZERO(z, 2, NQ);
        K_ZERO(y, 1, NP);
        K_CHUNKS(q, NC)
        {
            K_MUL(c, 2, inp, NC, NP, q, x);
            K_MUL(d, 1, inq, NC, NQ, q, e);
            K_EACH
            {
                K_Y(products, 0) = K_Y(c, 0) * K_Y(d, 0);
                K_Y(products, 1) = K_Y(c, 1) * K_Y(d, 0);
                K_Y(ratio, 0) = K_Y(c, 0) / K_Y(d, 0);
            }
            K_MULADD(z, 2, pq, NQ, NC, q, products);
            K_MULADD(y, 1, pp, NP, NC, q, ratio);
        }
        K_STORE(z, 0, 2, NQ, z_out, 2 * NQ, 0);
        K_STORE(y, 0, 1, NP, y_out, NP, 0);
    }
}

/* Sums outlive their storing: z = project (interp u), all fields to `once` and behind a row of `again`,
 * then the last field to `last`. */
K_KERNEL(twice, K_IN(real, u, FIELDS *NP *LANES), K_OP(interp, NC, NP), K_OP(project, NQ, NC),
         K_OUT(real, once, FIELDS *NQ *LANES), K_OUT(real, again, (FIELDS * NQ + 1) * LANES),
         K_OUT(real, last, NQ *LANES))
{
    K_OPERAND(x, FIELDS, NP);
    K_ACCUM(z, FIELDS, NQ);
    K_POINTS(c, FIELDS);
    K_WARPS(t)
    {
        K_LOAD(x, 0, FIELDS, NP, u, FIELDS * NP, 0);
        K_ZERO(z, FIELDS, NQ);
        K_CHUNKS(q, NC)
        {
            K_MUL(c, FIELDS, interp, NC, NP, q, x);
            K_MULADD(z, FIELDS, project, NQ, NC, q, c);
        }
        K_STORE(z, 0, FIELDS, NQ, once, FIELDS * NQ, 0);
        K_STORE(z, 0, FIELDS, NQ, again, FIELDS * NQ + 1, 1);
        K_STORE(z, FIELDS - 1, 1, NQ, last, NQ, 0);
    }
}

/* Points from memory and back, and sums that begin with something: c = u + scale v with the rows of v in
 * reverse and scale = 1 + u_0 k at points 2k, 2k + 1 of eight; all NP rows go behind a row of `points`;
 * z = first + project c. */
K_KERNEL(loaded, K_IN(real, u, (NP + 2) * LANES), K_IN(real, v, 2 * NP *LANES),
         K_IN(real, first, (NQ + 1) * LANES), K_OP(project, NQ, NP),
         K_OUT(real, points, (NP + 1) * LANES), K_OUT(real, z_out, NQ *LANES))
{
    K_ACCUM(z, 1, NQ);
    K_POINTS(c, 2);
    K_POINTS(sum, 1);
    K_QUARTERVAR(real, scale);
    K_WARPS(t)
    {
        K_QUARTERS(k) K_V(scale) = K_R(1) + k * K_TILE(u, t, NP + 2)[lane];
        K_SUMLOAD(z, 0, 1, NQ, first, NQ + 1, 1);
        K_CHUNKS(q, NP)
        {
            K_POINTLOAD(c, 0, q, NP, u, NP + 2, 1);
            K_POINTROWS(c, 1, i, q, NP, v, 2 * NP, 2 * NP - 1 - i);
            K_EACH K_Y(sum, 0) = K_Y(c, 0) + K_V(scale) * K_Y(c, 1);
            K_POINTSTORE(sum, 0, q, NP, points, NP + 1, 1);
            K_MULADD(z, 1, project, NQ, NP, q, sum);
        }
        K_STORE(z, 0, 1, NQ, z_out, NQ, 0);
    }
}

/* Rows that are mirror images: PAIRS of NP rows, MATES of them with two rows each. Sums and differences of u go through
 * an operator each, and back to rows behind one of `out`; to that comes v, whose sums and differences are
 * the beginning of the sums. Those of u are also read point by point, folded, and put into rows of `folds`, of which the
 * points of side 3 are left out. */
K_KERNEL(pairs_of_rows, K_IN(real, u, (NP + 1) * LANES), K_IN(real, v, NP *LANES), K_IN(i32, pairs),
         K_OP(even, PAIRS, PAIRS), K_OP(odd, MATES, MATES), K_OUT(real, out, (NP + 1) * LANES),
         K_OUT(real, folds, 2 * 8 * ((PAIRS + 7) / 8) * LANES))
{
    K_OPERAND(xe, 1, PAIRS);
    K_OPERAND(xo, 1, MATES);
    K_ACCUM(ze, 1, PAIRS);
    K_ACCUM(zo, 1, MATES);
    K_POINTS(a, 1);
    K_POINTS(b, 1);
    K_POINTS(e, 1);
    K_POINTS(o, 1);
    K_WARPS(t)
    {
        K_LOADPAIRS(xe, xo, 0, PAIRS, MATES, u, NP + 1, 1, pairs);
        K_SUMPAIRS(ze, zo, 0, PAIRS, MATES, v, NP, 0, pairs);
        K_CHUNKS(c, PAIRS)
        {
            K_MUL(a, 1, even, PAIRS, PAIRS, c, xe);
            K_MULADD(ze, 1, even, PAIRS, PAIRS, c, a);
        }
        K_CHUNKS(c, MATES)
        {
            K_MUL(b, 1, odd, MATES, MATES, c, xo);
            K_MULADD(zo, 1, odd, MATES, MATES, c, b);
        }
        K_CHUNKS(c, PAIRS)
        {
            K_POINTPAIRS(a, b, 0, c, PAIRS, u, NP + 1, 1, pairs);
            K_FOLD(e, o, 0, a, b);
            K_POINTPUT(e, 0, i, c, 8 * ((PAIRS + 7) / 8), folds, 2 * 8 * ((PAIRS + 7) / 8),
                       i / 2 % 4 < 3, 2 * i);
            K_POINTPUT(o, 0, i, c, 8 * ((PAIRS + 7) / 8), folds, 2 * 8 * ((PAIRS + 7) / 8),
                       i / 2 % 4 < 3, 2 * i + 1);
        }
        K_STOREPAIRS(ze, zo, 0, PAIRS, MATES, out, NP + 1, 1, pairs);
    }
}

/* Sums that are worked on and multiplied again: y = A u, w = y + y_1 y in the other of two fields, z = B w. */
K_KERNEL(worked_on, K_IN(real, u, NP *LANES), K_OP(A, NQ, NP), K_OP(B, NP, NQ), K_OUT(real, out, NP *LANES))
{
    K_ACCUM(y, 2, NQ);
    K_ACCUM(z, 1, NP);
    K_POINTS(x, 2);
    K_POINTS(one, 1);
    K_LANEVAR(real, scale);
    K_WARPS(t)
    {
        K_ZERO(y, 2, NQ);
        K_ZERO(z, 1, NP);
        K_LANELOAD(scale, u, NP, 1);
        K_CHUNKS(c, NP)
        {
            K_POINTLOAD(x, 0, c, NP, u, NP, 0);
            K_EACH K_Y(x, 1) = K_L(scale) * K_Y(x, 0);
            K_MULADD(y, 2, A, NQ, NP, c, x);
        }
        K_CHUNKS(c, NQ)
        {
            K_TAKE(x, 0, c, y, 0);
            K_TAKE(x, 1, c, y, 1);
            K_EACH K_Y(x, 0) += K_Y(x, 1);
            K_GIVE(y, 1, c, x, 0);
        }
        K_CHUNKS(c, NQ)
        {
            K_TAKE(one, 0, c, y, 1);
            K_MULADD(z, 1, B, NP, NQ, c, one);
        }
        K_STORE(z, 0, 1, NP, out, NP, 0);
    }
}
