// SPDX-License-Identifier: MIT
// The layout of the arena: memory that collision detection and the solve take turns in, since what the one needs is dead
// while the other runs. Plain C, so that it is tested where there is no GPU.
//
// What both have in common are the contacts that the one has found and the other packs: candidates, their order and the
// impulses to start from. After the solve they are read by probes, by restitution, and where contacts are asked for. The
// parts of a stage lie around them:
//
//   collide   | contacts | parts ...                              |
//   solve     | contacts | bodies, packed contacts, vectors ...         |
//
// A world that would not fit gives them up when they are packed: the solver's vectors, of which packing writes the first
// alone, are laid over them. What is still to be read of contacts with boundaries is copied before
// (cuda/step/boundary_contacts.cu).
//
//   collide   | parts that fit | order, start | candidates                | all other parts ...    |
//   solve     | vector 0       | vector 1     | vectors 2 to 6 ...        | bodies, packed contacts ...  |
#pragma once
#include <stddef.h>

enum { ARENA_ALIGNMENT = 256, ARENA_PARTS = 32 }; // bytes; most parts of a stage

static inline size_t arena_aligned(size_t bytes) {
    return (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
}

// Bytes that parts must leave alone.
typedef struct ArenaHole {
    size_t begin, end;
} ArenaHole;

// Says in `at` where each part begins: before the hole where it still fits there, else behind it. Returns where the last one
// ends.
static inline size_t arena_layout(ArenaHole hole, int count, const size_t *bytes, size_t *at) {
    size_t front = 0, back = arena_aligned(hole.end);
    for (int k = 0; k < count; k++) {
        size_t size = arena_aligned(bytes[k]);
        size_t *cursor = front + size <= hole.begin ? &front : &back;
        at[k] = *cursor;
        *cursor += size;
    }
    return back;
}

// Where the contacts lie, and the hole that they make. Their number is a multiple of 16, which keeps all aligned; the order
// has 4 bytes a contact and the start 12, together one vector.
enum { ARENA_VECTOR = 16 }; // bytes a contact of a solver vector in the world frame
typedef struct ArenaContacts {
    size_t order, start, candidates;
    ArenaHole hole;
} ArenaContacts;
static inline ArenaContacts arena_contacts(size_t contacts, size_t candidate_bytes, int given_up) {
    ArenaContacts at;
    if (given_up) {
        at.order = ARENA_VECTOR * contacts;
        at.start = at.order + 4 * contacts;
        at.candidates = at.order + ARENA_VECTOR * contacts;
        at.hole.begin = at.order;
        at.hole.end = at.candidates + candidate_bytes * contacts;
    } else {
        at.candidates = 0;
        at.order = arena_aligned(candidate_bytes * contacts);
        at.start = arena_aligned(at.order + 4 * contacts);
        at.hole.begin = 0;
        at.hole.end = at.start + 12 * contacts;
    }
    return at;
}

// What a world of spheres takes with its contacts kept, in bytes a body and a contact, as `bench` lists it. Where that is
// more than most of the memory, they are given up.
enum { ARENA_BODY_BYTES = 490, ARENA_CONTACT_BYTES = 275 };
static inline int arena_gives_up(double bodies, double contacts, double memory) {
    return ARENA_BODY_BYTES * bodies + ARENA_CONTACT_BYTES * contacts > 0.9 * memory;
}
