/* Gmsh's element types and the order of their nodes. */
#include "test.h"

#include "mesh/gmsh/nodes.h"

/* The lattice as digits, a node after another. */
static const char *write_lattice(eg_shape shape, int order, char text[8 * EG_GMSH_NODES_MAX])
{
    int8_t lattice[EG_GMSH_NODES_MAX][3];
    const int count = eg_gmsh_nodes(shape, order, lattice);
    char *at = text;
    for (int i = 0; i < count; i++) {
        if (i > 0) *at++ = ' ';
        for (int d = 0; d < eg_shape_get_info(shape)->dim; d++)
            *at++ = (char)('0' + lattice[i][d]);
    }
    *at = '\0';
    return text;
}

static void test_gmsh_nodes__low_orders_are_those_of_gmsh(void **state)
{
    (void)state;
    static const struct {
        eg_shape shape;
        int order, type;
        const char *lattice;
    } known[] = {
        {EG_SHAPE_LINE, 2, 8, "0 2 1"},
        {EG_SHAPE_LINE, 3, 26, "0 3 1 2"},
        {EG_SHAPE_TRI, 2, 9, "00 20 02 10 11 01"},
        {EG_SHAPE_TRI, 3, 21, "00 30 03 10 20 21 12 02 01 11"},
        {EG_SHAPE_QUAD, 2, 10, "00 20 22 02 10 21 12 01 11"},
        {EG_SHAPE_QUAD, 3, 36, "00 30 33 03 10 20 31 32 23 13 02 01 11 21 22 12"},
        {EG_SHAPE_TET, 2, 11, "000 200 020 002 100 110 010 001 011 101"},
        {EG_SHAPE_TET, 3, 29,
         "000 300 030 003 100 200 210 120 020 010 002 001 012 021 102 201 110 101 011 111"},
        {EG_SHAPE_TET, 4, 30,
         "000 400 040 004 100 200 300 310 220 130 030 020 010 003 002 001 013 022 031 103 202 "
         "301 110 120 210 101 201 102 011 012 021 112 211 121 111"},
        {EG_SHAPE_HEX, 2, 12,
         "000 200 220 020 002 202 222 022 100 010 001 210 201 120 221 021 102 012 212 122 110 101 "
         "011 211 121 112 111"},
        {EG_SHAPE_HEX, 3, 92,
         "000 300 330 030 003 303 333 033 100 200 010 020 001 002 310 320 301 302 230 130 331 332 "
         "031 032 103 203 013 023 313 323 233 133 110 120 220 210 101 201 202 102 011 012 022 021 "
         "311 321 322 312 231 131 132 232 113 213 223 123 111 211 221 121 112 212 222 122"},
    };
    for (size_t i = 0; i < EG_COUNT(known); i++) {
        char text[8 * EG_GMSH_NODES_MAX];
        assert_int_equal(eg_gmsh_type(known[i].shape, known[i].order), known[i].type);
        assert_string_equal(write_lattice(known[i].shape, known[i].order, text), known[i].lattice);
    }
}

static void test_gmsh_nodes__every_point_of_the_lattice_is_one_node(void **state)
{
    (void)state;
    int types = 0;
    bool taken[200] = {false};
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)s);
        for (int n = 1; n <= EG_GMSH_ORDER_MAX; n++) {
            int8_t lattice[EG_GMSH_NODES_MAX][3];
            bool seen[11][11][11] = {{{false}}};
            const int type = eg_gmsh_type((eg_shape)s, n);
            if (s == EG_SHAPE_HEX && n == 10) {
                assert_int_equal(type, 0);
                continue;
            }
            assert_in_range(type, 1, EG_COUNT(taken) - 1);
            assert_false(taken[type]);
            taken[type] = true;
            types++;
            const int count = eg_gmsh_nodes((eg_shape)s, n, lattice);
            assert_int_equal(count, eg_mode_count((eg_shape)s, n));
            for (int i = 0; i < count; i++) {
                const int8_t *p = lattice[i];
                int sum = 0;
                for (int d = 0; d < 3; d++) {
                    assert_in_range(p[d], 0, d < info->dim ? n : 0);
                    sum += p[d];
                }
                assert_true(info->tensor || sum <= n);
                assert_false(seen[p[0]][p[1]][p[2]]);
                seen[p[0]][p[1]][p[2]] = true;
                for (int d = 0; i < info->vertices && d < info->dim; d++)
                    assert_int_equal(2 * p[d] - n, n * (int)info->r[i][d]);
            }
        }
    }
    assert_int_equal(types, 49);
    assert_int_equal(eg_gmsh_type(EG_SHAPE_QUAD, 0), 0);
    assert_int_equal(eg_gmsh_type(EG_SHAPE_QUAD, 11), 0);
}

static void test_gmsh_nodes__those_inside_are_a_smaller_element(void **state)
{
    (void)state;
    static const int layer[EG_SHAPE_COUNT] = {0, 3, 2, 4, 2};
    for (int s = EG_SHAPE_TRI; s < EG_SHAPE_COUNT; s++) {
        for (int n = layer[s] + 1; n <= 9; n++) {
            int8_t outer[EG_GMSH_NODES_MAX][3], inner[EG_GMSH_NODES_MAX][3];
            const int outer_count = eg_gmsh_nodes((eg_shape)s, n, outer);
            const int inner_count = eg_gmsh_nodes((eg_shape)s, n - layer[s], inner);
            for (int i = 0; i < inner_count; i++)
                for (int d = 0; d < eg_shape_get_info((eg_shape)s)->dim; d++)
                    assert_int_equal(outer[outer_count - inner_count + i][d], inner[i][d] + 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gmsh_nodes__low_orders_are_those_of_gmsh),
        cmocka_unit_test(test_gmsh_nodes__every_point_of_the_lattice_is_one_node),
        cmocka_unit_test(test_gmsh_nodes__those_inside_are_a_smaller_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
