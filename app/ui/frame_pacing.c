// SPDX-License-Identifier: MIT
// Frame pacing for the software renderer, and the frame statistics of the window.
#include "app/ui/frame_pacing.h"

#include <math.h>

#include "sim/core/clock.h"

enum { FIRST_FRAMES = 10, CHOOSE_EVERY = 4, MOST_COARSE = 3 };
static const double INTERVAL = 1.0 / 30;        // s, between frames of the software renderer
static const double SHARE = 0.4;                // of the time that is left to the simulation
static const double SLOW = 0.06, QUICK = 0.015; // s, thresholds of a frame for a coarser and a finer picture
static const double STILL = 1;                  // s without motion until all pixels are drawn again
static const double HEAVY = 0.12;               // s, a full-resolution frame that costs too much while the simulation runs

void frame_pacing_start(FramePacing *pacing, bool software) {
    *pacing = (FramePacing){.software = software, .coarse = software ? 2 : 1, .drawing = INTERVAL, .begun = sand_seconds()};
}

double frame_pacing_begin(FramePacing *pacing, bool moves, bool runs) {
    double now = sand_seconds(), elapsed = now - pacing->begun;
    pacing->begun = now;
    pacing->between += (pacing->between > 0 ? 0.1 : 1) * (elapsed - pacing->between);
    if (pacing->frames == FIRST_FRAMES) pacing->steady = now;
    if (pacing->frames > FIRST_FRAMES && !pacing->excused) pacing->stall = fmax(pacing->stall, elapsed);
    pacing->excused = false;
    // Back to full resolution after a second without motion.
    bool choose = moves && pacing->frames % CHOOSE_EVERY == 0;
    pacing->still = moves ? 0 : pacing->still + elapsed;
    if (!pacing->software || (pacing->still > STILL && !(runs && pacing->heavy)))
        pacing->coarse = 1;
    else if (choose && pacing->drawing > SLOW && pacing->coarse < MOST_COARSE)
        pacing->coarse++;
    else if (choose && pacing->drawing < QUICK && pacing->coarse > 1)
        pacing->coarse--;
    return elapsed;
}

double frame_pacing_rest(FramePacing *pacing, bool shares) {
    double took = sand_seconds() - pacing->begun;
    pacing->drawing += 0.2 * (took - pacing->drawing);
    if (pacing->coarse == 1 && pacing->frames > FIRST_FRAMES)
        pacing->heavy = took > HEAVY || (pacing->heavy && !(took < SLOW));
    pacing->frames++;
    if (!pacing->software) return 0;
    double interval = shares ? fmax(INTERVAL, took / (1 - SHARE)) : INTERVAL;
    return fmax(0, fmin(interval, 0.15) - took);
}

void frame_pacing_excuse(FramePacing *pacing) { pacing->excused = true; }

double frame_pacing_recent(const FramePacing *pacing) { return pacing->between > 0 ? 1 / pacing->between : 0; }

double frame_pacing_rate(const FramePacing *pacing) {
    double seconds = pacing->begun - pacing->steady;
    return pacing->frames > FIRST_FRAMES + 1 && seconds > 0 ? (double)(pacing->frames - 1 - FIRST_FRAMES) / seconds : 0;
}
