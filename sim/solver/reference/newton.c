// Semismooth Newton method ([P] section 3.3, on the normal map of its eq. 21).
// Idea: the conditions of the minimum are one equation with kinks; take its derivative on either side of a kink and step as
// Newton would. Once the right contacts are open, stick and slide, the end is one step away.
// Weakness: slow to find out which those are, and it may stand still on the way; a least length of step gets it over
// that, and needs tuning. The paper halves until |F| falls; here a step that gains nothing also adds a multiple of the
// identity to the next system, as Levenberg and Marquardt do.
#include "sim/solver/reference/assembled.h"
#include "sim/core/array.h"
#include "sim/solver/reference/semismooth.h"

#include <math.h>
#include <stdlib.h>

typedef struct Newton {
    SandConeProgram program;
    SandKkt *system;
    SandSemismooth newton;
    int contacts, standing;
    double least; // step length
    double goal;  // of |F|: what rounding leaves
    bool law;     // Coulomb's: its normal velocity is renewed whenever F is small beside its last change
    double change;
} Newton;

static void newton_end(void *method) {
    Newton *m = method;
    sand_semismooth_free(&m->newton);
    sand_kkt_free(m->system);
    sand_cone_program_free(&m->program);
    free(m);
}

// x of the warm start: its impulses less the velocities they make.
static void newton_start(Newton *m, const SandProblem *problem) {
    const SandConeProgram *p = &m->program;
    double *x = m->newton.x, *z = m->newton.z, size = 0;
    sand_cone_program_unknowns(p, problem->start, z);
    sand_cone_program_product(p, z, x, m->newton.work);
    for (int j = 0; j < p->columns; j++) {
        x[j] = z[j] - x[j] - p->r[j];
        size += p->r[j] * p->r[j];
    }
    m->newton.proximal = 1e-2; // short steps until some were good
    m->goal = 1e-14 * sqrt(size);
    sand_semismooth_set(&m->newton);
    m->change = INFINITY;
}

enum { NEWTON_LEAST };

static void *newton_begin(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    Newton *m = calloc(1, sizeof *m);
    if (!m) return sand_fail(error, "out of memory for a solver"), NULL;
    m->contacts = problem->contact_count;
    m->least = def->params[NEWTON_LEAST];
    m->law = sand_friction_table[def->friction].set == SAND_SET_LAW;
    bool ok = sand_cone_program_make(&m->program, problem, def, error);
    if (ok && m->contacts) {
        m->system = sand_kkt_create(&m->program, SAND_KKT_NORMAL, error);
        ok = m->system && sand_semismooth_make(&m->newton, &m->program, m->system, error);
        if (ok) newton_start(m, problem);
    }
    if (!ok) newton_end(m), m = NULL;
    return m;
}

static bool newton_step(void *method, SandStatus *status, SandError *error) {
    Newton *m = method;
    SandSemismooth *newton = &m->newton;
    if (!m->contacts) return *status = SAND_SOLVED, true;
    double before = newton->size, length;
    if (!sand_semismooth_step(newton, m->least, true, &length, error)) return false;
    bool gained = newton->size < 0.9 * before;
    newton->proximal = gained ? fmax(0.1 * newton->proximal, SAND_PROXIMAL_LEAST) : fmin(10 * newton->proximal, 1);
    m->standing = gained ? 0 : m->standing + 1;
    bool settled = newton->size <= m->goal && m->standing >= 2;
    if (m->law && newton->size <= fmax(0.1 * m->change, m->goal)) m->change = sand_semismooth_lift(newton);
    if (settled && (!m->law || m->change <= 10 * m->goal)) *status = SAND_SOLVED;
    return true;
}

static void newton_impulses(const void *method, SandVec3 *impulse) {
    const Newton *m = method;
    sand_cone_program_impulses(&m->program, m->newton.z, m->contacts, impulse);
}

const SandAssembledMethod sand_assembled_newton = {
    .begin = newton_begin, .step = newton_step, .impulses = newton_impulses, .end = newton_end};
