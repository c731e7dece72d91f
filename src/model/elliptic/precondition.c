/* The preconditioners of model `elliptic`, by name. */
#include "model/elliptic/precondition.h"

#include "model/elliptic/blocks.h"
#include "model/elliptic/coarse.h"
#include "model/elliptic/mass.h"
#include "model/elliptic/parts.h"

struct eg_precondition {
    eg_elliptic *op;     /* not owned */
    eg_vectors *vectors; /* not owned */
    eg_precondition_options options;
    eg_mass *mass;
    eg_blocks *blocks;
    eg_elliptic_coarse *amg;
    eg_levels *levels;
    eg_single *single; /* NULL: all is of double precision */
    eg_linear linear;
    size_t bytes;
};

eg_precondition_options eg_precondition_defaults(eg_precondition_kind kind)
{
    eg_precondition_options o = {.kind = kind};
    o.levels.real = EG_F32;
    o.levels.penalty = EG_LEVELS_PENALTY_OWN;
    o.levels.amg.kind = EG_AMG_UNSMOOTHED;
    o.levels.chebyshev = (eg_chebyshev_options){.kind = EG_CHEBYSHEV_FIRST, .degree = 2};
    if (kind == EG_PRECONDITION_PMG_CG_AMG) {
        o.levels.smoother = EG_LEVELS_BLOCKS;
        o.levels.penalty = EG_LEVELS_PENALTY_MEAN;
        o.levels.continuous = true;
        o.levels.amg =
            (eg_amg_options){.kind = EG_AMG_SMOOTHED, .k_levels = 1, .smoother = {.degree = 3}};
        o.levels.chebyshev = (eg_chebyshev_options){.kind = EG_CHEBYSHEV_OPTIMAL};
    }
    return o;
}

/* Keys that say nothing without multigrid over degrees, and those that need some multigrid. */
static eg_status check_keys(const eg_case *cas, eg_precondition_kind kind)
{
    static const struct {
        const char *key;
        eg_precondition_kind from;
    } keys[] = {{"solver.smoother", EG_PRECONDITION_PMG_AMG},
                {"solver.chebyshev", EG_PRECONDITION_PMG_AMG},
                {"solver.smoother_degree", EG_PRECONDITION_PMG_AMG},
                {"solver.coarsening", EG_PRECONDITION_PMG_AMG},
                {"solver.coarse_penalty", EG_PRECONDITION_PMG_AMG},
                {"solver.amg", EG_PRECONDITION_AMG},
                {"solver.precision", EG_PRECONDITION_BLOCKS}};
    for (size_t i = 0; i < EG_COUNT(keys); i++)
        if (eg_case_given(cas, keys[i].key) && kind < keys[i].from)
            return eg_case_fail(cas, keys[i].key, -1,
                                "preconditioner \"%s\" has no such thing; %s\"pmg-amg\" and "
                                "\"pmg-cg-amg\" do",
                                eg_case_string(cas, "solver.preconditioner"),
                                keys[i].from == EG_PRECONDITION_BLOCKS ? "\"blocks\", \"amg\", "
                                : keys[i].from == EG_PRECONDITION_AMG  ? "\"amg\", "
                                                                       : "");
    return EG_OK;
}

eg_status eg_precondition_from_case(const eg_case *cas, eg_precondition_options *out)
{
    const eg_precondition_kind kind =
        (eg_precondition_kind)eg_case_choice(cas, "solver.preconditioner");
    eg_precondition_options o = eg_precondition_defaults(kind);
    eg_levels_options *l = &o.levels;
    eg_status status = EG_OK;
    EG_TRY(check_keys(cas, kind));
    if (eg_case_given(cas, "solver.smoother"))
        l->smoother = (eg_levels_smoother)eg_case_choice(cas, "solver.smoother");
    if (eg_case_given(cas, "solver.chebyshev"))
        l->chebyshev.kind = (eg_chebyshev_kind)eg_case_choice(cas, "solver.chebyshev");
    if (eg_case_given(cas, "solver.smoother_degree"))
        l->chebyshev.degree = (int)eg_case_integer(cas, "solver.smoother_degree");
    if (eg_case_given(cas, "solver.amg"))
        l->amg.kind = (eg_amg_kind)eg_case_choice(cas, "solver.amg");
    l->coarsening = (eg_levels_coarsening)eg_case_choice(cas, "solver.coarsening");
    if (eg_case_given(cas, "solver.coarse_penalty"))
        l->penalty = (eg_levels_penalty)eg_case_choice(cas, "solver.coarse_penalty");
    l->real = eg_case_choice(cas, "solver.precision") == 0 ? EG_F32 : EG_F64;
    if (l->chebyshev.kind == EG_CHEBYSHEV_OPTIMAL &&
        l->chebyshev.degree > EG_CHEBYSHEV_OPTIMAL_MOST)
        EG_TRY(eg_case_fail(cas, "solver.smoother_degree", -1,
                            "optimal weights are known up to degree %d; for more there is "
                            "solver.chebyshev = \"fourth\"",
                            EG_CHEBYSHEV_OPTIMAL_MOST));
    *out = o;
done:
    return status;
}

/* The operator in the preconditioner's precision; *own if that is a copy, to be destroyed. */
static eg_status take_operator(const eg_precondition *p, eg_elliptic **op, eg_elliptic **own)
{
    const eg_type real = p->options.levels.real;
    eg_status status = EG_OK;
    *own = NULL;
    if (real != p->op->real) EG_TRY(eg_elliptic_create(p->op->space, real, &p->op->options, own));
    *op = *own ? *own : p->op;
done:
    return status;
}

static eg_status make_amg(eg_precondition *p)
{
    eg_elliptic_coarse_options options = {.amg = p->options.levels.amg};
    eg_elliptic *op = NULL, *own = NULL;
    eg_status status = EG_OK;
    options.amg.type = p->options.levels.real; /* whose vectors it takes */
    EG_TRY(take_operator(p, &op, &own));
    EG_TRY(eg_elliptic_coarse_create(op, &options, &p->amg));
    p->linear = eg_elliptic_coarse_linear(p->amg);
done:
    eg_elliptic_destroy(&own);
    return status;
}

/* Of the preconditioner's precision, for vectors of double precision. */
static eg_status make_blocks(eg_precondition *p)
{
    eg_elliptic *op = NULL, *own = NULL;
    eg_vectors *vectors = NULL;
    eg_status status = EG_OK;
    EG_TRY(take_operator(p, &op, &own));
    if (own) EG_TRY(eg_vectors_create(op->space, 1, op->real, &vectors));
    EG_TRY(eg_blocks_create(op, own ? vectors : p->vectors, EG_BLOCKS_WHOLE, &p->blocks));
    EG_TRY(eg_blocks_widen(p->blocks, &p->linear));
done:
    eg_vectors_destroy(&vectors);
    eg_elliptic_destroy(&own);
    return status;
}

static eg_status make(eg_precondition *p)
{
    eg_status status = EG_OK;
    switch (p->options.kind) {
    case EG_PRECONDITION_NONE:
        return EG_OK;
    case EG_PRECONDITION_MASS:
        EG_TRY(eg_mass_create(p->op->space, p->op->real, &p->mass));
        p->linear = eg_mass_linear(p->mass);
        return EG_OK;
    case EG_PRECONDITION_BLOCKS:
        EG_TRY(make_blocks(p));
        return EG_OK;
    case EG_PRECONDITION_AMG:
        EG_TRY(make_amg(p));
        break;
    case EG_PRECONDITION_PMG_AMG:
    case EG_PRECONDITION_PMG_CG_AMG:
        EG_TRY(eg_levels_create(p->op, &p->options.levels, &p->levels));
        p->linear = eg_levels_linear(p->levels);
    }
    if (p->options.levels.real != p->op->real) {
        EG_TRY(eg_single_create(p->vectors, p->linear, &p->single));
        p->linear = eg_single_linear(p->single);
    }
done:
    return status;
}

eg_status eg_precondition_create(eg_elliptic *op, eg_vectors *vectors,
                                 const eg_precondition_options *options, eg_precondition **out)
{
    const eg_device *device = op->space->device;
    const size_t before = eg_device_buffer_bytes(device);
    eg_precondition *p = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(op->space->comm, op->space->ctx, 1, &p));
    *p = (eg_precondition){.op = op, .vectors = vectors, .options = *options};
    /* A single element without boundary values: all of multigrid would be singular. */
    if (op->singular && op->space->mesh->global_count == 1 && options->kind > EG_PRECONDITION_MASS)
        p->options.kind = EG_PRECONDITION_MASS;
    EG_TRY(make(p));
    p->bytes = eg_device_buffer_bytes(device) - before;
    *out = p;
    p = NULL;
done:
    eg_precondition_destroy(&p);
    return status;
}

void eg_precondition_destroy(eg_precondition **handle)
{
    if (!handle || !*handle) return;
    eg_precondition *p = *handle;
    eg_context *ctx = p->op->space->ctx;
    eg_single_destroy(&p->single);
    eg_levels_destroy(&p->levels);
    eg_elliptic_coarse_destroy(&p->amg);
    eg_blocks_destroy(&p->blocks);
    eg_mass_destroy(&p->mass);
    eg_release(ctx, handle);
}

const eg_linear *eg_precondition_linear(const eg_precondition *p)
{
    return p->linear.apply ? &p->linear : NULL;
}

size_t eg_precondition_bytes(const eg_precondition *p)
{
    return p->bytes;
}
