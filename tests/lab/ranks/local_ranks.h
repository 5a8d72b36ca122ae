// SPDX-License-Identifier: MIT
// Ranks as threads of one process, so that what several processes do together can be tested, and debugged, without MPI. What
// is sent is copied from one to the other, and counted.
#pragma once
#include "sim/core/ranks.h"

typedef struct LocalTraffic {
    long exchanges, messages, bytes; // sent by this rank to its neighbors
    long allgathers;                 // that it took part in
} LocalTraffic;

typedef void LocalWork(const SandRanks *ranks, void *argument);

// Runs `work` on `count` ranks at the same time. `traffic`: NULL, or of each rank.
void local_ranks_run(int count, LocalWork *work, void *argument, LocalTraffic *traffic);
