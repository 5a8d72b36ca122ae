// Ghosts: bodies of other ranks that contacts of this one touch (sim/solver/subdomain.h). In each gather the owner of a body
// sends its velocities to the ranks that have it as a ghost. Nothing happens where one process has the whole problem.
#pragma once
#include "sim/solver/kernel/op.inl"

#if SAND_RANKS
SAND_INLINE void ghost_send(const Body *body, real *out) {
    for (int c = 0; c < 3; c++) out[c] = body->v[c];
    for (int c = 0; c < 3; c++) out[3 + c] = body->w[c];
}

SAND_INLINE void ghost_receive(Body *body, const real *in) {
    for (int c = 0; c < 3; c++) body->v[c] = in[c];
    for (int c = 0; c < 3; c++) body->w[c] = in[3 + c];
}

// Sends velocities that were written before the last barrier.
SAND_OUTLINE void send_ghosts(Worker *w, const Op *op, const Body *bodies) {
    const Ghosts *g = op->ghosts;
    SAND_FOR_EACH(w, e, g->send_count) ghost_send(&bodies[g->send[e]], g->outgoing + GHOST_SIZE * e);
    sand_barrier(w);
    if (worker_is_first(w)) g->ranks->begin_exchange(g->ranks->user, g->messages, g->message_count);
}

// Waits for those of others; ends with a barrier.
SAND_OUTLINE void receive_ghosts(Worker *w, const Op *op, Body *bodies) {
    const Ghosts *g = op->ghosts;
    if (worker_is_first(w)) g->ranks->end_exchange(g->ranks->user);
    sand_barrier(w);
    SAND_FOR_EACH(w, e, g->receive_count) ghost_receive(&bodies[g->receive[e]], g->incoming + GHOST_SIZE * e);
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
