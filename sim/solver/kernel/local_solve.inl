// SPDX-License-Identifier: MIT
// The problem of one contact alone: how gauss-seidel and ngs relax a contact exactly, in its own basis.
#pragma once
#include "sim/solver/kernel/gather.inl"

#if SAND_RADIAL
// The normal entry of N_ii: a normal impulse does not turn spheres.
SAND_INLINE real contact_normal_diagonal(const Op *op, ContactRef ref) {
    int a = op->a[contact_index(ref)], b = op->b[contact_index(ref)];
    return (a < op->dynamic_count ? op->inverse_mass[a] : (real)0) + (b < op->dynamic_count ? op->inverse_mass[b] : (real)0);
}

// The entry across the normal, given that along it; the mean of the three is the mean diagonal.
SAND_INLINE real spheres_across(const Op *op, ContactRef ref, real along) {
    return contact_has_friction(op, ref) ? (real)1.5 * contact_diagonal(op, ref) - (real)0.5 * along : along;
}

// The impulse x of a contact whose gradient is g, relaxed until it solves the contact alone: N_ii is diagonal, with one
// entry along the normal and one, twice, across it, and in that metric the projection of x - N_ii^-1 g is the solution.
// omega: of that step; the objective falls below 2.
SAND_INLINE Row relax_spheres(const Op *op, ContactRef ref, Row x, Row g, real omega) {
    real along = contact_normal_diagonal(op, ref), across = spheres_across(op, ref, along);
    real ratio = across / along, more = row_normal(op, ref, g) * (omega / across - omega / along);
    return contact_project_by(op, ref, row_madd(x, -omega / across, g), more, ratio, real_sqrt(ratio));
}
#else
// The velocity at the end of a body's arm for an impulse there.
SAND_INLINE Vec arm_response(const Op *op, int k, Vec arm, Vec impulse) {
    if (k >= op->dynamic_count) return vec_make(0, 0, 0);
    return vec_madd(vec_cross(body_turn(op, k, vec_cross(arm, impulse)), arm), op->inverse_mass[k], impulse);
}

#if SAND_JOINTS
// The spin of a body for an angular impulse.
SAND_INLINE Vec turn_response(const Op *op, int k, Vec impulse) {
    return k < op->dynamic_count ? body_turn(op, k, impulse) : vec_make(0, 0, 0);
}
#endif

// The normal entry of N_ii.
SAND_INLINE real contact_normal_diagonal(const Op *op, ContactRef ref) {
    Vec n = contact_normal(op, ref);
    return vec_dot(n, vec_add(arm_response(op, op->a[contact_index(ref)], contact_arm_a(op, ref), n),
                              arm_response(op, op->b[contact_index(ref)], contact_arm_b(op, ref), n)));
}
#endif

#if SAND_LOCAL

// The diagonal block N_ii, which is symmetric: the velocity at the contact for a unit impulse along each axis.
typedef struct DiagonalBlock {
    real n, n1, n2;     // along the normal: of the normal impulse, of the two tangential ones
    real t11, t12, t22; // along the tangents, of the tangential ones
} DiagonalBlock;

#if SAND_RADIAL
// The arms lie along the normal: only tangential impulses turn spheres.
SAND_INLINE void diagonal_block_add(const Op *op, DiagonalBlock *b, int k, real half) {
    if (k >= op->dynamic_count) return;
    real arm = half + op->free[k].w[3], side = op->inverse_mass[k] + op->inverse_inertia[k] * arm * arm;
    b->n += op->inverse_mass[k];
    b->t11 += side;
    b->t22 += side;
}

SAND_INLINE DiagonalBlock diagonal_block(const Op *op, ContactRef ref) {
    DiagonalBlock b = {0};
    real half = contact_half_gap(op, ref);
    diagonal_block_add(op, &b, op->a[contact_index(ref)], half);
    diagonal_block_add(op, &b, op->b[contact_index(ref)], half);
    return b;
}
#else
SAND_INLINE Vec contact_response(const Op *op, ContactRef ref, Vec impulse) {
#if SAND_JOINTS
    if (contact_is_angular(op, ref))
        return vec_add(turn_response(op, op->a[contact_index(ref)], impulse),
                       turn_response(op, op->b[contact_index(ref)], impulse));
#endif
    if (op->is_matrix) return matrix_own(op, contact_index(ref), impulse);
    return vec_add(arm_response(op, op->a[contact_index(ref)], contact_arm_a(op, ref), impulse),
                   arm_response(op, op->b[contact_index(ref)], contact_arm_b(op, ref), impulse));
}

SAND_INLINE DiagonalBlock diagonal_block(const Op *op, ContactRef ref) {
    ContactBasis basis = basis_of(contact_normal(op, ref));
    Vec n = basis_in(basis, contact_response(op, ref, basis.n)), t1 = basis_in(basis, contact_response(op, ref, basis.t1)),
        t2 = basis_in(basis, contact_response(op, ref, basis.t2));
    DiagonalBlock b = {n.x, t1.x, t2.x, t1.y, t2.y, t2.z};
#if SAND_JOINTS
    b.n += joint_constant(op, ref, JOINT_COMPLIANCE);
#endif
    return b;
}
#endif

// The diagonal blocks are the same in every sweep: they are computed once and kept in two solver vectors.
typedef struct DiagonalBlocks {
    real *normal, *tangents;
} DiagonalBlocks;

SAND_INLINE void diagonal_blocks_store(const DiagonalBlocks *blocks, ContactRef ref, DiagonalBlock b) {
    row_store(blocks->normal, ref, row_of(vec_make(b.n, b.n1, b.n2)));
    row_store(blocks->tangents, ref, row_of(vec_make(b.t11, b.t12, b.t22)));
}

SAND_INLINE DiagonalBlock diagonal_blocks_load(const DiagonalBlocks *blocks, ContactRef ref) {
    Vec n = row_force(row_load(blocks->normal, ref)), t = row_force(row_load(blocks->tangents, ref));
    DiagonalBlock b = {n.x, n.y, n.z, t.x, t.y, t.z};
    return b;
}

// Relaxes the normal row of x; g becomes the velocity afterwards.
SAND_INLINE real relax_normal(const DiagonalBlock *b, real x, Vec *g, real omega) {
    real z = b->n > 0 ? real_max(x - omega * g->x / b->n, 0) : x, d = z - x;
    *g = vec_make(g->x + d * b->n, g->y + d * b->n1, g->z + d * b->n2);
    return z;
}

#if SAND_JOINTS
// Relaxes the rows of a block of a joint one after the other, each within its bounds. Their diagonals may differ by far: a
// step with the mean of them would overshoot.
SAND_INLINE Vec relax_joint(const Op *op, ContactRef ref, const DiagonalBlock *b, Vec x, Vec g, real omega) {
    JointBounds k = joint_bounds(op, ref);
    Vec keep = joint_keeps(op, ref);
    Vec z = x;
    z.x = keep.x > 0 ? real_clamp(x.x - omega * g.x / b->n, k.low.x, k.high.x) : (real)0;
    g.y += (z.x - x.x) * b->n1;
    g.z += (z.x - x.x) * b->n2;
    if (!(keep.y > 0)) return z;
    z.y = real_clamp(x.y - omega * g.y / b->t11, k.low.y, k.high.y);
    g.z += (z.y - x.y) * b->t12;
    z.z = real_clamp(x.z - omega * g.z / b->t22, k.low.z, k.high.z);
    return z;
}
#endif

#if !SAND_ROLLING // there K has no bounds to relax within

// Relaxes one row after the other, each within its bounds.
SAND_INLINE Row relax_rows(const Op *op, ContactRef ref, const DiagonalBlock *b, Row x, Row g, real omega) {
    Row z = x;
    z.x = relax_normal(b, x.x, &g, omega);
    if (!(contact_mu(op, ref) > 0)) return z;
    real r = contact_bound(op, ref, z.x);
    z.y = real_within(x.y - omega * g.y / b->t11, r);
    g.z += (z.y - x.y) * b->t12;
    z.z = real_within(x.z - omega * g.z / b->t22, r);
    return z;
}

// The maximum dissipation problem ([P] eq. 14): the t that minimizes t'At/2 + t'b with |t| <= r, A = (p q; q s), b = (c, d).
// Newton's method in the angle (eq. 15, 16), started from the solution without the bound; it is needed only where the two
// tangents differ. A step that does not descend is halved; the last is one so short that the next would be lost in rounding.
SAND_INLINE void dissipate(real p, real q, real s, real c, real d, real r, real *t1, real *t2) {
    real det = p * s - q * q;
    real x = det > 0 ? (q * d - s * c) / det : -c, y = det > 0 ? (q * c - p * d) / det : -d;
    real length = real_sqrt(x * x + y * y);
    if (length > r) {
        real ca = x / length, sa = y / length;
        real f =
            (real)0.5 * r * (p * ca * ca + 2 * q * ca * sa + s * sa * sa) + c * ca + d * sa; // over r, as all that follows
        bool last = false;
        for (int k = 0; k < 30 && !last; k++) {
            real slope = r * (q * (ca * ca - sa * sa) + (s - p) * ca * sa) + d * ca - c * sa;
            real bend = r * ((s - p) * (ca * ca - sa * sa) - 4 * q * ca * sa) - (c * ca + d * sa);
            real turn = bend > 0 ? -slope / bend : slope > 0 ? (real)-0.5 : (real)0.5;
            turn = real_within(turn, 1);
            last = turn * turn <= REAL_EPSILON;
            for (int half = 0; half < 20; half++, turn *= (real)0.5) {
                real length_of_turn = real_sqrt(1 + turn * turn);
                real cn = (ca - sa * turn) / length_of_turn, sn = (sa + ca * turn) / length_of_turn;
                real fn = (real)0.5 * r * (p * cn * cn + 2 * q * cn * sn + s * sn * sn) + c * cn + d * sn;
                if (!last && fn > f) continue;
                ca = cn;
                sa = sn;
                f = fn;
                break;
            }
        }
        x = r * ca;
        y = r * sa;
    }
    *t1 = x;
    *t2 = y;
}

// Relaxes the normal row, then both tangential rows together.
SAND_INLINE Row relax_dissipation(const Op *op, ContactRef ref, const DiagonalBlock *b, Row x, Row g, real omega) {
    Row z = x;
    z.x = relax_normal(b, x.x, &g, omega);
    if (!(contact_mu(op, ref) > 0)) return z;
    // The velocity without the tangential impulses is what they respond to.
    real c = g.y - b->t11 * x.y - b->t12 * x.z, d = g.z - b->t12 * x.y - b->t22 * x.z;
    dissipate(b->t11, b->t12, b->t22, c, d, contact_bound(op, ref, z.x), &z.y, &z.z);
    return z;
}

#endif // !SAND_ROLLING

#endif // SAND_LOCAL
