// SPDX-License-Identifier: MIT
// Nonlinear Gauss-Seidel and nonsmooth Newton steps on Coulomb's law itself, for many digits.
// Idea: sweeps in which every contact's own problem is solved exactly are cheap, and where they converge soon nothing is
// faster. Where they do not, Newton steps on the equations of Alart and Curnier (1991) finish from the contacts that the
// sweeps have found to be open, stick and slide. If they do not converge either, the problem is replaced by a sequence of
// easier ones, in which every contact is held back by a spring to the impulses of the last (the proximal point method,
// Rockafellar 1976; for this law Acary et al. 2018, Carpentier et al. 2024); the springs soften as fast as Newton's
// method can follow.
// Weakness: a Newton step factorizes a matrix that is not symmetric; on jammed piles with strong friction the springs soften
// slowly. The law may have no solution, or several.
//
// The sweeps and the springs have a point each and the same work, counted and not timed, so that results are the same
// everywhere; the method is then at most about twice as slow as the faster of the two. Start at ngs_newton_run.
#include "sim/core/array.h"
#include "sim/solver/reference/coulomb_newton.h"
#include "sim/solver/reference/reference.h"

#include <stdlib.h>
#include <string.h>

typedef struct NgsNewton {
    SandCoulomb law;
    SandCoulombNewton newton;
    bool analyzed;   // the Newton system is
    double goal;     // m/s, for the residual
    bool has_goal;   // the caller's, so that the monitor ends the solve
    int iterations;  // sweeps and Newton steps
    bool ended;      // at its goal, or out of budget
    double residual; // m/s, of the sweeps' point, when it was last measured
    double tried;    // the residual from which Newton's method was last tried
    double spring;   // of the proximal problems, relative to the diagonal of N
    double softening;
    double sweep_work, spring_work; // in units of one sweep
    SandCoulombPoint swept, sprung, point, trial, best;
    const double *shown;    // the impulses that the monitor measures
    double *vectors, *slip; // slip: of the sweeps
    size_t vectors_capacity, slip_capacity;
} NgsNewton;

enum { POINTS = 5 };

static void ngs_newton_end(void *method) {
    NgsNewton *m = method;
    sand_coulomb_newton_free(&m->newton);
    sand_coulomb_free(&m->law);
    sand_free(m->vectors);
    sand_free(m->slip);
    free(m);
}

static void *ngs_newton_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    NgsNewton *m = calloc(1, sizeof *m);
    if (!m) {
        sand_fail(error, "out of memory for a solver");
        return NULL;
    }
    size_t n = 3 * (size_t)problem->contact_count, e = problem->matrix ? 0 : 6 * (size_t)problem->dynamic_count;
    if (!sand_coulomb_make(&m->law, problem, def, error) ||
        !SAND_GROW(m->vectors, m->vectors_capacity, POINTS * (n + e) + 1, "impulses", error) ||
        !SAND_GROW(m->slip, m->slip_capacity, (size_t)problem->contact_count + 1, "impulses", error)) {
        ngs_newton_end(m);
        return NULL;
    }
    SandCoulombPoint *points[POINTS] = {&m->swept, &m->sprung, &m->point, &m->trial, &m->best};
    for (int k = 0; k < POINTS; k++) *points[k] = (SandCoulombPoint){m->vectors + k * (n + e), m->vectors + k * (n + e) + n};
    double size = 0;
    for (int i = 0; i < m->law.contacts; i++)
        for (int k = 0; k < 3; k++) {
            m->swept.z[3 * i + k] = v3_dot(m->law.axis.data[3 * i + k], problem->start[i]);
            size += m->law.r.data[3 * i + k] * m->law.r.data[3 * i + k];
        }
    sand_coulomb_make_feasible(&m->law, m->swept);
    m->shown = m->swept.z;
    m->has_goal = def->tolerance > 0;
    double rounding = 1e-13 * sqrt(size);
    m->goal = !m->has_goal ? rounding : def->relative ? def->tolerance * sqrt(size) : def->tolerance;
    m->tried = INFINITY;
    m->spring = 1;
    m->softening = 0.05;
    return m;
}

static void ngs_newton_impulses(const void *method, SandVec3 *impulse) {
    const NgsNewton *m = method;
    for (int i = 0; i < m->law.contacts; i++) {
        const double *z = m->shown + 3 * (size_t)i;
        const SandVec3 *axis = m->law.axis.data + 3 * (size_t)i;
        impulse[i] = v3_madd(v3_madd(v3_scale(z[0], axis[0]), z[1], axis[1]), z[2], axis[2]);
    }
}

static void copy_point(const NgsNewton *m, SandCoulombPoint to, SandCoulombPoint from) {
    memcpy(to.z, from.z, 3 * (size_t)m->law.contacts * sizeof *to.z);
    memcpy(to.e, from.e, 6 * (size_t)m->law.bodies * sizeof *to.e);
}

// Shows a feasible point to the monitor, and ends the solve where it says so or the goal is reached.
static void show(NgsNewton *m, SandIterationMonitor *monitor, SandCoulombPoint point, double residual) {
    m->shown = point.z;
    bool more = sand_monitor_iterate(monitor, m->iterations);
    m->ended = !more || (!m->has_goal && residual <= m->goal);
}

// --- sweeps -----------------------------------------------------------------------------------------------

// Work of a Newton step in sweeps, before it is known from the factorization: as of piles of a few hundred bodies.
#define UNKNOWN_STEP 100

static double step_work(const NgsNewton *m) { return m->analyzed ? m->newton.work : UNKNOWN_STEP; }

// Sweeps until the work of the sweeps has reached `until`, and beyond that for as long as the rate of the last ten promises
// the goal for less than the work of a few Newton steps.
static void sweep(NgsNewton *m, SandIterationMonitor *monitor, double until) {
    enum { STEPS = 8 };
    double last = INFINITY, ratio = INFINITY;
    for (int k = 0; !m->ended; k++) {
        double change = sand_coulomb_sweep(&m->law, m->swept, m->slip);
        m->iterations++;
        m->sweep_work++;
        bool out = !sand_monitor_has_budget(monitor, m->iterations), tenth = k % 10 == 9;
        if (!out && !tenth && k != 0 && change * ratio > m->goal) continue;
        m->residual = sand_coulomb_residual(&m->law, m->swept);
        ratio = change > 0 ? m->residual / change : INFINITY;
        if (tenth || out || m->residual <= m->goal) show(m, monitor, m->swept, m->residual);
        if (!tenth) continue;
        double left = m->residual < last ? 10 * log(m->residual / m->goal) / log(last / m->residual) : INFINITY;
        last = m->residual;
        if (m->sweep_work >= until && !(left <= STEPS * step_work(m))) return;
    }
}

// --- Newton steps -----------------------------------------------------------------------------------------

// Takes a Newton step from m->point, halved until |F| decreases. Returns |F| at its end, m->trial; INFINITY: there is no
// step.
static void step(NgsNewton *m, double size, double *length, double *next) {
    enum { HALVINGS = 6 };
    bool found = sand_coulomb_newton_direction(&m->newton, m->point);
    m->iterations++;
    *next = INFINITY;
    *length = 1;
    for (int h = 0; found; h++, *length *= 0.5) {
        for (int j = 0; j < 3 * m->law.contacts; j++) m->trial.z[j] = m->point.z[j] + *length * m->newton.dz[j];
        for (int j = 0; j < 6 * m->law.bodies; j++) m->trial.e[j] = m->point.e[j] + *length * m->newton.de[j];
        *next = sand_coulomb_newton_size(&m->newton, m->trial);
        if (*next < (1 - 1e-3 * *length) * size || h == HALVINGS) break;
    }
}

// Measures the residual of the law at m->point, and shows it if the goal is reached.
static double look(NgsNewton *m, SandIterationMonitor *monitor) {
    double spring = m->law.proximal;
    m->law.proximal = 0;
    copy_point(m, m->trial, m->point);
    sand_coulomb_make_feasible(&m->law, m->trial);
    double residual = sand_coulomb_residual(&m->law, m->trial);
    m->law.proximal = spring;
    if (residual <= m->goal) show(m, monitor, m->trial, residual);
    if (!m->ended && !sand_monitor_has_budget(monitor, m->iterations)) show(m, monitor, m->trial, residual);
    return residual;
}

// Newton's method from where the sweeps are. |F| may rise for a while: contacts that are sorted wrongly are sorted on the
// way. Its best point is given to the sweeps if it is better than theirs.
static void finish(NgsNewton *m, SandIterationMonitor *monitor) {
    enum { STEPS = 30, PATIENCE = 10 };
    m->law.proximal = 0;
    copy_point(m, m->point, m->swept);
    double size = sand_coulomb_newton_size(&m->newton, m->point), least = size, most = 1e8 * size, length;
    bool gained = false;
    for (int k = 0, stalled = 0; k < STEPS && stalled < PATIENCE && size <= most && !m->ended; k++) {
        step(m, size, &length, &size);
        m->spring_work += step_work(m);
        if (!isfinite(size)) break;
        copy_point(m, m->point, m->trial);
        stalled = size < 0.9 * least ? 0 : stalled + 1;
        if (size < least) {
            least = size;
            gained = true;
            copy_point(m, m->best, m->point);
        }
        look(m, monitor);
    }
    m->tried = m->residual;
    if (!gained || m->ended) return;
    sand_coulomb_make_feasible(&m->law, m->best);
    double residual = sand_coulomb_residual(&m->law, m->best);
    if (residual < m->residual) {
        copy_point(m, m->swept, m->best);
        m->residual = residual;
    }
}

// --- springs ----------------------------------------------------------------------------------------------

// Distance of m->point from the anchors of the springs, in the units of F.
static double distance(const NgsNewton *m) {
    double sum = 0;
    for (int i = 0; i < m->law.contacts; i++) {
        const double *own = m->law.own.data + 9 * (size_t)i, *z = m->point.z + 3 * (size_t)i,
                     *c = m->law.center + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) sum += sand_coulomb_diagonal(own, k) * (z[k] - c[k]) * (z[k] - c[k]);
    }
    return sqrt(sum);
}

// Solves the problem with springs from m->point, as accurately as what the springs still do to it is worth. *steps receives
// the Newton steps that it took, 0 if it did not converge.
static void solve_sprung(NgsNewton *m, SandIterationMonitor *monitor, int *steps) {
    enum { STEPS = 15, RESCUES = 3, SWEEPS = 10 };
    double size = sand_coulomb_newton_size(&m->newton, m->point), next, length;
    *steps = 0;
    for (int k = 1, rescues = 0; k <= STEPS && !m->ended; k++) {
        step(m, size, &length, &next);
        m->spring_work += step_work(m);
        bool gained = next < size;
        if (gained) {
            copy_point(m, m->point, m->trial);
            size = next;
            *steps = k;
            look(m, monitor);
            if (m->ended || size <= 0.1 * m->law.proximal * distance(m)) return;
        }
        if (gained && length > 0.1) continue;
        // Sweeps get it past a kink, if the springs are stiff enough for them to converge.
        if (rescues++ == RESCUES || m->law.proximal < 1e-6) break;
        sand_coulomb_make_feasible(&m->law, m->point);
        for (int s = 0; s < SWEEPS; s++) sand_coulomb_sweep(&m->law, m->point, m->slip);
        m->iterations += SWEEPS;
        m->spring_work += SWEEPS;
        size = sand_coulomb_newton_size(&m->newton, m->point);
    }
    *steps = 0;
}

// Softens the springs until their work has reached `until`. They begin at the sweeps' point.
static void soften(NgsNewton *m, SandIterationMonitor *monitor, double until) {
    enum { FEW = 4, MANY = 9 }; // steps of a problem that was easy, and of one that was not
    if (!m->law.center) {
        copy_point(m, m->sprung, m->swept);
        m->law.center = m->sprung.z;
    }
    while (m->spring_work < until && !m->ended) {
        int steps;
        m->law.proximal = m->spring;
        copy_point(m, m->point, m->sprung);
        solve_sprung(m, monitor, &steps);
        m->law.proximal = 0;
        if (m->ended) break;
        if (steps == 0) {
            m->spring = fmin(10 * m->spring, 10);
            m->softening = fmin(sqrt(m->softening), 0.5);
            continue;
        }
        copy_point(m, m->sprung, m->point);
        sand_coulomb_make_feasible(&m->law, m->sprung);
        if (steps <= FEW) m->softening = fmax(pow(m->softening, 1.2), 0.03);
        if (steps <= MANY) m->spring = fmax(m->spring * m->softening, 1e-9);
        show(m, monitor, m->sprung, sand_coulomb_residual(&m->law, m->sprung));
    }
}

// --- all of it --------------------------------------------------------------------------------------------

static bool ngs_newton_run(void *method, SandIterationMonitor *monitor, SandError *error) {
    enum { FIRST_SWEEPS = 50 };
    NgsNewton *m = method;
    if (m->law.contacts) sweep(m, monitor, FIRST_SWEEPS);
    if (!m->ended && m->law.contacts) {
        if (!sand_coulomb_newton_make(&m->newton, &m->law, error)) return false;
        m->analyzed = true;
    }
    while (!m->ended && m->law.contacts) {
        if (m->residual <= 0.5 * m->tried) finish(m, monitor);
        if (!m->ended) soften(m, monitor, fmax(m->sweep_work, m->spring_work + step_work(m)));
        if (!m->ended) sweep(m, monitor, m->spring_work);
    }
    return true;
}

const SandAssembledMethod sand_assembled_ngs_newton = {
    .begin = ngs_newton_begin, .run = ngs_newton_run, .impulses = ngs_newton_impulses, .end = ngs_newton_end};
