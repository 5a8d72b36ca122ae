// The operator a solver sees: blocks, the product with N = D' M^-1 D, and the projection on K. N is never
// assembled. The product is two gathers, with no atomics, so it gives the same bits every time:
//   push  per body: sum the impulses of its contacts, scale by M^-1, add the free velocity
//   pull  per contact: the relative velocity of its two bodies at the point, plus the stabilisation term
// so that pull after push(x) is the gradient (N x + r)_i of q at x.
//
// SAND_ROWS is 3 (impulses are vectors in the world frame) or 1 (a frictionless problem: normal impulses alone).
// SAND_RADIAL is 1 when every moving body is a sphere: an arm is then its radius plus half the gap, along the
// normal, which spares two vectors a contact.
// In a problem of 3 rows a contact with mu = 0 keeps one row's worth: its gradient and its impulse lie along n.

#define SAND_VEC Vec
#define SAND_SCALAR real
#define SAND_VF(name) vec_##name
#include "vec.inl"

// The velocity of a body, in fours so that one load fetches a vector.
typedef struct Body {
    real v[4]; // the fourth is not used
    real w[4]; // the fourth is the radius of a sphere
} Body;

enum {
    SAND_STRIDE = SAND_ROWS == 3 ? 4 : 1,  // numbers a block takes in a vector
    SAND_INERTIA = SAND_RADIAL ? 1 : 6,    // numbers of an inertia: a scalar, or xx, yy, zz, xy, xz, yz
};

typedef struct Op {
    int64_t n;      // blocks, padded to SAND_LANES; the padding has no normal and touches the last body
    int64_t blocks; // real ones
    int body_count; // with boundaries and one last body that never moves
    int dynamic_count;
    double step, recovery;
    double tau;     // of the residual: 1 / mean(trace N_ii / rows)
    // Blocks.
    const int *a, *b;
    const real *normal; // 4 each: n, half the gap
#if !SAND_RADIAL
    const real *arm_a, *arm_b; // 4 each
#endif
    const real *mu;
    const real *diagonal, *inverse_diagonal; // trace N_ii / rows, and one over it
    // Bodies.
    const real *inverse_mass;
    const real *inverse_inertia;
    const Body *free;             // velocities before contact
    Body *body;                   // velocities now: what push writes
    Body *scratch;                // room for another push
    const int *first;             // contacts first[k] .. first[k+1]-1 have body k as their a
    const int *second, *list;     // contacts list[second[k] .. second[k+1]-1] have it as their b
    // Bodies of many contacts, gathered in pieces.
    int hub_count, piece_count;
    const int *hub;        // body of each hub
    const int *hub_piece;  // pieces hub_piece[j] .. hub_piece[j+1]-1 are those of hub j
    const int *piece_hub;  // hub of each piece
    Body *piece_sum;       // impulse and turning impulse of each piece
    // Colours for gauss-seidel: blocks colour_list[colour_first[c] ..] share no body; the last is the Jacobi batch.
    int colour_count;
    const int *colour_first, *colour_list;
    const real *batch_step; // one over the diagonal when hubs are split among their contacts
} Op;

SAND_INLINE Vec vec_at(const real *p) { return vec_make(p[0], p[1], p[2]); }

// --- blocks -----------------------------------------------------------------------------------------------

#if SAND_ROWS == 3
typedef Vec Row;
SAND_INLINE Row row_sub(Row a, Row b) { return vec_sub(a, b); }
SAND_INLINE Row row_madd(Row a, real s, Row b) { return vec_madd(a, s, b); }
SAND_INLINE real row_dot(Row a, Row b) { return vec_dot(a, b); }
SAND_INLINE Row row_load(const real *x, int64_t i) { return vec_at(x + 4 * i); }
SAND_INLINE void row_store(real *x, int64_t i, Row r) { x[4 * i] = r.x, x[4 * i + 1] = r.y, x[4 * i + 2] = r.z, x[4 * i + 3] = 0; }
#else
typedef real Row;
SAND_INLINE Row row_sub(Row a, Row b) { return a - b; }
SAND_INLINE Row row_madd(Row a, real s, Row b) { return a + s * b; }
SAND_INLINE real row_dot(Row a, Row b) { return a * b; }
SAND_INLINE Row row_load(const real *x, int64_t i) { return x[i]; }
SAND_INLINE void row_store(real *x, int64_t i, Row r) { x[i] = r; }
#endif

SAND_INLINE Vec block_normal(const Op *op, int64_t i) { return vec_at(op->normal + 4 * i); }

// The stabilisation term b_i = max(gap / h, -recovery).
SAND_INLINE real block_bias(const Op *op, int64_t i) {
    return real_max(op->normal[4 * i + 3] * (real)(2 / op->step), (real)-op->recovery);
}

// The impulse on b as a vector of the world.
SAND_INLINE Vec block_impulse(const Op *op, int64_t i, Row r) {
#if SAND_ROWS == 3
    return (void)op, (void)i, r;
#else
    return vec_scale(r, block_normal(op, i));
#endif
}

// --- projection -------------------------------------------------------------------------------------------

// Nearest point of the friction cone around the unit vector n. Without branches, so that lanes go side by side.
SAND_INLINE Vec cone_project(Vec x, Vec n, real mu) {
    real xn = vec_dot(x, n);
    Vec t = vec_madd(x, -xn, n);
    real xt = real_sqrt(vec_dot(t, t));
    real q = (mu * xt + xn) / (1 + mu * mu);      // normal part of the nearest point on the surface
    q = real_max(q, 0);                           // below zero: the polar cone, whose nearest point is the tip
    real side = mu * q / real_max(xt, REAL_TINY); // how much of t is left
    bool within = xt <= mu * xn;
    real normal = within ? xn : q;
    side = within ? (real)1 : side;
    return vec_madd(vec_scale(side, t), normal, n);
}

SAND_INLINE Row block_project(const Op *op, int64_t i, Row x) {
#if SAND_ROWS == 3
    return cone_project(x, block_normal(op, i), op->mu[i]);
#else
    return (void)op, (void)i, real_max(x, 0);
#endif
}

// --- the product: pull ------------------------------------------------------------------------------------

// What a contact reads of its two bodies.
typedef struct Pair {
    Vec u; // difference of velocities, b minus a
#if SAND_RADIAL
    Vec s; // arms times spins, summed
#else
    Vec wa, wb;
#endif
} Pair;

// The gradient (N x + r)_i from the velocities of the two bodies.
SAND_INLINE Row block_gradient(const Op *op, int64_t i, Pair p) {
    Vec n = block_normal(op, i);
#if SAND_RADIAL
    Vec u = vec_sub(p.u, vec_cross(p.s, n));
#else
    Vec u = vec_add(p.u, vec_sub(vec_cross(p.wb, vec_at(op->arm_b + 4 * i)), vec_cross(p.wa, vec_at(op->arm_a + 4 * i))));
#endif
    real un = vec_dot(u, n);
#if SAND_ROWS == 3
    // Where mu = 0 only the normal row exists.
    Vec t = vec_madd(u, -un, n);
    real keep = op->mu[i] > 0 ? (real)1 : (real)0;
    return vec_madd(vec_scale(keep, t), un + block_bias(op, i), n);
#else
    return un + block_bias(op, i);
#endif
}

SAND_INLINE Pair block_pair(const Op *op, const Body *body, int64_t i) {
    const Body *a = &body[op->a[i]], *b = &body[op->b[i]];
    Pair p;
    p.u = vec_sub(vec_at(b->v), vec_at(a->v));
#if SAND_RADIAL
    real half = op->normal[4 * i + 3];
    p.s = vec_madd(vec_scale(half + a->w[3], vec_at(a->w)), half + b->w[3], vec_at(b->w));
#else
    p.wa = vec_at(a->w), p.wb = vec_at(b->w);
#endif
    return p;
}

SAND_INLINE Row block_pull(const Op *op, const Body *body, int64_t i) { return block_gradient(op, i, block_pair(op, body, i)); }

// The same for hot loops: SAND_FOR_PULL(w, i, op, body, &sum) { Row g = SAND_PULL(op, i); ... }. On the CPU the
// bodies of a tile are fetched first, each as whole vectors, so that the rest goes side by side.
#ifdef __CUDACC__
#define SAND_FOR_PULL(w, i, op, from, sum) const Body *pull_from_ = from; SAND_FOR_SUM(w, i, (op)->n, sum)
#define SAND_PULL(op, i) block_pull(op, pull_from_, i)
#else
typedef struct Tile {
    int64_t begin;
    real u[SAND_LANES][4];
#if SAND_RADIAL
    real s[SAND_LANES][4];
#else
    real wa[SAND_LANES][4], wb[SAND_LANES][4];
#endif
} Tile;

SAND_INLINE bool tile_fetch(Tile *tile, const Op *op, const Body *body, int64_t begin, int64_t end) {
    if (begin >= end) return false;
    tile->begin = begin;
    for (int l = 0; l < SAND_LANES; l++) {
        const Body *a = &body[op->a[begin + l]], *b = &body[op->b[begin + l]];
#if SAND_RADIAL
        real half = op->normal[4 * (begin + l) + 3], p = half + a->w[3], q = half + b->w[3];
        for (int k = 0; k < 4; k++) tile->u[l][k] = b->v[k] - a->v[k];
        for (int k = 0; k < 4; k++) tile->s[l][k] = p * a->w[k] + q * b->w[k];
#else
        for (int k = 0; k < 4; k++) tile->u[l][k] = b->v[k] - a->v[k];
        for (int k = 0; k < 4; k++) tile->wa[l][k] = a->w[k];
        for (int k = 0; k < 4; k++) tile->wb[l][k] = b->w[k];
#endif
    }
    return true;
}

SAND_INLINE Row tile_pull(const Tile *tile, const Op *op, int64_t i, int64_t lane) {
    Pair p;
    p.u = vec_at(tile->u[lane]);
#if SAND_RADIAL
    p.s = vec_at(tile->s[lane]);
#else
    p.wa = vec_at(tile->wa[lane]), p.wb = vec_at(tile->wb[lane]);
#endif
    return block_gradient(op, i, p);
}

#define SAND_FOR_PULL(w, i, op, from, sum)                                                                   \
    for (Cursor cursor_ = cursor_begin(w, (op)->n); cursor_next(w, &cursor_, sum);)                          \
        for (Tile fetched_ = {.begin = cursor_.begin - SAND_LANES};                                          \
             tile_fetch(&fetched_, op, from, fetched_.begin + SAND_LANES, cursor_.end);)                     \
            for (int64_t tile_ = fetched_.begin, once_ = 1; once_; once_ = 0)                                \
                _Pragma("omp simd") for (int64_t i = tile_; i < tile_ + SAND_LANES; i++)
#define SAND_PULL(op, i) tile_pull(&fetched_, op, i, (i) - tile_)
#endif

// What a pull gave, without the stabilisation term: the product with N alone, when the free velocities were left
// out of the push.
SAND_INLINE Row block_without_bias(const Op *op, int64_t i, Row y) {
#if SAND_ROWS == 3
    return vec_madd(y, -block_bias(op, i), block_normal(op, i));
#else
    return y - block_bias(op, i);
#endif
}

// --- the product: push ------------------------------------------------------------------------------------

// The turning impulse of an impulse g on b, about the centre of body k, which is a (side -1) or b (side +1).
SAND_INLINE Vec block_turning(const Op *op, int64_t i, int64_t k, int side, Vec g) {
#if SAND_RADIAL
    // Both arms point to the other body, so it is -arm (n x g) on either side.
    real arm = op->free[k].w[3] + op->normal[4 * i + 3];
    return (void)side, vec_scale(-arm, vec_cross(block_normal(op, i), g));
#else
    (void)k;
    if (side < 0) return vec_cross(g, vec_at(op->arm_a + 4 * i));
    return vec_cross(vec_at(op->arm_b + 4 * i), g);
#endif
}

// Adds the impulse of block i to the sums f, t of its body k.
SAND_INLINE void block_gather(const Op *op, const real *x, int64_t i, int64_t k, int side, Vec *f, Vec *t) {
    Vec g = block_impulse(op, i, row_load(x, i));
    *f = vec_madd(*f, (real)side, g);
#if SAND_ROWS == 3 || !SAND_RADIAL
    *t = vec_add(*t, block_turning(op, i, k, side, g));
#else
    (void)t, (void)k; // a normal impulse on a sphere does not turn it
#endif
}

SAND_INLINE Vec body_turn(const Op *op, int64_t k, Vec t) {
#if SAND_RADIAL
    return vec_scale(op->inverse_inertia[k], t);
#else
    const real *m = &op->inverse_inertia[6 * k];
    return vec_make(m[0] * t.x + m[3] * t.y + m[4] * t.z, m[3] * t.x + m[1] * t.y + m[5] * t.z, m[4] * t.x + m[5] * t.y + m[2] * t.z);
#endif
}

// Adds M^-1 (f, t) to the velocity of body k.
SAND_INLINE void body_add(const Op *op, Body *body, int64_t k, Vec f, Vec t) {
    real m = op->inverse_mass[k];
    Vec turn = body_turn(op, k, t);
    body->v[0] += m * f.x, body->v[1] += m * f.y, body->v[2] += m * f.z;
    body->w[0] += turn.x, body->w[1] += turn.y, body->w[2] += turn.z;
}

// Writes base + M^-1 (f, t) for body k; base is NULL for the product alone, without the free velocities.
SAND_INLINE void body_write(const Op *op, const Body *base, Body *out, int64_t k, Vec f, Vec t) {
    Body r = {{0, 0, 0, 0}, {0, 0, 0, op->free[k].w[3]}};
    if (base) r = base[k];
    body_add(op, &r, k, f, t);
    out[k] = r;
}

// Entries e0 .. e1-1 of the contacts of body k, counting those where it is a and then those where it is b.
SAND_INLINE void body_gather(const Op *op, const real *x, int64_t k, int e0, int e1, Vec *f, Vec *t) {
    int owned = op->first[k + 1] - op->first[k], begin = op->first[k], other = op->second[k] - owned;
    int middle = e1 < owned ? e1 : owned;
    for (int e = e0; e < middle; e++) block_gather(op, x, begin + e, k, -1, f, t);
    for (int e = e0 > owned ? e0 : owned; e < e1; e++) block_gather(op, x, op->list[other + e], k, +1, f, t);
}

SAND_INLINE int body_contacts(const Op *op, int64_t k) {
    return op->first[k + 1] - op->first[k] + op->second[k + 1] - op->second[k];
}

// out = base + M^-1 D x for all bodies; ends with a barrier. Bodies of many contacts are summed in pieces first.
SAND_TEXT void push(Worker *w, const Op *op, const real *x, const Body *base, Body *out) {
    if (op->hub_count) {
        SAND_EACH(w, p, op->piece_count) {
            int j = op->piece_hub[p], k = op->hub[j];
            int e0 = (int)(p - op->hub_piece[j]) * SAND_HUB, e1 = e0 + SAND_HUB, all = body_contacts(op, k);
            Vec f = vec_make(0, 0, 0), t = f;
            body_gather(op, x, k, e0, e1 < all ? e1 : all, &f, &t);
            Body sum = {{f.x, f.y, f.z, 0}, {t.x, t.y, t.z, 0}};
            op->piece_sum[p] = sum;
        }
    }
    SAND_EACH(w, k, op->dynamic_count) {
        int all = body_contacts(op, k);
        if (all > SAND_HUB) continue;
        Vec f = vec_make(0, 0, 0), t = f;
        body_gather(op, x, k, 0, all, &f, &t);
        body_write(op, base, out, k, f, t);
    }
    sand_barrier(w);
    if (op->hub_count) {
        SAND_EACH(w, j, op->hub_count) {
            Vec f = vec_make(0, 0, 0), t = f;
            for (int p = op->hub_piece[j]; p < op->hub_piece[j + 1]; p++) {
                f = vec_add(f, vec_at(op->piece_sum[p].v));
                t = vec_add(t, vec_at(op->piece_sum[p].w));
            }
            body_write(op, base, out, op->hub[j], f, t);
        }
        sand_barrier(w);
    }
}
