// SPDX-License-Identifier: MIT
// Laying out the chunks of a problem, each padded to whole tiles; the contacts of a stored matrix, which has no bodies, are
// cut into equal parts.
#include "sim/solver/chunks.h"

#include "sim/core/assert.h"

static int64_t tiles_of(int64_t contacts) { return (contacts + SAND_LANES - 1) / SAND_LANES; }

void sand_spans_add(SandSpans *spans, int chunk, int first, int count) {
    SAND_ASSERT(spans->count < SAND_MAX_SPANS);
    int64_t begin = spans->count ? spans->span[spans->count - 1].end : 0;
    spans->span[spans->count++] =
        (SandSpan){.chunk = chunk, .begin = begin, .end = begin + tiles_of(count), .first = first, .count = count};
}

// Chunks of a range of contacts, without padding in between.
static void lay_out_matrix(SandSpans *spans, int contacts) {
    int64_t tiles = tiles_of(contacts);
    spans->chunks = SAND_CHUNKS;
    for (int c = 0; c < SAND_CHUNKS; c++) {
        int first = (int)sand_chunk_begin(c, tiles) * SAND_LANES, end = (int)sand_chunk_begin(c + 1, tiles) * SAND_LANES;
        if (first > contacts) first = contacts;
        sand_spans_add(spans, c, first, (end < contacts ? end : contacts) - first);
    }
}

void sand_spans_of_problem(SandSpans *spans, const SandProblem *p, const SandAdjacency *a) {
    spans->ranks = NULL;
    spans->count = 0;
    if (p->matrix) {
        lay_out_matrix(spans, p->contact_count);
        return;
    }
    spans->chunks = sand_chunks_of(p->dynamic_count);
    for (int c = 0; c < spans->chunks; c++) {
        int first = a->first.data[sand_chunk_first_body(c, p->dynamic_count)];
        sand_spans_add(spans, c, first, a->first.data[sand_chunk_first_body(c + 1, p->dynamic_count)] - first);
    }
}
