/* The halo exchange: values of own elements go to the ranks that have them as ghosts, and come
 * back.
 *
 * What is sent of an element is the list of its nodes that the other rank needs, ascending, for
 * each component: all of them, or the union of the nodes on the faces that the two ranks share.
 * Elements of a link go in the order of their global numbers. Both sides know shapes, degrees and
 * shared faces of the elements in question, so they agree on every message without speaking.
 *
 *     start: gather on the device → download → send        wait: receive → upload → scatter
 *
 * The download waits for everything that was queued before it. So work on interior tiles belongs
 * between start and wait: queued earlier, it would delay the exchange instead of hiding it. */
#include "field/points.h"
#include "field/space.h"

/* Rows of a tile of the kernels: ROWS in them. */
#define LIST_ROWS 8

struct eg_halo {
    eg_space *space; /* not owned */
    int components;
    eg_type type;
    bool under_way;
    /* Everything below is unset on one rank, where a halo does nothing. */
    size_t send_count, receive_count; /* values of all links */
    size_t unpack_count;              /* receive_count and the padding, which repeats ghosts */
    eg_kernel *pack, *unpack;
    eg_buffer *pack_from;               /* i64: where in a field each value to send stands */
    eg_buffer *unpack_from, *unpack_to; /* i64: from where in `received`, to where in a field */
    eg_buffer *packed, *received;       /* in the field's type */
    void *send, *receive;               /* the same on the host, owned */
    eg_exchange *exchange;
};

/* What is being counted and listed. */
typedef struct plan {
    eg_halo *halo;
    size_t *offset;       /* [group_count + 1] of the fields */
    uint8_t *ghost_faces; /* [ghosts] bit f: its face f is shared with an own element */
    size_t *ghost_first;  /* [ghosts] its first value among all that are received */
    uint8_t *wanted;      /* [most values of an element] scratch */
    eg_message *messages; /* [links] */
    bool all;             /* send all values, wherever they stand */
} plan;

/* Marks the values that are sent of an element with these shared faces; returns how many. */
static int mark_wanted(const plan *p, const eg_element *element, unsigned faces)
{
    const bool all = p->all || !element->face_node;
    int count = 0;
    for (int i = 0; i < element->np; i++)
        p->wanted[i] = all;
    for (int f = 0; !all && f < element->faces; f++)
        for (int j = 0; j < element->face_np && (faces >> f & 1); j++)
            p->wanted[element->face_node[f * element->face_np + j]] = 1;
    for (int i = 0; i < element->np; i++)
        count += p->wanted[i];
    return count;
}

/* The faces that an own element shares with a link's ghosts. */
static unsigned shared_faces(const eg_mesh *mesh, int32_t element, const eg_mesh_link *link)
{
    const int faces = eg_shape_get_info((eg_shape)mesh->shape[element])->faces;
    const int32_t *neighbour = mesh->neighbour + (size_t)element * (size_t)mesh->face_stride;
    unsigned shared = 0;
    for (int f = 0; f < faces; f++)
        if (neighbour[f] >= link->receive_first &&
            neighbour[f] - link->receive_first < link->receive_count)
            shared |= 1U << f;
    return shared;
}

static void find_ghost_faces(const eg_mesh *mesh, uint8_t *ghost_faces)
{
    for (int32_t e = mesh->ghost_count ? 0 : mesh->element_count; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            size_t at = (size_t)e * (size_t)mesh->face_stride + (size_t)f;
            int32_t ghost = mesh->neighbour[at] - mesh->element_count;
            if (ghost >= 0)
                ghost_faces[ghost] |= (uint8_t)(1U << EG_FACE(mesh->neighbour_face[at]));
        }
    }
}

/* Counts what every link sends and receives; sizes of messages are in values for now. */
static void count_values(plan *p)
{
    eg_halo *halo = p->halo;
    const eg_space *space = halo->space;
    const eg_mesh *mesh = space->mesh;
    const size_t components = (size_t)halo->components;
    for (int l = 0; l < mesh->link_count; l++) {
        const eg_mesh_link *link = &mesh->links[l];
        eg_message *message = &p->messages[l];
        message->rank = link->rank;
        for (int32_t k = 0; k < link->send_count; k++) {
            int32_t e = link->send[k];
            int count =
                mark_wanted(p, eg_space_group_of(space, e)->element, shared_faces(mesh, e, link));
            message->send_bytes += (size_t)count * components;
        }
        for (int32_t k = 0; k < link->receive_count; k++) {
            int32_t e = link->receive_first + k, ghost = e - mesh->element_count;
            p->ghost_first[ghost] = halo->receive_count + message->receive_bytes;
            int count = mark_wanted(p, eg_space_group_of(space, e)->element, p->ghost_faces[ghost]);
            message->receive_bytes += (size_t)count * components;
        }
        halo->send_count += message->send_bytes;
        halo->receive_count += message->receive_bytes;
    }
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        for (int64_t s = g->own_tiles * g->lanes; s < g->tiles * g->lanes; s++) {
            int32_t ghost = g->element_of_slot[s] - mesh->element_count;
            halo->unpack_count +=
                (size_t)mark_wanted(p, g->element, p->ghost_faces[ghost]) * components;
        }
    }
}

/* Lists where the wanted values of a group's slot stand in a field; returns how many. */
static size_t list_places(const plan *p, int group, int64_t slot, int64_t *list)
{
    const eg_group *g = &p->halo->space->groups[group];
    const int components = p->halo->components, np = g->element->np;
    size_t first = p->offset[group] + eg_group_place(g, components, slot), count = 0;
    for (int c = 0; c < components; c++)
        for (int i = 0; i < np; i++)
            if (p->wanted[i])
                list[count++] = (int64_t)(first + (size_t)(c * np + i) * (size_t)g->lanes);
    return count;
}

static void list_sent(const plan *p, int64_t *from)
{
    const eg_space *space = p->halo->space;
    const eg_mesh *mesh = space->mesh;
    for (int l = 0; l < mesh->link_count; l++)
        for (int32_t k = 0; k < mesh->links[l].send_count; k++) {
            int32_t e = mesh->links[l].send[k];
            const eg_group *g = eg_space_group_of(space, e);
            mark_wanted(p, g->element, shared_faces(mesh, e, &mesh->links[l]));
            from += list_places(p, (int)(g - space->groups),
                                space->slot_of_element[e] - g->first_slot, from);
        }
}

static void list_received(const plan *p, int64_t *from, int64_t *to)
{
    const eg_space *space = p->halo->space;
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        for (int64_t s = g->own_tiles * g->lanes; s < g->tiles * g->lanes; s++) {
            int32_t ghost = g->element_of_slot[s] - space->mesh->element_count;
            mark_wanted(p, g->element, p->ghost_faces[ghost]);
            size_t count = list_places(p, i, s, to);
            for (size_t k = 0; k < count; k++)
                from[k] = (int64_t)(p->ghost_first[ghost] + k);
            from += count;
            to += count;
        }
    }
}

static eg_status create_kernel(eg_halo *halo, const char *entry, eg_kernel **out)
{
    const eg_define defines[] = {{"ROWS", LIST_ROWS}};
    return eg_kernel_create(halo->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "field/halo.k.c",
                                                 .entry = entry,
                                                 .real = halo->type,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

/* Tiles that hold a list of `count` entries. */
static size_t list_tiles(const eg_halo *halo, size_t count)
{
    size_t tile = LIST_ROWS * (size_t)eg_kernel_lanes(halo->pack);
    return (count + tile - 1) / tile;
}

static size_t padded(const eg_halo *halo, size_t count)
{
    return list_tiles(halo, count) * LIST_ROWS * (size_t)eg_kernel_lanes(halo->pack);
}

/* Uploads a list whose padding is zero. */
static eg_status upload_list(eg_halo *halo, size_t count, const int64_t *list, eg_buffer **out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(halo->space->device, EG_I64, padded(halo, count), out));
    EG_TRY(eg_buffer_upload(*out, 0, padded(halo, count), list));
done:
    return status;
}

/* Everything that start and wait use later, but for the exchange itself. */
static eg_status set_up(eg_halo *halo, plan *p)
{
    eg_context *ctx = halo->space->ctx;
    eg_device *device = halo->space->device;
    const size_t size = eg_type_size(halo->type);
    eg_status status = EG_OK;
    int64_t *from = NULL, *to = NULL;
    EG_TRY(create_kernel(halo, "pack", &halo->pack));
    EG_TRY(create_kernel(halo, "unpack", &halo->unpack));

    EG_TRY(eg_new(ctx, padded(halo, halo->send_count), &from));
    list_sent(p, from);
    EG_TRY(upload_list(halo, halo->send_count, from, &halo->pack_from));
    eg_release(ctx, &from);
    EG_TRY(eg_new(ctx, padded(halo, halo->unpack_count), &from));
    EG_TRY(eg_new(ctx, padded(halo, halo->unpack_count), &to));
    list_received(p, from, to);
    EG_TRY(upload_list(halo, halo->unpack_count, from, &halo->unpack_from));
    EG_TRY(upload_list(halo, halo->unpack_count, to, &halo->unpack_to));

    EG_TRY(eg_buffer_create(device, halo->type, padded(halo, halo->send_count), &halo->packed));
    EG_TRY(eg_buffer_create(device, halo->type, halo->receive_count, &halo->received));
    EG_TRY(eg_allocate(ctx, halo->send_count * size, &halo->send));
    EG_TRY(eg_allocate(ctx, halo->receive_count * size, &halo->receive));
    char *send = halo->send, *receive = halo->receive;
    for (int l = 0; l < halo->space->mesh->link_count; l++) {
        eg_message *message = &p->messages[l];
        message->send_bytes *= size;
        message->receive_bytes *= size;
        message->send = send;
        message->receive = receive;
        send += message->send_bytes;
        receive += message->receive_bytes;
    }
done:
    eg_release(ctx, &to);
    eg_release(ctx, &from);
    return status;
}

static eg_status make_plan(plan *p)
{
    eg_halo *halo = p->halo;
    const eg_space *space = halo->space;
    const eg_mesh *mesh = space->mesh;
    eg_context *ctx = space->ctx;
    eg_status status = EG_OK;
    int most = 0;
    for (int i = 0; i < space->group_count; i++)
        if (space->groups[i].element->np > most) most = space->groups[i].element->np;
    EG_TRY(eg_new(ctx, (size_t)space->group_count + 1, &p->offset));
    EG_TRY(eg_new(ctx, (size_t)mesh->ghost_count, &p->ghost_faces));
    EG_TRY(eg_new(ctx, (size_t)mesh->ghost_count, &p->ghost_first));
    EG_TRY(eg_new(ctx, (size_t)most, &p->wanted));
    EG_TRY(eg_new(ctx, (size_t)mesh->link_count, &p->messages));
    eg_space_offsets(space, halo->components, p->offset);
    find_ghost_faces(mesh, p->ghost_faces);
    count_values(p);
    EG_TRY(set_up(halo, p));
done:
    return status;
}

/* All that needs no other rank: a halo and the messages of its exchange. */
static eg_status create(eg_space *space, int components, eg_type type, plan *p)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, 1, &p->halo));
    *p->halo = (eg_halo){.space = space, .components = components, .type = type};
    if (eg_comm_size(space->comm) > 1) EG_TRY(make_plan(p));
done:
    return status;
}

eg_status eg_halo_create(eg_space *space, int components, eg_type type, eg_halo_kind kind,
                         eg_halo **out)
{
    eg_context *ctx = space->ctx;
    eg_comm *comm = space->comm;
    plan p = {.all = kind == EG_HALO_ELEMENTS};
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_agree(comm, create(space, components, type, &p)));
    if (eg_comm_size(comm) > 1)
        EG_TRY(eg_comm_agree(comm,
                             eg_exchange_create(comm, p.messages, (size_t)space->mesh->link_count,
                                                &p.halo->exchange)));
    *out = p.halo;
    p.halo = NULL;
done:
    eg_halo_destroy(&p.halo);
    eg_release(ctx, &p.messages);
    eg_release(ctx, &p.wanted);
    eg_release(ctx, &p.ghost_first);
    eg_release(ctx, &p.ghost_faces);
    eg_release(ctx, &p.offset);
    return status;
}

void eg_halo_destroy(eg_halo **halo)
{
    if (!halo || !*halo) return;
    eg_halo *h = *halo;
    eg_context *ctx = h->space->ctx;
    /* What is under way still uses this memory. That it may fail is no longer of interest. */
    if (h->under_way && h->exchange) (void)eg_exchange_wait(h->exchange);
    eg_exchange_destroy(&h->exchange);
    eg_release(ctx, &h->receive);
    eg_release(ctx, &h->send);
    eg_buffer_destroy(&h->received);
    eg_buffer_destroy(&h->packed);
    eg_buffer_destroy(&h->unpack_to);
    eg_buffer_destroy(&h->unpack_from);
    eg_buffer_destroy(&h->pack_from);
    eg_kernel_destroy(&h->unpack);
    eg_kernel_destroy(&h->pack);
    eg_release(ctx, halo);
}

static eg_status check(const eg_halo *halo, const eg_field *field, bool under_way)
{
    eg_context *ctx = halo->space->ctx;
    if (field->space != halo->space || field->components != halo->components ||
        field->type != halo->type)
        return eg_fail(
            ctx, EG_ERROR_ARGUMENT, "a halo of %d components of %s was given a field of %d of %s%s",
            halo->components, eg_type_name(halo->type), field->components,
            eg_type_name(field->type), field->space == halo->space ? "" : " on another space");
    if (halo->under_way != under_way)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       under_way ? "a halo exchange is waited for that was not started"
                                 : "a halo exchange is started before the last was waited for");
    return EG_OK;
}

eg_status eg_halo_start(eg_halo *halo, const eg_field *field)
{
    eg_status status = EG_OK;
    EG_TRY(check(halo, field, false));
    if (halo->exchange) {
        EG_TRY(eg_launch(halo->pack, (int64_t)list_tiles(halo, halo->send_count),
                         EG_BUFFER("u", field->data), EG_BUFFER("from", halo->pack_from),
                         EG_BUFFER("packed", halo->packed)));
        EG_TRY(eg_buffer_download(halo->packed, 0, halo->send_count, halo->send));
        EG_TRY(eg_exchange_start(halo->exchange));
    }
    halo->under_way = true;
done:
    return status;
}

eg_status eg_halo_wait(eg_halo *halo, eg_field *field)
{
    eg_status status = EG_OK;
    EG_TRY(check(halo, field, true));
    halo->under_way = false;
    if (halo->exchange) {
        EG_TRY(eg_exchange_wait(halo->exchange));
        EG_TRY(eg_buffer_upload(halo->received, 0, halo->receive_count, halo->receive));
        EG_TRY(eg_launch(halo->unpack, (int64_t)list_tiles(halo, halo->unpack_count),
                         EG_BUFFER("packed", halo->received), EG_BUFFER("from", halo->unpack_from),
                         EG_BUFFER("to", halo->unpack_to),
                         EG_INTEGER("count", (int64_t)halo->unpack_count),
                         EG_BUFFER("u", field->data)));
    }
done:
    return status;
}
