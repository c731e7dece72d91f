/* The order in which a space takes the elements of a mesh: along rows, so that the neighbours of
 * the elements in a tile mostly stand in a row, too, and are read as whole vectors.
 *
 * From an element of quadrilateral or hexahedral shape a row goes on through the faces at 1 of its
 * first direction. In the plane rows follow each other through the faces at 1 of the second
 * direction and make a block; in space sheets of rows do so, through those of the third. Where a
 * row or sheet is as long as it may be the next block begins, until nothing is left there; then the
 * first element of the mesh that is left says where to go on. Rows end, too, where the next element
 * is none, taken, of another kind, or turned. Elements of other shapes and ghosts keep the order of
 * the mesh.
 *
 * Neighbours are neighbours mutually, so that a walk in one direction ends or comes back to where
 * it began, however a mesh is twisted. All of it takes linear time: elements are taken once, and
 * walks to where blocks begin, which mostly go over elements that are taken next, have a limited
 * number of steps in all. */
#include "field/space.h"

/* Rows in a sheet of a block of hexahedra: as many as caches hold until the next sheet, which they
 * are the neighbours of. */
#define SHEET_MOST 8

/* Steps of walks to where blocks begin, for each element of the mesh: boxes need one at most.
 * Without steps left blocks begin anywhere. */
#define STEPS_MOST 8

typedef struct walk {
    const eg_mesh *mesh;            /* not owned */
    const uint16_t *kind;           /* not owned */
    bool *taken;                    /* [elements + ghosts] owned */
    int32_t *order;                 /* not owned */
    int32_t count;                  /* of what is in order */
    int row_most;                   /* elements in a row */
    int64_t steps;                  /* that walks may still take */
    int face[EG_SHAPE_COUNT][3][2]; /* of tensor shapes: [direction][at 1] */
} walk;

static bool is_tensor(int shape)
{
    return shape == EG_SHAPE_QUAD || shape == EG_SHAPE_HEX;
}

/* How many elements a row, rows a sheet, and sheets a block may have (direction 0, 1, 2). */
static int32_t most_along(const walk *w, int direction)
{
    if (direction == 0) return w->row_most;
    return direction < w->mesh->dim - 1 ? SHEET_MOST : INT32_MAX;
}

/* The element behind the face at -1 or 1 of a direction if a row may go on there, else -1. */
static int32_t next_element(const walk *w, int32_t element, int direction, bool high)
{
    const eg_mesh *mesh = w->mesh;
    if (element >= mesh->element_count) return -1; /* ghosts know no neighbours */
    const int *face = w->face[mesh->shape[element]][direction];
    const size_t at = (size_t)element * (size_t)mesh->face_stride + (size_t)face[high];
    const int32_t next = mesh->neighbour[at];
    if (next < 0 || w->taken[next] || w->kind[next] != w->kind[element]) return -1;
    return EG_FACE(mesh->neighbour_face[at]) == face[!high] ? next : -1;
}

/* Takes a row, sheet or block (direction 0, 1, 2) that begins with `element`. */
static void take(walk *w, int32_t element, int direction)
{
    const int32_t most = most_along(w, direction);
    for (int32_t i = 0; element >= 0 && i < most; i++) {
        if (direction > 0) {
            take(w, element, direction - 1);
        } else {
            w->taken[element] = true;
            w->order[w->count++] = element;
        }
        element = next_element(w, element, direction, true);
    }
}

/* Takes the block that begins with `element`, and those that follow where rows (direction 0), and
 * in space sheets of rows (direction 1), are cut into pieces. */
static void take_blocks(walk *w, int32_t element, int direction)
{
    const int32_t most = most_along(w, direction);
    while (element >= 0) {
        int32_t next = element;
        for (int32_t i = 0; next >= 0 && i < most; i++) {
            next = next_element(w, next, direction, true);
            if (next == element) next = -1; /* around a period */
        }
        if (direction > 0)
            take_blocks(w, element, direction - 1);
        else
            take(w, element, w->mesh->dim - 1);
        element = next >= 0 && w->taken[next] ? -1 : next;
    }
}

/* Where blocks around this element begin: as far towards -1 as there are elements left; where that
 * leads around a period, with the element itself. */
static int32_t find_corner(walk *w, int32_t element)
{
    for (int d = 0; d < w->mesh->dim; d++) {
        const int32_t start = element;
        while (w->steps > 0) {
            const int32_t next = next_element(w, element, d, false);
            if (next >= 0) element = next;
            if (next < 0 || next == start) break;
            w->steps--;
        }
    }
    return element;
}

eg_status eg_space_order(const eg_mesh *mesh, const uint16_t *kind, int row_most, int32_t *order)
{
    static const eg_shape shapes[] = {EG_SHAPE_QUAD, EG_SHAPE_HEX};
    const int32_t count = mesh->element_count + mesh->ghost_count;
    walk w = {.mesh = mesh,
              .kind = kind,
              .order = order,
              .row_most = row_most,
              .steps = (int64_t)STEPS_MOST * count};
    eg_status status = EG_OK;
    EG_TRY(eg_new(mesh->ctx, (size_t)count + 1, &w.taken));
    for (size_t i = 0; i < EG_COUNT(shapes); i++)
        for (int end = 0; end < eg_shape_get_info(shapes[i])->faces; end++)
            w.face[shapes[i]][end / 2][end % 2] = eg_shape_face_at(shapes[i], end / 2, end % 2);
    for (int32_t e = 0; e < count; e++) {
        if (w.taken[e]) continue;
        if (is_tensor(mesh->shape[e]) && e < mesh->element_count)
            while (!w.taken[e]) /* not all blocks get there at once */
                take_blocks(&w, find_corner(&w, e), mesh->dim - 2);
        else
            order[w.count++] = e;
    }
done:
    eg_release(mesh->ctx, &w.taken);
    return status;
}

bool eg_find_pieces(int lanes, const int64_t *place, int32_t out[EG_PIECE_VALUES])
{
    int pieces = 0;
    out[0] = out[1] = lanes;
    for (int lane = 0; lane < lanes; lane++) {
        if (place[lane] < 0) return false;
        const bool goes_on = lane > 0 && place[lane] == place[lane - 1] + 1;
        if (goes_on && place[lane] % lanes != 0) continue;
        if (++pieces > EG_PIECES_MOST) return false;
        if (pieces > 1) out[pieces - 2] = lane;
        out[EG_PIECES_MOST - 2 + pieces] = (int32_t)place[lane];
    }
    return true;
}
