/* Colours of elements with any number of ranks: run alone, and with mpirun where MPI was built in. */
#include "ranks.h"

#include "model/elliptic/colours.h"

static const eg_box_options boxes[] = {
    {.shape = EG_SHAPE_TRI, .cells = {7, 5}, .periodic = {true}},
    {.shape = EG_SHAPE_TRI,
     .cells = {2, 1},
     .periodic = {true, true}}, /* its own neighbour twice */
    {.shape = EG_SHAPE_QUAD, .cells = {6, 5}},
    {.shape = EG_SHAPE_TET, .cells = {2, 3, 2}},
    {.shape = EG_SHAPE_HEX, .cells = {4, 3, 4}, .periodic = {false, false, true}},
};

static void check_apart(const eg_mesh *mesh, const uint8_t *colour, int32_t from, int32_t at,
                        int steps)
{
    const int faces = eg_shape_get_info((eg_shape)mesh->shape[at])->faces;
    for (int f = 0; steps > 0 && f < faces; f++) {
        const int32_t next = mesh->neighbour[at * mesh->face_stride + f];
        if (next < 0) continue;
        if (next != from) assert_int_not_equal(colour[next], colour[from]);
        check_apart(mesh, colour, from, next, steps - 1);
    }
}

static void check_colours(const eg_box_options *box, int distance)
{
    divided d = divided_new(box);
    uint8_t whole[512], mine[512];
    int count = 0, count_mine = 0, neighbours = eg_shape_get_info(box->shape)->faces;
    bool used[64] = {false};
    assert_true(d.whole->element_count <= 512);
    TEST_OK(d.ctx, eg_colour_elements(d.whole, d.self, distance, whole, &count));
    TEST_OK(d.ctx, eg_colour_elements(d.mine, d.world, distance, mine, &count_mine));
    assert_int_equal(count, count_mine);
    assert_true(count <= 1 + neighbours + (distance - 1) * neighbours * (neighbours - 1));
    for (int32_t e = 0; e < d.whole->element_count; e++) {
        assert_true(whole[e] < count);
        used[whole[e]] = true;
        check_apart(d.whole, whole, e, e, distance);
    }
    for (int c = 0; c < count; c++)
        assert_true(used[c]);
    for (int32_t e = 0; e < d.mine->element_count + d.mine->ghost_count; e++) {
        int32_t same = 0;
        while (d.whole->global[same] != d.mine->global[e])
            same++;
        assert_int_equal(mine[e], whole[same]);
    }
    divided_free(&d);
}

static void test_elliptic_colours__near_elements_differ_the_same_on_any_ranks(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(boxes); i++)
        for (int distance = 1; distance <= 2; distance++)
            check_colours(&boxes[i], distance);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elliptic_colours__near_elements_differ_the_same_on_any_ranks),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
