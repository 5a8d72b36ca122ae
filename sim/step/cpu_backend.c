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
#include "sim/step/ranks/rank_report.h"
#include "sim/step/ranks/subdomain.h"
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
    SandSubdomain *subdomain; // of a rank; `host` is then the state of its held bodies. NULL: there is one process
    SandSleep sleep;
    SandInletScratch inlets;
    SandLaws laws;
    SandSecondLook look;
    SandProbeCpu probes;
    SAND_ARRAY(SandTakenOut) taken; // by this rank in the step
    int taken_count;
    SandSolveDef solved;          // settings of the last solve
    SAND_ARRAY(double) residuals; // of each contact of a rank, where they were asked for
    double kept;                  // the share of the impulses that velocities keep in this step
    SandStepReport report;        // filled by the functions of a step
    uint64_t growths;             // sand_growth_count() at the end of the last step
};

static void destroy(SandDevice *device) {
    if (!device) return;
    sand_cpu_free(device->solver);
    sand_sleep_free(&device->sleep);
    sand_inlets_free(&device->inlets);
    sand_laws_free(&device->laws);
    sand_second_look_free(&device->look);
    sand_probe_cpu_free(&device->probes);
    sand_subdomain_free(device->subdomain);
    SAND_FREE_ARRAYS(&device->taken, &device->residuals);
    free(device);
}

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    SandDevice *device = calloc(1, sizeof *device);
    if (!device) return sand_fail(error, "out of memory for a simulation"), NULL;
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

static bool upload(SandDevice *device, SandHostState *host, SandError *error) {
    device->host = device->subdomain ? sand_subdomain_state(device->subdomain) : host;
    return !device->subdomain || sand_subdomain_upload(device->subdomain, host, error);
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

static bool collide(SandDevice *device, const SandWorld *world, SandError *error) {
    double begin = sand_seconds();
    device->growths = sand_growth_count();
    device->report = (SandStepReport){0};
    sand_thread_pool_expect(device->pool, count_work(&device->host->world));
    bool found =
        device->subdomain
            ? sand_subdomain_collide(device->subdomain, &device->inlets, device->report.entered, device->pool, error)
            : sand_inlets_enter(&device->inlets, &device->host->world, device->pool, device->report.entered, error) &&
                  sand_collide(&device->host->collision, world, device->pool, error);
    if (!found) return false;
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
    SandSolution *solution = &device->host->solution;
    if (!device->subdomain) return sand_cpu_solve(device->solver, problem, def, solution, error);
    return sand_cpu_solve_subproblem(device->solver, problem, sand_subdomain_partition(device->subdomain), def, solution,
                                     error);
}

// Solves the problem, without contacts between sleeping bodies.
static bool solve_awake(SandDevice *device, const SandSolveDef *def, SandError *error) {
    SandHostState *host = device->host;
    SandSleep *sleep = &device->sleep;
    if (!(host->world.sleep_speed > 0)) return solve_problem(device, &host->problem, def, error);
    return sand_sleep_reduce(sleep, host, device->pool, error) && solve_problem(device, &sleep->problem, def, error) &&
           sand_sleep_expand(sleep, host, &host->solution, error);
}

// Solves the problem, and again with the rows of joints renewed.
static bool solve_passes(SandDevice *device, const SandSolveDef *def, SandError *error) {
    SandHostState *host = device->host;
    if (!solve_awake(device, def, error)) return false;
    for (int pass = 1; pass < host->world.joint_passes && host->problem.joint_count; pass++) {
        if (device->subdomain && !sand_subdomain_share_motion(device->subdomain, error)) return false;
        sand_problem_renew_joints(host);
        if (!solve_awake(device, def, error)) return false;
    }
    return true;
}

// Counts the contacts that the solution lacks: those of this rank, and of all ranks.
static bool look(SandDevice *device, int *missing, int64_t *all, SandError *error) {
    const SandRanks *ranks = device->subdomain ? sand_subdomain_ranks(device->subdomain) : NULL;
    if (device->subdomain && !sand_subdomain_share_motion(device->subdomain, error)) return false;
    double kept = sand_energy_share(device->host, ranks, device->pool);
    if (!sand_second_look_find(&device->look, device->host, kept, device->pool, missing, error)) return false;
    *all = *missing;
    if (!ranks) return true;
    if (!ranks->agree(ranks->user, 0, error)) return false;
    ranks->sum(ranks->user, all, 1);
    return true;
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
            (SandTakenOut){.body = device->subdomain ? sand_subdomain_global_id(device->subdomain, body) : body,
                           .outlet = outlet,
                           .loss = loss,
                           .mass = w->mass[body]};
    }
    return true;
}

// Counts the bodies that went into outlets, and names the others; of all ranks.
static bool find_lost(SandDevice *device, SandError *error) {
    SandStepReport *report = &device->report;
    if (!take_out(device, error)) return false;
    const SandTakenOut *taken = device->taken.data;
    int count = device->taken_count;
    if (device->subdomain && !sand_subdomain_gather_lost(device->subdomain, taken, count, &taken, &count, error))
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
    if (device->subdomain) sand_subdomain_keep(device->subdomain);
    device->kept = sand_energy_share(host, device->subdomain ? sand_subdomain_ranks(device->subdomain) : NULL, device->pool);
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
    for (int i = 0; i < count; i++) {
        int contact = host->world.sleep_speed > 0 ? device->sleep.solved.data[i] : i;
        solved += !is_ghost_body(host, host->collision.contacts[contact].index_a);
    }
    return solved;
}

// The blocks of joints that a body of this rank owns.
static int count_joint_rows(const SandHostState *host) {
    int rows = 0;
    for (int i = 0; i < host->collision.contact_count && host->problem.joint_count; i++)
        rows += host->problem.joint[i] >= 0 && !is_ghost_body(host, host->collision.contacts[i].index_a);
    return rows;
}

// Turns the report of this rank into that of all.
static bool merge_report(const SandDevice *device, SandStepReport *report, SandError *error) {
    const SandPartition *h = sand_subdomain_partition(device->subdomain);
    const SandCollision *c = &device->host->collision;
    int own = sand_partition_owned(h);
    SandRankCounts counts = {.bodies = own,
                             .contacts = c->first[h->below + own] - c->first[h->below],
                             .joint_rows = count_joint_rows(device->host),
                             .warm_started = report->warm_started,
                             .asleep = report->asleep,
                             .solved = count_solved(device)};
    return sand_rank_report(h->ranks, &counts, report, error);
}

// The energies of the bodies of all ranks, at the time after the step.
static void sum_energies(const SandDevice *device, SandStepReport *report) {
    const SandRanks *ranks = sand_subdomain_ranks(device->subdomain);
    const SandCollision *c = &device->host->collision;
    SandWorld after = device->host->world;
    SandExactSum energy[2] = {{{0}, 0}, {{0}, 0}};
    after.time = (double)(after.step_index + 1) * after.step;
    for (int i = 0; i < after.body_count; i++) {
        if (c->is_ghost[i] || !sand_world_active(&after, i)) continue;
        exact_add(&energy[0], sand_body_kinetic_energy(&after, i), false);
        exact_add(&energy[1], sand_body_potential_energy(&after, i), false);
    }
    for (int k = 0; k < 2; k++) exact_carry(&energy[k]);
    ranks->sum(ranks->user, (int64_t *)(void *)energy, 2 * (EXACT_LIMBS + 1));
    report->kinetic = exact_value(&energy[0]);
    report->potential = exact_value(&energy[1]);
}

static bool finish(SandDevice *device, SandStepReport *report, SandError *error) {
    const SandHostState *host = device->host;
    *report = device->report;
    report->bodies = host->collision.body_count;
    report->contacts = host->collision.contact_count;
    report->joint_rows = host->problem.joint_count;
    report->asleep = count_asleep(host);
    report->solved = host->world.sleep_speed > 0 ? device->sleep.solved_count : report->contacts;
    report->iterations = host->solution.iterations;
    report->status = host->solution.status;
    report->metrics = host->solution.metrics;
    report->islands = host->solution.islands;
    report->growths = sand_growth_count() - device->growths;
    if (!device->subdomain) return true;
    const SandRanks *ranks = sand_subdomain_ranks(device->subdomain);
    if (!ranks->agree(ranks->user, 0, error)) return false;
    if (!merge_report(device, report, error)) return false;
    sum_energies(device, report);
    return true;
}

static bool measure(SandDevice *device, SandProbeBatch *batch, SandError *error) {
    SandProbeBatch local = *batch;
    if (!device->subdomain) return sand_probe_cpu_measure(&device->probes, device->host, batch, device->pool, error);
    SandProbe probes[SAND_MAX_PROBES];
    for (int k = 0; k < batch->count; k++) {
        probes[k] = *batch->probe[k];
        if (probes[k].body >= 0) probes[k].body = sand_subdomain_local_id(device->subdomain, probes[k].body);
        local.probe[k] = &probes[k];
    }
    return sand_probe_cpu_measure(&device->probes, device->host, &local, device->pool, error) &&
           sand_probes_merge(&local, sand_subdomain_ranks(device->subdomain), error);
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

// --- one rank of several ------------------------------------------------------------------------------------------

static SandDevice *create_rank(const SandDeviceDef *def, const SandRanks *ranks, int rank_here, SandError *error) {
    SandDevice *device = create(def, error);
    (void)rank_here;
    if (!device) return NULL;
    device->subdomain = sand_subdomain_create(ranks, error);
    return device->subdomain ? device : (destroy(device), NULL);
}

static int ghosts(const SandDevice *device) { return sand_cpu_subproblem(device->solver)->receive_count; }
static bool knows(const SandDevice *device) { return sand_subdomain_known(device->subdomain); }
static SandOwnBodies own(const SandDevice *device) { return sand_subdomain_own(device->subdomain); }

static bool read_curve(SandDevice *device, SandSolution *to, SandError *error) {
    const SandSolution *from = &device->host->solution;
    if (!SAND_GROW(to->curve, to->curve_capacity, from->curve_count, "residual curve", error)) return false;
    for (int k = 0; k < from->curve_count; k++) to->curve[k] = from->curve[k];
    to->curve_count = from->curve_count;
    return true;
}

static bool share_state(SandDevice *device, SandError *error) { return sand_subdomain_read(device->subdomain, error); }
static bool gather_bodies(SandDevice *device, SandError *error) { return sand_subdomain_gather(device->subdomain, error); }
static bool gather_state(SandDevice *device, SandError *error) {
    return sand_subdomain_gather_state(device->subdomain, error);
}
static bool gather_step(SandDevice *device, SandError *error) {
    return sand_subdomain_read_step(device->subdomain, sand_subdomain_host(device->subdomain), error);
}

static bool read_block(SandDevice *device, int *first, int *end, SandError *error) {
    const SandRanks *ranks = sand_subdomain_ranks(device->subdomain);
    int bodies = sand_subdomain_host(device->subdomain)->world.body_count;
    *first = sand_block_first(bodies, ranks->count, ranks->rank);
    *end = sand_block_first(bodies, ranks->count, ranks->rank + 1);
    return sand_subdomain_read_block(device->subdomain, NULL, error);
}

static bool write_checkpoint(SandDevice *device, const SandCheckpointRequest *request, SandError *fault, SandError *error) {
    return sand_subdomain_write_checkpoint(device->subdomain, request, fault, error);
}

static bool residuals(SandDevice *device, const double **each, SandError *error) {
    SandProblem *p = &device->host->problem;
    *each = NULL;
    if (!SAND_RESERVE(device->residuals, p->contact_count + 1, "residuals", error) ||
        !sand_cpu_residuals_subproblem(device->solver, p, sand_subdomain_partition(device->subdomain), &device->solved,
                                       device->host->solution.impulse, device->residuals.data, error))
        return false;
    *each = device->residuals.data;
    return true;
}

static bool move_ghosts(SandDevice *device, SandError *error) {
    return sand_subdomain_move_ghosts(device->subdomain, error);
}

const SandRankEngine *sand_cpu_rank_engine(void) {
    static const SandRankEngine engine = {
        .name = "mpi",
        .backend = sand_cpu_backend,
        .create = create_rank,
        .ghosts = ghosts,
        .knows = knows,
        .read_curve = read_curve,
        .share_state = share_state,
        .gather_bodies = gather_bodies,
        .gather_impulses = gather_state,
        .gather_step = gather_step,
        .read_block = read_block,
        .write_checkpoint = write_checkpoint,
        .own = own,
        .residuals = residuals,
        .move_ghosts = move_ghosts,
    };
    return &engine;
}

SandCpu *sand_cpu_backend_solver(SandDevice *device) { return device->solver; }
