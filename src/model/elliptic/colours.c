/* Colouring elements in parallel [jones1993].
 *
 * Every element has a rank of its own, a scrambled global number. In every round those that come
 * first among the elements without a colour around them take the least colour that is free there.
 * That is what one process would do which went through all elements in that order, so the
 * colours do not depend on how the mesh is divided.
 *
 * An element at distance 2 may be behind a ghost, where this rank cannot look. So every element
 * tells its neighbours, on other ranks too, what it sees: the colours of its own neighbours, and
 * the first of them that has none. */
#include "model/elliptic/colours.h"

#include "mesh/ghosts.h"

#include <string.h>

enum { NONE = 255 };

/* What an element tells its neighbours, of itself or (distance 2) of all around it. */
typedef struct view {
    uint64_t taken; /* bit c: colour c is used */
    uint64_t first; /* the largest number of those without a colour; 0: all have one */
} view;

typedef struct painter {
    const eg_mesh *mesh; /* not owned */
    int distance;
    uint8_t *colour; /* [elements + ghosts] not owned */
    view *views;     /* [elements + ghosts] */
    eg_mesh_ghosts *ghosts;
} painter;

/* One to one [steele2014], 0 to 0 only. */
static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t number_of(const eg_mesh *mesh, int32_t element)
{
    return scramble((uint64_t)mesh->global[element] + 1);
}

static int face_count(const eg_mesh *mesh, int32_t element)
{
    return eg_shape_get_info((eg_shape)mesh->shape[element])->faces;
}

static void join(view *to, view from)
{
    to->taken |= from.taken;
    if (from.first > to->first) to->first = from.first;
}

static view of_itself(const painter *p, int32_t element)
{
    const uint8_t colour = p->colour[element];
    return colour == NONE ? (view){.first = number_of(p->mesh, element)}
                          : (view){.taken = (uint64_t)1 << colour};
}

/* Fills views of own elements and of ghosts. */
static eg_status look(painter *p)
{
    const eg_mesh *mesh = p->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        p->views[e] = of_itself(p, e);
        for (int f = 0; p->distance == 2 && f < face_count(mesh, e); f++) {
            const int32_t other = mesh->neighbour[e * (int64_t)mesh->face_stride + f];
            if (other >= 0) join(&p->views[e], of_itself(p, other));
        }
    }
    return eg_mesh_ghosts_fill(p->ghosts);
}

/* Gives colours to own elements that come first; returns how many are left without. */
static int64_t paint(painter *p)
{
    const eg_mesh *mesh = p->mesh;
    int64_t left = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        if (p->colour[e] != NONE) continue;
        view around = p->views[e];
        for (int f = 0; f < face_count(mesh, e); f++) {
            const int32_t other = mesh->neighbour[e * (int64_t)mesh->face_stride + f];
            if (other >= 0) join(&around, p->views[other]);
        }
        if (around.first != number_of(mesh, e)) {
            left++;
            continue;
        }
        uint8_t colour = 0; /* a hexahedron has 36 others around: 64 are always enough */
        while (around.taken >> colour & 1)
            colour++;
        p->colour[e] = colour;
    }
    return left;
}

/* The colours of ghosts become those of their owners'. */
static eg_status send_colours(painter *p)
{
    const int32_t own = p->mesh->element_count;
    eg_status status = EG_OK;
    p->distance = 1; /* each tells its own colour alone */
    EG_TRY(look(p));
    for (int32_t e = own; e < own + p->mesh->ghost_count; e++) {
        uint8_t colour = 0;
        if (p->views[e].first) {
            p->colour[e] = NONE;
            continue;
        }
        while (!(p->views[e].taken >> colour & 1))
            colour++;
        p->colour[e] = colour;
    }
done:
    return status;
}

eg_status eg_colour_elements(const eg_mesh *mesh, eg_comm *comm, int distance, uint8_t *colour,
                             int *count)
{
    const size_t all = (size_t)mesh->element_count + (size_t)mesh->ghost_count;
    painter p = {.mesh = mesh, .colour = colour};
    double left, most = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_new(comm, mesh->ctx, all, &p.views));
    EG_TRY(eg_mesh_ghosts_create(mesh, comm, sizeof *p.views, p.views, &p.ghosts));
    memset(colour, NONE, all);
    do {
        p.distance = distance;
        EG_TRY(look(&p));
        left = (double)paint(&p);
        EG_TRY(send_colours(&p));
        EG_TRY(eg_comm_sum(comm, 1, &left));
    } while (left > 0);
    for (int32_t e = 0; e < mesh->element_count; e++)
        if (colour[e] >= most) most = colour[e] + 1;
    EG_TRY(eg_comm_max(comm, 1, &most));
    *count = (int)most;
done:
    eg_mesh_ghosts_destroy(&p.ghosts);
    eg_release(mesh->ctx, &p.views);
    return status;
}
