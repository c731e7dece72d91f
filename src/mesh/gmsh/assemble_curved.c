/* The nodes of a file's elements become those of the mesh, and elements face the right way.
 *
 * Gmsh's nodes are equidistant; the polynomial through them is evaluated at the nodes that the mesh
 * keeps, by one matrix for all elements of a shape and order. Elements of a lower order than the
 * highest in the file keep their form. */
#include "mesh/gmsh/assemble.h"

#include "base/dense.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Elements whose nodes are moved together. */
#define BATCH 64

/* Nodes of a reference element coincide to this distance. */
#define SAME_NODE 1e-9

/* The node at r, of those at points [dim][np]. */
static int node_near(int dim, int np, const double *points, const double *r)
{
    for (int i = 0; i < np; i++) {
        bool same = true;
        for (int d = 0; d < dim; d++)
            same = same && fabs(points[d * np + i] - r[d]) < SAME_NODE;
        if (same) return i;
    }
    return -1;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* What moves nodes, made when a shape or order first needs it. */
typedef struct curving {
    eg_assembly *assembly;
    double *matrix[EG_SHAPE_COUNT][EG_GMSH_ORDER_MAX + 1]; /* see interpolation; owned */
    double *X, *x; /* [nodes][BATCH][dim] of the file and of the mesh; owned */
} curving;

/* out [to_np][np]: values at the file's nodes of that order → at the mesh's nodes to_r
 * [dim][to_np]. */
static eg_status interpolation(eg_context *ctx, eg_shape shape, int order, int to_np,
                               const double *to_r, double *out)
{
    eg_status status = EG_OK;
    const int dim = eg_shape_get_info(shape)->dim;
    eg_element *from = NULL;
    double *values = NULL;
    int8_t(*lattice)[3] = NULL;
    EG_TRY(eg_new(ctx, EG_GMSH_NODES_MAX, &lattice));
    EG_TRY(eg_element_create_bare(ctx, shape, order, EG_BASIS_EQUIDISTANT, &from));
    size_t np = (size_t)eg_gmsh_nodes(shape, order, lattice);
    EG_TRY(eg_new(ctx, (size_t)to_np * np, &values));
    EG_TRY(eg_element_evaluate(from, to_np, to_r, values));
    assert(np == (size_t)from->np);
    int same[EG_GMSH_NODES_MAX]; /* the mesh's node that each is, -1: none */
    for (size_t k = 0; k < np; k++) {
        double r[3];
        for (int d = 0; d < dim; d++)
            r[d] = -1.0 + 2.0 * lattice[k][d] / order;
        int column = node_near(dim, from->np, from->r, r);
        assert(column >= 0);
        same[k] = node_near(dim, to_np, to_r, r);
        for (size_t i = 0; i < (size_t)to_np; i++)
            out[i * np + k] = values[i * np + (size_t)column];
    }
    /* Where a node is one of the file's, it is that to the last bit. */
    for (size_t k = 0; k < np; k++) {
        if (same[k] < 0) continue;
        memset(&out[(size_t)same[k] * np], 0, np * sizeof *out);
        out[(size_t)same[k] * np + k] = 1.0;
    }
done:
    eg_release(ctx, &values);
    eg_element_destroy(&from);
    eg_release(ctx, &lattice);
    return status;
}

/* Makes ready for a block. */
static eg_status prepare(curving *c, const eg_gmsh_block *block)
{
    eg_status status = EG_OK;
    const eg_assembly *a = c->assembly;
    const eg_shape s = block->shape;
    const int np = eg_mode_count(s, a->order);
    double **r = &a->mesh->reference[s], **matrix = &c->matrix[s][block->order];
    eg_element *element = NULL;
    if (!*r) {
        EG_TRY(eg_new(a->ctx, (size_t)(np * a->dim), r));
        EG_TRY(eg_element_create_bare(a->ctx, s, a->order, EG_BASIS_LOBATTO, &element));
        memcpy(*r, element->r, (size_t)(np * a->dim) * sizeof **r);
    }
    if (!*matrix) {
        EG_TRY(eg_new(a->ctx, (size_t)np * (size_t)block->np, matrix));
        EG_TRY(interpolation(a->ctx, s, block->order, np, *r, *matrix));
    }
done:
    eg_element_destroy(&element);
    return status;
}

/* The nodes of elements first … first + count - 1 of the mesh, which are those of the block from
 * `place` on. */
static void move_nodes(const curving *c, const eg_gmsh_block *block, int64_t place, int32_t first,
                       int count)
{
    const eg_assembly *a = c->assembly;
    eg_mesh *mesh = a->mesh;
    const int np = eg_mode_count(block->shape, mesh->order);
    size_t dim = (size_t)a->dim, row = BATCH * dim, stride = (size_t)mesh->node_stride * dim;
    for (int k = 0; k < count; k++) {
        const int32_t *nodes = &block->nodes[(place + k) * block->np];
        for (int i = 0; i < block->np; i++)
            eg_assembly_coordinates(a, eg_assembly_node(a, nodes[i]),
                                    &c->X[(size_t)i * row + (size_t)k * dim]);
    }
    eg_dense_multiply(np, block->np, (int)row, c->matrix[block->shape][block->order], c->X, c->x);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < np; i++)
            memcpy(&mesh->nodes[(size_t)(first + k) * stride + (size_t)i * dim],
                   &c->x[(size_t)i * row + (size_t)k * dim], dim * sizeof *c->x);
    }
}

eg_status eg_assembly_curve(eg_assembly *a)
{
    eg_status status = EG_OK;
    curving c = {.assembly = a};
    size_t room = (size_t)a->mesh->node_stride * BATCH * (size_t)a->dim;
    int32_t first = 0;
    EG_TRY(eg_new(a->ctx, room, &c.X));
    EG_TRY(eg_new(a->ctx, room, &c.x));
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        if (!eg_assembly_fills(a, block)) continue;
        EG_TRY(prepare(&c, block));
        for (int64_t i = 0; i < block->count; i += BATCH) {
            int count = block->count - i < BATCH ? (int)(block->count - i) : BATCH;
            move_nodes(&c, block, i, first + (int32_t)i, count);
        }
        first += (int32_t)block->count;
    }
done:
    for (int i = 0; i < EG_SHAPE_COUNT * (EG_GMSH_ORDER_MAX + 1); i++)
        eg_release(a->ctx, &c.matrix[i / (EG_GMSH_ORDER_MAX + 1)][i % (EG_GMSH_ORDER_MAX + 1)]);
    eg_release(a->ctx, &c.x);
    eg_release(a->ctx, &c.X);
    return status;
}

/* --- orientation ------------------------------------------------------------------------------ */

/* Elements that are neither the right way round nor inside out, and the first of them. */
typedef struct misshapen {
    int32_t count, element;
    int least, most; /* its vertices with these determinants */
    double least_determinant, most_determinant;
    bool tangled; /* or flat */
} misshapen;

/* What turns elements of a shape over: the coordinates r and s change places. */
typedef struct turning {
    eg_assembly *assembly;
    const eg_shape_info *info;
    int np;        /* nodes of a curved element, 0: straight */
    int *node;     /* [np] which node each becomes; owned */
    double *nodes; /* [np][dim] of one element; owned */
    int32_t turned;
    misshapen *bad; /* not owned */
} turning;

static const uint8_t turned_vertices[EG_SHAPE_COUNT][EG_MAX_VERTICES] = {
    [EG_SHAPE_TRI] = {0, 2, 1},
    [EG_SHAPE_QUAD] = {0, 3, 2, 1},
    [EG_SHAPE_TET] = {0, 2, 1, 3},
    [EG_SHAPE_HEX] = {0, 3, 2, 1, 4, 7, 6, 5},
};

static eg_status turning_create(eg_assembly *a, eg_shape shape, turning *t)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = a->mesh;
    *t = (turning){.assembly = a, .info = eg_shape_get_info(shape)};
    if (!mesh->nodes) return EG_OK;
    const double *points = mesh->reference[shape];
    t->np = eg_mode_count(shape, mesh->order);
    EG_TRY(eg_new(a->ctx, (size_t)t->np, &t->node));
    EG_TRY(eg_new(a->ctx, (size_t)(t->np * a->dim), &t->nodes));
    for (int i = 0; i < t->np; i++) {
        double r[3];
        for (int d = 0; d < a->dim; d++)
            r[d] = points[(d < 2 ? 1 - d : d) * t->np + i];
        t->node[i] = node_near(a->dim, t->np, points, r);
        assert(t->node[i] >= 0);
    }
done:
    return status;
}

static void turn_over(turning *t, int32_t element)
{
    eg_mesh *mesh = t->assembly->mesh;
    size_t dim = (size_t)mesh->dim;
    int32_t old[EG_MAX_VERTICES], *v = &mesh->vertices[(int64_t)element * mesh->vertex_stride];
    memcpy(old, v, (size_t)t->info->vertices * sizeof *v);
    for (int i = 0; i < t->info->vertices; i++)
        v[i] = old[turned_vertices[mesh->shape[element]][i]];
    t->turned++;
    if (!mesh->nodes) return;
    double *x = &mesh->nodes[(size_t)element * (size_t)mesh->node_stride * dim];
    memcpy(t->nodes, x, (size_t)t->np * dim * sizeof *x);
    for (int i = 0; i < t->np; i++)
        memcpy(&x[(size_t)i * dim], &t->nodes[(size_t)t->node[i] * dim], dim * sizeof *x);
}

/* Judges an element by the determinants at its vertices. */
static eg_status turn_if_inverted(void *user, int32_t element, const double *det, double rounding)
{
    turning *t = user;
    misshapen *bad = t->bad;
    int positive = 0, negative = 0, least = 0, most = 0;
    for (int i = 0; i < t->info->vertices; i++) {
        positive += det[i] > rounding;
        negative += det[i] < -rounding;
        if (det[i] < det[least]) least = i;
        if (det[i] > det[most]) most = i;
    }
    if (positive == t->info->vertices) return EG_OK;
    if (negative == t->info->vertices) {
        turn_over(t, element);
        return EG_OK;
    }
    if (t->assembly->bad) t->assembly->bad[element] = true;
    if (bad->count++ == 0 || element < bad->element) {
        bad->element = element;
        bad->least = least;
        bad->most = most;
        bad->least_determinant = det[least];
        bad->most_determinant = det[most];
        bad->tangled = positive > 0 && negative > 0;
    }
    return EG_OK;
}

static eg_status refuse_misshapen(const eg_assembly *a, const misshapen *bad)
{
    const eg_mesh *mesh = a->mesh;
    const int32_t *v = &mesh->vertices[(int64_t)bad->element * mesh->vertex_stride];
    const double least = bad->least_determinant, most = bad->most_determinant;
    const bool is_least = fabs(least) < fabs(most);
    char place[2][EG_PLACE_BYTES];
    eg_mesh_place(mesh->dim, &mesh->x[(int64_t)v[bad->least] * mesh->dim], place[0]);
    eg_mesh_place(mesh->dim, &mesh->x[(int64_t)v[bad->most] * mesh->dim], place[1]);
    if (!bad->tangled)
        return eg_assembly_refuse(
            a, bad->element,
            "is flat: the Jacobian of its mapping is %.3g at its vertex %s, zero within rounding. "
            "Elements that are flat or tangled: %d",
            is_least ? least : most, is_least ? place[0] : place[1], bad->count);
    return eg_assembly_refuse(
        a, bad->element,
        "is tangled: the Jacobian of its mapping is %.3g at its vertex %s and %.3g at %s; %s. "
        "Elements that are tangled or flat: %d",
        least, place[0], most, place[1],
        mesh->nodes ? "its curved sides fold it over, which \"gmsh -optimize_ho\" may mend"
                    : "its vertices are out of order, or one lies beyond others",
        bad->count);
}

eg_status eg_assembly_orient(eg_assembly *a)
{
    eg_status status = EG_OK;
    turning t = {0};
    misshapen bad = {0};
    int32_t turned = 0;
    bool present[EG_SHAPE_COUNT];
    eg_mesh_shapes_present(a->mesh, present);
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (!present[s]) continue;
        const eg_shape_info *info = eg_shape_get_info((eg_shape)s);
        double r[3 * EG_MAX_VERTICES];
        for (int i = 0; i < a->dim * info->vertices; i++)
            r[i] = info->r[i % info->vertices][i / info->vertices];
        EG_TRY(turning_create(a, (eg_shape)s, &t));
        t.bad = &bad;
        EG_TRY(
            eg_mesh_visit_jacobians(a->mesh, (eg_shape)s, info->vertices, r, turn_if_inverted, &t));
        turned += t.turned;
        eg_release(a->ctx, &t.nodes);
        eg_release(a->ctx, &t.node);
    }
    if (bad.count > 0) EG_TRY(eg_assembly_excuse(a, refuse_misshapen(a, &bad)));
    if (turned > 0)
        EG_TRY(eg_assembly_say(a, EG_LOG_WARNING,
                               "%d of %d elements were inside out and turned over", turned,
                               a->mesh->element_count));
done:
    eg_release(a->ctx, &t.nodes);
    eg_release(a->ctx, &t.node);
    return status;
}
