/* `eagre mesh partition`: divides a mesh among ranks. */
#include "base/json.h"
#include "base/table.h"
#include "cli/mesh.h"

#include <inttypes.h>
#include <sys/resource.h>

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

eg_status cli_mesh_partition(eg_context *ctx, const cli_options *options,
                             const cli_mesh_words *words)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    int32_t *part = NULL;
    part_count *counts = NULL;
    eg_partitioner partitioner = EG_PARTITION_DEFAULT;
    int64_t most = 0;
    division d = {0};
    eg_text text = eg_text_new(ctx);
    if (!options->count) return eg_fail(ctx, EG_ERROR_ARGUMENT, "into how many? --parts N says so");
    EG_TRY(cli_mesh_number(ctx, "parts", options->count, 1, INT32_MAX, 0, &d.parts));
    EG_TRY(cli_check_writable(ctx, words->output));
    d.mesh_s = eg_wall_seconds();
    EG_TRY(cli_mesh_open(ctx, options, words, NULL, &partitioner, &mesh));
    d.partition_s = eg_wall_seconds();
    d.mesh_s = d.partition_s - d.mesh_s;
    EG_TRY(eg_new(ctx, (size_t)mesh->element_count, &part));
    EG_TRY(eg_mesh_partition(mesh, d.parts, partitioner, part));
    d.partition_s = eg_wall_seconds() - d.partition_s;
    EG_TRY(eg_new(ctx, (size_t)d.parts, &counts));
    count_parts(mesh, part, counts, &d.cut);
    d.counts = counts;
    for (int i = 0; i < d.parts; i++)
        if (counts[i].elements > most) most = counts[i].elements;
    d.imbalance = (double)most * (double)d.parts / (double)mesh->element_count - 1.0;
    EG_TRY(options->json ? partition_json(&text, &d) : partition_text(ctx, &text, &d));
    if (words->output && cli_rank() == 0) EG_TRY(write_parts(ctx, mesh, part, words->output));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    eg_release(ctx, &counts);
    eg_release(ctx, &part);
    eg_mesh_destroy(&mesh);
    return status;
}
