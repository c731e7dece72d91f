/* What a run tells besides its errors: named figures in sections, for every kind of output.
 *
 * A model adds them in its `details`, those of one section one after another:
 *
 *     eg_facts_section(facts, "adapt", NULL);
 *     eg_facts_integer(facts, "adaptations", a->adaptations);
 *     eg_facts_number(facts, "dof_average", a->dof_sum / a->steps);
 *     for (int i = 0; i < a->fields; i++) {
 *         eg_facts_section(facts, "range", a->names[i]);
 *         eg_facts_number(facts, "least", a->least[i]);
 *         eg_facts_number(facts, "most", a->most[i]);
 *     }
 *
 * As JSON these become {"adapt": {"adaptations": 12, …}, "range": {"u": {"least": 0, …}, …}}; as text
 * a section is a line of its figures, one whose figures are of fields a table with a row for each.
 * Names of figures are those of JSON keys: lower case, with their unit (wall_s) where they have one.
 * Sections: "loop" is that of every model in time (eg_facts_loop). */
#ifndef EG_FACTS_H
#define EG_FACTS_H

#include "base/json.h"
#include "time/time.h"

#define EG_FACTS_MAX 160

typedef struct eg_fact {
    const char *section, *field; /* not owned; field NULL: of the run as a whole */
    const char *name;            /* not owned */
    bool whole;                  /* a whole number */
    double value;
} eg_fact;

/* Nothing is owned: names are literals or the case's. */
typedef struct eg_facts {
    const char *section, *field; /* of what is added next */
    eg_fact list[EG_FACTS_MAX];
    int count;
} eg_facts;

/* What follows belongs to this section ("": to the top of the JSON object), and to this field if there is one. Every field of a section
 * has the same figures in the same order. */
void eg_facts_section(eg_facts *facts, const char *section, const char *field);
void eg_facts_integer(eg_facts *facts, const char *name, int64_t value);
void eg_facts_number(eg_facts *facts, const char *name, double value);

/* The section "loop": steps, time, dt_least, dt_most, wall_s, steps_per_s, dof_per_s; `dof` is the
 * number of unknowns that a step advances, on average. */
void eg_facts_loop(eg_facts *facts, const eg_time_result *loop, double dof);

/* The figure of the run as a whole of this name; NaN: there is none. */
double eg_facts_find(const eg_facts *facts, const char *section, const char *name);

/* Members of the object that is open, one for each section. */
void eg_facts_put_json(const eg_facts *facts, eg_json *json);
/* Lines for sections that are of the run as a whole, and then tables for those of fields. */
eg_status eg_facts_put_lines(const eg_facts *facts, eg_text *out);
eg_status eg_facts_put_tables(eg_context *ctx, const eg_facts *facts, eg_text *out);

#endif
