// Warm start: a contact of this step finds its impulse of the last step by stable names.
#pragma once
#include "sim/collision/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

// What is kept of the last step.
typedef struct SandWarmStart {
    int body_count;    // ranks
    int world_count;   // bodies of the world then
    int *solver_index; // of each body of the world, -1: took no part
    int *first;        // contacts of each rank
    SandContactKey *key;
    SandVec3 *impulse;
    double step; // s, 0: nothing is kept
    size_t solver_index_capacity, first_capacity, key_capacity, impulse_capacity;
} SandWarmStart;

void sand_warm_start_free(SandWarmStart *memory);

// Keeps the impulses of the contacts just solved.
bool sand_warm_start_store(SandWarmStart *memory, const SandCollision *d, const SandVec3 *impulse, double step,
                           int world_count, SandError *error);
void sand_warm_start_clear(SandWarmStart *memory);
bool sand_warm_start_copy(SandWarmStart *to, const SandWarmStart *from, SandError *error);
size_t sand_warm_start_bytes(const SandWarmStart *memory); // that it holds

// Fills start with the kept impulses, scaled by the ratio of the steps; zero where there is none. Returns how many
// contacts were found again.
int sand_warm_start_apply(const SandWarmStart *memory, const SandCollision *d, double step, SandVec3 *start,
                          SandThreadPool *pool);

#ifdef __cplusplus
}
#endif
