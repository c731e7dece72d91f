/* The operator of model `elliptic`: what its kernels need, and their launches. Interior tiles
 * run while the halo of u is under way; Q of ghosts is computed from their values. */
#include "model/elliptic/parts.h"

#include <string.h>

/* --- creation --------------------------------------------------------------------------------- */

/* Whether all elements are alike, and affine triangles. */
static eg_status look_at_groups(eg_elliptic *a, bool *triangles)
{
    const eg_space *space = a->space;
    *triangles = true;
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i], *one = &space->groups[0];
        if (g->shape != one->shape || g->degree != one->degree || g->lanes != one->lanes)
            return eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                           "elements of an elliptic problem have one shape and one degree");
        *triangles = *triangles && g->shape == EG_SHAPE_TRI && !g->curved;
    }
    if (space->group_count == 0 || space->basis != EG_BASIS_LOBATTO || space->groups[0].degree < 1)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                       "an elliptic problem needs elements of degree 1 or more with Lobatto nodes");
    a->element = space->groups[0].element;
    return EG_OK;
}

static bool has_robin(const eg_elliptic *a)
{
    bool robin = false;
    for (int b = 0; b < a->space->mesh->boundary_count; b++)
        robin = robin || a->types[b] == EG_ELLIPTIC_ROBIN;
    return robin;
}

/* What the options say, the same on all ranks. */
static eg_status take_options(eg_elliptic *a, const eg_elliptic_options *options)
{
    const eg_mesh *mesh = a->space->mesh;
    const size_t count = (size_t)mesh->boundary_count;
    int32_t types[256] = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->space->ctx, count + 1, &a->types));
    if (count >= EG_COUNT(types))
        return eg_fail(a->space->ctx, EG_ERROR_ARGUMENT, "a mesh with %zu boundaries or more",
                       EG_COUNT(types));
    EG_TRY(eg_new(a->space->ctx, count + 1, &a->robin));
    if (options->types) memcpy(a->types, options->types, count * sizeof *a->types);
    if (options->robin) memcpy(a->robin, options->robin, count * sizeof *a->robin);
    a->singular = options->lambda == 0;
    for (size_t b = 0; b < count; b++) {
        types[b] = (int32_t)a->types[b];
        a->singular = a->singular && a->types[b] == EG_ELLIPTIC_NEUMANN;
    }
    EG_TRY(eg_space_upload(a->space, EG_I32, count + 1, types, &a->types_there));
    a->options = *options;
    a->options.types = a->types;
    a->options.robin = a->robin;
    if (a->options.penalty == 0) a->options.penalty = 1;
    a->mass = options->lambda != 0;
    a->k = options->k ? eg_expression_evaluate(options->k, (double[EG_VARIABLE_COUNT]){0}) : 1;
done:
    return status;
}

/* All but the parts of groups. */
static eg_status make_shared(eg_elliptic *a)
{
    const eg_space *space = a->space;
    const eg_element *e = a->element;
    const eg_shape_info *info = eg_shape_get_info(e->shape);
    eg_status status = EG_OK;
    a->dim = e->dim;
    a->faces = e->faces;
    a->ways = eg_orientation_count(info->face_shape);
    EG_TRY(eg_elliptic_rules_create(space->mesh, e, &a->rules));
    EG_TRY(eg_trace_create(space->device, e, e, &a->trace));
    /* Of degree 1 Q is constant on a face, which affine_chain.k.c knows. */
    a->face_points = a->form == EG_ELLIPTIC_CHAINS && e->degree == 1 ? 1
                     : a->affine                                     ? e->face_np
                                                                     : a->rules.face->count;
    EG_TRY(a->form == EG_ELLIPTIC_MIRRORED ? eg_elliptic_make_mirrored_matrices(a)
           : a->form == EG_ELLIPTIC_CHAINS ? eg_elliptic_make_chain_matrices(a)
           : a->affine                     ? eg_elliptic_make_affine_matrices(a)
                                           : eg_elliptic_make_matrices(a));
    if (a->form == EG_ELLIPTIC_TILES)
        EG_TRY(eg_elliptic_make_strips(a));
    else
        EG_TRY(eg_buffer_create(space->device, a->real,
                                (size_t)(space->slot_count * a->faces * a->face_points), &a->flux));
done:
    return status;
}

static eg_status compile(eg_elliptic *a, int group)
{
    static const eg_elliptic_kernel_file files[] = {
        [EG_ELLIPTIC_QUADRATURE] = EG_ELLIPTIC_GENERAL,
        [EG_ELLIPTIC_TILES] = EG_ELLIPTIC_AFFINE,
        [EG_ELLIPTIC_CHAINS] = EG_ELLIPTIC_AFFINE_CHAIN,
        [EG_ELLIPTIC_MIRRORED] = EG_ELLIPTIC_AFFINE_MIRROR,
    };
    const eg_elliptic_kernel_file file = files[a->form];
    eg_elliptic_part *p = &a->parts[group];
    const char *first = a->form == EG_ELLIPTIC_TILES ? "strips" : a->affine ? "slopes" : "fluxes";
    eg_status status = EG_OK;
    EG_TRY(eg_elliptic_kernel(a, group, file, first, 1, &p->flux));
    EG_TRY(eg_elliptic_kernel(a, group, file, "apply", 1, &p->apply));
done:
    return status;
}

/* What is this rank's own affair, once it is known whether all elements are affine triangles. */
static eg_status create_own(eg_elliptic *a)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->space->ctx, (size_t)a->space->group_count, &a->parts));
    EG_TRY(make_shared(a));
    EG_TRY(a->affine ? eg_elliptic_make_affine_factors(a) : eg_elliptic_make_factors(a));
    for (int group = 0; group < a->space->group_count; group++)
        EG_TRY(compile(a, group));
done:
    return status;
}

/* Of affine triangles. Even and odd parts pay where products take long: from this degree on, as measured on an
 * H200 in double precision. */
static eg_elliptic_form fastest_form(const eg_elliptic *a)
{
    enum { MIRRORED_FROM = 6 };
    const eg_space *space = a->space;
    if (!eg_device_get_info(space->device)->is_gpu || space->groups[0].lanes % EG_CHAIN_LANES != 0)
        return EG_ELLIPTIC_TILES;
    return a->real == EG_F64 && a->element->degree >= MIRRORED_FROM ? EG_ELLIPTIC_MIRRORED
                                                                    : EG_ELLIPTIC_CHAINS;
}

eg_status eg_elliptic_create(eg_space *space, eg_type real, const eg_elliptic_options *options,
                             eg_elliptic **out)
{
    eg_elliptic *a = NULL;
    bool triangles = false;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &a));
    *a = (eg_elliptic){.space = space, .real = real};
    EG_TRY(eg_comm_agree(space->comm, look_at_groups(a, &triangles)));
    EG_TRY(eg_comm_agree(space->comm, take_options(a, options)));
    a->form = !triangles || has_robin(a) || (options->k && eg_expression_varies(options->k))
                  ? EG_ELLIPTIC_QUADRATURE
              : options->form ? options->form
                              : fastest_form(a);
    double general = a->form == EG_ELLIPTIC_QUADRATURE ||
                     (a->form == EG_ELLIPTIC_TILES && !eg_strips_fit(space));
    EG_TRY(eg_comm_max(space->comm, 1, &general));
    a->affine = general == 0;
    if (!a->affine) a->form = EG_ELLIPTIC_QUADRATURE;
    EG_TRY(eg_comm_agree(space->comm, create_own(a)));
    EG_TRY(eg_field_create(space, 1, real, &a->like));
    eg_buffer_destroy(&a->like->data);
    EG_TRY(eg_halo_create(space, 1, real, EG_HALO_ELEMENTS, &a->halo));
    *out = a;
    a = NULL;
done:
    eg_elliptic_destroy(&a);
    return status;
}

void eg_elliptic_destroy(eg_elliptic **handle)
{
    eg_elliptic *a = *handle;
    if (!a) return;
    eg_context *ctx = a->space->ctx;
    eg_halo_destroy(&a->halo);
    eg_field_destroy(&a->like);
    for (int i = 0; a->parts && i < a->space->group_count; i++) {
        eg_elliptic_part *p = &a->parts[i];
        eg_buffer_destroy(&p->share);
        eg_buffer_destroy(&p->penalty);
        eg_buffer_destroy(&p->volume);
        eg_buffer_destroy(&p->metric);
        eg_buffer_destroy(&p->factors);
        eg_kernel_destroy(&p->apply);
        eg_kernel_destroy(&p->flux);
    }
    eg_release(ctx, &a->parts);
    eg_buffer_destroy(&a->flux);
    eg_buffer_destroy(&a->image);
    eg_strips_destroy(ctx, &a->strips);
    eg_buffer_destroy(&a->at_node);
    eg_buffer_destroy(&a->pairs);
    eg_operator_destroy(&a->odd_sum);
    eg_operator_destroy(&a->odd_slopes);
    eg_operator_destroy(&a->sum);
    eg_operator_destroy(&a->interp);
    eg_operator_destroy(&a->inner);
    eg_operator_destroy(&a->slopes);
    eg_operator_destroy(&a->lines);
    eg_operator_destroy(&a->along);
    eg_buffer_destroy(&a->other_point);
    eg_buffer_destroy(&a->weights);
    eg_buffer_destroy(&a->types_there);
    eg_trace_free(&a->trace);
    eg_elliptic_rules_free(ctx, &a->rules);
    eg_release(ctx, &a->robin);
    eg_release(ctx, &a->types);
    eg_release(ctx, handle);
}

bool eg_elliptic_is_singular(const eg_elliptic *a)
{
    return a->singular;
}

eg_status eg_elliptic_lanes(const eg_device *device, const eg_mesh *mesh, int degree, int *lanes)
{
    eg_element *element = NULL;
    eg_elliptic_rules rules = {0};
    eg_status status = EG_OK;
    EG_TRY(
        eg_element_create(mesh->ctx, (eg_shape)mesh->shape[0], degree, EG_BASIS_LOBATTO, &element));
    EG_TRY(eg_elliptic_rules_create(mesh, element, &rules));
    *lanes = eg_device_fit_lanes(device, rules.columns);
done:
    eg_elliptic_rules_free(mesh->ctx, &rules);
    eg_element_destroy(&element);
    return status;
}

/* --- products --------------------------------------------------------------------------------- */

/* Where a group begins in `flux`. */
static size_t flux_before(const eg_elliptic *a, const eg_group *g)
{
    return (size_t)(g->first_slot * a->faces * a->face_points);
}

/* Q of tiles [from, to) of a group. */
static eg_status find_flux(eg_elliptic *a, int group, int64_t from, int64_t to, eg_buffer *u)
{
    const eg_group *g = &a->space->groups[group];
    const eg_elliptic_part *p = &a->parts[group];
    const eg_argument chain[] = {
        EG_BUFFER_AT("u", u, a->like->offset[group]),
        EG_BUFFER("factors", p->factors),
        EG_OPERATOR("derivatives", a->slopes),
        EG_BUFFER_AT("flux", a->flux, flux_before(a, g)),
    };
    const eg_argument mirrored[] = {
        EG_BUFFER_AT("u", u, a->like->offset[group]),
        EG_BUFFER("factors", p->factors),
        EG_BUFFER("pairs", a->pairs),
        EG_OPERATOR("derivatives", a->slopes),
        EG_OPERATOR("odd_derivatives", a->odd_slopes),
        EG_BUFFER_AT("flux", a->flux, flux_before(a, g)),
    };
    const eg_argument general[] = {
        EG_BUFFER_AT("u", u, a->like->offset[group]),
        EG_BUFFER("metric", p->metric),
        EG_OPERATOR("slopes", a->slopes),
        EG_BUFFER_AT("flux", a->flux, flux_before(a, g)),
    };
    if (from == to) return EG_OK;
    switch (a->form) {
    case EG_ELLIPTIC_MIRRORED:
        return eg_launch_tiles(p->flux, from, to - from, mirrored, EG_COUNT(mirrored));
    case EG_ELLIPTIC_CHAINS:
        return eg_launch_tiles(p->flux, from, to - from, chain, EG_COUNT(chain));
    default:
        return eg_launch_tiles(p->flux, from, to - from, general, EG_COUNT(general));
    }
}

/* y = A u on tiles [from, to) of a group, or b - A u if b is not NULL. */
static eg_status launch(eg_elliptic *a, int group, int64_t from, int64_t to, eg_buffer *b,
                        eg_buffer *u, eg_buffer *y)
{
    const eg_group *g = &a->space->groups[group];
    const eg_elliptic_part *p = &a->parts[group];
    const eg_argument chain[] = {
        EG_BUFFER("u", u),
        EG_INTEGER("begin", (int64_t)a->like->offset[group]),
        EG_BUFFER_AT("b", b ? b : u, a->like->offset[group]),
        EG_INTEGER("rest", b != NULL),
        EG_BUFFER("flux", a->flux),
        EG_BUFFER("neighbour", g->neighbour),
        EG_BUFFER("neighbour_face", g->neighbour_face),
        EG_BUFFER("factors", p->factors),
        EG_OPERATOR("sum", a->sum),
        EG_BUFFER_AT("y", y, a->like->offset[group]),
    };
    const eg_argument mirrored[] = {
        EG_BUFFER("u", u),
        EG_INTEGER("begin", (int64_t)a->like->offset[group]),
        EG_BUFFER_AT("b", b ? b : u, a->like->offset[group]),
        EG_INTEGER("rest", b != NULL),
        EG_BUFFER("flux", a->flux),
        EG_BUFFER("neighbour", g->neighbour),
        EG_BUFFER("neighbour_face", g->neighbour_face),
        EG_BUFFER("factors", p->factors),
        EG_BUFFER("pairs", a->pairs),
        EG_OPERATOR("even", a->sum),
        EG_OPERATOR("odd", a->odd_sum),
        EG_BUFFER_AT("y", y, a->like->offset[group]),
    };
    const eg_argument general[] = {
        EG_BUFFER("u", u),
        EG_INTEGER("begin", (int64_t)a->like->offset[group]),
        EG_BUFFER("layout", a->like->layout),
        EG_BUFFER("block_groups", a->space->block_groups),
        EG_BUFFER_AT("b", b ? b : u, a->like->offset[group]),
        EG_INTEGER("rest", b != NULL),
        EG_BUFFER("flux", a->flux),
        EG_INTEGER("flux_begin", (int64_t)flux_before(a, g)),
        EG_BUFFER("neighbour", g->neighbour),
        EG_BUFFER("neighbour_face", g->neighbour_face),
        EG_BUFFER("metric", p->metric),
        EG_BUFFER("volume", p->volume),
        EG_BUFFER("penalty", p->penalty),
        EG_BUFFER("share", p->share),
        EG_BUFFER("weights", a->weights),
        EG_BUFFER("own_node", a->trace.own.node),
        EG_BUFFER("other_node", a->trace.other.node),
        EG_BUFFER("other_point", a->other_point),
        EG_OPERATOR("inner", a->inner),
        EG_OPERATOR("interp", a->interp),
        EG_OPERATOR("sum", a->sum),
        EG_BUFFER_AT("y", y, a->like->offset[group]),
    };
    if (from == to) return EG_OK;
    switch (a->form) {
    case EG_ELLIPTIC_MIRRORED:
        return eg_launch_tiles(p->apply, from, to - from, mirrored, EG_COUNT(mirrored));
    case EG_ELLIPTIC_CHAINS:
        return eg_launch_tiles(p->apply, from, to - from, chain, EG_COUNT(chain));
    default:
        return eg_launch_tiles(p->apply, from, to - from, general, EG_COUNT(general));
    }
}

static eg_status multiply(eg_elliptic *a, eg_buffer *b, eg_buffer *u, eg_buffer *y)
{
    const eg_space *space = a->space;
    eg_field field = *a->like;
    eg_status status = EG_OK;
    if (a->form == EG_ELLIPTIC_TILES) return eg_elliptic_multiply_strips(a, b, u, y);
    field.data = u;
    EG_TRY(eg_halo_start(a->halo, &field));
    for (int i = 0; i < space->group_count; i++)
        EG_TRY(find_flux(a, i, 0, space->groups[i].own_tiles, u));
    for (int i = 0; i < space->group_count; i++)
        EG_TRY(launch(a, i, 0, space->groups[i].interior_tiles, b, u, y));
    EG_TRY(eg_halo_wait(a->halo, &field));
    for (int i = 0; i < space->group_count; i++)
        EG_TRY(find_flux(a, i, space->groups[i].own_tiles, space->groups[i].tiles, u));
    for (int i = 0; i < space->group_count; i++)
        EG_TRY(launch(a, i, space->groups[i].interior_tiles, space->groups[i].own_tiles, b, u, y));
done:
    return status;
}

eg_status eg_elliptic_apply(eg_elliptic *a, eg_buffer *u, eg_buffer *y)
{
    return multiply(a, NULL, u, y);
}

eg_status eg_elliptic_residual(eg_elliptic *a, eg_buffer *b, eg_buffer *u, eg_buffer *y)
{
    return multiply(a, b, u, y);
}
