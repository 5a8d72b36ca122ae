// SPDX-License-Identifier: MIT
// What the tests of the engine share: requests, waiting for their effects, and messages, which fail the test unless it
// expects them.
#pragma once
#include "app/engine/engine.h"
#include "sim/core/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

static const double ENGINE_LIMIT = 300; // s, for anything that is waited for: an engine that hangs, not a slow machine

static inline void ask(Engine *engine, Act act) { assert_true(engine_ask(engine, &act)); }

static inline void pause_briefly(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

// Parts of messages that the running test expects, each ended by NULL; close_engine forgets them.
enum { EXPECTED_MOST = 8 };
static const char *expected_messages[EXPECTED_MOST + 1];
static int messages_heard[EXPECTED_MOST]; // how often each came

static inline void expect_message(const char *part) {
    int k = 0;
    while (expected_messages[k]) k++;
    assert_true(k < EXPECTED_MOST);
    expected_messages[k] = part;
    messages_heard[k] = 0;
}

// Reads what the engine has to say; fails on what is not expected.
static inline void hear_messages(Engine *engine) {
    char messages[8][SAND_SENTENCE];
    int count;
    while ((count = engine_messages(engine, messages, 8)) > 0)
        for (int i = 0; i < count; i++) {
            int k = 0;
            while (expected_messages[k] && !strstr(messages[i], expected_messages[k])) k++;
            if (!expected_messages[k]) fail_msg("unexpected message: %s", messages[i]);
            messages_heard[k]++;
        }
}

// How often an expected message has come so far.
static inline int heard(Engine *engine, const char *part) {
    hear_messages(engine);
    for (int k = 0; expected_messages[k]; k++)
        if (!strcmp(expected_messages[k], part)) return messages_heard[k];
    return 0;
}

static inline void wait_for_message(Engine *engine, const char *part) {
    for (double end = sand_seconds() + ENGINE_LIMIT; sand_seconds() < end; pause_briefly())
        if (heard(engine, part)) return;
    fail_msg("the message '%s' did not come", part);
}

// The first frame at this step.
static inline EngineFrame *wait_for(Engine *engine, uint64_t step) {
    for (double end = sand_seconds() + ENGINE_LIMIT; sand_seconds() < end; pause_briefly()) {
        EngineFrame *frame = engine_frame(engine);
        hear_messages(engine);
        if (frame && frame->step == step) return frame;
    }
    fail_msg("step %llu did not come", (unsigned long long)step);
    return NULL;
}

static inline void close_engine(Engine *engine) {
    engine_stop(engine);
    hear_messages(engine);
    engine_free(engine);
    memset(expected_messages, 0, sizeof expected_messages);
}
