// SPDX-License-Identifier: MIT
// The meeting of ranks before a frame is listed: whether all have written their part, and how many bodies each has.
#include "app/io/export/parts.h"

bool parts_meet(const SandRanks *ranks, bool well, ExportFrame *frame, SandError *fault, SandError *error) {
    int first[SAND_MAX_RANKS + 1];
    bool all_well;
    frame->part_count = 0;
    if (!sand_ranks_check(ranks, well, &all_well, fault, error)) return false;
    if (!all_well) return true;
    frame->part_count = ranks->count;
    for (int r = 0; r <= ranks->count; r++) first[r] = r;
    frame->parts[ranks->rank] = frame->tables[EXPORT_BODIES].count;
    ranks->allgather(ranks->user, frame->parts, first, sizeof *frame->parts);
    return true;
}
