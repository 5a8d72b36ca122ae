// Detection: from the world to the contacts of the coming step, in an order that does not depend on the team.
#pragma once
#include "sim/collision/broad_phase.h"
#include "sim/solver/problem.h"
#include "sim/core/thread_pool.h"
#include "sim/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Names a contact from step to step, as seen from its body a: the other body (or boundary), and which balls and
// which piece of the boundary touch.
typedef struct SandContactKey {
    uint32_t other;   // body number, or SAND_BOUNDARY_BIT | boundary number
    uint32_t feature; // ball of a << 24 | ball of b, or piece of the boundary
} SandContactKey;

#define SAND_BOUNDARY_BIT 0x80000000u

// Contacts found by one chunk of the balls; chunks are the same for every team.
typedef struct SandContactCandidate {
    int index_a, b; // rank of the body that owns it; rank of the other, or -1 - boundary
    SandContactKey key;
    SandVec3 normal; // from a to b
    SandVec3 point;  // mid-gap
    double gap, mu;
} SandContactCandidate;

// A fixed plane is far where normal . point - offset is large; a boundary of another kind is never taken for far.
typedef struct SandGuard {
    SandVec3 normal;
    double offset;
} SandGuard;

typedef struct SandCollision {
    SandBroadPhase broad_phase;
    int body_count;    // bodies taking part
    int *solver_index; // of each body of the world, -1: does not take part
    int *body;         // of each rank
    size_t solver_index_capacity, body_capacity;
    SandPose *pose;            // of each boundary, now
    struct SandGuard *guard;   // of each boundary: what tells at a glance that a ball is far from it
    SandVec3 *velocity, *spin; // of each boundary, over the coming step
    size_t pose_capacity, guard_capacity, velocity_capacity, spin_capacity;
    int contact_count;
    SandContactCandidate *contacts; // sorted by index_a
    size_t contact_capacity;
    int *first; // contacts of rank k begin at first[k]; body_count + 1 entries
    size_t first_capacity;
    SandContactCandidate *found[SAND_CHUNKS];
    size_t found_capacity[SAND_CHUNKS];
    int found_count[SAND_CHUNKS];
} SandCollision;

void sand_collision_free(SandCollision *d);
// The poses and velocities of the boundaries over the coming step; sand_collide begins with it.
bool sand_collision_place_boundaries(SandCollision *d, const SandWorld *world, SandError *error);
bool sand_collide(SandCollision *d, const SandWorld *world, SandThreadPool *pool, SandError *error);

#ifdef __cplusplus
}
#endif
