/* Finds what the user meant: the valid name at the least edit distance from the one given. */
#include "base/base.h"

#include <string.h>

#define LONGEST 32

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insertions, deletions, replacements and swaps of neighbours. */
static size_t distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b), rows[3][LONGEST + 1];
    if (na > LONGEST || nb > LONGEST) return na + nb;
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(replaced, least(last[j], row[j - 1]) + 1);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[nb];
}

const char *eg_nearest(const char *given, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    /* Two thirds of the letters right are a guess worth making. */
    size_t best = (strlen(given) + 2) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        bool begins = given[0] && strncmp(candidates[i], given, strlen(given)) == 0;
        size_t d = begins ? 1 : distance(given, candidates[i]);
        if (d < best) {
            best = d;
            nearest = candidates[i];
        }
    }
    return nearest;
}
