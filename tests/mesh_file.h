/* A file for a mesh, in a folder of its own. */
#ifndef EG_TEST_MESH_FILE_H
#define EG_TEST_MESH_FILE_H

#include "test.h"

typedef struct fixture {
    eg_context *ctx;
    char directory[PATH_MAX], path[PATH_MAX + 16];
} fixture;

static inline fixture begin(void)
{
    fixture f = {.ctx = test_context()};
    test_directory_create(f.directory);
    snprintf(f.path, sizeof f.path, "%s/mesh.msh", f.directory);
    return f;
}

static inline void end(fixture *f)
{
    test_directory_remove(f->directory);
    test_context_free(&f->ctx);
}

#endif
