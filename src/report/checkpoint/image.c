/* HDF5 files in memory, by its driver "core" without a backing store [hdf5].
 *
 * HDF5 prints errors of its own unless told not to, by a setting of the whole process: it is saved and
 * put back around everything done here. What is read may be well-formed and still not ours: links to
 * other files, arrays kept elsewhere or behind filters (which HDF5 would load as plug-ins) are refused
 * before HDF5 follows them. */
#include "report/checkpoint/image.h"

#ifdef EG_HAVE_HDF5

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

#define INCREMENT ((size_t)1 << 20) /* by which a file in memory grows */

struct eg_image {
    eg_context *ctx; /* not owned */
    char *name;      /* for messages; NULL: it is being made; owned */
    hid_t file;
};

/* How errors are printed, while they are not. */
typedef struct silence {
    H5E_auto2_t print;
    void *user;
} silence;

static silence silence_begin(void)
{
    silence s = {0};
    H5Eget_auto2(H5E_DEFAULT, &s.print, &s.user);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return s;
}

static void silence_end(const silence *s)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, s->print, s->user);
}

static eg_status make_failed(eg_context *ctx, const char *what)
{
    return eg_fail(ctx, EG_ERROR_IO, "HDF5 cannot make %s in memory; is there enough of it?", what);
}

static eg_status refuse(const eg_image *image, const char *path, const char *why)
{
    return eg_fail(image->ctx, EG_ERROR_INPUT, "%s: its array \"%s\" %s", image->name, path, why);
}

eg_status eg_image_supported(eg_context *ctx)
{
    (void)ctx;
    return EG_OK;
}

/* --- making ----------------------------------------------------------------------------------- */

/* A file in memory: with bytes an existing one, without (NULL) a new one. < 0: HDF5 has failed. Each
 * has a name of its own: HDF5 takes files of one name for the same. */
static hid_t open_core(const eg_image *image, const void *bytes, size_t length)
{
    char name[32];
    snprintf(name, sizeof name, "%p", (const void *)image);
    hid_t file = -1, access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_core(access, INCREMENT, 0) >= 0) {
        /* HDF5 copies the bytes; its interface has no const. */
        if (bytes && H5Pset_file_image(access, (void *)(uintptr_t)bytes, length) >= 0)
            file = H5Fopen(name, H5F_ACC_RDONLY, access);
        else if (!bytes)
            file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    }
    if (access >= 0) H5Pclose(access);
    return file;
}

eg_status eg_image_create(eg_context *ctx, eg_image **out)
{
    eg_status status = eg_new(ctx, 1, out);
    if (status != EG_OK) return status;
    silence quiet = silence_begin();
    (*out)->ctx = ctx;
    (*out)->file = open_core(*out, NULL, 0);
    if ((*out)->file < 0) status = make_failed(ctx, "a file");
    silence_end(&quiet);
    if (status != EG_OK) eg_image_close(out);
    return status;
}

static hid_t stored_type(eg_type type)
{
    assert(type == EG_F64 || type == EG_I64 || type == EG_U8);
    return type == EG_F64 ? H5T_IEEE_F64LE : type == EG_I64 ? H5T_STD_I64LE : H5T_STD_U8LE;
}

static hid_t native_type(eg_type type)
{
    return type == EG_F64   ? H5T_NATIVE_DOUBLE
           : type == EG_I64 ? H5T_NATIVE_INT64
                            : H5T_NATIVE_UINT8;
}

/* An array with the bytes in one piece, without the time of its making. */
static hid_t create_array(hid_t file, const char *path, hid_t type, hid_t space)
{
    hid_t array = -1, links = H5Pcreate(H5P_LINK_CREATE), made = H5Pcreate(H5P_DATASET_CREATE);
    if (links >= 0 && made >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0 &&
        H5Pset_obj_track_times(made, 0) >= 0 && H5Pset_layout(made, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_fill_time(made, H5D_FILL_TIME_NEVER) >= 0)
        array = H5Dcreate2(file, path, type, space, links, made, H5P_DEFAULT);
    if (links >= 0) H5Pclose(links);
    if (made >= 0) H5Pclose(made);
    return array;
}

eg_status eg_image_put(eg_image *image, const char *path, eg_type type, size_t count,
                       const void *values)
{
    const hsize_t extent = count;
    eg_status status = EG_OK;
    silence quiet = silence_begin();
    hid_t space = H5Screate_simple(1, &extent, NULL);
    hid_t array = space < 0 ? -1 : create_array(image->file, path, stored_type(type), space);
    if (array < 0 || H5Dwrite(array, native_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        status = make_failed(image->ctx, path);
    if (array >= 0 && H5Dclose(array) < 0 && status == EG_OK)
        status = make_failed(image->ctx, path);
    if (space >= 0) H5Sclose(space);
    silence_end(&quiet);
    return status;
}

eg_status eg_image_finish(eg_image *image, void **bytes, size_t *length)
{
    eg_status status = EG_OK;
    silence quiet = silence_begin();
    *bytes = NULL;
    *length = 0;
    ssize_t size =
        H5Fflush(image->file, H5F_SCOPE_GLOBAL) < 0 ? -1 : H5Fget_file_image(image->file, NULL, 0);
    if (size <= 0) {
        status = make_failed(image->ctx, "a file");
        goto done;
    }
    EG_TRY(eg_allocate(image->ctx, (size_t)size, bytes));
    if (H5Fget_file_image(image->file, *bytes, (size_t)size) != size) {
        status = make_failed(image->ctx, "a file");
        eg_release(image->ctx, bytes);
        goto done;
    }
    *length = (size_t)size;
done:
    silence_end(&quiet);
    return status;
}

/* --- reading ---------------------------------------------------------------------------------- */

eg_status eg_image_open(eg_context *ctx, const char *name, const void *bytes, size_t length,
                        eg_image **out)
{
    eg_status status = EG_OK;
    eg_image *image = NULL;
    silence quiet = silence_begin();
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &image));
    image->ctx = ctx;
    image->file = -1;
    EG_TRY(eg_copy_string(ctx, name, &image->name));
    image->file = length > 0 ? open_core(image, bytes, length) : -1;
    if (image->file < 0) {
        status = eg_fail(ctx, EG_ERROR_INPUT, "%s is not an HDF5 file", name);
        goto done;
    }
    *out = image;
    image = NULL;
done:
    silence_end(&quiet);
    eg_image_close(&image);
    return status;
}

/* True if every part of the path is a link within the file. */
static bool is_inside(hid_t file, const char *path)
{
    char part[512];
    const size_t length = strlen(path);
    if (length >= sizeof part) return false;
    for (size_t i = 1; i <= length; i++) {
        H5L_info_t info;
        if (path[i] != '/' && path[i] != '\0') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (H5Lget_info(file, part, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
            return false;
    }
    return true;
}

/* NULL if an array is of this type and count, and stored as eg_image_put does; else what is wrong. */
static const char *judge(hid_t array, eg_type type, size_t count)
{
    const char *wrong = NULL;
    hsize_t extent = 0;
    hid_t kind = H5Dget_type(array), space = H5Dget_space(array), made = H5Dget_create_plist(array);
    if (kind < 0 || space < 0 || made < 0)
        wrong = "cannot be understood";
    else if (H5Tequal(kind, stored_type(type)) <= 0)
        wrong = "has another type than it should";
    else if (H5Sget_simple_extent_type(space) != H5S_SIMPLE ||
             H5Sget_simple_extent_ndims(space) != 1 ||
             H5Sget_simple_extent_dims(space, &extent, NULL) != 1 || extent != count)
        wrong = "has another length than it should";
    else if (H5Pget_layout(made) != H5D_CONTIGUOUS || H5Pget_external_count(made) != 0 ||
             H5Pget_nfilters(made) != 0)
        wrong = "is not stored in one piece";
    if (kind >= 0) H5Tclose(kind);
    if (space >= 0) H5Sclose(space);
    if (made >= 0) H5Pclose(made);
    return wrong;
}

eg_status eg_image_get(eg_image *image, const char *path, eg_type type, size_t count, void *values)
{
    eg_status status = EG_OK;
    silence quiet = silence_begin();
    hid_t array = is_inside(image->file, path) ? H5Dopen2(image->file, path, H5P_DEFAULT) : -1;
    const char *wrong = array < 0 ? "is missing" : judge(array, type, count);
    if (!wrong && H5Dread(array, native_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        wrong = "cannot be read";
    if (wrong) status = refuse(image, path, wrong);
    if (array >= 0) H5Dclose(array);
    silence_end(&quiet);
    return status;
}

void eg_image_close(eg_image **handle)
{
    eg_image *image = *handle;
    if (!image) return;
    if (image->file >= 0) {
        silence quiet = silence_begin();
        H5Fclose(image->file);
        silence_end(&quiet);
    }
    eg_release(image->ctx, &image->name);
    eg_release(image->ctx, handle);
}

#else

eg_status eg_image_supported(eg_context *ctx)
{
    return eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                   "eagre was built without HDF5: it neither writes nor "
                   "reads checkpoints");
}

eg_status eg_image_create(eg_context *ctx, eg_image **out)
{
    *out = NULL;
    return eg_image_supported(ctx);
}

eg_status eg_image_put(eg_image *image, const char *path, eg_type type, size_t count,
                       const void *values)
{
    (void)image, (void)path, (void)type, (void)count, (void)values;
    return EG_ERROR_UNSUPPORTED;
}

eg_status eg_image_finish(eg_image *image, void **bytes, size_t *length)
{
    (void)image, (void)bytes, (void)length;
    return EG_ERROR_UNSUPPORTED;
}

eg_status eg_image_open(eg_context *ctx, const char *name, const void *bytes, size_t length,
                        eg_image **out)
{
    (void)name, (void)bytes, (void)length;
    *out = NULL;
    return eg_image_supported(ctx);
}

eg_status eg_image_get(eg_image *image, const char *path, eg_type type, size_t count, void *values)
{
    (void)image, (void)path, (void)type, (void)count, (void)values;
    return EG_ERROR_UNSUPPORTED;
}

void eg_image_close(eg_image **image)
{
    *image = NULL;
}

#endif
