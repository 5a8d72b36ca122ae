// SPDX-License-Identifier: MIT
// The contact problem in plain dense algebra, written from the definitions and sharing no code with the solvers: the slow
// reference of the tests, in double. Every pair of contacts is visited; block (i, j) of N is D_i' M^-1 D_j over shared
// bodies.
//   u_i = (v_B + w_B x b) - (v_A + w_A x a), and an impulse g_i acts as +g_i on B and as -g_i on A
// A contact without friction has one row, along its normal.
#pragma once
#include "sandglass/problem.h"

// y = N x. Unless NULL, size[i] gets the sum of the magnitudes of all terms of y_i, the scale of its rounding errors.
void dense_product(const SandProblem *p, bool frictionless, const SandVec3 *x, SandVec3 *y, double *size);
void dense_r(const SandProblem *p, bool frictionless, SandVec3 *r); // b + D' v_free

// Block (i, j) of N, with all three rows, times g.
SandVec3 dense_block(const SandProblem *p, int i, int j, SandVec3 g);

// Projection onto the friction cone, by its three cases.
SandVec3 dense_project(SandVec3 x, SandVec3 n, double mu);

// 1 / mean_i (trace N_ii / rows_i)
double dense_tau(const SandProblem *p, bool frictionless);

typedef struct DenseMeasure {
    double residual;        // m/s, || (x - P(x - tau g)) / tau ||, g = N x + r
    double objective;       // J, 1/2 x'Nx + r'x
    double complementarity; // J, largest |x_i . g_i|
    double outside;         // N s, largest distance of an impulse from its cone
    double inward;          // m/s, largest distance of a g_i from the dual cone, {mu |g_t| <= g_n}
} DenseMeasure;
DenseMeasure dense_measure(const SandProblem *p, bool frictionless, const SandVec3 *x);

// The natural map ||x - P(x - t u)|| of the circular cone with the step t, u = N x + r; with `law` u has De Saxce's term
// mu |u_T| n. With t = tau it is tau times the residual; with t = 1, over the norm of r, it is the error of Siconos.
double dense_natural_map(const SandProblem *p, bool law, const SandVec3 *x, double t);

// Velocity and spin of every body after the impulses x.
void dense_velocities(const SandProblem *p, const SandVec3 *x, SandVec3 *velocity, SandVec3 *spin);
