// SPDX-License-Identifier: MIT
// The kernels of the methods, by their row in the solver table: a part of cuda/solver/solve_kernel.cu, of its variant.
#pragma once
#include "sim/solver/method_traits.h"

typedef void SolveFunction(SolveState *, const Op, Counts *, LaunchShared *, int, int);
struct MethodKernels {
    SolveFunction *small, *large;
};
// Warps that sweep blocks keep many numbers at hand: then the small kernel serves large problems as well.
template <int METHOD, bool ON_CUDA, int NEEDS> struct MethodKernel {
    static constexpr int WHICH = SAND_COMPONENTS || SAND_ROLLING ? ANY_METHOD : METHOD;
    static constexpr int LARGE = NEEDS & SAND_NEEDS_BLOCKS ? SMALL_THREADS : LARGE_THREADS;
    static constexpr MethodKernels value = {solve_kernel<WHICH, SMALL_THREADS>, solve_kernel<WHICH, LARGE>};
};
template <int METHOD, int NEEDS> struct MethodKernel<METHOD, false, NEEDS> {
    static constexpr MethodKernels value = {nullptr, nullptr};
};

// As one rank of several a kernel has no coloring, no cells, and knows some contacts of a ghost alone.
static constexpr bool on_ranks(int needs) {
    return !SAND_RANKS || !(needs & (SAND_NEEDS_COLORS | SAND_NEEDS_CELLS | SAND_NEEDS_BODIES));
}

static const MethodKernels method_kernels[] = {
#define SAND_ROW(id, name, vectors, on_cuda, owns, needs, ...) \
    MethodKernel<METHOD_##id, on_cuda && on_ranks(needs), needs>::value,
#define SAND_COMPONENT_ROW(id, name, vectors, on_cuda, owns, needs, ...) \
    MethodKernel<METHOD_##id, SAND_COMPONENTS && on_cuda, needs>::value,
#define SAND_FORCE_ROW(id, name, vectors, on_cuda, owns, needs, ...) \
    MethodKernel<METHOD_##id, !SAND_ROLLING && on_cuda && on_ranks(needs), needs>::value,
#include "sim/solver/solver_table.inl"
};
