// SPDX-License-Identifier: MIT
// A backend that solves standalone problems, on the CPU in float, under the name `other`; it counts its devices and solves.
#pragma once
#include "tests/lab/mock_backend.h"

#include <stdlib.h>

struct SandDevice {
    SandCpu *cpu;
    const SandProblem *problem;
    SandSolution solution;
};

static int solving_devices, solving_count; // devices there are; solves
static bool solving_broken;                // makes every solve of the backend fail

static inline SandDevice *solving_create(const SandDeviceDef *def, SandError *error) {
    (void)def;
    SandDevice *m = calloc(1, sizeof *m);
    m->cpu = sand_cpu_create(1, SAND_FLOAT, error);
    solving_devices++;
    return m;
}
static inline void solving_destroy(SandDevice *m) {
    solving_devices--;
    sand_solution_free(&m->solution);
    sand_cpu_free(m->cpu);
    free(m);
}
static inline bool solving_upload_problem(SandDevice *m, const SandProblem *problem, const SandSolveDef *def,
                                          SandError *error) {
    (void)def;
    (void)error;
    m->problem = problem;
    return true;
}
static inline bool solving_solve(SandDevice *m, const SandSolveDef *def, bool curve, bool metrics, const int *stop,
                                 SandError *error) {
    if (solving_broken) return sand_fail(error, "the device broke");
    solving_count++;
    m->solution.want_curve = curve;
    m->solution.want_metrics = metrics;
    m->solution.stop = stop;
    return sand_cpu_solve(m->cpu, m->problem, def, &m->solution, error);
}
// Moves the solution out: a device solves one problem after the other.
static inline bool solving_read_solution(SandDevice *m, SandSolution *to, SandError *error) {
    (void)error;
    sand_solution_free(to);
    *to = m->solution;
    m->solution = (SandSolution){0};
    return true;
}

static const SandBackend solving_backend =
    MOCK_BACKEND(.name = "other", .create = solving_create, .destroy = solving_destroy,
                 .upload_problem = solving_upload_problem, .solve = solving_solve, .read_solution = solving_read_solution);
