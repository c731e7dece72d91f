/* The operator of model `advection`: which kernel serves a group, what it needs, its launches.
 *
 * Groups of affine elements with a velocity that does not vary in space, and no source, use `modal`
 * (advection.k.c), all others `points`. Interior tiles run while the halo of `current` is under way. */
#include "model/advection/operator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values of a byte of neighbour_face: entries of a row of `turns`. */
#define BYTES 64
/* Factors that differ by less than this, relative to the largest, differ by rounding of coordinates. */
#define UNIFORM_TOLERANCE 1e-12

/* As in advection.k.h. */
enum { KIND_OUTER = 1, KIND_MIXED = 2 };

/* What one group needs. */
typedef struct part {
    eg_kernel *kernel;
    bool modal;           /* served by `modal`, else by `points` */
    bool uniform;         /* affine, and ∂r/∂x is the same in all elements … */
    double factors[3][3]; /* … namely this: [d][e] ∂r_d/∂x_e */
    int most;             /* modes a side, the most among its elements and their neighbours */
    int kinds_present;    /* all bits of kinds together */
    eg_buffer *kinds;     /* i32 [own_tiles] */
    /* See advection.k.c. */
    eg_buffer *rule;         /* of `modal` */
    int points, face_points; /* of `points`: a side, in elements and on faces */
    eg_buffer *points_of, *face_rules;
    eg_operator *interp, *test, *slopes;
} part;

struct eg_advection {
    eg_space *space; /* not owned */
    int dim, components;
    const eg_expression *velocity[3]; /* the caller's */
    bool varies;                      /* the velocity does, in space */
    bool changes;                     /* … in time */
    bool low_storage, has_source;
    double stable_dt; /* once known, if the velocity does not change; 0: not yet */
    eg_halo *halo;
    eg_buffer *faces, *turns, *sides, *legendre;
    eg_buffer *no_register; /* stands for k where there is none */
    part *parts;            /* [group_count] */
};

/* --- tables --------------------------------------------------------------------------------------- */

/* The direction across a face of a tensor shape, and whether the face is at 1. */
static int face_direction(const eg_shape_info *info, int face, bool *high)
{
    int direction = 0;
    for (int d = 0; d < info->dim; d++) {
        const double end = info->r[info->face[face][0]][d];
        bool same = true;
        for (int i = 1; i < info->face_vertices; i++)
            same = same && info->r[info->face[face][i]][d] == end;
        if (!same) continue;
        direction = d;
        *high = end > 0;
    }
    return direction;
}

/* Where vertex `to` of a face lies from vertex `from`, if that is along one direction: *back says
 * whether downwards. Else -1. */
static int edge_direction(const eg_shape_info *info, int face, int from, int to, bool *back)
{
    int direction = -1, count = 0;
    for (int d = 0; d < info->dim; d++) {
        const double step = info->r[info->face[face][to]][d] - info->r[info->face[face][from]][d];
        if (step == 0) continue;
        direction = d;
        *back = step < 0;
        count++;
    }
    return count == 1 ? direction : -1;
}

/* How the neighbour behind my face is turned: TURN_… of advection.k.h. */
static int find_turn(const eg_shape_info *info, int face, int other_face, int orientation)
{
    const int n = info->face_vertices;
    bool high = false, mine_high = false;
    int turn = face_direction(info, other_face, &high), place = 0;
    if (!high) turn |= 1 << 6;
    const int across = face_direction(info, face, &mine_high);
    for (int d = 0; d < info->dim; d++) {
        if (d == across) continue;
        for (int i = 0; i < n; i++) {
            bool back = false, other_back = false;
            if (edge_direction(info, face, i, (i + 1) % n, &back) != d || back) continue;
            const int from = eg_orientation_vertex(n, orientation, i);
            const int to = eg_orientation_vertex(n, orientation, (i + 1) % n);
            const int other = edge_direction(info, other_face, from, to, &other_back);
            turn |= other << (2 + 2 * place) | (int)other_back << (7 + place);
            break;
        }
        place++;
    }
    return turn;
}

/* The turn of a neighbour that is not turned at all. */
static int straight_turn(const eg_shape_info *info, int face)
{
    bool high = false;
    const int across = face_direction(info, face, &high);
    int turn = across | (int)high << 6, place = 0;
    for (int d = 0; d < info->dim; d++)
        if (d != across) turn |= d << (2 + 2 * place++);
    return turn;
}

static eg_status upload(const eg_space *space, eg_type type, size_t count, const void *values,
                        eg_buffer **out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(space->device, type, count, out));
    EG_TRY(eg_buffer_upload(*out, 0, count, values));
done:
    return status;
}

static eg_status make_shared_tables(eg_advection *a, int turns[EG_MAX_FACES * BYTES])
{
    const eg_space *space = a->space;
    const eg_shape_info *info = eg_shape_get_info(a->dim == 3 ? EG_SHAPE_HEX : EG_SHAPE_QUAD);
    int32_t faces[6] = {0}, sides[UINT8_MAX + 1];
    double legendre[EG_DEGREE_MAX_QUAD + 1];
    eg_status status = EG_OK;
    for (int f = 0; f < info->faces; f++) {
        bool high = false;
        const int d = face_direction(info, f, &high);
        faces[2 * d + (int)high] = f;
        for (int byte = 0; byte < BYTES; byte++) {
            const bool real = EG_FACE(byte) < info->faces &&
                              EG_ORIENTATION(byte) < eg_orientation_count(info->face_shape);
            turns[f * BYTES + byte] =
                real ? find_turn(info, f, EG_FACE(byte), EG_ORIENTATION(byte)) : 0;
        }
    }
    for (int g = 0; g < space->group_count; g++)
        sides[g] = space->groups[g].degree + 1;
    for (int i = 0; i <= EG_DEGREE_MAX_QUAD; i++)
        legendre[i] = sqrt(2.0 * i + 1.0);
    EG_TRY(upload(space, EG_I32, EG_COUNT(faces), faces, &a->faces));
    EG_TRY(upload(space, EG_I32, (size_t)(info->faces * BYTES), turns, &a->turns));
    EG_TRY(upload(space, EG_I32, (size_t)space->group_count, sides, &a->sides));
    EG_TRY(upload(space, EG_F64, EG_COUNT(legendre), legendre, &a->legendre));
    EG_TRY(eg_buffer_create(space->device, EG_F64, EG_SLOT_BLOCK, &a->no_register));
done:
    return status;
}

/* Looks at the neighbours of a group's tiles: `kinds` and `most`. */
static eg_status classify_tiles(eg_advection *a, int group, const int *turns)
{
    const eg_space *space = a->space;
    const eg_mesh *mesh = space->mesh;
    const eg_group *g = &space->groups[group];
    const eg_shape_info *info = eg_shape_get_info(g->shape);
    part *p = &a->parts[group];
    int32_t *kinds = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)g->own_tiles + 1, &kinds));
    p->most = g->degree + 1;
    for (int64_t i = 0; i < g->own_tiles * g->lanes; i++) {
        const size_t element = (size_t)g->element_of_slot[i];
        for (int f = 0; f < info->faces; f++) {
            const size_t at = element * (size_t)mesh->face_stride + (size_t)f;
            int32_t *kind = &kinds[i / g->lanes];
            if (mesh->neighbour[at] < 0) {
                *kind |= KIND_OUTER;
                continue;
            }
            const int32_t slot = space->slot_of_element[mesh->neighbour[at]];
            const int other = space->group_of_block[slot / EG_SLOT_BLOCK];
            const int side = space->groups[other].degree + 1;
            if (other != group ||
                turns[f * BYTES + mesh->neighbour_face[at]] != straight_turn(info, f))
                *kind |= KIND_MIXED;
            if (side > p->most) p->most = side;
        }
        p->kinds_present |= kinds[i / g->lanes];
    }
    EG_TRY(upload(space, EG_I32, (size_t)g->own_tiles, kinds, &p->kinds));
done:
    eg_release(space->ctx, &kinds);
    return status;
}

/* Points of a line, then weight * p_j at each of them, [points][side]. */
static eg_status make_rule(eg_advection *a, int group, int points)
{
    const int side = a->space->groups[group].degree + 1;
    double x[EG_DEGREE_MAX_QUAD + 4], w[EG_DEGREE_MAX_QUAD + 4];
    double table[(EG_DEGREE_MAX_QUAD + 4) * (EG_DEGREE_MAX_QUAD + 2)];
    eg_status status = EG_OK;
    EG_TRY(eg_gauss_legendre(a->space->ctx, points, x, w));
    for (int q = 0; q < points; q++) {
        table[q] = x[q];
        for (int j = 0; j < side; j++)
            table[points + q * side + j] = w[q] * eg_jacobi(j, 0, 0, x[q]);
    }
    EG_TRY(upload(a->space, EG_F64, (size_t)(points * (side + 1)), table, &a->parts[group].rule));
done:
    return status;
}

/* Points a side for elements with so many modes: exact for b u on parallelograms, with a velocity
 * that is linear there; on other straight elements for a constant velocity. */
static int point_count(int side)
{
    return side + 1;
}

/* What `points` needs beside: the Gauss points, operators between them and the modes, and the rules of
 * faces, one for each degree from the own to the highest of a neighbour. */
static eg_status make_points(eg_advection *a, int group)
{
    eg_context *ctx = a->space->ctx;
    eg_device *device = a->space->device;
    part *p = &a->parts[group];
    const int m = a->space->groups[group].degree + 1, n = point_count(m);
    enum { MOST = EG_DEGREE_MAX_QUAD + 2 };
    double x[MOST], w[MOST], interp[MOST * MOST], test[MOST * MOST], slopes[MOST * MOST];
    double *rules = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_gauss_legendre(ctx, n, x, w));
    for (int q = 0; q < n; q++)
        for (int i = 0; i < m; i++) {
            interp[q * m + i] = eg_jacobi(i, 0, 0, x[q]);
            test[i * n + q] = w[q] * interp[q * m + i];
            slopes[i * n + q] = w[q] * eg_jacobi_derivative(i, 0, 0, x[q]);
        }
    EG_TRY(upload(a->space, EG_F64, (size_t)n, x, &p->points_of));
    EG_TRY(eg_operator_create(device, EG_F64, n, m, interp, &p->interp));
    EG_TRY(eg_operator_create(device, EG_F64, m, n, test, &p->test));
    EG_TRY(eg_operator_create(device, EG_F64, m, n, slopes, &p->slopes));
    p->points = n;
    p->face_points = point_count(p->most);
    const size_t row = (size_t)(2 + p->most), rule = (size_t)p->face_points * row;
    EG_TRY(eg_new(ctx, (size_t)(p->most - m + 1) * rule, &rules));
    for (int higher = m; higher <= p->most; higher++) {
        EG_TRY(eg_gauss_legendre(ctx, point_count(higher), x, w));
        for (int q = 0; q < point_count(higher); q++) {
            double *at = rules + (size_t)(higher - m) * rule + (size_t)q * row;
            at[0] = x[q];
            at[1] = w[q];
            for (int j = 0; j < p->most; j++)
                at[2 + j] = eg_jacobi(j, 0, 0, x[q]);
        }
    }
    EG_TRY(upload(a->space, EG_F64, (size_t)(p->most - m + 1) * rule, rules, &p->face_rules));
done:
    eg_release(ctx, &rules);
    return status;
}

/* --- geometry on the host ----------------------------------------------------------------------------- */

/* ∂r_d/∂x_e of a straight element at a point r [dim], and the place x [3] (z is 0 in the plane). */
static void find_factors(const eg_mesh *mesh, const double *nodes, const double *r,
                         double factors[3][3], double *x)
{
    const int dim = mesh->dim;
    double a[3][3] = {{0}}; /* [e][d] ∂x_e/∂r_d */
    x[0] = x[1] = x[2] = 0;
    for (int i = 0; i < 1 << dim; i++) {
        double share[3], all = 1;
        for (int d = 0; d < dim; d++) {
            share[d] = 0.5 * (i >> d & 1 ? 1 + r[d] : 1 - r[d]);
            all *= share[d];
        }
        for (int e = 0; e < dim; e++)
            x[e] += all * nodes[i * dim + e];
        for (int d = 0; d < dim; d++) {
            double slope = i >> d & 1 ? 0.5 : -0.5;
            for (int o = 0; o < dim; o++)
                if (o != d) slope *= share[o];
            for (int e = 0; e < dim; e++)
                a[e][d] += slope * nodes[i * dim + e];
        }
    }
    if (dim == 2) a[2][2] = 1;
    double det = 0;
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) {
            const int d1 = (d + 1) % 3, d2 = (d + 2) % 3, e1 = (e + 1) % 3, e2 = (e + 2) % 3;
            factors[d][e] = a[e1][d1] * a[e2][d2] - a[e1][d2] * a[e2][d1];
            if (d == 0) det += a[e][0] * factors[0][e];
        }
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++)
            factors[d][e] /= det;
}

/* Whether all elements of an affine group have the same factors. */
static void find_uniform(eg_advection *a, int group)
{
    const eg_group *g = &a->space->groups[group];
    part *p = &a->parts[group];
    double nodes[EG_MAX_VERTICES * 3], x[3], most = 0;
    const double centre[3] = {0, 0, 0};
    p->uniform = !g->curved && g->own_tiles > 0;
    for (int64_t i = 0; i < g->own_tiles * g->lanes && p->uniform; i++) {
        double factors[3][3];
        eg_mesh_element_nodes(a->space->mesh, g->element_of_slot[i], nodes);
        find_factors(a->space->mesh, nodes, centre, factors, x);
        if (i == 0) memcpy(p->factors, factors, sizeof factors);
        for (int k = 0; k < 9; k++) {
            const double one = p->factors[k / 3][k % 3];
            if (i == 0) most = fmax(most, fabs(one));
            if (fabs(factors[k / 3][k % 3] - one) > UNIFORM_TOLERANCE * most) p->uniform = false;
        }
    }
}

/* The velocity at a place; unused components are 0. */
static void velocity_at(const eg_advection *a, const double *x, double t, double *b)
{
    const double variables[EG_VARIABLE_COUNT] = {x[0], x[1], x[2], t};
    for (int d = 0; d < 3; d++)
        b[d] = d < a->dim ? eg_expression_evaluate(a->velocity[d], variables) : 0.0;
}

/* (2N + 1)/2 Σ_d |b·∇r_d| at a point of an element, whose corners are `nodes`. */
static double rate_at(const eg_advection *a, const double *nodes, const double *r, int degree,
                      double t)
{
    double factors[3][3], x[3], b[3], sum = 0;
    find_factors(a->space->mesh, nodes, r, factors, x);
    velocity_at(a, x, t, b);
    for (int d = 0; d < a->dim; d++)
        sum += fabs(factors[d][0] * b[0] + factors[d][1] * b[1] + factors[d][2] * b[2]);
    return sum * (2 * degree + 1) / 2;
}

eg_status eg_advection_stable_dt(eg_advection *a, double t, double *dt)
{
    const eg_mesh *mesh = a->space->mesh;
    double fastest = 0;
    eg_status status = EG_OK;
    *dt = a->stable_dt;
    if (a->stable_dt > 0) return EG_OK;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t slot = a->space->slot_of_element[e];
        const int degree = a->space->groups[a->space->group_of_block[slot / EG_SLOT_BLOCK]].degree;
        double nodes[EG_MAX_VERTICES * 3];
        const double centre[3] = {0, 0, 0};
        eg_mesh_element_nodes(mesh, e, nodes);
        fastest = fmax(fastest, rate_at(a, nodes, centre, degree, t));
        for (int i = 0; i < 1 << a->dim; i++) {
            const double corner[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
            fastest = fmax(fastest, rate_at(a, nodes, corner, degree, t));
        }
    }
    EG_TRY(eg_comm_max(a->space->comm, 1, &fastest));
    *dt = 1 / fastest;
    if (!a->changes) a->stable_dt = *dt;
done:
    return status;
}

/* --- sizes ---------------------------------------------------------------------------------------- */

/* Whether the velocity depends on one of the variables [first, last]. */
static bool velocity_uses(const eg_advection_options *options, int dim, int first, int last)
{
    for (int d = 0; d < dim; d++)
        for (int i = first; i <= last; i++)
            if (eg_expression_uses(options->velocity[d], i)) return true;
    return false;
}

static bool source_given(const eg_advection_options *options)
{
    for (int c = 0; options->source && c < options->components; c++)
        if (options->source[c]) return true;
    return false;
}

/* Rows of K_SHARED memory of the two kernels, neighbours being of the same degree. */
static int64_t shared_rows(int dim, int side, bool modal)
{
    const int64_t m = side, q = point_count(side), lines = dim == 3 ? m * m : m;
    const int64_t face_places = dim == 3 ? q * q : q, places = face_places * q;
    if (modal) return dim * (6 + lines) + 2 * lines * m;
    const int64_t products = q * lines + (dim == 3 ? q * q * m : 1) + (dim + 2) * places;
    return 2 * dim * (5 + 2 * lines + face_places) + 2 * lines * m + products;
}

int eg_advection_lanes(const eg_device *device, const eg_mesh *mesh,
                       const eg_advection_options *options, int degree)
{
    const eg_device_info *info = eg_device_get_info(device);
    bool modal =
        !velocity_uses(options, mesh->dim, EG_VARIABLE_X, EG_VARIABLE_Z) && !source_given(options);
    int lanes = info->lanes;
    if (!info->is_gpu) return 0;
    for (int32_t e = 0; e < mesh->element_count && modal; e++)
        modal = eg_mesh_is_affine(mesh, e);
    const uint64_t rows = (uint64_t)shared_rows(mesh->dim, degree + 1, modal);
    /* Rows have 4 values more on a GPU. */
    while (lanes > 4 && rows * (uint64_t)(lanes + 4) * sizeof(double) > info->shared_bytes)
        lanes /= 2;
    return lanes;
}

/* --- kernels ---------------------------------------------------------------------------------------- */

/* Adds a function NAME(x, y, z, t). */
static eg_status emit(const eg_expression *expression, const char *name, eg_text *source)
{
    static const char *const arguments[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    return eg_expression_emit(expression, name, arguments, EG_COUNT(arguments), source);
}

/* What flows in at boundary b, tracer c: a chain of choices, 0 where nothing is given. */
static eg_status write_boundary(const eg_advection *a, const eg_advection_options *options,
                                eg_text *source)
{
    const int count = a->space->mesh->boundary_count;
    eg_status status = EG_OK;
    for (int i = 0; i < count * a->components; i++) {
        char name[32];
        snprintf(name, sizeof name, "inflow_%d", i);
        if (options->boundary && options->boundary[i])
            EG_TRY(emit(options->boundary[i], name, source));
    }
    EG_TRY(eg_text_puts(source, "#define BOUNDARY_VALUE(b, c, x, y, z, t) ("));
    for (int i = 0; i < count * a->components; i++)
        if (options->boundary && options->boundary[i])
            EG_TRY(eg_text_printf(
                source, "(b) * %d + (c) == %d ? inflow_%d(x, y, z, t) : ", a->components, i, i));
    EG_TRY(eg_text_puts(source, "K_R(0))\n"));
done:
    return status;
}

/* The velocity's components and the tracers' sources. */
static eg_status write_volume(const eg_advection *a, const eg_advection_options *options,
                              eg_text *source)
{
    eg_status status = EG_OK;
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "velocity_%d", i);
        if (i < a->dim) EG_TRY(emit(options->velocity[i], name, source));
        EG_TRY(eg_text_printf(source, "#define VELOCITY_%d(x, y, z, t) ", i));
        EG_TRY(i < a->dim ? eg_text_printf(source, "%s(x, y, z, t)\n", name)
                          : eg_text_puts(source, "K_R(0)\n"));
    }
    for (int c = 0; a->has_source && c < a->components; c++) {
        char name[32];
        snprintf(name, sizeof name, "source_%d", c);
        if (options->source[c]) EG_TRY(emit(options->source[c], name, source));
    }
    EG_TRY(eg_text_puts(source, "#define SOURCE(c, x, y, z, t) ("));
    for (int c = 0; a->has_source && c < a->components; c++)
        if (options->source[c])
            EG_TRY(eg_text_printf(source, "(c) == %d ? source_%d(x, y, z, t) : ", c, c));
    EG_TRY(eg_text_puts(source, "K_R(0))\n"));
done:
    return status;
}

static eg_status compile(eg_advection *a, int group, const char *source)
{
    const eg_group *g = &a->space->groups[group];
    part *p = &a->parts[group];
    const int side = g->degree + 1, lines = a->dim == 3 ? side * side : side;
    const eg_define defines[] = {{"DIM", a->dim},
                                 {"M", side},
                                 {"LINES", lines},
                                 {"NP", lines * side},
                                 {"FACES", 2 * a->dim},
                                 {"FACTORS", 1 + a->dim * a->dim},
                                 {"CORNERS", 1 << a->dim},
                                 {"COMPONENTS", a->components},
                                 {"POINTS", side + 1},
                                 {"MOST", p->most},
                                 {"UNIFORM", p->uniform},
                                 {"CURVED", g->curved},
                                 {"Q", p->points},
                                 {"FACE_Q", p->face_points},
                                 {"SOURCES", a->has_source},
                                 {"BOUNDARIES", (p->kinds_present & KIND_OUTER) != 0},
                                 {"LOW_STORAGE", a->low_storage}};
    return eg_kernel_create(a->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "advection",
                                                 .text = source,
                                                 .entry = p->modal ? "modal" : "points",
                                                 .real = EG_F64,
                                                 .lanes = g->lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            &p->kernel);
}

eg_status eg_advection_create(eg_space *space, const eg_advection_options *options,
                              eg_advection **out)
{
    eg_context *ctx = space->ctx;
    eg_advection *a = NULL;
    eg_text source = eg_text_new(ctx);
    int turns[EG_MAX_FACES * BYTES];
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &a));
    *a = (eg_advection){.space = space,
                        .dim = space->mesh->dim,
                        .components = options->components,
                        .low_storage = options->low_storage};
    memcpy(a->velocity, options->velocity, sizeof a->velocity);
    a->varies = velocity_uses(options, a->dim, EG_VARIABLE_X, EG_VARIABLE_Z);
    a->changes = velocity_uses(options, a->dim, EG_VARIABLE_T, EG_VARIABLE_T);
    a->has_source = source_given(options);
    EG_TRY(eg_new(ctx, (size_t)space->group_count, &a->parts));
    EG_TRY(make_shared_tables(a, turns));
    EG_TRY(write_boundary(a, options, &source));
    EG_TRY(write_volume(a, options, &source));
    EG_TRY(eg_text_puts(&source, "#include \"model/advection/advection.k.c\"\n"));
    for (int g = 0; g < space->group_count; g++) {
        EG_TRY(classify_tiles(a, g, turns));
        part *p = &a->parts[g];
        p->modal = !space->groups[g].curved && !a->varies && !a->has_source;
        if (p->modal) {
            EG_TRY(make_rule(a, g, space->groups[g].degree + 2));
            find_uniform(a, g);
        } else {
            EG_TRY(make_points(a, g));
        }
        EG_TRY(compile(a, g, eg_text_string(&source)));
    }
    EG_TRY(eg_halo_create(space, a->components, EG_F64, EG_HALO_ELEMENTS, &a->halo));
    *out = a;
    a = NULL;
done:
    eg_text_free(&source);
    eg_advection_destroy(&a);
    return status;
}

void eg_advection_destroy(eg_advection **handle)
{
    eg_advection *a = *handle;
    if (!a) return;
    eg_context *ctx = a->space->ctx;
    eg_halo_destroy(&a->halo);
    for (int g = 0; a->parts && g < a->space->group_count; g++) {
        part *p = &a->parts[g];
        eg_operator_destroy(&p->slopes);
        eg_operator_destroy(&p->test);
        eg_operator_destroy(&p->interp);
        eg_buffer_destroy(&p->face_rules);
        eg_buffer_destroy(&p->points_of);
        eg_buffer_destroy(&p->rule);
        eg_buffer_destroy(&p->kinds);
        eg_kernel_destroy(&p->kernel);
    }
    eg_buffer_destroy(&a->no_register);
    eg_buffer_destroy(&a->legendre);
    eg_buffer_destroy(&a->sides);
    eg_buffer_destroy(&a->turns);
    eg_buffer_destroy(&a->faces);
    eg_release(ctx, &a->parts);
    eg_release(ctx, handle);
}

/* --- stages ------------------------------------------------------------------------------------------- */

/* Tiles [from, to) of a group. */
static eg_status launch(eg_advection *a, int group, int64_t from, int64_t to, const eg_stage *stage,
                        const eg_field *first, const eg_field *current, eg_field *k, eg_field *out)
{
    const eg_group *g = &a->space->groups[group];
    const part *p = &a->parts[group];
    const size_t begin = current->offset[group];
    const double origin[3] = {0, 0, 0};
    eg_argument arguments[32];
    size_t count = 0;
    if (from == to) return EG_OK;
    arguments[count++] = EG_BUFFER("u", current->data);
    arguments[count++] = EG_BUFFER("layout", current->layout);
    arguments[count++] = EG_BUFFER("block_groups", a->space->block_groups);
    arguments[count++] = EG_BUFFER("sides", a->sides);
    arguments[count++] = EG_BUFFER("neighbour", g->neighbour);
    arguments[count++] = EG_BUFFER("neighbour_face", g->neighbour_face);
    arguments[count++] = EG_BUFFER("faces", a->faces);
    arguments[count++] = EG_BUFFER("turns", a->turns);
    arguments[count++] = EG_BUFFER("nodes", g->nodes);
    arguments[count++] = EG_BUFFER("legendre", a->legendre);
    arguments[count++] = EG_INTEGER("begin", (int64_t)begin);
    arguments[count++] = EG_REAL("time", stage->time);
    arguments[count++] = EG_REAL("wf", stage->low_storage ? stage->A : stage->a);
    arguments[count++] = EG_REAL("wc", stage->low_storage ? stage->B : stage->b);
    arguments[count++] = EG_REAL("wl", stage->low_storage ? stage->dt : stage->c * stage->dt);
    arguments[count++] =
        EG_BUFFER_AT("first", stage->low_storage ? current->data : first->data, begin);
    arguments[count++] =
        stage->low_storage ? EG_BUFFER_AT("k", k->data, begin) : EG_BUFFER("k", a->no_register);
    arguments[count++] = EG_BUFFER_AT("out", out->data, begin);
    if (p->modal) {
        double b[3], v[3] = {0};
        velocity_at(a, origin, stage->time, b);
        for (int d = 0; d < a->dim; d++)
            for (int e = 0; e < a->dim; e++)
                v[d] += p->uniform ? p->factors[d][e] * b[e] : d == e ? b[e] : 0;
        arguments[count++] = EG_BUFFER("kinds", p->kinds);
        arguments[count++] = EG_BUFFER("factors", g->volume_factors);
        arguments[count++] = EG_BUFFER("rule", p->rule);
        arguments[count++] = EG_INTEGER("first_slot", g->first_slot);
        arguments[count++] = EG_REAL("v0", v[0]);
        arguments[count++] = EG_REAL("v1", v[1]);
        arguments[count++] = EG_REAL("v2", v[2]);
    } else {
        arguments[count++] = EG_BUFFER("points_of", p->points_of);
        arguments[count++] = EG_BUFFER("face_rules", p->face_rules);
        arguments[count++] = EG_OPERATOR("interp", p->interp);
        arguments[count++] = EG_OPERATOR("test", p->test);
        arguments[count++] = EG_OPERATOR("slopes", p->slopes);
    }
    return eg_launch_tiles(p->kernel, from, to - from, arguments, count);
}

eg_status eg_advection_stage(eg_advection *a, const eg_stage *stage, const eg_field *first,
                             eg_field *current, eg_field *k, eg_field *out)
{
    const eg_group *groups = a->space->groups;
    eg_status status = EG_OK;
    if (stage->low_storage != a->low_storage)
        return eg_fail(a->space->ctx, EG_ERROR_ARGUMENT,
                       "a stage of another kind of scheme than the operator was made for");
    EG_TRY(eg_halo_start(a->halo, current));
    for (int g = 0; g < a->space->group_count; g++)
        EG_TRY(launch(a, g, 0, groups[g].interior_tiles, stage, first, current, k, out));
    EG_TRY(eg_halo_wait(a->halo, current));
    for (int g = 0; g < a->space->group_count; g++)
        EG_TRY(launch(a, g, groups[g].interior_tiles, groups[g].own_tiles, stage, first, current, k,
                      out));
done:
    return status;
}
