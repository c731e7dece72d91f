/* Colour maps: equal steps look equal, and lightness tells the order of colours. */
#include "meshes.h"

#include "report/draw/colour_map.h"

enum { STEPS = 64 };

static void lab_of(eg_context *ctx, eg_colour_map map, double lab[STEPS + 1][3])
{
    eg_rgb colours[STEPS + 1];
    TEST_OK(ctx, eg_colour_map_fill(ctx, map, STEPS + 1, colours));
    for (int i = 0; i <= STEPS; i++)
        eg_rgb_to_oklab(colours[i], lab[i]);
}

static double colour_distance(const double *a, const double *b)
{
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

static void test_colours__of_white_black_and_red_are_known(void **state)
{
    (void)state;
    double lab[3];
    eg_rgb_to_oklab((eg_rgb){255, 255, 255}, lab);
    TEST_NEAR(lab[0], 1, 1e-6);
    TEST_NEAR(hypot(lab[1], lab[2]), 0, 1e-6);
    eg_rgb_to_oklab((eg_rgb){0, 0, 0}, lab);
    TEST_NEAR(lab[0], 0, 1e-6);
    eg_rgb_to_oklab((eg_rgb){255, 0, 0}, lab); /* [ottosson2020] */
    TEST_NEAR(lab[0], 0.628, 1e-3);
    TEST_NEAR(lab[1], 0.225, 1e-3);
    TEST_NEAR(lab[2], 0.126, 1e-3);
}

/* Bytes of colours round distances by up to 0.005. */
static void test_colours__are_evenly_spaced(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (eg_colour_map map = EG_COLOURS_SEA; map < EG_COLOURS_COUNT; map++) {
        double lab[STEPS + 1][3], sum = 0;
        lab_of(ctx, map, lab);
        for (int i = 0; i < STEPS; i++)
            sum += colour_distance(lab[i], lab[i + 1]);
        assert_true(sum > 0.6); /* as far as from black to grey */
        for (int i = 0; i < STEPS; i++)
            TEST_NEAR(colour_distance(lab[i], lab[i + 1]), sum / STEPS, 0.005);
        for (int i = 0; i + 8 <= STEPS; i++) { /* in longer steps only curvature is left */
            const double step = colour_distance(lab[i], lab[i + 8]);
            const bool turns = map == EG_COLOURS_BALANCE && i < STEPS / 2 && i + 8 > STEPS / 2;
            if (!turns) TEST_NEAR(step, 8 * sum / STEPS, 0.2 * 8 * sum / STEPS);
        }
    }
    test_context_free(&ctx);
}

static void test_colours__have_a_lightness_that_tells_their_order(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double lab[STEPS + 1][3];
    for (eg_colour_map map = EG_COLOURS_SEA; map <= EG_COLOURS_GREY; map++) {
        lab_of(ctx, map, lab);
        for (int i = 0; i < STEPS; i++)
            assert_true(lab[i + 1][0] > lab[i][0]);
        assert_true(lab[STEPS][0] - lab[0][0] > 0.7);
    }
    lab_of(ctx, EG_COLOURS_BALANCE, lab);
    for (int i = 0; i < STEPS / 2; i++) {
        if (i + 1 < STEPS / 2) assert_true(lab[i + 1][0] > lab[i][0]);
        TEST_NEAR(lab[i][0], lab[STEPS - i][0], 0.03);
    }
    assert_true(lab[STEPS / 2][0] > 0.85);
    assert_true(hypot(lab[STEPS / 2][1], lab[STEPS / 2][2]) < 0.02);
    assert_true(lab[8][2] < -0.05 && lab[STEPS - 8][1] > 0.05); /* blue and red */
    lab_of(ctx, EG_COLOURS_WHEEL, lab);
    assert_true(colour_distance(lab[0], lab[STEPS]) == 0);
    for (int i = 0; i < STEPS; i++) /* colours opposite of each other are far apart */
        assert_true(colour_distance(lab[i], lab[(i + STEPS / 2) % STEPS]) > 0.15);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colours__of_white_black_and_red_are_known),
        cmocka_unit_test(test_colours__are_evenly_spaced),
        cmocka_unit_test(test_colours__have_a_lightness_that_tells_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
