// SPDX-License-Identifier: MIT
// How much of a step is solved, in percent: 100 (1 - rms / fall), where rms is the root mean square of the residual over the
// contacts and fall the speed that gravity adds to a body in a step. Contacts that err by as much hold nothing up, and the
// step is not solved at all. Without gravity the fall is that of the Earth: the yardstick must not depend on the motion, or
// the same accuracy would be another tolerance in every step.
#pragma once
#include "sandglass/problem.h"
#include <math.h>

#define SAND_EARTH 9.81 // m/s^2

// The speed that gravity adds in a step, m/s, from what a body falls in it.
static inline double sand_fall_speed(SandRecovery recovery, double step) {
    return recovery.depth > 0 ? recovery.depth / step : SAND_EARTH * step;
}

// Percent, from 0 to 100; 0 where the residual is not finite.
static inline double sand_solved_percent(double rms, double fall) { return rms < fall ? 100 * (1 - rms / fall) : 0; }

// The root mean square of the residual, m/s, at which a step is as accurate as the definition asks for; 0: it does not ask.
static inline double sand_accuracy_rms(const SandSolveDef *def, SandRecovery recovery, double step) {
    return def->accuracy > 0 ? (1 - 0.01 * def->accuracy) * sand_fall_speed(recovery, step) : 0;
}
