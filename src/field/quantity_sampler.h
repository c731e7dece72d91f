/* Values of expressions of fields at the points of parts of a space, a batch of tiles at a time. */
#ifndef EG_FIELD_QUANTITY_SAMPLER_H
#define EG_FIELD_QUANTITY_SAMPLER_H

#include "field/quantity_part.h"
#include "field/quantity_source.h"

/* Buffers of a batch, in tiles of its group's lanes. */
enum {
    EG_SAMPLE_NODES,   /* [dim][geometry np] coordinates */
    EG_SAMPLE_X,       /* [dim][count] */
    EG_SAMPLE_METRIC,  /* [1 + dim*dim][count, or 1 on affine elements], as eg_metric has them; of
                          curved elements J alone if no derivatives are used */
    EG_SAMPLE_NORMALS, /* [dim + 1][count, or 1] as eg_face_metric */
    EG_SAMPLE_U, /* [used][np] coefficients; the next three: of the derivatives along r, s, t */
    EG_SAMPLE_AT_POINTS = EG_SAMPLE_U + 4,       /* [used][count] the same four at the points */
    EG_SAMPLE_SCRATCH = EG_SAMPLE_AT_POINTS + 4, /* two of them */
    EG_SAMPLE_VALUES = EG_SAMPLE_SCRATCH + 2,    /* [quantities][count] */
    EG_SAMPLE_BUFFERS
};

typedef struct eg_sampler_tools eg_sampler_tools;

typedef struct eg_sampler {
    eg_space *space; /* not owned */
    int quantities;
    eg_usage usage;
    eg_type *types; /* [field_count] owned */
    eg_part *parts; /* [part_count] owned */
    int part_count;
    int64_t *batch; /* [part_count] tiles of its batches; owned */
    size_t slots;   /* of the largest batch, at least 1 */
    /* [group_count] what batches of a group need, if it has a part; owned */
    eg_sampler_tools *tools;
    eg_buffer *buffers[EG_SAMPLE_BUFFERS]; /* f64, owned */
} eg_sampler;

eg_status eg_sampler_create(const eg_quantity_options *options, eg_sampler *out);
void eg_sampler_free(eg_sampler *sampler);

/* Fails unless fields are like those it was made for. */
eg_status eg_sampler_check(const eg_sampler *sampler, const eg_field *const *fields);

/* Tiles [first, first + tiles) of a part. */
typedef struct eg_sample_batch {
    int part;
    int64_t first, tiles;
    int64_t elements; /* without those that fill up the last tile */
} eg_sample_batch;

/* Steps to the next batch, from all zeros to the first: false behind the last. */
bool eg_sampler_next(const eg_sampler *sampler, eg_sample_batch *batch);

/* Gathers the geometry of a batch; then, for some of its part's points, what it is there. */
eg_status eg_sampler_load_geometry(eg_sampler *sampler, const eg_sample_batch *batch);
eg_status eg_sampler_find_geometry(eg_sampler *sampler, const eg_sample_batch *batch,
                                   const eg_part_points *set);
/* The same for fields, and the values of all quantities at time t: EG_SAMPLE_VALUES. The geometry
 * comes first. */
eg_status eg_sampler_load_fields(eg_sampler *sampler, const eg_sample_batch *batch,
                                 const eg_field *const *fields);
eg_status eg_sampler_evaluate(eg_sampler *sampler, const eg_sample_batch *batch,
                              const eg_part_points *set, double t);

/* Where the measure of volume or surface is at the points, once the geometry was found: row `row`
 * of the `rows` that a tile has in `buffer`, each of `points` points (1: the same at all). */
typedef struct eg_sample_measure {
    eg_buffer *buffer;
    int row, rows, points;
} eg_sample_measure;

eg_sample_measure eg_sampler_measure(const eg_sampler *sampler, const eg_sample_batch *batch,
                                     const eg_part_points *set);

#endif
