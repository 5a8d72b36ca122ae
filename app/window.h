// The window that a person sees, until it is closed.
#pragma once
#include "engine.h"
#include "overlay.h"

typedef struct WindowDef {
    EngineDef engine;
    const char *camera; // a preset or numbers; NULL: see the whole scene
    PictureColor color;
    int quality; // RendererQuality, -1: as fits the machine
    OverlayDef overlay;
    double speed;               // simulated seconds for each second
    bool hidden;                // the panel
    const char *take;           // save the run here when the window closes; NULL: no
    const SandSolveDef *shadow; // a second solver; NULL: none
} WindowDef;
WindowDef window_default(void);

typedef struct WindowReport {
    int64_t frames;
    double seconds;
    double stall; // s, longest time between two frames
    int errors;   // that the graphics driver reported
} WindowReport;

bool window_run(const WindowDef *def, WindowReport *report, SandError *error);
