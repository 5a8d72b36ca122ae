// SPDX-License-Identifier: MIT
// Semismooth Newton steps on the normal map of a cone program ([P] eq. 20 and 21),
//   F(x) = N P(x) + r + x - P(x) = 0;  z = P(x) are then the impulses and P(x) - x the velocities
// The projection P has kinks; any element V of its derivative there serves (semismooth). With dz = V dx the Newton equation
// becomes symmetric: (N + V^-1 - I) dz = -F on the range of V, and dx = dz - F - N dz. N may be singular on that range, so a
// small multiple of the identity is added, as in the proximal point method: it slows nothing that matters.
//
// newton.c is a method made of these steps; ipm.c uses them for its last digits.
#pragma once
#include "sim/core/array.h"
#include "sim/solver/reference/kkt.h"

#define SAND_PROXIMAL_LEAST 1e-8 // smallest multiple of the identity that is added to N

typedef struct SandSemismooth {
    const SandConeProgram *program;
    SandKkt *system;
    double size;     // |F(x)|
    double proximal; // multiple of the identity added to N, whose mean diagonal is 1; more makes steps shorter and safer
    // Vectors over the columns, in one allocation.
    SAND_ARRAY(double) vectors, scaling, work;
    double *bias;                                          // added to r: De Saxce bias, zero except under Coulomb's law
    double *x, *z, *f;                                     // the iterate, its impulses P(x) and its F(x)
    double *dx, *dz, *b, *ndz, *trial, *trial_z, *trial_f; // of the step under way
} SandSemismooth;

// Allocates the vectors; the system is borrowed. The caller fills in x and then calls sand_semismooth_set.
bool sand_semismooth_make(SandSemismooth *newton, const SandConeProgram *program, SandKkt *system, SandError *error);
void sand_semismooth_free(SandSemismooth *newton);
// Evaluates z and F at x.
void sand_semismooth_set(SandSemismooth *newton);
// Updates the De Saxce bias mu |u_t| from the current iterate, for Coulomb's law. Returns the norm of the change of F. The
// law holds at a fixed point of this update and the solves in between.
double sand_semismooth_update_bias(SandSemismooth *newton);
// Takes one Newton step, halved until |F| decreases, but not below the length `least`. A step that does not decrease |F|
// even then is taken only if `forced`. *length receives the length taken, 0 for none.
void sand_semismooth_step(SandSemismooth *newton, double least, bool forced, double *length);
