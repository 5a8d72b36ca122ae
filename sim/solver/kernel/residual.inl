// SPDX-License-Identifier: MIT
// How good an iterate is: residual, objective, complementarity. One place that no solver owns, so that all methods are
// measured alike.
#pragma once
#include "sim/solver/kernel/gather.inl"
#include "sim/solver/status.h"

// The share of a contact in tau^2 times the squared residual of [H] eq. 24, e = x - P(x - tau g). residual_of turns the sum
// into the residual, which is a speed.
SAND_INLINE real contact_residual(const Op *op, ContactRef ref, Row x, Row g) {
    real tau = (real)op->tau;
    Row e = row_sub(x, contact_project(op, ref, row_madd(x, -tau, g)));
    return row_dot(e, e);
}

#if SAND_HALVED_CONES
// The same in two halves.
SAND_INLINE ConeHalf contact_residual_half(const Op *op, ContactRef ref, Row x, Row g) {
    return cone_half(row_madd(x, -(real)op->tau, g), 0, contact_normal(op, ref));
}
SAND_INLINE real contact_residual_rest(const Op *op, ContactRef ref, Row x, ConeHalf half) {
    Row e =
        row_sub(x, cone_project_half(half, contact_normal(op, ref), contact_mu(op, ref), 1, contact_cone_factor(op, ref)));
    return row_dot(e, e);
}
#endif

SAND_INLINE double residual_of(const Op *op, double sum) { return sqrt(sum) * op->per_tau; }

// What follows is measured by the model itself, whatever a fixed point around the method has made of the operator for now.

// The gradient without De Saxce's bias of the last renewal.
SAND_INLINE Row contact_unbiased(const Op *op, ContactRef ref, Row g) {
#if SAND_LOCAL
    return row_add_normal(op, ref, g, -op->de_saxce[contact_index(ref)]);
#else
    return (void)op, (void)ref, g;
#endif
}

#if SAND_LOCAL
// What friction could dissipate at these velocities, over the normal impulse: De Saxce's bias.
SAND_INLINE real contact_dissipation(const Op *op, ContactRef ref, Row u) {
    real sliding = contact_mu(op, ref) * section_support(op, row_force(u));
#if SAND_ROLLING
    return sliding + rolling_dissipation(op, ref, u);
#else
    return sliding;
#endif
}
#endif

// The velocity that the impulse is complementary to: under Coulomb's law with De Saxce's bias of this very velocity, in
// which the normal velocity is raised by what friction could dissipate.
SAND_INLINE Row contact_dual(const Op *op, ContactRef ref, Row u) {
#if SAND_LOCAL
    if (op->law) u = row_add_normal(op, ref, u, contact_dissipation(op, ref, u));
#endif
    return (void)op, (void)ref, u;
}

// P_K(y), where under Coulomb's law K is the cone of the section.
SAND_INLINE Row contact_project_by_law(const Op *op, ContactRef ref, Row y) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return row_of(joint_project(op, ref, row_force(y)));
#endif
#if SAND_LOCAL && !SAND_ROLLING // with torques K is a cone in any case
    if (op->law) return section_cone(op, y, contact_mu(op, ref), contact_cone_factor(op, ref));
#endif
    return contact_project(op, ref, y);
}

// The squared natural map of a contact with the step t, |x - P(x - t u)|^2; under Coulomb's law on the cone of the section.
// Written as t u + (y - P(y)), y = x - t u: where y is admissible this is t u exactly, while x - P(y) would round a velocity
// away under impulses that have grown without bound.
SAND_INLINE real contact_natural_map(const Op *op, ContactRef ref, Row x, Row u, real t) {
    Row y = row_madd(x, -t, u);
    Row z = contact_project_by_law(op, ref, y);
    Row e = row_madd(row_sub(y, z), t, u);
    return row_dot(e, e);
}

// The same in SI units with the step 1, and the square of a velocity: there torques are not at the arm of the contact.
SAND_INLINE real contact_plain_map(const Op *op, ContactRef ref, Row x, Row u) {
#if SAND_ROLLING
    if (!contact_is_joint(op, ref)) {
        Row v = rolling_plain_velocity(op, ref, u), y = row_sub(rolling_plain_impulse(op, ref, x), v);
        Row e = row_add(row_sub(y, rolling_plain_project(op, ref, y)), v);
        return row_dot(e, e);
    }
#endif
    return contact_natural_map(op, ref, x, u, 1);
}
SAND_INLINE real contact_plain_square(const Op *op, ContactRef ref, Row u) {
#if SAND_ROLLING
    u = rolling_plain_velocity(op, ref, u);
#endif
    return (void)op, (void)ref, row_dot(u, u);
}

typedef struct Measure {
    double residual, objective, complementarity;
    double relative, r_norm;    // see SandMetrics
    double blur, relative_blur; // see SandEvidence
} Measure;

// Rounding of float: what one operation leaves, times the operations behind a figure. It is far below every tolerance in
// double.
#define BLUR (sizeof(real) == sizeof(float) ? 2.4e-7 : 0.0)

// The speeds that a contact's gradient is a difference of, m/s.
SAND_INLINE real contact_speed(const Op *op, ContactRef ref) {
    const Body *a = &op->free[SAND_FIXED(&op->a[contact_index(ref)])],
               *b = &op->free[SAND_FIXED(&op->b[contact_index(ref)])];
    Vec va = vec_of(a->v), vb = vec_of(b->v), wa = vec_of(a->w), wb = vec_of(b->w);
#if SAND_RADIAL
    real arm_a = a->w[3] * a->w[3], arm_b = b->w[3] * b->w[3];
#else
    Vec a_arm = contact_arm_a(op, ref), b_arm = contact_arm_b(op, ref);
    real arm_a = vec_dot(a_arm, a_arm), arm_b = vec_dot(b_arm, b_arm);
#endif
    return real_sqrt(vec_dot(va, va) + vec_dot(vb, vb) + arm_a * vec_dot(wa, wa) + arm_b * vec_dot(wb, wb));
}

// The scale of what rounding hides of a contact's velocity, m/s: impulses and speeds that may all but cancel.
SAND_INLINE real contact_scale(const Op *op, ContactRef ref, Row x, Row r) {
    real push = contact_diagonal(op, ref) * real_sqrt(row_dot(x, x));
    return push + contact_speed(op, ref) + real_sqrt(row_dot(r, r));
}

// One contact of x. Interleaved, an iterate has eight numbers a contact (SAND_OWNS_PAIRS).
SAND_INLINE Row row_load_from(const real *x, ContactRef ref, bool paired) {
#if SAND_VEC4_ROWS
    if (paired) return vec_of_vec4(vec4_load(x + 8 * contact_index(ref)));
#endif
    return (void)paired, row_load(x, ref);
}

// Measures x, whose velocities are in `body`.
SAND_HOT Measure measure_from(Worker *w, const Op *op, const real *x, bool paired, const Body *body) {
    enum { RESIDUAL, OBJECTIVE, COMPLEMENTARITY, RELATIVE, R, X, SCALE, SUMS };
    Sum sum;
    sum_open(w, &sum, SUMS, 1u << COMPLEMENTARITY);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load_from(x, ref, paired);
        Row u = contact_unbiased(op, ref, contact_gradient_from(op, body, ref)), dual = contact_dual(op, ref, u);
        Row r = contact_unbiased(op, ref, contact_gradient_from(op, op->free, ref));
        SAND_ADD(sum, ref, RESIDUAL, contact_natural_map(op, ref, xi, dual, (real)op->tau));
        SAND_ADD(sum, ref, OBJECTIVE, (real)0.5 * (row_dot(xi, u) + row_dot(xi, r)));
        SAND_MAX(sum, ref, COMPLEMENTARITY, real_abs(row_dot(xi, dual)));
        SAND_ADD(sum, ref, RELATIVE, contact_plain_map(op, ref, xi, dual));
        SAND_ADD(sum, ref, R, contact_plain_square(op, ref, r));
        if (BLUR > 0) {
            real scale = contact_scale(op, ref, xi, r);
            SAND_ADD(sum, ref, X, row_dot(xi, xi));
            SAND_ADD(sum, ref, SCALE, scale * scale);
        }
    }
    sum_total(w, &sum);
    Measure m;
    m.residual = residual_of(op, sum.total[RESIDUAL]);
    m.objective = sum.total[OBJECTIVE];
    m.complementarity = sum.total[COMPLEMENTARITY];
    m.r_norm = sqrt(sum.total[R]);
    m.relative = sqrt(sum.total[RELATIVE]) / (m.r_norm > 0 ? m.r_norm : 1);
    double impulses = BLUR * sqrt(sum.total[X]), velocities = BLUR * sqrt(sum.total[SCALE]);
    m.blur = impulses * op->per_tau + velocities;
    m.relative_blur = (impulses + velocities) / (m.r_norm > 0 ? m.r_norm : 1);
    return m;
}

// to := from + times the free velocities, of what moves.
SAND_HOT void add_free(Worker *w, const Op *op, const Body *from, real times, Body *to) {
    SAND_FOR_EACH(w, k, op->dynamic_count) {
        for (int c = 0; c < 3; c++) to[k].v[c] = from[k].v[c] + times * op->free[k].v[c];
        for (int c = 0; c < 3; c++) to[k].w[c] = from[k].w[c] + times * op->free[k].w[c];
    }
    sand_barrier(w);
}

// What a method that keeps its own residual knows: residual and objective alone, in a third of the time. Under Coulomb's law
// the residual is another one.
SAND_HOT Measure measure_brief(Worker *w, const Op *op, const real *x, const Body *body) {
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_GRADIENTS_AT(w, i, op, body, x, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = SAND_GRADIENT(op, ref);
        SAND_ADD(sum, ref, 0, SAND_RESIDUAL(op, ref, xi, gi));
        SAND_ADD(sum, ref, 1, (real)0.5 * row_dot(xi, gi));
    }
    SAND_FOR_GRADIENTS(w, i, op, op->free, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        SAND_ADD(sum, ref, 1, (real)0.5 * row_dot(row_load(x, ref), SAND_GRADIENT(op, ref)));
    }
    sum_total(w, &sum);
    Measure m = {residual_of(op, sum.total[0]), sum.total[1], 0, NAN, NAN, 0, 0};
    return m;
}

// Measures x without touching what a method works on.
SAND_KERNEL Measure measure(Worker *w, const Op *op, const real *x, bool paired) {
    if (paired)
        gather_bodies_strided(w, op, x, 8, op->free, op->measured);
    else
        gather_bodies_of(w, op, x, op->free, op->measured);
    return measure_from(w, op, x, paired, op->measured);
}

// q(x) = x'(g + r) / 2, where the velocities of x are in op->body.
SAND_HOT double objective_of(Worker *w, const Op *op, const real *x) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        SAND_ADD(sum, ref, 0, (real)0.5 * row_dot(row_load(x, ref), SAND_GRADIENT(op, ref)));
    }
    SAND_FOR_GRADIENTS(w, i, op, op->free, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        SAND_ADD(sum, ref, 0, (real)0.5 * row_dot(row_load(x, ref), SAND_GRADIENT(op, ref)));
    }
    sum_total(w, &sum);
    return sum.total[0];
}
