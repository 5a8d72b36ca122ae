// SPDX-License-Identifier: MIT
// Packing: how a problem is laid out for the solver, contact by contact and body by body; one source for the CPU and the
// GPU.
#pragma once
#include "sim/solver/kernel/operator.inl"
#include "sandglass/problem.h"

// Adds one body's share of trace N_ii: over three rows, and over the normal row alone.
SAND_INLINE void contact_trace(const SandProblemBody *body, SandVec3 arm, SandVec3 n, double *all, double *normal) {
    const double *j = body->inverse_inertia;
    SandVec3 c = v3_cross(arm, n), jc = m3_apply_symmetric(j, c), ja = m3_apply_symmetric(j, arm);
    *all += 3 * body->inverse_mass + (j[0] + j[1] + j[2]) * v3_dot(arm, arm) - v3_dot(arm, ja);
    *normal += body->inverse_mass + v3_dot(c, jc);
}

// The same for a sphere, whose arm lies along the normal.
SAND_INLINE void radial_trace(double inverse_mass, double inverse_inertia, double arm, double *all, double *normal) {
    *all += 3 * inverse_mass + 2 * inverse_inertia * arm * arm;
    *normal += inverse_mass;
}

// The mean over the rows that the contact has.
SAND_INLINE double trace_mean(double all, double normal, double mu) {
    double d = SAND_ROWS == 3 && mu > 0 ? all / 3 : normal;
    return d > 0 ? d : 1;
}

// The mean diagonal of N_ii. `times_a` and `times_b` count a body more than once, for the Jacobi batch.
SAND_INLINE double contact_mean_diagonal(const SandProblemBody *bodies, const SandContact *c, int times_a, int times_b) {
    double all_a = 0, normal_a = 0, all_b = 0, normal_b = 0;
    contact_trace(&bodies[c->a], c->arm_a, c->normal, &all_a, &normal_a);
    contact_trace(&bodies[c->b], c->arm_b, c->normal, &all_b, &normal_b);
    return trace_mean(times_a * all_a + times_b * all_b, times_a * normal_a + times_b * normal_b, c->mu);
}

// Sets the scale of the problem from the number of its contacts and the sum of their mean diagonals.
SAND_INLINE void op_scale(Op *op, double contacts, double diagonals) {
    op->tau = contacts > 0 ? contacts / diagonals : 1;
    op->per_tau = 1 / op->tau;
    op->p[P_UNIFORM] = preconditioner_make(op, false);
    op->p[P_DIAGONAL] = preconditioner_make(op, true);
}

SAND_INLINE void pack_vec4(real *out, SandVec3 v, double fourth) {
    vec4_write(out, (real)v.x, (real)v.y, (real)v.z, (real)fourth);
}

#if SAND_JOINTS
// One body's share of the diagonal of N_ii along d.
SAND_INLINE double joint_share(const SandProblemBody *body, SandVec3 arm, SandVec3 d, bool angular) {
    SandVec3 c = angular ? d : v3_cross(arm, d);
    return (angular ? 0 : body->inverse_mass) + v3_dot(c, m3_apply_symmetric(body->inverse_inertia, c));
}

// The axes of a block in double; as basis_of.
SAND_INLINE void joint_axes(SandVec3 n, SandVec3 *axes) {
    double sign = n.z < 0 ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    axes[0] = n;
    axes[1] = v3_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    axes[2] = v3_make(b, sign + n.y * n.y * a, -n.y);
}

// The mean of the diagonals of the rows that a block has, which go to `out` with all its other constants.
SAND_INLINE double joint_pack(const SandProblemBody *bodies, const SandContact *c, const SandJointRows *j, double *out) {
    SandVec3 axes[3];
    double sum = 0, rows = 0;
    joint_axes(c->normal, axes);
    out[JOINT_KIND] = j->angular ? 2 : 1;
    out[JOINT_LOW] = j->low;
    out[JOINT_HIGH] = j->high;
    out[JOINT_ACROSS] = j->across;
    out[JOINT_COMPLIANCE] = j->compliance;
    for (int k = 0; k < 3; k++) {
        bool exists = k == 0 ? j->low < j->high : j->across > 0;
        double d = joint_share(&bodies[c->a], c->arm_a, axes[k], j->angular) +
                   joint_share(&bodies[c->b], c->arm_b, axes[k], j->angular) + (k == 0 ? j->compliance : 0);
        out[JOINT_BIAS + k] = exists ? v3_dot(j->bias, axes[k]) : 0;
        out[JOINT_DIAGONAL + k] = d > 0 ? d : 1;
        if (exists) sum += out[JOINT_DIAGONAL + k];
        if (exists) rows++;
    }
    return rows > 0 ? sum / rows : 1;
}
#endif

// Where contacts are packed to: the arrays behind the const pointers of Op, and the first solver vector.
typedef struct PackTarget {
    int *a, *b;
    real *constant, *record, *arm_a_record, *arm_b_record, *start; // as in Op
    real *bounce;                                                  // the same; NULL: no contact has one
} PackTarget;

// The constants of a contact as the layout has them.
SAND_INLINE void pack_constants(real *constant, ContactRef ref, const SandContact *c, double d) {
#if SAND_LAYOUT_AOS
    constant[CONTACT_CONSTANTS * contact_index(ref) + CONTACT_MU] = (real)c->mu;
    constant[CONTACT_CONSTANTS * contact_index(ref) + CONTACT_INVERSE_DIAGONAL] = (real)(1 / d);
#else
    const double numbers[] = {
        // in the order of CONTACT_
        c->normal.x, c->normal.y, c->normal.z, 0.5 * c->gap, c->mu,      1 / d,     d, 1 / (1 + c->mu * c->mu),
        c->arm_a.x,  c->arm_a.y,  c->arm_a.z,  c->arm_b.x,   c->arm_b.y, c->arm_b.z};
    for (int k = 0; k < CONTACT_GAP_BIAS; k++) constant[contact_number(ref, CONTACT_CONSTANTS, k)] = (real)numbers[k];
#endif
}

// Packs contact i: its constants, the mean diagonal d of its N_ii, and its start impulse, which is made feasible where K
// depends on the contact alone.
SAND_INLINE void pack_contact(const PackTarget *to, int64_t i, const SandContact *c, double d, SandVec3 start) {
    ContactRef ref = contact_ref_bare(i);
    to->a[i] = c->a;
    to->b[i] = c->b;
    pack_constants(to->constant, ref, c, d);
    if (to->bounce) to->bounce[i] = (real)c->bounce;
#if SAND_LAYOUT_AOS
    pack_vec4(to->record + 4 * i, c->normal, 0.5 * c->gap);
#endif
#if !SAND_RADIAL
    pack_vec4(to->arm_a_record + 4 * i, c->arm_a, 0);
    pack_vec4(to->arm_b_record + 4 * i, c->arm_b, 0);
#endif
#if SAND_ROWS == 1
    to->start[i] = real_max((real)v3_dot(start, c->normal), 0);
#else
    Vec n = vec_make((real)c->normal.x, (real)c->normal.y, (real)c->normal.z);
#if SAND_LOCAL
    if (c->mu == 0 && !SAND_JOINTS) start = v3_scale(v3_dot(start, c->normal), c->normal); // joints have mu = 0
    row_store(to->start, ref, row_of(basis_in(basis_of(n), vec_make((real)start.x, (real)start.y, (real)start.z))));
#else
    Vec x = vec_make((real)start.x, (real)start.y, (real)start.z);
    row_store(to->start, ref, cone_project(x, n, (real)c->mu, (real)(1 / (1 + c->mu * c->mu))));
#endif
#endif
}

#if SAND_JOINTS
// Packs what contact i has as a block of a joint: the numbers of joint_pack, all zero for a contact. After pack_contact.
SAND_INLINE void pack_joint(const PackTarget *to, int64_t i, const double *numbers) {
    ContactRef ref = contact_ref_bare(i);
    for (int k = 0; k < JOINT_CONSTANTS; k++) {
#if SAND_LAYOUT_AOS
        to->constant[CONTACT_CONSTANTS * contact_index(ref) + CONTACT_JOINT + k] = (real)numbers[k];
#else
        to->constant[contact_number(ref, CONTACT_CONSTANTS, CONTACT_JOINT + k)] = (real)numbers[k];
#endif
    }
    to->arm_a_record[4 * i + 3] = to->arm_b_record[4 * i + 3] = numbers[JOINT_KIND] > 1 ? (real)1 : (real)0;
}
#endif

#if SAND_ROLLING
// The arm at which the torque rows of a contact have the mean diagonal d of its force rows.
SAND_INLINE double rolling_arm(const SandProblemBody *bodies, const SandContact *c, double d) {
    const double *a = bodies[c->a].inverse_inertia, *b = bodies[c->b].inverse_inertia;
    double turning = (a[0] + a[1] + a[2] + b[0] + b[1] + b[2]) / 3;
    return turning > 0 ? sqrt(d / turning) : 1;
}

// Packs the rolling and spinning friction of contact i, with torques at this arm, and the torque that it starts from. After
// pack_contact. The friction of a block of a joint is zero.
SAND_INLINE void pack_rolling(const PackTarget *to, int64_t i, const SandContact *c, double arm, SandVec3 start) {
    ContactRef ref = contact_ref_bare(i);
    const double numbers[ROLLING_CONSTANTS] = {arm, c->rolling / arm, c->spinning / arm};
    for (int k = 0; k < ROLLING_CONSTANTS; k++) {
#if SAND_LAYOUT_AOS
        to->constant[CONTACT_CONSTANTS * contact_index(ref) + CONTACT_ROLLING + k] = (real)numbers[k];
#else
        to->constant[contact_number(ref, CONTACT_CONSTANTS, CONTACT_ROLLING + k)] = (real)numbers[k];
#endif
    }
    Vec n = vec_make((real)c->normal.x, (real)c->normal.y, (real)c->normal.z);
    SandVec3 torque = v3_scale(1 / arm, start);
    Row r = row_load(to->start, ref);
    r.torque = basis_in(basis_of(n), vec_make((real)torque.x, (real)torque.y, (real)torque.z));
    row_store(to->start, ref, r);
}
#endif

// The free motion of a body.
SAND_INLINE Body pack_body(const SandProblemBody *b) {
    Body body;
    pack_vec4(body.v, b->velocity, 0);
    pack_vec4(body.w, b->spin, b->radius);
    return body;
}
