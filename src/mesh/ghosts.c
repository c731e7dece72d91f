/* Values of ghosts by messages between the ranks of a mesh's links. */
#include "mesh/ghosts.h"

#include <string.h>

struct eg_mesh_ghosts {
    const eg_mesh *mesh;   /* not owned */
    size_t bytes;          /* of a value */
    unsigned char *values; /* [elements + ghosts][bytes] not owned */
    unsigned char *sent;   /* [sum of the links' send_count][bytes] */
    eg_message *messages;  /* [links] */
    eg_exchange *exchange;
};

static eg_status prepare(const eg_mesh *mesh, size_t bytes, void *values, eg_mesh_ghosts **out)
{
    eg_mesh_ghosts *g = NULL;
    size_t sends = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_new(mesh->ctx, 1, &g));
    *out = g;
    *g = (eg_mesh_ghosts){.mesh = mesh, .bytes = bytes, .values = values};
    for (int i = 0; i < mesh->link_count; i++)
        sends += (size_t)mesh->links[i].send_count;
    EG_TRY(eg_new(mesh->ctx, sends * bytes, &g->sent));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->link_count, &g->messages));
    sends = 0;
    for (int i = 0; i < mesh->link_count; i++) {
        const eg_mesh_link *link = &mesh->links[i];
        g->messages[i] = (eg_message){link->rank, (size_t)link->send_count * bytes,
                                      g->sent + sends * bytes, (size_t)link->receive_count * bytes,
                                      g->values + (size_t)link->receive_first * bytes};
        sends += (size_t)link->send_count;
    }
done:
    return status;
}

eg_status eg_mesh_ghosts_create(const eg_mesh *mesh, eg_comm *comm, size_t bytes, void *values,
                                eg_mesh_ghosts **out)
{
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_agree(comm, prepare(mesh, bytes, values, out)));
    EG_TRY(eg_exchange_create(comm, (*out)->messages, (size_t)mesh->link_count, &(*out)->exchange));
done:
    if (status != EG_OK) eg_mesh_ghosts_destroy(out);
    return status;
}

void eg_mesh_ghosts_destroy(eg_mesh_ghosts **ghosts)
{
    if (!ghosts || !*ghosts) return;
    eg_mesh_ghosts *g = *ghosts;
    eg_context *ctx = g->mesh->ctx;
    eg_exchange_destroy(&g->exchange);
    eg_release(ctx, &g->messages);
    eg_release(ctx, &g->sent);
    eg_release(ctx, ghosts);
}

eg_status eg_mesh_ghosts_fill(eg_mesh_ghosts *g)
{
    unsigned char *to = g->sent;
    eg_status status = EG_OK;
    for (int i = 0; i < g->mesh->link_count; i++)
        for (int32_t k = 0; k < g->mesh->links[i].send_count; k++, to += g->bytes)
            memcpy(to, g->values + (size_t)g->mesh->links[i].send[k] * g->bytes, g->bytes);
    EG_TRY(eg_exchange_start(g->exchange));
    EG_TRY(eg_exchange_wait(g->exchange));
done:
    return status;
}
