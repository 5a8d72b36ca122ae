// SPDX-License-Identifier: MIT
// The mailbox between the solve kernel of a rank and its host, which alone can exchange messages with other ranks. It lies
// in memory of the host that both can access. The kernel posts a request and waits; the host polls for it, carries it out
// together with the other ranks, and answers:
//
//   kernel   ...work...| barrier | data, request n | wait . . . . . . . . . . . . . | barrier |...work...
//   host     poll . . . . . . . . . . . . . . . . .| meet other ranks | answer n | poll . . .
//
// Requests are numbered from 1 in each solve. Request and answer are stored with release and loaded with acquire semantics:
// data written before one is visible to the side that has loaded it.
#pragma once
#include "sim/core/limits.h"
#include "sim/core/ranks.h"

#include <cuda_runtime.h>

enum { RANK_CHUNKS = 2048 }; // of all ranks, at most
enum { MAIL_NUMBERS = 6 };   // of an exchanged body: velocity and spin

enum MailKind {
    MAIL_SUM,      // sum over the chunks of all ranks
    MAIL_EXCHANGE, // exchange ghosts, whose motion is in buffers of its own
    MAIL_AGREE,    // broadcast the flag of rank 0
    MAIL_END,      // the solve has ended; there is no answer
};

// Kernel and host write to different cache lines.
struct Mailbox {
    alignas(128) unsigned request; // written by the kernel: number of the last request, then its arguments
    int kind;                      // MailKind
    int count;                     // of MAIL_SUM: sums of a chunk
    unsigned largest;              // bit k: sum k is a maximum
    int flag;                      // of MAIL_AGREE
    alignas(128) unsigned answer;  // written by the host: number of the last request that is answered
    alignas(128) double total[SAND_MAX_SUMS];
    alignas(128) double part[RANK_CHUNKS * SAND_MAX_SUMS]; // of all chunks, `count` of each; the kernel writes its own
};

// Gathers the sums of all chunks on every rank, and adds them in the order of chunks. Collective.
void mailbox_add(Mailbox *box, const SandRanks *ranks, const int *first_chunk, int count, unsigned largest);

// Serves the kernel that runs on the stream until its MAIL_END. False where it ended without one.
struct MailRoute {
    const SandRanks *ranks;
    const int *first_chunk; // of each rank
    const SandMessage *messages;
    int message_count;
};
cudaError_t mailbox_serve(Mailbox *box, const MailRoute &route, cudaStream_t stream);

#ifdef __CUDACC__
// Posts a request. Called by one thread of the launch, once the others have written its data.
static __device__ void mail_post(Mailbox *box, unsigned number, MailKind kind, int count, unsigned largest, bool flag) {
    *(volatile int *)&box->kind = kind;
    *(volatile int *)&box->count = count;
    *(volatile unsigned *)&box->largest = largest;
    *(volatile int *)&box->flag = flag;
    __threadfence_system();
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&box->request), "r"(number) : "memory");
}

static __device__ void mail_wait(const Mailbox *box, unsigned number) {
    unsigned seen;
    do {
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(&box->answer) : "memory");
    } while (seen != number);
    __threadfence_system();
}

// Loads data that the host has written since the kernel began, past all caches.
static __device__ float mail_load(const float *p) {
    float v;
    asm volatile("ld.relaxed.sys.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
    return v;
}
static __device__ double mail_load(const double *p) {
    double v;
    asm volatile("ld.relaxed.sys.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
    return v;
}
#endif
