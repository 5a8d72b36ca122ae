// Newton's method on the normal map of a cone program,
//   F(x) = N P(x) + r + x - P(x) = 0,  then z = P(x) are the impulses and P(x) - x the velocities ([P] eq. 21)
// The projection has kinks; any derivative V on one side of them serves (semismooth). With dz = V dx the equation
// becomes symmetric: (N + V^-1 - I) dz = -F on the range of V, and dx = dz - F - N dz. Where N is singular there, a small
// multiple of the identity is added, as in the proximal point method: it slows nothing that matters.
#pragma once
#include "sim/solver/reference/kkt.h"

#define SAND_PROXIMAL_LEAST 1e-8

typedef struct SandSemismooth {
    const SandConeProgram *program;
    SandKkt *system;
    double size;     // |F(x)|
    double proximal; // what is added to N, beside its mean diagonal, which is 1; more makes steps shorter and safer
    // Vectors over the columns, all in one array.
    double *vectors, *scaling, *work;
    double *lift;                                          // added to r: De Saxce's term, 0 but for Coulomb's law
    double *x, *z, *f;                                     // the iterate, its impulses and its F
    double *dx, *dz, *b, *ndz, *trial, *trial_z, *trial_f; // of the next
    size_t vectors_capacity, scaling_capacity, work_capacity;
} SandSemismooth;

// The system is borrowed. x is to be filled in, and then sand_semismooth_set called.
bool sand_semismooth_make(SandSemismooth *newton, const SandConeProgram *program, SandKkt *system, SandError *error);
void sand_semismooth_free(SandSemismooth *newton);
void sand_semismooth_set(SandSemismooth *newton);
// For Coulomb's law: the normal velocity that it asks for, mu |u_t|, is taken from the iterate as it is. Returns by how much
// that changes F. The law is a fixed point of this and of the solve between.
double sand_semismooth_lift(SandSemismooth *newton);
// One step, halved until |F| falls, but not below `least`. Where |F| does not fall even so, the step is taken all the same
// when `forced`, and else not. *length gets what was taken, 0 for none.
bool sand_semismooth_step(SandSemismooth *newton, double least, bool forced, double *length, SandError *error);
