// SPDX-License-Identifier: MIT
// Every rank marks the cells of the spatial grid that its proxies reach, and gets those that meet its marks.
#include "sim/ranks/near_proxies.h"

#include "sim/collision/broad_phase.inl"

#include <string.h>

// The box that a proxy stays in during the step.
static void box_of(const SandSphereProxy *p, SandVec3 *low, SandVec3 *high) {
    SandVec3 half = v3_make(p->extent, p->extent, p->extent);
    *low = v3_sub(p->center, half);
    *high = v3_add(p->center, half);
}

// Marks what own proxies reach, and exchanges marks with other ranks.
static bool share_marks(const SandBroadPhase *g, SandGhostSearch *search, SandError *error) {
    SandVec3 low, high, lowest = v3_make(INFINITY, INFINITY, INFINITY), highest = v3_neg(lowest);
    for (int i = 0; i < g->sphere_count; i++) {
        box_of(&g->spheres[i], &low, &high);
        grid_extend(&lowest, &highest, low, high);
    }
    sand_ghost_search_bound(search, lowest, highest);
    for (int i = 0; i < g->sphere_count; i++) {
        box_of(&g->spheres[i], &low, &high);
        sand_ghost_search_mark(search, low, high);
    }
    return sand_ghost_search_share(search, error);
}

// Appends the proxies of other ranks that may touch one of this rank. Their body is -1, as this rank does not hold it.
static bool append_near(SandNear *near, SandBroadPhase *g, SandError *error) {
    SandNearProxies *scratch = (SandNearProxies *)near;
    SandGhostSearch *search = &scratch->search;
    SandMessages *messages = &scratch->messages;
    if (!sand_ghost_search_begin(search, g->ranks, &g->spatial_grid, error) || !g->ranks->agree(g->ranks->user, 0, error))
        return false;
    if (!share_marks(g, search, error)) return false;
    sand_messages_begin(messages);
    for (int i = 0; i < g->sphere_count; i++) {
        SandSphereProxy p = g->spheres[i];
        SandVec3 low, high;
        box_of(&p, &low, &high);
        uint64_t others = sand_ghost_search_others(search, low, high);
        p.body = -1;
        for (int r = 0; r < SAND_CHUNKS; r++)
            if (others >> r & 1 && !sand_messages_put(messages, r, &p, sizeof p, error)) return false;
    }
    if (!sand_messages_exchange(messages, g->ranks, error)) return false;
    int count = (int)(messages->received_bytes / sizeof *g->spheres);
    if (!sand_broad_phase_reserve(g, g->sphere_count + count, error)) return false;
    if (count) memcpy(g->spheres + g->sphere_count, messages->received, messages->received_bytes);
    g->sphere_count += count;
    return true;
}

void sand_near_proxies_init(SandNearProxies *proxies) { *proxies = (SandNearProxies){.near = {append_near}}; }

void sand_near_proxies_free(SandNearProxies *proxies) {
    sand_ghost_search_free(&proxies->search);
    sand_messages_free(&proxies->messages);
}
