#include "app/engine/real_time_trial.h"

#include <math.h>
#include <stdlib.h>

#include "sim/core/clock.h"

enum { TRIAL = 800, LEAST = 400, FIRST_STEPS = 5, MOST_STEPS = 200 };
static const double LIMIT = 0.6;   // s, for the trial
static const double LOAD = 0.7;    // of a step's length that computing it may take: the rest is for the window
static const double SETTLED = 1.2; // what a step costs later, when all bodies touch, against the first ones

// To two digits, downwards.
static int round_down(double number) {
    double unit = pow(10, floor(log10(number)) - 1);
    return (int)(floor(number / unit) * unit);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Seconds of a step: the median of as many as fit into the limit, since other programs come between.
static bool time_steps(SandSimulation *sim, double *seconds, SandError *error) {
    double times[MOST_STEPS], begin = sand_seconds();
    int count = 0;
    for (int k = 0; count == 0 || (count < MOST_STEPS && sand_seconds() - begin < LIMIT); k++) {
        double from = sand_seconds();
        if (!sand_simulation_step(sim, error)) return false;
        if (k >= FIRST_STEPS) times[count++] = sand_seconds() - from; // arrays have grown, and bodies begin to touch
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

    // Not every scene can be as small: a single body in it may keep its size.
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
