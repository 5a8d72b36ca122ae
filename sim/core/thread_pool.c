// The thread pool, on OpenMP's threads. The barrier is our own: it spins, since a solve has several barriers an iteration
// and each is shorter than it takes to put a thread to sleep and wake it.
#include "sim/core/thread_pool.h"
#include "sim/core/assert.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS = 4000 }; // some microseconds, then the core is yielded

struct SandThreadPool {
    int threads;
    _Alignas(64) atomic_int arrived;
    _Alignas(64) atomic_uint generation;
    // Double-buffered, so that a slow reader of one reduction never races with writers of the next.
    _Alignas(64) double partials[2][SAND_CHUNKS][SAND_MAX_SUMS];
};

_Static_assert(SAND_MAX_THREADS <= SAND_CHUNKS, "every thread has a chunk");

SandThreadPool *sand_thread_pool_create(int threads, SandError *error) {
    if (threads == 0) threads = omp_get_num_procs();
    if (threads > SAND_MAX_THREADS) threads = SAND_MAX_THREADS;
    if (threads < 1) return sand_fail(error, "threads: expected at least 1, got %d", threads), NULL;
    SandThreadPool *pool = aligned_alloc(64, (sizeof *pool + 63) / 64 * 64);
    if (!pool) return sand_fail(error, "out of memory for a thread pool"), NULL;
    memset(pool, 0, sizeof *pool);
    pool->threads = threads;
    return pool;
}

void sand_thread_pool_free(SandThreadPool *pool) { free(pool); }

int sand_thread_pool_threads(const SandThreadPool *pool) { return pool->threads; }

void sand_thread_pool_run(SandThreadPool *pool, SandWork *work, void *argument) {
#pragma omp parallel num_threads(pool->threads)
    {
        int id = omp_get_thread_num(), count = omp_get_num_threads();
        // omp may give fewer threads than asked for: shares follow the count it gave
        SandWorker worker = {.pool = pool,
                             .id = id,
                             .count = count,
                             .first_chunk = SAND_CHUNKS * id / count,
                             .last_chunk = SAND_CHUNKS * (id + 1) / count};
        SAND_ASSERT(count <= pool->threads && worker.first_chunk < worker.last_chunk);
        work(&worker, argument);
    }
}

void sand_barrier(SandWorker *worker) {
    if (worker->count == 1) return;
    SandThreadPool *pool = worker->pool;
    unsigned generation = atomic_load_explicit(&pool->generation, memory_order_acquire);
    if (atomic_fetch_add_explicit(&pool->arrived, 1, memory_order_acq_rel) == worker->count - 1) {
        atomic_store_explicit(&pool->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&pool->generation, generation + 1, memory_order_release);
        return;
    }
    // Not the last to arrive: wait for the generation to change.
    for (int spins = 0; atomic_load_explicit(&pool->generation, memory_order_acquire) == generation; spins++)
        if (spins >= SPINS) sched_yield();
}

double *sand_partials(SandWorker *worker, int chunk) {
    SAND_ASSERT(chunk >= worker->first_chunk && chunk < worker->last_chunk);
    return worker->pool->partials[worker->parity][chunk];
}

void sand_totals(SandWorker *worker, int count, unsigned largest, double *totals) {
    SAND_ASSERT(count >= 0 && count <= SAND_MAX_SUMS);
    sand_barrier(worker);
    double(*table)[SAND_MAX_SUMS] = worker->pool->partials[worker->parity];
    for (int k = 0; k < count; k++) {
        double total = 0;
        if (largest & 1u << k)
            for (int c = 0; c < SAND_CHUNKS; c++) total = table[c][k] > total ? table[c][k] : total;
        else
            for (int c = 0; c < SAND_CHUNKS; c++) total += table[c][k];
        totals[k] = total;
    }
    worker->parity ^= 1;
}
