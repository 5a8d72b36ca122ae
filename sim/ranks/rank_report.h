// SPDX-License-Identifier: MIT
// The report of a step, from those of all ranks.
#pragma once
#include "sim/ranks/messages.h"
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a rank counts in a step, of its own bodies and of the contacts that they own. All members are int64_t.
typedef struct SandRankCounts {
    int64_t bodies, contacts, joint_rows, warm_started, asleep, solved;
    int64_t held;                                           // bytes on the device
    int64_t left[SAND_MAX_OUTLETS], mass[SAND_MAX_OUTLETS]; // by each outlet; mass in a unit of the backend
} SandRankCounts;

// Replaces the counts by their sums over all ranks, and puts these and the deepest penetrations into the report. Outlets are
// left to the caller. Ranks have agreed before. Collective.
bool sand_rank_report(const SandRanks *ranks, SandRankCounts *counts, SandStepReport *report, SandError *error);

// Gathers the lists of all ranks on every rank, one behind the other in rank order: in messages->received. Items are a
// multiple of eight bytes. Collective.
bool sand_rank_lists(SandMessages *messages, const SandRanks *ranks, const void *mine, size_t bytes, SandError *error);

#ifdef __cplusplus
}
#endif
