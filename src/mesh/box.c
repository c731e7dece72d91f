/* Boxes of triangles, quadrilaterals, tetrahedra or hexahedra.
 *
 * Cells are numbered with x fastest. A square is cut from its low corner to its high corner; a cube
 * into the six tetrahedra of Kuhn [kuhn1960], one for each way from the low to the high corner
 * along the axes, so that neighbouring cells, and the two ends of a periodic box, cut their faces
 * alike. */
#include "mesh/box.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* A cell's elements by its corners; bit d of a corner: at the high end along axis d. */
typedef struct cutting {
    int elements;
    uint8_t corner[6][EG_MAX_VERTICES];
} cutting;

static const cutting cuttings[EG_SHAPE_COUNT] = {
    [EG_SHAPE_TRI] = {2, {{0, 1, 3}, {0, 3, 2}}},
    [EG_SHAPE_QUAD] = {1, {{0, 1, 3, 2}}},
    [EG_SHAPE_TET] =
        {6, {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 3, 2, 7}, {0, 5, 1, 7}, {0, 6, 4, 7}}},
    [EG_SHAPE_HEX] = {1, {{0, 1, 3, 2, 4, 5, 7, 6}}},
};

static const char *const boundary_names[6] = {"left", "right", "bottom", "top", "back", "front"};

/* --- options ---------------------------------------------------------------------------------- */

EG_PRINTF(4, 5)
static bool refuse(eg_box_error *error, const char *member, int direction, const char *format, ...)
{
    error->member = member;
    error->direction = direction;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

/* Cells grow by the same factor from each to the next. */
static double line_at(double low, double high, double grading, int cells, int i)
{
    if (i == cells) return high;
    if (grading == 1.0 || cells == 1) return low + (high - low) * i / cells;
    double rate = log(grading) / (cells - 1);
    return low + (high - low) * expm1(i * rate) / expm1(cells * rate);
}

static bool resolve_axis(eg_box_options *o, int d, eg_box_error *error)
{
    if (o->cells[d] < 1)
        return refuse(error, "cells", d, "there must be at least one cell along each axis, not %d",
                      o->cells[d]);
    if (o->low[d] == 0.0 && o->high[d] == 0.0) o->high[d] = 1.0;
    if (!(o->low[d] < o->high[d]) || !isfinite(o->high[d] - o->low[d]))
        return refuse(error, "high", d, "the box must end above its low end %g, not at %g",
                      o->low[d], o->high[d]);
    if (o->grading[d] == 0.0) o->grading[d] = 1.0;
    if (!(o->grading[d] > 0.0) || !isfinite(o->grading[d]))
        return refuse(error, "grading", d,
                      "the size of the last cell over that of the first must be positive, not %g",
                      o->grading[d]);

    /* The smallest cell is the first or the last. */
    double low = o->low[d], high = o->high[d];
    int n = o->cells[d];
    double least = fmin(line_at(low, high, o->grading[d], n, 1) - low,
                        high - line_at(low, high, o->grading[d], n, n - 1));
    if (!(least > 64.0 * DBL_EPSILON * fmax(fabs(low), fabs(high))))
        return refuse(error, o->grading[d] == 1.0 ? "cells" : "grading", d,
                      "%d cells from %g to %g with grading %g leave one no width", n, low, high,
                      o->grading[d]);
    return true;
}

/* How large a straight box is. */
static eg_mesh box_sizes(eg_context *ctx, const eg_box_options *o)
{
    const eg_shape_info *info = eg_shape_get_info(o->shape);
    eg_mesh sizes = {.ctx = ctx,
                     .dim = info->dim,
                     .vertex_count = 1,
                     .element_count = cuttings[o->shape].elements,
                     .vertex_stride = info->vertices,
                     .face_stride = info->faces,
                     .order = 1,
                     .node_stride = info->vertices};
    for (int d = 0; d < info->dim; d++) {
        sizes.vertex_count *= o->cells[d] + 1;
        sizes.element_count *= o->cells[d];
    }
    sizes.interior_count = sizes.element_count;
    sizes.global_count = sizes.element_count;
    return sizes;
}

double eg_box_bytes(const eg_box_options *resolved)
{
    const eg_box_options *o = resolved;
    eg_mesh sizes = box_sizes(NULL, o);
    size_t slots = (size_t)sizes.element_count * (size_t)sizes.face_stride;
    size_t connect = eg_mesh_bytes(&sizes) + slots * sizeof(int32_t) + /* face_boundary */
                     eg_mesh_connect_bytes(&sizes, eg_shape_get_info(o->shape)->face_vertices);
    sizes.order = o->order;
    sizes.node_stride = eg_mode_count(o->shape, o->order);
    size_t curve = eg_mesh_bytes(&sizes);
    if (o->map) curve += (size_t)(sizes.vertex_count * sizes.dim) * sizeof *sizes.x;
    return (double)(connect > curve ? connect : curve);
}

bool eg_box_fits(const eg_box_options *resolved, double memory, eg_box_error *error)
{
    double bytes = eg_box_bytes(resolved);
    if (bytes <= memory) return true;
    return refuse(error, "cells", -1,
                  "%d elements take %.3g GB of memory to be made, and this machine has %.3g GB; "
                  "use fewer cells",
                  box_sizes(NULL, resolved).element_count, 1e-9 * bytes, 1e-9 * memory);
}

bool eg_box_resolve(const eg_box_options *options, eg_box_options *resolved, eg_box_error *error)
{
    eg_box_options *o = resolved;
    *o = *options;
    if ((unsigned)o->shape >= EG_SHAPE_COUNT || o->shape == EG_SHAPE_LINE)
        return refuse(error, "shape", -1,
                      "a box is made of triangles, quadrilaterals, tetrahedra or hexahedra");
    const eg_shape_info *info = eg_shape_get_info(o->shape);
    double elements = cuttings[o->shape].elements, vertices = 1.0;
    for (int d = 0; d < info->dim; d++) {
        if (!resolve_axis(o, d, error)) return false;
        elements *= o->cells[d];
        vertices *= o->cells[d] + 1.0;
    }
    if (elements * info->faces > INT32_MAX || vertices >= INT32_MAX)
        return refuse(error, "cells", -1,
                      "%.4g elements with %d faces each are more than one process can number: it "
                      "may have %d faces; use fewer cells",
                      elements, info->faces, INT32_MAX);
    if (!(o->perturb >= 0.0 && o->perturb < 0.5))
        return refuse(error, "perturb", -1,
                      "vertices can be moved by 0 up to less than 0.5 of a cell, not %g",
                      o->perturb);
    int most = eg_mesh_order_max(o->shape);
    if (o->order == 0) o->order = 1;
    if (o->order < 1 || o->order > most)
        return refuse(error, "order", -1, "the mapping of a %s has degree 1 to %d, not %d",
                      info->name, most, o->order);
    return eg_box_fits(o, eg_mesh_physical_memory(), error);
}

/* --- vertices --------------------------------------------------------------------------------- */

void eg_lattice_index(const eg_lattice *lattice, int64_t vertex, int index[3])
{
    int64_t row = lattice->cells[0] + 1, column = lattice->cells[1] + 1;
    index[0] = (int)(vertex % row);
    index[1] = (int)(vertex / row % column);
    index[2] = (int)(vertex / row / column);
}

static void lattice_free(eg_lattice *lattice)
{
    for (int d = 0; d < lattice->dim; d++)
        eg_release(lattice->ctx, &lattice->line[d]);
}

static eg_status lattice_create(eg_context *ctx, const eg_box_options *o, int dim,
                                eg_lattice *lattice)
{
    eg_status status = EG_OK;
    *lattice = (eg_lattice){.ctx = ctx, .dim = dim};
    for (int d = 0; d < dim; d++) {
        int n = lattice->cells[d] = o->cells[d];
        EG_TRY(eg_new(ctx, (size_t)n + 1, &lattice->line[d]));
        double *x = lattice->line[d];
        for (int i = 0; i <= n; i++)
            x[i] = line_at(o->low[d], o->high[d], o->grading[d], n, i);
    }
done:
    return status;
}

/* --- elements --------------------------------------------------------------------------------- */

/* Which of the six boundaries a face lies on, -1 if none. */
static int boundary_of(const eg_lattice *lattice, const eg_shape_info *info, const int32_t *v,
                       int face)
{
    for (int b = 0; b < 2 * lattice->dim; b++) {
        int d = b / 2, end = b % 2 ? lattice->cells[d] : 0;
        bool on = true;
        for (int i = 0; i < info->face_vertices; i++) {
            int index[3];
            eg_lattice_index(lattice, v[info->face[face][i]], index);
            on = on && index[d] == end;
        }
        if (on) return b;
    }
    return -1;
}

/* Fills the elements of the cell at `at`, the first of which is `element`. */
static void fill_cell(eg_mesh *mesh, const eg_lattice *lattice, eg_shape shape, const int at[3],
                      int32_t element, int32_t *face_boundary)
{
    const cutting *cut = &cuttings[shape];
    const eg_shape_info *info = eg_shape_get_info(shape);
    int32_t row = lattice->cells[0] + 1, layer = row * (lattice->cells[1] + 1);
    int32_t low = at[0] + row * at[1] + layer * at[2];
    bool outer = false;
    for (int d = 0; d < lattice->dim; d++)
        outer = outer || at[d] == 0 || at[d] == lattice->cells[d] - 1;
    for (int k = 0; k < cut->elements; k++) {
        int32_t e = element + k, *v = &mesh->vertices[(int64_t)e * mesh->vertex_stride];
        mesh->shape[e] = (uint8_t)shape;
        mesh->global[e] = e;
        for (int i = 0; i < info->vertices; i++) {
            int corner = cut->corner[k][i];
            v[i] = low + (corner & 1) + (corner >> 1 & 1) * row + (corner >> 2 & 1) * layer;
        }
        if (!outer) continue;
        for (int f = 0; f < info->faces; f++)
            face_boundary[(int64_t)e * mesh->face_stride + f] = boundary_of(lattice, info, v, f);
    }
}

/* A straight mesh, connected, in the order of cells. */
static eg_status build(const eg_lattice *lattice, const eg_box_options *o, eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_context *ctx = lattice->ctx;
    const eg_shape_info *info = eg_shape_get_info(o->shape);
    eg_mesh *mesh = NULL;
    int32_t *face_boundary = NULL;
    int dim = lattice->dim, layers = dim == 3 ? o->cells[2] : 1;
    eg_mesh sizes = box_sizes(ctx, o);
    EG_TRY(eg_mesh_allocate(&sizes, &mesh));
    EG_TRY(eg_new(ctx, (size_t)sizes.element_count * (size_t)info->faces, &face_boundary));
    EG_TRY(eg_mesh_copy_boundaries(mesh, 2 * dim, boundary_names));

    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        int index[3] = {0};
        eg_lattice_index(lattice, v, index);
        for (int d = 0; d < dim; d++)
            mesh->x[v * dim + d] = lattice->line[d][index[d]];
    }
    int32_t element = 0;
    int at[3];
    for (at[2] = 0; at[2] < layers; at[2]++) {
        for (at[1] = 0; at[1] < o->cells[1]; at[1]++) {
            for (at[0] = 0; at[0] < o->cells[0]; at[0]++) {
                fill_cell(mesh, lattice, o->shape, at, element, face_boundary);
                element += cuttings[o->shape].elements;
            }
        }
    }
    EG_TRY(eg_mesh_connect(mesh, face_boundary));
    *out = mesh;
    mesh = NULL;
done:
    eg_release(ctx, &face_boundary);
    eg_mesh_destroy(&mesh);
    return status;
}

static eg_status join_periodic(eg_mesh *mesh, const eg_box_options *o)
{
    eg_status status = EG_OK;
    for (int d = 0; d < mesh->dim; d++) {
        double shift[3] = {0};
        shift[d] = o->high[d] - o->low[d];
        if (o->periodic[d]) EG_TRY(eg_mesh_join_periodic(mesh, 2 * d, 2 * d + 1, shift));
    }
    EG_TRY(eg_mesh_drop_empty_boundaries(mesh));
done:
    return status;
}

/* --- the map of a periodic box ---------------------------------------------------------------- */

/* Faces that a map takes to its periodic partners must stay a constant shift apart. */
typedef struct period {
    const eg_box_options *options;
    eg_mesh *mesh; /* still straight */
    int d;
    bool known;
    double shift[3]; /* of the first point */
} period;

#define SHIFT_TOLERANCE 1e-10

static eg_status check_shift(period *p, const double *X)
{
    eg_status status = EG_OK;
    const eg_box_options *o = p->options;
    int dim = p->mesh->dim;
    double both[2][3], x[2][3], scale = 0.0, worst = 0.0;
    for (int d = 0; d < dim; d++)
        both[0][d] = both[1][d] = X[d];
    both[1][p->d] = o->high[p->d];
    for (int k = 0; k < 2; k++)
        EG_TRY(o->map(o->map_user, 1, both[k], x[k]));
    for (int d = 0; d < dim; d++) {
        double shift = x[1][d] - x[0][d];
        if (!p->known) p->shift[d] = shift;
        scale = fmax(scale, fmax(fabs(p->shift[d]), fmax(fabs(x[0][d]), fabs(x[1][d]))));
        worst = fmax(worst, fabs(shift - p->shift[d]));
    }
    p->known = true;
    if (worst > SHIFT_TOLERANCE * scale) {
        char place[EG_PLACE_BYTES];
        EG_TRY(
            eg_fail(p->mesh->ctx, EG_ERROR_INPUT,
                    "the map breaks the period along %c: the point %s of the box and its partner "
                    "are not as far apart as others are, by %.3g; periodic sides may differ by a "
                    "constant shift only",
                    "xyz"[p->d], eg_mesh_place(dim, X, place), worst));
    }
done:
    return status;
}

/* Looks at the nodes of all faces at the low end. */
static eg_status check_period(period *p, const eg_straight *straight, double *nodes)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = p->mesh;
    double low = p->options->low[p->d], length = p->options->high[p->d] - low;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *v = &mesh->vertices[(int64_t)e * mesh->vertex_stride];
        bool touches = false;
        for (int i = 0; i < straight->vertices; i++)
            touches = touches || mesh->x[(int64_t)v[i] * mesh->dim + p->d] == low;
        if (!touches) continue;
        eg_straight_nodes(straight, mesh, e, nodes);
        for (int i = 0; i < straight->np; i++) {
            double *X = &nodes[i * mesh->dim];
            if (fabs(X[p->d] - low) > 1e-13 * length + 8.0 * DBL_EPSILON * fabs(low)) continue;
            X[p->d] = low;
            EG_TRY(check_shift(p, X));
        }
    }
done:
    return status;
}

static eg_status check_periods(eg_mesh *mesh, const eg_box_options *o)
{
    eg_status status = EG_OK;
    eg_straight straight = {0};
    double *nodes = NULL;
    EG_TRY(eg_straight_create(mesh->ctx, o->shape, o->order, &straight));
    EG_TRY(eg_new(mesh->ctx, (size_t)straight.np * (size_t)mesh->dim, &nodes));
    for (int d = 0; d < mesh->dim; d++) {
        period p = {.options = o, .mesh = mesh, .d = d};
        if (o->periodic[d]) EG_TRY(check_period(&p, &straight, nodes));
    }
done:
    eg_release(mesh->ctx, &nodes);
    eg_straight_destroy(&straight);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

eg_status eg_mesh_create_box(eg_context *ctx, const eg_box_options *options, eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_box_options o;
    eg_box_error error;
    eg_lattice lattice = {0};
    eg_mesh *mesh = NULL;
    *out = NULL;
    if (!eg_box_resolve(options, &o, &error))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s of a box: %s", error.member, error.message);
    EG_TRY(lattice_create(ctx, &o, eg_shape_get_info(o.shape)->dim, &lattice));
    EG_TRY(build(&lattice, &o, &mesh));
    if (o.perturb > 0.0) EG_TRY(eg_box_perturb(mesh, &lattice, o.perturb, o.seed));
    EG_TRY(join_periodic(mesh, &o));
    EG_TRY(eg_mesh_order(mesh));
    /* Without a map the nodes of any degree lie in straight elements. */
    EG_TRY(o.map ? check_periods(mesh, &o) : eg_mesh_check_mappings(mesh));
    EG_TRY(eg_mesh_curve(mesh, o.order, o.map, o.map_user));
    if (o.map) EG_TRY(eg_mesh_check_mappings(mesh));
    *out = mesh;
    mesh = NULL;
done:
    eg_mesh_destroy(&mesh);
    lattice_free(&lattice);
    return status;
}
