// SPDX-License-Identifier: MIT
// Projected Jacobi ([H] eq. 12, whose gradient term should have a minus sign; [N] eq. 15 with an empty set D).
// Idea: every contact takes a damped gradient step scaled by its own diagonal block and is projected, all at once.
// Weakness: information travels one contact per iteration; heavy bodies on light ones and tall piles converge very slowly.
#ifndef SAND_METHOD_JACOBI_INL
#define SAND_METHOD_JACOBI_INL
#include "sim/solver/kernel/kernel.inl"

typedef struct jacobi_State {
    real omega, lambda; // relaxation and damping
} jacobi_State;

enum { JACOBI_OMEGA, JACOBI_LAMBDA }; // parameters

SAND_KERNEL void jacobi_start(Worker *w, Solve *s, jacobi_State *m) {
    (void)w;
    m->omega = (real)s->params[JACOBI_OMEGA];
    m->lambda = (real)s->params[JACOBI_LAMBDA];
}

// [H] eq. 12: x := lambda P(x - omega eta_i (N x + r)_i) + (1 - lambda) x, with eta_i = rows / trace N_ii as in [N] step 1.
SAND_HOT void jacobi_sweep(Worker *w, const Op *SAND_RESTRICT op, real *x, real omega, real lambda) {
    SAND_FOR_GRADIENTS_IMPULSES(w, i, op, op->body, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), g = SAND_GRADIENT(op, ref);
        Row z = contact_relaxed(op, ref, xi, g, omega);
        z = row_madd(xi, lambda, row_sub(z, xi));
        row_store(x, ref, z);
        SAND_STORE_IMPULSE_BESIDE(op, ref, z);
    }
}

SAND_KERNEL void jacobi_step(Worker *w, Solve *s, jacobi_State *m) {
    const Op *op = s->op;
    real *x = solve_vector(s, s->best);
    jacobi_sweep(w, op, x, m->omega, m->lambda);
    gather_bodies(w, op, stored_impulses(op, x), op->free, op->body);
}

#endif // SAND_METHOD_JACOBI_INL
