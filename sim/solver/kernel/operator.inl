// The operator a solver sees: blocks, the product with N = D' M^-1 D, and the projection on K. N is never
// assembled. The product is two gathers, with no atomics, so it gives the same bits every time:
//   gather_bodies  per body: sum the impulses of its contacts, scale by M^-1, add the free velocity. It reads the impulses
//   as
//         they were stored_impulses: a loop that makes the next x publishes its blocks as it goes. Where vectors are fours
//         (SAND_VEC4_ROWS) a vector is as good as stored_impulses
//   pull  per contact: the relative velocity of its two bodies at the point, plus the stabilization term
// so that pull after gather_bodies(x) is the gradient (N x + r)_i of q at x.
//
// SAND_ROWS is 3 (impulses are vectors in the world frame) or 1 (a frictionless problem: normal impulses alone).
// SAND_RADIAL is 1 when every moving body is a sphere: an arm is then its radius plus half the gap, along the
// normal, which spares two vectors a contact.
// In a problem of 3 rows a contact with mu = 0 keeps one row's worth: its gradient and its impulse lie along n.

// SAND_LOCAL is 1 where impulses are kept in the frame of their contact (normal, tangent, tangent): for methods that look
// at components, and for every friction model but the circular cone. They are turned when stored_impulses and pulled.
// SAND_COMPONENTS: the components of an impulse mean something.
#define SAND_COMPONENTS (SAND_ROWS == 1 || SAND_LOCAL)

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

enum { SAND_INERTIA_SIZE = SAND_RADIAL ? 1 : 6 }; // numbers of an inertia: a scalar, or xx, yy, zz, xy, xz, yz

// What belongs to a block and does not change in a solve. All in one array, so that a loop over the blocks walks
// through memory along few lines; but where an ContactRef fetches, what is in a spoke is in no second place.
enum {
#if SAND_LAYOUT_AOS
    CONTACT_MU,
    CONTACT_INVERSE_DIAGONAL,
    CONTACT_CONSTANTS,
#else
    CONTACT_NORMAL,           // 3 numbers
    CONTACT_HALF_GAP = 3,     // half the gap
    CONTACT_MU,               // friction
    CONTACT_INVERSE_DIAGONAL, // one over the mean diagonal, trace N_ii / rows
    CONTACT_DIAGONAL,         // the mean diagonal
    CONTACT_CONE_FACTOR,      // 1 / (1 + mu^2)
    CONTACT_ARM_A,            // 3 numbers, not when radial
    CONTACT_ARM_B = CONTACT_ARM_A + 3,
    CONTACT_CONSTANTS = SAND_RADIAL ? CONTACT_ARM_A : CONTACT_ARM_B + 3,
#endif
};

// P, by which steps are measured and preconditioned. P_DIAGONAL is p along a normal and `ratio` times as much across it,
// where p and the ratio make the mean diagonal of N_ii; a block of one row has a normal alone. P_UNIFORM is the mean of
// these diagonals for every block, the same in all directions.
typedef struct Preconditioner {
    real diagonal, mean;                      // of P_ii: diagonal N_ii + mean
    real inverse_mean;                        // of its inverse: diagonal / N_ii + inverse_mean
    real across, more, more_bare;             // what P_ii is multiplied by across a normal; how much more that is along it,
    real per_across, per_more, per_more_bare; // and where there is nothing across; the same of the inverse
    real ratio, root;                         // across / along, and the root of it
} Preconditioner;
enum { P_UNIFORM, P_DIAGONAL };

typedef struct Op {
    Index n;             // blocks, padded to SAND_LANES; the padding has no normal and touches the last body
    Index contact_count; // real ones
    int body_count;      // with boundaries and one last body that never moves
    int dynamic_count;
    real per_half;  // what makes half a gap the speed that closes it in a step: 2 / h
    real recovery;  // m/s, the fastest that a penetration is undone
    double tau;     // of the residual: 1 / mean(trace N_ii / rows)
    double per_tau; // 1 / tau
    real ratio;     // of P_DIAGONAL
    Preconditioner p[2];
    // DiagonalBlocks.
    const int *a, *b;
    const real *block; // CONTACT_CONSTANTS each
#if SAND_RADIAL || SAND_LAYOUT_AOS
    const real *record; // 4 numbers each, together: the normal and half the gap
#endif
#if !SAND_RADIAL
    const real *arm_a_record, *arm_b_record; // 4 numbers each, together: the arms
#endif
    real *impulse;    // 4 numbers each, together: what was stored_impulses
    real *vectors;    // block vectors for the method, one after the other: op_vector
    int64_t distance; // from one to the next
    // Bodies.
    const real *inverse_mass;
    const real *inverse_inertia;
    const Body *free;         // velocities before contact
    const Body *still;        // one body at rest
    Body *body;               // velocities now: what gather_bodies writes
    Body *scratch;            // room for the product alone: boundaries stand still
    Body *measured;           // room for measuring, which disturbs nothing
    const int *first;         // contacts first[k] .. first[k+1]-1 have body k as their a
    const int *second, *list; // contacts list[second[k] .. second[k+1]-1] have it as their b
    // Bodies of many contacts, gathered in pieces.
    int high_degree_count, segment_count;
    const int *high_degree;         // body of each hub
    const int *high_degree_segment; // pieces hub_piece[j] .. hub_piece[j+1]-1 are those of hub j
    const int *segment_body;        // hub of each piece
    Body *segment_sum;              // impulse and turning impulse of each piece
    // Colors for gauss-seidel: blocks color_list[color_first[c] ..] share no body; the last is the Jacobi batch.
    int color_count;
    const int *color_first, *color_list;
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
    real *de_saxce;                  // added to the normal velocity of each block: De Saxce's term
#endif
} Op;

#if SAND_LOCAL
// The size of a section is mu times the normal impulse and K is a cone; or it is a bound; or it is mu times the normal
// impulse at hand, and the projection is made as if it were a bound.
enum { FRICTION_CONE, FRICTION_BOUNDED, FRICTION_INSIDE };
#endif

SAND_INLINE Vec vec_of(const real *p) { return vec_make(p[0], p[1], p[2]); }
SAND_INLINE Vec vec_of_vec4(Vec4 f) { return vec_make(VEC4_X(f), VEC4_Y(f), VEC4_Z(f)); }

// --- blocks -----------------------------------------------------------------------------------------------

#if SAND_ROWS == 3
typedef Vec Row;
SAND_INLINE Row row_add(Row a, Row b) { return vec_add(a, b); }
SAND_INLINE Row row_sub(Row a, Row b) { return vec_sub(a, b); }
SAND_INLINE Row row_scale(real s, Row a) { return vec_scale(s, a); }
SAND_INLINE Row row_madd(Row a, real s, Row b) { return vec_madd(a, s, b); }
SAND_INLINE real row_dot(Row a, Row b) { return vec_dot(a, b); }
#if SAND_LAYOUT_AOS
SAND_INLINE Row row_load(const real *x, ContactRef ref) { return vec_of_vec4(vec4_load(x + 4 * contact_index(ref))); }
SAND_INLINE void row_store(real *x, ContactRef ref, Row r) { vec4_write(x + 4 * contact_index(ref), r.x, r.y, r.z, 0); }
#else
SAND_INLINE Row row_load(const real *x, ContactRef ref) {
    return vec_make(x[contact_number(ref, 3, 0)], x[contact_number(ref, 3, 1)], x[contact_number(ref, 3, 2)]);
}
SAND_INLINE void row_store(real *x, ContactRef ref, Row r) {
    x[contact_number(ref, 3, 0)] = r.x, x[contact_number(ref, 3, 1)] = r.y, x[contact_number(ref, 3, 2)] = r.z;
}
#endif
#else
typedef real Row;
SAND_INLINE Row row_add(Row a, Row b) { return a + b; }
SAND_INLINE Row row_sub(Row a, Row b) { return a - b; }
SAND_INLINE Row row_scale(real s, Row a) { return s * a; }
SAND_INLINE Row row_madd(Row a, real s, Row b) { return a + s * b; }
SAND_INLINE real row_dot(Row a, Row b) { return a * b; }
SAND_INLINE Row row_load(const real *x, ContactRef ref) { return x[contact_index(ref)]; }
SAND_INLINE void row_store(real *x, ContactRef ref, Row r) { x[contact_index(ref)] = r; }
#endif

enum { ROW_SIZE = SAND_LAYOUT_AOS && SAND_ROWS == 3 ? 4 : SAND_ROWS }; // of a block in a vector

// What belongs to a block: normal, half its gap, friction, one over the mean diagonal of N_ii, that diagonal,
// 1 / (1 + mu^2), and its arms where they do not lie along the normal.
#if SAND_LAYOUT_AOS
// A block at hand, with all that was fetched; what a loop does not use is not loaded.
SAND_INLINE ContactRef contact_ref(const Op *op, Index i) {
    ContactRef ref = contact_ref_bare(i);
    ref.record = vec4_load_fixed(op->record + 4 * i);
    ref.mu = SAND_FIXED(&op->block[CONTACT_CONSTANTS * i + CONTACT_MU]);
    ref.inverse = SAND_FIXED(&op->block[CONTACT_CONSTANTS * i + CONTACT_INVERSE_DIAGONAL]);
    return ref;
}
SAND_INLINE Vec4 contact_record(const Op *op, ContactRef ref) { return (void)op, ref.record; } // normal and half the gap
SAND_INLINE Vec contact_normal(const Op *op, ContactRef ref) { return (void)op, vec_of_vec4(ref.record); }
SAND_INLINE real contact_half_gap(const Op *op, ContactRef ref) { return (void)op, vec4_last(ref.record); }
SAND_INLINE real contact_mu(const Op *op, ContactRef ref) { return (void)op, ref.mu; }
SAND_INLINE real contact_inverse_diagonal(const Op *op, ContactRef ref) { return (void)op, ref.inverse; }
SAND_INLINE real contact_diagonal(const Op *op, ContactRef ref) { return (void)op, real_rough_inverse(ref.inverse); }
SAND_INLINE real contact_cone_factor(const Op *op, ContactRef ref) {
    return (void)op, real_rough_inverse(1 + ref.mu * ref.mu);
}
#if !SAND_RADIAL
SAND_INLINE Vec contact_arm_a(const Op *op, ContactRef ref) {
    return vec_of_vec4(vec4_load_fixed(op->arm_a_record + 4 * contact_index(ref)));
}
SAND_INLINE Vec contact_arm_b(const Op *op, ContactRef ref) {
    return vec_of_vec4(vec4_load_fixed(op->arm_b_record + 4 * contact_index(ref)));
}
#endif
#else
SAND_INLINE ContactRef contact_ref(const Op *op, Index i) { return (void)op, contact_ref_bare(i); }
#if SAND_RADIAL
SAND_INLINE Vec4 contact_record(const Op *op, ContactRef ref) { return vec4_load(op->record + 4 * contact_index(ref)); }
#endif
SAND_INLINE real contact_constant(const Op *op, ContactRef ref, int k) {
    return op->block[contact_number(ref, CONTACT_CONSTANTS, k)];
}
SAND_INLINE Vec contact_constants(const Op *op, ContactRef ref, int k) {
    return vec_make(contact_constant(op, ref, k), contact_constant(op, ref, k + 1), contact_constant(op, ref, k + 2));
}
SAND_INLINE Vec contact_normal(const Op *op, ContactRef ref) { return contact_constants(op, ref, CONTACT_NORMAL); }
SAND_INLINE real contact_half_gap(const Op *op, ContactRef ref) { return contact_constant(op, ref, CONTACT_HALF_GAP); }
SAND_INLINE real contact_mu(const Op *op, ContactRef ref) { return contact_constant(op, ref, CONTACT_MU); }
SAND_INLINE real contact_inverse_diagonal(const Op *op, ContactRef ref) {
    return contact_constant(op, ref, CONTACT_INVERSE_DIAGONAL);
}
SAND_INLINE real contact_diagonal(const Op *op, ContactRef ref) { return contact_constant(op, ref, CONTACT_DIAGONAL); }
SAND_INLINE real contact_cone_factor(const Op *op, ContactRef ref) { return contact_constant(op, ref, CONTACT_CONE_FACTOR); }
#if !SAND_RADIAL
SAND_INLINE Vec contact_arm_a(const Op *op, ContactRef ref) { return contact_constants(op, ref, CONTACT_ARM_A); }
SAND_INLINE Vec contact_arm_b(const Op *op, ContactRef ref) { return contact_constants(op, ref, CONTACT_ARM_B); }
#endif
#endif

// The stabilization term b_i = max(gap / h, -recovery), with De Saxce's term where there is one.
SAND_INLINE real contact_bias(const Op *op, ContactRef ref, real half_gap) {
    real bias = real_max(half_gap * op->per_half, -op->recovery);
#if SAND_LOCAL
    return bias + op->de_saxce[contact_index(ref)];
#else
    return (void)ref, bias;
#endif
}

// The part of r along the normal.
SAND_INLINE real row_normal(const Op *op, ContactRef ref, Row r) {
#if SAND_ROWS == 1
    return (void)op, (void)ref, r;
#elif SAND_LOCAL
    return (void)op, (void)ref, r.x;
#else
    return vec_dot(r, contact_normal(op, ref));
#endif
}
// r with so much more along the normal.
SAND_INLINE Row row_add_normal(const Op *op, ContactRef ref, Row r, real more) {
#if SAND_ROWS == 1
    return (void)op, (void)ref, r + more;
#elif SAND_LOCAL
    return (void)op, (void)ref, vec_make(r.x + more, r.y, r.z);
#else
    return vec_madd(r, more, contact_normal(op, ref));
#endif
}

SAND_INLINE Preconditioner preconditioner_make(const Op *op, bool diagonal) {
    Preconditioner p;
    p.diagonal = diagonal ? (real)1 : (real)0;
    p.mean = diagonal ? (real)0 : (real)op->per_tau, p.inverse_mean = diagonal ? (real)0 : (real)op->tau;
    p.ratio = diagonal ? op->ratio : (real)1, p.root = real_sqrt(p.ratio);
    real along = 3 / (1 + 2 * p.ratio);
    p.across = p.ratio * along, p.more = along - p.across, p.more_bare = 1 - p.across;
    p.per_across = 1 / p.across, p.per_more = 1 / along - p.per_across, p.per_more_bare = 1 - p.per_across;
    return p;
}
SAND_INLINE real preconditioner_at(const Op *op, Preconditioner p, ContactRef ref) {
    return real_ma(p.diagonal, contact_diagonal(op, ref), p.mean);
}
SAND_INLINE real preconditioner_inverse_at(const Op *op, Preconditioner p, ContactRef ref) {
    return real_ma(p.diagonal, contact_inverse_diagonal(op, ref), p.inverse_mean);
}
SAND_INLINE bool contact_has_friction(const Op *op, ContactRef ref) { return SAND_ROWS == 3 && contact_mu(op, ref) > 0; }

// d'Pd and y'P^-1 y of a block.
SAND_INLINE real preconditioner_square(const Op *op, Preconditioner p, ContactRef ref, Row d) {
    real n = row_normal(op, ref, d), more = contact_has_friction(op, ref) ? p.more : p.more_bare;
    return preconditioner_at(op, p, ref) * real_ma(more * n, n, p.across * row_dot(d, d));
}
SAND_INLINE real preconditioner_inverse_square(const Op *op, Preconditioner p, ContactRef ref, Row y) {
    real n = row_normal(op, ref, y), more = contact_has_friction(op, ref) ? p.per_more : p.per_more_bare;
    return preconditioner_inverse_at(op, p, ref) * real_ma(more * n, n, p.per_across * row_dot(y, y));
}

// x - alpha P^-1 g of a block. The step along the sides is made in all directions; then the normal part, which is known
// beside it, is what is off by `more` times its gradient.
typedef struct Stepped {
    Row x;
    real more;
} Stepped;
SAND_INLINE Stepped preconditioned_step(const Op *op, Preconditioner p, ContactRef ref, Row x, real alpha, Row g) {
    real t = -alpha * preconditioner_inverse_at(op, p, ref);
    real more = contact_has_friction(op, ref) ? p.per_more : p.per_more_bare;
    Stepped s = {row_madd(x, t * p.per_across, g), t * more * row_normal(op, ref, g)};
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
SAND_INLINE real contact_bound(const Op *op, ContactRef ref, real normal) {
    return op->set == FRICTION_INSIDE ? contact_mu(op, ref) * normal : op->bound[contact_index(ref)];
}
#endif

SAND_INLINE Row contact_project(const Op *op, ContactRef ref, Row x) {
#if SAND_LOCAL
    if (op->set == FRICTION_CONE) return section_cone(op, x, contact_mu(op, ref), contact_cone_factor(op, ref));
    x.x = real_max(x.x, 0);
    return section_project(op, x, contact_bound(op, ref, x.x));
#elif SAND_ROWS == 3
    return cone_project(x, contact_normal(op, ref), contact_mu(op, ref), contact_cone_factor(op, ref));
#else
    return (void)op, (void)ref, real_max(x, 0);
#endif
}

// A projected gradient step: the point of K that is nearest to x - alpha P^-1 g, as P measures. Where K is not a cone its
// normal and its sides are projected apart, so that the measure makes no difference.
SAND_INLINE Row contact_step(const Op *op, ContactRef ref, Row x, Row g, real alpha, Preconditioner p) {
    Stepped s = preconditioned_step(op, p, ref, x, alpha, g);
#if SAND_ROWS == 3 && !SAND_LOCAL
    real mu = contact_mu(op, ref), flat = real_rough_inverse(real_ma(p.ratio * mu, mu, 1));
    return cone_project_by(s.x, s.more, contact_normal(op, ref), mu, p.ratio, flat);
#else
    Row y = row_add_normal(op, ref, s.x, s.more);
#if SAND_LOCAL
    if (op->set == FRICTION_CONE) { // with its sides stretched the distance is the usual one
        real mu = p.root * contact_mu(op, ref);
        Vec z = section_cone(op, vec_make(y.x, p.root * y.y, p.root * y.z), mu, 1 / (1 + mu * mu));
        return vec_make(z.x, z.y / p.root, z.z / p.root);
    }
#endif
    return contact_project(op, ref, y);
#endif
}

// The impulse on b as a vector of the world.
SAND_INLINE Vec contact_impulse(const Op *op, ContactRef ref, Row r) {
#if SAND_LOCAL
    return basis_out(basis_of(contact_normal(op, ref)), r);
#elif SAND_ROWS == 3
    return (void)op, (void)ref, r;
#else
    return vec_scale(r, contact_normal(op, ref));
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
SAND_INLINE Row contact_gradient(const Op *op, ContactRef ref, Pair p) {
    Vec n = contact_normal(op, ref);
#if SAND_RADIAL
    Vec u = vec_sub(p.u, vec_cross(p.s, n));
#else
    Vec u = vec_add(p.u, vec_sub(vec_cross(p.wb, contact_arm_b(op, ref)), vec_cross(p.wa, contact_arm_a(op, ref))));
#endif
    real bias = contact_bias(op, ref, p.half);
#if SAND_LOCAL
    Vec in = basis_in(basis_of(n), u);
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
SAND_INLINE Pair pair_of(const Op *op, ContactRef ref, Vec4 va, Vec4 wa, Vec4 vb, Vec4 wb) {
    Pair p;
    p.half = contact_half_gap(op, ref), p.mu = contact_mu(op, ref);
    p.u = vec_sub(vec_of_vec4(vb), vec_of_vec4(va));
#if SAND_RADIAL
    p.s = vec_madd(vec_scale(p.half + vec4_last(wa), vec_of_vec4(wa)), p.half + vec4_last(wb), vec_of_vec4(wb));
#else
    p.wa = vec_of_vec4(wa), p.wb = vec_of_vec4(wb);
#endif
    return p;
}

// The gradient of one contact.
SAND_INLINE Row contact_gradient_from(const Op *op, const Body *body, ContactRef ref) {
    const Body *a = &body[SAND_FIXED(&op->a[contact_index(ref)])], *b = &body[SAND_FIXED(&op->b[contact_index(ref)])];
    return contact_gradient(op, ref, pair_of(op, ref, vec4_load(a->v), vec4_load(a->w), vec4_load(b->v), vec4_load(b->w)));
}
#if SAND_UNCOORDINATED
// The same from velocities that others are changing.
SAND_INLINE Row contact_gradient_now(const Op *op, const Body *body, ContactRef ref) {
    const Body *a = &body[SAND_FIXED(&op->a[contact_index(ref)])], *b = &body[SAND_FIXED(&op->b[contact_index(ref)])];
    Pair p = pair_of(op, ref, vec4_load_now(a->v), vec4_load_now(a->w), vec4_load_now(b->v), vec4_load_now(b->w));
    return contact_gradient(op, ref, p);
}
#endif

// For hot loops: SAND_FOR_GRADIENTS(w, i, op, body, &sum) { Row g = SAND_GRADIENT(op, at); ... }. On the CPU the bodies of a
// tile are fetched first, each as whole vectors, so that the rest goes side by side; then its gradients are computed in
// a short loop of their own, of which a processor can have several rounds under way at once.
#if SAND_LAYOUT_AOS
#define SAND_FOR_GRADIENTS(w, i, op, from, sum) \
    for (const Body *pull_from_ = from; pull_from_; pull_from_ = NULL) SAND_UNROLL(2) SAND_FOR_BACKWARDS(w, i, (op)->n, sum)
#define SAND_GRADIENT(op, ref) contact_gradient_from(op, pull_from_, ref)
#else
typedef struct Tile {
    Index begin;
    Vec4 u[SAND_LANES]; // the fourth is half the gap
#if SAND_RADIAL
    Vec4 s[SAND_LANES]; // the fourth is mu
#else
    Vec4 wa[SAND_LANES], wb[SAND_LANES]; // the fourth is mu
#endif
    real gradient[SAND_ROWS * SAND_LANES];
} Tile;

SAND_INLINE Row tile_gradient(const Tile *tile, const Op *op, ContactRef ref) {
    Pair p;
    const real *u = (const real *)tile->u + 4 * ref.lane;
    p.u = vec_of(u), p.half = u[3];
#if SAND_RADIAL
    const real *s = (const real *)tile->s + 4 * ref.lane;
    p.s = vec_of(s), p.mu = s[3];
#else
    const real *wa = (const real *)tile->wa + 4 * ref.lane, *wb = (const real *)tile->wb + 4 * ref.lane;
    p.wa = vec_of(wa), p.wb = vec_of(wb), p.mu = (real)0.5 * (wa[3] + wb[3]);
#endif
    return contact_gradient(op, ref, p);
}

SAND_INLINE bool tile_fetch(Tile *tile, const Op *op, const Body *body, Index begin, Index end) {
    if (begin >= end) return false;
    tile->begin = begin;
    for (int l = 0; l < SAND_LANES; l++) {
        const Body *a = &body[op->a[begin + l]], *b = &body[op->b[begin + l]];
        ContactRef ref = contact_ref_make(begin + l, begin);
        real half = contact_half_gap(op, ref), mu = contact_mu(op, ref);
        Vec4 wa = vec4_load(a->w), wb = vec4_load(b->w);
        tile->u[l] = vec4_with_last(vec4_sub(vec4_load(b->v), vec4_load(a->v)), half);
#if SAND_RADIAL
        Vec4 s = vec4_madd((half + vec4_last(wa)) * wa, half + vec4_last(wb), wb);
        tile->s[l] = vec4_with_last(s, mu);
#else
        tile->wa[l] = vec4_with_last(wa, mu), tile->wb[l] = vec4_with_last(wb, mu);
#endif
    }
#pragma omp simd
    for (int l = 0; l < SAND_LANES; l++)
        row_store(tile->gradient, contact_ref_make(l, 0), tile_gradient(tile, op, contact_ref_make(begin + l, begin)));
    return true;
}

// clang-format off
#define SAND_FOR_GRADIENTS(w, i, op, from, sum) \
    for (Cursor cursor_ = cursor_begin(w, (op)->n); cursor_next(w, &cursor_, sum);) \
        for (Tile fetched_ = {.begin = cursor_.begin - SAND_LANES}; \
             tile_fetch(&fetched_, op, from, fetched_.begin + SAND_LANES, cursor_.end);) \
            for (Index tile_ = fetched_.begin, once_ = 1; once_; once_ = 0) \
                _Pragma("omp simd") for (Index i = tile_; i < tile_ + SAND_LANES; i++)
// clang-format on
#define SAND_GRADIENT(op, ref) row_load(fetched_.gradient, contact_ref_make((ref).lane, 0))
#endif

// What a pull gave, without the stabilization term: the product with N alone, when the free velocities were left
// out of the gather_bodies.
SAND_INLINE Row contact_without_bias(const Op *op, ContactRef ref, Row y) {
    real bias = contact_bias(op, ref, contact_half_gap(op, ref));
#if SAND_LOCAL
    return vec_make(y.x - bias, y.y, y.z);
#elif SAND_ROWS == 3
    return vec_madd(y, -bias, contact_normal(op, ref));
#else
    return y - bias;
#endif
}

#include "sim/solver/kernel/gather.inl"

#if SAND_LOCAL
#include "sim/solver/kernel/local_solve.inl"
#endif
