/* The order in which a space takes the elements of a mesh: along rows, so that the neighbours of the
 * elements in a tile mostly stand in a row, too, and are read as whole vectors.
 *
 * From an element of quadrilateral or hexahedral shape a row goes on through the faces at 1 of its first
 * direction, sheets of rows through those of the second, and blocks of sheets through those of the
 * third. Rows end where the next element is none, taken, or of another group or part. Blocks begin with
 * the first element of the mesh that is left, so that they follow each other as the mesh does. Elements
 * of other shapes keep the order of the mesh. */
#include "field/space.h"

/* Elements in a row and rows in a sheet of a block: as much as caches hold of what the next row or
 * sheet is a neighbour of. */
#define ROW_MOST 512
#define SHEET_MOST 8

typedef struct walk {
    const eg_mesh *mesh; /* not owned */
    const uint16_t *kind; /* not owned */
    bool *taken;         /* [elements + ghosts] owned */
    int32_t *order;      /* not owned */
    int32_t count;       /* of what is in order */
    int face[EG_SHAPE_COUNT][3][2];
} walk;

static bool is_tensor(int shape)
{
    return shape == EG_SHAPE_QUAD || shape == EG_SHAPE_HEX;
}

/* The element behind the face at -1 or 1 of a direction if a row may go on there, else -1. */
static int32_t next_element(const walk *w, int32_t element, int direction, bool high)
{
    const eg_mesh *mesh = w->mesh;
    if (element >= mesh->element_count) return -1; /* ghosts know no neighbours */
    const int shape = mesh->shape[element];
    const size_t at = (size_t)element * (size_t)mesh->face_stride +
                      (size_t)w->face[shape][direction][high];
    const int32_t next = mesh->neighbour[at];
    if (next < 0 || w->taken[next] || w->kind[next] != w->kind[element]) return -1;
    return EG_FACE(mesh->neighbour_face[at]) == w->face[shape][direction][!high] ? next : -1;
}

/* Takes a row, sheet or block (direction 0, 1, 2) that begins with `element`. */
static void take(walk *w, int32_t element, int direction)
{
    const int dim = w->mesh->dim;
    const int most = direction == 0 ? ROW_MOST : direction < dim - 1 ? SHEET_MOST : INT32_MAX;
    for (int i = 0; element >= 0 && i < most; i++) {
        if (direction > 0) {
            take(w, element, direction - 1);
        } else {
            w->taken[element] = true;
            w->order[w->count++] = element;
        }
        element = next_element(w, element, direction, true);
    }
}

/* Where rows through this element begin: as far as there are elements left at -1. */
static int32_t find_corner(const walk *w, int32_t element)
{
    for (int d = 0; d < w->mesh->dim; d++) {
        const int32_t start = element;
        for (int32_t e = element; e >= 0; e = next_element(w, e, d, false)) {
            element = e;
            if (next_element(w, e, d, false) != start) continue;
            element = start; /* around a period */
            break;
        }
    }
    return element;
}

eg_status eg_space_order(const eg_mesh *mesh, const uint16_t *kind, int32_t *order)
{
    static const eg_shape shapes[] = {EG_SHAPE_QUAD, EG_SHAPE_HEX};
    const int32_t count = mesh->element_count + mesh->ghost_count;
    walk w = {.mesh = mesh, .kind = kind, .order = order};
    eg_status status = EG_OK;
    EG_TRY(eg_new(mesh->ctx, (size_t)count + 1, &w.taken));
    for (size_t i = 0; i < EG_COUNT(shapes); i++)
        for (int f = 0; f < eg_shape_get_info(shapes[i])->faces; f++) {
            bool high = false;
            const int d = eg_shape_face_direction(shapes[i], f, &high);
            w.face[shapes[i]][d][high] = f;
        }
    for (int32_t e = 0; e < count; e++) {
        if (w.taken[e]) continue;
        if (is_tensor(mesh->shape[e]) && e < mesh->element_count)
            take(&w, find_corner(&w, e), mesh->dim - 1);
        else
            order[w.count++] = e;
    }
done:
    eg_release(mesh->ctx, &w.taken);
    return status;
}
