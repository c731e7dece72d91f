/* The schemes of model `euler` as matrices along a line. */
#ifndef EG_EULER_LINES_H
#define EG_EULER_LINES_H

#include "element/element.h"

/* The choices of scheme.method. */
typedef enum eg_euler_method {
    EG_EULER_DG,
    EG_EULER_NDG,
    EG_EULER_CPR,
    EG_EULER_SD,
    EG_EULER_FV /* which has no matrices: see cells.k.c */
} eg_euler_method;

/* What stage.k.c computes from: SCHEME_… there. */
typedef enum eg_euler_form { EG_EULER_FLUXES, EG_EULER_CHAIN, EG_EULER_STAGGER } eg_euler_form;

typedef struct eg_euler_scheme {
    eg_euler_method method;
    bool chain;      /* CPR: the flux derivative by the chain rule */
    int order;       /* FV: of the reconstruction, 2 or 3 */
    int face_points; /* FV: at which fluxes are taken on each face, 1 or 2 */
    bool limited;    /* FV: slopes are, by minmod */
} eg_euler_scheme;

#define EG_EULER_DEGREE_MAX 8
/* Values of a table of the highest degree. */
#define EG_EULER_TABLE_MAX                                                                         \
    (2 * (EG_EULER_DEGREE_MAX + 1) * (EG_EULER_DEGREE_MAX + 1) + 7 * (EG_EULER_DEGREE_MAX + 1))

eg_basis eg_euler_basis(eg_euler_scheme scheme);
eg_euler_form eg_euler_form_of(eg_euler_scheme scheme);
/* Points of a line of degree N at which fluxes are taken. */
int eg_euler_inner(eg_euler_scheme scheme, int degree);
/* Where they are; `line` is the element in 1D. */
eg_status eg_euler_inner_points(eg_euler_scheme scheme, const eg_element *line, double *out);

/* Where the basis at both ends begins in the table. */
int eg_euler_ends_at(eg_euler_scheme scheme, int degree);
/* The table of stage.k.c; `line` is the element in 1D. Returns the number of values in *count. */
eg_status eg_euler_make_table(eg_euler_scheme scheme, const eg_element *line,
                              double table[EG_EULER_TABLE_MAX], int *count);

#endif
