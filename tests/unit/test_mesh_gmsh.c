/* Meshes as Gmsh files: counts, names, places and order of nodes, boundaries, periodic faces.
 * Files are read back by a reader of this test alone. */
#include "mesh_file.h"

#include <math.h>

#include "mesh/gmsh/nodes.h"
#include "mesh/mesh.h"

/* --- a reader --------------------------------------------------------------------------------- */

#define GROUPS 16
#define NODES 128 /* of an element, at most */
#define PAIRS 512

typedef struct read_element {
    int dim, group, type, count;
    int node[NODES];
} read_element;

typedef struct read_mesh {
    int group_count;
    int group_dim[GROUPS];
    char group_name[GROUPS][32];
    int entity_count[4];
    int node_count, element_count; /* tags are 1 to the count */
    double (*x)[3];
    int *node_group;
    read_element *element; /* by tag - 1 */
    int link_count;
    struct {
        int dim, image, master, pair_count;
        double shift[3];
        int pair[PAIRS][2];
    } link[4];
} read_mesh;

static int take_int(FILE *file)
{
    long value = 0;
    assert_int_equal(fscanf(file, "%ld", &value), 1);
    return (int)value;
}

static double take_real(FILE *file)
{
    char word[64];
    assert_int_equal(fscanf(file, "%63s", word), 1);
    return strtod(word, NULL);
}

static void take_word(FILE *file, const char *expected)
{
    char word[64];
    assert_int_equal(fscanf(file, "%63s", word), 1);
    assert_string_equal(word, expected);
}

static int type_nodes(int type, int *dim)
{
    int8_t lattice[EG_GMSH_NODES_MAX][3];
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        for (int n = 1; n <= EG_GMSH_ORDER_MAX; n++) {
            *dim = eg_shape_get_info((eg_shape)s)->dim;
            if (eg_gmsh_type((eg_shape)s, n) == type) return eg_gmsh_nodes((eg_shape)s, n, lattice);
        }
    }
    return 0;
}

static void read_entities(FILE *file, read_mesh *read)
{
    take_word(file, "$Entities");
    for (int d = 0; d < 4; d++)
        read->entity_count[d] = take_int(file);
    assert_int_equal(read->entity_count[0], 0);
    for (int d = 1; d < 4; d++) {
        for (int i = 0; i < read->entity_count[d]; i++) {
            const int tag = take_int(file);
            double box[6];
            for (int k = 0; k < 6; k++)
                box[k] = take_real(file);
            for (int k = 0; k < 3; k++)
                assert_true(box[k] <= box[k + 3]);
            assert_int_equal(take_int(file), 1);
            assert_int_equal(take_int(file), tag); /* the physical group */
            assert_int_equal(read->group_dim[tag], d);
            const int bounding = take_int(file);
            assert_int_equal(bounding, tag == 1 ? read->entity_count[d - 1] : 0);
            for (int k = 0; k < bounding; k++)
                assert_int_equal(take_int(file), k + 2);
        }
    }
    take_word(file, "$EndEntities");
}

static void read_nodes(FILE *file, read_mesh *read)
{
    take_word(file, "$Nodes");
    const int blocks = take_int(file);
    read->node_count = take_int(file);
    assert_int_equal(take_int(file), 1);
    assert_int_equal(take_int(file), read->node_count);
    read->x = calloc((size_t)read->node_count, sizeof *read->x);
    read->node_group = calloc((size_t)read->node_count, sizeof *read->node_group);
    int *tag = calloc((size_t)read->node_count, sizeof *tag);
    int total = 0;
    for (int b = 0; b < blocks; b++) {
        const int dim = take_int(file), group = take_int(file);
        assert_int_equal(read->group_dim[group], dim);
        assert_int_equal(take_int(file), 0);
        const int count = take_int(file);
        for (int i = 0; i < count; i++) {
            tag[i] = take_int(file);
            assert_in_range(tag[i], 1, read->node_count);
            assert_int_equal(read->node_group[tag[i] - 1], 0); /* not yet seen */
            read->node_group[tag[i] - 1] = group;
        }
        for (int i = 0; i < count; i++)
            for (int d = 0; d < 3; d++)
                read->x[tag[i] - 1][d] = take_real(file);
        total += count;
    }
    assert_int_equal(total, read->node_count);
    free(tag);
    take_word(file, "$EndNodes");
}

static void read_elements(FILE *file, read_mesh *read)
{
    take_word(file, "$Elements");
    const int blocks = take_int(file);
    read->element_count = take_int(file);
    assert_int_equal(take_int(file), 1);
    assert_int_equal(take_int(file), read->element_count);
    read->element = calloc((size_t)read->element_count, sizeof *read->element);
    int total = 0;
    for (int b = 0; b < blocks; b++) {
        const int dim = take_int(file), group = take_int(file), type = take_int(file);
        const int count = take_int(file);
        int type_dim = 0;
        const int nodes = type_nodes(type, &type_dim);
        assert_int_equal(dim, type_dim);
        assert_int_equal(read->group_dim[group], dim);
        int previous = 0;
        for (int i = 0; i < count; i++) {
            const int tag = take_int(file);
            assert_in_range(tag, previous + 1, read->element_count); /* ascending in a block */
            previous = tag;
            read_element *element = &read->element[tag - 1];
            assert_int_equal(element->type, 0); /* not yet seen */
            *element = (read_element){.dim = dim, .group = group, .type = type, .count = nodes};
            for (int k = 0; k < nodes; k++) {
                element->node[k] = take_int(file);
                assert_in_range(element->node[k], 1, read->node_count);
            }
        }
        total += count;
    }
    assert_int_equal(total, read->element_count);
    take_word(file, "$EndElements");
}

static void read_periodic(FILE *file, read_mesh *read)
{
    char word[64];
    if (fscanf(file, "%63s", word) != 1) return;
    assert_string_equal(word, "$Periodic");
    read->link_count = take_int(file);
    assert_in_range(read->link_count, 1, EG_COUNT(read->link));
    for (int i = 0; i < read->link_count; i++) {
        read->link[i].dim = take_int(file);
        read->link[i].image = take_int(file);
        read->link[i].master = take_int(file);
        assert_int_equal(take_int(file), 16);
        for (int row = 0; row < 4; row++) {
            for (int column = 0; column < 4; column++) {
                const double value = take_real(file);
                if (column == 3 && row < 3)
                    read->link[i].shift[row] = value;
                else
                    assert_true(value == (row == column ? 1.0 : 0.0));
            }
        }
        read->link[i].pair_count = take_int(file);
        assert_in_range(read->link[i].pair_count, 1, PAIRS);
        for (int k = 0; k < read->link[i].pair_count; k++)
            for (int side = 0; side < 2; side++)
                read->link[i].pair[k][side] = take_int(file);
    }
    take_word(file, "$EndPeriodic");
}

/* Reads a file and insists on its form. Free with read_free. */
static read_mesh *read_file(const char *path)
{
    read_mesh *read = calloc(1, sizeof *read);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    take_word(file, "$MeshFormat");
    take_word(file, "4.1");
    take_word(file, "0");
    take_word(file, "8");
    take_word(file, "$EndMeshFormat");
    take_word(file, "$PhysicalNames");
    read->group_count = take_int(file);
    assert_in_range(read->group_count, 1, GROUPS - 1);
    for (int i = 0; i < read->group_count; i++) {
        const int dim = take_int(file), tag = take_int(file);
        assert_in_range(tag, 1, GROUPS - 1);
        assert_int_equal(read->group_dim[tag], 0);
        read->group_dim[tag] = dim;
        assert_int_equal(fscanf(file, " \"%31[^\"]\"", read->group_name[tag]), 1);
    }
    take_word(file, "$EndPhysicalNames");
    read_entities(file, read);
    read_nodes(file, read);
    read_elements(file, read);
    read_periodic(file, read);
    int rest = 0;
    while ((rest = fgetc(file)) == '\n') {
    }
    assert_int_equal(rest, EOF);
    fclose(file);
    return read;
}

static void read_free(read_mesh *read)
{
    free(read->x);
    free(read->node_group);
    free(read->element);
    free(read);
}

/* --- meshes ----------------------------------------------------------------------------------- */

static eg_mesh *make_box(eg_context *ctx, const eg_box_options *options)
{
    eg_mesh *mesh = NULL;
    TEST_OK(ctx, eg_mesh_create_box(ctx, options, &mesh));
    return mesh;
}

static read_mesh *write_and_read(fixture *f, const eg_mesh *mesh)
{
    TEST_OK(f->ctx, eg_mesh_write_gmsh(mesh, f->path, NULL));
    return read_file(f->path);
}

/* A map of degree two in each coordinate, which elements of order 2 and more hold exactly, and its
 * inverse. */
static eg_status bend(void *user, size_t count, const double *X, double *x)
{
    const int dim = *(const int *)user;
    for (size_t i = 0; i < count; i++) {
        const double *from = &X[i * (size_t)dim];
        double *to = &x[i * (size_t)dim];
        const double z = dim > 2 ? from[2] : 0.5;
        to[0] = from[0] + 0.3 * from[1] * z;
        to[1] = from[1] + 0.2 * z * z;
        if (dim > 2) to[2] = z;
        if (dim == 2) to[0] = from[0] + 0.3 * from[1] * from[1];
    }
    return EG_OK;
}

static void unbend(int dim, const double *x, double *X)
{
    const double z = dim > 2 ? x[2] : 0.5;
    X[2] = dim > 2 ? z : 0.0;
    X[1] = x[1] - 0.2 * z * z;
    X[0] = x[0] - 0.3 * X[1] * (dim > 2 ? z : X[1]);
}

static const int boxes_dim[EG_SHAPE_COUNT] = {1, 2, 2, 3, 3};
static const int cut[EG_SHAPE_COUNT] = {1, 2, 1, 6, 1};      /* elements a cell */
static const int face_cut[EG_SHAPE_COUNT] = {1, 1, 1, 2, 1}; /* faces a cell's side */

/* Each node of an element must lie where the lattice says between its vertices, in straight
 * space. */
static void check_places(const read_mesh *read, const read_element *element, eg_shape shape,
                         int order, bool bent)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    const int dim = bent ? read->group_dim[1] : 0;
    int8_t lattice[EG_GMSH_NODES_MAX][3];
    double X[NODES][3] = {{0.0}};
    assert_int_equal(element->count, eg_gmsh_nodes(shape, order, lattice));
    for (int i = 0; i < element->count; i++) {
        if (bent)
            unbend(dim, read->x[element->node[i] - 1], X[i]);
        else
            memcpy(X[i], read->x[element->node[i] - 1], sizeof X[i]);
    }
    for (int i = 0; i < element->count; i++) {
        double expected[3] = {0.0};
        for (int v = 0; v < info->vertices; v++) {
            double weight = 1.0, sum = 0.0;
            for (int d = 0; d < info->dim; d++) {
                const double s = (double)lattice[i][d] / order;
                weight *= info->r[v][d] > 0.0 ? s : 1.0 - s;
                sum += s;
            }
            if (!info->tensor) weight = v == 0 ? 1.0 - sum : (double)lattice[i][v - 1] / order;
            for (int d = 0; d < 3; d++)
                expected[d] += weight * X[v][d];
        }
        for (int d = 0; d < 3; d++)
            assert_true(fabs(X[i][d] - expected[d]) < 1e-13);
    }
}

/* A node on the boundary belongs to a group that has it, any other to the domain. */
static void check_owners(const read_mesh *read)
{
    unsigned *has = calloc((size_t)read->node_count, sizeof *has); /* a bit for each group */
    for (int i = 0; i < read->element_count; i++) {
        const read_element *element = &read->element[i];
        for (int k = 0; element->group > 1 && k < element->count; k++)
            has[element->node[k] - 1] |= 1u << element->group;
    }
    for (int i = 0; i < read->node_count; i++)
        assert_true(has[i] ? has[i] >> read->node_group[i] & 1u : read->node_group[i] == 1);
    free(has);
}

static void check_box(fixture *f, eg_shape shape, int order)
{
    static const int cells[3] = {2, 3, 2};
    static const char *const names[] = {"left", "right", "bottom", "top", "back", "front"};
    const int dim = boxes_dim[shape];
    int map_dim = dim;
    const eg_shape face_shape = eg_shape_get_info(shape)->face_shape;
    eg_mesh *mesh = make_box(f->ctx, &(eg_box_options){.shape = shape,
                                                       .cells = {2, 3, 2},
                                                       .perturb = 0.2,
                                                       .order = order,
                                                       .map = order > 1 ? bend : NULL,
                                                       .map_user = &map_dim});
    read_mesh *read = write_and_read(f, mesh);

    int nodes = 1, elements = cut[shape], faces = 0;
    for (int d = 0; d < dim; d++) {
        nodes *= order * cells[d] + 1;
        elements *= cells[d];
    }
    assert_int_equal(read->node_count, nodes);
    assert_int_equal(read->group_count, 1 + 2 * dim);
    assert_string_equal(read->group_name[1], "domain");
    assert_int_equal(read->group_dim[1], dim);
    assert_int_equal(read->link_count, 0);
    for (int b = 0; b < 2 * dim; b++) {
        assert_string_equal(read->group_name[2 + b], names[b]);
        assert_int_equal(read->group_dim[2 + b], dim - 1);
        int expected = face_cut[shape];
        for (int d = 0; d < dim; d++)
            expected *= d == b / 2 ? 1 : cells[d];
        int found = 0;
        for (int i = elements; i < read->element_count; i++)
            found += read->element[i].group == 2 + b;
        assert_int_equal(found, expected);
        faces += expected;
    }
    assert_int_equal(read->element_count, elements + faces);
    check_owners(read);

    int32_t *by_global = calloc((size_t)elements, sizeof *by_global);
    for (int32_t e = 0; e < mesh->element_count; e++)
        by_global[mesh->global[e]] = e;
    for (int i = 0; i < read->element_count; i++) {
        const read_element *element = &read->element[i];
        assert_int_equal(element->dim, i < elements ? dim : dim - 1);
        assert_int_equal(element->type, eg_gmsh_type(i < elements ? shape : face_shape, order));
        check_places(read, element, i < elements ? shape : face_shape, order, order > 1);
        if (i >= elements) continue;
        /* Element by element in the order of global numbers, vertices to the last bit. */
        for (int v = 0; v < eg_shape_get_info(shape)->vertices; v++) {
            const int32_t vertex = mesh->vertices[by_global[i] * mesh->vertex_stride + v];
            for (int d = 0; d < dim; d++)
                assert_true(read->x[element->node[v] - 1][d] == mesh->x[(int64_t)vertex * dim + d]);
        }
    }
    free(by_global);
    read_free(read);
    eg_mesh_destroy(&mesh);
}

static void test_gmsh_write__straight_boxes_keep_counts_names_order_and_every_bit(void **state)
{
    (void)state;
    fixture f = begin();
    for (int s = EG_SHAPE_TRI; s < EG_SHAPE_COUNT; s++)
        check_box(&f, (eg_shape)s, 1);
    end(&f);
}

static void test_gmsh_write__curved_boxes_share_nodes_that_lie_on_their_polynomials(void **state)
{
    (void)state;
    fixture f = begin();
    for (int s = EG_SHAPE_TRI; s < EG_SHAPE_COUNT; s++)
        for (int order = 2; order <= (boxes_dim[s] == 2 ? 10 : 4); order++)
            check_box(&f, (eg_shape)s, order);
    end(&f);
}

/* The side of a boundary face on which its normal points outward: its vertices run
 * counter-clockwise seen from outside. */
static void test_gmsh_write__normals_of_boundary_faces_point_outward(void **state)
{
    (void)state;
    fixture f = begin();
    for (int s = EG_SHAPE_TRI; s < EG_SHAPE_COUNT; s++) {
        eg_mesh *mesh =
            make_box(f.ctx, &(eg_box_options){.shape = (eg_shape)s, .cells = {2, 2, 2}});
        read_mesh *read = write_and_read(&f, mesh);
        for (int i = mesh->element_count; i < read->element_count; i++) {
            const int *node = read->element[i].node;
            double a[3], b[3] = {0.0, 0.0, 1.0}, outward[3];
            for (int d = 0; d < 3; d++) {
                a[d] = read->x[node[1] - 1][d] - read->x[node[0] - 1][d];
                if (mesh->dim == 3) b[d] = read->x[node[2] - 1][d] - read->x[node[0] - 1][d];
                outward[d] = read->x[node[0] - 1][d] - 0.5;
                if (mesh->dim == 2 && d == 2) outward[d] = 0.0;
            }
            const double triple = outward[0] * (a[1] * b[2] - a[2] * b[1]) +
                                  outward[1] * (a[2] * b[0] - a[0] * b[2]) +
                                  outward[2] * (a[0] * b[1] - a[1] * b[0]);
            assert_true(triple > 0.0);
        }
        read_free(read);
        eg_mesh_destroy(&mesh);
    }
    end(&f);
}

static void test_gmsh_write__periodic_sides_are_groups_whose_nodes_are_paired(void **state)
{
    (void)state;
    fixture f = begin();
    for (int s = EG_SHAPE_TRI; s < EG_SHAPE_COUNT; s++) {
        const int dim = boxes_dim[s], order = 3;
        eg_mesh *mesh = make_box(f.ctx, &(eg_box_options){.shape = (eg_shape)s,
                                                          .cells = {1, 3, 2},
                                                          .low = {1.0, 2.0, 3.0},
                                                          .high = {3.0, 5.0, 7.0},
                                                          .periodic = {true, true},
                                                          .perturb = 0.1,
                                                          .order = order});
        read_mesh *read = write_and_read(&f, mesh);
        check_owners(read);
        const int layer = dim == 3 ? 2 * order + 1 : 1;
        const int first = dim == 3 ? 4 : 2; /* after the domain, back and front */
        assert_int_equal(read->group_count, first + 3);
        assert_int_equal(read->link_count, 2);
        for (int i = 0; i < 2; i++) {
            char name[64];
            snprintf(name, sizeof name, "periodic_%d", i + 1);
            assert_string_equal(read->group_name[first + 2 * i], name);
            snprintf(name, sizeof name, "periodic_%d_image", i + 1);
            assert_string_equal(read->group_name[first + 2 * i + 1], name);
            assert_int_equal(read->link[i].dim, dim - 1);
            assert_int_equal(read->link[i].master, first + 2 * i);
            assert_int_equal(read->link[i].image, first + 2 * i + 1);
            const int expected = ((i == 0 ? 3 : 1) * order + 1) * layer;
            assert_int_equal(read->link[i].pair_count, expected);
            bool *paired = calloc((size_t)read->node_count, sizeof *paired);
            for (int k = 0; k < expected; k++) {
                const int image = read->link[i].pair[k][0] - 1;
                const int master = read->link[i].pair[k][1] - 1;
                assert_false(paired[image]);
                paired[image] = true;
                for (int d = 0; d < 3; d++) {
                    assert_true(fabs(read->link[i].shift[d] - (d != i   ? 0.0
                                                               : d == 0 ? 2.0
                                                                        : 3.0)) < 1e-14);
                    assert_true(fabs(read->x[image][d] - read->x[master][d] -
                                     read->link[i].shift[d]) < 1e-14);
                }
            }
            int side_faces[2] = {0, 0};
            for (int e = mesh->element_count; e < read->element_count; e++) {
                const read_element *element = &read->element[e];
                side_faces[0] += element->group == read->link[i].master;
                side_faces[1] += element->group == read->link[i].image;
                for (int k = 0; element->group == read->link[i].image && k < element->count; k++)
                    assert_true(paired[element->node[k] - 1]);
            }
            assert_int_equal(side_faces[0], (i == 0 ? 3 : 1) * (dim == 3 ? 2 : 1) * face_cut[s]);
            assert_int_equal(side_faces[1], side_faces[0]);
            free(paired);
        }
        read_free(read);
        eg_mesh_destroy(&mesh);
    }
    end(&f);
}

/* A ring: the box's left and right sides meet, to rounding. */
static eg_status roll(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const double radius = 1.0 + X[2 * i + 1], angle = -2.0 * acos(-1.0) * X[2 * i];
        x[2 * i] = radius * cos(angle);
        x[2 * i + 1] = radius * sin(angle);
    }
    return EG_OK;
}

static eg_mesh *make_ring(eg_context *ctx, int cells, int order)
{
    return make_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                           .cells = {cells, 2},
                                           .periodic = {true},
                                           .order = order,
                                           .map = roll});
}

static void test_gmsh_write__the_seam_of_a_ring_closes(void **state)
{
    (void)state;
    fixture f = begin();
    eg_mesh *mesh = make_ring(f.ctx, 5, 3);
    read_mesh *read = write_and_read(&f, mesh);
    assert_int_equal(read->node_count, 5 * 3 * (2 * 3 + 1));
    assert_int_equal(read->group_count, 3);
    assert_string_equal(read->group_name[2], "bottom");
    assert_string_equal(read->group_name[3], "top");
    assert_int_equal(read->link_count, 0);
    assert_int_equal(read->element_count, 10 + 2 * 5);
    read_free(read);
    eg_mesh_destroy(&mesh);
    end(&f);
}

static void test_gmsh_write__two_edges_between_the_same_vertices_are_refused(void **state)
{
    (void)state;
    fixture f = begin();
    eg_mesh *mesh = make_ring(f.ctx, 2, 4);
    TEST_FAILS(f.ctx, EG_ERROR_INPUT, "divide the mesh more finely",
               eg_mesh_write_gmsh(mesh, f.path, NULL));
    assert_int_equal(access(f.path, F_OK), -1);
    eg_mesh_destroy(&mesh);
    end(&f);
}

static void
test_gmsh_write__faces_joined_by_no_translation_are_left_out_with_a_warning(void **state)
{
    (void)state;
    fixture f = begin();
    eg_mesh *mesh = make_box(
        f.ctx,
        &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {3, 3}, .periodic = {true, false}});
    for (int64_t v = 0; v < mesh->vertex_count; v++) /* opens the right side like a fan */
        mesh->x[2 * v] *= 1.0 + mesh->x[2 * v + 1];
    read_mesh *read = write_and_read(&f, mesh);
    assert_non_null(strstr(test_log, "6 faces are joined to others that are not a translation"));
    assert_int_equal(read->group_count, 3);
    assert_int_equal(read->link_count, 0);
    assert_int_equal(read->element_count, 18 + 6);
    read_free(read);
    eg_mesh_destroy(&mesh);
    end(&f);
}

static void test_gmsh_write__triangles_and_quadrilaterals_share_their_edges(void **state)
{
    (void)state;
    fixture f = begin();
    /* A square beside a triangle, of order 2, made by hand. */
    double x[] = {0, 0, 1, 0, 1, 1, 0, 1, 2, 0};
    uint8_t shape[] = {EG_SHAPE_TRI, EG_SHAPE_QUAD};
    int64_t global[] = {1, 0};
    int32_t vertices[] = {1, 4, 2, -1, 0, 1, 2, 3};
    int32_t neighbour[] = {-1, -1, 1, -1, -1, 0, -1, -1};
    uint8_t neighbour_face[] = {0, 0, 1 | 1 << 3, 0, 0, 2 | 1 << 3, 0, 0};
    double nodes[2][9][2];
    char wall[] = "wall", *boundary[] = {wall};
    eg_mesh mesh = {.ctx = f.ctx,
                    .dim = 2,
                    .vertex_count = 5,
                    .x = x,
                    .element_count = 2,
                    .interior_count = 2,
                    .global_count = 2,
                    .vertex_stride = 4,
                    .face_stride = 4,
                    .shape = shape,
                    .global = global,
                    .vertices = vertices,
                    .neighbour = neighbour,
                    .neighbour_face = neighbour_face,
                    .order = 2,
                    .node_stride = 9,
                    .nodes = &nodes[0][0][0],
                    .boundary_count = 1,
                    .boundary = boundary};
    for (int e = 0; e < 2; e++) {
        eg_element *element = NULL;
        TEST_OK(f.ctx, eg_element_create(f.ctx, (eg_shape)shape[e], 2, EG_BASIS_LOBATTO, &element));
        for (int i = 0; i < element->np; i++) {
            const double r = element->r[i], s = element->r[element->np + i];
            nodes[e][i][0] = 0.5 * (r + 1.0) + (e == 0 ? 1.0 : 0.0);
            nodes[e][i][1] = 0.5 * (s + 1.0);
        }
        eg_element_destroy(&element);
    }
    read_mesh *read = write_and_read(&f, &mesh);
    assert_int_equal(read->node_count, 6 + 9 - 3);
    assert_int_equal(read->element_count, 2 + 5);
    assert_int_equal(read->element[0].type, 10); /* tags tell global numbers: the square is first */
    assert_int_equal(read->element[1].type, 9);
    int shared = 0;
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 6; k++)
            shared += read->element[0].node[i] == read->element[1].node[k];
    assert_int_equal(shared, 3);
    read_free(read);
    end(&f);
}

static void test_gmsh_write__what_gmsh_cannot_hold_is_refused(void **state)
{
    (void)state;
    fixture f = begin();
    eg_mesh *mesh =
        make_box(f.ctx, &(eg_box_options){.shape = EG_SHAPE_HEX, .cells = {1, 1, 1}, .order = 10});
    TEST_FAILS(f.ctx, EG_ERROR_INPUT, "no hexahedron of order 10: write a mesh of order 9 or less",
               eg_mesh_write_gmsh(mesh, f.path, NULL));
    eg_mesh_destroy(&mesh);
    mesh = make_box(f.ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {1, 1}, .order = 11});
    TEST_FAILS(f.ctx, EG_ERROR_INPUT, "order 10 or less", eg_mesh_write_gmsh(mesh, f.path, NULL));
    eg_mesh_destroy(&mesh);

    mesh = make_box(f.ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {1, 1}});
    char *name = mesh->boundary[0], long_name[129];
    memset(long_name, 'a', 128);
    long_name[128] = '\0';
    char *bad[] = {"in\"let", "in\nlet", "", long_name};
    for (size_t i = 0; i < EG_COUNT(bad); i++) {
        mesh->boundary[0] = bad[i];
        TEST_FAILS(f.ctx, EG_ERROR_INPUT, "cannot stand in a Gmsh file",
                   eg_mesh_write_gmsh(mesh, f.path, NULL));
    }
    char *reserved[] = {"periodic_1", "periodic_12", "periodic_1_image"};
    for (size_t i = 0; i < EG_COUNT(reserved); i++) {
        mesh->boundary[0] = reserved[i];
        TEST_FAILS(f.ctx, EG_ERROR_INPUT, "is kept for the sides of periodic boxes",
                   eg_mesh_write_gmsh(mesh, f.path, NULL));
    }
    char *free_names[] = {"periodic",    "periodic_",         "periodic_x",
                          "periodic_1_", "periodic_1_images", "aperiodic_1"};
    for (size_t i = 0; i < EG_COUNT(free_names); i++) {
        mesh->boundary[0] = free_names[i];
        TEST_OK(f.ctx, eg_mesh_write_gmsh(mesh, f.path, NULL));
        assert_int_equal(unlink(f.path), 0);
    }
    mesh->boundary[0] = name;
    mesh->global_count = 3;
    TEST_FAILS(f.ctx, EG_ERROR_ARGUMENT, "only a whole mesh",
               eg_mesh_write_gmsh(mesh, f.path, NULL));
    mesh->global_count = 2;
    assert_int_equal(access(f.path, F_OK), -1);
    TEST_FAILS(f.ctx, EG_ERROR_IO, "/nonexistent/mesh.msh",
               eg_mesh_write_gmsh(mesh, "/nonexistent/mesh.msh", NULL));
    eg_mesh_destroy(&mesh);
    end(&f);
}

typedef struct sweep {
    const eg_mesh *mesh;
    const char *path;
} sweep;

static eg_status write_on(eg_context *ctx, void *user)
{
    const sweep *s = user;
    eg_mesh mesh = *s->mesh;
    mesh.ctx = ctx;
    return eg_mesh_write_gmsh(&mesh, s->path, NULL);
}

static void test_gmsh_write__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX + 16];
    eg_context *own = NULL; /* the mesh's blocks are not those that the sweep counts */
    assert_int_equal(eg_context_create(NULL, &own), EG_OK);
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/mesh.msh", directory);
    eg_mesh *mesh = make_box(
        own,
        &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {2, 2}, .periodic = {true}, .order = 2});
    test_allocation_sweep(write_on, &(sweep){mesh, path});
    eg_mesh_destroy(&mesh);
    eg_context_destroy(&own);
    test_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gmsh_write__straight_boxes_keep_counts_names_order_and_every_bit),
        cmocka_unit_test(test_gmsh_write__curved_boxes_share_nodes_that_lie_on_their_polynomials),
        cmocka_unit_test(test_gmsh_write__normals_of_boundary_faces_point_outward),
        cmocka_unit_test(test_gmsh_write__periodic_sides_are_groups_whose_nodes_are_paired),
        cmocka_unit_test(test_gmsh_write__the_seam_of_a_ring_closes),
        cmocka_unit_test(test_gmsh_write__two_edges_between_the_same_vertices_are_refused),
        cmocka_unit_test(
            test_gmsh_write__faces_joined_by_no_translation_are_left_out_with_a_warning),
        cmocka_unit_test(test_gmsh_write__triangles_and_quadrilaterals_share_their_edges),
        cmocka_unit_test(test_gmsh_write__what_gmsh_cannot_hold_is_refused),
        cmocka_unit_test(test_gmsh_write__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
