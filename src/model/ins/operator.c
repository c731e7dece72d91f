/* Launches the kernels of model `ins`. */
#include "model/ins/operator.h"

#include "field/strips.h"
#include "model/ins/continuity.h"
#include "model/ins/matrices.h"

struct eg_ins_operator {
    eg_space *space;           /* not owned */
    const eg_ins_faces *faces; /* not owned */
    eg_ins_advection_options options;
    eg_ins_matrices matrices;
    eg_trace trace; /* which nodes are on faces */
    eg_halo *halo;
    bool by_faces; /* the surface term is that of advect_faces.k.c, else of surface.k.c … */
    eg_strips *strips;
    eg_buffer *kept, *strip;
    eg_kernel *leave[2];               /* … and `strips` there */
    eg_kernel *volume[2], *surface[2]; /* carried by another, or by itself */
    eg_kernel *stage;                  /* with what a stage does; NULL: there is none */
    eg_kernel *gradient, *divergence, *curl, *load, *inflow;
};

enum { BY_ANOTHER, BY_ITSELF };

/* See inflow.k.c. Of 1, 2, 3 and 4 the one with which the Taylor vortex with its outflow has the least error in
 * 16 subcycles; with 4 it has six times as much, and orders need short steps with 1 and 2. */
#define MOST_PASSED 3.0

eg_status eg_ins_lanes(const eg_device *device, const eg_mesh *mesh, int degree, int *lanes)
{
    eg_element *e = NULL;
    int inner, face, own;
    eg_status status = EG_OK;
    EG_TRY(eg_element_create(mesh->ctx, EG_SHAPE_TRI, degree, EG_BASIS_LOBATTO, &e));
    EG_TRY(eg_ins_count_points(e, false, &inner, &face));
    EG_TRY(eg_elliptic_lanes(device, mesh, degree, lanes));
    /* `surface` has the most rows, and `load` the most columns. */
    const int surface = 2 * e->np + 9 * e->face_np + 6 * face + 10, load = e->np + 9 * e->face_np;
    const int continuity = eg_ins_continuity_rows(e->np, e->face_np);
    own = surface > load ? surface : load;
    own = eg_device_fit_lanes(device, own > continuity ? own : continuity);
    if (own < *lanes) *lanes = own;
done:
    eg_element_destroy(&e);
    return status;
}

void eg_ins_operator_destroy(eg_ins_operator **handle)
{
    eg_ins_operator *o = *handle;
    if (!o) return;
    eg_kernel_destroy(&o->inflow);
    eg_kernel_destroy(&o->load);
    eg_kernel_destroy(&o->curl);
    eg_kernel_destroy(&o->divergence);
    eg_kernel_destroy(&o->gradient);
    eg_kernel_destroy(&o->stage);
    for (int i = 0; i < 2; i++) {
        eg_kernel_destroy(&o->surface[i]);
        eg_kernel_destroy(&o->leave[i]);
        eg_kernel_destroy(&o->volume[i]);
    }
    eg_halo_destroy(&o->halo);
    eg_buffer_destroy(&o->strip);
    eg_buffer_destroy(&o->kept);
    eg_strips_destroy(o->space->ctx, &o->strips);
    eg_trace_free(&o->trace);
    eg_ins_matrices_free(o->space->ctx, &o->matrices);
    eg_release(o->space->ctx, handle);
}

static eg_status compile(const eg_ins_operator *o, const char *source, const char *entry,
                         const eg_define *defines, size_t count, eg_kernel **out)
{
    return eg_space_kernel(
        o->space, &o->space->groups[0],
        (eg_kernel_options){
            .source = source, .entry = entry, .defines = defines, .define_count = count},
        out);
}

/* How chains of the volume term are laid out on GPUs, by degree, as measured on an H200: warps that a multiprocessor
 * should hold, and whether chunks of points go side by side. */
static const struct {
    int blocks;
    bool unrolled;
} volume_chains[] = {
    [1] = {9, false}, [2] = {8, true}, [3] = {10, false}, [4] = {10, false}, [5] = {1, false}};

/* The volume term of advection of w by another, or by itself. On GPUs operands of even and odd parts and their sums do
 * not fit registers together. */
static eg_status compile_volume(eg_ins_operator *o, int kind)
{
    const eg_element *e = o->space->groups[0].element;
    const eg_ins_matrices *m = &o->matrices;
    const int fields = kind == BY_ITSELF ? 2 : 4;
    const bool chain = eg_device_get_info(o->space->device)->is_gpu;
    const int row = e->degree < 5 ? e->degree : 5;
    /* What comes next adds to the volume term, but to its first elements first. */
    const int streaming = eg_space_passes_caches(o->space, fields + 2);
    const eg_define plain[] = {{"NP", e->np},
                               {"NC", m->inner},
                               {"FIELDS", fields},
                               {"K_MIN_BLOCKS", chain ? volume_chains[row].blocks : 1},
                               {"K_UNROLL_CHUNKS", chain && volume_chains[row].unrolled},
                               {"K_STREAMING", streaming}};
    const eg_define mirrored[] = {{"NP", e->np},
                                  {"EVEN", m->even},
                                  {"ODD", m->odd},
                                  {"PAIRS", m->pairs},
                                  {"FIELDS", fields},
                                  {"K_OPERAND_REGISTERS", 0},
                                  {"K_STREAMING", streaming}};
    eg_status status = EG_OK;
    if (m->mirrored)
        EG_TRY(compile(o, "model/ins/advect_mirror.k.c", "volume", mirrored, EG_COUNT(mirrored),
                       &o->volume[kind]));
    else
        EG_TRY(
            compile(o, "model/ins/advect.k.c", "volume", plain, EG_COUNT(plain), &o->volume[kind]));
done:
    return status;
}

/* How blocks of advect_faces.k.c are laid out, by degree, as measured on an H200: rows of threads, and blocks that a
 * multiprocessor should hold. */
static const struct {
    int rows, blocks;
} face_blocks[] = {[1] = {3, 12}, {3, 7}, {3, 6}, {3, 5}, {3, 5},
                   {4, 4},        {4, 3}, {4, 3}, {4, 3}, {4, 3}};

static eg_status compile_faces(const eg_ins_operator *o, int kind, const char *entry,
                               eg_kernel **out)
{
    const eg_group *g = &o->space->groups[0];
    const eg_element *e = g->element;
    const eg_ins_matrices *m = &o->matrices;
    const eg_define defines[] = {{"NP", e->np},
                                 {"NFP", e->face_np},
                                 {"Q", m->face},
                                 {"FIELDS", kind == BY_ITSELF ? 2 : 4},
                                 {"WAVES", kind == BY_ITSELF ? 2 : 1},
                                 {"K_MIN_BLOCKS", face_blocks[e->degree].blocks}};
    const eg_kernel_table table = {"interp", m->face_table, (size_t)(m->face * e->face_np)};
    return eg_space_kernel(o->space, g,
                           (eg_kernel_options){.source = "model/ins/advect_faces.k.c",
                                               .entry = entry,
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines),
                                               .rows_per_block = face_blocks[e->degree].rows,
                                               .tiles_per_block = 1,
                                               .tables = &table,
                                               .table_count = 1},
                           out);
}

/* Values of a strip: a·n and w. */
static int strip_values(const eg_ins_operator *o)
{
    return (3 * o->space->groups[0].element->face_np + 3) / 4 * 4;
}

static eg_status compile_surface(eg_ins_operator *o, int kind)
{
    const eg_element *e = o->space->groups[0].element;
    const eg_ins_matrices *m = &o->matrices;
    const eg_define defines[] = {{"NP", e->np},
                                 {"NFP", e->face_np},
                                 {"Q", m->face},
                                 {"FIELDS", kind == BY_ITSELF ? 2 : 4},
                                 {"WAVES", kind == BY_ITSELF ? 2 : 1},
                                 {"EVEN", m->even},
                                 {"ODD", m->odd},
                                 {"PITCH", strip_values(o)}};
    eg_status status = EG_OK;
    if (o->by_faces) return compile_faces(o, kind, "surface", &o->surface[kind]);
    EG_TRY(
        compile(o, "model/ins/surface.k.c", "strips", defines, EG_COUNT(defines), &o->leave[kind]));
    EG_TRY(compile(o, "model/ins/surface.k.c", "surface", defines, EG_COUNT(defines),
                   &o->surface[kind]));
done:
    return status;
}

static eg_status compile_all(eg_ins_operator *o)
{
    const eg_element *e = o->space->groups[0].element;
    const eg_define sizes[] = {{"NP", e->np}, {"NFP", e->face_np}, {"CURL", 0}};
    const eg_define curl[] = {{"NP", e->np}, {"NFP", e->face_np}, {"CURL", 1}};
    eg_status status = EG_OK;
    for (int kind = BY_ANOTHER; kind <= BY_ITSELF; kind++) {
        EG_TRY(compile_volume(o, kind));
        EG_TRY(compile_surface(o, kind));
    }
    if (o->by_faces) EG_TRY(compile_faces(o, BY_ANOTHER, "stage", &o->stage));
    EG_TRY(compile(o, "model/ins/slopes.k.c", "gradient", sizes, EG_COUNT(sizes), &o->gradient));
    EG_TRY(
        compile(o, "model/ins/slopes.k.c", "divergence", sizes, EG_COUNT(sizes), &o->divergence));
    EG_TRY(compile(o, "model/ins/slopes.k.c", "divergence", curl, EG_COUNT(curl), &o->curl));
    EG_TRY(compile(o, "model/ins/load.k.c", "load", sizes, EG_COUNT(sizes), &o->load));
    EG_TRY(compile(o, "model/ins/inflow.k.c", "inflow", sizes, EG_COUNT(sizes), &o->inflow));
done:
    return status;
}

/* What is this rank's own affair. */
static eg_status create_own(eg_ins_operator *o)
{
    const eg_space *space = o->space;
    eg_status status = EG_OK;
    const eg_group *g = &space->groups[0];
    if (space->group_count != 1 || g->shape != EG_SHAPE_TRI || g->curved)
        EG_TRY(eg_fail(space->ctx, EG_ERROR_UNSUPPORTED,
                       "this model needs straight triangles of one degree"));
    EG_TRY(eg_ins_matrices_create(space, g->element, o->options.collocated, &o->matrices));
    EG_TRY(eg_trace_create(space->device, g->element, g->element, &o->trace));
    if (!o->by_faces) {
        EG_TRY(eg_strips_create(space, strip_values(o), &o->strips));
        EG_TRY(eg_buffer_create(space->device, EG_F64, (size_t)o->strips->values, &o->strip));
        EG_TRY(eg_buffer_create(
            space->device, EG_F64,
            (size_t)(o->strips->relay->homes * 9 * g->element->face_np * g->lanes), &o->kept));
    }
    EG_TRY(compile_all(o));
done:
    return status;
}

eg_status eg_ins_operator_create(eg_space *space, const eg_ins_faces *faces,
                                 const eg_ins_advection_options *options, eg_ins_operator **out)
{
    eg_ins_operator *o = NULL;
    double by_faces;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &o));
    *o = (eg_ins_operator){.space = space, .faces = faces, .options = *options};
    by_faces =
        options->by_faces || eg_device_get_info(space->device)->is_gpu || !eg_strips_fit(space);
    EG_TRY(eg_comm_max(space->comm, 1, &by_faces)); /* as all ranks have stages, or none */
    o->by_faces = by_faces > 0;
    EG_TRY(eg_comm_agree(space->comm, create_own(o)));
    EG_TRY(eg_halo_create(space, 1, EG_F64, EG_HALO_TRACES, &o->halo));
    *out = o;
    o = NULL;
done:
    eg_ins_operator_destroy(&o);
    return status;
}

static eg_status fill_ghosts(eg_ins_operator *o, eg_field *field)
{
    eg_status status = EG_OK;
    EG_TRY(eg_halo_start(o->halo, field));
    EG_TRY(eg_halo_wait(o->halo, field));
done:
    return status;
}

static eg_status fill_all_ghosts(eg_ins_operator *o, eg_field *const a[2], eg_field *const w[2])
{
    eg_status status = EG_OK;
    for (int c = 0; c < 2; c++) {
        EG_TRY(fill_ghosts(o, a[c]));
        EG_TRY(fill_ghosts(o, w[c]));
    }
done:
    return status;
}

static eg_status launch_volume(eg_ins_operator *o, int kind, eg_field *const a[2],
                               eg_field *const w[2], eg_field *const out[2])
{
    const eg_group *g = &o->space->groups[0];
    const eg_ins_matrices *m = &o->matrices;
    const size_t begin = a[0]->offset[0];
    if (m->mirrored)
        return eg_launch(
            o->volume[kind], g->own_tiles, EG_BUFFER_AT("au", a[0]->data, begin),
            EG_BUFFER_AT("av", a[1]->data, begin), EG_BUFFER_AT("u", w[0]->data, begin),
            EG_BUFFER_AT("v", w[1]->data, begin), EG_BUFFER("geometry", g->volume_factors),
            EG_BUFFER("pairs", m->node_pairs), EG_OPERATOR("interp_even", m->interp_even),
            EG_OPERATOR("interp_odd", m->interp_odd), EG_OPERATOR("even", m->project_even),
            EG_OPERATOR("odd", m->project_odd), EG_BUFFER_AT("nu", out[0]->data, begin),
            EG_BUFFER_AT("nv", out[1]->data, begin));
    return eg_launch(o->volume[kind], g->own_tiles, EG_BUFFER_AT("au", a[0]->data, begin),
                     EG_BUFFER_AT("av", a[1]->data, begin), EG_BUFFER_AT("u", w[0]->data, begin),
                     EG_BUFFER_AT("v", w[1]->data, begin), EG_BUFFER("geometry", g->volume_factors),
                     EG_OPERATOR("interp", m->interp), EG_OPERATOR("project_r", m->project_r),
                     EG_OPERATOR("project_s", m->project_s),
                     EG_BUFFER_AT("nu", out[0]->data, begin),
                     EG_BUFFER_AT("nv", out[1]->data, begin));
}

static eg_status launch_faces(eg_ins_operator *o, int kind, eg_field *const a[2],
                              const eg_ins_data *given, eg_field *const w[2],
                              const eg_ins_inflow *inflow, const eg_ins_stage *stage,
                              eg_field *const out[2])
{
    const eg_group *g = &o->space->groups[0];
    const size_t begin = a[0]->offset[0];
    eg_argument arguments[25] = {
        EG_BUFFER("au", a[0]->data),
        EG_BUFFER("av", a[1]->data),
        EG_BUFFER("u", w[0]->data),
        EG_BUFFER("v", w[1]->data),
        EG_INTEGER("begin", (int64_t)begin),
        EG_BUFFER("beyond", o->faces->beyond),
        EG_BUFFER("neighbour_face", g->neighbour_face),
        EG_BUFFER("geometry", g->volume_factors),
        EG_BUFFER("faces", g->face_factors),
        EG_BUFFER("kinds", o->faces->kinds),
        EG_BUFFER("given", eg_ins_data_values(given)),
        EG_BUFFER("carried", inflow->values),
        EG_BUFFER("slope", inflow->slopes),
        EG_REAL("since", inflow->since),
        EG_REAL("damping", o->options.backflow),
        EG_OPERATOR("lift", o->matrices.face_lift),
        EG_BUFFER_AT("nu", out[0]->data, begin),
        EG_BUFFER_AT("nv", out[1]->data, begin),
    };
    size_t n = 18;
    if (stage) {
        arguments[n++] = EG_REAL("A", stage->A);
        arguments[n++] = EG_REAL("dt", stage->dt);
        arguments[n++] = EG_REAL("B", stage->B);
        arguments[n++] = EG_BUFFER_AT("ku", stage->k[0]->data, begin);
        arguments[n++] = EG_BUFFER_AT("kv", stage->k[1]->data, begin);
        arguments[n++] = EG_BUFFER_AT("new_u", stage->next[0]->data, begin);
        arguments[n++] = EG_BUFFER_AT("new_v", stage->next[1]->data, begin);
    }
    return eg_launch_tiles(stage ? o->stage : o->surface[kind], 0, g->own_tiles, arguments, n);
}

/* By strips; there are no stages. */
static eg_status launch_strips(eg_ins_operator *o, int kind, eg_field *const a[2],
                               const eg_ins_data *given, eg_field *const w[2],
                               const eg_ins_inflow *inflow, eg_field *const out[2])
{
    const eg_group *g = &o->space->groups[0];
    const eg_ins_matrices *m = &o->matrices;
    const eg_strips *s = o->strips;
    const size_t begin = a[0]->offset[0];
    eg_status status = EG_OK;
    const eg_argument leave[] = {
        EG_BUFFER_AT("au", a[0]->data, begin),
        EG_BUFFER_AT("av", a[1]->data, begin),
        EG_BUFFER_AT("u", w[0]->data, begin),
        EG_BUFFER_AT("v", w[1]->data, begin),
        EG_BUFFER("order", s->first),
        EG_BUFFER("homes", s->homes),
        EG_BUFFER("geometry", g->volume_factors),
        EG_BUFFER("own_node", o->trace.own.node),
        EG_BUFFER("kept", o->kept),
        EG_BUFFER("strip", o->strip),
    };
    const eg_argument pick_up[] = {
        EG_BUFFER_AT("au", a[0]->data, begin),
        EG_BUFFER_AT("av", a[1]->data, begin),
        EG_BUFFER_AT("u", w[0]->data, begin),
        EG_BUFFER_AT("v", w[1]->data, begin),
        EG_BUFFER("order", s->second),
        EG_BUFFER("soon", s->soon),
        EG_BUFFER("homes", s->homes),
        EG_BUFFER("kept", o->kept),
        EG_BUFFER("strip", o->strip),
        EG_BUFFER("next", s->next),
        EG_BUFFER("bounded", s->bounded),
        EG_BUFFER("beyond", o->faces->beyond),
        EG_BUFFER("geometry", g->volume_factors),
        EG_BUFFER("faces", g->face_factors),
        EG_BUFFER("kinds", o->faces->kinds),
        EG_BUFFER("given", eg_ins_data_values(given)),
        EG_BUFFER("carried", inflow->values),
        EG_BUFFER("slope", inflow->slopes),
        EG_REAL("since", inflow->since),
        EG_REAL("damping", o->options.backflow),
        EG_BUFFER("own_node", o->trace.own.node),
        EG_BUFFER("pairs", m->node_pairs),
        EG_BUFFER("interp", m->part_interp),
        EG_OPERATOR("even", m->even_lift),
        EG_OPERATOR("odd", m->odd_lift),
        EG_BUFFER_AT("nu", out[0]->data, begin),
        EG_BUFFER_AT("nv", out[1]->data, begin),
    };
    const eg_call passes[] = {{o->leave[kind], g->own_tiles, leave, EG_COUNT(leave)},
                              {o->surface[kind], g->own_tiles, pick_up, EG_COUNT(pick_up)}};
    EG_TRY(eg_strips_launch_interior(s, passes));
    EG_TRY(eg_strips_launch_rest(g, passes));
done:
    return status;
}

static eg_status launch_surface(eg_ins_operator *o, int kind, eg_field *const a[2],
                                const eg_ins_data *given, eg_field *const w[2],
                                const eg_ins_inflow *inflow, eg_field *const out[2])
{
    return o->by_faces ? launch_faces(o, kind, a, given, w, inflow, NULL, out)
                       : launch_strips(o, kind, a, given, w, inflow, out);
}

eg_status eg_ins_advect(eg_ins_operator *o, eg_field *const w[2], const eg_ins_data *given,
                        eg_field *const out[2])
{
    eg_buffer *values = eg_ins_data_values(given);
    const eg_ins_inflow inflow = {values, values, 0};
    eg_status status = EG_OK;
    for (int c = 0; c < 2; c++)
        EG_TRY(fill_ghosts(o, w[c]));
    EG_TRY(launch_volume(o, BY_ITSELF, w, w, out));
    EG_TRY(launch_surface(o, BY_ITSELF, w, given, w, &inflow, out));
done:
    return status;
}

eg_status eg_ins_carry(eg_ins_operator *o, eg_field *const a[2], const eg_ins_data *given,
                       eg_field *const w[2], const eg_ins_inflow *inflow, eg_field *const out[2])
{
    eg_status status = EG_OK;
    EG_TRY(eg_ins_carry_inside(o, a, w, out));
    EG_TRY(eg_ins_carry_faces(o, a, given, w, inflow, out));
done:
    return status;
}

eg_status eg_ins_carry_inside(eg_ins_operator *o, eg_field *const a[2], eg_field *const w[2],
                              eg_field *const out[2])
{
    return launch_volume(o, BY_ANOTHER, a, w, out);
}

eg_status eg_ins_carry_faces(eg_ins_operator *o, eg_field *const a[2], const eg_ins_data *given,
                             eg_field *const w[2], const eg_ins_inflow *inflow,
                             eg_field *const out[2])
{
    eg_status status = EG_OK;
    EG_TRY(fill_all_ghosts(o, a, w));
    EG_TRY(launch_surface(o, BY_ANOTHER, a, given, w, inflow, out));
done:
    return status;
}

bool eg_ins_has_stages(const eg_ins_operator *o)
{
    return o->stage != NULL;
}

eg_status eg_ins_carry_stage(eg_ins_operator *o, eg_field *const a[2], const eg_ins_data *given,
                             eg_field *const w[2], const eg_ins_inflow *inflow,
                             const eg_ins_stage *stage, eg_field *const out[2])
{
    eg_status status = EG_OK;
    EG_TRY(eg_ins_carry_inside(o, a, w, out));
    EG_TRY(fill_all_ghosts(o, a, w));
    EG_TRY(launch_faces(o, BY_ANOTHER, a, given, w, inflow, stage, out));
done:
    return status;
}

void eg_ins_points(const eg_ins_operator *o, int *inner, int *face)
{
    *inner = o->matrices.inner;
    *face = o->matrices.face;
}

eg_status eg_ins_find_inflow(eg_ins_operator *o, eg_field *const w[2], const eg_ins_data *given,
                             double dt, eg_buffer *values, eg_buffer *steep)
{
    const eg_group *g = &o->space->groups[0];
    if (o->faces->count == 0) return EG_OK;
    return eg_launch(
        o->inflow, o->faces->tiles, EG_BUFFER("u", w[0]->data), EG_BUFFER("v", w[1]->data),
        EG_INTEGER("begin", (int64_t)w[0]->offset[0]), EG_BUFFER("slots", o->faces->slots),
        EG_BUFFER("sides", o->faces->sides), EG_BUFFER("kinds", o->faces->kinds),
        EG_BUFFER("given", eg_ins_data_values(given)), EG_BUFFER("geometry", g->volume_factors),
        EG_BUFFER("faces", g->face_factors), EG_BUFFER("own_node", o->trace.own.node),
        EG_OPERATOR("slopes", o->matrices.slopes), EG_REAL("dt", dt), EG_REAL("most", MOST_PASSED),
        EG_BUFFER("values", values), EG_BUFFER("steep", steep));
}

eg_status eg_ins_gradient(eg_ins_operator *o, eg_field *p, const eg_ins_data *given, double keep,
                          double scale, eg_field *const out[2])
{
    const eg_group *g = &o->space->groups[0];
    const size_t begin = p->offset[0];
    eg_status status = EG_OK;
    EG_TRY(fill_ghosts(o, p));
    EG_TRY(eg_launch(
        o->gradient, g->own_tiles, EG_BUFFER("p", p->data), EG_INTEGER("begin", (int64_t)begin),
        EG_BUFFER("beyond", o->faces->beyond), EG_BUFFER("neighbour_face", g->neighbour_face),
        EG_BUFFER("geometry", g->volume_factors), EG_BUFFER("faces", g->face_factors),
        EG_BUFFER("kinds", o->faces->kinds), EG_BUFFER("given", eg_ins_data_values(given)),
        EG_BUFFER("own_node", o->trace.own.node), EG_BUFFER("other_node", o->trace.other.node),
        EG_OPERATOR("slopes", o->matrices.slopes), EG_OPERATOR("lift", o->matrices.lift),
        EG_REAL("keep", keep), EG_REAL("scale", scale), EG_BUFFER_AT("gx", out[0]->data, begin),
        EG_BUFFER_AT("gy", out[1]->data, begin)));
done:
    return status;
}

static eg_status launch_divergence(eg_ins_operator *o, eg_kernel *kernel, eg_field *const w[2],
                                   const eg_ins_data *given, eg_field *d)
{
    const eg_group *g = &o->space->groups[0];
    const size_t begin = d->offset[0];
    eg_status status = EG_OK;
    for (int c = 0; c < 2; c++)
        EG_TRY(fill_ghosts(o, w[c]));
    EG_TRY(eg_launch(
        kernel, g->own_tiles, EG_BUFFER("u", w[0]->data), EG_BUFFER("v", w[1]->data),
        EG_INTEGER("begin", (int64_t)begin), EG_BUFFER("beyond", o->faces->beyond),
        EG_BUFFER("neighbour_face", g->neighbour_face), EG_BUFFER("geometry", g->volume_factors),
        EG_BUFFER("faces", g->face_factors), EG_BUFFER("kinds", o->faces->kinds),
        EG_BUFFER("given", eg_ins_data_values(given)), EG_BUFFER("own_node", o->trace.own.node),
        EG_BUFFER("other_node", o->trace.other.node), EG_OPERATOR("sum", o->matrices.divergence),
        EG_BUFFER_AT("d", d->data, begin)));
done:
    return status;
}

eg_status eg_ins_divergence(eg_ins_operator *o, eg_field *const w[2], const eg_ins_data *given,
                            eg_field *d)
{
    return launch_divergence(o, o->divergence, w, given, d);
}

eg_status eg_ins_vorticity(eg_ins_operator *o, eg_field *const w[2], const eg_ins_data *given,
                           eg_field *d)
{
    return launch_divergence(o, o->curl, w, given, d);
}

eg_status eg_ins_make_load(eg_ins_operator *o, const eg_ins_load *l, eg_buffer *b)
{
    const eg_group *g = &o->space->groups[0];
    const size_t begin = l->f->offset[0];
    return eg_launch(o->load, g->own_tiles, EG_BUFFER_AT("f", l->f->data, begin),
                     EG_REAL("scale", l->scale), EG_BUFFER("beyond", o->faces->beyond),
                     EG_BUFFER("geometry", g->volume_factors), EG_BUFFER("faces", g->face_factors),
                     EG_BUFFER("types", l->types), EG_BUFFER("fixed", eg_ins_data_values(l->fixed)),
                     EG_INTEGER("fixed_rows", eg_ins_data_rows(l->fixed)),
                     EG_INTEGER("fixed_first", l->fixed_component * o->faces->nodes),
                     EG_BUFFER("flux", eg_ins_data_values(l->flux)),
                     EG_INTEGER("flux_rows", eg_ins_data_rows(l->flux)),
                     EG_INTEGER("flux_first", l->flux_component * o->faces->nodes),
                     EG_REAL("flux_scale", l->flux_scale), EG_REAL("tau", l->tau),
                     EG_OPERATOR("sum", o->matrices.load), EG_BUFFER_AT("b", b, begin));
}
