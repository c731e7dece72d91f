/* Advection of model `ins` on affine triangles, [karakus2018] eq. (21): a velocity w = (u, v) that is
 * carried by another, a = (au, av), or by itself, tested with φ:
 *
 *     (φ, N) = -(∇φ, a⊗w) + (φ, n·F*),   n·F* = ½ (a·n w + a⁺·n w⁺) + ½ Λ (w - w⁺)
 *
 * n points outwards; Λ = WAVES max(|a·n|, |a⁺·n|), WAVES being 1, or 2 where w carries itself: the
 * largest eigenvalue of what n·F is differentiated by w. Where it should flow out and a·n < 0, `damping`
 * times a·n w is taken from n·F*. What the geometry does is done to a before
 * products, once for both components.
 *
 *     volume   N = -M⁻¹ (∇φ, a⊗w), by values at NC points of the element: here, and in advect_mirror.k.c
 *     surface  N += M⁻¹ (φ, n·F*), by values at Q points of each face: surface.k.c, advect_faces.k.c
 *
 *     interp   values at points of the element;  project  -M⁻¹ ∂φ/∂r W, r then s
 *
 * The collocated form has nodes as points.
 *
 * Bytes for an element, of `real`s: FIELDS NP + 4 are read and 2 NP written. Flops: 2 (FIELDS + 4) NC NP (FIELDS = 4:
 * 16 NC NP). */
#define CARRIED (FIELDS - 2)

K_KERNEL(volume, K_IN(real, au, NP *LANES), K_IN(real, av, NP *LANES), K_IN(real, u, NP *LANES),
         K_IN(real, v, NP *LANES), K_IN(real, geometry, 5 *LANES), K_OP(interp, NC, NP),
         K_OP(project_r, NP, NC), K_OP(project_s, NP, NC), K_OUT(real, nu, NP *LANES),
         K_OUT(real, nv, NP *LANES))
{
    K_OPERAND(x, FIELDS, NP);
    K_ACCUM(z, 2, NP);
    K_POINTS(y, FIELDS);
    K_POINTS(along_r, 2);
    K_POINTS(along_s, 2);
    K_LANEVAR(real, rx);
    K_LANEVAR(real, ry);
    K_LANEVAR(real, sx);
    K_LANEVAR(real, sy);
    K_WARPS(t)
    {
        K_LOAD(x, 0, 1, NP, au, NP, 0);
        K_LOAD(x, 1, 1, NP, av, NP, 0);
#if FIELDS == 4
        K_LOAD(x, 2, 1, NP, u, NP, 0);
        K_LOAD(x, 3, 1, NP, v, NP, 0);
#endif
        K_LANELOAD(rx, geometry, 5, 1);
        K_LANELOAD(ry, geometry, 5, 2);
        K_LANELOAD(sx, geometry, 5, 3);
        K_LANELOAD(sy, geometry, 5, 4);
        K_ZERO(z, 2, NP);
        K_CHUNKS(c, NC)
        {
            K_MUL(y, FIELDS, interp, NC, NP, c, x);
            K_EACH
            {
                const real r = K_L(rx) * K_Y(y, 0) + K_L(ry) * K_Y(y, 1);
                const real s = K_L(sx) * K_Y(y, 0) + K_L(sy) * K_Y(y, 1);
                K_Y(along_r, 0) = r * K_Y(y, CARRIED);
                K_Y(along_r, 1) = r * K_Y(y, CARRIED + 1);
                K_Y(along_s, 0) = s * K_Y(y, CARRIED);
                K_Y(along_s, 1) = s * K_Y(y, CARRIED + 1);
            }
            K_MULADD(z, 2, project_r, NP, NC, c, along_r);
            K_MULADD(z, 2, project_s, NP, NC, c, along_s);
        }
        K_STORE(z, 0, 1, NP, nu, NP, 0);
        K_STORE(z, 1, 1, NP, nv, NP, 0);
    }
}
