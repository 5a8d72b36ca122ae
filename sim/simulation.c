#include "simulation.h"

#include "detect.h"
#include "match.h"
#include "memory.h"
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct SandSimulation {
    SandWorld world;
    SandSolveDef solve;
    SandCpu *cpu;
    SandTeam *team; // the cpu's
    SandDetection detection;
    SandMemory memory;
    SandProblem problem;
    SandSolution solution;
    bool built; // the problem is that of the coming step
    SandProfile profile;
    SandCounters counters;
    SandSolveDef solved; // with what the last step was
    double *depths;      // scratch for the percentile
    double *residuals;   // of each contact, where they were asked for
    size_t depth_room, residual_room;
    SandReport *report;
    void *report_user;
};

SandSimulationDef sand_default_simulation(void) {
    return (SandSimulationDef){.threads = 0, .precision = SAND_FLOAT, .solve = sand_default_solve()};
}

SandSimulation *sand_simulation_create(SandWorld *world, const SandSimulationDef *def, SandError *error) {
    SandSimulation *sim = calloc(1, sizeof *sim);
    if (!sim) {
        sand_world_free(world);
        return sand_fail(error, "out of memory for a simulation"), NULL;
    }
    sim->world = *world;
    memset(world, 0, sizeof *world);
    sim->solve = def->solve;
    sim->cpu = sand_world_check(&sim->world, error) ? sand_cpu_create(def->threads, def->precision, error) : NULL;
    if (!sim->cpu) return sand_simulation_free(sim), NULL;
    sim->team = sand_cpu_team(sim->cpu);
    return sim;
}

void sand_simulation_free(SandSimulation *sim) {
    if (!sim) return;
    sand_world_free(&sim->world);
    sand_cpu_free(sim->cpu);
    sand_detection_free(&sim->detection);
    sand_memory_free(&sim->memory);
    sand_problem_free(&sim->problem);
    sand_solution_free(&sim->solution);
    sand_free(sim->depths);
    sand_free(sim->residuals);
    free(sim);
}

void sand_simulation_on_report(SandSimulation *sim, SandReport *report, void *user) {
    sim->report = report;
    sim->report_user = user;
}

static void tell(SandSimulation *sim, const char *sentence) {
    if (sim->report) sim->report(sim->report_user, sentence);
}

// --- build: from contacts to the problem ------------------------------------------------------------------

// The free motion M^-1 Q of a body of the world, and its inverse inertia as the world sees it.
static SandProblemBody free_body(const SandWorld *w, int body) {
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandVec3 inertia = w->inertia[body], inverse = v3_make(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
    SandProblemBody b = {.inverse_mass = 1 / w->mass[body],
                         .velocity = v3_madd(w->velocity[body], w->step, w->gravity),
                         .spin = w->spin[body],
                         .inverse_inertia = {inverse.x, inverse.x, inverse.x, 0, 0, 0}};
    if (shape->kind == SAND_SPHERE) {
        b.radius = w->scale[body];
    } else {
        SandMat3 m = m3_turned_diagonal(q_matrix(w->rotation[body]), inverse);
        double full[6] = {m.m[0][0], m.m[1][1], m.m[2][2], m.m[0][1], m.m[0][2], m.m[1][2]};
        memcpy(b.inverse_inertia, full, sizeof full);
    }
    return b;
}

static SandVec3 symmetric_apply(const double *m, SandVec3 v) { // xx, yy, zz, xy, xz, yz
    return v3_make(m[0] * v.x + m[3] * v.y + m[4] * v.z, m[3] * v.x + m[1] * v.y + m[5] * v.z,
                   m[4] * v.x + m[5] * v.y + m[2] * v.z);
}

// The impulse at a point of the body that changes the point's velocity by `change`: K g = change, with K the inverse mass
// felt at the point, column by column; solved by Cramer's rule.
static SandVec3 impulse_for(const SandProblemBody *b, SandVec3 arm, SandVec3 change) {
    const SandVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    SandVec3 k[3];
    for (int i = 0; i < 3; i++) {
        SandVec3 spin = symmetric_apply(b->inverse_inertia, v3_cross(arm, axes[i]));
        k[i] = v3_add(v3_scale(b->inverse_mass, axes[i]), v3_cross(spin, arm));
    }
    double all = v3_dot(k[0], v3_cross(k[1], k[2]));
    return v3_make(v3_dot(change, v3_cross(k[1], k[2])) / all, v3_dot(k[0], v3_cross(change, k[2])) / all,
                   v3_dot(k[0], v3_cross(k[1], change)) / all);
}

// The pull of the spring over the step. Its point moves as a mass on a critically damped spring does, implicitly:
// u' = (u + h rate^2 (target - p)) / (1 + 2 h rate + h^2 rate^2).
static void pull_spring(const SandWorld *w, SandProblemBody *b) {
    const SandSpring *s = &w->spring;
    double h = w->step, rate = s->rate;
    SandVec3 arm = q_rotate(w->rotation[s->body], s->point), p = v3_add(w->position[s->body], arm);
    SandVec3 u = v3_add(b->velocity, v3_cross(b->spin, arm));
    SandVec3 wanted = v3_madd(u, h * rate * rate, v3_sub(s->target, p));
    wanted = v3_scale(1 / (1 + 2 * h * rate + h * h * rate * rate), wanted);
    SandVec3 g = impulse_for(b, arm, v3_sub(wanted, u));
    b->velocity = v3_madd(b->velocity, b->inverse_mass, g);
    b->spin = v3_add(b->spin, symmetric_apply(b->inverse_inertia, v3_cross(arm, g)));
    b->spin = v3_scale(1 / (1 + 0.1 * h * rate), b->spin); // a hand does not let it whirl about the held point for ever
}

static void build_work(SandWorker *worker, void *argument) {
    SandSimulation *sim = argument;
    const SandWorld *w = &sim->world;
    const SandDetection *d = &sim->detection;
    SandProblem *p = &sim->problem;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, p->body_count);
         k < sand_chunk_begin(worker->last_chunk, p->body_count); k++) {
        if (k < d->body_count) {
            p->bodies[k] = free_body(w, d->body[k]);
            if (d->body[k] == w->spring.body) pull_spring(w, &p->bodies[k]);
        } else {
            int b = (int)k - d->body_count;
            p->bodies[k] = (SandProblemBody){.velocity = d->velocity[b], .spin = d->spin[b]};
        }
    }
    for (int64_t i = sand_chunk_begin(worker->first_chunk, p->contact_count);
         i < sand_chunk_begin(worker->last_chunk, p->contact_count); i++) {
        const SandFound *f = &d->contacts[i];
        bool wall = f->b < 0;
        SandVec3 center_a = w->position[d->body[f->rank_a]];
        SandVec3 center_b = wall ? d->pose[-1 - f->b].position : w->position[d->body[f->b]];
        p->contacts[i] = (SandContact){.a = f->rank_a,
                                       .b = wall ? d->body_count - 1 - f->b : f->b,
                                       .normal = f->normal,
                                       .arm_a = v3_sub(f->point, center_a),
                                       .arm_b = v3_sub(f->point, center_b),
                                       .gap = f->gap,
                                       .mu = f->mu};
    }
}

static bool build(SandSimulation *sim, SandError *error) {
    const SandWorld *w = &sim->world;
    const SandDetection *d = &sim->detection;
    SandProblem *p = &sim->problem;
    p->dynamic_count = d->body_count;
    p->body_count = d->body_count + w->boundary_count;
    p->contact_count = d->contact_count;
    p->step = w->step;
    p->recovery = w->recovery;
    p->radial = true;
    for (int k = 0; k < w->shape_count; k++) p->radial = p->radial && w->shapes[k].kind == SAND_SPHERE;
    for (int b = 0; b < w->boundary_count; b++) p->radial = p->radial && v3_dot(d->spin[b], d->spin[b]) == 0;
    if (!SAND_GROW(p->bodies, p->body_room, p->body_count, "bodies", error) ||
        !SAND_GROW(p->contacts, p->contact_room, p->contact_count, "contacts", error))
        return false;
    sand_team_run(sim->team, build_work, sim);
    return true;
}

bool sand_simulation_build(SandSimulation *sim, SandError *error) {
    if (sim->built) return true;
    double t0 = sand_seconds();
    if (!sand_detect(&sim->detection, &sim->world, sim->team, error)) return false;
    double t1 = sand_seconds();
    if (!SAND_GROW(sim->problem.start, sim->problem.start_room, sim->detection.contact_count, "contacts", error))
        return false;
    sim->counters.matched = sand_match(&sim->memory, &sim->detection, sim->world.step, sim->problem.start, sim->team);
    double t2 = sand_seconds();
    if (!build(sim, error)) return false;
    double t3 = sand_seconds();
    sim->profile.detect = 1e3 * (t1 - t0), sim->profile.match = 1e3 * (t2 - t1), sim->profile.build = 1e3 * (t3 - t2);
    sim->built = true;
    return true;
}

// --- integrate --------------------------------------------------------------------------------------------

static SandVec3 componentwise(SandVec3 a, SandVec3 b) { return v3_make(a.x * b.x, a.y * b.y, a.z * b.z); }

// Turns a body by the exponential map and then gives it the spin that keeps its angular momentum L = I w.
static void turn(SandWorld *w, int body) {
    SandVec3 spin = w->spin[body], inertia = w->inertia[body];
    SandQuat before = w->rotation[body];
    w->rotation[body] = q_unit(q_mul(q_exp(v3_scale(w->step, spin)), before));
    if (w->shapes[w->shape[body]].kind == SAND_SPHERE) return;
    SandVec3 momentum = q_rotate(before, componentwise(inertia, q_unrotate(before, spin)));
    SandVec3 inverse = v3_make(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
    SandQuat after = w->rotation[body];
    w->spin[body] = q_rotate(after, componentwise(inverse, q_unrotate(after, momentum)));
}

static void integrate_work(SandWorker *worker, void *argument) {
    SandSimulation *sim = argument;
    SandWorld *w = &sim->world;
    const SandDetection *d = &sim->detection;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, d->body_count);
         k < sand_chunk_begin(worker->last_chunk, d->body_count); k++) {
        int body = d->body[k];
        w->velocity[body] = sim->solution.velocity[k];
        w->spin[body] = sim->solution.spin[k];
        w->position[body] = v3_madd(w->position[body], w->step, w->velocity[body]);
        turn(w, body);
    }
}

// Takes out, and reports by number, the bodies that left the world's box or became non-finite.
static void find_lost(SandSimulation *sim) {
    SandWorld *w = &sim->world;
    for (int k = 0; k < sim->detection.body_count; k++) {
        int body = sim->detection.body[k];
        SandVec3 p = w->position[body];
        bool finite = v3_finite(p) && v3_finite(w->velocity[body]) && v3_finite(w->spin[body]);
        bool within = p.x >= w->lower.x && p.y >= w->lower.y && p.z >= w->lower.z && p.x <= w->upper.x &&
                      p.y <= w->upper.y && p.z <= w->upper.z;
        if (finite && within) continue;
        w->gone[body] = 1;
        sim->counters.lost_total++;
        char sentence[160];
        snprintf(sentence, sizeof sentence, "body %d %s at t = %.3f s and was taken out", body,
                 finite ? "left the world" : "became non-finite", w->time);
        tell(sim, sentence);
        if (!finite) w->position[body] = w->velocity[body] = w->spin[body] = v3_make(0, 0, 0);
    }
}

// --- the step ---------------------------------------------------------------------------------------------

static double deepest(const SandDetection *d) {
    double least = 0;
    for (int i = 0; i < d->contact_count; i++) least = d->contacts[i].gap < least ? d->contacts[i].gap : least;
    return -least;
}

bool sand_simulation_step(SandSimulation *sim, SandError *error) {
    SandWorld *w = &sim->world;
    SandCounters *c = &sim->counters;
    double t0 = sand_seconds();
    uint64_t growths = sand_growth_count();

    // detect, match, build
    if (!sand_simulation_build(sim, error)) return false;
    double t1 = sand_seconds();

    // solve
    if (!sand_cpu_solve(sim->cpu, &sim->problem, &sim->solve, &sim->solution, error)) return false;
    sim->solved = sim->solve;
    double t2 = sand_seconds();
    c->bodies = sim->detection.body_count;
    c->contacts = sim->detection.contact_count;
    c->iterations = sim->solution.iterations;
    c->status = sim->solution.status;
    c->metrics = sim->solution.metrics;
    c->penetration_max = deepest(&sim->detection);

    // keep the impulses for the next step; those of an infeasible one would only grow
    bool keep = c->status == SAND_SOLVED || c->status == SAND_BUDGET;
    if (!keep) {
        c->infeasible_total++;
        char sentence[160];
        snprintf(sentence, sizeof sentence, "the step at t = %.3f s is %s; its best impulses are used and not kept", w->time,
                 sand_status_text(c->status));
        tell(sim, sentence);
        sand_memory_drop(&sim->memory);
    } else if (!sand_memory_keep(&sim->memory, &sim->detection, sim->solution.impulse, w->step, w->body_count, error)) {
        return false;
    }

    // integrate
    sand_team_run(sim->team, integrate_work, sim);
    w->time = (double)++w->step_index * w->step;
    find_lost(sim);
    sim->built = false;
    double t3 = sand_seconds();

    sim->profile.solve = 1e3 * (t2 - t1);
    sim->profile.integrate = 1e3 * (t3 - t2);
    sim->profile.step = 1e3 * (t3 - t0);
    c->growths = sand_growth_count() - growths;
    return true;
}

bool sand_simulation_save(const SandSimulation *sim, SandCheckpoint *checkpoint, SandError *error) {
    return sand_checkpoint_save(checkpoint, &sim->world, &sim->memory, error);
}

bool sand_simulation_restore(SandSimulation *sim, const SandCheckpoint *checkpoint, SandError *error) {
    sim->built = false;
    sim->problem.contact_count = 0; // contacts and impulses are those of another state
    return sand_checkpoint_restore(checkpoint, &sim->world, &sim->memory, error);
}

const SandProblem *sand_simulation_problem(const SandSimulation *sim) { return &sim->problem; }
const SandSolution *sand_simulation_solution(const SandSimulation *sim) { return &sim->solution; }
SandWorld *sand_simulation_change(SandSimulation *sim) {
    sim->built = false;
    return &sim->world;
}

const int *sand_simulation_order(const SandSimulation *sim) { return sim->detection.body; }
const SandWorld *sand_simulation_world(const SandSimulation *sim) { return &sim->world; }
const SandProfile *sand_simulation_profile(const SandSimulation *sim) { return &sim->profile; }
const SandCounters *sand_simulation_counters(const SandSimulation *sim) { return &sim->counters; }
void sand_simulation_set_solve(SandSimulation *sim, const SandSolveDef *solve) { sim->solve = *solve; }

void sand_simulation_want_curve(SandSimulation *sim, bool want) { sim->solution.want_curve = want; }

const double *sand_simulation_residuals(SandSimulation *sim, SandError *error) {
    const SandProblem *p = &sim->problem;
    bool known = SAND_GROW(sim->residuals, sim->residual_room, p->contact_count + 1, "residuals", error) &&
                 sand_cpu_residuals(sim->cpu, p, &sim->solved, sim->solution.impulse, sim->residuals, error);
    return known ? sim->residuals : NULL;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void sand_simulation_measure(SandSimulation *sim) {
    const SandDetection *d = &sim->detection;
    if (!SAND_GROW(sim->depths, sim->depth_room, d->contact_count, "penetrations", NULL)) return;
    int n = 0;
    for (int i = 0; i < d->contact_count; i++)
        if (d->contacts[i].gap < 0) sim->depths[n++] = -d->contacts[i].gap;
    qsort(sim->depths, (size_t)n, sizeof *sim->depths, compare);
    sim->counters.penetration_p99 = n ? sim->depths[(size_t)(0.99 * (n - 1))] : 0;
}
