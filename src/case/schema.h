/* The schema of a case: the rows of all its tables, and which of them a key or section matches. */
#ifndef EG_SCHEMA_H
#define EG_SCHEMA_H

#include "case/case.h"
#include "case/place.h"

#define EG_PATH_MOST 8 /* parts; no key of a schema has more */

/* The parts of a section or key: of "mesh.cells" two. */
typedef struct eg_path {
    const char *parts[EG_PATH_MOST]; /* not owned */
    size_t count;                    /* more than EG_PATH_MOST: the rest is not kept */
} eg_path;

typedef struct eg_schema {
    eg_context *ctx;     /* not owned */
    const eg_key **rows; /* [count] owned; the rows themselves are the tables' */
    size_t count;
} eg_schema;

/* Joins the tables; of rows of the same key the first counts. */
eg_status eg_schema_join(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                         eg_schema *out);
/* The same with [constants], which is part of every case. */
eg_status eg_schema_open(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                         eg_schema *out);
void eg_schema_close(eg_schema *schema);

/* The row of a key, whose last part is its name; NULL if there is none. Names go before stars. */
const eg_key *eg_schema_find(const eg_schema *schema, const eg_path *path);

typedef enum eg_section_kind {
    EG_SECTION_NONE,
    EG_SECTION_NAMED, /* a section, or one above such */
    EG_SECTION_STAR   /* the same, but its last part stands for a star */
} eg_section_kind;

eg_section_kind eg_schema_section(const eg_schema *schema, const eg_path *path);

/* True if the pattern ("mesh", "boundary.*") is that of the section. */
bool eg_section_matches(const char *pattern, const eg_path *section);

/* True if "section.name", perhaps with dots inside a name, is a key of the schema. */
bool eg_schema_has(const eg_schema *schema, const char *key);

/* Says that the last part of `path` is unknown, what is near, and else what there is. */
eg_status eg_schema_unknown(const eg_schema *schema, const eg_path *path, bool section,
                            eg_place place);

/* --- words about a row ------------------------------------------------------------------------ */

bool eg_key_is_array(const eg_key *row);
/* Of an array the type of its values. */
eg_key_type eg_key_element(const eg_key *row);
/* "an integer", "an array of 2 to 3 integers". */
eg_status eg_key_put_type(const eg_key *row, bool article, eg_text *out);
/* "from 0 to 15", "at least 0"; nothing if there is no range. */
eg_status eg_key_put_range(const eg_key *row, eg_text *out);
/* "\"gauss\", \"lobatto\"". */
eg_status eg_key_put_choices(const eg_key *row, eg_text *out);
/* "2", "from 1 to 3"; nothing if any. */
eg_status eg_key_put_count(const eg_key *row, eg_text *out);

#endif
