/* Decimal numbers in text: read to the last bit, whatever they look like and whatever locale is set. */
#include "comma.h"

#include "mesh/gmsh/decimal.h"

#include <locale.h>
#include <math.h>

static void expect_nearest(const char *text)
{
    double value = NAN;
    const char *end = text + strlen(text);
    const double right = strtod(text, NULL);
    if (eg_decimal_parse(text, end, &value) != end) fail_msg("%s is not read to its end", text);
    if (memcmp(&value, &right, sizeof value) != 0)
        fail_msg("%s is %.17g, not %.17g", text, right, value);
}

static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void test_decimal__numbers_are_the_nearest_doubles(void **state)
{
    (void)state;
    static const char *const hard[] = {"0",
                                       "-0",
                                       "0.0",
                                       "-0e5",
                                       "00012.5",
                                       "1e22",
                                       "1e23",
                                       "9007199254740993",
                                       "9007199254740992.5",
                                       "9007199254740993.0000000000000000000000001",
                                       "8.5e-22",
                                       "1.7976931348623157e308",
                                       "2.2250738585072011e-308",
                                       "4.9e-324",
                                       "2e-324",
                                       "1e-400",
                                       "1e400",
                                       "-1e400",
                                       ".5",
                                       "5.",
                                       "1E+2",
                                       "123456789012345678901234567890",
                                       "0.000000000000000000000000000000000001e36",
                                       "9999999999999999999",
                                       "18446744073709551615",
                                       "1e-66",
                                       "1234567890123456789e-66",
                                       "1234567890123456789e66",
                                       "0.1e1000000000000",
                                       "0e999999999999999",
                                       "6.9294956446009195e15"};
    for (size_t i = 0; i < EG_COUNT(hard); i++)
        expect_nearest(hard[i]);
    uint64_t seed = 7;
    for (int i = 0; i < 300000; i++) {
        char text[400];
        double value;
        const uint64_t bits = random_bits(&seed);
        memcpy(&value, &bits, sizeof value);
        if (i % 2) value = test_random(&seed) * pow(10.0, (double)(i % 41) - 20.0);
        if (!isfinite(value)) continue;
        snprintf(text, sizeof text, "%.*g", 15 + i % 5, value);
        expect_nearest(text);
        /* Half way between two doubles, exactly and not quite. */
        if (fabs(value) < 1e-6 || fabs(value) > 1e6) continue;
        const double next = nextafter(value, INFINITY);
        snprintf(text, sizeof text, "%.90f", value);
        char middle[400];
        snprintf(middle, sizeof middle, "%.80Lf", ((long double)value + (long double)next) / 2.0L);
        expect_nearest(text);
        expect_nearest(middle);
        snprintf(text, sizeof text, "%.18Le", ((long double)value + (long double)next) / 2.0L);
        expect_nearest(text);
    }
}

static void test_decimal__what_is_no_number_is_not_read(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    "-",   "+",   ".",  "-.", "e5",
                                        ".e5", "nan", "inf", "x1", "1e", "1e+"};
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        double value;
        assert_null(eg_decimal_parse(wrong[i], wrong[i] + strlen(wrong[i]), &value));
    }
    static const char *const longer[] = {"1,5", "0x10", "1.5.2", "1-2", "12 3"};
    for (size_t i = 0; i < EG_COUNT(longer); i++) {
        double value;
        assert_true(eg_decimal_parse(longer[i], longer[i] + strlen(longer[i]), &value) <
                    longer[i] + strlen(longer[i]));
    }
}

static void test_decimal__the_locale_does_not_matter(void **state)
{
    (void)state;
    char folder[PATH_MAX];
    test_directory_create(folder);
    const bool set = set_comma_locale(folder);
    if (set) {
        static const char *const texts[] = {"1.25", "1.2500000000000000000000001e-300"};
        static const double values[] = {1.25, 1.25e-300};
        for (size_t i = 0; i < EG_COUNT(texts); i++) {
            double value = 0;
            const char *end = texts[i] + strlen(texts[i]);
            assert_ptr_equal(eg_decimal_parse(texts[i], end, &value), end);
            assert_true(value == values[i]);
        }
    }
    setlocale(LC_NUMERIC, "C");
    test_directory_remove(folder);
    if (!set) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimal__numbers_are_the_nearest_doubles),
        cmocka_unit_test(test_decimal__what_is_no_number_is_not_read),
        cmocka_unit_test(test_decimal__the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
