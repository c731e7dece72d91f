/* A small JSON writer on eg_text.
 *
 * The first failure sticks: later calls do nothing and eg_json_end reports it, so that a writer is
 * a plain list of calls. The caller's message is the one eg_text set.
 */
#ifndef EG_JSON_H
#define EG_JSON_H

#include "base/base.h"

#define EG_JSON_DEPTH 16

typedef struct eg_json {
    eg_text *text;               /* not owned */
    eg_status status;            /* of the first call that failed */
    int depth;                   /* open objects and arrays */
    char closers[EG_JSON_DEPTH]; /* '}' or ']' of each of them */
    bool has_member;             /* the innermost one is not empty */
    bool after_key;              /* the next value belongs to a key */
} eg_json;

eg_json eg_json_new(eg_text *text);

void eg_json_begin_object(eg_json *json);
void eg_json_begin_array(eg_json *json);
void eg_json_close(eg_json *json); /* the innermost object or array */

void eg_json_key(eg_json *json, const char *key);

/* Bytes that are not UTF-8 become U+FFFD: vendors' names come in any encoding. */
void eg_json_string(eg_json *json, const char *value);
/* The shortest decimal that reads back as the same double; null if it is not finite. */
void eg_json_number(eg_json *json, double value);
void eg_json_integer(eg_json *json, int64_t value);
void eg_json_bool(eg_json *json, bool value);

/* A key and its value in one call. */
void eg_json_put_string(eg_json *json, const char *key, const char *value);
void eg_json_put_number(eg_json *json, const char *key, double value);
void eg_json_put_integer(eg_json *json, const char *key, int64_t value);
void eg_json_put_bool(eg_json *json, const char *key, bool value);

/* Ends the document with a newline; everything must be closed. */
eg_status eg_json_end(eg_json *json);

#endif
