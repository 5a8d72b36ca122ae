// Primal-dual interior point methods ([Q] section 3.1; for the circular cones the conic way that its section 5 names).
// Idea: follow the central path z o s = m e of impulses z and velocities s = N z + r, both kept inside their cones,
// to m = 0 by Newton's method; Mehrotra's predictor says how far m may fall in a step, and corrects for what the
// predictor bent; Gondzio's correctors keep the products z o s alike. One factorization an iteration, and some twenty of
// them at any size.
// Weakness: no warm start, an iteration costs a factorization, and no use is made of a guess of the active set.
//
// ipm-soc takes the circular cones as they are, by the scaling of Nesterov and Todd: the reference for every method of
// the circular cone. ipm has pyramids and polyhedra in their place, as [Q] eq. 10 does, and so half-lines alone.
// Scaled vectors are dz~ = W dz and ds~ = W^-1 ds; then (I + A'A) dz~ = c - W^-1 (N z + r - s) with A'A = W^-1 N W^-1, and
// ds~ = c - dz~, where c is what the complementarity asks for.
#include "sim/solver/reference/cone.h"
#include "sim/solver/reference/assembled.h"
#include "sim/solver/reference/kkt.h"
#include "sim/core/array.h"
#include "sim/solver/reference/semismooth.h"

#include <stdlib.h>
#include <string.h>

typedef struct Ipm {
    SandConeProgram program;
    SandKkt *system;
    SandSemismooth newton; // for the last digits
    bool polishing;
    double best;        // |F| of its best iterate
    double next_polish; // the gap at which it is tried again
    bool growing, ended;
    bool law;      // Coulomb's: after the cone's problem is solved, a fixed point of its normal velocity
    double change; // of that velocity, when it was renewed
    bool lifted;   // since the path was begun
    int contacts;
    double gap;       // z's of the iterate
    double rest_size; // |N z + r - s|
    int standing;     // iterations without a gain
    int receding;     // iterations in which the impulses ran away
    double r_size;    // r'r
    // Vectors over the columns, all in one array.
    double *vectors, *scaling, *inverse, *work;
    double *z, *s, *rest, *lambda, *dz, *ds, *c, *b, *nz, *old_z, *old_dz, *old_ds, *best_x;
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

// rest = N z + r - s, and the gap.
static void ipm_residuals(Ipm *m) {
    const SandConeProgram *p = &m->program;
    sand_cone_program_product(p, m->z, m->nz, m->work);
    m->gap = 0;
    double rest = 0;
    for (int j = 0; j < p->columns; j++) {
        m->rest[j] = m->nz[j] + p->r[j] + m->newton.lift[j] - m->s[j];
        m->gap += m->z[j] * m->s[j];
        rest += m->rest[j] * m->rest[j];
    }
    m->rest_size = sqrt(rest);
}

// Adds to x what brings every cone of it well inside.
static void ipm_shift(const SandConeProgram *p, double *x) {
    double outside = -INFINITY;
    for (int c = 0; c < p->cones; c++) outside = fmax(outside, -cone_inside(x + p->first[c], sand_cone_program_size(p, c)));
    double size = 0;
    for (int j = 0; j < p->columns; j++) size += x[j] * x[j];
    size = sqrt(size / fmax(p->cones, 1));
    if (outside < -1e-8 * size) return;
    for (int c = 0; c < p->cones; c++) x[p->first[c]] += outside + fmax(size, 1e-12);
}

// The start: the least squares guess of z and s, moved into the cones.
static bool ipm_start(Ipm *m, SandError *error) {
    const SandConeProgram *p = &m->program;
    for (int c = 0; c < p->cones; c++)
        for (int k = 0; k < 9; k++) m->inverse[9 * c + k] = k % 4 == 0;
    m->r_size = 0;
    for (int j = 0; j < p->columns; j++) {
        m->b[j] = -p->r[j] - m->newton.lift[j];
        m->r_size += m->b[j] * m->b[j];
    }
    if (!sand_kkt_factor(m->system, m->inverse, error) || !sand_kkt_solve(m->system, m->b, m->z, error)) return false;
    for (int j = 0; j < p->columns; j++) m->s[j] = -m->z[j];
    ipm_shift(p, m->z);
    ipm_shift(p, m->s);
    ipm_residuals(m);
    m->next_polish = 1e-12 * m->r_size;
    m->best = INFINITY;
    m->polishing = m->growing = m->ended = m->lifted = false;
    m->standing = m->receding = 0;
    return true;
}

static void *ipm_make(const SandProblem *problem, const SandSolveDef *def, SandKktKind system, SandError *error) {
    Ipm *m = calloc(1, sizeof *m);
    if (!m) return sand_fail(error, "out of memory for a solver"), NULL;
    m->contacts = problem->contact_count;
    m->law = sand_friction_table[def->friction].set == SAND_SET_LAW, m->change = INFINITY;
    bool ok = sand_cone_program_make(&m->program, problem, def, error);
    size_t n = (size_t)m->program.columns, cones = (size_t)m->program.cones;
    ok = ok && SAND_GROW(m->vectors, m->vectors_capacity, IPM_VECTORS * n + 1, "interior point vectors", error) &&
         SAND_GROW(m->scaling, m->scaling_capacity, 9 * cones + 1, "interior point vectors", error) &&
         SAND_GROW(m->inverse, m->inverse_capacity, 9 * cones + 1, "interior point vectors", error) &&
         SAND_GROW(m->work, m->work_capacity, m->program.rows + 1, "interior point vectors", error);
    if (ok) {
        double **vector[IPM_VECTORS] = {&m->z, &m->s,  &m->rest,  &m->lambda, &m->dz,     &m->ds,    &m->c,
                                        &m->b, &m->nz, &m->old_z, &m->old_dz, &m->old_ds, &m->best_x};
        for (size_t k = 0; k < IPM_VECTORS; k++) *vector[k] = m->vectors + k * n;
    }
    if (ok && m->contacts) {
        m->system = sand_kkt_create(&m->program, system, error);
        ok = m->system && sand_semismooth_make(&m->newton, &m->program, m->system, error) && ipm_start(m, error);
    }
    if (!ok) ipm_end(m), m = NULL;
    return m;
}

// dz~ and ds~ for what the complementarity asks for.
static bool ipm_direction(Ipm *m, SandError *error) {
    const SandConeProgram *p = &m->program;
    for (int c = 0; c < p->cones; c++) {
        int j = p->first[c], size = sand_cone_program_size(p, c);
        cone_apply(m->inverse + 9 * c, m->rest + j, size, m->b + j);
    }
    for (int j = 0; j < p->columns; j++) m->b[j] = m->c[j] - m->b[j];
    if (!sand_kkt_solve(m->system, m->b, m->dz, error)) return false;
    for (int j = 0; j < p->columns; j++) m->ds[j] = m->c[j] - m->dz[j];
    return true;
}

// The longest step, at most 1, that leaves z and s in their cones; in scaled vectors both are lambda.
static double ipm_longest(const Ipm *m, double most) {
    const SandConeProgram *p = &m->program;
    double reach = 1 / most;
    for (int c = 0; c < p->cones; c++) {
        int j = p->first[c], size = sand_cone_program_size(p, c);
        reach = fmax(reach, cone_reach(m->lambda + j, m->dz + j, size));
        reach = fmax(reach, cone_reach(m->lambda + j, m->ds + j, size));
    }
    return 1 / reach;
}

// Adds to what is asked of the complementarity: the products z o s that a step of this length would make are to come no
// farther than ten times from the target.
static void ipm_pull(Ipm *m, double step, double target) {
    const SandConeProgram *p = &m->program;
    for (int c = 0; c < p->cones; c++) {
        int j = p->first[c], size = sand_cone_program_size(p, c);
        double z[3], s[3], made[3], pull[3];
        for (int k = 0; k < size; k++)
            z[k] = m->lambda[j + k] + step * m->dz[j + k], s[k] = m->lambda[j + k] + step * m->ds[j + k];
        cone_product(z, s, size, made);
        cone_clamp(made, 0.1 * target, 10 * target, size, pull);
        for (int k = 0; k < size; k++) pull[k] -= made[k];
        cone_divide(m->lambda + j, pull, size, pull);
        for (int k = 0; k < size; k++) m->c[j + k] += pull[k];
    }
}

// Correctors for the center (Gondzio 1996): products that a somewhat longer step would bring far from the target are drawn
// back by another solve with the same factors, for as long as that makes the step longer.
static bool ipm_center(Ipm *m, double target, double *longest, SandError *error) {
    enum { CORRECTORS = 3 };
    size_t bytes = (size_t)m->program.columns * sizeof *m->dz;
    for (int k = 0; k < CORRECTORS && *longest < 1; k++) {
        memcpy(m->old_dz, m->dz, bytes);
        memcpy(m->old_ds, m->ds, bytes);
        ipm_pull(m, fmin(1, 1.08 * *longest + 0.08), target);
        if (!ipm_direction(m, error)) return false;
        double reached = ipm_longest(m, 2);
        if (reached < 1.01 * *longest) {
            memcpy(m->dz, m->old_dz, bytes);
            memcpy(m->ds, m->old_ds, bytes);
            return true;
        }
        *longest = reached;
    }
    return true;
}

// z and s are moved and stay inside; false when rounding forbids it.
static bool ipm_move(Ipm *m, double step) {
    const SandConeProgram *p = &m->program;
    bool inside = true;
    for (int c = 0; c < p->cones; c++) {
        int first = p->first[c], size = sand_cone_program_size(p, c);
        double dz[3], ds[3];
        cone_apply(m->inverse + 9 * c, m->dz + first, size, dz);
        cone_apply(m->scaling + 9 * c, m->ds + first, size, ds);
        for (int k = 0; k < size; k++) m->z[first + k] += step * dz[k], m->s[first + k] += step * ds[k];
        inside = inside && cone_inside(m->z + first, size) > 0 && cone_inside(m->s + first, size) > 0;
    }
    return inside;
}

// A problem is infeasible when impulses grow for ever while what they do stands still. The path leads to the middle of all
// solutions, so where contacts are redundant some growth is no sign; it is when nearly all of z does nothing.
static bool ipm_recedes(Ipm *m) {
    double zz = 0, dd = 0, zNz = 0;
    for (int j = 0; j < m->program.columns; j++) {
        double d = m->z[j] - m->old_z[j];
        zz += m->z[j] * m->z[j], dd += d * d, zNz += m->z[j] * m->nz[j];
    }
    m->growing = dd > 1e-2 * zz;
    m->receding = m->growing && zNz <= 1e-6 * zz ? m->receding + 1 : 0;
    return m->receding >= 2;
}

// Newton's method back to its best iterate.
static void ipm_return(Ipm *m) {
    memcpy(m->newton.x, m->best_x, (size_t)m->program.columns * sizeof *m->best_x);
    sand_semismooth_set(&m->newton);
    m->standing = 0;
}

// Keeps Newton's iterate as the best.
static void ipm_keep(Ipm *m) {
    memcpy(m->best_x, m->newton.x, (size_t)m->program.columns * sizeof *m->best_x);
    m->best = m->newton.size;
}

// Leaves the path for Newton's method: from where the path has come, or from the best that method had, if that is better.
static void ipm_leave(Ipm *m) {
    SandSemismooth *n = &m->newton;
    for (int j = 0; j < m->program.columns; j++) n->x[j] = m->z[j] - m->s[j];
    sand_semismooth_set(n);
    if (n->size < m->best) ipm_keep(m);
    ipm_return(m);
    n->proximal = SAND_PROXIMAL_LEAST;
    m->polishing = true;
    m->next_polish = 1e-3 * m->gap;
}

// Coulomb's law: a fixed point of the normal velocity that it asks for, around the cone's problem. Newton's method goes
// on with the new one; where that gains nothing, the path is walked again.
static bool ipm_law(Ipm *m, SandStatus *status, SandError *error) {
    double least = 1e-12 * sqrt(m->r_size);
    if (m->newton.size <= fmax(0.01 * m->change, least)) {
        m->change = sand_semismooth_lift(&m->newton);
        ipm_keep(m);
        m->standing = 0, m->lifted = true;
        if (m->change <= least) *status = SAND_SOLVED;
    } else if (m->standing >= 3 && m->lifted) {
        return ipm_start(m, error);
    } else if (m->standing >= 3) {
        m->polishing = false, m->standing = 0;
    }
    return true;
}

// Newton's method for the last digits: the path has shown which cones are open, which stick and which slide. Its steps are
// taken whole: where some pairs of impulse and velocity both vanish, |F| rises for a step or two while they are sorted, and
// then falls at once. If nothing was gained after a few, it goes back; then the path goes on, and it is tried later. At the
// end of the path it is tried with steps that are held nearer to where they begin.
static bool ipm_polish(Ipm *m, SandStatus *status, SandError *error) {
    enum { PATIENCE = 5 };
    SandSemismooth *n = &m->newton;
    double length;
    if (!sand_semismooth_step(n, 1, true, &length, error)) return false;
    m->standing = n->size < 0.5 * m->best ? 0 : m->standing + 1;
    if (n->size < m->best) ipm_keep(m);
    double r = sqrt(m->r_size);
    bool lost = !(n->size <= r), good = m->best <= 1e-12 * r, exact = m->best <= 1e-16 * r;
    if (lost) m->standing = PATIENCE;
    if (m->law && (good || !m->ended)) return ipm_law(m, status, error);
    if (m->standing < (good ? 1 : PATIENCE) && !exact) return true;
    ipm_return(m);
    if (good) {
        *status = SAND_SOLVED;
    } else if (!m->ended) {
        m->polishing = false;
    } else if (n->proximal < 1) {
        n->proximal *= 100;
    } else {
        *status = m->growing ? SAND_INFEASIBLE : SAND_SOLVED;
    }
    return true;
}

static bool ipm_step(void *method, SandStatus *status, SandError *error) {
    Ipm *m = method;
    const SandConeProgram *p = &m->program;
    if (!m->contacts) return *status = SAND_SOLVED, true;
    if (m->polishing) return ipm_polish(m, status, error);

    // The scaling, and its factorization.
    for (int c = 0; c < p->cones; c++) {
        int j = p->first[c], size = sand_cone_program_size(p, c);
        cone_scaling(m->z + j, m->s + j, size, m->scaling + 9 * c, m->inverse + 9 * c);
        cone_apply(m->scaling + 9 * c, m->z + j, size, m->lambda + j);
    }
    if (!sand_kkt_factor(m->system, m->inverse, error)) return false;
    if (!sand_kkt_sound(m->system)) {
        m->ended = true;
        ipm_leave(m);
        return true;
    }

    // Predictor: straight to m = 0.
    for (int j = 0; j < p->columns; j++) m->c[j] = -m->lambda[j];
    if (!ipm_direction(m, error)) return false;
    double reached = ipm_longest(m, 1), center = (1 - reached) * (1 - reached) * (1 - reached);
    double target = center * m->gap / p->cones;

    // Corrector: lambda o (dz~ + ds~) = target e - lambda o lambda - dz~ o ds~ of the predictor.
    for (int c = 0; c < p->cones; c++) {
        int j = p->first[c], size = sand_cone_program_size(p, c);
        double bent[3], square[3];
        cone_product(m->dz + j, m->ds + j, size, bent);
        cone_product(m->lambda + j, m->lambda + j, size, square);
        for (int k = 0; k < size; k++) bent[k] = (k == 0 ? target : 0) - square[k] - bent[k];
        cone_divide(m->lambda + j, bent, size, m->c + j);
    }
    if (!ipm_direction(m, error)) return false;
    double longest = ipm_longest(m, 2);
    if (!ipm_center(m, target, &longest, error)) return false;
    memcpy(m->old_z, m->z, (size_t)p->columns * sizeof *m->z);
    double gap = m->gap, rest = m->rest_size, step = fmin(1, 0.99 * longest);
    bool inside = ipm_move(m, step);
    ipm_residuals(m);

    m->standing = m->gap > 0.9 * gap ? m->standing + 1 : 0;
    if (ipm_recedes(m)) *status = SAND_INFEASIBLE;
    if (!isfinite(m->gap)) *status = SAND_DIVERGED;
    // Near the end rounding takes over: a point within 1e-14 of a cone's side has lost its distance from it, and the factors
    // of numbers so different no longer solve the system.
    bool spoilt = m->rest_size > fmax(rest, 1e-11 * sqrt(m->r_size));
    m->ended = !inside || spoilt || m->standing >= 5;
    if (m->ended || (m->gap <= m->next_polish && !m->growing)) ipm_leave(m);
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
