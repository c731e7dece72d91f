/* Fuzzes checkpoints whose checksums are right: whatever they say, they are read or refused with a reason.
 *
 * A text that begins with "!" is a manifest, sealed anew. Any other bytes are changes to a small checkpoint,
 * three bytes each: to what its manifest says, to the arrays of its block, and to how HDF5 stores them. The
 * block stays an HDF5 file that HDF5 itself has made: what is not one is kept from it by its checksum. */
#define _GNU_SOURCE
#include "report/checkpoint/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef EG_HAVE_HDF5
#include <hdf5.h>
#endif

#include "fuzz/replay.h"
#include "report/checkpoint/manifest.h"
#include "report/checkpoint/ring.h"

/* Also where assert means nothing. */
static void require(bool holds)
{
    if (!holds) abort();
}

static void check_failure(eg_context *ctx, eg_status status)
{
    require(status == EG_ERROR_INPUT || status == EG_ERROR_ARGUMENT ||
            status == EG_ERROR_UNSUPPORTED);
    require(eg_context_error(ctx)[0] != '\0');
}

/* --- manifests -------------------------------------------------------------------------------- */

static void check_manifest(const eg_manifest *manifest)
{
    const eg_checkpoint_info *info = &manifest->info;
    int64_t elements = 0, parts[3];
    require(info->field_count >= 1 && info->field_count <= EG_STATE_FIELDS_MAX);
    require(info->number_count >= 0 && info->number_count <= EG_STATE_NUMBERS_MAX);
    for (int f = 0; f < info->field_count; f++) {
        const eg_checkpoint_field *field = &info->fields[f];
        require(!strchr(field->name, '/') && field->basis < EG_BASIS_COUNT);
        require(field->degree_least >= 0 && field->degree_least <= field->degree_most);
        for (int c = 0; c < field->components; c++)
            require(field->names[c] && (!field->units[c] || field->units[c][0]));
    }
    for (int i = 0; i < info->number_count; i++)
        require(info->number_names[i] && !isnan(info->numbers[i]));
    for (int b = 0; b < info->block_count; b++) {
        require(eg_block_name_read(info->blocks[b].file, parts) &&
                !strchr(info->blocks[b].file, '/'));
        elements += info->blocks[b].elements;
    }
    require(elements == info->elements);
}

static void fuzz_manifest(eg_context *ctx, const char *text, size_t length)
{
    eg_text sealed = eg_text_new(ctx);
    eg_manifest_file *file = NULL;
    require(eg_text_add(&sealed, text, length) == EG_OK && eg_manifest_seal(&sealed) == EG_OK);
    eg_status status = eg_manifest_read(ctx, "manifest.toml", sealed.data, sealed.length, &file);
    if (status == EG_OK)
        check_manifest(eg_manifest_get(file));
    else
        check_failure(ctx, status);
    eg_manifest_close(&file);
    eg_text_free(&sealed);
}

#ifdef EG_HAVE_HDF5

/* --- a small checkpoint ----------------------------------------------------------------------- */

#define ELEMENTS 8
#define ARRAYS 6
#define VALUES 96 /* of the larger field: 8 triangles of degree 2 with 2 components */

/* How an array is stored. */
typedef enum form {
    FORM_PLAIN,
    FORM_MISSING,
    FORM_CHUNKED,
    FORM_FILTERED,
    FORM_ELSEWHERE, /* in another file */
    FORM_COMPACT,
    FORM_PLANE, /* two dimensions */
    FORM_SCALAR,
    FORM_EMPTY,      /* without dimensions */
    FORM_SOFT_LINK,  /* to "elements" */
    FORM_OUTER_LINK, /* to another file */
    FORM_GROUP,
    FORM_UNWRITTEN, /* no space was ever taken for it */
    FORM_COUNT
} form;

typedef struct array {
    const char *path;
    hid_t memory, stored;
    size_t count;
    const void *values;
    form form;
} array;

typedef struct subject {
    int64_t elements[ELEMENTS];
    uint8_t shapes[ELEMENTS], degrees[2][ELEMENTS];
    double values[2][VALUES];
    array arrays[ARRAYS];
    eg_checkpoint_field fields[2];
    eg_checkpoint_block blocks[2];
    char names[2][EG_BLOCK_NAME_BYTES], sums[2][EG_SHA256_HEX];
    eg_manifest manifest;
} subject;

static const char *const labels[] = {"u", "v", "w", "x"}, *const units[] = {"m", NULL, NULL, NULL};

static void subject_open(subject *s)
{
    *s = (subject){.manifest = {.info = {.model = "fuzz",
                                         .version = "0",
                                         .device = "none",
                                         .written = "now",
                                         .case_path = "",
                                         .case_text = "",
                                         .sequence = 1,
                                         .ranks = 1,
                                         .dim = 2,
                                         .field_count = 2,
                                         .block_count = 1},
                                .mesh = {.elements = ELEMENTS, .order = 1}}};
    for (int i = 0; i < ELEMENTS; i++) {
        s->elements[i] = i;
        s->shapes[i] = EG_SHAPE_TRI;
        s->degrees[0][i] = 2;
        s->degrees[1][i] = (uint8_t)(i % 2);
    }
    for (int i = 0; i < VALUES; i++)
        s->values[0][i] = s->values[1][i] = i;
    s->fields[0] = (eg_checkpoint_field){.name = "a",
                                         .basis = EG_BASIS_LOBATTO,
                                         .components = 2,
                                         .names = labels,
                                         .units = units,
                                         .degree_least = 2,
                                         .degree_most = 2};
    s->fields[1] = (eg_checkpoint_field){.name = "b",
                                         .basis = EG_BASIS_MODAL,
                                         .components = 1,
                                         .names = labels + 2,
                                         .units = units + 2,
                                         .degree_most = 1};
    const array arrays[ARRAYS] = {
        {"elements", H5T_NATIVE_INT64, H5T_STD_I64LE, ELEMENTS, s->elements, FORM_PLAIN},
        {"shapes", H5T_NATIVE_UINT8, H5T_STD_U8LE, ELEMENTS, s->shapes, FORM_PLAIN},
        {"fields/a/degrees", H5T_NATIVE_UINT8, H5T_STD_U8LE, ELEMENTS, s->degrees[0], FORM_PLAIN},
        {"fields/a/values", H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, VALUES, s->values[0], FORM_PLAIN},
        {"fields/b/degrees", H5T_NATIVE_UINT8, H5T_STD_U8LE, ELEMENTS, s->degrees[1], FORM_PLAIN},
        {"fields/b/values", H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE, 16, s->values[1], FORM_PLAIN}};
    memcpy(s->arrays, arrays, sizeof arrays);
    s->manifest.info.fields = s->fields;
    s->manifest.info.blocks = s->blocks;
    for (int b = 0; b < 2; b++) {
        eg_block_name(s->names[b], 1, 0, b);
        s->blocks[b] = (eg_checkpoint_block){
            .file = s->names[b], .sha256 = s->sums[b], .elements = ELEMENTS, .last = ELEMENTS - 1};
    }
}

/* A number that is small, around a limit, or huge. */
static int64_t number(uint8_t value)
{
    static const int64_t numbers[] = {INT32_MAX,        (int64_t)1 << 31,
                                      (int64_t)1 << 40, ((int64_t)1 << 53),
                                      INT64_MAX,        -1,
                                      INT32_MAX / 8,    4096,
                                      INT64_MIN};
    return value < 200 ? value : numbers[value % EG_COUNT(numbers)];
}

static void change_manifest(subject *s, int what, uint8_t value)
{
    eg_checkpoint_info *info = &s->manifest.info;
    const int i = value % 2;
    switch (what % 16) {
    case 0:
        s->manifest.mesh.elements = number(value);
        break;
    case 1:
        info->dim = value % 5;
        break;
    case 2:
        s->fields[i].components = 1 + value / 2 % 2;
        break;
    case 3:
        s->fields[i].basis = (eg_basis)(value / 2 % EG_BASIS_COUNT);
        break;
    case 4:
        s->fields[i].degree_least = value / 2 % 20;
        break;
    case 5:
        s->fields[i].degree_most = value / 2 % 20;
        break;
    case 6:
        s->blocks[i].elements = number(value);
        break;
    case 7:
        s->blocks[i].first = number(value);
        break;
    case 8:
        s->blocks[i].last = number(value);
        break;
    case 9:
        info->block_count = value % 3;
        break;
    case 10:
        info->field_count = value % 3;
        break;
    case 11:
        info->sequence = number(value);
        break;
    case 12:
        info->ranks = (int)(number(value) % INT32_MAX);
        break;
    case 13:
        s->fields[i].name = value % 4 < 2 ? "a" : "fields/a";
        break;
    case 14:
        s->manifest.mesh.order = value % 20;
        break;
    default:
        s->fields[i].kept_only = value % 4 < 2;
        break;
    }
}

static void change_array(subject *s, int what, uint8_t value)
{
    static const size_t sizes[] = {0, 1, 7, 8, 9, 16, 48, 95, 96};
    array *a = &s->arrays[value % ARRAYS];
    const hid_t types[] = {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_STD_I64LE,
                           H5T_STD_U8LE,   H5T_STD_I32BE,  H5T_STD_U64LE};
    switch (what % 3) {
    case 0:
        a->form = (form)(value / ARRAYS % FORM_COUNT);
        break;
    case 1:
        a->count = sizes[value / ARRAYS % EG_COUNT(sizes)];
        break;
    default:
        a->stored = types[value / ARRAYS % EG_COUNT(types)];
        break;
    }
    /* Elements and bytes have no more values than there are. */
    if (a->memory != H5T_NATIVE_DOUBLE && a->count > ELEMENTS) a->count = ELEMENTS;
}

static void change(subject *s, const uint8_t *step)
{
    const int element = step[1] % ELEMENTS;
    switch (step[0] % 8) {
    case 0:
    case 1:
        change_manifest(s, step[1], step[2]);
        break;
    case 2:
    case 3:
        change_array(s, step[1], step[2]);
        break;
    case 4:
        s->elements[element] = number(step[2]);
        break;
    case 5:
        s->shapes[element] = step[2] % 8;
        break;
    case 6:
        s->degrees[0][element] = step[2];
        break;
    default:
        s->degrees[1][element] = step[2];
        break;
    }
}

/* --- as files --------------------------------------------------------------------------------- */

static void put_link(hid_t file, const array *a, hid_t links)
{
    if (a->form == FORM_SOFT_LINK)
        H5Lcreate_soft("/elements", file, a->path, links, H5P_DEFAULT);
    else
        H5Lcreate_external("/etc/hostname", "/x", file, a->path, links, H5P_DEFAULT);
}

static void put_array(hid_t file, const array *a)
{
    const hsize_t plane[2] = {a->count / 2, 2}, line[1] = {a->count};
    const hsize_t chunk[2] = {a->count > 1 ? a->count / 2 : 1, 1};
    const int rank = a->form == FORM_PLANE ? 2 : 1;
    hid_t links = H5Pcreate(H5P_LINK_CREATE), made = H5Pcreate(H5P_DATASET_CREATE), data = -1;
    H5Pset_create_intermediate_group(links, 1);
    hid_t space = a->form == FORM_SCALAR  ? H5Screate(H5S_SCALAR)
                  : a->form == FORM_EMPTY ? H5Screate(H5S_NULL)
                                          : H5Screate_simple(rank, rank == 2 ? plane : line, NULL);
    if (a->form == FORM_CHUNKED || a->form == FORM_FILTERED) H5Pset_chunk(made, rank, chunk);
    if (a->form == FORM_FILTERED) H5Pset_deflate(made, 1);
    if (a->form == FORM_COMPACT) H5Pset_layout(made, H5D_COMPACT);
    if (a->form == FORM_ELSEWHERE) H5Pset_external(made, "/etc/hostname", 0, H5F_UNLIMITED);
    if (a->form == FORM_UNWRITTEN) H5Pset_alloc_time(made, H5D_ALLOC_TIME_LATE);
    if (a->form == FORM_SOFT_LINK || a->form == FORM_OUTER_LINK)
        put_link(file, a, links);
    else if (a->form == FORM_GROUP)
        data = H5Gcreate2(file, a->path, links, H5P_DEFAULT, H5P_DEFAULT);
    else if (a->form != FORM_MISSING)
        data = H5Dcreate2(file, a->path, a->stored, space, links, made, H5P_DEFAULT);
    if (data >= 0 && a->form != FORM_ELSEWHERE && a->form != FORM_UNWRITTEN &&
        a->form != FORM_GROUP)
        H5Dwrite(data, a->memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, a->values);
    if (data >= 0) H5Oclose(data);
    H5Sclose(space);
    H5Pclose(made);
    H5Pclose(links);
}

static void make_block(const subject *s, void **bytes, size_t *length)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    require(H5Pset_fapl_core(access, 1 << 16, 0) >= 0);
    hid_t file = H5Fcreate("block", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    require(file >= 0);
    for (int i = 0; i < ARRAYS; i++)
        put_array(file, &s->arrays[i]);
    require(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    *length = (size_t)H5Fget_file_image(file, NULL, 0);
    *bytes = malloc(*length);
    require(*bytes && H5Fget_file_image(file, *bytes, *length) == (ssize_t)*length);
    H5Fclose(file);
    H5Pclose(access);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t length)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
}

/* The checkpoint in a directory that is always the same; the second block is the same as the first. */
static void write_subject(eg_context *ctx, subject *s, const char *folder)
{
    void *bytes = NULL;
    size_t length = 0;
    eg_text text = eg_text_new(ctx);
    make_block(s, &bytes, &length);
    for (int b = 0; b < 2; b++) {
        eg_manifest_sum(bytes, length, s->sums[b]);
        s->blocks[b].bytes = (int64_t)length;
        write_file(folder, s->names[b], bytes, length);
    }
    require(eg_manifest_write(&s->manifest, &text) == EG_OK);
    write_file(folder, EG_MANIFEST_NAME, text.data, text.length);
    eg_text_free(&text);
    free(bytes);
}

/* --- reading it ------------------------------------------------------------------------------- */

/* Without a change (`plain`) it is read. */
static void read_all(eg_context *ctx, eg_checkpoint *checkpoint, eg_comm *comm, const eg_mesh *mesh,
                     bool plain)
{
    const eg_checkpoint_info *info = eg_checkpoint_get_info(checkpoint);
    eg_snapshot *snapshot = NULL;
    uint8_t degrees[ELEMENTS];
    eg_status status;
    for (int f = 0; f < info->field_count; f++) {
        status = eg_checkpoint_read_degrees(checkpoint, info->fields[f].name, mesh, degrees);
        if (status != EG_OK) check_failure(ctx, status);
    }
    status = eg_checkpoint_check_mesh(checkpoint, comm, mesh);
    if (status != EG_OK) check_failure(ctx, status);
    status = eg_checkpoint_snapshot(checkpoint, mesh, &snapshot);
    if (status != EG_OK) check_failure(ctx, status);
    require(!plain || (status == EG_OK && snapshot->array_count == 3));
    eg_snapshot_destroy(&snapshot);
}

static void remove_subject(const subject *s, const char *folder)
{
    const char *const names[] = {s->names[0], s->names[1], EG_MANIFEST_NAME};
    for (size_t i = 0; i < EG_COUNT(names); i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void fuzz_checkpoint(eg_context *ctx, const uint8_t *data, size_t size)
{
    char folder[64];
    eg_mesh *mesh = NULL;
    eg_comm *comm = NULL;
    eg_checkpoint *checkpoint = NULL;
    subject s;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    snprintf(folder, sizeof folder, "%s/eagre-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL);
    subject_open(&s);
    for (size_t i = 0; i + 3 <= size; i += 3)
        change(&s, data + i);
    write_subject(ctx, &s, folder);
    require(eg_comm_self(ctx, &comm) == EG_OK);
    require(eg_mesh_create_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {2, 2}},
                               &mesh) == EG_OK);
    eg_status status = eg_checkpoint_open(ctx, NULL, folder, &checkpoint);
    if (status == EG_OK)
        read_all(ctx, checkpoint, comm, mesh, size == 0);
    else
        check_failure(ctx, status);
    if (size == 0) require(status == EG_OK);
    eg_checkpoint_close(&checkpoint);
    eg_mesh_destroy(&mesh);
    eg_comm_destroy(&comm);
    remove_subject(&s, folder);
}

#else

static void fuzz_checkpoint(eg_context *ctx, const uint8_t *data, size_t size)
{
    (void)ctx, (void)data, (void)size;
}

#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    eg_context *ctx = NULL;
    const eg_context_options options = eg_context_defaults();
    require(eg_context_create(&options, &ctx) == EG_OK);
    if (size > 0 && data[0] == '!')
        fuzz_manifest(ctx, (const char *)data + 1, size - 1);
    else
        fuzz_checkpoint(ctx, data, size);
    eg_context_destroy(&ctx);
    return 0;
}
