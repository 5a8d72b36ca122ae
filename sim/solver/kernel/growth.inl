// SPDX-License-Identifier: MIT
// What the driver does about impulses that grow without end: it looks for them where a method does not, and lets no claim of
// infeasibility pass without its certificate (recession.inl).
#pragma once
#include "sim/solver/kernel/solve.inl"

// What the driver has suspected and not found confirmed.
typedef struct Doubts {
    int patience;       // iteration before which no suspicion of growth is looked into: the last one came to nothing
    bool has_reference; // request->reference is an earlier iterate
    double residual;    // the method's own when it was last within the tolerance and the measured one was not
} Doubts;

// Looks for the proof that the problem is infeasible: whether `direction` recedes, or one near it. That costs a product, and
// where it may recede a search of as many as the solve has taken so far; if it fails, the next suspicion of a method is
// looked into when the solve is twice as long.
SAND_KERNEL void solve_certify(Worker *w, Solve *s, real *direction, int iteration, Doubts *doubts) {
    SandRecession measured = find_recession(w, s->op, direction, 32 + iteration);
    bool proved = sand_recedes(measured);
    s->least_energy = proved ? sand_recession_energy(measured) : 0;
    s->end = proved ? SAND_END_RECEDES : SAND_END_NONE;
    doubts->patience = iteration + iteration / 2 + iteration / 2;
    doubts->has_reference = false;
}

// Checks the direction that a method suspects to recede, in a vector that the method does not use.
SAND_KERNEL void solve_check_suspicion(Worker *w, Solve *s, real *direction, bool paired, int iteration, Doubts *doubts) {
    s->end = SAND_END_NONE;
    if (iteration < doubts->patience) return;
    const real *to = s->grows_to < 0 ? NULL : solve_vector(s, s->grows_to);
    const real *from = s->grows_from < 0 ? NULL : solve_vector(s, s->grows_from);
    SAND_FOR(w, i, s->op->n) {
        ContactRef ref = SAND_CONTACT(s->op, i);
        Row zero = row_scale(0, row_load_from(to ? to : from, ref, paired));
        Row d = row_sub(to ? row_load_from(to, ref, paired) : zero, from ? row_load_from(from, ref, paired) : zero);
        row_store(direction, ref, d);
    }
    sand_barrier(w);
    solve_certify(w, s, direction, iteration, doubts);
}

// What the impulses are and how they have grown since the reference.
typedef struct Growth {
    double xPx, dPd;
} Growth;

SAND_HOT Growth measure_growth(Worker *w, const Op *op, const real *x, bool paired, const real *reference) {
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load_from(x, ref, paired), d = row_sub(xi, row_load(reference, ref));
        real p = contact_diagonal(op, ref);
        SAND_ADD(sum, ref, 0, p * row_dot(xi, xi));
        SAND_ADD(sum, ref, 1, p * row_dot(d, d));
    }
    sum_total(w, &sum);
    Growth growth = {sum.total[0], sum.total[1]};
    return growth;
}

// x - t * reference, stored as the reference: with t = 0 a copy.
SAND_HOT void renew_reference(Worker *w, const Op *op, const real *x, bool paired, real *reference, real t) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load_from(x, ref, paired);
        row_store(reference, ref, t == 0 ? xi : row_madd(xi, -t, row_load(reference, ref)));
    }
    sand_barrier(w);
}

// Have the impulses grown since the reference, along a direction that recedes? Checked after 8, 16, 32, ... iterations
// (growth_is_due); it costs products only when they have grown.
SAND_KERNEL void look_for_growth(Worker *w, Solve *s, real *reference, bool paired, int iteration, Doubts *doubts) {
    const Op *op = s->op;
    const real *x = solve_vector(s, s->current < 0 ? s->best : s->current);
    if (doubts->has_reference) {
        Growth growth = measure_growth(w, op, x, paired, reference);
        if (!isfinite(growth.xPx)) {
            s->end = SAND_END_EXHAUSTED;
            return;
        }
        if (growth.dPd > 1e-2 * growth.xPx) { // grown by more than a tenth
            renew_reference(w, op, x, paired, reference, 1);
            solve_certify(w, s, reference, iteration, doubts);
        }
    }
    if (s->end != SAND_END_NONE) return;
    renew_reference(w, op, x, paired, reference, 0);
    doubts->has_reference = true;
}
