/* Geometry on every device: Jacobians, their inverses and normals against a plain loop on the host,
 * and what they must add up to. */
#include "kernel/boxes.h"

/* --- points and the plain loop ---------------------------------------------------------------- */

/* Points inside a shape: vertices pulled towards the centre by random parts. */
static void random_points(eg_shape shape, int count, double *r, uint64_t *seed)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    for (int q = 0; q < count; q++) {
        double weight[EG_MAX_VERTICES], sum = 0;
        for (int v = 0; v < info->vertices; v++)
            sum += weight[v] = 1.01 + test_random(seed);
        for (int d = 0; d < info->dim; d++) {
            r[d * count + q] = 0;
            for (int v = 0; v < info->vertices; v++)
                r[d * count + q] += weight[v] / sum * info->r[v][d];
        }
    }
}

/* --- in the volume ---------------------------------------------------------------------------- */

enum { POINTS = 5 };

static void check_volume_metric(const eg_space *space, int group, uint64_t *seed)
{
    const eg_group *g = &space->groups[group];
    const int dim = space->mesh->dim, lanes = g->lanes, factors = 1 + dim * dim;
    double r[3 * POINTS];
    eg_metric metric;
    random_points(g->shape, POINTS, r, seed);
    TEST_OK(space->ctx,
            eg_metric_create(space, group, POINTS, r, EG_METRIC_X | EG_METRIC_FACTORS, &metric));
    assert_int_equal(metric.points, g->curved ? POINTS : 1);
    double *x = downloaded(space, metric.x), *f = downloaded(space, metric.factors);
    for (int64_t slot = 0; slot < g->tiles * lanes; slot++)
        for (int q = 0; q < POINTS && is_looked_at(g, slot); q++) {
            double at[3] = {0}, place[3] = {0}, a[3][3] = {{0}};
            int64_t tile = slot / lanes, lane = slot % lanes;
            int own_q = g->curved ? q : 0;
            for (int d = 0; d < dim; d++)
                at[d] = r[d * POINTS + q];
            map_point(space->mesh, g->geometry, g->element_of_slot[slot], at, a, place);
            const double det = determinant(dim, a);
#define FACTOR(i) f[((tile * factors + (i)) * metric.points + own_q) * lanes + lane]
            assert_near(FACTOR(0), det, 1e-12 * det, "J", (size_t)slot);
            for (int d = 0; d < dim; d++)
                assert_near(x[((tile * dim + d) * POINTS + q) * lanes + lane], place[d], 1e-14, "x",
                            (size_t)slot);
            for (int i = 0; i < dim; i++)
                for (int k = 0; k < dim; k++) {
                    double sum = 0, size = 0; /* ∂r_i/∂x_d ∂x_d/∂r_k */
                    for (int d = 0; d < dim; d++) {
                        sum += FACTOR(1 + i * dim + d) * a[d][k];
                        size += fabs(FACTOR(1 + i * dim + d) * a[d][k]);
                    }
                    assert_near(sum, i == k, 1e-12 * (1 + size), "∂r/∂x ∂x/∂r", (size_t)slot);
                }
        }
    free(f);
    free(x);
    eg_metric_free(&metric);
}

/* One element, a few, and more than a tile of them; affine, bent by perturbation, and curved. */
static void volume_body(eg_device *device, eg_type real)
{
    static const int cells[][3] = {{1, 1, 1}, {7, 1, 1}, {11, 3, 1}};
    uint64_t seed = 3;
    if (real != EG_F64 || is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (size_t n = 0; n < EG_COUNT(cells); n++)
            for (int order = 0; order <= 3; order += n == 0 ? 1 : 3) {
                now_at(device, real, "%s %d cells order %d", eg_shape_get_info(all_shapes[s])->name,
                       cells[n][0] * cells[n][1], order);
                eg_box_options o =
                    box_options(all_shapes[s], cells[n][0], cells[n][1], cells[n][2], order);
                o.perturb = 0.3;
                o.seed = n + 1;
                box b = box_new(device, &o, EG_BASIS_LOBATTO, 2);
                for (int group = 0; group < b.space->group_count; group++)
                    check_volume_metric(b.space, group, &seed);
                box_free(&b);
            }
}

static void test_metric__volume_factors_are_those_of_the_mapping(void **state)
{
    (void)state;
    on_every_device(volume_body);
}

/* --- on faces --------------------------------------------------------------------------------- */

/* ∮ n dS of every element, with a cubature that is exact for n sJ, and n and sJ against the
 * cofactors of the mapping: n sJ = J ∂r/∂x applied to the reference element's normal. */
static void check_faces(const eg_space *space, int group, int order)
{
    const eg_group *g = &space->groups[group];
    const eg_shape_info *info = eg_shape_get_info(g->shape);
    const int dim = info->dim, lanes = g->lanes, faces = info->faces;
    eg_cubature *rule = NULL;
    eg_face_metric metric;
    TEST_OK(space->ctx,
            eg_cubature_create(space->ctx, info->face_shape, 2 * order, EG_CUBATURE_BEST, &rule));
    const int count = rule->count;
    TEST_OK(space->ctx, eg_face_metric_create(space, group, count, rule->r,
                                              EG_METRIC_X | EG_METRIC_FACTORS, &metric));
    assert_int_equal(metric.points, g->curved ? count : 1);
    double *x = downloaded(space, metric.x), *f = downloaded(space, metric.factors);
    double *r = new_values((size_t)dim * (size_t)count);
    for (int64_t slot = 0; slot < g->own_tiles * lanes; slot++) {
        int64_t tile = slot / lanes, lane = slot % lanes;
        double sum[3] = {0}, surface = 0;
        for (int face = 0; face < faces; face++) {
            eg_shape_face_points(g->shape, face, count, rule->r, r);
            for (int q = 0; q < count; q++) {
                double at[3] = {0}, place[3] = {0}, a[3][3] = {{0}}, flux[3], length = 0;
                int own_q = g->curved ? q : 0;
#define FACE_FACTOR(d)                                                                             \
    f[(((tile * faces + face) * (dim + 1) + (d)) * metric.points + own_q) * lanes + lane]
                const double sj = FACE_FACTOR(dim);
                assert_true(sj > 0);
                surface += rule->w[q] * sj;
                for (int d = 0; d < dim; d++) {
                    sum[d] += rule->w[q] * sj * FACE_FACTOR(d);
                    length += FACE_FACTOR(d) * FACE_FACTOR(d);
                    at[d] = r[d * count + q];
                }
                assert_near(length, 1, 1e-14, "|n|²", (size_t)slot);
                if (slot > 2) continue; /* the plain loop is slow, elements are alike */
                map_point(space->mesh, g->geometry, g->element_of_slot[slot], at, a, place);
                /* Towards the outside of the reference element: away from its centre, and
                 * perpendicular to the face. Nanson: n sJ = J A⁻ᵀ N, with |N| so that N dS is that
                 * of the face's coordinates. */
                for (int d = 0; d < dim; d++)
                    assert_near(x[(((tile * faces + face) * dim + d) * count + q) * lanes + lane],
                                place[d], 1e-14 * (1 + fabs(place[d])), "x", (size_t)slot);
                double N[3] = {0};
                const double *v0 = info->r[info->face[face][0]], *v1 = info->r[info->face[face][1]];
                const double *vl = info->r[info->face[face][info->face_vertices - 1]];
                double e[3] = {0}, h[3] = {0};
                for (int d = 0; d < dim; d++)
                    e[d] = (v1[d] - v0[d]) / 2, h[d] = (vl[d] - v0[d]) / 2;
                if (dim == 2)
                    N[0] = e[1], N[1] = -e[0];
                else
                    for (int d = 0; d < 3; d++)
                        N[d] = e[(d + 1) % 3] * h[(d + 2) % 3] - e[(d + 2) % 3] * h[(d + 1) % 3];
                double outward = 0;
                for (int d = 0; d < dim; d++) {
                    double centre = 0;
                    for (int v = 0; v < info->vertices; v++)
                        centre += info->r[v][d] / info->vertices;
                    outward += N[d] * (at[d] - centre);
                }
                assert_true(outward > 0);
                for (int d = 0; d < dim; d++) {
                    flux[d] = 0; /* cofactor row d times N */
                    for (int k = 0; k < dim; k++) {
                        double minor[3][3];
                        memcpy(minor, a, sizeof minor);
                        for (int i = 0; i < dim; i++)
                            minor[d][i] = i == k;
                        flux[d] += determinant(dim, minor) * N[k];
                    }
                    assert_near(sj * FACE_FACTOR(d), flux[d], 1e-12 * sj, "n sJ", (size_t)slot);
                }
            }
        }
        for (int d = 0; d < dim; d++)
            assert_near(sum[d], 0, 1e-12 * surface, "∮ n dS", (size_t)slot);
    }
    free(r);
    free(f);
    free(x);
    eg_face_metric_free(&metric);
    eg_cubature_destroy(&rule);
}

static void face_body(eg_device *device, eg_type real)
{
    if (real != EG_F64 || is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (int order = 0; order <= 5; order++) {
            now_at(device, real, "%s order %d", eg_shape_get_info(all_shapes[s])->name, order);
            eg_box_options o = box_options(all_shapes[s], 3, 2, 1, order);
            o.perturb = 0.2;
            o.seed = 5;
            box b = box_new(device, &o, EG_BASIS_LOBATTO, 1);
            for (int group = 0; group < b.space->group_count; group++)
                check_faces(b.space, group, order > 1 ? order : 1);
            box_free(&b);
        }
}

static void test_metric__normals_point_outward_and_close_every_element(void **state)
{
    (void)state;
    on_every_device(face_body);
}

/* Moves a box by 2²⁰ in all directions and bends it by a quarter of X²: its nodes have no rounding
 * error and J is still that of the cells. */
static eg_status far_map(void *user, size_t count, const double *X, double *x)
{
    const int dim = *(const int *)user;
    for (size_t i = 0; i < count * (size_t)dim; i++)
        x[i] = 1048576 + X[i] + (i % (size_t)dim == 1 ? X[i - 1] * X[i - 1] / 4 : 0);
    return EG_OK;
}

/* Coordinates are taken relative to a node, or the tables' rounding would take six digits of J. */
static void far_body(eg_device *device, eg_type real)
{
    uint64_t seed = 9;
    if (real != EG_F64 || is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        const eg_shape_info *info = eg_shape_get_info(all_shapes[s]);
        int dim = info->dim;
        const double cells = info->tensor ? 8 : dim == 2 ? 16 : 48; /* of the unit box */
        eg_box_options o = box_options(all_shapes[s], 2, dim == 2 ? 4 : 2, 2, 2);
        o.map = far_map;
        o.map_user = &dim;
        box b = box_new(device, &o, EG_BASIS_LOBATTO, 1);
        for (int group = 0; group < b.space->group_count; group++) {
            const eg_group *g = &b.space->groups[group];
            double r[3 * POINTS];
            eg_metric metric;
            assert_true(g->curved);
            random_points(g->shape, POINTS, r, &seed);
            TEST_OK(b.space->ctx,
                    eg_metric_create(b.space, group, POINTS, r, EG_METRIC_FACTORS, &metric));
            double *f = downloaded(b.space, metric.factors);
            const int64_t row = POINTS * g->lanes;
            for (int64_t i = 0; i < g->tiles * row; i++)
                assert_near(f[i / row * (1 + dim * dim) * row + i % row],
                            1 / (cells * info->volume), 1e-13, "J", (size_t)i);
            free(f);
            eg_metric_free(&metric);
        }
        assert_near(b.space->volume, 1, 1e-13, "volume", s);
        box_free(&b);
    }
}

static void test_metric__nothing_is_lost_far_from_the_origin(void **state)
{
    (void)state;
    on_every_device(far_body);
}

/* --- volumes ---------------------------------------------------------------------------------- */

static double volume_of(eg_device *device, eg_shape shape, int cells, int order)
{
    eg_box_options o = box_options(shape, cells, cells, cells, order);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 1);
    double volume = b.space->volume;
    box_free(&b);
    return volume;
}

static void volumes_body(eg_device *device, eg_type real)
{
    if (real != EG_F64 || is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        const int dim = eg_shape_get_info(all_shapes[s])->dim;
        assert_near(volume_of(device, all_shapes[s], 3, 0), 1, 1e-14, "straight volume", s);
        for (int order = 1; order <= 5; order++) {
            now_at(device, real, "%s order %d", eg_shape_get_info(all_shapes[s])->name, order);
            double coarse = fabs(volume_of(device, all_shapes[s], 2, order) - wave_volume(dim));
            double fine = fabs(volume_of(device, all_shapes[s], 4, order) - wave_volume(dim));
            assert_true(fine < 3e-2);
            if (fine > 1e-13 && log2(coarse / fine) < order + 0.8)
                fail_msg("the volume converges at order %.2f with a mapping of order %d",
                         log2(coarse / fine), order);
        }
    }
}

static void test_metric__volumes_converge_with_the_order_of_the_mapping(void **state)
{
    (void)state;
    on_every_device(volumes_body);
}

/* Bends a box so little that its elements count as affine. */
static eg_status bend_slightly(void *user, size_t count, const double *X, double *x)
{
    const size_t dim = (size_t) * (const int *)user;
    for (size_t i = 0; i < count * dim; i++)
        x[i] = X[i] + (i % dim == 0 ? 2e-13 * X[i] * X[i + 1] : 0);
    return EG_OK;
}

/* J of an affine element is that of its centre, from which its volume is taken, too. */
static void centre_body(eg_device *device, eg_type real)
{
    if (real != EG_F64 || is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        const eg_shape_info *info = eg_shape_get_info(all_shapes[s]);
        int dim = info->dim;
        eg_box_options o = box_options(all_shapes[s], 1, 1, 1, 2);
        o.map = bend_slightly;
        o.map_user = &dim;
        now_at(device, real, "%s", info->name);
        box b = box_new(device, &o, EG_BASIS_LOBATTO, 1);
        const eg_group *g = &b.space->groups[0];
        assert_true(b.space->group_count == 1 && !g->curved);
        double *f = downloaded(b.space, g->volume_factors), sum = 0;
        for (int32_t e = 0; e < b.mesh->element_count; e++) {
            const int32_t slot = b.space->slot_of_element[e];
            sum += info->volume * f[slot / g->lanes * (1 + dim * dim) * g->lanes + slot % g->lanes];
        }
        assert_near(sum, b.space->volume, 2e-15, "Σ J", s);
        free(f);
        box_free(&b);
    }
}

static void test_metric__affine_elements_have_the_j_of_their_volume(void **state)
{
    (void)state;
    on_every_device(centre_body);
}

/* --- what is wrong ---------------------------------------------------------------------------- */

/* Turns one element inside out by exchanging two of its vertices, or spoils a node. */
static void wrong_body(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    if (real != EG_F64 || is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (int order = 0; order <= 2; order += 2) {
            eg_comm *comm = NULL;
            eg_mesh *mesh = NULL;
            eg_space *space = NULL;
            const int dim = eg_shape_get_info(all_shapes[s])->dim;
            now_at(device, real, "%s order %d", eg_shape_get_info(all_shapes[s])->name, order);
            eg_box_options o = box_options(all_shapes[s], 3, 3, 3, order);
            TEST_OK(ctx, eg_comm_self(ctx, &comm));
            TEST_OK(ctx, eg_mesh_create_box(ctx, &o, &mesh));
            char name[40];
            const int32_t bad = 5;
            snprintf(name, sizeof name, "element %lld ", (long long)mesh->global[bad]);
            if (order == 0) {
                int32_t *v = mesh->vertices + bad * mesh->vertex_stride, swap = v[0];
                v[0] = v[1], v[1] = swap;
            } else {
                double *nodes = mesh->nodes + bad * mesh->node_stride * dim;
                double *last =
                    nodes + (mesh->node_stride - 1) * dim; /* a vertex, as is the first */
                for (int d = 0; d < dim; d++) {
                    double swap = nodes[d];
                    nodes[d] = last[d], last[d] = swap;
                }
            }
            const eg_space_options options = {.degree = 1};
            TEST_FAILS(ctx, EG_ERROR_INPUT, name,
                       eg_space_create(device, comm, mesh, &options, &space));
            TEST_FAILS(ctx, EG_ERROR_INPUT, " at (",
                       eg_space_create(device, comm, mesh, &options, &space));
            if (order > 0) {
                mesh->nodes[(bad * mesh->node_stride + 1) * dim] = NAN;
                TEST_FAILS(ctx, EG_ERROR_INPUT, "is nan at",
                           eg_space_create(device, comm, mesh, &options, &space));
            }
            assert_null(space);
            eg_mesh_destroy(&mesh);
            eg_comm_destroy(&comm);
        }
}

static void test_metric__an_element_inside_out_is_named(void **state)
{
    (void)state;
    on_every_device(wrong_body);
}

/* Everything that a metric allocates may fail. */
static eg_status create_metrics(eg_space *space, void *user)
{
    eg_metric metric = {0};
    eg_face_metric face_metric = {0};
    const double points[] = {0.1, -0.2}, face_points[] = {0.3};
    eg_status status = EG_OK;
    (void)user;
    EG_TRY(eg_metric_create(space, 0, 1, points, EG_METRIC_X | EG_METRIC_FACTORS, &metric));
    EG_TRY(eg_face_metric_create(space, 0, 1, face_points, EG_METRIC_X | EG_METRIC_FACTORS,
                                 &face_metric));
done:
    eg_face_metric_free(&face_metric);
    eg_metric_free(&metric);
    return status;
}

static void test_metric__survives_every_failed_allocation(void **state)
{
    (void)state;
    for (int order = 0; order <= 2; order += 2) {
        eg_box_options o = box_options(EG_SHAPE_QUAD, 2, 1, 1, order);
        box_allocation_sweep(&o, create_metrics, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_metric__volume_factors_are_those_of_the_mapping),
        KERNEL_TEST(test_metric__normals_point_outward_and_close_every_element),
        KERNEL_TEST(test_metric__nothing_is_lost_far_from_the_origin),
        KERNEL_TEST(test_metric__volumes_converge_with_the_order_of_the_mapping),
        KERNEL_TEST(test_metric__affine_elements_have_the_j_of_their_volume),
        KERNEL_TEST(test_metric__an_element_inside_out_is_named),
        cmocka_unit_test(test_metric__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
