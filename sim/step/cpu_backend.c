// SPDX-License-Identifier: MIT
// The steps of a simulation on the CPU, on all threads of a pool. Every function completes its work before it returns, so
// that `finish` has nothing to wait for.
#include "sim/step/cpu_backend.h"

#include "sim/core/array.h"
#include "sim/solver/cpu_kernel.h"
#include "sim/core/clock.h"
#include "sim/core/thread_pool.h"
#include "sim/geometry/convex.inl"
#include "sim/step/build_problem.h"
#include "sim/step/energy_bound.h"
#include "sim/step/inlet.h"
#include "sim/step/integrate.inl"
#include "sim/step/laws.h"
#include "sim/step/sleep.h"
#include "sim/step/second_look.h"
#include "sim/step/squeeze.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct SandDevice {
    SandCpu *solver;
    SandThreadPool *pool; // the solver's
    SandHostState *host;
    const SandCpuHooks *hooks;
    void *holder;           // of the bodies; `host` is the state that it gave
    const SandRanks *ranks; // NULL: there is one process
    SandSleep sleep;
    SandInletScratch inlets;
    SandLaws laws;
    SandSecondLook look;
    SandProbeCpu probes;
    SAND_ARRAY(SandTakenOut) taken; // by this rank in the step
    int taken_count;
    SandSolveDef solved;   // settings of the last solve
    double kept;           // the share of the impulses that velocities keep in this step
    SandStepReport report; // filled by the functions of a step
    uint64_t growths;      // sand_growth_count() at the end of the last step
};

static void destroy(SandDevice *device) {
    if (!device) return;
    sand_cpu_free(device->solver);
    sand_sleep_free(&device->sleep);
    sand_inlets_free(&device->inlets);
    sand_laws_free(&device->laws);
    sand_second_look_free(&device->look);
    sand_probe_cpu_free(&device->probes);
    device->hooks->free(device->holder);
    SAND_FREE_ARRAYS(&device->taken);
    free(device);
}

SandDevice *sand_cpu_backend_create(const SandDeviceDef *def, const SandCpuHooks *hooks, void *holder,
                                    const SandRanks *ranks, SandError *error) {
    SandDevice *device = calloc(1, sizeof *device);
    if (!device) return hooks->free(holder), sand_fail(error, "out of memory for a simulation"), NULL;
    device->hooks = hooks;
    device->holder = holder;
    device->ranks = ranks;
    device->solver = sand_cpu_create(def->threads, def->precision, error);
    if (!device->solver) return destroy(device), NULL;
    device->pool = sand_cpu_thread_pool(device->solver);
    return device;
}

static const char *describe(const SandDevice *device) { return (void)device, "CPU"; }

// The name of the processor, where Linux tells it.
static void read_processor(char *name, int size) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, (size_t)size, "CPU");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!value) continue;
        value += strspn(value, ": ");
        snprintf(name, (size_t)size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (file) fclose(file);
}

static bool about(SandDeviceInfo *info, SandError *error) {
    (void)error;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    read_processor(info->name, sizeof info->name);
    info->memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    info->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    info->doubles = true;
    return true;
}

// --- a simulation alone -----------------------------------------------------------------------------------------

static void free_alone(void *holder) { (void)holder; }

static SandHostState *upload_alone(void *holder, SandHostState *host, SandError *error) {
    return (void)holder, (void)error, host;
}

static bool collide_alone(void *holder, SandHostState *host, SandInletScratch *inlets, int *entered, SandThreadPool *pool,
                          SandError *error) {
    (void)holder;
    return sand_inlets_enter(inlets, &host->world, pool, entered, error) &&
           sand_collide(&host->collision, &host->world, pool, error);
}

static bool solve_alone(void *holder, SandCpu *solver, SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                        SandError *error) {
    return (void)holder, sand_cpu_solve(solver, problem, def, solution, error);
}

static bool know_motion(void *holder, SandError *error) { return (void)holder, (void)error, true; }
static void keep_alone(void *holder) { (void)holder; }

static bool list_own(void *holder, SandTakenOut *mine, int count, const SandTakenOut **all, int *all_count,
                     SandError *error) {
    (void)holder, (void)error;
    *all = mine;
    *all_count = count;
    return true;
}

static bool report_alone(void *holder, SandStepReport *report, SandError *error) {
    return (void)holder, (void)report, (void)error, true;
}

static bool measure_alone(void *holder, SandProbeCpu *probes, SandHostState *host, SandProbeBatch *batch,
                          SandThreadPool *pool, SandError *error) {
    return (void)holder, sand_probe_cpu_measure(probes, host, batch, pool, error);
}

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    static const SandCpuHooks alone = {
        .free = free_alone,
        .upload = upload_alone,
        .collide = collide_alone,
        .solve = solve_alone,
        .share_motion = know_motion,
        .keep = keep_alone,
        .list_lost = list_own,
        .report = report_alone,
        .measure = measure_alone,
    };
    return sand_cpu_backend_create(def, &alone, NULL, NULL, error);
}

// --- the step -----------------------------------------------------------------------------------------------

static double milliseconds_since(double begin) { return 1e3 * (sand_seconds() - begin); }

// The work of the stages other than the solve, in spheres. A pair of convex bodies, or a body on a mesh, takes as long as
// many.
static int64_t count_work(const SandWorld *w) {
    enum { SPHERES_OF_CONVEX = 16 };
    int64_t weight = 1;
    for (int k = 0; k < w->shape_count; k++)
        weight = fmax(weight, shape_proxies(&w->shapes[k]) * (w->shapes[k].sphere_count ? 1 : SPHERES_OF_CONVEX));
    for (int k = 0; k < w->boundary_count; k++)
        if (w->boundaries[k].kind == SAND_MESH) weight = SPHERES_OF_CONVEX;
    return weight * w->body_count;
}

static bool upload(SandDevice *device, SandHostState *host, SandError *error) {
    device->host = device->hooks->upload(device->holder, host, error);
    return device->host != NULL;
}

static bool collide(SandDevice *device, const SandWorld *world, SandError *error) {
    double begin = sand_seconds();
    (void)world; // that of the host state
    device->growths = sand_growth_count();
    device->report = (SandStepReport){0};
    sand_thread_pool_expect(device->pool, count_work(&device->host->world));
    if (!device->hooks->collide(device->holder, device->host, &device->inlets, device->report.entered, device->pool, error))
        return false;
    device->report.collide = milliseconds_since(begin);
    return true;
}

static bool warm_start(SandDevice *device, SandError *error) {
    SandHostState *host = device->host;
    double begin = sand_seconds();
    if (!sand_problem_reserve(host, error)) return false;
    device->report.warm_started = sand_warm_start_apply(&host->warm_start, &host->collision, host->world.step,
                                                        host->problem.rolls, host->problem.start, device->pool);
    device->report.warm_start = milliseconds_since(begin);
    return true;
}

static bool fill_problem(SandDevice *device, SandError *error) {
    sand_problem_build(device->host, device->pool);
    return sand_laws_apply(&device->laws, device->host, device->pool, error);
}

static bool build(SandDevice *device, const SandSolveDef *def, SandError *error) {
    (void)def;
    double begin = sand_seconds();
    if (!fill_problem(device, error)) return false;
    device->report.build = milliseconds_since(begin);
    return true;
}

static bool solve_problem(SandDevice *device, SandProblem *problem, const SandSolveDef *def, SandError *error) {
    return device->hooks->solve(device->holder, device->solver, problem, def, &device->host->solution, error);
}

// Solves the problem, without contacts between sleeping bodies.
static bool solve_awake(SandDevice *device, const SandSolveDef *def, SandError *error) {
    SandHostState *host = device->host;
    SandSleep *sleep = &device->sleep;
    if (!(host->world.sleep_speed > 0)) return solve_problem(device, &host->problem, def, error);
    return sand_sleep_reduce(sleep, host, device->pool, error) && solve_problem(device, &sleep->problem, def, error) &&
           sand_sleep_expand(sleep, host, &host->solution, error);
}

// Replaces a number by its sum over all ranks.
static bool sum_over_ranks(const SandDevice *device, int64_t *number, SandError *error) {
    const SandRanks *ranks = device->ranks;
    if (!ranks) return true;
    if (!ranks->agree(ranks->user, 0, error)) return false;
    ranks->sum(ranks->user, number, 1);
    return true;
}

// Solves the problem, and again with the rows of joints renewed. A rank without joints solves again with the others.
static bool solve_passes(SandDevice *device, const SandSolveDef *def, SandError *error) {
    SandHostState *host = device->host;
    int64_t joints = host->problem.joint_count;
    if (!solve_awake(device, def, error)) return false;
    if (host->world.joint_passes > 1 && !sum_over_ranks(device, &joints, error)) return false;
    for (int pass = 1; pass < host->world.joint_passes && joints; pass++) {
        if (!device->hooks->share_motion(device->holder, error)) return false;
        sand_problem_renew_joints(host);
        if (!solve_awake(device, def, error)) return false;
    }
    return true;
}

// Counts the contacts that the solution lacks: those of this rank, and of all ranks.
static bool look(SandDevice *device, int *missing, int64_t *all, SandError *error) {
    if (!device->hooks->share_motion(device->holder, error)) return false;
    double kept = sand_energy_share(device->host, device->ranks, device->pool);
    if (!sand_second_look_find(&device->look, device->host, kept, device->pool, missing, error)) return false;
    *all = *missing;
    return sum_over_ranks(device, all, error);
}

// Solves again with the contacts that the solution lacks, while there are any.
static bool look_again(SandDevice *device, const SandSolveDef *def, SandError *error) {
    SandHostState *host = device->host;
    int looks = sand_second_looks(&host->world, false);
    for (int k = 0; k < looks && sand_status_keeps(host->solution.status); k++) {
        int missing;
        int64_t all;
        if (!look(device, &missing, &all, error)) return false;
        if (all == 0) return true;
        if (!sand_second_look_add(&device->look, host, missing, error) || !fill_problem(device, error) ||
            !solve_passes(device, def, error))
            return false;
    }
    return true;
}

static void count_penetrations(const SandCollision *collision, SandStepReport *report) {
    for (int i = 0; i < collision->contact_count; i++) {
        const SandContactCandidate *c = &collision->contacts[i];
        double depth = 0 - c->gap; // not -0 of what touches: of 0 and -0 fmax gives either
        report->penetration_max = fmax(report->penetration_max, depth);
        if (c->b < 0) report->penetration_walls = fmax(report->penetration_walls, depth);
    }
}

static bool solve(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                  SandError *error) {
    SandHostState *host = device->host;
    SandSolution *solution = &host->solution;
    double begin = sand_seconds();
    solution->want_curve = want_curve;
    solution->want_metrics = want_metrics;
    solution->stop = stop;
    device->solved = *def;
    count_penetrations(&host->collision, &device->report); // what is added to the contacts later is not there yet
    if (!solve_passes(device, def, error) || !look_again(device, def, error)) return false;
    device->report.solve = milliseconds_since(begin);
    return true;
}

// Updates the sleep of a body, and stops it where it stands still in this step. Returns whether it does.
static bool rest_body(SandDevice *device, int64_t k) {
    SandHostState *host = device->host;
    SandWorld *w = &host->world;
    int body = host->collision.body[k];
    if (!(w->sleep_speed > 0)) return false;
    if (!sleep_update(w, body, device->sleep.arrays.touches[k], host->solution.velocity[k], host->solution.spin[k]))
        return false;
    w->velocity[body] = w->spin[body] = v3_make(0, 0, 0);
    return true;
}

static void integrate_work(SandWorker *worker, void *argument) {
    SandDevice *device = argument;
    SandHostState *host = device->host;
    SandWorld *w = &host->world;
    const SandCollision *collision = &host->collision;
    for (int64_t k = sand_chunk_begin(worker->first_chunk, collision->body_count);
         k < sand_chunk_begin(worker->last_chunk, collision->body_count); k++) {
        SandVec3 velocity = host->solution.velocity[k];
        if (rest_body(device, k)) continue;
        for (int i = collision->first[k]; i < collision->first[k + 1]; i++)
            if (collision->contacts[i].b < 0 && !sand_candidate_is_joint(&collision->contacts[i]))
                velocity = stop_at_boundary(w, collision, &collision->contacts[i], velocity);
        move_body(w, collision->body[k], &host->problem.bodies[k], velocity, host->solution.spin[k], device->kept);
    }
}

static void report_lost(SandStepReport *report, int body, SandLoss loss) {
    if (report->lost_count < SAND_MAX_LOST)
        report->lost[report->lost_count++] = (SandLost){body, loss};
    else
        report->lost_more++;
}

// Whether body k of the problem is a ghost.
static bool is_ghost_body(const SandHostState *host, int k) {
    return host->collision.is_ghost && host->collision.is_ghost[host->collision.body[k]];
}

// Takes out the bodies in outlets, and those that left the world's box or became non-finite, and lists them.
static bool take_out(SandDevice *device, SandError *error) {
    SandHostState *host = device->host;
    SandWorld *w = &host->world;
    device->taken_count = 0;
    for (int k = 0; k < host->collision.body_count; k++) {
        int body = host->collision.body[k], outlet = -1;
        SandLoss loss = is_ghost_body(host, k) ? SAND_PRESENT : body_loss(w, body, &outlet);
        if (loss == SAND_PRESENT) continue;
        if (!SAND_RESERVE(device->taken, device->taken_count + 1, "lost bodies", error)) return false;
        remove_body(w, body, loss, outlet);
        device->taken.data[device->taken_count++] =
            (SandTakenOut){.body = body, .outlet = outlet, .loss = loss, .mass = w->mass[body]};
    }
    return true;
}

// Counts the bodies that went into outlets, and names the others; of all ranks.
static bool find_lost(SandDevice *device, SandError *error) {
    SandStepReport *report = &device->report;
    if (!take_out(device, error)) return false;
    const SandTakenOut *taken;
    int count;
    if (!device->hooks->list_lost(device->holder, device->taken.data, device->taken_count, &taken, &count, error))
        return false;
    for (int k = 0; k < count; k++) {
        if (taken[k].loss == SAND_BY_OUTLET) {
            report->left[taken[k].outlet]++;
            report->left_mass[taken[k].outlet] += taken[k].mass;
        } else {
            report_lost(report, taken[k].body, taken[k].loss);
        }
    }
    return true;
}

// Keeps the impulses for the next step; those of an infeasible one would only grow.
static bool keep_impulses(const SandLaws *laws, SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    host->warm_start.settings = sand_sleep_settings(w);
    if (sand_status_keeps(host->solution.status))
        return sand_warm_start_store(&host->warm_start, &host->collision, host->solution.impulse, host->problem.rolls,
                                     w->step, w->body_count, error) &&
               sand_laws_keep(laws, host, error);
    sand_warm_start_clear(&host->warm_start);
    return true;
}

static bool integrate(SandDevice *device, SandError *error) {
    SandHostState *host = device->host;
    double begin = sand_seconds();
    if (!keep_impulses(&device->laws, host, error)) return false;
    device->hooks->keep(device->holder);
    device->kept = sand_energy_share(host, device->ranks, device->pool);
    sand_thread_pool_run(device->pool, integrate_work, device);
    sand_squeeze(host);
    if (!find_lost(device, error)) return false;
    device->report.integrate = milliseconds_since(begin);
    return true;
}

static int count_asleep(const SandHostState *host) {
    int asleep = 0;
    for (int k = 0; k < host->collision.body_count; k++)
        asleep += !is_ghost_body(host, k) && body_is_asleep(&host->world, host->collision.body[k]);
    return asleep;
}

// The contacts that were solved, of those that a body of this rank owns.
static int count_solved(const SandDevice *device) {
    const SandHostState *host = device->host;
    int solved = 0, count = host->world.sleep_speed > 0 ? device->sleep.solved_count : host->collision.contact_count;
    if (!host->collision.is_ghost) return count;
    for (int i = 0; i < count; i++) {
        int contact = host->world.sleep_speed > 0 ? device->sleep.solved.data[i] : i;
        solved += !is_ghost_body(host, host->collision.contacts[contact].index_a);
    }
    return solved;
}

// The blocks of joints that a body of this rank owns.
static int count_joint_rows(const SandHostState *host) {
    int rows = 0;
    if (!host->collision.is_ghost) return host->problem.joint_count;
    for (int i = 0; i < host->collision.contact_count && host->problem.joint_count; i++)
        rows += host->problem.joint[i] >= 0 && !is_ghost_body(host, host->collision.contacts[i].index_a);
    return rows;
}

static bool finish(SandDevice *device, SandStepReport *report, SandError *error) {
    const SandHostState *host = device->host;
    *report = device->report;
    report->bodies = host->collision.body_count;
    report->contacts = host->collision.contact_count;
    report->joint_rows = count_joint_rows(host);
    report->asleep = count_asleep(host);
    report->solved = count_solved(device);
    report->iterations = host->solution.iterations;
    report->status = host->solution.status;
    report->metrics = host->solution.metrics;
    report->islands = host->solution.islands;
    report->growths = sand_growth_count() - device->growths;
    return device->hooks->report(device->holder, report, error);
}

static bool measure(SandDevice *device, SandProbeBatch *batch, SandError *error) {
    return device->hooks->measure(device->holder, &device->probes, device->host, batch, device->pool, error);
}

const SandBackend *sand_cpu_backend(void) {
    // Nothing is read back from the host, and pictures are made from the host's world: those functions stay empty.
    static const SandBackend backend = {
        .name = "cpu",
        .on_host = true,
        .create = create,
        .destroy = destroy,
        .describe = describe,
        .about = about,
        .upload = upload,
        .collide = collide,
        .warm_start = warm_start,
        .build = build,
        .solve = solve,
        .integrate = integrate,
        .finish = finish,
        .measure = measure,
    };
    return &backend;
}

SandCpu *sand_cpu_backend_solver(SandDevice *device) { return device->solver; }
void *sand_cpu_backend_holder(const SandDevice *device) { return device->holder; }
const SandSolveDef *sand_cpu_backend_solved(const SandDevice *device) { return &device->solved; }
