/* Subcycled advection, [karakus2018] section 2.3: each earlier velocity is carried to the new time by
 * the velocity that interpolates them in time, in steps of a low-storage Runge-Kutta scheme of order
 * four. As that is linear in what is carried, all are carried together: the oldest alone to the time of
 * the next, their sum from there on.
 *
 * What enters through a boundary at time s has, of the state w at time t, the value that w has
 * upstream, outside of the domain: w - (s - t) w·∇w, to first order. The velocity of the boundary at
 * time s in its place would be wrong by (s - t) dw/dt, and the order of the scheme in time 3/2. */
#include "model/ins/flow_parts.h"

#include "time/time.h"

eg_status eg_ins_cycles_create(eg_ins_flow *f)
{
    const size_t count =
        (size_t)(f->faces->tiles * f->faces->lanes) * (size_t)eg_ins_data_rows(f->velocity);
    eg_status status = EG_OK;
    for (int c = 0; c < 2; c++) {
        EG_TRY(eg_ins_new_field(f, &f->carrier[c]));
        EG_TRY(eg_ins_new_field(f, &f->register_k[c]));
        if (eg_ins_has_stages(f->op)) EG_TRY(eg_ins_new_field(f, &f->other_hat[c]));
    }
    EG_TRY(eg_vectors_create_plain(f->space->device, NULL, EG_F64, count, &f->on_faces));
    for (int i = 0; i < f->options.order; i++) {
        EG_TRY(eg_vectors_new(f->on_faces, &f->given[i]));
        EG_TRY(eg_vectors_new(f->on_faces, &f->steep[i]));
    }
    EG_TRY(eg_vectors_new(f->on_faces, &f->inflow));
    EG_TRY(eg_vectors_new(f->on_faces, &f->inflow_slope));
done:
    return status;
}

void eg_ins_cycles_destroy(eg_ins_flow *f)
{
    eg_buffer_destroy(&f->inflow_slope);
    eg_buffer_destroy(&f->inflow);
    for (int i = 0; i < STATES; i++) {
        eg_buffer_destroy(&f->steep[i]);
        eg_buffer_destroy(&f->given[i]);
    }
    eg_vectors_destroy(&f->on_faces);
    for (int c = 0; c < 2; c++) {
        eg_field_destroy(&f->other_hat[c]);
        eg_field_destroy(&f->register_k[c]);
        eg_field_destroy(&f->carrier[c]);
    }
}

/* carrier = the polynomial in time through the velocities, at t. */
static eg_status interpolate(eg_ins_flow *f, int order, double t)
{
    double weights[STATES];
    eg_status status = EG_OK;
    eg_lagrange_weights(order, f->times, t, weights);
    for (int c = 0; c < 2; c++) {
        eg_buffer *all[STATES];
        for (int i = 0; i < order; i++)
            all[i] = f->w[i][c]->data;
        EG_TRY(eg_vectors_add(f->vectors, 0, f->carrier[c]->data, order, weights, all));
    }
done:
    return status;
}

/* hat after a stage: k = A k - dt N, hat += B k. */
static eg_status take_stage(eg_ins_flow *f, const eg_stage *stage, double dt,
                            const eg_ins_inflow *inflow)
{
    const eg_ins_stage whole = {stage->A, dt, stage->B, f->register_k, f->other_hat};
    eg_status status = EG_OK;
    if (eg_ins_has_stages(f->op)) {
        EG_TRY(eg_ins_carry_stage(f->op, f->carrier, f->velocity, f->hat, inflow, &whole, f->next));
        for (int c = 0; c < 2; c++) {
            eg_field *const new_hat = f->other_hat[c];
            f->other_hat[c] = f->hat[c];
            f->hat[c] = new_hat;
        }
        goto done;
    }
    EG_TRY(eg_ins_carry(f->op, f->carrier, f->velocity, f->hat, inflow, f->next));
    for (int c = 0; c < 2; c++)
        EG_TRY(eg_vectors_smooth(f->vectors, stage->A, -dt, f->next[c]->data,
                                 f->register_k[c]->data, 1, stage->B, f->hat[c]->data));
done:
    return status;
}

/* Carries hat from t by dt; boundary values of `inflow` are those of time `first`. */
static eg_status carry(eg_ins_flow *f, int order, double first, double t, double dt)
{
    eg_stage stages[EG_STAGES_MAX];
    const int count = eg_time_stages(EG_TIME_LOW_RK4, t, dt, stages);
    eg_status status = EG_OK;
    for (int k = 0; k < count; k++) {
        const double now = stages[k].time;
        const eg_ins_inflow inflow = {f->inflow, f->inflow_slope, now - first};
        EG_TRY(interpolate(f, order, now));
        EG_TRY(eg_ins_data_set(f->velocity, 1, &now, &(double){1}));
        EG_TRY(take_stage(f, &stages[k], dt, &inflow));
    }
done:
    return status;
}

/* The states on boundary faces: `given`, `steep`. */
static eg_status look_at_boundaries(eg_ins_flow *f, int order, double dt)
{
    eg_status status = EG_OK;
    for (int i = 0; i < order; i++) {
        EG_TRY(eg_ins_data_set(f->velocity, 1, &f->times[i], &(double){1}));
        EG_TRY(eg_ins_find_inflow(f->op, f->w[i], f->velocity, dt, f->given[i], f->steep[i]));
    }
done:
    return status;
}

/* What the sum of states i … order - 1 brings in: at times[i], and its rate. */
static eg_status sum_inflow(eg_ins_flow *f, int i, int order, const double *beta)
{
    double late[STATES], rate[STATES];
    eg_status status = EG_OK;
    for (int k = i; k < order; k++) {
        rate[k] = -beta[k];
        late[k] = -beta[k] * (f->times[i] - f->times[k]);
    }
    EG_TRY(eg_vectors_add(f->on_faces, 0, f->inflow, order - i, beta + i, f->given + i));
    EG_TRY(eg_vectors_add(f->on_faces, 1, f->inflow, order - i, late + i, f->steep + i));
    EG_TRY(eg_vectors_add(f->on_faces, 0, f->inflow_slope, order - i, rate + i, f->steep + i));
done:
    return status;
}

eg_status eg_ins_subcycle(eg_ins_flow *f, int order, const double *beta, double t)
{
    const int cycles = f->options.subcycles;
    eg_status status = EG_OK;
    EG_TRY(look_at_boundaries(f, order, t - f->times[0]));
    for (int i = order - 1; i >= 0; i--) {
        const double begin = f->times[i], dt = ((i > 0 ? f->times[i - 1] : t) - begin) / cycles;
        EG_TRY(sum_inflow(f, i, order, beta));
        for (int c = 0; c < 2; c++)
            EG_TRY(eg_vectors_add(f->vectors, i < order - 1, f->hat[c]->data, 1, &beta[i],
                                  &f->w[i][c]->data));
        for (int k = 0; k < cycles; k++)
            EG_TRY(carry(f, order, begin, begin + k * dt, dt));
    }
done:
    return status;
}
