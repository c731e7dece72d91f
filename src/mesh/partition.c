/* Divides a mesh among ranks: by METIS [karypis1998] on the graph of elements that share faces, or
 * into equal pieces of the Hilbert curve that the elements lie along.
 *
 * METIS may leave parts empty, in pieces or unbalanced where parts are small. Its divisions are
 * therefore judged beside the curve's, and the best is taken; a large mesh is content with the
 * first good one. */
#include "mesh/build.h"

#include <assert.h>
#include <string.h>
#ifdef EG_HAVE_METIS
#include <metis.h>
#endif

static void divide_curve(const eg_mesh *mesh, int parts, int32_t *part)
{
    for (int32_t e = 0; e < mesh->element_count; e++)
        part[e] = (int32_t)((int64_t)e * parts / mesh->element_count);
}

#ifdef EG_HAVE_METIS

/* More elements than this are divided once, if that is good; fewer in several ways. */
#define LARGE 50000
/* A part may be this much larger than the average, and one element more. */
#define IMBALANCE 0.05

/* Elements that share faces. */
typedef struct graph {
    idx_t count;
    bool connected;
    idx_t *first;     /* [count + 1] owned */
    idx_t *neighbour; /* [first[count]] owned */
} graph;

static void graph_free(eg_context *ctx, graph *g)
{
    eg_release(ctx, &g->neighbour);
    eg_release(ctx, &g->first);
}

/* The connected pieces of parts (NULL: of the graph): each is filled from its first element. */
static eg_status count_pieces(eg_context *ctx, const graph *g, const int32_t *part, int64_t *pieces)
{
    eg_status status = EG_OK;
    uint8_t *seen = NULL;
    idx_t *stack = NULL;
    EG_TRY(eg_new(ctx, (size_t)g->count, &seen));
    EG_TRY(eg_new(ctx, (size_t)g->count, &stack));
    *pieces = 0;
    for (idx_t start = 0; start < g->count; start++) {
        if (seen[start]) continue;
        idx_t height = 0;
        stack[height++] = start;
        seen[start] = 1;
        *pieces += 1;
        while (height > 0) {
            idx_t e = stack[--height];
            for (idx_t i = g->first[e]; i < g->first[e + 1]; i++) {
                idx_t n = g->neighbour[i];
                if (seen[n] || (part && part[n] != part[e])) continue;
                seen[n] = 1;
                stack[height++] = n;
            }
        }
    }
done:
    eg_release(ctx, &stack);
    eg_release(ctx, &seen);
    return status;
}

/* An element that is its own neighbour is left out, one that is a neighbour twice counts once. */
static eg_status graph_create(const eg_mesh *mesh, graph *g)
{
    eg_status status = EG_OK;
    int64_t most = (int64_t)mesh->element_count * mesh->face_stride;
    if (most > IDX_MAX) {
        EG_TRY(eg_fail(mesh->ctx, EG_ERROR_UNSUPPORTED,
                       "this METIS has %d-bit numbers, too short for %d elements; use a METIS with "
                       "64-bit numbers, or partition = \"hilbert\"",
                       IDXTYPEWIDTH, mesh->element_count));
    }
    g->count = mesh->element_count;
    EG_TRY(eg_new(mesh->ctx, (size_t)g->count + 1, &g->first));
    EG_TRY(eg_new(mesh->ctx, (size_t)most, &g->neighbour));
    idx_t end = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *neighbour = &mesh->neighbour[(int64_t)e * mesh->face_stride];
        int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            bool wanted = neighbour[f] >= 0 && neighbour[f] != e;
            for (idx_t i = g->first[e]; i < end; i++)
                wanted = wanted && g->neighbour[i] != neighbour[f];
            if (wanted) g->neighbour[end++] = neighbour[f];
        }
        g->first[e + 1] = end;
    }
    int64_t pieces;
    EG_TRY(count_pieces(mesh->ctx, g, NULL, &pieces));
    g->connected = pieces == 1;
done:
    return status;
}

typedef int metis_function(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *,
                           real_t *, real_t *, idx_t *, idx_t *, idx_t *);

static eg_status divide_graph(eg_context *ctx, const graph *g, metis_function *divide, int parts,
                              int32_t *part)
{
    eg_status status = EG_OK;
    idx_t *result = NULL;
    idx_t options[METIS_NOPTIONS], count = g->count, constraints = 1, wanted = parts, cut = 0;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_CONTIG] = divide == METIS_PartGraphKway && g->connected;
    if (g->count <= LARGE) options[METIS_OPTION_NCUTS] = 4;
    EG_TRY(eg_new(ctx, (size_t)g->count, &result));
    switch (divide(&count, &constraints, g->first, g->neighbour, NULL, NULL, NULL, &wanted, NULL,
                   NULL, options, &cut, result)) {
    case METIS_OK:
        break;
    case METIS_ERROR_MEMORY:
        EG_TRY(eg_fail(ctx, EG_ERROR_MEMORY,
                       "METIS is out of memory with %lld elements; use partition = \"hilbert\"",
                       (long long)g->count));
        break;
    default:
        EG_TRY(eg_fail(ctx, EG_ERROR_NUMERIC,
                       "METIS failed to divide %lld elements into %d parts; use partition = "
                       "\"hilbert\"",
                       (long long)g->count, parts));
    }
    for (idx_t e = 0; e < g->count; e++)
        part[e] = (int32_t)result[e];
done:
    eg_release(ctx, &result);
    return status;
}

/* How good a division is; the first difference decides, less is better. */
typedef struct judgement {
    int64_t empty;  /* parts */
    int64_t excess; /* elements of the largest part beyond what is allowed */
    int64_t pieces; /* connected ones, beyond one a part */
    int64_t cut;    /* pairs of neighbours in different parts */
} judgement;

static bool is_better(const judgement *a, const judgement *b)
{
    if (a->empty != b->empty) return a->empty < b->empty;
    if (a->excess != b->excess) return a->excess < b->excess;
    if (a->pieces != b->pieces) return a->pieces < b->pieces;
    return a->cut < b->cut;
}

static bool is_good(const judgement *a)
{
    return a->empty == 0 && a->excess == 0 && a->pieces == 0;
}

static eg_status judge(eg_context *ctx, const graph *g, int parts, const int32_t *part,
                       judgement *out)
{
    eg_status status = EG_OK;
    int64_t *size = NULL;
    *out = (judgement){0};
    EG_TRY(eg_new(ctx, (size_t)parts, &size));
    EG_TRY(count_pieces(ctx, g, part, &out->pieces));
    for (idx_t e = 0; e < g->count; e++) {
        size[part[e]]++;
        for (idx_t i = g->first[e]; i < g->first[e + 1]; i++)
            out->cut += part[g->neighbour[i]] > part[e];
    }
    int64_t allowed = (int64_t)((1.0 + IMBALANCE) * (double)g->count / parts) + 1;
    for (int p = 0; p < parts; p++) {
        out->empty += size[p] == 0;
        if (size[p] - allowed > out->excess) out->excess = size[p] - allowed;
    }
    out->pieces -= parts - out->empty;
done:
    eg_release(ctx, &size);
    return status;
}

static eg_status divide_best(const eg_mesh *mesh, int parts, int32_t *part)
{
    eg_status status = EG_OK;
    eg_context *ctx = mesh->ctx;
    metis_function *const functions[] = {METIS_PartGraphKway, METIS_PartGraphRecursive};
    graph g = {0};
    int32_t *trial = NULL;
    judgement best, here;
    divide_curve(mesh, parts, part);
    if (parts == 1) return EG_OK; /* METIS would divide by zero */
    EG_TRY(graph_create(mesh, &g));
    EG_TRY(judge(ctx, &g, parts, part, &best));
    EG_TRY(eg_new(ctx, (size_t)mesh->element_count, &trial));
    for (size_t i = 0; i < EG_COUNT(functions); i++) {
        EG_TRY(divide_graph(ctx, &g, functions[i], parts, trial));
        EG_TRY(judge(ctx, &g, parts, trial, &here));
        if (is_better(&here, &best)) {
            best = here;
            memcpy(part, trial, (size_t)mesh->element_count * sizeof *part);
        }
        if (mesh->element_count > LARGE && is_good(&here)) break;
    }
done:
    eg_release(ctx, &trial);
    graph_free(ctx, &g);
    return status;
}

#else

static eg_status divide_best(const eg_mesh *mesh, int parts, int32_t *part)
{
    (void)parts;
    (void)part;
    return eg_fail(mesh->ctx, EG_ERROR_UNSUPPORTED,
                   "this eagre was built without METIS; use partition = \"hilbert\" or \"auto\"");
}

#endif

bool eg_mesh_has_metis(void)
{
#ifdef EG_HAVE_METIS
    return true;
#else
    return false;
#endif
}

eg_status eg_mesh_partition(const eg_mesh *mesh, int parts, eg_partitioner partitioner,
                            int32_t *part)
{
    assert(mesh->ghost_count == 0);
    if (parts < 1 || parts > mesh->element_count)
        return eg_fail(mesh->ctx, EG_ERROR_ARGUMENT,
                       "a mesh of %d elements cannot be divided into %d parts; use at most as many "
                       "ranks as elements",
                       mesh->element_count, parts);
    bool metis = partitioner == EG_PARTITION_METIS ||
                 (partitioner == EG_PARTITION_DEFAULT && eg_mesh_has_metis());
    if (metis) return divide_best(mesh, parts, part);
    divide_curve(mesh, parts, part);
    return EG_OK;
}
