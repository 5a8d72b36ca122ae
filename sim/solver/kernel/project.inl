// SPDX-License-Identifier: MIT
// Projections on the set K of admissible impulses, and the projected gradient step in the metric of the preconditioner. The
// circular cone in world coordinates is here; friction.inl has the other models, in the basis of their contact.
#pragma once
#include "sim/solver/kernel/op.inl"
#if SAND_LAYOUT_AOS
#include "sim/solver/kernel/layout_aos.inl"
#else
#include "sim/solver/kernel/layout_soa.inl"
#endif
#if SAND_JOINTS
#include "sim/solver/kernel/joint.inl"
#endif
#if SAND_ROLLING
#include "sim/solver/kernel/rolling.inl"
#endif

// x + more n, prepared for its projection.
SAND_INLINE ConeHalf cone_half(Vec x, real more, Vec n) {
    ConeHalf half;
    real xn = vec_dot(x, n);
    half.t = vec_madd(x, -xn, n);
    half.square = vec_dot(half.t, half.t);
    half.xn = xn + more;
    return half;
}

// The nearest point in the friction cone around the unit vector n, where the square of a distance across n counts `ratio`
// times as much as along it. Without branches, so that lanes stay together. cone_factor = 1 / (1 + ratio mu^2).
SAND_INLINE Vec cone_project_half(ConeHalf half, Vec n, real mu, real ratio, real cone_factor) {
    real per_xt, xt = real_length(half.square, &per_xt), xn = half.xn;
    real q = real_ma(ratio * mu, xt, xn) * cone_factor; // normal part of the nearest point on the surface
    q = real_max(q, 0);                                 // below zero: in the polar cone, whose nearest point is the tip
    real side = mu * q * per_xt;                        // the factor that t shrinks by
    bool within = (xt <= mu * xn) & (xn >= 0);          // the second condition is for mu = 0
    real normal = within ? xn : q;
    side = within ? (real)1 : side;
    return vec_madd(vec_scale(side, half.t), normal, n);
}

// The same for the point x + more n.
SAND_INLINE Vec cone_project_by(Vec x, real more, Vec n, real mu, real ratio, real cone_factor) {
    return cone_project_half(cone_half(x, more, n), n, mu, ratio, cone_factor);
}
// The factor of a cone in a metric in which the square of a distance across its normal counts `ratio` times.
SAND_INLINE real cone_factor_by(real mu, real ratio) { return real_rough_inverse(real_ma(ratio * mu, mu, 1)); }
SAND_INLINE Vec cone_project(Vec x, Vec n, real mu, real cone_factor) {
    return cone_project_by(x, 0, n, mu, 1, cone_factor);
}

#if SAND_LOCAL
#include "sim/solver/kernel/friction.inl"

// The size of a contact's section for this normal impulse, where K is not a cone.
SAND_INLINE real contact_bound(const Op *op, ContactRef ref, real normal) {
    return op->set == FRICTION_INSIDE ? contact_mu(op, ref) * normal : op->bound[contact_index(ref)];
}
#endif

// P_K(x) of one contact.
SAND_INLINE Row contact_project(const Op *op, ContactRef ref, Row x) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return row_of(joint_project(op, ref, row_force(x)));
#endif
#if SAND_ROLLING
    return rolling_project(op, ref, x, 1, 1);
#elif SAND_LOCAL
    if (op->set == FRICTION_CONE) return section_cone(op, x, contact_mu(op, ref), contact_cone_factor(op, ref));
    x.x = real_max(x.x, 0);
    return section_project(op, x, contact_bound(op, ref, x.x));
#elif SAND_ROWS == 3
    return cone_project(x, contact_normal(op, ref), contact_mu(op, ref), contact_cone_factor(op, ref));
#else
    return (void)op, (void)ref, real_max(x, 0);
#endif
}

// A step against the gradient g, projected.
SAND_INLINE Row contact_descend(const Op *op, ContactRef ref, Row x, Row g, real step) {
#if SAND_ROLLING
    if (!contact_is_joint(op, ref)) return rolling_descend(op, ref, x, g, step);
#endif
    return contact_project(op, ref, row_madd(x, -step, g));
}

// A step of `step` times the inverse diagonal against the gradient g, projected: the block relaxed by itself.
SAND_INLINE Row contact_relaxed(const Op *op, ContactRef ref, Row x, Row g, real step) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref))
        return row_of(joint_project(
            op, ref, vec_madd(row_force(x), -step, vec_over(row_force(g), joint_constants(op, ref, JOINT_DIAGONAL)))));
#endif
    return contact_descend(op, ref, x, g, step * contact_inverse_diagonal(op, ref));
}

// The part of r along the normal.
SAND_INLINE real row_normal(const Op *op, ContactRef ref, Row r) {
#if SAND_ROWS == 1
    return (void)op, (void)ref, r;
#elif SAND_LOCAL
    return (void)op, (void)ref, row_force(r).x;
#else
    return vec_dot(r, contact_normal(op, ref));
#endif
}

// r + more n
SAND_INLINE Row row_add_normal(const Op *op, ContactRef ref, Row r, real more) {
#if SAND_ROWS == 1
    return (void)op, (void)ref, r + more;
#elif SAND_ROLLING
    r.force.x += more;
    return (void)op, (void)ref, r;
#elif SAND_LOCAL
    return (void)op, (void)ref, vec_make(r.x + more, r.y, r.z);
#else
    return vec_madd(r, more, contact_normal(op, ref));
#endif
}

// --- the preconditioner -------------------------------------------------------------------------------------

SAND_INLINE Preconditioner preconditioner_make(const Op *op, bool diagonal) {
    Preconditioner p;
    p.diagonal = diagonal ? (real)1 : (real)0;
    p.mean = diagonal ? (real)0 : (real)op->per_tau;
    p.inverse_mean = diagonal ? (real)0 : (real)op->tau;
    p.ratio = diagonal ? op->ratio : (real)1;
    p.root = real_sqrt(p.ratio);
    real along = 3 / (1 + 2 * p.ratio);
    p.across = p.ratio * along;
    p.more = along - p.across;
    p.more_bare = 1 - p.across;
    p.per_across = 1 / p.across;
    p.per_more = 1 / along - p.per_across;
    p.per_more_bare = 1 - p.per_across;
    return p;
}

// The preconditioner for a loop in which a compiler is to know, where it is `plain`, that it is P_DIAGONAL and that every
// contact has friction.
SAND_INLINE Preconditioner preconditioner_of(const Op *op, int which, bool plain) {
    Preconditioner p = op->p[which];
    if (plain) {
        p.diagonal = 1;
        p.more_bare = p.more;
        p.per_more_bare = p.per_more;
    }
    return p;
}
SAND_INLINE real preconditioner_at(const Op *op, Preconditioner p, ContactRef ref) {
    return p.diagonal > 0 ? contact_diagonal(op, ref) : p.mean;
}
SAND_INLINE real preconditioner_inverse_at(const Op *op, Preconditioner p, ContactRef ref) {
    return p.diagonal > 0 ? contact_inverse_diagonal(op, ref) : p.inverse_mean;
}
SAND_INLINE bool contact_has_friction(const Op *op, ContactRef ref) { return SAND_ROWS == 3 && contact_mu(op, ref) > 0; }

// The same, or the rows of a joint across its axis.
SAND_INLINE bool contact_has_tangents(const Op *op, ContactRef ref) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return joint_constant(op, ref, JOINT_ACROSS) > 0;
#endif
    return contact_has_friction(op, ref);
}

// d'Pd of one contact.
SAND_INLINE real preconditioner_square(const Op *op, Preconditioner p, ContactRef ref, Row d) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return vec_dot(row_force(d), vec_times(joint_metric(op, p, ref), row_force(d)));
#endif
#if SAND_ROLLING
    return rolling_square(op, p, ref, d);
#else
    real n = row_normal(op, ref, d), more = contact_has_friction(op, ref) ? p.more : p.more_bare;
    return preconditioner_at(op, p, ref) * real_ma(more * n, n, p.across * row_dot(d, d));
#endif
}

// y'P^-1 y of one contact.
SAND_INLINE real preconditioner_inverse_square(const Op *op, Preconditioner p, ContactRef ref, Row y) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return vec_dot(row_force(y), vec_over(row_force(y), joint_metric(op, p, ref)));
#endif
#if SAND_ROLLING
    return rolling_inverse_square(op, p, ref, y);
#else
    real n = row_normal(op, ref, y), more = contact_has_friction(op, ref) ? p.per_more : p.per_more_bare;
    return preconditioner_inverse_at(op, p, ref) * real_ma(more * n, n, p.per_across * row_dot(y, y));
#endif
}

#if !SAND_ROLLING
// x - alpha P^-1 g of one contact. P^-1 differs along the normal: the step is made with the factor of the tangents in all
// directions, and `more` is what the normal component lacks.
typedef struct Stepped {
    Row x;
    real more;
} Stepped;
SAND_INLINE Stepped preconditioned_step(const Op *op, Preconditioner p, ContactRef ref, Row x, real alpha, Row g) {
    real t = -alpha * preconditioner_inverse_at(op, p, ref);
    real more = contact_has_friction(op, ref) ? p.per_more : p.per_more_bare;
    Stepped s = {row_madd(x, t * p.per_across, g), t * more * row_normal(op, ref, g)};
    return s;
}

// The point of K nearest to x + more n, where the square of a distance across n counts `ratio` times as much as along it;
// root is the square root of ratio. Where K is not a cone, normal and tangential parts are projected separately, and the
// metric makes no difference.
SAND_INLINE Row contact_project_by(const Op *op, ContactRef ref, Row x, real more, real ratio, real root) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return joint_project(op, ref, row_add_normal(op, ref, x, more));
#endif
#if SAND_ROWS == 3 && !SAND_LOCAL
    real mu = contact_mu(op, ref);
    return (void)root, cone_project_by(x, more, contact_normal(op, ref), mu, ratio, cone_factor_by(mu, ratio));
#else
    Row y = row_add_normal(op, ref, x, more);
#if SAND_LOCAL
    if (op->set == FRICTION_CONE) { // with the tangents stretched the metric is the Euclidean one
        real mu = root * contact_mu(op, ref);
        Vec z = section_cone(op, vec_make(y.x, root * y.y, root * y.z), mu, 1 / (1 + mu * mu));
        return vec_make(z.x, z.y / root, z.z / root);
    }
#endif
    return (void)ratio, (void)root, contact_project(op, ref, y);
#endif
}
#endif

#if SAND_ROWS == 3 && !SAND_LOCAL
// The factor of a contact's cone in the metric of P.
SAND_INLINE real preconditioner_cone_factor(const Op *op, Preconditioner p, ContactRef ref) {
#if !SAND_LAYOUT_AOS
    if (p.diagonal > 0) return contact_constant(op, ref, CONTACT_STEP_FACTOR);
#endif
    return cone_factor_by(contact_mu(op, ref), p.ratio);
}
#endif

// A projected gradient step: the point of K nearest to x - alpha P^-1 g in the metric of P.
SAND_INLINE Row contact_step(const Op *op, ContactRef ref, Row x, Row g, real alpha, Preconditioner p) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref))
        return row_of(
            joint_project(op, ref, vec_madd(row_force(x), -alpha, vec_over(row_force(g), joint_metric(op, p, ref)))));
#endif
#if SAND_ROLLING
    return rolling_step(op, ref, x, g, alpha, p);
#else
    Stepped s = preconditioned_step(op, p, ref, x, alpha, g);
#if SAND_ROWS == 3 && !SAND_LOCAL
    return cone_project_by(s.x, s.more, contact_normal(op, ref), contact_mu(op, ref), p.ratio,
                           preconditioner_cone_factor(op, p, ref));
#else
    return contact_project_by(op, ref, s.x, s.more, p.ratio, p.root);
#endif
#endif
}

#if SAND_HALVED_CONES
// The same in two halves.
SAND_INLINE ConeHalf contact_step_half(const Op *op, ContactRef ref, Row x, Row g, real alpha, Preconditioner p) {
    Stepped s = preconditioned_step(op, p, ref, x, alpha, g);
    return cone_half(s.x, s.more, contact_normal(op, ref));
}
SAND_INLINE Row contact_step_rest(const Op *op, ContactRef ref, ConeHalf half, Preconditioner p) {
    return cone_project_half(half, contact_normal(op, ref), contact_mu(op, ref), p.ratio,
                             preconditioner_cone_factor(op, p, ref));
}
#endif
