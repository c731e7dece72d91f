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
