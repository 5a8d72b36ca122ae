// SPDX-License-Identifier: MIT
// What other libraries add to the core at run time: methods that need an assembled N, and readers of stored problems. The
// core itself needs nothing but libc, libm and OpenMP; sim/solver/reference registers what needs more.
#pragma once
#include "sandglass/problem.h"

typedef struct SandAssembledMethod SandAssembledMethod; // assembled.h

// Makes the method of this row of the solver table available. Rows become available in the order of the table.
void sand_solver_register(const char *name, const SandAssembledMethod *method);
// The registered method of a row; NULL: it is a kernel, or not available.
const SandAssembledMethod *sand_solver_assembled(int solver);

// Reads a stored problem in a format of its own.
typedef bool SandProblemReader(SandProblem *problem, const char *path, SandError *error);
void sand_problem_register_readers(SandProblemReader *fclib, SandProblemReader *siconos_text);
