/* The operator of model `elliptic` on affine triangles with a constant k, for GPUs: what affine.k.c
 * computes, in chains without shared memory and barriers, with even and odd parts of everything
 * (element/mirror.h), so that products take half the work.
 *
 *     slopes  Q at the nodes of faces: two operands, the parts of u, and four products a chunk of points
 *     apply   y: sums of its parts in registers, to which every chunk of nodes and of points of faces adds
 *             products with its columns of `even` and `odd`; or b - y
 *
 * The exchange of r and s turns the stiffness rr into ss, face 0 into face 2 against its direction, face 1 into
 * itself, ∂/∂n̂ into itself and ∂/∂t into its opposite. With p = (G_rr + G_ss)/2, m = (G_rr - G_ss)/2:
 *
 *     G_rr S_rr + G_ss S_ss = p (S_rr + S_ss) + m (S_rr - S_ss),
 *
 * the first of which keeps parts apart, as S_rs + S_sr does, the second exchanges them.
 *
 *     pairs        [PADDED_EVEN][2] nodes that are mirror images
 *     derivatives  of the parts of u at points of faces: ∂/∂n̂ of even u, then ∂/∂t, FACE_ROWS rows each …
 *     odd_derivatives  … of odd u, at the first of two points; at the other the sums change sign
 *     even         [S_rr + S_ss | S_rs + S_sr | S_rr - S_ss of odd parts | mass | Eᵀ M | normalᵀ M | alongᵀ M of
 *                  odd parts], to even parts, PADDED_EVEN, PADDED_ODD or FACE_ROWS columns each; odd: likewise
 *
 * and all else as in affine.k.c. A chunk of points of faces has four of each, in the order that K_FOLD makes of two
 * chunks with two points of each face: on tensor cores a thread meets one face of two elements, and finds its neighbour
 * once. Bytes are those of affine.k.c; flops: slopes 6 NFP NP, apply NP (STIFF NP + 9 NFP), all padded to eights. */
#include "field/trace.k.h"
#include "model/elliptic/affine.k.h"

#define EVEN_CHUNKS ((EVEN + 7) / 8)
#define ODD_CHUNKS ((ODD + 7) / 8)
#define FLUX_ROWS (3 * NFP)
#define FACE_CHUNKS ((NFP + 3) / 4)
#define FACE_ROWS (8 * FACE_CHUNKS)
/* The blocks of `even` and `odd`, in chunks of columns. */
#define BEFORE_MASS (2 * EVEN_CHUNKS + ODD_CHUNKS)
#define BEFORE_FACES (BEFORE_MASS + (STIFF == 4 ? EVEN_CHUNKS : 0))
#define EVEN_COLUMNS (8 * (BEFORE_FACES + 3 * FACE_CHUNKS))
#define BEFORE_ODD_MASS (2 * ODD_CHUNKS + EVEN_CHUNKS)
#define BEFORE_ODD_FACES (BEFORE_ODD_MASS + (STIFF == 4 ? ODD_CHUNKS : 0))
#define ODD_COLUMNS (8 * (BEFORE_ODD_FACES + 3 * FACE_CHUNKS))
#if K_FN != 8
#error chunks have 8 points: two of each face, and two that do not count
#endif
#define NODE(way, p) ((way).first + (((p) * ((way).slope + (way).bend * (p))) >> 1))

/* Which points of faces a quarter has in the chunks that K_FOLD adds, and in their sums. Quarters 0 and 2 have four of
 * their face for each sum's chunk, the first two in one and the last two in the other, or the other way round: where
 * quarter 0 has point p, quarter 2 has its image, N - p. Quarter 1 has two from the beginning of face 1, and their
 * images from its end. */
typedef struct places {
    i32 face;
    i32 first, way; /* of the first chunk: first + way (stride c + s), s = 0, 1 … */
    i32 opposite, back; /* … and of the second */
    i32 stride;
    i32 room; /* stride c + s is less for those that count */
} places;

K_FUNC places places_of(i32 quarter)
{
    const i32 N = NFP - 1;
    places w;
    w.face = K_MIN(quarter, 2);
    w.way = quarter < 2 ? 1 : -1;
    w.back = quarter < 1 ? 1 : -1;
    w.first = quarter < 2 ? 0 : N - 2;
    w.opposite = quarter < 1 ? 2 : N;
    w.stride = quarter == 1 ? 2 : 4;
    w.room = quarter == 0 ? NFP : quarter == 1 ? (NFP + 1) / 2 : quarter == 2 ? NFP - 2 : 0;
    return w;
}

/* Points that do not count are some point of the face. */
#define WITHIN(p) K_MAX(0, K_MIN(p, NFP - 1))
#define RANK(i) (K_V(at).stride * c + ((i) & 1))
#define PLACE(i) WITHIN(K_V(at).first + K_V(at).way * RANK(i))
#define OTHER_PLACE(i) WITHIN(K_V(at).opposite + K_V(at).back * RANK(i))

K_KERNEL(slopes, K_IN(real, u, NP *LANES), K_IN(real, factors, FACTORS *LANES), K_IN(i32, pairs),
         K_OP(derivatives, 2 * FACE_ROWS, EVEN), K_OP(odd_derivatives, 2 * FACE_ROWS, ODD),
         K_OUT(real, flux, FLUX_ROWS *LANES))
{
    K_OPERAND(xe, 1, EVEN);
    K_OPERAND(xo, 1, ODD);
    K_POINTS(ne, 1);
    K_POINTS(no, 1);
    K_POINTS(te, 1);
    K_POINTS(to, 1);
    K_LANEVAR(real, rr);
    K_LANEVAR(real, rs);
    K_LANEVAR(real, ss);
    K_QUARTERVAR(places, at);
    K_QUARTERVAR(real, across); /* a and b of the quarter's face … */
    K_QUARTERVAR(real, aside);
    K_QUARTERVAR(real, image_across); /* … and of its image */
    K_QUARTERVAR(real, image_aside);
    K_WARPS(t)
    {
        K_LOADPAIRS(xe, xo, 0, EVEN, ODD, u, NP, 0, pairs);
        K_LANELOAD(rr, factors, FACTORS, 0);
        K_LANELOAD(rs, factors, FACTORS, 1);
        K_LANELOAD(ss, factors, FACTORS, 2);
        K_QUARTERS(quarter)
        {
            K_V(at) = places_of(quarter);
            K_V(across) = ACROSS(K_V(at).face, K_L(rr), K_L(rs), K_L(ss));
            K_V(aside) = ASIDE(K_V(at).face, K_L(rr), K_L(rs), K_L(ss));
            K_V(image_across) = ACROSS(2 - K_V(at).face, K_L(rr), K_L(rs), K_L(ss));
            K_V(image_aside) = ASIDE(2 - K_V(at).face, K_L(rr), K_L(rs), K_L(ss));
        }
        K_CHUNKS(c, FACE_ROWS)
        {
            K_MUL(ne, 1, derivatives, 2 * FACE_ROWS, EVEN, c, xe);
            K_MUL(te, 1, derivatives, 2 * FACE_ROWS, EVEN, FACE_CHUNKS + c, xe);
            K_MUL(no, 1, odd_derivatives, 2 * FACE_ROWS, ODD, c, xo);
            K_MUL(to, 1, odd_derivatives, 2 * FACE_ROWS, ODD, FACE_CHUNKS + c, xo);
            K_EACH
            {
                const real a = K_Y(ne, 0) + K_Y(no, 0), b = K_Y(ne, 0) - K_Y(no, 0);
                const real along = K_Y(to, 0) + K_Y(te, 0), back = K_Y(to, 0) - K_Y(te, 0);
                K_Y(ne, 0) = K_V(across) * a + K_V(aside) * along;
                K_Y(no, 0) = K_V(image_across) * b + K_V(image_aside) * back;
            }
            K_POINTPUT(ne, 0, i, c, FACE_ROWS, flux, FLUX_ROWS, RANK(i) < K_V(at).room,
                       K_V(at).face * NFP + PLACE(i));
            K_POINTPUT(no, 0, i, c, FACE_ROWS, flux, FLUX_ROWS, RANK(i) < K_V(at).room,
                       (3 - K_V(at).face) * NFP - 1 - PLACE(i));
        }
    }
}

/* The jump, in place of the value, and in place of Q what is tested with φ, at points in this place. */
#define FIND_JUMPS(value, slope, place) \
    K_EACH \
    { \
        const i32 p = place(K_POINT(c, FACE_ROWS)); \
        const real beyond = K_V(there)[NODE(K_V(other), p) * LANES]; \
        const real through = K_V(flux_there)[p * K_V(pitch)]; \
        const real jump = K_Y(value, 0) - K_V(sigma) * beyond; \
        K_Y(slope, 0) = K_V(T) * jump + K_R(0.5) * sign * (K_V(sigma) * through - K_Y(slope, 0)); \
        K_Y(value, 0) = jump; \
    }

/* Tiles of one group that begins at slot 0 and at value `begin` of u. `rest`: y = b - A u; else b is not
 * read.
 *
 * What lies behind a boundary is a mirror image of the element, u⁺ = σ u and Q⁺ = σ Q: σ = -1 with half of
 * its T where u is given, 1 where Q is. */
K_KERNEL(apply, K_IN(real, u), K_VAL(i64, begin), K_IN(real, b, NP *LANES), K_VAL(i32, rest),
         K_IN(real, flux), K_IN(i32, neighbour, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, factors, FACTORS *LANES), K_IN(i32, pairs), K_OP(even, EVEN, EVEN_COLUMNS),
         K_OP(odd, ODD, ODD_COLUMNS), K_OUT(real, y, NP *LANES))
{
    K_ACCUM(ze, 1, EVEN);
    K_ACCUM(zo, 1, ODD);
    K_POINTS(ja, 1);
    K_POINTS(jb, 1);
    K_POINTS(qa, 1);
    K_POINTS(qb, 1);
    K_POINTS(e, 1);
    K_POINTS(o, 1);
    K_POINTS(w, 1);
    K_LANEVAR(real, rr);
    K_LANEVAR(real, rs);
    K_LANEVAR(real, ss);
#if STIFF == 4
    K_LANEVAR(real, mass);
#endif
    /* Of the face that a quarter has: */
    K_QUARTERVAR(places, at);
    K_QUARTERVAR(walk, mine);
    K_QUARTERVAR(walk, other);
    K_QUARTERVAR(K_GLOBAL const real *, there);      /* the neighbour's first value of u */
    K_QUARTERVAR(K_GLOBAL const real *, flux_there); /* … and its value of Q at my first point, */
    K_QUARTERVAR(i32, pitch);                        /* from there to the next */
    K_QUARTERVAR(real, sigma);
    K_QUARTERVAR(real, T);
    K_QUARTERVAR(real, across); /* -a/2, -b/2 */
    K_QUARTERVAR(real, aside);
    K_WARPS(t)
    {
        const real sign = rest ? K_R(-1) : K_R(1);
        K_LANELOAD(rr, factors, FACTORS, 0);
        K_LANELOAD(rs, factors, FACTORS, 1);
        K_LANELOAD(ss, factors, FACTORS, 2);
#if STIFF == 4
        K_LANELOAD(mass, factors, FACTORS, 3);
        K_LANE K_L(mass) *= sign;
#endif
        K_QUARTERS(quarter)
        {
            K_V(at) = places_of(quarter);
            const i32 f = K_V(at).face;
            const i32 slot = K_TILE(neighbour, t, 3)[f * LANES + lane];
            const i32 byte = K_TILE(neighbour_face, t, 3)[f * LANES + lane];
            const real penalty = sign * K_TILE(factors, t, FACTORS)[(4 + f) * LANES + lane];
            const i32 behind = slot < 0 ? t * LANES + lane : slot;
            const i32 face = slot < 0 ? f : byte & 7, turned = slot < 0 ? 0 : byte >> 3;
            K_V(mine) = walk_along(f, 0);
            K_V(other) = walk_along(face, turned);
            K_V(there) = u + first_value(behind, begin, NP, LANES);
            K_V(flux_there) = flux + first_value(behind, 0, FLUX_ROWS, LANES) +
                              (face * NFP + (turned ? NFP - 1 : 0)) * LANES;
            K_V(pitch) = turned ? -LANES : LANES;
            K_V(sigma) = slot < 0 && penalty != K_R(0) ? K_R(-1) : K_R(1);
            K_V(T) = slot < 0 ? K_R(0.5) * penalty : penalty;
            K_V(across) = K_R(-0.5) * sign * ACROSS(f, K_L(rr), K_L(rs), K_L(ss));
            K_V(aside) = K_R(-0.5) * sign * ASIDE(f, K_L(rr), K_L(rs), K_L(ss));
        }
        if (rest) {
            K_SUMPAIRS(ze, zo, 0, EVEN, ODD, b, NP, 0, pairs);
        } else {
            K_ZERO(ze, 1, EVEN);
            K_ZERO(zo, 1, ODD);
        }
        K_CHUNKS(c, FACE_ROWS)
        {
            K_POINTROWS(ja, 0, i, c, FACE_ROWS, u + begin, NP, NODE(K_V(mine), PLACE(i)));
            K_POINTROWS(jb, 0, i, c, FACE_ROWS, u + begin, NP, NODE(K_V(mine), OTHER_PLACE(i)));
            K_POINTROWS(qa, 0, i, c, FACE_ROWS, flux, FLUX_ROWS, K_V(at).face * NFP + PLACE(i));
            K_POINTROWS(qb, 0, i, c, FACE_ROWS, flux, FLUX_ROWS,
                        K_V(at).face * NFP + OTHER_PLACE(i));
            FIND_JUMPS(ja, qa, PLACE)
            FIND_JUMPS(jb, qb, OTHER_PLACE)
            K_FOLD(e, o, 0, qa, qb);
            K_MULADD(ze, 1, even, EVEN, EVEN_COLUMNS, BEFORE_FACES + c, e);
            K_MULADD(zo, 1, odd, ODD, ODD_COLUMNS, BEFORE_ODD_FACES + c, o);
            K_EACH
            {
                K_Y(qa, 0) = K_V(across) * K_Y(ja, 0);
                K_Y(qb, 0) = K_V(across) * K_Y(jb, 0);
                K_Y(ja, 0) *= K_V(aside);
                K_Y(jb, 0) *= K_V(aside);
            }
            K_FOLD(e, o, 0, qa, qb);
            K_MULADD(ze, 1, even, EVEN, EVEN_COLUMNS, BEFORE_FACES + FACE_CHUNKS + c, e);
            K_MULADD(zo, 1, odd, ODD, ODD_COLUMNS, BEFORE_ODD_FACES + FACE_CHUNKS + c, o);
            K_FOLD(e, o, 0, ja, jb); /* what is tested with ∂φ/∂t changes parts */
            K_MULADD(ze, 1, even, EVEN, EVEN_COLUMNS, BEFORE_FACES + 2 * FACE_CHUNKS + c, o);
            K_MULADD(zo, 1, odd, ODD, ODD_COLUMNS, BEFORE_ODD_FACES + 2 * FACE_CHUNKS + c, e);
        }
        K_LANE
        {
            const real p = K_R(0.5) * sign * (K_L(rr) + K_L(ss));
            K_L(ss) = K_R(0.5) * sign * (K_L(rr) - K_L(ss)); /* m */
            K_L(rr) = p;
            K_L(rs) *= sign;
        }
        K_CHUNKS(c, EVEN)
        {
            K_POINTPAIRS(e, o, 0, c, EVEN, u + begin, NP, 0, pairs);
#if STIFF == 4
            K_EACH K_Y(w, 0) = K_L(mass) * K_Y(e, 0);
            K_MULADD(ze, 1, even, EVEN, EVEN_COLUMNS, BEFORE_MASS + c, w);
#endif
            K_EACH K_Y(w, 0) = K_L(rr) * K_Y(e, 0);
            K_MULADD(ze, 1, even, EVEN, EVEN_COLUMNS, c, w);
            K_EACH K_Y(w, 0) = K_L(rs) * K_Y(e, 0);
            K_MULADD(ze, 1, even, EVEN, EVEN_COLUMNS, EVEN_CHUNKS + c, w);
            K_EACH K_Y(e, 0) *= K_L(ss);
            K_MULADD(zo, 1, odd, ODD, ODD_COLUMNS, 2 * ODD_CHUNKS + c, e);
            if (c < ODD_CHUNKS) {
#if STIFF == 4
                K_EACH K_Y(w, 0) = K_L(mass) * K_Y(o, 0);
                K_MULADD(zo, 1, odd, ODD, ODD_COLUMNS, BEFORE_ODD_MASS + c, w);
#endif
                K_EACH K_Y(w, 0) = K_L(rr) * K_Y(o, 0);
                K_MULADD(zo, 1, odd, ODD, ODD_COLUMNS, c, w);
                K_EACH K_Y(w, 0) = K_L(rs) * K_Y(o, 0);
                K_MULADD(zo, 1, odd, ODD, ODD_COLUMNS, ODD_CHUNKS + c, w);
                K_EACH K_Y(o, 0) *= K_L(ss);
                K_MULADD(ze, 1, even, EVEN, EVEN_COLUMNS, 2 * EVEN_CHUNKS + c, o);
            }
        }
        K_STOREPAIRS(ze, zo, 0, EVEN, ODD, y, NP, 0, pairs);
    }
}
