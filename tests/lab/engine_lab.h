// Shared by the tests of the engine: requesting acts and waiting for frames.
#pragma once
#include "app/engine/engine.h"
#include "sim/core/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

static inline void ask(Engine *engine, Act act) { assert_true(engine_ask(engine, &act)); }

// Waits for the first frame at this step; fails after 20 s.
static inline EngineFrame *wait_for(Engine *engine, uint64_t step) {
    for (double until = sand_seconds() + 20; sand_seconds() < until;) {
        EngineFrame *frame = engine_frame(engine);
        if (frame && frame->step == step) return frame;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    fail_msg("step %llu did not come", (unsigned long long)step);
    return NULL;
}
