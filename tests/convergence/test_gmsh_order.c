/* Meshes that Gmsh made are as good as ours: the L2 projection converges at order N + 1 ± 0.2 on
 * them when they are refined, and elements of order q follow round boundaries so closely that the
 * volume converges at order q + 1 or better.
 *
 * The files are those of cases/geo and tests/data/gmsh, some that eagre writes, and some that Gmsh
 * makes now, if it is there. Where EAGRE_TEST_LONG is set, there are more degrees and finer meshes. */
#include "kernel/boxes.h"

#include "mesh/build.h"

#define FLOOR 1e-9
#define TOLERANCE 0.2
#define SIZES_MAX 5
#define PATH_BYTES (PATH_MAX + 64) /* of a file in a directory */

static bool is_long(void)
{
    return getenv("EAGRE_TEST_LONG") != NULL;
}

static eg_mesh *read_mesh(eg_context *ctx, const char *path)
{
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_read_gmsh(ctx, path, NULL, &mesh));
    return mesh;
}

/* --- projection ------------------------------------------------------------------------------- */

/* The error of a plane wave, both of its parts: how its phase falls into the elements does not
 * matter. */
static double projection_error(eg_device *device, const eg_mesh *mesh, int degree,
                               double wave_number)
{
    eg_context *ctx = mesh->ctx;
    char real[120], imaginary[120];
    const char *texts[] = {real, imaginary};
    eg_norms norms[2] = {{0}};
    eg_comm *comm = NULL;
    eg_space *space = NULL;
    eg_field *field = NULL;
    eg_measure *measure = NULL;
    snprintf(real, sizeof real, "100 * cos(%.17g * (x + 0.9 * y + 0.8 * z))", wave_number);
    snprintf(imaginary, sizeof imaginary, "100 * sin(%.17g * (x + 0.9 * y + 0.8 * z))",
             wave_number);
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_space_create(device, comm, mesh,
                                 &(eg_space_options){.basis = EG_BASIS_LOBATTO, .degree = degree},
                                 &space));
    eg_function *function = function_new(space, 2, texts);
    TEST_OK(ctx, eg_field_create(space, 2, EG_F64, &field));
    TEST_OK(ctx, eg_measure_create(space, 2, function, &measure));
    TEST_OK(ctx, eg_function_project(function, 0, field));
    TEST_OK(ctx, eg_measure_norms(measure, 0, field, norms));
    eg_measure_destroy(&measure);
    eg_field_destroy(&field);
    eg_function_destroy(&function);
    eg_space_destroy(&space);
    eg_comm_destroy(&comm);
    return hypot(norms[0].l2, norms[1].l2);
}

/* The order between a mesh and its refinement. Waves are made shorter until the error on the fine
 * mesh is above FLOOR. */
static void check_order(eg_device *device, const char *name, const eg_mesh *coarse,
                        const eg_mesh *fine, int degree)
{
    double k = 1, least = 0;
    now_at(device, EG_F64, "%s N = %d", name, degree);
    for (int attempt = 0; attempt < 4; attempt++) {
        least = projection_error(device, fine, degree, k);
        if (least > 2 * FLOOR) break;
        k *= pow(2.5 * FLOOR / least, 1.0 / (degree + 1));
    }
    const double most = projection_error(device, coarse, degree, k);
    const double order = log2(most / least);
    print_message("  %-30s N = %2d: %.2e -> %.2e, order %.2f\n", name, degree, most, least, order);
    assert_true(least > FLOOR);
    if (fabs(order - (degree + 1)) > TOLERANCE) fail_msg("order %.2f", order);
}

/* Orders on a file of the tree that is refined `levels` times, and once more; to degree `most`, beyond
 * which strongly curved elements would have to be finer. */
static void check_file(const char *name, int levels, int most)
{
    static const int degrees[] = {1, 2, 5}, all_degrees[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const int *list = is_long() ? all_degrees : degrees;
    const size_t count = is_long() ? EG_COUNT(all_degrees) : EG_COUNT(degrees);
    char path[PATH_MAX];
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_mesh *fine = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    snprintf(path, sizeof path, "%s/%s", EG_TEST_SOURCE_DIR, name);
    eg_mesh *coarse = read_mesh(ctx, path);
    for (int level = 0; level <= levels; level++) {
        eg_mesh_destroy(level > 0 ? &coarse : &fine);
        if (level > 0) coarse = fine;
        TEST_OK(ctx, eg_mesh_refine(coarse, &fine));
    }
    for (size_t i = 0; i < count && list[i] <= most; i++)
        check_order(device, name, coarse, fine, list[i]);
    eg_mesh_destroy(&fine);
    eg_mesh_destroy(&coarse);
    eg_device_close(&device);
    test_context_free(&ctx);
    where[0] = '\0';
}

static void test_gmsh__projection_converges_on_triangles_of_order_1(void **state)
{
    (void)state;
    check_file("cases/geo/square.msh", 1, 8);
    check_file("cases/geo/l-shape.msh", 0, 8);
}

static void test_gmsh__projection_converges_on_periodic_triangles(void **state)
{
    (void)state;
    check_file("cases/geo/square-periodic.msh", 1, 8);
}

static void test_gmsh__projection_converges_on_curved_triangles(void **state)
{
    (void)state;
    check_file("cases/geo/disc.msh", 2, 7);
}

static void test_gmsh__projection_converges_on_curved_quadrilaterals(void **state)
{
    (void)state;
    check_file("tests/data/gmsh/disc-quadrilaterals.msh", 1, 8);
}

static void test_gmsh__projection_converges_on_triangles_beside_quadrilaterals(void **state)
{
    (void)state;
    check_file("tests/data/gmsh/mixed.msh", 1, 8);
}

static void test_gmsh__projection_converges_on_curved_tetrahedra(void **state)
{
    (void)state;
    check_file("tests/data/gmsh/ball.msh", 1, 6);
}

static void test_gmsh__projection_converges_on_curved_hexahedra(void **state)
{
    (void)state;
    check_file("tests/data/gmsh/bar.msh", 1, 6);
}

/* --- volume ----------------------------------------------------------------------------------- */

typedef struct round_body {
    const char *name;
    int dim;
    double volume;
} round_body;

static const round_body disc = {"disc", 2, PI}, ball = {"ball", 3, 4 * PI / 3};

/* How far a mesh of a body is from its volume, and the size of elements at its boundary, on which
 * alone that depends: the volume of the others is that between their faces. */
static void look_at(eg_context *ctx, const round_body *body, int order, const char *path,
                    double *error, double *size)
{
    eg_mesh_summary summary = {0};
    eg_mesh *mesh = read_mesh(ctx, path);
    assert_int_equal(mesh->dim, body->dim);
    assert_int_equal(mesh->order, order);
    TEST_OK(ctx, eg_mesh_summarise(mesh, &summary));
    *error = fabs(summary.volume / body->volume - 1);
    *size = pow(1.0 / (double)summary.boundary_faces, 1.0 / (body->dim - 1));
    eg_mesh_summary_free(ctx, &summary);
    eg_mesh_destroy(&mesh);
}

/* The order from the first file, which is the coarsest, to the last. */
static void check_volume(const round_body *body, int order, int count, char (*paths)[PATH_BYTES])
{
    eg_context *ctx = test_context();
    double error[SIZES_MAX], size[SIZES_MAX];
    snprintf(where, sizeof where, "%s q = %d", body->name, order);
    for (int i = 0; i < count; i++)
        look_at(ctx, body, order, paths[i], &error[i], &size[i]);
    const double measured = log(error[0] / error[count - 1]) / log(size[0] / size[count - 1]);
    print_message("  %s q = %d: %.2e", body->name, order, error[0]);
    for (int i = 1; i < count; i++)
        print_message(" -> %.2e", error[i]);
    print_message(", order %.2f\n", measured);
    if (measured < order + 1 - TOLERANCE) fail_msg("order %.2f", measured);
    test_context_free(&ctx);
    where[0] = '\0';
}

static void check_kept(const round_body *body)
{
    static const char *const sizes[] = {"coarse", "fine"};
    char paths[EG_COUNT(sizes)][PATH_BYTES];
    for (int order = 1; order <= 5; order++) {
        for (size_t i = 0; i < EG_COUNT(sizes); i++)
            snprintf(paths[i], sizeof paths[i], "%s/tests/data/gmsh/%s-%d-%s.msh",
                     EG_TEST_SOURCE_DIR, body->name, order, sizes[i]);
        check_volume(body, order, EG_COUNT(sizes), paths);
    }
}

static void test_gmsh__volume_of_kept_discs_converges(void **state)
{
    (void)state;
    check_kept(&disc);
}

/* An octahedron's point goes to one of a ball, edges to equal arcs. */
static eg_status blow_up(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 3, x += 3) {
        const double radius = fabs(X[0]) + fabs(X[1]) + fabs(X[2]);
        double square = 0;
        for (int d = 0; d < 3; d++) {
            x[d] = radius > 0 ? sin(0.5 * PI * X[d] / radius) : 0;
            square += x[d] * x[d];
        }
        for (int d = 0; d < 3; d++)
            x[d] *= radius > 0 ? radius / sqrt(square) : 0;
    }
    return EG_OK;
}

/* A file of a ball of that order: eight tetrahedra, refined. */
static void write_ball(int order, int levels, const eg_gmsh_format *format, const char *path)
{
    eg_context *ctx = test_context();
    eg_mesh *mesh = read_mesh(ctx, EG_TEST_SOURCE_DIR "/tests/data/gmsh/octahedron.msh");
    for (int level = 0; level < levels; level++) {
        eg_mesh *fine = NULL;
        TEST_OK(ctx, eg_mesh_refine(mesh, &fine));
        eg_mesh_destroy(&mesh);
        mesh = fine;
    }
    TEST_OK(ctx, eg_mesh_curve(mesh, order, blow_up, NULL));
    TEST_OK(ctx, eg_mesh_write_gmsh(mesh, path, format));
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_gmsh__volume_of_balls_that_eagre_wrote_converges(void **state)
{
    static const eg_gmsh_format formats[] = {
        {22, false, false}, {22, true, false}, {41, true, true}};
    (void)state;
    char directory[PATH_MAX], paths[EG_COUNT(formats)][PATH_BYTES];
    test_directory_create(directory);
    for (int order = 1; order <= 5; order++) {
        for (size_t i = 0; i < EG_COUNT(formats); i++) {
            snprintf(paths[i], sizeof paths[i], "%s/%zu.msh", directory, i);
            write_ball(order, (int)i + 1, &formats[i], paths[i]);
        }
        check_volume(&ball, order, EG_COUNT(formats), paths);
    }
    test_directory_remove(directory);
}

/* Lets Gmsh make a body in several sizes, each in orders 1 to 5. */
static void check_made(const round_body *body, int count, const double *sizes)
{
    char directory[PATH_MAX], paths[SIZES_MAX][PATH_BYTES], command[8 * PATH_BYTES];
    if (system("command -v gmsh >/dev/null") != 0) skip();
    test_directory_create(directory);
    for (int i = 0; i < count; i++) {
        snprintf(command, sizeof command,
                 "cd '%s' && cat >all.geo <<END\n"
                 "Include \"%s/cases/geo/%s.geo\";\n"
                 "Mesh %d;\n"
                 "For q In {1 : 5}\n"
                 "  If(q > 1)\n"
                 "    SetOrder q;\n"
                 "  EndIf\n"
                 "  Save Sprintf(\"%%g-%d.msh\", q);\n"
                 "EndFor\n"
                 "END\n"
                 "HOME=. gmsh all.geo -setnumber order 1 -setnumber h %g -format msh41 -bin -nt 1 "
                 "-v 1 -parse_and_exit",
                 directory, EG_TEST_SOURCE_DIR, body->name, body->dim, i, sizes[i]);
        if (system(command) != 0) fail_msg("%s", command);
    }
    for (int order = 1; order <= 5; order++) {
        for (int i = 0; i < count; i++)
            snprintf(paths[i], sizeof paths[i], "%s/%d-%d.msh", directory, order, i);
        check_volume(body, order, count, paths);
    }
    test_directory_remove(directory);
}

static void test_gmsh__volume_of_discs_that_gmsh_makes_converges(void **state)
{
    (void)state;
    check_made(&disc, is_long() ? 5 : 3, (const double[]){0.8, 0.4, 0.2, 0.1, 0.05});
}

static void test_gmsh__volume_of_balls_that_gmsh_makes_converges(void **state)
{
    (void)state;
    check_made(&ball, is_long() ? 4 : 2, (const double[]){0.5, 0.35, 0.25, 0.18});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_gmsh__projection_converges_on_triangles_of_order_1),
        KERNEL_TEST(test_gmsh__projection_converges_on_periodic_triangles),
        KERNEL_TEST(test_gmsh__projection_converges_on_curved_triangles),
        KERNEL_TEST(test_gmsh__projection_converges_on_curved_quadrilaterals),
        KERNEL_TEST(test_gmsh__projection_converges_on_triangles_beside_quadrilaterals),
        KERNEL_TEST(test_gmsh__projection_converges_on_curved_tetrahedra),
        KERNEL_TEST(test_gmsh__projection_converges_on_curved_hexahedra),
        KERNEL_TEST(test_gmsh__volume_of_kept_discs_converges),
        KERNEL_TEST(test_gmsh__volume_of_balls_that_eagre_wrote_converges),
        KERNEL_TEST(test_gmsh__volume_of_discs_that_gmsh_makes_converges),
        KERNEL_TEST(test_gmsh__volume_of_balls_that_gmsh_makes_converges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
