// SPDX-License-Identifier: MIT
// The count of forks: the C library tells the child, so that asking costs no system call.
#include "sim/core/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint forks;

static void count_fork(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }
static void watch(void) { pthread_atfork(NULL, NULL, count_fork); }

unsigned sand_fork_count(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}
