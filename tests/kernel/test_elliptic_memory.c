/* The operator of model `elliptic`, its matrix and preconditioners with memory that fails; the one by
 * quadrature, and all levels of multigrid, where EAGRE_TEST_LONG is set. */
#include "kernel/boxes.h"

#include "model/elliptic/blocks.h"
#include "model/elliptic/degrees.h"
#include "model/elliptic/mass.h"
#include "model/elliptic/matrix.h"
#include "model/elliptic/plain.h"
#include "model/elliptic/precondition.h"

static eg_status create_and_multiply(eg_space *space, void *user)
{
    const eg_elliptic_form *form = user;
    eg_elliptic *A = NULL;
    eg_mass *mass = NULL;
    eg_field *u = NULL, *y = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_elliptic_create(space, EG_F64, &(eg_elliptic_options){.form = *form}, &A));
    EG_TRY(eg_mass_create(space, EG_F64, &mass));
    EG_TRY(eg_field_create(space, 1, EG_F64, &u));
    EG_TRY(eg_field_create(space, 1, EG_F64, &y));
    if (*form == EG_ELLIPTIC_QUADRATURE)
        EG_TRY(eg_elliptic_load(A, &(eg_elliptic_data){0}, 0, u->data));
    EG_TRY(eg_elliptic_apply(A, u->data, y->data));
    EG_TRY(eg_mass_apply(mass, u->data, y->data));
done:
    eg_field_destroy(&y);
    eg_field_destroy(&u);
    eg_mass_destroy(&mass);
    eg_elliptic_destroy(&A);
    return status;
}

static eg_status create_matrix(eg_space *space, void *user)
{
    eg_elliptic *A = NULL;
    eg_unknowns *unknowns = NULL;
    eg_plain *plain = NULL;
    eg_csr *csr = NULL;
    eg_status status = EG_OK;
    (void)user;
    EG_TRY(eg_elliptic_create(space, EG_F64, &(eg_elliptic_options){0}, &A));
    EG_TRY(eg_unknowns_create(space, true, NULL, &unknowns));
    EG_TRY(eg_plain_create(space, EG_F64, unknowns, EG_F32, &plain));
    EG_TRY(eg_elliptic_matrix(A, unknowns, &csr));
done:
    eg_csr_destroy(&csr);
    eg_plain_destroy(&plain);
    eg_unknowns_destroy(&unknowns);
    eg_elliptic_destroy(&A);
    return status;
}

/* The preconditioner, or its parts alone: inverses of blocks, and the way between degrees. */
static eg_status create_levels(eg_space *space, void *user)
{
    const bool *whole = user;
    const eg_precondition_options options = eg_precondition_defaults(EG_PRECONDITION_PMG_CG_AMG);
    const eg_precondition_options alone = eg_precondition_defaults(EG_PRECONDITION_BLOCKS);
    eg_elliptic *A = NULL;
    eg_vectors *vectors = NULL;
    eg_blocks *blocks = NULL;
    eg_degrees *degrees = NULL;
    eg_precondition *precondition = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_elliptic_create(space, EG_F64, &(eg_elliptic_options){0}, &A));
    EG_TRY(eg_vectors_create(space, 1, EG_F64, &vectors));
    if (*whole) {
        EG_TRY(eg_precondition_create(A, vectors, &options, &precondition));
    } else {
        EG_TRY(eg_precondition_create(A, vectors, &alone, &precondition));
        EG_TRY(eg_blocks_create(A, vectors, EG_BLOCKS_DIAGONAL, &blocks));
        EG_TRY(eg_degrees_create(space, space, EG_F32, &degrees));
    }
done:
    eg_precondition_destroy(&precondition);
    eg_degrees_destroy(&degrees);
    eg_blocks_destroy(&blocks);
    eg_vectors_destroy(&vectors);
    eg_elliptic_destroy(&A);
    return status;
}

static void test_elliptic_memory__failure_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    const eg_box_options straight_box = box_options(EG_SHAPE_TRI, 2, 2, 0, 0);
    box_allocation_sweep(&straight_box, create_and_multiply,
                         &(eg_elliptic_form){EG_ELLIPTIC_FASTEST});
    if (!getenv("EAGRE_TEST_LONG")) return;
    const eg_box_options curved_box = box_options(EG_SHAPE_TRI, 2, 1, 0, 2);
    box_allocation_sweep(&curved_box, create_and_multiply,
                         &(eg_elliptic_form){EG_ELLIPTIC_QUADRATURE});
    box_allocation_sweep(&straight_box, create_and_multiply,
                         &(eg_elliptic_form){EG_ELLIPTIC_MIRRORED});
}

static void test_elliptic_memory__failure_while_a_matrix_is_made_leaks_nothing(void **state)
{
    (void)state;
    const eg_box_options options = box_options(EG_SHAPE_TRI, 2, 2, 0, 0);
    box_allocation_sweep(&options, create_matrix, NULL);
}

static void test_elliptic_memory__failure_while_levels_are_made_leaks_nothing(void **state)
{
    (void)state;
    const eg_box_options options = box_options(EG_SHAPE_TRI, 2, 2, 0, 0);
    box_allocation_sweep(&options, create_levels, &(bool){false});
    if (getenv("EAGRE_TEST_LONG")) box_allocation_sweep(&options, create_levels, &(bool){true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_elliptic_memory__failure_is_an_error_and_leaks_nothing),
        KERNEL_TEST(test_elliptic_memory__failure_while_a_matrix_is_made_leaks_nothing),
        KERNEL_TEST(test_elliptic_memory__failure_while_levels_are_made_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
