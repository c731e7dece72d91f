/* What the kernels of affine triangles share: affine.k.c says what it means. */
#define POINTS (3 * NFP)
#define FACTORS 7 /* G_rr, G_rs, G_ss, λ J, T of each face */

/* a and b of face f by G: Q = a ∂u/∂n̂ + b ∂u/∂t. */
#define ACROSS(f, rr, rs, ss) ((f) == 0 ? (ss) : (f) == 1 ? K_R(0.5) * ((rr) + (ss)) + (rs) : (rr))
#define ASIDE(f, rr, rs, ss) ((f) == 0 ? -(rs) : (f) == 1 ? K_R(0.5) * ((ss) - (rr)) : (rs))

/* Node `first` + p (slope + bend p) / 2 is point p of a face. */
typedef struct walk {
    i32 first, slope, bend;
} walk;

/* Of face f, or of one that is turned and runs against it: nodes stand in rows of N + 1, N, … 1, the
 * first of them on face 0. */
K_FUNC walk walk_along(i32 f, i32 turned)
{
    const i32 N = NFP - 1;
    walk w;
    w.bend = f == 0 ? 0 : -1;
    w.first = f == 0 ? 0 : f == 1 ? N : N * (N + 3) / 2;
    w.slope = f == 0 ? 2 : f == 1 ? 2 * N + 1 : -3;
    if (turned) {
        w.first = f == 0 ? N : f == 1 ? N * (N + 3) / 2 : 0;
        w.slope = f == 0 ? -2 : f == 1 ? -1 : 2 * N + 3;
    }
    return w;
}

/* The node that is point p of a face. */
#define NODE_OF_WALK(first, slope, bend, p) ((first) + (((p) * ((slope) + (bend) * (p))) >> 1))

/* Node i of row j, and point p of face f. */
#define NODE_AT(i, j) ((j) * (2 * NFP + 1 - (j)) / 2 + (i))
#define NODE_ON(f, p) \
    ((f) == 0 ? NODE_AT(p, 0) : (f) == 1 ? NODE_AT(NFP - 1 - (p), p) : NODE_AT(0, NFP - 1 - (p)))

/* Nodes that are mirror images as eg_mirror has them: pair k is node i of row j < i with node j of row i, pairs from ODD
 * on nodes i = j. Rows before j have j (NFP - j) pairs. */
#define PAIR_BEHIND(k, j) (2 * (j) < NFP - 1 && (k) >= (j) * (NFP - (j)))
#define PAIR_ROW(k) \
    ((k) < ODD ? PAIR_BEHIND(k, 1) + PAIR_BEHIND(k, 2) + PAIR_BEHIND(k, 3) + PAIR_BEHIND(k, 4) : (k) - ODD)
#define PAIR_COLUMN(k) ((k) < ODD ? (k) - PAIR_ROW(k) * (NFP - PAIR_ROW(k)) + PAIR_ROW(k) + 1 : (k) - ODD)
#define PAIR_FIRST(k) NODE_AT(PAIR_COLUMN(k), PAIR_ROW(k))
#define PAIR_SECOND(k) NODE_AT(PAIR_ROW(k), PAIR_COLUMN(k))
