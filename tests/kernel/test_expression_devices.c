/* Expressions on every device against the host: fifty formulas at 10^5 random points and at the edges
 * of their domains.
 *
 * Kernels are compiled without contraction, so what is made of sums, products, quotients, square roots
 * and choices has the same bits. Functions differ in the last places. What a composition may differ by
 * follows from its running error [higham2002, chapter 3]: if every operation k, of value v_k, is off by
 * at most 8 eps |v_k|, the result is off by 8 eps Σ |∂f/∂v_k| |v_k| to first order. The derivatives are
 * computed backwards through the expression's own code. */
#include "kernel/devices.h"

#include "case/expression_code.h"
#include "expressions.h"

enum { LANES = 16, EDGES = 10000, TILES = (EDGES + 100000) / LANES, POINTS = LANES * TILES };

static const char *const arguments[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};

/* --- points --------------------------------------------------------------------------------------- */

/* x in [-2, 2), y in [-100, 100), |z| from 1e-8 to 1e8, t in [0, 10); before them, edges of domains. In
 * single precision all is smaller, for powers and exponentials to be finite. */
static void point(size_t i, eg_type real, uint64_t *seed, double v[EG_VARIABLE_COUNT])
{
    static const double edges[] = {0.0, -0.0, 1, -1, 0.5, INFINITY, -INFINITY, NAN, 2, 1e-310};
    const double scale = real == EG_F64 ? 1 : 0.125;
    v[0] = 2 * test_random(seed);
    v[1] = 100 * scale * test_random(seed);
    v[2] = copysign(pow(10, 8 * scale * test_random(seed)), test_random(seed));
    v[3] = 5 + 5 * test_random(seed);
    if (i < EDGES)
        for (size_t k = 0, n = i; k < EG_VARIABLE_COUNT; k++, n /= EG_COUNT(edges))
            v[k] = edges[n % EG_COUNT(edges)];
    for (size_t k = 0; k < EG_VARIABLE_COUNT; k++)
        v[k] = rounded(real, v[k]);
}

/* Values of each tile: x, y, z, t rows. */
static array new_points(eg_device *device, eg_type real)
{
    array points = array_new(device, real, EG_VARIABLE_COUNT * POINTS);
    uint64_t seed = 31;
    for (size_t i = 0; i < POINTS; i++) {
        double v[EG_VARIABLE_COUNT];
        point(i, real, &seed, v);
        for (size_t k = 0; k < EG_VARIABLE_COUNT; k++)
            points.v[(i / LANES * EG_VARIABLE_COUNT + k) * LANES + i % LANES] = v[k];
    }
    array_upload(&points);
    return points;
}

static void point_of(const array *points, size_t i, double v[EG_VARIABLE_COUNT])
{
    for (size_t k = 0; k < EG_VARIABLE_COUNT; k++)
        v[k] = points->v[(i / LANES * EG_VARIABLE_COUNT + k) * LANES + i % LANES];
}

/* --- condition ------------------------------------------------------------------------------------ */

enum { CODE_MOST = 64 };

/* The derivatives d of an operation by its operands. Jumps are left out of the test: 0 there. */
static void differentiate(eg_operation operation, double a, double b, double c, double value,
                          double d[3])
{
    (void)c;
    d[0] = d[1] = d[2] = 0;
    switch (operation) {
    case EG_OPERATION_ADD:
        d[0] = d[1] = 1;
        break;
    case EG_OPERATION_SUBTRACT:
        d[0] = 1, d[1] = -1;
        break;
    case EG_OPERATION_MULTIPLY:
        d[0] = b, d[1] = a;
        break;
    case EG_OPERATION_DIVIDE:
        d[0] = 1 / b, d[1] = -value / b;
        break;
    case EG_OPERATION_NEGATE:
        d[0] = -1;
        break;
    case EG_OPERATION_CHOOSE:
        d[a != 0 ? 1 : 2] = 1;
        break;
    case EG_OPERATION_MINIMUM:
        d[b < a ? 1 : 0] = 1;
        break;
    case EG_OPERATION_MAXIMUM:
        d[a < b ? 1 : 0] = 1;
        break;
    case EG_OPERATION_ABS:
        d[0] = a < 0 ? -1 : 1;
        break;
    case EG_OPERATION_SQRT:
        d[0] = 0.5 / value;
        break;
    case EG_OPERATION_SIN:
        d[0] = cos(a);
        break;
    case EG_OPERATION_COS:
        d[0] = -sin(a);
        break;
    case EG_OPERATION_TAN:
        d[0] = 1 + value * value;
        break;
    case EG_OPERATION_ASIN:
        d[0] = 1 / sqrt(1 - a * a);
        break;
    case EG_OPERATION_ACOS:
        d[0] = -1 / sqrt(1 - a * a);
        break;
    case EG_OPERATION_ATAN:
        d[0] = 1 / (1 + a * a);
        break;
    case EG_OPERATION_ATAN2:
        d[0] = b / (a * a + b * b), d[1] = -a / (a * a + b * b);
        break;
    case EG_OPERATION_SINH:
        d[0] = cosh(a);
        break;
    case EG_OPERATION_COSH:
        d[0] = sinh(a);
        break;
    case EG_OPERATION_TANH:
        d[0] = 1 - value * value;
        break;
    case EG_OPERATION_EXP:
        d[0] = value;
        break;
    case EG_OPERATION_LOG:
        d[0] = 1 / a;
        break;
    case EG_OPERATION_LOG10:
        d[0] = 1 / (a * log(10));
        break;
    case EG_OPERATION_POW:
        d[0] = b * pow(a, b - 1), d[1] = value * log(a);
        break;
    default: /* comparisons, logic, steps, floor */
        break;
    }
}

/* Σ |∂f/∂v_k| |v_k| over the operations and constants of an expression. *extreme is the largest of
 * |v_k| and 1 / |v_k|. */
static double condition(const eg_expression *e, const double *variables, double *extreme)
{
    double value[CODE_MOST], adjoint[CODE_MOST] = {0}, sum = 0;
    size_t from[CODE_MOST][3], slots[EG_EXPRESSION_SLOTS] = {0};
    assert_true(e->count <= CODE_MOST);
    *extreme = 0;
    for (size_t k = 0; k < e->count; k++) {
        const eg_instruction *i = &e->code[k];
        /* Each instruction's value as that of the code up to it. */
        eg_expression until = *e;
        until.count = k + 1;
        value[k] = eg_expression_evaluate(&until, variables);
        from[k][0] = slots[i->a], from[k][1] = slots[i->b], from[k][2] = slots[i->c];
        slots[i->to] = k;
        *extreme = fmax(*extreme, fabs(value[k]));
        if (value[k] != 0) *extreme = fmax(*extreme, 1 / fabs(value[k]));
    }
    adjoint[e->count - 1] = 1;
    for (size_t k = e->count; k-- > 0;) {
        const eg_operation operation = e->code[k].operation;
        double d[3];
        if (operation != EG_OPERATION_VARIABLE && adjoint[k] != 0)
            sum += fabs(adjoint[k] * value[k]);
        if (operation == EG_OPERATION_VARIABLE || operation == EG_OPERATION_CONSTANT) continue;
        differentiate(operation, value[from[k][0]], value[from[k][1]], value[from[k][2]], value[k],
                      d);
        for (size_t j = 0; j < 3; j++)
            if (d[j] != 0 && adjoint[k] != 0) adjoint[from[k][j]] += adjoint[k] * d[j];
    }
    return sum;
}

/* The condition of a formula whose derivatives are known: sum and product, function of function. */
static void test_expression_devices__the_condition_is_that_of_calculus(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double expected;
    } rows[] = {
        /* f = sin u, u = x y: |cos u| |u| + |sin u|, at x = 2, y = 3 */
        {"sin(x*y)", 6 * 0.96017028665036602 + 0.27941549819892586},
        /* u = x - y, f = u / z: |u / z| twice, at z = -4 */
        {"(x - y)/z", 0.5},
        /* u = x^2 and the constant 3: u + 3 + (u + 3) */
        {"x*x + 3", 4 + 3 + 7},
        /* only the branch that is taken: u = x y and f */
        {"x < y ? x*y : exp(z)", 12},
    };
    static const double variables[EG_VARIABLE_COUNT] = {2, 3, -4, 1};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        eg_expression *e = NULL;
        double extreme;
        TEST_OK(ctx, eg_expression_create(ctx, rows[i].text, formula_symbols, FORMULA_SYMBOLS, NULL,
                                          &e));
        assert_near(condition(e, variables, &extreme), rows[i].expected, 1e-14 * rows[i].expected,
                    rows[i].text, 0);
        eg_expression_destroy(&e);
    }
    test_context_free(&ctx);
}

/* --- comparing ------------------------------------------------------------------------------------ */

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* How many doubles lie between a and b. */
static double ulps_between(double a, double b)
{
    int64_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    for (size_t k = 0; k < 2; k++)
        if (bits[k] < 0) bits[k] = INT64_MIN - bits[k];
    uint64_t least = (uint64_t)(bits[0] < bits[1] ? bits[0] : bits[1]);
    uint64_t most = (uint64_t)(bits[0] < bits[1] ? bits[1] : bits[0]);
    return isnan(a) || isnan(b) ? INFINITY : (double)(most - least);
}

/* How far the device's value is off in double precision, as a fraction of what is allowed. */
static double compare_f64(const formula *f, const eg_expression *e, const double *v, double value,
                          double host)
{
    double extreme = 0;
    if (same_bits(value, host)) return 0;
    switch (f->kind) {
    case FORMULA_EXACT:
        return INFINITY;
    case FORMULA_FUNCTION:
        return ulps_between(value, host) / 4;
    case FORMULA_POWER:
        return ulps_between(value, host) / 16;
    default:
        if (isnan(value) || isnan(host) || isinf(value) || isinf(host)) return INFINITY;
        /* Where a derivative is infinite, so is the bound. */
        return fabs(value - host) / (8 * DBL_EPSILON * condition(e, v, &extreme) + DBL_MIN);
    }
}

/* The same in single precision, against the host's double: where no intermediate value leaves the range
 * of floats, and where the first order of errors is all that counts. */
static double compare_f32(const eg_expression *e, const double *v, double value, double host)
{
    double extreme = 0;
    if (fabs(value - host) <= 2 * (double)FLT_EPSILON * fabs(host)) return 0;
    double sum = condition(e, v, &extreme);
    if (isnan(host) || !(extreme < 1e30) || !(sum * (double)FLT_EPSILON < 1e-3)) return 0;
    double ratio = fabs(value - host) / (16 * (double)FLT_EPSILON * sum + (double)FLT_MIN);
    return isnan(ratio) ? INFINITY : ratio;
}

/* --- the kernel ----------------------------------------------------------------------------------- */

static void create_formulas(eg_context *ctx, eg_expression *e[FORMULA_COUNT])
{
    for (size_t f = 0; f < FORMULA_COUNT; f++)
        TEST_OK(ctx, eg_expression_create(ctx, formulas[f].text, formula_symbols, FORMULA_SYMBOLS,
                                          NULL, &e[f]));
}

static void destroy_formulas(eg_expression *e[FORMULA_COUNT])
{
    for (size_t f = 0; f < FORMULA_COUNT; f++)
        eg_expression_destroy(&e[f]);
}

/* A kernel that evaluates each formula into a row of `values`. */
static void add_kernel(eg_context *ctx, eg_expression *const e[FORMULA_COUNT], eg_text *text)
{
    for (size_t f = 0; f < FORMULA_COUNT; f++) {
        char name[16];
        snprintf(name, sizeof name, "formula_%zu", f);
        TEST_OK(ctx, eg_expression_emit(e[f], name, arguments, EG_VARIABLE_COUNT, text));
    }
    TEST_OK(ctx, eg_text_printf(
                     text,
                     "#define FORMULAS %zu\n"
                     "K_KERNEL(evaluate, K_IN(real, points, 4 * LANES),\n"
                     "         K_OUT(real, values, FORMULAS * LANES))\n"
                     "{\n"
                     "    K_TILES(tile)\n"
                     "    {\n"
                     "        K_NODES(i, 1)\n"
                     "        {\n"
                     "            K_GLOBAL const real *p = K_TILE(points, tile, 4) + lane;\n"
                     "            K_GLOBAL real *v = K_TILE(values, tile, FORMULAS) + lane;\n",
                     FORMULA_COUNT));
    for (size_t f = 0; f < FORMULA_COUNT; f++)
        TEST_OK(ctx, eg_text_printf(text,
                                    "            v[%zu * LANES] = formula_%zu(p[0], p[LANES], "
                                    "p[2 * LANES], p[3 * LANES]);\n",
                                    f, f));
    TEST_OK(ctx, eg_text_puts(text, "        }\n    }\n}\n"));
}

static eg_kernel_options kernel_options(const eg_text *text, eg_type real)
{
    eg_kernel_options options =
        text_options("kernel/expressions.k.c", eg_text_string(text), "evaluate", real);
    options.lanes = LANES;
    options.no_contraction = true;
    return options;
}

/* Evaluates every formula at every point on the device. */
static array evaluate(eg_device *device, eg_type real, eg_expression *const e[FORMULA_COUNT],
                      const array *points)
{
    eg_context *ctx = eg_device_context(device);
    eg_text text = eg_text_new(ctx);
    eg_kernel *kernel = NULL;
    array values = array_poisoned(device, real, FORMULA_COUNT * POINTS);
    add_kernel(ctx, e, &text);
    eg_kernel_options options = kernel_options(&text, real);
    TEST_OK(ctx, eg_kernel_create(device, &options, &kernel));
    TEST_OK(ctx, eg_launch(kernel, TILES, EG_BUFFER("points", points->buffer),
                           EG_BUFFER("values", values.buffer)));
    array_download(&values);
    eg_kernel_destroy(&kernel);
    eg_text_free(&text);
    return values;
}

static void devices_agree(eg_device *device, eg_type real)
{
    const double margin = real == EG_F64 ? 1e-12 : 1e-4;
    double worst[FORMULA_COMPOSITION + 1] = {0}; /* of each kind */
    eg_expression *e[FORMULA_COUNT] = {NULL};
    create_formulas(eg_device_context(device), e);
    array points = new_points(device, real), values = evaluate(device, real, e, &points);
    for (size_t i = 0; i < POINTS; i++) {
        double v[EG_VARIABLE_COUNT];
        point_of(&points, i, v);
        for (size_t f = 0; f < FORMULA_COUNT; f++) {
            const formula *const g = &formulas[f];
            if (g->jump && !(g->jump(v[0], v[1], v[2], v[3]) > margin)) continue;
            double host = eg_expression_evaluate(e[f], v);
            double value = values.v[(i / LANES * FORMULA_COUNT + f) * LANES + i % LANES];
            double off = real == EG_F64 ? compare_f64(g, e[f], v, value, host)
                                        : compare_f32(e[f], v, value, host);
            if (!(off <= 1))
                fail_msg("%s at %.17g %.17g %.17g %.17g is %.17g, on the host %.17g: %.3g of what "
                         "it may be off",
                         g->text, v[0], v[1], v[2], v[3], value, host, off);
            if (off > worst[g->kind]) worst[g->kind] = off;
        }
    }
    array_free(&points);
    array_free(&values);
    destroy_formulas(e);
    if (real == EG_F64)
        print_message("    %s: functions within %.3g ulp, powers %.3g ulp, compositions %.3g of "
                      "8 eps times their condition\n",
                      eg_device_get_info(device)->spec, 4 * worst[FORMULA_FUNCTION],
                      16 * worst[FORMULA_POWER], worst[FORMULA_COMPOSITION]);
}

static void test_expression_devices__fifty_formulas_agree_with_the_host(void **state)
{
    (void)state;
    on_every_device(devices_agree);
}

/* NVRTC compiles them, in both precisions, also where there is no GPU to run them. */
static void test_expression_devices__nvrtc_compiles_all_formulas(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_target target = {EG_TARGET_CUDA, 90, 32, 232448, 1024};
    if (!eg_cuda_compiler_present(ctx)) {
        test_context_free(&ctx);
        skip();
    }
    eg_expression *e[FORMULA_COUNT] = {NULL};
    eg_text text = eg_text_new(ctx);
    create_formulas(ctx, e);
    add_kernel(ctx, e, &text);
    for (int real = EG_F64; real <= EG_F32; real++) {
        eg_kernel_options options = kernel_options(&text, (eg_type)real);
        eg_source *source = calloc(1, sizeof *source);
        eg_blob blob = {0};
        assert_non_null(source);
        TEST_OK(ctx, eg_source_build(ctx, &target, &options, source));
        assert_false(source->contract);
        TEST_OK(ctx, eg_cuda_compile(ctx, "sm_90", source->name, &source->text, source->contract,
                                     &blob));
        eg_release(ctx, &blob.data);
        eg_source_free(source);
        free(source);
    }
    destroy_formulas(e);
    eg_text_free(&text);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expression_devices__the_condition_is_that_of_calculus),
        KERNEL_TEST(test_expression_devices__fifty_formulas_agree_with_the_host),
        cmocka_unit_test(test_expression_devices__nvrtc_compiles_all_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
