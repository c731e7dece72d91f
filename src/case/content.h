/* What an opened case holds; private to room `case`. */
#ifndef EG_CONTENT_H
#define EG_CONTENT_H

#include "base/arena.h"
#include "case/names.h"
#include "case/schema.h"
#include "case/toml.h"

typedef struct eg_value {
    const eg_toml_node *node;
    bool boolean;
    int64_t integer; /* also of a choice: its index */
    double real;
    const char *string;        /* also of choices and expressions; the arena's */
    eg_expression *expression; /* owned; NULL until it is compiled */
} eg_value;

/* One key that has a value. */
typedef struct eg_entry {
    size_t section_length; /* bytes of its name in eg_case.entry_names that name its section */
    const eg_key *row;
    const eg_toml_node *node;
    bool given;       /* in the file or by an override; else the fallback */
    eg_value *values; /* [count], the arena's */
    size_t count;
} eg_entry;

/* One section that the file or an override names. */
typedef struct eg_section {
    size_t parent_length; /* bytes of its name that name the section above it */
    bool star;            /* its last part stands for a star */
    const eg_toml_node *node;
} eg_section;

struct eg_case {
    eg_context *ctx; /* not owned */
    eg_arena arena;
    eg_schema schema;
    const eg_source *file;
    const char **overrides; /* [override_count] owned; the texts are the arena's */
    size_t override_count;
    eg_toml **docs; /* [doc_count] owned: the file, each override, the fallbacks */
    size_t doc_count;
    eg_names entry_names; /* "section.name" of each entry */
    eg_entry *entries;    /* [entry_names.count] owned */
    size_t entry_capacity;
    eg_names section_names;
    eg_section *sections; /* [section_names.count] owned */
    size_t section_capacity;
};

/* The keys from the root of its tree down to a node. */
void eg_path_of(const eg_toml_node *node, eg_path *out);

/* Where a section is opened. */
eg_place eg_section_place(const eg_toml_node *table);

/* Parses an override against the schema: a value of TOML, or a bare string where the key takes one. */
eg_status eg_override_create(const eg_schema *schema, const eg_source *source, eg_toml **out);

/* Says that a value of one type stands where another is expected. */
eg_status eg_fail_type(eg_context *ctx, const eg_key *row, const eg_toml_node *node);

/* Checks the values of an entry against its row. */
eg_status eg_entry_convert(eg_case *cas, size_t entry);

/* Compiles a value with these symbols and the case's constants. */
eg_status eg_value_formula(const eg_case *cas, const eg_value *value, const eg_symbol *symbols,
                           size_t symbol_count, eg_expression **out);

/* Compiles the constants in their order, then all other expressions. */
eg_status eg_case_compile(eg_case *cas);

#endif
