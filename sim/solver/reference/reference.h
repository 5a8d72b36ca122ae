// SPDX-License-Identifier: MIT
// The methods of the reference library: one table of functions for each SAND_ASSEMBLED_ROW and SAND_TAO_ROW of the solver
// table.
#pragma once
#include "sim/solver/assembled.h"

#define SAND_ROW(...)
#define SAND_ASSEMBLED_ROW(id, ...) extern const SandAssembledMethod sand_assembled_##id;
#define SAND_TAO_ROW SAND_ASSEMBLED_ROW
#include "sim/solver/solver_table.inl"
