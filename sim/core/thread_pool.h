// A pool of threads that all run one function together (SPMD), as the threads of a GPU kernel do: every worker executes the
// same code on its own share of the data and meets the others at barriers.
//
// Reductions give the same bits whatever the number of threads. A range is split into SAND_CHUNKS chunks; a worker owns a
// contiguous share of them, sums each chunk on its own, and sand_totals adds the chunks in their order:
//
//     items   |----|----|----|----|----|----|--...--|----|      SAND_CHUNKS chunks of n items
//     worker  |      0       |      1       |  ...  | w  |      chunks first_chunk .. last_chunk - 1 each
//
#pragma once
#include "sim/core/limits.h"
#include "sandglass/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandThreadPool SandThreadPool;

// One worker of the pool, for the duration of one run.
typedef struct SandWorker {
    SandThreadPool *pool;
    int id, count;                   // this worker, and how many there are
    int first_chunk, last_chunk;     // its chunks of every range: first_chunk <= c < last_chunk
    unsigned parity;                 // which of the two tables of partial sums is in use
    double state[SAND_WORKER_STATE]; // private to the worker, lasts for the run
} SandWorker;

typedef void SandWork(SandWorker *worker, void *argument);

// Creates a pool. 0 threads: one for each core; more than SAND_MAX_THREADS are reduced to that many. NULL on failure.
SandThreadPool *sand_thread_pool_create(int threads, SandError *error);
void sand_thread_pool_free(SandThreadPool *pool);
int sand_thread_pool_threads(const SandThreadPool *pool);

// Runs `work` on every worker and returns when all are done. The caller is worker 0; the first run starts the threads of the
// others. Not reentrant.
void sand_thread_pool_run(SandThreadPool *pool, SandWork *work, void *argument);

// Waits until every worker of the run has arrived. Polls for some microseconds, then sleeps.
void sand_barrier(SandWorker *worker);

// Returns the SAND_MAX_SUMS partial sums of one of the worker's chunks, to be filled before sand_totals.
double *sand_partials(SandWorker *worker, int chunk);
// Adds up the first `count` partial sums over all chunks, in the order of the chunks: every worker gets the same bits. Bit k
// of `largest` marks entry k as a maximum instead of a sum. Contains a barrier; switches to the other table of partial sums.
void sand_totals(SandWorker *worker, int count, unsigned largest, double *totals);

// Returns where chunk c of n items begins; chunk SAND_CHUNKS begins at n.
static inline int64_t sand_chunk_begin(int chunk, int64_t n) { return n * chunk / SAND_CHUNKS; }

#ifdef __cplusplus
}
#endif
