// SPDX-License-Identifier: MIT
// Clock, legend and residual in the picture, for the window and for films. Drawn between interface_begin and interface_end.
#pragma once
#include "app/ui/card.h"
#include "app/ui/interface.h"
#include "app/render/split.h"

typedef struct OverlayDef {
    bool clock;    // simulated time
    bool legend;   // color bar, where colors show a quantity
    bool residual; // of the step against the iteration, as a plot
} OverlayDef;

// Parses a comma-separated subset of `clock,legend,residual`.
bool overlay_parse(OverlayDef *def, const char *text, SandError *error);

// The figures of one of two runs side by side.
typedef struct OverlayRun {
    const SandSolveDef *solve; // NULL: there is no second run
    double residual;           // m/s; NAN: nothing was solved yet
    double overlap;            // m, the largest penetration; likewise
    double energy;             // J, kinetic and potential
} OverlayRun;

// The data that overlays show.
typedef struct OverlayView {
    const RenderScene *render_scene;
    const SandCounters *counters;
    const char *solver;          // its name
    const SandCurvePoint *curve; // of the step
    int curve_count;
    double time;        // s
    double below;       // pixels at the bottom of the picture that a caption has
    OverlayRun runs[2]; // each has a card in its half, with the differences in the second
    SplitArea area;     // of the halves
} OverlayView;

// Where legend and force chains came to be; an empty box: they are not shown.
typedef struct OverlayPlaces {
    Box legend, chains;
} OverlayPlaces;

// Draws within this part of the window, in pixels from the upper left corner.
OverlayPlaces overlay_draw(const OverlayDef *def, const OverlayView *view, double left, double top, double right,
                           double bottom);
// The part of an area in which other text covers neither of them: beside the legend, or above it where the area is narrow.
Box overlay_beside_legend(const OverlayPlaces *places, Box area);
// Draws over a frame of a film, with text in proportion to its size.
void overlay_film(const OverlayDef *def, const OverlayView *view, Interface *interface, int width, int height,
                  unsigned framebuffer);
