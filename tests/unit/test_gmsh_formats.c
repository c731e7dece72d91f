/* The forms of Gmsh files: version 2.2 to the letter, and binary files that have number for number
 * what files of text have, in either order of bytes. */
#include "mesh_file.h"

#include <math.h>

#include "mesh/gmsh/nodes.h"
#include "mesh/mesh.h"

/* The bytes of a mesh's file; release with eg_release. */
static char *written(fixture *f, const eg_mesh *mesh, const eg_gmsh_format *format, size_t *length)
{
    char *bytes = NULL;
    TEST_OK(f->ctx, eg_mesh_write_gmsh(mesh, f->path, format));
    TEST_OK(f->ctx, eg_file_read(f->ctx, f->path, &bytes, length));
    return bytes;
}

static eg_mesh *make_box(eg_context *ctx, const eg_box_options *options)
{
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_create_box(ctx, options, &mesh));
    return mesh;
}

static void test_gmsh_formats__version_22_is_what_gmsh_documents(void **state)
{
    (void)state;
    fixture f = begin();
    eg_mesh *mesh = make_box(f.ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                      .cells = {2, 1},
                                                      .high = {2.0, 1.0},
                                                      .periodic = {true}});
    size_t length = 0;
    char *bytes = written(&f, mesh, &(eg_gmsh_format){.version = 22}, &length);
    assert_string_equal(bytes, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                               "$PhysicalNames\n5\n1 2 \"bottom\"\n1 3 \"top\"\n"
                               "1 4 \"periodic_1\"\n1 5 \"periodic_1_image\"\n2 1 \"domain\"\n"
                               "$EndPhysicalNames\n"
                               "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 2 1 0\n"
                               "$EndNodes\n"
                               "$Elements\n8\n1 3 2 1 1 1 2 3 4\n2 3 2 1 1 2 5 6 3\n"
                               "3 1 2 2 2 1 2\n4 1 2 2 2 2 5\n5 1 2 3 3 3 4\n6 1 2 3 3 6 3\n"
                               "7 1 2 4 4 4 1\n8 1 2 5 5 5 6\n$EndElements\n"
                               "$Periodic\n1\n1 5 4\nAffine 1 0 0 2 0 1 0 0 0 0 1 0 0 0 0 1\n"
                               "2\n5 1\n6 4\n$EndPeriodic\n");
    eg_release(f.ctx, &bytes);
    eg_mesh_destroy(&mesh);
    end(&f);
}

/* --- text and binary side by side ------------------------------------------------------------- */

typedef struct pair {
    const char *text;           /* what is left of the file of text … */
    const unsigned char *bytes; /* … and of the binary one */
    const unsigned char *stop;
    bool swapped;
} pair;

static uint64_t take_number(pair *p, size_t size)
{
    const uint64_t one = 1;
    const bool little = *(const unsigned char *)&one == 1;
    uint64_t value = 0;
    assert_true((size_t)(p->stop - p->bytes) >= size);
    for (size_t i = 0; i < size; i++)
        value = value << 8 | p->bytes[little != p->swapped ? size - 1 - i : i];
    p->bytes += size;
    return value;
}

static long long take_int(pair *p, size_t size)
{
    char *after = NULL;
    const long long value = strtoll(p->text, &after, 10);
    assert_ptr_not_equal(after, p->text);
    p->text = after;
    assert_int_equal(take_number(p, size), value);
    return value;
}

static void take_real(pair *p)
{
    char *after = NULL;
    const double expected = strtod(p->text, &after);
    const uint64_t bits = take_number(p, sizeof bits);
    assert_ptr_not_equal(after, p->text);
    p->text = after;
    assert_memory_equal(&bits, &expected, sizeof bits);
}

/* The line `expected` of the binary file; the file of text has it in the same place. */
static void take_line(pair *p, const char *expected)
{
    const size_t length = strlen(expected);
    while (*p->text == '\n')
        p->text++;
    assert_memory_equal(p->text, expected, length);
    p->text += length;
    assert_true((size_t)(p->stop - p->bytes) >= length);
    assert_memory_equal(p->bytes, expected, length);
    p->bytes += length;
}

/* Lines that both files have alike, up to the one that is `stop`. */
static void take_same(pair *p, const char *stop)
{
    const char *after = strstr(p->text, stop);
    assert_non_null(after);
    const size_t length = (size_t)(after - p->text);
    assert_true((size_t)(p->stop - p->bytes) >= length);
    assert_memory_equal(p->bytes, p->text, length);
    p->text += length;
    p->bytes += length;
}

/* A line with a count, which is text in both. */
static long long take_count(pair *p)
{
    const long long count = strtoll(p->text, NULL, 10);
    take_same(p, "\n");
    p->text++;
    assert_int_equal(*p->bytes++, '\n');
    return count;
}

/* The end of a section with binary numbers. */
static void take_end(pair *p, const char *section)
{
    assert_int_equal(*p->bytes++, '\n');
    take_line(p, section);
}

static void take_format(pair *p, const char *version)
{
    char line[64];
    snprintf(line, sizeof line, "$MeshFormat\n%s 0 8\n", version);
    assert_memory_equal(p->text, line, strlen(line));
    p->text += strlen(line);
    line[strlen("$MeshFormat\n") + 4] = '1';
    assert_memory_equal(p->bytes, line, strlen(line));
    p->bytes += strlen(line);
    assert_int_equal(take_number(p, 4), 1);
    take_end(p, "$EndMeshFormat\n");
}

static int type_nodes(int type)
{
    int8_t lattice[EG_GMSH_NODES_MAX][3];
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        for (int n = 1; n <= EG_GMSH_ORDER_MAX; n++)
            if (eg_gmsh_type((eg_shape)s, n) == type) return eg_gmsh_nodes((eg_shape)s, n, lattice);
    return 0;
}

static void compare_entities(pair *p)
{
    long long total = 0;
    take_line(p, "$Entities\n");
    for (int d = 0; d < 4; d++)
        total += take_int(p, 8);
    for (long long i = 0; i < total; i++) {
        take_int(p, 4);
        for (int k = 0; k < 6; k++)
            take_real(p);
        for (int list = 0; list < 2; list++) /* groups, then what bounds it */
            for (long long k = take_int(p, 8); k > 0; k--)
                take_int(p, 4);
    }
    take_end(p, "$EndEntities\n");
}

static void compare_41(pair *p)
{
    take_format(p, "4.1");
    take_same(p, "$Entities\n");
    compare_entities(p);
    take_line(p, "$Nodes\n");
    long long blocks = take_int(p, 8);
    for (int k = 0; k < 3; k++)
        take_int(p, 8);
    for (; blocks > 0; blocks--) {
        for (int k = 0; k < 3; k++)
            take_int(p, 4);
        const long long count = take_int(p, 8);
        for (long long i = 0; i < count; i++)
            take_int(p, 8);
        for (long long i = 0; i < 3 * count; i++)
            take_real(p);
    }
    take_end(p, "$EndNodes\n");
    take_line(p, "$Elements\n");
    blocks = take_int(p, 8);
    for (int k = 0; k < 3; k++)
        take_int(p, 8);
    for (; blocks > 0; blocks--) {
        take_int(p, 4);
        take_int(p, 4);
        const int nodes = type_nodes((int)take_int(p, 4));
        for (long long i = take_int(p, 8); i > 0; i--)
            for (int k = 0; k <= nodes; k++)
                take_int(p, 8);
    }
    take_end(p, "$EndElements\n");
    take_line(p, "$Periodic\n");
    for (long long links = take_int(p, 8); links > 0; links--) {
        for (int k = 0; k < 3; k++)
            take_int(p, 4);
        for (long long k = take_int(p, 8); k > 0; k--)
            take_real(p);
        for (long long k = 2 * take_int(p, 8); k > 0; k--)
            take_int(p, 8);
    }
    take_end(p, "$EndPeriodic\n");
}

/* In text each element says what in binary a block says. */
static void compare_elements_22(pair *p)
{
    take_line(p, "$Elements\n");
    long long left = take_count(p);
    while (left > 0) {
        const uint64_t type = take_number(p, 4);
        const long long count = (long long)take_number(p, 4);
        assert_int_equal(take_number(p, 4), 2);
        assert_in_range(count, 1, left);
        left -= count;
        for (long long i = 0; i < count; i++) {
            char *after = NULL;
            take_int(p, 4);
            assert_int_equal(strtoll(p->text, &after, 10), type);
            assert_int_equal(strtoll(after, &after, 10), 2);
            p->text = after;
            for (int k = 0; k < 2 + type_nodes((int)type); k++)
                take_int(p, 4);
        }
    }
    take_end(p, "$EndElements\n");
}

static void compare_22(pair *p)
{
    take_format(p, "2.2");
    take_same(p, "$Nodes\n");
    take_line(p, "$Nodes\n");
    for (long long i = take_count(p); i > 0; i--) {
        take_int(p, 4);
        for (int d = 0; d < 3; d++)
            take_real(p);
    }
    take_end(p, "$EndNodes\n");
    compare_elements_22(p);
    take_same(p, "$EndPeriodic\n"); /* which is always text */
    take_line(p, "$EndPeriodic\n");
}

static void test_gmsh_formats__binary_files_have_the_numbers_of_text_in_either_order(void **state)
{
    (void)state;
    fixture f = begin();
    for (int s = EG_SHAPE_TRI; s < EG_SHAPE_COUNT; s++) {
        eg_mesh *mesh = make_box(f.ctx, &(eg_box_options){.shape = (eg_shape)s,
                                                          .cells = {3, 2, 2},
                                                          .periodic = {true},
                                                          .perturb = 0.2,
                                                          .order = 2});
        for (int version = 22; version <= 41; version += 19) {
            size_t text_length = 0, length = 0;
            char *text = written(&f, mesh, &(eg_gmsh_format){.version = version}, &text_length);
            for (int swapped = 0; swapped < 2; swapped++) {
                const eg_gmsh_format format = {
                    .version = version, .binary = true, .swapped = swapped};
                char *bytes = written(&f, mesh, &format, &length);
                pair p = {.text = text,
                          .bytes = (const unsigned char *)bytes,
                          .stop = (const unsigned char *)bytes + length,
                          .swapped = swapped};
                version == 22 ? compare_22(&p) : compare_41(&p);
                assert_ptr_equal(p.text, text + text_length);
                assert_ptr_equal(p.bytes, p.stop);
                eg_release(f.ctx, &bytes);
            }
            eg_release(f.ctx, &text);
        }
        eg_mesh_destroy(&mesh);
    }
    end(&f);
}

/* --- and back --------------------------------------------------------------------------------- */

#define SAME(a, b, member, count)                                                                  \
    assert_memory_equal((a)->member, (b)->member, (size_t)(count) * sizeof *(a)->member)

/* The same to the last bit; or else a mesh and what its file became: boundaries may have other
 * numbers, and nodes of curved elements were moved to where Gmsh has them and back. */
static void assert_same_mesh(const eg_mesh *a, const eg_mesh *b, bool exactly)
{
    const int64_t elements = a->element_count;
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(a->order, b->order);
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->element_count, b->element_count);
    assert_int_equal(a->boundary_count, b->boundary_count);
    SAME(a, b, x, a->vertex_count * a->dim);
    SAME(a, b, shape, elements);
    SAME(a, b, global, elements);
    SAME(a, b, vertices, elements * a->vertex_stride);
    SAME(a, b, neighbour_face, elements * a->face_stride);
    for (int64_t i = 0; i < elements * a->face_stride; i++) {
        const int32_t n = a->neighbour[i], m = b->neighbour[i];
        if (n >= 0 || m >= 0 || exactly)
            assert_int_equal(n, m);
        else
            assert_string_equal(a->boundary[-1 - n], b->boundary[-1 - m]);
    }
    assert_true(!a->nodes == !b->nodes);
    for (int64_t i = 0; a->nodes && i < elements * a->node_stride * a->dim; i++)
        assert_true(fabs(a->nodes[i] - b->nodes[i]) <= (exactly ? 0.0 : 1e-14));
}

/* Writes a mesh in every form and reads it again. */
static void check_forms(fixture *f, const eg_mesh *mesh)
{
    const eg_gmsh_format formats[] = {{.version = 41},
                                      {.version = 41, .binary = true},
                                      {.version = 41, .binary = true, .swapped = true},
                                      {.version = 22},
                                      {.version = 22, .binary = true},
                                      {.version = 22, .binary = true, .swapped = true}};
    eg_mesh *read[EG_COUNT(formats)] = {NULL};
    for (size_t i = 0; i < EG_COUNT(formats); i++) {
        TEST_OK(f->ctx, eg_mesh_write_gmsh(mesh, f->path, &formats[i]));
        TEST_OK(f->ctx, eg_mesh_read_gmsh(f->ctx, f->path, NULL, &read[i]));
        assert_same_mesh(mesh, read[i], false);
        assert_same_mesh(read[0], read[i], true);
    }
    for (size_t i = 0; i < EG_COUNT(formats); i++)
        eg_mesh_destroy(&read[i]);
}

static void test_gmsh_formats__every_form_is_read_as_the_mesh_that_was_written(void **state)
{
    (void)state;
    fixture f = begin();
    for (int s = EG_SHAPE_TRI; s < EG_SHAPE_COUNT; s++) {
        for (int order = 1; order <= 3; order++) {
            eg_mesh *mesh = make_box(f.ctx, &(eg_box_options){.shape = (eg_shape)s,
                                                              .cells = {3, 4, 2},
                                                              .periodic = {true},
                                                              .perturb = 0.2,
                                                              .order = order});
            check_forms(&f, mesh);
            eg_mesh_destroy(&mesh);
        }
    }
    end(&f);
}

static void test_gmsh_formats__meshes_of_two_shapes_come_back_in_every_form(void **state)
{
    (void)state;
    fixture f = begin();
    /* Two triangles beside a square; the boundary has two parts. */
    const char file[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                        "$PhysicalNames\n2\n1 7 \"rest\"\n1 9 \"bottom\"\n$EndPhysicalNames\n"
                        "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1.5 0\n"
                        "$EndNodes\n$Elements\n9\n"
                        "1 1 2 9 1 1 2\n2 1 2 9 1 2 3\n3 1 2 7 2 3 6\n4 1 2 7 3 6 5\n"
                        "5 1 2 7 3 5 4\n6 1 2 7 4 4 1\n"
                        "7 2 2 5 1 1 2 5\n8 2 2 5 1 1 5 4\n9 3 2 5 1 2 3 6 5\n$EndElements\n";
    eg_mesh *mesh = NULL, *high = NULL;
    TEST_OK(f.ctx, eg_file_write_atomic(f.ctx, f.path, file, strlen(file), 0600, false));
    TEST_OK(f.ctx, eg_mesh_read_gmsh(f.ctx, f.path, NULL, &mesh));
    assert_int_equal(mesh->element_count, 3);
    check_forms(&f, mesh);
    TEST_OK(f.ctx, eg_mesh_set_order(mesh, 3, &high));
    check_forms(&f, high);
    eg_mesh_destroy(&high);
    eg_mesh_destroy(&mesh);
    end(&f);
}

static void
test_gmsh_formats__the_default_is_text_of_version_41_and_others_are_refused(void **state)
{
    (void)state;
    fixture f = begin();
    eg_mesh *mesh = make_box(f.ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {1, 1}});
    size_t length = 0;
    char *bytes = written(&f, mesh, NULL, &length), *same = NULL;
    assert_memory_equal(bytes, "$MeshFormat\n4.1 0 8\n", 20);
    same = written(&f, mesh, &(eg_gmsh_format){0}, &length);
    assert_string_equal(same, bytes);
    eg_release(f.ctx, &same);
    TEST_FAILS(f.ctx, EG_ERROR_ARGUMENT, "version 22 or 41, not 40",
               eg_mesh_write_gmsh(mesh, f.path, &(eg_gmsh_format){.version = 40}));
    TEST_OK(f.ctx, eg_file_read(f.ctx, f.path, &same, &length));
    assert_string_equal(same, bytes); /* what was there has stayed */
    eg_release(f.ctx, &same);
    eg_release(f.ctx, &bytes);
    eg_mesh_destroy(&mesh);
    end(&f);
}

typedef struct sweep {
    const eg_mesh *mesh;
    const char *path;
    eg_gmsh_format format;
} sweep;

static eg_status write_on(eg_context *ctx, void *user)
{
    const sweep *s = user;
    eg_mesh mesh = *s->mesh;
    mesh.ctx = ctx;
    return eg_mesh_write_gmsh(&mesh, s->path, &s->format);
}

static void test_gmsh_formats__a_failed_allocation_is_reported_in_every_form(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX + 16];
    eg_context *own = NULL; /* the mesh's blocks are not those that the sweep counts */
    assert_int_equal(eg_context_create(NULL, &own), EG_OK);
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/mesh.msh", directory);
    eg_mesh *mesh = make_box(
        own, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {2, 2}, .periodic = {true}});
    test_allocation_sweep(write_on, &(sweep){mesh, path, {.version = 22}});
    test_allocation_sweep(write_on, &(sweep){mesh, path, {.version = 22, .binary = true}});
    test_allocation_sweep(write_on, &(sweep){mesh, path, {.version = 41, .binary = true}});
    eg_mesh_destroy(&mesh);
    eg_context_destroy(&own);
    test_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gmsh_formats__version_22_is_what_gmsh_documents),
        cmocka_unit_test(test_gmsh_formats__binary_files_have_the_numbers_of_text_in_either_order),
        cmocka_unit_test(test_gmsh_formats__every_form_is_read_as_the_mesh_that_was_written),
        cmocka_unit_test(test_gmsh_formats__meshes_of_two_shapes_come_back_in_every_form),
        cmocka_unit_test(
            test_gmsh_formats__the_default_is_text_of_version_41_and_others_are_refused),
        cmocka_unit_test(test_gmsh_formats__a_failed_allocation_is_reported_in_every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
