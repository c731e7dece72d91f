/* The columns that series.csv has of a case. */
#include "report/titles.h"

#include "report/measures.h"

#include <stdio.h>
#include <string.h>

static eg_status add(eg_titles *titles, const char *name, const char *unit, const char *section)
{
    eg_title title = {.unit = unit};
    eg_status status = EG_OK;
    EG_TRY(eg_copy_string(titles->ctx, name, &title.name));
    if (section) EG_TRY(eg_copy_string(titles->ctx, section, &title.section));
    EG_TRY(eg_reallocate(titles->ctx, ((size_t)titles->count + 1) * sizeof title,
                         (void **)&titles->list));
    titles->list[titles->count++] = title;
    title = (eg_title){0};
done:
    eg_release(titles->ctx, &title.section);
    eg_release(titles->ctx, &title.name);
    return status;
}

static eg_status add_integrals(eg_titles *titles, const eg_case *cas)
{
    eg_status status = EG_OK;
    const char *name;
    for (size_t i = 0; (name = eg_case_name_at(cas, "output.integral", i)); i++) {
        char section[EG_MEASURE_KEY], key[EG_MEASURE_KEY];
        snprintf(section, sizeof section, "output.integral.%s", name);
        snprintf(key, sizeof key, "output.integral.%s.unit", name);
        EG_TRY(add(titles, name, eg_case_string(cas, key), section));
    }
done:
    return status;
}

/* What a probe at a point reads: what `of` says, or all fields. */
static eg_status add_probe(eg_titles *titles, const eg_case *cas, const char *probe,
                           const char *const *names, int name_count)
{
    char section[EG_MEASURE_KEY], key[EG_MEASURE_KEY];
    eg_status status = EG_OK;
    eg_text title = eg_text_new(titles->ctx);
    snprintf(section, sizeof section, "output.probe.%s", probe);
    snprintf(key, sizeof key, "output.probe.%s.of", probe);
    const size_t given = eg_case_count(cas, key);
    for (size_t i = 0; i < (given > 0 ? given : (size_t)name_count); i++) {
        eg_text_clear(&title);
        EG_TRY(eg_text_printf(&title, "%s.%s", probe,
                              given > 0 ? eg_case_string_at(cas, key, i) : names[i]));
        EG_TRY(add(titles, eg_text_string(&title), NULL, section));
    }
done:
    eg_text_free(&title);
    return status;
}

eg_status eg_titles_make(eg_context *ctx, const eg_case *cas, const char *const *names,
                         int name_count, const eg_known *known, eg_titles *out)
{
    static const char *const before[EG_TITLES_BEFORE] = {"step", "time", "dt"};
    eg_status status = EG_OK;
    const char *name;
    *out = (eg_titles){.ctx = ctx};
    for (size_t i = 0; i < EG_TITLES_BEFORE; i++)
        EG_TRY(add(out, before[i], NULL, NULL));
    EG_TRY(add_integrals(out, cas));
    for (int i = 0; known && i < known->count; i++)
        EG_TRY(add(out, known->list[i].name, NULL, known->list[i].section));
    for (size_t i = 0; (name = eg_case_name_at(cas, "output.probe", i)); i++) {
        char key[EG_MEASURE_KEY];
        snprintf(key, sizeof key, "output.probe.%s.at", name);
        if (eg_case_given(cas, key)) EG_TRY(add_probe(out, cas, name, names, name_count));
    }
done:
    if (status != EG_OK) eg_titles_free(out);
    return status;
}

void eg_titles_free(eg_titles *titles)
{
    for (int i = 0; i < titles->count; i++) {
        eg_release(titles->ctx, &titles->list[i].name);
        eg_release(titles->ctx, &titles->list[i].section);
    }
    eg_release(titles->ctx, &titles->list);
    titles->count = 0;
}

int eg_titles_find(const eg_titles *titles, const char *name)
{
    for (int i = 0; i < titles->count; i++)
        if (strcmp(titles->list[i].name, name) == 0) return i;
    return -1;
}

eg_status eg_titles_check(const eg_titles *titles, const eg_case *cas)
{
    for (int i = EG_TITLES_BEFORE; i < titles->count; i++)
        for (int k = 0; k < titles->count; k++)
            if (k != i && strcmp(titles->list[i].name, titles->list[k].name) == 0)
                return eg_case_fail(cas, titles->list[i].section, -1,
                                    "series.csv has another column \"%s\": give this one another "
                                    "name",
                                    titles->list[i].name);
    return EG_OK;
}
