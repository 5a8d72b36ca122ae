// SPDX-License-Identifier: MIT
// A pool of threads that all run one function together (SPMD), as the threads of a GPU kernel do: every worker executes the
// same code on its own share of the data and meets the others at barriers.
//
// Reductions give the same bits whatever the number of threads. A range is split into SAND_CHUNKS chunks; a worker owns a
// contiguous share of them, sums each chunk on its own, and sand_totals adds the chunks in their order:
//
//     items   |----|----|----|----|----|----|--...--|----|      SAND_CHUNKS chunks of n items
//     worker  |      0       |      1       |  ...  | w  |      chunks first_chunk .. last_chunk - 1 each
//
// Contacts of a problem lie in chunks of their own (sim/solver/chunks.h), which begin at whole tiles: workers walk spans, of
// which each is a chunk. A rank of several (ranks.h) holds only some of the chunks, and beside them contacts that others
// sum: a span may also be a part of this halo, whose sums are dropped. sand_totals then fetches the sums of all other
// chunks, and adds up the same numbers in the same order.
// A run with little to do has fewer workers than the pool has threads, at best the caller alone: waking a thread and meeting
// it at barriers takes longer than the work of a small world (two spheres: fifteen times as long). Every worker has at least
// a grain of items, contacts of the problem where a run has spans, else what sand_thread_pool_expect was told. Since chunks
// are summed in their order by any number of workers, this changes no bits.
#pragma once
#include "sim/core/limits.h"
#include "sim/core/ranks.h"
#include "sandglass/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandThreadPool SandThreadPool;

// Consecutive tiles of contacts that one worker walks.
typedef struct SandSpan {
    int chunk; // that they are; SAND_HALO: none
    int64_t begin, end;
    int first, count; // contacts of the problem that lie there; behind them is padding
} SandSpan;
enum { SAND_HALO = -1 };

// All tiles that a process holds, one span behind the other.
typedef struct SandSpans {
    const SandRanks *ranks; // NULL: one process has all chunks
    int chunks;             // of all ranks
    const int *first_chunk; // of each rank, and `chunks` behind them
    int count;
    SandSpan span[SAND_MAX_SPANS];
} SandSpans;

// One worker of the pool, for the duration of one run.
typedef struct SandWorker {
    SandThreadPool *pool;
    int id, count;                   // this worker, and how many there are
    int first_chunk, last_chunk;     // its chunks of every range: first_chunk <= c < last_chunk
    const SandSpans *spans;          // NULL: the spans are the chunks
    int first_span, last_span;       // its spans: first_span <= s < last_span
    double dropped[SAND_MAX_SUMS];   // sums over a halo
    unsigned parity;                 // which of the two tables of partial sums is in use
    double state[SAND_WORKER_STATE]; // private to the worker, lasts for the run
} SandWorker;

typedef void SandWork(SandWorker *worker, void *argument);

// Creates a pool. 0 threads: one for each core; more than SAND_MAX_THREADS are reduced to that many. NULL on failure.
SandThreadPool *sand_thread_pool_create(int threads, SandError *error);
void sand_thread_pool_free(SandThreadPool *pool); // in a forked process, too, where its threads are not
int sand_thread_pool_threads(const SandThreadPool *pool);

// Runs `work` on every worker and returns when all are done. The caller is worker 0; the first run starts the threads of the
// others. Not reentrant.
void sand_thread_pool_run(SandThreadPool *pool, SandWork *work, void *argument);
// The same on these spans; NULL: on SAND_CHUNKS chunks. Every worker has as many tiles of them as the others, if it can.
void sand_thread_pool_run_spans(SandThreadPool *pool, const SandSpans *spans, SandWork *work, void *argument);

// Says how many items the runs without spans that follow have, bodies say; at first as many as can be. Returns what was said
// before.
int64_t sand_thread_pool_expect(SandThreadPool *pool, int64_t items);
// The items that a worker has at least, of all pools. Tests lower it, so that several threads share what is small.
enum { SAND_GRAIN = 256 };
void sand_thread_pool_set_grain(int items);

// Waits until every worker of the run has arrived. Polls for some microseconds, then sleeps.
void sand_barrier(SandWorker *worker);

// Returns the SAND_MAX_SUMS partial sums of one of the worker's spans, to be filled before sand_totals.
double *sand_partials(SandWorker *worker, int span);
// Adds up the first `count` partial sums over all chunks, in the order of the chunks: every worker gets the same bits. Bit k
// of `largest` marks entry k as a maximum instead of a sum. Contains a barrier, and over several ranks an allgather;
// switches to the other table of partial sums.
void sand_totals(SandWorker *worker, int count, unsigned largest, double *totals);

// Returns where chunk c of n items begins; chunk SAND_CHUNKS begins at n.
static inline int64_t sand_chunk_begin(int chunk, int64_t n) { return n * chunk / SAND_CHUNKS; }

// Returns a span of `tiles` tiles.
static inline SandSpan sand_span(const SandWorker *worker, int span, int64_t tiles) {
    if (worker->spans) return worker->spans->span[span];
    SandSpan chunk = {.chunk = span, .begin = sand_chunk_begin(span, tiles), .end = sand_chunk_begin(span + 1, tiles)};
    return chunk;
}

// Returns where the part of n items begins that a worker has with this span, for sums over something else than contacts.
static inline int64_t sand_span_begin(const SandWorker *worker, int span, int64_t n) {
    return n * span / (worker->spans ? worker->spans->count : SAND_CHUNKS);
}

// Whether this worker speaks for all workers of all ranks.
static inline bool sand_worker_speaks(const SandWorker *worker) {
    const SandRanks *ranks = worker->spans ? worker->spans->ranks : NULL;
    return worker->id == 0 && !(ranks && ranks->rank > 0);
}

#ifdef __cplusplus
}
#endif
