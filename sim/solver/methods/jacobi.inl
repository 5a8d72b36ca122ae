// Projected Jacobi ([H] eq. 12, with a minus; [N] eq. 15 with an empty set D).
// Idea: every block takes a damped gradient step by its own diagonal, and is projected; all at once.
// Weakness: information travels one contact an iteration; heavy bodies on light ones and tall piles converge
// very slowly.

typedef struct jacobi_State {
    real omega, lambda;
} jacobi_State;

enum { JACOBI_OMEGA, JACOBI_LAMBDA };

SAND_TEXT void jacobi_start(Worker *w, Solve *s, jacobi_State *m) {
    (void)w;
    m->omega = (real)s->params[JACOBI_OMEGA];
    m->lambda = (real)s->params[JACOBI_LAMBDA];
}

// x := lambda P(x - omega eta_i (N x + r)) + (1 - lambda) x,  eta_i = rows / trace N_ii
SAND_HOT void jacobi_sweep(Worker *w, const Op *SAND_RESTRICT op, real *x, real omega, real lambda) {
    SAND_FOR_PULL(w, i, op, op->body, NULL) {
        At at = SAND_AT(op, i);
        Row xi = row_load(x, at), g = SAND_PULL(op, at);
        Row z = block_project(op, at, row_madd(xi, -omega * block_inverse(op, at), g));
        z = row_madd(xi, lambda, row_sub(z, xi));
        row_store(x, at, z);
        block_publish_stored(op, at, z);
    }
}

SAND_TEXT void jacobi_step(Worker *w, Solve *s, jacobi_State *m) {
    const Op *op = s->op;
    real *x = solve_vector(s, s->best);
    jacobi_sweep(w, op, x, m->omega, m->lambda);
    push(w, op, published(op, x), op->free, op->body);
}
