// SPDX-License-Identifier: MIT
// Temporal Gauss-Seidel with soft contacts (Macklin et al. 2019, small steps; as PhysX 5 and the soft step of Box2D v3 by
// Catto 2024 have it), on the problem of one step.
// Idea: in place of n sweeps over one problem, n substeps with a sweep each. A substep begins with the gaps that those
// before it have left. Open gaps may close within the substep; penetrations are springs of a given frequency and damping
// ratio, whose push is limited.
// Weakness: another problem than the others solve. Impulses are the mean over the substeps, and sweeps are few in each, so
// that its residual ends at a floor, and falls towards it no faster than one over n.
//
// The free velocity is applied at once, as PhysX does by default: the problem does not say what of it is this step's. The
// mean of the impulses is returned because its velocity moves the bodies, in one step, to where the substeps have moved
// them. Engines end with a sweep without bias, for a velocity apart from the one that moves the bodies; here they are the
// same. Gaps are in m/s, what closes them in a step; the sweep is gauss_seidel.inl's, and so is the meaning of `order`.
#ifndef SAND_METHOD_TGS_SOFT_INL
#define SAND_METHOD_TGS_SOFT_INL
#include "sim/solver/kernel/kernel.inl"
#include "sim/solver/methods/gauss_seidel.inl"

enum { TGS_HERTZ, TGS_DAMPING, TGS_PUSH, TGS_ORDER }; // parameters
enum { TGS_MEAN, TGS_X, TGS_GAP };                    // vectors

typedef struct tgs_soft_State {
    gauss_seidel_State sweep;
    int done; // substeps
} tgs_soft_State;

// The spring of a substep, discretized implicitly (Catto 2024). Its frequency is at most a quarter of the substeps'.
SAND_INLINE Softness tgs_softness(const Solve *s) {
    const double pi = 3.14159265358979323846;
    double step = 2 / (double)s->op->two_per_step, substep = step / s->budget;
    double omega = 2 * pi * fmin(s->params[TGS_HERTZ], 0.25 / substep);
    double a1 = 2 * s->params[TGS_DAMPING] + substep * omega, a2 = substep * omega * a1, a3 = 1 / (1 + a2);
    // The impulse is that of the whole step: a substep has its share.
    Softness soft = {(real)(omega / a1 * step), (real)s->params[TGS_PUSH], (real)(a2 * a3), (real)(a3 / s->budget),
                     (real)s->budget};
    return soft;
}

// What of a gap the narrow phase found, as a speed along the normal.
SAND_INLINE Row tgs_gap(const Op *op, ContactRef ref, Row like) {
    return row_add_normal(op, ref, row_scale(0, like), contact_half_gap(op, ref) * op->two_per_step);
}

SAND_KERNEL void tgs_soft_start(Worker *w, Solve *s, tgs_soft_State *m) {
    const Op *op = s->op;
    const real *mean = solve_vector(s, TGS_MEAN);
    real *x = solve_vector(s, TGS_X), *gap = solve_vector(s, TGS_GAP);
    s->best = TGS_MEAN;
    if (s->again) return; // with new bounds it goes on where it was
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(x, ref, row_load(mean, ref));
        row_store(gap, ref, tgs_gap(op, ref, row_load(mean, ref)));
    }
    sand_barrier(w);
    gauss_seidel_set_order(s, &m->sweep, (int)s->params[TGS_ORDER]);
    m->sweep.omega = m->sweep.lambda = 1;
    m->sweep.x = TGS_X;
    m->sweep.gaps = TGS_GAP;
    m->sweep.how = RELAX_SOFT;
    m->sweep.soft = tgs_softness(s);
    m->done = 0;
}

// Moves the gaps by a substep, and takes the impulses into the mean.
SAND_HOT void tgs_move(Worker *w, const Op *SAND_RESTRICT op, const real *x, real *mean, real *gap, real share,
                       real weight) {
    SAND_FOR_GRADIENTS(w, i, op, op->body, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        real u = row_normal(op, ref, SAND_GRADIENT(op, ref)) - contact_bias(op, ref);
        Row old = row_load(mean, ref);
        row_store(gap, ref, row_add_normal(op, ref, row_load(gap, ref), share * u));
        row_store(mean, ref, contact_project(op, ref, row_madd(old, weight, row_sub(row_load(x, ref), old))));
    }
    sand_barrier(w);
}

// One substep.
SAND_KERNEL void tgs_soft_step(Worker *w, Solve *s, tgs_soft_State *m) {
    gauss_seidel_step(w, s, &m->sweep);
    m->done++;
    tgs_move(w, s->op, solve_vector(s, TGS_X), solve_vector(s, TGS_MEAN), solve_vector(s, TGS_GAP), 1 / (real)s->budget,
             1 / (real)m->done);
}

#endif // SAND_METHOD_TGS_SOFT_INL
