/* Launches rates.k.c, and knows how long steps of advection may be. */
#include "model/ins/speed.h"

#include "field/rates.h"

/* Rows of threads that look at nodes together on a GPU. */
enum { PARTS = 8 };

struct eg_ins_speed {
    eg_space *space;           /* not owned */
    const eg_ins_faces *faces; /* not owned */
    eg_kernel *kernel;
    eg_rates *rates;
};

void eg_ins_speed_destroy(eg_ins_speed **handle)
{
    eg_ins_speed *s = *handle;
    if (!s) return;
    eg_rates_destroy(&s->rates);
    eg_kernel_destroy(&s->kernel);
    eg_release(s->space->ctx, handle);
}

static eg_status create_own(eg_ins_speed *s)
{
    const eg_space *space = s->space;
    const eg_element *e = space->groups[0].element;
    const eg_define defines[] = {{"NP", e->np},
                                 {"NFP", e->face_np},
                                 {"PARTS", eg_device_get_info(space->device)->is_gpu ? PARTS : 1}};
    eg_status status = EG_OK;
    EG_TRY(eg_space_kernel(space, &space->groups[0],
                           (eg_kernel_options){.source = "model/ins/rates.k.c",
                                               .entry = "rates",
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines)},
                           &s->kernel));
    EG_TRY(eg_rates_create(space, &s->rates));
done:
    return status;
}

eg_status eg_ins_speed_create(eg_space *space, const eg_ins_faces *faces, eg_ins_speed **out)
{
    eg_ins_speed *s = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &s));
    *s = (eg_ins_speed){.space = space, .faces = faces};
    EG_TRY(eg_comm_agree(space->comm, create_own(s)));
    *out = s;
    s = NULL;
done:
    eg_ins_speed_destroy(&s);
    return status;
}

static eg_status find_own(eg_ins_speed *s, eg_field *const w[2], const eg_ins_data *given,
                          double *rate)
{
    const eg_group *g = &s->space->groups[0];
    const size_t begin = w[0]->offset[0];
    eg_status status = EG_OK;
    EG_TRY(eg_launch(s->kernel, g->own_tiles, EG_BUFFER_AT("u", w[0]->data, begin),
                     EG_BUFFER_AT("v", w[1]->data, begin), EG_BUFFER("beyond", s->faces->beyond),
                     EG_BUFFER("geometry", g->volume_factors), EG_BUFFER("faces", g->face_factors),
                     EG_BUFFER("kinds", s->faces->kinds),
                     EG_BUFFER("given", eg_ins_data_values(given)),
                     EG_BUFFER_AT("rate", s->rates->of_slot, (size_t)g->first_slot)));
    EG_TRY(eg_rates_find_largest(s->rates, rate));
done:
    return status;
}

eg_status eg_ins_speed_find(eg_ins_speed *s, eg_field *const w[2], const eg_ins_data *given,
                            double *rate)
{
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(s->space->comm, find_own(s, w, given, rate)));
    EG_TRY(eg_comm_max(s->space->comm, 1, rate));
done:
    return status;
}

/* Of a lattice of vortices without viscosity to speak of, on 32 perturbed triangles, N = 1 … 8: the largest steps
 * that stay bounded to t = 2 are 4.3 to 6, 0.97 to 1.9, 0.73 to 1.1 and 0.50 to 0.85 over (N + 1)². */
double eg_ins_stable_part(int degree, int order)
{
    static const double of_order[] = {4.2, 0.95, 0.7, 0.5};
    return of_order[order] / ((degree + 1) * (degree + 1));
}
