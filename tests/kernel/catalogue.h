/* Representative instances of every kernel of the library, its benchmarks and its tests: one list
 * for the tests that compile kernels without running them. */
#ifndef EG_TEST_CATALOGUE_H
#define EG_TEST_CATALOGUE_H

#include "kernel/devices.h"

#include "device/embedded.h"

#define CATALOGUE_DEFINES 32

typedef struct catalogue_row {
    const char
        *source; /* embedded, "room/name.k.c", or a file of tests/kernel, "kernel/name.k.c" */
    const char *entry;
    eg_type real;
    int lanes;      /* 0: the target's own */
    int least_arch; /* compiled for CUDA from here on; 0: for every architecture */
    bool not_on_cpu, only_on_cpu;
    int rows, tiles;                      /* per block; 0: chosen */
    eg_define defines[CATALOGUE_DEFINES]; /* up to the first without a name */
    eg_kernel_table table;                /* NULL name: none */
} catalogue_row;

/* A table that has so many values. */
static const double catalogue_values[256];

#define CATALOGUE_CHAIN(real, np, nc)                                                              \
    {                                                                                              \
        "bench/chain.k.c", "chain", real, .defines = { {"NP", np}, {"NC", nc} }                    \
    }
#define CATALOGUE_REDUCE(entry, real, kinds, a, b, c, d)                                           \
    {                                                                                              \
        "device/reduce.k.c", entry, real, .rows = 8, .tiles = 1, .defines = {                      \
            {"ROWS", 8},                                                                           \
            {"BLOCKS", 1056},                                                                      \
            {"KINDS", kinds},                                                                      \
            {"KIND_0", a},                                                                         \
            {"KIND_1", b},                                                                         \
            {"KIND_2", c},                                                                         \
            {"KIND_3", d}                                                                          \
        }                                                                                          \
    }
#define CATALOGUE_GUARD(source, entry, real, dim, coordinates)                                     \
    {                                                                                              \
        source, entry, real, .defines = {                                                          \
            {"DIM", dim},                                                                          \
            {"COMPONENTS", 2},                                                                     \
            {"COORDINATES", coordinates},                                                          \
            {"ROWS", 4}                                                                            \
        }                                                                                          \
    }
#define CATALOGUE_METRIC(entry, dim)                                                               \
    {                                                                                              \
        "field/metric.k.c", entry, EG_F64, .defines = { {"DIM", dim}, {"ROWS", 4} }                \
    }
#define CATALOGUE_SURFACE(real, lanes, np, nfp)                                                    \
    {                                                                                              \
        "kernel/surface.k.c", "surface", real, lanes, .defines = {                                 \
            {"NP", np},                                                                            \
            {"NFP", nfp},                                                                          \
            {"MOST", 5}                                                                            \
        }                                                                                          \
    }

#define CATALOGUE_EULER_SHAPED(lanes, m, inner, scheme, gauss, cartesian, flux, boundaries,        \
                               low_storage, curved, rows_of_metric, order)                         \
    {                                                                                              \
        "model/euler/stage.k.c", "stage", EG_F64, lanes, .rows = m, .defines = {                   \
            {"M", m},                                                                              \
            {"INNER", inner},                                                                      \
            {"SCHEME", scheme},                                                                    \
            {"GAUSS", gauss},                                                                      \
            {"CARTESIAN", cartesian},                                                              \
            {"CURVED", curved},                                                                    \
            {"METRIC_ROWS", rows_of_metric},                                                       \
            {"ORDER", order},                                                                      \
            {"FLUX", flux},                                                                        \
            {"BOUNDARIES", boundaries},                                                            \
            {"LOW_STORAGE", low_storage},                                                          \
            {"PIECES", 1}                                                                          \
        }                                                                                          \
    }
#define CATALOGUE_EULER(lanes, m, inner, scheme, gauss, cartesian, flux, boundaries, low_storage)  \
    CATALOGUE_EULER_SHAPED(lanes, m, inner, scheme, gauss, cartesian, flux, boundaries,            \
                           low_storage, 0, 1, 1)
#define CATALOGUE_EULER_CURVED(lanes, m, inner, scheme, gauss, flux, boundaries, low_storage)      \
    CATALOGUE_EULER_SHAPED(lanes, m, inner, scheme, gauss, 0, flux, boundaries, low_storage, 1,    \
                           4 * (m) * (inner) + (m) * (m) + 8 * (m) * ((gauss) + (boundaries)), 3)
#define CATALOGUE_EULER_TOTALS(m, cartesian, curved, rows_of_metric, order)                        \
    CATALOGUE_EULER_SHAPE("totals", m, cartesian, curved, rows_of_metric, order)
#define CATALOGUE_EULER_START(m, cartesian, curved, rows_of_metric, order)                         \
    CATALOGUE_EULER_SHAPE("start", m, cartesian, curved, rows_of_metric, order)
#define CATALOGUE_EULER_SHAPE(entry, m, cartesian, curved, rows_of_metric, order)                  \
    {                                                                                              \
        "model/euler/" entry ".k.c", entry, EG_F64, .defines = {                                   \
            {"M", m},                                                                              \
            {"INNER", m},                                                                          \
            {"GAUSS", 0},                                                                          \
            {"CARTESIAN", cartesian},                                                              \
            {"CURVED", curved},                                                                    \
            {"METRIC_ROWS", rows_of_metric},                                                       \
            {"ORDER", order}                                                                       \
        }                                                                                          \
    }
#define CATALOGUE_EULER_BLEND(lanes, m, inner, scheme, gauss, cartesian, flux, boundaries)         \
    {                                                                                              \
        "model/euler/stage.k.c", "stage", EG_F64, lanes, .rows = m, .defines = {                   \
            {"M", m},                                                                              \
            {"INNER", inner},                                                                      \
            {"SCHEME", scheme},                                                                    \
            {"GAUSS", gauss},                                                                      \
            {"CARTESIAN", cartesian},                                                              \
            {"CURVED", 0},                                                                         \
            {"METRIC_ROWS", 1},                                                                    \
            {"ORDER", 1},                                                                          \
            {"FLUX", flux},                                                                        \
            {"BOUNDARIES", boundaries},                                                            \
            {"LOW_STORAGE", 0},                                                                    \
            {"PIECES", 1},                                                                         \
            {"BLENDS", 1}                                                                          \
        }                                                                                          \
    }
#define CATALOGUE_EULER_LIMIT(m, gauss, cartesian, boundaries, limits, positivity)                 \
    {                                                                                              \
        "model/euler/limit.k.c", "limit", EG_F64, .rows = m, .defines = {                          \
            {"M", m},                                                                              \
            {"GAUSS", gauss},                                                                      \
            {"CARTESIAN", cartesian},                                                              \
            {"BOUNDARIES", boundaries},                                                            \
            {"LIMITS", limits},                                                                    \
            {"POSITIVITY", positivity}                                                             \
        }                                                                                          \
    }
#define CATALOGUE_CELLS(name, lanes, m, order, points, limited, cartesian, flux, boundaries,       \
                        low_storage)                                                               \
    {                                                                                              \
        "model/euler/" name ".k.c", name, EG_F64, lanes, .rows = m, .defines = {                   \
            {"M", m},                                                                              \
            {"RECONSTRUCTION", order},                                                             \
            {"FACE_POINTS", points},                                                               \
            {"LIMITED", limited},                                                                  \
            {"CARTESIAN", cartesian},                                                              \
            {"FLUX", flux},                                                                        \
            {"BOUNDARIES", boundaries},                                                            \
            {"LOW_STORAGE", low_storage},                                                          \
            {"PIECES", 1}                                                                          \
        }                                                                                          \
    }
#define CATALOGUE_EULER_SWEEP(m, scheme, gauss, flux, boundaries, low_storage, wave, in_place)     \
    {                                                                                              \
        "model/euler/sweep.k.c", "sweep", EG_F64, .only_on_cpu = true, .defines = {                \
            {"M", m},                                                                              \
            {"SCHEME", scheme},                                                                    \
            {"GAUSS", gauss},                                                                      \
            {"FLUX", flux},                                                                        \
            {"BOUNDARIES", boundaries},                                                            \
            {"LOW_STORAGE", low_storage},                                                          \
            {"RING", 64},                                                                          \
            {"FETCHES", 1},                                                                        \
            {"WAVE", wave},                                                                        \
            {"IN_PLACE", in_place}                                                                 \
        }                                                                                          \
    }
#define CATALOGUE_TRACE(entry, real, faces, orientations, np, count, terms, weighted)              \
    {                                                                                              \
        "field/trace.k.c", entry, real, .defines = {                                               \
            {"FACES", faces},                                                                      \
            {"ORIENTATIONS", orientations},                                                        \
            {"NP", np},                                                                            \
            {"COUNT", count},                                                                      \
            {"TERMS", terms},                                                                      \
            {"WEIGHTED", weighted},                                                                \
            {"COMPONENTS", 2}                                                                      \
        }                                                                                          \
    }

#define CATALOGUE_ELLIPTIC_AFFINE(entry, real, lanes, np, nfp, stiff, even)                        \
    {                                                                                              \
        "model/elliptic/affine.k.c", entry, real, lanes, .defines = {                              \
            {"NP", np},                                                                            \
            {"NFP", nfp},                                                                          \
            {"STIFF", stiff},                                                                      \
            {"EVEN", even},                                                                        \
            {"ODD", (np) - (even)}                                                                 \
        }                                                                                          \
    }
#define CATALOGUE_ELLIPTIC_CHAIN(entry, real, lanes, np, nfp, stiff)                               \
    {                                                                                              \
        "model/elliptic/affine_chain.k.c", entry, real, lanes, .not_on_cpu = true, .defines = {    \
            {"NP", np},                                                                            \
            {"NFP", nfp},                                                                          \
            {"STIFF", stiff},                                                                      \
            {"K_FN", 8}                                                                            \
        }                                                                                          \
    }
#define CATALOGUE_ELLIPTIC_MIRROR(entry, real, lanes, np, nfp, stiff, even)                        \
    {                                                                                              \
        "model/elliptic/affine_mirror.k.c", entry, real, lanes, .not_on_cpu = true, .defines = {   \
            {"NP", np},                                                                            \
            {"NFP", nfp},                                                                          \
            {"STIFF", stiff},                                                                      \
            {"EVEN", even},                                                                        \
            {"ODD", (np) - (even)},                                                                \
            {"K_FN", 8}                                                                            \
        }                                                                                          \
    }
#define CATALOGUE_ELLIPTIC_BLOCK(entry, real, np, nfp, stiff, even)                                \
    {                                                                                              \
        "model/elliptic/affine_block.k.c", entry, real, 32, .least_arch = 80, .not_on_cpu = true,  \
                                                            .rows = 2, .tiles = 1, .defines = {    \
                                                                {"NP", np},                        \
                                                                {"NFP", nfp},                      \
                                                                {"STIFF", stiff},                  \
                                                                {"EVEN", even},                    \
                                                                {"ODD", (np) - (even)}             \
                                                            }                                      \
    }
#define CATALOGUE_ELLIPTIC(file, entry, real, lanes, dim, np, nfp, faces, ways, nc, q, mass, at)   \
    {                                                                                              \
        "model/elliptic/" file ".k.c", entry, real, lanes, .defines = {                            \
            {"DIM", dim},                                                                          \
            {"NP", np},                                                                            \
            {"NFP", nfp},                                                                          \
            {"FACES", faces},                                                                      \
            {"WAYS", ways},                                                                        \
            {"NC", nc},                                                                            \
            {"Q", q},                                                                              \
            {"MASS", mass},                                                                        \
            {"AT", at}                                                                             \
        }                                                                                          \
    }
/* Triangles of degree 2, curved and straight, and tetrahedra of degree 1. */
#define CATALOGUE_ELLIPTIC_ALL(file, entry)                                                        \
    CATALOGUE_ELLIPTIC(file, entry, EG_F64, 0, 2, 6, 3, 3, 2, 25, 6, 1, 1),                        \
        CATALOGUE_ELLIPTIC(file, entry, EG_F32, 0, 2, 6, 3, 3, 2, 25, 6, 0, 25),                   \
        CATALOGUE_ELLIPTIC(file, entry, EG_F64, 8, 3, 4, 3, 4, 6, 23, 12, 1, 23)

#define CATALOGUE_INS_VOLUME(real, lanes, np, nc, fields)                                          \
    {                                                                                              \
        "model/ins/advect.k.c", "volume", real, lanes, .defines = {                                \
            {"NP", np},                                                                            \
            {"NC", nc},                                                                            \
            {"FIELDS", fields}                                                                     \
        }                                                                                          \
    }
#define CATALOGUE_INS_SURFACE(entry, real, lanes, np, even, nfp, q, itself)                        \
    {                                                                                              \
        "model/ins/surface.k.c", entry, real, lanes, .defines = {                                  \
            {"NP", np},                                                                            \
            {"EVEN", even},                                                                        \
            {"ODD", (np) - (even)},                                                                \
            {"NFP", nfp},                                                                          \
            {"Q", q},                                                                              \
            {"PITCH", (3 * (nfp) + 3) / 4 * 4},                                                    \
            {"FIELDS", (itself) ? 2 : 4},                                                          \
            {"WAVES", (itself) ? 2 : 1}                                                            \
        }                                                                                          \
    }
/* Degrees 2 and 10, 4 in single precision, and 2 collocated. */
#define CATALOGUE_INS_SURFACES(entry)                                                              \
    CATALOGUE_INS_SURFACE(entry, EG_F64, 0, 6, 4, 3, 4, true),                                     \
        CATALOGUE_INS_SURFACE(entry, EG_F64, 16, 66, 36, 11, 16, false),                           \
        CATALOGUE_INS_SURFACE(entry, EG_F32, 0, 15, 9, 5, 7, false),                               \
        CATALOGUE_INS_SURFACE(entry, EG_F64, 4, 6, 4, 3, 3, false)
#define CATALOGUE_INS_FACES(entry, real, lanes, y, blocks, np, nfp, q, itself)                     \
    {                                                                                              \
        "model/ins/advect_faces.k.c", entry, real, lanes,                                          \
            .not_on_cpu = true, .rows = y, .tiles = 1,                                             \
            .table = {"interp", catalogue_values, (nfp) * (q)}, .defines = {                       \
                {"NP", np},                                                                        \
                {"NFP", nfp},                                                                      \
                {"Q", q},                                                                          \
                {"FIELDS", (itself) ? 2 : 4},                                                      \
                {"WAVES", (itself) ? 2 : 1},                                                       \
                {"K_MIN_BLOCKS", blocks}                                                           \
            }                                                                                      \
    }
#define CATALOGUE_INS_MIRROR(real, lanes, np, even, pairs, fields)                                 \
    {                                                                                              \
        "model/ins/advect_mirror.k.c", "volume", real, lanes, .defines = {                         \
            {"NP", np},                                                                            \
            {"EVEN", even},                                                                        \
            {"ODD", (np) - (even)},                                                                \
            {"PAIRS", pairs},                                                                      \
            {"FIELDS", fields}                                                                     \
        }                                                                                          \
    }
#define CATALOGUE_INS_SIZES(file, entry, real, lanes, np, nfp)                                     \
    {                                                                                              \
        "model/ins/" file ".k.c", entry, real, lanes, .defines = {                                 \
            {"NP", np},                                                                            \
            {"NFP", nfp},                                                                          \
            {"CURL", (np) == 15}                                                                   \
        }                                                                                          \
    }
/* Degrees 2 and 10, and 4 in single precision. */
#define CATALOGUE_INS(file, entry)                                                                 \
    CATALOGUE_INS_SIZES(file, entry, EG_F64, 0, 6, 3),                                             \
        CATALOGUE_INS_SIZES(file, entry, EG_F64, 16, 66, 11),                                      \
        CATALOGUE_INS_SIZES(file, entry, EG_F32, 0, 15, 5)

#define CATALOGUE_INS_RATES(real, lanes, np, nfp, parts)                                           \
    {                                                                                              \
        "model/ins/rates.k.c", "rates", real, lanes, .defines = {                                  \
            {"NP", np},                                                                            \
            {"NFP", nfp},                                                                          \
            {"PARTS", parts}                                                                       \
        }                                                                                          \
    }

/* Of 2 tracers with m modes a side, next to elements with up to `most`. */
#define CATALOGUE_ADVECTION_DEFINES(dim, m, most, uniform, curved)                                 \
    {"DIM", dim}, {"M", m}, {"LINES", (dim) == 3 ? (m) * (m) : (m)},                               \
        {"NP", (dim) == 3 ? (m) * (m) * (m) : (m) * (m)}, {"FACES", 2 * (dim)},                    \
        {"FACTORS", 1 + (dim) * (dim)}, {"CORNERS", (dim) == 3 ? 8 : 4}, {"COMPONENTS", 2},        \
        {"POINTS", (m) + 1}, {"MOST", most}, {"UNIFORM", uniform}, {"CURVED", curved},             \
        {"PARALLEL", uniform}, {"GATHERS", !(uniform)}, {"CLIMBS", (uniform) && (most) < 4},       \
        {"RING", 256}, {"FIRST", curved}, {"WHOLE", (most) < 4}, {"Q", (m) + 1},                   \
        {"FACE_Q", (most) + 1}, {"SOURCES", curved}, {"BOUNDARIES", curved},                       \
    {                                                                                              \
        "LOW_STORAGE", curved                                                                      \
    }
#define CATALOGUE_ADVECTION(entry, lanes, dim, m, most, uniform, curved)                           \
    {                                                                                              \
        "model/advection/" entry ".k.c", entry, EG_F64, lanes, .defines = {                        \
            CATALOGUE_ADVECTION_DEFINES(dim, m, most, uniform, curved)                             \
        }                                                                                          \
    }

/* Of 2 tracers; n Gauss-Lobatto points along lines and t points across them. */
#define CATALOGUE_LIMITER_DEFINES(dim, m, n, t, parts, rules, volume, curved)                      \
    {"DIM", dim}, {"M", m}, {"LINES", (dim) == 3 ? (m) * (m) : (m)},                               \
        {"NP", (dim) == 3 ? (m) * (m) * (m) : (m) * (m)}, {"FACES", 2 * (dim)},                    \
        {"CORNERS", (dim) == 3 ? 8 : 4}, {"COMPONENTS", 2}, {"NL", n}, {"T", t},                   \
        {"PAIRS", ((t) + 1) / 2}, {"PARTS", parts}, {"Q", (m) + 1}, {"RULES", rules},              \
        {"VOLUME", volume},                                                                        \
    {                                                                                              \
        "CURVED", curved                                                                           \
    }
#define CATALOGUE_LIMITER(file, entry, lanes, dim, m, n, t, rules, volume, curved)                 \
    {                                                                                              \
        "model/advection/" file ".k.c", entry, EG_F64, lanes, .defines = {                         \
            CATALOGUE_LIMITER_DEFINES(dim, m, n, t, 1, rules, volume, curved)                      \
        }                                                                                          \
    }
#define CATALOGUE_ADAPT(entry, dim, m)                                                             \
    {                                                                                              \
        "model/advection/adapt.k.c", entry, EG_F64, .defines = {                                   \
            {"DIM", dim},                                                                          \
            {"M", m},                                                                              \
            {"NP", (dim) == 3 ? (m) * (m) * (m) : (m) * (m)},                                      \
            {"COMPONENTS", 2}                                                                      \
        }                                                                                          \
    }

#define CATALOGUE_SOLVER_VECTORS(entry, real, weighted, terms)                                     \
    {                                                                                              \
        "solver/vectors.k.c", entry, real, .rows = 8, .tiles = 1, .defines = {                     \
            {"ROWS", 8},                                                                           \
            {"WEIGHTED", weighted},                                                                \
            {"TERMS", terms}                                                                       \
        }                                                                                          \
    }

#define CATALOGUE_GUESS(entry, real, weighted, most)                                               \
    {                                                                                              \
        "solver/guess.k.c", entry, real, .rows = 8, .tiles = 1, .defines = {                       \
            {"ROWS", 8},                                                                           \
            {"WEIGHTED", weighted},                                                                \
            {"MOST", most}                                                                         \
        }                                                                                          \
    }

/* Product j of the kernel `sizes`: m x k, at row o of the result. */
#define CATALOGUE_PRODUCT(j, m, k, o)                                                              \
    {"M" #j, m}, {"K" #j, k},                                                                      \
    {                                                                                              \
        "O" #j, o                                                                                  \
    }
#define CATALOGUE_SIZES(real)                                                                      \
    {                                                                                              \
        "kernel/gemm.k.c", "sizes", real, 16, .defines = {                                         \
            CATALOGUE_PRODUCT(0, 1, 1, 0),                                                         \
            CATALOGUE_PRODUCT(1, 2, 7, 1),                                                         \
            CATALOGUE_PRODUCT(2, 3, 8, 3),                                                         \
            CATALOGUE_PRODUCT(3, 5, 9, 6),                                                         \
            CATALOGUE_PRODUCT(4, 8, 16, 11),                                                       \
            CATALOGUE_PRODUCT(5, 12, 17, 19),                                                      \
            CATALOGUE_PRODUCT(6, 13, 3, 31),                                                       \
            CATALOGUE_PRODUCT(7, 17, 24, 44),                                                      \
            CATALOGUE_PRODUCT(8, 25, 31, 61),                                                      \
            CATALOGUE_PRODUCT(9, 33, 5, 86),                                                       \
            {"KMOST", 31},                                                                         \
            {"MSUM", 119}                                                                          \
        }                                                                                          \
    }

static const catalogue_row catalogue[] = {
    CATALOGUE_CHAIN(EG_F64, 3, 6),
    CATALOGUE_CHAIN(EG_F64, 10, 19),
    CATALOGUE_CHAIN(EG_F64, 15, 33),
    CATALOGUE_CHAIN(EG_F64, 28, 67),
    CATALOGUE_CHAIN(EG_F64, 45, 112),
    CATALOGUE_CHAIN(EG_F64, 66, 171),
    CATALOGUE_CHAIN(EG_F32, 3, 6),
    CATALOGUE_CHAIN(EG_F32, 15, 33),
    CATALOGUE_CHAIN(EG_F32, 45, 112),
    {"bench/chain.k.c", "chain", EG_F64, 16, .defines = {{"NP", 6}, {"NC", 12}}},
    {"bench/chain.k.c", "chain", EG_F64,
     .defines = {{"NP", 6}, {"NC", 12}, {"K_STREAMING", 1}, {"K_MIN_BLOCKS", 2}}},
    {"bench/gemm.k.c", "gemm", EG_F64, .defines = {{"NP", 3}}},
    {"bench/gemm.k.c", "gemm", EG_F64, .defines = {{"NP", 15}}},
    {"bench/gemm.k.c", "gemm", EG_F64, .defines = {{"NP", 66}}},
    {"bench/gemm.k.c", "gemm", EG_F64, 16, .defines = {{"NP", 36}, {"K_STREAMING", 1}}},
    {"bench/gemm.k.c", "gemm", EG_F32, .defines = {{"NP", 3}}},
    {"bench/gemm.k.c", "gemm", EG_F32, .defines = {{"NP", 66}}},
    {"bench/matvec.k.c", "matvec", EG_F64, .defines = {{"N", 8}}},
    {"bench/matvec.k.c", "matvec", EG_F64, .defines = {{"N", 125}}},
    {"bench/matvec.k.c", "matvec", EG_F32, .defines = {{"N", 27}}},
    {"bench/stream.k.c", "copy", EG_F64, .defines = {{"ROWS", 64}, {"K_STREAMING", 1}}},
    {"bench/stream.k.c", "copy", EG_F32, .defines = {{"ROWS", 16}}},
    {"bench/stream.k.c", "triad", EG_F64, .defines = {{"ROWS", 64}, {"K_STREAMING", 1}}},
    {"bench/stream.k.c", "triad", EG_F32, .defines = {{"ROWS", 16}}},
    {"bench/stream.k.c", "read", EG_F64, .defines = {{"ROWS", 64}}},
    {"bench/stream.k.c", "read", EG_F32, .defines = {{"ROWS", 16}}},
    {"bench/peak.k.c", "fma_peak", EG_F64, .defines = {{"ROWS", 8}, {"CHAINS", 8}}},
    {"bench/peak.k.c", "fma_peak", EG_F32, .defines = {{"ROWS", 8}, {"CHAINS", 8}}},
    {"bench/peak.k.c", "shared_peak", EG_F64, .defines = {{"ROWS", 8}, {"CHAINS", 8}}},
    {"bench/peak.k.c", "shared_peak", EG_F32, .defines = {{"ROWS", 8}, {"CHAINS", 8}}},
    {"bench/peak.k.c", "tensor_peak", EG_F64, .least_arch = 80, .not_on_cpu = true,
     .defines = {{"CHAINS", 8}}},
    CATALOGUE_REDUCE("reduce", EG_F64, 1, EG_REDUCE_SUM, 0, 0, 0),
    CATALOGUE_REDUCE("reduce", EG_F64, 4, EG_REDUCE_DOT, EG_REDUCE_WEIGHTED_DOT, EG_REDUCE_MAX,
                     EG_REDUCE_MAX_ABS),
    CATALOGUE_REDUCE("reduce", EG_F32, 2, EG_REDUCE_WEIGHTED_DOT, EG_REDUCE_MAX_ABS, 0, 0),
    CATALOGUE_REDUCE("finish", EG_F64, 4, EG_REDUCE_DOT, EG_REDUCE_WEIGHTED_DOT, EG_REDUCE_MAX,
                     EG_REDUCE_MAX_ABS),
    CATALOGUE_REDUCE("finish", EG_F32, 1, EG_REDUCE_MAX, 0, 0, 0),
    {"field/points.k.c", "product", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/points.k.c", "product", EG_F64, .lanes = 4, .defines = {{"ROWS", 4}}},
    {"field/points.k.c", "load", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/points.k.c", "load", EG_F32, .defines = {{"ROWS", 4}}},
    {"field/points.k.c", "store", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/points.k.c", "store", EG_F32, .defines = {{"ROWS", 4}}},
    CATALOGUE_METRIC("jacobians", 2),
    CATALOGUE_METRIC("jacobians", 3),
    CATALOGUE_METRIC("volume_metric", 2),
    CATALOGUE_METRIC("volume_metric", 3),
    CATALOGUE_METRIC("face_metric", 2),
    CATALOGUE_METRIC("face_metric", 3),
    CATALOGUE_METRIC("face_coordinates", 2),
    CATALOGUE_METRIC("face_coordinates", 3),
    CATALOGUE_METRIC("summarise", 2),
    {"field/project.k.c", "residual", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/project.k.c", "divide", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/project.k.c", "advance", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/measure.k.c", "norms", EG_F64, .defines = {{"EXACT", 0}, {"ROWS", 4}}},
    {"field/measure.k.c", "norms", EG_F64, .defines = {{"EXACT", 1}, {"ROWS", 4}}},
    {"field/range.k.c", "range", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/average.k.c", "take", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/average.k.c", "advance", EG_F64,
     .defines = {{"ROWS", 4}, {"COUNT", 3}, {"VARIED", 2}, {"ALL", 6}}},
    CATALOGUE_GUARD("field/guard.k.c", "look", EG_F64, 2, 0),
    CATALOGUE_GUARD("field/guard.k.c", "look", EG_F32, 3, 0),
    CATALOGUE_GUARD("field/guard.k.c", "largest", EG_F64, 3, 0),
    CATALOGUE_GUARD("field/guard.k.c", "largest", EG_F32, 2, 0),
    CATALOGUE_GUARD("field/guard.k.c", "detail", EG_F64, 2, 0),
    CATALOGUE_GUARD("kernel/guard.k.c", "look", EG_F64, 3, 1),
    CATALOGUE_GUARD("kernel/guard.k.c", "look", EG_F32, 2, 0),
    CATALOGUE_GUARD("kernel/guard.k.c", "detail", EG_F64, 2, 1),
    CATALOGUE_GUARD("kernel/guard.k.c", "detail", EG_F32, 3, 0),
    {"field/probe.k.c", "probe", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/probe.k.c", "probe", EG_F32, .defines = {{"ROWS", 4}}},
    {"field/measure.k.c", "integral", EG_F64, .defines = {{"EXACT", 0}, {"ROWS", 4}}},
    {"kernel/evaluate.k.c", "evaluate", EG_F64,
     .defines = {{"DIM", 2}, {"COMPONENTS", 2}, {"ROWS", 4}}},
    {"kernel/evaluate.k.c", "evaluate", EG_F64,
     .defines = {{"DIM", 3}, {"COMPONENTS", 2}, {"ROWS", 4}}},
    {"field/quantity.k.c", "gather", EG_F64, .defines = {{"ROWS", 4}}},
    {"field/quantity.k.c", "gather", EG_F32, .defines = {{"ROWS", 4}}},
    {"field/quantity.k.c", "accumulate", EG_F64, .defines = {{"ROWS", 4}}},
    {"kernel/quantities.k.c", "quantities", EG_F64,
     .defines = {{"DIM", 2}, {"USED", 2}, {"QUANTITIES", 2}, {"ROWS", 4}}},
    {"kernel/quantities.k.c", "quantities", EG_F64,
     .defines = {{"DIM", 3}, {"USED", 2}, {"QUANTITIES", 2}, {"ROWS", 4}}},
    CATALOGUE_SURFACE(EG_F64, 0, 6, 3),
    CATALOGUE_SURFACE(EG_F64, 8, 15, 5),
    CATALOGUE_SURFACE(EG_F32, 16, 6, 3),
    CATALOGUE_SURFACE(EG_F32, 8, 15, 5),
    {"field/halo.k.c", "pack", EG_F64, .defines = {{"ROWS", 8}}},
    {"field/halo.k.c", "pack", EG_F32, .defines = {{"ROWS", 8}}},
    {"field/halo.k.c", "unpack", EG_F64, .defines = {{"ROWS", 8}}},
    {"field/halo.k.c", "unpack", EG_F32, .defines = {{"ROWS", 8}}},
    {"field/transfer.k.c", "transfer", .real = EG_F64},
    {"field/transfer.k.c", "transfer", .real = EG_F32},
    CATALOGUE_TRACE("neighbour_trace", EG_F64, 3, 2, 6, 3, 1, 0),
    CATALOGUE_TRACE("neighbour_trace", EG_F64, 6, 8, 27, 25, 9, 1),
    CATALOGUE_TRACE("neighbour_trace", EG_F32, 3, 2, 6, 3, 1, 0),
    CATALOGUE_TRACE("neighbour_trace", EG_F32, 4, 6, 10, 15, 6, 1),
    CATALOGUE_TRACE("own_trace", EG_F64, 3, 2, 6, 3, 1, 0),
    CATALOGUE_TRACE("own_trace", EG_F32, 4, 6, 10, 15, 6, 1),
    CATALOGUE_ADVECTION("modal", 0, 2, 2, 2, 1, 0),
    CATALOGUE_ADVECTION("modal", 0, 2, 5, 6, 0, 1),
    CATALOGUE_ADVECTION("modal", 0, 3, 3, 4, 1, 0),
    {"model/advection/sweep.k.c", "sweep", EG_F64, .only_on_cpu = true,
     .defines = {CATALOGUE_ADVECTION_DEFINES(2, 4, 5, 1, 0)}},
    {"model/advection/sweep.k.c", "sweep", EG_F64, .only_on_cpu = true,
     .defines = {CATALOGUE_ADVECTION_DEFINES(3, 3, 4, 0, 1)}},
    CATALOGUE_ADVECTION("points", 0, 2, 3, 4, 0, 1),
    /* clang finds no vectors for the one row of a constant. */
    {"model/advection/points.k.c", "points", EG_F64, .not_on_cpu = true,
     .defines = {CATALOGUE_ADVECTION_DEFINES(2, 1, 2, 0, 1)}},
    CATALOGUE_ADVECTION("points", 8, 3, 3, 3, 0, 0),
    /* clang finds no vectors for one loop with two modes a side; nothing is in parts on a CPU. */
    {"model/advection/limit.k.c", "limit", EG_F64, .not_on_cpu = true,
     .defines = {CATALOGUE_LIMITER_DEFINES(2, 2, 2, 2, 8, 1, 0, 0)}},
    CATALOGUE_LIMITER("limit", "limit", 0, 2, 3, 3, 3, 1, 0, 0),
    CATALOGUE_LIMITER("limit", "limit", 0, 2, 5, 4, 6, 1, 0, 0),
    CATALOGUE_LIMITER("limit", "limit", 0, 2, 3, 3, 9, 2, 1, 1),
    CATALOGUE_LIMITER("limit", "limit", 8, 3, 3, 4, 4, 1, 1, 1),
    CATALOGUE_LIMITER("limit", "range", 0, 2, 5, 4, 6, 1, 0, 0),
    CATALOGUE_LIMITER("limit", "range", 8, 3, 3, 3, 4, 1, 0, 0),
    CATALOGUE_LIMITER("rates", "rates", 0, 2, 3, 3, 9, 2, 1, 1),
    CATALOGUE_LIMITER("rates", "rates", 8, 3, 3, 4, 4, 1, 1, 1),
    CATALOGUE_LIMITER("speeds", "speeds", 0, 2, 3, 3, 9, 2, 1, 1),
    CATALOGUE_LIMITER("speeds", "speeds", 8, 3, 3, 4, 4, 1, 1, 1),
    CATALOGUE_ADAPT("sizes", 2, 5),
    CATALOGUE_ADAPT("sizes", 3, 3),
    CATALOGUE_ADAPT("move", 2, 5),
    CATALOGUE_ADAPT("move", 3, 3),
    CATALOGUE_EULER(0, 2, 2, 0, 0, 1, 0, 0, 0),
    CATALOGUE_EULER(0, 3, 3, 1, 0, 1, 1, 0, 0),
    CATALOGUE_EULER(0, 4, 4, 0, 1, 0, 2, 0, 1),
    CATALOGUE_EULER(0, 2, 1, 2, 1, 1, 0, 0, 0),
    CATALOGUE_EULER(0, 5, 4, 2, 1, 0, 1, 0, 0),
    CATALOGUE_EULER(16, 7, 7, 1, 0, 0, 0, 0, 0),
    CATALOGUE_EULER(0, 3, 3, 0, 0, 0, 0, 1, 0),
    CATALOGUE_EULER_CURVED(0, 4, 4, 0, 1, 0, 1, 0),
    CATALOGUE_EULER_CURVED(0, 3, 3, 0, 0, 2, 0, 1),
    CATALOGUE_EULER_CURVED(0, 3, 3, 1, 0, 0, 0, 0),
    CATALOGUE_EULER_CURVED(0, 4, 3, 2, 1, 1, 1, 0),
    CATALOGUE_EULER_SWEEP(2, 0, 0, 0, 0, 0, 0, 0),
    CATALOGUE_EULER_SWEEP(4, 1, 0, 1, 1, 1, 0, 0),
    CATALOGUE_EULER_SWEEP(5, 0, 0, 2, 1, 0, 1, 0),
    CATALOGUE_EULER_SWEEP(3, 1, 0, 0, 0, 0, 1, 1),
    CATALOGUE_EULER_SWEEP(3, 0, 1, 1, 1, 1, 0, 0),
    CATALOGUE_EULER_SWEEP(2, 0, 1, 0, 0, 0, 1, 0),
    {"model/euler/traces.k.c", "traces", EG_F64, .defines = {{"M", 3}, {"BASIS", 15}}},
    {"model/euler/traces.k.c", "traces", EG_F64, .defines = {{"M", 8}, {"BASIS", 80}}},
    {"model/euler/speeds.k.c", "speeds", EG_F64, .defines = {{"M", 4}, {"PARTS", 4}}},
    {"model/euler/fastest.k.c", "fastest", EG_F64, .only_on_cpu = true, .defines = {{"M", 3}}},
    CATALOGUE_EULER_TOTALS(4, 1, 0, 1, 1),
    CATALOGUE_EULER_TOTALS(3, 0, 0, 1, 1),
    CATALOGUE_EULER_TOTALS(3, 0, 1, 45, 3),
    CATALOGUE_EULER_START(2, 1, 0, 1, 1),
    CATALOGUE_EULER_START(3, 0, 1, 45, 3),
    {"model/euler/means.k.c", "means", EG_F64, .defines = {{"M", 2}, {"CARTESIAN", 1}}},
    {"model/euler/means.k.c", "means", EG_F64, .defines = {{"M", 9}, {"CARTESIAN", 0}}},
    {"model/euler/indicator.k.c", "indicator", EG_F64, .rows = 2, .not_on_cpu = true,
     .defines = {{"M", 2}, {"GAUSS", 1}}},
    {"model/euler/indicator.k.c", "indicator", EG_F64, .rows = 9, .not_on_cpu = true,
     .defines = {{"M", 9}, {"GAUSS", 0}}},
    CATALOGUE_EULER_BLEND(0, 3, 3, 0, 1, 1, 1, 0),
    CATALOGUE_EULER_BLEND(0, 4, 4, 1, 0, 0, 0, 1),
    CATALOGUE_EULER_BLEND(16, 6, 5, 2, 1, 0, 2, 0),
    CATALOGUE_EULER_LIMIT(3, 1, 1, 0, 1, 0),
    CATALOGUE_EULER_LIMIT(4, 0, 0, 1, 1, 1),
    CATALOGUE_EULER_LIMIT(6, 1, 0, 0, 0, 1),
    CATALOGUE_CELLS("cells", 0, 2, 2, 1, 0, 1, 0, 0, 0),
    CATALOGUE_CELLS("cells", 0, 4, 3, 1, 1, 1, 1, 0, 1),
    CATALOGUE_CELLS("cells", 0, 3, 3, 2, 0, 0, 2, 1, 0),
    CATALOGUE_CELLS("slopes", 0, 3, 3, 2, 0, 0, 2, 1, 0),
    CATALOGUE_CELLS("slopes", 16, 6, 2, 2, 1, 1, 0, 0, 0),
    CATALOGUE_ELLIPTIC_AFFINE("strips", EG_F64, 0, 3, 2, 3, 2),
    CATALOGUE_ELLIPTIC_AFFINE("strips", EG_F64, 0, 45, 9, 4, 25),
    CATALOGUE_ELLIPTIC_AFFINE("strips", EG_F32, 0, 15, 5, 3, 9),
    CATALOGUE_ELLIPTIC_AFFINE("apply", EG_F64, 0, 3, 2, 3, 2),
    CATALOGUE_ELLIPTIC_AFFINE("apply", EG_F64, 16, 66, 11, 4, 36),
    CATALOGUE_ELLIPTIC_AFFINE("apply", EG_F32, 0, 15, 5, 3, 9),
    CATALOGUE_ELLIPTIC_CHAIN("slopes", EG_F64, 0, 3, 2, 3),
    CATALOGUE_ELLIPTIC_CHAIN("slopes", EG_F32, 0, 45, 9, 4),
    CATALOGUE_ELLIPTIC_CHAIN("apply", EG_F64, 16, 3, 2, 3),
    CATALOGUE_ELLIPTIC_CHAIN("apply", EG_F64, 0, 66, 11, 4),
    CATALOGUE_ELLIPTIC_CHAIN("apply", EG_F32, 0, 6, 3, 3),
    CATALOGUE_ELLIPTIC_MIRROR("slopes", EG_F64, 0, 28, 7, 3, 16),
    CATALOGUE_ELLIPTIC_MIRROR("slopes", EG_F32, 0, 10, 4, 3, 6),
    CATALOGUE_ELLIPTIC_MIRROR("apply", EG_F64, 16, 66, 11, 4, 36),
    CATALOGUE_ELLIPTIC_MIRROR("apply", EG_F64, 0, 45, 9, 3, 25),
    CATALOGUE_ELLIPTIC_MIRROR("apply", EG_F32, 0, 15, 5, 3, 9),
    CATALOGUE_ELLIPTIC_BLOCK("slopes", EG_F64, 28, 7, 3, 16),
    CATALOGUE_ELLIPTIC_BLOCK("slopes", EG_F32, 6, 3, 4, 4),
    CATALOGUE_ELLIPTIC_BLOCK("apply", EG_F64, 28, 7, 3, 16),
    CATALOGUE_ELLIPTIC_BLOCK("apply", EG_F32, 6, 3, 4, 4),
    {"model/elliptic/affine_factors.k.c", "affine_factors", .real = EG_F64},
    {"model/elliptic/affine_factors.k.c", "affine_factors", .real = EG_F32},
    {"model/elliptic/affine_factors.k.c", "affine_penalties", .real = EG_F64},
    {"model/elliptic/affine_factors.k.c", "affine_penalties", .real = EG_F32},
    CATALOGUE_ELLIPTIC_ALL("general", "fluxes"),
    CATALOGUE_ELLIPTIC_ALL("general", "apply"),
    CATALOGUE_ELLIPTIC_ALL("factors", "volume_terms"),
    CATALOGUE_ELLIPTIC_ALL("factors", "face_terms"),
    CATALOGUE_ELLIPTIC_ALL("factors", "face_sides"),
    CATALOGUE_ELLIPTIC_ALL("factors", "face_penalties"),
    CATALOGUE_ELLIPTIC_ALL("load", "load"),
    {"model/elliptic/mass.k.c", "affine_mass", EG_F64,
     .defines = {{"NP", 15}, {"NC", 1}, {"FACTORS", 5}}},
    {"model/elliptic/mass.k.c", "affine_mass", EG_F32,
     .defines = {{"NP", 6}, {"NC", 1}, {"FACTORS", 5}}},
    {"model/elliptic/mass.k.c", "curved_mass", EG_F64,
     .defines = {{"NP", 15}, {"NC", 25}, {"FACTORS", 5}}},
    {"model/elliptic/mass.k.c", "curved_mass", EG_F32,
     .defines = {{"NP", 6}, {"NC", 12}, {"FACTORS", 5}}},
    {"model/elliptic/mass.k.c", "mass_scale", EG_F64,
     .defines = {{"NP", 15}, {"NC", 25}, {"FACTORS", 5}}},
    {"model/elliptic/mass.k.c", "mass_scale", EG_F32,
     .defines = {{"NP", 6}, {"NC", 12}, {"FACTORS", 10}}},
    {"model/elliptic/plain.k.c", "gather_f64", EG_F64, .defines = {{"NP", 3}}},
    {"model/elliptic/plain.k.c", "gather_f64", EG_F32, .defines = {{"NP", 3}}},
    {"model/elliptic/plain.k.c", "gather_f32", EG_F64, .defines = {{"NP", 3}}},
    {"model/elliptic/plain.k.c", "gather_f32", EG_F32, .defines = {{"NP", 3}}},
    {"model/elliptic/plain.k.c", "scatter_f64", EG_F64, .defines = {{"NP", 3}}},
    {"model/elliptic/plain.k.c", "scatter_f64", EG_F32, .defines = {{"NP", 3}}},
    {"model/elliptic/plain.k.c", "scatter_f32", EG_F64, .defines = {{"NP", 3}}},
    {"model/elliptic/plain.k.c", "scatter_f32", EG_F32, .defines = {{"NP", 3}}},
    {"model/elliptic/degrees.k.c", "lower_degree", EG_F64, .defines = {{"NP", 45}, {"NL", 15}}},
    {"model/elliptic/degrees.k.c", "lower_degree", EG_F32, .defines = {{"NP", 15}, {"NL", 6}}},
    {"model/elliptic/degrees.k.c", "raise_degree", EG_F64, .defines = {{"NP", 45}, {"NL", 15}}},
    {"model/elliptic/degrees.k.c", "raise_degree", EG_F32, .defines = {{"NP", 15}, {"NL", 6}}},
    {"model/elliptic/blocks.k.c", "mark_node", EG_F64, .defines = {{"NP", 15}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "mark_node", EG_F32, .defines = {{"NP", 3}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "take_column", EG_F64, .defines = {{"NP", 15}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "take_column", EG_F32, .defines = {{"NP", 3}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "invert_blocks", EG_F64, .defines = {{"NP", 15}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "invert_blocks", EG_F32, .defines = {{"NP", 45}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "multiply_blocks", EG_F64, .defines = {{"NP", 84}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "multiply_wide", EG_F32, .defines = {{"NP", 21}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "multiply_wide", EG_F32, .not_on_cpu = true,
     .defines = {{"NP", 21}, {"ALONE", 1}, {"K_MIN_BLOCKS", 4}}},
    {"model/elliptic/blocks.k.c", "multiply_wide", EG_F64, .defines = {{"NP", 6}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "multiply_blocks", EG_F32, .not_on_cpu = true,
     .defines = {{"NP", 45}, {"ALONE", 1}}},
    {"model/elliptic/blocks.k.c", "smooth_blocks", EG_F64, .defines = {{"NP", 84}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "smooth_blocks", EG_F32, .not_on_cpu = true,
     .defines = {{"NP", 45}, {"ALONE", 1}}},
    {"model/elliptic/gradient.k.c", "gradient_mirror", EG_F64, .tiles = 2,
     .defines =
         {{"DIM", 2}, {"AT", 1}, {"NP", 66}, {"EVEN", 36}, {"ODD", 30}, {"K_MIN_BLOCKS", 6}}},
    {"model/elliptic/gradient.k.c", "gradient_mirror", EG_F32,
     .defines = {{"DIM", 2}, {"AT", 1}, {"NP", 28}, {"EVEN", 16}, {"ODD", 12}}},
    {"model/elliptic/blocks.k.c", "take_entry", EG_F64, .defines = {{"NP", 15}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "take_entry", EG_F32, .defines = {{"NP", 28}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "invert_entries", EG_F64, .defines = {{"NP", 15}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "invert_entries", EG_F32, .defines = {{"NP", 28}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "multiply_diagonal", EG_F64,
     .defines = {{"NP", 15}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "multiply_diagonal", EG_F32,
     .defines = {{"NP", 28}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "smooth_diagonal", EG_F64, .defines = {{"NP", 15}, {"ALONE", 0}}},
    {"model/elliptic/blocks.k.c", "smooth_diagonal", EG_F32, .defines = {{"NP", 28}, {"ALONE", 0}}},
    {"model/elliptic/gradient.k.c", "gradient_chain", EG_F64,
     .defines = {{"DIM", 2}, {"NP", 66}, {"AT", 1}}},
    {"model/elliptic/gradient.k.c", "gradient", EG_F64,
     .defines = {{"DIM", 2}, {"NP", 10}, {"AT", 1}}},
    {"model/elliptic/gradient.k.c", "gradient_flat", EG_F64,
     .defines = {{"DIM", 2}, {"NP", 15}, {"AT", 1}}},
    {"model/elliptic/gradient.k.c", "gradient", EG_F64,
     .defines = {{"DIM", 3}, {"NP", 10}, {"AT", 10}}},
    {"model/elliptic/values.k.c", "everywhere", EG_F64,
     .defines = {{"DIM", 2}, {"COUNT", 25}, {"FACES", 3}}},
    {"model/elliptic/values.k.c", "on_boundaries", EG_F64,
     .defines = {{"DIM", 3}, {"COUNT", 48}, {"FACES", 4}}},
    CATALOGUE_INS_VOLUME(EG_F64, 0, 6, 12, 2),
    CATALOGUE_INS_VOLUME(EG_F64, 0, 15, 33, 4),
    CATALOGUE_INS_VOLUME(EG_F32, 0, 15, 33, 4),
    CATALOGUE_INS_SURFACES("strips"),
    CATALOGUE_INS_SURFACES("surface"),
    CATALOGUE_INS_FACES("surface", EG_F64, 0, 4, 4, 21, 6, 8, false),
    CATALOGUE_INS_FACES("surface", EG_F64, 16, 4, 2, 66, 11, 16, true),
    CATALOGUE_INS_FACES("surface", EG_F32, 0, 3, 8, 6, 3, 4, false),
    CATALOGUE_INS_FACES("stage", EG_F64, 0, 3, 8, 6, 3, 4, false),
    CATALOGUE_INS_FACES("stage", EG_F32, 0, 4, 4, 21, 6, 8, false),
    CATALOGUE_INS_MIRROR(EG_F64, 0, 21, 12, 28, 4),
    CATALOGUE_INS_MIRROR(EG_F64, 16, 66, 36, 92, 4),
    CATALOGUE_INS_MIRROR(EG_F32, 0, 28, 16, 36, 2),
    CATALOGUE_INS("slopes", "gradient"),
    CATALOGUE_INS("slopes", "divergence"),
    CATALOGUE_INS("load", "load"),
    CATALOGUE_INS("inflow", "inflow"),
    CATALOGUE_INS("continuity", "speeds"),
    CATALOGUE_INS("continuity", "strengths"),
    CATALOGUE_INS("continuity", "join"),
    CATALOGUE_INS("continuity", "continuity"),
    CATALOGUE_INS("continuity", "invert"),
    CATALOGUE_INS("continuity", "split"),
    CATALOGUE_INS_RATES(EG_F64, 0, 6, 3, 1),
    CATALOGUE_INS_RATES(EG_F64, 16, 66, 11, 8),
    CATALOGUE_INS_RATES(EG_F32, 0, 15, 5, 8),
    {"model/ins/given.k.c", "project", EG_F64,
     .defines = {{"Q", 6}, {"COMPONENTS", 2}, {"NFP", 4}}},
    {"model/ins/given.k.c", "project", EG_F32,
     .defines = {{"Q", 13}, {"COMPONENTS", 1}, {"NFP", 11}}},
    {"kernel/hexahedron.k.c", "gradient", EG_F64, 4, .defines = {{"SIDE", 10}}},
    {"kernel/hexahedron.k.c", "gradient", EG_F64, 16, 80, .defines = {{"SIDE", 10}}},
    {"kernel/hexahedron.k.c", "gradient", EG_F32, 8, .defines = {{"SIDE", 10}}},
    {"kernel/mixed.k.c", "residual", EG_F64, .defines = {{"NP", 15}}},
    {"kernel/mixed.k.c", "smooth", EG_F32, .defines = {{"NP", 15}}},
    {"solver/sparse.k.c", "product", EG_F64, .rows = 1},
    {"solver/sparse.k.c", "product", EG_F32, .rows = 1},
    {"solver/sparse.k.c", "residual", EG_F64, .rows = 1},
    {"solver/sparse.k.c", "residual", EG_F32, .rows = 1},
    {"solver/sparse.k.c", "add_product", EG_F64, .rows = 1},
    {"solver/sparse.k.c", "add_product", EG_F32, .rows = 1},
    {"solver/sparse.k.c", "smooth_zero", EG_F64, .rows = 1},
    {"solver/sparse.k.c", "smooth_zero", EG_F32, .rows = 1},
    {"solver/sparse.k.c", "smooth_first", EG_F64, .rows = 1},
    {"solver/sparse.k.c", "smooth_first", EG_F32, .rows = 1},
    {"solver/sparse.k.c", "smooth_next", EG_F64, .rows = 1},
    {"solver/sparse.k.c", "smooth_next", EG_F32, .rows = 1},
    {"solver/amg.k.c", "k_rest", EG_F64, .rows = 1},
    {"solver/amg.k.c", "k_rest", EG_F32, .rows = 1},
    {"solver/amg.k.c", "k_combine", EG_F64, .rows = 1},
    {"solver/amg.k.c", "k_combine", EG_F32, .rows = 1},
    CATALOGUE_GUESS("combine", EG_F64, 0, 4),
    CATALOGUE_GUESS("combine", EG_F32, 0, 16),
    CATALOGUE_GUESS("project", EG_F64, 1, 4),
    CATALOGUE_GUESS("project", EG_F32, 0, 16),
    CATALOGUE_GUESS("renew", EG_F64, 0, 4),
    CATALOGUE_GUESS("renew", EG_F64, 1, 16),
    CATALOGUE_SOLVER_VECTORS("dots", EG_F64, 1, 1),
    CATALOGUE_SOLVER_VECTORS("dots", EG_F32, 0, 1),
    CATALOGUE_SOLVER_VECTORS("advance", EG_F64, 1, 1),
    CATALOGUE_SOLVER_VECTORS("advance", EG_F32, 0, 1),
    CATALOGUE_SOLVER_VECTORS("finish", EG_F64, 0, 1),
    CATALOGUE_SOLVER_VECTORS("add", EG_F64, 0, 1),
    CATALOGUE_SOLVER_VECTORS("add", EG_F64, 0, 4),
    CATALOGUE_SOLVER_VECTORS("add", EG_F32, 0, 3),
    CATALOGUE_SOLVER_VECTORS("scale", EG_F64, 0, 1),
    CATALOGUE_SOLVER_VECTORS("smooth", EG_F64, 0, 1),
    CATALOGUE_SOLVER_VECTORS("smooth", EG_F32, 0, 1),
    CATALOGUE_SOLVER_VECTORS("multiply", EG_F64, 0, 1),
    CATALOGUE_SOLVER_VECTORS("multiply", EG_F32, 0, 1),
    CATALOGUE_SOLVER_VECTORS("narrow", EG_F64, 0, 1),
    CATALOGUE_SOLVER_VECTORS("widen", EG_F64, 0, 1),
    {"kernel/mixed.k.c", "smooth", EG_F64, .defines = {{"NP", 28}}},
    {"kernel/mixed.k.c", "correct", EG_F64, .defines = {{"NP", 15}}},
    {"kernel/dialect.k.c", "arguments", EG_F64, 16, .defines = {{"ROWS", 3}}},
    {"kernel/dialect.k.c", "tile", EG_F32, 16, .defines = {{"ROWS", 15}}},
    /* gcc knows no vectors for mirrored lanes of two widths in one loop. */
    {"kernel/dialect.k.c", "tile", EG_F64, 16, .not_on_cpu = true, .defines = {{"ROWS", 15}}},
    {"kernel/dialect.k.c", "pointwise", EG_F64, .defines = {{"ROWS", 15}}},
    {"kernel/dialect.k.c", "pointwise", EG_F32, .defines = {{"ROWS", 15}}},
    {"kernel/dialect.k.c", "turn", EG_F64, 16, .defines = {{"ROWS", 1}}},
    {"kernel/dialect.k.c", "gathered", EG_F64, .defines = {{"ROWS", 15}}},
    {"kernel/dialect.k.c", "gathered", EG_F32, .defines = {{"ROWS", 15}}},
    {"kernel/dialect.k.c", "tabled", EG_F64, .not_on_cpu = true,
     .table = {"table", catalogue_values, 6}, .defines = {{"ROWS", 5}, {"TABLES", 1}}},
    {"kernel/dialect.k.c", "tabled", EG_F32, .not_on_cpu = true,
     .table = {"table", catalogue_values, 6}, .defines = {{"ROWS", 5}, {"TABLES", 1}}},
    {"kernel/dialect.k.c", "sizes", EG_F64, .defines = {{"ROWS", 15}}},
    {"kernel/dialect.k.c", "sizes", EG_F32, .defines = {{"ROWS", 15}}},
    {"kernel/dialect.k.c", "fours", EG_F64, .defines = {{"ROWS", 1}}},
    {"kernel/dialect.k.c", "fours", EG_F32, .defines = {{"ROWS", 1}}},
    /* Most of these functions are calls of the C library, one lane after the other. */
    {"kernel/functions.k.c", "functions", .real = EG_F64, .not_on_cpu = true},
    {"kernel/functions.k.c", "functions", .real = EG_F32, .not_on_cpu = true},
    {"kernel/functions.k.c", "choices", .real = EG_F64},
    {"kernel/functions.k.c", "choices", .real = EG_F32},
    {"kernel/functions.k.c", "difference", .real = EG_F64},
    {"kernel/gemm.k.c", "forms", EG_F64, .defines = {{"MR", 15}, {"KC", 10}}},
    {"kernel/gemm.k.c", "forms", EG_F32, 16, .defines = {{"MR", 28}, {"KC", 28}}},
    {"kernel/gemm.k.c", "vectors", EG_F64, .defines = {{"MR", 4}, {"KC", 15}}},
    {"kernel/gemm.k.c", "vectors", EG_F32, .defines = {{"MR", 28}, {"KC", 50}}},
    CATALOGUE_SIZES(EG_F64),
    CATALOGUE_SIZES(EG_F32),
    {"kernel/gemm.k.c", "lines", EG_F64, 16, .defines = {{"MR", 6}, {"KC", 5}, {"FIELDS", 3}}},
    {"kernel/gemm.k.c", "lines", EG_F32, 16, .defines = {{"MR", 6}, {"KC", 5}, {"FIELDS", 3}}},
    {"kernel/gemm.k.c", "hasty", EG_F64, 16, .defines = {{"ROWS", 15}}},
    {"kernel/fragments.k.c", "chain", EG_F64,
     .defines = {{"FIELDS", 3}, {"NP", 10}, {"NC", 19}, {"NQ", 6}}},
    {"kernel/fragments.k.c", "chain", EG_F32,
     .defines = {{"FIELDS", 1}, {"NP", 15}, {"NC", 33}, {"NQ", 15}}},
    {"kernel/fragments.k.c", "joined", EG_F64, .defines = {{"NP", 15}, {"NC", 33}, {"NQ", 6}}},
    {"kernel/fragments.k.c", "joined", EG_F32, .defines = {{"NP", 15}, {"NC", 33}, {"NQ", 6}}},
    {"kernel/fragments.k.c", "twice", EG_F64,
     .defines = {{"FIELDS", 4}, {"NP", 66}, {"NC", 25}, {"NQ", 17}}},
    {"kernel/fragments.k.c", "twice", EG_F32,
     .defines = {{"FIELDS", 4}, {"NP", 66}, {"NC", 25}, {"NQ", 17}}},
    {"kernel/fragments.k.c", "loaded", EG_F64, .defines = {{"NP", 11}, {"NQ", 8}, {"K_FN", 8}}},
    {"kernel/fragments.k.c", "loaded", EG_F32, .defines = {{"NP", 11}, {"NQ", 8}, {"K_FN", 8}}},
    {"kernel/fragments.k.c", "worked_on", EG_F64,
     .defines = {{"NP", 21}, {"NQ", 11}, {"K_FN", 8}, {"K_UNROLL_CHUNKS", 1}}},
    {"kernel/fragments.k.c", "worked_on", EG_F32,
     .defines = {{"NP", 10}, {"NQ", 5}, {"K_FN", 8}, {"K_UNROLL_CHUNKS", 1}}},
    {"kernel/fragments.k.c", "pairs_of_rows", EG_F64,
     .defines = {{"NP", 36}, {"PAIRS", 20}, {"MATES", 16}, {"K_FN", 8}}},
    {"kernel/fragments.k.c", "pairs_of_rows", EG_F32,
     .defines = {{"NP", 36}, {"PAIRS", 20}, {"MATES", 16}, {"K_FN", 8}}},
};

/* The text of a source of the list; release with free(). */
static inline char *catalogue_text(const char *source)
{
    if (!strncmp(source, "kernel/", 7)) return read_test_source(source + 7);
    for (size_t i = 0; i < eg_embedded_source_count; i++) {
        if (strcmp(eg_embedded_sources[i].name, source) != 0) continue;
        char *text =
            strndup((const char *)eg_embedded_sources[i].data, eg_embedded_sources[i].length);
        assert_non_null(text);
        return text;
    }
    fail_msg("there is no source %s", source);
    return NULL;
}

/* What compiles a row; `text` is its source's. Both are borrowed. */
static inline eg_kernel_options catalogue_options(const catalogue_row *row, const char *text)
{
    size_t count = 0;
    while (count < CATALOGUE_DEFINES && row->defines[count].name)
        count++;
    return (eg_kernel_options){.size = sizeof(eg_kernel_options),
                               .source = row->source,
                               .text = text,
                               .entry = row->entry,
                               .real = row->real,
                               .lanes = row->lanes,
                               .rows_per_block = row->rows,
                               .tiles_per_block = row->tiles,
                               .defines = row->defines,
                               .define_count = count,
                               .tables = &row->table,
                               .table_count = row->table.name ? 1 : 0};
}

/* "bench/gemm.k.c gemm f64 NP=15", for messages. */
/* Whether row `i` is the first of its kernel, or, `of_each`, the first in its precision: for
 * compilers that need not see every setting. */
static inline bool catalogue_is_first(size_t i, bool of_each)
{
    if (of_each && getenv("EAGRE_TEST_LONG")) return true;
    for (size_t j = 0; j < i; j++)
        if (!strcmp(catalogue[j].source, catalogue[i].source) &&
            !strcmp(catalogue[j].entry, catalogue[i].entry) &&
            (!of_each || catalogue[j].real == catalogue[i].real) &&
            catalogue[j].least_arch <= catalogue[i].least_arch &&
            catalogue[j].only_on_cpu == catalogue[i].only_on_cpu &&
            catalogue[j].not_on_cpu == catalogue[i].not_on_cpu)
            return false;
    return true;
}

static inline void catalogue_label(const catalogue_row *row, char *label, size_t size)
{
    int n = snprintf(label, size, "%s %s %s", row->source, row->entry, eg_type_name(row->real));
    if (row->lanes) n += snprintf(label + n, size - (size_t)n, " LANES=%d", row->lanes);
    for (size_t i = 0; i < CATALOGUE_DEFINES && row->defines[i].name && n + 16 < (int)size; i++)
        n += snprintf(label + n, size - (size_t)n, " %s=%d", row->defines[i].name,
                      (int)row->defines[i].value);
}

#endif
