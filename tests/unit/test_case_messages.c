/* What a wrong case says: file, line, column, a phrase of the message; and what the caret points
 * at, also with tabs, other scripts and long lines. */
#include "test.h"

#include "case/case.h"

#include <math.h>

static const char *const bases[] = {"gauss", "lobatto", NULL};

static const eg_key some_keys[] = {
    {.section = "mesh",
     .name = "cells",
     .type = EG_KEY_INTEGERS,
     .required = true,
     .least = 1,
     .most = INFINITY,
     .least_count = 1,
     .most_count = 3,
     .help = "Number of cells along each axis.",
     .example = "[16, 16]"},
    {.section = "mesh", .name = "low", .type = EG_KEY_REALS, .least_count = 2, .most_count = 2},
    {.section = "mesh", .name = "file", .type = EG_KEY_STRING},
    {.section = "mesh", .name = "tags", .type = EG_KEY_STRINGS},
    {.section = "space", .name = "degree", .type = EG_KEY_INTEGER, .fallback = "2", .most = 15},
    {.section = "space",
     .name = "basis",
     .type = EG_KEY_CHOICE,
     .fallback = "\"gauss\"",
     .choices = bases},
    {.section = "time", .name = "end", .type = EG_KEY_REAL, .least = 0x1p-1022, .most = INFINITY},
    {.section = "time", .name = "cfl", .type = EG_KEY_REAL, .least = 0.1, .most = 2.5, .unit = "s"},
    {.section = "time", .name = "adapt", .type = EG_KEY_BOOLEAN},
    {.section = "initial", .name = "*", .type = EG_KEY_EXPRESSION},
    {.section = "boundary.*",
     .name = "type",
     .type = EG_KEY_CHOICE,
     .required = true,
     .choices = bases,
     .help = "What happens there."},
    {.section = "boundary.*", .name = "value", .type = EG_KEY_EXPRESSIONS},
    {.section = "solver.multigrid", .name = "levels", .type = EG_KEY_INTEGER},
    {0}};

static const eg_key *const tables[] = {eg_case_keys, some_keys};

static eg_status open_with(eg_context *ctx, const char *text, const char *override, eg_case **out)
{
    eg_case_options options = {.overrides = &override,
                               .override_count = override != NULL,
                               .tables = tables,
                               .table_count = EG_COUNT(tables)};
    return eg_case_open_text(ctx, "flow.toml", text, strlen(text), &options, out);
}

/* Opens a case that must fail with a message that begins and contains as said. */
static void expect(eg_context *ctx, const char *text, const char *override, const char *begins,
                   const char *contains)
{
    eg_case *cas = NULL;
    eg_status status = open_with(ctx, text, override, &cas);
    const char *message = eg_context_error(ctx);
    if (status != EG_ERROR_INPUT)
        fail_msg("%s\nshould be wrong input but is \"%s\": %s", text, eg_status_text(status),
                 message);
    assert_null(cas);
    if (strncmp(message, begins, strlen(begins)) != 0 || !strstr(message, contains))
        fail_msg("%s\nthe message should begin with \"%s\" and contain \"%s\" but is:\n%s", text,
                 begins, contains, message);
}

/* The line that holds every wrong one but for what is wrong. */
#define M "model = 'm'\nmesh.cells = 4\n"

static const struct {
    const char *text, *where, *message;
} wrong[] = {
    /* unknown names */
    {M "[space]\ndegre = 4\n", "4:1", "unknown key \"degre\" in [space]; did you mean \"degree\"?"},
    {M "modell = 1\n", "3:1",
     "unknown key \"modell\" at the top of the case; did you mean \"model\"?"},
    {M "[spaec]\n", "3:2", "unknown section [spaec]; did you mean [space]?"},
    {M "[qqqqqq]\n", "3:2", "unknown section [qqqqqq]; there are [constants], [mesh], [space]"},
    {M "[space]\nqqqqqq = 1\n", "4:1", "its keys are \"degree\", \"basis\""},
    {M "[time]\ndegree = 4\n", "4:1", "unknown key \"degree\" in [time]; it belongs to [space]"},
    {M "[time]\ntitle = 4\n", "4:1", "it belongs to the top of the case"},
    {M "[solver.multigird]\n", "3:9", "did you mean [solver.multigrid]?"},
    {M "[space.more]\n", "3:8", "unknown section [space.more]"},
    {M "[a.b.c.d.e.f.g.h.i]\n", "3:2", "unknown section [a]"},
    {M "[boundary.left]\ntype='gauss'\nkind = 1\n", "5:1",
     "unknown key \"kind\" in [boundary.left]"},
    {M "[mesh.more]\nx = 1\n", "3:7", "unknown section [mesh.more]"},
    /* types */
    {M "[space]\ndegree = \"4\"\n", "4:10", "degree: expected an integer, got a string"},
    {M "[space]\ndegree = 4.0\n", "4:10",
     "degree: expected an integer, got a real number; write it without a decimal point"},
    {M "[space]\ndegree = [4]\n", "4:10", "degree: expected an integer, got an array"},
    {M "[space]\ndegree = true\n", "4:10", "degree: expected an integer, got a boolean"},
    {M "[space.degree]\n", "3:8", "degree: expected an integer, got a table"},
    {M "[space]\nbasis = 1\n", "4:9",
     "basis: expected a string, got an integer; write it in quotes"},
    {M "[time]\nend = 'soon'\n", "4:7", "end: expected a real number, got a string"},
    {M "[time]\nadapt = 1\n", "4:9", "adapt: expected a boolean, got an integer"},
    {M "[initial]\nu = true\n", "4:5", "u: expected a number or expression, got a boolean"},
    {M "[initial]\nu = inf\n", "4:5", "must be finite"},
    {M "mesh.low = [1, 'a']\n", "3:16", "a value of low: expected a real number, got a string"},
    {M "mesh.low = [1, [2]]\n", "3:16", "a value of low: expected a real number, got an array"},
    {M "[[mesh.low]]\n", "3:8", "low: expected an array of 2 real numbers, got an array of tables"},
    {"model = 'm'\n[[mesh]]\ncells = 4\n", "2:3", "[mesh] is a section and is written once"},
    {"model = 'm'\nmesh = 4\n", "2:1", "\"mesh\" is a section, not a key"},
    {M "[[initial.u]]\n", "3:11", "u: expected a number or expression, got an array of tables"},
    {"model = 4\nmesh.cells = 4\n", "1:9", "model: expected a string, got an integer"},
    /* ranges, counts, choices */
    {M "[space]\ndegree = 20\n", "4:10", "degree is 20, must be from 0 to 15"},
    {M "[space]\ndegree = -1\n", "4:10", "degree is -1, must be from 0 to 15"},
    {"model = 'm'\nmesh.cells = [4, 0]\n", "2:18", "value 2 of cells is 0, must be at least 1"},
    {M "[time]\nend = 0\n", "4:7", "end is 0, must be greater than 0"},
    {M "[time]\nend = nan\n", "4:7", "end is nan, must be greater than 0"},
    {M "[time]\ncfl = 2.6\n", "4:7", "cfl is 2.6, must be from 0.1 to 2.5 s"},
    {M "mesh.low = [nan, 0]\n", "3:13", "value 1 of low is nan, must be a number"},
    {"model = 'm'\nmesh.cells = []\n", "2:14", "cells has 0 values, must have 1 to 3"},
    {"model = 'm'\nmesh.cells = [1,2,3,4]\n", "2:14", "cells has 4 values, must have 1 to 3"},
    {M "mesh.low = 1\n", "3:12", "low has 1 value, must have 2"},
    {M "[space]\nbasis = \"gaus\"\n", "4:9",
     "basis is \"gaus\", must be one of \"gauss\", \"lobatto\"; did you mean \"gauss\"?"},
    /* missing */
    {"model = 'm'\n[mesh]\nlow = [0, 0]\n", "2:1",
     "the key \"cells\" is missing in [mesh]: an array of 1 to 3 integers, for example cells = "
     "[16, 16]. Number of cells along each axis."},
    {M "[boundary.left]\n", "3:1", "the key \"type\" is missing in [boundary.left]"},
    /* expressions and constants */
    {M "[initial]\nu = \"sin(x\"\n", "4:9", "this bracket is never closed"},
    {M "[initial]\nu = \"1 + foo\"\n", "4:10", "there is no name 'foo'"},
    {M "[initial]\nu = '''\nx +\n  sinn(x)'''\n", "6:3", "did you mean 'sin'?"},
    {M "[initial]\nu = \"x +\\t\\u0066oo\"\n", "4:5", "there is no name 'foo'"},
    {M "[initial]\nu = \"foo +\\t1\"\n", "4:6", "there is no name 'foo'"},
    {M "[initial]\nu = \"\"\n", "4:6", "the expression is empty"},
    {M "[constants]\nomega = 1\n[initial]\nu = \"sin(omgea*x)\"\n", "6:10",
     "did you mean 'omega'?"},
    {M "[boundary.a]\ntype = 'gauss'\nvalue = [1, 'x*']\n", "5:16", "a value is expected"},
    {M "[constants]\na = \"2*b\"\nb = 1\n", "4:8", "the constant \"b\" is not known yet"},
    {M "[constants]\na = \"2*a\"\n", "4:8", "the constant \"a\" is not known yet"},
    {M "[constants]\na = \"2*x\"\n", "4:8", "a constant cannot depend on x, y, z or t"},
    {M "[constants]\nsin = 1\n", "4:1",
     "\"sin\" cannot name a constant: in expressions it is a function"},
    {M "[constants]\npi = 3\n", "4:1", "in expressions it is the number pi"},
    {M "[constants]\nt = 1\n", "4:1", "in expressions it is a coordinate or the time"},
    {M "[constants]\n1a = 1\n", "4:1", "\"1a\" cannot name a constant: names are of letters"},
    {M "[constants]\n\"\xc3\xa9\" = 1\n", "4:1", "cannot name a constant: names are of letters"},
    {M "[constants]\na = \"1/0\"\n", "4:5", "the value of \"a\" is inf; a constant must be finite"},
    {M "[constants]\na = [1]\n", "4:5", "a: expected a number or expression, got an array"},
    /* text and syntax */
    {M "title = \"a\\u0000b\"\n", "3:9", "a string cannot hold the character U+0000"},
    {M "[initial]\n\"\" = 1\n", "4:1", "a name cannot be empty"},
    {M "[initial]\n\"u\\u0000\" = 1\n", "4:1", "a name cannot hold the character U+0000"},
    {M "mesh.cells = 5\n", "3:6", "\"cells\" is given twice; the first is in line 2, column 6"},
    {M "title = \"caf\xe9\"\n", "3:13", "is not UTF-8"},
    {M "mesh.low = [1, 2\n", "3:12", "the array that begins here is not closed"},
    {M "[space]\nbasis = gauss\n", "4:9", "strings stand in quotes: \"gauss\""},
    {M "[time]\nend = 2024-01-01\n", "4:7", "dates and times are not supported"},
};

static void test_messages__every_wrong_case_is_told_where_and_what(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        char begins[64];
        snprintf(begins, sizeof begins, "flow.toml:%s: error: ", wrong[i].where);
        expect(ctx, wrong[i].text, NULL, begins, wrong[i].message);
    }
    test_context_free(&ctx);
}

static void test_messages__what_is_missing_everywhere_names_the_file(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    expect(ctx, "model = 'm'\n", NULL, "flow.toml: error: the key \"cells\" is missing in [mesh]: ",
           "Number of cells along each axis.");
    expect(ctx, "mesh.cells = 3\n", NULL,
           "flow.toml: error: the key \"model\" is missing at the top of the case: a string, for "
           "example model = \"project\".",
           "");
    test_context_free(&ctx);
}

static const struct {
    const char *override, *message;
} wrong_overrides[] = {
    {"mesh.cells=[4", "mesh.cells=[4: error: the array that begins here is not closed by \"]\"\n"
                      "  command line | mesh.cells=[4\n"
                      "               |            ^"},
    {"space.degre=4", "space.degre=4: error: unknown key \"degre\" in [space]; did you mean "
                      "\"degree\"?\n"
                      "  command line | space.degre=4\n"
                      "               |       ^~~~~"},
    {"spac.degree=4", "spac.degree=4: error: unknown section [spac]; did you mean [space]?\n"
                      "  command line | spac.degree=4\n"
                      "               | ^~~~"},
    {"space.degree=20", "space.degree=20: error: degree is 20, must be from 0 to 15\n"
                        "  command line | space.degree=20\n"
                        "               |              ^~"},
    {"initial.u=sin(q)", "initial.u=sin(q): error: there is no name 'q'"},
    {"mesh", "mesh: error: expected section.key=value\n"
             "  command line | mesh\n"
             "               | ^~~~"},
    {"space.basis=gaus", "space.basis=gaus: error: basis is \"gaus\", must be one of \"gauss\", "
                         "\"lobatto\"; did you mean \"gauss\"?\n"
                         "  command line | space.basis=gaus\n"
                         "               |             ^~~~"},
    {"space.degree=four", "space.degree=four: error: degree: expected an integer, got a string"},
    {"space.degree=4 5", "space.degree=4 5: error: expected nothing behind the value"},
    {"space.basis=\"gauss", "the string that begins here is not closed"},
    {"mesh.tags=[a", "mesh.tags=[a: error: a is no value"},
    {"=4", "=4: error: expected a key"},
    {"space=4", "\"space\" is a section, not a key"},
    {"title=\x1b[31m", "the control character U+001B"},
    {"title=\xff", "is not UTF-8"},
    {"boundary.left.value=1", "the key \"type\" is missing in [boundary.left]"},
};

static void test_messages__overrides_are_shown_as_they_were_typed(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(wrong_overrides); i++)
        expect(ctx, M, wrong_overrides[i].override, "", wrong_overrides[i].message);
    expect(ctx, M, "initial.u=[min(x, q)]", "", "brackets are round");
    expect(ctx, M, "initial.u=[1, 2]", "", "u: expected a number or expression, got an array");
    expect(ctx, M, "boundary.a.value=[1, min(x, q)]", "", "the key \"type\" is missing");
    expect(ctx, M "boundary.a.type='gauss'", "boundary.a.value=[1, min(x, q)]", "",
           "  command line | boundary.a.value=[1, min(x, q)]\n"
           "               |                             ^");
    test_context_free(&ctx);
}

static void test_messages__the_caret_stands_under_the_place(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    expect(ctx, M "[space]\ndegre = 4\n", NULL,
           "flow.toml:4:1: error: unknown key \"degre\" in [space]; did you mean \"degree\"?\n"
           "  4 | degre = 4\n"
           "    | ^~~~~",
           "");
    /* Tabs are one column here and there. */
    expect(ctx, M "[space]\n\tdegree =\t20\t# much\n", NULL,
           "flow.toml:4:11: error: ", "\n  4 |  degree = 20 # much\n    |           ^~");
    /* Columns count characters; wide ones take two columns of the terminal. */
    expect(ctx,
           M "[boundary.\"\xc3\xa9t\xc3\xa9\"]\ntype = 'gauss'\n[boundary.\"\xe4\xb8\x96\"]\na=1\n",
           NULL, "flow.toml:6:1: ", "unknown key \"a\" in [boundary.\xe4\xb8\x96]");
    expect(ctx, M "[initial]\n\"\xc3\xa9\" = { }\n", NULL,
           "flow.toml:4:1: ", "\n  4 | \"\xc3\xa9\" = { }\n    | ^~~");
    expect(ctx, M "title = '\xc3\xa9\xe4\xb8\x96' x\n", NULL,
           "flow.toml:3:14: ", "\n  3 | title = '\xc3\xa9\xe4\xb8\x96' x\n    |               ^");
    expect(ctx, M "title = 'e\xcc\x81' x\n", NULL,
           "flow.toml:3:14: ", "\n  3 | title = 'e\xcc\x81' x\n    |             ^");
    /* The end of a line, with CR LF too. */
    expect(ctx, M "title =\r\n", NULL, "flow.toml:3:8: ", "\n  3 | title =\n    |        ^");
    expect(ctx, M "title =", NULL, "flow.toml:3:8: ", "\n  3 | title =\n    |        ^");
    /* What would disturb a terminal is replaced. */
    expect(ctx, M "title = 'a\x1b[31mb'", NULL,
           "flow.toml:3:11: ", "\n  3 | title = 'a\xef\xbf\xbd[31mb'\n    |           ^");
    expect(ctx, M "title = 'a\xffz'", NULL,
           "flow.toml:3:11: ", "\n  3 | title = 'a\xef\xbf\xbdz'\n    |           ^");
    test_context_free(&ctx);
}

static void test_messages__long_lines_are_cut_around_the_place(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    /* The place in the middle, at the start, and at the end of 600 columns. */
    for (int kind = 0; kind < 3; kind++) {
        eg_text_clear(&text);
        TEST_OK(ctx, eg_text_puts(&text, M "mesh.tags = ["));
        for (int i = 0; i < 60; i++)
            TEST_OK(ctx, eg_text_puts(&text, i == 30 * kind - (kind == 2) ? "WRONG45,  "
                                                                          : "\"345678\", "));
        TEST_OK(ctx, eg_text_puts(&text, "]\n"));
        expect(ctx, eg_text_string(&text), NULL, "flow.toml:3:", "WRONG45 is no value");
        const char *message = eg_context_error(ctx);
        const char *line = strstr(message, "\n  3 | "), *below = strstr(message, "\n    | ");
        assert_true(line && below);
        const char *place = strstr(line + 7, "WRONG"), *caret = strstr(below + 7, "^~~~~~~");
        assert_true(place && place < below && caret);
        size_t cut =
            strncmp(line + 7, "\xe2\x80\xa6", 3) == 0 ? 2 : 0; /* one column, three bytes */
        assert_int_equal(place - (line + 7) - (ptrdiff_t)cut, caret - (below + 7));
        assert_int_equal(cut > 0, kind > 0);
        assert_true(below - line < 100);
    }
    /* A name of any length cannot push the rest of the message out. */
    eg_text_clear(&text);
    TEST_OK(ctx, eg_text_puts(&text, M "[space]\n"));
    for (int i = 0; i < 20000; i++)
        TEST_OK(ctx, eg_text_puts(&text, "a"));
    TEST_OK(ctx, eg_text_puts(&text, " = 1\n"));
    expect(ctx, eg_text_string(&text), NULL, "flow.toml:4:1: error: unknown key \"aaaaaaaa",
           "aaa\xe2\x80\xa6\" in [space]; its keys are");
    assert_true(strlen(eg_context_error(ctx)) < 500);
    eg_text_free(&text);
    test_context_free(&ctx);
}

/* Functions that expressions know, as their parser lists them. */
static void test_messages__every_function_is_refused_as_a_constant(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_expression *expression = NULL;
    eg_expression_error error = {0};
    assert_int_equal(eg_expression_create(ctx, "qqqqqqqqqqqq(1)", NULL, 0, &error, &expression),
                     EG_ERROR_INPUT);
    char *list = strstr(error.message, " sin ");
    if (!list) fail_msg("no list of functions in \"%s\"", error.message);
    int count = 0;
    for (char *name = strtok(list, " "); name; name = strtok(NULL, " "), count++) {
        char text[128];
        snprintf(text, sizeof text, M "[constants]\n%s = 1\n", name);
        expect(ctx, text, NULL, "flow.toml:4:1: ", "in expressions it is a function");
    }
    assert_true(count >= 22);
    test_context_free(&ctx);
}

static void test_messages__callers_fail_at_values_elements_sections_and_names(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_case *cas = NULL;
    const char *const allowed[] = {"left", "right"};
    static const char text[] = "model = 'm'\n[mesh]\ncells = [4, 5]\n"
                               "[boundary.left]\ntype = 'gauss'\n[boundary.rihgt]\ntype = 'gauss'\n"
                               "[initial]\nu = 1\n";
    TEST_OK(ctx, open_with(ctx, text, "space.basis=gauss", &cas));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "flow.toml:3:13: error: 5 is odd\n",
               eg_case_fail(cas, "mesh.cells", 1, "%d is odd", 5));
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "flow.toml:3:9: error: all\n  3 | cells = [4, 5]\n"
               "    |         ^~~~~~",
               eg_case_fail(cas, "mesh.cells", -1, "all"));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "flow.toml:2:1: error: here\n  2 | [mesh]\n    | ^~~~~~",
               eg_case_fail(cas, "mesh", -1, "here"));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "flow.toml: error: space.degree: too low",
               eg_case_fail(cas, "space.degree", -1, "too low"));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "space.basis=gauss: error: no\n  command line | ",
               eg_case_fail(cas, "space.basis", -1, "no"));
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "flow.toml:6:11: error: there is no boundary \"rihgt\"; did you mean \"right\"? "
               "There are: \"left\", \"right\"\n  6 | [boundary.rihgt]\n    |           ^~~~~",
               eg_case_check_names(cas, "boundary", "boundary", allowed, 2));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "flow.toml:9:1: error: there is no field \"u\". There are none",
               eg_case_check_names(cas, "initial", "field", NULL, 0));
    const char *const fields[] = {"u"};
    TEST_OK(ctx, eg_case_check_names(cas, "initial", "field", fields, 1));
    eg_case_close(&cas);
    test_context_free(&ctx);
}

static void test_messages__a_wrong_model_lists_those_there_are(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const char *const models[] = {"advection", "project", NULL};
    char *model = NULL;
    eg_case_options options = {0};
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"model = 'projct'\n", "c.toml:1:9: error: there is no model \"projct\"; did you mean "
                               "\"project\"? There are \"advection\", \"project\"\n"},
        {"model = 'qqqqqqqqq'\n", "there is no model \"qqqqqqqqq\". There are"},
        {"# nothing\n", "c.toml: error: the key \"model\" is missing at the top of the case"},
        {"[model]\n", "c.toml:1:2: error: model: expected a string, got a table"},
        {"model = \n", "c.toml:1:9: error: a value is missing here"},
    };
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        const char *text = cases[i].text;
        TEST_FAILS(ctx, EG_ERROR_INPUT, cases[i].message,
                   eg_case_read_model(ctx, "c.toml", text, strlen(text), &options, models, &model));
        assert_null(model);
    }
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages__every_wrong_case_is_told_where_and_what),
        cmocka_unit_test(test_messages__what_is_missing_everywhere_names_the_file),
        cmocka_unit_test(test_messages__overrides_are_shown_as_they_were_typed),
        cmocka_unit_test(test_messages__the_caret_stands_under_the_place),
        cmocka_unit_test(test_messages__long_lines_are_cut_around_the_place),
        cmocka_unit_test(test_messages__every_function_is_refused_as_a_constant),
        cmocka_unit_test(test_messages__callers_fail_at_values_elements_sections_and_names),
        cmocka_unit_test(test_messages__a_wrong_model_lists_those_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
