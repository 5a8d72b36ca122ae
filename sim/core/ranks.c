// SPDX-License-Identifier: MIT
// The collective check of what may fail on some ranks without ending the run: every rank gets the sentence of the first one
// that failed.
#include "sim/core/ranks.h"

#include "sim/core/limits.h"

#include <string.h>

// Shares the sentence of rank `from` with all ranks, and names that rank unless it is rank 0.
static void share_fault(const SandRanks *ranks, int from, SandError *fault) {
    SandError all[SAND_CHUNKS];
    int first[SAND_CHUNKS + 1];
    for (int r = 0; r <= ranks->count; r++) first[r] = r;
    memset(&all[ranks->rank], 0, sizeof *all);
    if (from == ranks->rank) strcpy(all[from].text, fault->text);
    ranks->allgather(ranks->user, all, first, sizeof *all);
    if (from == 0) *fault = all[0];
    if (from > 0) sand_fail(fault, "rank %d: %.480s", from, all[from].text);
}

bool sand_ranks_check(const SandRanks *ranks, bool well, bool *all_well, SandError *fault, SandError *error) {
    int64_t failed[SAND_CHUNKS] = {0};
    int first = 0;
    if (!ranks->agree(ranks->user, 0, error)) return false;
    failed[ranks->rank] = !well;
    ranks->sum(ranks->user, failed, ranks->count);
    while (first < ranks->count && !failed[first]) first++;
    *all_well = first == ranks->count;
    if (!*all_well) share_fault(ranks, first, fault);
    return true;
}
