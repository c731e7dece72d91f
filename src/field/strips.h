/* What elements of a group leave for their neighbours, face by face, for kernels of two passes that relay.h makes one of:
 * a strip is what one element has for the neighbour behind one face, in a row, so that it is found at one place.
 *
 *     [homes][faces][lanes][values]
 *
 * The first pass writes strips of its tiles, ghosts too, and the second reads those of neighbours. */
#ifndef EG_STRIPS_H
#define EG_STRIPS_H

#include "field/relay.h"

typedef struct eg_strips {
    eg_relay *relay;                          /* owned, as all that follows */
    eg_buffer *first, *second, *soon, *homes; /* i32, of the relay, on the device */
    eg_buffer *
        next; /* i32 [own_tiles][faces][lanes] where the neighbour's strip begins; one's own at a boundary */
    eg_buffer *bounded; /* i32 [tiles] bit f: whether any face f of the tile is at a boundary */
    int64_t values;     /* of all strips */
} eg_strips;

/* Whether a strip fits all neighbours: whether they run against each other's faces, on this rank. */
bool eg_strips_fit(const eg_space *space);

/* Of a space's only group, so many values in a strip, a multiple of 4. */
eg_status eg_strips_create(const eg_space *space, int values, eg_strips **out);
void eg_strips_destroy(eg_context *ctx, eg_strips **strips);

/* Both passes, the calls of one and of the other, on numbers of tiles in `first` and in `second`: all that needs no ghosts;
 * then the rest, when those are filled. */
eg_status eg_strips_launch_interior(const eg_strips *strips, const eg_call passes[2]);
eg_status eg_strips_launch_rest(const eg_group *group, const eg_call passes[2]);

#endif
