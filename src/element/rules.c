/* Looks up and expands the fully symmetric cubature rules; rules_table.c holds them as orbits. */
#include "element/rules.h"

#include <assert.h>
#include <string.h>

#define MAX_VERTICES 4

/* A kind of orbit: its points are the distinct permutations of `value`, which says which of the
 * orbit's barycentric values each coordinate takes. All values but the last are free. */
typedef struct orbit_kind {
    int points;
    int free;
    int8_t value[MAX_VERTICES];
} orbit_kind;

static const orbit_kind triangle_kinds[EG_RULE_KINDS] = {
    {1, 0, {0, 0, 0}},
    {3, 1, {0, 0, 1}},
    {6, 2, {0, 1, 2}},
};

static const orbit_kind tetrahedron_kinds[EG_RULE_KINDS] = {
    {1, 0, {0, 0, 0, 0}},  {4, 1, {0, 0, 0, 1}},  {6, 1, {0, 0, 1, 1}},
    {12, 2, {0, 0, 1, 2}}, {24, 3, {0, 1, 2, 3}},
};

const eg_rule *eg_rule_table(eg_shape shape, int *count)
{
    if (shape == EG_SHAPE_TRI) {
        *count = eg_rules_triangle_count;
        return eg_rules_triangle;
    }
    if (shape == EG_SHAPE_TET) {
        *count = eg_rules_tetrahedron_count;
        return eg_rules_tetrahedron;
    }
    *count = 0;
    return NULL;
}

bool eg_rule_find(eg_shape shape, int degree, eg_rule *out)
{
    int count;
    const eg_rule *table = eg_rule_table(shape, &count);
    for (int i = 0; i < count; i++) {
        if (table[i].degree >= degree) {
            *out = table[i];
            return true;
        }
    }
    return false;
}

/* Fills in the barycentric values of an orbit: the free ones, and the last one, with which the
 * coordinates sum to one. */
static void orbit_values(const orbit_kind *kind, int vertices, const double *free, double *values)
{
    double sum = 0.0;
    int repeats = 0;
    for (int i = 0; i < vertices; i++) {
        if (kind->value[i] < kind->free)
            sum += free[kind->value[i]];
        else
            repeats++;
    }
    for (int i = 0; i < kind->free; i++)
        values[i] = free[i];
    values[kind->free] = (1.0 - sum) / repeats;
}

/* The next permutation in lexicographic order; false after the last one. */
static bool permute(int8_t *a, int n)
{
    int i = n - 2;
    while (i >= 0 && a[i] >= a[i + 1])
        i--;
    if (i < 0) return false;
    int j = n - 1;
    while (a[j] <= a[i])
        j--;
    int8_t swap = a[i];
    a[i] = a[j];
    a[j] = swap;
    for (int low = i + 1, high = n - 1; low < high; low++, high--) {
        swap = a[low];
        a[low] = a[high];
        a[high] = swap;
    }
    return true;
}

void eg_rule_expand(const eg_rule *rule, double *r, double *w)
{
    const eg_shape_info *info = eg_shape_get_info(rule->shape);
    const orbit_kind *kinds = rule->shape == EG_SHAPE_TRI ? triangle_kinds : tetrahedron_kinds;
    const double *orbit = rule->orbit_values;
    int point = 0;
    for (int k = 0; k < EG_RULE_KINDS; k++) {
        for (int i = 0; i < rule->orbits[k]; i++) {
            double values[MAX_VERTICES];
            int8_t order[MAX_VERTICES];
            orbit_values(&kinds[k], info->vertices, orbit + 1, values);
            memcpy(order, kinds[k].value, sizeof order);
            do {
                /* Vertex 0 is at -1 in all coordinates, vertex d + 1 at 1 in coordinate d. */
                for (int d = 0; d < info->dim; d++)
                    r[d * rule->count + point] = 2.0 * values[order[d + 1]] - 1.0;
                w[point++] = orbit[0] * info->volume;
            } while (permute(order, info->vertices));
            orbit += 1 + kinds[k].free;
        }
    }
    assert(point == rule->count);
}
