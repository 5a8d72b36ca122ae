// SPDX-License-Identifier: MIT
// Sums, maxima and lists over the ranks, for the report of a step.
#include "sim/ranks/rank_report.h"

#include <math.h>

static void merge_penetrations(const SandRanks *ranks, SandStepReport *report) {
    double deepest[SAND_MAX_RANKS][2];
    int first[SAND_MAX_RANKS + 1];
    for (int r = 0; r <= ranks->count; r++) first[r] = r;
    deepest[ranks->rank][0] = report->penetration_max;
    deepest[ranks->rank][1] = report->penetration_walls;
    ranks->allgather(ranks->user, deepest, first, sizeof deepest[0]);
    for (int r = 0; r < ranks->count; r++) {
        report->penetration_max = fmax(report->penetration_max, deepest[r][0]);
        report->penetration_walls = fmax(report->penetration_walls, deepest[r][1]);
    }
}

bool sand_rank_report(const SandRanks *ranks, SandRankCounts *counts, SandStepReport *report, SandError *error) {
    ranks->sum(ranks->user, (int64_t *)(void *)counts, sizeof *counts / sizeof(int64_t));
    if (counts->contacts > INT32_MAX)
        return sand_fail(error, "%lld contacts of all ranks are more than can be numbered", (long long)counts->contacts);
    report->bodies = (int)counts->bodies;
    report->contacts = (int)counts->contacts;
    report->joint_rows = (int)counts->joint_rows;
    report->warm_started = (int)counts->warm_started;
    report->asleep = (int)counts->asleep;
    report->solved = (int)counts->solved;
    report->held = (uint64_t)counts->held;
    merge_penetrations(ranks, report);
    return true;
}

bool sand_rank_lists(SandMessages *messages, const SandRanks *ranks, const void *mine, size_t bytes, SandError *error) {
    sand_messages_begin(messages);
    return sand_messages_put(messages, ranks->rank, mine, bytes, error) && sand_messages_share(messages, ranks, error);
}
