// Ghosts: bodies of other ranks that contacts of this one touch (sim/solver/subdomain.h). After each gather the owner of a
// body sends its velocities to the ranks that have it as a ghost. Nothing happens where one process has the whole problem.
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

// Exchanges velocities that were written before the last barrier; ends with a barrier.
SAND_OUTLINE void exchange_ghosts(Worker *w, const Op *op, Body *bodies) {
    const Ghosts *g = op->ghosts;
    if (!g) return;
    SAND_FOR_EACH(w, e, g->send_count) ghost_send(&bodies[g->send[e]], g->outgoing + GHOST_SIZE * e);
    sand_barrier(w);
    if (worker_is_first(w)) g->ranks->exchange(g->ranks->user, g->messages, g->message_count);
    sand_barrier(w);
    SAND_FOR_EACH(w, e, g->receive_count) ghost_receive(&bodies[g->receive[e]], g->incoming + GHOST_SIZE * e);
    sand_barrier(w);
}
#else
#define exchange_ghosts(w, op, bodies) ((void)(w), (void)(op), (void)(bodies))
#endif
