// SPDX-License-Identifier: MIT
// P-SPG-FB with a coarse correction, C-SPG-FB.
// Idea: spectral projected gradients (spg.inl) soon put right what is wrong between neighbors. What is left is wrong over
// long distances: the load of whole regions is too small or too large, while its pattern is right. So after the first
// iterations, and now and then, the impulses are scaled by the smooth field that lowers the objective most (coarse.inl),
// followed by an exact step along the change, so that the objective falls.
// Weakness: what the field cannot do is left to the gradients: contacts that should open or close, and the pattern itself. A
// correction of a million spheres takes four times as long as an iteration; of a small pile even longer, for its barriers.
#ifndef SAND_METHOD_COARSE_SPG_INL
#define SAND_METHOD_COARSE_SPG_INL
#include "sim/solver/methods/spg.inl"

typedef struct c_spg_fb_State {
    spg_State spg;
    int done; // iterations, with those of corrections
    int due;  // the next correction is in this one
} c_spg_fb_State;

enum { COARSE_DG, COARSE_DND, COARSE_RESIDUAL, COARSE_SUMS };
enum { COARSE_FIRST = 5 };  // parameter
enum { COARSE_REMAIN = 8 }; // iterations that must follow: a correction leaves errors between neighbors

// Stores the scaled impulses z, with the old gradient in its place, and computes their velocities in op->body.
SAND_HOT void coarse_trial(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, spg_Iterate next) {
    SAND_FOR_IMPULSES(w, i, op, NULL) {
        spg_Contact c = spg_load(now, SAND_CONTACT(op, i));
        Row z = contact_project(op, c.ref, row_scale(coarse_factor(op, c.ref), c.x));
        spg_store(next, c.ref, z, c.g);
        if (!SAND_VEC4_ROWS) SAND_STORE_IMPULSE(op, c.ref, z);
    }
    if (SAND_VEC4_ROWS)
        gather_bodies_strided(w, op, next.x, 8, op->free, op->body);
    else
        gather_bodies(w, op, op->impulse, op->free, op->body);
}

// Computes the gradient at z, and the sums of the step d = z - x: d'g and d'N d.
SAND_HOT void coarse_gradient(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, spg_Iterate next, double *total) {
    Sum sum;
    sum_open(w, &sum, COARSE_SUMS, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        spg_Contact c = spg_load(now, SAND_CONTACT(op, i));
        ContactRef ref = c.ref;
        Row z = spg_load(next, ref).x, h = SAND_GRADIENT(op, ref), d = row_sub(z, c.x);
        spg_store(next, ref, z, h);
        SAND_ADD(sum, ref, COARSE_DG, row_dot(d, c.g));
        SAND_ADD(sum, ref, COARSE_DND, row_dot(d, row_sub(h, c.g)));
        SAND_ADD(sum, ref, COARSE_RESIDUAL, contact_residual(op, ref, z, h));
    }
    sum_total(w, &sum);
    for (int k = 0; k < COARSE_SUMS; k++) total[k] = sum.total[k];
}

// One correction: the field, and the exact minimum along the change that it makes. Factors of at least 0.1 may be
// overstepped by a tenth without leaving a cone; a set that is no cone allows the change alone.
SAND_KERNEL void coarse_advance(Worker *w, Solve *s, spg_State *m) {
    const Op *op = s->op;
    int spare = 0;
    while (spare == m->current || 2 * spare == s->best) spare++;
    spg_Iterate now = spg_iterate(s, m->current), next = spg_iterate(s, spare);
    CoarseSource from = {now.x, now.g, SAND_VEC4_ROWS};
    coarse_sum(w, op, from);
    coarse_solve(w, op);
    coarse_spread(w, op);
    coarse_trial(w, op, now, next);
    double total[COARSE_SUMS], dg, dNd;
    coarse_gradient(w, op, now, next, total);
    dg = total[COARSE_DG];
    dNd = total[COARSE_DND];
    if (!(dg < 0 && isfinite(dNd))) return;
#if SAND_LOCAL
    double most = op->set == FRICTION_CONE ? 1.1 : 1;
#else
    double most = 1.1;
#endif
    double t = dNd > -dg / most ? -dg / dNd : most;
    if (fabs(t - 1) < 0.05) t = 1; // the change itself is as good, for two thirds of the memory traffic
    s->residual = residual_of(op, t == 1 ? total[COARSE_RESIDUAL] : spg_shorten(w, op, now, next, (real)t));
    m->current = spare;
    m->objective += t * dg + 0.5 * t * t * dNd;
    m->alpha = 1;
    m->count = 0;
    s->objective = m->objective;
    s->best = 2 * spare;
    if (worker_decides(w)) worker_state(w)[0] = m->objective;
}

SAND_KERNEL void c_spg_fb_start(Worker *w, Solve *s, c_spg_fb_State *m) {
    spg_begin(w, s, &m->spg);
    int latest = s->budget - COARSE_REMAIN, first = (int)s->params[COARSE_FIRST];
    m->done = 0;
    m->due = first < latest || latest < 0 ? first : latest;
}

SAND_KERNEL void c_spg_fb_step(Worker *w, Solve *s, c_spg_fb_State *m) {
    bool corrects = m->done >= m->due && m->done + COARSE_REMAIN <= s->budget && s->op->cells[0];
    if (corrects) {
        coarse_advance(w, s, &m->spg);
        m->due = m->done ? 2 * m->done : COARSE_REMAIN;
    } else {
        spg_advance(w, s, &m->spg, P_DIAGONAL);
    }
    m->done++;
}

#endif // SAND_METHOD_COARSE_SPG_INL
