// SPDX-License-Identifier: MIT
// Frozen contact problems for tests: run a scene or a world for some steps and keep the contact problem of the next one.
#pragma once
#include "sandglass/problem.h"
#include "sandglass/world.h"

// Returns the problem of a scene from the scenes folder after `steps` steps of p-spg-fb in float with `iterations` each.
// bodies = 0: as many as the scene says. The caller frees it with sand_problem_free. Fails the test on any error.
SandProblem frozen_scene(const char *scene, int bodies, int steps, int iterations);
// The same from the text of a scene, and from a world, which is taken over.
SandProblem frozen_text(const char *text, int steps, int iterations);
SandProblem frozen_world(SandWorld *world, int steps, int iterations);
// Words of the reports that the steps before may make; NULL: any report fails the test.
extern const char *frozen_expected_report;

SandProblem frozen_cup(void); // sixty spheres at rest in a narrow cup, many layers deep

// Stored problems, from tests/problems, the same in every run of every version; `test_friction freeze` writes them again.
// The outcome of a method can depend on the last bits of a problem: whether a jam has a solution, how long slow methods
// take.
SandProblem frozen_stored(const char *name);
void frozen_store(const char *name, const SandProblem *problem);

SandProblem frozen_copy(const SandProblem *problem);
void frozen_set_mu(SandProblem *problem, double mu); // of all contacts
void frozen_set_cold(SandProblem *problem);          // no warm start
void frozen_open_gaps(SandProblem *problem, double least);
// Returns a copy with this friction coefficient (negative: unchanged), no warm start, and every gap at least 0.1 mm.
// Standing still is then strictly feasible (b > 0, and the walls rest), so the impulses are bounded and every method
// converges fast enough to compare digits. A jammed pile with penetrations and friction has no such point, and every method
// crawls.
SandProblem frozen_well_posed(const SandProblem *problem, double mu);
