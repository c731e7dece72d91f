/* What `eagre compare` compares: settings from the options and the case. */
#include "cli/compare.h"

#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- lists -------------------------------------------------------------------------------------- */

static bool entry_name(const char *text, char value[CLI_VALUE_BYTES])
{
    snprintf(value, CLI_VALUE_BYTES, "%s", text);
    return strlen(text) < EG_COMPARE_NAME;
}

static size_t count_choices(const eg_key *methods)
{
    size_t count = 0;
    while (methods->choices[count])
        count++;
    return count;
}

static eg_status unknown_scheme(const compare_study *s, const eg_key *methods, const char *option,
                                const char *given)
{
    const size_t count = count_choices(methods);
    const char *nearest = eg_nearest(given, methods->choices, count);
    char all[256] = "";
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s",
                 i == 0          ? ""
                 : i + 1 < count ? ", "
                                 : " and ",
                 methods->choices[i]);
    }
    return eg_fail(s->ctx, EG_ERROR_ARGUMENT,
                   "%s: the model \"%s\" has no scheme \"%s\"%s%s%s\nThere are %s.", option,
                   s->model->name, given, nearest ? "; did you mean \"" : "",
                   nearest ? nearest : "", nearest ? "\"?" : "", all);
}

/* --schemes, or all that the model has. */
static eg_status read_schemes(compare_study *s, const eg_key *methods)
{
    eg_status status = EG_OK;
    eg_text all = eg_text_new(s->ctx);
    for (size_t i = 0; methods->choices[i]; i++)
        EG_TRY(eg_text_printf(&all, "%s%s", i > 0 ? "," : "", methods->choices[i]));
    EG_TRY(cli_read_list(s->ctx, "--schemes",
                         s->options->schemes ? s->options->schemes : eg_text_string(&all),
                         entry_name, "the name of a scheme", &s->schemes));
    for (size_t i = 0; i < s->schemes.count; i++) {
        bool known = false;
        for (size_t k = 0; methods->choices[k]; k++)
            known = known || strcmp(methods->choices[k], s->schemes.text[i]) == 0;
        if (!known) EG_TRY(unknown_scheme(s, methods, "--schemes", s->schemes.text[i]));
    }
done:
    eg_text_free(&all);
    return status;
}

/* Replacements for one scheme are for one that is compared, and of nothing that is the same for all. */
static eg_status check_words(const compare_study *s, const eg_key *methods)
{
    static const char *const fixed[] = {"scheme.method", "space.degree", "mesh.", "time."};
    for (int i = 1; i < s->options->name_count; i++) {
        const char *word = s->options->names[i], *rest = compare_word(word, NULL);
        char name[EG_COMPARE_NAME];
        bool known = false;
        if (rest == word) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, ":"), word);
        for (size_t k = 0; methods->choices[k]; k++)
            known = known || strcmp(methods->choices[k], name) == 0;
        if (!known) return unknown_scheme(s, methods, word, name);
        for (size_t k = 0; k < EG_COUNT(fixed); k++)
            if (strncmp(rest, fixed[k], strlen(fixed[k])) == 0)
                return eg_fail(s->ctx, EG_ERROR_ARGUMENT,
                               "\"%s\": meshes and steps are not for one scheme alone", word);
        known = false;
        for (size_t k = 0; k < s->schemes.count; k++)
            known = known || strcmp(s->schemes.text[k], name) == 0;
        if (!known)
            return eg_fail(s->ctx, EG_ERROR_ARGUMENT, "\"%s\": it is for none of --schemes", word);
    }
    return EG_OK;
}

/* The case's own cells as they would stand in the list: one number where all axes have the same. */
static void describe_cells(const eg_case *cas, char text[CLI_ENTRY_BYTES])
{
    const size_t count = eg_case_count(cas, "mesh.cells");
    size_t used = 0;
    bool same = true;
    for (size_t i = 1; i < count; i++)
        same = same &&
               eg_case_integer_at(cas, "mesh.cells", i) == eg_case_integer_at(cas, "mesh.cells", 0);
    text[0] = '\0';
    for (size_t i = 0; i < (same && count > 0 ? 1 : count) && used < CLI_ENTRY_BYTES; i++)
        used += (size_t)snprintf(text + used, CLI_ENTRY_BYTES - used, "%s%" PRId64,
                                 i > 0 ? "x" : "", eg_case_integer_at(cas, "mesh.cells", i));
}

/* --cells, or the mesh of the case. */
static eg_status read_cells(compare_study *s)
{
    eg_status status = EG_OK;
    const char *given = s->options->cells;
    const bool from_file = eg_case_given(s->cas, "mesh.file");
    char own[CLI_ENTRY_BYTES] = "";
    if (given && from_file)
        return eg_fail(
            s->ctx, EG_ERROR_ARGUMENT,
            "--cells: the mesh of the case is read from a file, and is the only one that "
            "schemes are compared on; mesh.refine=1 makes it finer");
    if (from_file) {
        s->cells = (cli_list){.count = 1};
        return EG_OK;
    }
    if (given) EG_TRY(cli_check_not_replaced(s->ctx, s->options, "--cells", "mesh.cells"));
    describe_cells(s->cas, own);
    EG_TRY(cli_read_list(s->ctx, "--cells", given ? given : own, cli_entry_cells,
                         "a number of cells: 1 to 999999999, or one for each axis, such as 8x4",
                         &s->cells));
done:
    return status;
}

static eg_status read_degrees(compare_study *s)
{
    eg_status status = EG_OK;
    const char *given = s->options->degrees;
    char own[CLI_ENTRY_BYTES];
    if (given) EG_TRY(cli_check_not_replaced(s->ctx, s->options, "--degrees", "space.degree"));
    snprintf(own, sizeof own, "%" PRId64, eg_case_integer(s->cas, "space.degree"));
    EG_TRY(cli_read_list(s->ctx, "--degrees", given ? given : own, cli_entry_degree,
                         "a degree: 1, 2, 3 and so on", &s->degrees));
done:
    return status;
}

/* --- numbers ------------------------------------------------------------------------------------ */

static eg_status read_number(eg_context *ctx, const char *option, const char *given, double least,
                             double most, bool whole, double *value)
{
    char text[CLI_VALUE_BYTES];
    if (!given) return EG_OK;
    const bool zero = strcmp(given, "0") == 0;
    const double number = zero ? 0 : strtod(given, NULL);
    if (strlen(given) < CLI_ENTRY_BYTES && (zero || cli_entry_positive(given, text)) &&
        number >= least && number <= most && (!whole || number == (double)(int)number)) {
        *value = number;
        return EG_OK;
    }
    return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: \"%s\" is not a %snumber from %g to %g", option,
                   given, whole ? "whole " : "", least, most);
}

static eg_status read_numbers(compare_study *s, double *start)
{
    eg_status status = EG_OK;
    /* Norms change less than errors. */
    double tolerance = s->has_exact ? 1e-3 : 1e-4, digits = 2, repeat = 3;
    EG_TRY(read_number(s->ctx, "--tolerance", s->options->tolerance, 1e-9, 1, false, &tolerance));
    EG_TRY(read_number(s->ctx, "--cfl-digits", s->options->digits, 0, 6, true, &digits));
    EG_TRY(read_number(s->ctx, "--repeat", s->options->repeat, 1, 100, true, &repeat));
    EG_TRY(read_number(s->ctx, "--cfl-start", s->options->start, 1e-6, 1e3, false, start));
    s->plan.tolerance = tolerance;
    s->plan.digits = (int)digits;
    s->plan.repeat = (int)repeat;
done:
    return status;
}

/* --- CFL numbers -------------------------------------------------------------------------------- */

/* Sets the CFL numbers of a scheme (SIZE_MAX: of all that have none yet) from "0.24/0.14": one
 * for all degrees, or one for each. */
static eg_status set_cfl(compare_study *s, size_t scheme, const char *values, char separator)
{
    double list[CLI_LIST_MOST];
    size_t count = 0;
    const char wanted[] = "a CFL number: a number above 0, such as 0.2";
    for (const char *from = values;; from++) {
        char entry[CLI_ENTRY_BYTES], number[CLI_VALUE_BYTES];
        const size_t length = strcspn(from, separator == '/' ? "/" : ",");
        snprintf(entry, sizeof entry, "%.*s", (int)(length < sizeof entry ? length : sizeof entry),
                 from);
        if (length >= sizeof entry || !cli_entry_positive(entry, number))
            return eg_fail(s->ctx, EG_ERROR_ARGUMENT, "--cfl: \"%s\" is not %s", entry, wanted);
        if (count < CLI_LIST_MOST) list[count++] = strtod(entry, NULL);
        from += length;
        if (*from == '\0') break;
    }
    if (count != 1 && count != s->degrees.count)
        return eg_fail(s->ctx, EG_ERROR_ARGUMENT,
                       "--cfl: %zu CFL numbers (%s) for %zu degree%s: give one for all, or one for "
                       "each",
                       count, values, s->degrees.count, s->degrees.count == 1 ? "" : "s");
    for (size_t d = 0; d < s->degrees.count; d++)
        for (size_t m = 0; m < s->cells.count; m++)
            for (size_t k = 0; k < s->schemes.count; k++) {
                double *cfl = &s->cfl[compare_index(s, d, m, k)];
                if (scheme == k || (scheme == SIZE_MAX && *cfl == 0))
                    *cfl = list[count == 1 ? 0 : d];
            }
    return EG_OK;
}

/* One entry "dg=0.24/0.14". */
static eg_status set_named_cfl(compare_study *s, const eg_key *methods, const char *entry,
                               size_t length)
{
    char name[EG_COMPARE_NAME], values[CLI_LIST_MOST * CLI_ENTRY_BYTES];
    const size_t before = strcspn(entry, "=");
    snprintf(name, sizeof name, "%.*s", (int)(before < sizeof name ? before : sizeof name), entry);
    if (length - before - 1 >= sizeof values)
        return eg_fail(s->ctx, EG_ERROR_ARGUMENT, "--cfl: too many numbers for %s", name);
    snprintf(values, sizeof values, "%.*s", (int)(length - before - 1), entry + before + 1);
    for (size_t k = 0; k < s->schemes.count; k++) {
        if (strcmp(s->schemes.text[k], name) != 0) continue;
        if (s->cfl[compare_index(s, 0, 0, k)] > 0)
            return eg_fail(s->ctx, EG_ERROR_ARGUMENT, "--cfl: \"%s\" is there twice", name);
        return set_cfl(s, k, values, '/');
    }
    for (size_t k = 0; methods->choices[k]; k++)
        if (strcmp(methods->choices[k], name) == 0)
            return eg_fail(s->ctx, EG_ERROR_ARGUMENT, "--cfl: \"%s\" is none of --schemes", name);
    return unknown_scheme(s, methods, "--cfl", name);
}

/* --cfl: "0.24", "0.24,0.14" for the degrees, "dg=0.24/0.14,sd=0.3/0.2" for schemes; what is not
 * named takes the numbers without a name, or is found by the rule. */
static eg_status read_cfl(compare_study *s, const eg_key *methods)
{
    eg_status status = EG_OK;
    eg_text plain = eg_text_new(s->ctx);
    const char *from = s->options->cfl;
    while (from) {
        const size_t length = strcspn(from, ",");
        const char *equals = memchr(from, '=', length);
        if (equals)
            EG_TRY(set_named_cfl(s, methods, from, length));
        else {
            if (plain.length > 0) EG_TRY(eg_text_puts(&plain, ","));
            EG_TRY(eg_text_add(&plain, from, length));
            /* Nothing between commas stands out as what it is. */
            if (length == 0) EG_TRY(set_cfl(s, SIZE_MAX, "", ','));
        }
        from = from[length] ? from + length + 1 : NULL;
    }
    if (plain.length > 0) EG_TRY(set_cfl(s, SIZE_MAX, eg_text_string(&plain), ','));
done:
    eg_text_free(&plain);
    return status;
}

/* Where the rule starts: somewhat above what Table 1 of [zimmerman2018] has; it falls with the
 * square of the degree. A cell of finite volumes is as small whatever the degree. */
static double guess_start(const eg_compare_setting *of)
{
    char text[16];
    if (strcmp(of->scheme, COMPARE_FINITE_VOLUMES) == 0) return 0.8;
    snprintf(text, sizeof text, "%.2g", 2.4 / ((of->degree + 1) * (of->degree + 2)));
    return strtod(text, NULL);
}

/* --- the plan ----------------------------------------------------------------------------------- */

static eg_status make_settings(compare_study *s)
{
    eg_status status = EG_OK;
    const size_t count = s->degrees.count * s->cells.count * s->schemes.count;
    EG_TRY(eg_new(s->ctx, count, &s->settings));
    EG_TRY(eg_new(s->ctx, count, &s->cfl));
    EG_TRY(eg_new(s->ctx, count, &s->start));
    EG_TRY(eg_new(s->ctx, count, &s->results));
    for (size_t d = 0; d < s->degrees.count; d++)
        for (size_t m = 0; m < s->cells.count; m++)
            for (size_t k = 0; k < s->schemes.count; k++) {
                eg_compare_setting *of = &s->settings[compare_index(s, d, m, k)];
                memcpy(of->scheme, s->schemes.text[k], sizeof of->scheme);
                memcpy(of->cells, s->cells.text[m], sizeof of->cells);
                of->degree = (int)strtol(s->degrees.text[d], NULL, 10);
            }
    s->plan.settings = s->settings;
    s->plan.cfl = s->cfl;
    s->plan.start = s->start;
    s->plan.count = count;
done:
    return status;
}

/* A value that is wrong is found before anything has run. */
static eg_status check_settings(const compare_study *s)
{
    eg_status status = EG_OK;
    eg_case *cas = NULL;
    char *message = NULL, name[COMPARE_NAME_BYTES];
    for (size_t i = 0; i < s->plan.count && status == EG_OK; i++) {
        const double cfl = s->cfl[i] > 0 ? s->cfl[i] : s->start[i];
        status = compare_open_case(s, &s->settings[i], cfl, &cas);
        if (status != EG_OK && eg_copy_string(s->ctx, eg_context_error(s->ctx), &message) == EG_OK)
            status = eg_fail(s->ctx, status, "%s\nwith %s", message,
                             compare_name(&s->settings[i], name));
        eg_case_close(&cas);
    }
    eg_release(s->ctx, &message);
    return status;
}

eg_status compare_make_plan(compare_study *s)
{
    eg_status status = EG_OK;
    const char *names[EG_MODEL_FIELDS_MAX];
    double start = 0;
    EG_TRY(compare_open_own(s));
    const eg_key *methods = compare_find_key(s->model, "scheme", "method");
    if (!methods || !methods->choices || !s->model->in_time)
        EG_TRY(eg_fail(s->ctx, EG_ERROR_ARGUMENT,
                       "the model \"%s\" has one scheme, and nothing to compare: give a case of "
                       "model \"euler\"",
                       s->model->name));
    EG_TRY(cli_check_not_replaced(s->ctx, s->options, "--schemes", "scheme.method"));
    EG_TRY(cli_check_not_replaced(s->ctx, s->options, "--cfl", "time.cfl"));
    if (eg_case_replaced(s->cas, "time.dt"))
        EG_TRY(
            eg_fail(s->ctx, EG_ERROR_ARGUMENT,
                    "time.dt: steps come from CFL numbers here: give --cfl, or have them found"));
    EG_TRY(read_schemes(s, methods));
    EG_TRY(check_words(s, methods));
    EG_TRY(read_degrees(s));
    EG_TRY(read_cells(s));
    s->has_exact = eg_model_has_exact(s->model, s->cas);
    EG_TRY(read_numbers(s, &start));
    s->fields = s->model->names(s->cas, names);
    s->field = names[0];
    EG_TRY(make_settings(s));
    EG_TRY(read_cfl(s, methods));
    for (size_t i = 0; i < s->plan.count; i++)
        s->start[i] = start > 0 ? start : guess_start(&s->settings[i]);
    EG_TRY(check_settings(s));
done:
    return status;
}
