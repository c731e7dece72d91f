/* The dialect's hardest users at its first level, each with its answer in plain C: a surface term
 * between groups of different degree and LANES, a gradient on hexahedra, single precision inside
 * double precision.
 *
 * Each function runs a kernel on random data and returns its worst error as a multiple of what
 * rounding allows: at most 1 if the kernel is right, infinity if a value was left out. */
#ifndef EG_TEST_HARD_H
#define EG_TEST_HARD_H

#include "kernel/devices.h"

/* How a kernel file is compiled. */
typedef struct variant {
    const char *text; /* NULL: the file as it is */
    int scramble;     /* K_SCRAMBLE */
    int ty, tz;       /* rows and tiles per block, 0: chosen */
    uint64_t seed;    /* of the data */
} variant;

#define VARIANT_DEFINES 6

static inline eg_kernel *create_variant(eg_device *device, const variant *v, const char *file,
                                        const char *entry, eg_type real, int lanes,
                                        const eg_define *defines, size_t count)
{
    char *text = v->text ? strdup(v->text) : read_test_source(file), name[64];
    eg_define all[VARIANT_DEFINES + 1];
    eg_kernel *kernel = NULL;
    assert_non_null(text);
    assert_true(count <= VARIANT_DEFINES);
    memcpy(all, defines, count * sizeof *all);
    all[count++] = (eg_define){"K_SCRAMBLE", v->scramble};
    snprintf(name, sizeof name, "kernel/%s", file);
    TEST_OK(eg_device_context(device),
            eg_kernel_create(device,
                             &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                  .source = name,
                                                  .text = text,
                                                  .entry = entry,
                                                  .real = real,
                                                  .lanes = lanes,
                                                  .rows_per_block = v->ty,
                                                  .tiles_per_block = v->tz,
                                                  .defines = all,
                                                  .define_count = count},
                             &kernel));
    free(text);
    return kernel;
}

static inline void note_error(double *worst, double value, double expected, double bound)
{
    double error = fabs(value - expected) / bound;
    if (!(error <= *worst)) *worst = isfinite(error) ? error : (double)INFINITY;
}

static inline int random_below(uint64_t *seed, int count)
{
    return (int)(0.5 * (1.0 + test_random(seed)) * count) % count;
}

/* --- the surface term ------------------------------------------------------------------------ */

enum { FACES = 3, FIELDS = 2, GROUPS = 2, MOST = 5, MOST_NODES = 15 };

/* A group of triangles as the field sees it. */
typedef struct triangles {
    int degree, np, nfp;
    int shift, lanes, elements, tiles;
    size_t begin; /* in the field */
} triangles;

/* One element's own data, wherever it lies. */
typedef struct triangle {
    double u[FIELDS][MOST_NODES], rhs[FIELDS][MOST_NODES];
    struct {
        int group, element, face, turned;
        double normal;
    } faces[FACES];
} triangle;

/* Node k of a face, counted along it, on a triangle of nodes in rows of falling length. */
static inline int face_node(int degree, int face, int turned, int k)
{
    int along = turned ? degree - k : k;
    int column = face == 0 ? along : face == 1 ? degree - along : 0;
    int row = face == 0 ? 0 : face == 1 ? along : degree - along;
    return row * (degree + 1) - row * (row - 1) / 2 + column;
}

/* Lagrange polynomial j of equidistant points of `from`, at point k of `to`. */
static inline double interpolation(int from, int to, int k, int j)
{
    double x = (double)k / to, value = 1;
    for (int m = 0; m <= from; m++)
        if (m != j) value *= (x - (double)m / from) / ((double)j / from - (double)m / from);
    return value;
}

static inline size_t place_in_field(const triangles *g, int element, int field, int node)
{
    int row = (element / g->lanes * FIELDS + field) * g->np + node;
    return g->begin + (size_t)row * (size_t)g->lanes + (size_t)(element % g->lanes);
}

/* Rusanov's flux minus the own flux, as surface.k.c has it. */
static inline void plain_jump(const double a[FIELDS], const double b[FIELDS], double n,
                              double d[FIELDS])
{
    double va = fabs(a[1] / a[0] * n) + 0.5 * (1 + a[0]) * fabs(n);
    double vb = fabs(b[1] / b[0] * n) + 0.5 * (1 + b[0]) * fabs(n), v = fmax(va, vb);
    double fa = (a[1] * a[1] / a[0] + 0.5 * a[0] * a[0]) * n;
    double fb = (b[1] * b[1] / b[0] + 0.5 * b[0] * b[0]) * n;
    d[0] = 0.5 * (b[1] * n - a[1] * n - v * (b[0] - a[0]));
    d[1] = 0.5 * (fb - fa - v * (b[1] - a[1]));
}

/* The surface term of one element, added to rhs[FIELDS][MOST_NODES]. */
static inline void plain_surface(const triangles *groups, triangle *const *all, int g, int e,
                                 const matrix *lift, double rhs[FIELDS][MOST_NODES])
{
    const triangles *here = &groups[g];
    const triangle *own = &all[g][e];
    for (int f = 0; f < FACES; f++) {
        const triangles *there = &groups[own->faces[f].group];
        const triangle *other = &all[own->faces[f].group][own->faces[f].element];
        for (int k = 0; k < here->nfp; k++) {
            double a[FIELDS], b[FIELDS] = {0}, d[FIELDS];
            for (int c = 0; c < FIELDS; c++) {
                a[c] = own->u[c][face_node(here->degree, f, 0, k)];
                for (int j = 0; j < there->nfp; j++)
                    b[c] += interpolation(there->degree, here->degree, k, j) *
                            other->u[c][face_node(there->degree, own->faces[f].face,
                                                  own->faces[f].turned, j)];
            }
            plain_jump(a, b, own->faces[f].normal, d);
            for (int c = 0; c < FIELDS; c++)
                for (int i = 0; i < here->np; i++)
                    rhs[c][i] -= lift->a[i * lift->cols + f * here->nfp + k] * d[c];
        }
    }
}

/* Random elements; every face has some face of some element for its neighbour. */
static inline triangle *random_triangles(const triangles *groups, const triangles *g, eg_type real,
                                         uint64_t *seed)
{
    triangle *all = calloc((size_t)g->elements, sizeof *all);
    assert_non_null(all);
    for (triangle *e = all; e < all + g->elements; e++) {
        for (int i = 0; i < g->np; i++) {
            e->u[0][i] = rounded(real, 1.5 + 0.5 * test_random(seed));
            e->u[1][i] = rounded(real, 0.5 * test_random(seed));
            for (int c = 0; c < FIELDS; c++)
                e->rhs[c][i] = rounded(real, test_random(seed));
        }
        for (int f = 0; f < FACES; f++) {
            e->faces[f].group = random_below(seed, GROUPS);
            e->faces[f].element = random_below(seed, groups[e->faces[f].group].elements);
            e->faces[f].face = random_below(seed, FACES);
            e->faces[f].turned = random_below(seed, 2);
            e->faces[f].normal = rounded(real, test_random(seed));
        }
    }
    return all;
}

/* Runs the kernel of group g; `rhs` is updated on the device. */
static inline void run_surface(eg_device *device, eg_type real, const variant *v,
                               const triangles *groups, int g, triangle *const *all, array *u,
                               array *table, matrix *lift, array *rhs)
{
    const triangles *here = &groups[g];
    size_t faces = (size_t)(here->tiles * FACES * here->lanes);
    array group = array_new(device, EG_U8, faces), element = array_new(device, EG_I32, faces);
    array face = array_new(device, EG_U8, faces), normal = array_new(device, real, faces);
    array own_nodes = array_new(device, EG_I32, (size_t)(FACES * here->nfp));
    array nodes = array_new(device, EG_I32, GROUPS * 2 * FACES * MOST);
    array trace = array_new(device, real, (size_t)(GROUPS * here->nfp * MOST));
    for (size_t i = 0; i < faces; i++) {
        int lane = (int)i % here->lanes, tile = (int)i / (FACES * here->lanes);
        int e = tile * here->lanes + lane, f = (int)i / here->lanes % FACES;
        const triangle *from = &all[g][e < here->elements ? e : here->elements - 1];
        group.v[i] = from->faces[f].group;
        element.v[i] = from->faces[f].element;
        face.v[i] = 2 * from->faces[f].face + from->faces[f].turned;
        normal.v[i] = from->faces[f].normal;
    }
    for (int i = 0; i < FACES * here->nfp; i++)
        own_nodes.v[i] = face_node(here->degree, i / here->nfp, 0, i % here->nfp);
    for (int i = 0; i < GROUPS * 2 * FACES * MOST; i++) {
        const triangles *there = &groups[i / (2 * FACES * MOST)];
        int j = i % MOST, row = i / MOST % (2 * FACES);
        nodes.v[i] = j < there->nfp ? face_node(there->degree, row / 2, row % 2, j) : 0;
    }
    for (int i = 0; i < GROUPS * here->nfp * MOST; i++) {
        const triangles *there = &groups[i / (here->nfp * MOST)];
        int j = i % MOST, k = i / MOST % here->nfp;
        trace.v[i] = j < there->nfp ? interpolation(there->degree, here->degree, k, j) : 0;
    }
    array *inputs[] = {&group, &element, &face, &normal, &own_nodes, &nodes, &trace};
    for (size_t i = 0; i < EG_COUNT(inputs); i++)
        array_upload(inputs[i]);
    const eg_define defines[] = {{"NP", here->np}, {"NFP", here->nfp}, {"MOST", MOST}};
    eg_kernel *kernel = create_variant(device, v, "surface.k.c", "surface", real, here->lanes,
                                       defines, EG_COUNT(defines));
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, here->tiles, EG_BUFFER("u", u->buffer),
                      EG_BUFFER("groups", table->buffer), EG_BUFFER("other_group", group.buffer),
                      EG_BUFFER("other_element", element.buffer),
                      EG_BUFFER("other_face", face.buffer), EG_BUFFER("normal", normal.buffer),
                      EG_BUFFER("own_nodes", own_nodes.buffer), EG_BUFFER("nodes", nodes.buffer),
                      EG_BUFFER("trace", trace.buffer), EG_INTEGER("begin", (int64_t)here->begin),
                      EG_OPERATOR("lift", lift->op), EG_BUFFER("rhs", rhs->buffer)));
    TEST_OK(eg_device_context(device), eg_device_sync(device));
    eg_kernel_destroy(&kernel);
    for (size_t i = 0; i < EG_COUNT(inputs); i++)
        array_free(inputs[i]);
}

/* Triangles of degree 2, and of degree 4 with half the LANES, in one field; NaN lies between. */
static inline double surface_error(eg_device *device, eg_type real, const variant *v,
                                   const int elements[GROUPS])
{
    enum { GAP = 64 };
    triangles groups[GROUPS];
    triangle *all[GROUPS];
    matrix lift[GROUPS];
    uint64_t seed = v->seed + 7;
    size_t count = GAP;
    double worst = 0;
    array table = array_new(device, EG_I64, GROUPS * 3);
    for (int g = 0; g < GROUPS; g++) {
        int degree = 2 + 2 * g, shift = (eg_device_get_info(device)->is_gpu ? 5 : 4) - g;
        triangles *t = &groups[g];
        *t = (triangles){.degree = degree,
                         .np = (degree + 1) * (degree + 2) / 2,
                         .nfp = degree + 1,
                         .shift = shift,
                         .lanes = 1 << shift,
                         .elements = elements[g],
                         .begin = count};
        t->tiles = (t->elements + t->lanes - 1) / t->lanes;
        count += (size_t)(t->tiles * FIELDS * t->np * t->lanes + GAP - 1) / GAP * GAP + GAP;
        table.v[3 * g] = (double)t->begin;
        table.v[3 * g + 1] = t->np;
        table.v[3 * g + 2] = shift;
        lift[g] = matrix_random(device, real, t->np, FACES * t->nfp, -0.5, 0.5, &seed);
    }
    array_upload(&table);
    array u = array_new(device, real, count), rhs = array_new(device, real, count);
    for (size_t i = 0; i < count; i++)
        u.v[i] = rhs.v[i] = (double)NAN;
    for (int g = 0; g < GROUPS; g++) {
        const triangles *t = &groups[g];
        all[g] = random_triangles(groups, t, real, &seed);
        for (int e = 0; e < t->tiles * t->lanes; e++)
            for (int i = 0; i < FIELDS * t->np; i++) {
                const triangle *from = &all[g][e < t->elements ? e : t->elements - 1];
                size_t place = place_in_field(t, e, i / t->np, i % t->np);
                u.v[place] = from->u[i / t->np][i % t->np];
                rhs.v[place] = from->rhs[i / t->np][i % t->np];
            }
    }
    array_upload(&u);
    array_upload(&rhs);
    for (int g = 0; g < GROUPS; g++)
        run_surface(device, real, v, groups, g, all, &u, &table, &lift[g], &rhs);
    array_download(&rhs);
    size_t untouched = 0, values = 0;
    for (size_t i = 0; i < count; i++)
        untouched += isnan(rhs.v[i]) ? 1 : 0;
    for (int g = 0; g < GROUPS; g++) {
        const triangles *t = &groups[g];
        values += (size_t)(t->tiles * FIELDS * t->np * t->lanes);
        for (int e = 0; e < t->tiles * t->lanes; e++) {
            int from = e < t->elements ? e : t->elements - 1;
            double expected[FIELDS][MOST_NODES];
            memcpy(expected, all[g][from].rhs, sizeof expected);
            plain_surface(groups, all, g, from, &lift[g], expected);
            for (int i = 0; i < FIELDS * t->np; i++)
                note_error(&worst, rhs.v[place_in_field(t, e, i / t->np, i % t->np)],
                           expected[i / t->np][i % t->np], 200 * epsilon(real));
        }
    }
    if (untouched != count - values) worst = (double)INFINITY;
    for (int g = 0; g < GROUPS; g++) {
        matrix_free(&lift[g]);
        free(all[g]);
    }
    array_free(&u);
    array_free(&rhs);
    array_free(&table);
    return worst;
}

/* --- the gradient on hexahedra --------------------------------------------------------------- */

static inline double gradient_error(eg_device *device, eg_type real, const variant *v, int side,
                                    int lanes, int tiles)
{
    size_t nodes = (size_t)(side * side * side), count = (size_t)tiles * nodes * (size_t)lanes;
    uint64_t seed = v->seed + 11;
    double worst = 0;
    array u = array_random(device, real, count, -1, 1, &seed);
    array out = array_poisoned(device, real, 3 * count);
    matrix d = matrix_random(device, real, side, side, -1, 1, &seed);
    const eg_define defines[] = {{"SIDE", side}};
    eg_kernel *kernel = create_variant(device, v, "hexahedron.k.c", "gradient", real, lanes,
                                       defines, EG_COUNT(defines));
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, tiles, EG_BUFFER("u", u.buffer), EG_OPERATOR("d", d.op),
                      EG_BUFFER("out", out.buffer)));
    array_download(&out);
    for (size_t i = 0; i < 3 * count; i++) {
        size_t lane = i % (size_t)lanes, node = i / (size_t)lanes % nodes;
        size_t direction = i / (size_t)lanes / nodes % 3, tile = i / (size_t)lanes / nodes / 3;
        size_t step = direction == 0 ? 1 : direction == 1 ? (size_t)side : (size_t)(side * side);
        size_t along = node / step % (size_t)side, first = node - along * step;
        double expected = 0;
        for (size_t k = 0; k < (size_t)side; k++)
            expected += d.a[along * (size_t)side + k] *
                        u.v[(tile * nodes + first + k * step) * (size_t)lanes + lane];
        note_error(&worst, out.v[i], expected, 2 * side * epsilon(real));
    }
    eg_kernel_destroy(&kernel);
    matrix_free(&d);
    array_free(&u);
    array_free(&out);
    return worst;
}

/* --- single precision inside double precision ------------------------------------------------ */

/* One step of iterative refinement with the three kernels of mixed.k.c. */
static inline double mixed_error(eg_device *device, const variant *v, int np, int tiles)
{
    int lanes = eg_device_get_info(device)->lanes;
    size_t tile = (size_t)(np * lanes), count = (size_t)tiles * tile;
    uint64_t seed = v->seed + 13;
    double worst = 0, scale = 1.0 / np;
    const eg_define defines[] = {{"NP", np}};
    array u = array_random(device, EG_F64, count, -1, 1, &seed);
    array b = array_random(device, EG_F64, count, -1, 1, &seed);
    array map = array_new(device, EG_I32, count);
    for (size_t i = 0; i < count; i++)
        map.v[i] = random_below(&seed, (int)count);
    array_upload(&map);
    array r = array_poisoned(device, EG_F32, count), c = array_poisoned(device, EG_F32, count);
    matrix a = matrix_random(device, EG_F32, np, np, -scale, scale, &seed);
    eg_kernel *residual = create_variant(device, v, "mixed.k.c", "residual", EG_F64, lanes, defines,
                                         EG_COUNT(defines));
    eg_kernel *smooth =
        create_variant(device, v, "mixed.k.c", "smooth", EG_F32, lanes, defines, EG_COUNT(defines));
    eg_kernel *correct = create_variant(device, v, "mixed.k.c", "correct", EG_F64, lanes, defines,
                                        EG_COUNT(defines));
    eg_context *ctx = eg_device_context(device);
    double *before = new_values(count), *once = new_values(tile), *expected = new_values(count);
    memcpy(before, u.v, count * sizeof *before);
    TEST_OK(ctx, eg_launch(residual, tiles, EG_BUFFER("u", u.buffer), EG_BUFFER("b", b.buffer),
                           EG_BUFFER("map", map.buffer), EG_BUFFER("r", r.buffer)));
    TEST_OK(ctx, eg_launch(smooth, tiles, EG_BUFFER("r", r.buffer), EG_BUFFER("map", map.buffer),
                           EG_OPERATOR("a", a.op), EG_BUFFER("c", c.buffer)));
    TEST_OK(ctx, eg_launch(correct, tiles, EG_BUFFER("u", u.buffer), EG_BUFFER("c", c.buffer),
                           EG_BUFFER("map", map.buffer)));
    array_download(&u);
    array_download(&r);
    array_download(&c);

    for (size_t i = 0; i < count; i++)
        note_error(&worst, r.v[i], b.v[i] - 0.5 * (before[i] + before[(size_t)map.v[i]]),
                   2 * (double)FLT_EPSILON);
    for (size_t t = 0; t < (size_t)tiles; t++)
        for (size_t pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < tile; i++) {
                size_t lane = i % (size_t)lanes, node = i / (size_t)lanes;
                double sum = 0;
                for (size_t k = 0; k < (size_t)np; k++) {
                    size_t j = k * (size_t)lanes + lane, here = t * tile + j;
                    double value = pass ? once[j] : r.v[here] + 0.25 * r.v[(size_t)map.v[here]];
                    sum += a.a[node * (size_t)np + k] * value;
                }
                if (pass)
                    expected[t * tile + i] = r.v[t * tile + i] + sum;
                else
                    once[i] = sum;
            }
    for (size_t i = 0; i < count; i++)
        note_error(&worst, c.v[i], expected[i], 8 * (double)FLT_EPSILON);
    for (size_t i = 0; i < count; i++)
        note_error(&worst, u.v[i], before[i] + c.v[(size_t)map.v[i]], 4 * DBL_EPSILON);
    free(before);
    free(once);
    free(expected);
    eg_kernel_destroy(&residual);
    eg_kernel_destroy(&smooth);
    eg_kernel_destroy(&correct);
    matrix_free(&a);
    array *arrays[] = {&u, &b, &map, &r, &c};
    for (size_t i = 0; i < EG_COUNT(arrays); i++)
        array_free(arrays[i]);
    return worst;
}

#endif
