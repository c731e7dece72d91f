/* The bytes of a Gmsh file: numbers in text and binary, and where they stand; private to room
 * `mesh`.
 *
 * A file is read through a window that moves over it, so that its size needs no memory. Values
 * belong to records: lines in text, nothing but bytes in binary. `raw` says which of the two the
 * next values are; a binary file has both. */
#ifndef EG_GMSH_STREAM_H
#define EG_GMSH_STREAM_H

#include "base/base.h"

#define EG_GMSH_OBJECT_BYTES 64

typedef struct eg_gmsh_stream {
    eg_context *ctx;              /* not owned */
    const char *name;             /* of the file; not owned */
    int file;                     /* its descriptor, -1: the bytes are all in memory */
    char *window;                 /* of a file; owned */
    const char *begin, *at, *end; /* the window's bytes, and the next of them */
    int64_t offset;               /* of `begin` in the file */
    int64_t left;                 /* bytes of the file beyond `end` */
    const char *counted;          /* up to here lines are counted: */
    int64_t line;
    int64_t value; /* the byte where the last raw value begins */

    bool binary, raw, swapped;
    int size_bytes; /* of a size in binary: 4 or 8 */

    /* What messages name: the section and what is read in it. */
    const char *section; /* "$Nodes"; NULL: none; not owned */
    const char *object;  /* "node", of at most EG_GMSH_OBJECT_BYTES; NULL: none; not owned */
    int64_t tag;         /* of the object */
} eg_gmsh_stream;

eg_status eg_gmsh_stream_open(eg_context *ctx, const char *path, eg_gmsh_stream *s);
void eg_gmsh_stream_of_bytes(eg_context *ctx, const char *name, const char *bytes, size_t length,
                             eg_gmsh_stream *s);
void eg_gmsh_stream_close(eg_gmsh_stream *s);

/* Bytes that are not yet read. */
int64_t eg_gmsh_remaining(const eg_gmsh_stream *s);
/* The line (text) or byte (binary) that is read next. */
int64_t eg_gmsh_place(eg_gmsh_stream *s);

/* Fails with "FILE:LINE: in $Nodes, node 7: …", or with "FILE: byte BYTE: in …" of the last raw
 * value. */
eg_status eg_gmsh_fail(eg_gmsh_stream *s, const char *format, ...) EG_PRINTF(2, 3);
/* The same of a place that was read before. */
eg_status eg_gmsh_fail_at(const eg_gmsh_stream *s, int64_t place, const char *format, ...)
    EG_PRINTF(3, 4);

/* Fails if `count` records of at least so many bytes cannot follow; `what` is a plural. */
eg_status eg_gmsh_check_count(eg_gmsh_stream *s, int64_t count, int64_t least_bytes,
                              const char *what);

/* True if these bytes are the next ones. */
eg_status eg_gmsh_peek(eg_gmsh_stream *s, const char *bytes, size_t length, bool *found);

/* A record is one line of text; blank lines before it are skipped, and nothing may follow on it.
 * Raw ones need neither. */
eg_status eg_gmsh_begin_record(eg_gmsh_stream *s);
eg_status eg_gmsh_end_record(eg_gmsh_stream *s);

/* The next value. `what` names it in messages: "the number of nodes". */
eg_status eg_gmsh_int(eg_gmsh_stream *s, const char *what, int *out);
eg_status eg_gmsh_size(eg_gmsh_stream *s, const char *what, int64_t *out);    /* ≥ 0 */
eg_status eg_gmsh_real(eg_gmsh_stream *s, const char *what, double *out);     /* finite */
eg_status eg_gmsh_skip_reals(eg_gmsh_stream *s, int count, const char *what); /* any */

/* Reads a word if it is the next token of a line of text. */
eg_status eg_gmsh_try_word(eg_gmsh_stream *s, const char *word, bool *found);
/* The rest of a line of text, up to `size` - 1 bytes without blanks at its ends. */
eg_status eg_gmsh_rest_of_line(eg_gmsh_stream *s, char *text, size_t size);

/* --- sections --------------------------------------------------------------------------------- */

#define EG_GMSH_SECTION_BYTES 128

/* The next section's header, "$Nodes", and where it stands; "" at the end of the file. */
eg_status eg_gmsh_next_section(eg_gmsh_stream *s, char name[EG_GMSH_SECTION_BYTES], int64_t *place);
/* The line "$EndNodes" of the section "$Nodes", after blank lines. */
eg_status eg_gmsh_end_section(eg_gmsh_stream *s, const char *name);
/* Goes behind that line, whatever stands before it; *ended: there is one. */
eg_status eg_gmsh_skip_section(eg_gmsh_stream *s, const char *name, bool *ended);

#endif
