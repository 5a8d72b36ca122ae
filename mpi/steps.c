#include "mpi/steps.h"
#include "mpi/communicator.h"

static const SandMpiEngine *engine;
static SandTraffic traffic; // of the last solve

void sand_mpi_compute_by(const SandMpiEngine *by) { engine = by; }

bool sand_mpi_told(bool ok, SandError *error) { return ok || sand_mpi_fail(error); }

void sand_mpi_step_destroy(SandDevice *device) { engine->backend()->destroy(device); }

// Ranks whose worlds differ would wait for each other forever.
bool sand_mpi_step_upload(SandDevice *device, SandHostState *host, SandError *error) {
    return sand_mpi_told(engine->backend()->upload(device, host, error), error) &&
           sand_mpi_agree(sand_world_hash(&host->world), error);
}

// Before anything changes: here the others give what rank 0 wants.
bool sand_mpi_step_collide(SandDevice *device, const SandWorld *world, SandError *error) {
    return sand_mpi_agree(0, error) && sand_mpi_told(engine->backend()->collide(device, world, error), error);
}

bool sand_mpi_step_warm_start(SandDevice *device, SandError *error) {
    return sand_mpi_told(engine->backend()->warm_start(device, error), error);
}

bool sand_mpi_step_build(SandDevice *device, const SandSolveDef *def, SandError *error) {
    return sand_mpi_told(engine->backend()->build(device, def, error), error);
}

// What the ranks sent each other in a solve.
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
