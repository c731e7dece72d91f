/* The load of model `elliptic`, by quadrature of a source and of boundary data. */
#include "model/elliptic/parts.h"

/* Buffers that all groups share. */
typedef struct shared {
    eg_operator *tests;
    eg_buffer *inner_weights, *face_weights;
} shared;

/* b of a group whose faces are known. */
static eg_status load_group(const eg_elliptic *a, int group, const eg_elliptic_data *data,
                            double time, const eg_elliptic_faces *faces, const shared *s,
                            eg_buffer *b)
{
    const eg_group *g = &a->space->groups[group];
    const eg_cubature *rule = a->rules.inner;
    const size_t values = (size_t)(g->tiles * rule->count * g->lanes);
    const double nothing = 0;
    eg_metric metric = {0};
    eg_buffer *source = NULL, *given = NULL;
    eg_kernel *kernel = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_metric_create(a->space, group, rule->count, rule->r, EG_METRIC_FACTORS, &metric));
    if (data->source) {
        EG_TRY(eg_elliptic_evaluate(a, group, data->source, time, rule->count, rule->r, &source));
    } else {
        EG_TRY(eg_buffer_create(a->space->device, EG_F64, values, &source));
        EG_TRY(eg_buffer_fill(source, 0, values, &nothing));
    }
    EG_TRY(eg_elliptic_evaluate_boundaries(a, group, data->boundary, time,
                                           a->faces * a->rules.face->count, a->rules.r, &given));
    EG_TRY(eg_elliptic_kernel(a, group, EG_ELLIPTIC_LOAD, "load", metric.points, &kernel));
    EG_TRY(eg_launch(kernel, g->own_tiles, EG_BUFFER("geometry", metric.factors),
                     EG_BUFFER("source", source), EG_BUFFER("given", given),
                     EG_BUFFER("inner_weights", s->inner_weights),
                     EG_BUFFER("face_weights", s->face_weights), EG_BUFFER("sizes", faces->sizes),
                     EG_BUFFER("metric", faces->metric), EG_BUFFER("penalty", faces->penalty),
                     EG_BUFFER("share", faces->share), EG_OPERATOR("sum", s->tests),
                     EG_BUFFER_AT("b", b, a->like->offset[group])));
    EG_TRY(eg_device_sync(a->space->device));
done:
    eg_kernel_destroy(&kernel);
    eg_buffer_destroy(&given);
    eg_buffer_destroy(&source);
    eg_metric_free(&metric);
    return status;
}

eg_status eg_elliptic_load(eg_elliptic *a, const eg_elliptic_data *data, double time, eg_buffer *b)
{
    const eg_space *space = a->space;
    const eg_cubature *inner = a->rules.inner, *face = a->rules.face;
    eg_elliptic_faces *faces = NULL;
    shared s = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &faces));
    EG_TRY(eg_elliptic_make_tests(a, &s.tests));
    EG_TRY(eg_space_upload(space, EG_F64, (size_t)inner->count, inner->w, &s.inner_weights));
    EG_TRY(eg_space_upload(space, EG_F64, (size_t)face->count, face->w, &s.face_weights));
    EG_TRY(eg_elliptic_make_faces(a, faces));
    for (int i = 0; i < space->group_count; i++)
        if (space->groups[i].own_tiles > 0) EG_TRY(load_group(a, i, data, time, &faces[i], &s, b));
done:
    for (int i = 0; faces && i < space->group_count; i++)
        eg_elliptic_faces_free(&faces[i]);
    eg_buffer_destroy(&s.face_weights);
    eg_buffer_destroy(&s.inner_weights);
    eg_operator_destroy(&s.tests);
    eg_release(space->ctx, &faces);
    return status;
}
