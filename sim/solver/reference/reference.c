// SPDX-License-Identifier: MIT
// Registers what the reference library adds to the core: methods that need N as a matrix, and the readers of files of
// FCLIB and Siconos.
#include "sim/solver/reference/reference.h"

#include "sim/solver/reference/fclib.h"
#include "sim/solver/reference/siconos_text.h"

void sand_reference_enable(void) {
#define SAND_ROW(...)
#define SAND_ASSEMBLED_ROW(id, name, ...) sand_solver_register(name, &sand_assembled_##id);
#ifdef SAND_PETSC
#define SAND_TAO_ROW SAND_ASSEMBLED_ROW
#endif
#include "sim/solver/solver_table.inl"
    sand_problem_register_readers(sand_fclib_load, sand_siconos_text_load);
}
