// How often the window draws, and how many of its pixels. Where a processor draws, every frame takes time from the
// simulation: no more frames than the eye needs, a pause after each while the simulation runs, and a coarser picture where
// that is still too slow. A GPU waits for the screen instead, and none of this applies.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct FramePacing {
    bool software;  // a processor draws
    int coarse;     // pixels of the window along a side of one that is drawn
    bool heavy;     // a picture of all pixels takes long
    double still;   // s, since something moved
    double drawing; // s, a frame takes lately
    double begun;   // s, wall clock at the beginning of the last frame
    int64_t frames; // drawn so far
    double steady;  // s, wall clock when the first frames were drawn: they include the driver's own preparations
    bool excused;
    double stall; // s, longest time from one frame to the next since then
} FramePacing;

void frame_pacing_start(FramePacing *pacing, bool software);
double frame_pacing_begin(FramePacing *pacing, bool moves,
                          bool runs); // a frame begins; seconds since the last did; `runs`: the simulation
double frame_pacing_rest(FramePacing *pacing,
                         bool shares);         // it is drawn: seconds to wait before the next; `shares`: with a simulation
void frame_pacing_excuse(FramePacing *pacing); // this frame does other work, at the person's wish: a film
double frame_pacing_rate(const FramePacing *pacing); // frames a second, since they are steady
