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

enum { NONE = 255 };

/* What an element tells its neighbours, of itself or (distance 2) of all around it. */
typedef struct view {
    uint64_t taken; /* bit c: colour c is used */
    uint64_t first; /* the largest number of those without a colour; 0: all have one */
} view;

typedef struct painter {
    const eg_mesh *mesh; /* not owned */
    int distance;
    uint8_t *colour;       /* [elements + ghosts] not owned */
    view *views;           /* [elements + ghosts] */
    view *sent;            /* [sum of the links' send_count] */
    eg_message *messages;  /* [links] */
    eg_exchange *exchange; /* of views */
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

/* Fills views of own elements, and has those of ghosts sent. */
static eg_status look(painter *p)
{
    const eg_mesh *mesh = p->mesh;
    view *sent = p->sent;
    eg_status status = EG_OK;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        p->views[e] = of_itself(p, e);
        for (int f = 0; p->distance == 2 && f < face_count(mesh, e); f++) {
            const int32_t other = mesh->neighbour[e * (int64_t)mesh->face_stride + f];
            if (other >= 0) join(&p->views[e], of_itself(p, other));
        }
    }
    for (int i = 0; i < mesh->link_count; i++)
        for (int32_t k = 0; k < mesh->links[i].send_count; k++)
            *sent++ = p->views[mesh->links[i].send[k]];
    EG_TRY(eg_exchange_start(p->exchange));
    EG_TRY(eg_exchange_wait(p->exchange));
done:
    return status;
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

static eg_status prepare(painter *p)
{
    const eg_mesh *mesh = p->mesh;
    eg_context *ctx = mesh->ctx;
    const size_t all = (size_t)mesh->element_count + (size_t)mesh->ghost_count;
    size_t sends = 0;
    eg_status status = EG_OK;
    for (int i = 0; i < mesh->link_count; i++)
        sends += (size_t)mesh->links[i].send_count;
    EG_TRY(eg_new(ctx, all, &p->views));
    EG_TRY(eg_new(ctx, sends, &p->sent));
    EG_TRY(eg_new(ctx, (size_t)mesh->link_count, &p->messages));
    sends = 0;
    for (int i = 0; i < mesh->link_count; i++) {
        const eg_mesh_link *link = &mesh->links[i];
        p->messages[i] = (eg_message){
            link->rank, (size_t)link->send_count * sizeof *p->sent, p->sent + sends,
            (size_t)link->receive_count * sizeof *p->views, p->views + link->receive_first};
        sends += (size_t)link->send_count;
    }
    for (size_t e = 0; e < all; e++)
        p->colour[e] = NONE;
done:
    return status;
}

eg_status eg_colour_elements(const eg_mesh *mesh, eg_comm *comm, int distance, uint8_t *colour,
                             int *count)
{
    painter p = {.mesh = mesh, .colour = colour};
    double left, most = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(comm, prepare(&p)));
    EG_TRY(eg_exchange_create(comm, p.messages, (size_t)mesh->link_count, &p.exchange));
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
    eg_exchange_destroy(&p.exchange);
    eg_release(mesh->ctx, &p.messages);
    eg_release(mesh->ctx, &p.sent);
    eg_release(mesh->ctx, &p.views);
    return status;
}
