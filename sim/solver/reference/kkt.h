// SPDX-License-Identifier: MIT
// The KKT systems of the interior point and Newton methods, by sparse factors: (I + A'A) y = b, where A = E S for a cone
// program's E and a symmetric scaling S that is block diagonal over the cones. S changes in every iteration, the sparsity
// pattern does not, so one symbolic analysis serves all factorizations.
#pragma once
#include "sim/solver/reference/cone_program.h"
#include "sim/solver/reference/sparse.h"

typedef enum SandKktKind {
    SAND_KKT_NORMAL,    // I + AA', of the size of the velocities: [Q] eq. 33 without equalities
    SAND_KKT_AUGMENTED, // [I A; A' -I], of the size of velocities and impulses together: [Q] eq. 31
} SandKktKind;

typedef struct SandKkt SandKkt;

SandKkt *sand_kkt_create(const SandConeProgram *program, SandKktKind kind, SandError *error);
void sand_kkt_free(SandKkt *system);
// Factorizes for a scaling of 9 numbers per cone, row-major; a cone of one column uses only the first. The scaling must
// outlive the solves.
void sand_kkt_factor(SandKkt *system, const double *scaling);
// Returns false if the last factorization broke down from rounding.
bool sand_kkt_sound(const SandKkt *system);
// Solves with iterative refinement.
void sand_kkt_solve(SandKkt *system, const double *b, double *y);

// Assembles N of a cone program, upper and lower triangle. Returns NULL and sets the error if memory is out.
SandSparse *sand_cone_program_assemble(const SandConeProgram *program, SandError *error);
