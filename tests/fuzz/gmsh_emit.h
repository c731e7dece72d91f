/* Writes what a Gmsh file says in any form of the format, for fuzzers: no care is taken that it
 * makes sense. Entities are numbered anew, by their places in the table. */
#ifndef EG_FUZZ_GMSH_EMIT_H
#define EG_FUZZ_GMSH_EMIT_H

#include "mesh/gmsh/file.h"

#include <stdlib.h>
#include <string.h>

typedef struct gmsh_form {
    int version; /* 22 or 41 */
    bool binary, swapped;
    int size_bytes;
} gmsh_form;

typedef struct gmsh_emitter {
    const eg_gmsh_file *file; /* not owned */
    gmsh_form form;
    eg_text *out; /* not owned */
} gmsh_emitter;

/* The form that a number from 0 to 7 stands for. */
#define GMSH_FORMS 8
static inline gmsh_form gmsh_form_of(unsigned number)
{
    static const gmsh_form forms[GMSH_FORMS] = {
        {22, false, false, 8}, {22, true, false, 8}, {22, true, true, 8},  {41, false, false, 8},
        {41, true, false, 8},  {41, true, true, 8},  {41, true, false, 4}, {41, true, true, 4}};
    return forms[number % GMSH_FORMS];
}

static inline void emit_require(eg_status status)
{
    if (status != EG_OK) abort();
}

static inline void emit_text(gmsh_emitter *e, const char *text)
{
    emit_require(eg_text_puts(e->out, text));
}

static inline void emit_value(gmsh_emitter *e, const void *value, size_t bytes)
{
    char copy[8];
    for (size_t i = 0; i < bytes; i++)
        copy[i] = ((const char *)value)[e->form.swapped ? bytes - 1 - i : i];
    emit_require(eg_text_add(e->out, copy, bytes));
}

static inline void emit_int(gmsh_emitter *e, int32_t value)
{
    if (e->form.binary)
        emit_value(e, &value, sizeof value);
    else
        emit_require(eg_text_printf(e->out, "%d ", value));
}

/* A size or tag, which is an integer in version 2.2. */
static inline void emit_size(gmsh_emitter *e, int64_t value)
{
    const uint32_t narrow = (uint32_t)value;
    if (!e->form.binary)
        emit_require(eg_text_printf(e->out, "%lld ", (long long)value));
    else if (e->form.version == 22 || e->form.size_bytes == 4)
        emit_value(e, &narrow, sizeof narrow);
    else
        emit_value(e, &value, sizeof value);
}

static inline void emit_real(gmsh_emitter *e, double value)
{
    if (e->form.binary)
        emit_value(e, &value, sizeof value);
    else
        emit_require(eg_text_printf(e->out, "%.17g ", value));
}

static inline void emit_newline(gmsh_emitter *e)
{
    if (!e->form.binary) emit_text(e, "\n");
}

static inline void emit_end(gmsh_emitter *e, const char *name)
{
    emit_require(eg_text_printf(e->out, "%s$End%s\n", e->form.binary ? "\n" : "", name));
}

static inline void emit_names(gmsh_emitter *e)
{
    const eg_gmsh_file *file = e->file;
    emit_require(eg_text_printf(e->out, "$PhysicalNames\n%d\n", file->name_count));
    for (int i = 0; i < file->name_count; i++)
        emit_require(eg_text_printf(e->out, "%d %d \"%s\"\n", file->names[i].dim,
                                    file->names[i].tag, file->names[i].name));
    emit_text(e, "$EndPhysicalNames\n");
}

/* Entities that are parts of others, or those that are not. */
static inline void emit_entities(gmsh_emitter *e, bool parts)
{
    const eg_gmsh_file *file = e->file;
    int count[4] = {0};
    for (int i = 0; i < file->entity_count; i++)
        count[file->entities[i].dim] += (file->entities[i].parent >= 0) == parts;
    emit_text(e, parts ? "$PartitionedEntities\n" : "$Entities\n");
    for (int i = 0; parts && i < 2; i++) { /* one part, no ghosts */
        emit_size(e, 1 - i);
        emit_newline(e);
    }
    for (int dim = 0; dim < 4; dim++)
        emit_size(e, count[dim]);
    emit_newline(e);
    for (int dim = 0; dim < 4; dim++) {
        for (int i = 0; i < file->entity_count; i++) {
            const eg_gmsh_entity *entity = &file->entities[i];
            if (entity->dim != dim || (entity->parent >= 0) != parts) continue;
            emit_int(e, i + 1);
            if (parts) {
                emit_int(e, file->entities[entity->parent].dim);
                emit_int(e, entity->parent + 1);
                emit_size(e, 0);
            }
            for (int k = 0; k < (dim == 0 ? 3 : 6); k++)
                emit_real(e, 0.5 * k);
            emit_size(e, entity->physical_count);
            for (int k = 0; k < entity->physical_count; k++)
                emit_int(e, entity->physical[k]);
            if (dim > 0) emit_size(e, 0);
            emit_newline(e);
        }
    }
    emit_end(e, parts ? "PartitionedEntities" : "Entities");
}

static inline void emit_nodes(gmsh_emitter *e)
{
    const eg_gmsh_file *file = e->file;
    const bool old = e->form.version == 22;
    if (old) {
        emit_require(eg_text_printf(e->out, "$Nodes\n%d\n", file->node_count));
    } else {
        emit_text(e, "$Nodes\n");
        for (int i = 0; i < 4; i++)
            emit_size(e, (int64_t[]){1, file->node_count, 1, INT32_MAX}[i]);
        emit_newline(e);
        for (int i = 0; i < 3; i++)
            emit_int(e, (int[]){2, 1, 0}[i]);
        emit_size(e, file->node_count);
        emit_newline(e);
        for (int32_t i = 0; i < file->node_count; i++) {
            emit_size(e, file->node_tag[i]);
            emit_newline(e);
        }
    }
    for (int32_t i = 0; i < file->node_count; i++) {
        if (old) emit_size(e, file->node_tag[i]);
        for (int d = 0; d < 3; d++)
            emit_real(e, file->x[3 * i + d]);
        emit_newline(e);
    }
    emit_end(e, "Nodes");
}

/* An element in several groups stands there once for each of them. */
static inline void emit_element_22(gmsh_emitter *e, const eg_gmsh_block *block, int64_t i)
{
    const eg_gmsh_entity *entity = block->entity >= 0 ? &e->file->entities[block->entity] : NULL;
    const int groups = entity && entity->physical_count > 0 ? entity->physical_count : 1;
    const int type = eg_gmsh_type(block->shape, block->order);
    for (int g = 0; g < groups; g++) {
        if (e->form.binary) {
            emit_int(e, type);
            emit_int(e, 1);
        }
        if (e->form.binary) emit_int(e, entity ? 2 : 0);
        emit_size(e, block->tag[i]);
        if (!e->form.binary) {
            emit_int(e, type);
            emit_int(e, entity ? 2 : 0);
        }
        if (entity) {
            emit_int(e, entity->physical_count > 0 ? entity->physical[g] : 0);
            emit_int(e, block->entity + 1);
        }
        for (int k = 0; k < block->np; k++)
            emit_size(e, e->file->node_tag[block->nodes[i * block->np + k]]);
        emit_newline(e);
    }
}

static inline void emit_elements_22(gmsh_emitter *e)
{
    const eg_gmsh_file *file = e->file;
    int64_t total = 0;
    for (int b = 0; b < file->block_count; b++) {
        const int entity = file->blocks[b].entity;
        const int groups = entity >= 0 ? file->entities[entity].physical_count : 0;
        total += file->blocks[b].count * (groups > 0 ? groups : 1);
    }
    emit_require(eg_text_printf(e->out, "$Elements\n%lld\n", (long long)total));
    for (int b = 0; b < file->block_count; b++)
        for (int64_t i = 0; i < file->blocks[b].count; i++)
            emit_element_22(e, &file->blocks[b], i);
    emit_end(e, "Elements");
}

/* Blocks of no entity are put into one that is not described, if none is. */
static inline void emit_elements_41(gmsh_emitter *e)
{
    const eg_gmsh_file *file = e->file;
    int64_t total = 0;
    for (int b = 0; b < file->block_count; b++)
        total += file->blocks[b].count;
    emit_text(e, "$Elements\n");
    for (int i = 0; i < 4; i++)
        emit_size(e, (int64_t[]){file->block_count, total, 1, INT32_MAX}[i]);
    emit_newline(e);
    for (int b = 0; b < file->block_count; b++) {
        const eg_gmsh_block *block = &file->blocks[b];
        emit_int(e, eg_shape_get_info(block->shape)->dim);
        emit_int(e, block->entity + 1);
        emit_int(e, eg_gmsh_type(block->shape, block->order));
        emit_size(e, block->count);
        emit_newline(e);
        for (int64_t i = 0; i < block->count; i++) {
            emit_size(e, block->tag[i]);
            for (int k = 0; k < block->np; k++)
                emit_size(e, file->node_tag[block->nodes[i * block->np + k]]);
            emit_newline(e);
        }
    }
    emit_end(e, "Elements");
}

/* All of it is text in version 2.2. */
static inline void emit_periodic(gmsh_emitter *e)
{
    const gmsh_form form = e->form;
    e->form.binary = form.binary && form.version == 41;
    emit_text(e, "$Periodic\n");
    emit_size(e, e->file->link_count);
    emit_newline(e);
    for (int i = 0; i < e->file->link_count; i++) {
        const eg_gmsh_link *link = &e->file->links[i];
        emit_int(e, link->dim);
        emit_int(e, link->entity_tag);
        emit_int(e, link->master_tag);
        emit_newline(e);
        if (form.version == 41)
            emit_size(e, link->affine ? 16 : 0);
        else if (link->affine)
            emit_text(e, "Affine ");
        for (int k = 0; link->affine && k < 16; k++)
            emit_real(e, link->affine[k]);
        emit_newline(e);
        emit_size(e, link->count);
        emit_newline(e);
        for (int64_t k = 0; k < link->count; k++) {
            emit_size(e, e->file->node_tag[link->pair[2 * k]]);
            emit_size(e, e->file->node_tag[link->pair[2 * k + 1]]);
            emit_newline(e);
        }
    }
    emit_end(e, "Periodic");
    e->form = form;
}

/* True if the form can hold all tags, and all blocks. */
static inline bool gmsh_fits(const eg_gmsh_file *file, gmsh_form form)
{
    int64_t most = 0;
    bool none = false, some = file->entity_count > 0;
    for (int32_t i = 0; i < file->node_count; i++)
        most = file->node_tag[i] > most ? file->node_tag[i] : most;
    for (int b = 0; b < file->block_count; b++) {
        const eg_gmsh_block *block = &file->blocks[b];
        none = none || block->entity < 0;
        for (int64_t i = 0; i < block->count; i++)
            most = block->tag[i] > most ? block->tag[i] : most;
    }
    if (form.version == 41 && none && some) return false;
    return form.version == 22 ? most <= INT32_MAX : form.size_bytes == 8 || most <= UINT32_MAX;
}

static inline void gmsh_emit(const eg_gmsh_file *file, gmsh_form form, eg_text *out)
{
    gmsh_emitter e = {file, form, out};
    bool parts = false;
    for (int i = 0; i < file->entity_count; i++)
        parts = parts || file->entities[i].parent >= 0;
    emit_require(eg_text_printf(out, "$MeshFormat\n%s %d %d\n", form.version == 22 ? "2.2" : "4.1",
                                form.binary, form.size_bytes));
    if (form.binary) emit_int(&e, 1);
    emit_end(&e, "MeshFormat");
    emit_names(&e);
    if (form.version == 41 && file->entity_count > 0) emit_entities(&e, false);
    if (form.version == 41 && parts) emit_entities(&e, true);
    emit_nodes(&e);
    if (form.version == 41)
        emit_elements_41(&e);
    else
        emit_elements_22(&e);
    emit_periodic(&e);
}

#endif
