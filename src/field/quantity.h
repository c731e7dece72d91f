/* Quantities that are computed from fields, reduced on the device: integrals, norms and extremes of
 * expressions over the domain or over boundaries.
 *
 * The variables of an expression are x, y, z, t, the outward unit normal nx, ny, nz (0 in the
 * domain), then the components of all fields, in their order, and then the derivatives of all of
 * these along x, y and z (those along z are 0 in the plane). Expressions are evaluated at the
 * points of a cubature from the interpolated fields; on boundaries with the values, and the
 * derivatives, of the element there. Only what an expression uses is computed. */
#ifndef EG_FIELD_QUANTITY_H
#define EG_FIELD_QUANTITY_H

#include "case/expression.h"
#include "field/field.h"

enum {
    EG_QUANTITY_NX = EG_VARIABLE_COUNT,
    EG_QUANTITY_NY,
    EG_QUANTITY_NZ,
    EG_QUANTITY_FIELDS /* the first component of the first field */
};

/* The variable that is the derivative of a component, counted through all fields, which have
 * `components` together, along x (direction 0), y or z. */
static inline int eg_quantity_derivative(int components, int component, int direction)
{
    return EG_QUANTITY_FIELDS + components + 3 * component + direction;
}

typedef struct eg_quantity eg_quantity;

typedef struct eg_quantity_options {
    /* [field_count] what fields are like: any of the same space, components and type may be given
     * when it is measured; at least one, all on one space. */
    const eg_field *const *fields;
    int field_count;
    const eg_expression *const *expressions; /* not kept */
    int count;
    const int *boundaries; /* [boundary_count] numbers in the mesh; NULL: the domain */
    int boundary_count;
    const int *groups; /* [group_count] of the mesh's elements, or of those at the boundaries, only
                          the ones in these groups; NULL: all */
    int group_count;
    int degree; /* of the cubature; 0: of each element twice its degree and 4 more, or so much that
                   the square of a field is integrated exactly on a curved one */
} eg_quantity_options;

/* What is told of each expression. If it is NaN anywhere where it is looked at, all but `measure`
 * are. */
typedef struct eg_quantity_result {
    double integral, l1, l2; /* l2 = sqrt(∫ q²) */
    double least, most;      /* over the points of the cubature and, in the domain, the nodes (modal
                                bases: those of EG_BASIS_LOBATTO); of nothing: ∞ and -∞ */
    double measure;          /* of what is integrated over, by the same cubature */
} eg_quantity_result;

/* Collective, and ranks agree on whether it has worked. */
eg_status eg_quantity_create(const eg_quantity_options *options, eg_quantity **out);
void eg_quantity_destroy(eg_quantity **quantity);
/* out [count], the same on all ranks, and the same bits each time on the same ranks and device.
 * Collective, and ranks agree on whether it has worked; allocates nothing after the first call. */
eg_status eg_quantity_measure(eg_quantity *quantity, double t, const eg_field *const *fields,
                              eg_quantity_result *out);

#endif
