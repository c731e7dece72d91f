/* What ranks create together while one of them is out of memory: none of them has it afterwards, and
 * nothing is lost. Run it on one rank or several (mpirun). */
#include "kernel/boxes.h"
#include "ranks.h"

#include "field/average.h"
#include "model/elliptic/blocks.h"
#include "model/elliptic/coarse.h"
#include "model/elliptic/mass.h"
#include "model/ins/continuity.h"
#include "model/ins/flow.h"
#include "model/ins/speed.h"

/* The first allocations of a creation: of the object itself, and of what it begins with. */
enum { FAILURES = 3 };

/* What there is already. */
typedef struct setting {
    eg_space *space;
    eg_ins_faces *faces;
    eg_elliptic *op;
    eg_vectors *vectors;
} setting;

static const eg_ins_kind kinds[] = {EG_INS_GIVEN, EG_INS_OUTFLOW, EG_INS_SLIP, EG_INS_GIVEN};
static const eg_ins_boundary boundary[] = {EG_INS_INFLOW, EG_INS_OPEN, EG_INS_FREE, EG_INS_WALL};

static eg_status make_average(const setting *s)
{
    eg_average *average = NULL;
    eg_status status = eg_average_create(s->space, 2, 1, &average);
    eg_average_destroy(&average);
    return status;
}

static eg_status make_operator(const setting *s)
{
    eg_elliptic *op = NULL;
    eg_status status = eg_elliptic_create(s->space, EG_F64, &(eg_elliptic_options){0}, &op);
    eg_elliptic_destroy(&op);
    return status;
}

static eg_status make_mass(const setting *s)
{
    eg_mass *mass = NULL;
    eg_status status = eg_mass_create(s->space, EG_F64, &mass);
    eg_mass_destroy(&mass);
    return status;
}

static eg_status make_blocks(const setting *s)
{
    eg_blocks *blocks = NULL;
    eg_status status = eg_blocks_create(s->op, s->vectors, EG_BLOCKS_DIAGONAL, &blocks);
    eg_blocks_destroy(&blocks);
    return status;
}

static eg_status make_coarse(const setting *s)
{
    const eg_elliptic_coarse_options options = {.continuous = true};
    eg_elliptic_coarse *coarse = NULL;
    eg_status status = eg_elliptic_coarse_create(s->op, &options, &coarse);
    eg_elliptic_coarse_destroy(&coarse);
    return status;
}

static eg_status make_preconditioner(const setting *s)
{
    const eg_precondition_options options = eg_precondition_defaults(EG_PRECONDITION_BLOCKS);
    eg_precondition *preconditioner = NULL;
    eg_status status = eg_precondition_create(s->op, s->vectors, &options, &preconditioner);
    eg_precondition_destroy(&preconditioner);
    return status;
}

static eg_status make_levels(const setting *s)
{
    const eg_levels_options options = {.real = EG_F64, .continuous = true};
    eg_levels *levels = NULL;
    eg_status status = eg_levels_create(s->op, &options, &levels);
    eg_levels_destroy(&levels);
    return status;
}

static eg_status make_advection(const setting *s)
{
    eg_ins_operator *op = NULL;
    eg_status status =
        eg_ins_operator_create(s->space, s->faces, &(eg_ins_advection_options){0}, &op);
    eg_ins_operator_destroy(&op);
    return status;
}

static eg_status make_speed(const setting *s)
{
    eg_ins_speed *speed = NULL;
    eg_status status = eg_ins_speed_create(s->space, s->faces, &speed);
    eg_ins_speed_destroy(&speed);
    return status;
}

static eg_status make_continuity(const setting *s)
{
    const eg_ins_continuity_options options = {.strength = 1, .tolerance = 1e-6, .iterations = 10};
    eg_ins_continuity *continuity = NULL;
    eg_status status = eg_ins_continuity_create(s->space, s->faces, &options, &continuity);
    eg_ins_continuity_destroy(&continuity);
    return status;
}

static eg_status make_solve(const setting *s)
{
    static const eg_elliptic_boundary types[EG_COUNT(kinds)] = {EG_ELLIPTIC_DIRICHLET};
    const eg_ins_solve_options options = {.name = "it",
                                          .types = types,
                                          .preconditioner =
                                              eg_precondition_defaults(EG_PRECONDITION_MASS),
                                          .tolerance = 1e-6,
                                          .iterations = 10};
    eg_ins_solve *solve = NULL;
    eg_status status = eg_ins_solve_create(s->space, s->vectors, &options, &solve);
    eg_ins_solve_destroy(&solve);
    return status;
}

static eg_status make_flow(const setting *s)
{
    const eg_ins_given given[EG_COUNT(boundary)] = {{.velocity = {NULL}}};
    const eg_ins_options options = {.viscosity = 0.1,
                                    .order = 1,
                                    .boundary = boundary,
                                    .given = given,
                                    .preconditioner =
                                        eg_precondition_defaults(EG_PRECONDITION_MASS),
                                    .velocity = EG_PRECONDITION_BLOCKS,
                                    .tolerance = 1e-6,
                                    .iterations = 10};
    eg_ins_flow *flow = NULL;
    eg_status status = eg_ins_flow_create(s->space, &options, &flow);
    eg_ins_flow_destroy(&flow);
    return status;
}

static eg_status (*const makers[])(const setting *s) = {
    make_average, make_operator,  make_mass,  make_blocks,     make_coarse, make_preconditioner,
    make_levels,  make_advection, make_speed, make_continuity, make_solve,  make_flow};

static void
test_creation__without_memory_on_one_rank_it_fails_on_all_and_loses_nothing(void **state)
{
    (void)state;
    const eg_box_options o = box_options(EG_SHAPE_TRI, 4, 3, 0, 0);
    divided d = divided_new(&o);
    setting s = {.space = NULL};
    TEST_OK(d.ctx,
            eg_space_create(d.device, d.world, d.mine,
                            &(eg_space_options){.basis = EG_BASIS_LOBATTO, .degree = 1}, &s.space));
    TEST_OK(d.ctx, eg_ins_faces_create(s.space, kinds, &s.faces));
    TEST_OK(d.ctx, eg_elliptic_create(s.space, EG_F64, &(eg_elliptic_options){0}, &s.op));
    TEST_OK(d.ctx, eg_vectors_create(s.space, 1, EG_F64, &s.vectors));
    for (size_t i = 0; i < EG_COUNT(makers); i++)
        for (long n = 0; n <= FAILURES; n++) { /* 0: none fails */
            const long live = test_memory.live;
            test_allocator_arm(ranks_is_last(d.world) ? n : 0, false);
            const eg_status status = makers[i](&s);
            test_allocator_arm(0, false);
            assert_int_equal(test_memory.live, live);
            if (n == 0)
                TEST_OK(d.ctx, status);
            else
                assert_failure_of_last(d.ctx, d.world, status, n > 1);
        }
    eg_vectors_destroy(&s.vectors);
    eg_elliptic_destroy(&s.op);
    eg_ins_faces_destroy(&s.faces);
    eg_space_destroy(&s.space);
    divided_free(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_creation__without_memory_on_one_rank_it_fails_on_all_and_loses_nothing),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
