// SPDX-License-Identifier: MIT
// Projected block Gauss-Seidel ([N] algorithm 1, [P] section 3.1).
// Idea: relax one contact after the other, each with the body velocities that the previous ones have just left behind. On a
// box the rows of a contact are relaxed one by one, which solves each exactly: the componentwise PGS of [P].
// Weakness: that of jacobi at about twice its speed; and sequential by nature.
//
// To run in parallel the contacts are colored so that contacts of one color share no body. The contacts of high-degree
// bodies form a Jacobi batch at the end of the sweep, in which such a body is split evenly among its contacts (its inverse
// mass counts once per contact). Or there is no coordination at all, as in the GPU implementation of [N] ("Parallel
// implementation details"): every worker relaxes its own contacts while the others relax theirs.
//
// Steps are numbered as in [N] algorithm 1; its rho is lambda here. Step 6, the loop, is the driver's.
#ifndef SAND_METHOD_GAUSS_SEIDEL_INL
#define SAND_METHOD_GAUSS_SEIDEL_INL
#include "sim/solver/kernel/block_metric.inl"
#include "sim/solver/kernel/kernel.inl"

enum { GAUSS_SEIDEL_OMEGA, GAUSS_SEIDEL_LAMBDA, GAUSS_SEIDEL_ORDER }; // parameters
// Values of the parameter `order`.
enum { GAUSS_SEIDEL_SEQUENTIAL, GAUSS_SEIDEL_SYMMETRIC, GAUSS_SEIDEL_COLORED, GAUSS_SEIDEL_UNCOORDINATED };

// How a contact is relaxed: as a block, by its mean diagonal; (with momentum) as a block of two spheres, exactly;
// (block-sweeps) as a block, in a metric above it; exactly,
// one row after the other; (ngs) the normal row and then both tangential rows together; (tgs-soft) as a block with the gap
// of a substep; or as a block in the Jacobi batch.
typedef enum Relaxation {
    RELAX_BLOCK,
    RELAX_SPHERES,
    RELAX_METRIC,
    RELAX_ROWS,
    RELAX_DISSIPATION,
    RELAX_SOFT,
    RELAX_BATCH
} Relaxation;

// A soft contact of a substep (tgs_soft.inl). A gap that a substep has closed is zero but for rounding, which must not
// decide whether the contact is soft.
#define SOFT_SLOP ((real)1e-5) // m/s
typedef struct Softness {
    real rate;    // gaps are in m/s, what closes them in a step; this times a penetration is the speed that undoes it
    real push;    // m/s, the largest such speed
    real mass;    // factor of the effective mass
    real impulse; // what a sweep takes from the impulse
    real closing; // this times an open gap is the speed that closes it in a substep
} Softness;

typedef struct gauss_seidel_State {
    real omega, lambda;
    int order, sweeps; // GAUSS_SEIDEL_ order; sweeps done
    int x;             // vector of the impulses
    Relaxation how;
    Softness soft; // with RELAX_SOFT
    int gaps;      // the same: vector of the gaps along the normals
} gauss_seidel_State;

#if SAND_LOCAL
// The stored diagonal blocks N_ii, in vectors 1 and 2.
SAND_INLINE DiagonalBlocks gauss_seidel_diagonal(const Solve *s) {
    DiagonalBlocks blocks = {solve_vector(s, 1), solve_vector(s, 2)};
    return blocks;
}
#endif

// Row by row on a box, which solves a contact exactly; else as a block in this way.
SAND_INLINE Relaxation gauss_seidel_rows_or(const Solve *s, Relaxation block) {
#if SAND_LOCAL
    if (s->op->section == SAND_SQUARE && s->op->set != FRICTION_CONE) return RELAX_ROWS;
#endif
    return (void)s, block;
}

// Whether contacts are relaxed in metrics, kept in vector 1: where blocks are full.
#define SAND_METRICS (SAND_ROWS == 3 && !SAND_RADIAL && !SAND_ROLLING)

// Selects the relaxation. What it needs of the diagonal blocks N_ii is computed here.
SAND_KERNEL void gauss_seidel_relax_by(Worker *w, Solve *s, gauss_seidel_State *m, Relaxation how) {
    m->how = how;
#if SAND_METRICS
    if (how == RELAX_METRIC) {
        SAND_FOR_EACH(w, i, op_contacts_end(s->op)) {
            ContactRef ref = contact_ref(s->op, i);
            row_store(solve_vector(s, 1), ref, metric_pack(block_metric(s->op, ref, false)));
        }
        sand_barrier(w);
        return;
    }
#endif
#if SAND_LOCAL
    if (how == RELAX_BLOCK || how == RELAX_SPHERES) return;
    DiagonalBlocks blocks = gauss_seidel_diagonal(s);
    SAND_FOR_EACH(w, i, op_contacts_end(s->op)) {
        diagonal_blocks_store(&blocks, contact_ref(s->op, i), diagonal_block(s->op, contact_ref(s->op, i)));
    }
    sand_barrier(w);
#else
    (void)w;
    (void)s;
#endif
}

SAND_KERNEL void gauss_seidel_set_order(const Solve *s, gauss_seidel_State *m, int order) {
    m->order = order;
    // Coloring needs bodies; the contacts of a stored matrix are relaxed in order.
    if (s->op->is_matrix && m->order == GAUSS_SEIDEL_COLORED) m->order = GAUSS_SEIDEL_SEQUENTIAL;
    if (!SAND_UNCOORDINATED && m->order == GAUSS_SEIDEL_UNCOORDINATED) m->order = GAUSS_SEIDEL_SEQUENTIAL;
    m->sweeps = 0;
    m->x = s->best;
}

// [N] steps 1 to 3 are done before: eta_i, the warm start, and its velocities in op->body.
SAND_KERNEL void gauss_seidel_start(Worker *w, Solve *s, gauss_seidel_State *m) {
    m->omega = (real)s->params[GAUSS_SEIDEL_OMEGA];
    m->lambda = (real)s->params[GAUSS_SEIDEL_LAMBDA];
    gauss_seidel_set_order(s, m, (int)s->params[GAUSS_SEIDEL_ORDER]);
    gauss_seidel_relax_by(w, s, m, gauss_seidel_rows_or(s, RELAX_BLOCK));
}

// The gradient g, whose stabilization term is that of a step, as a substep has it: the normal part asks for the speed that
// the gap left so far allows, or that undoes a part of a penetration; the latter softly.
SAND_INLINE Row soft_gradient(const Op *op, ContactRef ref, const Softness *soft, real gap, real impulse, Row g) {
    real normal = row_normal(op, ref, g), u = normal - contact_bias(op, ref);
    real want = u + soft->closing * gap;
    if (gap < -SOFT_SLOP)
        want = soft->mass * (u + real_max(soft->rate * gap, -soft->push)) +
               soft->impulse * contact_normal_diagonal(op, ref) * impulse;
    if (contact_bounce(op, ref) > 0 && normal < want) want = normal; // an impact takes one step, whatever the substeps
    return row_add_normal(op, ref, g, want - normal);
}

// The impulse that solves a contact alone, or brings it closer to that: P(x - omega eta g), with step = omega eta.
SAND_INLINE Row gauss_seidel_solve(const Solve *s, const gauss_seidel_State *m, ContactRef ref, Row x, Row g, real step,
                                   Relaxation how) {
    const Op *op = s->op;
#if SAND_JOINTS
    if (contact_is_joint(op, ref) && how != RELAX_BATCH) {
        DiagonalBlock b = diagonal_block(op, ref);
        return row_of(relax_joint(op, ref, &b, row_force(x), row_force(g), m->omega));
    }
#endif
#if SAND_LOCAL && !SAND_ROLLING
    if (how == RELAX_ROWS || how == RELAX_DISSIPATION) {
        DiagonalBlocks blocks = gauss_seidel_diagonal(s);
        DiagonalBlock b = diagonal_blocks_load(&blocks, ref);
        return how == RELAX_ROWS ? relax_rows(op, ref, &b, x, g, m->omega) : relax_dissipation(op, ref, &b, x, g, m->omega);
    }
#endif
#if SAND_RADIAL
    if (how == RELAX_SPHERES) return relax_spheres(op, ref, x, g, m->omega);
#endif
#if SAND_METRICS
    if (how == RELAX_METRIC) return metric_step(op, ref, row_load(solve_vector(s, 1), ref), x, row_scale(m->omega, g));
#endif
    return (void)m, (void)how, contact_descend(op, ref, x, g, step);
}

// Relaxes one contact whose gradient is g: x := lambda P(x - omega eta g) + (1 - lambda) x. Returns the change of the
// impulse.
SAND_INLINE Row gauss_seidel_relax(const Solve *s, const gauss_seidel_State *m, ContactRef ref, Row g, real step,
                                   Relaxation how) {
    const Op *op = s->op;
    real *x = solve_vector(s, m->x);
    Row xi = row_load(x, ref);
    if (how == RELAX_SOFT)
        g = soft_gradient(op, ref, &m->soft, row_normal(op, ref, row_load(solve_vector(s, m->gaps), ref)),
                          row_normal(op, ref, xi), g);
    Row d = row_sub(gauss_seidel_solve(s, m, ref, xi, g, step, how), xi);
    Row z = row_madd(xi, m->lambda, d);
    row_store(x, ref, z);
    return row_sub(z, xi);
}

// Impulse and angular impulse on body k from the stored impulse of contact i, before M^-1.
SAND_INLINE BodyImpulse gauss_seidel_body_impulse(const Op *op, Index i, int k, int side) {
    ContactRef ref = contact_ref(op, i);
    Vec4 g = vec4_load(op->impulse + IMPULSE_SIZE * contact_index(ref));
    BodyImpulse s = gather_contact(op, op->impulse, ref, g, side, op->free[k].w[3], body_impulse_zero());
    return gather_torque(op->impulse, ref, side, s);
}

// Adds the effect of the stored impulse of contact i to the velocity of its body k.
SAND_INLINE void gauss_seidel_apply(const Op *op, Index i, int k, int side) {
    if (k >= op->dynamic_count) return;
    body_write(op, &op->body[k], op->body, k, gauss_seidel_body_impulse(op, i, k, side));
}

// Adds the effect of the stored impulse of contact i to its own springs.
SAND_INLINE void gauss_seidel_yield(const Op *op, Index i) {
#if SAND_JOINTS
    ContactRef ref = contact_ref(op, i);
    Vec x = row_force(contact_row(op, ref, vec_of(op->impulse + IMPULSE_SIZE * contact_index(ref))));
    op->body[op->body_count + i].v[0] += joint_yield(op, ref, x).x;
#else
    (void)op, (void)i;
#endif
}

// [N] step 4 for one contact: v := v + M^-1 D_i (change of x_i).
SAND_INLINE void gauss_seidel_contact(const Solve *s, const gauss_seidel_State *m, Index i) {
    const Op *op = s->op;
    ContactRef ref = contact_ref(op, i);
    Row g = contact_gradient_from(op, op->body, ref);
    store_impulse(op, ref, gauss_seidel_relax(s, m, ref, g, m->omega * contact_inverse_diagonal(op, ref), m->how));
    if (op->is_matrix) {
        matrix_apply_column(op, i);
    } else {
        gauss_seidel_apply(op, i, op->a[i], -1);
        gauss_seidel_apply(op, i, op->b[i], +1);
        gauss_seidel_yield(op, i);
    }
}

#if SAND_UNCOORDINATED
// gauss_seidel_apply while other workers update the same bodies: atomic additions, so that no change is lost.
SAND_INLINE void gauss_seidel_add(const Op *op, Index i, int k, int side) {
    if (k >= op->dynamic_count) return;
    BodyImpulse s = gauss_seidel_body_impulse(op, i, k, side);
    Vec4 t = vec4_yzx(s.t);
    Vec v = vec_scale(op->inverse_mass[k], vec_of_vec4(s.f)), angular = body_turn(op, k, vec_of_vec4(t));
    worker_add(&op->body[k].v[0], v.x);
    worker_add(&op->body[k].v[1], v.y);
    worker_add(&op->body[k].v[2], v.z);
    worker_add(&op->body[k].w[0], angular.x);
    worker_add(&op->body[k].w[1], angular.y);
    worker_add(&op->body[k].w[2], angular.z);
}

// An uncoordinated sweep. Each worker relaxes a run of consecutive contacts, so that contacts relaxed at the same time are
// mostly far apart; gradients use the velocities of the moment.
enum { GAUSS_SEIDEL_RUN = 32 }; // least contacts in a run
SAND_HOT void gauss_seidel_uncoordinated(Worker *w, const Solve *s, const gauss_seidel_State *m) {
    const Op *op = s->op;
    SAND_RUNS(w, i, op->contact_count, GAUSS_SEIDEL_RUN) {
        ContactRef ref = contact_ref(op, i);
        Row g = contact_gradient_now(op, op->body, ref);
        store_impulse(op, ref, gauss_seidel_relax(s, m, ref, g, m->omega * contact_inverse_diagonal(op, ref), m->how));
        gauss_seidel_add(op, i, op->a[i], -1);
        gauss_seidel_add(op, i, op->b[i], +1);
        gauss_seidel_yield(op, i);
    }
}
#endif

// One sweep over all contacts.
SAND_KERNEL void gauss_seidel_step(Worker *w, Solve *s, gauss_seidel_State *m) {
    const Op *op = s->op;
#if SAND_UNCOORDINATED
    if (m->order == GAUSS_SEIDEL_UNCOORDINATED) {
        gauss_seidel_uncoordinated(w, s, m);
        sand_barrier(w);
        return;
    }
#endif
    if (m->order == GAUSS_SEIDEL_COLORED) {
        for (int c = 0; c < op->color_count; c++) {
            const int *list = op->color_list + op->color_first[c];
            SAND_FOR_EACH(w, e, op->color_first[c + 1] - op->color_first[c]) { gauss_seidel_contact(s, m, list[e]); }
            sand_barrier(w);
            exchange_ghosts(w, op, op->body);
        }
        // The Jacobi batch: relax all of its contacts, then recompute every velocity.
        const int *batch = op->color_list + op->color_first[op->color_count];
        int size = op->color_first[op->color_count + 1] - op->color_first[op->color_count];
        if (size) {
            SAND_FOR_EACH(w, e, size) {
                gauss_seidel_relax(s, m, contact_ref(op, batch[e]),
                                   contact_gradient_from(op, op->body, contact_ref(op, batch[e])),
                                   m->omega * op->batch_step[e], m->how == RELAX_SOFT ? RELAX_SOFT : RELAX_BATCH);
            }
            sand_barrier(w);
            gather_bodies_of(w, op, solve_vector(s, m->x), op->free, op->body);
        }
    } else {
        bool reverse = m->order == GAUSS_SEIDEL_SYMMETRIC && m->sweeps % 2; // [N] step 5: the reverse order
        Index end = op_contacts_end(op);
        if (worker_is_first(w))
            for (Index e = 0; e < end; e++) {
                Index i = reverse ? end - 1 - e : e;
                if (!op_is_padding(op, i)) gauss_seidel_contact(s, m, i);
            }
        sand_barrier(w);
    }
    m->sweeps++;
}

#endif // SAND_METHOD_GAUSS_SEIDEL_INL
