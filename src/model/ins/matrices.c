/* Makes the matrices of model `ins`: integrals of degree 3N in advection, exact ones elsewhere. */
#include "model/ins/matrices.h"

#include "base/dense.h"

#include <string.h>

/* From this degree on products take longer than what even and odd parts need beside them. Measured on one core, of
 * the bound without parts and with them: 0.71 and 0.53 at N = 2, 0.70 and 0.73 at 3, 0.70 and 0.85 at 4, 0.79 and 1.05 at 6.
 * Matrix instructions of GPUs, counted: 48 and 32, 80 and 72, 168 and 128, 288 and 160 at N = 3 … 6; up to
 * N = 4 memory limits them, and at 5 operands fit registers without parts. */
enum { MIRRORED_FROM = 3, MIRRORED_FROM_ON_GPUS = 6 };

void eg_ins_matrices_free(eg_context *ctx, eg_ins_matrices *m)
{
    eg_operator_destroy(&m->load);
    eg_operator_destroy(&m->divergence);
    eg_operator_destroy(&m->lift);
    eg_operator_destroy(&m->slopes);
    eg_operator_destroy(&m->face_lift);
    eg_release(ctx, &m->face_table);
    eg_operator_destroy(&m->odd_lift);
    eg_operator_destroy(&m->even_lift);
    eg_buffer_destroy(&m->part_interp);
    eg_operator_destroy(&m->project_odd);
    eg_operator_destroy(&m->project_even);
    eg_operator_destroy(&m->interp_odd);
    eg_operator_destroy(&m->interp_even);
    eg_operator_destroy(&m->project_s);
    eg_operator_destroy(&m->project_r);
    eg_operator_destroy(&m->interp);
    eg_buffer_destroy(&m->node_pairs);
}

/* The rules of advection: φ and two factors of degree N each. */
static eg_status make_rules(const eg_element *e, eg_cubature **inner, eg_cubature **face)
{
    eg_status status = EG_OK;
    EG_TRY(eg_cubature_create(e->ctx, e->shape, 3 * e->degree, EG_CUBATURE_BEST, inner));
    EG_TRY(eg_cubature_create(e->ctx, EG_SHAPE_LINE, 3 * e->degree, EG_CUBATURE_BEST, face));
done:
    return status;
}

eg_status eg_ins_count_points(const eg_element *e, bool collocated, int *inner, int *face)
{
    eg_cubature *a = NULL, *b = NULL;
    eg_status status = EG_OK;
    *inner = e->np;
    *face = e->face_np;
    if (collocated) return EG_OK;
    EG_TRY(make_rules(e, &a, &b));
    *inner = a->count;
    *face = b->count;
done:
    eg_cubature_destroy(&b);
    eg_cubature_destroy(&a);
    return status;
}

static void fill_unit(int n, double *matrix)
{
    memset(matrix, 0, (size_t)(n * n) * sizeof *matrix);
    for (int i = 0; i < n; i++)
        matrix[i * n + i] = 1;
}

/* Values at the points of a rule, NULL: at nodes, as an operator. */
static eg_status make_values(eg_device *device, const eg_element *e, const eg_cubature *rule,
                             eg_operator **out)
{
    const int rows = rule ? rule->count : e->np;
    double *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(rows * e->np), &matrix));
    if (rule)
        EG_TRY(eg_element_evaluate(e, rule->count, rule->r, matrix));
    else
        fill_unit(e->np, matrix);
    EG_TRY(eg_operator_create(device, EG_F64, rows, e->np, matrix, out));
done:
    eg_release(e->ctx, &matrix);
    return status;
}

/* The same of a face, as a table. */
static eg_status make_face_table(const eg_element *e, const eg_cubature *rule, double **out)
{
    const int rows = rule ? rule->count : e->face_np;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(rows * e->face_np), out));
    if (rule)
        EG_TRY(eg_element_evaluate(e->face, rule->count, rule->r, *out));
    else
        fill_unit(e->face_np, *out);
done:
    return status;
}

/* -M⁻¹ Dᵀ Iᵀ W = -M⁻¹ Dᵀ M (M⁻¹ Iᵀ W), as derivatives are polynomials of the element; collocated:
 * -M⁻¹ Dᵀ M. out [np][points] */
static eg_status fill_projection(const eg_element *e, int direction, const eg_cubature *rule,
                                 double *out)
{
    const int np = e->np, columns = rule ? rule->count : np;
    const size_t square = (size_t)np * (size_t)np, size = (size_t)np * (size_t)columns;
    double *Dt = NULL, *DtM = NULL, *weak = NULL, *project = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, square, &Dt));
    EG_TRY(eg_new(e->ctx, square, &DtM));
    EG_TRY(eg_new(e->ctx, square, &weak));
    EG_TRY(eg_new(e->ctx, size, &project));
    eg_dense_transpose(np, np, e->D + (size_t)direction * square, Dt);
    eg_dense_multiply(np, np, np, Dt, e->mass, DtM);
    eg_dense_multiply(np, np, np, e->mass_inverse, DtM, weak);
    if (rule)
        EG_TRY(eg_element_project(e, rule, project));
    else
        fill_unit(np, project);
    eg_dense_multiply(np, np, columns, weak, project, out);
    for (size_t i = 0; i < size; i++)
        out[i] = -out[i];
done:
    eg_release(e->ctx, &project);
    eg_release(e->ctx, &weak);
    eg_release(e->ctx, &DtM);
    eg_release(e->ctx, &Dt);
    return status;
}

static eg_status make_projection(eg_device *device, const eg_element *e, int direction,
                                 const eg_cubature *rule, eg_operator **out)
{
    const int columns = rule ? rule->count : e->np;
    double *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(e->np * columns), &matrix));
    EG_TRY(fill_projection(e, direction, rule, matrix));
    EG_TRY(eg_operator_create(device, EG_F64, e->np, columns, matrix, out));
done:
    eg_release(e->ctx, &matrix);
    return status;
}

/* What the volume term is made of, before it is taken to parts. */
typedef struct volume {
    eg_mirror nodes,
        points;     /* points that are their own images have an odd part, too, of nothing */
    int count;      /* of points */
    double *values; /* [count][np] */
    double *sum, *difference; /* [np][count] half of P_r + P_s, P_r - P_s */
} volume;

static void free_volume(eg_context *ctx, volume *v)
{
    eg_release(ctx, &v->difference);
    eg_release(ctx, &v->sum);
    eg_release(ctx, &v->values);
    eg_mirror_free(ctx, &v->points);
    eg_mirror_free(ctx, &v->nodes);
}

static eg_status fill_volume(const eg_element *e, const eg_cubature *rule, volume *v)
{
    v->count = rule ? rule->count : e->np;
    const size_t size = (size_t)v->count * (size_t)e->np;
    eg_status status = EG_OK;
    EG_TRY(eg_mirror_create(e->ctx, e->np, e->r, &v->nodes));
    EG_TRY(eg_mirror_create(e->ctx, v->count, rule ? rule->r : e->r, &v->points));
    v->points.odd = v->points.even;
    EG_TRY(eg_new(e->ctx, size, &v->values));
    EG_TRY(eg_new(e->ctx, size, &v->sum));
    EG_TRY(eg_new(e->ctx, size, &v->difference));
    if (rule)
        EG_TRY(eg_element_evaluate(e, rule->count, rule->r, v->values));
    else
        fill_unit(e->np, v->values);
    EG_TRY(fill_projection(e, 0, rule, v->sum));
    EG_TRY(fill_projection(e, 1, rule, v->difference));
    for (size_t i = 0; i < size; i++) {
        const double r = v->sum[i], s = v->difference[i];
        v->sum[i] = 0.5 * (r + s);
        v->difference[i] = 0.5 * (r - s);
    }
done:
    return status;
}

/* Values at the first of a pair of points, by even or odd parts. */
static eg_status make_part_values(eg_device *device, const eg_element *e, const volume *v, bool odd,
                                  eg_operator **out)
{
    const int rows = v->points.even, columns = odd ? v->nodes.odd : v->nodes.even;
    double *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(rows * columns), &matrix));
    eg_mirror_fold(&(eg_mirror_block){&v->points, &v->nodes, odd, odd}, v->values, e->np, columns,
                   matrix);
    EG_TRY(eg_operator_create(device, EG_F64, rows, columns, matrix, out));
done:
    eg_release(e->ctx, &matrix);
    return status;
}

/* [P_r + P_s | P_r - P_s of parts of the other kind], halved. */
static eg_status make_part_projection(eg_device *device, const eg_element *e, const volume *v,
                                      bool odd, eg_operator **out)
{
    const int rows = odd ? v->nodes.odd : v->nodes.even, pairs = (v->points.even + 7) / 8 * 8;
    double *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(rows * 2 * pairs), &matrix));
    eg_mirror_fold(&(eg_mirror_block){&v->nodes, &v->points, odd, odd}, v->sum, v->count, 2 * pairs,
                   matrix);
    eg_mirror_fold(&(eg_mirror_block){&v->nodes, &v->points, odd, !odd}, v->difference, v->count,
                   2 * pairs, matrix + pairs);
    EG_TRY(eg_operator_create(device, EG_F64, rows, 2 * pairs, matrix, out));
done:
    eg_release(e->ctx, &matrix);
    return status;
}

static eg_status make_mirrored_volume(eg_device *device, const eg_element *e,
                                      const eg_cubature *rule, eg_ins_matrices *out)
{
    volume v = {0};
    eg_status status = EG_OK;
    EG_TRY(fill_volume(e, rule, &v));
    out->pairs = v.points.even;
    EG_TRY(make_part_values(device, e, &v, false, &out->interp_even));
    EG_TRY(make_part_values(device, e, &v, true, &out->interp_odd));
    EG_TRY(make_part_projection(device, e, &v, false, &out->project_even));
    EG_TRY(make_part_projection(device, e, &v, true, &out->project_odd));
done:
    free_volume(e->ctx, &v);
    return status;
}

/* The lift from the points of a rule on each face, NULL: from its nodes. lift [np][3][points] */
static eg_status fill_lift(const eg_element *e, const eg_cubature *rule, double *lift)
{
    const int nfp = e->face_np, count = rule ? rule->count : nfp;
    double *project = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(nfp * count), &project));
    if (rule)
        EG_TRY(eg_element_project(e->face, rule, project));
    else
        fill_unit(nfp, project);
    /* e->lift is [np][3][nfp]: rows of one face each. */
    eg_dense_multiply(3 * e->np, nfp, count, e->lift, project, lift);
done:
    eg_release(e->ctx, &project);
    return status;
}

static eg_status make_lift(eg_device *device, const eg_element *e, const eg_cubature *rule,
                           eg_operator **out)
{
    const int count = rule ? rule->count : e->face_np;
    double *lift = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(3 * e->np * count), &lift));
    EG_TRY(fill_lift(e, rule, lift));
    EG_TRY(eg_operator_create(device, EG_F64, e->np, 3 * count, lift, out));
done:
    eg_release(e->ctx, &lift);
    return status;
}

/* Points i and count - 1 - i are mirror images. */
static eg_status pair_ends(eg_context *ctx, int count, eg_mirror *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_mirror_new(ctx, (count + 1) / 2, count / 2, out));
    for (int i = 0; i < out->even; i++) {
        out->pair[i][0] = i;
        out->pair[i][1] = count - 1 - i;
    }
done:
    return status;
}

/* The lift of even, or odd, parts of points of faces. */
static eg_status make_part_lift(eg_device *device, const eg_element *e, const eg_mirror *nodes,
                                const eg_cubature *rule, bool odd, eg_operator **out)
{
    const int count = 3 * (rule ? rule->count : e->face_np);
    const int rows = odd ? nodes->odd : nodes->even, columns = odd ? count / 2 : (count + 1) / 2;
    eg_mirror points = {0};
    double *lift = NULL, *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(pair_ends(e->ctx, count, &points));
    EG_TRY(eg_new(e->ctx, (size_t)(e->np * count), &lift));
    EG_TRY(eg_new(e->ctx, (size_t)(rows * columns), &matrix));
    EG_TRY(fill_lift(e, rule, lift));
    eg_mirror_fold(&(eg_mirror_block){nodes, &points, odd, odd}, lift, count, columns, matrix);
    EG_TRY(eg_operator_create(device, EG_F64, rows, columns, matrix, out));
done:
    eg_release(e->ctx, &matrix);
    eg_release(e->ctx, &lift);
    eg_mirror_free(e->ctx, &points);
    return status;
}

/* Values at the first of two points of a face that are images: of even parts, then of odd ones. */
static eg_status make_part_interp(const eg_space *space, const eg_element *e,
                                  const eg_cubature *rule, eg_buffer **out)
{
    const int nfp = e->face_np, count = rule ? rule->count : nfp;
    const size_t size = (size_t)((count + 1) / 2) * (size_t)nfp;
    eg_mirror nodes = {0}, points = {0};
    double *values = NULL, *parts = NULL;
    eg_status status = EG_OK;
    EG_TRY(pair_ends(e->ctx, nfp, &nodes));
    EG_TRY(pair_ends(e->ctx, count, &points));
    EG_TRY(eg_new(e->ctx, (size_t)(count * nfp), &values));
    EG_TRY(eg_new(e->ctx, size, &parts));
    if (rule)
        EG_TRY(eg_element_evaluate(e->face, count, rule->r, values));
    else
        fill_unit(nfp, values);
    eg_mirror_fold(&(eg_mirror_block){&points, &nodes, false, false}, values, nfp, nfp, parts);
    eg_mirror_fold(&(eg_mirror_block){&points, &nodes, true, true}, values, nfp, nfp,
                   parts + nodes.even);
    EG_TRY(eg_space_upload(space, EG_F64, size, parts, out));
done:
    eg_release(e->ctx, &parts);
    eg_release(e->ctx, &values);
    eg_mirror_free(e->ctx, &points);
    eg_mirror_free(e->ctx, &nodes);
    return status;
}

static eg_status make_surface(const eg_space *space, const eg_element *e, const eg_cubature *rule,
                              eg_ins_matrices *out)
{
    eg_mirror nodes = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_mirror_create(e->ctx, e->np, e->r, &nodes));
    out->even = nodes.even;
    out->odd = nodes.odd;
    EG_TRY(eg_space_pairs(space, &nodes, &out->node_pairs));
    EG_TRY(make_part_interp(space, e, rule, &out->part_interp));
    EG_TRY(make_part_lift(space->device, e, &nodes, rule, false, &out->even_lift));
    EG_TRY(make_part_lift(space->device, e, &nodes, rule, true, &out->odd_lift));
    EG_TRY(make_face_table(e, rule, &out->face_table));
    EG_TRY(make_lift(space->device, e, rule, &out->face_lift));
done:
    eg_mirror_free(e->ctx, &nodes);
    return status;
}

/* [Dr | Ds | lift]. */
static eg_status make_divergence(eg_device *device, const eg_element *e, eg_operator **out)
{
    const int np = e->np, points = 3 * e->face_np, columns = 2 * np + points;
    double *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(np * columns), &matrix));
    for (int i = 0; i < np; i++) {
        double *row = matrix + i * columns;
        memcpy(row, e->D + i * np, (size_t)np * sizeof *row);
        memcpy(row + np, e->D + (np + i) * np, (size_t)np * sizeof *row);
        memcpy(row + 2 * np, e->lift + i * points, (size_t)points * sizeof *row);
    }
    EG_TRY(eg_operator_create(device, EG_F64, np, columns, matrix, out));
done:
    eg_release(e->ctx, &matrix);
    return status;
}

/* [mass | Eᵀ M_face | (E Dr)ᵀ M_face | (E Ds)ᵀ M_face]. */
static eg_status make_load(eg_device *device, const eg_element *e, eg_operator **out)
{
    const int np = e->np, nfp = e->face_np, points = 3 * nfp, columns = np + 3 * points;
    double *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, (size_t)(np * columns), &matrix));
    for (int i = 0; i < np; i++)
        memcpy(matrix + i * columns, e->mass + i * np, (size_t)np * sizeof *matrix);
    for (int i = 0; i < points; i++) { /* node p of a face, and function q of it */
        const int face = i / nfp, node = e->face_node[i];
        for (int q = 0; q < nfp; q++) {
            const double mass = e->face->mass[(i % nfp) * nfp + q];
            double *column = matrix + np + face * nfp + q;
            column[node * columns] += mass;
            for (int k = 0; k < np; k++) {
                column[k * columns + points] += e->D[node * np + k] * mass;
                column[k * columns + 2 * points] += e->D[(np + node) * np + k] * mass;
            }
        }
    }
    EG_TRY(eg_operator_create(device, EG_F64, np, columns, matrix, out));
done:
    eg_release(e->ctx, &matrix);
    return status;
}

eg_status eg_ins_matrices_create(const eg_space *space, const eg_element *e, bool collocated,
                                 eg_ins_matrices *out)
{
    eg_device *device = space->device;
    eg_cubature *inner = NULL, *face = NULL;
    eg_status status = EG_OK;
    *out = (eg_ins_matrices){0};
    if (!collocated) EG_TRY(make_rules(e, &inner, &face));
    out->inner = inner ? inner->count : e->np;
    out->face = face ? face->count : e->face_np;
    const bool gpu = eg_device_get_info(device)->is_gpu;
    out->mirrored = e->degree >= (gpu ? MIRRORED_FROM_ON_GPUS : MIRRORED_FROM);
    if (out->mirrored) {
        EG_TRY(make_mirrored_volume(device, e, inner, out));
    } else {
        EG_TRY(make_values(device, e, inner, &out->interp));
        EG_TRY(make_projection(device, e, 0, inner, &out->project_r));
        EG_TRY(make_projection(device, e, 1, inner, &out->project_s));
    }
    EG_TRY(make_surface(space, e, face, out));
    EG_TRY(eg_operator_create(device, EG_F64, 2 * e->np, e->np, e->D, &out->slopes));
    EG_TRY(make_lift(device, e, NULL, &out->lift));
    EG_TRY(make_divergence(device, e, &out->divergence));
    EG_TRY(make_load(device, e, &out->load));
done:
    eg_cubature_destroy(&face);
    eg_cubature_destroy(&inner);
    if (status != EG_OK) eg_ins_matrices_free(e->ctx, out);
    return status;
}
