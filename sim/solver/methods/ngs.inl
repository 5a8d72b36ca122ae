// SPDX-License-Identifier: MIT
// Nonlinear block Gauss-Seidel ([P] section 3.1, eq. 14 to 16).
// Idea: Gauss-Seidel in which the friction of each contact is the exact solution of its own maximum dissipation problem on
// the disc that its normal impulse allows, by Newton's method in the angle. With friction bounds that follow the normal
// impulse inside the iteration it converges to Coulomb's law.
// Weakness: that of gauss-seidel; and with strong friction convergence is not guaranteed.
//
// The sweep is gauss_seidel.inl's; the contact problem is relax_dissipation in sim/solver/kernel/local_solve.inl.
#ifndef SAND_METHOD_NGS_INL
#define SAND_METHOD_NGS_INL
#include "sim/solver/kernel/kernel.inl"
#include "sim/solver/methods/gauss_seidel.inl"

typedef gauss_seidel_State ngs_State;

SAND_KERNEL void ngs_start(Worker *w, Solve *s, ngs_State *m) {
    gauss_seidel_start(w, s, m);
    gauss_seidel_relax_by(w, s, m, RELAX_DISSIPATION);
}
SAND_KERNEL void ngs_step(Worker *w, Solve *s, ngs_State *m) { gauss_seidel_step(w, s, m); }

#endif // SAND_METHOD_NGS_INL
