/* Two passes over the tiles of a group as one, for CPUs and fields that are larger than their caches: what the
 * first leaves of a tile for its neighbours is picked up by the second while it is in the caches.
 *
 * The first pass goes through the tiles as they stand. The second does a tile as soon as all that have neighbours of
 * its elements have been there, so that what is under way is about the boundary of what is done, a few rows of tiles.
 * What a tile leaves has a home among `homes`, which others take when all neighbours have picked it up: memory
 * that is used again and again stays in the caches, and never goes to memory.
 *
 *     early  first pass of tiles that have neighbours in another thread's part      all threads, then
 *     main   both passes of all else, each thread by itself
 *     late   second pass of tiles that touch ghosts, when the first has been through these
 *
 * Homes of tiles that the last needs are theirs alone, and so are those of early ones and of ghosts.
 *
 * The first pass mostly waits for memory and the second mostly computes. So the second may ask for what the first will
 * read: a tile for each that it does, on the way, or two where it falls behind. */
#ifndef EG_RELAY_H
#define EG_RELAY_H

#include "field/field.h"

typedef struct eg_relay {
    int threads;
    int64_t homes; /* how many there are */
    int32_t *home; /* [tiles] owned */
    int32_t
        *first; /* [tiles] the tile that is number i in the first pass: own ones, ghosts; owned */
    int32_t *second; /* [own_tiles] … in the second: interior tiles, then late ones; owned */
    int32_t *
        soon; /* [own_tiles][2] tiles to ask for with number i of the second pass; -1: none; owned */
    eg_piece *pieces; /* of calls 0 and 1, the passes, on numbers; owned */
    eg_pieces *lists; /* [2][threads] early ones, without pieces if `alone`; main; owned */
    bool alone;
} eg_relay;

/* Of tiles that a thread does at a time there are so many. */
enum { EG_RELAY_CHUNK = 8 };
/* … and as many ahead of the first pass are asked for, or more: two at a time up to NEAR, then one at a time. */
enum { EG_RELAY_NEAR = 8, EG_RELAY_FAR = 16 };

/* Of a space's only group, `chunk` tiles at a time: 0 for EG_RELAY_CHUNK on a CPU and all of them elsewhere. */
eg_status eg_relay_create(const eg_space *space, int64_t chunk, int threads, eg_relay **out);
void eg_relay_destroy(eg_context *ctx, eg_relay **relay);

#endif
