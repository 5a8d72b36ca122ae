// Random numbers for starts: xorshift64, so that a seed gives the same scene on every machine.
#pragma once
#include "sim/core/vec.h"
#include <stdint.h>

#define SAND_DEFAULT_SEED 88172645463325252ull

typedef struct SandRandom {
    uint64_t state; // never zero
} SandRandom;

static inline SandRandom sand_random(uint64_t seed) { return (SandRandom){seed ? seed : SAND_DEFAULT_SEED}; }

static inline uint64_t sand_random_bits(SandRandom *random) {
    uint64_t s = random->state;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return random->state = s;
}

// Evenly in [-1, 1).
static inline double sand_random_signed(SandRandom *random) {
    return (double)(sand_random_bits(random) >> 11) * (2.0 / 9007199254740992.0) - 1.0;
}

// Evenly in [0, 1).
static inline double sand_random_unit(SandRandom *random) {
    return (double)(sand_random_bits(random) >> 11) * (1.0 / 9007199254740992.0);
}

// Any orientation, all equally likely: a point in the unit ball of four dimensions, pushed to its surface.
// Square roots only, so that the bits do not depend on the maths library.
static inline SandQuat sand_random_rotation(SandRandom *random) {
    for (;;) {
        SandQuat q;
        q.w = sand_random_signed(random);
        q.x = sand_random_signed(random);
        q.y = sand_random_signed(random);
        q.z = sand_random_signed(random);
        double l = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
        if (l > 1e-4 && l <= 1) return q_unit(q);
    }
}
