// SPDX-License-Identifier: MIT
// Frame pacing: how often the window draws, and at which resolution. With the software renderer every frame takes time from
// the simulation: at most 30 frames a second, a pause after each while the simulation runs, and a coarser picture where that
// is still too slow. With a GPU vertical sync paces the window, and none of this applies.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct FramePacing {
    bool software;  // drawn by the CPU
    int coarse;     // window pixels per drawn pixel, along a side
    bool heavy;     // a full-resolution frame takes long
    double still;   // s, since the last motion
    double drawing; // s, recent average time of a frame
    double begun;   // s, wall time at the beginning of the last frame
    int64_t frames; // drawn so far
    double steady;  // s, wall time after the first frames, in which the driver compiles its programs
    bool excused;   // the next interval does not count as a stall
    double stall;   // s, longest time from one frame to the next since then
    double between; // s, recent average time from one frame to the next
} FramePacing;

void frame_pacing_start(FramePacing *pacing, bool software);
// Begins a frame, and returns the seconds since the last began. `moves`: what is shown changes; `runs`: the simulation does.
double frame_pacing_begin(FramePacing *pacing, bool moves, bool runs);
// After drawing: returns the seconds to wait. `shares`: a simulation needs the CPU.
double frame_pacing_rest(FramePacing *pacing, bool shares);
void frame_pacing_excuse(FramePacing *pacing);         // this frame does other work that the user asked for: a film
double frame_pacing_rate(const FramePacing *pacing);   // frames a second, without the first ones
double frame_pacing_recent(const FramePacing *pacing); // frames a second, lately; 0: not known yet
