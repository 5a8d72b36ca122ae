// SPDX-License-Identifier: MIT
// A sum that does not depend on the order of its terms; one source for the CPU and the GPU. A term is cut into limbs of 32
// bits, and each limb is summed as an integer: any number of threads, in any order, gets the same bits. Below 2^-96 a term
// is cut off. A term that is not finite, or 2^62 and more, is not added but counted, and the sum is then not a number.
#pragma once
#include "sandglass/math.h"

#include <stdint.h>

enum { EXACT_LIMBS = 5 }; // from 2^-96 to 2^64; the upper half of an integer is for carries of up to 2^30 terms

typedef struct SandExactSum {
    int64_t limb[EXACT_LIMBS]; // limb k counts units of 2^(32 k - 96)
    int64_t refused;           // terms that were not added
} SandExactSum;

#define EXACT_LEAST 1.2621774483536189e-29 // 2^-96, the unit of limb 0
#define EXACT_RADIX 4294967296.0           // 2^32, of a limb in units of the one below
#define EXACT_MOST 4611686018427387904.0   // 2^62

SAND_HOST_DEVICE void exact_add_integer(int64_t *to, int64_t value, bool shared) {
#ifdef __CUDA_ARCH__
    (void)shared;
    atomicAdd((unsigned long long *)to, (unsigned long long)value);
#else
    if (shared)
        __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
    else
        *to += value;
#endif
}

// Adds a term. `shared`: other threads add to the same sum.
SAND_HOST_DEVICE void exact_add(SandExactSum *sum, double value, bool shared) {
    if (value == 0) return;
    if (!(value < EXACT_MOST && value > -EXACT_MOST)) {
        exact_add_integer(&sum->refused, 1, shared);
        return;
    }
    value *= 1 / EXACT_RADIX; // in units of the highest limb; this and all that follows is exact
    for (int k = EXACT_LIMBS - 1; k >= 0 && value != 0; k--) {
        double part = trunc(value);
        if (part != 0) exact_add_integer(&sum->limb[k], (int64_t)part, shared);
        value = (value - part) * EXACT_RADIX;
    }
}

// Moves carries upward, so that every limb but the highest is from 0 to 2^32 - 1.
SAND_HOST_DEVICE void exact_carry(SandExactSum *sum) {
    for (int k = 0; k + 1 < EXACT_LIMBS; k++) {
        int64_t low = sum->limb[k] & 0xffffffff;
        sum->limb[k + 1] += (sum->limb[k] - low) / 4294967296;
        sum->limb[k] = low;
    }
}

// The sum, rounded to double.
SAND_HOST_DEVICE double exact_value(const SandExactSum *from) {
    SandExactSum sum = *from;
    if (sum.refused) return NAN;
    exact_carry(&sum);
    double sign = 1, value = 0, unit = EXACT_LEAST;
    if (sum.limb[EXACT_LIMBS - 1] < 0) { // of a negative sum the limbs of its opposite do not cancel
        for (int k = 0; k < EXACT_LIMBS; k++) sum.limb[k] = -sum.limb[k];
        exact_carry(&sum);
        sign = -1;
    }
    for (int k = 0; k < EXACT_LIMBS; k++, unit *= EXACT_RADIX) value += unit * (double)sum.limb[k];
    return sign * value;
}

// The bits of a double as an integer of the same order, above 0 for every number.
SAND_HOST_DEVICE uint64_t exact_order(double value) {
    union {
        double number;
        uint64_t bits;
    } u = {value};
    return u.bits >> 63 ? ~u.bits : u.bits | (uint64_t)1 << 63;
}
SAND_HOST_DEVICE double exact_from_order(uint64_t bits) {
    union {
        uint64_t bits;
        double number;
    } u = {bits >> 63 ? bits & ~((uint64_t)1 << 63) : ~bits};
    return u.number;
}

// Uses the place of a sum, which starts from zero, for the largest of many values instead.
SAND_HOST_DEVICE void exact_most(SandExactSum *sum, double value) {
    uint64_t order = exact_order(value);
#ifdef __CUDA_ARCH__
    atomicMax((unsigned long long *)&sum->limb[0], (unsigned long long)order);
#else
    uint64_t *most = (uint64_t *)&sum->limb[0], seen = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (seen < order && !__atomic_compare_exchange_n(most, &seen, order, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
#endif
}
