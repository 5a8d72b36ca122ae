// Clock, legend and residual in the picture, for the window and for films. Drawn between interface_begin and interface_end.
#pragma once
#include "app/ui/interface.h"
#include "app/render/render_scene.h"

typedef struct OverlayDef {
    bool clock;    // simulated time
    bool legend;   // scale of the colors, where they show a quantity
    bool residual; // of the step against the iteration, as a plot
} OverlayDef;

// `clock,legend,residual`, or some of them.
bool overlay_parse(OverlayDef *def, const char *text, SandError *error);

// What there is to show.
typedef struct OverlayView {
    const RenderScene *render_scene;
    const SandCounters *counters;
    const char *solver;          // its name
    const SandCurvePoint *curve; // of the step
    int curve_count;
    double time; // s
} OverlayView;

// In this part of the picture, in pixels from the upper left corner.
void overlay_draw(const OverlayDef *def, const OverlayView *view, double left, double top, double right, double bottom);
// Over a whole frame of a film, in letters that go with its size.
void overlay_film(const OverlayDef *def, const OverlayView *view, Interface *interface, int width, int height,
                  unsigned framebuffer);

void overlay_card(double middle, double top, const char *text); // words on a dark card, so that they read on any ground
