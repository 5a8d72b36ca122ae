// SPDX-License-Identifier: MIT
// A child for each life of the program, and the signals that end it for good.
#define _DEFAULT_SOURCE // for memory that two processes share
#include "app/cli/session/watchdog.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ended;
static void on_signal(int number) { ended = number; }

// Seconds without a beat after which the child is taken for dead: 60, or what the environment says, for tests.
static double patience(void) {
    const char *text = getenv("SANDGLASS_WATCHDOG");
    double seconds = text ? strtod(text, NULL) : 0;
    return seconds > 0 ? seconds : 60;
}

// Waits until the child ends; one whose heart stands still is killed. A scene that is opened for the first time may take its
// time, but the window draws on beside it.
static int watch(pid_t child, Heart *heart) {
    const long TICK = 100000000; // ns
    double still = 0;
    unsigned last = *heart;
    int status = 0;
    bool told = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = TICK}, NULL);
        still = *heart == last ? still + 1e-9 * (double)TICK : 0;
        last = *heart;
        if (ended && !told) told = kill(child, (int)ended) == 0;
        // Before its first beat it opens a window and prepares its scenes, for which it has ten times as long.
        if (still < (last ? 1 : 10) * patience()) continue;
        fprintf(stderr, "sandglass: the window stands still, and is started anew\n");
        kill(child, SIGKILL);
        still = 0;
    }
    return status;
}

bool watchdog_begin(Heart **heart, Outcome *outcome, SandError *error) {
    const double PAUSE = 1; // s between two lives
    *outcome = OUTCOME_FAILED;
    *heart = mmap(NULL, sizeof **heart, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (*heart == MAP_FAILED) return sand_fail(error, "the watchdog has no memory: %s", strerror(errno));
    struct sigaction action = {.sa_handler = on_signal}, before[2];
    sigaction(SIGTERM, &action, &before[0]);
    sigaction(SIGINT, &action, &before[1]);
    while (true) {
        **heart = 0;
        pid_t child = fork();
        if (child < 0) return sand_fail(error, "the watchdog cannot start the program: %s", strerror(errno));
        if (child == 0) {
            sigaction(SIGTERM, &before[0], NULL);
            sigaction(SIGINT, &before[1], NULL);
            return true;
        }
        int status = watch(child, *heart);
        bool lived = **heart > 0;
        *outcome = WIFEXITED(status) ? (Outcome)WEXITSTATUS(status) : OUTCOME_FAILED;
        if (ended || *outcome == OUTCOME_DONE) break;
        if (!lived && WIFEXITED(status)) return sand_fail(error, "the window does not open; see the lines above");
        fprintf(stderr, "sandglass: the window ended, and is started anew\n");
        nanosleep(&(struct timespec){.tv_sec = (time_t)PAUSE}, NULL);
    }
    *outcome = OUTCOME_DONE;
    munmap((void *)*heart, sizeof **heart);
    return false;
}
