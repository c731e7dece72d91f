/* What the actions of `eagre mesh` share. */
#ifndef EG_CLI_MESH_H
#define EG_CLI_MESH_H

#include "base/json.h"
#include "cli/cli.h"

/* What the words behind an action say. Nothing is owned. */
typedef struct cli_mesh_words {
    const char *input;  /* a case or a Gmsh file; NULL: replacements alone */
    const char *output; /* the file to write; NULL: none */
    char *const *replacements;
    int replacement_count;
    int times; /* that the mesh is refined … */
    int order; /* … and then made of this order; 0: it stays */
    eg_mesh_faults
        *faults; /* NULL: a Gmsh file with elements that are not valid is refused; else they
                               are told here, but from a file as it is, without changes */
} cli_mesh_words;

typedef eg_status cli_mesh_action(eg_context *ctx, const cli_options *options,
                                  const cli_mesh_words *words);

/* mesh_open.c: the whole mesh that the words describe, refined and of the order they ask for, and, if
 * not NULL, how its case wants it divided. What was repaired, joined or left out is added to
 * `report`, a line each (NULL: repairs are warnings). */
eg_status cli_mesh_open(eg_context *ctx, const cli_options *options, const cli_mesh_words *words,
                        eg_text *report, eg_partitioner *partitioner, eg_mesh **out);

/* True if the file's name ends as those of Gmsh's meshes do. */
bool cli_has_gmsh_name(const char *path);

/* Adds the lines of a report as notes, "note: …" each, or as the member `notes` of an object. */
eg_status cli_mesh_put_notes(eg_text *out, const eg_text *report);
void cli_mesh_json_notes(eg_json *json, const eg_text *report);

/* A number that an option gives, NULL: `fallback`; out of range is an error that names `option`. */
eg_status cli_mesh_number(eg_context *ctx, const char *option, const char *given, int least,
                          int most, int fallback, int *out);

/* mesh_check.c, mesh_info.c, mesh_partition.c, mesh_picture.c, mesh_write.c */
cli_mesh_action cli_mesh_check, cli_mesh_info, cli_mesh_partition, cli_mesh_picture, cli_mesh_write;

#endif
