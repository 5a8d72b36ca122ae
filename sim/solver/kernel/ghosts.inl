// SPDX-License-Identifier: MIT
// Ghosts: bodies of other ranks that contacts of this one touch (sim/solver/subproblem.h). In each gather the owner of a
// body sends its velocities to the ranks that have it as a ghost. Nothing happens where one process has the whole problem.
#pragma once
#include "sim/solver/kernel/op.inl"

#if SAND_RANKS
// Number c of the GHOST_SIZE that are sent of a body.
SAND_INLINE real *ghost_number(Body *body, int c) { return c < 3 ? &body->v[c] : &body->w[c - 3]; }

// Starts sending the velocities of own bodies that other ranks need, which were written before the last barrier.
SAND_OUTLINE void send_ghosts(Worker *w, const Op *op, Body *bodies) {
    const Ghosts *g = op->ghosts;
    SAND_FOR_NUMBERS(w, e, c, g->send_count, GHOST_SIZE) {
        g->outgoing[GHOST_SIZE * e + c] = *ghost_number(&bodies[g->send[e]], c);
    }
    worker_begin_exchange(w, g->ranks, g->messages, g->message_count);
}

// Waits for the velocities of ghosts; ends with a barrier.
SAND_OUTLINE void receive_ghosts(Worker *w, const Op *op, Body *bodies) {
    const Ghosts *g = op->ghosts;
    worker_end_exchange(w, g->ranks);
    SAND_FOR_NUMBERS(w, e, c, g->receive_count, GHOST_SIZE) {
        *ghost_number(&bodies[g->receive[e]], c) = SAND_RECEIVED(&g->incoming[GHOST_SIZE * e + c]);
    }
    sand_barrier(w);
}

// Exchanges velocities that were written before the last barrier; ends with a barrier.
SAND_KERNEL void exchange_ghosts(Worker *w, const Op *op, Body *bodies) {
    if (!op->ghosts) return;
    send_ghosts(w, op, bodies);
    receive_ghosts(w, op, bodies);
}
#else
#define exchange_ghosts(w, op, bodies) ((void)(w), (void)(op), (void)(bodies))
#endif

// The bodies that this process gathers: all of its own.
SAND_INLINE Index first_own_body(const Op *op) {
#if SAND_RANKS
    if (op->ghosts) return op->ghosts->first_own;
#endif
    return (void)op, 0;
}
SAND_INLINE Index end_own_bodies(const Op *op) {
#if SAND_RANKS
    if (op->ghosts) return op->ghosts->end_own;
#endif
    return op->dynamic_count;
}
