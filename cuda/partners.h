// Who touches a ball: what mates find out of what is near it. After sim/detect.inl.
#pragma once

#include "mates.h"

static __device__ bool partner_touches(const SandFinder *finder, const Search &search, const Sight &sight, int i,
                                       const Glance &own, int j) {
    const SandGridBall *sorted = finder->d->grid.sorted;
    if (!search.single && sorted[i].body == sorted[j].body) return false;
    Seen seen = sight_touch(own, glance_at(sight, j), *finder->world, search);
    return seen == SEEN_TOUCHING || (seen == UNSEEN && balls_touch(finder, &sorted[i], &sorted[j]));
}

// Partners in the rows of all mates, which have at most NEAR_BITS candidates each.
template <class Put>
static __device__ int partners_by_rows(const SandFinder *finder, const Search &search, const Sight &sight, Mates mates,
                                       const Glance &own, const Candidates &c, int found, Put put) {
    look_closer(mates, c, candidates_near(c, sight.near, own.near), [&](int j) {
        bool touch = j >= 0 && partner_touches(finder, search, sight, (int)mates.ball, own, j);
        unsigned votes = mates_vote(mates, touch);
        if (touch) put(found + __popc(votes & ((1u << mates.place) - 1)), j);
        found += __popc(votes);
    });
    return found;
}

// The same row by row, with all mates in one row: for crowded places.
template <class Put>
static __device__ int partners_one_by_one(const SandFinder *finder, const Search &search, const Sight &sight, Mates mates,
                                          const Glance &own, const Candidates &c, int found, Put put) {
    for (int place = 0; place < MATES; place++) {
        Candidates row = candidates_from(mates, c, place);
        for (int base = 0; base < row.count; base += MATES) {
            int k = base + mates.place, j = k < row.count ? candidate(row, k) : -1;
            bool touch = j >= 0 && near_meets(own.near, sight.near[j]) &&
                         partner_touches(finder, search, sight, (int)mates.ball, own, j);
            unsigned votes = mates_vote(mates, touch);
            if (touch) put(found + __popc(votes & ((1u << mates.place) - 1)), j);
            found += __popc(votes);
        }
    }
    return found;
}

// Calls put(k, j) for the k-th partner j of the mates' ball, in the order of its rows. Returns how many there are.
template <class Put>
static __device__ int find_partners(const SandFinder *finder, const Search &search, const Sight &sight, Mates mates,
                                    Put put) {
    const SandGrid *g = &finder->d->grid;
    int i = (int)mates.ball, level = grid_level_of(g, i), found = 0;
    Glance own = glance_at(sight, i);
    for (int k = 0; k < g->level_count; k++) {
        if (!grid_looks_in(level, k)) continue;
        SandGridShelf shelf = grid_shelf(g, level, i, k);
        for (int base = 0; base < shelf.rows; base += MATES) {
            Candidates c = mates_candidates(mates, g, &shelf, base);
            bool crowded = mates_vote(mates, c.count > NEAR_BITS) != 0;
            found = crowded ? partners_one_by_one(finder, search, sight, mates, own, c, found, put)
                            : partners_by_rows(finder, search, sight, mates, own, c, found, put);
        }
    }
    return found;
}
