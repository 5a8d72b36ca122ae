// SPDX-License-Identifier: MIT
// The backend `mpi:cuda`: steps are those of CUDA on the subdomain of a rank (mpi/steps.h), and reads are collective
// services, as in mpi/backend.c.
#include "mpi/cuda_backend.h"
#include "mpi/communicator.h"
#include "mpi/steps.h"
#include "cuda/backend.h"

#include "sim/core/limits.h"

#include <stdio.h>
#include <string.h>

// The collective services: bodies and impulses to every host; bodies, or impulses, to the host of rank 0.
enum { SERVICE_SHARED, SERVICE_BODIES, SERVICE_IMPULSES };

static bool serve(void *device, int service, SandError *error) {
    return service == SERVICE_SHARED ? sand_cuda_read(device, error)
                                     : sand_cuda_gather(device, service == SERVICE_IMPULSES, error);
}

static int ghosts(SandDevice *device) { return sand_cuda_ghosts(device); }

// Counts the ranks that use the GPU of this one. GPUs are compared by their names, which are unique, not by their numbers:
// where Slurm shows each rank one GPU alone, all ranks number it 0.
static bool count_sharers(int *sharers, SandError *error) {
    uint8_t names[SAND_CHUNKS][16];
    const SandRanks *ranks = sand_mpi_ranks();
    int first[SAND_CHUNKS + 1];
    if (!sand_mpi_told(sand_cuda_name(names[ranks->rank], error), error) || !sand_mpi_agree(0, error)) return false;
    for (int r = 0; r <= ranks->count; r++) first[r] = r;
    ranks->allgather(ranks->user, names, first, sizeof names[0]);
    *sharers = 0;
    for (int r = 0; r < ranks->count; r++) *sharers += !memcmp(names[r], names[ranks->rank], sizeof names[0]);
    return true;
}

// Assigns the GPUs of a machine to its ranks in turn; ranks share GPUs where there are fewer GPUs than ranks.
static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    static const SandMpiEngine gpu = {sand_cuda_backend, ghosts, sand_cuda_broken};
    sand_mpi_compute_by(&gpu);
    int devices = sand_cuda_devices(error), sharers;
    if (!sand_mpi_told(devices && sand_cuda_use(sand_mpi_rank_here() % devices, error), error) ||
        !count_sharers(&sharers, error))
        return NULL;
    SandDevice *device = sand_cuda_backend()->create(def, error);
    if (device && !sand_cuda_join(device, sand_mpi_ranks(), sharers, error))
        return sand_cuda_backend()->destroy(device), NULL;
    if (device) sand_mpi_on_request(serve, device);
    return device;
}

static const char *describe(const SandDevice *device) {
    static char text[240];
    snprintf(text, sizeof text, "%s, %d rank%s", sand_cuda_backend()->describe(device), sand_mpi_count(),
             sand_mpi_count() == 1 ? "" : "s");
    return text;
}

// Every read brings all bodies to the host of rank 0, whatever part is asked for.
static bool read_bodies(SandDevice *device, SandWorld *world, int first, int count, SandError *error) {
    (void)device, (void)world, (void)first, (void)count;
    return sand_mpi_request(SERVICE_BODIES, error);
}

static bool read_warm_start(SandDevice *device, SandWarmStart *warm_start, SandError *error) {
    (void)device, (void)warm_start;
    return sand_mpi_request(SERVICE_IMPULSES, error);
}

static bool share_state(SandDevice *device, SandError *error) {
    (void)device;
    return sand_mpi_request(SERVICE_SHARED, error);
}

static bool read_step(SandDevice *device, SandError *error) {
    (void)device;
    return sand_fail(error, "ranks on GPUs cannot read back contacts yet; --backend mpi can");
}

static bool read_curve(SandDevice *device, SandSolution *solution, SandError *error) {
    return sand_cuda_backend()->read_curve(device, solution, error);
}

const SandBackend *sand_mpi_cuda_backend(void) {
    static const SandBackend backend = {
        .name = "mpi:cuda",
        .fails_for_all = true,
        .create = create,
        .destroy = sand_mpi_step_destroy,
        .describe = describe,
        .upload = sand_mpi_step_upload,
        .collide = sand_mpi_step_collide,
        .warm_start = sand_mpi_step_warm_start,
        .build = sand_mpi_step_build,
        .solve = sand_mpi_step_solve,
        .integrate = sand_mpi_step_integrate,
        .finish = sand_mpi_step_finish,
        .measure = sand_mpi_step_measure,
        .read_bodies = read_bodies,
        .share_state = share_state,
        .read_warm_start = read_warm_start,
        .read_step = read_step,
        .read_curve = read_curve,
    };
    return &backend;
}
