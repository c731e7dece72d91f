/* Devices and buffers: names are parsed strictly, absent devices are told, values survive every way
 * in and out on every device that is present, and check mode sees what is written outside. */
#include "test.h"

#include "device/backend.h"

#define COUNT 1000 /* values of the buffers that are moved about: no multiple of a vector */

static const eg_type all_types[EG_TYPE_COUNT] = {EG_F64, EG_F32, EG_I64, EG_I32, EG_U32, EG_U8};

static eg_context *context_in_check_mode(int check)
{
    eg_context_options options = test_context_options();
    options.check = check ? EG_CHECK_ON : EG_CHECK_OFF;
    return test_context_with(&options);
}

/* Runs `body` on every device that is listed, in and out of check mode. */
static void on_every_device(void (*body)(eg_device *device))
{
    for (int check = 0; check < 2; check++) {
        eg_context *ctx = context_in_check_mode(check);
        eg_device_info *list = NULL;
        size_t count = 0;
        TEST_OK(ctx, eg_device_list(ctx, &list, &count));
        assert_true(count >= 1);
        for (size_t i = 0; i < count; i++) {
            eg_device *device = NULL;
            TEST_OK(ctx, eg_device_open(ctx, list[i].spec, &device));
            body(device);
            assert_int_equal(device->live_objects, 0);
            eg_device_close(&device);
            assert_null(device);
        }
        eg_device_list_free(ctx, &list);
        assert_null(list);
        test_context_free(&ctx);
    }
}

/* --- options ----------------------------------------------------------------------------------- */

static void test_context__options_of_zeros_are_the_defaults(void **state)
{
    (void)state;
    const char *value = getenv("EAGRE_CHECK");
    char *before = value ? strdup(value) : NULL;
    const eg_context_options options = {.size = sizeof options};
    for (int check = 0; check < 2; check++) {
        eg_context *ctx = NULL;
        setenv("EAGRE_CHECK", check ? "1" : "0", 1);
        assert_int_equal(eg_context_create(&options, &ctx), EG_OK);
        assert_int_equal(eg_context_check(ctx), check);
        eg_context_destroy(&ctx);
    }
    unsetenv("EAGRE_CHECK");
    if (before) setenv("EAGRE_CHECK", before, 1);
    free(before);
    eg_context_options zeros = options;
    const eg_context_options defaults = eg_context_defaults();
    zeros.log = test_log_line;
    test_log[0] = '\0';
    eg_context *ctx = test_context_with(&zeros);
    eg_log(ctx, EG_LOG_DEBUG, "%s", "too much");
    eg_log(ctx, EG_LOG_INFO, "%s", "enough");
    assert_string_equal(test_log, "enough\n");
    assert_int_equal(defaults.log_level, zeros.log_level);
    assert_int_equal(defaults.check, zeros.check);
    eg_context_destroy(&ctx);
}

/* --- names ------------------------------------------------------------------------------------ */

static void test_device__malformed_specs_are_refused_with_the_accepted_forms(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",        "gpu",    "CPU",      "cpu:",   "cpu:0",
        "cpu:-1",  "cpu:2x", "cpu: 2",   "cpux",   "cpu:+2",
        "opencl:", "cuda:a", "cuda:0:1", "auto:0", "cpu:99999999999999999999"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "cpu, cpu:THREADS, opencl:N, cuda:N or auto",
                   eg_device_open(ctx, wrong[i], &device));
        assert_non_null(strstr(eg_context_error(ctx), wrong[i]));
        assert_null(device);
    }
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "cpu:THREADS", eg_device_open(ctx, NULL, &device));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "5000 threads", eg_device_open(ctx, "cpu:5000", &device));
    assert_null(device);
    test_context_free(&ctx);
}

static void test_device__absent_devices_are_told_with_those_that_exist(void **state)
{
    (void)state;
    static const char *const absent[] = {"opencl:99", "cuda:99"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    for (size_t i = 0; i < EG_COUNT(absent); i++) {
        TEST_FAILS(ctx, EG_ERROR_NO_DEVICE, "the devices here are cpu (",
                   eg_device_open(ctx, absent[i], &device));
        assert_null(device);
    }
    test_context_free(&ctx);
}

static void test_device__the_cpu_is_listed_first_and_says_what_it_is(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device_info *list = NULL;
    size_t count = 0;
    TEST_OK(ctx, eg_device_list(ctx, &list, &count));
    assert_true(count >= 1);
    const eg_device_info *cpu = &list[0];
    assert_string_equal(cpu->spec, "cpu");
    assert_string_equal(cpu->backend, "cpu");
    assert_true(cpu->name[0] != '\0' && cpu->features[0] != '\0');
    assert_non_null(strstr(cpu->version, "kernel compiler: "));
    assert_true(cpu->memory_bytes > (uint64_t)1 << 26);
    assert_true(cpu->compute_units >= 1 && cpu->threads == cpu->compute_units);
    assert_true(cpu->lanes == 4 || cpu->lanes == 8 || cpu->lanes == 16);
    assert_true(cpu->has_f64 && !cpu->is_gpu && cpu->max_block_threads == 1);
    for (size_t i = 1; i < count; i++)
        assert_string_not_equal(list[i].backend, "cpu");
    eg_device_list_free(ctx, &list);
    test_context_free(&ctx);
}

static void test_device__an_open_device_answers_to_its_spec(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu", "cpu:1", "cpu:3"};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(specs); i++) {
        eg_device *device = NULL;
        TEST_OK(ctx, eg_device_open(ctx, specs[i], &device));
        const eg_device_info *info = eg_device_get_info(device);
        assert_string_equal(info->spec, specs[i]);
        if (i > 0) assert_int_equal(info->threads, specs[i][4] - '0');
        assert_ptr_equal(eg_device_context(device), ctx);
        TEST_OK(ctx, eg_device_sync(device));
        eg_device_close(&device);
    }
    test_context_free(&ctx);
}

static void test_device__auto_takes_the_first_gpu_else_the_cpu(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device_info *list = NULL;
    eg_device *device = NULL;
    size_t count = 0;
    TEST_OK(ctx, eg_device_list(ctx, &list, &count));
    const char *expected = "cpu";
    for (size_t i = count; i-- > 1;)
        if (list[i].is_gpu && strcmp(list[i].backend, "opencl") == 0) expected = list[i].spec;
    for (size_t i = count; i-- > 1;)
        if (strcmp(list[i].backend, "cuda") == 0) expected = list[i].spec;
    TEST_OK(ctx, eg_device_open(ctx, "auto", &device));
    assert_string_equal(eg_device_get_info(device)->spec, expected);
    eg_device_close(&device);
    eg_device_list_free(ctx, &list);
    test_context_free(&ctx);
}

/* --- buffers ---------------------------------------------------------------------------------- */

static void random_bytes(unsigned char *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(128 + 127 * test_random(&seed));
}

static void values_survive(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    for (size_t t = 0; t < EG_COUNT(all_types); t++) {
        size_t size = eg_type_size(all_types[t]);
        unsigned char expected[COUNT * 8], got[COUNT * 8];
        eg_buffer *a = NULL, *b = NULL;
        TEST_OK(ctx, eg_buffer_create(device, all_types[t], COUNT, &a));
        TEST_OK(ctx, eg_buffer_create(device, all_types[t], COUNT, &b));
        assert_int_equal(eg_buffer_count(a), COUNT);
        assert_int_equal(eg_buffer_type(a), all_types[t]);
        assert_int_equal(eg_buffer_bytes(a), COUNT * size);

        /* The whole, then a piece from the middle, from one buffer to the other, then a value. */
        random_bytes(expected, COUNT * size, t);
        TEST_OK(ctx, eg_buffer_upload(a, 0, COUNT, expected));
        random_bytes(expected + 13 * size, 101 * size, t + 10);
        TEST_OK(ctx, eg_buffer_upload(a, 13, 101, expected + 13 * size));
        TEST_OK(ctx, eg_buffer_copy(b, 0, a, 0, COUNT));
        memcpy(expected + 500 * size, expected + 3 * size, 250 * size);
        TEST_OK(ctx, eg_buffer_copy(b, 500, a, 3, 250));
        memcpy(expected + 800 * size, expected, 7 * size);
        TEST_OK(ctx, eg_buffer_copy(b, 800, b, 0, 7)); /* within one buffer, apart */
        for (size_t i = 901; i < 998; i++)
            memcpy(expected + i * size, expected, size);
        TEST_OK(ctx, eg_buffer_fill(b, 901, 97, expected));

        memset(got, 0, sizeof got);
        TEST_OK(ctx, eg_buffer_download(b, 0, COUNT, got));
        assert_memory_equal(got, expected, COUNT * size);
        memset(got, 0, sizeof got);
        TEST_OK(ctx, eg_buffer_download(b, 777, 200, got));
        assert_memory_equal(got, expected + 777 * size, 200 * size);
        TEST_OK(ctx, eg_buffer_check_canaries(a));
        TEST_OK(ctx, eg_buffer_check_canaries(b));
        TEST_OK(ctx, eg_device_sync(device));
        eg_buffer_destroy(&a);
        eg_buffer_destroy(&b);
        assert_null(a);
    }
}

static void test_buffer__values_of_every_type_survive_upload_copy_fill_and_download(void **state)
{
    (void)state;
    on_every_device(values_survive);
}

static void ranges_are_checked(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    double host[10] = {0};
    eg_buffer *a = NULL, *b = NULL, *c = NULL;
    TEST_OK(ctx, eg_buffer_create(device, EG_F64, 10, &a));
    TEST_OK(ctx, eg_buffer_create(device, EG_F64, 8, &b));
    TEST_OK(ctx, eg_buffer_create(device, EG_I64, 10, &c));
    static const size_t outside[][2] = {
        {0, 11}, {10, 1}, {11, 0}, {5, 6}, {1, SIZE_MAX}, {SIZE_MAX, 1}, {SIZE_MAX, SIZE_MAX}};
    for (size_t i = 0; i < EG_COUNT(outside); i++) {
        size_t first = outside[i][0], count = outside[i][1];
        const char *part = "the buffer has 10 values of type f64";
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, part, eg_buffer_upload(a, first, count, host));
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, part, eg_buffer_download(a, first, count, host));
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, part, eg_buffer_fill(a, first, count, host));
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, part, eg_buffer_copy(b, 0, a, first, count));
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "values", eg_buffer_copy(a, first, b, 0, count));
    }
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "has 8 values", eg_buffer_copy(b, 0, a, 0, 9));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "type i64", eg_buffer_copy(a, 0, c, 0, 10));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "overlap", eg_buffer_copy(a, 1, a, 0, 2));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "NULL", eg_buffer_upload(a, 0, 1, NULL));
    TEST_OK(ctx, eg_buffer_upload(a, 10, 0, host));
    TEST_OK(ctx, eg_buffer_download(a, 0, 0, NULL));
    TEST_OK(ctx, eg_buffer_fill(a, 3, 0, host));
    TEST_OK(ctx, eg_buffer_copy(b, 8, a, 10, 0));
    eg_buffer_destroy(&a);
    eg_buffer_destroy(&b);
    eg_buffer_destroy(&c);
}

static void test_buffer__ranges_outside_are_refused_and_empty_ones_are_not(void **state)
{
    (void)state;
    on_every_device(ranges_are_checked);
}

static void empty_buffer_works(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    eg_buffer *empty = NULL;
    TEST_OK(ctx, eg_buffer_create(device, EG_F32, 0, &empty));
    assert_int_equal(eg_buffer_count(empty), 0);
    TEST_OK(ctx, eg_buffer_download(empty, 0, 0, NULL));
    TEST_OK(ctx, eg_buffer_check_canaries(empty));
    eg_buffer_destroy(&empty);
}

static void test_buffer__a_buffer_of_no_values_is_a_buffer(void **state)
{
    (void)state;
    on_every_device(empty_buffer_works);
}

static void fresh_values_are_nan(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    if (!eg_context_check(ctx)) return;
    double host[257] = {0};
    for (int turn = 0; turn < 2; turn++) { /* the second time in memory that was used before */
        eg_buffer *buffer = NULL;
        TEST_OK(ctx, eg_buffer_create(device, EG_F64, EG_COUNT(host), &buffer));
        TEST_OK(ctx, eg_buffer_download(buffer, 0, EG_COUNT(host), host));
        for (size_t i = 0; i < EG_COUNT(host); i++)
            assert_true(host[i] != host[i]);
        TEST_OK(ctx, eg_buffer_fill(buffer, 0, EG_COUNT(host), &(double){1.5}));
        eg_buffer_destroy(&buffer);
    }
}

static void count_bytes(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    const size_t before = eg_device_buffer_bytes(device);
    eg_buffer *doubles = NULL, *bytes = NULL;
    TEST_OK(ctx, eg_buffer_create(device, EG_F64, 100, &doubles));
    TEST_OK(ctx, eg_buffer_create(device, EG_U8, 7, &bytes));
    assert_int_equal(eg_device_buffer_bytes(device), before + 807);
    eg_buffer_destroy(&doubles);
    assert_int_equal(eg_device_buffer_bytes(device), before + 7);
    eg_buffer_destroy(&bytes);
    assert_int_equal(eg_device_buffer_bytes(device), before);
}

static void test_buffer__a_device_knows_the_bytes_of_its_buffers(void **state)
{
    (void)state;
    on_every_device(count_bytes);
}

static void test_buffer__fresh_values_are_nan_in_check_mode(void **state)
{
    (void)state;
    on_every_device(fresh_values_are_nan);
}

static void test_buffer__a_write_outside_is_found_with_its_side_and_distance(void **state)
{
    (void)state;
    eg_context *ctx = context_in_check_mode(1);
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t t = 0; t < EG_COUNT(all_types); t++) {
        static const struct {
            int from_end;
            long offset;
            const char *part;
        } writes[] = {{0, -1, " 1 bytes before its first value"},
                      {0, -4096, " 4096 bytes before its first value"},
                      {1, 0, " 1 bytes behind its last value"},
                      {1, 4095, " 4096 bytes behind its last value"}};
        for (size_t i = 0; i < EG_COUNT(writes); i++) {
            eg_buffer *buffer = NULL;
            TEST_OK(ctx, eg_buffer_create(device, all_types[t], 101, &buffer));
            size_t place = buffer->base + (writes[i].from_end ? eg_buffer_bytes(buffer) : 0);
            TEST_OK(ctx, eg_buffer_check_canaries(buffer));
            TEST_OK(ctx, device->backend->fill(device, buffer->memory,
                                               place + (size_t)writes[i].offset, 1, "\x01", 1));
            TEST_FAILS(ctx, EG_ERROR_CHECK, writes[i].part, eg_buffer_check_canaries(buffer));
            assert_non_null(strstr(eg_context_error(ctx), eg_type_name(all_types[t])));
            assert_non_null(strstr(eg_context_error(ctx), "101 values"));
            eg_buffer_destroy(&buffer);
        }
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

static void too_large_is_refused(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    eg_buffer *buffer = NULL;
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8, (size_t)1 << 50};
    for (size_t i = 0; i < EG_COUNT(counts); i++) {
        TEST_FAILS(ctx, EG_ERROR_DEVICE_MEMORY, "",
                   eg_buffer_create(device, EG_F64, counts[i], &buffer));
        assert_null(buffer);
    }
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "type", eg_buffer_create(device, (eg_type)17, 1, &buffer));
}

static void test_buffer__one_larger_than_the_device_is_refused(void **state)
{
    (void)state;
    on_every_device(too_large_is_refused);
}

static void events_order(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    eg_event *start = NULL, *stop = NULL;
    eg_buffer *buffer = NULL;
    double seconds = -1;
    TEST_OK(ctx, eg_event_create(device, &start));
    TEST_OK(ctx, eg_event_create(device, &stop));
    TEST_OK(ctx, eg_buffer_create(device, EG_F64, 1 << 20, &buffer));
    TEST_OK(ctx, eg_event_record(start));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "second", eg_event_elapsed(start, stop, &seconds));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "first", eg_event_elapsed(stop, start, &seconds));
    TEST_OK(ctx, eg_buffer_fill(buffer, 0, 1 << 20, &(double){2.5}));
    TEST_OK(ctx, eg_event_record(stop));
    TEST_OK(ctx, eg_event_elapsed(start, stop, &seconds));
    assert_true(seconds > 0 && seconds < 60);
    eg_buffer_destroy(&buffer);
    eg_event_destroy(&start);
    eg_event_destroy(&stop);
}

static void test_event__time_passes_between_events(void **state)
{
    (void)state;
    on_every_device(events_order);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void test_cpu__memory_is_aligned_and_large_blocks_lie_on_huge_pages(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 63, 64, 4096, 100000, (size_t)4 << 20, ((size_t)9 << 20) + 5};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_memory memory[EG_COUNT(sizes)];
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(sizes); i++) {
        TEST_OK(ctx, device->backend->allocate(device, sizes[i], &memory[i]));
        size_t alignment = sizes[i] >= (size_t)4 << 20 ? (size_t)2 << 20 : 64;
        assert_int_equal((uintptr_t)memory[i].pointer % alignment, 0);
        memset(memory[i].pointer, (int)i, sizes[i]);
    }
    for (size_t i = 0; i < EG_COUNT(sizes); i++)
        device->backend->release(device, memory[i]);
    eg_device_close(&device);
    test_context_free(&ctx);
}

static eg_status open_and_create(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_device *device = NULL;
    eg_buffer *buffer = NULL;
    eg_event *event = NULL;
    eg_device_info *list = NULL;
    size_t count = 0;
    EG_TRY(eg_device_list(ctx, &list, &count));
    EG_TRY(eg_device_open(ctx, user, &device));
    EG_TRY(eg_buffer_create(device, EG_F64, 100, &buffer));
    EG_TRY(eg_event_create(device, &event));
    eg_status absent = eg_device_open(ctx, "cuda:99", &(eg_device *){NULL});
    if (absent != EG_ERROR_NO_DEVICE) status = absent;
done:
    eg_event_destroy(&event);
    eg_buffer_destroy(&buffer);
    eg_device_close(&device);
    eg_device_list_free(ctx, &list);
    return status == EG_ERROR_DEVICE_MEMORY ? EG_ERROR_MEMORY : status;
}

static void test_device__every_allocation_may_fail(void **state)
{
    (void)state;
    eg_context_options options = test_context_options();
    for (options.check = 0; options.check < 2; options.check++) {
        test_allocation_sweep_with(&options, open_and_create, "cpu:3");
        test_allocation_sweep_with(&options, open_and_create, "auto");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_context__options_of_zeros_are_the_defaults),
        cmocka_unit_test(test_device__malformed_specs_are_refused_with_the_accepted_forms),
        cmocka_unit_test(test_device__absent_devices_are_told_with_those_that_exist),
        cmocka_unit_test(test_device__the_cpu_is_listed_first_and_says_what_it_is),
        cmocka_unit_test(test_device__an_open_device_answers_to_its_spec),
        cmocka_unit_test(test_device__auto_takes_the_first_gpu_else_the_cpu),
        cmocka_unit_test(test_buffer__values_of_every_type_survive_upload_copy_fill_and_download),
        cmocka_unit_test(test_buffer__ranges_outside_are_refused_and_empty_ones_are_not),
        cmocka_unit_test(test_buffer__a_buffer_of_no_values_is_a_buffer),
        cmocka_unit_test(test_buffer__a_device_knows_the_bytes_of_its_buffers),
        cmocka_unit_test(test_buffer__fresh_values_are_nan_in_check_mode),
        cmocka_unit_test(test_buffer__a_write_outside_is_found_with_its_side_and_distance),
        cmocka_unit_test(test_buffer__one_larger_than_the_device_is_refused),
        cmocka_unit_test(test_event__time_passes_between_events),
        cmocka_unit_test(test_cpu__memory_is_aligned_and_large_blocks_lie_on_huge_pages),
        cmocka_unit_test(test_device__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
