// SPDX-License-Identifier: MIT
// Random numbers for initial states: xorshift64 in integer arithmetic, so that a seed gives the same scene on every
// computer.
#pragma once
#include "sandglass/math.h"
#include <stdint.h>

#define SAND_DEFAULT_SEED 88172645463325252ull

typedef struct SandRandom {
    uint64_t state; // never zero: zero would stay zero
} SandRandom;

// Returns a generator; seed 0 is the default seed.
static inline SandRandom sand_random(uint64_t seed) { return (SandRandom){seed ? seed : SAND_DEFAULT_SEED}; }

// Returns the next 64 bits.
static inline uint64_t sand_random_bits(SandRandom *random) {
    uint64_t s = random->state;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return random->state = s;
}

// Uniform in [-1, 1).
static inline double sand_random_signed(SandRandom *random) {
    return (double)(sand_random_bits(random) >> 11) * (2.0 / 9007199254740992.0) - 1.0;
}

// Uniform in [0, 1).
static inline double sand_random_unit(SandRandom *random) {
    return (double)(sand_random_bits(random) >> 11) * (1.0 / 9007199254740992.0);
}

// A uniformly distributed rotation: a point of the four-dimensional unit ball by rejection, normalized. It takes nothing but
// square roots, which IEEE 754 rounds correctly, so the bits do not depend on the math library.
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
