/* TOML 1.0 without dates and times [toml2021]: a tree that knows the place of every key and value.
 *
 * The tree takes memory in proportion to its text; nothing here recurses, and arrays and tables
 * nest at most EG_TOML_DEPTH deep. */
#ifndef EG_TOML_H
#define EG_TOML_H

#include "base/arena.h"
#include "case/place.h"

#define EG_TOML_DEPTH 100
#define EG_TOML_BYTES ((size_t)16 << 20) /* longer texts are no case files and are refused */

typedef enum eg_toml_type {
    EG_TOML_NONE, /* a key whose value is not parsed yet */
    EG_TOML_BOOLEAN,
    EG_TOML_INTEGER,
    EG_TOML_REAL,
    EG_TOML_STRING,
    EG_TOML_ARRAY,
    EG_TOML_TABLE
} eg_toml_type;

/* How a table or an array came about, which decides what may still be added to it. */
typedef enum eg_toml_form {
    EG_TOML_CLOSED,   /* written as a value: [1, 2] or {a = 1} */
    EG_TOML_HEADER,   /* by [a] */
    EG_TOML_IMPLICIT, /* a, by [a.b]; may still get a header of its own */
    EG_TOML_DOTTED,   /* a, by a.b = 1 */
    EG_TOML_REPEATED  /* the array of tables a, by [[a]] */
} eg_toml_form;

typedef struct eg_toml_node eg_toml_node;
struct eg_toml_node {
    eg_toml_type type;
    eg_toml_form form;    /* of tables and arrays */
    uint32_t serial;      /* different for all nodes of a tree */
    uint32_t depth;       /* 0: the root */
    uint32_t content;     /* strings: where their text begins in the source */
    const char *key;      /* NUL-terminated, may hold NUL; NULL: an element of an array */
    size_t key_length;    /* in bytes */
    eg_place key_place;   /* the key alone; of elements: the value */
    eg_place place;       /* the value with its quotes or brackets; of tables: [header] or key */
    eg_toml_node *parent; /* NULL: the root */
    eg_toml_node *next;   /* of the same table or array, in the order of the text */
    union {
        bool boolean;
        int64_t integer;
        double real;
        struct {
            const char *text; /* NUL-terminated, may hold NUL */
            size_t length;    /* in bytes */
        } string;
        struct {
            eg_toml_node *first, *last;
            size_t count;
        } children; /* of tables and arrays */
    } is;
};

typedef struct eg_toml {
    eg_context *ctx;         /* not owned */
    const eg_source *source; /* not owned */
    eg_arena arena;          /* nodes, keys and strings */
    eg_toml_node *root;
    eg_toml_node **slots; /* [slot_count] owned: nodes with a key, hashed by parent and key */
    size_t slot_count, slots_used;
    uint32_t serial; /* of the next node */
} eg_toml;

/* Parses a whole text. The source must outlive the tree. */
eg_status eg_toml_create(eg_context *ctx, const eg_source *source, eg_toml **out);
void eg_toml_destroy(eg_toml **doc);

/* Parses `section.key=value`, all of the source. *leaf is the node of the key. If only the value is
 * wrong, *value_error is EG_ERROR_INPUT with the message set, and the leaf has the type
 * EG_TOML_NONE and the place of all behind the "=". */
eg_status eg_toml_create_assignment(eg_context *ctx, const eg_source *source, eg_toml **out,
                                    eg_toml_node **leaf, eg_status *value_error);

/* The entry of a table; NULL if it has none. */
eg_toml_node *eg_toml_find(const eg_toml *doc, const eg_toml_node *table, const char *key,
                           size_t length);

/* The node behind `node` in the order of the tree, parents first; NULL behind the last. With
 * `inside` false what is in `node` is passed over. */
const eg_toml_node *eg_toml_next(const eg_toml_node *node, bool inside);

/* Makes `node` a string. */
eg_status eg_toml_set_string(eg_toml *doc, eg_toml_node *node, const char *text, size_t length);

/* A new last element of an array; of no type yet. */
eg_status eg_toml_add_element(eg_toml *doc, eg_toml_node *array, eg_place place,
                              eg_toml_node **out);

#endif
