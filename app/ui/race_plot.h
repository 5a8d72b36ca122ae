// The curves of a race as plots: residual and objective above the minimum, against iterations and against time. Every solver
// has the color and dashes of its row in the solver table, whichever others take part.
#pragma once
#include "app/ui/plot.h"
#include "sim/step/race.h"

enum { RACE_PLOTS = 4 };

typedef struct RacePlots {
    Plot plots[RACE_PLOTS];
    int count;
    double *numbers; // data of the curves
    size_t number_capacity;
} RacePlots;

bool race_plots_make(RacePlots *plots, const SandRace *race, SandError *error);
void race_plots_free(RacePlots *plots);
