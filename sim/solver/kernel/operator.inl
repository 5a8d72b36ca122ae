// The operator a solver sees: blocks, the product with N = D' M^-1 D, and the projection on K. N is never
// assembled. The product is two gathers, with no atomics, so it gives the same bits every time:
//   push  per body: sum the impulses of its contacts, scale by M^-1, add the free velocity. It reads the impulses as
//         they were published: a loop that makes the next x publishes its blocks as it goes. Where vectors are fours
//         (SAND_FOURS) a vector is as good as published
//   pull  per contact: the relative velocity of its two bodies at the point, plus the stabilisation term
// so that pull after push(x) is the gradient (N x + r)_i of q at x.
//
// SAND_ROWS is 3 (impulses are vectors in the world frame) or 1 (a frictionless problem: normal impulses alone).
// SAND_RADIAL is 1 when every moving body is a sphere: an arm is then its radius plus half the gap, along the
// normal, which spares two vectors a contact.
// In a problem of 3 rows a contact with mu = 0 keeps one row's worth: its gradient and its impulse lie along n.

// SAND_LOCAL is 1 where impulses are kept in the frame of their contact (normal, tangent, tangent): for methods that look
// at components, and for every friction model but the circular cone. They are turned when published and pulled.
// SAND_PARTS: the components of an impulse mean something.
#define SAND_PARTS (SAND_ROWS == 1 || SAND_LOCAL)

#define SAND_VEC_INLINE SAND_INLINE
#define SAND_VEC Vec
#define SAND_SCALAR real
#define SAND_VF(name) vec_##name
#define SAND_MA(a, b, c) real_ma(a, b, c)
#include "sim/core/vec.inl"

// The velocity of a body, in fours so that one load fetches a vector.
typedef struct Body {
    real v[4]; // the fourth is not used
    real w[4]; // the fourth is the radius of a sphere
} Body;

enum { SAND_INERTIA = SAND_RADIAL ? 1 : 6 }; // numbers of an inertia: a scalar, or xx, yy, zz, xy, xz, yz

// What belongs to a block and does not change in a solve. All in one array, so that a loop over the blocks walks
// through memory along few lines; but where an At fetches, what is in a spoke is in no second place.
enum {
#if SAND_FETCHES
    BLOCK_MU,
    BLOCK_INVERSE,
    BLOCK_NUMBERS,
#else
    BLOCK_NORMAL,   // 3 numbers
    BLOCK_HALF = 3, // half the gap
    BLOCK_MU,       // friction
    BLOCK_INVERSE,  // one over the mean diagonal, trace N_ii / rows
    BLOCK_WEIGHT,   // the mean diagonal
    BLOCK_FLAT,     // 1 / (1 + mu^2)
    BLOCK_ARM_A,    // 3 numbers, not when radial
    BLOCK_ARM_B = BLOCK_ARM_A + 3,
    BLOCK_NUMBERS = SAND_RADIAL ? BLOCK_ARM_A : BLOCK_ARM_B + 3,
#endif
};

// P, by which steps are measured and preconditioned. P_DIAGONAL is p along a normal and `ratio` times as much across it,
// where p and the ratio make the mean diagonal of N_ii; a block of one row has a normal alone. P_MEAN is the mean of these
// diagonals for every block, the same in all directions.
typedef struct Weight {
    real diagonal, mean;                      // of P_ii: diagonal N_ii + mean
    real inverse_mean;                        // of its inverse: diagonal / N_ii + inverse_mean
    real across, more, more_bare;             // what P_ii is multiplied by across a normal; how much more that is along it,
    real per_across, per_more, per_more_bare; // and where there is nothing across; the same of the inverse
    real ratio, root;                         // across / along, and the root of it
} Weight;
enum { P_MEAN, P_DIAGONAL };

typedef struct Op {
    Index n;        // blocks, padded to SAND_LANES; the padding has no normal and touches the last body
    Index blocks;   // real ones
    int body_count; // with boundaries and one last body that never moves
    int dynamic_count;
    real per_half;  // what makes half a gap the speed that closes it in a step: 2 / h
    real recovery;  // m/s, the fastest that a penetration is undone
    double tau;     // of the residual: 1 / mean(trace N_ii / rows)
    double per_tau; // 1 / tau
    real ratio;     // of P_DIAGONAL
    Weight p[2];
    // Blocks.
    const int *a, *b;
    const real *block; // BLOCK_NUMBERS each
#if SAND_RADIAL || SAND_FETCHES
    const real *spoke; // 4 numbers each, together: the normal and half the gap
#endif
#if !SAND_RADIAL
    const real *spoke_a, *spoke_b; // 4 numbers each, together: the arms
#endif
    real *impulse;    // 4 numbers each, together: what was published
    real *vectors;    // block vectors for the method, one after the other: op_vector
    int64_t distance; // from one to the next
    // Bodies.
    const real *inverse_mass;
    const real *inverse_inertia;
    const Body *free;         // velocities before contact
    const Body *still;        // one body at rest
    Body *body;               // velocities now: what push writes
    Body *scratch;            // room for the product alone: boundaries stand still
    Body *measured;           // room for measuring, which disturbs nothing
    const int *first;         // contacts first[k] .. first[k+1]-1 have body k as their a
    const int *second, *list; // contacts list[second[k] .. second[k+1]-1] have it as their b
    // Bodies of many contacts, gathered in pieces.
    int hub_count, piece_count;
    const int *hub;       // body of each hub
    const int *hub_piece; // pieces hub_piece[j] .. hub_piece[j+1]-1 are those of hub j
    const int *piece_hub; // hub of each piece
    Body *piece_sum;      // impulse and turning impulse of each piece
    // Colours for gauss-seidel: blocks colour_list[colour_first[c] ..] share no body; the last is the Jacobi batch.
    int colour_count;
    const int *colour_first, *colour_list;
    const real *batch_step; // one over the diagonal when hubs are split among their contacts
    // A stored matrix in place of bodies (operator_matrix.inl): blocks matrix_first[i] .. of row i, 9 numbers each.
    bool is_matrix;
    const int *matrix_first, *matrix_column;
    const real *matrix_block;
#if SAND_LOCAL
    // The friction model; see friction.inl.
    SandSection section;
    int set;                         // one of FRICTION_
    bool law;                        // the result is to obey Coulomb's law, and is measured by it
    int facets;                      // of a section that is a polygon
    real apothem, edge;              // of a section of size 1: distance of a facet, half its length
    real facet[2 * SAND_MAX_FACETS]; // outward normals
    real *bound;                     // size of the section of each block, for FRICTION_BOUNDED
    real *lift;                      // added to the normal velocity of each block: De Saxce's term
#endif
} Op;

#if SAND_LOCAL
// The size of a section is mu times the normal impulse and K is a cone; or it is a bound; or it is mu times the normal
// impulse at hand, and the projection is made as if it were a bound.
enum { FRICTION_CONE, FRICTION_BOUNDED, FRICTION_INSIDE };
#endif

SAND_INLINE Vec vec_of(const real *p) { return vec_make(p[0], p[1], p[2]); }
SAND_INLINE Vec vec_of_four(Four f) { return vec_make(FOUR_X(f), FOUR_Y(f), FOUR_Z(f)); }

// --- blocks -----------------------------------------------------------------------------------------------

#if SAND_ROWS == 3
typedef Vec Row;
SAND_INLINE Row row_add(Row a, Row b) { return vec_add(a, b); }
SAND_INLINE Row row_sub(Row a, Row b) { return vec_sub(a, b); }
SAND_INLINE Row row_scale(real s, Row a) { return vec_scale(s, a); }
SAND_INLINE Row row_madd(Row a, real s, Row b) { return vec_madd(a, s, b); }
SAND_INLINE real row_dot(Row a, Row b) { return vec_dot(a, b); }
#if SAND_FETCHES
SAND_INLINE Row row_load(const real *x, At at) { return vec_of_four(four_load(x + 4 * at_block(at))); }
SAND_INLINE void row_store(real *x, At at, Row r) { four_write(x + 4 * at_block(at), r.x, r.y, r.z, 0); }
#else
SAND_INLINE Row row_load(const real *x, At at) {
    return vec_make(x[at_number(at, 3, 0)], x[at_number(at, 3, 1)], x[at_number(at, 3, 2)]);
}
SAND_INLINE void row_store(real *x, At at, Row r) {
    x[at_number(at, 3, 0)] = r.x, x[at_number(at, 3, 1)] = r.y, x[at_number(at, 3, 2)] = r.z;
}
#endif
#else
typedef real Row;
SAND_INLINE Row row_add(Row a, Row b) { return a + b; }
SAND_INLINE Row row_sub(Row a, Row b) { return a - b; }
SAND_INLINE Row row_scale(real s, Row a) { return s * a; }
SAND_INLINE Row row_madd(Row a, real s, Row b) { return a + s * b; }
SAND_INLINE real row_dot(Row a, Row b) { return a * b; }
SAND_INLINE Row row_load(const real *x, At at) { return x[at_block(at)]; }
SAND_INLINE void row_store(real *x, At at, Row r) { x[at_block(at)] = r; }
#endif

enum { ROW_NUMBERS = SAND_FETCHES && SAND_ROWS == 3 ? 4 : SAND_ROWS }; // of a block in a vector

// What belongs to a block: normal, half its gap, friction, one over the mean diagonal of N_ii, that diagonal,
// 1 / (1 + mu^2), and its arms where they do not lie along the normal.
#if SAND_FETCHES
// A block at hand, with all that was fetched; what a loop does not use is not loaded.
SAND_INLINE At at_of(const Op *op, Index i) {
    At at = at_bare(i);
    at.spoke = four_load_fixed(op->spoke + 4 * i);
    at.mu = SAND_FIXED(&op->block[BLOCK_NUMBERS * i + BLOCK_MU]);
    at.inverse = SAND_FIXED(&op->block[BLOCK_NUMBERS * i + BLOCK_INVERSE]);
    return at;
}
SAND_INLINE Four block_spoke(const Op *op, At at) { return (void)op, at.spoke; } // normal and half the gap
SAND_INLINE Vec block_normal(const Op *op, At at) { return (void)op, vec_of_four(at.spoke); }
SAND_INLINE real block_half(const Op *op, At at) { return (void)op, four_last(at.spoke); }
SAND_INLINE real block_mu(const Op *op, At at) { return (void)op, at.mu; }
SAND_INLINE real block_inverse(const Op *op, At at) { return (void)op, at.inverse; }
SAND_INLINE real block_weight(const Op *op, At at) { return (void)op, real_rough_inverse(at.inverse); }
SAND_INLINE real block_flat(const Op *op, At at) { return (void)op, real_rough_inverse(1 + at.mu * at.mu); }
#if !SAND_RADIAL
SAND_INLINE Vec block_arm_a(const Op *op, At at) { return vec_of_four(four_load_fixed(op->spoke_a + 4 * at_block(at))); }
SAND_INLINE Vec block_arm_b(const Op *op, At at) { return vec_of_four(four_load_fixed(op->spoke_b + 4 * at_block(at))); }
#endif
#else
SAND_INLINE At at_of(const Op *op, Index i) { return (void)op, at_bare(i); }
#if SAND_RADIAL
SAND_INLINE Four block_spoke(const Op *op, At at) { return four_load(op->spoke + 4 * at_block(at)); }
#endif
SAND_INLINE real block_number(const Op *op, At at, int k) { return op->block[at_number(at, BLOCK_NUMBERS, k)]; }
SAND_INLINE Vec block_vector(const Op *op, At at, int k) {
    return vec_make(block_number(op, at, k), block_number(op, at, k + 1), block_number(op, at, k + 2));
}
SAND_INLINE Vec block_normal(const Op *op, At at) { return block_vector(op, at, BLOCK_NORMAL); }
SAND_INLINE real block_half(const Op *op, At at) { return block_number(op, at, BLOCK_HALF); }
SAND_INLINE real block_mu(const Op *op, At at) { return block_number(op, at, BLOCK_MU); }
SAND_INLINE real block_inverse(const Op *op, At at) { return block_number(op, at, BLOCK_INVERSE); }
SAND_INLINE real block_weight(const Op *op, At at) { return block_number(op, at, BLOCK_WEIGHT); }
SAND_INLINE real block_flat(const Op *op, At at) { return block_number(op, at, BLOCK_FLAT); }
#if !SAND_RADIAL
SAND_INLINE Vec block_arm_a(const Op *op, At at) { return block_vector(op, at, BLOCK_ARM_A); }
SAND_INLINE Vec block_arm_b(const Op *op, At at) { return block_vector(op, at, BLOCK_ARM_B); }
#endif
#endif

// The stabilisation term b_i = max(gap / h, -recovery), with De Saxce's term where there is one.
SAND_INLINE real block_bias(const Op *op, At at, real half_gap) {
    real bias = real_max(half_gap * op->per_half, -op->recovery);
#if SAND_LOCAL
    return bias + op->lift[at_block(at)];
#else
    return (void)at, bias;
#endif
}

// The part of r along the normal.
SAND_INLINE real row_normal(const Op *op, At at, Row r) {
#if SAND_ROWS == 1
    return (void)op, (void)at, r;
#elif SAND_LOCAL
    return (void)op, (void)at, r.x;
#else
    return vec_dot(r, block_normal(op, at));
#endif
}
// r with so much more along the normal.
SAND_INLINE Row row_add_normal(const Op *op, At at, Row r, real more) {
#if SAND_ROWS == 1
    return (void)op, (void)at, r + more;
#elif SAND_LOCAL
    return (void)op, (void)at, vec_make(r.x + more, r.y, r.z);
#else
    return vec_madd(r, more, block_normal(op, at));
#endif
}

SAND_INLINE Weight weight_make(const Op *op, bool diagonal) {
    Weight p;
    p.diagonal = diagonal ? (real)1 : (real)0;
    p.mean = diagonal ? (real)0 : (real)op->per_tau, p.inverse_mean = diagonal ? (real)0 : (real)op->tau;
    p.ratio = diagonal ? op->ratio : (real)1, p.root = real_sqrt(p.ratio);
    real along = 3 / (1 + 2 * p.ratio);
    p.across = p.ratio * along, p.more = along - p.across, p.more_bare = 1 - p.across;
    p.per_across = 1 / p.across, p.per_more = 1 / along - p.per_across, p.per_more_bare = 1 - p.per_across;
    return p;
}
SAND_INLINE real weight_at(const Op *op, Weight p, At at) { return real_ma(p.diagonal, block_weight(op, at), p.mean); }
SAND_INLINE real weight_inverse(const Op *op, Weight p, At at) {
    return real_ma(p.diagonal, block_inverse(op, at), p.inverse_mean);
}
SAND_INLINE bool block_has_sides(const Op *op, At at) { return SAND_ROWS == 3 && block_mu(op, at) > 0; }

// d'Pd and y'P^-1 y of a block.
SAND_INLINE real weight_square(const Op *op, Weight p, At at, Row d) {
    real n = row_normal(op, at, d), more = block_has_sides(op, at) ? p.more : p.more_bare;
    return weight_at(op, p, at) * real_ma(more * n, n, p.across * row_dot(d, d));
}
SAND_INLINE real weight_inverse_square(const Op *op, Weight p, At at, Row y) {
    real n = row_normal(op, at, y), more = block_has_sides(op, at) ? p.per_more : p.per_more_bare;
    return weight_inverse(op, p, at) * real_ma(more * n, n, p.per_across * row_dot(y, y));
}

// x - alpha P^-1 g of a block. The step along the sides is made in all directions; then the normal part, which is known
// beside it, is what is off by `more` times its gradient.
typedef struct Stepped {
    Row x;
    real more;
} Stepped;
SAND_INLINE Stepped weight_step(const Op *op, Weight p, At at, Row x, real alpha, Row g) {
    real t = -alpha * weight_inverse(op, p, at);
    real more = block_has_sides(op, at) ? p.per_more : p.per_more_bare;
    Stepped s = {row_madd(x, t * p.per_across, g), t * more * row_normal(op, at, g)};
    return s;
}

// --- projection -------------------------------------------------------------------------------------------

// Nearest point to x + more n of the friction cone around the unit vector n, where a distance across n counts `ratio` times
// as much as one along it (their squares, that is). Without branches, so that lanes go side by side. flat = 1 / (1 + ratio
// mu^2).
SAND_INLINE Vec cone_project_by(Vec x, real more, Vec n, real mu, real ratio, real flat) {
    real xn = vec_dot(x, n);
    Vec t = vec_madd(x, -xn, n);
    xn += more;
    real per_xt, xt = real_length(vec_dot(t, t), &per_xt);
    real q = real_ma(ratio * mu, xt, xn) * flat; // normal part of the nearest point on the surface
    q = real_max(q, 0);                          // below zero: the polar cone, whose nearest point is the tip
    real side = mu * q * per_xt;                 // how much of t is left
    bool within = (xt <= mu * xn) & (xn >= 0);   // the second for mu = 0
    real normal = within ? xn : q;
    side = within ? (real)1 : side;
    return vec_madd(vec_scale(side, t), normal, n);
}
SAND_INLINE Vec cone_project(Vec x, Vec n, real mu, real flat) { return cone_project_by(x, 0, n, mu, 1, flat); }

#if SAND_LOCAL
#include "sim/solver/kernel/friction.inl"

// Size of the section of a block whose normal impulse is this, where K is not a cone.
SAND_INLINE real block_bound(const Op *op, At at, real normal) {
    return op->set == FRICTION_INSIDE ? block_mu(op, at) * normal : op->bound[at_block(at)];
}
#endif

SAND_INLINE Row block_project(const Op *op, At at, Row x) {
#if SAND_LOCAL
    if (op->set == FRICTION_CONE) return section_cone(op, x, block_mu(op, at), block_flat(op, at));
    x.x = real_max(x.x, 0);
    return section_project(op, x, block_bound(op, at, x.x));
#elif SAND_ROWS == 3
    return cone_project(x, block_normal(op, at), block_mu(op, at), block_flat(op, at));
#else
    return (void)op, (void)at, real_max(x, 0);
#endif
}

// A projected gradient step: the point of K that is nearest to x - alpha P^-1 g, as P measures. Where K is not a cone its
// normal and its sides are projected apart, so that the measure makes no difference.
SAND_INLINE Row block_step(const Op *op, At at, Row x, Row g, real alpha, Weight p) {
    Stepped s = weight_step(op, p, at, x, alpha, g);
#if SAND_ROWS == 3 && !SAND_LOCAL
    real mu = block_mu(op, at), flat = real_rough_inverse(real_ma(p.ratio * mu, mu, 1));
    return cone_project_by(s.x, s.more, block_normal(op, at), mu, p.ratio, flat);
#else
    Row y = row_add_normal(op, at, s.x, s.more);
#if SAND_LOCAL
    if (op->set == FRICTION_CONE) { // with its sides stretched the distance is the usual one
        real mu = p.root * block_mu(op, at);
        Vec z = section_cone(op, vec_make(y.x, p.root * y.y, p.root * y.z), mu, 1 / (1 + mu * mu));
        return vec_make(z.x, z.y / p.root, z.z / p.root);
    }
#endif
    return block_project(op, at, y);
#endif
}

// The impulse on b as a vector of the world.
SAND_INLINE Vec block_impulse(const Op *op, At at, Row r) {
#if SAND_LOCAL
    return frame_out(frame_of(block_normal(op, at)), r);
#elif SAND_ROWS == 3
    return (void)op, (void)at, r;
#else
    return vec_scale(r, block_normal(op, at));
#endif
}

// --- the product: pull ------------------------------------------------------------------------------------

// What a contact reads of its two bodies, and what it needs beside its normal.
typedef struct Pair {
    Vec u; // difference of velocities, b minus a
#if SAND_RADIAL
    Vec s; // arms times spins, summed
#else
    Vec wa, wb;
#endif
    real half, mu;
} Pair;

// The gradient (N x + r)_i from the velocities of the two bodies.
SAND_INLINE Row block_gradient(const Op *op, At at, Pair p) {
    Vec n = block_normal(op, at);
#if SAND_RADIAL
    Vec u = vec_sub(p.u, vec_cross(p.s, n));
#else
    Vec u = vec_add(p.u, vec_sub(vec_cross(p.wb, block_arm_b(op, at)), vec_cross(p.wa, block_arm_a(op, at))));
#endif
    real bias = block_bias(op, at, p.half);
#if SAND_LOCAL
    Vec in = frame_in(frame_of(n), u);
    real keep = p.mu > 0 ? (real)1 : (real)0; // where mu = 0 only the normal row exists
    return vec_make(in.x + bias, keep * in.y, keep * in.z);
#elif SAND_ROWS == 3
    real un = vec_dot(u, n);
    // Where mu = 0 only the normal row exists.
    real keep = p.mu > 0 ? (real)1 : (real)0;
    return vec_madd(vec_scale(keep, u), un + bias - keep * un, n);
#else
    return vec_dot(u, n) + bias;
#endif
}

// What a contact reads of two bodies, v and w of each.
SAND_INLINE Pair pair_of(const Op *op, At at, Four va, Four wa, Four vb, Four wb) {
    Pair p;
    p.half = block_half(op, at), p.mu = block_mu(op, at);
    p.u = vec_sub(vec_of_four(vb), vec_of_four(va));
#if SAND_RADIAL
    p.s = vec_madd(vec_scale(p.half + four_last(wa), vec_of_four(wa)), p.half + four_last(wb), vec_of_four(wb));
#else
    p.wa = vec_of_four(wa), p.wb = vec_of_four(wb);
#endif
    return p;
}

// The gradient of one contact.
SAND_INLINE Row block_pull(const Op *op, const Body *body, At at) {
    const Body *a = &body[SAND_FIXED(&op->a[at_block(at)])], *b = &body[SAND_FIXED(&op->b[at_block(at)])];
    return block_gradient(op, at, pair_of(op, at, four_load(a->v), four_load(a->w), four_load(b->v), four_load(b->w)));
}
#if SAND_UNCOORDINATED
// The same from velocities that others are changing.
SAND_INLINE Row block_pull_now(const Op *op, const Body *body, At at) {
    const Body *a = &body[SAND_FIXED(&op->a[at_block(at)])], *b = &body[SAND_FIXED(&op->b[at_block(at)])];
    Pair p = pair_of(op, at, four_load_now(a->v), four_load_now(a->w), four_load_now(b->v), four_load_now(b->w));
    return block_gradient(op, at, p);
}
#endif

// For hot loops: SAND_FOR_PULL(w, i, op, body, &sum) { Row g = SAND_PULL(op, at); ... }. On the CPU the bodies of a
// tile are fetched first, each as whole vectors, so that the rest goes side by side; then its gradients are computed in
// a short loop of their own, of which a processor can have several rounds under way at once.
#if SAND_FETCHES
#define SAND_FOR_PULL(w, i, op, from, sum) \
    for (const Body *pull_from_ = from; pull_from_; pull_from_ = NULL) SAND_UNROLL(2) SAND_BACK(w, i, (op)->n, sum)
#define SAND_PULL(op, at) block_pull(op, pull_from_, at)
#else
typedef struct Tile {
    Index begin;
    Four u[SAND_LANES]; // the fourth is half the gap
#if SAND_RADIAL
    Four s[SAND_LANES]; // the fourth is mu
#else
    Four wa[SAND_LANES], wb[SAND_LANES]; // the fourth is mu
#endif
    real gradient[SAND_ROWS * SAND_LANES];
} Tile;

SAND_INLINE Row tile_gradient(const Tile *tile, const Op *op, At at) {
    Pair p;
    const real *u = (const real *)tile->u + 4 * at.lane;
    p.u = vec_of(u), p.half = u[3];
#if SAND_RADIAL
    const real *s = (const real *)tile->s + 4 * at.lane;
    p.s = vec_of(s), p.mu = s[3];
#else
    const real *wa = (const real *)tile->wa + 4 * at.lane, *wb = (const real *)tile->wb + 4 * at.lane;
    p.wa = vec_of(wa), p.wb = vec_of(wb), p.mu = (real)0.5 * (wa[3] + wb[3]);
#endif
    return block_gradient(op, at, p);
}

SAND_INLINE bool tile_fetch(Tile *tile, const Op *op, const Body *body, Index begin, Index end) {
    if (begin >= end) return false;
    tile->begin = begin;
    for (int l = 0; l < SAND_LANES; l++) {
        const Body *a = &body[op->a[begin + l]], *b = &body[op->b[begin + l]];
        At at = at_make(begin + l, begin);
        real half = block_half(op, at), mu = block_mu(op, at);
        Four wa = four_load(a->w), wb = four_load(b->w);
        tile->u[l] = four_with_last(four_sub(four_load(b->v), four_load(a->v)), half);
#if SAND_RADIAL
        Four s = four_madd((half + four_last(wa)) * wa, half + four_last(wb), wb);
        tile->s[l] = four_with_last(s, mu);
#else
        tile->wa[l] = four_with_last(wa, mu), tile->wb[l] = four_with_last(wb, mu);
#endif
    }
#pragma omp simd
    for (int l = 0; l < SAND_LANES; l++)
        row_store(tile->gradient, at_make(l, 0), tile_gradient(tile, op, at_make(begin + l, begin)));
    return true;
}

// clang-format off
#define SAND_FOR_PULL(w, i, op, from, sum) \
    for (Cursor cursor_ = cursor_begin(w, (op)->n); cursor_next(w, &cursor_, sum);) \
        for (Tile fetched_ = {.begin = cursor_.begin - SAND_LANES}; \
             tile_fetch(&fetched_, op, from, fetched_.begin + SAND_LANES, cursor_.end);) \
            for (Index tile_ = fetched_.begin, once_ = 1; once_; once_ = 0) \
                _Pragma("omp simd") for (Index i = tile_; i < tile_ + SAND_LANES; i++)
// clang-format on
#define SAND_PULL(op, at) row_load(fetched_.gradient, at_make((at).lane, 0))
#endif

// What a pull gave, without the stabilisation term: the product with N alone, when the free velocities were left
// out of the push.
SAND_INLINE Row block_without_bias(const Op *op, At at, Row y) {
    real bias = block_bias(op, at, block_half(op, at));
#if SAND_LOCAL
    return vec_make(y.x - bias, y.y, y.z);
#elif SAND_ROWS == 3
    return vec_madd(y, -bias, block_normal(op, at));
#else
    return y - bias;
#endif
}

#include "sim/solver/kernel/gather.inl"

#if SAND_LOCAL
#include "sim/solver/kernel/local_solve.inl"
#endif
