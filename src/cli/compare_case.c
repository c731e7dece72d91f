/* The cases of `eagre compare`: that of the command line, and what it becomes for each setting. */
#include "cli/compare.h"

#include "model/model.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const eg_key *compare_find_key(const eg_model *model, const char *section, const char *name)
{
    for (const eg_key *key = model->keys; key->name; key++)
        if (strcmp(key->section, section) == 0 && strcmp(key->name, name) == 0) return key;
    return NULL;
}

#define MOST_REPLACEMENTS 24
#define REPLACEMENT_BYTES 96

/* The words of a case, each added behind those before. */
typedef struct words {
    char **list; /* with room for MOST_REPLACEMENTS more */
    int count;
    char text[MOST_REPLACEMENTS][REPLACEMENT_BYTES];
    int used;
} words;

static void EG_PRINTF(2, 3) add_word(words *w, const char *format, ...)
{
    va_list arguments;
    assert(w->used < MOST_REPLACEMENTS);
    va_start(arguments, format);
    vsnprintf(w->text[w->used], REPLACEMENT_BYTES, format, arguments);
    va_end(arguments);
    w->list[w->count++] = w->text[w->used++];
}

/* Finite volumes are of second order where the others have degree 1 and of third order above, as in
 * [zimmerman2018], unless the case says what they are. */
static bool chooses_order(const compare_study *s, const words *w, const eg_compare_setting *of)
{
    if (strcmp(of->scheme, COMPARE_FINITE_VOLUMES) != 0) return false;
    for (int i = 1; i < w->count; i++)
        if (strncmp(w->list[i], "scheme.order", strlen("scheme.order")) == 0) return false;
    return compare_find_key(s->model, "scheme", "order") && !eg_case_given(s->cas, "scheme.order");
}

const char *compare_word(const char *word, const char *scheme)
{
    const size_t name = strcspn(word, ":.=");
    if (word[name] != ':') return word;
    const bool same = scheme && strlen(scheme) == name && strncmp(word, scheme, name) == 0;
    return same || !scheme ? word + name + 1 : NULL;
}

/* The case and the replacements that a scheme has ("": those of all); returns their number. */
static int take_words(const cli_options *options, const char *scheme, char **out)
{
    int count = 0;
    for (int i = 0; i < options->name_count; i++) {
        const char *word = i == 0 ? options->names[0] : compare_word(options->names[i], scheme);
        if (word) out[count++] = (char *)word;
    }
    return count;
}

eg_status compare_open_own(compare_study *s)
{
    eg_status status = EG_OK;
    cli_options with = *s->options;
    with.names = NULL;
    EG_TRY(eg_new(s->ctx, (size_t)with.name_count + 1, &with.names));
    with.name_count = take_words(s->options, "", with.names);
    EG_TRY(cli_open_case(s->ctx, &with, 0, &s->model, &s->cas));
done:
    eg_release(s->ctx, &with.names);
    return status;
}

eg_status compare_open_case(const compare_study *s, const eg_compare_setting *of, double cfl,
                            eg_case **out)
{
    eg_status status = EG_OK;
    const eg_model *model = NULL;
    cli_options with = *s->options;
    words *w = NULL;
    char value[CLI_VALUE_BYTES];
    *out = NULL;
    with.names = NULL;
    EG_TRY(eg_new(s->ctx, 1, &w));
    EG_TRY(eg_new(s->ctx, (size_t)with.name_count + MOST_REPLACEMENTS, &with.names));
    w->list = with.names;
    w->count = take_words(s->options, of->scheme, with.names);
    add_word(w, "scheme.method=%s", of->scheme);
    add_word(w, "space.degree=%d", of->degree);
    if (of->cells[0] && cli_entry_cells(of->cells, value)) add_word(w, "mesh.cells=%s", value);
    add_word(w, "time.cfl=%.17g", cfl);
    if (chooses_order(s, w, of)) add_word(w, "scheme.order=%d", of->degree == 1 ? 2 : 3);
    /* Errors against nothing are norms of the solution. */
    for (const eg_key *key = s->model->keys; key->name && !s->has_exact; key++)
        if (strcmp(key->section, "exact") == 0) add_word(w, "exact.%s=0", key->name);
    with.name_count = w->count;
    EG_TRY(cli_open_case(s->ctx, &with, 0, &model, out));
done:
    eg_release(s->ctx, &with.names);
    eg_release(s->ctx, &w);
    return status;
}

const char *compare_name(const eg_compare_setting *of, char text[COMPARE_NAME_BYTES])
{
    snprintf(text, COMPARE_NAME_BYTES, "%s degree %d%s%s", of->scheme, of->degree,
             of->cells[0] ? " cells " : "", of->cells);
    return text;
}
