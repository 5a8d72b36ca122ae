// SPDX-License-Identifier: MIT
// The coarse correction between two passes of block-sweeps (coarse.inl): the impulses are scaled by the smooth field that
// lowers the objective most, by the exact minimum along the change that this makes. The impulses and velocities of the pass
// before move along, so that momentum goes on as if the correction had always been there.
#pragma once
#include "sim/solver/kernel/block_tiles.inl"
#include "sim/solver/kernel/block_warps.inl"
#include "sim/solver/kernel/kernel.inl"

enum { BLOCK_CHANGE = 4 };            // vector of the change; the gradient before
enum { BLOCK_CORRECTION_REMAIN = 8 }; // iterations that must follow: a correction leaves errors between neighbors

// Stores the change d that the field makes of the impulses x over their gradient; returns d'g.
SAND_HOT double block_change(Worker *w, const Op *SAND_RESTRICT op, real *x, real *SAND_RESTRICT change) {
    SAND_FOR_GRADIENTS(w, i, op, op->body, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(change, ref, SAND_GRADIENT(op, ref));
    }
    sand_barrier(w);
    CoarseSource from = {x, change, false};
    coarse_sum(w, op, from);
    coarse_solve(w, op);
    coarse_spread(w, op);
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_UNROLL(4)
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), d = row_sub(contact_project(op, ref, row_scale(coarse_factor(op, ref), xi)), xi);
        SAND_ADD(sum, ref, 0, row_dot(d, row_load(change, ref)));
        row_store(change, ref, d);
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// d'N d of the change, whose velocities are in op->scratch.
SAND_HOT double block_curvature(Worker *w, const Op *SAND_RESTRICT op, const real *change) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->scratch, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        SAND_ADD(sum, ref, 0, row_dot(row_load(change, ref), contact_without_bias(op, ref, SAND_GRADIENT(op, ref))));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// Adds t times the change to the impulses of the sweeps, of this pass and of the one before.
SAND_HOT void block_add_to_sweeps(Worker *w, const Op *SAND_RESTRICT op, const real *change, real *last, real t) {
#if SAND_BLOCK_TILES
    SAND_FOR_EACH(w, k, op->block_tile_first[op_block_count(op)]) block_tile_add(op, k, change, t);
    (void)last;
#elif SAND_BLOCK_WARPS
    SAND_UNROLL(4)
    SAND_FOR_EACH(w, place, op->contact_count) {
        Vec d = vec_scale(t, row_load(change, contact_ref_bare(op->parts.contact[place])));
        part_add_impulse(op_vector(op, PART_NOW), place, d);
        part_add_impulse(op_vector(op, PART_LAST), place, d);
    }
    (void)last;
#else
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(last, ref, row_madd(row_load(last, ref), t, row_load(change, ref)));
    }
#endif
}

// to := to + factor x
SAND_INLINE void body_add(Body *to, real factor, const Body *x) {
    for (int c = 0; c < 3; c++) to->v[c] += factor * x->v[c];
    for (int c = 0; c < 3; c++) to->w[c] += factor * x->w[c];
}

// Corrects the impulses x, whose velocities are in op->body; `last` has those of the pass before, where sweeps have no
// arrays of their own.
SAND_KERNEL void block_correct(Worker *w, const Op *op, real *x, real *change, real *last) {
    double dg = block_change(w, op, x, change);
    gather_bodies_of(w, op, change, op->still, op->scratch);
    double dNd = block_curvature(w, op, change);
    if (!(dg < 0 && dNd > 0 && isfinite(dNd))) return;
    real t = (real)(dNd > -dg ? -dg / dNd : 1);
    SAND_UNROLL(4)
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(x, ref, row_madd(row_load(x, ref), t, row_load(change, ref)));
    }
    block_add_to_sweeps(w, op, change, last, t);
    SAND_UNROLL(2)
    SAND_FOR_EACH(w, k, op->dynamic_count) {
        body_add(&op->body[k], t, &op->scratch[k]);
        body_add(&op->last[k], t, &op->scratch[k]);
    }
#if SAND_JOINTS
    SAND_FOR_EACH(w, i, op_contacts_end(op)) {
        body_add(&op->body[op->body_count + i], t, &op->scratch[op->body_count + i]);
        body_add(&op->last[op->body_count + i], t, &op->scratch[op->body_count + i]);
    }
#endif
    sand_barrier(w);
}
