// A team of threads that run one function together, as the threads of a GPU kernel do.
#pragma once
#include "sim/core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandThreadPool SandThreadPool;

// One member of the team, for the time of one run.
typedef struct SandWorker {
    SandThreadPool *pool;
    int id, count;
    int first_chunk, last_chunk;     // its share of the SAND_CHUNKS parts of every range
    unsigned parity;                 // which of the two tables of partial sums is in use
    double state[SAND_WORKER_STATE]; // its own, for the time of the run
} SandWorker;

typedef void SandWork(SandWorker *worker, void *argument);

SandThreadPool *sand_thread_pool_create(int threads, SandError *error); // 0: one for each core
void sand_thread_pool_free(SandThreadPool *pool);
int sand_thread_pool_threads(const SandThreadPool *pool);

// Every member executes `work`; returns when all are done.
void sand_thread_pool_run(SandThreadPool *pool, SandWork *work, void *argument);

// Everyone arrives, then everyone goes on. Spins a little, then yields the core.
void sand_barrier(SandWorker *worker);

// Partial sums of a chunk in the table now in use.
double *sand_partials(SandWorker *worker, int chunk);
// Everyone gets the same totals, added in the order of the chunks. Bits of `largest` mark maxima instead of sums.
void sand_totals(SandWorker *worker, int count, unsigned largest, double *totals);

// Where chunk c of n items begins.
static inline int64_t sand_chunk_begin(int chunk, int64_t n) { return n * chunk / SAND_CHUNKS; }

#ifdef __cplusplus
}
#endif
