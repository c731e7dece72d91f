/* What the kernels of affine triangles share: affine.k.c says what it means. */
#define POINTS (3 * NFP)
#define FACTORS 7 /* G_rr, G_rs, G_ss, λ J, T of each face */

/* a and b of face f by G: Q = a ∂u/∂n̂ + b ∂u/∂t. */
#define ACROSS(f, rr, rs, ss) ((f) == 0 ? (ss) : (f) == 1 ? K_R(0.5) * ((rr) + (ss)) + (rs) : (rr))
#define ASIDE(f, rr, rs, ss) ((f) == 0 ? -(rs) : (f) == 1 ? K_R(0.5) * ((ss) - (rr)) : (rs))
