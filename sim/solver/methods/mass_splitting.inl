// SPDX-License-Identifier: MIT
// Mass splitting (Tonge, Benevolenski and Voroshilov 2012).
// Idea: split every body into as many equal sub-bodies as it has contacts, one for each. Contacts then share no sub-body and
// are all solved at once, each exactly; afterwards the sub-bodies of a body get their mean velocity. With d the degree of a
// body, the block of a contact is N_ii with each body's part times d, and the mean of the sub-bodies moves the body by
// exactly M^-1 D x. This is jacobi with a step that needs no damping: the blocks together are above N, since |v_1 + .. +
// v_d|^2 <= d (|v_1|^2 + .. + |v_d|^2), so that the objective falls in every iteration.
// Weakness: a contact yields as if all other contacts of its bodies pushed the same way, and open contacts count as well: as
// slow as jacobi.
//
// The block of two spheres is diagonal in normal and tangents, and the contact is solved by one projection in its metric.
// Other blocks are full: a few projected steps from the last impulse, in a diagonal metric above the block.
#ifndef SAND_METHOD_MASS_SPLITTING_INL
#define SAND_METHOD_MASS_SPLITTING_INL
#include "sim/solver/kernel/block_metric.inl"
#include "sim/solver/kernel/kernel.inl"

enum { MASS_SPLITTING_LOCAL }; // parameters
enum { SPLIT_X, SPLIT_BLOCK }; // vectors: impulses, and the metric of each block

typedef struct mass_splitting_State {
    int local; // projected steps on a contact
} mass_splitting_State;

// Solves a contact on its own: the gradient at z is g + W (z - x).
SAND_INLINE Row split_solve(const Op *op, ContactRef ref, Row metric, Row x, Row g, int local) {
    Row z = metric_step(op, ref, metric, x, g);
#if SAND_ROWS == 3 && !SAND_RADIAL
    for (int k = 1; k < local; k++) {
        Vec change = block_response(op, ref, true, contact_impulse(op, ref, row_sub(z, x)));
        z = metric_step(op, ref, metric, z, row_add(g, contact_row(op, ref, change)));
    }
#endif
    return (void)local, z;
}

SAND_KERNEL void mass_splitting_start(Worker *w, Solve *s, mass_splitting_State *m) {
    const Op *op = s->op;
    real *block = solve_vector(s, SPLIT_BLOCK);
    m->local = (int)s->params[MASS_SPLITTING_LOCAL];
    SAND_FOR_EACH(w, i, op->n) {
        ContactRef ref = contact_ref(op, i);
        row_store(block, ref, metric_pack(block_metric(op, ref, true)));
    }
    sand_barrier(w);
}

SAND_HOT void mass_splitting_sweep(Worker *w, const Op *SAND_RESTRICT op, real *x, const real *block, int local) {
    SAND_FOR_GRADIENTS_IMPULSES(w, i, op, op->body, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row z = split_solve(op, ref, row_load(block, ref), row_load(x, ref), SAND_GRADIENT(op, ref), local);
        row_store(x, ref, z);
        SAND_STORE_IMPULSE_BESIDE(op, ref, z);
    }
}

// All contacts, then the mean velocities of the sub-bodies, which are those of the impulses.
SAND_KERNEL void mass_splitting_step(Worker *w, Solve *s, mass_splitting_State *m) {
    const Op *op = s->op;
    real *x = solve_vector(s, SPLIT_X);
    mass_splitting_sweep(w, op, x, solve_vector(s, SPLIT_BLOCK), m->local);
    gather_bodies(w, op, stored_impulses(op, x), op->free, op->body);
}

#endif // SAND_METHOD_MASS_SPLITTING_INL
