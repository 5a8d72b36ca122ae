// SPDX-License-Identifier: MIT
// Augmented vertex block descent, AVBD (Giles, Diaz and Yuksel 2025), on the problem of one step.
// Idea: velocities are the unknowns, and a contact is a spring of growing stiffness k plus a multiplier, its impulse. An
// iteration moves every body to the minimum of its own part of the augmented Lagrangian, a system of six equations, and then
// the multipliers to the forces of the springs, projected on the cones:
//     body     min (v - v_free)' M (v - v_free) / 2 + sum |P(x - k u)|^2 / 2k,   u = D'v + b
//     contact  x := P(x - k u),  k := k + beta |u|
// Weakness: no stiffness serves every budget. Soft springs converge as gauss-seidel does; stiff ones tie a body to neighbors
// that have not moved yet, and are far off at first.
//
// The paper moves bodies color by color. Here all move at once: a spring between two moving bodies counts twice in the
// system of each, which keeps the sum above the true curvature, |a + b|^2 <= 2 |a|^2 + 2 |b|^2. Stiffness is relative to the
// mean diagonal of N. The paper's alpha, which leaves a part of a penetration, is the scene's recovery_fraction.
#ifndef SAND_METHOD_AVBD_INL
#define SAND_METHOD_AVBD_INL
#include "sim/solver/kernel/kernel.inl"

enum { AVBD_STIFFNESS, AVBD_BETA, AVBD_MOST, AVBD_GAMMA }; // parameters
enum { AVBD_X, AVBD_FORCE, AVBD_K };                       // vectors: multipliers, forces P(x - k u), stiffness

typedef struct avbd_State {
    real beta, most; // growth and limit of the stiffness
} avbd_State;

// A symmetric system of six equations, translation and rotation; the lower half.
typedef struct BodySystem {
    real h[6][6];
} BodySystem;

// Stiffness is stored along the normal of a row.
SAND_INLINE Row avbd_stiffness(real k) {
#if SAND_ROWS == 3
    return vec_make(k, 0, 0);
#else
    return k;
#endif
}
SAND_INLINE real avbd_stiffness_of(Row r) {
#if SAND_ROWS == 3
    return r.x;
#else
    return r;
#endif
}

// Adds a spring along d at the end of an arm.
SAND_INLINE void system_add(BodySystem *s, Vec d, Vec arm, real k) {
    Vec t = vec_cross(arm, d);
    const real j[6] = {d.x, d.y, d.z, t.x, t.y, t.z};
    for (int r = 0; r < 6; r++)
        for (int c = 0; c <= r; c++) s->h[r][c] += k * j[r] * j[c];
}

// The arm of a contact at body k, which is its a (side -1) or b.
SAND_INLINE Vec avbd_arm(const Op *op, ContactRef ref, Index k, int side) {
#if SAND_RADIAL
    return vec_scale(-(real)side * (contact_half_gap(op, ref) + op->free[k].w[3]), contact_normal(op, ref));
#else
    return (void)k, side < 0 ? contact_arm_a(op, ref) : contact_arm_b(op, ref);
#endif
}

// Adds contact i to the system of body k.
SAND_INLINE void system_add_contact(const Op *op, BodySystem *s, const real *stiffness, Index i, Index k, int side) {
    ContactRef ref = contact_ref(op, i);
    bool both = op->a[i] < op->dynamic_count && op->b[i] < op->dynamic_count;
    real stiff = (both ? (real)2 : (real)1) * avbd_stiffness_of(row_load(stiffness, ref));
    Vec arm = avbd_arm(op, ref, k, side);
    if (!contact_has_friction(op, ref)) {
        system_add(s, contact_normal(op, ref), arm, stiff);
        return;
    }
    system_add(s, vec_make(1, 0, 0), arm, stiff);
    system_add(s, vec_make(0, 1, 0), arm, stiff);
    system_add(s, vec_make(0, 0, 1), arm, stiff);
}

// Mass and inertia of body k, from the inverses that the operator has.
SAND_INLINE BodySystem system_of_body(const Op *op, Index k) {
    BodySystem s = {{{0}}};
    for (int r = 0; r < 3; r++) s.h[r][r] = 1 / op->inverse_mass[k];
#if SAND_RADIAL
    for (int r = 3; r < 6; r++) s.h[r][r] = 1 / op->inverse_inertia[k];
#else
    const real *m = &op->inverse_inertia[6 * k]; // xx, yy, zz, xy, xz, yz
    real xx = m[1] * m[2] - m[5] * m[5], xy = m[4] * m[5] - m[3] * m[2], xz = m[3] * m[5] - m[4] * m[1];
    real per = 1 / (m[0] * xx + m[3] * xy + m[4] * xz);
    s.h[3][3] = per * xx;
    s.h[4][3] = per * xy;
    s.h[5][3] = per * xz;
    s.h[4][4] = per * (m[0] * m[2] - m[4] * m[4]);
    s.h[5][4] = per * (m[3] * m[4] - m[0] * m[5]);
    s.h[5][5] = per * (m[0] * m[1] - m[3] * m[3]);
#endif
    return s;
}

// y := H x, for the symmetric matrix whose lower half is given.
SAND_INLINE void system_times(const BodySystem *s, const real *x, real *y) {
    for (int r = 0; r < 6; r++) {
        y[r] = 0;
        for (int c = 0; c < 6; c++) y[r] += (c <= r ? s->h[r][c] : s->h[c][r]) * x[c];
    }
}

// Solves H x = y in place by Cholesky's factors.
SAND_INLINE void system_solve(BodySystem *s, real *y) {
    for (int c = 0; c < 6; c++)
        for (int r = c; r < 6; r++) {
            real sum = s->h[r][c];
            for (int m = 0; m < c; m++) sum -= s->h[r][m] * s->h[c][m];
            s->h[r][c] = r == c ? real_sqrt(real_max(sum, REAL_TINY)) : sum / s->h[c][c];
        }
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < r; c++) y[r] -= s->h[r][c] * y[c];
        y[r] /= s->h[r][r];
    }
    for (int r = 5; r >= 0; r--) {
        for (int c = r + 1; c < 6; c++) y[r] -= s->h[c][r] * y[c];
        y[r] /= s->h[r][r];
    }
}

// Moves body k: a Newton step on its part of the augmented Lagrangian, for the forces f and their torques.
SAND_INLINE void avbd_move_body(const Op *op, const real *stiffness, Index k, Vec f, Vec t) {
    BodySystem s = system_of_body(op, k);
    Body *body = &op->body[k];
    const Body *free = &op->free[k];
    const real fallen[6] = {free->v[0] - body->v[0], free->v[1] - body->v[1], free->v[2] - body->v[2],
                            free->w[0] - body->w[0], free->w[1] - body->w[1], free->w[2] - body->w[2]};
    const real force[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
    real y[6];
    system_times(&s, fallen, y);
    for (int c = 0; c < 6; c++) y[c] += force[c];
    for (int i = op->first[k]; i < body_first_end(op, k); i++) system_add_contact(op, &s, stiffness, i, k, -1);
    for (int e = op->second[k]; e < op->second[k + 1]; e++) system_add_contact(op, &s, stiffness, op->list[e], k, +1);
    system_solve(&s, y);
    for (int c = 0; c < 3; c++) body->v[c] += y[c];
    for (int c = 0; c < 3; c++) body->w[c] += y[3 + c];
}

// All bodies; one sum over the contacts of each.
SAND_KERNEL void avbd_move(Worker *w, const Op *op, const real *force, const real *stiffness) {
    if (!SAND_VEC4_ROWS) SAND_FOR_IMPULSES(w, i, op, NULL) {
            ContactRef ref = SAND_CONTACT(op, i);
            SAND_STORE_IMPULSE(op, ref, row_load(force, ref));
        }
    sand_barrier(w);
    Source from = {0};
    from.impulse = stored_impulses(op, force);
    from.spacing = IMPULSE_SIZE;
    SAND_FOR_BODIES(w, k, lane, op->dynamic_count) {
        BodyImpulse s = body_impulse_over_lanes(body_gather(op, from, false, k, lane, body_degree(op, k), NULL));
        if (lane > 0) continue;
        avbd_move_body(op, stiffness, k, vec_of_vec4(s.f), vec_of_vec4(vec4_yzx(s.t)));
    }
    sand_barrier(w);
    exchange_ghosts(w, op, op->body);
}

SAND_KERNEL void avbd_start(Worker *w, Solve *s, avbd_State *m) {
    const Op *op = s->op;
    real *x = solve_vector(s, AVBD_X), *force = solve_vector(s, AVBD_FORCE), *stiffness = solve_vector(s, AVBD_K);
    // A fixed point around it restarts it with the velocities of its impulses, which only soft springs can take.
    real first = (real)(s->again ? fmin(s->params[AVBD_STIFFNESS], 1.0) : s->params[AVBD_STIFFNESS]);
    real gamma = s->again ? (real)1 : (real)s->params[AVBD_GAMMA];
    m->beta = (real)s->params[AVBD_BETA];
    m->most = (real)s->params[AVBD_MOST];
    SAND_FOR_GRADIENTS(w, i, op, op->body, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        real k = first * contact_inverse_diagonal(op, ref);
        Row xi = row_scale(gamma, row_load(x, ref));
        row_store(x, ref, xi);
        row_store(stiffness, ref, avbd_stiffness(k));
        row_store(force, ref, contact_project(op, ref, row_madd(xi, -k, SAND_GRADIENT(op, ref))));
    }
    sand_barrier(w);
}

// The multipliers, the stiffness, and the forces that the bodies feel next.
SAND_HOT void avbd_update(Worker *w, const Op *SAND_RESTRICT op, real *x, real *force, real *stiffness, real beta,
                          real most) {
    SAND_FOR_GRADIENTS(w, i, op, op->body, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row u = SAND_GRADIENT(op, ref);
        real k = avbd_stiffness_of(row_load(stiffness, ref)), unit = contact_inverse_diagonal(op, ref);
        Row xi = contact_project(op, ref, row_madd(row_load(x, ref), -k, u));
        real grown = k + beta * unit * real_sqrt(row_dot(u, u)), limit = most * unit;
        k = !(row_dot(xi, xi) > 0) ? k : grown < limit ? grown : limit; // an open contact does not stiffen
        row_store(x, ref, xi);
        row_store(stiffness, ref, avbd_stiffness(k));
        row_store(force, ref, contact_project(op, ref, row_madd(xi, -k, u)));
    }
    sand_barrier(w);
}

SAND_KERNEL void avbd_step(Worker *w, Solve *s, avbd_State *m) {
    const Op *op = s->op;
    real *force = solve_vector(s, AVBD_FORCE), *stiffness = solve_vector(s, AVBD_K);
    avbd_move(w, op, force, stiffness);
    avbd_update(w, op, solve_vector(s, AVBD_X), force, stiffness, m->beta, m->most);
}

#endif // SAND_METHOD_AVBD_INL
