#include "direct.h"

#include "memory.h"

#include <math.h>
#include <string.h>

// Velocities after the impulses.
static void move_bodies(const SandProblem *p, SandSolution *s) {
    for (int k = 0; k < p->body_count; k++) s->velocity[k] = p->bodies[k].velocity, s->spin[k] = p->bodies[k].spin;
    const SandMatrix *m = p->matrix;
    for (int i = 0; m && i < p->contact_count; i++)
        for (int e = m->first[i]; e < m->first[i + 1]; e++)
            s->velocity[i] = v3_sub(s->velocity[i], sand_matrix_apply(m, e, s->impulse[m->column[e]]));
    for (int i = 0; !m && i < p->contact_count; i++)
        for (int side = 0; side < 2; side++) {
            const SandContact *c = &p->contacts[i];
            int k = side ? c->b : c->a;
            if (k >= p->dynamic_count) continue;
            const double *j = p->bodies[k].inverse_inertia;
            SandVec3 g = side ? s->impulse[i] : v3_neg(s->impulse[i]), t = v3_cross(side ? c->arm_b : c->arm_a, g);
            SandVec3 w = v3_make(j[0] * t.x + j[3] * t.y + j[4] * t.z, j[3] * t.x + j[1] * t.y + j[5] * t.z,
                                 j[4] * t.x + j[5] * t.y + j[2] * t.z);
            s->velocity[k] = v3_madd(s->velocity[k], p->bodies[k].inverse_mass, g);
            s->spin[k] = v3_add(s->spin[k], w);
        }
}

// A solve under way.
typedef struct Attempt {
    const SandDirect *method;
    void *state;
    const SandTextVerbs *verbs;
    SandText *text;
    SandTeam *team;
    const SandProblem *problem;
    SandSolution *solution;
    SandVec3 *impulse; // of the iterate; the solution has the best
    double begin, measuring;
} Attempt;

// Measures the iterate and keeps it when it is the best; the curve shows the best so far, which is what would be returned.
static void look(Attempt *r, int iteration, double *residual) {
    SandSolution *s = r->solution;
    double before = sand_seconds();
    SandMetrics m;
    r->method->impulses(r->state, r->impulse);
    r->verbs->measure(r->text, r->team, r->impulse, &m);
    if (iteration == 0 || m.residual <= s->metrics.residual) {
        s->metrics = m;
        for (int i = 0; i < r->problem->contact_count; i++) s->impulse[i] = r->impulse[i];
    }
    if (s->want_curve) {
        s->curve[iteration] =
            (SandCurvePoint){iteration, before - r->begin - r->measuring, s->metrics.residual, s->metrics.objective};
        s->curve_count = iteration + 1;
    }
    *residual = m.residual;
    r->measuring += sand_seconds() - before;
}

static bool iterate(Attempt *r, const SandSolveDef *def, SandError *error) {
    SandSolution *s = r->solution;
    double residual;
    look(r, 0, &residual);
    while (s->status == SAND_BUDGET) {
        if (!isfinite(residual))
            s->status = SAND_DIVERGED;
        else if (def->tolerance > 0 && s->metrics.residual <= def->tolerance)
            s->status = SAND_SOLVED;
        bool late = def->budget_ms > 0 && sand_seconds() - r->begin - r->measuring > 1e-3 * def->budget_ms;
        bool stopped = s->stop && __atomic_load_n(s->stop, __ATOMIC_RELAXED);
        if (s->status != SAND_BUDGET || late || stopped || s->iterations >= def->iterations) break;
        if (!r->method->step(r->state, &s->status, error)) return false;
        look(r, ++s->iterations, &residual);
    }
    // A method that can gain no more has not solved what misses the tolerance.
    if (s->status == SAND_SOLVED && def->tolerance > 0 && s->metrics.residual > def->tolerance) s->status = SAND_BUDGET;
    s->seconds = sand_seconds() - r->begin - r->measuring;
    return true;
}

bool sand_direct_solve(const SandDirect *method, const SandTextVerbs *verbs, SandText *text, SandTeam *team,
                       const SandProblem *p, const SandSolveDef *def, SandSolution *s, SandError *error) {
    size_t contacts = (size_t)p->contact_count, bodies = (size_t)p->body_count, impulse_room = 0;
    Attempt r = {.method = method, .verbs = verbs, .text = text, .team = team, .problem = p, .solution = s};
    if (!SAND_GROW(s->impulse, s->impulse_room, contacts, "impulses", error) ||
        !SAND_GROW(s->velocity, s->velocity_room, bodies, "velocities", error) ||
        !SAND_GROW(s->spin, s->spin_room, bodies, "velocities", error) ||
        (s->want_curve && !SAND_GROW(s->curve, s->curve_room, def->iterations + 1, "residual curve", error)) ||
        !SAND_GROW(r.impulse, impulse_room, contacts + 1, "impulses", error))
        return false;
    s->status = SAND_BUDGET, s->iterations = s->curve_count = 0;
    r.begin = sand_seconds();
    r.state = method->begin(p, def, error);
    bool ok = r.state && iterate(&r, def, error);
    if (r.state) method->end(r.state);
    sand_free(r.impulse);
    if (ok) move_bodies(p, s);
    return ok;
}
