/* Axes of charts: round numbers whatever the range is, labels that say what they stand at and do not
 * touch, values that differ by little, names. */
#include "test.h"

#include "report/draw/axis.h"
#include "report/draw/linear.h"

#include <float.h>
#include <math.h>

#define MINUS "\xe2\x88\x92"
#define DOT "\xc2\xb7"
#define RAISED_MINUS "\xe2\x81\xbb"
#define RAISED_9 "\xe2\x81\xb9"

static void test_axis__logarithmic_ones_have_two_labels_whatever_its_range(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int trial = 0; trial < 2000; trial++) {
        const double least = 12 * test_random(&seed), span = pow(10, 1.3 * test_random(&seed));
        const bool horizontal = trial % 2;
        const eg_axis axis = eg_axis_new(EG_SCALE_LOG, least, least + span, horizontal ? 90 : 500,
                                         horizontal ? 700 : 80, horizontal);
        assert_true(axis.low < least && axis.high > least + span);
        eg_tick tick = eg_axis_first(&axis);
        int labels = 0;
        while (eg_axis_next(&axis, &tick)) {
            assert_true(fabs(tick.at - eg_axis_pixel(&axis, tick.value)) < 1e-6);
            assert_in_range(tick.at, 80, 700);
            labels += tick.label[0] != '\0';
        }
        assert_in_range(labels, 2, 24);
    }
}

static void test_axis__logarithmic_ones_write_small_and_large_numbers_as_powers(void **state)
{
    (void)state;
    const eg_axis plain = eg_axis_new(EG_SCALE_LOG, -1.9, -0.1, 0, 600, true);
    const eg_axis powers = eg_axis_new(EG_SCALE_LOG, -8.5, 0.0, 400, 0, false);
    eg_tick tick = eg_axis_first(&plain);
    bool found = false;
    while (eg_axis_next(&plain, &tick))
        found = found || (strcmp(tick.label, "0.05") == 0 && fabs(tick.value / 0.05 - 1) < 1e-12);
    assert_true(found);
    tick = eg_axis_first(&powers);
    assert_true(eg_axis_next(&powers, &tick));
    while (tick.minor)
        assert_true(eg_axis_next(&powers, &tick));
    assert_true(fabs(tick.value / 1e-9 - 1) < 1e-12);
    assert_string_equal(tick.label, "10" RAISED_MINUS RAISED_9);
}

static void test_linear__steps_are_round_and_labels_have_the_digits_it_takes(void **state)
{
    (void)state;
    static const struct {
        double least, step;
    } steps[] = {{1, 1}, {1.01, 2}, {2, 2}, {2.5, 5}, {7, 10}, {0.0003, 0.0005}, {0.1 + 0.2, 0.5}};
    static const struct {
        double value, step;
        const char *label;
    } labels[] = {{0, 0.2, "0"},         {-0.4, 0.2, "-0.4"},       {3 * 0.1, 0.1, "0.3"},
                  {1, 0.5, "1.0"},       {1500, 500, "1500"},       {4000020, 10, "4000020"},
                  {2e-7, 1e-7, "2e-07"}, {1.25e8, 5e6, "1.25e+08"}, {0.00015, 5e-5, "0.00015"}};
    for (size_t i = 0; i < EG_COUNT(steps); i++)
        assert_true(fabs(eg_round_up(steps[i].least) / steps[i].step - 1) < 1e-12);
    for (size_t i = 0; i < EG_COUNT(labels); i++) {
        char text[32];
        eg_tick_label(labels[i].value, labels[i].step, text);
        assert_string_equal(text, labels[i].label);
    }
    assert_int_equal(eg_first_tick(-0.35, 0.1), -3);
    assert_int_equal(eg_first_tick(4, 2), 2);
}

/* The number that a label of a linear axis says. */
static double read_label(const char *label)
{
    static const char *const raised[] = {
        "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
    const bool negative = strncmp(label, MINUS, strlen(MINUS)) == 0;
    char text[64], *end, power[16] = "e";
    double value = strtod(negative ? label + strlen(MINUS) : label, &end);
    if (*end) {
        if (strncmp(end, DOT "10", 4) != 0) fail_msg("%s is no number", label);
        end += 4;
        if (strncmp(end, RAISED_MINUS, strlen(RAISED_MINUS)) == 0) {
            strcat(power, "-");
            end += strlen(RAISED_MINUS);
        }
        while (*end) {
            int digit = 0;
            while (digit < 10 && strncmp(end, raised[digit], strlen(raised[digit])) != 0)
                digit++;
            assert_in_range(digit, 0, 9);
            end += strlen(raised[digit]);
            snprintf(power + strlen(power), sizeof power - strlen(power), "%d", digit);
        }
        snprintf(text, sizeof text, "%.17g%s", value, power);
        value = strtod(text, NULL);
    }
    return negative ? -value : value;
}

/* Checks all ticks of a linear axis; returns how many there are. */
static int check_linear(const eg_axis *axis, double least, double most)
{
    eg_tick tick = eg_axis_first(axis);
    char base[32], last[sizeof tick.label] = "";
    double end = -INFINITY;
    int count = 0;
    const double decade = pow(10, floor(log10(axis->step) + 1e-9)), digit = axis->step / decade;
    eg_axis_base_label(axis, base);
    assert_true(base[0] == '\0' ? axis->base == 0 : strtod(base, NULL) == axis->base);
    assert_true(fabs(digit - 1) < 1e-9 || fabs(digit - 2) < 1e-9 || fabs(digit - 5) < 1e-9);
    assert_true(axis->low <= least - axis->base && axis->high >= most - axis->base);
    for (; eg_axis_next(axis, &tick); count++) {
        const double half = axis->horizontal ? 0.5 * eg_axis_label_width(tick.label) : 7;
        const double at = axis->horizontal ? tick.at : -tick.at;
        const double rounding = 2 * DBL_EPSILON * fabs(tick.value);
        if (fabs(read_label(tick.label) - (tick.value - axis->base)) > 1e-6 * axis->step + rounding)
            fail_msg("the label %s stands at %.17g - %.17g", tick.label, tick.value, axis->base);
        assert_string_not_equal(tick.label, last);
        assert_true(fabs(tick.at - eg_axis_pixel(axis, tick.value)) <
                    0.1 + rounding * fabs(axis->pixels));
        if (at - half < end) fail_msg("the label %s touches the one before", tick.label);
        end = at + half;
        assert_in_range(tick.at, 80, 700);
        memcpy(last, tick.label, sizeof last);
    }
    return count;
}

static void test_axis__linear_ones_have_round_labels_that_say_where_they_stand(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int trial = 0; trial < 20000; trial++) {
        const double size = pow(10, (trial % 3 ? 9 : 285) * test_random(&seed));
        const double span = size * pow(10, 3 * test_random(&seed) - 3);
        const double least = size * test_random(&seed), most = least + span;
        const bool horizontal = trial % 2;
        const eg_axis axis = eg_axis_new(EG_SCALE_LINEAR, least, most, horizontal ? 90 : 500,
                                         horizontal ? 700 : 80, horizontal);
        assert_in_range(check_linear(&axis, least, most), horizontal ? 2 : 3, 24);
    }
}

static void test_axis__values_that_differ_by_little_are_told_by_their_differences(void **state)
{
    (void)state;
    static const double middles[] = {0.7853981633974483, -2.5e9, 1.0, 273.15, 6.02214076e23};
    for (size_t m = 0; m < EG_COUNT(middles); m++)
        for (double part = 1e-2; part > 1e-14; part *= 0.3) {
            const double most = middles[m] + part * fabs(middles[m]);
            const eg_axis axis = eg_axis_new(EG_SCALE_LINEAR, middles[m], most, 500, 80, false);
            assert_in_range(check_linear(&axis, middles[m], most), 3, 24);
            assert_true((axis.base != 0) == (part < 9e-6));
            /* No digit that all labels share is left. */
            assert_true(axis.base == 0 || fabs(axis.low) < 12 * (axis.high - axis.low));
        }
}

static void test_axis__constants_stand_in_the_middle(void **state)
{
    (void)state;
    static const double values[] = {0, 1, -42, 1e-12, -3e250, 0.7853981633974483, 1e-300};
    for (size_t i = 0; i < EG_COUNT(values); i++) {
        const double most = values[i] + 2 * DBL_EPSILON * fabs(values[i]);
        const eg_axis axis = eg_axis_new(EG_SCALE_LINEAR, values[i], most, 500, 80, false);
        assert_in_range(check_linear(&axis, values[i], most), 3, 24);
        assert_true(fabs(eg_axis_pixel(&axis, values[i]) - 290) < 1);
        assert_true(axis.base == 0);
    }
}

static void test_axis__without_values_is_any_axis(void **state)
{
    (void)state;
    for (eg_scale scale = EG_SCALE_LINEAR; scale <= EG_SCALE_LOG; scale++) {
        const eg_axis axis = eg_axis_new(scale, INFINITY, -INFINITY, 90, 700, true);
        eg_tick tick = eg_axis_first(&axis);
        assert_true(eg_axis_next(&axis, &tick));
        assert_true(isfinite(axis.low) && axis.high > axis.low);
    }
}

static void test_axis__names_that_do_not_fit_are_left_out(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two", "three", "four", "a very long name", "six"};
    const eg_axis wide = eg_axis_of_names(names, 6, 0, 1200),
                  narrow = eg_axis_of_names(names, 6, 0, 250);
    eg_tick tick = eg_axis_first(&wide);
    for (int i = 0; i < 6; i++) {
        assert_true(eg_axis_next(&wide, &tick));
        assert_string_equal(tick.label, names[i]);
        assert_true(fabs(tick.at - 200 * (i + 0.5)) < 1e-9 && tick.value == i);
    }
    assert_false(eg_axis_next(&wide, &tick));
    tick = eg_axis_first(&narrow);
    double end = -INFINITY;
    int labels = 0, ticks = 0;
    for (; eg_axis_next(&narrow, &tick); ticks++) {
        if (!tick.label[0]) continue;
        const double half = 0.5 * eg_axis_label_width(tick.label);
        assert_true(tick.at - half > end);
        end = tick.at + half;
        labels++;
    }
    assert_int_equal(ticks, 6);
    assert_in_range(labels, 1, 3);
}

static void test_axis__tells_which_values_have_a_place(void **state)
{
    (void)state;
    static const struct {
        double value;
        bool linear, log;
    } rows[] = {{0, true, false},      {-1, true, false},        {1e-320, true, true},
                {NAN, false, false},   {INFINITY, false, false}, {-INFINITY, false, false},
                {DBL_MAX, false, true}};
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        assert_true(eg_scale_has(EG_SCALE_LINEAR, rows[i].value) == rows[i].linear);
        assert_true(eg_scale_has(EG_SCALE_LOG, rows[i].value) == rows[i].log);
    }
}

/* From the least positive number to the largest. */
static void test_axis__logarithmic_ones_reach_as_far_as_numbers_do(void **state)
{
    (void)state;
    const eg_axis axis = eg_axis_new(EG_SCALE_LOG, -323.3, 308.2, 500, 80, false);
    eg_tick tick = eg_axis_first(&axis);
    int labels = 0;
    while (eg_axis_next(&axis, &tick))
        labels += tick.label[0] != '\0';
    assert_in_range(labels, 3, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis__logarithmic_ones_have_two_labels_whatever_its_range),
        cmocka_unit_test(test_axis__logarithmic_ones_write_small_and_large_numbers_as_powers),
        cmocka_unit_test(test_linear__steps_are_round_and_labels_have_the_digits_it_takes),
        cmocka_unit_test(test_axis__linear_ones_have_round_labels_that_say_where_they_stand),
        cmocka_unit_test(test_axis__values_that_differ_by_little_are_told_by_their_differences),
        cmocka_unit_test(test_axis__constants_stand_in_the_middle),
        cmocka_unit_test(test_axis__without_values_is_any_axis),
        cmocka_unit_test(test_axis__names_that_do_not_fit_are_left_out),
        cmocka_unit_test(test_axis__tells_which_values_have_a_place),
        cmocka_unit_test(test_axis__logarithmic_ones_reach_as_far_as_numbers_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
