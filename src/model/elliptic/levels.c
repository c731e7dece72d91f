/* p-multigrid [karakus2018, section 3]: one space, operator and smoother for each degree, on the same
 * tiles of elements.
 *
 * Functions of a lower degree have the energy that they have as functions of degree N, but for
 * their jumps: with the penalty of degree N, as Galerkin's method has it, jumps are stiffer than what
 * the lower degree must control, with that of the lower degree they are softer than on the level
 * above. The mean of the two takes the fewest iterations. */
#include "model/elliptic/levels.h"

#include "base/dense.h"
#include "model/elliptic/blocks.h"
#include "model/elliptic/coarse.h"
#include "model/elliptic/degrees.h"
#include "model/elliptic/parts.h"

#include <float.h>
#include <math.h>

enum { LANCZOS_STEPS = 15, LEVELS_MOST = EG_DEGREE_MAX_QUAD };
/* Of smoothing, where the mesh is to say. */
enum { DEGREE_LEAST = 3, DEGREE_MOST = EG_CHEBYSHEV_DEGREE_MOST };

typedef struct level {
    int degree;
    eg_space *space; /* owned but for the first level's, which is the operator's … */
    eg_elliptic *op; /* … as this is if it has the right precision */
    eg_vectors *vectors;
    eg_blocks *blocks;
    eg_chebyshev *smoother; /* NULL: AMG smooths */
    eg_degrees *next;       /* the way to the level below; NULL: there is none */
} level;

struct eg_levels {
    eg_elliptic *op; /* not owned */
    eg_levels_options options;
    int count;
    level levels[LEVELS_MOST];
    eg_elliptic_coarse *coarse; /* of the last level */
    eg_multigrid *multigrid;
};

/* How stretched an element is: the largest over the least principal axis of its vertices, 1 if it is
 * equilateral. */
static eg_status find_stretching(const eg_mesh *mesh, int32_t element, double *out)
{
    const int dim = mesh->dim;
    const int count = eg_shape_get_info((eg_shape)mesh->shape[element])->vertices;
    const int32_t *vertices = &mesh->vertices[(size_t)element * (size_t)mesh->vertex_stride];
    double centre[3] = {0}, axes[9] = {0}, squares[3];
    for (int v = 0; v < count; v++)
        for (int d = 0; d < dim; d++)
            centre[d] += mesh->x[vertices[v] * dim + d] / count;
    for (int v = 0; v < count; v++)
        for (int d = 0; d < dim; d++)
            for (int c = 0; c < dim; c++)
                axes[d * dim + c] += (mesh->x[vertices[v] * dim + d] - centre[d]) *
                                     (mesh->x[vertices[v] * dim + c] - centre[c]);
    eg_status status = EG_OK;
    if (dim == 2) { /* many, so without a library */
        const double half = 0.5 * (axes[0] + axes[3]);
        const double rest = hypot(0.5 * (axes[0] - axes[3]), axes[1]);
        squares[0] = half - rest, squares[1] = half + rest;
    } else {
        status = eg_dense_eigen_symmetric(mesh->ctx, dim, axes, squares, NULL);
    }
    /* Of needles the least is rounding. */
    if (status == EG_OK)
        *out = sqrt(squares[dim - 1] / fmax(squares[0], DBL_EPSILON * squares[dim - 1]));
    return status;
}

/* The degree of smoothing if none is asked for. What is weakly coupled across stretched elements is
 * damped by as many more steps as they are longer than high. */
static eg_status choose_degree(eg_levels *l)
{
    const eg_mesh *mesh = l->op->space->mesh;
    eg_chebyshev_options *o = &l->options.chebyshev;
    double sums[2] = {0, (double)mesh->element_count};
    eg_status status = EG_OK;
    for (int32_t e = 0; status == EG_OK && e < mesh->element_count; e++) {
        double stretching = 1;
        status = find_stretching(mesh, e, &stretching);
        sums[0] += stretching * stretching;
    }
    EG_TRY(eg_comm_agree(l->op->space->comm, status));
    EG_TRY(eg_comm_sum(l->op->space->comm, 2, sums));
    const double steps = 0.5 * sqrt(sums[0] / sums[1]);
    o->degree = steps < DEGREE_LEAST  ? DEGREE_LEAST
                : steps > DEGREE_MOST ? DEGREE_MOST
                                      : (int)(steps + 0.5);
    if (o->kind == EG_CHEBYSHEV_OPTIMAL && o->degree > EG_CHEBYSHEV_OPTIMAL_MOST)
        o->kind = EG_CHEBYSHEV_FOURTH;
done:
    return status;
}

static int lower_degree(const eg_levels *l, int degree)
{
    return l->options.coarsening == EG_LEVELS_HALVE ? degree / 2 : degree - 1;
}

/* What a lower degree's own penalty is multiplied with. */
static double penalty_ratio(const eg_levels *l, int degree)
{
    const eg_element *element = l->op->element;
    const int N = element->degree, d = element->dim;
    const double fine = eg_shape_get_info(element->shape)->tensor
                            ? (double)((N + 1) * (N + 1)) / ((degree + 1) * (degree + 1))
                            : (double)((N + 1) * (N + d)) / ((degree + 1) * (degree + d));
    switch (l->options.penalty) {
    case EG_LEVELS_PENALTY_FINE:
        return fine;
    case EG_LEVELS_PENALTY_OWN:
        return 1;
    default:
        return sqrt(fine);
    }
}

static eg_status make_operator(eg_levels *l, level *v)
{
    eg_space *fine = l->op->space;
    eg_elliptic_options options = l->op->options;
    eg_status status = EG_OK;
    if (v == l->levels) {
        v->space = fine;
    } else {
        EG_TRY(eg_space_create(fine->device, fine->comm, fine->mesh,
                               &(eg_space_options){.basis = fine->basis,
                                                   .degree = v->degree,
                                                   .lanes = fine->groups[0].lanes,
                                                   .like = fine},
                               &v->space));
        options.penalty *= penalty_ratio(l, v->degree);
    }
    if (v == l->levels && l->op->real == l->options.real)
        v->op = l->op;
    else
        EG_TRY(eg_elliptic_create(v->space, l->options.real, &options, &v->op));
    EG_TRY(eg_vectors_create(v->space, 1, l->options.real, &v->vectors));
done:
    return status;
}

static eg_status make_smoother(eg_levels *l, level *v)
{
    const eg_linear A = eg_elliptic_linear(v->op);
    eg_chebyshev_options options = l->options.chebyshev;
    eg_spectrum spectrum;
    eg_status status = EG_OK;
    EG_TRY(eg_blocks_create(v->op, v->vectors,
                            l->options.smoother == EG_LEVELS_BLOCKS ? EG_BLOCKS_WHOLE
                                                                    : EG_BLOCKS_DIAGONAL,
                            &v->blocks));
    const eg_linear B = eg_blocks_linear(v->blocks);
    EG_TRY(eg_lanczos(v->vectors, A, &B, LANCZOS_STEPS, &spectrum));
    options.largest = spectrum.largest;
    EG_TRY(eg_chebyshev_create(v->vectors, A, &B, &options, &v->smoother));
done:
    return status;
}

static eg_status make_multigrid(eg_levels *l)
{
    const bool continuous = l->options.continuous;
    eg_multigrid_level levels[LEVELS_MOST];
    int count = 0; /* of levels that smooth */
    for (; count < l->count && l->levels[count].smoother; count++) {
        const level *v = &l->levels[count];
        levels[count] =
            (eg_multigrid_level){.vectors = v->vectors,
                                 .A = eg_elliptic_linear(v->op),
                                 .smoother = v->smoother,
                                 .transfer = v->next ? eg_degrees_transfer(v->next)
                                                     : eg_elliptic_coarse_transfer(l->coarse)};
    }
    return eg_multigrid_create(
        levels, count,
        continuous ? eg_elliptic_coarse_vectors(l->coarse) : l->levels[l->count - 1].vectors,
        continuous ? eg_elliptic_coarse_solve(l->coarse) : eg_elliptic_coarse_linear(l->coarse),
        &l->multigrid);
}

static eg_status make_levels(eg_levels *l)
{
    const eg_elliptic_coarse_options coarse = {.continuous = l->options.continuous,
                                               .amg = l->options.amg};
    eg_status status = EG_OK;
    for (int degree = l->op->element->degree; degree >= 1; degree = lower_degree(l, degree)) {
        level *v = &l->levels[l->count++];
        v->degree = degree;
        EG_TRY(make_operator(l, v));
        if (v != l->levels)
            EG_TRY(eg_degrees_create(v[-1].space, v->space, l->options.real, &v[-1].next));
        if (degree > 1 || l->options.continuous) EG_TRY(make_smoother(l, v));
    }
    EG_TRY(eg_elliptic_coarse_create(l->levels[l->count - 1].op, &coarse, &l->coarse));
    EG_TRY(make_multigrid(l));
done:
    return status;
}

eg_status eg_levels_create(eg_elliptic *op, const eg_levels_options *options, eg_levels **out)
{
    eg_comm *comm = op->space->comm;
    eg_levels *l = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(comm, op->space->ctx, 1, &l));
    *l = (eg_levels){.op = op, .options = *options};
    l->options.amg.type = options->real;
    if (options->chebyshev.degree == 0) EG_TRY(choose_degree(l));
    EG_TRY(make_levels(l));
    *out = l;
    l = NULL;
done:
    eg_levels_destroy(&l);
    return status;
}

void eg_levels_destroy(eg_levels **handle)
{
    if (!handle || !*handle) return;
    eg_levels *l = *handle;
    eg_context *ctx = l->op->space->ctx;
    eg_multigrid_destroy(&l->multigrid);
    eg_elliptic_coarse_destroy(&l->coarse);
    for (int i = l->count - 1; i >= 0; i--) {
        level *v = &l->levels[i];
        eg_degrees_destroy(&v->next);
        eg_chebyshev_destroy(&v->smoother);
        eg_blocks_destroy(&v->blocks);
        eg_vectors_destroy(&v->vectors);
        if (v->op != l->op) eg_elliptic_destroy(&v->op);
        if (v->space != l->op->space) eg_space_destroy(&v->space);
    }
    eg_release(ctx, handle);
}

eg_vectors *eg_levels_vectors(eg_levels *levels)
{
    return levels->levels[0].vectors;
}

eg_linear eg_levels_linear(eg_levels *levels)
{
    return eg_multigrid_linear(levels->multigrid);
}
