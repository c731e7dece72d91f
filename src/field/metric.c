/* The geometry of a group's elements: Jacobians, their inverses and normals at points, and the
 * volume.
 *
 * Everything is computed on the device from the coordinates of the geometry's nodes, at set-up. The
 * element's mapping is x(r) = Σ x_j l_j(r); J = det ∂x/∂r; a face's normal is the cross product of
 * its tangents, whose length is the ratio of its measure to that of the face's reference
 * element. */
#include "field/points.h"
#include "field/space.h"

#include <string.h>

int eg_group_jacobian_degree(const eg_group *group)
{
    const eg_shape_info *info = eg_shape_get_info(group->shape);
    int q = group->geometry->degree;
    if (!group->curved) return 0;
    return info->tensor ? info->dim * q - 1 : info->dim * (q - 1);
}

/* J and its inverse at all points of all tiles: factors [tiles][1 + dim²][count][lanes]. */
static eg_status fill_volume(eg_points *points, eg_buffer **factors)
{
    const eg_group *group = points->group;
    const int64_t rows_per_point = 1 + group->element->dim * group->element->dim;
    int64_t rows = group->tiles * points->count;
    eg_kernel *kernel = NULL;
    eg_mapping_summary summary = {0};
    eg_status status = EG_OK;

    EG_TRY(eg_group_kernel(points->space, group, "field/metric.k.c", "volume_metric", &kernel));
    EG_TRY(eg_buffer_create(points->space->device, EG_F64,
                            (size_t)(rows * rows_per_point * group->lanes), factors));
    EG_TRY(eg_launch(kernel, eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("count", points->count), EG_INTEGER("n", group->geometry->np),
                     EG_BUFFER("table", points->gradient), EG_BUFFER("nodes", group->nodes),
                     EG_BUFFER("factors", *factors)));
    EG_TRY(eg_points_summarise(points, 0, group->tiles, rows_per_point * points->count, *factors,
                               &summary));
done:
    eg_kernel_destroy(&kernel);
    return status;
}

/* --- faces ------------------------------------------------------------------------------------ */

eg_status eg_group_face_slopes(const eg_group *group, int face, int count, const double *points,
                               double *slopes)
{
    const eg_element *geometry = group->geometry;
    const size_t dim = (size_t)geometry->dim, size = (size_t)count * (size_t)geometry->np;
    /* Faces are placed affinely, so r changes by as much anywhere: the face's origin, one step
     * along its first coordinate, one along its second. */
    static const double steps[2][3] = {{0, 1, 0}, {0, 0, 1}};
    double placed[3][3], *r = NULL, *gradient = NULL; /* [dim][count], [dim][count][np] */
    eg_status status = EG_OK;

    EG_TRY(eg_new(geometry->ctx, dim * (size_t)count, &r));
    EG_TRY(eg_new(geometry->ctx, dim * size, &gradient));
    eg_shape_face_points(group->shape, face, 3, &steps[0][0], &placed[0][0]);
    eg_shape_face_points(group->shape, face, count, points, r);
    EG_TRY(eg_element_differentiate(geometry, count, r, gradient));
    for (size_t a = 0; a + 1 < dim; a++)
        for (size_t i = 0; i < size; i++) {
            slopes[a * size + i] = 0;
            for (size_t d = 0; d < dim; d++)
                slopes[a * size + i] += (placed[d][a + 1] - placed[d][0]) * gradient[d * size + i];
        }
done:
    eg_release(geometry->ctx, &gradient);
    eg_release(geometry->ctx, &r);
    return status;
}

/* The geometry's functions at the points of each face, values [faces][count][np], and their
 * derivatives along the face's coordinates, slopes [faces][dim-1][count][np]. */
static eg_status face_tables(const eg_space *space, const eg_group *group, int count,
                             const double *points, double *values, double *slopes)
{
    const eg_shape_info *info = eg_shape_get_info(group->shape);
    const eg_element *geometry = group->geometry;
    const size_t dim = (size_t)info->dim, size = (size_t)count * (size_t)geometry->np;
    double *r = NULL; /* [dim][count] */
    eg_status status = EG_OK;

    EG_TRY(eg_new(space->ctx, dim * (size_t)count, &r));
    for (int f = 0; f < info->faces; f++) {
        eg_shape_face_points(group->shape, f, count, points, r);
        EG_TRY(eg_element_evaluate(geometry, count, r, values + (size_t)f * size));
        EG_TRY(
            eg_group_face_slopes(group, f, count, points, slopes + (size_t)f * (dim - 1) * size));
    }
done:
    eg_release(space->ctx, &r);
    return status;
}

/* Launches a kernel of faces with a table of `size` values: `result` has `rows` rows for every
 * point of every face of own tiles, of which a launch computes `at_once`. */
static eg_status launch_faces(const eg_space *space, const eg_group *group, const char *entry,
                              size_t size, const double *values, int count, int rows, int at_once,
                              const char *result, eg_buffer **out)
{
    const int faces = eg_shape_get_info(group->shape)->faces;
    int64_t face_points = group->own_tiles * faces * count;
    eg_buffer *table = NULL;
    eg_kernel *kernel = NULL;
    eg_status status = EG_OK;

    EG_TRY(eg_space_upload(space, EG_F64, size, values, &table));
    EG_TRY(eg_group_kernel(space, group, "field/metric.k.c", entry, &kernel));
    EG_TRY(
        eg_buffer_create(space->device, EG_F64, (size_t)(face_points * rows * group->lanes), out));
    EG_TRY(eg_launch(kernel, eg_row_launches(face_points * rows / at_once),
                     EG_INTEGER("rows", face_points * rows / at_once), EG_INTEGER("faces", faces),
                     EG_INTEGER("count", count), EG_INTEGER("n", group->geometry->np),
                     EG_BUFFER("table", table), EG_BUFFER("nodes", group->nodes),
                     EG_BUFFER(result, *out)));
done:
    eg_kernel_destroy(&kernel);
    eg_buffer_destroy(&table);
    return status;
}

/* What is asked for at face points [dim-1][count] of own tiles: x, factors, or both (not NULL). */
static eg_status fill_faces(const eg_space *space, const eg_group *group, int count,
                            const double *points, eg_buffer **x, eg_buffer **factors)
{
    const int dim = group->element->dim;
    size_t size = (size_t)eg_shape_get_info(group->shape)->faces * (size_t)count *
                  (size_t)group->geometry->np;
    double *values = NULL, *slopes = NULL;
    eg_status status = EG_OK;

    EG_TRY(eg_new(space->ctx, size, &values));
    EG_TRY(eg_new(space->ctx, size * (size_t)(dim - 1), &slopes));
    EG_TRY(face_tables(space, group, count, points, values, slopes));
    if (x)
        EG_TRY(launch_faces(space, group, "face_coordinates", size, values, count, dim, 1, "x", x));
    if (factors)
        EG_TRY(launch_faces(space, group, "face_metric", size * (size_t)(dim - 1), slopes, count,
                            dim + 1, dim + 1, "factors", factors));
done:
    eg_release(space->ctx, &slopes);
    eg_release(space->ctx, &values);
    return status;
}

/* --- affine groups ---------------------------------------------------------------------------- */

/* One point of a face that serves for all: the origin of its coordinates. */
static const double face_origin[2] = {0, 0};

eg_status eg_group_fill_factors(eg_space *space, int group)
{
    eg_group *g = &space->groups[group];
    eg_points *points = NULL;
    eg_status status = EG_OK;

    /* The one point of this cubature, the centre, is also where the volume is taken from. */
    EG_TRY(eg_points_create_cubature(space, group, 0, &points));
    EG_TRY(fill_volume(points, &g->volume_factors));
    EG_TRY(fill_faces(space, g, 1, face_origin, NULL, &g->face_factors));
done:
    eg_points_destroy(&points);
    return status;
}

static eg_status copy_buffer(const eg_space *space, eg_buffer *from, eg_buffer **to)
{
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(space->device, eg_buffer_type(from), eg_buffer_count(from), to));
    EG_TRY(eg_buffer_copy(*to, 0, from, 0, eg_buffer_count(from)));
done:
    return status;
}

/* --- metrics ---------------------------------------------------------------------------------- */

eg_status eg_metric_create(const eg_space *space, int group, int count, const double *points,
                           int parts, eg_metric *out)
{
    const eg_group *g = &space->groups[group];
    eg_points *at = NULL;
    eg_status status = EG_OK;

    *out = (eg_metric){.points = g->curved ? count : 1};
    EG_TRY(eg_points_create(space, group, count, points, NULL, &at));
    if (parts & EG_METRIC_X) {
        int64_t rows = g->tiles * g->element->dim * count;
        EG_TRY(eg_buffer_create(space->device, EG_F64, (size_t)(rows * g->lanes), &out->x));
        EG_TRY(eg_points_coordinates(at, 0, g->tiles, out->x));
    }
    if (parts & EG_METRIC_FACTORS)
        EG_TRY(g->curved ? fill_volume(at, &out->factors)
                         : copy_buffer(space, g->volume_factors, &out->factors));
done:
    eg_points_destroy(&at);
    if (status != EG_OK) eg_metric_free(out);
    return status;
}

void eg_metric_free(eg_metric *metric)
{
    eg_buffer_destroy(&metric->x);
    eg_buffer_destroy(&metric->factors);
    *metric = (eg_metric){0};
}

eg_status eg_face_metric_create(const eg_space *space, int group, int count, const double *points,
                                int parts, eg_face_metric *out)
{
    const eg_group *g = &space->groups[group];
    bool x = parts & EG_METRIC_X, factors = parts & EG_METRIC_FACTORS;
    eg_status status = EG_OK;

    *out = (eg_face_metric){.points = g->curved ? count : 1};
    EG_TRY(fill_faces(space, g, count, points, x ? &out->x : NULL,
                      factors && g->curved ? &out->factors : NULL));
    if (factors && !g->curved) EG_TRY(copy_buffer(space, g->face_factors, &out->factors));
done:
    if (status != EG_OK) eg_face_metric_free(out);
    return status;
}

void eg_face_metric_free(eg_face_metric *metric)
{
    eg_buffer_destroy(&metric->x);
    eg_buffer_destroy(&metric->factors);
    *metric = (eg_face_metric){0};
}

/* --- the volume ------------------------------------------------------------------------------- */

/* Adds the elements of a group. J is integrated by a cubature of a higher degree than it has: with
 * more points, folded elements show. */
static eg_status add_group_volume(const eg_space *space, int group, eg_mapping_summary *summary)
{
    const eg_group *g = &space->groups[group];
    eg_points *points = NULL;
    eg_buffer *jacobian = NULL;
    eg_status status = EG_OK;

    const int degree = g->curved ? eg_group_jacobian_degree(g) + 2 : 0;
    EG_TRY(eg_points_create_cubature(space, group, degree, &points));
    int64_t batch = eg_batch_tiles(g, g->tiles, (size_t)points->count);
    EG_TRY(eg_buffer_create(space->device, EG_F64, (size_t)(batch * points->count * g->lanes),
                            &jacobian));
    for (int64_t first = 0; first < g->tiles; first += batch) {
        int64_t tiles = first + batch <= g->tiles ? batch : g->tiles - first;
        EG_TRY(eg_points_jacobians(points, first, tiles, jacobian));
        EG_TRY(eg_points_summarise(points, first, tiles, points->count, jacobian, summary));
    }
done:
    eg_buffer_destroy(&jacobian);
    eg_points_destroy(&points);
    return status;
}

eg_status eg_space_measure_volume(eg_space *space)
{
    eg_mapping_summary summary = {0};
    eg_status local = EG_OK;
    for (int group = 0; group < space->group_count && local == EG_OK; group++)
        local = add_group_volume(space, group, &summary);
    double volume = summary.volume + summary.carry;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(space->comm, local));
    EG_TRY(eg_comm_sum(space->comm, 1, &volume));
    space->volume = volume;
done:
    return status;
}
