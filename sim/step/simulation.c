#include "sim/step/simulation.h"

#include "sim/collision/collide.h"
#include "sim/collision/warm_start.h"
#include "sim/core/array.h"
#include "sim/step/integrate.inl"
#include "sim/core/thread_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct SandSimulation {
    SandWorld world;
    SandSolveDef solve;
    SandPrecision precision;
    SandCpu *cpu;
    SandThreadPool *pool; // the cpu's
    SandCollision collision;
    SandWarmStart memory;
    SandProblem problem;
    SandSolution solution;
    bool built; // the problem is that of the coming step
    SandProfile profile;
    SandCounters counters;
    SandSolveDef solved; // with what the last step was
    double *depths;      // scratch for the percentile
    double *residuals;   // of each contact, where they were asked for
    size_t depth_capacity, residual_capacity;
    SandReport *report;
    void *report_user;
    // Another machine, if it takes the steps. Of the bodies and of what is kept for the warm start, one of the two sides
    // has the newer state, or both have the same.
    const SandBackend *backend;
    SandDevice *device;
    bool bodies_are_old, warm_start_is_old; // on the host
    bool device_is_old;
    bool contacts_are_away; // those of the last step, and their impulses
    uint64_t fetched_step;  // of the bodies that the host has
    SandEnergy energy;      // after the machine's last step
    uint64_t downloaded;    // sand_bytes_downloaded() at the end of the last step
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
    sim->precision = def->precision;
    sim->cpu = sand_world_check(&sim->world, error) ? sand_cpu_create(def->threads, def->precision, error) : NULL;
    if (!sim->cpu) return sand_simulation_free(sim), NULL;
    sim->pool = sand_cpu_thread_pool(sim->cpu);
    sim->downloaded = sand_bytes_downloaded();
    if (def->backend && !sand_simulation_move(sim, def->backend, error)) return sand_simulation_free(sim), NULL;
    return sim;
}

void sand_simulation_free(SandSimulation *sim) {
    if (!sim) return;
    if (sim->device) sim->backend->destroy(sim->device);
    sand_world_free(&sim->world);
    sand_cpu_free(sim->cpu);
    sand_collision_free(&sim->collision);
    sand_warm_start_free(&sim->memory);
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

// --- another machine --------------------------------------------------------------------------------------

bool sand_simulation_fetch(SandSimulation *sim, SandError *error) {
    SandWorld *w = &sim->world;
    if (sim->bodies_are_old && !sim->backend->read_bodies(sim->device, w, 0, w->body_count, error)) return false;
    if (sim->bodies_are_old) sim->fetched_step = w->step_index;
    sim->bodies_are_old = false;
    return true;
}

// What the host has changed goes to the machine.
static bool give_changes(SandSimulation *sim, SandError *error) {
    const SandWorld *w = &sim->world;
    if (!sim->device_is_old) return true;
    if (!sim->backend->give(sim->device, w, &sim->memory, error)) return false;
    sim->device_is_old = false;
    sim->fetched_step = w->step_index;
    sim->energy = (SandEnergy){sand_world_kinetic_energy(w), sand_world_potential_energy(w)};
    return true;
}

bool sand_simulation_instances(SandSimulation *sim, const SandInstanceDef *def, SandSlot *slot, SandError *error) {
    return give_changes(sim, error) && sim->backend->instances(sim->device, &sim->world, def, slot, error);
}

// The bodies and what is kept for the warm start.
static bool fetch_all(SandSimulation *sim, SandError *error) {
    if (!sand_simulation_fetch(sim, error)) return false;
    if (sim->warm_start_is_old && !sim->backend->read_warm_start(sim->device, &sim->memory, error)) return false;
    sim->warm_start_is_old = false;
    return true;
}

bool sand_simulation_move(SandSimulation *sim, const SandBackend *backend, SandError *error) {
    SandDevice *device = NULL;
    if (backend == sim->backend) return true;
    if (!fetch_all(sim, error)) return false;
    if (backend) {
        device = backend->create(error);
        if (!device) return false;
        if (!backend->give(device, &sim->world, &sim->memory, error)) return backend->destroy(device), false;
    }
    if (sim->device) sim->backend->destroy(sim->device);
    sim->backend = backend, sim->device = device;
    sim->device_is_old = false;
    sim->fetched_step = sim->world.step_index;
    sim->energy = (SandEnergy){sand_world_kinetic_energy(&sim->world), sand_world_potential_energy(&sim->world)};
    return true;
}

const SandBackend *sand_simulation_backend(const SandSimulation *sim) { return sim->backend; }

SandPrecision sand_simulation_precision(const SandSimulation *sim) { return sim->precision; }

const char *sand_simulation_device_name(const SandSimulation *sim) {
    return sim->device ? sim->backend->describe(sim->device) : "CPU";
}

SandEnergy sand_simulation_energy(const SandSimulation *sim) {
    if (sim->device && !sim->device_is_old) return sim->energy;
    return (SandEnergy){sand_world_kinetic_energy(&sim->world), sand_world_potential_energy(&sim->world)};
}

// --- build: from contacts to the problem ------------------------------------------------------------------

static void build_work(SandWorker *worker, void *argument) {
    SandSimulation *sim = argument;
    const SandWorld *w = &sim->world;
    const SandCollision *d = &sim->collision;
    SandProblem *p = &sim->problem;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, p->body_count);
         k < sand_chunk_begin(worker->last_chunk, p->body_count); k++) {
        p->bodies[k] = problem_body(w, d, (int)k);
    }
    for (int64_t i = sand_chunk_begin(worker->first_chunk, p->contact_count);
         i < sand_chunk_begin(worker->last_chunk, p->contact_count); i++) {
        p->contacts[i] = problem_contact(w, d, &d->contacts[i]);
    }
}

// Makes room in the problem for what was detected.
static bool pack_problem(SandSimulation *sim, SandError *error) {
    const SandWorld *w = &sim->world;
    const SandCollision *d = &sim->collision;
    SandProblem *p = &sim->problem;
    p->dynamic_count = d->body_count;
    p->body_count = d->body_count + w->boundary_count;
    p->contact_count = d->contact_count;
    p->step = w->step;
    p->recovery = w->recovery;
    p->radial = true;
    for (int k = 0; k < w->shape_count; k++) p->radial = p->radial && w->shapes[k].kind == SAND_SPHERE;
    for (int b = 0; b < w->boundary_count; b++) p->radial = p->radial && v3_dot(d->spin[b], d->spin[b]) == 0;
    return SAND_GROW(p->bodies, p->body_capacity, p->body_count, "bodies", error) &&
           SAND_GROW(p->contacts, p->contact_capacity, p->contact_count, "contacts", error) &&
           SAND_GROW(p->start, p->start_capacity, p->contact_count, "contacts", error);
}

// The bodies have moved since: a body that is at x was at x - h v.
static SandVec3 place_before(const SandWorld *w, int body) {
    return v3_madd(w->position[body], -w->step, w->velocity[body]);
}

static void recall_work(SandWorker *worker, void *argument) {
    SandSimulation *sim = argument;
    const SandWorld *w = &sim->world;
    const SandCollision *d = &sim->collision;
    SandProblem *p = &sim->problem;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, p->contact_count);
         i < sand_chunk_begin(worker->last_chunk, p->contact_count); i++) {
        const SandContactCandidate *f = &d->contacts[i];
        SandVec3 a = place_before(w, d->body[f->index_a]);
        p->contacts[i] = contact_at(d, f, a, f->b < 0 ? a : place_before(w, d->body[f->b]));
    }
}

bool sand_simulation_fetch_contacts(SandSimulation *sim, SandError *error) {
    const SandBackend *b = sim->backend;
    SandDevice *m = sim->device;
    if (!m || sim->device_is_old || !sim->contacts_are_away) return true;
    if (!sand_simulation_fetch(sim, error) || !b->read_contacts(m, &sim->collision, error) || !pack_problem(sim, error) ||
        !b->read_problem_bodies(m, sim->problem.bodies, sim->problem.body_count, error) ||
        !b->read_start(m, sim->problem.start, error) || !b->read_solution(m, &sim->solution, error)) {
        sim->problem.contact_count = 0;
        return false;
    }
    sand_thread_pool_run(sim->pool, recall_work, sim);
    sim->contacts_are_away = false;
    return true;
}

bool sand_simulation_build(SandSimulation *sim, SandError *error) {
    if (sim->built) return true;
    if (!fetch_all(sim, error)) return false;
    double t0 = sand_seconds();
    if (!sand_collide(&sim->collision, &sim->world, sim->pool, error)) return false;
    double t1 = sand_seconds();
    if (!pack_problem(sim, error)) return false;
    sim->counters.warm_started =
        sand_warm_start_apply(&sim->memory, &sim->collision, sim->world.step, sim->problem.start, sim->pool);
    double t2 = sand_seconds();
    sand_thread_pool_run(sim->pool, build_work, sim);
    double t3 = sand_seconds();
    sim->profile.collide = 1e3 * (t1 - t0), sim->profile.warm_start = 1e3 * (t2 - t1), sim->profile.build = 1e3 * (t3 - t2);
    sim->built = true;
    return true;
}

// --- integrate --------------------------------------------------------------------------------------------

static void integrate_work(SandWorker *worker, void *argument) {
    SandSimulation *sim = argument;
    SandWorld *w = &sim->world;
    const SandCollision *d = &sim->collision;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, d->body_count);
         k < sand_chunk_begin(worker->last_chunk, d->body_count); k++) {
        SandVec3 velocity = sim->solution.velocity[k];
        for (int i = d->first[k]; i < d->first[k + 1]; i++)
            if (d->contacts[i].b < 0) velocity = stop_at_boundary(w, d, &d->contacts[i], velocity);
        move_body(w, d->body[k], velocity, sim->solution.spin[k]);
    }
}

static void tell_loss(SandSimulation *sim, int body, SandLoss loss) {
    char sentence[160];
    sim->counters.lost_total++;
    snprintf(sentence, sizeof sentence, "body %d %s at t = %.3f s and was taken out", body,
             loss == SAND_LEFT ? "left the world" : "became non-finite", sim->world.time);
    tell(sim, sentence);
}

// Another machine names the first of many.
static void tell_more_lost(SandSimulation *sim, int count) {
    char sentence[160];
    sim->counters.lost_total += count;
    snprintf(sentence, sizeof sentence, "%d more bodies were lost at t = %.3f s and were taken out", count, sim->world.time);
    tell(sim, sentence);
}

// Takes out, and reports by number, the bodies that left the world's box or became non-finite.
static void find_lost(SandSimulation *sim) {
    SandWorld *w = &sim->world;
    for (int k = 0; k < sim->collision.body_count; k++) {
        int body = sim->collision.body[k];
        SandLoss loss = body_loss(w, body);
        if (loss == SAND_PRESENT) continue;
        remove_body(w, body, loss);
        tell_loss(sim, body, loss);
    }
}

// --- the step ---------------------------------------------------------------------------------------------

static void count_penetrations(SandCounters *c, const SandCollision *d) {
    c->penetration_max = c->penetration_walls = 0;
    for (int i = 0; i < d->contact_count; i++) {
        const SandContactCandidate *found = &d->contacts[i];
        c->penetration_max = fmax(c->penetration_max, -found->gap);
        if (found->b < 0) c->penetration_walls = fmax(c->penetration_walls, -found->gap);
    }
}

static void tell_bad_solve(SandSimulation *sim) {
    char sentence[160];
    sim->counters.infeasible_total++;
    snprintf(sentence, sizeof sentence, "the step at t = %.3f s is %s; its best impulses are used and not kept",
             sim->world.time, sand_status_text(sim->counters.status));
    tell(sim, sentence);
}

static bool is_good(SandStatus status) { return status == SAND_SOLVED || status == SAND_BUDGET; }

static void advance_time(SandSimulation *sim) {
    sim->world.time = (double)++sim->world.step_index * sim->world.step;
    sim->built = false;
}

// The step on another machine. Buffers that prove too small grow, and the step is taken again: nothing has moved.
static bool device_step(SandSimulation *sim, SandError *error) {
    const SandBackend *b = sim->backend;
    SandDevice *m = sim->device;
    SandCounters *c = &sim->counters;
    SandStepReport r;
    if (!give_changes(sim, error)) return false;
    uint64_t growths = 0;
    do {
        bool ok = b->collide(m, &sim->world, error) && b->warm_start(m, error) && b->build(m, &sim->solve, error) &&
                  b->solve(m, &sim->solve, sim->solution.want_curve, sim->solution.want_metrics, NULL, error) &&
                  b->integrate(m, error) && b->finish(m, &r, error);
        if (!ok) return false;
        growths += r.growths;
    } while (r.again);
    sim->bodies_are_old = sim->warm_start_is_old = true;
    sim->problem.contact_count = 0, sim->contacts_are_away = true;
    sim->solved = sim->solve;
    if (sim->solution.want_curve && !b->read_curve(m, &sim->solution, error)) return false;

    c->bodies = r.bodies, c->contacts = r.contacts, c->warm_started = r.warm_started, c->iterations = r.iterations;
    c->status = r.status, c->metrics = r.metrics, c->penetration_max = r.penetration_max;
    c->penetration_walls = r.penetration_walls;
    c->growths = growths, c->held = r.held;
    if (!is_good(r.status)) tell_bad_solve(sim);
    sim->energy = (SandEnergy){r.kinetic, r.potential};
    advance_time(sim);
    for (int k = 0; k < r.lost_count; k++) tell_loss(sim, r.lost[k].body, r.lost[k].loss);
    if (r.lost_more) tell_more_lost(sim, r.lost_more);
    sim->profile.collide = r.collide, sim->profile.warm_start = r.warm_start, sim->profile.build = r.build;
    sim->profile.solve = r.solve, sim->profile.integrate = r.integrate;
    return true;
}

static bool cpu_step(SandSimulation *sim, SandError *error) {
    SandWorld *w = &sim->world;
    SandCounters *c = &sim->counters;
    uint64_t growths = sand_growth_count();

    // detect, match, build
    if (!sand_simulation_build(sim, error)) return false;
    double t1 = sand_seconds();

    // solve
    if (!sand_cpu_solve(sim->cpu, &sim->problem, &sim->solve, &sim->solution, error)) return false;
    sim->solved = sim->solve;
    double t2 = sand_seconds();
    c->bodies = sim->collision.body_count;
    c->contacts = sim->collision.contact_count;
    c->iterations = sim->solution.iterations;
    c->status = sim->solution.status;
    c->metrics = sim->solution.metrics;
    count_penetrations(c, &sim->collision);

    // keep the impulses for the next step; those of an infeasible one would only grow
    if (!is_good(c->status)) {
        tell_bad_solve(sim);
        sand_warm_start_clear(&sim->memory);
    } else if (!sand_warm_start_store(&sim->memory, &sim->collision, sim->solution.impulse, w->step, w->body_count, error)) {
        return false;
    }

    // integrate
    sand_thread_pool_run(sim->pool, integrate_work, sim);
    advance_time(sim);
    find_lost(sim);
    double t3 = sand_seconds();

    sim->profile.solve = 1e3 * (t2 - t1);
    sim->profile.integrate = 1e3 * (t3 - t2);
    c->growths = sand_growth_count() - growths;
    return true;
}

// The machine failed in a step, for this reason: the CPU goes on. A failed step has moved nothing, so where the bodies can
// still be read nothing is lost; else the last ones that came to the host must do, and time goes back to them.
static void fall_back_to_cpu(SandSimulation *sim, const SandError *why) {
    SandWorld *w = &sim->world;
    SandError ignored;
    char sentence[sizeof why->text + 80];
    if (!sand_simulation_fetch(sim, &ignored)) {
        w->step_index = sim->fetched_step;
        w->time = (double)w->step_index * w->step;
    }
    if (sim->warm_start_is_old &&
        (sim->bodies_are_old || !sim->backend->read_warm_start(sim->device, &sim->memory, &ignored)))
        sand_warm_start_clear(&sim->memory);
    sim->backend->destroy(sim->device);
    sim->device = NULL, sim->backend = NULL;
    sim->bodies_are_old = sim->warm_start_is_old = sim->device_is_old = sim->built = false;
    sim->problem.contact_count = 0;
    snprintf(sentence, sizeof sentence, "%s; the CPU goes on from t = %.3f s", why->text, w->time);
    tell(sim, sentence);
}

bool sand_simulation_step(SandSimulation *sim, SandError *error) {
    double begin = sand_seconds();
    bool taken = sim->device && device_step(sim, error);
    if (sim->device && !taken) fall_back_to_cpu(sim, error);
    if (!taken && !cpu_step(sim, error)) return false;
    sim->profile.step = 1e3 * (sand_seconds() - begin);
    uint64_t downloaded = sand_bytes_downloaded();
    sim->profile.downloaded = downloaded - sim->downloaded;
    sim->downloaded = downloaded;
    return true;
}

bool sand_simulation_save(SandSimulation *sim, SandCheckpoint *checkpoint, SandError *error) {
    return fetch_all(sim, error) && sand_checkpoint_save(checkpoint, &sim->world, &sim->memory, error);
}

bool sand_simulation_restore(SandSimulation *sim, const SandCheckpoint *checkpoint, SandError *error) {
    sim->built = false;
    sim->bodies_are_old = sim->warm_start_is_old = false;
    sim->device_is_old = true;
    sim->problem.contact_count = 0; // contacts and impulses are those of another state
    return sand_checkpoint_restore(checkpoint, &sim->world, &sim->memory, error);
}

const SandProblem *sand_simulation_problem(const SandSimulation *sim) { return &sim->problem; }
const SandSolution *sand_simulation_solution(const SandSimulation *sim) { return &sim->solution; }
int sand_simulation_solved(const SandSimulation *sim) { return sim->built ? 0 : sim->problem.contact_count; }
SandWorld *sand_simulation_change(SandSimulation *sim) {
    if (sim->built) sim->problem.contact_count = 0; // nobody has solved it, nor will
    sim->built = false;
    return &sim->world;
}

SandWorld *sand_simulation_change_bodies(SandSimulation *sim, SandError *error) {
    if (!fetch_all(sim, error)) return NULL;
    sim->device_is_old = true;
    return sand_simulation_change(sim);
}

const int *sand_simulation_order(const SandSimulation *sim) { return sim->collision.body; }
const SandWorld *sand_simulation_world(const SandSimulation *sim) { return &sim->world; }
const SandProfile *sand_simulation_profile(const SandSimulation *sim) { return &sim->profile; }
const SandCounters *sand_simulation_counters(const SandSimulation *sim) { return &sim->counters; }
void sand_simulation_set_solve(SandSimulation *sim, const SandSolveDef *solve) { sim->solve = *solve; }

void sand_simulation_want_curve(SandSimulation *sim, bool want) { sim->solution.want_curve = want; }

const double *sand_simulation_residuals(SandSimulation *sim, SandError *error) {
    static const double nothing = 0;
    const SandProblem *p = &sim->problem;
    if (sand_simulation_solved(sim) == 0) return &nothing;
    bool known = SAND_GROW(sim->residuals, sim->residual_capacity, p->contact_count, "residuals", error) &&
                 sand_cpu_residuals(sim->cpu, p, &sim->solved, sim->solution.impulse, sim->residuals, error);
    return known ? sim->residuals : NULL;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void sand_simulation_measure(SandSimulation *sim) {
    const SandCollision *d = &sim->collision;
    if (!SAND_GROW(sim->depths, sim->depth_capacity, d->contact_count, "penetrations", NULL)) return;
    int n = 0;
    for (int i = 0; i < d->contact_count; i++)
        if (d->contacts[i].gap < 0) sim->depths[n++] = -d->contacts[i].gap;
    qsort(sim->depths, (size_t)n, sizeof *sim->depths, compare);
    int apart = d->contact_count - n, last = (int)(0.99 * (d->contact_count - 1)) - apart;
    sim->counters.penetration_p99 = n ? sim->depths[(size_t)(0.99 * (n - 1))] : 0;
    sim->counters.penetration_all = n && last >= 0 ? sim->depths[last] : 0;
}
