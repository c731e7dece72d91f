/* What a flow remembers: the earlier states that its order in time needs, and the solutions that first
 * guesses for its systems are made of. */
#include "model/ins/flow_parts.h"

#include <string.h>

/* --- guesses ---------------------------------------------------------------------------------- */

void eg_ins_guesses_destroy(eg_ins_flow *f)
{
    for (int c = 0; c < 3; c++) {
        eg_guess_destroy(&f->guesses[c]);
        eg_field_destroy(&f->basis[c]);
    }
}

eg_status eg_ins_guesses_create(eg_ins_flow *f)
{
    const int most = f->options.guesses;
    eg_vectors *all = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_create(f->space, most, EG_F64, &all));
    for (int c = 0; c < 3; c++) {
        EG_TRY(eg_field_create(f->space, most, EG_F64, &f->basis[c]));
        EG_TRY(eg_vectors_fill(all, 0, f->basis[c]->data));
        EG_TRY(eg_guess_create(f->vectors, most, f->basis[c]->data, f->basis[c]->offset,
                               &f->guesses[c]));
    }
done:
    eg_vectors_destroy(&all);
    return status;
}

/* --- a flow that goes on ---------------------------------------------------------------------- */

/* FNV-1a of the bytes of a number. */
static uint64_t mix(uint64_t hash, uint64_t number)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = (hash ^ (number >> shift & 255)) * 0x100000001b3u;
    return hash;
}

/* A whole number, exact as a double, that is another for another matrix of a component on the same mesh,
 * but for λ. */
static double name_system(const eg_ins_flow *f, int component)
{
    const eg_space *space = f->space;
    uint64_t hash = 0xcbf29ce484222325u, penalty;
    memcpy(&penalty, &f->options.penalty, sizeof penalty);
    hash = mix(hash, (uint64_t)space->groups[0].degree);
    hash = mix(hash, penalty);
    for (int b = 0; b < space->mesh->boundary_count; b++)
        hash = mix(hash, (uint64_t)f->types[component][b]);
    return (double)(hash >> 12);
}

eg_ins_memory eg_ins_flow_remember(const eg_ins_flow *f)
{
    eg_ins_memory memory = {.states = f->states,
                            .lambda = f->solve[0] ? eg_ins_solve_lambda(f->solve[0]) : f->lambda};
    memcpy(memory.times, f->times, sizeof memory.times);
    for (int c = 0; c < 3; c++) {
        memory.guesses[c] = f->guesses[c] ? eg_guess_count(f->guesses[c]) : 0;
        memory.systems[c] = name_system(f, c);
    }
    return memory;
}

int eg_ins_flow_resume(eg_ins_flow *f, const eg_ins_memory *memory)
{
    const int most = eg_ins_flow_history(f);
    f->states = memory->states < most ? (int)memory->states : most;
    memcpy(f->times, memory->times, sizeof f->times);
    f->lambda = memory->lambda;
    return f->states;
}

eg_field *eg_ins_flow_basis(const eg_ins_flow *f, int component)
{
    return f->basis[component];
}

bool eg_ins_flow_wants_basis(const eg_ins_flow *f, const eg_ins_memory *memory, int component)
{
    return f->guesses[component] && memory->guesses[component] > 0 &&
           memory->systems[component] == name_system(f, component);
}

void eg_ins_flow_resume_basis(eg_ins_flow *f, const eg_ins_memory *memory, int component)
{
    eg_guess_resume(f->guesses[component], (int)memory->guesses[component]);
}
