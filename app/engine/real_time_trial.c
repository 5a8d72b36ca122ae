// SPDX-License-Identifier: MIT
// The trial: run a small version of the scene for LIMIT seconds, and scale its cost per body to the whole scene.
#include "app/engine/real_time_trial.h"

#include <math.h>
#include <stdlib.h>

#include "sim/core/clock.h"

enum { TRIAL = 800, LEAST = 2000, FIRST_STEPS = 5, MOST_STEPS = 200 };
static const double LIMIT = 0.6;   // s, wall time of the trial
static const double LOAD = 0.7;    // share of the time step that computing it may take; the rest is for drawing
static const double SETTLED = 1.2; // cost of a step once all bodies touch, relative to the first steps

// Rounds down to two significant digits.
static int round_down(double number) {
    double unit = pow(10, floor(log10(number)) - 1);
    return (int)(floor(number / unit) * unit);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Measures the seconds per step: the median of as many as fit into the limit, since other programs interfere.
static bool time_steps(SandSimulation *sim, double *seconds, SandError *error) {
    double times[MOST_STEPS], begin = sand_seconds();
    int count = 0;
    for (int k = 0; count == 0 || (count < MOST_STEPS && sand_seconds() - begin < LIMIT); k++) {
        double from = sand_seconds();
        if (!sand_simulation_step(sim, error)) return false;
        if (k >= FIRST_STEPS)
            times[count++] = sand_seconds() - from; // after the arrays have grown and bodies begin to touch
    }
    qsort(times, (size_t)count, sizeof *times, compare);
    *seconds = SETTLED * times[count / 2];
    return true;
}

bool measure_scene(Measured *measured, const char *name, const SandSceneOptions *options, const SandSimulationDef *def,
                   SandError *error) {
    *measured = (Measured){0};
    SandScene scene;
    SandSceneOptions trial = *options;
    if (!sand_scene_open(&scene, name, &trial, error)) return false;
    measured->whole = scene.bodies;
    sand_scene_free(&scene);
    if (measured->whole <= LEAST) return true;

    // Not every scene can be that small: a single body in it may have a fixed size.
    int least = LEAST;
    trial.bodies = measured->whole < TRIAL ? measured->whole : TRIAL;
    while (!sand_scene_load(&scene, name, &trial, error)) {
        if (trial.bodies == measured->whole) return false;
        trial.bodies = 2 * trial.bodies < measured->whole ? 2 * trial.bodies : measured->whole;
        least = trial.bodies;
    }
    double step = scene.world.step, seconds = 0;
    SandSimulation *sim = sand_simulation_create(&scene.world, def, error);
    bool timed = sim && time_steps(sim, &seconds, error);
    sand_simulation_free(sim);
    sand_scene_free(&scene);
    if (!timed) return false;

    double each = seconds / trial.bodies, most = LOAD * step / each;
    measured->bodies = most >= measured->whole ? measured->whole : most > least ? round_down(most) : least;
    measured->step_ms = 1e3 * each * measured->bodies;
    measured->holds = most >= measured->bodies;
    return true;
}
