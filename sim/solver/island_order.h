// SPDX-License-Identifier: MIT
// An island, and the order of its bodies in a factor.
#pragma once
#include "sandglass/problem.h"
#include "sim/core/array.h"

// Contacts and bodies of an island, by their numbers in the problem.
typedef struct SandIsland {
    const int *contacts, *bodies;
    int contact_count, body_count;
} SandIsland;

// Whether impulses move a body.
static inline bool sand_body_moves(const SandProblem *p, int body) {
    return body < p->dynamic_count && p->bodies[body].inverse_mass > 0;
}

typedef struct SandIslandOrder {
    SAND_ARRAY(int) order;           // numbers of the bodies in the island
    SAND_ARRAY(int) place;           // of a body of the problem that is in the island: where it is in that order
    SAND_ARRAY(int) first, neighbor; // those of a body in the island, while the order is found
} SandIslandOrder;

void sand_island_order_free(SandIslandOrder *o);
// By the distance from an end of the island (Cuthill and McKee), in which a skyline is low.
bool sand_island_order_find(SandIslandOrder *o, const SandProblem *problem, const SandIsland *island, SandError *error);
