// SPDX-License-Identifier: MIT
// The curves of a race as plots: residual and objective above the minimum, against iterations and against time. Every solver
// has the color and dashes of its row in the solver table, whichever others take part.
#pragma once
#include "app/engine/race_job.h"
#include "app/ui/plot.h"
#include "sim/core/array.h"

typedef enum RacePlotKind {
    RACE_RESIDUAL_ITERATIONS,
    RACE_RESIDUAL_TIME,
    RACE_OBJECTIVE_ITERATIONS,
    RACE_OBJECTIVE_TIME,
    RACE_PLOTS
} RacePlotKind;

typedef struct RacePlots {
    Plot plots[RACE_PLOTS];
    int count;                  // two where the model has no objective
    SAND_ARRAY(double) numbers; // data of the curves
} RacePlots;

// `hidden`: bit k leaves out racer k. The vertical axes are fitted to the methods that iterate; what a reference method
// reaches far below them is cut off.
bool race_plots_make(RacePlots *plots, const RaceCurves *curves, uint32_t hidden, SandError *error);
void race_plots_free(RacePlots *plots);

// The seconds and iterations after which a racer was first at or below this residual (m/s). False: it was not.
bool race_first_below(const Racer *racer, double residual, double *seconds, int *iterations);
