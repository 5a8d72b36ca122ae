// Mass splitting (Tonge, Benevolenski and Voroshilov 2012).
// Idea: split every body into as many equal sub-bodies as it has contacts, one for each. Contacts then share no sub-body and
// are all solved at once, each exactly; afterwards the sub-bodies of a body get their mean velocity. With d the degree of a
// body, the block of a contact is N_ii with each body's part times d, and the mean of the sub-bodies moves the body by
// exactly M^-1 D x. This is jacobi with a step that needs no damping: the blocks together are above N, since |v_1 + .. +
// v_d|^2 <= d (|v_1|^2 + .. + |v_d|^2), so that the objective falls in every iteration.
// Weakness: a contact yields as if all other contacts of its bodies pushed the same way, and open contacts count as well: as
// slow as jacobi.
//
// The block of two spheres is diagonal in normal and tangents, and the contact is solved by one projection in its metric.
// Other blocks are full: a few projected steps from the last impulse, in a diagonal metric above the block.
#ifndef SAND_METHOD_MASS_SPLITTING_INL
#define SAND_METHOD_MASS_SPLITTING_INL
#include "sim/solver/kernel/kernel.inl"

enum { MASS_SPLITTING_LOCAL }; // parameters
enum { SPLIT_X, SPLIT_BLOCK }; // vectors: impulses, and the metric of each block

typedef struct mass_splitting_State {
    int local; // projected steps on a contact
} mass_splitting_State;

// The metric of a contact's block, along and across the normal.
typedef struct SplitMetric {
    real along, across;
} SplitMetric;

// Sub-bodies of body k; boundaries do not move and are not split.
SAND_INLINE real split_count(const Op *op, int k) {
    return k < op->dynamic_count ? (real)body_whole_degree(op, k) : (real)0;
}

#if SAND_RADIAL
SAND_INLINE void split_add(const Op *op, SplitMetric *m, int k, real half_gap) {
    if (k >= op->dynamic_count) return;
    real arm = half_gap + op->free[k].w[3], count = split_count(op, k);
    m->along += count * op->inverse_mass[k];
    m->across += count * (op->inverse_mass[k] + op->inverse_inertia[k] * arm * arm);
}

SAND_INLINE SplitMetric split_metric(const Op *op, ContactRef ref) {
    SplitMetric m = {0, 0};
    split_add(op, &m, op->a[contact_index(ref)], contact_half_gap(op, ref));
    split_add(op, &m, op->b[contact_index(ref)], contact_half_gap(op, ref));
    return m;
}
#else
#if SAND_JOINTS
// The same of a block of a joint: its spring is not split.
SAND_INLINE Vec split_joint_response(const Op *op, ContactRef ref, Vec impulse) {
    int a = op->a[contact_index(ref)], b = op->b[contact_index(ref)];
    bool angular = contact_is_angular(op, ref);
    Vec n = contact_normal(op, ref);
    Vec va = angular ? turn_response(op, a, impulse) : arm_response(op, a, contact_arm_a(op, ref), impulse);
    Vec vb = angular ? turn_response(op, b, impulse) : arm_response(op, b, contact_arm_b(op, ref), impulse);
    Vec v = vec_madd(vec_scale(split_count(op, a), va), split_count(op, b), vb);
    return vec_madd(v, joint_constant(op, ref, JOINT_COMPLIANCE) * vec_dot(n, impulse), n);
}
#endif

// The velocity of the two sub-bodies at their contact for an impulse there: the block times the impulse.
SAND_INLINE Vec split_response(const Op *op, ContactRef ref, Vec impulse) {
    int a = op->a[contact_index(ref)], b = op->b[contact_index(ref)];
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return split_joint_response(op, ref, impulse);
#endif
    Vec va = arm_response(op, a, contact_arm_a(op, ref), impulse), vb = arm_response(op, b, contact_arm_b(op, ref), impulse);
    return vec_madd(vec_scale(split_count(op, a), va), split_count(op, b), vb);
}

// A metric above the block W = (w c'; c T) in normal and tangents: w + |c| along, and across the largest eigenvalue of T
// plus |c|. Its trace and its norm give T without a basis of the tangents.
SAND_INLINE SplitMetric split_metric(const Op *op, ContactRef ref) {
    Vec n = contact_normal(op, ref), wn = split_response(op, ref, n);
    SplitMetric m = {vec_dot(n, wn), 0};
#if SAND_ROWS == 3
    Vec x = split_response(op, ref, vec_make(1, 0, 0)), y = split_response(op, ref, vec_make(0, 1, 0)),
        z = split_response(op, ref, vec_make(0, 0, 1)), c = vec_madd(wn, -m.along, n);
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
SAND_INLINE Row split_pack(SplitMetric m) {
    real along = m.along > 0 ? m.along : (real)1;
#if SAND_ROWS == 3
    real across = m.across > 0 ? m.across : along;
    return vec_make(along, across, real_sqrt(across / along));
#else
    return along;
#endif
}

// A projected step against the gradient g in the metric of a contact.
SAND_INLINE Row split_step(const Op *op, ContactRef ref, Row metric, Row x, Row g) {
#if SAND_ROWS == 3
    real along = 1 / metric.x, across = 1 / metric.y, root = metric.z;
    return contact_project_by(op, ref, row_madd(x, -across, g), (across - along) * row_normal(op, ref, g), root * root,
                              root);
#else
    return contact_project(op, ref, x - g / metric);
#endif
}

// Solves a contact on its own: the gradient at z is g + W (z - x).
SAND_INLINE Row split_solve(const Op *op, ContactRef ref, Row metric, Row x, Row g, int local) {
    Row z = split_step(op, ref, metric, x, g);
#if SAND_ROWS == 3 && !SAND_RADIAL
    for (int k = 1; k < local; k++) {
        Vec change = split_response(op, ref, contact_impulse(op, ref, row_sub(z, x)));
        z = split_step(op, ref, metric, z, row_add(g, contact_row(op, ref, change)));
    }
#endif
    return (void)local, z;
}

SAND_KERNEL void mass_splitting_start(Worker *w, Solve *s, mass_splitting_State *m) {
    const Op *op = s->op;
    real *block = solve_vector(s, SPLIT_BLOCK);
    m->local = (int)s->params[MASS_SPLITTING_LOCAL];
    SAND_FOR_EACH(w, i, op->n) {
        ContactRef ref = contact_ref(op, i);
        row_store(block, ref, split_pack(split_metric(op, ref)));
    }
    sand_barrier(w);
}

SAND_HOT void mass_splitting_sweep(Worker *w, const Op *SAND_RESTRICT op, real *x, const real *block, int local) {
    SAND_FOR_GRADIENTS_IMPULSES(w, i, op, op->body, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row z = split_solve(op, ref, row_load(block, ref), row_load(x, ref), SAND_GRADIENT(op, ref), local);
        row_store(x, ref, z);
        SAND_STORE_IMPULSE_BESIDE(op, ref, z);
    }
}

// All contacts, then the mean velocities of the sub-bodies, which are those of the impulses.
SAND_KERNEL void mass_splitting_step(Worker *w, Solve *s, mass_splitting_State *m) {
    const Op *op = s->op;
    real *x = solve_vector(s, SPLIT_X);
    mass_splitting_sweep(w, op, x, solve_vector(s, SPLIT_BLOCK), m->local);
    gather_bodies(w, op, stored_impulses(op, x), op->free, op->body);
}

#endif // SAND_METHOD_MASS_SPLITTING_INL
