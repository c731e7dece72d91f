/* Cases: values of every type, fallbacks, overrides, constants, names for stars, and the
 * documentation that is made from the schema. */
#include "test.h"

#include "case/case.h"

#include <math.h>

static const char *const bases[] = {"gauss", "lobatto", "radau", NULL};
static const char *const sides[] = {"left", "right", NULL};

static const eg_key some_keys[] = {
    {.section = "mesh",
     .name = "cells",
     .type = EG_KEY_INTEGERS,
     .required = true,
     .least = 1,
     .most = 1000000,
     .least_count = 1,
     .most_count = 3,
     .help = "Number of cells along each axis. One for all is not enough.",
     .example = "[16, 16]"},
    {.section = "mesh",
     .name = "low",
     .type = EG_KEY_REALS,
     .fallback = "[0, 0.5]",
     .unit = "m",
     .help = "Lower corner."},
    {.section = "mesh", .name = "periodic", .type = EG_KEY_BOOLEANS, .fallback = "false"},
    {.section = "mesh", .name = "sides", .type = EG_KEY_CHOICES, .choices = sides},
    {.section = "mesh", .name = "map", .type = EG_KEY_EXPRESSIONS, .most_count = 3},
    {.section = "mesh", .name = "tags", .type = EG_KEY_STRINGS},
    {.section = "space",
     .name = "degree",
     .type = EG_KEY_INTEGER,
     .fallback = "2",
     .most = 15,
     .help = "Degree of the polynomials."},
    {.section = "space",
     .name = "basis",
     .type = EG_KEY_CHOICE,
     .fallback = "\"lobatto\"",
     .choices = bases},
    {.section = "time",
     .name = "end",
     .type = EG_KEY_REAL,
     .least = 0x1p-1022,
     .most = INFINITY,
     .unit = "s"},
    {.section = "time", .name = "adapt", .type = EG_KEY_BOOLEAN, .fallback = "true"},
    {.section = "initial",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .example = "u = \"sin(pi*x)\"",
     .help = "A field."},
    {.section = "boundary.*",
     .name = "type",
     .type = EG_KEY_STRING,
     .required = true,
     .example = "\"wall\""},
    {.section = "boundary.*", .name = "value", .type = EG_KEY_EXPRESSION, .fallback = "\"0*x\""},
    {.section = "boundary.all", .name = "value", .type = EG_KEY_REAL},
    {.section = "output.picture", .name = "width", .type = EG_KEY_INTEGER, .fallback = "800"},
    {0}};

static const eg_key *const tables[] = {eg_case_keys, some_keys};

static eg_status open_with(eg_context *ctx, const char *text, const char *const *overrides,
                           size_t override_count, eg_case **out)
{
    eg_case_options options = {.overrides = overrides,
                               .override_count = override_count,
                               .tables = tables,
                               .table_count = EG_COUNT(tables)};
    return eg_case_open_text(ctx, "flow.toml", text, strlen(text), &options, out);
}

static const char full[] = "model = 'project'\n"
                           "[constants]\n"
                           "k = 0x0_2\n"
                           "w = \"k*pi\"\n"
                           "[mesh]\n"
                           "cells = [4, 5]\n"
                           "periodic = [true, false]\n"
                           "sides = [\"right\"]\n"
                           "map = [\"x + k\", 3, 1_0.5]\n"
                           "tags = \"one\"\n"
                           "[time]\n"
                           "end = 3\n"
                           "[initial]\n"
                           "u = \"sin(w*x) + t\"\n"
                           "v = 1.5\n"
                           "[boundary.left]\n"
                           "type = \"wall\"\n"
                           "[boundary.\"far field.1\"]\n"
                           "type = \"open\"\n"
                           "value = \"y\"\n";

static void test_case__values_of_every_type_are_read(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_case *cas = NULL;
    char text[sizeof full];
    memcpy(text, full, sizeof full);
    TEST_OK(ctx, open_with(ctx, text, NULL, 0, &cas));
    memset(text, '#', sizeof text); /* the case keeps its own copy */
    assert_string_equal(eg_case_string(cas, "model"), "project");
    assert_null(eg_case_string(cas, "title"));
    assert_int_equal(eg_case_count(cas, "mesh.cells"), 2);
    assert_int_equal(eg_case_integer_at(cas, "mesh.cells", 0), 4);
    assert_int_equal(eg_case_integer_at(cas, "mesh.cells", 1), 5);
    assert_true(eg_case_boolean_at(cas, "mesh.periodic", 0));
    assert_false(eg_case_boolean_at(cas, "mesh.periodic", 1));
    assert_int_equal(eg_case_choice_at(cas, "mesh.sides", 0), 1);
    assert_string_equal(eg_case_string_at(cas, "mesh.sides", 0), "right");
    assert_int_equal(eg_case_count(cas, "mesh.tags"), 1);
    assert_string_equal(eg_case_string_at(cas, "mesh.tags", 0), "one");
    assert_true(eg_case_real(cas, "time.end") == 3.0);
    const double at[EG_VARIABLE_COUNT] = {0.25, 7, 8, 10};
    assert_true(eg_expression_evaluate(eg_case_expression_at(cas, "mesh.map", 0), at) == 2.25);
    assert_true(eg_expression_evaluate(eg_case_expression_at(cas, "mesh.map", 1), at) == 3);
    assert_true(eg_expression_evaluate(eg_case_expression_at(cas, "mesh.map", 2), at) == 10.5);
    assert_true(eg_expression_evaluate(eg_case_expression(cas, "initial.u"), at) == 11);
    assert_true(eg_expression_evaluate(eg_case_expression(cas, "initial.v"), at) == 1.5);
    assert_string_equal(eg_case_string(cas, "initial.u"), "sin(w*x) + t");
    assert_null(eg_case_expression(cas, "initial.w"));
    eg_case_close(&cas);
    assert_null(cas);
    eg_case_close(&cas);
    test_context_free(&ctx);
}

static const char least[] = "model = 'm'\nmesh.cells = 3\n";

static void test_case__keys_that_are_not_given_have_their_fallback(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_case *cas = NULL;
    TEST_OK(ctx, open_with(ctx, least, NULL, 0, &cas));
    assert_int_equal(eg_case_integer_at(cas, "mesh.cells", 0), 3);
    assert_true(eg_case_given(cas, "mesh.cells"));
    assert_int_equal(eg_case_integer(cas, "space.degree"), 2);
    assert_false(eg_case_given(cas, "space.degree"));
    assert_true(eg_case_has(cas, "space.degree"));
    assert_false(eg_case_has(cas, "time.end"));
    assert_int_equal(eg_case_choice(cas, "space.basis"), 1);
    assert_int_equal(eg_case_count(cas, "mesh.low"), 2);
    assert_true(eg_case_real_at(cas, "mesh.low", 0) == 0.0);
    assert_true(eg_case_real_at(cas, "mesh.low", 1) == 0.5);
    assert_int_equal(eg_case_count(cas, "mesh.tags"), 0);
    assert_true(eg_case_boolean(cas, "time.adapt"));
    assert_int_equal(eg_case_integer(cas, "output.picture.width"), 800);
    assert_null(eg_case_name_at(cas, "initial", 0));
    eg_case_close(&cas);
    test_context_free(&ctx);
}

static void test_case__both_ends_of_a_range_belong_to_it(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_case *cas = NULL;
    TEST_OK(ctx, open_with(ctx, "model = 'm'\nspace.degree = 15\nmesh.cells = [1, 1000000]\n", NULL,
                           0, &cas));
    eg_case_close(&cas);
    TEST_OK(ctx, open_with(ctx, "model = 'm'\nspace.degree = 0\nmesh.cells = 1\n", NULL, 0, &cas));
    eg_case_close(&cas);
    test_context_free(&ctx);
}

static void test_case__a_name_goes_before_a_star(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_case *cas = NULL;
    TEST_OK(ctx, open_with(ctx, "model = 'm'\nmesh.cells = 1\n[boundary.all]\ntype = 'w'\n", NULL,
                           0, &cas));
    assert_false(eg_case_has(cas, "boundary.all.value")); /* the star's fallback is not its */
    assert_null(eg_case_name_at(cas, "boundary", 0));
    eg_case_close(&cas);
    test_context_free(&ctx);
}

static void test_case__names_for_stars_come_in_the_order_of_the_file(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_case *cas = NULL;
    const char *const overrides[] = {"boundary.right.type=wall", "initial.u=1", "initial.w=2",
                                     "mesh.map=x"};
    TEST_OK(ctx, open_with(ctx, full, overrides, EG_COUNT(overrides), &cas));
    assert_string_equal(eg_case_name_at(cas, "initial", 0), "u");
    assert_string_equal(eg_case_name_at(cas, "initial", 1), "v");
    assert_string_equal(eg_case_name_at(cas, "initial", 2), "w");
    assert_null(eg_case_name_at(cas, "initial", 3));
    assert_string_equal(eg_case_name_at(cas, "boundary", 0), "left");
    assert_string_equal(eg_case_name_at(cas, "boundary", 1), "far field.1");
    assert_string_equal(eg_case_name_at(cas, "boundary", 2), "right");
    assert_null(eg_case_name_at(cas, "boundary", 3));
    assert_null(eg_case_name_at(cas, "mesh", 0));
    assert_string_equal(eg_case_string(cas, "boundary.left.value"), "0*x");
    assert_false(eg_case_given(cas, "boundary.left.value"));
    assert_string_equal(eg_case_string(cas, "boundary.far field.1.value"), "y");
    assert_string_equal(eg_case_string(cas, "boundary.right.type"), "wall");
    assert_false(eg_case_has(cas, "boundary.top.type"));
    eg_case_close(&cas);
    test_context_free(&ctx);
}

static void test_case__overrides_take_values_and_bare_strings_and_the_last_counts(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_case *cas = NULL;
    const char *const overrides[] = {"model=other",
                                     "title = 2024",
                                     "mesh.cells=[9,8,7]",
                                     "mesh.low=0.25",
                                     "mesh.sides=[left, \"right\"]",
                                     "mesh.map=[min(x, y), \"a,b\" , 'z']",
                                     "mesh.map=[min(x, y), 2*z]",
                                     "mesh.tags=[a b, true, 1]",
                                     "space.degree=4",
                                     "space.degree=5",
                                     "space.basis=gauss",
                                     "initial.u=sin(w*x)",
                                     "initial.v='2*x'",
                                     "initial.q=1e2",
                                     "constants.k=3",
                                     "constants.late=w + 1",
                                     "boundary.\"far field.1\".type=wall",
                                     "time={end=2.5, adapt=false}"};
    TEST_OK(ctx, open_with(ctx, full, overrides, EG_COUNT(overrides), &cas));
    assert_string_equal(eg_case_string(cas, "model"), "other");
    assert_string_equal(eg_case_string(cas, "title"), "2024");
    assert_int_equal(eg_case_count(cas, "mesh.cells"), 3);
    assert_int_equal(eg_case_integer_at(cas, "mesh.cells", 2), 7);
    assert_int_equal(eg_case_count(cas, "mesh.low"), 1);
    assert_true(eg_case_real_at(cas, "mesh.low", 0) == 0.25);
    assert_int_equal(eg_case_choice_at(cas, "mesh.sides", 0), 0);
    assert_int_equal(eg_case_choice_at(cas, "mesh.sides", 1), 1);
    assert_int_equal(eg_case_count(cas, "mesh.map"), 2);
    assert_string_equal(eg_case_string_at(cas, "mesh.map", 0), "min(x, y)");
    assert_string_equal(eg_case_string_at(cas, "mesh.map", 1), "2*z");
    assert_int_equal(eg_case_count(cas, "mesh.tags"), 3);
    assert_string_equal(eg_case_string_at(cas, "mesh.tags", 0), "a b");
    assert_string_equal(eg_case_string_at(cas, "mesh.tags", 1), "true");
    assert_string_equal(eg_case_string_at(cas, "mesh.tags", 2), "1");
    assert_int_equal(eg_case_integer(cas, "space.degree"), 5);
    assert_int_equal(eg_case_choice(cas, "space.basis"), 0);
    assert_string_equal(eg_case_string(cas, "initial.u"), "sin(w*x)");
    assert_string_equal(eg_case_string(cas, "initial.v"), "2*x");
    assert_string_equal(eg_case_string(cas, "initial.q"), "1e2");
    assert_string_equal(eg_case_string(cas, "boundary.far field.1.type"), "wall");
    assert_true(eg_case_real(cas, "time.end") == 2.5);
    assert_false(eg_case_boolean(cas, "time.adapt"));
    /* k is replaced where it stands: w, below it, follows. */
    const double at[EG_VARIABLE_COUNT] = {0.5, 0, 0, 0};
    double u = eg_expression_evaluate(eg_case_expression(cas, "initial.u"), at);
    assert_true(fabs(u - -1.0) < 1e-14);
    double late = eg_expression_evaluate(eg_case_expression(cas, "constants.late"), at);
    assert_true(fabs(late - (3 * acos(-1.0) + 1)) < 1e-14);
    eg_case_close(&cas);
    test_context_free(&ctx);
}

static void test_case__without_its_own_keys_a_case_still_knows_constants(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_case *cas = NULL;
    const eg_key *const mine[] = {some_keys};
    const char *const overrides[] = {"mesh.cells=4", "constants.a=2", "mesh.map=[a*x]"};
    eg_case_options options = {overrides, EG_COUNT(overrides), mine, 1};
    TEST_OK(ctx, eg_case_open_text(ctx, "mesh", "", 0, &options, &cas));
    assert_true(eg_expression_uses(eg_case_expression_at(cas, "mesh.map", 0), EG_VARIABLE_X));
    const double at[EG_VARIABLE_COUNT] = {5, 7, 11, 13};
    eg_expression *composed = NULL;
    TEST_OK(ctx, eg_case_compose(cas, "(a*x)*t + y - z", &composed));
    assert_true(eg_expression_evaluate(composed, at) == 2 * 5 * 13 + 7 - 11);
    eg_expression_destroy(&composed);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "b", eg_case_compose(cas, "b*x", &composed));
    assert_null(composed);
    eg_case_close(&cas);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "unknown key \"model\"",
               eg_case_open_text(ctx, "mesh", "model = 'm'", 11, &options, &cas));
    assert_null(cas);
    test_context_free(&ctx);
}

static void test_case__a_file_is_read_with_its_model(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    char directory[PATH_MAX], path[PATH_MAX + 16], *model = NULL;
    const char *const models[] = {"other", "project", NULL};
    const char *const overrides[] = {"mesh.cells=[1", "model=other", "initial.u=sin("};
    eg_case_options options = {.tables = tables, .table_count = EG_COUNT(tables)};
    eg_case *cas = NULL;
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/c.toml", directory);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "c.toml", eg_case_open(ctx, path, &options, &cas));
    static const char text[] = "model = \"project\"\nunknown = 1\n";
    TEST_OK(ctx, eg_file_write_atomic(ctx, path, text, strlen(text), 0600, false));
    TEST_OK(ctx, eg_case_read_model(ctx, path, text, strlen(text), &options, models, &model));
    assert_string_equal(model, "project");
    eg_release(ctx, &model);
    options.overrides = overrides;
    options.override_count = EG_COUNT(overrides);
    TEST_OK(ctx, eg_case_read_model(ctx, path, text, strlen(text), &options, models, &model));
    assert_string_equal(model, "other");
    eg_release(ctx, &model);
    options.override_count = 0;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "c.toml:2:1: error: unknown key \"unknown\"",
               eg_case_open(ctx, path, &options, &cas));
    test_directory_remove(directory);
    test_context_free(&ctx);
}

static eg_status describe(eg_context *ctx, const char *key, eg_text *text)
{
    eg_text_clear(text);
    return eg_case_describe(ctx, tables, EG_COUNT(tables), key, text);
}

#define CONTAINS(text, part)                                                                       \
    do {                                                                                           \
        if (!strstr(eg_text_string(text), (part)))                                                 \
            fail_msg("\"%s\" lacks \"%s\"", eg_text_string(text), (part));                         \
    } while (0)

static void test_describe__a_key_says_all_its_row_says(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, describe(ctx, "mesh.cells", &text));
    assert_string_equal(eg_text_string(&text),
                        "mesh.cells\n"
                        "  Number of cells along each axis. One for all is not enough.\n"
                        "\n"
                        "  type      array of 1 to 3 integers\n"
                        "  range     from 1 to 1000000\n"
                        "  default   none: it must be given\n"
                        "\n"
                        "  [mesh]\n"
                        "  cells = [16, 16]\n");
    TEST_OK(ctx, describe(ctx, "basis", &text));
    CONTAINS(&text, "space.basis\n");
    CONTAINS(&text, "  one of    \"gauss\", \"lobatto\", \"radau\"\n");
    CONTAINS(&text, "  default   \"lobatto\"\n");
    TEST_OK(ctx, describe(ctx, "time.end", &text));
    CONTAINS(&text, "  range     greater than 0\n");
    CONTAINS(&text, "  unit      s\n");
    TEST_OK(ctx, describe(ctx, "boundary.left.type", &text));
    CONTAINS(&text, "boundary.NAME.type\n");
    TEST_OK(ctx, describe(ctx, "initial.u", &text));
    CONTAINS(&text, "  [initial]\n  u = \"sin(pi*x)\"\n");
    TEST_OK(ctx, describe(ctx, "model", &text));
    CONTAINS(&text, "must be given");
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_describe__ranges_are_put_into_words(void **state)
{
    (void)state;
    static const struct {
        double least, most;
        const char *words;
    } ranges[] = {
        {1, 9007199254740991.0, "  range     from 1 to 9007199254740991\n"},
        {-0.25, 1e20, "  range     from -0.25 to 1e+20\n"},
        {0, INFINITY, "  range     at least 0\n"},
        {-INFINITY, 2.5, "  range     at most 2.5\n"},
        {0x1p-1022, 7, "  range     greater than 0 and at most 7\n"},
        {0x1p-1022, INFINITY, "  range     greater than 0\n"},
    };
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    for (size_t i = 0; i < EG_COUNT(ranges); i++) {
        const eg_key rows[] = {{.section = "s",
                                .name = "k",
                                .type = EG_KEY_REAL,
                                .least = ranges[i].least,
                                .most = ranges[i].most},
                               {0}};
        const eg_key *const one[] = {rows};
        eg_text_clear(&text);
        TEST_OK(ctx, eg_case_describe(ctx, one, 1, "s.k", &text));
        CONTAINS(&text, ranges[i].words);
    }
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_describe__sections_list_their_keys_and_wrong_topics_suggest(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, describe(ctx, "mesh", &text));
    CONTAINS(&text, "[mesh]\n  cells     Number of cells along each axis\n");
    TEST_OK(ctx, describe(ctx, "[space]", &text));
    CONTAINS(&text, "[space]\n  degree  Degree of the polynomials\n");
    TEST_OK(ctx, describe(ctx, "boundary", &text));
    CONTAINS(&text, "  [boundary.NAME]    type value\n");
    TEST_OK(ctx, describe(ctx, "", &text));
    CONTAINS(&text, "  [mesh]             cells low periodic sides map tags\n");
    CONTAINS(&text, "  model ");
    TEST_FAILS(ctx, EG_ERROR_INPUT, "did you mean \"mesh.cells\"?",
               describe(ctx, "mesh.cels", &text));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "did you mean \"degree\"?", describe(ctx, "degre", &text));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "did you mean \"space\"?", describe(ctx, "spce", &text));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "no section or key \"\xef\xbf\xbd[31m\"",
               describe(ctx, "\x1b[31m", &text));
    eg_text_free(&text);
    test_context_free(&ctx);
}

/* Removes "# " before every line that holds a key or header. */
static void uncomment(char *text)
{
    char *to = text;
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        char *equals = strstr(line, " = "), *blank = strchr(line + 2, ' ');
        bool key = equals && equals < line + length && blank == equals;
        if (line[0] == '#' && (line[2] == '[' || key)) {
            line += 2;
            length -= 2;
        }
        memmove(to, line, length);
        to += length;
        line += length;
    }
    *to = '\0';
}

static void test_template__is_a_case_as_it_is_and_with_every_line_uncommented(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    eg_case *cas = NULL;
    /* Keys with neither fallback nor example cannot be shown as they would stand. */
    eg_key shown[EG_COUNT(some_keys)];
    size_t count = 0;
    for (const eg_key *row = some_keys; row->name; row++)
        if (row->fallback || row->example) shown[count++] = *row;
    shown[count] = (eg_key){0};
    const eg_key *const templates[] = {eg_case_keys, shown};
    TEST_OK(ctx, eg_case_template(ctx, templates, 2, "project", "A test.", NULL, &text));
    CONTAINS(&text, "# A test.\n#\n");
    CONTAINS(&text, "\nmodel = \"project\"\n");
    CONTAINS(&text, "\n# Degree of the polynomials. (integer, from 0 to 15)\n# degree = 2\n");
    CONTAINS(&text, "\ncells = [16, 16]\n");
    CONTAINS(&text, "\n# [boundary.NAME]\n");
    TEST_OK(ctx, open_with(ctx, eg_text_string(&text), NULL, 0, &cas));
    assert_false(eg_case_given(cas, "space.degree"));
    eg_case_close(&cas);
    uncomment(text.data);
    TEST_OK(ctx, open_with(ctx, eg_text_string(&text), NULL, 0, &cas));
    assert_true(eg_case_given(cas, "space.degree"));
    assert_string_equal(eg_case_name_at(cas, "initial", 0), "u");
    assert_string_equal(eg_case_string(cas, "boundary.NAME.type"), "wall");
    eg_case_close(&cas);
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_template__has_the_values_of_a_sample(void **state)
{
    (void)state;
    static const char *const sample[] = {"space.degree=5", "initial.v=\"x + 1\"",
                                         "mesh.cells=[4, 4]", "initial.w=\"y\"", NULL};
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, eg_case_template(ctx, tables, EG_COUNT(tables), "project", "A.", sample, &text));
    CONTAINS(&text, "(integer, from 0 to 15)\ndegree = 5\n");
    CONTAINS(&text, "\ncells = [4, 4]\n");
    CONTAINS(&text, "\nv = \"x + 1\"\nw = \"y\"\n");
    assert_null(strstr(eg_text_string(&text), "cells = [16, 16]"));
    assert_null(strstr(eg_text_string(&text), "degree = 2"));
    eg_text_free(&text);
    test_context_free(&ctx);
}

static void test_reference__has_a_table_for_every_section(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, eg_case_reference(ctx, tables, EG_COUNT(tables), &text));
    CONTAINS(&text, "## Top of the file\n\n| key |");
    CONTAINS(&text, "\n## `[mesh]`\n\n| key | value | default | meaning |\n|---|---|---|---|\n"
                    "| `cells` | array of 1 to 3 integers, each from 1 to 1000000 | required | ");
    CONTAINS(&text, "\n## `[boundary.NAME]`\n");
    CONTAINS(&text,
             "| `basis` | string, one of \"gauss\", \"lobatto\", \"radau\" | `\"lobatto\"` |");
    eg_text_free(&text);
    test_context_free(&ctx);
}

static eg_status use_all(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_case *cas = NULL;
    eg_text text = eg_text_new(ctx);
    const char *const overrides[] = {"mesh.map=[x, min(x, 1)]", "initial.w=2*x", "title=a"};
    EG_TRY(open_with(ctx, full, overrides, EG_COUNT(overrides), &cas));
    EG_TRY(eg_case_describe(ctx, tables, EG_COUNT(tables), "", &text));
    EG_TRY(eg_case_describe(ctx, tables, EG_COUNT(tables), "mesh.cells", &text));
    EG_TRY(eg_case_template(ctx, tables, EG_COUNT(tables), "m", "about", NULL, &text));
    EG_TRY(eg_case_reference(ctx, tables, EG_COUNT(tables), &text));
done:
    eg_text_free(&text);
    eg_case_close(&cas);
    return status;
}

/* Failures allocate, too: a suggestion must not hide that memory is out, nor lose any. */
static eg_status fail_all(eg_context *ctx, void *user)
{
    (void)user;
    static const char *const texts[] = {"model = 'm'\n[meshh]\n",
                                        "model = 'm'\n[mesh]\nlow = 'x'",
                                        "model = 'm'\n[space]\nbasis = 'x'",
                                        "model = 'm'\n[space]\n",
                                        "model = 'm'\nmesh.cells = 0\n",
                                        "model = 'm'\nmesh.cells = []\n",
                                        "model = 'm'\nmesh.cells = 1\ninitial.u = 'sin(q)'\n"};
    for (size_t i = 0; i < EG_COUNT(texts); i++) {
        eg_case *cas = NULL;
        eg_status status = open_with(ctx, texts[i], NULL, 0, &cas);
        if (status != EG_ERROR_INPUT) return status == EG_OK ? EG_ERROR_ARGUMENT : status;
    }
    return EG_OK;
}

static void test_case__a_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    test_allocation_sweep(use_all, NULL);
    test_allocation_sweep(fail_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case__values_of_every_type_are_read),
        cmocka_unit_test(test_case__keys_that_are_not_given_have_their_fallback),
        cmocka_unit_test(test_case__both_ends_of_a_range_belong_to_it),
        cmocka_unit_test(test_case__a_name_goes_before_a_star),
        cmocka_unit_test(test_case__names_for_stars_come_in_the_order_of_the_file),
        cmocka_unit_test(test_case__overrides_take_values_and_bare_strings_and_the_last_counts),
        cmocka_unit_test(test_case__without_its_own_keys_a_case_still_knows_constants),
        cmocka_unit_test(test_case__a_file_is_read_with_its_model),
        cmocka_unit_test(test_describe__a_key_says_all_its_row_says),
        cmocka_unit_test(test_describe__ranges_are_put_into_words),
        cmocka_unit_test(test_describe__sections_list_their_keys_and_wrong_topics_suggest),
        cmocka_unit_test(test_template__is_a_case_as_it_is_and_with_every_line_uncommented),
        cmocka_unit_test(test_template__has_the_values_of_a_sample),
        cmocka_unit_test(test_reference__has_a_table_for_every_section),
        cmocka_unit_test(test_case__a_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
