/* What the kernels need of every element and face: geometry, k and penalties, computed on the
 * device. */
#include "model/elliptic/parts.h"

#include <string.h>

/* k on a face is taken this far inside, as part of the way to the element's centre: where it
 * jumps from one element to the next, each sees its own. */
#define INSIDE 1e-10

/* The constant of the trace inequality |v|²_face ≤ C |face|/|element| |v|²_element of
 * polynomials, of which eq. (14) of [karakus2018] is that of triangles, times what turns sJ/J
 * into |face|/|element|. */
static double penalty_scale(const eg_elliptic *a)
{
    const eg_shape_info *info = eg_shape_get_info(a->element->shape);
    const int n = a->element->degree, d = a->dim;
    const double constant =
        info->tensor ? (double)(n + 1) * (n + 1) : (double)(n + 1) * (n + d) / d;
    return a->options.penalty * constant * eg_shape_get_info(info->face_shape)->volume /
           info->volume;
}

double eg_elliptic_penalty(const eg_elliptic *a)
{
    return 2 * penalty_scale(a);
}

/* How the chains of triangles are laid out, as measured on an H200: blocks that a multiprocessor should hold, each
 * with the fewer registers the more there are, and whether chunks stand side by side. */
static size_t tune_chain(const eg_elliptic *a, const char *entry, eg_define out[2])
{
    /* By degree, in double and in single precision. */
    static const int blocks[2][EG_DEGREE_MAX + 1] = {{1, 10, 8, 6, 8, 8, 6, 6, 6, 4, 4},
                                                     {1, 16, 12, 12, 10, 10, 8, 6, 6, 4, 4}};
    const int degree = a->element->degree;
    const bool apply = !strcmp(entry, "apply");
    if (a->form == EG_ELLIPTIC_MIRRORED) {
        out[0] = (eg_define){"K_MIN_BLOCKS", apply ? 4 : 1};
        out[1] = (eg_define){"K_UNROLL_CHUNKS", apply};
        return 2;
    }
    out[0] = (eg_define){"K_MIN_BLOCKS", apply         ? blocks[a->real == EG_F32][degree]
                                         : degree <= 2 ? 10
                                                       : 1};
    out[1] = (eg_define){"K_UNROLL_CHUNKS", apply || degree <= 3 || degree >= 9};
    return 2;
}

/* How many blocks of affine_block.k.c a multiprocessor should hold. */
static eg_define tune_block(const eg_elliptic *a, bool apply)
{
    const int degree = a->element->degree;
    return (eg_define){"K_MIN_BLOCKS", degree <= (apply ? 6 : 8) ? 8 : 6};
}

/* The defines of a kernel: only those that its file needs, as each set of them is compiled anew. */
static size_t list_defines(const eg_elliptic *a, eg_elliptic_kernel_file file, int at,
                           eg_define out[EG_ELLIPTIC_DEFINES])
{
    const eg_define np = {"NP", a->element->np}, nfp = {"NFP", a->element->face_np};
    const eg_define dim = {"DIM", a->dim}, faces = {"FACES", a->faces};
    const eg_define nc = {"NC", a->rules.inner->count}, q = {"Q", a->rules.face->count};
    const eg_define mass = {"MASS", a->mass};
    size_t n = 0;
    if (file == EG_ELLIPTIC_AFFINE_FACTORS) return n;
    if (file == EG_ELLIPTIC_AFFINE || file == EG_ELLIPTIC_AFFINE_CHAIN ||
        file == EG_ELLIPTIC_AFFINE_MIRROR || file == EG_ELLIPTIC_AFFINE_BLOCK) {
        out[n++] = np, out[n++] = nfp, out[n++] = (eg_define){"STIFF", 3 + a->mass};
        if (file != EG_ELLIPTIC_AFFINE && file != EG_ELLIPTIC_AFFINE_BLOCK)
            out[n++] = (eg_define){"K_FN", 8};
        if (file != EG_ELLIPTIC_AFFINE_CHAIN)
            out[n++] = (eg_define){"EVEN", a->even}, out[n++] = (eg_define){"ODD", a->odd};
        if (file == EG_ELLIPTIC_AFFINE)
            out[n++] = (eg_define){"K_STREAMING", eg_space_passes_caches(a->space, 3)};
        return n;
    }
    out[n++] = dim, out[n++] = faces, out[n++] = nc, out[n++] = q;
    if (file != EG_ELLIPTIC_LOAD) out[n++] = mass;
    if (file != EG_ELLIPTIC_FACTORS) out[n++] = np;
    if (file == EG_ELLIPTIC_GENERAL) out[n++] = nfp, out[n++] = (eg_define){"WAYS", a->ways};
    if (file != EG_ELLIPTIC_GENERAL) out[n++] = (eg_define){"AT", at};
    return n;
}

eg_status eg_elliptic_kernel(const eg_elliptic *a, int group, eg_elliptic_kernel_file file,
                             const char *entry, int at, eg_kernel **out)
{
    static const char *const names[] = {
        [EG_ELLIPTIC_AFFINE] = "model/elliptic/affine.k.c",
        [EG_ELLIPTIC_AFFINE_CHAIN] = "model/elliptic/affine_chain.k.c",
        [EG_ELLIPTIC_AFFINE_MIRROR] = "model/elliptic/affine_mirror.k.c",
        [EG_ELLIPTIC_AFFINE_BLOCK] = "model/elliptic/affine_block.k.c",
        [EG_ELLIPTIC_AFFINE_FACTORS] = "model/elliptic/affine_factors.k.c",
        [EG_ELLIPTIC_GENERAL] = "model/elliptic/general.k.c",
        [EG_ELLIPTIC_FACTORS] = "model/elliptic/factors.k.c",
        [EG_ELLIPTIC_LOAD] = "model/elliptic/load.k.c",
    };
    eg_define defines[EG_ELLIPTIC_DEFINES];
    size_t count = list_defines(a, file, at, defines);
    if (file == EG_ELLIPTIC_AFFINE_CHAIN || file == EG_ELLIPTIC_AFFINE_MIRROR)
        count += tune_chain(a, entry, defines + count);
    const bool block = file == EG_ELLIPTIC_AFFINE_BLOCK;
    if (block) defines[count++] = tune_block(a, !strcmp(entry, "apply"));
    return eg_kernel_create(a->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = names[file],
                                                 .entry = entry,
                                                 .real = a->real,
                                                 .lanes = a->space->groups[group].lanes,
                                                 .rows_per_block = block ? 2 : 0,
                                                 .tiles_per_block = block ? 1 : 0,
                                                 .defines = defines,
                                                 .define_count = count},
                            out);
}

/* --- affine triangles ------------------------------------------------------------------------- */

static eg_status make_affine_factors(eg_elliptic *a, int group)
{
    const eg_group *g = &a->space->groups[group];
    eg_elliptic_part *p = &a->parts[group];
    eg_kernel *geometry = NULL, *penalties = NULL;
    eg_status status = EG_OK;
    EG_TRY(
        eg_elliptic_kernel(a, group, EG_ELLIPTIC_AFFINE_FACTORS, "affine_factors", 1, &geometry));
    EG_TRY(eg_elliptic_kernel(a, group, EG_ELLIPTIC_AFFINE_FACTORS, "affine_penalties", 1,
                              &penalties));
    EG_TRY(eg_buffer_create(a->space->device, a->real, (size_t)(g->tiles * 7 * g->lanes),
                            &p->factors));
    EG_TRY(eg_launch(geometry, g->tiles, EG_BUFFER("geometry", g->volume_factors),
                     EG_REAL("k", a->k), EG_REAL("lambda", a->options.lambda),
                     EG_BUFFER("factors", p->factors)));
    EG_TRY(eg_launch(
        penalties, g->own_tiles, EG_BUFFER("geometry", g->volume_factors),
        EG_BUFFER("neighbour", g->neighbour), EG_BUFFER("neighbour_face", g->neighbour_face),
        EG_BUFFER("types", a->types_there), EG_REAL("k", a->k), EG_REAL("scale", penalty_scale(a)),
        EG_REAL("outer", a->form == EG_ELLIPTIC_TILES || a->form == EG_ELLIPTIC_BLOCKS ? 1 : 2),
        EG_BUFFER("factors", p->factors)));
done:
    eg_kernel_destroy(&penalties);
    eg_kernel_destroy(&geometry);
    return status;
}

eg_status eg_elliptic_make_affine_factors(eg_elliptic *a)
{
    eg_status status = EG_OK;
    for (int group = 0; group < a->space->group_count; group++)
        EG_TRY(make_affine_factors(a, group));
done:
    return status;
}

/* --- quadrature ------------------------------------------------------------------------------- */

void eg_elliptic_faces_free(eg_elliptic_faces *faces)
{
    eg_buffer_destroy(&faces->share);
    eg_buffer_destroy(&faces->penalty);
    eg_buffer_destroy(&faces->metric);
    eg_buffer_destroy(&faces->sizes);
    eg_buffer_destroy(&faces->k);
    *faces = (eg_elliptic_faces){0};
}

/* k at the points of faces. */
static eg_status evaluate_on_faces(const eg_elliptic *a, int group, eg_buffer **k)
{
    const eg_element *e = a->element;
    const eg_shape_info *info = eg_shape_get_info(e->shape);
    const int count = a->faces * a->rules.face->count;
    double *r = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(e->dim * count), &r));
    for (int d = 0; d < e->dim; d++) {
        double centre = 0;
        for (int v = 0; v < info->vertices; v++)
            centre += info->r[v][d] / info->vertices;
        for (int i = 0; i < count; i++) {
            const double at = a->rules.r[d * count + i];
            r[d * count + i] = at + INSIDE * (centre - at);
        }
    }
    EG_TRY(eg_elliptic_evaluate(a, group, a->options.k, 0, count, r, k));
done:
    eg_release(e->ctx, &r);
    return status;
}

/* What a group's faces are like, seen from inside: `sides` as factors.k.c says. */
static eg_status make_sides(const eg_elliptic *a, int group, eg_buffer *sides,
                            eg_elliptic_faces *faces)
{
    const eg_group *g = &a->space->groups[group];
    eg_device *device = a->space->device;
    const int count = a->faces * a->rules.face->count;
    const size_t values = (size_t)(g->tiles * count * g->lanes);
    double normals[EG_MAX_FACES * 3];
    eg_metric metric = {0};
    eg_buffer *normals_there = NULL;
    eg_kernel *terms = NULL, *reduce = NULL;
    eg_status status = EG_OK;
    for (int i = 0; i < a->faces * a->dim; i++)
        normals[i] = a->rules.normals[i / a->dim][i % a->dim];
    EG_TRY(eg_space_upload(a->space, EG_F64, (size_t)(a->faces * a->dim), normals, &normals_there));
    EG_TRY(eg_metric_create(a->space, group, count, a->rules.r, EG_METRIC_FACTORS, &metric));
    EG_TRY(evaluate_on_faces(a, group, &faces->k));
    EG_TRY(eg_buffer_create(device, EG_F64, values, &faces->sizes));
    EG_TRY(eg_buffer_create(device, a->real, values * (size_t)a->dim, &faces->metric));
    EG_TRY(eg_elliptic_kernel(a, group, EG_ELLIPTIC_FACTORS, "face_terms", metric.points, &terms));
    EG_TRY(eg_elliptic_kernel(a, group, EG_ELLIPTIC_FACTORS, "face_sides", metric.points, &reduce));
    EG_TRY(eg_launch(terms, g->tiles, EG_BUFFER("geometry", metric.factors),
                     EG_BUFFER("k", faces->k), EG_BUFFER("normals", normals_there),
                     EG_BUFFER("metric", faces->metric), EG_BUFFER("sizes", faces->sizes)));
    EG_TRY(eg_launch(reduce, g->tiles, EG_BUFFER("geometry", metric.factors),
                     EG_BUFFER("k", faces->k), EG_BUFFER("sizes", faces->sizes),
                     EG_BUFFER_AT("sides", sides, (size_t)(2 * a->faces * g->first_slot))));
done:
    eg_kernel_destroy(&reduce);
    eg_kernel_destroy(&terms);
    eg_metric_free(&metric);
    eg_buffer_destroy(&normals_there);
    return status;
}

/* The penalties of a group's faces, from what both sides are like. */
static eg_status make_penalties(const eg_elliptic *a, int group, eg_buffer *sides,
                                eg_elliptic_faces *faces)
{
    const eg_group *g = &a->space->groups[group];
    const int count = a->faces * a->rules.face->count;
    eg_buffer *coefficients = NULL;
    eg_kernel *kernel = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_elliptic_evaluate_boundaries(a, group, a->options.robin, 0, count, a->rules.r,
                                           &coefficients));
    EG_TRY(eg_buffer_create(a->space->device, a->real, (size_t)(g->own_tiles * count * g->lanes),
                            &faces->penalty));
    EG_TRY(eg_buffer_create(a->space->device, a->real, (size_t)(g->own_tiles * a->faces * g->lanes),
                            &faces->share));
    EG_TRY(eg_elliptic_kernel(a, group, EG_ELLIPTIC_FACTORS, "face_penalties", 1, &kernel));
    EG_TRY(eg_launch(kernel, g->own_tiles, EG_BUFFER("sides", sides),
                     EG_INTEGER("begin", 2 * a->faces * g->first_slot),
                     EG_BUFFER("sizes", faces->sizes), EG_BUFFER("coefficients", coefficients),
                     EG_BUFFER("neighbour", g->neighbour),
                     EG_BUFFER("neighbour_face", g->neighbour_face),
                     EG_BUFFER("types", a->types_there), EG_REAL("scale", penalty_scale(a)),
                     EG_BUFFER("penalty", faces->penalty), EG_BUFFER("share", faces->share)));
done:
    eg_kernel_destroy(&kernel);
    eg_buffer_destroy(&coefficients);
    return status;
}

eg_status eg_elliptic_make_faces(const eg_elliptic *a, eg_elliptic_faces *faces)
{
    const eg_space *space = a->space;
    eg_buffer *sides = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(space->device, EG_F64, (size_t)(2 * a->faces * space->slot_count),
                            &sides));
    for (int group = 0; group < space->group_count; group++)
        EG_TRY(make_sides(a, group, sides, &faces[group]));
    for (int group = 0; group < space->group_count; group++)
        if (space->groups[group].own_tiles > 0)
            EG_TRY(make_penalties(a, group, sides, &faces[group]));
done:
    eg_buffer_destroy(&sides);
    return status;
}

/* The factors at the points of a group's elements. */
static eg_status make_volume(eg_elliptic *a, int group)
{
    const eg_group *g = &a->space->groups[group];
    const eg_cubature *rule = a->rules.inner;
    const int rows = a->dim * (a->dim + 1) / 2 + a->mass;
    eg_metric metric = {0};
    eg_buffer *k = NULL, *weights = NULL;
    eg_kernel *kernel = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_space_upload(a->space, EG_F64, (size_t)rule->count, rule->w, &weights));
    EG_TRY(eg_metric_create(a->space, group, rule->count, rule->r, EG_METRIC_FACTORS, &metric));
    EG_TRY(eg_elliptic_evaluate(a, group, a->options.k, 0, rule->count, rule->r, &k));
    EG_TRY(
        eg_elliptic_kernel(a, group, EG_ELLIPTIC_FACTORS, "volume_terms", metric.points, &kernel));
    EG_TRY(eg_buffer_create(a->space->device, a->real,
                            (size_t)(g->own_tiles * rows * rule->count * g->lanes),
                            &a->parts[group].volume));
    EG_TRY(eg_launch(kernel, g->own_tiles, EG_BUFFER("geometry", metric.factors), EG_BUFFER("k", k),
                     EG_BUFFER("weights", weights), EG_REAL("lambda", a->options.lambda),
                     EG_BUFFER("volume", a->parts[group].volume)));
done:
    eg_kernel_destroy(&kernel);
    eg_buffer_destroy(&k);
    eg_metric_free(&metric);
    eg_buffer_destroy(&weights);
    return status;
}

eg_status eg_elliptic_make_factors(eg_elliptic *a)
{
    const eg_space *space = a->space;
    eg_elliptic_faces *faces = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count + 1, &faces));
    EG_TRY(eg_elliptic_make_faces(a, faces));
    for (int group = 0; group < space->group_count; group++) {
        eg_elliptic_part *p = &a->parts[group];
        if (space->groups[group].own_tiles > 0) EG_TRY(make_volume(a, group));
        p->metric = faces[group].metric;
        p->penalty = faces[group].penalty;
        p->share = faces[group].share;
        faces[group].metric = faces[group].penalty = faces[group].share = NULL;
    }
done:
    for (int group = 0; faces && group < space->group_count; group++)
        eg_elliptic_faces_free(&faces[group]);
    eg_release(space->ctx, &faces);
    return status;
}
