// SPDX-License-Identifier: MIT
// Gradient projection with minimum residuals, GPMINRES ([H] section 4, algorithm GPMINRES).
// Idea: projected gradient steps find a face of the set; MINRES then solves for the free impulses on that face as if there
// were no bounds; a search along the projected arc brings the result back into the set.
// Weakness: products spent on finding a face do not reduce the error much, so it starts slowly and needs many iterations
// before it leads.
//
// MINRES is implemented as conjugate residuals (Saad 2003, algorithm 6.20): for a semidefinite N the iterates are the same,
// and the recurrences are simpler. The length of a projected gradient step starts at the minimum along the projected
// gradient (eq. 14), as in the method of More and Toraldo that [H] builds on. Every step of the driver is one product: one
// for the length of a projected gradient step, one for each trial, one for each iteration of MINRES. Numbers in brackets are
// the lines of algorithm GPMINRES; its loop and its termination, lines 2 and 19 to 22, are the driver's.
//
// GPMINRES-P of [H] preconditions by an LU factorization of N on the face; gpminres-p here by the diagonal of N.
//
// [H] does not print eta1. TAO's gpcg uses 0.1, and ends a phase after eight projected gradients in any case; without such a
// limit 0.1 allows hundreds of them in a row that all gain about the same, so it is 0.5 here.
#ifndef SAND_METHOD_GPMINRES_INL
#define SAND_METHOD_GPMINRES_INL
#include "sim/solver/kernel/kernel.inl"

enum { GPMINRES_MOST, GPMINRES_ETA1, GPMINRES_ETA2, GPMINRES_MU }; // parameters
// Vectors: direction on the face, residual of MINRES, its direction p and N p.
enum { GPMINRES_D = 4, GPMINRES_R, GPMINRES_P, GPMINRES_NP };

enum { GPMINRES_FAR = 5 }; // halvings after which a gradient step is limited to the first bound

// What the next step does.
typedef enum GpminresPhase {
    GPMINRES_LENGTH, // find the length of a projected gradient step
    GPMINRES_TRIAL,  // try that step
    GPMINRES_FIRST,  // first iteration of MINRES on a face
    GPMINRES_NEXT,   // another one
    GPMINRES_SEARCH, // search along the projected arc to MINRES's solution
} GpminresPhase;

typedef struct gpminres_State {
    bool preconditioned;
    GpminresPhase phase;
    int current;        // index of the iterate, vector 0 or 2; its gradient is the next one. The other two are those of a
                        // trial; the first of them holds N r during MINRES
    double alpha;       // length of the trial
    double first_bound; // length at which the first bound is met: shorter than the minimum, but certain to descend
    int halvings;       // of the trial length
    int gradients;      // projected gradient steps in this phase
    double largest;     // largest decrease of the objective by a step of this phase, for eq. 18 and 20
    int iterations;     // of MINRES in this phase
    double eta2;        // of eq. 20; reduced while the active set is the binding set
    double rNr;         // of MINRES
} gpminres_State;

typedef gpminres_State gpminres_p_State;

// Inverse of the preconditioner, the mean diagonal of N_ii, or 1.
SAND_INLINE real gpminres_inverse_preconditioner(const Op *op, ContactRef ref, bool preconditioned) {
    return preconditioned ? contact_inverse_diagonal(op, ref) : (real)1;
}

// [3] Starts a phase of projected gradients.
SAND_INLINE void gpminres_seek_face(gpminres_State *m) {
    m->phase = GPMINRES_LENGTH;
    m->gradients = 0;
    m->largest = 0;
}

// [9], [10] Starts MINRES on the face of the iterate, or resumes it with its last direction. The residual is minus the free
// gradient.
SAND_KERNEL void gpminres_enter_face(Worker *w, Solve *s, gpminres_State *m, bool resumed) {
    const Op *op = s->op;
    const real *x = solve_vector(s, m->current), *g = solve_vector(s, m->current + 1);
    real *r = solve_vector(s, GPMINRES_R), *d = solve_vector(s, GPMINRES_D);
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row zero = row_scale(0, row_load(g, ref));
        row_store(r, ref, row_scale(-1, contact_free_gradient(op, ref, row_load(x, ref), row_load(g, ref))));
        row_store(d, ref, zero);
    }
    sand_barrier(w);
    m->phase = resumed ? GPMINRES_NEXT : GPMINRES_FIRST;
    m->iterations = 0;
    m->largest = 0;
}

SAND_KERNEL void gpminres_begin(Worker *w, Solve *s, gpminres_State *m, bool preconditioned) {
    double residual = start_gradient(w, s->op, solve_vector(s, 0), solve_vector(s, 1)); // [1], from the warm start
    s->objective = s->start_objective;
    s->residual = residual;
    m->preconditioned = preconditioned;
    m->current = 0;
    m->eta2 = s->params[GPMINRES_ETA2];
    gpminres_seek_face(m);
}

// The projected gradient may recede; the vector of the direction on a face is not in use now.
SAND_KERNEL void gpminres_suspect(Worker *w, Solve *s, const gpminres_State *m) {
    const real *x = solve_vector(s, m->current), *g = solve_vector(s, m->current + 1);
    real *p = solve_vector(s, GPMINRES_D);
    SAND_FOR(w, i, s->op->n) {
        ContactRef ref = SAND_CONTACT(s->op, i);
        row_store(p, ref, contact_projected_gradient(s->op, ref, row_load(x, ref), row_load(g, ref)));
    }
    sand_barrier(w);
    solve_suspect(s, -1, GPMINRES_D);
}

// Finds the minimum along the projected gradient p: alpha* of eq. 16, where the trials of [5] start.
SAND_KERNEL void gpminres_length(Worker *w, Solve *s, gpminres_State *m) {
    const Op *op = s->op;
    const real *x = solve_vector(s, m->current), *g = solve_vector(s, m->current + 1);
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_IMPULSES(w, i, op, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row p = contact_projected_gradient(op, ref, row_load(x, ref), row_load(g, ref));
        SAND_STORE_IMPULSE(op, ref, p);
        SAND_ADD(sum, ref, 0, row_dot(p, p));
    }
    sum_total(w, &sum);
    double pp = sum.total[0];
    gather_bodies(w, op, op->impulse, op->still, op->scratch);
    sum_open(w, &sum, 4, 1u << 3);
    SAND_FOR_GRADIENTS(w, i, op, op->scratch, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        real diagonal = contact_diagonal(op, ref);
        Row xi = row_load(x, ref), p = contact_projected_gradient(op, ref, xi, row_load(g, ref));
        SAND_ADD(sum, ref, 0, row_dot(p, contact_without_bias(op, ref, SAND_GRADIENT(op, ref))));
        SAND_ADD(sum, ref, 1, diagonal * row_dot(p, p));
        SAND_ADD(sum, ref, 2, diagonal * row_dot(xi, xi));
        SAND_MAX(sum, ref, 3, contact_inverse_step(op, ref, xi, p));
    }
    sum_total(w, &sum);
    if (direction_recedes(pp, sum.total[0], sum.total[1], sum.total[3], sum.total[2])) gpminres_suspect(w, s, m);
    m->alpha = sum.total[0] > 0 ? pp / sum.total[0] : op->tau;
    m->first_bound = sum.total[3] > 0 ? 1 / sum.total[3] : INFINITY;
    m->halvings = 0;
    m->phase = GPMINRES_TRIAL;
}

// Tries a point on the projected arc, z = P(x + alpha d), where d is minus the gradient (eq. 15) or the direction on the
// face. Returns true if the objective fell enough (eq. 16, [18]); then z is the iterate, and *same_face and *all_binding
// say whether its active set is that of the last one (eq. 17), and whether every active component is binding.
SAND_KERNEL bool gpminres_trial(Worker *w, Solve *s, gpminres_State *m, bool along_face, bool *same_face, bool *all_binding,
                                double *decrease) {
    const Op *op = s->op;
    int other = 2 - m->current;
    const real *x = solve_vector(s, m->current), *g = solve_vector(s, m->current + 1), *d = solve_vector(s, GPMINRES_D);
    real *z = solve_vector(s, other), *gz = solve_vector(s, other + 1), alpha = (real)m->alpha;
    SAND_FOR_IMPULSES(w, i, op, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row di = along_face ? row_load(d, ref) : row_scale(-1, row_load(g, ref));
        Row zi = contact_project(op, ref, row_madd(row_load(x, ref), alpha, di));
        row_store(z, ref, zi);
        SAND_STORE_IMPULSE(op, ref, zi);
    }
    gather_bodies(w, op, op->impulse, op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 5, 3u << 3);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = row_load(g, ref), zi = row_load(z, ref), hi = SAND_GRADIENT(op, ref),
            c = row_sub(zi, xi);
        row_store(gz, ref, hi);
        SAND_ADD(sum, ref, 0, row_dot(gi, c));
        SAND_ADD(sum, ref, 1, (real)0.5 * row_dot(c, row_add(gi, hi)));
        SAND_ADD(sum, ref, 2, contact_residual(op, ref, zi, hi));
        SAND_MAX(sum, ref, 3, contact_same_face(op, ref, xi, zi) ? (real)0 : (real)1);
        // A component that is active but not binding has a nonzero projected gradient.
        Row p = contact_projected_gradient(op, ref, zi, hi), loose = row_sub(p, contact_free_gradient(op, ref, zi, p));
        SAND_MAX(sum, ref, 4, row_dot(loose, loose) > 0 ? (real)1 : (real)0);
    }
    sum_total(w, &sum);
    double gain = sum.total[1];
    // After twenty halvings only rounding is left of the test.
    if (!(gain <= s->params[GPMINRES_MU] * sum.total[0]) && m->halvings < 20) {
        m->alpha *= 0.5;
        m->halvings++;
        // Where N is nearly singular along d the minimum lies far outside, and halving does not lead back soon enough.
        if (!along_face && m->halvings == GPMINRES_FAR) m->alpha = fmin(m->alpha, m->first_bound);
        return false;
    }
    *same_face = sum.total[3] == 0;
    *all_binding = sum.total[4] == 0;
    *decrease = -gain;
    if (gain > 0) return true; // no decrease was found: keep the iterate
    m->current = other;
    s->best = other;
    s->objective += gain;
    s->residual = residual_of(op, sum.total[2]);
    return true;
}

// Computes y = N (C r) on the face, with the inverse preconditioner C. Returns r'C N C r, or 0 if that is only rounding.
SAND_KERNEL double gpminres_product(Worker *w, Solve *s, gpminres_State *m, real *y) {
    const Op *op = s->op;
    const real *x = solve_vector(s, m->current), *r = solve_vector(s, GPMINRES_R);
    bool scaled = m->preconditioned;
    SAND_FOR_IMPULSES(w, i, op, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        SAND_STORE_IMPULSE(op, ref, row_scale(gpminres_inverse_preconditioner(op, ref, scaled), row_load(r, ref)));
    }
    gather_bodies(w, op, op->impulse, op->still, op->scratch);
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->scratch, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row cr = row_scale(gpminres_inverse_preconditioner(op, ref, scaled), row_load(r, ref));
        Row yi = contact_free_gradient(op, ref, row_load(x, ref), contact_without_bias(op, ref, SAND_GRADIENT(op, ref)));
        row_store(y, ref, yi);
        SAND_ADD(sum, ref, 0, row_dot(cr, yi));
        SAND_ADD(sum, ref, 1, contact_diagonal(op, ref) * row_dot(cr, cr));
    }
    sum_total(w, &sum);
    return sum.total[0] > 64 * REAL_EPSILON * sum.total[1] ? sum.total[0] : 0;
}

// [12], [13] One iteration of MINRES on the face, by conjugate residuals.
SAND_KERNEL void gpminres_minres(Worker *w, Solve *s, gpminres_State *m) {
    const Op *op = s->op;
    real *r = solve_vector(s, GPMINRES_R), *p = solve_vector(s, GPMINRES_P), *d = solve_vector(s, GPMINRES_D);
    real *nr = solve_vector(s, 2 - m->current), *np = solve_vector(s, GPMINRES_NP);
    double rNr = gpminres_product(w, s, m, nr);
    bool first = m->phase == GPMINRES_FIRST, scaled = m->preconditioned;
    real beta = first || !(m->rNr > 0) ? (real)0 : (real)(rNr / m->rNr);
    m->rNr = rNr;
    Sum sum;
    sum_open(w, &sum, 3, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row ri = row_load(r, ref), pi = row_scale(gpminres_inverse_preconditioner(op, ref, scaled), ri),
            ni = row_load(nr, ref);
        if (beta != 0) {
            pi = row_madd(pi, beta, row_load(p, ref));
            ni = row_madd(ni, beta, row_load(np, ref));
        }
        row_store(p, ref, pi);
        row_store(np, ref, ni);
        SAND_ADD(sum, ref, 0, gpminres_inverse_preconditioner(op, ref, scaled) * row_dot(ni, ni));
        SAND_ADD(sum, ref, 1, row_dot(ri, pi));
        SAND_ADD(sum, ref, 2, row_dot(pi, ni));
    }
    sum_total(w, &sum);
    double alpha = sum.total[0] > 0 ? rNr / sum.total[0] : 0; // 0 if r is in the null space of N: left to the gradients
    double decrease = alpha * (sum.total[1] - 0.5 * alpha * sum.total[2]); // of q_k
    if (!(decrease > 0)) alpha = decrease = 0;
    real step = (real)alpha;
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(d, ref, row_madd(row_load(d, ref), step, row_load(p, ref)));
        row_store(r, ref, row_madd(row_load(r, ref), -step, row_load(np, ref)));
    }
    sand_barrier(w);
    m->phase = GPMINRES_NEXT;
    m->iterations++;
    // [11], [14], [15] Leave MINRES when the objective falls by little compared with its best iteration (eq. 20).
    bool sluggish = !(decrease > m->eta2 * m->largest);
    if (decrease > m->largest) m->largest = decrease;
    if (sluggish || m->iterations >= (int)s->params[GPMINRES_MOST]) {
        m->phase = GPMINRES_SEARCH; // [17]
        m->alpha = 1;
        m->halvings = 0;
    }
}

// One product of the phase that is under way.
SAND_KERNEL void gpminres_advance(Worker *w, Solve *s, gpminres_State *m) {
    bool same_face = false, all_binding = false;
    double decrease = 0;
    if (m->phase == GPMINRES_LENGTH)
        gpminres_length(w, s, m);
    else if (m->phase == GPMINRES_TRIAL) { // [4]-[7]
        if (gpminres_trial(w, s, m, false, &same_face, &all_binding, &decrease)) {
            // Leave the projected gradients when the face stays (eq. 17) or the objective falls by little (eq. 18).
            bool sluggish = m->gradients > 0 && decrease <= s->params[GPMINRES_ETA1] * m->largest;
            if (decrease > m->largest) m->largest = decrease;
            m->gradients++;
            m->phase = GPMINRES_LENGTH;
            if (same_face || sluggish) gpminres_enter_face(w, s, m, false); // [8]
        }
    } else if (m->phase == GPMINRES_SEARCH) { // [18]
        if (gpminres_trial(w, s, m, true, &same_face, &all_binding, &decrease)) {
            // The binding-set rule (text after line 22): a face whose active components are all binding may be the right
            // one. Then MINRES is resumed there with a smaller eta2; else another face is sought. If the face is unchanged
            // and the whole step was taken, MINRES keeps its last direction: a restart would lose what it has learned of N.
            if (all_binding && decrease > 0) {
                m->eta2 *= 0.5;
                gpminres_enter_face(w, s, m, same_face && m->halvings == 0);
            } else {
                m->eta2 = s->params[GPMINRES_ETA2];
                gpminres_seek_face(m);
            }
        }
    } else
        gpminres_minres(w, s, m);
    if (!isfinite(s->residual + m->alpha + m->largest)) s->end = SAND_END_EXHAUSTED;
}

// Two rows of the solver table: without and with the preconditioner.
SAND_KERNEL void gpminres_start(Worker *w, Solve *s, gpminres_State *m) { gpminres_begin(w, s, m, false); }
SAND_KERNEL void gpminres_p_start(Worker *w, Solve *s, gpminres_State *m) { gpminres_begin(w, s, m, true); }
SAND_KERNEL void gpminres_step(Worker *w, Solve *s, gpminres_State *m) { gpminres_advance(w, s, m); }
SAND_KERNEL void gpminres_p_step(Worker *w, Solve *s, gpminres_State *m) { gpminres_advance(w, s, m); }

#endif // SAND_METHOD_GPMINRES_INL
