/* The door of room `case`: case files (TOML), their schema, their values; knows no physics.
 *
 * Every room describes the keys of its own section in a table of eg_key rows; the caller joins the
 * tables that apply and opens a case against them. What the file or an override says wrong is
 * EG_ERROR_INPUT, with a message that shows the place:
 *
 *     flow.toml:7:1: error: unknown key "degre" in [space]; did you mean "degree"?
 *       7 | degre = 4
 *         | ^~~~~
 */
#ifndef EG_CASE_H
#define EG_CASE_H

#include "base/base.h"
#include "case/expression.h"

/* --- the schema ------------------------------------------------------------------------------- */

typedef enum eg_key_type {
    EG_KEY_BOOLEAN,
    EG_KEY_INTEGER,
    EG_KEY_REAL,
    EG_KEY_STRING,
    EG_KEY_CHOICE,     /* a string, one of `choices` */
    EG_KEY_EXPRESSION, /* a string; a number is taken as its own text */
    EG_KEY_INTEGERS,   /* arrays; one value alone is an array of one */
    EG_KEY_REALS,
    EG_KEY_BOOLEANS,
    EG_KEY_STRINGS,
    EG_KEY_CHOICES,
    EG_KEY_EXPRESSIONS
} eg_key_type;

/* One key of one section; a table ends with a row whose name is NULL. */
typedef struct eg_key {
    const char *section; /* "mesh"; "" for the top of the file; "boundary.*": a star is any name,
                            and rows with names go before it */
    const char *name;    /* "cells"; "*": any name that the caller of eg_case_open allows */
    eg_key_type type;
    bool required;        /* must be given; of "*": at least one */
    const char *fallback; /* the value if the key is not given, as TOML text; NULL: none */
    double least, most;   /* numbers: range, ends included; both 0: none; INFINITY: no end there;
                             DBL_MIN as the least: greater than 0 */
    int least_count, most_count; /* arrays: how many; both 0: any */
    const char *const *choices;  /* of EG_KEY_CHOICE(S), ended by NULL */
    const char *unit;            /* "m/s"; NULL: none */
    const char *help;            /* one or two sentences */
    const char *example;         /* a value, as TOML text; NULL: the fallback is one;
                                    of "*" also a whole line, u = "sin(x)" */
} eg_key;

/* --- opening ---------------------------------------------------------------------------------- */

typedef struct eg_case eg_case;

typedef struct eg_case_options {
    const char *const *overrides; /* "section.key=value": TOML values, or bare strings */
    size_t override_count;
    const eg_key *const *tables; /* the schema: tables joined */
    size_t table_count;
} eg_case_options;

/* Parses a file (or text, named `name` in messages), applies the overrides, checks it against the
 * schema and compiles its constants ([constants], known to every case) and expressions. */
eg_status eg_case_open(eg_context *ctx, const char *path, const eg_case_options *options,
                       eg_case **out);
eg_status eg_case_open_text(eg_context *ctx, const char *name, const char *text, size_t length,
                            const eg_case_options *options, eg_case **out);
void eg_case_close(eg_case **cas);

/* Reads only the top-level key `model` of a text with its overrides, so that the caller can choose
 * the tables; checks the file's syntax but no schema. A model that is none of `names` (ended by NULL)
 * fails at its place, with the nearest and the list. *model is the caller's, released by eg_release. */
eg_status eg_case_read_model(eg_context *ctx, const char *name, const char *text, size_t length,
                             const eg_case_options *options, const char *const *names,
                             char **model);
/* Reads a case file; one that cannot be read is wrong input, like one that is wrong inside. *text is the
 * caller's, released by eg_release. */
eg_status eg_case_read_file(eg_context *ctx, const char *path, char **text, size_t *length);

/* What a case was opened from, so that it can be opened again; borrowed. */
typedef struct eg_case_source {
    const char *path; /* of the file, or the name of the text */
    const char *text; /* [length] */
    size_t length;
    const char *const *overrides; /* [override_count] */
    size_t override_count;
} eg_case_source;
eg_case_source eg_case_get_source(const eg_case *cas);

/* [constants]: any names, numbers or expressions of constants defined before. */
extern const eg_key eg_case_keys[];

/* --- values ----------------------------------------------------------------------------------- */
/* `key` is "section.name" ("name" at the top). Asking for a key that the schema lacks, or by another
 * type, is the programmer's mistake (assert), and so is asking for a number that the case does not
 * have. Borrowed pointers live as long as the case; without a value they are NULL, and counts 0. */

bool eg_case_given(const eg_case *cas, const char *key);    /* in the file or by an override */
bool eg_case_has(const eg_case *cas, const char *key);      /* given, or has a fallback */
bool eg_case_replaced(const eg_case *cas, const char *key); /* given by an override */

bool eg_case_boolean(const eg_case *cas, const char *key);
int64_t eg_case_integer(const eg_case *cas, const char *key);
double eg_case_real(const eg_case *cas, const char *key);
const char *eg_case_string(const eg_case *cas, const char *key); /* also of choices, expressions */
int eg_case_choice(const eg_case *cas, const char *key);         /* its index in `choices` */
const eg_expression *eg_case_expression(const eg_case *cas, const char *key);
/* Compiles a string (element i of an array; i < 0: of a key with one value) as an expression of `symbols`
 * and the case's constants; a wrong one fails at its place. *out is the caller's. */
eg_status eg_case_formula(const eg_case *cas, const char *key, int i, const eg_symbol *symbols,
                          size_t symbol_count, eg_expression **out);
/* Compiles a text that the caller has made of the case's own expressions, of x, y, z, t and the case's
 * constants. *out is the caller's. */
eg_status eg_case_compose(const eg_case *cas, const char *text, eg_expression **out);
/* The file that a string names: seen from the directory of the case file where that gives it, from the
 * working directory where the command line does. *out is the caller's, released by eg_release. */
eg_status eg_case_path(const eg_case *cas, const char *key, char **out);

/* Arrays: the count, then each value. */
size_t eg_case_count(const eg_case *cas, const char *key);
bool eg_case_boolean_at(const eg_case *cas, const char *key, size_t i);
int64_t eg_case_integer_at(const eg_case *cas, const char *key, size_t i);
double eg_case_real_at(const eg_case *cas, const char *key, size_t i);
const char *eg_case_string_at(const eg_case *cas, const char *key, size_t i);
int eg_case_choice_at(const eg_case *cas, const char *key, size_t i);
const eg_expression *eg_case_expression_at(const eg_case *cas, const char *key, size_t i);

/* Names that stand for a star: the keys given in a section with "*" keys ("initial"), or the
 * subsections of "boundary.*" ("boundary"), in the order of the file. NULL beyond the last. */
const char *eg_case_name_at(const eg_case *cas, const char *section, size_t i);

/* --- what only the caller can judge ----------------------------------------------------------- */

/* Fails with EG_ERROR_INPUT at the place where the value of `key` stands (element i of an array; i < 0:
 * the whole value; a section name: its header). Without a place (a fallback) it names the key. */
eg_status eg_case_fail(const eg_case *cas, const char *key, int i, const char *format, ...)
    EG_PRINTF(4, 5);
/* The same at the key's name: fails unless every name given in `section` (see eg_case_name_at) is one
 * of `allowed`, with the nearest of them and the list. */
eg_status eg_case_check_names(const eg_case *cas, const char *section, const char *what,
                              const char *const *allowed, size_t allowed_count);

/* --- documentation from the schema ------------------------------------------------------------ */

/* What `eagre help KEY` prints: type, range, choices, default, unit, help, example. A wrong key is
 * EG_ERROR_INPUT with a suggestion; a section lists its keys. */
eg_status eg_case_describe(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                           const char *key, eg_text *out);
/* A commented template with every key, required ones active, the others commented out with their
 * fallbacks. `model` is written at its top, `about` as its first comment. `sample` has keys that are
 * active, too, and their values, as "section.name=value" with TOML values, ended by NULL; NULL: none.
 */
eg_status eg_case_template(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                           const char *model, const char *about, const char *const *sample,
                           eg_text *out);
/* The reference page: a Markdown section for each section of the schema. */
eg_status eg_case_reference(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                            eg_text *out);

/* --- writing TOML ----------------------------------------------------------------------------- */

/* Adds a string in quotes; with `lines` one of several lines, which keeps its line feeds. Bytes that are
 * not UTF-8 become U+FFFD. */
eg_status eg_toml_put_string(eg_text *out, const char *text, size_t length, bool lines);
/* Adds a number that reads back as the same double, -0, infinities and NaN too. */
eg_status eg_toml_put_real(eg_text *out, double value);

/* --- the parser below, for tests and tools ---------------------------------------------------- */

/* Parses TOML (1.0 without dates and times) and writes it as JSON, for comparison with other
 * parsers: tables as objects, floats with 17 digits, inf and nan as strings. */
eg_status eg_toml_to_json(eg_context *ctx, const char *name, const char *text, size_t length,
                          eg_text *out);

#endif
