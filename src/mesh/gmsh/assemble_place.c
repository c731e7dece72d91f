/* Where a file's nodes lie in the mesh: the plane of two-dimensional meshes, nodes that become one,
 * and the numbers of vertices. Everything takes linear time. */
#include "mesh/gmsh/assemble.h"
#include "mesh/gmsh/near.h"

#include <math.h>
#include <string.h>

/* Parts of the mesh's size. Coordinates of a plane may come from single precision; what lies
 * farther off than BENT was not meant to be one. */
#define FLAT_TOLERANCE 1e-7
#define BENT 1e-2

#define COORDINATE_MAX 1e100 /* so that products of three of them are finite */

static const double *node_at(const eg_assembly *a, int32_t node)
{
    return &a->file->x[3 * (int64_t)node];
}

void eg_assembly_coordinates(const eg_assembly *a, int32_t node, double *x)
{
    const double *at = node_at(a, node);
    for (int d = 0; d < a->dim; d++)
        x[d] = a->axis[d][0] * at[0] + a->axis[d][1] * at[1] + a->axis[d][2] * at[2];
}

/* Marks the nodes of elements and measures the box around them. */
static eg_status measure(eg_assembly *a, double low[3], double high[3])
{
    const eg_gmsh_file *file = a->file;
    for (int32_t n = 0; n < file->node_count; n++)
        a->vertex[n] = EG_NODE_UNUSED;
    for (int b = 0; b < file->block_count; b++) {
        const eg_gmsh_block *block = &file->blocks[b];
        if (!eg_assembly_fills(a, block)) continue;
        for (int64_t i = 0; i < block->count * block->np; i++)
            a->vertex[block->nodes[i]] = EG_NODE_USED;
    }
    for (int d = 0; d < 3; d++) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
    }
    for (int32_t n = 0; n < file->node_count; n++) {
        const double *x = node_at(a, n);
        if (a->vertex[n] == EG_NODE_UNUSED) continue;
        for (int d = 0; d < 3; d++) {
            if (!(fabs(x[d]) <= COORDINATE_MAX))
                return eg_fail(a->ctx, EG_ERROR_INPUT,
                               "coordinate %c of node %lld is %g; coordinates may be as large as "
                               "%g",
                               "xyz"[d], (long long)a -> file -> node_tag[n], x[d], COORDINATE_MAX);
            low[d] = fmin(low[d], x[d]);
            high[d] = fmax(high[d], x[d]);
            a->reach = fmax(a->reach, fabs(x[d]));
        }
    }
    a->size = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    return EG_OK;
}

/* --- planes ----------------------------------------------------------------------------------- */

static double dot(const double *u, const double *v)
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static void cross(const double *u, const double *v, double *w)
{
    for (int d = 0; d < 3; d++)
        w[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
}

/* Makes v a unit vector; it stays as it is if it is zero. */
static void normalise(double *v)
{
    double length = sqrt(dot(v, v));
    for (int d = 0; d < 3 && length > 0.0; d++)
        v[d] /= length;
}

/* The vector from one node to another, as a part of the mesh's size. */
static void between(const eg_assembly *a, int32_t from, int32_t to, double *v)
{
    for (int d = 0; d < 3; d++)
        v[d] = (node_at(a, to)[d] - node_at(a, from)[d]) / a->size;
}

/* The node in use that lies farthest from the first one, across the unit vector `along` if there is
 * one; *v is the way to it. */
static void farthest(const eg_assembly *a, int32_t first, const double *along, double *v)
{
    double most = -1.0;
    for (int32_t n = first; n < a->file->node_count; n++) {
        double w[3];
        if (a->vertex[n] == EG_NODE_UNUSED) continue;
        between(a, first, n, w);
        double part = along ? dot(w, along) : 0.0;
        for (int d = 0; d < 3 && along; d++)
            w[d] -= part * along[d];
        if (dot(w, w) <= most) continue;
        most = dot(w, w);
        memcpy(v, w, sizeof w);
    }
}

/* The mean of the elements' normals, all turned to one side, and of the nodes in use. */
static void mean_plane(const eg_assembly *a, double *normal, double *centre)
{
    int32_t count = 0;
    memset(normal, 0, 3 * sizeof *normal);
    memset(centre, 0, 3 * sizeof *centre);
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        for (int64_t i = 0; eg_assembly_fills(a, block) && i < block->count; i++) {
            const int32_t *nodes = &block->nodes[i * block->np];
            double u[3], v[3], w[3];
            between(a, nodes[0], nodes[1], u);
            between(a, nodes[0], nodes[2], v);
            cross(u, v, w);
            const double sign = dot(w, normal) < 0.0 ? -1.0 : 1.0;
            for (int d = 0; d < 3; d++)
                normal[d] += sign * w[d];
        }
    }
    normalise(normal);
    for (int32_t n = 0; n < a->file->node_count; n++) {
        if (a->vertex[n] == EG_NODE_UNUSED) continue;
        count++;
        for (int d = 0; d < 3; d++)
            centre[d] += (node_at(a, n)[d] - centre[d]) / count;
    }
}

/* Names the node of a mesh that is not flat that lies farthest from its mean plane. */
static eg_status refuse_plane(const eg_assembly *a, double tolerance)
{
    double normal[3], centre[3], most = -1.0;
    int32_t worst = 0;
    mean_plane(a, normal, centre);
    for (int32_t n = 0; n < a->file->node_count; n++) {
        double w[3];
        if (a->vertex[n] == EG_NODE_UNUSED) continue;
        for (int d = 0; d < 3; d++)
            w[d] = node_at(a, n)[d] - centre[d];
        if (fabs(dot(w, normal)) <= most) continue;
        most = fabs(dot(w, normal));
        worst = n;
    }
    char place[EG_PLACE_BYTES];
    return eg_fail(a->ctx, EG_ERROR_INPUT,
                   "the elements are two-dimensional, but the mesh is not flat: node %lld at %s "
                   "lies %.3g off the mean plane, where %.3g is allowed%s",
                   (long long)a->file->node_tag[worst], eg_mesh_place(3, node_at(a, worst), place),
                   most, tolerance,
                   most > BENT * a->size ? ". The surface of a solid? Mesh it with \"gmsh -3\" and "
                                           "give it a Physical Volume"
                                         : "");
}

/* The axes of a mesh in a plane that is parallel to no two coordinate axes: the coordinate axis
 * that is nearest to the plane, seen in it, and the one that is perpendicular to it and to the
 * normal, whose largest component is positive. */
static eg_status find_plane(eg_assembly *a)
{
    eg_status status = EG_OK;
    const double tolerance = FLAT_TOLERANCE * a->size + EG_ROUNDING * a->reach;
    double u[3] = {0}, v[3] = {0}, normal[3];
    int32_t first = 0;
    while (a->vertex[first] == EG_NODE_UNUSED)
        first++;
    farthest(a, first, NULL, u);
    normalise(u);
    farthest(a, first, u, v);
    normalise(v);
    cross(u, v, normal);
    int least = 0, most = 0;
    for (int d = 1; d < 3; d++) {
        if (fabs(normal[d]) < fabs(normal[least])) least = d;
        if (fabs(normal[d]) > fabs(normal[most])) most = d;
    }
    const double sign = normal[most] < 0.0 ? -1.0 : 1.0;
    for (int d = 0; d < 3; d++)
        normal[d] *= sign;
    for (int32_t n = first; n < a->file->node_count; n++) {
        double w[3];
        if (a->vertex[n] == EG_NODE_UNUSED) continue;
        between(a, first, n, w);
        if (fabs(dot(w, normal)) * a->size > tolerance) return refuse_plane(a, tolerance);
    }
    for (int d = 0; d < 3; d++)
        a->axis[0][d] = (d == least ? 1.0 : 0.0) - normal[least] * normal[d];
    normalise(a->axis[0]);
    cross(normal, a->axis[0], a->axis[1]);
    for (int i = 0; i < 6; i++) {
        double *component = &a->axis[i / 3][i % 3];
        if (fabs(*component) < EG_ROUNDING) *component = 0.0;
    }
    char along[2][EG_PLACE_BYTES];
    EG_TRY(eg_assembly_say(
        a, EG_LOG_WARNING,
        "the mesh lies in an oblique plane: its coordinates x and y are along %s and %s of the "
        "file's",
        eg_mesh_place(3, a->axis[0], along[0]), eg_mesh_place(3, a->axis[1], along[1])));
done:
    return status;
}

/* The mesh's axes among the file's. */
static eg_status find_axes(eg_assembly *a, const double low[3], const double high[3])
{
    static const int kept[3][2] = {{1, 2}, {0, 2}, {0, 1}};
    const double tolerance = FLAT_TOLERANCE * a->size + EG_ROUNDING * a->reach;
    memset(a->axis, 0, sizeof a->axis);
    if (a->dim == 3) {
        for (int d = 0; d < 3; d++)
            a->axis[d][d] = 1.0;
        return EG_OK;
    }
    for (int dropped = 2; dropped >= 0; dropped--) {
        if (high[dropped] - low[dropped] > tolerance) continue;
        for (int d = 0; d < 2; d++)
            a->axis[d][kept[dropped][d]] = 1.0;
        if (dropped == 2) return EG_OK;
        return eg_assembly_say(
            a, EG_LOG_WARNING,
            "the mesh lies in a plane of constant %c: its coordinates x and y are the file's %c "
            "and %c",
            "xyz"[dropped], "xyz"[kept[dropped][0]], "xyz"[kept[dropped][1]]);
    }
    return find_plane(a);
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Nodes of elements become the first one near them. Then nodes of faces alone may be theirs. */
static eg_status merge(eg_assembly *a, const double low[3])
{
    eg_status status = EG_OK;
    const eg_gmsh_file *file = a->file;
    eg_near near = {0};
    int32_t count = 0;
    const double tolerance = eg_assembly_same_place(a);
    EG_TRY(eg_new(a->ctx, (size_t)file->node_count, &a->merged));
    EG_TRY(eg_near_create(a->ctx, 3, file->node_count, file->x, low, tolerance, &near));
    for (int unused = 0; unused < 2; unused++) {
        for (int32_t n = 0; n < file->node_count; n++) {
            if ((a->vertex[n] == EG_NODE_UNUSED) != unused) continue;
            int32_t other = eg_near_find(&near, n);
            a->merged[n] = other < 0 ? n : other;
            if (other < 0 && !unused) eg_near_add(&near, n);
            count += other >= 0;
        }
    }
    EG_TRY(eg_assembly_say(a, EG_LOG_INFO, "nodes that were merged with others within %.3g: %d",
                           tolerance, count));
done:
    eg_near_free(&near);
    return status;
}

/* Vertices are numbered as elements use them. */
static int32_t number_vertices(eg_assembly *a)
{
    int32_t count = 0;
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        const eg_shape_info *info = eg_shape_get_info(block->shape);
        if (!eg_assembly_fills(a, block)) continue;
        for (int64_t i = 0; i < block->count; i++) {
            for (int v = 0; v < info->vertices; v++) {
                int32_t *number = &a->vertex[eg_assembly_node(a, block->nodes[i * block->np + v])];
                if (*number < 0) *number = count++;
            }
        }
    }
    return count;
}

eg_status eg_assembly_place(eg_assembly *a, int32_t *vertex_count)
{
    eg_status status = EG_OK;
    double low[3], high[3];
    int32_t unused = 0;
    EG_TRY(eg_new(a->ctx, (size_t)a->file->node_count, &a->vertex));
    EG_TRY(measure(a, low, high));
    EG_TRY(find_axes(a, low, high));
    if (a->options.merge_nodes) EG_TRY(merge(a, low));
    for (int32_t n = 0; n < a->file->node_count; n++)
        unused += a->vertex[n] == EG_NODE_UNUSED && eg_assembly_node(a, n) == n;
    if (unused > 0)
        EG_TRY(eg_assembly_say(a, EG_LOG_INFO,
                               "nodes that belong to no element and were dropped: %d", unused));
    *vertex_count = number_vertices(a);
done:
    return status;
}
