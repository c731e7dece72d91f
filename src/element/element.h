/* The door of room `element`: reference elements, their polynomial bases, matrices and cubature.
 *
 * Shapes and their reference coordinates (r, s, t):
 *   line           -1 ≤ r ≤ 1
 *   triangle       (-1,-1) (1,-1) (-1,1)
 *   quadrilateral  [-1,1]², vertices counter-clockwise from (-1,-1)
 *   tetrahedron    (-1,-1,-1) (1,-1,-1) (-1,1,-1) (-1,-1,1)
 *   hexahedron     [-1,1]³, the quadrilateral at t = -1, then at t = 1
 *
 * All matrices are dense, row by row. Points are stored by coordinate: [dim][count]. Nodes and
 * modes of tensor elements are numbered with r fastest: i + n*(j + n*k). Nodes of simplices, too:
 * i ≤ N - j - k, then j, then k grow. Modes of simplices are numbered by degree, so that those of a
 * lower degree come first: mode (i, j) of a triangle is m (m + 1)/2 + j with m = i + j; mode
 * (i, j, k) of a tetrahedron is n (n + 1) (n + 2)/6 + m (m + 1)/2 + j with n = m + k. */
#ifndef EG_ELEMENT_H
#define EG_ELEMENT_H

#include "base/base.h"
#include "element/mirror.h"

/* --- shapes ----------------------------------------------------------------------------------- */

typedef enum eg_shape {
    EG_SHAPE_LINE,
    EG_SHAPE_TRI,
    EG_SHAPE_QUAD,
    EG_SHAPE_TET,
    EG_SHAPE_HEX
} eg_shape;
#define EG_SHAPE_COUNT 5
#define EG_MAX_FACES 6
#define EG_MAX_VERTICES 8
#define EG_MAX_FACE_VERTICES 4

typedef struct eg_shape_info {
    const char *name; /* "line", "triangle", "quadrilateral", "tetrahedron", "hexahedron" */
    int dim;
    int vertices;
    int faces;
    int face_vertices; /* of each face */
    eg_shape
        face_shape; /* of all faces; of a line, whose faces are points: EG_SHAPE_LINE, unused */
    bool tensor;    /* line, quadrilateral, hexahedron */
    double volume;  /* of the reference element */
    double r[EG_MAX_VERTICES][3];
    /* The vertices of each face in the order of the vertices of the face's own shape. Seen from
     * outside they run counter-clockwise (2D: the element lies to the left of the edge). */
    int8_t face[EG_MAX_FACES][EG_MAX_FACE_VERTICES];
} eg_shape_info;

const eg_shape_info *eg_shape_get_info(eg_shape shape);

/* Lines, quadrilaterals and hexahedra: the direction that a face crosses, and whether it is where that
 * coordinate is 1. */
int eg_shape_face_direction(eg_shape shape, int face, bool *high);
/* The reverse. */
int eg_shape_face_at(eg_shape shape, int direction, bool high);

/* Points of a face in the element: s [dim-1][count] in the face's own coordinates becomes
 * r [dim][count]. */
void eg_shape_face_points(eg_shape shape, int face, int count, const double *s, double *r);

/* How two elements see one face. My face's vertex i is the neighbour's face's vertex
 * eg_orientation_vertex(n, o, i): (o + i) mod n for o < n, else (o - n - i) mod n, with n vertices
 * a face. Lines have orientations 0 and 1 (reversed), triangles 6, quadrilaterals 8. */
int eg_orientation_count(eg_shape face_shape);
int eg_orientation_vertex(int face_vertices, int orientation, int vertex);
/* Where my points s lie in the neighbour's face coordinates: [dim-1][count]. */
void eg_orientation_points(eg_shape face_shape, int orientation, int count, const double *s,
                           double *neighbour_s);

/* --- one dimension ---------------------------------------------------------------------------- */

/* Nodes x[n] in ascending order and weights w[n] (may be NULL) on [-1,1]. */
eg_status eg_gauss_legendre(eg_context *ctx, int n, double *x, double *w); /* exact to 2n - 1 */
eg_status eg_gauss_lobatto(eg_context *ctx, int n, double *x, double *w);  /* 2n - 3; n ≥ 2 */
eg_status eg_gauss_radau(eg_context *ctx, int n, double *x, double *w);    /* 2n - 2; x[0] = -1 */
/* Weight function (1-x)^alpha (1+x)^beta. */
eg_status eg_gauss_jacobi(eg_context *ctx, int n, double alpha, double beta, double *x, double *w);
/* x_i = -cos(pi i/(n-1)), weights of Clenshaw and Curtis; n ≥ 2 */
eg_status eg_chebyshev_lobatto(eg_context *ctx, int n, double *x, double *w);

/* The orthonormal Jacobi polynomial of degree n at x, and its derivative. */
double eg_jacobi(int n, double alpha, double beta, double x);
double eg_jacobi_derivative(int n, double alpha, double beta, double x);

/* --- cubature --------------------------------------------------------------------------------- */

typedef enum eg_cubature_kind {
    EG_CUBATURE_BEST, /* tensor: Gauss; simplices: fully symmetric where known, else collapsed */
    EG_CUBATURE_COLLAPSED, /* simplices: Gauss-Jacobi in collapsed coordinates, any degree */
    EG_CUBATURE_LOBATTO    /* tensor: Gauss-Lobatto */
} eg_cubature_kind;

typedef struct eg_cubature {
    eg_context *ctx; /* not owned */
    eg_shape shape;
    int degree; /* polynomials of this degree are integrated exactly (tensor: in each coordinate) */
    int count;
    double *r;      /* [dim][count], all inside, owned */
    double *w;      /* [count], all positive, sum = the shape's volume, owned */
    bool symmetric; /* under the symmetries of the shape */
} eg_cubature;

eg_status eg_cubature_create(eg_context *ctx, eg_shape shape, int degree, eg_cubature_kind kind,
                             eg_cubature **out);
void eg_cubature_destroy(eg_cubature **cubature);

/* --- elements --------------------------------------------------------------------------------- */

/* The basis in which values of an element are given. */
typedef enum eg_basis {
    EG_BASIS_LOBATTO,     /* Lagrange; tensor: Gauss-Lobatto nodes; simplices: warp & blend */
    EG_BASIS_GAUSS,       /* Lagrange at Gauss-Legendre nodes; tensor shapes only */
    EG_BASIS_RADAU,       /* Lagrange at Gauss-Radau nodes, -1 included; tensor shapes only */
    EG_BASIS_CHEBYSHEV,   /* Lagrange at Chebyshev-Lobatto nodes; tensor shapes only */
    EG_BASIS_EQUIDISTANT, /* Lagrange at equidistant nodes */
    EG_BASIS_MODAL,       /* orthonormal: Legendre products; Dubiner/Koornwinder on simplices */
    EG_BASIS_CELLS /* (degree + 1)^dim equal cells, each with a constant; tensor shapes only */
} eg_basis;
#define EG_BASIS_COUNT 7

const char *eg_basis_name(eg_basis basis); /* "lobatto", … */

#define EG_DEGREE_MAX 10      /* of simplices and hexahedra */
#define EG_DEGREE_MAX_QUAD 15 /* of lines and quadrilaterals */
/* Values per element: at most those of the hexahedron of the highest degree. */
#define EG_NP_MAX ((EG_DEGREE_MAX + 1) * (EG_DEGREE_MAX + 1) * (EG_DEGREE_MAX + 1))

/* How many modes, or nodes, an element has: polynomials of degree at most `degree`, in all
 * coordinates together on simplices, in each on tensor shapes. */
int eg_mode_count(eg_shape shape, int degree);

/* Owned by whoever created it; every array is owned by the element. */
typedef struct eg_element eg_element;
struct eg_element {
    eg_context *ctx; /* not owned */
    eg_shape shape;
    eg_basis basis;
    int dim, degree;
    int np;               /* values per element; degree 0 has one (its node is the centre) */
    double *r;            /* [dim][np] nodes, centres of cells; modal: NULL */
    double *V;            /* [np][np] orthonormal mode j at node i, its mean on cell i; modal:
                             identity */
    double *V_inverse;    /* [np][np] */
    double *mass;         /* [np][np] ∫ φ_i φ_j */
    double *mass_inverse; /* [np][np] */
    double *D;       /* [dim][np][np] values → values of the derivative along r, s, t; cells: 0,
                             the derivative inside of them */
    double *weights; /* [np] ∫ φ_i; with Gauss and Lobatto nodes their quadrature; modal: too */
    int faces;
    int face_np;         /* points on each face */
    double *face_r;      /* [dim-1][face_np] points in face coordinates, the same on all faces; NULL
                             for a line */
    int *face_node;      /* [faces][face_np] the node that each point is; NULL: not all are nodes */
    double *face_interp; /* [faces][face_np][np] values at the points of the faces */
    double *lift; /* [np][faces][face_np] mass⁻¹ ∫_face φ_i l_j, l_j Lagrange on the face; the
                             integral is over the face's own reference shape */
    eg_element *face; /* of the face: its nodes are face_r; NULL for a line. Basis: the element's;
                             modal ones have Gauss points on lines and quadrilaterals, warp & blend
                             on triangles. Radau has Lobatto on its faces. The nodes on faces of a
                             warp & blend tetrahedron are not those of a triangle of that degree,
                             but have the tetrahedron's parameter. Owned */
    eg_element *line; /* tensor shapes but the line: the element in 1D, whose matrices are the
                             factors; NULL else. Owned */
};

eg_status eg_element_create(eg_context *ctx, eg_shape shape, int degree, eg_basis basis,
                            eg_element **out);
/* The same for who asks only where nodes are and what the basis is at points: quadrilaterals and
 * hexahedra have none of the matrices above, which take long and much memory at high degrees: V …
 * weights, face_interp and lift are NULL. */
eg_status eg_element_create_bare(eg_context *ctx, eg_shape shape, int degree, eg_basis basis,
                                 eg_element **out);
void eg_element_destroy(eg_element **element);

/* Values of the basis at points [dim][count]: out [count][np]. Where cells meet the upper one
 * counts. */
eg_status eg_element_evaluate(const eg_element *element, int count, const double *points,
                              double *out);
/* Derivatives of the basis at points: out [dim][count][np]. */
eg_status eg_element_differentiate(const eg_element *element, int count, const double *points,
                                   double *out);
/* Both at one point r [dim]: values [np], gradient [dim][np]. Allocates nothing. */
void eg_element_at(const eg_element *element, const double *r, double *values, double *gradient);
/* The L2 projection from the points of a cubature: out [np][count] = mass⁻¹ Iᵀ W. That of cells has
 * points in each of them, by which it is exact there. */
eg_status eg_element_project(const eg_element *element, const eg_cubature *cubature, double *out);
/* The L2 projection from one element's values to another's of the same shape, exact from
 * polynomials to polynomials where the degree does not fall: out [to->np][from->np]. Cells become
 * the polynomial that is nearest to the constants; values of cells are means. */
eg_status eg_element_transfer(const eg_element *from, const eg_element *to, double *out);

#endif
