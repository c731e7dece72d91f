/* What the generator of boxes and its parts share; private to room `mesh`. */
#ifndef EG_BOX_H
#define EG_BOX_H

#include "mesh/build.h"

/* What is wrong with options: the member, the direction (-1: all) and a sentence. */
typedef struct eg_box_error {
    const char *member; /* "cells", "high", … */
    int direction;
    char message[160];
} eg_box_error;

/* Options with their defaults filled in. False if they make no box, or none that this machine has
 * memory for. */
bool eg_box_resolve(const eg_box_options *options, eg_box_options *resolved, eg_box_error *error);

/* The most memory that a box of resolved options takes while it is made, up to small change, and
 * false if that is more than `memory` bytes. */
double eg_box_bytes(const eg_box_options *resolved);
bool eg_box_fits(const eg_box_options *resolved, double memory, eg_box_error *error);

/* The vertices of a straight box before it is reordered: number i + (n₀+1) (j + (n₁+1) k). */
typedef struct eg_lattice {
    eg_context *ctx; /* not owned */
    int dim;
    int cells[3];    /* beyond dim: 0 */
    double *line[3]; /* [cells + 1] coordinates along each axis; owned */
} eg_lattice;

/* Where vertex `vertex` lies on the lattice. */
void eg_lattice_index(const eg_lattice *lattice, int64_t vertex, int index[3]);

/* perturb.c: moves inner vertices of the box by up to `perturb` of the smaller of the two cells
 * beside them along each axis. Where an element would lose nearly all of its volume at a vertex,
 * its vertices are moved half as far, and so on: elements stay valid. */
eg_status eg_box_perturb(eg_mesh *mesh, const eg_lattice *lattice, double perturb, uint64_t seed);

#endif
