// SPDX-License-Identifier: MIT
// The parts of the panel, for its own files. They form a tree: panel.c draws the columns, panel_controls.c,
// panel_figures.c and panel_transport.c; those draw sections (panel_race.c, panel_probes.c) and plots (panel_plot.c); and
// all of them stand on panel_state.c, which draws nothing.
#pragma once
#include "app/ui/panel/panel.h"
#include "app/ui/plot.h"

// What a part may look at and change while it is drawn.
typedef struct PanelView {
    const EngineFrame *frame;
    const EngineScene *scene;
    Camera *camera;
    RendererDef *look;
    double aspect;
} PanelView;

// panel_state.c
void panel_follow_scene(Panel *panel, const EngineFrame *frame, const EngineScene *scene); // takes over what it changed
void panel_note(Panel *panel, const EngineFrame *frame); // keeps the figures of a frame for the plots
void panel_follow_gauge(Panel *panel, const EngineFrame *frame, double seconds); // moves it towards the step's figure
void panel_send_due(Panel *panel); // requests of sliders that the engine has not taken yet

// panel_plot.c
bool panel_section(const Panel *panel, const char *name, bool open); // begins a section that folds; `open` at first
void panel_draw_plot(Panel *panel, const Plot *plot, uint64_t step); // with the buttons that save it
typedef enum PlotFile { PLOT_CSV, PLOT_PNG, PLOT_SVG } PlotFile;
void panel_save_plot(Panel *panel, const Plot *plot, PlotFile kind, uint64_t step); // into the folder of the recordings
void panel_tip(const char *text); // a tooltip for the last widget, when the mouse is on it

// panel_race.c
void panel_follow_race(Panel *panel); // copies what is new of its curves
void panel_draw_race(Panel *panel);   // the choice of racers, and the start
void panel_draw_result(Panel *panel); // a summary

// panel_probes.c
void panel_note_probes(Panel *panel, const EngineFrame *frame); // keeps what probes read for their plots
void panel_draw_probes(Panel *panel, const EngineFrame *frame);

// panel_theater.c: the race over this part of the picture
void panel_draw_theater(Panel *panel, float left, float top, float right, float bottom);
void panel_value_text(char *text, size_t size, double value, const char *unit); // three digits or all before the point
void panel_draw_controls(Panel *panel, const PanelView *view);                  // panel_controls.c: the left column
void panel_draw_figures(Panel *panel, const PanelView *view);                   // panel_figures.c: the right column
void panel_draw_transport(Panel *panel, const PanelView *view); // panel_transport.c: the bar of time at the bottom
