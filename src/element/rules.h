/* Fully symmetric cubature rules on the triangle and the tetrahedron, stored as orbits.
 *
 * An orbit is the set of points that permutations of the vertices make of one point. Its kind says
 * which of the barycentric coordinates are equal. A rule is a count of orbits of each kind and,
 * orbit after orbit in this order, the weight of each of its points and its free coordinates:
 *
 *   triangle     centroid         (1/3, 1/3, 1/3)             1 point
 *                a                (a, a, 1-2a)                3 points
 *                a b              (a, b, 1-a-b)               6 points
 *   tetrahedron  centroid         (1/4, 1/4, 1/4, 1/4)        1 point
 *                a                (a, a, a, 1-3a)             4 points
 *                a                (a, a, 1/2-a, 1/2-a)        6 points
 *                a b              (a, a, b, 1-2a-b)          12 points
 *                a b c            (a, b, c, 1-a-b-c)         24 points
 *
 * All weights are positive and all points lie strictly inside. The weights of a table sum to one.
 * Sources: [witherden2015], [xiao2010], [pyfr], each rule's in docs/reference/cubature.md. The tool
 * tools/cubature.py refines the figures and writes rules_table.c. */
#ifndef EG_ELEMENT_RULES_H
#define EG_ELEMENT_RULES_H

#include "element/element.h"

#define EG_RULE_KINDS 5 /* of orbits: a triangle has 3 of them, a tetrahedron 5 */

typedef struct eg_rule {
    eg_shape shape;             /* EG_SHAPE_TRI or EG_SHAPE_TET */
    int degree;                 /* every polynomial of this total degree is integrated exactly */
    int count;                  /* points */
    int orbits[EG_RULE_KINDS];  /* of each kind, in the order above */
    const double *orbit_values; /* weight and coordinates of each orbit; static, not owned */
    const char *source;         /* key of docs/references.bib, or "eagre": reduced by our tool */
} eg_rule;

/* The tables: degrees and counts of points both ascend. */
extern const eg_rule eg_rules_triangle[], eg_rules_tetrahedron[];
extern const int eg_rules_triangle_count, eg_rules_tetrahedron_count;

/* The table of a shape and its length; NULL and 0 for shapes without rules. */
const eg_rule *eg_rule_table(eg_shape shape, int *count);

/* The rule with the fewest points that is exact to at least `degree`; false where there is none. */
bool eg_rule_find(eg_shape shape, int degree, eg_rule *out);

/* The points r [dim][count] in reference coordinates and their weights w [count], whose sum is the
 * shape's volume. */
void eg_rule_expand(const eg_rule *rule, double *r, double *w);

#endif
