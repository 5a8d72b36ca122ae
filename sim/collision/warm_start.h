// SPDX-License-Identifier: MIT
// Warm start: a contact of this step starts from the impulse it had in the last one, found by its key. Bodies are matched by
// their index in the world, since solver indices change from step to step.
#pragma once
#include "sim/collision/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

// The impulses of the last step, by owner and key.
typedef struct SandWarmStart {
    int body_count;      // active bodies then
    int world_count;     // bodies of the world then; those added since have no impulses
    int *solver_index;   // of each body of the world then, -1: inactive
    int *first;          // CSR by solver index, as in SandCollision
    SandContactKey *key; // of each contact
    SandVec3 *impulse;   // N s, world frame; as the solver has it, without what cohesion adds (sim/step/laws.inl)
    double *approach;    // m/s, of each contact that met and bounces in the next step, else 0
    bool bounces;        // `approach` is filled
    bool rolls;          // behind the impulses of all contacts are their torques, N m s
    double step;         // s, the step they belong to; 0: empty
    uint64_t settings;   // of the world then: sand_sleep_settings
    size_t solver_index_capacity, first_capacity, key_capacity, impulse_capacity, approach_capacity;
} SandWarmStart;

void sand_warm_start_free(SandWarmStart *warm);

// Stores the impulses of the contacts just solved: impulse[i] belongs to collision->contacts[i]; where contacts roll, their
// torques follow. `approach` is not filled.
bool sand_warm_start_store(SandWarmStart *warm, const SandCollision *collision, const SandVec3 *impulse, bool rolls,
                           double step, int world_count, SandError *error);
void sand_warm_start_clear(SandWarmStart *warm); // forgets the impulses, keeps the arrays
bool sand_warm_start_copy(SandWarmStart *to, const SandWarmStart *from, SandError *error); // on failure `to` is as it was
size_t sand_warm_start_bytes(const SandWarmStart *warm);                                   // capacity of its arrays

// Fills start[i] with the stored impulse of collision->contacts[i], scaled by the ratio of the step lengths; zero for a new
// contact. Where contacts roll, their torques follow. Returns how many contacts were found again.
int sand_warm_start_apply(const SandWarmStart *warm, const SandCollision *collision, double step, bool rolls,
                          SandVec3 *start, SandThreadPool *pool);

#ifdef __cplusplus
}
#endif
