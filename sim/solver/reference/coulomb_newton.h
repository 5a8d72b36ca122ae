// Nonsmooth Newton steps on Coulomb's law (Alart and Curnier 1991): the law of a contact is the equation
//   z_n = max(p_n, 0),  z_t = projection of p_t on the disc of radius mu max(p_n, 0),  p = z - rho u
// whose derivative on either side of its kinks gives A du + B dz = -F, contact by contact, with du = N dz. Unlike the normal
// map of semismooth.h it holds the friction bound and its dependence on the normal impulse, so that no fixed point around it
// is needed; the price is that the system is not symmetric. It is factorized (lu.h): with bodies as I + E B^-1 A E', six
// rows per body, else as B + A N. A proximal term keeps B regular where contacts are redundant.
#pragma once
#include "sim/core/array.h"
#include "sim/solver/reference/coulomb.h"
#include "sim/solver/reference/lu.h"

typedef struct SandCoulombNewton {
    const SandCoulomb *law;
    double work;                // of a step, in units of one sweep; about
    int rows;                   // of the linear system
    SAND_ARRAY(int) begin, row; // its pattern, compressed columns
    SAND_ARRAY(int) at;         // where each contact, or each block of N, adds to it
    SAND_ARRAY(double) value, right, solved;
    SandLu *lu;
    SAND_ARRAY(double) f, linear; // F; and B, A and B^-1 of each contact, 9 numbers each
    SAND_ARRAY(double) dz, de;    // the step
    SAND_ARRAY(double) left;      // of the linear system's equations, for the refinement
} SandCoulombNewton;

bool sand_coulomb_newton_make(SandCoulombNewton *newton, const SandCoulomb *law, SandError *error);
void sand_coulomb_newton_free(SandCoulombNewton *newton);
// |F| at a point, in the units of sand_coulomb_sweep.
double sand_coulomb_newton_size(const SandCoulombNewton *newton, SandCoulombPoint point);
// Computes the step at a point. *singular: there is none. Returns false and sets the error if memory is out.
bool sand_coulomb_newton_direction(SandCoulombNewton *newton, SandCoulombPoint point, bool *singular, SandError *error);
