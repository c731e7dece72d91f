/* What tests of checkpoints share: parts of boxes on any number of ranks, states with two fields of
 * different spaces, directories. */
#ifndef EG_TEST_CHECKPOINT_H
#define EG_TEST_CHECKPOINT_H

#include "field.h"
#include "ranks.h"

#include <dirent.h>

#include "report/checkpoint/checkpoint.h"

/* A value that no other place has, with all digits in use. */
static inline double checkpoint_value(int64_t global, int component, int node, int64_t salt)
{
    uint64_t seed = (((uint64_t)global * 97 + (uint64_t)component) * 4099 + (uint64_t)node) * 31 +
                    (uint64_t)salt;
    return test_random(&seed);
}

typedef struct checkpoint_case {
    eg_shape shape;
    int cells[3];
    eg_basis basis, other; /* of the two fields */
    int low, high;         /* degrees of the first field; the second has `low` + 1 */
    bool curved;
} checkpoint_case;

/* This rank's part of a box, and two fields on it. */
typedef struct checkpoint_setting {
    eg_context *ctx; /* not owned, as are comm and device */
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space, *other;
    eg_field *solution, *earlier;
    double number;
    eg_state state;
} checkpoint_setting;

static inline eg_status checkpoint_bend(void *user, size_t count, const double *X, double *x)
{
    const int dim = *(const int *)user;
    for (size_t i = 0; i < count; i++)
        for (int d = 0; d < dim; d++)
            x[i * (size_t)dim + (size_t)d] =
                X[i * (size_t)dim + (size_t)d] +
                0.05 * sin(3.0 * X[i * (size_t)dim + (size_t)((d + 1) % dim)]);
    return EG_OK;
}

static inline eg_mesh *checkpoint_mesh(eg_context *ctx, eg_comm *comm, const checkpoint_case *c,
                                       eg_partitioner partitioner)
{
    int dim = eg_shape_get_info(c->shape)->dim;
    eg_mesh *whole =
        box_with(ctx, &(eg_box_options){.shape = c->shape,
                                        .cells = {c->cells[0], c->cells[1], c->cells[2]},
                                        .perturb = 0.1,
                                        .seed = 5,
                                        .order = c->curved ? 2 : 1,
                                        .map = c->curved ? checkpoint_bend : NULL,
                                        .map_user = &dim});
    eg_mesh *part = ranks_part(whole, comm, partitioner);
    eg_mesh_destroy(&whole);
    return part;
}

/* Sets every value to what checkpoint_value says. */
static inline void checkpoint_fill(eg_field *field, int64_t salt)
{
    const eg_space *space = field->space;
    double *values = calloc(eg_field_host_count(field) + 1, sizeof *values), *at = values;
    assert_non_null(values);
    for (int32_t e = 0; e < space->mesh->element_count; e++) {
        const int np = eg_space_group_of(space, e)->element->np;
        for (int k = 0; k < field->components * np; k++)
            *at++ = checkpoint_value(space->mesh->global[e], k / np, k % np, salt);
    }
    TEST_OK(space->ctx, eg_field_from_host(field, values));
    free(values);
}

/* How far a field is from that, at most. */
static inline double checkpoint_distance(const eg_field *field, int64_t salt)
{
    const eg_space *space = field->space;
    double *values = calloc(eg_field_host_count(field) + 1, sizeof *values), *at = values, most = 0;
    assert_non_null(values);
    TEST_OK(space->ctx, eg_field_to_host(field, values));
    for (int32_t e = 0; e < space->mesh->element_count; e++) {
        const int np = eg_space_group_of(space, e)->element->np;
        for (int k = 0; k < field->components * np; k++) {
            double apart =
                fabs(*at++ - checkpoint_value(space->mesh->global[e], k / np, k % np, salt));
            if (!(apart <= most)) most = apart;
        }
    }
    free(values);
    return most;
}

static inline void checkpoint_setting_open(eg_context *ctx, eg_comm *comm, eg_device *device,
                                           const checkpoint_case *c, eg_partitioner partitioner,
                                           checkpoint_setting *s)
{
    static const char *const names[] = {"u", "v"}, *const units[] = {"m/s", NULL};
    static const char *const earlier_names[] = {"w"};
    *s = (checkpoint_setting){.ctx = ctx, .comm = comm, .number = 0.1};
    s->mesh = checkpoint_mesh(ctx, comm, c, partitioner);
    uint8_t *degrees = mixed_degrees(s->mesh, c->low, c->high);
    TEST_OK(ctx,
            eg_space_create(device, comm, s->mesh,
                            &(eg_space_options){.basis = c->basis, .degrees = degrees}, &s->space));
    free(degrees);
    TEST_OK(ctx, eg_space_create(device, comm, s->mesh,
                                 &(eg_space_options){.basis = c->other, .degree = c->low + 1},
                                 &s->other));
    TEST_OK(ctx, eg_field_create(s->space, 2, EG_F64, &s->solution));
    TEST_OK(ctx, eg_field_create(s->other, 1, EG_F64, &s->earlier));
    checkpoint_fill(s->solution, 1);
    checkpoint_fill(s->earlier, 2);
    s->state =
        (eg_state){.step = 120, .time = 0.1, .dt = 1e-3, .field_count = 2, .number_count = 1};
    s->state.fields[0] =
        (eg_state_field){.name = "solution", .field = s->solution, .names = names, .units = units};
    s->state.fields[1] = (eg_state_field){
        .name = "earlier", .field = s->earlier, .names = earlier_names, .kept_only = true};
    s->state.numbers[0] = (eg_state_number){.name = "last dt", .value = &s->number};
}

static inline void checkpoint_setting_close(checkpoint_setting *s)
{
    eg_field_destroy(&s->earlier);
    eg_field_destroy(&s->solution);
    eg_space_destroy(&s->other);
    eg_space_destroy(&s->space);
    eg_mesh_destroy(&s->mesh);
}

/* Writes the state with this step into DIRECTORY. */
static inline eg_status checkpoint_write(checkpoint_setting *s, const char *directory, int64_t step,
                                         int keep)
{
    s->state.step = step;
    return eg_checkpoint_write(
        &(eg_checkpoint_options){
            .directory = directory, .keep = keep, .model = "test", .device = "cpu", .version = "0"},
        s->comm, &s->state, NULL);
}

/* How many entries a directory has that are not "." and ".."; -1: there is none. */
static inline int checkpoint_entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    if (!folder) return -1;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

#endif
