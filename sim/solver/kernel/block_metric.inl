// SPDX-License-Identifier: MIT
// A diagonal metric above the block N_ii of a contact, along and across its normal. A projected step in it never overshoots,
// which a step by the mean diagonal may where bodies are not spheres; between two spheres the metric is the block.
#pragma once
#include "sim/solver/kernel/local_solve.inl"

#if !SAND_ROLLING
// The metric of a contact's block, along and across the normal.
typedef struct BlockMetric {
    real along, across;
} BlockMetric;

// The parts that body k counts as in a block: one, or as many as it has contacts (mass splitting). Boundaries do not move.
SAND_INLINE real body_parts(const Op *op, int k, bool split) {
    if (k >= op->dynamic_count) return 0;
    return split ? (real)body_whole_degree(op, k) : (real)1;
}

#if SAND_RADIAL
SAND_INLINE void metric_add(const Op *op, BlockMetric *m, int k, bool split, real half_gap) {
    if (k >= op->dynamic_count) return;
    real arm = half_gap + op->free[k].w[3], count = body_parts(op, k, split);
    m->along += count * op->inverse_mass[k];
    m->across += count * (op->inverse_mass[k] + op->inverse_inertia[k] * arm * arm);
}

SAND_INLINE BlockMetric block_metric(const Op *op, ContactRef ref, bool split) {
    BlockMetric m = {0, 0};
    metric_add(op, &m, op->a[contact_index(ref)], split, contact_half_gap(op, ref));
    metric_add(op, &m, op->b[contact_index(ref)], split, contact_half_gap(op, ref));
    return m;
}
#else
#if SAND_JOINTS
// The same of a block of a joint: its spring is not split.
SAND_INLINE Vec joint_response(const Op *op, ContactRef ref, bool split, Vec impulse) {
    int a = op->a[contact_index(ref)], b = op->b[contact_index(ref)];
    bool angular = contact_is_angular(op, ref);
    Vec n = contact_normal(op, ref);
    Vec va = angular ? turn_response(op, a, impulse) : arm_response(op, a, contact_arm_a(op, ref), impulse);
    Vec vb = angular ? turn_response(op, b, impulse) : arm_response(op, b, contact_arm_b(op, ref), impulse);
    Vec v = vec_madd(vec_scale(body_parts(op, a, split), va), body_parts(op, b, split), vb);
    return vec_madd(v, joint_constant(op, ref, JOINT_COMPLIANCE) * vec_dot(n, impulse), n);
}
#endif

// The velocity at a contact for an impulse there: the block times the impulse.
SAND_INLINE Vec block_response(const Op *op, ContactRef ref, bool split, Vec impulse) {
    int a = op->a[contact_index(ref)], b = op->b[contact_index(ref)];
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return joint_response(op, ref, split, impulse);
#endif
    Vec va = arm_response(op, a, contact_arm_a(op, ref), impulse), vb = arm_response(op, b, contact_arm_b(op, ref), impulse);
    return vec_madd(vec_scale(body_parts(op, a, split), va), body_parts(op, b, split), vb);
}

// A metric above the block W = (w c'; c T) in normal and tangents: w + |c| along, and across the largest eigenvalue of T
// plus |c|. Its trace and its norm give T without a basis of the tangents.
SAND_INLINE BlockMetric block_metric(const Op *op, ContactRef ref, bool split) {
    Vec n = contact_normal(op, ref), wn = block_response(op, ref, split, n);
    BlockMetric m = {vec_dot(n, wn), 0};
#if SAND_ROWS == 3
    Vec x = block_response(op, ref, split, vec_make(1, 0, 0)), y = block_response(op, ref, split, vec_make(0, 1, 0)),
        z = block_response(op, ref, split, vec_make(0, 0, 1)), c = vec_madd(wn, -m.along, n);
    if (!contact_has_tangents(op, ref)) return m.across = m.along, m;
    real cc = vec_dot(c, c), trace = x.x + y.y + z.z - m.along;
    real square = vec_dot(x, x) + vec_dot(y, y) + vec_dot(z, z) - m.along * m.along - 2 * cc;
    real coupling = real_sqrt(cc), spread = real_sqrt(real_max(2 * square - trace * trace, 0));
    m.along += coupling;
    m.across = (real)0.5 * (trace + spread) + coupling;
#endif
    return m;
}
#endif

// How a metric is stored in a vector; padding has no bodies, and any metric will do.
SAND_INLINE Row metric_pack(BlockMetric m) {
    real along = m.along > 0 ? m.along : (real)1;
#if SAND_ROWS == 3
    real across = m.across > 0 ? m.across : along;
    return vec_make(along, across, real_sqrt(across / along));
#else
    return along;
#endif
}

// A projected step against the gradient g in the metric of a contact.
SAND_INLINE Row metric_step(const Op *op, ContactRef ref, Row metric, Row x, Row g) {
#if SAND_ROWS == 3
    real along = 1 / metric.x, across = 1 / metric.y, root = metric.z;
    return contact_project_by(op, ref, row_madd(x, -across, g), (across - along) * row_normal(op, ref, g), root * root,
                              root);
#else
    return contact_project(op, ref, x - g / metric);
#endif
}
#endif // !SAND_ROLLING
