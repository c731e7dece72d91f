/* The roofline picture: well-formed, complete, without NaN, with labels that do not collide. */
#include "svg.h"

#include "bench/bench.h"
#include "bench/label.h"

#include <math.h>

#define POINTS 44

typedef struct sample {
    eg_bench_point points[POINTS];
    eg_bench_result result;
} sample;

/* Four series of ten degrees under a roof of 26 GB/s and 58 GFLOP/s, and four points that have no
 * place on it. */
static void make_sample(sample *s)
{
    static const char *const names[] = {"gemm", "gemm-cache", "chain", "chain-cache"};
    const double none = NAN;
    memset(s, 0, sizeof *s);
    for (int i = 0; i < POINTS; i++) {
        eg_bench_point *p = &s->points[i];
        int degree = i % 10 + 1, np = (degree + 1) * (degree + 2) / 2;
        bool off = i >= 40;
        snprintf(p->name, sizeof p->name, "%s", off ? "launch" : names[i / 10]);
        snprintf(p->size, sizeof p->size, "N=%d Np=%d", degree, np);
        p->bytes = off ? 0 : 1e9;
        p->flops = off ? 0 : 1e9 * np * (i < 20 ? 0.125 : 0.4);
        p->time_s = 0.1;
        p->gflops = 0.8 * fmin(58, 26 * p->flops / 1e9);
        p->gbs = 20;
        p->fraction = off ? none : 0.8;
        p->bound_by = "";
    }
    s->result = (eg_bench_result){.bench = "gemm", .points = s->points, .count = POINTS};
    s->result.ceilings = (eg_bench_ceilings){26, 25, 21, none, 110, 58, none, 200};
    snprintf(s->result.device.name, sizeof s->result.device.name, "Maker\xae <X> & \"Y\"");
    snprintf(s->result.device.spec, sizeof s->result.device.spec, "cpu:1");
}

/* Whatever the encoding of a vendor's names is, nothing but ASCII is left. */
static void assert_ascii(const char *text)
{
    for (; *text; text++)
        assert_true((unsigned char)*text < 0x80);
}

static void test_roofline__is_well_formed_whatever_the_device_is_called(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    TEST_OK(ctx, eg_bench_roofline(ctx, &s.result, 1, &svg));
    assert_well_formed(eg_text_string(&svg));
    assert_ascii(eg_text_string(&svg));
    assert_non_null(strstr(eg_text_string(&svg), "Maker &lt;X&gt; &amp;"));
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static void test_roofline__has_every_point_with_its_figures_and_no_nan(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    TEST_OK(ctx, eg_bench_roofline(ctx, &s.result, 1, &svg));
    const char *text = eg_text_string(&svg);
    for (int i = 0; i < 40; i++) {
        char title[128];
        snprintf(title, sizeof title, "<title>%s %s: ", s.points[i].name, s.points[i].size);
        assert_int_equal(count_of(text, title), 1);
    }
    assert_null(strstr(text, "<title>launch"));
    assert_non_null(strstr(text, "copy 26.0 GB/s"));
    assert_non_null(strstr(text, "FMA 58.0 GFLOP/s"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
    assert_null(strstr(text, "FP64 tensor")); /* there is none */
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static void test_roofline__labels_and_markers_stay_inside_the_picture(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    TEST_OK(ctx, eg_bench_roofline(ctx, &s.result, 1, &svg));
    size_t labels = 0;
    for (const char *t = strstr(eg_text_string(&svg), "<text class=\"label"); t;
         t = strstr(t + 1, "<text class=\"label")) {
        double x = attribute(t, "x"), y = attribute(t, "y");
        assert_true(x > 88 && x < 1086 && y > 122 && y < 618);
        labels++;
    }
    assert_true(labels >= 30);
    for (const char *t = strstr(eg_text_string(&svg), "<circle"); t; t = strstr(t + 1, "<circle")) {
        double x = attribute(t, "cx"), y = attribute(t, "cy");
        assert_true(x > 88 && x < 1086 && y > 85 && y < 618);
    }
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static void test_roofline__nothing_to_draw_is_an_error_that_says_what_to_run(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    s.result.points += 40;
    s.result.count = 4;
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "gemm, chain", eg_bench_roofline(ctx, &s.result, 1, &svg));
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static void test_roofline__one_point_without_ceilings_is_drawn(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    const double none = NAN;
    s.result.count = 1;
    s.result.ceilings = (eg_bench_ceilings){none, none, none, none, none, none, none, none};
    eg_context *ctx = test_context();
    eg_text svg = eg_text_new(ctx);
    TEST_OK(ctx, eg_bench_roofline(ctx, &s.result, 1, &svg));
    assert_well_formed(eg_text_string(&svg));
    assert_ascii(eg_text_string(&svg));
    assert_null(strstr(eg_text_string(&svg), "nan"));
    eg_text_free(&svg);
    test_context_free(&ctx);
}

static eg_status draw(eg_context *ctx, void *user)
{
    sample *s = user;
    eg_text svg = eg_text_new(ctx);
    eg_status status = eg_bench_roofline(ctx, &s->result, 1, &svg);
    eg_text_free(&svg);
    return status;
}

static void test_roofline__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    test_allocation_sweep(draw, &s);
}

static bool apart(eg_box a, eg_box b)
{
    return a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
}

static void test_label__placed_labels_never_overlap_and_stay_in_the_frame(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_label_map map = eg_label_map_new(ctx, (eg_box){0, 0, 300, 200});
    eg_box boxes[200];
    int count = 0, missing = 0;
    uint64_t seed = 3;
    for (int i = 0; i < 200; i++) {
        double x = 150 + 150 * test_random(&seed), y = 100 + 100 * test_random(&seed);
        bool placed = false;
        TEST_OK(ctx, eg_label_map_place(&map, x, y, 24, 10, 5, &boxes[count], &placed));
        count += placed;
        missing += !placed;
    }
    assert_true(count > 50 && missing > 0); /* it fills up, then gives in */
    for (int i = 0; i < count; i++) {
        assert_true(boxes[i].left >= 0 && boxes[i].right <= 300);
        assert_true(boxes[i].top >= 0 && boxes[i].bottom <= 200);
        for (int j = 0; j < i; j++)
            assert_true(apart(boxes[i], boxes[j]));
    }
    eg_label_map_free(&map);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roofline__is_well_formed_whatever_the_device_is_called),
        cmocka_unit_test(test_roofline__has_every_point_with_its_figures_and_no_nan),
        cmocka_unit_test(test_roofline__labels_and_markers_stay_inside_the_picture),
        cmocka_unit_test(test_roofline__nothing_to_draw_is_an_error_that_says_what_to_run),
        cmocka_unit_test(test_roofline__one_point_without_ceilings_is_drawn),
        cmocka_unit_test(test_roofline__a_failed_allocation_is_reported_and_nothing_is_lost),
        cmocka_unit_test(test_label__placed_labels_never_overlap_and_stay_in_the_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
