/* Parts of a mesh, all cut in one process, put side by side: they make the whole mesh again, and
 * what one rank sends is what the other expects. */
#include "meshes.h"

#define RANKS_MAX 4

typedef struct parts {
    eg_mesh *whole;
    int size;
    int32_t *part;
    eg_mesh *mesh[RANKS_MAX];
} parts;

static parts cut_all(eg_context *ctx, const eg_box_options *options, int size, bool scattered)
{
    parts p = {.whole = test_box(ctx, options), .size = size};
    p.part = calloc((size_t)p.whole->element_count, sizeof *p.part);
    TEST_OK(ctx, eg_mesh_partition(p.whole, size, EG_PARTITION_DEFAULT, p.part));
    uint64_t random = 17;
    for (int32_t e = 0; scattered && e < p.whole->element_count; e++)
        p.part[e] = (int32_t)(0.5 * (1.0 + test_random(&random)) * size);
    for (int r = 0; r < size; r++)
        TEST_OK(ctx, eg_mesh_cut(p.whole, r, size, p.part, &p.mesh[r]));
    return p;
}

static void parts_free(parts *p)
{
    for (int r = 0; r < p->size; r++)
        eg_mesh_destroy(&p->mesh[r]);
    free(p->part);
    eg_mesh_destroy(&p->whole);
}

/* Every rank's elements are those of the whole mesh, in its order, interior ones first. */
static void check_elements(const parts *p)
{
    const eg_mesh *whole = p->whole;
    int32_t *place = calloc((size_t)whole->element_count, sizeof *place); /* of global numbers */
    int64_t total = 0;
    for (int32_t e = 0; e < whole->element_count; e++)
        place[whole->global[e]] = e;
    for (int r = 0; r < p->size; r++) {
        const eg_mesh *mesh = p->mesh[r];
        assert_int_equal(mesh->global_count, whole->element_count);
        assert_int_equal(mesh->boundary_count, whole->boundary_count);
        assert_int_equal(mesh->order, whole->order);
        total += mesh->element_count;
        for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++) {
            int32_t w = place[mesh->global[e]];
            bool own = e < mesh->element_count, ghostly = false;
            assert_int_equal(p->part[w] == r, own);
            assert_int_equal(mesh->shape[e], whole->shape[w]);
            double a[3 * 64], b[3 * 64];
            int count = eg_mesh_element_nodes(mesh, e, a);
            assert_int_equal(count, eg_mesh_element_nodes(whole, w, b));
            assert_memory_equal(a, b, (size_t)(count * mesh->dim) * sizeof *a);
            assert_int_equal(eg_mesh_is_affine(mesh, e), eg_mesh_is_affine(whole, w));
            for (int i = 0; i < mesh->vertex_stride; i++) {
                const double *x = &mesh->x[mesh->vertices[e * mesh->vertex_stride + i] * mesh->dim];
                const double *y =
                    &whole->x[whole->vertices[w * whole->vertex_stride + i] * whole->dim];
                assert_memory_equal(x, y, (size_t)mesh->dim * sizeof *x);
            }
            for (int f = 0; own && f < mesh->face_stride; f++) {
                int32_t n = mesh->neighbour[e * mesh->face_stride + f];
                int32_t m = whole->neighbour[w * whole->face_stride + f];
                assert_int_equal(mesh->neighbour_face[e * mesh->face_stride + f],
                                 whole->neighbour_face[w * whole->face_stride + f]);
                if (m < 0)
                    assert_int_equal(n, m);
                else
                    assert_int_equal(mesh->global[n], whole->global[m]);
                ghostly = ghostly || n >= mesh->element_count;
            }
            if (own) assert_int_equal(ghostly, e >= mesh->interior_count);
            if (own && e != 0 && e != mesh->interior_count)
                assert_true(place[mesh->global[e - 1]] < w);
        }
    }
    assert_int_equal(total, whole->element_count);
    free(place);
}

/* The elements of a link's two ends, by their global numbers. */
static void check_links(const parts *p)
{
    for (int r = 0; r < p->size; r++) {
        const eg_mesh *mesh = p->mesh[r];
        int32_t next = mesh->element_count;
        for (int l = 0; l < mesh->link_count; l++) {
            const eg_mesh_link *link = &mesh->links[l];
            assert_in_range(link->rank, 0, p->size - 1);
            assert_int_not_equal(link->rank, r);
            if (l > 0) assert_true(mesh->links[l - 1].rank < link->rank);
            assert_int_equal(link->receive_first, next);
            assert_true(link->receive_count > 0 && link->send_count > 0);
            next += link->receive_count;

            const eg_mesh *other = p->mesh[link->rank];
            int back = 0;
            while (back < other->link_count && other->links[back].rank != r)
                back++;
            assert_true(back < other->link_count);
            assert_int_equal(other->links[back].send_count, link->receive_count);
            for (int32_t i = 0; i < link->receive_count; i++) {
                int64_t mine = mesh->global[link->receive_first + i];
                int32_t sent = other->links[back].send[i];
                assert_in_range(sent, other->interior_count, other->element_count - 1);
                assert_int_equal(mine, other->global[sent]);
                if (i > 0) assert_true(mesh->global[link->receive_first + i - 1] < mine);
            }
        }
        assert_int_equal(next, mesh->element_count + mesh->ghost_count);
    }
}

/* Faces inside parts and boundary faces are on one rank, cut faces on two. */
static void check_faces(eg_context *ctx, const parts *p)
{
    eg_mesh_summary whole;
    TEST_OK(ctx, eg_mesh_summarise(p->whole, &whole));
    int64_t faces = 0, cut = 0, boundary = 0;
    double volume = 0.0;
    for (int r = 0; r < p->size; r++) {
        eg_mesh_summary part;
        TEST_OK(ctx, eg_mesh_summarise(p->mesh[r], &part));
        faces += part.faces;
        cut += part.cut_faces;
        boundary += part.boundary_faces;
        volume += part.volume;
        eg_mesh_summary_free(ctx, &part);
    }
    assert_int_equal(cut, 2 * test_cut(p->whole, p->part));
    assert_int_equal(faces - cut / 2, whole.faces);
    assert_int_equal(boundary, whole.boundary_faces);
    TEST_NEAR(volume, whole.volume, 1e-13);
    eg_mesh_summary_free(ctx, &whole);
}

static void test_distribute__parts_make_the_whole_and_links_agree(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (int size = 1; size <= RANKS_MAX; size++) {
            for (int kind = 0; kind < 3; kind++) {
                eg_box_options o = {.shape = test_shapes[s],
                                    .cells = {5, 4, 3},
                                    .perturb = 0.1,
                                    .periodic = {kind > 0, kind > 1},
                                    .order = kind == 1 ? 3 : 1};
                parts p = cut_all(ctx, &o, size, kind == 2);
                check_elements(&p);
                check_links(&p);
                check_faces(ctx, &p);
                parts_free(&p);
            }
        }
    }
    test_context_free(&ctx);
}

/* Each element is its own neighbour along y, and has one neighbour twice along x. */
static void test_distribute__an_element_that_is_a_neighbour_twice_is_one_ghost(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_box_options o = {.shape = EG_SHAPE_QUAD, .cells = {2, 1}, .periodic = {true, true}};
    parts p = cut_all(ctx, &o, 2, false);
    check_elements(&p);
    check_links(&p);
    for (int r = 0; r < 2; r++) {
        const eg_mesh *mesh = p.mesh[r];
        assert_int_equal(mesh->element_count, 1);
        assert_int_equal(mesh->ghost_count, 1);
        assert_int_equal(mesh->interior_count, 0);
        const int32_t expected[] = {0, 1, 0, 1};
        assert_memory_equal(mesh->neighbour, expected, sizeof expected);
        assert_int_equal(mesh->links[0].send_count, 1);
    }
    parts_free(&p);
    test_context_free(&ctx);
}

static void test_distribute__a_communicator_of_one_rank_gets_the_whole_mesh(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_comm *comm = NULL;
    eg_mesh *mesh = NULL;
    eg_mesh *whole = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {4, 3}});
    int32_t part[24] = {0};
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_mesh_distribute(whole, comm, part, &mesh));
    assert_int_equal(mesh->element_count, 24);
    assert_int_equal(mesh->interior_count, 24);
    assert_int_equal(mesh->ghost_count, 0);
    assert_int_equal(mesh->link_count, 0);
    assert_memory_equal(mesh->vertices, whole->vertices, 24 * 3 * sizeof *mesh->vertices);
    assert_memory_equal(mesh->neighbour, whole->neighbour, 24 * 3 * sizeof *mesh->neighbour);
    test_check_connected(mesh, NULL);
    eg_mesh_destroy(&mesh);
    part[7] = 1;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "belongs to rank 1; there are ranks 0 to 0",
               eg_mesh_distribute(whole, comm, part, &mesh));
    eg_comm_destroy(&comm);
    eg_mesh_destroy(&whole);
    test_context_free(&ctx);
}

/* A rank whose mesh or division differs in one bit of one number, whichever, is found out. */
static void test_distribute__ranks_that_disagree_are_found_on_all_of_them(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh =
        test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {3, 3}, .order = 2});
    int32_t part[18];
    TEST_OK(ctx, eg_mesh_partition(mesh, 3, EG_PARTITION_HILBERT, part));
    eg_mesh_digest digests[3];
    for (int r = 0; r < 3; r++)
        digests[r] = eg_mesh_digest_of(mesh, part);
    TEST_OK(ctx, eg_mesh_compare_digests(ctx, 3, digests));

    unsigned char *const last[] = {
        &mesh->shape[17],
        (unsigned char *)&mesh->global[17],
        (unsigned char *)&mesh->vertices[18 * 3 - 1],
        (unsigned char *)&mesh->neighbour[18 * 3 - 1],
        &mesh->neighbour_face[18 * 3 - 1],
        (unsigned char *)&mesh->x[0],
        (unsigned char *)&mesh->x[16 * 2 - 1],
        (unsigned char *)&mesh->nodes[18 * 6 * 2 - 1],
    };
    for (size_t i = 0; i < EG_COUNT(last); i++) {
        *last[i] ^= 1;
        digests[2] = eg_mesh_digest_of(mesh, part);
        TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "rank 2 has made another mesh than rank 0",
                   eg_mesh_compare_digests(ctx, 3, digests));
        *last[i] ^= 1;
    }
    digests[2] = digests[0];
    for (int i = 0; i < 18; i++) {
        part[i] ^= 1;
        digests[1] = eg_mesh_digest_of(mesh, part);
        TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "rank 1 has divided the mesh in another way",
                   eg_mesh_compare_digests(ctx, 3, digests));
        part[i] ^= 1;
    }
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static eg_status divide_and_cut(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_mesh *whole = NULL, *mesh = NULL;
    int32_t part[18];
    EG_TRY(eg_mesh_create_box(
        ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {3, 3}, .order = 2}, &whole));
    EG_TRY(eg_mesh_partition(whole, 3, EG_PARTITION_HILBERT, part));
    EG_TRY(eg_mesh_cut(whole, 1, 3, part, &mesh));
done:
    eg_mesh_destroy(&mesh);
    eg_mesh_destroy(&whole);
    return status;
}

static void test_distribute__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    test_allocation_sweep(divide_and_cut, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribute__parts_make_the_whole_and_links_agree),
        cmocka_unit_test(test_distribute__an_element_that_is_a_neighbour_twice_is_one_ghost),
        cmocka_unit_test(test_distribute__a_communicator_of_one_rank_gets_the_whole_mesh),
        cmocka_unit_test(test_distribute__ranks_that_disagree_are_found_on_all_of_them),
        cmocka_unit_test(test_distribute__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
