// Which rank owns each body in the coming step: the one that owns its solver index, which follows from how many bodies of
// all ranks are in front of it, in the order of cells of the grids that all ranks share (broad_phase.h). A rank only finds
// out in which cell each rank begins: nothing here grows with the bodies that others have.
#pragma once
#include "sim/collision/collide.h"
#include "sim/core/messages.h"
#include "sim/solver/subproblem.h"

typedef struct SandOwners {
    // What was asked for: the own bodies of a rank, sorted by sand_collision_sort, and their numbers in the world.
    const SandCollision *collision;
    const SandWorld *world;
    const int *id;
    const SandPartition *partition;
    // What was found.
    int64_t *cell_of; // of each own body in the order of solver indices, -1: it takes no part
    int64_t cell_count, sphere_cells;
    int64_t begin[SAND_CHUNKS]; // the cell that each rank begins in; cell_count: behind all bodies
    int64_t ahead[SAND_CHUNKS]; // bodies of all ranks in front of that cell
    SandMessages ties;          // bodies of cells in which a rank does not begin with the first
    int64_t work[SAND_CHUNKS];  // of each chunk in the last step
    int work_chunks;            // how many there were; 0: none is known
    int64_t *tally;             // scratch
    size_t cell_of_capacity, tally_capacity;
} SandOwners;

void sand_owners_free(SandOwners *owners);
// Counts the bodies of all ranks, and cuts them into ranges of about as much work as in the last step: fills the ranges of
// the holding. All ranks call it; what it is given must outlive the questions below.
bool sand_owners_find(SandOwners *owners, const SandCollision *collision, const SandWorld *world, const int *id,
                      SandPartition *partition, SandError *error);
int sand_owner_of(const SandOwners *owners, int i); // the rank that owns body i; one that takes no part stays where it is
// Notes how much there is to do in each chunk, once the contacts are found. All ranks call it.
void sand_owners_weigh(SandOwners *owners, const SandCollision *collision, const SandPartition *partition);
