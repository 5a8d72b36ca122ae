// SPDX-License-Identifier: MIT
// Scalar functions in the precision of the variant, shared by spmd_cpu.h and cuda/solver/spmd_cuda.h. The including file
// defines `real`, SAND_INLINE, REAL_FUSED (1: the hardware fuses a b + c) and REAL_ROUGH (1: there is real_rough_root, one
// over a square root to within two units in the last place, by far the quickest way to a length on a GPU).
#pragma once
#ifndef REAL_FUSED // opened alone
#include "sim/solver/kernel/spmd.h"
#endif

#define REAL_TINY ((real)1e-30)
#define REAL_EPSILON ((real)(sizeof(real) == 4 ? 1.2e-7 : 2.2e-16)) // spacing of the numbers at 1

SAND_INLINE real real_sqrt(real a) { return sizeof(real) == 4 ? (real)sqrtf((float)a) : (real)sqrt((double)a); }
SAND_INLINE real real_max(real a, real b) { return a > b ? a : b; }
SAND_INLINE real real_min(real a, real b) { return a < b ? a : b; }
SAND_INLINE real real_abs(real a) { return a < 0 ? -a : a; }

// The length of a vector from its square; its inverse stays finite.
SAND_INLINE real real_length(real square, real *inverse) {
#if REAL_ROUGH
    *inverse = real_rough_root(real_max(square, REAL_TINY));
    return square * *inverse;
#else
    real length = real_sqrt(square);
    *inverse = 1 / real_max(length, REAL_TINY);
    return length;
#endif
}

// a b + c in one rounding where the hardware has it, which is on every GPU and nearly every CPU. Explicit, and not left to
// the compiler, so that the bits do not depend on the compiler.
SAND_INLINE real real_ma(real a, real b, real c) {
#if REAL_FUSED
    return sizeof(real) == 4 ? (real)fmaf((float)a, (float)b, (float)c) : (real)fma((double)a, (double)b, (double)c);
#else
    return a * b + c;
#endif
}
