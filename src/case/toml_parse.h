/* What the files of the TOML parser share; private to them. */
#ifndef EG_TOML_PARSE_H
#define EG_TOML_PARSE_H

#include "case/toml.h"

typedef struct eg_toml_parser {
    eg_context *ctx; /* not owned */
    eg_toml *doc;
    const eg_source *source;
    const char *text; /* the source's, valid UTF-8 without control characters */
    size_t length, at;
    eg_text scratch;     /* a string or number being read */
    eg_toml_node *table; /* that the last header opened */
} eg_toml_parser;

/* The byte at `at` + ahead; 0 beyond the end. */
static inline char eg_toml_peek(const eg_toml_parser *p, size_t ahead)
{
    return p->length - p->at > ahead ? p->text[p->at + ahead] : '\0';
}

/* Bytes [from, at) of the source. */
static inline eg_place eg_toml_since(const eg_toml_parser *p, size_t from)
{
    return (eg_place){p->source, (uint32_t)from, (uint32_t)(p->at - from)};
}

/* The character at `at`, or the end of the line. */
eg_place eg_toml_here(const eg_toml_parser *p);

/* Fails unless the text is UTF-8 without control characters but tabs and line ends. */
eg_status eg_toml_check_text(eg_context *ctx, const eg_source *source);

/* Reads a string of any kind into scratch; `multiline`: """ and ''' may open it. *content is where its
 * text begins. */
eg_status eg_toml_read_string(eg_toml_parser *p, bool multiline, uint32_t *content);

/* Reads a boolean, a number or a string into `node`, with its place. */
eg_status eg_toml_read_scalar(eg_toml_parser *p, eg_toml_node *node);

#endif
