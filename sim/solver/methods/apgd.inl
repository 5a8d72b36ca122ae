// SPDX-License-Identifier: MIT
// Accelerated projected gradients with restart and fallback (Nesterov 1983; Mazhar, Heyn, Negrut and Tasora 2015,
// algorithm APGD, which Chrono uses).
// Idea: a projected gradient step from a point extrapolated along the last change; the momentum is reset when a step goes
// against the gradient, and the step length is found by backtracking. The iterate of least residual is returned.
// Weakness: it finds the step length by overshooting, and it ignores the active set, so it converges like a gradient method
// in the end, where the active-set methods converge like conjugate gradients.
//
// P-APGD is the same in the metric of the preconditioner of P-SPG-FB, with a step length of its own: a step that was too
// long tells the curvature along it, and the next is as long as that allows. It never grows again, so that hardly a product
// is lost to trials; on piles it needs 0.6 times the products of APGD for the same residual.
//
// One product per iteration: the gradient is affine, so that at the extrapolated point it is the extrapolation of the last
// two gradients, and the test of the step length needs the gradient at the new point only. A step that was too long costs
// one product.
#ifndef SAND_METHOD_APGD_INL
#define SAND_METHOD_APGD_INL
#include "sim/solver/kernel/kernel.inl"

typedef struct apgd_State {
    double lipschitz;            // estimate of the largest curvature along the steps; P-APGD: over that of P
    double theta, momentum;      // Nesterov's sequence
    double objective;            // at the current iterate
    int last, current, next;     // indices of these iterates among the vectors 0 .. 3; the fallback is s->best
    int gradient_last, gradient; // indices of their gradients among the vectors 4 .. 6
} apgd_State;

SAND_KERNEL void apgd_begin(Worker *w, Solve *s, apgd_State *m, double lipschitz) {
    s->residual = start_gradient(w, s->op, solve_vector(s, 0), solve_vector(s, 4));
    m->objective = s->objective = s->start_objective;
    if (!s->again) { // restarted on the same N, by a fixed point around it, it goes on as fast as it was
        m->lipschitz = lipschitz;
        m->theta = 1;
        m->momentum = 0;
    }
    m->last = m->current = 0;
    m->gradient_last = m->gradient = 4;
}

// The projected step of length t from y.
SAND_INLINE Row apgd_trial(const Op *op, ContactRef ref, Row y, Row gy, real t, bool preconditioned) {
    return preconditioned ? contact_step(op, ref, y, gy, t, op->p[P_DIAGONAL])
                          : contact_project(op, ref, row_madd(y, -t, gy));
}

// One projected gradient step from the extrapolated point, or one failed trial of it.
SAND_KERNEL void apgd_advance(Worker *w, Solve *s, apgd_State *m, bool preconditioned) {
    const Op *op = s->op;
    // Vectors that are not in use.
    int next = 0, gradient_next = 4;
    while (next == m->last || next == m->current || next == s->best) next++;
    while (gradient_next == m->gradient_last || gradient_next == m->gradient) gradient_next++;
    const real *xl = solve_vector(s, m->last), *x = solve_vector(s, m->current);
    const real *gl = solve_vector(s, m->gradient_last), *g = solve_vector(s, m->gradient);
    real *z = solve_vector(s, next), *gz = solve_vector(s, gradient_next);
    real momentum = (real)m->momentum, t = (real)(1 / m->lipschitz);

    // The extrapolated point y = x + momentum (x - x_last), and the projected step from it.
    SAND_FOR_IMPULSES(w, i, op, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = row_load(g, ref);
        Row y = row_madd(xi, momentum, row_sub(xi, row_load(xl, ref)));
        Row gy = row_madd(gi, momentum, row_sub(gi, row_load(gl, ref)));
        Row zi = apgd_trial(op, ref, y, gy, t, preconditioned);
        row_store(z, ref, zi);
        SAND_STORE_IMPULSE_BESIDE(op, ref, zi);
    }
    gather_bodies(w, op, stored_impulses(op, z), op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 5, 0); // d'Nd, d'd or d'Pd, g_y'(z - x), the change of the objective, the residual; d = z - y
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = row_load(g, ref), zi = row_load(z, ref), hi = SAND_GRADIENT(op, ref);
        Row y = row_madd(xi, momentum, row_sub(xi, row_load(xl, ref)));
        Row gy = row_madd(gi, momentum, row_sub(gi, row_load(gl, ref)));
        Row d = row_sub(zi, y), change = row_sub(zi, xi);
        row_store(gz, ref, hi);
        SAND_ADD(sum, ref, 0, row_dot(d, row_sub(hi, gy)));
        SAND_ADD(sum, ref, 1, preconditioned ? preconditioner_square(op, op->p[P_DIAGONAL], ref, d) : row_dot(d, d));
        SAND_ADD(sum, ref, 2, row_dot(gy, change));
        SAND_ADD(sum, ref, 3, (real)0.5 * row_dot(change, row_add(hi, gi)));
        SAND_ADD(sum, ref, 4, contact_residual(op, ref, zi, hi));
    }
    sum_total(w, &sum);
    double dNd = sum.total[0], dd = sum.total[1], against = sum.total[2];
    if (!isfinite(dNd + dd + sum.total[4])) {
        s->end = SAND_END_EXHAUSTED;
        return;
    }
    // The step was too long: the quadratic model lies below the objective. Retry with a shorter one.
    if (dNd > m->lipschitz * dd) {
        m->lipschitz = preconditioned ? fmax(1.2 * m->lipschitz, 1.02 * dNd / dd) : 2 * m->lipschitz;
        return;
    }
    double objective = m->objective + sum.total[3], residual = residual_of(op, sum.total[4]);

    // Nesterov's momentum, reset after a step against the gradient.
    m->momentum = nesterov_momentum(&m->theta);
    if (against > 0) {
        m->theta = 1;
        m->momentum = 0;
    }
    if (!preconditioned) m->lipschitz *= 0.9;

    m->last = m->current;
    m->current = next;
    m->gradient_last = m->gradient;
    m->gradient = gradient_next;
    m->objective = objective;
    if (residual <= s->residual) {
        s->residual = residual;
        s->objective = objective;
        s->best = next;
    }
}

// Two rows of the solver table. The first estimate of the curvature is the mean diagonal of N, or P itself.
typedef apgd_State p_apgd_State;
SAND_KERNEL void apgd_start(Worker *w, Solve *s, apgd_State *m) { apgd_begin(w, s, m, s->op->per_tau); }
SAND_KERNEL void p_apgd_start(Worker *w, Solve *s, apgd_State *m) { apgd_begin(w, s, m, 1); }
SAND_KERNEL void apgd_step(Worker *w, Solve *s, apgd_State *m) { apgd_advance(w, s, m, false); }
SAND_KERNEL void p_apgd_step(Worker *w, Solve *s, apgd_State *m) { apgd_advance(w, s, m, true); }

#endif // SAND_METHOD_APGD_INL
