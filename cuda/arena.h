// The layout of the arena: memory that collision detection and the solve take turns in, since what the one needs is dead
// while the other runs. Plain C, so that it is tested where there is no GPU.
//
// Contact candidates are what both have in common: found by the one, packed by the other, and read after the solve by
// probes, by restitution, and where contacts are asked for. The parts of a stage lie around them:
//
//   collide   | parts that fit |  candidates  | all other parts ...                 |
//   solve                      |  candidates  | bodies, contacts, vectors ...   |
//
// A world that would not fit gives the candidates up when they are packed: the solver's vectors, of which packing writes the
// first alone, are laid over them. What is still to be read of contacts with boundaries is copied before (cuda/walls.cu).
//
//   collide   | parts that fit |  candidates  | all other parts ...                 |
//   solve     | vectors ............................ | bodies, contacts ...         |
//             ^ first          ^ third
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

// What a world of spheres takes with its candidates kept, in bytes a body and a contact, as `bench` lists it. Where that is
// more than most of the memory, they are given up.
enum { ARENA_BODY_BYTES = 520, ARENA_CONTACT_BYTES = 275 };
static inline int arena_gives_up(double bodies, double contacts, double memory) {
    return ARENA_BODY_BYTES * bodies + ARENA_CONTACT_BYTES * contacts > 0.9 * memory;
}
