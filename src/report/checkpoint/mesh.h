/* What tells whether two meshes are the same, however they are divided between ranks. */
#ifndef EG_REPORT_CHECKPOINT_MESH_H
#define EG_REPORT_CHECKPOINT_MESH_H

#include "base/comm.h"
#include "mesh/mesh.h"

/* Numbers, shapes and degree of the mapping are compared exactly, by a sum of hashes. Coordinates may
 * differ by rounding, as other machines compute other last bits: of them there are sums with weights that
 * are as good as random, and differ from element to element and from node to node. */
typedef struct eg_mesh_identity {
    int64_t elements; /* of all ranks */
    int order;        /* of the mapping */
    uint64_t numbers; /* Σ hash(global number, shape) */
    double places[2]; /* Σ weight · coordinate over all elements and nodes */
    double scale;     /* Σ |coordinate| */
} eg_mesh_identity;

/* Of all ranks' own elements. Collective. */
eg_status eg_mesh_identify(const eg_mesh *mesh, eg_comm *comm, eg_mesh_identity *out);

/* NULL if two meshes are the same; else how they differ. */
const char *eg_mesh_difference(const eg_mesh_identity *a, const eg_mesh_identity *b);

#endif
