// SPDX-License-Identifier: MIT
// ADMM with a spectral penalty and restarted momentum (Xu, Figueiredo and Goldstein 2017; Goldstein,
// O'Donoghue, Setzer and Baraniuk 2014).
// Idea: the best penalty lies between the curvatures of the two halves of the problem. Along the changes of the last rounds
// they are known, as Barzilai and Borwein know that of a gradient method: the objective's from the free copy and its
// gradient, the set's from the feasible copy and its multiplier. An estimate counts where both changes point the same way,
// which their correlation tells. The copies are extrapolated as by Nesterov, and restarted where they no longer gain.
// Weakness: the multipliers of a cone are all but orthogonal to its impulses, so that one of the two estimates rarely
// counts, and a penalty that begins far too low stays; the rest is that of admm.
//
// The x-update and the measurements are admm.inl's. As there, inner products are scaled by the diagonal of N; rounds are not
// over-relaxed.
#ifndef SAND_METHOD_ADMM_SPECTRAL_INL
#define SAND_METHOD_ADMM_SPECTRAL_INL
#include "sim/solver/kernel/kernel.inl"
#include "sim/solver/methods/admm.inl"

// Vectors beyond those of admm: at the last estimate the free copy, its gradient, the feasible copy and its multiplier; a
// third feasible copy and a second multiplier, for the momentum; the extrapolated ones.
enum {
    SPECTRAL_X0 = ADMM_Z2 + 1,
    SPECTRAL_G0,
    SPECTRAL_Z0,
    SPECTRAL_Y0,
    SPECTRAL_Z3,
    SPECTRAL_U2,
    SPECTRAL_AHEAD_Z,
    SPECTRAL_AHEAD_U
};
enum { SPECTRAL_ROUNDS = 2 };    // from one estimate to the next: T_f of Xu et al.
#define SPECTRAL_CORRELATION 0.2 // epsilon_cor: from which on an estimate counts
#define SPECTRAL_LEAST_RHO 0.1   // an infeasible problem has directions without curvature, and impulses grow as 1 / rho
#define SPECTRAL_GAIN 0.999      // eta of Goldstein et al.: a round that leaves more of the residual restarts

typedef struct admm_spectral_State {
    admm_State admm;
    int u;           // vector of the multiplier
    double momentum; // alpha_k of Goldstein et al.
    double combined; // c_k, their combined residual
} admm_spectral_State;

// Keeps what the next estimate compares with. The multiplier is kept without its scale.
SAND_KERNEL void spectral_remember(Worker *w, Solve *s, const admm_spectral_State *m) {
    const Op *op = s->op;
    const real *x = solve_vector(s, ADMM_X), *g = solve_vector(s, ADMM_G), *z = solve_vector(s, m->admm.z),
               *u = solve_vector(s, m->u);
    real *x0 = solve_vector(s, SPECTRAL_X0), *g0 = solve_vector(s, SPECTRAL_G0), *z0 = solve_vector(s, SPECTRAL_Z0),
         *y0 = solve_vector(s, SPECTRAL_Y0), rho = (real)m->admm.rho;
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(x0, ref, row_load(x, ref));
        row_store(g0, ref, row_load(g, ref));
        row_store(z0, ref, row_load(z, ref));
        row_store(y0, ref, row_scale(rho, row_load(u, ref)));
    }
    sand_barrier(w);
}

SAND_KERNEL void admm_spectral_start(Worker *w, Solve *s, admm_spectral_State *m) {
    admm_start(w, s, &m->admm);
    m->u = ADMM_U;
    m->momentum = 1;
    m->combined = INFINITY;
    copy(w, s->op, solve_vector(s, ADMM_Z), solve_vector(s, SPECTRAL_AHEAD_Z));
    copy(w, s->op, solve_vector(s, ADMM_U), solve_vector(s, SPECTRAL_AHEAD_U));
    m->admm.pull_z = SPECTRAL_AHEAD_Z;
    m->admm.pull_u = SPECTRAL_AHEAD_U;
    spectral_remember(w, s, m);
}

// A curvature from the products of two changes, of a point and of its gradient: between the estimates of steepest descent
// and of the minimum gradient. Zero where the changes are not correlated.
SAND_INLINE double spectral_curvature(double gradient, double both, double point) {
    if (!(both > SPECTRAL_CORRELATION * sqrt(gradient * point))) return 0;
    double steepest = gradient / both, least = both / point;
    return 2 * least > steepest ? least : steepest - 0.5 * least;
}

// The penalty that the changes since the last estimate call for.
SAND_KERNEL double spectral_penalty(Worker *w, Solve *s, const admm_spectral_State *m) {
    enum { GG, GX, XX, YY, YZ, ZZ, SUMS };
    const Op *op = s->op;
    const real *x = solve_vector(s, ADMM_X), *g = solve_vector(s, ADMM_G), *z = solve_vector(s, m->admm.z),
               *u = solve_vector(s, m->u), *x0 = solve_vector(s, SPECTRAL_X0), *g0 = solve_vector(s, SPECTRAL_G0),
               *z0 = solve_vector(s, SPECTRAL_Z0), *y0 = solve_vector(s, SPECTRAL_Y0);
    real rho = (real)m->admm.rho;
    Sum sum;
    sum_open(w, &sum, SUMS, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        real diagonal = contact_diagonal(op, ref);
        Row dx = row_sub(row_load(x, ref), row_load(x0, ref)), dg = row_sub(row_load(g, ref), row_load(g0, ref));
        Row dz = row_sub(row_load(z, ref), row_load(z0, ref));
        Row dy = row_sub(row_scale(rho, row_load(u, ref)), row_load(y0, ref));
        SAND_ADD(sum, ref, GG, contact_inverse_diagonal(op, ref) * row_dot(dg, dg));
        SAND_ADD(sum, ref, GX, row_dot(dg, dx));
        SAND_ADD(sum, ref, XX, diagonal * row_dot(dx, dx));
        SAND_ADD(sum, ref, YY, diagonal * row_dot(dy, dy));
        SAND_ADD(sum, ref, YZ, diagonal * row_dot(dy, dz));
        SAND_ADD(sum, ref, ZZ, diagonal * row_dot(dz, dz));
    }
    sum_total(w, &sum);
    double objective = spectral_curvature(sum.total[GG], sum.total[GX], sum.total[XX]);
    double set = spectral_curvature(sum.total[YY], sum.total[YZ], sum.total[ZZ]);
    if (objective > 0 && set > 0) return sqrt(objective * set);
    return objective > 0 ? objective : set > 0 ? set : m->admm.rho;
}

SAND_KERNEL void spectral_adapt(Worker *w, Solve *s, admm_spectral_State *m) {
    double rho = fmin(fmax(spectral_penalty(w, s, m), SPECTRAL_LEAST_RHO), ADMM_MOST_RHO), factor = rho / m->admm.rho;
    spectral_remember(w, s, m);
    if (factor == 1) return;
    m->admm.rho = rho;
    admm_rescale(w, s, m->u, factor);
    admm_rescale(w, s, m->admm.pull_u, factor);
}

// [z-update] and [u-update] from the extrapolated copies into new vectors; returns the combined residual.
SAND_KERNEL double spectral_update(Worker *w, Solve *s, double rho, int new_z, int new_u) {
    const Op *op = s->op;
    const real *x = solve_vector(s, ADMM_X), *ahead_z = solve_vector(s, SPECTRAL_AHEAD_Z),
               *ahead_u = solve_vector(s, SPECTRAL_AHEAD_U);
    real *z = solve_vector(s, new_z), *u = solve_vector(s, new_u);
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row from = row_load(ahead_u, ref), shifted = row_add(row_load(x, ref), from);
        Row zi = contact_project(op, ref, shifted), ui = row_sub(shifted, zi);
        Row dz = row_sub(zi, row_load(ahead_z, ref)), du = row_sub(ui, from);
        row_store(z, ref, zi);
        row_store(u, ref, ui);
        SAND_ADD(sum, ref, 0, contact_diagonal(op, ref) * (row_dot(dz, dz) + row_dot(du, du)));
    }
    sum_total(w, &sum);
    return rho * sum.total[0];
}

// ahead := now + momentum (now - last)
SAND_KERNEL void spectral_extrapolate(Worker *w, Solve *s, int last, int now, int ahead, real momentum) {
    const Op *op = s->op;
    const real *a = solve_vector(s, last), *b = solve_vector(s, now);
    real *out = solve_vector(s, ahead);
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row bi = row_load(b, ref);
        row_store(out, ref, row_madd(bi, momentum, row_sub(bi, row_load(a, ref))));
    }
    sand_barrier(w);
}

// The feasible copy that is neither the last nor the best.
SAND_INLINE int spectral_unused(int last, int best) {
    if (ADMM_Z != last && ADMM_Z != best) return ADMM_Z;
    return ADMM_Z2 != last && ADMM_Z2 != best ? ADMM_Z2 : SPECTRAL_Z3;
}

SAND_KERNEL void spectral_end_round(Worker *w, Solve *s, admm_spectral_State *m) {
    admm_State *a = &m->admm;
    int z = spectral_unused(a->z, s->best), u = m->u == ADMM_U ? SPECTRAL_U2 : ADMM_U;
    double combined = spectral_update(w, s, a->rho, z, u);
    bool gains = combined < SPECTRAL_GAIN * m->combined;
    double next = gains ? 0.5 * (1 + sqrt(1 + 4 * m->momentum * m->momentum)) : 1;
    real momentum = gains ? (real)((m->momentum - 1) / next) : (real)0;
    spectral_extrapolate(w, s, a->z, z, SPECTRAL_AHEAD_Z, momentum);
    spectral_extrapolate(w, s, m->u, u, SPECTRAL_AHEAD_U, momentum);
    m->momentum = next;
    m->combined = combined;
    m->u = u;
    a->z = z;
    a->rounds++;
    a->measure_next = admm_measures(a->rounds);
    if (a->rounds % SPECTRAL_ROUNDS == 0) spectral_adapt(w, s, m);
}

SAND_KERNEL void admm_spectral_step(Worker *w, Solve *s, admm_spectral_State *m) {
    if (!admm_product_of_round(w, s, &m->admm)) return;
    spectral_end_round(w, s, m);
    admm_begin_x_update(w, s, &m->admm);
}

#endif // SAND_METHOD_ADMM_SPECTRAL_INL
