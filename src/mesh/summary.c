/* What a mesh is like: counts, extent, volume, sizes and the quality of its elements.
 *
 * The quality is the mean ratio [knupp2001]: dim det(A)^(2/dim) / ‖A‖², where A takes an
 * equilateral simplex, or a cube, to the corner of the element; the worst corner counts. It is 1
 * for the ideal shape and 0 for a flat or inverted one, and looks at vertices alone. No element is
 * better than its least Jacobian over the mean one, which is 1 for straight simplices. */
#include "mesh/jacobian.h"

#include <math.h>

typedef struct survey {
    const eg_mesh *mesh;
    eg_mesh_summary *out;
    const eg_cubature *cubature;
    eg_jacobian *jacobian[EG_SHAPE_COUNT]; /* of those whose Jacobian varies; owned */
    double *nodes;                         /* [nodes of an element][dim] owned */
    double quality_sum;
    double volume_error; /* what rounding took from the sum of volumes [kahan1965] */
    double *group_error; /* [group_count] and from that of each group; owned */
} survey;

/* The columns of A at a corner of a tensor shape are its edges along the axes. */
static double tensor_quality(const eg_shape_info *info, const double (*x)[3])
{
    double least = 1.0;
    for (int corner = 0; corner < info->vertices; corner++) {
        double A[3][3];
        eg_mesh_corner(info, corner, x, A);
        double square = 0.0;
        for (int d = 0; d < info->dim; d++) {
            for (int c = 0; c < info->dim; c++)
                square += A[d][c] * A[d][c];
        }
        double det = eg_mesh_determinant(info->dim, (const double(*)[3])A);
        double ratio = det > 0.0 ? info->dim * pow(det, 2.0 / info->dim) / square : 0.0;
        least = fmin(least, ratio);
    }
    return least;
}

/* In terms of edges: 4√3 area / Σ l² and 12 (3 volume)^(2/3) / Σ l². */
static double simplex_quality(const eg_shape_info *info, const double (*x)[3])
{
    double A[3][3], square = 0.0;
    eg_mesh_corner(info, 0, x, A);
    for (int i = 1; i < info->vertices; i++) {
        for (int j = 0; j < i; j++) {
            for (int c = 0; c < info->dim; c++)
                square += (x[i][c] - x[j][c]) * (x[i][c] - x[j][c]);
        }
    }
    double det = eg_mesh_determinant(info->dim, (const double(*)[3])A);
    if (!(det > 0.0)) return 0.0;
    return info->dim == 2 ? 2.0 * sqrt(3.0) * det / square : 12.0 * cbrt(det * det / 4.0) / square;
}

static eg_status add_quality(survey *s, int32_t element)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = s->mesh;
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    double x[EG_MAX_VERTICES][3] = {{0}};
    for (int v = 0; v < info->vertices; v++) {
        int64_t vertex = mesh->vertices[(int64_t)element * mesh->vertex_stride + v];
        for (int d = 0; d < mesh->dim; d++)
            x[v][d] = mesh->x[vertex * mesh->dim + d];
    }
    double quality = info->tensor ? tensor_quality(info, (const double(*)[3])x)
                                  : simplex_quality(info, (const double(*)[3])x);
    if (mesh->nodes || info->tensor) {
        eg_jacobian **jacobian = &s->jacobian[mesh->shape[element]];
        if (!*jacobian)
            EG_TRY(eg_jacobian_create(mesh->ctx, (eg_shape)mesh->shape[element], mesh->order,
                                      jacobian));
        eg_mesh_element_nodes(mesh, element, s->nodes);
        quality = fmin(quality, fmax(0.0, eg_jacobian_least_over_mean(*jacobian, s->nodes)));
    }
    int bin = (int)(10.0 * quality);
    s->out->quality_histogram[bin < 9 ? bin : 9]++;
    s->out->quality_least = fmin(s->out->quality_least, quality);
    s->quality_sum += quality;
done:
    return status;
}

static void add_term(double term, double *sum, double *error)
{
    term -= *error;
    const double next = *sum + term;
    *error = (next - *sum) - term;
    *sum = next;
}

static eg_status add_volume(void *user, int32_t element, const double *det, double rounding)
{
    survey *s = user;
    (void)rounding;
    double volume = 0.0;
    for (int p = 0; p < s->cubature->count; p++)
        volume += s->cubature->w[p] * det[p];
    double length = pow(fabs(volume), 1.0 / s->mesh->dim);
    add_term(volume, &s->out->volume, &s->volume_error);
    if (s->mesh->group_of) {
        const int32_t g = s->mesh->group_of[element];
        add_term(volume, &s->out->group_volume[g], &s->group_error[g]);
        s->out->group_element_count[g]++;
    }
    s->out->size_least = fmin(s->out->size_least, length);
    s->out->size_most = fmax(s->out->size_most, length);
    return EG_OK;
}

/* True if a face and that of its neighbour are not at one place: they have other vertices. */
static bool is_periodic(const eg_mesh *mesh, int32_t element, int face)
{
    const int64_t slot = (int64_t)element * mesh->face_stride + face;
    const int32_t other = mesh->neighbour[slot];
    const eg_shape_info *mine = eg_shape_get_info((eg_shape)mesh->shape[element]);
    const eg_shape_info *its = eg_shape_get_info((eg_shape)mesh->shape[other]);
    const int other_face = EG_FACE(mesh->neighbour_face[slot]);
    const int orientation = EG_ORIENTATION(mesh->neighbour_face[slot]);
    for (int i = 0; i < mine->face_vertices; i++) {
        const int j = eg_orientation_vertex(mine->face_vertices, orientation, i);
        if (mesh->vertices[(int64_t)element * mesh->vertex_stride + mine->face[face][i]] !=
            mesh->vertices[(int64_t)other * mesh->vertex_stride + its->face[other_face][j]])
            return true;
    }
    return false;
}

static void count_faces(const eg_mesh *mesh, eg_mesh_summary *out)
{
    int64_t between = 0; /* seen from both sides */
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            int32_t n = mesh->neighbour[(int64_t)e * mesh->face_stride + f];
            if (n < 0) {
                out->boundary_faces++;
                out->boundary_face_count[-1 - n]++;
                continue;
            }
            if (n >= mesh->element_count)
                out->cut_faces++;
            else
                between++;
            if (is_periodic(mesh, e, f)) out->periodic_faces++;
        }
        out->elements[mesh->shape[e]]++;
    }
    out->faces = between / 2 + out->boundary_faces + out->cut_faces;
}

static void extend(eg_mesh_summary *out, int dim, const double *x)
{
    for (int d = 0; d < dim; d++) {
        out->low[d] = fmin(out->low[d], x[d]);
        out->high[d] = fmax(out->high[d], x[d]);
    }
}

/* The box around own elements, by their vertices and nodes. */
static void find_extent(const eg_mesh *mesh, eg_mesh_summary *out)
{
    for (int d = 0; d < mesh->dim; d++) {
        out->low[d] = INFINITY;
        out->high[d] = -INFINITY;
    }
    for (int32_t e = 0; e < mesh->element_count; e++) {
        eg_shape shape = (eg_shape)mesh->shape[e];
        int vertices = eg_shape_get_info(shape)->vertices;
        for (int v = 0; v < vertices; v++) {
            int64_t vertex = mesh->vertices[(int64_t)e * mesh->vertex_stride + v];
            extend(out, mesh->dim, &mesh->x[vertex * mesh->dim]);
        }
        int nodes = mesh->nodes ? eg_mode_count(shape, mesh->order) : 0;
        for (int i = 0; i < nodes; i++)
            extend(out, mesh->dim, &mesh->nodes[((int64_t)e * mesh->node_stride + i) * mesh->dim]);
    }
}

static int64_t count_bytes(const eg_mesh *mesh)
{
    size_t bytes = eg_mesh_bytes(mesh);
    for (int l = 0; l < mesh->link_count; l++)
        bytes += sizeof *mesh->links + (size_t)mesh->links[l].send_count * sizeof(int32_t);
    return (int64_t)bytes;
}

eg_status eg_mesh_summarise(const eg_mesh *mesh, eg_mesh_summary *out)
{
    eg_status status = EG_OK;
    eg_cubature *cubature = NULL;
    survey s = {.mesh = mesh, .out = out};
    *out = (eg_mesh_summary){.size_least = INFINITY, .quality_least = 1.0};
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->boundary_count, &out->boundary_face_count));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->group_count, &out->group_element_count));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->group_count, &out->group_volume));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->group_count, &s.group_error));
    out->bytes = count_bytes(mesh);
    count_faces(mesh, out);
    find_extent(mesh, out);
    int most = mesh->nodes ? mesh->node_stride : EG_MAX_VERTICES;
    EG_TRY(eg_new(mesh->ctx, (size_t)(most * mesh->dim), &s.nodes));
    for (int32_t e = 0; e < mesh->element_count; e++)
        EG_TRY(add_quality(&s, e));
    if (mesh->element_count > 0) out->quality_mean = s.quality_sum / mesh->element_count;
    for (int shape = 0; shape < EG_SHAPE_COUNT; shape++) {
        if (out->elements[shape] == 0) continue;
        int degree = eg_mesh_jacobian_degree((eg_shape)shape, mesh->order);
        EG_TRY(eg_cubature_create(mesh->ctx, (eg_shape)shape, degree, EG_CUBATURE_BEST, &cubature));
        s.cubature = cubature;
        EG_TRY(eg_mesh_visit_jacobians(mesh, (eg_shape)shape, cubature->count, cubature->r,
                                       add_volume, &s));
        eg_cubature_destroy(&cubature);
    }
done:
    for (int shape = 0; shape < EG_SHAPE_COUNT; shape++)
        eg_jacobian_destroy(&s.jacobian[shape]);
    eg_release(mesh->ctx, &s.group_error);
    eg_release(mesh->ctx, &s.nodes);
    eg_cubature_destroy(&cubature);
    if (status != EG_OK) eg_mesh_summary_free(mesh->ctx, out);
    return status;
}

void eg_mesh_summary_free(eg_context *ctx, eg_mesh_summary *summary)
{
    eg_release(ctx, &summary->boundary_face_count);
    eg_release(ctx, &summary->group_element_count);
    eg_release(ctx, &summary->group_volume);
}
