/* Vectors on every device against plain loops: sums, combinations, conversions; what does not count
 * may hold anything. */
#include "kernel/boxes.h"

#include "solver/solver.h"

static const size_t sizes[] = {1, 7, 33, 128, 1000, 70001};

/* --- plain vectors
 * ----------------------------------------------------------------------------------- */

typedef struct plain_set {
    eg_context *ctx;
    eg_vectors *vectors;
    array v[5]; /* random, zero behind the last value */
} plain_set;

static plain_set plain_set_new(eg_device *device, eg_type real, size_t n)
{
    plain_set s = {.ctx = eg_device_context(device)};
    uint64_t seed = 7 + n;
    TEST_OK(s.ctx, eg_vectors_create_plain(device, NULL, real, n, &s.vectors));
    assert_true(s.vectors->count >= n && s.vectors->count < n + EG_OFFSET_BLOCK);
    for (int k = 0; k < 5; k++) {
        s.v[k] = array_random(device, real, s.vectors->count, -1, 3, &seed);
        for (size_t i = n; i < s.vectors->count; i++)
            s.v[k].v[i] = 0.0;
        array_upload(&s.v[k]);
    }
    return s;
}

static void plain_set_free(plain_set *s)
{
    for (int k = 0; k < 5; k++)
        array_free(&s->v[k]);
    eg_vectors_destroy(&s->vectors);
}

static void assert_dot(double value, const array *x, const array *y, size_t at)
{
    long double sum = 0, size = 0;
    for (size_t i = 0; i < x->count; i++) {
        sum += (long double)x->v[i] * y->v[i];
        size += fabsl((long double)x->v[i] * y->v[i]);
    }
    assert_near(value, (double)sum, 1e-14 * (double)size, "dot", at);
}

static void check_dots(eg_device *device, eg_type real)
{
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        now_at(device, real, "n = %zu", sizes[k]);
        plain_set s = plain_set_new(device, real, sizes[k]);
        for (int count = 1; count <= EG_VECTOR_TERMS; count++) {
            eg_vector_pair pairs[EG_VECTOR_TERMS];
            double sums[EG_VECTOR_TERMS + 1] = {-1, -1, -1, -1, -1}, norm;
            for (int p = 0; p < count; p++)
                pairs[p] = (eg_vector_pair){s.v[p].buffer, s.v[p ? p + 1 : 0].buffer};
            TEST_OK(s.ctx, eg_vectors_dots(s.vectors, count, pairs, sums));
            for (int p = 0; p < count; p++)
                assert_dot(sums[p], &s.v[p], &s.v[p ? p + 1 : 0], (size_t)p);
            assert_true(sums[count] == -1);
            TEST_OK(s.ctx, eg_vectors_norm(s.vectors, s.v[0].buffer, &norm));
            assert_near(norm, sqrt(sums[0]), 1e-15 * norm, "norm", 0);
            /* Those that stay on the device. */
            array queued = array_poisoned(device, EG_F64, 8);
            TEST_OK(s.ctx, eg_vectors_dots_queued(s.vectors, count, pairs, queued.buffer, 3));
            assert_untouched_outside(&queued, 3, (size_t)count);
            array_download(&queued);
            assert_memory_equal(queued.v + 3, sums, (size_t)count * sizeof *sums);
            array_free(&queued);
        }
        plain_set_free(&s);
    }
}

static void test_vectors__dot_products_agree_with_long_double(void **state)
{
    (void)state;
    on_every_device(check_dots);
}

static void check_combinations(eg_device *device, eg_type real)
{
    static const double a[] = {0.5, -1.25, 2.0, 0.75, 1.5, -3.0, 0.125, 1.0, -0.5};
    const double tolerance = 40 * epsilon(real);
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        plain_set s = plain_set_new(device, real, sizes[k]);
        const size_t n = s.vectors->count;
        array y = array_random(device, real, n, -1, 1, &(uint64_t){3});
        for (int count = 1; count <= 9; count++)
            for (int kept = 0; kept < 2; kept++) {
                eg_buffer *x[9];
                array out = array_poisoned(device, real, n);
                now_at(device, real, "n = %zu, %d terms", sizes[k], count);
                for (int t = 0; t < count; t++)
                    x[t] = s.v[t % 5].buffer;
                if (kept) TEST_OK(s.ctx, eg_vectors_copy(s.vectors, y.buffer, out.buffer));
                TEST_OK(s.ctx,
                        eg_vectors_add(s.vectors, kept ? -0.75 : 0.0, out.buffer, count, a, x));
                array_download(&out);
                for (size_t i = 0; i < n; i++) {
                    double sum = kept ? -0.75 * y.v[i] : 0.0;
                    for (int t = 0; t < count; t++)
                        sum += a[t] * s.v[t % 5].v[i];
                    assert_near(out.v[i], sum, tolerance, "sum", i);
                }
                array_free(&out);
            }
        array_free(&y);
        plain_set_free(&s);
    }
}

static void test_vectors__sums_of_any_number_of_vectors_are_right(void **state)
{
    (void)state;
    on_every_device(check_combinations);
}

static void check_steps(eg_device *device, eg_type real)
{
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        now_at(device, real, "n = %zu", sizes[k]);
        plain_set s = plain_set_new(device, real, sizes[k]);
        array *p = &s.v[0], *q = &s.v[1], *x = &s.v[2], *r = &s.v[3], *y = &s.v[4];
        const size_t n = s.vectors->count;
        double *x0 = new_values(n), *r0 = new_values(n), square;
        memcpy(x0, x->v, n * sizeof *x0);
        memcpy(r0, r->v, n * sizeof *r0);
        TEST_OK(s.ctx, eg_vectors_advance(s.vectors, 0.375, p->buffer, q->buffer, x->buffer,
                                          r->buffer, &square));
        array_download(x);
        array_download(r);
        for (size_t i = 0; i < n; i++) {
            assert_near(x->v[i], x0[i] + 0.375 * p->v[i], 8 * epsilon(real), "x", i);
            assert_near(r->v[i], r0[i] - 0.375 * q->v[i], 8 * epsilon(real), "r", i);
        }
        assert_dot(square, r, r, 0);
        TEST_OK(s.ctx, eg_vectors_scale(s.vectors, -2.0, r->buffer));
        TEST_OK(s.ctx, eg_vectors_multiply(s.vectors, p->buffer, q->buffer, y->buffer));
        memcpy(r0, r->v, n * sizeof *r0);
        array_download(r);
        array_download(y);
        for (size_t i = 0; i < n; i++) {
            assert_true(r->v[i] == -2.0 * r0[i]);
            assert_near(y->v[i], p->v[i] * q->v[i], 10 * epsilon(real), "product", i);
        }
        free(r0);
        free(x0);
        plain_set_free(&s);
    }
}

static void test_vectors__a_step_moves_both_vectors_and_measures_one(void **state)
{
    (void)state;
    on_every_device(check_steps);
}

/* d = a d + c z, x = keep x + w d; with a or keep 0 a poisoned vector does not matter. */
static void check_smoothing(eg_device *device, eg_type real)
{
    for (size_t k = 0; k < EG_COUNT(sizes); k++)
        for (int form = 0; form < 4; form++) {
            const double a = form % 2 ? 0.25 : 0.0, keep = form / 2 ? 1.0 : 0.0;
            plain_set s = plain_set_new(device, real, sizes[k]);
            array *z = &s.v[0], *d = &s.v[1], *x = &s.v[2];
            const size_t n = s.vectors->count;
            double *d0 = new_values(n), *x0 = new_values(n);
            now_at(device, real, "n = %zu, form %d", sizes[k], form);
            memcpy(d0, d->v, n * sizeof *d0);
            memcpy(x0, x->v, n * sizeof *x0);
            if (a == 0.0) array_poison(d);
            if (keep == 0.0) array_poison(x);
            TEST_OK(s.ctx, eg_vectors_smooth(s.vectors, a, 0.5, z->buffer, d->buffer, keep, 1.25,
                                             x->buffer));
            array_download(d);
            array_download(x);
            for (size_t i = 0; i < n; i++) {
                const double step = a * d0[i] + 0.5 * z->v[i];
                assert_near(d->v[i], step, 8 * epsilon(real), "d", i);
                assert_near(x->v[i], keep * x0[i] + 1.25 * step, 20 * epsilon(real), "x", i);
            }
            free(x0);
            free(d0);
            plain_set_free(&s);
        }
}

static void test_vectors__a_step_of_smoothing_moves_both_vectors(void **state)
{
    (void)state;
    on_every_device(check_smoothing);
}

static void check_conversion(eg_device *device, eg_type real)
{
    const eg_type other = real == EG_F64 ? EG_F32 : EG_F64;
    for (size_t k = 0; k < EG_COUNT(sizes); k++) {
        plain_set s = plain_set_new(device, real, sizes[k]);
        array there = array_poisoned(device, other, s.vectors->count);
        array *back = &s.v[1], *x = &s.v[0];
        TEST_OK(s.ctx, eg_vectors_convert(s.vectors, x->buffer, there.buffer));
        TEST_OK(s.ctx, eg_vectors_convert(s.vectors, there.buffer, back->buffer));
        array_download(&there);
        array_download(back);
        for (size_t i = 0; i < s.vectors->count; i++)
            assert_true(there.v[i] == (double)(float)x->v[i] && back->v[i] == there.v[i]);
        TEST_OK(s.ctx, eg_vectors_fill(s.vectors, 0.1, x->buffer));
        array_download(x);
        for (size_t i = 0; i < s.vectors->count; i++)
            assert_true(x->v[i] == (i < sizes[k] ? rounded(real, 0.1) : 0.0));
        array_free(&there);
        plain_set_free(&s);
    }
}

static void test_vectors__conversion_rounds_and_filling_leaves_padding_alone(void **state)
{
    (void)state;
    on_every_device(check_conversion);
}

/* --- fields
 * ------------------------------------------------------------------------------------------ */

/* Puts NaN where weights are zero, and everywhere between groups what was there. */
static void poison_padding(const eg_vectors *vectors, array *a)
{
    for (int g = 0; g < vectors->part_count; g++) {
        const eg_vector_part *part = &vectors->parts[g];
        const size_t lanes = (size_t)part->lanes, rows = (size_t)part->rows;
        double *weight = new_values((size_t)part->tiles * lanes);
        TEST_OK(array_context(a),
                eg_buffer_download(part->weight, 0, (size_t)part->tiles * lanes, weight));
        for (size_t t = 0; t < (size_t)part->tiles; t++)
            for (size_t i = 0; i < rows; i++)
                for (size_t lane = 0; lane < lanes; lane++)
                    if (weight[t * lanes + lane] == 0.0)
                        a->v[part->offset + (t * rows + i) * lanes + lane] = NAN;
        free(weight);
    }
    array_upload(a);
}

static void check_field(eg_device *device, eg_type real)
{
    enum { COMPONENTS = 2 };
    static const int cells[] = {1, 3, 8};
    eg_context *ctx = eg_device_context(device);
    for (size_t k = 0; k < EG_COUNT(cells); k++) {
        /* Curved elements at two degrees: several groups. */
        const eg_box_options o = box_options(EG_SHAPE_TRI, cells[k], 2, 0, 0);
        box b = box_new(device, &o, EG_BASIS_LOBATTO, 1);
        uint8_t degrees[64];
        eg_space *space = NULL;
        eg_vectors *vectors = NULL;
        eg_field *fields[2] = {NULL, NULL};
        double *host[2], sums[2], square;
        for (int e = 0; e < b.mesh->element_count; e++)
            degrees[e] = (uint8_t)(e % 3 ? 2 : 5);
        TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                     &(eg_space_options){.degrees = degrees}, &space));
        TEST_OK(ctx, eg_vectors_create(space, COMPONENTS, real, &vectors));
        array data[2];
        for (int f = 0; f < 2; f++) {
            TEST_OK(ctx, eg_field_create(space, COMPONENTS, real, &fields[f]));
            const size_t n = eg_field_host_count(fields[f]);
            host[f] = new_values(n);
            for (size_t i = 0; i < n; i++)
                host[f][i] = rounded(real, sin((double)i + f) + 0.3);
            TEST_OK(ctx, eg_field_from_host(fields[f], host[f]));
            data[f] = (array){.buffer = fields[f]->data,
                              .v = new_values(vectors->count),
                              .count = vectors->count,
                              .type = real};
            assert_int_equal(eg_buffer_count(fields[f]->data), vectors->count);
            array_download(&data[f]);
            poison_padding(vectors, &data[f]);
        }
        long double exact[3] = {0}, size = 0;
        for (size_t i = 0; i < eg_field_host_count(fields[0]); i++) {
            const double r = rounded(real, host[1][i] - 2.0 * host[0][i]);
            exact[0] += (long double)host[0][i] * host[1][i];
            exact[1] += (long double)host[1][i] * host[1][i];
            exact[2] += (long double)r * r;
            size += fabsl((long double)host[0][i] * host[1][i]) + (long double)r * r;
        }
        const eg_vector_pair pairs[] = {{fields[0]->data, fields[1]->data},
                                        {fields[1]->data, fields[1]->data}};
        TEST_OK(ctx, eg_vectors_dots(vectors, 2, pairs, sums));
        assert_near(sums[0], (double)exact[0], 1e-14 * (double)size, "dot", 0);
        assert_near(sums[1], (double)exact[1], 1e-14 * (double)size, "dot", 1);
        eg_buffer *x = NULL;
        TEST_OK(ctx, eg_vectors_new(vectors, &x));
        TEST_OK(ctx, eg_vectors_advance(vectors, 2.0, fields[0]->data, fields[0]->data, x,
                                        fields[1]->data, &square));
        assert_near(square, (double)exact[2], 1e-14 * (double)size, "square", 0);
        eg_buffer_destroy(&x);
        for (int f = 0; f < 2; f++) {
            free(data[f].v);
            free(host[f]);
            eg_field_destroy(&fields[f]);
        }
        eg_vectors_destroy(&vectors);
        eg_space_destroy(&space);
        box_free(&b);
    }
}

static void test_vectors__of_fields_count_every_element_once(void **state)
{
    (void)state;
    on_every_device(check_field);
}

/* --- bits and refusals
 * --------------------------------------------------------------------------------- */

static void test_vectors__sums_have_the_same_bits_for_every_number_of_threads(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu:1", "cpu:2", "cpu:3"};
    double sums[EG_COUNT(specs)][2];
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(specs); i++) {
        eg_device *device = NULL;
        TEST_OK(ctx, eg_device_open(ctx, specs[i], &device));
        plain_set s = plain_set_new(device, EG_F64, 70001);
        TEST_OK(ctx, eg_vectors_dots(s.vectors, 1, &(eg_vector_pair){s.v[0].buffer, s.v[1].buffer},
                                     &sums[i][0]));
        TEST_OK(ctx, eg_vectors_advance(s.vectors, 0.1, s.v[0].buffer, s.v[1].buffer, s.v[2].buffer,
                                        s.v[3].buffer, &sums[i][1]));
        plain_set_free(&s);
        eg_device_close(&device);
    }
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    assert_memory_equal(sums[0], sums[2], sizeof sums[0]);
    test_context_free(&ctx);
}

static void refused(eg_device *device, eg_type real)
{
    plain_set s = plain_set_new(device, real, 10);
    eg_vectors *none = NULL;
    double sums[5];
    const eg_vector_pair pairs[5] = {{s.v[0].buffer, s.v[1].buffer}};
    TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "i32",
               eg_vectors_create_plain(device, NULL, EG_I32, 10, &none));
    TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "1 to 4", eg_vectors_dots(s.vectors, 5, pairs, sums));
    TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "1 to 4", eg_vectors_dots(s.vectors, 0, pairs, sums));
    TEST_FAILS(s.ctx, EG_ERROR_LAUNCH, "overlaps",
               eg_vectors_add(s.vectors, 1.0, s.v[0].buffer, 1, &(double){1.0}, &s.v[0].buffer));
    assert_null(none);
    plain_set_free(&s);
}

static void test_vectors__what_does_not_fit_is_refused(void **state)
{
    (void)state;
    on_every_device(refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_vectors__dot_products_agree_with_long_double),
        KERNEL_TEST(test_vectors__sums_of_any_number_of_vectors_are_right),
        KERNEL_TEST(test_vectors__a_step_moves_both_vectors_and_measures_one),
        KERNEL_TEST(test_vectors__a_step_of_smoothing_moves_both_vectors),
        KERNEL_TEST(test_vectors__conversion_rounds_and_filling_leaves_padding_alone),
        KERNEL_TEST(test_vectors__of_fields_count_every_element_once),
        KERNEL_TEST(test_vectors__sums_have_the_same_bits_for_every_number_of_threads),
        KERNEL_TEST(test_vectors__what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
