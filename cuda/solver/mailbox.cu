// SPDX-License-Identifier: MIT
// The host's side of the mailbox: polls for requests of the kernel, carries each out together with the other ranks, and
// answers, until the kernel posts MAIL_END.
#include "cuda/solver/mailbox.h"

#include <sched.h>

// --- sums -------------------------------------------------------------------------------------------------

void mailbox_add(Mailbox *box, const SandRanks *ranks, const int *first_chunk, int count, unsigned largest) {
    ranks->allgather(ranks->user, box->part, first_chunk, (size_t)count * sizeof(double));
    double total[SAND_MAX_SUMS] = {0};
    const double *part = box->part;
    for (int chunk = 0; chunk < first_chunk[ranks->count]; chunk++, part += count)
        for (int k = 0; k < count; k++) {
            double sum = total[k] + part[k], most = part[k] > total[k] ? part[k] : total[k];
            total[k] = largest >> k & 1 ? most : sum;
        }
    for (int k = 0; k < count; k++) box->total[k] = total[k];
}

// --- service ----------------------------------------------------------------------------------------------

static bool posted(const Mailbox *box, unsigned number) {
    return __atomic_load_n(&box->request, __ATOMIC_ACQUIRE) == number;
}

// Waits for a request. Checks from time to time whether the kernel still runs, since one that failed posts nothing more.
static cudaError_t wait_for(const Mailbox *box, unsigned number, cudaStream_t stream) {
    enum { POLLS = 1 << 16 };
    for (unsigned poll = 1; !posted(box, number); poll++) {
        sched_yield();
        if (poll % POLLS) continue;
        cudaError_t code = cudaStreamQuery(stream);
        if (code == cudaErrorNotReady)
            cudaGetLastError(); // it is none
        else if (!posted(box, number))
            return code == cudaSuccess ? cudaErrorLaunchFailure : code;
    }
    return cudaSuccess;
}

static void serve(Mailbox *box, const MailRoute &route) {
    const SandRanks *ranks = route.ranks;
    if (box->kind == MAIL_SUM) {
        mailbox_add(box, ranks, route.first_chunk, box->count, box->largest);
    } else if (box->kind == MAIL_EXCHANGE) {
        ranks->exchange(ranks->user, route.messages, route.message_count);
    } else {
        int64_t flag = ranks->rank == 0 ? box->flag : 0;
        ranks->sum(ranks->user, &flag, 1);
        box->total[0] = (double)flag;
    }
}

cudaError_t mailbox_serve(Mailbox *box, const MailRoute &route, cudaStream_t stream) {
    for (unsigned number = 1;; number++) {
        cudaError_t code = wait_for(box, number, stream);
        if (code != cudaSuccess || box->kind == MAIL_END) return code;
        serve(box, route);
        __atomic_store_n(&box->answer, number, __ATOMIC_RELEASE);
    }
}
