/* VTK's files in memory: what they are, the values of their data arrays, and snapshots from and to
 * them. */
#ifndef EG_REPORT_VTU_FILE_H
#define EG_REPORT_VTU_FILE_H

#include "case/place.h"
#include "report/snapshot.h"
#include "report/vtu/lagrange.h"
#include "report/vtu/xml.h"

/* No file makes the reader take more memory than this times its own size, and a little. */
#define EG_VTU_GROWTH_MOST 4096

/* What VTK calls UnstructuredGrid, PUnstructuredGrid and Collection. */
typedef enum eg_vtu_type { EG_VTU_GRID, EG_VTU_PIECES, EG_VTU_SERIES } eg_vtu_type;

typedef struct eg_vtu_file {
    eg_xml xml;
    eg_vtu_type type;
    int grid; /* the node within <VTKFile> that its type names */
    eg_lagrange_version version;
    int header_bytes;    /* of each number in front of an array's bytes: 4 or 8 */
    bool compressed;     /* by zlib */
    bool raw;            /* appended bytes stand as they are; else as base64 */
    int64_t values_left; /* what may still be made of it, see eg_vtu_spend */
} eg_vtu_file;

/* Opens a file in memory, which stays where it is. Close it in any case. */
eg_status eg_vtu_open(eg_context *ctx, const char *name, const char *data, size_t length,
                      eg_vtu_file *out);
void eg_vtu_close(eg_vtu_file *file);

/* Fails if a file of this size cannot mean so many more values of 8 bytes. */
eg_status eg_vtu_spend(eg_vtu_file *file, int node, int64_t values);

/* The <DataArray> called `name` within `parent`; -1 if there is none. */
int eg_vtu_find_array(const eg_xml *xml, int parent, const char *name);

/* The name of an array as messages may quote it. Returns `quote`. */
const char *eg_vtu_array_name(const eg_vtu_file *file, int node, char quote[EG_QUOTE_BYTES]);

/* The bytes of a <DataArray> that is no text; there must be so many. The caller releases *out, also
 * after a failure. */
eg_status eg_vtu_take_bytes(const eg_vtu_file *file, int node, size_t bytes, unsigned char **out);

/* The values of a <DataArray> of so many: reals, or whole numbers, which no array of reals has. The
 * caller releases *out. */
eg_status eg_vtu_take_reals(eg_vtu_file *file, int node, int64_t count, double **out);
eg_status eg_vtu_take_integers(eg_vtu_file *file, int node, int64_t count, int64_t **out);

/* The elements of a <Piece>, and of all pieces of a file of type EG_VTU_GRID with its time. */
eg_status eg_vtu_read_piece(eg_vtu_file *file, int node, eg_snapshot **out);
eg_status eg_vtu_read_grid(eg_vtu_file *file, eg_snapshot **out);

/* Adds a file with this snapshot. */
eg_status eg_vtu_put(const eg_snapshot *snapshot, int rank, eg_text *out);

#endif
