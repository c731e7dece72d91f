/* The order of a space's elements: each stands in it once, in rows along the first direction,
 * sheets and blocks of them, however a mesh is joined to itself or its elements are turned. */
#include "field.h"

/* --- parsing an order ------------------------------------------------------------------------- */

/* What an order consists of. */
typedef struct parsed {
    int64_t rows, sheets, blocks;
} parsed;

static const int sheet_most = 8; /* rows in a sheet of hexahedra */

/* The element behind the face at 1 of a direction, if it is met at -1 there; else -1. */
static int32_t next_of(const eg_mesh *mesh, int32_t element, int direction)
{
    static const int quad[2][2] = {{3, 1}, {0, 2}}, hex[3][2] = {{4, 2}, {1, 3}, {0, 5}};
    const int *face = mesh->dim == 2 ? quad[direction] : hex[direction];
    const size_t at = (size_t)element * (size_t)mesh->face_stride + (size_t)face[1];
    return EG_FACE(mesh->neighbour_face[at]) == face[0] ? mesh->neighbour[at] : -1;
}

/* Reads an order of `count` elements as rows of at most row_most, which follow each other in the
 * second direction, and in space sheets of them, which do so in the third. */
static parsed parse(const eg_mesh *mesh, const int32_t *order, int32_t count, int row_most)
{
    parsed p = {0};
    int32_t row = -1, sheet = -1; /* what they begin with */
    int64_t in_row = 0, in_sheet = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t e = order[i];
        if (i > 0 && in_row < row_most && next_of(mesh, order[i - 1], 0) == e) {
            in_row++;
            continue;
        }
        const bool goes_on = i > 0 && next_of(mesh, row, 1) == e;
        if (!(goes_on && (mesh->dim == 2 || in_sheet < sheet_most))) {
            if (!(mesh->dim == 3 && i > 0 && next_of(mesh, sheet, 2) == e)) p.blocks++;
            p.sheets++;
            sheet = e;
            in_sheet = 0;
        }
        p.rows++;
        in_sheet++;
        row = e;
        in_row = 1;
    }
    return p;
}

/* The order of a mesh, in which every element and ghost stands once; release with free(). */
static int32_t *order_of(const eg_mesh *mesh, const uint16_t *kind, int row_most)
{
    const size_t count = (size_t)mesh->element_count + (size_t)mesh->ghost_count;
    uint16_t *same = calloc(count, sizeof *same);
    int32_t *order = malloc((count + 1) * sizeof *order);
    bool *found = calloc(count, sizeof *found);
    assert_true(same && order && found);
    for (size_t i = 0; i <= count; i++)
        order[i] = -1;
    TEST_OK(mesh->ctx, eg_space_order(mesh, kind ? kind : same, row_most, order));
    for (size_t i = 0; i < count; i++) {
        assert_in_range(order[i], 0, count - 1);
        assert_false(found[order[i]]);
        found[order[i]] = true;
    }
    assert_int_equal(order[count], -1);
    free(found);
    free(same);
    return order;
}

static int64_t pieces(int64_t count, int64_t most)
{
    return (count + most - 1) / most;
}

/* --- boxes ------------------------------------------------------------------------------------ */

static void test_rows__quadrilaterals_stand_in_rows_eastwards_and_rows_northwards(void **state)
{
    (void)state;
    static const int cells[][2] = {{1, 1},  {2, 2},  {1, 9},   {9, 1},    {8, 8},    {13, 7},
                                   {64, 5}, {70, 9}, {512, 2}, {513, 20}, {1300, 3}, {3, 700}};
    static const int most[] = {1, 32, 512};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(cells); i++)
        for (int periodic = 0; periodic < 4; periodic++)
            for (size_t k = 0; k < EG_COUNT(most); k++) {
                const int nx = cells[i][0], ny = cells[i][1];
                eg_mesh *mesh =
                    box_with(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                    .cells = {nx, ny},
                                                    .periodic = {periodic & 1, periodic >> 1}});
                int32_t *order = order_of(mesh, NULL, most[k]);
                const parsed p = parse(mesh, order, nx * ny, most[k]);
                assert_int_equal(p.blocks, pieces(nx, most[k]));
                assert_int_equal(p.rows, pieces(nx, most[k]) * ny);
                free(order);
                eg_mesh_destroy(&mesh);
            }
    test_context_free(&ctx);
}

static void test_rows__hexahedra_stand_in_sheets_of_8_rows(void **state)
{
    (void)state;
    static const int cells[][3] = {{1, 1, 1},  {5, 8, 3},  {16, 16, 16}, {40, 19, 6},
                                   {9, 30, 2}, {3, 4, 50}, {70, 9, 1}};
    static const int most[] = {32, 512};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(cells); i++)
        for (int periodic = 0; periodic < 8; periodic++)
            for (size_t k = 0; k < EG_COUNT(most); k++) {
                const int nx = cells[i][0], ny = cells[i][1], nz = cells[i][2];
                eg_mesh *mesh =
                    box_with(ctx, &(eg_box_options){.shape = EG_SHAPE_HEX,
                                                    .cells = {nx, ny, nz},
                                                    .periodic = {periodic & 1, periodic >> 1 & 1,
                                                                 periodic >> 2}});
                int32_t *order = order_of(mesh, NULL, most[k]);
                const parsed p = parse(mesh, order, nx * ny * nz, most[k]);
                const int64_t blocks = pieces(nx, most[k]) * pieces(ny, sheet_most);
                assert_int_equal(p.blocks, blocks);
                assert_int_equal(p.sheets, blocks * nz);
                assert_int_equal(p.rows, pieces(nx, most[k]) * ny * nz);
                free(order);
                eg_mesh_destroy(&mesh);
            }
    test_context_free(&ctx);
}

static void test_rows__simplices_keep_the_order_of_the_mesh(void **state)
{
    (void)state;
    static const eg_shape shapes[] = {EG_SHAPE_TRI, EG_SHAPE_TET};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(shapes); i++) {
        eg_mesh *mesh = box(ctx, shapes[i], 5, 6, 3, 0.0, true);
        int32_t *order = order_of(mesh, NULL, 512);
        for (int32_t e = 0; e < mesh->element_count; e++)
            assert_int_equal(order[e], e);
        free(order);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static void test_rows__rows_are_of_one_kind(void **state)
{
    (void)state;
    enum { NX = 24, NY = 10 };
    eg_context *ctx = test_context();
    eg_mesh *mesh = box(ctx, EG_SHAPE_QUAD, NX, NY, 0, 0.0, false);
    uint16_t kind[NX * NY];
    /* Bands of 8 columns: a block each. */
    for (int32_t e = 0; e < NX * NY; e++)
        kind[e] = (uint16_t)(mesh->global[e] % NX / 8);
    int32_t *order = order_of(mesh, kind, 512);
    for (int32_t i = 0; i < NX * NY; i++)
        assert_int_equal(kind[order[i]], kind[order[i / (8 * NY) * (8 * NY)]]);
    for (int band = 0; band < 3; band++) {
        const parsed p = parse(mesh, order + (ptrdiff_t)band * 8 * NY, 8 * NY, 512);
        assert_int_equal(p.blocks, 1);
        assert_int_equal(p.rows, NY);
    }
    free(order);
    /* A chequer-board has no rows: the order of the mesh. */
    for (int32_t e = 0; e < NX * NY; e++)
        kind[e] = (uint16_t)((mesh->global[e] % NX + mesh->global[e] / NX) % 2);
    order = order_of(mesh, kind, 512);
    for (int32_t e = 0; e < NX * NY; e++)
        assert_int_equal(order[e], e);
    free(order);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_rows__slots_of_a_space_are_in_rows_of_512_on_cpus(void **state)
{
    (void)state;
    enum { NX = 1030, NY = 4 };
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_comm *comm = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    eg_mesh *mesh = box(ctx, EG_SHAPE_QUAD, NX, NY, 0, 0.0, false);
    /* The upper half of the mesh has another degree: two groups. */
    uint8_t degrees[NX * NY];
    for (int32_t e = 0; e < NX * NY; e++)
        degrees[e] = mesh->global[e] / NX < NY / 2 ? 1 : 2;
    eg_space *space = NULL;
    TEST_OK(ctx, eg_space_create(device, comm, mesh,
                                 &(eg_space_options){.degrees = degrees, .lanes = 16}, &space));
    assert_int_equal(space->group_count, 2);
    for (int i = 0; i < 2; i++) {
        const eg_group *g = &space->groups[i];
        assert_int_equal(g->element_count, NX * NY / 2);
        const parsed p = parse(mesh, g->element_of_slot, g->element_count, 512);
        assert_int_equal(p.blocks, pieces(NX, 512));
        assert_int_equal(p.rows, pieces(NX, 512) * NY / 2);
    }
    eg_space_destroy(&space);
    eg_mesh_destroy(&mesh);
    eg_comm_destroy(&comm);
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* --- twisted meshes --------------------------------------------------------------------------- */

typedef enum joint {
    STRIP,   /* ends in x */
    TORUS,   /* the last in x is joined to the first */
    HELIX,   /* … to the first of the next row */
    MOEBIUS, /* … to the first of the row as far from the top as this one from the bottom */
    KLEIN,   /* the same, and the last in y to the first */
    COMB,    /* ends in x; every 4th joint of the first row is cut */
    CORNER,  /* on a square, the east face at the end of a row to the north one of a column's end */
    JOINTS
} joint;

typedef enum numbering { FORWARDS, BACKWARDS, RANDOM, NUMBERINGS } numbering;

/* A grid of quadrilaterals joined to itself; of the mesh only what an order depends on. */
typedef struct grid {
    eg_mesh mesh;
    int nx, ny;
    int32_t *number; /* [ny][nx] */
} grid;

static void join(grid *g, int a, int face_a, int b, int face_b)
{
    const size_t at = (size_t)g->number[a] * 4 + (size_t)face_a;
    const size_t there = (size_t)g->number[b] * 4 + (size_t)face_b;
    g->mesh.neighbour[at] = g->number[b];
    g->mesh.neighbour_face[at] = (uint8_t)face_b;
    g->mesh.neighbour[there] = g->number[a];
    g->mesh.neighbour_face[there] = (uint8_t)face_a;
}

static grid grid_new(eg_context *ctx, int nx, int ny, joint how, numbering numbers)
{
    enum { SOUTH, EAST, NORTH, WEST };
    const int count = nx * ny;
    grid g = {.mesh = {.ctx = ctx, .dim = 2, .element_count = count, .face_stride = 4},
              .nx = nx,
              .ny = ny,
              .number = calloc((size_t)count, sizeof *g.number)};
    g.mesh.shape = malloc((size_t)count);
    g.mesh.neighbour = malloc((size_t)count * 4 * sizeof *g.mesh.neighbour);
    g.mesh.neighbour_face = calloc((size_t)count, 4);
    assert_true(g.number && g.mesh.shape && g.mesh.neighbour && g.mesh.neighbour_face);
    memset(g.mesh.shape, EG_SHAPE_QUAD, (size_t)count);
    uint64_t seed = 7;
    for (int i = 0; i < count; i++) {
        const int j = numbers == RANDOM ? (int)((test_random(&seed) + 1.0) / 2.0 * (i + 0.999)) : i;
        g.number[i] = g.number[j];
        g.number[j] = numbers == BACKWARDS ? count - 1 - i : i;
    }
    for (int i = 0; i < 4 * count; i++)
        g.mesh.neighbour[i] = -1;
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            const int here = y * nx + x;
            const bool cut = how == COMB && y == 0 && x % 4 == 3;
            if (x + 1 < nx && !cut) join(&g, here, EAST, here + 1, WEST);
            if (y + 1 < ny) join(&g, here, NORTH, here + nx, SOUTH);
            if (y + 1 == ny && how == KLEIN) join(&g, here, NORTH, x, SOUTH);
        }
    for (int y = 0; y < ny; y++) {
        const int end = y * nx + nx - 1;
        if (how == TORUS) join(&g, end, EAST, y * nx, WEST);
        if (how == HELIX && y + 1 < ny) join(&g, end, EAST, (y + 1) * nx, WEST);
        if (how == MOEBIUS || how == KLEIN) join(&g, end, EAST, (ny - 1 - y) * nx, WEST);
        if (how == CORNER) join(&g, end, EAST, (ny - 1) * nx + y, NORTH);
    }
    return g;
}

static void grid_free(grid *g)
{
    free(g->mesh.neighbour_face);
    free(g->mesh.neighbour);
    free(g->mesh.shape);
    free(g->number);
}

static void test_rows__every_element_has_a_place_however_a_mesh_is_twisted(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {2, 2},   {7, 7},   {40, 40},
                                   {8, 6}, {2, 300}, {300, 1}, {90, 5}};
    static const int most[] = {1, 8, 512};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(sizes); i++)
        for (joint how = 0; how < JOINTS; how++)
            for (numbering numbers = 0; numbers < NUMBERINGS; numbers++) {
                const int nx = sizes[i][0], ny = sizes[i][1];
                if (how == CORNER && nx != ny) continue;
                grid g = grid_new(ctx, nx, ny, how, numbers);
                for (size_t k = 0; k < EG_COUNT(most); k++)
                    free(order_of(&g.mesh, NULL, most[k]));
                grid_free(&g);
            }
    test_context_free(&ctx);
}

/* Rows end where the element behind the face is turned. */
static void test_rows__rows_do_not_go_around_corners(void **state)
{
    (void)state;
    enum { N = 7 };
    eg_context *ctx = test_context();
    grid g = grid_new(ctx, N, N, CORNER, FORWARDS);
    int32_t *order = order_of(&g.mesh, NULL, 512);
    const parsed p = parse(&g.mesh, order, N * N, 512);
    assert_int_equal(p.blocks, 1);
    assert_int_equal(p.rows, N);
    free(order);
    grid_free(&g);
    test_context_free(&ctx);
}

/* From the end of the second row the way back leads to the first, which is cut, so that the block
 * that begins there does not reach that end, and nothing else does. */
static void test_rows__an_element_that_a_block_does_not_reach_is_taken_with_the_next(void **state)
{
    (void)state;
    enum { NX = 5, NY = 2, TOOTH = 4 };
    eg_context *ctx = test_context();
    grid g = grid_new(ctx, NX, NY, COMB, BACKWARDS);
    uint16_t kind[NX * NY] = {0};
    kind[g.number[NX - 1]] = 1;
    int32_t *order = order_of(&g.mesh, kind, TOOTH);
    assert_int_equal(order[NX * NY - 2], g.number[NX * NY - 1]);
    assert_int_equal(order[NX * NY - 1], g.number[NX - 1]);
    const parsed p = parse(&g.mesh, order, TOOTH * NY, TOOTH);
    assert_int_equal(p.blocks, 1);
    assert_int_equal(p.rows, NY);
    free(order);
    grid_free(&g);
    test_context_free(&ctx);
}

/* A Möbius strip's rows go around twice, through a row and its mirror image. */
static void test_rows__rows_of_a_moebius_strip_go_around_twice(void **state)
{
    (void)state;
    enum { NX = 50, NY = 6 };
    eg_context *ctx = test_context();
    grid g = grid_new(ctx, NX, NY, MOEBIUS, FORWARDS);
    int32_t *order = order_of(&g.mesh, NULL, 512);
    const parsed p = parse(&g.mesh, order, NX * NY, 512);
    assert_int_equal(p.blocks, 1);
    assert_int_equal(p.rows, NY / 2);
    free(order);
    grid_free(&g);
    test_context_free(&ctx);
}

static void test_rows__elements_turned_at_random_have_a_place_each(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        eg_mesh *mesh = seed % 2 ? box(ctx, EG_SHAPE_QUAD, 30, 20, 0, 0.0, false)
                                 : box(ctx, EG_SHAPE_HEX, 9, 10, 8, 0.0, false);
        turn_elements(mesh, seed);
        free(order_of(mesh, NULL, 512));
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Each would take hours if looking for beginnings of blocks went over the same elements again and
 * again. Numbered backwards, blocks are asked for at the far end first. */
static void test_rows__a_million_elements_are_no_matter(void **state)
{
    (void)state;
    static const struct {
        int nx, ny, most;
        joint how;
        numbering numbers;
        int64_t rows; /* 0: as they come */
    } cases[] = {
        {1000000, 1, 4, STRIP, BACKWARDS, 250000}, {1000000, 1, 4, TORUS, BACKWARDS, 250000},
        {1000, 1000, 32, STRIP, BACKWARDS, 32000}, {1, 1000000, 4, STRIP, BACKWARDS, 1000000},
        {2, 500000, 4, HELIX, BACKWARDS, 0},       {2, 500000, 4, MOEBIUS, RANDOM, 0},
        {1000, 1000, 32, KLEIN, RANDOM, 0},        {1000000, 1, 512, STRIP, RANDOM, 0},
        {500000, 2, 4, COMB, BACKWARDS, 0},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        grid g = grid_new(ctx, cases[i].nx, cases[i].ny, cases[i].how, cases[i].numbers);
        int32_t *order = order_of(&g.mesh, NULL, cases[i].most);
        const parsed p = parse(&g.mesh, order, g.mesh.element_count, cases[i].most);
        if (cases[i].rows) assert_int_equal(p.rows, cases[i].rows);
        free(order);
        grid_free(&g);
    }
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows__quadrilaterals_stand_in_rows_eastwards_and_rows_northwards),
        cmocka_unit_test(test_rows__hexahedra_stand_in_sheets_of_8_rows),
        cmocka_unit_test(test_rows__simplices_keep_the_order_of_the_mesh),
        cmocka_unit_test(test_rows__rows_are_of_one_kind),
        cmocka_unit_test(test_rows__slots_of_a_space_are_in_rows_of_512_on_cpus),
        cmocka_unit_test(test_rows__every_element_has_a_place_however_a_mesh_is_twisted),
        cmocka_unit_test(test_rows__rows_do_not_go_around_corners),
        cmocka_unit_test(test_rows__an_element_that_a_block_does_not_reach_is_taken_with_the_next),
        cmocka_unit_test(test_rows__rows_of_a_moebius_strip_go_around_twice),
        cmocka_unit_test(test_rows__elements_turned_at_random_have_a_place_each),
        cmocka_unit_test(test_rows__a_million_elements_are_no_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
