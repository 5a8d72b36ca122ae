// The steps of a simulation on the CPU, on all threads of a pool. Every function completes its work before it returns, so
// that `finish` has nothing to wait for.
#include "sim/step/cpu_backend.h"

#include "sim/core/array.h"
#include "sim/core/clock.h"
#include "sim/core/thread_pool.h"
#include "sim/step/build_problem.h"
#include "sim/step/inlet.h"
#include "sim/step/integrate.inl"
#include "sim/step/laws.h"
#include "sim/step/rest.h"
#include "sim/step/squeeze.h"

#include <stdlib.h>

struct SandDevice {
    SandCpu *solver;
    SandThreadPool *pool; // the solver's
    SandHostState *host;
    SandRest rest;
    SandInletScratch inlets;
    SandLaws laws;
    SandProbeCpu probes;
    SandStepReport report; // filled by the functions of a step
    uint64_t growths;      // sand_growth_count() at the end of the last step
};

static void destroy(SandDevice *device) {
    if (!device) return;
    sand_cpu_free(device->solver);
    sand_rest_free(&device->rest);
    sand_inlets_free(&device->inlets);
    sand_laws_free(&device->laws);
    sand_probe_cpu_free(&device->probes);
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

static bool upload(SandDevice *device, SandHostState *host, SandError *error) {
    (void)error;
    device->host = host;
    return true;
}

// --- the step -----------------------------------------------------------------------------------------------

static double milliseconds_since(double begin) { return 1e3 * (sand_seconds() - begin); }

static bool collide(SandDevice *device, const SandWorld *world, SandError *error) {
    double begin = sand_seconds();
    device->growths = sand_growth_count();
    device->report = (SandStepReport){0};
    if (!sand_inlets_enter(&device->inlets, &device->host->world, device->pool, device->report.entered, error) ||
        !sand_collide(&device->host->collision, world, device->pool, error))
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

static bool build(SandDevice *device, const SandSolveDef *def, SandError *error) {
    (void)def;
    double begin = sand_seconds();
    sand_problem_build(device->host, device->pool);
    if (!sand_laws_apply(&device->laws, device->host, device->pool, error)) return false;
    device->report.build = milliseconds_since(begin);
    return true;
}

// Solves the problem, without the contacts of what rests.
static bool solve_awake(SandDevice *device, const SandSolveDef *def, SandError *error) {
    SandHostState *host = device->host;
    SandRest *rest = &device->rest;
    if (!(host->world.rest_speed > 0)) return sand_cpu_solve(device->solver, &host->problem, def, &host->solution, error);
    return sand_rest_reduce(rest, host, device->pool, error) &&
           sand_cpu_solve(device->solver, &rest->problem, def, &host->solution, error) &&
           sand_rest_expand(rest, host, &host->solution, error);
}

static bool solve(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                  SandError *error) {
    SandHostState *host = device->host;
    SandSolution *solution = &host->solution;
    double begin = sand_seconds();
    solution->want_curve = want_curve;
    solution->want_metrics = want_metrics;
    solution->stop = stop;
    if (!solve_awake(device, def, error)) return false;
    device->report.solve = milliseconds_since(begin);
    return true;
}

// Whether a body rests in this step: then it stands still where it is.
static bool rest_body(SandDevice *device, int64_t k) {
    SandHostState *host = device->host;
    SandWorld *w = &host->world;
    int body = host->collision.body[k];
    if (!(w->rest_speed > 0)) return false;
    if (!rest_update(w, body, device->rest.arrays.touches[k], host->solution.velocity[k], host->solution.spin[k]))
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
        move_body(w, collision->body[k], velocity, host->solution.spin[k]);
    }
}

static void report_lost(SandStepReport *report, int body, SandLoss loss) {
    if (report->lost_count < SAND_MAX_LOST)
        report->lost[report->lost_count++] = (SandLost){body, loss};
    else
        report->lost_more++;
}

// Takes out, and counts, the bodies in outlets; takes out, and names, those that left the world's box or became non-finite.
static void find_lost(SandHostState *host, SandStepReport *report) {
    SandWorld *w = &host->world;
    for (int k = 0; k < host->collision.body_count; k++) {
        int body = host->collision.body[k], outlet = -1;
        SandLoss loss = body_loss(w, body, &outlet);
        if (loss == SAND_PRESENT) continue;
        remove_body(w, body, loss, outlet);
        if (loss == SAND_BY_OUTLET) {
            report->left[outlet]++;
            report->left_mass[outlet] += w->mass[body];
        } else {
            report_lost(report, body, loss);
        }
    }
}

static void count_penetrations(const SandCollision *collision, SandStepReport *report) {
    for (int i = 0; i < collision->contact_count; i++) {
        const SandContactCandidate *c = &collision->contacts[i];
        report->penetration_max = fmax(report->penetration_max, -c->gap);
        if (c->b < 0) report->penetration_walls = fmax(report->penetration_walls, -c->gap);
    }
}

// Keeps the impulses for the next step; those of an infeasible one would only grow.
static bool keep_impulses(const SandLaws *laws, SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    host->warm_start.settings = sand_rest_settings(w);
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
    count_penetrations(&host->collision, &device->report);
    if (!keep_impulses(&device->laws, host, error)) return false;
    sand_thread_pool_run(device->pool, integrate_work, device);
    sand_squeeze(host);
    find_lost(host, &device->report);
    device->report.integrate = milliseconds_since(begin);
    return true;
}

static int count_resting(const SandHostState *host) {
    int resting = 0;
    for (int k = 0; k < host->collision.body_count; k++) resting += body_rests(&host->world, host->collision.body[k]);
    return resting;
}

static bool finish(SandDevice *device, SandStepReport *report, SandError *error) {
    (void)error;
    const SandHostState *host = device->host;
    *report = device->report;
    report->bodies = host->collision.body_count;
    report->contacts = host->collision.contact_count;
    report->resting = count_resting(host);
    report->solved = host->world.rest_speed > 0 ? device->rest.solved_count : report->contacts;
    report->iterations = host->solution.iterations;
    report->status = host->solution.status;
    report->metrics = host->solution.metrics;
    report->growths = sand_growth_count() - device->growths;
    return true;
}

static bool measure(SandDevice *device, SandProbeBatch *batch, SandError *error) {
    return sand_probe_cpu_measure(&device->probes, device->host, batch, device->pool, error);
}

const SandBackend *sand_cpu_backend(void) {
    // Nothing is read back from the host, and pictures are made from the host's world: those functions stay empty.
    static const SandBackend backend = {
        .name = "cpu",
        .on_host = true,
        .create = create,
        .destroy = destroy,
        .describe = describe,
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
