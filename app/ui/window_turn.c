// SPDX-License-Identifier: MIT
// A glass that has run empty is turned over, so that nobody who comes by finds it empty. That it is empty shows in the
// motion: of 2,000 spheres in the hourglass the kinetic energy falls to 1e-4 of its largest within a second after the last
// of them came through the neck. Where a window opens late it is empty from the first picture on: then there is no largest,
// and the energy is compared with the potential one, of which the flow is 5 % and the rest 1e-7. What a person does ends it:
// then the run is theirs.
#include "app/ui/window_parts.h"

#include <math.h>

static const double REST = 0.005; // of the largest kinetic energy since it was turned
static const double STILL = 1e-6; // of the potential energy
static const double WAIT = 1;     // s, simulated, for which it is at rest

void window_turn_over(Window *w) {
    WindowTurn *turn = &w->turn;
    const EngineFrame *frame = w->frame;
    bool other = turn->scene != frame->scene_version || frame->step < turn->step;
    if (other) *turn = (WindowTurn){.scene = frame->scene_version, .turned = frame->acts};
    turn->step = frame->step;
    if (!w->def->turns || !w->scene.turns || !frame->playing || w->recording.recorder) return;
    if (!w->def->show && frame->acts > turn->turned) return; // a person has done something
    turn->most = fmax(turn->most, frame->kinetic);
    if (frame->kinetic > fmax(REST * turn->most, STILL * fabs(frame->potential)) || frame->step == 0)
        turn->moved = frame->time;
    if (frame->time - turn->moved < WAIT || !engine_ask(w->engine, &(Act){.kind = ACT_FLIP})) return;
    turn->turned++;
    turn->most = 0;
    turn->moved = frame->time;
    if (!w->def->show && w->saved_acts < turn->turned) w->saved_acts = turn->turned; // nothing of a person's is lost
}
