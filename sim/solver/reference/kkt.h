// The linear systems of the interior point methods, by CHOLMOD: (I + A'A) y = b, where A = E S for a cone program's E
// and a symmetric scaling S, cone by cone, that changes from one iteration to the next. The pattern does not, so one
// symbolic analysis serves all factorizations.
#pragma once
#include "sim/solver/reference/cone_program.h"

typedef enum SandKktKind {
    SAND_KKT_NORMAL,    // I + AA' has the size of the velocities: [Q] eq. 33 without equalities
    SAND_KKT_AUGMENTED, // [I A; A' -I] has that of velocities and impulses together: [Q] eq. 31
} SandKktKind;

typedef struct SandKkt SandKkt;

SandKkt *sand_kkt_create(const SandConeProgram *program, SandKktKind kind, SandError *error);
void sand_kkt_free(SandKkt *system);
// Factorizes for a scaling: 9 numbers a cone, of which a cone of one column uses the first.
bool sand_kkt_factor(SandKkt *system, const double *scaling, SandError *error);
bool sand_kkt_sound(const SandKkt *system); // false when rounding spoilt the last factorization
// Solves with refinement.
bool sand_kkt_solve(SandKkt *system, const double *b, double *y, SandError *error);

// N of a cone program, both of its halves; NULL, with a sentence, when it cannot be. The caller frees it, by CHOLMOD.
struct cholmod_common_struct;
struct cholmod_sparse_struct *sand_cone_program_assemble(const SandConeProgram *program,
                                                         struct cholmod_common_struct *common, SandError *error);

// False, with a sentence from the number by which CHOLMOD tells what went wrong.
bool sand_cholmod_told(int status, const char *what, SandError *error);
