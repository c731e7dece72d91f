/* The matrix of model `elliptic` and algebraic multigrid for it: run alone, and with mpirun where
 * MPI was built in. */
#include "elliptic.h"
#include "ranks.h"

#include "model/elliptic/coarse.h"
#include "model/elliptic/matrix.h"

static const elliptic_case cases[] = {
    {"straight", EG_SHAPE_TRI, .cells = {5, 4}, .height = 1, .perturb = 0.3, .lambda = 0.7,
     .periodic = true},
    {"bent, k that varies", EG_SHAPE_TRI, .cells = {4, 3}, .order = 2, .height = 1, .in_part = true,
     .k = "1 + x*y + 1000*(x > 0.5)", .types = {EG_ELLIPTIC_NEUMANN, EG_ELLIPTIC_ROBIN},
     .robin = "2 + y"},
    {"quadrilaterals", EG_SHAPE_QUAD, .cells = {3, 3}, .height = 1, .perturb = 0.2,
     .types = {EG_ELLIPTIC_NEUMANN, EG_ELLIPTIC_NEUMANN, EG_ELLIPTIC_NEUMANN, EG_ELLIPTIC_NEUMANN}},
    {"tetrahedra", EG_SHAPE_TET, .cells = {2, 2, 2}, .height = 1, .perturb = 0.1, .turned = true},
};
static const int vertices[] = {5 * 5, 5 * 4, 4 * 4, 3 * 3 * 3};

/* A problem on the whole mesh, for this rank alone, and on its part of it. */
typedef struct pair {
    eg_context *ctx;
    eg_comm *world, *self;
    eg_device *device;
    elliptic_problem whole, part;
} pair;

static pair pair_new(const elliptic_case *c, int degree, eg_type real)
{
    pair p = {.ctx = test_context()};
    p.world = ranks_world(p.ctx);
    TEST_OK(p.ctx, eg_comm_self(p.ctx, &p.self));
    TEST_OK(p.ctx, eg_device_open(p.ctx, "cpu:1", &p.device));
    p.whole = elliptic_on(p.device, p.self, elliptic_mesh(p.ctx, c), c, degree, real);
    p.part = elliptic_on(p.device, p.world, ranks_part(p.whole.mesh, p.world, EG_PARTITION_DEFAULT),
                         c, degree, real);
    return p;
}

static void pair_free(pair *p)
{
    elliptic_free(&p->part);
    elliptic_free(&p->whole);
    eg_device_close(&p->device);
    eg_comm_destroy(&p->self);
    eg_comm_destroy(&p->world);
    test_context_free(&p->ctx);
}

static double entry(const eg_csr *a, int32_t row, int32_t column)
{
    for (int64_t k = a->offset[row]; k < a->offset[row + 1]; k++)
        if (a->column[k] == column) return a->value[k];
    return 0;
}

static double largest_entry(const eg_csr *a)
{
    double most = 0;
    for (int64_t k = 0; k < a->offset[a->rows]; k++)
        most = fmax(most, fabs(a->value[k]));
    return most;
}

/* Pᵀ A P times a random vector is what the operator says. */
static void check_product(elliptic_problem *p, const eg_unknowns *u, const eg_csr *a)
{
    double *x = random_values((size_t)u->count, 5), *y = random_values((size_t)u->count, 6);
    double *expected = calloc((size_t)u->count, sizeof *x), *sizes = calloc((size_t)u->count, 8);
    double *in = random_values(p->count, 7), *out = random_values(p->count, 8);
    assert_true(expected && sizes);
    for (size_t i = 0; i < p->count; i++)
        in[i] = x[u->number[i]];
    elliptic_multiply(p, in, out);
    for (size_t i = 0; i < p->count; i++) {
        expected[u->number[i]] += out[i];
        sizes[u->number[i]] += fabs(out[i]);
    }
    eg_csr_apply(a, x, y);
    double most = 0;
    for (int32_t i = 0; i < u->count; i++)
        most = fmax(most, sizes[i]);
    for (int32_t i = 0; i < u->count; i++)
        TEST_NEAR(y[i], expected[i], 1e-13 * most);
    free(out);
    free(in);
    free(sizes);
    free(expected);
    free(y);
    free(x);
}

/* The numbers of nodes are the same, whoever has the element. */
static void check_numbers(const pair *p, const eg_unknowns *whole, const eg_unknowns *part)
{
    const eg_mesh *mesh = p->part.mesh;
    assert_int_equal(whole->count, part->count);
    for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++) {
        int32_t same = 0;
        while (p->whole.mesh->global[same] != mesh->global[e])
            same++;
        for (int i = 0; i < part->np; i++)
            assert_int_equal(part->number[e * part->np + i], whole->number[same * part->np + i]);
    }
}

static void check_matrix(size_t number, int degree, bool continuous)
{
    pair p = pair_new(&cases[number], degree, EG_F64);
    eg_unknowns *whole = NULL, *part = NULL;
    eg_csr *a = NULL, *b = NULL;
    TEST_OK(p.ctx, eg_unknowns_create(p.whole.space, continuous, NULL, &whole));
    TEST_OK(p.ctx, eg_unknowns_create(p.part.space, continuous, NULL, &part));
    check_numbers(&p, whole, part);
    assert_int_equal(whole->count, continuous ? vertices[number] : (int)p.whole.count);
    TEST_OK(p.ctx, eg_elliptic_matrix(p.whole.A, whole, &a));
    TEST_OK(p.ctx, eg_elliptic_matrix(p.part.A, part, &b));
    const double most = largest_entry(a);
    assert_int_equal(a->offset[a->rows], b->offset[b->rows]);
    for (int32_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++) {
            TEST_NEAR(a->value[k], entry(a, a->column[k], i), 1e-13 * most);
            TEST_NEAR(a->value[k], entry(b, i, a->column[k]), 1e-13 * most);
        }
    check_product(&p.whole, whole, a);
    eg_csr_destroy(&b);
    eg_csr_destroy(&a);
    eg_unknowns_destroy(&part);
    eg_unknowns_destroy(&whole);
    pair_free(&p);
}

static void test_elliptic_matrix__multiplies_as_the_operator_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(cases); i++)
        check_matrix(i, i == 0 ? 3 : 2, false);
}

static void test_elliptic_matrix__on_continuous_functions_is_that_of_the_vertices(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(cases); i++)
        check_matrix(i, 1, true);
}

/* Where k jumps more than tenfold, as eg_unknowns_create has it, k being constant in each element. */
static int8_t *find_jumps(const eg_mesh *mesh, double (*k)(double x, double y))
{
    const int stride = mesh->face_stride;
    double *of = calloc((size_t)(mesh->element_count + mesh->ghost_count), sizeof *of);
    int8_t *jumps = calloc((size_t)mesh->element_count * (size_t)stride, 1);
    assert_true(of && jumps);
    for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++) {
        double x[2] = {0};
        for (int v = 0; v < 3; v++)
            for (int d = 0; d < 2; d++)
                x[d] += mesh->x[2 * mesh->vertices[e * mesh->vertex_stride + v] + d] / 3;
        of[e] = k(x[0], x[1]);
    }
    for (int32_t i = 0; i < mesh->element_count * stride; i++) {
        const int32_t other = mesh->neighbour[i];
        if (other < 0) continue;
        const double ratio = of[other] / of[i / stride];
        jumps[i] = (int8_t)((ratio > 10) - (ratio < 0.1));
    }
    free(of);
    return jumps;
}

/* Of a square of 4 x 4 cells: a body in its middle … */
static double one_body(double x, double y)
{
    return fabs(x - 0.5) < 0.25 && fabs(y - 0.5) < 0.25 ? 1e6 : 1;
}

/* … with a layer of something stiff below it … */
static double one_on_a_layer(double x, double y)
{
    return one_body(x, y) > 1 ? 1e6 : y < 0.25 ? 1e3 : 1;
}

/* … two that meet at (1/2, 1/2) … */
static double two_bodies(double x, double y)
{
    return (fabs(x - 0.375) < 0.125 && fabs(y - 0.375) < 0.125) ||
                   (fabs(x - 0.625) < 0.125 && fabs(y - 0.625) < 0.125)
               ? 1e6
               : 1;
}

/* … and a chequerboard, whose squares meet in nine points. */
static double chequerboard(double x, double y)
{
    return ((int)(4 * x) + (int)(4 * y)) % 2 ? 1e6 : 1;
}

/* A vertex that two bodies touch is one unknown for each of them, and one for each of the two parts of what is
 * between them; all other vertices are one. */
static void test_elliptic_unknowns__bodies_do_not_share_the_vertices_where_they_meet(void **state)
{
    static const elliptic_case square = {"square", EG_SHAPE_TRI, .cells = {4, 4}, .height = 1};
    static const struct {
        double (*k)(double, double);
        int more;
    } materials[] = {{one_body, 0}, {one_on_a_layer, 0}, {two_bodies, 3}, {chequerboard, 9 * 3}};
    (void)state;
    pair p = pair_new(&square, 1, EG_F64);
    for (size_t i = 0; i < EG_COUNT(materials); i++) {
        int8_t *all = find_jumps(p.whole.mesh, materials[i].k);
        int8_t *own = find_jumps(p.part.mesh, materials[i].k);
        eg_unknowns *whole = NULL, *part = NULL;
        TEST_OK(p.ctx, eg_unknowns_create(p.whole.space, true, all, &whole));
        TEST_OK(p.ctx, eg_unknowns_create(p.part.space, true, own, &part));
        assert_int_equal(whole->count, 5 * 5 + materials[i].more);
        check_numbers(&p, whole, part);
        eg_unknowns_destroy(&part);
        eg_unknowns_destroy(&whole);
        free(own);
        free(all);
    }
    pair_free(&p);
}

/* Without jumps nothing is left of what penalises them: a vertex knows those it shares an element
 * with. */
static void
test_elliptic_matrix__on_continuous_functions_has_no_entries_beyond_elements(void **state)
{
    (void)state;
    pair p = pair_new(&cases[1], 1, EG_F64);
    eg_unknowns *u = NULL;
    eg_csr *a = NULL;
    TEST_OK(p.ctx, eg_unknowns_create(p.whole.space, true, NULL, &u));
    TEST_OK(p.ctx, eg_elliptic_matrix(p.whole.A, u, &a));
    for (int32_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offset[i]; k < a->offset[i + 1]; k++) {
            bool shared = false;
            for (int32_t e = 0; e < p.whole.mesh->element_count; e++) {
                int found = 0;
                for (int v = 0; v < 3; v++)
                    found += u->number[3 * e + v] == i || u->number[3 * e + v] == a->column[k];
                shared = shared || found == 1 + (i != a->column[k]);
            }
            assert_true(shared);
        }
    eg_csr_destroy(&a);
    eg_unknowns_destroy(&u);
    pair_free(&p);
}

/* --- algebraic multigrid ---------------------------------------------------------------------- */

static eg_status multiply(void *user, eg_buffer *x, eg_buffer *y)
{
    return eg_elliptic_apply(user, x, y);
}

/* Iterations to 1e-8 for a right-hand side that is the same on every rank. */
static int iterations(elliptic_problem *p, eg_linear B)
{
    const int np = p->space->groups[0].element->np;
    double *values = random_values(p->count, 1);
    eg_vectors *vectors = NULL;
    eg_pcg *pcg = NULL;
    eg_field *ones = NULL;
    eg_krylov_result result;
    for (int32_t e = 0; e < p->mesh->element_count; e++) {
        uint64_t seed = (uint64_t)p->mesh->global[e] * 4099;
        for (int i = 0; i < np; i++)
            values[e * np + i] = test_random(&seed);
    }
    TEST_OK(p->ctx, eg_vectors_create(p->space, 1, p->u->type, &vectors));
    TEST_OK(p->ctx, eg_field_from_host(p->u, values));
    TEST_OK(p->ctx, eg_field_create(p->space, 1, p->u->type, &ones));
    TEST_OK(p->ctx, eg_vectors_fill(vectors, 1, ones->data));
    TEST_OK(p->ctx,
            eg_pcg_create(vectors, (eg_linear){.user = p->A, .apply = multiply}, &B,
                          &(eg_krylov_options){
                              .relative = 1e-8,
                              .iterations = 200,
                              .zero_guess = true,
                              .null_vector = eg_elliptic_is_singular(p->A) ? ones->data : NULL},
                          &pcg));
    TEST_OK(p->ctx, eg_pcg_solve(pcg, p->u->data, p->y->data, &result));
    assert_int_equal(result.outcome, EG_KRYLOV_CONVERGED);
    const int count = result.iterations;
    eg_pcg_destroy(&pcg);
    eg_field_destroy(&ones);
    eg_vectors_destroy(&vectors);
    free(values);
    return count;
}

static int iterations_with_amg(elliptic_problem *p, eg_amg_kind kind, eg_type type)
{
    eg_elliptic_coarse *coarse = NULL;
    TEST_OK(p->ctx,
            eg_elliptic_coarse_create(
                p->A,
                &(eg_elliptic_coarse_options){.amg = {.kind = kind, .type = type, .coarsest = 40}},
                &coarse));
    const eg_amg_info *info = eg_elliptic_coarse_info(coarse);
    assert_true(info->levels >= 2 && info->direct);
    const int count = iterations(p, eg_elliptic_coarse_linear(coarse));
    eg_elliptic_coarse_destroy(&coarse);
    return count;
}

static void test_elliptic_coarse__amg_solves_the_whole_on_any_ranks(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        pair p = pair_new(&cases[i], 2, EG_F64);
        const int alone = iterations_with_amg(&p.whole, EG_AMG_SMOOTHED, EG_F64);
        const int single = iterations_with_amg(&p.part, EG_AMG_SMOOTHED, EG_F32);
        const int plain = iterations_with_amg(&p.part, EG_AMG_UNSMOOTHED, EG_F64);
        assert_true(abs(alone - single) <= 1);
        assert_true(alone <= 30 && plain <= 40);
        pair_free(&p);
    }
}

/* x = B A P v for random values v at the vertices; then A x = A P v, as AMG of so few is exact. */
static void check_projection(elliptic_problem *p, const double *v, eg_type type)
{
    eg_elliptic_coarse *coarse = NULL;
    eg_unknowns *u = NULL;
    double *in = random_values(p->count, 2), *out = random_values(p->count, 3);
    double *again = random_values(p->count, 4), most = 0;
    TEST_OK(p->ctx, eg_unknowns_create(p->space, true, NULL, &u));
    TEST_OK(p->ctx, eg_elliptic_coarse_create(
                        p->A, &(eg_elliptic_coarse_options){.continuous = true, .amg.type = type},
                        &coarse));
    assert_int_equal(eg_elliptic_coarse_info(coarse)->rows[0], vertices[p->c - cases]);
    for (size_t i = 0; i < p->count; i++)
        in[i] = v[u->number[i]];
    elliptic_multiply(p, in, out);
    const eg_linear B = eg_elliptic_coarse_linear(coarse);
    TEST_OK(p->ctx, B.apply(B.user, p->y->data, p->u->data));
    TEST_OK(p->ctx, eg_elliptic_apply(p->A, p->u->data, p->y->data));
    TEST_OK(p->ctx, eg_field_to_host(p->y, again));
    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, fabs(out[i]));
    for (size_t i = 0; i < p->count; i++)
        TEST_NEAR(again[i], out[i], (type == EG_F64 ? 1e-10 : 1e-3) * most);
    eg_elliptic_coarse_destroy(&coarse);
    eg_unknowns_destroy(&u);
    free(again);
    free(out);
    free(in);
}

static void test_elliptic_coarse__solves_for_continuous_functions_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        const eg_type type = i % 2 ? EG_F32 : EG_F64;
        pair p = pair_new(&cases[i], 1, type);
        double *v = random_values((size_t)vertices[i], 9);
        check_projection(&p.part, v, type);
        free(v);
        pair_free(&p);
    }
}

/* Between the operator's vectors and those of AMG: (Pᵀ b)·x = b·(P x), and P x is added. */
static void test_elliptic_coarse__transfers_are_transposes(void **state)
{
    (void)state;
    pair p = pair_new(&cases[0], 1, EG_F64);
    elliptic_problem *q = &p.part;
    eg_elliptic_coarse *coarse = NULL;
    eg_vectors *fine = NULL;
    eg_buffer *x = NULL, *y = NULL;
    double *ones = random_values(q->count, 2), sums[3];
    TEST_OK(p.ctx, eg_elliptic_coarse_create(
                       q->A, &(eg_elliptic_coarse_options){.continuous = true}, &coarse));
    const eg_transfer t = eg_elliptic_coarse_transfer(coarse);
    eg_vectors *plain = eg_elliptic_coarse_vectors(coarse);
    TEST_OK(p.ctx, eg_vectors_create(q->space, 1, EG_F64, &fine));
    TEST_OK(p.ctx, eg_vectors_new(plain, &x));
    TEST_OK(p.ctx, eg_vectors_new(plain, &y));
    TEST_OK(p.ctx, eg_vectors_fill_random(plain, 11, x)); /* the same on all ranks */
    TEST_OK(p.ctx, eg_vectors_fill_random(fine, 12, q->u->data));
    TEST_OK(p.ctx, t.restrict_residual(t.user, q->u->data, y));
    TEST_OK(p.ctx, eg_vectors_dots(plain, 1, &(eg_vector_pair){x, y}, &sums[0]));
    TEST_OK(p.ctx, eg_comm_sum(p.world, 1, &sums[0]));
    for (size_t i = 0; i < q->count; i++)
        ones[i] = 1;
    TEST_OK(p.ctx, eg_field_from_host(q->y, ones));
    TEST_OK(p.ctx, t.add_correction(t.user, x, q->y->data));
    TEST_OK(p.ctx, eg_vectors_dots(fine, 1, &(eg_vector_pair){q->u->data, q->y->data}, &sums[1]));
    TEST_OK(p.ctx, eg_field_from_host(q->y, ones));
    TEST_OK(p.ctx, eg_vectors_dots(fine, 1, &(eg_vector_pair){q->u->data, q->y->data}, &sums[2]));
    TEST_NEAR(sums[0], sums[1] - sums[2], 1e-13 * (double)p.whole.count);
    free(ones);
    eg_buffer_destroy(&y);
    eg_buffer_destroy(&x);
    eg_vectors_destroy(&fine);
    eg_elliptic_coarse_destroy(&coarse);
    pair_free(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elliptic_matrix__multiplies_as_the_operator_does),
        cmocka_unit_test(test_elliptic_matrix__on_continuous_functions_is_that_of_the_vertices),
        cmocka_unit_test(
            test_elliptic_matrix__on_continuous_functions_has_no_entries_beyond_elements),
        cmocka_unit_test(test_elliptic_unknowns__bodies_do_not_share_the_vertices_where_they_meet),
        cmocka_unit_test(test_elliptic_coarse__amg_solves_the_whole_on_any_ranks),
        cmocka_unit_test(test_elliptic_coarse__solves_for_continuous_functions_exactly),
        cmocka_unit_test(test_elliptic_coarse__transfers_are_transposes),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
