// SPDX-License-Identifier: MIT
// The owner of each body in the coming step: the rank that owns its solver index, which is the number of bodies of all ranks
// before it in the order of the cells of the shared grids (broad_phase.h). It suffices to know in which cell each rank
// begins. So nothing here grows with the bodies of other ranks.
#pragma once
#include "sim/collision/collide.h"
#include "sim/core/array.h"
#include "sim/ranks/messages.h"
#include "sim/solver/subproblem.h"

typedef struct SandOwners {
    // Arguments of sand_owners_find.
    const SandCollision *collision;
    const SandWorld *world;
    const int *id;
    const SandPartition *partition;
    // Results.
    SAND_ARRAY(int64_t) cell_of;      // of each body: its cell; -1: it takes no part
    int64_t cell_count, sphere_cells; // cells of both grids; those of the spheres come first, of convex bodies last
    int64_t begin[SAND_MAX_RANKS];    // of each rank: the cell that it begins in; cell_count: it has no bodies
    int64_t ahead[SAND_MAX_RANKS];    // of each rank: bodies of all ranks before that cell
    SandMessages ties;                // bodies in cells that are cut: a rank begins there, and not with the first body
    int64_t work[SAND_CHUNKS];        // of each chunk in the last step
    int work_chunks;                  // number of chunks that `work` is of; 0: not known
    SAND_ARRAY(int64_t) tally;        // scratch
} SandOwners;

void sand_owners_free(SandOwners *owners);
// Counts the bodies of all ranks, and fills the ranges of the partition: consecutive solver indices, whose work in the last
// step was about equal. `collision` has been sorted by sand_collision_sort; `id` has the global_id of each body. Arguments
// must outlive calls of sand_owner_of. Collective.
bool sand_owners_find(SandOwners *owners, const SandCollision *collision, const SandWorld *world, const int *id,
                      SandPartition *partition, SandError *error);
int sand_owner_of(const SandOwners *owners, int i); // the rank that owns body i; one that takes no part stays where it is
// Notes the work of each chunk, once the contacts are found, for the partition of the next step. Collective.
void sand_owners_weigh(SandOwners *owners, const SandCollision *collision, const SandPartition *partition);
