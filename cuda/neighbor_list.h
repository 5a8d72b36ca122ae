// Who touches a ball: what mates find out of what is near it. After sim/detect.inl.
#pragma once

#include "cuda/neighbor_query.h"

static __device__ bool neighbor_touches(const SandFinder *finder, const Search &search, const CullArrays &cull, int i,
                                        const CullSphere &own, int j) {
    const SandSphereProxy *sorted = finder->d->broad_phase.sorted;
    if (!search.single && sorted[i].body == sorted[j].body) return false;
    CullResult seen = cull_touch(own, cull_sphere(cull, j), *finder->world, search);
    return seen == CULL_TOUCHING || (seen == CULL_UNDECIDED && spheres_touch(finder, &sorted[i], &sorted[j]));
}

// Calls put(k, j) for the k-th partner j of the mates' ball, in the order of its rows. Returns how many there are.
template <class Put>
static __device__ int find_neighbors(const SandFinder *finder, const Search &search, const CullArrays &cull,
                                     QueryGroup group, Put put) {
    const SandBroadPhase *g = &finder->d->broad_phase;
    int i = (int)group.sphere, level = grid_level_of(g, i), found = 0;
    CullSphere own = cull_sphere(cull, i);
    query_together(
        group, g, level, cull.near, own.near, [&](int k) { return grid_looks_in(level, k); },
        [&](int j) {
            bool touch = j >= 0 && neighbor_touches(finder, search, cull, i, own, j);
            unsigned votes = group_vote(group, touch);
            if (touch) put(found + __popc(votes & ((1u << group.place) - 1)), j);
            found += __popc(votes);
        });
    return found;
}
