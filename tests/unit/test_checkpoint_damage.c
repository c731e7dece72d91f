/* Damaged checkpoints: whatever byte of whatever file is changed, wherever a file is cut off, it is found
 * out, said of which file, and the checkpoint before it is offered. */
#include "checkpoint.h"
#include "comma.h"

#include <fcntl.h>

#include "report/checkpoint/manifest.h"

/* With sanitizers, which take their time, not every byte but one in so many. */
#ifdef __SANITIZE_ADDRESS__
#define STRIDE 7
#else
#define STRIDE 1
#endif

#define NOBODY 65534 /* a user who may do nothing */

static const checkpoint_case smallest = {
    EG_SHAPE_TRI, {1, 1, 0}, EG_BASIS_LOBATTO, EG_BASIS_MODAL, 0, 1, false};

/* Two checkpoints in a directory. */
typedef struct pair {
    eg_context *ctx;
    eg_comm *comm;
    eg_device *device;
    checkpoint_setting s;
    char directory[PATH_MAX];
} pair;

static void pair_open(pair *p, int fields)
{
    p->ctx = test_context();
    test_directory_create(p->directory);
    TEST_OK(p->ctx, eg_comm_self(p->ctx, &p->comm));
    TEST_OK(p->ctx, eg_device_open(p->ctx, "cpu:1", &p->device));
    checkpoint_setting_open(p->ctx, p->comm, p->device, &smallest, EG_PARTITION_HILBERT, &p->s);
    p->s.state.field_count = fields;
    TEST_OK(p->ctx, checkpoint_write(&p->s, p->directory, 110, 0));
    TEST_OK(p->ctx, checkpoint_write(&p->s, p->directory, 120, 0));
}

static void pair_close(pair *p)
{
    checkpoint_setting_close(&p->s);
    eg_device_close(&p->device);
    eg_comm_destroy(&p->comm);
    test_context_free(&p->ctx);
    test_directory_remove(p->directory);
}

static eg_status open_newest(pair *p)
{
    eg_checkpoint *checkpoint = NULL;
    eg_status status = eg_checkpoint_open(p->ctx, NULL, p->directory, &checkpoint);
    eg_checkpoint_close(&checkpoint);
    return status;
}

/* The newest is refused, by the name of this file, and the one before it is offered. */
static void check_refused(pair *p, const char *path)
{
    char offer[PATH_MAX + 64];
    snprintf(offer, sizeof offer, "the checkpoint before it is whole: %s/00000110 (step 110",
             p->directory);
    TEST_FAILS(p->ctx, EG_ERROR_INPUT, offer, open_newest(p));
    if (!strstr(eg_context_error(p->ctx), path))
        fail_msg("\"%s\" does not name %s", eg_context_error(p->ctx), path);
}

static void file_write(const char *path, const char *bytes, size_t length)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(file >= 0);
    assert_true(write(file, bytes, length) == (ssize_t)length);
    close(file);
}

/* Gives a directory of checkpoints, and all that is in it, to NOBODY. Returns what went wrong. */
static int chown_all(const char *path)
{
    char command[PATH_MAX + 64];
    snprintf(command, sizeof command, "chown -R %d '%s'", NOBODY, path);
    return system(command);
}

/* Calls for each file of the newest checkpoint. */
static void each_file(pair *p, void (*call)(pair *p, const char *path, char *bytes, size_t length))
{
    char folder[PATH_MAX + 16], path[PATH_MAX + 300];
    int files = 0;
    snprintf(folder, sizeof folder, "%s/00000120", p->directory);
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        char *bytes = NULL;
        size_t length = 0;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        TEST_OK(p->ctx, eg_file_read(p->ctx, path, &bytes, &length));
        call(p, path, bytes, length);
        eg_release(p->ctx, &bytes);
        files++;
    }
    closedir(list);
    assert_int_equal(files, 2);
    TEST_OK(p->ctx, open_newest(p));
}

static void change_bytes(pair *p, const char *path, char *bytes, size_t length)
{
    int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    for (size_t i = 0; i < length; i += STRIDE) {
        /* One bit, then all of them. */
        const char changed = (char)(bytes[i] ^ (i % 2 ? 1 << (i / 2 % 8) : 0xff));
        assert_true(pwrite(file, &changed, 1, (off_t)i) == 1);
        check_refused(p, path);
        assert_true(pwrite(file, &bytes[i], 1, (off_t)i) == 1);
    }
    close(file);
}

static void cut_off(pair *p, const char *path, char *bytes, size_t length)
{
    for (size_t i = length; i-- > 0;) {
        if (i % STRIDE != 0) continue;
        assert_true(truncate(path, (off_t)i) == 0);
        check_refused(p, path);
    }
    file_write(path, bytes, length);
}

static void add_and_remove(pair *p, const char *path, char *bytes, size_t length)
{
    char *longer = calloc(1, length + 1);
    assert_non_null(longer);
    memcpy(longer, bytes, length);
    file_write(path, longer, length + 1);
    check_refused(p, path);
    free(longer);
    /* Without its manifest a checkpoint does not exist, and the one before it is the newest. */
    assert_true(unlink(path) == 0);
    if (strstr(path, EG_MANIFEST_NAME)) {
        eg_checkpoint *checkpoint = NULL;
        TEST_OK(p->ctx, eg_checkpoint_open(p->ctx, NULL, p->directory, &checkpoint));
        assert_int_equal(eg_checkpoint_get_info(checkpoint)->step, 110);
        eg_checkpoint_close(&checkpoint);
    } else {
        check_refused(p, path);
    }
    file_write(path, bytes, length);
}

static void test_damage__a_change_of_any_byte_is_found(void **state)
{
    (void)state;
    pair p;
    pair_open(&p, 1);
    each_file(&p, change_bytes);
    pair_close(&p);
}

static void test_damage__a_file_that_is_cut_off_anywhere_is_found(void **state)
{
    (void)state;
    pair p;
    pair_open(&p, 1);
    each_file(&p, cut_off);
    pair_close(&p);
}

static void test_damage__a_file_that_is_longer_or_missing_is_found(void **state)
{
    (void)state;
    pair p;
    pair_open(&p, 2);
    each_file(&p, add_and_remove);
    pair_close(&p);
}

static void test_damage__that_happens_after_opening_is_found_before_hdf5_sees_it(void **state)
{
    (void)state;
    pair p;
    char path[PATH_MAX + 64], *bytes = NULL;
    size_t length = 0;
    eg_checkpoint *checkpoint = NULL;
    pair_open(&p, 2);
    TEST_OK(p.ctx, eg_checkpoint_open(p.ctx, NULL, p.directory, &checkpoint));
    snprintf(path, sizeof path, "%s/00000120/000002-0000-000.h5", p.directory);
    TEST_OK(p.ctx, eg_file_read(p.ctx, path, &bytes, &length));
    bytes[100] ^= 1;
    file_write(path, bytes, length);
    TEST_FAILS(p.ctx, EG_ERROR_INPUT, "another checksum",
               eg_checkpoint_read_field(checkpoint, "solution", NULL, p.s.solution));
    file_write(path, bytes, length / 2);
    TEST_FAILS(p.ctx, EG_ERROR_INPUT, "bytes and should have",
               eg_checkpoint_read_field(checkpoint, "solution", NULL, p.s.solution));
    eg_release(p.ctx, &bytes);
    eg_checkpoint_close(&checkpoint);
    pair_close(&p);
}

static void test_damage__what_is_no_checkpoint_is_refused_with_a_reason(void **state)
{
    (void)state;
    pair p;
    char path[PATH_MAX + 64];
    eg_checkpoint *checkpoint = NULL;
    pair_open(&p, 2);
    snprintf(path, sizeof path, "%s/00000120/000002-0000-000.h5", p.directory);
    TEST_FAILS(p.ctx, EG_ERROR_INPUT, "name its directory",
               eg_checkpoint_open(p.ctx, NULL, path, &checkpoint));
    snprintf(path, sizeof path, "%s/nowhere", p.directory);
    TEST_FAILS(p.ctx, EG_ERROR_INPUT, "No such file",
               eg_checkpoint_open(p.ctx, NULL, path, &checkpoint));
    assert_int_equal(mkdir(path, 0700), 0);
    TEST_FAILS(p.ctx, EG_ERROR_INPUT, "there is no checkpoint in",
               eg_checkpoint_open(p.ctx, NULL, path, &checkpoint));
    assert_null(checkpoint);
    /* Any of its names opens it. */
    static const char *const names[] = {"00000110", "00000110/", "00000110/manifest.toml"};
    for (size_t i = 0; i < EG_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", p.directory, names[i]);
        TEST_OK(p.ctx, eg_checkpoint_open(p.ctx, NULL, path, &checkpoint));
        assert_int_equal(eg_checkpoint_get_info(checkpoint)->step, 110);
        TEST_FAILS(p.ctx, EG_ERROR_INPUT, "no field \"pressure\"; its first is \"solution\"",
                   eg_checkpoint_read_field(checkpoint, "pressure", NULL, p.s.solution));
        TEST_FAILS(p.ctx, EG_ERROR_INPUT, "has 1 components",
                   eg_checkpoint_read_field(checkpoint, "earlier", NULL, p.s.solution));
        eg_checkpoint_close(&checkpoint);
    }
    pair_close(&p);
}

/* --- manifests -------------------------------------------------------------------------------- */

/* The manifest of the newest checkpoint with one piece of text replaced, and a checksum that fits. */
static eg_text change_manifest(pair *p, const char *from, const char *to)
{
    char path[PATH_MAX + 64], *text = NULL;
    size_t length = 0;
    eg_text changed = eg_text_new(p->ctx);
    snprintf(path, sizeof path, "%s/00000120/" EG_MANIFEST_NAME, p->directory);
    TEST_OK(p->ctx, eg_file_read(p->ctx, path, &text, &length));
    char *at = strstr(text, from), *seal = strstr(text, "# sha256 ");
    assert_true(at && seal);
    TEST_OK(p->ctx, eg_text_add(&changed, text, (size_t)(at - text)));
    TEST_OK(p->ctx, eg_text_puts(&changed, to));
    TEST_OK(p->ctx, eg_text_add(&changed, at + strlen(from), (size_t)(seal - at) - strlen(from)));
    TEST_OK(p->ctx, eg_manifest_seal(&changed));
    eg_release(p->ctx, &text);
    return changed;
}

static eg_status read_changed(pair *p, const char *from, const char *to)
{
    eg_manifest_file *file = NULL;
    eg_text changed = change_manifest(p, from, to);
    eg_status status =
        eg_manifest_read(p->ctx, "manifest.toml", changed.data, changed.length, &file);
    eg_manifest_close(&file);
    eg_text_free(&changed);
    return status;
}

static void test_manifest__what_does_not_hold_together_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } changes[] = {
        {"format = 1", "format = 0", "reads checkpoints of format 1"},
        {"format = 1", "", "format"},
        {"step = 120", "step = -1", "step is -1"},
        {"000002-0000-000.h5", "../../../etc/passwd", "no block of this checkpoint"},
        {"000002-0000-000.h5", "000001-0000-000.h5", "no block of this checkpoint"},
        {"000002-0000-000.h5", "000002-0001-000.h5", "no block of this checkpoint"},
        {"\"solution\"", "\"../x\"", "no name of a field"},
        {"\"solution\"", "\"earlier\"", "second field of this name"},
        {"\"lobatto\"", "\"legendre\"", "must be one of"},
        {"components = [\n    2,", "components = [\n    3,", "must have 4"},
        {"components = [\n    2,", "components = [", "must have 2"},
        {"elements = 2", "elements = 3", "the mesh has 3"},
        {"numbers = \"", "numbers = \"x", "16 hexadecimal digits"},
        {"[numbers]\nnames = [", "[numbers]\nnames = [\"more\", ", "must have 2"},
        {"sha256 = [\n    \"", "sha256 = [\n    \"A", "64 hexadecimal digits"},
        {"degree_least = [\n    0,", "degree_least = [\n    9,", "more than degree_most"},
        {"last = [\n    1,", "last = [\n    0,", "more elements than numbers"},
        {"time = ", "time = nan #", "must be a number"},
    };
    pair p;
    pair_open(&p, 2);
    TEST_OK(p.ctx, read_changed(&p, "format = 1", "format = 1"));
    for (size_t i = 0; i < EG_COUNT(changes); i++)
        TEST_FAILS(p.ctx, EG_ERROR_INPUT, changes[i].message,
                   read_changed(&p, changes[i].from, changes[i].to));
    pair_close(&p);
}

static void test_manifest__texts_and_numbers_come_back_in_any_locale(void **state)
{
    (void)state;
    static const char *const labels[] = {"\"\"\"", "a\\b"}, *const units[] = {"m²", NULL};
    static const char text[] = "a = \"\"\"\\\n x\"\"\"\r\n\tb = '\\' # \xe2\x82\xac\n\"\"\"\"\n";
    static const char *const overrides[] = {"mesh.file=\"a b\"", "x='\\n'"};
    static const char *const number_names[] = {"one", "two", "three", "four", "five"};
    static const double numbers[] = {0.1, -0.0, 1e300, 5e-324, 9007199254740991.0};
    const eg_checkpoint_field field = {
        .name = "φ", .basis = EG_BASIS_RADAU, .components = 2, .names = labels, .units = units};
    const eg_checkpoint_block block = {
        .file = "000003-0000-000.h5",
        .sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        .bytes = 1,
        .elements = 1};
    const eg_manifest given = {.info = {.model = "m\b\x7f\x01",
                                        .version = "",
                                        .device = "a\xff device",
                                        .written = "now",
                                        .case_path = "dir/\"case\".toml",
                                        .case_text = text,
                                        .replacements = overrides,
                                        .replacement_count = 2,
                                        .sequence = 3,
                                        .time = 1.0 / 3.0,
                                        .dt = INFINITY,
                                        .ranks = 1,
                                        .dim = 2,
                                        .field_count = 1,
                                        .number_count = 5,
                                        .block_count = 1,
                                        .fields = &field,
                                        .number_names = number_names,
                                        .numbers = numbers,
                                        .blocks = &block},
                               .mesh = {.elements = 1,
                                        .order = 1,
                                        .numbers = 0xfedcba9876543210u,
                                        .places = {-1.5, 0.1},
                                        .scale = 1e-3}};
    char folder[PATH_MAX];
    test_directory_create(folder);
    for (int comma = 0; comma < 2; comma++) {
        eg_context *ctx = test_context();
        eg_manifest_file *file = NULL;
        eg_text out = eg_text_new(ctx);
        if (comma && !set_comma_locale(folder)) fail_msg("no locale with a comma");
        TEST_OK(ctx, eg_manifest_write(&given, &out));
        TEST_OK(ctx, eg_manifest_read(ctx, "m", out.data, out.length, &file));
        const eg_manifest *read = eg_manifest_get(file);
        assert_string_equal(read->info.model, given.info.model);
        assert_string_equal(read->info.device, "a\xef\xbf\xbd device");
        assert_string_equal(read->info.case_path, given.info.case_path);
        assert_string_equal(read->info.case_text, text);
        assert_string_equal(read->info.replacements[0], overrides[0]);
        assert_string_equal(read->info.replacements[1], overrides[1]);
        assert_string_equal(read->info.fields[0].name, field.name);
        assert_string_equal(read->info.fields[0].names[0], labels[0]);
        assert_string_equal(read->info.fields[0].names[1], labels[1]);
        assert_string_equal(read->info.fields[0].units[0], units[0]);
        assert_null(read->info.fields[0].units[1]);
        assert_memory_equal(read->info.numbers, numbers, sizeof numbers);
        assert_true(read->info.time == 1.0 / 3.0 && read->info.dt == INFINITY);
        assert_true(read->mesh.numbers == given.mesh.numbers && read->mesh.scale == 1e-3);
        assert_true(read->mesh.places[0] == -1.5 && read->mesh.places[1] == 0.1);
        eg_manifest_close(&file);
        eg_text_free(&out);
        test_context_free(&ctx);
    }
    setlocale(LC_NUMERIC, "C");
    test_directory_remove(folder);
}

/* The newest is refused with this reason, is not called damaged, and no other is offered. */
static void check_out_of_reach(pair *p, const char *reason)
{
    TEST_FAILS(p->ctx, EG_ERROR_INPUT, reason, open_newest(p));
    assert_null(strstr(eg_context_error(p->ctx), "damaged"));
    assert_null(strstr(eg_context_error(p->ctx), "whole"));
}

static void test_manifest__of_a_newer_eagre_is_not_damaged(void **state)
{
    (void)state;
    pair p;
    char path[PATH_MAX + 64];
    pair_open(&p, 1);
    /* Whatever else has changed in it. */
    eg_text newer = change_manifest(&p, "format = 1", "format = 2\nnew_key = true");
    snprintf(path, sizeof path, "%s/00000120/" EG_MANIFEST_NAME, p.directory);
    file_write(path, newer.data, newer.length);
    check_out_of_reach(&p, "was written by a newer eagre");
    assert_non_null(strstr(eg_context_error(p.ctx), "format 2, and this version of eagre reads "
                                                    "format 1"));
    /* One that is damaged, too, is that first. */
    file_write(path, newer.data, newer.length - 1);
    check_refused(&p, path);
    eg_text_free(&newer);
    pair_close(&p);
}

static void forbid(pair *p, const char *path, char *bytes, size_t length)
{
    (void)bytes, (void)length;
    assert_int_equal(chmod(path, 0), 0);
    check_out_of_reach(p, "Permission denied");
    if (!strstr(eg_context_error(p->ctx), path))
        fail_msg("\"%s\" does not name %s", eg_context_error(p->ctx), path);
    assert_int_equal(chmod(path, 0644), 0);
}

/* Root may read everything: it becomes somebody who may not, where it can. */
static bool become_nobody(const char *directory)
{
    return chown_all(directory) == 0 && seteuid(NOBODY) == 0 && checkpoint_entries(directory) == 2;
}

static void test_damage__a_file_that_must_not_be_read_is_not_damaged(void **state)
{
    (void)state;
    pair p;
    pair_open(&p, 1);
    const bool root = geteuid() == 0, able = !root || become_nobody(p.directory);
    if (able) each_file(&p, forbid);
    if (root) assert_int_equal(seteuid(0), 0);
    pair_close(&p);
    if (!able) skip();
}

static eg_status open_body(eg_context *ctx, void *user)
{
    eg_checkpoint *checkpoint = NULL;
    eg_status status = eg_checkpoint_open(ctx, NULL, user, &checkpoint);
    eg_checkpoint_close(&checkpoint);
    return status;
}

static void test_damage__memory_that_is_short_is_no_damage(void **state)
{
    (void)state;
    pair p;
    char path[PATH_MAX + 64];
    pair_open(&p, 2);
    snprintf(path, sizeof path, "%s/00000110", p.directory);
    /* Writing and reading on what is there, with each allocation failing in turn. */
    for (long n = 1, failed = 1; failed; n++) {
        eg_checkpoint *checkpoint = NULL;
        long live = test_memory.live;
        test_allocator_arm(n, false);
        eg_status status = checkpoint_write(&p.s, p.directory, 130, 9);
        if (status == EG_OK) status = eg_checkpoint_open(p.ctx, p.comm, path, &checkpoint);
        if (status == EG_OK)
            status = eg_checkpoint_read_field(checkpoint, "earlier", NULL, p.s.earlier);
        eg_checkpoint_close(&checkpoint);
        failed = test_memory.calls >= n;
        test_allocator_arm(0, false);
        if (status != EG_OK && (status != EG_ERROR_MEMORY || !failed))
            fail_msg("allocation %ld: %s: %s", n, eg_status_text(status), eg_context_error(p.ctx));
        assert_int_equal(test_memory.live, live);
        TEST_OK(p.ctx, open_newest(&p));
    }
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%s", p.directory);
    checkpoint_setting_close(&p.s);
    eg_device_close(&p.device);
    eg_comm_destroy(&p.comm);
    test_context_free(&p.ctx);
    test_allocation_sweep(open_body, path);
    test_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage__a_change_of_any_byte_is_found),
        cmocka_unit_test(test_damage__a_file_that_is_cut_off_anywhere_is_found),
        cmocka_unit_test(test_damage__a_file_that_is_longer_or_missing_is_found),
        cmocka_unit_test(test_damage__that_happens_after_opening_is_found_before_hdf5_sees_it),
        cmocka_unit_test(test_damage__what_is_no_checkpoint_is_refused_with_a_reason),
        cmocka_unit_test(test_manifest__what_does_not_hold_together_is_refused),
        cmocka_unit_test(test_manifest__texts_and_numbers_come_back_in_any_locale),
        cmocka_unit_test(test_manifest__of_a_newer_eagre_is_not_damaged),
        cmocka_unit_test(test_damage__a_file_that_must_not_be_read_is_not_damaged),
        cmocka_unit_test(test_damage__memory_that_is_short_is_no_damage),
    };
    /* Nothing here depends on a disk, which would make it slow. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
#ifdef EG_HAVE_HDF5
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    (void)tests;
    return 77;
#endif
}
