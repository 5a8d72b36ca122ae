// SPDX-License-Identifier: MIT
// The partition of chunks among ranks, on the CPU and on GPUs.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Cuts `chunks` chunks, whose work in the last step is given, into ranges of about equal work, one for each rank: rank r
// gets those from first[r] to before first[r + 1]. Rank 0 always gets the first chunk; from rank SAND_CHUNKS on
// none gets any.
void sand_cut_chunks(const int64_t *work, int chunks, int ranks, int *first);

#ifdef __cplusplus
}
#endif
