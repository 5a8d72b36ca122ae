// The problem of one contact alone, in its own frame: what gauss-seidel and ngs relax a contact by.

// N_ii, row by row: the velocity at the contact that a unit impulse along each axis makes.
typedef struct Block {
    real m[3][3];
} Block;

#if SAND_RADIAL
// The arms lie along the normal: spheres are turned by tangential impulses alone.
SAND_INLINE void block_add_body(const Op *op, Block *b, int k, real half) {
    if (k >= op->dynamic_count) return;
    real arm = half + op->free[k].w[3], side = op->inverse_mass[k] + op->inverse_inertia[k] * arm * arm;
    b->m[0][0] += op->inverse_mass[k], b->m[1][1] += side, b->m[2][2] += side;
}
#else
// Adds the part of one body, whose arm is given in the world.
SAND_INLINE void block_add_body(const Op *op, Block *b, Frame f, int k, Vec arm) {
    if (k >= op->dynamic_count) return;
    const Vec axes[3] = {f.n, f.t1, f.t2};
    for (int j = 0; j < 3; j++) {
        Vec w = body_turn(op, k, vec_cross(arm, axes[j]));
        Vec u = frame_in(f, vec_madd(vec_cross(w, arm), op->inverse_mass[k], axes[j]));
        b->m[0][j] += u.x, b->m[1][j] += u.y, b->m[2][j] += u.z;
    }
}
#endif

SAND_INLINE Block block_matrix(const Op *op, At at) {
    Block b = {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    int a = op->a[at_block(at)], other = op->b[at_block(at)];
#if SAND_RADIAL
    real half = block_number(op, at, BLOCK_HALF);
    block_add_body(op, &b, a, half);
    block_add_body(op, &b, other, half);
#else
    Frame f = frame_of(block_normal(op, at));
    block_add_body(op, &b, f, a, block_vector(op, at, BLOCK_ARM_A));
    block_add_body(op, &b, f, other, block_vector(op, at, BLOCK_ARM_B));
#endif
    return b;
}

// x with its normal row relaxed; g becomes the velocity after that.
SAND_INLINE real relax_normal(const Block *b, real x, Vec *g, real omega) {
    real z = b->m[0][0] > 0 ? real_max(x - omega * g->x / b->m[0][0], 0) : x, d = z - x;
    *g = vec_make(g->x + d * b->m[0][0], g->y + d * b->m[1][0], g->z + d * b->m[2][0]);
    return z;
}

// One row after the other, each within its bounds.
SAND_INLINE Row relax_rows(const Op *op, At at, Row x, Row g, real omega) {
    Block b = block_matrix(op, at);
    Row z = x;
    z.x = relax_normal(&b, x.x, &g, omega);
    if (!(block_number(op, at, BLOCK_MU) > 0)) return z;
    real r = block_bound(op, at, z.x);
    z.y = real_within(x.y - omega * g.y / b.m[1][1], r);
    g.z += (z.y - x.y) * b.m[2][1];
    z.z = real_within(x.z - omega * g.z / b.m[2][2], r);
    return z;
}

// The maximum dissipation problem ([P] eq. 14): the t of least t'At/2 + t'b with |t| <= r, A = (p q; q s), b = (c, d).
// Newton in the angle (eq. 15, 16), which starts from the solution without the bound and is needed only where the two
// tangents differ; a step that does not go down is halved.
SAND_INLINE void dissipate(real p, real q, real s, real c, real d, real r, real *t1, real *t2) {
    real det = p * s - q * q;
    real x = det > 0 ? (q * d - s * c) / det : -c, y = det > 0 ? (q * c - p * d) / det : -d;
    real length = real_sqrt(x * x + y * y);
    if (length > r) {
        real ca = x / length, sa = y / length;
        real f = (real)0.5 * r * r * (p * ca * ca + 2 * q * ca * sa + s * sa * sa) + r * (c * ca + d * sa);
        for (int k = 0; k < 30; k++) {
            real slope = r * r * (q * (ca * ca - sa * sa) + (s - p) * ca * sa) + r * (d * ca - c * sa);
            real bend = r * r * ((s - p) * (ca * ca - sa * sa) - 4 * q * ca * sa) - r * (c * ca + d * sa);
            real turn = bend > 0 ? -slope / bend : slope > 0 ? (real)-0.5 : (real)0.5;
            turn = real_within(turn, 1);
            if (real_abs(turn) <= 4 * REAL_EPSILON) break;
            for (int half = 0; half < 20; half++, turn *= (real)0.5) {
                real cb = 1 - (real)0.5 * turn * turn, sb = turn, n = real_sqrt(cb * cb + sb * sb);
                real cn = (ca * cb - sa * sb) / n, sn = (sa * cb + ca * sb) / n;
                real fn = (real)0.5 * r * r * (p * cn * cn + 2 * q * cn * sn + s * sn * sn) + r * (c * cn + d * sn);
                if (fn <= f) {
                    ca = cn, sa = sn, f = fn;
                    break;
                }
            }
        }
        x = r * ca, y = r * sa;
    }
    *t1 = x, *t2 = y;
}

// The normal row, then both tangential ones.
SAND_INLINE Row relax_dissipation(const Op *op, At at, Row x, Row g, real omega) {
    Block b = block_matrix(op, at);
    Row z = x;
    z.x = relax_normal(&b, x.x, &g, omega);
    if (!(block_number(op, at, BLOCK_MU) > 0)) return z;
    // The velocity without the tangential impulses is what they answer to.
    real c = g.y - b.m[1][1] * x.y - b.m[1][2] * x.z, d = g.z - b.m[2][1] * x.y - b.m[2][2] * x.z;
    dissipate(b.m[1][1], b.m[1][2], b.m[2][2], c, d, block_bound(op, at, z.x), &z.y, &z.z);
    return z;
}
