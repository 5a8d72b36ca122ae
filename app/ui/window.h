// The window that a person sees, until it is closed.
#pragma once
#include "app/engine/engine.h"
#include "app/ui/overlay.h"

typedef struct WindowDef {
    EngineDef engine;
    const char *camera; // a preset or numbers; NULL: see the whole scene
    RenderColor color;
    ColorMap map;
    bool chains;
    int width, height; // of the window in screen units, 0: as it comes
    double ui_scale;   // pixels for each unit of text and widgets, 0: as the display says
    int quality;       // RendererQuality, -1: as fits the machine
    OverlayDef overlay;
    double speed;               // simulated seconds for each second
    bool hidden;                // the panel
    const char *take;           // save the run here when the window closes; NULL: no
    bool unfold;                // every section of the panel is open, for tests
    const char *notice;         // a sentence to begin with; NULL or empty: none
    const SandSolveDef *shadow; // a second solver; NULL: none
    // Asked before every frame, on the thread of window_run: true closes the window. NULL: only the person closes it.
    bool (*should_close)(void *user);
    void (*on_message)(void *user, const char *sentence); // hears every message that the panel shows; NULL: nobody does
    void *user;                                           // passed to both
} WindowDef;
WindowDef window_default(void);

typedef struct WindowReport {
    int64_t frames;
    double seconds;
    double rate;  // frames a second, after the first few
    double stall; // s, longest time from one frame to the next, after the first few
    int errors;   // that the graphics driver reported
    double flows; // s, sand_seconds() when bodies were first seen to move; 0: never
} WindowReport;

bool window_run(const WindowDef *def, WindowReport *report, SandError *error);
