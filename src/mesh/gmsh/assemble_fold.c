/* Whether elements that share a face lie on its two sides.
 *
 * By then all elements have been turned the right way, so that neighbours see the vertices of their
 * face in opposite order. Two that see them in the same order lie upon each other. Where only one
 * of them was turned, the file's orders agree and it is their form that does not: the mesh is
 * folded. Elements on the two sides of folds face two ways; in every connected part the fewer ones
 * are inside out. */
#include "mesh/gmsh/assemble.h"

typedef struct folding {
    const eg_assembly *assembly;
    bool *turned;   /* [element_count] an element has another order than in the file; owned */
    uint8_t *way;   /* [element_count] 1 or 2, 0: not known yet; owned */
    int32_t *queue; /* [element_count] the elements of a part; owned */
    int32_t count;  /* elements that are inside out */
    int32_t first;  /* the first of them, -1: none */
} folding;

/* True if an element and its neighbour at a face lie on the same side of it. */
static bool is_folded_at(const eg_mesh *mesh, int32_t element, int face)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    const int64_t slot = (int64_t)element * mesh->face_stride + face;
    return mesh->neighbour[slot] >= 0 &&
           EG_ORIENTATION(mesh->neighbour_face[slot]) < (mesh->dim == 2 ? 1 : info->face_vertices);
}

/* The second vertex of an element that was turned is another one. */
static void find_turned(folding *f)
{
    const eg_assembly *a = f->assembly;
    int32_t element = 0;
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        if (!eg_assembly_fills(a, block)) continue;
        for (int64_t i = 0; i < block->count; i++, element++) {
            const int32_t second = eg_assembly_node(a, block->nodes[i * block->np + 1]);
            f->turned[element] = a->vertex[second] !=
                                 a->mesh->vertices[(int64_t)element * a->mesh->vertex_stride + 1];
        }
    }
}

/* True if there is a face where it is the form of elements that does not agree. */
static bool is_folded(const folding *f)
{
    const eg_mesh *mesh = f->assembly->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int k = 0; k < faces; k++) {
            if (is_folded_at(mesh, e, k) &&
                f->turned[e] != f->turned[mesh->neighbour[(int64_t)e * mesh->face_stride + k]])
                return true;
        }
    }
    return false;
}

/* Goes from face to face through the part of the mesh that an element belongs to. */
static void judge_part(folding *f, int32_t start)
{
    const eg_mesh *mesh = f->assembly->mesh;
    int32_t end = 1, ways[3] = {0};
    f->way[start] = 1;
    f->queue[0] = start;
    for (int32_t i = 0; i < end; i++) {
        const int32_t e = f->queue[i];
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        ways[f->way[e]]++;
        for (int k = 0; k < faces; k++) {
            const int32_t other = mesh->neighbour[(int64_t)e * mesh->face_stride + k];
            if (other < 0 || f->way[other]) continue;
            f->way[other] = (uint8_t)(is_folded_at(mesh, e, k) ? 3 - f->way[e] : f->way[e]);
            f->queue[end++] = other;
        }
    }
    int fewer = ways[1] < ways[2] ? 1 : 2;
    if (ways[1] == ways[2] && f->turned[start]) fewer = 1;
    f->count += ways[fewer];
    for (int32_t i = 0; i < end; i++) {
        const int32_t e = f->queue[i];
        if (f->way[e] != fewer) continue;
        if (f->first < 0 || e < f->first) f->first = e;
        if (f->assembly->bad) f->assembly->bad[e] = true;
    }
}

/* Names the first element that is inside out and counts all of them. */
static eg_status refuse_folded(folding *f)
{
    const eg_assembly *a = f->assembly;
    const int32_t elements = a->mesh->element_count;
    f->first = -1;
    for (int32_t e = 0; e < elements; e++) {
        if (!f->way[e]) judge_part(f, e);
    }
    return eg_assembly_refuse(
        a, f->first,
        "is inside out, but elements beside it are not: the mesh is folded over there. Elements "
        "that are inside out: %d of %d%s",
        f->count, elements,
        a->order > 1 ? ". \"gmsh -optimize_ho\" may mend what was curved too much" : "");
}

static eg_status refuse_overlap(const eg_assembly *a, int32_t element, int face)
{
    const eg_mesh *mesh = a->mesh;
    const int32_t other = mesh->neighbour[(int64_t)element * mesh->face_stride + face];
    double centre[3];
    char place[EG_PLACE_BYTES];
    if (a->bad) a->bad[element] = a->bad[other] = true;
    eg_mesh_face_centre(mesh, element, face, centre);
    return eg_assembly_refuse(
        a, element, "overlaps element %lld: both lie on the same side of the face at %s",
        (long long)mesh->global[other], eg_mesh_place(mesh->dim, centre, place));
}

/* An element lies on the same side of a face as its neighbour. */
static eg_status refuse(const eg_assembly *a, int32_t element, int face)
{
    eg_status status = EG_OK;
    const size_t elements = (size_t)a->mesh->element_count;
    folding f = {.assembly = a};
    EG_TRY(eg_new(a->ctx, elements, &f.turned));
    EG_TRY(eg_new(a->ctx, elements, &f.way));
    EG_TRY(eg_new(a->ctx, elements, &f.queue));
    find_turned(&f);
    EG_TRY(is_folded(&f) ? refuse_folded(&f) : refuse_overlap(a, element, face));
done:
    eg_release(a->ctx, &f.queue);
    eg_release(a->ctx, &f.way);
    eg_release(a->ctx, &f.turned);
    return status;
}

eg_status eg_assembly_check_sides(const eg_assembly *a)
{
    const eg_mesh *mesh = a->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            if (is_folded_at(mesh, e, f)) return refuse(a, e, f);
        }
    }
    return EG_OK;
}
