// SPDX-License-Identifier: MIT
// The contact problem under Coulomb's law in the frames of the contacts, for methods that work on the law itself rather than
// on a sequence of cone programs:
//   u = N z + r;  for each contact 0 <= z_n, 0 <= u_n, z_n u_n = 0, |z_t| <= mu z_n, and u_t = 0 or z_t = -mu z_n u_t /
//   |u_t|
// Three components per contact, the normal one first. Where the problem has bodies, N = E'E with E = M^-1/2 D, and e = E z,
// the velocities scaled by M^1/2, is carried along with z. Where N is stored as a matrix it is used as stored, row by row;
// it need not be symmetric.
#pragma once
#include "sandglass/problem.h"
#include "sim/core/array.h"

typedef struct SandCoulomb {
    int contacts;
    int bodies;               // dynamic bodies; 0: N is stored
    const SandMatrix *matrix; // NULL: N follows from E
    SAND_ARRAY(int) a, b;     // bodies of each contact; b is -1 for a boundary
    SAND_ARRAY(double) root;  // 36 per contact: the three columns of E, 6 numbers each, of body a and then of body b
    SAND_ARRAY(double) own;   // 9 per contact: N_ii, row-major
    SAND_ARRAY(double) r;     // 3 per contact
    SAND_ARRAY(double) mu;
    double proximal;           // u has another proximal N_ii' (z - center), N_ii' the diagonal of N_ii; 0: the law itself
    const double *center;      // 3 per contact
    double tau;                // of the residual: see docs/problem.md
    SAND_ARRAY(SandVec3) axis; // 3 per contact: normal and tangents, world frame
} SandCoulomb;

// Impulses and what they do.
typedef struct SandCoulombPoint {
    double *z; // 3 per contact
    double *e; // 6 per body: E z
} SandCoulombPoint;

// The diagonal of a contact's N_ii, alike along both tangents.
static inline double sand_coulomb_diagonal(const double *own, int k) { return k == 0 ? own[0] : 0.5 * (own[4] + own[8]); }

bool sand_coulomb_make(SandCoulomb *law, const SandProblem *problem, const SandSolveDef *def, SandError *error);
void sand_coulomb_free(SandCoulomb *law);

// e = E z, from scratch.
void sand_coulomb_move(const SandCoulomb *law, SandCoulombPoint point);
// Cuts the impulses to their friction cones, at the same normal impulse, and computes e.
void sand_coulomb_make_feasible(const SandCoulomb *law, SandCoulombPoint point);
// The velocity of contact i that the impulses cause: N z; and the whole, N z + r.
void sand_coulomb_response(const SandCoulomb *law, SandCoulombPoint point, int i, double *u);
void sand_coulomb_velocity(const SandCoulomb *law, SandCoulombPoint point, int i, double *u);
// The residual of docs/problem.md, in m/s.
double sand_coulomb_residual(const SandCoulomb *law, SandCoulombPoint point);
// One nonlinear Gauss-Seidel sweep, in which every contact's own problem is solved exactly. `slip` has one number per
// contact, zero at first, that lives from sweep to sweep. Returns the root of the sum of |change of z_i|^2 trace N_ii / 3.
double sand_coulomb_sweep(const SandCoulomb *law, SandCoulombPoint point, double *slip);
