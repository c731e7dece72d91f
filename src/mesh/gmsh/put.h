/* Numbers as a Gmsh file has them, in text or binary; private to room `mesh`. */
#ifndef EG_GMSH_PUT_H
#define EG_GMSH_PUT_H

#include "base/base.h"

/* A file that grows. The first failure stays in `status`, and nothing is added after it. */
typedef struct eg_gmsh_output {
    eg_text text; /* the file's bytes */
    bool binary, swapped;
    eg_status status;
} eg_gmsh_output;

/* eg_gmsh_put_text(out, format, …): text as it is, in binary files as well. */
#define eg_gmsh_put_text(out, ...)                                                                 \
    ((void)((out)->status == EG_OK ? ((out)->status = eg_text_printf(&(out)->text, __VA_ARGS__))   \
                                   : EG_OK))

/* Numbers of 4 bytes, of 8, and real ones; in text the next number of the line, in decimal, reals
 * with so many digits that they come back to the last bit. */
void eg_gmsh_put_int(eg_gmsh_output *out, int32_t value);
void eg_gmsh_put_size(eg_gmsh_output *out, int64_t value);
void eg_gmsh_put_real(eg_gmsh_output *out, double value);

/* Ends a line of text; binary files have none. */
void eg_gmsh_put_line(eg_gmsh_output *out);

/* Opens and closes a section: "$Nodes" … "$EndNodes". */
void eg_gmsh_put_begin(eg_gmsh_output *out, const char *section);
void eg_gmsh_put_end(eg_gmsh_output *out, const char *section);

#endif
