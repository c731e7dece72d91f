/* First guesses for systems that are solved again and again with the same matrix, as in the steps of a flow:
 * the combination of the last solutions that is nearest to the new one in the norm of A.
 *
 *     eg_guess_create(vectors, 8, NULL, NULL, &guess);
 *     eg_guess_make(guess, b, x);                     // x: the guess; what it was while nothing is known
 *     eg_pcg_solve(pcg, b, x, &result);
 *     eg_guess_learn(guess, pcg, x);
 */
#ifndef EG_SOLVER_GUESS_H
#define EG_SOLVER_GUESS_H

#include "solver/krylov.h"

enum { EG_GUESS_MOST = 16 };

typedef struct eg_guess eg_guess;

/* Remembers up to `most` solutions, 1 to EG_GUESS_MOST. They are kept in `basis`, which is not owned, of
 * the vectors' type: vector k has its value (tile, row, lane) of part i at
 * offset[i] + ((tile*most + k)*rows + row)*lanes + lane, as a field with `most` components has it; NULL: in
 * a buffer of its own. Collective where vectors are, as all that follows; only creation allocates. */
eg_status eg_guess_create(eg_vectors *vectors, int most, eg_buffer *basis, const size_t *offset,
                          eg_guess **out);
void eg_guess_destroy(eg_guess **guess);

/* How many vectors of the basis count: with them all that is remembered. */
int eg_guess_count(const eg_guess *guess);
/* For a basis that was kept elsewhere; 0 forgets all, as is due when the matrix changes. */
void eg_guess_resume(eg_guess *guess, int count);

/* x = the guess for A x = b; while nothing is known, x stays as it is. */
eg_status eg_guess_make(eg_guess *guess, eg_buffer *b, eg_buffer *x);
/* x solves the system of the last guess, whatever the residual. Takes a product with A, and the solver's
 * vectors for what is on the way. The x of a singular A has no part in its null space. */
eg_status eg_guess_learn(eg_guess *guess, eg_pcg *pcg, eg_buffer *x);

#endif
