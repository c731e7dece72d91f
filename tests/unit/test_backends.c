/* The OpenCL and CUDA backends at the level of their tables, on every device they list, and NVRTC
 * without a device. Where there is none the test is counted as skipped. */
#include "test.h"

#include "device/backend.h"

#define LANES 32
#define DEVICES_MAX 16

/* y[tile][lane] += a x[tile][lane], one block a tile; each backend puts its own words in front. */
static const char kernel_text[] = "K_ENTRY void axpy(int first, int end, K_GLOBAL float *y,\n"
                                  "                  K_GLOBAL const float *x, float a)\n"
                                  "{\n"
                                  "    for (int t = first + K_BLOCK; t < end; t += K_BLOCKS) {\n"
                                  "        int i = t * 32 + K_THREAD;\n"
                                  "        y[i] += a * x[i];\n"
                                  "    }\n"
                                  "}\n";

static const char opencl_words[] = "#define K_ENTRY __kernel\n"
                                   "#define K_GLOBAL __global\n"
                                   "#define K_BLOCK (int)get_group_id(0)\n"
                                   "#define K_BLOCKS (int)get_num_groups(0)\n"
                                   "#define K_THREAD (int)get_local_id(0)\n";

static const char cuda_words[] = "#define K_ENTRY extern \"C\" __global__\n"
                                 "#define K_GLOBAL\n"
                                 "#define K_BLOCK (int)blockIdx.x\n"
                                 "#define K_BLOCKS (int)gridDim.x\n"
                                 "#define K_THREAD (int)threadIdx.x\n";

static const eg_geometry axpy_geometry = {
    .lanes = LANES, .ty = 1, .tz = 1, .in_turn = 1, .groups_per_tile = 1, .block = {LANES, 1, 1}};

static const eg_backend *const backends[] = {&eg_backend_opencl, &eg_backend_cuda};

static const char *words_of(const eg_backend *backend)
{
    return backend == &eg_backend_cuda ? cuda_words : opencl_words;
}

/* A kernel needs the device's compiler, which CUDA has apart from its driver. */
static bool compiles(eg_context *ctx, const eg_backend *backend)
{
    return backend != &eg_backend_cuda || eg_cuda_compiler_present(ctx);
}

typedef void device_test(eg_device *device);

/* Runs `test` on every device of both backends, each opened afresh. */
static void on_every_device(device_test *test, bool needs_compiler)
{
    eg_context *ctx = test_context();
    int ran = 0;
    for (size_t b = 0; b < EG_COUNT(backends); b++) {
        int count = backends[b]->list(ctx, NULL, 0);
        if (needs_compiler && !compiles(ctx, backends[b])) continue;
        for (int i = 0; i < count; i++) {
            eg_device device = {.ctx = ctx, .backend = backends[b]};
            TEST_OK(ctx, backends[b]->open(&device, i));
            test(&device);
            backends[b]->close(&device);
            assert_null(device.state);
            ran++;
        }
    }
    test_context_free(&ctx);
    if (ran == 0) skip();
}

static void make_source(const eg_device *device, const char *text, eg_text *source)
{
    *source = eg_text_new(device->ctx);
    TEST_OK(device->ctx, eg_text_puts(source, words_of(device->backend)));
    TEST_OK(device->ctx, eg_text_puts(source, text));
}

static eg_status load_axpy(eg_device *device, const eg_geometry *geometry, const char *entry,
                           void **function)
{
    eg_status status = EG_OK;
    eg_text source = eg_text_new(device->ctx);
    eg_blob blob = {0};
    EG_TRY(eg_text_puts(&source, words_of(device->backend)));
    EG_TRY(eg_text_puts(&source, kernel_text));
    EG_TRY(device->backend->compile(device, "test/axpy.k.c", &source, true, &blob));
    EG_TRY(device->backend->load(device, &blob, NULL, entry, geometry, function));
done:
    eg_release(device->ctx, &blob.data);
    eg_text_free(&source);
    return status;
}

/* --- devices ------------------------------------------------------------------------------------ */

static void test_backends__listing_never_fails_and_agrees_with_opening(void **unused)
{
    (void)unused;
    eg_context *ctx = test_context();
    for (size_t b = 0; b < EG_COUNT(backends); b++) {
        eg_device_info list[DEVICES_MAX];
        memset(list, 0x5a, sizeof list);
        int count = backends[b]->list(ctx, NULL, 0);
        assert_true(count >= 0 && count <= DEVICES_MAX);
        assert_int_equal(backends[b]->list(ctx, list, DEVICES_MAX), count);
        for (int i = 0; i < count; i++) {
            char spec[32];
            snprintf(spec, sizeof spec, "%s:%d", backends[b]->name, i);
            assert_string_equal(list[i].spec, spec);
            assert_string_equal(list[i].backend, backends[b]->name);
            assert_true(list[i].name[0] && list[i].version[0] && list[i].features[0]);
            assert_true(list[i].memory_bytes > 1 << 20 && list[i].compute_units > 0);
            assert_true(list[i].max_block_threads >= LANES && list[i].shared_bytes >= 16384);
            assert_true(list[i].lanes == 16 || list[i].lanes == 32);
            eg_device device = {.ctx = ctx, .backend = backends[b]};
            TEST_OK(ctx, backends[b]->open(&device, i));
            assert_string_equal(device.info.spec, list[i].spec);
            assert_string_equal(device.info.name, list[i].name);
            assert_int_equal(device.info.memory_bytes, list[i].memory_bytes);
            backends[b]->close(&device);
        }
    }
    test_context_free(&ctx);
}

static void test_backends__a_device_that_is_not_there_is_named(void **unused)
{
    (void)unused;
    eg_context *ctx = test_context();
    for (size_t b = 0; b < EG_COUNT(backends); b++) {
        char spec[32];
        int beyond = backends[b]->list(ctx, NULL, 0);
        eg_device device = {.ctx = ctx, .backend = backends[b]};
        snprintf(spec, sizeof spec, "%s:%d", backends[b]->name, beyond);
        TEST_FAILS(ctx, EG_ERROR_NO_DEVICE, spec, backends[b]->open(&device, beyond));
        assert_null(device.state);
        TEST_FAILS(ctx, EG_ERROR_NO_DEVICE, "-1", backends[b]->open(&device, -1));
    }
    test_context_free(&ctx);
}

/* --- memory ------------------------------------------------------------------------------------- */

static void move_bytes(eg_device *device)
{
    enum { BYTES = 10000 };
    const eg_backend *be = device->backend;
    unsigned char data[BYTES], back[BYTES];
    eg_memory a, b;
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (unsigned char)(i * 131 + i / 256);
    TEST_OK(device->ctx, be->allocate(device, BYTES, &a));
    TEST_OK(device->ctx, be->allocate(device, BYTES, &b));
    TEST_OK(device->ctx, be->upload(device, a, 0, 4001, data));
    TEST_OK(device->ctx, be->upload(device, a, 4001, BYTES - 4001, data + 4001));
    TEST_OK(device->ctx, be->fill(device, b, 0, BYTES, "\xee", 1));
    TEST_OK(device->ctx, be->copy(device, b, 24, a, 1000, 8000));
    TEST_OK(device->ctx, be->copy(device, b, 0, a, 0, 0));
    TEST_OK(device->ctx, be->download(device, b, 0, BYTES, back));
    assert_memory_equal(back + 24, data + 1000, 8000);
    assert_int_equal(back[23], 0xee);
    assert_int_equal(back[8024], 0xee);
    TEST_OK(device->ctx, be->download(device, a, 4000, 3, back));
    assert_memory_equal(back, data + 4000, 3);
    TEST_OK(device->ctx, be->sync(device));
    be->release(device, a);
    be->release(device, b);
}

static void test_backends__bytes_come_back_from_where_they_were_put(void **unused)
{
    (void)unused;
    on_every_device(move_bytes, false);
}

/* Fills all but the first and the last value and looks at every byte. */
static void fill_pattern(eg_device *device, const void *pattern, size_t size, size_t count)
{
    const eg_backend *be = device->backend;
    unsigned char *back = malloc(count * size);
    eg_memory memory;
    assert_non_null(back);
    TEST_OK(device->ctx, be->allocate(device, count * size, &memory));
    TEST_OK(device->ctx, be->fill(device, memory, 0, count * size, "\x11", 1));
    TEST_OK(device->ctx, be->fill(device, memory, size, (count - 2) * size, pattern, size));
    TEST_OK(device->ctx, be->download(device, memory, 0, count * size, back));
    for (size_t i = 0; i < count * size; i++) {
        bool inside = i >= size && i < (count - 1) * size;
        if (back[i] != (inside ? ((const unsigned char *)pattern)[i % size] : 0x11))
            fail_msg("byte %zu of %zu patterns of %zu is %d", i, count, size, back[i]);
    }
    be->release(device, memory);
    free(back);
}

static void fill_patterns(eg_device *device)
{
    const size_t counts[] = {2, 3, 514, 515, 1027, 5000};
    for (size_t i = 0; i < EG_COUNT(counts); i++) {
        fill_pattern(device, "\x7f", 1, counts[i]);
        fill_pattern(device, &(float){-1.25f}, 4, counts[i]);
        fill_pattern(device, &(double){3.14159}, 8, counts[i]);
        fill_pattern(device, "\x01\x02\x03\x04\x01\x02\x03\x04", 8, counts[i]);
    }
}

static void test_backends__a_fill_sets_the_range_and_nothing_else(void **unused)
{
    (void)unused;
    on_every_device(fill_patterns, false);
}

static void ask_for_too_much(eg_device *device)
{
    eg_memory memory;
    char asked[32];
    snprintf(asked, sizeof asked, "%zu", (size_t)1 << 50);
    TEST_FAILS(device->ctx, EG_ERROR_DEVICE_MEMORY, asked,
               device->backend->allocate(device, (size_t)1 << 50, &memory));
    TEST_OK(device->ctx, device->backend->allocate(device, 0, &memory));
    device->backend->release(device, memory);
}

static void
test_backends__too_large_an_allocation_is_a_status_and_the_device_lives_on(void **unused)
{
    (void)unused;
    on_every_device(ask_for_too_much, false);
}

/* --- kernels ------------------------------------------------------------------------------------ */

static eg_slot memory_slot(eg_memory memory, size_t offset)
{
    return (eg_slot){.is_memory = true, .memory = memory, .offset = offset};
}

/* More tiles than a grid has blocks, buffers from an offset on, and a range that starts late. */
static void launch_range(eg_device *device)
{
    enum { OFFSET = 4096 / sizeof(float) };
    const eg_backend *be = device->backend;
    const int64_t first = 3, count = 64 * device->info.compute_units + 37;
    const size_t values = (size_t)(first + count + 2) * LANES, bytes = values * sizeof(float);
    const float a = 0.5f;
    float *host = malloc(bytes + 4096);
    void *function = NULL;
    eg_memory x, y;
    assert_non_null(host);
    TEST_OK(device->ctx, load_axpy(device, &axpy_geometry, "axpy", &function));
    TEST_OK(device->ctx, be->allocate(device, bytes, &x));
    TEST_OK(device->ctx, be->allocate(device, bytes + 4096, &y));
    for (size_t i = 0; i < values; i++)
        host[i] = (float)(i % 1000);
    TEST_OK(device->ctx, be->upload(device, x, 0, bytes, host));
    TEST_OK(device->ctx, be->fill(device, y, 0, bytes + 4096, &(float){2}, sizeof(float)));
    const eg_slot slots[] = {
        memory_slot(y, 4096), memory_slot(x, 0), {.data = &a, .size = sizeof a}};
    TEST_OK(device->ctx, be->launch(device, function, &axpy_geometry, first, count, slots, 3));
    TEST_OK(device->ctx, be->launch(device, function, &axpy_geometry, 0, 0, slots, 3));
    TEST_OK(device->ctx, be->sync(device));
    TEST_OK(device->ctx, be->download(device, y, 0, bytes + 4096, host));
    for (size_t i = 0; i < values + OFFSET; i++) {
        size_t at = i - OFFSET, tile = at / LANES;
        bool touched = i >= OFFSET && tile >= (size_t)first && tile < (size_t)(first + count);
        float expected = touched ? 2 + a * (float)(at % 1000) : 2;
        if (host[i] != expected)
            fail_msg("value %zu is %g, expected %g", i, (double)host[i], (double)expected);
    }
    be->release(device, x);
    be->release(device, y);
    be->unload(device, function);
    free(host);
}

static void test_backends__a_launch_serves_its_tiles_and_no_others(void **unused)
{
    (void)unused;
    on_every_device(launch_range, true);
}

static void launch_out_of_range(eg_device *device)
{
    void *function = NULL;
    TEST_OK(device->ctx, load_axpy(device, &axpy_geometry, "axpy", &function));
    TEST_FAILS(device->ctx, EG_ERROR_LAUNCH, "out of range",
               device->backend->launch(device, function, &axpy_geometry, 1, INT32_MAX, NULL, 0));
    device->backend->unload(device, function);
}

static void test_backends__tiles_beyond_32_bits_are_refused(void **unused)
{
    (void)unused;
    on_every_device(launch_out_of_range, true);
}

static void launch_misaligned(eg_device *device)
{
    const eg_backend *be = device->backend;
    const float a = 1;
    void *function = NULL;
    eg_memory memory;
    if (be != &eg_backend_opencl) return;
    TEST_OK(device->ctx, load_axpy(device, &axpy_geometry, "axpy", &function));
    TEST_OK(device->ctx, be->allocate(device, 8192, &memory));
    TEST_OK(device->ctx, be->fill(device, memory, 0, 8192, "", 1));
    const eg_slot slots[] = {
        memory_slot(memory, 4096), memory_slot(memory, 4), {.data = &a, .size = sizeof a}};
    TEST_FAILS(device->ctx, EG_ERROR_LAUNCH, "multiples of",
               be->launch(device, function, &axpy_geometry, 0, 1, slots, 3));
    be->release(device, memory);
    be->unload(device, function);
}

static void test_backends__opencl_tells_the_alignment_an_offset_lacks(void **unused)
{
    (void)unused;
    on_every_device(launch_misaligned, true);
}

static void load_wrongly(eg_device *device)
{
    void *function = NULL;
    eg_geometry geometry = axpy_geometry;
    TEST_FAILS(device->ctx, EG_ERROR_ARGUMENT, "axpi",
               load_axpy(device, &geometry, "axpi", &function));
    assert_null(function);
    geometry.shared_bytes = (size_t)device->info.shared_bytes + 1;
    TEST_FAILS(device->ctx, EG_ERROR_UNSUPPORTED, "fewer LANES",
               load_axpy(device, &geometry, "axpy", &function));
    geometry = axpy_geometry;
    geometry.block[1] = device->info.max_block_threads;
    TEST_FAILS(device->ctx, EG_ERROR_UNSUPPORTED, "fewer LANES",
               load_axpy(device, &geometry, "axpy", &function));
    assert_null(function);
}

static void test_backends__loading_names_what_does_not_fit(void **unused)
{
    (void)unused;
    on_every_device(load_wrongly, true);
}

static void compile_wrongly(eg_device *device)
{
    eg_text source;
    eg_blob blob = {0};
    make_source(device, "K_ENTRY void broken(int first)\n{\n    no_such_thing(first);\n}\n",
                &source);
    TEST_FAILS(device->ctx, EG_ERROR_COMPILE, "no_such_thing",
               device->backend->compile(device, "test/broken.k.c", &source, true, &blob));
    const char *message = eg_context_error(device->ctx);
    if (!strstr(message, "test/broken.k.c:8") && !strstr(message, "test/broken.k.c(8)"))
        fail_msg("the message does not name line 8: %s", message);
    assert_null(blob.data);
    eg_text_free(&source);
}

static void test_backends__a_failed_compilation_names_file_and_line(void **unused)
{
    (void)unused;
    on_every_device(compile_wrongly, true);
}

static void identify_twice(eg_device *device)
{
    eg_text a = eg_text_new(device->ctx), b = eg_text_new(device->ctx);
    TEST_OK(device->ctx, device->backend->identify(device, &a));
    TEST_OK(device->ctx, device->backend->identify(device, &b));
    assert_string_equal(eg_text_string(&a), eg_text_string(&b));
    assert_non_null(strstr(eg_text_string(&a), device->backend->name));
    eg_text_free(&a);
    eg_text_free(&b);
}

static void test_backends__the_identity_of_a_device_is_stable(void **unused)
{
    (void)unused;
    on_every_device(identify_twice, false);
}

static void time_fills(eg_device *device)
{
    const eg_backend *be = device->backend;
    void *start = NULL, *stop = NULL;
    double seconds = -1;
    eg_memory memory;
    TEST_OK(device->ctx, be->allocate(device, 16 << 20, &memory));
    TEST_OK(device->ctx, be->event_create(device, &start));
    TEST_OK(device->ctx, be->event_create(device, &stop));
    TEST_FAILS(device->ctx, EG_ERROR_ARGUMENT, "recorded",
               be->event_elapsed(device, start, stop, &seconds));
    for (int round = 0; round < 2; round++) {
        double before = eg_wall_seconds();
        TEST_OK(device->ctx, be->event_record(device, start));
        for (int i = 0; i < 4; i++)
            TEST_OK(device->ctx, be->fill(device, memory, 0, 16 << 20, &(float){1}, 4));
        TEST_OK(device->ctx, be->event_record(device, stop));
        TEST_OK(device->ctx, be->event_elapsed(device, start, stop, &seconds));
        assert_true(seconds > 0 && seconds <= eg_wall_seconds() - before + 1e-3);
    }
    be->event_destroy(device, start);
    be->event_destroy(device, stop);
    be->release(device, memory);
}

static void test_backends__events_measure_the_work_between_them(void **unused)
{
    (void)unused;
    on_every_device(time_fills, false);
}

/* One use of everything that takes host memory; `user` is the backend. */
static eg_status use_first_device(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    const eg_backend *be = user;
    eg_device device = {.ctx = ctx, .backend = be};
    void *function = NULL, *event = NULL;
    EG_TRY(be->open(&device, 0));
    EG_TRY(load_axpy(&device, &axpy_geometry, "axpy", &function));
    EG_TRY(be->event_create(&device, &event));
done:
    if (event) be->event_destroy(&device, event);
    if (function) be->unload(&device, function);
    be->close(&device);
    return status;
}

static void test_backends__a_failed_allocation_leaves_nothing_behind(void **unused)
{
    (void)unused;
    int ran = 0;
    eg_context *ctx = test_context();
    bool usable[EG_COUNT(backends)];
    for (size_t b = 0; b < EG_COUNT(backends); b++)
        usable[b] = compiles(ctx, backends[b]) && backends[b]->list(ctx, NULL, 0) > 0;
    test_context_free(&ctx);
    for (size_t b = 0; b < EG_COUNT(backends); b++) {
        if (!usable[b]) continue;
        test_allocation_sweep(use_first_device, (void *)(uintptr_t)backends[b]);
        ran++;
    }
    if (ran == 0) skip();
}

/* --- NVRTC without a GPU ------------------------------------------------------------------------ */

static eg_status compile_for(eg_context *ctx, const char *arch, const char *text, eg_blob *blob)
{
    eg_status status = EG_OK;
    eg_text source = eg_text_new(ctx);
    EG_TRY(eg_text_puts(&source, cuda_words));
    EG_TRY(eg_text_puts(&source, text));
    EG_TRY(eg_cuda_compile(ctx, arch, "test/axpy.k.c", &source, true, blob));
done:
    eg_text_free(&source);
    return status;
}

static eg_status compile_for_sm_90(eg_context *ctx, void *user)
{
    eg_blob blob = {0};
    eg_status status = compile_for(ctx, "sm_90", kernel_text, &blob);
    (void)user;
    eg_release(ctx, &blob.data);
    return status;
}

static void skip_without_nvrtc(void)
{
    eg_context *ctx = test_context();
    bool present = eg_cuda_compiler_present(ctx);
    test_context_free(&ctx);
    if (!present) skip();
}

static void test_nvrtc__compiles_to_a_binary_of_every_architecture(void **unused)
{
    static const char *const archs[] = {"sm_75", "sm_80", "sm_90", "sm_100"};
    (void)unused;
    skip_without_nvrtc();
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(archs); i++) {
        eg_blob blob = {0};
        TEST_OK(ctx, compile_for(ctx, archs[i], kernel_text, &blob));
        assert_true(blob.length > 64);
        assert_memory_equal(blob.data, "\177ELF", 4);
        assert_non_null(memmem(blob.data, blob.length, "axpy", 4));
        eg_release(ctx, &blob.data);
    }
    test_context_free(&ctx);
}

static void test_nvrtc__a_failed_compilation_names_file_and_line(void **unused)
{
    (void)unused;
    skip_without_nvrtc();
    eg_context *ctx = test_context();
    eg_blob blob = {0};
    const char *text = "K_ENTRY void broken(int first)\n{\n    no_such_thing(first);\n}\n";
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "no_such_thing", compile_for(ctx, "sm_80", text, &blob));
    assert_non_null(strstr(eg_context_error(ctx), "test/axpy.k.c(8)"));
    assert_null(blob.data);
    test_context_free(&ctx);
}

static void test_nvrtc__an_architecture_it_does_not_know_is_named(void **unused)
{
    (void)unused;
    skip_without_nvrtc();
    eg_context *ctx = test_context();
    eg_blob blob = {0};
    TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "sm_13", compile_for(ctx, "sm_13", kernel_text, &blob));
    test_context_free(&ctx);
}

static void test_nvrtc__a_failed_allocation_leaves_nothing_behind(void **unused)
{
    (void)unused;
    skip_without_nvrtc();
    test_allocation_sweep(compile_for_sm_90, NULL);
}

static void test_nvrtc__a_wrong_setting_is_reported_and_not_worked_around(void **unused)
{
    (void)unused;
    char directory[PATH_MAX], path[PATH_MAX + 16];
    char *kept = getenv("EAGRE_NVRTC") ? strdup(getenv("EAGRE_NVRTC")) : NULL;
    eg_context *ctx = test_context();
    eg_blob blob = {0};
    test_directory_create(directory);
    assert_int_equal(setenv("EAGRE_NVRTC", directory, 1), 0);
    assert_false(eg_cuda_compiler_present(ctx));
    TEST_FAILS(ctx, EG_ERROR_NO_COMPILER, directory, compile_for(ctx, "sm_90", kernel_text, &blob));

    /* A file that is no library is found, and refused when it is to be loaded. */
    snprintf(path, sizeof path, "%s/libnvrtc.so", directory);
    TEST_OK(ctx, eg_file_write_atomic(ctx, path, "text", 4, 0600, false));
    assert_true(eg_cuda_compiler_present(ctx));
    TEST_FAILS(ctx, EG_ERROR_NO_COMPILER, "cannot be loaded",
               compile_for(ctx, "sm_90", kernel_text, &blob));
    if (kept)
        setenv("EAGRE_NVRTC", kept, 1);
    else
        unsetenv("EAGRE_NVRTC");
    free(kept);
    test_directory_remove(directory);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backends__listing_never_fails_and_agrees_with_opening),
        cmocka_unit_test(test_backends__a_device_that_is_not_there_is_named),
        cmocka_unit_test(test_backends__bytes_come_back_from_where_they_were_put),
        cmocka_unit_test(test_backends__a_fill_sets_the_range_and_nothing_else),
        cmocka_unit_test(
            test_backends__too_large_an_allocation_is_a_status_and_the_device_lives_on),
        cmocka_unit_test(test_backends__a_launch_serves_its_tiles_and_no_others),
        cmocka_unit_test(test_backends__tiles_beyond_32_bits_are_refused),
        cmocka_unit_test(test_backends__opencl_tells_the_alignment_an_offset_lacks),
        cmocka_unit_test(test_backends__loading_names_what_does_not_fit),
        cmocka_unit_test(test_backends__a_failed_compilation_names_file_and_line),
        cmocka_unit_test(test_backends__the_identity_of_a_device_is_stable),
        cmocka_unit_test(test_backends__events_measure_the_work_between_them),
        cmocka_unit_test(test_backends__a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(test_nvrtc__compiles_to_a_binary_of_every_architecture),
        cmocka_unit_test(test_nvrtc__a_failed_compilation_names_file_and_line),
        cmocka_unit_test(test_nvrtc__an_architecture_it_does_not_know_is_named),
        cmocka_unit_test(test_nvrtc__a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(test_nvrtc__a_wrong_setting_is_reported_and_not_worked_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
