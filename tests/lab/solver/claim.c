// SPDX-License-Identifier: MIT
// Solving a problem and measuring what came out by plain algebra, with bounds for rounding, and the sentence about a claim
// that does not hold.
#include "tests/lab/solver/claim.h"

#include "sim/solver/cpu_kernel.h"
#include "tests/lab/solver/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool claim_solve_on(SandCpu *cpu, const SandProblem *p, const SandSolveDef *def, ClaimSolved *s, SandError *error) {
    const SandSolverKernel *kernel;
    SandSolverWorkspace *workspace;
    *s = (ClaimSolved){.solution = {.want_metrics = true}, .bound = calloc((size_t)p->contact_count + 1, sizeof *s->bound)};
    bool ok = s->bound && sand_cpu_load(cpu, p, def, &kernel, &workspace, error) &&
              sand_cpu_run(cpu, kernel, workspace, p, def, &s->solution, error);
    if (ok)
        kernel->read_bounds(workspace, s->bound);
    else
        claim_free(s);
    return ok;
}

bool claim_solve(const SandProblem *p, const SandSolveDef *def, SandPrecision precision, ClaimSolved *s, SandError *error) {
    SandCpu *cpu = sand_cpu_create(1, precision, error);
    bool ok = cpu && claim_solve_on(cpu, p, def, s, error);
    sand_cpu_free(cpu);
    return ok;
}

void claim_free(ClaimSolved *s) {
    sand_solution_free(&s->solution);
    free(s->bound);
    s->bound = NULL;
}

// What the impulses make of a body, and the sums of the magnitudes of the terms.
typedef struct Moved {
    SandVec3 velocity, turn; // the sum of the torques until all are known, then the spin
    double velocity_size, turn_size;
} Moved;

static void push(Moved *m, const SandProblemBody *b, SandVec3 arm, SandVec3 g, double sign) {
    m->velocity = v3_madd(m->velocity, sign * b->inverse_mass, g);
    m->turn = v3_madd(m->turn, sign, v3_cross(arm, g));
    m->velocity_size += b->inverse_mass * v3_length(g);
    m->turn_size += v3_length(arm) * v3_length(g);
}

static void finish(Moved *m, const SandProblemBody *b) {
    const double *j = b->inverse_inertia;
    SandVec3 t = m->turn;
    m->turn = v3_make(j[0] * t.x + j[3] * t.y + j[4] * t.z, j[3] * t.x + j[1] * t.y + j[5] * t.z,
                      j[4] * t.x + j[5] * t.y + j[2] * t.z);
    m->turn_size *= fmax(fabs(j[0]), fmax(fabs(j[1]), fabs(j[2])));
}

static SandVec3 velocity_at(const Moved *m, SandVec3 arm) { return v3_add(m->velocity, v3_cross(m->turn, arm)); }

// x - P(x - t u), as t u and what the projection takes away: impulses that have grown without bound would round u away.
static SandVec3 natural_map(const AdmissibleSet *set, bool cone, SandVec3 n, SandVec3 x, SandVec3 u, double t) {
    SandVec3 y = v3_madd(x, -t, u);
    return v3_madd(v3_sub(y, admissible_nearest(set, cone, n, y)), t, u);
}

ClaimFigures claim_measure(const SandProblem *p, const SandSolveDef *def, const ClaimSolved *s) {
    const SandFrictionRow *model = &sand_friction_table[def->friction];
    bool bounded = model->set == SAND_SET_CYLINDER, frictionless = def->friction == SAND_FRICTIONLESS;
    bool law = model->set == SAND_SET_LAW || (bounded && def->bounds != SAND_BOUNDS_PRESOLVE), cone = !bounded || law;
    const SandVec3 *x = s->solution.impulse;
    size_t n = (size_t)p->contact_count;
    Moved *moved = calloc((size_t)p->body_count + 1, sizeof *moved);
    SandVec3 *r = calloc(n + 1, sizeof *r);
    for (size_t i = 0; i < n; i++) {
        const SandContact *c = &p->contacts[i];
        if (c->a < p->dynamic_count) push(&moved[c->a], &p->bodies[c->a], c->arm_a, x[i], -1);
        if (c->b < p->dynamic_count) push(&moved[c->b], &p->bodies[c->b], c->arm_b, x[i], +1);
    }
    for (int k = 0; k < p->dynamic_count; k++) finish(&moved[k], &p->bodies[k]);
    dense_r(p, frictionless, r);
    ClaimFigures f = {.tau = dense_tau(p, frictionless)};
    double sum = 0, sum1 = 0, sum_r = 0, sum_size = 0;
    for (size_t i = 0; i < n; i++) {
        const SandContact *c = &p->contacts[i];
        const Moved *a = &moved[c->a], *b = &moved[c->b];
        AdmissibleSet set = {model, frictionless ? 0 : c->mu, s->bound[i], def->facets};
        SandVec3 y = v3_sub(velocity_at(b, c->arm_b), velocity_at(a, c->arm_a));
        if (set.mu == 0) y = v3_scale(v3_dot(y, c->normal), c->normal);
        SandVec3 u = v3_add(y, r[i]), dual = u;
        if (law) dual = v3_madd(u, c->mu * admissible_support(&set, c->normal, u), c->normal);
        SandVec3 e = natural_map(&set, cone, c->normal, x[i], dual, f.tau),
                 e1 = natural_map(&set, cone, c->normal, x[i], dual, 1);
        double size = a->velocity_size + b->velocity_size + a->turn_size * v3_length(c->arm_a) +
                      b->turn_size * v3_length(c->arm_b) + v3_length(r[i]) + v3_length(x[i]) / f.tau;
        sum += v3_dot(e, e);
        sum1 += v3_dot(e1, e1);
        sum_r += v3_dot(r[i], r[i]);
        sum_size += size * size;
        f.energy += 0.5 * v3_dot(x[i], y);
        f.objective += 0.5 * v3_dot(x[i], y) + v3_dot(x[i], r[i]);
    }
    f.residual = sqrt(sum) / f.tau;
    f.r_norm = sqrt(sum_r);
    f.relative = sqrt(sum1) / (f.r_norm > 0 ? f.r_norm : 1);
    f.scale = sqrt(sum_size);
    free(moved);
    free(r);
    return f;
}

const char *claim_check(const SandSolveDef *def, const ClaimSolved *s, const ClaimFigures *found, char text[static 256]) {
    const SandSolution *said = &s->solution;
    const char *status = sand_status_text(said->status);
    // Products of a handful of terms, each rounded a few times in double: claims of a float solve are verified there.
    double rounding = 1e-13;
    double slack = rounding * found->scale, slack1 = rounding * found->scale * (1 + found->tau) / (found->r_norm + 1e-300);
    bool lost = said->status == SAND_DIVERGED && found->residual > 1e6 * found->r_norm; // nothing is left of its digits
    if (!isfinite(found->residual) || !isfinite(said->metrics.residual) || lost) {
        if (said->status == SAND_DIVERGED) return NULL;
        snprintf(text, 256, "%s at a residual of %g", status, found->residual);
        return text;
    }
    double judged = def->relative ? found->relative : found->residual, blur = def->relative ? slack1 : slack;
    if (!(fabs(said->metrics.residual - found->residual) <= slack + 1e-4 * found->residual))
        snprintf(text, 256, "residual %g, in truth %g", said->metrics.residual, found->residual);
    else if (!(fabs(said->metrics.relative - found->relative) <= slack1 + 1e-4 * found->relative))
        snprintf(text, 256, "relative residual %g, in truth %g", said->metrics.relative, found->relative);
    else if (!(fabs(said->metrics.objective - found->objective) <=
               10 * rounding * (found->scale * found->scale * found->tau + fabs(found->objective))))
        snprintf(text, 256, "objective %.12g, in truth %.12g", said->metrics.objective, found->objective);
    else if (said->status == SAND_SOLVED && def->tolerance > 0 && judged > def->tolerance + blur)
        snprintf(text, 256, "solved at %g, tolerance %g", judged, def->tolerance);
    else if (said->status == SAND_SOLVED && def->tolerance == 0 && found->residual > 1e-9 * found->r_norm + slack)
        snprintf(text, 256, "solved at %g without a tolerance, %g without impulses", found->residual, found->r_norm);
    else if (said->status != SAND_SOLVED && def->tolerance > 0 && judged < def->tolerance - blur)
        snprintf(text, 256, "%s at %g, tolerance %g", status, judged, def->tolerance);
    else if (said->status != SAND_DIVERGED && found->residual > 10 * found->r_norm + slack && found->objective > blur)
        snprintf(text, 256, "%s at a residual of %g, %g without impulses", status, found->residual, found->r_norm);
    else if (said->status == SAND_DIVERGED && found->residual < 10 * found->r_norm - slack)
        snprintf(text, 256, "%s at a residual of %g, %g without impulses", status, found->residual, found->r_norm);
    else if (said->status == SAND_BUDGET && def->budget_ms == 0 && said->iterations != def->iterations)
        snprintf(text, 256, "%s after %d of %d iterations", status, said->iterations, def->iterations);
    else
        return NULL;
    return text;
}
