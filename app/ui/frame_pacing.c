#include "app/ui/frame_pacing.h"

#include <math.h>

#include "sim/core/thread_pool.h"

enum { FIRST_FRAMES = 10, CHOOSE_EVERY = 4, MOST_COARSE = 3 };
static const double INTERVAL = 1.0 / 30;        // s, between frames that a processor draws
static const double SHARE = 0.4;                // of the time, left to the simulation
static const double SLOW = 0.06, QUICK = 0.015; // s, for a frame
static const double STILL = 1;                  // s, without any motion
static const double HEAVY = 0.12;               // s, a picture of all pixels that is not worth it while the simulation runs

void pace_start(Pace *pace, bool software) {
    *pace = (Pace){.software = software, .coarse = software ? 2 : 1, .drawing = INTERVAL, .begun = sand_seconds()};
}

double pace_begin(Pace *pace, bool moves, bool runs) {
    double now = sand_seconds(), elapsed = now - pace->begun;
    pace->begun = now;
    if (pace->frames == FIRST_FRAMES) pace->steady = now;
    if (pace->frames > FIRST_FRAMES && !pace->excused) pace->stall = fmax(pace->stall, elapsed);
    pace->excused = false;
    // All pixels again as soon as nothing moves.
    bool choose = moves && pace->frames % CHOOSE_EVERY == 0;
    pace->still = moves ? 0 : pace->still + elapsed;
    if (!pace->software || (pace->still > STILL && !(runs && pace->heavy)))
        pace->coarse = 1;
    else if (choose && pace->drawing > SLOW && pace->coarse < MOST_COARSE)
        pace->coarse++;
    else if (choose && pace->drawing < QUICK && pace->coarse > 1)
        pace->coarse--;
    return elapsed;
}

double pace_rest(Pace *pace, bool shares) {
    double took = sand_seconds() - pace->begun;
    pace->drawing += 0.2 * (took - pace->drawing);
    if (pace->coarse == 1 && pace->frames > FIRST_FRAMES) pace->heavy = took > HEAVY || (pace->heavy && !(took < SLOW));
    pace->frames++;
    if (!pace->software) return 0;
    double interval = shares ? fmax(INTERVAL, took / (1 - SHARE)) : INTERVAL;
    return fmax(0, fmin(interval, 0.15) - took);
}

void pace_excuse(Pace *pace) { pace->excused = true; }

double pace_rate(const Pace *pace) {
    double seconds = pace->begun - pace->steady;
    return pace->frames > FIRST_FRAMES + 1 && seconds > 0 ? (double)(pace->frames - 1 - FIRST_FRAMES) / seconds : 0;
}
