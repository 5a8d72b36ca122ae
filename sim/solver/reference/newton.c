// SPDX-License-Identifier: MIT
// Semismooth Newton method ([P] section 3.3, eq. 20, on the normal map of eq. 21).
// Idea: the optimality conditions are one equation with kinks; take the derivative on either side of a kink and do a Newton
// step. Once it is known which contacts are open, stick and slide, the solution is one step away.
// Weakness: slow to identify those sets, and it may stall on the way; a minimum step length gets it past that, and needs
// tuning ([P] says so too). An iteration is a factorization.
// The paper halves the step until |F| decreases; here a step that gains nothing also adds a multiple of the identity to the
// next system, as Levenberg and Marquardt do. The steps themselves are in semismooth.h.
#include "sim/solver/reference/reference.h"
#include "sim/core/array.h"
#include "sim/solver/reference/semismooth.h"

#include <math.h>
#include <stdlib.h>

typedef struct Newton {
    SandConeProgram program;
    SandKkt *system;
    SandSemismooth newton;
    int contacts, stalled; // stalled: iterations in a row without a gain
    double least;          // shortest step
    double goal;           // for |F|: what rounding leaves
    bool law;              // Coulomb's law: the De Saxce bias is updated whenever |F| is small beside its last change
    double change;         // of F, by the last update of the bias
} Newton;

static void newton_end(void *method) {
    Newton *m = method;
    sand_semismooth_free(&m->newton);
    sand_kkt_free(m->system);
    sand_cone_program_free(&m->program);
    free(m);
}

// Sets x from the warm start: its impulses minus the velocities they produce.
static void newton_start(Newton *m, const SandProblem *problem) {
    const SandConeProgram *p = &m->program;
    double *x = m->newton.x, *z = m->newton.z, size = 0;
    sand_cone_program_unknowns(p, problem->start, z);
    sand_cone_program_product(p, z, x, m->newton.work.data);
    for (int j = 0; j < p->columns; j++) {
        x[j] = z[j] - x[j] - p->r.data[j];
        size += p->r.data[j] * p->r.data[j];
    }
    m->newton.proximal = 1e-2; // cautious until some steps have gained
    m->goal = 1e-14 * sqrt(size);
    sand_semismooth_set(&m->newton);
    m->change = INFINITY;
}

enum { NEWTON_LEAST };

static void *newton_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    Newton *m = calloc(1, sizeof *m);
    if (!m) {
        sand_fail(error, "out of memory for a solver");
        return NULL;
    }
    m->contacts = problem->contact_count;
    m->least = def->params[NEWTON_LEAST];
    m->law = sand_friction_table[def->friction].set == SAND_SET_LAW;
    bool ok = sand_cone_program_make(&m->program, problem, def, error);
    if (ok && m->contacts) {
        m->system = sand_kkt_create(&m->program, SAND_KKT_NORMAL, error);
        ok = m->system && sand_semismooth_make(&m->newton, &m->program, m->system, error);
        if (ok) newton_start(m, problem);
    }
    if (!ok) {
        newton_end(m);
        m = NULL;
    }
    return m;
}

static bool newton_step(void *method, SandEnd *end, SandError *error) {
    (void)error;
    Newton *m = method;
    SandSemismooth *newton = &m->newton;
    if (!m->contacts) {
        *end = SAND_END_EXHAUSTED;
        return true;
    }
    double before = newton->size, length;
    sand_semismooth_step(newton, m->least, true, &length);
    bool gained = newton->size < 0.9 * before;
    newton->proximal = gained ? fmax(0.1 * newton->proximal, SAND_PROXIMAL_LEAST) : fmin(10 * newton->proximal, 1);
    m->stalled = gained ? 0 : m->stalled + 1;
    bool settled = newton->size <= m->goal && m->stalled >= 2;
    if (m->law && newton->size <= fmax(0.1 * m->change, m->goal)) m->change = sand_semismooth_update_bias(newton);
    if (settled && (!m->law || m->change <= 10 * m->goal)) *end = SAND_END_EXHAUSTED;
    return true;
}

static void newton_impulses(const void *method, SandVec3 *impulse) {
    const Newton *m = method;
    sand_cone_program_impulses(&m->program, m->newton.z, m->contacts, impulse);
}

const SandAssembledMethod sand_assembled_newton = {
    .begin = newton_begin, .step = newton_step, .impulses = newton_impulses, .end = newton_end};
