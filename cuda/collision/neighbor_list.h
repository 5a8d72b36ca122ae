// SPDX-License-Identifier: MIT
// The neighbors of a sphere: those of the candidates near it that touch, culled in float and decided in double where float
// leaves a doubt. Included after sim/collision/narrow_phase.inl.
#pragma once

#include "cuda/collision/neighbor_query.h"

// Pairs that are no contacts though they touch, and must not be counted, since no candidate is written for them: bodies that
// a joint keeps apart, and ghosts of a rank, whose contacts with each other are those of others.
// Bits of FILTER.
enum PairFilter { NOT_APART = 1, NOT_FOREIGN = 2 };

// Whether sorted spheres i and j make a contact; `own` is sphere i of the cull arrays.
template <int FILTER>
static __device__ bool neighbor_touches(const SandFinder *finder, const SearchParams &search, const CullArrays &cull, int i,
                                        const CullSphere &own, int j) {
    const SandSphereProxy *sorted = finder->collision->broad_phase.sorted;
    if (!search.single_spheres && sorted[i].body == sorted[j].body) return false;
    if constexpr ((FILTER & NOT_FOREIGN) != 0) {
        const uint8_t *is_ghost = finder->collision->is_ghost;
        if (is_ghost[sorted[i].body] && is_ghost[sorted[j].body]) return false;
    }
    CullResult result = cull_touch(own, cull_sphere(cull, j), *finder->world, search);
    bool touch = result == CULL_TOUCHING || (result == CULL_UNDECIDED && spheres_touch(finder, &sorted[i], &sorted[j]));
    if constexpr ((FILTER & NOT_APART) != 0)
        return touch && !sand_world_apart(finder->world, sorted[i].body, sorted[j].body);
    return touch;
}

// Calls put(k, j) for the k-th neighbor j of the group's sphere, in the order of cell rows. Returns how many there are.
template <int FILTER, class Put>
static __device__ int find_neighbors(const SandFinder *finder, const SearchParams &search, const CullArrays &cull,
                                     QueryGroup group, Put put) {
    const SandBroadPhase *g = &finder->collision->broad_phase;
    int i = (int)group.sphere, level = grid_level_of(g, i), found = 0;
    CullSphere own = cull_sphere(cull, i);
    query_by_group(
        group, g, level, cull.bounds, own.bounds, [&](int k) { return grid_looks_in(level, k); },
        [&](int j) {
            bool touch = j >= 0 && neighbor_touches<FILTER>(finder, search, cull, i, own, j);
            unsigned votes = group_vote(group, touch);
            if (touch) put(found + __popc(votes & ((1u << group.lane) - 1)), j);
            found += __popc(votes);
        });
    return found;
}
