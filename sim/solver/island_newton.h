// SPDX-License-Identifier: MIT
// The direct solve of an island: a part of a problem whose bodies touch each other and nothing else that moves.
//
// Idea: in the velocities v of its bodies the problem is to minimize (v - v_free)' M (v - v_free) / 2 with the relative
// velocity of each contact in the dual cone, and the augmented Lagrangian of that,
//   (v - v_free)' M (v - v_free) / 2 + sum_i |P_K(g_i - rho_i u_i(v))|^2 / (2 rho_i),
// is convex and once differentiable, however redundant the contacts are. Its minimum is found by Newton's method with a
// line search, its multipliers g are the impulses, and P_K(g - rho u) at the minimum the next ones (Rockafellar 1976; Qi and
// Sun 1993). A Newton step is a factorization of M + sum_i rho_i D_i V_i D_i', V the derivative of the projection: 6
// unknowns a body, whatever the number of contacts (skyline.h). With rho of 1e7 over the diagonal of N an update of the
// multipliers leaves a tenth of the slowest error of 30 cubes on each other, and costs a substitution.
// Weakness: from nothing it takes 5 to 20 factorizations to find out which contacts of a wall are open, stick and slide, and
// 50 to 100 of a heap that slides. In a pile at rest it takes one in every second step, since what bears a load holds.
#pragma once
#include "sim/solver/island_order.h"

// What is asked of a solve.
typedef struct SandIslandGoal {
    double rms;        // m/s, root mean square of the residual over its contacts at which it is solved (docs/problem.md)
    double tau;        // of the residual: 1 / mean(trace N_ii / rows) of the whole problem
    int most;          // factorizations
    double until;      // sand_seconds() at which it ends; 0: never
    const int *stop;   // NULL, or ends it when set to nonzero by another thread
    bool frictionless; // else the circular cone
    bool law;          // Coulomb's law: with De Saxce's bias
} SandIslandGoal;

typedef struct SandIslandResult {
    double rms;      // m/s, of the residual of the impulses that are returned
    double residual; // m/s, that of the problem without slop
    int factorizations;
} SandIslandResult;

typedef struct SandIslandNewton SandIslandNewton; // the arrays of a solve, kept from one to the next
SandIslandNewton *sand_island_newton_create(SandError *error);
void sand_island_newton_free(SandIslandNewton *newton);

// Whether the method can do an island, and would not take longer than it is worth: no joints, no torques of contacts, no
// masses without inertia, and a factorization of at most SAND_ISLAND_WORK multiplications. Then *can is set, and the solve
// is prepared. False when memory is out.
#define SAND_ISLAND_WORK 1e9
bool sand_island_newton_load(SandIslandNewton *newton, const SandProblem *problem, const SandIsland *island,
                             const SandIslandGoal *goal, bool *can, SandError *error);
// Solves the island that was loaded, from problem->start. Writes the best impulses found to impulse[], by contacts of the
// problem.
SandIslandResult sand_island_newton_solve(SandIslandNewton *newton, SandVec3 *impulse);
