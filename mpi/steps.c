// SPDX-License-Identifier: MIT
// The stages of a step on a rank: each calls the stage of the engine, and ends the run on all ranks where it fails. An
// upload also compares the worlds of all ranks.
#include "mpi/steps.h"
#include "mpi/communicator.h"
#include "sim/core/limits.h"

static const SandMpiEngine *engine;
static SandTraffic traffic; // of the last solve

void sand_mpi_compute_by(const SandMpiEngine *by) { engine = by; }

bool sand_mpi_told(bool ok, SandError *error) { return ok || sand_mpi_fail(error); }

void sand_mpi_step_destroy(SandDevice *device) { engine->backend()->destroy(device); }

// Compares the worlds of all ranks: ranks with different worlds would send messages that nobody receives. At the start of a
// scene rank 0 has all bodies, and each other rank its block: the hash of a block is compared between the two. With impulses
// of an earlier step every rank has all bodies, and one hash is compared.
static bool worlds_agree(const SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    int64_t apart[SAND_CHUNKS] = {0};
    int me = sand_mpi_rank(), ranks = sand_mpi_count();
    if (host->warm_start.step > 0) return sand_mpi_agree(sand_world_hash(w), error);
    if (!sand_mpi_agree(sand_world_hash_block(w, 0, 0), error)) return false;
    for (int r = 1; r < ranks; r++) {
        if (me != 0 && me != r) continue;
        uint64_t hash = sand_world_hash_block(w, sand_block_first(w->body_count, ranks, r),
                                              sand_block_first(w->body_count, ranks, r + 1));
        apart[r] = (int64_t)(hash >> 1) * (me ? 1 : -1);
    }
    sand_mpi_sum(apart, ranks);
    bool same = true;
    for (int r = 1; r < ranks; r++) same = same && apart[r] == 0;
    return sand_mpi_agree(same ? 0 : (uint64_t)me << 1, error);
}

bool sand_mpi_step_upload(SandDevice *device, SandHostState *host, SandError *error) {
    return sand_mpi_told(engine->backend()->upload(device, host, error), error) && worlds_agree(host, error);
}

// Agrees before anything changes. In this agreement the other ranks serve what rank 0 requests between steps.
bool sand_mpi_step_collide(SandDevice *device, const SandWorld *world, SandError *error) {
    return sand_mpi_agree(0, error) && sand_mpi_told(engine->backend()->collide(device, world, error), error);
}

bool sand_mpi_step_warm_start(SandDevice *device, SandError *error) {
    return sand_mpi_told(engine->backend()->warm_start(device, error), error);
}

bool sand_mpi_step_build(SandDevice *device, const SandSolveDef *def, SandError *error) {
    return sand_mpi_told(engine->backend()->build(device, def, error), error);
}

// The traffic between all ranks since `before`, which was taken at the start of the solve.
static SandTraffic traffic_since(const SandMpiTraffic *before, SandDevice *device) {
    SandMpiTraffic now = sand_mpi_traffic();
    int64_t sums[] = {engine->ghosts(device), now.messages - before->messages, now.bytes - before->bytes};
    sand_mpi_sum(sums, 3);
    return (SandTraffic){.ranks = sand_mpi_count(),
                         .exchanges = now.exchanges - before->exchanges,
                         .allgathers = now.allgathers - before->allgathers,
                         .ghosts = sums[0],
                         .messages = sums[1],
                         .bytes = sums[2]};
}

bool sand_mpi_step_solve(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                         SandError *error) {
    SandMpiTraffic before = sand_mpi_traffic();
    bool solved = engine->backend()->solve(device, def, want_curve, want_metrics, stop, error);
    if (!solved && engine->broken && engine->broken(device)) sand_mpi_abort(error);
    if (!sand_mpi_told(solved, error) || !sand_mpi_agree(0, error)) return false;
    traffic = traffic_since(&before, device);
    return true;
}

bool sand_mpi_step_integrate(SandDevice *device, SandError *error) {
    return sand_mpi_told(engine->backend()->integrate(device, error), error);
}

bool sand_mpi_step_finish(SandDevice *device, SandStepReport *report, SandError *error) {
    bool finished = engine->backend()->finish(device, report, error);
    report->traffic = traffic;
    return sand_mpi_told(finished, error);
}

bool sand_mpi_step_measure(SandDevice *device, SandProbeBatch *batch, SandError *error) {
    return sand_mpi_told(engine->backend()->measure(device, batch, error), error);
}
