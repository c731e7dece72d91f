/* Fields for ParaView: VTK's unstructured grids with Lagrange cells, each element with nodes of its
 * own, so that the file holds the polynomials themselves [vtkformats]. */
#ifndef EG_REPORT_VTU_H
#define EG_REPORT_VTU_H

#include "base/comm.h"
#include "report/snapshot.h"

/* Writes BASE.vtu; on several ranks a piece of each, BASE_0003.vtu, and BASE.pvtu last, which is the
 * file to open. Collective. Nothing half-written is left under these names. *path (NULL: not wanted)
 * is the file to open; release with eg_release. EG_ERROR_UNSUPPORTED: eagre was built without zlib. */
eg_status eg_vtu_write(const eg_snapshot *snapshot, eg_comm *comm, const char *base, char **path);

/* Reads a .vtu, or a .pvtu with all its pieces, of cells of the four shapes, linear or Lagrange: one
 * snapshot, elements as they stand in the files (global numbers from the file if it has them, else
 * their places). What cannot be read is EG_ERROR_INPUT that says where and why. */
eg_status eg_vtu_read(eg_context *ctx, const char *path, eg_snapshot **out);
/* The files that hold the elements: of a .vtu itself; release each and the list. */
eg_status eg_vtu_pieces(eg_context *ctx, const char *path, size_t *count, char ***files);

/* A series of files in time, BASE.pvd: valid after every addition. Kept by one rank. */
typedef struct eg_pvd eg_pvd;

/* A series that begins empty, or (`keep_until`: a time) with those entries of the file there that are
 * not later, the others being cut off it; a missing file has none. */
eg_status eg_pvd_open(eg_context *ctx, const char *path, const double *keep_until, eg_pvd **out);
/* Adds a file by its name as seen from the series' own directory, and writes the series anew. */
eg_status eg_pvd_add(eg_pvd *pvd, double time, const char *file);
void eg_pvd_close(eg_pvd **pvd);

/* The files of a series: paths that can be opened from here, and times; release both and each path. */
eg_status eg_pvd_read(eg_context *ctx, const char *path, size_t *count, char ***files,
                      double **times);

#endif
