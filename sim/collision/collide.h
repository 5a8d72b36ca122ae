// SPDX-License-Identifier: MIT
// Collision detection: from the world to the contacts of the coming step, in an order that does not depend on the number of
// threads. The stages, in sand_collide:
//   1. place boundaries    poses and velocities over the step
//   2. sphere proxies      one for each sphere of each active body, and one around each convex body, or around each piece of
//                          a compound, in grids of their own
//   3. broad phase         sort the proxies into grids, add impact margins, sort again (broad_phase.h)
//   4. solver indices      number the active bodies along space; solvers know bodies by these numbers
//   5. narrow phase        find contacts, chunk by chunk of the sorted proxies (narrow_phase.inl)
//   6. sort the contacts by the solver index of their owner
// The GPU runs the same stages with its own launches (cuda/collision/collide.cu) and finds the same contacts in the same
// order.
#pragma once
#include "sim/core/limits.h"
#include "sim/collision/broad_phase.h"
#include "sim/core/thread_pool.h"
#include "sandglass/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Identifies a contact from step to step, as seen from its body a: the other body or boundary, and which spheres, or which
// piece of the boundary, touch. Warm starting matches contacts by it (warm_start.h).
typedef struct SandContactKey {
    uint32_t other; // index of the body in the world, or SAND_BOUNDARY_BIT | index of the boundary
    // Feature of a (16 bits, their bytes reversed) and feature of b, or that of a (8 bits) and the piece of the boundary. A
    // feature is the number of a clump's sphere, or kind << 8 | number of a corner, edge or face (convex_manifold.inl);
    // where the body is a compound, with the mark of its piece, or to a sphere the number of the piece.
    uint32_t feature;
} SandContactKey;

#define SAND_BOUNDARY_BIT 0x80000000u
#define SAND_PIECE_BITS 0x00f8f800u // of a feature of two convex bodies: nothing but the marks of pieces (piece_mark)
// The key of a block of a joint: SAND_JOINT_BIT | the joint, and the number of the block.
#define SAND_JOINT_BIT 0x40000000u

// The speed that one step of gravity gives, m/s, and at least this much: bodies that touch and rest without gravity are
// contacts too, though rounding leaves them a gap. One that is hit passes the impulse on.
#define SAND_LEAST_FALL 1e-6
SAND_HOST_DEVICE double sand_fall_in_a_step(const SandWorld *world) {
    return fmax(world->step * v3_length(world->gravity), SAND_LEAST_FALL);
}

// A contact as the narrow phase finds it.
typedef struct SandContactCandidate {
    int index_a, b; // solver index of the body that owns it; solver index of the other, which is larger, or -1 - boundary
    SandContactKey key;
    SandVec3 normal; // unit, from a to b, world frame
    SandVec3 point;  // m, in the middle of the gap
    double gap, mu;  // m, signed distance of the surfaces, negative when they penetrate; friction coefficient
} SandContactCandidate;

// Whether it is a block of a joint and no contact at all: it then has no geometry yet. Joints go the way of contacts from
// here on, through the warm start to the problem. A joint to the world has the boundary behind the last as its b.
SAND_HOST_DEVICE bool sand_candidate_is_joint(const SandContactCandidate *candidate) {
    return (candidate->key.other & (SAND_BOUNDARY_BIT | SAND_JOINT_BIT)) == SAND_JOINT_BIT;
}

// Block `block` of a joint whose bodies are active.
SAND_HOST_DEVICE SandContactCandidate sand_joint_candidate(const SandWorld *w, const int *solver_index, int joint,
                                                           int block) {
    const SandJoint *j = &w->joints[joint];
    int b = solver_index[j->b], a = j->a < 0 ? -1 - w->boundary_count : solver_index[j->a];
    bool first = a >= 0 && a < b;
    SandContactCandidate candidate = {.index_a = first ? a : b, .b = first ? b : a};
    candidate.key.other = SAND_JOINT_BIT | (uint32_t)joint;
    candidate.key.feature = (uint32_t)block;
    candidate.normal = v3_make(0, 0, 1);
    candidate.point = w->position[j->b];
    return candidate;
}

// A quick test that a boundary is far away: a fixed plane is where normal . point - offset is large. For a boundary of
// another kind the normal is zero, and it is never far.
typedef struct SandGuard {
    SandVec3 normal;
    double offset;
} SandGuard;

typedef struct SandCollision {
    SandBroadPhase broad_phase;  // the spheres
    SandBroadPhase convex_phase; // the convex bodies and the pieces of compounds, each by the sphere around it
    int body_count;              // active bodies
    int *solver_index;           // of each body of the world, -1: inactive
    int *body;                   // the inverse: body of the world with solver index k
    size_t solver_index_capacity, body_capacity;
    SandPose *pose;            // of each boundary, at the start of the step
    struct SandGuard *guard;   // of each boundary
    SandVec3 *velocity, *spin; // of each boundary, over the coming step, about its pose's position: m/s, rad/s
    size_t pose_capacity, guard_capacity, velocity_capacity, spin_capacity;
    int contact_count;
    SandContactCandidate *contacts; // sorted by index_a; those of one owner in the order they were found
    size_t contact_capacity;
    int *first; // CSR: contacts owned by solver index k are first[k] .. first[k + 1] - 1; body_count + 1 entries
    size_t first_capacity;
    // Contacts by the chunk of sorted proxies that found them; chunks do not depend on the number of threads.
    const int *number;       // global_id of each body, for sentences; NULL: its index
    const uint8_t *is_ghost; // of each body; contacts of two ghosts are not kept. NULL: all are own bodies
    SandContactCandidate *found[SAND_CHUNKS];
    size_t found_capacity[SAND_CHUNKS];
    int found_count[SAND_CHUNKS];
} SandCollision;

void sand_collision_free(SandCollision *collision);
// Computes the poses and velocities of the boundaries over the coming step; sand_collide begins with it. Backends call it by
// itself: they have the boundaries' motion from the host.
bool sand_collision_place_boundaries(SandCollision *collision, const SandWorld *world, SandError *error);
// Finds the contacts of the coming step. On failure `collision` holds nothing usable and may be used again.
bool sand_collide(SandCollision *collision, const SandWorld *world, SandThreadPool *pool, SandError *error);

// The stages of sand_collide, between which a rank migrates bodies and receives ghosts (sim/ranks/subdomain.h). First
// stages 1 to 3, of which a rank leaves out the sort: until solver indices are assigned, solver_index holds the first proxy
// of each body, or its place among the convex bodies.
bool sand_collision_sort(SandCollision *collision, const SandWorld *world, SandThreadPool *pool, SandError *error);
// The first proxy of a body, until solver indices are assigned, and the grids that it is in; NULL: the body takes no part.
static inline const SandSphereProxy *sand_first_proxy(const SandCollision *collision, const SandWorld *world, int body,
                                                      const SandBroadPhase **grid) {
    bool is_convex = world->shapes[world->shape[body]].sphere_count == 0; // or a compound of such
    *grid = is_convex ? &collision->convex_phase : &collision->broad_phase;
    return collision->solver_index[body] < 0 ? NULL : &(*grid)->spheres[collision->solver_index[body]];
}
// Stages 2 and 3 again, for the held bodies of a rank in grids of the same size, with the impact margins of their spheres.
bool sand_collision_place(SandCollision *collision, const SandWorld *world, const double *margins, SandThreadPool *pool,
                          SandError *error);
// Stages 4 to 6.
bool sand_collision_find(SandCollision *collision, const SandWorld *world, SandThreadPool *pool, SandError *error);

#ifdef __cplusplus
}
#endif
