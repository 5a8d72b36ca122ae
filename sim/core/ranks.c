// SPDX-License-Identifier: MIT
// The collective check of what may fail on some ranks without ending the run: every rank gets the sentence of the first one
// that failed.
#include "sim/core/ranks.h"

#include "sim/core/limits.h"

#include <string.h>

// Shares the sentence of rank `from` with all ranks: a sum, to which the others add zeros. Names that rank unless it is
// rank 0.
static void share_fault(const SandRanks *ranks, int from, SandError *fault) {
    enum { WORDS = sizeof fault->text / sizeof(int64_t) };
    int64_t words[WORDS] = {0};
    char text[sizeof fault->text] = "";
    if (from == ranks->rank) {
        strcpy(text, fault->text);
        memcpy(words, text, sizeof words);
    }
    ranks->sum(ranks->user, words, WORDS);
    memcpy(text, words, sizeof words);
    if (from > 0) sand_fail(fault, "rank %d: %.480s", from, text);
    if (from == 0) strcpy(fault->text, text);
}

bool sand_ranks_check(const SandRanks *ranks, bool well, bool *all_well, SandError *fault, SandError *error) {
    int64_t failed[SAND_MAX_RANKS] = {0};
    int first = 0;
    if (!ranks->agree(ranks->user, 0, error)) return false;
    failed[ranks->rank] = !well;
    ranks->sum(ranks->user, failed, ranks->count);
    while (first < ranks->count && !failed[first]) first++;
    *all_well = first == ranks->count;
    if (!*all_well) share_fault(ranks, first, fault);
    return true;
}
