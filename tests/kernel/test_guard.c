/* What is wrong with a field, found on every device: against a plain loop on the host, in all
 * elements and lanes, but not in padding. */
#include "kernel/boxes.h"

#include "field/guard.h"
#include "field/space.h"

enum { COMPONENTS = 2 };

/* Quantities that must be positive, as expressions and on the host. */
static const char *const positive_texts[] = {"4 - u - v * v", "3 * t + x - 2 * y + v"};
enum { QUANTITIES = EG_COUNT(positive_texts) };

static double positive(int k, const double *x, double t, const double *u)
{
    return k == 0 ? 4 - u[0] - u[1] * u[1] : 3 * t + x[0] - 2 * x[1] + u[1];
}

static eg_guard *guard_new(eg_space *space, eg_type type, const char *const *texts, int count)
{
    static const eg_symbol symbols[] = {
        {"x", EG_VARIABLE_X, 0}, {"y", EG_VARIABLE_Y, 0},     {"z", EG_VARIABLE_Z, 0},
        {"t", EG_VARIABLE_T, 0}, {"u", EG_VARIABLE_COUNT, 0}, {"v", EG_VARIABLE_COUNT + 1, 0}};
    eg_expression *list[QUANTITIES] = {NULL};
    eg_guard *guard = NULL;
    for (int k = 0; k < count; k++)
        TEST_OK(space->ctx, eg_expression_create(space->ctx, texts[k], symbols, EG_COUNT(symbols),
                                                 NULL, &list[k]));
    TEST_OK(space->ctx, eg_guard_create(space, COMPONENTS, type, (const eg_expression *const *)list,
                                        count, &guard));
    for (int k = 0; k < count; k++)
        eg_expression_destroy(&list[k]);
    return guard;
}

/* --- on the host ------------------------------------------------------------------------------ */

/* A field with its values on the host: [element][component][np]. */
typedef struct watched {
    eg_space *space;
    eg_field *field;
    eg_guard *guard;
    double *values;
    size_t *first; /* [element] of its values */
} watched;

static watched watched_new(eg_space *space, eg_type type, int quantities)
{
    watched w = {.space = space, .guard = guard_new(space, type, positive_texts, quantities)};
    const int32_t count = space->mesh->element_count;
    TEST_OK(space->ctx, eg_field_create(space, COMPONENTS, type, &w.field));
    w.values = new_values(eg_field_host_count(w.field));
    w.first = malloc((size_t)count * sizeof *w.first);
    assert_non_null(w.first);
    size_t first = 0;
    for (int32_t e = 0; e < count; e++) {
        w.first[e] = first;
        first += (size_t)(COMPONENTS * eg_space_group_of(space, e)->element->np);
    }
    return w;
}

static void watched_free(watched *w)
{
    free(w->first);
    free(w->values);
    eg_field_destroy(&w->field);
    eg_guard_destroy(&w->guard);
}

static double *value_at(const watched *w, int32_t element, int component, int node)
{
    const int np = eg_space_group_of(w->space, element)->element->np;
    return &w->values[w->first[element] + (size_t)(component * np + node)];
}

/* Values of an element at the nodes where a guard looks, u [np][COMPONENTS], and where those
 * are. */
static void look_at(const watched *w, int32_t element, double *u, double *x)
{
    const eg_group *g = eg_space_group_of(w->space, element);
    const int np = g->element->np, dim = g->element->dim;
    const bool modal = w->space->basis == EG_BASIS_MODAL;
    eg_element *nodal = NULL;
    double *table = new_values((size_t)(np * np));
    const double *r = g->element->r;
    if (modal) {
        TEST_OK(w->space->ctx, eg_element_create_bare(w->space->ctx, g->shape, g->degree,
                                                      EG_BASIS_LOBATTO, &nodal));
        r = nodal->r;
        TEST_OK(w->space->ctx, eg_element_evaluate(g->element, np, r, table));
    }
    for (int i = 0; i < np; i++) {
        double at[3] = {0}, a[3][3];
        for (int d = 0; d < dim; d++)
            at[d] = r[d * np + i];
        map_point(w->space->mesh, g->geometry, element, at, a, &x[3 * i]);
        for (int c = 0; c < COMPONENTS; c++) {
            double sum = 0;
            for (int j = 0; modal && j < np; j++)
                sum += table[i * np + j] * rounded(w->field->type, *value_at(w, element, c, j));
            u[i * COMPONENTS + c] =
                modal ? sum : rounded(w->field->type, *value_at(w, element, c, i));
        }
    }
    free(table);
    eg_element_destroy(&nodal);
}

/* True if a is worse than b. */
static bool is_worse(const eg_guard_finding *a, const eg_guard_finding *b, const double *limit)
{
    static const int gravity[] = {[EG_GUARD_FINE] = 0,
                                  [EG_GUARD_GROWTH] = 1,
                                  [EG_GUARD_UNPHYSICAL] = 2,
                                  [EG_GUARD_NOT_FINITE] = 3};
    if (a->kind != b->kind) return gravity[a->kind] > gravity[b->kind];
    if (a->kind == EG_GUARD_GROWTH)
        return fabs(a->value) / limit[a->which] > fabs(b->value) / limit[b->which];
    if (a->kind == EG_GUARD_UNPHYSICAL)
        return a->which < b->which || (a->which == b->which && a->value < b->value);
    return a->kind == EG_GUARD_NOT_FINITE && a->global < b->global;
}

/* The worst of all nodes by a plain loop. */
static eg_guard_finding find_plainly(const watched *w, double t, const double *limit,
                                     int quantities)
{
    eg_guard_finding worst = {.kind = EG_GUARD_FINE};
    double u[COMPONENTS * 256], x[3 * 256] = {0};
    for (int32_t e = 0; e < w->space->mesh->element_count; e++) {
        const int np = eg_space_group_of(w->space, e)->element->np;
        assert_true(np <= 256);
        look_at(w, e, u, x);
        for (int i = 0; i < np; i++) {
            eg_guard_finding now = {.global = w->space->mesh->global[e]};
            memcpy(now.x, &x[3 * i], sizeof now.x);
            for (int c = 0; c < COMPONENTS; c++) {
                now.which = c;
                now.value = u[i * COMPONENTS + c];
                now.kind = !isfinite(now.value)         ? EG_GUARD_NOT_FINITE
                           : fabs(now.value) > limit[c] ? EG_GUARD_GROWTH
                                                        : EG_GUARD_FINE;
                if (is_worse(&now, &worst, limit)) worst = now;
            }
            for (int k = 0; k < quantities; k++) {
                now.which = k;
                now.value = positive(k, now.x, t, &u[i * COMPONENTS]);
                now.kind = now.value > 0 ? EG_GUARD_FINE : EG_GUARD_UNPHYSICAL;
                if (is_worse(&now, &worst, limit)) worst = now;
            }
        }
    }
    return worst;
}

static void assert_finding(const eg_guard_finding *found, const eg_guard_finding *expected,
                           double bound)
{
    if (found->kind != expected->kind || found->which != expected->which ||
        found->global != expected->global)
        fail_msg("kind %d, which %d, element %lld, value %g instead of %d, %d, %lld, %g",
                 (int)found->kind, found->which, (long long)found->global, found->value,
                 (int)expected->kind, expected->which, (long long)expected->global,
                 expected->value);
    if (isfinite(expected->value))
        assert_near(found->value, expected->value, bound * (1 + fabs(expected->value)), "value", 0);
    else
        assert_true(isnan(expected->value) ? isnan(found->value) : found->value == expected->value);
    for (size_t d = 0; d < 3; d++)
        assert_near(found->x[d], expected->x[d], 1e-13, "x", d);
}

/* --- kinds and places ------------------------------------------------------------------------- */

static const double limits[COMPONENTS] = {3.5, 1.75};

/* Random values with which all is well where 0.75 ≤ t: |u| < 1, |v| < 0.5. Modal: but for the
 * mean, small. */
static void fill(const watched *w, uint64_t *seed)
{
    const bool modal = w->space->basis == EG_BASIS_MODAL;
    for (int32_t e = 0; e < w->space->mesh->element_count; e++) {
        const int np = eg_space_group_of(w->space, e)->element->np;
        for (int c = 0; c < COMPONENTS; c++)
            for (int i = 0; i < np; i++)
                *value_at(w, e, c, i) = (modal ? 1e-3 : 1) / (c + 1) * test_random(seed);
    }
}

/* Looks and compares with the host. */
static eg_guard_kind check_finding(const watched *w, double t, const double *limit, int quantities)
{
    eg_guard_finding found, expected = find_plainly(w, t, limit, quantities);
    TEST_OK(w->space->ctx, eg_field_from_host(w->field, w->values));
    TEST_OK(w->space->ctx, eg_guard_look(w->guard, t, w->field, limit, &found));
    const double bound = w->field->type == EG_F32 ? 1e-5 : 1e-13;
    assert_finding(&found, &expected, bound);
    return found.kind;
}

/* Spoils values of an element so that one kind is found, and looks. */
static void check_kinds(const watched *w, int32_t element, uint64_t *seed)
{
    static const struct {
        int component;
        double value; /* of all nodes of modal bases: of the first mode */
        eg_guard_kind kind;
    } spoils[] = {
        {0, NAN, EG_GUARD_NOT_FINITE}, {1, -INFINITY, EG_GUARD_NOT_FINITE},
        {0, 90, EG_GUARD_UNPHYSICAL}, /* and growth */
        {1, -33, EG_GUARD_UNPHYSICAL}, {0, -90, EG_GUARD_GROWTH},
    };
    const int np = eg_space_group_of(w->space, element)->element->np;
    const bool modal = w->space->basis == EG_BASIS_MODAL;
    for (size_t s = 0; s < EG_COUNT(spoils); s++) {
        const int node = modal ? 0 : (int)floor(0.5 * (1 + test_random(seed)) * np);
        double *at = value_at(w, element, spoils[s].component, node), before = *at;
        *at = spoils[s].value;
        assert_int_equal(check_finding(w, 1, limits, QUANTITIES), spoils[s].kind);
        *at = before;
    }
}

/* Some elements of a space, the last of every group among them. */
static void check_elements(const watched *w, uint64_t *seed)
{
    fill(w, seed);
    assert_int_equal(check_finding(w, 1, limits, QUANTITIES), EG_GUARD_FINE);
    check_kinds(w, 0, seed);
    for (int group = 0; group < w->space->group_count; group++) {
        const eg_group *g = &w->space->groups[group];
        check_kinds(w, g->element_of_slot[g->own_tiles * g->lanes - 1], seed);
    }
    check_kinds(w, w->space->mesh->element_count / 2, seed);
}

static void kinds_body(eg_device *device, eg_type real)
{
    static const eg_basis bases[] = {EG_BASIS_LOBATTO, EG_BASIS_GAUSS, EG_BASIS_MODAL};
    uint64_t seed = 1;
    if (is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (size_t b = 0; b < EG_COUNT(bases); b++) {
            const bool tensor = eg_shape_get_info(all_shapes[s])->tensor;
            if (bases[b] == EG_BASIS_GAUSS && (!tensor || real == EG_F32)) continue;
            if (bases[b] == EG_BASIS_MODAL && s % 2 && real == EG_F32) continue;
            eg_box_options o = box_options(all_shapes[s], 5, 3, 1, b == 0 ? 2 : 0);
            now_at(device, real, "%s %s", eg_shape_get_info(o.shape)->name,
                   eg_basis_name(bases[b]));
            box part = box_new(device, &o, bases[b], 3);
            watched w = watched_new(part.space, real, QUANTITIES);
            check_elements(&w, &seed);
            watched_free(&w);
            box_free(&part);
        }
}

static void test_guard__finds_each_kind_at_its_element_and_node(void **state)
{
    (void)state;
    on_every_device(kinds_body);
}

/* Straight on the left, bent on the right. */
static eg_status bend_right_half(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 2, x += 2) {
        const double right = fmax(0, X[0] - 0.5);
        x[0] = X[0];
        x[1] = X[1] * (1 + right * right);
    }
    return EG_OK;
}

/* Three degrees on affine and on curved quadrilaterals. */
static void mixed_body(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    uint8_t degrees[64];
    uint64_t seed = 2;
    eg_comm *comm = NULL;
    eg_mesh *mesh = NULL;
    eg_space *space = NULL;
    eg_box_options o = box_options(EG_SHAPE_QUAD, 8, 5, 0, 3);
    o.map = bend_right_half;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_mesh_create_box(ctx, &o, &mesh));
    assert_true(mesh->element_count <= (int32_t)EG_COUNT(degrees));
    for (int32_t e = 0; e < mesh->element_count; e++)
        degrees[e] = (uint8_t)(1 + 2 * (mesh->global[e] % 3));
    TEST_OK(ctx,
            eg_space_create(device, comm, mesh, &(eg_space_options){.degrees = degrees}, &space));
    assert_int_equal(space->group_count, 6);
    watched w = watched_new(space, real, 1);
    fill(&w, &seed);
    for (int32_t e = 0; e < mesh->element_count; e += 3) {
        *value_at(&w, e, 1, 2) = 7;
        assert_int_equal(check_finding(&w, 0, limits, 1), EG_GUARD_UNPHYSICAL);
        *value_at(&w, (e + 5) % mesh->element_count, 0, 1) = NAN;
        assert_int_equal(check_finding(&w, 0, limits, 1), EG_GUARD_NOT_FINITE);
        *value_at(&w, (e + 5) % mesh->element_count, 0, 1) = *value_at(&w, e, 1, 2) = 0;
    }
    watched_free(&w);
    eg_space_destroy(&space);
    eg_mesh_destroy(&mesh);
    eg_comm_destroy(&comm);
}

static void test_guard__finds_elements_of_all_groups(void **state)
{
    (void)state;
    on_every_device(mixed_body);
}

/* --- the gravest, the worst ------------------------------------------------------------------- */

/* The same values in all elements but some, so that nothing else decides. */
static void order_body(eg_device *device, eg_type real)
{
    if (is_second_thread(device)) return;
    eg_box_options o = box_options(EG_SHAPE_TRI, 7, 5, 0, 0);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 2);
    watched w = watched_new(b.space, real, 1);
    const int32_t last = b.mesh->element_count - 1;
    eg_guard_finding found;
    fill(&w, &(uint64_t){3});
    *value_at(&w, 40, 0, 1) = -3.75; /* growth: a little, then more in the other component */
    assert_int_equal(check_finding(&w, 0, limits, 1), EG_GUARD_GROWTH);
    *value_at(&w, last, 0, 2) = -0.5;
    *value_at(&w, last, 1, 2) = 1.9;
    assert_int_equal(check_finding(&w, 0, limits, 1), EG_GUARD_GROWTH);
    *value_at(&w, 3, 0, 0) = 4.25; /* not positive: -0.25 and less, then -1 */
    *value_at(&w, 3, 1, 0) = 0;
    assert_int_equal(check_finding(&w, 0, limits, 1), EG_GUARD_UNPHYSICAL);
    *value_at(&w, 20, 0, 5) = 5;
    *value_at(&w, 20, 1, 5) = 0;
    assert_int_equal(check_finding(&w, 0, limits, 1), EG_GUARD_UNPHYSICAL);
    *value_at(&w, last, 0, 5) = INFINITY;
    *value_at(&w, 30, 1, 5) = NAN;
    *value_at(&w, 50, 1, 0) = NAN;
    TEST_OK(b.space->ctx, eg_field_from_host(w.field, w.values));
    TEST_OK(b.space->ctx, eg_guard_look(w.guard, 0, w.field, limits, &found));
    const int64_t spoilt[] = {b.mesh->global[last], b.mesh->global[30], b.mesh->global[50]};
    int64_t least = spoilt[0];
    for (size_t i = 1; i < 3; i++)
        if (spoilt[i] < least) least = spoilt[i];
    assert_int_equal(found.kind, EG_GUARD_NOT_FINITE);
    assert_int_equal(found.global, least);
    watched_free(&w);
    box_free(&b);
}

static void test_guard__tells_of_the_gravest_and_of_that_the_worst(void **state)
{
    (void)state;
    on_every_device(order_body);
}

static void test_guard__between_equals_the_lowest_global_number_decides(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:2", &device));
    eg_box_options o = box_options(EG_SHAPE_QUAD, 9, 9, 0, 0);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 2);
    watched w = watched_new(b.space, EG_F64, 1);
    eg_guard_finding found;
    for (size_t i = 0; i < eg_field_host_count(w.field); i++)
        w.values[i] = 2;
    TEST_OK(ctx, eg_field_from_host(w.field, w.values));
    TEST_OK(ctx, eg_guard_look(w.guard, 0, w.field, limits, &found)); /* 4 - u - v² = -2 */
    assert_int_equal(found.kind, EG_GUARD_UNPHYSICAL);
    assert_int_equal(found.global, 0);
    assert_true(found.value == -2);
    for (size_t i = 0; i < eg_field_host_count(w.field); i++)
        w.values[i] = -4;
    eg_guard_destroy(&w.guard);
    w.guard = guard_new(b.space, EG_F64, NULL, 0);
    TEST_OK(ctx, eg_field_from_host(w.field, w.values));
    TEST_OK(ctx, eg_guard_look(w.guard, 0, w.field, limits, &found));
    assert_int_equal(found.kind, EG_GUARD_GROWTH);
    assert_int_equal(found.global, 0);
    assert_int_equal(found.which, 1); /* |v| is further above its limit */
    watched_free(&w);
    box_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* A quantity that is not a number is not positive, though all values are finite. */
static void root_body(eg_device *device, eg_type real)
{
    static const char *const root[] = {"sqrt(u)"};
    if (is_second_thread(device)) return;
    eg_box_options o = box_options(EG_SHAPE_TET, 2, 1, 1, 0);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 1);
    watched w = watched_new(b.space, real, 0);
    eg_guard_finding found;
    eg_guard_destroy(&w.guard);
    w.guard = guard_new(b.space, real, root, 1);
    for (size_t i = 0; i < eg_field_host_count(w.field); i++)
        w.values[i] = 1;
    *value_at(&w, 2, 0, 0) = 0; /* sqrt(0) is not positive, and less bad than what follows */
    *value_at(&w, 7, 0, 3) = -1;
    TEST_OK(b.space->ctx, eg_field_from_host(w.field, w.values));
    TEST_OK(b.space->ctx, eg_guard_look(w.guard, 0, w.field, limits, &found));
    assert_int_equal(found.kind, EG_GUARD_UNPHYSICAL);
    assert_int_equal(found.global, b.mesh->global[7]);
    assert_true(isnan(found.value));
    watched_free(&w);
    box_free(&b);
}

static void test_guard__a_quantity_that_is_no_number_is_not_positive(void **state)
{
    (void)state;
    on_every_device(root_body);
}

/* --- limits ----------------------------------------------------------------------------------- */

static void limits_body(eg_device *device, eg_type real)
{
    if (is_second_thread(device)) return;
    const double huge = real == EG_F32 ? (double)FLT_MAX : DBL_MAX;
    eg_box_options o = box_options(EG_SHAPE_HEX, 3, 2, 2, 0);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 1);
    watched w = watched_new(b.space, real, 0);
    fill(&w, &(uint64_t){4});
    *value_at(&w, 5, 0, 3) = -2.5;
    *value_at(&w, 6, 1, 3) = -huge;
    assert_int_equal(check_finding(&w, 0, (const double[]){2.5, INFINITY}, 0), EG_GUARD_FINE);
    assert_int_equal(check_finding(&w, 0, (const double[]){2.4999, INFINITY}, 0), EG_GUARD_GROWTH);
    assert_int_equal(check_finding(&w, 0, (const double[]){2.5, 1e-30}, 0), EG_GUARD_GROWTH);
    memset(w.values, 0, eg_field_host_count(w.field) * sizeof *w.values);
    assert_int_equal(check_finding(&w, 0, (const double[]){0, 0}, 0), EG_GUARD_FINE);
    *value_at(&w, 5, 0, 3) = 1e-30;
    eg_guard_finding found;
    TEST_OK(b.space->ctx, eg_field_from_host(w.field, w.values));
    TEST_OK(b.space->ctx, eg_guard_look(w.guard, 0, w.field, (const double[]){0, 0}, &found));
    assert_int_equal(found.kind, EG_GUARD_GROWTH);
    assert_int_equal(found.global, b.mesh->global[5]);
    watched_free(&w);
    box_free(&b);
}

static void test_guard__limits_are_what_is_still_allowed(void **state)
{
    (void)state;
    on_every_device(limits_body);
}

static void most_body(eg_device *device, eg_type real)
{
    static const eg_basis bases[] = {EG_BASIS_LOBATTO, EG_BASIS_MODAL};
    uint64_t seed = 5;
    if (is_second_thread(device)) return;
    for (size_t k = 0; k < EG_COUNT(bases); k++) {
        eg_box_options o = box_options(EG_SHAPE_TRI, 6, 3, 0, 0);
        box b = box_new(device, &o, bases[k], 4);
        watched w = watched_new(b.space, real, 0);
        double most[COMPONENTS], expected[COMPONENTS] = {0}, u[64 * COMPONENTS], x[3 * 64];
        fill(&w, &seed);
        for (int32_t e = 0; e < b.mesh->element_count; e++) {
            look_at(&w, e, u, x);
            for (int i = 0; i < eg_space_group_of(b.space, e)->element->np * COMPONENTS; i++)
                expected[i % COMPONENTS] = fmax(expected[i % COMPONENTS], fabs(u[i]));
        }
        TEST_OK(b.space->ctx, eg_field_from_host(w.field, w.values));
        TEST_OK(b.space->ctx, eg_guard_most(w.guard, w.field, most));
        for (size_t c = 0; c < COMPONENTS; c++)
            assert_near(most[c], expected[c], 1e-15, "most", c);
        *value_at(&w, b.mesh->element_count - 1, 1, 0) = NAN;
        TEST_OK(b.space->ctx, eg_field_from_host(w.field, w.values));
        TEST_OK(b.space->ctx, eg_guard_most(w.guard, w.field, most));
        assert_near(most[0], expected[0], 1e-15, "most", 0);
        assert_true(isnan(most[1]));
        watched_free(&w);
        box_free(&b);
    }
}

static void test_guard__knows_the_largest_values(void **state)
{
    (void)state;
    on_every_device(most_body);
}

/* --- padding, memory, misuse ------------------------------------------------------------------ */

/* Sets a value on the device alone: row [COMPONENTS][np] of a slot of group 0. */
static void put(const watched *w, int64_t slot, size_t row, double value)
{
    const eg_group *g = &w->space->groups[0];
    const float single = (float)value;
    const size_t at =
        w->field->offset[0] + eg_group_place(g, COMPONENTS, slot) + row * (size_t)g->lanes;
    TEST_OK(w->space->ctx,
            eg_buffer_upload(w->field->data, at, 1,
                             w->field->type == EG_F32 ? (const void *)&single : &value));
}

/* What stands in padding is nobody's: neither found, nor counted, nor taken for worse than what
 * is. */
static void padding_body(eg_device *device, eg_type real)
{
    if (is_second_thread(device)) return;
    eg_box_options o = box_options(EG_SHAPE_TRI, 3, 1, 0, 0); /* 6 elements: no tile is full */
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 2);
    eg_context *ctx = b.space->ctx;
    const eg_group *g = &b.space->groups[0];
    const size_t rows = (size_t)(COMPONENTS * g->element->np);
    watched w = watched_new(b.space, real, 1);
    eg_guard_finding found;
    double most[COMPONENTS], again[COMPONENTS];
    assert_true(g->own_tiles * g->lanes > b.mesh->element_count);
    fill(&w, &(uint64_t){6});
    TEST_OK(ctx, eg_field_from_host(w.field, w.values));
    TEST_OK(ctx, eg_guard_most(w.guard, w.field, most));
    for (int k = 0; k < 2; k++) {
        for (int64_t slot = 0; slot < g->own_tiles * g->lanes; slot++)
            for (size_t row = 0; row < rows; row++)
                if (b.space->slot_of_element[g->element_of_slot[slot]] != g->first_slot + slot)
                    put(&w, slot, row, k == 0 ? NAN : 50);
        if (k == 1) put(&w, 2, 1, 6); /* 4 - u - v² is less than -2 */
        TEST_OK(ctx, eg_guard_look(w.guard, 0, w.field, limits, &found));
        assert_int_equal(found.kind, k == 0 ? EG_GUARD_FINE : EG_GUARD_UNPHYSICAL);
        if (k == 1) assert_near(found.value, -2.125, 0.125, "value", 0);
        if (k == 1) assert_int_equal(found.global, b.mesh->global[g->element_of_slot[2]]);
        TEST_OK(ctx, eg_guard_most(w.guard, w.field, again));
        if (k == 0) assert_memory_equal(again, most, sizeof most);
        if (k == 1) assert_true(again[0] == 6 && again[1] == most[1]);
    }
    watched_free(&w);
    box_free(&b);
}

static void test_guard__does_not_look_at_padding(void **state)
{
    (void)state;
    on_every_device(padding_body);
}

static void test_guard__a_look_at_what_is_well_allocates_nothing(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_box_options o = box_options(EG_SHAPE_QUAD, 4, 4, 0, 2);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 2);
    watched w = watched_new(b.space, EG_F64, 1);
    eg_guard_finding found;
    fill(&w, &(uint64_t){7});
    TEST_OK(ctx, eg_field_from_host(w.field, w.values));
    test_allocator_arm(0, false);
    TEST_OK(ctx, eg_guard_look(w.guard, 0, w.field, limits, &found));
    assert_int_equal(test_memory.calls, 0);
    watched_free(&w);
    box_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

static eg_status use_all(eg_space *space, void *user)
{
    eg_guard *guard = NULL;
    eg_field *field = NULL;
    eg_guard_finding found;
    double most;
    const double nan = NAN;
    const eg_symbol x = {"x", EG_VARIABLE_X, 0};
    eg_expression *sum = NULL;
    eg_status status = EG_OK;
    (void)user;
    EG_TRY(eg_expression_create(space->ctx, "x + 1", &x, 1, NULL, &sum));
    EG_TRY(eg_guard_create(space, 1, EG_F64, (const eg_expression *const *)&sum, 1, &guard));
    EG_TRY(eg_field_create(space, 1, EG_F64, &field));
    EG_TRY(eg_buffer_fill(field->data, 0, eg_buffer_count(field->data), &nan));
    EG_TRY(eg_guard_look(guard, 0, field, (const double[]){1}, &found));
    EG_TRY(eg_guard_most(guard, field, &most));
done:
    eg_field_destroy(&field);
    eg_guard_destroy(&guard);
    eg_expression_destroy(&sum);
    return status;
}

static void test_guard__no_allocation_is_taken_for_granted(void **state)
{
    (void)state;
    eg_box_options o = box_options(EG_SHAPE_TRI, 1, 1, 0, 0);
    box_allocation_sweep(&o, use_all, NULL);
}

static void test_guard__refuses_other_fields(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_box_options o = box_options(EG_SHAPE_TRI, 1, 1, 0, 0);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 1);
    watched w = watched_new(b.space, EG_F64, 0);
    eg_field *single = NULL, *scalar = NULL;
    eg_guard *none = NULL;
    eg_guard_finding found;
    TEST_OK(ctx, eg_field_create(b.space, COMPONENTS, EG_F32, &single));
    TEST_OK(ctx, eg_field_create(b.space, 1, EG_F64, &scalar));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "f32 instead of f64",
               eg_guard_look(w.guard, 0, single, limits, &found));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "1 components instead of 2",
               eg_guard_look(w.guard, 0, scalar, limits, &found));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "0 components",
               eg_guard_create(b.space, 0, EG_F64, NULL, 0, &none));
    assert_null(none);
    eg_field_destroy(&scalar);
    eg_field_destroy(&single);
    watched_free(&w);
    box_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guard__finds_each_kind_at_its_element_and_node),
        cmocka_unit_test(test_guard__finds_elements_of_all_groups),
        cmocka_unit_test(test_guard__tells_of_the_gravest_and_of_that_the_worst),
        cmocka_unit_test(test_guard__between_equals_the_lowest_global_number_decides),
        cmocka_unit_test(test_guard__a_quantity_that_is_no_number_is_not_positive),
        cmocka_unit_test(test_guard__limits_are_what_is_still_allowed),
        cmocka_unit_test(test_guard__knows_the_largest_values),
        cmocka_unit_test(test_guard__does_not_look_at_padding),
        cmocka_unit_test(test_guard__a_look_at_what_is_well_allocates_nothing),
        cmocka_unit_test(test_guard__no_allocation_is_taken_for_granted),
        cmocka_unit_test(test_guard__refuses_other_fields),
    };
    set_pocl_optimises(false); /* others do, see devices.h */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
