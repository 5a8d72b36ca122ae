// SPDX-License-Identifier: MIT
// The stages of a step on a rank: each calls the stage of the engine, and ends the run on all ranks where it fails. An
// upload also compares the worlds of all ranks.
#include "mpi/device.h"
#include "sim/core/limits.h"

static const SandBackend *stages(const SandDevice *device) { return device->engine->backend(); }

static bool told(SandDevice *device, bool ok, SandError *error) { return sand_mpi_told(device->mpi, ok, error); }

// Compares the worlds of all ranks: ranks with different worlds would send messages that nobody receives. At the start of a
// scene rank 0 has all bodies, and each other rank its block: the hash of a block is compared between the two. With impulses
// of an earlier step every rank has all bodies, and one hash is compared.
static bool worlds_agree(SandMpi *mpi, const SandHostState *host, SandError *error) {
    const SandWorld *w = &host->world;
    int64_t apart[SAND_MAX_RANKS] = {0};
    int me = sand_mpi_rank(mpi), ranks = sand_mpi_count(mpi);
    if (host->warm_start.step > 0) return sand_mpi_agree(mpi, sand_world_hash(w), error);
    if (!sand_mpi_agree(mpi, sand_world_hash_block(w, 0, 0), error)) return false;
    for (int r = 1; r < ranks; r++) {
        if (me != 0 && me != r) continue;
        uint64_t hash = sand_world_hash_block(w, sand_block_first(w->body_count, ranks, r),
                                              sand_block_first(w->body_count, ranks, r + 1));
        apart[r] = (int64_t)(hash >> 1) * (me ? 1 : -1);
    }
    sand_mpi_sum(apart, ranks);
    bool same = true;
    for (int r = 1; r < ranks; r++) same = same && apart[r] == 0;
    return sand_mpi_agree(mpi, same ? 0 : (uint64_t)me << 1, error);
}

static bool upload(SandDevice *device, SandHostState *host, SandError *error) {
    return told(device, stages(device)->upload(device->inner, host, error), error) && worlds_agree(device->mpi, host, error);
}

// Agrees before anything changes. In this agreement the other ranks serve what rank 0 requests between steps.
static bool collide(SandDevice *device, const SandWorld *world, SandError *error) {
    return sand_mpi_agree(device->mpi, 0, error) &&
           told(device, stages(device)->collide(device->inner, world, error), error);
}

static bool warm_start(SandDevice *device, SandError *error) {
    return told(device, stages(device)->warm_start(device->inner, error), error);
}

static bool build(SandDevice *device, const SandSolveDef *def, SandError *error) {
    return told(device, stages(device)->build(device->inner, def, error), error);
}

// The traffic between all ranks since `before`, which was taken at the start of the solve.
static SandTraffic traffic_since(const SandMpiTraffic *before, SandDevice *device) {
    SandMpiTraffic now = sand_mpi_traffic(device->mpi);
    int64_t sums[] = {device->engine->ghosts(device->inner), now.messages - before->messages, now.bytes - before->bytes};
    sand_mpi_sum(sums, 3);
    return (SandTraffic){.ranks = sand_mpi_count(device->mpi),
                         .exchanges = now.exchanges - before->exchanges,
                         .allgathers = now.allgathers - before->allgathers,
                         .ghosts = sums[0],
                         .messages = sums[1],
                         .bytes = sums[2]};
}

static bool solve(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                  SandError *error) {
    SandMpiTraffic before = sand_mpi_traffic(device->mpi);
    bool solved = stages(device)->solve(device->inner, def, want_curve, want_metrics, stop, error);
    if (!solved && device->engine->broken && device->engine->broken(device->inner)) sand_mpi_abort(device->mpi, error);
    if (!told(device, solved, error) || !sand_mpi_agree(device->mpi, 0, error)) return false;
    device->traffic = traffic_since(&before, device);
    return true;
}

static bool integrate(SandDevice *device, SandError *error) {
    return told(device, stages(device)->integrate(device->inner, error), error);
}

static bool finish(SandDevice *device, SandStepReport *report, SandError *error) {
    bool finished = stages(device)->finish(device->inner, report, error);
    report->traffic = device->traffic;
    return told(device, finished, error);
}

static bool measure(SandDevice *device, SandProbeBatch *batch, SandError *error) {
    return told(device, stages(device)->measure(device->inner, batch, error), error);
}

void sand_mpi_step_rows(SandBackend *to) {
    to->upload = upload;
    to->collide = collide;
    to->warm_start = warm_start;
    to->build = build;
    to->solve = solve;
    to->integrate = integrate;
    to->finish = finish;
    to->measure = measure;
}
