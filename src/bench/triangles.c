/* A space on a square of perturbed triangles, which benchmarks of models on triangles are about. */
#include "bench/run.h"

eg_status eg_bench_triangles_create(eg_bench *bench, int cells, int degree,
                                    eg_bench_lanes_of *lanes_of, eg_bench_triangles *out)
{
    int lanes = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_self(bench->ctx, &out->comm));
    EG_TRY(eg_mesh_create_box(
        bench->ctx,
        &(eg_box_options){
            .shape = EG_SHAPE_TRI, .cells = {cells, cells}, .perturb = 0.2, .seed = 1},
        &out->mesh));
    EG_TRY(lanes_of(bench->device, out->mesh, degree, &lanes));
    EG_TRY(eg_space_create(
        bench->device, out->comm, out->mesh,
        &(eg_space_options){.basis = EG_BASIS_LOBATTO, .degree = degree, .lanes = lanes},
        &out->space));
done:
    return status;
}

void eg_bench_triangles_destroy(eg_bench_triangles *t)
{
    eg_space_destroy(&t->space);
    eg_comm_destroy(&t->comm);
    eg_mesh_destroy(&t->mesh);
}
