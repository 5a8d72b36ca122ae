// Projected block Gauss-Seidel ([N] algorithm 1, [P] section 3.1).
// Idea: relax one contact after the other, each with the velocities the others have just left behind.
// On a box the rows of a contact are relaxed one by one, which solves each exactly: the componentwise PGS of [P].
// Weakness: as jacobi, about twice as fast; sequential by nature. In parallel the contacts are coloured so that
// those of one colour share no body; the contacts of bodies with very many form a Jacobi batch at the end of the
// sweep, in which such a body is split evenly among its contacts (its inverse mass counts as often).

enum { GAUSS_SEIDEL_OMEGA, GAUSS_SEIDEL_LAMBDA, GAUSS_SEIDEL_ORDER };
enum { GAUSS_SEIDEL_SEQUENTIAL, GAUSS_SEIDEL_SYMMETRIC, GAUSS_SEIDEL_COLOURED };

// How a contact is relaxed: as a block by its mean diagonal, or exactly, one row after the other, or (ngs) the normal row
// and then both tangential ones.
typedef enum Relaxation { RELAX_BLOCK, RELAX_ROWS, RELAX_DISSIPATION } Relaxation;

typedef struct gauss_seidel_State {
    real omega, lambda;
    int order, sweeps;
    Relaxation how;
} gauss_seidel_State;

#if SAND_LOCAL
SAND_INLINE Blocks gauss_seidel_blocks(const Solve *s) {
    Blocks blocks = {solve_vector(s, 1), solve_vector(s, 2)};
    return blocks;
}
#endif

// Chooses it; those that are exact look at the blocks of N themselves.
SAND_TEXT void gauss_seidel_relax_by(Worker *w, Solve *s, gauss_seidel_State *m, Relaxation how) {
    m->how = how;
#if SAND_LOCAL
    if (how == RELAX_BLOCK) return;
    Blocks blocks = gauss_seidel_blocks(s);
    SAND_EACH(w, i, s->op->blocks) blocks_store(&blocks, at_of(i), block_matrix(s->op, at_of(i)));
    sand_barrier(w);
#else
    (void)w, (void)s;
#endif
}

// [N] steps 2 and 3 were done for it: the velocities of the start are there.
SAND_TEXT void gauss_seidel_start(Worker *w, Solve *s, gauss_seidel_State *m) {
    m->omega = (real)s->params[GAUSS_SEIDEL_OMEGA];
    m->lambda = (real)s->params[GAUSS_SEIDEL_LAMBDA];
    m->order = (int)s->params[GAUSS_SEIDEL_ORDER];
    // Colours are made from bodies; the contacts of a stored matrix are taken in their order.
    if (s->op->is_matrix && m->order == GAUSS_SEIDEL_COLOURED) m->order = GAUSS_SEIDEL_SEQUENTIAL;
    m->sweeps = 0;
    Relaxation how = RELAX_BLOCK;
#if SAND_LOCAL
    if (s->op->section == SAND_SQUARE && s->op->set != FRICTION_CONE) how = RELAX_ROWS;
#endif
    gauss_seidel_relax_by(w, s, m, how);
}

// The relaxed impulse of a block: lambda P(x - omega eta (u + b)) + (1 - lambda) x. Returns the change.
SAND_INLINE Row gauss_seidel_relax(const Solve *s, const gauss_seidel_State *m, At at, real step, Relaxation how) {
    const Op *op = s->op;
    real *x = solve_vector(s, s->best);
    Row xi = row_load(x, at), g = block_pull(op, op->body, at), z;
#if SAND_LOCAL
    if (how != RELAX_BLOCK) {
        Blocks blocks = gauss_seidel_blocks(s);
        Block b = blocks_load(&blocks, at);
        z = how == RELAX_ROWS ? relax_rows(op, at, &b, xi, g, m->omega) : relax_dissipation(op, at, &b, xi, g, m->omega);
    } else
#else
    (void)how;
#endif
        z = block_project(op, at, row_madd(xi, -step, g));
    Row d = row_sub(z, xi);
    z = row_madd(xi, m->lambda, d);
    row_store(x, at, z);
    return row_sub(z, xi);
}

// Adds the published impulse of block i to the velocity of its body k.
SAND_INLINE void gauss_seidel_apply(const Op *op, int64_t i, int k, int side) {
    if (k >= op->dynamic_count) return;
    body_write(op, &op->body[k], op->body, k, block_gather(op, i, side, op->free[k].w[3], sums_zero()));
}

// [N] step 4 for one contact.
SAND_INLINE void gauss_seidel_contact(const Solve *s, const gauss_seidel_State *m, int64_t i) {
    const Op *op = s->op;
    At at = at_of(i);
    block_publish(op, at, gauss_seidel_relax(s, m, at, m->omega * block_inverse(op, at), m->how));
    if (op->is_matrix) {
        matrix_apply(op, i);
    } else {
        gauss_seidel_apply(op, i, op->a[i], -1);
        gauss_seidel_apply(op, i, op->b[i], +1);
    }
}

SAND_TEXT void gauss_seidel_step(Worker *w, Solve *s, gauss_seidel_State *m) {
    const Op *op = s->op;
    if (m->order == GAUSS_SEIDEL_COLOURED) {
        for (int c = 0; c < op->colour_count; c++) {
            const int *list = op->colour_list + op->colour_first[c];
            SAND_EACH(w, e, op->colour_first[c + 1] - op->colour_first[c])
            gauss_seidel_contact(s, m, list[e]);
            sand_barrier(w);
        }
        // The Jacobi batch: its impulses first, then every velocity anew.
        const int *batch = op->colour_list + op->colour_first[op->colour_count];
        int size = op->colour_first[op->colour_count + 1] - op->colour_first[op->colour_count];
        if (size) {
            SAND_EACH(w, e, size)
            gauss_seidel_relax(s, m, at_of(batch[e]), m->omega * op->batch_step[e], RELAX_BLOCK);
            sand_barrier(w);
            push_vector(w, op, solve_vector(s, s->best), op->free, op->body);
        }
    } else {
        bool back = m->order == GAUSS_SEIDEL_SYMMETRIC && m->sweeps % 2; // [N] step 5
        if (worker_is_first(w))
            for (int64_t e = 0; e < op->blocks; e++) gauss_seidel_contact(s, m, back ? op->blocks - 1 - e : e);
        sand_barrier(w);
    }
    m->sweeps++;
}
