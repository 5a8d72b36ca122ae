// Nonlinear block Gauss-Seidel ([P] section 3.1, eq. 14 to 16).
// Idea: gauss-seidel in which each contact's friction is the exact solution of its own maximum dissipation problem on the
// disc that its normal impulse allows, by Newton's method in the angle. With bounds that follow inside the iteration it
// ends at Coulomb's law.
// Weakness: as gauss-seidel; and where friction is strong nothing proves that it converges.

typedef gauss_seidel_State ngs_State;

SAND_KERNEL void ngs_start(Worker *w, Solve *s, ngs_State *m) {
    gauss_seidel_start(w, s, m);
    gauss_seidel_relax_by(w, s, m, RELAX_DISSIPATION);
}
SAND_KERNEL void ngs_step(Worker *w, Solve *s, ngs_State *m) { gauss_seidel_step(w, s, m); }
