// SPDX-License-Identifier: MIT
// Nonsmooth Newton steps on Coulomb's law (Alart and Curnier 1991): the law of a contact is the equation
//   z_n = max(p_n, 0),  z_t = projection of p_t on the disc of radius mu max(p_n, 0),  p = z - rho u
// whose derivative on either side of its kinks gives A du + B dz = -F, contact by contact, with du = N dz. Unlike the normal
// map of semismooth.h it holds the friction bound and its dependence on the normal impulse, so that no fixed point around it
// is needed; the price is that the system is not symmetric. It is factorized (factors.h): with bodies as I + E B^-1 A E',
// six rows per body, else as B + A N. A proximal term keeps B regular where contacts are redundant.
#pragma once
#include "sim/solver/reference/coulomb.h"
#include "sim/solver/reference/factors.h"

typedef struct SandCoulombNewton {
    const SandCoulomb *law;
    double work;      // of a step, in units of one sweep; about
    int rows;         // of the linear system
    int *begin, *row; // its pattern, compressed columns
    int *at;          // where each contact, or each block of N, adds to it
    double *value, *right, *solved;
    SandFactors *factors;
    double *f, *linear; // F; and B, A and B^-1 of each contact, 9 numbers each
    double *dz, *de;    // the step
    double *left;       // of the linear system's equations, for the refinement
    size_t begin_capacity, row_capacity, at_capacity, value_capacity, right_capacity, solved_capacity, f_capacity,
        linear_capacity, dz_capacity, de_capacity, left_capacity;
} SandCoulombNewton;

bool sand_coulomb_newton_make(SandCoulombNewton *newton, const SandCoulomb *law, SandError *error);
void sand_coulomb_newton_free(SandCoulombNewton *newton);
// |F| at a point, in the units of sand_coulomb_sweep.
double sand_coulomb_newton_size(const SandCoulombNewton *newton, SandCoulombPoint point);
// Computes the step at a point. Returns false if there is none, as where the system is singular.
bool sand_coulomb_newton_direction(SandCoulombNewton *newton, SandCoulombPoint point);
