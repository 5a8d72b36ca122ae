// Registers what the reference library adds to the core: methods that need N as a matrix, and the reader of FCLIB files.
#include "sim/solver/reference/reference.h"

#include "sim/solver/reference/fclib.h"

void sand_reference_enable(void) {
#define SAND_ROW(...)
#define SAND_ASSEMBLED_ROW(id, name, ...) sand_solver_register(name, &sand_assembled_##id);
#ifdef SAND_PETSC
#define SAND_TAO_ROW SAND_ASSEMBLED_ROW
#endif
#include "sim/solver/solver_table.inl"
    sand_problem_register_fclib(sand_fclib_load);
}
