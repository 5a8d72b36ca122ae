// SPDX-License-Identifier: MIT
// One step on any backend: collide, warm start, build, solve, integrate. sand_simulation_step at the end of the file is
// where to start reading; a backend (backend.h) does the work, residency.h knows where the newer copy of the state is.
#include "sandglass/simulation.h"
#include "sim/step/checkpoint_file.h"

#include "sim/core/array.h"
#include "sim/core/clock.h"
#include "sim/core/fork.h"
#include "sim/core/thread_pool.h"
#include "sim/solver/accuracy.h"
#include "sim/solver/cpu_kernel.h"
#include "sim/step/asking.h"
#include "sim/step/build_problem.inl"
#include "sim/step/cpu_backend.h"
#include "sim/step/edits.h"
#include "sim/step/forces.h"
#include "sim/step/joint_report.h"
#include "sim/step/residency.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct SandSimulation {
    SandHostState host;
    SandResidency where; // backend and device that take the steps, and which copy of the state is newer
    SandDevice *cpu; // always there: it builds problems and measures residuals on the host, and steps in when a device fails
    SandSolveDef solve;
    SandDeviceDef device_def;
    bool want_curve;
    const int *stop;  // set by another thread to cancel a step; NULL: nobody does
    bool built;       // the problem is that of the coming step
    unsigned edits;   // bits of SAND_EDIT_: what the caller may have changed since the last step
    unsigned forks;   // sand_fork_count of the process that it belongs to
    atomic_flag used; // a call is under way, in this thread or another
    SandProfile profile;
    SandCounters counters;
    SandSolveDef last_solve;      // settings of the last step
    SandEnergy energy;            // after the last step of a device that reports it
    SAND_ARRAY(double) depths;    // scratch for the percentile
    SAND_ARRAY(double) residuals; // of each contact, where they were asked for
    SandForceArrays forces;       // for the coming step
    bool device_forces;           // the device was given others
    SandProbeBatch probes;        // what was measured after the last step
    SandAsking asking;            // for questions between two steps
    SandMessageCallback *on_message;
    void *message_user;
    uint64_t downloaded; // sand_bytes_downloaded() at the end of the last step
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
    const SandBackend *cpu = sand_cpu_backend();
    sim->host.world = *world;
    memset(world, 0, sizeof *world);
    sim->solve = def->solve;
    sim->device_def = (SandDeviceDef){def->threads, def->precision, def->device_memory, cpu};
    sim->where.host = &sim->host;
    sim->downloaded = sand_bytes_downloaded();
    sim->edits = SAND_EDIT_START; // what lies outside of the box is taken out when somebody listens
    sim->forks = sand_fork_count();
    bool fits = sand_solve_check(&sim->solve, error) && sand_world_check(&sim->host.world, error);
    sim->cpu = fits ? cpu->create(&sim->device_def, error) : NULL;
    bool ok = sim->cpu && sand_residency_move(&sim->where, cpu, sim->cpu, error) &&
              (!def->backend || sand_simulation_move(sim, def->backend, error));
    if (!ok) return sand_simulation_free(sim), NULL;
    return sim;
}

// --- who may use it -----------------------------------------------------------------------------------------

static bool forked(const SandSimulation *sim) { return sim->forks != sand_fork_count(); }

static bool refuse_forked(SandError *error) {
    return sand_fail(error, "this simulation belongs to the process that this one was forked from; create one here");
}

// Begins a call that works on the state; the one who gets true ends it with end_use.
static bool begin_use(SandSimulation *sim, SandError *error) {
    if (forked(sim)) return refuse_forked(error);
    return !atomic_flag_test_and_set_explicit(&sim->used, memory_order_acquire) ||
           sand_fail(error, "this simulation is in use: another call, of another thread or around this one, has not ended");
}

static bool end_use(SandSimulation *sim, bool result) {
    atomic_flag_clear_explicit(&sim->used, memory_order_release);
    return result;
}

// Frees what the host has; where a call was under way when the process was forked, even that may be in pieces, and is left.
void sand_simulation_free(SandSimulation *sim) {
    if (!sim || (forked(sim) && atomic_flag_test_and_set(&sim->used))) return;
    if (sim->where.device != sim->cpu && !forked(sim)) sim->where.backend->destroy(sim->where.device);
    sand_cpu_backend()->destroy(sim->cpu);
    sand_world_free(&sim->host.world);
    sand_collision_free(&sim->host.collision);
    sand_warm_start_free(&sim->host.warm_start);
    sand_problem_free(&sim->host.problem);
    sand_solution_free(&sim->host.solution);
    SAND_FREE_ARRAYS(&sim->depths);
    sand_free(sim->host.lift);
    sand_probe_batch_free(&sim->probes);
    sand_asking_free(&sim->asking);
    sand_forces_free(&sim->forces);
    SAND_FREE_ARRAYS(&sim->residuals);
    free(sim);
}

void sand_simulation_on_message(SandSimulation *sim, SandMessageCallback *callback, void *user) {
    sim->on_message = callback;
    sim->message_user = user;
}

static void tell(SandSimulation *sim, const char *sentence) {
    if (sim->on_message) sim->on_message(sim->message_user, sentence);
}

static void tell_loss(SandSimulation *sim, SandLost lost) {
    char sentence[160];
    sim->counters.lost_total++;
    snprintf(sentence, sizeof sentence, "body %d %s at t = %.3f s and was taken out", lost.body,
             lost.loss == SAND_LEFT ? "left the world" : "became non-finite", sim->host.world.time);
    tell(sim, sentence);
}

static void tell_more_lost(SandSimulation *sim, int count) {
    char sentence[160];
    sim->counters.lost_total += count;
    snprintf(sentence, sizeof sentence, "%d more bodies were lost at t = %.3f s and were taken out", count,
             sim->host.world.time);
    tell(sim, sentence);
}

// --- where the state is -------------------------------------------------------------------------------------

static SandThreadPool *host_pool(SandSimulation *sim) { return sand_cpu_thread_pool(sand_cpu_backend_solver(sim->cpu)); }

static bool read_state(SandSimulation *sim, SandError *error) {
    return sand_residency_read(&sim->where, SAND_STATE_BODIES | SAND_STATE_WARM_START, error);
}

static SandEnergy host_energy(const SandSimulation *sim) {
    const SandWorld *w = &sim->host.world;
    return (SandEnergy){sand_world_kinetic_energy(w), sand_world_potential_energy(w)};
}

// Uploads what the host has changed.
static bool write_changes(SandSimulation *sim, SandError *error) {
    bool uploaded;
    if (!sand_residency_write(&sim->where, &uploaded, error)) return false;
    if (uploaded) sim->energy = host_energy(sim);
    return true;
}

// Counts what entered and left. The world keeps the counts, so that a checkpoint has them.
static void count_flow(SandSimulation *sim) {
    const SandWorld *w = &sim->host.world;
    SandCounters *c = &sim->counters;
    c->left_total = c->entered_total = 0;
    c->left_mass = 0;
    for (int k = 0; k < w->outlet_count; k++) {
        c->left_total += w->outlets[k].bodies;
        c->left_mass += w->outlets[k].mass;
    }
    for (int k = 0; k < w->inlet_count; k++) c->entered_total += w->inlets[k].entered;
}

// Checks what the caller has changed since the last step, and takes out the bodies that lie outside of the world.
static bool check_edits(SandSimulation *sim, SandError *error) {
    SandEditReport report;
    const SandBackend *b = sim->where.backend;
    if (b->fails_for_all) sim->edits &= ~(unsigned)SAND_EDIT_START; // all processes must do the same
    if (!sim->edits) return true;
    if (!sand_edits_apply(&sim->host.world, sim->edits, b->on_host, &report, error)) return false;
    sim->edits = 0;
    if (report.changed) {
        sim->asking.current = false;
        sand_residency_changed(&sim->where);
        count_flow(sim);
        sim->built = false;
    }
    for (int k = 0; k < report.lost_count; k++) tell_loss(sim, report.lost[k]);
    if (report.lost_more) tell_more_lost(sim, report.lost_more);
    return true;
}

bool sand_simulation_fetch(SandSimulation *sim, SandError *error) {
    if (forked(sim)) return refuse_forked(error);
    return sand_residency_read(&sim->where, SAND_STATE_BODIES, error);
}

bool sand_simulation_fetch_block(SandSimulation *sim, int *first, int *end, SandError *error) {
    const SandResidency *where = &sim->where;
    if (where->backend->read_block) return where->backend->read_block(where->device, first, end, error);
    *first = 0;
    *end = sim->host.world.body_count;
    return sand_simulation_fetch(sim, error);
}

bool sand_simulation_read_body(SandSimulation *sim, int body, SandBodyState *to, SandError *error) {
    if (forked(sim)) return refuse_forked(error);
    if (body < 0 || body >= sim->host.world.body_count) return sand_fail(error, "there is no body %d", body);
    return sand_residency_read_body(&sim->where, body, to, error);
}

bool sand_simulation_device_arrays(SandSimulation *sim, SandDeviceArrays *to, SandError *error) {
    const SandResidency *where = &sim->where;
    if (where->backend->on_host)
        return sand_fail(error, "the steps are taken on the host, where the arrays of the world are");
    if (forked(sim)) return refuse_forked(error);
    return check_edits(sim, error) && write_changes(sim, error) &&
           where->backend->arrays(where->device, &sim->host.world, to, error);
}

bool sand_simulation_fetch_contacts(SandSimulation *sim, SandError *error) {
    if (!begin_use(sim, error)) return false;
    sim->host.solution.want_curve = sim->want_curve;
    return end_use(sim, sand_residency_read_contacts(&sim->where, host_pool(sim), error));
}

void sand_simulation_release_contacts(SandSimulation *sim, SandProblem *problem, SandSolution *solution) {
    *problem = sim->host.problem;
    *solution = sim->host.solution;
    sim->host.problem = (SandProblem){0};
    sim->host.solution = (SandSolution){0};
    sim->built = false;
}

bool sand_simulation_instances(SandSimulation *sim, const SandInstanceDef *def, SandSlot *slot, SandError *error) {
    return check_edits(sim, error) && write_changes(sim, error) &&
           sim->where.backend->instances(sim->where.device, &sim->host.world, def, slot, error);
}

bool sand_simulation_snapshot(SandSimulation *sim, SandSlot *slot, SandError *error) {
    return check_edits(sim, error) && write_changes(sim, error) &&
           sim->where.backend->snapshot(sim->where.device, &sim->host.world, slot, error);
}

// --- forces -------------------------------------------------------------------------------------------------

// The problem of the coming step, if there is one, is another; nobody has solved it, nor will.
static void forget_build(SandSimulation *sim) {
    if (sim->built) sim->host.problem.contact_count = 0;
    sim->built = false;
}

bool sand_simulation_apply_force(SandSimulation *sim, const SandForces *forces, SandError *error) {
    if (!begin_use(sim, error)) return false;
    bool added = !sim->device_forces || sand_fail(error, "forces of the coming step are on the device already");
    added = added && (!forces->at || sand_residency_share(&sim->where, error)) &&
            sand_forces_add(&sim->forces, &sim->host.world, forces, error);
    if (added) forget_build(sim);
    return end_use(sim, added);
}

bool sand_simulation_apply_device_force(SandSimulation *sim, const SandVec3 *force, const SandVec3 *torque,
                                        SandError *error) {
    const SandResidency *where = &sim->where;
    if (!where->backend->take_forces)
        return sand_fail(error, "the backend %s takes no arrays of forces on a device", where->backend->name);
    if (sim->host.world.force) return sand_fail(error, "forces of the coming step are on the host already");
    if (!begin_use(sim, error)) return false;
    where->backend->take_forces(where->device, force, torque);
    sim->device_forces = force || torque;
    forget_build(sim);
    return end_use(sim, true);
}

// After a step, or in another state, no force acts any more.
static void clear_forces(SandSimulation *sim) {
    sand_forces_clear(&sim->forces, &sim->host.world);
    if (sim->device_forces) sim->where.backend->take_forces(sim->where.device, NULL, NULL);
    sim->device_forces = false;
}

// --- devices ------------------------------------------------------------------------------------------------

// Moves the state to another device and destroys the one that had it.
static bool move_to(SandSimulation *sim, const SandBackend *backend, SandDevice *device, SandError *error) {
    const SandBackend *last_backend = sim->where.backend;
    SandDevice *last = sim->where.device;
    if (!sand_residency_move(&sim->where, backend, device, error)) return false;
    sim->device_forces = false;
    if (last != sim->cpu) last_backend->destroy(last);
    if (!backend->on_host) sim->energy = host_energy(sim);
    return true;
}

bool sand_simulation_move(SandSimulation *sim, const SandBackend *backend, SandError *error) {
    if (forked(sim)) return refuse_forked(error);
    if (!backend) backend = sand_cpu_backend();
    if (backend == sim->where.backend) return true;
    if (!sand_residency_share(&sim->where, error)) return false;
    if (backend == sand_cpu_backend()) return move_to(sim, backend, sim->cpu, error);
    sim->device_def.backend = backend;
    SandDevice *device = backend->create(&sim->device_def, error);
    if (!device) return false;
    if (move_to(sim, backend, device, error)) return true;
    backend->destroy(device);
    return false;
}

const SandBackend *sand_simulation_backend(const SandSimulation *sim) { return sim->where.backend; }
SandDevice *sand_simulation_device(const SandSimulation *sim) { return sim->where.device; }

SandPrecision sand_simulation_precision(const SandSimulation *sim) { return sim->device_def.precision; }

const char *sand_simulation_device_name(const SandSimulation *sim) {
    return sim->where.backend->describe(sim->where.device);
}

SandEnergy sand_simulation_energy(const SandSimulation *sim) {
    const SandResidency *where = &sim->where;
    return where->backend->on_host || where->newer_on_host ? host_energy(sim) : sim->energy;
}

// --- the step -----------------------------------------------------------------------------------------------

static void tell_bad_solve(SandSimulation *sim) {
    char sentence[160];
    if (sim->counters.status == SAND_INFEASIBLE) sim->counters.infeasible_total++;
    snprintf(sentence, sizeof sentence, "the step at t = %.3f s %s; its best impulses are used and not kept",
             sim->host.world.time, sim->counters.status == SAND_INFEASIBLE ? "is infeasible" : "diverged");
    tell(sim, sentence);
}

static void keep_flow(SandSimulation *sim, const SandStepReport *r) {
    SandWorld *w = &sim->host.world;
    for (int k = 0; k < w->outlet_count; k++) {
        w->outlets[k].bodies += r->left[k];
        w->outlets[k].mass += r->left_mass[k];
    }
    for (int k = 0; k < w->inlet_count; k++) {
        SandInlet *in = &w->inlets[k];
        for (int i = 0; i < r->entered[k]; i++) w->enter[in->first + in->entered++] = w->time;
    }
    count_flow(sim);
}

static void keep_report(SandSimulation *sim, const SandStepReport *r, uint64_t growths) {
    SandCounters *c = &sim->counters;
    SandProfile *p = &sim->profile;
    const SandWorld *world = &sim->host.world;
    c->bodies = r->bodies;
    c->contacts = r->contacts - r->joint_rows;
    c->joint_rows = r->joint_rows;
    c->asleep = r->asleep;
    c->solved_contacts = r->solved - r->joint_rows; // blocks of joints are never left out
    c->warm_started = r->warm_started;
    c->iterations = r->iterations;
    c->status = r->status;
    c->metrics = r->metrics;
    c->islands = r->islands;
    c->solved = sand_solved_percent(r->metrics.residual_rms, sand_fall_speed(problem_recovery(world), world->step));
    c->penetration_max = r->penetration_max;
    c->penetration_walls = r->penetration_walls;
    c->growths = growths;
    c->held = r->held;
    sim->energy = (SandEnergy){r->kinetic, r->potential};
    p->collide = r->collide;
    p->warm_start = r->warm_start;
    p->build = r->build;
    p->solve = r->solve;
    p->integrate = r->integrate;
    p->traffic = r->traffic;
}

static void advance_time(SandSimulation *sim) {
    SandWorld *w = &sim->host.world;
    w->time = (double)++w->step_index * w->step;
    sim->built = false;
    sim->asking.current = false;
}

// From the bodies to the problem of the coming step; resets the report.
static bool build_problem(SandSimulation *sim, const SandBackend *b, SandDevice *device, SandError *error) {
    return b->collide(device, &sim->host.world, error) && b->warm_start(device, error) &&
           b->build(device, &sim->solve, error);
}

static bool canceled(const SandSimulation *sim) { return sim->stop && __atomic_load_n(sim->stop, __ATOMIC_RELAXED); }

static bool give_up(SandSimulation *sim, SandError *error) {
    return sand_fail(error, "step %llu was canceled", (unsigned long long)sim->host.world.step_index + 1);
}

// A step has been taken.
static void take_report(SandSimulation *sim, const SandStepReport *r, uint64_t growths) {
    keep_report(sim, r, growths);
    keep_flow(sim, r);
    if (!sand_status_keeps(r->status)) tell_bad_solve(sim);
    advance_time(sim);
    clear_forces(sim);
    for (int k = 0; k < r->lost_count; k++) tell_loss(sim, r->lost[k]);
    if (r->lost_more) tell_more_lost(sim, r->lost_more);
}

// The step on the device that has the state. Buffers that prove too small grow, and the step is repeated: nothing has moved.
static bool device_step(SandSimulation *sim, SandError *error) {
    const SandBackend *b = sim->where.backend;
    SandDevice *device = sim->where.device;
    SandStepReport r;
    uint64_t growths = 0;
    if (!write_changes(sim, error)) return false;
    do {
        bool solved = ((sim->built && b->on_host) || build_problem(sim, b, device, error)) &&
                      b->solve(device, &sim->solve, sim->want_curve, false, b->on_host ? sim->stop : NULL, error);
        if (solved && b->on_host && canceled(sim)) return give_up(sim, error);
        if (!solved || !b->integrate(device, error) || !b->finish(device, &r, error)) return false;
        growths += r.growths;
    } while (r.again);
    sand_residency_stepped(&sim->where);
    sim->last_solve = sim->solve;
    if (sim->want_curve && !b->on_host && !b->read_curve(device, &sim->host.solution, error)) return false;
    take_report(sim, &r, growths);
    return true;
}

// The device failed in a step, for this reason: the CPU goes on. A failed step has moved nothing, so where the bodies can
// still be read nothing is lost; otherwise the last ones that came to the host must do, and time goes back to them.
static void fall_back_to_cpu(SandSimulation *sim, const SandError *why) {
    SandResidency *where = &sim->where;
    SandWorld *w = &sim->host.world;
    SandError ignored;
    char sentence[sizeof why->text + 80];
    if (!sand_residency_read(where, SAND_STATE_BODIES, &ignored)) {
        w->step_index = where->host_step;
        w->time = (double)w->step_index * w->step;
        sand_warm_start_clear(&sim->host.warm_start);
    } else if (!read_state(sim, &ignored)) {
        sand_warm_start_clear(&sim->host.warm_start);
    }
    where->newer_on_device = 0;
    move_to(sim, sand_cpu_backend(), sim->cpu, &ignored);
    sim->built = false;
    sim->host.problem.contact_count = 0;
    snprintf(sentence, sizeof sentence, "%s; the CPU goes on from t = %.3f s", why->text, w->time);
    tell(sim, sentence);
}

// Lets the probes of the world measure after a step.
static bool measure_probes(SandSimulation *sim, SandError *error) {
    SandWorld *w = &sim->host.world;
    if (w->probe_count == 0) return true;
    if (!sand_probes_plan(&sim->probes, w, error) ||
        (sim->probes.count && !sim->where.backend->measure(sim->where.device, &sim->probes, error)))
        return false;
    sand_probes_sample(&sim->probes, w);
    return true;
}

// Counts who touched whom in a step, where somebody wants to know.
static bool watch_contacts(SandSimulation *sim, SandError *error) {
    if (!sim->asking.watch.on) return true;
    return sand_residency_read_contacts(&sim->where, host_pool(sim), error) &&
           sand_contact_watch_step(&sim->asking.watch, &sim->host, sim->host.problem.contact_count, error);
}

// Whether a step that failed ends the run.
static bool is_over(const SandSimulation *sim) { return sim->where.backend->on_host || sim->where.backend->fails_for_all; }

// Drops the problem, which nobody has solved to its end.
static bool drop_problem(SandSimulation *sim) {
    sim->built = false;
    sim->host.problem.contact_count = 0;
    return false;
}

// The step, on the device or where that fails on the CPU, and what probes measure after it.
static bool take_step(SandSimulation *sim, SandError *error) {
    if (!device_step(sim, error)) {
        if (is_over(sim)) return false;
        fall_back_to_cpu(sim, error);
        if (!device_step(sim, error)) return false;
    }
    if (!measure_probes(sim, error)) { // the step itself has been taken
        if (is_over(sim)) return false;
        fall_back_to_cpu(sim, error);
    }
    return watch_contacts(sim, error);
}

// Looks at what the caller has changed; bodies that were added since forces were applied feel none.
static bool ready(SandSimulation *sim, SandError *error) {
    return check_edits(sim, error) && sand_forces_fit(&sim->forces, &sim->host.world, error);
}

bool sand_simulation_step(SandSimulation *sim, SandError *error) {
    double begin = sand_seconds();
    if (!begin_use(sim, error)) return false;
    bool taken = ready(sim, error) && (take_step(sim, error) || drop_problem(sim));
    if (!end_use(sim, taken)) return false;
    sim->profile.step = 1e3 * (sand_seconds() - begin);
    uint64_t downloaded = sand_bytes_downloaded();
    sim->profile.downloaded = downloaded - sim->downloaded;
    sim->downloaded = downloaded;
    return true;
}

bool sand_simulation_begin_step(SandSimulation *sim, const SandSolveDef **solve, SandError *error) {
    *solve = &sim->solve;
    if (!begin_use(sim, error)) return false;
    return (ready(sim, error) && write_changes(sim, error)) || end_use(sim, false);
}

void sand_simulation_end_step(SandSimulation *sim, const SandStepReport *report) {
    if (report) {
        sand_residency_stepped(&sim->where);
        sim->last_solve = sim->solve;
        take_report(sim, report, report->growths);
    }
    end_use(sim, true);
}

SandHostState *sand_simulation_host(SandSimulation *sim) { return &sim->host; }

bool sand_simulation_build(SandSimulation *sim, SandError *error) {
    if (!begin_use(sim, error)) return false;
    if (!sim->built && ready(sim, error) && read_state(sim, error))
        sim->built = build_problem(sim, sand_cpu_backend(), sim->cpu, error) || drop_problem(sim);
    return end_use(sim, sim->built);
}

bool sand_simulation_save_state(SandSimulation *sim, SandCheckpoint *checkpoint, SandError *error) {
    if (!begin_use(sim, error)) return false;
    checkpoint->counters = sim->counters;
    return end_use(sim, read_state(sim, error) &&
                            sand_checkpoint_save(checkpoint, &sim->host.world, &sim->host.warm_start, error));
}

bool sand_simulation_write_checkpoint(SandSimulation *sim, SandCheckpoint *scratch, const SandCheckpointNotes *notes,
                                      const char *path, SandError *error) {
    const SandResidency *where = &sim->where;
    SandCheckpointRequest request = {path, notes, &sim->counters};
    if (where->backend->write_checkpoint) return where->backend->write_checkpoint(where->device, &request, error);
    if (!sand_simulation_save_state(sim, scratch, error)) return false;
    sand_checkpoint_mark(scratch, &sim->host.world);
    return sand_checkpoint_write(scratch, notes, path, error);
}

static bool restore(SandSimulation *sim, const SandCheckpoint *checkpoint, bool any, SandError *error) {
    if (!begin_use(sim, error)) return false;
    bool belongs = !any || sand_checkpoint_belongs(checkpoint, &sim->host.world, error);
    if (!end_use(sim, belongs && sand_checkpoint_restore(checkpoint, &sim->host.world, &sim->host.warm_start, error)))
        return false;
    sim->edits = SAND_EDIT_START;
    clear_forces(sim);
    sand_residency_changed(&sim->where);
    sim->built = false;
    sim->host.problem.contact_count = 0; // contacts and impulses are those of another state
    sim->asking.current = false;
    sim->asking.watch.count = 0;
    count_flow(sim);
    return true;
}

bool sand_simulation_restore_state(SandSimulation *sim, const SandCheckpoint *checkpoint, SandError *error) {
    return restore(sim, checkpoint, false, error);
}

bool sand_simulation_restore_checked(SandSimulation *sim, const SandCheckpoint *checkpoint, SandError *error) {
    return restore(sim, checkpoint, true, error);
}

void sand_simulation_restore_counters(SandSimulation *sim, const SandCheckpoint *checkpoint) {
    sim->counters = checkpoint->counters;
    count_flow(sim);
}

bool sand_simulation_begin_asking(SandSimulation *sim, unsigned parts, SandAsked *to, SandError *error) {
    if (!begin_use(sim, error)) return false;
    unsigned changing = sim->edits & ~(unsigned)SAND_EDIT_START; // the caller may go on changing: the step checks it again
    bool read = sand_residency_read(&sim->where, parts, error) &&
                (!(parts & SAND_STATE_BODIES) || check_edits(sim, error)) &&
                (!(parts & SAND_STATE_CONTACTS) || sand_residency_read_contacts(&sim->where, host_pool(sim), error));
    sim->edits |= changing;
    *to = (SandAsked){&sim->host, host_pool(sim), &sim->asking, sand_simulation_solved_contacts(sim), &sim->solve, changing};
    return read || end_use(sim, false);
}

bool sand_simulation_end_asking(SandSimulation *sim, bool result) { return end_use(sim, result); }

const SandProblem *sand_simulation_problem(const SandSimulation *sim) { return &sim->host.problem; }
const SandSolution *sand_simulation_solution(const SandSimulation *sim) { return &sim->host.solution; }
int sand_simulation_solved_contacts(const SandSimulation *sim) { return sim->built ? 0 : sim->host.problem.contact_count; }
SandWorld *sand_simulation_change(SandSimulation *sim) {
    forget_build(sim);
    sim->asking.current = false;
    sim->edits |= SAND_EDIT_SETTINGS;
    return &sim->host.world;
}

SandWorld *sand_simulation_change_bodies(SandSimulation *sim, SandError *error) {
    if (!begin_use(sim, error)) return NULL;
    if (!end_use(sim, sand_residency_share(&sim->where, error))) return NULL;
    sand_residency_changed(&sim->where);
    sim->edits |= SAND_EDIT_BODIES;
    for (int i = 0; i < sim->host.world.body_count; i++) sim->host.world.sleep[i] = 0; // nothing sleeps on what may move now
    return sand_simulation_change(sim);
}

const int *sand_simulation_order(const SandSimulation *sim) { return sim->host.collision.body; }
const SandWorld *sand_simulation_world(const SandSimulation *sim) { return &sim->host.world; }
const SandProfile *sand_simulation_profile(const SandSimulation *sim) { return &sim->profile; }
const SandCounters *sand_simulation_counters(const SandSimulation *sim) { return &sim->counters; }

bool sand_simulation_set_solve(SandSimulation *sim, const SandSolveDef *solve, SandError *error) {
    if (!sand_solve_check(solve, error)) return false;
    sim->solve = *solve;
    return true;
}

double sand_simulation_motor(const SandSimulation *sim, int joint) {
    return sand_joint_motor(&sim->host, sand_simulation_solved_contacts(sim), joint);
}

int sand_simulation_joint_rows(const SandSimulation *sim, SandJointRow *rows, int capacity) {
    return sand_joint_report(&sim->host, sand_simulation_solved_contacts(sim), rows, capacity);
}

static int by_bytes(const void *a, const void *b) {
    uint64_t x = ((const SandHeldArray *)a)->bytes, y = ((const SandHeldArray *)b)->bytes;
    return x > y ? -1 : x < y;
}

int sand_simulation_held(const SandSimulation *sim, SandHeldArray to[SAND_MAX_HELD]) {
    const SandBackend *b = sim->where.backend;
    int count = b->held ? b->held(sim->where.device, to) : 0;
    qsort(to, (size_t)count, sizeof *to, by_bytes);
    return count;
}

void sand_simulation_cancel_by(SandSimulation *sim, const int *stop) { sim->stop = stop; }

void sand_simulation_want_curve(SandSimulation *sim, bool want) { sim->want_curve = want; }

const double *sand_simulation_residuals(SandSimulation *sim, SandError *error) {
    static const double nothing = 0;
    const SandProblem *p = &sim->host.problem;
    if (sand_simulation_solved_contacts(sim) == 0) return &nothing;
    if (!begin_use(sim, error)) return NULL;
    bool known = SAND_RESERVE(sim->residuals, p->contact_count, "residuals", error) &&
                 sand_cpu_residuals(sand_cpu_backend_solver(sim->cpu), p, &sim->last_solve, sim->host.solution.impulse,
                                    sim->residuals.data, error);
    return end_use(sim, known) ? sim->residuals.data : NULL;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void sand_simulation_measure(SandSimulation *sim) {
    const SandCollision *collision = &sim->host.collision;
    if (!SAND_RESERVE(sim->depths, collision->contact_count, "penetrations", NULL)) return;
    int n = 0, contacts = 0;
    for (int i = 0; i < collision->contact_count; i++) {
        contacts += !sand_candidate_is_joint(&collision->contacts[i]);
        if (collision->contacts[i].gap < 0) sim->depths.data[n++] = -collision->contacts[i].gap;
    }
    if (n) qsort(sim->depths.data, (size_t)n, sizeof *sim->depths.data, compare);
    int apart = contacts - n, last = (int)(0.99 * (contacts - 1)) - apart;
    sim->counters.penetration_p99 = n ? sim->depths.data[(size_t)(0.99 * (n - 1))] : 0;
    sim->counters.penetration_all = n && last >= 0 ? sim->depths.data[last] : 0;
}
