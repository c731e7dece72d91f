/* `eagre mesh info`: what a mesh is like, and what computations on it take. */
#include "cli/mesh.h"
#include "field/field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void put_bounds(eg_json *json, const char *key, int dim, const double *values)
{
    eg_json_key(json, key);
    eg_json_begin_array(json);
    for (int d = 0; d < dim; d++)
        eg_json_number(json, values[d]);
    eg_json_close(json);
}

/* Memory for computations of a degree. */
typedef struct demand {
    int degree; /* -1: not asked for */
    eg_space_memory memory;
    int64_t run; /* bytes of mesh, space and fields */
} demand;

#define FIELDS_OF_A_RUN 3 /* a solution, its next state, and one more that time schemes keep */

static void info_json(eg_json *json, const eg_mesh *mesh, const eg_mesh_summary *s, const demand *d)
{
    eg_json_begin_object(json);
    eg_json_put_integer(json, "dim", mesh->dim);
    eg_json_put_integer(json, "order", mesh->order);
    eg_json_key(json, "elements");
    eg_json_begin_object(json);
    for (int i = 0; i < EG_SHAPE_COUNT; i++)
        if (s->elements[i] > 0)
            eg_json_put_integer(json, eg_shape_get_info((eg_shape)i)->name, s->elements[i]);
    eg_json_close(json);
    eg_json_key(json, "groups");
    eg_json_begin_object(json);
    for (int g = 0; g < mesh->group_count; g++) {
        eg_json_key(json, mesh->group[g]);
        eg_json_begin_object(json);
        eg_json_put_integer(json, "elements", s->group_element_count[g]);
        eg_json_put_number(json, "volume", s->group_volume[g]);
        eg_json_close(json);
    }
    eg_json_close(json);
    eg_json_put_integer(json, "vertices", mesh->vertex_count);
    eg_json_put_integer(json, "faces", s->faces);
    eg_json_put_integer(json, "boundary_faces", s->boundary_faces);
    eg_json_key(json, "boundaries");
    eg_json_begin_object(json);
    for (int b = 0; b < mesh->boundary_count; b++)
        eg_json_put_integer(json, mesh->boundary[b], s->boundary_face_count[b]);
    eg_json_close(json);
    eg_json_put_integer(json, "periodic_faces", s->periodic_faces);
    put_bounds(json, "low", mesh->dim, s->low);
    put_bounds(json, "high", mesh->dim, s->high);
    eg_json_put_number(json, "volume", s->volume);
    eg_json_put_number(json, "size_least", s->size_least);
    eg_json_put_number(json, "size_most", s->size_most);
    eg_json_put_number(json, "quality_least", s->quality_least);
    eg_json_put_number(json, "quality_mean", s->quality_mean);
    eg_json_key(json, "quality_histogram");
    eg_json_begin_array(json);
    for (size_t i = 0; i < EG_COUNT(s->quality_histogram); i++)
        eg_json_integer(json, s->quality_histogram[i]);
    eg_json_close(json);
    eg_json_put_integer(json, "bytes", s->bytes);
    if (d->degree >= 0) {
        eg_json_put_integer(json, "degree", d->degree);
        eg_json_put_integer(json, "dof", d->memory.values);
        eg_json_put_integer(json, "field_bytes", d->memory.field);
        eg_json_put_integer(json, "run_bytes", d->run);
    }
    eg_json_close(json);
}

/* --- text ------------------------------------------------------------------------------------- */

#define LABEL_LEAST 12 /* the width of the first column */

/* How many characters a text of UTF-8 has. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* The lines of `info` that are being written. */
typedef struct page {
    eg_text *text;
    int label; /* width of the first column */
} page;

/* Makes the first column so wide that it holds these names. */
static void widen(page *p, int count, char *const *names)
{
    for (int i = 0; i < count; i++)
        if (width_of(names[i]) + 3 > p->label) p->label = width_of(names[i]) + 3;
}

/* Starts a line; `indent` blanks and the label fill the first column. */
static eg_status put_label(const page *p, int indent, const char *label)
{
    return eg_text_printf(p->text, "%*s%s%*s", indent, "", label,
                          p->label - indent - width_of(label), "");
}

/* A corner of the box; coordinates that are rounding beside its extent are 0. */
static eg_status put_point(const page *p, const char *label, int dim, const eg_mesh_summary *s,
                           const double *x)
{
    eg_status status = EG_OK;
    double extent = 0;
    for (int d = 0; d < dim; d++)
        extent = fmax(extent, s->high[d] - s->low[d]);
    EG_TRY(put_label(p, 0, label));
    for (int d = 0; d < dim; d++)
        EG_TRY(eg_text_printf(p->text, "%s%g", d ? ", " : "(",
                              fabs(x[d]) <= 1e-12 * extent ? 0 : x[d]));
    EG_TRY(eg_text_puts(p->text, ")\n"));
done:
    return status;
}

const char *cli_memory_text(int64_t bytes, char text[32])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < EG_COUNT(units); unit++)
        value /= 1024;
    snprintf(text, 32, "%.1f %s", value, units[unit]);
    return text;
}

static eg_status put_memory(const page *p, const eg_mesh_summary *s, const demand *d)
{
    eg_status status = EG_OK;
    char one[32], more[32];
    EG_TRY(put_label(p, 0, "memory"));
    EG_TRY(eg_text_printf(p->text, "%s\n", cli_memory_text(s->bytes, one)));
    if (d->degree < 0) return EG_OK;
    EG_TRY(put_label(p, 2, "a field"));
    EG_TRY(eg_text_printf(p->text, "%s, %" PRId64 " values of degree %d\n",
                          cli_memory_text(d->memory.field, one), d->memory.values, d->degree));
    EG_TRY(put_label(p, 2, "a run"));
    EG_TRY(eg_text_printf(p->text, "%s for one unknown, %s for each more\n",
                          cli_memory_text(d->run, one),
                          cli_memory_text(FIELDS_OF_A_RUN * d->memory.field, more)));
done:
    return status;
}

static const char *volume_word(const eg_mesh *mesh)
{
    return mesh->dim == 2 ? "area" : "volume";
}

static eg_status put_counts(const page *p, const eg_mesh *mesh, const eg_mesh_summary *s)
{
    eg_status status = EG_OK;
    for (int i = 0; i < EG_SHAPE_COUNT; i++) {
        if (s->elements[i] == 0) continue;
        EG_TRY(put_label(p, 0, "elements"));
        EG_TRY(eg_text_printf(p->text, "%" PRId64 ", each a %s of order %d\n", s->elements[i],
                              eg_shape_get_info((eg_shape)i)->name, mesh->order));
    }
    for (int g = 0; g < mesh->group_count; g++) {
        EG_TRY(put_label(p, 2, mesh->group[g]));
        EG_TRY(eg_text_printf(p->text, "%" PRId64 ", %s %.12g\n", s->group_element_count[g],
                              volume_word(mesh), s->group_volume[g]));
    }
    EG_TRY(put_label(p, 0, "vertices"));
    EG_TRY(eg_text_printf(p->text, "%" PRId64 "\n", mesh->vertex_count));
    EG_TRY(put_label(p, 0, "faces"));
    EG_TRY(eg_text_printf(p->text, "%" PRId64 ", of which %" PRId64 " on the boundary\n", s->faces,
                          s->boundary_faces));
    for (int b = 0; b < mesh->boundary_count; b++) {
        EG_TRY(put_label(p, 2, mesh->boundary[b]));
        EG_TRY(eg_text_printf(p->text, "%" PRId64 "\n", s->boundary_face_count[b]));
    }
    if (s->periodic_faces > 0) {
        EG_TRY(put_label(p, 0, "periodic"));
        EG_TRY(eg_text_printf(p->text, "%" PRId64 " faces, joined in %" PRId64 " pairs\n",
                              s->periodic_faces, s->periodic_faces / 2));
    }
done:
    return status;
}

static eg_status put_quality(const page *p, const eg_mesh_summary *s)
{
    eg_status status = EG_OK;
    int64_t most = 1;
    EG_TRY(put_label(p, 0, "quality"));
    EG_TRY(eg_text_printf(p->text, "%.3f at least, %.3f on average (1: regular)\n",
                          s->quality_least, s->quality_mean));
    for (size_t i = 0; i < EG_COUNT(s->quality_histogram); i++)
        if (s->quality_histogram[i] > most) most = s->quality_histogram[i];
    for (size_t i = 0; i < EG_COUNT(s->quality_histogram); i++) {
        char range[32];
        if (s->quality_histogram[i] == 0) continue;
        const int bar = (int)(1 + 39 * s->quality_histogram[i] / most);
        snprintf(range, sizeof range, "%.1f-%.1f", 0.1 * (double)i, 0.1 * (double)(i + 1));
        EG_TRY(put_label(p, 2, range));
        EG_TRY(eg_text_printf(p->text, "%-40.*s %" PRId64 "\n", bar,
                              "########################################", s->quality_histogram[i]));
    }
done:
    return status;
}

static eg_status info_text(eg_text *text, const eg_mesh *mesh, const eg_mesh_summary *s,
                           const demand *d)
{
    eg_status status = EG_OK;
    page p = {.text = text, .label = LABEL_LEAST};
    widen(&p, mesh->group_count, mesh->group);
    widen(&p, mesh->boundary_count, mesh->boundary);
    EG_TRY(put_counts(&p, mesh, s));
    EG_TRY(put_point(&p, "from", mesh->dim, s, s->low));
    EG_TRY(put_point(&p, "to", mesh->dim, s, s->high));
    EG_TRY(put_label(&p, 0, volume_word(mesh)));
    EG_TRY(eg_text_printf(text, "%.12g\n", s->volume));
    EG_TRY(put_label(&p, 0, "size"));
    EG_TRY(eg_text_printf(text, "%.4g to %.4g\n", s->size_least, s->size_most));
    EG_TRY(put_quality(&p, s));
    EG_TRY(put_memory(&p, s, d));
done:
    return status;
}

/* What --degree asks for. */
static eg_status find_demand(eg_context *ctx, const cli_options *options, const eg_mesh *mesh,
                             const eg_mesh_summary *s, demand *d)
{
    int most = EG_DEGREE_MAX_QUAD;
    for (int i = 0; i < EG_SHAPE_COUNT; i++)
        if (s->elements[i] > 0 && i != EG_SHAPE_QUAD) most = EG_DEGREE_MAX;
    const eg_status status =
        cli_mesh_number(ctx, "degree", options->degree, 0, most, -1, &d->degree);
    if (status != EG_OK || d->degree < 0) return status;
    d->memory = eg_space_estimate(mesh, d->degree);
    d->run = s->bytes + d->memory.space + FIELDS_OF_A_RUN * d->memory.field;
    return EG_OK;
}

eg_status cli_mesh_info(eg_context *ctx, const cli_options *options, const cli_mesh_words *words)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    eg_mesh_summary summary = {0};
    demand d = {0};
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    EG_TRY(cli_mesh_open(ctx, options, words, NULL, NULL, &mesh));
    EG_TRY(eg_mesh_summarise(mesh, &summary));
    EG_TRY(find_demand(ctx, options, mesh, &summary, &d));
    if (options->json) {
        info_json(&json, mesh, &summary, &d);
        EG_TRY(eg_json_end(&json));
    } else {
        EG_TRY(info_text(&text, mesh, &summary, &d));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    eg_mesh_summary_free(ctx, &summary);
    eg_text_free(&text);
    eg_mesh_destroy(&mesh);
    return status;
}
