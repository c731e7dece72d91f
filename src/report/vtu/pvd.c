/* Series of VTK's files in time, .pvd: written anew as a whole with every file that is added, so that
 * it can be opened at any moment. */
#include "report/vtu/vtu.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "case/case.h"
#include "mesh/gmsh/decimal.h"
#include "report/vtu/file.h"

struct eg_pvd {
    eg_context *ctx; /* not owned */
    char *path;      /* owned */
    size_t count, capacity;
    char **files;  /* [count] as seen from the series' directory; owned */
    double *times; /* [count] owned */
};

void eg_pvd_close(eg_pvd **handle)
{
    eg_pvd *pvd = *handle;
    if (!pvd) return;
    for (size_t i = 0; i < pvd->count; i++)
        eg_release(pvd->ctx, &pvd->files[i]);
    eg_release(pvd->ctx, &pvd->files);
    eg_release(pvd->ctx, &pvd->times);
    eg_release(pvd->ctx, &pvd->path);
    eg_release(pvd->ctx, handle);
}

/* Adds an entry. */
static eg_status append(eg_pvd *pvd, double time, const char *file)
{
    eg_status status = EG_OK;
    if (pvd->count == pvd->capacity) {
        const size_t more = pvd->capacity ? 2 * pvd->capacity : 16;
        EG_TRY(eg_reallocate(pvd->ctx, more * sizeof *pvd->files, (void **)&pvd->files));
        EG_TRY(eg_reallocate(pvd->ctx, more * sizeof *pvd->times, (void **)&pvd->times));
        pvd->capacity = more;
    }
    EG_TRY(eg_copy_string(pvd->ctx, file, &pvd->files[pvd->count]));
    pvd->times[pvd->count++] = time;
done:
    return status;
}

/* The time of a <DataSet>. */
static eg_status read_time(const eg_xml *xml, int node, double *out)
{
    const char *text = eg_xml_get(xml, node, "timestep");
    const char *end = text ? text + strlen(text) : NULL;
    char quote[EG_QUOTE_BYTES];
    if (!text) return eg_xml_need(xml, node, "timestep", &text);
    if (eg_decimal_parse(text, end, out) != end || !isfinite(*out))
        return eg_xml_fail(xml, node, "timestep=\"%s\" is no number",
                           eg_quote(quote, text, strlen(text)));
    return EG_OK;
}

/* Takes the entries of a file that is there, up to a time; *cut: there were later ones. */
static eg_status take_entries(eg_pvd *pvd, const char *data, size_t length, double until, bool *cut)
{
    eg_status status = EG_OK;
    eg_vtu_file file;
    const eg_xml *xml = &file.xml;
    EG_TRY(eg_vtu_open(pvd->ctx, pvd->path, data, length, &file));
    if (file.type != EG_VTU_SERIES) {
        status = eg_xml_fail(xml, 0, "it is no series of files, of type \"Collection\"");
        goto done;
    }
    int node = eg_xml_child(xml, file.grid, -1, "DataSet");
    for (; node >= 0; node = eg_xml_child(xml, file.grid, node, "DataSet")) {
        const char *name;
        double time = 0;
        EG_TRY(eg_xml_need(xml, node, "file", &name));
        EG_TRY(read_time(xml, node, &time));
        if (time <= until)
            EG_TRY(append(pvd, time, name));
        else
            *cut = true;
    }
done:
    eg_vtu_close(&file);
    return status;
}

static eg_status create(eg_context *ctx, const char *path, eg_pvd **out)
{
    eg_status status = EG_OK;
    eg_pvd *pvd = NULL;
    EG_TRY(eg_new(ctx, 1, &pvd));
    pvd->ctx = ctx;
    EG_TRY(eg_copy_string(ctx, path, &pvd->path));
    *out = pvd;
    pvd = NULL;
done:
    eg_pvd_close(&pvd);
    return status;
}

static eg_status put_entry(eg_text *text, double time, const char *file)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(text, "    <DataSet timestep=\""));
    EG_TRY(eg_xml_put_number(text, time));
    EG_TRY(eg_text_puts(text, "\" part=\"0\" file=\""));
    EG_TRY(eg_xml_put(text, file));
    EG_TRY(eg_text_puts(text, "\"/>\n"));
done:
    return status;
}

static eg_status write_series(const eg_pvd *pvd)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(pvd->ctx);
    EG_TRY(eg_text_puts(&text, "<?xml version=\"1.0\"?>\n"
                               "<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n"));
    for (size_t i = 0; i < pvd->count; i++)
        EG_TRY(put_entry(&text, pvd->times[i], pvd->files[i]));
    EG_TRY(eg_text_puts(&text, "  </Collection>\n</VTKFile>\n"));
    EG_TRY(eg_file_write_atomic(pvd->ctx, pvd->path, text.data, text.length, 0666, false));
done:
    eg_text_free(&text);
    return status;
}

/* Reads a series; entries that are too late are cut off the file, too. */
static eg_status load(eg_context *ctx, const char *path, double until, eg_pvd **out)
{
    eg_status status = EG_OK;
    char *data = NULL;
    size_t length;
    bool cut = false;
    EG_TRY(create(ctx, path, out));
    EG_TRY(eg_case_read_file(ctx, path, &data, &length));
    EG_TRY(take_entries(*out, data, length, until, &cut));
    if (cut) EG_TRY(write_series(*out));
done:
    eg_release(ctx, &data);
    if (status != EG_OK) eg_pvd_close(out);
    return status;
}

eg_status eg_pvd_open(eg_context *ctx, const char *path, const double *keep_until, eg_pvd **out)
{
    *out = NULL;
    if (keep_until && (access(path, F_OK) == 0 || errno != ENOENT))
        return load(ctx, path, *keep_until, out);
    return create(ctx, path, out);
}

eg_status eg_pvd_add(eg_pvd *pvd, double time, const char *file)
{
    eg_status status = EG_OK;
    size_t same = 0;
    while (same < pvd->count && strcmp(pvd->files[same], file) != 0)
        same++;
    if (same < pvd->count)
        pvd->times[same] = time; /* it was written again, after a restart */
    else
        EG_TRY(append(pvd, time, file));
    EG_TRY(write_series(pvd));
done:
    return status;
}

eg_status eg_pvd_read(eg_context *ctx, const char *path, size_t *count, char ***files,
                      double **times)
{
    eg_status status = EG_OK;
    eg_pvd *pvd = NULL;
    *count = 0;
    *files = NULL;
    *times = NULL;
    EG_TRY(load(ctx, path, HUGE_VAL, &pvd));
    for (size_t i = 0; i < pvd->count; i++) {
        char *seen_from_here = NULL;
        EG_TRY(eg_xml_beside(ctx, path, pvd->files[i], &seen_from_here));
        eg_release(ctx, &pvd->files[i]);
        pvd->files[i] = seen_from_here;
    }
    *count = pvd->count;
    *files = pvd->files;
    *times = pvd->times;
    pvd->count = 0;
    pvd->files = NULL;
    pvd->times = NULL;
done:
    eg_pvd_close(&pvd);
    return status;
}
