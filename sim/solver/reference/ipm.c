// SPDX-License-Identifier: MIT
// Primal-dual interior point methods ([Q] section 3.1; for circular cones the conic formulation that its section 5 names as
// future work).
// Idea: follow the central path z o s = m e of impulses z and velocities s = N z + r, both kept inside their cones, to m = 0
// with Newton's method. Mehrotra's predictor decides how far m may fall in a step and supplies a second-order correction;
// Gondzio's correctors keep the products z o s balanced. One factorization per iteration, and about twenty iterations at any
// size.
// Weakness: an iteration costs a factorization; a warm start is of no use, and neither is a guess of the active set.
//
// ipm-soc works on the circular cones themselves with the Nesterov-Todd scaling: it is the reference for every method on the
// circular cone. ipm has pyramids and polyhedra in their place, as [Q] eq. 10 does, and therefore half-lines only.
// Scaled vectors are dz~ = W dz and ds~ = W^-1 ds. Then (I + A'A) dz~ = c - W^-1 (N z + r - s) with A'A = W^-1 N W^-1, and
// ds~ = c - dz~, where c is the right-hand side of the complementarity equation.
//
// Once the gap is small (1e-12 of r'r), semismooth Newton steps give the last digits (ipm_polish). Start at ipm_step.
#include "sim/solver/reference/cone.h"
#include "sim/solver/reference/reference.h"
#include "sim/solver/reference/kkt.h"
#include "sim/core/array.h"
#include "sim/solver/reference/semismooth.h"

#include <stdlib.h>
#include <string.h>

typedef struct Ipm {
    SandConeProgram program;
    SandKkt *system;
    SandSemismooth newton; // for the last digits
    bool polishing;        // Newton steps are under way
    double best;           // |F| of Newton's best iterate, which is in best_x
    double next_polish;    // the gap at which Newton is tried again
    bool growing;          // the impulses still grow
    bool path_ended;       // the path cannot be followed any further
    bool law;              // Coulomb's law: a fixed point of the De Saxce bias around the cone problem
    double change;         // of F, by the last update of the bias
    bool bias_updated;     // the bias was updated since the path began
    int contacts;
    double gap;                // z's of the iterate
    double dual_residual_norm; // |N z + r - s|
    int stalled;               // iterations without a gain
    int receding;              // iterations in a row in which the impulses diverged
    double r_size;             // r'r
    // Vectors over the columns, in one allocation.
    double *vectors, *scaling, *inverse, *work;
    double *z, *s, *dual_residual, *lambda, *dz, *ds, *c, *b, *nz, *old_z, *old_dz, *old_ds, *best_x;
    size_t vectors_capacity, scaling_capacity, inverse_capacity, work_capacity;
} Ipm;

enum { IPM_VECTORS = 13 };

static void ipm_end(void *method) {
    Ipm *m = method;
    sand_semismooth_free(&m->newton);
    sand_kkt_free(m->system);
    sand_cone_program_free(&m->program);
    sand_free(m->vectors);
    sand_free(m->scaling);
    sand_free(m->inverse);
    sand_free(m->work);
    free(m);
}

// Computes the dual residual N z + r - s and the gap z's.
static void ipm_residuals(Ipm *m) {
    const SandConeProgram *p = &m->program;
    sand_cone_program_product(p, m->z, m->nz, m->work);
    m->gap = 0;
    double dual_residual = 0;
    for (int j = 0; j < p->columns; j++) {
        m->dual_residual[j] = m->nz[j] + p->r.data[j] + m->newton.bias[j] - m->s[j];
        m->gap += m->z[j] * m->s[j];
        dual_residual += m->dual_residual[j] * m->dual_residual[j];
    }
    m->dual_residual_norm = sqrt(dual_residual);
}

// Shifts x along the cones' units until it lies well inside.
static void ipm_shift(const SandConeProgram *p, double *x) {
    double outside = -INFINITY;
    for (int c = 0; c < p->cones; c++)
        outside = fmax(outside, -cone_inside(x + p->first.data[c], sand_cone_program_size(p, c)));
    double size = 0;
    for (int j = 0; j < p->columns; j++) size += x[j] * x[j];
    size = sqrt(size / fmax(p->cones, 1));
    if (outside < -1e-8 * size) return;
    for (int c = 0; c < p->cones; c++) x[p->first.data[c]] += outside + fmax(size, 1e-12);
}

// Computes the starting point: the least squares guess of z and s, shifted into the cones.
static void ipm_start(Ipm *m) {
    const SandConeProgram *p = &m->program;
    for (int c = 0; c < p->cones; c++)
        for (int k = 0; k < 9; k++) m->inverse[9 * c + k] = k % 4 == 0;
    m->r_size = 0;
    for (int j = 0; j < p->columns; j++) {
        m->b[j] = -p->r.data[j] - m->newton.bias[j];
        m->r_size += m->b[j] * m->b[j];
    }
    sand_kkt_factor(m->system, m->inverse);
    sand_kkt_solve(m->system, m->b, m->z);
    for (int j = 0; j < p->columns; j++) m->s[j] = -m->z[j];
    ipm_shift(p, m->z);
    ipm_shift(p, m->s);
    ipm_residuals(m);
    m->next_polish = 1e-12 * m->r_size;
    m->best = INFINITY;
    m->polishing = m->growing = m->path_ended = m->bias_updated = false;
    m->stalled = m->receding = 0;
}

static void *ipm_make(const SandProblem *problem, const SandSolveDef *def, SandKktKind system, SandError *error) {
    Ipm *m = calloc(1, sizeof *m);
    if (!m) {
        sand_fail(error, "out of memory for a solver");
        return NULL;
    }
    m->contacts = problem->contact_count;
    m->law = sand_friction_table[def->friction].set == SAND_SET_LAW;
    m->change = INFINITY;
    bool ok = sand_cone_program_make(&m->program, problem, def, error);
    size_t n = (size_t)m->program.columns, cones = (size_t)m->program.cones;
    ok = ok && SAND_GROW(m->vectors, m->vectors_capacity, IPM_VECTORS * n + 1, "interior point vectors", error) &&
         SAND_GROW(m->scaling, m->scaling_capacity, 9 * cones + 1, "interior point vectors", error) &&
         SAND_GROW(m->inverse, m->inverse_capacity, 9 * cones + 1, "interior point vectors", error) &&
         SAND_GROW(m->work, m->work_capacity, m->program.rows + 1, "interior point vectors", error);
    if (ok) {
        double **vector[IPM_VECTORS] = {&m->z, &m->s,  &m->dual_residual, &m->lambda, &m->dz,     &m->ds,    &m->c,
                                        &m->b, &m->nz, &m->old_z,         &m->old_dz, &m->old_ds, &m->best_x};
        for (size_t k = 0; k < IPM_VECTORS; k++) *vector[k] = m->vectors + k * n;
    }
    if (ok && m->contacts) {
        m->system = sand_kkt_create(&m->program, system, error);
        ok = m->system && sand_semismooth_make(&m->newton, &m->program, m->system, error);
        if (ok) ipm_start(m);
    }
    if (!ok) {
        ipm_end(m);
        m = NULL;
    }
    return m;
}

// Solves for dz~ and ds~ with the right-hand side c of the complementarity equation.
static void ipm_direction(Ipm *m) {
    const SandConeProgram *p = &m->program;
    for (int c = 0; c < p->cones; c++) {
        int j = p->first.data[c], size = sand_cone_program_size(p, c);
        cone_apply(m->inverse + 9 * c, m->dual_residual + j, size, m->b + j);
    }
    for (int j = 0; j < p->columns; j++) m->b[j] = m->c[j] - m->b[j];
    sand_kkt_solve(m->system, m->b, m->dz);
    for (int j = 0; j < p->columns; j++) m->ds[j] = m->c[j] - m->dz[j];
}

// Longest step, at most `most`, that keeps z and s in their cones; as scaled vectors both are lambda.
static double ipm_longest(const Ipm *m, double most) {
    const SandConeProgram *p = &m->program;
    double inverse_step = 1 / most;
    for (int c = 0; c < p->cones; c++) {
        int j = p->first.data[c], size = sand_cone_program_size(p, c);
        inverse_step = fmax(inverse_step, cone_inverse_step(m->lambda + j, m->dz + j, size));
        inverse_step = fmax(inverse_step, cone_inverse_step(m->lambda + j, m->ds + j, size));
    }
    return 1 / inverse_step;
}

// Adds a corrector to c: the eigenvalues of the products z o s after a step of this length are pulled to within a factor of
// ten of the target.
static void ipm_add_corrector(Ipm *m, double step, double target) {
    const SandConeProgram *p = &m->program;
    for (int c = 0; c < p->cones; c++) {
        int j = p->first.data[c], size = sand_cone_program_size(p, c);
        double z[3], s[3], product[3], corrector[3];
        for (int k = 0; k < size; k++) {
            z[k] = m->lambda[j + k] + step * m->dz[j + k];
            s[k] = m->lambda[j + k] + step * m->ds[j + k];
        }
        cone_product(z, s, size, product);
        cone_clamp(product, 0.1 * target, 10 * target, size, corrector);
        for (int k = 0; k < size; k++) corrector[k] -= product[k];
        cone_divide(m->lambda + j, corrector, size, corrector);
        for (int k = 0; k < size; k++) m->c[j + k] += corrector[k];
    }
}

// Applies centrality correctors (Gondzio 1996): products that a somewhat longer step would take far from the target are
// pulled back by another solve with the same factors, for as long as that lengthens the step.
static void ipm_correct_centrality(Ipm *m, double target, double *longest) {
    enum { CORRECTORS = 3 };
    size_t bytes = (size_t)m->program.columns * sizeof *m->dz;
    for (int k = 0; k < CORRECTORS && *longest < 1; k++) {
        memcpy(m->old_dz, m->dz, bytes);
        memcpy(m->old_ds, m->ds, bytes);
        ipm_add_corrector(m, fmin(1, 1.08 * *longest + 0.08), target);
        ipm_direction(m);
        double reached = ipm_longest(m, 2);
        if (reached < 1.01 * *longest) {
            memcpy(m->dz, m->old_dz, bytes);
            memcpy(m->ds, m->old_ds, bytes);
            return;
        }
        *longest = reached;
    }
}

// Moves z and s. Returns false if rounding took one of them out of its cone.
static bool ipm_move(Ipm *m, double step) {
    const SandConeProgram *p = &m->program;
    bool inside = true;
    for (int c = 0; c < p->cones; c++) {
        int first = p->first.data[c], size = sand_cone_program_size(p, c);
        double dz[3], ds[3];
        cone_apply(m->inverse + 9 * c, m->dz + first, size, dz);
        cone_apply(m->scaling + 9 * c, m->ds + first, size, ds);
        for (int k = 0; k < size; k++) {
            m->z[first + k] += step * dz[k];
            m->s[first + k] += step * ds[k];
        }
        inside = inside && cone_inside(m->z + first, size) > 0 && cone_inside(m->s + first, size) > 0;
    }
    return inside;
}

// Tests for infeasibility: impulses that grow without end while their effect does not change. The path leads to the center
// of the set of solutions, so with redundant contacts some growth is normal; the sign is that nearly all of z has no effect.
static bool ipm_recedes(Ipm *m) {
    double zz = 0, dd = 0, zNz = 0;
    for (int j = 0; j < m->program.columns; j++) {
        double d = m->z[j] - m->old_z[j];
        zz += m->z[j] * m->z[j];
        dd += d * d;
        zNz += m->z[j] * m->nz[j];
    }
    m->growing = dd > 1e-2 * zz;
    m->receding = m->growing && zNz <= 1e-6 * zz ? m->receding + 1 : 0;
    return m->receding >= 2;
}

// Returns Newton's method to its best iterate.
static void ipm_restore_best(Ipm *m) {
    memcpy(m->newton.x, m->best_x, (size_t)m->program.columns * sizeof *m->best_x);
    sand_semismooth_set(&m->newton);
    m->stalled = 0;
}

// Saves Newton's iterate as the best.
static void ipm_keep_best(Ipm *m) {
    memcpy(m->best_x, m->newton.x, (size_t)m->program.columns * sizeof *m->best_x);
    m->best = m->newton.size;
}

// Switches from the path to Newton's method, which starts from the current point of the path or from its own best iterate,
// whichever is better.
static void ipm_begin_polish(Ipm *m) {
    SandSemismooth *n = &m->newton;
    for (int j = 0; j < m->program.columns; j++) n->x[j] = m->z[j] - m->s[j];
    sand_semismooth_set(n);
    if (n->size < m->best) ipm_keep_best(m);
    ipm_restore_best(m);
    n->proximal = SAND_PROXIMAL_LEAST;
    m->polishing = true;
    m->next_polish = 1e-3 * m->gap;
}

// Coulomb's law: a fixed point of the De Saxce bias around the cone problem. Newton's method continues with the updated
// bias; if that gains nothing, the path is followed again from its start.
static void ipm_polish_law(Ipm *m, SandEnd *end) {
    double least = 1e-12 * sqrt(m->r_size);
    if (m->newton.size <= fmax(0.01 * m->change, least)) {
        m->change = sand_semismooth_update_bias(&m->newton);
        ipm_keep_best(m);
        m->stalled = 0;
        m->bias_updated = true;
        if (m->change <= least) *end = SAND_END_EXHAUSTED;
    } else if (m->stalled >= 3 && m->bias_updated) {
        ipm_start(m);
    } else if (m->stalled >= 3) {
        m->polishing = false;
        m->stalled = 0;
    }
}

// One Newton step for the last digits: the path has shown which contacts are open, stick and slide. Full steps are taken:
// where the impulse and the velocity of some pairs both vanish, |F| rises for a step or two while they are sorted, and then
// drops at once. If a few steps gain nothing, it returns to its best iterate; the path goes on, and Newton is tried again
// later. At the end of the path it is tried with a larger proximal term, which keeps steps closer to where they start.
static void ipm_polish(Ipm *m, SandEnd *end) {
    enum { PATIENCE = 5 };
    SandSemismooth *n = &m->newton;
    double length;
    sand_semismooth_step(n, 1, true, &length);
    m->stalled = n->size < 0.5 * m->best ? 0 : m->stalled + 1;
    if (n->size < m->best) ipm_keep_best(m);
    double r = sqrt(m->r_size);
    bool lost = !(n->size <= r), good = m->best <= 1e-12 * r, exact = m->best <= 1e-16 * r;
    if (lost) m->stalled = PATIENCE;
    if (m->law && (good || !m->path_ended)) {
        ipm_polish_law(m, end);
        return;
    }
    if (m->stalled < (good ? 1 : PATIENCE) && !exact) return;
    ipm_restore_best(m);
    if (good) {
        *end = SAND_END_EXHAUSTED;
    } else if (!m->path_ended) {
        m->polishing = false;
    } else if (n->proximal < 1) {
        n->proximal *= 100;
    } else {
        *end = SAND_END_EXHAUSTED;
    }
}

// One iteration: a predictor-corrector step along the path, or a Newton step.
static bool ipm_step(void *method, SandEnd *end, SandError *error) {
    (void)error;
    Ipm *m = method;
    const SandConeProgram *p = &m->program;
    if (!m->contacts) {
        *end = SAND_END_EXHAUSTED;
        return true;
    }
    if (m->polishing) {
        ipm_polish(m, end);
        return true;
    }

    // Nesterov-Todd scaling, and the factorization for it.
    for (int c = 0; c < p->cones; c++) {
        int j = p->first.data[c], size = sand_cone_program_size(p, c);
        cone_scaling(m->z + j, m->s + j, size, m->scaling + 9 * c, m->inverse + 9 * c);
        cone_apply(m->scaling + 9 * c, m->z + j, size, m->lambda + j);
    }
    sand_kkt_factor(m->system, m->inverse);
    if (!sand_kkt_sound(m->system)) {
        m->path_ended = true;
        ipm_begin_polish(m);
        return true;
    }

    // Predictor: straight to m = 0.
    for (int j = 0; j < p->columns; j++) m->c[j] = -m->lambda[j];
    ipm_direction(m);
    double reached = ipm_longest(m, 1), center = (1 - reached) * (1 - reached) * (1 - reached);
    double target = center * m->gap / p->cones;

    // Corrector: lambda o (dz~ + ds~) = target e - lambda o lambda - dz~ o ds~ of the predictor.
    for (int c = 0; c < p->cones; c++) {
        int j = p->first.data[c], size = sand_cone_program_size(p, c);
        double second_order[3], square[3];
        cone_product(m->dz + j, m->ds + j, size, second_order);
        cone_product(m->lambda + j, m->lambda + j, size, square);
        for (int k = 0; k < size; k++) second_order[k] = (k == 0 ? target : 0) - square[k] - second_order[k];
        cone_divide(m->lambda + j, second_order, size, m->c + j);
    }
    ipm_direction(m);
    double longest = ipm_longest(m, 2);
    ipm_correct_centrality(m, target, &longest);
    memcpy(m->old_z, m->z, (size_t)p->columns * sizeof *m->z);
    double gap = m->gap, dual_residual = m->dual_residual_norm, step = fmin(1, 0.99 * longest);
    bool inside = ipm_move(m, step);
    ipm_residuals(m);

    m->stalled = m->gap > 0.9 * gap ? m->stalled + 1 : 0;
    if (ipm_recedes(m)) *end = SAND_END_RECEDES;
    if (!isfinite(m->gap)) *end = SAND_END_EXHAUSTED;
    // Near the end rounding takes over: a point within 1e-14 of a cone's boundary has lost its distance from it, and the
    // factors of a system scaled so unevenly no longer solve it.
    bool inaccurate = m->dual_residual_norm > fmax(dual_residual, 1e-11 * sqrt(m->r_size));
    m->path_ended = !inside || inaccurate || m->stalled >= 5;
    if (m->path_ended || (m->gap <= m->next_polish && !m->growing)) ipm_begin_polish(m);
    return true;
}

static void ipm_impulses(const void *method, SandVec3 *impulse) {
    const Ipm *m = method;
    sand_cone_program_impulses(&m->program, m->polishing ? m->newton.z : m->z, m->contacts, impulse);
}

// --- the rows of the table --------------------------------------------------------------------------------

static void *ipm_soc_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    return ipm_make(problem, def, SAND_KKT_NORMAL, error);
}

enum { IPM_SYSTEM };

static void *ipm_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    return ipm_make(problem, def, (SandKktKind)def->params[IPM_SYSTEM], error);
}

const SandAssembledMethod sand_assembled_ipm_soc = {
    .begin = ipm_soc_begin, .step = ipm_step, .impulses = ipm_impulses, .end = ipm_end};
const SandAssembledMethod sand_assembled_ipm = {
    .begin = ipm_begin, .step = ipm_step, .impulses = ipm_impulses, .end = ipm_end};
