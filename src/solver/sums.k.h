/* What sums over vectors share, in blocks of ROWS rows of threads: see vectors.k.c for their order. */

/* Adds the ROWS rows and then the lanes of each of n sums pairwise; the results are in s[k *
 * ROWS][0]. */
#define TREE(s, n) \
    K_SYNC; \
    for (int h = ROWS / 2; h > 0; h /= 2) { \
        K_NODES(i, (n) * (ROWS / 2)) \
        if (i % (ROWS / 2) < h) \
            s[i / (ROWS / 2) * ROWS + i % (ROWS / 2)][lane] += \
                s[i / (ROWS / 2) * ROWS + i % (ROWS / 2) + h][lane]; \
        K_SYNC; \
    } \
    for (int h = LANES / 2; h > 0; h /= 2) { \
        K_NODES(i, n) if (lane < h) s[i * ROWS][lane] += s[i * ROWS][lane + h]; \
        K_SYNC; \
    }

#if WEIGHTED
#define COUNTS(tile) (weight[(tile) * LANES + lane] != 0)
#else
#define COUNTS(tile) 1
#endif
