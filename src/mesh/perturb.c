/* Moves the inner vertices of a box at random, the same way on every machine: the displacement is a
 * hash of seed, vertex number and axis (splitmix64, [steele2014]). */
#include "mesh/box.h"

#include <math.h>

/* The least part of its Jacobian that a corner keeps. */
#define KEPT 0.1

/* Uniform in [-1, 1). */
static double random_of(uint64_t seed, uint64_t number)
{
    uint64_t z = seed * 0xd1342543de82ef95u + (number + 1) * 0x9e3779b97f4a7c15u;
    for (int round = 0; round < 2; round++) {
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
    }
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

/* Where a vertex goes if its displacement is halved `halvings` times. */
static void move(const eg_lattice *lattice, double perturb, uint64_t seed, int64_t vertex,
                 int halvings, double *x)
{
    int index[3];
    bool inner = true;
    eg_lattice_index(lattice, vertex, index);
    for (int d = 0; d < lattice->dim; d++)
        inner = inner && index[d] > 0 && index[d] < lattice->cells[d];
    for (int d = 0; d < lattice->dim; d++) {
        const double *line = &lattice->line[d][index[d]];
        x[d] = line[0];
        if (!inner) continue;
        double room = fmin(line[0] - line[-1], line[1] - line[0]);
        uint64_t number = (uint64_t)vertex * (uint64_t)lattice->dim + (uint64_t)d;
        x[d] += ldexp(perturb * room * random_of(seed, number), -halvings);
    }
}

/* True if all corners of an element keep enough of what they have on the lattice. */
static bool is_sound(const eg_mesh *mesh, const eg_lattice *lattice, int32_t element)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    const int32_t *v = &mesh->vertices[(int64_t)element * mesh->vertex_stride];
    double x[EG_MAX_VERTICES][3], straight[EG_MAX_VERTICES][3];
    for (int i = 0; i < info->vertices; i++) {
        int index[3];
        eg_lattice_index(lattice, v[i], index);
        for (int d = 0; d < info->dim; d++) {
            x[i][d] = mesh->x[(int64_t)v[i] * info->dim + d];
            straight[i][d] = lattice->line[d][index[d]];
        }
    }
    int corners = info->tensor ? info->vertices : 1;
    for (int c = 0; c < corners; c++) {
        double moved[3][3], before[3][3];
        eg_mesh_corner(info, c, (const double(*)[3])x, moved);
        eg_mesh_corner(info, c, (const double(*)[3])straight, before);
        if (!(eg_mesh_determinant(info->dim, (const double(*)[3])moved) >=
              KEPT * eg_mesh_determinant(info->dim, (const double(*)[3])before)))
            return false;
    }
    return true;
}

eg_status eg_box_perturb(eg_mesh *mesh, const eg_lattice *lattice, double perturb, uint64_t seed)
{
    eg_status status = EG_OK;
    enum { HALVINGS_MAX = 60 };
    uint8_t *halvings = NULL, *marked = NULL; /* [vertex_count] */
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->vertex_count, &halvings));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->vertex_count, &marked));
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        move(lattice, perturb, seed, v, 0, &mesh->x[v * mesh->dim]);
    for (bool again = true; again;) {
        again = false;
        for (int32_t e = 0; e < mesh->element_count; e++) {
            if (is_sound(mesh, lattice, e)) continue;
            const int32_t *v = &mesh->vertices[(int64_t)e * mesh->vertex_stride];
            int count = eg_shape_get_info((eg_shape)mesh->shape[e])->vertices;
            for (int i = 0; i < count; i++)
                marked[v[i]] = halvings[v[i]] < HALVINGS_MAX;
        }
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            if (!marked[v]) continue;
            move(lattice, perturb, seed, v, ++halvings[v], &mesh->x[v * mesh->dim]);
            marked[v] = 0;
            again = true;
        }
    }
done:
    eg_release(mesh->ctx, &marked);
    eg_release(mesh->ctx, &halvings);
    return status;
}
