// SPDX-License-Identifier: MIT
// Chunks go to the ranks in their order: a rank takes the next one while the work of those before it is below its share.
#include "sim/ranks/cut_chunks.h"

#include "sim/core/ranks.h"

void sand_cut_chunks(const int64_t *work, int chunks, int ranks, int *first) {
    int64_t all = 0, before = 0;
    int chunk = 0, owning = sand_owning_ranks(ranks);
    for (int c = 0; c < chunks; c++) all += work[c];
    for (int r = 0; r <= owning; r++) {
        while (r > 0 && chunk < chunks && (chunk == 0 || r == owning || before * owning < all * r)) before += work[chunk++];
        first[r] = chunk;
    }
    for (int r = owning + 1; r <= ranks; r++) first[r] = chunks;
}
