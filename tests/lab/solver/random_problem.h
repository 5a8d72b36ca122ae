// SPDX-License-Identifier: MIT
// Small contact problems at random: a few bodies, up to eight contacts, of the kinds in which claims of solvers are hard to
// keep. The same seed makes the same problem everywhere.
#pragma once
#include "sandglass/problem.h"

// Makes problem number `seed`; its arrays are reused where they are large enough.
bool random_problem(SandProblem *p, uint64_t seed, SandError *error);
