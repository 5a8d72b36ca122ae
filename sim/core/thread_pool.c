// SPDX-License-Identifier: MIT
// The thread pool. Its barrier comes several times in an iteration of a solve and is mostly shorter than it takes to put a
// thread to sleep and wake it, so a waiting worker polls first. It does so for some microseconds only, and then sleeps on a
// futex: where other processes want the cores, a worker that keeps polling burns the very time slice that the one it waits
// for needs. Waits that ended in sleep make the next ones poll for less. OpenMP's own pool polls for milliseconds, and only
// the environment of the process can change that.
#define _DEFAULT_SOURCE // syscall
#include "sim/core/thread_pool.h"
#include "sim/core/assert.h"
#include "sim/core/clock.h"
#include "sim/core/fork.h"

#include <linux/futex.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Polling lasts at most about as long as it takes to sleep and be woken, so that a wait costs no more than twice what it
// would with foresight; and at least as long as a wait between workers that run side by side.
static const double SPIN_MOST = 50e-6, SPIN_LEAST = 1e-6; // s
enum {
    POLLS = 16, // between two looks at the clock
    TRIAL = 64, // one wait in 64 polls for SPIN_MOST, to see whether the machine is quiet again
};

// A counter to wait for. The thread that changes it wakes the sleepers, if there are any.
typedef struct Gate {
    _Alignas(64) atomic_uint generation;
    atomic_int sleepers;
} Gate;

// How long a worker polls before it sleeps.
typedef struct Patience {
    double seconds;
    unsigned waits;
} Patience;

typedef struct Helper {
    SandThreadPool *pool;
    int id; // of its worker
    pthread_t thread;
    Patience at_barrier, at_start;
    Gate start; // opened once for each run that it takes part in, and at the end
} Helper;

struct SandThreadPool {
    int threads;
    int helpers_running; // the thread that calls sand_thread_pool_run is worker 0
    unsigned forks;      // sand_fork_count of the process that has the helpers
    int64_t items;       // that a run without spans is expected to have
    bool ending;
    // The current run.
    SandWork *work;
    void *argument;
    const SandSpans *spans;
    int count;
    _Alignas(64) atomic_int arrived; // at the barrier
    Gate barrier;
    // Double-buffered, so that a slow reader of one reduction never races with writers of the next.
    _Alignas(64) double partials[2][SAND_CHUNKS][SAND_MAX_SUMS];
    double shared[SAND_CHUNKS * SAND_MAX_SUMS]; // those that ranks exchange, without gaps
    Helper helpers[SAND_MAX_THREADS];           // that of worker 0 has no thread: it is the caller
};

_Static_assert(SAND_MAX_THREADS <= SAND_CHUNKS, "every thread has a chunk");

// --- gates --------------------------------------------------------------------------------------------------

static long futex(atomic_uint *word, int operation, unsigned value) {
    return syscall(SYS_futex, (void *)word, operation, value, NULL, NULL, 0);
}

// Eases off the pipeline between two polls.
static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

static unsigned gate_generation(Gate *gate) { return atomic_load_explicit(&gate->generation, memory_order_acquire); }

// Polls for some time. False when the generation is still `seen`.
static bool gate_poll(Gate *gate, unsigned seen, double seconds) {
    double end = 0;
    do {
        for (int poll = 0; poll < POLLS; poll++) {
            if (gate_generation(gate) != seen) return true;
            relax();
        }
        if (end == 0) end = sand_seconds() + seconds;
    } while (sand_seconds() < end);
    return false;
}

// Waits until the generation is no longer `seen`.
static void gate_wait(Gate *gate, unsigned seen, Patience *patience) {
    bool trial = ++patience->waits % TRIAL == 0;
    if (gate_poll(gate, seen, trial ? SPIN_MOST : patience->seconds)) {
        patience->seconds = fmin(2 * patience->seconds, SPIN_MOST);
        return;
    }
    patience->seconds = fmax(patience->seconds / 2, SPIN_LEAST);
    // Sequentially consistent, as is gate_open: either this thread sees the new generation, or the opener sees the sleeper.
    atomic_fetch_add(&gate->sleepers, 1);
    while (atomic_load(&gate->generation) == seen) futex(&gate->generation, FUTEX_WAIT_PRIVATE, seen);
    atomic_fetch_sub_explicit(&gate->sleepers, 1, memory_order_relaxed);
}

static void gate_open(Gate *gate) {
    atomic_fetch_add(&gate->generation, 1);
    if (atomic_load(&gate->sleepers) > 0) futex(&gate->generation, FUTEX_WAKE_PRIVATE, INT_MAX);
}

// --- the pool -----------------------------------------------------------------------------------------------

SandThreadPool *sand_thread_pool_create(int threads, SandError *error) {
    if (threads == 0) threads = omp_get_num_procs();
    if (threads > SAND_MAX_THREADS) threads = SAND_MAX_THREADS;
    if (threads < 1) return sand_fail(error, "threads: expected at least 1, got %d", threads), NULL;
    SandThreadPool *pool = aligned_alloc(64, (sizeof *pool + 63) / 64 * 64);
    if (!pool) return sand_fail(error, "out of memory for a thread pool"), NULL;
    memset(pool, 0, sizeof *pool);
    pool->threads = threads;
    pool->forks = sand_fork_count();
    pool->items = INT64_MAX;
    for (int id = 0; id < threads; id++) {
        Patience patient = {.seconds = SPIN_MOST};
        pool->helpers[id].pool = pool;
        pool->helpers[id].id = id;
        pool->helpers[id].at_barrier = pool->helpers[id].at_start = patient;
    }
    return pool;
}

// In a forked process there are no helpers, and nothing of theirs to wait for: the next run starts its own.
static void forget_lost_helpers(SandThreadPool *pool) {
    if (pool->forks == sand_fork_count()) return;
    pool->forks = sand_fork_count();
    pool->helpers_running = 0;
    atomic_store(&pool->arrived, 0);
    memset(&pool->barrier, 0, sizeof pool->barrier);
    for (int id = 0; id < pool->threads; id++) memset(&pool->helpers[id].start, 0, sizeof pool->helpers[id].start);
}

void sand_thread_pool_free(SandThreadPool *pool) {
    if (!pool) return;
    forget_lost_helpers(pool);
    pool->ending = true;
    for (int id = 1; id <= pool->helpers_running; id++) gate_open(&pool->helpers[id].start);
    for (int id = 1; id <= pool->helpers_running; id++) pthread_join(pool->helpers[id].thread, NULL);
    free(pool);
}

int sand_thread_pool_threads(const SandThreadPool *pool) { return pool->threads; }

int64_t sand_thread_pool_expect(SandThreadPool *pool, int64_t items) {
    int64_t before = pool->items;
    pool->items = items;
    return before;
}

// The thread sanitizer is there to see threads share work, however little.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHARES_EVERYTHING 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define SHARES_EVERYTHING 1
#endif
#ifdef SHARES_EVERYTHING
static atomic_int grain = 1;
#else
static atomic_int grain = SAND_GRAIN;
#endif

void sand_thread_pool_set_grain(int items) { atomic_store_explicit(&grain, items, memory_order_relaxed); }

// The contacts of a problem that lie in these spans.
static int64_t count_contacts(const SandSpans *spans) {
    int64_t contacts = 0;
    for (int s = 0; s < spans->count; s++) contacts += spans->span[s].count;
    return contacts;
}

// Workers for a run: as many as there are threads, but each with a grain of work. A worker with less takes longer to wake
// and to wait for than to do without.
static int choose_workers(const SandThreadPool *pool, const SandSpans *spans) {
    int64_t items = spans ? count_contacts(spans) : pool->items;
    int64_t most = items / atomic_load_explicit(&grain, memory_order_relaxed);
    return most >= pool->threads ? pool->threads : most > 1 ? (int)most : 1;
}

// The first span of a worker: each has those whose middle is in its share of the tiles. The first span of all is that of
// worker 0, who speaks for the others (sand_worker_speaks).
static int first_span(const SandSpans *spans, int id, int count) {
    if (!spans) return SAND_CHUNKS * id / count;
    int s = id > 0 && spans->count > 0 ? 1 : 0;
    int64_t tiles = spans->count ? spans->span[spans->count - 1].end : 0;
    if (id == 0 || id == count) return id ? spans->count : 0;
    while (s < spans->count && (spans->span[s].begin + spans->span[s].end) * count < 2 * tiles * id) s++;
    return s;
}

static void run_worker(SandThreadPool *pool, int id) {
    int count = pool->count;
    SandWorker worker = {.pool = pool,
                         .id = id,
                         .count = count,
                         .first_chunk = SAND_CHUNKS * id / count,
                         .last_chunk = SAND_CHUNKS * (id + 1) / count,
                         .spans = pool->spans,
                         .first_span = first_span(pool->spans, id, count),
                         .last_span = first_span(pool->spans, id + 1, count)};
    SAND_ASSERT(count <= pool->threads && worker.first_chunk < worker.last_chunk);
    pool->work(&worker, pool->argument);
    sand_barrier(&worker); // the run is over when all are done
}

static void *help(void *argument) {
    Helper *helper = argument;
    for (unsigned seen = 0;; seen++) {
        gate_wait(&helper->start, seen, &helper->at_start);
        if (helper->pool->ending) return NULL;
        run_worker(helper->pool, helper->id);
    }
}

// Starts the helpers that are missing, at the first run that needs them: they inherit the priority of the thread that runs,
// which need not be the one that created the pool. Where the system refuses a thread, those before it share the work.
static void start_helpers(SandThreadPool *pool, int workers) {
    for (int id = pool->helpers_running + 1; id < workers; id++) {
        Helper *helper = &pool->helpers[id];
        if (pthread_create(&helper->thread, NULL, help, helper) != 0) return;
        pool->helpers_running = id;
    }
}

void sand_thread_pool_run(SandThreadPool *pool, SandWork *work, void *argument) {
    sand_thread_pool_run_spans(pool, NULL, work, argument);
}

void sand_thread_pool_run_spans(SandThreadPool *pool, const SandSpans *spans, SandWork *work, void *argument) {
    int workers = choose_workers(pool, spans);
    forget_lost_helpers(pool);
    start_helpers(pool, workers);
    pool->work = work;
    pool->argument = argument;
    pool->spans = spans;
    pool->count = workers <= pool->helpers_running ? workers : pool->helpers_running + 1;
    for (int id = 1; id < pool->count; id++) gate_open(&pool->helpers[id].start);
    run_worker(pool, 0);
}

void sand_barrier(SandWorker *worker) {
    if (worker->count == 1) return;
    SandThreadPool *pool = worker->pool;
    unsigned generation = gate_generation(&pool->barrier);
    if (atomic_fetch_add_explicit(&pool->arrived, 1, memory_order_acq_rel) < worker->count - 1) {
        gate_wait(&pool->barrier, generation, &pool->helpers[worker->id].at_barrier);
    } else {
        atomic_store_explicit(&pool->arrived, 0, memory_order_relaxed);
        gate_open(&pool->barrier);
    }
}

// --- reductions ---------------------------------------------------------------------------------------------

double *sand_partials(SandWorker *worker, int span) {
    SAND_ASSERT(span >= worker->first_span && span < worker->last_span);
    int chunk = worker->spans ? worker->spans->span[span].chunk : span;
    return chunk == SAND_HALO ? worker->dropped : worker->pool->partials[worker->parity][chunk];
}

// Completes a table of partial sums with those of the chunks of the other ranks.
static void gather_partials(SandThreadPool *pool, double (*table)[SAND_MAX_SUMS], int count) {
    const SandSpans *spans = pool->spans;
    const SandRanks *ranks = spans->ranks;
    for (int c = spans->first_chunk[ranks->rank]; c < spans->first_chunk[ranks->rank + 1]; c++)
        for (int k = 0; k < count; k++) pool->shared[c * count + k] = table[c][k];
    ranks->allgather(ranks->user, pool->shared, spans->first_chunk, (size_t)count * sizeof *pool->shared);
    for (int c = 0; c < spans->chunks; c++)
        for (int k = 0; k < count; k++) table[c][k] = pool->shared[c * count + k];
}

void sand_totals(SandWorker *worker, int count, unsigned largest, double *totals) {
    SAND_ASSERT(count >= 0 && count <= SAND_MAX_SUMS);
    sand_barrier(worker);
    double(*table)[SAND_MAX_SUMS] = worker->pool->partials[worker->parity];
    int chunks = worker->spans ? worker->spans->chunks : SAND_CHUNKS;
    if (worker->spans && worker->spans->ranks) {
        if (worker->id == 0) gather_partials(worker->pool, table, count);
        sand_barrier(worker);
    }
    for (int k = 0; k < count; k++) {
        double total = 0;
        if (largest & 1u << k)
            for (int c = 0; c < chunks; c++) total = table[c][k] > total ? table[c][k] : total;
        else
            for (int c = 0; c < chunks; c++) total += table[c][k];
        totals[k] = total;
    }
    worker->parity ^= 1;
}
