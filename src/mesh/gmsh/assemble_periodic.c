/* Periodic faces: what a file's $Periodic says of its entities, and pairs of boundaries by name.
 *
 * Neighbours across periodic faces are joined as if the mesh were shifted, so that only
 * translations will do. Links of the same shift are joined at once, by the places of their faces.
 * Which faces they are the elements of their entities say; where a file has no such elements, the
 * linked nodes do. */
#include "mesh/gmsh/assemble.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-8 /* of shifts, as a part of the mesh's size */

/* A side of a period has the number 2*period, and that of its copy 2*period + 1. */
typedef struct periods {
    eg_assembly *assembly;
    int count;
    double shift[EG_PERIODS_MAX][3];   /* from master to copy */
    int64_t faces[2 * EG_PERIODS_MAX]; /* of each side */
    int32_t link_count;                /* links that count; each has two entries in `tag` */
    uint64_t *tag;                     /* [2*link_count] entities, ascending; owned */
    int32_t *order;                    /* [2*link_count] 2*link, for the copy 2*link + 1; owned */
    int8_t *period;                    /* [links of the file] -1: does not count; owned */
    bool *has_elements;                /* [2*links of the file] owned */
    uint64_t *sides;                   /* [vertex_count] a bit for each side; NULL: none; owned */
} periods;

static bool same_shift(const eg_assembly *a, const double *s, const double *t)
{
    const double tolerance = TOLERANCE * a->size + EG_ROUNDING * a->reach;
    for (int d = 0; d < a->dim; d++) {
        if (!(fabs(s[d] - t[d]) <= tolerance)) return false;
    }
    return true;
}

/* --- shifts ----------------------------------------------------------------------------------- */

static const char *entity_kind(const eg_gmsh_link *link)
{
    return link->dim == 1 ? "curve" : "surface";
}

static bool is_used(const eg_assembly *a, int32_t node)
{
    return a->vertex[eg_assembly_node(a, node)] != EG_NODE_UNUSED;
}

/* The shift of a link by its nodes; *known is false if none of them is the mesh's. */
static eg_status shift_of_nodes(const eg_assembly *a, const eg_gmsh_link *link, double *shift,
                                bool *known)
{
    for (int64_t i = 0; i < link->count; i++) {
        const int32_t copy = link->pair[2 * i], master = link->pair[2 * i + 1];
        double x[2][3], here[3] = {0};
        if (!is_used(a, copy) || !is_used(a, master)) continue;
        eg_assembly_coordinates(a, copy, x[0]);
        eg_assembly_coordinates(a, master, x[1]);
        for (int d = 0; d < a->dim; d++)
            here[d] = x[0][d] - x[1][d];
        if (!*known) memcpy(shift, here, sizeof here);
        *known = true;
        if (same_shift(a, shift, here)) continue;
        char place[2][EG_PLACE_BYTES];
        return eg_fail(
            a->ctx, EG_ERROR_INPUT,
            "$Periodic joins %s %d to %s %d, but not by a translation: node %lld lies %s "
            "from node %lld, others lie %s from theirs; rotations are not supported",
            entity_kind(link), link->entity_tag, entity_kind(link), link->master_tag,
            (long long)a->file->node_tag[copy], eg_mesh_place(a->dim, here, place[0]),
            (long long)a->file->node_tag[master], eg_mesh_place(a->dim, shift, place[1]));
    }
    return EG_OK;
}

/* The shift of a link by its map. */
static eg_status shift_of_map(const eg_assembly *a, const eg_gmsh_link *link, double *shift)
{
    double moved[3];
    bool translation = true;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            translation =
                translation && fabs(link->affine[4 * i + j] - (i == j ? 1.0 : 0.0)) <= TOLERANCE;
        moved[i] = link->affine[4 * i + 3];
    }
    if (!translation)
        return eg_fail(
            a->ctx, EG_ERROR_INPUT,
            "$Periodic joins %s %d to %s %d, but not by a translation; rotations are not "
            "supported",
            entity_kind(link), link->entity_tag, entity_kind(link), link->master_tag);
    for (int d = 0; d < a->dim; d++)
        shift[d] = a->axis[d][0] * moved[0] + a->axis[d][1] * moved[1] + a->axis[d][2] * moved[2];
    return EG_OK;
}

/* Finds the period of a link, or makes it. */
static eg_status find_period(periods *p, int l)
{
    eg_status status = EG_OK;
    const eg_assembly *a = p->assembly;
    const eg_gmsh_link *link = &a->file->links[l];
    double shift[3] = {0};
    bool known = false;
    p->period[l] = -1;
    if (link->dim != a->dim - 1) return EG_OK;
    EG_TRY(shift_of_nodes(a, link, shift, &known));
    if (!known && !link->affine) return EG_OK;
    if (!known) EG_TRY(shift_of_map(a, link, shift));
    int found = 0;
    while (found < p->count && !same_shift(a, p->shift[found], shift))
        found++;
    if (found == EG_PERIODS_MAX)
        return eg_fail(a->ctx, EG_ERROR_INPUT, "$Periodic has more than %d different shifts",
                       EG_PERIODS_MAX);
    if (found == p->count) memcpy(p->shift[p->count++], shift, sizeof shift);
    p->period[l] = (int8_t)found;
    p->tag[2 * p->link_count] = (uint32_t)link->master_tag;
    p->order[2 * p->link_count] = 2 * l;
    p->tag[2 * p->link_count + 1] = (uint32_t)link->entity_tag;
    p->order[2 * p->link_count + 1] = 2 * l + 1;
    p->link_count++;
done:
    return status;
}

/* --- faces ------------------------------------------------------------------------------------ */

/* The place of a tag's first entry, -1 if no link has it. */
static int32_t find_entry(const periods *p, int entity_tag)
{
    const uint64_t tag = (uint32_t)entity_tag;
    int32_t first = 0, end = 2 * p->link_count;
    while (first < end) {
        int32_t middle = first + (end - first) / 2;
        if (p->tag[middle] < tag)
            first = middle + 1;
        else
            end = middle;
    }
    return first < 2 * p->link_count && p->tag[first] == tag ? first : -1;
}

/* The side that a block's faces are on, -1: none. */
static int side_of_block(const periods *p, const eg_gmsh_block *block)
{
    const eg_gmsh_file *file = p->assembly->file;
    if (block->entity < 0) return -1;
    const eg_gmsh_entity *entity = &file->entities[block->entity];
    int32_t entry = find_entry(p, entity->tag);
    if (entry < 0 && entity->parent >= 0 && file->entities[entity->parent].dim == entity->dim)
        entry = find_entry(p, file->entities[entity->parent].tag);
    if (entry < 0) return -1;
    for (int32_t i = entry; i < 2 * p->link_count && p->tag[i] == p->tag[entry]; i++)
        p->has_elements[p->order[i]] = true;
    return 2 * p->period[p->order[entry] / 2] + p->order[entry] % 2;
}

/* Puts a face of the boundary on a side. */
static void put_face(periods *p, int64_t slot, int side)
{
    p->assembly->mesh->neighbour[slot] = -2 - p->assembly->named - side;
    p->faces[side]++;
}

static eg_status put_face_elements(periods *p)
{
    eg_status status = EG_OK;
    const eg_assembly *a = p->assembly;
    int8_t *side = NULL; /* [block_count] */
    EG_TRY(eg_new(a->ctx, (size_t)a->file->block_count, &side));
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        side[b] = (int8_t)(eg_assembly_bounds(a, block) ? side_of_block(p, block) : -1);
    }
    for (int32_t i = 0; i < a->face_count; i++) {
        const eg_face_element *face = &a->faces[i];
        if (side[face->block] >= 0 && face->matches == 1)
            put_face(p, face->slot, side[face->block]);
    }
done:
    eg_release(a->ctx, &side);
    return status;
}

/* Marks the vertices of a link's side that has no elements. */
static eg_status mark_side(periods *p, int l, int which)
{
    eg_status status = EG_OK;
    const eg_assembly *a = p->assembly;
    const eg_gmsh_link *link = &a->file->links[l];
    if (p->period[l] < 0 || p->has_elements[2 * l + which]) return EG_OK;
    if (!p->sides) EG_TRY(eg_new(a->ctx, (size_t)a->mesh->vertex_count, &p->sides));
    for (int64_t i = 0; i < link->count; i++) {
        int32_t vertex = a->vertex[eg_assembly_node(a, link->pair[2 * i + 1 - which])];
        if (vertex >= 0) p->sides[vertex] |= (uint64_t)1 << (2 * p->period[l] + which);
    }
done:
    return status;
}

/* Faces of no group all of whose vertices are on a side are on it, too. */
static void put_marked_faces(periods *p)
{
    const eg_assembly *a = p->assembly;
    const eg_mesh *mesh = a->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[e]);
        const int32_t *v = &mesh->vertices[(int64_t)e * mesh->vertex_stride];
        for (int f = 0; f < info->faces; f++) {
            int64_t slot = (int64_t)e * mesh->face_stride + f;
            uint64_t sides = ~(uint64_t)0;
            if (mesh->neighbour[slot] != -1 - a->named) continue;
            for (int i = 0; i < info->face_vertices; i++)
                sides &= p->sides[v[info->face[f][i]]];
            int side = 0;
            while (sides && !(sides >> side & 1))
                side++;
            if (sides) put_face(p, slot, side);
        }
    }
}

static eg_status join_period(periods *p, int i)
{
    eg_status status = EG_OK;
    eg_assembly *a = p->assembly;
    char place[EG_PLACE_BYTES];
    if (p->faces[2 * i] == 0 && p->faces[2 * i + 1] == 0) return EG_OK;
    int master = a->named + 1 + 2 * i;
    EG_TRY(eg_mesh_join_periodic(a->mesh, master, master + 1, p->shift[i]));
    EG_TRY(eg_assembly_say(
        a, EG_LOG_INFO, "faces that were joined to those a shift %s away, as $Periodic says: %lld",
        eg_mesh_place(a->dim, p->shift[i], place), (long long)p->faces[2 * i]));
done:
    return status;
}

/* Names a side of a period by its entities, for messages: "curve 77, master of curve 2". */
static eg_status name_side(const periods *p, int period, bool copy)
{
    eg_status status = EG_OK;
    eg_assembly *a = p->assembly;
    eg_text name = eg_text_new(a->ctx);
    int first = 0, count = 0;
    for (int l = a->file->link_count - 1; l >= 0; l--) {
        if (p->period[l] != period) continue;
        first = l;
        count++;
    }
    const eg_gmsh_link *link = &a->file->links[first];
    const char *kind = entity_kind(link);
    EG_TRY(eg_text_printf(&name, "%s %d, %s of %s %d", kind,
                          copy ? link->entity_tag : link->master_tag, copy ? "copy" : "master",
                          kind, copy ? link->master_tag : link->entity_tag));
    if (count > 1) EG_TRY(eg_text_printf(&name, ", and %d more", count - 1));
    EG_TRY(eg_assembly_add_boundary(a, eg_text_string(&name)));
done:
    eg_text_free(&name);
    return status;
}

static eg_status join_links(eg_assembly *a)
{
    eg_status status = EG_OK;
    const size_t links = (size_t)a->file->link_count;
    periods p = {.assembly = a};
    EG_TRY(eg_new(a->ctx, 2 * links, &p.tag));
    EG_TRY(eg_new(a->ctx, 2 * links, &p.order));
    EG_TRY(eg_new(a->ctx, links, &p.period));
    EG_TRY(eg_new(a->ctx, 2 * links, &p.has_elements));
    for (int l = 0; l < a->file->link_count; l++)
        EG_TRY(find_period(&p, l));
    EG_TRY(eg_sort_keys(a->ctx, 2 * (size_t)p.link_count, p.tag, p.order));
    for (int i = 0; i < p.count; i++) {
        EG_TRY(name_side(&p, i, false));
        EG_TRY(name_side(&p, i, true));
    }
    EG_TRY(put_face_elements(&p));
    for (int i = 0; i < 2 * a->file->link_count; i++)
        EG_TRY(mark_side(&p, i / 2, i % 2));
    if (p.sides) put_marked_faces(&p);
    for (int i = 0; i < p.count; i++)
        EG_TRY(join_period(&p, i));
done:
    eg_release(a->ctx, &p.sides);
    eg_release(a->ctx, &p.has_elements);
    eg_release(a->ctx, &p.period);
    eg_release(a->ctx, &p.order);
    eg_release(a->ctx, &p.tag);
    return status;
}

/* --- pairs by name ---------------------------------------------------------------------------- */

/* The mean of the centres of a boundary's faces; returns how many there are. */
static int64_t mean_centre(const eg_mesh *mesh, int boundary, double mean[3])
{
    int64_t count = 0;
    memset(mean, 0, 3 * sizeof *mean);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            double centre[3];
            if (mesh->neighbour[(int64_t)e * mesh->face_stride + f] != -1 - boundary) continue;
            eg_mesh_face_centre(mesh, e, f, centre);
            count++;
            for (int d = 0; d < mesh->dim; d++)
                mean[d] += (centre[d] - mean[d]) / (double)count;
        }
    }
    return count;
}

/* A boundary of faces that are not joined yet, how many they are and the mean of their centres. */
static eg_status find_by_name(const eg_assembly *a, const char *name, int *boundary, int64_t *count,
                              double mean[3])
{
    eg_status status = EG_OK;
    eg_text list = eg_text_new(a->ctx);
    const char *const *names = (const char *const *)a->mesh->boundary;
    *boundary = eg_mesh_find_boundary(a->mesh, name);
    if (*boundary >= 0 && *boundary < a->named) {
        *count = mean_centre(a->mesh, *boundary, mean);
        if (*count > 0) goto done;
        EG_TRY(eg_fail(a->ctx, EG_ERROR_INPUT,
                       "the boundary \"%s\" cannot be joined: all its faces lie inside the mesh or "
                       "are joined already",
                       name));
    }
    for (int b = 0; b < a->named; b++)
        EG_TRY(eg_text_printf(&list, "%s\"%s\"", b > 0 ? ", " : "", names[b]));
    const char *nearest = eg_nearest(name, names, (size_t)a->named);
    EG_TRY(eg_fail(
        a->ctx, EG_ERROR_INPUT, "there is no boundary \"%s\" to be joined; the file has %s%s%s%s",
        name, a->named > 0 ? eg_text_string(&list) : "none", nearest ? ". Did you mean \"" : "",
        nearest ? nearest : "", nearest ? "\"?" : ""));
done:
    eg_text_free(&list);
    return status;
}

/* Adds to the message of a join that failed what was tried, and what Gmsh has for it. A shift is
 * tried only if the sides have as many faces; NULL: they have not. */
static eg_status explain_join(const eg_assembly *a, const eg_periodic_names *names,
                              const double *shift)
{
    eg_status status = EG_OK;
    eg_text message = eg_text_new(a->ctx);
    char place[EG_PLACE_BYTES];
    EG_TRY(eg_text_puts(&message, eg_context_error(a->ctx)));
    if (shift)
        EG_TRY(eg_text_printf(&message,
                              ". The shift that was tried is %s, from the mean of the centres of "
                              "the faces of \"%s\" to that of \"%s\"",
                              eg_mesh_place(a->dim, shift, place), names->first, names->second));
    EG_TRY(eg_fail(a->ctx, EG_ERROR_INPUT,
                   "%s. Both sides must be meshed alike, for which Gmsh has Periodic %s",
                   eg_text_string(&message), a->dim == 2 ? "Curve" : "Surface"));
done:
    eg_text_free(&message);
    return status;
}

static eg_status join_names(eg_assembly *a, const eg_periodic_names *names)
{
    eg_status status = EG_OK;
    int first, second;
    int64_t count[2];
    double mean[2][3], shift[3];
    char place[EG_PLACE_BYTES];
    EG_TRY(find_by_name(a, names->first, &first, &count[0], mean[0]));
    EG_TRY(find_by_name(a, names->second, &second, &count[1], mean[1]));
    if (first == second)
        EG_TRY(eg_fail(a->ctx, EG_ERROR_INPUT, "the boundary \"%s\" cannot be joined to itself",
                       names->first));
    for (int d = 0; d < a->dim; d++) {
        shift[d] = mean[1][d] - mean[0][d];
        if (fabs(shift[d]) <= 1e-14 * a->size) shift[d] = 0.0; /* rounding */
    }
    status = eg_mesh_join_periodic(a->mesh, first, second, shift);
    if (status == EG_ERROR_INPUT)
        status = explain_join(a, names, count[0] == count[1] ? shift : NULL);
    EG_TRY(status);
    EG_TRY(eg_assembly_say(
        a, EG_LOG_INFO,
        "faces of \"%s\" that were joined to those of \"%s\", a shift %s away: %lld", names->first,
        names->second, eg_mesh_place(a->dim, shift, place), (long long)count[0]));
done:
    return status;
}

eg_status eg_assembly_join(eg_assembly *a)
{
    eg_status status = EG_OK;
    if (a->file->link_count > 0) EG_TRY(join_links(a));
    for (size_t i = 0; i < a->options.join_count; i++) {
        status = join_names(a, &a->options.join[i]);
        if (status != EG_OK && a->options.join_failed) *a->options.join_failed = i;
        EG_TRY(status);
    }
done:
    return status;
}
