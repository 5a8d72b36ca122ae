// The window that a person sees, until it is closed.
#pragma once
#include "engine.h"

typedef struct WindowReport {
    int64_t frames;
    double seconds;
    double stall; // s, longest time between two frames
    int errors;   // that the graphics driver reported
} WindowReport;

bool window_run(const EngineDef *def, WindowReport *report, SandError *error);
