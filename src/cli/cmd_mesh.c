/* `eagre mesh`: makes meshes, describes them, divides them. */
#include "base/json.h"
#include "base/table.h"
#include "cli/cli.h"
#include "model/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const cli_option options_list[] = {
    CLI_COMMON_OPTIONS,
    {"output", 'o', "FILE",
     "generate: the mesh as a Gmsh file; partition: the part of each element",
     offsetof(cli_options, output)},
    {"parts", 'n', "N", "partition: into how many parts", offsetof(cli_options, parts)},
    {0}};

/* The mesh of the case named first, or of the replacements alone. */
static eg_status make_mesh(eg_context *ctx, const cli_options *options, eg_partitioner *partitioner,
                           eg_mesh **out)
{
    eg_status status = EG_OK;
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    if (options->name_count > 1 && !cli_is_replacement(options->names[1])) {
        EG_TRY(cli_open_case(ctx, options, 1, &model, &cas));
    } else {
        const eg_key *const tables[] = {eg_mesh_keys};
        EG_TRY(eg_case_open_text(ctx, "mesh", "", 0,
                                 &(eg_case_options){
                                     .overrides = (const char *const *)options->names + 1,
                                     .override_count = (size_t)options->name_count - 1,
                                     .tables = tables,
                                     .table_count = EG_COUNT(tables),
                                 },
                                 &cas));
    }
    if (partitioner) *partitioner = (eg_partitioner)eg_case_choice(cas, "mesh.partition");
    EG_TRY(eg_mesh_create(ctx, cas, out));
done:
    eg_case_close(&cas);
    return status;
}

static void put_bounds(eg_json *json, const char *key, int dim, const double *values)
{
    eg_json_key(json, key);
    eg_json_begin_array(json);
    for (int d = 0; d < dim; d++)
        eg_json_number(json, values[d]);
    eg_json_close(json);
}

static void info_json(eg_json *json, const eg_mesh *mesh, const eg_mesh_summary *s)
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
    eg_json_put_integer(json, "vertices", mesh->vertex_count);
    eg_json_put_integer(json, "faces", s->faces);
    eg_json_put_integer(json, "boundary_faces", s->boundary_faces);
    eg_json_key(json, "boundaries");
    eg_json_begin_object(json);
    for (int b = 0; b < mesh->boundary_count; b++)
        eg_json_put_integer(json, mesh->boundary[b], s->boundary_face_count[b]);
    eg_json_close(json);
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
    eg_json_close(json);
}

static eg_status put_point(eg_text *text, int dim, const double *x)
{
    eg_status status = EG_OK;
    for (int d = 0; d < dim; d++)
        EG_TRY(eg_text_printf(text, "%s%g", d ? ", " : "(", x[d]));
    EG_TRY(eg_text_puts(text, ")"));
done:
    return status;
}

static eg_status info_text(eg_text *text, const eg_mesh *mesh, const eg_mesh_summary *s)
{
    eg_status status = EG_OK;
    int64_t most = 1;
    for (int i = 0; i < EG_SHAPE_COUNT; i++)
        if (s->elements[i] > 0)
            EG_TRY(eg_text_printf(text, "elements    %" PRId64 ", each a %s of order %d\n",
                                  s->elements[i], eg_shape_get_info((eg_shape)i)->name,
                                  mesh->order));
    EG_TRY(eg_text_printf(text, "vertices    %" PRId64 "\n", mesh->vertex_count));
    EG_TRY(eg_text_printf(text, "faces       %" PRId64 ", of which %" PRId64 " on the boundary\n",
                          s->faces, s->boundary_faces));
    for (int b = 0; b < mesh->boundary_count; b++)
        EG_TRY(eg_text_printf(text, "  %-9s %" PRId64 "\n", mesh->boundary[b],
                              s->boundary_face_count[b]));
    EG_TRY(eg_text_puts(text, "from        "));
    EG_TRY(put_point(text, mesh->dim, s->low));
    EG_TRY(eg_text_puts(text, "\nto          "));
    EG_TRY(put_point(text, mesh->dim, s->high));
    EG_TRY(eg_text_printf(text, "\n%s %.12g\n", mesh->dim == 2 ? "area       " : "volume     ",
                          s->volume));
    EG_TRY(eg_text_printf(text, "size        %.4g to %.4g\n", s->size_least, s->size_most));
    EG_TRY(eg_text_printf(text, "quality     %.3f at least, %.3f on average (1: regular)\n",
                          s->quality_least, s->quality_mean));
    for (size_t i = 0; i < EG_COUNT(s->quality_histogram); i++)
        if (s->quality_histogram[i] > most) most = s->quality_histogram[i];
    for (size_t i = 0; i < EG_COUNT(s->quality_histogram); i++) {
        if (s->quality_histogram[i] == 0) continue;
        int bar = (int)(1 + 39 * s->quality_histogram[i] / most);
        EG_TRY(eg_text_printf(text, "  %.1f-%.1f   %-40.*s %" PRId64 "\n", 0.1 * (double)i,
                              0.1 * (double)(i + 1), bar,
                              "########################################", s->quality_histogram[i]));
    }
    EG_TRY(eg_text_printf(text, "memory      %.1f MiB\n", (double)s->bytes / 1048576.0));
done:
    return status;
}

static eg_status info(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    eg_mesh_summary summary = {0};
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    EG_TRY(make_mesh(ctx, options, NULL, &mesh));
    EG_TRY(eg_mesh_summarise(mesh, &summary));
    if (options->json) {
        info_json(&json, mesh, &summary);
        EG_TRY(eg_json_end(&json));
    } else {
        EG_TRY(info_text(&text, mesh, &summary));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    eg_release(ctx, &summary.boundary_face_count);
    eg_text_free(&text);
    eg_mesh_destroy(&mesh);
    return status;
}

static eg_status generate(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    if (!options->output)
        return eg_fail(
            ctx, EG_ERROR_ARGUMENT,
            "where to? --output FILE.msh names the file; \"eagre mesh info\" only looks");
    EG_TRY(make_mesh(ctx, options, NULL, &mesh));
    if (cli_rank() == 0) EG_TRY(eg_mesh_write_gmsh(mesh, options->output));
    if (options->json) {
        eg_json_begin_object(&json);
        eg_json_put_string(&json, "file", options->output);
        eg_json_put_integer(&json, "elements", mesh->global_count);
        eg_json_put_integer(&json, "vertices", mesh->vertex_count);
        eg_json_close(&json);
        EG_TRY(eg_json_end(&json));
    } else {
        EG_TRY(eg_text_printf(&text, "%s: %" PRId64 " elements, %" PRId64 " vertices\n",
                              options->output, mesh->global_count, mesh->vertex_count));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    eg_mesh_destroy(&mesh);
    return status;
}

/* What a part is like: its elements, its faces to other parts. */
typedef struct part_count {
    int64_t elements, cut_faces;
} part_count;

static void count_parts(const eg_mesh *mesh, const int32_t *part, part_count *counts, int64_t *cut)
{
    *cut = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        counts[part[e]].elements++;
        for (int f = 0; f < faces; f++) {
            const int32_t n = mesh->neighbour[(int64_t)e * mesh->face_stride + f];
            if (n < 0 || part[n] == part[e]) continue;
            counts[part[e]].cut_faces++;
            *cut += n > e;
        }
    }
}

static eg_status write_parts(eg_context *ctx, const eg_mesh *mesh, const int32_t *part,
                             const char *path)
{
    eg_status status = EG_OK;
    int32_t *by_global = NULL;
    eg_text text = eg_text_new(ctx);
    EG_TRY(eg_new(ctx, (size_t)mesh->element_count, &by_global));
    for (int32_t e = 0; e < mesh->element_count; e++)
        by_global[mesh->global[e]] = part[e];
    for (int32_t e = 0; e < mesh->element_count; e++)
        EG_TRY(eg_text_printf(&text, "%d\n", by_global[e]));
    EG_TRY(eg_file_write_atomic(ctx, path, eg_text_string(&text), text.length, 0666, false));
done:
    eg_release(ctx, &by_global);
    eg_text_free(&text);
    return status;
}

/* The most memory that this process has had. */
static int64_t peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

/* What the division was like, and what it took. */
typedef struct division {
    int parts;
    const part_count *counts; /* [parts] */
    int64_t cut;
    double imbalance;
    double mesh_s, partition_s; /* seconds for making the mesh and for dividing it */
} division;

static eg_status partition_json(eg_text *text, const division *d)
{
    eg_json json = eg_json_new(text);
    eg_json_begin_object(&json);
    eg_json_put_integer(&json, "cut_faces", d->cut);
    eg_json_put_number(&json, "imbalance", d->imbalance);
    eg_json_put_number(&json, "mesh_s", d->mesh_s);
    eg_json_put_number(&json, "partition_s", d->partition_s);
    eg_json_put_integer(&json, "peak_bytes", peak_bytes());
    eg_json_key(&json, "parts");
    eg_json_begin_array(&json);
    for (int i = 0; i < d->parts; i++) {
        eg_json_begin_object(&json);
        eg_json_put_integer(&json, "elements", d->counts[i].elements);
        eg_json_put_integer(&json, "cut_faces", d->counts[i].cut_faces);
        eg_json_close(&json);
    }
    eg_json_close(&json);
    eg_json_close(&json);
    return eg_json_end(&json);
}

static eg_status partition_text(eg_context *ctx, eg_text *text, const division *d)
{
    static const eg_column columns[] = {{"part", false}, {"elements", false}, {"cut faces", false}};
    eg_status status = EG_OK;
    eg_table table = eg_table_new(ctx, columns, EG_COUNT(columns));
    for (int i = 0; i < d->parts; i++) {
        eg_table_cell(&table, "%d", i);
        eg_table_cell(&table, "%" PRId64, d->counts[i].elements);
        eg_table_cell(&table, "%" PRId64, d->counts[i].cut_faces);
    }
    EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, text));
    EG_TRY(eg_text_printf(text,
                          "\n%" PRId64 " faces are cut; the largest part has %.1f %% more than "
                          "average\n%.2f s for the mesh, %.2f s to divide it; %.0f MiB at most\n",
                          d->cut, 100.0 * d->imbalance, d->mesh_s, d->partition_s,
                          (double)peak_bytes() / 1048576.0));
done:
    eg_table_free(&table);
    return status;
}

static eg_status partition(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    int32_t *part = NULL;
    part_count *counts = NULL;
    eg_partitioner partitioner = EG_PARTITION_DEFAULT;
    int64_t most = 0;
    char *end = NULL;
    eg_text text = eg_text_new(ctx);
    errno = 0;
    const long parts = options->parts ? strtol(options->parts, &end, 10) : 0;
    if (!options->parts) return eg_fail(ctx, EG_ERROR_ARGUMENT, "into how many? --parts N says so");
    if (*end || errno || parts < 1 || parts > INT32_MAX)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "--parts takes a number from 1 on, not \"%s\"",
                       options->parts);
    division d = {.parts = (int)parts, .mesh_s = eg_wall_seconds()};
    EG_TRY(make_mesh(ctx, options, &partitioner, &mesh));
    d.partition_s = eg_wall_seconds();
    d.mesh_s = d.partition_s - d.mesh_s;
    EG_TRY(eg_new(ctx, (size_t)mesh->element_count, &part));
    EG_TRY(eg_mesh_partition(mesh, (int)parts, partitioner, part));
    d.partition_s = eg_wall_seconds() - d.partition_s;
    EG_TRY(eg_new(ctx, (size_t)parts, &counts));
    count_parts(mesh, part, counts, &d.cut);
    d.counts = counts;
    for (long i = 0; i < parts; i++)
        if (counts[i].elements > most) most = counts[i].elements;
    d.imbalance = (double)most * (double)parts / (double)mesh->element_count - 1.0;
    EG_TRY(options->json ? partition_json(&text, &d) : partition_text(ctx, &text, &d));
    if (options->output && cli_rank() == 0) EG_TRY(write_parts(ctx, mesh, part, options->output));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    eg_release(ctx, &counts);
    eg_release(ctx, &part);
    eg_mesh_destroy(&mesh);
    return status;
}

static const char *const actions[] = {"generate", "info", "partition"};

static eg_status run(eg_context *ctx, const cli_options *options)
{
    if (options->name_count == 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "what to do? generate, info or partition");
    const char *action = options->names[0];
    if (strcmp(action, "generate") == 0) return generate(ctx, options);
    if (strcmp(action, "info") == 0) return info(ctx, options);
    if (strcmp(action, "partition") == 0) return partition(ctx, options);
    const char *nearest = eg_nearest(action, actions, EG_COUNT(actions));
    return eg_fail(ctx, EG_ERROR_ARGUMENT, "\"%s\" is none of generate, info, partition%s%s%s",
                   action, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

static eg_status complete(eg_context *ctx, int count, char *const *words, eg_text *out)
{
    eg_status status = EG_OK;
    if (count > 0) {
        /* The case may be left out. */
        EG_TRY(cli_complete_case(ctx, count - 1, words + 1, out));
        if (count == 1) EG_TRY(cli_list_keys(words[1], "=", out));
        return EG_OK;
    }
    for (size_t i = 0; i < EG_COUNT(actions); i++)
        EG_TRY(eg_text_printf(out, "%s\n", actions[i]));
done:
    return status;
}

const cli_command cli_command_mesh = {
    .name = "mesh",
    .summary = "make, describe and divide meshes",
    .usage = "generate|info|partition [CASE.toml] [mesh.KEY=VALUE …]",
    .about =
        "Works on the mesh of a case, with replacements as in \"eagre run\", or on the one that\n"
        "the replacements alone describe.\n\n"
        "  generate   write it as a Gmsh file: --output FILE.msh\n"
        "  info       counts, boundaries, sizes and quality of its elements\n"
        "  partition  divide it: --parts N; --output FILE writes a line for each element\n",
    .example = "  eagre mesh info cases/project-sine.toml\n"
               "  eagre mesh generate mesh.shape=triangle mesh.cells=[10,10] --output box.msh\n"
               "  eagre mesh partition cases/project-sine.toml --parts 4\n",
    .options = options_list,
    .run = run,
    .complete = complete,
};
