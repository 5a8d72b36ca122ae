// SPDX-License-Identifier: MIT
// A batch of worlds: simulations of one thread each, over which the threads of a pool go together. Whatever is asked of the
// worlds is a task, which runs once for each of them.
#include "sandglass/batch.h"

#include "sandglass/query.h"
#include "sim/core/array.h"
#include "sim/core/thread_pool.h"
#include "sim/step/backend.h"
#include "sim/step/checkpoint_file.h"
#include "sim/step/cpu_backend.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// A world of a batch.
typedef struct Member {
    SandSimulation *sim;
    SandCheckpoint start; // before its bodies were scattered
    bool seeded;          // they were, by this seed
    uint64_t seed;
    SAND_ARRAY(char) heard;     // sentences that it reported in the call that is under way, each with its zero
    size_t heard_count;         // bytes
    SAND_ARRAY(SandVec3) force; // of its contacts: scratch
    SAND_ARRAY(SandVec3) torque;
    bool failed;
    SandError error;
} Member;

struct SandBatch {
    int count;
    Member *members;
    SandThreadPool *pool;
    const SandBackend *backend; // whose device steps all worlds together; NULL: each is stepped by a thread
    SandBatchDevice *device;
    double scatter;
    atomic_flag used; // a call is under way
    SandBatchMessageCallback *on_message;
    void *message_user;
};

SandBatchDef sand_default_batch(void) {
    return (SandBatchDef){.count = 1, .simulation = sand_default_simulation(), .scatter = 1e-3};
}

// --- tasks --------------------------------------------------------------------------------------------------------

// What is asked of a world; `argument` is the same for all worlds.
typedef bool Task(SandBatch *batch, int world, const void *argument, SandError *error);

typedef struct Run {
    SandBatch *batch;
    const bool *mask;
    Task *task;
    const void *argument;
    atomic_int next; // the first world that nobody has begun
} Run;

static void run_tasks(SandWorker *worker, void *argument) {
    Run *run = argument;
    (void)worker;
    for (int k; (k = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed)) < run->batch->count;) {
        Member *m = &run->batch->members[k];
        m->failed = (!run->mask || run->mask[k]) && !run->task(run->batch, k, run->argument, &m->error);
    }
}

// Keeps a sentence for the end of the call: this may be any thread. Where memory is out it is lost.
static void hear(void *user, const char *sentence) {
    Member *m = user;
    size_t bytes = strlen(sentence) + 1;
    if (!SAND_RESERVE(m->heard, m->heard_count + bytes, "reports of a world", NULL)) return;
    memcpy(m->heard.data + m->heard_count, sentence, bytes);
    m->heard_count += bytes;
}

static void pass_messages_on(SandBatch *b) {
    for (int k = 0; k < b->count; k++) {
        Member *m = &b->members[k];
        for (size_t at = 0; at < m->heard_count; at += strlen(m->heard.data + at) + 1)
            if (b->on_message) b->on_message(b->message_user, k, m->heard.data + at);
        m->heard_count = 0;
    }
}

static bool begin(SandBatch *b, SandError *error) {
    return !atomic_flag_test_and_set_explicit(&b->used, memory_order_acquire) ||
           sand_fail(error, "this batch is in use: another call, of another thread or around this one, has not ended");
}

// Ends a call: it fails with the sentence of the first world that failed.
static bool end(SandBatch *b, SandError *error) {
    atomic_flag_clear_explicit(&b->used, memory_order_release);
    pass_messages_on(b);
    for (int k = 0; k < b->count; k++)
        if (b->members[k].failed) return sand_fail(error, "world %d: %.480s", k, b->members[k].error.text);
    return true;
}

// Runs a task for each world of the mask.
static bool run(SandBatch *b, const bool *mask, Task *task, const void *argument, SandError *error) {
    Run all = {.batch = b, .mask = mask, .task = task, .argument = argument};
    if (!begin(b, error)) return false;
    if (b->device)
        run_tasks(NULL, &all); // a device is used by one thread
    else
        sand_thread_pool_run(b->pool, run_tasks, &all);
    return end(b, error);
}

// --- making one ---------------------------------------------------------------------------------------------------

void sand_batch_free(SandBatch *b) {
    if (!b) return;
    for (int k = 0; k < b->count; k++) {
        Member *m = &b->members[k];
        sand_simulation_free(m->sim);
        sand_checkpoint_free(&m->start);
        SAND_FREE_ARRAYS(&m->heard, &m->force, &m->torque);
    }
    if (b->device) b->backend->batch_free(b->device);
    sand_thread_pool_free(b->pool);
    free(b->members);
    free(b);
}

static bool check(const SandBatchDef *def, SandError *error) {
    const SandBackend *backend = def->simulation.backend;
    if (def->count < 1) return sand_fail(error, "a batch has at least 1 world, got %d", def->count);
    if (!(def->scatter >= 0 && def->scatter <= 1))
        return sand_fail(error, "the scatter of a batch is a share from 0 to 1, got %g", def->scatter);
    return !backend || backend == sand_cpu_backend() || backend->batch_create ||
           sand_fail(error, "a batch of worlds does not run on the backend %s", backend->name);
}

typedef struct Making {
    SandWorld *worlds;       // to be taken over; NULL: they are copies of
    const SandWorld *origin; // this one
    SandSimulationDef def;   // of each
    const uint64_t *seeds;   // NULL: none
} Making;

static bool reset_member(SandBatch *b, Member *m, SandError *error);

static bool make_member(SandBatch *b, int k, const void *argument, SandError *error) {
    const Making *making = argument;
    Member *m = &b->members[k];
    SandWorld copy;
    if (making->origin && !sand_world_copy(&copy, making->origin, error)) return false;
    m->sim = sand_simulation_create(making->origin ? &copy : &making->worlds[k], &making->def, error);
    if (!m->sim || !sand_simulation_save_state(m->sim, &m->start, error)) return false;
    sand_simulation_on_message(m->sim, hear, m);
    m->seeded = making->seeds && b->scatter > 0;
    if (m->seeded) m->seed = making->seeds[k];
    return !m->seeded || reset_member(b, m, error);
}

static bool move_task(SandBatch *b, int k, const void *argument, SandError *error) {
    (void)argument;
    return sand_simulation_move(b->members[k].sim, b->backend->batch_member(b->device, k), error);
}

// Gives the worlds to a backend that steps them together.
static bool move_to_device(SandBatch *b, const SandBackend *backend, SandError *error) {
    if (!backend || backend == sand_cpu_backend()) return true;
    SandHostState **hosts = calloc((size_t)b->count, sizeof *hosts);
    if (!hosts) return sand_fail(error, "out of memory for a batch of %d", b->count);
    for (int k = 0; k < b->count; k++) hosts[k] = sand_simulation_host(b->members[k].sim);
    b->backend = backend;
    b->device = backend->batch_create(hosts, b->count, error);
    free(hosts);
    return b->device && run(b, NULL, move_task, NULL, error);
}

static SandBatch *create(const SandBatchDef *def, Making *making, SandError *error) {
    if (!check(def, error)) return NULL;
    SandBatch *b = calloc(1, sizeof *b);
    if (b) b->members = calloc((size_t)def->count, sizeof *b->members);
    if (!b || !b->members) return sand_batch_free(b), sand_fail(error, "out of memory for a batch of %d", def->count), NULL;
    b->count = def->count;
    b->scatter = def->scatter;
    b->pool = sand_thread_pool_create(def->simulation.threads, error);
    making->def.threads = 1;
    making->def.backend = NULL;
    if (!b->pool || !run(b, NULL, make_member, making, error) || !move_to_device(b, def->simulation.backend, error))
        return sand_batch_free(b), NULL;
    return b;
}

SandBatch *sand_batch_create(const SandWorld *world, const SandBatchDef *def, SandError *error) {
    Making making = {.origin = world, .def = def->simulation, .seeds = def->seeds};
    return create(def, &making, error);
}

SandBatch *sand_batch_of_worlds(SandWorld *worlds, const SandBatchDef *def, SandError *error) {
    Making making = {.worlds = worlds, .def = def->simulation, .seeds = def->seeds};
    SandBatch *b = create(def, &making, error);
    for (int k = 0; k < def->count && !b; k++) sand_world_free(&worlds[k]); // those that no simulation has
    return b;
}

int sand_batch_count(const SandBatch *b) { return b->count; }

SandSimulation *sand_batch_simulation(const SandBatch *b, int world) {
    return world >= 0 && world < b->count ? b->members[world].sim : NULL;
}

void sand_batch_on_message(SandBatch *b, SandBatchMessageCallback *callback, void *user) {
    b->on_message = callback;
    b->message_user = user;
}

// --- steps and states ---------------------------------------------------------------------------------------------

static bool step_task(SandBatch *b, int k, const void *argument, SandError *error) {
    const int *steps = argument;
    for (int i = 0; i < *steps; i++)
        if (!sand_simulation_step(b->members[k].sim, error)) return false;
    return true;
}

// The worlds of a step of a device.
typedef struct Together {
    int count, *worlds;
    const SandSolveDef **solves; // of each world
    SandStepReport *reports;
} Together;

static bool make_together(Together *t, int count, SandError *error) {
    size_t n = (size_t)count;
    *t = (Together){0, calloc(n, sizeof *t->worlds), calloc(n, sizeof *t->solves), calloc(n, sizeof *t->reports)};
    return (t->worlds && t->solves && t->reports) || sand_fail(error, "out of memory for a step of %d worlds", count);
}

static void free_together(Together *t) {
    free(t->worlds);
    free(t->solves);
    free(t->reports);
}

// A step of all worlds of the mask that have not failed. False: it was not taken, and has a sentence.
static bool step_together(SandBatch *b, const bool *mask, Together *t, SandError *error) {
    t->count = 0;
    for (int k = 0; k < b->count; k++) {
        Member *m = &b->members[k];
        if ((mask && !mask[k]) || m->failed) continue;
        m->failed = !sand_simulation_begin_step(m->sim, &t->solves[k], &m->error);
        if (!m->failed) t->worlds[t->count++] = k;
    }
    bool taken = b->backend->batch_step(b->device, t->worlds, t->count, t->solves, t->reports, error);
    for (int i = 0; i < t->count; i++)
        sand_simulation_end_step(b->members[t->worlds[i]].sim, taken ? &t->reports[t->worlds[i]] : NULL);
    return taken;
}

static bool step_on_device(SandBatch *b, const bool *mask, int steps, SandError *error) {
    Together t;
    SandError why;
    if (!begin(b, error)) return false;
    for (int k = 0; k < b->count; k++) b->members[k].failed = false;
    bool taken = make_together(&t, b->count, &why);
    for (int i = 0; i < steps && taken; i++) taken = step_together(b, mask, &t, &why);
    free_together(&t);
    if (end(b, error) && taken) return true;
    return taken ? false : sand_fail(error, "%s", why.text);
}

bool sand_batch_step(SandBatch *b, const bool *mask, int steps, SandError *error) {
    return b->device ? step_on_device(b, mask, steps, error) : run(b, mask, step_task, &steps, error);
}

static bool reset_member(SandBatch *b, Member *m, SandError *error) {
    if (!sand_simulation_restore_state(m->sim, &m->start, error)) return false;
    sand_simulation_restore_counters(m->sim, &m->start);
    if (!m->seeded) return true;
    SandWorld *world = sand_simulation_change_bodies(m->sim, error);
    if (world) sand_world_scatter(world, m->seed, b->scatter);
    return world != NULL;
}

static bool reset_task(SandBatch *b, int k, const void *argument, SandError *error) {
    const uint64_t *seeds = argument;
    Member *m = &b->members[k];
    if (seeds) {
        m->seeded = b->scatter > 0;
        m->seed = seeds[k];
    }
    return reset_member(b, m, error);
}

bool sand_batch_reset(SandBatch *b, const bool *mask, const uint64_t *seeds, SandError *error) {
    return run(b, mask, reset_task, seeds, error);
}

static bool restore_task(SandBatch *b, int k, const void *argument, SandError *error) {
    const SandCheckpoint *state = argument;
    SandSimulation *sim = b->members[k].sim;
    if (!sand_simulation_restore_checked(sim, state, error)) return false;
    sand_simulation_restore_counters(sim, state);
    return true;
}

bool sand_batch_restore(SandBatch *b, const bool *mask, const void *bytes, size_t size, SandError *error) {
    SandCheckpoint state = {0};
    SandCheckpointNotes notes;
    bool read = sand_checkpoint_decode(&state, &notes, bytes, size, "the state", error);
    bool restored = read && run(b, mask, restore_task, &state, error);
    if (read) sand_checkpoint_notes_free(&notes);
    sand_checkpoint_free(&state);
    return restored;
}

static bool keep_task(SandBatch *b, int k, const void *argument, SandError *error) {
    Member *m = &b->members[k];
    (void)argument;
    if (!sand_simulation_save_state(m->sim, &m->start, error)) return false;
    m->seeded = false;
    return true;
}

bool sand_batch_keep_start(SandBatch *b, const bool *mask, SandError *error) { return run(b, mask, keep_task, NULL, error); }

// --- observations -------------------------------------------------------------------------------------------------

static const SandWorld *world_of(const SandBatch *b, int k) { return sand_simulation_world(b->members[k].sim); }

int sand_batch_body_count(const SandBatch *b) {
    int most = 0;
    for (int k = 0; k < b->count; k++) most = world_of(b, k)->body_count > most ? world_of(b, k)->body_count : most;
    return most;
}

int sand_batch_joint_count(const SandBatch *b) {
    int most = 0;
    for (int k = 0; k < b->count; k++) most = world_of(b, k)->joint_count > most ? world_of(b, k)->joint_count : most;
    return most;
}

// Which bodies or joints of each world are meant.
typedef struct Choice {
    const int *numbers; // NULL: all
    int count;
} Choice;

static int number_of(const Choice *choice, int i) { return choice->numbers ? choice->numbers[i] : i; }

// Whether a world of `there` things of this name has those that are meant by their numbers.
static bool check_numbers(const Choice *choice, int there, const char *what, SandError *error) {
    for (int i = 0; choice->numbers && i < choice->count; i++)
        if (choice->numbers[i] < 0 || choice->numbers[i] >= there)
            return sand_fail(error, "there is no %s %d", what, choice->numbers[i]);
    return true;
}

typedef struct ReadingBodies {
    Choice choice;
    SandBatchBodies to;
} ReadingBodies;

// Copies the rows that are meant of an array of a world to those of world k; what the world lacks is NAN. The types of rows
// are vectors of doubles.
static void copy_rows(void *to, const void *from, int width, const Choice *choice, int k, int there) {
    const double *source = from;
    if (!to) return;
    double *row = (double *)to + (size_t)k * (size_t)choice->count * (size_t)width;
    for (int i = 0; i < choice->count; i++, row += width) {
        int number = number_of(choice, i);
        for (int c = 0; c < width; c++) row[c] = number < there ? source[(size_t)number * (size_t)width + (size_t)c] : NAN;
    }
}

_Static_assert(sizeof(SandVec3) == 3 * sizeof(double) && sizeof(SandQuat) == 4 * sizeof(double), "rows of doubles");

static bool read_bodies_task(SandBatch *b, int k, const void *argument, SandError *error) {
    const ReadingBodies *reading = argument;
    const SandWorld *w = world_of(b, k);
    Member *m = &b->members[k];
    bool forces = reading->to.force || reading->to.torque;
    if (!sand_simulation_fetch(m->sim, error)) return false;
    if (!check_numbers(&reading->choice, w->body_count, "body", error)) return false;
    if (forces && !(SAND_RESERVE(m->force, w->body_count, "forces", error) &&
                    SAND_RESERVE(m->torque, w->body_count, "forces", error) &&
                    sand_simulation_contact_forces(m->sim, m->force.data, m->torque.data, error)))
        return false;
    copy_rows(reading->to.position, w->position, 3, &reading->choice, k, w->body_count);
    copy_rows(reading->to.velocity, w->velocity, 3, &reading->choice, k, w->body_count);
    copy_rows(reading->to.spin, w->spin, 3, &reading->choice, k, w->body_count);
    copy_rows(reading->to.rotation, w->rotation, 4, &reading->choice, k, w->body_count);
    copy_rows(reading->to.force, m->force.data, 3, &reading->choice, k, w->body_count);
    copy_rows(reading->to.torque, m->torque.data, 3, &reading->choice, k, w->body_count);
    return true;
}

bool sand_batch_read_bodies(SandBatch *b, const int *bodies, int count, const SandBatchBodies *to, SandError *error) {
    ReadingBodies reading = {{bodies, bodies ? count : sand_batch_body_count(b)}, *to};
    return run(b, NULL, read_bodies_task, &reading, error);
}

typedef struct ReadingJoints {
    Choice choice;
    SandBatchJoints to;
} ReadingJoints;

static bool read_joints_task(SandBatch *b, int k, const void *argument, SandError *error) {
    const ReadingJoints *reading = argument;
    int there = world_of(b, k)->joint_count;
    if (!check_numbers(&reading->choice, there, "joint", error)) return false;
    for (int i = 0; i < reading->choice.count; i++) {
        size_t at = (size_t)k * (size_t)reading->choice.count + (size_t)i;
        int joint = number_of(&reading->choice, i);
        SandJointState state = {NAN, NAN, NAN};
        if (joint < there && !sand_simulation_read_joint(b->members[k].sim, joint, &state, error)) return false;
        if (reading->to.position) reading->to.position[at] = state.position;
        if (reading->to.speed) reading->to.speed[at] = state.speed;
        if (reading->to.motor) reading->to.motor[at] = state.motor;
    }
    return true;
}

bool sand_batch_read_joints(SandBatch *b, const int *joints, int count, const SandBatchJoints *to, SandError *error) {
    ReadingJoints reading = {{joints, joints ? count : sand_batch_joint_count(b)}, *to};
    return run(b, NULL, read_joints_task, &reading, error);
}

typedef struct ReadingProbe {
    int probe, cells, columns;
    double *to;
} ReadingProbe;

static bool read_probe_task(SandBatch *b, int k, const void *argument, SandError *error) {
    const ReadingProbe *reading = argument;
    const SandWorld *w = world_of(b, k);
    size_t numbers = (size_t)reading->cells * (size_t)reading->columns;
    if (reading->probe < 0 || reading->probe >= w->probe_count)
        return sand_fail(error, "there is no probe %d", reading->probe);
    const SandProbe *p = &w->probes[reading->probe];
    if (sand_probe_cells(p) != reading->cells || sand_probe_columns(p) != reading->columns)
        return sand_fail(error, "probe %d has %d cells of %d columns, that of world 0 has %d of %d", reading->probe,
                         sand_probe_cells(p), sand_probe_columns(p), reading->cells, reading->columns);
    memcpy(reading->to + (size_t)k * numbers, sand_probe_values(w, reading->probe), numbers * sizeof *reading->to);
    return true;
}

bool sand_batch_read_probe(SandBatch *b, int probe, double *to, SandError *error) {
    const SandWorld *first = world_of(b, 0);
    ReadingProbe reading = {.probe = probe, .to = to};
    if (probe >= 0 && probe < first->probe_count) {
        reading.cells = sand_probe_cells(&first->probes[probe]);
        reading.columns = sand_probe_columns(&first->probes[probe]);
    }
    return run(b, NULL, read_probe_task, &reading, error);
}

// --- actions ------------------------------------------------------------------------------------------------------

typedef struct Acting {
    Choice choice;
    const double *targets;
    const SandVec3 *force, *torque;
} Acting;

static bool set_targets_task(SandBatch *b, int k, const void *argument, SandError *error) {
    const Acting *acting = argument;
    const Choice *choice = &acting->choice;
    const SandWorld *w = world_of(b, k);
    const double *targets = acting->targets + (size_t)k * (size_t)choice->count;
    if (!check_numbers(choice, w->joint_count, "joint", error)) return false;
    for (int i = 0; i < choice->count; i++) {
        if (w->joints[choice->numbers[i]].drive.motor == SAND_MOTOR_NONE)
            return sand_fail(error, "joint %d has no motor", choice->numbers[i]);
        if (!isfinite(targets[i]))
            return sand_fail(error, "joint %d: the target %g is not finite", choice->numbers[i], targets[i]);
    }
    SandJoint *joints = sand_simulation_change(b->members[k].sim)->joints;
    for (int i = 0; i < choice->count; i++) joints[choice->numbers[i]].drive.target = targets[i];
    return true;
}

bool sand_batch_set_targets(SandBatch *b, const bool *mask, const int *joints, int count, const double *targets,
                            SandError *error) {
    Acting acting = {.choice = {joints, count}, .targets = targets};
    return run(b, mask, set_targets_task, &acting, error);
}

static bool apply_force_task(SandBatch *b, int k, const void *argument, SandError *error) {
    const Acting *acting = argument;
    size_t first = (size_t)k * (size_t)acting->choice.count;
    SandForces forces = {.count = acting->choice.count,
                         .body = acting->choice.numbers,
                         .force = acting->force ? acting->force + first : NULL,
                         .torque = acting->torque ? acting->torque + first : NULL};
    return sand_simulation_apply_force(b->members[k].sim, &forces, error);
}

bool sand_batch_apply_force(SandBatch *b, const bool *mask, const int *bodies, int count, const SandVec3 *force,
                            const SandVec3 *torque, SandError *error) {
    Acting acting = {.choice = {bodies, count}, .force = force, .torque = torque};
    return run(b, mask, apply_force_task, &acting, error);
}
