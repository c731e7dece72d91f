/* What an opened checkpoint holds; shared by what opens and what reads. */
#ifndef EG_REPORT_CHECKPOINT_OPEN_H
#define EG_REPORT_CHECKPOINT_OPEN_H

#include "report/checkpoint/checkpoint.h"
#include "report/checkpoint/image.h"
#include "report/checkpoint/manifest.h"

/* The elements of the block that was loaded last. */
typedef struct eg_loaded_block {
    int block; /* -1: none */
    eg_image *image;
    int64_t *global; /* [elements] owned */
    uint8_t *shape;  /* [elements] eg_shape, owned */
} eg_loaded_block;

struct eg_checkpoint {
    eg_context *ctx; /* not owned */
    char *path;      /* of its directory; owned */
    eg_manifest_file *file;
    const eg_manifest *manifest; /* the file's */
    eg_loaded_block loaded;
};

/* Loads a block unless it is loaded; drops the one before. Its checksum is verified before HDF5 sees it. */
eg_status eg_checkpoint_load(eg_checkpoint *checkpoint, int block);
void eg_checkpoint_unload(eg_checkpoint *checkpoint);

#endif
