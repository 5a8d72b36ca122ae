// The functions of CUDA, as one rank of several (cuda/part.h). Where one fails the other ranks are told.
#include "mpi/cuda_backend.h"
#include "mpi/communicator.h"
#include "cuda/backend.h"

#include <stdio.h>

static SandTraffic traffic; // of the last solve

// Ends the run of all ranks where this one has failed.
static bool told(bool ok, SandError *error) { return ok || sand_mpi_fail(error); }

enum { WANT_STATE };
static bool give(void *device, int what, SandError *error) { return (void)what, sand_cuda_read(device, error); }

// Ranks of a machine take its GPUs in turn, and share them where there are fewer.
static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    int devices = sand_cuda_devices(error), here = sand_mpi_here();
    if (!devices || !sand_cuda_use(sand_mpi_rank_here() % devices, error)) return NULL;
    SandDevice *device = sand_cuda_backend()->create(def, error);
    int sharers = (here + devices - 1) / devices;
    if (device && !sand_cuda_join(device, sand_mpi_ranks(), sharers, error))
        return sand_cuda_backend()->destroy(device), NULL;
    if (device) sand_mpi_on_want(give, device);
    return device;
}

static void destroy(SandDevice *device) { sand_cuda_backend()->destroy(device); }

static const char *describe(const SandDevice *device) {
    static char text[240];
    snprintf(text, sizeof text, "%s, %d rank%s", sand_cuda_backend()->describe(device), sand_mpi_count(),
             sand_mpi_count() == 1 ? "" : "s");
    return text;
}

// Ranks whose worlds differ would wait for each other forever.
static bool upload(SandDevice *device, SandHostState *host, SandError *error) {
    return told(sand_cuda_backend()->upload(device, host, error), error) &&
           sand_mpi_agree(sand_world_hash(&host->world), error);
}

// Before anything has changed: here the others give what rank 0 wants to read.
static bool collide(SandDevice *device, const SandWorld *world, SandError *error) {
    return sand_mpi_agree(0, error) && told(sand_cuda_backend()->collide(device, world, error), error);
}

static bool warm_start(SandDevice *device, SandError *error) {
    return told(sand_cuda_backend()->warm_start(device, error), error);
}

static bool build(SandDevice *device, const SandSolveDef *def, SandError *error) {
    return told(sand_cuda_backend()->build(device, def, error), error);
}

// What the ranks sent each other in a solve.
static SandTraffic traffic_since(const SandMpiTraffic *before, const SandDevice *device) {
    SandMpiTraffic now = sand_mpi_traffic();
    int64_t sums[] = {sand_cuda_ghosts(device), now.messages - before->messages, now.bytes - before->bytes};
    sand_mpi_sum(sums, 3);
    return (SandTraffic){.ranks = sand_mpi_count(),
                         .exchanges = now.exchanges - before->exchanges,
                         .allgathers = now.allgathers - before->allgathers,
                         .ghosts = sums[0],
                         .messages = sums[1],
                         .bytes = sums[2]};
}

static bool solve(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                  SandError *error) {
    SandMpiTraffic before = sand_mpi_traffic();
    bool solved = sand_cuda_backend()->solve(device, def, want_curve, want_metrics, stop, error);
    if (!solved && sand_cuda_broken(device)) sand_mpi_abort(error);
    if (!told(solved, error) || !sand_mpi_agree(0, error)) return false;
    traffic = traffic_since(&before, device);
    return true;
}

static bool integrate(SandDevice *device, SandError *error) {
    return told(sand_cuda_backend()->integrate(device, error), error);
}

static bool finish(SandDevice *device, SandStepReport *report, SandError *error) {
    bool finished = sand_cuda_backend()->finish(device, report, error);
    report->traffic = traffic;
    return told(finished, error);
}

static bool measure(SandDevice *device, SandProbeBatch *batch, SandError *error) {
    return told(sand_cuda_backend()->measure(device, batch, error), error);
}

// The host's world is complete after a read, whatever part was asked for.
static bool read_bodies(SandDevice *device, SandWorld *world, int first, int count, SandError *error) {
    (void)device, (void)world, (void)first, (void)count;
    return sand_mpi_want(WANT_STATE, error);
}

static bool read_warm_start(SandDevice *device, SandWarmStart *warm_start, SandError *error) {
    (void)device, (void)warm_start;
    return sand_mpi_want(WANT_STATE, error);
}

static bool read_step(SandDevice *device, SandError *error) {
    (void)device;
    return sand_fail(error, "ranks on GPUs do not give their contacts yet; --backend mpi does");
}

static bool read_curve(SandDevice *device, SandSolution *solution, SandError *error) {
    return sand_cuda_backend()->read_curve(device, solution, error);
}

const SandBackend *sand_mpi_cuda_backend(void) {
    static const SandBackend backend = {
        .name = "mpi:cuda",
        .fails_for_all = true,
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
        .read_bodies = read_bodies,
        .read_warm_start = read_warm_start,
        .read_step = read_step,
        .read_curve = read_curve,
    };
    return &backend;
}
