/* Relays: whatever order threads come in, the second pass finds what all neighbours have left, and every tile is
 * done once in each. Run alone, and with mpirun where MPI was built in. */
#include "field.h"
#include "ranks.h"

#include "field/relay.h"

enum { LANES = 4 };

typedef struct setting {
    eg_context *ctx;
    eg_comm *comm;
    eg_device *device;
    eg_mesh *mesh;
    eg_space *space;
} setting;

static setting setting_new(int cells, bool periodic)
{
    setting s = {.ctx = test_context()};
    s.comm = ranks_world(s.ctx);
    TEST_OK(s.ctx, eg_device_open(s.ctx, "cpu:1", &s.device));
    eg_mesh *whole = box(s.ctx, EG_SHAPE_TRI, cells, cells, 0, 0.1, periodic);
    s.mesh = ranks_part(whole, s.comm, EG_PARTITION_HILBERT);
    eg_mesh_destroy(&whole);
    TEST_OK(s.ctx, eg_space_create(
                       s.device, s.comm, s.mesh,
                       &(eg_space_options){.basis = EG_BASIS_LOBATTO, .degree = 1, .lanes = LANES},
                       &s.space));
    return s;
}

static void setting_free(setting *s)
{
    eg_space_destroy(&s->space);
    eg_mesh_destroy(&s->mesh);
    eg_device_close(&s->device);
    eg_comm_destroy(&s->comm);
    test_context_free(&s->ctx);
}

/* What the passes come to. */
typedef struct runner {
    const eg_space *space;
    const eg_group *g;
    const eg_relay *relay;
    int64_t *in_home; /* [homes] the tile that left something there; -1: none */
    int *done[2];     /* [tiles] how often */
} runner;

static void leave(runner *r, int64_t number)
{
    const int32_t tile = r->relay->first[number];
    const int32_t home = r->relay->home[tile];
    assert_in_range(home, 0, r->relay->homes - 1);
    r->in_home[home] = tile;
    r->done[0][tile]++;
}

static void pick_up(runner *r, int64_t number)
{
    const eg_mesh *mesh = r->space->mesh;
    const int32_t tile = r->relay->second[number];
    for (int lane = 0; lane < r->g->lanes; lane++) {
        const int32_t element = r->g->element_of_slot[tile * r->g->lanes + lane];
        for (int f = 0; f < 3; f++) {
            const int32_t other = mesh->neighbour[(int64_t)element * mesh->face_stride + f];
            if (other < 0) continue;
            const int64_t there =
                (r->space->slot_of_element[other] - r->g->first_slot) / r->g->lanes;
            assert_int_equal(r->in_home[r->relay->home[there]], there);
        }
    }
    assert_int_equal(r->in_home[r->relay->home[tile]], tile);
    r->done[1][tile]++;
}

static void run_piece(runner *r, const eg_piece *piece)
{
    for (int64_t i = piece->first; i < piece->first + piece->count; i++)
        if (piece->call == 0)
            leave(r, i);
        else
            pick_up(r, i);
}

/* The lists of threads at once: any of them takes its next piece. */
static void run_lists(runner *r, const eg_pieces *lists, uint64_t *seed)
{
    const int threads = r->relay->threads;
    size_t *next = calloc((size_t)threads, sizeof *next), left = 0;
    assert_non_null(next);
    for (int i = 0; i < threads; i++)
        left += lists[i].count;
    while (left > 0) {
        const int i = (int)((test_random(seed) + 1) / 2 * threads) % threads;
        if (next[i] == lists[i].count) continue;
        run_piece(r, &lists[i].pieces[next[i]++]);
        left--;
    }
    free(next);
}

/* As a model does it: early tiles, the others, ghosts, tiles that touch them. */
static void run(const eg_space *space, const eg_relay *relay, uint64_t seed)
{
    const eg_group *g = &space->groups[0];
    runner r = {.space = space, .g = g, .relay = relay};
    r.in_home = malloc(((size_t)relay->homes + 1) * sizeof *r.in_home);
    for (int pass = 0; pass < 2; pass++)
        r.done[pass] = calloc((size_t)g->tiles + 1, sizeof *r.done[pass]);
    assert_true(r.in_home && r.done[0] && r.done[1]);
    for (int64_t i = 0; i < relay->homes; i++)
        r.in_home[i] = -1;
    if (!relay->alone) run_lists(&r, relay->lists, &seed);
    run_lists(&r, relay->lists + relay->threads, &seed);
    for (int64_t t = g->own_tiles; t < g->tiles; t++)
        leave(&r, t);
    for (int64_t t = g->interior_tiles; t < g->own_tiles; t++)
        pick_up(&r, t);
    for (int64_t t = 0; t < g->tiles; t++) {
        assert_int_equal(r.done[0][t], 1);
        assert_int_equal(r.done[1][t], t < g->own_tiles);
    }
    free(r.done[1]);
    free(r.done[0]);
    free(r.in_home);
}

static void test_relay__second_pass_finds_what_neighbours_left(void **state)
{
    (void)state;
    static const int cells[] = {2, 3, 12, 40};
    for (size_t i = 0; i < EG_COUNT(cells); i++)
        for (int periodic = 0; periodic < 2; periodic++) {
            if (periodic && cells[i] < 3) continue;
            setting s = setting_new(cells[i], periodic);
            for (int threads = 1; threads <= 5; threads++)
                for (int64_t chunk = 0; chunk < 4; chunk++) {
                    eg_relay *relay = NULL;
                    TEST_OK(s.ctx, eg_relay_create(s.space, chunk, threads, &relay));
                    assert_int_equal(relay->threads, threads);
                    for (uint64_t seed = 1; seed < 4; seed++)
                        run(s.space, relay, seed);
                    eg_relay_destroy(s.ctx, &relay);
                    assert_null(relay);
                    eg_relay_destroy(s.ctx, &relay);
                }
            setting_free(&s);
        }
}

/* Along a Hilbert curve about as many tiles are under way as the boundary of what is done has, not a share of all. */
static void test_relay__homes_are_used_again(void **state)
{
    (void)state;
    double share[2];
    int rank;
    if (ranks_count(&rank) > 1) skip(); /* ghosts have homes of their own */
    for (int i = 0; i < 2; i++) {
        setting s = setting_new(i == 0 ? 40 : 160, false);
        eg_relay *relay = NULL;
        TEST_OK(s.ctx, eg_relay_create(s.space, 0, 1, &relay));
        share[i] = (double)relay->homes / (double)s.space->groups[0].tiles;
        eg_relay_destroy(s.ctx, &relay);
        setting_free(&s);
    }
    assert_true(share[1] < 0.5 * share[0]);
    assert_true(share[1] < 0.15);
}

/* … by the second pass, ahead of the first: none twice, most of them at all. */
static void test_relay__tiles_are_asked_for_once_and_ahead(void **state)
{
    (void)state;
    setting s = setting_new(60, false);
    const int64_t tiles = s.space->groups[0].tiles, own = s.space->groups[0].own_tiles;
    int *asked = calloc((size_t)tiles, sizeof *asked), *done = calloc((size_t)tiles, sizeof *done);
    assert_true(asked && done);
    for (int threads = 1; threads <= 3; threads++) {
        eg_relay *relay = NULL;
        int64_t count = 0;
        memset(asked, 0, (size_t)tiles * sizeof *asked);
        memset(done, 0, (size_t)tiles * sizeof *done);
        TEST_OK(s.ctx, eg_relay_create(s.space, 0, threads, &relay));
        for (int i = 0; i < 2 * threads; i++)
            for (size_t k = 0; k < relay->lists[i].count; k++) {
                const eg_piece *p = &relay->lists[i].pieces[k];
                for (int64_t n = p->first; n < p->first + p->count; n++) {
                    if (p->call == 0) done[relay->first[n]] = 1;
                    for (int j = 0; p->call == 1 && j < 2; j++) {
                        const int32_t tile = relay->soon[2 * n + j];
                        if (tile < 0) continue;
                        assert_in_range(tile, 0, own - 1);
                        assert_false(done[tile] || asked[tile]);
                        asked[tile] = 1;
                        count++;
                    }
                }
            }
        assert_true(2 * count > own);
        eg_relay_destroy(s.ctx, &relay);
    }
    free(done);
    free(asked);
    setting_free(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relay__second_pass_finds_what_neighbours_left),
        cmocka_unit_test(test_relay__homes_are_used_again),
        cmocka_unit_test(test_relay__tiles_are_asked_for_once_and_ahead),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
