/* `chain`: the fused chain interpolate–multiply–project, the advection volume term on affine
 * triangles [karakus2018] algorithm 3, of degree 1 to 10. */
#include "bench/run.h"

#include <stdio.h>

/* Cubature points that integrate the cubic term of degree N exactly. */
static const int cubature[EG_BENCH_MAX_DEGREE + 1] = {0, 6, 12, 19, 33, 49, 67, 87, 112, 141, 171};

/* Blocks (of one warp) that a multiprocessor shall hold at least. At degrees 3 and 4 the compiler
 * would take 202 registers and leave room for 9 warps; at 168 there are 12, for 24 bytes of spills:
 * 0.82 and 0.77 of the bound instead of 0.73 and 0.73 on an H200. */
static const int min_blocks[EG_BENCH_MAX_DEGREE + 1] = {1, 1, 1, 12, 12, 1, 1, 1, 1, 1, 1};

typedef struct chain_case {
    int np, nc;
    int64_t tiles;
    int lanes;
    eg_kernel *kernel;
    eg_operator *interp_op, *pr_op, *ps_op;
    double *interp;  /* [nc][np] */
    double *pr, *ps; /* [np][nc] */
    eg_buffer *u;    /* [tile][ub vb ut vt][np][lanes] */
    eg_buffer *g;    /* [tile][rx sx ry sy][lanes] */
    eg_buffer *out;  /* [tile][2][np][lanes] */
} chain_case;

static eg_status body(void *user)
{
    chain_case *c = user;
    return eg_launch(c->kernel, c->tiles, EG_BUFFER("u", c->u), EG_BUFFER("g", c->g),
                     EG_OPERATOR("interp", c->interp_op), EG_OPERATOR("pr", c->pr_op),
                     EG_OPERATOR("ps", c->ps_op), EG_BUFFER("out", c->out));
}

/* One element in plain C: adds what cubature point q contributes to want[2][np][lanes]. */
static void add_point(const chain_case *c, size_t q, size_t lane, const double *u, const double *g,
                      double *want)
{
    size_t np = (size_t)c->np, nc = (size_t)c->nc, lanes = (size_t)c->lanes;
    double at[4] = {0};
    for (size_t f = 0; f < 4; f++) {
        for (size_t j = 0; j < np; j++) {
            at[f] += c->interp[q * np + j] * u[(f * np + j) * lanes + lane];
        }
    }
    double rx = g[lane], sx = g[lanes + lane], ry = g[2 * lanes + lane], sy = g[3 * lanes + lane];
    for (size_t w = 0; w < 2; w++) {
        double along_r = (rx * at[0] + ry * at[1]) * at[2 + w];
        double along_s = (sx * at[0] + sy * at[1]) * at[2 + w];
        for (size_t i = 0; i < np; i++) {
            want[(w * np + i) * lanes + lane] +=
                c->pr[i * nc + q] * along_r + c->ps[i * nc + q] * along_s;
        }
    }
}

static eg_status verify(eg_bench *bench, const chain_case *c, int64_t tile)
{
    eg_status status = EG_OK;
    double *host = NULL;
    size_t lanes = (size_t)c->lanes, count = (size_t)c->np * lanes;
    EG_TRY(eg_new(bench->ctx, 8 * count + 4 * lanes, &host));
    double *u = host, *out = u + 4 * count, *want = out + 2 * count, *g = want + 2 * count;
    EG_TRY(eg_buffer_download(c->u, (size_t)tile * 4 * count, 4 * count, u));
    EG_TRY(eg_buffer_download(c->g, (size_t)tile * 4 * lanes, 4 * lanes, g));
    EG_TRY(eg_buffer_download(c->out, (size_t)tile * 2 * count, 2 * count, out));
    for (size_t lane = 0; lane < lanes; lane++) {
        for (size_t q = 0; q < (size_t)c->nc; q++)
            add_point(c, q, lane, u, g, want);
    }
    EG_TRY(eg_bench_compare(bench, "chain", tile, out, want, 2 * count));
done:
    eg_release(bench->ctx, &host);
    return status;
}

static eg_status create(eg_bench *bench, chain_case *c, double bytes)
{
    eg_status status = EG_OK;
    c->lanes = eg_kernel_lanes(c->kernel);
    c->tiles = eg_bench_tiles(bench, bytes, (6.0 * c->np + 4) * 8 * c->lanes);
    size_t tile = (size_t)c->np * (size_t)c->lanes, tiles = (size_t)c->tiles;
    EG_TRY(eg_bench_random_operator(bench, 5, c->nc, c->np, &c->interp, &c->interp_op));
    EG_TRY(eg_bench_random_operator(bench, 6, c->np, c->nc, &c->pr, &c->pr_op));
    EG_TRY(eg_bench_random_operator(bench, 7, c->np, c->nc, &c->ps, &c->ps_op));
    EG_TRY(eg_bench_random_buffer(bench, 8, tiles * 4 * tile, &c->u));
    EG_TRY(eg_bench_random_buffer(bench, 9, tiles * 4 * (size_t)c->lanes, &c->g));
    EG_TRY(eg_bench_poisoned_buffer(bench, tiles * 2 * tile, &c->out));
done:
    return status;
}

static void release(eg_bench *bench, chain_case *c)
{
    eg_buffer_destroy(&c->out);
    eg_buffer_destroy(&c->g);
    eg_buffer_destroy(&c->u);
    eg_operator_destroy(&c->ps_op);
    eg_operator_destroy(&c->pr_op);
    eg_operator_destroy(&c->interp_op);
    eg_release(bench->ctx, &c->ps);
    eg_release(bench->ctx, &c->pr);
    eg_release(bench->ctx, &c->interp);
    eg_kernel_destroy(&c->kernel);
}

static eg_status measure(eg_bench *bench, eg_bench_roof *roof, int degree, double bytes,
                         bool from_cache)
{
    eg_status status = EG_OK;
    int np = (degree + 1) * (degree + 2) / 2, nc = cubature[degree];
    chain_case c = {.np = np, .nc = nc};
    const eg_define defines[] = {{"NP", np},
                                 {"NC", nc},
                                 {"K_STREAMING", bench->on_cpu && !from_cache},
                                 {"K_MIN_BLOCKS", min_blocks[degree]}};
    char size[32];
    snprintf(size, sizeof size, "N=%d Np=%d Nc=%d", degree, np, nc);
    eg_bench_progress(bench, "%s%s", size, from_cache ? " from cache" : "");

    EG_TRY(eg_bench_kernel(bench, "bench/chain.k.c", "chain", defines, EG_COUNT(defines), 0, 0,
                           &c.kernel));
    EG_TRY(create(bench, &c, bytes));
    EG_TRY(body(&c));
    EG_TRY(verify(bench, &c, 0));
    EG_TRY(verify(bench, &c, c.tiles / 2));
    EG_TRY(verify(bench, &c, c.tiles - 1));

    double elements = (double)c.tiles * c.lanes;
    double padded_np = (np + 7) / 8 * 8, padded_nc = (nc + 7) / 8 * 8;
    eg_bench_work work = {.name = from_cache ? "chain-cache" : "chain",
                          .size = size,
                          .flops = 16.0 * nc * np * elements,
                          .bytes = (6.0 * np + 4) * 8 * elements};
    EG_TRY(eg_bench_roof_add(bench, roof, body, &c, 16 * padded_nc * padded_np * elements, &work));
done:
    release(bench, &c);
    return status;
}

static eg_status run(eg_bench *bench)
{
    eg_status status = EG_OK;
    bool quick = bench->options->quick;
    /* A GPU streams 40 million values of each of the six fields. */
    double bytes = bench->info->is_gpu ? (quick ? 480e6 : 1.92e9) : (quick ? 64e6 : 200e6);
    double cache_bytes = bench->info->is_gpu ? 0 : 256.0 * 1024 * bench->cpu_shares;
    EG_TRY(eg_bench_measure_ceilings(bench, (size_t)bytes));
    EG_TRY(eg_bench_degrees(bench, bytes, false, measure));
    if (cache_bytes > 0) EG_TRY(eg_bench_degrees(bench, cache_bytes, true, measure));
done:
    return status;
}

const eg_bench_driver eg_bench_chain = {
    .name = "chain",
    .summary = "fused interpolate, multiply, project: the advection volume term",
    .on_roofline = true,
    .most_degree = EG_BENCH_MAX_DEGREE,
    .run = run,
};
