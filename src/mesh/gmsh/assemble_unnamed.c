/* Faces of the boundary that are in no group, and why: nodes at one place that are not one, hanging
 * nodes, or a boundary that was given no name.
 *
 * Faces lie in a hash table of cells that are as wide as the next power of two, so that each is
 * in a few of them, however much sizes differ; a vertex looks once for every width. It hangs on a
 * face that it is not of if the nearest point of that, flat or curved, is where it is; the steps of
 * Gauss and Newton find that point at once if it is. */
#include "mesh/gmsh/assemble.h"
#include "mesh/gmsh/near.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A vertex lies on a face to this part of the face's size; where elements are thin, to that part of
 * how thick they are. */
#define ON_FACE 1e-6
#define ON_THIN 1e-3
/* How far a curved face goes beyond the box around its nodes, as a part of that. */
#define BULGE 0.25

/* Steps towards the nearest point of a face, and in reference coordinates the last one. */
#define STEPS 30
#define STEP_LEAST 1e-12

/* Widths of cells are size/2^0 … size/2^(LEVELS - 1). */
#define LEVELS 60
/* Tests for each vertex, on the average; where more are needed, faces lie on top of each other in a
 * way that is not looked into. */
#define TESTS 64

/* Points of a face that give it its form: nodes, or vertices if it is straight. */
#define FACE_POINTS_MAX ((EG_DEGREE_MAX + 1) * (EG_DEGREE_MAX + 1))
static_assert(EG_DEGREE_MAX_QUAD < FACE_POINTS_MAX, "lines have fewer points than squares");

typedef struct unnamed {
    const eg_assembly *assembly;
    eg_element *element[EG_SHAPE_COUNT];               /* of the shapes present; owned */
    int8_t vertex_at[EG_SHAPE_COUNT][EG_MAX_VERTICES]; /* nodes of straight ones → vertices */
    int64_t count;
    uint32_t *slot;    /* [count] element*face_stride + face; owned */
    int32_t *first_of; /* [vertex_count] 1 + a face that the vertex is on; 0: on none; owned */
    double low[3];

    int64_t cell_count;
    int32_t *face;         /* [cell_count] in the order of cells; owned */
    int64_t *next;         /* [cell_count] the entry before it in the same place, -1: none; owned */
    int64_t *table;        /* [mask + 1] owned */
    uint64_t mask, levels; /* a bit for each width in use */
} unnamed;

static int32_t element_of(const unnamed *u, int64_t face)
{
    return (int32_t)(u->slot[face] / (uint32_t)u->assembly->mesh->face_stride);
}

static int face_of(const unnamed *u, int64_t face)
{
    return (int)(u->slot[face] % (uint32_t)u->assembly->mesh->face_stride);
}

/* The vertices of a face; returns how many there are. */
static int vertices_of(const unnamed *u, int64_t face, int32_t *vertices)
{
    const eg_mesh *mesh = u->assembly->mesh;
    const int32_t element = element_of(u, face);
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    for (int i = 0; i < info->face_vertices; i++)
        vertices[i] = mesh->vertices[(int64_t)element * mesh->vertex_stride +
                                     info->face[face_of(u, face)][i]];
    return info->face_vertices;
}

/* The points that give a face its form, in the order of its own nodes; returns how many. */
static int points_of(const unnamed *u, int64_t face, const double *x[FACE_POINTS_MAX])
{
    const eg_mesh *mesh = u->assembly->mesh;
    const int32_t e = element_of(u, face);
    const eg_element *element = u->element[mesh->shape[e]];
    for (int i = 0; i < element->face_np; i++) {
        const int node = element->face_node[face_of(u, face) * element->face_np + i];
        if (mesh->nodes) {
            x[i] = &mesh->nodes[((int64_t)e * mesh->node_stride + node) * mesh->dim];
            continue;
        }
        const int64_t vertex =
            (int64_t)e * mesh->vertex_stride + u->vertex_at[element->shape][node];
        x[i] = &mesh->x[(int64_t)mesh->vertices[vertex] * mesh->dim];
    }
    return element->face_np;
}

static const char *place_of_face(const unnamed *u, int64_t face, char text[EG_PLACE_BYTES])
{
    double centre[3];
    eg_mesh_face_centre(u->assembly->mesh, element_of(u, face), face_of(u, face), centre);
    return eg_mesh_place(u->assembly->dim, centre, text);
}

static eg_status create_elements(unnamed *u)
{
    const eg_mesh *mesh = u->assembly->mesh;
    bool present[EG_SHAPE_COUNT];
    eg_mesh_shapes_present(mesh, present);
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (!present[s]) continue;
        eg_status status = eg_element_create(mesh->ctx, (eg_shape)s, u->assembly->order,
                                             EG_BASIS_LOBATTO, &u->element[s]);
        if (status != EG_OK) return status;
        for (int v = 0; v < eg_shape_get_info((eg_shape)s)->vertices; v++)
            u->vertex_at[s][eg_mesh_vertex_node((eg_shape)s, 1, v)] = (int8_t)v;
    }
    return EG_OK;
}

static eg_status collect(unnamed *u)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = u->assembly->mesh;
    const int32_t mark = -1 - u->assembly->named;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) EG_TRY(eg_new(mesh->ctx, (size_t)u->count, &u->slot));
        u->count = 0;
        for (int32_t e = 0; e < mesh->element_count; e++) {
            const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
            for (int f = 0; f < faces; f++) {
                int64_t slot = (int64_t)e * mesh->face_stride + f;
                if (mesh->neighbour[slot] != mark) continue;
                if (pass == 1) u->slot[u->count] = (uint32_t)slot;
                u->count++;
            }
        }
    }
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->vertex_count, &u->first_of));
    for (int d = 0; d < mesh->dim; d++)
        u->low[d] = INFINITY;
    for (int64_t i = 0; i < u->count; i++) {
        int32_t v[EG_MAX_FACE_VERTICES];
        const int n = vertices_of(u, i, v);
        for (int k = 0; k < n; k++) {
            if (!u->first_of[v[k]]) u->first_of[v[k]] = (int32_t)i + 1;
            for (int d = 0; d < mesh->dim; d++)
                u->low[d] = fmin(u->low[d], mesh->x[(int64_t)v[k] * mesh->dim + d]);
        }
    }
done:
    return status;
}

/* --- nodes at one place ----------------------------------------------------------------------- */

static eg_status check_places(const unnamed *u)
{
    eg_status status = EG_OK;
    const eg_assembly *a = u->assembly;
    const eg_mesh *mesh = a->mesh;
    const double tolerance = eg_assembly_same_place(a);
    eg_near near = {0};
    EG_TRY(eg_near_create(a->ctx, a->dim, (int32_t)mesh->vertex_count, mesh->x, u->low, tolerance,
                          &near));
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        if (!u->first_of[v]) continue;
        const int32_t other = eg_near_find(&near, v);
        const int32_t element = element_of(u, u->first_of[v] - 1);
        if (other < 0 || element_of(u, u->first_of[other] - 1) == element) { /* it is tiny */
            eg_near_add(&near, v);
            continue;
        }
        char place[EG_PLACE_BYTES];
        eg_mesh_place(a->dim, &mesh->x[(int64_t)v * a->dim], place);
        EG_TRY(eg_assembly_refuse(
            a, element,
            "has a face without neighbour and group, and so has element %lld: their vertices at %s "
            "are different nodes at one place. Read the file with its nodes merged (mesh.merge = "
            "true), or, if there is to be a slit, put both its sides into physical groups",
            (long long)mesh->global[element_of(u, u->first_of[other] - 1)], place));
    }
done:
    eg_near_free(&near);
    return status;
}

/* --- hanging nodes ---------------------------------------------------------------------------- */

/* The cell of a width that holds a point. */
static void cell_at(const unnamed *u, int level, const double *x, int64_t cell[4])
{
    const double width = ldexp(u->assembly->size, -level);
    for (int d = 0; d < u->assembly->dim; d++)
        cell[d] = (int64_t)floor((x[d] - u->low[d]) / width);
    cell[u->assembly->dim] = level;
}

/* A box that a face and all that lies on it are in; returns its longest side. */
static double box_of(const unnamed *u, int64_t face, double low[3], double high[3])
{
    const eg_mesh *mesh = u->assembly->mesh;
    const double *x[FACE_POINTS_MAX];
    const int n = points_of(u, face, x);
    double longest = 0.0;
    for (int d = 0; d < mesh->dim; d++) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
        for (int i = 0; i < n; i++) {
            low[d] = fmin(low[d], x[i][d]);
            high[d] = fmax(high[d], x[i][d]);
        }
        longest = fmax(longest, high[d] - low[d]);
    }
    const double beyond =
        (mesh->nodes ? BULGE : ON_FACE) * longest + EG_ROUNDING * u->assembly->reach;
    for (int d = 0; d < mesh->dim; d++) {
        low[d] -= beyond;
        high[d] += beyond;
    }
    return longest + 2.0 * beyond;
}

/* Puts a face into the cells around it, or counts them if there is no room yet. */
static void put_face(unnamed *u, int64_t face)
{
    const int dim = u->assembly->dim;
    double low[3], high[3];
    int64_t first[4] = {0}, last[4] = {0}, cell[4];
    const double longest = box_of(u, face, low, high);
    int level = 0;
    while (level < LEVELS - 1 && ldexp(u->assembly->size, -(level + 1)) >= longest)
        level++;
    cell_at(u, level, low, first);
    cell_at(u, level, high, last);
    u->levels |= (uint64_t)1 << level;
    if (dim == 2) first[2] = last[2] = 0;
    for (cell[2] = first[2]; cell[2] <= last[2]; cell[2]++) {
        for (cell[1] = first[1]; cell[1] <= last[1]; cell[1]++) {
            for (cell[0] = first[0]; cell[0] <= last[0]; cell[0]++) {
                int64_t entry = u->cell_count++, named[4];
                if (!u->table) continue;
                memcpy(named, cell, sizeof named);
                named[dim] = level;
                int64_t *place = &u->table[eg_cell_hash(dim + 1, named, u->mask)];
                u->face[entry] = (int32_t)face;
                u->next[entry] = *place;
                *place = entry;
            }
        }
    }
}

static eg_status fill_cells(unnamed *u)
{
    eg_status status = EG_OK;
    eg_context *ctx = u->assembly->ctx;
    for (int64_t i = 0; i < u->count; i++)
        put_face(u, i);
    u->mask = 15;
    while (u->mask < (uint64_t)u->cell_count)
        u->mask = 2 * u->mask + 1;
    EG_TRY(eg_new(ctx, (size_t)u->cell_count, &u->face));
    EG_TRY(eg_new(ctx, (size_t)u->cell_count, &u->next));
    EG_TRY(eg_new(ctx, (size_t)u->mask + 1, &u->table));
    memset(u->table, 0xff, ((size_t)u->mask + 1) * sizeof *u->table);
    u->cell_count = 0;
    for (int64_t i = 0; i < u->count; i++)
        put_face(u, i);
done:
    return status;
}

/* The point of a face that is nearest to another one, and where that is. */
typedef struct foot_point {
    double x[3], normal[3]; /* a unit vector, either way */
    double above, beside;   /* along it, and along the face in its reference coordinates */
} foot_point;

/* Moves a point of the plane, or line, back into the reference element of a face. */
static void clamp(eg_shape shape, double s[2])
{
    if (shape == EG_SHAPE_TRI && s[0] + s[1] > 0.0) {
        const double excess = 0.5 * (s[0] + s[1]);
        s[0] -= excess;
        s[1] -= excess;
    }
    for (int d = 0; d < 2; d++)
        s[d] = fmax(-1.0, fmin(1.0, s[d]));
}

/* The step by which a face of tangents t [2] comes nearest to w, seen from its point; in the plane
 * the second tangent is zero. */
static void find_step(int tangents, double t[2][3], const double w[3], double step[2])
{
    double G[2][2], h[2];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++)
            G[i][j] = t[i][0] * t[j][0] + t[i][1] * t[j][1] + t[i][2] * t[j][2];
        h[i] = t[i][0] * w[0] + t[i][1] * w[1] + t[i][2] * w[2];
    }
    const double det = tangents == 1 ? G[0][0] : G[0][0] * G[1][1] - G[0][1] * G[1][0];
    step[0] = step[1] = 0.0;
    if (!(det > 0.0)) return;
    step[0] = tangents == 1 ? h[0] / det : (h[0] * G[1][1] - h[1] * G[0][1]) / det;
    step[1] = tangents == 1 ? 0.0 : (h[1] * G[0][0] - h[0] * G[1][0]) / det;
}

/* The face's point at s and its tangents there. */
static eg_status evaluate(const eg_element *face, int dim, const double *const *x, const double *s,
                          double at[3], double t[2][3])
{
    eg_status status = EG_OK;
    double value[FACE_POINTS_MAX], slope[2 * FACE_POINTS_MAX];
    EG_TRY(eg_element_evaluate(face, 1, s, value));
    EG_TRY(eg_element_differentiate(face, 1, s, slope));
    memset(at, 0, 3 * sizeof *at);
    memset(t, 0, 2 * sizeof *t);
    for (int i = 0; i < face->np; i++) {
        for (int d = 0; d < dim; d++) {
            at[d] += value[i] * x[i][d];
            for (int k = 0; k < face->dim; k++)
                t[k][d] += slope[k * face->np + i] * x[i][d];
        }
    }
done:
    return status;
}

/* The unit normal of tangents; in the plane there is one of them. */
static void find_normal(int dim, double t[2][3], double normal[3])
{
    double length = 0.0;
    if (dim == 2) t[1][2] = 1.0;
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, f = (d + 2) % 3;
        normal[d] = t[0][e] * t[1][f] - t[0][f] * t[1][e];
        length = hypot(length, normal[d]);
    }
    for (int d = 0; d < 3 && length > 0.0; d++)
        normal[d] /= length;
}

/* The foot of a point on a face, from the nearest of the face's own points on. */
static eg_status find_foot(const unnamed *u, const double *point, int64_t face, foot_point *foot)
{
    eg_status status = EG_OK;
    const int dim = u->assembly->dim;
    const eg_element *side = u->element[u->assembly->mesh->shape[element_of(u, face)]]->face;
    const double *x[FACE_POINTS_MAX];
    double t[2][3], w[3] = {0}, s[2] = {0}, nearest = INFINITY;
    const int n = points_of(u, face, x);
    for (int i = 0; i < n; i++) {
        double apart = 0.0;
        for (int d = 0; d < dim; d++)
            apart += (x[i][d] - point[d]) * (x[i][d] - point[d]);
        if (apart >= nearest) continue;
        nearest = apart;
        for (int d = 0; d < side->dim; d++)
            s[d] = side->r[d * n + i];
    }
    for (int step = 0;; step++) {
        double by[2];
        const double before[2] = {s[0], s[1]};
        EG_TRY(evaluate(side, dim, x, s, foot->x, t));
        for (int d = 0; d < dim; d++)
            w[d] = point[d] - foot->x[d];
        find_step(side->dim, t, w, by);
        foot->beside = fmax(fabs(by[0]), fabs(by[1]));
        for (int d = 0; d < side->dim; d++)
            s[d] += by[d];
        clamp(side->shape, s);
        if (step == STEPS || fabs(s[0] - before[0]) + fabs(s[1] - before[1]) < STEP_LEAST) break;
    }
    find_normal(dim, t, foot->normal);
    foot->above = fabs(w[0] * foot->normal[0] + w[1] * foot->normal[1] + w[2] * foot->normal[2]);
done:
    return status;
}

/* How far the centre of an element lies above a face, or below it. */
static double height_above(const unnamed *u, int32_t element, const foot_point *foot)
{
    double centre[3], height = 0.0;
    eg_mesh_element_centre(u->assembly->mesh, element, centre);
    for (int d = 0; d < u->assembly->dim; d++)
        height += foot->normal[d] * (centre[d] - foot->x[d]);
    return fabs(height);
}

/* Whether a vertex lies on a face of an element that it does not belong to. */
static eg_status hangs_on(const unnamed *u, int32_t vertex, int64_t face, bool *hangs)
{
    const eg_mesh *mesh = u->assembly->mesh;
    const int32_t element = element_of(u, face), other = element_of(u, u->first_of[vertex] - 1);
    const double *point = &mesh->x[(int64_t)vertex * mesh->dim];
    double low[3], high[3];
    foot_point foot;
    *hangs = false;
    const double size = box_of(u, face, low, high);
    for (int d = 0; d < mesh->dim; d++)
        if (!(point[d] >= low[d] && point[d] <= high[d])) return EG_OK;
    for (int i = 0; i < eg_shape_get_info((eg_shape)mesh->shape[element])->vertices; i++)
        if (mesh->vertices[(int64_t)element * mesh->vertex_stride + i] == vertex) return EG_OK;
    eg_status status = find_foot(u, point, face, &foot);
    if (status != EG_OK) return status;
    const double thickness = fmin(height_above(u, element, &foot), height_above(u, other, &foot));
    *hangs = foot.beside <= ON_FACE && foot.above <= fmin(ON_FACE * size, ON_THIN * thickness) +
                                                         EG_ROUNDING * u->assembly->reach;
    return EG_OK;
}

static eg_status refuse_hanging(const unnamed *u, int32_t vertex, int64_t face)
{
    const eg_assembly *a = u->assembly;
    char place[2][EG_PLACE_BYTES];
    return eg_assembly_refuse(
        a, element_of(u, face),
        "has a hanging node: the vertex of element %lld at %s lies on its face at %s, which has no "
        "neighbour and no group; elements must share whole faces",
        (long long)a->mesh->global[element_of(u, u->first_of[vertex] - 1)],
        eg_mesh_place(a->dim, &a->mesh->x[(int64_t)vertex * a->dim], place[0]),
        place_of_face(u, face, place[1]));
}

static eg_status check_hanging(unnamed *u)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = u->assembly->mesh;
    int64_t budget = 0;
    EG_TRY(fill_cells(u));
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        if (!u->first_of[v]) continue;
        budget += TESTS;
        for (int level = 0; level < LEVELS; level++) {
            int64_t cell[4];
            if (!(u->levels >> level & 1)) continue;
            cell_at(u, level, &mesh->x[(int64_t)v * mesh->dim], cell);
            int64_t i = u->table[eg_cell_hash(mesh->dim + 1, cell, u->mask)];
            for (; i >= 0 && budget > 0; i = u->next[i], budget--) {
                bool hangs;
                EG_TRY(hangs_on(u, v, u->face[i], &hangs));
                if (hangs) EG_TRY(refuse_hanging(u, v, u->face[i]));
            }
        }
    }
done:
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

static eg_status judge(unnamed *u)
{
    eg_status status = EG_OK;
    const eg_assembly *a = u->assembly;
    const char *kind = a->dim == 2 ? "curve" : "surface";
    char place[EG_PLACE_BYTES];
    EG_TRY(check_places(u));
    EG_TRY(create_elements(u));
    EG_TRY(check_hanging(u));
    place_of_face(u, 0, place);
    if (a->named == 0)
        EG_TRY(eg_assembly_say(a, EG_LOG_INFO,
                               "no %s is in a physical group: the %lld faces of the boundary are "
                               "called \"boundary\"",
                               kind, (long long)u->count));
    else
        EG_TRY(eg_assembly_refuse(
            a, element_of(u, 0),
            "has a face at %s that is on the boundary, but in no physical group; there are %lld "
            "such faces. Put the %ss they are on into a Physical %s%s",
            place, (long long)u->count, kind, a->dim == 2 ? "Curve" : "Surface",
            a->file->link_count > 0
                ? ""
                : "; if they are to be periodic, join these groups with mesh.join, for the file "
                  "has no $Periodic (in format 2.2 Gmsh writes it only for what is in groups)"));
done:
    return status;
}

eg_status eg_assembly_check_unnamed(eg_assembly *a)
{
    eg_status status = EG_OK;
    unnamed u = {.assembly = a};
    EG_TRY(collect(&u));
    if (u.count > 0) EG_TRY(judge(&u));
done:
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        eg_element_destroy(&u.element[s]);
    eg_release(a->ctx, &u.table);
    eg_release(a->ctx, &u.next);
    eg_release(a->ctx, &u.face);
    eg_release(a->ctx, &u.first_of);
    eg_release(a->ctx, &u.slot);
    return status;
}
