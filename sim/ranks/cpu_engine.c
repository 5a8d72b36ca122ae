// SPDX-License-Identifier: MIT
// A rank on the CPU: what the stages of the CPU backend leave to it (SandCpuHooks), for its subdomain, and its reads.
#include "sim/ranks/cpu_engine.h"

#include "sim/core/array.h"
#include "sim/core/exact_sum.inl"
#include "sim/ranks/rank_report.h"
#include "sim/step/cpu_backend.h"

#include <stdlib.h>

typedef struct CpuRank {
    SandSubdomain *subdomain;
    SAND_ARRAY(double) residuals; // of each contact, where they were asked for
} CpuRank;

// --- the stages ---------------------------------------------------------------------------------------------------

static void free_rank(void *holder) {
    CpuRank *rank = holder;
    sand_subdomain_free(rank->subdomain);
    SAND_FREE_ARRAYS(&rank->residuals);
    free(rank);
}

static SandSubdomain *subdomain_in(void *holder) { return ((CpuRank *)holder)->subdomain; }

static SandHostState *upload(void *holder, SandHostState *host, SandError *error) {
    SandSubdomain *subdomain = subdomain_in(holder);
    return sand_subdomain_upload(subdomain, host, error) ? sand_subdomain_state(subdomain) : NULL;
}

static bool collide(void *holder, SandHostState *state, SandInletScratch *inlets, int *entered, SandThreadPool *pool,
                    SandError *error) {
    (void)state; // that of the subdomain
    return sand_subdomain_collide(subdomain_in(holder), inlets, entered, pool, error);
}

static bool solve(void *holder, SandCpu *solver, SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                  SandError *error) {
    return sand_cpu_solve_subproblem(solver, problem, sand_subdomain_partition(subdomain_in(holder)), def, solution, error);
}

static bool share_motion(void *holder, SandError *error) { return sand_subdomain_share_motion(subdomain_in(holder), error); }

static void keep(void *holder) { sand_subdomain_keep(subdomain_in(holder)); }

static bool list_lost(void *holder, SandTakenOut *mine, int count, const SandTakenOut **all, int *all_count,
                      SandError *error) {
    SandSubdomain *subdomain = subdomain_in(holder);
    for (int k = 0; k < count; k++) mine[k].body = sand_subdomain_global_id(subdomain, mine[k].body);
    return sand_subdomain_gather_lost(subdomain, mine, count, all, all_count, error);
}

// The energies of the bodies of all ranks, at the time after the step.
static void sum_energies(const SandHostState *state, const SandRanks *ranks, SandStepReport *report) {
    SandWorld after = state->world;
    SandExactSum energy[2] = {{{0}, 0}, {{0}, 0}};
    after.time = (double)(after.step_index + 1) * after.step;
    for (int i = 0; i < after.body_count; i++) {
        if (state->collision.is_ghost[i] || !sand_world_active(&after, i)) continue;
        exact_add(&energy[0], sand_body_kinetic_energy(&after, i), false);
        exact_add(&energy[1], sand_body_potential_energy(&after, i), false);
    }
    for (int k = 0; k < 2; k++) exact_carry(&energy[k]);
    ranks->sum(ranks->user, (int64_t *)(void *)energy, 2 * (EXACT_LIMBS + 1));
    report->kinetic = exact_value(&energy[0]);
    report->potential = exact_value(&energy[1]);
}

static bool report(void *holder, SandStepReport *report, SandError *error) {
    const SandPartition *h = sand_subdomain_partition(subdomain_in(holder));
    const SandHostState *state = sand_subdomain_state(subdomain_in(holder));
    const SandCollision *c = &state->collision;
    int own = sand_partition_owned(h);
    SandRankCounts counts = {.bodies = own,
                             .contacts = c->first[h->below + own] - c->first[h->below],
                             .joint_rows = report->joint_rows,
                             .warm_started = report->warm_started,
                             .asleep = report->asleep,
                             .solved = report->solved};
    if (!h->ranks->agree(h->ranks->user, 0, error) || !sand_rank_report(h->ranks, &counts, report, error)) return false;
    sum_energies(state, h->ranks, report);
    return true;
}

static bool measure(void *holder, SandProbeCpu *probes, SandHostState *state, SandProbeBatch *batch, SandThreadPool *pool,
                    SandError *error) {
    SandSubdomain *subdomain = subdomain_in(holder);
    SandProbeBatch local = *batch;
    SandProbe here[SAND_MAX_PROBES];
    for (int k = 0; k < batch->count; k++) {
        here[k] = *batch->probe[k];
        if (here[k].body >= 0) here[k].body = sand_subdomain_local_id(subdomain, here[k].body);
        local.probe[k] = &here[k];
    }
    return sand_probe_cpu_measure(probes, state, &local, pool, error) &&
           sand_probes_merge(&local, sand_subdomain_ranks(subdomain), error);
}

// --- the engine ---------------------------------------------------------------------------------------------------

static SandDevice *create(const SandDeviceDef *def, const SandRanks *ranks, int rank_here, SandError *error) {
    static const SandCpuHooks hooks = {
        .free = free_rank,
        .upload = upload,
        .collide = collide,
        .solve = solve,
        .share_motion = share_motion,
        .keep = keep,
        .list_lost = list_lost,
        .report = report,
        .measure = measure,
    };
    CpuRank *rank = calloc(1, sizeof *rank);
    (void)rank_here;
    if (!rank) return sand_fail(error, "out of memory for a rank"), NULL;
    rank->subdomain = sand_subdomain_create(ranks, error);
    if (!rank->subdomain) return free_rank(rank), NULL;
    return sand_cpu_backend_create(def, &hooks, rank, ranks, error);
}

static SandSubdomain *subdomain_of(const SandDevice *device) { return subdomain_in(sand_cpu_backend_holder(device)); }

static int ghosts(SandDevice *device) { return sand_cpu_subproblem(sand_cpu_backend_solver(device))->receive_count; }
static bool knows(const SandDevice *device) { return sand_subdomain_known(subdomain_of(device)); }
static SandOwnBodies own(const SandDevice *device) { return sand_subdomain_own(subdomain_of(device)); }

static bool read_curve(SandDevice *device, SandSolution *to, SandError *error) {
    const SandSolution *from = &sand_subdomain_state(subdomain_of(device))->solution;
    if (!SAND_GROW(to->curve, to->curve_capacity, from->curve_count, "residual curve", error)) return false;
    for (int k = 0; k < from->curve_count; k++) to->curve[k] = from->curve[k];
    to->curve_count = from->curve_count;
    return true;
}

static bool share_state(SandDevice *device, SandError *error) { return sand_subdomain_read(subdomain_of(device), error); }
static bool gather_bodies(SandDevice *device, SandError *error) {
    return sand_subdomain_gather(subdomain_of(device), error);
}
static bool gather_state(SandDevice *device, SandError *error) {
    return sand_subdomain_gather_state(subdomain_of(device), error);
}
static bool gather_step(SandDevice *device, SandError *error) {
    return sand_subdomain_read_step(subdomain_of(device), sand_subdomain_host(subdomain_of(device)), error);
}

static bool read_block(SandDevice *device, int *first, int *end, SandError *error) {
    SandSubdomain *subdomain = subdomain_of(device);
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    int bodies = sand_subdomain_host(subdomain)->world.body_count;
    *first = sand_block_first(bodies, ranks->count, ranks->rank);
    *end = sand_block_first(bodies, ranks->count, ranks->rank + 1);
    return sand_subdomain_read_block(subdomain, NULL, error);
}

static bool write_checkpoint(SandDevice *device, const SandCheckpointRequest *request, SandError *fault, SandError *error) {
    return sand_subdomain_write_checkpoint(subdomain_of(device), request, fault, error);
}

static bool residuals(SandDevice *device, const double **each, SandError *error) {
    CpuRank *rank = sand_cpu_backend_holder(device);
    SandHostState *state = sand_subdomain_state(rank->subdomain);
    *each = NULL;
    if (!SAND_RESERVE(rank->residuals, state->problem.contact_count + 1, "residuals", error) ||
        !sand_cpu_residuals_subproblem(sand_cpu_backend_solver(device), &state->problem,
                                       sand_subdomain_partition(rank->subdomain), sand_cpu_backend_solved(device),
                                       state->solution.impulse, rank->residuals.data, error))
        return false;
    *each = rank->residuals.data;
    return true;
}

static bool move_ghosts(SandDevice *device, SandError *error) {
    return sand_subdomain_move_ghosts(subdomain_of(device), error);
}

const SandRankEngine *sand_cpu_rank_engine(void) {
    static const SandRankEngine engine = {
        .name = "mpi",
        .backend = sand_cpu_backend,
        .create = create,
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
