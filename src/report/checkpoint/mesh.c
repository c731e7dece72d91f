/* The identity of a mesh: sums over elements, which depend neither on their order nor on the ranks that
 * own them.
 *
 * A mesh that differs in one coordinate by δ changes each weighted sum by up to δ, and goes unnoticed
 * only if that is below the tolerance for rounding, or if its weights are so small in both sums. */
#include "report/checkpoint/mesh.h"

#include <math.h>
#include <string.h>

/* Rounding of the sums, relative to the sum of magnitudes. */
#define TOLERANCE 1e-12

/* A bijection of 64 bits that leaves no pattern (the last step of splitmix64). */
static uint64_t scramble(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 32 bits as a number in [-1, 1). */
static double weight_of(uint64_t bits)
{
    return (double)(uint32_t)bits * 0x1p-31 - 1.0;
}

static eg_status identify_part(const eg_mesh *mesh, eg_mesh_identity *out)
{
    double *x = NULL;
    size_t most =
        (size_t)mesh->node_stride > EG_MAX_VERTICES ? (size_t)mesh->node_stride : EG_MAX_VERTICES;
    eg_status status = eg_new(mesh->ctx, most * (size_t)mesh->dim, &x);
    for (int32_t e = 0; status == EG_OK && e < mesh->element_count; e++) {
        uint64_t hash = scramble((uint64_t)mesh->global[e] * 8 + mesh->shape[e]);
        const int values = eg_mesh_element_nodes(mesh, e, x) * mesh->dim;
        out->numbers += hash;
        for (int i = 0; i < values; i++) {
            hash = scramble(hash);
            out->places[0] += weight_of(hash) * x[i];
            out->places[1] += weight_of(hash >> 32) * x[i];
            out->scale += fabs(x[i]);
        }
    }
    eg_release(mesh->ctx, &x);
    return status;
}

eg_status eg_mesh_identify(const eg_mesh *mesh, eg_comm *comm, eg_mesh_identity *out)
{
    const size_t size = (size_t)eg_comm_size(comm);
    eg_mesh_identity mine = {0}, *all = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(comm, identify_part(mesh, &mine)));
    EG_TRY(eg_comm_new(comm, mesh->ctx, size, &all));
    EG_TRY(eg_comm_allgather(comm, sizeof mine, &mine, all));
    *out = (eg_mesh_identity){.elements = mesh->global_count, .order = mesh->order};
    for (size_t r = 0; r < size; r++) {
        out->numbers += all[r].numbers;
        out->places[0] += all[r].places[0];
        out->places[1] += all[r].places[1];
        out->scale += all[r].scale;
    }
done:
    eg_release(mesh->ctx, &all);
    return status;
}

const char *eg_mesh_difference(const eg_mesh_identity *a, const eg_mesh_identity *b)
{
    const double tolerance = TOLERANCE * fmax(a->scale, b->scale);
    if (a->elements != b->elements) return "it has another number of elements";
    if (a->order != b->order) return "its elements have mappings of another degree";
    if (a->numbers != b->numbers) return "its elements have other numbers or shapes";
    if (!(fabs(a->scale - b->scale) <= tolerance) ||
        !(fabs(a->places[0] - b->places[0]) <= tolerance) ||
        !(fabs(a->places[1] - b->places[1]) <= tolerance))
        return "its elements lie elsewhere";
    return NULL;
}
