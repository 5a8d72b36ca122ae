// Who touches a ball: what mates find out of what is near it. After sim/detect.inl.
#pragma once

#include "cuda/neighbor_query.h"

static __device__ bool neighbor_touches(const SandFinder *finder, const Search &search, const Sight &sight, int i,
                                        const Glance &own, int j) {
    const SandSphereProxy *sorted = finder->d->grid.sorted;
    if (!search.single && sorted[i].body == sorted[j].body) return false;
    Seen seen = sight_touch(own, glance_at(sight, j), *finder->world, search);
    return seen == SEEN_TOUCHING || (seen == UNSEEN && spheres_touch(finder, &sorted[i], &sorted[j]));
}

// Calls put(k, j) for the k-th partner j of the mates' ball, in the order of its rows. Returns how many there are.
template <class Put>
static __device__ int find_neighbors(const SandFinder *finder, const Search &search, const Sight &sight, Mates mates,
                                     Put put) {
    const SandBroadPhase *g = &finder->d->grid;
    int i = (int)mates.sphere, level = grid_level_of(g, i), found = 0;
    Glance own = glance_at(sight, i);
    look_together(
        mates, g, level, sight.near, own.near, [&](int k) { return grid_looks_in(level, k); },
        [&](int j) {
            bool touch = j >= 0 && neighbor_touches(finder, search, sight, i, own, j);
            unsigned votes = mates_vote(mates, touch);
            if (touch) put(found + __popc(votes & ((1u << mates.place) - 1)), j);
            found += __popc(votes);
        });
    return found;
}
