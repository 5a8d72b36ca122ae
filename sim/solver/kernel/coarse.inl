// SPDX-License-Identifier: MIT
// The coarse correction: what is wrong over long distances, put right at once.
//
// A gradient method carries information from contact to contact, one a product, so that the weight of a deep pile arrives at
// its bottom late. But the pattern of the impulses, which contact carries how much of what passes through its neighborhood,
// is soon right, and stays right from step to step: what is missing is its size. So the impulses are scaled by a smooth
// field,
//
//     g_c := (1 + phi(x_c)) g_c,      phi trilinear between the nodes of a grid of cells (sim/solver/cell_grid.h)
//
// which keeps every impulse in its cone, and the values y of phi at the nodes minimize q: with B the derivative of the
// impulses by y, and u = N g + r,
//
//     B'NB y = -B'u
//
// About the center of a body phi(x_c) = phi + grad phi . arm, so that all it takes of the contacts of a body are moments of
// their impulses: their sum f and S = sum g arm', which is the stress of the body times its volume, with the same of their
// torques, and sum g.u and sum (g.u) arm for the right-hand side. With w the weights of the nodes of its cell in phi and dw
// their gradients, the impulse on a body is Z y, Z = f w' + S dw', and B'NB = sum Z' M^-1 Z: matrices of 8 by 8, one a cell.
//
//      contacts         bodies              cells                nodes            bodies            contacts
//      g, u   -------->  Z   --coarse_sum--> 8 x 8  --CG-------->  y  ----------> phi, grad phi --> 1 + phi(x_c)
//
// Modes that are added instead (a smooth stress in all contacts of a region) do not work: they break the pattern, and every
// body is pushed about (docs/reports/2026-11-coarse-correction.md).
#pragma once
#include "sim/solver/cell_grid.h"
#include "sim/solver/kernel/gather.inl"

enum {
    COARSE_NODES = 8,                              // of a cell
    COARSE_MATRIX = 36,                            // upper triangle of a symmetric matrix over them
    COARSE_ELEMENT = COARSE_MATRIX + COARSE_NODES, // and the right-hand side
    COARSE_ITERATIONS = 12,                        // most conjugate gradients
};
// Vectors over the nodes, in op->coarse_vectors.
enum { COARSE_Y, COARSE_R, COARSE_Z, COARSE_P, COARSE_S, COARSE_PRODUCT, COARSE_INVERSE, COARSE_VECTORS };

SAND_INLINE int coarse_cells(const Op *op) { return op->cells[0] * op->cells[1] * op->cells[2]; }
SAND_INLINE int coarse_nodes(const Op *op) { return (op->cells[0] + 1) * (op->cells[1] + 1) * (op->cells[2] + 1); }

// The cell of a place along an axis.
SAND_INLINE int coarse_along(real place, int cells) { return place < (real)(cells - 1) ? (int)place : cells - 1; }

// The node at corner k of the cell (x, y, z).
SAND_INLINE Index coarse_corner(const Op *op, int x, int y, int z, int k) {
    return ((Index)(z + (k >> 2)) * (op->cells[1] + 1) + y + (k >> 1 & 1)) * (op->cells[0] + 1) + x + (k & 1);
}

// The trilinear weights of the corners at a point of a cell, and their gradients by the coordinates of the cell.
typedef struct CoarseWeights {
    real w[COARSE_NODES];
    Vec dw[COARSE_NODES];
} CoarseWeights;
SAND_INLINE CoarseWeights coarse_weights(Vec f) {
    CoarseWeights c;
    SAND_UNROLL(8)
    for (int k = 0; k < COARSE_NODES; k++) {
        real x = k & 1 ? f.x : 1 - f.x, y = k & 2 ? f.y : 1 - f.y, z = k & 4 ? f.z : 1 - f.z;
        c.w[k] = x * y * z;
        c.dw[k] = vec_make((k & 1 ? y : -y) * z, (k & 2 ? x : -x) * z, (k & 4 ? x : -x) * y);
    }
    return c;
}

// --- moments of a body --------------------------------------------------------------------------------------

// Sums over the contacts of a body, of impulses g on it at the end of an arm; arms are measured in cells.
typedef struct CoarseMoments {
    Vec f, t;         // of g, of the torque arm x g
    Vec fs[3], ts[3]; // of both times each component of the arm
    real work;        // of g.u, half of it where the other body moves too: it gets the other half
    Vec work_arm;
} CoarseMoments;

// The arm of a contact about its body a (side -1) or b (side +1).
SAND_INLINE Vec coarse_arm(const Op *op, ContactRef ref, int side, real radius) {
#if SAND_RADIAL
    real length = radius + contact_half_gap(op, ref);
    return vec_scale(side < 0 ? length : -length, contact_normal(op, ref));
#else
    return (void)radius, side < 0 ? contact_arm_a(op, ref) : contact_arm_b(op, ref);
#endif
}

SAND_INLINE void coarse_add_contact(const Op *op, ContactRef ref, Row x, Row u, int side, real radius, CoarseMoments *m) {
    Vec g = vec_scale((real)side, contact_impulse(op, ref, x)), arm = coarse_arm(op, ref, side, radius);
    Vec t = vec_cross(arm, g);
#if SAND_ROLLING
    t = vec_madd(t, (real)side, contact_torque(op, ref, x));
#endif
    arm = vec_scale(op->per_edge, arm);
    real share = SAND_FIXED(&op->b[contact_index(ref)]) < op->dynamic_count ? (real)0.5 : (real)1;
    real work = share * row_dot(x, u);
    m->f = vec_add(m->f, g);
    m->t = vec_add(m->t, t);
    m->fs[0] = vec_madd(m->fs[0], arm.x, g);
    m->fs[1] = vec_madd(m->fs[1], arm.y, g);
    m->fs[2] = vec_madd(m->fs[2], arm.z, g);
    m->ts[0] = vec_madd(m->ts[0], arm.x, t);
    m->ts[1] = vec_madd(m->ts[1], arm.y, t);
    m->ts[2] = vec_madd(m->ts[2], arm.z, t);
    m->work += work;
    m->work_arm = vec_madd(m->work_arm, work, arm);
}

// Where the coarse correction finds the impulses and their gradient.
typedef struct CoarseSource {
    const real *x, *u;
    bool paired; // they lie side by side, eight numbers a contact
} CoarseSource;
SAND_INLINE Row coarse_load(const real *x, ContactRef ref, bool paired, int which) {
#if SAND_VEC4_ROWS
    if (paired) return vec_of_vec4(vec4_load(x + 8 * contact_index(ref) + 4 * which));
#endif
    return (void)paired, (void)which, row_load(x, ref);
}

SAND_INLINE CoarseMoments coarse_moments(const Op *op, CoarseSource from, Index k) {
    CoarseMoments m = {0};
    real radius = SAND_FIXED(&op->free[k].w[3]);
    int begin = SAND_FIXED(&op->first[k]), owned = body_first_end(op, k) - begin;
    int other = SAND_FIXED(&op->second[k]), all = owned + SAND_FIXED(&op->second[k + 1]) - other;
    for (int e = 0; e < all; e++) {
        ContactRef ref = contact_ref(op, e < owned ? begin + e : SAND_FIXED(&op->list[other + e - owned]));
        Row x = coarse_load(from.x, ref, from.paired, 0),
            u = coarse_load(from.paired ? from.x : from.u, ref, from.paired, 1);
#if SAND_JOINTS
        if (contact_is_joint(op, ref)) continue; // their impulses stay: an angular one has no place that phi could scale
#endif
        coarse_add_contact(op, ref, x, u, e < owned ? -1 : +1, radius, &m);
    }
    return m;
}

// The moments of all bodies, in the order of the cells: number c of the body at place j of op->cell_list. High-degree bodies
// have none, as if they could not move: their contacts are far from their center, where phi is not what it is there.
enum { COARSE_MOMENTS = 28 };
SAND_INLINE real *coarse_moment(const Op *op, int c, Index j) { return op->moments + (int64_t)op->dynamic_count * c + j; }

SAND_INLINE void coarse_store_vec(const Op *op, int c, Index j, Vec v) {
    *coarse_moment(op, c, j) = v.x;
    *coarse_moment(op, c + 1, j) = v.y;
    *coarse_moment(op, c + 2, j) = v.z;
}
SAND_HOT void coarse_store_moments(Worker *w, const Op *SAND_RESTRICT op, CoarseSource from) {
    SAND_FOR_EACH(w, j, op->dynamic_count) {
        Index k = SAND_FIXED(&op->cell_list[j]);
        CoarseMoments m = {0};
        if (body_degree(op, k) <= SAND_HIGH_DEGREE) m = coarse_moments(op, from, k);
        // Of each component of the impulse and of the torque: its sum, and its sums with the arm.
        const Vec f[4] = {m.f, m.fs[0], m.fs[1], m.fs[2]}, t[4] = {m.t, m.ts[0], m.ts[1], m.ts[2]};
        SAND_UNROLL(4)
        for (int c = 0; c < 4; c++) {
            coarse_store_vec(op, 3 * c, j, f[c]);
            coarse_store_vec(op, 12 + 3 * c, j, t[c]);
        }
        *coarse_moment(op, 24, j) = m.work;
        coarse_store_vec(op, 25, j, m.work_arm);
    }
    sand_barrier(w);
}

// --- the matrices of the cells --------------------------------------------------------------------------------

// The place of body k within its cell.
SAND_INLINE Vec coarse_fraction(const Op *op, Index k) {
    Vec p = vec_of_vec4(vec4_load_fixed(op->place + 4 * k));
    return vec_make(p.x - (real)coarse_along(p.x, op->cells[0]), p.y - (real)coarse_along(p.y, op->cells[1]),
                    p.z - (real)coarse_along(p.z, op->cells[2]));
}

// A row of Z: what a component of the impulse changes by with y.
typedef struct CoarseRow {
    real a[COARSE_NODES];
} CoarseRow;
SAND_INLINE CoarseRow coarse_row(const CoarseWeights *c, real sum, Vec with_arm) {
    CoarseRow row;
    SAND_UNROLL(8)
    for (int k = 0; k < COARSE_NODES; k++) row.a[k] = real_ma(sum, c->w[k], vec_dot(with_arm, c->dw[k]));
    return row;
}
SAND_INLINE CoarseRow coarse_load_row(const Op *op, const CoarseWeights *c, int component, Index j) {
    return coarse_row(c, *coarse_moment(op, component, j),
                      vec_make(*coarse_moment(op, component + 3, j), *coarse_moment(op, component + 6, j),
                               *coarse_moment(op, component + 9, j)));
}

// Adds the product of two rows to the upper triangle of a matrix.
SAND_INLINE void coarse_add_rows(real *element, const CoarseRow *left, real scale, const CoarseRow *right) {
    int e = 0;
    SAND_UNROLL(8)
    for (int k = 0; k < COARSE_NODES; k++) {
        real scaled = scale * left->a[k];
        SAND_UNROLL(8)
        for (int l = k; l < COARSE_NODES; l++, e++) element[e] = real_ma(scaled, right->a[l], element[e]);
    }
}

// Adds Z' J^-1 Z of the torques of body k.
SAND_INLINE void coarse_add_turn(const Op *op, const CoarseWeights *c, Index k, Index j, real *element) {
#if SAND_RADIAL
    real inverse = SAND_FIXED(&op->inverse_inertia[k]);
    SAND_UNROLL(3)
    for (int i = 0; i < 3; i++) {
        CoarseRow row = coarse_load_row(op, c, 12 + i, j);
        coarse_add_rows(element, &row, inverse, &row);
    }
#else
    const real *m = &op->inverse_inertia[6 * k];
    CoarseRow x = coarse_load_row(op, c, 12, j), y = coarse_load_row(op, c, 13, j), z = coarse_load_row(op, c, 14, j), t;
    for (int n = 0; n < COARSE_NODES; n++) t.a[n] = m[0] * x.a[n] + m[3] * y.a[n] + m[4] * z.a[n];
    coarse_add_rows(element, &t, 1, &x);
    for (int n = 0; n < COARSE_NODES; n++) t.a[n] = m[3] * x.a[n] + m[1] * y.a[n] + m[5] * z.a[n];
    coarse_add_rows(element, &t, 1, &y);
    for (int n = 0; n < COARSE_NODES; n++) t.a[n] = m[4] * x.a[n] + m[5] * y.a[n] + m[2] * z.a[n];
    coarse_add_rows(element, &t, 1, &z);
#endif
}

// Adds Z' M^-1 Z and the right-hand side of the body at place j to the matrix of its cell.
SAND_INLINE void coarse_add_body(const Op *op, Index j, real *element) {
    Index k = SAND_FIXED(&op->cell_list[j]);
    CoarseWeights c = coarse_weights(coarse_fraction(op, k));
    real inverse_mass = SAND_FIXED(&op->inverse_mass[k]);
    SAND_UNROLL(3)
    for (int i = 0; i < 3; i++) {
        CoarseRow row = coarse_load_row(op, &c, i, j);
        coarse_add_rows(element, &row, inverse_mass, &row);
    }
    if (SAND_ROWS == 3 || !SAND_RADIAL) coarse_add_turn(op, &c, k, j, element); // else there are no torques
    CoarseRow right = coarse_row(&c, *coarse_moment(op, 24, j),
                                 vec_make(*coarse_moment(op, 25, j), *coarse_moment(op, 26, j), *coarse_moment(op, 27, j)));
    SAND_UNROLL(8)
    for (int n = 0; n < COARSE_NODES; n++) element[COARSE_MATRIX + n] -= right.a[n];
}

// Sums the matrices of the bodies of each cell, in parts by different workers.
SAND_HOT void coarse_sum_parts(Worker *w, const Op *SAND_RESTRICT op) {
    SAND_FOR_EACH(w, e, coarse_cells(op) * op->cell_slots) {
        Index cell = e / op->cell_slots;
        int begin = SAND_FIXED(&op->cell_first[cell]), end = SAND_FIXED(&op->cell_first[cell + 1]);
        if (begin == end) continue;
        real element[COARSE_ELEMENT] = {0};
        for (int j = begin + (int)(e % op->cell_slots); j < end; j += op->cell_slots) coarse_add_body(op, j, element);
        SAND_UNROLL(44)
        for (int j = 0; j < COARSE_ELEMENT; j++) op->cell_parts[COARSE_ELEMENT * e + j] = element[j];
    }
    sand_barrier(w);
}

SAND_KERNEL void coarse_sum(Worker *w, const Op *SAND_RESTRICT op, CoarseSource from) {
    coarse_store_moments(w, op, from);
    coarse_sum_parts(w, op);
    SAND_FOR_EACH(w, e, coarse_cells(op) * COARSE_ELEMENT) {
        Index cell = e / COARSE_ELEMENT;
        bool empty = SAND_FIXED(&op->cell_first[cell]) == SAND_FIXED(&op->cell_first[cell + 1]);
        const real *part = op->cell_parts + COARSE_ELEMENT * op->cell_slots * cell + e % COARSE_ELEMENT;
        real sum = 0;
        SAND_UNROLL(8)
        for (int slot = 0; slot < (empty ? 0 : op->cell_slots); slot++) sum += part[COARSE_ELEMENT * slot];
        op->cell_matrix[e] = sum;
    }
    sand_barrier(w);
}

// --- the equations of the nodes ------------------------------------------------------------------------------

// Where entry (k, l) of the matrix of a cell is stored.
SAND_INLINE int coarse_entry(int k, int l) {
    int low = k < l ? k : l, high = k < l ? l : k;
    return low * COARSE_NODES - low * (low - 1) / 2 + high - low;
}

// A node, and the cells around it: cell k of them has the node as its corner 7 - k.
typedef struct CoarseNode {
    int x, y, z;
} CoarseNode;
SAND_INLINE CoarseNode coarse_node(const Op *op, Index n) {
    int x = (int)(n % (op->cells[0] + 1)), rest = (int)(n / (op->cells[0] + 1));
    CoarseNode node = {x, rest % (op->cells[1] + 1), rest / (op->cells[1] + 1)};
    return node;
}
// The lower corner of cell k around a node, moved by one; false where there is none.
SAND_INLINE bool coarse_around(const Op *op, CoarseNode node, int k, int *x, int *y, int *z) {
    *x = node.x - 1 + (k & 1);
    *y = node.y - 1 + (k >> 1 & 1);
    *z = node.z - 1 + (k >> 2);
    return *x >= 0 && *y >= 0 && *z >= 0 && *x < op->cells[0] && *y < op->cells[1] && *z < op->cells[2];
}

SAND_INLINE const real *coarse_matrix(const Op *op, int x, int y, int z) {
    return op->cell_matrix + COARSE_ELEMENT * (((Index)z * op->cells[1] + y) * op->cells[0] + x);
}

// The row of a node: its coupling to itself and to its 26 neighbors, in the order of coarse_neighbor; that to neighbor j of
// node n at coarse_coupling(op, j, n).
enum { COARSE_NEIGHBORS = 27 };
SAND_INLINE real *coarse_coupling(const Op *op, int j, Index n) { return op->coarse_rows + (Index)coarse_nodes(op) * j + n; }

// Row n of the matrix times v. Couplings beyond the border of the grid are zero, and the node itself stands in for what they
// would be multiplied with.
SAND_INLINE real coarse_times(const Op *op, Index n, const real *v) {
    CoarseNode node = coarse_node(op, n);
    int row = op->cells[0] + 1, layer = row * (op->cells[1] + 1);
    real sum = 0;
    SAND_UNROLL(27)
    for (int j = 0; j < COARSE_NEIGHBORS; j++) {
        int x = j % 3 - 1, y = j / 3 % 3 - 1, z = j / 9 - 1;
        bool outside = node.x + x < 0 || node.y + y < 0 || node.z + z < 0 || node.x + x > op->cells[0] ||
                       node.y + y > op->cells[1] || node.z + z > op->cells[2];
        sum = real_ma(*coarse_coupling(op, j, n), v[outside ? n : n + x + row * y + layer * z], sum);
    }
    return sum;
}

SAND_INLINE real *coarse_vector(const Op *op, int k) { return op->coarse_vectors + (Index)k * coarse_nodes(op); }

// Row n of the matrix, from the cells around the node. Returns the right-hand side.
SAND_INLINE real coarse_assemble(const Op *op, Index n) {
    CoarseNode node = coarse_node(op, n);
    real row[COARSE_NEIGHBORS] = {0}, right = 0;
    SAND_UNROLL(8)
    for (int k = 0; k < 8; k++) {
        int x, y, z;
        if (!coarse_around(op, node, k, &x, &y, &z)) continue;
        const real *m = coarse_matrix(op, x, y, z);
        right += m[COARSE_MATRIX + 7 - k];
        SAND_UNROLL(8)
        for (int l = 0; l < COARSE_NODES; l++)
            row[(k & 1) + (l & 1) + 3 * ((k >> 1 & 1) + (l >> 1 & 1)) + 9 * ((k >> 2) + (l >> 2))] +=
                m[coarse_entry(7 - k, l)];
    }
    SAND_UNROLL(27)
    for (int j = 0; j < COARSE_NEIGHBORS; j++) *coarse_coupling(op, j, n) = row[j];
    return right;
}

// Begins with y = 0. A node that nothing depends on keeps it.
SAND_HOT void coarse_begin(Worker *w, const Op *op) {
    SAND_FOR_EACH(w, n, coarse_nodes(op)) {
        real right = coarse_assemble(op, n), diagonal = *coarse_coupling(op, COARSE_NEIGHBORS / 2, n);
        real inverse = diagonal > 0 ? 1 / diagonal : 0;
        coarse_vector(op, COARSE_INVERSE)[n] = inverse;
        coarse_vector(op, COARSE_R)[n] = diagonal > 0 ? right : 0;
        coarse_vector(op, COARSE_Z)[n] = inverse * right;
        coarse_vector(op, COARSE_Y)[n] = coarse_vector(op, COARSE_P)[n] = coarse_vector(op, COARSE_S)[n] = 0;
    }
    sand_barrier(w);
}

// Conjugate gradients with the diagonal as preconditioner, in the form with one reduction an iteration (Chronopoulos and
// Gear 1989); z is the preconditioned residual. They end at a hundredth of the first residual.
SAND_HOT void coarse_solve(Worker *w, const Op *op) {
    real *y = coarse_vector(op, COARSE_Y), *r = coarse_vector(op, COARSE_R), *p = coarse_vector(op, COARSE_P),
         *s = coarse_vector(op, COARSE_S), *z = coarse_vector(op, COARSE_Z), *product = coarse_vector(op, COARSE_PRODUCT);
    const real *inverse = coarse_vector(op, COARSE_INVERSE);
    double before = 0, step = 0, first = 0;
    coarse_begin(w, op);
    for (int k = 0; k < COARSE_ITERATIONS; k++) {
        Sum sum;
        sum_open(w, &sum, 2, 0);
        SAND_FOR_BODIES_SUM(w, n, lane, coarse_nodes(op), &sum) {
            if (lane > 0) continue;
            real az = coarse_times(op, n, z);
            product[n] = az;
            SAND_ADD_ONE(sum, 0, r[n] * z[n]);
            SAND_ADD_ONE(sum, 1, z[n] * az);
        }
        sum_total(w, &sum);
        double rz = sum.total[0], zaz = sum.total[1];
        if (k == 0) first = rz;
        if (!(rz > 1e-4 * first)) break;
        double beta = k ? rz / before : 0, curvature = k ? zaz - beta * rz / step : zaz;
        if (!(curvature > 0)) break;
        step = rz / curvature;
        before = rz;
        SAND_FOR_EACH(w, n, coarse_nodes(op)) {
            p[n] = real_ma((real)beta, p[n], z[n]);
            s[n] = real_ma((real)beta, s[n], product[n]);
            y[n] = real_ma((real)step, p[n], y[n]);
            r[n] = real_ma((real)-step, s[n], r[n]);
            z[n] = inverse[n] * r[n];
        }
        sand_barrier(w);
    }
}

// Sets the grid of the operator, and divides its workspace: the parts and the matrices of the cells, then the rows and the
// vectors of the nodes. op->cell_parts is the beginning of it.
SAND_INLINE void op_set_cells(Op *op, const SandCellGrid *grid) {
    for (int k = 0; k < 3; k++) op->cells[k] = grid->cells[k];
    op->cell_slots = grid->slots;
    op->per_edge = (real)(1 / grid->edge);
    op->cell_matrix = op->cell_parts + (Index)COARSE_ELEMENT * coarse_cells(op) * op->cell_slots;
    op->coarse_rows = op->cell_matrix + (Index)COARSE_ELEMENT * coarse_cells(op);
    op->coarse_vectors = op->coarse_rows + (Index)COARSE_NEIGHBORS * coarse_nodes(op);
}

// --- the field -------------------------------------------------------------------------------------------------

// phi and its gradient at each body, by meters.
SAND_HOT void coarse_spread(Worker *w, const Op *op) {
    const real *y = coarse_vector(op, COARSE_Y);
    SAND_FOR_EACH(w, k, op->dynamic_count) {
        Vec p = vec_of_vec4(vec4_load_fixed(op->place + 4 * k));
        int cx = coarse_along(p.x, op->cells[0]), cy = coarse_along(p.y, op->cells[1]), cz = coarse_along(p.z, op->cells[2]);
        CoarseWeights c = coarse_weights(coarse_fraction(op, k));
        real phi = 0;
        Vec gradient = vec_make(0, 0, 0);
        for (int n = 0; n < COARSE_NODES; n++) {
            real yn = y[coarse_corner(op, cx, cy, cz, n)];
            phi = real_ma(c.w[n], yn, phi);
            gradient = vec_madd(gradient, yn * op->per_edge, c.dw[n]);
        }
        vec4_store(op->field + 4 * k, vec4_make(phi, gradient.x, gradient.y, gradient.z));
    }
    sand_barrier(w);
}

// phi at a contact, as a body sees it.
SAND_INLINE real coarse_seen(const Op *op, ContactRef ref, Index k, int side) {
    const real *field = op->field + 4 * k;
    Vec arm = coarse_arm(op, ref, side, SAND_FIXED(&op->free[k].w[3]));
    return real_ma(field[1], arm.x, real_ma(field[2], arm.y, real_ma(field[3], arm.z, field[0])));
}

// The factor 1 + phi of a contact. Within bounds: a contact is never lost, and phi is a small change of the field that the
// equations were made for.
SAND_INLINE real coarse_factor(const Op *op, ContactRef ref) {
    Index a = SAND_FIXED(&op->a[contact_index(ref)]), b = SAND_FIXED(&op->b[contact_index(ref)]);
    if (a >= op->dynamic_count) return 1; // padding
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return 1;
#endif
    real phi = coarse_seen(op, ref, a, -1);
    if (b < op->dynamic_count) phi = (real)0.5 * (phi + coarse_seen(op, ref, b, +1));
    return real_min(real_max(1 + phi, (real)0.1), (real)4);
}
