// SPDX-License-Identifier: MIT
// SPMD on a rank: the part of cuda/solver/spmd_cuda.h that differs there, which is loops over contacts, sums, agreement and
// the exchange of ghosts.
//
//   loops: the threads of one thread block share an own chunk; the halo is dealt to all blocks. Every loop deals contacts
//   alike, so that a contact always belongs to the same thread
//
//     contacts   [halo][ chunk 0 ][ chunk 1 ][ chunk 2 ] ...      chunk c: block c % gridDim.x
//     a chunk    first + t, first + t + blockDim.x, ...           thread t
//
//   sums: those of a chunk are complete where its loop ends; what the halo adds is dropped
//
//     sum.part[k]                     registers of each thread
//        |   stored
//     shared_parts[k][thread]         shared memory of each block
//        |   warp k of the block reduces its threads; a second loop of the same sum adds to the first
//     LaunchShared.part[chunk][k]     of the own chunks
//        |   a barrier; then block 0 copies them to the mailbox, and posts the request
//     Mailbox.part[chunk][k]          the host gets those of all ranks, and adds the chunks in their order
//        |   block 0 copies the totals; a barrier
//     shared_totals[k]                shared memory of each block
//
//   Chunks and blockDim.x follow from the whole problem alone. The number of ranks and of blocks changes who computes a
//   chunk, never what is added to what.
#pragma once
#ifndef SAND_RANKS // opened alone
#define SAND_RANKS 1
#endif
#include "cuda/solver/spmd_cuda.h"

#define SAND_OUTLINE static __device__ __noinline__

static __shared__ RankView shared_rank; // a copy of LaunchShared.rank

// The view of the launch, for all threads of a block. One thread calls it, before the first barrier of the block.
SAND_INLINE void rank_begin(const LaunchShared *shared) { shared_rank = shared->rank; }

// --- loops --------------------------------------------------------------------------------------------------

// The contacts that a thread block works on: an own chunk, or its share of the halo.
enum { CURSOR_HALO = INT32_MAX };
typedef struct Cursor {
    int chunk;        // index among own chunks; CURSOR_HALO; negative: not started
    Index begin, end; // first item of thread 0; end of the items
    Index stride;     // from one item of a thread to its next
} Cursor;

SAND_INLINE Cursor cursor_begin(void) {
    Cursor c = {(int)blockIdx.x - (int)gridDim.x, 0, 0, 0};
    return c;
}

// Reduces the parts of the threads of a block to the sums of a chunk.
static __device__ __noinline__ void chunk_sums(double *part, int count, unsigned largest, bool fresh) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    bool is_max = largest >> warp & 1;
    __syncthreads();
    if (warp < count) {
        double v = sum_block(shared_parts[warp], lane, is_max);
        if (lane == 0) part[warp] = fresh ? v : sum_join(part[warp], v, is_max);
    }
    __syncthreads(); // before shared_parts is written again
}

// Stores the sums of a chunk that was just walked.
SAND_INLINE void sum_store(Worker *w, Sum *sum, int chunk) {
    SAND_ALL_SUMS(k) if (k < sum->count) {
        shared_parts[k][threadIdx.x] = sum->part[k];
        sum->part[k] = 0;
    }
    chunk_sums(w->shared->part + sum->count * chunk, sum->count, sum->largest, sum->fresh);
}

// After the halo: drops what it added.
SAND_INLINE bool sum_leave(Sum *sum) {
    SAND_ALL_SUMS(k) sum->part[k] = 0;
    sum->fresh = false;
    return false;
}

// Moves on to the next chunk of the block, and behind the last one to its share of the halo. All threads of a block call it
// together. False at the end.
SAND_INLINE bool cursor_next(Worker *w, Cursor *c, Sum *sum) {
    if (c->chunk == CURSOR_HALO) return sum && sum_leave(sum);
    if (sum && c->chunk >= 0) sum_store(w, sum, c->chunk);
    c->chunk += (int)gridDim.x;
    if (c->chunk < shared_rank.chunks) {
        c->begin = __ldg(&shared_rank.chunk_first[c->chunk]);
        c->end = __ldg(&shared_rank.chunk_first[c->chunk + 1]);
        c->stride = (Index)blockDim.x;
    } else {
        c->chunk = CURSOR_HALO;
        c->begin = (Index)(blockIdx.x * blockDim.x);
        c->end = __ldg(shared_rank.chunk_first);
        c->stride = (Index)(gridDim.x * blockDim.x);
    }
    return true;
}

#define SAND_FOR_CHUNKS(w, sum) for (Cursor cursor_ = cursor_begin(); cursor_next(w, &cursor_, sum);)
#define SAND_FOR_CONTACTS(i) for (Index i = cursor_.begin + (Index)threadIdx.x; i < cursor_.end; i += cursor_.stride)
#define SAND_FOR_SUM(w, i, n, sum) SAND_FOR_CHUNKS(w, sum) SAND_FOR_CONTACTS(i)
#define SAND_FOR(w, i, n) SAND_FOR_SUM(w, i, n, (Sum *)NULL)
#define SAND_FOR_BACKWARDS(w, i, n, sum) SAND_FOR_CHUNKS(w, sum) SAND_UNROLL(2) SAND_FOR_CONTACTS(i)

// --- requests to the host -----------------------------------------------------------------------------------

// Posts a request and waits for the answer. Called by one thread.
SAND_INLINE void launch_ask(LaunchShared *shared, MailKind kind, int count, unsigned largest, bool flag) {
    unsigned number = ++shared->requests;
    mail_post(shared_rank.mailbox, number, kind, count, largest, flag);
    mail_wait(shared_rank.mailbox, number);
}

// Posts MAIL_END. Called by one thread.
SAND_INLINE void launch_end(LaunchShared *shared) {
    mail_post(shared_rank.mailbox, ++shared->requests, MAIL_END, 0, 0, false);
}

// Loads the totals of the answer. Called by one thread.
SAND_INLINE void launch_take(LaunchShared *shared, int count) {
    for (int k = 0; k < count; k++) shared->total[k] = mail_load(&shared_rank.mailbox->total[k]);
}

// Posts the sums of own chunks and loads the totals. Called by all threads of block 0.
SAND_INLINE void launch_fetch(LaunchShared *shared, int count, unsigned largest) {
    double *to = shared_rank.mailbox->part + count * shared_rank.first_chunk;
    for (int e = (int)threadIdx.x; e < count * shared_rank.chunks; e += (int)blockDim.x) to[e] = __ldcg(&shared->part[e]);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x > 0) return;
    launch_ask(shared, MAIL_SUM, count, largest, false);
    launch_take(shared, count);
}

static __device__ __noinline__ void launch_totals(LaunchShared *shared, int count, unsigned largest) {
    launch_barrier_inline(&shared->arrived);
    if (blockIdx.x == 0) launch_fetch(shared, count, largest);
    launch_barrier_inline(&shared->arrived);
    if ((int)threadIdx.x < count) shared_totals[threadIdx.x] = __ldcg(&shared->total[threadIdx.x]);
    __syncthreads();
}

SAND_KERNEL void sum_total(Worker *w, Sum *sum) {
    launch_totals(w->shared, sum->count, sum->largest);
    SAND_ALL_SUMS(k) sum->total[k] = shared_totals[k];
}

// Broadcasts the flag of the first worker of rank 0. The barrier comes first because other threads may still read the last
// totals, which the answer overwrites.
static __device__ __noinline__ bool launch_agree(LaunchShared *shared, bool first_says) {
    launch_barrier_inline(&shared->arrived);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        launch_ask(shared, MAIL_AGREE, 0, 0, first_says);
        launch_take(shared, 1);
    }
    launch_barrier_inline(&shared->arrived);
    return __ldcg(&shared->total[0]) > 0;
}
SAND_INLINE bool worker_agree(Worker *w, bool first_says) { return launch_agree(w->shared, first_says); }

static __device__ __noinline__ void launch_exchange(LaunchShared *shared) {
    __threadfence_system(); // makes the outgoing ghosts of this thread visible to the host
    launch_barrier_inline(&shared->arrived);
    if (blockIdx.x == 0 && threadIdx.x == 0) launch_ask(shared, MAIL_EXCHANGE, 0, 0, false);
    launch_barrier_inline(&shared->arrived);
}

// The host sends the messages, while the kernel waits at the end of the exchange. A single rank has none.
SAND_INLINE void worker_begin_exchange(Worker *, const SandRanks *, const SandMessage *, int) {}
SAND_INLINE void worker_end_exchange(Worker *w, const SandRanks *) {
    if (shared_rank.ranks > 1) launch_exchange(w->shared);
}
#define SAND_RECEIVED(p) mail_load(p)
// A loop over single numbers of all items, so that the threads of a warp access adjacent memory of the host.
#define SAND_FOR_NUMBERS(w, i, c, n, size) \
    SAND_FOR_EACH(w, number_, (n) * (size)) \
    for (Index i = number_ / (size), c = number_ % (size), once_ = 1; once_; once_ = 0)
