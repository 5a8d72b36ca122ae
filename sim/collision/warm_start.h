// Warm start: a contact of this step finds its impulse of the last step by stable names.
#pragma once
#include "sim/collision/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

// What is kept of the last step.
typedef struct SandMemory {
    int body_count;  // ranks
    int world_count; // bodies of the world then
    int *rank;       // of each body of the world, -1: took no part
    int *first;      // contacts of each rank
    SandContactKey *key;
    SandVec3 *impulse;
    double step; // s, 0: nothing is kept
    size_t rank_room, first_room, key_room, impulse_room;
} SandMemory;

void sand_memory_free(SandMemory *memory);

// Keeps the impulses of the contacts just solved.
bool sand_memory_keep(SandMemory *memory, const SandDetection *d, const SandVec3 *impulse, double step, int world_count,
                      SandError *error);
void sand_memory_drop(SandMemory *memory);
bool sand_memory_copy(SandMemory *to, const SandMemory *from, SandError *error);
size_t sand_memory_bytes(const SandMemory *memory); // that it holds

// Fills start with the kept impulses, scaled by the ratio of the steps; zero where there is none. Returns how many
// contacts were found again.
int sand_match(const SandMemory *memory, const SandDetection *d, double step, SandVec3 *start, SandTeam *team);

#ifdef __cplusplus
}
#endif
