// SPDX-License-Identifier: MIT
// Islands: the parts of a problem whose bodies touch each other. Bodies that do not move, boundaries among them, connect
// nothing. What one island does no other feels within the step, so each is solved alone: the small ones directly, to
// SAND_ISLAND_RMS (island_newton.h), and the rest together by the method of the definition.
//
// Why: a solve that leaves too much of an error lets a pile rock, since the next step inherits it (docs/stability.md), and
// the slowest mode of a tower or a wall, its bending, is out of reach of a few dozen products. A solve to rounding leaves
// nothing to inherit, and the next one begins with its solution.
#pragma once
#include "sandglass/problem.h"
#include "sim/core/thread_pool.h"

#define SAND_ISLAND_RMS 1e-6 // m/s, root mean square of the residual to which an island is solved

typedef struct SandIslands SandIslands; // kept from solve to solve; its arrays only grow

SandIslands *sand_islands_create(SandError *error);
void sand_islands_free(SandIslands *islands);

// Solves the small islands of a problem: writes their impulses, and zero for all other contacts. `stop` may be NULL.
bool sand_islands_solve(SandIslands *islands, SandThreadPool *pool, const SandProblem *problem, const SandSolveDef *def,
                        const int *stop, SandVec3 *impulse, SandIslandReport *report, SandError *error);
// What they leave: the contacts of all other islands with their bodies, as a problem of its own. NULL: nothing.
const SandProblem *sand_islands_rest(const SandIslands *islands);
// Writes the solution of the rest to its places in that of the whole.
void sand_islands_merge(const SandIslands *islands, const SandSolution *rest, SandSolution *whole);
