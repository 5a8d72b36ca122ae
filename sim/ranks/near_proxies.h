// SPDX-License-Identifier: MIT
// The proxies of other ranks near those of this one, for the search for impacts between them, by which impact margins are
// widened (sand_broad_phase_add_impact_margins). Found by their boxes, as ghosts are.
#pragma once
#include "sim/ranks/ghost_search.h"

typedef struct SandNearProxies {
    SandNear near; // the first member: grids are given its address
    SandGhostSearch search;
    SandMessages messages;
} SandNearProxies;

void sand_near_proxies_init(SandNearProxies *proxies);
void sand_near_proxies_free(SandNearProxies *proxies);
