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
typedef struct SandFound {
    int rank_a, b; // rank of the body that owns it; rank of the other, or -1 - boundary
    SandContactKey key;
    SandVec3 normal; // from a to b
    SandVec3 point;  // mid-gap
    double gap, mu;
} SandFound;

// A fixed plane is far where normal . point - offset is large; a boundary of another kind is never taken for far.
typedef struct SandGuard {
    SandVec3 normal;
    double offset;
} SandGuard;

typedef struct SandDetection {
    SandGrid grid;
    int body_count; // bodies taking part
    int *rank;      // of each body of the world, -1: does not take part
    int *body;      // of each rank
    size_t rank_room, body_room;
    SandPose *pose;            // of each boundary, now
    struct SandGuard *guard;   // of each boundary: what tells at a glance that a ball is far from it
    SandVec3 *velocity, *spin; // of each boundary, over the coming step
    size_t pose_room, guard_room, velocity_room, spin_room;
    int contact_count;
    SandFound *contacts; // sorted by rank_a
    size_t contact_room;
    int *first; // contacts of rank k begin at first[k]; body_count + 1 entries
    size_t first_room;
    SandFound *found[SAND_CHUNKS];
    size_t found_room[SAND_CHUNKS];
    int found_count[SAND_CHUNKS];
} SandDetection;

void sand_detection_free(SandDetection *d);
// The poses and velocities of the boundaries over the coming step; sand_detect begins with it.
bool sand_detection_place(SandDetection *d, const SandWorld *world, SandError *error);
bool sand_detect(SandDetection *d, const SandWorld *world, SandTeam *team, SandError *error);

#ifdef __cplusplus
}
#endif
