// SPDX-License-Identifier: MIT
// What a solution says of each contact, in the frame of the contact: impulse, velocity, gap, and whether it is open, sticks
// or slides; and the same as CSV.
#pragma once
#include "sandglass/problem.h"

typedef enum SandContactStatus {
    SAND_CONTACT_OPEN,
    SAND_CONTACT_STICKS,
    SAND_CONTACT_SLIDES,
    SAND_CONTACT_JOINT // a block of a joint
} SandContactStatus;
const char *sand_contact_status_text(SandContactStatus status);

typedef struct SandContactResult {
    double impulse[3];  // N s: normal (below zero where cohesion pulls), tangent, tangent
    double velocity[3]; // m/s, u = N g + r: the normal one includes the gap over the step, so that it is 0 where they touch;
                        // NAN where a device has the velocities of the solution, and gap_after too
    double gap;         // m, before the step; NAN of a stored matrix, and of a joint, which have none
    double gap_after;   // m, at the end of the step, if the velocities stay as they are
    // Open: the solution has no impulse, or less than 1e-9 of the largest. Slides: friction is at mu times the normal
    // impulse of the solution, that is with the cohesion.
    SandContactStatus status;
} SandContactResult;

// The frame of contact i: normal, tangent, tangent; the same as in the solvers. A stored matrix is in such frames already.
void sand_contact_axes(const SandProblem *problem, int i, SandVec3 axes[3]);
// The part of r that comes from the gap and the bounce: m/s along the normal.
double sand_contact_bias(const SandProblem *problem, int i);
// The impulse of contact i on its body b, N s: that of the solution without the cohesion that its free velocities have.
SAND_API SandVec3 sand_contact_impulse(const SandProblem *problem, const SandSolution *solution, int i);
// The part of an impulse of the solution along the normal, N s, with the cohesion.
static inline double sand_contact_normal_impulse(const SandProblem *problem, const SandSolution *solution, int i) {
    return problem->matrix ? solution->impulse[i].x : v3_dot(problem->contacts[i].normal, solution->impulse[i]);
}
// A contact whose normal impulse is not above this (N s) is open: 1e-9 of the largest.
double sand_contact_least(const SandProblem *problem, const SandSolution *solution);
// Fills contact_count results.
void sand_contact_results(const SandProblem *problem, const SandSolution *solution, SandContactResult *results);
// Writes a line per contact.
bool sand_solution_save_csv(const SandProblem *problem, const SandSolution *solution, const char *path, SandError *error);
